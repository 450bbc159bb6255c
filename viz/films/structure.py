"""Mistakes that the graph itself shows: a loss with the wrong input. Works on names, edges and shapes; runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ..read.graph import signed
from ..read.rules import TRANSPOSES
from ..read.text import shape_text
from .scene import Arrow, Scene, operation

# losses that cannot be below 0: the operation, and what to call it
LOSSES = {
    "NllLoss": "negative log-likelihood", "NllLoss2D": "negative log-likelihood", "MseLoss": "squared error",
    "BinaryCrossEntropy": "cross-entropy", "BinaryCrossEntropyWithLogits": "cross-entropy",
    "SmoothL1Loss": "smooth L1 loss", "HuberLoss": "Huber loss",
}  # fmt: skip
# a loss and what it must not be given -> why
DOUBLE = {
    ("LogSoftmax", "Softmax"): "cross_entropy takes logits, not probabilities",
    ("LogSoftmax", "Sigmoid"): "cross_entropy takes logits, not probabilities",
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): "this loss takes logits, not probabilities",
    ("BinaryCrossEntropyWithLogits", "Softmax"): "this loss takes logits, not probabilities",
    ("NllLoss", "Softmax"): "nll_loss takes log-probabilities, and these lack the log",
}
PARTS = {
    "Select", "Slice", "Index", "Narrow", "Unbind", "Split", "Squeeze", "Unsqueeze", "View", "Reshape", "Cat", "Clone",
}  # fmt: skip
PICKS = ("Index", "Gather", "Select")
# functions that read a softmax along one dimension: the verb for it, and the functions in between that keep the rows
READERS = {
    **dict.fromkeys(("NllLoss", "Index", "Gather"), ("chooses along", ("Log", "Neg"))),
    **dict.fromkeys(
        ("Bmm", "Mm"), ("sums over", ("Expand", "View", "UnsafeView", "Clone", "NativeDropout", "Mul"))
    ),
}
POINTWISE = {
    "Mean", "Sum", "Div", "Mul", "Neg", "Pow", "Abs", "Sub", "Rsub", "Add", "Sqrt", "Square", "Log", "Log1P", "Clamp",
    "ClampMin", "Relu", "Softplus", "Where", "Exp", "Logcosh", "Log2", "Cosh", *LOSSES,
}  # fmt: skip


def mistakes(table: Any) -> Iterator[tuple[str, int, str]]:
    """(kind, function, text) of each construction mistake in a scene."""
    scene: Scene = table.scene
    for f in scene.functions:
        for made in _inputs(scene, f):
            pair = operation(scene.names[f]), operation(scene.names[made])
            if pair in DOUBLE:
                yield "double", f, f"{scene.names[f]} gets the output of {scene.names[made]}: {DOUBLE[pair]}."
    yield from _broadcast(scene, table.info)
    yield from _classes(scene, table.info)
    yield from _axes(scene, table.info)


def _behind(scene: Scene, f: int, past: Collection[str]) -> list[int]:
    """``f`` and the functions connected to it through functions of these kinds alone."""
    out, todo = [f], [f]
    while todo:
        for a in scene.out.get(todo.pop(), ()):
            if a.leaf is None and a.target not in out:
                out.append(a.target)
                todo += [a.target] * (operation(scene.names[a.target]) in past)
    return out


def _inputs(scene: Scene, f: int) -> list[int]:
    """The functions whose results ``f`` was given, whole or in part."""
    return [g for g in _behind(scene, f, PARTS)[1:] if operation(scene.names[g]) not in PARTS]


def top_of(scene: Scene) -> list[int]:
    """The functions of the loss: those connected to the root through pointwise functions and sums alone."""
    return _behind(scene, 0, POINTWISE) if operation(scene.names[0]) in POINTWISE else [0]


def _shape(info: Any, f: int, side: int, slot: int = 0) -> tuple[int, ...]:
    """The shape of a gradient that a function received (side 0) or sent (1); empty if there was none."""
    known = info.shapes.get(f, ((), ()))[side]
    return (known[slot] if slot < len(known) else None) or ()


def _broadcast(scene: Scene, info: Any) -> Iterator[tuple[str, int, str]]:
    """Predictions of shape (n, 1) against targets of shape (n,), which give (n, n) differences."""
    for f in top_of(scene):
        name, arrows = operation(scene.names[f]), scene.out.get(f, ())
        if name not in POINTWISE | {"Expand"} or len(arrows) != 1 or name in ("Sum", "Mean"):
            continue
        [a] = arrows
        result, made = _shape(info, f, 0), _shape(info, f, 1, a.slot)
        large, own = ([n for n in shape if n > 1] for shape in (result, made))
        if a.leaf is None and len(own) == 1 and large == own * 2:
            text = f"Predictions of shape {shape_text(made)} are broadcast to {shape_text(result)} by targets"
            each = f"{scene.names[f]} compares each prediction with all {own[0]} targets"
            yield "broadcast", f, f"{text} of another shape: {each}."
            return


def _classes(scene: Scene, info: Any) -> Iterator[tuple[str, int, str]]:
    """A reshape before a cross-entropy that takes the classes from the wrong dimension."""
    for f in scene.functions:
        shape = _shape(info, f, 1)
        if operation(scene.names[f]) != "LogSoftmax" or len(shape) != 2:
            continue
        for a in scene.out.get(f, ())[:1]:
            before = _reshaped_from(scene, a, info)
            count, end, fits = shape[1], 1, False
            for n in reversed(before or ()):
                end *= n
                fits |= end == count
            if before and count > 1 and not fits and count in before:
                text = f"The logits, of shape {shape_text(before)}, are read as {shape_text(shape)}, "
                yield "classes", f, f"{text}so the {count} numbers of an example are not its {count} classes."


def _axes(scene: Scene, info: Any) -> Iterator[tuple[str, int, str]]:
    """A softmax over one dimension, where a loss chooses along another or a matrix product sums over another."""
    for f in scene.functions:
        name = operation(scene.names[f])
        does, past = READERS.get(name, ("", ()))
        for g in _first_inputs(scene, f, past) if does else ():
            shape, dim = _shape(info, g, 0), signed(info.fixed[g].get("_saved_dim"))
            if operation(scene.names[g]) not in ("Softmax", "LogSoftmax") or len(shape) < 2 or dim is None:
                continue
            read = signed(info.fixed[f].get("_saved_dim", 1 if name in ("NllLoss", "Index") else -1))
            read, of, square = read % len(shape), dim % len(shape), shape[-1] == shape[-2]
            # any matrix may relate clusters and their points; a square one may relate two kinds of things
            unsure = {"Mm": not square, "Index": square or len(shape) > 2}.get(name, False)
            if of != read and not unsure and _shape(info, f, 1)[-2:] == shape[-2:]:
                text = f"{scene.names[g]} normalises dimension {of} of {shape_text(shape)}, but"
                yield "axis", f, f"{text} {scene.names[f]} {does} dimension {read}."


def _first_inputs(scene: Scene, f: int, past: Collection[str]) -> Iterator[int]:
    """The functions whose results reach the first input of ``f`` with their dimensions in the same order."""
    for a in scene.out.get(f, ())[:1]:
        turned = any(operation(scene.names[scene.edges[e][0]]) in TRANSPOSES for e in a.edges[1:])
        if a.leaf is None and a.slot == 0 and not turned:
            passed = operation(scene.names[a.target]) in past
            yield from _first_inputs(scene, a.target, past) if passed else [a.target]


def _reshaped_from(scene: Scene, a: Arrow, info: Any) -> tuple[int, ...] | None:
    """The shape before the first reshape that an arrow passes."""
    for edge in a.edges[1:]:
        node = scene.edges[edge][0]
        shape = info.fixed[node].get("_saved_self_sym_sizes")
        if shape is not None:
            return tuple(map(int, shape))
        if operation(scene.names[node]) not in ("Clone", "Alias"):
            return None
    return None


def wrong_sign(table: Any) -> tuple[str, str] | None:
    """What the loss is and what a falling loss means, if it should rise: minus an error, or a log-probability."""
    scene: Scene = table.scene
    f, minus = 0, False
    while (name := operation(scene.names[f])) in ("Neg", "Mean", "Sum", "Div"):
        arrows = scene.out.get(f, ())
        if len(arrows) != 1 or arrows[0].leaf is not None:
            return None
        f, minus = arrows[0].target, minus != (name == "Neg")
    [made, *_] = [*_inputs(scene, f), None]
    if not minus:
        chosen = name in PICKS and made and _log_probabilities(scene, made, "LogSoftmax", "Softmax")
        log = "The loss is a log-probability without a minus", "the probability falls"
        return log if chosen or _log_probabilities(scene, f, "LogSigmoid", "Sigmoid") else None
    even = name == "Abs" or (name == "Pow" and table.info.fixed[f].get("_saved_exponent") in (2, 4))
    # of predictions and fixed targets
    difference = made is not None and operation(scene.names[made]) == "Sub" and len(scene.out[made]) == 1
    error = ("absolute error" if name == "Abs" else "squared error") if even and difference else None
    error = error or loss_name(scene, f)
    return (f"The loss is minus the {error}", "the error grows") if error else None


def _log_probabilities(scene: Scene, f: int, log: str, plain: str) -> bool:
    """Whether ``f`` makes log-probabilities, directly or from probabilities ``p``; not log(1 - p)."""
    if operation(scene.names[f]) == "Log":
        [f, *_], log = [*_inputs(scene, f), f], plain
    made = {operation(scene.names[g]) for g in _inputs(scene, f)}
    return operation(scene.names[f]) == log and "Neg" not in made


def loss_name(scene: Scene, f: int) -> str:
    """The name of a loss that cannot be below 0; empty for everything else."""
    return LOSSES.get(operation(scene.names[f]), "")


def given_to_loss(scene: Scene) -> str:
    """What is wrong with the inputs of a loss, at the root, that is below 0."""
    [a, *_] = scene.out.get(0, [None])
    given = "what it was given" if a is None or a.leaf is not None else f"what {scene.names[a.target]} made"
    nll = operation(scene.names[0]).startswith("NllLoss")
    return f"{given} is not log-probabilities" if nll else f"{given}, or its targets, are outside [0, 1]"
