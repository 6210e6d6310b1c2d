"""Proof of a search: every step is replayed from the stored scores, and scores are computed again.

The path is walked once. At each step all sets one move away must have been scored, the next one must be the best of
them, and the direction of the move must be the one that the rules of the search ask for. The scores themselves are
those that the estimator, fitted anew by scikit-learn's cross-validation, has on the sets; of many sets a sample. Those
of a line are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import in_percent, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

BEYOND = 2
"""Sizes that a floating search goes beyond the one wanted: on its way back it may find a better set of that size."""

EQUAL = 1e-10
"""Mean scores that differ by less, in parts of the larger or of 1, are equal: that much is rounding."""

NOT_ASKED = "Nothing is claimed about the scores: the estimator is not there to be fitted again."

DEPENDENT = 1e-6
"""Part of the longest direction of columns below which another is none: their scores are left to the estimator."""

SCORE_ROUNDING = 1e-7
"""Difference of scores that rounding may make, in parts of 1 plus their size."""


def prove_search(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from what is stored and from sets that were scored again."""
    fault = _shape_fault(fitted, data)
    if fault:
        return Certificate("replayed", (Claim("shape", fault, 1.0, 0.0),))
    replay = _Replay(fitted, parameters)
    wrong = replay.walk()
    support = replay.mask
    if _is_floating(parameters):
        support = fitted.visited_[_chosen(fitted, replay.means, parameters)]
    chosen = int(np.sum(support != fitted.support_)) + int(fitted.n_features_to_select_ != fitted.support_.sum())
    claims = [
        Claim("steps", f"faults of {len(fitted.path_)} steps: {replay.first_fault or 'each was the best one'}",
              float(wrong), 0.0),
        Claim("choice", "columns that are not those of the set to choose", float(chosen), 0.0),
    ]  # fmt: skip
    again = getattr(fitted, "scored_again", None)
    if again is None:  # only the numbers of the model are there, not the estimator to ask
        return Certificate("replayed", tuple(claims), NOT_ASKED)
    if again:
        claims.append(_score_claim(fitted.fold_scores_, again))
    return Certificate("replayed", tuple(claims), fitted.cannot_score)


def _shape_fault(fitted: Seen, data: TrainingData) -> str:
    n_sets, d = len(fitted.visited_), data.X.shape[1]
    if fitted.visited_.shape != (n_sets, d) or fitted.support_.shape != (d,) or fitted.fold_scores_.ndim != 2:
        return "visited_ or support_ are not about the columns of the data"
    if len(fitted.fold_scores_) != n_sets or len(fitted.path_) != fitted.n_iter_:
        return "there is not a row of fold_scores_ for each set, or a step for each iteration"
    if np.any((fitted.path_ < 0) | (fitted.path_ >= n_sets)):
        return "path_ goes through sets that were not visited"
    return ""


def _score_claim(stored: Array, again: Mapping[int, Array]) -> Claim:
    """Return the claim that the scores of some sets are what the estimator gets."""
    worst = 0.0
    for place, scores in again.items():
        known = stored[place]
        if len(known) != len(scores) or not np.array_equal(np.isnan(known), np.isnan(scores)):
            worst = np.inf
            continue
        apart = np.abs(known - scores) / (1.0 + np.abs(scores))
        worst = float(np.max([worst, *apart[~np.isnan(apart)]]))
    n, k = len(stored), len(again)
    sure = "" if k == n else f": at most {in_percent(most_wrong(k))} of all are wrong, at 99 % confidence"
    return Claim(
        "scores", f"largest difference of fold scores found again, {k} of {n} sets{sure}", worst, SCORE_ROUNDING
    )


