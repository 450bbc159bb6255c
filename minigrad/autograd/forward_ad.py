"""Forward-mode differentiation: dual numbers. Each carries a value and its derivative along one direction.

An operation on duals computes its value, and from the inputs' tangents its own, as ops/tangents.py tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .. import dtypes
from ..printing import tensor_repr
from ..tensor import Tensor, plain_types
from .backward import zeros_like
from .captured import mutation
from .function import Function, context, refuse_old_form, run_forward
from .grad_mode import local
from .interpreter import TENSOR_PARAMETERS, Interpreter, Wrapper
from .node import edge

if TYPE_CHECKING:
    from ..ops.table import Op

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
__dir__ = __all__.copy  # what completion offers


class Dual(Wrapper):
    """A value (`primal`) and its derivative (`tangent`), at one level of forward mode."""

    __slots__ = ("_tangent",)
    primal = Wrapper.value

    @property
    def tangent(self) -> Tensor | None:
        """The derivative. A view's is looked up in its base if that was written to."""
        meta = self._meta
        if meta is not None and meta.base is not None and self.seen != self._counter.version:
            with self.level.lowered():
                whole = meta.base.tangent
                self._tangent = None if whole is None else self.replayed(whole)
            self.seen = self._counter.version
        return self._tangent

    @tangent.setter
    def tangent(self, tangent: Tensor | None) -> None:
        self._tangent = tangent

    extra = tangent

    def detach(self) -> Dual:
        out = super().detach()
        out.tangent = None  # a constant, in forward mode too
        return out

    @Tensor.requires_grad.getter
    def requires_grad(self) -> bool:
        return self._requires_grad or self.primal.requires_grad

    @property
    def grad_fn(self):
        return self._grad_fn if self._requires_grad else self.primal.grad_fn

    def _outside(self) -> Tensor:
        return self.primal._outside()

    def _in_graph(self) -> Tensor:
        return self if self._requires_grad else self.primal._in_graph()

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        if self.tangent is None or not self.level.active:
            return repr(self.primal)
        if type(self.primal) not in plain_types:
            return f"{repr(self.primal)[:-1]}, tangent={self.tangent.detach()})"
        node = self.grad_fn
        return tensor_repr(
            self._array, default_dtype=dtypes.default_float(), requires_grad=self.requires_grad,
            grad_fn_name=None if node is None else node.name().split("::")[-1], tangent=f"{self.tangent}",
        )  # fmt: skip


Dual.__name__ = Dual.__qualname__ = "Tensor"


class Forward(Interpreter):
    """The interpreter of forward mode."""

    wrapper = Dual

    def dual(self, primal: Tensor, tangent: Tensor) -> Dual:
        """A dual tensor of this level. Raises PyTorch's errors for a value and a tangent that do not go together."""
        for name, t in (("primal", primal), ("tangent", tangent)):
            if t._array.dtype.kind != "f":
                raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
        (primal, own), (tangent, second) = self.unwrap(primal), self.unwrap(tangent)
        if own is not None:
            raise RuntimeError(
                "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
                "supported."
            )
        if second is not None:
            raise RuntimeError(
                "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
            )
        return self.with_tangent(primal, tangent.to(primal.dtype))

    def with_tangent(self, primal: Tensor, tangent: Tensor | None) -> Dual:
        """The dual of these two. Raises PyTorch's error if their shapes differ."""
        if tangent is not None and primal._array.shape != tangent._array.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}."
            )
        return Dual.of(self, primal, tangent)

    def compute(self, op: Op, values: list[Tensor], extras: list, params: tuple, owned: bool) -> tuple:
        if op.name in TENSOR_PARAMETERS:  # indices have no tangent, but they may be of this level
            indices, *rest = params
            params = (tuple([i if i is None else self.unwrap(i)[0] for i in indices]), *rest)
        result = op.call(values, *params) if op.variadic else op.call(*values, *params)
        results = result if isinstance(result, tuple) else (result,)
        if op.view and not owned:
            return result, None  # a view of a tensor from outside; writing to it is refused as for that
        for tangent in extras:
            if tangent is not None:
                return result, op.tangents(values, extras, results, params)
        return result, (None,) * len(results)

    def store(self, target: Dual, new: Tensor) -> None:
        primal, tangent = self.unwrap(new)
        with self.lowered():
            target.primal.copy_(primal)
            base = target._base
            if tangent is not None:
                tangent = tangent.to(target.dtype).expand(target._array.shape)
            if base is None:
                target.tangent = tangent
            elif tangent is not None or base.tangent is not None:
                whole = zeros_like(base) if base.tangent is None else base.tangent
                base.tangent = target.with_part(whole, zeros_like(target) if tangent is None else tangent)

    def created(self, t: Tensor, like: Tensor | None) -> Dual:
        return Dual.of(self, self.created_below(t, like.primal if self.owns(like) else like))

    def random(self, draw: Callable, args: tuple, kwargs: dict) -> Dual:
        with self.lowered():
            drawn = draw(*args, **kwargs)
        return Dual.of(self, drawn)

    def refuse_write(self, op: Op, target: Tensor, values: Sequence[Tensor]) -> None:
        raise mutation(op.name)

    def process_function(self, cls: type[Function], args: tuple) -> object:
        refuse_old_form(cls)
        return run_forward(cls, args, lambda: self.function_value(cls, args))[0]

    def function_value(self, cls: type[Function], args: tuple) -> object:
        """The value and the tangent of a Function's result, without history at this level."""
        pairs = [self.unwrap(a) if isinstance(a, Tensor) else (a, None) for a in args]
        primals, tangents = tuple(p for p, _ in pairs), [t for _, t in pairs]
        moves = any(t is not None for t in tangents)
        with self.lowered():
            if cls.setup_context is Function.setup_context:
                result, ctx = run_forward(cls, primals)
            else:
                result = cls.apply(*primals)
                ctx = context(cls, primals, result) if moves else None
            results = result if isinstance(result, tuple) else (result,)
            found = (None,) * len(results)
            if moves:
                if ctx.materialize_grads:
                    tangents = [
                        zeros_like(p) if t is None and isinstance(p, Tensor) and p.is_floating_point() else t
                        for p, t in pairs
                    ]
                ctx.reads_forward = True
                found = cls.jvp(ctx, *tangents)
                ctx.reads_forward = False
                found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(results):
            raise RuntimeError(
                f"Function's jvp returned an invalid number of forward gradients (expected {len(results)} but got "
                f"{len(found)})"
            )
        pairs = zip(results, found, strict=True)
        outs = tuple(self.with_tangent(r, t) if isinstance(r, Tensor) else r for r, t in pairs)
        return outs if isinstance(result, tuple) else outs[0]


