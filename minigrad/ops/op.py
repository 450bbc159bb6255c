"""The record `Op`: the declaration of an operation, and what follows from it. It computes nothing itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..basics import return_type
from .signature import Signature

MASK = "grad_input_mask"


class CallForm(NamedTuple):
    """One way to call an operation: its name, whether it is a method, its arguments. `run` runs it:
    `dispatch`, or `write` in place."""

    name: str
    method: bool
    run: Callable
    signature: Signature


class Op:
    """Everything known about one operation: its declaration (see table.py), and what follows from it.
    `forward` computes on arrays, and returns a tuple for several `outputs`, any sequence if that is empty."""

    kind: str | None = None  # "elementwise", "linear", "jointly linear"
    node: str = ""  # PyTorch's name for the node, if it is not `<Name>Backward0`
    doc: str = ""
    outputs: tuple[str, ...] = ("result",)
    constants: tuple[str, ...] = ()  # the last outputs, if they have no derivative, such as an index
    floating: bool = False  # whether the result is floating point even for integer inputs
    # the positions of the inputs that are brought into one dtype first; all of an elementwise operation
    promotes: tuple[int, ...] | None = None
    takes: str = ""  # the kinds of dtypes that it computes with, as NumPy's letters: "f", "fiu"; "" means any
    kernel: str = ""  # the name in PyTorch's error for another dtype, if it is not `<name>_cpu`
    view: bool = False  # whether the result shares the memory of the first input
    # whether inputs are broadcast or cast, and gradients fitted: always if elementwise
    broadcasts: bool = False
    # whether numbers may replace all inputs but the first; by default in elementwise operations
    numbers: bool | None = None
    number_first: bool = False  # whether a number may replace the first as well: `torch.mul(2, x)`
    zero_slope: tuple = ()  # saved tensors with respect to which all gradients have derivative 0
    jvp: Callable | None = None  # forward-mode rule, where `kind` does not imply one
    batch: object = None  # how vmap runs it, where the signature does not imply it
    node_class = None  # the class of the nodes that record it, if it has rules

    def __init__(self, signature: Signature, forward: Callable, rules: dict, options: dict[str, object]):
        for option, value in options.items():
            if option not in Op.__annotations__:
                raise TypeError(f"op({signature.name!r}): {option!r} is neither an option nor an input")
            setattr(self, option, value)
        self.signature, self.name, self.forward = signature, signature.name, forward
        self.kernel = self.kernel or f"{self.name}_cpu"
        self.inputs = tuple([n for n, k in signature.kinds.items() if k in ("", "tensors")])
        self.params = tuple([n for n in signature.kinds if n not in self.inputs])
        self.rules = {n: rules[n] for n in self.inputs if n in rules}
        self.differentiable = tuple([i for i, n in enumerate(self.inputs) if n in self.rules])
        # the number of arguments, if there is one for each parameter and all may be given by position
        self.count = -1 if signature.many or signature.only else len(signature.names)
        self.inputs_first = signature.names == [*self.inputs, *self.params]
        self.variadic = signature.kinds[self.inputs[0]] == "tensors"
        self.single = len(self.outputs) == 1
        elementwise, several = self.kind == "elementwise", len(self.inputs) > 1
        self.broadcasts = self.broadcasts or (elementwise and several)
        self.numbers = (elementwise if self.numbers is None else self.numbers) and several
        signature.numbers, signature.number_first = self.numbers, self.number_first
        if self.promotes is None:
            alike = self.differentiable if self.rules else range(len(self.inputs))
            self.promotes = tuple(alike) if elementwise and len(alike) > 1 else ()
        # a function that prepares parameters for `forward`; whether any need it
        self.prepare, self.needs_preparing = signature.ordering(self.params)
        self.casts = "dtype" in signature.kinds.values()  # if into integers, without a gradient
        self.find_saved()

    def find_saved(self) -> None:
        """Work out what a node of this operation saves: what its rules read."""
        # what each rule reads besides the gradient, its first argument, and the mask, if it takes one
        self.reads = {n: [p for p in parameters_of(r)[1:] if p != MASK] for n, r in self.rules.items()}
        self.saves = tuple(sorted({n for read in self.reads.values() for n in read}))
        self.sources = [self.source_of(n) for n in self.saves]
        self.guards = [self.guard_of(n) for n in self.saves]
        self.guarded = any(g is not None for g in self.guards)
        self.saved_inputs = tuple([i for i, (s, _) in enumerate(self.sources) if s == "input"])
        self.saved_results = tuple([i for i, (s, _) in enumerate(self.sources) if s == "result"])
        self.saved_tensors = self.saved_inputs + self.saved_results  # their positions in `saves`
        self.saves_sizes = any(source in ("shape", "size") for source, _ in self.sources)
        # positions of the values freed after use: an index holds tensors too
        self.freed = {*self.saved_tensors, *[i for i, n in enumerate(self.saves) if n == "indices"]}
        self.all_freed = (None,) * len(self.saves) if len(self.freed) == len(self.saves) else None
        # whether one rule gives several gradients
        self.shared = any(MASK in parameters_of(rule) for rule in self.rules.values())
        # each rule, with the positions in `saves` of what it reads
        self.readers = [(r, [self.saves.index(n) for n in self.reads[i]]) for i, r in self.rules.items()]
        # the positions of what is saved in (None, *inputs, *results, *shapes, *sizes, *params); shapes and
        # sizes are laid out only if a rule reads one
        count, sizes = len(self.inputs), 1 + len(self.inputs) + len(self.outputs)
        starts = {"input": 1, "result": 1 + count, "shape": sizes, "size": sizes + count}
        starts["param"] = sizes + 2 * count * self.saves_sizes
        self.positions = [starts[source] + i for source, i in self.sources]
        self.select_saved = chooser(self.positions)

    # ------------------------------------------------------------ what a rule reads

    def source_of(self, name: str) -> tuple[str, int]:
        """The source of what a rule reads under this name: (source, position)."""
        for n in (name, name.removeprefix("_")):
            for source, names in (("input", self.inputs), ("result", self.outputs), ("param", self.params)):
                if n in names:
                    return source, names.index(n)
            whose, _, what = n.partition("_sym_")
            if what and whose in self.inputs:
                return {"sizes": "shape", "numel": "size"}[what], self.inputs.index(whose)
        raise TypeError(f"op({self.name!r}): a rule reads {name!r}: not an input, output or parameter")

    def sharing(self, name: str) -> list[str]:
        """The inputs whose gradients this input's rule gives, if it gives several."""
        rule = self.rules[name]
        return [n for n in self.rules if self.rules[n] is rule] if MASK in parameters_of(rule) else []

    def guard_of(self, name: str) -> int | None:
        """The position of the rule whose gradient must be needed for a value to be saved; None if it is
        always saved, as a result is. An input has such a guard if only one of several rules reads it."""
        readers = [i for i, read in enumerate(self.reads.values()) if name in read]
        guarded = name in self.inputs and len(self.rules) > 1 == len(self.outputs) == len(readers)
        return readers[0] if guarded and name not in self.zero_slope else None

    @functools.cache  # noqa: B019 - operations are never freed
    def select_saved_for(self, needed: tuple[bool, ...]) -> Callable[[tuple], tuple]:
        """`select_saved` for a node whose inputs do not all need a gradient. An input
        becomes None if it is read only by the rule of an input that needs no gradient."""
        guarded = [g is not None and not needed[g] for g in self.guards]
        positions = [0 if g else position for position, g in zip(self.positions, guarded, strict=True)]
        return chooser(positions)

    # ------------------------------------------------------------ arguments and results

    def split(self, values: Sequence) -> tuple[Sequence, Sequence]:
        """The inputs and the parameters among the values of all arguments, in the signature's order."""
        if self.variadic:
            return values[0], values[1:]
        if self.inputs_first:
            count = len(self.inputs)
            return values[:count], values[count:]
        by_name = dict(zip(self.signature.names, values, strict=True))
        return [by_name[n] for n in self.inputs], [by_name[n] for n in self.params]

    @functools.cached_property
    def as_result(self) -> Callable:
        """The type in which several results are returned: a named tuple, if they have names."""
        if not self.outputs:
            return tuple
        return functools.partial(tuple.__new__, return_type(self.name.strip("_"), self.outputs))


def chooser(positions: Sequence[int]) -> Callable[[Sequence], Sequence]:
    """A function that picks the values at these positions from a sequence."""
    start, stop = (positions[0], positions[-1] + 1) if positions else (0, 0)
    if [*positions] == [*range(start, stop)]:
        return itemgetter(slice(start, stop))  # so that one position, or none, gives a tuple too
    return itemgetter(*positions)


def parameters_of(function: Callable) -> tuple[str, ...]:
    """The names of a function's positional parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]
