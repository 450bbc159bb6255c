"""Datasets, loaders, checkpointing, and files: what PyTorch gives, and what it costs."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import minigrad
from minigrad.utils.checkpoint import checkpoint, checkpoint_sequential
from minigrad.utils.memory import saved_bytes

Point = namedtuple("Point", "x y")


def plain(value):
    """Tensors as lists with their dtype, so that two libraries can be compared."""
    if hasattr(value, "tolist"):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "_fields"):
        return (type(value).__name__, *map(plain, value))
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def squares(torch):
    return torch.utils.data.TensorDataset(torch.arange(10), torch.arange(10) ** 2.0)


def walk(torch):
    class Walk(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(7))

        def __len__(self):
            return 7

    return Walk()


LOADERS = {
    "one by one": lambda t, d: d.DataLoader(squares(t)),
    "batches": lambda t, d: d.DataLoader(squares(t), 4),
    "whole batches": lambda t, d: d.DataLoader(squares(t), 4, drop_last=True),
    "shuffled": lambda t, d: d.DataLoader(squares(t), 4, shuffle=True),
    "shuffled by a generator": lambda t, d: d.DataLoader(
        squares(t), 4, shuffle=True, generator=t.Generator().manual_seed(5)
    ),
    "not batched": lambda t, d: d.DataLoader(squares(t), batch_size=None),
    "own collate": lambda t, d: d.DataLoader(squares(t), 3, collate_fn=len),
    "batch sampler": lambda t, d: d.DataLoader(squares(t), batch_sampler=[[1, 2], [9]]),
    "random sampler": lambda t, d: d.DataLoader(squares(t), 3, sampler=d.RandomSampler(range(5))),
    "with replacement": lambda t, d: d.DataLoader(squares(t), 3, sampler=d.RandomSampler(range(5), True, 8)),
    "subset sampler": lambda t, d: d.DataLoader(squares(t), 3, sampler=d.SubsetRandomSampler([3, 1, 7, 8])),
    "floats": lambda t, d: d.DataLoader([1.5, 2.5, 3.5], 2),
    "ints and strings": lambda t, d: d.DataLoader([(1, "a"), (2, "b"), (3, "c")], 2),
    "bools": lambda t, d: d.DataLoader([True, False], 2),
    "arrays": lambda t, d: d.DataLoader(np.arange(6.0).reshape(3, 2), 2),
    "numpy numbers": lambda t, d: d.DataLoader(np.arange(3, dtype=np.int32), 2),
    "dictionaries": lambda t, d: d.DataLoader(
        [{"x": t.ones(2) * i, "y": [i, (i, 0.5)]} for i in range(3)], 2
    ),
    "named tuples": lambda t, d: d.DataLoader([Point(i, t.zeros(1)) for i in range(3)], 2),
    "subset": lambda t, d: d.DataLoader(d.Subset(squares(t), [5, 3, 3]), 2),
    "concatenated": lambda t, d: d.DataLoader(squares(t) + d.Subset(squares(t), [4]), 4),
    "random_split": lambda t, d: d.DataLoader(d.random_split(squares(t), [6, 4])[1], 3),
    "random_split by fractions": lambda t, d: d.DataLoader(
        d.random_split(squares(t), [0.25, 0.5, 0.25])[0], 3
    ),
    "iterable": lambda t, d: d.DataLoader(walk(t), 3),
    "iterable whole batches": lambda t, d: d.DataLoader(walk(t), 3, drop_last=True),
    "iterable not batched": lambda t, d: d.DataLoader(walk(t), batch_size=None),
}


@pytest.mark.parametrize("name", LOADERS)
def test_a_loader_gives_pytorchs_batches(torch, name):
    """Values, dtypes and structure of two epochs, in PyTorch's order for the same seed; and len()."""
    found = []
    for t in (torch, minigrad):
        t.manual_seed(2)
        loader = LOADERS[name](t, t.utils.data)
        found.append([len(loader), [[plain(batch) for batch in loader] for _ in range(2)]])
    assert found[1] == found[0]


