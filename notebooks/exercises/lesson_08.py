"""Exercises of lesson 08, Switches: a sum half detached, six cuts, freezing the middle, a safe copy, choosing."""

from __future__ import annotations

import minigrad as torch

from .bytecode import uses
from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question
from .side_effects import ASKS, VALUES, Watch


def repaired(x):
    y = x * 2
    z = y.detach() * 3
    return z + y * 5


def loss_of(first, middle, last, x):
    for param in middle.parameters():
        param.requires_grad_(False)
    h = torch.tanh(middle(torch.tanh(first(x))))
    return (last(h) ** 2).mean()


def safe_copy(t):
    return t.detach().clone()


def step_behind_a_cut(one, two, three, x, optimizer):
    optimizer.zero_grad()
    h = torch.tanh(one(x))
    h = torch.tanh(two(h)).detach()
    loss = (three(h) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def _noted(called: list[str], name: str, method):
    """The method, noting that it was called."""

    def calls(*arguments, **more):
        called.append(name)
        return method(*arguments, **more)

    return calls


def _cut_probe(learners):
    *layers, x = _layers()
    params = [param for layer in layers for param in layer.parameters()]
    optimizer = torch.optim.SGD(params, lr=0.1)
    before = [layer.weight.detach().clone() for layer in layers]
    called: list[str] = []
    for name in ("zero_grad", "step"):
        setattr(optimizer, name, _noted(called, name, getattr(optimizer, name)))
    layers[2].weight.register_hook(lambda grad: called.append("backward"))
    loss = learners(*layers, x, optimizer)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        raise Complaint("The loss that you return holds its whole graph. Return its number, `loss.item()`.")
    yield "The loss", loss
    yield "What ran, in this order", ", ".join(called)
    named = dict(zip(("one", "two", "three"), layers, strict=True))
    for name, layer in named.items():
        yield f"{name}.weight.grad", "None" if layer.weight.grad is None else "a gradient"
    for (name, layer), old in zip(named.items(), before, strict=True):
        moved = (layer.weight.detach() - old).abs().max().item() > 1e-9
        yield f"What the weights of `{name}` do", "they move" if moved else "they stay"
    yield "The weights of `three` afterwards", layers[2].weight.detach()
    for name, layer in named.items():
        yield f"Whether `{name}` asks afterwards", [param.requires_grad for param in layer.parameters()]


def _demand_tensor(out) -> None:
    if not isinstance(out, torch.Tensor):
        raise Complaint(
            f"Return a tensor. This is a `{type(out).__name__}`. Leave the values in their tensor."
        )


def _repaired_probe(learners):
    for at in (2.0, -1.0, 3.5):
        x = torch.tensor(at, requires_grad=True)
        out = returned(learners(x))
        _demand_tensor(out)
        if x.grad is not None:
            raise Complaint(
                "Your function has already filled `x.grad`. Only the backward pass of the result should do that."
            )
        yield f"the value at x = {at:g}", out.detach()
        if out.grad_fn is not None:
            out.backward()
        yield f"x.grad at x = {at:g}", x.grad


def _layers(width: int = 2) -> tuple:
    torch.manual_seed(0)
    layers = tuple(torch.nn.Linear(*sizes) for sizes in ((2, width), (width, width), (width, 2)))
    return (*layers, torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]]))


def _freeze_probe(learners):
    for width in (2, 3):
        yield from _frozen(learners, *_layers(width))


