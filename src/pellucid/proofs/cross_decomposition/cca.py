r"""Proof of canonical correlations, in coordinates where both views are white.

With :math:`F_x = U_xS_xV_x'` and :math:`F_y = U_yS_yV_y'` computed again from the rows, scores :math:`t = F_xa` and
:math:`u = F_yb` of unit length have coordinates :math:`v = U_x't` and :math:`w = U_y'u`. They are singular vectors of
:math:`K = U_x'U_y` if :math:`Kw = \rho v` and :math:`K'v = \rho w`; that no larger :math:`\rho` was missed is shown for
the eigenvalues :math:`\rho^2` of :math:`KK'` as in ``eigenpairs``. The rest of what is stored
follows from the directions by equations that are checked one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.matrices.eigenpairs import SymmetricMatrix, missed_claim, wrong_signs
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

RESIDUAL = 1e-9
"""Residuals accepted of well-conditioned views, in parts of what they are compared with."""

WORST = 1e-3
"""Residuals accepted of any views: where rounding leaves more, nothing is proved."""


WELL_CONDITIONED = 1e6
"""Condition of the products of all columns up to which a fit takes a root of them for a factor of the rows."""

CUT = 1e6 * EPSILON
"""Singular values below this part of the largest count as 0, as in scikit-learn."""


class WhiteView(NamedTuple):
    """One view as U S V', without directions whose singular value counts as 0."""

    scores: Array
    """U: an orthonormal basis of all scores of the view."""
    singular: Array
    directions: Array
    """V: an orthonormal basis of the directions that matter."""

    @classmethod
    def of(cls, block: Array, cut: float) -> WhiteView:
        """Return the view of a block of columns; ``cut`` is the part of the largest singular value that counts as 0."""
        left, singular, right = np.linalg.svd(block, full_matrices=False)
        kept = singular > cut * singular.max(initial=0.0)
        return cls(left[:, kept], singular[kept], right[kept].T)

    @property
    def condition(self) -> float:
        """The largest singular value in units of the smallest that was kept."""
        return float(self.singular.max() / self.singular.min()) if len(self.singular) else 1.0


class ViewsSeen(NamedTuple):
    """What the claims need to know about the data."""

    mean: Array
    scale: Array
    factor: Array
    """F, with F'F the moments of both views in units of ``scale``."""
    p: int
    x: WhiteView
    y: WhiteView

    @property
    def noise(self) -> float:
        """Bound on residuals: rounding grows with the condition of the views, up to what can still be called right."""
        return min(RESIDUAL + 16 * (self.x.condition + self.y.condition) * self.rounding, WORST)

    @property
    def rounding(self) -> float:
        """Rounding of centered columns, in their units."""
        return sum_error(len(self.factor)) + EPSILON * float(np.max(np.abs(self.mean) / self.scale, initial=0.0))

    @property
    def blocks(self) -> tuple[Array, Array]:
        """The columns of each view."""
        return self.factor[:, : self.p], self.factor[:, self.p :]


