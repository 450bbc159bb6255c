"""A finished backward pass, replayed: that of the last frame, or of the first with a NaN.

The parts of a pass are held by reference while it is the newest: the gradients that hooks saw, what the nodes had saved, and
copies of the leaves. From these, a graph of stand-ins is built that follows the protocol of ``read.graph``; its backward
pass returns what was seen, in the engine's order, so that it can be stepped through like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property, partial
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..picture.choose import pictures_of
from ..read.graph import is_tensor, signed
from ..read.recall import prepare
from ..read.text import one_line
from ..read.values import dtype_name, size_of
from ..run.trace import run
from ..show.page import shared
from ..show.payload import describe
from .norms import numbers
from .scene import Scene, operation

MOST, LARGEST = 600, 1 << 24  # to step through a pass in a film: at most this many nodes, and numbers held
CUSTOM = "saved_tensors"  # the attribute of a custom function with everything it keeps


class SceneInfo:
    """The facts about a scene's nodes that do not change from frame to frame, read while one of its graphs is alive.

    ``called``, ``modules``: the caller's tensors and modules, with their names. ``why``: why its frames are not held, or "".
    """

    def __init__(
        self, scene: Scene, nodes: list[Any], called: list[tuple[str, Any]], modules: dict[str, Any]
    ):
        at = {node: i for i, node in enumerate(nodes)}
        leaf_at = {id(nodes[i].variable): i for i in scene.leaves}
        self.sequence = [int(getattr(n, "_sequence_nr", lambda i=i: -i)()) for i, n in enumerate(nodes)]
        self.rules = [getattr(n, "rules", None) for n in nodes]
        self.slots = [len(n.next_functions) for n in nodes]
        self.fixed: list[dict[str, Any]] = [{} for _ in nodes]  # what nodes keep besides tensors
        self.kept: list[tuple[int, str, Any]] = []  # node, attribute, what made it: (node, output) or None
        self.first: dict[tuple, tuple[int, str]] = {}  # where to read each; leaves are copied
        leaves, turns = set(scene.leaves), {i for i, name in enumerate(scene.names) if operation(name) == "T"}
        self.copied = leaves | {s for s, _, t, _ in scene.edges if t in leaves and s in turns}
        self.names: dict[tuple[int, int], tuple] = {}  # result -> name, shape, dtype
        self.others: dict[tuple[int, str], str] = {}  # names of kept tensors that do not require grad
        self.held = 0  # how many numbers are held
        self.custom = {i for i, n in enumerate(nodes) if hasattr(type(n), CUSTOM)}  # the user's own rules
        self.module_classes = {path: one_line(type(m).__name__) for path, m in modules.items()}
        self.shapes: dict[int, tuple] = {}  # what each function receives and sends in the first frame
        self.alike: list[int] = []  # leaves whose units are alike in the first frame
        self.classes = 0  # for a classifier with a mean loss; else 0
        self.bad_data = ""  # the data that hold NaN or Inf, in the first frame that does
        self.why = f"its graph has more than {MOST} nodes" if len(nodes) > MOST else ""
        plain = {}
        for name, tensor in called:
            if (i := at.get(tensor.grad_fn)) is not None:
                made = (name, tuple(tensor.shape), dtype_name(tensor))
                self.names.setdefault((i, int(getattr(tensor, "output_nr", 0))), made)
            elif not tensor.requires_grad:
                plain.setdefault(id(tensor), name)
        try:
            for i, node in enumerate(nodes) if not self.why else ():
                self._read(i, node, at, leaf_at, plain)
        except RuntimeError as error:  # the pass itself will report it
            self.why = str(error)
        if self.held > LARGEST:
            self.why = f"its nodes save {self.held:,} numbers, more than {LARGEST:,}"

    def _read(self, i: int, node: Any, at: dict, leaf_at: dict, plain: dict) -> None:
        for name in [a for a in dir(node) if a.startswith("_saved_") or a == CUSTOM]:
            if getattr(getattr(node, f"_raw{name}", None), "unpack_hook", None) is not None:
                raise RuntimeError("its saved tensors are packed by hooks")  # reading would run those hooks
            value = getattr(node, name)
            if name != CUSTOM and not is_tensor(value) and not isinstance(value, np.ndarray):
                self.fixed[i][name] = value
                continue
            origin = at.get(getattr(value, "grad_fn", None), leaf_at.get(id(value)))
            made = None if origin is None else (origin, int(getattr(value, "output_nr", 0)))
            self.kept.append((i, name, made))
            if origin not in self.copied:
                self.first.setdefault(made or (i, name), (i, name))
            if id(value) in plain:
                self.others[i, name] = plain[id(value)]
            every = value if name == CUSTOM else [value]
            self.held += sum(size_of(t.shape) for t in every if t is not None)

    def saved(self, nodes: list[Any]) -> dict[tuple, tuple[Any, int]] | None:
        """The tensors that the nodes keep, and how many times each was written to; None if they have already been freed."""
        if self.why:
            return None
        try:
            first = ((k, getattr(nodes[i], name)) for k, (i, name) in self.first.items())
            return {k: (t, getattr(t, "_version", 0)) for k, t in first}
        except RuntimeError:  # the pass itself will report it
            return None

    def named(self, nodes: list[Any], frame: Any) -> dict[str, Any]:
        """The results that plain variables of the caller hold now."""
        scope = frame.f_locals
        live = ((name, scope.get(name), nodes[i]) for (i, _), (name, *_) in self.names.items())
        return {name: t.detach() for name, t, node in live if getattr(t, "grad_fn", None) is node}


class Tensor:
    """A stand-in for a tensor: numbers, or None where they are not known, and the node that made it."""

    grad_fn: Any = None
    requires_grad, output_nr, grad = False, 0, None

    def __init__(self, array: np.ndarray | None, shape: Any = None, dtype: str | None = None):
        self.array, self.shape = array, tuple(array.shape if shape is None else shape)
        self.dtype = dtype or (str(array.dtype) if array is not None else "")

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        if self.array is None:
            raise RuntimeError("these numbers are not known")
        return self.array


class Node:
    """A stand-in for a node of the graph."""

    def __init__(self, name: str, number: int, rules: Any):
        self.called, self.number, self.rules, self.after = name, number, rules, None
        self.next_functions: tuple = ()
        self.pre, self.post = [], []
        self.register_prehook, self.register_hook = partial(_listen, self.pre), partial(_listen, self.post)

    def name(self) -> str:
        return self.called

    def _sequence_nr(self) -> int:
        return self.number


def _listen(hooks: list, hook: Any) -> Any:
    hooks.append(hook)
    return SimpleNamespace(remove=partial(hooks.remove, hook))


class ReplayedPass(Tensor):
    """The loss of a pass that ``hooks`` saw, with the graph behind it; ``backward()`` replays it. ``names``: of tensors.

    loss, options: those of that pass, ``loss`` without its graph. table: what the leaves are called.
    """

    for_good = False  # whether it is kept once a later pass is the newest

    def __init__(self, hooks: Any, loss: Any, options: dict[str, Any], output_nr: int, table: Any):
        super().__init__(np.array(numbers(loss)), None, dtype_name(loss))
        self.options, gradient = options, options.get("gradient")
        self.hooks, self.scene, self.info = hooks, hooks.scene, hooks.info
        self.seed = np.ones(self.shape, self.array.dtype) if gradient is None else numbers(gradient)
        about = zip(self.scene.names, self.info.sequence, self.info.rules, strict=True)
        self.nodes = [Node(*x) for x in about]
        self.edges: list[list[tuple]] = [[(None, 0)] * n for n in self.info.slots]
        for i, slot, target, nr in self.scene.edges:
            self.edges[i][slot] = target, nr
        for node, out in zip(self.nodes, self.edges, strict=True):
            node.next_functions = tuple((None if i is None else self.nodes[i], nr) for i, nr in out)
        self.grad_fn, self.requires_grad, self.output_nr = self.nodes[0], True, output_nr
        self.alone = dict(zip(self.scene.leaves, hooks.alone, strict=True))
        self.leaf = {i: self._leaf(i, k, table.shapes[k]) for k, i in enumerate(self.scene.leaves)}
        self.names: dict[str, Tensor] = dict(zip(table.names, self.leaf.values(), strict=True))
        self.played = list(self._play())
        self._results()
        self._saved()

    def _leaf(self, i: int, k: int, shape: tuple) -> Tensor:
        def of(pack: Any) -> Tensor | None:
            array = None if pack is None else pack.arrays[k]
            return None if array is None else Tensor(array.reshape(shape))

        leaf = of(self.hooks.values) or Tensor(None, shape)
        leaf.requires_grad, leaf.grad = True, of(self.hooks.old)
        self.nodes[i].variable, self.nodes[i].after = leaf, of(self.hooks.grads)
        return leaf

    def _made(self, tensor: Tensor, i: int, nr: int) -> Tensor:
        tensor.grad_fn, tensor.output_nr, tensor.requires_grad = self.nodes[i], nr, True
        return tensor

    def _results(self) -> None:
        """Facts about results: their shapes are those of their gradients; the caller's names, values of tensors still alive."""
        for i, received, _ in self.played:
            if all(g is not None for g in received):
                self.nodes[i]._input_metadata = [Tensor(g) for g in received]
        for (i, nr), (name, shape, dtype) in self.info.names.items():
            live, known = self.hooks.named.get(name), getattr(self.nodes[i], "_input_metadata", ())
            unknown = Tensor(None, known[nr].shape if nr < len(known) else shape, dtype)
            self.names.setdefault(name, self._made(unknown if live is None else _copy(live), i, nr))

    def _saved(self) -> None:
        for node, fixed in zip(self.nodes, self.info.fixed, strict=True):
            vars(node).update(fixed)
        for i, name, origin in self.info.kept:
            value, version = self.hooks.saved.get(origin or (i, name), (None, 0))
            if name == CUSTOM:
                for k, t in enumerate(value):
                    setattr(self.nodes[i], f"_saved_{CUSTOM}[{k}]", None if t is None else _copy(t))
                continue
            stand_in = self.leaf.get(origin[0] if origin else None) or self._transposed(origin)
            if stand_in is None:
                written = version != getattr(value, "_version", 0)  # it was written to since
                stand_in = Tensor(None, value.shape, dtype_name(value)) if written else _copy(value)
            if origin and origin[0] not in self.leaf:
                stand_in = self._made(stand_in, *origin)
            if (called := self.info.others.get((i, name))) is not None:
                stand_in = self.names.setdefault(called, stand_in)
            setattr(self.nodes[i], name, stand_in)

    def _transposed(self, origin: tuple[int, int] | None) -> Tensor | None:
        """The leaf as the operation that transposes it saw it: the leaf itself has been updated since."""
        if origin is None or operation(self.scene.names[origin[0]]) != "T":
            return None
        leaf = self.leaf.get(self.edges[origin[0]][0][0])
        return leaf and Tensor(None if leaf.array is None else leaf.array.T, leaf.shape[::-1], leaf.dtype)

    @cached_property
    def payload(self) -> dict[str, Any]:
        """The stepper's payload of this pass, replayed and recorded as ``viz.step`` records it."""
        graph, plain = prepare(self, "film", self.names, None)
        graph.classes = self.info.module_classes
        known = {key: self.options[key] for key in ("retain_graph", "create_graph") if key in self.options}
        given = None if self.options.get("gradient") is None else Tensor(self.seed)
        trace = run(graph, plain, given, verb="film", **known)
        return shared(describe(trace, *pictures_of(graph, None)))

    # ---- the pass

    def backward(self, **options: Any) -> None:
        """Replay the pass: the registered hooks receive what was seen."""
        for i, *seen in self.played:
            received, sent = (tuple(None if g is None else Tensor(g) for g in side) for side in seen)
            for hook in tuple(self.nodes[i].pre):
                hook(received)
            if i in self.leaf:
                self.leaf[i].grad = self.nodes[i].after
            for hook in tuple(self.nodes[i].post):
                hook(sent, received)

    def _play(self) -> Iterator[tuple[int, list, list]]:
        """(node, received, sent) for each node that a gradient reached, in the engine's order: leaves, then the newest."""
        waits = Counter(target for out in self.edges for target, _ in out)
        arrived: list[dict[int, list[np.ndarray]]] = [{} for _ in self.nodes]
        arrived[0][self.output_nr] = [self.seed]
        ready, ticket = [(0, 0, 0)], count(1)
        while ready:
            _, _, i = heappop(ready)
            received, sent = self._of(i, arrived[i])
            if any(g is not None for g in received):
                yield i, received, sent
            for (target, nr), g in zip(self.edges[i], sent, strict=True):
                if target is None:
                    continue
                if g is not None:
                    arrived[target].setdefault(nr, []).append(g)
                waits[target] -= 1
                if not waits[target]:
                    first = -(1 << 65) if target in self.leaf else -self.info.sequence[target]
                    heappush(ready, (first, next(ticket), target))

    def _of(self, i: int, arrived: dict[int, list]) -> tuple[list, list]:
        """What node ``i`` received for each output, and what it sent along each edge."""
        if i in self.leaf:
            return [self._total(i, arrived.get(0, []))], []
        received, seen = self.hooks.held.get(i, (None, {}))
        if received is None:
            received = [sum(arrived[n]) if n in arrived else None for n in range(max(arrived, default=0) + 1)]
        received = [None if g is None else g if isinstance(g, np.ndarray) else numbers(g) for g in received]
        return received, [self._sent(i, received, slot, seen) for slot in range(len(self.edges[i]))]

    def _total(self, i: int, parts: list) -> np.ndarray | None:
        """The gradient that arrived at a leaf: the parts, unless a hook changed them."""
        before, after = self.leaf[i].grad, self.nodes[i].after
        if not parts or after is None:
            return parts[0] if parts else None
        total = after.array if before is None else after.array - before.array
        return total if before is None or not np.allclose(total, sum(parts), 1e-3, 1e-5, True) else sum(parts)

    def _sent(self, i: int, received: list, slot: int, seen: dict) -> np.ndarray | None:
        """What a node sent: what its hook saw, or its reshaped gradient, a leaf's .grad, or what its only target received."""
        target, nr = self.edges[i][slot]
        if slot in seen or target is None or all(g is None for g in received):
            return None if seen.get(slot) is None else numbers(seen[slot])
        after = None if self.nodes[target].after is None else self.nodes[target].after.array
        if i not in self.scene.functions:
            return after if self.alone.get(target) else self._through(i, received[0])
        if target in self.leaf:
            return after
        if operation(self.scene.names[target]) == "T":  # and then a leaf
            after = self.nodes[self.edges[target][0][0]].after
            return None if after is None else after.array.T
        return numbers(self.hooks.held[target][0][nr])

    def _through(self, i: int, g: np.ndarray) -> np.ndarray:
        """The gradient that a node sends if it only re-indexes."""
        name, fixed = operation(self.scene.names[i]), self.info.fixed[i]
        if name == "T":
            return g.T
        if name == "Transpose":
            return np.swapaxes(g, *(signed(fixed[f"_saved_dim{k}"]) for k in (0, 1)))
        if name == "Permute":
            return np.transpose(g, np.argsort([signed(d) % g.ndim for d in fixed["_saved_dims"]]))
        if name == "Unsqueeze":
            return np.squeeze(g, signed(fixed["_saved_dim"]))
        return g.reshape(fixed.get("_saved_self_sym_sizes", g.shape))


def _copy(tensor: Any) -> Tensor:
    return Tensor(np.array(numbers(tensor)), None, dtype_name(tensor))
