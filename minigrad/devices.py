"""`device`, and PyTorch's functions that ask about hardware: `torch.cuda`, `torch.backends`. The answer is always the CPU."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import NamedTuple

from .missing import module_attributes


class device(NamedTuple("device", [("type", str)])):
    """`device("cpu")`: where all tensors are. Raises RuntimeError for any other device."""

    __module__ = __package__  # as users know it
    __slots__ = ()
    index = None

    def __new__(cls, type: str | device) -> device:
        if str(type).partition(":")[0] != "cpu":
            raise RuntimeError(f"minigrad runs on the CPU only; there is no device '{type}'")
        return super().__new__(cls, "cpu")

    def __str__(self) -> str:
        return "cpu"

    def __enter__(self) -> device:
        return self

    def __exit__(self, *exc: object) -> None:
        """Everything is on the CPU, inside the block and after it."""


cpu = device("cpu")
Device = device  # for functions with an argument called `device`


def is_available() -> bool:
    """False: minigrad runs on the CPU."""
    return False


def device_count() -> int:
    """0: minigrad runs on the CPU."""
    return 0


def seed_nothing(seed: int) -> None:
    """Nothing to seed: see `minigrad.manual_seed`."""


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no accelerator."""


@contextlib.contextmanager
def flags(**options: object) -> Iterator[None]:
    """Options of a library that does not exist here: they change nothing."""
    yield


def set_num_threads(count: int) -> None:
    """Nothing to set: NumPy decides how many threads a product of matrices uses."""


def get_num_threads() -> int:
    """1: operations run in the thread that calls them."""
    return 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Nothing to choose: all algorithms are deterministic."""


def set_default_device(device: object) -> None:
    """Where new tensors live: the CPU, always. Raises RuntimeError for any other device."""
    Device(device)


def get_default_device() -> device:
    """`device("cpu")`, always."""
    return device("cpu")


def stub(name: str, doc: str, **members: object) -> types.ModuleType:
    """A module that answers questions about hardware."""
    module = sys.modules[f"minigrad.{name}"] = types.ModuleType(f"minigrad.{name}", doc)
    module.__dir__, module.__getattr__ = module_attributes(module.__name__, members)
    vars(module).update(members)
    return module


QUESTIONS = {"is_available": is_available, "device_count": device_count}
SEEDS = {"manual_seed": seed_nothing, "manual_seed_all": seed_nothing}
cuda = stub("cuda", "Graphics cards: there are none.", **QUESTIONS, **SEEDS, is_initialized=is_available)
mps = stub("mps", "Apple's graphics processor: there is none.", **QUESTIONS, **SEEDS)
accelerator = stub(
    "accelerator",
    "Accelerators of any kind: there are none.",
    **QUESTIONS,
    current_accelerator=current_accelerator,
)
backends = stub(
    "backends",
    "Libraries for hardware: there are none.",
    mps=stub("backends.mps", "Apple's graphics processor.", is_available=is_available, is_built=is_available),
    cuda=stub("backends.cuda", "Graphics cards.", is_built=is_available),
    cudnn=stub("backends.cudnn", "NVIDIA's library.", is_available=is_available, flags=flags, enabled=False),
)
__all__ = ["accelerator", "backends", "cuda", "device", "get_default_device", "get_num_threads", "mps"]
__all__ += ["set_default_device", "set_num_threads", "use_deterministic_algorithms"]
