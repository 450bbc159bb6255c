"""Networks: modules, losses, initialisation, optimizers, data, functional transforms."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% a module of one's own
import torch.nn as nn
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.second = nn.Linear(width, 1, bias=False)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("seen", torch.zeros(1))
    def forward(self, x):
        return self.second(torch.tanh(self.first(x))) * self.scale
net = Net(4)
print(net)
[(name, tuple(p.shape)) for name, p in net.named_parameters()]
sum(p.numel() for p in net.parameters()), list(net.state_dict()), [name for name, _ in net.named_modules()]
out = net(torch.arange(6.0).reshape(2, 3))
out.sum().backward()
net.scale.grad, net.first.weight.grad
net.training, net.eval().training, net.train() is net
net.zero_grad()
net.first.weight.grad
net.missing  # raises
net.load_state_dict({"scale": torch.zeros(1)}, strict=False)
net.scale
net.requires_grad_(False)
[p.requires_grad for p in net.parameters()]
net.double().scale.dtype

# %% the initial weights follow the seed
torch.manual_seed(0)
layer = torch.nn.Linear(3, 2)
layer.weight, layer.bias
conv = torch.nn.Conv2d(1, 2, 3)
conv.weight.shape, conv.bias
torch.nn.Embedding(4, 2).weight

# %% initialisation
from torch.nn import init
torch.manual_seed(0)
w = torch.empty(3, 4)
[f(w).clone() for f in (init.zeros_, init.ones_, init.xavier_uniform_, init.xavier_normal_, init.kaiming_uniform_, init.kaiming_normal_)]
init.uniform_(w, -1, 1), init.normal_(w, 0, 0.1), init.constant_(w, 3), init.eye_(w), init.orthogonal_(torch.empty(2, 2)).shape
init.calculate_gain("relu"), init.calculate_gain("leaky_relu", 0.2)

# %% layers
torch.manual_seed(0)
nn = torch.nn
x = torch.randn(4, 6, requires_grad=True)
for layer in (nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.SiLU(), nn.ELU(), nn.LeakyReLU(0.1), nn.Softplus(), nn.Softmax(dim=1), nn.LogSoftmax(dim=1), nn.Identity(), nn.Flatten(), nn.LayerNorm(6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Hardtanh(), nn.ReLU6()):
    y = layer(x)
    print(layer, tuple(y.shape), y.grad_fn.name() if y.grad_fn else None)
    if not isinstance(layer, nn.Identity):
        y.pow(2).sum().backward()
x.grad
bn = nn.BatchNorm1d(2)
bn(torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
bn.running_mean, bn.running_var, bn.num_batches_tracked
bn.eval()(torch.tensor([[1.0, 2.0]]))
nn.Dropout(0.5).eval()(torch.ones(3))
nn.Sequential(nn.Linear(2, 3), nn.ReLU())[0], len(nn.Sequential(nn.ReLU(), nn.ReLU())), nn.ModuleList([nn.Linear(1, 1)])

# %% losses
nn = torch.nn
x = torch.tensor([[0.2, -1.0, 0.5], [1.5, 0.1, -0.3]], requires_grad=True)
t = torch.tensor([2, 0])
for loss in (nn.CrossEntropyLoss(), nn.CrossEntropyLoss(label_smoothing=0.1), nn.CrossEntropyLoss(reduction="sum"), nn.NLLLoss()):
    value = loss(x, t)
    value.backward()
    print(loss, value)
for loss in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss(), nn.BCEWithLogitsLoss()):
    value = loss(x, torch.full((2, 3), 0.3))
    value.backward()
    print(loss, value)
x.grad
nn.functional.mse_loss(x, torch.zeros(3))

# %% optimizers, step by step
def descend(make, steps=4):
    w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    optimizer = make([w])
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        ((w - 0.5) ** 2 * torch.tensor([1.0, 2.0, 0.5])).sum().backward()
        optimizer.step()
        path.append(w.detach().clone())
    return torch.stack(path)
optim = torch.optim
descend(lambda p: optim.SGD(p, lr=0.1))
descend(lambda p: optim.SGD(p, lr=0.1, momentum=0.9))
descend(lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01))
descend(lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1))
descend(lambda p: optim.Adam(p, lr=0.1))
descend(lambda p: optim.Adam(p, lr=0.1, betas=(0.8, 0.9), weight_decay=0.1, amsgrad=True))
descend(lambda p: optim.AdamW(p, lr=0.1))
descend(lambda p: optim.RMSprop(p, lr=0.1))
descend(lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True))
descend(lambda p: optim.Adagrad(p, lr=0.1))
optim.SGD([], lr=0.1)  # raises
optim.SGD([torch.ones(1)], lr=-1)  # raises
optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)  # raises
optim.SGD(torch.ones(1, requires_grad=True), lr=0.1)  # raises

# %% parameter groups, state and schedules
a, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1, momentum=0.9)
[(g["lr"], g["momentum"], len(g["params"])) for g in optimizer.param_groups]
(a * 2 + b * 3).sum().backward()
optimizer.step()
a, b
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
rates = []
for _ in range(4):
    optimizer.step()
    scheduler.step()
    rates.append([round(g["lr"], 6) for g in optimizer.param_groups])
rates
sorted(optimizer.state_dict()), optimizer.state[a]["momentum_buffer"]

# %% a small training run
torch.manual_seed(0)
x = torch.linspace(-1, 1, 16)[:, None]
y = x**2
model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
losses

# %% clipping gradients
w = torch.tensor([3.0, 4.0], requires_grad=True)
(w * w).sum().backward()
torch.nn.utils.clip_grad_norm_([w], 1.0)
w.grad
torch.nn.utils.clip_grad_value_([w], 0.5)
w.grad
torch.nn.utils.parameters_to_vector([w])

# %% data
from torch.utils.data import DataLoader, TensorDataset, random_split
data = TensorDataset(torch.arange(5), torch.arange(5.0) * 2)
len(data), data[3]
for a, b in DataLoader(data, batch_size=2):
    print(a, b)
torch.manual_seed(0)
[a.tolist() for a, _ in DataLoader(data, batch_size=2, shuffle=True, drop_last=True)]
len(DataLoader(data, batch_size=2)), [len(part) for part in random_split(data, [3, 2])]

# %% modules as functions of their parameters
from torch.func import functional_call, grad, vmap
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
params = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(4, 3), torch.randn(4, 1)
loss = lambda params, x, y: ((functional_call(model, params, (x,)) - y) ** 2).mean()
each = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
{name: g.shape for name, g in each.items()}
whole = grad(loss)(params, x, y)
torch.allclose(each["weight"].mean(0), whole["weight"], atol=1e-6)

# %% vmap
from torch.func import vmap
x, y = torch.arange(6.0).reshape(2, 3), torch.arange(3.0)
vmap(torch.dot)(x, x), vmap(torch.dot, in_dims=(0, None))(x, y), vmap(lambda a: a.sum(), in_dims=1)(x)
vmap(lambda a: (a * 2, a.mean()), out_dims=(1, 0))(x)
vmap(vmap(torch.sin))(x)
vmap(torch.dot)(x, y)  # raises
vmap(lambda a: a.item())(y)  # raises
