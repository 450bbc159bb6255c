"""Exercises of lesson 09, Training loop: steps by hand, four optimizers, five loss curves."""

from __future__ import annotations

import random

import minigrad as torch

from .model import Exercise, Question, Wrong

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
    "tiny": "has hardly come down after sixteen turns",
    "plain": "falls by more than half in each turn, and flattens",
    "large": "grows from turn to turn",
    "momentum": "falls, and swings back up several times",
    "adam": "comes down at an even pace, nearly to the bottom",
}
REASONS = {  # why
    "tiny": "With a rate of 0.005 a step is a twentieth of what it is with 0.1.",
    "plain": "With 0.1 the distance to the bottom is multiplied by about the same number in each turn, as above.",
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


QUESTIONS: list[Question] = [
    Question(
        "9.a",
        asks="the bias after one step",
        truth=_bias_after_one_step,
        found="Yes: $0 - 0.1 \\cdot (-4) = 0.4$. Against the gradient, so upwards.",
        answers=r"""
            -0.4 :: That is *along* the gradient, and it points uphill. The step is subtracted: $0 - 0.1 \cdot (-4)$.
            -4.0 :: That is the gradient itself. The step is a tenth of it, and goes the other way: 0.4.
            4.0  :: The right way, but the learning rate makes it a tenth: 0.4.
            0.1  :: The learning rate times the gradient, not the learning rate alone: 0.4.
            1.0  :: That is where it should get in the end. One step leads to 0.4.
            0.0  :: It has a gradient, so it moves: $0 - 0.1 \cdot (-4)$.
        """,
        missed="$0 - 0.1 \\cdot (-4) = 0.4$.",
    ),
    Question(
        "9.b",
        asks="how far Adam's first step goes when the gradient is 1,000",
        truth=_adam_goes,
        found="Yes: $\\hat m / \\sqrt{\\hat v}$ is $1000/1000$. The first step is as long as the learning rate.",
        answers=r"""
            10.0  :: A hundred times as far? $\hat m$ is 1,000, but $\sqrt{\hat v}$ is 1,000 as well: 0.1.
            100.0 :: That is SGD: $0.1 \cdot 1000$. Adam divides by $\sqrt{\hat v}$, which is 1,000: 0.1.
            1.0   :: $\hat m / \sqrt{\hat v}$ is 1. It is multiplied by the learning rate: 0.1.
            0.001 :: Divided twice? $\hat m$ is 1,000 and $\sqrt{\hat v}$ is 1,000: 0.1.
            4.9   :: There it was with the gradient 10. *How far* it goes is asked: 0.1.
        """,
        missed="0.1: the gradient stands above and below, and goes out.",
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
        answers=r"""
            slow = 0.0   :: There $\text{lr} = 0.5$ leads. A tenth of the slope is a step of 1.
            slow = 2.0   :: There $\text{lr} = 0.3$ leads, as above the exercise. Here it is 0.1.
            slow = 5.0   :: There it begins. The slope is 10, so it does move.
            slow = 3.0   :: There the step would be 2. A tenth of the slope 10 is 1.
            slow = 8.0   :: Uphill, and too far. The step is 1, and it is subtracted.
            exact = 1.0  :: 1 is $2 \cdot 0.5$. The factor is what is left when that is taken from 1.
            exact = 5.0  :: 5 is how far it goes. Where is it then, beginning at 5?
            edge = -10.0 :: The step is 10 long, but it begins at 5.
            edge = 1.0   :: The factor is $-1$, and three times $-1$ makes $-1$. Where does that put 5?
            edge = -2.5  :: Nothing is halved: the step is 10 long, from 5 to the other side.
            wild = 0.0   :: It would be at the bottom with $\text{lr} = 0.5$. With 1.1 it jumps over it.
            wild = 14.4  :: Twice what it should be: from $-6$ the step is $1.1 \cdot 12$.
            wild = 3.6   :: Half of what it should be: from $-6$ the step is $1.1 \cdot 12$, not half of that.
            wild = 6.2   :: The second step has the gradient of where it begins, $-12$, and that is multiplied by 1.1, not by 1.
            wild = 1.0   :: The factor is $-1.2$, and it is taken twice. Nothing brings it to 1.
            slow = 4.5   :: The slope of $w^2$ at 5 is 10, not 5: the step is 1.
            slow = 6     :: Uphill. The gradient is subtracted.
            edge = 15    :: Uphill: the step is 10 long, and it is subtracted.
            exact = 0.5  :: That is the rate. The step is half of the slope 10: from 5, by 5.
            wild = 7.0   :: The second step is taken from $-6$, and is $1.1 \cdot 12$ long.
            slow = 1     :: That is how far it goes. *Where* is it then?
            slow = 2.5   :: There the step would be 2.5, and it is 1: a tenth of the slope 10.
            exact = 2.5  :: The slope at 5 is 10, and half of that is the whole way.
            exact = -5   :: That would be $\text{lr} = 1$. Half of 10 is 5.
            edge = 5     :: After two steps, yes, and after four. After three it is on the other side.
            edge = 0     :: The step is 10 long, twice the way to the bottom. It lands on the other side.
            edge = -25   :: Each step begins where the last one ended: $5, -5, 5, \dots$
            wild = -6    :: That is after the first step. From $-6$ the slope is $-12$.
            wild = 1.2   :: That is the factor of a step without its sign. Where is $w$?
            wild = -17   :: The slope is taken anew at each place: at $-6$ it is $-12$.
            wild = -7.2  :: The right size. From $-6$ the next jump leads to the positive side.
        """,
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
        answers=r"""
            decay = 3.0      :: It begins at 2, and both the gradient and the decay lead down.
            adam = 3.8       :: It begins at 2 and goes down, by the learning rate.
            zeros = 2.48     :: It begins at 2 and goes down, in both steps.
            zeros = 2.0      :: The first step was taken before the account was emptied: from 2 to 1.6. And the second is no standstill.
            plain = 0.0      :: It gets nearer by a fifth in each step. At 0 it would be with $\text{lr} = 0.5$.
            plain = 2.56     :: Both steps go down: $2 \cdot 0.8 \cdot 0.8$.
            plain = 0.64     :: The two steps are 0.4 and 0.32. Take them from 2.
            plain = 1.0      :: The first step is 0.4, not 1: a tenth of the gradient 4.
            momentum = 0.0   :: It does not get there in two steps: the second one is 0.68 long.
            momentum = 1.0   :: The second step is a tenth of the velocity $0.9 \cdot 4 + 3.2$, from 1.6 on.
            momentum = 0.46  :: Nothing is halved: from 1.6 on, a tenth of the velocity.
            momentum = 1.84  :: The velocity is 6.8 by then. From 1.6 a tenth of that is taken away.
            decay = 0.0      :: The decay pulls towards zero by a part of $w$. It does not set it to zero.
            decay = 1.0      :: Gradient and pull together are 5; a *tenth* of that is the step.
            decay = 2.5      :: The pull is towards zero: with the gradient it is subtracted.
            decay = 0.5      :: 0.5 is the number of the decay. The pull is $0.5 \cdot w$, and it is added to the gradient.
            adam = 0.0       :: It moves by the learning rate, 0.1.
            adam = 0.9       :: It moves by 0.1. Where does it begin?
            adam = 0.95      :: Nothing is halved: from 2 it moves by the learning rate.
            zeros = 0.0      :: A gradient of zero does not make the weight zero. The velocity goes on from 1.6.
            zeros = 1.0      :: The velocity is $0.9 \cdot 4$ in the second step, and a tenth of it is the step.
            zeros = 0.24     :: From 1.6, not from 0.6: the first step was 0.4 long.
            zeros = 1.28     :: There the second gradient is counted, and the velocity is not. It is the other way round: the gradient is zero, and 3.6 is left of the velocity.
            decay = 1.8      :: There half of the gradient was taken. It counts whole, 4, and half of *w* comes to it.
            plain = 1.6      :: That is after the first step. From there the slope is 3.2.
            plain = 1.2      :: The second step has the gradient of where it begins: 3.2, not 4 again.
            plain = 2.88     :: Uphill, twice. The gradient is subtracted.
            plain = 1.62     :: The slope of $w^2$ is $2w$, not $w$.
            momentum = 1.28  :: That is without the velocity: it remembers the first gradient, 4.
            momentum = 0.88  :: Nine tenths of the old velocity, not the whole of it: $0.9 \cdot 4 + 3.2$.
            momentum = 0.52  :: The velocity was 4, not the step 0.4 nor the place 2; and $w$ is 1.6 by then.
            momentum = 1.24  :: The new gradient is missing: $0.9 \cdot 4 + 3.2$.
            momentum = 1.568 :: Momentum *adds* the new gradient whole. Averages, with a tenth of it, are Adam's.
            momentum = 1.6   :: That is after one step.
            decay = 1.6      :: The decay is missing: $0.5 \cdot 2$ is added to the gradient.
            decay = 1.1      :: The pull $0.5 \cdot 2$ is added to the *gradient*, and so it is multiplied by the learning rate.
            decay = 1.55     :: The pull is $0.5 \cdot w$, and $w$ is 2.
            decay = 1.7      :: It is added: both pull towards zero.
            adam = 1.6       :: That is SGD. Adam divides by the size of the gradient.
            adam = 1.96      :: There $m$ is 0.4, not yet corrected: $\hat m = 0.4/0.1$.
            adam = 1.0       :: $\hat m / \sqrt{\hat v}$ is 1, and that is multiplied by the learning rate.
            adam = 1.8       :: After two steps, nearly. After one it has gone as far as the learning rate.
            zeros = 1.6      :: That would be `None`, which is skipped. A zero is a gradient, and the velocity goes on.
            zeros = 1.2      :: Nine tenths of the velocity are left: 3.6.
            zeros = 0.92     :: There the second gradient is counted. It is zero here.
        """,
    ),
    Exercise(
        "9.3",
        title="Adam turns round",
        names=("m", "v_hat", "turned", "steady"),
        solution="""
            m = 0.9 * 1 + 0.1 * -10
            v = 0.999 * 0.1 + 0.001 * (-10) ** 2
            v_hat = v / (1 - 0.999**2)
            turned = -0.1 * (m / (1 - 0.9**2)) / v_hat**0.5
            steady = -0.1                            # both averages are of equal numbers: 10 and 100
            """,
        rtol=0.008,
        why="$m$ has forgotten nearly all that it held: $0.9 - 1 = -0.1$, and $\\hat m = -0.1/0.19$. Squares have no sign, so "
        "$\\hat v$ stays at 100. The step is $0.1 \\cdot 0.526 / 10$, upwards.",
        shows="The same size of gradient, and a step 19 times as short: Adam moves by the rate where gradients agree, and hardly "
        "where they take turns. That is how it stops zigzagging.",
        look={
            "m": "Nine tenths of what $m$ was, and a tenth of the new gradient.",
            "v_hat": "$v$ is 0.1 after the first step. Then the *square* of the new gradient comes in, and the correction with $k = 2$.",
            "turned": "$-\\text{lr} \\cdot \\hat m / \\sqrt{\\hat v}$, with $\\hat m = m/0.19$.",
            "steady": "If every gradient so far was 10, what are the two corrected averages?",
        },
        hints=(
            "$m \\leftarrow 0.9 \\cdot 1 + 0.1 \\cdot (-10)$.",
            "$v \\leftarrow 0.999 \\cdot 0.1 + 0.001 \\cdot 100 = 0.1999$, and $1 - 0.999^2 = 0.001999$.",
            "$\\hat m = m / (1 - 0.9^2)$, which is $m/0.19$. The step is subtracted.",
            "With 10 twice, $\\hat m$ is 10 and $\\hat v$ is 100, as in the first step.",
        ),
        answers=r"""
            steady = -0.019                             :: There $m = 1.9$ is not corrected: $\hat m = 1.9/0.19$.
            m = 1.0                                     :: There it was before the second gradient came.
            m = -0.2                                    :: Twice what it is: the two parts are 0.9 and $-1$.
            m = -0.05                                   :: Nothing is halved: the nine tenths and the tenth are shares already.
            v_hat = 1.0                                 :: Corrected means divided by $1 - 0.999^2$, not by itself: the squares were 100 and 100.
            turned = 0.005                              :: Rounded too far: $0.1/0.19$ is 0.526. Give two digits.
            turned = 0.01 / 0.19 / 5                    :: Twice as far as it goes: $0.1 \cdot 0.526/10$.
            turned = 0.01 / 0.19 / 20                   :: Half as far as it goes: nothing is averaged with the first step.
            steady = 0.9                                :: How *far* it moves is asked for, and downwards.
            m = -1.0                                    :: A tenth of the new gradient; nine tenths of the old $m$, 0.9, come to it.
            m = -9.1                                    :: That is momentum, which adds the new gradient whole. Adam takes a tenth of it.
            m = 1.9                                     :: The new gradient is $-10$: a tenth of it is taken away.
            m = 0.0                                     :: An average of 10 and $-10$, but the newer one counts for more: $0.9 - 1$.
            m = -0.1 / 0.19                             :: That is $\hat m$, corrected already. $m$ itself is asked for.
            m = 0.8                                     :: A tenth of $-10$ is $-1$, not $-0.1$.
            m = 0.9                                     :: The new gradient is missing: a tenth of $-10$ comes to it.
            m = -10.0                                   :: That is the gradient. It comes in with a tenth only.
            m = -0.9                                    :: The sign: 0.9 is left of the old $m$, and $-1$ comes to it.
            m = 9.1                                     :: The old $m$ was 1, not 10: nine tenths of it are 0.9. And the new gradient is $-10$.
            m = 0.1                                     :: The sign: $0.9 - 1$.
            v_hat = 0.1999                              :: That is $v$. Divide by $1 - 0.999^2$.
            v_hat = 0.0                                 :: Squares do not cancel: $(-10)^2$ is 100 as well.
            v_hat = 199.9                               :: Divided by $1 - 0.999$, as in step 1. Now $k$ is 2.
            v_hat = 10.0                                :: That is $\sqrt{\hat v}$.
            v_hat = 1000.0                              :: A factor of 10 too much: the square of 10 is 100, and a thousandth of it is 0.1.
            v_hat = -100.0                              :: Squares have no sign.
            v_hat = 50.0                                :: The old $v$ counts too: $0.0999 + 0.1$, and both together are divided by 0.001999.
            v_hat = 0.0999 / 0.001999 - 0.01 / 0.001999 :: The square of $-10$ is 100: a thousandth of it is 0.1.
            turned = -0.1 * 0.1 / 0.19 / 10             :: The right length. $\hat m$ is negative, and the step is subtracted: it goes up.
            turned = 0.1                                :: So it would be if all gradients had been $-10$. $m$ still remembers the first one.
            turned = -0.1                               :: That is the step with 10 again. This gradient points the other way.
            turned = 1.0                                :: That is SGD: $0.1 \cdot 10$. Adam divides by $\sqrt{\hat v}$.
            turned = -1.0                               :: That is SGD, and downhill it is up: $w$ lies below the bottom now.
            turned = 0.2                                :: Two steps? One, and a short one: $\hat m$ is $-0.53$, not $-20$.
            turned = 0.0                                :: Nearly: the old gradient and the new one all but cancel, but the newer one counts for a little more.
            turned = 0.1 / 0.19 / 10                    :: There the learning rate is missing, or the division by $\sqrt{\hat v}$, which is 10. Both belong: a tenth of that.
            turned = 0.01 / 0.1999**0.5                 :: There the hats are missing: $\hat m = m/0.19$, $\hat v = v/0.001999$.
            turned = 0.1 * 0.1 / 10                     :: There $m$ is not corrected: $\hat m = m/0.19$.
            turned = 0.1 * 0.1 / 0.19 / 100             :: Divided by $\hat v$; it is divided by its root.
            steady = 0.1                                :: The right length. A positive gradient leads down: minus.
            steady = -1.0                               :: That is SGD: $0.1 \cdot 10$. $\hat m/\sqrt{\hat v}$ is 1.
            steady = 1.0                                :: $\hat m/\sqrt{\hat v}$ is 1: the learning rate is still to come, and the minus.
            steady = -0.2                               :: After *both* steps it would be 0.2 lower. This step alone is asked for.
            steady = -0.05                              :: Nothing is halved: both averages are those of two equal numbers.
            steady = 0.0                                :: A steady gradient moves it: $\hat m$ is 10, $\sqrt{\hat v}$ is 10.
        """,
    ),
    Exercise(
        "9.4",
        title="write the step",
        names=("sgd_step",),
        solution=sgd_step,
        why="Three rules, one line each. With `momentum=0` and `decay=0` they are plain SGD.",
        shows="This is all that `torch.optim.SGD` does, for each parameter, with a velocity kept for each.",
        look={
            "": "In this order: the decay joins the gradient, the gradient joins the velocity, the rate multiplies the velocity."
        },
        hints=(
            "Weight decay adds a part of $w$ itself to the gradient.",
            "The velocity keeps a part of what it was, and the gradient comes to it whole.",
            "`g = g + decay * w`, `velocity = momentum * velocity + g`, and `w - lr * velocity`.",
        ),
        cases=lambda: [
            (5.0, 10.0, 0.0, 0.1, 0.9, 0.0),
            (4.0, 8.0, 10.0, 0.1, 0.9, 0.0),
            (2.0, 4.0, 3.0, 0.1, 0.8, 0.5),
            (-3.0, 1.0, -2.0, 0.2, 0.0, 0.25),
            (1.5, -4.0, 2.0, 0.3, 0.5, 0.1),
        ],
        returns=("the new weight", "the new velocity"),
        answers=r"""
            (w - lr * (momentum * velocity + g + decay * w**2), momentum * velocity + g + decay * w**2) :: The square of the weight belongs into a *loss*. In the gradient its slope stands: `decay * w`.
            (w - lr * (momentum * velocity + g), momentum * velocity + g) :: The decay is missing: `decay * w` is added to the gradient.
            (w - lr * (velocity + g + decay * w), velocity + g + decay * w) :: The whole old velocity is kept there. `momentum` says how much of it.
            (w - lr * momentum * velocity, momentum * velocity) :: The gradient has not joined: the velocity is a part of what it was *and* the gradient.
            (w - lr * (momentum * velocity - g - decay * w), momentum * velocity - g - decay * w) :: The gradient is *added* to the velocity. The minus stands in the step.
            (w - lr * (momentum * velocity + g + w), momentum * velocity + g + w) :: The whole weight joins the gradient. `decay` says how much of it.
            (w - lr * (g + decay * w), g + decay * w) :: The old velocity has been forgotten: `momentum * velocity` comes to the gradient.
            (w - lr * (momentum * velocity + g + decay * w), velocity) :: The step is right, but the old velocity comes back: the next step would not know of this one.
            (w + lr * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: Uphill: the step is subtracted.
            (w - (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: The learning rate is missing in the step.
            (w - lr * (momentum * velocity + lr * (g + decay * w)), momentum * velocity + lr * (g + decay * w)) :: The learning rate comes in twice: once is enough, in the step.
            (w - (momentum * velocity + lr * (g + decay * w)), momentum * velocity + lr * (g + decay * w)) :: A velocity that holds the learning rate already: some books write it so. Here, as in PyTorch, the rate multiplies the whole velocity in the step.
            (w - lr * (momentum * velocity + (1 - momentum) * (g + decay * w)), momentum * velocity + (1 - momentum) * (g + decay * w)) :: That is an average, as Adam keeps it. Momentum adds the gradient whole.
            (w - lr * (momentum * velocity + g - decay * w), momentum * velocity + g - decay * w) :: The decay is added to the gradient; subtracted it would push *away* from zero.
            (w - lr * (momentum * velocity + g + decay * g), momentum * velocity + g + decay * g) :: The pull is a part of the *weight*, `decay * w`, not of the gradient.
            (w - lr * (momentum * velocity + g + decay), momentum * velocity + g + decay) :: The pull is `decay` times the weight: the larger it is, the harder it is pulled.
            (w - lr * (momentum * velocity + g) - lr * decay * w, momentum * velocity + g) :: The weight shrinks beside the velocity there: that is another optimizer, AdamW's way. In SGD the decay joins the *gradient*, so the velocity remembers it.
            (w - lr * (momentum * (velocity + g + decay * w)), momentum * (velocity + g + decay * w)) :: `momentum` is for the old velocity alone; the gradient comes in whole.
            (momentum * velocity + g + decay * w, w - lr * (momentum * velocity + g + decay * w)) :: The right two numbers, in the wrong order: the weight first, then the velocity.
            (w - lr * velocity, momentum * velocity + g + decay * w) :: The step is made of the *old* velocity. First the new one, then the step.
            (w - lr * (g + decay * w), momentum * velocity + g + decay * w) :: The velocity is right, and the step does not use it: it is the velocity, times the rate.
            (w * (1 - decay) - lr * (momentum * velocity + g), momentum * velocity + g) :: The weight is shrunk by the whole decay, and the rate does not come into it. The decay joins the gradient, and goes its way.
            (w - lr * ((1 - momentum) * velocity + g + decay * w), (1 - momentum) * velocity + g + decay * w) :: `momentum` says how much is *kept*: nine tenths with 0.9, not one.
            (lr * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: That is the step. *Where* is the weight then?
            w - lr * (momentum * velocity + g + decay * w) :: Return 2 values: `return the new weight, the new velocity`.
            (w - lr * abs(momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: `abs` is one too many: where the velocity is negative, the weight has to go up.
            (w - lr * (momentum * velocity + g + decay * abs(w)), momentum * velocity + g + decay * abs(w)) :: `abs` is one too many: a negative weight is pulled *up*, towards 0.
            (w - 0.1 * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.
            (w - lr * (0.9 * velocity + g + decay * w), 0.9 * velocity + g + decay * w) :: 0.9 is the momentum of one call. Use `momentum`, whatever it is.
            (w - lr * (momentum * velocity + g) * (1 + decay), momentum * velocity + g) :: The decay does not stretch the step. It adds a part of the weight to the gradient: `g + decay * w`.
            (w - lr * g, g)                           :: That is plain SGD: neither momentum nor decay is in it. The decay joins the gradient, and the gradient joins `momentum * velocity`.
            (w - lr * (momentum * (velocity + g) + decay * w), velocity + g) :: `momentum` says how much of the *old* velocity is kept. The gradient and the decay join it whole.
            (w, velocity)                             :: Nothing has moved: that is what came in. First the new velocity, then the step.
            (w - lr * (momentum * velocity + g + decay * w) / 2, momentum * velocity + g + decay * w) :: The velocity is right. The step is half as long as it should be.
            (w - lr * (momentum * velocity + g + 2 * decay * w), momentum * velocity + g + 2 * decay * w) :: The decay is in it twice. The slope of `decay / 2 * w**2`, which is meant, is `decay * w`.
            (w + momentum * velocity - lr * (g + decay * w), momentum * velocity - lr * (g + decay * w)) :: A velocity that holds rate and sign already: some books write it so. Here, as in PyTorch, the gradient joins the velocity whole, and the rate comes in at the step.
            (w - lr * (velocity + momentum * g + decay * w), velocity + momentum * g + decay * w) :: `momentum` stands at the wrong place: it says how much of the *old velocity* is kept. The gradient comes in whole.
            (w - lr * (momentum * velocity + decay * g + w), momentum * velocity + decay * g + w) :: `decay` stands at the wrong place: it says how much of the *weight* joins the gradient.
            [w - lr * momentum * velocity - lr * g - lr * decay * w, momentum * velocity + g + decay * w] :: right
        """,
    ),
    Exercise(
        "9.5",
        title="whose curve?",
        names=tuple(SHAPES),
        solution="\n".join(f'{name} = "{letter}"' for name, letter in _letters().items()),
        why="A factor a little below 1 creeps, 0.4 falls and flattens, above 1 in size it grows. A velocity overshoots. Adam's first "
        "steps are equally long, so its loss comes down at an even pace.",
        shows="What a loss does from turn to turn is the first thing to look at, and mostly it names the cure.",
        look={name: f"Look for the curve that {shape}." for name, shape in SHAPES.items()},
        hints=(
            "One of the five goes up from the start. What have you seen going up with 0.6?",
            "Two of them go down at an even pace. One of the two has hardly begun.",
            "One reaches the bottom in three turns and leaves it again: something carries it on.",
        ),
        patterns=tuple(
            Wrong({name: other}, f"Curve {other} {SHAPES[owner]}. {REASONS[name]}")
            for name in SHAPES
            for owner, other in _letters().items()
            if owner != name
        ),
    ),
]
