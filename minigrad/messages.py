"""Error messages: `check`, which raises errors, and PyTorch's long messages, word for word, so that code
that raises them stays short enough to read."""

from __future__ import annotations

import numpy as np

from . import dtypes
from .autograd.modes import anomaly


def check(holds: bool, message: str, *values: object, error: type[Exception] = RuntimeError) -> None:
    """Raise an error unless this holds. message: its text, with the values filled in: dtypes and classes by their names,
    tuples as lists."""
    if not holds:
        shown = [list(v) if type(v) is tuple else full_name(v) if isinstance(v, type) else v for v in values]
        raise error(message.format(*[dtypes.of_numpy(v) if isinstance(v, np.dtype) else v for v in shown]))


def full_name(kind: type) -> str:
    """A class as PyTorch's messages call it: 'list', 'Tensor', but 'numpy.ndarray', which is compiled."""
    if kind.__module__.split(".")[0] == __package__ and kind.__name__ in ("Size", "device", "dtype"):
        return f"torch.{kind.__name__}"  # compiled there
    compiled = not kind.__flags__ & 1 << 9  # Python's own flag for classes made by a class statement
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.") if compiled else kind.__name__


# ---------------------------------------------------------------- leaves, .grad, modes

NOT_A_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
FLAG_OF_RESULT = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
    "doesn't require differentiation use var_no_grad = var.detach()."
)
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match the tensor's "
    "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or "
    "None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
    "downstream systems that assume they match."
)
GRAD_SIZE = (
    "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient and the tensor "
    "are the same size"
)
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
    "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
    "these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as "
    "the solution."
)
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
    "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)
TO_NUMBER = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
DATA_DTYPE = "data set to a tensor that requires gradients must be floating point or complex dtype"
INFERENCE_FLAG = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
    "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)

# ---------------------------------------------------------------- saved values

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead"
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: [{} {}]{} is at "
    "version {}; expected version {} instead. Hint: {}"
)
MODIFIED_HINT = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
MODIFIED_THERE = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
    "changed in there or anywhere later. Good luck!"
)
PACK_WRITES = "A saved tensor pack hook is modifying its input in place: it must make a copy to work on."


def short_name(node: object) -> str:
    """A node's name as error messages have it: MulBackward0 is Mul, MaxBackward1 is Max1."""
    # the last word: the name of a custom Function may contain it too
    name, _, number = node.name().rpartition("Backward")
    if not name or not (number.isdigit() or not number):
        return node.name()
    return name + (number if number != "0" else "")


def modified_error(array: np.ndarray, maker: object, output_nr: int, now: int, then: int) -> RuntimeError:
    """PyTorch's complaint about a saved tensor that was written to."""
    kind = dtypes.of_numpy(array.dtype).tensor_type
    made_by = "" if maker is None else f", which is output {output_nr} of {short_name(maker)},"
    hint = MODIFIED_THERE if anomaly.on else MODIFIED_HINT
    return RuntimeError(MODIFIED.format(kind, list(array.shape), made_by, now, then, hint))


# ---------------------------------------------------------------- writing in place

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
STRETCHED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)
OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
CUSTOM_VIEW = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
    "handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
ONE_OF_SEVERAL_VIEWS = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
    "modified inplace. You should replace the inplace operation by an out-of-place one."
)
MODE_VIEW = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
    "view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both outside (if "
    "you want the inplace to be tracked)."
)

# ---------------------------------------------------------------- backward passes

IN_TRANSFORM = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
    "instead or call backward() outside of functorch transforms."
)
CREATES_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can "
    "cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this "
    "function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."
)
UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set allow_unused=True if this is the "
    "desired behavior."
)
MATERIALIZE = (
    "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
)
SHAPE = "Mismatch in shape: grad_output[{}] has a shape of {!r} and output[{}] has a shape of {!r}."
ORDER = "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
ORDER += "dimensions i.e. input.dim() = {} is not equal to len(dims) = {}"