BAD_CALLS = {
    "sizes": lambda t, d: d.TensorDataset(t.ones(3), t.ones(2)),
    "batch size": lambda t, d: d.DataLoader([1], 0),
    "shuffle and sampler": lambda t, d: d.DataLoader([1], shuffle=True, sampler=[0]),
    "batch sampler and size": lambda t, d: d.DataLoader([1], 2, batch_sampler=[[0]]),
    "no batches but drop_last": lambda t, d: d.DataLoader([1], None, drop_last=True),
    "shuffled walk": lambda t, d: d.DataLoader(walk(t), shuffle=True),
    "workers": lambda t, d: d.DataLoader([1], num_workers=-1),
    "shuffling nothing": lambda t, d: d.DataLoader([], shuffle=True),
    "split": lambda t, d: d.random_split([1, 2, 3], [1, 1]),
    "concatenating nothing": lambda t, d: d.ConcatDataset([]),
    "different lengths": lambda t, d: next(iter(d.DataLoader([[1], [1, 2]], 2))),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls_get_pytorchs_error(torch, name):
    """Type and first line of the message."""
    errors = []
    for t in (torch, minigrad):
        with pytest.raises(Exception) as caught:
            BAD_CALLS[name](t, t.utils.data)
        errors.append((caught.type.__name__, str(caught.value).split("\n")[0]))
    assert errors[1] == errors[0]


def test_examples_that_no_tensor_can_hold():
    """The message names the type and what would do."""
    with pytest.raises(TypeError, match="must contain tensors, numpy arrays, numbers, dicts or lists; found"):
        next(iter(minigrad.utils.data.DataLoader([object(), object()], 2)))


def test_weights_decide_what_is_drawn():
    """Weight zero is never drawn; without replacement nothing is drawn twice."""
    data = minigrad.utils.data
    assert set(data.WeightedRandomSampler([0.0, 1.0, 3.0], 50)) == {1, 2}
    assert sorted(data.WeightedRandomSampler([1.0, 1.0, 3.0], 3, replacement=False)) == [0, 1, 2]


# ---------------------------------------------------------------- checkpoint


def blocks(torch, count: int = 8, width: int = 64):
    torch.manual_seed(0)
    nn = torch.nn
    return [nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(count)]


def forward(layers, x, through):
    for layer in layers:
        x = through(layer, x)
    return x


def directly(layer, x):
    return layer(x)


def checkpointed(layer, x):
    return checkpoint(layer, x, use_reentrant=False)


def gradients(layers) -> list[np.ndarray]:
    return [p.grad.numpy() for layer in layers for p in layer.parameters()]


def test_checkpointing_keeps_less_and_changes_no_bit():
    """Eight Linear+Tanh of width 64, batch 32: what is kept falls, the gradients stay the same to the last bit."""
    found = {}
    for through in (directly, checkpointed):
        layers = blocks(minigrad)
        x = minigrad.randn(32, 64)
        loss = forward(layers, x, through).sum()
        kept = saved_bytes(loss)
        loss.backward()
        found[through] = kept, gradients(layers)
    assert found[checkpointed][0] == 8 * 32 * 64 * 4
    assert found[directly][0] >= 2 * found[checkpointed][0] - 32 * 64 * 4
    for a, b in zip(found[directly][1], found[checkpointed][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_graph_of_a_checkpoint_is_the_ordinary_one(torch):
    """Node names as in PyTorch's use_reentrant=False; a saved tensor can be read, and is computed for that."""
    names = []
    for t in (torch, minigrad):
        x = t.ones(3, requires_grad=True)
        y = t.utils.checkpoint.checkpoint(lambda x: (x * 2).tanh().sin(), x, use_reentrant=False)
        node, chain = y.grad_fn, []
        saved = node._saved_self
        while node is not None:
            chain.append(node.name())
            node = node.next_functions[0][0] if node.next_functions else None
        names.append((chain, [round(v, 5) for v in saved.tolist()], saved.grad_fn.name()))
    assert names[1] == names[0]


def test_a_checkpoint_can_be_differentiated_twice(torch):
    """create_graph through recomputed tensors gives the second derivative."""
    found = []
    for t in (torch, minigrad):
        x = t.tensor([0.3, 0.7], dtype=t.float64, requires_grad=True)
        y = t.utils.checkpoint.checkpoint(lambda x: (x * x).tanh() * x.exp(), x, use_reentrant=False)
        (first,) = t.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = t.autograd.grad(first.sum(), x)
        found.append((first.tolist(), second.tolist()))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_dropout_drops_the_same_the_second_time():
    """The random numbers of the forward are drawn again, and the stream goes on as if nothing had happened."""
    x = minigrad.ones(200, requires_grad=True)
    minigrad.manual_seed(1)
    y = checkpoint(lambda x: minigrad.nn.functional.dropout(x * 1.0, 0.5) * x, x, use_reentrant=False)
    following = minigrad.get_rng_state().tolist()
    y.sum().backward()
    assert minigrad.get_rng_state().tolist() == following
    np.testing.assert_array_equal(x.grad.numpy(), 2 * y.detach().numpy())


def test_the_function_runs_once_more_for_each_backward():
    """Not once for each tensor that it saves."""
    calls = []

    def f(x):
        calls.append(1)
        return (x.sin() * x.cos()).tanh()

    x = minigrad.ones(2, requires_grad=True)
    y = checkpoint(f, x, use_reentrant=False)
    assert len(calls) == 1
    y.sum().backward(retain_graph=True)
    assert len(calls) == 2
    y.sum().backward()
    assert len(calls) == 3


def test_a_checkpoint_inside_a_checkpoint():
    """Nested calls compute again what they need."""
    x = minigrad.tensor([0.5], requires_grad=True)
    inner = lambda x: x.sin().exp()  # noqa: E731
    y = checkpoint(lambda x: checkpoint(inner, x * 2, use_reentrant=False).tanh(), x, use_reentrant=False)
    y.backward()
    z = x.detach().clone().requires_grad_()
    inner(z * 2).tanh().backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_a_function_that_changes_its_mind_is_found_out():
    """Other operations or other shapes in the second run are an error that says so."""
    for second in (lambda x: x * 2, lambda x: x.repeat(2).sin()):
        runs = iter([lambda x: x.sin(), second])
        x = minigrad.ones(2, requires_grad=True)
        y = checkpoint(lambda x, runs=runs: next(runs)(x), x, use_reentrant=False)
        with pytest.raises(
            RuntimeError, match=r"torch\.utils\.checkpoint: (A different number|Recomputed values)"
        ):
            y.sum().backward()


def test_a_sequence_in_segments():
    """checkpoint_sequential gives what the sequence gives."""
    net = minigrad.nn.Sequential(*blocks(minigrad, 5, 4))
    x = minigrad.randn(3, 4, requires_grad=True)
    out = checkpoint_sequential(net, 2, x, use_reentrant=False)
    assert out.tolist() == net(x).tolist()
    out.sum().backward()
    got = x.grad.tolist()
    x.grad = None
    net(x).sum().backward()
    assert x.grad.tolist() == got


# ---------------------------------------------------------------- save and load


def there_and_back(value):
    file = io.BytesIO()
    minigrad.save(value, file)
    file.seek(0)
    return minigrad.load(file)


def test_a_model_and_its_optimizer_survive_a_file(tmp_path):
    """Training goes on from the file exactly as it would have gone on."""

    def make():
        minigrad.manual_seed(0)
        net = minigrad.nn.Sequential(
            minigrad.nn.Linear(3, 4), minigrad.nn.BatchNorm1d(4), minigrad.nn.Linear(4, 1)
        )
        return net, minigrad.optim.Adam(net.parameters(), lr=0.1)

    def step(net, optimizer, x):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    data = minigrad.randn(8, 3)
    net, optimizer = make()
    step(net, optimizer, data)
    path = tmp_path / "training.state"
    minigrad.save({"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}, path)
    assert [p.name for p in tmp_path.iterdir()] == ["training.state"]
    other, other_optimizer = make()
    found = minigrad.load(path)
    assert str(other.load_state_dict(found["model"])) == "<All keys matched successfully>"
    other_optimizer.load_state_dict(found["optimizer"])
    for n, o in ((net, optimizer), (other, other_optimizer)):
        step(n, o, data)
    for (name, a), b in zip(net.state_dict().items(), other.state_dict().values(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=name)


def test_everything_that_can_be_saved():
    """Types, nesting, order, dtypes, sharing, and numbers that JSON has no word for."""
    shared = minigrad.arange(3)
    value = {
        "tuple": (1, 2.5, None, True, "text"),
        3: [float("inf"), float("-inf"), -0.0, 0.1],
        "dtype": minigrad.float64,
        "tensors": [
            shared,
            shared,
            minigrad.ones(2, 0),
            minigrad.tensor(True),
            minigrad.ones(1, dtype=minigrad.float16),
        ],
        "leaf": minigrad.ones(2, requires_grad=True),
        "parameter": minigrad.nn.Parameter(minigrad.ones(2), requires_grad=False),
        "ordered": OrderedDict([("b", 1), ("a", 2)]),
    }
    found = there_and_back(value)
    assert found["tuple"] == value["tuple"] and found[3] == value[3]
    assert str(found[3][2]) == "-0.0"
    assert found["dtype"] is minigrad.float64
    assert found["tensors"][0] is found["tensors"][1]
    assert [(t.tolist(), t.dtype, t.shape) for t in found["tensors"]] == [
        (t.tolist(), t.dtype, t.shape) for t in value["tensors"]
    ]
    assert found["leaf"].requires_grad and found["leaf"].is_leaf
    assert type(found["parameter"]) is minigrad.nn.Parameter and not found["parameter"].requires_grad
    assert type(found["ordered"]) is OrderedDict and list(found["ordered"]) == ["b", "a"]
    assert there_and_back(minigrad.nn.Linear(2, 2).state_dict())._metadata == {"": {"version": 1}}


def test_tensors_that_share_memory_share_it_again():
    """A view, a transpose, tied weights; and a slice alone does not take the whole with it."""
    base = minigrad.arange(12).float().view(3, 4)
    net = minigrad.nn.Sequential(minigrad.nn.Linear(2, 2), minigrad.nn.Linear(2, 2))
    net[1].weight = net[0].weight
    found = there_and_back({"base": base, "row": base[1], "turned": base.t(), "net": net.state_dict()})
    found["base"][1, 0] = 99.0
    assert found["row"].tolist() == [99.0, 5.0, 6.0, 7.0] and found["turned"][0, 1].item() == 99.0
    assert found["turned"].stride() == (1, 4)
    found["net"]["0.weight"].fill_(7.0)
    assert found["net"]["1.weight"].tolist() == [[7.0, 7.0], [7.0, 7.0]]
    file = io.BytesIO()
    minigrad.save(minigrad.zeros(1000, 100)[3], file)
    assert len(file.getvalue()) < 2000


def test_what_a_schedule_keeps_survives_a_file():
    """A Counter is a Counter again, a Size a Size, and the schedule goes on from them."""
    schedules = []
    for _ in range(2):
        optimizer = minigrad.optim.SGD([minigrad.ones(1)], lr=1.0)
        schedules.append(minigrad.optim.lr_scheduler.MultiStepLR(optimizer, [1, 2, 2]))
    optimizer.step()
    schedules[0].optimizer.step()
    schedules[0].step()
    schedules[1].load_state_dict(there_and_back(schedules[0].state_dict()))
    assert schedules[1].milestones == schedules[0].milestones
    assert schedules[1].last_epoch == 1 and schedules[1].get_last_lr() == [0.1]
    assert there_and_back(minigrad.ones(2, 3).shape).numel() == 6


def test_a_damaged_file_is_refused():
    """Bytes changed, left out or put in anywhere: an error that says so, or (in bytes that do not matter) the same object."""
    value = {
        "w": minigrad.arange(6).float(),
        "n": [1, 2.5, None, "text"],
        "p": minigrad.nn.Parameter(minigrad.ones(2)),
    }
    file = io.BytesIO()
    minigrad.save(value, file)
    whole, rng, refused = file.getvalue(), np.random.default_rng(0), 0
    for _ in range(600):
        data, at = bytearray(whole), rng.integers(len(whole))
        how = rng.integers(4)
        if how == 0:
            data[at] ^= 1 << rng.integers(8)
        elif how == 1:
            del data[at : at + rng.integers(1, 40)]
        elif how == 2:
            data[at:at] = rng.bytes(5)
        else:
            del data[at:]
        try:
            found = minigrad.load(io.BytesIO(bytes(data)))
        except RuntimeError as error:
            assert "was not written by minigrad.save(), or is damaged" in str(error)
            refused += 1
        else:
            assert plain(found) == plain(value)
    assert refused > 300


HOSTILE = {
    "a number that is not there": {"kind": "tensor", "number": 9, "requires_grad": False},
    "a view outside": {"kind": "tensor", "number": 0, "requires_grad": False, "view": [0, [1000], [8]]},
    "a view before": {"kind": "tensor", "number": 0, "requires_grad": False, "view": [-64, [2], [8]]},
    "integers that require grad": {"kind": "tensor", "number": 0, "requires_grad": True},
    "an unknown kind": {"kind": "function", "name": "os.system"},
    "no kind": {"items": []},
    "a dtype that is none": {"kind": "dtype", "name": "__builtins__"},
    "a list as a key": {"kind": "dict", "items": [[{"kind": "list", "items": []}, 1]]},
    "a pair of three": {"kind": "dict", "items": [[1, 2, 3]]},
    "a bare list": [1, 2],
    "metadata of a dict": {"kind": "dict", "items": [], "metadata": 1},
    "a float that is none": {"kind": "float", "text": "__import__('os')"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_structure_that_lies_is_refused(name):
    """The JSON in the file is checked against the arrays; nothing outside them can be reached."""
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(HOSTILE[name]).encode(), np.uint8)
    np.savez(file, structure=text, tensor_0=np.arange(3))
    file.seek(0)
    with pytest.raises(RuntimeError, match="was not written by minigrad"):
        minigrad.load(file)


def test_a_small_file_cannot_become_a_large_object():
    """Compressed parts are refused, and so is JSON that is nested without end."""
    bomb, nested = io.BytesIO(), io.BytesIO()
    text = np.frombuffer(b'{"kind": "tensor", "number": 0, "requires_grad": false}', np.uint8)
    np.savez_compressed(bomb, structure=text, tensor_0=np.zeros(10**6))
    np.savez(nested, structure=np.frombuffer(b'{"kind": "list", "items": [' * 20000, np.uint8))
    for file in (bomb, nested):
        file.seek(0)
        with pytest.raises(RuntimeError, match="was not written by minigrad"):
            minigrad.load(file)


def test_what_cannot_be_saved_is_named():
    """The message says where it is and what to do."""
    with pytest.raises(
        TypeError, match=r"obj\['nets'\]\[1\] is of type Linear.*Save a model's state_dict\(\)"
    ):
        minigrad.save({"nets": [1, minigrad.nn.Linear(1, 1)]}, io.BytesIO())


def test_a_file_cannot_run_code(tmp_path):
    """A pickle, inside or instead of the zip, is refused and not executed."""

    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "executed"), "w")

    instead = io.BytesIO(pickle.dumps(Evil()))
    with pytest.raises(RuntimeError, match="was not written by minigrad"):
        minigrad.load(instead)
    inside = io.BytesIO()
    np.savez(inside, structure=np.array([Evil()], dtype=object))
    inside.seek(0)
    with pytest.raises(RuntimeError, match="was not written by minigrad"):
        minigrad.load(inside)
    assert not (tmp_path / "executed").exists()


def test_the_file_is_numpys():
    """Any program that reads .npz can read the tensors."""
    file = io.BytesIO()
    minigrad.save([minigrad.arange(4)], file)
    assert "structure.npy" in zipfile.ZipFile(file).namelist()
    file.seek(0)
    assert np.load(file)["tensor_0"].tolist() == [0, 1, 2, 3]


def test_importing_minigrad_loads_none_of_this():
    """nn, optim and utils come when they are first used."""
    code = "import sys, minigrad; print([m for m in sys.modules if m.startswith(('minigrad.nn', 'minigrad.optim'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
