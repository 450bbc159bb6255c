"""Random programs that combine autograd's features: broadcasting, views, writes in place, several outputs, custom
Functions, hooks, grad modes, hooks on saved tensors, double backward, several passes; and nested transforms.

`write(seed)` and `write_transforms(seed)` give the text of one: the same number is the same program everywhere.
"""

from __future__ import annotations

import random

# Shapes that broadcast together; how a tensor of each is written.
LITERALS = {(): "1.5", (3,): "[0.5, -1.25, 2.0]", (2, 3): "[[0.5, -0.75, 1.0], [2.0, -1.5, 0.25]]"}

FUNCTIONS = """
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.autograd.graph import saved_tensors_hooks
log = []
def note(word, *grads):
    log.append((word, *[None if g is None else f'{g.sum().item() + 0.0:.4g}' for g in grads]))
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        note("Square", g)
        return 2 * g * ctx.saved_tensors[0]
class Exp(Function):
    @staticmethod
    def forward(x):
        return x.exp(), 7
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[0])
    @staticmethod
    def backward(ctx, g, _):
        note("Exp", g)
        return g * ctx.saved_tensors[0]
class Two(Function):
    @staticmethod
    def forward(ctx, x, y, lazily):
        ctx.set_materialize_grads(not lazily)
        ctx.save_for_backward(x, None, y)
        return x + y, x * y
    @staticmethod
    def backward(ctx, g, h):
        note("Two", g, h)
        x, _, y = ctx.saved_tensors
        a = 0 if h is None else h * y
        b = 0 if h is None else h * x
        c = 0 if g is None else g
        return a + c, (b + c) * 1.0 if ctx.needs_input_grad[1] else None, None
class Increase(Function):
    @staticmethod
    def forward(ctx, x, by=1):
        ctx.mark_dirty(x)
        return x.add_(by)
    @staticmethod
    def backward(ctx, g, *_):
        note("Increase", g)
        return g * 3, None
class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        note("Same", g)
        return g * 2
class Flat(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g.reshape(ctx.shape)
class Largest(Function):
    @staticmethod
    def forward(ctx, x):
        i = x.argmax()
        ctx.mark_non_differentiable(i)
        ctx.save_for_backward(i, x)
        return x.max(), i
    @staticmethod
    @once_differentiable
    def backward(ctx, g, _):
        i, x = ctx.saved_tensors
        out = torch.zeros_like(x)
        out.view(-1)[i] = g
        return out
def pack(t):
    note("pack", t.detach())
    return t.detach().clone()
def unpack(t):
    note("unpack", t)
    return t
""".lstrip()

UNARY = [
    "-{}",
    "{} * 3",
    "2 - {}",
    "{} ** 2",
    "{}.relu()",
    "{}.clone()",
    "{}.exp()",
    "{}.tanh()",
    "{}.sigmoid()",
    "{}.sin()",
    "{} / 2",
]
BINARY = [
    "{} + {}",
    "{} * {}",
    "{} - {}",
    "torch.maximum({}, {})",
    "{} / ({} ** 2 + 1)",
    "torch.where({} > 0, {}, 0.5)",
]
REDUCTIONS = {
    (): ["{}.sum()"],
    (3,): ["{}.sum()", "{}[1:].mean()", "{}.max()", "{} @ {}"],
    (2, 3): ["{}.sum()", "{}.prod()", "{}[:, :2].mean()", "{}.norm()"],
}
VIEWS = {
    (): [("{}.view(())", ()), ("{}.expand(3)", (3,))],
    (3,): [("{}[1]", ()), ("{}.view(3)", (3,)), ("{}[None].expand(2, 3)", (2, 3)), ("{}[:]", (3,)),
        ("{}[[2, 0, 2]]", (3,))],
    (2, 3): [("{}[0]", (3,)), ("{}[1, 2]", ()), ("{}.t().t()", (2, 3)), ("{}.view(6)[2:5]", (3,)), ("{}[:, 1:].sum()", ())],
}  # fmt: skip
IN_PLACE = [
    "{0}.mul_(3)",
    "{0}.add_({1})",
    "{0}.mul_({1})",
    "{0}.exp_()",
    "{0}.zero_()",
    "{0}.copy_({1})",
    "{0} += 1",
]
WRITES = {
    (): [],
    (3,): ["{0}[1] = 2.5", "{0}[1:].mul_(2)"],
    (2, 3): ["{0}[0] = {1}", "{0}[1].add_(1)", "{0}[:, 0] = -1.0"],
}
BLOCKS = [
    "with torch.no_grad():", "with torch.enable_grad():", "with torch.inference_mode():",
    "with saved_tensors_hooks(pack, unpack):", "with torch.autograd.set_detect_anomaly(True):",
]  # fmt: skip


