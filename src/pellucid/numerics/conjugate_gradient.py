r"""Preconditioned conjugate gradients: equations whose matrix is known by its products only.

.. math:: x \mathrel{+}= \frac{r'z}{d'Hd}d,\qquad z = r/\operatorname{diag}(H),\qquad
   d \leftarrow z + \frac{r'z}{r_{\text{before}}'z_{\text{before}}}d
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.types import Array


def conjugate_gradient(
    product: Callable[[Array], Array], right: Array, diagonal: Array, *, precision: float, max_steps: int
) -> Array:
    """Return ``x`` with ``H x = right``, up to ``precision`` in the norm that the diagonal of ``H`` gives.

    ``right`` may have any shape; ``product`` returns ``H`` times an array of that shape.

    Examples
    --------
    >>> conjugate_gradient(lambda d: d * [4.0, 1.0], np.array([8.0, 3.0]), np.ones(2), precision=1e-9, max_steps=2)
    array([2., 3.])
    """
    x, residual = np.zeros_like(right), right.copy()
    z = residual / diagonal
    direction, size = z.copy(), float(np.vdot(residual, z))
    enough = precision**2 * size
    for _ in range(max_steps):
        curved = product(direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # a direction without effect, found by rounding
            break
        step = size / curvature
        x += step * direction
        residual -= step * curved
        z = residual / diagonal
        size, before = float(np.vdot(residual, z)), size
        if size <= enough:
            break
        direction = z + (size / before) * direction
    return x
