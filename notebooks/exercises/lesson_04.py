"""Exercises of lesson 04, Where paths meet: an order, reuse, the sum over paths, and the numbers of broken engines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import permutations
from math import prod

import numpy as np

import minigrad as torch

from . import typed
from .answers import names, read
from .lessons import find_exercise
from .model import Complaint, Exercise, Question, Wrong
from .sheet import exercise, question
from .tiny_engine import diamond, fires_again

LADDER = {
    "loss": (("k", 1), ("b", 1)),
    "b": (("a", 2),),
    "k": (("h", 5),),
    "a": (("h", 6),),
    "h": (("x", 3),),
}
"""Exercise 4.1 at x = 1, h = 3: the arrows that leave a node backward, each with its local derivative."""


def path_sum(paths):
    total = 0.0
    for path in paths:
        along = 1.0
        for local in path:
            along = along * local
        total = total + along
    return total


def _fire(order: list[str]) -> tuple[int, list[str]]:
    """Fire the nodes of the ladder once each, in this order: (what x gets, which nodes fired before a part had arrived)."""
    grad = dict.fromkeys([*LADDER, "x"], 0) | {"loss": 1}
    fired: list[str] = []
    early: set[str] = set()
    for node in order:
        for to, local in LADDER[node]:
            grad[to] += grad[node] * local
            if to in fired:
                early.add(to)
        fired.append(node)
    return grad["x"], sorted(early)


def _in_order(order) -> Iterator[tuple]:
    """The engine's findings for the order of exercise 4.1."""
    every = ", ".join(f"`{name}`" for name in sorted(LADDER))
    order = names(order)
    if order is None:
        raise Complaint(f'Write a list of names, such as `["loss", "k"]`. The names are {every}.')
    unknown = [name for name in order if name not in LADDER]
    if unknown:
        raise Complaint(f"There is no function called `{unknown[0][:20]}` among these five: {every}.")
    if len(order) != len(set(order)):
        raise Complaint("Each function fires once. One of them is in your list twice.")
    missing = [name for name in LADDER if name not in order]
    if missing:
        raise Complaint(f"`{missing[0]}` never fires: all five have to be in the list.")
    found, early = _fire(list(order))
    yield "In this order the engine finds x.grad", found
    yield "Fired before all its parts were there", early


def _orders() -> Iterator[tuple[list[str], tuple]]:
    """One order for each thing that can go wrong in exercise 4.1, with what goes wrong."""
    seen = {(51, ())}
    for order in permutations(["loss", "k", "b", "a", "h"]):
        found, early = _fire(list(order))
        if (found, tuple(early)) not in seen:
            seen.add((found, tuple(early)))
            yield list(order), (found, early)


def _wrong_orders() -> tuple[Wrong, ...]:
    replies = {
        "15 h": "Of the two paths to `h` you took the shorter one first. When `h` fired, only the 5 from `k` had arrived; the 12 from `a` came too late.",
        "36 h": "`h` fired with the 12 from `a` alone. It has a second user, `k`, and the 5 from `k` came too late.",
        "0 h": "When `h` fired, nothing had arrived yet, neither from `k` nor from `a`. So it passed on a zero.",
        "15 a": "`a` fired before `b`, its only user, so it had nothing to pass on. The part that goes through `a` is lost.",
        "0 abhk": "That is the forward order. Backward begins at the loss: it is the only node that has received something, the 1.",
        "0 bk": "The loss must come first. Before it has fired, no other node has anything to pass on.",
    }
    wrongs = []
    for order, (found, early) in _orders():
        fired = " and ".join(f"`{name}`" for name in early)
        users = "; ".join(
            f"`{name}` is used by {' and '.join(f'`{user}`' for user, to in LADDER.items() if name in dict(to))}"
            for name in early
        )
        usual = f"Fired too early: {fired}. Everything that uses a tensor must fire before it does: {users}."
        if len(early) > 1:
            usual += f" What came too late is lost, and {51 - found} of 51 is missing."
        wrongs.append(Wrong(order, replies.get(f"{found} {''.join(early)}", usual)))
    return tuple(wrongs)


RIGHT_PATHS = ([3, 1, 3], [3, 1], [4, 3])


def _factors(paths) -> list[list[float]]:
    """The local derivatives along each path, sorted: neither paths nor factors have an order."""
    return sorted(sorted(float(local) for local in path) for path in paths)


