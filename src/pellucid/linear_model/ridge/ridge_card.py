"""Method cards of ridge regression, its classifier and its choice of penalty."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from pellucid.core.cards import SOLVER_THAT_RAN, WORK_DONE, MethodCard, Trial
from pellucid.core.checks import check_nonnegative, check_positive
from pellucid.core.input_rules import ANY_SPARSE, FOLD_MOMENTS, MOMENTS, NUMBERS, PASSES, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, OneOf, Optional, Text, Whole
from pellucid.core.kinds.usual import A_LIST, CLASS_WEIGHT, FLAG, FOLDS, LABELS, NONNEGATIVE, NUMBER, RANDOM_STATE
from pellucid.core.linear_classifier import LabelSetRules
from pellucid.core.types import Array
from pellucid.linear_model.linear_kinds import COUNT_PER_TARGET, INFERENCE, LINE, PER_TARGET
from pellucid.linear_model.ridge.ridge import SOLVERS, Ridge, check_ridge_combination
from pellucid.linear_model.ridge.ridge_classifier import RidgeClassifier
from pellucid.linear_model.ridge.ridge_cv import RidgeCV
from pellucid.linear_model.ridge.ridge_cv_solvers import GivenPredictions
from pellucid.proofs.training_data import TrainingData


def _folds_and_scorer(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return what scikit-learn knows of a search: its folds, None where they are drawn anew at each use, and scores."""
    if model.cv is None and model.scoring is None:
        return {}
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import PredefinedSplit, check_cv

    scorer = check_scoring(estimator=GivenPredictions(), scoring=model.scoring)
    takes = getattr(scorer, "_accept_sample_weight", lambda: "sample_weight" in signature(scorer).parameters)()

    def score(predicted: Array, y: Array, weight: Array | None) -> float:
        options = {"sample_weight": weight} if takes and weight is not None else {}
        return float(scorer(GivenPredictions(), predicted, y, **options))

    if data.folds is not None:
        return {"score": score, "folds": list(PredefinedSplit(data.folds).split())}
    is_drawn = getattr(model.cv, "random_state", 0) is None and getattr(model.cv, "shuffle", True)
    has_folds = model.cv is not None and not is_drawn and not hasattr(model.cv, "__next__")
    return {"score": score, "folds": list(check_cv(model.cv).split(*data.given[:2])) if has_folds else None}


GRID = Items(NUMBER) | Numbers((None,), (*WHOLES, "float64", "float32")) | A_LIST
RIDGE: dict[str, Kind] = {
    "tol": NONNEGATIVE,
    "max_iter": Nothing() | Whole(low=1),
    "solver": OneOf(("auto", *SOLVERS)),
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "positive": FLAG,
    "random_state": RANDOM_STATE,
}
FITTED: dict[str, Kind | Optional] = {**LINE, **INFERENCE, "n_iter_": COUNT_PER_TARGET, "solver_": Text()}
UNPROVED = {"n_iter_": WORK_DONE, "solver_": SOLVER_THAT_RAN}
NUMERIC = InputRules(NUMBERS, several_targets=True, sparse=ANY_SPARSE)


SCORES_BY_SQUARES = (None, "r2", "neg_mean_squared_error")
"""What the moments of a fold tell of predictions for its rows."""


def _search_rules(estimator: Any) -> InputRules:
    """Return the rules for the data; rows in blocks are scored by squares, and their left-out errors are not kept."""
    if estimator.cv is not None:
        is_text = estimator.scoring is None or isinstance(estimator.scoring, str)
        return replace(NUMERIC, blocks=FOLD_MOMENTS if is_text and estimator.scoring in SCORES_BY_SQUARES else "")
    return replace(NUMERIC, blocks=PASSES if estimator.scoring is None and not estimator.store_cv_results else "")


def _check_search(estimator: Any) -> None:
    alphas = np.atleast_1d(np.asarray(estimator.alphas)).ravel()
    if len(alphas) == 0:
        raise ValueError("alphas must hold at least one value, got none. Give for example np.logspace(-3, 3, 13).")
    check = check_positive if estimator.cv is None else check_nonnegative
    for index, value in enumerate(alphas.tolist()):
        check(**{f"alphas[{index}]": value})
    for name in ("store_cv_results", "alpha_per_target"):
        if estimator.cv is not None and getattr(estimator, name):
            raise ValueError(
                f"{name} must be False when cv is given, got True. Leave cv out: cv!=None and {name}=True are "
                "incompatible."
            )


MEANING = "no other coefficients make squared error plus penalty smaller on these rows, up to rounding"

CARDS = (
    MethodCard(
        Ridge,
        topics=("LIN-2",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        workings="pellucid.linear_model.ridge.ridge_workings:ridge_workings",
        parameters={**RIDGE, "alpha": NONNEGATIVE | Numbers(("n_targets",)) | A_LIST},
        check=check_ridge_combination,
        attributes=FITTED,
        input=replace(NUMERIC, looks_for_nan=False, blocks=MOMENTS),
        variants=({"solver": "lsqr", "tol": 1e-10}, {"alpha": 0.1, "fit_intercept": False}, {"positive": True}),
        unproved=UNPROVED,
        meaning=MEANING,
        take_for="columns that go together, or more columns than rows, all of which may matter a little",
        references=("Hoerl and Kennard, Ridge regression, Technometrics 12 (1970)",),
    ),
    MethodCard(
        RidgeClassifier,
        topics=("LIN-6",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:scores",
        workings="pellucid.linear_model.ridge.ridge_workings:ridge_classifier_workings",
        parameters={**RIDGE, "alpha": NONNEGATIVE, "class_weight": CLASS_WEIGHT},
        check=check_ridge_combination,
        attributes={**FITTED, "classes_": LABELS, "multilabel_": FLAG},
        input=lambda estimator: LabelSetRules(sparse=ANY_SPARSE, class_weight=estimator.class_weight, blocks=MOMENTS),
        variants=({"class_weight": "balanced"},),
        unproved=UNPROVED,
        meaning=MEANING,
        take_for="classes, where speed counts and probabilities do not",
        references=("Hoerl and Kennard, Ridge regression, Technometrics 12 (1970)",),
    ),
    MethodCard(
        RidgeCV,
        topics=("LIN-2",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        workings="pellucid.linear_model.ridge.ridge_cv_workings:ridge_cv_workings",
        asks=_folds_and_scorer,
        parameters={
            "alphas": NUMBER | GRID,
            "fit_intercept": FLAG,
            "scoring": Nothing() | Text() | Live("a scorer"),
            "cv": FOLDS,
            "gcv_mode": Nothing() | OneOf(("auto", "svd", "eigen")),
            "store_cv_results": FLAG,
            "alpha_per_target": FLAG,
        },
        check=_check_search,
        attributes={
            **LINE,
            **INFERENCE,
            "alpha_": NUMBER | Numbers(("n_targets",)),
            "best_score_": PER_TARGET,
            "cv_results_": Optional(Numbers((None, None)) | Numbers((None, None, None))),
        },
        input=_search_rules,
        passes="pellucid.linear_model.ridge.ridge_cv_passes:ridge_cv_in_passes",
        variants=({"alphas": (1e-3, 10.0), "store_cv_results": True}, {"cv": 3}),
        trial=Trial(rows=6),
        meaning=MEANING,
        take_for=(
            "ridge regression whose penalty is to be chosen by the errors of left-out rows, for the price of one fit"
        ),
        references=(
            (
                "Golub, Heath and Wahba, Generalized cross-validation as a method for choosing a good ridge parameter, "
                "Technometrics 21 (1979)"
            ),
        ),
    ),
)
