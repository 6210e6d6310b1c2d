"""Method cards of linear regression and basis expansion."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import ANY_SPARSE, MOMENTS, NUMBERS, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.plain import Live, Nothing, Optional, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, MAYBE_WHOLE, NONNEGATIVE
from pellucid.linear_model.least_squares.basis_expansion import BasisExpansion
from pellucid.linear_model.least_squares.linear_regression import LinearRegression
from pellucid.linear_model.linear_kinds import INFERENCE, LINE


def _rules(estimator: Any) -> InputRules:
    formats = () if estimator.positive else ANY_SPARSE
    return InputRules(NUMBERS, several_targets=True, sparse=formats, looks_for_nan=False, blocks=MOMENTS)


CARDS = (
    MethodCard(
        LinearRegression,
        topics=("LIN-1",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        workings="pellucid.linear_model.least_squares.linear_regression_workings:linear_regression_workings",
        parameters={
            "tol": NONNEGATIVE,
            "fit_intercept": FLAG,
            "copy_X": FLAG,
            "n_jobs": MAYBE_WHOLE,
            "positive": FLAG,
        },
        attributes={**LINE, **INFERENCE, "rank_": Optional(COUNT), "singular_": Optional(Numbers((None,)))},
        input=_rules,
        variants=({"fit_intercept": False}, {"positive": True}),
        meaning="no other coefficients fit these rows better, up to rounding",
        take_for="more rows than columns, an effect for each column, and its standard error",
        references=(
            "Hastie, Tibshirani and Friedman, Elements of Statistical Learning, section 3.2, Springer 2009",
            "Golub and Van Loan, Matrix Computations, chapter 5, Johns Hopkins 2013",
        ),
    ),
    MethodCard(
        BasisExpansion,
        topics=("LIN-5",),
        onnx="pellucid.linear_model.least_squares.basis_in_onnx:expanded",
        asks=lambda model, data: {"expanded": model._expand(data.X, model.powers_)},
        parameters={
            "degree": COUNT,
            "functions": Nothing() | Live("a list of functions", lambda value: hasattr(value, "__len__")),
            "include_bias": FLAG,
            "interaction_only": FLAG,
        },
        attributes={
            "powers_": Numbers(("n_outputs", "n_features"), WHOLES, low=0),
            "n_output_features_": Whole(low=1, size="n_outputs"),
        },
        input=InputRules(),
        variants=({"degree": 3, "interaction_only": True, "include_bias": True},),
        take_for="a curve or a surface by a linear model: polynomials, or functions of your own",
        references=("Hastie, Tibshirani and Friedman, Elements of Statistical Learning, chapter 5, Springer 2009",),
    ),
)
