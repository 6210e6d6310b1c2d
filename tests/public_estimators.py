"""Every public estimator of the library, with small data it can be fitted on."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from inspect import isabstract, isclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.core.cards import all_cards, find_card


def public_estimators():
    """Return every estimator class that a family exports, by name; a pipeline is what its steps are."""
    found = {}
    for info in pkgutil.iter_modules(pellucid.__path__):
        if not info.ispkg:
            continue
        package = import_module(f"pellucid.{info.name}")
        for name in getattr(package, "__all__", ()):
            kind = getattr(package, name)
            if (
                isclass(kind)
                and issubclass(kind, BaseEstimator)
                and not (isabstract(kind) or issubclass(kind, Pipeline))
            ):
                found[name] = kind
    return dict(sorted(found.items()))


def instances():
    """Return one instance of each, with default parameters, and a seed where one is asked for."""
    return [seeded(usual(kind)) for kind in public_estimators().values()]


def carded():
    """Return one instance for every variant of every method card, with its card; the defaults first."""
    return [(card, seeded(card.estimator(**settings))) for card in all_cards() for settings in _variants(card)]


def _variants(card):
    """Return the settings to try; one of them has no intercept, where there may be one."""
    tried = [card.trial.settings, *card.variants]
    if "fit_intercept" in card.parameters and not any("fit_intercept" in settings for settings in tried):
        tried.append({"fit_intercept": False})
    return tried


def usual(kind):
    """Return an instance with default parameters, but for those that small problems need."""
    card = find_card(kind.__name__)
    return kind(**card.trial.settings if card else {})


def seeded(estimator):
    """Return the estimator with a seed where it takes one."""
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def problem_for(estimator, seed=0, n=40, p=4):
    """Return X and y that suit the estimator; every coefficient and the intercept matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    signal = X @ np.arange(3.0, 3.0 + 4 * p, 4.0) + 5.0
    if is_classifier(estimator):
        kinds = estimator.__sklearn_tags__().input_tags
        if kinds.positive_only:
            X = np.floor(2 * np.abs(X))  # counts, or categories
        return X, np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3]))
    if estimator.__sklearn_tags__().input_tags.positive_only:
        X = np.abs(X)
    return X, signal + 0.5 * rng.standard_normal(n)


def answer_of(model, X):
    """Return what a fitted model says: predictions, else transformed rows, else the clusters of its training rows."""
    for name in ("predict", "transform"):
        if hasattr(model, name):
            said = getattr(model, name)(X)
            return said.toarray() if sparse.issparse(said) else said
    return model.labels_
