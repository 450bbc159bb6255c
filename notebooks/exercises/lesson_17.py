"""Exercises of lesson 17, read digits: count, one epoch, a saliency map, a picture that fools, lengths, a forgery."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import ASKS, GRAD, HOOKS, MODE, VALUES, Watch

cross_entropy = torch.nn.functional.cross_entropy


def epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def saliency(model, picture, label):
    x = picture.clone().requires_grad_()
    loss = cross_entropy(model(x), label)
    (g,) = torch.autograd.grad(loss, x)
    return g.abs().reshape(8, 8)


def fool(model, picture, label, eps):
    x = picture.clone().requires_grad_()
    (g,) = torch.autograd.grad(cross_entropy(model(x), label), x)
    return (picture + eps * g.sign()).clamp(0, 1)


def gradient_lengths(model, x, y):
    lengths = []
    for i in range(len(x)):
        loss = cross_entropy(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(model.parameters()))
        lengths.append(sum((g * g).sum() for g in grads).sqrt())
    return torch.stack(lengths)


def forge(model, picture, target, eps, steps):
    x = picture
    for _ in range(steps):
        x = x.clone().detach().requires_grad_()
        loss = cross_entropy(model(x), target)
        (g,) = torch.autograd.grad(loss, x)
        x = (x - eps * g.sign()).clamp(0, 1)
    return x.detach()


# what the checks try


def _filled(module, scale=1.0):
    """The module with weights that look random and are the same each time."""
    with torch.no_grad():
        for n, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_((torch.sin(torch.arange(count) * 1.7 + n) * scale).reshape(parameter.shape))
    return module


def _small():
    return _filled(torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)))


def _rows(count, of=4):
    return torch.cos(torch.arange(count * of) * 2.3).reshape(count, of)


def _answers(count, classes=3):
    return torch.tensor([(7 * n) % classes for n in range(count)])


class _Wary(torch.optim.SGD):
    """An optimizer that counts its steps and complains about a step without a gradient."""

    taken = 0

    def step(self, closure=None):
        if all(p.grad is None for group in self.param_groups for p in group["params"]):
            raise Complaint(
                "`step()` was called when there was no gradient: it had been cleared, or no pass had run yet. "
                "Clear *before* the pass, and step *after* it."
            )
        self.taken += 1
        return super().step(closure)


def _epochs(epoch) -> Iterator[tuple]:
    """What the learner's loop calls for one batch; the weights after it, and after five more."""
    model = _small()
    optimizer = _Wary(model.parameters(), lr=0.5)
    rows, answers = _rows(20), _answers(20)
    batches = [(rows[start : start + 4], answers[start : start + 4]) for start in range(0, 20, 4)]
    before = model[0].weight.detach().clone()
    recorded: list[bool] = []
    listening = model.register_forward_hook(lambda *whatever: recorded.append(torch.is_grad_enabled()))
    passes: list = []
    model[-1].bias.register_hook(passes.append)
    watch = Watch({"model": {VALUES, GRAD}}, model=model, batches=batches)
    try:
        epoch(model, optimizer, batches[:1])
    except RuntimeError as error:
        if "does not require grad" in str(error):
            raise Complaint(_why_no_way_back(recorded)) from None
        raise
    after = model[0].weight.detach().clone()
    if torch.equal(before, after):
        done = "A backward pass has run, but nothing" if model[0].weight.grad is not None else "Nothing"
        raise Complaint(
            f"{done} has moved the weights. What moves them is `optimizer.step()`, after the pass of each batch, if the gradients are not 0."
        )
    yield ("Backward passes and steps for one batch:", f"{len(passes)} and {optimizer.taken}")
    yield "The first layer after one batch", after
    epoch(model, optimizer, batches)
    yield "and after five more", model[0].weight.detach().clone()
    yield "Steps for five batches", float(optimizer.taken - 1)
    watch.complain()
    listening.remove()


def _why_no_way_back(recorded: list[bool]) -> str:
    if not recorded:
        return "The loss does not come from the model, which has not run: there is no way back to its weights. `cross_entropy(model(x), y)`."
    if not any(recorded):
        return (
            "The loss was computed inside `no_grad`, so nothing was recorded. That is for testing. Here the model should learn: "
            "leave it out."
        )
    return (
        "The model has run and was recorded, but the way back is lost between its scores and the loss: `detach()`, `.item()` and "
        "`argmax` cut it. Pass the scores to `cross_entropy` as they are."
    )


