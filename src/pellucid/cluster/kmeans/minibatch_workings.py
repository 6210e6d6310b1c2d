"""Mini-batch k-means by hand: each batch pulls its centers a little, the less the more rows they have seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.show.decisions import point
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import fenced, math, over

MOST_BATCHES = 6


def show_minibatches(X: Data, centers: Data, batches: Sequence[Sequence[int]]) -> Document:
    """Return the steps of mini-batch k-means from given centers; each batch lists its rows, counted from 0.

    Examples
    --------
    >>> show_minibatches([[0], [1], [8], [9]], [[0], [9]], batches=[[1, 3], [0, 2]]).answer["centers"]
    [[1/2], [17/2]]
    """
    rows, _, _ = exact_features(X)
    now = exact_features(centers)[0]
    if now.cols != rows.cols:
        raise ValueError(f"centers must have {rows.cols} columns, as X has, got {now.cols}.")
    if not 1 <= len(batches) <= MOST_BATCHES or any(not 0 <= i < rows.rows for batch in batches for i in batch):
        raise ValueError(
            f"batches must be 1 to {MOST_BATCHES} lists of rows from 0 to {rows.rows - 1}, got {batches!r}."
        )
    counts, steps = [0] * now.rows, []
    for t, batch in enumerate(batches, start=1):
        made, now, counts = _batch(t, list(batch), rows, now, counts)
        steps.append(made)
    symbols = [math(f"x_{j + 1}" if rows.cols > 1 else "x") for j in range(rows.cols)]
    opening: tuple[Block, ...] = (
        sentence(
            "A batch of rows goes to the nearest centers. Each row then pulls its center towards it, the less the more "
            "rows the center has seen, so that it stays the mean of these:"
        ),
        formula("n_k ← n_k + 1 ,", "c_k ← c_k +", over(1, "n_k"), fenced("x − c_k")),
        numbered_table(rows, symbols),
        sentence("Start from ", *_listed(exact_features(centers)[0]), "."),
    )
    end = step(
        "The centers",
        *(result(f"c_{k + 1} =", point(list(now.row(k)))) for k in range(now.rows)),
        remark("A batch may hurt: only over many of them does the sum of squared distances fall."),
    )
    answer = {"centers": [list(now.row(k)) for k in range(now.rows)], "counts": counts}
    return Document("Mini-batch k-means", opening, (*steps, end), answer)


def _listed(centers: Matrix) -> list[Any]:
    parts: list[Any] = []
    for k in range(centers.rows):
        parts += [*([", "] if parts else []), math(f"c_{k + 1} =", point(list(centers.row(k))))]
    return parts


def _batch(
    t: int, batch: list[int], rows: Matrix, centers: Matrix, counts: list[int]
) -> tuple[Step, Matrix, list[int]]:
    """Return the step of a batch, and centers and counts after it; of equally near centers the first counts."""
    away = [
        [sum((v**2 for v in rows.row(i) - centers.row(k)), Rational(0)) for k in range(centers.rows)] for i in batch
    ]
    nearest = [of.index(min(of)) for of in away]
    lines = [[math(i + 1), *of, math(k + 1)] for i, of, k in zip(batch, away, nearest, strict=True)]
    moved, seen, told = centers.copy(), list(counts), list[Block]()
    for i, k in zip(batch, nearest, strict=True):
        seen[k] += 1
        old = moved.row(k)
        new = old + (rows.row(i) - old) / seen[k]
        moved[k, :] = new
        pull = fenced(math(point(list(rows.row(i))), "−", point(list(old))))
        told.append(formula(f"c_{k + 1} =", point(list(old)), "+", over(1, seen[k]), pull, "=", point(list(new))))
    head = [math("i"), *(math(f"d_{k + 1}^2") for k in range(centers.rows)), "nearest"]
    listed = ", ".join(str(i + 1) for i in batch)
    return step(f"Batch {t}: rows {listed}", table(head, lines), *told), moved, seen
