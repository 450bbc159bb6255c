"""Exercises of lesson 02, The graph grows: leaves and results, a picture to rebuild, what is kept, names, an order of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import minigrad as torch

from .model import Complaint, Exercise, Question, Wrong

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
    """Two leaves and the result whose picture is to be rebuilt."""
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


def letters(answer: Any, allowed: str, name: str) -> set[str]:
    """The letters of an answer such as "abd" or "a, b, d"."""
    if answer is None or (isinstance(answer, str) and answer.strip().casefold() == "none"):
        return set()
    if not isinstance(answer, str) or len(answer) > 40 or set(answer.casefold()) - set(allowed + " ,"):
        raise Complaint(
            f'`{name}` should be a text of letters from `{allowed}`, such as `"{allowed[:2]}"`; `""` for none of them.'
        )
    return set(answer.casefold()) & set(allowed)


def one_by_one(pairs: Iterator[tuple[str, Any, Any]]) -> Seen:
    """What was answered, up to the first answer that is not so: that one is talked about."""
    for label, said, so in pairs:
        yield label, said
        if said != so:
            return


def states(leaves: Any, asks: Any, has_function: Any) -> Seen:
    """Probe: for each tensor, whether the learner takes it for a leaf, and so on."""
    tensors = eight()
    said = {
        "leaves": letters(leaves, "abcdefgh", "leaves"),
        "asks": letters(asks, "abcdefgh", "asks"),
        "has_function": letters(has_function, "abcdefgh", "has_function"),
    }
    so = {
        "leaves": ("is a leaf", lambda t: t.is_leaf),
        "asks": ("has requires_grad=True", lambda t: t.requires_grad),
        "has_function": ("has a grad_fn", lambda t: t.grad_fn is not None),
    }
    return one_by_one(
        (f"`{letter}` {words}, you say", letter in said[name], look(tensor))
        for name, (words, look) in so.items()
        for letter, tensor in tensors.items()
    )


def graph_of_rebuild(answer: Any) -> Seen:
    """Probe: the graph that the learner's function makes of p and q."""
    p, q, _ = riddle()
    result = answer(p, q)
    if result is Ellipsis:
        yield "It gives back", result
        return
    if not isinstance(result, torch.Tensor):
        raise Complaint("`rebuild` should give back a tensor. Is there a `return`?")
    graph = picture_of(result, {"p": p, "q": q})
    if graph not in KNOWN_GRAPHS:
        raise Complaint(
            f"Your graph, from the result back, is `{graph}`. Compare it with the picture, function by function, "
            "beginning at the right end."
        )
    yield "Your graph, from the result back", graph


def keepsakes() -> dict[str, set[str]]:
    """For each expression the operands that its function keeps, read from the live graph."""
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
    said = {name: letters(answer, "xwd", name) for name, answer in answers.items()}
    if not isinstance(why, str) or why.strip().casefold() not in ("a", "b", "c"):
        raise Complaint('`why` should be one of the letters `"a"`, `"b"` and `"c"`.')
    for name, kept in keepsakes().items():
        for (
            letter
        ) in "xwd":  # the first letter that is wrong is talked about, and the others are left to find
            if letter in said[name] ^ kept:
                yield f"`{name}`", f"with {letter}" if letter in said[name] else f"without {letter}"
                return
        yield f"`{name}`", "as it is"
    yield "`why`", why


def node_names() -> dict[str, str | None]:
    """The names that the machine gives, read from live results."""
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    rows, weight, bias = (
        torch.ones(4, 3),
        torch.ones(2, 3, requires_grad=True),
        torch.ones(2, requires_grad=True),
    )
    linear = torch.nn.functional.linear
    made = {
        "minus": x - y,
        "average": x.mean(),
        "larger": x > 1,
        "layer": linear(rows, weight, bias),
        "no_bias": linear(rows, weight),
    }
    return {name: result.grad_fn and result.grad_fn.name() for name, result in made.items()}


