"""The same seed gives PyTorch's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad

SEEDS = st.integers(0, 2**63 - 1)
SIZES = st.integers(0, 70) | st.sampled_from([256, 1000])

DRAWS = {
    "uniform": lambda torch, n: torch.rand(n),
    "uniform, double": lambda torch, n: torch.rand(n, dtype=torch.float64),
    "uniform in bounds": lambda torch, n: torch.empty(n).uniform_(-2, 3),
    "uniform in awkward bounds": lambda torch, n: torch.empty(n).uniform_(-0.3, 0.7),
    "normal": lambda torch, n: torch.randn(n),
    "normal, double": lambda torch, n: torch.randn(n, dtype=torch.float64),
    "normal with mean": lambda torch, n: torch.empty(n).normal_(1, 0.5),
    "integers": lambda torch, n: torch.randint(-3, 10, (n,)),
    "large integers": lambda torch, n: torch.randint(0, 2**50, (n,)),
    "permutation": lambda torch, n: torch.randperm(n),
    "coins of many kinds": lambda torch, n: torch.bernoulli(torch.linspace(0, 1, n)),
    "coins of one kind": lambda torch, n: torch.empty(n).bernoulli_(0.3),
    "coins, in place": lambda torch, n: torch.empty(n).bernoulli_(torch.linspace(0, 1, n)),
    "one of several": lambda torch, n: torch.multinomial(torch.linspace(0.1, 1, n + 2), 1),
    "several, put back": lambda torch, n: torch.multinomial(
        torch.linspace(0.1, 1, n + 2), 4, replacement=True
    ),
    "several of each row": lambda torch, n: torch.multinomial(
        torch.linspace(0.1, 1, 2 * n + 4).view(2, -1), 2, True
    ),
    "several different ones": lambda torch, n: torch.multinomial(torch.linspace(0.1, 1, n + 2), 2),
    "normal around": lambda torch, n: torch.normal(torch.linspace(0, 1, n), 0.5),
    "normal of many widths": lambda torch, n: torch.normal(1.0, torch.linspace(0, 1, n)),
    "exponential": lambda torch, n: torch.empty(n).exponential_(2.0),
    "geometric": lambda torch, n: torch.empty(n).geometric_(0.3),
    "Cauchy, normal": lambda torch, n: torch.empty(n).cauchy_(1, 2).atan(),
    "log-normal": lambda torch, n: torch.empty(n).log_normal_(0, 0.5),
    "integers like": lambda torch, n: torch.randint_like(torch.empty(n), 2, 7),
}


@given(seed=SEEDS, draws=st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), SIZES), min_size=1, max_size=6))
def test_any_sequence_of_draws_is_torchs(torch, seed, draws):
    torch.manual_seed(seed)
    minigrad.manual_seed(seed)
    for kind, size in draws:
        expected, got = (DRAWS[kind](module, size).numpy() for module in (torch, minigrad))
        assert expected.dtype == got.dtype
        # sixteen and more normal float32 numbers: PyTorch approximates sine and logarithm to a rounding or two
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 if "normal" in kind else 0)


def test_the_first_numbers_of_seed_0():
    minigrad.manual_seed(0)
    assert minigrad.randn(4).tolist() == pytest.approx([1.5410, -0.2934, -2.1788, 0.5684], abs=5e-5)
    minigrad.manual_seed(0)
    assert minigrad.rand(3).tolist() == pytest.approx([0.4963, 0.7682, 0.0885], abs=5e-5)
    minigrad.manual_seed(0)
    assert minigrad.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_a_state_brings_the_stream_back():
    minigrad.manual_seed(3)
    minigrad.randn(3)  # leaves one half of a pair over
    state = minigrad.get_rng_state()
    first = minigrad.randn(3).tolist(), minigrad.rand(2).tolist()
    minigrad.set_rng_state(state)
    assert (minigrad.randn(3).tolist(), minigrad.rand(2).tolist()) == first


def test_a_generator_does_not_touch_the_default_stream():
    minigrad.manual_seed(5)
    expected = minigrad.rand(2).tolist()
    minigrad.manual_seed(5)
    own = minigrad.Generator().manual_seed(5)
    assert minigrad.rand(2, generator=own).tolist() == expected
    assert minigrad.rand(2).tolist() == expected


def test_means_and_deviations():
    minigrad.manual_seed(1)
    normal, uniform = minigrad.randn(20_000).numpy(), minigrad.rand(20_000).numpy()
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03
    assert abs(uniform.mean() - 0.5) < 0.01
    assert 0 <= uniform.min() < uniform.max() < 1


def test_multinomial_follows_its_weights():
    minigrad.manual_seed(0)
    weights = minigrad.tensor([1.0, 0.0, 3.0])
    drawn = minigrad.multinomial(weights, 4000, replacement=True).numpy()
    assert set(drawn) == {0, 2}
    assert abs((drawn == 2).mean() - 0.75) < 0.03
    assert sorted(minigrad.multinomial(weights, 2).tolist()) == [0, 2]
    with pytest.raises(RuntimeError, match="cannot sample n_sample"):
        minigrad.multinomial(weights, 4)
