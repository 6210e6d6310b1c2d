"""Single instructions that loops over memory gain from, for compiled code; as plain Python they do the same slowly."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001  (what compiles a function takes its arguments to look at their types)

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LEAN: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
INNER: dict[str, Any] = {**LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

lean: Any = njit(**INNER)
"""The same for what only compiled loops call: code to call it from Python is a quarter of the time to compile it."""

lean_inlined: Any = njit(**INNER, forceinline=True)
"""For what is called once, or in the innermost loop: passing arrays on takes longer than a loop over few rows."""


def lean_and_kept(function: Callable[..., Any]) -> Any:
    """Compile a loop that allocates nothing, so that its arrays need no reference counts, and keep the code.

    The compiler would take kept code for fresh as long as the file of the function is the same, though other files are
    compiled into it: with a constant changed elsewhere it would write past the end of an array.
    """
    compiled: Any = njit(cache=True, **LEAN)(function)
    index: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, kernel_stamp(Path(function.__code__.co_filename).parent))
    return compiled


@cache
def kernel_stamp(folder: Path) -> str:
    """Return a hash of all files that the loops in a folder are compiled from: its kernels and layouts, and ours."""
    found = hashlib.sha256()
    for place in (folder, Path(__file__).parent):
        for file in sorted([*place.glob("*_kernels.py"), *place.glob("*_layout.py")]):
            found.update(file.read_bytes())
    return found.hexdigest()


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
