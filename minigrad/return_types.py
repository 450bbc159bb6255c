"""What operations with several results return: tuples whose parts have names, such as `x.max(0).values`."""

from __future__ import annotations

from collections import namedtuple


def _result(name: str, *fields: str) -> type:
    base = namedtuple(name, fields)

    def __repr__(self) -> str:
        return (
            f"torch.return_types.{name}(\n"
            + ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
            + ")"
        )

    return type(name, (base,), {"__slots__": (), "__repr__": __repr__, "__module__": __name__})


max, min, median, nanmedian, mode, sort, topk, kthvalue, cummax, cummin = (
    _result(name, "values", "indices")
    for name in ("max", "min", "median", "nanmedian", "mode", "sort", "topk", "kthvalue", "cummax", "cummin")
)
aminmax = _result("aminmax", "min", "max")
histogram = _result("histogram", "hist", "bin_edges")
frexp = _result("frexp", "mantissa", "exponent")
