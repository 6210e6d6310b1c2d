"""Greedy searches over sets of columns: one column more or one less at a time, every set scored once.

Of candidates whose mean scores are equal up to rounding, the one that moves the first column is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.feature_selection.search.search_rules import (
    best_of,
    chosen_set,
    floating_goal,
    is_better,
    is_floating,
    mean_scores,
    sequential_steps,
    starts_from_all,
)


class ScoredSet(NamedTuple):
    """A set one move away."""

    feature: int
    place: int
    """Its row among the visited sets."""
    score: float


class FeatureSearch:
    """Where a search stands, and all that it has seen."""

    def __init__(self, scores: Any, n_features: int, *, from_all: bool, watch: Watch = ignore) -> None:
        self.scores, self.watch = scores, watch
        self.mask = np.full(n_features, from_all)
        self.sets: list[Array] = []
        self.fold_scores: list[Array] = []
        self.path: list[int] = []
        self.best_of_size: dict[int, float] = {}
        self.trace = Trace()
        self.is_stopped = False
        self._places: dict[bytes, int] = {}

    @property
    def size(self) -> int:
        """Columns of the set it stands at."""
        return int(self.mask.sum())

    def see(self, mask: Array, fold_scores: Array) -> int:
        """Keep the scores of a set; return its place among the visited ones."""
        place = self._places.setdefault(mask.tobytes(), len(self.sets))
        if place == len(self.sets):
            self.sets.append(mask.copy())
            self.fold_scores.append(fold_scores)
        return place

    def see_start(self) -> None:
        """Score the set that the search starts from, and count it as a set of its size."""
        place = self.see(self.mask, self.scores.of_set(self.mask))
        self.best_of_size[self.size] = float(mean_scores(self.fold_scores[place]))

    def best_move(self, *, adding: bool) -> ScoredSet:
        """Return the best set with one column more, or one less; those not seen before are scored."""
        features = np.flatnonzero(~self.mask if adding else self.mask)
        moved = np.tile(self.mask, (len(features), 1))
        moved[np.arange(len(features)), features] = adding
        is_new = np.array([mask.tobytes() not in self._places for mask in moved])
        found = self.scores.of_moves(self.mask, features[is_new]) if is_new.any() else np.zeros((0, 0))
        fresh = iter(found)
        places = [self.see(m, next(fresh) if new else np.zeros(0)) for m, new in zip(moved, is_new, strict=True)]
        means = mean_scores(np.array([self.fold_scores[place] for place in places]))
        best = best_of(means)
        return ScoredSet(int(features[best]), places[best], float(means[best]))

    def take(self, move: ScoredSet) -> None:
        """Go to a set; tell who watches."""
        self.mask[move.feature] = not self.mask[move.feature]
        self.path.append(move.place)
        known = self.best_of_size.get(self.size, -np.inf)
        self.best_of_size[self.size] = max(known, move.score)
        self.trace.add(iteration=len(self.path), score=move.score, size=self.size, feature=move.feature)
        self.is_stopped = self.watch(self.mask.copy())

    @property
    def visited(self) -> Array:
        """All sets that were scored, in this order, a row for each."""
        return np.array(self.sets, dtype=bool).reshape(-1, len(self.mask))


def run_search(search: FeatureSearch, parameters: Any) -> Array:
    """Search as the parameters say; return the set to choose."""
    d, adding = len(search.mask), not starts_from_all(parameters)
    if not is_floating(parameters):
        n_steps, least_gain = sequential_steps(parameters, d)
        step_by_step(search, n_steps, adding=adding, least_gain=least_gain)
        return search.mask.copy()
    wanted, last_size = floating_goal(parameters, d)
    if not adding:
        search.see_start()
    if parameters.direction == "add-remove":
        add_and_remove(search, last_size, parameters.add, parameters.remove)
    elif parameters.direction.startswith("floating"):
        float_to(search, last_size, adding=adding)
    else:
        step_by_step(search, abs(last_size - search.size), adding=adding)
    return search.sets[chosen_set(search.visited, np.array(search.fold_scores), wanted)].copy()


def step_by_step(search: FeatureSearch, n_steps: int, *, adding: bool, least_gain: float | None = None) -> None:
    """Take so many steps in one direction; where a gain is asked for, only until the best step gains less."""
    before = -np.inf
    for _ in range(n_steps):
        move = search.best_move(adding=adding)
        if least_gain is not None and not move.score - before >= least_gain:
            break
        search.take(move)
        before = move.score
        if search.is_stopped:
            break


def add_and_remove(search: FeatureSearch, last_size: int, add: int, remove: int) -> None:
    """Take rounds of so many steps forth and so many back, until one has come to the last size."""
    growing = add > remove
    forth, back = (add, remove) if growing else (remove, add)
    is_last = False
    while not (is_last or search.is_stopped):
        for n_steps, adding in ((forth, growing), (back, not growing)):
            left = len(search.mask) - search.size if adding else search.size - 1  # no set is empty
            step_by_step(search, min(n_steps, left), adding=adding)
            is_last = is_last or (search.size >= last_size if growing else search.size <= last_size)


def float_to(search: FeatureSearch, last_size: int, *, adding: bool) -> None:
    """Move on to the last size; after each move go back while that gives the best set of its size so far."""
    while search.size != last_size and not search.is_stopped:
        search.take(search.best_move(adding=adding))
        while _may_go_back(search, adding=adding):
            back = search.best_move(adding=not adding)
            smaller = search.size - 1 if adding else search.size + 1
            if not is_better(back.score, search.best_of_size.get(smaller, -np.inf)):
                break
            search.take(back)


def _may_go_back(search: FeatureSearch, *, adding: bool) -> bool:
    """Return whether there is a set to go back to that the search has not just come from."""
    return not search.is_stopped and (search.size > 2 if adding else search.size < len(search.mask) - 1)
