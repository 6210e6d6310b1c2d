"""AdaBoostClassifier: many weak classifiers, each looking harder at what the others got wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.ensemble._base import _set_random_states
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method, let_go_of_rows
from pellucid.core.labels import known_codes
from pellucid.core.random_state import LARGEST_SEED
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.ensemble.ada_boost.ada_boost_rules import first_weights, next_weights, scores_of
from pellucid.ensemble.ada_boost.ada_boost_solvers import any_learner, as_fit, packed, run_rounds, tree_learner
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier
from pellucid.tree.decision_tree.growth_rules import growth_rules
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.tree_reading import feature_importances, leaves, log_shares


class AdaBoostClassifier(ClassifierMixin, CertifiedEstimator):
    r"""Classifiers that vote, each fitted to rows whose weights grew where the ones before it were wrong.

    The classifier of round t has the error :math:`e_t` under the weights of its round. It has the vote

    .. math:: \alpha_t = \eta \left(\log \frac{1 - e_t}{e_t} + \log(K - 1)\right)

    for K classes, and the weights of the rows it gets wrong grow by :math:`e^{\alpha_t}` (SAMME). Rounds end early when
    one has no error, or is no better than guessing. Inside ``with pellucid.record():`` the weights of every row in
    every round are kept in ``trace_.states``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted in every round, with ``sample_weight``; None is a decision tree of one split. Our own decision
        trees sort the columns once for all rounds.
    n_estimators : int, default=50
        Most rounds.
    learning_rate : float, default=1.0
        :math:`\eta`, above 0.
    random_state : int, RandomState instance or None, default=None
        Where the classifiers' own random states come from.

    Attributes
    ----------
    estimators_ : list of classifiers
        The classifiers; trees of ours are made when asked for, from ``trees_``.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_estimators,)
        :math:`\alpha_t` and :math:`e_t`; 0 and 1 for rounds that were not done.
    classes_, n_classes_ : ndarray of shape (n_classes,), int
        The labels, and how many there are.
    trees_, seeds_ : PackedTrees and ndarray, or None
        The trees of all rounds as they are stored, and their seeds, where the classifiers are decision trees of ours.
    members_ : list of classifiers or None
        The classifiers, where they are others.
    certificate_ : Certificate
        The training error is at most the product of the rounds' factors, all weights replayed.
    trace_ : Trace
        Error, vote and bound of the training error, round by round.

    Examples
    --------
    >>> model = AdaBoostClassifier(n_estimators=3).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0])
    >>> model.estimator_errors_.round(4)
    array([0.25  , 0.1667, 0.2   ])
    """

    classes_: Array
    n_classes_: int
    estimator_weights_: Array
    estimator_errors_: Array
    trees_: PackedTrees | None
    seeds_: Array | None
    members_: list[Any] | None
    _seen_in_rounds: dict[str, Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and labels ``y``; a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        base, rng = self.estimator_, check_random_state(self.random_state)
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(f"{type(base).__name__} doesn't support sample_weight. Use a classifier that does.")
        is_tree, seeds = is_plain_tree(base), _SeedRecorder(rng)
        if is_tree:
            data = replace(data, X=_by_rows(data.X))
            n, p = data.X.shape
            rules = growth_rules(base, n, p, 1.0, np.zeros(p, dtype=np.uint8))
            learn = tree_learner(data, rules, seeds, LARGEST_SEED)  # type: ignore[arg-type]
        else:
            learn = any_learner(data, base, lambda member: _set_random_states(member, rng))
        votes: list[Array] = []

        def watched(weight: Array) -> tuple[Any, Array]:
            member, codes = learn(weight)
            votes.append(codes)
            return member, codes

        found = run_rounds(data, watched, self.n_estimators, self.learning_rate)
        n_rounds = len(found.members)
        attributes = {
            "classes_": data.classes,
            "n_classes_": len(data.classes),
            "trees_": packed(found.members) if is_tree else None,
            "seeds_": np.array(seeds.drawn[:n_rounds], dtype=np.int64) if is_tree else None,
            "members_": None if is_tree else found.members,
        }
        self._seen_in_rounds = {"member_votes": np.array(votes[:n_rounds]), "next_error": found.next_error}
        try:
            self._adopt(as_fit(found, self.n_estimators, attributes), data)
            let_go_of_rows(self)
            return self
        finally:
            del self._seen_in_rounds  # only the proof at the fit asks for it

    @property
    def estimator_(self) -> Any:
        """The classifier that every round fits a copy of, not fitted."""
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else clone(self.estimator)

    @property
    def estimators_(self) -> list[Any]:
        """The classifiers of all rounds; trees of ours are made when asked for, from the one pack."""
        if "estimator_weights_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'estimators_': it is not fitted")
        if self.trees_ is None:
            return list(self.members_ or ())
        return [self._tree(t) for t in range(self.trees_.n_trees)]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, place: int) -> Any:
        return self.estimators_[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def feature_importances_(self) -> Array:
        """The importances of the classifiers, weighted by their votes."""
        check_is_fitted(self)
        weights = self.estimator_weights_[self.estimator_weights_ > 0.0]
        if self.trees_ is not None:
            own = [feature_importances(tree, self.n_features_in_) for tree in self.trees_]
        else:
            try:
                own = [member.feature_importances_ for member in self.estimators_]
            except AttributeError as error:
                raise AttributeError(
                    "Unable to compute feature importances since estimator does not have a feature_importances_ "
                    "attribute"
                ) from error
        return np.asarray(sum(w * one for w, one in zip(weights, own, strict=False)) / weights.sum())

    def predict(self, X: Data) -> Array:
        """Return the class with most votes, the first of equal ones."""
        return self._decided(self._scores(X))

    def decision_function(self, X: Data) -> Array:
        """Return the share of votes for the second class, from -1 to 1, or of three and more classes for each."""
        return self._shown(self._scores(X))

    def predict_proba(self, X: Data) -> Array:
        """Return probabilities of the classes: the softmax of their scores."""
        return self._probabilities(self._scores(X))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithms of the probabilities."""
        return log_shares(self.predict_proba(X))

    def staged_predict(self, X: Data) -> Iterator[Array]:
        """Yield the predictions after each round."""
        return (self._decided(scores) for scores in self._staged_scores(X))

    def staged_predict_proba(self, X: Data) -> Iterator[Array]:
        """Yield the probabilities after each round."""
        return (self._probabilities(scores) for scores in self._staged_scores(X))

    def staged_decision_function(self, X: Data) -> Iterator[Array]:
        """Yield the scores after each round."""
        return (self._shown(scores) for scores in self._staged_scores(X))

    def staged_score(self, X: Data, y: Data, sample_weight: Data | None = None) -> Iterator[float]:
        """Yield the accuracy after each round."""
        return (float(accuracy_score(y, answer, sample_weight=sample_weight)) for answer in self.staged_predict(X))

    def member_votes(self, X: Data) -> Array:
        """Return the class that each classifier votes for, as codes, of shape (n_rounds, n_samples)."""
        rows = self._rows(X)
        if self.trees_ is None:
            members = self.members_ or []
            return np.array([known_codes(np.asarray(member.predict(rows)), self.classes_) for member in members])
        with own_threads():
            places = leaves(self.trees_, _by_rows(rows)) + self.trees_.starts[:-1]
        return np.ascontiguousarray(self.trees_.value[:, 0].argmax(axis=1)[places].T)

    def next_error(self, data: TrainingData, votes: Array) -> float | None:
        """Return the error of one more classifier, fitted to the weights after the last round; None if none is due."""
        done = len(votes)
        if done == self.n_estimators or not done or self.estimator_errors_[done - 1] <= 0.0:
            return None
        weight, rng, member = first_weights(data.weights), check_random_state(self.random_state), self.estimator_
        for codes, vote in zip(votes, self.estimator_weights_, strict=False):
            weight = next_weights(weight, codes != data.y, float(vote))
            _set_random_states(clone(member), rng)
        if not np.isfinite(weight).all():
            return None
        _set_random_states(member, rng)
        member.fit(data.X, data.classes[data.y], sample_weight=weight)
        is_wrong = known_codes(np.asarray(member.predict(data.X)), data.classes) != data.y
        return float(weight[is_wrong].sum() / weight.sum())

    def _rows(self, X: Data) -> Any:
        check_is_fitted(self)
        return card_of(type(self)).rules_for(self).check_rows(self, X)

    def _scores(self, X: Data) -> Array:
        """Return the scores of all classes; of a single class, 0."""
        votes = self.member_votes(X)
        if self.n_classes_ == 1:
            return np.zeros((votes.shape[1], 1))
        return scores_of(votes, self.estimator_weights_[: len(votes)], self.n_classes_)

    def _staged_scores(self, X: Data) -> Iterator[Array]:
        votes = self.member_votes(X)
        for t in range(1, len(votes) + 1):
            if self.n_classes_ == 1:
                yield np.zeros((votes.shape[1], 1))
            else:
                yield scores_of(votes[:t], self.estimator_weights_[:t], self.n_classes_)

    def _shown(self, scores: Array) -> Array:
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores

    def _decided(self, scores: Array) -> Array:
        codes = (self._shown(scores) > 0.0).astype(np.intp) if self.n_classes_ == 2 else scores.argmax(axis=1)
        return self.classes_[codes]

    def _probabilities(self, scores: Array) -> Array:
        if self.n_classes_ == 1:
            return np.ones_like(scores)
        half = self._shown(scores) / 2.0
        logits = np.stack([-half, half], axis=1) if self.n_classes_ == 2 else scores / (self.n_classes_ - 1)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _tree(self, t: int) -> DecisionTreeClassifier:
        """Return the tree of a round as an estimator of its own."""
        assert self.trees_ is not None
        assert self.seeds_ is not None
        tree = self.estimator_.set_params(random_state=int(self.seeds_[t]))
        tree.trees_, tree.seed_ = self.trees_.tree(t), int(self.seeds_[t])
        tree.classes_, tree.n_classes_, tree.n_outputs_ = self.classes_, self.n_classes_, 1
        tree.n_features_in_, tree.categories_, tree.max_features_ = self.n_features_in_, [], self.n_features_in_
        return tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def is_plain_tree(base: Any) -> bool:
    """Return whether a classifier is a tree of ours that can be grown on ranks, with nothing done before or after."""
    return (
        type(base) is DecisionTreeClassifier
        and base.class_weight is None
        and base.ccp_alpha == 0.0
        and base.categorical_features is None
    )


def _by_rows(X: SparseOrDense) -> Any:
    return X.tocsr() if sparse.issparse(X) else X


class _SeedRecorder:
    """Draws whole numbers and remembers them."""

    def __init__(self, rng: np.random.RandomState) -> None:
        self.rng, self.drawn = rng, list[int]()

    def randint(self, high: int) -> int:
        """Return a number below ``high``."""
        self.drawn.append(int(self.rng.randint(high)))
        return self.drawn[-1]
