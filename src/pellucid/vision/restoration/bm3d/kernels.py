"""Compiled loops of BM3D: blocks are matched by whole numbers, filtered in groups and laid back.

Images are planes (C, H, W) in units of the noise; what is matched is one image (H, W) of int16, whose distances are
whole numbers below 2**31: whoever computes them, in whatever order, finds the same groups.
"""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import INNER, kept, lean, loop

BLOCK = 8
"""Rows and columns of a block: a constant of the compiler, which unrolls the loops over it."""

AREA = BLOCK * BLOCK

SUMS = {"nsz", "reassoc", "contract"}
"""Sums of a block may be taken in any order: twice as fast in both stages, and a part in 10 million."""

quick = loop(**INNER, fastmath=SUMS)

HALF = np.float32(math.sqrt(0.5))
LIFT = np.float32(11 / 64)
FOURS, EIGHT = np.float32(math.sqrt(1 + 2 * (11 / 64) ** 2)), np.float32(math.sqrt(1 + 4 * (11 / 64) ** 2))
"""Lengths of the rows of the lifted Haar transform over four and over eight pixels."""

C0 = np.float32(math.sqrt(1 / 8))
C1, C2, C3, C5, C6, C7 = (np.float32(0.5 * math.cos(math.pi * k / 16)) for k in (1, 2, 3, 5, 6, 7))


@lean
def column_distances(pixels, row, other, shift, first, last, sums):
    """Write to ``sums[x - first]`` the squared distance of column x of the block row to its shifted column. O(W)."""
    for k in range(BLOCK):
        a, b = pixels[row + k, first:last], pixels[other + k, first + shift : last + shift]
        if k == 0:
            for x in range(last - first):
                d = np.int32(np.int16(a[x] - b[x]))
                sums[x] = np.int32(d * d)
        else:
            for x in range(last - first):
                d = np.int32(np.int16(a[x] - b[x]))
                sums[x] = np.int32(sums[x] + d * d)


@lean
def add_eight(sums, n):
    """Replace each of the first ``n - 7`` numbers by the sum of the eight from it on; the others are written over."""
    for step in (1, 2, 4):
        n -= step
        for x in range(n):  # each is read before it is written: left to right
            sums[x] = np.int32(sums[x] + sums[x + step])


@lean
def keep_nearest(distances, places, n_found, distance, place):
    """Insert a block behind all that are as near, in place; return how many are kept."""
    j = n_found if n_found < distances.size else n_found - 1
    while j > 0 and distances[j - 1] > distance:
        distances[j], places[j] = distances[j - 1], places[j - 1]
        j -= 1
    distances[j], places[j] = distance, place
    return min(n_found + 1, distances.size)


@lean
def match_row(pixels, row, columns, radius, sums, distances, places, found):
    """Find for each block at (row, column) the nearest blocks of its window, nearest first. O(W radius^2).

    The block itself comes first, then by distance; of equal distances the upper, then the left one. ``places`` are
    written as ``row * W + column``; of ``found`` blocks the largest power of two is kept.
    """
    height, width = pixels.shape
    for c in range(columns.size):
        distances[c, 0], places[c, 0], found[c] = -1, row * width + columns[c], 1
    reach = min(radius, width - BLOCK)
    for other in range(max(0, row - radius), min(height - BLOCK, row + radius) + 1):
        for shift in range(-reach, reach + 1):
            if other == row and shift == 0:
                continue
            first, last = max(0, -shift), width - max(0, shift)
            column_distances(pixels, row, other, shift, first, last, sums)
            add_eight(sums, last - first)
            for c in range(columns.size):
                at = columns[c] - first
                if 0 <= at <= last - first - BLOCK:
                    distance = sums[at]
                    is_full = found[c] == distances.shape[1]
                    if not (is_full and distance >= distances[c, found[c] - 1]):
                        place = other * width + columns[c] + shift
                        found[c] = keep_nearest(distances[c], places[c], found[c], distance, place)
    for c in range(columns.size):
        power = 1
        while 2 * power <= found[c]:
            power *= 2
        found[c] = power


@quick
def lifted_haar(block, out):
    r"""Write the transform of each column of a flat 8 x 8 block: bior1.5 on a circle of eight pixels, rows of length 1.

    There the ten taps of its low pass are the Haar means plus one lifting step,
    :math:`s_i = h_i + \frac{11}{64} (d_{i-1} - d_{i+1})`, and the levels below are Haar's.
    """
    for j in range(BLOCK):
        d0, d1 = HALF * (block[8 + j] - block[j]), HALF * (block[24 + j] - block[16 + j])
        d2, d3 = HALF * (block[40 + j] - block[32 + j]), HALF * (block[56 + j] - block[48 + j])
        h0, h1 = HALF * (block[8 + j] + block[j]), HALF * (block[24 + j] + block[16 + j])
        h2, h3 = HALF * (block[40 + j] + block[32 + j]), HALF * (block[56 + j] + block[48 + j])
        s0, s2 = h0 + LIFT * (d3 - d1), h2 + LIFT * (d1 - d3)
        s1, s3 = h1 + LIFT * (d0 - d2), h3 + LIFT * (d2 - d0)
        low, high = HALF * (s0 + s1), HALF * (s2 + s3)
        out[j], out[8 + j] = HALF * (low + high), HALF * (high - low) / EIGHT
        out[16 + j], out[24 + j] = HALF * (s1 - s0) / FOURS, HALF * (s3 - s2) / FOURS
        out[32 + j], out[40 + j], out[48 + j], out[56 + j] = d0, d1, d2, d3


