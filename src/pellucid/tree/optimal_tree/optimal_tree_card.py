"""Method card of optimal trees."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import Texts
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, Number, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import COUNT, LABELS, NONNEGATIVE
from pellucid.tree.optimal_tree.optimal_tree_classifier import OptimalTreeClassifier
from pellucid.tree.tree_kinds import Trees

CARDS = (
    MethodCard(
        OptimalTreeClassifier,
        topics=("TRE-2",),
        onnx="pellucid.tree.trees_in_onnx:classifier",
        parameters={
            "max_depth": Whole(low=0, high=4, hint="A deeper tree is out of reach of a search through all trees."),
            "leaf_penalty": NONNEGATIVE,
            "max_thresholds": Nothing() | Whole(low=1),
            "categorical_features": Nothing() | Items(Text() | Whole(low=0)),
            "time_limit": Nothing() | Number(above=0),
        },
        attributes={
            "classes_": LABELS,
            "feature_names_in_": Optional(Texts("n_features")),  # columns may be asked for by name
            "trees_": Trees(),
            "objective_": Real(),
            "lower_bound_": Real(),
            "n_iter_": COUNT,
        },
        input=InputRules(CLASSES, order="C"),
        variants=(
            {"max_depth": 3, "max_thresholds": 8},
            {"max_depth": 2, "leaf_penalty": 0.06, "max_thresholds": None},
            {"max_depth": 1},
        ),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(few_rows=True),
        take_for="a small tree that is to be the best there is, or the question how far a greedy one is from it",
        references=(
            "Bertsimas and Dunn, Optimal classification trees, Machine Learning 106 (2017)",
            (
                "Demirović and others, MurTree: optimal decision trees via dynamic programming and search, "
                "JMLR 23 (2022)"
            ),
        ),
    ),
)
