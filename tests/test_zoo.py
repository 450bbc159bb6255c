"""The zoo of `make zoo`: its models, and that the table in docs/ lists the same ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TABLE = Path(__file__).resolve().parent.parent / "docs" / "zoo.md"


def test_there_are_losses_and_architectures_of_all_kinds(torch):
    from tools.zoo import transformers_models
    from tools.zoo.losses import LOSSES

    names = transformers_models.names()
    assert len(LOSSES) >= 20 and len(names) >= 60 and len(set(names)) == len(names)
    tried = set(re.findall(r"^\| (?!model|---)([^|]+?) \|", TABLE.read_text(encoding="utf-8"), re.M))
    losses, architectures = (
        {make.__name__.replace("_", " ") for make in LOSSES},
        {n.partition("/")[2] for n in names},
    )
    assert tried <= losses | architectures
    assert len(tried & losses) >= 20 and len(tried & architectures) >= 60


@pytest.mark.parametrize("name", ["lora", "wgan_gradient_penalty"])
def test_a_model_that_is_right_has_nothing_wrong(torch, name):
    from tools.zoo.check import check

    found = check(name)
    assert found["wrong"] == [] and found["nodes"] > 10 and found["page kB"] > 40
    assert found["wide"] > 0 and found["kept kB"] > 0


def test_a_number_that_differs_is_found(torch, monkeypatch):
    from tools.zoo import check

    real = check.seen_by_hooks

    def off_by_little(result, leaves):
        fired = real(result, leaves)
        fired[2].receives[0] = fired[2].receives[0] * 1.01
        return fired

    monkeypatch.setattr(check, "seen_by_hooks", off_by_little)
    wrong = check.check("perceptron")["wrong"]
    assert any(line.startswith("trace: numbers of step 3") for line in wrong)
    assert any(line.startswith("step: what is shown of") for line in wrong)
