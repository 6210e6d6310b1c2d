"""The parameters of LinearSVC: what scikit-learn allows."""

from __future__ import annotations

from typing import Any

from pellucid.core.checks import check_one_of, check_positive, check_whole, is_number

DUALS = {("l2", "hinge"): (True,), ("l2", "squared_hinge"): (True, False), ("l1", "squared_hinge"): (False,)}
"""Penalty and loss -> the values of ``dual`` that LIBLINEAR has a solver for; 'auto' always finds one."""


def check_linear_svc_parameters(estimator: Any) -> None:
    """Refuse what scikit-learn refuses."""
    check_one_of(("l1", "l2"), penalty=estimator.penalty)
    check_one_of(("hinge", "squared_hinge"), loss=estimator.loss)
    check_one_of(("auto", True, False), dual=estimator.dual)
    check_positive(tol=estimator.tol, C=estimator.C)
    check_one_of(("ovr", "crammer_singer"), multi_class=estimator.multi_class)
    check_one_of((True, False), fit_intercept=estimator.fit_intercept)
    check_positive(intercept_scaling=estimator.intercept_scaling, hint="For no intercept use fit_intercept=False.")
    check_whole(low=0, max_iter=estimator.max_iter)
    if not isinstance(estimator.class_weight, dict):
        check_one_of(("balanced", None), class_weight=estimator.class_weight)
    if not (isinstance(estimator.verbose, bool) or (is_number(estimator.verbose) and estimator.verbose >= 0)):
        raise ValueError(f"verbose must be at least 0, got {estimator.verbose!r}. It prints nothing; see trace_.")
    _check_combination(estimator)


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
