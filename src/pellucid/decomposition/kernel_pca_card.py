"""Method card of kernel PCA."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.kernels.choice import ProductRules, is_given
from pellucid.kernels.formulas import RBF, Polynomial
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.collections import PLAIN, Lookup
from pellucid.kinds.plain import Nothing, Number, OneOf, Optional, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import COUNT, FLAG, MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE
from pellucid.proofs.decomposition.kernel_pca import prove_kernel_pca

WIDE = ("float64",)


def _check_inverse(estimator: Any) -> None:
    if estimator.fit_inverse_transform and is_given(estimator.kernel):
        raise ValueError(
            "Cannot fit_inverse_transform with a precomputed kernel: the rows must be there to learn them."
        )


CARDS = (
    MethodCard(
        KernelPCA,
        topics=("KER-3",),
        prove=prove_kernel_pca,
        workings="pellucid.decomposition.kernel_pca_workings:kernel_pca_workings",
        parameters={
            "n_components": Nothing() | Whole(low=1),
            "kernel": kernel_kind(("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed")),
            "gamma": Nothing() | NONNEGATIVE,
            "degree": NONNEGATIVE,
            "coef0": Number(),
            "kernel_params": Nothing() | Lookup(PLAIN),
            "alpha": NONNEGATIVE,
            "fit_inverse_transform": FLAG,
            "eigen_solver": OneOf(("auto", "dense", "arpack", "randomized")),
            "tol": NONNEGATIVE,
            "max_iter": Nothing() | Whole(low=1),
            "iterated_power": OneOf(("auto",)) | COUNT,
            "remove_zero_eig": FLAG,
            "random_state": RANDOM_STATE,
            "copy_X": FLAG,
            "n_jobs": MAYBE_WHOLE,
        },
        check=_check_inverse,
        attributes={
            "eigenvalues_": Numbers(("n_found",), WIDE, low=0),
            "eigenvectors_": Numbers(("n_rows", "n_found"), WIDE),
            "kernel_means_": Numbers(("n_rows",), WIDE),
            "gamma_": Real(),
            "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
            "X_transformed_fit_": Optional(Numbers(("n_rows", "n_found"), WIDE)),
            "dual_coef_": Optional(Numbers(("n_rows", "n_features"), WIDE)),
        },
        input=lambda estimator: ProductRules(
            NO_TARGET, sparse=("csr",), order="C", weights=False, products=is_given(estimator.kernel), symmetric=False
        ),
        variants=(
            {"n_components": 3, "kernel": "rbf", "gamma": 0.3},
            {"n_components": 2, "kernel": RBF(0.5) + Polynomial(2), "fit_inverse_transform": True},
        ),
        squares=frozenset({"eigenvalues_", "kernel_means_", "gamma_"}),
    ),
)
