"""Method cards of the naive Bayes family."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isclass
from typing import Any

import numpy as np

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.input_rules import CATEGORIES, CLASSES, PASSES, SUMS, VARIANCES, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import A_LIST, FLAG, LABELS, NONNEGATIVE, NUMBER
from pellucid.naive_bayes.bayes_classifier import BayesClassifier, rules_for_bayes
from pellucid.naive_bayes.counting_nb import BernoulliNB, CategoricalNB, CountRules, MultinomialNB, YesNoRules
from pellucid.naive_bayes.counting_nb_solvers import warn_of_raised_alpha
from pellucid.naive_bayes.gaussian_nb import GaussianNB
from pellucid.naive_bayes.mixed_nb import MixedNB
from pellucid.probability import Bernoulli, Categorical, Gaussian, MultivariateGaussian
from pellucid.probability.density_record import DensityRecord

GIVEN = Items(NUMBER) | Numbers((None,), (*WHOLES, "float64", "float32")) | A_LIST
WHOLE_NUMBERS = Items(Whole()) | Numbers((None,), WHOLES) | A_LIST
COSTS = Items(Items(NUMBER)) | Numbers((None, None), (*WHOLES, "float64")) | A_LIST
PER_CLASS = Numbers(("n_classes",), ("float64",), low=0.0)
TABLE = Numbers(("n_classes", "n_features"), ("float64",))
LOG_TABLE = Numbers(("n_classes", "n_features"), ("float64",), finite=False)
"""A logarithm of a probability of 0 is not finite."""

COUNTING: dict[str, Kind] = {
    "alpha": NONNEGATIVE | GIVEN,
    "force_alpha": FLAG,
    "fit_prior": FLAG,
    "class_prior": Nothing() | GIVEN,
    "prior_alpha": NONNEGATIVE,
}
COUNTED: dict[str, Kind | Optional] = {
    "classes_": LABELS,
    "class_count_": PER_CLASS,
    "class_log_prior_": Numbers(("n_classes",), ("float64",), finite=False),
}
LEARNED: dict[str, Kind | Optional] = {"classes_": LABELS, "class_count_": PER_CLASS, "class_prior_": PER_CLASS}
SHARED: dict[str, Any] = {"check": warn_of_raised_alpha, "tests": ("test_counting_nb",)}


def _is_class_or_several(value: Any) -> bool:
    return isclass(value) or np.iterable(value)


IN_BLOCKS = ("auto", "gaussian", "bernoulli", "categorical", Gaussian, Bernoulli, Categorical)
"""Densities that sums and counts tell."""


def _mixed_rules(estimator: Any) -> InputRules:
    wanted = estimator.densities
    entries = wanted.values() if isinstance(wanted, Mapping) else [wanted] if isclass(wanted) else np.atleast_1d(wanted)
    return InputRules(CLASSES, dtypes=None, blocks=PASSES if all(entry in IN_BLOCKS for entry in entries) else "")


MEANING = (
    "the shares, means and spreads are those of these rows; whether the columns are independent, as the "
    "method supposes, is another question"
)

CARDS = (
    MethodCard(
        GaussianNB,
        topics=("BAY-2",),
        device="pellucid.naive_bayes.naive_bayes_on_device",
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:gaussian",
        workings="pellucid.naive_bayes.gaussian_nb_workings:gaussian_nb_workings",
        parameters={"priors": Nothing() | GIVEN, "var_smoothing": NONNEGATIVE, "prior_alpha": NONNEGATIVE},
        attributes={**LEARNED, "theta_": TABLE, "var_": TABLE, "scatter_": TABLE, "epsilon_": Real()},
        squares=frozenset({"var_", "scatter_", "epsilon_"}),
        input=InputRules(CLASSES, looks_for_nan=False, blocks=VARIANCES),
        variants=({"priors": [0.2, 0.3, 0.5], "var_smoothing": 0.1}, {"var_smoothing": 0.0, "prior_alpha": 1.0}),
        trial=Trial(
            own_floats=dict.fromkeys(
                ("class_count_", "class_prior_", "epsilon_", "theta_", "var_"), "digits that its proof needs"
            )
        ),
        meaning=MEANING,
        take_for="numbers, few rows, and an answer in no time",
        references=(
            "Hand and Yu, Idiot's Bayes: not so stupid after all?, International Statistical Review 69 (2001)",
        ),
    ),
    MethodCard(
        MultinomialNB,
        topics=("BAY-2", "BAY-3"),
        device="pellucid.naive_bayes.naive_bayes_on_device",
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:multinomial",
        workings="pellucid.naive_bayes.counting_nb_workings:multinomial_nb_workings",
        parameters=COUNTING,
        attributes={**COUNTED, "feature_count_": TABLE, "feature_log_prob_": LOG_TABLE},
        input=CountRules(CLASSES, sparse=("csr",), blocks=SUMS),
        variants=(
            {"alpha": [0.5, 1.0, 2.0, 0.0], "fit_prior": False},
            {"class_prior": [0.2, 0.3, 0.5]},
            {"prior_alpha": 1.0},
        ),
        **SHARED,
        meaning=MEANING,
        take_for="counts, such as words in texts",
        references=(
            "McCallum and Nigam, A comparison of event models for naive Bayes text classification, AAAI workshop 1998",
        ),
    ),
    MethodCard(
        BernoulliNB,
        topics=("BAY-2",),
        device="pellucid.naive_bayes.naive_bayes_on_device",
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:bernoulli",
        workings="pellucid.naive_bayes.counting_nb_workings:bernoulli_nb_workings",
        parameters=COUNTING | {"binarize": Nothing() | Number(finite=False)},
        attributes={
            **COUNTED,
            "feature_count_": TABLE,
            "feature_log_prob_": LOG_TABLE,
            "absence_log_prob_": LOG_TABLE,
        },
        input=lambda model: YesNoRules(
            CLASSES,
            sparse=("csr",),
            threshold=model.binarize,
            blocks="" if model.binarize is None else CATEGORIES,
        ),
        variants=({"alpha": 0.1, "binarize": -1.0}, {"alpha": 0.0, "binarize": 1.5, "prior_alpha": 1.0}),
        **SHARED,
        meaning=MEANING,
        take_for="columns of yes and no, where what is missing tells as much as what is there",
        references=(
            "McCallum and Nigam, A comparison of event models for naive Bayes text classification, AAAI workshop 1998",
        ),
    ),
    MethodCard(
        CategoricalNB,
        topics=("BAY-2",),
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:categorical",
        workings="pellucid.naive_bayes.categorical_nb_workings:categorical_nb_workings",
        parameters=COUNTING | {"min_categories": Nothing() | Whole() | WHOLE_NUMBERS},
        attributes={
            **COUNTED,
            "category_count_": Items(Numbers(("n_classes", None), ("float64",)), "n_features"),
            "feature_log_prob_": Items(Numbers(("n_classes", None), ("float64",), finite=False), "n_features"),
            "n_categories_": Numbers(("n_features",), WHOLES, low=1),
        },
        input=CountRules(CLASSES, dtypes=np.int64, blocks=CATEGORIES),
        variants=({"alpha": 0.5, "min_categories": 9, "prior_alpha": 1.0}, {"fit_prior": False}),
        **SHARED,
        meaning=MEANING,
        take_for="columns of few words or codes",
        references=("Mitchell, Machine Learning, chapter 6, McGraw-Hill 1997",),
    ),
    MethodCard(
        MixedNB,
        topics=("BAY-2",),
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:mixed",
        workings="pellucid.naive_bayes.mixed_nb_workings:mixed_nb_workings",
        parameters={
            "densities": Text()
            | Items(Text())
            | Lookup(Text())
            | Live("a density class, or names or classes for columns", _is_class_or_several),
            "alpha": NONNEGATIVE,
            "prior_alpha": NONNEGATIVE,
            "var_smoothing": NONNEGATIVE,
        },
        attributes={
            **LEARNED,
            "feature_names_in_": Optional(Texts("n_features")),  # densities may be asked for by name
            "densities_": Items(Items(DensityRecord(), "n_classes"), "n_features"),
        },
        input=_mixed_rules,
        passes="pellucid.naive_bayes.mixed_nb_passes:mixed_nb_in_passes",
        variants=({"densities": {1: "logistic"}, "prior_alpha": 1.0}, {"densities": "categorical", "alpha": 0.5}),
        meaning=MEANING,
        take_for="numbers and words in one table, each column with its own kind of density",
        references=(
            "Hand and Yu, Idiot's Bayes: not so stupid after all?, International Statistical Review 69 (2001)",
        ),
    ),
    MethodCard(
        BayesClassifier,
        topics=("BAY-1",),
        onnx="pellucid.naive_bayes.naive_bayes_in_onnx:bayes",
        workings="pellucid.naive_bayes.bayes_classifier_workings:bayes_classifier_workings",
        parameters={
            "densities": Text()
            | Items(DensityRecord())
            | Lookup(DensityRecord())
            | Live("a density class, or densities for all classes", _is_class_or_several),
            "priors": Nothing() | GIVEN,
            "costs": Nothing() | COSTS,
            "var_smoothing": NONNEGATIVE,
        },
        attributes={
            **LEARNED,
            "n_features_in_": Optional(Whole(low=1, size="n_features")),  # where all was given, there were no rows
            "densities_": Items(DensityRecord(), "n_classes"),
            "costs_": Numbers(("n_classes", "n_classes"), ("float64",)),
        },
        input=rules_for_bayes,
        variants=(
            {"priors": [0.2, 0.3, 0.5], "costs": [[0, 1, 4], [1, 0, 1], [2, 1, 0]]},
            {"densities": [MultivariateGaussian(np.full(4, float(k)), np.eye(4)) for k in range(3)]},
        ),
        trial=Trial(
            by_hand={"densities": {0: Gaussian(2, 1), 1: Gaussian(0, 1)}},
            rows=4,
            columns=1,
            classes=2,
        ),
        take_for="densities that you know or choose, and mistakes that cost differently",
        references=("Duda, Hart and Stork, Pattern Classification, chapter 2, Wiley 2001",),
    ),
)