class LineScores:
    """Fold scores of least squares on sets of columns, each by its own equations."""

    def __init__(self, X: Array, y: Array, folds: Any, scoring: str | None, *, intercept: bool) -> None:
        rows = np.column_stack([X, y]).astype(np.float64)
        size = np.abs(rows).max(axis=0)
        rows /= np.where(size > 0.0, size, 1.0)  # squares of tiny and of huge numbers are lost
        self.score, self.unit, self.parts = LINE_SCORES[scoring], float(size[-1]), []
        for train, test in folds:
            mean = rows[train].mean(axis=0) if intercept else 0.0
            least = DEPENDENT * np.linalg.norm(rows[train], axis=0)  # a shorter column is constant, but for rounding
            self.parts.append((np.asarray(np.linalg.qr(rows[train] - mean, mode="r")), rows[test] - mean, least))

    def of_set(self, mask: Array) -> Array | None:
        """Return the score of each fold; None where columns are nearly dependent, or nothing is to be explained."""
        chosen, scores = np.flatnonzero(mask), []
        for root, tested, least in self.parts:
            columns, target = root[:, chosen], tested[:, -1]
            lengths, spread = np.linalg.norm(columns, axis=0), float(np.sum(np.square(target - target.mean())))
            if not ((lengths > least[chosen]).all() and spread > 0.0 and len(target) > 1):
                return None
            w, _, rank, _ = np.linalg.lstsq(columns / lengths, root[:, -1], rcond=DEPENDENT)
            if rank < len(chosen):
                return None
            error = float(np.sum(np.square(target - tested[:, chosen] @ (w / lengths))))
            scores.append(self.score(error, spread, len(target), self.unit))
        return np.array(scores)


LINE_SCORES: dict[str | None, Callable[[float, float, int, float], float]] = {
    None: lambda error, spread, _n, _unit: 1.0 - error / spread,
    "r2": lambda error, spread, _n, _unit: 1.0 - error / spread,
    "neg_mean_squared_error": lambda error, _spread, n, unit: -error / n * unit**2,
    "neg_root_mean_squared_error": lambda error, _spread, n, unit: -float(np.sqrt(error / n)) * unit,
}
"""From sums of squares of errors and of targets about their mean, of n rows in this unit."""


class _Replay:
    """Walks along a path and counts what is not as it should be."""

    def __init__(self, fitted: Seen, parameters: Seen) -> None:
        self.fitted, self.parameters = fitted, parameters
        self.means = np.mean(fitted.fold_scores_, axis=1) if len(fitted.visited_) else np.zeros(0)
        self.means[np.isnan(self.means)] = -np.inf  # a fold could not be scored
        self.places = {mask.tobytes(): place for place, mask in enumerate(fitted.visited_)}
        self.from_all = _starts_from_all(parameters)
        self.mask = np.full(fitted.visited_.shape[1], self.from_all)
        self.best_of_size: dict[int, float] = {}
        self.faults, self.first_fault = 0, ""
        self.position = 0

    def walk(self) -> int:
        """Return the number of faults."""
        if len(self.places) < len(self.means):
            self._fault("a set stands twice among those visited")
        kind = self.parameters.direction
        if not _is_floating(self.parameters):
            self._sequential()
        elif self.from_all and self.mask.tobytes() not in self.places:
            self._fault("the set of all columns was not scored")
        else:
            if self.from_all:
                self.best_of_size[len(self.mask)] = float(self.means[self.places[self.mask.tobytes()]])
            last_size = _last_size(self.parameters, len(self.mask))
            {"add-remove": self._rounds}.get(kind, self._floating if "floating" in kind else self._straight)(last_size)
        if not self.faults and self.position < len(self.fitted.path_):
            self._fault("steps after the end of the search")
        return self.faults

    def _sequential(self) -> None:
        n_steps, least_gain = _sequential_steps(self.parameters, len(self.mask))
        before = -np.inf
        for _ in range(n_steps):
            best = self._best(adding=not self.from_all)
            if best is None or (least_gain is not None and not self.means[best] - before >= least_gain):
                return
            before = self.means[best]
            self._go(best)

    def _straight(self, last_size: int) -> None:
        while not self.faults and self.mask.sum() != last_size:
            self._go(self._best(adding=not self.from_all))

    def _rounds(self, last_size: int) -> None:
        add, remove, is_last = self.parameters.add, self.parameters.remove, False
        moves = [False] * remove + [True] * add if self.from_all else [True] * add + [False] * remove
        while not (self.faults or is_last):
            for adding in moves:
                can_move = not self.mask.all() if adding else self.mask.sum() > 1
                if can_move and not self.faults:
                    self._go(self._best(adding=adding))
                is_last = is_last or bool(
                    self.mask.sum() <= last_size if self.from_all else self.mask.sum() >= last_size
                )

    def _floating(self, last_size: int) -> None:
        adding, d = not self.from_all, len(self.mask)
        while not self.faults and self.mask.sum() != last_size:
            self._go(self._best(adding=adding))
            while not self.faults and (self.mask.sum() > 2 if adding else self.mask.sum() < d - 1):
                back = self._best(adding=not adding)
                size = int(self.mask.sum()) + (-1 if adding else 1)
                before = self.best_of_size.get(size, -np.inf)
                if back is None or not self.means[back] > before + _rounding(before):
                    break
                self._go(back)

    def _best(self, *, adding: bool) -> int | None:
        """Return the best set one move away; a fault if one of them was not scored."""
        found = []
        for feature in np.flatnonzero(~self.mask if adding else self.mask):
            moved = self.mask.copy()
            moved[feature] = adding
            place = self.places.get(moved.tobytes())
            if place is None:
                self._fault(f"a set one move from step {self.position} was not scored")
                return None
            found.append(place)
        return found[_first_of_best(self.means[found])]

    def _go(self, best: int | None) -> None:
        """Take the next step of the path, which must lead to the best set."""
        path = self.fitted.path_
        if best is None:
            return
        if self.position >= len(path) or path[self.position] != best:
            self._fault(f"step {self.position + 1} does not lead to the best set")
            return
        self.mask = self.fitted.visited_[best].copy()
        size = int(self.mask.sum())
        self.best_of_size[size] = max(self.best_of_size.get(size, -np.inf), float(self.means[best]))
        self.position += 1

    def _fault(self, words: str) -> None:
        self.faults += 1
        self.first_fault = self.first_fault or words


