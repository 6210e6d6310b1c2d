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


def detected(rng, masks=False, images=None):
    """Return detections and annotations of a few small images: crowds, ties, empty images, sizes, long lists."""
    found, there = [], []
    for _ in range(images or int(rng.integers(1, 5))):
        n_objects = int(rng.integers(0, 7))
        n_found = int(rng.integers(0, 12)) if rng.random() < 0.9 else int(rng.integers(100, 140))
        largest = int(rng.choice([20, 60, 150]))
        corner, size = rng.integers(0, 40, (n_objects, 2)), rng.integers(1, largest, (n_objects, 2))
        objects = np.c_[corner, corner + size].astype(float)
        boxes = np.array([_near(rng, objects, largest) for _ in range(n_found)]).reshape(-1, 4)
        scores = rng.integers(0, 6, n_found) / 5 if rng.random() < 0.5 else rng.random(n_found)
        found.append({"boxes": boxes, "labels": rng.integers(0, 3, n_found), "scores": scores})
        area = size.prod(axis=1) * rng.choice([0.5, 0.8, 1.0], n_objects)
        crowd = rng.random(n_objects) < 0.2
        there.append({"boxes": objects, "labels": rng.integers(0, 3, n_objects), "crowd": crowd, "area": area})
        if masks:
            found[-1]["masks"], there[-1]["masks"] = _painted(rng, boxes), _painted(rng, objects)
    return found, there


def _near(rng, objects, largest):
    """Return a box near one of the objects, or anywhere, with whole corners."""
    if len(objects) and rng.random() < 0.8:
        moved = objects[rng.integers(len(objects))] + rng.integers(-3, 4, 4) * (rng.random() < 0.7)
        return np.r_[np.minimum(moved[:2], moved[2:]), np.maximum(moved[:2], moved[2:])]
    corner = rng.integers(0, 40, 2)
    return np.r_[corner, corner + rng.integers(1, largest, 2)].astype(float)


def _painted(rng, boxes):
    """Return masks with holes, of 64 x 64 pixels."""
    masks = np.zeros((len(boxes), 64, 64), dtype=bool)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int).clip(0), strict=True):
        mask[top:bottom, left:right] = True
        mask &= rng.random((64, 64)) < 0.9
    return masks
