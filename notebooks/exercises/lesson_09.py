"""Exercises of lesson 09, Training loop and bug clinic: steps by hand, four optimizers, and seven patients to be cured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import minigrad as torch

from .bytecode import uses
from .model import Complaint, Exercise, Question, Wrong

mse_loss = torch.nn.functional.mse_loss
cross_entropy = torch.nn.functional.cross_entropy


def cured_2(model, optimizer, x, t, turns):
    losses = []
    for _turn in range(turns):
        loss = torch.nn.functional.mse_loss(model(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loss_of(w, b, x, t):
    prediction = w * x + b
    return ((prediction - t) ** 2).mean()


def turn(model, x, t, log):
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


def train_and_average(model, optimizer, x, t, turns):
    total = 0.0
    for _turn in range(turns):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        total = total + loss.item()
    return total / turns


def gentle_loss(w, b, x, t):
    loss = ((w * x + b - t) ** 2).mean()
    return loss + 0.01 * w * w


def _start(weight: float = 0.0, bias: float = 0.0):
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(weight)
        model.bias.fill_(bias)
    return model


def _points() -> tuple:
    x = torch.tensor([[-1.0], [0.0], [1.0], [2.0]])
    return x, 2 * x + 1


class _Watched(torch.optim.SGD):
    """SGD that notes, at each step, what it found in the account of the bias and whether a pass had run."""

    def __init__(self, model, lr):
        super().__init__(model.parameters(), lr=lr)
        self.bias, self.passes, self.stale, self.found = model.bias, 0, False, []
        model.bias.register_hook(self.note)

    def note(self, grad):
        self.passes += 1
        self.stale = self.stale or (self.bias.grad is not None and bool((self.bias.grad != 0).any()))

    def step(self, closure=None):
        empty = self.bias.grad is None or not bool((self.bias.grad != 0).any())
        self.found.append(("empty" if empty else "full", self.passes))
        return super().step(closure)

    def fault(self, turns: int) -> str:
        """What is wrong with the order of the lines, in words; "" if nothing is."""
        if not self.passes:
            return "No backward pass runs: nothing fills the accounts. `loss.backward()` is missing."
        if not self.found:
            return "The optimizer never steps: the gradients are there, and nobody uses them. `optimizer.step()` is missing."
        if self.found[0] == ("empty", 0):
            return "The step comes before the backward pass of its turn. In the first turn there is nothing yet to step with."
        if any(state == "empty" for state, _passes in self.found):
            return (
                "At `step()` the accounts are empty: they were emptied *between* `backward()` and `step()`."
            )
        if self.stale:
            return (
                "When `backward()` comes, the gradients of earlier turns are still there, and the new ones are added. "
                "That is patient 1: where is `zero_grad()`?"
            )
        if self.passes != turns or len(self.found) != turns:
            return f"In {turns} turns there were {self.passes} backward passes and {len(self.found)} steps. One of each a turn."
        return ""


def _cured_2_probe(function) -> Iterator[tuple]:
    x, t = _points()
    model = _start()
    optimizer = _Watched(model, lr=0.1)
    losses = function(model, optimizer, x, t, 4)
    if losses is None or losses is Ellipsis or (isinstance(losses, list) and Ellipsis in losses):
        yield "The losses", losses
        return
    if fault := optimizer.fault(4):
        raise Complaint(fault)
    if isinstance(losses, list) and any(isinstance(loss, torch.Tensor) and loss.grad_fn for loss in losses):
        raise Complaint(
            "The loop learns. But what you return holds the graph of each turn: put plain numbers into `losses`, `loss.item()`."
        )
    yield "The losses", losses
    yield "The weight after four turns", model.weight.detach()
    yield "The bias after four turns", model.bias.detach()


def _order(*lines: str) -> Callable:
    """A loop like `cured_2` with its lines in this order."""

    def cured(model, optimizer, x, t, turns):
        losses = []
        for _turn in range(turns):
            loss = mse_loss(model(x), t)
            act = {"zero": optimizer.zero_grad, "backward": loss.backward, "step": optimizer.step}
            for line in lines:
                act[line]()
            losses.append(loss.item())
        return losses

    return cured


def _zero_by_model(model, optimizer, x, t, turns):
    losses = []
    for _turn in range(turns):
        model.zero_grad()
        loss = mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _keeps_tensors(model, optimizer, x, t, turns):
    losses = []
    for _turn in range(turns):
        optimizer.zero_grad()
        loss = mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses


def _same_graph(model, optimizer, x, t, turns):
    loss = mse_loss(model(x), t)
    losses = []
    for _turn in range(turns):
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return losses


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
        raise Complaint("Now neither of the two is in the graph: use the tensors themselves.")
    loss.backward()
    if w.grad is None:
        raise Complaint(
            "`w.grad` is `None`: `w` is still not in the graph. `w.item()` and `w.detach()` take its number, and nothing leads back."
        )
    if b.grad is None:
        raise Complaint("Now `w` learns, and `b.grad` is `None`: the other half is ill.")


def _both_learn(function) -> Iterator[tuple]:
    return _gradients_at(function, (1.5, -0.5), (0.0, 0.0), learn=_learn_both)


def _squares(prediction: Callable) -> Callable:
    """A function like `loss_of` with another prediction."""

    def loss_of(w, b, x, t):
        return ((prediction(w, b, x) - t) ** 2).mean()

    return loss_of


def _gentle_probe(function) -> Iterator[tuple]:
    return _gradients_at(function, (0.0, 0.0), (2.0, 1.0))


def _pulled(penalty: Callable) -> Callable:
    """A function like `gentle_loss` with another penalty."""

    def gentle_loss(w, b, x, t):
        return ((w * x + b - t) ** 2).mean() + penalty(w, b)

    return gentle_loss


def _turn_probe(function) -> Iterator[tuple]:
    x, t = _points()
    model, log = _start(), []
    for number in range(2):
        if function(model, x, t, log) is Ellipsis:
            yield "what comes out", Ellipsis
            return
        if Ellipsis in [entry for entry in log if not isinstance(entry, torch.Tensor)]:
            yield "The log", log
            return
        if len(log) != number + 1:
            raise Complaint(
                f"After {number + 1} turn{'s' * number} there {'is' if len(log) == 1 else 'are'} {len(log)} in the log. One a turn: `log.append(...)`."
            )
        if isinstance(log[-1], torch.Tensor) and log[-1].grad_fn is not None:
            told = "What is in the log has a `grad_fn`: it holds the graph of its turn."
            if "detach" in uses(function):
                raise Complaint(
                    f"{told} `detach()` gives a *new* tensor and leaves `loss` as it is. Put that new one into the log."
                )
            raise Complaint(f"{told} Put the *value* into the log.")
        yield f"The log after turn {number}", log[-1]
        if model.weight.grad is None:
            raise Complaint(
                "No gradient has arrived: no backward pass has run, or not from a loss with a graph."
            )
        yield f"The gradient of the weight after turn {number}", model.weight.grad.clone()


def _logs_the_graph(model, x, t, log):
    loss = mse_loss(model(x), t)
    log.append(loss)
    loss.backward()


def _detaches_the_loss(model, x, t, log):
    loss = mse_loss(model(x), t).detach()
    log.append(loss)
    loss.backward()


def _no_backward(model, x, t, log):
    loss = mse_loss(model(x), t)
    log.append(loss.item())


def _no_log(model, x, t, log):
    mse_loss(model(x), t).backward()


def _detaches_the_prediction(model, x, t, log):
    loss = mse_loss(model(x).detach(), t)
    log.append(loss.item())
    loss.backward()


def _logs_the_gradient(model, x, t, log):
    loss = mse_loss(model(x), t)
    loss.backward()
    log.append(model.weight.grad.item())


def _detach_in_a_line(model, x, t, log):
    loss = mse_loss(model(x), t)
    loss.detach()
    log.append(loss)
    loss.backward()


def _empties_too(model, x, t, log):
    loss = mse_loss(model(x), t)
    log.append(loss.item())
    model.zero_grad()
    loss.backward()


def _by_item(model, x, t, log):
    loss = mse_loss(model(x), t)
    loss.backward()
    log.append(loss.item())


def _class_probe(function) -> Iterator[tuple]:
    labels = torch.tensor([0, 2, 1])
    for scale in (1.0, 0.3):
        scores = torch.tensor([[2.0, -1.0, 0.5], [0.3, 0.1, 0.2], [1.5, 2.5, -2.0]]) * scale
        scores.requires_grad_(True)
        loss = function(scores, labels)
        if not isinstance(loss, torch.Tensor):
            yield "What comes out", loss
            return
        if loss.numel() == 1 and loss.grad_fn is not None:
            loss.backward()
        if scores.grad is None and loss.grad_fn is None:
            if loss.requires_grad:
                raise Complaint(
                    "Now the loss asks, as a leaf of its own: `backward()` runs, and nothing gets to the scores. "
                    "A way back is made by operations that have a slope."
                )
            raise Complaint(
                "There is still no way back to the scores: the loss has no `grad_fn`. A place (`argmax`) or a comparison has no slope."
            )
        yield "The loss", loss.detach()
        yield "The gradient of the scores", scores.grad


def _share_of_wrong(scores, labels):
    return (scores.argmax(1) != labels).float().mean()


def _made_to_ask(scores, labels):
    return _share_of_wrong(scores, labels).requires_grad_(True)


def _picked(scores, labels):
    rows = torch.arange(len(labels))
    return -torch.log_softmax(scores, 1)[rows, labels].mean()


def _show_probe(function) -> Iterator[tuple]:
    for values in ([0.0, 1.0, -2.0], [0.5, 0.5, 3.0]):
        x = torch.tensor(values, requires_grad=True)
        h = torch.sigmoid(x)
        before = h.detach().clone()
        shown = function(h)
        if not isinstance(shown, torch.Tensor):
            yield "What comes out", shown
            return
        if not torch.equal(h.detach(), before):
            raise Complaint(
                "`h` itself has other values now. Whatever writes into `h`, or into `h.detach()`, writes into the one memory "
                "that both have: `-=` and names that end in `_` do."
            )
        yield "What is to be shown", shown.detach().clone()
        if shown.grad_fn is not None:
            raise Complaint("The values are right, and `h` is whole. But what you give back has a history.")
        h.sum().backward()
        yield "x.grad behind `h`", x.grad


def _in_place(h):
    shown = h.detach()
    shown -= shown.mean()
    return shown


def _by_method(h):
    return h.detach().sub_(h.mean().item())


def _copied_first(h):
    shown = h.detach().clone()
    shown -= shown.mean()
    return shown


@torch.no_grad()
def _not_recorded(h):
    return h - h.mean()


def _parameters() -> list:
    made = [torch.tensor(value, requires_grad=True) for value in (5.0, [1.0, -2.0], 3.0)]
    made[0].grad, made[1].grad = torch.tensor(10.0), torch.tensor([0.5, -4.0])
    return made


def _step_probe(function) -> Iterator[tuple]:
    for lr in (0.1, 0.3):
        parameters = _parameters()
        before = [p.detach().clone() for p in parameters]
        out = function(parameters, lr)
        if out is Ellipsis:
            yield "what comes out", out
            return
        if not all(p.is_leaf and p.requires_grad for p in parameters):
            raise Complaint(
                "A parameter is no leaf any more, or does not ask. Only its *values* are to change."
            )
        if all(torch.equal(p.detach(), old) for p, old in zip(parameters, before, strict=True)):
            raise Complaint(_why_still(parameters))
        for name, p in zip(("first", "second", "third"), parameters, strict=True):
            yield f"The {name} parameter", p.detach().clone()
        for name, p in zip(("first", "second"), parameters, strict=False):
            yield (
                f"Is the account of the {name} parameter empty?",
                p.grad is None or not bool((p.grad != 0).any()),
            )


def _why_still(parameters: list) -> str:
    if all(p.grad is None or not bool((p.grad != 0).any()) for p in parameters[:2]):
        return "The accounts are empty, and nothing has moved: empty them *after* the step."
    return (
        "Nothing has moved. `p = p - ...` makes a new tensor and gives it the name `p`; the parameter itself is what it was. "
        "Write *into* it: `p -= ...`."
    )


def _renames(parameters, lr):
    for p in parameters:
        if p.grad is not None:
            p = p - lr * p.grad


def _while_recording(parameters, lr):
    for p in parameters:
        if p.grad is not None:
            p -= lr * p.grad
            p.grad = None


def _does_not_ask_for_none(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            p -= lr * p.grad
            p.grad = None


def _stepping(move: Callable, clear: Callable = lambda p: setattr(p, "grad", None)) -> Callable:
    """A function like `step` that moves and clears in another way."""

    def step(parameters, lr):
        with torch.no_grad():
            for p in parameters:
                if p.grad is not None:
                    move(p, lr)
                    clear(p)

    return step


def _empties_first(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            p.grad = None
            if p.grad is not None:
                p -= lr * p.grad


def _only_one(parameters, lr):
    with torch.no_grad():
        p = parameters[0]
        p -= lr * p.grad
        p.grad = None


def _stops_at_none(parameters, lr):
    with torch.no_grad():
        for p in reversed(parameters):
            if p.grad is None:
                return
            p -= lr * p.grad
            p.grad = None


def _by_data(parameters, lr):
    for p in parameters:
        if p.grad is not None:
            p.data -= lr * p.grad
            p.grad = None


def _by_sgd(parameters, lr):
    optimizer = torch.optim.SGD(parameters, lr=lr)
    optimizer.step()
    optimizer.zero_grad()


def _average_probe(function) -> Iterator[tuple]:
    x, t = _points()
    model = _start()
    optimizer = _Watched(model, lr=0.3)
    average = function(model, optimizer, x, t, 5)
    if average is None or average is Ellipsis:
        yield "what comes out", average
        return
    if model.weight.item() == 0.0 or optimizer.stale:
        raise Complaint(optimizer.fault(5))
    yield "The weight after five turns", model.weight.detach()
    yield "The bias after five turns", model.bias.detach()
    if isinstance(average, torch.Tensor) and average.grad_fn is not None:
        raise Complaint(
            "The loop learns, and the number is right. But it has a `grad_fn`: the graphs of all turns hang on it. Add up *values*."
        )
    yield "The mean of the losses", average


def _averaging(add: Callable, walk: Callable, *, zero: bool = True, divide: bool = True) -> Callable:
    """A loop like `train_and_average` that adds up and walks in another way."""

    def train(model, optimizer, x, t, turns):
        total = 0.0
        for _turn in range(turns):
            if zero:
                optimizer.zero_grad()
            loss = mse_loss(model(x), t)
            total = add(total, loss)
            walk(loss, total)
            optimizer.step()
        return total / turns if divide else total

    return train


def _by_loss(loss, total):
    loss.backward()


def _by_total(loss, total):
    total.backward()


def _by_total_retained(loss, total):
    total.backward(retain_graph=True)


def _no_step(model, optimizer, x, t, turns):
    total = 0.0
    for _turn in range(turns):
        optimizer.zero_grad()
        loss = mse_loss(model(x), t)
        loss.backward()
        total = total + loss.item()
    return total / turns


def _last_only(model, optimizer, x, t, turns):
    total = 0.0
    for _turn in range(turns):
        optimizer.zero_grad()
        loss = mse_loss(model(x), t)
        loss.backward()
        optimizer.step()
        total = loss.item()
    return total / turns


def _after_the_step(model, optimizer, x, t, turns):
    total = 0.0
    for _turn in range(turns):
        optimizer.zero_grad()
        mse_loss(model(x), t).backward()
        optimizer.step()
        total = total + mse_loss(model(x), t).item()
    return total / turns


def _emptied_between(model, optimizer, x, t, turns):
    total = 0.0
    for _turn in range(turns):
        loss = mse_loss(model(x), t)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        total = total + loss.item()
    return total / turns


def _bias_after_one_step() -> float:
    x, t = _points()
    model = _start()
    mse_loss(model(x), t).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return model.bias.item()


def _adam_goes() -> float:
    w = torch.tensor(5.0, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    (100 * w * w).backward()
    optimizer.step()
    return 5.0 - w.item()


def _first_activation() -> float:
    h = torch.sigmoid(torch.zeros(4))
    shown = h.detach()
    shown -= shown.mean()
    return h[0].item()


QUESTIONS: list[Question] = [
    Question(
        "9.a",
        asks="the bias after one step",
        truth=_bias_after_one_step,
        found="Yes: $0 - 0.1 \\cdot (-4) = 0.4$. Against the gradient, so upwards.",
        wrong=(
            Wrong(
                -0.4,
                "That is *along* the gradient, and it points uphill. The step is subtracted: $0 - 0.1 \\cdot (-4)$.",
            ),
            Wrong(
                -4.0,
                "That is the gradient itself. The step is a tenth of it, and goes the other way: 0.4.",
            ),
            Wrong(4.0, "The right way, but the learning rate makes it a tenth: 0.4."),
            Wrong(0.1, "The learning rate times the gradient, not the learning rate alone: 0.4."),
            Wrong(1.0, "There it is to get in the end. One step leads to 0.4."),
            Wrong(0.0, "It has a gradient, so it moves: $0 - 0.1 \\cdot (-4)$."),
        ),
        missed="$0 - 0.1 \\cdot (-4) = 0.4$.",
    ),
    Question(
        "9.b",
        asks="how far Adam's first step goes when the gradient is 1,000",
        truth=_adam_goes,
        found="Yes: $\\hat m / \\sqrt{\\hat v}$ is $1000/1000$. The first step is as long as the learning rate.",
        wrong=(
            Wrong(
                10.0,
                "A hundred times as far? $\\hat m$ is 1,000, but $\\sqrt{\\hat v}$ is 1,000 as well: 0.1.",
            ),
            Wrong(
                100.0,
                "That is SGD: $0.1 \\cdot 1000$. Adam divides by $\\sqrt{\\hat v}$, which is 1,000: 0.1.",
            ),
            Wrong(1.0, "$\\hat m / \\sqrt{\\hat v}$ is 1. It is multiplied by the learning rate: 0.1."),
            Wrong(0.001, "Divided twice? $\\hat m$ is 1,000 and $\\sqrt{\\hat v}$ is 1,000: 0.1."),
            Wrong(4.9, "There it was with the gradient 10. *How far* it goes is asked: 0.1."),
        ),
        missed="0.1: the gradient stands above and below, and goes out.",
    ),
    Question(
        "9.c",
        asks="what is in h after its detached twin was shifted",
        truth=_first_activation,
        found="Yes: one memory, two names. $0.5 - 0.5 = 0$.",
        wrong=(
            Wrong(
                0.5,
                "`detach()` makes no copy. What is written into `shown` stands in `h`: $0.5 - 0.5 = 0$.",
            ),
            Wrong(-0.5, "The mean of four times 0.5 is 0.5, and that is taken away once: 0."),
        ),
        missed="It is 0: `shown` and `h` have the same memory.",
    ),
]

EXERCISES: list[Exercise] = [
    Exercise(
        "9.1",
        title="one step, four rates",
        names=("slow", "exact", "edge", "wild"),
        solution="""
            slow = (1 - 2 * 0.1) * 5
            exact = (1 - 2 * 0.5) * 5
            edge = (1 - 2 * 1.0) ** 3 * 5
            wild = (1 - 2 * 1.1) ** 2 * 5
            """,
        rtol=1e-4,
        why="Each step multiplies by $1 - 2\\,\\text{lr}$: 0.8, 0, $-1$ and $-1.2$.",
        shows="Below 0.5 it creeps up to the bottom, above it jumps over; from 1 on it never gets there.",
        look={
            "slow": "$1 - 2\\,\\text{lr}$ is the number by which a step multiplies.",
            "exact": "What is $1 - 2 \\cdot 0.5$?",
            "edge": "Three steps: three times the same number. Which sign has it?",
            "wild": "Two steps: twice the same number, which is larger than 1 in size.",
        },
        hints=(
            "One step: $w - \\text{lr} \\cdot 2w$.",
            "With $\\text{lr} = 0.1$ the slope at 5 is 10, and the step is 1.",
            "For several steps go one after the other, with the slope of where you are.",
        ),
        wrong=(
            Wrong({"slow": 0.0}, "There $\\text{lr} = 0.5$ leads. A tenth of the slope is a step of 1."),
            Wrong({"slow": 2.0}, "There $\\text{lr} = 0.3$ leads, as above the exercise. Here it is 0.1."),
            Wrong({"slow": 5.0}, "There it begins. The slope is 10, so it does move."),
            Wrong({"slow": 3.0}, "There the step would be 2. A tenth of the slope 10 is 1."),
            Wrong({"slow": 8.0}, "Uphill, and too far. The step is 1, and it is subtracted."),
            Wrong(
                {"exact": 1.0}, "1 is $2 \\cdot 0.5$. The factor is what is left when that is taken from 1."
            ),
            Wrong({"exact": 5.0}, "5 is how far it goes. Where is it then, beginning at 5?"),
            Wrong({"edge": -10.0}, "The step is 10 long, but it begins at 5."),
            Wrong(
                {"edge": 1.0}, "The factor is $-1$, and three times $-1$ makes $-1$. Where does that put 5?"
            ),
            Wrong({"edge": -2.5}, "Nothing is halved: the step is 10 long, from 5 to the other side."),
            Wrong(
                {"wild": 0.0}, "It would be at the bottom with $\\text{lr} = 0.5$. With 1.1 it jumps over it."
            ),
            Wrong({"wild": 14.4}, "Twice what it should be: from $-6$ the step is $1.1 \\cdot 12$."),
            Wrong(
                {"wild": 3.6},
                "Half of what it should be: from $-6$ the step is $1.1 \\cdot 12$, not half of that.",
            ),
            Wrong(
                {"wild": 6.2},
                "The second step has the gradient of where it begins, $-12$, and that is multiplied by 1.1, not by 1.",
            ),
            Wrong({"wild": 1.0}, "The factor is $-1.2$, and it is taken twice. Nothing brings it to 1."),
            Wrong({"slow": 4.5}, "The slope of $w^2$ at 5 is 10, not 5: the step is 1."),
            Wrong({"slow": 6}, "Uphill. The gradient is subtracted."),
            Wrong({"slow": 1}, "That is how far it goes. *Where* is it then?"),
            Wrong({"slow": 2.5}, "There the step would be 2.5, and it is 1: a tenth of the slope 10."),
            Wrong({"exact": 2.5}, "The slope at 5 is 10, and half of that is the whole way."),
            Wrong({"exact": -5}, "That would be $\\text{lr} = 1$. Half of 10 is 5."),
            Wrong({"edge": 5}, "After two steps, yes, and after four. After three it is on the other side."),
            Wrong(
                {"edge": 0}, "The step is 10 long, twice the way to the bottom. It lands on the other side."
            ),
            Wrong({"edge": -25}, "Each step begins where the last one ended: $5, -5, 5, \\dots$"),
            Wrong({"wild": -6}, "That is after the first step. From $-6$ the slope is $-12$."),
            Wrong({"wild": 1.2}, "That is the factor of a step without its sign. Where is $w$?"),
            Wrong({"wild": -17}, "The slope is taken anew at each place: at $-6$ it is $-12$."),
            Wrong({"wild": -7.2}, "The right size. From $-6$ the next jump leads to the positive side."),
        ),
    ),
    Exercise(
        "9.2",
        title="the second step",
        names=("plain", "momentum", "decay", "adam", "zeros"),
        solution="""
            plain = 2 * 0.8 * 0.8                    # 2, 1.6, 1.28
            momentum = 1.6 - 0.1 * (0.9 * 4 + 3.2)   # velocity 4, then 6.8
            decay = 2 - 0.1 * (4 + 0.5 * 2)
            adam = 2 - 0.1                           # as long as the learning rate
            zeros = 1.6 - 0.1 * (0.9 * 4 + 0)        # the velocity goes on
            """,
        rtol=1e-4,
        why="The gradient is 4 at 2, and 3.2 at 1.6. Everything else is what the optimizer makes of it.",
        shows="The same gradients, four different ways: an optimizer is a rule with a memory, and the graph knows nothing of it.",
        look={
            "plain": "The gradient at 2 is 4. Where does that lead, and what is the gradient there?",
            "momentum": "Write down the velocity after each step: first the gradient, then nine tenths of it and the new gradient.",
            "decay": "Two things pull: the gradient, and half of $w$.",
            "adam": "What is $\\hat m / \\sqrt{\\hat v}$ in the first step?",
            "zeros": "After the first step the velocity is 4. What is it with a gradient of zero?",
        },
        hints=(
            "The gradient is $2w$: at 2 it is 4, at 1.6 it is 3.2.",
            "Momentum: the velocity is 4 after the first step, and $0.9 \\cdot 4 + 3.2$ after the second.",
            "Weight decay adds $0.5 \\cdot w$ to the gradient before the step.",
            "A zero is a gradient: the velocity becomes $0.9 \\cdot 4$.",
        ),
        wrong=(
            Wrong(
                {"plain": 0.0},
                "It gets nearer by a fifth in each step. At 0 it would be with $\\text{lr} = 0.5$.",
            ),
            Wrong({"plain": 2.56}, "Both steps go down: $2 \\cdot 0.8 \\cdot 0.8$."),
            Wrong({"plain": 0.64}, "The two steps are 0.4 and 0.32. Take them from 2."),
            Wrong({"plain": 1.0}, "The first step is 0.4, not 1: a tenth of the gradient 4."),
            Wrong({"momentum": 0.0}, "It does not get there in two steps: the second one is 0.68 long."),
            Wrong(
                {"momentum": 1.0},
                "The second step is a tenth of the velocity $0.9 \\cdot 4 + 3.2$, from 1.6 on.",
            ),
            Wrong({"momentum": 0.46}, "Nothing is halved: from 1.6 on, a tenth of the velocity."),
            Wrong({"momentum": 1.84}, "The velocity is 6.8 by then. From 1.6 a tenth of that is taken away."),
            Wrong(
                {"decay": 0.0}, "The decay pulls towards zero by a part of $w$. It does not set it to zero."
            ),
            Wrong({"decay": 1.0}, "Gradient and pull together are 5; a *tenth* of that is the step."),
            Wrong({"decay": 2.5}, "The pull is towards zero: with the gradient it is subtracted."),
            Wrong(
                {"decay": 0.5},
                "0.5 is the number of the decay. The pull is $0.5 \\cdot w$, and it is added to the gradient.",
            ),
            Wrong({"adam": 0.0}, "It moves by the learning rate, 0.1."),
            Wrong({"adam": 0.9}, "It moves by 0.1. Where does it begin?"),
            Wrong({"adam": 0.95}, "Nothing is halved: from 2 it moves by the learning rate."),
            Wrong(
                {"zeros": 0.0},
                "A gradient of zero does not make the weight zero. The velocity goes on from 1.6.",
            ),
            Wrong(
                {"zeros": 1.0},
                "The velocity is $0.9 \\cdot 4$ in the second step, and a tenth of it is the step.",
            ),
            Wrong({"zeros": 0.24}, "From 1.6, not from 0.6: the first step was 0.4 long."),
            Wrong({"plain": 1.6}, "That is after the first step. From there the slope is 3.2."),
            Wrong({"plain": 1.2}, "The second step has the gradient of where it begins: 3.2, not 4 again."),
            Wrong({"plain": 2.88}, "Uphill, twice. The gradient is subtracted."),
            Wrong({"plain": 1.62}, "The slope of $w^2$ is $2w$, not $w$."),
            Wrong({"momentum": 1.28}, "That is without the velocity: it remembers the first gradient, 4."),
            Wrong(
                {"momentum": 0.88},
                "Nine tenths of the old velocity, not the whole of it: $0.9 \\cdot 4 + 3.2$.",
            ),
            Wrong(
                {"momentum": 0.52},
                "The velocity was 4, not the step 0.4 nor the place 2; and $w$ is 1.6 by then.",
            ),
            Wrong({"momentum": 1.24}, "The new gradient is missing: $0.9 \\cdot 4 + 3.2$."),
            Wrong(
                {"momentum": 1.568},
                "Momentum *adds* the new gradient whole. Averages, with a tenth of it, are Adam's.",
            ),
            Wrong({"momentum": 1.6}, "That is after one step."),
            Wrong({"decay": 1.6}, "The decay is missing: $0.5 \\cdot 2$ is added to the gradient."),
            Wrong(
                {"decay": 1.1},
                "The pull $0.5 \\cdot 2$ is added to the *gradient*, and so it is multiplied by the learning rate.",
            ),
            Wrong({"decay": 1.55}, "The pull is $0.5 \\cdot w$, and $w$ is 2."),
            Wrong({"decay": 1.7}, "It is added: both pull towards zero."),
            Wrong({"adam": 1.6}, "That is SGD. Adam divides by the size of the gradient."),
            Wrong({"adam": 1.96}, "There $m$ is 0.4, not yet corrected: $\\hat m = 0.4/0.1$."),
            Wrong(
                {"adam": 1.0},
                "$\\hat m / \\sqrt{\\hat v}$ is 1, and that is multiplied by the learning rate.",
            ),
            Wrong(
                {"adam": 1.8}, "After two steps, nearly. After one it has gone as far as the learning rate."
            ),
            Wrong(
                {"zeros": 1.6},
                "That would be `None`, which is skipped. A zero is a gradient, and the velocity goes on.",
            ),
            Wrong({"zeros": 1.2}, "Nine tenths of the velocity are left: 3.6."),
            Wrong({"zeros": 0.92}, "There the second gradient is counted. It is zero here."),
        ),
    ),
    Exercise(
        "9.3",
        title="cure patient 2",
        names=("cured_2",),
        solution=cured_2,
        why="Whatever empties the accounts must not come between `backward()`, which fills them, and `step()`, which uses them.",
        shows="Before the backward pass or after the step: both will do. In between it clears what was to be used.",
        hints=(
            "Three calls are missing: `optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`.",
            "The backward pass fills the accounts, the step uses them. What must not come in between?",
            "At the end of a turn, put `loss.item()` into the list.",
        ),
        probe=_cured_2_probe,
        wrong=(
            Wrong(
                _order("backward", "zero", "step"), "they were emptied *between* `backward()` and `step()`."
            ),
            Wrong(_order("backward", "step"), "That is patient 1: where is `zero_grad()`?"),
            Wrong(_order("zero", "backward"), "The optimizer never steps"),
            Wrong(_order("zero", "step"), "No backward pass runs"),
            Wrong(_order("zero", "step", "backward"), "The step comes before the backward pass of its turn."),
            Wrong(
                _order("zero", "backward", "step", "step"),
                "In 4 turns there were 4 backward passes and 8 steps.",
            ),
            Wrong(_keeps_tensors, "what you return holds the graph of each turn"),
            Wrong(
                _same_graph,
                "The forward line has to stand *in* the loop: the loss of each turn is that of the new weights.",
            ),
        ),
        right=(_order("backward", "step", "zero"), _zero_by_model),
    ),
    Exercise(
        "9.4",
        title="cure patient 3",
        names=("loss_of",),
        solution=loss_of,
        why="`w` itself stands in the product, so the product is recorded and a way leads back to `w`.",
        shows="Both parameters get a gradient. `item()` is for printing, not for computing.",
        look={"": "The prediction is a line with the slope `w` and the height `b`."},
        hints=("Which of the two is not in the picture, and what was done to it?", "`w * x + b`"),
        probe=_both_learn,
        wrong=(
            Wrong(_squares(lambda w, b, x: w.item() * x + b), "`w` is still not in the graph."),
            Wrong(_squares(lambda w, b, x: w * x + b.item()), "the other half is ill"),
            Wrong(
                _squares(lambda w, b, x: w.item() * x + b.item()), "Now neither of the two is in the graph"
            ),
            Wrong(_squares(lambda w, b, x: w * x), "Without the bias every line goes through 0. Add `b`."),
            Wrong(
                _squares(lambda w, b, x: w + b * x), "`w` and `b` have changed places: `w` multiplies `x`."
            ),
            Wrong(_squares(lambda w, b, x: w * x - b), "The bias is added."),
            Wrong(_squares(lambda w, b, x: w * (x + b)), "The bias is added after the product: $w\\,x + b$."),
        ),
        right=(_squares(lambda w, b, x: b + x * w), _squares(lambda w, b, x: torch.add(x * w, b))),
    ),
    Exercise(
        "9.5",
        title="cure patient 4",
        names=("turn",),
        solution=turn,
        why="The log gets a tensor without history; the loss keeps its own, and `backward()` starts from that.",
        shows="`detach()` gives a *new* tensor for the log, and leaves `loss` as it is.",
        look={"": "Two things: the value into the log, and the backward pass from the loss itself."},
        hints=(
            "`loss` must keep its history, or `backward()` has nowhere to go.",
            "What goes into the log is another tensor, or a plain number.",
            "`log.append(loss.detach())`, and then `loss.backward()`.",
        ),
        probe=_turn_probe,
        wrong=(
            Wrong(_logs_the_graph, "Put the *value* into the log."),
            Wrong(
                _detaches_the_loss,
                "There is nothing left to walk: the loss, or the prediction in it, is detached, and that is patient 4 as it came in. Detach only what goes into the log.",
            ),
            Wrong(_no_backward, "No gradient has arrived"),
            Wrong(_no_log, "there are 0 in the log"),
            Wrong(_logs_the_gradient, "That is a gradient. The *loss* is to be noted."),
            Wrong(
                _detach_in_a_line,
                "`detach()` gives a *new* tensor and leaves `loss` as it is. Put that new one into the log.",
            ),
            Wrong(
                _empties_too,
                "The gradients of the first turn were emptied here. That is the loop's business, and the optimizer's.",
            ),
        ),
        right=(_by_item,),
    ),
    Exercise(
        "9.6",
        title="cure patient 5",
        names=("class_loss",),
        solution=class_loss,
        why="The cross entropy is minus the logarithm of the probability of the right class, on average. It moves with each score.",
        shows="Train with a loss that has a slope; count wrong answers for the report.",
        look={"": "The mean, over the rows, of minus the logarithm of the right class's probability."},
        hints=(
            "`torch.nn.functional` has it under its name.",
            "It wants the scores as they are, and the numbers of the classes. The softmax is inside.",
            "`torch.nn.functional.cross_entropy(scores, labels)`",
        ),
        probe=_class_probe,
        wrong=(
            Wrong(_share_of_wrong, "There is still no way back to the scores"),
            Wrong(_made_to_ask, "Now the loss asks, as a leaf of its own"),
            Wrong(
                lambda scores, labels: cross_entropy(torch.softmax(scores, 1), labels),
                "The softmax is inside already. Taken twice, it flattens the probabilities and the gradients.",
            ),
            Wrong(
                lambda scores, labels: cross_entropy(scores, labels, reduction="sum"),
                "That is the sum over the rows. Its mean is wanted, or the step would depend on the size of the batch.",
            ),
            Wrong(
                lambda scores, labels: torch.log_softmax(scores, 1)[torch.arange(3), labels].mean(),
                "The minus is missing: that goes *up* when the right class becomes more probable, and a loss must go down.",
            ),
            Wrong(
                lambda scores, labels: -torch.log_softmax(scores, 1).mean(),
                "That is the mean over all classes. Only the right one of each row counts.",
            ),
            Wrong(
                lambda scores, labels: -torch.softmax(scores, 1)[torch.arange(3), labels].mean(),
                "There is a slope, but the logarithm is missing: where the right class is very improbable, it hardly moves.",
            ),
            Wrong(
                lambda scores, labels: mse_loss(scores.max(1).values, labels.float()),
                "That compares the largest *score* with the *number* of a class. A class number is a name, not a size.",
            ),
            Wrong(
                lambda scores, labels: cross_entropy(labels, scores),
                "The scores come first, as they are, then the labels. (A place, from `argmax`, is no score.)",
            ),
        ),
        right=(
            _picked,
            lambda scores, labels: torch.nn.functional.nll_loss(torch.log_softmax(scores, 1), labels),
            lambda scores, labels: torch.nn.CrossEntropyLoss()(scores, labels),
        ),
    ),
    Exercise(
        "9.7",
        title="cure patient 6",
        names=("to_show",),
        solution=to_show,
        why="`h.detach() - ...` computes a *new* tensor. Only `-=` would have written into the memory of `h`.",
        shows="The backward pass behind `h` works, and the picture has its numbers.",
        look={"": "The values of `h`, each minus the mean of all."},
        hints=(
            "What is the difference between `a -= b` and `a - b`?",
            "Without history: detach first. Without writing: no `-=`, and no name that ends in `_`.",
            "`h.detach() - h.detach().mean()`",
        ),
        probe=_show_probe,
        wrong=(
            Wrong(_by_method, "and names that end in `_` do"),
            Wrong(lambda h: h - h.mean(), "But what you give back has a history."),
            Wrong(lambda h: h.detach(), "That is `h` as it was. Its mean is to be 0."),
            Wrong(
                lambda h: h.detach() - 0.5,
                "0.5 was the mean in the lesson. Take that of the `h` that came in.",
            ),
            Wrong(lambda h: h.detach().mean(), "That is the mean itself. Take it away from each entry."),
            Wrong(
                lambda h: h.detach().mean() - h.detach(),
                "The other way round: the mean is taken away from `h`.",
            ),
            Wrong(
                lambda h: h.detach() / h.detach().mean(), "Divided, the mean is 1. It is to be 0: subtract."
            ),
        ),
        right=(_copied_first, _not_recorded, lambda h: (h - h.mean()).detach()),
    ),
    Exercise(
        "9.8",
        title="your own SGD",
        names=("step",),
        solution=step,
        why="Inside `no_grad` a leaf may be written to, and `p -= ...` writes into the very tensor that the model holds.",
        shows="This is `optimizer.step()` and `zero_grad()` in five lines. The parameters stay the leaves that they were.",
        look={"": "Each value minus `lr` times its gradient."},
        hints=(
            "A loop over the parameters, inside `with torch.no_grad():`.",
            "`p -= lr * p.grad` writes into `p`; `p = p - lr * p.grad` makes another tensor.",
            "First ask `if p.grad is not None:`. After the step, `p.grad = None`.",
        ),
        probe=_step_probe,
        wrong=(
            Wrong(_renames, "`p = p - ...` makes a new tensor and gives it the name `p`"),
            Wrong(
                _while_recording,
                "While operations are recorded, nobody may write into a leaf that asks. Put the loop under `torch.no_grad()`.",
            ),
            Wrong(
                _does_not_ask_for_none,
                "One of the parameters has no gradient: skip it, `if p.grad is not None:`.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.add_(lr * p.grad)),
                "Uphill: the gradient is subtracted.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.sub_(lr * p.grad), lambda p: None),
                "Moved, and not emptied: the next backward pass would add to what is there.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.sub_(p.grad)),
                "Without the learning rate the whole gradient is taken away.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.copy_(lr * p.grad)),
                "The parameter *is* the step now. It is to move by it.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.mul_(1 - lr)),
                "The gradient does not come into it: that shrinks each parameter.",
            ),
            Wrong(
                _stepping(lambda p, lr: p.sub_(lr)),
                "Each moves by `lr` alone. It is `lr` times the gradient.",
            ),
            Wrong(
                _empties_first, "The accounts are empty, and nothing has moved: empty them *after* the step."
            ),
            Wrong(_only_one, "Only the first parameter moves. A loop over all of them is wanted."),
        ),
        right=(_by_data, _stepping(lambda p, lr: p.sub_(lr * p.grad), lambda p: p.grad.zero_()), _by_sgd),
    ),
    Exercise(
        "9.9",
        title="cure patient 8",
        names=("train_and_average",),
        solution=train_and_average,
        why="The walk starts at the loss of *this* turn. What is added up is its value, so no graph hangs on the total.",
        shows="Each turn walks its own graph, and `retain_graph` is not needed.",
        look={"": "Take the healthy loop, and add up the values of its losses."},
        hints=(
            "From which tensor should `backward()` start, so that only this turn's graph is walked?",
            "What may be added to `total`, so that it holds no graph?",
            "`optimizer.zero_grad()`, the loss, `loss.backward()`, `optimizer.step()`, `total = total + loss.item()`.",
        ),
        probe=_average_probe,
        wrong=(
            Wrong(
                _averaging(lambda total, loss: total + loss, _by_total_retained),
                "`backward()` starts at the total, so each walk goes through the earlier turns again. That is patient 8.",
            ),
            Wrong(
                _averaging(lambda total, loss: total + loss, _by_total),
                "The total leads into the graph of the turn before, which has been walked already. Start at `loss`.",
            ),
            Wrong(
                _averaging(lambda total, loss: total + loss, _by_loss),
                "the graphs of all turns hang on it",
            ),
            Wrong(
                _averaging(lambda total, loss: total + loss.item(), _by_loss, zero=False),
                "That is patient 1: where is `zero_grad()`?",
            ),
            Wrong(
                _averaging(lambda total, loss: total + loss.detach(), _by_total),
                "The total is made of detached losses: nothing leads back from it. Start at `loss`.",
            ),
            Wrong(
                _averaging(lambda total, loss: total + loss.item(), _by_loss, divide=False),
                "That is the sum of the losses. The mean is the sum divided by `turns`.",
            ),
            Wrong(_no_step, "The optimizer never steps"),
            Wrong(_last_only, "Only the last loss is there. Add them up."),
            Wrong(
                _after_the_step,
                "Those are the losses *after* each step. The mean of those before it is wanted.",
            ),
            Wrong(_emptied_between, "they were emptied *between* `backward()` and `step()`"),
        ),
        right=(_averaging(lambda total, loss: total + loss.detach(), _by_loss),),
    ),
    Exercise(
        "9.10",
        title="cure patient 9",
        names=("gentle_loss",),
        solution=gentle_loss,
        why="The square pulls towards 0 as well, and its slope $2w$ is 0 at 0: no rule divides. Optimizers call it weight decay.",
        shows="Both parameters learn from the first turn on.",
        look={"": "0.01 times the square of `w`, and nothing of `b`."},
        hints=(
            "The square of the size of $w$ needs no root at all.",
            "`loss + 0.01 * w * w`",
        ),
        probe=_gentle_probe,
        wrong=(
            Wrong(
                _pulled(lambda w, b: 0.01 * torch.sqrt(w * w)),
                "The root is still in it: at 0 its rule divides by 0. The square needs no root.",
            ),
            Wrong(
                _pulled(lambda w, b: 0.01 * w.abs()),
                "Finite now, but that is the size. The *square* is asked for: its pull fades as `w` comes near 0.",
            ),
            Wrong(
                _pulled(lambda w, b: 0.01 * torch.sqrt(w * w) ** 2),
                "The square of a root still goes through the root, and on the way back through its rule, which divides by 0.",
            ),
            Wrong(
                _pulled(lambda w, b: w * w), "The factor 0.01 is missing: that pulls a hundred times as hard."
            ),
            Wrong(
                _pulled(lambda w, b: 0.01 * w),
                "That has no lowest place at 0: it pulls `w` down for ever. Square it.",
            ),
            Wrong(
                _pulled(lambda w, b: 0.01 * (w * w + b * b)),
                "`b` is pulled too. Only `w` was to stay small.",
            ),
            Wrong(
                _pulled(lambda w, b: 0.01 * (w * w).detach()),
                "The number is added, and nothing leads back from it: without a graph (`detach()`, `item()`) it cannot pull.",
            ),
            Wrong(_pulled(lambda w, b: -0.01 * w * w), "With a minus it pushes `w` *away* from 0."),
            Wrong(
                _pulled(lambda w, b: (0.01 * w) ** 2),
                "The 0.01 is squared too: take the square of `w` alone.",
            ),
            Wrong(
                _pulled(lambda w, b: 0.0),
                "The `nan` is gone, and so is the pull: `w` is as free as in the healthy loop.",
            ),
        ),
        right=(_pulled(lambda w, b: 0.01 * w.pow(2)), _pulled(lambda w, b: 0.01 * w.abs() ** 2)),
    ),
]
