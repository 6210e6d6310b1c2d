"""A search for columns by hand: every set that is tried, the score of each fold in fractions, and what is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv
from sympy import Matrix, Rational

from pellucid.core.types import Array, Data
from pellucid.feature_selection.search.feature_search import FeatureSearch, run_search
from pellucid.feature_selection.search.search_rules import (
    chosen_set,
    holds_numbers,
    is_floating,
    mean_scores,
    standard_errors,
    starts_from_all,
)
from pellucid.show.document import Block, Document, Step, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data
from pellucid.show.notation import Math, math

if TYPE_CHECKING:
    from pellucid.feature_selection.search.floating_selector import FloatingSelector
    from pellucid.feature_selection.search.sequential_feature_selector import SequentialFeatureSelector

MAX_ROWS, MAX_FEATURES, MOST_FOLDS = 12, 4, 4
SCORES = {None: "r2", "r2": "r2", "neg_mean_squared_error": "neg_mean_squared_error"}


def feature_search_workings(estimator: FloatingSelector | SequentialFeatureSelector, X: Data, y: Data) -> Document:
    """Show the search of least squares on a few rows and columns."""
    score = _scored_by_hand(estimator, y)
    data = exact_data(X, y, max_rows=MAX_ROWS, max_features=MAX_FEATURES)
    lines = _ExactLines(data, _folds(estimator, data, score), score, _has_intercept(estimator.estimator))
    search = FeatureSearch(lines, data.n_features, from_all=starts_from_all(estimator))
    chosen = run_search(search, estimator)
    steps = (
        _folds_step(lines),
        *_search_steps(search, lines, data, np.full(data.n_features, starts_from_all(estimator))),
        _choice_step(estimator, search, data, chosen),
    )
    exact = [lines.known[mask.tobytes()] for mask in search.sets]
    answer = {
        "support_": [bool(entry) for entry in chosen],
        "fold_scores_": [list(scores) for scores in exact],
        "path_": list(search.path),
    }
    opening: list[Block] = [
        sentence(
            "Which columns should a least-squares line use? Sets of columns are compared by lines that are fitted to "
            "some rows and asked about the others, one column more or one less at a time."
        ),
        *data.opening(),
    ]
    return Document("Search for columns", tuple(opening), steps, answer)


class _ExactLines:
    """Scores sets of columns as the search asks for them, in fractions, and keeps them."""

    def __init__(self, data: ExactData, folds: list[tuple[Array, Array]], score: str, has_intercept: bool) -> None:
        self.data, self.folds, self.score, self.has_intercept = data, folds, score, has_intercept
        self.known: dict[bytes, list[Rational]] = {}

    def of_set(self, mask: Array) -> Array:
        columns = [int(j) for j in np.flatnonzero(mask)]
        scores = [self._scored(columns, train.tolist(), test.tolist()) for train, test in self.folds]
        self.known[mask.tobytes()] = scores
        return np.array([float(score) for score in scores])

    def of_moves(self, mask: Array, features: Array) -> Array:
        found = []
        for feature in features:
            moved = mask.copy()
            moved[feature] = not mask[feature]
            found.append(self.of_set(moved))
        return np.array(found)

    def _scored(self, columns: list[int], train: list[int], test: list[int]) -> Rational:
        X, y = self.data.X.extract(train, columns), self.data.y.extract(train, [0])
        means = [sum(X.col(j), Rational(0)) / X.rows if self.has_intercept else Rational(0) for j in range(X.cols)]
        middle = sum(y, Rational(0)) / X.rows if self.has_intercept else Rational(0)
        centered = Matrix(X.rows, X.cols, lambda i, j: X[i, j] - means[j])
        w = centered.pinv() * y.applyfunc(lambda entry: entry - middle)  # the shortest, where several are as good
        asked, truth = self.data.X.extract(test, columns), self.data.y.extract(test, [0])
        fitted = Matrix(len(test), len(columns), lambda i, j: asked[i, j] - means[j]) * w
        left = [truth[i] - middle - fitted[i] for i in range(len(test))]
        squares = sum((entry**2 for entry in left), Rational(0))
        if self.score != "r2":
            return -squares / len(test)
        own = sum(truth, Rational(0)) / len(test)
        return 1 - squares / sum(((entry - own) ** 2 for entry in truth), Rational(0))


def _scored_by_hand(estimator: FloatingSelector | SequentialFeatureSelector, y: Data) -> str:
    model = estimator.estimator
    if model is None and not holds_numbers(y):
        raise ValueError(
            "y must be numbers to show the work of a search without an estimator, got labels. Give some of them "
            "decimals, or pass estimator=LinearRegression()."
        )
    if model is not None and type(model).__name__ != "LinearRegression":
        raise ValueError(
            f"estimator must be None or a LinearRegression to show the work, got {type(model).__name__}. The search "
            "itself is the same for every estimator."
        )
    if not (estimator.scoring is None or estimator.scoring in ("r2", "neg_mean_squared_error")):
        raise ValueError(
            f"scoring must be None, 'r2' or 'neg_mean_squared_error' to show the work, got {estimator.scoring!r}."
        )
    return SCORES[estimator.scoring]


def _has_intercept(model: Any) -> bool:
    return model is None or bool(model.fit_intercept)


def _folds(
    estimator: FloatingSelector | SequentialFeatureSelector, data: ExactData, score: str
) -> list[tuple[Array, Array]]:
    """Return the folds; with R2 each needs test rows whose targets differ."""
    rows = np.zeros((data.n_samples, 1))
    folds = list(check_cv(estimator.cv).split(rows))
    if len(folds) > MOST_FOLDS:
        raise ValueError(f"cv must be at most {MOST_FOLDS} folds to show the work, got {len(folds)}. Ask for fewer.")
    for _, test in folds:
        if score == "r2" and len({data.y[int(i)] for i in test}) < 2:
            raise ValueError(
                "cv must leave test rows with different targets for R2, got a fold with one. Ask for fewer folds, or "
                "score by neg_mean_squared_error."
            )
    return folds


def _named(data: ExactData, mask: Array) -> Math:
    """Return the columns of a set, by their symbols."""
    chosen = [int(j) for j in np.flatnonzero(mask)]
    return math(*(part for i, j in enumerate(chosen) for part in ([","] if i else []) + [data.symbol("x", j)]))


def _folds_step(lines: _ExactLines) -> Step:
    listed = [[math(k + 1), _rows(train), _rows(test)] for k, (train, test) in enumerate(lines.folds)]
    if lines.score == "r2":
        said = (
            "The score of a fold is 1 less the squared errors on its test rows in parts of the squares about the mean."
        )
    else:
        said = "The score of a fold is minus the mean squared error on its test rows."
    return step(
        "Cut the rows into folds",
        table(["fold", "fitted to rows", "asked about rows"], listed),
        sentence(said + " The score of a set is the mean over the folds."),
    )


def _rows(rows: Array) -> str:
    return ", ".join(str(int(i) + 1) for i in rows)


def _search_steps(search: FeatureSearch, lines: _ExactLines, data: ExactData, before: Array) -> list[Step]:
    """Return a step for each move, with the sets that were compared; ``before`` is where the search starts."""
    found = []
    for place in search.path:
        after = search.sets[place]
        adding = bool(after.sum() > before.sum())
        feature = int(np.argmax(after != before))
        compared = [_moved(before, int(j)) for j in np.flatnonzero(before != adding)]
        word = "Add" if adding else "Remove"
        found.append(
            step(
                f"{word} a column",
                _scores_table(compared, lines, data),
                sentence(
                    f"{word} ", data.symbol("x", feature), ": the best set of these is ", _named(data, after), "."
                ),
            )
        )
        before = after
    return found


def _moved(mask: Array, feature: int) -> Array:
    moved = mask.copy()
    moved[feature] = not mask[feature]
    return moved


def _scores_table(sets: list[Array], lines: _ExactLines, data: ExactData) -> Block:
    exact = [lines.known[mask.tobytes()] for mask in sets]
    rows = [
        [_named(data, mask), *scores, sum(scores, Rational(0)) / len(scores)]
        for mask, scores in zip(sets, exact, strict=True)
    ]
    return table(["set", *(f"fold {k + 1}" for k in range(len(lines.folds))), "mean"], rows)


def _choice_step(
    estimator: FloatingSelector | SequentialFeatureSelector, search: FeatureSearch, data: ExactData, chosen: Array
) -> Step:
    """Return the step that says which set is taken, and why."""
    wanted = estimator.n_features_to_select if is_floating(estimator) else "end"
    blocks: list[Block] = []
    if wanted == "one-standard-error":
        scores = np.array(search.fold_scores)
        top = chosen_set(search.visited, scores, "best")
        low = float(mean_scores(scores[[top]])[0] - standard_errors(scores[[top]])[0])
        blocks.append(
            sentence(
                "The best set of all is ", _named(data, search.sets[top]), ". Its mean less its standard error, the "
                f"deviation of its folds over the root of their number, is {low:.4g}. "
                "The best set of the smallest size at which one reaches that:",
            )
        )  # fmt: skip
    else:
        said = {"best": "The set with the best mean of all that were tried:", "end": "Where the search ends:"}
        blocks.append(sentence(said.get(str(wanted), f"The best set of {chosen.sum()} columns that was tried:")))
    if not search.path:
        blocks.append(remark("No step was needed."))
    return step("Choose", *blocks, result(_named(data, chosen)))
