"""Exercises of lesson 05, .grad adds up: `.grad` after passes and resets, micro-batches, a gradient in the middle, None or zero, a second pass, a state."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import minigrad as torch

from .answers import letters
from .bytecode import CALLED, NAMED, SET, given_anew, uses
from .lessons import find_exercise
from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import GRAD, VALUES, unchanged

SECOND = {
    "a": lambda x: (x + 1).sum(),
    "b": lambda x: (x * x).sum(),
    "c": lambda x: (x * 3).sum(),
    "d": lambda x: x.mean(),
    "e": lambda x: torch.sigmoid(x).sum(),
    "f": lambda x: (x - x).sum(),
}
"""The lines of exercise 5.5."""


def _refuses_a_second_pass(f) -> bool:
    loss = f(torch.tensor([2.0, 3.0], requires_grad=True))
    loss.backward()
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


RAISING = [letter for letter, f in SECOND.items() if _refuses_a_second_pass(f)]


def accumulate(w, xs, ts):
    for x, t in zip(xs, ts, strict=True):
        loss = ((w * x - t) ** 2).mean()
        (loss * (1 / len(xs))).backward()


def gradient_in_the_middle(y, z):
    y.retain_grad()
    z.backward()
    return y.grad


def _pieces(accumulate) -> Iterator[tuple]:
    """w.grad after the learner's loop, for several ways to cut a batch into pieces."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0])
    t = torch.tensor([3.0, 3.0, 7.0, 8.0, 9.0, 13.0, 14.0, 17.0, 18.0, 22.0, 21.0, 26.0])
    for numbers, pieces in ((12, 4), (12, 3), (12, 1), (8, 2), (12, 6)):
        w = torch.tensor(1.0, requires_grad=True)
        passes: list = []
        w.register_hook(passes.append)
        size = numbers // pieces
        cuts = [slice(start, start + size) for start in range(0, numbers, size)]
        xs, ts = [x[cut] for cut in cuts], [t[cut] for cut in cuts]
        with unchanged({"w": {GRAD}}, w=w, xs=xs, ts=ts):
            accumulate(w, xs, ts)
        case = f"{numbers} numbers in {pieces} piece{'s' * (pieces > 1)}"
        yield f"w.grad after {case}", w.grad
        if w.grad is None or abs(w.grad.item() - (2 * (x - t) * x)[:numbers].mean().item()) > 0.01:
            yield f"Backward passes for {case}", float(len(passes))
        if w.grad is not None and len(passes) != pieces:
            raise Complaint(
                f"The number is right, but {len(passes) or 'no'} backward pass{'es' * (len(passes) != 1)} ran for {pieces} pieces. "
                "Only one piece at a time fits into memory: run a pass for each, and `.grad` adds up."
            )


ASKS_ALREADY = (
    "`{}` asks for a gradient to be computed. The gradient of `y` is computed already, but `y` is not a leaf, so nothing keeps it: "
    "call `y.retain_grad()` before the pass."
)
KEPT_BACK = {
    "retain_grad": {
        CALLED: "`y.retain_grad()` must be called *before* the backward pass: when you called it, the gradient was already gone.",
        SET: "`y.retain_grad = True` overwrites the method with a value that nothing reads. Call the method.",
        NAMED: "`y.retain_grad` without brackets only names the method. Call it.",
    },
    "retain_graph": {
        NAMED: "`retain_graph` keeps the *saved values* for another pass. It keeps no gradient in the middle."
    },
    "requires_grad_": {CALLED: ASKS_ALREADY.format("requires_grad_")},
    "requires_grad": {SET: ASKS_ALREADY.format("requires_grad")},
    "detach": {
        CALLED: "`detach()` gives another tensor, without a history. `z` was computed from `y` itself, earlier, and has no connection to it."
    },
    "clone": {CALLED: "A clone made now is not what `z` was computed from. The gradient reaches `y` itself."},
}
"""Exercise 5.3: the replies if y.grad is empty afterwards, by the names that the learner's code uses and how it uses them."""


