"""Tries each cell of the table in README, on this machine: `python -m benchmarks.peers_table` (needs the extra `benchmarks`).

Prints, for each tool, what it did with one loss of a small PyTorch model, and raises AssertionError where the README would be
wrong. It judges the tools' public functions, as installed; a picture that a repository's notebook makes is not counted.
"""

from __future__ import annotations

import inspect
from importlib.metadata import version

import torch

import viz


def setting() -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    model, x = (
        torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)),
        torch.ones(2, 3),
    )
    return model, x, model(x).sum()


def public(module: object) -> str:
    """The public names of a module, joined."""
    return " ".join(name for name in dir(module) if not name.startswith("_")).lower()


def this() -> str:
    model, _, loss = setting()
    assert "Backward0" in str(viz.draw(loss, view="functions", fold=False).dot)
    trace = viz.trace(loss)
    gradients = [parameter.grad is not None for parameter in model.parameters()]
    assert all(gradients) and len(trace) > 5
    _, _, again = setting()
    assert viz.step(again, ask="gradients") is not None
    return f"draws the loss, stops at {len(trace)} nodes, asks for gradients"


def torchlens() -> str:
    import torchlens as lens

    model, x, loss = setting()
    trace = lens.trace(model, x)
    assert not trace.has_backward_pass
    try:
        lens.trace(loss)
        takes_a_loss = True
    except Exception:  # whatever it raises for a tensor
        takes_a_loss = False
    trace = (
        lens.trace(model, x, save_grads="all")
        if "save_grads" in inspect.signature(lens.trace).parameters
        else trace
    )
    trace.log_backward(trace[-1].out.sum() if hasattr(trace[-1], "out") else loss)
    assert not takes_a_loss and trace.has_backward_pass and hasattr(trace, "draw_backward")
    assert "step" not in public(lens).split()
    return f"{len(trace)} operations of a call; backward pass as data: {trace.num_backward_passes}"


def torchvista() -> str:
    import torchvista as vista

    parameters = list(inspect.signature(vista.trace_model).parameters)
    assert parameters[:2] == ["model", "inputs"]
    assert not any(
        "backward" in name or name.endswith("_grad") for name in [*parameters, *public(vista).split()]
    )
    return "takes a model and inputs; collapse_modules_after_depth opens and closes modules; nothing on the backward pass"


def torchviz() -> str:
    import torchviz as peer

    model, _, loss = setting()
    loss.backward(retain_graph=True)
    source = peer.make_dot(loss, params=dict(model.named_parameters())).source
    gradient = f"{model[0].weight.grad.flatten()[0].item():.4f}"
    assert "AddmmBackward0" in source and gradient not in source
    return "one picture of any loss; no gradients in it"


def micrograd() -> str:
    from micrograd import engine

    x = engine.Value(2.0)
    (x * x).backward()
    assert x.grad == 4 and "draw" not in public(engine)
    return f"scalars; engine.py has {len(inspect.getsource(engine).splitlines())} lines"


def autograd() -> str:
    import autograd as peer

    assert peer.grad(lambda x: x**2)(3.0) == 6.0
    assert not any(word in public(peer) for word in ("draw", "plot", "step"))
    return "gradients of NumPy functions; no pictures"


def main() -> None:
    for name, tried in (
        ("viz", this),
        ("torchlens", torchlens),
        ("torchvista", torchvista),
        ("torchviz", torchviz),
        ("micrograd", micrograd),
        ("autograd", autograd),
    ):
        release = version("see-autograd" if name == "viz" else name)
        print(f"{name} {release}: {tried()}")


if __name__ == "__main__":
    main()
