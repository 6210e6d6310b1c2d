r"""Proof of factor analysis: the likelihood is that of what is stored, and no step of the algorithm leads elsewhere.

In units of the columns' deviations, with correlations R and :math:`\Sigma = W'W + \Psi`, the likelihood of the data is
computed again from a Cholesky factor of :math:`\Sigma`. Three claims make it stationary:

- W solves :math:`W\Sigma^{-1}R = W`, which holds for every rotation of it;
- no other W with as many rows has a larger likelihood at this noise. The largest one follows from the singular values
  of :math:`L\Psi^{-1/2}` with :math:`L'L = R`: those above 1 belong to factors;
- another step, :math:`\Psi \leftarrow \mathrm{diag}(R - W'W)`, gains at most ``tol``.

Relative errors of R move the eigenvalues of :math:`\Psi^{-1/2}R\Psi^{-1/2}` by parts of at most
:math:`\|\delta R\| / \lambda_{\min}(R)`, whatever the noise (Demmel and Veselic, 1992); noise below ``FLOOR`` is not
allowed, which bounds the errors where :math:`\lambda_{\min}` is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

FLOOR = 1e-12
"""Least noise variance of a column, in parts of its variance, or as it is where the column is constant."""

ROWS_AT_ONCE = 4096

COLUMN_PART = {"varimax": 1.0, "quartimax": 0.0}
r"""The c of the criterion :math:`\sum\lambda_{ij}^4 - \frac cd\sum_j(\sum_i\lambda_{ij}^2)^2` of a rotation."""

EQUATIONS = 1e-7
"""Residuals accepted in deviations of a column, besides those that rounding of the data makes."""

AMPLIFIED = 1e3
"""Factor by which the equations may enlarge errors of the correlations."""

LIKELIHOOD = 1e-9
"""Error of the likelihood of one number of the data."""

TURNED = 1e-6
"""Asymmetry of the gradient of a rotation, and of products of factors, that is accepted."""

NOT_CONVERGED = "Raise max_iter or tol."


@dataclass(frozen=True, eq=False)
class ColumnCorrelations:
    """The data as the claims need them, in units of the columns' deviations."""

    mean: Array
    scale: Array
    matrix: Array
    root: Array
    """L with L'L the correlations."""
    n: float
    scores: Array
    """The largest score of each factor, and the least."""

    @classmethod
    def of(cls, data: TrainingData, back: Array) -> ColumnCorrelations:
        """Return them in one pass over the rows, with scores by ``back``.

        A fit takes the root of the products, which is quicker and less exact.
        """
        weights, n, d = data.weights, float(data.weights.sum()), data.X.shape[1]
        mean, middle = weights @ data.X / n, np.zeros(d)  # what rounding left of a large mean is taken after it
        products, root, ends = np.zeros((d, d)), np.zeros((0, d)), []
        for start in range(0, len(weights), ROWS_AT_ONCE):
            counts = weights[start : start + ROWS_AT_ONCE]
            rows = np.subtract(data.X[start : start + ROWS_AT_ONCE], mean, dtype=np.float64)
            scores = back.T @ rows.T  # (k, n): the ends of long rows are found quicker than those of columns
            ends += [scores.max(axis=1), scores.min(axis=1)]
            middle += counts @ rows / n
            if data.weight is not None:
                rows *= np.sqrt(counts)[:, None]
            products += rows.T @ rows / n
            if not is_fitting():
                root = np.asarray(np.linalg.qr(np.vstack([root, rows / np.sqrt(n)]), mode="r"))
        both = np.array([np.max(ends, axis=0), np.min(ends, axis=0)])
        return cls.from_products(mean + middle, products, n, both, None if is_fitting() else root)

    @classmethod
    def from_products(
        cls, mean: Array, products: Array, n: float, scores: Array, root: Array | None = None
    ) -> ColumnCorrelations:
        """Return them from the covariance matrix; its root is taken where none is given."""
        scale = np.sqrt(np.where(np.diagonal(products) > 0.0, np.diagonal(products), 1.0))
        products = products / np.outer(scale, scale)
        if root is not None:
            return cls(mean, scale, products, root / scale, n, scores)
        values, vectors = np.linalg.eigh(products)
        root = np.where(np.diagonal(products) > 0.0, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, 0.0)
        return cls(mean, scale, products, root, n, scores)

    @property
    def mean_error(self) -> float:
        """Bound on the error of a mean, in deviations: that of sums, and what an offset of the columns has cost."""
        return sum_error(int(self.n)) + 16 * EPSILON * float(np.max(np.abs(self.mean) / self.scale))

    @property
    def noise(self) -> float:
        """Relative error of a correlation: sums of deviations are 0, so that of the mean counts by its square."""
        return sum_error(int(self.n)) + min(self.mean_error, 1.0) ** 2

    @property
    def likelihood_error(self) -> float:
        """Bound on the error of the log likelihood of all rows."""
        is_free = np.diagonal(self.matrix) == 0.0
        singular = np.linalg.svd(self.root[:, ~is_free], compute_uv=False)
        least = float(singular[-1] ** 2) if 0 < len(singular) == (~is_free).sum() else FLOOR
        part = LIKELIHOOD * len(self.mean) * (1.0 + float(np.max(np.abs(np.log(self.scale)))))
        return self.n * (part + 32 * EPSILON / max(least, FLOOR))

    def log_likelihood(self, loadings: Array, noise: Array) -> float:
        """Return the log likelihood of all rows, from a Cholesky factor of the covariance of the model."""
        deviation = np.sqrt(noise)
        scaled = loadings / deviation
        try:
            factor = np.linalg.cholesky(np.eye(len(scaled)) + scaled @ scaled.T)
        except np.linalg.LinAlgError:
            return float("nan")
        rows = self.root / deviation
        factors = cho_solve((factor, True), scaled @ rows.T)
        total = float(np.sum((rows.T - scaled.T @ factors) ** 2) + np.sum(factors**2))  # no difference of large squares
        return self._from(noise, 2.0 * float(np.log(np.diagonal(factor)).sum()), total)

    def largest_likelihood(self, noise: Array, k: int) -> float:
        """Return the largest log likelihood that k factors can reach at this noise."""
        s = np.linalg.svd(self.root / np.sqrt(noise), compute_uv=False) ** 2
        above = s[:k][s[:k] > 1.0]
        return self._from(noise, float(np.log(above).sum()), float(len(above) + s[len(above) :].sum()))

    def _from(self, noise: Array, log_determinant: float, total: float) -> float:
        constant = len(noise) * np.log(2.0 * np.pi) + 2.0 * np.log(self.scale).sum()
        return float(-0.5 * self.n * (constant + np.log(noise).sum() + log_determinant + total))


