"""Exercises of lesson 15, gradients of gradients: a ladder, a Hessian, a product with it, Newton, a penalty, twice."""

from __future__ import annotations

from collections.abc import Iterator

import minigrad as torch

from .answers import letters
from .lessons import find_exercise
from .model import Complaint, Exercise, Question
from .side_effects import ASKS, GRAD, VALUES, Watch, counted_passes


def hessian(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows = []
    for i in range(len(x)):
        (row,) = torch.autograd.grad(g[i], x, retain_graph=True)
        rows.append(row)
    return torch.stack(rows)


def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad(g @ v, x)
    return product


def newton(f, x):
    H = torch.func.hessian(f)(x)
    (g,) = torch.autograd.grad(f(x), x)
    return x - torch.linalg.solve(H, g)


def with_penalty(out, x):
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    return out + (g.norm() - 1) ** 2


# what the checks try


def _lesson(x):
    return (x * x * x).sum() + x[0] * x[1]


def _three(x):
    return x[0] * x[1] * x[1] + torch.sin(x[2]) * x[0] + torch.exp(x[1])


def _leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def _tables() -> list[tuple]:
    return [(_lesson, _leaf(1.0, 2.0)), (_three, _leaf(2.0, 0.5, 1.0))]


def _products() -> list[tuple]:
    return [
        (_lesson, _leaf(1.0, 2.0), torch.tensor([1.0, -1.0])),
        (_three, _leaf(2.0, 0.5, 1.0), torch.tensor([1.0, 3.0, 2.0])),
    ]


def _wide(x):
    return (x**3).sum() + x[0] * x[1] - x[-1] * x[1]


def _two_passes(hvp) -> None:
    """A Complaint about a product that is right and took a pass for each input, or a nudge."""
    v = torch.linspace(-1.0, 1.0, 40)
    x = (v * 2 + 0.3).requires_grad_()
    places: list = []

    def listened(at):
        places.append(at.detach().tolist() if isinstance(at, torch.Tensor) else at)
        return _wide(at)

    with counted_passes() as passes:
        hvp(listened, x, v)
    if any(isinstance(at, list) and at != x.tolist() for at in places):
        raise Complaint(
            "The product is right, or nearly. But `f` was run at other places than `x`: that is a nudge of the gradient, and only as "
            "exact as its step is small. Differentiate the recorded gradient instead: two passes, both at `x`."
        )
    if len(passes) > 3:
        raise Complaint(
            f"The product is right. But with 40 inputs it took {len(passes)} backward passes: that is the table, made row by row. "
            "Two passes are enough, however many inputs there are: one for `g`, one for `g @ v`."
        )


def _bowl(x):
    return (x * x * torch.tensor([3.0, 5.0])).sum() + x[0] * x[1] - x[0]


def _curved(x):
    return torch.exp(x[0]) + x[1] ** 4 + x[0] * x[1]


def _places() -> list[tuple]:
    return [(_bowl, _leaf(2.0, -1.0)), (_curved, _leaf(1.0, 2.0))]


def _penalties(with_penalty) -> Iterator[tuple]:
    """The loss, and what arrives at the weight, for two models."""
    for model, at in (
        (lambda w, x: (w * x * x).sum(), (2.0, -1.0)),
        (lambda w, x: torch.tanh(w * x).sum(), (0.5, -1.0, 2.0)),
    ):
        w = torch.tensor(1.5, requires_grad=True)
        x = _leaf(*at)
        watch = Watch(w=w, x=x)
        loss = with_penalty(model(w, x), x)
        besides = watch.told({GRAD, VALUES, ASKS})
        if not isinstance(loss, torch.Tensor):
            raise Complaint("Return a loss, a tensor that `backward()` can begin at.")
        if loss.numel() != 1:
            raise Complaint(
                f"The loss has the shape {tuple(loss.shape)}. The *length* of the gradient is one number: `g.norm()`."
            )
        yield "The loss", loss.detach()
        if not loss.requires_grad:
            raise Complaint(
                "The loss has no way back to the weights any more: `out` itself must stay in it as it is."
            )
        loss.backward()
        yield "and then w.grad", w.grad
        if besides:
            raise Complaint(besides)


def _cube(rule) -> type:
    """A Function for the cube whose backward is `rule(ctx, grad, x, y)`."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**3
            ctx.save_for_backward(x, y)
            ctx.square = x * x
            return y

        @staticmethod
        def backward(ctx, grad):
            return rule(ctx, grad, *ctx.saved_tensors)

    return Cube


def _unrecorded(ctx, grad, x, y):
    with torch.no_grad():
        return grad * 3 * x * x


RULES = {
    "a": lambda ctx, grad, x, y: grad * 3 * x * x,
    "b": lambda ctx, grad, x, y: grad * 3 * ctx.square,
    "c": lambda ctx, grad, x, y: grad * 3 * y / x,
    "d": lambda ctx, grad, x, y: grad * 3 * x.detach() ** 2,
    "e": _unrecorded,
    "f": lambda ctx, grad, x, y: grad * torch.exp(2 * torch.log(x)) * 3,
}
"""The lines of exercise 15.6."""


def _second(rule) -> float | None:
    """The second derivative of (x^3)^2 at 2, as this backward gives it."""
    x = torch.tensor(2.0, requires_grad=True)
    cube = _cube(rule).apply
    (g,) = torch.autograd.grad(cube(x) * cube(x), x, create_graph=True)
    return torch.autograd.grad(g, x)[0].item() if g.requires_grad else None


TWICE = "".join(
    letter for letter, rule in RULES.items() if (found := _second(rule)) and abs(found - 480) < 0.1
)


def _letters(answer) -> Iterator[tuple]:
    chosen = "".join(sorted(letters(answer, "".join(RULES), "twice")))
    if chosen != TWICE and chosen not in (wrong.answer for wrong in find_exercise("15.6").wrong):
        right = sum((letter in chosen) == (letter in TWICE) for letter in RULES)
        raise Complaint(
            f"Of the six you have judged {right} correctly. Ask of each factor: does the graph know how it comes from `x`?"
        )
    yield "You say that these can be differentiated twice", chosen or "none of them"


# what people write


def _column_sums(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(g.sum(), x, retain_graph=True)[0] for _ in range(len(x))])


def newton_with(step):
    def newton(f, x):
        H = torch.func.hessian(f)(x)
        (g,) = torch.autograd.grad(f(x), x)
        return step(x, H, g)

    return newton


def penalty_with(length=lambda g: g.norm(), loss=lambda out, length: out + (length - 1) ** 2, **how):
    def with_penalty(out, x):
        (g,) = torch.autograd.grad(out, x, **how)
        return loss(out, length(g))

    return with_penalty


def _short_cut_letter() -> str:
    return "b"


QUESTIONS: list[Question] = [
    Question(
        "15.a",
        asks="the second derivative of x² at 5",
        truth=lambda: 2.0,
        found="Yes: $2x$ rises by 2 with each unit, everywhere.",
        answers=r"""
            10.0  :: That is the slope, $2x$. Asked is how fast *that* changes.
            25.0  :: That is $x^2$ itself.
            100.0 :: That is the slope squared. The second derivative is the slope of $2x$.
            0.0   :: The slope $2x$ is no constant: at 5 it is 10, at 6 it is 12.
            1.0   :: $2x$ rises by more than that when $x$ goes from 5 to 6.
            5.0   :: The slope is $2x$, and its own slope does not depend on the place.
        """,
        missed="The slope is $2x$: 10 at 5, 12 at 6. It changes by 2 with each unit.",
    ),
    Question(
        "15.b",
        asks="x.grad after backward(create_graph=True) and x.grad.backward()",
        truth=lambda: 105.0,
        found="Yes: 75 from the first pass, and 30 added by the second.",
        answers=r"""
            30.0   :: The second pass does bring 30. But what was in `x.grad` before it, and who has cleared that?
            75.0   :: That is what the first pass leaves. The second adds its own.
            150.0  :: The second pass brings the slope of the slope, 30, and not 75 once more.
            2250.0 :: $75 \cdot 30$: two passes do not multiply, they add what they bring.
            0.0    :: Nothing clears `x.grad` between the two passes.
        """,
        missed="The first pass leaves 75, the second brings 30 and adds it: 105.",
    ),
    Question(
        "15.c",
        asks="the gradient of g.sum()",
        truth=_short_cut_letter,
        found="Yes: a sum of all entries of $g$ has as its gradient the sum of the rows of $H$.",
        answers=r"""
            "a" :: That would be so if $H$ had nothing off its diagonal. Here $g_0$ depends on $x_1$ as well, and the sum takes that along.
            "c" :: One backward pass gives one number for each *input*: two numbers, not four.
            "d" :: `g.sum()` is a single number with a recorded history. Nothing is wrong with it but its name.
        """,
        missed="It is **b**: the gradient of a sum is the sum of the gradients, so the rows of $H$ are added up.",
    ),
]

EXERCISES: list[Exercise] = [
    Exercise(
        "15.1",
        title="a ladder by hand",
        names=("slope", "second", "third", "fourth", "x_grad"),
        solution="""
            slope = 3 * 3**2 + 2 * 3  # 3x² + 2x
            second = 6 * 3 + 2  # 6x + 2
            third = 6  # a constant
            fourth = 0  # of a constant
            x_grad = None  # autograd.grad hands over and leaves .grad alone
            """,
        why="Each step differentiates the line above: $3x^2 + 2x$, $6x + 2$, $6$, $0$. `torch.autograd.grad` returns what it finds and writes nothing into `.grad`.",
        shows="Each rung is a derivative of the one before, and none of them touched `.grad`.",
        look={
            "slope": "Differentiate $x^3$ and $x^2$ each on its own, and add.",
            "second": "Differentiate the *formula* of the slope, not its number.",
            "third": "Differentiate the formula of the second derivative.",
            "fourth": "What is the slope of a constant?",
            "x_grad": "Where does `torch.autograd.grad` put its result?",
        },
        hints=(
            "Write down the formulas first: $x^3 + x^2$, then its derivative, then the derivative of that. Put in 3 at the end.",
            "The slope is $3x^2 + 2x$.",
        ),
        about={
            "third": "The second derivative is a straight line in $x$. How steep?",
            "fourth": "The third does not depend on $x$ any more.",
            "x_grad": "The section above printed `x.grad` after one call.",
        },
        answers=r"""
            slope = 30    :: $x^3$ brings 27. $x^2$ has the slope $2x$, and that is 6 at 3, not 3.
            slope = 15    :: $x^3$ has the slope $3x^2$, not $3x$: 27 and 6.
            second = 8    :: $3x^2$ has the slope $6x$, which is 18 at 3; the 2 comes to it.
            second = 24   :: $2x$ has the slope 2 everywhere, not 6.
            second = 56   :: $3x^2$ has the slope $6x$, not $6x^2$.
            slope = 16.5  :: That is half of it. The slopes of summands are added, not averaged.
            slope = 66    :: That is twice too much: each summand is differentiated once.
            slope = 0     :: A slope of 0 would be a flat place. At 3 both summands rise.
            second = 10   :: Half of it: the slopes of $3x^2$ and of $2x$ are added, not averaged.
            second = 40   :: Twice too much: $3x^2$ and $2x$ are each differentiated once.
            third = 3     :: Half of it: $6x$ rises by more than that with each unit.
            third = 12    :: Twice too much: $6x + 2$, once.
            fourth = 1    :: A constant does not change at all.
            slope = 27    :: That is $x^3$'s part alone. $x^2$ brings its own slope.
            slope = 36    :: That is the value of $y$, $27 + 9$. You need its slope.
            slope = 162   :: The slopes of two summands are added, not multiplied.
            second = 18   :: The $2x$ in the slope has a slope as well.
            second = 0    :: The slope is not 33 everywhere: it is $3x^2 + 2x$, and that changes with $x$.
            second = 1089 :: That is the slope squared. Differentiate it instead.
            second = 33   :: That is the first derivative once more. Differentiate the formula $3x^2 + 2x$.
            third = 18    :: $6x$ is the *second* derivative's part. Its slope does not depend on the place.
            third = 0     :: One rung too far: $6x + 2$ still rises with $x$.
            third = 8     :: The $+2$ of the second derivative is a constant; its slope is 0.
            fourth = 6    :: The third derivative is 6 everywhere. How fast does it change?
            fourth = None :: Something can be said of it: a constant has a slope, and it is a number.
            x_grad = 33   :: `backward()` would have put it there. `torch.autograd.grad` hands its result over.
            x_grad = 59   :: That would be `backward()` four times, added up. `torch.autograd.grad` hands its results over.
            x_grad = 0    :: A zero would be a gradient. Nothing was ever put there.
        """,
    ),
    Exercise(
        "15.2",
        title="the whole table",
        names=("hessian",),
        solution=hessian,
        cases=_tables,
        look={"": "Row $i$ is the gradient of one entry of the gradient. Is each of the three blanks that?"},
        why="`create_graph=True` makes `g` differentiable; row $i$ is the gradient of the one number `g[i]`; `retain_graph=True`, because the next row walks the same graph.",
        shows="One recorded pass, and then one pass for each row: that is the Jacobian of lesson 6, of the gradient.",
        without=(
            ("func", "functional", "jacobian", "jacrev", "jacfwd"),
            "The table is right. But here it should be made by hand, row by row, with `torch.autograd.grad`.",
        ),
        hints=(
            "What has to be switched on so that `g` can be differentiated?",
            "A pass begins at *one* number. Which one belongs to row `i`?",
            "`True`, `g[i]`, `True`.",
        ),
        answers=r"""
            torch.diag(_column_sums(f, x)[0]) :: The gradient of `g.sum()` on the diagonal, and zeros beside it: it is not the diagonal, and you need the entries beside it as well.

            (g,) = torch.autograd.grad(f(x), x, create_graph=False)
            return torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(len(x))]) :: `g` was made without a record. Which argument keeps one?

            (g,) = torch.autograd.grad(f(x), x, create_graph=True)
            return torch.stack([torch.autograd.grad(g[i], x, retain_graph=False)[0] for i in range(len(x))]) :: The first row has freed the graph of `g`, and the second row needs it too.

            _column_sums :: Each row is the sum of *all* rows: `g.sum()` mixes the entries, and so does one `x.grad` that goes on adding up. Begin at one entry, with `torch.autograd.grad`.

            (g,) = torch.autograd.grad(f(x), x, create_graph=True)
            return torch.stack([torch.autograd.grad(g, x, retain_graph=True)[0] for _ in range(len(x))]) :: `g` has several entries, and a pass begins at one number. Which entry belongs to row `i`?

            y = f(x); return torch.stack([torch.autograd.grad(y, x, retain_graph=True)[0] for _ in range(len(x))]) :: That is the gradient of `f` itself, again and again. It is the entries of the *gradient* that should be differentiated.
            (g,) = torch.autograd.grad(f(x), x); return torch.outer(g, g) :: That multiplies the gradient with itself. A second derivative is no product of first ones.
            torch.diag(torch.diag(hessian(f, x)))    :: Only the diagonal. $g_0$ changes with the other inputs too.
            torch.stack([hessian(f, x)[0]] * len(x)) :: Each row is the first one. Use `i`.

            (row,) = torch.autograd.grad(g[i], x, retain_graph=True) => g[i].backward(retain_graph=True) ;; (row) => (x.grad.clone()) :: `backward()` adds up in `x.grad`, so each row contains the ones before it. `torch.autograd.grad` does not.
            2 * hessian(f, x) :: Every entry is twice too large. Each second derivative comes in once.

            (g,) = torch.autograd.grad(f(x), x, create_graph=True)
            rows = [torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(2)]
            return torch.stack(rows) :: 2 is right for two inputs. There is a row for each input: `range(len(x))`.

            return torch.stack(rows) => >> :: Only the first row comes back: the `return` is inside the loop. Put it behind the loop.
            torch.eye(len(x))   :: That is the table of a function whose slope is `x` itself. Differentiate each entry of `g` once more.
            list(hessian(f, x)) :: right
            torch.stack([torch.autograd.grad(torch.autograd.grad(f(x), x, create_graph=True)[0][i], x)[0] for i in range(len(x))]) :: right
        """,
    ),
    Exercise(
        "15.3",
        title="two passes, no table",
        names=("hvp",),
        solution=hvp,
        cases=_products,
        besides=_two_passes,
        look={"": "Two passes: the first gives $g$, recorded. Of which one number is the second?"},
        why="$g \\cdot v$ is one number. Its gradient is $\\sum_i v_i \\nabla g_i = H v$, since $H$ is symmetric. Whatever the number of inputs, that is two passes.",
        shows="A product with a table that was never built. It costs about one more backward pass, be there two inputs or a million.",
        without=(
            ("func", "functional", "hessian", "jacobian", "jacrev", "jacfwd"),
            "The product is right. But it was to be made without the table, and without a ready-made function: two passes.",
        ),
        hints=(
            "The cell above does it for one `f`. Which lines of it are the recipe?",
            "First the gradient, with `create_graph=True`. Then one number made of it and `v`.",
            "The second pass is `torch.autograd.grad(g @ v, x)`; it hands over a tuple with one entry.",
        ),
        answers=r"""
            (g,) = torch.autograd.grad(f(x), x); return torch.autograd.grad(g @ v, x)[0] :: `g` has no history: the first pass has to record itself. (`retain_graph=True` keeps the graph of `f` and records nothing new.)
            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g.sum(), x)[0] ;; return product => :: `v` is not in it: that is the product with ones.
            (g,) = torch.autograd.grad(f(x), x); return g @ v :: $g \cdot v$ is the slope in the direction $v$, one number. Take its gradient.
            (g,) = torch.autograd.grad(f(x), x); return g * v :: That multiplies the gradient by `v`, entry by entry. Nothing has been differentiated a second time.
            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g.sum(), x)[0] * v ;; return product => :: `v` comes in too late: each *column* of the table should be multiplied by its own entry, before the sum.
            v @ hvp(f, x, v)                :: That is $v^\top H v$, one number. One factor `v` is enough.
            torch.autograd.grad(f(x), x)[0] :: That is the gradient. It should be differentiated once more, in the direction `v`.

            moved = (x + v).detach().requires_grad_()
            return torch.autograd.grad(f(moved), moved)[0] - torch.autograd.grad(f(x), x)[0] :: A whole step `v` is no small nudge: the gradient has bent on the way. And here no nudging is needed.

            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ v, x) ;; return product => :: `torch.autograd.grad` hands over a tuple, even for one input. You need its entry: `[0]`.
            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ g, x)[0] ;; return product => :: $g \cdot g$ holds `g` twice. It is `v` that belongs at the other place.
            torch.autograd.grad(torch.autograd.grad(f(x), x, create_graph=True)[0] * v, x)[0] :: `g * v` has an entry for each input, and so has `g`. A pass begins at *one* number: their dot product, `g @ v`.
            torch.autograd.grad(torch.autograd.grad(f(x), x, create_graph=True)[0] @ v, v)[0] :: `v` is held fixed. It is `x` that the second gradient is taken with respect to.

            x = x.detach().requires_grad_()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f(x).backward(create_graph=True)
            (x.grad @ v).backward()
            return x.grad.detach() :: Your two passes have both put something into `x.grad`: that is $g + Hv$. `torch.autograd.grad` hands each result over by itself.

            (g,) = torch.autograd.grad(f(x), x, create_graph=True)
            rows = []
            for i in range(len(x)):
                (row,) = torch.autograd.grad(g[i], x, retain_graph=True)
                rows.append(row)
            return torch.stack(rows) @ v :: that is the table, made row by row.

            h = 1e-2
            def at(place):
                place = place.detach().requires_grad_()
                return torch.autograd.grad(f(place), place)[0]
            return (at(x + h * v) - at(x - h * v)) / (2 * h) :: that is a nudge of the gradient

            (product,) = torch.autograd.grad(g @ v, x) => (g @ v).backward() ;; return product => return x.grad :: Your function leaves a gradient in `x.grad`
            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ abs(v), x)[0] ;; return product => :: `abs` is one too many: `v` has signs, and they count.
            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g[0] * v[0], x)[0] ;; return product => :: That is the first row of the table times the first entry of `v`. All of them count: `g @ v`.
            -hvp(f, x, v) :: The sign is turned. There is no minus in $Hv$.

            (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g, x, grad_outputs=v)[0] ;; return product => :: right
        """,
    ),
    Exercise(
        "15.4",
        title="Newton with many inputs",
        names=("newton",),
        solution=newton,
        cases=_places,
        look={"": "With one input it was $x - f'/f''$. What takes the place of the division?"},
        why="`torch.linalg.solve(H, g)` is the step that brings the gradient to 0 if it goes on changing as $H$ says. It is taken away from `x`.",
        shows="One step to the bottom of a bowl, whatever its shape: the curvature says how long the step must be.",
        hints=(
            "With one input: $x - f'/f''$.",
            "`torch.linalg.solve(H, g)` is $H^{-1}g$.",
        ),
        answers=r"""
            newton_with(x, H, g):
            x - 0.1 * torch.linalg.solve(H, g) :: A learning rate has come in. Newton's step needs none: the curvature says how far.
            x - g / H.sum(1)                   :: The rows of `H` are added up first. What mixes the inputs is then lost: solve the whole system, `torch.linalg.solve(H, g)`.
            x + torch.linalg.solve(H, g)       :: The wrong way: the step leads *against* the slope.
            torch.linalg.solve(H, g)           :: That is the step. Where does it lead from `x`?
            -torch.linalg.solve(H, g)          :: That is the step, with its sign. Where does it lead from `x`?
            x - H @ g                          :: That multiplies by the curvature. The more curved, the *shorter* the step.
            x - g                              :: That is gradient descent with the rate 1. `H` is not in it.
            x - g / torch.diag(H)              :: That divides by the diagonal alone. The inputs depend on each other: use `torch.linalg.solve`.
            x - g / H                          :: A table under a fraction line divides entry by entry, and a table comes out. `torch.linalg.solve(H, g)` is meant.
            x - torch.linalg.solve(H, x)       :: It is `g` that should be brought to 0, not `x`.
            x - 0.5 * torch.linalg.solve(H, g) :: Half of the step. On a bowl the whole of it leads to the bottom.
            x - torch.linalg.solve(g, H)       :: `solve` wants the table first, then the gradient: `torch.linalg.solve(H, g)`.
            x - torch.linalg.solve(H, g).sum() :: The step is summed, so every entry moves by the same. Each has a step of its own: leave out the `sum`.
            x - torch.inverse(H) @ g           :: right
        """,
    ),
    Exercise(
        "15.5",
        title="a penalty that works",
        names=("with_penalty",),
        solution=with_penalty,
        probe=_penalties,
        look={
            "": "The loss is `out` and the penalty. Are both in it, and do both have a way back to the weights?"
        },
        why="`create_graph=True` gives `g` its way back to the weights (and keeps the graph of `out`, so `retain_graph` is not needed as well). Then the penalty pulls at them like any other part of the loss.",
        shows="The gradient is part of the loss, and the weights feel it. Whether they do is invisible in the loss itself: look at `w.grad`.",
        hints=(
            "Which argument makes the gradient differentiable?",
            "The penalty: the length `g.norm()`, minus 1, squared.",
            "`return out + (g.norm() - 1) ** 2`",
        ),
        answers=r"""
            penalty_with(length=lambda g: g.abs().sum(), create_graph=True) :: The sum of the sizes is not the length: that is the root of the sum of the squares, `g.norm()`.
            penalty_with(loss=lambda out, length: out + 2 * (length - 1) ** 2, create_graph=True) :: The penalty is in it twice.
            penalty_with(retain_graph=True) :: The loss has the right *value*, and the weights do not feel the penalty: `g` has no history, or a `detach()` has cut it off. `retain_graph=True` keeps the graph of `out`; it records nothing new.
            penalty_with()                  :: Your first pass has freed the graph of `out`, which the loss still needs. And a gradient that can be differentiated needs more than keeping.
            penalty_with(length=lambda g: g.sum(), create_graph=True) :: The sum of the entries is not the length: positive and negative ones cancel. `g.norm()` is meant.
            penalty_with(length=lambda g: (g * g).sum(), create_graph=True) :: That is the *square* of the length. Its root is missing.
            penalty_with(loss=lambda out, length: out, create_graph=True) :: The penalty is not in the loss: that is `out`, as it came in.
            penalty_with(loss=lambda out, length: out + (length - 1) * 2, create_graph=True) :: Twice the distance is not its square: `** 2`.
            penalty_with(loss=lambda out, length: (length - 1) ** 2, create_graph=True) :: `out` itself has gone from the loss.
            penalty_with(loss=lambda out, length: out + length**2, create_graph=True) :: That pulls the length to 0. It should be 1.
            penalty_with(loss=lambda out, length: out + length - 1, create_graph=True) :: Without the square, a shorter and shorter gradient makes the loss smaller and smaller.
            penalty_with(loss=lambda out, length: out - (length - 1) ** 2, create_graph=True) :: A penalty is added. Taken away, it is a reward.
            penalty_with(loss=lambda out, length: (out + length - 1) ** 2, create_graph=True) :: The square is for the penalty alone, not for `out`.
            out + (out - 1) ** 2            :: That pulls the *output* to 1. It is the length of its gradient that is meant.

            out.backward(retain_graph=True); return out + (x.grad.norm() - 1) ** 2 :: `backward()` leaves a gradient without a history in `x.grad`, and its own part in every weight's account besides.
            (g,) => g ;; g.norm() => g :: `torch.autograd.grad` hands over a tuple, even for one input. Take its entry: `(g,) = ...`
            penalty_with(loss=lambda out, length: out.detach() + (length - 1) ** 2, create_graph=True) :: The loss has the right value. But `out` is cut off in it: what the weights feel is the penalty alone.
            penalty_with(length=lambda g: g, loss=lambda out, g: out + ((g - 1) ** 2).sum(), create_graph=True) :: That pulls *each entry* of the gradient to 1. It is the length of the whole that should be 1: `g.norm()`.
            penalty_with(loss=lambda out, length: out + length**2 - 1, create_graph=True) :: The 1 belongs inside the square: $(|g| - 1)^2$. As it stands the length is pulled to 0.
            penalty_with(loss=lambda out, length: out + abs(length - 1), create_graph=True) :: The distance from 1 is not squared: `** 2`.
            penalty_with(length=lambda g: g.norm() / len(g) ** 0.5, create_graph=True) :: Divided by the root of the number of entries. The length is `g.norm()`, nothing more.
            penalty_with(length=lambda g: g[0].abs(), create_graph=True) :: That is the size of the first entry. The length of the whole gradient is `g.norm()`.

            (g,) = torch.autograd.grad(out.sum(), x, create_graph=True, retain_graph=True)
            return out + ((g * g).sum().sqrt() - 1).square() :: right
        """,
    ),
    Exercise(
        "15.6",
        title="which can be differentiated twice?",
        names=("twice",),
        solution=f'twice = "{TWICE}"',
        probe=_letters,
        why=(
            "`x` is an input and `y` an output: the graph knows both, so **a**, **c** and **f** are recorded as what they are. `ctx.square` was made inside "
            "`forward`, where nothing is recorded; `detach()` and `no_grad` cut. The three give the right slope and a wrong second one."
        ),
        shows="Right the first time says nothing of the second. A factor counts only if the graph knows how it comes from the input.",
        hints=(
            "The slope is right in all six. Ask of each *factor*: is it known how it depends on `x`?",
            "Inside `forward` nothing is recorded. Inputs and outputs are known to the graph all the same.",
            "Two of the wrong ones cut on purpose. The third has a factor that was made where nothing is recorded.",
        ),
        answers=r"""
            "a"             :: That one, yes. But an *output* may be kept as well as an input, and a detour over other operations is recorded too.
            "af"            :: One is missing. `y` is the output, and the graph knows where it comes from: $3y/x$ is recorded as well.
            "ac"            :: One is missing. It is written strangely, but which of its operations would not be recorded?
            "cf"            :: Look at **a** again: `x` is the input, as it was given. Everything is recorded.
            "abcf"          :: One is too many. Where was `ctx.square` made, and is anything recorded there?
            "acdf"          :: One is too many. What does `detach()` do to the way back?
            "acef"          :: One is too many. What is recorded inside a `no_grad` block?
            "abcdef"        :: Not all. Go through them and ask of each factor: does the graph know how it comes from `x`?
            "bde"           :: Those are the ones that do *not* work.
            ""              :: Some do. Ask of each factor: does the graph know how it comes from `x`?
            "abf"           :: `ctx.square` was made inside `forward`, where nothing is recorded. And what about `y`?
            "ab"            :: `ctx.square` was made inside `forward`, where nothing is recorded. And do **c** and **f** use anything like it?
            list("acf")     :: right
            "a, c, f"       :: right
            {"a", "c", "f"} :: right
        """,
    ),
]
