"""Views and in-place operations: shared memory and versions, re-based histories, CopySlices chains, and every refusal.

All programs are compared with PyTorch: values, gradients, the graph with its edges, versions, errors.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
from tests import oracle
from tests.both import check, check_error, lines, scope
from tests.oracle import Program, run

PROGRAMS = lines("""
    a = x * 1; a.copy_(y); a.sum().backward()
    a = x * 1; a.copy_(v); a.sum().backward()
    a = x * 1; a.copy_(y.float()); a.sum().backward()
    a = x * 1; a.fill_(2.0); a.sum().backward()
    a = x * 1; a.fill_(s); a.sum().backward()
    a = x * 1; a.zero_(); a.sum().backward()
    a = x * 1; a[0] = 1.0; a.sum().backward()
    a = x * 1; a[0] = v; (a * a).sum().backward()
    a = x * 1; a[1:, 2] = s; (a * a).sum().backward()
    a = x * 1; a[...] = 1.0; a.sum().backward()
    a = x * 1; a[...] = y; (a * a).sum().backward()
    a = x * 1; a[:] = 1.0; a.sum().backward()
    a = x * 1; a[:, :2] = y[:, 2:]; (a * a).sum().backward()
    a = x * 1; a[idx] = 1.0; (a * a).sum().backward()
    a = x * 1; a[idx] = v; (a * a).sum().backward()
    a = x * 1; a[m2] = s; (a * a).sum().backward()
    a = x * 1; a[mask] = v; (a * a).sum().backward()
    a = x * 1; a[0, idx] = s; (a * a).sum().backward()
    a = x * 1; a[:, idx] = u[:, None]; (a * a).sum().backward()
    a = x * 1; a[idx, idx] += u[:2]; (a * a).sum().backward()
    a = x * 1; a[0] += v; (a * a).sum().backward()
    a = x * 1; a[0][1:] *= 2; (a * a).sum().backward()
    a = x * 1; a += 1; a *= y; a -= v; a /= 2; (a * a).sum().backward()
    a = x * 1; a **= 2; a.sum().backward()
    a = x * 1; b = a[0]; b.mul_(2); (a * a).sum().backward(); b.grad_fn
    a = x * 1; b = a[0]; a.mul_(2); (b * b).sum().backward()
    a = x * 1; b = a.view(12); b.exp_(); (a * b.view(3, 4)).sum().backward()
    a = x * 1; b = a.view(12); c = b[2:]; c.exp_(); d = c.view(2, 5); d.sigmoid_(); (a * a).sum().backward()
    a = x * 1; b = a.t(); b[1].mul_(3); c = b[:, 0]; c.add_(v); (a * a).sum().backward()
    a = x.t() * 2; a[0] = u; a[:, 1].mul_(3); (a * a).sum().backward()
    a = x.t() * 2; b = a.diagonal(); b.mul_(u); (a * a).sum().backward()
    a = b3.permute(2, 0, 1) * 2; a[1, 0] *= 3; b = a[..., 1]; b.exp_(); (a * a).sum().backward()
    a = torch.zeros(3, 4).double(); a[0] = v; a[1] = a[0] * 2; (a * a).sum().backward()
    a = torch.zeros(3, 4).double(); b = a[0]; b.copy_(v); b.mul_(b); (a * a).sum().backward()
    a = torch.zeros(3, 4).double(); b = a[0]; c = a.view(-1); a.add_(x); (b * c[:4]).sum().backward()
    a = x * 1; a.masked_fill_(m2, s); (a * a).sum().backward()
    a = x * 1; a.masked_fill_(a > 0, 0.0); (a * a).sum().backward()
    a = x * 1; a.index_add_(0, twice, y); (a * a).sum().backward()
    a = x * 1; a.index_copy_(0, idx, y[:2]); (a * a).sum().backward()
    a = x * 1; a.index_fill_(1, idx, 0.0); (a * a).sum().backward()
    a = x * 1; a.index_put_((twice,), y, accumulate=True); (a * a).sum().backward()
    a = x * 1; a.scatter_(0, g, y[:2]); (a * a).sum().backward()
    a = x * 1; a.scatter_(0, g, 1.5); (a * a).sum().backward()
    a = x * 1; a.scatter_add_(0, g, y[:2]); (a * a).sum().backward()
    a = x * 1; a.put_(idx, u[:2]); (a * a).sum().backward()
    a = x * 1; a.masked_scatter_(m2, y); (a * a).sum().backward()
    a = x * 1; a.tril_(); a.triu_(-1); (a * a).sum().backward()
    a = x * 1; a.fill_diagonal_(2.0); (a * a).sum().backward()
    a = x * 1; a.addmm_(x[:, :3].detach(), y); (a * a).sum().backward()
    a = x * 1; a.t_(); a[0] = u; (a * a).sum().backward()
    a = x * 1; a.transpose_(0, 1); (a * a).sum().backward()
    a = one * 1; a.squeeze_(); (a * a).sum().backward()
    a = one * 1; a.squeeze_(0); a.unsqueeze_(-1); (a * a).sum().backward()
    a = x * 1; a.detach_(); b = a * y; b.sum().backward()
    a = x * 1; b = a.detach(); b.zero_(); (a * y).sum().backward()
    a = x * 1; b = a.detach(); c = a * a; b.zero_(); c.sum().backward()
    a = x * 1; a.retain_grad(); a.mul_(2); a.sum().backward(); a.grad
    a = x * 1; b = a[0]; b.retain_grad(); b.mul_(2); a.sum().backward(); b.grad
    a = x * 1; a.register_hook(lambda g: g * 10); a.mul_(2); a.sum().backward()
    a = x * 1; b = a.exp(); b.mul_(2); b.sum().backward()
    a = x * 1; b = a * a; a.mul_(2); b.sum().backward()
    a = x * 1; b = a.sigmoid(); b[0] = 1.0; b.sum().backward()
    a = x * 1; b = a[0]; c = b * b; a.mul_(2); c.sum().backward()
    a = x * 1; a.exp_(); a.exp_(); a.sum().backward()
    a = x * 1; a.exp_().mul_(2); a.sum().backward()
    a = x * 1; b = a[:2]; b.exp_(); c = a[1:]; c.sigmoid_(); (a * a).sum().backward()
    a = x * 1; b = a[:2]; b.exp_(); b.add_(1); (a * a).sum().backward()
    a = x * 1; b, c = a.clone(), a; b[0] = c[1]; c[0] = b[2]; (b * c).sum().backward()
    a = x * 1; a[0], a[1] = a[1].clone(), a[0].clone(); (a * y).sum().backward()
    a = x * 1; a[0] = a[1]; (a * a).sum().backward()
    a = x * 1; a.add_(a); a.mul_(a); a.sum().backward()
    a = x * 1; a[:, 1:] += a[:, :-1].clone(); (a * a).sum().backward()
    a = x * 1; a[True] = 2.0; a[None] *= 3; a[..., None][0] = 1.0; (a * a).sum().backward()
    a = x * 1; (a.unbind()[0] * a.unbind(1)[2][0]).sum().backward()
    a = x * 1; p, q, r = a; (p * r).sum().backward()
    a = x * 1; p, q = a.split(2); (p[0] * q[0]).sum().backward()
    a = x * 1; p, q = a.chunk(2, 1); (p * 2).sum().backward()
    a, b = x.T[:2] * 1, x * 1; a += b[:2, :3]; (a * a).sum().backward()
    a = torch.zeros(2).double(); a[0] = s; a[1] = a[0] * s; a[1] += s; a.sum().backward()
    w1 = torch.ones(4); w2 = w1[1:]; w2 += 1; w1
    w1 = torch.ones(2, 3); w1.copy_(2.5); w1.fill_(True); w1.add_(1, alpha=0.5); w1.sub_(w1, alpha=2); w1
    w1 = torch.ones(3); w1.add_(torch.ones(3, dtype=torch.int64)); w1 += torch.ones(3).double(); w1 /= 2; w1
    w1 = torch.zeros(3, dtype=torch.int64); w1.copy_(u); w1[0] = u[1]; w1[1:] = 2.7; w1 += True; w1, w1.requires_grad
    w1 = torch.zeros(3, dtype=torch.int64); w1.eq_(u); w1, w1._version
    w1 = torch.ones(1, 3).expand(2, 3); w1.fill_(2.0); w1.zero_(); w1.tril_(); w1
    a = x * 1; a.as_strided((2, 2, 2), (1, 1, 4)).sum().backward()
    a = x * 1; a[0] += v; a[1, 1] *= 2; a[:, 2:] -= y[:, 2:]; (a * a).sum().backward()
    a = x * 1; a[..., 0] = u; a[None, 1] = v; a[-1, ::2] = s; (a * a).sum().backward()
    a = x * 1; a[0].sub_(a[1]); a[1].copy_(a[0]); a[2].mul_(a[1].detach()); (a * a).sum().backward()
    a = x * 1; b = a.t(); b[0] = 1.0; b[1:, 0] = s; c = a.exp(); c.t()[0].mul_(2); c.sum().backward()
    a = x * 1; a[0, 0] = -0.0; 1 / a[0, 0]; a[0, 0] = 0.0; 1 / a[0, 0]; a.mul_(-0.0); 1 / a
    w1 = torch.ones(4); w2 = w1.view(2, 2); w1[0] = 5; w2._version, w1._version, w2
