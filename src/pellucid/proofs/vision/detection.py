"""Proofs about boxes: which were suppressed, by which, and which anchors were matched to which objects.

Every decision is made again from its definition. Overlaps are counted in double precision and, as the answer may have
been found in single precision, in the boxes' own: where the two are on different sides of a threshold, either decision
is right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.seen import refusal

AGAIN = "Do it again with these boxes."


def overlaps(boxes: Array, others: Array) -> Array:
    """Return the IoU of boxes with others that they broadcast to; 0 where one is empty."""
    width = np.minimum(boxes[..., 2], others[..., 2]) - np.maximum(boxes[..., 0], others[..., 0])
    height = np.minimum(boxes[..., 3], others[..., 3]) - np.maximum(boxes[..., 1], others[..., 1])
    zero = boxes.dtype.type(0)
    shared = np.maximum(width, zero) * np.maximum(height, zero)
    union = areas(boxes) + areas(others) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def areas(boxes: Array) -> Array:
    """Return (x2 - x1)(y2 - y1)."""
    return np.asarray((boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]))


def prove_suppression(
    kept: Array, suppressed_by: Array, threshold: float, boxes: Array, scores: Array, groups: Array | None
) -> Certificate:
    """Prove that greedy suppression keeps these boxes and no others.

    Boxes are gone through by falling score, of equal scores the lower number first. If no kept box overlaps an earlier
    kept one of its group by more than the threshold, and each other box so overlaps one, then by induction the kept
    ones are those that the rule keeps.
    """
    n = len(boxes)
    groups = np.zeros(n) if groups is None else groups
    wrong = _unfit(kept, suppressed_by, threshold, boxes, scores, groups)
    if wrong:
        return refusal("suppression", wrong)
    order = sorted(range(n), key=lambda i: (-scores[i], i))
    in_order = [i for i in order if suppressed_by[i] == -1]
    misplaced = len(set(in_order) ^ set(kept.tolist())) or sum(a != b for a, b in zip(in_order, kept, strict=True))
    place = np.empty(n, dtype=int)
    place[order] = np.arange(n)
    unexplained, not_first, most = 0, 0, 0.0
    for group in np.unique(groups):
        rivals = np.array([i for i in in_order if groups[i] == group], dtype=int)
        for i in np.flatnonzero(groups == group).tolist():
            before = rivals[: np.searchsorted(place[rivals], place[i])]
            low, high = _both(boxes[i], boxes[before])
            if suppressed_by[i] == -1:
                most = max(most, float(low.max(initial=0.0)))
                continue
            named = np.flatnonzero(before == suppressed_by[i])
            if not len(named) or not high[named[0]] > threshold:
                unexplained += 1
            else:
                not_first += bool((low[: named[0]] > threshold).any())
    claims = (
        Claim("order", "kept boxes that are not in their place by falling score", float(misplaced), 0.0, AGAIN),
        Claim("kept", "largest IoU of two kept boxes of a group", most, float(threshold), AGAIN),
        Claim(
            "suppressed",
            f"of {n - len(in_order):,} suppressed boxes, those that name no earlier kept box of their group which they "
            f"overlap by more than {threshold:g}",
            float(unexplained),
            0.0,
            AGAIN,
        ),
        Claim("first", "suppressed boxes that an earlier kept one than they name suppresses", float(not_first), 0.0),
    )
    return Certificate("replayed", claims)


def _unfit(kept: Array, by: Array, threshold: Any, boxes: Array, scores: Array, groups: Array) -> str:
    """Return why no proof can be about these, if so."""
    n = len(boxes)
    if boxes.shape != (n, 4) or scores.shape != (n,) or groups.shape != (n,):
        return "boxes, scores and groups are not as many"
    if not (np.isfinite(boxes).all() and np.isfinite(scores).all()):
        return "boxes or scores are not finite"
    if by.shape != (n,) or by.dtype.kind not in "iu" or kept.ndim != 1 or kept.dtype.kind not in "iu":
        return "it is not about so many boxes"
    if not isinstance(threshold, float | int) or not 0 <= threshold <= 1:
        return "the threshold is no number between 0 and 1"
    if n and (by.min() < -1 or by.max() >= n or kept.min(initial=0) < 0 or kept.max(initial=0) >= n):
        return "it names boxes that are not there"
    return "" if len(np.unique(kept)) == len(kept) else "it keeps a box twice"


def _both(box: Array, others: Array) -> tuple[Array, Array]:
    """Return the smaller and the larger of the overlaps in double precision and in the boxes' own."""
    with np.errstate(all="ignore"):  # areas may overflow
        own = overlaps(box, others).astype(np.float64)
        wide = overlaps(box.astype(np.float64), others.astype(np.float64))
    return np.fmin(own, wide), np.fmax(own, wide)


