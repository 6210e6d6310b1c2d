"""Method card of independent components."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.decomposition.ica.fast_ica import FastICA
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.collections import PLAIN, Lookup
from pellucid.kinds.plain import Live, Nothing, OneOf, Only, Optional, Real, Whole
from pellucid.kinds.usual import A_LIST, NONNEGATIVE, RANDOM_STATE
from pellucid.proofs.decomposition.fast_ica import prove_fast_ica

CARDS = (
    MethodCard(
        FastICA,
        topics=("DIM-6",),
        prove=prove_fast_ica,
        free={
            "order": "the order of the sources, which follows the start",
            "sign": "the sign of each source",
        },
        parameters={
            "n_components": Nothing() | Whole(low=1),
            "algorithm": OneOf(("parallel", "deflation", "spacings")),
            "whiten": OneOf(("unit-variance", "arbitrary-variance")) | Only(False),
            "fun": OneOf(("logcosh", "exp", "cube")) | Live("a function"),
            "fun_args": Nothing() | Lookup(PLAIN),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "w_init": Nothing() | A_LIST,
            "whiten_solver": OneOf(("eigh", "svd")),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "mixing_": Numbers(("n_features", "n_found"), FLOATS),
            "mean_": Optional(Numbers(("n_features",), FLOATS)),
            "whitening_": Optional(Numbers(("n_found", "n_features"), FLOATS)),
            "multi_information_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(weights=False, fewest_rows=2),
        variants=(
            {"n_components": 2, "algorithm": "deflation", "whiten": "arbitrary-variance", "fun": "cube"},
            {"n_components": 2, "algorithm": "spacings"},
        ),
        unproved={
            "n_iter_": WORK_DONE,
            "multi_information_": "an estimate from some of the rows, for the reader: no answer depends on it",
        },
    ),
)
