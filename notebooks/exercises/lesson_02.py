"""Exercises of lesson 02, The graph grows: leaves and results, a picture to rebuild, saved tensors, names, an order of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import minigrad as torch

from . import options, typed
from .answers import letters, read
from .lessons import find_exercise
from .model import Complaint, Exercise, Question, Wrong
from .sheet import exercise, question
from .values import plain

Seen = Iterator[tuple[str, Any]]

LINES = {
    "A": "loss = e**2",
    "B": "s = p + q",
    "C": "e = s - 1",
    "D": "p = w * x",
    "E": "q = torch.tanh(b)",
    "F": "p = x * 2",
}


def riddle() -> tuple:
    """Two leaves and the result whose picture should be rebuilt."""
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    q = torch.tensor([0.5, -1.0], requires_grad=True)
    return p, q, rebuild(p, q)


def rebuild(p, q):
    return torch.exp(p * q + p).sum()


def lines_in_order() -> tuple:
    """The leaves w and b, and the loss that the shuffled lines make in their right order."""
    scope: dict[str, Any] = {
        "torch": torch,
        "w": torch.tensor([1.5], requires_grad=True),
        "b": torch.tensor([0.3], requires_grad=True),
        "x": torch.tensor([2.0]),
    }
    for letter in "DEBCA":
        exec(LINES[letter], scope)
    return scope["w"], scope["b"], scope["loss"]


def eight() -> dict[str, Any]:
    """The tensors of the table, by letter."""
    a = torch.tensor([1.0, 1.0])
    b = torch.tensor([2.0, 3.0], requires_grad=True)
    h = torch.ones(2, requires_grad=True) * 0.1
    return {"a": a, "b": b, "c": a * 2, "d": a + b, "e": b > 2, "f": b.detach(), "g": b.round(), "h": h}


def picture_of(result: Any, leaves: dict[str, Any]) -> str:
    """The graph behind a result as a line of text, the result first: ``Sum(Mul(p, q))``."""

    def of(node: Any) -> str:
        if hasattr(node, "variable"):
            return next((name for name, leaf in leaves.items() if leaf is node.variable), "another leaf")
        name = re.sub(r"Backward\d+$", "", node.name())
        inputs = [of(to) for to, _ in node.next_functions if to is not None]
        return f"{name}({', '.join(sorted(inputs) if name in ('Add', 'Mul') else inputs)})"

    return "no graph at all" if result.grad_fn is None else of(result.grad_fn)


def one_by_one(pairs: Iterator[tuple[str, Any, Any]]) -> Seen:
    """The answers up to the first wrong one, which gets the reply."""
    for label, answered, truth in pairs:
        yield label, answered
        if answered != truth:
            return


def states(leaves: Any, asks: Any, has_function: Any) -> Seen:
    """Probe: for each tensor, whether the learner calls it a leaf, and so on."""
    tensors = eight()
    answered = {
        "leaves": letters(leaves, "abcdefgh", "leaves"),
        "asks": letters(asks, "abcdefgh", "asks"),
        "has_function": letters(has_function, "abcdefgh", "has_function"),
    }
    truth = {
        "leaves": ("is a leaf", lambda t: t.is_leaf),
        "asks": ("has requires_grad=True", lambda t: t.requires_grad),
        "has_function": ("has a grad_fn", lambda t: t.grad_fn is not None),
    }
    return one_by_one(
        (f"`{letter}` {words}, you say", letter in answered[name], look(tensor))
        for name, (words, look) in truth.items()
        for letter, tensor in tensors.items()
    )


def graph_of_rebuild(answer: Any) -> Seen:
    """Probe: the graph that the learner's function makes of p and q."""
    p, q, _ = riddle()
    result = answer(p, q)
    if not isinstance(result, torch.Tensor):
        raise Complaint("`rebuild` should return a tensor. Is there a `return`?")
    graph = picture_of(result, {"p": p, "q": q})
    if graph not in _known_graphs():
        raise Complaint(
            f"Your graph, from the result back, is `{graph}`. Compare it with the picture, function by function, "
            "beginning at the right end."
        )
    yield "Your graph, from the result back", graph


