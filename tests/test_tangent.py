"""The curve with two points that a slider moves: its numbers, its description, and the arguments it refuses."""

from __future__ import annotations

import pytest

from exercises.tangent import SIZES, secant


def cubic(x):
    return x**3 - 2 * x


def test_each_pair_of_points_gives_the_slope_between_them():
    """Between x - h and x + h the slope of x**3 - 2x is 3x**2 - 2 + h**2."""
    data = secant(cubic, x=2.0).data
    for i, x in enumerate(data["places"]):
        for k, h in enumerate(data["sizes"]):
            slope = (data["right"][i][k] - data["left"][i][k]) / (2 * h)
            assert slope == pytest.approx(3 * x**2 - 2 + h**2, abs=1e-9)


def test_it_starts_where_it_was_asked_to_and_no_point_leaves_the_picture():
    data = secant(cubic, x=0.3).data
    assert data["places"][data["place"]] == 0.3
    assert data["curve"][0][0] == pytest.approx(min(data["places"]) - SIZES[0])
    assert data["curve"][-1][0] == pytest.approx(max(data["places"]) + SIZES[0])


def test_it_says_what_it_is_in_one_line():
    assert repr(secant(cubic, x=2.0)) == "Secant(cubic at x = 2: h from 0.5 to 0.001)"


def test_a_place_beyond_the_slider_is_refused():
    with pytest.raises(ValueError, match="is not between low"):
        secant(cubic, x=3.0)