""")
BLOCKS = [
    """
with torch.no_grad():
    b = x[0]
b.grad_fn, b.requires_grad
""",
    """
a = x * 1
with torch.no_grad():
    b = a[0]
b.mul_(2)
""",
    """
a = x * 1
with torch.no_grad():
    b = a[0]
    b.mul_(2)
a[0] = 1.0
a.sum().backward()
b.grad_fn
""",
    """
a = x * 1
with torch.no_grad():
    a.mul_(2)
(a * a).sum().backward()
""",
    """
a = x * 1
b = a[0]
with torch.no_grad():
    a.mul_(2)
b.grad_fn
b.sum().backward()
""",
    """
with torch.no_grad():
    x.mul_(2)
    x[0] = 1.0
(x * x).sum().backward()
with torch.no_grad():
    x -= 0.1 * x.grad
""",
    """
with torch.inference_mode():
    i = torch.ones(3)
    i.mul_(2)
    j = x[0]
j.mul_(2)
k = i + 1
k.mul_(2)
i * v[:3]
i.requires_grad_()
i._version
i.add_(1)
del i
""",
    """
x.data.mul_(2)
x.data[0] = 1
x.data = torch.ones(2, 2).double()
x._version
""",
]
REFUSED = lines("""
    x.mul_(2)
    x[0] = 2
    x[idx] = 2.0
    x[0].mul_(2)
    x.view(12).zero_()
    x += 1
    x.t_()
    x.detach().view(12)[0] = 1; x.add_(1)
    a = x * 1; p, q, r = a.unbind(); p.mul_(2)
    p, q, r = x.unbind(); p.mul_(2)
    a = x * 1; p, q = a.split(2); q[0] = 1
    a = x * 1; p, q = a.chunk(2, 1); p += 1
    a = x * 1; p, q = a.split([1, 2]); p.zero_()
    a = x * 1; p, q = a.chunk(2); a.mul_(2); p.grad_fn
    a = x * 1; p, q = a.chunk(2); a.mul_(2); p.mul_(2)
    a = torch.zeros(4).double(); p, q = a.split(2); p.mul_(v[:2])
    a = x * 1; b = a.exp(); b.mul_(2); b.sum().backward()
    a = x * 1; b = a * a; a[0] = 1; b.sum().backward()
    a = x * 1; b = a[0]; b.detach_()
    a = v.expand(3, 4) * 1; b = u[:2].detach(); a.copy_(b)
    v.detach().expand(3, 4).mul_(2)
    torch.ones(3).add_(torch.ones(2, 3))
    torch.ones(3).sub_(True)
    torch.ones(3).add_("a")
    a = torch.ones(3); a += "a"
    a = torch.ones(3); a[0] = "a"
    a = torch.ones(3); a[3] = 1.0
    a = torch.ones(2, 3); a[0, 3] = 1.0
    a = torch.ones(2, 3); a[0, 0, 0] = 1.0
    a = torch.ones(2, 3); a[::-1] = 1.0
    a = torch.ones(2, 3); a[0] = torch.ones(2)
    a = torch.ones(4); a[1:] += a[:-1]
    a = torch.ones(4); a[1:] = a[:-1]
    torch.ones(3).add_(1, alpha="a")
    torch.ones(3).copy_("a")
    torch.ones(1, 3).expand(2, 3).fill_(torch.tensor(1.0))
    torch.ones(1, 3).expand(2, 3)[0, 0] = 1.0; torch.ones(1, 3).expand(2, 3)[:, 0] = 1.0
    torch.ones(3, dtype=torch.int64).reciprocal_()
    torch.ones(3, dtype=torch.bool).relu_()
    torch.ones(3, dtype=torch.int64).hypot_(torch.ones(2))
    torch.ones(3, dtype=torch.int64).remainder_(torch.zeros(2, 3, dtype=torch.int64))
    torch.ones(3).add_(torch.ones(2))
    torch.ones(3, dtype=torch.int64).add_(1.5)
    torch.ones(3, dtype=torch.int64).div_(2)
    torch.ones(3).copy_(torch.ones(2))
    torch.ones(3).fill_(torch.ones(2))
    x.requires_grad_(False).sum().backward()
    (x * 1).requires_grad_(False)