def names_given(minus: Any, average: Any, larger: Any, layer: Any, no_bias: Any) -> Seen:
    """Probe: the names that the learner expects; `sub`, `Sub` and `SubBackward0` are the same."""

    def short(name: Any) -> Any:
        if not isinstance(name, str) or name.strip().casefold() == "none":
            return None
        return re.sub(r"backward\d*$", "", name.strip().casefold())

    answers = {"minus": minus, "average": average, "larger": larger, "layer": layer, "no_bias": no_bias}
    for name, answer in answers.items():
        if answer is not None and not isinstance(answer, str):
            raise Complaint(f'`{name}` should be a name in quotes, such as `"MulBackward0"`, or `None`.')
    for name, so in node_names().items():
        if short(answers[name]) != short(so):
            yield f"`{name}`", short(answers[name])
            return
        yield f"`{name}`", "another answer"  # what a learner is told to be right: the name stays to be found


def graph_of_order(order: Any) -> Seen:
    """Probe: run the lines in the learner's order; what comes out."""
    if not isinstance(order, str) or set(order.upper()) - set("ABCDEF ,") or len(order) > 40:
        raise Complaint('`order` should be the letters of the lines, one after the other, such as `"FBA"`.')
    w, b = torch.tensor([1.5], requires_grad=True), torch.tensor([0.3], requires_grad=True)
    scope: dict[str, Any] = {"torch": torch, "w": w, "b": b, "x": torch.tensor([2.0])}
    stuck, ran = "none", 0
    for letter in order.upper():
        if letter in LINES:
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


REBUILDS = (
    Wrong(
        lambda p, q: (p * q).sum(),
        "There are two more functions in the picture, between the product and the sum.",
    ),
    Wrong(lambda p, q: (p * q + p).sum(), "One function is missing, between the addition and the sum."),
    Wrong(
        lambda p, q: torch.exp(p * q).sum(),
        "One function is missing, between the product and the exponential.",
    ),
    Wrong(
        lambda p, q: torch.exp(p * q + q).sum(),
        "Nearly. Follow the second arrow of `AddBackward0`: to which leaf does it lead?",
    ),
    Wrong(
        lambda p, q: torch.exp(p * (q + 1)).sum(),
        "The same number, and another graph! You multiply after adding; in the picture the addition comes after the product.",
    ),
    Wrong(
        lambda p, q: torch.exp(p * q).sum() + torch.exp(p).sum(),
        "In the picture there is one exponential, of the sum of the two. You have made two of them.",
    ),
    Wrong(
        lambda p, q: (torch.exp(p * q) + p).sum(),
        "All the functions are there, but in another order: in the picture the addition comes before the exponential.",
    ),
    Wrong(lambda p, q: torch.exp(p * q + p).mean(), "The last operation is a sum, not a mean."),
    Wrong(lambda p, q: torch.exp(p * q + p), "The last operation is missing: the result is a sum."),
)
"""Answers to exercise 2.2."""

KNOWN_GRAPHS = {
    picture_of(make(p, q), {"p": p, "q": q})
    for p, q, _ in [riddle()]
    for make in (rebuild, *(wrong.answer for wrong in REBUILDS))
}


STATES = {"leaves": "abcef", "asks": "bdgh", "has_function": "dgh"}

ASKED = {
    "leaves": "Is there a history behind it?",
    "asks": "Does it ask, or anything that it was made from?",
    "has_function": "Was an operation recorded?",
}

FACTS = {
    "a": "`a` was typed in and does not ask. So it is a leaf, and has no `grad_fn`.",
    "b": "`b` was typed in and asks. It is a leaf that asks, and has no `grad_fn`: no operation made it.",
    "c": "`c` came out of an operation, but `a` did not ask, so nothing was recorded: no asking, no `grad_fn`, a leaf.",
    "d": "One input of `d`, which is `b`, asks. So `d` asks as well, the addition was recorded, and `d` is no leaf.",
    "e": "True and False have no slope. So a comparison is not recorded: no asking, no `grad_fn`, a leaf.",
    "f": "`detach()` gives the same numbers *without* the history: no asking, no `grad_fn`, a leaf.",
    "g": "Rounding has a slope, 0 nearly everywhere. So it is recorded like any other operation: `g` is a result that asks.",
    "h": "`h` is what `torch.ones` made, *times 0.1*. That product was recorded: `h` is a result, and it asks.",
}

