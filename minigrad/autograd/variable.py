"""`Variable`: what a tensor that requires grad was called in PyTorch before 0.4, and still is in older tutorials."""

from __future__ import annotations

from ..tensor import Tensor


class _AnyTensor(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_AnyTensor):
    """`Variable(data, requires_grad=True)` is a tensor on the memory of `data`; every tensor is an instance."""

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