def _reader():
    return _filled(
        torch.nn.Sequential(
            torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(128, 10)
        ),
        0.3,
    )


def _picture(n):
    return (torch.sin(torch.arange(64) * (0.7 + n)) * 0.5 + 0.5).reshape(1, 1, 8, 8)


def _asked(function, *more) -> Iterator[tuple]:
    """What the function returns for two pictures, and whether it leaves the model and the picture unchanged."""
    for n, label in ((0, 3), (1, 8)):
        model, picture = _reader(), _picture(n)
        weights = [p.detach().clone() for p in model.parameters()]
        watch = Watch(model=model)
        got = function(model, picture, torch.tensor([label]), *(one[n] for one in more))
        besides = watch.first_change({MODE, HOOKS, ASKS})
        if any(not torch.equal(p.detach(), old) for p, old in zip(model.parameters(), weights, strict=True)):
            raise Complaint(
                "The weights of the model have changed. Only the picture should ask for a gradient here."
            )
        if not torch.equal(picture, _picture(n)):
            raise Complaint(
                "`picture` itself has been changed, and the caller still needs it. Make a new one."
            )
        yield f"For a picture of the digit {label}", got.detach() if isinstance(got, torch.Tensor) else got
        if picture.requires_grad:
            raise Complaint(
                "The numbers are right. But `picture` itself asks for a gradient now, which the caller does not expect: "
                "`requires_grad_()` works in place. Call it on a copy, `picture.clone()`."
            )
        if any(p.grad is not None for p in model.parameters()):
            raise Complaint(
                "The numbers are right, but a `backward()` has also left gradients in the weights' `.grad`, and the next training "
                "step would add to them. `torch.autograd.grad(loss, x)` asks for one tensor only."
            )
        if besides:
            raise Complaint(besides)


def _lengths(gradient_lengths) -> Iterator[tuple]:
    linear = torch.nn.Linear
    deeper = _filled(
        torch.nn.Sequential(linear(4, 3), torch.nn.Tanh(), linear(3, 6), torch.nn.Tanh(), linear(6, 3))
    )
    for name, model, count in (("", _small(), 4), ("", _small(), 1), (" of a deeper model", deeper, 6)):
        watch = Watch(model=model)
        label = f"For {count} sample{'s' * (count > 1)}{name}"
        yield label, gradient_lengths(model, _rows(count), _answers(count))
        watch.complain()
    pictures = torch.cat([_picture(0), _picture(1)])
    yield "For 2 pictures", gradient_lengths(_reader(), pictures, torch.tensor([4, 7]))


def _forged(forge) -> Iterator[tuple]:
    """Two digits, various step sizes and numbers of steps, including none; the model and the picture must be unchanged."""
    for n, target, eps, steps in ((0, 9, 0.1, 1), (1, 2, 0.05, 3), (0, 4, 0.02, 0)):
        model, picture = _reader(), _picture(n)
        watch = Watch(model=model, picture=picture)
        got = forge(model, picture, torch.tensor([target]), eps, steps)
        tensor = isinstance(got, torch.Tensor)
        yield (
            f"After {steps} step{'s' * (steps != 1)} of {eps:g} towards {target}",
            got.detach() if tensor else got,
        )
        watch.complain()
        if tensor and got.requires_grad:
            raise Complaint(
                "The picture is right, but it still carries its whole history. Return `x.detach()`: the caller only needs the numbers."
            )


def _of_steps(seen: dict) -> str:
    """What is wrong with a step of 0.1 from the first picture, judged by how far its pixels move."""
    got, picture = next(iter(seen.values())), _picture(0).numpy()
    if np.shape(got) != picture.shape:
        return ""
    moved = abs(got - picture)[(picture > 0.1) & (picture < 0.9)]  # these are not clamped
    if np.allclose(moved, 0.1, atol=1e-4):
        return (
            "Each pixel moves by `eps`, but some in the wrong direction. The direction is the sign of the gradient of the loss, "
            "with the label you are given, at the picture as it is."
        )
    return (
        f"Not every pixel moves by `eps`: with 0.1 some move by {moved.flat[abs(moved - 0.1).argmax()]:.2g}. A step is `eps` "
        "times a sign, 1 or -1, and only then is the result clamped to the range from 0 to 1."
    )


