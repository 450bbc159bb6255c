"""Exercises of lesson 03, One node at a time: the backward of a square, a mean and a matrix product; a neuron by hand."""

from __future__ import annotations

import minigrad as torch

from .model import Exercise, Question
from .sheet import exercise, question


def square_backward(upstream, x):
    return upstream * 2 * x


def mean_backward(upstream, x):
    return upstream * torch.ones_like(x) / x.numel()


def matmul_backward(upstream, x, w):
    grad_x = upstream @ w.T
    grad_w = x.T @ upstream
    return grad_x, grad_w


def _square_cases() -> list[tuple]:
    return [
        (torch.tensor(1.0), torch.tensor(3.0)),
        (torch.tensor(5.0), torch.tensor(-4.0)),
        (torch.tensor(-2.0), torch.tensor(0.5)),
        (torch.tensor([1.0, 10.0, -1.0]), torch.tensor([3.0, -2.0, 0.5])),
    ]


def _mean_cases() -> list[tuple]:
    return [
        (torch.tensor(1.0), torch.tensor([[4.0, -2.0, 7.0]])),
        (torch.tensor(12.0), torch.tensor([1.0, 2.0, 3.0, 4.0])),
        (torch.tensor(-1.5), torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])),
        (torch.tensor(6.0), torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]])),
    ]


