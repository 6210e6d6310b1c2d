"""Method card of factor analysis."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.decomposition.factor_analysis.factor_analysis import FactorAnalysis
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Items
from pellucid.kinds.plain import Nothing, OneOf, Real, Whole
from pellucid.kinds.usual import A_LIST, COUNT, FLAG, NONNEGATIVE, POSITIVE, RANDOM_STATE
from pellucid.proofs.decomposition.factor_analysis import prove_factor_analysis

WIDE = ("float64",)

CARDS = (
    MethodCard(
        FactorAnalysis,
        topics=("DIM-5",),
        prove=prove_factor_analysis,
        parameters={
            "n_components": Nothing() | COUNT,
            "tol": NONNEGATIVE,
            "copy": FLAG,
            "max_iter": Whole(low=1),
            "noise_variance_init": Nothing()
            | Numbers((None,), ("float64", "float32", *WHOLES))
            | Items(POSITIVE)
            | A_LIST,
            "svd_method": OneOf(("randomized", "lapack")),
            "iterated_power": COUNT,
            "rotation": Nothing() | OneOf(("varimax", "quartimax")),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_components", "n_features"), WIDE),
            "noise_variance_": Numbers(("n_features",), WIDE, low=0.0),
            "mean_": Numbers(("n_features",), WIDE),
            "loglike_": Items(Real()),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(),
        variants=(
            {"n_components": 2},
            {"n_components": 2, "rotation": "varimax"},
            {"n_components": 0},
        ),
        squares=frozenset({"noise_variance_"}),
    ),
)
