"""Bagging: the same method fitted on many samples of the rows, and the mean of what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _raise_for_params, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.ensemble.bagging.bagging_members import (
    LARGEST_SEED,
    BagSamples,
    answering_method,
    fit_members,
    member_answers,
)
from pellucid.ensemble.bootstrap_samples import judged, room_of, score_interval, warn_of_few_draws
from pellucid.proofs.training_data import TrainingData
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.decision_tree.tree_data import TreeTarget, class_target, number_target
from pellucid.tree.tree_reading import log_shares


class Bagging(CertifiedEstimator):
    """What the classifier and the regressor share: samples, members, out-of-bag answers."""

    estimators_: list[Any]
    estimators_features_: list[Array]
    seeds_: Array
    sample_order_: Array
    draw_weight_: Array | None
    classes_: Array
    n_classes_: int
    n_features_in_: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: Any = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y``.

        A row of weight k is drawn as if it were there k times; without replacement, members get the weights.
        """
        earlier = self._earlier()
        data = self._check(X, y, sample_weight)
        estimator = self._get_estimator()
        if not self.bootstrap and data.weight is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError("sample_weight must be None with bootstrap=False for members that take no weights.")
        samples = BagSamples.of(self, data)
        if self.bootstrap:
            warn_of_few_draws(self.max_samples, data.X.shape[0], data.weight)
        seeds = check_random_state(self.random_state).randint(LARGEST_SEED, size=self.n_estimators)
        kept, members = (0, []) if earlier is None else (len(earlier[1]), earlier[0])
        if earlier is not None:
            seeds[:kept] = earlier[1]
        members = [*members, *fit_members(estimator, samples, [int(seed) for seed in seeds[kept:]])]
        attributes = {
            **({"classes_": data.classes, "n_classes_": len(data.classes)} if len(data.classes) else {}),
            "estimators_": members,
            "estimators_features_": [samples.columns(int(seed)) for seed in seeds],
            "seeds_": seeds.astype(np.int64),
            "sample_order_": data.given_rows(samples.order).astype(np.int32),
            "draw_weight_": room_of(data.weight, samples.order),
        }
        if self.oob_score:
            attributes |= self._out_of_bag(samples, attributes)
        return self._adopt(Fit(attributes), data)

    def _earlier(self) -> tuple[list[Any], Array] | None:
        """Return the members that a warm start keeps."""
        if not self.warm_start or "estimators_" not in vars(self):
            return None
        count = len(self.estimators_)
        if self.n_estimators < count:
            raise ValueError(
                f"n_estimators must be at least {count} for a warm start, got {self.n_estimators}. "
                f"(n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={count} when "
                "warm_start==True.)"
            )
        if self.n_estimators == count:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.", UserWarning)
        return self.estimators_, self.seeds_

    def _out_of_bag(self, samples: BagSamples, fitted: dict[str, Any]) -> dict[str, Any]:
        """Return the out-of-bag answers and their score."""
        data, n = samples.data, samples.data.X.shape[0]
        n_classes = len(data.classes)
        target = bag_target(data)
        answers, n_members = np.zeros((n, n_classes or target.n_outputs)), np.zeros(n, dtype=np.int64)
        for member, columns, seed in zip(
            fitted["estimators_"], fitted["estimators_features_"], fitted["seeds_"], strict=True
        ):
            unseen = np.flatnonzero(samples.counts(int(seed)) == 0)
            if len(unseen):
                answers[unseen] += member_answers(member, columns, data.X[unseen], n_classes)
                n_members[unseen] += 1
        if (n_members == 0).any():
            warn_user(
                "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
                "reliable oob estimates. Raise n_estimators.",
                UserWarning,
            )
        shaped = answers[:, None, :] if n_classes else answers[:, :, None]
        found = judged(shaped, n_members, target, data.weight, True)
        means = found.answers.reshape(n, -1)
        said = means if n_classes or means.shape[1] > 1 else means[:, 0]
        spread = np.ascontiguousarray(np.moveaxis(data.spread(np.moveaxis(said, 0, -1)), -1, 0))
        name = "oob_decision_function_" if n_classes else "oob_prediction_"
        return {
            "oob_score_": found.score,
            "oob_rows_": found.rows,
            "oob_deviation_": found.deviation,
            name: spread,
        }

    def oob_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the score on new rows like the training rows, from the out-of-bag answers."""
        check_is_fitted(self)
        if "oob_score_" not in vars(self):
            raise ValueError("oob_score must be True at the fit for an interval, got False. Fit with oob_score=True.")
        is_share = isinstance(self, ClassifierMixin)
        return score_interval(self.oob_score_, self.oob_rows_, self.oob_deviation_, level, is_share)

    @property
    def estimator_(self) -> Any:
        """The estimator that the members are copies of, not fitted."""
        return clone(self._get_estimator())

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows that each member was fitted on, as often as they were drawn."""
        check_is_fitted(self)
        n = len(self.sample_order_)
        stand_in = TrainingData(np.empty((n, self.n_features_in_)), None, self.draw_weight_)
        samples = BagSamples.of(self, stand_in)
        vars(samples)["order"] = np.arange(n)  # weights are stored in the order of the line
        return [np.sort(self.sample_order_[samples.places(int(seed))]) for seed in self.seeds_]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, place: int) -> Any:
        return self.estimators_[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _mean_answers(self, X: Data, caller: str = "predict", metadata: dict[str, Any] | None = None) -> Array:
        """Return the mean of what members say about rows; metadata go to the method of theirs that is called."""
        check_is_fitted(self)
        routed = self._routed(caller, metadata or {})
        rows = card_of(type(self)).rules_for(self).check_rows(self, X)
        n_classes = getattr(self, "n_classes_", 0)
        pairs = list(zip(self.estimators_, self.estimators_features_, strict=True))
        with own_threads():
            found = run_blocks(lambda pair: member_answers(pair[0], pair[1], rows, n_classes, routed), pairs)
        return np.asarray(sum(found[1:], start=found[0]) / len(found))

    def _get_estimator(self) -> Any:
        raise NotImplementedError

    def _routed(self, caller: str, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return what the members' answering method is given of metadata, which routing must be enabled for."""
        if not metadata:
            return {}
        _raise_for_params(metadata, self, caller)
        routed = process_routing(self, caller, **metadata).estimator
        return dict(routed[answering_method(self._get_estimator(), caller)])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: fits and answers are those of the members."""
        inner = self._get_estimator()
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            if hasattr(type(self), caller):
                mapping.add(caller=caller, callee=answering_method(inner, caller))
        return MetadataRouter(owner=self).add(estimator=inner, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._get_estimator()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _members_have(name: str) -> Any:
    return lambda bag: hasattr(bag._get_estimator(), name)


class BaggingClassifier(ClassifierMixin, Bagging):
    r"""The mean of many classifiers' probabilities, each fitted on a sample of the rows; or their votes.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted on every sample; None for a decision tree.
    n_estimators : int, default=10
        Members.
    max_samples : int, float or None, default=None
        Rows drawn for a member, as a number or a part of all; None for as many as there are.
    max_features : int or float, default=1.0
        Columns of a member.
    bootstrap, bootstrap_features : bool, default=True, False
        Whether rows, and columns, are drawn with replacement.
    oob_score : bool, default=False
        Whether to judge every row by the members that have not seen it.
    warm_start : bool, default=False
        Whether the next fit keeps the members and adds to them.
    n_jobs : int or None, default=None
        Nothing changes: all threads that BLAS may use are used.
    random_state : int, RandomState instance or None, default=None
        Where the seeds of the members come from.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.

    Attributes
    ----------
    classes_, n_classes_ : ndarray, int
        The labels, sorted; members know them by their place.
    estimators_, estimators_features_ : list
        The members and their columns; ``estimators_samples_`` are their rows.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each member.
    sample_order_, draw_weight_ : ndarray, ndarray or None
        The order of the rows in which points are drawn, and the room that each of them has; None for equal weights.
    oob_score_, oob_decision_function_, oob_rows_, oob_deviation_ : float, ndarray, float, float
        Out-of-bag accuracy and shares; ``oob_interval`` gives an interval.
    certificate_, trace_
        That samples follow from seeds; ``verify`` fits some members again. The trace is empty.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> [str(label) for label in BaggingClassifier(random_state=0).fit(X, y).predict([[0.0], [3.0]])]
    ['a', 'b']
    """

    def predict(self, X: Data, **metadata: Any) -> Array:
        """Return the class with the largest mean probability, or most votes; of equal ones the first."""
        best = self._mean_answers(X, "predict", metadata).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Data, **metadata: Any) -> Array:
        """Return the mean probability of each class, or its share of the votes."""
        return self._mean_answers(X, "predict_proba", metadata)

    def predict_log_proba(self, X: Data, **metadata: Any) -> Array:
        """Return the logarithms of the mean probabilities."""
        return log_shares(self._mean_answers(X, "predict_log_proba", metadata))

    @available_if(_members_have("decision_function"))
    def decision_function(self, X: Data, **metadata: Any) -> Array:
        """Return the mean of the members' decision functions."""
        check_is_fitted(self)
        routed = self._routed("decision_function", metadata)
        rows = card_of(type(self)).rules_for(self).check_rows(self, X)
        pairs = zip(self.estimators_, self.estimators_features_, strict=True)
        said = [member.decision_function(rows[:, columns], **routed) for member, columns in pairs]
        return np.asarray(np.mean(said, axis=0))

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator


class BaggingRegressor(RegressorMixin, Bagging):
    r"""The mean of many regressions, each fitted on a sample of the rows.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted on every sample; None for a decision tree.
    n_estimators : int, default=10
        Members.
    max_samples : int, float or None, default=None
        Rows drawn for a member, as a number or a part of all; None for as many as there are.
    max_features : int or float, default=1.0
        Columns of a member.
    bootstrap : bool, default=True
        Whether rows, and columns, are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether rows, and columns, are drawn with replacement.
    oob_score : bool, default=False
        Whether to judge every row by the members that have not seen it.
    warm_start : bool, default=False
        Whether the next fit keeps the members and adds to them.
    n_jobs : int or None, default=None
        Nothing changes: all threads that BLAS may use are used.
    random_state : int, RandomState instance or None, default=None
        Where the seeds of the members come from.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.

    Attributes
    ----------
    estimators_, estimators_features_ : list
        The members and their columns; ``estimators_samples_`` are their rows.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each member.
    sample_order_, draw_weight_ : ndarray, ndarray or None
        The order of the rows in which points are drawn, and the room that each of them has; None for equal weights.
    oob_rows_, oob_deviation_ : float, ndarray, float, float
        Out-of-bag accuracy and shares; ``oob_interval`` gives an interval.
    oob_score_, oob_prediction_ : float, ndarray
        Out-of-bag R squared and answers.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 2.0, 2.0]
    >>> BaggingRegressor(random_state=0).fit(X, y).predict([[0.0], [3.0]]).round()
    array([0., 2.])
    """

    def predict(self, X: Data, **metadata: Any) -> Array:
        """Return the mean answer."""
        answers = self._mean_answers(X, "predict", metadata)
        return answers[:, 0] if answers.shape[1] == 1 else answers

    def _get_estimator(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator


def bag_target(data: TrainingData) -> TreeTarget:
    """Return the target with a column for each output."""
    return class_target(np.asarray(data.y), (len(data.classes),)) if len(data.classes) else number_target(data.y)
