"""Bridge regression by coordinate descent on the Gram matrix."""

from __future__ import annotations

import numpy as np

from pellucid.core.solution import Solution
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.bridge.bridge_kernels import bridge_pass
from pellucid.linear_model.bridge.bridge_proof import (
    bridge_certificate,
    bridge_gap,
    bridge_objective,
    coordinate_gain,
    tolerance,
)
from pellucid.numerics.design import Design

CHECK_EVERY = 5
"""Passes between two looks at the data; a pass itself touches the Gram matrix only."""


def bridge_cd(
    design: Design,
    b: Array,
    alpha: float,
    q: float,
    *,
    tol: float,
    max_iter: int,
    dtype: np.dtype,
    start: Array | None = None,
    watch: Watch = ignore,
) -> Solution[Array]:
    """Minimize ``|b - A w|^2 / (2 N) + alpha sum |w_j|^q``.

    For ``q < 1`` the start decides which minimum is found; without one, it is the ridge solution at the same ``alpha``.
    """
    total = design.total_weight
    gram, pull = design.gram(), design.transposed_times(b)
    w = _start(gram, pull, alpha * total, q) if start is None else start.astype(np.float64)
    gradient, goal, trace = pull - gram @ w, tolerance(b, tol, total, dtype), Trace()
    value, n_iter = np.inf, 0
    for n_iter in range(1, max_iter + 1):
        change = bridge_pass(gram, gradient, w, total * alpha, q)
        stuck = change == 0.0
        if n_iter % CHECK_EVERY and n_iter < max_iter and not stuck:
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
        if watch(w) or value <= goal or stuck:
            break
    return Solution(w, n_iter, bridge_certificate(value, goal, 0.0, q), trace)


def _start(gram: Array, pull: Array, penalty: float, q: float) -> Array:
    if q >= 1.0:
        return np.zeros(len(pull))
    return np.linalg.solve(gram + penalty * np.eye(len(pull)), pull)