def _frozen(learners, first, middle, last, x):
    before = [param.detach().clone() for layer in (first, middle, last) for param in layer.parameters()]
    watch = Watch(
        dict.fromkeys(("first", "middle", "last"), frozenset({ASKS, VALUES})),
        first=first,
        middle=middle,
        last=last,
        x=x,
    )
    loss = returned(learners(first, middle, last, x))
    besides = watch.first_change()
    _demand_tensor(loss)
    yield "the loss", loss.detach()
    if loss.grad_fn is None:
        raise Complaint(
            "The loss itself has no graph: nothing was recorded, so nothing can learn. Freeze the middle layer's parameters "
            "and let the rest be recorded."
        )
    loss.backward()
    if all(param.grad is not None for layer in (first, middle, last) for param in layer.parameters()):
        raise Complaint(_why_not_frozen(learners))
    after = [param.detach() for layer in (first, middle, last) for param in layer.parameters()]
    if not all(torch.equal(old, new) for old, new in zip(before, after, strict=True)):
        raise Complaint("A parameter has changed its value. Freezing leaves all values as they are.")
    for name, layer in {"first": first, "middle": middle, "last": last}.items():
        yield f"{name}.weight.grad", layer.weight.grad
        yield f"{name}.bias.grad", layer.bias.grad
    for name, layer in {"first": first, "middle": middle, "last": last}.items():
        yield f"Does `{name}` ask for gradients?", [param.requires_grad for param in layer.parameters()]
    if besides:
        raise Complaint(besides)


NOT_FROZEN = {
    "eval": "`eval()` changes how layers such as dropout behave. It freezes nothing: the parameters still ask.",
    "train": "`train(False)` is `eval()`: it changes how layers such as dropout behave, and freezes nothing.",
    "zero_grad": "`zero_grad()` clears the gradients that are there. The next pass fills them again: freezing is about *asking*.",
    "grad": "That clears a gradient. The next pass fills it again: freezing is about *asking*, `requires_grad_(False)`.",
    "requires_grad_": "The parameters of `middle` still ask. `requires_grad_(True)` changes nothing; and whose parameters does the loop go through?",
    "requires_grad": "The parameters of `middle` still ask. Set `requires_grad` on each *parameter*, to False: on the layer itself it only makes a new attribute.",
}
"""Exercise 8.3: what was done, as the learner's code shows it, if the middle layer has got its gradients."""


def _why_not_frozen(function) -> str:
    used = uses(function)
    known = (reply for name, reply in NOT_FROZEN.items() if name in used)
    return next(
        known,
        "Nothing is frozen: the parameters of `middle` have got their gradients. Does the loop go through any of them, and does it say `False`?",
    )


def freezing(which):
    """A function like `loss_of` that turns off the parameters that `which` picks from (first, middle, last)."""

    def loss_of(first, middle, last, x):
        for param in which(first, middle, last):
            param.requires_grad_(False)
        h = torch.tanh(middle(torch.tanh(first(x))))
        return (last(h) ** 2).mean()

    return loss_of


def _copy_probe(learners):
    for values in ([0.0, 1.0, 2.0], [[-1.0, 0.5], [3.0, 0.0]]):
        yield from _copied(learners, torch.tensor(values, requires_grad=True))


def _copied(learners, x):
    t = torch.exp(x)
    before = t.detach().clone()
    watch = Watch(t=t, x=x)
    for _ in range(8):
        torch.full_like(t, -7.0)  # uninitialised memory must not hold the right values by chance
    copy = returned(learners(t))
    besides = watch.first_change()
    _demand_tensor(copy)
    yield "Its values", copy.detach().clone()
    yield "Does it ask for a gradient?", copy.requires_grad
    yield "Does it have a `grad_fn`?", copy.grad_fn is not None
    with torch.no_grad():
        copy[0] = 100.0
    yield "`t` after something was written into the copy", t.detach().clone()
    yield "Is `t` itself untouched?", bool((t.detach() == before).all()) and t.requires_grad
    if besides:
        raise Complaint(besides)


def _grad_before_cut():
    b = torch.tensor(3.0, requires_grad=True)
    c = torch.tensor(4.0, requires_grad=True)
    (c * (b * 10.0).detach()).backward()
    return b.grad


def _starved() -> str:
    one, two, three = (torch.nn.Linear(3, 3) for _ in range(3))
    three(torch.tanh(two(one(torch.ones(5, 3)))).detach()).mean().backward()
    return "b" if one.weight.grad is None else "a"


def _flag_and_block() -> str:
    given = []
    for block in (False, True):
        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=block)
        c = torch.tensor(4.0, requires_grad=True)
        h = a * 5.0
        with torch.set_grad_enabled(not block):
            h = b * h
        (c * h).backward()
        given.append(a.grad is not None)
    return {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}[tuple(given)]


