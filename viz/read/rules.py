"""The mathematics of each backward node, by the node's name.

What an input of ``MmBackward0`` is called, the rule as code and as mathematics, and how the forward operation is written.
A framework whose nodes carry ``rules`` (input name -> source text) is asked first: then the code shown is the code that
runs. Everything here is text: nothing is executed. The formulas are those of the operations' own definitions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """``form``: the forward operation, inputs in braces. ``inputs``: name -> (code, mathematics) in graph order.

    In the mathematics ``{g}`` is the gradient that comes in, ``{self}``, ``{other}``, ... the inputs,
    ``{result}`` the output.
    """

    form: str
    inputs: dict[str, tuple[str, str]]


def _r(form: str, **inputs: tuple[str, str]) -> Rule:
    return Rule(form, inputs)


def _back(form: str, code: str, math: str) -> Rule:
    return _r(form, self=(code, math))


RULES: dict[str, Rule] = {
    # arithmetic
    "Add": _r("{self} + {other}", self=("grad", "{g}"), other=("grad * alpha", "{g}")),
    "Sub": _r("{self} - {other}", self=("grad", "{g}"), other=("-grad * alpha", "−{g}")),
    "Rsub": _r("{other} - {self}", self=("-grad * alpha", "−{g}"), other=("grad", "{g}")),
    "Mul": _r("{self} * {other}", self=("grad * other", "{g} · {other}"), other=("grad * self", "{g} · {self}")),
    "Div": _r("{self} / {other}", self=("grad / other", "{g} / {other}"),
        other=("-grad * self / (other * other)", "−{g} · {self} / {other}²")),
    "PowBackward0": _back("{self} ** {exponent}", "grad * exponent * self ** (exponent - 1)",
        "{g} · {exponent} · {self}^({exponent} − 1)"),
    "PowBackward1": _r("{self} ** {exponent}",
        self=("grad * exponent * self ** (exponent - 1)", "{g} · {exponent} · {self}^({exponent} − 1)"),
        exponent=("grad * result * log(self)", "{g} · {result} · ln {self}")),
    "PowBackward2": _r("{self} ** {exponent}", exponent=("grad * result * log(self)", "{g} · {result} · ln {self}")),
    "Neg": _back("-{self}", "-grad", "−{g}"),
    "Reciprocal": _back("1 / {self}", "-grad * result * result", "−{g} · {result}²"),
    "Square": _back("{self} ** 2", "grad * 2 * self", "{g} · 2 · {self}"),
    "Abs": _back("abs({self})", "grad * sign(self)", "{g} · sign({self})"),
    "Exp": _back("exp({self})", "grad * result", "{g} · {result}"),
    "Expm1": _back("expm1({self})", "grad * (result + 1)", "{g} · ({result} + 1)"),
    "Log": _back("log({self})", "grad / self", "{g} / {self}"),
    "Log2": _back("log2({self})", "grad / (self * log(2))", "{g} / ({self} · ln 2)"),
    "Log10": _back("log10({self})", "grad / (self * log(10))", "{g} / ({self} · ln 10)"),
    "Log1P": _back("log1p({self})", "grad / (self + 1)", "{g} / ({self} + 1)"),
    "Sqrt": _back("sqrt({self})", "grad / (2 * result)", "{g} / (2 · {result})"),
    "Rsqrt": _back("rsqrt({self})", "-grad / 2 * result ** 3", "−{g} / 2 · {result}³"),
    "Sin": _back("sin({self})", "grad * cos(self)", "{g} · cos {self}"),
    "Cos": _back("cos({self})", "-grad * sin(self)", "−{g} · sin {self}"),
    "Tan": _back("tan({self})", "grad * (1 + result * result)", "{g} · (1 + {result}²)"),
    "Asin": _back("asin({self})", "grad / sqrt(1 - self * self)", "{g} / √(1 − {self}²)"),
    "Acos": _back("acos({self})", "-grad / sqrt(1 - self * self)", "−{g} / √(1 − {self}²)"),
    "Atan": _back("atan({self})", "grad / (self * self + 1)", "{g} / ({self}² + 1)"),
    "Sinh": _back("sinh({self})", "grad * cosh(self)", "{g} · cosh {self}"),
    "Cosh": _back("cosh({self})", "grad * sinh(self)", "{g} · sinh {self}"),
    "Erf": _back("erf({self})", "grad * 2 / sqrt(pi) * exp(-self * self)", "{g} · 2/√π · exp(−{self}²)"),
    "Maximum": _r("maximum({self}, {other})", self=("grad * (self > other), half at ties", "{g} where {self} > {other}"),
        other=("grad * (other > self), half at ties", "{g} where {other} > {self}")),
    "Minimum": _r("minimum({self}, {other})", self=("grad * (self < other), half at ties", "{g} where {self} < {other}"),
        other=("grad * (other < self), half at ties", "{g} where {other} < {self}")),
    "Clamp": _back("clamp({self})", "grad * (min <= self <= max)", "{g} where {self} is within the bounds, else 0"),
    "ClampMin": _back("clamp({self}, min={min})", "grad * (self >= min)", "{g} where {self} ≥ {min}, else 0"),
    "ClampMax": _back("clamp({self}, max={max})", "grad * (self <= max)", "{g} where {self} ≤ {max}, else 0"),
    "Where": _r("where({condition}, {self}, {other})",
        self=("where(condition, grad, 0)", "{g} where the condition holds, else 0"),
        other=("where(condition, 0, grad)", "{g} where the condition fails, else 0")),
    "MaskedFill": _r("masked_fill({self})", self=("grad.masked_fill(mask, 0)", "{g} where it was not masked, else 0"),
        value=("where(mask, grad, 0).sum()", "Σ of {g} where it was masked")),
    # activations
    "Tanh": _back("tanh({self})", "grad * (1 - result * result)", "{g} · (1 − {result}²)"),
    "Sigmoid": _back("sigmoid({self})", "grad * result * (1 - result)", "{g} · {result} · (1 − {result})"),
    "Relu": _back("relu({self})", "grad * (result > 0)", "{g} where {result} > 0, else 0"),
    "LeakyRelu": _back("leaky_relu({self})", "where(self > 0, grad, grad * negative_slope)",
        "{g} where {self} > 0, else {g} · slope"),
    "Softplus": _back("softplus({self})", "grad * sigmoid(beta * self)", "{g} · σ(β {self})"),
    "Silu": _back("silu({self})", "grad * s * (1 + self * (1 - s)), s = sigmoid(self)", "{g} · s(1 + {self}(1 − s))"),
    "Gelu": _back("gelu({self})", "grad * (cdf(self) + self * pdf(self))", "{g} · (Φ({self}) + {self} φ({self}))"),
    "Elu": _back("elu({self})", "where(self > 0, grad, grad * alpha * exp(self))",
        "{g} where {self} > 0, else {g} · α exp {self}"),
    "Softmax": _back("softmax({self})", "result * (grad - (grad * result).sum(dim))", "{result} · ({g} − Σ {g} · {result})"),
    "SafeSoftmax": _back("softmax({self})", "result * (grad - (grad * result).sum())", "{result} · ({g} − Σ {g} · {result})"),
    "ScaledDotProductFlashAttentionForCpu": _r("attention({query}, {key}, {value})",  # P = softmax(s q kᵀ)
        query=("scale * dS @ key", "s · dS · {key},  dS = P (dP − Σ dP · P),  dP = {g} · {value}ᵀ"),
        key=("scale * dS.mT @ query", "s · dSᵀ · {query},  dS = P (dP − Σ dP · P),  dP = {g} · {value}ᵀ"),
        value=("P.mT @ grad", "Pᵀ · {g},  P = softmax(s · {query} · {key}ᵀ)")),
    "Hardtanh": _back("hardtanh({self})", "grad * (min < self < max)", "{g} where {self} is within the bounds, else 0"),
    "LogSoftmax": _back("log_softmax({self})", "grad - exp(result) * grad.sum(dim)", "{g} − exp({result}) · Σ {g}"),
    "Logsumexp": _back("logsumexp({self})", "grad * exp(self - result)", "{g} · exp({self} − {result})"),
    # linear algebra
    "Mm": _r("{self} @ {mat2}", self=("grad @ mat2.T", "{g} · {mat2}ᵀ"), mat2=("self.T @ grad", "{self}ᵀ · {g}")),
    "Bmm": _r("{self} @ {mat2}", self=("grad @ mat2.mT", "{g} · {mat2}ᵀ"), mat2=("self.mT @ grad", "{self}ᵀ · {g}")),
    "Mv": _r("{self} @ {vec}", self=("outer(grad, vec)", "{g} · {vec}ᵀ"), vec=("self.T @ grad", "{self}ᵀ · {g}")),
    "Dot": _r("{self} @ {tensor}", self=("grad * tensor", "{g} · {tensor}"), tensor=("grad * self", "{g} · {self}")),
    "Addmm": _r("{self} + {mat1} @ {mat2}", self=("grad", "{g}"), mat1=("grad @ mat2.T", "{g} · {mat2}ᵀ"),
        mat2=("mat1.T @ grad", "{mat1}ᵀ · {g}")),
    "T": _back("{self}.t()", "grad.t()", "{g}ᵀ"),
    "Transpose": _back("{self}.mT", "grad.transpose(dim0, dim1)", "{g}ᵀ"),
    "Permute": _back("{self}.T", "grad.permute(inverse of dims)", "{g}, axes put back"),
    # reductions
    "SumBackward0": _back("{self}.sum()", "grad.expand(self.shape)", "{g} for every element"),
    "SumBackward1": _back("{self}.sum({dim})", "grad.unsqueeze(dim).expand(self.shape)", "{g} for every element"),
    "MeanBackward0": _back("{self}.mean()", "grad.expand(self.shape) / self.numel()", "{g} / n for every element"),
    "MeanBackward1": _back("{self}.mean({dim})", "grad.unsqueeze(dim).expand(self.shape) / n", "{g} / n for every element"),
    "Prod": _back("{self}.prod()", "grad * result / self", "{g} · {result} / {self}"),
    "Max": _back("{self}.max()", "grad at the largest, shared at ties", "{g} at the largest element, 0 elsewhere"),
    "Min": _back("{self}.min()", "grad at the smallest, shared at ties", "{g} at the smallest element, 0 elsewhere"),
    "Amax": _back("{self}.amax()", "grad at the largest, shared at ties", "{g} at the largest element, 0 elsewhere"),
    "Amin": _back("{self}.amin()", "grad at the smallest, shared at ties", "{g} at the smallest element, 0 elsewhere"),
    "Var": _back("{self}.var()", "grad * 2 / (n - correction) * (self - self.mean())", "{g} · 2 / (n − 1) · ({self} − mean)"),
    "Std": _back("{self}.std()", "grad / ((n - correction) * result) * (self - self.mean())",
        "{g} · ({self} − mean) / ((n − 1) {result})"),
    "LinalgVectorNorm": _back("norm({self})", "grad * self / result", "{g} · {self} / ‖{self}‖"),
    "Cumprod": _back("cumprod({self})", "reversed cumsum of grad * result, over self",
        "Σ of {g} · {result} from here on, / {self}"),
    "Cumsum": _back("cumsum({self})", "grad.flip(dim).cumsum(dim).flip(dim)", "Σ of {g} from here on"),
    # shape and indexing
    "View": _back("{self}.view()", "grad.reshape(self.shape)", "{g}, reshaped"),
    "UnsafeView": _back("{self}.view()", "grad.reshape(self.shape)", "{g}, reshaped"),
    "ReshapeAlias": _back("{self}.reshape()", "grad.reshape(self.shape)", "{g}, reshaped"),
    "Squeeze": _back("{self}.squeeze()", "grad.unsqueeze(dim)", "{g}, axis put back"),
    "Unsqueeze": _back("{self}.unsqueeze({dim})", "grad.squeeze(dim)", "{g}, axis removed"),
    "Expand": _back("{self}.expand()", "grad.sum_to(self.shape)", "Σ of {g} over the copies"),
    "Repeat": _back("{self}.repeat()", "grad summed over the copies", "Σ of {g} over the copies"),
    "Select": _back("{self}[{index}]", "zeros, with grad at index", "{g} at the selected place, 0 elsewhere"),
    "Slice": _back("{self}[slice]", "zeros, with grad in the slice", "{g} in the slice, 0 elsewhere"),
    "Index": _back("{self}[index]", "zeros.index_put(indices, grad, accumulate=True)",
        "{g} added at the chosen places, 0 elsewhere"),
    "IndexSelect": _back("{self}[index]", "zeros.index_add(dim, index, grad)", "{g} added at the chosen places, 0 elsewhere"),
    "Gather": _back("{self}.gather()", "zeros.scatter_add(dim, index, grad)", "{g} added where it was read, 0 elsewhere"),
    "Embedding": _r("embedding({weight})", weight=("zeros.index_add(0, indices, grad)", "{g} added to the rows looked up")),
    "Flip": _back("{self}.flip()", "grad.flip(dims)", "{g}, flipped back"),
    "Roll": _back("{self}.roll()", "grad.roll(-shifts)", "{g}, rolled back"),
    "Tril": _back("tril({self})", "grad.tril()", "lower triangle of {g}"),
    "Triu": _back("triu({self})", "grad.triu()", "upper triangle of {g}"),
    "Cat": Rule("cat({all})", {}),
    "Stack": Rule("stack({all})", {}),
    "Unbind": _back("unbind({self})", "stack(grads)", "the gradients, stacked"),
    "Split": _back("split({self})", "cat(grads)", "the gradients, side by side"),
    "UnsafeSplit": _back("split({self})", "cat(grads)", "the gradients, side by side"),
    "Conj": _back("conj({self})", "grad.conj()", "conj {g}"),
    "ViewAsReal": _back("view_as_real({self})", "view_as_complex(grad)", "{g}, its pairs as real + i · imaginary"),
    "Scatter": _r("{self}.scatter()", self=("grad.scatter(dim, index, 0)", "{g}, 0 where it was overwritten"),
        src=("grad.gather(dim, index)", "{g} where it was written")),
    "Take": _back("{self}.take()", "zeros.put_(index, grad, accumulate=True)", "{g} added at the places taken, 0 elsewhere"),
    "Sort": _back("{self}.sort()", "zeros.scatter(dim, indices, grad)", "{g}, put back in the old order"),
    "Topk": _back("{self}.topk()", "zeros.scatter(dim, indices, grad)", "{g} at the largest, 0 elsewhere"),
    "Diagonal": _back("{self}.diagonal()", "zeros, with grad on the diagonal", "{g} on the diagonal, 0 elsewhere"),
    "DiagEmbed": _back("diag({self})", "grad.diagonal()", "the diagonal of {g}"),
    "ConstantPadNd": _back("pad({self})", "grad without the padding", "{g} without the padding"),
    "Clone": _back("{self}.clone()", "grad", "{g}"),
    "Alias": _back("{self}", "grad", "{g}"),
    "ToCopy": _back("{self}.to()", "grad.to(self.dtype)", "{g}, in the input's dtype"),
    "CopySlices": Rule("{0}, in place",
        { "base": ("grad, 0 where it was overwritten", "{g}, 0 where it was overwritten"),
        "value": ("grad of the slice", "{g} of the slice")}),
    # losses and layers
    "MseLoss": _r("mse_loss({self}, {target})", self=("grad * 2 * (self - target) / n", "{g} · 2 ({self} − {target}) / n"),
        target=("-grad * 2 * (self - target) / n", "−{g} · 2 ({self} − {target}) / n")),
    "NllLoss": _back("nll_loss({self})", "-grad * weight / total at the target, 0 elsewhere",
        "−{g} / n at the target class, 0 elsewhere"),
    "BinaryCrossEntropyWithLogits": _back("bce_with_logits({self})", "grad * (sigmoid(self) - target) / n",
        "{g} · (σ({self}) − {target}) / n"),
    "BinaryCrossEntropy": _back("bce({self})", "grad * (self - target) / (self * (1 - self)) / n",
        "{g} · ({self} − {target}) / ({self}(1 − {self})) / n"),
    "Convolution": _r("conv({input}, {weight})",
        input=("conv_transpose(grad, weight)", "{g} convolved with the flipped {weight}"),
        weight=("conv(input, grad)", "{input} correlated with {g}"), bias=("grad.sum over batch and space", "Σ {g}")),
    "MaxPool2DWithIndices": _back("max_pool2d({self})", "grad at each window's largest", "{g} at the largest of each window"),
    "AvgPool2D": _back("avg_pool2d({self})", "grad / window size, spread", "{g} / n over each window of n"),
    "NativeBatchNorm": _r("batch_norm({input})",
        input=("weight * rstd * (grad - mean(grad) - x̂ * mean(grad * x̂))",
            "weight · rstd · ({g} − mean − x̂ · mean({g} x̂))"),
        weight=("(grad * x̂).sum(batch)", "Σ {g} · x̂"), bias=("grad.sum(batch)", "Σ {g}")),
    "LinalgInvEx": _r("inverse({A})", A=("-inverse.T @ grad @ inverse.T", "−{A}⁻ᵀ · {g} · {A}⁻ᵀ")),
    "LinalgDet": _r("det({A})", A=("grad * result * inverse(A).T", "{g} · {result} · {A}⁻ᵀ")),
    "LinalgSolveEx": _r("solve({A}, {B})", A=("-solve(A.T, grad) @ result.T", "−A⁻ᵀ {g} · {result}ᵀ"),
        B=("solve(A.T, grad)", "A⁻ᵀ · {g}")),
    "NativeLayerNorm": _r("layer_norm({input})",
        input=("rstd * (g - mean(g) - x̂ * mean(g * x̂)), g = grad * weight",
            "rstd · (g − mean g − x̂ · mean(g x̂)),  g = {g} · weight"),
        weight=("(grad * x̂).sum(batch)", "Σ {g} · x̂"), bias=("grad.sum(batch)", "Σ {g}")),
    "NativeGroupNorm": _r("group_norm({input})",
        input=("rstd * (g - mean(g) - x̂ * mean(g * x̂)), g = grad * weight",
            "rstd · (g − mean g − x̂ · mean(g x̂)),  g = {g} · weight"),
        weight=("(grad * x̂).sum(batch, space)", "Σ {g} · x̂"), bias=("grad.sum(batch, space)", "Σ {g}")),
}  # fmt: skip


def base_name(name: str) -> str:
    """``Mul`` for ``MulBackward0``; the name itself where it does not end that way."""
    return re.sub(r"Backward\d*$", "", name) or name


def rule_for(name: str) -> Rule | None:
    """The rule known for a node name, or None. ``SquareBackward``, with no number, is the user's: a custom Function."""
    return RULES.get(name) or (None if name.endswith("Backward") else RULES.get(base_name(name)))


