"""One of each density with parameters well inside their range, for tests that hold for all of them."""

import numpy as np

from pellucid.probability import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Gaussian,
    Logistic,
    Multinomial,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
)

COVARIANCE = np.array([[2.0, 0.6, 0.1], [0.6, 1.0, -0.3], [0.1, -0.3, 0.5]])

DENSITIES = {
    "bernoulli": Bernoulli(0.3),
    "binomial": Binomial(7, 0.4),
    "categorical": Categorical([0.2, 0.5, 0.3], ["a", "b", "c"]),
    "multinomial": Multinomial(5, [0.2, 0.5, 0.3]),
    "gaussian": Gaussian(-1.0, 4.0),
    "full": MultivariateGaussian([1.0, -2.0, 0.5], COVARIANCE),
    "diagonal": MultivariateGaussian([1.0, -2.0, 0.5], [2.0, 1.0, 0.5]),
    "spherical": MultivariateGaussian([1.0, -2.0, 0.5], 1.5),
    "logistic": Logistic(2.0, 0.7),
}

SETTINGS = {
    "binomial": {"n_trials": 7},
    "categorical": {"categories": ["a", "b", "c"]},
    "diagonal": {"kind": "diagonal"},
    "spherical": {"kind": "spherical"},
}

PRIORS = {
    "bernoulli": Beta(2.0, 3.0),
    "binomial": Beta(2.0, 3.0),
    "categorical": Dirichlet([2.0, 1.0, 3.0]),
    "multinomial": Dirichlet([2.0, 1.0, 3.0]),
    "gaussian": NormalInverseGamma(1.0, 2.0, 3.0, 4.0),
    "full": NormalInverseWishart([0.0, 1.0, 2.0], 2.0, 5.0, np.eye(3) + 0.5),
    "diagonal": NormalInverseGamma(1.0, 2.0, 3.0, 4.0),
    "spherical": NormalInverseGamma(1.0, 2.0, 3.0, 4.0),
}


def fit(name, X, sample_weight=None, prior=None):
    """Fit the density of this name with the settings it needs."""
    return type(DENSITIES[name]).fit(X, sample_weight, prior=prior, **SETTINGS.get(name, {}))


def parameters(density):
    """Return all fitted numbers of a density in one vector."""
    names = ("p", "probabilities", "mean", "variance", "covariance", "location", "scale")
    fields = [name for name in names if name in type(density).__dataclass_fields__]
    return np.concatenate([np.ravel(getattr(density, name)) for name in fields])
