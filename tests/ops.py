"""The list of operations that the properties in test_ops.py hold for. An operation is tested by being listed.

An entry is an expression in the tensors x, y, z; its heading says which values or shapes these take.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import numpy as np

IMPORT_F = "import torch.nn.functional as F\n"

# What random inputs are drawn from: standard normal values, moved into the interval where the function is smooth.
DOMAINS = {
    "real": lambda v: v,
    "positive": lambda v: np.abs(v) + 0.3,
    "unit": lambda v: 0.9 * np.tanh(v),
    "probability": lambda v: 0.05 + 0.9 / (1 + np.exp(-v)),
    "above one": lambda v: np.abs(v) + 1.2,
    "nonzero": lambda v: v + np.where(v < 0, -0.5, 0.5),
    "matrix": lambda v: v + 3 * np.eye(v.shape[-1]) if v.ndim > 1 and v.shape[-1] == v.shape[-2] else v,
    "definite": lambda v: v @ np.swapaxes(v, -1, -2) + np.eye(v.shape[-1]) if v.ndim > 1 else v,
}

# Expressions that take tensors of any shape and broadcast them.
ELEMENTWISE = {
    "real": """
        -x; +x; x + y; x - y; x * y; x + 2; 2 + x; x - 2; 2 - x; x * 3; 3 * x; x / 4; x + 2.5; 2.5 * x
        x * True; torch.add(x, y, alpha=2); torch.sub(x, y, alpha=0.5); x.mul(y); torch.rsub(x, y); x ** 2
        x ** 3; x ** 0; x ** 1; x ** 2.0; 2 ** x; 2.5 ** x; x.pow(4); torch.pow(3, x)
        torch.float_power(x, 2); x.exp(); torch.exp(x); torch.exp2(x); torch.expm1(x); x.square(); x.abs()
        abs(x); x.sign(); torch.sgn(x); x.sin(); x.cos(); x.tan(); x.atan(); torch.arctan(x); x.sinh()
        x.cosh(); x.tanh(); torch.asinh(x); torch.atan2(x, y); torch.sigmoid(x); torch.erf(x); torch.erfc(x)
        torch.sinc(x); x.floor(); x.ceil(); x.round(); x.trunc(); torch.frac(x); torch.relu(x); F.relu(x)
        F.leaky_relu(x); F.leaky_relu(x, 0.2); F.elu(x); F.elu(x, 1.5); F.selu(x); F.celu(x); F.gelu(x)
        F.gelu(x, approximate="tanh"); F.silu(x); F.mish(x); F.softplus(x); F.softplus(x, beta=2)
        F.hardtanh(x); F.hardtanh(x, -0.5, 0.5); F.relu6(x * 5); F.hardsigmoid(x * 3); F.hardswish(x * 3)
        F.logsigmoid(x); F.softsign(x); F.softshrink(x); F.hardshrink(x); F.tanhshrink(x)
        F.threshold(x, 0.1, 2.0); x.clamp(-0.5, 0.5); x.clamp(min=0.1); x.clamp(max=0.1)
        torch.clip(x, -1, 1); x.clamp_min(0.2); x.clamp_max(0.2); torch.clamp(x, y, y + 1)
        torch.clamp(x, min=y); torch.maximum(x, y); torch.minimum(x, y); torch.max(x, y); torch.min(x, y)
        torch.fmax(x, y); torch.fmin(x, y); torch.where(x > y, x, y); torch.where(x > 0, x, 0.0)
        torch.where(x > 0, 1.0, x * 2); torch.where(x > 0, y, z); torch.lerp(x, y, 0.3); torch.lerp(x, y, z)
        x.lerp(y, 0.7); torch.addcmul(x, y, z); torch.addcmul(x, y, z, value=2); torch.hypot(x, y)
        torch.logaddexp(x, y); torch.copysign(x, y); torch.nan_to_num(x); torch.deg2rad(x)
        x.masked_fill(y > 0, 3.0); x.clone(); x.double(); x.float(); x.to(torch.float64); x.to(y)
        x.type_as(y); x.positive(); x.neg()
    """,
    "positive": """
        torch.special.entr(x); torch.special.expit(x); torch.special.gammaln(x); torch.frexp(x)
        torch.mvlgamma(x + 1, 3); torch.special.exp2(x); torch.special.ndtr(x)
        x.log(); torch.log(x); x.log1p(); torch.log2(x); torch.log10(x); x.sqrt(); x.rsqrt(); x.reciprocal()
        3 / x; x ** 0.5; x ** -1; x ** -2.5; x ** y; x.pow(y); 0.5 ** x; torch.xlogy(x, y)
        torch.float_power(x, y)
    """,
    "nonzero": """
        x / y; 1 / x; 2.5 / x; x.div(y); x.true_divide(y); torch.div(x, y, rounding_mode="floor")
        torch.div(x, y, rounding_mode="trunc"); torch.addcdiv(x, y, z); torch.addcdiv(x, y, z, value=0.5)
        x % y; x % 0.7; torch.remainder(x, y); torch.fmod(x, y)
    """,
    "unit": """
        x.asin(); x.acos(); torch.atanh(x); torch.arcsin(x); torch.arccos(x)
        torch.logit((x + 1) / 2); torch.special.ndtri((x + 1) / 2); torch.special.logit((x + 1) / 2)
    """,
    "above one": """
        torch.acosh(x)
    """,
}

# Expressions whose value has no gradient.
NOT_DIFFERENTIABLE = {
    "real": """
        x > y; x < y; x >= y; x <= y; x == y; x != y; x > 0; 0 < x; x == 1; torch.eq(x, y); x.lt(0.5)
        x.ge(y); x.ne(y); torch.isnan(x); torch.isfinite(x); torch.isinf(x); torch.isclose(x, y)
        torch.allclose(x, x); torch.equal(x, x); x.long(); x.int(); x.bool(); x.to(torch.int64)
        torch.zeros_like(x); torch.ones_like(x); torch.full_like(x, 2); torch.empty_like(x).shape
        x.new_zeros(2); x.new_ones(2, 3); x.new_tensor([1.5]); x.new_full((2,), 3); x.any(); x.all()
        torch.count_nonzero(x); x.argmax(); x.argmin(); x.argsort(); x.nonzero()
        torch.logical_and(x > 0, y > 0); torch.logical_or(x, y); torch.logical_not(x)
        torch.logical_xor(x, y); (x > 0) & (y > 0); (x > 0) | (y > 0); (x > 0) ^ (y > 0); ~(x > 0); x.shape
        x.dim(); x.numel(); x.size(); x.dtype
    """,
    "nonzero": """
        x // y; x // 2; torch.floor_divide(x, y)
    """,
}

# Domain, shapes of the inputs, expressions over them.
SHAPED = [
    ("real", {"x": (4, 3)}, """
        x.sum(); x.sum(0); x.sum(-1); x.sum((0, 1)); x.sum(1, keepdim=True); torch.sum(x, dim=0)
        x.sum(dim=(-1,), keepdim=True); x.mean(); x.mean(0); x.mean((0, 1)); x.mean(1, keepdim=True)
        x.prod(); x.prod(0); x.prod(1, keepdim=True); x.var(); x.var(0); x.var(1, keepdim=True)
        x.var(0, unbiased=False); x.var(1, correction=0); x.std(); x.std(0); x.std(1, keepdim=True)
        x.std(unbiased=False); torch.var_mean(x, 0); torch.std_mean(x, 1); x.norm(); x.norm(dim=0)
        x.norm(1); x.norm(2, 1, keepdim=True); x.norm(p=3); x.norm(float("inf")); torch.norm(x)
        x.norm("fro"); x.amax(); x.amax(0); x.amin(1, keepdim=True); x.amax((0, 1)); x.max(); x.min()
        x.max(0); x.min(1); x.max(1, keepdim=True); x.max(dim=0).values; x.min(dim=0)[1]; x.median()
        x.median(0); x.kthvalue(2); x.cumsum(0); x.cumsum(1); x.cumprod(0); x.cumprod(1)
        x.cummax(0); x.cummin(1); x.logsumexp(0); x.logsumexp((0, 1))
        torch.logsumexp(x, 1, keepdim=True); x.softmax(0); x.softmax(-1); F.softmax(x, dim=1)
        x.log_softmax(1); F.log_softmax(x, 0); F.softmin(x, 1); F.normalize(x); F.normalize(x, p=1, dim=0)
        x.sort(); x.sort(0); x.sort(1, descending=True); x.topk(2); x.topk(2, 0); x.topk(1, largest=False)
        x.argmax(0); x.argmax(1, keepdim=True); x.argmin(0); x.argsort(1); x.all(0); x.any(1); x.aminmax()
        x.nansum(); x.reshape(2, 6); x.reshape(-1); x.reshape((3, 4)); x.reshape(2, -1); x.view(12)
        x.view(2, 2, 3); x.view_as(x); x.flatten(); x.ravel(); x.t(); x.T; x.mT; x.transpose(0, 1)
        x.permute(1, 0); x.swapaxes(0, 1); torch.permute(x, (1, 0)); x.unsqueeze(0); x.unsqueeze(-1)
        x[None].squeeze(); x[:, None].squeeze(1); x[None].squeeze(1); x[None].squeeze((0,)); x.movedim(0, 1)
        x[None].movedim((0, 1), (2, 0)); x.expand(2, 4, 3); x[:, :1].expand(4, 5); x[:, :1].expand(-1, 2)
        x.expand_as(torch.zeros(2, 4, 3)); x.broadcast_to((2, 4, 3)); x.repeat(2, 1); x.repeat(2, 1, 2)
        x.tile((2,)); x.repeat_interleave(2, 0); x.flip(0); x.flip(0, 1); x.roll(1)
        x.roll(1, 0); x.roll((1, -1), (0, 1)); x.tril(); x.triu(); x.tril(-1); x.triu(1)
        x.diag(); x.diag(1); x.diagonal(); x.diagonal(-1); x[0].diag(); x[0].diag(-1); torch.diag_embed(x)
        torch.trace(x[:3]); x.chunk(2); x.chunk(2, 1); x.split(2); x.split([1, 3]); x.split(2, 1)
        x.unbind(); x.unbind(1); x.narrow(0, 1, 2); x.select(1, 2)
        x.contiguous(); x.t().contiguous(); x.t().reshape(12); x.t().clone()
        x.unflatten(0, (2, 2)); x.diff(); x.diff(dim=0); torch.meshgrid(x[0], x[:, 0], indexing="ij"); x[0]
        x[-1]; x[1, 2]; x[:, 1]; x[1:]; x[::2]; x[:, ::2]; x[1:3, 0]; x[...]; x[..., 0]; x[None]; x[:, None]
        x[0, None, 1:]; x[[0, 2]]; x[[0, 2], [1, 1]]; x[:, [0, 2]]; x[torch.tensor([0, 0, 3])]
        x[torch.tensor([[0, 1], [2, 3]])]; x[torch.tensor(1)]; x[torch.tensor([1, 0]), :, None]
        x[torch.tensor([True, False, True, False])]; x[x > 0]; x[x[:, 0] > 0, 1]; x[1:][[0, 1], 1:]
        x[torch.arange(4), torch.tensor([0, 2, 1, 0])]; x[()]; x[0:0]; x[True]; x[..., torch.tensor([0, 1])]
        x[torch.tensor([-1]), 0]; x.index_select(1, torch.tensor([0, 2]))
        x.index_select(0, torch.tensor([1, 1])); x.take(torch.tensor([0, 5, 5])); x.masked_select(x > 0)
        x.gather(1, torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])); x.gather(0, torch.tensor([[0, 1, 3]]))
        torch.take_along_dim(x, x.argsort(1), 1); x.scatter(1, torch.tensor([[0], [1], [2], [0]]), 5.0)
        x.index_fill(0, torch.tensor([1]), 2.0); x.masked_fill(x > 0, 0); F.pad(x, (1, 2))
        F.pad(x, (1, 0, 2, 1)); F.pad(x, (1, 1), value=3.0); F.pad(x, (-1, 1)); F.one_hot(x.argmax(1), 3)
        F.layer_norm(x, (3,)); F.layer_norm(x, (4, 3)); F.batch_norm(x, None, None, training=True)
        F.rms_norm(x, (3,)); F.glu(x.t()); F.cross_entropy(x, torch.tensor([0, 2, 1, 1]))
        F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), reduction="none")
        F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), reduction="sum", label_smoothing=0.1)
        F.cross_entropy(x, x.detach().softmax(1)); F.cross_entropy(x, torch.tensor([0, -100, 1, 1]))
        F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), ignore_index=1)
        F.nll_loss(x, torch.tensor([0, 2, 1, 1]))
        F.nll_loss(x, torch.tensor([0, 2, 1, 1]), reduction="none")
        F.nll_loss(x, torch.tensor([0, 2, 1, 1]), reduction="sum"); torch.einsum("ij->ji", x)
        torch.einsum("ij->", x); torch.einsum("ij->i", x); torch.einsum("ii->i", x[:3]); sum(x); list(x)
        x.detach() * x; torch.softmax(x, 0, dtype=torch.float64)
        x.sum(dtype=torch.float64); x.sum(dim=None)
    """),
    ("real", {"x": (4, 3), "y": (4, 3)}, """
        torch.cat([x, y]); torch.cat([x, y], 1); torch.cat((x, y[:2]), dim=0); torch.stack([x, y])
        torch.stack([x, y], 1); torch.stack((x, y), dim=-1); torch.vstack([x, y]); torch.hstack([x, y])
        torch.concat([x, y]); torch.dist(x, y); F.mse_loss(x, y)
        F.mse_loss(x, y, reduction="sum"); F.mse_loss(x, y, reduction="none"); F.l1_loss(x, y)
        F.l1_loss(x, y, reduction="none"); F.smooth_l1_loss(x, y)
        F.smooth_l1_loss(x, y, beta=0.5, reduction="sum"); F.huber_loss(x, y)
        F.huber_loss(x, y, delta=0.3, reduction="none"); F.kl_div(x, y.softmax(1), reduction="batchmean")
        F.kl_div(x, y, log_target=True, reduction="sum"); F.cosine_similarity(x, y)
        F.binary_cross_entropy_with_logits(x, y.sigmoid())
        F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none")
        F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=torch.tensor([1.0, 2.0, 3.0]).to(x))
        (x * y).sum(1); (x[:, None] * y[None]).sum(-1)
        x.index_add(0, torch.tensor([0, 0, 1, 2]), y)
        x.scatter_add(0, torch.zeros(4, 3, dtype=torch.int64), y)
        x.scatter(0, torch.tensor([[1, 2, 0]]), y[:1]); x.index_copy(0, torch.tensor([2, 0]), y[:2])
        torch.where(x > y, x, y); torch.cross(x, y, dim=1)
        x.index_put((torch.tensor([0, 0]),), y[:2], accumulate=True)
        torch.tensordot(x, y, dims=([0, 1], [0, 1]))
        torch.einsum("ij,ij->i", x, y)
        torch.einsum("ij,kj->ik", x, y); torch.einsum("ij,ij", x, y)
    """),
    ("probability", {"x": (4, 3), "y": (4, 3)}, """
        torch.special.xlog1py(x, y); torch.einsum(x, [0, 1], y, [2, 1], [0, 2])
        F.binary_cross_entropy(x, y); F.binary_cross_entropy(x, y, reduction="sum")
        F.binary_cross_entropy(x, y, weight=y.detach(), reduction="none")
    """),
    ("real", {"x": (4, 3), "y": (3,)}, """
        F.nll_loss(x, torch.tensor([0, 2, 1, 1]), weight=y.detach().abs())
        F.cross_entropy(x, torch.tensor([0, 2, 1, 1]), weight=y.detach().abs())
        F.layer_norm(x, (3,), y, y * 2); F.batch_norm(x, y.detach(), y.detach().exp(), y, y, training=False)
        F.prelu(x, y)
    """),
    ("real", {"x": (4, 3), "y": (3, 5)}, """
        x @ y; torch.mm(x, y); x.matmul(y); torch.matmul(x, y); torch.einsum("ij,jk->ik", x, y)
        torch.einsum("ij,jk->k", x, y); torch.tensordot(x, y, dims=1); F.linear(x, y.t())
    """),
    ("real", {"x": (4, 3), "y": (3,)}, """
        x @ y; x.mv(y); torch.mv(x, y); F.linear(x, x, x[:, 0]); F.linear(y, x); F.linear(x, y)
        F.linear(x[None], x); F.linear(x[None], x, x[:, 1]); torch.addmv(x[:, 0], x, y)
        torch.einsum("ij,j->i", x, y)
    """),
    ("real", {"x": (3,), "y": (3, 4)}, """
        x @ y; torch.matmul(x, y)
    """),
    ("real", {"x": (3,), "y": (3,)}, """
        x @ y; x.dot(y); torch.dot(x, y); x.inner(y); torch.outer(x, y); x.ger(y); torch.vdot(x, y)
        torch.cross(x, y); torch.einsum("i,j->ij", x, y)
    """),
    ("real", {"x": (2, 4, 3), "y": (2, 3, 5)}, """
        x @ y; torch.bmm(x, y); x.bmm(y); torch.matmul(x, y); torch.einsum("bij,bjk->bik", x, y)
        torch.baddbmm(torch.ones(5).to(x), x, y); x[:, None] @ y
    """),
    ("real", {"x": (2, 4, 3), "y": (3, 5)}, """
        x @ y; torch.matmul(x, y); torch.einsum("bij,jk->bik", x, y); F.linear(x, y.t())
        F.linear(x, y.t(), y[0])
    """),
    ("real", {"x": (4, 3), "y": (2, 3, 5)}, """
        x @ y
    """),
    ("real", {"x": (2, 4, 3), "y": (3,)}, """
        x @ y; torch.matmul(x, y)
    """),
    ("real", {"x": (3,), "y": (2, 3, 4)}, """
        x @ y
    """),
    ("real", {"x": (2, 1, 4, 3), "y": (5, 3, 2)}, """
        x @ y; torch.matmul(x, y)
    """),
    ("real", {"x": (4, 3), "y": (3, 5), "z": (5,)}, """
        torch.addmm(z, x, y); torch.addmm(z, x, y, beta=0.5, alpha=2); F.linear(x, y.t(), z); x @ y + z
    """),
    ("matrix", {"x": (3, 3)}, """
        torch.linalg.inv(x); x.inverse(); torch.linalg.det(x); x.det(); torch.linalg.slogdet(x)
        torch.logdet(x @ x.T + torch.eye(3).to(x)); torch.linalg.norm(x); torch.linalg.norm(x, "fro")
        torch.linalg.norm(x, dim=0); torch.linalg.vector_norm(x, 3); torch.linalg.matrix_power(x, 3)
        x.trace()
    """),
    ("matrix", {"x": (2, 3, 3)}, """
        torch.linalg.inv(x); torch.linalg.det(x); torch.linalg.matrix_norm(x)
    """),
    ("matrix", {"x": (3, 3), "y": (3,)}, """
        torch.linalg.solve(x, y); torch.linalg.solve(x, x.t()); torch.linalg.solve(x, y[:, None])
    """),
    ("definite", {"x": (3, 3)}, """
        torch.linalg.cholesky(x + x.T); torch.linalg.cholesky(x @ x.T)
        torch.linalg.cholesky(x @ x.T).sum(0)
    """),
    ("matrix", {"x": (3, 3), "y": (3, 2)}, """
        torch.linalg.lu(x); torch.linalg.lu(x[:2]); torch.linalg.lu(x[:, :2]); torch.linalg.lu_factor(x)
        torch.linalg.lu_factor(x[:, :2])
        torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y); torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y.T, left=False)
        torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y, adjoint=True); torch.lu_unpack(*torch.linalg.lu_factor(x))
        torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y.T, left=False, adjoint=True)
        torch.lu_unpack(*torch.linalg.lu_factor(x[:2])); torch.lu_unpack(*torch.linalg.lu_factor(x[:, :2]))
        torch.cholesky_inverse(torch.linalg.cholesky(x @ x.T)); torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.T))
        torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.T, upper=True), upper=True)
        torch.cholesky_inverse(torch.linalg.cholesky(x @ x.T, upper=True), upper=True)
        torch.linalg.tensorsolve(x, y[:, 0])
        torch.linalg.vander(y); torch.linalg.vander(x, N=4); torch.vander(y[:, 0].detach())
        torch.vander(y[0].detach(), 4, True)
        torch.combinations(x[0]); torch.combinations(x[0], 3, True); torch.combinations(x[0], 0)
        torch.linalg.matrix_rank(x); torch.linalg.pinv(x[:2], atol=1e-3); torch.linalg.pinv(x, rcond=1e-3)
    """),
    ("matrix", {"x": (2, 3, 3), "y": (2, 3, 2)}, """
        torch.linalg.lu(x); torch.linalg.lu_factor(x); torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y)
        torch.linalg.lu(y); torch.linalg.lu(y.mT); torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.mT))
    """),
    ("real", {"x": (2, 2, 6, 5), "y": (4, 2, 3, 2), "z": (4,)}, """
        F.conv2d(x, y); F.conv2d(x, y, z); F.conv2d(x, y, z, stride=2); F.conv2d(x, y, padding=1)
        F.conv2d(x, y, z, stride=(2, 1), padding=(1, 2)); F.conv2d(x, y, dilation=2)
        F.conv2d(x, y[:, :1], groups=2); F.conv2d(x[0], y)
    """),
    ("real", {"x": (2, 2, 7), "y": (4, 2, 3), "z": (4,)}, """
        F.conv1d(x, y); F.conv1d(x, y, z); F.conv1d(x, y, z, stride=2, padding=1)
        F.conv1d(x, y[:, :1], groups=2, dilation=2)
    """),
    ("real", {"x": (2, 2, 6, 5)}, """
        F.max_pool2d(x, 2); F.max_pool2d(x, 3, stride=1); F.max_pool2d(x, (2, 3), padding=1)
        F.avg_pool2d(x, 2); F.avg_pool2d(x, 3, stride=1, padding=1); F.avg_pool2d(x, (2, 1))
        F.batch_norm(x, None, None, training=True); F.pad(x, (1, 1, 1, 1)); x.flatten(1); x.mean((2, 3))
        F.adaptive_avg_pool2d(x, 1)
    """),
    ("real", {"x": (4, 3), "y": (5, 3)}, """
        F.embedding(torch.tensor([[0, 2], [4, 2]]), y); F.embedding(torch.tensor([1, 1]), y, padding_idx=1)
        x @ y.T
    """),
    ("real", {"x": (2, 4, 3), "y": (2, 4, 3), "z": (2, 4, 3)}, """
        F.scaled_dot_product_attention(x, y, z); F.scaled_dot_product_attention(x, y, z, is_causal=True)
    """),
    ("matrix", {"x": (3, 3)}, """
        torch.exp(input=x); torch.mm(input=x, mat2=x); x.mm(mat2=x.sin()); torch.maximum(input=x, other=-x)
        x.maximum(other=-x); torch.bmm(x[None], mat2=x[None]); torch.dot(x[0], tensor=x[1]); torch.mv(x, vec=x[0])
        torch.atan2(x, other=x.exp()); torch.matmul(x, other=x); torch.sigmoid(input=x); torch.logit(input=x.sigmoid())
        x.split(split_size=2); torch.split(x, split_size_or_sections=2); torch.tensor_split(x, sections=2)
        torch.tensor_split(x, indices=(1, 2)); x.expand(size=(2, 3, 3)); x.view(size=(9,)); x.reshape(shape=(9,))
        torch.reshape(x, shape=(9,)); x.swapaxes(axis0=0, axis1=1); torch.swapaxes(x, axis0=0, axis1=1)
        x.permute(dims=(1, 0)); x.repeat(repeats=(2, 1)); torch.flip(x, dims=(0,)); x.flip(dims=[0])
        x.unsqueeze(axis=0); x[None].squeeze(axis=0); torch.cat([x, x], axis=1); torch.stack([x, x], axis=1)
        x.sum(axis=0); torch.sum(x, axis=(0, 1)); x.sum(1, keepdims=True); x.mean(axis=1, keepdims=True)
        torch.mean(x, axis=0); x.max(axis=0); x.max(1, keepdims=True); x.std(axis=0); torch.var(x, axis=0, keepdims=True)
        torch.amax(x, axis=0); torch.prod(x, axis=0); torch.cumsum(x, axis=0); x.softmax(axis=0); x.argmax(axis=0)
        torch.any(x, axis=0); torch.logsumexp(x, axis=0); torch.median(x, axis=0, keepdims=True)
        torch.linalg.norm(input=x); torch.det(input=x); torch.inverse(input=x); torch.matrix_power(input=x, n=2)
        torch.where(condition=x > 0, input=x, other=x * 2); torch.lerp(input=x, end=-x, weight=0.5)
        torch.clamp(input=x, min=0.0, max=1.0); torch.pow(input=x, exponent=2); torch.gather(x, dim=0, index=x.argsort(0))
        torch.narrow(input=x, dim=0, start=0, length=2); torch.addmm(input=x, mat1=x, mat2=x, beta=2, alpha=3)
    """),
    ("real", {"x": (4, 3)}, """
        torch.quantile(x, 0.3); torch.quantile(x, 0.3, dim=1, keepdim=True); x.quantile(0.3, keepdim=True); x[0].quantile(0.7)
        torch.quantile(x, torch.tensor([0.1, 0.5]).to(x), dim=0); x.quantile(torch.tensor([0.1, 0.5]).to(x), 1, True)
        x.quantile(0.3, interpolation="nearest"); x.quantile(0.3, 0, interpolation="midpoint")
        x.quantile(0.3, interpolation="lower"); x.quantile(0.3, 1, interpolation="higher")
        torch.nanquantile(x, 0.3, dim=0); torch.nanquantile(torch.where(x > 1, float("nan"), x), 0.3, dim=1)
        torch.quantile(torch.where(x > 1, float("nan"), x).detach(), 0.3, dim=0)
        torch.cov(x); torch.cov(x[0]); x.cov(correction=0); torch.corrcoef(x); x[0].corrcoef()
        torch.cov(x, fweights=torch.tensor([1, 2, 1])); torch.cov(x, aweights=torch.tensor([0.1, 0.2, 0.3]).to(x))
        torch.cov(x, fweights=torch.tensor([1, 2, 1]), aweights=torch.tensor([0.1, 0.2, 0.3]).to(x))
        torch.trapezoid(x); torch.trapezoid(x, dx=2.0); torch.trapezoid(x, dim=0); torch.trapezoid(x, x[0])
        torch.trapezoid(x, 2 * x); torch.trapz(x, x[:, 0], dim=0); torch.cumulative_trapezoid(x, x.sin())
        torch.cumulative_trapezoid(x, dx=2.0); torch.cumulative_trapezoid(x, dim=0); torch.gradient(x)
        torch.gradient(x[0], spacing=2.0); torch.gradient(x, spacing=(x[:, 0].cumsum(0), x[0].cumsum(0)))
        torch.gradient(x, dim=1, spacing=(torch.tensor([0.0, 1.0, 3.0]).to(x),), edge_order=2)
        torch.gradient(x, dim=0, edge_order=2); torch.gradient(x, dim=-1); torch.gradient(x, spacing=[1.0, 2.0])
        torch.renorm(x, 2, 0, 1.0); torch.renorm(x, 1, 1, 0.5); torch.renorm(x, 3, 0, 0.8); x.clone().renorm_(2, 0, 1.0)
        x.clone().eq_(1); x.clone().eq_(x); x.clone().lt_(x + 1); x.clone().greater_equal_(0); x.clone().cumsum_(0)
        x.clone().cumprod_(1); x.clone().arctan2_(x.exp()); x.clone().negative_(); torch.exp_(x.clone())
        torch.relu_(x.clone()); torch.clamp_(x.clone(), 0, 1); torch.zero_(x.clone())
        torch.histc(x, bins=4); torch.histc(x, 5, -1, 1); torch.histogram(x.detach(), 4)
        torch.histogram(x.detach(), 3, range=(-1.0, 1.0), density=True, weight=x.detach().exp())
        torch.histogram(x.detach(), torch.tensor([-1.0, 0.0, 2.0]).to(x)); torch.histc(x[0] * 0 + 1)
        torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]).to(x), x); torch.searchsorted(x.sort(1)[0], x, right=True)
        torch.searchsorted(x, x, sorter=x.argsort(1), side="right", out_int32=True); torch.searchsorted(x[0].sort()[0], 0.5)
        torch.bucketize(x, torch.tensor([0.0, 1.0]).to(x)); torch.bucketize(x, x[0].sort()[0], right=True)
        torch.bincount(x.argmax(1)); torch.bincount(x.argmin(1), minlength=7)
        torch.bincount(x.argmax(1), weights=x[:, 0].detach())
    """),
    ("real", {"x": (4, 3), "y": (4, 3)}, """
        x.scatter_reduce(0, y.argsort(0), y, "sum"); x.scatter_reduce(1, y.argsort(1)[:, :2], y[:, :2], "prod")
        x.scatter_reduce(0, y.argmax(0, keepdim=True), y[:1], "mean"); x.scatter_reduce(0, y.argsort(0) // 2, y, "mean")
        x.scatter_reduce(1, y.argsort(1) // 2, y, "prod", include_self=False)
        x.scatter_reduce(0, y.argsort(0) // 2, y, "amax"); x.scatter_reduce(0, y.argsort(0) // 2, x, "amax")
        x.scatter_reduce(0, y.argsort(0) // 2, y, "amin", include_self=False)
        x.scatter_reduce(1, y.argsort(1) // 2, y, "sum", include_self=False)
        torch.scatter_reduce(x, 1, y.argsort(1) // 2, torch.where(y > 0, y, 0.0), "prod")
        x.scatter_reduce(1, y.argsort(1) // 2, y, "mean", include_self=False)
        x.clone().scatter_reduce_(0, y.argsort(0) // 2, y, "sum")
        x.detach().scatter(0, y.argsort(0), 3.0, reduce="add"); x.scatter(0, y.argsort(0), value=3.0)
        x.detach().scatter(0, y.argsort(0) // 2, y.detach(), reduce="multiply"); x.clone().scatter_(1, y.argsort(1), 2.0)
    """),
    ("real", {"x": (2, 4, 4, 6)}, """
        F.unfold(x, 2); F.unfold(x, (2, 3), dilation=(1, 2), padding=(1, 2), stride=(2, 1)); F.unfold(x[0], 2)
        F.fold(F.unfold(x, 2), (4, 6), 2)
        F.fold(F.unfold(x[0], (2, 3), padding=1, stride=(1, 2)), (4, 6), (2, 3), padding=1, stride=(1, 2))
        F.interpolate(x, scale_factor=2); F.interpolate(x, scale_factor=1.3); F.interpolate(x, size=(3, 5))
        F.interpolate(x, size=(3, 5), mode="nearest-exact"); F.interpolate(x, scale_factor=2, mode="bilinear")
        F.interpolate(x, scale_factor=(1.7, 0.6), mode="bilinear"); F.interpolate(x, scale_factor=0.5, mode="area")
        F.interpolate(x, scale_factor=(1.7, 0.6), mode="bilinear", recompute_scale_factor=True)
        F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True); F.interpolate(x, size=3, mode="bicubic")
        F.interpolate(x, size=(3, 7), mode="bicubic", align_corners=True); F.pixel_shuffle(x, 2); F.pixel_unshuffle(x, 2)
        F.pixel_unshuffle(x[0], 2); F.channel_shuffle(x, 2); F.adaptive_max_pool2d(x, 3); F.adaptive_max_pool2d(x, (3, 1), True)
        F.lp_pool2d(x.exp(), 3, 2); F.local_response_norm(x[0], 2, 0.1)
        F.rrelu(x); F.rrelu(x, 0.1, 0.3); F.rrelu_(x.clone(), 0.1, 0.3); F.relu_(x.clone()); F.elu_(x.clone(), 0.5)
        F.leaky_relu_(x.clone(), 0.2); F.hardtanh_(x.clone()); F.selu_(x.clone()); F.threshold_(x.clone(), 0.1, 2.0)
        F.celu_(x.clone())
    """),
    ("real", {"x": (2, 3, 4)}, """
        F.interpolate(x, scale_factor=2, mode="linear"); F.interpolate(x, size=7); F.adaptive_max_pool1d(x, 3)
        F.interpolate(x, scale_factor=0.7, mode="area"); F.lp_pool1d(x.exp(), 3, 2, stride=1)
        F.adaptive_max_pool1d(x, 2, return_indices=True)
    """),
    ("real", {"x": (2, 3, 3, 3, 4), "y": (3, 2, 2, 2, 2)}, """
        F.interpolate(x, scale_factor=2, mode="trilinear"); F.interpolate(x, scale_factor=2); F.adaptive_max_pool3d(x, 2)
        F.adaptive_avg_pool3d(x, 2); F.adaptive_avg_pool3d(x, 1); F.max_pool3d(x, 2, 1, 1); F.max_pool3d(x[0], (2, 3, 2))
        F.max_pool3d(x, (1, 3, 2), ceil_mode=True, dilation=(1, 1, 2), return_indices=True); F.avg_pool3d(x, 2)
        F.avg_pool3d(x, 3, 2, 1); F.avg_pool3d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)
        F.conv_transpose3d(x, y); F.conv_transpose3d(x, y, stride=2, padding=1)
        F.conv3d(x, y.transpose(0, 1))
    """),
    ("real", {"x": (4, 3), "y": (4, 3), "z": (4, 3)}, """
        F.multi_margin_loss(x, torch.tensor([0, 1, 2, 0])); F.multi_margin_loss(x[0], torch.tensor(2))
        F.multi_margin_loss(x, torch.tensor([0, 1, 2, 0]), p=2, margin=0.4, reduction="sum")
        F.multi_margin_loss(x, torch.tensor([0, 1, 2, 0]), weight=y[0].detach().abs(), reduction="none")
        F.multilabel_margin_loss(x, torch.tensor([[0, -1, 1], [0, 1, -1], [2, 1, 0], [-1, 0, 1]]))
        F.multilabel_margin_loss(x, torch.tensor([[0, -1, 1], [0, 1, -1], [2, 1, 0], [-1, 0, 1]]), reduction="none")
        F.multilabel_margin_loss(x[0], torch.tensor([2, -1, 0])); F.multilabel_soft_margin_loss(x, y.detach().sigmoid())
        F.multilabel_soft_margin_loss(x, y.detach().sigmoid(), weight=y[0].detach().abs(), reduction="sum")
        F.triplet_margin_with_distance_loss(x, y, z)
        F.triplet_margin_with_distance_loss(x, y, z, swap=True, margin=0.5, distance_function=lambda a, b: (a * b).sum(-1))
    """),
    ("real", {"x": ()}, """
        x[None]; x.reshape(1); x.sum(); x.sum(0); x.mean(); x.max(); x.softmax(0); x.t(); x.expand(3)
        x.unsqueeze(0); x.flatten(); x.view(1, 1); x.squeeze(); x.repeat(2); x[...]; x.prod(); x.norm()
        x.cumsum(0)
    """),
    ("real", {"x": (0, 3)}, """
        x.sum(); x.sum(0); x.sum(1); x.prod(0); x + 1; x.reshape(3, 0); x.t(); x @ x.t(); x.t() @ x
        torch.cat([x, x]); x.exp().sum(); x.mean(); x.flatten(); x[:, 1]
    """),
]  # fmt: skip


@dataclass(frozen=True)
class Op:
    """An expression with the domain and (None: any that broadcast) the shapes of its inputs."""

    expression: str
    domain: str
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...]

    @property
    def name(self) -> str:
        shapes = ", ".join(f"{k}{v}" for k, v in self.shapes if v is not None)
        return f"ops/{self.expression}" + (f" | {shapes}" if shapes else "")

    def inputs(self, trial: int) -> dict[str, np.ndarray]:
        """Random float64 inputs, the same ones for the same trial."""
        rng = np.random.default_rng([zlib.crc32(self.expression.encode()), trial])
        shapes = dict(self.shapes) if self.shapes[0][1] is not None else _broadcastable(rng, len(self.shapes))
        move = DOMAINS[self.domain]
        return {name: np.asarray(move(rng.standard_normal(shape))) for name, shape in shapes.items()}


def _broadcastable(rng: np.random.Generator, count: int) -> dict[str, tuple[int, ...]]:
    """Shapes that broadcast together: one of them full, the others with axes of length 1 or missing."""
    full = tuple(
        int(n) for n in rng.choice([0, 1, 2, 3, 4], rng.integers(0, 4), p=[0.05, 0.15, 0.3, 0.3, 0.2])
    )
    shapes = [full]
    for _ in range(count - 1):
        shape = tuple(1 if rng.random() < 0.3 else n for n in full)
        shapes.append(shape[rng.integers(0, len(full) + 1) if rng.random() < 0.4 else 0 :])
    rng.shuffle(shapes)
    return dict(zip("xyz", shapes, strict=False))


def _expressions(text: str) -> list[str]:
    return [
        expression.strip()
        for line in text.splitlines()
        for expression in line.split("; ")
        if expression.strip()
    ]


def _elementwise(table: dict[str, str]) -> list[Op]:
    return [
        Op(expression, domain, tuple((name, None) for name in "xyz" if re.search(rf"\b{name}\b", expression)))
        for domain, text in table.items()
        for expression in _expressions(text)
    ]


ELEMENTWISE_OPS = _elementwise(ELEMENTWISE)
UNDIFFERENTIABLE_OPS = _elementwise(NOT_DIFFERENTIABLE)
SHAPED_OPS = [
    Op(expression, domain, tuple(shapes.items()))
    for domain, shapes, text in SHAPED
    for expression in _expressions(text)
]
OPS = ELEMENTWISE_OPS + SHAPED_OPS