@quick
def lifted_haar_back(block, out):
    """Undo ``lifted_haar``."""
    for j in range(BLOCK):
        mean, slope = block[j], EIGHT * block[8 + j]
        low, high = HALF * (mean - slope), HALF * (mean + slope)
        left, right = FOURS * block[16 + j], FOURS * block[24 + j]
        d0, d1, d2, d3 = block[32 + j], block[40 + j], block[48 + j], block[56 + j]
        h0, h1 = HALF * (low - left) - LIFT * (d3 - d1), HALF * (low + left) - LIFT * (d0 - d2)
        h2, h3 = HALF * (high - right) - LIFT * (d1 - d3), HALF * (high + right) - LIFT * (d2 - d0)
        out[j], out[8 + j] = HALF * (h0 - d0), HALF * (h0 + d0)
        out[16 + j], out[24 + j] = HALF * (h1 - d1), HALF * (h1 + d1)
        out[32 + j], out[40 + j] = HALF * (h2 - d2), HALF * (h2 + d2)
        out[48 + j], out[56 + j] = HALF * (h3 - d3), HALF * (h3 + d3)


@quick
def cosines(block, out):
    """Write the orthonormal discrete cosine transform of each column of a flat 8 x 8 block, by sums and differences."""
    for j in range(BLOCK):
        s0, d0 = block[j] + block[56 + j], block[j] - block[56 + j]
        s1, d1 = block[8 + j] + block[48 + j], block[8 + j] - block[48 + j]
        s2, d2 = block[16 + j] + block[40 + j], block[16 + j] - block[40 + j]
        s3, d3 = block[24 + j] + block[32 + j], block[24 + j] - block[32 + j]
        e0, f0, e1, f1 = s0 + s3, s0 - s3, s1 + s2, s1 - s2
        out[j], out[32 + j] = C0 * (e0 + e1), C0 * (e0 - e1)
        out[16 + j], out[48 + j] = C2 * f0 + C6 * f1, C6 * f0 - C2 * f1
        out[8 + j] = C1 * d0 + C3 * d1 + C5 * d2 + C7 * d3
        out[24 + j] = C3 * d0 - C7 * d1 - C1 * d2 - C5 * d3
        out[40 + j] = C5 * d0 - C1 * d1 + C7 * d2 + C3 * d3
        out[56 + j] = C7 * d0 - C5 * d1 + C3 * d2 - C1 * d3


@quick
def cosines_back(block, out):
    """Undo ``cosines``."""
    for j in range(BLOCK):
        e0, e1 = C0 * (block[j] + block[32 + j]), C0 * (block[j] - block[32 + j])
        f0, f1 = C2 * block[16 + j] + C6 * block[48 + j], C6 * block[16 + j] - C2 * block[48 + j]
        s0, s3, s1, s2 = e0 + f0, e0 - f0, e1 + f1, e1 - f1
        b1, b3, b5, b7 = block[8 + j], block[24 + j], block[40 + j], block[56 + j]
        d0 = C1 * b1 + C3 * b3 + C5 * b5 + C7 * b7
        d1 = C3 * b1 - C7 * b3 - C1 * b5 - C5 * b7
        d2 = C5 * b1 - C1 * b3 + C7 * b5 + C3 * b7
        d3 = C7 * b1 - C5 * b3 + C3 * b5 - C1 * b7
        out[j], out[56 + j] = s0 + d0, s0 - d0
        out[8 + j], out[48 + j] = s1 + d1, s1 - d1
        out[16 + j], out[40 + j] = s2 + d2, s2 - d2
        out[24 + j], out[32 + j] = s3 + d3, s3 - d3


@quick
def transpose(block, out):
    """Write the transpose of a flat 8 x 8 block."""
    for i in range(BLOCK):
        for j in range(BLOCK):
            out[j * BLOCK + i] = block[i * BLOCK + j]


@quick
def haar(group, n, work):
    """Replace ``n`` blocks, a power of two, by their orthonormal Haar transform along the group."""
    while n > 1:
        n //= 2
        for k in range(n):
            a, b, high = group[2 * k], group[2 * k + 1], work[k]
            low = group[k]
            for i in range(AREA):
                above, below = a[i], b[i]
                high[i] = HALF * (above - below)
                low[i] = HALF * (above + below)
        for k in range(n):
            for i in range(AREA):
                group[n + k, i] = work[k, i]


