"""Modules: with PyTorch's weights they compute, print, save and hook as PyTorch's do."""

from __future__ import annotations

import copy
import gc
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import minigrad

RNG = np.random.default_rng(5)
VECTORS, SIGNALS, IMAGES = (
    RNG.standard_normal(s).astype(np.float32) for s in ((5, 4), (2, 4, 6), (2, 3, 6, 7))
)
SEQUENCE = RNG.standard_normal((5, 2, 4)).astype(np.float32)
VOLUMES = RNG.standard_normal((2, 2, 3, 4, 3)).astype(np.float32)
NUMBERS = RNG.integers(0, 7, (3, 4))

# name: (makes the module from torch.nn, the inputs of its forward)
MODULES = {
    "Identity": (lambda nn: nn.Identity(3, a=4), VECTORS),
    "Linear": (lambda nn: nn.Linear(4, 3), VECTORS),
    "Linear without bias": (lambda nn: nn.Linear(4, 3, bias=False), SIGNALS.swapaxes(1, 2)),
    "Bilinear": (lambda nn: nn.Bilinear(4, 4, 3), VECTORS, VECTORS),
    "Flatten": (lambda nn: nn.Flatten(), IMAGES),
    "Unflatten": (lambda nn: nn.Unflatten(1, (2, 2)), VECTORS),
    "Embedding": (lambda nn: nn.Embedding(7, 3), NUMBERS),
    "Embedding padding": (lambda nn: nn.Embedding(7, 3, padding_idx=-1, max_norm=1.5), NUMBERS),
    "Conv1d": (lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), SIGNALS),
    "Conv2d": (lambda nn: nn.Conv2d(3, 4, (3, 2), dilation=(1, 2), bias=False), IMAGES),
    "Conv2d same": (lambda nn: nn.Conv2d(3, 4, 3, padding="same"), IMAGES),
    "Conv2d reflect": (lambda nn: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), IMAGES),
    "Conv2d circular": (lambda nn: nn.Conv2d(3, 4, 3, padding=(2, 1), padding_mode="circular"), IMAGES),
    "Conv3d": (lambda nn: nn.Conv3d(2, 1, 2), RNG.standard_normal((1, 2, 3, 3, 3)).astype(np.float32)),
    "ConvTranspose1d": (lambda nn: nn.ConvTranspose1d(4, 2, 3, stride=2), SIGNALS),
    "ConvTranspose2d": (lambda nn: nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), IMAGES),
    "MaxPool1d": (lambda nn: nn.MaxPool1d(2), SIGNALS),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), IMAGES),
    "AvgPool1d": (lambda nn: nn.AvgPool1d(3, 2), SIGNALS),
    "AvgPool2d": (lambda nn: nn.AvgPool2d((2, 3)), IMAGES),
    "AdaptiveAvgPool1d": (lambda nn: nn.AdaptiveAvgPool1d(2), SIGNALS),
    "AdaptiveAvgPool2d": (lambda nn: nn.AdaptiveAvgPool2d((2, None)), IMAGES),
    "ZeroPad2d": (lambda nn: nn.ZeroPad2d(1), IMAGES),
    "ConstantPad1d": (lambda nn: nn.ConstantPad1d((1, 2), 3.5), SIGNALS),
    "ConstantPad2d": (lambda nn: nn.ConstantPad2d(2, -1), IMAGES),
    "ReflectionPad1d": (lambda nn: nn.ReflectionPad1d(2), SIGNALS),
    "ReflectionPad2d": (lambda nn: nn.ReflectionPad2d((1, 0, 2, 1)), IMAGES),
    "ReplicationPad1d": (lambda nn: nn.ReplicationPad1d((0, 2)), SIGNALS),
    "ReplicationPad2d": (lambda nn: nn.ReplicationPad2d(1), IMAGES),
    "LayerNorm": (lambda nn: nn.LayerNorm(4), VECTORS),
    "LayerNorm plain": (lambda nn: nn.LayerNorm([6, 7], eps=0.1, elementwise_affine=False), IMAGES),
    "LayerNorm without bias": (lambda nn: nn.LayerNorm(4, bias=False), VECTORS),
    "RMSNorm": (lambda nn: nn.RMSNorm(4), VECTORS),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), SIGNALS),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(4), VECTORS),
    "BatchNorm1d evaluation": (lambda nn: nn.BatchNorm1d(4).eval(), SIGNALS),
    "BatchNorm1d plain": (lambda nn: nn.BatchNorm1d(4, affine=False, track_running_stats=False), VECTORS),
    "BatchNorm1d cumulative": (lambda nn: nn.BatchNorm1d(4, momentum=None), VECTORS),
    "BatchNorm2d": (lambda nn: nn.BatchNorm2d(3, momentum=0.3), IMAGES),
    "Dropout": (lambda nn: nn.Dropout(0.3), VECTORS),
    "Dropout evaluation": (lambda nn: nn.Dropout().eval(), VECTORS),
    "Dropout1d": (lambda nn: nn.Dropout1d(0.4), SIGNALS),
    "Dropout2d": (lambda nn: nn.Dropout2d(0.4), IMAGES),
    "RNNCell": (lambda nn: nn.RNNCell(4, 3), VECTORS),
    "RNNCell relu": (lambda nn: nn.RNNCell(4, 3, nonlinearity="relu", bias=False), VECTORS),
    "GRUCell": (lambda nn: nn.GRUCell(4, 3), VECTORS, VECTORS[:, :3]),
    "LSTMCell": (lambda nn: nn.LSTMCell(4, 3), VECTORS),
    "LSTMCell one example": (lambda nn: nn.LSTMCell(4, 3), VECTORS[0]),
    "RNN": (lambda nn: nn.RNN(4, 3), SEQUENCE),
    "RNN relu": (lambda nn: nn.RNN(4, 3, nonlinearity="relu", bias=False), SEQUENCE),
    "RNN layers": (lambda nn: nn.RNN(4, 3, num_layers=2, bidirectional=True, batch_first=True), SEQUENCE),
    "GRU": (lambda nn: nn.GRU(4, 3, 2), SEQUENCE),
    "GRU state": (lambda nn: nn.GRU(4, 4), SEQUENCE, VECTORS[None, :2]),
    "GRU one example": (lambda nn: nn.GRU(4, 3, bidirectional=True), VECTORS),
    "LSTM": (lambda nn: nn.LSTM(4, 3), SEQUENCE),
    "LSTM layers": (lambda nn: nn.LSTM(4, 3, 2, bidirectional=True, batch_first=True), SEQUENCE),
    "MultiheadAttention": (lambda nn: nn.MultiheadAttention(4, 2), SEQUENCE, SEQUENCE, SEQUENCE),
    "MultiheadAttention batch_first": (
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True, bias=False),
        SEQUENCE,
        SEQUENCE,
        SEQUENCE,
    ),
    "MultiheadAttention widths": (
        lambda nn: nn.MultiheadAttention(4, 1, kdim=3, vdim=2),
        VECTORS,
        VECTORS[:, :3],
        VECTORS[:, :2],
    ),
    "MultiheadAttention of others": (lambda nn: nn.MultiheadAttention(4, 2), SEQUENCE, SEQUENCE[:3], SEQUENCE[:3]),
    "MultiheadAttention more keys": (
        lambda nn: nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, dropout=0.2),
        SEQUENCE, SEQUENCE, SEQUENCE,
    ),
    "LSTM projected": (lambda nn: nn.LSTM(4, 5, 2, proj_size=2, bidirectional=True), SEQUENCE),
    "LSTM dropout": (lambda nn: nn.LSTM(4, 3, 3, dropout=0.4), SEQUENCE),
    "TransformerEncoderLayer": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8), SEQUENCE),
    "TransformerEncoderLayer norm first": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, 0.3, "gelu", norm_first=True, batch_first=True), SEQUENCE),
    "TransformerEncoder": (
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2, nn.LayerNorm(4)), SEQUENCE),
    "TransformerDecoderLayer": (lambda nn: nn.TransformerDecoderLayer(4, 2, 8, bias=False), SEQUENCE, SEQUENCE[:3]),
    "TransformerDecoder": (
        lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 1, 8, norm_first=True), 2), SEQUENCE, SEQUENCE[:3]),
    "Transformer": (lambda nn: nn.Transformer(4, 2, 1, 1, 8, batch_first=True), SEQUENCE, SEQUENCE[:, :1]),
    "ConvTranspose3d": (lambda nn: nn.ConvTranspose3d(2, 3, 2, stride=2, output_padding=1), VOLUMES),
    "MaxPool3d": (lambda nn: nn.MaxPool3d(2, 1, 1), VOLUMES),
    "AvgPool3d": (lambda nn: nn.AvgPool3d(2, 1, 1, divisor_override=3), VOLUMES),
    "AdaptiveAvgPool3d": (lambda nn: nn.AdaptiveAvgPool3d((2, None, 1)), VOLUMES),
    "AdaptiveMaxPool1d": (lambda nn: nn.AdaptiveMaxPool1d(4), SIGNALS),
    "AdaptiveMaxPool2d": (lambda nn: nn.AdaptiveMaxPool2d((3, 2)), IMAGES),
    "AdaptiveMaxPool3d": (lambda nn: nn.AdaptiveMaxPool3d(2), VOLUMES),
    "LPPool1d": (lambda nn: nn.LPPool1d(2, 2), SIGNALS),
    "LPPool2d": (lambda nn: nn.LPPool2d(2, (2, 3), stride=1), IMAGES),
    "LPPool3d": (lambda nn: nn.LPPool3d(2, 2), VOLUMES),
    "CircularPad1d": (lambda nn: nn.CircularPad1d((1, 2)), SIGNALS),
    "CircularPad2d": (lambda nn: nn.CircularPad2d(1), IMAGES),
    "ReflectionPad3d": (lambda nn: nn.ReflectionPad3d(1), VOLUMES),
    "ReplicationPad3d": (lambda nn: nn.ReplicationPad3d((0, 1, 2, 0, 1, 1)), VOLUMES),
    "ZeroPad1d": (lambda nn: nn.ZeroPad1d(2), SIGNALS),
    "Unfold": (lambda nn: nn.Unfold(2, padding=1, stride=2), IMAGES),
    "Fold": (lambda nn: nn.Fold((3, 3), 2), SIGNALS[:, :, :4]),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=1.5, mode="bilinear"), IMAGES),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d((4, 9)), IMAGES),
    "UpsamplingBilinear2d": (lambda nn: nn.UpsamplingBilinear2d(scale_factor=2), IMAGES),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), SIGNALS[:, :, :, None]),
    "PixelUnshuffle": (lambda nn: nn.PixelUnshuffle(2), IMAGES[..., :6]),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(2), SIGNALS),
    "BatchNorm3d": (lambda nn: nn.BatchNorm3d(2), VOLUMES),
    "InstanceNorm1d": (lambda nn: nn.InstanceNorm1d(4, affine=True), SIGNALS),
    "InstanceNorm2d": (lambda nn: nn.InstanceNorm2d(3, track_running_stats=True), IMAGES),
    "InstanceNorm3d": (lambda nn: nn.InstanceNorm3d(2), VOLUMES),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(2, alpha=0.2), IMAGES),
    "Dropout3d": (lambda nn: nn.Dropout3d(0.4), VOLUMES),
    "AlphaDropout": (lambda nn: nn.AlphaDropout(0.3), VECTORS),
    "FeatureAlphaDropout": (lambda nn: nn.FeatureAlphaDropout(0.3), IMAGES),
    "RReLU": (lambda nn: nn.RReLU(), VECTORS),
    "RReLU evaluation": (lambda nn: nn.RReLU(0.1, 0.3).eval(), VECTORS),
    "Softmax2d": (lambda nn: nn.Softmax2d(), IMAGES),
    "TripletMarginWithDistanceLoss": (
        lambda nn: nn.TripletMarginWithDistanceLoss(swap=True), VECTORS, VECTORS[::-1], VECTORS * 2),
    "MultiMarginLoss": (lambda nn: nn.MultiMarginLoss(p=2), VECTORS, NUMBERS.reshape(-1)[:5] % 4),
    "MultiLabelSoftMarginLoss": (lambda nn: nn.MultiLabelSoftMarginLoss(), VECTORS, (VECTORS > 0) * 1.0),
    "ReLU": (lambda nn: nn.ReLU(), VECTORS),
    "ReLU6": (lambda nn: nn.ReLU6(), VECTORS * 5),
    "LeakyReLU": (lambda nn: nn.LeakyReLU(0.2), VECTORS),
    "PReLU": (lambda nn: nn.PReLU(4), VECTORS),
    "ELU": (lambda nn: nn.ELU(0.7), VECTORS),
    "CELU": (lambda nn: nn.CELU(0.7), VECTORS),
    "SELU": (lambda nn: nn.SELU(), VECTORS),
    "GELU": (lambda nn: nn.GELU(), VECTORS),
    "GELU tanh": (lambda nn: nn.GELU("tanh"), VECTORS),
    "SiLU": (lambda nn: nn.SiLU(), VECTORS),
    "Mish": (lambda nn: nn.Mish(), VECTORS),
    "Softplus": (lambda nn: nn.Softplus(2.0), VECTORS),
    "Hardtanh": (lambda nn: nn.Hardtanh(-0.5, 0.3), VECTORS),
    "Hardsigmoid": (lambda nn: nn.Hardsigmoid(), VECTORS * 3),
    "Hardswish": (lambda nn: nn.Hardswish(), VECTORS * 3),
    "Softshrink": (lambda nn: nn.Softshrink(), VECTORS),
    "Hardshrink": (lambda nn: nn.Hardshrink(0.3), VECTORS),
    "Tanhshrink": (lambda nn: nn.Tanhshrink(), VECTORS),
    "Softsign": (lambda nn: nn.Softsign(), VECTORS),
    "Threshold": (lambda nn: nn.Threshold(0.1, 20), VECTORS),
    "Sigmoid": (lambda nn: nn.Sigmoid(), VECTORS),
    "Tanh": (lambda nn: nn.Tanh(), VECTORS),
    "LogSigmoid": (lambda nn: nn.LogSigmoid(), VECTORS),
    "GLU": (lambda nn: nn.GLU(), VECTORS),
    "Softmax": (lambda nn: nn.Softmax(dim=1), VECTORS),
    "Softmax without dim": (lambda nn: nn.Softmax(), VECTORS),
    "LogSoftmax": (lambda nn: nn.LogSoftmax(0), VECTORS),
    "Softmin": (lambda nn: nn.Softmin(dim=1), VECTORS),
    "MSELoss": (lambda nn: nn.MSELoss(), VECTORS, -VECTORS),
    "L1Loss": (lambda nn: nn.L1Loss(reduction="sum"), VECTORS, -VECTORS),
    "SmoothL1Loss": (lambda nn: nn.SmoothL1Loss(beta=0.3), VECTORS, -VECTORS),
    "HuberLoss": (lambda nn: nn.HuberLoss(delta=0.4), VECTORS, -VECTORS),
    "NLLLoss": (lambda nn: nn.NLLLoss(ignore_index=2), VECTORS, NUMBERS.reshape(-1)[:5] % 4),
    "CrossEntropyLoss": (lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), VECTORS, NUMBERS.reshape(-1)[:5] % 4),
    "BCELoss": (lambda nn: nn.BCELoss(), 1 / (1 + VECTORS**2), abs(VECTORS) / 9),
    "BCEWithLogitsLoss": (lambda nn: nn.BCEWithLogitsLoss(), VECTORS, abs(VECTORS) / 9),
    "KLDivLoss": (lambda nn: nn.KLDivLoss(reduction="batchmean"), VECTORS, abs(VECTORS)),
    "SoftMarginLoss": (lambda nn: nn.SoftMarginLoss(), VECTORS, np.sign(VECTORS[::-1]).astype(int)),
    "HingeEmbeddingLoss": (lambda nn: nn.HingeEmbeddingLoss(), VECTORS, np.sign(VECTORS[::-1])),
    "MarginRankingLoss": (lambda nn: nn.MarginRankingLoss(), VECTORS[0], VECTORS[1], np.sign(VECTORS[2])),
    "CosineEmbeddingLoss": (lambda nn: nn.CosineEmbeddingLoss(), VECTORS, VECTORS[::-1], np.sign(VECTORS[:, 0])),
    "TripletMarginLoss": (lambda nn: nn.TripletMarginLoss(), VECTORS, VECTORS[::-1], VECTORS * 2),
    "PoissonNLLLoss": (lambda nn: nn.PoissonNLLLoss(), VECTORS, abs(VECTORS)),
    "GaussianNLLLoss": (lambda nn: nn.GaussianNLLLoss(full=True), VECTORS, -VECTORS, abs(VECTORS)),
    "CosineSimilarity": (lambda nn: nn.CosineSimilarity(), VECTORS, VECTORS[::-1]),
    "PairwiseDistance": (lambda nn: nn.PairwiseDistance(), VECTORS, VECTORS[::-1]),
    "Sequential": (lambda nn: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2))), VECTORS),
    "Sequential named": (
        lambda nn: nn.Sequential(OrderedDict(first=nn.Linear(4, 8), act=nn.Tanh(), last=nn.Linear(8, 2))),
        VECTORS,
    ),
    "network of images": (
        lambda nn: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(0.2),
            nn.Flatten(), nn.Linear(4 * 3 * 3, 5),
        ),
        IMAGES,
    ),
}  # fmt: skip


