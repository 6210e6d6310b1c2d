"""Rows kept aside that are worth a look: one the model gets right, a typical one, one it gets most wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.bake_off.judgement import Judgement
from pellucid.core.types import Array

BEST, TYPICAL, WORST = "best", "typical", "worst"


@dataclass(frozen=True)
class NotableRow:
    """Why a row is worth a look, and its place among the rows kept aside."""

    title: str
    place: int


def notable_rows(judgement: Judgement) -> list[NotableRow]:
    """Return the rows with the least, the median and the largest miss; fewer if they are the same.

    Of classes, the miss is the probability that the true one did not get.
    """
    misses = row_misses(judgement)
    order = np.argsort(misses, kind="stable")
    chosen = {BEST: order[0], TYPICAL: order[len(order) // 2], WORST: order[-1]}
    found: dict[int, str] = {}
    for title in (TYPICAL, BEST, WORST):
        found.setdefault(int(chosen[title]), title)
    return [NotableRow(title, place) for place, title in found.items()]


def row_misses(judgement: Judgement) -> Array:
    """Return by how much each row kept aside is missed."""
    if judgement.classes is None:
        return np.abs(judgement.actual - judgement.predicted)
    if judgement.probabilities is None:
        return (judgement.actual != judgement.predicted).astype(np.float64)
    places = np.searchsorted(judgement.classes, judgement.actual)
    return np.asarray(1.0 - judgement.probabilities[np.arange(len(places)), places])
