"""What PyTorch has and minigrad has not, and why: told to whoever asks for it. Imports nothing."""

from __future__ import annotations

# By the words that names are made of.
REASONS = {
    "complex complex32 complex64 complex128 cfloat cdouble chalf polar stft istft fft ComplexFloatTensor ComplexDoubleTensor": (
        "there are no complex tensors; keep the real and the imaginary part in two"
    ),
    "bfloat16 uint16 uint32 uint64": "the dtypes are bool, uint8, int8 to int64, float16, float32 and float64",
    "sparse smm sspmm spmm": "there are no sparse tensors",
    "quantize quantized qint8 qint32 quint8 dequantize": "there are no quantized tensors",
    "compile jit export fx script": "there is no compiler; call the function or module itself",
    "autocast amp GradScaler": "there is no mixed precision by itself; cast with .to(dtype)",
    "distributed multiprocessing": "everything runs in one process",
}


def reason(name: str) -> str:
    """ ": there are no complex tensors" for a name that speaks of them; "" for a name that tells nothing."""
    words = {name, *name.split("_")}
    return next((f": {why}" for known, why in REASONS.items() if words & set(known.split())), "")