def prove_cca(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with the factor computed again from the rows."""
    p, q, k = data.X.shape[1], data.y.reshape(len(data.y), -1).shape[1], parameters.n_components
    shapes = {
        **dict.fromkeys(("x_weights_", "x_rotations_", "x_loadings_"), (p, k)),
        **dict.fromkeys(("y_weights_", "y_rotations_", "y_loadings_"), (q, k)),
        **{"correlations_": (k,), "coef_": (q, p), "intercept_": (q,)},
        **{"x_mean_": (p,), "x_scale_": (p,), "y_scale_": (q,)},
    }
    if wrong := misshapen("exact", fitted, **shapes):
        return wrong
    seen = _seen(data, parameters)
    found = min(parameters.n_components, len(seen.x.singular), len(seen.y.singular))
    claims = [_unit_claim(fitted, seen), _count_claim(fitted, parameters, data, found)]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        claims += _pair_claims(fitted, seen, found)
        claims.append(_weight_claim(fitted, seen, found))
        claims.append(_coefficient_claim(fitted, seen))
    return graded("exact", claims)


def _seen(data: TrainingData, parameters: Seen) -> ViewsSeen:
    """Return what the rows say, from a QR factorization of them."""
    rows = np.column_stack([data.X, data.y.reshape(len(data.y), -1)]).astype(np.float64, copy=False)
    weight, p = data.weights, data.X.shape[1]
    origin, mass = rows[0].copy(), weight.sum()
    rows = rows - origin
    middle = weight @ rows / mass
    rows = (rows - middle) * np.sqrt(weight / (mass - 1.0))[:, None]
    mean, deviation = origin + middle, np.sqrt(np.sum(rows**2, axis=0))
    is_constant = deviation <= 8 * EPSILON * np.abs(mean)
    rows[:, is_constant] = 0.0
    scale = np.where(is_constant | (deviation == 0.0), 1.0, deviation) if parameters.scale else np.ones(len(mean))
    rows = rows / scale
    if parameters.alpha > 0.0:  # a ridge is as good as rows of its own
        rows = np.vstack([rows, np.sqrt(float(parameters.alpha)) * np.eye(len(mean))])
    # an offset of the columns has eaten digits, which count as 0 too
    cut = max(CUT, 64 * EPSILON * float(np.max(np.abs(mean) / scale, initial=0.0)))
    factor = _factor(rows)
    return ViewsSeen(mean, scale, factor, p, WhiteView.of(factor[:, :p], cut), WhiteView.of(factor[:, p:], cut))


def _factor(rows: Array) -> Array:
    """Return F with F'F the products of the columns; a fit takes a root of these, where that costs few digits."""
    if is_fitting():
        values, vectors = np.linalg.eigh(rows.T @ rows)
        if values[0] * WELL_CONDITIONED >= values[-1]:
            return np.sqrt(values)[:, None] * vectors.T
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _unit_claim(fitted: Seen, seen: ViewsSeen) -> Claim:
    mean = np.concatenate([fitted.x_mean_, fitted.intercept_])
    scale = np.concatenate([fitted.x_scale_, fitted.y_scale_])
    away = np.max([np.max(np.abs(mean - seen.mean) / seen.scale), np.max(np.abs(scale / seen.scale - 1.0))])
    return Claim("units", "distance of means and units from those of the columns, in units", float(away),
                 RESIDUAL + 16 * seen.rounding)  # fmt: skip


def _count_claim(fitted: Seen, parameters: Seen, data: TrainingData, found: int) -> Claim:
    """Return the claim about what is whole: how many components there are, and the form of the predictions."""
    wrong = int(list(fitted.n_iter_) != [1] * found) + int(fitted.single_target_ != (data.y.ndim == 1))
    k = parameters.n_components
    sides = [getattr(fitted, f"{side}_{part}_") for side in "xy" for part in ("weights", "rotations", "loadings")]
    wrong += int(any(side[:, found:].any() for side in sides)) + int(fitted.correlations_[found:].any())
    return Claim(
        "counts", f"things wrong with the number of components, {found} of {k} wanted, or of targets", wrong, 0.0
    )


def _pair_claims(fitted: Seen, seen: ViewsSeen, found: int) -> list[Claim]:
    """Return claims about the pairs of scores in white coordinates."""
    K = seen.x.scores.T @ seen.y.scores
    x = _coordinates(seen.x, seen.blocks[0], fitted.x_rotations_[:, :found])
    y = _coordinates(seen.y, seen.blocks[1], fitted.y_rotations_[:, :found])
    stored = fitted.correlations_[:found]
    rest = [K @ y - x * stored, K.T @ x - y * stored, x.T @ x - np.eye(found), y.T @ y - np.eye(found)]
    outside = [_outside(seen.x, fitted.x_rotations_[:, :found]), _outside(seen.y, fitted.y_rotations_[:, :found])]
    sizes = [largest(part) for part in (*rest, *outside)]
    disorder = int(np.sum(np.diff(stored) > seen.noise)) + wrong_signs(fitted.x_weights_[:, :found], 1e-6)
    symmetric = SymmetricMatrix(K @ K.T)
    return [
        Claim("pairs", "largest residual of a pair of white scores", float(np.max(sizes[:2])), seen.noise),
        Claim("uncorrelated", "largest correlation of two scores of one view, or distance from length 1",
              float(np.max(sizes[2:4])), seen.noise),
        Claim("row space", "largest part of a direction that no row has", float(np.max(sizes[4:])), seen.noise),
        Claim("order", "correlations out of order, or weights of the other sign", float(disorder), 0.0),
        missed_claim(symmetric, stored**2, x, noise=4 * seen.noise, wants_all=False, is_positive=True),
    ]  # fmt: skip


def _coordinates(view: WhiteView, block: Array, rotations: Array) -> Array:
    """Return the scores, scaled to length 1, in the basis of the view."""
    scores = block @ rotations
    return np.asarray(view.scores.T @ (scores / np.maximum(np.sqrt(np.sum(scores**2, axis=0)), TINY)))


def _outside(view: WhiteView, rotations: Array) -> Array:
    """Return the part of each direction that the view has no spread in, in parts of its length."""
    left = rotations - view.directions @ (view.directions.T @ rotations)
    return np.asarray(left / np.maximum(np.sqrt(np.sum(rotations**2, axis=0)), TINY))


def _weight_claim(fitted: Seen, seen: ViewsSeen, found: int) -> Claim:
    """Return the claim that loadings are regressions on the scores, and weights the directions made orthonormal."""
    worst = []
    for side, block in zip("xy", seen.blocks, strict=True):
        weights, rotations, loadings = (
            getattr(fitted, f"{side}_{part}_")[:, :found] for part in ("weights", "rotations", "loadings")
        )
        scores = block @ rotations
        wanted = block.T @ scores / np.maximum(np.sum(scores**2, axis=0), TINY)
        triangle = loadings.T @ weights
        length = np.maximum(np.sqrt(np.sum(rotations**2, axis=0)), TINY)
        worst += [
            np.max(np.abs(loadings - wanted) / np.maximum(np.sqrt(np.sum(wanted**2, axis=0)), TINY), initial=0.0),
            np.max(np.abs(weights.T @ weights - np.eye(found)), initial=0.0),
            np.max(np.abs(np.tril(triangle) - np.eye(found)), initial=0.0),
            np.max(np.abs(rotations @ np.triu(triangle) - weights) / length.max(initial=TINY), initial=0.0),
        ]
    return Claim("weights and loadings",
                 "largest residual of the equations of weights and loadings, in parts of a column",
                 float(np.max(worst)), min(16 * seen.noise, WORST))  # fmt: skip


def _coefficient_claim(fitted: Seen, seen: ViewsSeen) -> Claim:
    x_scale, y_scale = seen.scale[: seen.p], seen.scale[seen.p :]
    wanted = fitted.y_loadings_ @ fitted.x_rotations_.T
    away = np.abs(fitted.coef_ / y_scale[:, None] * x_scale - wanted)
    size = max(largest(wanted), TINY)
    said = "distance of coef_ from rotations of X times loadings of y, in parts of the largest"
    return Claim("coefficients", said, float(np.max(away)) / size, seen.noise)


PROVES = {"CCA": prove_cca}
