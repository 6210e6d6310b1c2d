"""How well pixels are labeled: counts of truth against prediction, accuracy, intersection over union, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.checks import check_level, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.vision.segmentation.label_maps import IGNORED, as_label_maps, check_pairs, codes_of, labels_in

if TYPE_CHECKING:
    import pandas as pd


def confusion_counts(truth: Data, predicted: Data, n_classes: int, ignore: int | None = None) -> Array:
    """Return how many pixels of class i, row i, were given class j, column j: whole numbers, exact.

    Parameters
    ----------
    truth, predicted : array of whole numbers of one shape
        Codes from 0 to ``n_classes`` - 1; what is predicted where the truth is ``ignore`` is not looked at.
    n_classes : int
        How many classes there are.
    ignore : int or None, default=None
        Label of the truth whose pixels do not count.

    Examples
    --------
    >>> confusion_counts([[0, 1, 1, 9]], [[0, 1, 0, 1]], 2, ignore=9)
    array([[1, 0],
           [1, 1]])
    """
    check_whole(n_classes=n_classes)
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape:
        raise ValueError(f"truth and predicted must be of one shape, got {truth.shape} and {predicted.shape}.")
    if truth.dtype.kind not in "biu" or predicted.dtype.kind not in "biu":
        raise TypeError(f"labels must be whole numbers, got {truth.dtype} and {predicted.dtype}. Use astype(int).")
    if ignore is not None:
        counted = truth != ignore
        truth, predicted = truth[counted], predicted[counted]
    for name, labels in (("truth", truth), ("predicted", predicted)):
        if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < n_classes:
            raise ValueError(
                f"{name} must hold codes from 0 to {n_classes - 1}, got {labels.min()} to {labels.max()}. "
                "Raise n_classes, or name the label to ignore."
            )
    pairs = truth.astype(np.int64).ravel() * n_classes + predicted.ravel()
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SegmentationScore:
    """How well label maps were predicted; ``pellucid.verify(score, truth, predicted)`` counts all pixels again.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels.
    ignore : label or None
        Pixels whose truth is this label do not count.
    counts : ndarray of shape (n_images, k, k)
        Pixels of each image whose truth is class i, row i, and whose prediction is class j, column j.
    pixel_accuracy : float
        Share of the pixels that are right.
    class_accuracy : ndarray of shape (k,)
        Share of the pixels of each class that are right; NaN for a class that is not in the truth.
    class_iou : ndarray of shape (k,)
        Of each class, pixels that both say, over those that either says; NaN for one that neither says.
    mean_accuracy : float
        Mean of ``class_accuracy`` over the classes for which it is a number.
    mean_iou : float
        Mean of ``class_iou`` over the classes for which it is a number.
    """

    classes: Array
    ignore: Any
    counts: Array
    pixel_accuracy: float
    class_accuracy: Array
    class_iou: Array
    mean_accuracy: float
    mean_iou: float

    @classmethod
    def of_counts(cls, counts: Array, classes: Array, ignore: Any = None) -> SegmentationScore:
        """Return the scores that follow from the counts of each image."""
        right, truths, guesses = margins(counts.sum(axis=0))
        if not truths.sum():
            raise ValueError("truth must hold a pixel that counts, got none. Check the label to ignore.")
        accuracy, iou = ratios(right, truths), ratios(right, truths + guesses - right)
        means = (float(np.nanmean(accuracy)), float(np.nanmean(iou)))
        return cls(classes, ignore, counts, float(right.sum() / truths.sum()), accuracy, iou, *means)

    def interval(
        self, level: float = 0.95, *, block: int = 1, resamples: int = 2000, random_state: RandomState = 0
    ) -> tuple[float, float]:
        """Return a bootstrap interval of the mean IoU over images: percentiles of what drawn sets of images score.

        Parameters
        ----------
        level : float, default=0.95
            Share of the drawn scores that lie inside.
        block : int, default=1
            Images drawn together, in the order given. Neighbors in a video are nearly the same image, and drawing
            them one by one would make the interval too short: draw by the seconds that a scene lasts.
        resamples : int, default=2000
            Sets that are drawn.
        random_state : int, Generator or None, default=0
            Draws them.
        """
        check_level(level)
        check_whole(block=block)
        check_whole(2, resamples=resamples)
        starts = np.arange(0, len(self.counts), block)
        if len(starts) < 2:
            raise ValueError(f"images must fill at least 2 blocks for an interval, got {len(self.counts)} images.")
        parts = np.stack(margins(self.counts), axis=1)  # (n_images, 3, k)
        blocks = np.add.reduceat(parts, starts, axis=0).reshape(len(starts), -1)
        drawn = generator(random_state).multinomial(len(starts), np.full(len(starts), 1 / len(starts)), resamples)
        right, truths, guesses = np.moveaxis((drawn @ blocks).reshape(resamples, 3, -1), 1, 0)
        scores = np.nanmean(ratios(right, truths + guesses - right), axis=1)
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(scores, (tail, 1.0 - tail))
        return float(low), float(high)

    def frame(self) -> pd.DataFrame:
        """Return a table with a row for each class: IoU, accuracy, pixels in the truth and in the prediction."""
        import pandas as pd

        _, truths, guesses = margins(self.counts.sum(axis=0))
        columns = {"iou": self.class_iou, "accuracy": self.class_accuracy, "pixels": truths, "predicted": guesses}
        return pd.DataFrame(columns, index=pd.Index(self.classes, name="class"))

    def __repr__(self) -> str:
        return (
            f"SegmentationScore(mean_iou={self.mean_iou:.4f}, mean_accuracy={self.mean_accuracy:.4f}, "
            f"pixel_accuracy={self.pixel_accuracy:.4f}, {len(self.counts)} images, {len(self.classes)} classes)"
        )


def segmentation_score(truth: Data, predicted: Data, *, classes: Data = None, ignore: Any = None) -> SegmentationScore:
    """Return counts and scores of predicted label maps, which may differ in size from image to image.

    Parameters
    ----------
    truth, predicted : lists of arrays (height, width), or arrays (n, height, width)
        Labels: whole numbers or texts.
    classes : array-like or None, default=None
        All labels there can be; None: those that occur in the truth or the prediction.
    ignore : label or None, default=None
        Pixels whose truth is this label do not count, whatever was predicted there.

    Examples
    --------
    >>> score = segmentation_score([[[1, 1, 2, 2]]], [[[1, 2, 2, 2]]])
    >>> score.class_iou  # 1 of 2 pixels; 2 of 3
    array([0.5       , 0.66666667])
    """
    truths, guesses = as_label_maps(truth, "truth"), as_label_maps(predicted, "predicted")
    check_pairs(("truth", "predicted"), truths, guesses)
    if ignore is not None:  # what is predicted there is not looked at, and need not be a class
        guesses = [np.where(a == ignore, a, b) for a, b in zip(truths, guesses, strict=True)]
    known = labels_in([*truths, *guesses], ignore) if classes is None else np.unique(np.asarray(classes))
    if not len(known):
        raise ValueError("truth must hold a pixel that counts, got none. Check the label to ignore.")
    pairs = zip(codes_of(truths, known, ignore, "truth"), codes_of(guesses, known, ignore, "predicted"), strict=True)
    counts = [_counts_of_codes(a, b, len(known)) for a, b in pairs]
    return SegmentationScore.of_counts(np.stack(counts), known, ignore)


def _counts_of_codes(truth: Array, predicted: Array, n_classes: int) -> Array:
    """Return the counts of a pair of maps; a pixel that ought to count but was predicted to be ignored is refused."""
    if (predicted[truth != IGNORED] == IGNORED).any():
        raise ValueError("predicted must hold a class where the truth does, got the label to ignore.")
    return confusion_counts(truth, predicted, n_classes, IGNORED)


def margins(counts: Array) -> tuple[Array, Array, Array]:
    """Return, of each class, the pixels that are right, that are in the truth, and that were predicted."""
    return np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1), counts.sum(axis=-2)


def ratios(parts: Array, wholes: Array) -> Array:
    """Return parts over wholes; NaN where there is nothing."""
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)
