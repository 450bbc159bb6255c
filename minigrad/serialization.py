"""save and load: tensors, and what is built of them, in one file, safely.

The file is NumPy's .npz, a zip of arrays, with a description of the structure as JSON beside them. Reading it can
create tensors, numbers, strings, lists, tuples and dictionaries, and nothing else: no code in a file is ever run.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from . import dtypes
from .nn.parameter import Parameter
from .tensor import Tensor, wrap

STRUCTURE = "structure"  # the name of the array that holds the JSON text
PLAIN = (str, int, float, bool, type(None))


def save(obj: object, f: str | os.PathLike | BinaryIO) -> None:
    """Write tensors, parameters, numbers, strings, and lists, tuples and dicts of them, to a file.

    Typical: `save(model.state_dict(), "model.npz")`. Raises TypeError for anything else, such as a whole model.
    Tensors that appear twice are still one after loading. Gradients and history are not saved.
    """
    arrays: dict[str, np.ndarray] = {}
    numbers: dict[int, int] = {}
    structure = describe(obj, arrays, numbers, "obj")
    text = np.frombuffer(json.dumps(structure).encode(), np.uint8)
    if hasattr(f, "write"):
        np.savez(f, **{STRUCTURE: text}, **arrays)
    else:
        with open(f, "wb") as file:  # given only a name, np.savez would add .npz to it
            np.savez(file, **{STRUCTURE: text}, **arrays)


def describe(obj: object, arrays: dict[str, np.ndarray], numbers: dict[int, int], where: str) -> object:
    """`obj` as JSON, its tensors replaced by the names of arrays."""
    if isinstance(obj, Tensor):
        if id(obj) not in numbers:
            numbers[id(obj)] = len(numbers)
            arrays[f"tensor_{numbers[id(obj)]}"] = obj._array
        kind = "parameter" if isinstance(obj, Parameter) else "tensor"
        return {"kind": kind, "number": numbers[id(obj)], "requires_grad": obj.requires_grad and obj.is_leaf}
    if isinstance(obj, np.generic):
        obj = obj.item()
    if type(obj) in PLAIN:
        return {"kind": "float", "text": repr(obj)} if isinstance(obj, float) else obj
    if isinstance(obj, dtypes.dtype):
        return {"kind": "dtype", "name": obj.name}
    if isinstance(obj, (list, tuple)):
        kind = "list" if isinstance(obj, list) else "tuple"
        items = [describe(v, arrays, numbers, f"{where}[{i}]") for i, v in enumerate(obj)]
        return {"kind": kind, "items": items}
    if isinstance(obj, dict):
        kind = "ordered" if isinstance(obj, OrderedDict) else "dict"
        pairs = [
            [describe(k, arrays, numbers, where), describe(v, arrays, numbers, f"{where}[{k!r}]")]
            for k, v in obj.items()
        ]
        found = {"kind": kind, "items": pairs}
        metadata = getattr(obj, "_metadata", None)
        if metadata is not None:
            found["metadata"] = describe(metadata, arrays, numbers, where + "._metadata")
        return found
    raise TypeError(
        f"save() writes tensors, numbers, strings, lists, tuples and dicts, but {where} is of type {type(obj).__name__}. "
        "Save a model's state_dict() rather than the model."
    )


def load(
    f: str | os.PathLike | BinaryIO,
    map_location: object = None,
    *,
    weights_only: bool = True,
    **unused: object,
) -> object:
    """Read what `save` wrote. Nothing in the file is executed.

    map_location is accepted for "cpu" only. Raises RuntimeError if the file was written by something else.
    """
    if map_location is not None and not callable(map_location) and str(map_location) != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; there is no device {map_location!r}")
    data = f.read() if hasattr(f, "read") else read_path(f)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            structure = json.loads(file[STRUCTURE].tobytes())
            arrays = {name: file[name] for name in file.files if name != STRUCTURE}
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError, AttributeError, UnicodeDecodeError) as error:
        name = f if isinstance(f, (str, os.PathLike)) else "the file"
        raise RuntimeError(
            f"{name} was not written by minigrad.save(), or is damaged. PyTorch's own files are pickles and cannot be read; "
            "there, save numpy arrays: {k: v.numpy() for k, v in model.state_dict().items()}"
        ) from error
    tensors: dict[int, Tensor] = {}
    return build(structure, arrays, tensors)


def read_path(path: str | os.PathLike) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def build(part: object, arrays: dict[str, np.ndarray], tensors: dict[int, Tensor]) -> object:
    """The object that a part of the structure describes."""
    if not isinstance(part, dict):
        return part
    makers: dict[str, Callable] = {
        "list": lambda: [build(v, arrays, tensors) for v in part["items"]],
        "tuple": lambda: tuple(build(v, arrays, tensors) for v in part["items"]),
        "dict": lambda: dict(pairs()),
        "ordered": lambda: OrderedDict(pairs()),
        "float": lambda: float(part["text"]),
        "dtype": lambda: dtype_named(part["name"]),
    }

    def pairs():
        return ((build(k, arrays, tensors), build(v, arrays, tensors)) for k, v in part["items"])

    kind = part["kind"]
    if kind in ("tensor", "parameter"):
        number = part["number"]
        if number not in tensors:
            t = wrap(arrays[f"tensor_{number}"], part["requires_grad"])
            tensors[number] = Parameter(t, part["requires_grad"]) if kind == "parameter" else t
        return tensors[number]
    if kind not in makers:
        raise RuntimeError(f"the file contains a {kind!r}, which this version of minigrad does not know")
    made = makers[kind]()
    if "metadata" in part:
        made._metadata = build(part["metadata"], arrays, tensors)
    return made


def dtype_named(name: str) -> dtypes.dtype:
    found = getattr(dtypes, name, None)
    if not isinstance(found, dtypes.dtype):
        raise RuntimeError(
            f"the file contains a dtype {name!r}, which this version of minigrad does not know"
        )
    return found


__all__ = ["load", "save"]
