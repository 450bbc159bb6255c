"""Losses as people write them: each function returns a loss and the module, or modules, whose parameters it uses."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Made = tuple[Tensor, nn.Module]


def logistic_regression() -> Made:
    model = nn.Linear(5, 1)
    loss = F.binary_cross_entropy_with_logits(model(torch.randn(16, 5)), torch.randint(0, 2, (16, 1)).float())
    return loss, model


def perceptron() -> Made:
    model = nn.Sequential(
        nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)
    )
    return F.cross_entropy(model(torch.randn(10, 8)), torch.randint(0, 4, (10,)), label_smoothing=0.1), model


def digits_cnn() -> Made:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * 25, 32), nn.ReLU(), nn.Linear(32, 10), nn.LogSoftmax(1),
    )  # fmt: skip
    return F.nll_loss(model(torch.randn(4, 1, 28, 28)), torch.randint(0, 10, (4,))), model


class Residual(nn.Module):
    def __init__(self, width: int, out: int, groups: int = 1):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(groups, width), nn.BatchNorm2d(out)
        self.conv1, self.conv2 = nn.Conv2d(width, out, 3, padding=1), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(width, out, 1) if width != out else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv1(F.silu(self.norm1(x)))
        return self.conv2(F.silu(self.norm2(h))) + self.skip(x)


def residual_cnn() -> Made:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        *(Residual(8, 8) for _ in range(4)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )
    return F.cross_entropy(model(torch.randn(2, 3, 12, 12)), torch.tensor([1, 3])), model


class UNet(nn.Module):
    """A denoiser: time embedding, two levels down and up, attention at the bottom, skip connections."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.Linear(width, width))
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.ModuleList([Residual(width, 2 * width, 4), Residual(2 * width, 4 * width, 4)])
        self.attention = nn.MultiheadAttention(4 * width, 2, batch_first=True)
        self.middle = Residual(4 * width, 4 * width, 4)
        self.up = nn.ModuleList([Residual(8 * width, 2 * width, 4), Residual(4 * width, width, 4)])
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        angles = t[:, None] * torch.exp(torch.arange(8) * -math.log(1000) / 8)
        x = self.first(x) + self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, :, None, None]
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        b, c, h, w = x.shape
        flat = x.flatten(2).transpose(1, 2)
        x = x + self.attention(flat, flat, flat, need_weights=False)[0].transpose(1, 2).reshape(b, c, h, w)
        x = self.middle(x)
        for block in self.up:
            x = block(torch.cat([F.interpolate(x, scale_factor=2), skips.pop()], 1))
        return self.last(x)


def diffusion_unet() -> Made:
    model, clean, noise, t = (
        UNet(),
        torch.randn(2, 1, 8, 8),
        torch.randn(2, 1, 8, 8),
        torch.tensor([3.0, 40.0]),
    )
    keep = (1 - t / 50)[:, None, None, None]
    return F.mse_loss(model(keep.sqrt() * clean + (1 - keep).sqrt() * noise, t), noise), model


def variational_autoencoder() -> Made:
    decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 12))
    model = nn.ModuleDict({"encoder": nn.Linear(12, 2 * 3), "decoder": decoder})
    x = torch.rand(6, 12)
    mean, log_var = model["encoder"](x).chunk(2, 1)
    z = mean + (log_var / 2).exp() * torch.randn_like(mean)
    fit = F.binary_cross_entropy_with_logits(model["decoder"](z), x, reduction="sum")
    return fit - 0.5 * (1 + log_var - mean**2 - log_var.exp()).sum(), model


def _critic() -> nn.Module:
    return nn.Sequential(
        nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)
    )


def gan_generator() -> Made:
    generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    model = nn.ModuleList([generator, _critic()])
    return F.softplus(-model[1](generator(torch.randn(8, 4)))).mean(), model


def wgan_gradient_penalty() -> Made:
    critic, real, fake = _critic(), torch.randn(8, 2), torch.randn(8, 2) + 1
    mix = (real * 0.3 + fake * 0.7).requires_grad_()
    (gradient,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    penalty = ((gradient.norm(dim=1) - 1) ** 2).mean()
    return critic(fake).mean() - critic(real).mean() + 10 * penalty, critic


def simclr() -> Made:
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))
    x = torch.randn(6, 10)
    z = F.normalize(model(torch.cat([x, x + 0.1 * torch.randn_like(x)])), dim=1)
    similar = (z @ z.T / 0.5).masked_fill(torch.eye(12, dtype=torch.bool), float("-inf"))
    return F.cross_entropy(similar, torch.arange(12).roll(6)), model


def triplet() -> Made:
    model = nn.Sequential(nn.Linear(6, 12), nn.PReLU(), nn.Linear(12, 4))
    return F.triplet_margin_loss(*(model(torch.randn(5, 6)) for _ in range(3))), model


class LanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.lstm, self.head = (
            nn.Embedding(20, 8),
            nn.LSTM(8, 12, num_layers=2),
            nn.Linear(12, 20),
        )

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.lstm(self.embed(words))[0])


def lstm_language_model() -> Made:
    model, words = LanguageModel(), torch.randint(0, 20, (9, 3))
    return F.cross_entropy(model(words[:-1]).flatten(0, 1), words[1:].flatten()), model


def rnn_of_thirty_steps() -> Made:
    model = nn.RNN(4, 8)
    return model(torch.randn(30, 2, 4))[0].pow(2).mean(), model


