"""Pieces of work that threads claim from a shared counter, for compiled loops that run on several threads at once.

One thread leads: it publishes a job of so many pieces and works on it like the others. A piece is claimed by exchanging
the ticket for the next one, and the leader waits for claimed pieces only. So a job is done whether helpers come early,
late or never, and two fits that share the pool cannot wait for each other.

The state is an int64 array of ``STATE_SIZE``: the ticket (job, pieces, next piece) and, a cache line away, the number
of pieces done.
"""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001  (what compiles a function takes its arguments to look at their types)

import os

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from pellucid.solvers.compiling_kernels import lean

STATE_SIZE = 32
TICKET, DONE = 0, 16
PIECE_BITS = 24
MOST_PIECES = (1 << PIECE_BITS) - 1
NOTHING = -1
CLOSED = -1
SPINS = 2000
"""Looks at the ticket before a waiting thread offers its core to others."""


@intrinsic
def _load(_typing, array, index):
    def generate(context, builder, signature, args):
        return builder.load_atomic(item_pointer(context, builder, signature, args), "acquire", 8)

    return types.int64(array, index), generate


@intrinsic
def _store(_typing, array, index, value):
    def generate(context, builder, signature, args):
        builder.store_atomic(args[2], item_pointer(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def _add(_typing, array, index, value):
    def generate(context, builder, signature, args):
        return builder.atomic_rmw("add", item_pointer(context, builder, signature, args), args[2], "acq_rel")

    return types.int64(array, index, value), generate


@intrinsic
def _exchange(_typing, array, index, expected, value):
    def generate(context, builder, signature, args):
        pointer = item_pointer(context, builder, signature, args)
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire"), 1)

    return types.boolean(array, index, expected, value), generate


def read(state, index):
    """Return an entry that other threads write."""
    return state[index]


def write(state, index, value):
    """Set an entry; whoever reads it sees all that was written before."""
    state[index] = value


def add(state, index, value):
    """Add to an entry and return what it was."""
    before = state[index]
    state[index] += value
    return before


def exchange(state, index, expected, value):
    """Set an entry if it is as expected, and return whether it was."""
    if state[index] != expected:
        return False
    state[index] = value
    return True


@overload(read, inline="always")
def _compiled_read(state, index):
    return lambda state, index: _load(state, index)  # type: ignore[call-arg]  # the first argument is the compiler's


@overload(write, inline="always")
def _compiled_write(state, index, value):
    return lambda state, index, value: _store(state, index, value)  # type: ignore[call-arg]  # the first argument is the compiler's


@overload(add, inline="always")
def _compiled_add(state, index, value):
    return lambda state, index, value: _add(state, index, value)  # type: ignore[call-arg]  # the first argument is the compiler's


@overload(exchange, inline="always")
def _compiled_exchange(state, index, expected, value):
    return lambda state, index, expected, value: _exchange(state, index, expected, value)  # type: ignore[call-arg]  # the first argument is the compiler's


def give_way():
    """Offer the core to other threads."""


if os.name == "posix":
    _sched_yield = types.ExternalFunction("sched_yield", types.int32())

    @overload(give_way)
    def _compiled_give_way():
        def compiled():
            _sched_yield()

        return compiled

else:

    @overload(give_way)
    def _compiled_give_way():
        return lambda: None


@lean
def publish(state, n_pieces):
    """Offer a new job; what its pieces need must have been written before."""
    job = (read(state, TICKET) >> (2 * PIECE_BITS)) + 1
    write(state, DONE, 0)
    write(state, TICKET, (job << (2 * PIECE_BITS)) | (n_pieces << PIECE_BITS))


@lean
def claim(state):
    """Return the number of a piece that is now ours, ``NOTHING`` where none is left."""
    while True:
        ticket = read(state, TICKET)
        piece = ticket & MOST_PIECES
        if ticket == CLOSED or piece >= (ticket >> PIECE_BITS) & MOST_PIECES:
            return NOTHING
        if exchange(state, TICKET, ticket, ticket + 1):
            return piece


@lean
def await_done(state, n_pieces):
    """Wait until every piece of the job is done."""
    spins = 0
    while read(state, DONE) < n_pieces:
        spins += 1
        if spins > SPINS:
            give_way()


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
