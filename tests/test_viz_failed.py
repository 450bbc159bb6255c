"""A pass that raises: what was computed until then, what failed, the shapes that did not fit, and the line of each."""

from __future__ import annotations

import contextlib
import inspect
import linecache
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
import viz
from viz.show.failed import Failed


def failed(do: Callable[[Any], Any], t: Any) -> Failed:
    """What viz reports after ``do(t)`` has raised."""
    with pytest.raises(Exception) as raised:
        do(t)
    found = viz.failure()
    assert found is not None and found.failure.error.startswith(type(raised.value).__name__)
    return found


def code_of(place: Any) -> str:
    """The source line at this place, read from the file."""
    assert place.file == __file__
    return linecache.getline(place.file, place.number).strip()


# -- forward --------------------------------------------------------------------------------------------------------------


def two_layers(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = t.nn.Linear(4, 8), t.nn.Linear(6, 2)

        def forward(self, x):
            h = self.first(x).relu()
            return self.second(h)

    net, x = Net(), t.ones(3, 4)
    with viz.record():
        y = net(x)
        y.sum()


def a_temporary(t):
    x, w = t.ones(3, 4, requires_grad=True), t.ones(5, 2, requires_grad=True)
    with viz.record():
        h = (x * 2).exp()
        z = (h + 1).relu() @ w
        z.sum()


def a_list_of_temporaries(t):
    x = t.ones(3, 4, requires_grad=True)
    with viz.record():
        t.cat([x * 2, x.sum(0)], dim=0)


def added_shapes(t):
    a, b = t.ones(3, requires_grad=True), t.ones(4)
    with viz.record():
        c = a * 2
        c = c + b


def an_index(t):
    table, places = t.ones(3, 4, requires_grad=True), t.tensor([0, 2, 7])
    with viz.record():
        t.nn.functional.embedding(places, table * 1)


def an_item(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        y = x * 2
        y[5].sum()


def a_dtype(t):
    logits = t.ones(2, 3, requires_grad=True) * 1
    labels = t.tensor([0.0, 1.0])
    with viz.record():
        shifted = logits + 1
        t.nn.functional.nll_loss(shifted, labels)


def in_place(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        (x * 2).sum()
        x += 1


def a_nan(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        h = x * float("inf")
        y = h - h
        z = y.sum()
        assert not z.isnan().any(), "the loss is not a number"


def raised_from_another(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        y = x * 2
        try:
            y.reshape(2, 2)
        except RuntimeError as error:
            raise ValueError("this batch cannot be used") from error


def of_the_framework(t):
    net = t.nn.Sequential(t.nn.Linear(4, 5), t.nn.ReLU(), t.nn.Linear(6, 2))
    x = t.ones(3, 4)
    with viz.record():
        net(x)


FORWARD = {  # program -> first words of the message, the line, and (operand, shape, line that made it)
    two_layers: (
        "net.second (Linear) failed", "return self.second(h)",
        [("input", (3, 8), "h = self.first(x).relu()"), ("net.second.weight", (2, 6), None), ("net.second.bias", (2,), None)],
    ),
    a_temporary: (
        "matmul failed", "z = (h + 1).relu() @ w",
        [("(h + 1).relu()", (3, 4), "z = (h + 1).relu() @ w"), ("w", (5, 2), None)],
    ),
    a_list_of_temporaries: (
        "cat failed", "t.cat([x * 2, x.sum(0)], dim=0)", [("x * 2", (3, 4), None), ("x.sum(0)", (4,), None)],
    ),
    added_shapes: ("add failed", "c = c + b", [("c", (3,), "c = a * 2"), ("b", (4,), None)]),
    an_index: (
        "embedding failed", "t.nn.functional.embedding(places, table * 1)",
        [("places", (3,), None), ("table * 1", (3, 4), None)],
    ),
    an_item: ("indexing failed", "y[5].sum()", [("y", (3,), "y = x * 2")]),
    a_dtype: (
        "nll_loss failed", "t.nn.functional.nll_loss(shifted, labels)",
        [("shifted", (2, 3), "shifted = logits + 1"), ("labels", (2,), None)],
    ),
    in_place: ("add_ failed", "x += 1", [("x", (3,), None)]),
    a_nan: ("the assertion failed", 'assert not z.isnan().any(), "the loss is not a number"', [("z", (), "z = y.sum()")]),
    raised_from_another: ("reshape failed", "y.reshape(2, 2)", [("y", (3,), "y = x * 2")]),
    of_the_framework: (
        "net.2 (Linear) failed", "net(x)",
        [("input", (3, 5), "net(x)"), ("net.2.weight", (2, 6), None), ("net.2.bias", (2,), None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("do", FORWARD, ids=lambda do: do.__name__)
def test_what_failed_in_a_forward_pass_has_its_line_its_shapes_and_theirs(t, do):
    words, line, operands = FORWARD[do]
    failure = failed(do, t).failure
    assert failure.title.startswith(words)
    assert code_of(failure.place) == line
    observed = [(o.text, o.shape, o.made and code_of(o.made)) for o in failure.operands]
    assert [(text, shape) for text, shape, _ in observed] == [(text, shape) for text, shape, _ in operands]
    for (_, _, made), (text, _, expected) in zip(observed, operands, strict=True):
        assert made == expected or expected is None, text
    # as a picture: the last node is what failed, with an arrow from each of its operands
    last = failure.graph.functions[-1]
    assert last.kind == "failed" and len(last.edges) == len(operands)
    picture = viz.failure().drawing.picture
    assert [link.label for link in picture.links if link.head.function is last] == [
        "scalar" if shape == () else str(shape) for _, shape, _ in operands
    ]
    assert "failed" in viz.failure().drawing.svg


def test_what_was_computed_until_then_is_counted_and_drawn(t):
    found = failed(two_layers, t)
    assert [f.name for f in found.failure.graph.functions if f.edges][:3] == [
        "TBackward0",
        "AddmmBackward0",
        "ReluBackward0",
    ]
    assert "3 operations had run before it." in str(found)
    assert "called on" in str(found) and "y = net(x)" in str(found)
    assert "Nothing had run before it." in str(failed(nothing_yet, t))


def nothing_yet(t):
    a, b = t.ones(2, 3, requires_grad=True), t.ones(2, 3)
    with viz.record():
        a @ b


def test_the_first_number_that_is_not_finite_is_named(t):
    text = str(failed(a_nan, t))
    assert "1 of 1 not finite" in text
    assert "The first result with numbers that are not finite is h" in text and 'h = x * float("inf")' in text


def test_the_range_of_an_index_is_reported(t):
    assert "from 0 to 7" in str(failed(an_index, t))


# -- backward -------------------------------------------------------------------------------------------------------------


def changed_in_place(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        y = x.exp()
        z = (y * y).sum()
        y.add_(1)
        z.backward()


def freed(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        z = (x.exp() * x).sum()
        z.backward()
        z.backward()


def a_hook(t):
    x = t.ones(3, requires_grad=True)

    def clip(grad):
        raise OverflowError("this gradient is too large")

    with viz.record():
        y = x.exp()
        y.register_hook(clip)
        z = (y * y).sum()
        z.backward()


def own_rule(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad / 0 * ctx.saved_tensors[1]

    x = t.ones(3, requires_grad=True)
    with viz.record():
        y = Square.apply(x * 3)
        z = (y * 2).sum()
        z.backward()


BACKWARD = {  # program -> the node, its line, what had run before it, other lines
    changed_in_place: ("MulBackward0 of y * y", "z = (y * y).sum()", ["SumBackward0"], [("changed in place", "y.add_(1)")]),
    freed: ("MulBackward0", "z = (x.exp() * x).sum()", ["SumBackward0"], []),
    a_hook: (
        "A hook on ExpBackward0 of y", "y = x.exp()", ["SumBackward0", "MulBackward0"],
        [("raised", 'raise OverflowError("this gradient is too large")')],
    ),
    own_rule: (
        "SquareBackward of y", "y = Square.apply(x * 3)", ["SumBackward0", "MulBackward0"],
        [("raised", "return grad / 0 * ctx.saved_tensors[1]")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("do", BACKWARD, ids=lambda do: do.__name__)
def test_what_failed_in_a_backward_pass_is_its_node_with_the_line_that_made_it(t, do):
    words, line, ran, more = BACKWARD[do]
    failure = failed(do, t).failure
    assert failure.title.startswith(words) and failure.title.endswith(" failed")
    assert code_of(failure.place) == line
    assert [(what, code_of(place)) for what, place in failure.more] == more
    assert failure.ran == len(ran)
    reached = [f for f in failure.graph.functions if not f.unreached]
    assert [f.name for f in reversed(reached) if f is not failure.failed] == ran and failure.failed in reached
    assert f"{len(ran)} of {len(failure.graph)} nodes had run before it" in str(failure)


def by_the_function(t):
    x = t.ones(3, requires_grad=True)
    with viz.record():
        y = x.exp()
        z = (y * y).sum()
        y.add_(1)
        t.autograd.grad(z, x)


def test_a_pass_that_a_function_of_the_framework_runs_is_shown_as_far_as_it_can_be(t):
    failure = failed(by_the_function, t).failure
    assert failure.title.startswith("MulBackward0 of y * y, made on line")
    assert [(what, code_of(place)) for what, place in failure.more] == [("changed in place", "y.add_(1)")]
    assert "not known how far" in str(failure)


def numbers_as_arguments(t):
    x, b = t.ones(3, 4, requires_grad=True), 5
    with viz.record():
        y = x * 2
        y.reshape(b * 2, x.size(0) + len(x.shape))


def test_numbers_are_not_operands(t):
    failure = failed(numbers_as_arguments, t).failure
    assert [(o.text, o.shape) for o in failure.operands] == [("y", (3, 4))]


@pytest.mark.parametrize("verb", [viz.trace, viz.step])
def test_a_pass_that_viz_runs_shows_the_same(t, verb):
    def do(t):
        x = t.ones(3, requires_grad=True)
        with viz.record():
            y = x.exp()
            z = (y * y).sum()
        y.register_hook(lambda grad: grad / None)
        verb(z)

    failure = failed(do, t).failure
    assert failure.title.startswith("A hook on ExpBackward0 of y") and failure.ran == 2
    assert code_of(failure.place) == "y = x.exp()"


# -- the exception propagates unchanged -----------------------------------------------------------------------------------


def plain(do: Callable) -> Callable:
    """The same function without its recordings."""
    source = inspect.getsource(do).replace("with viz.record():", "if True:")
    scope = dict(globals())
    exec(compile(source, do.__code__.co_filename, "exec"), scope)
    return scope[do.__name__]


@pytest.mark.parametrize("do", [*FORWARD, *BACKWARD], ids=lambda do: do.__name__)
def test_the_exception_is_the_one_that_the_program_raises_without_a_recording(t, do):
    observed = []
    for run in (do, plain(do)):
        with pytest.raises(Exception) as raised:
            run(t)
        error = raised.value
        names = [e.name for e in traceback.extract_tb(error.__traceback__) if e.filename == __file__]
        first = str(error).splitlines()[0].split("version")[0]
        observed.append((type(error), first, names, getattr(error, "__notes__", None)))
        assert sys.gettrace() is None
    assert observed[0] == observed[1]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_not_an_error_passes_silently(kind):
    x, before = minigrad.tensor(2.0, requires_grad=True), viz.failure()
    error = kind()
    with pytest.raises(kind) as raised, viz.record() as recording:
        y = x * 2
        assert y is not None
        raise error
    assert raised.value is error and recording.failure is None and viz.failure() is before


def test_a_generator_that_is_closed_inside_of_a_block_is_closed():
    x = minigrad.tensor(2.0, requires_grad=True)

    def halves():
        with viz.record():
            while True:
                yield x / 2

    made = halves()
    next(made)
    made.close()
    assert sys.gettrace() is None


def test_a_recording_in_a_recording_leaves_both_with_what_failed(t):
    x = t.ones(3, requires_grad=True)
    with pytest.raises(Exception), viz.record() as outer:  # noqa: B017
        y = x * 2
        with viz.record() as inner:
            y.reshape(2, 2)
    assert inner.failure.failure.title.startswith("reshape failed on line")
    assert outer.failure.failure.title == inner.failure.failure.title


def test_an_error_that_the_block_itself_catches_is_not_reported(t):
    x = t.ones(3, requires_grad=True)
    with viz.record() as recording:
        try:
            x.reshape(2, 2)
        except Exception:
            y = x.sum()
    assert recording.failure is None and y.item() == 3
    with (
        pytest.raises(KeyError),
        viz.record() as recording,
    ):  # a later exception that this one did not cause
        with contextlib.suppress(Exception):
            x.reshape(2, 2)
        {}["missing"]
    assert recording.failure.failure.operands == []


def test_whatever_goes_wrong_while_it_looks_changes_nothing(monkeypatch):
    monkeypatch.setattr("viz.read.failure.read_nodes", lambda nodes: 1 / 0)
    x = minigrad.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid for input"), viz.record() as recording:
        x.reshape(2, 2)
    assert recording.failure is None


def test_it_holds_nothing_of_the_program(t):
    import gc
    import weakref

    class Probe:
        pass

    alive = []

    def do():
        x = t.ones(3, requires_grad=True)
        probe = Probe()
        alive.append(weakref.ref(probe))
        with viz.record():
            y = x * 2
            y.reshape(2, 2)

    with pytest.raises(Exception):  # noqa: B017
        do()
    gc.collect()
    assert viz.failure() is not None and alive[0]() is None


def test_it_shows_itself_and_can_be_saved(t, tmp_path):
    found = failed(a_temporary, t)
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == repr(found) and len(repr(found)) < 110
    assert "<img" in bundle["text/html"] and "(5, 2), float32" in bundle["text/html"]
    assert found.save(tmp_path / "failed.svg").read_text(encoding="utf-8").startswith("<svg")


CELLS = """
import io, contextlib
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
shell = InteractiveShell.instance()
shown = []
shell.display_pub.publish = lambda data, **more: shown.append(data)
with contextlib.redirect_stdout(io.StringIO()) as out:
    shell.run_cell("import minigrad, viz; x = minigrad.ones(3, requires_grad=True)")
    shell.run_cell("with viz.record():\\n    y = x * 2\\n    z = y.reshape(2, 2)")
    first = len(shown)
    shell.run_cell("try:\\n    with viz.record():\\n        x.reshape(2, 2)\\nexcept RuntimeError:\\n    pass")
    shell.run_cell("1 + 1")
assert first == len(shown) == 1, (first, len(shown))
assert "reshape failed on line 3 of this cell" in shown[0]["text/plain"], shown[0]["text/plain"]
assert "z = y.reshape(2, 2)" in shown[0]["text/html"]
assert "RuntimeError" in out.getvalue()
"""


@pytest.mark.long
def test_in_a_notebook_it_stands_once_under_the_traceback():
    import subprocess

    done = subprocess.run([sys.executable, "-c", CELLS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
