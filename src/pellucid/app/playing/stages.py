"""Stages of a fit: the model as it was after each iteration, or as it would be with the first of its parts.

A method that iterates tells callbacks of scikit-learn what it holds after each iteration, as fitted attributes: a stage
is a model with these, which predicts. What ``pellucid.record`` keeps says to which row of the trace a stage belongs.
A method without iterations is built up from what it has: splits, trees, merges.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.trace import Trace, record
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import UncertifiedWarning

ANSWER = "the answer"
MOST_PAIRS = 80
"""Pairs of multipliers that are shown; of more some are left out."""
TINY = 1e-9


@dataclass(frozen=True)
class FitStage:
    """A model on its way: what to call it, the row of the trace it stands at, and what else is known of it."""

    label: str
    model: Any
    row: int | None = None
    known: Mapping[str, Any] = field(default_factory=dict)
    number: int | None = None
    """Which iteration it is, counted from 1 as workings do."""
    seconds: float | None = None
    """Of the fit until here, without what watching it took."""


Report = Callable[[int, str, float], None]
"""Told after each iteration: how many are done, what the last is called, seconds of the fit."""


class IterationKeeper:
    """A callback of scikit-learn that keeps the model of every iteration, and when it was there."""

    def __init__(self, report: Report | None = None) -> None:
        self.models: list[Any] = []
        self.times: list[float] = []
        self.report = report
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning, without those spent here."""
        return time.perf_counter() - self._start

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin: nothing to do."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End: nothing to do."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_data: Any) -> None:
        """Begin an iteration: nothing to do."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None, **_data: Any) -> None:
        """Keep the model as it is now; the whole fit is no iteration."""
        if fitted_estimator is None or context.task_name == "fit":
            return
        now = self.seconds
        self.models.append(_with_own_arrays(fitted_estimator))
        self.times.append(now)
        if self.report is not None:
            self.report(len(self.models), f"iteration {len(self.models)}", now)
        self._start += self.seconds - now


def _with_own_arrays(model: Any) -> Any:
    """Return a copy that later iterations cannot change, and that does not hold who watches it."""
    found = copy.copy(model)
    own = {name: value for name, value in vars(model).items() if "callback" not in name}
    vars(found).clear()
    vars(found).update({name: copy.deepcopy(value) if name.endswith("_") else value for name, value in own.items()})
    return found


@contextmanager
def shown_not_warned() -> Iterator[None]:
    """Leave out warnings that a certificate does not hold or iterations were too few: a page shows it."""
    with warnings.catch_warnings():
        for kind in (UncertifiedWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        yield


def fit_in_stages(estimator: Any, X: Data, y: Data = None, report: Report | None = None) -> tuple[Any, list[FitStage]]:
    """Return a clone of the estimator, fitted, and its stages, of which the last is the fitted model itself.

    A clone whose random state is None gets 0: a recording made twice is one recording. A certificate that does not hold
    and iterations that were too few are shown, not warned of.
    """
    model = clone(estimator)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=0)
    with record(), shown_not_warned():
        keeper = IterationKeeper(report)
        watched = clone(model).set_callbacks(keeper)
        watched.fit(X, y)
        seconds = keeper.seconds
        watched.set_callbacks()
        built = next((find(watched, X, y) for has, find in BUILT_UP if has(watched)), [])
    before = built or _iterations(keeper, watched.trace_)
    last = len(watched.trace_) - 1
    if before and before[-1].model is watched:
        return watched, [*before[:-1], replace(before[-1], seconds=seconds)]
    if before and before[-1].row == last:  # the fit ends where the last iteration did
        end = replace(before.pop(), model=watched, label=ANSWER, seconds=seconds)
    else:
        end = FitStage(ANSWER, watched, last if last >= 0 else None, seconds=seconds)
    return watched, [*before, end]


def _iterations(keeper: IterationKeeper, trace: Trace) -> list[FitStage]:
    """Return a stage for each iteration that the trace knows, or for all where it cannot be told."""
    models = keeper.models
    names, rows = _recorded_attributes(models, trace), _rows_of(models, trace)
    times = dict(zip(rows, keeper.times, strict=True))
    if names:
        found = [_as_recorded(models[0], names, state) for state in trace.states]
        return [
            FitStage(f"iteration {r + 1}", model, r, trace.states[r], r + 1, times.get(r))
            for r, model in enumerate(found)
        ]
    stages = []
    for i, (model, row) in enumerate(zip(models, rows, strict=True)):
        if row is None and len(models) > len(trace) and any(r is not None for r in rows):
            continue  # of a start that did not win
        number = i + 1 if row is None else row + 1
        known = trace.states[row] if row is not None and row < len(trace.states) else {}
        label = f"iteration {_shown_number(trace, row, i)}"
        stages.append(FitStage(label, model, row, known, number, keeper.times[i]))
    return stages


def _shown_number(trace: Trace, row: int | None, i: int) -> int:
    number = trace["iteration"][row] if row is not None else i + 1
    return int(number) if np.isfinite(number) else i + 1


def _recorded_attributes(models: list[Any], trace: Trace) -> dict[str, str]:
    """Return which attribute each recorded array is, where the recorded ones are all that changes in the fit.

    They are recognized by their numbers: a solver may call the rows of ``cluster_centers_`` centers.
    """
    if len(models) < 2 or len(trace.states) != len(trace):
        return {}
    arrays = [{name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)} for model in models]
    changing = {name for name in arrays[0] if any(not _same(arrays[0][name], later.get(name)) for later in arrays[1:])}
    found = {
        key: name
        for key in trace.states[0]
        for name in sorted(changing)
        if any(_same(state[key], later.get(name)) for state in trace.states if key in state for later in arrays)
    }
    return found if changing and set(found.values()) == changing else {}


def _same(one: Any, other: Any) -> bool:
    return isinstance(other, np.ndarray) and one.shape == other.shape and bool(np.array_equal(one, other))


def _as_recorded(model: Any, names: Mapping[str, str], state: Mapping[str, Array]) -> Any:
    found = copy.copy(model)
    for key, name in names.items():
        setattr(found, name, state[key])
    return found


def _rows_of(models: list[Any], trace: Trace) -> list[int | None]:
    """Return the row of the trace that each iteration wrote: by count, by what was recorded, or by its number."""
    n = len(models)
    if n == len(trace):
        return list(range(n))
    if trace.states:
        return list(_recorded_rows(models, trace))
    numbers = trace["iteration"] if len(trace) else np.zeros(0)
    if len(numbers) and numbers[-1] == n:
        places = np.searchsorted(numbers, np.arange(1, n + 1), side="right") - 1
        return [int(place) if place >= 0 else None for place in places]
    return [None] * n


def _recorded_rows(models: list[Any], trace: Trace) -> Iterator[int | None]:
    after = 0
    for model in models:
        arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
        rows = range(after, len(trace.states))
        kept = (trace.states[row].values() for row in rows)
        row = next((r for r, state in zip(rows, kept, strict=True) if _holds_any(state, arrays)), None)
        after = after if row is None else row + 1
        yield row


def _holds_any(state: Any, arrays: list[Array]) -> bool:
    return any(_same(value, array) for value in state for array in arrays)


def _is_single_tree(model: Any) -> bool:
    return getattr(getattr(model, "trees_", None), "n_trees", 0) == 1


def _splits(model: Any, _X: Data, _y: Data) -> list[FitStage]:
    """Return the tree with its first splits, level by level; ``is_split`` says which nodes of the tree have split."""
    from pellucid.tree.pruning.cost_complexity import without_branches

    tree = model.trees_
    inner = np.flatnonzero(~tree.is_leaf)
    depth = tree.depths()
    order = inner[np.argsort(depth[inner], kind="stable")]
    stages, is_split = [], np.zeros(tree.n_nodes, dtype=bool)
    for k in range(len(order)):
        grown = copy.copy(model)
        grown.trees_ = without_branches(tree, ~is_split & ~tree.is_leaf)
        row = int(depth[order[k]])
        label = "one leaf" if k == 0 else f"{k} split{'' if k == 1 else 's'}"
        stages.append(FitStage(label, grown, min(row, len(model.trace_) - 1), {"is_split": is_split.copy()}, k or None))
        is_split[order[k]] = True
    return stages


def _is_ensemble(model: Any) -> bool:
    """Return whether a model is a list of members that vote, and no later one corrects what it said before."""
    n = len(getattr(model, "estimators_", ())) if hasattr(model, "estimators_") else 0
    votes = len(model.trace_) == n or hasattr(model, "estimators_features_") or hasattr(model, "trees_")
    return n > 1 and "n_iter_" not in vars(model) and votes


def _members(model: Any, _X: Data, _y: Data) -> list[FitStage]:
    """Return the ensemble with its first members: what it has one of for each member is cut."""
    n, states = len(model.estimators_), model.trace_.states
    per_member = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, (list, np.ndarray)) and len(value) == n
    }
    stages = []
    for k in range(1, n + 1):
        part = copy.copy(model)
        for name, value in per_member.items():
            setattr(part, name, value[:k])
        if getattr(model, "trees_", None) is not None:
            part.trees_ = model.trees_.part(0, k)
        known = states[k - 1] if len(states) == n else {}
        row = k - 1 if len(model.trace_) == n else None
        stages.append(FitStage(f"{k} member{'' if k == 1 else 's'}", part, row, known, k))
    return [*stages[:-1], replace(stages[-1], label=ANSWER, model=model, row=len(model.trace_) - 1)]


def _merges(model: Any, _X: Data, _y: Data) -> list[FitStage]:
    """Return the clusters after each merge; ``labels_`` are those of all rows, ``merged`` the rows that just met."""
    n, stages = len(model.labels_), []
    groups: dict[int, Array] = {i: np.array([i]) for i in range(n)}
    for k, (one, other) in enumerate(model.children_.tolist()):
        merged = groups.pop(one), groups.pop(other)
        groups[n + k] = np.concatenate(merged)
        part = copy.copy(model)
        part.children_, part.distances_ = model.children_[: k + 1], model.distances_[: k + 1]
        part.labels_ = _labels(groups, n)
        number = k + 1
        stages.append(
            FitStage(f"merge {number}", part, k if k < len(model.trace_) else None, {"merged": merged}, number)
        )
    return [replace(stage, row=None) if stage.row == len(model.trace_) - 1 else stage for stage in stages]


def _labels(groups: Mapping[int, Array], n: int) -> Array:
    """Return the numbers of groups, the largest first, so that colors stay where most rows are."""
    labels = np.zeros(n, dtype=np.int64)
    for number, rows in enumerate(sorted(groups.values(), key=lambda rows: (-len(rows), int(rows.min())))):
        labels[rows] = number
    return labels


def _is_pairwise_machine(model: Any) -> bool:
    """Return whether a model found the multipliers of one machine of two classes, pair by pair."""
    pairs = np.ravel(getattr(model, "n_iter_", ()))
    return hasattr(model, "dual_coef_") and "pair_steps" in model.trace_.columns and pairs.size == 1 and pairs[0] > 1


def _pairs(model: Any, X: Data, y: Data) -> list[FitStage]:
    """Return the machine after its first pairs: the same fit, stopped there; ``pair`` are the rows that moved last.

    A fit is the same up to the pair it is stopped at, so this is the way that the machine went.
    """
    total = int(np.ravel(model.n_iter_)[0])
    shown = np.unique(np.linspace(1, total - 1, min(total - 1, MOST_PAIRS)).round().astype(int)).tolist()
    multipliers, stages, fits = {0: np.zeros(len(X))}, list[FitStage](), dict[int, Any]()
    for k in sorted({*shown, *(k - 1 for k in shown if k > 1), total - 1}):
        fits[k] = clone(model).set_params(max_iter=k).fit(X, y)
        multipliers[k] = _multipliers(fits[k], len(X))
    fits[total], multipliers[total] = model, _multipliers(model, len(X))
    for k in (*shown, total):
        change = np.abs(multipliers[k] - multipliers[k - 1])
        measured = {"iteration": k, **{name: float(fits[k].trace_[name][-1]) for name in ("dual", "gap", "violation")}}
        known = {"pair": np.flatnonzero(change > TINY * change.max()), "measured": measured}
        stages.append(FitStage(ANSWER if k == total else f"pair {k}", fits[k], None, known, k))
    return stages


def _multipliers(model: Any, n: int) -> Array:
    found = np.zeros(n)
    found[model.support_] = model.dual_coef_[0]
    return found


BUILT_UP: tuple[tuple[Callable[[Any], bool], Callable[[Any, Data, Data], list[FitStage]]], ...] = (
    (_is_single_tree, _splits),
    (_is_ensemble, _members),
    (lambda model: hasattr(model, "children_") and hasattr(model, "distances_"), _merges),
    (_is_pairwise_machine, _pairs),
)
"""What a method without iterations has -> the stages that build it up."""
