"""Columns of a node: ranks, random numbers, rows in order, and the best cut, whatever a column holds."""

# mypy: allow-untyped-defs, no-check-untyped-defs
# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_inlined
from pellucid.tree.decision_tree.growth_rules import (
    BASE,
    DRAWN_THRESHOLD,
    FIRST_VALUE,
    HAS_MISSING,
    IS_CATEGORY,
    LOWER,
    MONOTONE,
    N_RANKS,
    ORDERING_FOUND,
    SCORE,
    SQUARED,
    START,
    STOP,
    SUMS,
    UPPER,
    WHOLE,
    ZERO_WIDTH,
    Limits,
)
from pellucid.tree.decision_tree.split_kernels import line_up_categories, scan_absolute, scan_classes, scan_numbers


@lean_inlined
def random_cut(values, share, lowest, highest):
    """Return a threshold drawn between two ranks of a column, and the last rank at or below it."""
    low, high = values[lowest], values[highest]
    threshold = low + share * (high - low)
    if not low <= threshold < high:
        threshold = low
    below, above = lowest, highest
    while above - below > 1:
        middle = (below + above) // 2
        if values[middle] <= threshold:
            below = middle
        else:
            above = middle
    return threshold, below


@lean_inlined
def put_missing_first(order, start, known, stop, line):
    """Copy rows in order, those of missing values, which stand from ``known`` on, before the others."""
    n_missing = stop - known
    for p in range(stop - start):
        line[p] = order[known + p if p < n_missing else start + p - n_missing]


@lean_inlined
def look_at(
    table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, v, j, bar, tie
):  # fmt: skip
    """Write the best cut of a column among those that score above ``bar``; return whether the column varies.

    Rows are scanned in one order or several: missing values last and then first, or categories in each of their orders.
    """
    facts, floats, out = table.facts[j], room.floats, room.results[j]
    start, n, rank = nodes.wholes[v, START], nodes.wholes[v, STOP] - nodes.wholes[v, START], table.ranks[j]
    by_set = sets is not None and facts[IS_CATEGORY] != 0
    whole, base, cut, n_turns = floats[SUMS, WHOLE], floats[SUMS, BASE], np.int64(-1), np.int64(1)
    is_sorted = sorting.shape[1] == 0
    order, a, skip = rows.orders[j if is_sorted and not by_set else -1], start, np.int64(0)
    if not (is_sorted or by_set):
        sort_rows(rows.orders[-1], start, start + n, rank, sorting, rows.lines[0])
        order, a = rows.lines[0], np.int64(0)
    b = known = a + n
    if by_set:
        n_turns = 1 if y is not None and rules.criterion < SQUARED else rules.n_values
    else:
        if rank[order[a]] == rank[order[b - 1]]:
            return False
        while rank[order[known - 1]] == facts[N_RANKS]:
            known -= 1
        out[HAS_MISSING] = b - known
        n_turns = 1 if known == b else 2
        if at_random:
            values, share = table.lowest[facts[FIRST_VALUE] :], draw_share(chance.keys[v], j, rules.n_features)
            lowest, highest = np.int64(rank[order[a]]), np.int64(rank[order[known - 1]])
            out[DRAWN_THRESHOLD], cut = random_cut(values, share, lowest, highest)
    found = (bar, -np.inf, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0)
    for turn in range(n_turns):
        if sets is not None and by_set:
            n_sets = line_up_categories(
                table, codes, y, rules.n_outputs, rows.orders[-1], floats, rows.lines, start, start + n, j, turn
            )
            if n_sets < 2:
                return False
            order, rank, a, b = rows.lines[0], rows.lines[1], np.int64(0), n
            if at_random:
                cut = np.int64(draw_share(chance.keys[v], j, rules.n_features) * (n_sets - 1))
        elif turn == 1:
            put_missing_first(order, a, known, b, rows.lines[1])
            order, a, b, skip = rows.lines[1], np.int64(0), n, b - known
        limits = Limits(
            rules.min_leaf, rules.min_weight, cut, facts[MONOTONE], nodes.reals[v, LOWER], nodes.reals[v, UPPER], tie,
            floats[SUMS, ZERO_WIDTH],
        )  # fmt: skip
        score = found[SCORE]
        if y is None:
            if codes is not None:
                found = scan_classes(
                    order, a, b, skip, rank, codes, table.pairs, floats, whole, limits, rules.criterion,
                    rules.n_values, base, found,
                )  # fmt: skip
        elif medians is not None:
            found = scan_absolute(
                order, a, b, skip, rank, y, table.pairs, floats, whole, limits, directed, medians.places, medians.sums,
                found,
            )  # fmt: skip
        else:
            found = scan_numbers(
                order, a, b, skip, rank, y, table.pairs, floats, whole, limits, directed, rules.criterion, base, found
            )
        if found[SCORE] != score:
            out[ORDERING_FOUND] = turn
    for q in range(8):
        out[q] = found[q]
    return True


