"""The key of a tree's root, from which its nodes draw all their random numbers: see ``node_random_kernels``."""

from __future__ import annotations

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def root_key(seed: int) -> np.uint64:
    """Return the key of the root of a tree: the last step of the generator splitmix64."""
    z = seed + GOLDEN & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return np.uint64(z ^ z >> 31)
