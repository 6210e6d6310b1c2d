"""Method card of Laplacian eigenmaps."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kernels.product_rules import ProductRules
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Live, Nothing, OneOf, Optional, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE
from pellucid.manifold.manifold_kinds import COMPONENTS, WIDE
from pellucid.manifold.spectral.spectral_embedding import SpectralEmbedding
from pellucid.manifold.spectral.spectral_embedding_solvers import GIVEN, GIVEN_NEIGHBORS, NEIGHBORS, is_one_of
from pellucid.proofs.manifold.spectral_embedding import prove_spectral_embedding

CARDS = (
    MethodCard(
        SpectralEmbedding,
        topics=("MAN-4",),
        prove=prove_spectral_embedding,
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
    ),
)