def outputs_of(result) -> list:
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in outputs_of(part)]
    return [] if result is None else [result]


def run(torch, make, arrays: tuple) -> dict:
    """Make the module with seed 0, call it twice, and differentiate."""
    torch.manual_seed(0)
    module = make(torch.nn)
    inputs = [torch.tensor(a.tolist()) for a in arrays]
    for t in inputs:
        if t.is_floating_point():
            t.requires_grad_()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module(*inputs)
        results = outputs_of(module(*inputs))
    total = sum((r * torch.cos(r.detach() + 1)).sum() for r in results)
    if total.requires_grad:
        total.backward()
    return {
        "repr": repr(module),
        "warnings": [str(w.message).split(".")[0] for w in caught if "oneDNN" not in str(w.message)],
        "outputs": [r.detach().numpy() for r in results],
        "dtypes": [str(r.dtype) for r in results],
        "requires_grad": [r.requires_grad for r in results],
        "input gradients": [
            None if t.grad is None else t.grad.numpy() for t in inputs if t.is_floating_point()
        ],
        "gradients": {n: p.grad if p.grad is None else p.grad.numpy() for n, p in module.named_parameters()},
        "state": {n: t.numpy() for n, t in module.state_dict().items()},
        "training": module.training,
    }


def same(a: np.ndarray | None, b: np.ndarray | None) -> None:
    assert (a is None) == (b is None)
    if a is not None:
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=3e-5)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_pytorchs(torch, name):
    """Starting values (same seed), output, gradients, state dict, printed form, warnings."""
    make, *arrays = MODULES[name]
    theirs, mine = run(torch, make, arrays), run(minigrad, make, arrays)
    for key in ("repr", "warnings", "dtypes", "requires_grad", "training"):
        assert mine[key] == theirs[key], key
    assert list(mine["state"]) == list(theirs["state"])
    assert list(mine["gradients"]) == list(theirs["gradients"])
    for key in ("outputs", "input gradients"):
        assert len(mine[key]) == len(theirs[key])
        for a, b in zip(mine[key], theirs[key], strict=True):
            same(a, b)
    for key in ("gradients", "state"):
        for entry in theirs[key]:
            same(mine[key][entry], theirs[key][entry])


