"""PyTorch's long error messages, word for word, so that code that raises them stays short enough to read."""

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
DATA_TYPE = "Variable data has to be a tensor, but got {}"
GRAD_TYPE = "assigned grad expected to be a Tensor or None but got grad of type {}"
FLAG_DTYPE = "only Tensors of floating point dtype can require gradients"
FLAG_SET_DTYPE = "only Tensors of floating point and complex dtype can require gradients"
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
FLAG_TYPE = "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {}"
SET_GRAD_ENABLED = "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {}"
DECORATED_GENERATOR = (
    "minigrad does not implement grad modes as decorators of generators: use `with torch.no_grad():` inside"
)
ANOMALY_ON = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
    "debugging."
)
NO_TRACEBACK = (
    "No forward pass information available. Enable detect anomaly during forward pass for more information."
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
UNPACK_TYPE = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}"
PACK_WRITES = "A saved tensor pack hook is modifying its input in place: it must make a copy to work on."


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
INPUTS_TYPE = "all inputs have to be Tensors or GradientEdges, but got {}"
NO_START = "element {} of tensors does not require grad and does not have a grad_fn"
ONLY_SCALARS = "grad can be implicitly created only for scalar outputs"

# ---------------------------------------------------------------- transforms

VMAP_CHUNK = "vmap: chunk_size should be None or greater than 0. (got {})"
VMAP_RANDOMNESS = "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}"
JACREV_CHUNK = "jacrev: `chunk_size` should be greater than 0."
VMAP_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html): a tensor from inside vmap is used after the transform "
    "has ended. Return it from the function that is mapped."
)
VMAP_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
VMAP_IF = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues .\n"
    "Use where(condition, a, b) instead."
)
VMAP_ARRAY = (
    "vmap: inside the function a tensor stands for one example, whose numbers cannot be read: return the tensor, and read "
    "the result of the whole batch"
)
VMAP_SLOW = "vmap: {}() has no batched form here, so it runs once for each example, which is slow"
VMAP_DYNAMIC = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
    "with a boolean mask.\n"
    "The size of {}() would depend on the example's values. Use where()."
)
VMAP_SHARED = (
    "vmap: {0}_() cannot write a value for each example into a tensor that all examples share. Use the form of {0}() that "
    "returns a new tensor."
)
VMAP_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
VMAP_FUNCTION = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and implement the vmap "
    "staticmethod or set generate_vmap_rule=True. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
VMAP_NO_INPUTS = (
    "vmap({})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
    "with no inputs. The latter is unsupported."
)
VMAP_IN_DIMS = (
    "vmap({}, in_dims={}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching the "
    "structure of inputs, got: {}."
)
VMAP_SIZES = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension"
VMAP_STRUCTURE = (
    "vmap({0}, {1})(<inputs>): {2} is not compatible with the structure of `{3}`. {2} has structure {4} but {3} has "
    "structure {5}."
)
VMAP_NOT_TENSOR = (
    "vmap({}, in_dims={}, ...)(<inputs>): Got in_dim={} for an input but the input is of type {}. We cannot vmap over "
    "non-Tensor arguments, please use None as the respective in_dim"
)
VMAP_IN_DIM = (
    "vmap({0}, in_dims={1}, ...)(<inputs>): Got in_dim={2} for some input, but that input is a Tensor of "
    "dimensionality {3} so expected in_dim to satisfy -{3} <= in_dim < {3}."
)
VMAP_OUT_NONE = "vmap({0}, ...): `{0}` can not return a BatchedTensor when out_dim is None"
VMAP_OUT = "vmap({0}, ...): `{0}` must only return Tensors, got type {1}. Did you mean to set out_dims= to None for output?"
OLD_FUNCTION = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
ARGNUMS = "argnums must be int or Tuple[int, ...], got: {}"
AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"
EMPTY_OUTPUT = "{}: Expected f to be a function that has non-empty output (got output = {})"
NOT_ONLY_TENSORS = "{}: expected f(*primals) to return only tensors, got unsupported type {}"
COTANGENTS = (
    "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
    "cotangents: {}, primal output: {}"
)
JACREV_DTYPE = (
    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {}"
)
PRIMALS = "{}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
TANGENTS = "{}: Expected primals and tangents to have the same python structure."
FLAG_IN_TRANSFORM = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a "
    "function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being transformed "
    "instead."
)
GRAD_OF_TENSOR = "{}: Expected f(*args) to return a Tensor, got {}"
GRAD_OF_SCALAR = (
    "{}: Expected f(*args) to return a scalar Tensor, got tensor with {} dims. Maybe you wanted to use the vjp or "
    "jacrev APIs instead?"
)

# ---------------------------------------------------------------- custom Functions