def forward_name(name: str) -> str:
    """How an operation without a rule is written: ``log_ndtr`` for ``LogNdtrBackward0``, ``Cube`` for ``CubeBackward``."""
    return (
        base_name(name)
        if name.endswith("Backward")
        else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", base_name(name)).lower()
    )


def form_of(function: Any, operands: dict[str, str]) -> str | None:
    """How the forward operation is written, inputs in braces: the table's form, made exact where the axes matter."""
    rule = rule_for(function.name)
    if rule is None:
        return None
    base, shape = base_name(function.name), function.outputs[0].shape
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
        turned = dims == sorted(dims, key=int, reverse=True)
        return rule.form if turned else f"{{self}}.permute({', '.join(dims)})"
    return rule.form


def symbol(name: str, form: str | None = None) -> str:
    """The operation on a forward edge: ``@``, ``*``, ``mean()``. ``form``: how it is written, by default as in the table."""
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
    """What the inputs of a node are called, in the order of ``next_functions``."""
    count = len(function.edges)
    if function.rules:
        return list(function.rules)
    rule = rule_for(function.name)
    if rule and len(rule.inputs) == count:
        return list(rule.inputs)
    return ["self"] if count == 1 else [f"input {i}" for i in range(count)]


def code_of(function: Any) -> list[str | None]:
    """The rule of each input as code: the node's own where it has ``rules``, else the table's, else None."""
    names = input_names(function)
    own = function.rules
    rule = rule_for(function.name)
    table = {n: code for n, (code, _) in rule.inputs.items()} if rule else {}
    return [own[n] if n in own else table.get(n) for n in names]