def prove_matching(
    box: Array, overlap: Array, high: float, low: float, keep_best: bool | str, anchors: Array, boxes: Array
) -> Certificate:
    """Prove that each anchor was given the box that the thresholds and the rule for best anchors say."""
    n, m = len(anchors), len(boxes)
    limits = isinstance(high, float) and isinstance(low, float) and 0 <= low <= high <= 1
    if not limits or (not any(keep_best is one for one in (False, True)) and keep_best != "one"):
        return refusal("matching", "thresholds are not 0 <= low <= high <= 1, or keep_best is none of False, True, one")
    if (
        anchors.shape != (n, 4)
        or boxes.shape != (m, 4)
        or not (np.isfinite(anchors).all() and np.isfinite(boxes).all())
    ):
        return refusal("matching", "anchors or boxes are not finite numbers of shape (n, 4)")
    if box.shape != (n,) or overlap.shape != (n,) or box.dtype.kind not in "iu":
        return refusal("matching", "it is not about so many anchors")
    dtype = np.result_type(anchors, boxes)
    decided = []
    for kind in (np.dtype(np.float64), dtype):
        with np.errstate(all="ignore"):
            iou = overlaps(anchors.astype(kind)[:, None], boxes.astype(kind)[None]).astype(np.float64)
        decided.append(_decided(iou, high, low, keep_best))
    (wide, wide_overlap), (own, own_overlap) = decided
    is_right = (box == wide) | (box == own)
    off = np.fmin(np.abs(overlap - wide_overlap), np.abs(overlap - own_overlap))
    rounding = 8.0 * float(np.finfo(dtype).eps)
    worst = float(np.max(off, initial=0.0)) if np.isfinite(overlap).all() else math.inf
    claims = (
        Claim(
            "matches",
            f"of {n:,} anchors, those that were given another box than the rule says",
            float(np.count_nonzero(~is_right)),
            0.0,
            AGAIN,
        ),
        Claim("overlaps", "largest difference of an overlap from its definition", worst, rounding, AGAIN),
    )
    return Certificate("replayed", claims)


def _decided(iou: Array, high: float, low: float, keep_best: bool | str) -> tuple[Array, Array]:
    """Return for each anchor the number of a box, -1 or -2, and the overlap with that box or the best one."""
    n, m = iou.shape
    box, overlap = np.full(n, -1), np.zeros(n)
    best = iou.max(axis=0, initial=0.0)
    given = {}
    if keep_best == "one":
        for j in range(m):
            if best[j] > 0:
                given[int(iou[:, j].argmax())] = j  # an anchor that two boxes want goes to the last of them
    for i in range(n if m else 0):
        first = int(iou[i].argmax())
        overlap[i] = iou[i, first]
        if overlap[i] >= high or (keep_best is True and ((iou[i] == best) & (iou[i] > 0)).any()):
            box[i] = first
        elif overlap[i] >= low:
            box[i] = -2
        if i in given:
            box[i], overlap[i] = given[i], iou[i, given[i]]
    return box, overlap
