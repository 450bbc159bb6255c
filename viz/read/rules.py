"""The mathematics of each backward node, by the node's name.

What an input of ``MmBackward0`` is called, the rule as code and as mathematics, and how the forward operation is written. A
framework whose nodes carry ``rules`` (input name -> source text) is asked first: then the code shown is the code that runs.
Everything here is text: nothing is executed. The formulas follow the operations' own definitions, and are in ``rules.txt``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

TRANSPOSES = ("T", "Transpose", "Permute")
# operations that only transpose a tensor, or take a part of it
TURNS = [*TRANSPOSES, "View", "UnsafeView", "ReshapeAlias", "Expand", "Repeat", "Squeeze"]
TURNS += ["Unsqueeze", "Clone", "ToCopy", "Slice", "Select", "Split", "SplitWithSizes", "Chunk", "Unbind"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``form``: the forward operation, inputs in braces. ``inputs``: name -> (code, mathematics) in graph order.

    In the mathematics ``{g}`` is the gradient that comes in, ``{self}``, ``{other}``, ... the inputs,
    ``{result}`` the output. ``cases``: rules for nodes that keep a certain number or tensor ("training=False", "weight").
    ``conjugates``: whether the rule itself says which complex numbers are conjugated.
    """

    form: str
    inputs: dict[str, tuple[str, str]]
    cases: dict[str, dict[str, tuple[str, str]]]
    conjugates: bool


@cache
def base_name(name: str) -> str:
    """``Mul`` for ``MulBackward0``, ``T`` for ``TBackward0_copy``; the name itself if it does not end that way."""
    return re.sub(r"Backward(AutogradNestedTensor)?(\d*|\d+_copy)$", "", name) or name


@cache
def rule_for(name: str) -> Rule | None:
    """The rule known for a node name, or None. ``SquareBackward``, with no number, is the user's: a custom Function."""
    if name.endswith("Backward"):
        return RULES.get(name)
    known = RULES.get(name) or RULES.get(base_name(name))
    if known is None and name.endswith("BackwardBackward0"):
        return replace(RULES["BackwardBackward"], form=f"{forward_name(name)}({{all}})")
    return known