def keepsakes() -> dict[str, set[str]]:
    """For each expression, the operands that its function keeps, read from the live graph."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = torch.tensor([[5.0, 6.0], [7.0, 8.0]], requires_grad=True)
    d = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
    named = {"x": x, "w": w, "d": d}
    made = {"add": x + w, "mul": x * w, "scaled": x * 3, "matmul": d @ w}

    def kept(node: Any) -> set[str]:
        values = [getattr(node, name) for name in dir(node) if name.startswith("_saved")]
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        return {
            name
            for name, tensor in named.items()
            if any(value.shape == tensor.shape and bool((value == tensor).all()) for value in tensors)
        }

    return {name: kept(result.grad_fn) for name, result in made.items()}


def keeps(add: Any, mul: Any, scaled: Any, matmul: Any, why: Any) -> Seen:
    """Probe: which operands the learner thinks are kept."""
    answers = {"add": add, "mul": mul, "scaled": scaled, "matmul": matmul}
    answered = {name: set(letters(answer, "xwd", name)) for name, answer in answers.items()}
    reason = read(why, "a", options=options.of("2.3"))
    if reason not in ("a", "b", "c"):
        raise Complaint("`why` should be one letter in quotes, from `a` to `c`.")
    for name, kept in keepsakes().items():
        for letter in "xwd":  # the reply is about the first that is wrong; the learner should find the others
            if letter in answered[name] ^ kept:
                yield f"`{name}`", f"with {letter}" if letter in answered[name] else f"without {letter}"
                return
        yield f"`{name}`", "as it is"
    yield "`why`", reason


def node_names() -> dict[str, str | None]:
    """The names of the nodes, read from live results."""
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    rows = torch.ones(4, 3)
    weight, bias = torch.ones(2, 3, requires_grad=True), torch.ones(2, requires_grad=True)
    linear = torch.nn.functional.linear
    made = {
        "minus": x - y,
        "average": x.mean(),
        "larger": x > 1,
        "layer": linear(rows, weight, bias),
        "no_bias": linear(rows, weight),
    }
    return {name: result.grad_fn and result.grad_fn.name() for name, result in made.items()}


def name_of(answer: Any) -> str | None:
    """The short name that an answer means: `sub`, `torch.sub`, `SubBackward0` and `<SubBackward0 object at 0x7f>` are the same."""
    text = plain(answer)
    if isinstance(text, tuple) and len(text) == 1:
        text = text[0]
    if text is None:
        return None
    if not isinstance(text, str):
        raise Complaint('Write a name in quotes, such as `"MulBackward0"`, or `None`.')
    word = text.strip(" <>()'`.").casefold().removeprefix("torch.").split(" object")[0]
    return None if word in ("", *typed.NOTHING) else re.sub(r"backward0?$", "", word)


def names_given(minus: Any, average: Any, larger: Any, layer: Any, no_bias: Any) -> Seen:
    """Probe: the names that the learner expects, up to the first wrong one."""
    answers = {"minus": minus, "average": average, "larger": larger, "layer": layer, "no_bias": no_bias}
    answered = {name: name_of(answer) for name, answer in answers.items()}
    for name, truth in node_names().items():
        if answered[name] != name_of(truth):
            if answered[name] not in known_names():
                raise Complaint(
                    f"`{name}`: no operation called `{answered[name][:30]}` ran there. Which operation *ran*? Write its short name, and then `Backward0`."
                )
            yield f"`{name}`", answered[name]
            return
        yield f"`{name}`", "as it is"


def graph_of_order(order: Any) -> Seen:
    """Probe: run the lines in the learner's order; the result, and which lines were needed for it."""
    chosen = letters(order, "abcdef", "order").upper()
    w, b = torch.tensor([1.5], requires_grad=True), torch.tensor([0.3], requires_grad=True)
    scope: dict[str, Any] = {"torch": torch, "w": w, "b": b, "x": torch.tensor([2.0])}
    stuck, ran = "none", 0
    for letter in chosen:
        try:
            exec(LINES[letter], scope)
            ran += 1
        except NameError as error:
            stuck = f"{letter}, there is no {error.name} yet" + ("" if ran else ", nor anything else")
            break
    yield "The first line that cannot run", stuck
    if stuck == "none":
        made = picture_of(scope["loss"], {"w": w, "b": b}) if "loss" in scope else "there is no loss"
        yield "The graph behind `loss`", made
        yield "The lines that you use", "".join(sorted(chosen))


