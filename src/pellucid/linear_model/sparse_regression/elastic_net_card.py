"""Method cards of the lasso, the elastic net and their cross-validated forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.cards import GAP_UP_TO_ROUNDING, WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import ANY_SPARSE, FOLD_MOMENTS, MOMENTS, NUMBERS, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Number, OneOf, Optional, Real, Whole
from pellucid.core.kinds.usual import (
    A_LIST,
    COUNT,
    FLAG,
    FOLDS,
    MAYBE_WHOLE,
    NONNEGATIVE,
    NUMBER,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.core.user_warnings import warn_user
from pellucid.linear_model.linear_kinds import COUNT_PER_TARGET, GRAM, LINE, PER_TARGET
from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet, Lasso
from pellucid.linear_model.sparse_regression.elastic_net_cv import ElasticNetCV, LassoCV

GRID = Items(NUMBER) | Numbers((None,), (*WHOLES, "float64", "float32")) | A_LIST
MIX = Number(low=0, high=1)
DESCENT: dict[str, Kind] = {
    "tol": NONNEGATIVE,
    "max_iter": Whole(low=1),
    "selection": OneOf(("cyclic", "random")),
    "fit_intercept": FLAG,
    "positive": FLAG,
    "copy_X": FLAG,
    "precompute": GRAM,
    "random_state": RANDOM_STATE,
}
SEARCH: dict[str, Kind] = {
    "eps": POSITIVE,
    "alphas": COUNT | GRID,
    **DESCENT,
    "cv": FOLDS,
    "verbose": VERBOSE,
    "n_jobs": MAYBE_WHOLE,
}
DESCENDED: dict[str, Kind | Optional] = {**LINE, "n_iter_": COUNT_PER_TARGET, "dual_gap_": PER_TARGET}
SEARCHED: dict[str, Kind | Optional] = {
    **DESCENDED,
    "alpha_": Real(),
    "alphas_": Numbers(("n_alphas",)) | Numbers(("n_ratios", "n_alphas")),
    "mse_path_": Numbers((None,)) | Numbers((None, None)) | Numbers((None, None, None)),  # squeezed
}


def _warn_of_no_penalty(estimator: Any) -> None:
    if estimator.alpha == 0:
        warn_user("alpha should be above 0, got 0. Without a penalty this is least squares: use LinearRegression.")


def _check_mixes(estimator: Any) -> None:
    for ratio in np.atleast_1d(getattr(estimator, "l1_ratio", 1.0)):
        if not MIX.fits(ratio):
            raise MIX.complaint("l1_ratio", ratio)


ONE: dict[str, Any] = {
    "attributes": DESCENDED,
    "check": _warn_of_no_penalty,
    "input": InputRules(NUMBERS, several_targets=True, sparse=ANY_SPARSE, blocks=MOMENTS),
    "unproved": {"dual_gap_": GAP_UP_TO_ROUNDING, "n_iter_": WORK_DONE},
}
SEVERAL: dict[str, Any] = {
    "check": _check_mixes,
    "input": replace(ONE["input"], blocks=FOLD_MOMENTS),
    "unproved": {
        "dual_gap_": GAP_UP_TO_ROUNDING,
        "n_iter_": WORK_DONE,
        "mse_path_": "errors on held-out rows: the folds are not fitted again",
    },
    "squares": frozenset({"alpha_", "alphas_"}),  # products of the units of X and y
    "tests": ("test_enet_cv",),
}
MANY = {"alpha": 0.01, "positive": True}
MEANING = "no other coefficients make error plus penalty smaller on these rows by more than the gap shown"

CARDS = (
    MethodCard(
        Lasso,
        topics=("LIN-3",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **ONE,
        workings="pellucid.linear_model.sparse_regression.lasso_workings:lasso_workings",
        parameters={"alpha": NONNEGATIVE, **DESCENT, "warm_start": FLAG},
        variants=({"alpha": 0.1, "fit_intercept": False}, MANY),
        rebuilt=frozenset({"l1_ratio"}),  # 1, as its constructor says
        tests=("test_lasso",),
        trial=Trial(own_floats={"dual_gap_": "a gap in float32 is rounding"}),
        meaning=MEANING,
        take_for="many columns, of which few are believed to matter",
        references=(
            "Tibshirani, Regression shrinkage and selection via the lasso, JRSS B 58 (1996)",
            ("Massias, Gramfort and Salmon, Celer: a fast solver for the lasso with dual extrapolation, ICML 2018"),
        ),
    ),
    MethodCard(
        ElasticNet,
        topics=("LIN-3",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **ONE,
        workings="pellucid.linear_model.sparse_regression.lasso_workings:elastic_net_workings",
        parameters={"alpha": NONNEGATIVE, "l1_ratio": MIX, **DESCENT, "warm_start": FLAG},
        variants=({"alpha": 0.1, "l1_ratio": 0.0}, MANY),
        trial=Trial(own_floats={"dual_gap_": "a gap in float32 is rounding"}),
        meaning=MEANING,
        take_for="few columns that matter, of which those that go together should stay together",
        references=("Zou and Hastie, Regularization and variable selection via the elastic net, JRSS B 67 (2005)",),
    ),
    MethodCard(
        LassoCV,
        topics=("LIN-3",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **SEVERAL,
        workings="pellucid.linear_model.sparse_regression.lasso_cv_workings:lasso_cv_workings",
        parameters=SEARCH,
        attributes=SEARCHED,
        rebuilt=frozenset({"l1_ratio"}),
        variants=({"alphas": [0.1, 0.01], "cv": 2},),
        trial=Trial(
            settings={"alphas": 20, "cv": 3},
            by_hand={"alphas": [1, 0.5], "cv": 2},
            rows=8,
            columns=3,
            own_floats=dict.fromkeys(("dual_gap_", "mse_path_"), "a gap in float32 is rounding"),
        ),
        meaning=MEANING,
        take_for="the lasso, where the penalty is to be chosen by held-out folds",
        references=(
            "Tibshirani, Regression shrinkage and selection via the lasso, JRSS B 58 (1996)",
            (
                "Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via "
                "coordinate descent, JSS 33 (2010)"
            ),
        ),
    ),
    MethodCard(
        ElasticNetCV,
        topics=("LIN-3",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **SEVERAL,
        parameters={"l1_ratio": NUMBER | GRID, **SEARCH},
        attributes={**SEARCHED, "l1_ratio_": NUMBER},
        variants=({"l1_ratio": [0.5, 0.9], "alphas": 5},),
        trial=Trial(
            settings={"alphas": 20, "cv": 3},
            own_floats=dict.fromkeys(("dual_gap_", "mse_path_"), "a gap in float32 is rounding"),
        ),
        meaning=MEANING,
        take_for="the elastic net, where penalty and mixture are to be chosen by held-out folds",
        references=(
            "Zou and Hastie, Regularization and variable selection via the elastic net, JRSS B 67 (2005)",
            (
                "Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via "
                "coordinate descent, JSS 33 (2010)"
            ),
        ),
    ),
)