PARTICULAR = {
    (
        "leaves",
        "a",
    ): "Being a leaf has nothing to do with wanting a gradient. `a` has no history, and that is all it takes.",
    (
        "leaves",
        "c",
    ): "`c` is the result of an operation, but `a` did not ask, so nothing was noted. No history: a leaf.",
    (
        "leaves",
        "h",
    ): "The leaf is what `torch.ones` made, and no name holds it. `h` is that *times 0.1*, so it has a history.",
    (
        "asks",
        "d",
    ): "A result asks by itself as soon as one of its inputs asks. How else would a gradient get through it?",
    ("has_function", "b"): "`b` asks, but no operation made it. A leaf has no `grad_fn`.",
}


def _one_letter_wrong() -> Iterator[Wrong]:
    """For each list and each tensor, the answer that is wrong about this tensor in this list."""
    for name in STATES:
        for letter, fact in FACTS.items():
            other = "".join(sorted(set(STATES[name]) ^ {letter}))
            answer = tuple(other if name == each else right for each, right in STATES.items())
            yield Wrong(answer, PARTICULAR.get((name, letter), f"{ASKED[name]} {fact}"))


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
    Question(
        "2.a",
        asks="how many functions there are behind z = x * x + 3",
        truth=_functions_of_square_plus_three,
        found="Yes: one for the product, one for the addition, and one that collects for `x`.",
        wrong=(
            Wrong(
                2.0,
                "One for each operation, that is right. And one more, for `x`: the place where its gradient is collected.",
            ),
            Wrong(
                4.0,
                "`x` is used twice, but it has one place where its gradient is collected. Two arrows lead to it.",
            ),
            Wrong(
                1.0,
                "Each operation gets its own: one for the product, one for the addition. And one collects for `x`.",
            ),
            Wrong(5.0, "You may have counted the tensors too. `x`, `y`, `z` and the 3 are not functions."),
        ),
        missed="Three: `MulBackward0` for the product, `AddBackward0` for the addition, `AccumulateGrad` for `x`.",
    ),
    Question(
        "2.b",
        asks="whether a * 2 is a leaf, when a does not ask for a gradient",
        truth=lambda: (torch.tensor([1.0]) * 2).is_leaf,
        found="Yes, a leaf. Nobody asked, so nothing was noted, and a tensor without a history is a leaf.",
        wrong=(
            Wrong(
                False,
                "It is one. It came out of an operation, but nobody asked, so nothing was noted; and a tensor without a history is a leaf.",
            ),
        ),
        missed="It is `True`: nobody asked, so nothing was noted, and a tensor without a history is a leaf.",
    ),
    Question(
        "2.c",
        asks="how many tensors the function of x + y keeps",
        truth=lambda: 0,
        found="Yes, none. What goes back through an addition does not depend on what was added.",
        wrong=(
            Wrong(
                2.0,
                "It would need them if its rule used them. Through an addition the gradient passes as it is.",
            ),
            Wrong(
                1.0,
                "None at all: through an addition the gradient passes as it is, whatever the numbers were.",
            ),
            Wrong(
                3.0,
                "Neither the two inputs nor the result: through an addition the gradient passes as it is.",
            ),
        ),
        missed="None: through an addition the gradient passes as it is, whatever was added.",
    ),
]

