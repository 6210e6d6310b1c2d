"""The proof of a segmentation score: every pixel counted again, and the scores as fractions of these counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.seen import refusal

AGAIN = "Score the label maps again."

ROUNDING = 1e-12
"""By how much a mean of at most some thousand ratios may be rounded."""


def prove_score(score: Any, truth: Any, predicted: Any) -> Certificate:
    """Return what counting the pixels again says of a stored score."""
    truths, guesses = ([np.asarray(one) for one in maps] for maps in (truth, predicted))
    classes, counts = np.asarray(score.classes), np.asarray(score.counts)
    shape = (len(truths), len(classes), len(classes))
    if classes.ndim != 1 or counts.shape != shape or counts.dtype.kind != "i" or len(truths) != len(guesses):
        return refusal("counts", f"the counts of {len(truths)} and {len(guesses)} maps must be whole and of {shape}")
    if len(set(classes.tolist())) != len(classes) or score.ignore in classes.tolist():
        return refusal("classes", "a class stands there twice, or is the label to ignore")
    if any(a.shape != b.shape for a, b in zip(truths, guesses, strict=True)):
        return refusal("counts", "maps of truth and prediction must be of one shape")
    found = np.stack([_counted(a, b, classes, score.ignore) for a, b in zip(truths, guesses, strict=True)])
    wrong, lost = int(np.abs(found - counts).sum()), _uncounted(truths, found, score.ignore)
    return Certificate(
        "exact",
        (
            Claim("counts", "pixels that are counted otherwise, over all images and pairs of classes", wrong, 0, AGAIN),
            Claim("classes", "pixels that ought to count and have no class in the truth or the prediction", lost, 0),
            *_scores(score, found.sum(axis=0)),
        ),
    )


def _counted(truth: Array, predicted: Array, classes: Array, ignore: Any) -> Array:
    """Return pixels by the two classes they have: the plain definition, pair by pair."""
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for i, one in enumerate(classes.tolist()):
        said_there = predicted[(truth == one) & (truth != ignore)]
        for j, other in enumerate(classes.tolist()):
            counts[i, j] = np.count_nonzero(said_there == other)
    return counts


def _uncounted(truths: list[Array], found: Array, ignore: Any) -> int:
    n_counting = sum(one.size if ignore is None else int(np.count_nonzero(one != ignore)) for one in truths)
    return n_counting - int(found.sum())


def _scores(score: Any, counts: Array) -> tuple[Claim, ...]:
    """Return the claims that the stored scores are the ratios they are named after."""
    n = len(counts)
    right = [int(counts[i, i]) for i in range(n)]
    truths = [int(counts[i].sum()) for i in range(n)]
    either = [truths[i] + int(counts[:, i].sum()) - right[i] for i in range(n)]
    accuracy = [Fraction(a, b) if b else None for a, b in zip(right, truths, strict=True)]
    iou = [Fraction(a, b) if b else None for a, b in zip(right, either, strict=True)]
    whole = Fraction(sum(right), sum(truths)) if sum(truths) else None
    pairs = {
        "pixel accuracy": ([score.pixel_accuracy], [whole]),
        "accuracy of classes": (score.class_accuracy, accuracy),
        "IoU of classes": (score.class_iou, iou),
        "mean accuracy": ([score.mean_accuracy], [_mean(accuracy)]),
        "mean IoU": ([score.mean_iou], [_mean(iou)]),
    }
    statement = "largest difference from what the counts give"
    return tuple(Claim(name, statement, _difference(*pair), ROUNDING, AGAIN) for name, pair in pairs.items())


def _mean(values: list[Fraction | None]) -> Fraction | None:
    """Return the mean over those that are there; a class without pixels has no share in it."""
    there = [value for value in values if value is not None]
    return sum(there, Fraction(0)) / len(there) if there else None


def _difference(stored: Any, exact: list[Fraction | None]) -> float:
    """Return the largest difference; infinite where one is a number and the other is none."""
    stored = np.asarray(stored, dtype=np.float64)
    if stored.shape != (len(exact),):
        return float("inf")
    wanted = np.array([np.nan if value is None else float(value) for value in exact])
    both_missing = np.isnan(stored) & np.isnan(wanted)
    differences = np.where(both_missing, 0.0, np.abs(stored - wanted))
    return float(np.nan_to_num(differences, nan=np.inf).max(initial=0.0))