def _products(paths) -> list[float]:
    return sorted(float(prod(float(local) for local in path)) for path in paths)


def _three_paths(paths) -> Iterator[tuple]:
    """The observations of the paths of exercise 4.4: the local derivatives along each, in any order."""
    with contextlib.suppress(typed.Unreadable):
        paths = typed.read(paths, 3) if isinstance(paths, str) else paths
    if not isinstance(paths, list | tuple) or not all(isinstance(path, list | tuple) for path in paths):
        raise Complaint("Write a list of lists of numbers: one list for each path.")
    if not paths:
        raise Complaint("Write three lists of numbers, one for each path. The first is given.")
    zero = np.zeros(())
    numbers = [[read(local, zero) for local in path] for path in paths]
    if not all(isinstance(local, np.ndarray) and local.ndim == 0 for path in numbers for local in path):
        raise Complaint("Write each local derivative as a number, one for each arrow on the path.")
    found = _factors(numbers)
    if found not in (
        _factors(RIGHT_PATHS),
        *(_factors(wrong.answer) for wrong in find_exercise("4.4").wrong),
    ):
        raise Complaint(_about_paths(numbers))
    yield "The numbers along your paths", found


def _about_paths(paths) -> str:
    """The reply to paths that are not listed."""
    if len(paths) != 3:
        return (
            f"There should be three lists, one for each path from `z` to `x`. You have written {len(paths)}."
        )
    products = _products(paths)
    if products == _products(RIGHT_PATHS):
        return "The products are right. But these are not the numbers on the arrows: write down the local derivative of each arrow, one by one."
    if [3.0, 1.0, 3.0] not in [[float(local) for local in path] for path in paths]:
        return "The first path was given: `[3, 1, 3]`, from `z` to `v`, to `u`, to `x`. Leave it as it is, and add the other two."
    return (
        f"Along your paths the products are {', '.join(f'{p:g}' for p in products)}, together {sum(products):g}. "
        f"The machine finds {_by_machine():g}. Go along each path once more, arrow by arrow."
    )


def _by_machine() -> float:
    x = torch.tensor(1.0, requires_grad=True)
    u = x * 3
    ((u + x) * u).backward()
    return x.grad.item()


def _at_once() -> float:
    """What the first careless engine finds for x on the diamond."""
    tensors = diamond()
    fires_again(tensors["c"].grad_fn, np.ones(()))
    return float(tensors["x"].grad)


PATHS = (
    [[2, 5], [1, 3]],
    [[0.5, 3], [0.25]],
    [[2.0, 3.0]],
    [[3, 1, 3], [5, 2], [4]],
    [[1, 1, 2], [1, 1, 2], [1, 2, 2], [1, 2, 2]],  # the diamond: equal paths count separately
    [[1, -1], [0.5, 4, 3], [2, 2, 2, 2]],
)

