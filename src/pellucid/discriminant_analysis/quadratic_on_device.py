"""What quadratic discriminant analysis answers about rows on a device."""

from __future__ import annotations

from typing import Any

from pellucid.core.array_api import array_namespace


def class_scores(model: Any, X: Any) -> Any:
    """Return the log posteriors, up to a number for each row."""
    xp = array_namespace(X)
    rows, scores = xp.astype(X, xp.float64), []
    for k, (rotation, scaling) in enumerate(zip(model.rotations_, model.scalings_, strict=True)):
        spread = xp.astype(scaling, xp.float64)
        z = (rows - model.means_[k]) @ (xp.astype(rotation, xp.float64) / xp.sqrt(spread))
        constant = xp.log(xp.astype(model.priors_[k], xp.float64)) - 0.5 * xp.sum(xp.log(spread))
        scores.append(constant - 0.5 * xp.sum(z * z, axis=1))
    return xp.stack(scores, axis=1)