NOT_SAVEABLE = "save_for_backward can only save variables, but argument {} is of type {}"
GRADIENT_COUNT = "function {} returned an incorrect number of gradients (expected {}, got {})"
GRADIENT_OF_NO_TENSOR = (
    "function {} returned a gradient different than None at position {}, but the corresponding forward input was not "
    "a Variable"
)
GRADIENT_SHAPE = (
    "Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}"
)
BOTH_BACKWARDS = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
    "them."
)
DIRTY = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
    "modified inplace must all be outputs of the Function."
)
DIRTY_LEAF = "a leaf Variable that requires grad has been used in an in-place operation."
DIRTY_VIEW = "{}: a Function that writes to a view must return that view and nothing else"
ONLY_ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"

# ---------------------------------------------------------------- forward mode

DUAL_OF_DUAL = (
    "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
    "supported."
)
DUAL_DTYPE = "Expected {} to be floating point or complex, but got: {}"
DUAL_SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
    "supported. Tensor is of size {} while the given forward gradient is of size {}."
)
NO_TANGENT = (
    "{}_(): a tensor made outside of forward mode cannot take the tangent of a value written into it. Write into a clone() "
    "made inside."
)
NO_NESTED_LEVELS = "Nested forward mode AD is not supported at the moment\nUse func.jvp, which can be nested."
NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."

# ---------------------------------------------------------------- hooks

HOOK_RESULT = "expected Variable, but hook returned '{}'"
HOOK_COUNT = "hook '{}' has returned an incorrect number of values (got {}, but expected {})"
HOOK_TYPE = "hook '{}' has changed the type of value (was {.tensor_type} got {.tensor_type})"

# ---------------------------------------------------------------- gradcheck and autograd.functional

NOTHING_TO_CHECK = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point or complex. This check will likely fail "
    "if all the inputs are not of double precision floating point or complex. "
)
NOT_ZERO = "Numerical gradient for function expected to be zero"
NO_MODE = "Expected at least one of check_forward_ad or check_backward_ad to be True"
JACOBIAN_MISMATCH = (
    "Jacobian {}mismatch for output {} with respect to input {},\nnumerical:{!r}\nanalytical:{!r}\n"
)
NOT_ONE_TENSOR = "The function given to {} should return a single Tensor"
NOT_ONE_ELEMENT = "The Tensor returned by the function given to {} should contain a single element"
NOT_TENSORS = "The {} given to {} must be either a Tensor or a tuple of Tensors but the {} has type {}."
NO_VECTOR = "The vector v can only be None if the {} a single Tensor with a single element."

# ---------------------------------------------------------------- arguments

AMBIGUOUS = (
    "cannot reshape tensor of {} elements into shape {} because the unspecified dimension size -1 can be any value "
    "and is ambiguous"
)
OUT_NEEDS_GRAD = (
    "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
    "requires grad."
)
OUT_TYPE = "{}(): argument 'out' must be Tensor, not {}"
FIRST_INT = "{} must be tuple of ints, but found element of type {} at pos 0"
OTHER_INT = '{} failed to unpack the object at pos {} with error "type must be tuple of ints,but got {}"'
OUT_SHAPE = "output with shape {} doesn't match the broadcast shape {}"
OUT_DTYPE = "result type {} can't be cast to the desired output type {}"
ELEMENT = "expected Tensor as element {} in argument 0, but got {}"
UNLIKE_SIZES = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
DIM_RANGE = "Dimension out of range (expected to be in range of [{}, {}], but got {})"
OUT_OF_SEVERAL = "minigrad does not implement {}() with out=... for several results"
COMBINATION = "{}() received an invalid combination of arguments - got ({}), but expected one of:{}"

# ---------------------------------------------------------------- checkpoints, files, data

CHECKPOINT_METADATA = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
    "pass.\ntensor at position {}:\nsaved metadata: {}\nrecomputed metadata: {}"
)
CHECKPOINT_COUNT = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
    "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}."
)
CHECKPOINT_VARIANT = (
    "minigrad implements only the variant of checkpoint() that PyTorch recommends: pass use_reentrant=False"
)
NOT_OUR_FILE = (
    "{} was not written by minigrad.save(), or is damaged. PyTorch's own files are pickles and cannot be read; there, "
    "save numpy arrays: {{k: v.numpy() for k, v in model.state_dict().items()}}"
)
SPLIT_LENGTHS = "Sum of input lengths does not equal the length of the input dataset!"
COLLATE = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
SAMPLER = "sampler option is mutually exclusive with shuffle"
BATCH_SIZE = "batch_size should be a positive integer value, but got batch_size={!r}"

# ---------------------------------------------------------------- what NumPy refuses, too

ONE_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)
TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
NEGATIVE_BOOL = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)
NEGATIVE_POWER = "Integers to negative integer powers are not allowed."
OF_NUMPY = {  # words in NumPy's message: PyTorch's message
    "boolean subtract": TWO_BOOLS,
    "boolean negative": NEGATIVE_BOOL,
    "Integers to negative": NEGATIVE_POWER,
}
