"""Method cards of the filters."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.feature_selection.filters.filter_selector import FilterInput
from pellucid.feature_selection.filters.mrmr import MRMR
from pellucid.feature_selection.filters.select_top import SelectTop
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import Number, OneOf, Whole
from pellucid.proofs.feature_selection.filters import prove_mrmr, prove_ranking

WIDE, PLACES = ("float64",), ("int64",)
MASK = Numbers(("n_features",), ("bool",))

CARDS = (
    MethodCard(
        SelectTop,
        topics=("SEL-2",),
        prove=prove_ranking,
        workings="pellucid.feature_selection.filters.select_top_workings:select_top_workings",
        parameters={
            "k": OneOf(("all",)) | Whole(low=1),
            "measure": OneOf(("mutual_information", "correlation")),
            "n_bins": Whole(low=2),
            "level": Number(above=0.0, below=1.0),
        },
        attributes={
            "scores_": Numbers(("n_features",), WIDE, low=0.0),
            "intervals_": Numbers(("n_features", 2), WIDE, low=0.0),
            "pvalues_": Numbers(("n_features",), WIDE, low=0.0),
            "ranking_": Numbers(("n_features",), PLACES, low=0),
            "support_": MASK,
        },
        input=FilterInput(),
        variants=({"k": 2, "n_bins": 4}, {"k": 2, "measure": "correlation"}),
    ),
    MethodCard(
        MRMR,
        topics=("SEL-2",),
        prove=prove_mrmr,
        parameters={
            "k": Whole(low=1),
            "criterion": OneOf(("difference", "quotient")),
            "n_bins": Whole(low=2),
        },
        attributes={
            "order_": Numbers(("n_chosen",), PLACES, low=0),
            "relevance_": Numbers(("n_features",), WIDE, low=0.0),
            "redundancy_": Numbers(("n_features", "n_chosen"), WIDE, low=0.0),
            "support_": MASK,
        },
        input=FilterInput(),
        variants=({"k": 2, "n_bins": 4}, {"k": 3, "criterion": "quotient"}),
    ),
)
