"""Method cards of linear and quadratic discriminant analysis."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.input_rules import CLASSES, MOMENTS, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Whole
from pellucid.core.kinds.usual import A_LIST, FLAG, LABELS, NONNEGATIVE, NUMBER
from pellucid.discriminant_analysis.class_moments import check_covariance_parameters
from pellucid.discriminant_analysis.linear_discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.discriminant_analysis.quadratic_discriminant_analysis import QuadraticDiscriminantAnalysis

SETTINGS: dict[str, Kind] = {
    "shrinkage": Nothing() | OneOf(("auto",)) | Number(low=0, high=1),
    "priors": Nothing() | Items(NUMBER) | Numbers((None,)) | A_LIST,
    "store_covariance": FLAG,
    "tol": NONNEGATIVE,
    "covariance_estimator": Nothing() | Live("an estimator of covariances", lambda given: hasattr(given, "fit")),
}
GROUPS: dict[str, Kind | Optional] = {
    "classes_": LABELS,
    "priors_": Numbers(("n_classes",), low=0),
    "means_": Numbers(("n_classes", "n_features")),
}


def _restore_component_count(model: Any) -> None:
    most = min(len(model.classes_) - 1, model.n_features_in_)
    model._n_features_out = most if model.n_components is None else model.n_components


def _blocks(estimator: Any) -> str:
    """Return how rows in blocks are summed: their moments will do, unless each row is looked at to shrink them."""
    needs_rows = estimator.shrinkage == "auto" or estimator.covariance_estimator is not None
    return "" if needs_rows else MOMENTS


CARDS = (
    MethodCard(
        LinearDiscriminantAnalysis,
        topics=("CLS-3",),
        device="pellucid.discriminant_analysis.linear_on_device",
        onnx="pellucid.discriminant_analysis.discriminants_in_onnx:linear",
        workings="pellucid.discriminant_analysis.linear_discriminant_workings:linear_discriminant_workings",
        parameters={
            "solver": OneOf(("svd", "lsqr", "eigen")),
            **SETTINGS,
            "n_components": Nothing() | Whole(low=1),
        },
        check=check_covariance_parameters,
        attributes={
            **GROUPS,
            "coef_": Numbers((None, "n_features")),
            "intercept_": Numbers((None,), finite=False),  # a prior of 0 rules a class out
            "covariance_": Optional(Numbers(("n_features", "n_features"))),
            "scalings_": Optional(Numbers(("n_features", None))),
            "xbar_": Optional(Numbers(("n_features",))),
            "explained_variance_ratio_": Optional(Numbers((None,), finite=False)),
        },
        input=lambda estimator: InputRules(CLASSES, fewest_rows=2, weights=False, blocks=_blocks(estimator)),
        variants=(
            {"store_covariance": True},
            {"solver": "lsqr", "shrinkage": 0.2},
            {"solver": "eigen", "shrinkage": "auto"},
        ),
        rebuilt=frozenset({"_n_features_out"}),
        rebuild=_restore_component_count,
        tests=("test_discriminant_analysis",),
        meaning="the means and spreads are those of these rows; whether the classes are Gaussian clouds, as the "
        "method supposes, is another question",
        take_for="classes that are clouds of the same shape, few rows, or a picture that separates the classes",
        references=(
            "Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7 (1936)",
            "Hastie, Tibshirani and Friedman, Elements of Statistical Learning, section 4.3, Springer 2009",
        ),
    ),
    MethodCard(
        QuadraticDiscriminantAnalysis,
        topics=("CLS-3",),
        device="pellucid.discriminant_analysis.quadratic_on_device",
        onnx="pellucid.discriminant_analysis.discriminants_in_onnx:quadratic",
        workings="pellucid.discriminant_analysis.quadratic_discriminant_workings:quadratic_discriminant_workings",
        parameters={"solver": OneOf(("svd", "eigen")), **SETTINGS, "reg_param": Number(low=0, high=1)},
        check=check_covariance_parameters,
        attributes={
            **GROUPS,
            "rotations_": Items(Numbers(("n_features", "n_features")), "n_classes"),
            "scalings_": Items(Numbers(("n_features",)), "n_classes"),
            "covariance_": Optional(Items(Numbers(("n_features", "n_features")), "n_classes")),
        },
        input=lambda estimator: InputRules(CLASSES, weights=False, blocks=_blocks(estimator)),
        variants=({"solver": "eigen", "shrinkage": 0.1}, {"reg_param": 0.5, "store_covariance": True}),
        unproved={"rotations_": "directions, whose signs are free"},
        squares=frozenset({"scalings_"}),
        tests=("test_discriminant_analysis",),
        trial=Trial(
            own_floats=dict.fromkeys(("means_", "rotations_", "scalings_"), "digits that its proof needs"),
            by_hand={"reg_param": 0.1},  # classes have fewer rows than it takes
        ),
        take_for="classes that are clouds of different shapes, with many more rows than columns in each",
        references=("Hastie, Tibshirani and Friedman, Elements of Statistical Learning, section 4.3, Springer 2009",),
    ),
)
