"""Bridge regression by coordinate descent on the Gram matrix."""

from __future__ import annotations

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.linear_model.bridge.bridge_kernels import bridge_pass
from pellucid.linear_model.bridge.bridge_proof import bridge_gap, bridge_objective, coordinate_gain
from pellucid.numerics.design import Design

CHECK_EVERY = 5
"""Passes between two looks at the data; a pass itself touches the Gram matrix only."""


def bridge_cd(design: Design, b: Array, alpha: float, q: float, *, effort: Effort, start: Array | None = None) -> Fit:
    """Minimize ``|b - A w|^2 / (2 N) + alpha sum |w_j|^q``.

    For ``q < 1`` the start decides which minimum is found; without one, it is the ridge solution at the same ``alpha``.
    """
    total = design.total_weight
    gram, correlations = design.gram(), design.transposed_times(b)
    w = _start(gram, correlations, alpha * total, q) if start is None else start.astype(np.float64)
    gradient, trace = correlations - gram @ w, Trace()
    n_iter, stopped = 0, "max_iter"
    for n_iter in range(1, effort.max_iter + 1):
        change = bridge_pass(gram, gradient, w, total * alpha, q)
        stuck = change == 0.0
        if n_iter % CHECK_EVERY and n_iter < effort.max_iter and not stuck:
            continue
        residual = b - design.times(w)
        gradient = design.transposed_times(residual)  # from the data: rounding does not pile up
        value = (
            bridge_gap(b, residual, gradient, w, alpha, q, total)
            if q >= 1.0
            else coordinate_gain(gradient, gram.diagonal(), w, alpha, q, total)
        )
        objective = bridge_objective(residual, w, alpha, q, total)
        trace.add(iteration=n_iter, objective=objective, gap=value, nonzero=int(np.count_nonzero(w)))
        trace.keep(coef=w)
        if effort.watch(w) or value <= effort.goal or stuck:
            stopped = "the gap is small" if value <= effort.goal else "nothing moves" if stuck else "callback"
            break
    return Fit({"coef_": w, "n_iter_": n_iter}, trace, stopped)


def _start(gram: Array, correlations: Array, penalty: float, q: float) -> Array:
    if q >= 1.0:
        return np.zeros(len(correlations))
    return np.linalg.solve(gram + penalty * np.eye(len(correlations)), correlations)
