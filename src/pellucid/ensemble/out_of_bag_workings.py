"""Out of bag by hand: which rows each bag has, which it lacks, and what the trees that lack a row say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.decisions import heading, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import Label, exact_data, exact_features, exact_number, read_labels, sorted_classes
from pellucid.show.notation import Math, Script, Words, fenced, math, over, typed

if TYPE_CHECKING:
    from pellucid.ensemble.random_forest.random_forest import RandomForestClassifier, RandomForestRegressor

MAX_BAGS = 5
MAX_ROWS = 12
SHORT = 5
"""Characters of a number that leaves room for nine columns."""


def out_of_bag_workings(
    estimator: RandomForestClassifier | RandomForestRegressor, X: Data, y: Data, new: Data = None
) -> Document:
    """Show the bags of a small forest, or of any bagging, and the error of each row outside of its bags."""
    if estimator.n_estimators > MAX_BAGS or not getattr(estimator, "bootstrap", True):
        raise ValueError(
            f"n_estimators must be at most {MAX_BAGS} and bootstrap True to be worked by hand, got "
            f"{estimator.n_estimators} and {estimator.bootstrap}."
        )
    is_class = is_classifier(estimator)
    features = exact_features(X, max_rows=MAX_ROWS)[0]
    target = read_labels(y, features.rows) if is_class else list(exact_data(X, y, max_rows=MAX_ROWS).y)
    classes = sorted_classes(target) if is_class else []
    model = _fitted(estimator, X, y)
    bags = [np.asarray(rows).tolist() for rows in model.estimators_samples_]
    says = [_answers(one, model, X, is_class=is_class) for one in model.estimators_]
    outside = [[b for b, bag in enumerate(bags) if i not in bag] for i in range(features.rows)]
    steps, answer = _row_steps(outside, says, target, classes)
    if new is not None:
        decided = _new_steps(model, read_new(new, features.cols), classes)
        steps += [made for made, _ in decided]
        answer["predicted"] = [said for _, said in decided]
    return Document("Out of bag", _opening(bags, features.rows), (*steps,), answer)


def _new_steps(model: Any, rows: list[list[Rational]], classes: list[Label]) -> list[tuple[Step, Any]]:
    """Return a step for each new row, which all trees are asked about, and what they say together."""
    if classes:  # the trees of a forest give shares, and their means decide
        shares = [_shares(one, model, rows) for one in model.estimators_]
        return [_share_step(i, [of[i] for of in shares], classes) for i in range(len(rows))]
    says = [
        _answers(one, model, [[float(x) for x in row] for row in rows], is_class=False) for one in model.estimators_
    ]
    return [_mean_step(i, [of[i] for of in says]) for i in range(len(rows))]


def _shares(one: Any, model: Any, rows: list[list[Rational]]) -> list[list[Rational]]:
    columns = getattr(model, "estimators_features_", None)
    table_ = np.array([[float(x) for x in row] for row in rows])
    if columns is not None:
        table_ = table_[:, columns[list(model.estimators_).index(one)]]
    return [[exact_number(float(p), "share")[0] for p in of] for of in one.predict_proba(table_)]


def _share_step(i: int, shares: list[list[Rational]], classes: list[Label]) -> tuple[Step, Label]:
    means = [sum((of[k] for of in shares), Rational(0)) / len(shares) for k in range(len(classes))]
    decided = classes[means.index(max(means))]
    lines = [[math(b + 1), *map(math, of)] for b, of in enumerate(shares)]
    return (
        step(
            heading(i),
            sentence(
                "Each tree gives the shares of the classes in the leaf that the row comes to; their means decide:"
            ),
            table(["tree", *map(str, classes)], lines, summary=[["mean", *map(math, means)]]),
            result("class =", Words(str(decided))),
        ),
        decided,
    )


def _mean_step(i: int, says: list[Rational]) -> tuple[Step, Rational]:
    mean = sum(says, Rational(0)) / len(says)
    lines = [[math(b + 1), math(value)] for b, value in enumerate(says)]
    words = sentence("Each tree predicts the mean of the leaf that the row comes to; the forest takes their mean:")
    return step(heading(i, "Predict"), words, table(["tree", math("ŷ")], lines), result("ŷ =", mean)), mean


def _fitted(estimator: RandomForestClassifier | RandomForestRegressor, X: Data, y: Data) -> Any:
    """Return the forest as it is if it is fitted, or a fitted copy."""
    if hasattr(estimator, "estimators_"):
        return estimator
    if estimator.random_state is None:
        raise ValueError(
            "random_state must be a number, or the forest fitted, to draw the same bags again, got None. Set it to 0."
        )
    return clone(estimator).fit(X, y)


def _answers(one: Any, model: Any, X: Data, *, is_class: bool) -> list[Any]:
    rows = np.asarray(X, dtype=float)
    columns = getattr(model, "estimators_features_", None)
    if columns is not None:
        rows = rows[:, columns[list(model.estimators_).index(one)]]
    if not is_class:
        return [exact_number(float(value), "prediction")[0] for value in one.predict(rows)]
    labels = np.asarray(model.classes_)
    return [labels[int(np.argmax(share))].item() for share in one.predict_proba(rows)]


def _opening(bags: list[list[int]], n: int) -> tuple[Block, ...]:
    lines = [
        [
            math(b + 1),
            ", ".join(str(i + 1) for i in sorted(bag)),
            ", ".join(str(i + 1) for i in range(n) if i not in bag) or "none",
        ]
        for b, bag in enumerate(bags)
    ]
    chance = (1 - Rational(1, n)) ** n
    return (
        sentence(
            f"Each tree is grown on a bag: {n} rows drawn from the {n} with replacement. A row misses a bag with the "
            "probability ",
            math(_power(n), "≈", Words(f"{float(chance):.3f}")),
            ", and the trees whose bags it misses have never seen it: they test it for free.",
        ),
        table(["bag", "rows drawn", "rows left out"], lines, caption="The bags"),
    )


def _power(n: int) -> Math:
    """Return ``(1 − 1/n)^n``."""
    return Script(fenced(math(1, "−", over(1, n))), None, math(n))


def _row_steps(
    outside: list[list[int]], says: list[list[Any]], target: list[Any], classes: list[Label]
) -> tuple[list[Step], dict[str, Any]]:
    return (_votes if classes else _means)(outside, says, target, classes)


def _votes(
    outside: list[list[int]], says: list[list[Any]], target: list[Any], classes: list[Label]
) -> tuple[list[Step], dict[str, Any]]:
    lines, wrong, asked = [], 0, 0
    for i, bags in enumerate(outside):
        votes = [sum(says[b][i] == c for b in bags) for c in classes]
        decided = classes[max(range(len(classes)), key=lambda k: (votes[k], -k))] if bags else None
        verdict = "" if decided is None else "right" if decided == target[i] else "wrong"
        asked, wrong = asked + bool(bags), wrong + (verdict == "wrong")
        answers = [str(says[b][i]) if b in bags else "" for b in range(len(says))]
        lines.append([math(i + 1), str(target[i]), *answers, "none" if decided is None else str(decided), verdict])
    head = ["row", "class", *(f"bag {b + 1}" for b in range(len(says))), "majority", ""]
    blocks: list[Block] = [
        sentence("Each row is put to the trees whose bags it misses. They vote; of tied classes the first wins:"),
        table(head, lines),
        *_unasked(len(outside) - asked),
        formula(Words("out-of-bag error"), "=", over(wrong, asked)),
        result(Words("out-of-bag score"), "=", Rational(asked - wrong, asked)),
    ]
    answer = {"wrong": wrong, "asked": asked, "oob_score_": Rational(asked - wrong, asked)}
    return [step("Ask the trees that have not seen the row", *blocks)], answer


def _means(
    outside: list[list[int]], says: list[list[Any]], target: list[Any], _classes: list[Any]
) -> tuple[list[Step], dict[str, Any]]:
    means = [
        sum((says[b][i] for b in bags), Rational(0)) / len(bags) if bags else None for i, bags in enumerate(outside)
    ]
    squares = [(y - mean) ** 2 for y, mean in zip(target, means, strict=True) if mean is not None]
    head = ["row", math("y"), *(f"bag {b + 1}" for b in range(len(says))), "mean", "squared"]

    def listed(told: Callable[[Any], Any]) -> Block:
        lines = []
        for i, (y, mean) in enumerate(zip(target, means, strict=True)):
            answers = [told(says[b][i]) if b in outside[i] else "" for b in range(len(says))]
            last = ["none", ""] if mean is None else [told(mean), told((y - mean) ** 2)]
            lines.append([math(i + 1), told(y), *answers, *last])
        return table(head, lines)

    blocks: list[Block] = [
        sentence("Each row is put to the trees whose bags it misses; the mean of their answers is compared with y:"),
        listed(_three_digits),
        *_unasked(len(outside) - len(squares)),
        result(Words("out-of-bag mean squared error"), "=", sum(squares) / len(squares)),
    ]
    answer = {"asked": len(squares), "squared_error": sum(squares) / len(squares)}
    if len(squares) == len(target):
        answer["oob_prediction_"] = means
    return [step("Ask the trees that have not seen the row", *blocks)], answer


def _three_digits(value: Any) -> Math:
    """Return a number as it is if it is short, else its first three digits."""
    exact = typed(value)
    return exact if len("".join(exact.spelling)) <= SHORT else Words(f"{float(value):.3g}".replace("-", "−"))


def _unasked(n: int) -> list[Block]:
    if n == 0:
        return []
    return [
        remark(f"{n} row{' is' if n == 1 else 's are'} in every bag, so nobody can be asked: more trees would help.")
    ]