def unrolled_gru() -> Made:
    model = nn.ModuleDict({"cell": nn.GRUCell(3, 5), "head": nn.Linear(5, 1)})
    h, loss = torch.zeros(2, 5), torch.zeros(())
    for _ in range(12):
        h = model["cell"](torch.randn(2, 3), h)
        loss = loss + model["head"](h).pow(2).mean()
    return loss, model


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.ln1, self.ln2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(30, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block(16, 2) for _ in range(4)])
        self.ln, self.head = nn.LayerNorm(16), nn.Linear(16, 30, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def gpt_of_four_blocks() -> Made:
    model, ids = GPT(), torch.randint(0, 30, (2, 9))
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()), model


def encoder_decoder() -> Made:
    model = nn.Transformer(8, 2, 2, 2, 16, batch_first=True)
    return model(torch.randn(2, 5, 8), torch.randn(2, 4, 8)).pow(2).mean(), model


def vision_transformer() -> Made:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    model = nn.ModuleDict({"patch": nn.Conv2d(3, 16, 4, 4), "encoder": encoder, "head": nn.Linear(16, 5)})
    x = model["patch"](torch.randn(2, 3, 16, 16)).flatten(2).transpose(1, 2)
    return F.cross_entropy(model["head"](model["encoder"](x).mean(1)), torch.tensor([0, 3])), model


class Sine(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (30 * x).sin()


def siren_of_gradients() -> Made:
    model = nn.Sequential(nn.Linear(2, 16), Sine(), nn.Linear(16, 16), Sine(), nn.Linear(16, 1))
    x = torch.rand(10, 2).requires_grad_()
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    return F.mse_loss(slope, torch.ones(10, 2)), model


def physics_informed() -> Made:
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    t = torch.linspace(0, 1, 8)[:, None].requires_grad_()
    u = model(t)
    (v,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    (a,) = torch.autograd.grad(v.sum(), t, create_graph=True)
    return ((a + 4 * u) ** 2).mean() + (u[0] - 1).pow(2).sum(), model


def neural_ode() -> Made:
    model, x, h = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)), torch.randn(6, 2), 0.25
    for _ in range(4):  # Runge-Kutta
        k1 = model(x)
        k2 = model(x + h / 2 * k1)
        k3 = model(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + model(x + h * k3))
    return F.l1_loss(x, torch.zeros(6, 2)), model


def normalizing_flow() -> Made:
    model = nn.ModuleList([nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2)) for _ in range(4)])
    a, b = torch.randn(10, 2).chunk(2, 1)
    log_det = torch.zeros(10, 1)
    for net in model:
        scale, shift = net(a).chunk(2, 1)
        a, b, log_det = b * scale.tanh().exp() + shift, a, log_det + scale.tanh()
    return (0.5 * (a**2 + b**2) - log_det).mean(), model


def maml() -> Made:
    model, x, y = (
        nn.Sequential(nn.Linear(1, 12), nn.ReLU(), nn.Linear(12, 1)),
        torch.randn(5, 1),
        torch.randn(5, 1),
    )
    names, weights = zip(*model.named_parameters(), strict=True)
    slopes = torch.autograd.grad(F.mse_loss(model(x), y), weights, create_graph=True)
    adapted = dict(zip(names, (w - 0.1 * g for w, g in zip(weights, slopes, strict=True)), strict=True))
    return F.mse_loss(torch.func.functional_call(model, adapted, (x + 1,)), y), model


class LoRA(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.base = nn.Linear(inputs, outputs).requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(2, inputs)), nn.Parameter(torch.zeros(outputs, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.a.T @ self.b.T


def lora() -> Made:
    model = nn.Sequential(LoRA(8, 16), nn.ReLU(), LoRA(16, 4))
    return F.cross_entropy(model(torch.randn(6, 8)), torch.randint(0, 4, (6,))), model


def style_transfer() -> Made:
    features = nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU()
    )
    image = features(torch.rand(1, 3, 10, 10)).flatten(2)
    style = features(torch.rand(1, 3, 10, 10)).flatten(2).detach()
    gram, wanted = image @ image.mT / 36, style @ style.mT / 36
    return F.mse_loss(gram, wanted) + 0.1 * image.diff(dim=2).abs().mean(), features


def actor_critic() -> Made:
    model = nn.ModuleDict({"body": nn.Linear(4, 16), "actor": nn.Linear(16, 2), "critic": nn.Linear(16, 1)})
    policy_loss, value_loss = [], []
    for reward in (1.0, 0.5, -1.0):
        h = model["body"](torch.randn(4)).relu()
        chosen = torch.distributions.Categorical(logits=model["actor"](h))
        value = model["critic"](h).squeeze()
        policy_loss.append(
            -chosen.log_prob(chosen.sample()) * (reward - value.detach()) - 0.01 * chosen.entropy()
        )
        value_loss.append(F.smooth_l1_loss(value, torch.tensor(reward)))
    return torch.stack(policy_loss).sum() + torch.stack(value_loss).sum(), model


def ctc() -> Made:
    model = nn.GRU(6, 5, bidirectional=True)
    out = model(torch.randn(10, 2, 6))[0].log_softmax(2)
    lengths = torch.tensor([10, 10]), torch.tensor([3, 2])
    return F.ctc_loss(out, torch.tensor([1, 2, 3, 4, 1]), *lengths), model


LOSSES = [
    logistic_regression, perceptron, digits_cnn, residual_cnn, diffusion_unet, variational_autoencoder, gan_generator,
    wgan_gradient_penalty, simclr, triplet, lstm_language_model, rnn_of_thirty_steps, unrolled_gru, gpt_of_four_blocks,
    encoder_decoder, vision_transformer, siren_of_gradients, physics_informed, neural_ode, normalizing_flow, maml, lora,
    style_transfer, actor_critic, ctc,
]  # fmt: skip
