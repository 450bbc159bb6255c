"""Exercises of lesson 14, The NaN hunt: arithmetic with inf and nan, two uses of where, a detector, three patients, logarithms, a direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import minigrad as torch

from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question


def safe_sqrt(x):
    inside = torch.where(x > 0, x, 1.0)
    return torch.where(x > 0, torch.sqrt(inside), 0.0)


def first_bad(loss):
    found, seen = [], set()

    def listen(node):
        seen.add(node)

        def hook(leaving, arrived):
            if any(g is not None and not torch.isfinite(g).all() for g in leaving):
                found.append(node.name())

        node.register_hook(hook)
        for following, _place in node.next_functions:
            if following is not None and following not in seen:
                listen(following)

    listen(loss.grad_fn)
    loss.backward()
    return found[0] if found else None


def log_softmax(s):
    shifted = s - s.max()
    return shifted - torch.log(torch.exp(shifted).sum())


def direction(v):
    square = (v * v).sum()
    length = torch.sqrt(torch.where(square > 0, square, 1.0))
    return v / length


def _tensor(out: Any) -> Any:
    if not isinstance(out, torch.Tensor):
        raise Complaint(f"Return a tensor. This is a `{type(out).__name__}`.")
    return out


def _slopes(inputs: list[list[float]], *, any_at_0: bool = False) -> Callable[[Callable], Iterator[tuple]]:
    """A probe that looks at a function's values, and at its gradients for an uneven upstream gradient.

    any_at_0: if all numbers are 0, accept any finite gradient.
    """

    def probe(function: Callable) -> Iterator[tuple]:
        for numbers in inputs:
            x = torch.tensor(numbers, requires_grad=True)
            out = returned(function(x))
            at = str([f"{n:g}" for n in numbers]).replace("'", "")
            yield f"The values at {at}", _tensor(out).detach()
            if not out.requires_grad:
                raise Complaint("No graph leads back from the result: nothing could learn through it.")
            out.backward(torch.arange(1.0, len(out) + 1) if out.dim() else None)
            if any_at_0 and not any(numbers):
                finite = torch.isfinite(x.grad).all()
                yield f"The gradient at {at} is", "finite" if finite else "not finite"
            else:
                yield f"The gradient at {at}, if {list(range(1, len(numbers) + 1))} arrives", x.grad
            bad = first_bad(function(torch.tensor(numbers, requires_grad=True)).sum())
            yield f"The first node that sends a bad number at {at}", bad or "none"

    return probe


def _root_probe(function: Callable) -> Iterator[tuple]:
    yield from _slopes([[4.0, 0.0, 0.25], [-9.0, 1.0], [1e-8, 1e-4, 0.01]])(function)
    yield "Is it exactly 0 at 0 and at -9?", bool((function(torch.tensor([0.0, -9.0])) == 0).all())


# the detector


def _root_alone() -> Any:
    return torch.sqrt(torch.tensor([4.0, 0.0], requires_grad=True)).sum()


def _distance() -> Any:
    w = torch.tensor(0.0, requires_grad=True)
    return torch.sqrt(w * w)


def _masked() -> Any:
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    return torch.where(x > 0, torch.sqrt(x), 0.0).sum()


def _healthy() -> Any:
    x = torch.tensor([4.0, 1.0], requires_grad=True)
    return (torch.sqrt(x) * 3).sum()


def _two_places() -> Any:
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    return torch.log(torch.sqrt(x) + x).sum()


GRAPHS = {
    "the root alone": _root_alone,
    "the distance": _distance,
    "the masked root": _masked,
    "a healthy graph": _healthy,
    "the logarithm of a root": _two_places,
}


def _detected(function: Callable) -> Iterator[tuple]:
    for name, graph in GRAPHS.items():
        found = function(graph())
        if isinstance(found, list | tuple):
            raise Complaint(
                f"Your function returns a list of {len(found)} names. Return one name, that of the first, or `None` if there is none."
            )
        if found is not None and not isinstance(found, str | bool):
            raise Complaint(
                f"This is a `{type(found).__name__}`. Return a *name*, a string such as `node.name()`, or `None`."
            )
        if found in ("None", ""):
            raise Complaint(
                f"For {name} it returns the text {found!r}. Return `None` itself, without quotes."
            )
        yield f"For {name} it gives", "None" if found is None else found


# predictions


def _kind(value: float, letters: tuple[str, str, str, str]) -> str:
    """The letter for 1, 0, inf and nan."""
    return letters[3 if math.isnan(value) else 2 if math.isinf(value) else 0 if value else 1]


def _spread() -> int:
    layer = torch.nn.Linear(3, 2)
    data = torch.ones(4, 3)
    data[2, 1] = float("nan")
    (layer(data) ** 2).mean().backward()
    return sum(int(torch.isnan(p.grad).sum()) for p in layer.parameters())


def _reported() -> str:
    try:
        with torch.autograd.set_detect_anomaly(True):
            _root_alone().backward()
    except RuntimeError as error:
        return "a" if "Sqrt" in str(error) else "c"
    return "b"


QUESTIONS: list[Question] = [
    question(r"""
        14.a the gradient of the distance at 0
        truth: _kind(slope(lambda w: torch.sqrt(w * w), 0.0), ("a", "b", "c", "d"))
        found: Yes: an infinite slope is multiplied by 0, and the product is not a number.
        missed: It is **d**: the root's rule gives $1/0 = \infty$, the product's $\infty \cdot 0$.

        "a" :: That is the slope on the right of 0. At 0 itself the root's rule divides by zero.
        "b" :: That would be a sensible answer, half-way between $-1$ and 1. But the rules do not know about each other: the root says $1/0$, the product $\infty \cdot 0$.
        "c" :: `inf` is what leaves the root. The product multiplies it by $w = 0$, and $\infty \cdot 0$ is `nan`.
        """),
    question(r"""
        14.b bad gradients from one bad number out of twelve
        truth: _spread()
        counts: True
        found: Yes: each of them is a sum over the samples, and one of those is bad.
        missed: All 8: each gradient is a sum over the samples, with a bad term in it.

        1.0 :: One number makes its sample's whole result bad, and each gradient is a sum over the samples: all 8.
        2.0 :: Those two weights are multiplied by the bad number itself. But it has made both results of its sample bad, and these lead back to all 8 weights.
        4.0 :: More than that: the bad sample's results go back to every weight, whichever number it multiplies.
        6.0 :: The biases as well: their gradients are also sums over the samples.
        0.0 :: Nothing filters it out. Each gradient is a sum over the samples, and one of those is bad.
        """),
    question(r"""
        14.c the gradient of an entry whose root is masked out
        truth: _kind(slope(lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), [4.0, 0.0])[1], ("d", "a", "b", "c"))
        found: Yes: a 0 arrives at the root, and its rule multiplies that by an infinite slope.
        missed: It is **c**: the root was computed for both entries, so its rule runs for both.

        "a" :: `where` does send a 0. But then the rule of the root runs, $0 \cdot \infty$.
        "b" :: The slope there is infinite. What arrives is 0, and $0 \cdot \infty$ is `nan`.
        "d" :: 0.25 is the slope at 4. Each entry has its own: here it is $0 \cdot \infty$.
        """),
    question(r"""
        14.d what anomaly mode says about an infinite gradient
        truth: _reported()
        found: Yes. It looks for `nan` only.
        missed: It is **b**: it looks for `nan` only.

        "a" :: Many texts say so. But it looks for `nan` only, and an `inf` passes.
        "c" :: The sum sends ones. The root makes an `inf`, and that passes: the mode looks for `nan` only.
        """),
]


EXERCISES: list[Exercise] = [
    exercise(r"""
        14.1 the arithmetic of the bad numbers
        solution:
            by_zero = "b"     # beyond every number
            zeros = "c"    # u/u is 1, 2u/u is 2
            by_inf = "a"      # 0
            times = "c"  # u * 1/u is 1, u * 2/u is 2
            minus = "c"   # (n + 5) - n is 5
            nan_zero = "c"  # nothing heals it
            log_zero = "b"     # -inf
        words: {"nan": "c", "inf": "b", "-inf": "b", "infinite": "b", "finite": "a"}
        why: Where all paths to the limit agree, the result is a number or an infinity. Where they do not, it is `nan`; and whatever is computed with a `nan` is a `nan` too.
        shows: $0/0$, $0 \cdot \infty$ and $\infty - \infty$ make a `nan`; $1/0$ and $\log 0$ make an infinity. There are more ways to get a `nan`: a table below lists them.
        look by_zero: Put smaller and smaller numbers in place of the 0.
        look zeros: Try $u/u$ and $2u/u$ for small $u$.
        look by_inf: Put larger and larger numbers in place of `inf`.
        look times: Try $u \cdot \frac{1}{u}$ and $u \cdot \frac{2}{u}$ for small $u$.
        look minus: Try $(n + 5) - n$ and $2n - n$ for large $n$.
        look nan_zero: Can anything be computed from something that is not a number?
        look log_zero: Try $\log 0.1$, $\log 0.001$, and so on.
        hint: Put small numbers in place of 0 and large ones in place of `inf`, in more than one way. Do the results agree?
        hint: $u \cdot \frac{1}{u}$ is 1 and $u \cdot \frac{2}{u}$ is 2, however small $u$ is.
        hint: You can also try it: run `torch.tensor(0.0) * float('inf')` in a new cell.

        by_zero = 'a'                     :: As the divisor goes to 0, $1/u$ grows beyond every number.
        by_zero = 'c'                     :: All paths agree: $1/u$ grows beyond every number. Computers write `inf`. (For $-0$ it is `-inf`, which is infinite too.)
        zeros = 'a'                       :: $u/u$ tends to 1, $2u/u$ to 2, $u^2/u$ to 0: no number is right for all.
        zeros = 'b'                       :: $u/u$ stays 1, however small $u$ is. But $2u/u$ stays 2.
        by_inf = 'b'                      :: The divisor grows beyond every number. What becomes of the fraction?
        by_inf = 'c'                      :: All paths agree: the fraction goes to 0.
        times = 'a'                       :: Not 0: $u \cdot \frac{1}{u}$ stays 1, $u \cdot \frac{2}{u}$ stays 2. No number is right for all.
        times = 'b'                       :: Not infinite: $u \cdot \frac{1}{u}$ stays 1 on the way there. Different paths lead to different numbers.
        minus = 'a'                       :: Not 0: $(n + 5) - n$ stays 5 while both grow. Different paths lead to different numbers.
        minus = 'b'                       :: $(n + 5) - n$ stays 5 while both grow, $2n - n$ grows. Different paths lead to different numbers.
        nan_zero = 'a'                    :: A zero does not remove it: whatever is computed with a `nan` is a `nan` too.
        nan_zero = 'b'                    :: Whatever is computed with a `nan` is a `nan`.
        log_zero = 'a'                    :: The logarithm falls below every number as its argument goes to 0.
        log_zero = 'c'                    :: All paths agree: it falls below every number. That is $-\infty$, infinite.
        """),
    exercise(r"""
        14.2 where, twice
        solution: safe_sqrt
        probe: _root_probe
        why: The inner `where` keeps the bad input away from the root; on the way back it sends 0 to `x` there. The outer one sets the value.
        shows: A 0 arrives at a root that never saw a 0: $0 \cdot \frac{1}{2} = 0$.
        look: `inside` is what the root gets: `x` where that is positive, a harmless number elsewhere.
        hint: The outer `where` is right as it is. What may the root be given where `x` is not positive?
        hint: `inside` is a `where` as well, with the same condition. Any positive number will do, such as 1.
        hint: `inside = torch.where(x > 0, x, 1.0)`

        torch.sqrt(x + 1e-8) :: The small number changes the result: the root of 0 is 0. Test `x > 0`, before and after the root.
        torch.where(x > 0, torch.sqrt(x), 0.0)      :: The root still gets the 0, and its rule runs: $0 \cdot \infty$. Give it something else there.
        torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 0.0)), 0.0) :: Where `x` is not positive, the root still gets a number at which it has no finite slope (0, or one outside its domain), and its rule makes a `nan`. Something before the root happens to stop that `nan`, but anomaly mode would stop your program here.
        torch.where(x > 0, torch.sqrt(torch.where(x > 0, 1.0, x)), 0.0) :: The two are swapped: where `x > 0` the root should get `x`.
        torch.where(x > 0, x, 1.0) => torch.ones_like(x) :: `x` is not in it: the root gets ones everywhere. Where `x > 0` it should get `x`.
        torch.where(x > 0, x, 1.0) => x ** 2 :: The root of $x^2$ is `abs(x)`, not the root of `x`; and at 0 its slope is infinite. Choose between `x` and a harmless number.
        torch.where(x > 0, x, 1.0) => torch.exp(x) :: The root gets $e^x$, so the result is a different number. Where `x > 0` it should get `x` itself.
        torch.where(x > 0, x, 1.0) => x.clamp(min=1e-6) :: The clamp changes the numbers between 0 and 0.000001: there the value is no longer the root of `x`, and the gradient is 0.
        torch.where(x > 0, torch.sqrt(x + 1e-3), 0.0) :: That changes the values. Where `x` is positive the root should get `x` itself; and $-9$ is still too low.
        torch.where(x > 0, torch.sqrt(torch.where(x > 0, x.detach(), torch.ones_like(x))), 0.0 * x) :: The root gets a constant, so nothing flows back through it. Leave `x` attached.
        torch.where(x > 0, torch.sqrt(abs(x)), 0.0) :: That cures the negative entries. At 0 the root still gets 0.
        torch.sqrt(torch.where(x > 0, x, 1.0))      :: The gradients are right. But the value at 0 and below is 1 now: the outer `where` is missing.
        torch.where(x > 0, torch.where(x > 0, x, 1.0), 0.0) :: Positive numbers come back unchanged: the root is missing.
        torch.sqrt(x) * (x > 0)                     :: You multiply by a mask *after* the root: $0 \cdot \infty$, as before.
        torch.sqrt(x[x > 0])                        :: You leave out the bad entries before you take the root, and that is a cure. But the shape should stay the same: 0 where `x` is not positive.
        torch.where(x >= 0, torch.sqrt(torch.where(x >= 0, x, 1.0)), 0.0) :: The 0 itself still reaches the root (because of `>=`, or of a clamp at 0). Only numbers above 0 may pass: `x > 0`.
        torch.where(x > 0, torch.sqrt(x + 1e-12), 0.0) :: A negative number still reaches the root, which has no value there, and its rule turns it into a `nan`. Use `x > 0` to decide what the root is given.
        torch.sqrt(torch.clamp(x, min=1e-12))       :: Close: where `x` is not positive you get the root of the limit, a small number but not 0. Set the value with a `where`.
        torch.nan_to_num(torch.sqrt(x))             :: The *values* are repaired after the root. Its rule still runs where `x` is 0 or less.
        torch.where(x > 0, torch.sqrt(x.clamp(min=0.2)), 0.0) :: The clamp is so high that it changes small numbers: below 0.2 the root is no longer that of `x`. Give the root `x` itself wherever `x` is positive.
        torch.where(x > 0, torch.sqrt(x.clamp(min=1e-3)), 0.0) :: The clamp changes the numbers between 0 and 0.001: there the root is no longer that of `x`, and their gradient is 0.
        torch.where(x > 0.1, torch.sqrt(torch.where(x > 0.1, x, 1.0)), 0.0) :: Numbers between 0 and 0.1 come out as 0. Every number above 0 has a root: test `x > 0`.
        torch.where(x > 0, torch.sqrt(torch.tensor(x.tolist(), requires_grad=True)), 0.0) :: `torch.tensor` makes a *new* leaf from plain numbers: nothing leads back from it to `x`. Use `x` itself.
        torch.where(x > 0, torch.where(x > 0, x, 1.0) ** 2, 0.0) :: That is the square. Take the root: `torch.sqrt`.
        torch.sqrt(abs(x))                          :: `abs` gives negative numbers a root that they should not have, and at 0 the slope of the root is infinite. Use `x > 0` to decide what the root is given.
        torch.sqrt(x + 1e-6) :: The small number changes every value: at 0 the root should be exactly 0. Mask, and change nothing elsewhere.
        """),
    exercise(r"""
        14.3 a detector of your own
        solution: first_bad
        probe: _detected
        why: Hooks are called in the order in which nodes fire, so the first name in the list is the first culprit. `None` stands for a gradient that was not computed, and `isfinite` cannot take it.
        shows: Yours finds an `inf` too, so it names the root where anomaly mode names the product.
        look: The first blank: true for a `g` that is not `None` and has an entry that is not finite. The second: the first name found, or `None`.
        hint: Some of what leaves is `None`. Check for that first, then look at the numbers.
        hint: `torch.isfinite(g).all()` is True if every entry is finite. You want the opposite.
        hint: `g is not None and not torch.isfinite(g).all()`, and `found[0] if found else None`

        for g in leaving => for g in arrived       :: That asks what has *arrived*, and names the victim, one node too late. Ask what *leaves*.
        found[0] if found else None => found[-1] if found else None :: That is the *last* one. The list is in the order in which the nodes have fired.
        found[0] if found else None => found[0]    :: In a healthy graph the list is empty, so there is no first entry. Return `None` then.
        found[0] if found else None => found       :: Your function returns a list of
        found[0] if found else None => bool(found) :: That says whether there is one. Return its name.
        found[0] if found else None => found[0] if len(found) > 1 else None :: One bad node is enough, and the list may be one name long: `if found`.
        found[0] if found else None => sorted(found)[0] if found else None :: That is the first name in *alphabetical* order. The list is in the order in which the nodes have fired: `found[0]`.
        found[0] if found else None => None        :: It always gives `None`, so nothing is ever found. Does a pass run (`loss.backward()`)? Do you return the first of `found`? And are the brackets there: `all()`, not `all`, which is a method and counts as true?
        instead of g is not None and not torch.isfinite(g).all():
        g is not None and torch.isnan(g).any()        :: That finds `nan` only, as anomaly mode does. An `inf` should be found as well: `isfinite`.
        g is not None and torch.isinf(g).any()        :: That finds `inf` only. `nan` is bad as well: `isfinite` catches both.
        not torch.isfinite(g).all()                   :: Where nothing was computed `g` is `None`, and `isfinite` cannot take that. Ask `g is not None` first.
        g is not None and not torch.isfinite(g).any() :: `not ... .any()` is true only if *no* entry is finite. One bad entry is enough: `not ... .all()`.
        g is not None and torch.isfinite(g).all()     :: The other way round: that is true for the good gradients.
        g is None or not torch.isfinite(g).all()      :: Here `None` counts as bad. It only says that nothing was computed: `g is not None and ...`.
        g is not None and not torch.isfinite(g)       :: A tensor of True and False is neither yes nor no. Reduce it to one answer: `not torch.isfinite(g).all()`.
        True                                          :: That is always the loss's own node, because it fires first. A node is bad if something that is not finite leaves it.
        """),
    exercise(r"""
        14.4 three patients
        solution:
            in_penalty = "b"      # backward: 0.1 / (2 * 0)
            in_probability = "a"  # forward: exp(200)
            in_cosine = "c"       # forward: 0 / 0
            finite_loss = "a"     # the penalty's is 1
        words: {"total": "a", "length": "b", "dot": "a", "sizes": "b", "penalty": "a", "probability": "b", "cosine": "c"}
        why: In the first, the root's *rule* divides by zero while its value is fine. In the second, $e^{200}$ overflows, so everything after it is lost. In the third, 0 divided by 0 is `nan` at once.
        shows: One goes wrong on the way back, two on the way forward. Only for the first did you need the rules.
        look in_penalty: All values are finite. Then follow the way back: which rule divides by zero?
        look in_probability: Compute the values line by line. What is the largest number of `float32`?
        look in_cosine: Compute the values line by line, with `v` = (0, 0).
        look finite_loss: Which of the three has only good values?
        hint: First the values, line by line. If they are all finite, then the way back.
        hint: $e^{88}$ is near the limit of `float32`. A root has an infinite slope at 0. 0 divided by 0 is not a number.
        hint: In `penalty` all values are good: 0, 0, 1. On the way back 0.1 arrives at the root of 0.

        in_penalty = 'a'     :: `total` is 0, a good number, and on the way back its product receives something bad. Which line sends it?
        in_penalty = 'c'     :: The value is 1, and on the way back this line sends 0.1. Both are finite.
        in_probability = 'b' :: $\infty/\infty$ is bad, but where does the infinity come from? Look one line up: $e^{200}$.
        in_probability = 'c' :: The logarithm already gets something bad. What is $e^{200}$ in `float32`?
        in_cosine = 'a'      :: A sum of products with 0: `dot` is 0, a good number.
        in_cosine = 'b'      :: `sizes` is $5 \cdot 0 = 0$, a good number. (`v` does not need a gradient, so its root has no rule to run.)
        finite_loss = 'b'    :: There $e^{200}$ is infinite, and $1/\infty = 0$ has the logarithm $-\infty$: the loss is infinite.
        finite_loss = 'c'    :: There 0 is divided by 0: the loss is `nan`.
        """),
    exercise(r"""
        14.5 logarithms of probabilities
        solution: log_softmax
        probe: _slopes([[1.0, 2.0, 3.0], [200.0, 0.0], [0.0, 200.0], [-301.0, -300.0, -300.5], [500.0, 500.0]])
        why: After the subtraction the largest exponential is $e^0 = 1$, so the sum lies between 1 and the number of scores: neither infinite nor 0. No probability is ever formed.
        shows: Right for scores of any size: the value, and the gradient.
        look: Write the formula exactly: subtract `s.max()`, and then subtract the logarithm of the sum of the exponentials.
        hint: First `shifted = s - s.max()`. All that follows uses `shifted` only.
        hint: Then `shifted` minus the logarithm of a sum of exponentials.
        hint: `shifted - torch.log(torch.exp(shifted).sum())`

        torch.log(torch.softmax(s, 0) + 1e-9) :: The small number cuts every logarithm off at about $-21$. Write the formula: nothing has to be added.
        s.clamp(max=80) - torch.log(torch.exp(s.clamp(max=80)).sum()) :: The clamp changes the scores, and so the probabilities. Subtract the largest score from all: that changes no probability.
        s / s.max() - torch.log(torch.exp(s / s.max()).sum()) :: You divide by the largest, which changes the probabilities. Subtracting does not change them, since $e^{s - m} = e^s / e^m$.
        (s - s.max()) / torch.exp(s - s.max()).sum() :: You divide by the sum. A logarithm turns that into a difference: minus the *logarithm* of the sum.
        torch.log(torch.exp(s) / torch.exp(s).sum()) :: That is the definition. It is right for small scores, but $e^{200}$ overflows.
        s - torch.log(torch.exp(s).sum())            :: The logarithm is written out, and that is half of the cure. But $e^{200}$ overflows: subtract the largest score first (the score itself, not its position).
        torch.log(torch.softmax(s, 0))               :: The softmax does not overflow, but a probability that has become 0 is too small for the logarithm. Write the logarithm out.
        torch.log(torch.softmax(s, 0) + 1e-12)       :: A small number keeps the logarithm finite, but makes it wrong: $-27.6$ instead of $-200$.
        s - torch.log(torch.exp(s - s.max()).sum())  :: The exponentials are shifted, the score in front is not: subtract `m` there as well.
        (s - s.max()) - torch.log(torch.exp(s).sum()) :: The score in front is shifted, the exponentials are not: $e^{200}$ overflows.
        s - s.max()                                  :: Only the largest is taken away. The logarithm of the sum of the exponentials is missing.
        s.max() - s - torch.log(torch.exp(s.max() - s).sum()) :: The order is swapped: subtract the largest score from each, `s - s.max()`.
        (s - s.max()) - torch.exp(s - s.max()).sum() :: The logarithm of the sum is missing.
        (s - s.max()) - torch.exp(s - s.max()).log().sum() :: That is the sum of the logarithms. You need the logarithm of the *sum*.
        (s - s.max()) + torch.log(torch.exp(s - s.max()).sum()) :: The logarithm of the sum should be *subtracted*.
        s.max() => s.mean()                      :: You subtract the mean or the smallest score, not the largest: with scores far apart an exponential is still too large.
        (s - s.max()) - torch.log(torch.exp(s - s.max()).mean()) :: That is the mean of the exponentials. You need their sum.
        torch.softmax(s, 0)                          :: Those are the probabilities. You need their logarithms.
        shifted - torch.log(torch.exp(shifted).sum()) => -(shifted - torch.log(torch.exp(shifted).sum()))                      :: That is the loss, with its minus. You need the logarithm itself.
        torch.log(torch.softmax(s, 0).clamp(min=1e-30)) :: The probability is kept away from 0, so its logarithm stops at a limit, $-69$, where $-200$ is right. Write the logarithm out.
        (s - s.max()) - math.log(torch.exp(s - s.max()).sum().item()) :: `math.log` gives a plain number, so the way back through the sum is cut. Use `torch.log`.
        s.max() => s[0]                          :: You subtract the *first* score. If another one is much larger, its exponential still overflows: subtract the largest.
        s.max() => s[-1]                         :: You subtract the *last* score. If another one is much larger, its exponential still overflows: subtract the largest.
        s.max() => abs(s).max()                  :: You subtract the largest *absolute value*. Where all scores are far below 0, all exponentials become 0: subtract the largest score, `s.max()`.
        s.max() => -s.max() :: The largest score is added. Subtract it.
        s.max() => s.max(0) :: With an axis, `max` gives two things, the values and their positions. Write `s.max()`, or `s.max(0).values`.
        torch.log => torch.log2 :: That is the logarithm to the base 2. The formula uses the natural one, `torch.log`.
        s.max() => 100.0                         :: 100 is enough for some scores, too little for others, and with scores far below 0 all exponentials become 0. Subtract the largest score, whatever it is.
        torch.log(torch.sigmoid(s))                  :: The sigmoid looks at each score on its own. In a softmax all scores share one sum.
        s / s.sum()                                  :: That divides the scores by their sum. Probabilities come from the *exponentials*, $e^s$; and you need their logarithm.
        s - torch.log(torch.exp(s).mean())           :: Two things: the exponentials are added, not averaged, and $e^{200}$ overflows unless the largest score is subtracted first.
        torch.log(torch.softmax(s, 0) + 1e-8) :: The small number keeps the logarithm finite, and makes it wrong: all probabilities below it come out alike. Write the logarithm out.
        """),
    exercise(r"""
        14.6 a direction
        solution: direction
        probe: _slopes([[3.0, 4.0], [0.0, 0.0], [0.5, 0.0], [-0.001, 0.0], [6e-4, -8e-4], [1.0, -2.0, 2.0]], any_at_0=True)
        rtol: 1e-5
        why: The `where` comes before the root: for $v = 0$ the root gets a 1, where its slope is finite, and $v / 1$ is 0.
        shows: A length of 1 wherever there is a direction, 0 where there is none, and no bad number on the way back.
        look: The root must not see a 0, and nothing may be divided by 0: mask the *square*, before both.
        hint: Two dangers at 0: the root's infinite slope, and 0 divided by 0. Both come after the sum of squares.
        hint: Replace the sum of squares by 1 where it is 0, then take the root, then divide.
        hint: `length = torch.sqrt(torch.where(square > 0, square, 1.0))`

        v / ((v * v).sum() + 1e-8).sqrt() :: Where `v` is short, the small number changes the length. Replace the square by 1 only where it is 0: `torch.where`.
        v / (v.norm() + 1) :: That makes every direction shorter than 1. Replace the square by 1 only where it is 0: `torch.where`.
        v / torch.sqrt((v * v).sum()) :: At 0 that is 0 divided by 0.
        length = torch.sqrt((v * v).sum()); return torch.where(length > 0, v / length, torch.zeros_like(v)) :: The value is repaired after the root, by a mask, a small number or a clamp. But the root itself still gets a 0, and on the way back its rule runs.
        v / torch.sqrt((v * v).sum() + 1e-3)         :: Finite, but that number is so large that the result is no longer right to six digits.
        v / torch.where((v * v).sum() > 0, (v * v).sum(), 1.0) :: You divide by the *square* of the length. The root is missing.
        v / torch.sqrt((v * v).sum() + 1e-6) :: Finite, but short vectors are no longer right: 0.000001 is as large as the square of a vector that is 0.001 long.
        v / ((v * v).sum() ** 0.5 + 1e-6) :: The small number is added *after* the root. The root itself still gets a 0, and its slope there is infinite.
        v / torch.sqrt(torch.where(v != 0, v * v, 1.0).sum()) :: You replace every *entry* that is 0, so a vector with one 0 in it gets the wrong length. Replace the sum, where it is 0.
        v / torch.sqrt(torch.where((v * v).mean() > 0, (v * v).mean(), 1.0)) :: That is the mean of the squares. The length is the root of their *sum*.
        torch.sign(v)                                :: Those are the signs of the entries. $(3, 4)$ has the direction $(0.6, 0.8)$.
        v / torch.where(abs(v).sum() > 0, abs(v).sum(), 1.0) :: You divide by the sum of the absolute values. The length is the root of the sum of squares.
        v / torch.where((v * v).sum() > 0, (v * v).sum(), 1.0).sqrt().detach() :: The values are right. But the length is detached, and it depends on $v$: its part of the gradient is lost.
        v / torch.sqrt((v * v).sum().clamp(min=1.0)) :: The clamp is so high that vectors shorter than 1 are not made longer. Every vector but 0 has a direction: clamp at a much smaller number, or use `where`.
        abs(v) / torch.sqrt((v * v).sum() + 1e-12)   :: `abs` does not belong there: a direction has signs.
        v / v.abs().max()                            :: You divide by the largest absolute value. The length is the root of the sum of squares.
        return 1.0 * v                               :: That is `v`, unchanged. A direction has length 1: divide by the length.
        v / torch.sqrt((v * v).sum()).clamp(min=1e-6) :: What is done *after* the root comes too late: the root itself still gets a 0, and its rule divides by it. The clamp, or the small number, belongs under the root.
        v / (abs(v) + 1e-12)                         :: Each entry is divided by its own size, so only signs are left. The whole vector is divided by one length.
        v / v.sum() :: You divide by the sum of the entries. The length is the root of the sum of their *squares*.
        v / torch.sqrt((v * v).mean()) :: The root of the *mean* of the squares is not the length: add them up.
        """),
]
