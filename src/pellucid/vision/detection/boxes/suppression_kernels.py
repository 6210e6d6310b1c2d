"""Compiled loops of non-maximum suppression: each box is compared with the kept ones near it only."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean

FEW = 32
"""Up to so many kept boxes a grid takes longer to make than to do without."""
MOST_ENTRIES = 24
"""Entries of the grid for each box: with more of them the cells are made larger."""
SLACK = 1e-4
"""Of a box's size: more than rounding can move its edge in single precision."""
SIGN = 1 << 31
"""The bit that a negative number of single precision has."""
NOT_FINITE, INVERTED = -1, -2


@lean
def overlap_of(boxes, areas, i, j):
    """Return the IoU of two boxes, in the precision and the order of operations of the definition."""
    zero = boxes[i, 0] * 0
    width = max(zero, min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0]))
    height = max(zero, min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1]))
    shared = width * height
    if shared == 0:
        return zero
    return shared / (areas[i] + areas[j] - shared)


@kept
def falling_order(bits):
    """Return the numbers of float32 scores from the largest on, equal ones in their order; ``bits`` spell the scores.

    Bits of positive numbers rise with them, those of negative ones fall: they are made keys that rise as scores fall,
    and sorted by eleven of their bits at a time, the last ones first.
    """
    n = len(bits)
    keys, order = np.empty(n, np.int64), np.empty(n, np.int64)
    other_keys, other_order = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        word = np.int64(bits[i])
        if word == SIGN:  # minus nothing is nothing
            word = np.int64(0)
        keys[i] = word if word >= SIGN else SIGN - 1 - word
        order[i] = i
    for shift in (0, 11, 22):
        starts = np.zeros(2049, np.int64)
        for i in range(n):
            starts[((keys[i] >> shift) & 2047) + 1] += 1
        for digit in range(2048):
            starts[digit + 1] += starts[digit]
        for i in range(n):
            digit = (keys[i] >> shift) & 2047
            other_keys[starts[digit]], other_order[starts[digit]] = keys[i], order[i]
            starts[digit] += 1
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    return order


@kept
def suppress_in_order(boxes, order, by_group, starts, threshold, suppressed_by, kept_boxes):
    """Write for each box the first kept one that suppresses it, or -1, and the kept ones; return how many these are.

    ``order`` are the numbers of boxes by falling score, ``by_group`` the same within each group, of which groups are
    places ``starts[g]`` to ``starts[g + 1]``. A box that is not finite returns -1, one that is inverted -2.
    """
    n = len(order)
    ranked, areas, by = np.empty((n, 4), boxes.dtype), np.empty(n, boxes.dtype), np.empty(n, np.int64)
    for i in range(n):
        for k in range(4):
            ranked[i, k] = boxes[by_group[i], k]
            if not np.isfinite(ranked[i, k]):
                return NOT_FINITE
        if ranked[i, 2] < ranked[i, 0] or ranked[i, 3] < ranked[i, 1]:
            return INVERTED
        areas[i] = (ranked[i, 2] - ranked[i, 0]) * (ranked[i, 3] - ranked[i, 1])
    for g in range(len(starts) - 1):
        start, stop = starts[g], starts[g + 1]
        done = suppress_few(ranked, areas, start, stop, threshold, by)
        if done < stop:
            grid, entries = fitted_grid(ranked, start, stop)
            cells = np.full((grid[4] * grid[5], 2), -1, np.int32)
            links = np.empty((entries, 2), np.int32)
            suppress_many(ranked, areas, start, done, stop, threshold, grid, cells, links, by)
    for i in range(n):
        suppressed_by[by_group[i]] = -1 if by[i] < 0 else by_group[by[i]]
    count = 0
    for i in range(n):
        kept_boxes[count] = order[i]
        count += suppressed_by[order[i]] < 0
    return count


@kept
def suppress_few(boxes, areas, start, stop, threshold, by):
    """Compare each box of a group with all kept ones before it, while these are few; return where it stopped."""
    chosen, count = np.empty(FEW, np.int64), 0
    for i in range(start, stop):
        if count == FEW:
            return i
        by[i] = -1
        for k in range(count):
            if overlap_of(boxes, areas, i, chosen[k]) > threshold:
                by[i] = chosen[k]
                break
        if by[i] < 0:
            chosen[count] = i
            count += 1
    return stop


