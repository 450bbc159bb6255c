"""Exercises of lesson 13, Hooks: a spy, a limit in the middle, a recorder, parameters without a gradient, counting calls, a step on arrival."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import minigrad as torch

from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question
from .side_effects import HOOKS, Watch, unchanged


def spy(t, seen):
    return t.register_hook(seen.append)


def limit_norm(t, limit):
    def hook(grad):
        norm = grad.norm()
        return grad * (limit / norm) if norm > limit else grad

    return t.register_hook(hook)


def record(model, batch):
    seen, handles = {}, []

    def keep(name):
        def hook(module, inputs, output):
            seen[name] = output.detach()

        return hook

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            seen[name] = None  # nothing yet; and its hook is keep(name)
            handles.append(module.register_forward_hook(keep(name)))
    model(batch)
    for handle in handles:
        handle.remove()
    return seen


def gradient_norms(model):
    norms = {}
    for name, param in model.named_parameters():
        norms[name] = None if param.grad is None else param.grad.norm().item()
    return norms


def step_on_arrival(params, lr):
    def step(param):
        param -= lr * param.grad
        param.grad = None

    for param in params:
        param.register_post_accumulate_grad_hook(step)


# the spy


def _spied(function: Callable) -> Iterator[tuple]:
    """What `seen` holds after a pass, and after the hook was removed, and whether the leaf gets its gradient as usual."""
    for at, f, leaf in (
        (2.0, lambda y: y * 1 + y * 4, False),
        (3.0, lambda y: y * y, False),
        ([1.0, -2.0], lambda y: (y * y).sum(), True),  # a leaf has no node; several entries
    ):
        x = torch.tensor(at, requires_grad=True)
        y = x if leaf else x * x
        z = f(y)
        seen: list = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            handle = function(y, seen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from reading the .grad of a non-leaf: the advice mentions it
            z.backward(retain_graph=True)
        if not seen:
            raise Complaint(
                "A pass has run, but `seen` is empty: no hook was called, or what it was given did not get into that list."
            )
        if len(seen) > 1 and all(value is seen[0] for value in seen):
            raise Complaint(
                f"One pass has run, and `seen` holds the same gradient {len(seen)} times. The hook is called once, with the total: one `append` per call."
            )
        yield f"After one pass `seen` holds{', on a leaf' * leaf}", list(seen)
        if any(isinstance(value, str) for value in seen):
            raise Complaint("`seen` holds a string. Append the gradient itself, which the hook is given.")
        yield "and x.grad is", x.grad
        if isinstance(handle, list) or not hasattr(handle, "remove"):
            raise Complaint(
                "The tap works. But return the handle, which `register_hook` returns: without it the tap cannot be removed."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            z.backward(torch.tensor(2.0), retain_graph=True)
        yield "After a second pass, with twice the gradient, `seen` holds", list(seen)
        handle.remove()
        z.backward()
        yield "After the handle was removed, and one more pass, the length of `seen` is", len(seen)


# the limit


def _limited(function: Callable) -> Iterator[tuple]:
    for numbers, limit in (
        ([30.0, 40.0], 10.0),
        ([-3.0, 4.0], 2.0),
        ([0.3, 0.4], 10.0),
        ([40.0, 1.0], 10.0),
        ([8.0, 8.0], 10.0),  # longer than 10, though no entry exceeds it
        ([2.0, 1.0], 10.0),
        ([7.0, -7.0], 10.0),  # shorter than 10, though the sizes add up to more
    ):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        beside = torch.tensor([1.0, 2.0], requires_grad=True)
        p, y = beside * 1, x * 1
        watch = Watch({"t": {HOOKS}}, t=y)
        function(y, limit)
        if not y._backward_hooks:
            raise Complaint(
                "No hook is on `t` afterwards, so nothing is limited. Writing a function is not registering it: "
                "`t.register_hook(hook)`, and return what that returns."
            )
        watch.complain()
        try:
            (p + y).backward(torch.tensor(numbers))
        except TypeError as error:
            if "ellipsis" not in str(error):
                raise
            yield "the hook returns", ...
            return
        yield f"{numbers} arrives, the limit is {limit:g}; the gradient that goes on", x.grad
        if not torch.equal(beside.grad, torch.tensor(numbers)):
            raise Complaint(
                "Your hook writes into the tensor that it is given. Another node was given the same tensor, and now has the wrong "
                "gradient. Compute a new tensor and return it."
            )


def _named(found: dict) -> None:
    """A Complaint, unless all keys are strings."""
    for key in found:
        if not isinstance(key, str):
            raise Complaint(
                f"A key of the dictionary has the type `{type(key).__name__}`. The key should be the *name*, which comes in the same pair."
            )


# the recorder


def _model() -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def _recorded(function: Callable) -> Iterator[tuple]:
    yield from _recorded_on(function, _model(), torch.randn(2, 3))
    nested = torch.nn.Sequential(_model(), torch.nn.LayerNorm(2), torch.nn.Linear(2, 3, bias=False))
    yield from _recorded_on(function, nested, torch.randn(4, 3))


def _recorded_on(function: Callable, model: Any, batch: Any) -> Iterator[tuple]:
    runs: list = []
    model.register_forward_hook(lambda *call: runs.append(1))  # not the learner's: it must stay
    watch = Watch(model=model, batch=batch)
    seen = returned(function(model, batch))
    besides = watch.first_change()
    if not isinstance(seen, dict):
        raise Complaint(f"Return a dictionary, one entry per name. This is a `{type(seen).__name__}`.")
    _named(seen)
    if not seen or all(value is None for value in seen.values()):
        raise Complaint(
            "There is no output in the dictionary. Was a hook registered on each layer, for the *forward*, before the model was "
            "called? And does it store the output under the layer's name?"
        )
    yield "The names are", ", ".join(seen)
    for name, value in seen.items():
        if isinstance(value, list):
            raise Complaint(f"What is stored for `{name}` is a list. Store the output itself, a tensor.")
        yield f"The output of `{name}`", value
    holds = any(getattr(value, "grad_fn", None) is not None for value in seen.values())
    yield "Does any of them hold a graph?", holds
    kinds = "_forward_hooks", "_forward_pre_hooks", "_backward_hooks"
    left = sum(len(getattr(module, kind)) for module in model.modules() for kind in kinds) - 1
    yield "Hooks that are left on the model", left
    if besides:
        raise Complaint(besides)
    if len(runs) > 1:
        raise Complaint(f"The model has run {len(runs)} times. Run it once: each run calls every hook again.")
    if not runs:
        raise Complaint(
            "The model itself has not run. Running its layers one after the other gives the same result only if the model is a plain chain."
        )


# which parameters got nothing


def _norms(function: Callable) -> Iterator[tuple]:
    for starved in (False, True):
        model = _model()
        model[0].bias.requires_grad_(not starved)  # one that does not even require grad
        h = torch.relu(model[0](torch.ones(2, 3)))
        (model[2](h.detach() if starved else h) ** 2).mean().backward()
        watch = Watch(model=model)
        found = returned(function(model))
        if not isinstance(found, dict):
            raise Complaint(f"Return a dictionary, one entry per name. This is a `{type(found).__name__}`.")
        _named(found)
        case = "the first layer starved" if starved else "all layers reached"
        yield f"With {case}, the names are", ", ".join(found)
        for name, value in found.items():
            yield f"With {case}, `{name}` has", value
        watch.complain()


# the step


def _stepped(function: Callable) -> Iterator[tuple]:
    alone = torch.tensor(2.0, requires_grad=True)
    function([alone], 0.1)
    (alone * 3.0).backward()
    if alone.item() == 2.0 and alone.grad is not None and alone._post_accumulate_grad_hooks:
        raise Complaint(
            "The hook is there, but the parameter has not moved: does the hook take a step? `leaf = leaf - ...` makes a new tensor and gives it the name "
            "`leaf`. Write *into* the leaf, `leaf -= ...`, and then clear its `.grad`."
        )
    yield "A single parameter, 2, after a pass with the gradient 3 and lr 0.1", alone.detach().clone()
    yield "and its .grad", alone.grad
    for turned, lr in ((False, 0.1), (True, 0.05)):
        yield from _stepped_by(function, turned, lr)


def _stepped_by(function: Callable, turned: bool, lr: float) -> Iterator[tuple]:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor(-3.0, requires_grad=True)
    params = [b, a] if turned else [a, b]
    with unchanged(dict.fromkeys(("params",), frozenset({HOOKS})), params=params):
        function(params, lr)
    case = " with b first" * turned
    for turn in (1, 2):
        ((a * b).sum() + b * b).backward()
        still = a.tolist() == [1.0, 2.0] and b.item() == -3.0
        if turn == 1 and still and a.grad is not None and b.grad is not None:
            raise Complaint(
                "A pass has run, the gradients are in `.grad`, but the parameters have not moved. Was a post-accumulate "
                "hook, which is called *after* `.grad` has been filled, registered on each of them, and does it step in place?"
            )
        for name, leaf in (("a", a), ("b", b)):
            yield f"{name} after pass {turn}{case}", leaf.detach().clone()
            yield f"{name}.grad after pass {turn}{case}", leaf.grad


def down(param, by, lr) -> None:
    with torch.no_grad():
        param.sub_(lr * by)


def _fires_with() -> str:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    seen: list = []
    y.register_hook(lambda grad: seen.append(grad.item()))
    (y * 1 + y * 4).backward()
    return {(1.0, 4.0): "a", (4.0, 1.0): "b", (5.0,): "c", (2.5,): "d"}[tuple(seen)]


def _alive() -> int:
    model, log, batches = _model(), [], []
    model[0].register_forward_hook(lambda layer, inputs, out: log.append(out))
    for _step in range(5):
        batch = torch.randn(2, 3)
        batches.append(weakref.ref(batch))
        model(batch)
    del batch
    return sum(batch() is not None for batch in batches)


def _calls(epochs: int = 3) -> int:
    model, calls = _model(), []
    for _epoch in range(epochs):
        model[0].register_forward_hook(lambda *whatever: calls.append(1))
        model(torch.ones(1, 3))
    return len(calls)


def _starved_hook() -> str:
    model, fired = _model(), []
    model[0].register_full_backward_hook(lambda *whatever: fired.append("a"))
    model[2](model[0](torch.ones(1, 3)).detach()).sum().backward()
    return "".join(fired) or "b"


QUESTIONS: list[Question] = [
    question(r"""
        13.a what the hook on a tensor that is used twice receives
        truth: _fires_with()
        found: Yes: the node waits for both parts, they are added, and then the hook is called, once.
        missed: It is **c**: once, with the total, 5.

        "a" :: The parts are added first: the hook is called when `y` has its whole gradient. Once, with 5.
        "b" :: The parts are added first: the hook is called when `y` has its whole gradient. Once, with 5.
        "d" :: Once is right. But nothing is averaged where paths meet: $1 + 4$.
        """),
    question(r"""
        13.b how many of five batches are alive when outputs are stored as they are
        truth: _alive()
        counts: True
        found: Yes: each stored output holds its graph, and the graph holds the batch.
        missed: All five: each stored output holds its graph, and the graph holds its batch.

        0 :: The names are gone, but each stored output holds its graph, whose first node has kept the batch: all five.
        1 :: Not only the last. Each stored output holds its own graph, and each graph its batch: all five.
        """),
    question(r"""
        13.c calls of a hook that is registered in each of three epochs
        truth: _calls()
        counts: True
        found: Yes: one hook in the first epoch, two in the second, three in the third.
        missed: 1 in the first epoch, 2 in the second, 3 in the third: 6.

        3 :: That would be right if a registration replaced the one before. It adds a hook: 1 call, then 2, then 3.
        1 :: Each registration counts, and none is undone: 1 call, then 2, then 3.
        9 :: At the end there are three hooks. But in the first epoch there was one, in the second two.
        """),
    question(r"""
        13.d what a hook on a starved layer prints
        truth: _starved_hook()
        found: Yes: no gradient arrives, so the hook is not called.
        missed: It is **b**: no gradient arrives, so the hook is not called.

        "a" :: The exercise says so. But a zero would have to be computed and sent. Nothing arrives, and the hook is not called.
        "c" :: Nothing arrives, so the hook is not called at all, not even with `None`.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        13.1 a spy
        solution: spy
        probe: _spied
        why: `seen.append` takes one argument and returns `None`: just right for a hook that only observes. The handle is returned.
        shows: You have a tap that fills a list, and a handle to take it off.
        look: One line: register a function that appends what it is given, and return what `register_hook` returns.
        hint: `t.register_hook(f)`: `f` will be called later, with the gradient. What should it do with it?
        hint: `seen.append`, without parentheses, is a function that does it.
        hint: `return t.register_hook(seen.append)`

        t.register_hook(lambda grad: seen.append(grad.item())) :: `.item()` is for a single number, and a gradient may have many entries. Append it as it is.
        t.register_hook(seen.append) => t.grad_fn.register_hook(lambda leaving, arrived: seen.append(arrived[0]))                         :: That is a hook on the *node*, and a leaf has none: its `grad_fn` is `None`. The tap belongs on the tensor, `t.register_hook`.
        t.register_hook(seen.append(t.grad)) :: `seen.append(...)` with parentheses is called at once, and its result, `None`, is registered. Pass the function itself.
        t.register_hook(seen.append); return :: The tap works. But return the handle
        seen.append => lambda grad: (seen.append(grad), grad * 2)[1] :: Your hook returns a value, which changes the gradient. A spy returns nothing.
        seen.append => lambda grad: (seen.append(grad), t.detach())[1] :: Your hook returns something else, which replaces the gradient. A spy returns nothing.
        seen.append => lambda grad: seen.append(t.detach()) :: That is the *value* of `t`. The hook is given the gradient: append that.
        seen.append => lambda grad: seen.append(t.grad) :: When the hook runs, `t.grad` is `None`, because `t` is not a leaf. What the hook is *given* is the gradient: append that.
        seen.append(t.grad)                  :: `t.grad` is read *now*, before any pass, when it is `None`. A hook is called later, and is given the gradient.
        t.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad)) :: That hook is for leaves only: it is called after the leaf's `.grad` has been filled, and `t` has no `.grad`. Use `register_hook`.
        seen.append => lambda grad: None :: no hook was called, or what it was given did not get into that list
        t.register_hook(seen.append) => t.grad_fn.register_hook(lambda leaving, arrived: seen.append(leaving[0]))                         :: A hook on the *node* is given what leaves it, the gradients of its inputs. The gradient of `t` is what arrives: put the hook on `t`.
        return t.register_hook(seen.append) => handle = t.register_hook(seen.append); t.backward(retain_graph=True); return handle :: Your spy runs a pass. It should only wait for one.
        seen.append(t.register_hook); return :: `t.register_hook` without parentheses is the method itself, and that went into the list. Call it.
        seen.append => lambda grad: seen.append(abs(grad)) :: `abs` does not belong there. Append the gradient as it is, with its sign.
        seen.append => lambda grad: seen.insert(0, grad) :: `insert(0, ...)` puts the newest gradient first. Append it.
        seen.append => lambda grad: seen.append('grad') :: `seen` holds a string.
        seen.append => lambda grad: seen.append(grad.sum()) :: That is the sum of the entries. Append the whole gradient.
        """),
    exercise(r"""
        13.2 keep the direction
        solution: limit_norm
        probe: _limited
        why: One factor for all entries keeps the direction. It is $\text{limit}/|g|$ where the gradient is too long, and 1 where it is not.
        shows: The gradient is at most as long as the limit, and has the same direction as before.
        look: Too long: the whole gradient times limit / norm. Short enough: unchanged.
        hint: First the length, `grad.norm()`. Then there are two cases.
        hint: A hook that returns nothing leaves the gradient as it is. So the hook has to return something only if the gradient is too long.
        hint: `return grad * (limit / grad.norm()) if grad.norm() > limit else grad`

        grad * (limit / norm) => grad - (norm - limit) :: The same number is subtracted from each entry, so the direction changes. *Multiply* by `limit / norm`.
        t.register_hook(lambda grad: t.detach() * (limit / t.norm()) if t.norm() > limit else t.detach()) :: That shortens the *value* of `t`. Shorten what the hook is given: `grad`.
        norm = grad.norm() => if grad.norm() > limit: ;; return grad * (limit / norm) if norm > limit else grad => >> grad.mul_(limit / grad.norm()) :: Your hook writes into the tensor that it is given
        t.register_hook(lambda grad: grad * (limit / t.norm()) if t.norm() > limit else grad) :: That measures `t`, a *value*. Measure the gradient that the hook is given: `grad.norm()`.
        instead of grad * (limit / norm) if norm > limit else grad:
        grad.clamp(-limit, limit)                     :: `clamp` limits each entry separately and changes the direction. You need one factor for all.
        grad * (limit / grad.norm())                  :: That brings *every* gradient to the length of the limit, short ones too. Those should stay.
        grad / grad.norm() if grad.norm() > limit else grad :: That gives long gradients the length 1. Their length should be the limit.
        grad / limit if grad.norm() > limit else grad :: That divides by the limit. The factor is limit / norm.
        grad * grad.norm() / limit if grad.norm() > limit else grad :: The factor is upside down: it makes long gradients longer.
        grad * (limit / grad.norm()) if grad.norm() < limit else grad :: It is the other way round: scale the *long* gradients.
        grad * (limit / abs(grad).sum()) if abs(grad).sum() > limit else grad :: That uses the sum of the absolute values as the length. The length is `grad.norm()`, the root of the sum of squares.
        grad * (limit / abs(grad).max()) if abs(grad).max() > limit else grad :: That measures the largest entry. The length is `grad.norm()`.
        grad * (limit / grad.norm() ** 2) if grad.norm() > limit else grad :: That divides by the *square* of the length.
        grad / limit                                  :: That divides every gradient by the limit. Only long ones are scaled, by limit / norm.
        grad * limit                                  :: That multiplies every gradient by the limit. Only long ones are scaled, by limit / norm.
        grad * (limit / grad.max()) if grad.norm() > limit else grad :: That measures the largest entry. The length is `grad.norm()`.
        torch.zeros_like(grad) if grad.norm() > limit else grad :: Long gradients have become zero. They should be shortened, not thrown away.
        grad                                          :: That passes the gradient on unchanged (as does a hook that returns nothing). Scale the long ones.
        min(grad.norm().item(), limit)                :: Your hook returns a number. Return a tensor in the shape of the gradient.
        grad * (limit / grad.norm()) if grad.norm() > limit else grad * 0 :: Short gradients have become zero. They should stay as they are: return nothing for them.
        grad * (limit / grad.norm()) if grad.max() > limit else grad :: That asks whether an *entry* is too large. The length can be over the limit even if no entry is: `grad.norm() > limit`.
        grad * (limit / grad.norm()) if abs(grad).sum() > limit else grad :: That compares the sum of the absolute values. The length is the root of the sum of the squares: `grad.norm() > limit`.
        grad * (limit / grad.norm()) if grad[1] > limit else grad :: That asks about one entry. Ask about the length: `grad.norm() > limit`.
        grad * (10.0 / grad.norm()) if grad.norm() > 10.0 else grad :: 10 is the limit of one call. Use `limit`, whatever it is.
        grad * (limit / grad.norm()) if grad > limit else grad :: `if` asks Python for one truth value, and a gradient has several entries. Ask about its length: `grad.norm() > limit`.
        abs(grad) * (limit / grad.norm()) if grad.norm() > limit else grad :: `abs` does not belong there: the direction must not change, and neither must the signs.
        grad * 0.5                                    :: That halves every gradient. Scale only those that are too long, by limit / norm.
        grad - limit if grad.norm() > limit else grad :: That *subtracts* the limit from each entry. Multiply the whole gradient by one factor: limit / norm.
        grad.clamp(max=limit)                         :: `clamp` limits single entries, and the direction changes. Use one factor for all of them: limit / norm.
        instead of all:
        grad * (limit / norm) if norm > limit else grad => norm.clamp(max=limit) :: That returns a length, one number. Return the gradient, in its own shape.

        t.register_hook(hook) => hook :: No hook is on `t` afterwards
        """),
    exercise(r"""
        13.3 an activation recorder
        solution: record
        probe: _recorded
        why: `keep(name)` makes a hook that knows the name of its layer. It stores the output without its history, and at the end every handle removes its hook.
        shows: The output of each layer without a graph behind it, and the model unchanged.
        look: Three things: what you store, which hook you register on `module`, and what you do with each handle.
        hint: Store the output, without its history.
        hint: `module.register_forward_hook(...)` needs a hook. `keep(name)` makes one.
        hint: At the end: `handle.remove()`, with parentheses.

        handles.append(module.register_forward_hook(keep(name))) => handles = [module.register_forward_hook(keep(name))] :: A hook is still there: each iteration makes a handle, and only the last one is removed.
        seen = {}
        for name, layer in model.named_children():
            batch = layer(batch)
            if isinstance(layer, torch.nn.Linear):
                seen[name] = batch.detach()
        return seen :: The model itself has not run. Running its layers one after the other gives the same result only if the model is a plain chain.

        seen, handles = {}, []
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Linear):
                module.register_forward_hook(lambda module, inputs, output, name=name: seen.update({name: output.detach()}))
        model(batch)
        for m in model.modules():
            m._forward_hooks.clear()
        return seen :: Your function removes hooks from `model` that it did not put there
        named_modules => named_children :: `named_children` gives only the layers at the top level. A layer inside another module is missing: `named_modules`.
        return {"0": model(batch)}                  :: That is the output of the whole model. For the output of each `Linear` layer inside, put a hook on it.


        outputs = record(model, batch); return {"Linear": list(outputs.values())[-1]} :: Your key is the *kind* of layer, so both layers write to the same place. Use the name from `named_modules()`.
        isinstance(module, torch.nn.Linear) => hasattr(module, "weight") :: Other layers have a weight too, such as a `LayerNorm`. Check the kind of layer: `isinstance(module, torch.nn.Linear)`.
        handle.remove() => handle                   :: The hooks are all still there. Each handle has a method `remove()`; call it.
        isinstance(module, torch.nn.Linear) => True :: That records the model itself and its ReLU as well. Record only the `Linear` layers.
        model(batch) => ;; return seen => model(batch); return seen :: for the *forward*, before the model was called
        register_forward_hook => register_forward_pre_hook :: A forward *pre*-hook is called before the layer runs: there is no output yet, so it gets two arguments only. Use `register_forward_hook`.
        model.eval(); return record(model, batch)   :: `model` is left in eval mode
        torch.nn.Linear => torch.nn.ReLU            :: That records the ReLUs. Record the `Linear` layers.
        instead of output.detach():
        output                   :: What you store holds a graph, and the graph holds the batch (a `clone` does too: it is recorded like any operation). Store it detached.
        output.detach().tolist() :: Store the output itself, a tensor.
        inputs[0].detach()       :: That is what went *in*. What came out is the third argument of the hook.
        output.detach().mean()   :: That is one number. You need the whole output.
        tuple(output.shape)      :: That is the shape. You need the output itself.
        register_forward_hook(keep(name)) => register_forward_hook(lambda module, inputs, output: seen.update({name: output.detach()})) :: All hooks write under the same name, the last one: when they run, the loop is over. That is what `keep(name)` is for.
        register_forward_hook(keep(name)) => register_forward_hook(keep) :: `keep` is not the hook, it *makes* one: `keep(name)`.
        """),
    exercise(r"""
        13.4 which parameters got nothing?
        solution: gradient_norms
        probe: _norms
        why: Check for `None` first. What is left is a tensor, and has a `norm()`.
        shows: `None` where nothing arrived, a number where something did: the starved layer is found without a hook.
        look: Two cases: `param.grad` is `None`, or it is a tensor and has a `norm()`.
        hint: What is `param.grad` if no gradient has arrived? What happens if you call `.norm()` on that?
        hint: Two cases in one line of Python: `a if condition else b`.
        hint: `norms[name] = None if param.grad is None else param.grad.norm().item()`

        {name: p.grad.norm().item() for name, p in model.named_parameters() if p.grad is not None} :: That leaves out the parameters that got nothing. They are the ones to find: give them `None`.
        return norms => model.zero_grad(); return norms :: Your function clears
        instead of None if param.grad is None else param.grad.norm().item():
        None                                       :: Every name has `None`, even where a gradient has arrived. Nothing reads `param.grad`.
        param.grad.norm().item()                   :: That is right as long as every parameter has a gradient. Where none has arrived, `.grad` is `None`, which has no `norm`: check first.
        0.0 if param.grad is None else param.grad.norm().item() :: A zero would be a computed answer, *it does not matter*. Here nothing arrived, so it should be `None`.
        param.detach().norm().item()               :: That is the length of the *weight*. Its gradient is `param.grad`.
        None if param.grad is None else param.detach().norm().item() :: `None` is in the right places. Elsewhere that is the length of the *weight*; you need the length of its gradient.
        None if param.grad is None else param.grad.sum().item() :: The sum lets entries cancel. The length is `norm()`.
        None if param.grad is None else param.grad.abs().max().item() :: That is the largest entry. The length is `norm()`.
        None if param.grad is None else param.grad.norm().item() ** 2 :: That is the square of the length.
        None if param.grad is None else param.grad.abs().mean().item() :: That is the mean size of the entries. The length is `norm()`.
        None if param.grad is None else param.grad :: That is the gradient itself. You need its length, one number.
        None if param.requires_grad else 0.0       :: Whether a parameter *requires* a gradient does not say whether it got one. Look at `param.grad`.
        param.grad.norm().item() if param.grad else None :: `if param.grad` asks whether a whole tensor is true. Ask `param.grad is None`.
        None if param.grad is None else param.grad.norm().item() / param.numel() ** 0.5 :: That divides by the root of the number of entries. The length is `norm()` alone.
        None if param.grad is None else param.grad.abs().sum().item() :: That is the sum of the absolute values. The length is `norm()`, the root of the sum of the squares.
        """),
    exercise(r"""
        13.5 how many times?
        solution:
            twice_used = 1  # with the total
            two_calls = 2   # each call of the layer
            no_grad = 1     # a forward hook needs no recording
            starved = 0     # no gradient arrives
            by_forward = 0  # hooks are run by calling the layer
            epochs = 10     # 1 + 2 + 3 + 4
        counts: 1
        why: A backward hook is called when its gradient is complete, so at most once per pass (on a layer, once for each call of the layer), and never where none arrives. A forward hook is called when the layer is *called*, however often, recording or not.
        shows: You can tell from the code when a hook will be called, and when silence is right.
        look twice_used: When is the gradient of `y` complete?
        look two_calls: How many times is the *layer* called?
        look no_grad: Does the layer run in there?
        look starved: What arrives at this layer?
        look by_forward: What runs the hooks: the call of the layer, or its `forward`?
        look epochs: How many hooks are on the layer in the first epoch, and in the second?
        hint: For each backward hook: how many times is a gradient *complete*? For each forward hook: how many times is the layer called?
        hint: `layer(x)` runs the hooks and, in between, `layer.forward(x)`.
        hint: A registration does not replace an earlier one.

        twice_used = 3    :: The three parts are added first, and then the hook is called.
        twice_used = 2    :: The parts are added first, however many there are, and then the hook is called.
        twice_used = 12   :: 12 is the gradient that it is given. How many times is it called?
        twice_used = 0    :: A gradient arrives, so it is called.
        twice_used = 4    :: The parts are added first, and then the hook is called.
        two_calls = 1     :: One layer, but it runs twice in the one call of the model. The hook is on the layer.
        two_calls = 4     :: The layer runs twice, and each time the hook is called once.
        two_calls = 0     :: A forward hook is called each time the layer is called.
        two_calls = 3     :: The layer is called twice, and nothing else calls the hook.
        no_grad = 0       :: `no_grad` turns recording off. A *forward* hook has nothing to do with recording: the layer runs.
        no_grad = 2       :: One call of the layer, one call of the hook.
        no_grad = None    :: Enter a number: how many times does the layer run?
        starved = 1       :: No gradient arrives, so there is nothing to call it with.
        starved = 2       :: Nothing arrives at that layer, neither once nor twice.
        starved = None    :: `None` is what its `.grad` will be. Enter a count.
        by_forward = 1    :: Hooks are run by *calling* the layer. `forward` alone bypasses them.
        by_forward = 2    :: Hooks are run by *calling* the layer. `forward` bypasses them.
        by_forward = None :: Enter a number: how many times is the hook called?
        epochs = 4        :: Each registration adds a hook, and the old ones stay: 1, then 2, and so on.
        epochs = 16       :: At the end there are four hooks. But in the first epoch there was one.
        epochs = 1        :: There are four epochs, and each adds one more hook to the layer.
        epochs = 8        :: Add them up: in the first epoch 1, in the second 2, and so on.
        epochs = 6        :: That is right for three epochs.
        epochs = 24       :: They are added, not multiplied: 1, then 2, and so on.
        epochs = 5        :: That is half of it: 1 call in the first epoch, 2 in the second, and so on.
        """),
    exercise(r"""
        13.6 train while the pass is running
        solution: step_on_arrival
        probe: _stepped
        why: The hook is given the leaf when its `.grad` is complete. It takes the step in place and clears `.grad`, while the pass is still running.
        shows: A whole training step without an optimizer and without a second loop; each gradient exists only for a moment.
        look: A post-accumulate hook on each parameter: a step in place, then `.grad = None`.
        hint: Which hook is called with the leaf, when `.grad` is complete?
        hint: In it: `param -= lr * param.grad`, and then clear `param.grad`. It must return nothing.
        hint: Write `def step(param): ...` once, and register it on each of `params` with `register_post_accumulate_grad_hook(step)`.

        def hook(given):
            param.sub_(lr * (param.grad if param.grad is not None else 0 * param))
            param.grad = None

        for param in params:
            param.register_post_accumulate_grad_hook(hook) :: All hooks work on the last parameter of the loop: when they run, the loop is over. Use what the hook is *given*.
        param -= lr * param.grad => param = param - lr * param.grad :: The hook is there, but the parameter has not moved: does the hook take a step?
        param.register_post_accumulate_grad_hook(step) => param.register_hook(lambda grad, param=param: param.data.sub_(lr * grad)) :: That hook is called *before* the gradient is in `.grad`, and what it returns replaces the gradient. Use the hook that comes after, and return nothing.
        def hook(leaf):
            with torch.no_grad():
                param.sub_(lr * param.grad)
            param.grad = None

        for param in params:
            param.register_post_accumulate_grad_hook(hook)
        return :: When the hooks run, the loop is over, and `param` is the last parameter in all of them. Use what the hook is given.

        for param in params: => for param in params[:1]: :: Only the first parameter has a hook. Register one on each of them.
        torch.optim.SGD(params, lr=lr).step()   :: No step is taken when a gradient arrives: either your function takes its step at once, before any pass, or no hook is left on the parameters. Take it *in a hook*, and leave the hook there.
        param.grad = None =>                    :: The steps are taken, but `.grad` is not cleared: the next pass adds to it.
        param -= lr * param.grad => param += lr * param.grad :: The step goes uphill. Subtract it.
        lr * param.grad => param.grad           :: The step is the whole gradient. It should be `lr` times that.
        for param in params: param.register_hook(lambda grad, param=param: param.data.sub_(lr * grad) and None) :: That hook is called *before* the gradient is in `.grad`, so `.grad` is filled after the step. Use the hook that comes after.
        for param in params: param.register_hook(lambda grad, param=param: param.data.sub_(lr * param.grad) and None) :: `.grad` is `None` when that line runs. A `register_hook` hook runs before `.grad` is filled, and a line outside a hook runs before any pass: use the hook that comes *after*. If you already do, `.grad` was cleared one line too early.
        param -= lr * param.grad => new = param - lr * param.grad :: `.grad` is cleared, but the leaf has not moved. Is there a step, and is it in place? `param = param - ...` makes a new tensor under the old name: use `-=`.
        param -= lr * param.grad => new = param.detach() - lr * param.grad ;; param.grad = None => param.grad = None; return new :: This hook must return nothing. Change the leaf in place.
        param.grad = None => param.grad.zero_() :: The step is right. But `.grad` should be `None` again, and yours holds zeros.
        param.grad = None => param.grad = None; return param, None :: This hook must return nothing, and yours returns a tuple.
        lr * param.grad => lr * abs(param.grad) :: `abs` removes the sign, so every number goes down. Step against the gradient, whatever its sign.
        lr * param.grad => 0.1 * param.grad     :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.
        """),
]