# ---------------------------------------------------------------- Module itself, as programs run under both


def net_of(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 3)
            self.register_buffer("scale", torch.full((3,), 2.0))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)

        def forward(self, x):
            return self.lin(x).tanh() * self.scale

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])
            self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 1, bias=False)})
            self.gain = nn.Parameter(torch.ones(1))
            self.extra = nn.ParameterList([torch.ones(2), torch.zeros(2, 2)])
            self.named = nn.ParameterDict({"x": torch.ones(1)})
            self.unused = None

        def forward(self, x):
            for b in self.blocks:
                x = b(x)
            return self.heads["a"](x) * self.gain

    torch.manual_seed(0)
    return Net()


def names(pairs) -> list[str]:
    return [name for name, _ in pairs]


def loading(torch, change, **options) -> list[str]:
    """The lines of what load_state_dict says about a changed state dict."""
    net = net_of(torch)
    state = net.state_dict()
    change(torch, state)
    try:
        return [str(net.load_state_dict(state, **options))]
    except Exception as error:
        return [type(error).__name__, *str(error).split("\n")]


PROGRAMS = {
    "named_parameters": lambda t: names(net_of(t).named_parameters()),
    "named_buffers": lambda t: names(net_of(t).named_buffers()),
    "named_modules": lambda t: names(net_of(t).named_modules()),
    "named_children": lambda t: names(net_of(t).named_children()),
    "without recursion": lambda t: names(net_of(t).named_parameters("pre", recurse=False)),
    "state_dict": lambda t: list(net_of(t).state_dict()),
    "metadata": lambda t: dict(net_of(t).state_dict()._metadata),
    "prefix": lambda t: list(net_of(t).state_dict(prefix="net.")),
    "repr": lambda t: repr(net_of(t)),
    "loading": lambda t: loading(t, lambda t, s: None),
    "loading with a key missing": lambda t: loading(t, lambda t, s: (s.pop("gain"), s.pop("blocks.1.lin.bias"))),
    "loading with a key too many": lambda t: loading(t, lambda t, s: s.update({"x": t.ones(1), "gain.y": t.ones(1)})),
    "loading other shapes": lambda t: loading(t, lambda t, s: s.update({"gain": t.ones(3), "heads.a.bias": t.ones(1)})),
    "loading all of it": lambda t: loading(
        t, lambda t, s: (s.pop("gain"), s.update({"heads.c": t.ones(1), "heads.a.bias": t.ones(1), "named.x": 3}))
    ),
    "loading loosely": lambda t: loading(
        t, lambda t, s: (s.pop("gain"), s.update({"heads.c": t.ones(1)})), strict=False
    ),
    "loading assigned": lambda t: loading(t, lambda t, s: s.update({"gain": t.full((1,), 7.0)}), assign=True),
    "train and eval": lambda t: [m.training for n in [net_of(t)] for _ in [n.blocks.eval()] for m in n.modules()],
    "frozen": lambda t: [p.requires_grad for p in net_of(t).requires_grad_(False).parameters()],
    "to double": lambda t: [str(x.dtype) for x in net_of(t).double().state_dict().values()],
    "to half and back": lambda t: [str(x.dtype) for x in net_of(t).to(t.float16).float().state_dict().values()],
    "apply": lambda t: [a for a in [[]] for _ in [net_of(t).apply(lambda m: a.append(type(m).__name__))]],  # noqa: B023
    "get_submodule": lambda t: repr(net_of(t).get_submodule("heads.a")),
    "get_parameter": lambda t: tuple(net_of(t).get_parameter("heads.a.weight").shape),
    "get_buffer": lambda t: net_of(t).get_buffer("blocks.0.scale").tolist(),
    "Parameter": lambda t: repr(t.nn.Parameter(t.ones(2))),
    "Parameter in no_grad": lambda t: [p.requires_grad for _ in [t.no_grad().__enter__()]
                                       for p in [t.nn.Parameter(t.ones(1))] for _ in [t.set_grad_enabled(True)]],
    "Parameter is a leaf": lambda t: (lambda p: (p.is_leaf, p.grad_fn, type(p * 2).__name__))(t.nn.Parameter(t.ones(2))),
    "Parameter of a result": lambda t: t.nn.Parameter(t.ones(2, requires_grad=True) * 2).is_leaf,
    "frozen Parameter": lambda t: repr(t.nn.Parameter(t.ones(1), requires_grad=False)),
    "deepcopy": lambda t: (lambda n, m: (
        type(m.gain).__name__, m.gain is not n.gain, m.blocks[0].lin.weight.tolist() == n.blocks[0].lin.weight.tolist(),
        m.gain.requires_grad))(*(lambda n: (n, copy.deepcopy(n)))(net_of(t))),
    "an attribute deleted": lambda t: [names(n.named_parameters()) for n in [net_of(t)] for _ in [delattr(n, "gain")]],
    "a parameter set to None": lambda t: [
        (n.lin, list(n.state_dict())) for n in [net_of(t).blocks[0]] for _ in [setattr(n, "lin", None)]
    ],
    "a shared parameter": lambda t: [
        (names(n.named_parameters()), names(n.named_parameters(remove_duplicate=False)), list(n.state_dict()))
        for n in [t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Linear(2, 2))] for _ in [setattr(n[1], "weight", n[0].weight)]
    ],
    "Buffer": lambda t: [
        (list(m.state_dict()), names(m.named_buffers()), isinstance(m.b, t.nn.Buffer))
        for m in [t.nn.Module()]
        for _ in [setattr(m, "b", t.nn.Buffer(t.ones(1))), setattr(m, "c", t.nn.Buffer(t.ones(1), persistent=False))][:1]
    ],
    "Sequential slices": lambda t: [repr(s[1:]) for s in [t.nn.Sequential(t.nn.ReLU(), t.nn.Tanh(), t.nn.Sigmoid())]],
    "Sequential grows": lambda t: repr(t.nn.Sequential(t.nn.ReLU()).append(t.nn.Tanh()).insert(0, t.nn.Sigmoid())),
    "Sequential shrinks": lambda t: [
        (repr(s.pop(0)), repr(s)) for s in [t.nn.Sequential(t.nn.ReLU(), t.nn.Tanh(), t.nn.Sigmoid())]
    ],
    "Sequential added": lambda t: repr(t.nn.Sequential(t.nn.ReLU()) + t.nn.Sequential(t.nn.Tanh())),
    "ModuleList": lambda t: repr(t.nn.ModuleList([t.nn.ReLU(), t.nn.ReLU(), t.nn.Linear(2, 2)]) + [t.nn.Tanh()]),
    "ModuleList edited": lambda t: [
        (m.insert(1, t.nn.Tanh()), m.pop(0), m.extend([t.nn.Sigmoid()]), repr(m), len(m))[3:]
        for m in [t.nn.ModuleList([t.nn.ReLU(), t.nn.ReLU()])]
    ],
    "ModuleDict": lambda t: [
        (list(d), "a" in d, repr(d), repr(d.pop("a")), len(d))
        for d in [t.nn.ModuleDict([["a", t.nn.ReLU()], ["b", t.nn.Tanh()]])]
    ],
    "ParameterList": lambda t: [
        (repr(m), len(m), [tuple(p.shape) for p in m[1:]])
        for m in [t.nn.ParameterList([t.ones(2), t.ones(3, 1)]).append(t.ones(1))]
    ],
    "ParameterDict": lambda t: [
        (repr(d), list(d.keys()), d["b"].requires_grad) for d in [t.nn.ParameterDict({"a": t.ones(2), "b": t.ones(3, 1)})]
    ],
    "zero_grad": lambda t: [
        [p.grad for p in n.parameters()][:1]
        for n in [net_of(t)] for _ in [n(t.ones(1, 3)).sum().backward()] for _ in [n.zero_grad()]
    ],
    "zeroed gradients": lambda t: [
        n.gain.grad.tolist()
        for n in [net_of(t)] for _ in [n(t.ones(1, 3)).sum().backward()] for _ in [n.zero_grad(set_to_none=False)]
    ],
    "clip_grad_norm_": lambda t: [
        (round(t.nn.utils.clip_grad_norm_([a, b, c], 1.5).item(), 5), rounded(a.grad), rounded(b.grad), c.grad)
        for a, b, c in [leaves(t)]
    ],
    "clip_grad_norm_ inf": lambda t: [
        (t.nn.utils.clip_grad_norm_([a, b, c], 1.5, "inf").item(), rounded(a.grad)) for a, b, c in [leaves(t)]
    ],
    "clip_grad_norm_ of little": lambda t: [
        (t.nn.utils.clip_grad_norm_(a, 100.0).item(), rounded(a.grad)) for a, b, c in [leaves(t)]
    ],
    "clip_grad_value_": lambda t: [
        (t.nn.utils.clip_grad_value_([a, b, c], 2.5), rounded(a.grad), rounded(b.grad)) for a, b, c in [leaves(t)]
    ],
    "parameters_to_vector": lambda t: t.nn.utils.parameters_to_vector(leaves(t)).tolist(),
    "vector_to_parameters": lambda t: [
        (t.nn.utils.vector_to_parameters(t.arange(5) * 1.0, [a, b]), a.tolist(), b.tolist()) for a, b, c in [leaves(t)]
    ],
}  # fmt: skip