@cache
def _known_graphs() -> set[str]:
    """The graphs of the answers to 2.2 that have a reply."""
    known = [rebuild, *(wrong.answer for wrong in find_exercise("2.2").wrong)]
    return {picture_of(make(p, q), {"p": p, "q": q}) for p, q, _ in [riddle()] for make in known}


@cache
def known_names() -> set[str]:
    """The names in the answers to 2.4 that have a reply."""
    return {name_of(name) for wrong in find_exercise("2.4").wrong for name in wrong.answer.values()}


STATES = {"leaves": "abcef", "asks": "bdgh", "has_function": "dgh"}

FACTS = {
    "leaves": {
        "a": "`a` does not ask, so nothing can have been recorded behind it. A tensor without a history is always a leaf.",
        "b": "Is there a history behind `b`? It was typed in: no operation made it.",
        "c": "`c` is the result of an operation, but `a` did not ask, so nothing was recorded. No history: a leaf.",
        "d": "Is there a history behind `d`? The addition was recorded, because one of its inputs asks.",
        "e": "Is there a history behind `e`? A comparison gives True and False, and nothing is recorded.",
        "f": "Is there a history behind `f`? `detach()` gives the same numbers *without* it.",
        "g": "Is there a history behind `g`? Rounding is an operation on a tensor that asks, and it was recorded.",
        "h": "The leaf is what `torch.ones` made, and no name holds it. `h` is that *times 0.1*, so it has a history.",
    },
    "asks": {
        "a": "A tensor made by hand asks only if the line that makes it says `requires_grad=True`. Does the line of `a` say so?",
        "b": "Look at the line of `b`: it was made to ask.",
        "c": "A result asks if one of its inputs does. What was `c` made from?",
        "d": "A result asks automatically as soon as one of its inputs asks. How else would a gradient get through it?",
        "e": "True and False cannot change by a little, so they have no slope, and the tensor cannot ask for one.",
        "f": "A detached tensor counts as a plain number from then on: it does not ask.",
        "g": "The slope of rounding is 0 nearly everywhere, and that is a slope: the result of `b.round()` asks, as `b` does.",
        "h": "`h` was made from a tensor that asks. Does it ask, then?",
    },
    "has_function": {
        "a": "A `grad_fn` is the way back through an operation. None made `a`.",
        "b": "`b` asks, but no operation made it: there is nothing to go back through, so no `grad_fn`.",
        "c": "An operation made `c`, but was it recorded? No input asked.",
        "d": "An operation made `d`, and `b` asked: so its way back was recorded.",
        "e": "There is no way back through a comparison, so none is recorded.",
        "f": "`detach()` cuts off the way back. What is recorded behind `f`?",
        "g": "Rounding has a way back: it passes on zeros. It was recorded like any other operation.",
        "h": "`h` is the product of 0.1 and a tensor that asks: its way back was recorded.",
    },
}
"""The reply to a wrong letter, for each list and tensor: it is about that list alone."""


def _one_letter_wrong() -> Iterator[Wrong]:
    """For each list and each tensor, the answer that is wrong about this tensor in this list."""
    for name, facts in FACTS.items():
        for letter, fact in facts.items():
            yield Wrong({name: "".join(sorted(set(STATES[name]) ^ {letter}))}, fact)


