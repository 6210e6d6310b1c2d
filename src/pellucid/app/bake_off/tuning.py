"""Boosting tuned in the time that is left: settings that differ much first, then one change at a time from the best.

A change is kept where it does better, and tried again before the others. Nothing is drawn: with time enough, the same
table is tuned the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pellucid.app.bake_off.contestants import TUNED_BOOSTING, Contestant
from pellucid.app.bake_off.scores import MethodScore

Settings = dict[str, Any]
MOST_TRIES = 30
"""Settings that are compared; later ones win little."""
NEAR = 1.25
"""Boosting that is farther behind the best method than this, as a ratio of errors, is not worth tuning."""
CLOSE = 1.06
"""A setting that is farther behind on the first split than this is not tried on the others."""
MOST_ROUNDS, MOST_LEAVES, LARGEST_LEAF, SLOWEST = 3200, 255, 100, 0.0125


FAR_APART: tuple[Settings, ...] = (
    {"max_iter": 800, "learning_rate": 0.1, "max_leaf_nodes": 7, "min_samples_leaf": 2, "max_features": 0.5},
    {"max_iter": 800, "learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 5, "max_features": 0.5},
    {"max_iter": 500, "learning_rate": 0.05, "max_leaf_nodes": 31, "min_samples_leaf": 20, "max_features": 0.5},
    {"max_iter": 300, "learning_rate": 0.05, "max_leaf_nodes": 4, "min_samples_leaf": 10, "max_features": 1.0},
    {"max_iter": 300, "learning_rate": 0.05, "max_leaf_nodes": 127, "min_samples_leaf": 20, "max_features": 0.25},
)
"""Small trees and large ones, many and few, with all columns and with part of them."""


def _more_rounds(now: Settings) -> Settings:
    return {"max_iter": 2 * now["max_iter"]}


def _fewer_rounds(now: Settings) -> Settings:
    return {"max_iter": max(25, now["max_iter"] // 2)}


def _larger_trees(now: Settings) -> Settings:
    return {"max_leaf_nodes": 2 * now["max_leaf_nodes"] + 1}


def _smaller_trees(now: Settings) -> Settings:
    return {"max_leaf_nodes": max(3, now["max_leaf_nodes"] // 2)}


def _larger_leaves(now: Settings) -> Settings:
    return {"min_samples_leaf": 2 * now["min_samples_leaf"]}


def _smaller_leaves(now: Settings) -> Settings:
    return {"min_samples_leaf": max(1, now["min_samples_leaf"] // 3)}


def _with_more_care(now: Settings) -> Settings:
    return {"learning_rate": now["learning_rate"] / 2, "max_iter": 2 * now["max_iter"]}


def _fewer_columns(now: Settings) -> Settings:
    """Each split looks at part of the columns: trees differ more, and their sum errs less."""
    return {"max_features": now["max_features"] / 2}


def _more_columns(now: Settings) -> Settings:
    return {"max_features": min(1.0, 2 * now["max_features"])}


def _penalized(now: Settings) -> Settings:
    return {"l2_regularization": 4 * now["l2_regularization"] if now["l2_regularization"] else 1.0}


CHANGES: tuple[Callable[[Settings], Settings], ...] = (
    _fewer_columns,
    _more_rounds,
    _with_more_care,
    _larger_trees,
    _smaller_trees,
    _smaller_leaves,
    _larger_leaves,
    _penalized,
    _fewer_rounds,
    _more_columns,
)


def start_of(score: MethodScore) -> Settings:
    """Return the settings of boosting as far as tuning knows them; where it stopped by itself, the rounds it had."""
    given = score.contestant.settings
    usual = score.contestant.make().get_params()
    known = {name: given.get(name, usual[name]) for name in (*TUNED_BOOSTING, "loss")}
    rounds = score.pace.rounds if given.get("early_stopping") else score.contestant.n_rounds
    return known | {"max_iter": max(25, rounds), "early_stopping": False, "random_state": 0}


def tuned(
    contestant: Contestant, start: Settings, best: MethodScore, attempt: Callable[[Contestant, MethodScore], Any]
) -> Iterator[MethodScore]:
    """Yield every score that is better than all before it, from that of ``start`` on.

    ``attempt`` returns the score of a contestant, None if it is clearly behind the score given, or a text if there is
    no time left for it.
    """
    now, tried, changes = start, {_key(start)}, list(CHANGES)
    far, since_better = list(FAR_APART), 0
    while (far or since_better < len(changes)) and len(tried) < MOST_TRIES:
        change = None if far else changes[since_better]
        settings = {**start, **far.pop(0)} if change is None else {**now, **change(now)}
        since_better += change is not None
        if _key(settings) in tried or not _is_sensible(settings):
            continue
        tried.add(_key(settings))
        score = attempt(contestant.with_settings(settings), best)
        if isinstance(score, str):
            return
        if score is not None and score.worth < best.worth:
            now, best, since_better = settings, score, 0
            if change is not None:
                changes.remove(change)
                changes.insert(0, change)
            yield score


def _is_sensible(settings: Mapping[str, Any]) -> bool:
    return bool(
        settings["max_iter"] <= MOST_ROUNDS
        and settings["max_leaf_nodes"] <= MOST_LEAVES
        and settings["min_samples_leaf"] <= LARGEST_LEAF
        and settings["learning_rate"] >= SLOWEST
        and settings["max_features"] >= 1 / 16
        and settings["l2_regularization"] <= 100
    )


def _key(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted((name, str(value)) for name, value in settings.items()))
