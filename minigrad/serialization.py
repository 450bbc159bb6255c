"""save and load: tensors, and structures of tensors, in one file, safely.

The file is NumPy's .npz, a zip of arrays, with a description of the structure as JSON. Reading it can
create tensors, numbers, strings, lists, tuples and dictionaries, and nothing else: no code in a file is ever run.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import dtypes, messages
from .devices import Device
from .nn.parameter import Parameter
from .tensor import Tensor, wrap

STRUCTURE = "structure"  # the name of the array that holds the JSON text
File = str | os.PathLike | BinaryIO
JSON = (str, int, float, bool, type(None))
CONTAINERS = {"list": list, "tuple": tuple, "ordered": OrderedDict, "dict": dict}  # subclass first


def save(obj: object, f: File) -> None:
    """Write tensors, parameters, numbers, strings, and lists, tuples and dicts of them, to a file.

    Typical: `save(model.state_dict(), "model.npz")`. Raises TypeError for anything else, such as a whole model.
    A tensor that appears several times is one tensor after loading. Gradients and history are not saved.
    """
    tensors: dict[int, tuple[int, Tensor]] = {}  # by id: (number, tensor)
    structure, arrays, names, kinds = in_json(obj, "obj", tensors), {}, {}, []
    for number, t in tensors.values():
        name = names.setdefault(id(t._array), f"tensor_{number}")  # a shared array is stored once
        arrays[name] = t._array
        kinds.append([name, isinstance(t, Parameter), t.requires_grad and t.is_leaf])
    arrays[STRUCTURE] = np.frombuffer(json.dumps({"tensors": kinds, "object": structure}).encode(), np.uint8)
    whole = f if hasattr(f, "write") else io.BytesIO()
    np.savez(whole, **arrays)
    if whole is f:
        return
    part = Path(f"{os.fspath(f)}.part")  # a full disk leaves the old file as it was
    try:
        part.write_bytes(whole.getbuffer())
        part.replace(f)
    finally:
        part.unlink(missing_ok=True)


def in_json(obj: object, where: str, tensors: dict[int, tuple[int, Tensor]]) -> object:
    """`obj` as JSON; its tensors are collected, and replaced by their numbers."""
    if isinstance(obj, Tensor):
        return {"kind": "tensor", "number": tensors.setdefault(id(obj), (len(tensors), obj))[0]}
    obj = obj.item() if isinstance(obj, np.generic) else obj
    if type(obj) in JSON:
        return obj
    kind = next((name for name, cls in CONTAINERS.items() if isinstance(obj, cls)), None)
    if isinstance(obj, dict):
        keys = [in_json(k, where, tensors) for k in obj]
        values = [in_json(v, f"{where}[{k!r}]", tensors) for k, v in obj.items()]
        return {"kind": kind, "items": list(zip(keys, values, strict=True))}
    if kind is not None:
        return {"kind": kind, "items": [in_json(v, f"{where}[{i}]", tensors) for i, v in enumerate(obj)]}
    raise TypeError(f"save() cannot write {where}, a {type(obj).__name__}; save a model's state_dict()")


def load(f: File, map_location: object = None, *, weights_only: bool = True, mmap: object = None) -> object:
    """Read what `save` wrote. Nothing in the file is executed.

    map_location may only be the CPU; weights_only and mmap change nothing. Raises RuntimeError if the file was
    written by something else or is damaged.
    """
    if map_location is not None:
        Device(map_location)
    data = f.read() if hasattr(f, "read") else Path(f).read_bytes()
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            # save() does not compress: a small file cannot unpack to a huge one
            if any(info.compress_type != zipfile.ZIP_STORED for info in file.zip.infolist()):
                raise ValueError("its parts are compressed")
            structure, arrays = json.loads(file[STRUCTURE].tobytes()), {n: file[n] for n in file.files}
        tensors = []
        for name, is_parameter, requires_grad in structure["tensors"]:
            dtypes.of_numpy(arrays[name].dtype)
            t = wrap(arrays[name]).requires_grad_(requires_grad)
            tensors.append(Parameter(t, requires_grad) if is_parameter else t)
        return built(structure["object"], tensors)
    except Exception as error:  # NumPy, zipfile and json raise many kinds of exception for unexpected content
        raise RuntimeError(messages.NOT_OUR_FILE.format(f)) from error


def built(part: object, tensors: list[Tensor]) -> object:
    """The object that a part of the structure describes. Raises an exception if it describes none."""
    if type(part) in JSON:
        return part
    if part["kind"] == "tensor":
        return dict(enumerate(tensors))[part["number"]]
    kind, items = CONTAINERS[part["kind"]], part["items"]
    if issubclass(kind, dict):
        return kind((built(k, tensors), built(v, tensors)) for k, v in items)
    return kind(built(v, tensors) for v in items)


__all__ = ["load", "save"]
