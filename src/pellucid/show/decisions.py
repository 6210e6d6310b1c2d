"""What a model says of new rows, step by step, from the exact numbers of its workings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Rational as AnyRational
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sympy import Expr, Rational, exp, nsimplify

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Math, Script, Words, factor, fenced, math, minus, over, typed

MOST_NEW = 6
KEPT = 30
"""Digits of numbers that have no end."""

Row = list[Rational]


def read_new(new: Data, n_features: int) -> list[Row]:
    """Return the new rows in fractions, or refuse them."""
    cells = np.asarray(new.toarray() if hasattr(new, "toarray") else new)
    if cells.ndim != 2 or cells.shape[1] != n_features or not 1 <= len(cells) <= MOST_NEW:
        raise ValueError(
            f"new must have 1 to {MOST_NEW} rows of {n_features} features, got shape {cells.shape}. "
            "Pass a list of rows, such as new=[[1, 2]]."
        )
    return [[exact_number(value, "new")[0] for value in row] for row in cells]


def heading(i: int, kind: str = "Decide about") -> str:
    """Return what the step about a new row is called; rows count from 1 on paper."""
    return f"{kind} new row {i + 1}"


def point(row: Sequence[Rational]) -> Math:
    """Return a row as it was typed, between parentheses."""
    parts: list[Any] = []
    for value in row:
        parts += [",", typed(value)] if parts else [typed(value)]
    return fenced(math(*parts))


def number(value: Any) -> Math:
    """Return a number: a fraction as it is, anything without end with its first decimals."""
    return math(value) if isinstance(value, AnyRational) else Words(minus(f"{float(value):.5g}"))


def class_names(y: Data) -> list[Any]:
    """Return the classes in the order in which scores are given."""
    return list(np.unique(np.asarray(y)).tolist())


def with_decisions(document: Document, estimator: Any, y: Data, new: Data) -> Document | None:
    """Return workings that go on to new rows, if the answer says how: by weights, or by centers. Else None."""
    answer = document.answer
    if "coef_" in answer:
        steps, predicted = _linear_steps(answer, estimator, y, new)
    elif "cluster_centers_" in answer:
        steps, predicted = _center_steps(answer, type(estimator).__name__ == "KMedians", new)
    else:
        return None
    return replace(document, steps=(*document.steps, *steps), answer={**answer, "predicted": predicted})


def _linear_steps(answer: Mapping[str, Any], estimator: Any, y: Data, new: Data) -> tuple[list[Step], list[Any]]:
    weights, offsets = _weights(answer)
    rows = read_new(new, len(weights[0]))
    classes = class_names(y) if is_classifier(estimator) else []
    made = [_linear_step(i, row, weights, offsets, classes, estimator) for i, row in enumerate(rows)]
    return [one for one, _ in made], [said for _, said in made]


def _weights(answer: Mapping[str, Any]) -> tuple[list[list[Expr]], list[Expr]]:
    """Return the weights, a list for each score, and the intercepts."""
    coef, offset = answer["coef_"], answer.get("intercept_", Rational(0))
    coef = coef if isinstance(coef[0], list | tuple) else [coef]
    offset = list(offset) if isinstance(offset, list | tuple) else [offset] * len(coef)
    return [[_exact(value) for value in row] for row in coef], [_exact(value) for value in offset]


def _exact(value: Any) -> Expr:
    """Return a number of many digits as a SymPy float, an exact one as it is."""
    return nsimplify(value) if isinstance(value, int) else value if isinstance(value, Expr) else _floating(value)


def _floating(value: Any) -> Expr:
    from sympy import Float

    return Float(str(value), KEPT)


def _linear_step(
    i: int, row: Row, weights: list[list[Expr]], offsets: list[Expr], classes: list[Any], estimator: Any
) -> tuple[Step, Any]:
    scores = [sum((w * x for w, x in zip(of, row, strict=True)), b) for of, b in zip(weights, offsets, strict=True)]
    name = "f" if classes else "ŷ"
    names = [name] if len(weights) == 1 else [f"{name}_{k + 1}" for k in range(len(weights))]
    lines: list[Block] = [
        formula(f"{symbol} =", *_products(of, row, b), "=", number(score))
        for symbol, of, b, score in zip(names, weights, offsets, scores, strict=True)
    ]
    plain = "w^T x + b" if any(offsets) else "w^T x"
    opening = sentence("The row ", math("x =", point(row)), " is put into ", math(plain), ":")
    if not classes:
        said = scores[0] if len(scores) == 1 else scores
        kind = "Score" if type(estimator).__name__ == "RankingSVM" else "Predict"
        ends: list[Block] = [result(f"{symbol} =", number(score)) for symbol, score in zip(names, scores, strict=True)]
        return step(heading(i, kind), opening, *lines, *ends), said
    decided, why = _linear_decision(scores, classes)
    shares = _probabilities(scores, classes) if type(estimator).__name__ == "LogisticRegression" else []
    return step(heading(i), opening, *lines, *shares, why, result("class =", Words(str(decided)))), decided


def _products(weights: list[Expr], row: Row, offset: Expr) -> list[Any]:
    parts: list[Any] = []
    for w, x in zip(weights, row, strict=True):
        parts += [*(["+"] if parts else []), _factor(w), "·", factor(typed(x))]
    if offset:
        parts += ["+" if float(offset) > 0 else "−", number(abs(offset))]
    return parts


def _factor(value: Expr) -> Math:
    shown = number(value)
    return fenced(shown) if float(value) < 0 else shown


def _linear_decision(scores: list[Expr], classes: list[Any]) -> tuple[Any, Block]:
    if len(scores) == 1:
        decided = classes[1] if float(scores[0]) > 0 else classes[0]
        return decided, sentence(f"Above 0 it is {classes[1]}, otherwise {classes[0]}.")
    floats = [float(score) for score in scores]
    return classes[floats.index(max(floats))], sentence("The class of the largest score wins; of tied ones, the first.")


def _probabilities(scores: list[Expr], classes: list[Any]) -> list[Block]:
    if len(scores) == 1:
        p = 1 / (1 + exp(-scores[0]))
        power = Script(math("e"), above=math("− f"))
        return [
            sentence(f"That is the logarithm of the odds of {classes[1]}, whose probability is"),
            formula("p =", over(1, math("1 +", power)), "≈", number(p.evalf(KEPT))),
        ]
    powers = [exp(score).evalf(KEPT) for score in scores]
    rows = [
        [str(c), number(score), number(share / sum(powers))]
        for c, score, share in zip(classes, scores, powers, strict=True)
    ]
    return [table(["class", math("f"), "probability"], rows, caption="Powers of e over their sum")]


def _center_steps(answer: Mapping[str, Any], is_manhattan: bool, new: Data) -> tuple[list[Step], list[int]]:
    centers = answer["cluster_centers_"]
    steps, predicted = [], []
    for i, row in enumerate(read_new(new, len(centers[0]))):
        made, nearest = nearest_step(i, row, centers, is_manhattan=is_manhattan)
        steps.append(made)
        predicted.append(nearest)
    return steps, predicted


def nearest_step(i: int, row: Row, centers: Sequence[Sequence[Any]], *, is_manhattan: bool) -> tuple[Step, int]:
    """Return the step that puts a new row to its nearest center, and the label of that cluster."""
    terms = [[x - c for x, c in zip(row, center, strict=True)] for center in centers]
    distances = [sum((abs(t) if is_manhattan else t**2 for t in of), Rational(0)) for of in terms]
    symbol = "d" if is_manhattan else "d^2"
    rows = []
    for k, (of, distance) in enumerate(zip(terms, distances, strict=True)):
        parts: list[Any] = []
        for term in of:
            part = fenced(math(term), "||") if is_manhattan else Script(fenced(math(term)), above=math(2))
            parts += ["+", part] if parts else [part]
        rows.append([math(k + 1), math(*parts, "=", distance)])
    nearest = distances.index(min(distances))
    tied = distances.count(min(distances)) > 1
    return (
        step(
            heading(i, "Assign"),
            sentence("Distances of ", math("x =", point(row)), " from the centers:"),
            table(["cluster", math(symbol)], rows),
            *([remark("Two centers are equally near: the first counts.")] if tied else []),
            sentence(f"The nearest center is that of cluster {nearest + 1}, whose label in the program is {nearest}."),
            result("k =", nearest + 1),
        ),
        nearest,
    )


def path_step(i: int, way: Sequence[tuple[str, str, str]], said: Any, kind: str = "Decide about") -> Step:
    """Return the step that sends a new row down a tree: each question, the value of the row, and the answer."""
    if not way:
        return step(heading(i, kind), sentence("The tree asks nothing."), result(Words(str(said))))
    return step(
        heading(i, kind),
        sentence("From the root down, each question is answered by the row:"),
        table(["question", "the row has", "answer"], [list(line) for line in way]),
        result(Words(f"{'class' if kind == 'Decide about' else 'prediction'} = {said}")),
    )


def kernel_step(
    i: int,
    row: Row,
    products: Sequence[Any],
    pulls: Sequence[Any],
    offset: Any,
    classes: Sequence[Any] = (),
) -> tuple[Step, Any]:
    """Return the step that adds up the products of a new row with the training rows, and what it says.

    ``classes`` are the one below 0 and the one above it; without them the sum is the prediction.
    """
    used = [(k, a, product) for k, (a, product) in enumerate(zip(pulls, products, strict=True)) if a]
    rows = [[math(k + 1), number(a), number(product), number(a * product)] for k, a, product in used]
    value = sum((a * product for _, a, product in used), Rational(0)) + offset
    head = [math("i"), "weight", math("k", fenced("x_i , x")), "product"]
    added = [["b", "", "", number(offset)]] if offset else []
    blocks: list[Block] = [
        sentence("The products of ", math("x =", point(row)), " with the rows that have a weight:"),
        table(head, rows, summary=added),
        formula("f", fenced("x"), "=", number(value)),
    ]
    if not classes:
        return step(heading(i, "Predict"), *blocks, result("ŷ =", number(value))), value
    decided = classes[1] if value > 0 else classes[0]
    why = sentence(f"Above 0 it is {classes[1]}, otherwise {classes[0]}.")
    return step(heading(i), *blocks, why, result("class =", Words(str(decided)))), decided


def vote_step(
    i: int, votes: Sequence[tuple[str, Any, Any]], classes: Sequence[Any], head: Sequence[str]
) -> tuple[Step, Any]:
    """Return the step that counts votes, each with its weight, and the class that wins; of tied ones, the first."""
    sums = [sum((weight for _, word, weight in votes if word == c), Rational(0)) for c in classes]
    floats = [float(value) for value in sums]
    decided = classes[floats.index(max(floats))]
    lines = [[who, str(word), number(weight)] for who, word, weight in votes]
    totals = [[f"for {c}", "", number(value)] for c, value in zip(classes, sums, strict=True)]
    words = sentence("What each says of the row, and the sums of the votes:")
    return step(heading(i), words, table(head, lines, summary=totals), result("class =", Words(str(decided)))), decided
