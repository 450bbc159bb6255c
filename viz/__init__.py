"""See autograd work: draw a live ``grad_fn`` graph, record a backward pass, step through it.

    viz.draw(z)         the graph as a picture
    viz.trace(z)        the backward pass as a list of steps
    viz.step(z)         the backward pass to walk through
    viz.explore(f, x=2) sliders on the leaves of a function, edges that can be cut; values and gradients follow
    viz.compare(a, b)   two passes side by side, the first difference marked
    viz.beside(a, b)    the same as two steppers that move together
    viz.film(every=5)   a training run: film.backward(loss) instead of loss.backward()
    viz.costs(z)        what each node and module keeps for the backward pass, and how long it takes
    viz.to_networkx(z)  the graph for networkx
    viz.record()        a ``with`` block whose forward values, names and lines are recorded
    viz.widgets(False)  no live widgets, only frames that step offline: for exported notebooks (or VIZ_WIDGETS=0)
    viz.failure()       what failed in the last pass that raised, and a picture of what was computed until then

Works on every tensor whose graph follows the protocol described in ``viz.read.graph``, PyTorch's included.

How a number gets onto an arrow: a hook in run/trace.py copies what each node sends (``_Recorder``), show/payload.py
writes it into the step under the edge's own name (``_step``), show/front/timeline.js finds it by edge and step
(``sentAlong``), and show/front/painting.js writes it on the arrow (``label``).
"""

import importlib
from typing import TYPE_CHECKING, Any

from .films.film import Film, film
from .picture.draw import Drawing, draw
from .read.record import Recording, record
from .run.compare import Comparison, compare
from .run.steps import Step, Trace
from .run.trace import ON_FAILURE, trace
from .show import failed
from .show.costs import Costs, costs
from .show.export import to_networkx
from .show.failed import failure
from .show.live import widgets

__all__ = ["Comparison", "Costs", "Drawing", "Film", "Recording", "Step", "Trace"]
__all__ += ["beside", "compare", "costs", "draw", "explore", "failure", "film", "record", "step"]
__all__ += ["to_networkx", "trace", "widgets"]
__dir__ = __all__.copy  # the names that completion shows
Recording.explain = staticmethod(failed.of_recording)
ON_FAILURE.append(failed.of_pass)

LATER = {"step": "show.stepper", "explore": "show.explorer", "beside": "show.side_by_side"}  # with widgets
if TYPE_CHECKING:
    from .show.explorer import explore
    from .show.side_by_side import beside
    from .show.stepper import step
else:

    def __getattr__(name: str) -> Any:
        if name in LATER:
            globals()[name] = getattr(importlib.import_module(f".{LATER[name]}", __name__), name)
            return globals()[name]
        raise AttributeError(f"module 'viz' has no attribute {name!r}")
