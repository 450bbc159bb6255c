"""The graph for other programs: ``viz.to_networkx``. networkx is not needed for anything else."""

from __future__ import annotations

import importlib
from types import FrameType
from typing import Any

from ..read.arguments import Names, Tensors, named, public
from ..read.recall import prepare
from ..read.rules import input_names
from .costs import costs_of


@public
def to_networkx(*tensors: Tensors, names: Names = None, _frame: FrameType | None = None) -> Any:
    """The graph behind ``tensors`` as a ``networkx.MultiDiGraph``, from the leaves to the results; its ``.reverse()``
    goes in the direction of the backward pass.

    Its nodes are numbers, in the order in which the program ran. Each has ``name`` (of the node, such as "MulBackward0"),
    ``kind`` ("function", "accumulate" for a leaf, "custom", "copyslices"), ``tensor`` (what its result is called), ``shape``,
    ``dtype``, ``module``, ``kept`` (bytes kept for the backward pass) and ``root`` (whether it is one of ``tensors``). An edge
    has ``input`` (what the rule calls that input), ``slot`` (its number) and ``output`` (which result of the node
    where it starts). Everything is plain data: ``networkx.node_link_data`` turns it into JSON.

    Nothing is run and nothing is changed. Raises ImportError where networkx is not installed, TypeError or ValueError for
    anything that has no graph.
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError as error:
        raise ImportError("viz.to_networkx needs networkx: pip install networkx") from error
    graph, _ = prepare(tensors, "to_networkx", named(names), _frame)
    costs, roots = costs_of(graph), {root.function for root in graph.roots}
    made = networkx.MultiDiGraph()
    for f in graph.functions:
        out, cost = f.outputs[0], costs.nodes.get(f.index)
        shape = None if out.shape is None else list(out.shape)
        about = {"name": f.name, "kind": f.kind, "tensor": out.name, "shape": shape, "dtype": out.dtype}
        more = {"module": f.module, "kept": cost.kept if cost is not None else 0, "root": f in roots}
        made.add_node(f.index, **about, **more)
    for e in graph.edges:
        if e.target is not None:
            name = input_names(e.source)[e.slot]
            made.add_edge(e.target.index, e.source.index, input=name, slot=e.slot, output=e.nr)
    graph.release()
    return made
