"""L-BFGS: steps along directions that take the curvature into account, from the last few gradients (Liu & Nocedal 1989)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..tensor import Tensor, wrap
from .algorithms import check_lr, written
from .optimizer import Optimizer

ndarray = np.ndarray
DECREASE, CURVATURE = 1e-4, 0.9  # the two constants of Wolfe's conditions


class Point(NamedTuple):
    """A point on a line: how far along it, the loss there, its gradient, and the slope of the loss along the line."""

    at: float
    loss: float
    grad: ndarray
    slope: float


STATE = (
    "func_evals",
    "n_iter",
    "al",
    "d",
    "t",
    "old_dirs",
    "old_stps",
    "ro",
    "H_diag",
    "prev_flat_grad",
    "prev_loss",
)


class LBFGS(Optimizer):
    """Each `step(closure)` makes up to max_iter moves; closure() clears the gradients, computes the loss and its gradients.

    history_size: how many earlier moves the curvature is taken from. line_search_fn: "strong_wolfe" looks for a good length
    of each move; None takes lr. One parameter group only.
    """

    def __init__(
        self,
        params: Iterable,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ):
        check_lr(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    # ------------------------------------------------------------------ all parameters as one vector

    def _gradient(self) -> ndarray:
        parts = []
        for p in self._params:
            parts.append(np.zeros(p._array.size, p._array.dtype) if p.grad is None else p.grad._array.ravel())
        return np.concatenate(parts)

    def _values(self) -> list[ndarray]:
        return [p._array.copy() for p in self._params]

    def _move(self, length: float, direction: ndarray) -> None:
        start = 0
        for p in self._params:
            size = p._array.size
            p._array += (length * direction[start : start + size]).reshape(p._array.shape)
            written(p)
            start += size

    def _put(self, values: list[ndarray]) -> None:
        for p, value in zip(self._params, values, strict=True):
            p._array[...] = value
            written(p)

    # ------------------------------------------------------------------ the step

    def step(self, closure: Callable[[], Tensor]) -> Tensor:
        """Make up to max_iter moves. Returns the loss before the first."""
        group, state = self.param_groups[0], self.state[self._params[0]]
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")

        def evaluate() -> Tensor:
            with enable_grad():
                return closure()

        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, grad = number(first), self._gradient()
        state["func_evals"] += 1
        if np.abs(grad).max() <= group["tolerance_grad"]:
            return first
        evaluations = 1
        for i in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = wrap(grad.copy()), loss
            first_step = min(1.0, 1.0 / float(np.abs(grad).sum()))
            state["d"] = wrap(direction)
            state["t"] = first_step * group["lr"] if state["n_iter"] == 1 else group["lr"]
            length = float(state["t"])
            slope = float(grad @ direction)
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if group["line_search_fn"] is not None:
                here = Point(0.0, loss, grad, slope)
                found, used = self._search(evaluate, here, length, direction, group["max_eval"] - evaluations)
                length, loss, grad = found.at, found.loss, found.grad
                state["t"] = length
                self._move(length, direction)
            else:
                self._move(length, direction)
                if i != group["max_iter"]:  # after the last move nobody asks for the loss
                    loss, used = number(evaluate()), 1
                    grad = self._gradient()
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or np.abs(grad).max() <= group["tolerance_grad"]
                or np.abs(direction * length).max() <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        for name in STATE:  # in PyTorch's order
            if name in state:
                state[name] = state.pop(name)
        return first

    def _direction(self, state: dict, grad: ndarray, history_size: int) -> ndarray:
        """Minus the gradient, times an estimate of the inverse Hessian from the last moves (the two-loop recursion)."""
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return -grad
        turn = grad - state["prev_flat_grad"]._array
        move = state["d"]._array * float(state["t"])
        product = float(turn @ move)
        if product > 1e-10:
            if len(state["ro"]) == history_size:
                for held in ("old_dirs", "old_stps", "ro"):
                    state[held].pop(0)
            state["old_dirs"].append(wrap(turn))
            state["old_stps"].append(wrap(move))
            state["ro"].append(wrap(np.asarray(1.0 / product)))
            state["H_diag"] = wrap(np.asarray(product / float(turn @ turn)))
        past = [
            (y._array, s._array, float(r))
            for y, s, r in zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True)
        ]
        q, weights = -grad, []
        for y, s, r in reversed(past):
            weights.append(float(s @ q) * r)
            q = q - weights[-1] * y
        kept = state.setdefault("al", [None] * history_size)
        kept[: len(past)] = [wrap(np.asarray(w)) for w in reversed(weights)]
        q = q * float(state["H_diag"])
        for (y, s, r), weight in zip(past, reversed(weights), strict=True):
            q = q + (weight - float(y @ q) * r) * s
        return q

    def _search(
        self, evaluate: Callable[[], Tensor], here: Point, length: float, direction: ndarray, most: int
    ) -> tuple[Point, int]:
        """A point along the direction that satisfies Wolfe's strong conditions, and how often the loss was computed.

        Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6, with PyTorch's safeguards.
        """
        start, count = self._values(), 0

        def look(at: float) -> Point:
            nonlocal count
            count += 1
            self._move(at, direction)
            loss, grad = number(evaluate()), self._gradient()
            self._put(start)
            return Point(at, loss, grad, float(grad @ direction))

        def too_high(p: Point) -> bool:
            return p.loss > here.loss + DECREASE * p.at * here.slope

        def flat_enough(p: Point) -> bool:
            return abs(p.slope) <= -CURVATURE * here.slope

        before, p, tries = here, look(length), 0
        bracket: list[Point] | None = None
        while tries < most:  # go on until a good point is passed
            if too_high(p) or (tries > 1 and p.loss >= before.loss):
                bracket = [before, p]
                break
            if flat_enough(p):
                return p, count
            if p.slope >= 0:
                bracket = [before, p]
                break
            following = lowest(before, p, p.at + 0.01 * (p.at - before.at), p.at * 10)
            before, p, tries = p, look(following), tries + 1
        if bracket is None:
            bracket = [here, p]
        low = 0 if bracket[0].loss <= bracket[1].loss else 1
        size, stuck = float(np.abs(direction).max()), False
        while tries < most:  # close in on it
            left, right = sorted(b.at for b in bracket)
            if (right - left) * size < 1e-9:
                break
            at = lowest(*bracket, left, right)
            margin = 0.1 * (right - left)
            near = min(right - at, at - left) < margin
            if near and (stuck or at >= right or at <= left):
                at = right - margin if abs(at - right) < abs(at - left) else left + margin
                stuck = False
            else:
                stuck = near
            p, tries = look(at), tries + 1
            if too_high(p) or p.loss >= bracket[low].loss:
                bracket[1 - low] = p
                low = 0 if bracket[0].loss <= bracket[1].loss else 1
                continue
            done = flat_enough(p)
            if not done and p.slope * (bracket[1 - low].at - bracket[low].at) >= 0:
                bracket[1 - low] = bracket[low]
            bracket[low] = p
            if done:
                break
        return bracket[low], count


def number(loss: Tensor | float) -> float:
    """The loss as a number of Python's."""
    return loss.item() if isinstance(loss, Tensor) else float(loss)


def lowest(a: Point, b: Point, left: float, right: float) -> float:
    """Where between left and right the cubic through two points with their slopes is lowest; the middle if nowhere."""
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.at - b.at)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (left + right) / 2.0
    d2 = square**0.5
    if a.at > b.at:
        a, b = b, a
    at = b.at - (b.at - a.at) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(at, left), right)


__all__ = ["LBFGS"]