def _of_lengths(seen: dict) -> str:
    """Whether wrong lengths come from the samples or from what is computed for each of them."""
    if not np.allclose(seen.get("For 1 sample", np.inf), 0.975132, rtol=1e-3):
        return (
            "It is wrong even for a single sample, so look at what you compute from its gradients: square *every* entry of "
            "*all* tensors, add, and take one root at the end."
        )
    return "For a single sample it is right, for several it is not. Which samples, and which labels, are in the loss of sample `i`?"


# what people write


def _losses(model, x, y):
    return cross_entropy(model(x), y, reduction="none")


QUESTIONS: list[Question] = [
    question(r"""
        17.a the loss of a network that knows nothing
        truth: math.log(10)
        found: Yes: ten digits, a tenth for each, and $-\log 0.1 = 2.303$.
        missed: A tenth for each digit: $-\log 0.1 = 2.303$.

        0.1    :: That is the *probability* of the right digit. The loss is its logarithm, with a minus.
        1.0    :: That would be the logarithm to the base ten. Here it is the natural one: $\log 10 = 2.303$.
        0.0    :: A loss of 0 would mean that the network is sure, and right.
        0.9    :: That is one minus the probability of the right digit. The loss is $-\log$ of the probability.
        10.0   :: Ten digits, yes. The loss is the logarithm of that.
        -2.303 :: The size is right. The logarithm of 0.1 is negative, and the minus sign makes it positive.
        """),
    question(r"""
        17.b how many numbers the gradient with respect to a picture has
        truth: 64.0
        counts: True
        found: Yes: one for each pixel. A gradient has the shape of what it belongs to.
        missed: 64: one for each of the 8 × 8 pixels. A gradient has the shape of what it belongs to.

        1.0    :: The *loss* is one number. Its gradient has one for each pixel.
        10.0   :: That is the gradient with respect to the scores. The picture has more entries.
        2730.0 :: That is the number of *weights*, and here they do not ask for a gradient.
        256.0  :: That is the gradient at the input of the linear layer. The pass goes on, to the pixels.
        8.0    :: 8 × 8: one for each pixel.
        """),
    question(r"""
        17.c what a step along the gradient does, and what a coin does
        truth: "c"
        found: Yes: 64 small effects add up if they are chosen, and cancel if they are not.
        missed: It is **c**. The coin's 64 small effects cancel, the gradient's add up.

        "a" :: That sounds plausible when each pixel changes by only a tenth. But along the gradient all 64 effects add up.
        "b" :: The sizes are the same, not the directions: the coin's effects cancel each other.
        "d" :: The coin chooses at random, which is why its effects cancel. The gradient gives each pixel the direction that raises the loss.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        17.1 count it
        solution:
            conv = 16 * 3 * 3 + 16  # 16 windows of 3 × 3, and a bias for each
            pooled = 16 * 4 * 4  # 8 × 8 becomes 4 × 4, for each window
            linear = 256 * 10 + 10  # from each entry to each score, and ten biases
            gradients = conv + linear  # ReLU, pooling, flatten and dropout learn nothing
        counts: 1
        rtol: 1e-4
        why: A window is used at every position of the picture, so it costs 9 weights, not 9 for each pixel. Nearly all the numbers are in the linear layer.
        shows: 2,730 numbers, and one backward pass finds a gradient for each of them.
        look conv: How many numbers does one window have, and how many windows are there? And the biases?
        look pooled: What becomes of 8 × 8 if only one of each 2 × 2 is kept? And how many such pictures are there?
        look linear: One weight from each entry to each score. And the biases?
        look gradients: Which of the layers have numbers to learn?
        about pooled: Each 2 × 2 square gives one number.
        about linear: `nn.Linear(256, 10)`: a table, and ten biases.
        about gradients: Only the convolution and the linear layer learn.
        hint: Draw one picture as it goes through: (1, 8, 8), then (16, 8, 8), then smaller.
        hint: A window has 9 weights and 1 bias.

        conv = 1600   :: That counts 100 numbers for each window. A window has $3 \cdot 3$ numbers, and a bias.
        conv = 25     :: $3 \cdot 3 + 16$: one window, and the biases of all. There are 16 windows.
        gradients = 5460 :: Twice as many as there are: each number has one gradient.
        pooled = 1       :: One number for each 2 × 2 *square* is left, not one for the whole picture.
        conv = 16        :: 16 windows, and each has 9 weights and a bias.
        conv = 400       :: The windows are 3 × 3: nine weights and a bias each.
        linear = 10250   :: That is from 1,024 entries. By then max pooling has left a quarter of them.
        gradients = 2570 :: The convolution learns as well.
        gradients = 160  :: The linear layer learns as well.
        gradients = 2704 :: The biases are missing: 16 and 10.
        conv = 144       :: Those are the weights. Each window has a bias as well.
        conv = 9         :: That is one window, without its bias. There are 16.
        conv = 10        :: That is one window with its bias. There are 16.
        conv = 145       :: Each of the 16 windows has its own bias.
        conv = 9216      :: A window's weights are the *same* at all 64 places. They count once.
        conv = 10240     :: A window's weights and bias are the *same* at all 64 places. They count once.
        conv = 80        :: That is half the right answer: 16 windows, 9 weights and a bias each.
        conv = 320       :: That is twice as many as there are: the picture has one channel (grey).
        pooled = 1024    :: That is before the pooling, which leaves one number from each 2 × 2 square.
        pooled = 16      :: That is one picture after pooling. There is one for each window.
        pooled = 512     :: Pooling halves the width *and* the height.
        pooled = 64      :: That is the picture, unchanged.
        pooled = 128     :: That goes too far: 8 × 8 becomes 4 × 4, and there are 16 of them.
        linear = 2560    :: Those are the weights. Each score has a bias as well.
        linear = 266     :: 256 and 10 are multiplied: a weight from each entry to each score.
        linear = 2816    :: A bias belongs to a score, of which there are 10, and not to an entry.
        linear = 2561    :: Each of the ten scores has its own bias.
        linear = 1285    :: That is half the right answer: a weight from each of 256 entries to each of 10 scores.
        linear = 5140    :: That is twice as many as there are: there is one table, and ten biases.
        gradients = 1    :: The *loss* is one number. A gradient is found for each number that learns.
        gradients = 4    :: Four *tensors*: two weights, two biases. How many numbers are in them?
        gradients = 2986 :: The 256 entries are results. What *learns* are weights and biases.
        gradients = 2794 :: The picture's 64 pixels do not ask for a gradient during training.
        gradients = 1365 :: Nothing is averaged: the two layers' numbers are added.
        """),
    exercise(r"""
        17.2 one epoch
        solution: epoch
        probe: _epochs
        why: Clear the gradients, compute the loss of this batch, walk back, step. Whether they are cleared first or last in an iteration makes no difference.
        shows: The four lines of lesson 5. They train this network, and any other.
        look: Four lines: clear, loss, backward, step. Which of them does what you see?
        hint: What was in the loop of lesson 5?
        hint: `cross_entropy(model(x), y)` is the loss. It takes scores, not probabilities.
        hint: `optimizer.zero_grad()` before the pass, `optimizer.step()` after it.

        optimizer.zero_grad() => :: The first batch is right; after that, the old gradients are still there. What clears them?

        optimizer.zero_grad()
        for x, y in batches:
            cross_entropy(model(x), y).backward()
            optimizer.step() :: You clear once, before the loop, so the gradients of the batches still pile up. Clear in each iteration.

        for x, y in batches:
            cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad() :: That is one step for all batches together. Each iteration needs its own.

        cross_entropy(model(x), y) => cross_entropy(torch.softmax(model(x), 1), y) :: `cross_entropy` makes probabilities itself. With a softmax before it, they are made twice, and the gradients become small.
        cross_entropy(model(x), y) => cross_entropy(model(x).argmax(1), y) :: `argmax` gives the digit itself. A digit has no slope: pass the scores.
        cross_entropy(model(x), y) => ((model(x) - torch.eye(3)[y]) ** 2).mean() :: That is the mean square of the scores' errors. You need `cross_entropy`.
        cross_entropy(model(x), y) => cross_entropy(model(x), y, reduction='sum') :: That is the sum over the batch, so the step is too long by a factor of the batch's size. Leave `reduction` at its default, the mean.
        cross_entropy(model(x), y) => cross_entropy(model(x[:1]), y[:1]) :: Only the first sample of each batch is used.
        optimizer.step() => optimizer.step(); optimizer.step() :: That takes two steps with one gradient. One is enough.
        loss = cross_entropy(model(x), y) => cross_entropy(model(x), y).backward() ;; loss.backward() => ;; optimizer.step() => << :: The step is taken once, after the loop, with the last batch alone. All four lines belong inside the loop.
        optimizer.step() => optimizer.step(); return loss :: After the first batch nothing moves: a `return` or `break` inside the loop ends it in its first iteration.
        loss = cross_entropy(model(x), y) => with torch.no_grad(): loss = cross_entropy(model(x), y) :: The loss was computed inside `no_grad`, so nothing was recorded.
        cross_entropy(model(x), y) => cross_entropy(y, model(x)) :: First the scores, then the labels: `cross_entropy(model(x), y)`.
        batches: => batches[:3]: ;; loss = cross_entropy(model(x), y) => cross_entropy(model(x), y).backward() ;; loss.backward() => :: Only the first three batches are used. Go through all of `batches`, however many there are.
        loss = cross_entropy(model(x), y) => ;; loss.backward => cross_entropy(x, y).backward :: The loss does not come from the model, which has not run
        loss = cross_entropy(model(x), y) => cross_entropy(model(x).detach(), y).backward() ;; loss.backward() => :: the way back is lost between its scores and the loss
        loss = cross_entropy(model(x), y) => (-cross_entropy(model(x), y)).backward() ;; loss.backward() => :: The minus makes the training climb: the loss gets larger with each step. `cross_entropy` already contains the minus it needs.
        loss = cross_entropy(model(x), y) => loss = cross_entropy(model(x), y); loss.backward(retain_graph=True) :: There are two passes in each iteration, and their gradients add up. One `backward()` per step.
        optimizer.zero_grad() => model.eval(); optimizer.zero_grad() :: `model` is left in eval mode
        loss = cross_entropy(model(x), y) => (cross_entropy(model(x), y) / len(batches)).backward() ;; loss.backward() => :: The loss is divided by the number of batches. Each batch has its own step here, and its loss counts in full.
        optimizer.zero_grad() => optimizer = torch.optim.SGD(model.parameters(), lr=0.1) :: You make a new optimizer. Use the one that is passed in, and clear the gradients.
        cross_entropy(model(x), y) => torch.nn.functional.nll_loss(model(x), y) :: `nll_loss` expects *logarithms* of probabilities. `cross_entropy` takes the scores as they are.
        """),
    exercise(r"""
        17.3 a saliency map
        solution: saliency
        probe: _asked
        why: One loss and one pass, with the picture as the only input that asks for a gradient. `abs()` keeps the size, and `reshape(8, 8)` turns it into a picture.
        shows: The lesson's map, for any picture and any model.
        look: The loss, its gradient with respect to `x`, its size, and 8 × 8. Which of the four is not there yet?
        hint: The loss is the same as in the lesson: `cross_entropy` of the scores of `x`.
        hint: `g` has the shape of `x`, `(1, 1, 8, 8)`. Drop the sign and make it 8 × 8.
        hint: `return g.abs().reshape(8, 8)`

        picture.clone().requires_grad_() => picture.requires_grad_() :: `picture` itself asks for a gradient now
        loss = cross_entropy(model(x), label) => scores = model(x) ;; loss, => cross_entropy(scores, scores.argmax(1)), :: That treats the network's own answer as the truth. Use `label`.
        model(picture)                             :: Those are the scores. No gradient has been computed.
        picture.reshape(8, 8)                      :: That is the picture. How much the loss moves with each pixel is its *gradient*.
        cross_entropy(model(x), label) => model(x).sum() :: That is the gradient of the sum of all scores. `label` is not in it.
        saliency(model, picture, label) * picture.reshape(8, 8) :: That multiplies by the picture itself: a pixel without ink would never matter.
        cross_entropy(model(x), label) => model(x) :: Ten scores are not a loss, and a pass begins at one number. `cross_entropy` turns them and `label` into one number.
        model.eval(); return saliency(model, picture, label) :: `model` is left in eval mode
        cross_entropy(model(x), label) => model(x).max() :: That is the gradient of the largest *score*. The loss depends on all ten, and on `label`.
        -saliency(model, picture, label)           :: A size is never negative: leave out the minus.
        instead of g.abs().reshape(8, 8):
        g.clamp(min=0).reshape(8, 8)            :: The negative entries are cut off. They matter just as much: take the size, `abs()`.
        g.abs().reshape(8, 8).T                 :: The picture is transposed: rows and columns are swapped.
        (g.abs() / g.abs().max()).reshape(8, 8) :: You divide by the largest entry. That would do for a drawing; here you need the sizes themselves.
        g.reshape(8, 8)                         :: The sign is still there. You need the *size*: `abs()`.
        g.abs()                                 :: The sizes are right, but the shape is not: `reshape(8, 8)`.
        (g * g).reshape(8, 8)                   :: That is the square. Strong pixels become far too strong.
        g.abs().sum()                           :: One number for the whole picture. You need one for each pixel.
        g.sign().reshape(8, 8)                  :: That is only the sign. You need the size.
        cross_entropy(model(x), label) => model(x)[0, label[0]] :: That is the gradient of one *score*. The loss depends on all ten.
        cross_entropy(model(x), label) => torch.softmax(model(x), 1)[0, label[0]] :: That is the gradient of a *probability*. The loss is $-\log$ of it.
        g.abs().reshape(8, 8).flip(0)           :: The picture is upside down: leave the rows in their order.
        g.abs().reshape(8, 8) / g.abs().sum()   :: You divide by their sum. Here you need the sizes themselves.
        g.abs().sum(0)                          :: The first axis is gone, the second is still there. Make it 8 × 8: `reshape(8, 8)`.
        """),
    exercise(r"""
        17.4 fool it
        solution: fool
        probe: lambda fool: _asked(fool, (0.1, 0.03))
        otherwise: _of_steps
        why: `g.sign()` is $+1$ or $-1$ for each pixel (0 where the slope is 0), the direction in which the loss grows. `eps` times that is added to the picture, and `clamp` keeps it a picture.
        shows: It is the gradient of the saliency map again, but now you take a step along it.
        look: Each pixel moves by `eps`, up or down, in the direction in which the loss grows, and the result is between 0 and 1. Is that true of yours?
        hint: The formula is above the picture of the fooled digit.
        hint: `g.sign()` is 1, 0 or −1 for each pixel.
        hint: `return (picture + eps * g.sign()).clamp(0, 1)`

        cross_entropy(model(x), label) => model(x).sum() :: You climb the sum of all scores. `label` is not in it: climb the loss.
        eps * g.sign() => eps + g.sign() :: `eps` is added to the signs. Multiply: each pixel moves by `eps`.
        picture + eps * g.sign() => picture * eps * g.sign() :: If you multiply, white paper stays white. Add the step.
        picture.clone().requires_grad_() => picture.requires_grad_() ;; (picture + eps => (picture.detach() + eps :: `picture` itself asks for a gradient now
        return (picture + eps * g.sign()).clamp(0, 1) => picture += eps * g.sign(); return picture.clamp(0, 1) :: `picture` itself has been changed

        cross_entropy(model(picture), label).backward()
        with torch.no_grad():
            for p in model.parameters():
                p += eps * p.grad.sign()
        return picture :: The weights of the model have changed

        return picture :: That is the picture, unchanged. Take a step of size `eps` along the sign of the gradient.
        x = picture.clone() => model.eval(); x = picture.clone() :: `model` is left in eval mode

        instead of (picture + eps * g.sign()).clamp(0, 1):
        (picture + eps * (g > 0)).clamp(0, 1)        :: Pixels with a positive slope go up, and the others stay. Those should go down: `sign()` is $+1$ or $-1$.
        (picture + eps * g / g.abs().max()).clamp(0, 1) :: Only the pixel with the largest slope moves by `eps`. All of them should: take the sign.
        .clamp(0, 1) => :: Some pixels are now whiter than paper or blacker than ink, below 0 or above 1. Limit them: `.clamp(0, 1)`.
        picture + eps * g.sign().clamp(0, 1)         :: You clamp the *signs*, so no pixel goes down. Clamp the sum.
        (picture + eps * g.sign()).clamp(min=0)      :: Ink ends at 1: cut off at the top as well.
        (picture + eps * g.sign()).clamp(max=1)      :: Paper is 0: cut off at the bottom as well.
        picture + => picture - :: Against the gradient the loss *falls*: that helps the network.
        g.sign() => g :: Without the sign, pixels with a small slope hardly move. Each should move by `eps`.
        eps * => :: `eps` is missing: each pixel has moved by 1.
        eps * g.sign()                               :: That is the step. Add it to the picture.
        g.sign() => g.abs() :: The sizes give no direction: with `abs()` every pixel gets darker.
        (picture + eps * g / g.norm()).clamp(0, 1)   :: Then the step as a whole has the length `eps`. *Each pixel* should move by `eps`.
        (picture + eps).clamp(0, 1)                  :: Every pixel gets darker by the same amount: the gradient is not in it.
        (picture * (1 + eps * g.sign())).clamp(0, 1) :: If you multiply, white paper stays white. Add the step.
        (picture + eps * g.sign()).abs()             :: `abs` flips a pixel below 0 instead of cutting it off at 0, and leaves what is above 1 as it is.
        torch.sigmoid(picture + eps * g.sign())      :: A sigmoid changes every pixel. Cut off only what is below 0 or above 1: `clamp`.
        (picture - eps * g.abs()).clamp(0, 1)        :: The sizes give no direction: with `- abs()` every pixel gets lighter.
        g.sign()                                     :: That is the direction alone. Take a step of size `eps` along it, from `picture`.
        (picture + 0.1 * g.sign()).clamp(0, 1)       :: 0.1 is the size in one call. Use `eps`.
        (picture - eps * g).clamp(0, 1)              :: Two things: the step goes the wrong way, and it is not the same for all pixels. `+ eps * g.sign()`.
        (picture + 2 * eps * g.sign()).clamp(0, 1)   :: Each pixel moves by twice `eps`. It should move by `eps`.
        """),
    exercise(r"""
        17.5 a length for each sample
        solution: gradient_lengths
        probe: _lengths
        otherwise: _of_lengths
        why: All gradients of a sample laid end to end are one long vector. Its length is the root of the sum of all squares, over all tensors.
        shows: One number for each sample: how hard it pulls. Lesson 16 gets all of them in one pass, without a loop.
        look: The length of one long vector: square, add up over *all* weights, and then one root. Is it done for each sample on its own?
        hint: `grads` is a tuple, one tensor for each weight tensor. Imagine them all laid end to end: one long vector.
        hint: Its length: the root of the sum of the squares of *all* entries.
        hint: `sum((g * g).sum() for g in grads).sqrt()`

        x[i : i + 1]), y[i : i + 1] => x[: i + 1]), y[: i + 1] :: `[: i + 1]` are all samples up to this one. One sample is `[i : i + 1]`.
        grads = torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters()))
        return torch.stack([sum((g * g).sum() for g in grads).sqrt()] * len(x)) :: That is the length of the *batch's* gradient, the same for every sample. Each sample has its own loss.

        grads = torch.autograd.grad(loss, list(model.parameters())) => loss.backward(); grads = [p.grad for p in model.parameters()] :: `backward()` adds up in `.grad`: each length contains the samples before it.
        len(x) => 4 :: 4 is the number of samples in one call. Go through all of them: `range(len(x))`.
        grads = torch.autograd.grad(loss, list(model.parameters())) => model.zero_grad(); loss.backward(); grads = [p.grad for p in model.parameters()] :: Your function leaves a gradient in `model.0.weight.grad`

        instead of sum((g * g).sum() for g in grads).sqrt():
        sum(g.norm() for g in grads).sqrt()            :: That is the root of the sum of *lengths*. Square each entry, add, and then one root.
        sum(g.sum() ** 2 for g in grads).sqrt()        :: You add first and then square: entries of opposite sign cancel. Square each entry first.
        sum((g * g).sum() for g in grads)              :: The root is missing: that is the square of the length.
        sum((g * g).sum() for g in grads) ** 2         :: You square once more. The length is the *root* of the sum: `** 0.5`.
        sum(g.norm() for g in grads)                   :: Lengths of parts do not add up to the length of the whole: squares do.
        sum(g.abs().sum() for g in grads)              :: That is the sum of the absolute values. For the length, square the entries, add them up and take the root.
        sum(g.sum() for g in grads)                    :: Plus and minus cancel in that sum. Square first.
        grads[0].norm()                                :: Only the first weight tensor. You need all of them together.
        grads[-1].norm()                               :: Only the last bias. You need all weights together.
        sum((g * g).mean() for g in grads).sqrt()      :: With a mean over the entries, large tensors count as little as small ones. Add the squares.
        torch.stack([g.norm() for g in grads]).max()   :: That is the longest of the parts. You need all of them together.
        _losses                                        :: Those are the losses themselves. You need the length of the *gradient* of each.
        sum(g.square().sum() for g in grads).sqrt().item() :: The number is right, but `torch.stack` takes tensors: leave out the `.item()`.
        torch.cat(grads).norm()                        :: The weights have different shapes, so they cannot be laid end to end as they are: `flatten()` each of them first.
        torch.stack([g.norm() for g in grads]).mean()  :: That is a mean of the lengths of parts. Squares add up to the square of the whole length.
        sum((g * g).sum() for g in grads[:4]).sqrt()   :: Only the first four tensors are counted. A model may have more of them: take all of `grads`.
        sum((g * g).sum() for g in grads).sqrt() / len(grads) :: You divide by the number of tensors. A length involves no division.
        grads[0].sum()                                 :: That adds up the entries of the first tensor. All of them count, squared: add the squares, and take the root.
        sum(abs(g).max() for g in grads)               :: Those are the largest entries of the tensors. For the length, square *every* entry, add them all up, and take one root.
        """),
    exercise(r"""
        17.6 make it a 9
        solution: forge
        probe: _forged
        otherwise: _of_steps
        why: The loss of `target` should fall, so the step goes *against* its gradient, as in training; only the leaf is different. The gradient is computed again after each step, since it changes with the picture.
        shows: The same loop as in training. There the weights learn, here the picture does.
        look: In each step: the loss of `target`, its gradient at the picture *as it is now*, and a step of `eps` against its sign, clamped to the range from 0 to 1.
        hint: Which label belongs in the loss, if the picture should become a `target`?
        hint: The loss should *fall*: plus or minus?
        hint: `loss = cross_entropy(model(x), target)` and `x = (x - eps * g.sign()).clamp(0, 1)`

        .clamp(0, 1) => .clamp(min=0) :: Ink ends at 1: cut off at the top as well.
        x - => x + :: The picture is driven *away* from `target`: its loss grows with each step. Step against the gradient of `cross_entropy`, with no minus in the loss.
        .clamp(0, 1) => :: Some pixels are now below 0 or above 1. Limit them in each step: `.clamp(0, 1)`.
        g.sign() => g :: Without the sign, pixels with a small slope hardly move. Each should move by `eps`.
        x - => picture - :: Each step begins at `picture` again, so only the last one counts. Begin at `x`.
        x = (x - eps * g.sign()).clamp(0, 1) => x = (x - eps * steps * g.sign()).clamp(0, 1) :: Each step has the size `eps`. You multiply it by the number of steps.
        x = (x - eps * g.sign()).clamp(0, 1) => x = (x - eps / steps * g.sign()).clamp(0, 1) :: Each step has the size `eps`. You divide it among the steps.
        eps * => :: `eps` is missing: each pixel moves by 1.
        g.sign() => g.abs() :: The sizes give no direction: with `abs()` every pixel gets lighter.
        x = (x - eps * g.sign()).clamp(0, 1) => x = (x - 0.1 * g.sign()).clamp(0, 1) :: 0.1 is the size in one call. Use `eps`.
        x = (x - eps * g.sign()).clamp(0, 1) => x = (-eps * g.sign()).clamp(0, 1) :: That is the step alone. Subtract it from `x`.
        x = (x - eps * g.sign()).clamp(0, 1) => x = (x - eps * g.sign() / g.norm()).clamp(0, 1) :: You divide by the length of the gradient, so the pixels do not move by `eps`.
        cross_entropy(model(x), target) => cross_entropy(model(x), model(x).argmax(1)) :: That is the loss of what the network says now: the picture becomes more of what it is. Use `target`.
        cross_entropy(model(x), target) => cross_entropy(model(picture), target) :: The loss is that of the first picture, and `x` is not in it.
        cross_entropy(model(x), target) => model(x)[0, target[0]] :: That is the *score* of `target`, and you go down: the picture is driven away from it. Use the loss, `cross_entropy`.
        cross_entropy(model(x), target) => model(x).sum() :: That is the sum of all scores. `target` is not in it.
        range(steps): => range(steps + 1): :: One step too many: `range(steps)`.
        range(steps): => range(3): :: 3 is the number of steps in one call. Use `steps`.
        return x.detach() => >> return x.detach() :: Only the first step counts: a `return` inside the loop ends it, or each step begins at `picture` again.
        return x.detach() => return picture :: That is the picture, unchanged. Return the last one, `x`.
        x = (x - eps * g.sign()).clamp(0, 1) => x = x - (eps * g.sign()).clamp(0, 1) :: You clamp the *step*, so no pixel gets darker. Clamp the result.
        return x.detach() => return x :: it still carries its whole history
        """),
]
