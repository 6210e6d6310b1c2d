"""Naive Bayes and the Bayes decision rule."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.naive_bayes.bayes_classifier import BayesClassifier
    from pellucid.naive_bayes.bayes_risk import BayesRisk
    from pellucid.naive_bayes.counting_nb import BernoulliNB, CategoricalNB, MultinomialNB
    from pellucid.naive_bayes.gaussian_nb import GaussianNB
    from pellucid.naive_bayes.mixed_nb import MixedNB
    from pellucid.naive_bayes.showing import show_decision

__all__ = [
    "BayesClassifier",
    "BayesRisk",
    "BernoulliNB",
    "CategoricalNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "show_decision",
]

__getattr__ = name_finder(__name__)
