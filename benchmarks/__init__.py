"""Measurements: minigrad and viz compared with their peers, in one process, on one thread. `python -m benchmarks` prints all.

May use PyTorch, HIPS autograd and micrograd, which nothing else in the project needs: the extra `benchmarks`.
"""

import os

# before NumPy is imported: its BLAS asks once how many threads it may use
for library in ("OMP", "OPENBLAS", "MKL", "VECLIB", "NUMEXPR"):
    os.environ.setdefault(f"{library}_NUM_THREADS" if library != "VECLIB" else "VECLIB_MAXIMUM_THREADS", "1")
