"""Views, in-place operations, versions."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% a leaf that requires grad may not be written to
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.add_(1)  # raises
w += 1  # raises
w[0] = 5  # raises
w.view(2)[0] = 5  # raises
w.zero_()  # raises
w.detach().zero_()
w, w._version
with torch.no_grad():
    w += 1
w, w._version, w.requires_grad

# %% an in-place operation on a non-leaf moves it down the graph
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
before = y.grad_fn
y.add_(1) is y
y.grad_fn is before, y._version
y.mul_(3)
y.sub_(torch.tensor([1.0, 1.0])).div_(2)
y.sum().backward()
x.grad

# %% what was saved may not change
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()  # raises
a = x * 3
b = a * a
a.mul_(2)
b.sum().backward()  # raises
c = x * 2
d = c.sigmoid()
c.add_(1)
d.sum().backward()
x.grad

# %% which saved tensor was changed [A44]
x = torch.ones(2, 3, requires_grad=True)
w = torch.ones(3, 1)
y = x @ w
w += 1
y.sum().backward()  # raises
v = torch.tensor([1.0, 2.0])
z = x.sum() * v
v[0] = 7
z.sum().backward()  # raises
u = x * 2
u.mul_(3)
squares = u * u
u.mul_(3)
squares.sum().backward()  # raises

# %% writing through a view
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
row = y[1:]
row.mul_(10)
y, row
y.grad_fn.name(), row.grad_fn.name()
y._version, row._version
(y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
x.grad

# %% writing to the base changes its views
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
row = y[1:]
y.add_(1)
row
row.grad_fn.name()
row.sum().backward()
x.grad

# %% views of views
x = torch.arange(6.0, requires_grad=True)
y = x * 1
m = y.view(2, 3)
t = m.t()
t[1].mul_(5)
y, m, t
t._base is y, m._is_view(), y._is_view()
(m * m).sum().backward()
x.grad

# %% assignment by index
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
v = torch.tensor([10.0, 20.0], requires_grad=True)
y = x.clone()
y[0] = v
y[:, 1] = 7
y[1, 0] = v[0] * 2
y
y.sum().backward()
x.grad, v.grad

# %% assignment by mask and by list
x = torch.arange(5.0, requires_grad=True)
y = x * 1
y[y > 3] = 0
y[[0, 1]] = torch.tensor([5.0, 6.0])
y[torch.tensor([2])] += 10
y
(y * y).sum().backward()
x.grad

# %% assigning into plain data
data = torch.zeros(2, 3)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
data[0] = v * 2
data.requires_grad, data.grad_fn.name()
data.sum().backward()
v.grad

# %% views share storage
a = torch.arange(6)
b = a.view(2, 3)
c = b.t()
d = a[::2]
b[0, 0] = 100
a, b, c, d
c.is_contiguous(), c.stride(), a.data_ptr() == b.data_ptr()
a.clone().data_ptr() == a.data_ptr()
c.view(6)  # raises
c.reshape(6)

# %% versions count writes
a = torch.zeros(3)
v = a[1:]
a.add_(1)
v.mul_(2)
a[0] = 5
a._version, v._version, a.detach()._version
a.clone()._version

# %% in-place changes of shape and of gradient flags
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
y = x * 2
y.unsqueeze_(0)
y.shape
y.squeeze_()
y.t_()
y.sum().backward()
x.grad

# %% in-place results may not broadcast or lose their type
a = torch.zeros(2)
a.add_(torch.zeros(3, 2))  # raises
torch.zeros(2, dtype=torch.int64).add_(1.5)  # raises
torch.zeros(2, dtype=torch.int64).add_(1)
torch.ones(2).add_(torch.ones(2, dtype=torch.float64)).dtype
torch.ones(2, dtype=torch.bool).add_(1)  # raises

# %% views of several outputs may not be written to
x = torch.arange(4.0, requires_grad=True)
a, b = (x * 1).chunk(2)
a.mul_(2)  # raises
with torch.no_grad():
    p, q = (x * 1).unbind()[:2]
    p.mul_(2)

# %% fill, zero, copy
x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0, 4.0], requires_grad=True)
y = x * 1
y.zero_()
z = x * 1
z.copy_(v)
f = x * 1
f.fill_(3)
(y + z * 2 + f).sum().backward()
x.grad, v.grad

# %% a view made under no_grad
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
with torch.no_grad():
    v = y[0]
v.requires_grad
v.mul_(3)  # raises
with torch.no_grad():
    y[1] = 0
y

# %% in-place relu and friends
x = torch.tensor([-1.0, 2.0], requires_grad=True)
y = x * 1
y.relu_()
y.sum().backward()
x.grad
z = (x * 1).sin_().neg_().clamp_(max=0.5).add_(1).abs_()
z.sum().backward()
x.grad

# %% expanded tensors: what may be written into them
e = torch.zeros(3).expand(2, 3)
e[0] = torch.ones(3)
e[:] = torch.ones(3)  # raises
e += 1  # raises
e.copy_(torch.ones(2, 3))  # raises
e.scatter_(0, torch.tensor([[0, 0, 0]]), 9.0)  # raises
e.fill_(1)
e.zero_()
e.masked_fill_(torch.tensor([[True, False, False], [False, False, True]]), 4.0)
e[torch.tensor([[True, False, False], [False, True, True]])] = torch.tensor([1.0, 2.0, 3.0])
e[torch.tensor([0, 1]), torch.tensor([0, 1])] = torch.tensor([7.0, 8.0])
e.index_fill_(0, torch.tensor([0]), 7.0)

# %% a view of what was detached in place keeps its old history
a = torch.ones(3, requires_grad=True)
b = a * 2
v = b[:2]
b.detach_()
v.grad_fn, v._base is b, b.requires_grad
v.add_(1)  # raises
plain = torch.ones(3)
own = plain[:2].requires_grad_()
own.add_(1)  # raises
own[0].add_(1)  # raises
written = torch.ones(3)
view = written[:2]
view.mul_(a[:2])
written.detach_()
view
