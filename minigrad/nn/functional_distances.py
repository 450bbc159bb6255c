"""The functions of nn.functional on vectors: distances, similarity, and losses based on them."""

from __future__ import annotations

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..basics import check
from ..ops import losses
from ..ops.norms import old_norm
from ..ops.pointwise import clamp_min, mul, where
from ..ops.reduction import vector_norm
from ..ops.shape import common_shape
from ..ops.special import add_number, sub_number
from ..tensor import Tensor
from .functional_activations import in_functional
from .functional_losses import number_of

# ---------------------------------------------------------------- of vectors


@in_functional
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """`input` divided by its p-norm along `dim`, or by `eps` if that is larger."""
    return input / clamp_min(vector_norm(input, p, dim, True), eps).expand(tuple(input.shape))


@in_functional
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`: x1·x2 / (|x1| |x2|), each norm at least `eps`."""
    common = dtypes.of_numpy(dtypes.promote([(t._array.dtype, 2 if t.dim() else 1) for t in (x1, x2)]))
    message = "expected common dtype to be floating point, yet common dtype is {.word}"
    check(common.is_floating_point, message, common)
    shape = common_shape(x1._array.shape, x2._array.shape)
    pair = [x if x._array.shape == shape else x.expand(shape) for x in (x2.to(common), x1.to(common))][::-1]
    lengths = [vector_norm(x, 2, dim, True).clone() for x in pair]
    with no_grad():
        for length in lengths:
            length.clamp_min_(eps)
    second = pair[1] / lengths[1]  # computed first, as the order of PyTorch's backward pass shows
    return mul(pair[0] / lengths[0], second).sum(dim)


@in_functional
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
    return old_norm(add_number(x1 - x2, eps), p, -1, keepdim)


@in_functional
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """`1 - cos` where `target` is 1, `max(0, cos - margin)` where it is -1; vectors along the last dimension."""
    kind, dim, eps = number_of(reduction), 1 if target._array.ndim == 1 else 0, 1e-12
    message = "{}D target tensor expects {}D input tensors, but found inputs with sizes {} and {}."
    n = target._array.ndim
    check(n < 2, "0D or 1D target tensor expected, multi-target not supported")
    check(
        input1._array.ndim == n + 1 == input2._array.ndim,
        message,
        n,
        n + 1,
        tuple(input1.shape),
        tuple(input2.shape),
    )
    product = (input1 * input2).sum(dim)
    squares = add_number((input1 * input1).sum(dim), eps) * add_number((input2 * input2).sum(dim), eps)
    cos = product / squares.sqrt()
    zeros = (cos * 0).detach()
    close, far = zeros + 1 - cos, clamp_min(sub_number(cos, margin), 0)
    close = where(target == 1, close, zeros)
    return losses.reduced(close + where(target == -1, far, zeros), kind)


@in_functional
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """`max(0, -target·(input1 - input2) + margin)`: `target` 1 says that input1 should be larger, -1 the reverse."""
    kind, difference = number_of(reduction), input1 - input2
    return losses.reduced(add_number(-target * difference, margin).clamp_min_(0), kind)


@in_functional
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: str = "mean"
) -> Tensor:
    """`input` where `target` is 1, `max(0, margin - input)` where it is -1."""
    kind, zeros = number_of(reduction), (input * 0).detach()
    far = where(target != 1, clamp_min(zeros + margin - input, 0), zeros)
    return losses.reduced(far + where(target != -1, input, zeros), kind)


@in_functional
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, *, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`. swap: use the smaller of the negative's two distances."""
    kind = number_of(reduction)
    check(margin > 0, "margin must be greater than 0, got {}", margin, error=ValueError)
    near, far = (pairwise_distance(anchor, x, p, eps) for x in (positive, negative))
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return losses.reduced(clamp_min(add_number(near, margin) - far, 0), kind)
