"""Names, letter by letter: counts, one neuron layer, then embeddings, a hidden layer and batch normalisation by hand."""

import torch

F = torch.nn.functional
words = ["emma", "olivia", "ava", "isabella", "sophia", "charlotte", "mia", "amelia", "harper", "evelyn"]
letters = sorted(set("".join(words)))
number = {s: i + 1 for i, s in enumerate(letters)}
number["."] = 0
letter = {i: s for s, i in number.items()}
V = len(number)

counts = torch.zeros((V, V), dtype=torch.int32)
for word in words:
    for a, b in zip("." + word, word + ".", strict=True):
        counts[number[a], number[b]] += 1
P = (counts + 1).float()
P /= P.sum(1, keepdim=True)
g = torch.Generator().manual_seed(2147483647)
for _ in range(3):
    out, ix = [], 0
    while True:
        ix = torch.multinomial(P[ix], num_samples=1, replacement=True, generator=g).item()
        out.append(letter[ix])
        if ix == 0:
            break
    print("".join(out))

xs = torch.tensor([number[a] for w in words for a in "." + w])
ys = torch.tensor([number[b] for w in words for b in w + "."])
W = torch.randn((V, V), generator=g, requires_grad=True)
for _ in range(20):
    logits = F.one_hot(xs, num_classes=V).float() @ W
    exps = logits.exp()
    probs = exps / exps.sum(1, keepdim=True)
    loss = -probs[torch.arange(len(xs)), ys].log().mean() + 0.01 * (W**2).mean()
    W.grad = None
    loss.backward()
    W.data += -10 * W.grad
print(f"{loss.item():.4f}")

X, Y = [], []
for word in words:
    context = [0] * 3
    for ch in word + ".":
        X.append(context)
        Y.append(number[ch])
        context = context[1:] + [number[ch]]
X, Y = torch.tensor(X), torch.tensor(Y)
print(X.shape, Y.shape, X.dtype)

C = torch.randn((V, 4), generator=g)
W1 = torch.randn((12, 20), generator=g) * (5 / 3) / 12**0.5
W2 = torch.randn((20, V), generator=g) * 0.01
b2 = torch.randn(V, generator=g) * 0
gain, bias = torch.ones((1, 20)), torch.zeros((1, 20))
running_mean, running_std = torch.zeros((1, 20)), torch.ones((1, 20))
parameters = [C, W1, W2, b2, gain, bias]
for p in parameters:
    p.requires_grad = True
print(sum(p.nelement() for p in parameters))
for step in range(60):
    ix = torch.randint(0, X.shape[0], (16,), generator=g)
    emb = C[X[ix]]
    hpre = emb.view(emb.shape[0], -1) @ W1
    mean, std = hpre.mean(0, keepdim=True), hpre.std(0, keepdim=True)
    hpre = gain * (hpre - mean) / std + bias
    with torch.no_grad():
        running_mean = 0.999 * running_mean + 0.001 * mean
        running_std = 0.999 * running_std + 0.001 * std
    h = torch.tanh(hpre)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -(0.1 if step < 40 else 0.01) * p.grad
    if step % 20 == 0:
        print(f"{step:4d}: {loss.item():.4f}, {(h.abs() > 0.97).float().mean().item():.3f} saturated")


@torch.no_grad()
def whole_loss():
    h = torch.tanh(gain * (C[X].view(X.shape[0], -1) @ W1 - running_mean) / running_std + bias)
    return F.cross_entropy(h @ W2 + b2, Y)


print(whole_loss())
