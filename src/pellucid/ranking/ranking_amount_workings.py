"""How wrong a ranking is, by hand: the pairs in the wrong order, and by how much the scores are."""

from __future__ import annotations

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Document, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Script, fenced, math, over, typed

MOST_ROWS = 8


def show_ranking_amount(scores: Data, y: Data) -> Document:
    """Return the ranking error of scores g, counted and by amount: the sum of [g(v) − g(u)]+ where u should be above v.

    Examples
    --------
    >>> work = show_ranking_amount([1, 3, 2], [3, 2, 1])
    >>> work.answer["wrong"], work.answer["amount"]
    (2, 3)
    """
    values, wanted = np.asarray(scores), np.asarray(y)
    if values.ndim != 1 or values.shape != wanted.shape or not 2 <= len(values) <= MOST_ROWS:
        raise ValueError(
            f"scores and y must be lists of 2 to {MOST_ROWS} numbers, one for each row, got shapes {values.shape} and "
            f"{wanted.shape}."
        )
    g = [exact_number(value, "scores")[0] for value in values]
    rank = [exact_number(value, "y")[0] for value in wanted]
    pairs = [(u, v) for u in range(len(g)) for v in range(len(g)) if rank[u] > rank[v]]
    if not pairs:
        raise ValueError("y must prefer some row to another, got equal numbers only.")
    amounts = [max(Rational(0), g[v] - g[u]) for u, v in pairs]
    wrong = sum(bool(g[u] <= g[v]) for u, v in pairs)
    rows = [
        [
            math(u + 1),
            math(v + 1),
            math(g[v], "−", typed(g[u]), "=", g[v] - g[u]),
            amount,
            "wrong" if g[u] <= g[v] else "",
        ]
        for (u, v), amount in zip(pairs, amounts, strict=True)
    ]
    plus = Script(fenced("g_v − g_u", "[]"), below=math("+"))
    steps = (
        step(
            "All pairs that have an order",
            sentence("Row u should stand above row v. What v is ahead of it is the amount of the error, else 0:"),
            table([math("u"), math("v"), math("g_v − g_u"), math(plus), ""], rows),
        ),
        step(
            "Add them up",
            formula("∑", plus, "=", sum(amounts, Rational(0))),
            sentence("Beside the amount stands the share of pairs in the wrong order; equal scores count as wrong:"),
            result("error =", over(wrong, len(pairs))),
            remark(
                "The amount is convex in the scores, the share is not: it is the amount that a machine can minimize."
            ),
        ),
    )
    listing = table(
        [math("i"), "wanted", math("g")], [[math(i + 1), typed(rank[i]), typed(g[i])] for i in range(len(g))]
    )
    answer = {"amount": sum(amounts, Rational(0)), "wrong": wrong, "pairs": len(pairs)}
    return Document(
        "How wrong a ranking is", (sentence("Scores g are to order rows as wanted:"), listing), steps, answer
    )