def prove_factor_analysis(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with the moments computed again from the rows."""
    if wrong := wrong_shapes(fitted, parameters, data.X.shape[1]):
        return wrong
    with np.errstate(all="ignore"):  # noise that is none is told below
        seen = ColumnCorrelations.of(data, posterior_map(fitted.components_, fitted.noise_variance_))
    return factor_claims(fitted, parameters, seen)


def wrong_shapes(fitted: Seen, parameters: Seen, d: int) -> Certificate | None:
    """Return the certificate of a model that is none of ``d`` columns."""
    k = d if parameters.n_components is None else min(d, parameters.n_components)
    also = {"loglike_": len(fitted.loglike_) == fitted.n_iter_ >= 1}
    return misshapen("stationary", fitted, also, components_=(k, d), noise_variance_=(d,), mean_=(d,))


def factor_claims(fitted: Seen, parameters: Seen, seen: ColumnCorrelations) -> Certificate:
    """Return the certificate from what is seen of the rows."""
    loadings, noise = fitted.components_ / seen.scale, fitted.noise_variance_ / seen.scale**2
    away = float(np.max(np.abs(fitted.mean_ - seen.mean) / seen.scale))
    claims = [Claim("mean", "distance of mean_ from the mean, in deviations", away, seen.mean_error)]
    low = int(np.sum(~(noise >= FLOOR * (1.0 - TURNED))))
    claims.append(Claim("floor", "noise variances below the least allowed", float(low), 0.0))
    if low == 0:
        with np.errstate(over="ignore", invalid="ignore"):
            claims += _likelihood_claims(fitted, parameters, seen, loadings, noise)
            claims += [_equation_claim(seen, loadings, noise), _free_claim(seen, loadings, noise)]
            claims += _form_claims(fitted, parameters, seen)
    return Certificate("stationary", tuple(claims))


def _likelihood_claims(
    fitted: Seen, parameters: Seen, seen: ColumnCorrelations, loadings: Array, noise: Array
) -> list[Claim]:
    error, k = seen.likelihood_error, len(loadings)
    found, most = seen.log_likelihood(loadings, noise), seen.largest_likelihood(noise, k)
    following = np.maximum(np.diagonal(seen.matrix) - np.sum(loadings**2, axis=0), FLOOR)
    gain = seen.largest_likelihood(following, k) - found
    path = np.asarray(fitted.loglike_, dtype=np.float64)
    return [
        Claim("likelihood", "distance of the last of loglike_ from the log likelihood of what is stored",
              abs(found - float(path[-1])), error),
        Claim("never fell", "largest fall of the log likelihood from one iteration to the next",
              float(np.max(-np.diff(path), initial=0.0)), error),
        Claim("missed", "log likelihood that other loadings would gain at this noise", most - found, error),
        Claim("gain", "log likelihood that another step would gain", gain, parameters.tol + error, NOT_CONVERGED),
    ]  # fmt: skip


def _equation_claim(seen: ColumnCorrelations, loadings: Array, noise: Array) -> Claim:
    """Return the claim that W solves its equations, whatever its rotation."""
    inverse = posterior_map(loadings, noise)  # Sigma^-1 W'
    rest = seen.matrix @ inverse - loadings.T
    return Claim("equations", "largest residual of the equations of the loadings, in deviations of the columns",
                 largest(rest), EQUATIONS + AMPLIFIED * seen.noise)  # fmt: skip


def _free_claim(seen: ColumnCorrelations, loadings: Array, noise: Array) -> Claim:
    """Return the claim that columns without loadings have all their variance as noise."""
    is_free = ~loadings.any(axis=0)
    wanted = np.maximum(np.diagonal(seen.matrix), FLOOR)[is_free]
    return Claim("free columns",
                 "distance of the noise of columns without loadings from their variance, in parts of it",
                 largest(noise[is_free] / wanted - 1.0),
                 EQUATIONS + AMPLIFIED * seen.noise, NOT_CONVERGED)  # fmt: skip


def _form_claims(fitted: Seen, parameters: Seen, seen: ColumnCorrelations) -> list[Claim]:
    """Return claims about what a rotation would change: the form of the loadings, order and signs."""
    W, noise = fitted.components_, fitted.noise_variance_
    products = (W / noise) @ W.T
    strength = np.diagonal(products)
    size = max(float(strength.max(initial=0.0)), TINY)
    if parameters.rotation is None:
        turned = largest(products - np.diag(strength)) / size
        said = "largest product of two factors in deviations of the noise, in parts of the largest square"
    else:
        turned, said = (
            _asymmetry(W.T, COLUMN_PART[parameters.rotation]),
            "asymmetry of the gradient of the rotation, which is 0 at its maximum",
        )
    high, low = seen.scores
    wrong = int(np.sum(np.diff(strength) > TURNED * size)) + int(np.sum(~(high >= (TURNED - 1.0) * low)))
    return [
        Claim("rotation", said, turned, TURNED + AMPLIFIED * seen.noise),
        Claim("order", "factors out of order or of the other sign", float(wrong), 0.0),
    ]


def posterior_map(W: Array, noise: Array) -> Array:
    r"""Return what a centered row is multiplied by to give its factors, :math:`\Sigma^{-1}W'`."""
    scaled = W / np.sqrt(noise)
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    inner = (vectors / (1.0 + np.maximum(values, 0.0))) @ vectors.T
    return np.asarray((inner @ scaled / np.sqrt(noise)).T)


def _asymmetry(loadings: Array, c: float) -> float:
    """Return how far the product of loadings and gradient of the criterion is from symmetric: it is at a maximum."""
    unit = loadings / max(largest(loadings), TINY)
    gradient = unit**3 - c * unit * np.mean(unit**2, axis=0)
    turned = unit.T @ gradient
    return largest(turned - turned.T) / max(largest(turned), TINY)


PROVES = {"FactorAnalysis": prove_factor_analysis}
