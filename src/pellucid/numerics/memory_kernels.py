"""Single instructions that loops over memory gain from, for compiled code; as plain Python they do the same slowly."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001  (what compiles a function takes its arguments to look at their types)

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

PAIR = ir.VectorType(ir.IntType(64), 2)
WORD = ir.IntType(32)
BYTES = ir.IntType(8).as_pointer()


def item_pointer(context, builder, signature, args):
    """Return where ``args[1]`` points to in the array ``args[0]``."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)


@intrinsic
def _add_pair(_typing, array, index, first, second):
    def generate(context, builder, signature, args):
        pointer = builder.bitcast(item_pointer(context, builder, signature, args), PAIR.as_pointer())
        before = builder.load(pointer)
        before.align = 8
        pair = ir.Constant(PAIR, ir.Undefined)
        for k in range(2):
            pair = builder.insert_element(pair, args[2 + k], ir.Constant(WORD, k))
        builder.store(builder.add(before, pair), pointer).align = 8
        return context.get_dummy_value()

    return types.void(array, index, first, second), generate


@intrinsic
def _fetch_ahead(_typing, array, index):
    def generate(context, builder, signature, args):
        pointer = builder.bitcast(item_pointer(context, builder, signature, args), BYTES)
        kind = ir.FunctionType(ir.VoidType(), [BYTES, WORD, WORD, WORD])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [pointer, *(ir.Constant(WORD, k) for k in (0, 3, 1))])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, index), generate


def add_pair(array, index, first, second):
    """Add two whole numbers to neighboring entries of an int64 array, with one load, one sum and one store."""
    array[index] += first
    array[int(index) + 1] += second


def fetch_ahead(array, index):
    """Have an entry brought into the cache that is read soon."""


@overload(add_pair, inline="always")
def _compiled_add_pair(array, index, first, second):
    return lambda array, index, first, second: _add_pair(array, index, first, second)  # type: ignore[call-arg]


@overload(fetch_ahead, inline="always")
def _compiled_fetch_ahead(array, index):
    return lambda array, index: _fetch_ahead(array, index)  # type: ignore[call-arg]
