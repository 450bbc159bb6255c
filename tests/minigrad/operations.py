"""The operations that minigrad offers, one a line: adding one there means adding its line here.

A line is an expression of x, y and z. Those under `# any shapes` take tensors of any shapes that broadcast together; other
headings say which shapes, and from which numbers the inputs are drawn.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np

DIFFERENTIABLE = """
# any shapes
-x
x.neg()
+x
x + y
x - y
x * y
x + 2
2.5 + x
x - 2
2 - x
x * 3
2.5 * x
x / 4
x * True
torch.add(x, y, alpha=2)
torch.sub(x, y, alpha=0.5)
x ** 2
x ** 3
x ** 0
x ** 1
x ** 4
2 ** x
torch.pow(3, x)
torch.mul(2, x)
torch.sub(1, x)
torch.div(1, x * x + 1)
torch.add(2, x, alpha=3)
x.exp()
torch.exp2(x)
x.square()
x.abs()
abs(x)
x.sign()
x.sgn()
x.sin()
x.cos()
x.tan()
x.sinh()
x.cosh()
x.tanh()
x.sigmoid()
torch.erf(x)
x.floor()
x.ceil()
x.round()
x.relu()
F.leaky_relu(x)
F.leaky_relu(x, 0.2)
F.gelu(x)
F.silu(x)
F.softplus(x)
F.softplus(x, beta=2)
F.logsigmoid(x)
x.clamp(-0.5, 0.5)
x.clamp(min=0.1)
x.clamp(max=0.1)
torch.clip(x, -1, 1)
torch.maximum(x, y)
torch.minimum(x, y)
torch.max(x, y)
torch.min(x, y)
torch.where(x > y, x, y)
torch.where(x > 0, x, 0.0)
torch.where(x > 0, 1.0, x * 2)
torch.where(x > 0, y, z)
torch.nan_to_num(x)
x.masked_fill(y > 0, 3.0)
x.clone()
x.double()
x.float()
x.to(torch.float64)
x.to(y)
torch.mul(input=x, other=y)
x.atan()
x.asinh()
torch.expm1(x)
torch.sinc(x)
torch.erfc(x)
torch.deg2rad(x)
torch.rad2deg(x)
x.trunc()
x.frac()
torch.atan2(x, y)
torch.logaddexp(x, y)
torch.logaddexp2(x, y)
torch.hypot(x, y)
torch.fmax(x, y)
torch.fmin(x, y)
torch.copysign(x, y)
torch.lerp(x, y, 0.3)
torch.lerp(x, y, z)
x.clamp(y)
x.clamp(max=y)
x.clamp_min(0.1)
x.clamp_max(y)
torch.addcmul(x, y, z)
torch.addcmul(x, y, z, value=0.5)
x.type_as(y)
x.cpu()
x.float_power(2).double()
F.elu(x)
F.elu(x, 0.5)
F.selu(x)
F.celu(x)
F.relu6(x)
F.hardtanh(x, -0.5, 0.7)
F.hardswish(x)
F.softsign(x)
F.mish(x)
F.tanhshrink(x)
F.softshrink(x)
F.hardshrink(x)
F.threshold(x, 0.1, 2.0)
F.gelu(x, approximate="tanh")
F.relu(x * 1, inplace=True)
F.leaky_relu(x * 1, 0.2, inplace=True)
F.elu(x * 1, inplace=True)
F.hardtanh(x * 1, inplace=True)
# any shapes, probability
x.asin()
x.acos()
x.atanh()
torch.logit(x)
torch.xlogy(x, y)
# any shapes, above-one
x.acosh()
# any shapes, positive
x.log10()
x.log()
x.log1p()
torch.log2(x)
x.sqrt()
x.rsqrt()
x.reciprocal()
3 / x
x ** 0.5
x ** -1
x ** -2.5
x ** y
0.5 ** x
# any shapes, nonzero
x / y
1 / x
x.true_divide(y)
torch.div(x, y)
x % y
torch.remainder(x, y)
x % 0.7
torch.div(x, y, rounding_mode="floor")
torch.div(x, 0.7, rounding_mode="trunc")
torch.fmod(x, y)
x.fmod(0.7)
torch.addcdiv(x, y, z)
# x(4, 3): sums, extremes, order
x.sum()
x.sum(0)
x.sum((0, 1))
x.sum(1, keepdim=True)
x.sum(axis=0, keepdims=True)
x.mean()
x.mean(-1)
x.mean((0, 1))
x.mean(1, keepdim=True)
x.prod()
x.prod(0)
x.prod(1, keepdim=True)
x.var()
x.var(0)
x.var(1, keepdim=True)
x.var(0, unbiased=False)
x.std()
x.std(0)
x.std(unbiased=False)
x.norm()
x.norm(dim=0)
x.norm(2, 1, keepdim=True)
x.norm("fro")
torch.linalg.norm(x)
torch.linalg.norm(x, dim=0)
torch.linalg.vector_norm(x, 2, 0)
x.amax()
x.amax(0)
x.amin(1, keepdim=True)
x.amax((0, 1))
x.max()
x.min()
x.max(0)
x.min(1, keepdim=True)
x.max(dim=0).values
x.cumsum(0)
x.logsumexp(0)
x.logsumexp((0, 1))
torch.logsumexp(x, 1, keepdim=True)
x.softmax(0)
F.softmax(x, dim=-1)
x.log_softmax(1)
x.sort()
x.sort(0, descending=True)
x.topk(2)
x.topk(2, 0, largest=False)
x.var(correction=2)
x.std(1, correction=0, keepdim=True)
x.var(False)
torch.var_mean(x, 0)
torch.std_mean(x)
x.norm(1)
x.norm(3, 0)
x.norm(0.5)
x.norm(inf, 1)
torch.linalg.norm(x, 1)
torch.linalg.norm(x, inf)
torch.linalg.matrix_norm(x)
torch.linalg.matrix_norm(x, 2)
torch.linalg.matrix_norm(x, "nuc")
x.nansum(0)
torch.nanmean(x, 1)
x.median()
x.median(0)
x.kthvalue(2, 0)
torch.aminmax(x)
torch.aminmax(x, dim=1)
x.cumprod(0)
x.logcumsumexp(0)
x.cummax(0)
x.cummin(1)
torch.diff(x)
torch.diff(x, n=2, dim=0)
torch.diff(x, prepend=x[:, :1])
torch.trapezoid(x)
torch.trapezoid(x, dx=0.5, dim=0)
torch.cumulative_trapezoid(x)
F.normalize(x)
F.normalize(x, p=1, dim=0)
F.softmin(x, 1)
F.softmax(x, 1, dtype=torch.float64)
F.glu(x[:, :2])
sum(x)
x.detach() * x
# x(4, 3): shapes
x.reshape(2, 6)
x.reshape(-1)
x.reshape((3, 4))
x.view(12)
x.view(2, -1, 3)
x.view_as(x)
x.flatten()
x.t()
x.T
x.mT
x.transpose(0, 1)
x.permute(1, 0)
torch.permute(x, (1, 0))
x.swapaxes(0, 1)
x.unsqueeze(0)
x.unsqueeze(-1)
x[None].squeeze()
x[:, None].squeeze(1)
x.movedim(0, 1)
x.expand(2, 4, 3)
x[:, :1].expand(4, 5)
x[:, :1].expand(-1, 2)
x.flip(0)
x.flip(0, 1)
x.roll(1)
x.roll(-1, 1)
x.tril()
x.triu(1)
x.diag()
x.diag(1)
x.diagonal()
x.diagonal(-1)
x[0].diag()
torch.trace(x[:3])
x.chunk(2)
x.chunk(2, 1)
x.split(2)
x.split([1, 3])
x.split_with_sizes([1, 3])
x.sum_to_size(3)
x.unbind()
x.unbind(1)
x.narrow(0, 1, 2)
x.select(1, 2)
x.repeat(2, 3)
x.repeat(2, 1, 2)
x.tile(2)
x.ravel()
x.t().ravel()
x.unflatten(0, (2, -1))
x.broadcast_to(2, 4, 3)
torch.tensor_split(x, 3)
torch.tensor_split(x, (1, 2), 1)
x.roll((1, 1), (0, 1))
x.flip(())
x[None].squeeze((0, 1))
x.rot90()
x.rot90(2)
x.fliplr()
x.repeat_interleave(2, dim=1)
x.repeat_interleave(torch.tensor([1, 0, 2, 1]), dim=0)
torch.diag_embed(x[:, 0])
torch.diagflat(x)
x.unfold(0, 2, 1)
torch.meshgrid(x[0], x[:, 0], indexing="xy")
torch.cartesian_prod(x[0], x[:, 0])
torch.block_diag(x, x[:2])
torch.atleast_3d(x)
torch.column_stack([x, x[:, 0]])
F.pad(x, (1, 2))
F.pad(x, (1, -1, 0, 1), value=2.0)
F.pad(x[None], (1, 2), mode="reflect")
F.pad(x[None], (1, 2), mode="replicate")
torch.kron(x, x[:2])
torch.einsum("ij->ji", x)
torch.einsum("ij->", x)
torch.einsum("ij,kj->ik", x, x)
torch.einsum("...j,j->...", x, x[0])
torch.einsum("ii->i", x[:3])
(x * 1).unsqueeze_(0)
(x * 1).t_()
(x[:1] * 1).squeeze_(0)
x.t().contiguous()
x.t().reshape(12)
# x(4, 3): indices
x[0]
x[-1]
x[1, 2]
x[:, 1]
x[1:]
x[::2]
x[:, ::2]
x[1:3, 0]
x[...]
x[..., 0]
x[None]
x[:, None]
x[0, None, 1:]
x[[0, 2]]
x[[0, 2], [1, 1]]
x[:, [0, 2]]
x[torch.tensor([0, 0, 3])]
x[torch.tensor([[0, 1], [2, 3]])]
x[torch.tensor([1, 0]), :, None]
x[torch.tensor([True, False, True, False])]
x[x > 0]
x[x[:, 0] > 0, 1]
x[1:][[0, 1], 1:]
x[torch.arange(4), torch.tensor([0, 2, 1, 0])]
x[()]
x[0:0]
x[..., torch.tensor([0, 1])]
x.gather(1, torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]]))
x.gather(0, torch.tensor([[0, 1, 3]]))
x.index_select(0, torch.tensor([2, 0, 2]))
x.index_fill(1, torch.tensor([0, 2]), 2.0)
x.take(torch.tensor([[0, 5], [-1, 5]]))
torch.take_along_dim(x, x.argsort(1), 1)
x.masked_select(x > 0)
x.scatter(0, torch.tensor([[1, 2, 0]]), 3.0)
x[[[0, 1], [2, 2]]]
F.embedding(torch.tensor([[0, 2], [3, 2]]), x)
# x(4, 3): losses and norms
F.layer_norm(x, (3,))
F.layer_norm(x, (4, 3))
F.batch_norm(x, None, None, training=True)
F.cross_entropy(x, torch.tensor([0, 2, 1, 1]))
F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), reduction="none")
F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), reduction="sum", label_smoothing=0.1)
F.nll_loss(x, torch.tensor([0, 2, 1, 1]))
F.nll_loss(x, torch.tensor([0, 2, 1, 1]), reduction="none")
F.nll_loss(x, torch.tensor([0, -100, 1, 1]))
F.cross_entropy(x, torch.tensor([0, 2, -100, 1]), label_smoothing=0.1)
F.cross_entropy(x, torch.tensor([0, 2, 2, 1]), ignore_index=2, weight=torch.tensor([0.2, 0.3, 0.5]).to(x))
F.cross_entropy(x.t()[None], torch.tensor([[0, 2, 1, 1]]))
F.group_norm(x[None], 2)
F.rms_norm(x, (3,))
F.embedding(torch.tensor([[0, 2], [3, 2]]), x, padding_idx=2)
# x(4, 3) y(4, 3)
torch.cat([x, y])
torch.cat([x, y], 1)
torch.cat((x, y[:2]), dim=0)
torch.stack([x, y])
torch.stack([x, y], -1)
F.mse_loss(x, y)
F.mse_loss(x, y, reduction="sum")
F.l1_loss(x, y)
F.l1_loss(x, y, reduction="none")
F.smooth_l1_loss(x, y)
F.smooth_l1_loss(x, y, beta=0.5, reduction="sum")
F.binary_cross_entropy_with_logits(x, y.sigmoid())
(x[:, None] * y[None]).sum(-1)
x.scatter_add(0, torch.zeros(4, 3, dtype=torch.int64), y)
x.scatter(0, torch.tensor([[1, 2, 0]]), y[:1])
x.index_add(0, torch.tensor([1, 1, 3, 0]), y, alpha=2)
x.clamp(y - 1, y + 0.5)
x.index_copy(1, torch.tensor([2, 0, 1]), y)
torch.index_put(x, (torch.tensor([1, 1]),), y[:2], accumulate=True)
torch.hstack([x, y])
torch.vstack([x, y])
torch.dstack([x, y])
torch.cross(x, y, dim=1)
torch.tensordot(x, y, 2)
torch.inner(x, y)
torch.dist(x, y)
torch.trapezoid(x, y)
F.huber_loss(x, y, delta=0.5)
F.kl_div(x, y.sigmoid(), reduction="batchmean")
F.kl_div(x, y, reduction="sum", log_target=True)
F.cosine_similarity(x, y)
F.scaled_dot_product_attention(x[None], y[None], x[None])
F.pairwise_distance(x, y)
F.cross_entropy(x, y.softmax(1))
F.mse_loss(x, y, weight=torch.ones(4, 3).to(x))
F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=torch.tensor([1.0, 2.0, 3.0]).to(x))
F.margin_ranking_loss(x, y, torch.ones(4, 3).to(x), margin=0.1)
F.triplet_margin_loss(x, y, x * 2 + 1)
# probability x(4, 3) y(4, 3)
F.binary_cross_entropy(x, y)
F.binary_cross_entropy(x, y, reduction="none")
# x(4, 3) y(3)
x @ y
x.mv(y)
F.linear(x, x, x[:, 0])
F.linear(y, x)
F.linear(x[None], x, x[:, 1])
F.layer_norm(x, (3,), y, y * 2)
F.batch_norm(x, y.detach(), y.detach().exp(), y, y, training=False)
# x(4, 3) y(3, 5)
x @ y
torch.mm(x, y)
F.linear(x, y.t())
# x(4, 3) y(3, 5) z(5)
torch.addmm(z, x, y)
torch.addmm(z, x, y, beta=0.5, alpha=2)
torch.linalg.multi_dot([x, y, z])
F.linear(x, y.t(), z)
x @ y + z
# x(3) y(3)
x @ y
x.dot(y)
torch.outer(x, y)
# x(3) y(3, 4)
x @ y
# x(2, 4, 3) y(2, 3, 5)
x @ y
torch.bmm(x, y)
torch.baddbmm(torch.ones(5).to(x), x, y)
x[:, None] @ y
# x(2, 4, 3) y(3, 5)
x @ y
F.linear(x, y.t(), y[0])
# x(4, 3) y(2, 3, 5)
x @ y
# x(2, 4, 3) y(3)
x @ y
# x(3) y(2, 3, 4)
x @ y
# x(2, 1, 4, 3) y(5, 3, 2)
x @ y
# matrix x(3, 3) y(3)
torch.linalg.inv(x)
torch.linalg.det(x)
torch.linalg.solve(x, y)
torch.linalg.solve(x, x.t())
torch.linalg.solve(x, y[:, None])
# matrix x(2, 3, 3)
torch.linalg.inv(x)
torch.linalg.det(x)
torch.linalg.matrix_power(x, 3)
torch.linalg.slogdet(x)
torch.linalg.pinv(x)
torch.linalg.svdvals(x)
# definite x(3, 3)
torch.logdet(x @ x.T)
torch.linalg.cholesky(x @ x.T)
torch.linalg.eigvalsh(x @ x.T)
torch.linalg.eigh(x @ x.T)[0]
# x(2, 2, 6, 5) y(4, 2, 3, 2) z(4)
F.conv2d(x, y)
F.conv2d(x, y, z)
F.conv2d(x, y, z, stride=(2, 1), padding=(1, 2))
F.conv2d(x, y, padding="same", dilation=2)
F.conv2d(x[0], y, z)
F.conv2d(x[:, :1].expand(2, 2, 6, 5), y[:, :1], groups=2)
F.conv1d(x[:, :, 0], y[:, :, 0], z)
F.conv_transpose2d(x.repeat(1, 2, 1, 1), y, stride=2, padding=1, output_padding=1)
# x(2, 2, 6, 5)
F.max_pool2d(x, 2)
F.max_pool2d(x, 2, ceil_mode=True)
F.max_pool2d(x, 2, dilation=2)
F.max_pool1d(x[:, :, 0], 2)
F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False, padding=1)
F.adaptive_avg_pool2d(x, (2, 3))
F.adaptive_avg_pool2d(x, 1)
F.interpolate(x, scale_factor=2)
F.interpolate(x, size=(7, 4), mode="bilinear")
F.pixel_unshuffle(x[..., :4], 2)
F.unfold(x, 2)
F.max_pool2d(x, 3, stride=1)
F.max_pool2d(x, (2, 3), padding=1)
F.avg_pool2d(x, 2)
F.avg_pool2d(x, 3, stride=1, padding=1)
F.batch_norm(x, None, None, training=True)
x.flatten(1)
x.mean((2, 3))
# x()
x[None]
x.reshape(1)
x.sum()
x.sum(0)
x.mean()
x.max()
x.softmax(0)
x.t()
x.expand(3)
x.flatten()
x.squeeze()
x.prod()
x.norm()
x.cumsum(0)
# x(0, 3)
x.sum()
x.sum(0)
x.prod(0)
x.reshape(3, 0)
x.t() @ x
torch.cat([x, x])
x.exp().sum()
x.mean()
x[:, 1]
"""
NOT_DIFFERENTIABLE = """
# any shapes
x > y
x < y
x >= y
x <= y
x == y
x != y
x > 0
0 < x
x == 1
torch.eq(x, y)
x.lt(0.5)
x.ge(y)
x.gt(y)
x.le(y)
x.ne(y)
torch.isnan(x)
torch.isfinite(x)
torch.isinf(x)
torch.isclose(x, y)
torch.allclose(x, x)
torch.equal(x, x)
x.long()
x.int()
x.bool()
x.to(torch.int64)
torch.zeros_like(x)
torch.ones_like(x)
x.any()
x.all()
x.nonzero()
torch.logical_and(x > 0, y > 0)
torch.logical_or(x, y)
torch.logical_not(x)
torch.bitwise_and(x > 0, y > 0)
torch.bitwise_or(x > 0, y > 0)
torch.bitwise_xor(x > 0, y > 0)
torch.bitwise_not(x > 0)
torch.logical_xor(x > 0, y > 0)
torch.signbit(x)
torch.isposinf(x)
torch.rand_like(x).shape
torch.full_like(x, 2)
(x > 0) & (y > 0)
(x > 0) | (y > 0)
(x > 0) ^ (y > 0)
~(x > 0)
x.shape
x.dim()
x.numel()
x.size()
x.dtype
# any shapes, nonzero
x // y
x // 0.7
1 // x
# x(4, 3)
torch.where(x > 0)
x.count_nonzero(0)
torch.isin(x, x[0])
torch.tril_indices(3, 3)
x.nonzero(as_tuple=True)
x.new_zeros(2, 3)
x.new_full((2,), 3.0)
torch.linalg.matrix_rank(x)
x.argmax()
x.argmax(0)
x.argmax(1, keepdim=True)
x.argmin(0)
x.argsort(1)
x.argsort(0, descending=True)
x.all(0)
x.any(1)
F.one_hot(x.argmax(1), 3)
torch.bincount(x.argmax(1))
(x > 0).sum(0)
x.unique()
x.tolist()
x.argwhere()
"""


# What random inputs are drawn from: standard normal numbers, moved to where the function is smooth.
DOMAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "real": lambda v: v,
    "positive": lambda v: np.abs(v) + 0.3,
    "probability": lambda v: 0.05 + 0.9 / (1 + np.exp(-v)),
    "above-one": lambda v: np.abs(v) + 1.2,
    "nonzero": lambda v: v + np.where(v < 0, -0.5, 0.5),
    "matrix": lambda v: v + 3 * np.eye(v.shape[-1]) if v.ndim > 1 and v.shape[-1] == v.shape[-2] else v,
    "definite": lambda v: v @ np.swapaxes(v, -1, -2) + np.eye(v.shape[-1]),
}


@dataclass(frozen=True)
class Operation:
    """An expression, the domain of its inputs and (None: any that broadcast together) their shapes."""

    expression: str
    domain: str
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...]

    @property
    def name(self) -> str:
        known = [f"{name}{shape}" for name, shape in self.shapes if shape is not None]
        return " ".join([self.expression, *(["#", *known] if known else [])])

    @property
    def elementwise(self) -> bool:
        return self.shapes[0][1] is None

    def inputs(self, trial: int) -> dict[str, np.ndarray]:
        """Random float64 inputs, the same ones for the same trial."""
        rng = np.random.default_rng([zlib.crc32(self.expression.encode()), trial])
        shapes = _broadcastable(rng, [name for name, _ in self.shapes]) if self.elementwise else self.shapes
        move = DOMAINS[self.domain]
        return {name: np.asarray(move(rng.standard_normal(shape))) for name, shape in shapes}

    def on(self, torch: ModuleType, inputs: dict[str, object], expression: str | None = None) -> object:
        """The value of the expression under this engine."""
        scope = {"torch": torch, "F": torch.nn.functional, "inf": float("inf"), **inputs}
        return eval(self.expression if expression is None else expression, scope)


def _broadcastable(rng: np.random.Generator, names: list[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Shapes that broadcast together: one of them full, the others with axes of length 1 or missing."""
    sizes = rng.choice([0, 1, 2, 3, 4], rng.integers(0, 4), p=[0.05, 0.15, 0.3, 0.3, 0.2])
    full = tuple(map(int, sizes))
    shapes = [full]
    for _ in names[1:]:
        shape = tuple(1 if rng.random() < 0.3 else n for n in full)
        shapes.append(shape[rng.integers(0, len(full) + 1) if rng.random() < 0.4 else 0 :])
    rng.shuffle(shapes)
    return list(zip(names, shapes, strict=True))


def _read(text: str) -> Iterator[Operation]:
    domain, shapes = "real", []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            domain = next((word for word in DOMAINS if word in line.split()), "real")
            found = re.findall(r"\b([xyz])\(([\d, ]*)\)", line)
            shapes = [(name, tuple(int(n) for n in re.findall(r"\d+", sizes))) for name, sizes in found]
            continue
        names = shapes or [(name, None) for name in "xyz" if re.search(rf"\b{name}\b", line)]
        yield Operation(line, domain, tuple(names))


OPERATIONS = list(_read(DIFFERENTIABLE))
CONSTANTS = list(_read(NOT_DIFFERENTIABLE))
