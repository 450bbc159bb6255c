"""Calls in place that are wrong in two ways: PyTorch's answer tells of the same one.

It looks at the types of arguments first, then whether the tensor may be written to, then at everything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import minigrad


def view_without_grad(t):
    base = t.ones(3, requires_grad=True) * 1
    with t.no_grad():
        return base[:2]


# Tensors that must not be written to, and some that may.
TARGETS = {
    "a leaf": lambda t: t.ones(3, requires_grad=True),
    "a view of a leaf": lambda t: t.ones(3, requires_grad=True)[1:],
    "a view made under no_grad": view_without_grad,
    "one of several views": lambda t: (t.ones(2, 3, requires_grad=True) * 1).unbind()[0],
    "a tensor": lambda t: t.ones(3),
    "a view": lambda t: t.ones(4)[:3],
    "a result": lambda t: t.ones(3, requires_grad=True) * 1,
}
# The second fault.
CALLS: dict[str, Callable] = {
    "add_, shape": lambda t, x: x.add_(t.ones(5)),
    "add_, shape, recorded": lambda t, x: x.add_(t.ones(5, requires_grad=True)),
    "add_, too wide": lambda t, x: x.add_(t.ones(4, len(x))),
    "add_, type": lambda t, x: x.add_("a"),
    "mul_, None": lambda t, x: x.mul_(None),
    "div_, shape": lambda t, x: x.div_(t.ones(5)),
    "pow_, type": lambda t, x: x.pow_("a"),
    "copy_, shape": lambda t, x: x.copy_(t.ones(5)),
    "fill_, shape": lambda t, x: x.fill_(t.ones(2)),
    "fmod_, type": lambda t, x: x.fmod_("a"),
    "remainder_, type": lambda t, x: x.remainder_([1.0]),
    "clamp_, nothing": lambda t, x: x.clamp_(),
    "clamp_min_, type": lambda t, x: x.clamp_min_("a"),
    "clamp_max_, type": lambda t, x: x.clamp_max_("a"),
    "xlogy_, type": lambda t, x: x.xlogy_("a"),
    "copysign_, type": lambda t, x: x.copysign_("a"),
    "atan2_, type": lambda t, x: x.atan2_("a"),
    "bitwise_and_, dtype": lambda t, x: x.bitwise_and_(t.arange(len(x))) if x.requires_grad else None,
    "lerp_, dtype": lambda t, x: x.lerp_(t.ones(len(x)).double(), 0.5),
    "masked_fill_, dtype": lambda t, x: x.masked_fill_(t.ones(len(x)), 1.0),
    "masked_fill_, type": lambda t, x: x.masked_fill_("a", 1.0),
    "masked_scatter_, dtype": lambda t, x: x.masked_scatter_(t.ones(len(x)) > 0, t.ones(len(x)).double()),
    "addcmul_, shape": lambda t, x: x.addcmul_(t.ones(5), t.ones(5)),
    "addcdiv_, type": lambda t, x: x.addcdiv_("a", t.ones(1)),
    "index_add_, count": lambda t, x: x.index_add_(0, t.tensor([0]), t.ones(5)),
    "index_copy_, dimensions": lambda t, x: x.index_copy_(0, t.tensor([0]), t.ones(1, 1)),
    "index_fill_, place": lambda t, x: x.index_fill_(0, t.tensor([9]), 1.0),
    "scatter_, place": lambda t, x: x.scatter_(0, t.tensor([9]), t.ones(1)),
    "put_, count": lambda t, x: x.put_(t.tensor([0]), t.ones(5)),
    "index_put_, type": lambda t, x: x.index_put_((t.tensor([0]),), "a"),
    "cumsum_, dim": lambda t, x: x.cumsum_(7),
    "cumprod_, dim": lambda t, x: x.cumprod_(7),
    "transpose_, dim": lambda t, x: x.transpose_(0, 5),
    "swapaxes_, dim": lambda t, x: x.swapaxes_(0, 5),
    "unsqueeze_, dim": lambda t, x: x.unsqueeze_(5),
    "squeeze_, dim": lambda t, x: x.squeeze_(5),
    "normal_, std": lambda t, x: x.normal_(0, -1),
    "uniform_, bounds": lambda t, x: x.uniform_(2, 1),
    "bernoulli_, p": lambda t, x: x.bernoulli_(3.0),
    "exponential_, rate": lambda t, x: x.exponential_(-1),
    "random_, bounds": lambda t, x: x.random_(5, 2),
    "renorm_, dimensions": lambda t, x: x.renorm_(2, 7, 1),
    "tril_, type": lambda t, x: x.tril_("a"),
    "xlogy_, None": lambda t, x: x.xlogy_(None),
    "copysign_, list": lambda t, x: x.copysign_([1.0]),
    "fmod_, None": lambda t, x: x.fmod_(None),
    "float_power_, dtype": lambda t, x: x.float_power_(2),
    "resize_": lambda t, x: x.resize_(2) if x.requires_grad and not x._is_view() else None,
    "setitem, shape": lambda t, x: x.__setitem__(slice(None), t.ones(5)),
    "setitem, place": lambda t, x: x.__setitem__(9, 1.0),
    "iadd, shape": lambda t, x: x.__iadd__(t.ones(5)),
}


def outcome(t, target: str, call: str) -> str | None:
    """Type and first line of the error, None if there is none."""
    x = TARGETS[target](t)
    t.manual_seed(0)
    try:
        CALLS[call](t, x)
    except Exception as error:
        line = str(error).split("\n")[0].replace("minigrad", "torch")
        return f"{type(error).__name__}: {re.sub(r' ?(Triggered internally.*)', '', line)}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("call", CALLS)
def test_the_same_fault_is_told_of(torch, target, call):
    assert outcome(minigrad, target, call) == outcome(torch, target, call)
