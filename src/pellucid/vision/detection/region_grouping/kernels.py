"""Loops of graph segmentation and of grouping. Arguments are arrays of whole numbers that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean

ROUND = 2.0**36
"""Similarities are rounded to one over this, lest the order of a sum decides which of equal pairs comes first."""

DIGITS = 12
"""Bits that one pass of sorting looks at; squared differences have at most twice as many."""


@lean
def squared_difference(image, i, j, k, m):
    """Return the squared distance of the colors of two pixels."""
    total = 0
    for c in range(image.shape[2]):
        step = image[i, j, c] - image[k, m, c]
        total += step * step
    return total


@kept(_nrt=False)
def edge_weights(image, codes, weights):
    """Write all pairs of neighbors, pixel by pixel: right, down, down right, down left; return how many there are.

    The code of a pair is four times its first pixel and the number of the direction. O(n).
    """
    height, width, _ = image.shape
    n = 0
    for i in range(height):
        for j in range(width):
            for direction in range(4):
                k = i + (direction > 0)
                m = j + (1, 0, 1, -1)[direction]
                if k < height and 0 <= m < width:
                    codes[n] = 4 * (i * width + j) + direction
                    weights[n] = squared_difference(image, i, j, k, m)
                    n += 1
    return n


@kept(_nrt=False)
def sort_edges(codes, weights, other_codes, other_weights, counts):
    """Sort pairs by their weights, equal ones as they came: by the lower digits, then by the upper ones. O(n)."""
    for shift in (0, DIGITS):
        counts[:] = 0
        for e in range(weights.size):
            counts[((weights[e] >> shift) & ((1 << DIGITS) - 1)) + 1] += 1
        for digit in range(1, counts.size):
            counts[digit] += counts[digit - 1]
        for e in range(weights.size):
            digit = (weights[e] >> shift) & ((1 << DIGITS) - 1)
            other_codes[counts[digit]], other_weights[counts[digit]] = codes[e], weights[e]
            counts[digit] += 1
        codes, other_codes = other_codes, codes
        weights, other_weights = other_weights, weights


@lean
def region_of(parent, i):
    """Return the pixel that represents a pixel's region, and make the way there shorter."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kept(_nrt=False)
def join_edges(codes, weights, width, unit, scale, least, parent, size, limit, labels):
    """Write the regions of a graph whose pairs come in order of weight, numbered from 0; return how many there are.

    Two regions become one if their pair weighs no more than either allows: its own heaviest pair that joined it, and
    ``scale`` over its size. Then regions of fewer than ``least`` pixels are joined, in the same order. O(n) but for the
    inverse of Ackermann's function.
    """
    for i in range(parent.size):
        parent[i], size[i], limit[i] = i, 1, scale
    for is_clearing in (False, True):
        for e in range(codes.size):
            first, direction = codes[e] >> 2, codes[e] & 3
            a = region_of(parent, first)
            b = region_of(parent, first + (1, width, width + 1, width - 1)[direction])
            if a == b:
                continue
            weight = np.sqrt(np.float64(weights[e])) * unit
            if is_clearing:
                is_joined = size[a] < least or size[b] < least
            else:
                is_joined = weight <= limit[a] and weight <= limit[b]
            if is_joined:
                low, high = min(a, b), max(a, b)
                parent[high] = low
                size[low] += size[high]
                limit[low] = weight + scale / size[low]
    n_regions = 0
    for i in range(parent.size):  # the first pixel of a region represents it
        root = region_of(parent, i)
        if root == i:
            labels[i] = n_regions
            n_regions += 1
        else:
            labels[i] = labels[root]
    return n_regions


@kept(_nrt=False)
def count_bins(labels, bins, n_bins, counts):
    """Count, for each region, the bins of its pixels: those of all columns side by side. O(n)."""
    for i in range(labels.size):
        row = counts[labels[i]]
        for c in range(bins.shape[1]):
            row[c * n_bins + bins[i, c]] += 1


@kept(_nrt=False)
def measure_regions(labels, sizes, boxes, is_neighbor):
    """Write sizes, boxes (x1, y1, x2, y2) and which regions share a side of a pixel. O(n)."""
    height, width = labels.shape
    for i in range(height):
        for j in range(width):
            here = labels[i, j]
            box = boxes[here]
            sizes[here] += 1
            box[0], box[1] = min(box[0], j), min(box[1], i)
            box[2], box[3] = max(box[2], j + 1), max(box[3], i + 1)
            if j + 1 < width and labels[i, j + 1] != here:
                other = labels[i, j + 1]
                is_neighbor[min(here, other), max(here, other)] = True
            if i + 1 < height and labels[i + 1, j] != here:
                other = labels[i + 1, j]
                is_neighbor[min(here, other), max(here, other)] = True