""")


@pytest.mark.parametrize("source", PROGRAMS)
def test_in_place_program_does_what_torch_does(torch, source):
    check(torch, source)


@pytest.mark.parametrize("source", BLOCKS)
def test_modes_and_in_place_do_what_torch_does(torch, source):
    check(torch, source)


@pytest.mark.parametrize("source", REFUSED)
def test_refusal_is_torchs(torch, source):
    check_error(torch, source)


# ---------------------------------------------------------------- random programs

VIEWS = (
    "{t}[0]", "{t}[-1]", "{t}[1:]", "{t}[:, 1]", "{t}[..., 0]", "{t}[None]", "{t}[:, ::2]", "{t}.t()", "{t}.T", "{t}.view(-1)",
    "{t}.transpose(0, -1)", "{t}.unsqueeze(0)", "{t}.squeeze()", "{t}.diagonal()", "{t}.reshape(-1)", "{t}.flatten()",
    "{t}.unbind()[0]", "{t}.split(2)[0]", "{t}.narrow(0, 0, 1)", "{t}.select(-1, 1)",
    "{t}.detach()", "{t}[...]", "{t}.view_as({t})", "{t}.movedim(0, -1)", "{t}.contiguous()",
)  # fmt: skip
WRITES = (  # without the clone an element might be read after it was written, as in PyTorch, where that is undefined
    "{t}.mul_(2)", "{t}.add_(s)", "{t}.exp_()", "{t}.sigmoid_()", "{t}.tanh_()", "{t}.zero_()", "{t}.fill_(s)", "{t}[0] = 1.5",
    "{t}[...] = 0.5", "{t}[..., 1] = s", "{t}.copy_({o})", "{t}.mul_({o})", "{t} += 1", "{t} *= s", "{t}.sqrt_()", "{t}.neg_()",
    "{t}[[0]] = 2.0", "{t}[{t} > 0] = s", "{t}.masked_fill_({t} > 0.5, 0.1)", "{t}[0] += 1", "{t}[1:] *= 2",
    "{t}[-1] += 1", "{t}[None] *= 2", "{t}[1:] = {t}[:-1].clone()", "{t}[0] = {t}[1]", "{t}[0].add_({t}[1])",
    "{t}[:, ::2] = {o}", "{t}[0:1, 1] = s", "{t}[0, 0] -= s", "{t}[-1, None] = 3.0", "{t} += {o}",
    "{t}.div_({o})", "{t}.sub_({o}, alpha=2)", "{t}.copy_({t})", "{t}.add_({t})", "{t}.mul_({t})", "{t}.addcmul_({t}, {o})",
    "{t}[0] = {o}", "{t}.requires_grad_()", "{t}.retain_grad()",
)  # fmt: skip
MAKES = (
    "{t} * {t}",
    "{t} + 1",
    "{t}.exp()",
    "{t} * s",
    "{t}.clone()",
    "{t}.sum()",
    "{t} * {o}",
    "{t}.t() * 2",
    "{t}[[0, 1]]",
)


@st.composite
def programs(draw) -> str:
    """A few statements that make views, write into them and compute; then everything is summed and differentiated."""
    names = ["a", "x", "z"]
    body = ["a = x * 1", "z = torch.zeros(3, 4).double()"]
    for k in range(draw(st.integers(1, 7))):
        t, o = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        kind = draw(st.sampled_from(("view", "view", "write", "write", "make")))
        if kind == "write":
            line = draw(st.sampled_from(WRITES)).format(t=t, o=o)
        else:
            names.append(f"n{k}")
            line = f"n{k} = " + draw(st.sampled_from(VIEWS if kind == "view" else MAKES)).format(t=t, o=o)
        quiet = draw(st.integers(0, 5)) == 0
        body.append(f"with torch.no_grad():\n    {line}" if quiet else line)
    used = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    body.append("loss = " + " + ".join(f"({n} * {n}).sum()" for n in used))
    body.append("loss.backward()")
    return "\n".join(body) + "\n"


@given(source=programs())
@settings(max_examples=120)
def test_random_views_and_writes_do_what_torch_does(torch, source):
    program = Program("random views and writes", source)
    expected, got = (run(m, program, **scope(m)) for m in (torch, minigrad))
    oracle.assert_same(program, expected, got)


# ---------------------------------------------------------------- facts of our own


def test_views_share_memory_and_version():
    base = minigrad.zeros(2, 3)
    views = [base[0], base.t(), base.view(-1), base.detach(), base[:, 1:], base.unsqueeze(0)]
    for number, view in enumerate(views, 1):
        view.add_(1)
        assert [v._version for v in (base, *views)] == [number] * (len(views) + 1)
    assert base.tolist() == [[5, 6, 6], [4, 5, 5]]


def test_in_place_graphs_die_by_reference_count():
    gc.collect()
    x = minigrad.ones(3, 4, requires_grad=True)
    a = x * 1
    row = a[0]
    row.mul_(2)
    a[1] = row.exp() * 2
    a.t()[0].add_(row.sum())
    alive = weakref.ref(a.grad_fn)
    a.sum().backward()
    del a, row
    assert alive() is None
    assert gc.collect() == 0


def test_a_write_into_a_transposed_result_reaches_the_right_elements():
    """The base's memory is not in row-major order here."""
    x = minigrad.tensor(np.arange(12.0).reshape(3, 4), requires_grad=True)
    a = x.t() * 1
    a[0] = 0.0
    a.sum().backward()
    assert x.grad.tolist() == [[0, 1, 1, 1]] * 3


def test_a_view_made_under_no_grad_retains_no_gradient(torch):
    """It counts as a leaf, even when its base has got a history, and then `grad_fn` refuses to answer."""
    for t in (torch, minigrad):
        z = t.zeros(3)
        with t.no_grad():
            view = z[0]
        z.add_(t.ones(3, requires_grad=True))
        view.retain_grad()
        assert not view.retains_grad
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            _ = view.grad_fn
