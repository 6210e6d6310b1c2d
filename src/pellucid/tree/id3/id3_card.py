"""Method card of ID3 trees."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, Number, OneOf, Optional, Text, Whole
from pellucid.core.kinds.usual import LABELS, NONNEGATIVE
from pellucid.proofs.tree.id3 import prove_id3
from pellucid.tree.id3.id3_classifier import ID3Classifier
from pellucid.tree.id3.id3_columns import AUTO, NEVER
from pellucid.tree.id3.id3_tree_kind import MultiwayTreeRecord

CARDS = (
    MethodCard(
        ID3Classifier,
        topics=("TRE-1",),
        prove=prove_id3,
        workings="pellucid.tree.id3.id3_workings:id3_workings",
        parameters={
            "criterion": OneOf(("gain", "gain_ratio", "gini", "error")),
            "numeric": OneOf((AUTO, NEVER)) | Items(Text() | Whole(low=0)),
            "max_depth": Nothing() | Whole(low=0),
            "min_samples_split": Number(above=0),
            "min_samples_leaf": Number(above=0),
            "min_gain": NONNEGATIVE,
        },
        attributes={
            "classes_": LABELS,
            "feature_names_in_": Optional(Texts("n_features")),  # columns may be asked for by name
            "categories_": Items(Numbers((None,), ("float64",)) | Texts(), "n_features"),
            "tree_": MultiwayTreeRecord(),
        },
        input=InputRules(CLASSES, dtypes=None),
        variants=(
            {"criterion": "gain_ratio", "max_depth": 2},
            {"criterion": "gini", "min_samples_split": 6, "min_samples_leaf": 3},
            {"criterion": "error", "numeric": [0, 2], "min_gain": 0.01},
            {"numeric": "never"},
        ),
    ),
)
