"""Exercises of lesson 09, Training loop: steps by hand, four optimizers, five loss curves, mini-batches."""

from __future__ import annotations

import random

import minigrad as torch

from .model import Exercise, Question, Wrong
from .sheet import exercise, question

mse_loss = torch.nn.functional.mse_loss


def _start(weight: float = 0.0, bias: float = 0.0):
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(weight)
        model.bias.fill_(bias)
    return model


def _points() -> tuple:
    x = torch.tensor([[-1.0], [0.0], [1.0], [2.0]])
    return x, 2 * x + 1


def sgd_step(w, g, velocity, lr, momentum, decay):
    g = g + decay * w
    velocity = momentum * velocity + g
    return w - lr * velocity, velocity


SHAPES = {  # what the loss of each of the five runs of exercise 9.5 does
    "tiny": "has hardly come down after sixteen steps",
    "plain": "falls by more than half in each step, and flattens",
    "large": "grows from step to step",
    "momentum": "falls, and swings back up several times",
    "adam": "comes down at an even pace, nearly to the bottom",
}
REASONS = {  # why
    "tiny": "With a rate of 0.005 a step is a twentieth of what it is with 0.1.",
    "plain": "With 0.1 the distance to the bottom is multiplied by about the same number in each step, as above.",
    "large": "With 0.6 each step lands higher on the other side, as in the fourth landscape.",
    "momentum": "A velocity does not stop at the bottom: it goes past it and comes back.",
    "adam": "Adam's first steps are all about as long as the learning rate.",
}


def _letters() -> dict[str, str]:
    """Which letter each run has after the lesson's shuffle."""
    order = list(SHAPES)
    random.Random(7).shuffle(order)
    return dict(sorted(zip(order, "abcde", strict=True), key=lambda pair: list(SHAPES).index(pair[0])))


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


def _arrive() -> str:
    """The letter of the optimizers that still reach the bottom of the steeper valley."""
    rules = {
        "sgd": lambda ps: torch.optim.SGD(ps, lr=0.035),
        "momentum": lambda ps: torch.optim.SGD(ps, lr=0.02, momentum=0.8),
        "adam": lambda ps: torch.optim.Adam(ps, lr=0.3),
    }
    arrived = set()
    for name, make in rules.items():
        w = torch.tensor([-4.0, 1.2], requires_grad=True)
        optimizer = make([w])
        for _step in range(40):
            optimizer.zero_grad()
            (w[0] ** 2 + 2500 * w[1] ** 2).backward()
            optimizer.step()
        if bool((w.abs() < 0.5).all()):
            arrived.add(name)
    letters = {("adam", "momentum", "sgd"): "a", ("adam", "momentum"): "b", ("adam",): "c", (): "d"}
    return letters[tuple(sorted(arrived))]


def _bias_on_the_first_two() -> float:
    x, t = _points()
    model = _start()
    mse_loss(model(x[:2]), t[:2]).backward()
    return model.bias.grad.item()


STEPS = (  # w, its gradient, the velocity; lr, momentum, weight decay
    (5.0, 10.0, 0.0, 0.1, 0.9, 0.0),
    (4.0, 8.0, 10.0, 0.1, 0.9, 0.0),
    (2.0, 4.0, 3.0, 0.1, 0.8, 0.5),
    (-3.0, 1.0, -2.0, 0.2, 0.0, 0.25),
    (1.5, -4.0, 2.0, 0.3, 0.5, 0.1),
)

