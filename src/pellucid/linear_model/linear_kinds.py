"""Kinds that linear models share: coefficients, intercepts, Gram matrices."""

from __future__ import annotations

from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, OneOf, Optional, Real
from pellucid.core.kinds.usual import COUNT, FLAG

GRAM = FLAG | OneOf(("auto",)) | Numbers((None, None)) | Live("a matrix", lambda value: hasattr(value, "__array__"))
PER_TARGET = Real() | Numbers(("n_targets",))
COUNT_PER_TARGET = Nothing() | COUNT | Items(COUNT) | Numbers(("n_targets",), WHOLES, low=0)
LINE: dict[str, Kind | Optional] = {
    "coef_": Numbers(("n_features",)) | Numbers(("n_targets", "n_features")),
    "intercept_": PER_TARGET,
}
INFERENCE: dict[str, Optional] = {  # not finite where a fit leaves no degrees of freedom or has no direct solution
    "noise_variance_": Optional(Real(finite=False) | Numbers(("n_targets",), finite=False)),
    "degrees_of_freedom_": Optional(Real(finite=False)),
    "unit_covariance_": Optional(Nothing() | Numbers(("n_features", "n_features"), finite=False)),
    "feature_means_": Optional(Numbers(("n_features",), finite=False)),
    "total_weight_": Optional(Real(finite=False)),
}
