"""Fits recover parameters at the rate 1/sqrt(n), with the covariance of the inverse Fisher information.

For each density the normalized errors ``z = sqrt(n) I^(1/2) (estimate - truth)`` of many replications are compared with
independent standard normals: their mean and their covariance by tests at a false-alarm rate of 1e-6 each. The tests are
valid for any seed, up to terms of order 1/n that change that rate by a small factor; the seed makes them repeatable.
"""

import numpy as np
import pytest
from scipy.stats import chi2, norm

from tests.probability.samples_of import COVARIANCE, DENSITIES, fit

FALSE_ALARM = 1e-6
REPLICATIONS = 300
SIZES = (400, 1600, 6400)


def free_shares(density):
    return density.probabilities[:-1]


def mean_and_upper_triangle(density):
    return np.r_[density.mean, density.covariance[np.triu_indices(3)]]


def share_covariance(p):
    return np.diag(p) - np.outer(p, p)


def gaussian_covariance():
    """Inverse information of mean and covariance: S for the mean, S_ik S_jl + S_il S_jk for pairs of entries."""
    S, pairs = COVARIANCE, list(zip(*np.triu_indices(3), strict=True))
    of_entries = [[S[i, k] * S[j, m] + S[i, m] * S[j, k] for k, m in pairs] for i, j in pairs]
    return np.block([[S, np.zeros((3, 6))], [np.zeros((6, 3)), np.array(of_entries)]])


PARAMETERS = {  # name: what is estimated, and the inverse of the Fisher information of one observation
    "bernoulli": (lambda d: [d.p], [[0.3 * 0.7]]),
    "binomial": (lambda d: [d.p], [[0.4 * 0.6 / 7]]),
    "categorical": (free_shares, share_covariance([0.2, 0.5])),
    "multinomial": (free_shares, share_covariance([0.2, 0.5]) / 5),
    "gaussian": (lambda d: [d.mean, d.variance], np.diag([4.0, 2 * 4.0**2])),
    "full": (mean_and_upper_triangle, gaussian_covariance()),
    "diagonal": (lambda d: np.r_[d.mean, d.covariance], np.diag([2, 1, 0.5, 2 * 4, 2 * 1, 2 * 0.25])),
    "spherical": (lambda d: np.r_[d.mean, d.covariance], np.diag([1.5, 1.5, 1.5, 2 * 1.5**2 / 3])),
    "logistic": (lambda d: [d.location, d.scale], np.diag([3 * 0.49, 9 * 0.49 / (3 + np.pi**2)])),
}


def normalized_errors(name, n, rng):
    parameters, covariance = PARAMETERS[name]
    truth = np.asarray(parameters(DENSITIES[name]), dtype=float)
    X = DENSITIES[name].sample(REPLICATIONS * n, rng)
    estimates = [parameters(fit(name, X[r * n : (r + 1) * n])) for r in range(REPLICATIONS)]
    root = np.linalg.cholesky(np.asarray(covariance, dtype=float))
    return np.linalg.solve(root, np.sqrt(n) * (np.array(estimates) - truth).T).T


@pytest.mark.parametrize("name", PARAMETERS)
def test_errors_have_the_covariance_of_the_inverse_information(name):
    rng = np.random.default_rng(20260101)
    sizes = []
    for n in SIZES:
        z = normalized_errors(name, n, rng)
        k = z.shape[1]
        assert REPLICATIONS * (z.mean(axis=0) ** 2).sum() < chi2.isf(FALSE_ALARM, k)
        second = z.T @ z / REPLICATIONS
        likelihood_ratio = REPLICATIONS * (np.trace(second) - np.linalg.slogdet(second)[1] - k)
        assert likelihood_ratio < chi2.isf(FALSE_ALARM, k * (k + 1) // 2)
        sizes.append(np.sqrt((z**2).sum() / (REPLICATIONS * k * n)))
    # the log of a root mean square of m normals has standard error 1 / sqrt(2 m)
    slope = np.log(sizes[-1] / sizes[0]) / np.log(SIZES[-1] / SIZES[0])
    error = np.sqrt(2 / (2 * REPLICATIONS * k)) / np.log(SIZES[-1] / SIZES[0])
    assert abs(slope + 0.5) < norm.isf(FALSE_ALARM / 2) * error
