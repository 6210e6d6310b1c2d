"""Method card of feature embedding."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.decomposition.feature_embedding.feature_embedding import (
    GIVEN,
    SIMILARITIES,
    FeatureEmbedding,
    SimilarityRules,
)
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import OneOf, Optional, Whole
from pellucid.proofs.decomposition.feature_embedding import prove_feature_embedding

WIDE = ("float64",)

CARDS = (
    MethodCard(
        FeatureEmbedding,
        topics=("DIM-8",),
        prove=prove_feature_embedding,
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
    ),
)
