"""Method cards of the linear support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import CLASSES, NUMBERS, PASSES, InputRules
from pellucid.core.kinds.arrays import Numbers, SparseRows
from pellucid.core.kinds.plain import Number, OneOf, Optional, Real
from pellucid.core.kinds.usual import CLASS_WEIGHT, COUNT, FLAG, LABELS, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.svm.linear_svc.linear_svc import LinearSVC
from pellucid.svm.linear_svc.linear_svr import LinearSVR

DUALS = {("l2", "hinge"): (True,), ("l2", "squared_hinge"): (True, False), ("l1", "squared_hinge"): (False,)}
"""Penalty and loss -> the values of ``dual`` that LIBLINEAR has a solver for; 'auto' always finds one."""


def _check_combination(estimator: Any) -> None:
    if estimator.multi_class == "crammer_singer":  # which has a penalty and a loss of its own
        return
    solved = DUALS.get((estimator.penalty, estimator.loss))
    if solved is None:
        raise ValueError(
            f"penalty must be 'l2' for loss='hinge', got {estimator.penalty!r}. Use loss='squared_hinge' for an l1 "
            "penalty."
        )
    if estimator.dual != "auto" and estimator.dual not in solved:
        raise ValueError(
            f"dual must be {solved[0]} or 'auto' for penalty={estimator.penalty!r} and loss={estimator.loss!r}, "
            f"got {estimator.dual!r}. Use 'auto'."
        )


def _check_regression(estimator: Any) -> None:
    if estimator.loss == "epsilon_insensitive" and estimator.dual not in ("auto", True):
        raise ValueError("dual must be True or 'auto' for loss='epsilon_insensitive', got False. Use 'auto'.")


def _input_rules(estimator: Any) -> InputRules:
    """Return the rules for the data: rows in blocks where the objective is smooth, and each class has its machine."""
    is_smooth = estimator.penalty == "l2" and estimator.loss == "squared_hinge" and estimator.multi_class == "ovr"
    blocks = PASSES if is_smooth else ""
    return InputRules(CLASSES, sparse=("csr",), dtypes=np.float64, order="C", blocks=blocks)


CARDS = (
    MethodCard(
        LinearSVC,
        topics=("CLS-5",),
        onnx="pellucid.core.onnx.linear_answers:scores",
        workings="pellucid.svm.linear_svc.linear_svc_workings:linear_svc_workings",
        parameters={
            "penalty": OneOf(("l1", "l2")),
            "loss": OneOf(("hinge", "squared_hinge")),
            "dual": OneOf(("auto",)) | FLAG,
            "tol": POSITIVE,
            "C": POSITIVE,
            "multi_class": OneOf(("ovr", "crammer_singer")),
            "fit_intercept": FLAG,
            "intercept_scaling": Number(above=0, hint="For no intercept use fit_intercept=False."),
            "max_iter": COUNT,
            "class_weight": CLASS_WEIGHT,
            "verbose": VERBOSE,
            "random_state": RANDOM_STATE,
        },
        check=_check_combination,
        attributes={
            "classes_": LABELS,
            "coef_": Numbers(("n_machines", "n_features"), ("float64",)) | SparseRows(("n_machines", "n_features")),
            "intercept_": Real() | Numbers(("n_machines",), ("float64",)),
            "dual_coef_": Optional(Numbers(("n_machines", None), ("float64",))),
            "n_iter_": COUNT,
        },
        input=_input_rules,
        passes="pellucid.svm.linear_svc.linear_svc_passes:linear_svc_in_passes",
        variants=(
            {"loss": "hinge", "class_weight": "balanced"},
            {"penalty": "l1", "fit_intercept": False},
            {"multi_class": "crammer_singer"},
        ),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(rows=6),
        meaning="no other line makes loss plus penalty smaller on these rows by more than the gap shown",
        take_for="very many columns, such as words, and no need for probabilities",
        references=(
            "Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995)",
            "Fan and others, LIBLINEAR: a library for large linear classification, JMLR 9 (2008)",
        ),
    ),
    MethodCard(
        LinearSVR,
        topics=("LIN-8",),
        onnx="pellucid.core.onnx.linear_answers:numbers",
        workings="pellucid.svm.svc.svr_workings:linear_svr_workings",
        parameters={
            "epsilon": NONNEGATIVE,
            "tol": POSITIVE,
            "C": POSITIVE,
            "loss": OneOf(("epsilon_insensitive", "squared_epsilon_insensitive")),
            "fit_intercept": FLAG,
            "intercept_scaling": Number(above=0, hint="For no intercept use fit_intercept=False."),
            "dual": OneOf(("auto",)) | FLAG,
            "verbose": VERBOSE,
            "random_state": RANDOM_STATE,
            "max_iter": COUNT,
        },
        check=_check_regression,
        attributes={
            "coef_": Numbers(("n_features",), ("float64",)),
            "intercept_": Real() | Numbers((None,), ("float64",)),
            "dual_coef_": Optional(Numbers((None,), ("float64",))),
            "n_iter_": COUNT,
        },
        input=InputRules(NUMBERS, sparse=("csr",), dtypes=np.float64, order="C"),
        variants=(
            {"loss": "squared_epsilon_insensitive", "epsilon": 0.1},
            {"epsilon": 0.2, "fit_intercept": False},
        ),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(rows=5),
        take_for="a line that far rows pull little, and small errors do not count",
        references=("Ho and Lin, Large-scale linear support vector regression, JMLR 13 (2012)",),
    ),
)