def rounded(t) -> list:
    return [round(v, 5) for v in t.flatten().tolist()]


def leaves(torch) -> list:
    a, b, c = (torch.full(s, 1.0, requires_grad=True) for s in ((2,), (3, 1), (1,)))
    (a * torch.tensor([3.0, 4.0])).sum().backward()
    (b * 2).sum().backward()
    return [a, b, c]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same(torch, name):
    """What the expression gives, compared as plain data."""
    theirs, mine = PROGRAMS[name](torch), PROGRAMS[name](minigrad)
    assert mine == theirs


def before_init(torch, value):
    """A module that assigns an attribute without having called super().__init__()."""

    class Net(torch.nn.Module):
        def __init__(self):
            self.part = value

    return Net()


BAD_CALLS = {
    "no forward": lambda t: t.nn.Module()(1),
    "arguments of Module": lambda t: t.nn.Module(a=1),
    "an attribute that is not there": lambda t: t.nn.Linear(1, 1).nothing,
    "a parameter before init": lambda t: before_init(t, t.nn.Parameter(t.ones(1))),
    "a module before init": lambda t: before_init(t, t.nn.Linear(1, 1)),
    "a tensor for a parameter": lambda t: setattr(t.nn.Linear(1, 1), "weight", t.ones(1, 1)),
    "a number for a module": lambda t: setattr(t.nn.Sequential(t.nn.ReLU()), "0", 3),
    "a number for a buffer": lambda t: setattr(t.nn.BatchNorm1d(1), "running_mean", 3),
    "a name with a dot": lambda t: t.nn.Module().register_parameter("a.b", None),
    "no name": lambda t: t.nn.Module().register_buffer("", None),
    "a name that is taken": lambda t: t.nn.Linear(1, 1).register_buffer("forward", None),
    "a result as a parameter": lambda t: t.nn.Module().register_parameter("w", t.ones(1, requires_grad=True) * 2),
    "not a module": lambda t: t.nn.Module().add_module("a", 3),
    "no such submodule": lambda t: t.nn.Sequential(t.nn.ReLU()).get_submodule("0.x"),
    "no such parameter": lambda t: t.nn.Linear(1, 1).get_parameter("x"),
    "state that is no dict": lambda t: t.nn.Linear(1, 1).load_state_dict([1]),
    "training what": lambda t: t.nn.Linear(1, 1).train(1),
    "to integers": lambda t: t.nn.Linear(1, 1).to(t.int64),
    "integers as parameter": lambda t: t.nn.Parameter(t.ones(2, dtype=t.int64)),
    "Sequential index": lambda t: t.nn.Sequential(t.nn.ReLU())[3],
    "ModuleList index": lambda t: t.nn.ModuleList([t.nn.ReLU()])[-2],
    "ModuleList of a number": lambda t: t.nn.ModuleList(3),
    "groups": lambda t: t.nn.Conv1d(3, 4, 1, groups=2),
    "same with stride": lambda t: t.nn.Conv1d(3, 4, 1, padding="same", stride=2),
    "dropout probability": lambda t: t.nn.Dropout(1.5),
    "batch of one": lambda t: t.nn.BatchNorm1d(3)(t.ones(1, 3)),
    "batch norm of an image": lambda t: t.nn.BatchNorm1d(3)(t.ones(2, 3, 4, 4)),
    "batch norm of a matrix": lambda t: t.nn.BatchNorm2d(3)(t.ones(2, 3)),
    "group norm channels": lambda t: t.nn.GroupNorm(2, 3),
    "layer norm width": lambda t: t.nn.LayerNorm(4)(t.ones(2, 3)),
    "embedding out of range": lambda t: t.nn.Embedding(3, 2)(t.tensor([1, 3])),
    "embedding of floats": lambda t: t.nn.Embedding(3, 2)(t.tensor([1.0])),
    "embedding padding": lambda t: t.nn.Embedding(3, 2, padding_idx=3),
    "rnn nonlinearity": lambda t: t.nn.RNN(2, 2, nonlinearity="sin"),
    "rnn width": lambda t: t.nn.GRU(2, 3)(t.ones(4, 1, 3)),
    "rnn rank": lambda t: t.nn.GRU(2, 3)(t.ones(2)),
    "lstm state": lambda t: t.nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 2), t.ones(1, 1, 3))),
    "heads": lambda t: t.nn.MultiheadAttention(4, 3),
    "clipping infinity": lambda t: [t.nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True) for w in [t.ones(1)]
                                    for _ in [setattr(w, "grad", t.full((1,), float("inf")))]],
    "reduction": lambda t: t.nn.MSELoss(reduction="most")(t.ones(1), t.ones(1)),
    "conv channels": lambda t: t.nn.Conv2d(3, 4, 3)(t.ones(2, 5, 8, 8)),
    "conv rank": lambda t: t.nn.Conv2d(3, 4, 3)(t.ones(8, 8)),
    "conv too small": lambda t: t.nn.Conv2d(3, 4, 3)(t.ones(1, 3, 2, 2)),
    "conv bias": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(2, 1, 2), t.ones(3)),
    "conv weight": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(2, 1)),
    "conv dtype": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3).double(), t.ones(2, 1, 2)),
    "conv stride": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(2, 1, 2), stride=0),
    "conv same and stride": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(2, 1, 2), stride=2, padding="same"),
    "pool too small": lambda t: t.nn.functional.max_pool2d(t.ones(1, 3, 2, 2), 3),
    "pool padding": lambda t: t.nn.functional.max_pool2d(t.ones(1, 3, 4, 4), 2, padding=2),
    "max_pool1d rank": lambda t: t.nn.functional.max_pool1d(t.ones(4), 2),
    "avg_pool1d rank": lambda t: t.nn.functional.avg_pool1d(t.ones(4), 2),
    "adaptive_avg_pool1d rank": lambda t: t.nn.functional.adaptive_avg_pool1d(t.ones(4), 2),
    "adaptive_avg_pool2d rank": lambda t: t.nn.functional.adaptive_avg_pool2d(t.ones(4), 2),
    "pool stride": lambda t: t.nn.functional.avg_pool2d(t.ones(1, 4, 4), 2, stride=0),
    "conv groups": lambda t: t.nn.functional.conv1d(t.ones(1, 2, 3), t.ones(3, 1, 2), groups=2),
    "conv dilation": lambda t: t.nn.functional.conv2d(t.ones(1, 1, 3, 3), t.ones(1, 1, 2, 2), dilation=0),
    "conv strides": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 2), stride=(1, 2)),
    "conv bias dtype": lambda t: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 2), t.ones(1).double()),
    "conv_transpose channels": lambda t: t.nn.functional.conv_transpose1d(t.ones(1, 1, 3), t.ones(2, 1, 2)),
    "pool rank": lambda t: t.nn.functional.max_pool2d(t.ones(4, 4), 2),
    "avg pool divisor": lambda t: t.nn.functional.avg_pool2d(t.ones(1, 4, 4), 2, divisor_override=0),
    "pad odd": lambda t: t.nn.functional.pad(t.ones(3), (1,)),
    "pad many": lambda t: t.nn.functional.pad(t.ones(3), (1, 1, 1, 1)),
    "pad away": lambda t: t.nn.functional.pad(t.ones(3), (-2, -2)),
    "pad mode": lambda t: t.nn.functional.pad(t.ones(1, 3), (1, 1), mode="folded"),
    "pad reflect": lambda t: t.nn.functional.pad(t.ones(1, 1, 3), (3, 1), mode="reflect"),
    "one_hot floats": lambda t: t.nn.functional.one_hot(t.ones(2)),
    "one_hot negative": lambda t: t.nn.functional.one_hot(t.tensor([-1])),
    "one_hot small": lambda t: t.nn.functional.one_hot(t.tensor([4]), 4),
    "dropout p": lambda t: t.nn.functional.dropout(t.ones(2), -0.1),
    "nll batch": lambda t: t.nn.functional.nll_loss(t.ones(3, 2), t.tensor([1, 0])),
    "nll class": lambda t: t.nn.functional.nll_loss(t.ones(2, 2), t.tensor([1, 2])),
    "nll floats": lambda t: t.nn.functional.nll_loss(t.ones(2, 2), t.ones(2)),
    "nll multi": lambda t: t.nn.functional.nll_loss(t.ones(2, 2), t.tensor([[1], [0]])),
    "nll weight": lambda t: t.nn.functional.nll_loss(t.ones(2, 2), t.tensor([1, 0]), t.ones(3)),
    "cross_entropy floats": lambda t: t.nn.functional.cross_entropy(t.ones(2, 2), t.ones(2)),
    "cross_entropy of int probabilities": lambda t: t.nn.functional.cross_entropy(t.ones(1, 2), t.tensor([[1, 0]])),
    "cross_entropy smoothing": lambda t: t.nn.functional.cross_entropy(t.ones(2, 2), t.tensor([1, 0]), label_smoothing=2.0),
    "cross_entropy ignore": lambda t: t.nn.functional.cross_entropy(t.ones(2, 2), t.ones(2, 2), ignore_index=1),
    "bce range": lambda t: t.nn.functional.binary_cross_entropy(t.ones(2) * 2, t.ones(2)),
    "bce size": lambda t: t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(3)),
    "bce logits size": lambda t: t.nn.functional.binary_cross_entropy_with_logits(t.ones(2), t.ones(3)),
    "mse of a number": lambda t: t.nn.functional.mse_loss(t.ones(2), 3.0),
    "huber delta": lambda t: t.nn.functional.huber_loss(t.ones(2), t.ones(2), delta=0.0),
    "smooth beta": lambda t: t.nn.functional.smooth_l1_loss(t.ones(2), t.ones(2), beta=-1.0),
    "fan of a vector": lambda t: t.nn.init.kaiming_uniform_(t.ones(3)),
    "fan mode": lambda t: t.nn.init.kaiming_uniform_(t.ones(3, 3), mode="fan"),
    "gain": lambda t: t.nn.init.calculate_gain("sine"),
    "orthogonal vector": lambda t: t.nn.init.orthogonal_(t.ones(3)),
    "eye of a vector": lambda t: t.nn.init.eye_(t.ones(3)),
    "causal and mask": lambda t: t.nn.functional.scaled_dot_product_attention(
        *[t.ones(2, 2)] * 3, attn_mask=t.ones(2, 2), is_causal=True),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls_get_pytorchs_error(torch, name):
    """Type and first line of the message."""
    errors = []
    for t in (torch, minigrad):
        with pytest.raises(Exception) as caught:
            BAD_CALLS[name](t)
        errors.append((caught.type.__name__, str(caught.value).split("\n")[0]))
    assert errors[1] == errors[0]


