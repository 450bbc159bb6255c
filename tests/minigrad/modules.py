"""PyTorch's own inputs for its modules and optimizers, as programs for both engines.

Besides its table of operations (samples.py) PyTorch ships one of modules, with constructor and forward arguments, and one of
optimizers, with keyword arguments; both also list calls that must raise.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from tests.minigrad.oracle import Program, differences, run
from tests.minigrad.samples import NOT_OFFERED, Unsuitable, converted, errors, is_rounding

# What is done with a module. `_adopt` gives it the weights of PyTorch's module.
MODULE = """
m = torch.nn.NAME(*args, **kwargs).to(torch.float64)
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


def module_samples(info: Any, training: bool) -> Iterator[tuple[Any, bool]]:
    """PyTorch's inputs for a module, followed by those that must raise: (input, must it raise?)."""
    import torch

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = (info, "cpu", torch.float64, True, training)
        yield from ((sample, False) for sample in info.module_inputs_func(*given))
        if info.module_error_inputs_func is not None:
            yield from ((error.module_error_input, True) for error in info.module_error_inputs_func(*given))


def optimizer_samples(info: Any) -> Iterator[tuple[Any, bool]]:
    """PyTorch's keyword arguments (and, for calls that must raise, parameters) for an optimizer: (input, must it raise?)."""
    import torch

    torch.manual_seed(0)
    yield from ((sample, False) for sample in info.optim_inputs_func("cpu"))
    found = info.optim_error_inputs_func("cpu", torch.float64)
    yield from ((error.optimizer_error_input, True) for error in found)


def parts(value: Any) -> list[Any]:
    """The tensors among results."""
    if isinstance(value, list | tuple):
        return [t for v in value for t in parts(v)]
    return [value] if hasattr(value, "requires_grad") else []


def compared(program: Program, given: dict[str, Any], must_raise: bool) -> list[str]:
    """The differences between the engines when they run the program with these inputs from PyTorch. Raises Unsuitable."""
    import torch

    kept: dict[str, np.ndarray] = {}  # the weights of PyTorch's module, which runs first
    transcripts = []
    for module in (torch, minigrad):

        def adopt(m: Any, module=module) -> None:
            if module is torch:
                kept.update({k: v.detach().numpy().copy() for k, v in m.state_dict().items()})
            else:
                m.load_state_dict({k: module.tensor(v) for k, v in kept.items()})

        def weights(tensors: list[Any], module=module) -> list[Any]:
            numbers = [np.linspace(0.5, 1.5, t.numel()).reshape(tuple(t.shape)) for t in tensors]
            return [module.tensor(n, dtype=t.dtype) for n, t in zip(numbers, tensors, strict=True)]

        helpers = {"_adopt": adopt, "_parts": parts, "_weights": weights, "_starts": STARTS}
        transcripts.append(run(module, program, **converted(given, module), **helpers))
    theirs, ours = map(errors, transcripts)
    if must_raise:
        return [] if ours or not theirs else [f"is not refused, in PyTorch: {theirs}"]
    if NOT_OFFERED.search(ours) and not NOT_OFFERED.search(theirs):
        raise Unsuitable
    return [text for text in differences(*transcripts) if not is_rounding(text)]


def wanted(options: dict[str, Any], *takers: Any) -> dict[str, Any]:
    """The options, except those that minigrad does not take if they have PyTorch's default, such as bidirectional=False."""
    known = {name for taker in takers for name in inspect.signature(taker).parameters}
    return {n: v for n, v in options.items() if n in known or repr(v) not in ("False", "0", "None", "'tanh'")}


def compare_module(name: str, sample: Any, must_raise: bool, training: bool = True) -> list[str]:
    """What differs for one input of a module: its printed form, results, gradients, state, warnings and errors."""
    source = MODULE.strip().replace("NAME", name).replace("TRAINING", str(training)) + "\n"
    built, called = sample.constructor_input, sample.forward_input
    classes = getattr(minigrad.nn, name).__mro__
    given = {"args": built.args, "kwargs": wanted(built.kwargs, *[c.__init__ for c in classes])}
    given |= (
        {"inputs": called.args, "options": wanted(called.kwargs, classes[0].forward)}
        if called
        else {"inputs": (), "options": {}}
    )
    return compared(Program(f"{name}/{training}", source), given, must_raise)


def compare_optimizer(name: str, sample: Any, must_raise: bool) -> list[str]:
    """What differs for one set of keyword arguments of an optimizer: parameters, losses, state, warnings and errors."""
    source = OPTIMIZER.strip().replace("NAME", name) + "\n"
    return compared(Program(name, source), {"params": sample.params, "kwargs": sample.kwargs}, must_raise)
