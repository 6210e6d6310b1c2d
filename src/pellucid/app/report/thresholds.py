"""From which probability on to say yes: what each threshold finds, misses and costs on the rows kept aside."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from pellucid.app.bake_off.judgement import Judgement
from pellucid.core.types import Array

SHOWN = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
MOST_STEPS = 200
"""Thresholds that the page can move to."""


@dataclass(frozen=True)
class ThresholdRow:
    """What is called from a threshold on: rows called, how many of them are right, and how many are missed."""

    threshold: float
    called: int
    hits: int
    missed: int
    cost: float
    """Per row, with the costs of the measure; a false alarm and a miss cost 1 each if it has none."""
    is_cheapest: bool = False
    is_used: bool = False

    @property
    def false_alarms(self) -> int:
        """Rows called that are of the other class."""
        return self.called - self.hits

    @property
    def found(self) -> float:
        """Share of the rows of the class that are called (recall)."""
        return self.hits / max(self.hits + self.missed, 1)

    @property
    def right_calls(self) -> float:
        """Share of the calls that are right (precision); of no call, nothing is known."""
        return self.hits / self.called if self.called else float("nan")


@dataclass(frozen=True)
class Thresholds:
    """The table of thresholds, and the same for a script: thresholds, hits and calls as JSON."""

    label: str
    rows: list[ThresholdRow]
    used: float
    false_alarm_cost: float
    miss_cost: float
    script_data: str


def thresholds_of(judgement: Judgement) -> Thresholds | None:
    """Return the thresholds between two classes; None for numbers, more classes, or a class that no row kept has."""
    if judgement.classes is None or judgement.probabilities is None or len(judgement.classes) != 2:
        return None
    truth = np.asarray(judgement.actual == judgement.classes[1])
    if not truth.any() or truth.all():
        return None
    chances = judgement.probabilities[:, 1]
    alarm, miss = _costs(judgement)
    used = alarm / (alarm + miss) if judgement.threshold is None else judgement.threshold
    steps = np.unique(np.round([*SHOWN, *np.linspace(0.005, 0.995, MOST_STEPS - 1), used], 4))
    all_rows = [_row(truth, chances, float(step), alarm, miss) for step in steps]
    least = min(row.cost for row in all_rows)
    cheapest = min((row for row in all_rows if row.cost == least), key=lambda row: abs(row.threshold - used))
    shown = {*SHOWN, round(used, 4), cheapest.threshold}
    rows = [
        ThresholdRow(
            row.threshold,
            row.called,
            row.hits,
            row.missed,
            row.cost,
            is_cheapest=row is cheapest,
            is_used=row.threshold == round(used, 4),
        )
        for row in all_rows
        if row.threshold in shown
    ]
    data = {
        "rows": len(truth),
        "positives": int(truth.sum()),
        "thresholds": [row.threshold for row in all_rows],
        "called": [row.called for row in all_rows],
        "hits": [row.hits for row in all_rows],
        "used": round(used, 4),
    }
    return Thresholds(str(judgement.classes[1]), rows, used, alarm, miss, json.dumps(data, separators=(",", ":")))


def _row(truth: Array, chances: Array, threshold: float, alarm: float, miss: float) -> ThresholdRow:
    called = chances > threshold
    hits, n_called, n_true = int((called & truth).sum()), int(called.sum()), int(truth.sum())
    cost = (alarm * (n_called - hits) + miss * (n_true - hits)) / len(truth)
    return ThresholdRow(threshold, n_called, hits, n_true - hits, cost)


def _costs(judgement: Judgement) -> tuple[float, float]:
    """Return what a false alarm and a miss cost beyond being right."""
    costs = None if judgement.measure is None else judgement.measure.costs
    if costs is None:
        return 1.0, 1.0
    alarm, miss = float(costs[0, 1] - costs[0, 0]), float(costs[1, 0] - costs[1, 1])
    return (alarm, miss) if alarm > 0 and miss > 0 else (1.0, 1.0)
