"""save and load: tensors, and what is built of them, in one file, safely.

The file is NumPy's .npz, a zip of arrays, with a description of the structure as JSON beside them. Reading it can
create tensors, numbers, strings, lists, tuples and dictionaries, and nothing else: no code in a file is ever run.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from . import dtypes
from .memory import owner_of
from .nn.parameter import Parameter
from .ops.storage import address
from .size import Size
from .tensor import Tensor, wrap

STRUCTURE = "structure"  # the name of the array that holds the JSON text
PLAIN = (str, int, float, bool, type(None))
LISTS = {"list": list, "tuple": tuple, "size": Size}
DICTS = {"dict": dict, "ordered": OrderedDict, "counter": Counter}


def save(obj: object, f: str | os.PathLike | BinaryIO) -> None:
    """Write tensors, parameters, numbers, strings, and lists, tuples and dicts of them, to a file.

    Typical: `save(model.state_dict(), "model.npz")`. Raises TypeError for anything else, such as a whole model.
    Tensors that appear twice are still one after loading, and those that share memory share it again. Gradients and
    history are not saved.
    """
    writer = Writer(obj)
    text = np.frombuffer(json.dumps(writer.describe(obj, "obj")).encode(), np.uint8)
    if hasattr(f, "write"):
        np.savez(f, **{STRUCTURE: text}, **writer.arrays)
    else:
        with open(f, "wb") as file:  # given only a name, np.savez would add .npz to it
            np.savez(file, **{STRUCTURE: text}, **writer.arrays)


def load(
    f: str | os.PathLike | BinaryIO,
    map_location: object = None,
    *,
    weights_only: bool = True,
    **unused: object,
) -> object:
    """Read what `save` wrote. Nothing in the file is executed.

    map_location is accepted for "cpu" only. Raises RuntimeError if the file was written by something else or is damaged.
    """
    if map_location is not None and not callable(map_location) and str(map_location) != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; there is no device {map_location!r}")
    data = f.read() if hasattr(f, "read") else read_path(f)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            if any(info.compress_type != zipfile.ZIP_STORED for info in file.zip.infolist()):
                raise ValueError(
                    "its parts are compressed"
                )  # save() does not; so no file is larger than it looks
            structure = json.loads(file[STRUCTURE].tobytes())
            arrays = {name: file[name] for name in file.files if name != STRUCTURE}
        return Reader(arrays).build(structure)
    except DAMAGE as error:
        name = f if isinstance(f, (str, os.PathLike)) else "the file"
        raise RuntimeError(
            f"{name} was not written by minigrad.save(), or is damaged. PyTorch's own files are pickles and cannot be read; "
            "there, save numpy arrays: {k: v.numpy() for k, v in model.state_dict().items()}"
        ) from error


# what NumPy, zipfile, json and Reader raise for files that are not as they should be
DAMAGE = (
    ValueError, TypeError, LookupError, AttributeError, EOFError, OSError, ArithmeticError, NotImplementedError,
    RecursionError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_path(path: str | os.PathLike) -> bytes:
    with open(path, "rb") as file:
        return file.read()


# ---------------------------------------------------------------- writing


def tensors_in(obj: object) -> Iterator[Tensor]:
    """All tensors that `obj` is built of."""
    if isinstance(obj, Tensor):
        yield obj
    elif isinstance(obj, dict):
        for key, value in obj.items():
            yield from tensors_in(key)
            yield from tensors_in(value)
    elif isinstance(obj, (list, tuple)):
        for value in obj:
            yield from tensors_in(value)


class Writer:
    """Describes an object as JSON, and collects the arrays that its tensors are made of."""

    def __init__(self, obj: object):
        tensors = {id(t): t for t in tensors_in(obj)}.values()
        self.shared = Counter(id(owner_of(t._array)) for t in tensors)  # memory that several tensors show
        self.arrays: dict[str, np.ndarray] = {}
        self.numbers: dict[int, int] = {}  # of arrays, by id
        self.tensors: dict[int, int] = {}  # of tensors, by id

    def number(self, array: np.ndarray) -> int:
        """The number of an array in the file."""
        if id(array) not in self.numbers:
            self.numbers[id(array)] = len(self.numbers)
            self.arrays[f"tensor_{self.numbers[id(array)]}"] = array
        return self.numbers[id(array)]

    def tensor(self, t: Tensor) -> dict:
        array = t._array
        found = {
            "kind": "parameter" if isinstance(t, Parameter) else "tensor",
            "tensor": self.tensors.setdefault(id(t), len(self.tensors)),
            "requires_grad": t.requires_grad and t.is_leaf,
        }
        owner = owner_of(array)
        if self.shared[id(owner)] > 1 and owner.dtype == array.dtype and owner.flags.c_contiguous:
            found["number"] = self.number(owner)
            if owner is not array:
                offset = address(array) - address(owner)
                found["view"] = [offset, list(array.shape), list(array.strides)]
        else:
            found["number"] = self.number(array)
        return found

    def describe(self, obj: object, where: str) -> object:
        """`obj` as JSON, its tensors replaced by the numbers of arrays."""
        if isinstance(obj, Tensor):
            return self.tensor(obj)
        if isinstance(obj, np.generic):
            obj = obj.item()
        if type(obj) in PLAIN:
            return {"kind": "float", "text": repr(obj)} if isinstance(obj, float) else obj
        if isinstance(obj, dtypes.dtype):
            return {"kind": "dtype", "name": obj.name}
        if isinstance(obj, (list, tuple)):
            kind = "list" if isinstance(obj, list) else "size" if isinstance(obj, Size) else "tuple"
            return {
                "kind": kind,
                "items": [self.describe(v, f"{where}[{i}]") for i, v in enumerate(obj)],
            }
        if isinstance(obj, dict):
            kinds = ((OrderedDict, "ordered"), (Counter, "counter"), (dict, "dict"))
            items = [[self.describe(k, where), self.describe(v, f"{where}[{k!r}]")] for k, v in obj.items()]
            found = {"kind": next(name for kind, name in kinds if isinstance(obj, kind)), "items": items}
            metadata = getattr(obj, "_metadata", None) if found["kind"] == "ordered" else None
            if metadata is not None:
                found["metadata"] = self.describe(metadata, where + "._metadata")
            return found
        raise TypeError(
            f"save() writes tensors, numbers, strings, lists, tuples and dicts, but {where} is of type {type(obj).__name__}. "
            "Save a model's state_dict() rather than the model."
        )


# ---------------------------------------------------------------- reading


class Reader:
    """Builds the object that a structure describes. Raises one of DAMAGE where the two do not fit."""

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays
        self.tensors: dict[int, Tensor] = {}

    def build(self, part: object) -> object:
        """The object that a part of the structure describes."""
        if not isinstance(part, dict):
            if type(part) not in PLAIN:
                raise ValueError(f"the structure contains a bare {type(part).__name__}")
            return part
        kind = part["kind"]
        if kind in ("tensor", "parameter"):
            return self.tensor(part)
        if kind in LISTS:
            return LISTS[kind](self.build(v) for v in part["items"])
        if kind in DICTS:
            made = DICTS[kind]()
            made.update({self.build(k): self.build(v) for k, v in part["items"]})
            if "metadata" in part:
                made._metadata = self.build(part["metadata"])
            return made
        if kind == "float":
            return float(part["text"])
        if kind == "dtype":
            return dtype_named(part["name"])
        raise ValueError(f"the file contains a {kind!r}, which this version of minigrad does not know")

    def tensor(self, part: dict) -> Tensor:
        name = part.get("tensor", part["number"])
        if name not in self.tensors:
            array = self.arrays[f"tensor_{int(part['number'])}"]
            if "view" in part:
                offset, shape, strides = part["view"]
                # NumPy checks that this lies within the array
                array = np.ndarray(tuple(shape), array.dtype, array, offset, tuple(strides))
            tracked = bool(part["requires_grad"])
            if dtypes.of_numpy(array.dtype) is None or (tracked and array.dtype.kind != "f"):
                raise ValueError(f"the file contains an array of type {array.dtype}")
            t = wrap(array, tracked)
            self.tensors[name] = Parameter(t, tracked) if part["kind"] == "parameter" else t
        return self.tensors[name]


def dtype_named(name: str) -> dtypes.dtype:
    found = getattr(dtypes, name, None)
    if not isinstance(found, dtypes.dtype):
        raise ValueError(f"the file contains a dtype {name!r}, which this version of minigrad does not know")
    return found


__all__ = ["load", "save"]
__dir__ = __all__.copy  # what completion offers
