"""Partitions of a set: how many there are, and each of them once."""

from __future__ import annotations

from collections.abc import Iterator


def bell_number(n: int) -> int:
    """Return in how many ways n rows can be cut into clusters, by Bell's triangle.

    Examples
    --------
    >>> [bell_number(n) for n in range(7)]
    [1, 1, 2, 5, 15, 52, 203]
    """
    row = [1]
    for _ in range(n):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return row[0]


def stirling_number(n: int, k: int) -> int:
    """Return in how many ways n rows can be cut into k clusters: S(n, k) = k S(n - 1, k) + S(n - 1, k - 1).

    Examples
    --------
    >>> [stirling_number(5, k) for k in range(1, 6)]
    [1, 15, 25, 10, 1]
    """
    row = [1] + [0] * k
    for _ in range(n):
        row = [0] + [j * row[j] + row[j - 1] for j in range(1, k + 1)]
    return row[k]


def partition_count(n: int, k: int | None = None) -> int:
    """Return how many partitions there are, into k clusters or into any number."""
    return bell_number(n) if k is None else stirling_number(n, k)


def partitions(n: int, k: int | None = None) -> Iterator[list[int]]:
    """Yield the labels of every partition once, in the order of a dictionary; the same list, changed in place.

    The first row has the label 0, and no row has a label more than 1 above all before it.

    Examples
    --------
    >>> [labels.copy() for labels in partitions(3)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    labels, used = [0] * n, [1] * n  # used[i]: clusters among the rows up to i
    most = n if k is None else k
    while True:
        if k is None or used[-1] == k:
            yield labels
        i = n - 1
        while i > 0 and labels[i] == min(used[i - 1], most - 1):
            i -= 1
        if i == 0:
            return
        labels[i] += 1
        used[i] = max(used[i - 1], labels[i] + 1)
        for j in range(i + 1, n):
            labels[j], used[j] = 0, used[i]
