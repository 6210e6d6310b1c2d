"""Made boxes: clusters around objects, as detectors make them, or anywhere."""

import numpy as np


def clustered(rng, n, side=300.0, per_object=12):
    """Return boxes around objects, in single precision, and scores that are all different."""
    objects = max(1, n // per_object)
    centers, sizes = rng.random((objects, 2)) * side, np.exp(rng.normal(3.5, 0.5, (objects, 2)))
    which = rng.integers(objects, size=n)
    center = centers[which] + 0.1 * sizes[which] * rng.standard_normal((n, 2))
    size = sizes[which] * np.exp(0.15 * rng.standard_normal((n, 2)))
    boxes = np.concatenate([center - size / 2, center + size / 2], axis=1).astype(np.float32)
    return boxes, (rng.permutation(n) / max(n, 1)).astype(np.float32)


def scattered(rng, n, side=300.0):
    """Return boxes anywhere, in single precision, and scores that are all different."""
    corner, size = rng.random((n, 2)) * side, rng.random((n, 2)) * 0.3 * side
    boxes = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    return boxes, (rng.permutation(n) / max(n, 1)).astype(np.float32)
