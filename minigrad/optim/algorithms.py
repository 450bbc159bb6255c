"""The optimizers. Each `_update` is the formula of its paper, in PyTorch's order of operations.

The keywords foreach, fused and capturable choose among PyTorch's implementations; here there is one, so they are
accepted, kept in the groups, and change nothing. So are differentiable and centered, which must be False.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy import add, divide, multiply, ndarray, sqrt, subtract

from ..autograd.grad_mode import enable_grad
from ..messages import check
from ..missing import guard
from ..ops.operands import constant
from ..tensor import Tensor, wrap
from .optimizer import Optimizer

Direction = tuple[ndarray, float]  # and the rate at which to go there
NOT_NEGATIVE = {
    "lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value", "alpha": "alpha value",
    "eps": "epsilon value",
}  # fmt: skip


class Algorithm(Optimizer):
    """An optimizer that moves the parameters one by one: `w ← w - rate·direction`, which `_move` gives. NumPy's functions
    write into their last argument, unseen by autograd; the parameters' versions count it."""

    def __init__(self, params: Iterable, options: dict[str, object], order: str = ""):
        """options: the `locals()` of a constructor; order: the names of those of them, as PyTorch lists them."""
        names = order.split() or [name for name in options if name not in ("self", "params", "__class__")]
        defaults = {name: options[name] for name in names}
        for name, message in NOT_NEGATIVE.items():
            check(defaults.get(name, 0) >= 0, "Invalid {}: {}", message, defaults.get(name), error=ValueError)
        betas = defaults.get("betas", (0, 0))
        check(len(betas) > 1, "betas are two numbers, but got {}", betas, error=IndexError)
        for i, beta in enumerate(betas if "betas" in defaults else ()):
            if not isinstance(beta, float) or not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        message = "minigrad does not implement {}=True"
        for name in ("differentiable", "centered"):
            check(not defaults.get(name), message, name, error=NotImplementedError)
        super().__init__(params, defaults)
        self.steps = 0
        self._work: dict[Tensor, ndarray] = {}  # for each parameter an array to compute in

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        self.steps, loss = self.steps + 1, None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            decay, decoupled = group["weight_decay"], group.get("decoupled_weight_decay")
            for p in [p for p in group["params"] if p._meta is not None and p._meta.grad is not None]:
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
                multiply(direction, constant((), work.dtype, float(rate)), work)
                subtract(value, work, value)
                counter.version += 1  # so that a backward pass that needs the old value complains
        return loss

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        """Where one parameter moves: `w ← w - rate·direction`. The direction may be computed in `work`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to move a parameter")

    def _stepped(self, param: Tensor, *names: str) -> list:
        """The number of this step of a parameter, and its arrays of these names, which begin with zeros."""
        state = self.state[param]
        if "step" not in state:
            state["step"] = wrap(np.zeros((), np.float32))
            state.update((name, wrap(np.zeros_like(param._array))) for name in names)
        step = state["step"]._array.item() + 1
        state["step"]._array.fill(step)
        return [step, *[state[name]._array for name in names]]


def move_mean_square(v: ndarray, grad: ndarray, decay: float, work: ndarray) -> None:
    """v ← decay·v + (1 - decay)·grad²"""
    multiply(grad, grad, work)
    multiply(work, constant((), v.dtype, 1 - decay), work)
    multiply(v, constant((), v.dtype, decay), v)
    add(v, work, v)


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

    m̂ and v̂ are corrected for their start at zero.
    """

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):  # fmt: skip
        super().__init__(params, locals())

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        beta1, beta2 = group["betas"]
        names = ("exp_avg", "exp_avg_sq", *("max_exp_avg_sq",) * group["amsgrad"])
        step, m, v, *largest = self._stepped(param, *names)
        subtract(grad, m, work)  # m += (1 - β₁)(grad - m)
        multiply(work, constant((), work.dtype, 1 - beta1), work)
        add(m, work, m)
        move_mean_square(v, grad, beta2, work)
        if largest:  # AMSGrad divides by the largest v so far (Reddi et al. 2018)
            v = np.maximum(largest[0], v, largest[0])
        multiply(sqrt(v, work), constant((), work.dtype, 1 / math.sqrt(1 - beta2**step)), work)
        add(work, constant((), work.dtype, group["eps"]), work)
        return divide(m, work, work), group["lr"] / (1 - beta1**step)


class AdamW(Adam):
    """Adam whose weight decay does not go through the means: w ← (1 - lr·weight_decay)·w first (Loshchilov & Hutter 2019)."""

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **others: bool | None,
    ):  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **others)


class Adagrad(Algorithm):
    """`w ← w - lr·grad/(√s + eps)`, s the sum of all grad² (Duchi et al. 2011); lr falls as 1 / (1 + (step - 1)·lr_decay)."""

    def __init__(
        self, params: Iterable, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ):  # fmt: skip
        order = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
        super().__init__(params, locals(), order)
        for p in [p for group in self.param_groups for p in group["params"]]:  # at once, as in PyTorch
            start = np.full_like(p._array, initial_accumulator_value)
            self.state[p] = {"step": wrap(np.zeros((), np.float32)), "sum": wrap(start)}

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        step, total = self._stepped(param, "sum")
        add(total, multiply(grad, grad, work), total)
        add(sqrt(total, work), group["eps"], work)
        return divide(grad, work, work), group["lr"] / (1 + (step - 1) * group["lr_decay"])


class RMSprop(Algorithm):
    """`w ← w - lr·grad/(√v + eps)`, v a running mean of grad² (Hinton 2012)."""

    def __init__(
        self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, locals(), order)

    def _move(self, param: Tensor, grad: ndarray, group: dict, work: ndarray) -> Direction:
        momentum = group["momentum"]
        _, v, *others = self._stepped(param, "square_avg", *("momentum_buffer",) * (momentum > 0))
        move_mean_square(v, grad, group["alpha"], work)
        sqrt(v, out=work)
        add(work, group["eps"], out=work)
        divide(grad, work, out=work)
        if momentum > 0:
            multiply(others[0], momentum, out=others[0])
            work = add(others[0], work, out=others[0])
        return work, group["lr"]


guard(__name__, "optim")
