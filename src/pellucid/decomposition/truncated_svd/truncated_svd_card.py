"""Method card of truncated SVD."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET, InputRules
from pellucid.decomposition.truncated_svd.truncated_svd import TruncatedSVD
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import OneOf, Whole
from pellucid.kinds.usual import COUNT, NONNEGATIVE, RANDOM_STATE
from pellucid.proofs.decomposition.svd import prove_truncated_svd

CARDS = (
    MethodCard(
        TruncatedSVD,
        topics=("DIM-3",),
        prove=prove_truncated_svd,
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
        input=InputRules(NO_TARGET, sparse=("csr", "csc")),
        variants=({"n_components": 3, "algorithm": "arpack"},),
        squares=frozenset({"explained_variance_"}),
    ),
)