SWITCHES = {
    "no_grad": "a",
    "detach": "b",
    "requires_grad_(false": "c",
    "requires_grad_": "c",
    "requires_grad": "c",
    "set_grad_enabled": "d",
    "set_grad_enabled(is_train": "d",
    "inference_mode": "e",
}

QUESTIONS: list[Question] = [
    question(r"""
        8.a the gradient of x through y * 3 + y.detach() * 5
        truth: slope(lambda x: (y := x * 2) * 3 + y.detach() * 5, 2.0)
        found: Yes: only the attached path leads back, $3 \cdot 2 = 6$. For the gradient the detached part is a constant.
        missed: Only the attached path counts: 3, and then 2 from `y` to `x`. That makes 6.

        16.0 :: 16 is the slope of the *values*. The gradient does not see the detached part: $3 \cdot 2 = 6$.
        10.0 :: $5 \cdot 2$ is the detached path. The *other* one leads back.
        3.0  :: 3 arrives at `y`. On the way to `x` it is multiplied by 2: 6.
        None :: One path is cut, the other is whole. It brings 6 to `x`.
        0.0  :: One path is cut, the other is whole. It brings 6 to `x`.
        8.0  :: That is the mean of 6 and 10. Nothing is averaged where paths meet, and one of these is cut: 6.
        32.0 :: 32 is the *value* of `out`. The gradient says how fast it moves along the attached path: 6.
        """),
    question(r"""
        8.b the gradient of b with a cut after it
        truth: _grad_before_cut()
        found: Yes. The walk never gets to `b`, so nothing is computed for it: `None`.
        missed: The walk begins at `y` and ends at the cut. `b` is on the far side of it, so `b.grad` is `None`.

        0.0  :: A zero would be a computed answer. The walk never gets to `b`: `None`.
        40.0 :: The cut is between `b` and `y`. The walk from `y` ends there and never gets to `b`: `None`.
        """),
    question(r"""
        8.c what the first layer gets when the second one's result is detached
        truth: _starved()
        found: Yes: no path leads there, so nothing is computed. `None`, and for the second layer as well.
        missed: It is **b**: no path leads to the first layer, so nothing is computed for it.

        "a" :: The exercise says so. But a zero would be a computed answer, *it does not matter*. No path leads there, so nothing is computed: `None`.
        "c" :: The cut comes after the *second* layer, so the walk never gets to the first. Nothing is computed: `None`.
        """),
    question(r"""
        8.d what freezing the middle does to the first weight, by flag and by block
        truth: _flag_and_block()
        found: Yes. The flag leaves out one gradient; the block cuts the path, and everything before it is lost.
        missed: With the flag `a` gets a number, 60; with the block it gets `None`: an operation that is not recorded cuts the path.

        "a" :: With the block the middle layer was not recorded, so there is no path on to `a`.
        "c" :: The other way round: with the flag the multiplication is recorded, because `h1` asks; in the block it is not.
        "d" :: With the flag the multiplication is recorded, because `h1` asks for its gradient. The walk goes past `b`.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        8.1 repair the example
        solution: repaired
        probe: _repaired_probe
        why: The detached $y$ still has its value, so the sum is right. The gradient sees only $5y$, and $5 \cdot 2 = 10$.
        shows: A value and its gradient need not agree. With `detach` you decide which part the gradient sees.
        look: The result is $3y$, hidden, plus a part that is seen. What must that part be, so that the sum is $8y$?
        hint: You have $3y$ already. How much more is needed to make $8y$?
        hint: The part that you add is the one that the gradient sees. So it must not be detached.
        hint: `y * 5`: five from the result to `y`, times two from `y` to `x`: 10.

        z + y * 5 => z * y * 5 :: The two parts are multiplied. They should add up to $8y$.
        x * 2 * 3 + (x * 2).detach() * 5            :: You have hidden the five and shown the three: `x.grad` is 6. It should be the other way round.
        x * 2 * 3 + x * 2 * 5                       :: Nothing is hidden: `x.grad` is 16. The part with the 3 should stay detached.
        (x * 2).detach() * 3 + 20                   :: The value is right at $x = 2$. But a plain number does not move with `x`: the second part has to be computed from `y`.
        (x * 2).detach() * 3 + 10                   :: 10 is what `x.grad` should be. What has to be added is a part computed from `y`, and its slope with respect to `x` should be 10.
        (x * 2).detach() * 3 + x * 2 * 8            :: That is $3y + 8y$. The $3y$ counts in the value as well: how much more is needed to make $8y$?
        (x * 2).detach() * 3 + x * 2 * 3            :: That is $3y + 3y$. How much more is needed to make $8y$?
        (x * 2).detach() * 3 + x * 5                :: The factor is right, but it belongs to `y`, and `y` is $2x$.
        (x * 2).detach() * 3 + x * 2 * 10           :: 10 is the gradient with respect to `x`. With respect to `y` the slope is half of that, because $y = 2x$.
        (x * 2).detach() * 3 + x * x * 5            :: At $x = 2$ the value is right, but that is a curve: its slope there is 20. Use `y`.
        (x * 2).detach() * 3 + (x * 2).detach() * 5 :: Both are cut, so nothing leads back to `x`, and `backward()` would raise. Leave one attached.
        (x * 2).detach() * 3 * 5                    :: The hidden part is multiplied, and nothing attached is added. Add a part computed from `y`.
        (x * 2).detach() * 3 + 26                   :: At $x = 2$ the sum should be 32, and a plain number does not move with `x`. The second part has to be computed from `y`.
        (x * 2).detach() * 3 + x * 2                :: That is $3y + y$. How much more is needed to make $8y$?
        x * 2 * 5                                   :: The gradient is right, but the value lost its $3y$. Detaching keeps the value.
        x.detach() * 3 + x * 2 * 5                  :: The gradient is right. In the value there is $3x$ where $3y$ should be: detach `y`, not `x`.
        x * 5 + x.detach() * 11                     :: The value is right, but `x.grad` is 5: on the way from $5y$ to $x$ there is a factor of 2 as well.
        z = y.detach() * 3 => ;; z + y * 5 => y * 5 + 12 :: 12 is $3y$ at one place only, at $x = 2$. The hidden part has to have the value of $3y$ for every $x$: `y.detach() * 3`.
        """),
    exercise(r"""
        8.2 six cuts
        solution:
            plain = 15      # b * x
            detached = None # the only way is cut
            b_frozen = 15   # b keeps its value: the walk passes through
            block = None    # h was not recorded
            both = 15       # only the attached half
            weighted = 150   # b * x, times the constant h = 10
        why: Ask of each line: is there a path back from `y` to `a`, and what is multiplied along it? Detached tensors are constants; constants still multiply.
        shows: You can read off which gradients are there from the cuts alone, before anything runs.
        look plain: On the way from `y` to `a`: what is `h` multiplied by, and what is `a`?
        look detached: Is there any path from `y` to `a`?
        look b_frozen: Freezing changes which tensors are *given* a gradient. Does it change the path to `a`, or the value of `b`?
        look block: What was recorded when `h` was made?
        look both: Two halves: which of them leads back to `a`, and what does it bring?
        look weighted: Put in 10 for `h.detach()`. What is left is $10\,b\,a\,x$.
        hint: First decide which are `None`: where is there no path from `y` back to `a` at all?
        hint: Without a cut: 1 arrives at `y`, times $b = 3$ at `h`, times $x = 5$ at `a`.
        hint: Freezing `b` does not change its value, nor the path past it.
        hint: In the last line `h.detach()` is the constant 10. So $y = 10\,b\,h$ as far as the gradient can see.

        both = 60.0                         :: Without `detach` it would be 30, and here even less leads back: one of the two halves.
        both = 45.0                         :: One half brings 15, the other nothing.
        weighted = 450.0                     :: `b` counts once, in $b\,h \cdot 10$: that is $3 \cdot 5 \cdot 10$.
        weighted = 600.0                     :: `a` itself is not a factor of its slope: $10 \cdot b \cdot x$.
        plain = 75.0                        :: $x$ appears only once: $b \cdot x$.
        b_frozen = 3.0                      :: 3 is what arrives at `h`. From there to `a` it is multiplied by $x$, frozen or not.
        b_frozen = 10.0                     :: 10 is `h`, and what `b` would get. `a` gets $b \cdot x$, frozen or not.
        plain = 5                           :: 5 is $x$, what `a` is multiplied by. But 1 did not arrive at `h` unchanged: it was multiplied by $b$ on its way.
        plain = 1                           :: 1 is where the walk begins. Two multiplications lie between it and `a`.
        plain = 0                           :: `y` moves when `a` does. A gradient of 0 would mean that it does not.
        b_frozen = 30                       :: 30 is the value of `y`, frozen or not. The question is how it moves with `a`.
        b_frozen = 7.5                      :: That is half the right answer. Freezing `b` divides nothing: `a` gets as much as in the first line.
        b_frozen = 1                        :: Frozen, `b` still multiplies what passes through, by 3; and $x$ comes after it.
        both = 5                            :: 5 is $x$ alone. In the attached half there is `b` on the way, as in the first line.
        both = 1                            :: 1 is what arrives at both halves of the sum. Follow it along the half that is attached.
        weighted = 50                        :: $10 \cdot 5$: the constant and $x$ are there, and $b$ is missing.
        weighted = 75                        :: That is half the right answer. The constant is not shared between the two factors: all of it multiplies.
        weighted = 1                         :: 1 is where the walk begins. On the way to `a` it is multiplied by the constant, by $b$ and by $x$.
        15, 0, 15, 0, 15, 150               :: The right places, but nothing is computed where there is no path: `None`, not 0.
        detached = 15                       :: The number is that of `plain`. But `detach` cuts the only path from `y` to `a`.
        detached = 3                        :: `detach` cuts the only path from `y` to `a`. Without it, 3 would arrive at `h`.
        plain = 30                          :: 30 is the value of `y`. Its slope with respect to `a` is $b$ times $x$.
        plain = 6                           :: $2 \cdot 3$: but `a` is not a factor of its own slope. The factors are $x$ and then $b$.
        plain = 8                           :: You added: $5 + 3$. Along a path the numbers are multiplied.
        plain = 4                           :: That is the mean of 5 and 3. Along a path the numbers are multiplied, not averaged.
        plain = 7.5                         :: That is half the right answer. Nothing is divided or averaged along a path: it is $b$ times $x$.
        plain = 10                          :: 10 is the value of `h`, and what `b` gets. `a` gets the product of what is on *its* way: $x$, and then $b$.
        plain = 3                           :: 3 is what arrives at `h`. On the way to `a` it is multiplied by $x = 5$.
        plain = None                        :: Nothing is cut here: there is a path from `y` to `a`.
        b_frozen = 0                        :: Freezing `b` leaves out the gradient *of* `b`. It leaves `a` alone: the value of `b` is 3 as before.
        b_frozen = 5                        :: The value of `b` is 3 as before, and it is still on the way to `a`. Frozen is not gone.
        block = 0                           :: There is no path to `a`, because `h` was made in the block. Nothing is computed: not even a zero.
        block = 5                           :: The walk from `y` gets to `b` and no further: `h` has no `grad_fn`.
        both = 7.5                          :: Nothing is averaged. One half of `y` is cut, and the other counts in full: $b$ times $x$.
        both = 0                            :: One half is cut. The other is whole, and brings what `plain` brings.
        weighted = 30                        :: 30 is $b\,h$, the value of the first half. How fast does $10\,b\,a\,x$ change with `a`?
        weighted = 0                         :: One of the two factors `h` is attached: there is a way back, and the constant multiplies.
        weighted = 1500                      :: The constant counts once: $10 \cdot b \cdot x$.
        15, None, None, None, 15, 150       :: Freezing `b` leaves out the gradient *of* `b`. The walk goes on past it, to `a`.
        15, None, 15, 15, 15, 150           :: In the block `a * x` was not recorded, so `h` has no `grad_fn`: there is no path to `a`.
        15, None, 15, None, 30, 150         :: In the line `both` only the attached half leads back. Without `detach` it would be 30.
        15, None, 15, None, None, 150       :: In the line `both` one half is cut, the other is whole.
        15, None, 15, None, 15, 300         :: 300 is the slope of $b\,h^2$, with both factors seen. One of them is a constant here, so the slope is half as large.
        15, None, 15, None, 15, 15          :: In the last line `h.detach()` is a constant, but a constant that *multiplies*: it is 10.
        15, None, 15, None, 15, None        :: In the last line one of the two factors `h` is attached: there is a way back.
        10, None, 10, None, 10, 100         :: 10 is what `b` gets. `a` gets the product of the factors on its own path: $b = 3$ and $x = 5$.
        3, None, 3, None, 3, 30             :: That is what arrives at `h`. From `h` to `a` it is multiplied by $x = 5$.
        """),
    exercise(r"""
        8.3 freeze the middle
        solution: loss_of
        probe: _freeze_probe
        why: The parameters of the middle layer stop asking, so they get no gradient. The layer itself is recorded, because what comes into it asks, and the walk goes through it to the first layer.
        shows: Frozen, but not cut: the first layer gets the same gradient as when nothing is frozen.
        look: Only the two lines of the loop should be filled in; what is below them stays as it is.
        hint: `middle.parameters()` gives the layer's weight and bias, one after the other.
        hint: `requires_grad_` takes one argument: should it ask, True or False?
        hint: The lines below need no change. A `no_grad` or `detach` there would starve `first`.

        param.requires_grad_(False) => pass ;; torch.tanh(middle(torch.tanh(first(x)))) => torch.no_grad()(lambda h: torch.tanh(middle(h)))(torch.tanh(first(x))) :: The middle gets nothing, and neither does the *first*: `no_grad` around the middle layer, or `detach` after it, cuts the path. Turn off the flag of its parameters.
        h = torch.tanh(middle(torch.tanh(first(x)).detach())); return (last(h) ** 2).mean() :: The cut comes before the middle layer: the first layer starves, and the middle one still learns.
        middle.parameters() => [*first.parameters(), *last.parameters()] :: The other way round: you have frozen those that should learn.
        middle.parameters() => first.parameters() :: You have frozen `first`. Look at whose parameters the loop goes through.
        middle.parameters() => last.parameters()  :: You have frozen `last`. Look at whose parameters the loop goes through.
        middle.parameters() => [*first.parameters(), *middle.parameters()] :: The first layer is frozen too. It should learn: only `middle.parameters()`.
        parameters(): => parameters: ;; h = torch.tanh(middle(torch.tanh(first(x)))) => ;; return (last(h) ** 2).mean() => :: `parameters` is a method: `middle.parameters()`, with brackets.
        middle.parameters(): => middle: ;; h = torch.tanh(middle(torch.tanh(first(x)))) => ;; return (last(h) ** 2).mean() => :: A layer is not a list. `middle.parameters()` gives its weight and its bias.
        requires_grad_(False) => requires_grad_(True) :: `requires_grad_(True)` changes nothing
        middle.eval(); return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean() :: `eval()` changes how layers such as dropout behave.
        param.requires_grad_(False) => param.grad = None :: That clears a gradient. The next pass fills it again
        param.requires_grad_(False) => pass :: Does the loop go through any of them
        middle.requires_grad = False; return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean() :: on the layer itself it only makes a new attribute
        param.requires_grad_(False) => param.requires_grad_(False); middle.weight.data.zero_() :: The weights of `middle` have become zeros. Freezing leaves all values as they are.
        w, b = middle.weight.detach(), middle.bias.detach()
        h = torch.tanh(torch.tanh(first(x)) @ w.T + b)
        return (last(h) ** 2).mean() :: The gradients are right, but the parameters of `middle` still ask: you have computed with copies of them. Freeze the parameters themselves, `requires_grad_(False)`.
        return (last(h) ** 2).mean() => loss = (last(h) ** 2).mean(); loss.backward(); return loss :: Your function leaves a gradient in `first.weight.grad`
        mean() => sum() :: The squares are added up. The loss is their *mean*, as in the cell.
        return (last(h) ** 2).mean() => middle.eval(); return (last(h) ** 2).mean() :: `middle` is left in eval mode

        instead of middle.parameters():
        [middle.bias]                :: The bias is frozen; the weight still learns. `middle.parameters()` gives both.
        [middle.weight]              :: The weight is frozen; the bias still learns. `middle.parameters()` gives both.
        """),
    exercise(r"""
        8.4 a safe copy
        solution: safe_copy
        probe: _copy_probe
        why: `detach` takes away the history, `clone` gives the values their own memory. You need both.
        shows: What is written into the copy stays in the copy, and the backward pass of `t` still works.
        look: The same values, in their own memory, and no history.
        hint: You need two things: no history, and its own memory. Each is one method.
        hint: `t.clone()` copies the values, and is an operation like any other: it is recorded.
        hint: `t.detach().clone()`

        t.detach()   :: No history, but the same memory: what is written into it shows up in `t`. Copy it: `.clone()`.
        t.clone()    :: Its own memory, but it still asks for gradients: the copying was recorded like any operation. Detach it as well.
        t            :: That is `t` itself, with its history.
        clone() => clone().requires_grad_(True) :: Almost. It was right before you made it ask for gradients again: leave out the last step.
        return t.detach().clone() => t.detach_(); return t.clone() :: `detach_`, with `_` at the end, takes the history away from `t` itself. Leave `t` itself as it is.
        t.detach_()                    :: `detach_`, with `_` at the end, takes the history away from `t` itself, and gives back `t`, not a copy.
        t.detach().copy()              :: `copy` is NumPy's name for it. For a tensor it is `clone()`.
        torch.zeros_like(t)            :: A tensor of that shape, but not the values of `t`.
        t.detach().reshape(-1).clone() :: The values are in a single row now. A copy has the shape of `t`: leave out the `reshape`.
        t.detach() + 1                 :: Its own memory, and no history. But the values are different: copy them, `clone()`, and change nothing.
        """),
    exercise(r"""
        8.5 choose
        solution:
            target, backbone, validate, serve, shared_loop = "b", "c", "a", "e", "d"
        names: ("target", "backbone", "validate", "serve", "shared_loop")
        words: SWITCHES
        why: One value as a constant: `detach`. Weights that stay as they are: `requires_grad_(False)`. No recording for a while: `no_grad`; for ever: `inference_mode`; by a flag: `set_grad_enabled`.
        shows: First decide what should stay out of the gradient: a value, a weight, or a stretch of code. Then there is hardly any choice left.
        hint: Is the question about *one value*, about *weights*, or about *a stretch of code*?
        hint: A stretch of code: `no_grad`, `set_grad_enabled` or `inference_mode`. Which one takes a flag, and which one makes tensors that must never go back into training?

        target = 'a'               :: `no_grad` is for a *stretch of code*. It would do here, around the lines that make the target; but here it is about *one value*, and for that there is a method.
        target = 'c'               :: The target is a result, not a leaf: its flag cannot be changed. Detach it from its history.
        target = 'd'               :: `set_grad_enabled` takes a flag, for a stretch of code. Here there is no flag, and only one value.
        target = 'e'               :: In this loss it would work, because a subtraction keeps neither of its operands. But `mse_loss` keeps them, and refuses a tensor made in `inference_mode`. For *one value* as a constant there is a method.
        backbone = 'a'             :: `no_grad` around a layer in the middle starves all the layers before it. For weights that should not change, there is a flag.
        backbone = 'b'             :: `detach` after a layer in the middle starves all the layers before it. For weights that should not change, there is a flag.
        backbone = 'd'             :: `set_grad_enabled(False)` around a layer is a `no_grad` block: it starves all the layers before it.
        backbone = 'e'             :: `inference_mode` around a layer in the middle cuts the path to all the layers before it, and a layer right after it refuses to keep its result. All the other layers should train.
        validate = 'b'             :: `detach` is for one value. A whole validation has thousands; switch off a *stretch of code*.
        validate = 'c'             :: You would have to freeze every weight, and unfreeze it after each epoch. Switch off a *stretch of code*.
        validate = 'd'             :: `set_grad_enabled(False)` would work here as well. It is made for a flag that is sometimes True; for a stretch that is never recorded there is a simpler one.
        validate = 'e'             :: After validation the numbers go back into training code. Tensors made in `inference_mode` may not be written to there, nor kept for a backward pass.
        serve = 'a'                :: `no_grad` works. But a program that *only ever* makes predictions can promise more, and so save work: which switch is `no_grad` plus a promise?
        serve = 'b'                :: `detach` is for one value. A program that only makes predictions never needs a graph at all.
        serve = 'c'                :: With all weights frozen nothing is recorded either. But a program that only makes predictions can promise more, for a whole stretch of code.
        serve = 'd'                :: `set_grad_enabled` takes a flag. Here nothing is ever switched on again.
        shared_loop = 'a'          :: `no_grad` always turns recording off. The loop runs for training as well: the switch has to take the flag.
        shared_loop = 'b'          :: `detach` is for one value, and it always cuts. The loop trains as well: the switch has to take the flag.
        shared_loop = 'c'          :: Weights that do not ask would not train in the other run. It is the *recording* that the flag should switch.
        shared_loop = 'e'          :: In `inference_mode` nothing trains. The loop runs for training as well: the switch has to take the flag.
        """),
    exercise(r"""
        8.6 train behind a cut
        solution: step_behind_a_cut
        probe: _cut_probe
        why: `detach` after `two` removes the way back to `two` and to `one`. Their gradients stay `None`, and the optimizer skips them; `three` comes after the cut, and learns.
        shows: The exercise asks for zero gradients, and you found `None`: a starved layer stays as it is.
        look: Two blanks: what goes into `three`, and the two calls after the loss.
        hint: The first blank is the second layer, its `tanh`, and then the cut.
        hint: After the loss: backward, then the optimizer's step.
        hint: `torch.tanh(two(h)).detach()`

        torch.tanh(two(h)).detach() => torch.tanh(two(h)) :: Nothing is cut: all three layers learn. Put `.detach()` after layer `two`.
        torch.tanh(two(h)).detach() => torch.tanh(two(h.detach())) :: The cut comes *before* `two`, so `two` still learns. It should come after `two`.
        torch.tanh(two(h)).detach() => two(h).detach()    :: The cut is right; the `tanh` between `two` and `three` is missing, so the loss is different.
        torch.tanh(two(h)).detach() => h.detach()         :: Layer `two` is left out of the computation. It should run, but nothing should lead back through it.
        optimizer.step() => :: The gradients are there, but no step was taken: `optimizer.step()` is missing.
        torch.tanh(two(h)).detach() => torch.tanh(h).detach() :: Layer `two` is left out of the computation. It should run, but nothing should lead back through it.
        optimizer.step() => optimizer.zero_grad() :: The second call is `optimizer.step()`. `zero_grad` has already run, at the beginning; here it clears what the step needs.
        loss.backward() =>    :: No backward pass has run. The optimizer needs gradients before it can step.
        loss.backward() => optimizer.step() ;; optimizer.step() => loss.backward() :: The step comes before the backward pass, when all gradients are `None`. It should be the other way round.
        loss.backward() => loss.backward(); optimizer.zero_grad() :: The gradients are cleared between the backward pass and the step: the step finds nothing.

        for param in [*one.parameters(), *two.parameters()]:
            param.requires_grad_(False)
        return step_behind_a_cut(one, two, three, x, optimizer) :: You have frozen `one` and `two` as well: from now on they no longer ask, not even in later steps. A cut leaves their flags as they are.

        optimizer.zero_grad() => ;; h = torch.tanh(one(x)) => ;; (two(h)).detach() => (two(torch.tanh(one(x)))).detach() :: Nothing clears the gradients: those of an earlier step would be added to the new ones. `optimizer.zero_grad()` comes first.
        loss.item() => (three(h) ** 2).mean().item() :: That is the loss *after* the step. Return the one that `backward()` was called on: `loss.item()`.
        loss.backward() => loss.backward(); loss.backward() :: `backward()` is called twice. The second call needs saved values that the first has freed: one pass is enough.
        optimizer.step() => optimizer.step(); optimizer.step() :: Two steps are taken with one gradient. One `step()` for each `backward()`.
        """),
]
