"""The members of a bag: the samples that follow from their seeds, fitting them, and what they say about rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, Data
from pellucid.core.verification import verify
from pellucid.ensemble.bootstrap_samples import drawn_places, n_drawn, room_of, value_order
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.sampling import draws
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData

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


@dataclass(frozen=True)
class BagSamples:
    """Samples of rows and columns, by the seed of a member."""

    data: TrainingData
    bootstrap: bool
    bootstrap_features: bool
    n_draws: int
    n_columns: int

    @classmethod
    def of(cls, parameters: Any, data: TrainingData) -> BagSamples:
        """Return the samples for these parameters; refuse more columns, or rows without replacement, than there are."""
        n, d = data.X.shape
        amount = parameters.max_features
        n_columns = int(amount) if isinstance(amount, Integral) else max(1, int(amount * d))
        if n_columns > d:
            raise ValueError(f"max_features must be at most {d}, got {amount}: max_features must be <= n_features.")
        n_draws = n_drawn(parameters.max_samples, n, data.weight)
        if not parameters.bootstrap and parameters.max_samples is None:
            n_draws = n
        if not parameters.bootstrap and n_draws > n:
            raise ValueError(
                f"max_samples must be at most the {n} rows without replacement, got {parameters.max_samples}. "
                f"(Effective max_samples={n_draws} must be <= n_samples={n} to be able to sample without replacement.)"
            )
        return cls(data, bool(parameters.bootstrap), bool(parameters.bootstrap_features), n_draws, n_columns)

    @cached_property
    def order(self) -> Array:
        """The rows in an order that depends on their values alone, as they come where these are no numbers."""
        X, y = self.data.X, np.asarray(self.data.y)
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind not in "biuf":
            return np.arange(X.shape[0], dtype=np.int32)
        return value_order(X, y)

    def places(self, seed: int) -> Array:
        """Return the places, in the order of rows, that a member's sample is made of."""
        n = self.data.X.shape[0]
        if self.bootstrap:
            return drawn_places(seed, n, self.n_draws, room_of(self.data.weight, self.order))
        return np.random.RandomState(seed).permutation(n)[: self.n_draws]

    def counts(self, seed: int) -> Array:
        """Return how often each row is in the sample of a member."""
        return np.bincount(self.order[self.places(seed)], minlength=self.data.X.shape[0])

    def weights(self, seed: int) -> Array:
        """Return the weight of each row for a member: how often it was drawn, or its own if nothing is drawn twice."""
        count = self.counts(seed).astype(np.float64)
        return count if self.bootstrap else count * self.data.weights

    def columns(self, seed: int) -> Array:
        """Return the columns of a member."""
        d = self.data.X.shape[1]
        rng = np.random.RandomState([seed, 1])
        if self.bootstrap_features:
            return rng.randint(0, d, self.n_columns)
        return np.arange(d) if self.n_columns == d else np.sort(rng.permutation(d)[: self.n_columns])
