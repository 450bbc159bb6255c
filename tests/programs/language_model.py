"""A transformer that learns letters and then writes: attention with a causal mask, residual blocks, dropout, AdamW."""

import torch
from torch import nn

F = nn.functional
torch.manual_seed(1337)
text = "to be or not to be that is the question whether tis nobler in the mind to suffer " * 4
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text], dtype=torch.long)
B, T, C, HEADS = 4, 8, 16, 2


def batch():
    starts = torch.randint(len(data) - T, (B,))
    x = torch.stack([data[i : i + T] for i in starts])
    y = torch.stack([data[i + 1 : i + T + 1] for i in starts])
    return x, y


class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(C, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(T, T)))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        t = x.shape[1]
        k, q = self.key(x), self.query(x)
        weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        weights = weights.masked_fill(self.tril[:t, :t] == 0, float("-inf"))
        return self.dropout(F.softmax(weights, dim=-1)) @ self.value(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head(C // HEADS) for _ in range(HEADS)])
        self.project = nn.Linear(C, C)
        self.forwards = nn.Sequential(nn.Linear(C, 4 * C), nn.ReLU(), nn.Linear(4 * C, C), nn.Dropout(0.1))
        self.norm1, self.norm2 = nn.LayerNorm(C), nn.LayerNorm(C)

    def forward(self, x):
        normed = self.norm1(x)
        x = x + self.project(torch.cat([head(normed) for head in self.heads], dim=-1))
        return x + self.forwards(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(chars), C), nn.Embedding(T, C)
        self.blocks = nn.Sequential(*[Block() for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, len(chars))

    def forward(self, index, targets=None):
        b, t = index.shape
        x = self.letters(index) + self.places(torch.arange(t))
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(b * t, -1), targets.view(b * t))

    @torch.no_grad()
    def write(self, index, length):
        for _ in range(length):
            logits, _ = self(index[:, -T:])
            following = torch.multinomial(F.softmax(logits[:, -1, :], dim=-1), num_samples=1)
            index = torch.cat((index, following), dim=1)
        return index


model = LanguageModel()
print(model)
print(sum(p.numel() for p in model.parameters()), "parameters")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(60):
    _, loss = model(*batch())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, f"{loss.item():.4f}")
model.eval()
print("".join(chars[i] for i in model.write(torch.zeros((1, 1), dtype=torch.long), 40)[0].tolist()))
