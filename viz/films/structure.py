"""Mistakes that a graph itself shows: a loss that is fed the wrong thing. Works on names, edges and shapes; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .scene import Arrow, Scene, operation

# what a loss cannot be below 0 in, by the operation that computes it
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
POINTWISE = {
    "Mean", "Sum", "Div", "Mul", "Neg", "Pow", "Abs", "Sub", "Rsub", "Add", "Sqrt", "Square", "Log", "Log1P", "Clamp",
    "ClampMin", "Relu", "Softplus", "Where", "Exp", "Logcosh", "Log2", "Cosh", *LOSSES,
}  # fmt: skip


def mistakes(table: Any) -> Iterator[tuple[str, int, str]]:
    """(kind, function, text) of what is built wrongly in a scene."""
    scene: Scene = table.scene
    for f in scene.functions:
        for made in _inputs(scene, f):
            pair = operation(scene.names[f]), operation(scene.names[made])
            if pair in DOUBLE:
                yield "double", f, f"{scene.names[f]} gets the output of {scene.names[made]}: {DOUBLE[pair]}."
    yield from _broadcast(scene, table.info.shapes)
    yield from _classes(scene, table.info)


def _inputs(scene: Scene, f: int) -> list[int]:
    """The functions whose results ``f`` was given, whole or in part."""
    out: list[int] = []
    todo = [a.target for a in scene.out.get(f, ()) if a.leaf is None]
    while todo:
        g = todo.pop()
        if operation(scene.names[g]) in PARTS:
            todo += [a.target for a in scene.out.get(g, ()) if a.leaf is None]
        elif g not in out:
            out.append(g)
    return out


def top_of(scene: Scene) -> list[int]:
    """The functions of the loss: those that only pointwise functions and sums separate from the root."""
    top, todo = [0], [0]
    while todo:
        f = todo.pop()
        if operation(scene.names[f]) not in POINTWISE:
            continue
        for a in scene.out.get(f, ()):
            if a.leaf is None and a.target not in top:
                top.append(a.target)
                todo.append(a.target)
    return top


def _broadcast(scene: Scene, shapes: dict[int, tuple]) -> Iterator[tuple[str, int, str]]:
    """Predictions of shape (n, 1) against targets of shape (n,), which give (n, n) differences."""
    for f in top_of(scene):
        received, sent = shapes.get(f, ((), ()))
        name, arrows = operation(scene.names[f]), scene.out.get(f, ())
        if name not in POINTWISE | {"Expand"} or not received or received[0] is None or len(arrows) != 1:
            continue
        [a] = arrows
        result, made = received[0], sent[a.slot] if a.slot < len(sent) else None
        if a.leaf is not None or made is None or name in ("Sum", "Mean"):
            continue
        large, own = ([n for n in shape if n > 1] for shape in (result, made))
        if len(own) == 1 and large == own * 2:
            text = f"Predictions of shape {_shape(made)} are broadcast to {_shape(result)} by targets of another shape: "
            each = f"{scene.names[f]} compares each prediction with all {own[0]} targets."
            yield "broadcast", f, text + each
            return


def _classes(scene: Scene, info: Any) -> Iterator[tuple[str, int, str]]:
    """A reshape before a cross-entropy that takes the classes from the wrong dimension."""
    for f in scene.functions:
        name = operation(scene.names[f])
        _, sent = info.shapes.get(f, ((), ()))
        if name != "LogSoftmax" or not sent or sent[0] is None or len(sent[0]) != 2:
            continue
        for a in scene.out.get(f, ())[:1]:
            before = _reshaped_from(scene, a, info)
            count, end, fits = sent[0][1], 1, False
            for n in reversed(before or ()):
                end *= n
                fits |= end == count
            if before and count > 1 and not fits and count in before:
                text = f"The logits, of shape {_shape(before)}, are read as {_shape(sent[0])}: "
                yield (
                    "classes",
                    f,
                    text + f"so the {count} numbers of an example are not its {count} classes.",
                )


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


def negated(table: Any) -> str:
    """The error, never below 0, whose negative the loss is; else empty."""
    scene: Scene = table.scene
    f, name = 0, operation(scene.names[0])
    if name != "Neg":
        return ""
    while name in ("Neg", "Mean", "Sum", "Div"):
        arrows = scene.out.get(f, ())
        if len(arrows) != 1 or arrows[0].leaf is not None:
            return ""
        f = arrows[0].target
        name = operation(scene.names[f])
    [difference, *_] = [*_inputs(scene, f), None]
    even = name == "Abs" or (name == "Pow" and table.info.fixed[f].get("_saved_exponent") in (2, 4))
    if (
        even
        and difference
        and operation(scene.names[difference]) == "Sub"
        and len(scene.out[difference]) == 1
    ):
        return "absolute error" if name == "Abs" else "squared error"  # of predictions and fixed targets
    return loss_name(scene, f)


def loss_name(scene: Scene, f: int) -> str:
    """What a loss is called that cannot be below 0; empty for everything else."""
    return LOSSES.get(operation(scene.names[f]), "")


def given_to_loss(scene: Scene) -> str:
    """The inputs of a loss at the root that is below 0."""
    [a, *_] = scene.out.get(0, [None])
    given = "what it was given" if a is None or a.leaf is not None else f"what {scene.names[a.target]} made"
    nll = operation(scene.names[0]).startswith("NllLoss")
    return f"{given} is not log-probabilities" if nll else f"{given}, or its targets, are outside [0, 1]"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
