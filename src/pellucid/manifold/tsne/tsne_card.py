"""Method card of neighbor embedding (t-SNE)."""

from __future__ import annotations

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Live, Number, OneOf, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import COUNT, MAYBE_WHOLE, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.manifold.dissimilarities import check_metric_name
from pellucid.manifold.manifold_kinds import COMPONENTS, METRIC, WIDE
from pellucid.manifold.tsne.tsne import TSNE
from pellucid.manifold.tsne.tsne_parameters import AffinityRules, check_combination
from pellucid.proofs.manifold.tsne import prove_tsne


def _check(estimator: TSNE) -> None:
    check_metric_name(estimator.metric)
    check_combination(estimator)


CARDS = (
    MethodCard(
        TSNE,
        topics=("MAN-4",),
        prove=prove_tsne,
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
    ),
)
