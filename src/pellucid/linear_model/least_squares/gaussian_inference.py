r"""Statistics of a linear fit under Gaussian noise: variance, standard errors, intervals, a summary table.

With :math:`y = Xw + b + \varepsilon`, :math:`\varepsilon \sim N(0, \sigma^2)` and weights as repetitions,

.. math:: \hat\sigma^2 = \frac{\mathrm{RSS}}{\sum_i w_i - d}, \quad
          \mathrm{Cov}(\hat w) = \sigma^2 H^{-1}A'A H^{-1}, \quad H = A'A + \alpha I, \quad
          d = \mathrm{tr}(H^{-1}A'A) + 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.checks import check_between
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.least_squares_solvers import DirectFit
from pellucid.linear_model.least_squares.normal_factor import NormalFactor
from pellucid.proofs.arrays import dense
from pellucid.solvers.design import Design

if TYPE_CHECKING:
    import pandas as pd

MOST_FEATURES = 2000
"""Above this many features the covariance of the coefficients is not kept: it would outgrow the data."""


@dataclass(frozen=True)
class NoiseStatistics:
    """What the inference needs to know about a fit, each number computed when it is asked for.

    The covariance takes an inverse, which costs more than the fit; the factor that it comes from is kept instead.
    """

    feature_means: Array
    total_weight: float
    fit_intercept: bool
    rss: Array | None = None  # (t,); None where the solver leaves no factor to compute a covariance from
    rank: int = 0
    alpha: float = 0.0
    one_target: bool = True
    factor: NormalFactor | None = None  # None where the inverse would outgrow the data

    def known(self) -> dict[str, Any]:
        """Return the attributes that cost nothing."""
        cheap = {"feature_means_": self.feature_means, "total_weight_": self.total_weight}
        unknown = {"noise_variance_": math.nan, "degrees_of_freedom_": math.nan, "unit_covariance_": None}
        return cheap | unknown if self.rss is None else cheap

    def later(self) -> dict[str, Callable[[], Any]]:
        """Return how to compute the others."""
        if self.rss is None:
            return {}
        return {
            "noise_variance_": self.noise_variance,
            "degrees_of_freedom_": self.degrees_of_freedom,
            "unit_covariance_": self.unit_covariance,
        }

    @cached_property
    def _inverse(self) -> Array:
        assert self.factor is not None
        return self.factor.inverse()

    def degrees_of_freedom(self) -> float:
        """Return what the fit leaves of the total weight."""
        shrunk = self.alpha * float(np.trace(self._inverse)) if self.alpha and self.factor is not None else 0.0
        return float(self.total_weight - (self.rank - shrunk) - self.fit_intercept)

    def noise_variance(self) -> Any:
        """Return the variance of the noise of each target, nan where no degrees of freedom are left."""
        assert self.rss is not None
        free = self.degrees_of_freedom()
        variance = self.rss / free if free > 0 else np.full(len(self.rss), np.nan)
        return float(variance[0]) if self.one_target else variance

    def unit_covariance(self) -> Array | None:
        """Return the covariance of the coefficients for noise of variance 1, None where there is none."""
        if self.factor is None or self.degrees_of_freedom() <= 0:
            return None
        inverse = self._inverse
        return inverse - self.alpha * (inverse @ inverse) if self.alpha else inverse


def unknown_noise(design: Design) -> NoiseStatistics:
    """Return what is known when the solver leaves no factor to compute a covariance from."""
    return NoiseStatistics(design.mean, design.total_weight, design.fit_intercept)


def noise_statistics(design: Design, fit: DirectFit, *, one_target: bool) -> NoiseStatistics:
    """Return the statistics of a direct fit."""
    has_inverse = design.shape[1] <= min(design.shape[0], MOST_FEATURES)
    return NoiseStatistics(
        design.mean,
        design.total_weight,
        design.fit_intercept,
        rss=fit.at.rss,
        rank=fit.rank,
        alpha=fit.alpha,
        one_target=one_target,
        factor=fit.factor if has_inverse else None,
    )


class GaussianInference:
    """Standard errors, prediction intervals and a summary for estimators that have the numbers of ``NoiseStatistics``.

    They hold for a fixed design and Gaussian noise of equal variance. The intervals of a penalized fit are centered at
    the shrunken prediction and do not include its bias.
    """

    coef_: Array
    intercept_: Any
    fit_intercept: bool
    noise_variance_: Any
    degrees_of_freedom_: float
    unit_covariance_: Array | None
    feature_means_: Array
    total_weight_: float

    def standard_errors(self) -> Array:
        """Return the standard errors of ``coef_``, in its shape."""
        covariance = self._covariance_or_refuse()
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        return np.multiply.outer(np.sqrt(self.noise_variance_), deviations).reshape(self.coef_.shape)

    def prediction_interval(self, X: Data, level: float = 0.95) -> tuple[Array, Array]:
        """Return the lower and upper ends between which a new observation at each row falls with this probability."""
        return self._interval(X, level, of_new_observation=True)

    def confidence_interval(self, X: Data, level: float = 0.95) -> tuple[Array, Array]:
        """Return the lower and upper ends of the interval for the mean of ``y`` at each row."""
        return self._interval(X, level, of_new_observation=False)

    def _interval(self, X: Data, level: float, *, of_new_observation: bool) -> tuple[Array, Array]:
        from scipy.stats import t

        check_between(0, 1, level=level, hint="Give 0.95 for 95 %.")
        center = self.predict(X)  # type: ignore[attr-defined]  # of the estimator mixed with
        covariance = self._covariance_or_refuse()
        from_mean = dense(X).astype(np.float64, copy=False) - self.feature_means_
        unit = np.einsum("ij,jk,ik->i", from_mean, covariance, from_mean)
        unit += (1.0 / self.total_weight_ if self.fit_intercept else 0.0) + of_new_observation
        spread = np.sqrt(np.multiply.outer(np.maximum(unit, 0.0), self.noise_variance_))
        reach = t.ppf(0.5 + level / 2, self.degrees_of_freedom_) * spread.reshape(center.shape)
        return center - reach, center + reach

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Return coefficient, standard error, t value, p value and interval of each feature and the intercept."""
        import pandas as pd
        from scipy.stats import t

        check_between(0, 1, level=level, hint="Give 0.95 for 95 %.")
        if self.coef_.ndim != 1:
            raise ValueError(f"summary must have one target, got {len(self.coef_)}. Fit one model per target.")
        errors, names = self.standard_errors(), self._names()
        values = np.asarray(self.coef_, dtype=np.float64)
        if self.fit_intercept:
            offset = np.sqrt(self.noise_variance_ * self._unit_variance_of_intercept())
            names = ["intercept", *names]
            values, errors = np.concatenate([[self.intercept_], values]), np.concatenate([[offset], errors])
        with np.errstate(divide="ignore", invalid="ignore"):
            t_values = values / errors
        reach = t.ppf(0.5 + level / 2, self.degrees_of_freedom_) * errors
        return pd.DataFrame(
            {
                "coefficient": values,
                "standard error": errors,
                "t": t_values,
                "p": 2 * t.sf(np.abs(t_values), self.degrees_of_freedom_),
                "low": values - reach,
                "high": values + reach,
            },
            index=pd.Index(names, name="feature"),
        )

    def _unit_variance_of_intercept(self) -> float:
        covariance = self._covariance_or_refuse()
        return float(1.0 / self.total_weight_ + self.feature_means_ @ covariance @ self.feature_means_)

    def _names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.coef_.shape[-1])] if known is None else [str(name) for name in known]

    def _covariance_or_refuse(self) -> Array:
        check_is_fitted(self)
        if self.unit_covariance_ is None:
            raise ValueError(
                f"a fit with standard errors must have more rows than features, at most {MOST_FEATURES} features, one "
                f"penalty and a direct solver, got {self.degrees_of_freedom_:g} degrees of freedom and "
                f"{self.coef_.shape[-1]} features. Add rows, drop features or use solver='auto'."
            )
        return self.unit_covariance_