def _is_floating(parameters: Seen) -> bool:
    """Return whether these are parameters of a FloatingSelector, which chooses among all sets it has seen."""
    return hasattr(parameters, "max_features")


def _starts_from_all(parameters: Seen) -> bool:
    is_shrinking = parameters.direction == "add-remove" and parameters.remove > parameters.add
    return bool(is_shrinking or parameters.direction.endswith("backward"))


def _sequential_steps(parameters: Seen, d: int) -> tuple[int, float | None]:
    """Return how many steps a plain search takes at most, and what the last must gain, as in scikit-learn."""
    wanted = parameters.n_features_to_select
    if wanted == "auto":
        return (d // 2, None) if parameters.tol is None else (d - 1, float(parameters.tol))
    size = int(wanted) if isinstance(wanted, Integral) else int(d * wanted)
    return d - size if _starts_from_all(parameters) else size, None


def _wanted_size(parameters: Seen, d: int) -> int:
    wanted = parameters.n_features_to_select
    return int(wanted) if isinstance(wanted, Integral) else max(1, int(d * wanted))


def _last_size(parameters: Seen, d: int) -> int:
    """Return the size at which a floating search ends."""
    is_growing = not _starts_from_all(parameters)
    if isinstance(parameters.n_features_to_select, str):
        most = d if parameters.max_features is None else int(parameters.max_features)
        return most if is_growing else 1
    size = _wanted_size(parameters, d)
    beyond = BEYOND if parameters.direction.startswith("floating") else 0
    return min(d, size + beyond) if is_growing else max(1, size - beyond)


def _chosen(fitted: Seen, means: Array, parameters: Seen) -> int:
    """Return the place of the set to choose among those visited.

    A number asks for the best set of that size; 'best' for the best of all, with the fewest columns of equal ones;
    'one-standard-error' for the best of the smallest size at which some set is within one standard error of that.
    """
    rule, best, sizes = parameters.n_features_to_select, float(np.max(means)), fitted.visited_.sum(axis=1)
    if isinstance(rule, str):
        equal = np.flatnonzero(means >= best - _rounding(best))
        top = int(equal[np.argmin(sizes[equal])])
        if rule == "best":
            return top
        folds = fitted.fold_scores_[top]
        error = float(np.std(folds, ddof=1)) / np.sqrt(len(folds)) if len(folds) > 1 else 0.0
        size = sizes[means >= means[top] - error - _rounding(float(means[top]))].min()
    else:
        size = _wanted_size(parameters, fitted.visited_.shape[1])
    places = np.flatnonzero(sizes == size)
    return int(places[_first_of_best(means[places])])


def _first_of_best(means: Array) -> int:
    """Return the place of the largest mean, the first of those that are equal up to rounding."""
    best = float(np.max(means))
    return int(np.flatnonzero(means >= best - _rounding(best))[0])


def _rounding(score: float) -> float:
    return EQUAL * max(1.0, abs(score)) if np.isfinite(score) else 0.0


PROVES = {"FloatingSelector": prove_search, "SequentialFeatureSelector": prove_search}
