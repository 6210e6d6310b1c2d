"""Fitting the members of a bag, and what they say about rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, Data
from pellucid.core.verification import verify
from pellucid.ensemble.bagging.bagging_samples import BagSamples
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.sampling import draws
from pellucid.proofs.seen import refusal

LARGEST_SEED = 2**31 - 1


def fit_member(estimator: Any, samples: BagSamples, seed: int) -> Any:
    """Return a copy of the estimator, fitted on the sample of a seed; labels are codes."""
    member = with_seeds(clone(estimator), seed)
    X, y, options = data_of_member(member, samples, seed)
    return member.fit(X, y, **options)


def data_of_member(member: Any, samples: BagSamples, seed: int) -> tuple[Any, Array, dict[str, Any]]:
    """Return the rows, targets and weights of a member; one that takes no weights has rows several times."""
    data, columns = samples.data, samples.columns(seed)
    X = data.X if len(columns) == data.X.shape[1] and not samples.bootstrap_features else data.X[:, columns]
    if has_fit_parameter(member, "sample_weight"):
        return X, data.y, {"sample_weight": samples.weights(seed)}
    rows = np.repeat(np.arange(data.X.shape[0]), samples.counts(seed))
    return X[rows], data.y[rows], {}


def proof_of_member(member: Any, samples: BagSamples, seed: int) -> Certificate:
    """Return what the proof of a member of ours finds in its sample; one that cannot be looked at proves nothing."""
    X, y, options = data_of_member(member, samples, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bag's claim says it
        try:
            return verify(member, X, y, random_state=draws(), **options)
        except (ValueError, TypeError, IndexError, LookupError) as error:
            return refusal("member", str(error))


def fit_members(estimator: Any, samples: BagSamples, seeds: list[int]) -> list[Any]:
    """Return a member for each seed, fitted on all threads."""
    return run_blocks(lambda seed: fit_member(estimator, samples, seed), seeds)


def with_seeds(member: Any, seed: int) -> Any:
    """Give every part of an estimator that draws something a seed of its own."""
    rng = np.random.RandomState(seed)
    names = sorted(name for name in member.get_params() if name == "random_state" or name.endswith("__random_state"))
    return member.set_params(**{name: int(rng.randint(LARGEST_SEED)) for name in names}) if names else member


def answering_method(member: Any, caller: str) -> str:
    """Return the method of a member that an answer of the bag comes from."""
    if caller == "decision_function":
        return caller
    return "predict_proba" if is_classifier(member) and hasattr(member, "predict_proba") else "predict"


def member_answers(
    member: Any, columns: Array, X: Data, n_classes: int, metadata: Mapping[str, Any] = MappingProxyType({})
) -> Array:
    """Return what a member says about rows, (n_rows, n): shares of classes, one for the class it votes for, numbers."""
    rows = X[:, columns] if len(columns) != X.shape[1] or (np.diff(columns) != 1).any() else X
    if not n_classes:
        return np.asarray(member.predict(rows, **metadata), dtype=np.float64).reshape(rows.shape[0], -1)
    answers = np.zeros((rows.shape[0], n_classes))
    if hasattr(member, "predict_proba"):
        answers[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(rows, **metadata)
    else:
        answers[np.arange(rows.shape[0]), np.asarray(member.predict(rows, **metadata), dtype=np.int64)] = 1.0
    return answers
