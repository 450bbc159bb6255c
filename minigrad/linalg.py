"""Linear algebra, as `torch.linalg`: inverses, determinants, solutions, factorisations, norms.

All functions take batches of matrices: the last two dimensions are the matrix, those before it the batch.
"""

from __future__ import annotations

from .ops.arranging import diagonal as _diagonal
from .ops.decompositions import (
    LinAlgError,
    cholesky,
    det,
    eigh,
    eigvalsh,
    inv,
    lstsq,
    matrix_exp,
    matrix_power,
    pinv,
    qr,
    solve,
    solve_triangular,
    svdvals,
)
from .ops.decompositions import linalg_slogdet as slogdet
from .ops.decompositions import linalg_svd as svd
from .ops.factorizations import eig, eigvals, lu, lu_factor, lu_solve, tensorinv, tensorsolve
from .ops.factorizations import linalg_vander as vander
from .ops.linalg import linalg_cross as cross
from .ops.linalg import matmul, multi_dot, vecdot
from .ops.names import name_arguments
from .ops.norms import cond, matrix_norm, matrix_rank, vector_norm
from .ops.norms import linalg_norm as norm
from .tensor import Tensor


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as the last dimension of a view."""
    return _diagonal(A, offset, dim1, dim2)


name_arguments(globals(), "linalg_")
__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
__dir__ = __all__.copy  # what completion offers
