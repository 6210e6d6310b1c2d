"""The steps before the last one of a pipeline, looked at again: ours by their proofs, others by fitting them anew.

Scikit-learn's transformers have no proofs. But most of them are quickly fitted, and the same rows leave the same
numbers: what a step holds is compared, number by number, with what a new copy of it holds after a fit to these rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from pellucid.core.types import Data
from pellucid.proofs.certificate import Certificate, Claim

CLOSE = 1e-9
"""Relative difference of numbers that another processor may leave."""

EVIDENCE = {"data_fingerprint_", "certificate_", "trace_", "fit_parameters_"}
"""What an estimator of ours holds beside what it answers by."""

TAKEN = "the parameters of the steps before the last are taken as they are"
REFIT = "Fit the whole pipeline again."

Prove = Callable[[Any, Data, Data], Certificate]


@dataclass
class StepsAgain:
    """What was found on the way through the steps, and the rows as the last one was fitted on them."""

    X: Data
    y: Data = None
    weight: Data | None = None
    wrong: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    n_steps: int = 0

    def keep(self, rows: Any) -> None:
        """Go on with some rows: those that all steps after the first learned from, as the pipeline says."""
        y, chosen = np.asarray(self.y), np.asarray(rows)
        if chosen.dtype != bool or chosen.shape != y.shape[:1] or not chosen.any():
            self.wrong.append("learned_rows_")
            return
        self.X = self.X.iloc[chosen] if hasattr(self.X, "iloc") else self.X[chosen]
        self.y, self.weight = y[chosen], None if self.weight is None else np.asarray(self.weight)[chosen]
        self.uncovered.append(f"{len(y) - chosen.sum():,} of the {len(y):,} rows, which it did not learn from")

    def added_to(self, found: Certificate) -> Certificate:
        """Return the certificate of the last step with what was found in the others."""
        if not self.n_steps:
            return found
        which = f": {', '.join(self.wrong)}" if self.wrong else ""
        statement = f"of {self.n_steps} steps before the last, those that these rows do not leave{which}"
        words = "; ".join([*self.uncovered, TAKEN])
        reason = f"{found.reason} Not covered: {words}.".strip()
        claim = Claim("steps", statement, float(len(self.wrong)), 0.0, REFIT)
        return Certificate(found.grade, (*found.claims, claim), reason)


def steps_again(pipeline: Pipeline, X: Data, y: Data, weight: Data | None, prove: Prove) -> StepsAgain:
    """Look at all steps but the last; ``prove`` returns what the proof of an estimator of ours finds.

    The first step reads a table whole; what follows may have learned from some of its rows, ``learned_rows_``.
    """
    found, learned = StepsAgain(X, y, weight), getattr(pipeline, "learned_rows_", None)
    for place, (name, step) in enumerate(pipeline.steps[:-1]):
        if place == 1 and learned is not None:
            found.keep(learned)
        if step is None or isinstance(step, str):  # it lets everything pass
            continue
        found.n_steps += 1
        if hasattr(step, "certificate_"):
            if prove(step, found.X, found.y).failed:
                found.wrong.append(name)
            found.X = step.transform(found.X)
        else:
            _look_at(found, name, step)
    return found


def _look_at(found: StepsAgain, name: str, step: Any) -> None:
    y, weight = found.y, found.weight
    options: list[dict[str, Any]] = [{}]
    if weight is not None and has_fit_parameter(step, "sample_weight"):
        options.append({"sample_weight": weight})
    for given in options:
        again, rows = _fitted(step, found.X, y, given)
        if same(step, again):
            found.X = rows  # as the fit saw them: a transform after the fit may round otherwise
            return
    if same(again, _fitted(step, found.X, y, given)[0]):
        found.wrong.append(name)
        found.X = rows
    else:
        found.uncovered.append(f"{name}, which draws at random")
        found.X = step.transform(found.X)


def _fitted(step: Any, X: Data, y: Data, options: dict[str, Any]) -> tuple[Any, Data]:
    again = clone(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        if hasattr(again, "fit_transform"):
            return again, again.fit_transform(X, y, **options)
        return again, again.fit(X, y, **options).transform(X)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same up to rounding; of estimators, all that both hold beside evidence."""
    if isinstance(one, BaseEstimator):
        return type(one) is type(other) and _same_parts(_parts(one), _parts(other))
    if isinstance(one, (float, np.floating)) and isinstance(other, (float, np.floating, int)):
        return bool(np.isclose(one, other, rtol=CLOSE, atol=0.0, equal_nan=True))
    if sparse.issparse(one):
        return sparse.issparse(other) and one.shape == other.shape and same(one.toarray(), other.toarray())
    if isinstance(one, np.ndarray) or hasattr(one, "to_numpy"):  # or a column or an index of a data frame
        return _same_arrays(np.asarray(one), np.asarray(other))
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and all(
            same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one)
        )
    if isinstance(one, (str, int, bool, bytes, slice, type, np.generic, np.dtype)) or one is None:
        return bool(one == other)
    return type(one) is type(other)  # a function, a source of random numbers


def _parts(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name not in EVIDENCE}


def _same_parts(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether what both hold is the same: a file keeps what answers need, and not all that a fit leaves."""
    return all(same(one[name], other[name]) for name in one.keys() & other.keys())


def _same_arrays(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "fc" and other.dtype.kind in "fciub":
        with np.errstate(invalid="ignore"):
            scale = CLOSE * np.abs(one[np.isfinite(one)]).max(initial=0.0)
        return bool(np.allclose(one, other, rtol=CLOSE, atol=min(scale, CLOSE), equal_nan=True))
    if one.dtype.kind == "O":
        return all(map(same, one.ravel().tolist(), other.ravel().tolist()))
    return bool(np.array_equal(one, other))
