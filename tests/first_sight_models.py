"""Small models of many kinds, each drawn as it is computed, for the tests of what a model looks like at first sight."""

from __future__ import annotations

import viz


def siren(torch):
    nn = torch.nn

    class Sine(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.linear = nn.Linear(i, o)

        def forward(self, x):
            return torch.sin(30 * self.linear(x))

    net = nn.Sequential(Sine(2, 8), Sine(8, 8), Sine(8, 8), nn.Linear(8, 1))
    return viz.draw(net(torch.rand(5, 2)).pow(2).mean())


def lora(torch):
    nn = torch.nn

    class Lora(nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base = base.requires_grad_(False)
            self.a = nn.Parameter(torch.randn(2, base.in_features))
            self.b = nn.Parameter(torch.zeros(base.out_features, 2))

        def forward(self, x):
            return self.base(x) + (x @ self.a.T @ self.b.T) * 2

    net = nn.Sequential(
        Lora(nn.Linear(8, 16)), nn.GELU(), Lora(nn.Linear(16, 16)), nn.GELU(), Lora(nn.Linear(16, 4))
    )
    return viz.draw(torch.nn.functional.cross_entropy(net(torch.randn(3, 8)), torch.tensor([0, 1, 2])))


def experts(torch):
    nn = torch.nn

    class Expert(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)

        def forward(self, x):
            return self.down(self.up(x).relu())

    class Mixture(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.experts = nn.Linear(4, 3), nn.ModuleList([Expert() for _ in range(3)])

        def forward(self, x):
            weights = self.gate(x).softmax(-1)
            return sum(weights[:, k, None] * expert(x) for k, expert in enumerate(self.experts))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inp, self.a, self.b, self.head = nn.Linear(6, 4), Mixture(), Mixture(), nn.Linear(4, 3)

        def forward(self, x):
            x = self.inp(x)
            x = x + self.a(x)
            return self.head(x + self.b(x))

    model = Net()
    return viz.draw(
        torch.nn.functional.cross_entropy(model(torch.randn(5, 6)), torch.tensor([0, 1, 2, 0, 1]))
    )


def sparse_experts(torch):
    """Layers with two results: the second result of each goes into the loss."""
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.gate = nn.LayerNorm(4), nn.Linear(4, 2)
            self.experts = nn.ModuleList(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4)) for _ in range(2))

        def forward(self, x):
            h = self.norm(x)
            shares = self.gate(h).softmax(-1)
            made = torch.zeros_like(h)
            for k, expert in enumerate(self.experts):
                rows = (shares.argmax(-1) == k).nonzero()[:, 0]
                made = made.index_add(0, rows, expert(h[rows]) * shares[rows, k, None])
            return x + made, shares.mean(0).square().sum()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inp, self.a, self.b, self.head = nn.Linear(6, 4), Layer(), Layer(), nn.Linear(4, 3)

        def forward(self, x):
            x, first = self.a(self.inp(x))
            x, second = self.b(x)
            return self.head(x), first + second

    model = Net()
    scores, balance = model(torch.randn(9, 6))
    return viz.draw(torch.nn.functional.cross_entropy(scores, torch.arange(9) % 3) + 0.1 * balance, fold=1)


def frozen_llama(torch):
    """Only the norms learn: a frozen layer's output is known by its position. The hand-written norm reads its weight first."""
    nn = torch.nn

    class RMSNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(8))

        def forward(self, x):
            return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = RMSNorm(), RMSNorm()
            self.mix, self.up, self.down = (nn.Linear(*s, bias=False) for s in ((8, 8), (8, 16), (16, 8)))
            for layer in (self.mix, self.up, self.down):
                layer.requires_grad_(False)

        def forward(self, x):
            x = x + self.mix(self.norm1(x))
            return x + self.down(torch.nn.functional.silu(self.up(self.norm2(x))))

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.tok, self.layers = nn.Embedding(9, 8), nn.ModuleList(Layer() for _ in range(4))
            self.norm, self.out = RMSNorm(), nn.Linear(8, 9)

        def forward(self, ids):
            x = self.tok(ids)
            for layer in self.layers:
                x = layer(x)
            return self.out(self.norm(x))

    model = Llama()
    return viz.draw(torch.nn.functional.cross_entropy(model(torch.arange(9)), torch.arange(9)))


def classifier(torch):
    nn = torch.nn

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb, self.gru, self.fc = nn.Embedding(9, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 3)

        def forward(self, words):
            return self.fc(self.gru(self.emb(words))[1][-1])

    model = Classifier()
    return viz.draw(
        torch.nn.functional.cross_entropy(model(torch.randint(0, 9, (2, 30))), torch.tensor([0, 2]))
    )


