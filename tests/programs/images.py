"""A convolutional network on drawn bars: batch normalisation, pooling, dropout, a schedule, an evaluation, a checkpoint."""

import io

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
images, labels = torch.zeros(96, 1, 12, 12), torch.zeros(96, dtype=torch.long)
for i in range(96):
    kind, place = i % 3, int(torch.randint(2, 10, (1,)))
    if kind == 0:
        images[i, 0, place] = 1
    elif kind == 1:
        images[i, 0, :, place] = 1
    else:
        images[i, 0] = torch.eye(12).roll(place, 1)
    labels[i] = kind
images += 0.3 * torch.randn_like(images)
train, test = random_split(
    TensorDataset(images, labels), [72, 24], generator=torch.Generator().manual_seed(1)
)
loader = DataLoader(train, batch_size=16, shuffle=True, drop_last=True)

model = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 8, 3), nn.LeakyReLU(0.1), nn.AvgPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 3),
)  # fmt: skip
print(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
for epoch in range(4):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(x)
    schedule.step()
    model.eval()
    with torch.inference_mode():
        right = sum(int((model(x).argmax(1) == y).sum()) for x, y in DataLoader(test, batch_size=8))
    print(f"epoch {epoch}: {total / 64:.3f}, norm {norm:.3f}, right {right}/24, lr {schedule.get_last_lr()}")

file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
again = nn.Sequential(
    *[
        type(m)(*a)
        for m, a in zip(
            model,
            [(1, 6, 3, 1, 1), (6,), (), (2,), (6, 8, 3), (0.1,), (2,), (), (0.2,), (32, 3)],
            strict=True,
        )
    ]
)
print(again.load_state_dict(torch.load(file)))
print([tuple(p.shape) for p in again.parameters()], again[1].num_batches_tracked)
with torch.no_grad():
    print(torch.equal(again.eval()(images), model(images)))
