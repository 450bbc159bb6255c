"""Exercises of lesson 10, What the graph remembers: kept bytes, a network's bytes, a leak hunt, validation, two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import minigrad as torch
from minigrad.utils.checkpoint import checkpoint

from .answers import letters
from .lessons import find_exercise
from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question
from .side_effects import ASKS, Watch

LEAKING = "adeg"
"""The lines of exercise 10.3 that keep a graph."""


def average_loss(model, batches):
    total = 0.0
    with torch.no_grad():
        for x, t in batches:
            loss = ((model(x) - t) ** 2).mean()
            total = total + loss
    return total / len(batches)


def in_two_groups(blocks, x):
    def first(t):
        return blocks[1](blocks[0](t))

    def last(t):
        return blocks[3](blocks[2](t))

    x = checkpoint(first, x, use_reentrant=False)
    return checkpoint(last, x, use_reentrant=False)


def _neuron():
    x = torch.linspace(-2.0, 2.0, 1000)
    w, b = (torch.tensor(value, requires_grad=True) for value in (1.5, 0.3))
    a = torch.sigmoid(x * w + b)
    return ((a - 1) ** 2).mean()


def _nodes(node, found) -> list:
    if node is not None and node not in found:
        found.append(node)
        for following, _place in node.next_functions:
            _nodes(following, found)
    return found


def _keeping() -> int:
    """How many functions of the neuron keep a tensor of a thousand numbers."""
    values = (
        [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        for node in _nodes(_neuron().grad_fn, [])
    )
    return sum(any(torch.is_tensor(v) and v.numel() == 1000 for v in kept) for kept in values)


def _after_the_pass() -> str:
    loss = _neuron()
    power = loss.grad_fn.next_functions[0][0]
    loss.backward()
    try:
        power._saved_self  # noqa: B018
    except RuntimeError:
        return "c" if len(_nodes(loss.grad_fn, [])) == 8 else "b"
    return "a"


def _kept_while(run) -> int:
    """Bytes that are kept while `run` runs; a tensor that is kept twice counts twice."""
    sizes: list[int] = []

    def note(tensor):
        sizes.append(4 * tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        run()
    return sum(sizes)


def _grows_with_the_batch() -> str:
    layer = torch.nn.Linear(4, 4)
    small, large = (_kept_while(lambda n=n: torch.tanh(layer(torch.ones(n, 4)))) for n in (32, 256))
    return "c" if large == 8 * small else "d"


def _validation() -> tuple:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    return model, [(torch.randn(rows, 2), torch.randn(rows, 1)) for rows in (5, 2, 8)]


def _average_probe(function) -> Iterator[tuple]:
    """What is returned, whether it has a history, and what was kept on the way: for three batches and for two."""
    for count in (3, 2):
        model, batches = _validation()
        yield from _averaged(function, model, batches[:count])


def _averaged(function, model, batches) -> Iterator[tuple]:
    watch = Watch({"model": {ASKS}}, model=model, batches=batches)
    found: list = []
    kept = _kept_while(lambda: found.append(function(model, batches)))
    value = returned(found[0])
    yield "The average", value.detach() if isinstance(value, torch.Tensor) else value
    if isinstance(value, torch.Tensor) and value.grad_fn is not None:
        raise Complaint(
            "The value is right. But it has a `grad_fn`: holding it means holding every graph of the loop. "
            "No backward pass will follow, so do not record at all."
        )
    if kept:
        raise Complaint(
            f"The value is right, and what you return holds nothing. But during the iterations {kept} bytes were kept: the forward "
            "pass was recorded for nothing. Switch recording off around it."
        )
    yield "Do the parameters still require gradients?", all(p.requires_grad for p in model.parameters())
    watch.complain()


def _two_groups_probe(function) -> Iterator[tuple]:
    """The result, the order in which blocks run, forward and backward, and the gradients."""
    runs: list[int] = []
    weights = [torch.tensor(value, requires_grad=True) for value in (0.5, -1.5, 2.0, 0.7)]

    def block(number):
        def run(t):
            runs.append(number)
            return torch.tanh(weights[number] * t)

        return run

    x = torch.tensor([0.3, -0.8], requires_grad=True)
    out = returned(function([block(number) for number in range(4)], x))
    if not isinstance(out, torch.Tensor):
        raise Complaint("Return a tensor: what the last block returns.")
    yield "The result", out.detach()
    yield "Blocks that run on the way forward", str(runs)
    if out.grad_fn is None:
        raise Complaint(
            "The result has no `grad_fn`: nothing was recorded, so nothing can learn. A checkpoint keeps little, but it "
            "still lets a backward pass through."
        )
    runs.clear()
    out.sum().backward()
    yield "Blocks that run again on the way back", str(runs)
    for name, leaf in [("x", x), *((f"the weight of block {n}", w) for n, w in enumerate(weights))]:
        yield f"The gradient of {name}", leaf.grad


def _order_of_blocks(seen: dict[str, Any]) -> str:
    """What is wrong with the order in which the blocks ran."""
    forward, back = (
        seen.get(f"Blocks that run {way}", "") for way in ("on the way forward", "again on the way back")
    )
    if forward and forward != "[0, 1, 2, 3]":
        return f"On the way forward the blocks run in the order {forward}. Each should run once, in the order 0, 1, 2, 3."
    if back and back != "[2, 3, 0, 1]":
        return f"On the way back the blocks {back} run again. With two checkpoints it would be 2 and 3, and then 0 and 1."
    return ""


def _leaks(answer) -> Iterator[tuple]:
    chosen = set(letters(answer, "abcdefg", "leaking"))
    if chosen != set(LEAKING) and chosen not in (set(wrong.answer) for wrong in find_exercise("10.3").wrong):
        missed, extra = sorted(set(LEAKING) - chosen), sorted(chosen - set(LEAKING))
        raise Complaint(
            f"Lines that leak and are missing from your answer: {len(missed)}. "
            f"Lines in your answer that do not leak: {len(extra)}. "
            "For each line ask: does a name that outlives the iteration hold a tensor with a `grad_fn` afterwards?"
        )
    yield "You say that these leak", sorted(chosen)


def _item_each(model, batches):
    total = 0.0
    for x, t in batches:
        total += ((model(x) - t) ** 2).mean().item()
    return total / len(batches)


def _recorded(model, batches):
    total = 0.0
    for x, t in batches:
        total = total + ((model(x) - t) ** 2).mean()
    return total / len(batches)


QUESTIONS: list[Question] = [
    question(r"""
        10.a how many of six functions keep a thousand numbers
        truth: _keeping()
        counts: True
        found: Yes: the product, the sigmoid and the square. Sums and means need no tensor.
        missed: Three: the product keeps $x$, the sigmoid its result, the square its input.

        6 :: Many texts say so. A node keeps what its *rule* needs: sums pass on what arrives, a mean needs only a shape and a count. Three keep a tensor.
        5 :: The two sums keep nothing either: what arrives is passed on as it is. Three keep a tensor.
        4 :: Did you count one of the sums, or the mean? Their rules do not read any tensor. Three keep a tensor.
        2 :: One is missing. The product, the sigmoid and the square: the rule of each reads a tensor.
        1 :: It is not just one: the product keeps $x$, the sigmoid its result, the square its input.
        0 :: Then there would be nothing to multiply by on the way back. Lesson 2 looked at `_saved_self`.
        """),
    question(r"""
        10.b what is there after the backward pass
        truth: _after_the_pass()
        found: Yes. Each node drops its values when it has used them; the nodes are held by `loss`.
        missed: It is **c**: the values are dropped, the nodes stay while `loss` is held.

        "a" :: They are dropped one by one during the pass: each node drops what it has used.
        "b" :: The values are gone. The nodes live as long as a name holds the result, and `loss` does.
        "d" :: The sigmoid's rule used its result, and then that was dropped as well.
        """),
    question(r"""
        10.c what grows with the batch
        truth: _grows_with_the_batch()
        found: Yes: only the activations have a row for each example.
        missed: It is **c**: activations have a row for each row of the batch.

        "a" :: The parameters are the same for any batch: that is what makes them parameters.
        "b" :: A gradient has the shape of its parameter. It is a sum over the rows of the batch.
        "d" :: Parameters and gradients have their own shapes, whatever comes in. Only the activations have a row for each example.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        10.1 which rule reads what?
        solution:
            both = 8000    # for u's gradient v is needed, for v's gradient u
            data = 4000    # only u asks: the other factor, d
            total = 0      # what arrives is passed on
            growth = 4000  # the slope of e^u is e^u: the result
            whole = 0      # each entry gets what arrives; a size will do
        rtol: 1e-5
        counts: 4
        why: Write down the rule of each. The tensors in it are kept, for each input that requires a gradient; nothing else is.
        shows: The rule tells you what is kept. An addition is free; a product costs the other factor of each input that requires a gradient.
        look both: Write down the gradients of `u` and `v`. Which tensors appear in them?
        look data: Which tensor requires a gradient, and what does the rule need for it?
        look total: Write the rule of the addition. Is there a tensor in it?
        look growth: The slope of $e^u$ is $e^u$. How many tensors is that?
        look whole: What does each entry of `u` get? Does that need a value of `u`?
        hint: Lesson 3: each rule is what arrives, times something. If that something is a tensor, it is kept.
        hint: For a product, the gradient of `u` needs the *other* factor. If `u` requires no gradient, nothing is kept for it.
        hint: A sum passes on what arrives: for `u + v` to both, for `u.sum()` to each entry.

        both = 8192   :: Each tensor holds 1,000 numbers, not 1,024, and each number takes 4 bytes: $2 \cdot 1000 \cdot 4$.
        total = 4.0                  :: Not even the number of entries is kept: what arrives is passed on as it is.
        both = 0.0                   :: You need two gradients, and each is what arrives times the *other* factor. So both factors have to be kept.
        both = 16000.0               :: Each of the two is kept once, and each takes 4,000 bytes.
        both = 2666.667              :: Nothing is divided: two tensors of 4,000 bytes are kept.
        data = 2000.0                :: Nothing is halved: a whole tensor is kept, or none.
        growth = 2000.0              :: Nothing is halved: the whole result is kept, because each entry is its own slope.
        both = 4000                  :: You need two gradients. For the gradient of `u` the rule needs `v`, and for the gradient of `v` it needs `u`.
        both = 12000                 :: The result is not kept: a product's rule needs only the two factors.
        both = 2000                  :: That counts numbers. Each takes 4 bytes.
        both = 8                     :: That would be right for one number each. Here `u` and `v` hold 1,000 numbers.
        data = 4                     :: That would be right for one number. Here `d` holds 1,000.
        data = 8000                  :: `d` requires no gradient, so nothing is kept for *its* gradient. The gradient of `u` needs one factor.
        data = 0                     :: `u` requires a gradient, and it is what arrives times `d`.
        data = 1000                  :: That counts numbers, and each takes 4 bytes.
        total = 8000                 :: Remembering both inputs would cost that. But the rule passes on what arrives: it reads neither.
        total = 4000                 :: The rule needs neither the inputs nor the result: it passes on what arrives.
        both = 24000                 :: Two tensors are kept, $u$ and $v$, each once: 2,000 numbers of 4 bytes.
        growth = 0                   :: What arrives is multiplied by the slope $e^u$, so that has to be kept.
        growth = 8000                :: One tensor will do: the result $e^u$ is itself the slope.
        growth = 1000                :: That is the count of numbers; in bytes it is four times as much.
        whole = 4000                 :: Each entry gets what arrives, whatever its own value is. The shape is enough.
        whole = 4                    :: Not even the result is kept: each entry gets what arrives, as it is.
        8000, 8000, 8000, 4000, 4000 :: That is *every node remembers its inputs*. Ask of each node what its rule reads.
        """),
    exercise(r"""
        10.2 bytes of a network
        solution:
            first = 50 * 10 * 4   # its input, for the gradient of its weights
            relu = 50 * 20 * 4    # its result
            second = 0            # its input is that same result, its weights are parameters
            doubled = 2 * (2000 + 4000)
        rtol: 1e-5
        counts: 4
        why: A layer keeps its input, for the gradient of its weights. It would need its weights for the gradient of its input; but they exist anyway, as parameters.
        shows: So a chain of layers keeps the data, and one result for each activation function. Everything else is a second name for one of these.
        look first: What does the gradient of the weights need? How many numbers is that, and how many bytes?
        look relu: How many numbers does ReLU return, and how many bytes is that?
        look second: It needs its input. Where does that come from, and is it already kept?
        look doubled: Add the three for 50 rows. What changes when there are 100?
        about doubled: Everything that is kept has a row for each row of the batch.
        hint: Rows times columns times 4.
        hint: The data: 50 rows of 10. After the first layer: 50 rows of 20.
        hint: What goes into the second layer is what came out of ReLU, and ReLU's node already holds that tensor.

        first = 200   :: $50 \cdot 4$: that counts one number per example. An example has 10.
        first = 1000.0       :: That would be two bytes per number. Here a number takes 4.
        first = 666.667      :: Nothing is divided. Multiply: rows times columns times 4, for what goes in.
        relu = 1333.333      :: Nothing is divided. Multiply: rows times columns times 4, for what ReLU returns.
        doubled = 0.0        :: Each of the first two layers keeps something, and keeps more with 100 rows.
        doubled = 4000.0     :: That is only the data, for 100 rows. ReLU keeps its result as well.
        doubled = 8000.0     :: That is what ReLU keeps for 100 rows. The data is kept as well.
        first = 500          :: That is the count of numbers. Each takes 4 bytes.
        first = 800          :: Those are the bytes of its weights: $20 \cdot 10 \cdot 4$. They are parameters, which do not count here.
        first = 880          :: Those are the bytes of its weights and biases. Parameters do not count here.
        first = 2800         :: The weights would be needed for the gradient of the data, and the data requires none.
        first = 4000         :: 50 rows of 20 is what comes *out*. The layer's rule needs what goes in.
        first = 6000         :: What goes in counts; but the rule of a linear layer does not read what comes out.
        first = 0            :: The layer needs its input for the gradient of its weights.
        relu = 1000          :: That is how many numbers come out; in bytes it is four times as much.
        relu = 8000          :: Only the result is kept: it is positive where the input was.
        relu = 2000          :: ReLU works on what the first layer returned: 50 rows of 20.
        relu = 0             :: Its rule must know where the input was positive. It reads that off its result.
        second = 4000        :: Its node holds that tensor, but it is the same one that ReLU's node holds. Shared memory counts once.
        second = 4080        :: Its input is the tensor that ReLU's node already holds, and its weights are parameters.
        doubled = 6400       :: Double each of the three: $2 \cdot (2000 + 4000 + 0)$.
        second = 80          :: Those are its weights, which exist anyway, as parameters.
        second = 200         :: That is the output, 50 rows of 1. Its rule does not need it.
        doubled = 6000       :: That is for 50 rows.
        doubled = 3000       :: That counts numbers for 100 rows. Each takes 4 bytes.
        doubled = 20000      :: That counts one tensor twice: the input of the second layer is the result of ReLU.
        doubled = 24000      :: You doubled twice: 50 rows keep 6,000 bytes.
        """),
    exercise(r"""
        10.3 leak hunt
        solution:
            leaking = "adeg"
        probe: _leaks
        why: A list, a sum, the worst loss so far and a dictionary all hold a tensor with a `grad_fn`, and so its whole graph. `item()` and `detach()` take the value out first.
        shows: A leak is a name that outlives the iteration and holds a tensor with a `grad_fn`. Nothing else matters.
        hint: After the line: is there a name, outside the iteration, that leads to a tensor with a `grad_fn`?
        hint: `item()` gives a Python number, `detach()` a tensor without history.
        hint: `worst` in line **e** holds one loss: one graph, not one per iteration. It is held all the same.

        "adg"                :: One is missing. `worst` is the loss of *some* iteration: that tensor keeps its graph alive.
        "aeg"                :: One is missing. A sum keeps nothing for its rule, but its node leads to those before it.
        "ade"                :: One is missing: what led to `output` stays alive as long as `seen` holds it.
        "deg"                :: One is missing: a list holds what is in it.
        "de"                 :: Two are missing: a list holds what is in it, and so does a dictionary.
        "adf"                :: `output.detach()` holds no graph, so **f** does not leak. Two others do: the worst loss so far, and an output with its history.
        "ad"                 :: Two are missing. It need not be a list: any name that outlives the iteration will do.
        "ag"                 :: Two are missing. It need not be a list or a dictionary: any name will do.
        "a"                  :: That line is one of them. But it need not be a list: any name that outlives the iteration will do.
        "abdeg"              :: One is too many. `item()` gives a plain Python number, which holds nothing.
        "acdeg"              :: One is too many. `loss.detach()` has no history, and neither does the sum of such tensors.
        "adefg"              :: One is too many. A detached output holds its numbers, and no graph.
        "bcf"                :: It is the other way round: those are the ones that hold *no* graph.
        "abcdefg"            :: Not all of them do. Which lines take the value out of the graph first?
        ""                   :: Some of them do. Which names hold a tensor with a `grad_fn` when the iteration is over?
        """),
    exercise(r"""
        10.4 validate, and keep nothing
        solution: average_loss
        probe: _average_probe
        why: Inside `no_grad` nothing is recorded, so nothing is kept, and `total` is a tensor without a history.
        shows: You get the same number, and not a byte is kept for a backward pass that never comes.
        look: The average is the sum of the losses divided by the number of batches. Change nothing else about the value.
        hint: `total` is the sum. The average is `total` divided by the number of batches.
        hint: `detach()` or `item()` on the loss frees the graph at the end of each iteration. Until then, the graph is in memory.
        hint: Put `with torch.no_grad():` around the whole loop.

        with torch.no_grad():
            return torch.cat([(model(x) - t) ** 2 for x, t in batches]).mean() :: That is the mean over all *rows*. The batches are not equally large, and you need the mean of their losses: each batch counts once.

        _recorded                   :: The value is right. But it has a `grad_fn`: holding it means holding every graph of the loop.
        with torch.no_grad(): => if True: ;; total / len(batches) => total :: That is the sum of the losses, and it holds every graph. Divide it, and record nothing.
        _item_each                  :: and what you return holds nothing. But during the iterations
        total / len(batches) => total :: That is the sum of the losses. Divide it by the number of batches, `len(batches)`.
        total = 0.0 => ;; total = total + loss => ;; total / len(batches) => loss :: That is only the loss of the last batch. Add up the losses of all batches.
        total = 0.0 => ;; total = total + loss => ;; return total / len(batches) => return loss / len(batches) :: That is only the last loss, divided by the number of batches. Add up all the losses first.
        total = total + loss => return loss :: That is the loss of a single batch, the first or the largest. Is the `return` inside the loop, or is there a `max` instead of a sum?
        for p in model.parameters():
            p.requires_grad_(False)
        return _recorded(model, batches) :: Nothing is kept, but the parameters no longer require gradients, and nothing changes that back: the next training step learns nothing.

        torch.set_grad_enabled(False); return _recorded(model, batches) :: Your code switched recording off and left it off.
        len(batches) => 3 :: 3 is the number of batches in one call. Divide by `len(batches)`, whatever it is.
        total = 0.0 => total = 0.0; model.eval() :: `model` is left in eval mode
        loss = ((model(x) - t) ** 2).mean() => total = total + ((model(x) - t) ** 2).sum() ;; total = total + loss => :: `sum()` adds up the squares of a batch. The loss of a batch is their mean.
        loss = ((model(x) - t) ** 2).mean() => total = total + (model(x) - t).abs().mean() ;; total = total + loss => :: Those are the distances, not their squares: `((model(x) - t) ** 2).mean()`.
        for x, t in batches => for t, x in batches :: In each batch the input comes first, then the target: `for x, t in batches`.
        float(len(batches))         :: That is how many batches there are. Return the mean of their *losses*.
        total = 0.0 => total = 0.0; batches.pop() :: Your function changes the list `batches`
        total = total + loss => return loss / len(batches) :: That is the loss of the first batch, divided by the number of batches. Does the loop go through all of them, and is the `return` after it?
        """),
    exercise(r"""
        10.5 four blocks, two groups
        solution: in_two_groups
        probe: _two_groups_probe
        diagnose: _order_of_blocks
        seconds: 10.0
        why: Two inputs are kept: `x`, and what comes out of the first group. The backward pass begins at the last group: it runs blocks 2 and 3 again, and later 0 and 1.
        shows: Forward 0, 1, 2, 3; on the way back 2, 3 and then 0, 1. The gradients are the same as without checkpoints.
        look: Two calls of `checkpoint`, each with a function of two blocks and that function's input.
        hint: Write `last` like `first`, with the other two blocks.
        hint: The result of the first `checkpoint` is the input of the second one.
        hint: `checkpoint(last, x, use_reentrant=False)`: the function itself, then its input.

        blocks[3](blocks[2](t)) => blocks[2](blocks[3](t)) :: In the last group the fourth block runs before the third. The inner call runs first.
        blocks[3](blocks[2](t)) => blocks[3](t)   :: The third block, number 2, does not run: it belongs to the last group as well.
        blocks[3](blocks[2](t)) => blocks[2](t)   :: The last block, number 3, does not run.
        for block in blocks: x = checkpoint(block, x, use_reentrant=False)
        return x :: Each block is its own group, so four inputs are kept. Two blocks should share a checkpoint.

        def run(t):
            for block in blocks:
                t = block(t)
            return t

        return checkpoint(run, x, use_reentrant=False) :: That is one group of four: all four blocks have their tensors in memory at once on the way back. There should be two groups.
        checkpoint(last, x, use_reentrant=False) => last(x)                :: The last two blocks are not checkpointed: they are not run again, so everything their rules need was kept.
        checkpoint(first, x, use_reentrant=False) => first(x)                 :: The first two blocks are not checkpointed: they are not run again, so everything their rules need was kept.
        checkpoint(first, x, use_reentrant=False) => first(x) ;; checkpoint(last, x, use_reentrant=False) => last(x) :: Nothing is checkpointed: no block runs again on the way back, so everything was kept.
        checkpoint(last, x, use_reentrant=False) => checkpoint(first, x, use_reentrant=False) :: The first two blocks run twice, and the last two not at all. Pass `last` to the second `checkpoint`.
        blocks[1](blocks[0](t)) => blocks[2](blocks[1](blocks[0](t))) ;; blocks[3](blocks[2](t)) => blocks[3](t) :: The groups have three blocks and one. They should have two each.
        checkpoint(first, x, use_reentrant=False) => checkpoint(first(x), use_reentrant=False) :: `checkpoint` needs the *function* and its input, `checkpoint(first, x, ...)`. A result cannot be run again.
        blocks[1](blocks[0](t)) => blocks[0](blocks[1](t)) ;; blocks[3](blocks[2](t)) => blocks[2](blocks[3](t)) :: The blocks of a group run in the wrong order: the inner call runs first.
        checkpoint(lambda t: blocks[1](blocks[0](t)), x, use_reentrant=False) :: Only the first group runs. You need the result of the second one.
        x = checkpoint(first, x, use_reentrant=False) => checkpoint(first, x, use_reentrant=False) :: The second group gets the original `x`. It should get the result of the first group.
        checkpoint(first, x, use_reentrant=False) => checkpoint(first, x, use_reentrant=False).detach() :: Something cuts the path between the groups: blocks 0 and 1 are never run again, and get no gradient.
        x = checkpoint(first, x, use_reentrant=False) => x = torch.no_grad()(first)(x) ;; checkpoint(last, x, use_reentrant=False) => torch.no_grad()(last)(x) :: The result has no `grad_fn`: nothing was recorded, so nothing can learn.
        x = checkpoint(lambda t: blocks[1](blocks[0](t)), x); return checkpoint(lambda t: blocks[3](blocks[2](t)), x) :: Pass `use_reentrant=False` in both calls.
        blocks[0](x)               :: Only the first block ran. Run all four, in two groups.
        return x                   :: No block ran: that is `x` unchanged. You need two calls of `checkpoint`, each with two blocks.
        blocks[1](blocks[0](t)) => blocks[3](blocks[2](t)) ;; blocks[3](blocks[2](t)) => blocks[1](blocks[0](t)) :: The two groups are in the wrong order: blocks 0 and 1 come first.
        x = checkpoint(first, x, use_reentrant=False) => x = checkpoint(first, x, use_reentrant=False); x = checkpoint(first, x, use_reentrant=False) :: The first group runs twice. Each block should run once on the way forward.
        """),
]
