"""Method cards of boosted trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import CLASSES, NUMBERS
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Text, Whole
from pellucid.core.kinds.usual import (
    CLASS_WEIGHT,
    COUNT,
    FLAG,
    LABEL_DTYPES,
    LABELS,
    NONNEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting_regressor import HistGradientBoostingRegressor
from pellucid.ensemble.hist_gradient_boosting.table_rules import TableRules
from pellucid.proofs.ensemble.boosting import prove_boosting
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.packed_trees_kind import Trees

A_SEQUENCE = Live("a list", lambda value: np.iterable(value) and not isinstance(value, str), holds_many=True)

PARAMETERS: dict[str, Kind] = {
    "learning_rate": POSITIVE,
    "max_iter": Whole(low=1),
    "max_leaf_nodes": Nothing() | Whole(low=2),
    "max_depth": Nothing() | Whole(low=1),
    "min_samples_leaf": Whole(low=1),
    "l2_regularization": NONNEGATIVE,
    "max_features": Number(above=0, high=1, low=0),
    "max_bins": Whole(low=2, high=255),
    "categorical_features": OneOf(("from_dtype",)) | Nothing() | Items(FLAG | Whole() | Text()) | A_SEQUENCE,
    "monotonic_cst": Nothing() | Lookup(Whole(low=-1, high=1)) | Items(Whole(low=-1, high=1)) | A_SEQUENCE,
    "interaction_cst": Nothing() | OneOf(("pairwise", "no_interactions")) | Items(Items(Whole())) | A_SEQUENCE,
    "warm_start": FLAG,
    "early_stopping": OneOf(("auto",)) | FLAG,
    "scoring": Nothing() | Text() | Live("a function"),
    "validation_fraction": Nothing() | Number(above=0),
    "n_iter_no_change": Whole(low=1),
    "tol": NONNEGATIVE,
    "verbose": VERBOSE,
    "random_state": RANDOM_STATE,
}

ATTRIBUTES: dict[str, Kind | Optional] = {
    "trees_": Trees(),
    "baseline_": Numbers((None,), ("float64",)),
    "bin_thresholds_": Items(Numbers((None,), ("float64",)), "n_features"),
    "categories_": Nothing() | Items(Nothing() | Numbers((None,), LABEL_DTYPES) | Texts(), "n_features"),
    "is_categorical_": Nothing() | Numbers(("n_features",), ("bool",)),
    "do_early_stopping_": FLAG,
    "held_out_": OneOf(("none", "split", "given")),
    "random_seeds_": Numbers((2,), ("int64",), low=0),
    "n_trees_per_iteration_": COUNT,
    "n_iter_": COUNT,
    "train_score_": Numbers((None,), ("float64",)),
    "validation_score_": Numbers((None,), ("float64",)),
}


def _column_names(model: Any, _data: TrainingData) -> dict[str, Any]:
    """Return the names of the columns, by which constraints may be given."""
    return {"feature_names": getattr(model, "feature_names_in_", ())}


UNPROVED = {
    "random_seeds_": "where rows and features are drawn from; claims about scores and splits notice what they change",
}

SMALL = {"min_samples_leaf": 3, "max_iter": 5}
STOPPED = {**SMALL, "max_iter": 12, "early_stopping": True}
"""Rounds enough to stop before they are all done."""

CARDS = (
    MethodCard(
        HistGradientBoostingClassifier,
        topics=("TRE-6",),
        prove=prove_boosting,
        asks=_column_names,
        workings="pellucid.ensemble.hist_gradient_boosting.boosting_workings:boosting_workings",
        parameters={"loss": OneOf(("log_loss",)), **PARAMETERS, "class_weight": CLASS_WEIGHT},
        attributes={"classes_": LABELS, **ATTRIBUTES},
        input=TableRules(CLASSES),
        variants=(SMALL, {**STOPPED, "class_weight": "balanced", "max_features": 0.5}),
        unproved=UNPROVED,
        tests=("test_hist_gradient_boosting",),
    ),
    MethodCard(
        HistGradientBoostingRegressor,
        topics=("TRE-6",),
        prove=prove_boosting,
        asks=_column_names,
        workings="pellucid.ensemble.hist_gradient_boosting.boosting_workings:boosting_workings",
        parameters={
            "loss": OneOf(("squared_error", "absolute_error", "gamma", "poisson", "quantile")),
            "quantile": Nothing() | Number(low=0, high=1),
            **PARAMETERS,
        },
        attributes=ATTRIBUTES,
        input=TableRules(NUMBERS),
        variants=(
            SMALL,
            {**STOPPED, "loss": "absolute_error"},
            {**SMALL, "loss": "quantile", "quantile": 0.3, "monotonic_cst": [1, 0, 0, -1]},
            {**SMALL, "l2_regularization": 0.5, "interaction_cst": "no_interactions", "max_bins": 6},
        ),
        unproved=UNPROVED,
        tests=("test_hist_gradient_boosting",),
    ),
)