@lean
def overlap(one, other, size, other_size, n_columns):
    """Return the part that two histograms share, each column counted by its share of all."""
    here, there = 1.0 / (size * n_columns), 1.0 / (other_size * n_columns)
    total = 0.0
    for b in range(one.size):
        total += min(one[b] * here, other[b] * there)
    return total


@lean
def similarity(a, b, colors, textures, sizes, boxes, columns, used, n_pixels):
    """Return the mean of the similarities that are used: of color, texture, size and fill."""
    total = 0.0
    if used[0]:
        total += overlap(colors[a], colors[b], sizes[a], sizes[b], columns[0])
    if used[1]:
        total += overlap(textures[a], textures[b], sizes[a], sizes[b], columns[1])
    both = sizes[a] + sizes[b]
    if used[2]:
        total += 1.0 - both / n_pixels
    if used[3]:
        width = max(boxes[a, 2], boxes[b, 2]) - min(boxes[a, 0], boxes[b, 0])
        height = max(boxes[a, 3], boxes[b, 3]) - min(boxes[a, 1], boxes[b, 1])
        total += 1.0 - (width * height - both) / n_pixels
    mean = total / (int(used[0]) + int(used[1]) + int(used[2]) + int(used[3]))
    return np.rint(mean * ROUND) / ROUND


@lean
def join_regions(a, b, new, colors, textures, sizes, boxes):
    """Write what is known of the region that two others make."""
    sizes[new] = sizes[a] + sizes[b]
    for c in range(colors.shape[1]):
        colors[new, c] = colors[a, c] + colors[b, c]
    for c in range(textures.shape[1]):
        textures[new, c] = textures[a, c] + textures[b, c]
    for side in range(2):
        boxes[new, side] = min(boxes[a, side], boxes[b, side])
        boxes[new, side + 2] = max(boxes[a, side + 2], boxes[b, side + 2])


@kept(_nrt=False)
def group(pairs, values, colors, textures, sizes, boxes, columns, used, n_pixels, last_seen, merges, similarities):
    """Join the two most similar neighbors until one region is left; of equal pairs the one with the lower numbers.

    ``pairs`` holds the neighbors among the first regions, the lower number first, and is overwritten, like ``values``
    and ``last_seen``, which are room. New regions are numbered on. O(regions x pairs).
    """
    n_regions, n_pairs = merges.shape[0] + 1, pairs.shape[0]
    for e in range(n_pairs):
        values[e] = similarity(pairs[e, 0], pairs[e, 1], colors, textures, sizes, boxes, columns, used, n_pixels)
    for step in range(merges.shape[0]):
        best = 0
        for e in range(1, n_pairs):
            if values[e] > values[best] or (
                values[e] == values[best]
                and (pairs[e, 0] < pairs[best, 0] or (pairs[e, 0] == pairs[best, 0] and pairs[e, 1] < pairs[best, 1]))
            ):
                best = e
        a, b, new = pairs[best, 0], pairs[best, 1], n_regions + step
        merges[step, 0], merges[step, 1], similarities[step] = a, b, values[best]
        join_regions(a, b, new, colors, textures, sizes, boxes)
        kept_pairs = 0
        for e in range(n_pairs):
            one, other = pairs[e, 0], pairs[e, 1]
            if one in (a, b) or other in (a, b):
                left = other if one in (a, b) else one
                if left in (a, b) or last_seen[left] == new:
                    continue
                last_seen[left] = new
                pairs[kept_pairs, 0], pairs[kept_pairs, 1] = left, new
                values[kept_pairs] = similarity(left, new, colors, textures, sizes, boxes, columns, used, n_pixels)
            else:
                pairs[kept_pairs, 0], pairs[kept_pairs, 1], values[kept_pairs] = one, other, values[e]
            kept_pairs += 1
        n_pairs = kept_pairs


@kept(_nrt=False)
def mark_repeats(boxes, above, below, kept_places, is_repeat):
    """Mark boxes that overlap an earlier one, itself not marked, by more than ``above / below``. O(n kept)."""
    n_kept = 0
    for i in range(boxes.shape[0]):
        area = (boxes[i, 2] - boxes[i, 0]) * (boxes[i, 3] - boxes[i, 1])
        is_repeat[i] = False
        for k in range(n_kept):
            j = kept_places[k]
            width = min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0])
            height = min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1])
            if width > 0 and height > 0:
                other = (boxes[j, 2] - boxes[j, 0]) * (boxes[j, 3] - boxes[j, 1])
                if below * width * height > above * (area + other - width * height):
                    is_repeat[i] = True
                    break
        if not is_repeat[i]:
            kept_places[n_kept] = i
            n_kept += 1