# ---------------------------------------------------------------- starting values

INITS = {
    "uniform_": lambda i, w: i.uniform_(w, -2, 3),
    "normal_": lambda i, w: i.normal_(w, 1, 2),
    "trunc_normal_": lambda i, w: i.trunc_normal_(w, 0.5, 1.0, 0.0, 1.5),
    "trunc_normal_ tail": lambda i, w: i.trunc_normal_(w, a=2.0, b=3.0),
    "constant_": lambda i, w: i.constant_(w, 0.3),
    "ones_": lambda i, w: i.ones_(w),
    "zeros_": lambda i, w: i.zeros_(w),
    "eye_": lambda i, w: i.eye_(w),
    "xavier_uniform_": lambda i, w: i.xavier_uniform_(w, 2.0),
    "xavier_normal_": lambda i, w: i.xavier_normal_(w),
    "kaiming_uniform_": lambda i, w: i.kaiming_uniform_(w, 0.3),
    "kaiming_normal_": lambda i, w: i.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
    "orthogonal_": lambda i, w: i.orthogonal_(w, 1.5),
}


@pytest.mark.parametrize("shape", [(4, 6), (7, 3)])
@pytest.mark.parametrize("name", INITS)
def test_starting_values_are_pytorchs(torch, name, shape):
    """The same numbers for the same seed; the tensor itself is filled and returned."""
    filled = []
    for t in (torch, minigrad):
        t.manual_seed(11)
        w = t.nn.Parameter(t.empty(*shape))
        assert INITS[name](t.nn.init, w) is w
        assert w.is_leaf and w._version > 0
        filled.append(w.detach().numpy())
    np.testing.assert_allclose(filled[1], filled[0], rtol=1e-4, atol=1e-5)


