r"""Conjugate gradients for least squares and ridge: only products with the data, nothing factored.

.. math::
    (A'A + \alpha I) w = A'b, \qquad
    p_{k+1} = s_{k+1} + \frac{|s_{k+1}|^2}{|s_k|^2} p_k, \quad s = A'(b - Aw) - \alpha w
"""

from __future__ import annotations

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.least_squares.line_claims import gradient_evidence, size_of_fit
from pellucid.numerics.design import Design, centering_noise


def least_squares_cg(
    design: Design,
    b: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = ignore,
) -> tuple[Array, Array, Trace]:
    """Minimize ``|b - A w|^2 + alpha |w|^2`` for every column of ``b`` from ``w = 0``.

    Stops when no ``|s_j|`` exceeds ``tol |a_j|`` times the size of the fit. Without a penalty the answer is the one of
    least norm. Returns ``w`` of shape (p, t), the iterations per target and the trace.
    """
    w = np.zeros((design.shape[1], b.shape[1]))
    norms, b_norm = np.sqrt(design.sq_norms() + centering_noise(design)), np.linalg.norm(b, axis=0)
    residual = b.copy()
    s = design.transposed_times(residual)
    direction, squared = s.copy(), np.sum(s**2, axis=0)
    n_iter, trace = np.zeros(b.shape[1], dtype=int), Trace()
    active = squared > 0
    for iteration in range(1, max_iter + 1):
        if not active.any():
            break
        image = design.times(direction)
        curvature = np.sum(image**2, axis=0) + alpha * np.sum(direction**2, axis=0)
        step = np.where(active, squared / np.where(curvature > 0, curvature, 1.0), 0.0)
        w = w + step * direction
        residual = residual - step * image
        s = design.transposed_times(residual) - alpha * w
        before, squared = squared, np.sum(s**2, axis=0)
        direction = s + squared / np.where(before > 0, before, 1.0) * direction
        n_iter[active] = iteration
        size = size_of_fit(norms, w, b_norm)
        gaps = [gradient_evidence(s[:, [k]], norms, size[[k]], alpha[[k]], w[:, [k]]) for k in range(len(alpha))]
        active = active & (np.array(gaps) > tol) & (squared > 0)
        objective = 0.5 * float(np.sum(residual**2) + np.sum(alpha * np.sum(w**2, axis=0)))
        trace.add(iteration=iteration, objective=objective, gradient=max(gaps))
        trace.keep(coef=w)
        if watch(w):
            break
    return w, n_iter, trace