EXERCISES: list[Exercise] = [
    Exercise(
        "2.1",
        title="eight tensors",
        names=("leaves", "asks", "has_function"),
        solution="""
            leaves = "abcef"        # no history
            asks = "bdgh"           # asked, or made from one that asked
            has_function = "dgh"    # made from one that asked, by something that has a derivative
            """,
        why=(
            "`is_leaf` is the same as having no `grad_fn`: the two answers share no letter, and together they are all eight. "
            "`requires_grad` is passed on from the inputs to the result, except where there is no derivative."
        ),
        shows="From these three you can tell, of any tensor, whether a gradient will get to it, through it, or neither.",
        hints=(
            "Go through them one at a time: is there an input that asks? Has the operation a derivative?",
            "If both are so, it has a `grad_fn`, it asks itself, and it is no leaf. Else it has no `grad_fn` and is a leaf.",
            "Put them in a cell and print `.is_leaf`, `.requires_grad` and `.grad_fn` of each. But answer first.",
        ),
        probe=states,
        wrong=tuple(_one_letter_wrong()),
        right=(("a, b, c, e, f", "b d g h", "hgd"),),
    ),
    Exercise(
        "2.2",
        title="rebuild a picture",
        names=("rebuild",),
        solution=rebuild,
        why="Read the picture from the result back: a sum, of an exponential, of an addition; one of its inputs is a product, the other is `p` itself.",
        shows="A picture can be read as code and code as a picture: each function is one operation.",
        hints=(
            "Start at the result. Which operation came last? It is there in the line already.",
            "`AddBackward0` has two arrows. One goes to `MulBackward0`; where does the other one go?",
            "Inside the sum is an exponential: `torch.exp(...)`, of the product and `p` added together.",
        ),
        probe=graph_of_rebuild,
        wrong=REBUILDS,
        right=(lambda p, q: (p + q * p).exp().sum(),),
    ),
    Exercise(
        "2.3",
        title="what is kept",
        names=("add", "mul", "scaled", "matmul", "why"),
        solution="""
            add = ""        # passes on what arrives
            mul = "xw"      # each needs the other factor
            scaled = ""     # only the number 3
            matmul = "d"    # w asks, and needs the other factor; d does not ask
            why = "a"
            """,
        why="A function keeps what its rule will read, for the inputs that asked. Nothing else.",
        shows="You can tell what a network keeps in memory by reading its operations.",
        hints=(
            "For each input that asks: is the slope for it made of the other input, or of a fixed number?",
            "In `x * 3` the slope for `x` is 3. In `d @ w` only `w` asks, and the slope for it is made of `d`.",
            "Through an addition the gradient passes as it is: times 1.",
        ),
        probe=keeps,
        wrong=(
            Wrong(
                ("xw", "xw", "", "d", "a"),
                "The local derivative of an addition is 1, whatever `x` and `w` are. So neither of them is needed.",
            ),
            Wrong(
                ("w", "xw", "", "d", "a"),
                "What arrives at `w` through an addition is what arrived at the result. `w` is not needed for that.",
            ),
            Wrong(("d", "xw", "", "d", "a"), "There is no `d` in `x + w`."),
            Wrong(
                ("", "w", "", "d", "a"),
                "Both ask. `w` needs `x`, and `x` needs `w`: in a product each needs the *other* factor, so `x` is kept too.",
            ),
            Wrong(
                ("", "x", "", "d", "a"),
                "Both ask. `x` needs `w`, and `w` needs `x`: in a product each needs the *other* factor, so `w` is kept too.",
            ),
            Wrong(("", "xwd", "", "d", "a"), "There is no `d` in `x * w`."),
            Wrong(
                ("", "xw", "x", "d", "a"),
                "The slope of $3x$ is 3, whatever $x$ is. So the 3 is kept, and `x` is not.",
            ),
            Wrong(("", "xw", "w", "d", "a"), "There is no `w` in `x * 3`."),
            Wrong(("", "xw", "d", "d", "a"), "There is no `d` in `x * 3`."),
            Wrong(("", "xw", "", "dx", "a"), "There is no `x` in `d @ w`."),
            Wrong(
                ("", "xw", "", "dw", "a"), "`w` would be needed for the gradient of `d`. But `d` did not ask."
            ),
            Wrong(
                ("", "xw", "", "", "a"),
                "`w` asks, and how much the product moves with `w` depends on `d`. So `d` is kept.",
            ),
            Wrong(
                ("", "xw", "", "d", "b"),
                "All four are right. But plain numbers are not why: `x + w` of large tables keeps nothing either.",
            ),
            Wrong(
                ("", "xw", "", "d", "c"),
                "All four are right. But an addition of tensors that ask is noted like any other operation.",
            ),
        ),
        right=((None, "w, x", "", "d", "A"),),
    ),
    Exercise(
        "2.4",
        title="what is it called",
        names=("minus", "average", "larger", "layer", "no_bias"),
        solution="""
            minus = "SubBackward0"
            average = "MeanBackward0"
            larger = None               # no derivative: nothing is noted
            layer = "AddmmBackward0"    # the product and the addition in one operation
            no_bias = "MmBackward0"
            """,
        why="The name is the short name of the operation that *ran*. A layer with a bias is one operation, a product and an addition.",
        shows="A name in a graph tells you which operation was run, and sometimes it is not the one that you typed.",
        hints=(
            "The short name of the operation, then `Backward0`. A difference is called `sub`.",
            "Not every result has a `grad_fn`. Where there is none, answer `None`.",
            "You have seen the name for a layer above, for rows and with a bias. Without a bias only the product is left.",
        ),
        probe=names_given,
        wrong=(
            Wrong(
                ("AddBackward0", "MeanBackward0", None, "AddmmBackward0", "MmBackward0"),
                "$x - y$ is $x + (-y)$, but it has a function of its own.",
            ),
            Wrong(
                ("MinusBackward0", "MeanBackward0", None, "AddmmBackward0", "MmBackward0"),
                "Nearly: the short name of a difference is `sub`, as in `torch.sub`.",
            ),
            Wrong(
                ("SubBackward0", "SumBackward0", None, "AddmmBackward0", "MmBackward0"),
                "A mean is not noted as a sum and a division: it is one operation, `mean`.",
            ),
            Wrong(
                ("SubBackward0", "AverageBackward0", None, "AddmmBackward0", "MmBackward0"),
                "It goes by the name of the operation: you wrote `.mean()`.",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", "GtBackward0", "AddmmBackward0", "MmBackward0"),
                "True and False have no slope. There is no way back through a comparison, so there is no function.",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", None, "LinearBackward0", "MmBackward0"),
                "So one would think. But rows with a bias are run as one operation named `addmm`: add a matrix product.",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", None, "AddBackward0", "MmBackward0"),
                "The product and the addition are one operation here. Its name has both in it.",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", None, "MmBackward0", "MmBackward0"),
                "There is a bias to be added as well, in the same operation.",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", None, "AddmmBackward0", "AddmmBackward0"),
                "Without a bias there is nothing to add. What remains of `addmm`?",
            ),
            Wrong(
                ("SubBackward0", "MeanBackward0", None, "AddmmBackward0", "LinearBackward0"),
                "It goes by the operation that was run, and that is a matrix product.",
            ),
        ),
        right=(("sub", "Mean", None, "addmm", "mmbackward0"),),
    ),
    Exercise(
        "2.5",
        title="put the lines in order",
        names=("order",),
        solution='order = "DEBCA"',
        why="Each line needs what the lines before it have made: `p` and `q` first, in either order, then `s`, `e`, `loss`.",
        shows="A graph grows from the leaves to the result, because each function points to functions that are there already.",
        hints=(
            "Which lines use only `w`, `b` and `x`?",
            "Two lines make a `p`. In the picture, an arrow leads from a `MulBackward0` to `w`.",
            "Once `p` and `q` are there, there is only one way to go on.",
        ),
        probe=graph_of_order,
        wrong=(
            Wrong(
                "ACBED",
                "That is the order in which the way *back* goes, from the result to the leaves. The code runs the other way.",
            ),
            Wrong("DBECA", "The addition needs both of its inputs. Make `q` first."),
            Wrong("EBDCA", "The addition needs both of its inputs. Make `p` first."),
            Wrong("DEBAC", "`A` squares `e`, and `e` is made in `C`."),
            Wrong("DECBA", "`C` takes 1 away from `s`, and `s` is made in `B`."),
            Wrong(
                "FEBCA",
                "It runs, and the graph is smaller than the one in the picture: with `F`, `w` plays no part.",
            ),
            Wrong("DEBC", "It runs, but the last line is missing: there is no `loss`."),
        ),
        right=("EDBCA", "d, e, b, c, a"),
    ),
]