QUESTIONS: list[Question] = [
    question(r"""
        9.a the bias after one step
        truth: _bias_after_one_step()
        found: Yes: $0 - 0.1 \cdot (-4) = 0.4$. It goes against the gradient, so upwards.
        missed: $0 - 0.1 \cdot (-4) = 0.4$.

        -0.4 :: That is *along* the gradient, which points uphill. The step is subtracted: $0 - 0.1 \cdot (-4)$.
        -4.0 :: That is the gradient itself. The step is a tenth of it, and goes the other way: 0.4.
        4.0  :: The right direction, but the learning rate makes it a tenth: 0.4.
        0.1  :: The learning rate times the gradient, not the learning rate alone: 0.4.
        1.0  :: That is where it should end up after many steps. One step leads to 0.4.
        0.0  :: It has a gradient, so it moves: $0 - 0.1 \cdot (-4)$.
        """),
    question(r"""
        9.b how far Adam's first step goes when the gradient is 1,000
        truth: _adam_goes()
        found: Yes: $\hat m / \sqrt{\hat v}$ is $1000/1000$. The first step is as long as the learning rate.
        missed: 0.1: the gradient is in the numerator and in the denominator, and cancels.

        10.0  :: A hundred times as far? $\hat m$ is 1,000, but $\sqrt{\hat v}$ is 1,000 as well: 0.1.
        100.0 :: That is SGD: $0.1 \cdot 1000$. Adam divides by $\sqrt{\hat v}$, which is 1,000: 0.1.
        1.0   :: $\hat m / \sqrt{\hat v}$ is 1. It is multiplied by the learning rate: 0.1.
        0.001 :: Divided twice? $\hat m$ is 1,000 and $\sqrt{\hat v}$ is 1,000: 0.1.
        -0.1  :: right
        4.9   :: That is *where* it ends up. The question is *how far* it goes: 0.1.
        """),
    question(r"""
        9.c which optimizers still reach the bottom of the steeper valley
        truth: _arrive()
        found: Yes: each weight's gradient is divided by its own size, so a factor of 100 cancels. For the other two, each step across the valley is a hundred times as long.
        missed: **c**: Adam divides each weight's gradient by its own size, so the factor of 100 cancels.

        "a" :: The rates of SGD and momentum suit a slope of $50\,w_1$. With $5000\,w_1$ a step of 0.035 times that lands far outside. Adam alone arrives: **c**.
        "b" :: Momentum multiplies the gradient by its rate, as SGD does, so it is thrown out as well. Adam alone divides by the size: **c**.
        "d" :: That is true of two of them. Adam divides each weight's gradient by its own size, so the factor cancels: **c**.
        """),
    question(r"""
        9.d the slope with respect to the bias on the first two points
        truth: _bias_on_the_first_two()
        found: Yes: the mean of $2 \cdot (0 + 1)$ and $2 \cdot (0 - 1)$. These two points would not move the bias at all.
        missed: 0: the errors on these two points are 1 and $-1$, so their slopes 2 and $-2$ cancel.

        -4.0 :: That is the mean over all four. On these two it is the mean of $2$ and $-2$: 0.
        -2.0 :: Half of the points do not give half of the slope. The mean is taken over these two alone: of $2$ and $-2$ it is 0.
        -8.0 :: That is the slope on the *other* two points. On these it is the mean of $2$ and $-2$: 0.
        -1.0 :: That is the slope with respect to the weight. For the bias it is the mean of $2$ and $-2$: 0.
        2.0  :: The first point alone gives 2. The second gives $-2$, and the mean is 0.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        9.1 one step, four rates
        solution:
            slow = (1 - 2 * 0.1) * 5
            exact = (1 - 2 * 0.5) * 5
            edge = (1 - 2 * 1.0) ** 3 * 5
            wild = (1 - 2 * 1.1) ** 2 * 5
        rtol: 1e-4
        why: Each step multiplies by $1 - 2\,\text{lr}$: 0.8, 0, $-1$ and $-1.2$.
        shows: Below 0.5 it creeps towards the bottom, above 0.5 it jumps over the bottom, and at 1 or more it never gets there.
        look slow: $1 - 2\,\text{lr}$ is the number by which a step multiplies.
        look exact: What is $1 - 2 \cdot 0.5$?
        look edge: Each of the three steps multiplies by the same factor. What is the sign at the end?
        look wild: Both steps multiply by the same factor, whose absolute value is larger than 1.
        hint: One step: $w - \text{lr} \cdot 2w$.
        hint: With $\text{lr} = 0.1$ the slope at 5 is 10, and the step is 1.
        hint: For several steps, take one after the other, each with the slope where you are.

        slow = 3.2   :: $0.8^2 \cdot 5$ is $w$ after two steps. `slow` is after one.
        edge = -15   :: $3 \cdot (-5)$? Each of the three steps multiplies by the factor: $(-1)^3$.
        wild = 6     :: $1.2 \cdot 5$ is the distance from 0 after one step. The second step multiplies once more.
        slow = 0.0   :: That is where $\text{lr} = 0.5$ leads. A tenth of the slope is a step of 1.
        slow = 2.0   :: That is where $\text{lr} = 0.3$ leads, as above the exercise. Here it is 0.1.
        slow = 5.0   :: That is where it begins. The slope is 10, so it does move.
        slow = 3.0   :: For that, the step would have to be 2. But a tenth of the slope, 10, is 1.
        slow = 8.0   :: Uphill, and too far. The step is 1, and it is subtracted.
        exact = 1.0  :: 1 is $2 \cdot 0.5$. The factor is what is left when you subtract that from 1.
        exact = 5.0  :: 5 is how far it goes. Where does it end up, if it begins at 5?
        exact = 10   :: That is the slope at 5. The step is half of it, and it is subtracted from 5.
        edge = -10.0 :: The step is 10 long, but it begins at 5.
        edge = -1    :: That is the factor of three steps together. Where does it put 5?
        edge = 1.0   :: The factor is $-1$, and $(-1)^3$ is $-1$. Where does that put 5?
        edge = -2.5  :: Nothing is halved: the step is 10 long, from 5 to the other side.
        wild = 0.0   :: With $\text{lr} = 0.5$ $w$ would be at the bottom. With 1.1 it jumps over the bottom.
        wild = 14.4  :: Twice what it should be: from $-6$ the step is $1.1 \cdot 12$.
        wild = 3.6   :: Half of what it should be: from $-6$ the step is $1.1 \cdot 12$.
        wild = 6.2   :: That is 1 too little: from $-6$ the step is $1.1 \cdot 12 = 13.2$ long.
        wild = 1.0   :: The factor is $-1.2$, and you multiply by it twice: $5 \cdot (-1.2)^2$.
        wild = 1.44  :: That is the factor of both steps together. Where does it put 5?
        slow = 4.5   :: The slope of $w^2$ at 5 is 10, not 5: the step is 1.
        slow = 6     :: Uphill. The gradient is subtracted.
        edge = 15    :: Uphill: the step is 10 long, and it is subtracted.
        exact = 0.5  :: That is the rate. The step is half of the slope, 10, so from 5 it goes down by 5.
        wild = 7.0   :: The second step is taken from $-6$, and is $1.1 \cdot 12$ long.
        slow = 4.9   :: That subtracts the rate alone. The step is the rate times the slope, $0.1 \cdot 10$.
        slow = 1     :: That is how far it goes. *Where* does it end up?
        slow = 2.5   :: For that, the step would have to be 2.5. It is 1, a tenth of the slope, 10.
        exact = 2.5  :: The slope at 5 is 10, and half of that is the whole way.
        exact = -5   :: That would be the result with $\text{lr} = 1$. Here the step is half of 10.
        edge = 5     :: That is where it is after two steps and after four. After three it is on the other side.
        edge = 0     :: The step is 10 long, twice the distance to the bottom. It lands on the other side.
        edge = 10    :: That is the length of a step. Where does it take $w$, from 5?
        edge = -25   :: Each step begins where the last one ended: $5, -5, 5, \dots$
        wild = -6    :: That is after the first step. From $-6$ the slope is $-12$.
        wild = 1.2   :: That is the factor of one step without its sign. Where is $w$?
        wild = -17   :: The slope is different at each place: at $-6$ it is $-12$.
        wild = -8.64 :: That is after three steps. After two, the sign has changed twice.
        wild = -7.2  :: The distance from 0 is right, but from $-6$ the next jump leads to the positive side.
        """),
    exercise(r"""
        9.2 the second step
        solution:
            plain = 2 * 0.8 * 0.8                    # 2, 1.6, 1.28
            momentum = 1.6 - 0.1 * (0.9 * 4 + 3.2)   # velocity 4, then 6.8
            decay = 2 - 0.1 * (4 + 0.5 * 2)
            adam = 2 - 0.1                           # as long as the learning rate
            zeros = 1.6 - 0.1 * (0.9 * 4 + 0)        # the velocity goes on
        rtol: 1e-4
        why: The gradient is 4 at 2, and 3.2 at 1.6. Everything else is what the optimizer does with it.
        shows: The same gradients, four different paths: an optimizer is a rule with a memory, and the graph knows nothing about it.
        look plain: The gradient at 2 is 4. Where does that lead, and what is the gradient there?
        look momentum: Write down the velocity after each step: first the gradient, then nine tenths of it plus the new gradient.
        look decay: Two things pull: the gradient, and half of $w$.
        look adam: What is $\hat m / \sqrt{\hat v}$ in the first step?
        look zeros: After the first step the velocity is 4. What is it with a gradient of zero?
        hint: The gradient is $2w$: at 2 it is 4, at 1.6 it is 3.2.
        hint: Momentum: the velocity is 4 after the first step, and $0.9 \cdot 4 + 3.2$ after the second.
        hint: Weight decay adds $0.5 \cdot w$ to the gradient before the step.
        hint: A zero is a gradient: the velocity becomes $0.9 \cdot 4$.

        momentum = 1.2  :: The second velocity is not 4 again: nine tenths of 4, plus the new gradient.
        momentum = 0.84 :: The second gradient is taken at $w = 1.6$, so it is not 4 once more.
        adam = 1.99     :: That step is 0.01 long. With both averages corrected, the first step is as long as the learning rate.
        decay = 3.0      :: It begins at 2, and both the gradient and the decay lead down.
        adam = 3.8       :: It begins at 2 and goes down, by the learning rate.
        zeros = 2.48     :: It begins at 2 and goes down, in both steps.
        zeros = 2.0      :: The first step was taken before `.grad` was set to zero: from 2 to 1.6. And $w$ moves in the second step too.
        plain = 0.0      :: Each step brings it closer by a fifth. With $\text{lr} = 0.5$ it would be at 0.
        plain = 2.56     :: Both steps go down: $2 \cdot 0.8 \cdot 0.8$.
        plain = 0.64     :: The two steps are 0.4 and 0.32. Subtract them from 2.
        plain = 1.0      :: The first step is 0.4, not 1: a tenth of the gradient, 4.
        momentum = 0.0   :: It does not get to 0 in two steps: the second one is 0.68 long.
        momentum = 1.0   :: The second step is a tenth of the velocity $0.9 \cdot 4 + 3.2$, and it starts from 1.6.
        momentum = 0.46  :: Nothing is halved: subtract a tenth of the velocity from 1.6.
        momentum = 1.84  :: The velocity is 6.8 by then. A tenth of that is subtracted from 1.6.
        momentum = 6.8   :: That is the velocity in the second step. *Where* does it take $w$, from 1.6?
        momentum = 0.68  :: That is the length of the second step. *Where* does it take $w$, from 1.6?
        decay = 0.0      :: The decay pulls towards zero by a part of $w$. It does not set it to zero.
        decay = 1.0      :: Gradient and pull together are 5; a *tenth* of that is the step.
        decay = 2.5      :: The pull is towards zero: it is subtracted together with the gradient.
        decay = 0.5      :: 0.5 is the strength of the decay, and also the length of the step. *Where* does the step lead, from 2?
        decay = 1.9      :: That is a step with the pull $0.5 \cdot 2$ alone. The gradient 4 counts as well.
        adam = 0.0       :: It moves by the learning rate, 0.1.
        adam = 0.9       :: It moves by 0.1. Where does it begin?
        adam = 0.95      :: Nothing is halved: from 2 it moves by the learning rate.
        zeros = 0.0      :: A gradient of zero does not make the weight zero. The velocity carries on from 1.6.
        zeros = 1.0      :: The velocity is $0.9 \cdot 4$ in the second step, and a tenth of it is the step.
        zeros = 0.24     :: From 1.6, not from 0.6: the first step was 0.4 long.
        zeros = 1.28     :: That counts a second gradient and no velocity. It is the other way round: the gradient is zero, and 3.6 of the velocity is left.
        decay = 1.8      :: That takes half of the gradient. All of it counts, 4, and half of *w* is added to it.
        plain = 1.6      :: That is after the first step. The slope there is 3.2.
        plain = 1.2      :: The second step uses the gradient where it begins: 3.2, not 4 again.
        plain = 2.88     :: Uphill, twice. The gradient is subtracted.
        plain = 1.62     :: The slope of $w^2$ is $2w$, not $w$.
        momentum = 1.28  :: The velocity is missing: it remembers the first gradient, 4.
        momentum = 0.88  :: Nine tenths of the old velocity, not the whole of it: $0.9 \cdot 4 + 3.2$.
        momentum = 0.52  :: The second step starts from 1.6, and is a tenth of the velocity $0.9 \cdot 4 + 3.2$.
        momentum = 1.24  :: The new gradient is missing: $0.9 \cdot 4 + 3.2$.
        momentum = 1.568 :: Momentum *adds* the new gradient whole. It is Adam that keeps averages, with a tenth of each new gradient.
        momentum = 1.6   :: That is after one step.
        decay = 1.6      :: The decay is missing: $0.5 \cdot 2$ is added to the gradient.
        decay = 1.1      :: The pull $0.5 \cdot 2$ is added to the *gradient*, and so it is multiplied by the learning rate.
        decay = 1.55     :: The pull is $0.5 \cdot w$, and $w$ is 2.
        decay = 1.7      :: The decay is added: both pull towards zero.
        adam = 1.6       :: That is SGD. Adam divides by the size of the gradient.
        adam = 1.96      :: That uses $m = 0.4$, which is not yet corrected: $\hat m = 0.4/0.1$.
        adam = 2.1       :: Uphill. The gradient is positive, so the step leads down.
        decay = 1.4      :: The decay adds $0.5 \cdot 2 = 1$ to the gradient, 4, so the step is 0.5.
        zeros = 0.6      :: The first step is 0.4 long, to 1.6. The second uses what is left of the velocity, $0.9 \cdot 4$.
        adam = 1.0       :: $\hat m / \sqrt{\hat v}$ is 1, and that is multiplied by the learning rate.
        adam = 1.8       :: After two steps, nearly. After one it has gone as far as the learning rate.
        zeros = 1.6      :: That would be `None`, which is skipped. A zero is a gradient, and the velocity carries on.
        zeros = 1.2      :: Nine tenths of the velocity are left: 3.6.
        zeros = 0.92     :: That counts a second gradient. Here it is zero.
        """),
    exercise(r"""
        9.3 Adam turns back
        solution:
            m = 0.9 * 1 + 0.1 * -10
            v = 0.999 * 0.1 + 0.001 * (-10) ** 2
            v_hat = v / (1 - 0.999**2)
            turned = -0.1 * (m / (1 - 0.9**2)) / v_hat**0.5
            steady = -0.1                            # both averages are of equal numbers: 10 and 100
        names: ("m", "v_hat", "turned", "steady")
        rtol: 0.008
        why: $m$ has forgotten nearly everything: $0.9 - 1 = -0.1$, and $\hat m = -0.1/0.19$. Squares are never negative, so $\hat v$ stays at 100. The step is $0.1 \cdot 0.526 / 10$, upwards.
        shows: The gradients have the same size, and the step is a nineteenth as long: Adam moves by the rate where gradients agree, and hardly at all where they alternate.
        look m: Nine tenths of what $m$ was, and a tenth of the new gradient.
        look v_hat: $v$ is 0.1 after the first step. Add the *square* of the new gradient with its weight, and correct with $k = 2$.
        look turned: $-\text{lr} \cdot \hat m / \sqrt{\hat v}$, with $\hat m = m/0.19$.
        look steady: If every gradient so far was 10, what are the two corrected averages?
        hint: $m \leftarrow 0.9 \cdot 1 + 0.1 \cdot (-10)$.
        hint: $v \leftarrow 0.999 \cdot 0.1 + 0.001 \cdot 100 = 0.1999$, and $1 - 0.999^2 = 0.001999$.
        hint: $\hat m = m / (1 - 0.9^2)$, which is $m/0.19$. The step is subtracted.
        hint: With 10 twice, $\hat m$ is 10 and $\hat v$ is 100, as in the first step.

        steady = -0.019                             :: That uses $m = 1.9$, which is not corrected: $\hat m = 1.9/0.19$.
        m = 1.0                                     :: That is $m$ before the second gradient.
        m = -0.2                                    :: Twice what it should be: the two parts are 0.9 and $-1$.
        m = -0.05                                   :: Nothing is halved: nine tenths and one tenth already add up to 1.
        v_hat = 1.0                                 :: Corrected means divided by $1 - 0.999^2$. Both squares were 100, so the average is 100.
        v_hat = 0.2                                 :: That is $v$, rounded. Divide by $1 - 0.999^2$.
        turned = 0.005                              :: Rounded too far: $0.1/0.19$ is 0.526. Give two digits.
        turned = 0.1 / 0.19                         :: That is the size of $\hat m$. Divide it by $\sqrt{\hat v}$ and multiply it by the rate.
        turned = 0.01 / 0.19 / 5                    :: Twice as far as it goes: $0.1 \cdot 0.526/10$.
        turned = 0.01 / 0.19 / 20                   :: Half as far as it goes: nothing is averaged with the first step.
        steady = 0.9                                :: The question is how *far* it moves; down is minus.
        m = -1.0                                    :: That is a tenth of the new gradient. Add nine tenths of the old $m$, 0.9.
        m = -9.1                                    :: That is momentum, which adds the new gradient whole. Adam takes a tenth of it.
        m = 1.9                                     :: The new gradient is $-10$, so a tenth of it makes $m$ smaller.
        m = 0.0                                     :: An average of 10 and $-10$, but the newer one counts for more: $0.9 - 1$.
        m = -0.1 / 0.19                             :: That is $\hat m$, which is already corrected. Give $m$ itself.
        m = 0.8                                     :: A tenth of $-10$ is $-1$, not $-0.1$.
        m = 0.9                                     :: The new gradient is missing: add a tenth of $-10$.
        m = -10.0                                   :: That is the gradient. Only a tenth of it is added.
        m = -0.9                                    :: Check the signs: 0.9 is left of the old $m$, and $-1$ is added.
        m = 9.1                                     :: The old $m$ was 1, not 10: nine tenths of it is 0.9. And the new gradient is $-10$.
        m = 0.1                                     :: Check the sign: $0.9 - 1$.
        v_hat = 0.1999                              :: That is $v$. Divide by $1 - 0.999^2$.
        v_hat = 0.0                                 :: Squares do not cancel: $(-10)^2$ is 100 too.
        v_hat = 199.9                               :: You divide by $1 - 0.999$, as in step 1. Now $k$ is 2.
        v_hat = 10.0                                :: That is $\sqrt{\hat v}$.
        v_hat = 1000.0                              :: Ten times what it should be: the square of 10 is 100, and a thousandth of it is 0.1.
        v_hat = -100.0                              :: Squares are never negative.
        v_hat = 50.0                                :: The old $v$ counts too: $0.0999 + 0.1$, and both together are divided by 0.001999.
        v_hat = 0.0999 / 0.001999 - 0.01 / 0.001999 :: The square of $-10$ is 100: a thousandth of it is 0.1.
        turned = -0.1 * 0.1 / 0.19 / 10             :: The right length. $\hat m$ is negative, and the step is subtracted: it goes up.
        turned = 0.1                                :: It would move that far if both gradients had been $-10$. But $m$ still remembers the first one.
        turned = -0.1                               :: That is the step with 10 again. This gradient points the other way.
        turned = 1.0                                :: That is SGD: $0.1 \cdot 10$. Adam divides by $\sqrt{\hat v}$.
        turned = -1.0                               :: That is SGD, and with the wrong sign: the gradient is negative, so $w$ goes up.
        turned = 0.2                                :: That is the length of two full steps. This is one step, and a short one: $\hat m$ is $-0.53$.
        turned = 0.0                                :: Nearly: the old gradient and the new one almost cancel, but the newer one counts for a little more.
        turned = 0.1 / 0.19 / 10                    :: Either the learning rate is missing, or the division by $\sqrt{\hat v}$, which is 10. You need both: a tenth of that.
        turned = 0.01 / 0.1999**0.5                 :: The corrections are missing: $\hat m = m/0.19$, $\hat v = v/0.001999$.
        turned = 0.1 * 0.1 / 10                     :: $m$ is not corrected yet: $\hat m = m/0.19$.
        turned = 0.1 * 0.1 / 0.19 / 100             :: That divides by $\hat v$. Divide by its root.
        steady = 0.1                                :: The length is right. A positive gradient makes the weight go down: minus.
        steady = -1.0                               :: That is SGD: $0.1 \cdot 10$. $\hat m/\sqrt{\hat v}$ is 1.
        steady = -0.19                              :: $\hat m$ is corrected, and so is $\hat v$: with 10 twice the step is as long as the rate.
        steady = 1.0                                :: $\hat m/\sqrt{\hat v}$ is 1. The learning rate is still missing, and the minus.
        steady = -0.2                               :: After *both* steps it would be 0.2 lower. Give this step alone.
        steady = -0.05                              :: Nothing is halved: each average is the average of two equal numbers.
        steady = 0.0                                :: A steady gradient moves it: $\hat m$ is 10, $\sqrt{\hat v}$ is 10.
        """),
    exercise(r"""
        9.4 write the step
        solution: sgd_step
        returns: ("the new weight", "the new velocity")
        cases: lambda: [(*map(torch.tensor, numbers[:3]), *numbers[3:]) for numbers in STEPS]
        why: Three rules, one line each. With `momentum=0` and `decay=0` they are plain SGD.
        shows: This is all that `torch.optim.SGD` does, for each parameter, with a velocity kept for each.
        look: In this order: add the decay to the gradient, add the gradient to the velocity, multiply the velocity by the rate.
        hint: Weight decay adds a part of $w$ itself to the gradient.
        hint: The velocity keeps a part of what it was, and the whole gradient is added.
        hint: `g = g + decay * w`, `velocity = momentum * velocity + g`, and `w - lr * velocity`.

        momentum * velocity + g => velocity + momentum * g :: Momentum multiplies the old velocity, not the new gradient.
        g + decay * w => g * decay * w :: The decay is *added* to the gradient.
        (w - lr * (momentum * velocity + g + decay * w**2), momentum * velocity + g + decay * w**2) :: The square of the weight belongs in the *loss*, as `decay / 2 * w**2`. The gradient gets the slope of that: `decay * w`.
        (w - lr * (momentum * velocity + g), momentum * velocity + g) :: The decay is missing: `decay * w` is added to the gradient.
        (w - lr * (velocity + g + decay * w), velocity + g + decay * w) :: That keeps all of the old velocity. `momentum` says how much of it to keep.
        (w - lr * momentum * velocity, momentum * velocity) :: The gradient is missing: the velocity is a part of what it was *plus* the gradient.
        (w - lr * (momentum * velocity - g - decay * w), momentum * velocity - g - decay * w) :: The gradient is *added* to the velocity. The minus belongs to the step.
        (w - lr * (momentum * velocity + g + w), momentum * velocity + g + w) :: That adds the whole weight to the gradient. `decay` says how much of it to add.
        (w - lr * (g + decay * w), g + decay * w) :: The old velocity has been forgotten: add `momentum * velocity` to the gradient.
        (w - lr * (momentum * velocity + g + decay * w), velocity) :: The step is right, but you return the old velocity: the next step would know nothing about this one.
        (w + lr * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: Uphill: the step is subtracted.
        (w - (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: The learning rate is missing in the step.
        (w - lr * (momentum * velocity + lr * (g + decay * w)), momentum * velocity + lr * (g + decay * w)) :: You multiply by the learning rate twice. Once is enough, in the step.
        (w - (momentum * velocity + lr * (g + decay * w)), momentum * velocity + lr * (g + decay * w)) :: Your velocity includes the learning rate, as some books write it. Here, as in PyTorch, the rate multiplies the whole velocity in the step.
        (w - lr * (momentum * velocity + (1 - momentum) * (g + decay * w)), momentum * velocity + (1 - momentum) * (g + decay * w)) :: That is an average, as Adam keeps it. Momentum adds the whole gradient.
        (w - lr * (momentum * velocity + g - decay * w), momentum * velocity + g - decay * w) :: The decay is added to the gradient; if it were subtracted, it would push *away* from zero.
        (w - lr * (momentum * velocity + g + decay * g), momentum * velocity + g + decay * g) :: The pull is a part of the *weight*, `decay * w`, not of the gradient.
        (w - lr * (momentum * velocity + g + decay), momentum * velocity + g + decay) :: The pull is `decay` times the weight: the larger the weight, the harder the pull.
        (w - lr * (momentum * velocity + g) - lr * decay * w, momentum * velocity + g) :: That shrinks the weight separately, as AdamW does. In SGD the decay is added to the *gradient*, so the velocity remembers it.
        (w - lr * (momentum * (velocity + g + decay * w)), momentum * (velocity + g + decay * w)) :: `momentum` applies to the old velocity alone; the whole gradient is added.
        (w - lr * velocity, momentum * velocity + g + decay * w) :: That steps by the *old* velocity. First compute the new one, then the step.
        (w - lr * (g + decay * w), momentum * velocity + g + decay * w) :: The velocity is right, but the step does not use it. The step is the velocity times the rate.
        (w * (1 - decay) - lr * (momentum * velocity + g), momentum * velocity + g) :: That shrinks the weight by the whole decay, without the rate. The decay is added to the gradient and goes through the velocity.
        ((w - lr * (momentum * velocity + g)) * (1 - lr * decay), momentum * velocity + g) :: That shrinks the weight separately, after the step. In SGD the decay is added to the *gradient*, so the velocity remembers it.
        (w - (momentum * velocity + lr * g) - lr * decay * w, momentum * velocity + lr * g) :: Two things: the whole gradient is added to the velocity, without the rate, and so is the decay. The rate multiplies the velocity in the step.
        (w - lr * ((1 - momentum) * velocity + g + decay * w), (1 - momentum) * velocity + g + decay * w) :: `momentum` says how much is *kept*: nine tenths with 0.9, not one.
        (lr * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: That is the step. *Where* does it take the weight?
        w - lr * (momentum * velocity + g + decay * w) :: Return 2 values: the new weight, the new velocity.
        (w - lr * abs(momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: `abs` does not belong there: where the velocity is negative, the weight must go up.
        (w - lr * (momentum * velocity + g + decay * abs(w)), momentum * velocity + g + decay * abs(w)) :: `abs` does not belong there: a negative weight is pulled *up*, towards 0.
        (w - 0.1 * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.
        (w - lr * (0.9 * velocity + g + decay * w), 0.9 * velocity + g + decay * w) :: 0.9 is the momentum of one call. Use `momentum`, whatever it is.
        (w - lr * (momentum * velocity + g) * (1 + decay), momentum * velocity + g) :: The decay does not stretch the step. It adds a part of the weight to the gradient: `g + decay * w`.
        (w - lr * g, g)                           :: That is plain SGD: neither momentum nor decay is in it. Add the decay to the gradient, and the gradient to `momentum * velocity`.
        (w - lr * (momentum * (velocity + g) + decay * w), velocity + g) :: `momentum` says how much of the *old* velocity is kept. The gradient and the decay are added to that in full.
        (w, velocity)                             :: Nothing has moved: you return what you were given. First compute the new velocity, then the step.
        (w - lr * (momentum * velocity + g + decay * w) / 2, momentum * velocity + g + decay * w) :: The velocity is right. The step is half as long as it should be.
        (w - lr * (momentum * velocity + g + 2 * decay * w), momentum * velocity + g + 2 * decay * w) :: You add the decay twice. The slope of the penalty `decay / 2 * w**2` is `decay * w`.
        (w + momentum * velocity - lr * (g + decay * w), momentum * velocity - lr * (g + decay * w)) :: Your velocity includes the rate and the sign, as some books write it. Here, as in PyTorch, the whole gradient is added to the velocity, and the rate is used in the step.
        (w - lr * (velocity + momentum * g + decay * w), velocity + momentum * g + decay * w) :: `momentum` is in the wrong place: it says how much of the *old velocity* is kept. The whole gradient is added.
        (w - lr * (momentum * velocity + decay * g + w), momentum * velocity + decay * g + w) :: `decay` is in the wrong place: it says how much of the *weight* is added to the gradient.
        """),
    exercise(
        r"""
        9.5 whose curve?
        solution: "\n".join(f'{name} = "{letter}"' for name, letter in _letters().items())
        names: tuple(SHAPES)
        why: With a factor a little below 1 the loss creeps, with 0.4 it falls and flattens, and with one whose absolute value is above 1 it grows. A velocity overshoots. Adam's first steps are equally long, so its loss comes down at an even pace.
        shows: How a loss changes from step to step is the first thing to look at, and it usually suggests the cure.
        hint: One of the five goes up from the start. Which rate went uphill on the map above?
        hint: Two of them go down at an even pace. One of the two has hardly begun.
        hint: One reaches the bottom in three steps and leaves it again: something carries it past.
        """,
        patterns=tuple(
            Wrong({name: other}, f"Curve {other} {SHAPES[owner]}. {REASONS[name]}")
            for name in SHAPES
            for owner, other in _letters().items()
            if owner != name
        ),
        look={name: f"Look for the curve that {shape}." for name, shape in SHAPES.items()},
    ),
    exercise(r"""
        9.6 an epoch
        solution:
            per_epoch = -(-1000 // 32)            # 31 full mini-batches, and one with the rest
            last = 1000 - 31 * 32
            all_steps = 5 * 32
            even = (2 * 3 + 2 * (-1)) / 4         # the mean of the two
            uneven = (3 * 3 + 1 * (-1)) / 4       # weighted by how many examples each has
        rtol: 1e-4
        why: 31 mini-batches of 32 are 992 examples, and 8 are left for the last. Each of four examples counts for a quarter, so a mini-batch of three counts for three quarters.
        shows: Mini-batches of equal size average to the gradient of the whole. A smaller last one has fewer examples, and yet its step counts as much as any other, so data loaders can be told to leave it out.
        look per_epoch: How many times does 32 go into 1,000? And what happens to the rest?
        look last: How many examples are left after the full mini-batches?
        look all_steps: Each epoch has as many steps as mini-batches.
        look even: Each example counts for a quarter.
        look uneven: Three of the four examples are in the first mini-batch.
        hint: 31 full mini-batches hold $31 \cdot 32 = 992$ examples. What is left makes one more.
        hint: The mean over four examples is the sum of their gradients divided by 4. A mini-batch of two with a mean of 3 has a sum of 6.
        hint: Even: $(6 - 2)/4$. Uneven: $(9 - 1)/4$.

        all_steps = 37 :: Five epochs of 32 steps each: multiply.
        per_epoch = 31    :: 31 full mini-batches are 992 examples. The 8 that are left make one more step.
        per_epoch = 31.25 :: There is no quarter of a step: the examples that are left make one more mini-batch, a smaller one.
        per_epoch = 1     :: An epoch is one pass through the data, and each mini-batch is a step.
        per_epoch = 1000  :: That would be mini-batches of one example. Here one step uses 32.
        per_epoch = 33    :: 31 full ones and one with the rest.
        per_epoch = 160   :: That is five epochs. Give the steps of one.
        last = 32         :: 32 does not divide 1,000: after 31 full mini-batches fewer are left.
        last = 0.25       :: A quarter of a mini-batch, yes. How many examples is that?
        last = 0          :: After 31 full mini-batches, 992 examples are used. The rest is not empty.
        last = 31         :: That is how many full mini-batches there are. How many examples are left after them?
        last = 24         :: That is what is missing for a full mini-batch. How many are there?
        all_steps = 155   :: Each epoch has a smaller last mini-batch as well: that is one more step in each of the five.
        all_steps = 156.25 :: Each epoch ends with its own mini-batch, which is a whole step, even if it is small.
        all_steps = 157   :: The data is not joined from epoch to epoch: each epoch ends with its own smaller mini-batch.
        all_steps = 156   :: The data is not joined from epoch to epoch: each epoch ends with its own smaller mini-batch.
        all_steps = 5     :: That is the number of epochs. Each has many steps.
        all_steps = 32    :: That is one epoch. There are five.
        all_steps = 5000  :: That is how many examples are used in all. Each step uses 32 of them, or what is left.
        per_epoch = 30    :: 30 mini-batches are only 960 examples.
        last = 16         :: That is half of a mini-batch. $1000 - 31 \cdot 32$ are left.
        even = 2          :: That is the sum of 3 and $-1$. Each of the two counts for half.
        even = 4          :: Those are the gradients of the *sums*, added. The loss is a mean over four examples.
        even = 3          :: The first mini-batch is half of the four. The other half gives $-1$.
        even = -1         :: The second mini-batch is half of the four. The other half gives 3.
        even = 0.5        :: That divides by 4, but each mini-batch has two examples: $(2 \cdot 3 - 2 \cdot 1)/4$.
        uneven = 1        :: That is the mean of the two mini-batches. Here the first one has three of the four examples, so it counts more.
        uneven = 4        :: That divides by 2. There are four examples: $(3 \cdot 3 - 1)/4$.
        uneven = 1.5      :: The first mini-batch brings three quarters of 3, the second a quarter of $-1$.
        uneven = 8        :: That is the gradient of the *sum* over the four examples. The loss is their mean.
        uneven = 0        :: The weights are swapped: it is the first mini-batch, with the 3, that has three examples.
        uneven = 2.5      :: The second gradient is *minus* 1: three quarters of 3 and a quarter of $-1$.
        uneven = 10       :: The second gradient is $-1$, and the loss is a mean: divide by 4.
        uneven = 3        :: Three of the four examples give 3, and one gives $-1$.
        """),
]
