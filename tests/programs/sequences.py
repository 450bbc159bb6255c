"""A recurrent network that counts, an autoencoder that samples, and two networks against each other."""

import torch
from torch import nn

F = nn.functional
torch.manual_seed(5)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 8, num_layers=2, batch_first=True)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        hidden, _ = self.rnn(x)
        return self.out(hidden[:, -1])


model = Counter()
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
for step in range(15):
    x = torch.randint(0, 2, (8, 6, 1)).float()
    loss = F.smooth_l1_loss(model(x).squeeze(-1), x.sum((1, 2)))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    if step % 5 == 4:
        print(f"counts: {loss:.4f}")


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.mean, self.spread = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.outside = nn.Sequential(nn.Linear(2, 8), nn.GELU(), nn.Linear(8, 6))

    def forward(self, x):
        h = F.silu(self.inside(x))
        mean, log_variance = self.mean(h), self.spread(h)
        z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(log_variance)
        return self.outside(z), mean, log_variance


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = (torch.rand(32, 6) > 0.5).float()
for _ in range(15):
    logits, mean, log_variance = model(data)
    rebuilt = F.binary_cross_entropy_with_logits(logits, data, reduction="sum") / len(data)
    distance = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp()) / len(data)
    loss = rebuilt + 0.1 * distance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"autoencoder: {rebuilt:.4f} {distance:.4f}")

maker = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
judge = nn.Sequential(nn.Linear(1, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
of_maker, of_judge = (torch.optim.Adam(m.parameters(), lr=1e-2, betas=(0.5, 0.999)) for m in (maker, judge))
for _ in range(15):
    real, made = 3 + 0.5 * torch.randn(16, 1), maker(torch.randn(16, 2))
    d_loss = F.binary_cross_entropy(judge(real), torch.ones(16, 1)) + F.binary_cross_entropy(
        judge(made.detach()), torch.zeros(16, 1)
    )
    of_judge.zero_grad()
    d_loss.backward()
    of_judge.step()
    g_loss = F.binary_cross_entropy(judge(made), torch.ones_like(real))
    of_maker.zero_grad()
    g_loss.backward()
    of_maker.step()
print(f"judge {d_loss:.4f}, maker {g_loss:.4f}, made {made.mean():.3f} ± {made.std():.3f}")

attention = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 5, 8, requires_grad=True)
out, weights = attention(x, x, x, attn_mask=torch.triu(torch.ones(5, 5, dtype=torch.bool), diagonal=1))
out.pow(2).sum().backward()
print(out.shape, weights[0], x.grad.norm())
