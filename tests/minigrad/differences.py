"""Where minigrad is known to differ from PyTorch 2.13, and why: the one table that the comparisons read.

A missing feature is not a difference: it raises an error that says so (AttributeError, or a TypeError that names the argument).
A difference that is not listed here fails a test.

`python -m tests.minigrad.at_random --count 5000` looks for more. With --seed 0 it last printed, on PyTorch 2.13:

                                compared   alike   known     new
    programs                        5000    4984      16       0
    transforms in transforms        1000     965      35       0
    bad calls                       1000     987      13       0

Of the 16 programs, 4 are listed here by kind or number; in 12, PyTorch gives two leaves the same memory, or reports an internal
error.
"""

from __future__ import annotations

import re

# ---------------------------------------------------------------- programs made up at random

# Programs by number: PyTorch is wrong there, or reports the other of two errors.
PROGRAMS = {
    557: "PyTorch crashes: a hook on a view whose base was written to",
    212548: "PyTorch takes the second hook on a view that is refused, and refuses only the first",
    3566: "two errors in one statement: PyTorch tells of the view inside of a Function, minigrad of the shared memory",
}
# PyTorch gives two leaves whose gradients come from one sum the same memory as .grad: the next pass adds to both of them.
# Such a program is known by its gradients' addresses, whatever its number.
SHARED = "the gradients of two leaves share their memory"
# These kinds are known by what differs, whatever the number.
VERSIONS = "the version of a result of inference tensors counts the writes inside PyTorch's kernels"
DETACHED = "PyTorch lets a detached inference tensor be written to outside of inference mode"
NORM_AT_ZERO = "the second derivative of a norm at 0: NaN there, 0 here"
# Transforms in transforms, by number.
NESTED = {
    7200550: "the Jacobian of a product with a constant, by forward mode, depends on its input in PyTorch, with slope 0"
}
# What PyTorch cannot do inside its transforms, with writes in place or saved values; minigrad may.
LIMITS = re.compile(
    "ZeroTensors are immutable|vmap: |modified by an inplace operation|not supported|not implemented|Batching rule"
)

# ---------------------------------------------------------------- bad calls made up at random

# What PyTorch does on purpose or for historical reasons, and minigrad does not: a pattern of the call, and the reason.
APART = {
    r"\.mT\b|\.T\b|\.H\b|\.mH\b": "attributes, which are read before they are called",
    r"dtype=torch.int64": "reductions have no `dtype=` here",
    r"unique\(": "its flag `sorted` is not looked at, as the result is always in order",
    r"chunk\(": "no parts at all are refused in Python's words",
    r"\.cuda\(": "of a graphics card minigrad says that there is none",
    r"broadcast_shapes\(": "another kind of error for what is no size",
    r"repeat_interleave\(": "`repeats` alone, without a tensor, is not offered",
    r"(trapz|trapezoid|chain_matmul|repeat|tile|scalar_tensor|einsum|svd)\(": "of two errors the other one, or none",
    r"\b[ib]\.(var|std)\(|\b(var|std)(_mean)?\([ib]\b": "integers with a wrong dimension: of two errors the other one",
    r"norm\(": "PyTorch's is written in Python, and its errors speak of its inside",
    r"(add|sub|subtract|multiply|divide|split|log_softmax|squeeze)_?\(": "forms of old are not offered: a factor in the middle",
    r"(bitwise_\w+|std|var|masked_fill)\(": "of two errors the other one comes first",
    r"\.to\((7|True|\()": "a device's number is refused before what follows it",
    r"cosh\(": "the last digit",
    r"tensordot\((torch.)?\w+, (slice|'|\d|-1|None|True|\()": "PyTorch's is written in Python: an AttributeError",
    r"\bmv\(": "a number in place of the matrix is told by its shape",
    r"remainder\(": "the sign of a remainder of zero: NumPy's is the divisor's, PyTorch's the dividend's",
    r"nan_to_num|allclose": "what these numbers do not need is not looked at",
}

# ---------------------------------------------------------------- PyTorch's own sample inputs (samples.py)

