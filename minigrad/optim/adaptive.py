"""More optimizers that give each weight a rate of its own. Formulas and keywords as in `algorithms`."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..tensor import Tensor, wrap
from .algorithms import (
    Algorithm,
    check_betas,
    check_implementation,
    check_lr,
    check_range,
    like,
    no_steps,
    written,
)


def decayed(param: Tensor, grad: np.ndarray, group: dict) -> np.ndarray:
    """The gradient with weight decay; decoupled weight decay shrinks the parameter instead."""
    if not group["weight_decay"]:
        return grad
    if group.get("decoupled_weight_decay"):
        param._array *= 1 - group["lr"] * group["weight_decay"]
        written(param)
        return grad
    return grad + group["weight_decay"] * param._array


def counted(state: dict) -> float:
    """The number of this step."""
    state["step"]._array += 1
    return state["step"]._array.item()


def move_means(state: dict, grad: np.ndarray, betas: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The running means of the gradient and of its square, one step further."""
    m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array
    m += (grad - m) * (1 - betas[0])
    v *= betas[1]
    v += grad * grad * (1 - betas[1])
    return m, v


class Adadelta(Algorithm):
    """`w ← w - lr·√(u + eps)/√(v + eps)·grad`, v and u running means of squared gradients and steps (Zeiler 2012)."""

    def __init__(
        self,
        params: Iterable,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(0.0 <= rho <= 1.0, "rho value", rho)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state, rho, eps = self.state[param], group["rho"], group["eps"]
        if not state:
            state.update(step=no_steps(), square_avg=like(param), acc_delta=like(param))
        counted(state)
        grad = decayed(param, grad, group)
        v, u = state["square_avg"]._array, state["acc_delta"]._array
        v *= rho
        v += grad * grad * (1 - rho)
        step = np.sqrt(u + eps) / np.sqrt(v + eps) * grad
        u *= rho
        u += step * step * (1 - rho)
        param._array -= group["lr"] * step
        written(param)


class Adamax(Algorithm):
    """`w ← w - lr·m̂/u`, u the largest gradient so far, which fades (Kingma & Ba 2015, section 7)."""

    def __init__(
        self,
        params: Iterable,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state, (beta1, beta2) = self.state[param], group["betas"]
        if not state:
            state.update(step=no_steps(), exp_avg=like(param), exp_inf=like(param))
        step = counted(state)
        grad = decayed(param, grad, group)
        m, u = state["exp_avg"]._array, state["exp_inf"]._array
        m += (grad - m) * (1 - beta1)
        np.maximum(u * beta2, np.abs(grad) + group["eps"], out=u)
        param._array -= group["lr"] / (1 - beta1**step) * (m / u)
        written(param)


class NAdam(Algorithm):
    """Adam that looks one step ahead, as Nesterov's momentum does (Dozat 2016)."""

    _added_later = (*Algorithm._added_later, ("capturable", False), ("decoupled_weight_decay", False))

    def __init__(
        self,
        params: Iterable,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(momentum_decay >= 0.0, "momentum_decay value", momentum_decay)
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state, lr, (beta1, beta2) = self.state[param], group["lr"], group["betas"]
        if not state:
            product = wrap(np.ones((), np.float32))
            state.update(step=no_steps(), mu_product=product, exp_avg=like(param), exp_avg_sq=like(param))
        step = counted(state)
        grad = decayed(param, grad, group)
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (s * group["momentum_decay"])) for s in (step, step + 1))
        state["mu_product"]._array *= mu
        product = state["mu_product"]._array.item()
        m, v = move_means(state, grad, group["betas"])
        root = np.sqrt(v / (1 - beta2**step)) + group["eps"]
        param._array -= lr * (1 - mu) / (1 - product) * (grad / root)
        param._array -= lr * following / (1 - product * following) * (m / root)
        written(param, 2)


class RAdam(Algorithm):
    """Adam that holds back while its variance is not yet known well (Liu et al. 2020)."""

    _added_later = (*Algorithm._added_later, ("capturable", False), ("decoupled_weight_decay", False))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        check_lr(lr, foreach)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state, (beta1, beta2) = self.state[param], group["betas"]
        if not state:
            state.update(step=no_steps(), exp_avg=like(param), exp_avg_sq=like(param))
        step = counted(state)
        m, v = move_means(state, decayed(param, grad, group), group["betas"])
        unbiased, left = m / (1 - beta1**step), 1 - beta2**step
        most = 2 / (1 - beta2) - 1  # the length of the running mean at the end, and now
        length = most - 2 * step * beta2**step / left
        if length > 5.0:
            part = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            unbiased = unbiased * math.sqrt(part) * (math.sqrt(left) / (np.sqrt(v) + group["eps"]))
        param._array -= group["lr"] * unbiased
        written(param)


class Rprop(Algorithm):
    """Only the signs of gradients count: steps grow while the sign stays, and shrink when it turns (Riedmiller 1993)."""

    _added_later = (*Algorithm._added_later, ("capturable", False))

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        check_implementation(differentiable, foreach)
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict) -> None:
        """One step of one parameter."""
        state, (less, more) = self.state[param], group["etas"]
        if not state:
            state.update(step=no_steps(), prev=like(param), step_size=like(param, group["lr"]))
        counted(state)
        before, sizes = state["prev"]._array, state["step_size"]._array
        agreement = np.sign(grad * before)
        sizes *= np.where(agreement > 0, more, np.where(agreement < 0, less, 1.0)).astype(sizes.dtype)
        np.clip(sizes, *group["step_sizes"], out=sizes)
        before[...] = np.where(agreement < 0, 0, grad)  # after a turn the next sign is taken as it comes
        param._array -= np.sign(before) * sizes
        written(param)


__all__ = ["Adadelta", "Adamax", "NAdam", "RAdam", "Rprop"]
