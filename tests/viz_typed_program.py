"""What users of viz write, as a type checker reads it, and wrong calls that it refuses; `make lint` runs `mypy --strict` on it.

Each `type: ignore` names the error that is expected on its line: one that is not there fails, too.
"""

from __future__ import annotations

from pathlib import Path

import graphviz

import minigrad as torch
import viz
from minigrad import Tensor, nn
from viz.films.findings import Finding
from viz.show.costs import Cost
from viz.show.explorer import Explore
from viz.show.failed import Failed
from viz.show.stepper import Stepper

model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def forward(x: Tensor) -> Tensor:
    y: Tensor = model(x)
    return (y * y).mean()


def pictures(x: Tensor, folder: Path) -> list[Path]:
    loss = forward(x)
    drawing = viz.draw(loss, view="functions", direction="LR", fold=1, names=model)
    viz.draw([loss, x.sum()], fold=lambda module: module is not model, names={"loss": loss}, saved=True)
    viz.draw(loss, x.sum(), fold=nn.Linear, names=model.named_parameters(), forward=[x], seconds=2)
    source: graphviz.Digraph = drawing.dot
    text: str = drawing.svg + repr(source) + str(viz.to_networkx(loss, names={loss: "loss"}))
    opened: Path | None = drawing.show()
    print(len(text), opened)
    return [drawing.save(folder / "loss.svg"), drawing.save(str(folder / "loss.png"))]


def passes(x: Tensor) -> str:
    with viz.record() as recording:
        loss = forward(x)
    found: Failed | None = viz.failure()
    trace: viz.Trace = viz.trace(loss, gradient=torch.ones(()), retain_graph=True, check=True)
    assert len(viz.trace(forward(x), inputs=[x])) < len(trace)
    first: viz.Step = trace[0]
    last: list[viz.Step] = trace[-2:]
    grads = [value.short() for value in trace.leaves.values() if value is not None]
    names: list[str] = [step.name for step in trace] + [step.tensor for step in last]
    stepper: Stepper = viz.step(loss, forward=True, ask="gradients", given=1, insist=True, names={"x": x})
    stepper.step = stepper.last
    answered: list[dict[str, object]] = stepper.answers
    compared: viz.Comparison = viz.compare(trace, forward(x), labels=("mine", "yours"), tolerance=1e-6)
    other = viz.compare([trace, trace])
    print(
        viz.beside(trace, forward(x), labels=["a", "b"]), answered, other.first, recording.operations, found
    )
    return f"{first.total} {grads} {names} {compared.sentence}"


def spent(x: Tensor) -> float:
    costs: viz.Costs = viz.costs(viz.trace(forward(x)))
    most: Cost = max(costs.modules, key=lambda cost: cost.kept)
    costs.draw(by="backward", fold=False).save("costs.svg")
    return costs.total.backward or float(most.kept)


def train(x: Tensor) -> list[Finding]:
    film: viz.Film = viz.film(every=5, keep=[0, 10], names=dict(model.named_parameters()), title="run")
    for _ in range(10):
        film.backward(forward(x), retain_graph=False)
    film.save("film.html", title="another")
    return film.findings


def product(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).sum()


def sliders() -> Explore:
    shown: bool = viz.widgets(False) or viz.widgets("auto")
    explored = viz.explore(product, {"x": [1.0, 2.0]}, w=3.0, view="cards" if shown else None)
    explored.set(w=2.0)
    explored.cut(*explored.edges[:1])
    explored.join()
    return explored


def wrong(x: Tensor, loss: Tensor) -> None:
    viz.draw(3)  # type: ignore[arg-type]
    viz.draw(loss, fold=1.5)  # type: ignore[arg-type]
    viz.draw(loss, names="loss")  # type: ignore[arg-type]
    viz.draw(loss, rankdir="LR")  # type: ignore[call-arg]
    viz.trace(loss, gradient=1.0)  # type: ignore[arg-type]
    viz.trace(loss, inputs="x")  # type: ignore[arg-type]
    viz.step(loss.item())  # type: ignore[arg-type]
    viz.step(loss, ask=True)  # type: ignore[arg-type]
    viz.step(loss).save(3)  # type: ignore[arg-type]
    viz.compare(loss, 1.0)  # type: ignore[arg-type]
    viz.costs("loss")  # type: ignore[arg-type]
    viz.to_networkx(None)  # type: ignore[arg-type]
    viz.film(every=0.5)  # type: ignore[arg-type]
    viz.film().backward(0.1)  # type: ignore[arg-type]
    viz.explore(3, x=1.0)  # type: ignore[arg-type]
    viz.explore(lambda x: 2.0, x=1.0)  # type: ignore[arg-type, return-value]
    viz.record("loss")  # type: ignore[call-arg]
    viz.trace(loss).of(0)  # type: ignore[arg-type]
    viz.frobnicate(loss)  # type: ignore[attr-defined]
