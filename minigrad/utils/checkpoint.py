"""Checkpointing: keep only the inputs of a part of the model, and compute the rest again in the backward pass.

    y = checkpoint(block, x, use_reentrant=False)

Memory for time (Chen et al. 2016). With use_reentrant=False the graph is the ordinary one; only what its nodes save is
replaced by notes that remember how to compute it again. With use_reentrant=True the part is one node, whose backward
computes the part again and runs a backward pass of its own through it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ..autograd.backward import backward as run_backward
from ..autograd.engine import PartialPass
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, local
from ..autograd.graph import saved_tensors_hooks
from ..random import default_generator
from ..tensor import Tensor

MISMATCH = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
    "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}."
)
OTHER_METADATA = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
    "pass.\ntensor at position {}:\nsaved metadata: {}\nrecomputed metadata: {}"
)
SAY_WHICH = (
    "torch.utils.{}: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
    "without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the "
    "current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between "
    "the two variants."
)
ONLY_WHOLE_PASSES = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
    ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the "
    "`inputs` argument."
)


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


class AllSavedAgain(Exception):
    """Everything that was saved has been computed again; the rest of the function need not run."""


def no_contexts() -> tuple[AbstractContextManager, AbstractContextManager]:
    """Nothing around the function, neither the first time nor the second."""
    return nullcontext(), nullcontext()


@contextmanager
def random_numbers_from(state: Tensor | None) -> Iterator[None]:
    """Let the random numbers come from a place in the stream, and go on afterwards as if nothing had happened."""
    if state is None:
        yield
        return
    now = default_generator.get_state()
    default_generator.set_state(state)
    try:
        yield
    finally:
        default_generator.set_state(now)


# ---------------------------------------------------------------- the ordinary graph, with notes for saved values


class Note:
    """Stands in a node for a tensor that will be computed again. `keeps`: what the computation starts from."""

    __slots__ = ("call", "looks", "number")

    def __init__(self, call: Recomputation, number: int, t: Tensor):
        self.call, self.number = call, number
        self.looks = (tuple(t.shape), t.dtype)

    @property
    def keeps(self) -> list[Tensor]:
        return [t for t in self.call.args if isinstance(t, Tensor)]


class Recomputation:
    """One call of a checkpointed function, and what it saved, once it has been computed again."""

    def __init__(
        self, function: Callable, args: tuple, kwargs: dict, preserve_rng_state: bool, check: bool,
        around: AbstractContextManager, stop_early: bool,
    ):  # fmt: skip
        self.function, self.args, self.kwargs, self.check = function, args, kwargs, check
        self.around, self.stop_early = around, stop_early
        self.random_state = default_generator.get_state() if preserve_rng_state else None
        self.saved = 0
        self.again: dict[int, Tensor] = {}

    def pack(self, t: Tensor) -> Note:
        self.saved += 1
        return Note(self, self.saved - 1, t)

    def unpack(self, note: Note) -> Tensor:
        if note.number not in self.again:
            self.run_again()
        t = self.again.pop(note.number)
        looks = (tuple(t.shape), t.dtype)
        if self.check and looks != note.looks:
            shown = ({"shape": s, "dtype": d} for s, d in (note.looks, looks))
            raise CheckpointError(OTHER_METADATA.format(note.number, *shown))
        return t

    def run_again(self) -> None:
        """Call the function once more, with the random numbers of the first time, and keep what it saves."""
        found: list[Tensor] = []

        def keep(t: Tensor) -> None:
            found.append(t.detach())
            if self.stop_early and len(found) == self.saved:
                raise AllSavedAgain

        before = local.saved_hooks
        local.update(saved_hooks=())  # hooks around the backward pass have nothing to do with the forward
        try:
            with (
                random_numbers_from(self.random_state),
                self.around,
                enable_grad(),
                saved_tensors_hooks(keep, refuse),
            ):
                self.function(*self.args, **self.kwargs)
        except AllSavedAgain:
            pass
        finally:
            local.update(saved_hooks=before)
        if len(found) != self.saved:
            raise CheckpointError(MISMATCH.format(self.saved, len(found)))
        self.again = dict(enumerate(found))


def refuse(packed: object) -> Tensor:
    raise CheckpointError(
        "You are calling backward on a tensor that is never exposed, inside a function that is being recomputed. Move that "
        "backward pass out of the checkpointed function."
    )


# ---------------------------------------------------------------- one node for the whole part


class CheckpointFunction(Function):
    """The function, without a graph; its backward builds the graph and runs back through it."""

    @staticmethod
    def forward(ctx, function: Callable, preserve_rng_state: bool, *args):
        tensors = [a for a in args if isinstance(a, Tensor)]
        if not any(t.requires_grad for t in tensors):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=4,
            )
        ctx.recompute = function
        ctx.random_state = default_generator.get_state() if preserve_rng_state else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*tensors)
        return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if isinstance(local.backward_pass, PartialPass):  # a pass that goes to some of the nodes only
            raise RuntimeError(ONLY_WHOLE_PASSES)
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t.detach().requires_grad_(t.requires_grad)
        with random_numbers_from(ctx.random_state), enable_grad():
            outputs = ctx.recompute(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs)


# ---------------------------------------------------------------- the public face

stop_early_unless_told = True


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Inside, the second run of a function stops, or does not stop, as soon as all that is needed is there."""
    global stop_early_unless_told
    before, stop_early_unless_told = stop_early_unless_told, enable
    try:
        yield
    finally:
        stop_early_unless_told = before