def _matmul_cases() -> list[tuple]:
    return [
        (
            torch.tensor([[1.0, 10.0, -1.0]]),
            torch.tensor([[2.0, 5.0]]),
            torch.tensor([[1.0, 0.0, 4.0], [-2.0, 3.0, 0.5]]),
        ),
        (
            torch.tensor([[1.0, -2.0], [0.5, 3.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
            torch.tensor([[0.0, 1.0], [-1.0, 5.0]]),
        ),
        (
            torch.tensor([[1.0, 0.0, -1.0, 2.0], [0.5, -3.0, 1.0, 1.0], [2.0, 1.0, 0.0, -1.0]]),
            torch.tensor([[1.0, -2.0], [3.0, 0.5], [0.0, 4.0]]),
            torch.tensor([[1.0, 2.0, 0.5, -1.0], [3.0, -1.0, 2.0, 0.0]]),
        ),
    ]


def _mean_of_product() -> tuple:
    """The lesson's own graph after its backward pass: (x, w)."""
    x = torch.tensor([[3.0, 6.0, 0.0, -3.0, 9.0]])
    w = torch.zeros(5, 3, requires_grad=True)
    (x @ w).mean().backward()
    return x, w


QUESTIONS: list[Question] = [
    question(r"""
        3.a what the mean of three numbers passes to each of them
        truth: 1 / 3
        found: Yes: each of the three numbers counts for one third of the mean, so each gets one third of what arrives.
        missed: Raise one of the three numbers by 0.3: the mean goes up by 0.1. The ratio is one third.

        1.0           :: 1 is what *arrives*. Raise one of the three numbers by 0.3: the mean goes up by 0.1 only.
        3.0           :: Each number is *divided* by 3 on its way into the mean, and so is what comes back.
        0.0           :: A zero would mean that the mean does not depend on that number. Change it: the mean moves.
        [1 / 3] * 3   :: right
        [[1 / 3] * 3] :: right
        "1/3"         :: right
        """),
    question(r"""
        3.b what x.grad holds after the backward pass
        truth: _mean_of_product()[0].grad
        found: Yes. `x` did not ask for a gradient, so none is computed. `None` is not a zero: it means that *nothing is there*.
        missed: `x` was made without `requires_grad`, so no gradient is computed for it at all: `x.grad` is `None`.

        0.0         :: A zero would be an answer: *z does not depend on x*. But it does. Nothing was computed, so `None`.
        [[0.0] * 5] :: Zeros would be an answer: *z does not depend on x*. But it does. Nothing was computed, so `None`.
        """),
    question(r"""
        3.c the gradient of the weight w[1, 0]
        truth: _mean_of_product()[1].grad[1, 0].item()
        found: Yes: what arrives at `y[0, 0]` is $1/3$, and the weight was multiplied by 6 on its way there. $6 \cdot 1/3 = 2$.
        missed: Two numbers are multiplied: $1/3$ arrives from the mean, and the weight is multiplied by `x[0, 1]` = 6.

        6.0   :: 6 is the local part. It still has to be multiplied by the $1/3$ that arrives from the mean.
        1 / 3 :: $1/3$ is what arrives. It still has to be multiplied by the 6 that the weight is multiplied by.
        1.0   :: 1 belongs to `w[0, 0]`, which is multiplied by `x[0, 0]` = 3. The first index of `w` chooses the entry of `x`.
        18.0  :: $6 \cdot 3$: but the mean passes on a third, not three times as much.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        3.1 the square
        solution: square_backward
        cases: _square_cases
        why: The local derivative of $x^2$ is $2x$. A node multiplies what arrives by it, and adds nothing of its own.
        shows: Upstream times local. The same line works for a number and for a whole tensor, entry by entry.
        look: What arrives is multiplied by *one* thing: the derivative of $x^2$.
        hint: What is the derivative of $x^2$? That is the *local* derivative.
        hint: `upstream` is already there. The blank is for the local derivative and nothing else.
        hint: Fill in `2 * x`.

        2 * x                  :: That is the local derivative alone. It is right only when 1.0 arrives: multiply it by `upstream`.
        upstream * x           :: That is half the right answer. $x^2$ is $x \cdot x$: both factors move when $x$ moves, so the local derivative is $2x$.
        upstream * x**2        :: That multiplies by the *value* of $x^2$. You need its derivative.
        upstream * 2           :: 2 is the slope of $2x$. The slope of $x^2$ depends on where $x$ is.
        upstream + 2 * x       :: Along a path gradients are *multiplied*: how much $y$ moves per unit of $x$, times how much $z$ moves per unit of $y$.
        (upstream + 2 * x) / 2 :: You took the mean of the two. Along a path nothing is averaged and nothing is added: what arrives *times* the local derivative.
        upstream               :: That passes on what arrives unchanged, as an addition does. The square has a local derivative: $2x$.
        x**2                   :: That is the forward pass once more. Backward multiplies what arrives by the local derivative.
        upstream * x / 2       :: The 2 of $x^2$ comes down as a *factor*: $2x$. It does not divide.
        upstream / (2 * x)     :: The local derivative is right, but you divide by it. What arrives is *multiplied* by it.
        upstream * 2 * x**2    :: The 2 is there, but the exponent goes down by one: the derivative of $x^2$ is $2x$.
        -upstream * 2 * x      :: The size is right, the sign is not: $x^2$ rises where $x$ is positive.
        upstream * 3 * x**2    :: $3x^2$ is the derivative of $x^3$. Here $x$ is squared.
        upstream**2 * 2 * x    :: It was `x` that was squared, on the way forward. `upstream` is one factor, as it is.
        upstream * 2 * abs(x)  :: `abs` does not belong there: where $x$ is negative, $x^2$ falls as $x$ rises, and its slope $2x$ is negative.
        abs(upstream) * 2 * x  :: `abs` does not belong there: what arrives may be negative, and it is multiplied in as it is.
        upstream * (x + 2)     :: The 2 of $2x$ is a factor: `2 * x`, not `x + 2`.
        upstream * 2 ** x      :: $2^x$ is another function. The local derivative of $x^2$ is *two times* $x$.
        upstream * 6           :: 6 is $2x$ at one particular $x$, at 3. Use `x`, whatever it is.
        return upstream * 2 * x => upstream *= 2 * x; return upstream :: Your function changes its input `upstream` in place
        upstream * x + 2            :: The 2 of $2x$ is a factor, not a term: `2 * x`.
        """),
    exercise(r"""
        3.2 the mean
        solution: mean_backward
        cases: _mean_cases
        why: Each of the $n$ entries counts for $1/n$ of the mean. So each gets $1/n$ of what arrives, in a tensor of the shape of `x`.
        shows: One number came in, and a whole tensor went out: a gradient always has the shape of what it belongs to.
        look: Every entry gets the same: what is its share of the mean, and what arrives?
        hint: What is the mean of `x` if one of its $n$ entries goes up by 1?
        hint: Every entry gets the same: `upstream` divided by the number of entries, `x.numel()`.
        hint: `torch.ones_like(x)` is a tensor of ones in the shape of `x`. Multiply it by that number.

        upstream / x.numel()                         :: The number is right, but it is *one* number. Each entry of `x` needs its own: give it the shape of `x`.
        torch.ones_like(x) / x.numel()               :: That is the local derivative alone, right only when 1.0 arrives. Where is `upstream`?
        upstream * torch.ones_like(x)                :: That is the backward of a *sum*. In a mean each entry counts for only $1/n$.
        upstream * x / x.numel()                     :: The values of `x` play no part: $x/n$ has the slope $1/n$, whatever $x$ is.
        upstream * torch.ones_like(x) / len(x)       :: `len(x)` counts the rows. The mean divides by the number of *entries*: `x.numel()`.
        upstream * torch.ones_like(x) / x.shape[-1]  :: `x.shape[-1]` counts the columns. The mean divides by the number of *entries*: `x.numel()`.
        torch.ones_like(x) / x.numel() + upstream    :: What arrives and the local derivative are *multiplied*, not added.
        upstream * torch.ones_like(x) * x.numel()    :: Each entry is *divided* by $n$ on its way into the mean, and so is what comes back.
        upstream * torch.ones_like(x) / x.sum()      :: You divide by the *sum* of the entries. A mean divides by their *number*, `x.numel()`.
        upstream * torch.ones_like(x) / 3            :: 3 is right for three entries. `x` may have a different number of them: `x.numel()`.
        upstream * x.mean()                          :: That runs the mean forward once more. Backward only needs to know how much each entry counts in it.
        upstream * torch.ones_like(x) / (x.shape[0] * x.shape[-1]) :: `x.shape[0] * x.shape[-1]` counts the entries only if there are two axes. `x.numel()` counts them whatever the shape.
        upstream * torch.ones_like(x) / max(x.shape) :: That divides by the longer side. The mean divides by the number of *entries*: `x.numel()`.
        abs(upstream) * torch.ones_like(x) / x.numel() :: `abs` does not belong there: what arrives may be negative, and is passed on with its sign.
        torch.ones(1, x.numel()) * upstream / x.numel() :: The numbers are right, but they are laid out as one row. A gradient has the shape of its tensor: `torch.ones_like(x)`.
        [upstream / x.numel()] * x.numel()           :: The numbers are right, but they are in a list. Return a tensor in the shape of `x`: `torch.ones_like(x)`.
        upstream * x / x.sum()                       :: That divides `upstream` according to how *large* each entry is. In a mean each counts the same, $1/n$.
        upstream * torch.ones_like(x) / x.numel() ** 0.5 :: You divide by the square root of $n$. Each entry counts for $1/n$ of a mean.
        x / x.numel()                                :: That is `x` divided by $n$. What should be divided is what *arrives*: `upstream`, the same for each entry.
        upstream * torch.ones_like(x) / x.numel() ** 2 :: You divide by the number of entries twice. Each counts for $1/n$ of the mean.
        upstream * torch.ones(1, 3) / 3              :: That is made for one row of three. `x` may have any shape: `torch.ones_like(x)` and `x.numel()`.
        x.mean() * torch.ones_like(x)                :: That is the mean itself. Backward, each entry gets $1/n$ of what arrives, `upstream`.
        upstream * torch.ones_like(x) / x.dim()      :: `x.dim()` is the number of axes. The mean divides by the number of *entries*: `x.numel()`.
        upstream * x.mean() * torch.ones_like(x)     :: You used the mean itself. That goes *forward*; backward, each entry gets $1/n$ of what arrives.
        """),
    exercise(r"""
        3.3 the matrix product
        solution: matmul_backward
        cases: _matmul_cases
        returns: ("grad_x", "grad_w")
        why: `y[i, j]` adds up `x[i, k] * w[k, j]` over $k$. So `w[k, j]` is multiplied by `x[i, k]`, and $\bar w = x^\top \bar y$; `x[i, k]` is multiplied by `w[k, j]`, and $\bar x = \bar y\, w^\top$. The shapes allow nothing else.
        shows: Each factor gets what arrived times *the other factor*, as with numbers. The transposes only make the shapes fit.
        look: Each factor gets what arrived times *the other factor*; let the shapes tell you where a transpose belongs.
        hint: With numbers, $y = x w$: the gradient of $x$ is `upstream * w`, that of $w$ is `upstream * x`. Here the pairs are the same.
        hint: `x` is (1, 2), `w` is (2, 3), `upstream` is (1, 3). Which product of `upstream` and `w.T` is (1, 2)?
        hint: The gradient of `w` must be (2, 3): a (2, 1) times a (1, 3). `x.T` is a (2, 1).

        (upstream @ w.T, upstream.T @ x)           :: The gradient of `w` came out transposed. `w` is (2, 3), so its gradient is (2, 3) too.
        (w.T, x.T)                                 :: These are the local parts. What arrived, `upstream`, has to be multiplied in.
        (upstream * w, upstream * x)               :: `*` works entry by entry. The forward was `@`, and so is its backward, with a transpose to make the shapes fit.
        (upstream @ w, x @ upstream)               :: Those are the right pairs, but for the shapes to fit, the other factor has to be transposed: `.T`.
        x.T @ upstream                             :: That is `grad_w`, and it is right.
        upstream @ w.T                             :: That is `grad_x`, and it is right.
        (None, x.T @ upstream)                     :: `grad_x` is `None`. Return a value for it.
        (upstream @ w.T, None)                     :: `grad_w` is `None`. Return a value for it.
        (upstream, upstream @ w.T, x.T @ upstream) :: It returns 3 values.
        {"x": upstream @ w.T, "w": x.T @ upstream} :: It returns a dictionary
        (upstream @ w.T, x.T @ upstream / len(x))  :: You averaged over the rows. Nothing is averaged: each row brings its part to `w`, and the product adds them up.
        (2 * upstream @ w.T, x.T @ upstream)       :: Nothing is doubled: there is one way from `x` to the result, and one from `w`.
        (w.T @ upstream, upstream @ x.T)           :: The order of the factors: `upstream` takes the place of the result. For `x` it is first, for `w` it is last.
        (upstream @ w.T, x.T)                      :: `grad_w` is the local part alone. What arrived, `upstream`, has to be multiplied in.
        (w.T, x.T @ upstream)                      :: `grad_x` is the local part alone. What arrived, `upstream`, has to be multiplied in.
        (upstream.sum() * w.T, upstream.sum() * x.T) :: You add up what arrived. Each entry of `upstream` goes its own way: use a matrix product, `@`, with a transpose.
        (upstream @ w.T / 2, x.T @ upstream / 2)   :: The gradient is not divided between the two inputs. Each gets its whole gradient.
        (upstream * w.sum(0), x.T @ upstream)      :: Each entry of `x` is multiplied by a whole *row* of `w`, and each column of `w` has its own entry of `upstream`: that is a product with `w.T`.
        (torch.ones_like(upstream) @ w.T, x.T @ torch.ones_like(upstream)) :: This ignores what arrives. It is right only when `upstream` is all ones.
        (w @ upstream.T, x.T @ upstream)           :: The gradient of `x` came out transposed. It has the shape of `x`: `upstream` first, then `w.T`.
        (upstream @ w.T, torch.outer(x[0], upstream[0])) :: That takes the first row of `x` only. There may be several rows, and each brings its part to `w`.
        (upstream[:1] @ w.T, x.T @ upstream)       :: Only the first row of `upstream` is used for `grad_x`. Each row of `x` gets its own.
        (abs(upstream) @ w.T, x.T @ abs(upstream)) :: `abs` does not belong there: what arrives may be negative, and is multiplied in with its sign.
        (-upstream @ w.T, -x.T @ upstream)         :: The sign is flipped. A product passes on what arrives times the other factor, with no minus.
        (upstream @ w.T, (x.T @ upstream).mean(0)) :: The products are right, but then `grad_w` is averaged. It has the shape of `w`: leave it whole.
        (upstream @ w.T, (x.T @ upstream).sum(0))  :: The products are right, but then `grad_w` is summed. It has the shape of `w`: leave it whole.
        """),
    exercise(r"""
        3.4 a neuron by hand
        solution:
            grad_a = 2 * (a - 1)            # 1.0 arrives, local 2 * (a - 1)
            grad_z = grad_a * a * (1 - a)   # sigmoid: local a * (1 - a)
            grad_b = grad_z                 # an addition: local 1
            grad_w = grad_z * x             # a product: the other factor
            x_grad = None                   # x did not ask
        rtol: 0.02
        setup: "w, b, x = torch.tensor([1.5]), torch.tensor([0.3]), torch.tensor([2.0]); a = torch.sigmoid(x * w + b)"
        why: Upstream times local, node by node: the power and the subtraction lead to `grad_a`, and each of the next three lines goes through one more node.
        shows: You have carried a gradient through five nodes. The machine does nothing else.
        look grad_a: Begin at the loss with 1.0: what is the derivative of $(a - 1)^2$ with respect to $a$?
        look grad_z: It is the line above, times the local derivative of the sigmoid.
        look grad_b: `b` was added: what does an addition do with what arrives?
        look grad_w: `w` was multiplied: by what, and what arrives there?
        look x_grad: Look at the line in which `x` is made, and follow its arrow in the picture.
        about grad_a: The derivative of $(a-1)^2$ with respect to $a$ is $2(a-1)$.
        about grad_z: Through the sigmoid: what arrives, times its local derivative $a(1-a)$.
        about grad_b: An addition passes on what arrives, unchanged.
        about grad_w: A product passes on what arrives times *the other* factor.
        about x_grad: `x_grad` is what `x.grad` will hold. Was `x` made with `requires_grad`?
        hint: Begin at the loss, where 1.0 arrives, and work your way back. Each line is the line above it, times one local derivative.
        hint: You have `a` and `x` as names: nothing has to be computed by hand.

        grad_w = 0 :: `w` moves $z$ wherever $x$ is not 0. Its gradient is what arrives at `z`, times $x$.
        grad_a = 2 :: 2 is only the factor: the derivative of $(a - 1)^2$ is $2(a - 1)$.
        0.071142, 0.0024406, 0.0024406, 0.0048812, None :: The size is right. $a$ is below 1, so $a - 1$ is negative: raising $a$ makes the loss *smaller*.
        -0.0355710, -0.0012203, -0.0012203, -0.0024406, None :: The 2 is missing: the derivative of $(a-1)^2$ is $2(a-1)$.
        0.00126530, -0.0024406, -0.0024406, -0.0048812, None :: That is the loss itself, $(a-1)^2$. You need its derivative.
        -0.071142, 0.0343057, 0.0343057, 0.0686114, None :: That is the local derivative $a(1-a)$ alone. What arrives, `grad_a`, has to be multiplied in.
        -0.071142, -0.0686114, -0.0686114, -0.1372228, None :: You multiply by $a$. The local derivative of the sigmoid is $a(1-a)$.
        -0.071142, -0.0024406, -0.00073218, -0.0048812, None :: $b$ is *added*, so it does not matter what its value is: raise it by 1 and $z$ goes up by 1.
        -0.071142, -0.0024406, 1.0, -0.0048812, None :: 1 is the local derivative of the addition. Multiply it by what arrives, `grad_z`.
        -0.071142, -0.0024406, -0.0024406, -0.0024406, None :: $w$ was multiplied by $x$ on its way in, so its gradient is multiplied by $x$ as well.
        -0.071142, -0.0024406, -0.0024406, -0.0036609, None :: You multiplied by $w$ itself. In a product each factor gets *the other* factor, here $x = 2$.
        grad_a = 1.0                                 :: 1.0 arrives at the loss. To get to `a` it goes through the square: times $2(a - 1)$.
        grad_a = 0.96443                             :: That is the *value* of `a`. How far does the loss move when `a` does? $2(a - 1)$.
        grad_a = -0.96443                            :: That is $-a$. The slope of $(a - 1)^2$ is $2(a - 1)$.
        grad_z = -0.23477                            :: You multiplied by $z = 3.3$. The local derivative of the sigmoid is computed from its *result*: $a(1 - a)$.
        grad_b = 1.5                                 :: 1.5 is `w`. `b` was added, so what arrives at it is what arrives at `z`.
        grad_b = -0.0048812                          :: You multiplied by `x`, or by 2. `b` was *added*: it gets what arrives, as it is.
        grad_w = -0.0073218                          :: You multiplied by `w` as well. A product gives each factor *the other one*, and only that: $x = 2$.
        grad_a = -2.0                                :: $2(a - 1)$ at $a = 0$ would be $-2$. What is `a`?
        grad_a = 1.92886                             :: That is $2a$. What is squared is $a - 1$.
        grad_z = -0.0012203                          :: That is half the right answer. What arrives is multiplied by $a(1 - a)$, and nothing is averaged or divided on the way.
        grad_z = -0.071142                           :: That is what arrives, passed on as it is. The sigmoid multiplies it by $a(1 - a)$.
        grad_z = -0.0025307                          :: You multiplied by $1 - a$ alone. The local derivative of the sigmoid is $a(1 - a)$.
        grad_b = -0.0012203                          :: An addition does not divide what arrives between its two inputs: both get all of it.
        grad_b = 0.0                                 :: A zero would mean that `b` does not matter. Raise it, and $z$ rises by as much.
        grad_w = 2.0                                 :: 2 is the local derivative of the product. Multiply it by what arrives, `grad_z`.
        grad_w = -0.0012203                          :: That is half of what arrives. Nothing is averaged: the product multiplies it by the other factor, $x = 2$.
        x_grad = -0.0024406                          :: `x` was made without `requires_grad`, so nothing is computed for it. What is in `x.grad` then?
        grad_w = None                                :: `w` asked for its gradient. It is a number.
        -0.071142, -0.0024406, -0.0024406, -0.0048812, -0.0036609 :: That would be the gradient of $x$, if it were asked for. `x` was made without `requires_grad`: what is in `x.grad`?
        -0.071142, -0.0024406, -0.0024406, -0.0048812, 0.0 :: A zero would mean that the loss does not depend on $x$. Nothing is computed for it, not even a zero.
        grad_a = 0.0025306                           :: That is twice the *loss*, $2(a - 1)^2$. The derivative of $(a - 1)^2$ is $2(a - 1)$, without the square.
        grad_z = 0.53997                             :: You computed $z(1 - z)$. The sigmoid's local derivative is computed from its *result*: $a(1 - a)$.
        grad_z = -0.0049712                          :: $1 - a^2$ belongs to the tanh. For the sigmoid it is $a(1 - a)$.
        """),
    exercise(r"""
        3.5 ask for x as well
        solution:
            answer = "c"
        why: To give `x` a gradient the node needs `w`, so now it keeps `w`, and `x.grad` is filled. What goes to `w` is $x^\top \bar y$ as before: the two inputs do not compete.
        shows: What is computed, and what is kept for it, depends on which tensors ask. What `w` gets does not.
        hint: Do it: make `x` with `requires_grad=True`, run forward and backward, print `w.grad`, `x.grad` and `y.grad_fn._saved_mat2`.
        hint: Print `_saved_mat2` *before* the backward pass: afterwards it is freed.

        "a" :: The gradient of `w` is $x^\top \bar y$, and nothing in that has changed. Run it and compare.
        "b" :: `x.grad` is filled, that much is right. But which tensor does $\bar y\, w^\top$ need that was not kept before?
        "d" :: Two things happen. Run it with `requires_grad=True` and print `x.grad`.
        """),
]
