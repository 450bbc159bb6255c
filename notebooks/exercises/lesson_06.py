"""Exercises of lesson 06, Vectors in, vectors out: a Jacobian and a product by hand, all rows, unbroadcast, which v."""

from __future__ import annotations

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import GRAD, unchanged


def rows_of_jacobian(f, x):
    rows = []
    for i in range(len(f(x))):
        x.grad = None
        y = f(x)
        v = torch.zeros_like(y)
        v[i] = 1.0
        y.backward(gradient=v)
        rows.append(x.grad.clone())
    return torch.stack(rows)


def unbroadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.sum(0)  # an axis that was added in front
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis, keepdim=True)  # an axis that was stretched
    return grad


def _leaf(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, requires_grad=True)


def _neighbours(x):
    return x[:2] * x[1:]


def _powers(x):
    return torch.stack([x[0] ** 2, x[0] * x[1], 5 * x[1]])


def _jacobian_probe(learners):
    for label, f, x, rows in (
        ("[x0 * x1, x1 * x2] at [1, 2, 3]", _neighbours, _leaf(1.0, 2.0, 3.0), 2),
        ("[x0 ** 2, x0 * x1, 5 * x1] at [3, 2]", _powers, _leaf(3.0, 2.0), 3),
    ):
        passes: list = []

        def listened(x, f=f, passes=passes):
            y = f(x)
            if y.requires_grad:
                y.register_hook(passes.append)
            return y

        with unchanged({"x": {GRAD}}, x=x):
            found = learners(listened, x)
        if isinstance(found, list) and found:
            raise Complaint("You return a list of rows. Return one table, a tensor: `torch.stack` makes one.")
        yield label, found
        if found is not None and len(passes) < rows:
            raise Complaint(
                f"The numbers are right, but {f'only {len(passes)}' if passes else 'no'} backward pass{'es' * (len(passes) != 1)} ran. "
                "Here each row should come from its own backward pass, and none from a nudge."
            )
        yield f"The `v` with which your passes began, for {label}", list(passes)


def _one_hot(y, i):
    return torch.eye(len(y))[i]


def _grid(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(1.0, rows * columns + 1).reshape(rows, columns)


def _unbroadcast_cases() -> list[tuple]:
    return [
        (torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), (2,)),
        (_grid(2, 3), (2, 1)),
        (_grid(2, 3), (2, 3)),
        (_grid(3, 2), (1, 2)),
        (_grid(2, 3), ()),
        (torch.arange(1.0, 25.0).reshape(4, 2, 3), (2, 1)),
        (_grid(2, 3) - 4.5, (1, 1)),
        (torch.arange(1.0, 61.0).reshape(5, 2, 3, 2) - 20, (2, 1, 2)),
        (_grid(1, 3), (1, 3)),
    ]


def _short(grad, shape):
    """Another right answer: sum over all of the axes at once, then reshape."""
    front = grad.dim() - len(shape)
    axes = [*range(front), *(front + i for i, size in enumerate(shape) if size == 1)]
    return (grad.sum(axes) if axes else grad).reshape(shape)


def _gradient_of(v) -> torch.Tensor:
    x = _leaf(1.0, 2.0, 3.0)
    _neighbours(x).backward(gradient=torch.tensor(v))
    return x.grad


def _refuses() -> str:
    try:
        _neighbours(_leaf(1.0, 2.0, 3.0)).backward()
    except RuntimeError:
        return "c"
    return "b"


