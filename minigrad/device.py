"""`device`: where tensors live. Here that is the CPU, always; the class is there so that device-agnostic code runs."""

from __future__ import annotations


class device:
    """`device("cpu")`. Others can be named, but nothing can be put there."""

    __module__ = __package__  # as users know it
    __slots__ = ("index", "type")
    KNOWN = (
        "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
        "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
    )  # fmt: skip

    def __init__(self, type: str | device, index: int | None = None):
        name, colon, number = str(type).partition(":")
        if not name.isalpha():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if name not in self.KNOWN or (colon and not number.isdigit()):
            raise RuntimeError(
                f"Expected one of {', '.join(self.KNOWN)} device type at start of device string: {type}"
            )
        self.type, self.index = name, int(number) if colon else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        place = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{place})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        """`with device("cpu"):` tensors are made there, as everywhere. Raises RuntimeError for other devices."""
        set_default_device(self)
        return self

    def __exit__(self, *raised: object) -> None:
        pass


cpu = device("cpu")


class _Absent:
    """A kind of hardware that is not used here: `is_available()` is False, and what would act on it has nothing to do."""

    @staticmethod
    def is_available() -> bool:
        return False

    is_built = is_initialized = is_available

    @staticmethod
    def device_count() -> int:
        return 0

    @staticmethod
    def manual_seed(seed: int) -> None:
        """There are no generators on such devices."""

    manual_seed_all = manual_seed

    @staticmethod
    def empty_cache() -> None:
        """There is no cache."""


class cuda(_Absent):
    """`cuda.is_available()` is False: there is no GPU here."""


class mps(_Absent):
    """`mps.is_available()` is False: there is no GPU here."""


class accelerator(_Absent):
    """`accelerator.is_available()` is False: everything runs on the CPU."""

    @staticmethod
    def current_accelerator(check_available: bool = False) -> None:
        """None: there is none."""


class backends:
    """What programs ask about the libraries underneath before they choose a device."""

    class mps(_Absent):
        pass

    class cuda(_Absent):
        pass

    class cudnn(_Absent):
        """Switches that programs set; results here are the same however they are set."""

        deterministic = benchmark = allow_tf32 = False
        enabled = True


def get_default_device() -> device:
    """The device on which tensors are made: the CPU."""
    return cpu


def set_default_device(device: object) -> None:
    """Accepts the CPU. Raises RuntimeError for any other device."""
    if device is not None and str(device).split(":")[0] != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; there is no device '{device}'")


# ---------------------------------------------------------------- switches of PyTorch's kernels

# What programs set before they begin. Here results are reproducible and computed in full precision in any case.
_switches: dict = {"deterministic": False, "precision": "highest"}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted, since every operation gives the same result each time. Raises TypeError unless `mode` is a bool."""
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms() takes a bool, not {type(mode).__name__}")
    _switches["deterministic"] = mode


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _switches["deterministic"]


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted: "highest", "high" or "medium". Products are computed with the precision of their dtype in any case."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    _switches["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told."""
    return _switches["precision"]


__all__ = [
    "accelerator", "are_deterministic_algorithms_enabled", "backends", "cuda", "device", "get_default_device",
    "get_float32_matmul_precision", "mps", "set_default_device", "set_float32_matmul_precision", "use_deterministic_algorithms",
]  # fmt: skip
