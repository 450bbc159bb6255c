"""The optimizers. Each `update` is the formula of its paper, in PyTorch's order of operations.

The keywords foreach, fused and capturable choose among PyTorch's implementations; here there is one, so they are
accepted, kept in the groups, and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..tensor import Tensor, wrap
from .optimizer import Optimizer, check_range, like, refuse_differentiable, workspace, written

subtract, multiply, add, divide, sqrt = np.subtract, np.multiply, np.add, np.divide, np.sqrt


class SGD(Optimizer):
    """w ← w - lr·b, with b the gradient, or with momentum b ← momentum·b + (1 - dampening)·grad.

    weight_decay adds weight_decay·w to the gradient; nesterov looks one step ahead (Sutskever et al. 2013).
    """

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
        check_range(lr >= 0.0, "learning rate", lr)
        check_range(momentum >= 0.0, "momentum value", momentum)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        refuse_differentiable(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: np.ndarray, group: dict, state: dict) -> None:
        """One step of one parameter."""
        value, momentum = param._array, group["momentum"]
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                state["momentum_buffer"] = buffer = wrap(np.array(grad))
            else:
                b = buffer._array
                b *= momentum
                b += grad * (1 - group["dampening"]) if group["dampening"] else grad
            grad = grad + momentum * buffer._array if group["nesterov"] else buffer._array
        work = workspace(state, param)
        multiply(grad, group["lr"], out=work)
        subtract(value, work, out=value)
        written(param)


class Adam(Optimizer):
    """w ← w - lr·m̂/(√v̂ + eps), m and v running means of the gradient and its square (Kingma & Ba 2015).

    m̂ and v̂ are corrected for their start at zero. amsgrad: with the largest v so far (Reddi et al. 2018).
    """

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
        check_range(lr >= 0.0, "learning rate", lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        for i in range(2):
            check_range(0.0 <= betas[i] < 1.0, f"beta parameter at index {i}", betas[i])
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        refuse_differentiable(differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: np.ndarray, group: dict, state: dict) -> None:
        """One step of one parameter."""
        value, lr, decay = param._array, group["lr"], group["weight_decay"]
        beta1, beta2 = group["betas"]
        if "step" not in state:
            state["step"] = wrap(np.zeros((), np.float32))
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
        m, v, work = state["exp_avg"]._array, state["exp_avg_sq"]._array, workspace(state, param)
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


class RMSprop(Optimizer):
    """w ← w - lr·grad/(√v + eps), v a running mean of grad² (Hinton 2012); centered: of its variance (Graves 2013)."""

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
        check_range(lr >= 0.0, "learning rate", lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_range(momentum >= 0.0, "momentum value", momentum)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(alpha >= 0.0, "alpha value", alpha)
        refuse_differentiable(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: np.ndarray, group: dict, state: dict) -> None:
        """One step of one parameter."""
        value, alpha, momentum = param._array, group["alpha"], group["momentum"]
        if "step" not in state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["square_avg"] = like(param)
            if momentum > 0:
                state["momentum_buffer"] = like(param)
            if group["centered"]:
                state["grad_avg"] = like(param)
        state["step"]._array += 1
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        v, work = state["square_avg"]._array, workspace(state, param)
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


class Adagrad(Optimizer):
    """w ← w - lr·grad/(√s + eps), s the sum of all grad² so far (Duchi et al. 2011)."""

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
        check_range(lr >= 0.0, "learning rate", lr)
        check_range(lr_decay >= 0.0, "lr_decay value", lr_decay)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(
            initial_accumulator_value >= 0.0, "initial_accumulator_value value", initial_accumulator_value
        )
        check_range(eps >= 0.0, "epsilon value", eps)
        refuse_differentiable(differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = wrap(np.zeros((), np.float32))
                state["sum"] = like(p, group["initial_accumulator_value"])

    def update(self, param: Tensor, grad: np.ndarray, group: dict, state: dict) -> None:
        """One step of one parameter."""
        value = param._array
        if "step" not in state:  # a group that was added later
            state["step"] = wrap(np.zeros((), np.float32))
            state["sum"] = like(param, group["initial_accumulator_value"])
        state["step"]._array += 1
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * value
        lr = group["lr"] / (1 + (state["step"]._array.item() - 1) * group["lr_decay"])
        total, work = state["sum"]._array, workspace(state, param)
        multiply(grad, grad, out=work)
        add(total, work, out=total)
        sqrt(total, out=work)
        add(work, group["eps"], out=work)
        divide(grad, work, out=work)
        multiply(work, lr, out=work)
        subtract(value, work, out=value)
        written(param)


__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "RMSprop"]