def forward_name(name: str) -> str:
    """The name of an operation without a rule: ``log_ndtr`` for ``LogNdtrBackward0``, ``Cube`` for ``CubeBackward``."""
    if name.endswith("Backward"):
        return base_name(name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", base_name(name)).lower()


def _rules(text: str) -> dict[str, Rule]:
    """The rules of a table such as ``rules.txt``, by the names of their nodes."""
    found: dict[str, Rule] = {}
    conjugates = False
    for line in text.splitlines():
        if line.startswith("#"):
            conjugates = "conjugates" in line
            continue
        names, line = line.split(" | ", 1)
        for node in names.split():
            form, *parts = line.replace("{call}", forward_name(node)).split(" | ")
            inputs, cases = {}, {}
            for name, texts in (one.split(": ", 1) for one in parts):
                name, _, case = name.rstrip("]").partition("[")
                (cases.setdefault(case, {}) if case else inputs)[name] = tuple(texts.split(" => "))
            found[node] = Rule(form, inputs, cases, conjugates)
    return found


RULES = _rules((Path(__file__).parent / "rules.txt").read_text(encoding="utf-8"))


def form_of(function: Any, operands: dict[str, str]) -> str | None:
    """The notation of the forward operation, inputs in braces: the table's form, made exact where the axes matter."""
    rule = rule_for(function.name)
    if rule is None:
        return None
    base, shape = base_name(function.name), function.outputs[0].shape
    if base in ("Add", "Sub", "Rsub") and operands.get("alpha", "1") != "1":
        return re.sub(r"\{(\w+)\}$", r"{alpha} * {\1}", rule.form)
    if base == "Select" and operands.get("dim", "0") != "0":
        dim = operands["dim"]
        before = ":, " * int(dim) if dim.isdecimal() else "..., " if dim == "-1" else None
        return "{self}.select({dim}, {index})" if before is None else f"{{self}}[{before}{{index}}]"
    if base == "Transpose" and "dim0" in operands:
        axes = {operands["dim0"], operands["dim1"]}
        last = {"-2", "-1"} if shape is None else {str(len(shape) - 2), str(len(shape) - 1)}
        return rule.form if axes in (last, {"-2", "-1"}) else "{self}.transpose({dim0}, {dim1})"
    if base == "Permute" and "dims" in operands:
        dims = re.findall(r"-?\d+", operands["dims"])
        return rule.form if dims == sorted(dims, key=int)[::-1] else f"{{self}}.permute({', '.join(dims)})"
    return rule.form


def symbol(name: str, form: str | None = None) -> str:
    """The operation on a forward edge: ``@``, ``*``, ``mean()``. ``form``: its notation, by default the table's."""
    rule = rule_for(name)
    form = form or (rule.form if rule else forward_name(name) + "()")
    binary = re.fullmatch(r"\{\w+\} (\S+) \{\w+\}", form)
    if binary:
        return binary[1]
    if function_form := re.fullmatch(r"\{\w+\}, (.+)", form):
        return function_form[1]
    called = re.match(r"(?:\{\w+\}\.)?(\w+)\(", form)
    if called:
        return called[1] + "()"
    return re.sub(r"\{\w+\}", "·", form) if form.count("{") < 3 else forward_name(name) + "()"


def input_names(function: Any) -> list[str]:
    """The names of a node's inputs, in the order of ``next_functions``."""
    count = len(function.edges)
    if function.rules:
        return list(function.rules)
    rule, numbers = rule_for(function.name), numbers_of(function)
    known = [n for n in rule.inputs if n != "*"] if rule else []
    if len(known) > count:  # some are numbers: x ** 2, 2 ** x
        known = [n for n in known if n not in numbers]
    known = known[:count] or ["self"] * (count == 1)
    return known + [f"input {i}" for i in range(len(known), count)]


def numbers_of(function: Any) -> dict[str, str]:
    """What a node keeps besides tensors, as far as it has been read: ``{"dim": "1", "training": "True"}``."""
    return {s.name: s.text for s in function._saved or () if s.state == "kept" and s.text}


def code_of(function: Any) -> list[str | None]:
    """The rule of each input as code: the node's own if it has ``rules``, otherwise the table's, or None."""
    names, own = input_names(function), function.rules
    codes = [own[n] if n in own else (_of_input(function, n) or (None,))[0] for n in names]
    words, real = _conjugates(function)
    conjugated = re.compile(rf"\b({'|'.join(words)})\b(?!\.(shape|dtype|numel))")
    codes = [code and conjugated.sub(r"conj(\1)", code) for code in codes] if words else codes
    return [f"({code}).real" if code and part else code for code, part in zip(codes, real, strict=True)]


def _of_input(function: Any, name: str) -> tuple[str, ...] | None:
    """Code and mathematics of one input: the case for what this node keeps, if the table has one; ``*`` is for every input."""
    rule, numbers = rule_for(function.name), numbers_of(function)
    if rule is None:
        return None
    kept = {s.name if s.value is not None else f"{s.name}={s.text}" for s in function._saved or ()}
    kept |= {"padding_idx"} if numbers.get("padding_idx", "-1") != "-1" else set()
    case = next((texts for case, texts in rule.cases.items() if case in kept), {})
    texts = case.get(name) or rule.inputs.get(name) or rule.inputs.get("*")
    if texts and numbers.get("reduction", "1") != "1":  # no mean is taken: nothing is divided by n
        texts = tuple(re.sub(r" / n\b|, n their sum", "", text) for text in texts)
    return texts


# a rule that only calls a function inside the framework, whose name means nothing to a reader
_HELPER = re.compile(r"\b(_\w+|\w+_(self|backward|reduced)|scaled)\(|sym_sizes")


def words_of(function: Any, operands: dict[str, str]) -> list[str | None]:
    """The rule of each input, short enough for a card: its code, or mathematics where the code only names a helper."""
    words = {k: operand(v) for k, v in operands.items()}
    words |= {"g": "grad", "result": function.outputs[0].name or "result"}
    codes, maths = code_of(function), math_of(function, words)
    return [m if m and is_helper(c) else c for c, m in zip(codes, maths, strict=True)]


def is_helper(code: str | None) -> bool:
    """Whether a rule's source text only names a function of the framework."""
    return code is not None and _HELPER.search(code) is not None


_USUAL = {"alpha": "1", "beta": "1", "scale": "1", "correction": "1"}  # if not kept by a node
_FACTOR = re.compile(r" · \{(alpha|beta|scale)\}")  # left out if it is 1


class _Words(dict):
    def __missing__(self, key: str) -> str:
        return key


def math_of(function: Any, words: dict[str, str]) -> list[str | None]:
    """The rule of each input as mathematics; ``words`` gives ``g``, the inputs and ``result`` their names here."""
    names = input_names(function)
    conjugated, real = _conjugates(function)
    words = {k: f"conj{_in_brackets(v)}" if k in conjugated else v for k, v in words.items()}
    out: list[str | None] = []
    for name, part in zip(names, real, strict=True):
        known, fill = _of_input(function, name), _Words(_USUAL | words, this=words.get(name, name))
        text = known[1].replace("{g}ᵀ", "({g})ᵀ" if "/" in fill["g"] else "{g}ᵀ") if known else None
        text = text and _FACTOR.sub(lambda found, fill=fill: "" if fill[found[1]] == "1" else found[0], text)
        text = text and re.sub(r"\(\{(\w+)\}\)", lambda found, fill=fill: _in_brackets(fill[found[1]]), text)
        out.append(text and f"{'Re(' * part}{text.format_map(fill)}{')' * part}")
    return out


def _conjugates(function: Any) -> tuple[set[str], list[bool]]:
    """For a complex result: the names to conjugate in its rule, and which inputs are real. (The table is for real inputs.)"""
    rule = rule_for(function.name)
    of = [function.outputs[0], *(e.target and e.target.output(e.nr) for e in function.edges)]
    result, *inputs = ["complex" in ((o and o.dtype) or "complex") for o in of]
    if rule is None or rule.conjugates or function.rules or not (result and function.outputs[0].dtype):
        return set(), [False] * len(inputs)
    kept = {s.name: s.text or (s.value and s.value.dtype) for s in function._saved or ()}
    also = (name for name, text in kept.items() if re.search(r"^complex|\dj\)?$", text or ""))
    return {"result", *input_names(function), *also}, [not is_complex for is_complex in inputs]


def _in_brackets(text: str) -> str:
    return text if text[:1] == "(" and text[-1:] == ")" and _ONE.fullmatch(text) else f"({text})"


def expression(function: Any, operands: dict[str, str]) -> str:
    """The forward operation written with its operands: ``x @ w``; an operand with spaces gets parentheses."""
    form = form_of(function, operands)
    if form is None:
        return f"{forward_name(function.name)}({', '.join(operands.values())})"
    # where an operator or a method applies to it, a compound operand needs parentheses
    bound = {k for k in operands if re.search(rf"\{{{k}\}}( [-+*/@]|\.|\[)|[-+*/@] ?\{{{k}\}}", form)}
    words = _Words({k: operand(v) if k in bound else v for k, v in operands.items()})
    inputs = [operands[name] for name in input_names(function) if name in operands]
    words |= {"all": ", ".join(inputs)} | {str(i): v for i, v in enumerate(inputs)}
    for k in ("dim", "dims"):  # one axis: sum(1) rather than sum((1,))
        words[k] = re.sub(r"^[(\[](-?\d+),?[)\]]$", r"\1", words[k])
    return re.sub(r"\{(\w+)\}", lambda m: words[m[1]], form)


def operand(text: str) -> str:
    """An expression in parentheses, unless it is one word or one call, or has them already."""
    return text if _ONE.fullmatch(text) else f"({text})"


_ONE = re.compile(r"(?!-)\S+|[\w.]*[(\[](?:[^()]|\([^()]*\))*[)\]]\S*")
