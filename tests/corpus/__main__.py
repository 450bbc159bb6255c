"""`python -m tests.corpus` records what PyTorch does with every program, in recorded.json."""

from __future__ import annotations

import json

import torch

from tests.corpus import CELLS, RECORDED
from tests.oracle import run, without_printed_tensors

torch.set_num_threads(1)
transcripts = ((cell.name, without_printed_tensors(run(torch, cell))) for cell in CELLS)
lines = (f"{json.dumps(name)}: {json.dumps(transcript)}" for name, transcript in transcripts)
RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
print(f"{len(CELLS)} programs recorded, {RECORDED.stat().st_size / 1e3:.0f} kB")
