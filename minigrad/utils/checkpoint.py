"""Checkpointing: keep only the inputs of a part of the model, and compute the rest again in the backward pass.

    y = checkpoint(block, x, use_reentrant=False)

This trades time for memory (Chen et al. 2016). The graph is the ordinary one; only what its nodes save is replaced by
placeholders, from which it can be recomputed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from .. import messages
from ..autograd.grad_mode import enable_grad
from ..autograd.graph import saved_tensors_hooks
from ..autograd.modes import local
from ..autograd.saved import SavedTensor
from ..basics import check
from ..missing import module_attributes
from ..random import rng
from ..tensor import Tensor

__all__ = ["CheckpointError", "checkpoint"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


class CheckpointError(RuntimeError):
    """The function did something different the second time."""


class AllSavedAgain(Exception):
    """Everything that was saved has been computed again; the rest of the function need not run."""


class Recomputation:
    """One call of a checkpointed function, and what it saved, once it has been computed again."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict):
        # hooks of an outer block see the inputs, since those are kept
        hooks = local.saved_hooks[-1] if local.saved_hooks else None
        self.args = [SavedTensor(a, hooks, self) if isinstance(a, Tensor) else a for a in args]
        self.function, self.kwargs = function, kwargs
        self.random_state = rng().get_state()
        self.saved = 0
        self.again: dict[int, Tensor] = {}

    def pack(self, t: Tensor) -> tuple[int, dict]:
        """A placeholder in a node for a tensor that will be recomputed."""
        self.saved += 1
        return self.saved - 1, {"shape": t.shape, "dtype": t.dtype}

    def unpack(self, note: tuple[int, dict]) -> Tensor:
        number, looks = note
        if number not in self.again:
            self.run_again()
        t = self.again.pop(number)
        results = {"shape": t.shape, "dtype": t.dtype}
        check(results == looks, messages.CHECKPOINT_METADATA, number, looks, results, error=CheckpointError)
        return t

    def run_again(self) -> None:
        """Call the function once more, with the random numbers of the first time, and keep what it saves."""
        results: list[Tensor] = []
        args = [a.unpack(self) if isinstance(a, SavedTensor) else a for a in self.args]

        def keep(t: Tensor) -> Tensor:
            results.append(t.detach())
            if len(results) == self.saved:
                raise AllSavedAgain
            return results[-1]

        random_state = rng().get_state()
        try:
            rng().set_state(self.random_state)
            with suppress(AllSavedAgain), enable_grad(), saved_tensors_hooks(keep, lambda t: t):
                self.function(*args, **self.kwargs)
        finally:
            rng().set_state(random_state)
        counts = self.saved, len(results)
        check(counts[0] == counts[1], messages.CHECKPOINT_COUNT, *counts, error=CheckpointError)
        self.again = dict(enumerate(results))


def checkpoint(
    function: Callable, *args: object, use_reentrant: bool | None = None, **kwargs: object
) -> object:
    """`function(*args, **kwargs)`, keeping only the arguments; the backward pass computes the rest again.

    use_reentrant: must be False. Dropout and the like draw the same numbers again.
    Raises RuntimeError in the backward pass if the function does something different the second time.
    """
    if use_reentrant is not False:
        raise ValueError(messages.CHECKPOINT_VARIANT)
    if not local.grad:
        return function(*args, **kwargs)
    call = Recomputation(function, args, kwargs)
    with saved_tensors_hooks(call.pack, call.unpack):
        return function(*args, **kwargs)
