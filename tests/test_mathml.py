"""Formulas as MathML: every formula of every lesson converts, and what is not known is named."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import nbformat
import pytest

from tools.mathml import formulas_to_mathml, mathml
from tools.site import NOTEBOOKS

PARTS = {"msub": 2, "msup": 2, "mover": 2, "munder": 2, "mfrac": 2, "msubsup": 3, "munderover": 3}


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda p: p.stem)
def test_every_formula_of_a_lesson_converts(path):
    """Each script, fraction or accent has the number of parts that MathML requires; with more, it would be drawn wrongly."""
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown":
            page = formulas_to_mathml(cell.source)
            assert "$" not in page.replace("\\$", "").split("`")[0]
            for formula in re.findall(r"<math.*?</math>", page, re.S):
                for element in ElementTree.fromstring(formula).iter():
                    assert len(element) == PARTS.get(element.tag, len(element)), formula


@pytest.mark.parametrize(
    ("tex", "says"),
    [
        (r"\frac13", "<mfrac><mn>1</mn><mn>3</mn></mfrac>"),
        (r"\frac{a}{b+1}", "<mfrac><mi>a</mi><mrow><mi>b</mi>"),
        (r"x_{10}^2", "<msubsup><mi>x</mi><mn>10</mn><mrow><mn>2</mn></mrow></msubsup>"),
        (r"x^23", "<mrow><mn>2</mn></mrow></msup><mn>3</mn>"),
        (r"1 - \tanh^2 x", "<msup><mi>tanh</mi><mrow><mn>2</mn></mrow></msup><mo>"),
        (r"\max_i s_i", "<munder><mi>max</mi><mi>i</mi></munder><mo>"),
        (r"f'(x)", '<mrow><mi>f</mi><mtext class="prime">′</mtext></mrow>'),
        (r"a < b", "&lt;"),
        (r"-1", "−"),
        (r"\text{if } x > 0", "if&#xA0;"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", 'class="fence-round"'),
        (r"\underbrace{x}_{\text{local}}", '<munder><mrow class="underbrace">'),
        (r"\left( x \right)", "<mo"),
        (r"\mathbb{R}^n", "ℝ"),
        (r"\sum_{i=1}^{n} i", "<munderover>"),
        (r"\mathrm dx", "<mi>x</mi>"),
    ],
)
def test_a_formula_becomes_well_formed_mathml(tex: str, says: str):
    out = mathml(tex)
    ElementTree.fromstring(out)
    assert says in out


@pytest.mark.parametrize(
    ("tex", "says"),
    [
        (r"\nonsense{x}", r"\nonsense is not known"),
        (r"\begin{tikz}\end{tikz}", "tikz"),
        (r"\frac{1}{", "too early"),
        ("x}", "no partner|cannot"),
    ],
)
def test_what_is_not_known_is_named(tex: str, says: str):
    with pytest.raises(ValueError, match=says.replace("\\", "\\\\")):
        mathml(tex)


def test_the_room_below_a_row_is_not_written_out():
    out = mathml(r"\begin{bmatrix}1\\[4pt]2\end{bmatrix}")
    assert out == mathml(r"\begin{bmatrix}1\\2\end{bmatrix}")


def test_code_and_escaped_dollars_are_left_alone():
    text = "`$x$` costs \\$5 and\n```\n$y$\n```\nbut $z$ is a formula"
    out = formulas_to_mathml(text)
    assert "`$x$`" in out and "\\$5" in out and "$y$" in out and "<mi>z</mi>" in out


def test_markup_inside_a_formula_is_escaped():
    assert "<script>" not in mathml(r"\text{<script>}") and "<img" not in mathml("<img>")
