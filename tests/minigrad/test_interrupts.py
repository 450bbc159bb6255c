"""Ctrl+C leaves no mode on, whenever it is pressed: not even while a mode is being entered or left.

CPython looks for signals when a function begins, after a call of compiled code and before a jump back. At each of these
moments, in all the code of minigrad that runs, KeyboardInterrupt is raised once. Two moments cannot be guarded by Python code:
the first one of an `__exit__` called by `with`; and the one between making `set_grad_enabled(False)`, which takes effect at
once, and entering its `with` block.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import pytest

import minigrad as torch
from minigrad.autograd import forward_ad, modes
from minigrad.autograd.graph import save_on_cpu, saved_tensors_hooks
from minigrad.utils.checkpoint import checkpoint

HOME = str(Path(torch.__file__).parent)


@cache
def moments(code: CodeType) -> frozenset[int]:
    """The offsets of the instructions before which CPython has looked for signals: after calls and jumps back.

    An exception raised then belongs to the call, so the instruction must be guarded by the same `try` as the call.
    """
    listing = dis.Bytecode(code)

    def guard(offset: int) -> list[int]:
        return [entry.target for entry in listing.exception_entries if entry.start <= offset < entry.end]

    found, previous = set(), None
    for instruction in listing:
        looked = previous is not None and previous.opname.startswith(("CALL", "JUMP_BACKWARD"))
        if looked and guard(previous.offset) == guard(instruction.offset):
            found.add(instruction.offset)
        previous = instruction
    return frozenset(found)


def interrupted(run: Callable[[], object], number: int) -> bool:
    """Run with a KeyboardInterrupt at the moment with this number. Returns whether there was one."""
    count, returned_to = -1, None

    def moment() -> None:
        nonlocal count
        count += 1
        if count == number:
            raise KeyboardInterrupt

    def trace(frame: FrameType, event: str, arg: object) -> Callable | None:
        nonlocal returned_to
        code = frame.f_code
        if not code.co_filename.startswith(HOME):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        returned_to = None
        if code.co_name != "__exit__" or frame.f_back.f_code.co_name == "__exit__":  # else by `with`
            moment()
        looked = moments(code)  # computed once per call: looking up code in a cache takes long

        def inside(frame: FrameType, event: str, arg: object) -> Callable:
            nonlocal returned_to
            here = event == "opcode" and frame.f_lasti in looked and returned_to is not frame
            returned_to = frame.f_back if event == "return" else None  # CPython does not check there
            if here:
                moment()
            return inside

        return inside

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def state() -> tuple:
    """All modes of this thread, and the state shared by all threads."""
    return modes.local.modes, modes.anomaly.state


def entered(make: Callable) -> Callable[[], None]:
    def run() -> None:
        with make():
            pass

    return run


def called(function: Callable) -> Callable[[], object]:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return lambda: function(x)


def identity(x: torch.Tensor) -> torch.Tensor:
    return x


def backward(y: torch.Tensor, **options: bool) -> None:
    if y.requires_grad:
        torch.autograd.grad(y.sum(), y, **options)


def decorated(mode: Callable) -> Callable:
    return mode()(lambda: None)


MODES = {
    "no_grad": entered(torch.no_grad),
    "enable_grad": entered(torch.enable_grad),
    "inference_mode": entered(torch.inference_mode),
    "inference_mode(False)": entered(lambda: torch.inference_mode(False)),
    "saved_tensors_hooks": entered(lambda: saved_tensors_hooks(identity, identity)),
    "save_on_cpu": entered(save_on_cpu),
    "dual_level": entered(forward_ad.dual_level),
    "detect_anomaly": entered(torch.autograd.detect_anomaly),
    "a function under no_grad": decorated(torch.no_grad),
    "a function under inference_mode": decorated(torch.inference_mode),
    "grad": called(torch.func.grad(lambda x: x.sum())),
    "vjp": called(lambda x: torch.func.vjp(identity, x)[1](x)),
    "jvp": called(lambda x: torch.func.jvp(identity, (x,), (x,))),
    "vmap": called(torch.func.vmap(identity)),
    "jacrev": called(torch.func.jacrev(identity)),
    "jacfwd": called(torch.func.jacfwd(identity)),
    "checkpoint": called(lambda x: checkpoint(torch.exp, x, use_reentrant=False)),
    "checkpoint, backward": called(lambda x: backward(checkpoint(torch.exp, x, use_reentrant=False))),
    "backward": called(lambda x: backward(x.exp())),
    "double backward": called(lambda x: backward(x.exp(), create_graph=True)),
    "functional.hessian": called(lambda x: torch.autograd.functional.hessian(lambda t: (t * t).sum(), x)),
    "functional_call": called(lambda x: torch.func.functional_call(torch.nn.Tanh(), {}, x.detach())),
    "an optimizer's step": called(lambda x: torch.optim.SGD([x], lr=0.1).step(lambda: x.sum())),
}


def outside() -> Iterator[object]:
    """Modes that may be on around the interrupted code."""
    yield from (torch.enable_grad, torch.no_grad, lambda: saved_tensors_hooks(identity, identity))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES)
def test_an_interrupt_leaves_no_mode_on(mode: str) -> None:
    run, left = MODES[mode], []
    run()  # a first run, for objects that are made only once
    for make in outside():
        with make():
            number, before = 0, state()
            while interrupted(run, number):
                if state() != before:
                    left.append(number)
                    modes.local.modes, modes.anomaly.state = before
                number += 1 if number < 150 else 7
            assert number > 2 and state() == before
    assert not left, f"after {len(left)} interrupts it is still on, the first at moment {left[0]}"
