"""Wrong answers as people give them, beside those that the exercises list: what the replies are measured with.

`TOLD` are answers with words that the reply must hold (and words that it must not). `BY_BELIEF` turns each typed answer
into what follows from common beliefs. `UNLISTED` are pieces of code that nobody listed: `None` of them may be accepted,
and few may get a reply that knows no cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import minigrad as torch
from exercises import (
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09b,
    lesson_11,
    lesson_12,
    lesson_13,
    lesson_14,
    lesson_15,
    lesson_16,
    lesson_17,
    lessons,
    tiny_engine,
)
from exercises.judge import as_answers
from exercises.model import Exercise
from exercises.replies import say


def _cuts_w_as_well(w, xs, lr):
    h = torch.tensor(0.0)
    for x in xs:
        h = torch.tanh((w * h).detach() + x)
        ((h - 1) ** 2).backward()


def _wrong_order(upstream, x, w):
    return x @ upstream, w


TOLD: list[tuple[str, Any, str, str]] = [
    # (exercise, answer, words in the reply, words that must not be there)
    (
        "9b.4",
        lambda scores, labels: torch.nn.functional.cross_entropy(scores, labels).item(),
        say("not a tensor"),
        "fault of the lesson",
    ),
    (
        "9b.5",
        lambda h: h.detach().numpy() - h.detach().numpy().mean(),
        say("not a tensor"),
        "fault of the lesson",
    ),
    ("9b.3", lesson_09b._logs_nothing, "`None` is in the log", "Is there a `return`"),
    ("9b.1", lesson_09b._without_a_list, "0 losses come back", say("not a number", kind="a number")),
    ("11.4", lesson_11._detaches_the_weight, "detaches the weight", "One turn too early"),
    ("2.4", {"no_bias": "MatMulBackward0"}, "a product with a shorter one", "another answer"),
    ("2.4", {"minus": "SubtractBackward0"}, "names are short", "another answer"),
    ("2.4", {"average": "DivBackward0"}, "the mean is one operation", "another answer"),
    ("2.4", {"minus": None}, "has a `grad_fn`", "Is there a `return`"),
    (
        "3.3",
        lambda upstream, x, w: (None, x.T @ upstream),
        say("part is None", name="grad_x"),
        say("no return"),
    ),
    (
        "3.3",
        lambda upstream, x, w: upstream @ w.T,
        "That is `grad_x`, and it is right. Return 2 values",
        "shape",
    ),
    ("3.3", lambda upstream, x, w: (1, 2, 3), "It returns 3 values", "Return a number or a tensor"),
    ("3.3", lambda upstream, x, w: {"x": 1}, "a dictionary", "Return a number or a tensor"),
    ("1.1", lambda f, x, h: (f(x + h) - (x - h)) / (2 * h), "you take away the *place*", "to one side"),
    ("1.1", lambda f, x, h: (f(x + h) - f(x - h)) / h**2, "`h` comes in once", "twice too large"),
    ("1.1", lambda f, x, h: (f(x + 1e-4) - f(x - 1e-4)) / 2e-4, "Use the `h` that you are given", "is right"),
    ("1.1", lambda f, x, h: (f(x + 2 * h) - f(x - 2 * h)) / (2 * h), "it is $4h$", "not $h$"),
    ("1.1", lambda f, x, h: (f(x + 2 * h) - f(x - 2 * h)) / (4 * h), "a good one", "$h - x$"),
    ("1.1", lambda f, x, h: (f(x + 2 * h) - f(x)) / (2 * h), "$2h$ to one side", "is right"),
    ("1.2", {"dy_dx": 300.1}, say("near"), say("no")),
    ("8.2", {"weighed": "150.1"}, say("near"), say("no")),
    ("6.5", {"passes_for_loss": -1}, "A count cannot be negative", "the sign"),
    ("4.2", {"mixed": 5.5}, "not averaged", "exactly 2 times"),
    ("4.2", {"double": 6.667}, "Nothing is averaged", "exactly 3 times"),
    ("5.1", {"first": 2.667}, "Nothing is averaged", "exactly 3 times"),
    ("1.2", {"dy_dx": 37.5}, "Nothing is averaged", "exactly 8 times"),
    ("4.3", lesson_04._copied, "paths may be of any length", "is right."),
    ("4.4", [[24]], "24 is what all paths together bring", "The machine finds"),
    ("4.4", [], "Three lists", "products are ,"),
    ("5.2", lesson_05._running_total, "still contains last turn's graph", "Specify retain_graph=True"),
    ("6.2", lesson_06._y_outside, "Make `y` anew for each row", "Specify retain_graph=True"),
    ("2.2", lambda p, q: torch.exp(p * q + 1).sum(), "a plain number has none", "fires"),
    ("5.6", _cuts_w_as_well, "`w` is cut off as well", "Under `no_grad`"),
    ("5.3", lesson_05._naive, "let go", "y.retain_grad()"),
    ("5.3", lesson_05._named_only, "without brackets", "must be called *before*"),
    ("5.3", lesson_05._set_to_true, "puts a value in the place", "must be called *before*"),
    ("5.3", lesson_05._made_to_ask, "Asking is not keeping", "must be called *before*"),
    ("5.3", lesson_05._cut_off, "without a history", "must be called *before*"),
    ("6.3", lesson_06._last_axis, "sums over the *last* axis", "Is a sum or a mean missing"),
    ("7.6", lesson_07.totals_in_turn, "96 is", "is right."),
    ("7.6", lesson_07.level_by_level, "distance decides nothing", "is right."),
    ("7.6", lesson_07.averages, "Nothing is averaged", "is right."),
    ("7.1", lesson_07.accumulator(lesson_07._average), "Nothing is averaged", "is right."),
    ("8.2", {"detached": 15}, "cuts the only way", "anything to give at all"),
    ("8.2", {"b_frozen": 0}, "leaves `a` alone", "zero everywhere"),
    ("8.3", lesson_08._switches_mode, "It freezes nothing", "requires_grad_(True)"),
    ("8.3", lesson_08._empties, "That empties a gradient", "requires_grad_(True)"),
    ("8.3", lesson_08._empty_loop, "Does the loop go through any", "requires_grad_(True)"),
    ("8.5", ("a", "c", "a", "e", "d"), "the wish is about *one value*", "crossed"),
    ("8.5", ("b", "c", "d", "e", "d"), "would work here as well", "rossed"),
    ("8.5", {"serve": "a"}, "`no_grad` works.", say("no")),
    ("0.2", lambda x: -5 * x.detach(), "the way back is cut", "slope is 0 everywhere"),
    ("1.3", {"at_minus_1_5": 0}, "It is flat only", "zero everywhere"),
    ("5.1", {"first": 0}, "every line is a backward pass", "zero everywhere"),
    ("0.1", "7x", "insert the values", "a number or a tensor"),
    ("0.1", 7 + 0j, "`complex`", "Opaque"),
    ("1.4", lambda t: math.exp(-t) / (1 + math.exp(-t)) ** 2, "`math` works on one number", "Python scalars"),
    ("2.3", {"why": "d"}, "one letter in quotes, from `a` to `c`", "for none of them"),
    (
        "3.3",
        lambda upstream, x, w: (torch.einsum("ij,kj->ik", upstream, w), w),
        "does not implement torch.einsum",
        "before the dot",
    ),
    ("3.3", _wrong_order, say("matmul"), "is right"),
    ("3.4", {"grad_z": -0.0049}, "times the local derivative of the sigmoid", "One entry"),
    ("15.2", lambda f, x: torch.func.hessian(f)(x.detach()), "made by hand, row by row", "times too"),
    ("15.3", lambda f, x, v: torch.func.hessian(f)(x.detach()) @ v, "without the table", "times too"),
    ("15.5", lesson_15._penalty(retain_graph=True), "records nothing new", "times too"),
    ("16.1", (lambda a: math.sin(a[0]), lesson_16.divide), "two numbers are wanted", "is right."),
    ("16.4", lesson_16._each(in_dims=0), "share", "is right."),
    ("16.5", lesson_16._rich(kind=lesson_16.Dual), "type(self)", "is right."),
    ("17.2", lesson_17._looped("zero_grad", "loss", "backward"), "Who does that?", "is right."),
    ("17.2", lesson_17._looped("loss", "backward", "zero_grad", "step"), "stepped *after* it", "is right."),
    ("17.2", lesson_17._looped("zero_grad", "loss", "step", "backward"), "stepped *after* it", "is right."),
    ("17.3", lesson_17._map_by_backward, "the weights' accounts", "times too"),
    ("17.4", lesson_17._fool_in_place, "the caller still needs it", "times too"),
    ("17.4", lesson_17._fool_the_weights, "Only the picture is asked", "times too"),
    ("17.6", lesson_17._evaluated, "do not freeze", "anything to give at all"),
    ("17.6", lesson_17._emptied, "do not freeze", "anything to give at all"),
    ("17.6", lesson_17._flagged_module, "do not freeze", "anything to give at all"),
    ("12.3", {"fourth": "a"}, "That is no one factor", say("no")),
    (
        "12.4",
        lesson_12._sinh(lambda ctx, g, x: g, forward=lambda x: np.sinh(x.numpy())),
        "a NumPy array",
        "raised",
    ),
    ("12.4", torch.sinh, "not a class", "AttributeError"),
    ("13.1", lambda t, seen: seen.append(t), "`seen` holds", "is right"),
    ("13.3", lesson_13._removes_by_name, "They are all still there", "is right"),
    (
        "13.4",
        lesson_13._norms_by(lambda p: 0.0 if p.grad is None else p.grad.norm().item()),
        "Nothing came",
        "is right",
    ),
    (
        "13.1",
        lambda t, seen: t.register_hook(lambda g: seen.extend([g, g])),
        "the same gradient 2 times",
        "sum missing",
    ),
    (
        "13.3",
        lambda model, batch: {m: m(batch) for m in model[:1]},
        "The key is to be the *name*",
        "sequence item",
    ),
    (
        "13.4",
        lambda model: dict.fromkeys(model.parameters()),
        "The key is to be the *name*",
        "sequence item",
    ),
    (
        "13.4",
        lesson_13._norms_by(lambda p: p.grad.norm() if p.grad is not None else "None"),
        say("None in quotes"),
        "`None` is right",
    ),
    ("14.3", lambda loss: loss.grad_fn, "A *name* is wanted", "is right."),
    (
        "14.3",
        lesson_14._detector(lesson_14._is_bad, lambda f: f[0] if f else "None"),
        "without quotes",
        "is right.",
    ),
    ("13.6", lesson_13._step_now, "`.grad` is `None` when", "no step"),
    ("14.1", {"zeros": "a"}, "no number is right for all", say("no")),
    ("14.3", lambda loss: ["SqrtBackward0"], "One name is wanted", "is right"),
    ("14.6", lesson_14._eps_outside, "the root itself still gets a 0", "overflowed"),
]
"""From trying the lessons: what was said wrongly, and what is said now."""

ALIKE: list[tuple[str, Any]] = [
    ("9.1", ("4", "0", -5, "36/5")),
    ("9.3", ("-1/10", 100.0, 0.0053, "-0.1")),
    ("9.5", ("B", "D", "E", "C", "A")),
    ("9b.2", lambda w, b, x, t: ((torch.add(torch.mul(w, x), b) - t) ** 2).mean()),
    ("9b.4", lambda s, labels: (torch.logsumexp(s, 1) - s[torch.arange(len(labels)), labels]).mean()),
    ("9b.5", lambda h: h.detach().sub(h.detach().mean())),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() + torch.mul(w, w) / 100),
    ("10.3", "a, d, e, g"),
    ("11.3", lambda ps, most: torch.nn.utils.clip_grad_norm_(list(ps), most)),
    ("11.5", lesson_11._reading(lambda h: torch.tensor(h.tolist()))),
    ("12.3", ("B", "C", "E", "D")),
    ("2.3", ("", "xw", "", "d", "(a)")),
    ("2.4", ("sub", "mean", "", "addmm", "mm")),
    ("2.5", "D -> E -> B -> C -> A"),
    ("4.1", "loss, b, k, a, h"),
    ("4.1", ["Loss", "K", "B", "A", "H"]),
    ("0.1", Fraction(7)),
    ("0.1", Decimal(7)),
    ("0.1", torch.tensor([[7.0]])),
    ("0.1", np.float32(7)),
    ("4.4", [[np.float64(3), 1, torch.tensor(3.0)], [3, 1], [Decimal(4), Fraction(3)]]),
    ("6.4", ([[1, 1, 1, 1]], [Fraction(1, 4)] * 4, [0, 0, 1, 0], torch.tensor([2.0, 4.0, 6.0, 8.0]))),
    ("3.4", {"x_grad": "None"}),
    ("8.2", {"detached": "none", "block": "None"}),
    ("2.1", (["a", "b", "c", "e", "f"], ("b", "d", "g", "h"), "d,g,h")),
    ("2.3", (None, {"x", "w"}, "", ["d"], ["a"])),
    ("2.5", list("DEBCA")),
    ("13.3", lesson_13._records_in_a_block),
    ("13.6", lesson_13._steps_by_an_optimizer),
    ("16.4", lambda w, b, X, T: (2 * (X @ w + b - T))[:, None] * X),
    (
        "17.4",
        lesson_17._stepped(lambda p, g, eps: torch.where(g > 0, p + eps, torch.where(g < 0, p - eps, p))),
    ),
    ("2.4", {"minus": "<SubBackward0>", "no_bias": "torch.mm"}),
    ("8.5", {"target": "detach", "serve": ["e"]}),
    ("4.3", lambda paths: np.array([tiny_path_sum(paths)])),
    ("5.3", lesson_05._as_a_number),
    ("6.1", {"x_grad": [[26, 25]]}),
]
"""Right answers in other forms."""

FORESEEN: list[tuple[str, Any]] = [
    ("0.a", torch.tensor([3.0])),
    ("2.b", "True"),
    ("2.b", 1),
    ("3.a", [1 / 3] * 3),
    ("3.a", "1/3"),
    ("3.b", "None"),
    ("3.c", [2.0]),
    ("4.a", torch.tensor([12.0])),
    ("4.a", [12]),
    ("5.a", [6.0, 6.0]),
    ("5.b", ["b"]),
    ("5.b", "(b)"),
    ("6.c", torch.tensor([[6.0, 60.0]])),
    ("8.a", [6]),
    ("8.b", "none"),
    ("11.a", "[3, 3]"),
    ("16.b", "(1, 3)"),
    ("12.a", torch.tensor(100.0)),
    ("12.b", "1"),
    ("12.c", "(d)"),
    ("13.a", ["c"]),
    ("13.b", 5.0),
    ("14.b", torch.tensor(8)),
    ("14.d", "B"),
]
"""Predictions that came true, in other forms."""


def tiny_path_sum(paths: list) -> float:
    return float(sum(np.prod(path) for path in paths))


def by_belief(exercise: Exercise) -> Iterator[tuple]:
    """What follows from averaging, counting twice, forgetting, and from taking nothing for zero, part by part."""
    if not exercise.typed:
        return
    for name, right in zip(exercise.names, exercise.reference, strict=True):
        if isinstance(right, int | float) or right is None:
            number = float(right or 0)
            answers: list[Any] = [
                0.0,
                1.0,
                -number,
                number / 2,
                number / 3,
                2 * number,
                number + 1,
                number - 1,
                None,
            ]
        elif isinstance(right, str) and len(right) == 1:
            answers = list("abcde")
        else:
            continue
        for answer in answers:
            if answer == right:
                continue
            yield as_answers(exercise, {name: answer} if len(exercise.names) > 1 else answer)


# code that nobody has listed


def _loop_of_gradients(upstream, x):
    out = torch.zeros_like(x)
    for _ in range(x.numel()):
        out[0] = upstream
    return out


def _counts_by_len(root):
    waiting, todo = {}, [root]
    while todo:
        node = todo.pop()
        waiting[node] = len(node.next_functions)
        todo += [p for p, _ in node.next_functions if p is not None and p not in waiting]
    return waiting


def _adds_sizes(self, grad):
    self.variable.grad = abs(grad) + (0 if self.variable.grad is None else self.variable.grad)
    return ()


def _fires_leaves_only(root, grad):
    for node in tiny_engine.count_consumers(root):
        if not node.next_functions:
            node(grad)


def _fires_each_with_ones(root, grad):
    for node in tiny_engine.count_consumers(root):
        node(np.ones(()))


def _forgets_to_pop(root, grad):
    arrived, ready = {root: grad}, [root]
    waiting = tiny_engine.count_consumers(root)
    while ready:
        node = ready[0]
        for (parent, _), part in zip(node.next_functions, node(arrived[node]), strict=True):
            if parent is not None:
                arrived[parent] = arrived.get(parent, 0) + part
                waiting[parent] -= 1


def _two_steps(loss_of, parameters, lr):
    for _ in range(2):
        loss = tiny_engine.train_step(loss_of, parameters, lr)
    return loss


def _rounded_step(loss_of, parameters, lr):
    loss = tiny_engine.train_step(loss_of, parameters, lr)
    return round(loss)


def _half_step(loss_of, parameters, lr):
    return tiny_engine.train_step(loss_of, parameters, lr / 2)


def _first_layer_bias(first, middle, last, x):
    first.bias.requires_grad_(False)
    return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean()


def _no_tanh(first, middle, last, x):
    for param in middle.parameters():
        param.requires_grad_(False)
    return (last(middle(first(x))) ** 2).mean()


def _sum_for_mean(first, middle, last, x):
    for param in middle.parameters():
        param.requires_grad_(False)
    return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).sum()


UNLISTED: list[tuple[str, Any]] = [
    ("0.2", lambda x: -5 * x + x * x),
    ("0.2", lambda x: abs(x) * -5),
    ("0.2", lambda x: -5),
    ("0.2", lambda x: "-5x"),
    ("0.2", lambda x: -5 * x.item()),
    ("0.2", lambda x: x * 5 * 0),
    ("1.1", lambda f, x, h: f(x)),
    ("1.1", lambda f, x, h: f(x + h) / (2 * h)),
    ("1.1", lambda f, x, h: (f(x + h) - f(x - h)) / 2 / h / 2),
    ("1.1", lambda f, x, h: (f(x + 2 * h) - f(x)) / (2 * h)),
    ("1.1", lambda f, x, h: 3 * x**2 - 2),
    ("1.1", lambda f, x, h: (f(x) + h - f(x) - h) / 2 * h),
    ("1.1", lambda f, x, h: f),
    ("1.4", lambda t: 0.25),
    ("1.4", lambda t: torch.sigmoid(t) * (1 - t)),
    ("1.4", lambda t: torch.sigmoid(t * (1 - t))),
    ("1.4", lambda t: torch.sigmoid(t) - torch.sigmoid(t) * 2),
    ("1.4", lambda t: (torch.sigmoid(t) * (1 - torch.sigmoid(t))).sum()),
    ("1.4", lambda t: torch.tanh(t)),
    ("2.2", lambda p, q: torch.exp(p * q) + q),
    ("2.2", lambda p, q: p),
    ("2.2", lambda p, q: 3),
    ("2.2", lambda p, q: (p * torch.exp(q)).sum()),
    ("3.1", lambda upstream, x: upstream * 2),
    ("3.1", lambda upstream, x: upstream * 2 * x * x),
    ("3.1", lambda upstream, x: upstream / (2 * x)),
    ("3.1", lambda upstream, x: upstream * x + 2),
    ("3.1", lambda upstream, x: 2 * upstream),
    ("3.1", lambda upstream, x: [upstream, 2 * x]),
    ("3.2", lambda upstream, x: x / x.numel()),
    ("3.2", lambda upstream, x: [upstream / x.numel()]),
    ("3.2", _loop_of_gradients),
    ("3.2", lambda upstream, x: upstream * torch.ones_like(x) / x.numel() ** 2),
    ("3.2", lambda upstream, x: torch.zeros_like(x)),
    ("3.3", lambda upstream, x, w: (upstream @ w.T, x @ upstream.T)),
    ("3.3", lambda upstream, x, w: (upstream, upstream)),
    ("3.3", lambda upstream, x, w: (x, w)),
    ("3.3", lambda upstream, x, w: 0),
    ("3.3", lambda upstream, x, w: (upstream @ w.T, (x.T @ upstream) * 2)),
    ("3.3", lambda upstream, x, w: (upstream.sum() * w.T, x.T)),
    ("4.3", lambda paths: len(paths)),
    ("4.3", lambda paths: [np.prod(path) for path in paths]),
    ("4.3", lambda paths: sum(max(path) for path in paths)),
    ("4.3", lambda paths: sum(paths)),
    ("4.3", lambda paths: -tiny_path_sum(paths)),
    ("4.3", lambda paths: sum(path[0] for path in paths)),
    ("5.2", lambda w, xs, ts: ((w * xs[0] - ts[0]) ** 2).mean().backward()),
    ("5.2", lambda w, xs, ts: sum(((w * x - t) ** 2).sum() for x, t in zip(xs, ts, strict=True)).backward()),
    ("5.3", lambda y, z: z.grad),
    ("5.3", lambda y, z: y.retain_grad()),
    ("5.3", lambda y, z: z.backward()),
    ("5.3", lambda y, z: 1.0),
    ("5.3", lambda y, z: y.grad_fn),
    ("6.2", lambda f, x: f(x)),
    ("6.2", lambda f, x: torch.eye(len(x))),
    ("6.2", lambda f, x: torch.autograd.grad(f(x).sum(), x)[0]),
    ("6.2", lambda f, x: torch.zeros(len(f(x)), len(x))),
    ("6.3", lambda grad, shape: grad.reshape(shape)),
    ("6.3", lambda grad, shape: grad.sum(1)),
    ("6.3", lambda grad, shape: torch.zeros(shape)),
    ("6.3", lambda grad, shape: shape),
    ("6.3", lambda grad, shape: grad.mT),
    ("7.1", lesson_07.accumulator(lambda self, grad: grad)),
    ("7.1", lesson_07.accumulator(lambda self, grad: ())),
    ("7.1", lesson_07.accumulator(_adds_sizes)),
    ("7.2", lesson_07.mul_kind(lambda self, grad: (grad, grad))),
    ("7.2", lesson_07.mul_kind(lambda self, grad: grad * self._saved_other)),
    ("7.2", lesson_07.mul_kind(lambda self, grad: (grad * self._saved_other, grad / self._saved_self))),
    ("7.2", lesson_07.mul_kind(lambda self, grad: (grad * self._saved_other, grad * self._saved_self, grad))),
    ("7.2", lesson_07.mul_kind(lambda self, grad: (grad * self._saved_other, -grad * self._saved_self))),
    ("7.3", lesson_07.tanh_pair(lambda self, grad: (grad,))),
    ("7.3", lesson_07.tanh_pair(lambda self, grad: (grad / (1 - self._saved_result**2),))),
    ("7.3", (tiny_engine.TanhBackward0, lambda x: x)),
    ("7.3", (tiny_engine.TanhBackward0, lambda x: tiny_engine.Tensor(np.tanh(x.data)))),
    ("7.4", lambda grad, shape: grad.reshape(shape)),
    ("7.4", lambda grad, shape: np.zeros(shape)),
    ("7.4", lambda grad, shape: grad.sum(axis=1)),
    ("7.4", lambda grad, shape: grad.T),
    ("7.5", _counts_by_len),
    ("7.5", lambda root: {}),
    ("7.5", lambda root: 5),
    ("7.5", lambda root: {root: 0}),
    ("7.6", _fires_leaves_only),
    ("7.6", _fires_each_with_ones),
    ("7.6", _forgets_to_pop),
    ("7.6", lambda root, grad: root(grad)),
    ("7.6", lambda root, grad: tiny_engine.run(root, grad * 2)),
    ("7.6", lambda root, grad: tiny_engine.run(root, 0 * grad)),
    ("7.7", lambda ready: ready),
    ("7.7", lambda ready: ready[0]),
    ("7.7", lambda ready: sorted(ready, key=lambda n: n.sequence)[-1]),
    ("7.7", lambda ready: sorted(ready, key=lambda n: n.sequence).pop()),
    ("7.9", _two_steps),
    ("7.9", _rounded_step),
    ("7.9", _half_step),
    ("7.9", lambda loss_of, parameters, lr: loss_of().data.item()),
    ("8.1", lambda x: x * 16),
    ("8.1", lambda x: x * 10),
    ("8.1", lambda x: 32),
    ("8.1", lambda x: (x * 2).detach() * 8),
    ("8.1", lambda x: x * 10 + 12),
    ("8.3", _first_layer_bias),
    ("8.3", _no_tanh),
    ("8.3", _sum_for_mean),
    ("8.3", lambda first, middle, last, x: 0.0),
    ("8.4", lambda t: t.tolist()),
    ("8.4", lambda t: t.detach().numpy()),
    ("8.4", lambda t: t * 1),
    ("8.4", lambda t: t.detach() + 1),
    ("8.4", lambda t: t.data),
    ("9b.1", lambda model, optimizer, x, t, turns: [9.0] * turns),
    ("9b.2", lambda w, b, x, t: ((torch.tensor(w.item(), requires_grad=True) * x + b - t) ** 2).mean()),
    ("9b.2", lambda w, b, x, t: ((w * x + b - t) ** 2).sum()),
    ("9b.3", lesson_09b._detaches_the_prediction),
    ("9b.4", lambda scores, labels: torch.nn.functional.cross_entropy(scores.argmax(1), labels)),
    ("9b.5", lesson_09b._by_method),
    ("9b.6", lambda parameters, lr: [p - lr * p.grad for p in parameters]),
    ("9b.7", lambda model, optimizer, x, t, turns: 0.0),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() + 0.01 * abs(w)),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() * 1.01),
    ("9b.8", lambda w, b, x, t: 0.01 * w * w),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() + 0.01 * torch.sqrt(w * w + 1e-8)),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() + 0.01 * w.item() ** 2),
    ("9b.8", lambda w, b, x, t: ((w * x + b - t) ** 2).mean() + 0.01 * (w * x + b - t).mean() ** 2),
    ("10.4", lambda model, batches: len(batches)),
    ("10.4", lambda model, batches: sum(((model(x) - t) ** 2).mean() for x, t in batches).detach()),
    ("10.5", lambda blocks, x: blocks[0](x)),
    ("10.5", lambda blocks, x: x),
    ("11.3", lambda parameters, most: [p.grad.mul_(most) for p in parameters if p.grad is not None]),
    ("11.4", lambda w, h, steps, keep: h * w**steps),
    ("11.4", lambda w, h, steps, keep: h * w.detach() ** steps),
    ("11.4", lambda w, h, steps, keep: h * w**keep),
    ("11.5", lambda w, pieces, lr: [0.0 for piece in pieces]),
    ("11.5", lambda w, pieces, lr: w),
    ("12.1", lesson_12._relu(lambda ctx, g, x: (g * ctx.alpha * torch.sigmoid(x), None))),
    ("12.1", lesson_12._relu(lambda ctx, g, x: [g * ctx.alpha * (x > 0), None])),
    ("12.1", lesson_12._relu(lambda ctx, g, x: (g + ctx.alpha * (x > 0), None))),
    ("12.1", lesson_12._relu(lambda ctx, g, x: None)),
    ("12.2", lesson_12._ring(lambda g, x: g * torch.roll(x, -1) + torch.roll(g, -1) * torch.roll(x, 1))),
    ("12.2", lesson_12._ring(lambda g, x: g * torch.roll(x, 1) + torch.roll(g * x, 1))),
    ("12.2", lesson_12._ring(lambda g, x: g * torch.roll(x, -1) + x)),
    ("12.4", lesson_12._sinh(lambda ctx, g, x: g * x)),
    ("12.4", lesson_12._sinh(lambda ctx, g, x: g * torch.exp(x))),
    ("12.4", torch.sinh),
    ("12.4", lesson_12._sinh(lambda ctx, g, x: g, forward=lambda x: None)),
    ("12.4", lesson_12._sinh(lambda ctx, g, x: g, forward=lambda x: np.sinh(x.numpy()))),
    ("12.5", lesson_12._softplus(lambda g, x: g * torch.tanh(x))),
    ("12.5", lesson_12._softplus(lambda g, x: g * torch.sigmoid(g))),
    ("12.5", lesson_12._softplus(lambda g, x: g * torch.sigmoid(x), lambda x: x)),
    ("12.6", lesson_12._sign(lambda g, x: g * torch.relu(1 - abs(x)))),
    ("12.6", lesson_12._sign(lambda g, x: g * (1 - torch.tanh(x) ** 2))),
    ("12.6", lesson_12._sign(lambda g, x: g * (abs(x) <= 1), torch.round)),
    ("13.1", lesson_13._spy_removed),
    ("13.1", lambda t, seen: seen.append(t)),
    ("13.1", lambda t, seen: t.register_hook(lambda: seen.append(1))),
    ("13.1", lambda t, seen: t.register_hook(seen)),
    ("13.2", lesson_13._limits_silently),
    ("13.2", lesson_13._limits(lambda g, limit: g * 0.5)),
    ("9.4", lambda w, g, velocity, lr, momentum, decay: (w, velocity)),
    ("9.4", lambda w, g, velocity, lr, momentum, decay: (w - lr * g, g)),
    (
        "9.4",
        lambda w, g, velocity, lr, momentum, decay: [
            w - lr * (momentum * (velocity + g) + decay * w),
            velocity + g,
        ],
    ),
    ("13.2", lesson_13._limits(lambda g, limit: limit)),
    ("13.2", lambda t, limit: t.clamp(-limit, limit)),
    ("13.3", lesson_13._removes_by_name),
    ("13.3", lesson_13._records(lambda inputs, output: None)),
    ("13.3", lesson_13._records(wanted=lambda module: isinstance(module, torch.nn.ReLU))),
    ("13.3", lesson_13._records(register=lambda module, hook: module.register_full_backward_hook(hook))),
    ("13.3", lambda model, batch: {"0": model(batch)}),
    ("13.4", lesson_13._norms_by(lambda p: p.norm)),
    ("13.4", lambda model: [p.grad for p in model.parameters()]),
    ("13.4", lesson_13._norms_by(lambda p: None)),
    ("13.6", lesson_13._step_now),
    ("13.6", lesson_13._steps(lambda given, param, lr: lesson_13._and_empty(given))),
    ("13.6", lambda params, lr: torch.optim.SGD(params, lr=lr).step()),
    ("14.2", lambda x: torch.sqrt(x)),
    ("14.2", lambda x: torch.relu(x)),
    ("14.2", lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, -1.0)), 0.0)),
    ("14.2", lambda x: torch.sqrt(x.clamp(min=0))),
    ("14.3", lesson_14._detector(lambda g: g is None)),
    ("14.3", lesson_14._detector(lambda g: True)),
    ("14.3", lambda loss: loss.grad_fn.name()),
    ("14.3", lambda loss: None if torch.isfinite(loss) else loss.grad_fn.name()),
    ("14.5", lambda s: lesson_14._shifted(s, s.min())),
    ("14.5", lambda s: torch.log(torch.exp(s - s.max()) / torch.exp(s - s.max()).sum())),
    ("14.5", lambda s: s - s.max()),
    ("14.5", lambda s: torch.log(torch.sigmoid(s))),
    ("14.6", lesson_14._eps_outside),
    ("14.6", lambda v: v / torch.sqrt((v * v).sum()).clamp(min=1e-6)),
    ("14.6", lambda v: v / v.abs().max()),
    ("14.6", lambda v: v),
    ("14.6", lambda v: torch.zeros_like(v) if (v == 0).all() else v / v.norm()),
    ("15.2", lambda f, x: torch.zeros(len(x), len(x))),
    ("15.2", lambda f, x: torch.eye(len(x))),
    ("15.2", lambda f, x: 2 * lesson_15.hessian(f, x)),
    ("15.2", lambda f, x: lesson_15.hessian(f, x)[0]),
    ("15.2", lambda f, x: f(x)),
    ("15.3", lambda f, x, v: v),
    ("15.3", lambda f, x, v: -lesson_15.hvp(f, x, v)),
    ("15.3", lambda f, x, v: lesson_15.hvp(f, x, v).sum()),
    ("15.4", lambda f, x: x),
    ("15.4", lambda f, x: f(x)),
    ("15.4", lesson_15._newton_with(lambda x, H, g: x - torch.linalg.solve(H, g).sum())),
    ("15.5", lambda out, x: out),
    ("15.5", lambda out, x: out.item()),
    ("15.5", lesson_15._penalty(length=lambda g: g.abs().max(), create_graph=True)),
    ("15.5", lesson_15._penalty(length=lambda g: g, create_graph=True)),
    ("16.1", (lesson_16.sine, lambda a, b: (a[0] / b[0], 0.0))),
    ("16.1", (lambda a: (math.cos(a[0]), a[1] * math.cos(a[0])), lesson_16.divide)),
    ("16.3", lesson_16._sides_with(lambda m, p, u, v: 0.0, lambda m, p, u, v: 0.0)),
    ("16.3", lesson_16._sides_with(lambda m, p, u, v: u.sum(), lambda m, p, u, v: v.sum())),
    ("16.4", lesson_16._each(finish=lambda g: -g)),
    ("16.4", lesson_16._batch_only),
    ("16.4", lambda w, b, X, T: X),
    ("16.5", lesson_16._rich(exp=lambda v, t: 0 * t)),
    ("16.5", lesson_16._rich(value=torch.exp2)),
    ("17.2", lesson_17._looped("zero_grad", "loss", "backward", "step", "zero_grad", "step")),
    ("17.2", lesson_17._looped("zero_grad", "loss", "backward", "backward", "step")),
    ("17.2", lambda model, optimizer, batches: len(batches)),
    ("17.3", lambda model, picture, label: picture.reshape(8, 8)),
    ("17.3", lesson_17._map(lambda g: g.abs().max(1)[0])),
    ("17.3", lesson_17._map(lambda g: -g.abs().reshape(8, 8))),
    ("17.4", lambda model, picture, label, eps: picture),
    ("17.4", lesson_17._stepped(lambda p, g, eps: (p + eps * g.sign()).clamp(0, 1))),
    ("17.4", lesson_17._stepped(lambda p, g, eps: p + 2 * eps * g.sign())),
    ("17.5", lambda model, x, y: torch.zeros(len(x))),
    ("17.5", lesson_17._measured(lambda grads: grads[0].sum())),
    ("17.6", lambda model: model[-1]),
    ("17.6", lambda model: list(model.parameters())),
]


def every_wrong_answer() -> Iterator[tuple[Exercise, tuple]]:
    """All of the above, and all that the exercises list."""
    for number in lessons.numbers():
        for exercise in lessons.exercises(number).values():
            for wrong in exercise.wrong:
                yield exercise, as_answers(exercise, wrong.answer)
            for answers in by_belief(exercise):
                yield exercise, answers
    for key, answer, *_ in [*TOLD, *UNLISTED]:
        exercise = lessons.find_exercise(key)
        yield exercise, as_answers(exercise, answer)