QUESTIONS: list[Question] = [
    question(r"""
        6.a what y.backward() does when y has two entries
        truth: _refuses()
        found: Yes. There are two results, and you have not said which one you mean, or how much each counts. The machine does not guess.
        missed: It raises an error: with two results the machine does not know which gradient you want.

        "a" :: Nothing makes the first entry special. The machine refuses, and asks you to say what you want.
        "b" :: That is a possible convention, and some libraries use it. Here the machine refuses: you have to say that you want the sum.
        """),
    question(r"""
        6.b the gradient of y0 + 10 y1 with respect to x2
        truth: _gradient_of([1.0, 10.0])[2].item()
        found: Yes: the last column of the table is (0, 2), and $1 \cdot 0 + 10 \cdot 2 = 20$.
        missed: Down the last column: $1 \cdot 0 + 10 \cdot 2 = 20$.

        2.0  :: 2 is the slope of $y_1$. In $L$ it counts ten times.
        10.0 :: 10 is the weight of $y_1$ in $L$. When $x_2$ rises by 1, $y_1$ rises by $x_1 = 2$.
        30.0 :: $10 \cdot 3$: but in $y_1 = x_1 x_2$ it is *the other* factor that counts, $x_1 = 2$.
        22.0 :: The first entry of the column is 0: $y_0$ does not depend on $x_2$. So $0 + 20$.
        11.0 :: 11 is the sum of `v`. Go down the last column of the table: each slope times its weight.
        31.0 :: 31 belongs to $x_1$. For $x_2$ take the last column.
        1.0  :: 1 is the weight of $y_0$, and $y_0$ does not depend on $x_2$. Go down the last column: each slope times its weight.
        12.0 :: Along a path numbers are multiplied: $10 \cdot 2$, not $10 + 2$.
        """),
    question(r"""
        6.c the gradient of a bias that was added to three rows
        truth: slope(lambda b: (torch.zeros(3, 2) + b) * torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), [0.0, 0.0])
        found: Yes: each entry was used three times, and what comes back from the three uses is added.
        missed: `b[0]` is in three results, with weights 1, 2 and 3, so it gets 6. In the same way, `b[1]` gets 60.

        [2.0, 20.0]                             :: That is the mean of each column. Raise `b[0]` by 1: three results rise, with weights 1, 2 and 3: together 6.
        [1.0, 10.0]                             :: That is what the first row brings. The same `b` was added to two more rows.
        [3.0, 3.0]                              :: That is how many times each entry was used. It is right when ones arrive; here 1, 2, 3 and 10, 20, 30 arrive.
        [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]] :: That is what arrives at the addition. `b` has two entries, so its gradient has two.
        [11.0, 22.0, 33.0]                      :: Those are the sums of the rows. `b[0]` was added down the first *column*.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        6.1 a table and a row
        solution:
            jacobian = [[6, 0],   # y0 = x0 ** 2:  2 * x0, there is no x1 in it
                        [2, 3],   # y1 = x0 * x1:  the other factor
                        [0, 5]]   # y2 = 5 * x1
            x_grad = [26, 25]     # 1 * 6 + 10 * 2 - 1 * 0,  1 * 0 + 10 * 3 - 1 * 5
        why: Each row of the Jacobian is the gradient of one result. Then go down each column and weight its entries with $v$: $1 \cdot 6 + 10 \cdot 2 - 1 \cdot 0 = 26$ and $1 \cdot 0 + 10 \cdot 3 - 1 \cdot 5 = 25$.
        shows: `v` has three numbers, one for each result; `x.grad` has two, one for each input.
        hint: Three results, two inputs: three rows of two. The first row is $\partial y_0/\partial x_0$, $\partial y_0/\partial x_1$.
        hint: The rows are $(2x_0, 0)$, $(x_1, x_0)$ and $(0, 5)$. Put in $x = (3, 2)$.
        hint: The first entry of `x_grad`: down the first column, each entry times its entry of $v$: $1 \cdot 6 + 10 \cdot 2 - 1 \cdot 0$.

        [[6, 2, 0], [0, 3, 5]], [26, 25]       :: `x_grad` is right. The table is transposed: it should have a row for each *result*, a column for each input.
        [[6, 0], [3, 2], [0, 5]], [36, 15]     :: Look at the second row. In a product the slope is *the other* factor: for $x_0$ it is $x_1 = 2$.
        [[9, 0], [6, 6], [0, 10]], [69, 50]    :: Those are the values of the results. The table holds slopes: how far each result moves, per unit of an input.
        [[6, 0], [2, 3], [0, 5]], [8, 8]       :: The table is right. You added its rows, as with $v = (1, 1, 1)$. Here the second row has the weight 10, the third $-1$.
        x_grad = [26 / 3, 25 / 3]              :: You average over the three results. Nothing is averaged: what each result brings is added.
        x_grad = [8 / 3, 8 / 3]                :: That is the mean of the rows. Each row gets its weight from $v$, and then they are *added*.
        x_grad = [6, 30]                       :: That is only the diagonal. Go down the whole first column: $x_0$ moves two of the results.
        x_grad = [28, 25]                      :: In the first column the last entry is 0: $y_2$ does not depend on $x_0$. And $10 \cdot 2$ is 20.
        x_grad = [26, 30]                      :: The last row is missing: its weight is $-1$.
        x_grad = [6, 20, 0]                    :: That is the first column, weighted. Add it up: the sum is the first entry of `x_grad`.
        x_grad = [25, 26]                      :: The two are swapped: the first entry belongs to $x_0$, the first column.
        x_grad = [26, 20]                      :: In the second column the middle entry is 3 and the last one is 5: $10 \cdot 3 - 1 \cdot 5$.
        jacobian = [[2, 0], [2, 3], [0, 5]]    :: The slope of $x_0^2$ is $2x_0$, not 2. Put in $x_0 = 3$.
        jacobian = [[6, 0], [2, 3], [0, 1]]    :: $y_2 = 5\,x_1$: raise $x_1$ by 1, and it goes up by 5.
        jacobian = [[0, 6], [3, 2], [5, 0]]    :: The columns are swapped: the first column is for $x_0$, the second for $x_1$.
        jacobian = [[6, 1], [2, 3], [1, 5]]    :: Where a result does not depend on an input, it does not move at all: 0, not 1.
        x_grad = 51                            :: `x_grad` has an entry for each input. Do not add the two.
        x_grad = [10, 10]                      :: 10 is the weight of the second row. For each entry of `x_grad`, go down a *column* of the table.
        jacobian = [[6, 0], [3, 2], [0, 5]]    :: Look at $y_1 = x_0\,x_1$. In a product the slope is *the other* factor.
        jacobian = [[6, 0], [2, 3], [5, 0]]    :: $y_2 = 5\,x_1$: it is $x_1$, the *second* input, that moves it. The columns are the inputs.
        jacobian = [[6, 0], [2, 3], [0, 10]]   :: 10 is the value of $y_2$. How far does it move when $x_1$ moves by 1?
        jacobian = [[9, 0], [2, 3], [0, 5]]    :: 9 is the value of $y_0$. The slope of $x_0^2$ at 3 is a different number.
        jacobian = [[6, 0], [6, 6], [0, 5]]    :: 6 is the value of $y_1$. It has a slope for each input, and that is the other factor.
        jacobian = [[6, 6], [2, 3], [0, 5]]    :: $y_0 = x_0^2$ does not depend on $x_1$. So what belongs in its place?
        jacobian = [6, 5, 5]                   :: Each result has a slope for *each* input: three rows of two.
        [[6, 0], [2, 3], [0, 5]], [26, 35]     :: Almost: the last entry of $v$ is $-1$, so the 5 is subtracted.
        [[6, 0], [2, 3], [0, 5]], [[6, 0], [20, 30], [0, -5]] :: Those are the rows, each with its weight. Now add them up: one row of two is left.
        [[6, 0], [2, 3], [0, 5]], [6, 50, -5]  :: `x_grad` belongs to `x`, so it has two entries: one for each *column* of the table.
        [[3, 0], [2, 3], [0, 5]], [23, 25]     :: The slope of $x_0^2$ at 3 is $2 \cdot 3$.
        """),
    exercise(r"""
        6.2 all rows
        solution: rows_of_jacobian
        probe: _jacobian_probe
        why: A $v$ with a 1 at position $i$ picks row $i$. Each pass *adds* to `x.grad`, so it has to be cleared, or every row contains the rows before it.
        shows: You can build any Jacobian with nothing but backward passes: one per row. PyTorch's `jacrev` does the same.
        look: Print your first row, and the second. What should be in `v` for each?
        hint: For row $i$, `v` has a 1 at position $i$ and 0 elsewhere. It is as long as `y`.
        hint: `v` is all zeros already. So `v[i] = 1.0`. Now look at your second row: what is in it that should not be?
        hint: `.grad` adds up. Before each pass: `x.grad = None`.

        x.grad = None => x.grad = x.grad if x.grad is None else x.grad.zero_() ;; x.grad.clone() => x.grad :: All your rows are one and the same tensor: `zero_()` and the next pass write into it. Keep a `clone()` of it.
        at = x.detach()
        columns = [(f(at + n) - f(at - n)) / 2 for n in torch.eye(len(at))]
        return torch.stack(columns, dim=1) :: The numbers are right, but no backward passes ran.
        rows = [] => rows, y = [], f(x) ;; y = f(x) => :: `y` was computed once, outside the loop, and the first pass freed what its graph had kept. Compute `y` again for each row (or keep the values on purpose: `retain_graph=True`).
        gradient=v => torch.tensor(float(i)) :: `v` has one entry for each entry of `y`. A single number does not say which row is meant.
        y.backward(gradient=v) => y.backward() :: Without `v` the engine does not know which of the results you mean. Say which: `y.backward(gradient=v)`, with a 1 at position $i$.
        rows = [] => rows, v = [], torch.zeros(len(f(x))) ;; v = torch.zeros_like(y) => :: The first row is right. In the second, `v` still has the 1 of the first: make a new `v` inside the loop.
        rows.append(x.grad.clone()) => << :: Only the last row is left. Either `rows.append` comes after the loop and should be indented, or each iteration begins a new list.
        range(len(f(x))) => range(len(f(x)) - 1) :: The last row is missing: `range(len(y))` already ends one before `len(y)`.
        (len(f(x))): => (len(x)):                     :: There are as many rows as *results*: `len(f(x))`, not `len(x)`.
        x.grad = None => ;; x.grad.clone() => x.grad  :: Your $v$ is right. But `x.grad` is *one* tensor that keeps changing, so all your rows are its last state: keep a `clone()`, and clear it before each pass.
        x.grad = None =>                              :: The first row is right. The second contains the first as well: `.grad` adds up. Clear it before each pass.
        x.grad.clone() => y.detach()                  :: What belongs in `rows` is `x.grad`, the gradient of `x`. You kept the *value* of `y`.
        x.grad.clone() => torch.ones_like(y)          :: What belongs in `rows` is `x.grad`, the gradient of `x`, not `v`.
        gradient=v => torch.ones_like(y) ;; x.grad = None => :: Two things are wrong. Ones add all rows: what picks row $i$ alone? And `.grad` adds up from pass to pass.
        rows_of_jacobian(f, x)[:1]                    :: Only one row came out. Is the `return` inside the loop?
        rows_of_jacobian(f, x).reshape(-1)            :: The numbers are right, but in one long row. `torch.stack(rows)` puts the rows one below the other; `cat` strings them together.
        torch.stack(rows) => torch.stack(rows, dim=1) :: The numbers are right, but transposed: there should be a row for each result. `torch.stack(rows)` puts them one below the other.
        instead of gradient=v:
        torch.ones_like(y) / len(y)                   :: That is the mean of all rows, each time. Nothing is averaged: a 1 at position $i$ picks row $i$.
        _one_hot(y, len(y) - 1 - i)                   :: The rows are right, but in the wrong order: row $i$ belongs to $y_i$, so the 1 belongs at position $i$.
        torch.ones_like(y)                            :: Ones add all rows, so each of your rows is the same sum. To pick row $i$, put a 1 at position $i$ and zeros elsewhere.
        _one_hot(y, i) * (i + 1)                      :: Row $i$ comes out $i + 1$ times as large as it should be. At position $i$ there should be a 1.
        _one_hot(y, i) * i                            :: `i` says *where* the 1 goes. You put `i` itself there, so your first row is all zeros.
        -_one_hot(y, i)                               :: The rows are right, with the wrong sign. At position $i$ there should be 1, not $-1$.
        _one_hot(y, i) / len(y)                       :: You divide by the number of rows. Nothing is averaged: each row is picked by a 1.
        _one_hot(y, 0)                                :: Each of your rows is row 0. The 1 has to move: it belongs at position $i$ in pass $i$.
        y.detach() * _one_hot(y, i)                   :: Your `v` holds the *value* of `y` instead of a 1. The value does not matter here: put a 1 at position $i$.
        """),
    exercise(r"""
        6.3 undo the broadcast
        solution: unbroadcast
        cases: _unbroadcast_cases
        strict: True
        why: The gradients of the copies are added up. An axis that broadcasting put in front is summed away; one that it stretched from 1 is summed and kept with length 1. What was not stretched stays as it is.
        shows: These six lines undo broadcasting for every operation in the library.
        look: Print `grad.shape` and `shape` next to each other: which axes are extra, and which were stretched from 1?
        hint: First the axes in front: as long as `grad.dim()` is larger than `len(shape)`, sum over axis 0.
        hint: Now both have the same number of axes. Where `shape` says 1, sum over that axis; `keepdim=True` leaves a 1 in its place.
        hint: The second half: `for axis, size in enumerate(shape):`, and in it `if size == 1: grad = grad.sum(axis, keepdim=True)`.

        grad.sum(0)                    :: That is right for a row that was added to several rows. But what if the *column* was stretched, or nothing at all? Look at `shape`.
        grad.sum()                     :: That adds up everything. Each entry gets only what came back from *its own* copies.
        grad                           :: The gradient still has the large shape. Entries that are copies of one another have to be added up.
        (0) => (-1)                    :: That sums over the *last* axis. New axes are put in front, so it is axis 0 that has to go, once for each extra axis.
        grad.reshape(-1)[: torch.ones(shape).numel()].reshape(shape) :: That cuts a piece out of the gradient. Nothing may get lost: what comes back from copies is added up.
        torch.ones(shape) * grad.numel() / torch.ones(shape).numel() :: That counts how many times each entry was used, which is right when ones arrive; here other numbers arrive: sum them.
        torch.ones(shape) * grad.sum() :: That is the sum of *everything*, in each place. Each entry gets only what came back from its own copies.
        sum(0) => max(0)[0] ;; sum(axis, keepdim=True) => max(axis, keepdim=True)[0] :: The shapes are right. But you keep only the largest gradient: what comes back from all copies is *added*.
        while grad.dim() > len(shape): => shape = (1,) * (grad.dim() - len(shape)) + tuple(shape) ;; grad = grad.sum(0) => :: The sums are right, but the axes in front stay, with length 1. They should disappear: sum them without `keepdim`.
        sum(0) => mean(0) ;; grad = grad.sum(axis, keepdim=True) => grad = grad.mean(axis, keepdim=True) :: The shapes are right. But the gradients of the copies are *added*, not averaged: `sum`.
        grad.sum(0) => grad[0] ;; sum(axis, keepdim=True) => narrow(axis, 0, 1) :: The shapes are right, but you keep one copy and drop the rest. Each copy brings a gradient: add them.
        for axis, size in enumerate(shape): => ;; if size == 1: => ;; grad = grad.sum(axis, keepdim=True) => :: The axes in front are done. One more thing: where `shape` has a 1, an axis was stretched. Sum it too, and keep it.
        while grad.dim() > len(shape): => ;; grad = grad.sum(0) => :: The stretched axes are done. But broadcasting may have put whole axes *in front*: sum these first, without `keepdim`.
        enumerate(shape) => reversed([*enumerate(shape)]) ;; sum(axis, keepdim=True) => sum(axis) :: The sums are right, but an axis of length 1 got lost: a `(2, 1)` came out as `(2,)`. `keepdim=True` keeps it.
        axis, keepdim => 0, keepdim    :: You always sum axis 0. Sum the axis that was stretched: `grad.sum(axis, keepdim=True)`.
        grad.sum(0) => grad[0]         :: `grad[0]` keeps the first of the parts and drops the others. They are added up: `grad.sum(0)`.
        while grad.dim() > len(shape): => if grad.dim() > len(shape): :: That removes one axis in front. There may be several: `while`, not `if`.

        if tuple(grad.shape) != shape:
            grad = grad.sum(0)
        return grad :: That sums axis 0 once, whichever axes differ. First sum away the axes in front, then each axis of size 1, with `keepdim=True`.

        return grad => return grad.reshape(shape) ;; for axis, size in enumerate(shape): => ;; if size == 1: => ;; grad = grad.sum(axis, keepdim=True) => :: `reshape` only rearranges numbers and adds none up. Sum each axis of size 1, with `keepdim=True`.
        grad.reshape(shape)            :: `reshape` only rearranges the numbers. Where one number was used many times, what comes back has to be *added up*.
        sum(axis, keepdim=True) => max(axis, keepdim=True)[0] :: You keep only the largest gradient. What comes back from all uses is *added up*: `sum`.
        """),
    exercise(r"""
        6.4 which v?
        solution:
            v_sum = torch.ones(4)             # each entry counts 1
            v_mean = torch.full((4,), 0.25)   # each counts for a quarter
            v_third = [0.0, 0.0, 1.0, 0.0]    # only y[2] counts
            v_squares = [2.0, 4.0, 6.0, 8.0]  # d(y * y)/dy = 2 * y
        why: `v` is the gradient of what comes *after* `y`, with respect to `y`. So differentiate the rest: the sum gives ones, the mean gives quarters, an index a single 1, the sum of squares $2y$.
        shows: Whatever comes after `y`, all that the backward pass needs at `y` is `v`.
        hint: For each line ask: if `y[0]` goes up by a little, how many times as much does the single number at the end go up? That is `v[0]`.
        hint: The mean: each entry counts for $1/4$. `y[2]`: only the third entry counts.
        hint: The sum of squares has the slope $2y$ in each entry. So here `v` depends on the values of `y`: `[2., 4., 6., 8.]`.

        1.0, 0.25, 1.0, 2.0             :: `v` has one entry for each entry of `y`: four numbers in a list or a tensor.
        [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 0], [2, 4, 6, 8] :: In the *mean* of four, an entry counts for a quarter.
        [1, 1, 1, 1], [0.25] * 4, [0, 0, 0, 1], [2, 4, 6, 8] :: `y[2]` is the *third* entry: Python counts from 0.
        [1, 1, 1, 1], [0.25] * 4, [0, 0, 3, 0], [2, 4, 6, 8] :: 3 is the *value* of `y[2]`. When `y[2]` goes up by 1, the result goes up by 1.
        [1, 1, 1, 1], [0.25] * 4, [0, 0, 1, 0], [1, 4, 9, 16] :: Those are the squares. `v` holds the slopes of $y^2$.
        [1, 1, 1, 1], [0.25] * 4, [0, 0, 1, 0], [2, 2, 2, 2] :: The slope of $y^2$ is not 2 everywhere: it is $2y$, and the four entries differ.
        v_third = [0, 0, 1]             :: `v` has the shape of `y`: four entries, including those that do not count.
        v_mean = [0.2] * 4              :: There are four entries in `y`, not five.
        v_mean = [1 / 3] * 4            :: There are four entries in `y`, not three.
        v_squares = [4, 8, 12, 16]      :: The slope of $y^2$ is $2y$. You doubled it once more.
        v_squares = [2, 8, 18, 32]      :: That is $2y^2$. The exponent goes down by one: $2y$.
        v_sum = [4, 4, 4, 4]            :: 4 is how many there are. In a sum each entry counts once.
        v_sum = [0, 0, 0, 0]            :: That would be a loss in which nothing counts. In a sum each entry counts once.
        v_sum = [1, 0, 0, 0]            :: That picks one entry. In a sum all four of them count.
        v_third = [0, 0, 0.25, 0]       :: There is no mean here. The entry that counts gets a 1.
        v_third = [0, 0, 2, 0]          :: 2 is the *index*. It says which entry counts; that entry gets a 1.
        v_sum = 1.0                     :: `v` has the shape of `y`: a 1 for *each* of the four entries.
        v_sum = [1, 2, 3, 4]            :: Those are the values of `y`. In a sum each entry counts once, however large it is.
        v_sum = [0.25] * 4              :: An entry counts for a quarter of the *mean*. In a sum it counts in full.
        v_sum = [10, 10, 10, 10]        :: 10 is the sum. `v` says how far it moves when an entry moves by 1.
        v_mean = [2.5] * 4              :: 2.5 is the mean itself. How far does it move when one entry moves by 1?
        v_mean = [4, 4, 4, 4]           :: It is the other way round: each entry is *divided* by 4 on its way into the mean.
        v_mean = [0.25, 0.5, 0.75, 1.0] :: You multiplied by the values of `y`. In a mean each entry counts the same.
        v_mean = 0.25                   :: A quarter is right, for *each* of the four entries: `v` has the shape of `y`.
        v_third = [0, 1, 0, 0]          :: Python counts from 0: `y[2]` is not the second entry.
        v_third = [1, 1, 1, 1]          :: All ones would add all entries. You need only one of them.
        v_third = [1, 1, 0, 1]          :: It is the other way round: the entry that counts gets the 1.
        v_third = 3.0                   :: `v` has the shape of `y`, four entries. Which of them counts?
        v_squares = [1, 1, 1, 1]        :: That is the `v` for `y.sum()`. Here the squares are summed, so each entry contributes its slope.
        v_squares = [2, 4, 9, 16]       :: Three of these are the squares of the values. `v` holds the slopes of $y^2$ at each entry.
        v_squares = 20.0                :: `v` has the shape of `y`: each entry has its own slope.
        v_squares = [0.5, 1, 1.5, 2]    :: The slope of $y^2$ is twice $y$, not half of it.
        [1, 1, 1, 1], [0.25] * 4, [0, 0, 1, 0], [1, 2, 3, 4] :: The slope of $y^2$ is $2y$: twice that.
        [1, 2, 3, 4], [0.25, 0.5, 0.75, 1.0], [0, 0, 3, 0], [1, 4, 9, 16] :: You multiplied by the values of `y`. `v` says how much each entry *counts*: in a sum, each counts once.
        """),
    exercise(r"""
        6.5 what does it cost?
        solution:
            entries = 20 * 500        # a row for each score, a column for each input
            passes_for_jacobian = 20  # one per row
            passes_for_loss = 1       # one number at the end
        rtol: 1e-6
        counts: 1
        why: A backward pass gives one row: all inputs, one $v$. Twenty scores make twenty rows. The loss is a single row.
        shows: The number of *inputs* does not matter. That is why a network may have a billion weights and one loss.
        look entries: A row for each score, and a column for each of the 500 numbers.
        look passes_for_jacobian: What does one pass give: a row, a column, or an entry? How many of these are there?
        look passes_for_loss: How many numbers are there at the end?
        hint: A row for each score, a column for each input.
        hint: One pass with one $v$ gives one row, however long it is.
        hint: The loss is one number. How many rows does its Jacobian have?

        entries = 1000 :: You lost a zero: $20 \cdot 500$ is ten times that.
        entries = 0.0               :: Each score depends on each of the 500 numbers, so the table is full of slopes. Count its rows and columns.
        entries = 20_000.0          :: The table holds each slope once: how a score moves with an input. There is no second table for the way back.
        passes_for_jacobian = 0.0   :: Nothing gets into `x.grad` on its own: each row takes a pass, with its own `v`.
        entries = 10_500.0          :: A table of 20 by 500 has $20 \cdot 500$ entries. The inputs themselves are not in it.
        entries = 250_000.0         :: $500 \cdot 500$: a row for each *score*, and there are 20 of those.
        entries = 400.0             :: $20 \cdot 20$: a column for each *input*, and there are 500 of those.
        passes_for_jacobian = 19.0  :: The first row takes a pass like all the others.
        passes_for_jacobian = 40.0  :: Twice as many as are needed: only *backward* passes are counted, one for each row.
        passes_for_loss = 2.0       :: The forward pass is not counted. How many *backward* passes are there?
        10_000, 500, 1              :: A pass gives a *row*: all 500 inputs at once. One pass for each input is what nudging or forward mode would need.
        10_000, 20, 500             :: One pass gives the gradient for all 500 inputs. It is a single row.
        10_000, 20, 20              :: The 20 scores are in the middle now. At the end there is one number, so only one $v$ arrives at the scores.
        10_000, 1, 1                :: With one pass you get $v^\top J$: the rows weighted and *added*. To get each row separately takes more passes.
        10_000, 10_000, 1           :: One pass gives a whole row of 500 entries, not a single one.
        entries = 20.0              :: 20 is the number of rows. Each row has a slope for each of the 500 numbers.
        entries = 500.0             :: 500 is the length of a row. There is a row for each of the 20 scores.
        entries = 25.0              :: $500/20$: nothing is divided. A row for each score, a column for each input.
        entries = 1.0               :: It is the Jacobian of the *scores*, before the loss turns them into one number.
        passes_for_loss = 0.0       :: Without a backward pass there is no gradient.
        passes_for_loss = 10_000.0  :: That gradient does not need the whole table, and one pass gives a whole row.
        passes_for_jacobian = 520.0 :: Inputs cost nothing extra: one pass gives a whole row, all 500 at once.
        passes_for_jacobian = 21.0  :: One pass for each row. The loss is not a row of this table.
        520, 20, 1                  :: Each score has a slope for *each* input: $20 \cdot 500$.
        """),
]
