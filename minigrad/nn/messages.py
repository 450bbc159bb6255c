"""PyTorch's long error messages about modules and optimizers, word for word. Those about tensors are in ../messages.py."""

# ---------------------------------------------------------------- modules

NO_FORWARD = 'Module [{}] is missing the required "forward" function'
NOT_BEGUN = "cannot assign {} before Module.__init__() call"
MODULE_TO = "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}"
WRONG_PART = "cannot assign '{}' object to {} '{}' ({} or None required)"
STATE_SIZE = (
    "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}."
)
STATE_TYPE = '"{}" should be a tensor but is of {}'
EXTEND = "{}.extend should be called with an iterable, but got {}"
CAUSAL_HINT = "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
CAUSAL_HINT += "`generate_square_subsequent_mask` to create this mask."
ATTENTION_MASK = "The shape of the attn_mask is {}, but should be {}."
UPDATE = "ModuleDict.update should be called with an iterable of key/value pairs, but got {}"
NO_ATTRIBUTE = "{} has no attribute `{}`"
PARAMETER_DTYPE = "Only Tensors of floating point and complex dtype can require gradients"
NEW_PARAMETER = "Parameter() takes a Tensor, but got {}: convert it to a tensor first"

# ---------------------------------------------------------------- hooks of modules

NOT_TUPLE = (
    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {}"
)
NO_INPUT_GRADS = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook "
    "for more details."
)
MUST_BE_SILENT = (
    "Backward hook for Modules where no input requires gradient should always return None or None for all "
    "gradients."
)
MODULE_HOOK_COUNT = "Backward {} returned an invalid number of {}, got {}, but expected {}"
PRE_HOOK = "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {}."

# ---------------------------------------------------------------- optimizers

SCHEDULE_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in "
    "the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
    "skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
NOT_PARAMETERS = (
    "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
    "{.dtype.tensor_type}"
)
PARAMETER_NAMES = "all optimizer params should be with/without names. Some param names are missing"
NOT_A_PARAMETER = "optimizer can only optimize Tensors, but one of the params is {}"
GROUP_SIZE = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
GROUP_COUNT = "loaded state dict has a different number of parameter groups"
NO_OPTION = "minigrad does not implement {}=True"
# Options of optimizers that must not be negative, as messages call them.
NOT_NEGATIVE = {
    "lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value", "alpha": "alpha value",
    "eps": "epsilon value",
}  # fmt: skip
