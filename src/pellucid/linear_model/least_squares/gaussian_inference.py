r"""Statistics of a linear fit under Gaussian noise: variance, standard errors, intervals, a summary table.

With :math:`y = Xw + b + \varepsilon`, :math:`\varepsilon \sim N(0, \sigma^2)` and weights as repetitions,

.. math:: \hat\sigma^2 = \frac{\mathrm{RSS}}{\sum_i w_i - d}, \quad
          \mathrm{Cov}(\hat w) = \sigma^2 H^{-1}A'A H^{-1}, \quad H = A'A + \alpha I, \quad
          d = \mathrm{tr}(H^{-1}A'A) + 1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.checks import check_between
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.inference_proof import MOST_FEATURES
from pellucid.linear_model.least_squares.least_squares_solvers import DirectFit
from pellucid.numerics.design import Design

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NoiseStatistics:
    """What the inference needs to know about a fit."""

    noise_variance_: Any
    degrees_of_freedom_: float
    unit_covariance_: Array | None
    feature_means_: Array
    total_weight_: float

    def attributes(self) -> dict[str, Any]:
        """Return the statistics by the names under which an estimator keeps them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def unknown(cls, design: Design) -> NoiseStatistics:
        """Return what is known when the solver leaves no factor to compute a covariance from."""
        return cls(float("nan"), float("nan"), None, design.mean, design.total_weight)


def noise_statistics(design: Design, fit: DirectFit, *, one_target: bool) -> NoiseStatistics:
    """Return the statistics of a direct fit; nan and None where there are no degrees of freedom left."""
    p, alpha = design.shape[1], fit.alpha
    total = design.total_weight
    covariance, used = None, float(fit.rank)
    if p <= min(design.shape[0], MOST_FEATURES):
        inverse = fit.factor.inverse()
        covariance = inverse - alpha * (inverse @ inverse) if alpha else inverse
        used = float(fit.rank - alpha * np.trace(inverse)) if alpha else used
    free = total - used - design.fit_intercept
    rss = fit.at.rss
    variance = rss / free if free > 0 else np.full(len(rss), np.nan)
    return NoiseStatistics(
        noise_variance_=float(variance[0]) if one_target else variance,
        degrees_of_freedom_=float(free),
        unit_covariance_=covariance if free > 0 else None,
        feature_means_=design.mean,
        total_weight_=total,
    )


class GaussianInference:
    """Standard errors, prediction intervals and a summary for estimators that store ``NoiseStatistics``.

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
        from_mean = _dense(X) - self.feature_means_
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


def _dense(X: Data) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