FEW = 40
"""Rows that are sorted by insertion."""


@lean
def sort_rows(rows, start, stop, rank, sorting, order):
    """Write the rows ``rows[start:stop]`` to ``order`` in the order of their rank. O(rows) for each byte of the ranks.

    ``sorting``, int64 (3, at least 256 and the rows), is room to work in. Rows of one rank keep their order.
    """
    keys, other, counts = sorting[0], sorting[1], sorting[2]
    n = stop - start
    lowest = highest = np.int64(rank[rows[start]])
    for p in range(n):
        r = np.int64(rank[rows[start + p]])
        lowest, highest = min(lowest, r), max(highest, r)
        keys[p] = r << 32 | np.int64(rows[start + p])
    if n <= FEW:
        for p in range(1, n):
            key, q = keys[p], p - 1
            while q >= 0 and keys[q] > key:
                keys[q + 1] = keys[q]
                q -= 1
            keys[q + 1] = key
    else:
        shift, rest = 32, highest - lowest
        low = lowest << 32
        while rest > 0:
            for digit in range(256):
                counts[digit] = 0
            for p in range(n):
                counts[((keys[p] - low) >> shift) & 255] += 1
            place = 0
            for digit in range(256):
                count = counts[digit]
                counts[digit] = place
                place += count
            for p in range(n):
                digit = ((keys[p] - low) >> shift) & 255
                other[counts[digit]] = keys[p]
                counts[digit] += 1
            keys, other = other, keys
            rest >>= 8
            shift += 8
    for p in range(n):
        order[p] = keys[p] & 0xFFFFFFFF


@lean_inlined
def part_rows(order, start, stop, goes_left, spare):
    """Put the rows that go left before the others, all in the order they had. O(rows)."""
    first, others = start, 0
    for p in range(start, stop):
        i = order[p]
        order[first] = i
        spare[others] = i
        left = goes_left[i]
        first += left
        others += 1 - left
    for p in range(others):
        order[first + p] = spare[p]


DIGIT = np.uint64(11)
MASK = np.uint64(2047)
SIGN = np.uint64(0x8000000000000000)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
U63 = np.uint64(63)


@lean_and_kept
def rank_column(column, bits, keys, others, order, spare, counts, ranks, values):
    """Write rows in order, ranks and sorted different values of a column; return how many values. O(rows).

    NaN has the rank after all values. ``bits`` is the column as uint64; ``keys``, ``others``, ``spare`` and ``counts``
    (6, 2048) are room to work in.
    """
    n = len(column)
    for digit in range(6):
        for value in range(2048):
            counts[digit, value] = 0
    for i in range(n):
        x = column[i]
        if x == 0.0:
            key = SIGN  # 0 and -0 are one value
        elif np.isnan(x):
            key = ALL
        else:
            key = bits[i] ^ (ALL if bits[i] >> U63 else SIGN)
        keys[i] = key
        order[i] = i
        for digit in range(6):
            counts[digit, key >> (DIGIT * np.uint64(digit)) & MASK] += 1
    source, target, rows, other_rows = keys, others, order, spare
    n_moves = 0
    for digit in range(6):
        shift = DIGIT * np.uint64(digit)
        count = counts[digit]
        if count[source[0] >> shift & MASK] == n:  # the same digit everywhere
            continue
        place = 0
        for value in range(2048):
            size = count[value]
            count[value] = place
            place += size
        for p in range(n):
            at = source[p] >> shift & MASK
            target[count[at]] = source[p]
            other_rows[count[at]] = rows[p]
            count[at] += 1
        source, target, rows, other_rows = target, source, other_rows, rows
        n_moves += 1
    if n_moves % 2:
        for p in range(n):
            order[p] = rows[p]
    rank = -1
    for p in range(n):
        if p == 0 or source[p] != source[p - 1]:
            rank += 1
            values[rank] = column[order[p]]
        ranks[order[p]] = rank
    if source[n - 1] == ALL:
        return rank
    return rank + 1


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
