"""Bell numbers by hand: in how many ways a few things can be put into groups, by recursion and as a list."""

from __future__ import annotations

from math import comb

from pellucid.show.document import Block, Document, formula, result, sentence, step, table
from pellucid.show.notation import Math, fenced, math

MOST_THINGS = 12
LISTED = 4
"""Things whose partitions are all written down."""


def show_bell(n: int) -> Document:
    """Return how many partitions ``n`` things have, by the recursion over who shares a group with the last one.

    Examples
    --------
    >>> show_bell(4).answer["bell"]
    [1, 1, 2, 5, 15]
    """
    if not isinstance(n, int) or not 1 <= n <= MOST_THINGS:
        raise ValueError(f"n must be a whole number from 1 to {MOST_THINGS} to be worked by hand, got {n!r}.")
    bell = [1]
    lines: list[Block] = []
    for m in range(n):
        bell.append(sum(comb(m, k) * bell[k] for k in range(m + 1)))
        parts: list[Math] = []
        for k in range(m + 1):
            parts += [*([math("+")] if parts else []), math(comb(m, k), "·", bell[k])]
        lines.append(formula(f"B_{m + 1} =", *parts, "=", bell[-1]))
    stirling = _stirling(n)
    steps = [
        step(
            "The recursion",
            sentence(
                "Look at the last of ", math("m + 1"), " things. Choose the k others that are not in its group, in ",
                math("C", fenced("m , k")), " ways, and put these into groups in any of ", math("B_k"), " ways:",
            ),
            formula("B_m+1 = ∑", "C", fenced("m , k"), "B_k ,", "B_0 = 1"),
            *lines,
        ),
        step(
            "By the number of groups",
            sentence("The last thing is alone, or joins one of the k groups that the others have made:"),
            formula("S", fenced("n , k"), "= S", fenced("n − 1 , k − 1"), "+ k S", fenced("n − 1 , k")),
            table(
                [math("n"), *(math("k =", k) for k in range(1, n + 1))],
                [[math(m), *(math(v) if v else "" for v in stirling[m][1 : n + 1])] for m in range(1, n + 1)],
            ),
            sentence("The last line adds up to the same number:"),
            result(f"B_{n} =", bell[n]),
        ),
    ]  # fmt: skip
    if n <= LISTED:
        listed = [" | ".join(", ".join(map(str, group)) for group in one) for one in partitions(n)]
        rows = [[math(i + 1), one] for i, one in enumerate(listed)]
        steps.append(step("All of them", table(["", "groups"], rows)))
    opening = (
        sentence(f"Into how many clusterings can {n} things be put, if any number of clusters is allowed?"),
        sentence("A search through all of them must look at that many, so it ends soon: the numbers grow very fast."),
    )
    return Document("Bell numbers", opening, tuple(steps), {"bell": bell, "stirling": stirling[n][1 : n + 1]})


def _stirling(n: int) -> list[list[int]]:
    table_ = [[1] + [0] * n]
    for m in range(1, n + 1):
        table_.append([0] + [table_[m - 1][k - 1] + k * table_[m - 1][k] for k in range(1, n + 1)])
    return table_


def partitions(n: int) -> list[list[list[int]]]:
    """Return all partitions of the numbers from 1 to n."""
    if n == 0:
        return [[]]
    found = []
    for smaller in partitions(n - 1):
        found += [[*smaller[:i], [*group, n], *smaller[i + 1 :]] for i, group in enumerate(smaller)]
        found.append([*smaller, [n]])
    return found
