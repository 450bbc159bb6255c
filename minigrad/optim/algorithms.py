"""The optimizers. Each `_update` is the formula of its paper, in PyTorch's order of operations.

The keywords foreach, fused and capturable choose among PyTorch's implementations; here there is one, so they are
accepted, kept in the groups, and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from ..autograd.modes import enable_grad
from ..tensor import Tensor, wrap
from .optimizer import Optimizer

ndarray = np.ndarray
Direction = tuple[ndarray, float]  # and the rate at which to go there
subtract, multiply, add, divide, sqrt = np.subtract, np.multiply, np.add, np.divide, np.sqrt
NOT_NEGATIVE = {
    "lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value", "alpha": "alpha value",
    "eps": "epsilon value",
}  # fmt: skip


class Algorithm(Optimizer):
    """An optimizer that moves one parameter after the other: `w ← w - rate·direction`, which `_move` gives.

    Steps are written in NumPy and change the parameters' memory in place, unseen by autograd but counted in versions.
    """

    def __init__(self, params: Iterable, options: dict[str, object], order: str = ""):
        """options: the `locals()` of a constructor; order: the names of those of them, as PyTorch lists them."""
        names = order.split() or [name for name in options if name not in ("self", "params", "__class__")]
        defaults = {name: options[name] for name in names}
        for name, told in NOT_NEGATIVE.items():
            if not defaults.get(name, 0) >= 0:
                raise ValueError(f"Invalid {told}: {defaults[name]}")
        for i, beta in enumerate(defaults.get("betas", ())):
            if not isinstance(beta, float) or not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if defaults["differentiable"]:
            raise NotImplementedError(
                "differentiable=True is not supported: optimizer steps are not recorded"
            )
        super().__init__(params, defaults)
        self._work: dict[Tensor, ndarray] = {}  # for each parameter an array to compute in

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            decay, decoupled = group["weight_decay"], group.get("decoupled_weight_decay")
            for p in group["params"]:
                if p._meta is None or p._meta.grad is None:
                    continue
                value, grad, work = p._array, p._meta.grad._array, self._work.get(p)
                counter = p._own_counter()
                if work is None or work.shape != value.shape or work.dtype != value.dtype:
                    work = self._work[p] = np.empty_like(value)
                if group["maximize"]:
                    grad = -grad
                if decay and decoupled:
                    multiply(value, 1 - group["lr"] * decay, out=value)
                    counter.version += 1
                elif decay:
                    grad = grad + decay * value
                direction, rate = self._move(p, grad, group, work)
                multiply(direction, rate, out=work)
                subtract(value, work, out=value)
                counter.version += 1  # so that a backward pass that needs the old value complains
        return loss

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        """Where one parameter is to go: `w ← w - rate·direction`. The direction may be computed in `work`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to move a parameter")

    def _stepped(self, param: Tensor, *names: str) -> list:
        """The number of this step of a parameter, and its arrays of these names, which begin with zeros."""
        state = self.state[param]
        if "step" not in state:
            state["step"] = wrap(np.zeros((), np.float32))
            state.update((name, wrap(np.zeros_like(param._array))) for name in names)
        state["step"]._array += 1
        return [state["step"]._array.item(), *[state[name]._array for name in names]]


def move_mean_square(v: ndarray, grad: ndarray, decay: float, work: ndarray) -> None:
    """v ← decay·v + (1 - decay)·grad²"""
    multiply(grad, grad, out=work)
    multiply(work, 1 - decay, out=work)
    multiply(v, decay, out=v)
    add(v, work, out=v)


class SGD(Algorithm):
    """`w ← w - lr·b`, with b the gradient, or with momentum b ← momentum·b + (1 - dampening)·grad.

    weight_decay adds weight_decay·w to the gradient; nesterov looks one step ahead (Sutskever et al. 2013).
    """

    def __init__(
        self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ):  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, locals())

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        momentum, lr = group["momentum"], group["lr"]
        if not momentum:
            return grad, lr
        state = self.state[param]
        first = state.get("momentum_buffer") is None
        if first:
            state["momentum_buffer"] = wrap(np.array(grad))
        b = state["momentum_buffer"]._array
        if not first:
            b *= momentum
            b += grad * (1 - group["dampening"]) if group["dampening"] else grad
        return (grad + momentum * b if group["nesterov"] else b), lr


class Adam(Algorithm):
    """`w ← w - lr·m̂/(√v̂ + eps)`, m and v running means of the gradient and its square (Kingma & Ba 2015).

    m̂ and v̂ are corrected for their start at zero. amsgrad: with the largest v so far (Reddi et al. 2018).
    """

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):  # fmt: skip
        super().__init__(params, locals())

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        (beta1, beta2), largest = group["betas"], ("max_exp_avg_sq",) * group["amsgrad"]
        step, m, v, *largest = self._stepped(param, "exp_avg", "exp_avg_sq", *largest)
        subtract(grad, m, out=work)  # m += (1 - β₁)(grad - m)
        multiply(work, 1 - beta1, out=work)
        add(m, work, out=m)
        move_mean_square(v, grad, beta2, work)
        if largest:
            v = np.maximum(largest[0], v, out=largest[0])
        sqrt(v, out=work)
        multiply(work, 1 / math.sqrt(1 - beta2**step), out=work)
        add(work, group["eps"], out=work)
        return divide(m, work, out=work), group["lr"] / (1 - beta1**step)


class AdamW(Adam):
    """Adam whose weight decay does not go through the means: w ← (1 - lr·weight_decay)·w first (Loshchilov & Hutter 2019)."""

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **options: bool | None,
    ):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **options
        )


class RMSprop(Algorithm):
    """`w ← w - lr·grad/(√v + eps)`, v a running mean of grad² (Hinton 2012); centered: of its variance (Graves 2013)."""

    def __init__(
        self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, locals(), order)

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        alpha, momentum, centered = group["alpha"], group["momentum"], group["centered"]
        names = ("momentum_buffer",) * (momentum > 0) + ("grad_avg",) * centered
        _, v, *others = self._stepped(param, "square_avg", *names)
        move_mean_square(v, grad, alpha, work)
        if centered:
            mean = others[-1]
            mean += (1 - alpha) * (grad - mean)
            v = v - mean * mean
        sqrt(v, out=work)
        add(work, group["eps"], out=work)
        divide(grad, work, out=work)
        if momentum > 0:
            multiply(others[0], momentum, out=others[0])
            work = add(others[0], work, out=others[0])
        return work, group["lr"]