def cell(torch):
    cell, fc, h = torch.nn.GRUCell(3, 5), torch.nn.Linear(5, 2), torch.zeros(2, 5)
    for x in torch.randn(20, 2, 3):
        h = cell(x, h)
    return viz.draw(torch.nn.functional.cross_entropy(fc(h), torch.tensor([0, 1])))


def critic(torch):
    """A discriminator that is called twice: each call has its own loss."""
    nn = torch.nn
    netD = nn.Sequential(
        nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)
    )
    bce = nn.BCEWithLogitsLoss()
    return viz.draw(
        bce(netD(torch.randn(3, 4)), torch.ones(3, 1)) + bce(netD(torch.randn(3, 4)), torch.zeros(3, 1)),
        fold=0,
    )


def physics(torch):
    """Derivatives of a network: each is a box with the name that the program gives it."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    x, t = torch.rand(6, 1, requires_grad=True), torch.rand(6, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    loss = ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()
    return viz.draw(loss)


def temporal(torch):
    """A weight that is computed from two parameters, which are in a submodule of the layer that uses it."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 3, 3, padding=2))

        def forward(self, x):
            return torch.relu(x + self.conv(x)[..., :-2])

    net = nn.Sequential(nn.Conv1d(1, 3, 1), Block(), Block(), Block())
    return viz.draw(net(torch.randn(2, 1, 8)).mean())


def triplet(torch):
    """The model runs once, and the only module in it runs three times."""
    nn = torch.nn

    class Triplet(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Sequential(
                nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2)
            )

        def forward(self, *images):
            return [self.embed(image) for image in images]

    model = Triplet()
    return viz.draw(torch.stack(model(*torch.randn(3, 4, 5))).mean())


