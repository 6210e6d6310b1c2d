"""show_decision: how a classifier of this family decides about new rows, step by step."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pellucid.core.types import Data

if TYPE_CHECKING:
    from pellucid.workings.document import Document

MAKERS = {
    "BayesClassifier": "pellucid.naive_bayes.bayes_classifier_workings:bayes_classifier_workings",
    "GaussianNB": "pellucid.naive_bayes.gaussian_nb_workings:gaussian_nb_workings",
    "MultinomialNB": "pellucid.naive_bayes.multinomial_nb_workings:multinomial_nb_workings",
}
"""Class name -> the function ``(estimator, X, y, new) -> Document``, imported on first use: it brings SymPy."""


def show_decision(estimator: Any, X: Data, y: Data, new: Data) -> Document:
    """Return the workings of an estimator on small training data, and of its decision about a few new rows.

    ``pellucid.show_work`` decides about the training rows instead.

    Parameters
    ----------
    estimator : GaussianNB, MultinomialNB or BayesClassifier
        Fitted or not; scikit-learn's namesakes are shown too.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The training data; None for a BayesClassifier to which densities and priors were given.
    new : array-like of shape (n_new, n_features)
        The rows to decide about.

    Examples
    --------
    >>> from pellucid.naive_bayes import MultinomialNB
    >>> work = show_decision(MultinomialNB(), [[2, 0], [1, 1], [0, 1]], ["a", "a", "b"], [[0, 2]])
    >>> work.answer["predicted"], work.answer["shares"]  # 2/3 (1/3)^2 = 2/27 against 1/3 (2/3)^2 = 4/27
    (['b'], [[2/3, 1/3], [1/3, 2/3]])
    """
    for kind in type(estimator).__mro__:
        if kind.__name__ in MAKERS:
            module, function = MAKERS[kind.__name__].split(":")
            document: Document = getattr(import_module(module), function)(estimator, X, y, new)
            return document
    raise TypeError(f"estimator must be an instance of one of {', '.join(MAKERS)}, got {type(estimator).__name__}.")
