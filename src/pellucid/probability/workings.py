"""probability_workings: which steps by hand belong to which density or measure."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isclass, isfunction
from typing import Any

import numpy as np

from pellucid.core.types import Data
from pellucid.probability.bernoulli_workings import bernoulli_workings, binomial_workings
from pellucid.probability.categorical_workings import categorical_workings, multinomial_workings
from pellucid.probability.channel_workings import capacity_workings, rate_workings
from pellucid.probability.conjugate_priors import Beta, Dirichlet, NormalInverseGamma, NormalInverseWishart
from pellucid.probability.divergence_workings import (
    divergence_workings,
    entropy_workings,
    multi_information_workings,
)
from pellucid.probability.gaussian_workings import gaussian_workings, multivariate_gaussian_workings
from pellucid.probability.information_workings import information_workings
from pellucid.probability.logistic_workings import logistic_workings
from pellucid.show.comparison import compared
from pellucid.show.document import Document

DENSITIES: dict[str, tuple[Callable[[Any, Data, Any], Document], type]] = {
    "Bernoulli": (bernoulli_workings, Beta),
    "Binomial": (binomial_workings, Beta),
    "Categorical": (categorical_workings, Dirichlet),
    "Gaussian": (gaussian_workings, NormalInverseGamma),
    "Logistic": (logistic_workings, type(None)),
    "Multinomial": (multinomial_workings, Dirichlet),
    "MultivariateGaussian": (multivariate_gaussian_workings, NormalInverseWishart),
}
"""Class name -> its workings and the conjugate prior that they show."""

KNOWN_BEFORE = {"Binomial": "n_trials", "Categorical": "categories", "MultivariateGaussian": "kind"}
"""What a fit is told beside the data: as in the density whose work is shown, where it is an object."""

MEASURES = ("entropy", "joint_entropy", "conditional_entropy", "mutual_information")
OTHERS = ("channel_capacity", "kl_divergence", "multi_information", "rate_distortion")


def show_density(what: Any, X: Data, prior: Any = None, **options: Any) -> Document:
    """Return the workings with the numbers of the program beside them; see :func:`probability_workings`."""
    name = getattr(what, "__name__", type(what).__name__)
    if name in OTHERS or (name == "entropy" and np.ndim(X) == 1):
        return _measured(name, X, prior, options)
    document = probability_workings(what, X, prior)
    if isfunction(what):
        return document
    kind: Any = what if isclass(what) else type(what)
    name = None if isclass(what) else KNOWN_BEFORE.get(kind.__name__)
    return compared(document, kind.fit(X, prior=prior, **({} if name is None else {name: getattr(what, name)})))


def _measured(name: str, X: Data, other: Any, options: dict[str, Any]) -> Document:
    """Return the workings of a measure of one distribution, of two, of several variables, or of a channel."""
    if name == "rate_distortion":
        return rate_workings(X, other, **options)
    if name == "kl_divergence":
        return divergence_workings(X, other, **options)
    one = {
        "channel_capacity": capacity_workings,
        "entropy": entropy_workings,
        "multi_information": multi_information_workings,
    }
    return one[name](X, **options)


def probability_workings(what: Any, X: Data, prior: Any = None) -> Document:
    """Return the steps of a fit, or of the information measures of a table, in exact fractions.

    Parameters
    ----------
    what : density class, density or function
        ``Bernoulli``, ``Binomial``, ``Categorical``, ``Multinomial``, ``Gaussian``, ``MultivariateGaussian`` or
        ``Logistic``, the class or an object
        (its tosses, categories or kind of covariance are kept); or ``entropy``, ``joint_entropy``,
        ``conditional_entropy``, ``mutual_information``.
    X : array-like
        Few tosses, few numbers or labels, or a small table of counts.
    prior : density, default=None
        Conjugate prior of a density.

    Examples
    --------
    >>> from pellucid.probability import Bernoulli
    >>> probability_workings(Bernoulli, [1, 1, 0, 1]).answer
    {'p': 3/4}
    """
    name = what.__name__ if isclass(what) or isfunction(what) else type(what).__name__
    if name in MEASURES:
        if prior is not None:
            raise TypeError(f"prior must be None for {name}, got {type(prior).__name__}.")
        return information_workings(what, X)
    if name not in DENSITIES:
        raise TypeError(f"what must be {', '.join((*DENSITIES, *MEASURES))}, got {name}.")
    workings, conjugate = DENSITIES[name]
    if not (prior is None or isinstance(prior, conjugate)):
        raise TypeError(f"prior must be a {conjugate.__name__} to show the work, got {type(prior).__name__}.")
    return workings(what, X, prior)
