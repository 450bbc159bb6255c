"""Bad calls: the type of the error and the first line of its message."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% shapes that do not fit
a, b = torch.ones(2, 3), torch.ones(2, 4)
a + b  # raises
a * torch.ones(4)  # raises
a - torch.ones(5, 2, 2)  # raises
a @ b  # raises
a @ torch.ones(2)  # raises
torch.ones(3) @ torch.ones(4)  # raises
torch.ones(2, 3, 4) @ torch.ones(2, 5, 6)  # raises
torch.ones(2, 3, 4) @ torch.ones(3, 4, 5)  # raises
torch.tensor(1.0) @ torch.ones(2)  # raises
torch.mm(a, torch.ones(3))  # raises
torch.mm(a, b)  # raises
torch.mv(a, torch.ones(2))  # raises
torch.dot(torch.ones(2), torch.ones(3))  # raises
torch.dot(a, a)  # raises
torch.bmm(a, a)  # raises
torch.outer(a, a)  # raises

# %% dimensions out of range
a = torch.ones(2, 3)
a.sum(2)  # raises
a.sum(-3)  # raises
a.mean((0, 5))  # raises
a.sum((0, 0))  # raises
a.softmax(2)  # raises
a.max(3)  # raises
a.squeeze(4)  # raises
a.unsqueeze(4)  # raises
a.transpose(0, 2)  # raises
a.permute(0)  # raises
a.permute(0, 0)  # raises
a.cumsum(2)  # raises
a.unbind(2)  # raises
torch.stack([a, a], 4)  # raises
torch.cat([a, a], 2)  # raises
torch.tensor(1.0).sum(1)  # raises
torch.tensor(1.0).sum(0)

# %% shapes that hold another number of elements
a = torch.ones(2, 3)
a.reshape(4)  # raises
a.view(4, -1)  # raises
a.view(-1, -1)  # raises
a.t().view(6)  # raises
a.expand(2, 4)  # raises
a.expand(3)  # raises
a.repeat(2)  # raises
a.reshape(0, -1)  # raises
torch.ones(2, 2, 2).t()  # raises
torch.zeros(0).reshape(-1, 0)  # raises

# %% joining and splitting
a = torch.ones(2, 3)
torch.cat([])  # raises
torch.stack([])  # raises
torch.cat([a, torch.ones(3, 3)], 1)  # raises
torch.cat([a, torch.ones(2)])  # raises
torch.stack([a, torch.ones(3, 3)])  # raises
torch.cat(a)  # raises
torch.cat([a, 1])  # raises
a.split([1, 3], 1)  # raises
a.split(-1)  # raises
a.chunk(0)  # raises
torch.tensor(1.0).unbind()  # raises

# %% indexing
a = torch.arange(6.0).reshape(2, 3)
a[2]  # raises
a[0, 3]  # raises
a[-3]  # raises
a[0, 0, 0]  # raises
a[torch.tensor([2])]  # raises
a[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]  # raises
a[torch.tensor([True, False, True])]  # raises
a[torch.tensor([0.5])]  # raises
a[0.5]  # raises
a["x"]  # raises
a[::-1]  # raises
torch.tensor(1.0)[0]  # raises
a[0] = torch.ones(4)  # raises
a[5] = 1  # raises
a.gather(1, torch.tensor([[5]]))  # raises
a.gather(1, torch.tensor([0]))  # raises
a.gather(1, torch.tensor([[0.0]]))  # raises
a.index_select(0, torch.tensor([2]))  # raises
a.index_select(0, torch.tensor([[0]]))  # raises
a.select(0, 2)  # raises
a.narrow(1, 2, 2)  # raises
a.take(torch.tensor([6]))  # raises
a.masked_fill(torch.tensor([0, 1, 0]), 0.0)  # raises
for _ in torch.tensor(1.0):  # raises
    pass
len(torch.tensor(1.0))  # raises

# %% dtypes
i, f, b = torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), torch.tensor([True, False])
b - b  # raises
-b  # raises
1 - b  # raises
i.mean()  # raises
b.mean()  # raises
i.std()  # raises
i.softmax(0)  # raises
i @ f  # raises
i**-1  # raises
torch.mm(torch.ones(2, 2, dtype=torch.float64), torch.ones(2, 2))  # raises
torch.dot(i, f)  # raises
i.norm()  # raises
torch.where(f, f, f)  # raises
torch.tensor([1.0, "a"])  # raises
torch.tensor("a")  # raises
torch.tensor([[1.0], [1.0, 2.0]])  # raises
torch.tensor([[1.0, 2.0], 3.0])  # raises
torch.tensor(None)  # raises
torch.tensor({1: 2})  # raises
torch.tensor([1.5, 2.5], dtype=torch.int64)
torch.arange(0, 1, 0)  # raises
torch.arange(0, 5, -1)  # raises
torch.zeros(-1)  # raises
torch.ones(2, dtype=torch.int64, requires_grad=True)  # raises
torch.nn.Parameter(torch.tensor([1]))  # raises
torch.eye(-1)  # raises
torch.randint(5, 5, (2,))  # raises
torch.linspace(0, 1, -1)  # raises

# %% powers of integers
a = torch.tensor([-3, -2, -1, 0, 1, 2])
a ** torch.tensor([-2, -1, -3, 2, -1, 3])
2 ** a
a ** -1  # raises
torch.tensor([True]) ** torch.tensor([True])  # raises

# %% one value out of many
a = torch.ones(2)
a.item()  # raises
float(a)  # raises
int(a)  # raises
bool(a)  # raises
bool(torch.tensor([]))  # raises
torch.tensor([]).item()  # raises
if a > 0:  # raises
    pass
torch.zeros(0).max()  # raises
torch.zeros(0).argmax()  # raises
torch.zeros(2, 0).max(1)  # raises
torch.zeros(0).sum(), torch.zeros(0).prod()
torch.zeros(0).mean()
range(torch.tensor(3)), [1, 2, 3][torch.tensor(1)]
range(torch.tensor(3.0))  # raises
int(torch.tensor(2.7)), float(torch.tensor(2)), bool(torch.tensor(0))

# %% arguments of the wrong kind
# What is called in every loop (sum, mean, relu, ...) has no wrapper for the sake of its wording: where an argument is
# missing or unknown, Python itself says so. What follows are all other functions.
a = torch.ones(2)
a + "x"  # raises
"x" + a  # raises
a + None  # raises
a + [1, 2]  # raises
a @ 2  # raises
a @ [1, 2]  # raises
torch.exp(2.0)  # raises
torch.sin([1.0])  # raises
torch.add(a)  # raises
torch.softmax()  # raises
a.prod(foo=1)  # raises
a.nothing  # raises
torch.zeros("a")  # raises
a.max(dim="x")  # raises
torch.max(a, dim="x")  # raises
a.cumsum("x")  # raises
a.argmax(dim="x")  # raises
torch.argmax(a, "x")  # raises
torch.narrow(a, "x", 0, 1)  # raises
torch.tril("x")  # raises
torch.amax(a, a, a, a)  # raises
torch.gather(None)  # raises
torch.norm(a, foo=1)  # raises
a.reshape("x")  # raises
torch.matmul(a, 3)  # raises
torch.where(a > 0, a)  # raises
a.clamp()  # raises
a.requires_grad_(None)  # raises
a.requires_grad_(1)  # raises
a == "x"
a == None
a in [a]
a < "x"  # raises
torch.no_such_function  # raises

# %% backward and grad
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
y.backward()  # raises
y.backward(1.0)  # raises
y.backward(torch.ones(2, 1))  # raises
y.backward(torch.tensor([True, False]), retain_graph=True)
y.backward([1.0, 1.0])  # raises
y.sum().backward(torch.ones(2))  # raises
y.sum().backward(inputs=[torch.ones(2)])  # raises
(x * x).sum().backward(inputs=x)
y.sum().backward(x=1)  # raises
torch.autograd.grad(y, x)  # raises
torch.autograd.grad(y.sum(), [])  # raises
torch.autograd.grad(y.sum(), "x")  # raises
torch.autograd.grad([], x)  # raises
torch.autograd.grad([y.sum(), y.sum()], x, [torch.tensor(1.0)])  # raises
torch.autograd.grad(y, x, torch.ones(3))  # raises
torch.autograd.grad(y.detach().sum(), x)  # raises
torch.autograd.grad(y.sum(), x, allow_unused=False, materialize_grads=True)  # raises
torch.autograd.grad((x * x).sum(), [x, torch.zeros(1, requires_grad=True)], materialize_grads=True)
torch.autograd.backward([y.sum(), y.sum()], [torch.tensor(1.0)])  # raises
torch.autograd.backward([], [])
torch.autograd.backward(y.detach().sum())  # raises
x.requires_grad = 1  # raises
x.requires_grad = "yes"  # raises
x.grad_fn = None  # raises
x.is_leaf = True  # raises
x.shape = (2,)  # raises
y.retain_grad(), y.retain_grad()
y.detach().retain_grad()  # raises

# %% losses
F = torch.nn.functional
x, t = torch.ones(2, 3), torch.tensor([0, 2])
F.cross_entropy(x, torch.tensor([0, 3]))  # raises
F.cross_entropy(x, torch.tensor([0, 1, 2]))  # raises
F.cross_entropy(x, torch.tensor([0.0, 1.0]))  # raises
F.cross_entropy(x, t, reduction="all")  # raises
F.nll_loss(x, t.float())  # raises
F.mse_loss(x, torch.ones(2, 4))  # raises
F.mse_loss(x, t.float().reshape(2, 1)).item()
F.binary_cross_entropy(x * 2, x)  # raises
F.binary_cross_entropy(x, torch.ones(2, 2))  # raises
F.linear(x, torch.ones(2, 2))  # raises
F.dropout(x, 1.5)  # raises
F.embedding(torch.tensor([5]), x)  # raises
F.layer_norm(x, (4,))  # raises

# %% linear algebra
singular = torch.zeros(2, 2)
torch.linalg.inv(singular)  # raises
torch.linalg.inv(torch.ones(2, 3))  # raises
torch.linalg.solve(singular, torch.ones(2))  # raises
torch.linalg.cholesky(-torch.eye(2))  # raises
torch.linalg.det(torch.ones(3))  # raises
torch.einsum("ij,jk", torch.ones(2, 3), torch.ones(2, 3))  # raises
torch.einsum("ij", torch.ones(3))  # raises

# %% what may stand in brackets, and what may be assigned
b = torch.ones(2, 3)
b[0] = np.float32(3)  # raises
b[0] = np.float64(4)
b[0] = np.int64(5)
b[0] = np.bool_(True)  # raises
b[0] = np.array(3.0)  # raises
b[[1.0]]
b[np.float32(1)]  # raises
b[torch.tensor(1, dtype=torch.uint8)]
b[torch.tensor([1, 0], dtype=torch.int8)]  # raises
b["x":]  # raises
b[1.5:]  # raises
b[torch.tensor(0) : torch.tensor(2)]
b[torch.tensor([0, 1]) :]  # raises
b[b > 3] = torch.tensor([[2]])
b[torch.tensor([0])] = torch.tensor([7])  # raises
del b[0]  # raises
"a" in b  # raises
None in b  # raises
b

# %% indices of the wrong dtype
b = torch.ones(3, 2)
double, short, whole = torch.ones(1, 2).double(), torch.tensor([0], dtype=torch.int16), torch.tensor([0], dtype=torch.int32)
mask = torch.tensor([True, False, True])
b.index_put((torch.tensor([0]),), torch.tensor(7))  # raises
b.index_put((mask,), torch.tensor([7]))
b.index_put((mask,), torch.tensor([7]), accumulate=True)  # raises
b.index_add(0, torch.tensor([0]), double)  # raises
b.index_copy(0, torch.tensor([0]), double)  # raises
b.index_copy(0, whole, b[:1])  # raises
b.index_fill(0, whole, 1)  # raises
b.index_select(0, short)  # raises
b.index_add(0, short, b[:1])  # raises
b.gather(0, whole[None]), b.scatter(0, whole[None], 2), b.index_add(0, whole, b[:1])
b.gather(0, short[None])  # raises
b.repeat(2, -3)  # raises

# %% dtypes that an operation does not take
u, s, f, b = torch.tensor([1, 0]).byte(), torch.tensor([1, 3]).short(), torch.tensor([1.0, 0.0]), torch.tensor([True, False])
u & torch.tensor(3), u ^ torch.tensor(3, dtype=torch.int16), u << torch.tensor(1)
s & f.half()  # raises
b << b  # raises
f == torch.tensor(0.1, dtype=torch.float64)
torch.tensor([0.1]) == torch.tensor(0.1, dtype=torch.float64), torch.tensor([0.1]) < torch.tensor(0.1, dtype=torch.float64)
u.masked_fill(u > 0, torch.tensor(2.7))
torch.heaviside(u, s)  # raises
torch.gcd(s, f.half())  # raises
b.dot(b)  # raises
torch.mm(s[None], u[:, None])  # raises
b[None] @ b[:, None]  # raises
torch.tensordot(s, u, 1)  # raises
torch.cross(torch.ones(3), torch.ones(3).long(), dim=0)  # raises
torch.nn.functional.mse_loss(u, u)  # raises
torch.nn.functional.smooth_l1_loss(u, u)  # raises
torch.nn.functional.l1_loss(f, b)  # raises
torch.nn.functional.binary_cross_entropy(f, f.double())  # raises
s.round(decimals=1)  # raises
b.median()  # raises
b.topk(1)  # raises
s.repeat_interleave(u)  # raises
