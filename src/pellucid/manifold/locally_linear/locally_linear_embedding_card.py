"""Method card of locally linear embedding."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET, InputRules
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.plain import OneOf, Optional, Real, Whole
from pellucid.kinds.usual import MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE
from pellucid.manifold.locally_linear.alignment import WAYS
from pellucid.manifold.locally_linear.locally_linear_embedding import LocallyLinearEmbedding
from pellucid.manifold.manifold_kinds import COMPONENTS, PLACES, WIDE
from pellucid.proofs.manifold.locally_linear import prove_locally_linear_embedding

CARDS = (
    MethodCard(
        LocallyLinearEmbedding,
        topics=("MAN-3",),
        prove=prove_locally_linear_embedding,
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
    ),
)
