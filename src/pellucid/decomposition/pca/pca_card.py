"""Method card of PCA."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET, InputRules
from pellucid.decomposition.pca.pca import PCA
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Nothing, Number, OneOf, Optional, Real, Whole
from pellucid.kinds.usual import COUNT, FLAG, NONNEGATIVE, RANDOM_STATE
from pellucid.proofs.decomposition.pca import prove_pca

SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh")


class PCARules(InputRules):
    """Rules that refuse sparse rows where the solver asked for would make them dense."""

    def check(self, estimator: Any, X: Any, *args: Any, **options: Any) -> Any:
        """Return the data, checked."""
        if sparse.issparse(X) and estimator.svd_solver not in SPARSE_SOLVERS:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{estimator.svd_solver}" was passed. See TruncatedSVD for a possible alternative.'
            )
        return super().check(estimator, X, *args, **options)


CARDS = (
    MethodCard(
        PCA,
        topics=("DIM-2",),
        prove=prove_pca,
        workings="pellucid.decomposition.pca.pca_workings:pca_workings",
        parameters={
            "n_components": Nothing() | OneOf(("mle",)) | COUNT | Number(above=0, below=1),
            "copy": FLAG,
            "whiten": FLAG | OneOf(("pca", "zca")),
            "svd_solver": OneOf(("auto", "full", "covariance_eigh", "arpack", "randomized")),
            "tol": NONNEGATIVE,
            "iterated_power": OneOf(("auto",)) | COUNT,
            "n_oversamples": Whole(low=1),
            "power_iteration_normalizer": OneOf(("auto", "QR", "LU", "none")),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "explained_variance_": Numbers(("n_found",), FLOATS, low=0),
            "explained_variance_ratio_": Numbers(("n_found",), FLOATS, low=0),
            "singular_values_": Numbers(("n_found",), FLOATS, low=0),
            "mean_": Numbers(("n_features",), FLOATS),
            "n_components_": Whole(low=0, size="n_found"),
            "n_samples_": COUNT | Real(),
            "noise_variance_": Real(),
            "scatter_": Optional(Numbers(("n_features", "n_features"), ("float64",))),
        },
        input=PCARules(NO_TARGET, sparse=("csr", "csc")),
        variants=(
            {"n_components": 2, "whiten": True},
            {"n_components": 0.9, "svd_solver": "full", "whiten": "zca"},
            {"n_components": 3, "svd_solver": "randomized"},
        ),
        unproved={"noise_variance_": "found again up to the rounding of the sum of all, by the claim 'noise'"},
        squares=frozenset({"explained_variance_", "noise_variance_", "scatter_"}),
    ),
)
