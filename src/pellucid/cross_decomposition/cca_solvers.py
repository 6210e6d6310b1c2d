r"""Canonical correlations in closed form.

With F'F the moments of both views, :math:`F_x = U_xS_xV_x'` and :math:`F_y = U_yS_yV_y'`, the singular values
:math:`\rho` of :math:`U_x'U_y = L\,\mathrm{diag}(\rho)\,M'` are the canonical correlations, and the columns of
:math:`V_xS_x^{-1}L` and :math:`V_yS_y^{-1}M` the directions. F comes from one pass over the rows, as a Cholesky factor
of their moments, or where columns are nearly collinear from a QR factorization of the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.presented_rows import row_scatter, without_constants

WELL_CONDITIONED = 1e3
"""Condition of a view up to which the moments hold all digits that are needed."""

EQUAL = 1e-9
"""Difference of correlations that count as equal."""


@dataclass(frozen=True, eq=False)
class Views:
    """Both views side by side: means, units, and F with F'F the moments in these units, ridge included."""

    mean: Array
    scale: Array
    factor: Array
    p: int
    """Columns of the first view."""


def canonical_views(data: TrainingData, targets: Array, *, scale: bool, alpha: float) -> Views:
    """Return the views of rows and targets."""
    mass, p = float(data.weights.sum()), data.X.shape[1]
    mean, scatter = row_scatter(data.X, targets, data.weight)
    moments = without_constants(scatter, mean, mass) / (mass - 1.0)
    deviation = np.sqrt(np.diagonal(moments))
    unit = np.where(deviation > 0.0, deviation, 1.0) if scale else np.ones(len(mean))
    moments = moments / unit / unit[:, None]
    factor = _cholesky(moments + alpha * np.eye(len(mean)), cut_for(mean, unit), p)
    if factor is None:
        rows = (np.column_stack([data.X, targets]) - mean) / unit
        rows *= np.sqrt(data.weights / (mass - 1.0))[:, None]
        rows[:, np.diagonal(moments) == 0.0] = 0.0
        factor = np.asarray(np.linalg.qr(ridge_rows(rows, alpha), mode="r"))
    return Views(mean, unit, factor, p)


def _cholesky(moments: Array, cut: float, p: int) -> Array | None:
    """Return the upper factor of the moments; None where it has lost digits."""
    try:
        factor = np.linalg.cholesky(moments).T
    except np.linalg.LinAlgError:
        return None
    blocks = whitened(factor[:, :p], cut), whitened(factor[:, p:], cut)
    pivots = np.diagonal(factor) / np.sqrt(np.diagonal(moments))
    is_well = max(block.condition for block in blocks) <= WELL_CONDITIONED and pivots.min() >= 1.0 / WELL_CONDITIONED
    return factor if is_well else None


def solve_cca(views: Views, n_components: int) -> Fit:
    """Return directions, weights and loadings of both views, and the coefficients from the first to the second."""
    p, cut = views.p, cut_for(views.mean, views.scale)
    blocks = views.factor[:, :p], views.factor[:, p:]
    x, y = (whitened(block, cut) for block in blocks)
    left, correlations, right = np.linalg.svd(x.scores.T @ y.scores, full_matrices=False)
    left, right = _order_ties(left, correlations, right.T, y)
    found = min(n_components, len(correlations))
    x_weights, x_rotations = _weights(x, left[:, :found])
    y_weights, y_rotations = _weights(y, right[:, :found])
    sign = _signs(x_weights)
    sides = {"x": (blocks[0], x_weights * sign, x_rotations * sign)}
    sides |= {"y": (blocks[1], y_weights * sign, y_rotations * sign)}
    attributes: dict[str, Any] = {
        "correlations_": _padded(np.minimum(correlations[None, :found], 1.0), n_components)[0]
    }
    for name, (block, weights, rotations) in sides.items():
        scores = block @ rotations
        loadings = block.T @ scores / np.sum(scores**2, axis=0)
        attributes |= {
            f"{name}_weights_": _padded(weights, n_components),
            f"{name}_rotations_": _padded(rotations, n_components),
            f"{name}_loadings_": _padded(loadings, n_components),
        }
    coefficients = attributes["y_loadings_"] @ attributes["x_rotations_"].T
    attributes |= {
        "coef_": coefficients * views.scale[p:, None] / views.scale[:p],
        "intercept_": views.mean[p:].copy(),
        "x_mean_": views.mean[:p].copy(),
        "x_scale_": views.scale[:p].copy(),
        "y_scale_": views.scale[p:].copy(),
        "n_iter_": [1] * found,
    }
    trace = Trace()
    for k in range(found):
        trace.add(iteration=k + 1, correlation=float(correlations[k]))
    return Fit(attributes, trace, "closed form")


