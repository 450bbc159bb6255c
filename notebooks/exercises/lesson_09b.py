"""Exercises of lesson 09b, Bug clinic: ten patients to cure, and two checks before a long run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import minigrad as torch

from .bytecode import uses
from .lesson_09 import _points, _start
from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question
from .side_effects import GRAD, VALUES, Watch

mse_loss = torch.nn.functional.mse_loss
cross_entropy = torch.nn.functional.cross_entropy


def cured_2(model, optimizer, x, t, steps):
    losses = []
    for _step in range(steps):
        loss = torch.nn.functional.mse_loss(model(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loss_of(w, b, x, t):
    prediction = w * x + b
    return ((prediction - t) ** 2).mean()


def one_step(model, x, t, log):
    loss = torch.nn.functional.mse_loss(model(x), t)
    log.append(loss.detach())
    loss.backward()


def class_loss(scores, labels):
    return torch.nn.functional.cross_entropy(scores, labels)


def to_show(h):
    return h.detach() - h.detach().mean()


def step(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            if p.grad is not None:
                p -= lr * p.grad
                p.grad = None


def train_and_average(model, optimizer, x, t, steps):
    total = 0.0
    for _step in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        total = total + loss.item()
    return total / steps


def gentle_loss(w, b, x, t):
    loss = ((w * x + b - t) ** 2).mean()
    return loss + 0.01 * w * w


def paired_loss(prediction, target):
    difference = prediction - target.reshape(prediction.shape)
    return (difference**2).mean()


class _Watched(torch.optim.SGD):
    """SGD that notes, at each step, what it found in the `.grad` of the bias and whether a pass had run."""

    def __init__(self, model, lr):
        super().__init__(model.parameters(), lr=lr)
        self.model, self.began = model, model.bias.detach().clone()
        self.bias, self.passes, self.stale, self.found = model.bias, 0, False, []
        model.bias.register_hook(self.note)

    def note(self, grad):
        self.passes += 1
        self.stale = self.stale or (self.bias.grad is not None and bool((self.bias.grad != 0).any()))

    def step(self, closure=None):
        loss = None
        if closure is not None:  # PyTorch's other form: the closure clears, computes and calls backward
            with torch.enable_grad():
                loss = closure()
        empty = self.bias.grad is None or not bool((self.bias.grad != 0).any())
        self.found.append(("empty" if empty else "full", self.passes))
        super().step()
        return loss

    def fault(self, iterations: int) -> str:
        """What is wrong with the order of the lines, in words; "" if nothing is."""
        if not self.passes:
            return "No backward pass runs, so nothing fills `.grad`. `loss.backward()` is missing."
        if not self.found and not torch.equal(self.bias.detach(), self.began):
            return (
                "The weights moved, but not by a step of the optimizer that was passed to your function. Use `optimizer`, the argument: "
                "an optimizer made inside the function has neither its learning rate nor its memory."
            )
        if not self.found:
            return "The optimizer never steps: the gradients are there, and nothing uses them. `optimizer.step()` is missing."
        if self.found[0] == ("empty", 0):
            return "The step comes before the backward pass of its iteration. In the first iteration there is nothing to step with yet."
        if any(state == "empty" for state, _passes in self.found):
            return (
                "At `step()` there are no gradients: they were cleared *between* `backward()` and `step()`. (Or all of them are 0: "
                "in that case the loss does not depend on the weights.)"
            )
        if self.stale:
            return (
                "When `backward()` runs, the gradients of earlier steps are still there, and the new ones are added. "
                "That is patient 1: where is `zero_grad()`?"
            )
        if self.passes != iterations or len(self.found) != iterations:
            passes = f"{self.passes} backward pass{'es' * (self.passes != 1)}"
            steps = f"{len(self.found)} step{'s' * (len(self.found) != 1)}"
            return (
                f"In {iterations} iterations your loop ran {passes} and took {steps}. There should be one of each per iteration. "
                "(Are all the lines inside the loop? Does it run over `range(steps)`? Does the `return` come after it?)"
            )
        return ""


def _cured_2_probe(function) -> Iterator[tuple]:
    for steps, lr in ((4, 0.1), (6, 0.05)):
        yield from _cured(function, steps, lr)


def _cured(function, steps: int, lr: float) -> Iterator[tuple]:
    x, t = _points()
    model = _start()
    optimizer = _Watched(model, lr=lr)
    watch = Watch({"model": {VALUES, GRAD}}, model=model, x=x, t=t)
    losses = returned(function(model, optimizer, x, t, steps))
    if fault := optimizer.fault(steps):
        raise Complaint(fault)
    if (isinstance(losses, torch.Tensor) and losses.numel() == 1) or isinstance(losses, float | int):
        raise Complaint(
            "The loop learns. But you return one number. Return the list `losses`, with the loss of each step in it."
        )
    if isinstance(losses, list) and len(losses) != steps:
        raise Complaint(
            f"The loop learns. But for {steps} steps you return {len(losses)} loss{'es' * (len(losses) != 1)}. Add one per step: `losses.append(loss.item())`."
        )
    if isinstance(losses, list) and any(isinstance(loss, torch.Tensor) and loss.grad_fn for loss in losses):
        raise Complaint(
            "The loop learns. But what you return holds the graph of each step: put plain numbers into `losses`, `loss.item()`."
        )
    yield f"The losses of {steps} steps", losses
    yield f"The weight after {steps} steps", model.weight.detach()
    yield f"The bias after {steps} steps", model.bias.detach()
    watch.complain()


def _gradients_at(
    function, *places: tuple[float, float], learn: Callable = lambda loss, w, b: loss.backward()
) -> Iterator[tuple]:
    """The loss that `function` gives at these values of w and b, and after `learn` the gradients of both."""
    x, t = _points()
    for at in places:
        w, b = (torch.tensor(value, requires_grad=True) for value in at)
        loss = function(w, b, x, t)
        if not isinstance(loss, torch.Tensor):
            yield "The loss", loss
            return
        yield f"The loss at w, b = {at[0]:g}, {at[1]:g}", loss.detach()
        learn(loss, w, b)
        yield f"w.grad at w, b = {at[0]:g}, {at[1]:g}", w.grad
        yield f"b.grad at w, b = {at[0]:g}, {at[1]:g}", b.grad


def _learn_both(loss, w, b) -> None:
    if loss.grad_fn is None:
        raise Complaint("Now neither of the two is in the graph. Use the tensors themselves.")
    loss.backward()
    if w.grad is None:
        raise Complaint(
            "`w.grad` is `None`: `w` is still not in the graph. `w.item()` and `w.detach()` take its number, and nothing leads back."
        )
    if b.grad is None:
        raise Complaint("Now `w` learns, but `b.grad` is `None`: the other half does not learn.")


def _one_step_probe(function) -> Iterator[tuple]:
    x, t = _points()
    model, log = _start(), []
    for number in range(2):
        function(model, x, t, log)
        if len(log) != number + 1:
            raise Complaint(
                f"After {number + 1} step{'s' * number} there {'is 1 entry' if len(log) == 1 else f'are {len(log)} entries'} in the log. Add one per step: `log.append(...)`."
            )
        if isinstance(log[-1], torch.Tensor) and log[-1].grad_fn is not None:
            problem = "What is in the log has a `grad_fn`: it holds the graph of its step."
            if "detach" in uses(function):
                raise Complaint(
                    f"{problem} `detach()` gives a *new* tensor and leaves `loss` as it is. Put that new one into the log."
                )
            raise Complaint(f"{problem} Put the *value* into the log.")
        if log[-1] is None:
            raise Complaint(
                "`None` is in the log: what you append returns nothing. You need the value of the loss."
            )
        yield f"The log after step {number}", log[-1]
        if model.weight.grad is None:
            raise Complaint(
                "No gradient has arrived: no backward pass has run, or it did not start from a loss with a graph."
            )
        yield f"The gradient of the weight after step {number}", model.weight.grad.clone()
        with torch.no_grad():  # as an optimizer would between two calls, so that no two losses are the same
            model.weight += 0.5


def _class_probe(function) -> Iterator[tuple]:
    for rows, labels in (
        ([[2.0, -1.0, 0.5], [0.3, 0.1, 0.6], [1.5, 2.5, -2.0]], [0, 2, 1]),
        ([[0.6, -0.3, 0.2], [-1.0, 0.4, 0.3], [1.5, 0.5, -2.0], [0.2, 0.7, 1.1]], [1, 0, 2, 2]),
    ):
        scores, labels = torch.tensor(rows, requires_grad=True), torch.tensor(labels)
        loss = function(scores, labels)
        if not isinstance(loss, torch.Tensor):
            yield "What comes out", loss
            return
        if loss.numel() == 1 and loss.grad_fn is not None:
            loss.backward()
        if scores.grad is None and loss.grad_fn is None:
            if loss.requires_grad:
                raise Complaint(
                    "Now the loss requires a gradient, but as a leaf: `backward()` runs, and nothing gets to the scores. "
                    "Only operations that have a slope make a path back."
                )
            raise Complaint(
                "There is still no path back to the scores: the loss has no `grad_fn`. `detach()` cuts it, and a position (`argmax`) or a comparison has no slope."
            )
        if scores.grad is None and loss.numel() == 1:
            raise Complaint(
                "The scores were copied out of the graph (`detach`, `torch.tensor`, `.data`). The pass ends at the copy, and "
                "nothing gets to the scores that your function is given. Use `scores` itself."
            )
        yield "The loss", loss.detach()
        yield "The gradient of the scores", scores.grad


def _share_of_wrong(scores, labels):
    return (scores.argmax(1) != labels).float().mean()


def _show_probe(function) -> Iterator[tuple]:
    for values in ([1.0, 0.0, -2.0], [[0.5, 0.5], [3.0, -1.0]]):
        x = torch.tensor(values, requires_grad=True)
        h = torch.sigmoid(x)
        before = h.detach().clone()
        shown = function(h)
        if not isinstance(shown, torch.Tensor):
            yield "What comes out", shown
            return
        if not torch.equal(h.detach(), before):
            raise Complaint(
                "`h` itself has changed. Anything that writes into `h`, or into `h.detach()`, writes into the memory "
                "that both share: `-=` does, and so do methods whose names end in `_`."
            )
        yield "What should be shown", shown.detach().clone()
        if shown.grad_fn is not None:
            raise Complaint("The values are right, and `h` is unchanged. But what you return has a history.")
        h.sum().backward()
        yield "x.grad after a pass through `h`", x.grad


@torch.no_grad()
def _not_recorded(h):
    return h - h.mean()


def _parameters() -> list:
    made = [torch.tensor(value, requires_grad=True) for value in (5.0, [1.0, -2.0], 3.0, 2.0)]
    made[0].grad, made[1].grad = torch.tensor(10.0), torch.tensor([0.5, -4.0])
    made[3].grad = torch.tensor(1.0)  # after the parameter that has none
    return made


def _step_probe(function) -> Iterator[tuple]:
    for lr in (0.1, 0.3):
        handed = _parameters()
        parameters = list(handed)  # what the model and the optimizer hold, even if the list changes later
        before = [p.detach().clone() for p in parameters]
        function(handed, lr)
        if not all(p.is_leaf and p.requires_grad for p in parameters):
            raise Complaint(
                "A parameter is no longer a leaf, or no longer requires a gradient. Only its *values* should change."
            )
        if all(torch.equal(p.detach(), old) for p, old in zip(parameters, before, strict=True)):
            if any(one is not other for one, other in zip(handed, parameters, strict=False)):
                raise Complaint(
                    "New tensors are now in the list `parameters`. The model holds the old ones, and they have not moved: "
                    "that is what patient 7 died of. Write *into* each parameter, `p -= ...`."
                )
            raise Complaint(_why_still(parameters))
        for name, p in zip(("first", "second", "third", "fourth"), parameters, strict=True):
            yield f"The {name} parameter", p.detach().clone()
        for name, p in zip(("first", "second", "third", "fourth"), parameters, strict=True):
            yield (
                f"Is the `.grad` of the {name} parameter empty?",
                p.grad is None or not bool((p.grad != 0).any()),
            )
        if len(handed) != len(parameters) or any(a is not b for a, b in zip(handed, parameters, strict=True)):
            raise Complaint(
                "The numbers are right. But the list `parameters` now holds different tensors, while the model still holds the old ones and would "
                "go on with those. Leave the list as it is."
            )


def _why_still(parameters: list) -> str:
    left = [
        (p.grad, old.grad) for p, old in zip(parameters, _parameters(), strict=True) if p.grad is not None
    ]
    if any(not torch.equal(now, before) and bool((now != 0).any()) for now, before in left):
        return "No parameter has moved, but the *gradients* have changed: the line writes into `p.grad`. Write into `p`."
    if all(p.grad is None or not bool((p.grad != 0).any()) for p in parameters):
        return (
            "The gradients are cleared, and nothing has moved. Either they were cleared before the step, or the step did not write "
            "into `p`: `p.sub(...)` without its `_` and `p.data - ...` make a new tensor, and `p.grad -= ...` changes the gradient. "
            "Write *into* `p`, then clear `p.grad`."
        )
    return (
        "Nothing has moved. `p = p - ...` makes a new tensor and gives it the name `p`; the parameter itself stays as it was. "
        "Write *into* it: `p -= ...`."
    )


def _average_probe(function) -> Iterator[tuple]:
    for steps, lr in ((5, 0.3), (3, 0.1)):
        yield from _averaged(function, steps, lr)


def _averaged(function, steps: int, lr: float) -> Iterator[tuple]:
    x, t = _points()
    model = _start()
    optimizer = _Watched(model, lr=lr)
    watch = Watch({"model": {VALUES, GRAD}}, model=model, x=x, t=t)
    average = returned(function(model, optimizer, x, t, steps))
    if model.weight.item() == 0.0 or optimizer.stale or not optimizer.found:
        raise Complaint(optimizer.fault(steps))
    yield f"The weight after {steps} steps", model.weight.detach()
    yield f"The bias after {steps} steps", model.bias.detach()
    if isinstance(average, torch.Tensor) and average.grad_fn is not None:
        raise Complaint(
            "The loop learns, and the number is right. But it has a `grad_fn`: it holds the graphs of every step. Add up *values*."
        )
    yield f"The mean of the losses of {steps} steps", average
    watch.complain()


def _paired_probe(function) -> Iterator[tuple]:
    values = [1.0, -2.0, 0.5, 4.0, -1.5], [2.0, 0.0, -1.0, 3.5, 2.5]
    for rows, of_prediction, of_target in (
        (4, (4, 1), (4,)),
        (5, (5,), (5, 1)),
        (3, (3, 1), (3, 1)),
        (2, (2,), (2,)),
        (1, (1, 1), (1,)),
    ):
        made = [torch.tensor(numbers[:rows]) for numbers in values]
        prediction = made[0].reshape(of_prediction).requires_grad_(True)
        target = made[1].reshape(of_target)
        loss = function(prediction, target)
        shapes = f"prediction {of_prediction}, target {of_target}"
        if not isinstance(loss, torch.Tensor):
            yield f"The loss: {shapes}", loss
            return
        if loss.numel() != 1:
            raise Complaint(
                f"For {shapes}, your function returns a tensor of the shape {tuple(loss.shape)}. A loss is one number: take the mean."
            )
        yield f"The loss: {shapes}", loss.detach()
        if loss.grad_fn is None:
            raise Complaint("The loss has no `grad_fn`: nothing leads back to the predictions.")
        loss.backward()
        yield f"The gradient of the predictions: {shapes}", prediction.grad


def _first_activation() -> float:
    h = torch.sigmoid(torch.zeros(4))
    shown = h.detach()
    shown -= shown.mean()
    return h[0].item()


def _bias_grad() -> float:
    x, t = _points()
    model = _start()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _step in range(2):
        mse_loss(model(x), t).backward()
        found = model.bias.grad.item()
        optimizer.step()
    return found


QUESTIONS: list[Question] = [
    question(r"""
        9b.a what is in the .grad of the bias in the second step
        truth: _bias_grad()
        found: Yes: nothing has cleared it, so $-4 + 0.5$.
        missed: $-4 + 0.5 = -3.5$: nothing has cleared it.

        0.5   :: That is what the second pass brings. But `.grad` was not empty: $-4 + 0.5$.
        -4.0  :: That is what was there after the first step. The second pass adds its 0.5 to it.
        -4.5  :: 0.5 is positive: $-4 + 0.5$.
        4.5   :: $-4$ and 0.5 are added, with their signs.
        -1.75 :: Nothing is averaged: passes add up in `.grad`.
        -2.0  :: Passes add up; they are not multiplied: $-4 + 0.5$.
        0.0   :: Nothing clears it in this loop. Which line would?
        -1.05 :: That is the learning rate times `.grad`. The question is what is in `.grad` itself: $-4 + 0.5$.
        """),
    question(r"""
        9b.b what is in h after the detached tensor was shifted
        truth: _first_activation()
        found: Yes: one memory, two names. $0.5 - 0.5 = 0$.
        missed: It is 0: `shown` and `h` share their memory.

        0.5  :: `detach()` makes no copy. Whatever is written into `shown` is also in `h`: $0.5 - 0.5 = 0$.
        -0.5 :: The mean of the four is 0.5, and it is subtracted once: $0.5 - 0.5 = 0$.
        """),
    question(r"""
        9b.c the shape of (4, 1) minus (4,)
        truth: {(4, 1): "a", (4,): "b", (4, 4): "c"}[tuple((torch.zeros(4, 1) - torch.zeros(4)).shape)]
        found: Yes: the column is repeated to the right and the row downwards. Sixteen differences, and no error.
        missed: **c**: a column of 4 and a row of 4 are broadcast to a table of shape (4, 4).

        "a" :: The flat list counts as a *row*, (1, 4), so both are repeated until they fit: **c**, (4, 4).
        "b" :: The longer shape does not lose its dimension: the flat list counts as a row, (1, 4), and both are repeated: **c**, (4, 4).
        "d" :: That happens only when shapes cannot be broadcast. These can: a column and a row give a table, **c**.
        """),
    question(r"""
        9b.d the first cross entropy with ten classes
        truth: cross_entropy(torch.zeros(1, 10), torch.tensor([3])).item()
        found: Yes: each class has a probability of 1/10, and $-\log(1/10) = \log 10 = 2.303$.
        missed: $-\log(1/10) = \log 10 = 2.303$: minus the natural logarithm of 1/10.

        0.1  :: That is the probability. The loss is minus its logarithm: $\log 10 = 2.303$.
        1.0  :: That is the logarithm to the base 10. PyTorch's `log` is the natural one: 2.303.
        10.0 :: That is the number of classes. The loss is its logarithm: 2.303.
        0.0  :: A loss of 0 would mean that the network is sure and right. It knows nothing yet: $\log 10 = 2.303$.
        -2.303 :: The number is right, but its sign is not: *minus* the logarithm of 1/10 is positive.
        0.9  :: That is the share of wrong answers to expect. The cross entropy is minus the logarithm of 1/10: 2.303.
        3.322 :: That is the logarithm to the base 2. PyTorch's `log` is the natural one: 2.303.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        9b.1 cure patients 1 and 2
        solution: cured_2
        probe: _cured_2_probe
        why: Whatever clears `.grad` must not come between `backward()`, which fills it, and `step()`, which uses it.
        shows: Clear before the backward pass or after the step. In between, it clears what the step needs.
        hint: Three calls are missing: `optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`.
        hint: The backward pass fills `.grad`, the step uses it. What must not come in between?
        hint: At the end of each iteration, append `loss.item()` to the list.

        optimizer.step() => optimizer.step(); loss.backward() :: One graph is walked twice: `backward()` is called twice in an iteration. Once is enough.
        optimizer.zero_grad() => loss.backward() ;; loss.backward() => optimizer.zero_grad()             :: they were cleared *between* `backward()` and `step()`.
        optimizer.zero_grad() =>                     :: That is patient 1: where is `zero_grad()`?
        optimizer.step() =>                     :: The optimizer never steps
        loss.backward() =>                         :: No backward pass runs
        loss.backward() => optimizer.step() ;; optimizer.step() => loss.backward()             :: The step comes before the backward pass of its iteration.
        optimizer.step() => optimizer.step(); optimizer.step()     :: In 4 iterations your loop ran 4 backward passes and took 8 steps.
        return losses => >>                            :: In 4 iterations your loop ran 1 backward pass and took 1 step.
        losses.append(loss.item()) =>                  :: for 4 steps you return 0 losses
        loss.item() => torch.nn.functional.mse_loss(model(x), t).item() :: Those are the losses *after* each step. Append the one from before it.
        (loss.item()) => (loss)                        :: what you return holds the graph of each step
        losses = [] => losses, loss = [], torch.nn.functional.mse_loss(model(x), t) ;; loss = torch.nn.functional.mse_loss(model(x), t) => ;; loss.backward() => loss.backward(retain_graph=True) :: The forward line belongs *in* the loop: each iteration needs the loss of the new weights.
        losses = [] => losses, optimizer = [], torch.optim.SGD(model.parameters(), lr=0.1) :: Use `optimizer`, the argument
        return losses => return loss                   :: Return the list `losses`
        (steps): => (4):                               :: In 6 iterations your loop ran 4 backward passes and took 4 steps.
        torch.nn.functional.mse_loss(model(x), t) => ((model(x) - t) ** 2).sum() :: That is the *sum* of the squares. The loss is their mean, `mse_loss`: with the sum, each step is multiplied by the number of points.
        torch.nn.functional.mse_loss(model(x), t) => (model(x) - t).mean() :: That is the mean *error*, which falls without end. The loss is the mean of the *squared* errors, `mse_loss`.
        (loss.item()) => (loss.item() / steps)         :: Each loss is divided by the number of steps. Append it as it is: `loss.item()`.
        losses.append(loss.item()) => losses = [loss.item()] :: for 4 steps you return 1 loss
        losses = [] => model.eval(); losses = []       :: `model` is left in eval mode
        (model(x), t) => (model(t), x)                 :: Inputs and targets are swapped: it should be `mse_loss(model(x), t)`.
        """),
    exercise(r"""
        9b.2 cure patient 3
        solution: loss_of
        probe: lambda loss_of: _gradients_at(loss_of, (1.5, -0.5), (0.0, 0.0), (-2.0, 1.0), learn=_learn_both)
        why: `w` itself is in the product, so the product is recorded and a path leads back to `w`.
        shows: Both parameters get a gradient. `item()` is for printing, not for computing.
        look: The prediction is a line with slope `w` and intercept `b`.
        hint: Which of the two is not in the picture, and what was done to it?
        hint: `w * x + b`

        (w * x + b - t).mean()           :: That averages the distances with their signs: distances above and below the line cancel, and there is no lowest point. Square them: leave the last line as it was.
        ((w * x + b - t) ** 2).sum()     :: That is the sum of the squares. The loss is their *mean*.
        ((w * x + b - t).abs()).mean()   :: Those are the distances, not their squares: `** 2`.
        ((w * x + b) ** 2 - t**2).mean() :: First the difference, then the square: `(prediction - t) ** 2`.
        instead of w * x + b:
        w.item() * x + b        :: `w` is still not in the graph.
        w * x + b.item()        :: the other half does not
        w.item() * x + b.item() :: Now neither of the two is in the graph
        w * x                   :: Without the bias every line goes through 0. Add `b`.
        w + b * x               :: `w` and `b` are swapped: `w` multiplies `x`.
        w * x - b               :: The bias should be added, not subtracted.
        w * x + w               :: That adds `w`. The intercept of the line is `b`.
        (w + b) * x             :: That makes `b` part of the slope. Add it to the product: $w\,x + b$.
        x + b                   :: The slope is missing: `w` multiplies `x`.
        w + b                   :: `x` is missing. The line is $w\,x + b$.
        b                       :: That is the intercept alone, the same for each point. Add $w\,x$.
        w                       :: That is the slope alone. The line is $w\,x + b$.
        2 * x + 1               :: That is the line that the model should find. There is nothing left to learn. Use `w` and `b`.
        w * (x + b)             :: The bias is added after the product: $w\,x + b$.
        abs(w) * x + b          :: `abs` takes the sign away: where `w` is negative, the line falls. Use `w` itself.
        """),
    exercise(r"""
        9b.3 cure patient 4
        solution: one_step
        probe: _one_step_probe
        why: The log gets a tensor without history; the loss keeps its own, and `backward()` starts from that.
        shows: `detach()` gives a *new* tensor for the log, and leaves `loss` as it is.
        look: Two things: the value goes into the log, and the backward pass starts from the loss itself.
        hint: `loss` must keep its history, or `backward()` has nowhere to go.
        hint: What goes into the log is another tensor, or a plain number.
        hint: `log.append(loss.detach())`, and then `loss.backward()`.

        (loss.detach()) => (loss) :: Put the *value* into the log.
        (model(x), t) => (model(x), t).detach() ;; (loss.detach()) => (loss) :: There is no graph left: the loss, or the prediction in it, is detached. That is patient 4 unchanged. Detach only what goes into the log.
        detach => backward ;; loss.backward() => :: `None` is in the log
        detach => item ;; loss.backward() => :: No gradient has arrived
        mse_loss(model(x), t).backward(); return :: there are 0 entries in the log
        log.append(loss.detach()) => ;; loss.backward() => loss.backward(); log.append(model.weight.grad.item()) :: That is a gradient. The log is for the *loss*.
        log.append(loss.detach()) => loss.detach(); log.append(loss) :: `detach()` gives a *new* tensor and leaves `loss` as it is. Put that new one into the log.
        log.append(loss.detach()) => log.append(loss.item()); model.zero_grad() :: That clears the gradients of the first step. Leave that to the loop and its optimizer.
        loss.detach() => 9.0 :: The last entry is still 9.0, the loss of the first step. Append the loss that was just computed, whatever it is.
        log.append(loss.detach()) => log.append(loss.item()); log.append(loss.item()) :: After 1 step there are 2 entries in the log.
        log.append(loss.detach()) => log.clear(); log.append(loss.item()) :: After 2 steps there is 1 entry in the log.
        """),
    exercise(r"""
        9b.4 cure patient 5
        solution: class_loss
        probe: _class_probe
        why: The cross entropy is minus the logarithm of the probability of the right class, on average. It moves with each score.
        shows: Train with a loss that has a slope; count wrong answers for the report.
        look: The mean, over the rows, of minus the logarithm of the right class's probability.
        hint: `torch.nn.functional` has the cross entropy, under that name.
        hint: It takes the scores as they are, and the numbers of the classes. It applies the softmax itself.
        hint: `torch.nn.functional.cross_entropy(scores, labels)`

        torch.softmax(scores, 1)[torch.arange(len(labels)), labels].mean() :: That is the probability of the right class itself. It should become *large*, and a loss should become small: take minus its logarithm.
        torch.nn.functional.cross_entropy(scores, labels) => (scores.argmax(1) != labels).float().mean() :: There is still no path back to the scores
        torch.nn.functional.cross_entropy(scores, labels) => _share_of_wrong(scores, labels).requires_grad_(True) :: Now the loss requires a gradient, but as a leaf
        cross_entropy(torch.softmax(scores, 1), labels) :: `cross_entropy` applies the softmax itself. Applied twice, it flattens the probabilities and the gradients.
        cross_entropy(scores, labels, reduction="sum") :: That is the sum over the rows. Take the mean, or the step depends on the size of the batch.
        torch.log_softmax(scores, 1)[torch.arange(len(labels)), labels].mean() :: The sign is wrong: that goes *up* when the right class becomes more probable, and a loss must go down.
        -torch.log_softmax(scores, 1).mean()         :: That is the mean over all classes. Only the right one of each row counts.
        -torch.softmax(scores, 1)[torch.arange(len(labels)), labels].mean() :: There is a slope, but the logarithm is missing: where the right class is very improbable, the slope is almost 0.
        torch.nn.functional.nll_loss(scores, labels) :: That treats the *scores* as logarithms of probabilities. Without the softmax it can fall without end.
        1 - torch.softmax(scores, 1)[torch.arange(len(labels)), labels].mean() :: There is a slope, and it points the right way. But where the right class is very improbable, it is almost 0: you need minus the *logarithm* of the probability.
        mse_loss(scores, (labels.reshape(-1, 1) == torch.arange(3)).float()) :: That pulls each score to 1 or 0. A score may be any number; only the differences count.
        cross_entropy(scores.T, labels)              :: The scores are transposed. Each *row* belongs to one example: leave them as they are.
        mse_loss(scores.max(1).values, labels.float()) :: That compares the largest *score* with the *number* of a class. A class number is a name, not a size.
        cross_entropy(labels, scores)                :: The scores come first, as they are, then the labels. (A position, from `argmax`, is not a score.)
        cross_entropy(scores.detach().requires_grad_(), labels) :: The scores were copied out of the graph
        -torch.log(scores[torch.arange(len(labels)), labels]).mean() :: That is the logarithm of the *scores*. They are not probabilities, and a negative one has no logarithm: softmax first.
        cross_entropy(scores, labels) / len(labels)  :: That divides by the number of rows twice: `cross_entropy` already returns the mean.
        cross_entropy(scores[:3], labels[:3])        :: That takes the first three rows only. There may be more of them.
        cross_entropy(scores, labels) * 3 / len(labels) :: 3 is the number of rows in one call. `cross_entropy` already divides by their number.
        torch.nn.CrossEntropyLoss(scores, labels) :: `CrossEntropyLoss(...)` only makes the loss function, and its arguments are options. Call the result with the scores and the labels.
        """),
    exercise(r"""
        9b.5 cure patient 6
        solution: to_show
        probe: _show_probe
        why: `h.detach() - ...` computes a *new* tensor. Only `-=` would have written into the memory of `h`.
        shows: The backward pass through `h` works, and the plot has its numbers.
        look: The values of `h`, each minus the mean of all.
        hint: What is the difference between `a -= b` and `a - b`?
        hint: Without history: detach first. Without writing: no `-=`, and no method whose name ends in `_`.
        hint: `h.detach() - h.detach().mean()`

        h.detach() - h.detach().mean() => h.detach() - 1 :: 1 is not the mean of all the entries: subtract `h.detach().mean()`.
        h.detach().sub_(h.mean().item())     :: so do methods whose names end in `_`
        h - h.mean()                         :: But what you return has a history.
        h.detach()                           :: That is `h` as it was. Its mean should be 0.
        h.detach() - 0.5                     :: 0.5 was the mean in the lesson. Use the mean of the `h` that you are given.
        h.detach() - h.detach().sum()        :: That subtracts the *sum* of all. The mean is the sum divided by how many there are.
        h.detach() - h.detach().max()        :: That makes the largest 0. The *mean* should be 0.
        (h.detach() - h.detach().mean()) / h.detach().std() :: That shifts and stretches. Only shift.
        h.detach().mean()                    :: That is the mean itself. Subtract it from each entry.
        h.detach().mean() - h.detach()       :: It is the other way round: subtract the mean from `h`.
        h.detach() / h.detach().mean()       :: After dividing, the mean is 1. It should be 0: subtract.
        h.detach() - h.detach()[0]           :: That subtracts the first entry. Subtract the *mean* of all.
        h.detach() - h.detach().median()     :: That subtracts the median. Subtract the *mean*.
        torch.zeros_like(h)                  :: The mean of zeros is 0, but nothing of `h` is left. Subtract the mean of `h` from each entry.
        h.detach() - h.detach().mean() + 0.1 :: You added 0.1. The mean should be 0.
        """),
    exercise(r"""
        9b.6 your own SGD
        solution: step
        probe: _step_probe
        why: Inside `no_grad` a leaf may be written to, and `p -= ...` writes into the very tensor that the model holds.
        shows: This is `optimizer.step()` and `zero_grad()` in five lines. The parameters stay the same leaves.
        look: Each value minus `lr` times its gradient.
        hint: A loop over the parameters, inside `with torch.no_grad():`.
        hint: `p -= lr * p.grad` writes into `p`; `p = p - lr * p.grad` makes another tensor.
        hint: First test `if p.grad is not None:`. After the step, `p.grad = None`.

        if p.grad is not None: => if p.grad is None: break ;; p -= lr * p.grad => << p -= lr * p.grad ;; p.grad = None => << :: The loop ends at the first parameter that has no gradient (`return`, `break`), and those after it do not move. Skip only that one.
        grad is not None: => grad:            :: `if p.grad:` tests whether its *numbers* are true. To test whether there is a gradient at all, write `if p.grad is not None:`.
        with torch.no_grad(): => if True: ;; p -= lr * p.grad => p = p - lr * p.grad ;; p.grad = None => :: `p = p - ...` makes a new tensor and gives it the name `p`
        with torch.no_grad(): => if True: :: While operations are recorded, a leaf that requires a gradient must not be written to. Put the loop under `torch.no_grad()`.
        if p.grad is not None: => ;; p -= lr * p.grad => << ;; p.grad = None => << :: One of the parameters has no gradient: skip it, `if p.grad is not None:`. And clear a gradient only after its step.
        p -= lr * p.grad => p.sub_(lr * p.grad) ;; p.grad = None => None :: The parameter moves, but its `.grad` is not cleared: the next backward pass would add to what is there.

        with torch.no_grad():
            for p in parameters:
                p.grad = None
                if p.grad is not None:
                    p -= lr * p.grad :: The gradients are cleared, and nothing has moved.
        with torch.no_grad(): => if True: ;; p -= lr * p.grad => p.grad -= lr * p.grad ;; p.grad = None => :: the line writes into `p.grad`. Write into `p`.
        for p in parameters: => for p in parameters[:1]: :: Only the first parameter moves. You need a loop over all of them.
        for i, p in enumerate(parameters):
            if p.grad is not None:
                parameters[i] = (p - lr * p.grad).detach().requires_grad_()
        return :: that is what patient 7 died of

        lr * p.grad => lr * abs(p.grad)       :: `abs` removes the sign, so every number goes down. Where the gradient is negative, the parameter must go *up*.
        p -= lr * p.grad => p -= 0.1 * p.grad :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.

        with torch.no_grad():
            for p in parameters:
                if p.grad is not None:
                    p -= lr * p.grad
            p.grad = None :: `.grad = None` comes after the loop, so only the last parameter's gradient is cleared. Indent it.
        instead of p -= lr * p.grad:
        p.add_(lr * p.grad)  :: That goes uphill: the gradient should be subtracted.
        p.sub_(p.grad)       :: That subtracts the whole gradient. Multiply it by the learning rate.
        p.copy_(lr * p.grad) :: Now the parameter *is* the step. It should move *by* the step.
        p.mul_(1 - lr)       :: The gradient is not used: that shrinks each parameter.
        p.sub_(lr)           :: Each parameter moves by `lr` alone. It should move by `lr` times the gradient.
        p.sub_(p.grad / lr)  :: That divides by `lr`: the smaller the rate, the longer the step. Multiply.
        """),
    exercise(r"""
        9b.7 cure patient 8
        solution: train_and_average
        probe: _average_probe
        why: The pass starts at the loss of *this* step. Only its value is added up, so the total holds no graph.
        shows: Each pass goes through its own graph, and `retain_graph` is not needed.
        look: Take the healthy loop, and add up the values of its losses.
        hint: From which tensor should `backward()` start, so that it goes through this step's graph only?
        hint: What can you add to `total` so that it holds no graph?
        hint: `optimizer.zero_grad()`, the loss, `loss.backward()`, `optimizer.step()`, `total = total + loss.item()`.

        loss.backward() => ;; total = total + loss.item() => total = total + loss; total.backward(retain_graph=True); optimizer.step() ;; optimizer.step() => :: `backward()` starts at the total, so each pass goes through the earlier steps again. That is patient 8.
        loss.backward() => ;; total = total + loss.item() => total = total + loss; total.backward(); optimizer.step() ;; optimizer.step() => :: The total leads into the graph of the previous step, which was freed by that step's pass. Start at `loss`.
        loss.item() => loss :: it holds the graphs of every step
        optimizer.zero_grad() => :: That is patient 1: where is `zero_grad()`?
        loss.backward() => ;; total = total + loss.item() => total = total + loss.detach(); total.backward(); optimizer.step() ;; optimizer.step() => :: `backward()` starts at a tensor that has been detached, so nothing leads back from it. Call it on the loss first, and detach only what you add up.
        total / steps => total :: That is the sum of the losses. The mean is the sum divided by `steps`.
        optimizer.step() =>        :: The optimizer never steps
        loss.item() => loss.item() / 5 :: That divides twice, in the loop and again at the end. Once is enough.
        total + loss.item() => total :: The loop learns, but nothing is added to the total.
        loss.item() => 1 :: That counts the steps. Add up the *losses*.
        total = total + loss.item() => total = loss.item() :: The total is only the last loss. Add all the losses up.
        loss.item() => torch.nn.functional.mse_loss(model(x), t).item() :: Those are the losses *after* each step. You need the mean of the losses before it.
        optimizer.zero_grad() => ;; loss.backward() => loss.backward(); optimizer.zero_grad() :: they were cleared *between* `backward()` and `step()`
        return total / steps => >> :: Only one iteration has run: the `return` is inside the loop. Put it after the loop.
        total / steps => total / 5 :: 5 is the number of steps in one call. Divide by `steps`, whatever it is.
        total + loss.item() => max(total, loss.item()) ;; total / steps => total :: That is the largest loss. For the mean, add them all up and divide by `steps`.
        total = total + loss.item() => total = loss.item() ;; total / steps => total :: That is the last loss alone. Add them all up and divide by `steps`.
        """),
    exercise(r"""
        9b.8 cure patient 9
        solution: gentle_loss
        probe: lambda loss: _gradients_at(loss, (0.0, 0.0), (2.0, 1.0), (-3.0, 0.5), (6.0, -1.0))
        why: The square pulls towards 0 as well, and its slope $2w$ is 0 at 0, so no rule has to divide by 0. With plain SGD it does the same as weight decay.
        shows: Both parameters learn from the first step on.
        look: 0.01 times the square of `w`, and nothing for `b`.
        hint: The square of $w$ needs no root at all.
        hint: `loss + 0.01 * w * w`

        0.01 * w * w => 0.01 * b * b                 :: That pulls `b`. It is `w` that should stay small.
        0.01 * w * w => 0.01 * (w * w + b * b)       :: That pulls `b` too. Only `w` should stay small.
        ((w * x + b - t) ** 2).mean() + 0.01 * w ^ 2 :: `^` is not a power in Python. Write `w ** 2` or `w * w`.
        ((w * x + b - t) ** 2).mean() * 1.01         :: That makes the *loss* a hundredth larger. Add a hundredth of the square of `w`.
        ((w * x + b - t) ** 2).mean() + 0.01 * (w * x + b - t).mean() ** 2 :: That pulls the mean *error* to 0. It is `w` that should stay small: `0.01 * w * w`.
        ((w * x + b - t) ** 2 + 0.01 * w * w).sum()  :: That adds up the squares. The loss is their *mean*, and the penalty is added once.
        ((w * x + b - t) ** 2).mean() + 0.01 + w * w :: That adds 0.01. Multiply the square by it instead: `0.01 * w * w`.
        instead of 0.01 * w * w:
        0.01 * torch.sqrt(w * w)          :: The root is still there: at 0 its rule divides by 0. The square needs no root.
        0.01 * w.abs()                    :: That is finite now, but it is the absolute value. Take the *square*: its pull fades as `w` gets close to 0.
        0.01 * torch.sqrt(w * w) ** 2     :: The square of a root still goes through the root, and on the way back through its rule, which divides by 0.
        w * w                             :: The factor 0.01 is missing: that pulls a hundred times as hard.
        0.01 * w                          :: That has no lowest point at 0: it pulls `w` down for ever. Square it.
        0.005 * w * w                     :: That is half the penalty: use 0.01 times the whole square.
        0.1 * w * w                       :: That pulls ten times as hard: the factor is 0.01.
        0.01 * w**3                       :: That is the cube. Use the *square* (a cube would even pull a negative `w` further down).
        0.02 * w                          :: $2w$ is the *slope* of the square. Put the square into the loss; `backward()` finds the slope.
        0.01 * (w * w).detach()           :: The number is added, but nothing leads back from it: without a graph (`detach()`, `item()`) it cannot pull.
        -0.01 * w * w                     :: With a minus it pushes `w` *away* from 0.
        (0.01 * w) ** 2                   :: The 0.01 is squared too. Square `w` alone.
        0.0                               :: The `nan` is gone, and so is the pull: `w` is as free as in the healthy loop.
        0.01 * torch.relu(w) ** 2         :: With `relu` a negative `w` is not pulled at all. The square needs no `relu`.
        0.01 * w * abs(w)                 :: Where `w` is negative, that is negative too, and pushes `w` away from 0. The square is never negative: `w * w`.
        0.01 * torch.clamp(w, max=2) ** 2 :: With the clamp, a `w` above 2 is not pulled at all. The square needs no limit.
        """),
    exercise(r"""
        9b.9 cure patient 10
        solution: paired_loss
        probe: _paired_probe
        why: `target.reshape(prediction.shape)` gives the targets the shape of the predictions, so each prediction is compared with its own target.
        shows: A shape that is written down cannot be broadcast by accident. Some people write `assert prediction.shape == target.shape`.
        look: Bring both to one shape first. Then take the mean of the squared differences.
        hint: Which operation changes the shape of a tensor and keeps its numbers?
        hint: You have the shape to aim at: `prediction.shape`. Or flatten both.
        hint: `((prediction - target.reshape(prediction.shape)) ** 2).mean()`

        target.reshape(prediction.shape) => target.mean() :: Each prediction is compared with the *mean* of the targets. Each has a target of its own.
        target.reshape(prediction.shape) => target[0] :: Each prediction is compared with the *first* target. Each has a target of its own.
        ((prediction - target) ** 2).mean() :: That is the patient unchanged: (4, 1) minus (4,) is (4, 4), in `mse_loss` too. Bring both to one shape first.
        ((prediction - target.reshape(-1, 1)) ** 2).mean() :: That helps if the predictions are a column. If they are flat and the targets a column, it is the same bug the other way round.
        ((prediction - target.unsqueeze(-1)) ** 2).mean() :: That helps if the targets are flat and the predictions a column. Other shapes get one dimension too many.
        ((prediction.squeeze() - target) ** 2).mean() :: That helps if the predictions are a column. If the *targets* are a column, they stay one: flatten both.
        ((prediction - target.flatten()) ** 2).mean() :: Flat targets and a column of predictions are broadcast to a table. Give both the same shape.
        (prediction - target.reshape(prediction.shape)).mean() ** 2 :: That compares the two means: errors of both signs cancel. First square each difference, then take the mean.
        ((prediction - target.reshape(prediction.shape)) ** 2).sum() :: That is the sum. You need the mean.
        ((prediction - target.reshape(prediction.shape)) ** 2) :: A loss is one number: take the mean.
        (prediction - target.reshape(prediction.shape)).abs().mean() :: Those are the distances. Square them.
        ((prediction.detach() - target.reshape(prediction.shape)) ** 2).mean() :: nothing leads back to the predictions
        ((prediction.flatten() - target.flatten()) ** 2).mean() / len(target) :: That divides by the number of rows twice: `mean` has already done it.
        ((prediction - target.reshape(4, 1)) ** 2).mean() :: 4 is the size in one call. Use `prediction.shape`, whatever it is.
        ((prediction.reshape(4) - target) ** 2).mean() :: 4 is the size in one call. Use `target.shape`, whatever it is.
        ((prediction[0] - target) ** 2).mean() :: That compares the first prediction with every target.
        """),
]