# ---------------------------------------------------------------- what users call


class UnpackedDualTensor(NamedTuple):
    """The value and the tangent of a dual tensor; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


class dual_level(Forward):
    """`with dual_level():` forward mode is on; `make_dual` and `unpack_dual` work inside.

    One level at a time: nest `minigrad.func.jvp` for derivatives of derivatives. Unlike a transform it lets a tensor from
    before be written to, which then has a tangent while the level lasts; `adopted` are the duals that stand for such tensors.
    """

    user = True

    def __enter__(self) -> int:
        if current_level() is not None:
            raise RuntimeError(
                "Nested forward mode AD is not supported at the moment\nUse minigrad.func.jvp, which can be nested."
            )
        self.adopted: dict[int, Dual] = {}  # by the id of the tensor, which the dual keeps alive
        super().__enter__()
        return 0

    def known(self, t: Tensor) -> Tensor:
        """The dual that stands for `t`, or `t` itself."""
        if not self.adopted or isinstance(t, Wrapper) or t._array is None:
            return t
        base = t if t._base is None else t._base
        dual = self.adopted.get(id(base))
        return t if dual is None else dual if base is t else dual.window(t)

    def adopt(self, t: Tensor) -> Dual:
        """Let a dual stand for `t`, and for all that shares its memory."""
        base = t if t._base is None else t._base
        self.adopted.setdefault(id(base), Dual.of(self, base))
        return self.known(t)

    def tracked(self, t: Tensor) -> Tensor:
        """`t` with its history, if it has one, going on at this level: so that gradients have tangents, too."""
        if not t.requires_grad or (t._requires_grad and self.owns(t)):
            return t
        t = self.lift(t)
        source = t.primal._in_graph()
        t._requires_grad, t._grad_fn, t._output_nr = True, edge(source), source._output_nr
        return t

    def process(self, op: Op, inputs: Sequence[Tensor], params: tuple) -> Tensor | tuple[Tensor, ...]:
        if self.adopted:
            inputs = [self.known(t) for t in inputs]
        if local.grad and (not op.view or self.owns(inputs[0])):
            inputs = [self.tracked(t) for t in inputs]
        return super().process(op, inputs, params)

    def refuse_write(self, op: Op, target: Tensor, values: Sequence[Tensor]) -> None:
        pass

    def process_function(self, cls: type[Function], args: tuple) -> object:
        if cls.setup_context is Function.setup_context:
            return self.function_value(cls, args)
        return super().process_function(cls, args)


def current_level() -> dual_level | None:
    """The dual level that is on in this thread."""
    level = local.interpreter
    while level is not None and not level.user:
        level = level.below
    return level


def enter_dual_level() -> int:
    """Switch forward mode on, as `dual_level` does."""
    return dual_level().__enter__()


def exit_dual_level(*, level: int | None = None) -> None:
    """Switch forward mode off again. Raises RuntimeError if it is not on, or for another level."""
    found = current_level()
    if found is None:
        raise RuntimeError("Dual level must be a positive number.\nNo level has been entered.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    found.__exit__()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A dual tensor with this value and this tangent, which must have the same shape.

    Raises RuntimeError outside of `dual_level`, for another shape, and if either is a dual tensor already; ValueError
    for integers.
    """
    found = current_level()
    if found is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(t, Tensor):
            raise TypeError(f"make_dual(): argument '{name}' must be Tensor, not {type(t).__name__}")
    return found.tracked(found.dual(tensor.view_as(tensor), tangent))


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a dual tensor; (tensor, None) for any other."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    found = current_level()
    return UnpackedDualTensor(*((tensor, None) if found is None else found.unwrap(tensor)))
