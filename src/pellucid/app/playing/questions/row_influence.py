"""Which rows moved the picture most: fits that leave out one row each say how much of it they change."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from pellucid.app.playing.layers import Layer, PointsLayer
from pellucid.app.playing.questions.asked_model import MOST_TOLD, AskedModel, told_answer
from pellucid.app.playing.stages import Report
from pellucid.core.types import Array

SECONDS = 15.0
"""For all fits together."""
CELLS = 40
"""Along each axis of the picture in which fits are compared."""


def influence(asked: AskedModel, report: Report | None) -> dict[str, Any]:
    """Return the rows without which the picture differs most, by fits that leave out one row each."""
    question = "Which rows moved the picture most?"
    places = _places(asked)
    before = asked.predict(places)
    order, which = _worth_trying(asked)
    start, shares, tried = perf_counter(), [], []
    for done, k in enumerate(order, 1):
        share = _change_without(asked, int(k), places, before)
        if share is not None:
            shares.append(share)
            tried.append(int(k))
        seconds = perf_counter() - start
        if report is not None:
            report(done, f"without row {k}", seconds)
        if seconds > SECONDS:
            break
    if not tried:
        return told_answer(question, "None can be told: the method does not fit without a row.")
    best = np.argsort(-np.array(shares), kind="stable")[:MOST_TOLD]
    unit = "mean change" if asked.is_regression else "share of the picture"
    told = [[str(tried[i]), _share(asked, shares[i])] for i in best]
    scope = (
        f"each of the {len(tried)} rows"
        if len(tried) == len(asked.X)
        else f"{len(tried)} of {len(asked.X)} rows, {which},"
    )
    verdict = (
        f"Row {tried[best[0]]}: without it {_change_in_words(asked, shares[best[0]])}."
        if shares[best[0]] > 0
        else "None: without any of them the picture stays."
    )
    text = f"{verdict} Fitted again without {scope} one at a time."
    layers = _ringed(asked, [tried[i] for i in best if shares[i] > 0])
    return told_answer(question, text, layers, {"columns": ["row", unit], "rows": told})


def _places(asked: AskedModel) -> Array:
    """Return the rows at which fits are compared: over the picture, or the rows themselves."""
    if not asked.drawn:
        return asked.X
    middle = np.median(asked.X, axis=0)
    lines = [
        np.linspace(asked.X[:, j].min(), asked.X[:, j].max(), CELLS if len(asked.drawn) == 2 else 4 * CELLS)
        for j in asked.drawn
    ]
    grid = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, len(asked.drawn))
    rows = np.repeat(middle[np.newaxis], len(grid), axis=0)
    rows[:, asked.drawn] = grid
    return rows


def _worth_trying(asked: AskedModel) -> tuple[Array, str]:
    """Return the rows, those that probably matter most first, and what is said of these."""
    if asked.is_regression:
        return np.argsort(
            -np.abs(asked.predict(asked.X) - np.asarray(asked.y, dtype=float)), kind="stable"
        ), "those farthest off"
    if hasattr(asked.model, "predict_proba"):
        chances = np.sort(np.asarray(asked.model.predict_proba(asked.X)), axis=1)
        return np.argsort(chances[:, -1], kind="stable"), "those that are least certain"
    return np.random.default_rng(0).permutation(len(asked.X)), "drawn by chance"


def _change_without(asked: AskedModel, k: int, places: Array, before: Array) -> float | None:
    """Return how much of the picture a fit without a row changes; None if there is no such fit."""
    others = np.arange(len(asked.X)) != k
    y = None if asked.y is None else np.asarray(asked.y)[others]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = _begun_where_it_ended(asked.model).fit(asked.X[others], y)
            found = np.asarray(model.predict(places))
    except (ValueError, TypeError, np.linalg.LinAlgError):
        return None
    if asked.is_regression:
        return float(np.mean(np.abs(found - before)))
    if not is_classifier(asked.model):
        found = _renamed(found, before)
    return float(np.mean(found != before))


def _begun_where_it_ended(model: Any) -> Any:
    """Return the method, with the clusters that were found as its start: other starts would tell of chance."""
    found = clone(model)
    takes = found.get_params(deep=False)
    if "init" in takes and hasattr(model, "cluster_centers_"):
        found.set_params(init=model.cluster_centers_, **({"n_init": 1} if "n_init" in takes else {}))
    if "means_init" in takes and hasattr(model, "means_"):
        found.set_params(means_init=model.means_, n_init=1)
    return found


def _renamed(found: Array, before: Array) -> Array:
    """Return clusters under the numbers of those with which they share most places: their own order means nothing."""
    from scipy.optimize import linear_sum_assignment

    n = int(max(found.max(), before.max())) + 1
    shared = np.zeros((n, n))
    np.add.at(shared, (found, before), 1.0)
    rows, columns = linear_sum_assignment(-shared)
    return columns[np.argsort(rows)][found]


def _share(asked: AskedModel, share: float) -> str:
    return f"{share:.3g}" if asked.is_regression else f"{share:.2%}"


def _change_in_words(asked: AskedModel, share: float) -> str:
    told = _share(asked, share)
    return (
        f"the prediction changes by {told} on average"
        if asked.is_regression
        else f"{told} of the picture gets another answer"
    )


def _ringed(asked: AskedModel, rows: list[int]) -> list[Layer]:
    if not rows or not asked.drawn:
        return []
    x = asked.X[rows, asked.drawn[0]]
    if len(asked.drawn) == 2:
        return [PointsLayer(x, asked.X[rows, asked.drawn[1]], marker="ring", size=1.6)]
    return [PointsLayer(x, np.asarray(asked.y, dtype=float)[rows], marker="ring", size=1.6)]
