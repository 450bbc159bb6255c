"""Beyond one gradient: a differential equation, learning to learn, Newton's method, curvature, samples one by one."""

import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.manual_seed(3)

# a network that solves u'' = -u, u(0) = 0, u'(0) = 1
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
t = torch.linspace(0, 2, 20).unsqueeze(1).requires_grad_()
for _ in range(60):
    u = net(t) * t
    (first,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), t, create_graph=True)
    loss = ((second + u) ** 2).mean() + (first[0] - 1).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", (net(t) * t)[::6].detach().squeeze().round(decimals=2))

# learning to learn: the gradient goes through a step of the inner training
w = torch.zeros(2, requires_grad=True)
for task in range(5):
    slope = torch.tensor(1.0 + task)
    x = torch.linspace(-1, 1, 8)
    inner = ((w[0] * x + w[1] - slope * x) ** 2).mean()
    (g,) = torch.autograd.grad(inner, w, create_graph=True)
    adapted = w - 0.5 * g
    outer = ((adapted[0] * x + adapted[1] - slope * x) ** 2).mean()
    (meta,) = torch.autograd.grad(outer, w)
    with torch.no_grad():
        w -= 0.5 * meta
print(w)


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


p = torch.tensor([-1.2, 1.0], dtype=torch.float64)
for _ in range(6):
    p = p - torch.linalg.solve(hessian(rosenbrock)(p), grad(rosenbrock)(p))
    print(f"{rosenbrock(p):.3e}", p)

A = torch.randn(3, 3)
print(torch.allclose(jacrev(torch.sin)(A), jacfwd(torch.sin)(A)))
print(jvp(lambda x: x @ x, (A,), (torch.eye(3),))[1])
value, pull = vjp(torch.linalg.inv, A + 3 * torch.eye(3))
print(pull(torch.ones(3, 3))[0])

model = nn.Linear(3, 2)
parameters = dict(model.named_parameters())
x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))


def loss_of(parameters, x, y):
    return nn.functional.cross_entropy(functional_call(model, parameters, (x.unsqueeze(0),)), y.unsqueeze(0))


each = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
print({name: tuple(g.shape) for name, g in each.items()})
print(each["bias"])
print(vmap(torch.dot)(torch.arange(6.0).view(3, 2), torch.ones(3, 2)))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


z = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Square.apply, (z,)), torch.autograd.gradgradcheck(Square.apply, (z,)))
print(
    torch.autograd.functional.hvp(
        lambda v: Square.apply(v).prod(), z.detach(), torch.ones(2, dtype=torch.float64)
    )
)
