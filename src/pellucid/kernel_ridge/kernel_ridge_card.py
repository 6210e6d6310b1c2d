"""Method cards of kernel ridge regression and its choice of penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.checks import check_nonnegative, check_positive
from pellucid.core.input_rules import NUMBERS
from pellucid.core.kinds.arrays import FLOATS, WHOLES, Numbers, SparseRows
from pellucid.core.kinds.collections import PLAIN, Items, Lookup
from pellucid.core.kinds.plain import Kind, Nothing, Number, Optional, Real
from pellucid.core.kinds.usual import A_LIST, FLAG, NONNEGATIVE, NUMBER
from pellucid.kernel_ridge.kernel_ridge import KernelRidge
from pellucid.kernel_ridge.kernel_ridge_cv import KernelRidgeCV
from pellucid.kernels.choice import BY_NAME, ProductRules, is_given
from pellucid.kernels.formulas import RBF, Polynomial
from pellucid.kernels.kernel_kinds import kernel_kind

HERE = "pellucid.kernel_ridge"
KERNEL: dict[str, Kind] = {
    "kernel": kernel_kind(tuple(BY_NAME)),
    "gamma": Nothing() | NONNEGATIVE,
    "degree": NONNEGATIVE,
    "coef0": Number(),
    "kernel_params": Nothing() | Lookup(PLAIN),
}
FITTED: dict[str, Kind | Optional] = {
    "dual_coef_": Numbers(("n_rows",), ("float64",)) | Numbers(("n_rows", "n_targets"), ("float64",)),
    "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
}


def rules(estimator: Any) -> ProductRules:
    """Return the rules for rows, or for given products."""
    return ProductRules(NUMBERS, several_targets=True, sparse=("csr",), order="C", products=is_given(estimator.kernel))


def _check_penalties(estimator: Any) -> None:
    penalties = np.asarray(estimator.alpha)
    for index, value in enumerate(np.atleast_1d(penalties).ravel().tolist() if penalties.ndim else []):
        check_nonnegative(**{f"alpha[{index}]": value})


def _check_grid(estimator: Any) -> None:
    alphas = np.atleast_1d(np.asarray(estimator.alphas)).ravel().tolist()
    if not alphas:
        raise ValueError("alphas must hold at least one value, got none. Give for example np.logspace(-3, 3, 13).")
    for index, value in enumerate(alphas):
        check_positive(**{f"alphas[{index}]": value})


MEANING = "no other coefficients make squared error plus penalty smaller on these rows, up to rounding"

CARDS = (
    MethodCard(
        KernelRidge,
        topics=("LIN-7",),
        workings=f"{HERE}.kernel_ridge_workings:kernel_ridge_workings",
        parameters={"alpha": NONNEGATIVE | Numbers(("n_targets",)) | A_LIST, **KERNEL},
        check=_check_penalties,
        attributes=FITTED,
        input=rules,
        device=f"{HERE}.kernel_ridge_on_device:fit_on_device",
        onnx="pellucid.kernel_ridge.kernel_ridge_in_onnx:numbers",
        variants=(
            {"kernel": "rbf", "gamma": 0.5, "alpha": 0.01},
            {"kernel": 2 * RBF(0.5) + Polynomial(2)},
            {"kernel": "sigmoid", "gamma": 0.01, "alpha": 2.0},
        ),
        trial=Trial(
            own_floats={"dual_coef_": "digits that its proof needs"},
            rows=5,
        ),
        meaning=MEANING,
        take_for="smooth curves through up to some thousand rows, in closed form",
        references=("Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, ICML 1998",),
    ),
    MethodCard(
        KernelRidgeCV,
        topics=("LIN-7",),
        onnx="pellucid.kernel_ridge.kernel_ridge_in_onnx:numbers",
        parameters={
            "alphas": NUMBER | Items(NUMBER) | Numbers((None,), (*WHOLES, *FLOATS)) | A_LIST,
            **KERNEL,
            "store_cv_results": FLAG,
        },
        check=_check_grid,
        attributes={
            **FITTED,
            "alpha_": Real(),
            "best_score_": Real(),
            "cv_results_": Optional(
                Numbers(("n_rows", "n_alphas"), ("float64",))
                | Numbers(("n_rows", "n_targets", "n_alphas"), ("float64",))
            ),
        },
        input=rules,
        variants=({"kernel": "rbf", "gamma": 0.5, "alphas": (1e-3, 10.0), "store_cv_results": True},),
        squares=frozenset({"alpha_", "best_score_", "cv_results_"}),
        meaning=MEANING,
        take_for="smooth curves, where the penalty is to be chosen by the errors of left-out rows",
        references=(
            "Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, ICML 1998",
            "Golub, Heath and Wahba, Generalized cross-validation as a method for choosing a good ridge parameter, "
            "Technometrics 21 (1979)",
        ),
    ),
)
