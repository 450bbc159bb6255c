"""assert_close says what PyTorch's says; Variable, devices and where tensors are made, as programs use them."""

from __future__ import annotations

import pytest

import minigrad

PAIRS = {
    "equal": ("[1.0, 2.0]", "[1.0, 2.0]", {}),
    "nearly equal": ("[1.0, 2.0]", "[1.0, 2.000001]", {}),
    "one element": ("[[1.0, 2.0], [3.0, 4.0]]", "[[1.0, 2.5], [3.0, 4.0]]", {}),
    "in a wide tolerance": ("[1.0]", "[1.1]", {"rtol": 0.2, "atol": 0.0}),
    "beyond a tolerance": ("[1.0]", "[1.5]", {"rtol": 0.2, "atol": 0.0}),
    "one tolerance": ("[1.0]", "[1.5]", {"rtol": 0.2}),
    "NaN": ("[float('nan')]", "[float('nan')]", {}),
    "NaN that counts as equal": ("[float('nan')]", "[float('nan')]", {"equal_nan": True}),
    "shapes": ("[1.0]", "[[1.0]]", {}),
    "dtypes": ("[1.0]", "[1]", {}),
    "dtypes that may differ": ("[1.0]", "[1]", {"check_dtype": False}),
    "infinity": ("[float('inf')]", "[float('inf')]", {}),
    "words of one's own": ("[1.0]", "[2.0]", {"msg": "not the gradient"}),
}


def verdict(module, actual, expected, options):
    try:
        module.testing.assert_close(module.tensor(eval(actual)), module.tensor(eval(expected)), **options)
    except (AssertionError, ValueError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]


@pytest.mark.parametrize("name", PAIRS)
def test_verdicts_are_torchs(torch, name):
    ours, theirs = (verdict(module, *PAIRS[name]) for module in (minigrad, torch))
    if name == "one tolerance":
        assert ours.split(":")[0] == theirs.split(":")[0] == "ValueError"
    else:
        assert ours == theirs


def test_it_says_how_much_differs_and_where():
    with pytest.raises(AssertionError) as caught:
        minigrad.testing.assert_close(
            minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), minigrad.tensor([[1.0, 2.5], [3.0, 4.0]])
        )
    assert "Mismatched elements: 1 / 4 (25.0%)" in str(caught.value)
    assert "Greatest absolute difference: 0.5 at index (0, 1)" in str(caught.value)


def test_sequences_and_mappings_are_compared_part_by_part():
    one, two = minigrad.ones(2), minigrad.full((2,), 2.0)
    minigrad.testing.assert_close([one, two], (one, two))
    minigrad.testing.assert_close({"w": one}, {"w": one})
    with pytest.raises(AssertionError, match="not close"):
        minigrad.testing.assert_close({"w": one}, {"w": two})
    with pytest.raises(AssertionError, match="length"):
        minigrad.testing.assert_close([one], [one, two])
    with pytest.raises(AssertionError, match="keys"):
        minigrad.testing.assert_close({"w": one}, {"b": one})


def test_a_variable_is_a_tensor_on_the_same_memory(torch):
    for module in (minigrad, torch):
        data = module.zeros(2)
        v = module.autograd.Variable(data, requires_grad=True)
        assert isinstance(v, module.Tensor) and isinstance(data, module.autograd.Variable)
        assert v.requires_grad and v.is_leaf and not data.requires_grad
        data[0] = 1.0
        assert v.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "make",
    ["rand(2, device=d)", "randn(2, 3, device=d)", "randint(3, (2,), device=d)", "randperm(3, device=d)", "zeros(2, device=d)",
     "arange(3, device=d)", "linspace(0, 1, 3, device=d)", "eye(2, device=d)", "rand_like(torch.ones(2), device=d)",
     "tril_indices(2, 2, device=d)", "ones(2, layout=torch.strided, pin_memory=False)", "normal(0.0, 1.0, (2,), device=d)",
     "empty_strided((2, 3), (1, 2), device=d)", "frombuffer(bytearray(b'ab'), dtype=torch.uint8)"],
)  # fmt: skip
def test_tensors_are_made_where_the_program_says(torch, make):
    """As `device = "cuda" if torch.cuda.is_available() else "cpu"` chooses."""
    shapes = []
    for module in (minigrad, torch):
        d = module.device(
            "cuda" if minigrad.cuda.is_available() or minigrad.backends.mps.is_available() else "cpu"
        )
        out = eval("torch." + make, {"torch": module, "d": d})
        shapes.append((tuple(out.shape), str(out.dtype), str(out.device), out.stride()))
    assert shapes[0] == shapes[1]


def test_a_keyword_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        minigrad.zeros(2, colour=1)
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        minigrad.rand(2, device="cuda")
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        minigrad.set_default_device("cuda")
    assert str(minigrad.get_default_device()) == "cpu"
