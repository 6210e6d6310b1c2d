"""Method cards of components: directions of rows, of products and of similarities."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.input_rules import MOMENTS, NO_TARGET, InputRules
from pellucid.core.kinds.arrays import FLOATS, Numbers, SparseRows
from pellucid.core.kinds.collections import PLAIN, Lookup
from pellucid.core.kinds.plain import Nothing, Number, OneOf, Optional, Real, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE
from pellucid.core.types import SparseOrDense
from pellucid.decomposition.feature_embedding.feature_embedding import (
    GIVEN,
    SIMILARITIES,
    FeatureEmbedding,
    SimilarityRules,
)
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.decomposition.pca.pca import PCA
from pellucid.decomposition.svd.svd import SVD
from pellucid.decomposition.svd.truncated_svd import TruncatedSVD
from pellucid.kernels.choice import ProductRules, is_given
from pellucid.kernels.formulas import RBF, Polynomial
from pellucid.kernels.kernel_kinds import kernel_kind

SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh")


class PCARules(InputRules):
    """Rules that refuse sparse rows where the solver asked for would make them dense."""

    def check(self, estimator: Any, X: SparseOrDense, *args: Any, **options: Any) -> Any:
        """Return the data, checked."""
        if sparse.issparse(X) and estimator.svd_solver not in SPARSE_SOLVERS:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{estimator.svd_solver}" was passed. See TruncatedSVD for a possible alternative.'
            )
        return super().check(estimator, X, *args, **options)


def _check_full(estimator: Any) -> None:
    if estimator.kind == "full" and estimator.n_components is not None:
        raise ValueError(
            f"n_components must be None for kind='full', which has all vectors, got {estimator.n_components}. Use "
            "kind='compact'."
        )


WIDE = ("float64",)


def _check_inverse(estimator: Any) -> None:
    if estimator.fit_inverse_transform and is_given(estimator.kernel):
        raise ValueError(
            "Cannot fit_inverse_transform with a precomputed kernel: the rows must be there to learn them."
        )


CARDS = (
    MethodCard(
        PCA,
        topics=("DIM-2",),
        device="pellucid.decomposition.projections_on_device",
        onnx="pellucid.decomposition.components_in_onnx:pca",
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
        input=PCARules(NO_TARGET, sparse=("csr", "csc"), blocks=MOMENTS),
        variants=(
            {"n_components": 2, "whiten": True},
            {"n_components": 0.9, "svd_solver": "full", "whiten": "zca"},
            {"n_components": 3, "svd_solver": "randomized"},
        ),
        unproved={"noise_variance_": "found again up to the rounding of the sum of all, by the claim 'noise'"},
        squares=frozenset({"explained_variance_", "noise_variance_", "scatter_"}),
        take_for="many columns that go together, to be seen, stored or learned from in few",
        references=(
            "Jolliffe, Principal Component Analysis, Springer 2002",
            "Halko, Martinsson and Tropp, Finding structure with randomness, SIAM Review 53 (2011)",
        ),
    ),
    MethodCard(
        SVD,
        topics=("DIM-1",),
        onnx="pellucid.decomposition.components_in_onnx:projection",
        workings="pellucid.decomposition.svd.svd_workings:svd_workings",
        parameters={
            "kind": OneOf(("compact", "full", "truncated", "randomized")),
            "n_components": Nothing() | Whole(low=1),
            "random_state": RANDOM_STATE,
        },
        check=_check_full,
        attributes={
            "U_": Numbers(("n_rows", "n_left"), FLOATS),
            "singular_values_": Numbers(("n_found",), FLOATS, low=0),
            "components_": Numbers(("n_right", "n_features"), FLOATS),
            "energy_": Real(),
        },
        input=lambda estimator: InputRules(
            NO_TARGET, sparse=("csr", "csc") if estimator.kind in ("truncated", "randomized") else (), weights=False
        ),
        variants=({"kind": "full"}, {"kind": "randomized", "n_components": 2}),
        squares=frozenset({"energy_"}),
        trial=Trial(rows=6),
        take_for="a matrix that is itself the object: its rank, its best approximations, its geometry",
        references=(
            "Eckart and Young, The approximation of one matrix by another of lower rank, Psychometrika 1 (1936)",
        ),
    ),
    MethodCard(
        TruncatedSVD,
        topics=("DIM-3",),
        device="pellucid.decomposition.projections_on_device",
        onnx="pellucid.decomposition.components_in_onnx:projection",
        parameters={
            "n_components": Whole(low=1),
            "algorithm": OneOf(("arpack", "randomized")),
            "n_iter": COUNT,
            "n_oversamples": Whole(low=1),
            "power_iteration_normalizer": OneOf(("auto", "QR", "LU", "none")),
            "random_state": RANDOM_STATE,
            "tol": NONNEGATIVE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "singular_values_": Numbers(("n_found",), FLOATS, low=0),
            "explained_variance_": Numbers(("n_found",), FLOATS, low=0),
            "explained_variance_ratio_": Numbers(("n_found",), FLOATS, low=0),
        },
        input=InputRules(NO_TARGET, sparse=("csr", "csc"), blocks=MOMENTS),
        variants=({"n_components": 3, "algorithm": "arpack"},),
        squares=frozenset({"explained_variance_"}),
        take_for="sparse rows, such as counts of words, that must not be centered",
        references=("Deerwester and others, Indexing by latent semantic analysis, JASIS 41 (1990)",),
    ),
    MethodCard(
        KernelPCA,
        topics=("KER-3",),
        onnx="pellucid.decomposition.components_in_onnx:kernel_pca",
        device="pellucid.decomposition.kernel_pca_on_device:fit_on_device",
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
        trial=Trial(
            own_floats=dict.fromkeys(
                ("X_transformed_fit_", "dual_coef_", "eigenvalues_", "eigenvectors_"), "digits that its proof needs"
            ),
            rows=5,
            few_rows=True,
        ),
        take_for="components that are curved in the columns as given; up to some ten thousand rows",
        references=(
            (
                "Schölkopf, Smola and Müller, Nonlinear component analysis as a kernel eigenvalue problem, "
                "Neural Computation 10 (1998)"
            ),
        ),
    ),
    MethodCard(
        FeatureEmbedding,
        topics=("DIM-8",),
        onnx="pellucid.decomposition.components_in_onnx:embedding",
        parameters={"n_components": Whole(low=1), "similarity": OneOf(SIMILARITIES)},
        attributes={
            "embedding_": Numbers(("n_rows", "n_components"), WIDE),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "X_fit_": Optional(Numbers(("n_rows", "n_features"), FLOATS)),
        },
        input=lambda estimator: SimilarityRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=estimator.similarity == GIVEN
        ),
        variants=({"n_components": 3, "similarity": "correlation"},),
        take_for="things of which only similarities are known, to be used by methods that want columns",
        references=(
            "Pekalska and Duin, The Dissimilarity Representation for Pattern Recognition, World Scientific 2005",
        ),
    ),
)