@lean
def suppress_many(boxes, areas, start, done, stop, threshold, grid, cells, links, by):
    r"""Compare each box of a group, from ``done`` on, with the kept ones in its cells of a grid.

    A kept box is entered in all cells that it covers. If the IoU of two boxes is above t, so is that of their shadows
    on each axis; then the shadow of one meets the middle part of the other, its center :math:`\pm (1/2 - t)` of its
    size, or its center alone from t = 1/2 on. A box looks only into the cells under that part.

    ``cells[c]`` are the first and the last link of a cell's chain, a link the number of a box and of the next link: so
    each cell holds its boxes by falling score, and the search ends at the first that suppresses.
    """
    left, top, across, down, columns, rows = grid
    used = 0
    core = max(0.5 - threshold, 0.0) + SLACK
    for i in range(start, stop):
        if i >= done:
            x, reach_x = middle(boxes[i, 0], boxes[i, 2], core)
            y, reach_y = middle(boxes[i, 1], boxes[i, 3], core)
            low, high = cell(x - reach_x, left, across, columns), cell(x + reach_x, left, across, columns)
            first = stop
            for row in range(cell(y - reach_y, top, down, rows), cell(y + reach_y, top, down, rows) + 1):
                for place in range(row * columns + low, row * columns + high + 1):
                    link = cells[place, 0]
                    while link >= 0 and links[link, 0] < first:
                        if overlap_of(boxes, areas, i, links[link, 0]) > threshold:
                            first = links[link, 0]
                            break
                        link = links[link, 1]
            by[i] = first if first < stop else -1
        if by[i] < 0:
            used = enter(boxes, i, left, top, across, down, columns, rows, cells, links, used)


@lean
def enter(boxes, i, left, top, across, down, columns, rows, cells, links, used):
    """Append a box to the chains of all cells that it covers; return how many links are used then."""
    low, high = cell(boxes[i, 0], left, across, columns), cell(boxes[i, 2], left, across, columns)
    for row in range(cell(boxes[i, 1], top, down, rows), cell(boxes[i, 3], top, down, rows) + 1):
        for place in range(row * columns + low, row * columns + high + 1):
            links[used, 0], links[used, 1] = i, -1
            if cells[place, 0] < 0:
                cells[place, 0] = used
            else:
                links[cells[place, 1], 1] = used
            cells[place, 1] = used
            used += 1
    return used


@lean
def middle(low, high, core):
    """Return the center of a shadow, and how far its middle part reaches."""
    return 0.5 * (np.float64(low) + np.float64(high)), core * (np.float64(high) - np.float64(low))


@lean
def cell(x, origin, per_cell, n):
    """Return the row or column that a coordinate is in; what is outside of the grid is in its outermost.

    Where the grid is wider than the largest number there is one column, and a place may be no number.
    """
    place = (np.float64(x) - origin) * per_cell
    return n - 1 if place >= n else int(place) if place > 0.0 else 0


@lean
def fitted_grid(boxes, start, stop):
    """Return a grid around boxes, its corner, cells per pixel, columns and rows; and how many entries it may need.

    Cells are about half as large as a box. One of width w meets at most w / cell + 2 columns.
    """
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    width, height, area = 0.0, 0.0, 0.0
    for i in range(start, stop):
        left, right = min(left, boxes[i, 0]), max(right, boxes[i, 2])
        top, bottom = min(top, boxes[i, 1]), max(bottom, boxes[i, 3])
        wide, high = np.float64(boxes[i, 2]) - boxes[i, 0], np.float64(boxes[i, 3]) - boxes[i, 1]
        width, height, area = width + wide, height + high, area + wide * high
    n = stop - start
    most = int(np.sqrt(n)) + 1
    columns = cells_along(right - left, 0.5 * width / n, most)
    rows = cells_along(bottom - top, 0.5 * height / n, most)
    while True:
        across = columns / (right - left) if right > left else 0.0
        down = rows / (bottom - top) if bottom > top else 0.0
        total = area * across * down + 2.0 * (width * across + height * down) + 4.0 * n
        if total <= MOST_ENTRIES * n:
            return (left, top, across, down, columns, rows), min(int(total) + 1, n * columns * rows)
        if columns == 1 and rows == 1:
            return (left, top, across, down, columns, rows), n
        columns, rows = (columns + 1) // 2, (rows + 1) // 2


@lean
def cells_along(span, size, most):
    """Return into how many cells of a size to cut a span: at least one, also where they are no numbers."""
    if size == 0.0 and span > 0.0:
        return most
    ratio = span / size
    return most if ratio >= most else int(ratio) if ratio > 1.0 else 1
