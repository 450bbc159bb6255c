"""PyTorch's own inputs for its modules and optimizers, as programs for both engines.

Beside its table of operations (tests/pytorch_samples.py) PyTorch ships one of modules, with constructor and forward
arguments, and one of optimizers, with keyword arguments; of both also what must raise. To see what differs:

    python -m tests.pytorch_modules BatchNorm LSTM$ Adam     names that begin so (or are so: $); all if none is given
    python -m tests.pytorch_modules 20 Conv                  at most 20 differences of each
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from tests.oracle import Program, differences, run
from tests.pytorch_samples import Report, asked_for, converted, is_rounding, roughly, shown

# What is done with a module. `_adopt` gives it the weights that PyTorch's has; a lazy one has them after its first call.
MODULE = """
m = torch.nn.NAME(*args, **kwargs).to(torch.float64)
LAZY_CALL
_adopt(m)
m.train(TRAINING)
y = m(*inputs, **options)
outs = [t for t in _parts(y) if t.requires_grad]
if outs: torch.autograd.backward(outs, _weights(outs))
state = m.state_dict()
"""
# What is done with an optimizer: four steps down a bowl; the last parameter never gets a gradient.
OPTIMIZER = """
if params is None: params = [torch.nn.Parameter(torch.tensor(a)) for a in _starts]
optimizer = torch.optim.NAME(params, **kwargs)
repr(optimizer)
def closure():
    optimizer.zero_grad()
    loss = (params[0] ** 2).sum() + ((params[1] - 1) ** 2).sum() * (params[2] ** 2 + 1)
    loss.backward()
    return loss
losses = [optimizer.step(closure) for _ in range(4)]
state = optimizer.state_dict()
"""
# How far numbers may differ, where it is more than a few roundings, and why.
ROUGH = {"LBFGS": (1e-6, "eighty moves, each made from the differences of the gradients before")}
STARTS = [np.linspace(-1, 2, 6).reshape(2, 3), np.array([0.5, 3.0]), np.array(0.7), np.zeros(3)]


def modules() -> dict[str, Any]:
    """The modules of PyTorch's table that minigrad has, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_modules import module_db
    named = {info.module_cls.__name__: info for info in module_db}
    return {name: info for name, info in named.items() if hasattr(minigrad.nn, name)}


def optimizers() -> dict[str, Any]:
    """The optimizers of PyTorch's table that minigrad has, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_optimizers import optim_db
    named = {info.optim_cls.__name__: info for info in optim_db}
    return {name: info for name, info in named.items() if hasattr(minigrad.optim, name)}


def module_samples(info: Any, training: bool) -> Iterator[Any]:
    """PyTorch's inputs for a module, and after them what must raise."""
    import torch

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from info.module_inputs_func(info, "cpu", torch.float64, True, training)
        if info.module_error_inputs_func is not None:
            for error in info.module_error_inputs_func(info, "cpu", torch.float64, True, training):
                yield error.module_error_input


def optimizer_samples(info: Any) -> Iterator[Any]:
    """PyTorch's keyword arguments (and in what must raise: parameters) for an optimizer."""
    import torch

    torch.manual_seed(0)
    yield from info.optim_inputs_func("cpu")
    for error in info.optim_error_inputs_func("cpu", torch.float64):
        yield error.optimizer_error_input


def parts(value: Any) -> list[Any]:
    """The tensors among results."""
    if isinstance(value, list | tuple):
        return [t for v in value for t in parts(v)]
    return [value] if hasattr(value, "requires_grad") else []


def compared(program: Program, given: dict[str, Any]) -> list[str]:
    """What differs between the engines when they run the program with these inputs of PyTorch's."""
    import torch

    weights: dict[str, np.ndarray] = {}  # of PyTorch's module, which runs first
    transcripts = []
    for module in (torch, minigrad):

        def adopt(m: Any, module=module) -> None:
            if module is torch:
                weights.update({k: v.detach().numpy().copy() for k, v in m.state_dict().items()})
            else:
                m.load_state_dict({k: module.tensor(v) for k, v in weights.items()})

        def linear(tensors: list[Any], module=module) -> list[Any]:
            numbers = [np.linspace(0.5, 1.5, t.numel()).reshape(tuple(t.shape)) for t in tensors]
            return [module.tensor(n, dtype=t.dtype) for n, t in zip(numbers, tensors, strict=True)]

        helpers = {"_adopt": adopt, "_parts": parts, "_weights": linear, "_starts": STARTS}
        transcripts.append(run(module, program, **converted(given, module), **helpers))
    expected, got = transcripts
    if program.name in ROUGH:
        expected = roughly(expected, ROUGH[program.name][0])
    return [text for text in differences(expected, got) if not is_rounding(text)]


def compare_module(name: str, sample: Any, training: bool = True) -> list[str]:
    """What differs for one input of a module: its printed form, results, gradients, state, warnings and errors."""
    call = "m(*inputs, **options)" if name.startswith("Lazy") else "pass"
    source = (
        MODULE.strip().replace("NAME", name).replace("LAZY_CALL", call).replace("TRAINING", str(training))
    )
    built, called = sample.constructor_input, sample.forward_input
    given = {"args": built.args, "kwargs": built.kwargs}
    given |= {"inputs": called.args if called else (), "options": called.kwargs if called else {}}
    return compared(Program(f"{name}/{training}", source + "\n"), given)


def compare_optimizer(name: str, sample: Any) -> list[str]:
    """What differs for one set of keyword arguments of an optimizer: parameters, losses, state, warnings and errors."""
    source = OPTIMIZER.strip().replace("NAME", name) + "\n"
    return compared(Program(name, source), {"params": sample.params, "kwargs": sample.kwargs})


def main(words: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    report = Report(next((int(w) for w in words if w.isdigit()), 3))
    words = [w for w in words if not w.isdigit()]
    jobs = [(name, info, training) for name, info in modules().items() for training in (True, False)]
    jobs += [(name, info, None) for name, info in optimizers().items()]
    for name, info, training in jobs:
        if not asked_for(words, name, name):
            continue
        for number, sample in enumerate(
            optimizer_samples(info) if training is None else module_samples(info, training)
        ):
            if training is None:
                given = (sample.params, sample.kwargs)
                compare = functools.partial(compare_optimizer, name, sample)
            else:
                calls = (sample.constructor_input, sample.forward_input)
                given = tuple(call and (call.args, call.kwargs) for call in calls)
                compare = functools.partial(compare_module, name, sample, training)
            mode = {None: "", True: " training", False: " evaluating"}[training]
            report.compared(f"{name}{mode} #{number}: {shown(given)}", compare, lines=4)
        report.ended(name)
    print(dict(report.counts))


if __name__ == "__main__":
    main(sys.argv[1:])
