"""Method cards of bridge regression and of sigmoid outputs fitted by squared error."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import ANY_SPARSE, MOMENTS, NUMBERS, InputRules
from pellucid.core.kinds.arrays import Numbers, SparseRows
from pellucid.core.kinds.plain import Number, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, LABELS, NONNEGATIVE, POSITIVE
from pellucid.core.linear_classifier import LabelSetRules
from pellucid.linear_model.bridge_regression import BridgeRegression
from pellucid.linear_model.linear_kinds import LINE
from pellucid.linear_model.regression_discriminant import RegressionDiscriminant

CARDS = (
    MethodCard(
        BridgeRegression,
        topics=("LIN-4",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:numbers",
        parameters={
            "alpha": Number(above=0, hint="For no penalty use LinearRegression."),
            "q": POSITIVE,
            "tol": POSITIVE,
            "max_iter": Whole(low=1),
            "fit_intercept": FLAG,
            "warm_start": FLAG,
        },
        attributes={**LINE, "n_iter_": COUNT},
        input=InputRules(NUMBERS, sparse=ANY_SPARSE, blocks=MOMENTS),
        variants=({"q": 0.5, "alpha": 0.1}, {"q": 1.0, "fit_intercept": False}),
        unproved={"n_iter_": WORK_DONE},
        take_for="penalties between and beyond lasso and ridge: fewer coefficients, shrunk less",
        references=(
            ("Frank and Friedman, A statistical view of some chemometrics regression tools, Technometrics 35 (1993)"),
            "Fu, Penalized regressions: the bridge versus the lasso, JCGS 7 (1998)",
        ),
    ),
    MethodCard(
        RegressionDiscriminant,
        topics=("CLS-2",),
        onnx="pellucid.core.onnx.linear_answers:one_against_rest",
        parameters={"alpha": NONNEGATIVE, "tol": POSITIVE, "fit_intercept": FLAG, "max_iter": Whole(low=1)},
        attributes={
            "classes_": LABELS,
            "multilabel_": FLAG,
            "coef_": Numbers(("n_outputs", "n_features")) | SparseRows(("n_outputs", "n_features")),
            "intercept_": Numbers(("n_outputs",)),
            "n_iter_": COUNT,
        },
        input=LabelSetRules(sparse=("csr",)),
        variants=({"alpha": 0.1, "fit_intercept": False},),
        unproved={"n_iter_": WORK_DONE},
        take_for="classes that do not exclude each other, or the comparison with logistic regression",
        references=("Bishop, Pattern Recognition and Machine Learning, chapter 4, Springer 2006",),
    ),
)
