"""Random numbers of a node: hashes of the tree's seed and of the way to the node, never a shared stream."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LEFT_WAY = np.uint64(0xD1B54A32D192ED03)
RIGHT_WAY = np.uint64(0xAEF17502108EF2D9)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
U1, U11, U27, U30, U31 = (np.uint64(n) for n in (1, 11, 27, 30, 31))


@lean
def mixed(z):
    """Return 64 bits that depend on all bits of ``z``: the last step of the generator splitmix64."""
    z = (z ^ (z >> U30)) * FIRST
    z = (z ^ (z >> U27)) * SECOND
    return z ^ (z >> U31)


@lean
def drawn(key, turn):
    """Return the random bits that a node draws in its turn, counted from 0."""
    return mixed(key + GOLDEN * (np.uint64(turn) + U1))


@lean
def child_key(key, is_left):
    """Return the key of a child."""
    return mixed(key ^ LEFT_WAY) if is_left else mixed(key ^ RIGHT_WAY)


@lean
def draw_column(key, turn, columns):
    """Return the column that a node looks at in its turn; ``columns`` holds those not yet drawn from ``turn`` on."""
    left = np.uint64(len(columns) - turn)
    place = turn + np.int64(drawn(key, turn) % left)
    column = columns[place]
    columns[place] = columns[turn]
    columns[turn] = column
    return column


@lean
def draw_share(key, column, n_columns):
    """Return a number in [0, 1) for a column of a node."""
    return np.float64(drawn(key, n_columns + column) >> U11) * 2.0**-53
