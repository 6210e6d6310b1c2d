r"""Ridge by stochastic average gradients, SAG and SAGA, on a dense design.

.. math:: \min_w \frac{1}{2n}\sum_i (a_i'w - b_i)^2 + \frac{\alpha}{2n}\|w\|^2
"""

from __future__ import annotations

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.least_squares.line_claims import gradient_evidence, size_of_fit
from pellucid.numerics.dense_design import DenseDesign
from pellucid.numerics.design import centering_noise


def ridge_average_gradient(
    design: DenseDesign,
    b: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int,
    random_state: np.random.RandomState,
    unbiased: bool,
    watch: Watch = ignore,
) -> tuple[Array, Array, Trace]:
    """Return ``w`` of shape (p, t), the epochs per target and the trace; an epoch draws n rows with replacement."""
    n, p = design.shape
    w, n_iter, trace = np.zeros((p, b.shape[1])), np.zeros(b.shape[1], dtype=int), Trace()
    norms, b_norm = np.sqrt(design.sq_norms() + centering_noise(design)), np.linalg.norm(b, axis=0)
    steepest = max(float(np.max(np.einsum("ij,ij->i", block, block))) for _, block in design.row_blocks())
    for k in range(b.shape[1]):
        epoch = _Epoch(design, b[:, k], float(alpha[k]), steepest, unbiased)
        for _ in range(max_iter):
            epoch.run(np.asarray(random_state.randint(n, size=n)))
            n_iter[k] += 1
            w[:, k] = epoch.w
            residual = b[:, k] - design.times(epoch.w)
            gradient = (design.transposed_times(residual) - alpha[k] * epoch.w)[:, None]
            size = size_of_fit(norms, w[:, [k]], b_norm[[k]])
            gap = gradient_evidence(gradient, norms, size, alpha[[k]], w[:, [k]])
            objective = 0.5 * float(residual @ residual + alpha[k] * (epoch.w @ epoch.w))
            trace.add(iteration=len(trace) + 1, objective=objective, gradient=gap)
            trace.keep(coef=w)
            if watch(w) or gap <= tol:
                break
    return w, n_iter, trace


class _Epoch:
    """The state of the method for one target."""

    def __init__(self, design: DenseDesign, b: Array, alpha: float, steepest: float, unbiased: bool) -> None:
        n, p = design.shape
        self.design, self.b, self.unbiased = design, b, unbiased
        self.penalty = alpha / n
        lipschitz = steepest + self.penalty
        self.step = 1.0 / (3.0 * lipschitz) if lipschitz > 0 else 1.0
        self.root_weight = np.ones(n) if design.root_weight is None else design.root_weight
        self.w, self.gradient = np.zeros(p), np.zeros(p)
        self.errors, self.seen = np.zeros(n), np.zeros(n, dtype=np.bool_)

    def run(self, order: Array) -> None:
        from pellucid.linear_model.ridge.stochastic_average_kernels import average_gradient_epoch

        average_gradient_epoch(
            self.design.X, self.design.mean, self.root_weight, self.b, order, self.w, self.errors, self.gradient,
            self.seen, self.penalty, self.step, self.unbiased,
        )  # fmt: skip