def _functions_of_square_plus_three() -> int:
    x = torch.tensor([2.0], requires_grad=True)
    todo, found = [(x * x + 3).grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += [to for to, _ in node.next_functions if to is not None]
    return len(found)


QUESTIONS: list[Question] = [
    question(r"""
        2.a how many functions there are behind z = x * x + 3
        truth: _functions_of_square_plus_three()
        counts: True
        found: Yes: one for the product, one for the addition, and one that adds up what arrives at `x`.
        missed: Three: `MulBackward0` for the product, `AddBackward0` for the addition, `AccumulateGrad` for `x`.

        2.0 :: One for each operation is right. There is one more, for `x`: the place where its gradient is collected.
        4.0 :: `x` is used twice, but it has one place where its gradient is collected. Two arrows lead to it.
        1.0 :: Each operation gets its own: one for the product, one for the addition. And one adds up what arrives at `x`.
        5.0 :: You may have counted the tensors too. `x`, `y`, `z` and the 3 are not functions.
        """),
    question(r"""
        2.b whether a * 2 is a leaf, when a does not ask for a gradient
        truth: (torch.tensor([1.0]) * 2).is_leaf
        found: Yes, a leaf. No input asked, so nothing was recorded, and a tensor without a history is a leaf.
        missed: It is `True`: no input asked, so nothing was recorded, and a tensor without a history is a leaf.

        False :: It is a leaf. It came out of an operation, but no input asked, so nothing was recorded; and a tensor without a history is a leaf.
        """),
    question(r"""
        2.c how many tensors the function of x + y keeps
        truth: 0
        counts: True
        found: Yes, none. What goes back through an addition does not depend on what was added.
        missed: None: through an addition the gradient passes unchanged, whatever was added.

        2.0 :: It would need them if its rule used them. Through an addition the gradient passes unchanged.
        1.0 :: None at all: through an addition the gradient passes unchanged, whatever the numbers were.
        3.0 :: Neither the two inputs nor the result: through an addition the gradient passes unchanged.
        None :: right
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        2.1 eight tensors
        solution:
            leaves = "abcef"        # no history
            asks = "bdgh"           # asked, or made from one that asked, with a way back
            has_function = "dgh"    # made from one that asked, with a way back
        probe: states
        patterns: tuple(_one_letter_wrong())
        why: `is_leaf` is the same as having no `grad_fn`: the two answers have no letter in common, and together they cover all eight. `requires_grad` is passed on from the inputs to the result, except where there is no way back: through a comparison, or through `detach()`.
        shows: From these three you can tell for any tensor whether a gradient will reach it, pass through it, or neither.
        hint: Go through them one at a time: is there an input that asks? Is there a way back through the operation?
        hint: If both are true, the result has a `grad_fn`, asks for a gradient, and is not a leaf. Otherwise it has no `grad_fn` and is a leaf.
        hint: Put them in a cell and print `.is_leaf`, `.requires_grad` and `.grad_fn` of each. But answer first.


        """),
    exercise(r"""
        2.2 rebuild a picture
        solution: rebuild
        probe: graph_of_rebuild
        why: Read the picture from the result back: a sum, of an exponential, of an addition; one of its inputs is a product, the other is `p` itself.
        shows: A picture can be read as code and code as a picture: each function is one operation.
        hint: Start at the result. Which operation came last? It is already there in the line.
        hint: `AddBackward0` has two arrows. One goes to `MulBackward0`; where does the other one go?
        hint: Inside the sum is an exponential: `torch.exp(...)`, of the product and `p` added together.

        (p * q).sum()                               :: There are two more functions in the picture, between the product and the sum.
        (p * q + p).sum()                           :: One function is missing, between the addition and the sum.
        torch.exp(p * q).sum()                      :: One function is missing, between the product and the exponential.
        torch.exp(p * q + q).sum()                  :: Almost. Follow the second arrow of `AddBackward0`: to which leaf does it lead?
        torch.exp(p * (q + 1)).sum()                :: The same number, but a different graph. You multiply after adding; in the picture the addition comes after the product.
        torch.exp(p * q).sum() + torch.exp(p).sum() :: In the picture there is one exponential, of the sum of the two. You have two exponentials.
        (torch.exp(p * q) + p).sum()                :: All the functions are there, but in a different order: in the picture the addition comes before the exponential.
        torch.exp(p * p + q).sum()                  :: Almost: the leaves are swapped. To which two leaves do the arrows of `MulBackward0` lead?
        torch.exp(p * q - p).sum()                  :: A difference would leave a `SubBackward0`. What is in the picture between the product and the exponential?
        torch.exp(p * q + p.detach()).sum()         :: The addition has lost an arrow: a plain number has none, and neither does a value that `detach` cut off. In the picture that arrow leads to a leaf.
        (p * torch.exp(q + p)).sum()                :: The right functions, but in a different order: in the picture the *exponential* goes into the sum, and the product into the addition.
        (p * torch.exp(q)).sum()                    :: Your exponential is applied to `q` alone. In the picture it comes after the addition.
        torch.exp(p + q * q).sum()                  :: Both arrows of your product lead to `q`. In the picture they lead to `p` and to `q`.
        torch.exp(p * q + p).mean()                 :: The last operation is a sum, not a mean.
        torch.exp(p * q + p)                        :: The last operation is missing: the result is a sum.
        """),
    exercise(r"""
        2.3 what is kept
        solution:
            add = ""        # passes on what arrives
            mul = "xw"      # each needs the other factor
            scaled = ""     # only the number 3
            matmul = "d"    # w asks, and needs the other factor; d does not ask
            why = "a"
        probe: keeps
        why: A function keeps what its rule will read: in sums and products, only for the inputs that asked.
        shows: You can tell what a network keeps in memory by reading its operations.
        about add: Through an addition the gradient passes unchanged: times 1.
        about mul: Both ask. The slope for `x` is `w`, and the slope for `w` is `x`.
        about scaled: The slope for `x` is 3, a plain number.
        about matmul: Only `w` asks. The slope for it is computed from `d`.
        about why: Make the inputs large, or small: does the local derivative of an addition change?
        hint: For each input that asks: is the slope for it computed from the other input, or is it a fixed number?
        hint: A tensor that does not ask gets no gradient, so nothing is kept for it: that settles `d @ w`.

        "xw", "xw", "", "d", "a"           :: The local derivative of an addition is 1, whatever `x` and `w` are. So neither of them is needed.
        "w", "xw", "", "d", "a"            :: What arrives at `w` through an addition is what arrived at the result. `w` is not needed for that.
        "d", "xw", "", "d", "a"            :: There is no `d` in `x + w`.
        "", "w", "", "d", "a"              :: Both ask. `w` needs `x`, and `x` needs `w`: in a product each needs the *other* factor, so `x` is kept too.
        "", "x", "", "d", "a"              :: Both ask. `x` needs `w`, and `w` needs `x`: in a product each needs the *other* factor, so `w` is kept too.
        "", "xwd", "", "d", "a"            :: There is no `d` in `x * w`.
        "", "xw", "x", "d", "a"            :: The slope of $3x$ is 3, whatever $x$ is. So the 3 is kept, and `x` is not.
        "", "xw", "w", "d", "a"            :: There is no `w` in `x * 3`.
        "", "xw", "d", "d", "a"            :: There is no `d` in `x * 3`.
        "", "xw", "", "dx", "a"            :: There is no `x` in `d @ w`.
        "", "xw", "", "dw", "a"            :: `w` would be needed for the gradient of `d`. But `d` did not ask.
        "", "xw", "", "", "a"              :: `w` asks, and how much the product moves with `w` depends on `d`. So `d` is kept.
        "", "xw", "", "d", "b"             :: All four are right. But small inputs are not the reason: `x + w` of large matrices keeps nothing either.
        "", "xw", "", "d", "c"             :: All four are right. But an addition of tensors that ask is recorded like any other operation.
        """),
    exercise(r"""
        2.4 what is it called
        solution:
            minus = "SubBackward0"
            average = "MeanBackward0"
            larger = None               # no derivative: nothing is recorded
            layer = "AddmmBackward0"    # the product and the addition in one operation
            no_bias = "MmBackward0"
        probe: names_given
        why: The name is the short name of the operation that *ran*. A layer with a bias is one operation, a product and an addition.
        shows: A name in a graph tells you which operation was run, and sometimes it is not the one that you typed.
        about minus: Three letters: `torch.subtract` has a shorter name.
        about average: The name of the method that was called.
        about larger: Does a comparison have a slope?
        about layer: You have seen it above, for several rows and with a bias.
        about no_bias: Without a bias only the product of two matrices is left: `(m @ m).grad_fn.name()` above.
        hint: The short name of the operation that *ran*, then `Backward0`. Think of what you would write after `torch.`.
        hint: Not every result has a `grad_fn`. Where there is no slope, there is none.

        minus = 'AddBackward0'                      :: $x - y$ is $x + (-y)$, but it has its own function.
        minus = 'MinusBackward0'                    :: Almost: the short name of a difference is three letters, as in `torch.sub`.
        minus = 'SubtractBackward0'                 :: Almost: names are short. `torch.subtract` is another name for the operation, and the function uses the short one.
        minus = 'DifferenceBackward0'               :: The name is the operation's, in its short form: a difference is what is left when you *sub*tract.
        minus = 'NegBackward0'                      :: `neg` changes a sign. Here two tensors are subtracted in one operation.
        minus = None                                :: `minus` has a `grad_fn`: `x` and `y` ask, and a difference has a slope.
        average = 'SumBackward0'                    :: A mean is not recorded as a sum and a division: it is one operation.
        average = 'DivBackward0'                    :: It divides, but not in a separate operation: the mean is one operation with one name.
        average = 'AverageBackward0'                :: It is named after the operation: which name did you call after the dot?
        average = 'AvgBackward0'                    :: It is named after the operation, and the method was not called `.avg()`.
        average = None                              :: `average` has a `grad_fn`: `x` asks, and a mean has a slope.
        larger = 'GtBackward0'                      :: True and False have no slope. There is no way back through a comparison, so there is no function.
        larger = 'GreaterBackward0'                 :: There is an operation of that name, and no way back through it: a comparison has no slope.
        larger = 'CompareBackward0'                 :: What would it send back? The answer to $x > 1$ does not change gradually as $x$ does.
        larger = 'BoolBackward0'                    :: True and False cannot move a little, so nothing goes back through them.
        layer = 'LinearBackward0'                   :: That would be the natural name. But rows with a bias are run as one operation named `addmm`: add a matrix product.
        layer = 'AddBackward0'                      :: The product and the addition are one operation here. Its name has both in it.
        layer = 'MmBackward0'                       :: There is a bias to be added as well, in the same operation.
        layer = 'MatMulBackward0'                   :: `matmul` is what you would write. What ran multiplies *and adds the bias*, in one operation.
        layer = 'MulBackward0'                      :: `*` works entry by entry. A layer multiplies by a matrix and adds its bias, in one operation.
        layer = None                                :: `layer` has a `grad_fn`: the weights of a layer ask.
        no_bias = 'AddmmBackward0'                  :: Without a bias there is nothing to add. What remains of `addmm`?
        no_bias = 'LinearBackward0'                 :: It is named after the operation that was run, and that is a matrix product.
        no_bias = 'MatMulBackward0'                 :: Tutorials use that name. But for two matrices `@` runs a product with a shorter one: print `(m @ m).grad_fn` above.
        no_bias = 'MulBackward0'                    :: `*` works entry by entry. Here a matrix is multiplied by a matrix.
        no_bias = 'DotBackward0'                    :: `dot` is the product of two vectors. Here a matrix is multiplied by a matrix.
        no_bias = 'MvBackward0'                     :: `mv` multiplies a matrix by a *vector*. Here the input has four rows.
        no_bias = None                              :: `no_bias` has a `grad_fn`: the weights of a layer ask.
        """),
    exercise(r"""
        2.5 put the lines in order
        solution:
            order = "DEBCA"
        probe: graph_of_order
        why: Each line needs what the lines before it have made: `p` and `q` first, in either order, then `s`, `e`, `loss`.
        shows: A graph grows from the leaves to the result, because each function points to functions that are there already.
        hint: Which lines use only `w`, `b` and `x`?
        hint: Two lines make a `p`. In the picture, an arrow leads from a `MulBackward0` to `w`.
        hint: Once `p` and `q` are there, there is only one way to go on.

        "ACBED"                   :: That is the order of the way *back*, from the result to the leaves. The code runs the other way.
        "DBECA"                   :: The addition needs both of its inputs. Make `q` first.
        "EBDCA"                   :: The addition needs both of its inputs. Make `p` first.
        "DEBAC"                   :: `A` squares `e`, and `e` is made in `C`.
        "DECBA"                   :: `C` takes 1 away from `s`, and `s` is made in `B`.
        "FEBCA"                   :: It runs, and the graph is smaller than the one in the picture: with `F`, `w` plays no part.
        "DEBC"                    :: It runs, but the last line is missing: there is no `loss`.
        "DEBCAF"                  :: The graph is right. But one of your six lines makes nothing that `loss` uses: leave it out.
        "DEBCAA"                  :: `a` is in `order` twice. Once is enough.
        "DEBBCA"                  :: `b` is in `order` twice. Once is enough.
        "BDECA"                   :: `B` adds `p` and `q`. Neither is there yet.
        "CDEBA"                   :: `C` takes 1 away from `s`, and nothing is there yet.
        """),
]
