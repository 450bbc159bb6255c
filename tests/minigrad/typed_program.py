"""What users write, as a type checker reads it; `make lint` runs `mypy --strict` on it and on the stubs."""

from __future__ import annotations

import minigrad as torch
import minigrad.nn.functional as F
from minigrad import Tensor, nn, optim
from minigrad.autograd import Function
from minigrad.func import grad, jacrev, vmap
from minigrad.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, 1))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return F.relu(y) * self.scale


def train(model: nn.Module, steps: int) -> list[float]:
    torch.manual_seed(0)
    x, y = torch.randn(8, 2), torch.zeros(8, 1)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True):
            optimizer.zero_grad()
            loss = F.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def expressions(x: Tensor) -> Tensor:
    with torch.no_grad():
        mask = (x > 0) & (x != 2)
    z = (2 * x + x.sum(1, keepdim=True)).relu()[1:, 0]
    size: tuple[int, ...] = tuple(x.shape)
    t = torch.zeros(size, dtype=torch.float64) @ x.T.double()
    return z.reshape(-1, 1).exp().mean() + t.sum() + x[mask].norm() + torch.cat([x, x], dim=0).std()


def transforms(x: Tensor) -> Tensor:
    def square(v: Tensor) -> Tensor:
        return (v * v).sum()

    slope: Tensor = vmap(grad(square))(x)
    curvature: Tensor = jacrev(grad(square))(x[0])
    return slope.sum() + curvature.sum()


class Exp(Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x.exp()


print(
    train(Net(4), 2)[-1] < 1,
    expressions(torch.ones(2, 3)),
    transforms(torch.ones(2, 3)),
    torch.cuda.is_available(),
)