class Writer:
    """A program in the making: its lines and the shapes of its variables."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.choose = self.random.choice
        self.lines: list[str] = []
        self.shapes: dict[str, tuple] = {}
        self.indent = ""
        self.hooks = self.random.random() < 0.7
        for _ in range(self.random.randint(1, 3)):
            shape = self.choose(list(LITERALS))
            self.put(
                f"{self.name(shape)} = torch.tensor({LITERALS[shape]}, requires_grad={self.random.random() < 0.8})"
            )
        self.leaves = list(self.shapes)

    def put(self, line: str) -> None:
        self.lines += [self.indent + part for part in line.splitlines()]

    def name(self, shape: tuple) -> str:
        self.shapes[f"v{len(self.shapes)}"] = shape
        return f"v{len(self.shapes) - 1}"

    def some(self, shape: tuple = (2, 3), leaf: bool = True, exact: bool = False) -> str:
        """One of the most recent variables whose shape can be written into `shape`."""
        fitting = [v for v, s in self.shapes.items() if (s == shape if exact else len(s) <= len(shape))]
        fitting = [v for v in fitting if leaf or v not in self.leaves] or fitting
        return fitting[-1 - min(self.random.randrange(6), len(fitting) - 1)] if fitting else "1.0"

    def several(self, most: int = 3) -> str:
        names = [self.some() for _ in range(self.random.randint(1, most))]
        return f"[{', '.join(names)}]"

    # ------------------------------------------------------------ statements

    def unary(self) -> None:
        x = self.some()
        self.put(f"{self.name(self.shapes[x])} = {self.choose(UNARY).format(x)}")

    def binary(self) -> None:
        x, y = self.some(), self.some()
        self.put(
            f"{self.name(max(self.shapes[x], self.shapes[y], key=len))} = {self.choose(BINARY).format(x, y)}"
        )

    def view(self) -> None:
        x = self.some()
        expression, shape = self.choose(VIEWS[self.shapes[x]])
        self.put(f"{self.name(shape)} = {expression.format(x)}")

    def reduction(self) -> None:
        x = self.some()
        self.put(f"{self.name(())} = {self.choose(REDUCTIONS[self.shapes[x]]).format(x, x)}")

    def joined(self) -> None:
        x, y = self.some((3,), exact=True), self.some((3,), exact=True)
        if x == "1.0":
            return self.view()
        self.put(f"{self.name((2, 3))} = torch.stack([{x}, {y} * 2])")

    def parts(self) -> None:
        x = self.some(exact=True)
        if x == "1.0":
            return self.view()
        call = self.choose(["unbind()", "split(1)", "max(0)", "chunk(2)"])
        shape = (3,) if call in ("unbind()", "max(0)") else (2, 3)
        first = self.name(shape)
        if call == "max(0)":
            self.put(f"{first}, index = {x}.{call}")
        elif shape == (3,):
            self.put(f"{first}, {self.name(shape)} = {x}.{call}")
        else:
            self.put(f"{first} = {x}.{call}[{self.choose([0, 1])}]")

    def function(self) -> None:
        kind = self.choose(["Square", "Exp", "Two", "Two", "Increase", "Increase", "Same", "Flat", "Largest"])
        x = self.some(leaf=kind != "Increase")
        shape = self.shapes[x]
        if kind == "Exp":
            self.put(f"{self.name(shape)}, number = Exp.apply({x})")
        elif kind == "Two":
            y = self.some(shape, exact=True)
            first = self.name(shape)
            self.put(f"{first}, {self.name(shape)} = Two.apply({x}, {y}, {self.choose([True, False])})")
        elif kind == "Largest":
            self.put(f"{self.name(())}, index = Largest.apply({x})")
        elif kind == "Flat":
            self.put(
                f"{self.name((3,))} = Flat.apply({x})[:3]"
                if shape
                else f"{self.name(())} = Flat.apply({x})[0]"
            )
        elif kind == "Increase":
            by = self.choose(["", ", 2", ", by=3"])
            self.put(
                f"Increase.apply({x}{by})"
                if self.random.random() < 0.5
                else f"{self.name(shape)} = Increase.apply({x}{by})"
            )
        else:
            self.put(f"{self.name(shape)} = {kind}.apply({x})")

    def in_place(self) -> None:
        x = self.some(leaf=self.random.random() < 0.15)
        statement = self.choose(IN_PLACE + WRITES[self.shapes[x]])
        self.put(statement.format(x, self.some((3,) if "[0]" in statement else self.shapes[x])))

    def hook(self) -> None:
        if not self.hooks:
            return
        x, n, many = self.some(), len(self.lines), self.several()
        # PyTorch 2.13 crashes if a view gets a hook after a write to its base and before a read of the view's grad_fn.
        self.put(f"[t.requires_grad and t.grad_fn for t in {many}]; {x}.grad_fn")
        self.put(
            self.choose(
                [
                    "{x}.register_hook(lambda g: note('{x} {n}', g))",
                    "{x}.register_hook(lambda g: None if g is None else g * 2)",
                    "h{n} = {x}.register_hook(lambda g: (note('once {n}', g), h{n}.remove())[0])",
                    "{x}.retain_grad()",
                    "{x}.grad_fn.register_prehook(lambda gs: note('pre {n}', *gs))",
                    "{x}.grad_fn.register_prehook(lambda gs: tuple(None if g is None else g * 2 for g in gs))",
                    "{x}.grad_fn.register_hook(lambda gi, go: note('post {n}', *gi, *go))",
                    "{x}.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * 2 for g in gi))",
                    "{x}.register_post_accumulate_grad_hook(lambda t: note('post {x}', t.grad))",
                    "{x}.register_post_accumulate_grad_hook(lambda t: setattr(t, 'grad', None))",
                    "{x}.register_hook(lambda g: note('again {x} {n}', g))",
                    "{x}.grad_fn.register_hook(lambda gi, go: note('after {n}', *gi, *go))",
                    "{x}.register_hook(lambda g: 1 / 0) if {n} % 5 == 0 else None",
                ]
            ).format(x=x, n=n)
        )

    def flag(self) -> None:
        x = self.some()
        shape = self.shapes[x]
        self.put(
            self.choose(
                [
                    f"{self.name(shape)} = {x}.detach()",
                    f"{x}.detach_()",
                    f"{x}.requires_grad_()",
                    f"{self.choose(self.leaves)}.requires_grad_({self.choose([True, False])})",
                    f"{x}.data.add_(1)",
                    f"{x}.requires_grad, {x}.is_leaf, {x}.retains_grad, {x}._is_view()",
                    f"{x}.grad_fn",
                ]
            )
        )

    def block(self) -> None:
        if self.indent:
            return
        self.put(self.choose(BLOCKS))
        self.indent = "    "
        for _ in range(self.random.randint(1, 2)):
            self.statement(PURE + WRITING)
        self.indent = ""

    def run(self) -> None:
        """A backward pass."""
        roots = sorted({self.some() for _ in range(2)})
        loss = " + ".join(f"{root}.sum()" for root in roots)
        retain = self.choose(["", "retain_graph=True", "retain_graph=True"])
        kind = self.random.randrange(7)
        if kind <= 1:
            self.put(f"({loss}).backward({retain})")
        elif kind == 2:
            self.put(f"({loss}).backward({', '.join(filter(None, [f'inputs={self.several()}', retain]))})")
        elif kind == 3:
            options = self.choose(["allow_unused=True", "allow_unused=True", "materialize_grads=True", ""])
            options = ", ".join(filter(None, [options, retain]))
            self.put(f"torch.autograd.grad({loss}, {self.several()}, {options})")
        elif kind == 4:
            inputs = f"[{self.some()}, {self.some()}]"
            self.put(f"torch.autograd.grad({loss}, {inputs}, allow_unused=True, {retain})")
        elif kind == 5:
            self.put(
                f"torch.autograd.backward([{', '.join(roots)}], [torch.ones_like(t) for t in [{', '.join(roots)}]], {retain})"
            )
        else:
            x = self.choose(self.leaves)
            self.put(f"g, = torch.autograd.grad({loss}, {x}, create_graph=True, allow_unused=True)")
            self.put(f"torch.autograd.grad(g.sum(), {self.several()}, allow_unused=True, retain_graph=True)")
            self.put("g.sum().backward(retain_graph=True)")
        self.put("print(log); log.clear()")
        if self.random.random() < 0.3:
            self.put(f"{self.choose(self.leaves)}.grad = None")

    def statement(self, kinds: list) -> None:
        self.choose(kinds)(self)

    def finish(self) -> str:
        for _ in range(self.random.randint(6, 16)):
            self.statement(ALL)
        for _ in range(self.random.randint(1, 3)):
            self.run()
        return FUNCTIONS + "\n".join(self.lines) + "\n"


PURE = [
    Writer.unary,
    Writer.unary,
    Writer.binary,
    Writer.binary,
    Writer.view,
    Writer.reduction,
    Writer.joined,
    Writer.parts,
    Writer.function,
]
WRITING = [Writer.in_place, Writer.in_place]
ALL = [*PURE, *WRITING, Writer.hook, Writer.hook, Writer.hook, Writer.flag, Writer.block, Writer.run]


def write(seed: int) -> str:
    """The program of this number."""
    return Writer(seed).finish()


# ---------------------------------------------------------------- transforms

# Steps from two vectors of three to the next; what they compute stays small. After a semicolon: writes into a copy.
STEPS = [
    "a * b", "a + b.sin()", "a - b.tanh() * 0.5", "torch.where(a > b, a, b * b)", "a.softmax(0) * b.sum()",
    "(a[:, None] * b).tanh().sum(1)", "torch.cat([b[1:], a[:1]])", "torch.stack([a, b]).logsumexp(0)",
    "a.flip(0) * (b @ a).sigmoid()", "a.cumsum(0) / (b * b + 1)", "a[[2, 0, 1]].exp().clamp(max=4.0) * b[0]",
    "(a * b).reshape(1, 3).expand(2, 3).t().mean(1)", "a * 1; y[1:].mul_(b[:2])", "a * 1; y[0].add_(b.sum())",
    "a * 1; y[0:2] = b[1:] * b[0]", "a * 1; y.view(3, 1)[1:].sigmoid_()", "a.max(0).values * b + a.sort().values",
    "(a - a.mean()) / (a.std() + 1) * b", "(M @ a).relu() + b.unbind()[1]",
]  # fmt: skip
TRANSFORMS = {
    "grad": "func.grad(lambda x: {f}(x).sin().sum())",
    "vjp": "lambda x: func.vjp({f}, x)[1](torch.ones_like({f}(x)))[0]",
    "jvp": "lambda x: func.jvp({f}, (x,), (x * x + 1,))[1]",
    "vmap": "lambda x: func.vmap({f})(torch.stack([x, x * 2]))",
    "jacrev": "func.jacrev({f})",
    "jacfwd": "func.jacfwd({f})",
    "hessian": "func.hessian(lambda x: {f}(x).sin().sum())",
    "autograd.grad": "lambda x: torch.autograd.grad({f}(x := x.clone().requires_grad_()).sin().sum(), x)[0]",
}


def write_transforms(seed: int) -> str:
    """A function of a vector of three, some steps long, under two nested transforms (sometimes three)."""
    choice = random.Random(f"transforms {seed}")
    lines = [
        "from torch import func",
        "torch.set_default_dtype(torch.float64)",
        "M = torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5], [0.1, 0.2, 0.3]])",
        "def f0(x):",
    ]
    for number in range(1, choice.randint(2, 6)):
        names = ["x", *(f"t{k}" for k in range(1, number))]
        a, b = choice.choice(names), choice.choice(names)
        step, _, write = choice.choice(STEPS).partition("; ")
        lines.append(f"    a, b = {a}, {b}; y = {step}; {write + '; ' if write else ''}t{number} = y")
    lines.append(f"    return t{number}")
    depth = choice.choice([1, 2, 2, 2, 2, 3])
    # leaves are made outside of all transforms
    outer = [name for name in TRANSFORMS if name != "autograd.grad"]
    for level in range(depth):
        name = choice.choice(list(TRANSFORMS) if level == depth - 1 else outer)
        lines.append(f"f{level + 1} = {TRANSFORMS[name].format(f=f'f{level}')}")
    return "\n".join([*lines, f"out = f{depth}(torch.tensor([0.7, -0.4, 0.9]))"]) + "\n"