def test_dirac_passes_a_signal_through():
    """A convolution with a dirac weight gives back its input, also in groups."""
    x = minigrad.randn(1, 4, 9)
    w = minigrad.nn.init.dirac_(minigrad.empty(4, 2, 3), groups=2)
    assert minigrad.nn.functional.conv1d(x, w, padding=1, groups=2).tolist() == x.tolist()


def test_sparse_leaves_zeros_in_each_column():
    """A third of four rows, rounded up."""
    w = minigrad.nn.init.sparse_(minigrad.empty(4, 5), 0.3)
    assert [int((column == 0).sum()) for column in w.numpy().T] == [2] * 5


# ---------------------------------------------------------------- hooks


def hook_log(torch, arrange) -> list:
    """What hooks on a small network saw, in their order."""
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    log = []

    def seen(label):
        def hook(module, *grads):
            shapes = [[None if g is None else [round(v, 4) for v in g.flatten().tolist()] for g in gs]
                      for gs in grads]  # fmt: skip
            log.append((label, type(module).__name__, shapes))

        return hook

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arrange(torch, net, log, seen)
    log.append([str(w.message) for w in caught])
    return log


def forward_hooks(torch, net, log, seen):
    """Pre-hooks and hooks, prepended and with keywords, around each layer."""
    for i, layer in enumerate(net):
        layer.register_forward_pre_hook(lambda m, a, i=i: log.append(("pre", i, len(a))))
        layer.register_forward_hook(lambda m, a, out, i=i: log.append(("after", i, tuple(out.shape))))
    net.register_forward_pre_hook(lambda m, a, k: log.append(("keywords", k)), with_kwargs=True)
    net.register_forward_hook(lambda m, a, out: log.append("last"))
    net.register_forward_hook(lambda m, a, out: log.append("first"), prepend=True)
    net(torch.ones(4, 2))


