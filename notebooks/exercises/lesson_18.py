"""Exercises of lesson 18, attention from scratch: forward, a score's gradient, the way back, an empty row, a leak."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .lesson_14 import first_bad
from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import Watch


def attention(q, k, v, causal=False):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        later = torch.ones(scores.shape[-2:]).triu(1) > 0
        scores = scores.masked_fill(later, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


def attention_backward(upstream, q, k, v, weights):
    root = math.sqrt(q.shape[-1])
    v_grad = weights.T @ upstream
    weights_grad = upstream @ v.T
    mean = (weights * weights_grad).sum(1, keepdim=True)
    scores_grad = weights * (weights_grad - mean)
    q_grad = scores_grad @ k / root
    k_grad = scores_grad.T @ q / root
    return q_grad, k_grad, v_grad


def safe_weights(scores, allowed):
    some = allowed.any(1, keepdim=True)
    masked = scores.masked_fill(~allowed, float("-inf"))
    inside = torch.where(some, masked, 0.0)
    return torch.where(some, torch.softmax(inside, dim=1), 0.0)


def reads(f, x, t):
    x = x.clone().requires_grad_()
    row = f(x)[t]
    v = torch.arange(1.0, len(row) + 1)
    (g,) = torch.autograd.grad(row @ v, x)
    return [j for j in range(len(x)) if g[j].abs().sum() > 0]


# what the checks try


def _table(*shape: int, step: float = 1.3, begin: float = 0.4) -> Any:
    """Numbers of both signs that look random and are the same each time."""
    return torch.sin(torch.arange(math.prod(shape)) * step + begin).reshape(shape)


def _attended(attention: Callable) -> Iterator[tuple]:
    """Various numbers of queries, keys and columns, with and without the mask; a batch."""
    for case, q, k, v, causal in (
        ("three positions with the causal mask", (3, 4), (3, 4), (3, 2), True),
        ("two queries, five keys", (2, 3), (5, 3), (5, 2), False),
        ("a batch of two, with the mask", (2, 4, 3), (2, 4, 3), (2, 4, 5), True),
    ):
        handed = _table(*q) * 2, _table(*k, step=0.7) * 2, _table(*v, step=2.1)
        watch = Watch(q=handed[0], k=handed[1], v=handed[2])
        got = attention(*handed, causal=causal)
        yield f"For {case}", got.detach() if isinstance(got, torch.Tensor) else got
        watch.complain()
    q, k, v = (
        torch.tensor([[3.0, 4], [1, 2]]),
        torch.tensor([[-4.0, -4], [4, 4]]),
        torch.tensor([[2.0], [1e36]]),
    )
    hidden = "whose hidden neighbour has a high score and a huge value"  # a weight of e^-80 would show
    yield f"For a first position {hidden}", attention(q, k, v, causal=True)[0]


def _backward_cases() -> list[tuple]:
    cases = []
    for queries, keys, size, columns in ((4, 4, 3, 2), (3, 5, 2, 4)):
        q, k, v = _table(queries, size) * 2, _table(keys, size, step=0.7), _table(keys, columns, step=2.1)
        scores = q @ k.T / math.sqrt(size)
        if queries == keys:
            scores = scores.masked_fill(torch.ones(queries, keys).triu(1) > 0, float("-inf"))
        cases.append((_table(queries, columns, step=3.1), q, k, v, torch.softmax(scores, 1)))
    return cases


ROWS = {
    "a mask without an empty row": [[1, 0, 0], [1, 1, 0], [0, 1, 1]],
    "a mask with an empty row in the middle": [[1, 1, 0], [0, 0, 0], [0, 1, 0]],
    "a mask with two empty rows": [[0, 0], [1, 1], [0, 0], [0, 1]],
}


def _masked_weights(safe_weights: Callable) -> Iterator[tuple]:
    for name, rows in ROWS.items():
        allowed = torch.tensor(rows) > 0
        low = 500 * ("middle" in name)  # a softmax is never exactly 0
        scores = (_table(*allowed.shape) * 3 - low).requires_grad_()
        watch = Watch(scores=scores, allowed=allowed)
        weights = safe_weights(scores, allowed)
        if not isinstance(weights, torch.Tensor):
            yield f"The weights for {name}", weights
            return
        yield f"The weights for {name}", weights.detach()
        if not weights.requires_grad:
            raise Complaint("No graph leads back from these weights to the scores: nothing could learn.")
        loss = (weights * _table(*allowed.shape, step=2.3)).sum()
        (g,) = torch.autograd.grad(loss, scores)
        yield f"The gradient of the scores for {name}", g
        bad = first_bad(safe_weights(scores.detach().clone().requires_grad_(), allowed).sum())
        yield f"The first node that sends a bad number for {name}", bad or "none"
        watch.complain()


def _of_weights(seen: dict) -> str:
    """What is wrong with the weights themselves: one that should be 0, or a row that does not add up to 1."""
    for name, rows in ROWS.items():
        weights, allowed = seen.get(f"The weights for {name}"), np.array(rows) > 0
        if np.shape(weights) != allowed.shape:
            return ""
        if (weights[~allowed] > 1e-6).any():
            return f"A position that is not allowed has the weight {weights[~allowed].max():.2g}. It should be 0."
        sums = weights.sum(1)[allowed.any(1)]
        if not np.allclose(sums, 1, atol=1e-4):
            return f"The weights of a row with something in it should add up to 1. Here they add up to {sums[abs(sums - 1).argmax()]:.2g}."
    return ""


def _one(x: Any) -> Any:
    """One number per position."""
    return x[:, 0] - x[:, 1]


def _causal(x: Any) -> Any:
    return attention(x, x, x, causal=True)


def _everything(x: Any) -> Any:
    return torch.softmax(attention(x, x, x), 1)


def _difference(x: Any) -> Any:
    """A row of y and -y, where y is the running sum of the differences: its plain sum is 0."""
    y = torch.tril(torch.ones(len(x), len(x))) @ _one(x)
    return torch.stack([y, -y], 1)


def _on_a_circle(x: Any) -> Any:
    """A row of cosine and sine: the sum of its squares is 1."""
    y = torch.tril(torch.ones(len(x), len(x))) @ x[:, 0]
    return torch.stack([torch.cos(y), torch.sin(y)], 1)


def _second_looks_ahead(x: Any) -> Any:
    """The first column reads its own position, the second the next one."""
    return torch.stack([x[:, 0] * 2, torch.roll(x, -1, 0)[:, 1] * 3], 1)


def _small_and_zero(x: Any) -> Any:
    y = torch.tril(torch.ones(len(x), len(x))) @ x[:, 0] * 1e-6
    return torch.stack([y, 0 * y], 1)


def _last_only(x: Any) -> Any:
    return x[-1:, 1:] * torch.ones(len(x), 1) * torch.tensor([-0.1, -0.3])


LOOKS = (
    ("causal attention", _causal, 5, (0, 2, 4)),
    ("a running sum whose rows are (y, -y)", _difference, 4, (1, 3)),
    ("a function whose rows are points on a circle", _on_a_circle, 3, (1,)),
    ("a function whose second column reads the next position", _second_looks_ahead, 4, (0, 3)),
    ("attention without a mask", _everything, 3, (1,)),
    ("a function that reads the last position only", _last_only, 3, (0,)),
    ("a function with small numbers and a column of zeros", _small_and_zero, 3, (1,)),
)


def _looked(reads: Callable) -> Iterator[tuple]:
    for name, f, count, positions in LOOKS:
        for t in positions:
            x = _table(count, 2)
            watch = Watch(x=x)
            got = reads(f, x, t)
            if isinstance(got, torch.Tensor) and got.dtype == torch.bool and got.shape == (count,):
                raise Complaint(
                    "It returns a tensor of True and False. Return the positions themselves: a list of numbers."
                )
            if isinstance(got, range | tuple | set):
                got = sorted(got)
            if isinstance(got, torch.Tensor):
                got = got.tolist()
            if isinstance(got, list):
                yield (
                    f"For {name}, output {t} reads the positions",
                    str([n.item() if isinstance(n, torch.Tensor) else n for n in got]),
                )
            else:
                yield f"For {name} and t = {t}", repr(got) if isinstance(got, str) else got
                return
            watch.complain()


# what people write


# predictions


def _undecided() -> float:
    q, keys = torch.tensor([2.0, 0, 0, 0]), [[1.0, 0, 0, 0], [1, 2, 0, 0], [1, 0, 2, 0], [1, 0, 0, 4]]
    return (torch.softmax(torch.tensor(keys) @ q / 2, 0) @ torch.tensor([0.0, 4, 4, 8])).item()


def _zeros() -> int:
    scores = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1) > 0, float("-inf"))
    return int((torch.softmax(scores, 1) == 0).sum())


def _empty_row() -> str:
    weight = torch.softmax(torch.tensor([float("-inf")] * 3), 0)[0].item()
    return "c" if math.isnan(weight) else "a" if weight == 0 else "b"


def _first_query() -> float:
    q, k, v = (_table(4, 4, step=step).requires_grad_() for step in (1.3, 0.7, 2.1))
    attention(q, k, v, causal=True).sum().backward()
    return q.grad[0].abs().sum().item()


QUESTIONS: list[Question] = [
    question(r"""
        18.a what is read by a query that fits all four keys equally
        truth: _undecided()
        found: Yes: four equal weights, so the result is the plain mean of the values.
        missed: Equal scores become equal weights, a quarter each: $(0 + 4 + 4 + 8)/4 = 4$.

        16.0 :: That is the sum of the values. The weights add up to 1, so the result is a *mean*.
        8.0  :: That is the largest value. A query that fits all keys equally does not choose.
        0.0  :: That is the smallest value. With equal scores all four values have the same weight.
        1.0  :: That is each scaled score. The result is a mean of the *values*.
        0.25 :: Each weight is 0.25. The result is the mean of the values 0, 4, 4 and 8 with these weights.
        2.0  :: That is each score before it is scaled. The result is a mean of the *values*.
        """),
    question(r"""
        18.b how many of the 16 weights a causal mask sets to 0
        truth: _zeros()
        counts: True
        found: Yes: 3 + 2 + 1, everything to the right of the diagonal.
        missed: Three keys are hidden from position 0, two from position 1, one from position 2: 6.

        10 :: That is how many are *left*: 1 + 2 + 3 + 4. The other 6 are 0.
        4  :: The diagonal stays: a position may look at itself.
        12 :: That would be everything but the diagonal. What came earlier stays visible too.
        8  :: Half of 16 would be right if half of the diagonal were hidden. All of it stays: 6 are hidden.
        3  :: That is the first row alone. The second hides two more, the third one more.
        """),
    question(r"""
        18.c the gradient of the first position's query
        truth: _first_query()
        found: Yes. Position 0 sees only itself, so its one weight is 1, whatever the score is.
        missed: Position 0 sees only itself. Its one weight is 1 for every query, so nothing changes with the query: 0.

        1.0 :: 1 is the *weight*. It stays 1 whatever the query is, so the query's gradient is 0.
        4.0 :: There are four positions, but this query's gradient is 0: its one weight stays 1 whatever the query is.
        """),
    question(r"""
        18.d the weights of a row in which everything is masked
        truth: _empty_row()
        found: Yes. The sum of three zeros is 0, and the softmax divides by it: 0/0.
        missed: $e^{-\infty} = 0$, three times, divided by their sum, 0: that is 0/0, `nan`. It is **c**.

        "a" :: Each exponential is indeed 0. But the softmax then divides them by their sum, which is 0 as well.
        "b" :: That would be the result for three equal *finite* scores. Here $e^{-\infty} = 0$ is divided by 0.
        "d" :: A softmax of minus infinities divides 0 by 0, and that is `nan`.
        """),
    question(r"""
        18.e how many of six positions a centred model reads at position 2
        truth: len(reads(lambda x: _causal(x - x.mean(0)), _table(6, 2), 2))
        counts: True
        found: Yes: the mean is taken over all six. The mask in the head comes too late.
        missed: The mean over the positions contains all six, and it was taken before the mask: 6.

        3 :: The mask allows positions 0, 1 and 2. But the mean that was subtracted first contains all six.
        2 :: Position 2 sees itself too, and, through the mean, all the others.
        1 :: Position 2 may read 0, 1 and itself, and the mean contains all six.
        4 :: There are six positions in the mean: those before it, its own, and all that follow.
        5 :: Its own position is in the mean as well: all six.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        18.1 the gradient of a score
        solution:
            out = 1 / 2 * 8 + 1 / 4 * 4 + 1 / 4 * 0  # 5
            d_0 = 1 / 2 * (8 - out)
            d_1 = 1 / 4 * (4 - out)
            d_2 = 1 / 4 * (0 - out)
            d_3 = 0 * (100 - out)  # its weight is 0
            v_3 = 0  # the weight again
        why: The rule is *weight times (value minus result)*. The four gradients add up to 0: if one weight grows, others shrink. The masked key has weight 0, so the gradients of its score and of its value are both 0.
        shows: A key is asked to match better if its value lies on the side to which the result should move, in proportion to the weight that it already has.
        look out: Each value times its weight, added up.
        look d_0: Three things appear in the rule: the weight, the value, and the result.
        look d_1: Three things appear in the rule: the weight, the value, and the result.
        look d_2: Three things appear in the rule: the weight, the value, and the result.
        look d_3: How much weight does the fourth key have?
        look v_3: How much does the result move if this value moves by 1?
        about out: The mean of the values, with these weights. The fourth weight is 0.
        about d_0: Weight times (value minus result).
        about d_1: Its value is 4. On which side of the result is that?
        about d_2: Its value is 0. Weight times (value minus result).
        about d_3: Its weight is 0.
        about v_3: If a value moves by 1, the result moves by that value's weight.
        hint: First the result: $\tfrac12 \cdot 8 + \tfrac14 \cdot 4 + \tfrac14 \cdot 0$.
        hint: Then $w_i\,(v_i - \text{out})$ for each key. The four must add up to 0.

        d_0 = 0.25 :: That is $w(1-w)$, the slope of a single weight. The rule is weight times (value minus result).
        d_3 = 25   :: Its weight is 0, not a quarter, so nothing gets through.
        out = 30   :: You included the masked value. Its weight is 0.
        out = 4     :: That is the mean of 8, 4 and 0 without the weights. The first one counts twice as much as the others.
        out = 12    :: That is the sum of the values. The weights add up to 1.
        out = 28    :: That is the plain mean of all four values. Multiply each value by its weight first; the last one's weight is 0.
        out = 105   :: You included the masked value with its full 100. Its weight is 0.
        d_0 = 4     :: That is weight times value. The softmax subtracts the result from the value first: if this weight grows, the others shrink.
        d_0 = 3     :: That is value minus result. The weight is still missing.
        d_0 = 0.5   :: That is the weight, which is the gradient of the *value*. The gradient of the score is the weight times (value minus result).
        d_0 = -1.5  :: The sign is wrong: a better match with this key makes the result *larger*, since its value is above 5.
        d_0 = 2     :: That is $w(1-w)\,v$: what this score does through its own weight alone. The other weights move as well, since all add up to 1.
        d_0 = 8     :: That is what arrives at the *weight*. The softmax's rule still has to be applied.
        d_1 = 1     :: That is weight times value. The softmax subtracts the result from the value first: $\tfrac14 (4 - 5)$.
        d_1 = -1    :: That is value minus result. The weight is still missing.
        d_1 = 0.25  :: That is the weight alone, or the sign is lost: 4 is *below* the result.
        d_1 = 0.75  :: That is $w(1-w)\,v$: what this score does through its own weight alone. The other weights move as well.
        d_1 = 4     :: That is what arrives at the *weight*. The softmax's rule still has to be applied.
        d_2 = 0     :: A value of 0 adds nothing, but a larger weight *for it* takes weight away from the others, and the result falls.
        d_2 = -5    :: That is value minus result. The weight is still missing.
        d_2 = 1.25  :: The sign is wrong: a better match with this key pulls the result down towards 0.
        d_2 = 0.25  :: A quarter is the weight. Multiply it by (value minus result).
        d_3 = 95    :: That is value minus result. It still has to be multiplied by the weight, 0.
        d_3 = 100   :: That is its value, and what arrives at its weight. The rule multiplies it by that weight, 0.
        d_3 = None  :: The score is part of the graph, and a gradient is computed for it: a zero.
        v_3 = 100   :: That is the value itself. Its gradient is the weight with which it is read.
        v_3 = 0.25  :: A quarter is the weight of each of the two keys before it. This one is masked.
        v_3 = 1     :: The gradient would be 1 if this value had all of the weight. It is masked.
        v_3 = None  :: The value is in the product `weights @ v`, so a gradient is computed for it: a zero.
        """),
    exercise(r"""
        18.2 attention
        solution: attention
        probe: _attended
        why: Each row of `scores` belongs to one query. The mask acts before the softmax, so that the remaining weights add up to 1.
        shows: Two products, a division, a mask and a softmax: that is all of attention.
        look: Go through the four steps: scores $q\,k^\top/\sqrt d$, the mask, the softmax along each row, and the mean of the values.
        hint: `q` has a row for each query and `k` a row for each key. Which product gives a table with a row for each query and a column for each key?
        hint: `q @ k.transpose(-2, -1)`, divided by `math.sqrt(q.shape[-1])`. The mask writes minus infinity into that table.
        hint: `scores.masked_fill(later, float("-inf"))`, `dim=-1`, and `weights @ v`

        scores.masked_fill(later, float("-inf")) => scores.masked_fill(later, -10.0) :: -10 is an ordinary score, and $e^{-10}$ is a weight. Use minus infinity.
        q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) => q @ k.transpose(-2, -1) :: The scores are not scaled. Divide them by $\sqrt d$, `math.sqrt(q.shape[-1])`.
        q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) => q @ k.transpose(-2, -1) / q.shape[-1] :: You divide by $d$. Divide by its *root*.
        q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) => q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2]) :: That is the root of the number of keys. $d$ is the length of one query: `q.shape[-1]`.
        q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) => q @ k.transpose(-2, -1) * math.sqrt(q.shape[-1]) :: You multiply by $\sqrt d$. Divide by it.
        q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) => q @ k.transpose(-2, -1) / 2 :: 2 is the root of 4, which was right in the example above. Take it from the input: `math.sqrt(q.shape[-1])`.
        torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-2) :: Your columns add up to 1. Each *row* belongs to a query: `dim=-1`.
        torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=0) :: `dim=0` is not the axis of the keys. Each row belongs to a query, and its weights add up to 1: `dim=-1`.
        torch.softmax(scores, dim=-1) => scores :: The softmax is missing: these are scores, not weights.
        torch.softmax(scores, dim=-1) => torch.exp(scores) :: Exponentials alone do not add up to 1. `torch.softmax(scores, dim=-1)` divides each by the sum of its row.
        torch.softmax(scores, dim=-1) => torch.sigmoid(scores) :: A sigmoid looks at each score on its own. The weights of a row add up to 1: `torch.softmax`.
        torch.softmax(scores, dim=-1) => torch.log_softmax(scores, dim=-1) :: Those are the logarithms of the weights. Use `torch.softmax`.
        scores.masked_fill(later, float("-inf")) => scores :: The mask is missing: with `causal=True`, a position still sees what comes later.
        scores.masked_fill(later, float("-inf")) => scores * ~later :: A score of 0 does not hide anything: $e^0 = 1$. The hidden scores must be minus infinity.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(later, float('inf')) :: That is *plus* infinity, and the softmax turns every row with one in it into `nan`. It needs a minus.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(~later, float('-inf')) :: That hides the past and shows the future. `later` is already True where something should be hidden.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(torch.ones(scores.shape[-2:]).triu(0) > 0, float('-inf')) :: That hides the diagonal as well. The first position then sees nothing, and its weights are `nan`.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(later.T, float('-inf')) :: The mask is transposed: a position sees itself and what comes later, and not what came before.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(later, -1.0) :: -1 is an ordinary score, and $e^{-1}$ is a weight. Use minus infinity.
        scores.masked_fill(later, float("-inf")) => scores.masked_fill(later, -1e2) :: $e^{-100}$ is small, but it is not 0: where the other scores are low, or a hidden value is huge, it counts. Hide with minus infinity.
        scores.masked_fill(later, float("-inf")) => scores - 100 * later :: $e^{-100}$ is small, but it is not 0: where a hidden score is high, or a hidden value is huge, it counts. Hide with minus infinity.
        scores.masked_fill(later, float("-inf")) => scores ;; torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1).masked_fill(later, 0.0) if causal else torch.softmax(scores, dim=-1) :: The mask comes after the softmax, so the rows do not add up to 1 any more. Mask the *scores*.
        torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1).masked_fill(later, float("-inf")) if causal else torch.softmax(scores, dim=-1) :: Minus infinity among the *weights* makes everything infinite or `nan`. Mask the scores, before the softmax.
        weights @ v => weights.transpose(-2, -1) @ v :: `weights` is transposed in the last product. It has a row for each query, just as the result does: `weights @ v`.
        weights @ v => weights :: Those are the weights. Take the mean of the values with these weights: `weights @ v`.
        weights @ v => v :: The values come back unchanged. Multiply: `weights @ v`.
        if causal: => if True: :: You mask even when `causal` is False. Mask only `if causal:`.
        return attention(q, k, k, causal) :: You read from the keys. It is the *values*, `v`, that are mixed.
        return attention(k, q, v, causal) :: `q` and `k` are swapped: there is a row for each *key* in your table.
        math.sqrt(q.shape[-1]) => math.sqrt(len(q)) :: That is the root of the number of queries (or of samples). $d$ is the length of one query: `q.shape[-1]`.
        k.transpose(-2, -1) => k.T :: `k.T` swaps *all* axes, which is right for one table only. For a batch, swap the last two: `k.transpose(-2, -1)`.
        dim=-1 => dim=1 :: Axis 1 is the axis of the keys only if there is no batch. With or without one, the last axis is that of the keys: `dim=-1`.
        scores.masked_fill(later, float("-inf")) => scores - later * float("inf") :: Where nothing should be hidden that is $0 \cdot \infty$, and so `nan` (lesson 14). `masked_fill` writes only where `later` is True.
        if causal: => if not causal: :: The condition is reversed: you mask when `causal` is False.
        """),
    exercise(r"""
        18.3 the way back
        solution: attention_backward
        cases: _backward_cases
        returns: ("the gradient of q", "the gradient of k", "the gradient of v")
        why: Two products (lesson 3: each factor gets what arrived times the other one, transposed) and a softmax. The mask does not appear here: where a weight is 0, the score's gradient is 0 as well.
        shows: The way back through attention in six lines; it needs the weights, not the scores.
        look: Check the shapes: each gradient has the shape of what it belongs to. And the softmax: weights times (what arrived minus its weighted mean in *that row*).
        hint: `weights @ v` is a product: `v` gets `weights.T @ upstream`, and `weights` gets `upstream @ v.T`.
        hint: The weighted mean of a row: `(weights * weights_grad).sum(1, keepdim=True)`.
        hint: The scores were `q @ k.T / root`. So `q` gets `scores_grad @ k / root`, and `k` gets `scores_grad.T @ q / root`.

        q / root => q ;; k / root => k :: The scores were divided by $\sqrt d$ on the way forward, so the gradients of `q` and `k` are divided by it too.
        q / root => q / root**2 ;; k / root => k / root**2 :: You divide by $d$. The scores were divided by its root, once.
        q / root => q :: The gradient of `k` is not divided by $\sqrt d$. The scores were divided by it, so both gradients are too.
        weights * (weights_grad - mean) => weights * weights_grad :: The softmax is half done: subtract the weighted mean of the row from what arrives, before you multiply by the weights.
        weights * (weights_grad - mean) => weights * (1 - weights) * weights_grad :: $w(1-w)$ is what a score does to its *own* weight. It moves the other weights of its row as well.
        weights * (weights_grad - mean) => weights_grad :: The softmax is missing: what arrives at the weights is not yet what arrives at the scores.
        sum(1, keepdim=True) => sum(0, keepdim=True) :: The mean is taken down the columns. A softmax belongs to one *row*: sum along axis 1, with `keepdim=True`.
        sum(1, keepdim=True) => sum() :: That is one mean for the whole table. Each row has its own softmax: `sum(1, keepdim=True)`.
        (weights * weights_grad).sum(1, keepdim=True) => weights_grad.mean(1, keepdim=True) :: That is the plain mean of a row. It needs the weights: `(weights * weights_grad).sum(1, keepdim=True)`.
        weights * (weights_grad - mean) => weights_grad - mean :: The weights in front of the bracket are missing.
        weights * (weights_grad - mean) => -weights * (weights_grad - mean) :: The sign is wrong: the bracket should be what arrived *minus* the mean, with no minus in front.
        weights.T @ upstream => upstream :: `v` gets what arrived, times the weights with which it was read: `weights.T @ upstream`.
        scores_grad.T @ q / root => scores_grad.T @ k / root :: `k` gets the scores' gradient times the *other* factor, which is `q`.
        weights.T @ upstream => v :: That is `v` itself. Its gradient is `weights.T @ upstream`.
        weights.T @ upstream => weights @ upstream :: `v` has a row for each *key*. `weights` has its keys in the columns: transpose it, `weights.T @ upstream`.
        upstream @ v.T => v @ upstream.T :: What arrives at the weights has their shape, a row for each query and a column for each key: `upstream @ v.T`.
        keepdim=True => keepdim=False :: Without `keepdim=True` the means form a row, and are subtracted along the wrong axis (or not at all). They should stay a column.
        (weights * weights_grad).sum(1, keepdim=True) => weights_grad.sum(1, keepdim=True) :: The mean needs the weights: `(weights * weights_grad).sum(1, keepdim=True)`.
        weights * (weights_grad - mean) => weights * (weights_grad - weights) :: You subtract the weights. Subtract the weighted mean of what arrives, `mean`.
        scores_grad @ k / root => scores_grad @ k :: The gradient of `q` is not divided by $\sqrt d$. The scores were divided by it, so both gradients are too.
        scores_grad @ k / root => scores_grad @ q / root :: `q` gets the scores' gradient times the *other* factor, which is `k`.
        scores_grad.T @ q / root => scores_grad @ q / root :: `k` has a row for each key. The scores' gradient has its keys in the columns: transpose it.
        """),
    exercise(r"""
        18.4 a row with nothing in it
        solution: safe_weights
        probe: _masked_weights
        otherwise: _of_weights
        why: As in lesson 14: `where` twice. The first one gives the softmax harmless numbers in the empty rows, so that no `nan` is ever computed; the second one writes the zeros.
        shows: A `nan` that was never made cannot come back. Zeros written over it afterwards only hide it.
        look: In a row where nothing is allowed: weights of 0 and gradients of 0. In every other row: the softmax of what is allowed.
        hint: In which rows is anything allowed? `allowed.any(1, keepdim=True)`.
        hint: Lesson 14's cure: a `where` *in front of* the dangerous function, and one after it.
        hint: `inside = torch.where(some, masked, 0.0)`, then `torch.where(some, torch.softmax(inside, dim=1), 0.0)`

        torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=1) :: That is the ordinary softmax, and for an empty row it gives 0/0.
        torch.softmax(scores, dim=1) :: The mask is missing.
        torch.where(some, masked, 0.0) => scores.masked_fill(~allowed, -100.0) :: -100 is an ordinary score: where the others are lower still, it wins. Hide with minus infinity, as `masked` does.
        torch.softmax(scores, dim=1) * allowed :: Masked after the softmax, a row does not add up to 1. Mask the scores.
        torch.softmax(scores.masked_fill(~allowed, -1e9), dim=1) :: An empty row has *equal* weights now, since all its scores are alike: it reads a mean of what should be hidden. Write zeros there, with a second `where`.
        torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=1).nan_to_num(0.0) :: The weights are right, but the softmax made a `nan`, and it sends one on the way back. `masked_fill` happens to stop it. Give the softmax harmless numbers instead.
        masked, 0.0 => scores, 0.0 :: The empty rows are right. In the others the mask is missing.
        any(1 => any(0 :: The question is whether anything is allowed in a *row*, `any(1, keepdim=True)`: without `keepdim`, or with axis 0, the answer is about a column.
        safe_weights(scores.detach(), allowed) :: No graph leads back from these weights
        safe_weights(scores, ~allowed) :: The mask is inverted: `allowed` is True where a position may be read.
        safe_weights(scores.T, allowed.T).T if scores.shape[0] == scores.shape[1] else safe_weights(scores, allowed) :: Your columns add up to 1. A *row* belongs to a query.
        """),
    exercise(r"""
        18.5 which inputs does it depend on?
        solution: reads
        probe: _looked
        why: Unequal weights $v$, because the plain sum of a row can be constant: probabilities add up to 1. And absolute values, because the entries of a gradient can cancel in a sum.
        shows: A test that works for any model, without reading a line of it.
        look: One number made from row `t` with *unequal* weights; its gradient with respect to `x`; the positions at which any entry of that gradient is not 0.
        hint: A pass begins at one number. `row.sum()` is one, but for a row (y, -y) it is always 0.
        hint: $v^\top J$ with unequal entries in $v$: `row @ torch.arange(1.0, len(row) + 1)`.
        hint: Position `j` is read if any entry of `g[j]` is not 0: `g[j].abs().sum() > 0`.

        row @ v => row.sum() :: The plain sum of a row, and its mean, can be constant: for (y, -y) it is always 0, for probabilities always 1. Use unequal weights.
        row @ v => (row * row).sum() :: The sum of the squares can be constant too: for a point on a circle it is. Use unequal weights, and the entries as they are.
        row @ v => row[0] :: That only looks at the first entry of the row. Another entry may read more.
        row @ v => row[-1] :: Only the last entry of the row counts that way. Another entry may read more.
        row @ v => row.max() :: Only one entry of the row gets through `max`. All of them should count.
        g[j].abs().sum() > 0 => g[j].sum() > 0 :: A sum of the entries can cancel to 0, or be negative. Take absolute values: `g[j].abs().sum()`.
        g[j].abs().sum() > 0 => g[j].sum() != 0 :: A sum of the entries can cancel: in the running sum they are +1 and -1. Take absolute values first, `g[j].abs()`.
        g[j].abs().sum() > 0 => g[j][0] != 0 :: That looks at the first entry of each position only.
        g[j].abs().sum() > 0 => (g[j] != 0).all() :: One entry that is not 0 is enough: `any`, not `all`.
        g[j].abs().sum() > 0 => (g[j] > 0).any() :: A negative gradient is a dependence too. Take absolute values: `abs()`.
        g[j].abs().sum() > 0 => g[j].abs().sum() > 0.5 :: A small gradient is a dependence too: more than 0 is enough.
        g[j].abs().sum() > 0 => g[j].abs().sum() == 0 :: Those are the positions that are *not* read.
        g[j].abs().sum() > 0 => True :: That is every position. The gradient shows which of them are read.
        row @ v => (f(x) * torch.arange(1.0, f(x).numel() + 1).reshape(f(x).shape)).sum() :: That takes all outputs at once. Take only row `t`.
        return list(range(t + 1)) :: That is what a causal model *should* read. Find out what this one does.
        x.clone().requires_grad_() => x.requires_grad_() ;; (g,) = torch.autograd.grad(row @ v, x) => (row @ v).backward(); g = x.grad :: leaves a gradient in `x.grad`
        [j for j in range(len(x)) if g[j].abs().sum() > 0] => [bool(g[j].abs().sum() > 0) for j in range(len(x))] :: Those are True and False. Return the positions: `[j for j in ... if ...]`.
        [j for j in range(len(x)) if g[j].abs().sum() > 0] => len([j for j in range(len(x)) if g[j].abs().sum() > 0]) :: That is how many. Return *which*: a list of positions.
        [j for j => [j + 1 for j :: Positions are counted from 0.
        row @ v => row.prod() :: If one entry of the row is 0, the product is 0 and so are most of its slopes. Add the entries up, with unequal weights.
        f(x)[t] => f(x[: t + 1])[t] :: You pass nothing that comes later, so a leak cannot show. Pass all of `x`.
        f(x)[t] => f(x) :: That is the whole table. The question is about row `t`: `f(x)[t]`.
        f(x)[t] => f(x[t]) :: `f` needs all positions. Take the row of its *result*: `f(x)[t]`.
        range(len(x)) => range(t) :: Position `t` itself may be read as well, and a leak reads later ones: `range(len(x))`.
        range(len(x)) => range(t + 1) :: That only looks at what came before. A leak reads what comes *later*: `range(len(x))`.
        f(x)[t] => f(x)[:, t] :: `[:, t]` is a *column* of the output. Position `t` is a row: `f(x)[t]`.
        """),
]