@quick
def haar_back(group, n, work):
    """Undo ``haar``."""
    size = 1
    while size < n:
        for k in range(size):
            for i in range(AREA):
                work[k, i] = group[size + k, i]
        for k in range(size - 1, -1, -1):
            low, high, a, b = group[k], work[k], group[2 * k], group[2 * k + 1]
            for i in range(AREA):
                mean, difference = low[i], high[i]
                b[i] = HALF * (mean - difference)
                a[i] = HALF * (mean + difference)
        size *= 2


@quick
def gather(plane, places, n, lifted, group, work):
    """Write the three-dimensional transform of ``n`` blocks of a plane; rows and columns of a block change places."""
    width = plane.shape[1]
    across = work[0]
    for k in range(n):
        row, column = places[k] // width, places[k] % width
        block = group[k]
        for i in range(BLOCK):
            for j in range(BLOCK):
                block[i * BLOCK + j] = plane[row + i, column + j]
        if lifted:
            lifted_haar(block, across)
            transpose(across, block)
            lifted_haar(block, block)
        else:
            cosines(block, across)
            transpose(across, block)
            cosines(block, block)
    haar(group, n, work)


@quick
def lay_back(group, places, n, lifted, weight, window, top, total, weights, work):
    """Undo ``gather`` and add the blocks to the strip that starts at row ``top``, each pixel times its weight."""
    haar_back(group, n, work)
    width = total.shape[1]
    across = work[0]
    for k in range(n):
        row, column = places[k] // width - top, places[k] % width
        block = group[k]
        if lifted:
            lifted_haar_back(block, across)
            transpose(across, block)
            lifted_haar_back(block, block)
        else:
            cosines_back(block, across)
            transpose(across, block)
            cosines_back(block, block)
        for i in range(BLOCK):
            for j in range(BLOCK):
                factor = weight * window[i * BLOCK + j]
                total[row + i, column + j] += factor * block[i * BLOCK + j]
                weights[row + i, column + j] += factor


@quick
def threshold_group(group, n, threshold):
    """Set coefficients of at most the threshold to zero, but not the mean; return one over the number kept."""
    mean, n_kept = group[0, 0], np.int32(0)
    group[0, 0] = 0.0
    for k in range(n):
        block = group[k]
        for i in range(AREA):
            is_kept = abs(block[i]) > threshold
            n_kept += np.int32(is_kept)
            block[i] = block[i] if is_kept else np.float32(0.0)
    group[0, 0] = mean
    return np.float32(1.0) / np.float32(n_kept + 1)


@quick
def wiener_group(group, pilot, n):
    r"""Keep of each coefficient the share :math:`w = c^2 / (c^2 + 1)`, and all of the mean.

    The :math:`c` are those of the basic estimate, ``pilot``. Returned is one over the sum of :math:`w^2`.
    """
    mean, energy, one = group[0, 0], np.float32(1.0), np.float32(1.0)
    pilot[0, 0] = 0.0
    for k in range(n):
        block, basic = group[k], pilot[k]
        for i in range(AREA):
            square = basic[i] * basic[i]
            share = square / (square + one)
            energy += share * share
            block[i] *= share
    group[0, 0] = mean
    return one / energy


@kept
def threshold_strip(planes, pixels, rows, columns, radius, most, threshold, window, top, total, weights):
    """Add to ``total`` and ``weights`` the blocks at some rows, filtered by hard thresholds in their groups."""
    sums, found = np.empty(pixels.shape[1], np.int32), np.empty(columns.size, np.int64)
    distances, places = np.empty((columns.size, most), np.int32), np.empty((columns.size, most), np.int32)
    group, work = np.empty((most, AREA), np.float32), np.empty((most, AREA), np.float32)
    for row in rows:
        match_row(pixels, row, columns, radius, sums, distances, places, found)
        for c in range(columns.size):
            for p in range(planes.shape[0]):
                gather(planes[p], places[c], found[c], True, group, work)
                weight = threshold_group(group, found[c], threshold)
                lay_back(group, places[c], found[c], True, weight, window, top, total[p], weights[p], work)


@kept
def wiener_strip(planes, basic, pixels, rows, columns, radius, most, window, top, total, weights):
    """Add to ``total`` and ``weights`` the blocks at some rows, filtered as the basic estimate of their group asks."""
    sums, found = np.empty(pixels.shape[1], np.int32), np.empty(columns.size, np.int64)
    distances, places = np.empty((columns.size, most), np.int32), np.empty((columns.size, most), np.int32)
    group, work = np.empty((most, AREA), np.float32), np.empty((most, AREA), np.float32)
    pilot = np.empty((most, AREA), np.float32)
    for row in rows:
        match_row(pixels, row, columns, radius, sums, distances, places, found)
        for c in range(columns.size):
            for p in range(planes.shape[0]):
                gather(basic[p], places[c], found[c], False, pilot, work)
                gather(planes[p], places[c], found[c], False, group, work)
                weight = wiener_group(group, pilot, found[c])
                lay_back(group, places[c], found[c], False, weight, window, top, total[p], weights[p], work)
