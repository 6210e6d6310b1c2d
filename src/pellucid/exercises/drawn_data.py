"""Small numbers for exercises: rows, classes, counts and words, drawn from a source of chance that repeats itself."""

from __future__ import annotations

from random import Random
from typing import Any

Row = list[Any]

WEATHER = (("sunny", "cloudy", "rainy"), ("hot", "mild", "cool"), ("calm", "windy"))


def points(rng: Random, n: int, columns: int = 2, low: int = 0, high: int = 6) -> list[Row]:
    """Return different rows of whole numbers."""
    found: list[Row] = []
    while len(found) < n:
        row = [rng.randint(low, high) for _ in range(columns)]
        if row not in found:
            found.append(row)
    return found


def varied(rng: Random, n: int, columns: int, high: int) -> list[Row]:
    """Return different rows none of whose columns is constant, where there are two or more."""
    while True:
        X = points(rng, n, columns, 0, high)
        if n == 1 or all(len(set(column)) > 1 for column in zip(*X, strict=True)):
            return X


def two_groups(rng: Random, n: int, columns: int = 2, apart: int = 4, spread: int = 2) -> tuple[list[Row], list[str]]:
    """Return rows of two classes, a and b, whose boxes lie apart along every column."""
    X: list[Row] = []
    for k in range(2):
        corner = [k * apart + rng.randint(0, 1) for _ in range(columns)]
        X += [[c + x for c, x in zip(corner, row, strict=True)] for row in varied(rng, n, columns, spread)]
    return X, ["a"] * n + ["b"] * n


def mixed_groups(rng: Random, n: int, columns: int = 2, high: int = 5) -> tuple[list[Row], list[str]]:
    """Return rows of two classes that lie among each other."""
    while True:
        X = points(rng, 2 * n, columns, 0, high)
        if all(len(set(column)) > 1 for half in (X[:n], X[n:]) for column in zip(*half, strict=True)):
            return X, ["a"] * n + ["b"] * n


def counts(rng: Random, n: int, words: int, high: int = 2) -> tuple[list[Row], list[str]]:
    """Return how often each word stands in each of ``n`` documents of two classes."""
    X = [[rng.randint(0, high) for _ in range(words)] for _ in range(n)]
    for row in X:
        if not any(row):  # a document has words
            row[rng.randrange(words)] = 1
    return X, ["a"] * (n - n // 2) + ["b"] * (n // 2)


def weather(rng: Random, n: int, columns: int) -> tuple[list[Row], list[str]]:
    """Return days in words, and whether somebody played."""
    X = [[rng.choice(words) for words in WEATHER[:columns]] for _ in range(n)]
    return X, [rng.choice(("yes", "no")) for _ in range(n)]


def numbers(rng: Random, n: int, low: int = 0, high: int = 8) -> list[int]:
    """Return whole numbers."""
    return [rng.randint(low, high) for _ in range(n)]


def spread_out(rng: Random, n: int, high: int = 8) -> list[Row]:
    """Return one column of different numbers in ascending order."""
    return [[value] for value in sorted(rng.sample(range(high + 1), n))]


def rectangle(rng: Random, tilt: tuple[int, int] = (1, 0)) -> list[Row]:
    """Return the corners of a rectangle along a direction: its axes and lengths are known without a root.

    A direction of whole length, such as (3, 4), keeps them so.
    """
    a, b = rng.sample((1, 2, 3), 2)
    u, v = tilt
    x, y = rng.randint(0, 3), rng.randint(0, 3)
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    rng.shuffle(signs)
    corners = [[x + s * a * u - t * b * v, y + s * a * v + t * b * u] for s, t in signs]
    least = [min(row[j] for row in corners) for j in range(2)]
    return [[value - min(low, 0) for value, low in zip(row, least, strict=True)] for row in corners]


def cross(rng: Random, tilt: tuple[int, int] = (3, 4)) -> list[Row]:
    """Return four points on two lines through their mean at a right angle, longer along the first."""
    u, v = tilt
    a, b = rng.sample((1, 2, 3), 2)
    points_ = [[a * u, a * v], [-a * u, -a * v], [-b * v, b * u], [b * v, -b * u]]
    rng.shuffle(points_)
    least = [min(row[j] for row in points_) for j in range(2)]
    return [[value - low for value, low in zip(row, least, strict=True)] for row in points_]


def box(rng: Random, size: int = 8) -> list[int]:
    """Return the corners of a box with sides of whole numbers."""
    x, y = rng.randint(0, size // 2), rng.randint(0, size // 2)
    return [x, y, x + rng.randint(2, size // 2 + 1), y + rng.randint(2, size // 2 + 1)]
