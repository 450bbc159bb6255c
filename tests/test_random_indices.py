"""Random keys of every kind, mixed: reading, assigning and `index_put` do what they do in PyTorch.

A program is drawn from a seed: a tensor, perhaps a view of it or a view of a view, a key of integers, slices, None, `...`,
booleans, lists, ranges, tensors and arrays, some of which do not fit, and what is done with it. Values, errors, graphs,
gradients, versions, and which results are views of what, are compared.
"""

from __future__ import annotations

import random

import pytest

from tests.oracle import assert_same
from tests.test_expressions import transcripts

SHAPES = {
    "x": (3, 4),
    "y": (3, 4),
    "z": (2, 3, 4),
    "v": (4,),
    "i": (3, 4),
    "b2": (3, 4),
    "d": (3, 4),
    "s": (),
}
VIEWS = {
    "{}": lambda shape: shape,
    "{}[1:]": lambda shape: (shape[0] - 1, *shape[1:]),
    "{}.T": lambda shape: shape[::-1],
    "{}[None]": lambda shape: (1, *shape),
    "{}[1:][..., 1:]": lambda shape: (shape[0] - 1, *shape[1:-1], shape[-1] - 1 - (len(shape) == 1)),
    "{}.expand(2, *{}.shape)": lambda shape: (2, *shape),
}
VALUES = [
    "1",
    "2.5",
    "True",
    "s",
    "si",
    "v * 2",
    "x",
    "x[0]",
    "torch.ones(1)",
    "torch.ones(3)",
    "torch.zeros(2, 1)",
    "i",
]


class Draw(random.Random):
    """A random program."""

    def position(self, length: int) -> int:
        """One that exists, nearly always."""
        reach = length + (self.random() < 0.05)
        return self.randint(-reach, reach - 1) if reach else 0

    def slice(self) -> str:
        bound = ["", "", "0", "1", "-1", "2", "-2", "5", "-9", "None"]
        return f"{self.choice(bound)}:{self.choice(bound)}{self.choice(['', '', ':', ':1', ':2'])}"

    def entry(self, length: int) -> tuple[str, int]:
        """One part of a key, and of how many dimensions it speaks."""
        several = [self.position(length) for _ in range(self.choice([1, 2, 2, 3]))]
        mask = [self.random() < 0.6 for _ in range(length + (self.random() < 0.05))]
        kinds = {
            "int": str(several[0]), "int again": str(several[-1]), "slice": self.slice(), "slice again": self.slice(),
            "list": str(several), "tensor": f"torch.tensor({several})", "tuple": str(tuple(several)),
            "int32": f"torch.tensor({several}, dtype=torch.int32)", "matrix": f"torch.tensor([{several}, {several[::-1]}])",
            "nested": f"[{several}, {several[::-1]}]", "0-d": f"torch.tensor({several[0]})",
            "array": f"np.array({several})", "NumPy's int": f"np.int64({several[0]})", "range": f"range({length})",
            "mask": f"torch.tensor({mask}, dtype=torch.bool)", "array mask": f"np.array({mask}, dtype=bool)",
            "nothing": "torch.tensor([], dtype=torch.long)", "empty list": "[]",
            "None": "None", "...": "...", "bool": str(mask[:1] == [True]), "0-d bool": f"torch.tensor({mask[:1] == [True]})",
        }  # fmt: skip
        kind = self.choice(list(kinds))
        return kinds[kind], int(kind not in ("None", "...", "bool", "0-d bool"))

    def key(self, shape: tuple) -> str:
        lengths, entries = list(shape), []
        for _ in range(self.randint(1, len(shape) + 1)):
            length = lengths[0] if lengths else 1
            entry, used = self.entry(length)
            entries.append(":" if entry == "..." in entries else entry)
            del lengths[:used]
        return ", ".join(entries) + "," * (len(entries) == 1 and self.random() < 0.2)

    def program(self) -> str:
        name = self.choice(list(SHAPES))
        own = f"({name} * 1)" if name == "x" and self.random() < 0.7 else name
        view = self.choice(list(VIEWS)) if SHAPES[name] else "{}"
        key = self.key(VIEWS[view](SHAPES[name]))
        start = f"q = {view.format(own, name)}; "
        if self.random() < 0.5 and view != "{}.T":  # of which PyTorch's results lie in memory like it
            return f"{start}out = q[{key}]; out.sum().backward() if out.requires_grad else 0; x.grad"
        end = "; q; q.sum().backward() if q.requires_grad else 0; x.grad"
        if self.random() < 0.8:
            return f"{start}q[{key}] {self.choice(['=', '=', '+=', '*='])} {self.choice(VALUES)}{end}"
        form = self.choice(
            ["q.index_put((j,), {})", "q.index_put_((j[:1],), {}, accumulate=True)", "q.index_put_((j,), {})"]
        )
        return start + form.format(self.choice(["torch.tensor(2.)", "v", "torch.ones(3)", "x[0]", "s"])) + end  # fmt: skip


@pytest.mark.parametrize("seed", range(600))
def test_a_random_key_does_what_it_does_in_pytorch(torch, seed):
    program, expected, got = transcripts(torch, Draw(seed).program())
    for transcript in (expected, got):
        if "out of bounds" in str(
            transcript
        ):  # what PyTorch has written before it came to the wrong position
            del transcript["statements"][1:]
            transcript["variables"] = {}
    assert_same(program, expected, got)
