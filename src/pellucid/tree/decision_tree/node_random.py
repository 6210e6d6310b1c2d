"""Random numbers of a node, in plain Python: what the kernels draw, drawn again for a proof.

A node's key is a hash of the tree's seed and of the way to the node, left or right. What it draws are hashes of its
key, so that any node can be looked at again without the others.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
LEFT_WAY = 0xD1B54A32D192ED03
RIGHT_WAY = 0xAEF17502108EF2D9


def mixed(z: int) -> int:
    """Return 64 bits that depend on all bits of ``z``: the last step of the generator splitmix64."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def root_key(seed: int) -> np.uint64:
    """Return the key of the root of a tree."""
    return np.uint64(mixed(seed + GOLDEN & MASK))


def drawn(key: int, turn: int) -> int:
    """Return the random bits that a node draws in its turn, counted from 0."""
    return mixed(key + GOLDEN * (turn + 1) & MASK)


def drawn_columns(key: int, n_columns: int) -> Array:
    """Return the columns in the order in which a node draws them."""
    columns = list(range(n_columns))
    for turn in range(n_columns):
        place = turn + drawn(key, turn) % (n_columns - turn)
        columns[turn], columns[place] = columns[place], columns[turn]
    return np.array(columns)


def drawn_share(key: int, column: int, n_columns: int) -> float:
    """Return the number in [0, 1) that a node draws for a column."""
    return (drawn(key, n_columns + column) >> 11) * 2.0**-53


def node_key(left: Array, parents: Array, node: int, seed: int) -> int:
    """Return the key of a node; ``left`` and ``parents`` are the left child and the parent of each node."""
    way: list[bool] = []
    while parents[node] >= 0:
        way.append(bool(left[parents[node]] == node))
        node = int(parents[node])
    key = int(root_key(seed))
    for is_left in reversed(way):
        key = child_keys(key)[0 if is_left else 1]
    return key


def keys_of_all(seeds: Array, starts: Array, left: Array, right: Array) -> Array:
    """Return the keys of all nodes of a pack, as uint64, from the seeds of its trees and the children of its nodes."""
    keys = np.zeros(len(left), dtype=np.uint64)
    level = np.asarray(starts[:-1])
    keys[level] = [root_key(int(seed)) for seed in seeds]
    while len(level := level[left[level] >= 0]):
        keys[left[level]] = _mixed(keys[level] ^ np.uint64(LEFT_WAY))
        keys[right[level]] = _mixed(keys[level] ^ np.uint64(RIGHT_WAY))
        level = np.concatenate([left[level], right[level]])
    return keys


def shares_of_all(keys: Array, columns: Array, n_columns: int) -> Array:
    """Return the number in [0, 1) that each node draws for its column."""
    turns = (np.asarray(columns) + n_columns + 1).astype(np.uint64)
    return (_mixed(keys + np.uint64(GOLDEN) * turns) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(z: Array) -> Array:
    """Return what ``mixed`` returns, of many at once: products of uint64 leave out what is above 64 bits."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ z >> np.uint64(31))


def child_keys(key: int) -> tuple[int, int]:
    """Return the keys of the left and the right child."""
    return mixed(key ^ LEFT_WAY), mixed(key ^ RIGHT_WAY)