def _middle(function) -> Iterator[tuple]:
    """What the function returns, and what is in the leaf afterwards, on three graphs."""
    for value, after in ((2.0, lambda y: y * 5), (3.0, lambda y: y + 3), (1.5, lambda y: y * y)):
        x = torch.tensor([value], requires_grad=True)
        y = x * x
        z = after(y)
        begun: list = []
        z.register_hook(begun.append)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from reading the .grad of a non-leaf: the advice mentions it
            returned = function(y, z)
            if (returned is None or not begun) and (anew := given_anew(function)):
                raise Complaint(
                    f"Your function gives the name `{anew[0]}` to another tensor. The one that was passed in, which the graph of "
                    "`z` leads to, is then out of reach: use it as it is."
                )
            if returned is None and y.grad is not None:
                raise Complaint(
                    "`y.grad` is there now, but the function does not return it. End it with `return y.grad`."
                )
            if returned is None:
                raise Complaint(_why_not_kept(function, x, y, z))
            if not begun:
                raise Complaint(
                    "No pass has begun at the `z` that was passed in. `y.backward()` begins at `y` (and gives a 1, as "
                    "always), and a `z = ...` inside your function makes another `z`."
                )
        yield "It returns", returned
        yield "and x.grad is", x.grad


def _why_not_kept(function, x, y, z) -> str:
    used = uses(function)
    if x.grad is None:
        if "retain_grad" in used:
            return "You asked for it, but no pass has run. The pass has to begin at `z`."
        return "No backward pass has run, so no gradient has arrived anywhere. The pass has to begin at `z`."
    if z.retains_grad and not y.retains_grad:
        return "You have asked `z` to keep its gradient. You need the gradient of `y`: `y.retain_grad()`."
    for name, replies in KEPT_BACK.items():
        if how := next((how for how in replies if how in used.get(name, ())), ""):
            return replies[how]
    return "A pass has run, and `y.grad` is `None`: `y` is not a leaf, so its gradient was used and then freed. Ask for it before the pass."


def _letters(answer) -> Iterator[tuple]:
    chosen = set(letters(answer, "".join(SECOND), "raising"))
    if chosen != set(RAISING) and chosen not in (set(wrong.answer) for wrong in find_exercise("5.5").wrong):
        right = sum((letter in chosen) == (letter in RAISING) for letter in SECOND)
        raise Complaint(
            f"You have judged {right} of the six lines correctly. Write down the rule of each: does it need a value?"
        )
    yield "You say that these raise", sorted(chosen)


def _twice() -> float:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w * 3).sum().backward()
    (w * 3).sum().backward()
    return w.grad[0].item()


def _second_step_uncleared() -> float:
    w = torch.tensor(5.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.3)
    for _step in range(2):
        (w * w).backward()
        optimizer.step()
    return w.item()


def train(w, xs, lr):
    h = torch.tensor(0.0)
    for x in xs:
        h = torch.tanh(w * h.detach() + x)
        loss = (h - 1) ** 2
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
    return h


def _reading(train) -> Iterator[tuple]:
    """The state and the weight after the learner's loop, on two texts."""
    for xs, lr in (([0.3, -0.2, 0.4], 0.1), ([0.5, 0.5, -1.0, 0.2, 0.1], 0.05)):
        w = torch.tensor(0.5, requires_grad=True)
        with unchanged({"w": {VALUES, GRAD}}, w=w, xs=xs):
            h = train(w, xs, lr)
        yield f"The last state after {len(xs)} iterations", h.detach() if isinstance(h, torch.Tensor) else h
        yield f"w after {len(xs)} iterations", w.detach()


