"""Empty tensors, single numbers, dimensions of length 1 and positions that repeat: where shapes and indices are unusual."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% index operations on a single number
x = torch.tensor(2.0, requires_grad=True)
one = torch.tensor([0])
y = torch.tensor(3.0, requires_grad=True)
a = x.index_select(0, one); a.backward()
b = x.index_add(0, one, y, alpha=2); b.backward()
c = x.index_copy(0, one, y); c.backward()
d = x.index_fill(0, one, y); d.backward()
e = x.gather(0, torch.tensor([0, 0])); e.sum().backward()
f = x.scatter_add(0, torch.tensor(0), y); f.backward()
g = x.take(torch.tensor([0])); g.sum().backward()
h = x.put(torch.tensor(0), y, True); h.backward()
i = x.unfold(0, 1, 1); i.sum().backward()
j = x.scatter_reduce(0, torch.tensor(0), y, "amax", include_self=False); j.backward()

# %% a position that is named twice
x = torch.arange(6.0).reshape(3, 2).requires_grad_()
v = torch.tensor(5.0, requires_grad=True)
y = x.index_fill(0, torch.tensor([1, 1, 0]), v)
y.sum().backward()
z = x.index_fill(0, torch.tensor([-1]), 0.0)
w = torch.take_along_dim(x, torch.tensor([[-1, 4]]), 0)
w.sum().backward()

# %% empty indices
x = torch.ones(3, 2)
none = torch.tensor([], dtype=torch.int64)
x.gather(0, none)
x.scatter(0, none, x)
x.scatter_add(0, none, x)
x.index_select(0, none)
torch.ones(2, 0).sort()
torch.ones(2, 0).argsort(0)
torch.take(torch.zeros(0), torch.tensor([0]))  # raises
torch.unique_consecutive(torch.zeros(2, 0), dim=1)
torch.unique_consecutive(torch.zeros(2, 0), dim=0)  # raises
torch.searchsorted(torch.zeros(0, 0), torch.zeros(0, 0))
torch.histogram(torch.zeros(0), 2)
torch.zeros(0).roll(1, 5)

# %% indices that are refused
x = torch.ones(3, 2)
I = torch.tensor([0, 1])
x.index_add(0, I, torch.ones(2))  # raises
x.index_add(0, I, torch.ones(3, 2))  # raises
x.index_add(0, torch.tensor([0, 7]), torch.ones(2, 2))  # raises
x.index_add(0, I[None], torch.ones(2, 2))  # raises
x.index_copy(0, I, torch.tensor(1.0))  # raises
x.index_copy(0, I, torch.ones(2, 3))  # raises
x.index_copy(0, I, torch.ones(3, 2))  # raises
x.index_copy(0, I[None], torch.ones(2, 2))  # raises
torch.tensor(1.0).index_select(0, I)  # raises
x.index_fill(0, torch.tensor([7]), 1.0)  # raises
x.index_fill(0, I[None], 1.0)  # raises
x.scatter(0, I[None], torch.ones(1, 2, 1))  # raises
x.put(I, torch.ones(2).double())  # raises
x.put(I.int(), torch.ones(2))  # raises
x.put(I, torch.ones(3))  # raises
x.masked_scatter(x.byte(), x)  # raises
x.clone().masked_scatter_(torch.ones(2, 3, 2) > 0, x)  # raises
torch.index_put(x, I, torch.tensor(1.0))  # raises
x[torch.tensor([2, 5])] = torch.ones(5)  # raises
x[x > 0] = torch.ones(3, 2)  # raises
x.narrow(0, torch.tensor([1]), 1)  # raises

# %% joined and taken apart
x = torch.ones(2, requires_grad=True)
y = torch.block_diag(x, torch.tensor(3.0), torch.ones(2, 1))
y.sum().backward()
torch.block_diag()
torch.hstack(())  # raises
torch.vstack([])  # raises
torch.dstack([])  # raises
torch.vsplit(x, 2)  # raises
torch.hsplit(x, torch.tensor([1]))  # raises
torch.tensor_split(x, torch.tensor([1.0]))  # raises

# %% reductions in another dtype, of nothing, over nothing
x = torch.tensor([[2.5, 0.0], [-1.5, 4.0]])
x.sum(dtype=torch.bool)
x.sum(0, dtype=torch.int32)
x.prod(1, dtype=torch.bool)
x.cumsum(1, dtype=torch.int32)
x.bool().all(dim=())
x.mean((), dtype=torch.int64)  # raises
x.long().nanmean()  # raises
x.max(dim=None)  # raises
torch.zeros(2, 0).median(1)  # raises
torch.zeros(2, 0).mode(1)  # raises
torch.zeros(2, 0).aminmax()  # raises
torch.zeros(2, 0).aminmax(dim=1)  # raises
torch.ones(2).bool().median(0)  # raises
torch.ones(2).long().std_mean()  # raises
torch.tensor([[float("nan"), 1.0], [2.0, 2.0]]).kthvalue(2)
torch.tensor([float("nan"), float("nan"), 1.0]).unique(return_counts=True)
x.sum_to_size(3, 2)  # raises
x.sum_to_size(())

# %% products of one element, twice
x = torch.tensor([3.0], requires_grad=True)
g, = torch.autograd.grad(x.cumprod(0), x, create_graph=True)
h, = torch.autograd.grad(x[0].prod(), x, create_graph=True)

# %% differences and slopes
x = torch.tensor([1.0, 4.0, 9.0], requires_grad=True)
a = x.diff(0)
b = x.diff(0, prepend=x)
(x.diff() * torch.tensor([1.0, 2.0])).sum().backward()
c, = torch.gradient(x, spacing=2.0)
c.sum().backward()
d, = torch.gradient(x, spacing=(torch.tensor([0.0, 1.0, 3.0]),), edge_order=2)
d.sum().backward()
e = torch.trapezoid(x)
e.backward()
torch.trapezoid(torch.zeros(0))
x.diff(prepend=torch.ones(2, 2))  # raises
torch.gradient(x, dim=0, spacing=[1.0, 2.0])  # raises
torch.gradient(x, edge_order=3)  # raises

# %% quantiles and covariances
x = torch.tensor([1.0, 5.0, 2.0], requires_grad=True)
q = torch.tensor([0.3, 0.6], requires_grad=True)
a = x.quantile(q)
a.sum().backward()
b = x.nanquantile(q, interpolation="midpoint")
b.sum().backward()
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
c = torch.stack([x, x ** 2]).cov(aweights=w)
c.sum().backward()
x.cov(fweights=torch.tensor([[1]]))  # raises
x.cov(fweights=w)  # raises
x.cov(aweights=-w)  # raises
x.bool().cov()  # raises

# %% dimensions in place
x = torch.ones(3, 1, 2, 1, requires_grad=True)
a = x.clone().squeeze_((1, 3))
b = x.clone().squeeze_(1, 2)
a.sum().backward(); b.sum().backward()
c = torch.tensor(1.0, requires_grad=True).clone().transpose_(0, -1)
c.backward()
x.clone().squeeze_((1, 1))  # raises
x.squeeze((1, -3))  # raises

# %% shapes that are refused
x = torch.ones(3, 2)
x.view(-2, 3)  # raises
x.unflatten(0, (-1, -1))  # raises
torch.tensor(1.0).unflatten(0, (1,))  # raises
x.expand(-1, 2, 3, 4)  # raises
x.view()  # raises
x.tile()  # raises
torch.flip(x, 0)  # raises
torch.tensor(1.0).flip(0)
x.repeat_interleave(torch.tensor([1, 2]), 0)  # raises
x.repeat_interleave(torch.tensor([-1, 1, 1]), 0)  # raises
x.repeat_interleave(torch.tensor([[1, 1, 1]]), 0)  # raises
x.repeat_interleave(torch.tensor([1, 1, 1]), 0, output_size=4)  # raises
torch.ones(0, 2).repeat(-1, 2)
x.diagonal_scatter(torch.ones(2), 0, 1, 1)  # raises
x.slice_scatter(x[:1], 0, 0, 1, 0)  # raises
x.roll((1, 2), 0)  # raises
torch.tensor(1.0).roll(0, 0)  # raises
torch.tensor(1.0).unfold(0, 2, 1)  # raises

# %% statistics that are refused
x = torch.ones(3)
torch.histc(x, 3, 0, float("inf"))  # raises
torch.histc(x, 3.0)  # raises
torch.histogram(x, 2, range=(1.0, 0.0))  # raises
torch.histogram(x, x.double())  # raises
torch.histogram(x, x[None])  # raises
torch.histogram(x, 2, weight=torch.ones(2))  # raises
torch.histogram(x, 2, range=(1.0, 1.0))
torch.bincount(x.long(), minlength=-1)  # raises
torch.searchsorted(x, x, sorter=torch.tensor([0, 1]))  # raises
torch.searchsorted(x, x, sorter=torch.tensor([0, 1, 7]))  # raises
torch.searchsorted(x[None], 1.0)  # raises
torch.searchsorted(x[0], x)  # raises
torch.quantile(x, torch.tensor([2.0]))  # raises
torch.nanquantile(x, torch.tensor([[0.5]]))  # raises
torch.meshgrid(x, x.long(), indexing="ij")  # raises
torch.cummax(x[0], 1)  # raises
