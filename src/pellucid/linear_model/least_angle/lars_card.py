"""Method cards of least angle regression and its lasso."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import MOMENTS, NUMBERS, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Nothing, Optional, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, NONNEGATIVE, RANDOM_STATE, VERBOSE
from pellucid.linear_model.least_angle.lars import Lars, LassoLars
from pellucid.linear_model.linear_kinds import COUNT_PER_TARGET, GRAM, LINE

WALK: dict[str, Kind] = {
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "fit_path": FLAG,
    "verbose": VERBOSE,
    "precompute": Nothing() | GRAM,
    "eps": NONNEGATIVE,
    "jitter": Nothing() | NONNEGATIVE,
    "random_state": RANDOM_STATE,
}
KNOTS = Numbers((None,))
WALKED: dict[str, Kind | Optional] = {
    **LINE,
    "n_iter_": COUNT_PER_TARGET,
    "alphas_": KNOTS | Items(KNOTS),
    "active_": Optional(Items(COUNT | Items(COUNT))),
    "coef_path_": Optional(Numbers(("n_features", None)) | Items(Numbers(("n_features", None)))),
}


def _rules(estimator: Any) -> InputRules:
    """Return the rules for the data; noise is drawn for each row, so that rows in blocks cannot have it."""
    blocks = MOMENTS if estimator.jitter is None else ""
    return InputRules(NUMBERS, several_targets=True, weights=False, blocks=blocks)


SHARED: dict[str, Any] = {
    "topics": ("LIN-3",),
    "attributes": WALKED,
    "input": _rules,
    "unproved": {"n_iter_": WORK_DONE},
    "squares": frozenset({"alphas_"}),  # products of the units of X and y
    "tests": ("test_lars",),
}
CARDS = (
    MethodCard(
        Lars,
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **SHARED,
        workings="pellucid.linear_model.least_angle.lars_workings:lars_workings",
        parameters={"n_nonzero_coefs": Whole(low=1), **WALK},
        variants=({"n_nonzero_coefs": 2}, {"fit_path": False, "fit_intercept": False}),
        take_for="the order in which columns enter a linear model",
        references=("Efron, Hastie, Johnstone and Tibshirani, Least angle regression, Annals of Statistics 32 (2004)",),
    ),
    MethodCard(
        LassoLars,
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        **SHARED,
        workings="pellucid.linear_model.least_angle.lars_workings:lasso_lars_workings",
        parameters={"alpha": NONNEGATIVE, "max_iter": COUNT, "positive": FLAG, **WALK},
        variants=({"alpha": 0.01}, {"alpha": 0.1, "positive": True, "fit_path": False}),
        meaning="no other coefficients make error plus penalty smaller on these rows by more than the gap shown",
        take_for="the whole path of the lasso with its breakpoints, for few hundred columns",
        references=("Efron, Hastie, Johnstone and Tibshirani, Least angle regression, Annals of Statistics 32 (2004)",),
    ),
)
