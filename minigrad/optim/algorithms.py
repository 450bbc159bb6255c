"""The optimizers. Each `_update` is the formula of its paper, in PyTorch's order of operations.

The keywords foreach, fused and capturable choose among PyTorch's implementations; here there is one, so they are
accepted, kept in the groups, and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..tensor import Tensor, wrap
from .optimizer import Optimizer

subtract, multiply, add, divide, sqrt = np.subtract, np.multiply, np.add, np.divide, np.sqrt


class Algorithm(Optimizer):
    """An optimizer that updates one parameter after the other, in `_update(param, grad, group)`.

    Steps are written in NumPy and change the parameters' memory in place, unseen by autograd but counted in versions.
    """

    _added_later = (("maximize", False), ("foreach", None), ("differentiable", False))

    def _prepare(self) -> None:
        super()._prepare()
        self._work: dict[Tensor, np.ndarray] = {}

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            if isinstance(group["lr"], Tensor):
                group = {**group, "lr": group["lr"].item()}
            update, sign = self._update, group["maximize"]
            for p in group["params"]:
                meta = p._meta
                if meta is not None and meta.grad is not None:
                    grad = meta.grad._array
                    update(p, -grad if sign else grad, group)
        return loss

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter: change `param._array` in place and count its version."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to update a parameter")

    def _workspace(self, param: Tensor) -> np.ndarray:
        """An array to compute in, kept from step to step."""
        work = self._work.get(param)
        if work is None or work.shape != param._array.shape or work.dtype != param._array.dtype:
            work = self._work[param] = np.empty_like(param._array)
        return work


def check_range(ok: bool, what: str, value: object) -> None:
    if not ok:
        raise ValueError(f"Invalid {what}: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    for i in range(2):
        check_range(0.0 <= betas[i] < 1.0, f"beta parameter at index {i}", betas[i])


def check_lr(lr: float | Tensor, foreach: bool | None = None) -> None:
    if isinstance(lr, Tensor):
        if foreach:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
    check_range(lr >= 0.0, "learning rate", lr)


def check_implementation(differentiable: bool, foreach: bool | None, fused: bool | None = None) -> None:
    """The step is never recorded; foreach and fused exclude each other."""
    if differentiable:
        raise NotImplementedError(
            "differentiable=True is not supported: optimizer steps are not recorded. Write the update with tensor operations "
            "and autograd.grad(..., create_graph=True) instead."
        )
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def like(param: Tensor, value: float = 0.0) -> Tensor:
    """A tensor in the shape of a parameter, for its state."""
    return wrap(np.full(param._array.shape, value, param._array.dtype))


def no_steps() -> Tensor:
    """The count of steps before the first."""
    return wrap(np.zeros((), np.float32))


def written(param: Tensor, times: int = 1) -> None:
    """Count writes to a parameter, so that a backward pass that needs its old value complains."""
    param._own_counter().version += times


class SGD(Algorithm):
    """`w ← w - lr·b`, with b the gradient, or with momentum b ← momentum·b + (1 - dampening)·grad.

    weight_decay adds weight_decay·w to the gradient; nesterov looks one step ahead (Sutskever et al. 2013).
    """

    _added_later = (*Algorithm._added_later, ("nesterov", False), ("fused", None))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        check_lr(lr, foreach)
        check_range(momentum >= 0.0, "momentum value", momentum)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(differentiable, foreach, fused)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        value, momentum = param._array, group["momentum"]
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        if momentum:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                state["momentum_buffer"] = buffer = wrap(np.array(grad))
            else:
                b = buffer._array
                b *= momentum
                b += grad * (1 - group["dampening"]) if group["dampening"] else grad
            grad = grad + momentum * buffer._array if group["nesterov"] else buffer._array
        work = self._workspace(param)
        multiply(grad, group["lr"], out=work)
        subtract(value, work, out=value)
        written(param)


class Adam(Algorithm):
    """`w ← w - lr·m̂/(√v̂ + eps)`, m and v running means of the gradient and its square (Kingma & Ba 2015).

    m̂ and v̂ are corrected for their start at zero. amsgrad: with the largest v so far (Reddi et al. 2018).
    """

    _added_later = (
        *Algorithm._added_later,
        ("amsgrad", False),
        ("capturable", False),
        ("decoupled_weight_decay", False),
        ("fused", None),
    )

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if not any(all(isinstance(b, kind) for b in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(
                    f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if isinstance(beta, Tensor) and beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")
        check_implementation(differentiable, foreach, fused)
        betas = tuple(b.item() if isinstance(b, Tensor) else b for b in betas)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state = self.state[param]
        value, lr, decay = param._array, group["lr"], group["weight_decay"]
        beta1, beta2 = group["betas"]
        if "step" not in state:
            state["step"] = no_steps()
            state["exp_avg"], state["exp_avg_sq"] = like(param), like(param)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = like(param)
        state["step"]._array += 1
        step = state["step"]._array.item()
        if decay:
            if group["decoupled_weight_decay"]:
                multiply(value, 1 - lr * decay, out=value)
                written(param)
            else:
                grad = grad + decay * value
        m, v, work = state["exp_avg"]._array, state["exp_avg_sq"]._array, self._workspace(param)
        subtract(grad, m, out=work)  # m += (1 - β₁)(grad - m)
        multiply(work, 1 - beta1, out=work)
        add(m, work, out=m)
        multiply(grad, grad, out=work)  # v = β₂v + (1 - β₂)grad²
        multiply(work, 1 - beta2, out=work)
        multiply(v, beta2, out=v)
        add(v, work, out=v)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._array
            v = np.maximum(largest, v, out=largest)
        sqrt(v, out=work)
        multiply(work, 1 / math.sqrt(1 - beta2**step), out=work)
        add(work, group["eps"], out=work)
        divide(m, work, out=work)
        multiply(work, lr / (1 - beta1**step), out=work)
        subtract(value, work, out=value)
        written(param)


class AdamW(Adam):
    """Adam whose weight decay does not go through the means: w ← (1 - lr·weight_decay)·w first (Loshchilov & Hutter 2019)."""

    _added_later = (*Adam._added_later, ("decoupled_weight_decay", True))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


class RMSprop(Algorithm):
    """`w ← w - lr·grad/(√v + eps)`, v a running mean of grad² (Hinton 2012); centered: of its variance (Graves 2013)."""

    _added_later = (*Algorithm._added_later, ("momentum", 0), ("centered", False), ("capturable", False))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_range(momentum >= 0.0, "momentum value", momentum)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(alpha >= 0.0, "alpha value", alpha)
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state = self.state[param]
        value, alpha, momentum = param._array, group["alpha"], group["momentum"]
        if "step" not in state:
            state["step"] = no_steps()
            state["square_avg"] = like(param)
            if momentum > 0:
                state["momentum_buffer"] = like(param)
            if group["centered"]:
                state["grad_avg"] = like(param)
        state["step"]._array += 1
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        v, work = state["square_avg"]._array, self._workspace(param)
        multiply(grad, grad, out=work)
        multiply(work, 1 - alpha, out=work)
        multiply(v, alpha, out=v)
        add(v, work, out=v)
        if group["centered"]:
            mean = state["grad_avg"]._array
            mean += (1 - alpha) * (grad - mean)
            v = v - mean * mean
        sqrt(v, out=work)
        add(work, group["eps"], out=work)
        divide(grad, work, out=work)
        if momentum > 0:
            b = state["momentum_buffer"]._array
            multiply(b, momentum, out=b)
            add(b, work, out=b)
            multiply(b, group["lr"], out=work)
        else:
            multiply(work, group["lr"], out=work)
        subtract(value, work, out=value)
        written(param)


class Adagrad(Algorithm):
    """`w ← w - lr·grad/(√s + eps)`, s the sum of all grad² so far (Duchi et al. 2011)."""

    _added_later = (*Algorithm._added_later, ("fused", None))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        check_lr(lr, foreach)
        check_range(lr_decay >= 0.0, "lr_decay value", lr_decay)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(
            initial_accumulator_value >= 0.0, "initial_accumulator_value value", initial_accumulator_value
        )
        check_range(eps >= 0.0, "epsilon value", eps)
        check_implementation(differentiable, foreach, fused)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = no_steps()
                state["sum"] = like(p, group["initial_accumulator_value"])

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        value, state = param._array, self.state[param]
        if "step" not in state:  # a group that was added later
            state["step"] = no_steps()
            state["sum"] = like(param, group["initial_accumulator_value"])
        state["step"]._array += 1
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        lr = group["lr"] / (1 + (state["step"]._array.item() - 1) * group["lr_decay"])
        total, work = state["sum"]._array, self._workspace(param)
        multiply(grad, grad, out=work)
        add(total, work, out=total)
        sqrt(total, out=work)
        add(work, group["eps"], out=work)
        divide(grad, work, out=work)
        multiply(work, lr, out=work)
        subtract(value, work, out=value)
        written(param)


__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "RMSprop"]