def changing_hooks(torch, net, log, seen):
    """Hooks may replace what comes in and goes out."""
    net[0].register_forward_pre_hook(lambda m, a: a[0] * 2)
    net[1].register_forward_hook(lambda m, a, out: out + 10)
    log.append([round(v, 4) for v in net(torch.ones(1, 2)).flatten().tolist()])


def removed_hooks(torch, net, log, seen):
    """A handle removes its hook; twice is harmless; `with` removes it at the end."""
    handles = [net.register_forward_hook(lambda m, a, o: log.append("a")) for _ in range(2)]
    handles[0].remove()
    handles[0].remove()
    with net.register_forward_hook(lambda m, a, o: log.append("b")):
        net(torch.ones(1, 2))
    net(torch.ones(1, 2))
    log.append(len(net._forward_hooks))


def stored_activations(torch, net, log, seen):
    """Named activations are kept, detached."""
    kept, handles = {}, []
    for name, module in net.named_modules():
        if isinstance(module, torch.nn.Linear):
            handles.append(module.register_forward_hook(lambda m, i, o, n=name: kept.update({n: o.detach()})))
    net(torch.ones(2, 2))
    log.append({name: (tuple(t.shape), t.requires_grad) for name, t in kept.items()})
    for handle in handles:
        handle.remove()
    net(torch.ones(3, 2))
    log.append([len(m._forward_hooks) for m in net.modules()])
    log.append({name: tuple(t.shape) for name, t in kept.items()})


