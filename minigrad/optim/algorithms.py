"""The optimizers. Each `_move` is the formula of its paper, in PyTorch's order of operations.

The keywords foreach, fused and capturable choose among PyTorch's implementations; here there is only one, so they are accepted
and kept in the groups, but change nothing. differentiable and centered are kept, too, and must be False.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy import add, divide, multiply, ndarray, sqrt, subtract

from ..missing import guard
from ..ops.operands import constant
from ..tensor import Tensor, wrap
from .optimizer import Algorithm, Direction


def move_mean_square(v: ndarray, grad: ndarray, decay: float, work: ndarray) -> None:
    """v ← decay·v + (1 - decay)·grad²"""
    multiply(grad, grad, work)
    multiply(work, constant((), v.dtype, 1 - decay), work)
    multiply(v, constant((), v.dtype, decay), v)
    add(v, work, v)


class SGD(Algorithm):
    """`w ← w - lr·b`, where b is the gradient or, with momentum, b ← momentum·b + (1 - dampening)·grad.

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
    """`w ← w - lr·m̂/(√v̂ + eps)`, with running means m and v of the gradient and its square (Kingma & Ba 2015).

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
    """Adam with weight decay that bypasses the means: w ← (1 - lr·weight_decay)·w first (Loshchilov & Hutter 2019)."""

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
