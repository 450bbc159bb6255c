"""`device`: where tensors live. Here that is the CPU, always; the class is there so that device-agnostic code runs."""

from __future__ import annotations


class device:
    """`device("cpu")`. Others can be named, but nothing can be put there."""

    __slots__ = ("index", "type")
    KNOWN = ("cpu", "cuda", "mps", "xpu", "meta")

    def __init__(self, type: str | device, index: int | None = None):
        name, colon, number = str(type).partition(":")
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


cpu = device("cpu")


class cuda:
    """`cuda.is_available()` is False: there is no GPU here."""

    @staticmethod
    def is_available() -> bool:
        return False

    @staticmethod
    def device_count() -> int:
        return 0


__all__ = ["cuda", "device"]