def backward_hooks(torch, net, log, seen):
    """Pre-hooks and hooks on every layer, with an input that requires grad."""
    for layer in net:
        layer.register_full_backward_pre_hook(seen("pre"))
        layer.register_full_backward_hook(seen("after"))
    net.register_full_backward_hook(seen("net"))
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()


def backward_hooks_without_input_gradient(torch, net, log, seen):
    """The first layer's hook fires with None and a warning; twice for two passes."""
    net[0].register_full_backward_hook(seen("first"))
    net[2].register_full_backward_hook(seen("last"))
    out = net(torch.ones(1, 2))
    out.sum().backward(retain_graph=True)
    out.sum().backward()


def changing_backward_hooks(torch, net, log, seen):
    """New gradients for outputs and inputs are used."""
    x = torch.ones(1, 2, requires_grad=True)
    net[2].register_full_backward_pre_hook(lambda m, g: (g[0] * 3,))
    net[0].register_full_backward_hook(lambda m, gi, go: (gi[0] * 0 + 5,))
    net(x).sum().backward()
    log.append((x.grad.tolist(), [round(v, 4) for v in net[2].bias.grad.tolist()]))


def a_starved_layer(torch, net, log, seen):
    """Behind a detach no hook fires and gradients stay None."""
    for layer in net:
        layer.register_full_backward_hook(seen("after"))
    hidden = net[1](net[0](torch.ones(1, 2))).detach()
    net[2](hidden).sum().backward()
    log.append([p.grad is None for p in net.parameters()])


def backward_hooks_and_other_arguments(torch, net, log, seen):
    """Numbers and tensors without gradient have None; tuples come back as tuples."""

    class Two(torch.nn.Module):
        def forward(self, a, factor, b):
            return a * factor, b * 1.0

    two = Two()
    two.register_full_backward_hook(seen("two"))
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    x, y = two(a, 3.0, b)
    log.append((x.grad_fn.name(), y.requires_grad))
    (x.sum() + y.sum()).backward()
    log.append(rounded(a.grad))


def the_wrong_number_of_gradients(torch, net, log, seen):
    """An error names both numbers."""
    net[0].register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    try:
        net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    except RuntimeError as error:
        log.append(str(error))


def a_hook_that_is_always_called(torch, net, log, seen):
    """Also when forward raises."""
    net.register_forward_hook(lambda m, a, out: log.append(out), always_call=True)
    net.register_forward_hook(lambda m, a, out: log.append("never"))
    try:
        net(torch.ones(1, 5))
    except RuntimeError as error:
        log.append(type(error).__name__)


def state_dict_hooks(torch, net, log, seen):
    """Before and after saving and loading."""
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("pre", prefix, keep)))
    net.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({"more": torch.ones(1)}))
    net.register_load_state_dict_pre_hook(lambda m, state, *rest: log.append(state.pop("more").item()))
    net.register_load_state_dict_post_hook(lambda m, keys: log.append(str(keys)))
    net.load_state_dict(net.state_dict())


HOOKS = [
    forward_hooks, changing_hooks, removed_hooks, stored_activations, backward_hooks, backward_hooks_without_input_gradient,
    changing_backward_hooks, a_starved_layer, backward_hooks_and_other_arguments, the_wrong_number_of_gradients,
    a_hook_that_is_always_called, state_dict_hooks,
]  # fmt: skip


@pytest.mark.parametrize("arrange", HOOKS, ids=lambda f: f.__name__)
def test_hooks_see_what_pytorchs_see(torch, arrange):
    """The same calls in the same order, with the same gradients and warnings."""
    assert hook_log(minigrad, arrange) == hook_log(torch, arrange)


def test_training_leaves_nothing_for_the_garbage_collector():
    """Modules, hooks, recurrent layers, checkpoints: graphs die with their last tensor."""
    nn = minigrad.nn
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.GELU(), nn.Linear(4, 2))
    net[1].register_full_backward_hook(lambda module, grad_input, grad_output: None)
    lstm, attention = nn.LSTM(2, 3), nn.MultiheadAttention(4, 2)
    optimizer = minigrad.optim.Adam(net.parameters())

    def step():
        optimizer.zero_grad()
        x = minigrad.randn(5, 4, requires_grad=True)
        y = minigrad.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
        nn.functional.cross_entropy(y, minigrad.randint(0, 2, (5,))).backward()
        optimizer.step()
        lstm(minigrad.randn(3, 1, 2))[0].sum().backward()
        attention(*[minigrad.randn(3, 1, 4)] * 3)[0].sum().backward()

    step()
    gc.collect()
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()
