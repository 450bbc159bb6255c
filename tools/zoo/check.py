"""Run one model through everything that viz does, and compare each number of the pass with PyTorch's own hooks."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import viz
from tests.hook_oracle import seen_by_hooks
from viz.picture.layout import places
from viz.read.failure import message_of
from viz.run.steps import Trace

Make = Callable[[], tuple[Tensor, nn.Module]]


def check(name: str) -> dict[str, Any]:
    """Facts about one model: sizes, seconds, and in ``wrong`` a list of errors (empty if there are none)."""
    return _Check(_maker(name)).run() | {"name": name}


def _maker(name: str) -> Make:
    if "/" in name:
        from tools.zoo import transformers_models

        return lambda: transformers_models.make(name)
    from tools.zoo import losses

    return getattr(losses, name)


class _Check:
    def __init__(self, make: Make):
        self.make, self.wrong, self.facts = make, [], {}

    def again(self) -> tuple[Tensor, nn.Module]:
        """The same model and batch, built again."""
        torch.manual_seed(0)
        return self.make()

    def run(self) -> dict[str, Any]:
        steps = [self.by_hooks, self.draw, self.trace, self.record, self.step, self.film, self.costs]
        for step in steps:
            began = time.perf_counter()
            try:
                step()
            except Exception as error:
                self.wrong.append(f"{step.__name__}: {message_of(error)}")
            self.facts[f"{step.__name__} s"] = round(time.perf_counter() - began, 2)
        return self.facts | {"wrong": self.wrong}

    def by_hooks(self) -> None:
        loss, model = self.again()
        self.fired = seen_by_hooks(loss, {})
        self.grads = grads(model)
        self.facts |= {"nodes": len(self.fired), "parameters": sum(p.numel() for p in model.parameters())}

    def draw(self) -> None:
        loss, model = self.again()
        with self.timed("draw"):
            drawing = viz.draw(loss)
            drawing.svg  # noqa: B018
        at = places(drawing.picture)
        self.facts |= {"wide": round(at.width), "high": round(at.height), "boxes": len(drawing.picture.items)}
        if model.training and grads(model) != dict.fromkeys(self.grads):
            self.wrong.append("draw: it changed a gradient")

    def trace(self) -> None:
        loss, model = self.again()
        trace = viz.trace(loss)
        self.compare(trace, "trace")
        self.same_grads(model, "trace")

    def record(self) -> None:
        torch.manual_seed(0)
        with viz.record():
            loss, model = self.make()
        self.compare(viz.trace(loss), "record")
        self.same_grads(model, "record")

    def step(self) -> None:
        loss, model = self.again()
        with self.timed("step"):
            stepper = viz.step(loss)
        self.same_grads(model, "step")
        self.compare_payload(stepper.data)
        bad = [
            s["sentence"]
            for s in stepper.data["steps"]
            if s["wrong"] or not (s["check"] or {"ok": True})["ok"]
        ]
        self.wrong += [f"step: {sentence}" for sentence in bad[:3]]
        at_first = [(p["width"], p["height"]) for p in (stepper.data, *stepper.data["pictures"])]
        self.facts["pane"] = [round(n) for n in min(at_first)]
        with tempfile.TemporaryDirectory() as folder:
            page = stepper.save(Path(folder, "page.html"))
            self.facts["page kB"] = round(page.stat().st_size / 1000)

    def film(self) -> None:
        loss, model = self.again()
        film = viz.film()
        film.backward(loss)
        self.same_grads(model, "film")
        with tempfile.TemporaryDirectory() as folder:
            film.save(Path(folder, "film.html"))
        # a film does not keep a pass through a very large graph in full, and says so
        self.wrong += [f"film: {note}" for note in film.notes if "its graph has more than" not in note]

    def costs(self) -> None:
        loss, _ = self.again()
        self.facts["kept kB"] = round(viz.costs(loss).total.kept / 1000, 1)

    # -- comparisons

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self.facts[name] = round(time.process_time() - began, 2)

    def same_grads(self, model: nn.Module, where: str) -> None:
        mine = grads(model)
        different = [name for name in self.grads if not same(mine[name], self.grads[name])]
        self.wrong += [f"{where}: .grad of {', '.join(different[:3])} differs"] if different else []

    def compare(self, trace: Trace, where: str) -> None:
        """Compare the order of the nodes, and every number bit for bit."""
        names = [one.name.rsplit("::")[-1] for one in self.fired]
        if [step.name for step in trace] != names:
            self.wrong.append(f"{where}: the order of the nodes differs")
            return
        for step, one in zip(trace, self.fired, strict=True):
            mine = [v and v.array for v in step.totals] + [
                s.value and s.value.array for s in step.sent if s.reason is None
            ]
            told = one.receives + [g for s, g in zip(step.sent, one.sends, strict=False) if s.reason is None]
            if len(mine) != len(told) or not all(map(same, mine, told)):
                self.wrong.append(f"{where}: numbers of step {step.number} ({step.name}) differ")
                return

    def compare_payload(self, data: dict) -> None:
        for step, one in zip(data["steps"], self.fired, strict=True):
            for shown, array in zip(step["totals"] or [step["total"]], one.receives, strict=True):
                if not as_shown(shown, array):
                    self.wrong.append(f"step: what is shown of {step['name']} of {step['tensor']} differs")
                    return


def grads(model: nn.Module) -> dict[str, np.ndarray | None]:
    return {name: None if p.grad is None else p.grad.numpy().copy() for name, p in model.named_parameters()}


def same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def as_shown(shown: dict | None, array: np.ndarray | None) -> bool:
    if shown is None or array is None:
        return shown is array
    if array.dtype.kind == "c":
        return all(map(as_shown, shown["parts"], (array.real, array.imag)))
    if "values" in shown:
        told, true = shown["values"], array.ravel()
    else:
        told, true = [shown["min"], shown["max"]], [array.min(), array.max()]
    close = np.allclose(np.array(told, float), true, 1e-5, 1e-7, equal_nan=True)
    return shown["shape"] == list(array.shape) and close


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        print(json.dumps(check(name)), flush=True)
