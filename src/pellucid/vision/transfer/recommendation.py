"""recommend_transfer: which way to use a trained network for new images, by how many and how similar they are."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.checks import check_one_of, check_whole

ENOUGH = 1000
"""Rows from which it no longer matters for related images where the weights start."""
FEW = 100
"""Rows below which it does not pay to change the first stages."""
SIMILARITIES = ("same", "related", "different")


@dataclass(frozen=True)
class TransferPlan:
    """What to do, and why."""

    way: str
    """One of "head", "last stages", "all stages", "from scratch"."""
    reason: str
    """Why, in a sentence, by what the benchmark of transfer measured."""

    def __str__(self) -> str:
        return f"{self.way}: {self.reason}"


def recommend_transfer(rows: int, similarity: str) -> TransferPlan:
    """Return which way of transfer to take for a new task.

    The rules are what ``python -m benchmarks transfer`` measured, on small images and a small network that had learned
    five classes of digits (right answers in %, three draws of the rows):

    ==================  ===========  ===========  ============  ============  ===============  =================
    rows, similarity    10, same     250, same    10, related   250, related  50, different    1000, different
    ==================  ===========  ===========  ============  ============  ===============  =================
    head                88 (3)       97.1         54 (1)        70.0          31 (1)           34.7
    last stages         89 (5)       98.1         70 (3)        93.5          32 (1)           46.2
    all stages          90 (5)       98.0         68 (2)        94.0          32 (1)           49.2
    from scratch        80 (4)       94.3         61 (4)        92.4          35 (1)           46.8
    ==================  ===========  ===========  ============  ============  ===============  =================

    From 1000 rows of related images on, all but the head end within a point. A network that has learned a thousand
    kinds of photographs has more to give: where one is at hand, try the next gentler way too, and validate.

    Parameters
    ----------
    rows : int
        Training rows of the new task.
    similarity : {"same", "related", "different"}
        How the new images are like those that the network has learned: the same classes, seen by another camera or
        scanner; other classes of the same kind; or another kind of images.

    Examples
    --------
    >>> print(recommend_transfer(50, "related").way)
    last stages
    >>> print(recommend_transfer(50, "different").way)
    from scratch
    """
    check_whole(rows=rows)
    check_one_of(SIMILARITIES, similarity=similarity)
    if similarity == "different" and rows < ENOUGH:
        return TransferPlan("from scratch", "weights learned from another kind of images gained nothing measurable.")
    if similarity == "same" and rows < FEW:
        return TransferPlan("head", "the classes are known already: to train more gained nothing measurable.")
    if rows < FEW:
        return TransferPlan("last stages", "few rows cannot teach the first stages, which fit as they are.")
    if rows < ENOUGH:
        return TransferPlan("all stages", "there are rows enough to change all, and too few to start at random.")
    return TransferPlan("all stages", "with so many rows it ends where a random start does, and no worse.")
