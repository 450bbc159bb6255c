"""Questions that have one answer here (real, dense, on the CPU), and what is done to tensors by hand, as in PyTorch."""

from __future__ import annotations

import re
import warnings

import pytest

import minigrad
from minigrad import ops

EXPRESSIONS = """
x.is_cpu; x.is_cuda; x.is_sparse; x.is_quantized; x.is_meta; x.is_nested; x.is_mps; x.layout; x.name; x.get_device()
x.is_same_size(x); x.is_same_size(x[None]); x.is_signed(); x.byte().is_signed(); x.bool().is_signed(); x.is_complex()
x.is_conj(); x.is_neg(); x.conj() is x; x.resolve_conj() is x; x.real is x; torch.real(x) is x; x.imag; torch.imag(x)
x.angle(); torch.angle(x.long()); x.is_pinned(); x.is_shared(); x.dense_dim(); x.sparse_dim(); x.mH; x[None].mH
x.new(2).shape; x.new([1, 2]); x.new().shape; x.long().new([1.5]); x.resize_(1); x.detach().clone().resize_(1)
x.detach().clone().resize_(2, 2).shape; x.detach().clone().resize_as_(torch.zeros(1, 2)); x.as_subclass(type(x))
x.share_memory_() is x; torch.result_type(x, 1); torch.result_type(torch.tensor(1), 1.5); torch.result_type(1, x.long())
torch.result_type(x.half(), torch.tensor(1.0, dtype=torch.float64)); torch.can_cast(torch.float32, torch.int64)
torch.can_cast(torch.int64, torch.float32); torch.can_cast(torch.float32, torch.bool); torch.is_complex(x)
torch.is_same_size(x, x); torch.is_signed(x.byte()); torch.is_inference(x); torch.newaxis; torch.range(1, 4)
torch.range(0, 1, 0.25); torch.range(1, 4, -1); torch.typename(x); torch.typename(1)
torch.is_storage(x); torch.fill(x, 2.0); torch.fill(x, torch.tensor(3.0)); torch.fill(x, x); torch.strided
torch.unravel_index(torch.tensor([5, 6]), (4, 3)); torch.unravel_index(torch.tensor(7), 10); torch.HalfTensor([1, 2])
torch.ByteTensor([1, 2]); torch.ShortTensor([1]); torch.CharTensor([1]); x.polygamma(1)[:1]; x.type("torch.LongTensor")
x.detach().clone().apply_(lambda v: v + 1); x.apply_(lambda v: v); x.detach().clone().map_(x.detach(), lambda a, b: a * b)
torch.tensor([1, 2]).apply_(lambda v: v * 2); x.clone().float_power_(2); torch.multinomial(x, 1); torch.multinomial(x[0], 1)
torch.multinomial(torch.ones(2), 3); torch.multinomial(torch.zeros(2), 1); torch.multinomial(torch.tensor([1, 2]), 1)
x.clone().uniform_(2, 1); torch.normal(x.detach(), -x.detach().abs())
"""


def shown(module, expression: str) -> str:
    x = module.tensor([1.0, -2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, {"torch": module, "x": x})
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return re.sub(r" at 0x\w+", "", repr(result))


@pytest.mark.parametrize("expression", [e.strip() for e in re.split(r";|\n", EXPRESSIONS) if e.strip()])
def test_answers_as_torch_does(torch, expression):
    assert shown(minigrad, expression) == shown(torch, expression)


ARGUMENTS = {
    "addmv_": "torch.eye(2), torch.ones(2)",
    "clamp_": "0.2, 0.6", "clamp_max_": "0.6", "clamp_min_": "0.6", "clip_": "0.2, 0.6",
    "fill_": "2.0", "index_put_": "(torch.tensor([0]),), torch.tensor(3.0)", "ldexp_": "torch.tensor(2.0)",
    "xlogy_": "torch.tensor(2.0)",
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in ops.overwriting.__all__ if n not in ("gcd_", "lcm_")])
def test_a_function_with_an_underscore_writes_into_its_argument(torch, name):
    for module in (torch, minigrad):
        x = module.tensor([0.25, 0.5])
        out = eval(f"torch.{name}(x, {ARGUMENTS.get(name, '')})", {"torch": module, "x": x})
        assert out is x
        written = x.tolist()
        if module is torch:
            expected = written
    assert written == pytest.approx(expected, rel=1e-6, nan_ok=True)