def characters(torch):
    """A loop in the forward pass of a model that runs once."""
    nn = torch.nn

    class Characters(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.cell, self.out = nn.Embedding(9, 4), nn.LSTMCell(4, 6), nn.Linear(6, 9)

        def forward(self, ids):
            h = c = torch.zeros(len(ids), 6)
            steps = []
            for column in ids.T:
                h, c = self.cell(self.embed(column), (h, c))
                steps.append(self.out(h))
            return torch.stack(steps, 1)

    model, ids = Characters(), torch.randint(0, 9, (3, 9))
    return viz.draw(nn.functional.cross_entropy(model(ids[:, 1:]).flatten(0, 1), ids[:, :-1].flatten()))


def pooled(torch):
    """Layers without parameters begin and end a Sequential."""
    nn = torch.nn

    class Down(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.net = nn.Sequential(
                nn.MaxPool2d(2), nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
            )

        def forward(self, x):
            return self.net(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.down1, self.down2 = nn.Conv2d(1, 3, 3, padding=1), Down(3, 6), Down(6, 9)
            self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(9, 3))

        def forward(self, x):
            return self.head(self.down2(self.down1(self.stem(x))))

    net, criterion = Net(), nn.CrossEntropyLoss()
    return viz.draw(criterion(net(torch.randn(2, 1, 8, 8)), torch.tensor([0, 2])))


def lagrangian(torch):
    """Each row of second derivatives is one pass, although some formulas in it are computed by forward functions."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1))
    q, v = torch.randn(2, 6, 2).unbind()
    q, v = q.requires_grad_(), v.requires_grad_()
    first = torch.autograd.grad(net(torch.cat([q, v], 1)).sum(), (q, v), create_graph=True)
    rows = [torch.autograd.grad(first[1][:, k].sum(), (q, v), create_graph=True) for k in range(2)]
    mixed, hessian = (torch.stack([row[k] for row in rows], 1) for k in range(2))
    force = first[0] - (mixed @ v[..., None])[..., 0]
    return viz.draw(torch.linalg.solve(hessian + torch.eye(2), force).pow(2).mean())


def energies(torch):
    """Each part of a model says to which of the model's calls it belongs."""
    nn, F = torch.nn, torch.nn.functional

    class Energy(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.fc = nn.Conv2d(1, 2, 3), nn.Linear(8, 1)

        def forward(self, x):
            return self.fc(F.silu(self.conv(x)).flatten(1))

    energy = Energy()
    real, fake = energy(torch.rand(3, 1, 4, 4)), energy(torch.rand(3, 1, 4, 4))
    return viz.draw((real - fake).mean(), fold=2)


def chosen_experts(torch):
    """Functions that choose between the parts of a module and add up their results get no boxes of their own."""
    nn, F = torch.nn, torch.nn.functional

    class Mixture(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(8, 4, bias=False)
            self.experts = nn.ModuleList(
                nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)) for _ in range(4)
            )

        def forward(self, x):
            weights, chosen = torch.topk(self.gate(x).softmax(-1), 2)
            made = torch.zeros_like(x)
            for k, expert in enumerate(self.experts):
                row, nth = torch.where(chosen == k)
                made[row] += weights[row, nth, None] * expert(x[row])
            return made

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.moe, self.norm, self.head = (
                nn.Linear(6, 8),
                Mixture(),
                nn.LayerNorm(8),
                nn.Linear(8, 3),
            )

        def forward(self, x):
            x = self.embed(x)
            return self.head(self.norm(x + self.moe(x)))

    model = Net()
    return viz.draw(F.cross_entropy(model(torch.randn(32, 6)), torch.randint(0, 3, (32,))))


def hypernetwork(torch):
    """A learned vector is the input of a layer, not a part of its weight. What comes out are the weights of another layer."""
    nn, F = torch.nn, torch.nn.functional

    class Hyper(nn.Module):
        def __init__(self):
            super().__init__()
            self.z, self.body = nn.Parameter(torch.randn(1, 4)), nn.Sequential(nn.Linear(4, 9), nn.ReLU())
            self.weight, self.bias = nn.Linear(9, 6), nn.Linear(9, 2)

        def forward(self):
            h = self.body(self.z)
            return self.weight(h).view(2, 3), self.bias(h)

    hyper = Hyper()
    w, b = hyper()
    return viz.draw(F.mse_loss(F.linear(torch.randn(5, 3), w, b), torch.randn(5, 2)), fold=1)


def padded(torch):
    nn, functional = torch.nn, torch.nn.functional

    class Causal(nn.Module):
        def __init__(self, dilation):
            super().__init__()
            self.dilation, self.conv = dilation, nn.Conv1d(4, 4, 2, dilation=dilation)

        def forward(self, x):
            return self.conv(functional.pad(x, (self.dilation, 0)))

    class Residual(nn.Module):
        def __init__(self, dilation):
            super().__init__()
            self.filter, self.gate, self.out = Causal(dilation), Causal(dilation), nn.Conv1d(4, 4, 1)

        def forward(self, x):
            return x + self.out(self.filter(x).tanh() * self.gate(x).sigmoid())

    net = nn.Sequential(nn.Conv1d(1, 4, 1), Residual(1), Residual(2), Residual(4), nn.Conv1d(4, 3, 1))
    return viz.draw(functional.cross_entropy(net(torch.randn(2, 1, 8)), torch.randint(0, 3, (2, 8))))


def splines(torch):
    nn, functional = torch.nn, torch.nn.functional

    class Spline(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.base, self.bumps = nn.Parameter(torch.randn(o, i)), nn.Parameter(torch.randn(o, 5 * i))

        def forward(self, x):
            near = torch.exp(-((x[..., None] - torch.linspace(-1, 1, 5)) ** 2))
            near = near / near.sum(-1, keepdim=True)
            return functional.silu(x) @ self.base.T + near.flatten(1) @ self.bumps.T

    net = nn.Sequential(Spline(2, 4), Spline(4, 3), Spline(3, 1))
    return viz.draw(functional.mse_loss(net(torch.rand(6, 2)), torch.rand(6, 1)))


def normalised(torch):
    nn, functional = torch.nn, torch.nn.functional
    left, right = nn.Linear(6, 4), nn.Linear(5, 4)
    a, b = (
        functional.normalize(left(torch.randn(3, 6))),
        functional.normalize(right(torch.randn(3, 5)), dim=-1),
    )
    return viz.draw(functional.cross_entropy(a @ b.T, torch.arange(3)))


def one_inner_step(torch):
    nn, functional = torch.nn, torch.nn.functional
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.randn(5, 1)
    inner = functional.mse_loss(net(x), x.sin())
    slopes = torch.autograd.grad(inner, [*net.parameters()], create_graph=True)
    fast = {name: p - 0.1 * g for (name, p), g in zip(net.named_parameters(), slopes, strict=True)}
    outer = torch.func.functional_call(net, fast, (x,))
    return viz.draw(functional.mse_loss(outer, x.sin()))


def flow_with_determinants(torch):
    nn = torch.nn

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.shift, self.scale = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))

        def forward(self, x):
            return self.scale * (x + self.shift), self.scale.abs().log().sum()

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Scaled() for _ in range(3))

        def forward(self, x):
            total = 0.0
            for layer in self.layers:
                x, change = layer(x)
                total = total + change
            return x, total

    flow = Flow()
    z, change = flow(torch.randn(4, 3))
    return viz.draw((z**2).sum(1).mean() / 2 - change)