QUESTIONS: list[Question] = [
    question(r"""
        5.a w.grad after the second pass
        truth: _twice()
        found: Yes: the 3 from the first pass is still there, and another 3 arrives.
        missed: The first pass left 3, and the second brings 3. They add up to 6.

        3.0        :: That would be true if `backward()` replaced what is there. It adds.
        0.0        :: Nothing clears `.grad` between two passes. What the first one has left there stays.
        9.0        :: Within a pass, slopes along a path multiply. Two passes *add* what they bring: $3 + 3$.
        1.5        :: Nothing is averaged. The parts are added.
        12.0       :: A pass brings the *slope*, 3. What is there already does not change the slope.
        [6.0, 6.0] :: right
        """),
    question(r"""
        5.b four small passes instead of one large one
        truth: "b"
        found: Yes: each `mean()` divides by 2 where the full batch divides by 8, and the four are added.
        missed: It is **b**: four means, each divided by 2 only, are added up.

        "a" :: Some tutorials say so. It would be right with `sum()`. But each `mean()` divides by its own 2, where the full batch divides by 8.
        "c" :: It is the other way round: four means are added, and none of them was divided by four.
        "d" :: That would be true if each pass replaced what is there. It adds.
        """),
    question(r"""
        5.c the second step of a loop that forgets to clear
        truth: _second_step_uncleared()
        found: Yes: `w.grad` is $10 + 4 = 14$, and $2 - 0.3 \cdot 14 = -2.2$.
        missed: `.grad` holds $10 + 4 = 14$, so the step leads to $2 - 0.3 \cdot 14 = -2.2$.

        0.8  :: That is the loop *with* clearing: $2 - 0.3 \cdot 4$. Without it, the 10 from the first step is still in `.grad`.
        -1.0 :: $2 - 0.3 \cdot 10$ uses the old gradient alone. The new one, 4, is added to it.
        2.0  :: There is a gradient at 2, and also the old one: $10 + 4$.
        -0.1 :: That takes the mean of the two gradients, $(10 + 4)/2$. They are not averaged in `.grad`: they are added.
        6.2  :: The size is right. A step goes *against* the gradient: minus.
        """),
    question(r"""
        5.d a second backward through the same x * x
        truth: "c" if _refuses_a_second_pass(SECOND["b"]) else "a"
        found: Yes: the rule of the product needs the values of its factors, and the first pass has freed them.
        missed: It is **c**: the value that the rule of the product needs was freed by the first pass.

        "a" :: If the second pass could run, `x.grad` would be 8. But the product's rule needs the value 2, and the first pass has freed it.
        "b" :: The second call is not simply ignored: the value that the rule needs is gone, and the machine says so.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        5.1 four sequences
        solution:
            first = 3 + 3 + 2    # three passes add up; the slope of w * w at 1 is 2
            second = None        # cleared, and nothing came after
            third = 0 + 2        # zeroed in place, then 2 arrives
            fourth = 2 + 2       # the same graph, walked twice
        why: Go line by line: a pass adds its slope to `w.grad`, `None` empties it, `zero_()` sets it to 0.
        shows: For `.grad` it makes no difference whether the second pass goes through a new graph or an old one.
        look first: Write down what is in `w.grad` after each of the three lines.
        look second: What does the second line do to `w.grad`?
        look third: What is in `w.grad` after `zero_()`, and what comes next?
        look fourth: What does each of the two passes bring?
        about first: Three passes, and nothing is cleared in between.
        about second: After `w.grad = None` there is nothing in it: the answer is `None`.
        about third: `zero_()` sets `w.grad` to 0. Then there is one more pass.
        about fourth: `retain_graph=True` lets the second call run. What does that call do to what the first has left?
        hint: Go line by line and write down what is in `w.grad` after each.
        hint: The slope of `w * 3` is 3, that of `w * w` at $w = 1$ is 2.

        first = 0.0          :: Nothing is set to zero here: every line is a backward pass that brings its slope.
        first = 1.0          :: 1 is the value of `w`. What counts is what each pass adds to `w.grad`.
        first = 16.0         :: Every pass is counted twice. Three lines, three passes.
        third = 4.0          :: One pass comes after `zero_()`, and you count it twice.
        third = 2 / 3        :: You divide by three. Nothing is averaged: what came before `zero_()` is gone, what comes after stays.
        fourth = 0.0         :: No line clears `w.grad`, and two passes ran.
        2.0, None, 2.0, 4.0  :: That is the last pass alone. Those before it are still in `w.grad`.
        3.0, None, 2.0, 4.0  :: That is one pass. There are three, and nothing is cleared in between.
        9.0, None, 2.0, 4.0  :: Look at the third pass: the slope of `w * w` at 1 is 2, not 3.
        7.0, None, 2.0, 4.0  :: The slope of $w^2$ is $2w$: at 1 it is 2. (1 is the value.)
        8.0, 0.0, 2.0, 4.0   :: `w.grad = None` leaves nothing, not a zero. The optimizer would see the difference.
        first = 8 / 3        :: That is 8 divided by the three passes. Nothing is averaged: each pass *adds* what it brings.
        first = 18.0         :: Within a pass slopes multiply. Three passes add what they bring.
        first = 6.0          :: That is two of the passes. The third brings the slope of `w * w`.
        first = 5.0          :: That is two of the passes. There are two through `w * 3`, and one through `w * w`.
        first = 4.0          :: Three passes: 3 comes twice, and the slope of `w * w` once. Add up all three.
        first = None         :: Nothing clears `w.grad` here, and three passes have added to it.
        third = 2.5          :: Nothing is averaged. `zero_()` clears `w.grad`, and one pass comes after.
        third = 0.0          :: `zero_()` sets `w.grad` to 0, and then a pass comes after it.
        third = None         :: `zero_()` fills the tensor with zeros; it does not remove it. And a pass comes after it.
        third = 3.0          :: The 3 was there before `zero_()`. What comes after it?
        third = 1.0          :: 1 is the value of `w * w`. Its slope, $2w$, is 2 at 1.
        fourth = 1.0         :: 1 is the value of the loss. Its slope is 2, and two passes ran.
        fourth = 3.0         :: The first pass brings 2, and so does the second: it is the same graph.
        fourth = 8.0         :: Two passes bring 2 each. Nothing is multiplied between passes.
        second = 1.0         :: 1 is the value of `w`. What does the second line leave in `w.grad`?
        fourth = "error"     :: Without `retain_graph=True` the second call would raise. With it, it runs: what does it bring?
        fourth = 6.0         :: The slope of `w * w` at 1 is 2, not 3. Two passes bring it.
        third = 6.0          :: `zero_()` has set `w.grad` to 0. After it, one pass brings the slope of `w * w`.
        second = 6.0         :: There is one pass, and then `w.grad` is cleared.
        8.0, 3.0, 2.0, 4.0   :: The second line takes the 3 away again.
        8.0, None, 5.0, 4.0  :: `zero_()` has set `w.grad` to 0 before the second pass.
        8.0, None, 2.0, 2.0  :: `retain_graph=True` keeps the values for a second pass, and this one adds 2 as well.
        8.0, None, 2.0, None :: The second call would raise without `retain_graph=True`. With it, it runs.
        """),
    exercise(r"""
        5.2 micro-batches
        solution: accumulate
        probe: _pieces
        why: The mean over everything is the mean of the pieces' means, if all pieces are equally long. So each counts for `1 / len(xs)`.
        shows: In 4 pieces, in 3 or in one: the same gradient. This is how to train on a batch that does not fit into memory.
        look: After the loop, `w.grad` is what one pass over the whole batch would leave: each piece contributes its share.
        hint: Without the factor, the means of the pieces are *added*. What must each be multiplied by, so that the sum becomes the mean of the whole batch?
        hint: How many pieces are there? It is the length of one of the arguments.
        hint: Fill in `1 / len(xs)`.

        zip(xs, ts, strict=True) => [(x, t) for x in xs for t in ts] :: Each piece is compared with the targets of *all* pieces. Go through both together: `zip(xs, ts)`.
        loss = ((w * x - t) ** 2).mean() => ((w * x - t) ** 2).mean().backward() ;; (loss * (1 / len(xs))).backward() => :: Each piece counts in full, so with $n$ pieces the gradient is $n$ times as large. Scale each loss.
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).mean() / 4).backward() ;; (loss * (1 / len(xs))).backward() => :: For four pieces that is right. There may be a different number of them: `len(xs)`.
        loss = ((w * x - t) ** 2).mean() => ;; (loss * (1 / len(xs))) => (((w * x - t) ** 2).mean() / len(x)) :: `len(x)` is the length of *one* piece, and its `mean()` has taken care of that. What counts is how many pieces there are.
        loss = ((w * x - t) ** 2).mean() => ;; (loss * (1 / len(xs))) => (((w * x - t) ** 2).mean() / (len(xs) * len(x))) :: That divides by the length of a piece a second time. Its `mean()` has already done that.
        loss = ((w * x - t) ** 2).mean() => ;; (loss * (1 / len(xs))) => (((w * x - t) ** 2).mean() * len(xs)) :: That makes it larger still. Each piece is only a part of the whole: *divide* by their number.
        loss = ((w * x - t) ** 2).mean() => w.grad = None ;; (loss * (1 / len(xs))) => (((w * x - t) ** 2).mean() / len(xs)) :: Only the last piece is left: `.grad` was cleared inside the loop. Here you want it to add up.
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).mean() * 0.5).backward() ;; (loss * (1 / len(xs))).backward() => :: For two pieces that is right. There may be a different number of them: `len(xs)`.
        loss = ((w * x - t) ** 2).mean() => ;; (loss * (1 / len(xs))).backward() => return (((w * x - t) ** 2).mean() / len(xs)).backward() :: Only the first piece has been through a pass. Is there a `return` or a `break` inside the loop?
        [((w * x - t) ** 2).mean() / len(xs) for x, t in zip(xs, ts, strict=True)] :: `w.grad` is empty: no backward pass has run.
        (loss * (1 / len(xs))).backward() => total = loss / len(xs) + (0.0 if x is xs[0] else total); total.backward() :: The loss still contains the graph of the last iteration: `total` brings it in. Go backward from the loss of *this* piece alone.
        losses = [((w * x - t) ** 2).mean() / len(xs) for x, t in zip(xs, ts, strict=True)]; sum(losses).backward() :: The number is right, but 1 backward pass ran for 4 pieces.

        parts = [(2 * (w.detach() * x - t) * x).mean() for x, t in zip(xs, ts, strict=True)]
        w.grad = sum(parts) / len(parts) :: The number is right, but no backward passes ran for 4 pieces.

        for x, t in zip(xs, ts, strict=True):
            (((w * x - t) ** 2).mean() / len(xs)).backward()
        w.grad = w.grad / len(xs) :: You average *twice*: each loss is scaled, and then `w.grad` is divided as well.

        (loss * (1 / len(xs))).backward() => loss.backward(); w.grad = w.grad / len(xs) :: That divides `w.grad` after each piece, so the first pieces are divided again and again. Scale each loss, or divide once, after the loop.
        mean() => mean() / len(xs) ;; (loss * (1 / len(xs))).backward() => << loss.backward() :: `backward()` comes after the loop, so one pass ran, for the last piece alone. Indent it: one pass for each piece.
        (loss * (1 / len(xs))).backward() => << loss.backward() :: `backward()` comes after the loop, so one pass ran, for the last piece alone. Indent it, and scale each loss by the number of pieces.
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).mean() / len(xs)).backward() ;; (loss * (1 / len(xs))).backward => w.grad.zero_ :: Each gradient is set to 0 again as soon as it has arrived, so nothing is left. Here you want `.grad` to add up.
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).mean() / len(xs)).backward() ;; (loss * (1 / len(xs))).backward() => w.grad = None :: Each gradient is thrown away as soon as it has arrived, so nothing is left. Here you want `.grad` to add up.
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).sum() / len(xs)).backward() ;; (loss * (1 / len(xs))).backward() => << return :: `sum()` adds up the squares of a piece and does not divide by their number. Use `mean()`, and then scale by the number of pieces.
        zip(xs, ts => zip(xs[:4], ts[:4] :: Only the first four pieces have been through a pass. Go through all of `xs`.
        (loss * (1 / len(xs))).backward() => (loss * (1 / len(xs))).backward(); w.data = w.data - 0.01 * w.grad :: Your function changes its input `w` in place
        loss = ((w * x - t) ** 2).mean() => (((w * x - t) ** 2).sum() / 12).backward() ;; (loss * (1 / len(xs))).backward() => :: 12 is right for one batch. The total number of entries varies: take `mean()`, and divide by `len(xs)`.
        zip(xs, ts => zip(ts, xs :: Inputs and targets are swapped: it should be `zip(xs, ts)`.
        loss = ((w * x - t) ** 2).mean() => ;; (loss * (1 / len(xs))) => ((w * x - t).mean() / len(xs)) :: The differences are not squared.
        ((w * xs[0] - ts[0]) ** 2).mean().backward() :: Only the first piece has been through a pass. Go through all of them, and scale each loss.
        sum(((w * x - t) ** 2).sum() for x, t in zip(xs, ts, strict=True)).backward() :: One pass over the sum of all squares: that is not the gradient of the mean, and it needs all pieces at once. Run a pass for each piece, with each loss scaled.
        (loss * (1 / len(xs))).backward() => w.grad = None; (loss / len(xs)).backward(); w.grad = w.grad * len(xs) :: `.grad` is cleared inside the loop, so only the last piece is left, and multiplying it does not bring the others back. Let `.grad` add up.
        """),
    exercise(r"""
        5.3 the gradient in the middle
        solution: gradient_in_the_middle
        probe: _middle
        why: `retain_grad()` asks the tensor to keep its gradient when it arrives. So it has to be called before the pass.
        shows: You have the gradient of `y`, and the leaf has its own as always: one pass gave both.
        hint: `y` is not a leaf, so its gradient is freed, unless you ask for it before the pass.
        hint: Three lines: ask, run the pass of `z`, return `y.grad`.
        hint: Ask with `y.retain_grad()`.

        y.retain_grad() => z.backward(); y.retain_grad() ;; z.backward() => :: `y.retain_grad()` must be called *before* the backward pass
        retain_grad() => backward(retain_graph=True) :: `retain_graph` keeps the *saved values* for another pass.
        z.backward() => :: You asked for it, but no pass has run.
        y.retain_grad => z.retain_grad :: You have asked `z` to keep its gradient.
        y.retain_grad() => :: A pass has run, and `y.grad` is `None`
        retain_grad() => retain_grad :: `y.retain_grad` without brackets only names the method
        y.retain_grad() => y.retain_grad = True :: `y.retain_grad = True` overwrites the method with a value
        retain_grad() => requires_grad_(True) :: `requires_grad_` asks for a gradient to be computed
        retain_grad => detach :: `detach()` gives another tensor, without a history.
        y.grad :: No backward pass has run, so no gradient has arrived anywhere.
        z.backward => y.backward :: No pass has begun at the `z` that was passed in.
        y.retain_grad() => y.retain_grad(); y.backward(retain_graph=True) :: Two passes have run, and their gradients add up, in the middle as well as in the leaf. The pass from `z` is enough.
        y.retain_grad() => z.backward(retain_grad=True) ;; z.backward() => :: `backward` has no argument `retain_grad`. It is a method of the tensor: `y.retain_grad()`, before the pass.
        y.grad => y :: That is `y` itself. Its gradient is in `y.grad`.
        y.retain_grad => z.retain_grad ;; return y.grad => return z.grad :: That is the gradient of `z` with respect to itself. You need that of `y`.
        torch.autograd.grad(z, y)[0] :: The number is right. But this way nothing reaches the leaf, and the check looks at `x.grad` too. Use `retain_grad()` and `backward()`.
        y.grad => z :: That is `z` itself. The gradient of `y` is in `y.grad`.
        """),
    exercise(r"""
        5.4 nothing, or zero
        solution:
            with_none = 4.0                    # no gradient: the weight is skipped
            with_zeros = 4.0 - 0.1 * 0.9 * 10  # velocity 0.9 * 10 + 0 = 9
            no_momentum = 4.0 - 0.1 * 0        # no memory, and a zero moves nothing
        why: An optimizer skips a weight whose gradient is `None`. A zero is a gradient: the velocity becomes $0.9 \cdot 10 + 0 = 9$, and the weight moves on by 0.9.
        shows: `None` and zero differ as soon as the optimizer has a memory. Without one they have the same effect.
        look with_none: What does the optimizer do with a weight that *has* no gradient?
        look with_zeros: Put a gradient of 0 into the formula: first the velocity, then the weight.
        look no_momentum: Without a velocity the step is `lr` times the gradient. What is the gradient?
        hint: `None` means that the weight *has* no gradient. What does the optimizer do with such a weight?
        hint: With a zero the formula is applied. What is the velocity, if it was 10 and the gradient is 0?
        hint: The velocity becomes 9, and $w$ moves by $0.1 \cdot 9$, downwards.

        with_zeros = 2.1   :: That is a velocity of 19: the old gradient, 10, is counted once more. It has been set to zero.
        with_none = 0.0    :: It is the *gradient* that is missing. A weight that is skipped stays where it is.
        with_zeros = 4.1   :: The weight keeps moving down, by `lr` times the *velocity*, which is 0.9 times the old one.
        with_none = 3.0    :: That would be the first step once more. With no gradient there, the weight is skipped.
        with_none = 3.55   :: Nothing is averaged or halved: a weight whose gradient is `None` is skipped.
        with_zeros = 3.55  :: That is half of the step. The velocity is $0.9 \cdot 10 + 0$, and $w$ moves by 0.1 of it.
        with_zeros = 3.19  :: 0.9 was multiplied in twice: the velocity is 9, and $w$ moves by $0.1 \cdot 9$.
        with_zeros = 9.0   :: 9 is the velocity. The weight was at 4 and moves by `lr` times that.
        with_zeros = 0.9   :: 0.9 is how far the weight moves, downwards. Where was it before?
        with_zeros = 13.0  :: The velocity, 9, was added to the weight. Subtract it, multiplied by `lr`, 0.1.
        with_zeros = -5.0  :: The velocity is 9, but $w$ moves by `lr` times that, 0.1.
        with_zeros = None  :: It is the *gradient* that was cleared. The weight still has a value.
        with_zeros = 0.0   :: It is the *gradient* that is 0. The weight was at 4 and moves on from there.
        no_momentum = 5.0  :: The first step has been taken, whatever is cleared.
        no_momentum = 0.0  :: It is the *gradient* that is 0. Where is the weight?
        no_momentum = None :: The weight has a value, whatever its gradient is.
        3.1, 3.1, 4.0      :: With `None` the weight is skipped: neither velocity nor step.
        0.0, -0.9, 0.0     :: That is how far $w$ moves. Where does it end up? It was at 4.
        None, 3.1, 4.0     :: It is the *gradient* that is `None`. The weight keeps its value.
        5.0, 3.1, 4.0      :: The first step is not undone. `w` is at 4.
        4.0, 4.0, 4.0      :: A zero is a gradient too: the formula is applied, and the velocity of the first step carries on.
        4.0, 3.0, 4.0      :: Nine tenths of the old velocity are left, not all of it.
        4.0, 4.9, 4.0      :: The size is right. The step continues in its old direction, downwards.
        4.0, 3.9, 4.0      :: The velocity is the 10 of the first step, not 1. What is left of it is 9.
        4.0, 3.1, 3.1      :: Without momentum there is no velocity: only the gradient counts, and it is 0.
        4.0, 3.1, 3.0      :: That repeats the first step, but its gradient has been cleared.
        """),
    exercise(r"""
        5.5 which second pass raises?
        solution: f"raising = {RAISING}".replace("'", '"')
        names: ("raising",)
        probe: _letters
        why: `x * x` keeps its factors, `x * 3` keeps the 3, the sigmoid keeps its result. Additions, subtractions, sums and means need no value, at most a shape or a number of entries, and that is never freed.
        shows: From their rules you have worked out what six graphs keep. A graph that keeps nothing can be walked again.
        hint: Write down the rule of each: what does it multiply the gradient by?
        hint: A product multiplies by *the other factor*. So that has to be kept, even if it is a plain 3.
        hint: A mean divides by the number of entries: a property of the shape, not a saved value. Try the others in a cell of your own.

        ["b", "e"]      :: One is missing. For `x`, the rule of `x * 3` is *what arrives times 3*: that 3 is kept, and freed like any other value.
        ["b", "c"]      :: One is missing. The derivative of the sigmoid is written in terms of one value, and lesson 3 showed that its node keeps it.
        ["b"]           :: `x * x` is one of them. But other rules need a value too: what do you multiply by in the others?
        ["c", "e"]      :: One is missing: the rule of `x * x` is *what arrives times the other factor*.
        list("bcde")    :: One is too many. A mean divides by the number of entries. That is not a tensor, and it is not freed.
        list("bcef")    :: One is too many. A subtraction passes on what arrives, once as it is and once with a minus. No value of `x` is needed.
        list("abce")    :: One is too many. An addition passes on what arrives as it is, whatever the 1 is.
        list("abcdef")  :: Not all. A graph can be walked again if none of its rules needs a value: think of `x + y` in the lesson.
        []              :: Some do: a product's rule needs *the other factor*, and that was freed.
        """),
    exercise(r"""
        5.6 carry the number, not the graph
        solution: train
        probe: _reading
        why: `h.detach()` is the old state without its history. So each iteration has its own graph, six functions long, and the walk never reaches a node whose saved values have been freed.
        shows: Each iteration walks its own graph. The state is carried over as a number, the past is not: this is how recurrent networks are trained on long texts.
        look: Only the old state should be changed: you need its number, not its history.
        hint: Which tensor from the previous iteration is used in this one? You need its number, not the graph behind it.
        hint: Which method gives the same values without their history?
        hint: Fill in `h.detach()`.

        h.detach() => x                       :: `x` is in that line already. What is missing is the old state, `h`, as a number.
        h.detach() => 1.0                     :: The state is gone: `w` is multiplied by 1 each time. The *number* in `h` should be carried over.
        h = torch.tanh(w * h.detach() + x) => with torch.no_grad(): h = torch.tanh(w * h + x) :: This iteration is not recorded, so there is nothing to walk: `no_grad` is around it, or `w` is cut off as well (`w = w - ...` under `no_grad` makes a `w` that requires no gradient; `w -= ...` changes `w` itself). Only the *old* state should be cut off.
        w.grad = None =>                      :: The gradients of earlier iterations are still in `w.grad`, and the new one is added to them. Clear it before each pass: `w.grad = None`.
        w.grad = None => w.grad = None ;; with torch.no_grad(): => if True: ;; w -= lr * w.grad => w = w - lr * w.grad :: The `.grad` in that line is `None`. Is it the `.grad` of `w`? And `w = w - ...` makes a *new* tensor, which is a result, not a leaf, and gets no `.grad`: write into `w` itself, under `no_grad`.
        w -= lr * w.grad => w += lr * w.grad  :: The step goes *up* the slope. To make the loss smaller, go against the gradient: `-=`.
        with torch.no_grad(): => << ;; w -= lr * w.grad => << :: Only one step was taken, after the loop. Each iteration has its own step: indent it.
        return h => >>                        :: Only one iteration has run. Is the `return` inside the loop?
        xs: => xs[:3]:                        :: Three is right for one text. Go through all of `xs`, however long it is.
        w -= lr * w.grad => w -= 0.1 * w.grad :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.
        h.detach() => h ;; loss.backward() => loss.backward(retain_graph=True) :: With `retain_graph=True` all old graphs are kept. But `w` has moved since, and what they have kept belongs to the old `w`. Cut the graph instead: carry over the number alone.

        for turn in range(len(xs)):
            h = torch.tensor(0.0)
            for x in xs[: turn + 1]:
                h = torch.tanh(w * h + x)
            w.grad = None
            ((h - 1) ** 2).backward()
            with torch.no_grad():
                w -= lr * w.grad
        return h :: This runs the whole past again in each iteration. The gradient is right, but each iteration walks through all of the past. Here the old state should be a constant.
        instead of h.detach():
        0.0                                   :: The state is gone: each iteration begins from nothing. Its *number* should be carried over.
        h                                     :: `h` brings in the graph of the last iteration, and a pass has already freed what that graph kept. (A `clone` brings it in as well: it is recorded like any operation.) Carry over only its number.
        h.requires_grad_(False)               :: `h` is a result, not a leaf: its flag cannot be changed. Detach it from its history.
        """),
]
