"""Checkpointing: keep only the inputs of a part of the model, and compute the rest again in the backward pass.

    y = checkpoint(block, x, use_reentrant=False)

Memory for time (Chen et al. 2016). The graph is the ordinary one; only what its nodes save is replaced by notes that
remember how to compute it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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

    def __init__(self, function: Callable, args: tuple, kwargs: dict, preserve_rng_state: bool, check: bool):
        self.function, self.args, self.kwargs, self.check = function, args, kwargs, check
        self.random_state = default_generator.get_state() if preserve_rng_state else None
        self.saved = 0
        self.again: dict[int, Tensor] = {}

    def pack(self, t: Tensor) -> Note:
        self.saved += 1
        return Note(self, self.saved - 1, t)

    def unpack(self, note: Note) -> Tensor:
        if note.number not in self.again:
            self.run_again()
        if note.number not in self.again:
            raise CheckpointError(MISMATCH.format(self.saved, len(self.again)))
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

        now = default_generator.get_state()
        if self.random_state is not None:
            default_generator.set_state(self.random_state)
        before = local.saved_hooks
        local.update(saved_hooks=())  # hooks around the backward pass have nothing to do with the forward
        try:
            with enable_grad(), saved_tensors_hooks(keep, refuse):
                self.function(*self.args, **self.kwargs)
        finally:
            local.update(saved_hooks=before)
            if self.random_state is not None:
                default_generator.set_state(now)
        if len(found) != self.saved:
            raise CheckpointError(MISMATCH.format(self.saved, len(found)))
        self.again = dict(enumerate(found))


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


def refuse(packed: object) -> Tensor:
    raise CheckpointError(
        "You are calling backward on a tensor that is never exposed, inside a function that is being recomputed. Move that "
        "backward pass out of the checkpointed function."
    )


def checkpoint(
    function: Callable,
    *args: object,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    **kwargs: object,
) -> object:
    """`function(*args, **kwargs)`, of which only the arguments are kept; the backward pass computes the rest again.

    preserve_rng_state: dropout and the like draw the same numbers again. determinism_check: "none" for no comparison of
    shapes and dtypes. use_reentrant is PyTorch's choice between two ways; there is one here, its use_reentrant=False.
    Raises RuntimeError in the backward pass if the function does something else the second time.
    """
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'] but got {determinism_check}"
        )
    call = Recomputation(function, args, kwargs, preserve_rng_state, determinism_check == "default")
    with saved_tensors_hooks(call.pack, call.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable],
    segments: int,
    input: Tensor,
    use_reentrant: bool | None = None,
    **options: object,
) -> Tensor:
    """Functions applied in turn, in `segments` checkpointed groups; the last group is kept as it is."""
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

    start = 0
    for start in range(0, length * (segments - 1), length):
        input = checkpoint(group(start, start + length), input, use_reentrant=use_reentrant, **options)
    return group(length * (segments - 1), len(functions))(input)


__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]