def _order_ties(left: Array, correlations: Array, right: Array, y: Whitened) -> tuple[Array, Array]:
    """Turn directions of equal correlations: the first follows the first target as far as it can, and so on.

    Any directions at right angles in their span would do; these are the ones that a power iteration from the first
    target finds.
    """
    ends = [*np.flatnonzero(np.diff(correlations) < -EQUAL) + 1, len(correlations)]
    start = 0
    for end in ends:
        if end - start > 1:
            group = slice(start, end)
            turn = _in_order(right[:, group].T @ (y.singular[:, None] * y.directions.T))
            left[:, group], right[:, group] = left[:, group] @ turn, right[:, group] @ turn
        start = end
    return left, right


def _in_order(columns: Array) -> Array:
    """Return an orthonormal basis that takes up the columns one after the other, without those that add nothing."""
    size, basis = np.abs(columns).max(initial=0.0), np.zeros((len(columns), 0))
    for column in [*columns.T, *size * np.eye(len(columns))]:
        left = column - basis @ (basis.T @ column)
        left -= basis @ (basis.T @ left)
        length = float(np.sqrt(left @ left))
        if length > 1e-8 * size and basis.shape[1] < len(columns):
            basis = np.column_stack([basis, left / length])
    return basis if basis.shape[1] == len(columns) else np.eye(len(columns))


def _weights(view: Whitened, turned: Array) -> tuple[Array, Array]:
    """Return the directions made orthonormal one after the other, and the directions in units of what that left."""
    directions = view.directions @ (turned / view.singular[:, None])
    weights, triangle = np.linalg.qr(directions)
    left = np.diagonal(triangle)
    return weights * np.sign(left), directions / np.abs(left)


def _signs(weights: Array) -> Array:
    """Return for each column the sign of the first of its largest entries; equal up to rounding counts as equal."""
    size = np.abs(weights)
    first = np.argmax(size >= (1.0 - 1e-9) * size.max(axis=0, initial=0.0), axis=0) if weights.size else []
    return np.where(weights[first, np.arange(weights.shape[1])] < 0.0, -1.0, 1.0)


def _padded(columns: Array, n: int) -> Array:
    """Return the columns with zeros up to n of them."""
    return np.pad(columns, ((0, 0), (0, n - columns.shape[1])))


CUT = 1e6 * EPSILON
"""Singular values below this part of the largest count as 0, as in scikit-learn."""


class Whitened(NamedTuple):
    """One block of columns of F as U S V', without what counts as 0."""

    scores: Array
    """U: an orthonormal basis of all scores of the view."""
    singular: Array
    directions: Array
    """V: an orthonormal basis of the directions that matter."""

    @property
    def condition(self) -> float:
        """The largest singular value in units of the smallest that was kept."""
        return float(self.singular[0] / self.singular[-1]) if len(self.singular) else 1.0


def whitened(block: Array, cut: float) -> Whitened:
    """Return the block without directions whose singular value is below ``cut`` times the largest."""
    left, singular, right = np.linalg.svd(block, full_matrices=False)
    kept = int(np.sum(singular > cut * singular.max(initial=0.0)))
    return Whitened(left[:, :kept], singular[:kept], right[:kept].T)


def cut_for(mean: Array, scale: Array) -> float:
    """Return the part of the largest singular value that counts as 0; more where an offset has eaten digits."""
    return max(CUT, 64 * EPSILON * float(np.max(np.abs(mean) / scale, initial=0.0)))


def ridge_rows(rows: Any, alpha: float) -> Array:
    """Return rows with those added that a ridge stands for."""
    p = rows.shape[1]
    return np.vstack([rows, np.sqrt(alpha) * np.eye(p)]) if alpha > 0.0 else np.asarray(rows)
