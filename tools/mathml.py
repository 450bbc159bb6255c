"""Convert the lessons' LaTeX to MathML, which browsers draw on their own: formulas on a page without a network.

A small subset on purpose; a command that is not known raises ValueError with its name, and a test converts every formula of
every lesson, so that nothing is dropped silently.
"""

from __future__ import annotations

import re
from html import escape

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "ϕ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ",
    "Omega": "Ω", "partial": "∂", "ell": "ℓ", "infty": "∞", "varepsilon": "ε", "varphi": "φ", "emptyset": "∅",
}  # fmt: skip
OPERATORS = {
    "cdot": "·", "times": "×", "pm": "±", "mp": "∓", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠",
    "approx": "≈", "equiv": "≡", "to": "→", "rightarrow": "→", "leftarrow": "←", "Rightarrow": "⇒", "mapsto": "↦",
    "in": "∈", "sum": "∑", "prod": "∏", "int": "∫", "nabla": "∇", "top": "⊤", "circ": "∘", "odot": "⊙", "otimes": "⊗",
    "ldots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "dots": "…", "mid": "∣", "prime": "′", "sim": "∼", "ll": "≪",
    "gg": "≫", "propto": "∝", "forall": "∀", "exists": "∃", "langle": "⟨", "rangle": "⟩", "lVert": "‖", "rVert": "‖",
    "lvert": "|", "rvert": "|", "Vert": "‖", "vert": "|", "star": "⋆", "ast": "∗", "div": "÷", "iff": "⇔", "implies": "⇒",
    "longrightarrow": "⟶", "leftrightarrow": "↔", "oplus": "⊕", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "lbrace": "{", "rbrace": "}", "{": "{", "}": "}", "|": "‖", "%": "%", "_": "_", "&": "&", "#": "#", "$": "$",
    "subset": "⊂", "cup": "∪", "cap": "∩", "setminus": "∖", "notin": "∉", "lt": "<", "gt": ">", "dagger": "†", "bullet": "∙",
}  # fmt: skip
APPLIED = "<mo>&#x2061;</mo>"  # the invisible sign between a function and its argument
FUNCTIONS = {
    "arcsin", "arccos", "arctan",
    "sin", "cos", "tan", "exp", "log", "ln", "max", "min", "tanh", "sinh", "cosh", "arg", "det", "lim", "dim", "sup", "inf",
}  # fmt: skip
SPACES = {
    ",": 0.17,
    ":": 0.22,
    ";": 0.28,
    " ": 0.25,
    "!": -0.17,
    "quad": 1.0,
    "qquad": 2.0,
    "enspace": 0.5,
    "\n": 0.25,
}
ACCENTS = {
    "bar": "¯",
    "overline": "¯",
    "hat": "^",
    "widehat": "^",
    "tilde": "~",
    "widetilde": "~",
    "vec": "→",
    "dot": "˙",
}
SIZES = {
    "big",
    "Big",
    "bigg",
    "Bigg",
    "bigl",
    "bigr",
    "Bigl",
    "Bigr",
    "biggl",
    "biggr",
    "left",
    "right",
    "middle",
}
STYLES = {"displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "nonumber", "notag"}
FONTS = {
    "mathbf": "bold",
    "boldsymbol": "bold",
    "mathrm": "normal",
    "operatorname": "normal",
    "mathbb": "double-struck",
}
FENCES = {
    "pmatrix": "round",
    "bmatrix": "square",
    "vmatrix": "bar",
    "Bmatrix": "round",
    "cases": "brace",
    "matrix": "none",
}
FENCES |= dict.fromkeys(("aligned", "align", "align*", "gathered", "split", "array", "smallmatrix"), "none")

# fences that stretch need a mathematical font; lines drawn by CSS need none
STYLE = """
mtable { margin: 0 2px; } mtd { padding: 0.18em 0.4em; }
.fence-round, .fence-square, .fence-bar { border: solid currentColor; border-width: 0 1.5px; }
.fence-round { border-radius: 0.8em; } .fence-brace { border-left: 1.5px solid; border-radius: 0.5em 0 0 0.5em; }
.fence-square { background: linear-gradient(currentColor, currentColor) 0 0 / 5px 1.5px no-repeat,
  linear-gradient(currentColor, currentColor) 0 100% / 5px 1.5px no-repeat,
  linear-gradient(currentColor, currentColor) 100% 0 / 5px 1.5px no-repeat,
  linear-gradient(currentColor, currentColor) 100% 100% / 5px 1.5px no-repeat; }
.formulas { display: flex; flex-wrap: wrap; justify-content: center; align-items: baseline; column-gap: 2.2em; }
.formulas math { max-width: 100%; }
.prime { font-family: sans-serif; } /* raised in itself; as a superscript it is tiny unless the font is a mathematical one */
.underbrace { border-bottom: 1.5px solid; border-radius: 0 0 5px 5px; padding-bottom: 3px; }
.overbrace { border-top: 1.5px solid; border-radius: 5px 5px 0 0; padding-top: 3px; }
"""
TOKEN = re.compile(r"\\([a-zA-Z]+|.|\n)|([{}^_&])|(\d+(?:\.\d+)?)|([a-zA-Z])|(\s+)|(.)", re.S)
BOLD = str.maketrans(
    {chr(65 + i): chr(0x1D400 + i) for i in range(26)} | {chr(97 + i): chr(0x1D41A + i) for i in range(26)}
)
DOUBLE = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ", "E": "𝔼", "P": "ℙ"}


class _Parser:
    def __init__(self, tex: str):
        self.tex = tex
        self.tokens = [m for m in TOKEN.finditer(tex) if m[5] is None]
        self.at = 0

    def peek(self) -> str | None:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def take(self) -> re.Match[str]:
        if self.at >= len(self.tokens):
            raise ValueError(f"the formula ends too early: {self.tex!r}")
        self.at += 1
        return self.tokens[self.at - 1]

    def raw(self) -> str:
        """The characters of a {group}, unchanged (for \\text and names); one letter needs no braces."""
        first = self.take()
        if first[4]:
            return first[0]
        if first[0] != "{":
            raise ValueError(f"a {{group}} is missing in {self.tex!r}")
        start, depth = self.tokens[self.at - 1].end(), 1
        while depth:
            token = self.take()
            depth += (token[0] == "{") - (token[0] == "}")
        return self.tex[start : token.start()]

    def row(self, *ends: str) -> str:
        out: list[str] = []
        while (token := self.peek()) is not None and token not in ends:
            out.append(self.scripted())
        return f"<mrow>{''.join(out)}</mrow>" if len(out) != 1 else out[0]

    def scripted(self) -> str:
        """An atom with its subscript and superscript."""
        wide = self.peek() in ("\\underbrace", "\\overbrace", "\\sum", "\\prod", "\\lim", "\\max", "\\min")
        base, below, above = self.atom(), None, None
        applied = APPLIED if base.endswith(APPLIED) else ""  # the invisible sign goes behind the scripts
        base = base.removesuffix(APPLIED)
        while (token := self.peek()) in ("^", "_", "'"):
            self.take()
            if token == "_":
                below = self.one()
            elif token == "^":
                above = self.one()
            else:
                base = f'<mrow>{base}<mtext class="prime">′</mtext></mrow>'
        name = ("munder", "mover", "munderover") if wide else ("msub", "msup", "msubsup")
        if below and above:
            return f"<{name[2]}>{base}{below}<mrow>{above}</mrow></{name[2]}>{applied}"
        if below:
            return f"<{name[0]}>{base}{below}</{name[0]}>{applied}"
        return (f"<{name[1]}>{base}<mrow>{above}</mrow></{name[1]}>" if above else base) + applied

    def atom(self) -> str:
        token = self.take()
        command, special, digits, letter = token[1], token[2], token[3], token[4]
        if command is not None:
            return self.command(command)
        if special == "{":
            inside = self.row("}")
            self.take()
            return inside
        if special is not None:
            raise ValueError(f"{special!r} stands where it cannot in {self.tex!r}")
        if digits:
            return f"<mn>{digits}</mn>"
        if letter:
            return f"<mi>{letter}</mi>"
        return f'<mo stretchy="false">{escape("−" if token[0] == "-" else token[0])}</mo>'

    def one(self) -> str:
        """An argument: a {group}, a command, or one single character (so \\frac13 is 1/3)."""
        token = self.peek()
        if token is not None and token.isdigit() and len(token) > 1:
            m = self.tokens[self.at]
            first, rest = (
                TOKEN.match(self.tex, m.start(), m.start() + 1),
                TOKEN.match(self.tex, m.start() + 1, m.end()),
            )
            self.tokens[self.at : self.at + 1] = [first, rest]
        return self.atom()

    def command(self, name: str) -> str:
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in OPERATORS:
            return f"<mo>{escape(OPERATORS[name])}</mo>"
        if name in FUNCTIONS:
            return f"<mi>{name}</mi>{APPLIED}"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"/>'
        if name in ACCENTS:
            wide = str(name.startswith(("over", "wide"))).lower()
            return f'<mover accent="true">{self.one()}<mo stretchy="{wide}">{ACCENTS[name]}</mo></mover>'
        if name in ("frac", "dfrac", "tfrac"):
            return f"<mfrac>{self.one()}{self.one()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.one()}</msqrt>"
        if name in ("text", "textit", "textrm", "mbox", "texttt", "textbf"):
            return f"<mtext>{escape(self.raw()).replace(' ', '&#xA0;')}</mtext>"
        if name in FONTS:
            text = self.raw()
            if FONTS[name] == "double-struck":
                return f"<mi>{''.join(DOUBLE.get(c, c) for c in text)}</mi>"
            if re.fullmatch(r"[A-Za-z\d ]+", text):
                return (
                    f'<mi mathvariant="normal">{text.translate(BOLD) if FONTS[name] == "bold" else text}</mi>'
                )
            return _Parser(text).all()
        if name in ("underbrace", "overbrace"):
            return f'<mrow class="{name}">{self.one()}</mrow>'  # a brace needs a mathematical font: STYLE draws a line
        if name in ("color", "textcolor"):
            self.raw()
            return self.one()
        if name in SIZES:
            token = self.take()
            text = OPERATORS.get(token[1], token[1]) if token[1] else token[0]
            grows = str(name in ("left", "right", "middle")).lower()
            return "" if text == "." else f'<mo stretchy="{grows}">{escape(text)}</mo>'
        if name in STYLES:
            return ""
        if name == "begin":
            return self.table()
        raise ValueError(f"\\{name} is not known to tools/mathml.py (in {self.tex!r})")

    def table(self) -> str:
        kind = self.raw()
        if kind not in FENCES:
            raise ValueError(f"\\begin{{{kind}}} is not known to tools/mathml.py (in {self.tex!r})")
        if kind == "array":
            self.raw()
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self.row("&", "\\\\", "\\end"))
            end = self.take()[0]
            if end == "\\\\":
                rows.append([])
                if self.peek() == "[":  # the space below the row: MathML leaves its own
                    while self.take()[0] != "]":
                        pass
            elif end == "\\end":
                self.raw()
                break
        aligned = "align" in kind or kind == "split"
        columns = [
            "right" if aligned and i % 2 == 0 else "left" if aligned or kind == "cases" else "center"
            for i in range(20)
        ]
        body = "".join(
            "<mtr>"
            + "".join(f'<mtd style="text-align:{columns[i]}">{c}</mtd>' for i, c in enumerate(r))
            + "</mtr>"
            for r in rows
            if r != ["<mrow></mrow>"]
        )
        return f'<mtable class="fence-{FENCES[kind]}">{body}</mtable>'

    def all(self) -> str:
        out = self.row()
        if self.at < len(self.tokens):
            raise ValueError(f"{self.peek()!r} has no partner in {self.tex!r}")
        return out


def mathml(tex: str, display: bool = False) -> str:
    """One formula. Raises ValueError with the unknown command."""
    kind = ' display="block"' if display else ""
    return f"<math{kind}>{_Parser(tex).all()}</math>"


FORMULA = re.compile(r"(```.*?```|`[^`\n]*`)|\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?!\w)", re.S)


TIED = r'<span style="white-space:nowrap">\1\2</span>'  # otherwise a full stop after a formula might begin the next line


def formulas_to_mathml(markdown: str) -> str:
    """Markdown with its $formulas$ and $$formulas$$ as MathML; code is left alone."""

    def convert(m: re.Match[str]) -> str:
        if m[1] is not None:
            return m[1]
        if m[2] is not None:
            parts = m[2].split(r"\qquad")  # side by side where there is space, else one below the other
            if any(part.count("{") != part.count("}") or r"\end" in part for part in parts):
                parts = [m[2]]
            return f'\n\n<div class="formulas">{"".join(mathml(part, True) for part in parts)}</div>\n\n'
        return mathml(m[3])

    return re.sub(
        r"(<math>(?:(?!</math>).)*</math>)([.,:;!?)]+)", TIED, FORMULA.sub(convert, markdown), flags=re.S
    )
