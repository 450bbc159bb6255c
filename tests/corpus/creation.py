"""Making tensors: values, dtypes, shapes, random numbers, conversions, printing."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import numpy as np
import torch

# %% from Python values
torch.tensor(3), torch.tensor(3.5), torch.tensor(True)
torch.tensor([1, 2]), torch.tensor([1, 2.5]), torch.tensor([True, 2])
torch.tensor([[1, 2], [3, 4]]), torch.tensor([]), torch.tensor([[]])
torch.tensor([1, 2], dtype=torch.float64), torch.tensor([1.0], dtype=torch.int32), torch.tensor([0, 2], dtype=torch.bool)
torch.tensor((1.0, 2.0), requires_grad=True)
torch.tensor([torch.tensor(1.0), 2.0])
torch.tensor(np.float64(2.5)), torch.tensor(np.arange(3)), torch.tensor(np.ones((2, 2), dtype=np.float32))
torch.tensor(range(3))
torch.tensor([1e400]), torch.tensor(float("nan"))

# %% zeros, ones, full and what is like them
torch.zeros(2, 3), torch.zeros((2, 3)), torch.zeros(2), torch.zeros(()), torch.zeros(0)
torch.ones(2, dtype=torch.int64), torch.ones([2, 1], requires_grad=True)
torch.full((2,), 3), torch.full((2,), 3.5), torch.full((), True), torch.full((2,), 1, dtype=torch.float64)
torch.empty(2, 3).shape
x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
torch.zeros_like(x), torch.ones_like(x, dtype=torch.int64), torch.full_like(x, 7), torch.zeros_like(x, requires_grad=True)
x.new_zeros(2), x.new_ones((1, 2)), x.new_full((2,), 5), x.new_tensor([1, 2]), x.new_empty(3).shape
torch.rand_like(x).shape, torch.randn_like(x).dtype, torch.empty_like(x).dtype

# %% ranges
torch.arange(5), torch.arange(1, 5), torch.arange(1, 5, 2), torch.arange(5.0), torch.arange(0, 1, 0.25)
torch.arange(3, dtype=torch.float32), torch.arange(5, 0, -2), torch.arange(0)
torch.linspace(0, 1, 5), torch.linspace(-1, 1, 3, dtype=torch.float64), torch.linspace(0, 1, 1)
torch.eye(3), torch.eye(2, 3), torch.eye(2, dtype=torch.int64)
torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
torch.arange(6).reshape(2, 3).float().requires_grad_()

# %% from NumPy and back
a = np.arange(3.0)
t = torch.from_numpy(a)
t.dtype
t[0] = 9
a
s = torch.as_tensor(a)
a[1] = 7
s, torch.as_tensor([1, 2]), torch.as_tensor(s) is s
torch.tensor(a)[0]
np.shares_memory(t.numpy(), a), t.numpy().dtype
b = torch.ones(2).numpy()
np.add(torch.ones(2), 1), np.asarray(torch.arange(2)), np.sum(torch.ones(3).numpy())
torch.from_numpy([1.0])  # raises
torch.from_numpy(np.array(["a"]))  # raises
torch.ones(2).tolist(), torch.tensor(2).item(), torch.tensor([[True]]).tolist()

# %% random numbers follow the seed
torch.manual_seed(0)
torch.randn(4), torch.rand(3), torch.randn(()), torch.randn(2, 2)
torch.manual_seed(0)
torch.randn(20)
torch.manual_seed(1)
torch.rand(20), torch.randn(3, 7)
torch.manual_seed(2)
torch.randint(10, (5,)), torch.randint(-3, 3, (2, 3)), torch.randint(0, 2**40, (2,)), torch.randperm(8)
torch.manual_seed(3)
torch.randn(4, dtype=torch.float64), torch.rand(3, dtype=torch.float64), torch.randn(17, dtype=torch.float64)
torch.manual_seed(4)
torch.empty(3).normal_(2, 0.5), torch.empty(3).uniform_(-1, 1), torch.normal(0.0, 1.0, (2,)), torch.bernoulli(torch.full((5,), 0.5))
torch.manual_seed(5)
torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 4, replacement=True)
torch.initial_seed()

# %% generators have their own state
g = torch.Generator().manual_seed(7)
a = torch.randn(3, generator=g)
torch.manual_seed(7)
torch.equal(a, torch.randn(3)), g.initial_seed()
torch.randperm(5, generator=g), torch.rand(2, generator=g)
_state = torch.get_rng_state()
b = torch.rand(2)
torch.set_rng_state(_state)
torch.equal(b, torch.rand(2))

# %% dtypes and their conversions
x = torch.tensor([1.7, -2.7, 0.0])
x.int(), x.long(), x.bool(), x.double(), x.half().dtype, x.to(torch.int64), x.type(torch.float64), x.byte().dtype
x.dtype, x.is_floating_point(), torch.is_floating_point(x.long()), x.element_size(), x.nbytes
torch.float32, torch.float, torch.double, torch.long, torch.int, torch.bool, torch.half
torch.get_default_dtype(), torch.is_tensor(x), torch.is_tensor(1.0)
x.to(torch.float32) is x, x.float() is x, x.to("cpu") is x, x.cpu() is x
torch.set_default_dtype(torch.float64)
torch.tensor(1.0), torch.zeros(2), torch.arange(3) / 2
torch.set_default_dtype(torch.float32)

# %% promotion
i, f, d, b = torch.tensor([3]), torch.tensor([1.5]), torch.tensor([2.5], dtype=torch.float64), torch.tensor([True])
[(a * c).dtype for a in (i, f, d, b) for c in (i, f, d, b)]
[(a + c).dtype for a in (i, f, d, b) for c in (2, 2.5, True)]
[(a / c).dtype for a in (i, f, d, b) for c in (i, f, d, b)]
(f * torch.tensor(2.0, dtype=torch.float64)).dtype, (i * torch.tensor(2.5)).dtype, (torch.tensor(2) * torch.tensor(2.5)).dtype
torch.tensor(3, dtype=torch.int32) + i, torch.tensor([200], dtype=torch.uint8) + 100, torch.tensor([100], dtype=torch.int8) * 2
i / 2, i // 2, -i // 2, i % 2, -i % 2, i**2, i**0.5, 2**i, b + b, b * 3, b & b, ~b, ~i
sum([f, f]), f.sum().dtype, i.sum().dtype, b.sum(), i.to(torch.int32).sum().dtype, i.float().mean(), b.float().mean()

# %% what a tensor says about itself
x = torch.arange(24.0).reshape(2, 3, 4)
x.shape, x.size(), x.size(1), x.size(-1), x.dim(), x.ndim, x.numel(), len(x), x.stride(), x.stride(0), x.storage_offset()
x[1].storage_offset(), x.mT.stride(), x.is_contiguous(), x.mT.is_contiguous()
x.shape == (2, 3, 4), x.shape[1:], list(x.shape), x.shape.numel(), torch.Size([1, 2])
print(x.shape, x.size(0), x.dtype, x.device)
torch.Size([2, 3]) + (4,), tuple(x.shape), repr(x.shape)
x.requires_grad, x.is_leaf, x.grad, x.grad_fn, x.output_nr

# %% printing
print(torch.tensor(1.0), torch.tensor([1, 2]), torch.tensor([[1.5, float("inf")], [float("nan"), -1e-5]]))
print(torch.arange(30), torch.arange(1100.0))
print(torch.zeros(2, 3, 2), torch.zeros(0, 3), torch.zeros(1, dtype=torch.float64, requires_grad=True))
x = torch.tensor([1e-8, 1.0], requires_grad=True)
print(x * 2, (x * 2).sum(), f"{x.sum().item():.3f}", f"{x.detach()[1]:.2f}", f"{x}")
print(torch.tensor([True, False]), torch.tensor(True), torch.float32, torch.Size([2]))
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.tensor([1234.5678, 0.001]))
torch.set_printoptions(profile="default")
print(repr(x), str(x))

# %% comparisons and equality
x, y = torch.tensor([1.0, 2.0, float("nan")]), torch.tensor([1.0, 3.0, float("nan")])
x == y, x != y, x < y, x.eq(1), x.isnan(), torch.equal(x, x), torch.allclose(x, x), torch.allclose(x, x, equal_nan=True)
torch.isclose(x, y), (x == y).all(), (x == y).any(), torch.tensor(1.0) == 1, torch.equal(x[:2], x[:2].clone())
x is x, hash(x) == hash(x), x in [x], id(x) == id(x), {x: 1}[x]
bool(torch.tensor(0.0)), not torch.tensor(2), torch.tensor(2.0) > 1 and torch.tensor(1.0)
torch.isfinite(x), torch.where(x.isnan())[0], torch.nonzero(x > 1), x.nan_to_num(0.0), torch.unique(torch.tensor([3, 1, 3]))
