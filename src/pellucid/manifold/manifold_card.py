"""Method cards of maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import NO_TARGET, InputRules
from pellucid.core.kinds.arrays import FLOATS, WHOLES, Numbers, SparseRows
from pellucid.core.kinds.collections import PLAIN, Lookup
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, MAYBE_WHOLE, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.kernels.choice import ProductRules
from pellucid.manifold.classical_mds.classical_mds import ClassicalMDS
from pellucid.manifold.dissimilarities import DistanceRules, check_metric_name, is_given
from pellucid.manifold.isomap.isomap import Isomap
from pellucid.manifold.locally_linear.alignment import WAYS
from pellucid.manifold.locally_linear.locally_linear_embedding import LocallyLinearEmbedding
from pellucid.manifold.mds.mds import DEPRECATED, MDS, metric_name
from pellucid.manifold.sammon.sammon_mapping import WEIGHTINGS, SammonMapping
from pellucid.manifold.spectral.spectral_embedding import SpectralEmbedding
from pellucid.manifold.spectral.spectral_embedding_solvers import GIVEN, GIVEN_NEIGHBORS, NEIGHBORS, is_one_of
from pellucid.manifold.tsne.tsne import TSNE
from pellucid.manifold.tsne.tsne_parameters import AffinityRules, check_combination
from pellucid.neighbors.k_neighbors import KNeighborRules
from pellucid.neighbors.metric import check_metric

WIDE = ("float64",)

COMPONENTS = Whole(low=1)

METRIC: dict[str, Kind] = {
    "metric": Text() | Live("a function of two rows", lambda value: callable(value) or hasattr(value, "pairwise")),
    "metric_params": Nothing() | Lookup(PLAIN) | Live("a dict", lambda value: isinstance(value, dict)),
}

ROWS = Optional(Numbers(("n_rows", "n_features"), FLOATS))

PLACES = Numbers(("n_rows", "n_components"), WIDE)

TABLE = Numbers(("n_rows", "n_rows"), WIDE, low=0)


def _check_links(estimator: Any) -> None:
    if estimator.n_neighbors is not None and estimator.radius is not None:
        raise ValueError(
            f"n_neighbors must be None with a radius, got {estimator.n_neighbors!r}: Both n_neighbors and radius are "
            f"provided. Use Isomap(radius={estimator.radius!r}, n_neighbors=None)."
        )
    if estimator.n_neighbors is None and estimator.radius is None:
        raise ValueError("n_neighbors must be a whole number without a radius, got None. Give one of the two.")
    if not is_given(estimator.metric):
        check_metric(estimator.metric, estimator.p, estimator.metric_params, estimator.neighbors_algorithm)


def _check(estimator: TSNE) -> None:
    check_metric_name(estimator.metric)
    check_combination(estimator)


CARDS = (
    MethodCard(
        ClassicalMDS,
        topics=("MAN-1",),
        onnx="ClassicalMDS has no graph: "
        "it places rows by their distances to all training rows. Use PCA, which is the same for Euclidean distances.",
        workings="pellucid.manifold.classical_mds.classical_mds_workings:classical_mds_workings",
        parameters={"n_components": COMPONENTS, **METRIC},
        check=lambda estimator: check_metric_name(estimator.metric),
        attributes={
            "embedding_": PLACES,
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "dissimilarity_matrix_": TABLE,
            "squared_means_": Numbers(("n_rows",), WIDE, low=0),
            "X_fit_": ROWS,
        },
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(estimator.metric)
        ),
        variants=({"n_components": 3, "metric": "manhattan"},),
        squares=frozenset({"eigenvalues_", "squared_means_"}),
        when_asked=frozenset({"dissimilarity_matrix_"}),
        trial=Trial(
            rows=5,
            unlike_peer="its sign follows another of equally large entries",
        ),
        take_for="distances, such as those between towns, from which a map is to be made",
        references=("Torgerson, Multidimensional scaling: theory and method, Psychometrika 17 (1952)",),
    ),
    MethodCard(
        MDS,
        topics=("MAN-1",),
        parameters={
            "n_components": COMPONENTS,
            "metric_mds": FLAG,
            "n_init": Whole(low=1),
            "init": OneOf(("random", "classical_mds")),
            "max_iter": Whole(low=1),
            "verbose": VERBOSE,
            "eps": NONNEGATIVE,
            "n_jobs": MAYBE_WHOLE,
            "random_state": RANDOM_STATE,
            "dissimilarity": OneOf((DEPRECATED, "euclidean", "precomputed")),
            **METRIC | {"metric": FLAG | METRIC["metric"]},
            "normalized_stress": FLAG | OneOf(("auto",)),
        },
        check=lambda estimator: check_metric_name(metric_name(estimator)),
        attributes={
            "embedding_": PLACES,
            "stress_": Real(),
            "dissimilarity_matrix_": TABLE,
            "n_iter_": COUNT,
            "X_fit_": ROWS,
        },
        device="pellucid.manifold.mds.mds_on_device:fit_on_device",
        onnx="MDS has no graph: it finds the place of every new row by a search. Use ClassicalMDS or PCA.",
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(metric_name(estimator))
        ),
        variants=(
            {"metric_mds": False, "max_iter": 2000},
            {"init": "classical_mds", "n_components": 3, "max_iter": 1000},
        ),
        squares=frozenset({"stress_"}),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(own_floats={"dissimilarity_matrix_": "digits that its proof needs"}, few_rows=True),
        take_for="a map whose distances, or only their order, are those of the data; up to some thousand rows",
        references=(
            (
                "Kruskal, Multidimensional scaling by optimizing goodness of fit to a nonmetric "
                "hypothesis, Psychometrika 29 (1964)"
            ),
            "Borg and Groenen, Modern Multidimensional Scaling, Springer 2005",
        ),
    ),
    MethodCard(
        SammonMapping,
        topics=("MAN-1",),
        onnx="SammonMapping has no graph: it finds the place of every new row by a search. Use PCA.",
        workings="pellucid.manifold.sammon.sammon_mapping_workings:sammon_mapping_workings",
        parameters={
            "n_components": COMPONENTS,
            "weighting": OneOf(WEIGHTINGS),
            **METRIC,
            "init": OneOf(("classical_mds", "random")),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        check=lambda estimator: check_metric_name(estimator.metric),
        attributes={
            "embedding_": PLACES,
            "stress_": Real(),
            "dissimilarity_matrix_": TABLE,
            "n_iter_": COUNT,
            "X_fit_": ROWS,
        },
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(estimator.metric)
        ),
        variants=({"weighting": "inverse_square", "n_components": 3},),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(rows=5, few_rows=True),
        take_for="a map on which short distances are right, at the price of the long ones",
        references=("Sammon, A nonlinear mapping for data structure analysis, IEEE Computers C-18 (1969)",),
    ),
    MethodCard(
        Isomap,
        topics=("MAN-2",),
        onnx="Isomap has no graph: a new row goes the shortest ways by its neighbors to all training rows. Use PCA.",
        workings="pellucid.manifold.isomap.isomap_workings:isomap_workings",
        parameters={
            "n_neighbors": Nothing() | Whole(low=1),
            "radius": Nothing() | Number(low=0, finite=False),
            "n_components": COMPONENTS,
            "eigen_solver": OneOf(("auto", "arpack", "dense")),
            "tol": NONNEGATIVE,
            "max_iter": Nothing() | Whole(low=1),
            "path_method": OneOf(("auto", "FW", "D")),
            "neighbors_algorithm": OneOf(("auto", "brute", "kd_tree", "ball_tree")),
            "n_jobs": MAYBE_WHOLE,
            **METRIC,
            "p": Number(low=1, finite=False),
        },
        check=_check_links,
        attributes={
            "embedding_": Numbers(("n_rows", "n_components"), FLOATS),
            "dist_matrix_": Numbers(("n_rows", "n_rows"), FLOATS, low=0),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "neighbor_graph_": SparseRows(("n_rows", "n_rows")),
            "squared_means_": Numbers(("n_rows",), WIDE, low=0),
            "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
        },
        input=lambda estimator: KNeighborRules(
            NO_TARGET,
            sparse=("csr",),
            order="C",
            weights=False,
            fewest_rows=2,
            precomputed=is_given(estimator.metric),
        ),
        variants=(
            {"n_neighbors": None, "radius": 2.5, "n_components": 3},
            {"n_neighbors": 3, "metric": "manhattan"},
        ),
        squares=frozenset({"eigenvalues_", "squared_means_"}),
        trial=Trial(
            by_hand={"n_neighbors": 3},
            rows=5,
        ),
        take_for="rows along a bent surface without holes, measured densely",
        references=(
            (
                "Tenenbaum, de Silva and Langford, A global geometric framework for nonlinear "
                "dimensionality reduction, Science 290 (2000)"
            ),
        ),
    ),
    MethodCard(
        SpectralEmbedding,
        topics=("MAN-4",),
        onnx="SpectralEmbedding has no graph: "
        "a training row is told from a new one, which a graph cannot do. Use KernelPCA.",
        parameters={
            "n_components": COMPONENTS,
            "affinity": OneOf((NEIGHBORS, "rbf", GIVEN, GIVEN_NEIGHBORS)) | Live("a function of all rows", callable),
            "gamma": Nothing() | NONNEGATIVE,
            "random_state": RANDOM_STATE,
            "eigen_solver": Nothing() | OneOf(("arpack", "lobpcg", "amg")),
            "eigen_tol": OneOf(("auto",)) | NONNEGATIVE,
            "n_neighbors": Nothing() | Whole(low=1),
            "n_jobs": MAYBE_WHOLE,
        },
        attributes={
            "embedding_": Numbers(("n_rows", "n_components"), FLOATS),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "affinity_matrix_": Numbers(("n_rows", "n_rows"), FLOATS) | SparseRows(("n_rows", "n_rows")),
            "n_neighbors_": Optional(Whole(low=1)),
            "gamma_": Optional(Real()),
            "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
        },
        input=lambda estimator: ProductRules(
            NO_TARGET,
            sparse=("csr",),
            order="C",
            weights=False,
            fewest_rows=2,
            products=is_one_of(estimator.affinity, GIVEN, GIVEN_NEIGHBORS),
            symmetric=False,
        ),
        variants=({"n_components": 3, "affinity": "rbf", "gamma": 0.3}, {"n_neighbors": 8}),
        squares=frozenset({"gamma_"}),
        trial=Trial(own_floats={"embedding_": "float32 in, float32 out; scikit-learn's is float64 for neighbors"}),
        take_for="a map that keeps linked rows together, of a graph or of rows with their neighbors",
        references=(
            (
                "Belkin and Niyogi, Laplacian eigenmaps for dimensionality reduction and data "
                "representation, Neural Computation 15 (2003)"
            ),
        ),
    ),
    MethodCard(
        LocallyLinearEmbedding,
        topics=("MAN-3",),
        onnx="LocallyLinearEmbedding has no graph: it solves a problem of its own for every new row. Use PCA.",
        workings="pellucid.manifold.locally_linear.locally_linear_embedding_workings:locally_linear_workings",
        parameters={
            "n_neighbors": Whole(low=1),
            "n_components": COMPONENTS,
            "reg": NONNEGATIVE,
            "eigen_solver": OneOf(("auto", "arpack", "dense")),
            "tol": NONNEGATIVE,
            "max_iter": Whole(low=1),
            "method": OneOf(tuple(WAYS)),
            "hessian_tol": NONNEGATIVE,
            "modified_tol": NONNEGATIVE,
            "neighbors_algorithm": OneOf(("auto", "brute", "kd_tree", "ball_tree")),
            "random_state": RANDOM_STATE,
            "n_jobs": MAYBE_WHOLE,
        },
        attributes={
            "embedding_": PLACES,
            "reconstruction_error_": Real(),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "neighbors_": Numbers(("n_rows", "n_neighbors"), WHOLES, low=0),
            "weights_": Optional(Numbers(("n_rows", "n_neighbors"), WIDE)),
            "X_fit_": Numbers(("n_rows", "n_features"), WIDE),
        },
        input=InputRules(NO_TARGET, dtypes=("float64",), order="C", weights=False, fewest_rows=2),
        variants=(
            {"n_neighbors": 8, "method": "modified"},
            {"n_neighbors": 14, "method": "hessian"},
            {"n_neighbors": 14, "method": "ltsa"},
        ),
        trial=Trial(
            by_hand={"n_neighbors": 3},
            rows=8,
        ),
        take_for="rows along a bent surface, of which the neighborhoods are nearly flat",
        references=(
            ("Roweis and Saul, Nonlinear dimensionality reduction by locally linear embedding, Science 290 (2000)"),
        ),
    ),
    MethodCard(
        TSNE,
        topics=("MAN-4",),
        onnx="TSNE has no graph: it finds the place of every new row by a search. Use PCA.",
        parameters={
            "n_components": COMPONENTS,
            "perplexity": POSITIVE,
            "early_exaggeration": Number(low=1),
            "learning_rate": OneOf(("auto",)) | POSITIVE,
            "max_iter": Whole(low=250),
            "n_iter_without_progress": Whole(low=-1),
            "min_grad_norm": NONNEGATIVE,
            **METRIC,
            "init": OneOf(("pca", "random"))
            | Numbers((None, None), FLOATS)
            | Live("an array of places", lambda value: isinstance(value, np.ndarray)),
            "verbose": VERBOSE,
            "random_state": RANDOM_STATE,
            "method": OneOf(("barnes_hut", "exact")),
            "angle": Number(low=0, high=1),
            "n_jobs": MAYBE_WHOLE,
        },
        check=_check,
        attributes={
            "embedding_": Numbers(("n_rows", "n_components"), ("float32",)),
            "kl_divergence_": Real(),
            "neighbors_": Numbers(("n_rows", "n_neighbors"), ("int64",), low=0),
            "affinities_": Numbers(("n_rows", "n_neighbors"), WIDE, low=0),
            "learning_rate_": Real(),
            "n_iter_": COUNT,
            "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
        },
        input=AffinityRules(NO_TARGET, sparse=("csr",), order="C", weights=False, fewest_rows=2),
        variants=(
            {"perplexity": 5.0, "init": "random", "method": "exact", "n_components": 1},
            {"perplexity": 8.0, "n_components": 3, "metric": "manhattan"},
        ),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(
            settings={"perplexity": 2.0},  # below the few rows of the checks
            few_rows=True,
        ),
        meaning="what draws rows together and what drives them apart are in balance, up to the share that the "
        "gradient is; another start may still end in another map as good",
        take_for="a picture of which rows are near which; not for distances or sizes of groups",
        references=(
            "van der Maaten and Hinton, Visualizing data using t-SNE, JMLR 9 (2008)",
            (
                "Linderman and others, Fast interpolation-based t-SNE for single-cell RNA-seq data, Nature "
                "Methods 16 (2019)"
            ),
        ),
    ),
)