def checkpoint(
    function: Callable,
    *args: object,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[AbstractContextManager, AbstractContextManager]] = no_contexts,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: object,
) -> object:
    """`function(*args, **kwargs)`, of which only the arguments are kept; the backward pass computes the rest again.

    use_reentrant: False is recommended. True makes it one node in the graph, with a backward pass inside the backward pass;
    then there are no keyword arguments, some input must require grad, and only `backward()` without inputs= goes through it.
    preserve_rng_state: dropout and the like draw the same numbers again. context_fn: gives two context managers, around the
    first and the second run. determinism_check: "none" for no comparison of shapes and dtypes. early_stop: the second run
    ends as soon as all that is needed has been computed. debug changes nothing here.
    Raises RuntimeError in the backward pass if the function does something else the second time.
    """
    if use_reentrant is None:
        warnings.warn(SAY_WHICH.format("checkpoint"), UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not no_contexts or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    first, second = context_fn()
    call = Recomputation(
        function, args, kwargs, preserve_rng_state, determinism_check == "default", second,
        early_stop and stop_early_unless_told,
    )  # fmt: skip
    if not local.grad:
        with first:
            return function(*args, **kwargs)
    with first, saved_tensors_hooks(call.pack, call.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable],
    segments: int,
    input: Tensor,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **unexpected: object,
) -> Tensor:
    """Functions applied in turn, in `segments` checkpointed groups; the last group is kept as it is."""
    if use_reentrant is None:
        warnings.warn(SAY_WHICH.format("checkpoint.checkpoint_sequential"), UserWarning, stacklevel=2)
        use_reentrant = True
    if unexpected:
        raise ValueError("Unexpected keyword arguments: " + ",".join(unexpected))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(functions) // segments
    if not length:
        raise ValueError(f"cannot cut {len(functions)} functions into {segments} segments")

    def group(start: int, end: int) -> Callable[[Tensor], Tensor]:
        def run(x: Tensor) -> Tensor:
            for f in functions[start:end]:
                x = f(x)
            return x

        return run

    for start in range(0, length * (segments - 1), length):
        input = checkpoint(
            group(start, start + length),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return group(length * (segments - 1), len(functions))(input)


__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]
__dir__ = __all__.copy  # what completion offers
