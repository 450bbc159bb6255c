"""The snippets that the lessons start from, word for word, with line breaks and indentation restored.

A comment `(given)` marks lines that define what a snippet takes for granted.
"""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% A: the first backward [A07 A05 A06 A08 A09 A10 A26]
import torch

# Example setup
w = torch.randn(5, 3, requires_grad=True)
x = torch.randn(1, 5)
# Ensure x does not require gradients if it's just input data
# x.requires_grad_(False) # or create it without requires_grad

y = x @ w # y depends on w through matrix multiplication
z = y.mean() # z is a scalar derived from y

# Compute gradients starting from z
z.backward()

# Gradient is now populated in w.grad
# The gradient d(z)/dw is computed and stored
print(w.grad.shape) # Output: torch.Size([5, 3])

# %% A: grad_fn of each tensor [A20 A17 A21]
# We need intermediate tensors to inspect their grad_fn
w = torch.randn(5, 3, requires_grad=True)
x = torch.randn(1, 5)
y = x @ w
z = y.mean()

print(f"y originated from: {y.grad_fn}")
# Output: y originated from: <MmBackward0 object at 0x...>
print(f"z originated from: {z.grad_fn}")
# Output: z originated from: <MeanBackward0 object at 0x...>

# Leaf tensors created by the user don't have grad_fn
print(f"w.grad_fn: {w.grad_fn}") # Output: w.grad_fn: None
print(f"x.grad_fn: {x.grad_fn}") # Output: x.grad_fn: None

# %% A: the training loop [A35 A33 A34]
model = torch.nn.Linear(3, 1)  # (given)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # (given)
criterion = torch.nn.MSELoss()  # (given)
dataloader = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]  # (given)
# Assume model, optimizer, criterion, dataloader are defined
for inputs, targets in dataloader:
    # 1. Reset gradients from the previous iteration
    optimizer.zero_grad()

    # 2. Perform forward pass
    outputs = model(inputs)
    loss = criterion(outputs, targets)

    # 3. Perform backward pass to compute gradients
    loss.backward()

    # 4. Update model parameters using computed gradients
    optimizer.step()

# %% A: predictions without a graph [A42 A41]
model = torch.nn.Linear(3, 1)  # (given)
validation_data = torch.randn(4, 3)  # (given)
with torch.no_grad():
    # Operations here won't be tracked
    predictions = model(validation_data)
    # memory usage is lower, computation is faster

# %% B: from two leaves to their gradients [B09 B15 B19 B23]
import torch

# Tensors with requires_grad=True will track operations
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.tensor([4.0, 5.0], requires_grad=True)

# Tensors without it won't be tracked (unless they are results of operations involving tracked tensors)
a = torch.tensor([1.0, 1.0])

z = x + y
print(z)  # tensor([6., 8.], grad_fn=<AddBackward0>)
print(z.grad_fn)  # <AddBackward0 object at 0x...>

loss = z.sum() # Often, loss is a scalar value
loss.backward()

print(x.grad) # tensor([1., 1.]) (since loss = x_0 + y_0 + x_1 + y_1, d(loss)/dx_0 = 1)
print(y.grad) # tensor([1., 1.])

# %% B: ones for a non-scalar [B27 B26]
x = torch.tensor([2.0, 3.0], requires_grad=True)  # (given)
y = torch.tensor([4.0, 5.0], requires_grad=True)  # (given)
z = x + y  # (given)
z.backward(torch.ones_like(z)) # Equivalent to z.sum().backward()

# %% B: no_grad around a model [B29 B28]
model = torch.nn.Linear(3, 1)  # (given)
input_data = torch.randn(4, 3)  # (given)
with torch.no_grad():
    output = model(input_data)
    # No gradients will be computed for 'output'

# %% B: detach leaves nothing to differentiate [B31 B30 B32]
x = torch.tensor([2.0], requires_grad=True)
y = x * 2
z = y.detach() * 3 # z no longer tracks history back to x
z.backward()  # raises
# x.grad will be None because z is detached
print(x.grad) # None
print(y.grad) # None

# %% B: freezing a model [B34 B33]
model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))  # (given)
# Freeze all parameters in a pre-trained model
for param in model.parameters():
    param.requires_grad_(False)

# %% C: two nodes [C09 C10 C08]
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3

print(y.grad_fn)
print(z.grad_fn)

# %% C: backward through two nodes [C14 C11 C12]
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3
z.backward()

print(x.grad)
print(y.grad)

# %% C: the diamond [C19 C18 C20]
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
a = y + 1
b = y * 2
c = a + b
c.backward()

print(x.grad)

# %% D: a sigmoid neuron [D10 D05 D06 D07]
import torch
w = torch.tensor([1.5], requires_grad=True) # leaf parameter
b = torch.tensor([0.3], requires_grad=True) # leaf parameter
x = torch.tensor([2.0]) # leaf data, no grad
z = x * w + b # intermediate
a = torch.sigmoid(z) # intermediate
loss = (a - 1.0) ** 2 # scalar output
print("w.grad_fn:", w.grad_fn)
print("z.grad_fn:", z.grad_fn)
print("a.grad_fn:", a.grad_fn)
print("loss.grad_fn:", loss.grad_fn)

# %% D: inference [D30 D25 D28]
import torch
model = torch.nn.Linear(50, 3)
X = torch.rand(8, 50)
# Inference: do not build the graph.
model.eval()
with torch.no_grad():
    logits = model(X)
    probs = torch.softmax(logits, dim=1)
print(logits.requires_grad, logits.grad_fn)

# %% D: a custom function [D35 D34 D37]
import torch
class ScaledReLU(torch.autograd.Function):
    """ReLU multiplied by a scalar `alpha`, with custom backward."""
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return alpha * torch.relu(x)
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output * ctx.alpha * (x > 0).to(grad_output.dtype)
        # Inputs: x, alpha. alpha is not a Tensor, so return None for it.
        return grad_input, None
x = torch.randn(4, requires_grad=True)
y = ScaledReLU.apply(x, 2.0).sum()
y.backward()
print(x.grad)

# %% D: per-sample gradients [D41 D40]
params, X, y = torch.randn(4, 3), torch.randn(8, 3), torch.randn(8, 4)  # (given)
from torch.func import grad, vmap
def loss_fn(params, x, y):
    return ((params @ x - y) ** 2).sum()
# Per-sample gradients: vmap the single-sample grad over the batch axis.
per_sample_grad = vmap(grad(loss_fn), in_dims=(None, 0, 0))(params, X, y)

# %% D: per-sample gradients as printed, with nothing defined
from torch.func import grad, vmap
def loss_fn(params, x, y):
    return ((params @ x - y) ** 2).sum()
per_sample_grad = vmap(grad(loss_fn), in_dims=(None, 0, 0))(params, X, y)  # raises

# %% D: hooks that keep activations [D47 D42 D44]
import torch
import torch.nn as nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
activations = {}
def save_act(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()
    return hook
handles = [
    model[0].register_forward_hook(save_act("linear_0")),
    model[2].register_forward_hook(save_act("linear_1")),
]
_ = model(torch.randn(2, 8))
for k, v in activations.items():
    print(k, tuple(v.shape))
for h in handles:
    h.remove()

# %% D: a gradient against its closed form [D56]
x = torch.randn(8, requires_grad=True)
f = (x ** 3 - 2 * x).sum()
f.backward()
torch.allclose(x.grad, 3 * x.detach() ** 2 - 2)
x.grad = None
torch.sigmoid(x).sum().backward()
sig = torch.sigmoid(x.detach())
torch.allclose(x.grad, sig * (1 - sig))
