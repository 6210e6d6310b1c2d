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

from numba import types
from numba.extending import intrinsic, overload

from pellucid.numerics.compiling_kernels import lean
from pellucid.numerics.memory_kernels import item_pointer

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
