"""Method cards of filters and of searches for features."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import get_scorer_names

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.files.registry import Model
from pellucid.core.input_rules import CATEGORIES, MOMENTS
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Text, Whole
from pellucid.core.kinds.usual import FOLDS, MAYBE_WHOLE
from pellucid.core.types import Array
from pellucid.feature_selection.filters.column_codes import FilterInput
from pellucid.feature_selection.filters.mrmr import MRMR
from pellucid.feature_selection.filters.select_top import SelectTop
from pellucid.feature_selection.search.floating_selector import FloatingSelector
from pellucid.feature_selection.search.fold_scores import LINES, FoldScores, asked_estimator
from pellucid.feature_selection.search.selecting import search_input
from pellucid.feature_selection.search.sequential_feature_selector import SequentialFeatureSelector
from pellucid.proofs.feature_selection.feature_search import LINE_SCORES, LineScores
from pellucid.proofs.sampling import drawn
from pellucid.proofs.training_data import TrainingData

WIDE = ("float64",)

PLACES = ("int64",)

MASK = Numbers(("n_features",), ("bool",))

MOST_SETS = 30

MOST_RIVALS = 100
"""Sets of the path that verify scores again, as many of all, and rivals of the last."""

OTHER_FOLDS = "Nothing is claimed about the scores: the folds are drawn anew each time, or cannot be had again."

OTHER_SCORES = "Nothing is claimed about the scores: the estimator draws at random without a seed."


def _scored_again(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return fold scores of some sets by plain fits, or why they cannot be compared."""
    asked = asked_estimator(model.estimator, data.y)
    plain = FoldScores(asked, data.X, data.y, model)
    if not _same_folds(plain.folds, FoldScores(asked, data.X, data.y, model).folds):
        return {"scored_again": {}, "cannot_score": OTHER_FOLDS}
    n_sets = min(len(model.visited_), len(model.fold_scores_))
    path = model.path_[(model.path_ >= 0) & (model.path_ < n_sets)]
    on_path = path[drawn(len(path), MOST_SETS, always=[len(path) - 1])]
    places = reduce(np.union1d, (on_path, _rivals_of_the_last(model, path), drawn(n_sets, MOST_SETS))).astype(int)
    line = _line_scores(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that fail or do not converge: the search has told
        found = {}
        for place in places[model.visited_[places].any(axis=1)].tolist():
            scores = None if line is None else line.of_set(model.visited_[place])
            found[place] = plain.of_set(model.visited_[place]) if scores is None else scores
        is_random = _draws_without_seed(asked) and any(
            not np.array_equal(scores, plain.of_set(model.visited_[place]), equal_nan=True)
            for place, scores in list(found.items())[:1]
        )
    return (
        {"scored_again": {}, "cannot_score": OTHER_SCORES} if is_random else {"scored_again": found, "cannot_score": ""}
    )


def _line_scores(plain: FoldScores) -> LineScores | None:
    """Return what scores a line on dense numbers; None for other estimators, scores and data."""
    model, X, y = plain.estimator, plain.X, np.asarray(plain.y)
    is_line = type(model) in LINES and not model.positive and plain.scoring in LINE_SCORES
    if not is_line or sparse.issparse(X) or y.ndim != 1 or y.dtype.kind not in "iuf":
        return None
    return LineScores(np.asarray(X), y, plain.folds, plain.scoring, intercept=bool(model.fit_intercept))


def _rivals_of_the_last(model: Any, path: Array) -> Array:
    """Return some of the sets one move away from the last one but one, among which the last step chose."""
    if len(path) < 2:
        return path
    moved = (model.visited_ != model.visited_[path[-2]]).sum(axis=1)
    rivals = np.flatnonzero(moved[: len(model.fold_scores_)] == 1)
    return rivals[drawn(len(rivals), MOST_RIVALS)]


def _same_folds(folds: list[tuple[Array, Array]], others: list[tuple[Array, Array]]) -> bool:
    """Return whether the same rows are tested and trained on, in folds that are there."""
    pairs = zip(folds, others, strict=False)
    same = len(folds) == len(others) > 0
    return same and all(np.array_equal(a, b) for one, other in pairs for a, b in zip(one, other, strict=True))


def _draws_without_seed(estimator: Any) -> bool:
    return any(name.endswith("random_state") and value is None for name, value in estimator.get_params().items())


def _check_tol(selector: Any) -> None:
    if selector.tol is not None and selector.tol < 0 and selector.direction == "forward":
        raise ValueError(f"tol must be strictly positive when doing forward selection, got {selector.tol}.")


def _check_rounds(selector: Any) -> None:
    if selector.direction == "add-remove" and selector.add == selector.remove:
        raise ValueError(f"add must differ from remove, got {selector.add} for both: the search would go in circles.")


class ScoreName(Text):
    """The name of one of scikit-learn's scores."""

    says = "the name of a score"

    def fits(self, value: Any) -> bool:
        """Return whether scikit-learn has a score of this name."""
        return super().fits(value) and value in get_scorer_names()


PART = Number(above=0.0, high=1.0)

SHARED: dict[str, Kind] = {
    "estimator": Nothing() | Model() | Live("an estimator", lambda value: hasattr(value, "fit")),
    "scoring": Nothing() | ScoreName() | Live("a function"),
    "cv": FOLDS,
}

FITTED: dict[str, Kind] = {
    "support_": Numbers(("n_features",), ("bool",)),
    "n_features_to_select_": Whole(low=0),
    "visited_": Numbers(("n_sets", "n_features"), ("bool",)),
    "fold_scores_": Numbers(("n_sets", "n_folds"), ("float64",), finite=False),
    "path_": Numbers((None,), ("int64",), low=0),
    "n_iter_": Whole(low=0),
}

CARDS = (
    MethodCard(
        SelectTop,
        topics=("SEL-2",),
        onnx="pellucid.feature_selection.selections_in_onnx:chosen",
        workings="pellucid.feature_selection.filters.select_top_workings:select_top_workings",
        parameters={
            "k": OneOf(("all",)) | Whole(low=1),
            "measure": OneOf(("mutual_information", "correlation")),
            "n_bins": Whole(low=2),
            "level": Number(above=0.0, below=1.0),
        },
        attributes={
            "scores_": Numbers(("n_features",), WIDE, low=0.0),
            "intervals_": Numbers(("n_features", 2), WIDE, low=0.0),
            "pvalues_": Numbers(("n_features",), WIDE, low=0.0),
            "ranking_": Numbers(("n_features",), PLACES, low=0),
            "support_": MASK,
        },
        input=lambda estimator: FilterInput(blocks=MOMENTS if estimator.measure == "correlation" else CATEGORIES),
        variants=({"k": 2, "n_bins": 4}, {"k": 2, "measure": "correlation"}),
        take_for="very many columns, and a quick look at each by itself",
        references=("Guyon and Elisseeff, An introduction to variable and feature selection, JMLR 3 (2003)",),
    ),
    MethodCard(
        MRMR,
        topics=("SEL-2",),
        onnx="pellucid.feature_selection.selections_in_onnx:chosen",
        workings="pellucid.feature_selection.filters.mrmr_workings:mrmr_workings",
        parameters={
            "k": Whole(low=1),
            "criterion": OneOf(("difference", "quotient")),
            "n_bins": Whole(low=2),
        },
        attributes={
            "order_": Numbers(("n_chosen",), PLACES, low=0),
            "relevance_": Numbers(("n_features",), WIDE, low=0.0),
            "redundancy_": Numbers(("n_features", "n_chosen"), WIDE, low=0.0),
            "support_": MASK,
        },
        input=FilterInput(),
        variants=({"k": 2, "n_bins": 4}, {"k": 3, "criterion": "quotient"}),
        take_for="columns that repeat each other, of which few are to stay",
        references=("Peng, Long and Ding, Feature selection based on mutual information, IEEE PAMI 27 (2005)",),
    ),
    MethodCard(
        FloatingSelector,
        topics=("SEL-1",),
        onnx="pellucid.feature_selection.selections_in_onnx:chosen",
        workings="pellucid.feature_selection.search.feature_search_workings:feature_search_workings",
        asks=_scored_again,
        check=_check_rounds,
        parameters={
            **SHARED,
            "n_features_to_select": OneOf(("best", "one-standard-error")) | Whole(low=1) | PART,
            "direction": OneOf(("forward", "backward", "add-remove", "floating", "floating-backward")),
            "add": Whole(low=0),
            "remove": Whole(low=0),
            "max_features": Nothing() | Whole(low=1),
        },
        attributes=FITTED,
        input=search_input,
        variants=({"direction": "add-remove", "n_features_to_select": 2, "cv": 3},),
        trial=Trial(
            settings={"cv": 2},
            by_hand={"cv": 2},
        ),
        take_for="few columns for one given estimator, and the time to fit it many times",
        references=(
            (
                "Pudil, Novovičová and Kittler, Floating search methods in feature selection, Pattern "
                "Recognition Letters 15 (1994)"
            ),
        ),
    ),
    MethodCard(
        SequentialFeatureSelector,
        topics=("SEL-1",),
        onnx="pellucid.feature_selection.selections_in_onnx:chosen",
        workings="pellucid.feature_selection.search.feature_search_workings:feature_search_workings",
        asks=_scored_again,
        check=_check_tol,
        parameters={
            **SHARED,
            "n_features_to_select": OneOf(("auto",)) | Whole(low=1) | PART,
            "tol": Nothing() | Number(),
            "direction": OneOf(("forward", "backward")),
            "n_jobs": MAYBE_WHOLE,
        },
        attributes=FITTED,
        input=search_input,
        variants=({"direction": "backward", "n_features_to_select": 3, "cv": 3},),
        trial=Trial(
            settings={"cv": 2},
            by_hand={"cv": 2},
            unlike_peer="its folds need more rows",
            needs_library="the model that it asks is fitted again",
        ),
        take_for="few columns for one given estimator, added or dropped one by one",
        references=("Whitney, A direct method of nonparametric measurement selection, IEEE Computers C-20 (1971)",),
    ),
)
