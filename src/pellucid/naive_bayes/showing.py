"""show_decision: the older name of ``show_work(estimator, X, y, new=rows)``."""

from __future__ import annotations

from typing import Any

from pellucid.core.types import Data
from pellucid.show import Document, show_work


def show_decision(estimator: Any, X: Data, y: Data, new: Data) -> Document:
    """Return the workings of an estimator on small training data, and of its decision about a few new rows.

    The older name of ``pellucid.show_work(estimator, X, y, new=new)``.

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
    return show_work(estimator, X, y, new=new)