# Where minigrad is known to differ: for an operation, what shows it (in the sample or in what differs), and why.
NOT_IN_PLACE = r"inplace version of \w+' is not implemented|forward AD with \w+_ that does not support it"
DIFFERS = {
    "acosh": (NOT_IN_PLACE, "PyTorch has no derivative of the in-place form"),
    "asinh": (NOT_IN_PLACE, "the same"),
    "atanh": (NOT_IN_PLACE, "the same"),
    "cat": (
        r"Dimension out of range",
        "dim counts the dimensions of the first tensor, also of an empty vector",
    ),
    "flip": (r"dims=\(\)", "no dimensions are all of them, as for sums"),
    "gather": (
        r"too many indices for array|same number of dimensions",
        "an empty index has the tensor's dimensions",
    ),
    "linalg.cholesky": (r"tangents", "of a tangent that is not symmetric the symmetric part counts"),
    "logcumsumexp": (r"twice: items|tangents", "PyTorch's own are only exact to 1e-9"),
    "linalg.svd": (r"ReshapeAlias", "PyTorch's vectors lie in memory by columns"),
    "svd": (r"ReshapeAlias", "the same"),
    "bernoulli": (
        r"order|grad_fn|requires_grad|tangents",
        "no gradient passes, in PyTorch one of zeros does",
    ),
    "normal": (r"order|grad_fn|requires_grad|invalid combination", "the same"),
    "normal.in_place": (r"invalid combination", "the same"),
    "normal.number_mean": (r"order|grad_fn|requires_grad", "the same"),
    "diff": (r"y: version", "of order 0: a copy, which PyTorch writes into zeros"),
    "linalg.det": (r"requires_grad", "of no or one row: the second derivative, zero, hangs on the matrix"),
    "linalg.norm.subgradients_at_zero": (r"\bnan\b", "at 0 the second derivative is NaN"),
    "masked_fill": (r"only supports a 0-dimensional value", "not refused"),
    "narrow": (r"0-dim integral Tensor", "not refused"),
    "nn.functional.avg_pool1d": (r"not implemented for 'Long'", "integers are out"),
    "nn.functional.avg_pool2d": (r"not implemented for 'Long'", "integers are out"),
    "nn.functional.batch_norm": (r"at least 2 dimensions", "an input without channels is refused"),
    "nn.functional.layer_norm": (r"\[0\.0\]", "in single precision one number less itself is exactly 0"),
}
# Results that are unique only up to signs: what is compared is what PyTorch's own tests compute from them, without signs.
CHOICES = {"linalg.eigh", "linalg.svd", "svd"}
# What may differ where elements are equal, as integers often are: their positions may come in any order.
TIES = {
    "argsort": ("y: values",),
    "sort": ("y: items[1]: values",),
    "topk": ("y: items[1]: values",),
    "kthvalue": ("y: items[1]: values",),
    "median": ("y: items[1]: values",),
}
# Tolerances of more than a few roundings, and why; a slash limits one to a program or dtype.
ROUGH = {
    "nn.functional.batch_norm/float32": (1e-4, "two values of a channel: their gradients cancel"),
    "nn.functional.normalize": (1e-4, "the same"),
    "nn.functional.normalize/float32": (1e-2, "the same: with p = 0.5 nothing but roundings is left"),
    "nn.functional.selu": (1e-7, "in derivatives PyTorch's numbers are of single precision"),
    "nn.functional.cosine_similarity": (
        1e-4,
        "of single numbers the gradient is zero, and roundings are left",
    ),
    "softmax": (1e-4, "gradients cancel: in single precision both engines are 1e-7 off"),
    "softmax/twice": (1e-2, "the same, twice"),
    "log_softmax/twice": (1e-4, "the same"),
}

# ---------------------------------------------------------------- NaN, infinities and other odd numbers (test_operations.py)

# Where the number differs from PyTorch's, and why.
OTHERWISE = {
    "torch.logaddexp2(x, y)": "where the result is 0, PyTorch's is a rounding",
    "F.tanhshrink(x)": "near 0, where the last digit of tanh counts",
    "torch.fmod(x, y)": "divisors that are denormal are 0 for PyTorch's processor instructions",
    "F.gelu(x)": "PyTorch's kernel for AVX-512 gives NaN at infinity in single precision, those for other processors do not",
    "x % y": "PyTorch's is NaN where the quotient overflows, which a remainder need not",
    "torch.remainder(x, y)": "the same",
    "torch.lerp(x, y, z)": "the start and a part of the way: one rounding less near the start",
    "x ** 0.5": "the derivative at -0.0 and below, where a root has none",
}
WITH_AVX512 = {"F.gelu(x)"}  # differences only on processors with AVX-512

# ---------------------------------------------------------------- derivatives that PyTorch 2.13 gets wrong

# Functions of m, a matrix of three rows, whose derivatives agree with finite differences in minigrad only; grouped by the
# function of them that is differentiated (test_nested_transforms.py). Nothing to fix: minigrad is right.
WRONG_IN_PYTORCH = {
    "the product of the Hessian with a vector": {
        "(F.layer_norm(m, (3,)) ** 3).sum()": "the second derivative of layer_norm is differentiated as if it were constant",
        "(F.batch_norm(m, None, None, training=True) ** 3).sum()": "the same",
        "torch.linalg.det(m) ** 2": "NaN",
    },
    "the value, at a singular matrix, by forward mode": {
        "torch.linalg.det(m)": "zeros, where the determinant is a polynomial like any other",
    },
    "the Hessian": {
        "torch.linalg.det(m) ** 2": "the gradient through the forward derivative of an inverse is left out",
        "(torch.linalg.solve(m, w) ** 3).sum()": "the same",
        "(torch.linalg.eigvalsh(m + m.mT) ** 3).sum()": "NaN",
    },
}
