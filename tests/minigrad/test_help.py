"""`help()` is true: each form of a function says which node it is recorded as, and calls arguments by their names."""

from __future__ import annotations

import inspect
import re

import pytest

import minigrad as torch
import minigrad.nn
from minigrad.ops import table

PLACES = {"torch": table.FUNCTIONS, "Tensor": table.METHODS, "F": table.NN, "linalg": table.LINALG}
PUBLIC = [
    (f"{place}.{name}", place == "Tensor", run)
    for place, known in PLACES.items()
    for name, run in known.items()
    if callable(run) and not isinstance(run, type) and name[0] != "_"
]
RECORDED = re.compile(r"Recorded as (\w+)")


def forms() -> list[tuple[str, object, str]]:
    """(name, form, node) of every form whose help says as which node it is recorded."""
    found = []
    for name, _, run in PUBLIC:
        for number, form in enumerate(getattr(run, "forms", [run])):
            node_name = RECORDED.search(form.__doc__ or "")
            if node_name and hasattr(form, "op"):
                found.append((f"{name}[{number}]", form, node_name[1]))
    return found


def square(grad: bool = True) -> torch.Tensor:
    """A matrix for which every operation is defined: between 0 and 1, positive definite."""
    return torch.tensor([[0.5, 0.25], [0.25, 0.75]], dtype=torch.float64, requires_grad=grad)


WHOLE = torch.tensor([[0, 1], [1, 0]])
# Arguments that do not follow from the kind of a parameter, by parameter name, or by function and parameter name.
VALUES = {
    "index": WHOLE, "mask": WHOLE > 0, "condition": WHOLE > 0, "indices": WHOLE, "size": (2, 2), "shape": (2, 2),
    "dims": (0, 1), "dim0": 0, "dim1": 1, "dim2": 1, "dimension": 0, "k": 1, "split_sizes": (1, 1), "pad": (1, 1),
    "order": (0, 1),
    "min": 0.3, "max": 0.6, "repeats": (1, 2), "rounding_mode": "floor", "approximate": "none", "mode": "reduced",
    "shifts": 1, "step": 1, "source": square(False), "decimals": 1,
}  # fmt: skip
SPECIAL = {
    "index_select.index": WHOLE[0], "index_add.index": WHOLE[0], "index_copy.index": WHOLE[0], "index_fill.index": WHOLE[0],
    "take.index": WHOLE, "put.index": WHOLE, "acosh.self": square(False) + 1, "arccosh.self": square(False) + 1,
    "linalg_cross.self": torch.ones(2, 3).double(), "linalg_cross.other": torch.ones(2, 3).double(),
    "roll.dims": 0, "unfold.size": 2, "permute.dims": (1, 0), "flip.dims": (0,), "select.index": 0, "expand.size": (2, 2),
}  # fmt: skip
VECTORS = {"addmv.self": 1, "dot": 1, "vdot": 1, "mv.vec": 1, "addmv.vec": 1, "addr.vec1": 1, "addr.vec2": 1}
CUBES = {"bmm", "baddbmm.batch1", "baddbmm.batch2", "addbmm.batch1", "addbmm.batch2"}
KINDS = {
    "Scalar": 0.5, "int": 0, "float": 0.5, "bool": False, "dtype": torch.float64, "dim": 0, "newdim": 0, "dims": (0,),
    "str": "none", "order": (0, 1), "size": (2, 2), "shape": (4,), "object": None,
}  # fmt: skip


def sample(op: object) -> dict[str, object]:
    """Arguments for an operation, by name: matrices that require grad, and values that fit the names."""
    given = {}
    for name, kind in op.signature.kinds.items():
        key = f"{op.name}.{name}"
        if key in SPECIAL:
            value = SPECIAL[key]
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                value = value.clone().requires_grad_()
        elif {key, op.name} & CUBES:
            value = torch.ones(2, 2, 2, dtype=torch.float64, requires_grad=True)
        elif key in VECTORS or op.name in VECTORS:
            value = torch.ones(2, dtype=torch.float64, requires_grad=True)
        elif kind == "tensors":
            value = [square(), square()]
        elif kind == "":
            value = VALUES[name] if name in ("index", "mask", "condition", "indices") else square()
            value = (
                torch.tensor(0.5, dtype=torch.float64)
                if name == "value" and op.name != "masked_fill"
                else value
            )
            value = torch.tensor(0.5, dtype=torch.float64, requires_grad=True) if name == "value" else value
        elif name in VALUES and name not in ("mode",) and kind not in ("dims", "dim"):
            value = VALUES[name]
        elif op.signature.defaults[name] is not inspect.Parameter.empty and name not in (
            "min",
            "max",
            "rounding_mode",
        ):
            continue
        else:
            value = KINDS[kind]
        given[name] = value
    return given


@pytest.mark.parametrize(("name", "form", "node_name"), forms(), ids=[name for name, _, _ in forms()])
def test_a_form_is_recorded_as_it_says(name: str, form: object, node_name: str) -> None:
    op, given = form.op, sample(form.op)
    first = next(iter(given))
    if name.split("[")[0].endswith("_"):  # the function writes into its tensor
        given[first] = given[first].clone() if isinstance(given[first], torch.Tensor) else given[first]
    many = form.signature().many
    spread = given.pop(many, ()) if many else ()
    order = list(given.values()) if not many else [given[first], *spread]
    named = {n: given[n] for n in form.signature().only if n in given}
    plain = order if many else [v for n, v in given.items() if n not in named]
    result = form(*plain, **named)
    results = result if isinstance(result, (tuple, list)) else [result]
    assert node_name in {t.grad_fn.name().split("::")[-1] for t in results if t.grad_fn is not None}, op.name


@pytest.mark.parametrize(("name", "method", "run"), PUBLIC, ids=[name for name, _, _ in PUBLIC])
def test_help_speaks_of_arguments_by_their_names(name: str, method: bool, run: object) -> None:
    text = run.__doc__
    assert text and text[0] != " ", "no docstring"
    if not hasattr(run, "signature"):
        return
    names = set(inspect.signature(run).parameters)
    quoted = " ".join(re.findall(r"`([^`]*)`", text))
    wrong = {"self", "input"} - names if names & {"self", "input"} else set()
    assert not wrong & set(re.findall(r"\w+", quoted)), f"{name} speaks of {wrong}: {quoted}"


@pytest.mark.parametrize(
    "name", ["add", "sum", "mean", "prod", "max", "min", "squeeze", "round", "pow", "var", "std", "norm"]
)
def test_every_form_is_in_the_help(name: str) -> None:
    run = table.FUNCTIONS[name]
    for form in getattr(run, "forms", [run]):
        assert inspect.cleandoc(form.__doc__).split("\n")[0] in run.__doc__
    signature = inspect.signature(run)
    optional = False
    for p in signature.parameters.values():  # Python itself would refuse it otherwise
        assert not (optional and p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)
        optional = optional or p.default is not p.empty
