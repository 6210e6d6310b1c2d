"""show_decision: how a classifier of this family decides about new rows, step by step."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pellucid.core.types import Data

if TYPE_CHECKING:
    from pellucid.workings.document import Document


def show_decision(estimator: Any, X: Data, y: Data, new: Data) -> Document:
    """Return the workings of an estimator on small training data, and of its decision about a few new rows.

    ``pellucid.show_work`` decides about the training rows instead.

    Parameters
    ----------
    estimator : estimator of this family
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
    from pellucid.naive_bayes.naive_bayes_card import CARDS

    makers = {card.name: card.workings for card in CARDS if card.workings}
    for kind in type(estimator).__mro__:
        if kind.__name__ in makers:
            module, function = makers[kind.__name__].split(":")
            document: Document = getattr(import_module(module), function)(estimator, X, y, new)
            return document
    raise TypeError(f"estimator must be an instance of one of {', '.join(makers)}, got {type(estimator).__name__}.")
