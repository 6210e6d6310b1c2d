"""Method card of NearestCentroid."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, OneOf
from pellucid.core.kinds.usual import A_LIST, LABELS, NUMBER, POSITIVE
from pellucid.neighbors.nearest_centroid import NearestCentroid

WIDE = ("float64",)

CARDS = (
    MethodCard(
        NearestCentroid,
        topics=("NBR-1",),
        onnx="pellucid.neighbors.neighbors_in_onnx:centroid",
        workings="pellucid.neighbors.nearest_centroid_workings:nearest_centroid_workings",
        parameters={
            "metric": OneOf(("euclidean", "manhattan")),
            "shrink_threshold": Nothing() | POSITIVE,
            "priors": OneOf(("uniform", "empirical")) | Items(NUMBER) | Numbers((None,)) | A_LIST,
        },
        attributes={
            "classes_": LABELS,
            "centroids_": Numbers(("n_classes", "n_features"), WIDE),
            "class_prior_": Numbers(("n_classes",), WIDE, low=0),
            "within_class_std_dev_": Numbers(("n_features",), WIDE, low=0),
            "deviations_": Numbers(("n_classes", "n_features"), WIDE, finite=False),
        },
        input=InputRules(CLASSES, sparse=("csr",), weights=False),
        variants=({"metric": "manhattan", "priors": "empirical"}, {"shrink_threshold": 0.5, "priors": [0.2, 0.3, 0.5]}),
        meaning="the centroids are those of these rows; whether the classes are round clouds of one size, as the "
        "method supposes, is another question",
        take_for="classes that are round clouds of one size, many classes, or very few rows",
        references=(
            (
                "Tibshirani, Hastie, Narasimhan and Chu, Diagnosis of multiple cancer types by shrunken "
                "centroids of gene expression, PNAS 99 (2002)"
            ),
        ),
    ),
)
