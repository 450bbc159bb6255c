"""The API reference of the site has every public name, with its signature, and its examples run."""

from __future__ import annotations

import inspect
import re

import pytest

import viz
from tools import reference


@pytest.fixture(scope="module")
def page() -> str:
    return reference.body()


def test_every_public_name_of_viz_is_there_once(page):
    assert re.findall(r'<h3 id="viz\.(\w+)">', page) == [
        *reference.ORDER,
        *(n for n in viz.__all__ if n not in reference.ORDER),
    ]


def test_every_public_function_of_viz_says_what_it_does():
    assert [name for name in viz.__all__ if not inspect.getdoc(getattr(viz, name))] == []


def test_signatures_show_every_argument_and_none_that_is_private(page):
    text = re.sub("<[^>]+>", "", page)
    for name in reference.ORDER:
        if not inspect.ismodule(getattr(viz, name)):
            for parameter in inspect.signature(getattr(viz, name)).parameters:
                assert parameter.startswith("_") or parameter in text
    assert "_frame" not in text


def test_examples_are_live(page):
    assert page.count("<iframe") >= 4 and page.count('<div class="output">') == len(reference.EXAMPLES)


def test_arguments_are_a_list():
    made = reference.as_markdown(
        "Draw it.\n\n``x``: a tensor\nnames, view: options\n    of two lines\n\nRaises: nothing"
    )
    assert "* `names`, `view`: options\n    of two lines" in made


def test_a_signature_is_as_it_is_written():
    assert "labels: Sequence[str] = ('left', 'right')" in reference.signature("compare", viz.compare)
    assert reference.signature("failure", viz.failure) == "viz.failure() -> Failed | None"


def test_minigrads_lists_have_what_lessons_use(page):
    for name in ("tensor(", "matmul(", "no_grad", "Linear", "SGD", "vmap(", "gradcheck("):
        assert f"<td><code>{name}" in page, name