# a rule that is the call of a function inside the framework: its name says nothing to a reader
_HELPER = re.compile(r"\b(_\w+|\w+_(self|backward|reduced)|scaled)\(|sym_sizes")


def words_of(function: Any, operands: dict[str, str]) -> list[str | None]:
    """The rule of each input in the little room of a card: its code, or mathematics where the code only names a helper."""
    words = {k: f"({v})" if " " in v else v for k, v in operands.items()}
    words |= {"g": "grad", "result": function.outputs[0].name or "result"}
    codes, maths = code_of(function), math_of(function, words)
    return [m if m and is_helper(c) else c for c, m in zip(codes, maths, strict=True)]


def is_helper(code: str | None) -> bool:
    """Whether a rule's source text only names a function of the framework."""
    return code is not None and _HELPER.search(code) is not None


class _Words(dict):
    def __missing__(self, key: str) -> str:
        return key


def math_of(function: Any, words: dict[str, str]) -> list[str | None]:
    """The rule of each input as mathematics; ``words`` gives ``g``, the inputs and ``result`` their names here."""
    rule = rule_for(function.name)
    out: list[str | None] = []
    if (function.outputs[0].dtype or "").startswith("complex") and not function.name.startswith("Conj"):
        words = {k: f"conj({v})" if k in ("result", *input_names(function)) else v for k, v in words.items()}
    for name in input_names(function):
        known = rule.inputs.get(name) if rule else None
        out.append(known[1].format_map(_Words(words)) if known else None)
    return out


def expression(function: Any, operands: dict[str, str]) -> str:
    """The forward operation written with its operands: ``x @ w``; an operand with spaces gets brackets."""
    form = form_of(function, operands)
    if form is None:
        return f"{forward_name(function.name)}({', '.join(operands.values())})"
    words = _Words({k: f"({v})" if " " in v and _binds(form, k) else v for k, v in operands.items()})
    inputs = [operands[name] for name in input_names(function) if name in operands]
    words["all"] = ", ".join(inputs)
    for i, v in enumerate(inputs):
        words[str(i)] = v
    for k in ("dim", "dims"):  # one axis: sum(1) rather than sum((1,))
        words[k] = re.sub(r"^[(\[](-?\d+),?[)\]]$", r"\1", words[k])
    return re.sub(r"\{(\w+)\}", lambda m: words[m[1]], form)


def _binds(form: str, name: str) -> bool:
    """Whether an operator or a method takes hold of this operand, so that a compound one needs brackets."""
    return bool(re.search(rf"\{{{name}\}}( [-+*/@]|\.|\[)|[-+*/@] ?\{{{name}\}}", form))