QUESTIONS: list[Question] = [
    question(r"""
        4.a the gradient of x in the diamond
        truth: slope(lambda x: (y := x * x) + 1 + y * 2, 2.0)
        found: Yes: $c = 3y + 1 = 3x^2 + 1$, and its slope is $6x = 12$.
        missed: Put the lines together: $c = 3y + 1 = 3x^2 + 1$. The slope is $6x$: at 2 it is 12.

        4.0  :: 4 is what comes through `a` alone. The path through `b` brings 8 more.
        8.0  :: 8 is what comes through `b` alone. The path through `a` brings 4 more.
        16.0 :: 16 counts the path through `a` twice. One engine in this lesson does that.
        2.0  :: 2 is what is left when parts replace each other. They are added: $c$ moves with both.
        6.0  :: You get 6 if the two parts, 1 and 2, are *averaged* to 1.5: $1.5 \cdot 4$. `c` moves with both, so they are added.
        13.0 :: 13 is the *value* of `c`. The gradient says how fast it moves.
        20.0 :: An engine that goes to `b` first and lets `y` fire twice, with 2 and then with 3, finds 20. It should fire once, with 3.
        24.0 :: $2 \cdot 3 \cdot 4$ counts something twice: 3 arrives at `y`, and $x \cdot x$ multiplies it by $2x = 4$.
        5.0  :: 5 is the value of `a`. The gradient says how fast `c` moves when `x` does.
        3.0  :: 3 is the gradient of `y`. Go back one more node: multiply by $2x = 4$.
        """),
    question(r"""
        4.b what the engine that moves on at once finds
        truth: _at_once()
        found: Yes: $4$ on the first visit to `y`, and $3 \cdot 4 = 12$ on the second, because the first part is still in the sum.
        missed: `y` is visited twice: with 1, which gives 4, and then with $1 + 2 = 3$, which gives 12. Together 16.

        12 :: 12 would be right, and it would come out if `y` were visited once, with 3. It is visited twice: with 1, and with 3.
        4  :: That is the first visit to `y`. There is a second one, from `b`.
        20 :: You get that if the walk goes to `b` first: 8, and then 12. Here `a` is first in the table.
        8  :: That would be the path through `b` alone. Both paths are taken, and one of them is counted twice.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        4.1 in which order?
        solution:
            order = ["loss", "b", "a", "k", "h"]
        probe: _in_order
        patterns: _wrong_orders()
        why: `h` has two users, `k` and `a`; `a` has one, `b`. So `b` comes before `a`, and `h` after both `a` and `k`. Where `k` comes between `loss` and `h` does not matter: that makes three good orders.
        shows: Each of the three good orders gives 51. The machine chooses one of them: the forward order, reversed.
        hint: Backward begins at `loss`. Which nodes are ready after it?
        hint: For each tensor ask: *which lines use it?* All of these must fire before it.
        hint: `h` is used in two lines, so it fires last. `a` is used in the line of `b`.


        """),
    exercise(r"""
        4.2 used more than once
        solution:
            thrice = 1 + 1 + 1            # three paths, each with 1
            mixed = 5 + 5 + 1             # two through the product, one directly
            double = 5 + 5 + (5 + 5)      # two through the sum, times x; one directly, times x + x
        why: Multiply along each path, add over all paths. The rules from school agree: the slopes of $3x$, $x^2 + x$ and $2x^2$ are 3, $2x + 1$ and $4x$.
        shows: A value that is used again needs no special rule: the parts are added, and you get the rules from school.
        look thrice: Count the arrows that end at `x`, and what each of them brings.
        look mixed: Three arrows end at `x`: two from the product and one from the addition. What does each bring?
        look double: Write down the two factors and what each of them gets; then follow both to `x`.
        hint: How many arrows end at `x`? Each brings a part.
        hint: In `x * x` each factor gets the other one: 5, and 5.
        hint: `(x + x) * x`: the factor on the right gets `x + x` = 10. The sum on the left gets `x` = 5, and passes it to both of its terms.

        thrice = 1.5    :: That is half of the sum. Nothing is averaged: each of the three arrows brings its part in full.
        thrice = 6.0    :: Each of the three is counted twice. In an addition each term gets what arrives, once.
        mixed = 1.0     :: 1 is what the last `+ x` brings. The product in front of it has two arrows to `x` as well.
        mixed = 0.0     :: Does `x * x + x` stay the same when `x` rises? Each of the three arrows brings something.
        mixed = 22.0    :: Every arrow is counted twice. Three arrows end at `x`; go along each of them once.
        double = 0.0    :: Both factors contain `x`, so the result moves with it. Follow the arrows to `x`, one by one.
        double = 1.0    :: 1 is what arrives at the product. Each of its factors gets that times the *other* factor.
        thrice = 0      :: Each of the three moves when `x` does. How far do they move in total?
        thrice = 5      :: 5 is the value of $x$. How much does `x + x + x` rise when `x` rises by 1?
        thrice = 125    :: $5^3$ is `x * x * x`. Here nothing is multiplied.
        thrice = 9      :: Three arrows, and each brings 1: three times one, not three times three.
        mixed = 7       :: The product brings 10: two arrows, each with the *other factor*, which is 5.
        mixed = 26      :: 25 is the value of the product. It sends back two parts: 5 and 5.
        mixed = 15      :: 5 is the value of $x$. The last `+ x` brings what an addition passes on: 1.
        double = 30     :: That is one part too many: the sum on the left gets 5 and passes it to both of its terms, which makes 10. The other factor gets 10.
        double = 100    :: The parts are not multiplied: what comes back to `x` through each factor is added.
        thrice = 2      :: You counted the plus signs. How many arrows end at `x`?
        mixed = 5.5     :: That is the mean, $(10 + 1)/2$. What comes along several paths is added, not averaged.
        mixed = 11 / 3  :: That is 11 divided by the three paths. Nothing is averaged: each brings its part, and they add up.
        mixed = 25      :: 25 is the value of `x * x`. Count what comes back to `x`.
        mixed = 5       :: You counted only one arrow. `x * x` has two, and the last `+ x` is one more.
        mixed = 12      :: The last `+ x` is one path, and it brings 1, whatever $x$ is.
        double = 20 / 3 :: That is 20 divided by three paths. Nothing is averaged: each brings its part, and they add up.
        double = 5      :: That is a single part. Count the arrows to `x`: their parts add up.
        double = 40     :: That counts every part twice. `(x + x)` gets 5 and passes it on twice; the other `x` gets 10.
        double = 25     :: The factor on the right gets `x + x` = 10. What does the sum on the left get, and to how many terms does it pass that?
        double = 4      :: $4x$ is right as a formula. Put in $x = 5$.
        1, 11, 20       :: 1 is what *each* of the three brings. There are three, and they add up.
        15, 11, 20      :: 15 is the value of `x + x + x`. How much does it rise when `x` rises by 1?
        3, 10, 20       :: The product brings 10. The last `+ x` is a path too.
        3, 6, 20        :: In `x * x` there are *two* arrows to `x`, each with 5. And the last `+ x` brings 1.
        3, 30, 20       :: 30 is the value. Count what comes back to `x`: two parts from the product and one directly.
        3, 11, 10       :: That is what comes back through one of the two factors. There are two, `(x + x)` and `x`, and each brings something back.
        3, 11, 15       :: One path is missing: the sum on the left has *two* terms, and each gets 5.
        3, 11, 50       :: 50 is the value. Count what comes back to `x`.
        """),
    exercise(r"""
        4.3 the sum over paths
        solution: path_sum
        cases: lambda: [([[*path] for path in paths],) for paths in PATHS]
        why: Along a path each node multiplies what arrives by its local derivative. Where paths end at the same tensor, their parts add up.
        shows: This is the chain rule for a whole graph. It is right, and too slow for a large one: there are too many paths.
        look: Multiply along each path; then add over all paths.
        hint: Two questions: what happens *along* a path, and what happens *between* paths?
        hint: Begin with `total = 0.0` and go through the paths. For each begin with `along = 1.0` and go through its numbers.
        hint: Along a path: `along = along * local`. When a path is done: `total = total + along`.

        sum(sum(path) for path in paths)          :: Between paths you add: that is right. *Along* a path each node multiplies.
        float(prod(sum(path) for path in paths))  :: It is the other way round: multiply along a path, add between paths.
        float(prod(prod(path) for path in paths)) :: Along a path you multiply: that is right. Between paths, add: all paths act *together*, not one after the other.
        sum(path[0] * path[1] for path in paths)  :: That is the line of the worked example, where each path has two arrows. Here paths may be of any length: go through *all* numbers of each.
        sum(path[0] * path[1] * path[2] for path in paths) :: That takes three numbers from each path. Paths may be of any length: use a second loop.
        total = 0.0 => total, along = 0.0, 1.0 ;; along = 1.0 => :: `along` has to begin at 1.0 *for each path*: yours still contains the product of the path before. Put that line inside the outer loop.
        total = total + along => >> :: `total` grows at every arrow. Add only when a path is *done*: that line belongs outside the inner loop.
        [prod(path) for path in paths]        :: That is one number for each path. Where paths end at the same tensor, these are added up.
        sum(path[0] * path[-1] for path in paths) :: Only the first and the last number of each path are multiplied. A path may be of any length: multiply by *every* number.
        sum(path[0] for path in paths)        :: Only the first local derivative of each path is counted: go through *all* of its numbers.
        sum(prod(path[1:]) for path in paths) :: The first number of each path is left out. Begin with `along = 1.0` and multiply by every number.
        float(len(paths))                     :: That is how many paths there are. Each brings the *product* of its numbers.
        max(prod(path) for path in paths)     :: It is not only the largest product that counts. Each path brings its part, and the parts add up.
        float(sum(np.prod(path) for path in set(map(tuple, paths)))) :: Two paths with the same numbers are still two: each brings its part. A set keeps only one of them.
        float(prod(paths[-1]))                :: Only the last path is left. Either `total` is overwritten and should keep what it had (`total + ...`), or it is not what you return.
        float(prod(paths[0]))                 :: Only the first path is counted. Is the `return` inside the loop?
        sum(path[-1] for path in paths)       :: Only the last local derivative of each path is counted: `along` has to keep what it had, `along * ...`.
        float(paths[0][0])                    :: Only one number has been used. Is the `return` inside the inner loop?
        return 0.0                            :: Nothing has been added up. Either `along` begins at 0, and a zero times anything stays zero; or the `return` is inside the inner loop, before anything was added.
        sum(prod(path) for path in paths) / len(paths) :: The paths are not averaged. Each brings its part, and the parts add up.
        0.0 => 1 :: The result is 1 too large: `total` begins at 1. A sum begins at 0; it is `along`, a product, that begins at 1.
        paths: => paths[:-1]: :: The last path is left out. Go through all of `paths`: `for path in paths`.
        paths: => paths[1:]: :: The first path is left out. Go through all of `paths`: `for path in paths`.
        along * local => along + local :: You add along a path. But each node *multiplies* what arrives by its local derivative: `along * local`.
        1.0 => path[0] :: You multiply by the first number of each path twice: `along` begins with it, and then the loop uses it again. Begin with 1.0.
        path: => path[:3]: :: A path may be longer than three. Go through *all* of its numbers.
        sum(abs(prod(path)) for path in paths) :: `abs` does not belong here: a path with a negative product brings a negative part.
        float(sum(prod(path) for path in paths if len(path) > 1)) :: A path of a single arrow is a path, too. Do not leave it out.
        for local in path: => while path: ;; along * local => along * path.pop() :: Your function changes the list
        float(sum(max(path) for path in paths))   :: Only the largest number of each path is counted. Along a path all of them are *multiplied*.
        -float(sum(prod(path) for path in paths)) :: The sign is wrong: there is no minus, neither along a path nor between paths.
        """),
    exercise(r"""
        4.4 three paths
        solution:
            paths = [
                [3, 1, 3],   # z to v: u = 3.  v to u: 1.  u to x: 3
                [3, 1],      # z to v: u = 3.  v to x: 1
                [4, 3],      # z to u: v = 4.  u to x: 3
            ]
        probe: _three_paths
        why: The products are 9, 3 and 12, and $9 + 3 + 12 = 24$. By the rules from school: $z = (3x + x) \cdot 3x = 12x^2$, with the slope $24x$.
        shows: 9 + 3 + 12 = 24: the slope of $12x^2$ at 1. Compare it with the `x.grad` that the machine gives.
        hint: Start at `z`. It is a product, so two arrows leave it: one to `v` and one to `u`.
        hint: Two arrows leave `v`: one to `u` (that is the path that is given) and one to `x`.
        hint: In $z = v \cdot u$, the arrow to `v` carries `u`, which is 3, and the arrow to `u` carries `v`, which is 4.

        [[3, 1, 3], [3, 1]]                 :: One path is missing. `z` is a product of `v` *and* `u`: an arrow leads from `z` straight to `u`.
        [[3, 1, 3], [4, 3]]                 :: One path is missing. `v = u + x`: two arrows leave `v`, one to `u` and one to `x`.
        [[3, 1, 3]]                         :: That is the path that was given. Two more lead from `z` to `x`.
        [[3, 1, 3], [3, 1], [3, 3]]         :: From `z` to `u` the local derivative is the *other* factor: `v`, which is 4.
        [[3, 1, 3], [4, 1], [4, 3]]         :: From `z` to `v` the local derivative is the *other* factor: `u`, which is 3, as in the path that is given.
        [[3, 1, 3], [4, 1], [3, 3]]         :: In a product each factor gets *the other one*: the arrow to `v` carries `u`, and the arrow to `u` carries `v`.
        [[3, 1, 3], [3, 1, 3], [4, 3]]      :: `v = u + x`: two arrows leave `v`. You took the one to `u` twice; the other goes directly to `x`.
        [[3, 1, 3], [3, 3], [4, 3]]         :: From `v` to `x` the local derivative is 1: `v = u + x`, and `x` is added as it is.
        [[3, 1, 3], [3, 1], [12, 3]]        :: 12 is the value of `z`. What does the arrow from `z` to `u` carry? In a product it is the other factor, the one that is not `u`.
        [[3, 1, 3], [3, 1], [4]]            :: The path through `u` does not end there. From `u` to `x` it is multiplied by 3.
        [[3, 1, 3], [3, 1], [4, 3], [4, 1]] :: Four paths are too many. Only one arrow leaves `u`, the one with 3.
        [[9], [3], [12]]                    :: Those are the products, and they are right. Write down what is multiplied: one number for each arrow on the path.
        [[3, 3], [3], [4, 3]]               :: The products are right. But an arrow with a 1 is an arrow too: `v = u + x` has the local derivative 1 on both sides.
        [[3, 1, 3], [3], [4, 3]]            :: The products are right. One arrow is missing: from `v` to `x` it carries a 1, like the one from `v` to `u`.
        [[24]]                              :: 24 is what all paths together bring. Write down the three paths, each with the number on each arrow.
        [[7], [4], [7]]                     :: Those are sums. Along a path nothing is added: write down the numbers on its arrows, one by one.
        [[8], [8], [8]]                     :: That is 24 divided evenly. Each path has its own numbers: read them off its arrows.
        """),
    exercise(r"""
        4.5 whose number is this?
        solution:
            found_36 = "a"   # y fires with 1, then with 5:  1 * 6 + 5 * 6
            found_15 = "d"   # y fires with 5; of the two arrows of x * x one is left:  5 * 3
            found_6 = "b"    # y fires with 1 alone:  1 * 6
            found_3 = "c"    # 1 is left at y, and one arrow at x:  1 * 3
        why: The right number is $5 \cdot 6 = 30$: `y` gets 1 from `a` and 4 from `b`, and $2x$ is 6. Each mistake has its own number.
        shows: A wrong number can show you the mistake. That is worth more than knowing that it is wrong.
        hint: First the right number: what do `a` and `b` send to `y`, and what is the local derivative of $x \cdot x$ at 3?
        hint: Which engine lets `y` fire twice? It finds *more* than the right number, 30.
        hint: `x * x` has two arrows to `x`, each with 3. An engine that overwrites at `x` keeps one of them: half of the right number.
        hint: If `y` fires with the 1 from `a` alone, you get $1 \cdot 6$. If 1 has replaced 4, and at `x` one arrow is left, you get $1 \cdot 3$.

        "b", "d", "a", "c" :: To get more than 30, an engine must count something twice: `y` fires *twice*. An engine that visits each node once cannot do that.
        "c", "d", "b", "a" :: Overwriting loses parts. 36 is more than the right number, so something was counted twice.
        "d", "a", "b", "c" :: Overwriting at the leaf *loses* one of two equal parts. That gives half of 30, not more than 30.
        "a", "b", "d", "c" :: 15 is half of 30. An engine that visits each node once, as soon as it meets it, fires `y` with the 1 from `a` alone: $1 \cdot 6$.
        "a", "c", "b", "d" :: 15 is half of 30: `y` must have fired with its whole 5. An engine that overwrites everywhere also loses the 4 at `y`.
        found_15 = "a"     :: Going on at once counts something *twice*. That cannot give less than 30.
        found_6 = "d"      :: An engine that adds at `y` gets 5 there, and then $5 \cdot 3$ along each arrow. That is more than 6.
        found_3 = "b"      :: Firing too early, `y` sends $1 \cdot 3$ along *two* arrows, and both are added at `x`.
        found_15 = "b"     :: 15 is half of 30, and `y` fired once, with everything it should receive. An engine that fires too early loses something *before* `x`.
        found_6 = "a"      :: Going on at once counts something twice, so it finds *more* than 30, not less.
        found_3 = "d"      :: An engine that adds at `y` gets 5 there. It loses only one of the two arrows at `x`, so it finds half of 30.
        found_3 = "a"      :: 3 is far too little. Going on at once loses nothing; it counts something twice.
        "a", "d", "c", "b" :: 6 and 3 are the wrong way round. If `y` fires with 1 alone, it sends 3 along *two* arrows. Adding these gives 6; overwriting gives 3.
        """),
    exercise(r"""
        4.6 swap two lines
        solution:
            answer = "b"
        why: `a` is now made after `b`, and of the ready nodes the one that was made last goes first. `y` waits for both and adds: $1 + 2 = 2 + 1$.
        shows: Among nodes that are ready the order does not matter (with three parts or more the last digit may differ). An engine that waits gives 12 either way.
        hint: Which of the ready nodes does the machine take first?
        hint: Make the diamond with the two lines swapped and `print(viz.trace(c))`. Compare the column *receives*.

        "a" :: The numbers stay the same. But look at the order of the steps: the node that was made last goes first.
        "c" :: Its parts do arrive in a different order. But they are added, and $1 + 2 = 2 + 1$.
        "d" :: An engine that goes to `b` first and does *not wait* finds 20. The machine waits.
        """),
]
