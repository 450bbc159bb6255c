"""Special functions, as `torch.special`: of probability theory, with entropies, logarithms and gamma functions."""

from .ops.binary import xlogy
from .ops.elementary import digamma, erf, erfc, erfinv, exp2, expm1, log1p, logit, polygamma, round, sinc
from .ops.elementary import lgamma as gammaln
from .ops.elementary import sigmoid as expit
from .ops.exponential import log_softmax, logsumexp, softmax
from .ops.names import name_arguments
from .ops.probability import entr, ndtr, ndtri, xlog1py
from .ops.probability import mvlgamma as multigammaln

psi = digamma

name_arguments(globals(), "special_")
__all__ = [
    "digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p", "log_softmax", "logit",
    "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
