"""Writes, for each operation, the Python function that runs it in place in the ordinary case, as calls.py does out of place.

The ordinary case: no transform is running, plain Tensors of one dtype, the target not expanded and not overlapping with
the others, and the result of the target's shape. For everything else, and for every error, the function hands over to
`inplace.write_in_general`. To read what was written for an operation:
`print(minigrad.ops.calls_in_place.source_of_write(minigrad.exp.op))`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..autograd.saved import FIELD
from .calls import edge_lines, node_lines, number_lines, number_may_be_second

if TYPE_CHECKING:
    from .table import Op


def source_of_write(op: Op, compute: str = "forward", *, options: bool = False) -> str:
    """The text of the function that runs `op` and writes the result into its first tensor, which it returns.

    compute: "forward" gives a new array, which is copied; "ufunc" takes the target as a further argument; "into" writes into
    its first argument. options: the function takes keywords, which are unusual.
    """
    count, elementwise = len(op.inputs), op.kind == "elementwise"
    tensors = [f"t{i}" for i in range(count)]
    arrays = ", ".join(f"x{i}" for i in range(count))
    star = ", *params" * bool(op.params)
    rest = "".join(f", {t}" for t in tensors[1:]) + star
    number = number_may_be_second(op)

    # are we recording? None: something else is unusual, too
    lines = [
        f"def in_place(t0{rest}{', **options' * options}):",
        "    recording = not special or (None if anomaly.on else local.recording)",
    ]
    unusual = ["recording is None or running"] + ["options"] * options
    unusual += [
        f"(type({t}) is not Tensor and type({t}) not in plain_types)"
        for t in (tensors[:1] if number else tensors)
    ]
    instead = f"return general(t0{rest}{', **options' * options})"
    lines += [f"    if {' or '.join(unusual)}:", f"        {instead}"]
    if number:
        lines += number_lines(instead)
    lines += [f"    x{i} = t{i}._array" for i in range(count)]
    lines += ["    counter = t0._counter or t0._own_counter()"]
    unusual = ["(0 in x0.strides and is_stretched(x0))"]
    if elementwise:
        first, *others = op.differentiable or range(count)  # those that are brought into one dtype
        unusual += [f"x{i}.dtype is not x{first}.dtype" for i in others]
    unusual += ["x0.dtype.kind != 'f'"] * op.floating
    saves_others = any(op.sources[i][1] for i in op.saved_inputs)
    for i in range(1, count):  # they may share memory
        unusual += [f"t{i}._counter is counter" + f" and overlap(x0, x{i})" * (not saves_others)]
    lines += [f"    if {' or '.join(unusual)}:", f"        {instead}"]

    # whether it may be written to, its place in the graph and, if a rule needs it, its value before that
    target = "t0"
    if op.differentiable:
        wanted = " or ".join(f"t{i}._requires_grad" for i in op.differentiable)
        if op.name == "copy":  # into integers, which are not differentiable
            wanted = f"x0.dtype.kind == 'f' and ({wanted})"
        if "self" in op.saves:
            target = "target"
            lines += ["    target = t0"]
        lines += [
            f"    if recording and ({wanted}):",
            "        if t0._grad_fn is None or t0._meta is not None:",
            "            check_writable(t0)",
            *(f"        {line}" for line in edge_lines(op)),
        ]
        if "self" in op.saves:
            guard = op.guards[op.saves.index("self")]
            lines += (
                ["        t0 = old_value(t0)"]
                if guard is None
                else [
                    f"        if e{op.differentiable[guard]} is not None:",
                    "            t0 = old_value(t0)",
                ]
            )
        lines += ["    else:", "        recording = False"]

    run = {
        # of a single number NumPy makes a new one in a third of the time
        "ufunc": f"forward({arrays}, x0) if x0.ndim else x0.fill(forward({arrays}))",
        "into": f"into({arrays}{star})",
        "forward": f"y = forward({arrays}{star})",
    }[compute]
    lines += [
        "    try:",
        f"        {run}",
        "    except (ValueError, TypeError, LookupError, RuntimeError):  # which says what is wrong",
        f"        return general({target}{rest}{', **options' * options})",
    ]
    if compute == "forward":
        lines += [
            "    if y.shape != x0.shape or y.dtype is not x0.dtype:",
            "        check_result(y, x0)",
            "    x0[...] = y",
        ]
    lines += ["    counter.version += 1"]
    if op.differentiable:
        lines += ["    if recording:", *(f"        {line}" for line in history_lines(op, target))]
    return "\n".join([*lines, f"    return {target}"])


def history_lines(op: Op, target: str) -> list[str]:
    """The part of the function that makes the node and gives it to what was written to."""
    lines = ["y, same = x0, True  # the result, and that all are of one dtype"] * (
        op.broadcasts or bool(op.saved_results)
    )
    lines += ["node = Node()", *node_lines(op)]
    if op.saved_results:
        lines += [
            "node._counter = counter",
            f"node._version += counter.version << {FIELD * op.saved_results[0]}",
        ]
    return [
        *lines,
        f"if {target}._meta is None and {target}._requires_grad:",
        f"    {target}._grad_fn = node",
        f"    {target}._output_nr = 0",
        "else:",
        f"    hang({target}, node)",
    ]
