"""A number for the content of each row, by which equal rows find each other whatever their order. O(n p)."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

ODD = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND, HALF = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53), np.uint64(33)


@kept
def mixed(key):
    """Return a number of 64 bits each of which depends on all bits of ``key``."""
    key = (key ^ (key >> HALF)) * FIRST
    key = (key ^ (key >> HALF)) * SECOND
    return key ^ (key >> HALF)


@kept
def dense_hashes(X, codes, hashes):
    """Write a hash of the label and of the entries that are not 0, the same for float32 and float64."""
    value = np.empty(1)
    bits = value.view(np.uint64)
    for i in range(X.shape[0]):
        total = np.uint64(mixed(np.uint64(codes[i]) + ODD))
        for j in range(X.shape[1]):
            value[0] = X[i, j]
            if value[0] != 0.0:  # 0 and -0 are one number
                total += np.uint64(mixed(bits[0] ^ (np.uint64(j + 1) * ODD)))
        hashes[i] = total


@kept
def sparse_hashes(data, columns, ends, codes, hashes):
    """Do the same for rows in CSR: the sum does not mind the order of the entries."""
    value = np.empty(1)
    bits = value.view(np.uint64)
    for i in range(len(ends) - 1):
        total = np.uint64(mixed(np.uint64(codes[i]) + ODD))
        for e in range(ends[i], ends[i + 1]):
            value[0] = data[e]
            if value[0] != 0.0:
                total += np.uint64(mixed(bits[0] ^ (np.uint64(columns[e] + 1) * ODD)))
        hashes[i] = total
