"""What the boosted trees for classes and for numbers share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import resample
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.ensemble.hist_gradient_boosting.boosting_losses import BoostingLoss
from pellucid.ensemble.hist_gradient_boosting.boosting_rules import (
    GIVEN,
    MANY_ROWS,
    NO_SPLIT,
    OF_TRAINING,
    draw_seeds,
    interaction_sets,
    part_rows,
)
from pellucid.ensemble.hist_gradient_boosting.boosting_solvers import (
    BoostedRows,
    Boosting,
    EarlyStopping,
    Ensemble,
    boost,
)
from pellucid.ensemble.hist_gradient_boosting.table_rules import encode
from pellucid.ensemble.hist_gradient_boosting.tree_growing import Bins, TreeSettings, raw_values
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.bins import bin_rows, find_edges
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.tree_reading import join_peer, mean_answers

PEER = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
"""Where scikit-learn has its boosted trees."""


class BoostedTrees(CertifiedEstimator):
    """Base of both estimators: all but the target, the loss and what is predicted."""

    loss: str
    learning_rate: float
    max_iter: int
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_features: float
    max_bins: int
    monotonic_cst: Any
    interaction_cst: Any
    warm_start: bool
    early_stopping: Any
    scoring: Any
    validation_fraction: Any
    n_iter_no_change: int
    tol: float
    random_state: RandomState
    trees_: PackedTrees
    baseline_: Array
    bin_thresholds_: list[Array]
    categories_: list[Array | None] | None
    is_categorical_: Array | None
    do_early_stopping_: bool
    held_out_: str
    random_seeds_: Array
    n_trees_per_iteration_: int
    n_iter_: int
    train_score_: Array
    validation_score_: Array

    @fit_method
    def fit(
        self,
        X: Data,
        y: Data,
        sample_weight: Data | None = None,
        *,
        X_val: Data = None,
        y_val: Data = None,
        sample_weight_val: Data | None = None,
    ) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,).

        Rows given as ``X_val``, ``y_val`` and ``sample_weight_val`` decide about early stopping, instead of some that
        are held out of ``X``.
        """
        earlier = self._earlier()
        self._refuse_with_blocks(X, X_val, earlier)
        data = self._check(X, y, sample_weight)
        given = self._given_rows(X_val, y_val, sample_weight_val)
        return self._adopt(self._boosted(data, given, earlier), data)  # bins and histograms are gone before the proof

    def _refuse_with_blocks(self, X: Data, X_val: Data, earlier: dict[str, Any] | None) -> None:
        """Refuse what looks at rows again and again, where these are in blocks."""
        if is_in_blocks(X_val):
            raise ValueError("X_val must be in memory, got a Dask collection. Take some rows of it: X_val.compute().")
        if not is_in_blocks(X):
            return
        if earlier is not None:
            raise ValueError("warm_start must be False for rows in blocks, got True. Fit all rounds at once.")
        if callable(self.scoring):
            raise ValueError("scoring must be a name or None for rows in blocks, got a function. Name a score.")

    def _boosted(self, data: TrainingData, given: BoostedRows | None, earlier: dict[str, Any] | None) -> Fit:
        """Return what boosting finds."""
        target = self._target(data)
        seeds = earlier["random_seeds_"] if earlier else draw_seeds(self.random_state)
        rows, held_out, source = self._parted(BoostedRows(data.X, target, self._weights(data)), given, int(seeds[0]))
        problem = self._problem(rows, held_out, seeds)
        known = {"held_out_": source, "random_seeds_": seeds, "bin_thresholds_": problem.edges}
        watch = self._watch(
            *data.given[:2], attributes=lambda found: self._attributes(found, known), max_iter=self.max_iter
        )
        found = boost(replace(problem, watch=watch), self._taken_up(earlier, rows))
        return Fit(self._attributes(found, known), found.trace)

    @abstractmethod
    def _target(self, data: TrainingData) -> Array:
        """Return the target as numbers, and set what depends on it."""

    def _weights(self, data: TrainingData) -> Array | None:
        return data.weight

    @property
    @abstractmethod
    def _boosting_loss(self) -> BoostingLoss:
        """The loss that the parameters name."""

    def _earlier(self) -> dict[str, Any] | None:
        """Return what an earlier fit left, if the new one goes on from there."""
        if not self.warm_start or not hasattr(self, "trees_"):
            return None
        if self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} when "
                "warm_start==True. Raise max_iter."
            )
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _given_rows(self, X_val: Data, y_val: Data, weight: Data | None) -> BoostedRows | None:
        if X_val is None and y_val is None:
            return None
        if y_val is None:
            raise ValueError("X_val is provided, but y_val was not provided. Give both.")
        if X_val is None:
            raise ValueError("y_val is provided, but X_val was not provided. Give both.")
        if self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. When passing X_val "
                "and y_val to fit, early_stopping should be set to either 'auto' or True."
            )
        classes = getattr(self, "classes_", None)
        data = card_of(type(self)).rules_for(self).check(self, X_val, y_val, weight, reset=False, classes=classes)
        return BoostedRows(data.X, self._target(data), data.weight)

    def _parted(
        self, rows: BoostedRows, given: BoostedRows | None, seed: int
    ) -> tuple[BoostedRows, BoostedRows | None, str]:
        """Return the rows to train on, those to watch, and where these come from."""
        stops = len(rows.y) > MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        self.do_early_stopping_ = stops
        if not stops or (given is None and self.validation_fraction is None):
            return rows, None, NO_SPLIT
        if given is not None:
            return rows, given, GIVEN
        kept, held = part_rows(rows.y, self.validation_fraction, seed, is_stratified=is_classifier(self))
        held_out = _picked(rows, held)
        if isinstance(held_out.X, TableInBlocks):
            held_out = replace(held_out, X=held_out.X.read())
        return _picked(rows, kept), held_out, OF_TRAINING

    def _problem(self, rows: BoostedRows, held_out: BoostedRows | None, seeds: Array) -> Boosting:
        p = rows.X.shape[1]
        categories = self.categories_ or [None] * p
        edges = find_edges(rows.X, rows.weight, self.max_bins, categories, int(seeds[0]))
        is_categorical = np.array([known is not None for known in categories])
        monotonic = np.asarray(_check_monotonic_cst(self, self.monotonic_cst), dtype=np.int64)
        if (is_categorical & (monotonic != 0)).any():
            raise ValueError("Categorical features cannot have monotonic constraints. Set theirs to 0.")
        if self.monotonic_cst is not None and self._boosting_loss.n_outputs > 1:
            raise ValueError(
                "monotonic constraints are not supported for multiclass classification. Leave monotonic_cst out."
            )
        groups, has_missing = bin_rows(rows.X, edges, is_categorical)
        n_bins = np.array([len(edge) + (not own) for edge, own in zip(edges, is_categorical, strict=True)])
        sets = interaction_sets(self.interaction_cst, p)
        bins = Bins(groups, n_bins, has_missing, is_categorical, monotonic, sets)
        return Boosting(
            rows, bins, edges, self._boosting_loss, self._tree_settings(), self.max_iter,
            np.random.default_rng(int(seeds[1])), self._stopping(rows, held_out, int(seeds[0])),
        )  # fmt: skip

    def _tree_settings(self) -> TreeSettings:
        return TreeSettings(
            self.learning_rate,
            self.max_leaf_nodes,
            self.max_depth,
            self.min_samples_leaf,
            self.l2_regularization,
            self.max_features,
        )

    def _stopping(self, rows: BoostedRows, held_out: BoostedRows | None, seed: int) -> EarlyStopping | None:
        if not self.do_early_stopping_:
            return None
        score = None if self.scoring == "loss" else self._scorer(rows, held_out, seed)
        return EarlyStopping(self.n_iter_no_change, self.tol, held_out, score)

    def _scorer(
        self, rows: BoostedRows, held_out: BoostedRows | None, seed: int
    ) -> Callable[..., tuple[float, float | None]]:
        """Return what scores raw predictions of training rows, some of them if they are many, and of held-out rows."""
        from sklearn.metrics import check_scoring

        scorer = check_scoring(self, self.scoring)
        few = np.arange(len(rows.y))
        if len(few) > MANY_ROWS:
            stratify = rows.y if is_classifier(self) else None
            few = resample(few, n_samples=MANY_ROWS, replace=False, random_state=seed, stratify=stratify)
        small = _picked(rows, few)

        def score(model: Any, part: BoostedRows, raw: Array) -> float:
            model._given_raw = raw
            weight = {} if part.weight is None else {"sample_weight": part.weight}
            return float(scorer(model, part.X, self._labels(part.y), **weight))

        def scores(raw: Array, held_out_raw: Array | None) -> tuple[float, float | None]:
            model = copy.copy(self)
            train = score(model, small, raw[:, few])
            return train, None if held_out is None or held_out_raw is None else score(model, held_out, held_out_raw)

        return scores

    def _labels(self, y: Array) -> Array:
        """Return targets as the user has them."""
        return y

    def _taken_up(self, earlier: dict[str, Any] | None, rows: BoostedRows) -> Ensemble | None:
        """Return the ensemble of an earlier fit, with its predictions for the training rows."""
        if earlier is None:
            return None
        baseline, trees = earlier["baseline_"], earlier["trees_"]
        scores = earlier["train_score_"].tolist(), earlier["validation_score_"].tolist()
        raw = baseline[:, np.newaxis] + raw_values(trees, rows.X, len(baseline))
        trace, n_rounds = Trace.joined([earlier["trace_"]]), trees.n_trees // len(baseline)
        return Ensemble(baseline, np.ascontiguousarray(raw), [trees], *scores, trace, n_rounds=n_rounds)

    def _attributes(self, found: Ensemble, known: dict[str, Any]) -> dict[str, Any]:
        return {
            "trees_": found.trees,
            "baseline_": found.baseline,
            "categories_": self.categories_,
            "is_categorical_": self.is_categorical_,
            "do_early_stopping_": self.do_early_stopping_,
            "n_trees_per_iteration_": len(found.baseline),
            "n_iter_": found.n_rounds,
            "train_score_": np.array(found.train_scores),
            "validation_score_": np.array(found.held_out_scores),
            **known,
        }

    def _raw(self, X: Data) -> Array:
        """Return the raw predictions, of shape (n_outputs, n_samples)."""
        given = vars(self).get("_given_raw")
        if given is not None:  # a scorer asks about rows whose predictions are known
            return np.asarray(given)
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        with own_threads():
            return self.baseline_[:, np.newaxis] + raw_values(self.trees_, X, len(self.baseline_))

    def _staged_raw(self, X: Data) -> Iterator[Array]:
        """Yield the raw predictions after each round."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        k = len(self.baseline_)
        raw = np.repeat(self.baseline_[:, np.newaxis], X.shape[0], axis=1)
        for i in range(self.n_iter_):
            raw = raw + raw_values(self.trees_.part(i * k, (i + 1) * k), X, k)
            yield raw

    @property
    def _baseline_prediction(self) -> Array:
        return self.baseline_.reshape(1, -1)

    def _compute_partial_dependence_recursion(self, grid: Array, target_features: Array) -> Array:
        """Return the mean raw answer with some columns set, without the baseline, for scikit-learn's inspection."""
        columns = np.asarray(target_features)
        if self.categories_ is not None:
            grid = encode(grid, [self.categories_[j] for j in columns])
        return mean_answers(self.trees_, np.asarray(grid, dtype=np.float64), columns, len(self.baseline_))

    def __sklearn_tags__(self) -> Any:
        join_peer(BoostedTrees, PEER, "BaseHistGradientBoosting")
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _picked(rows: BoostedRows, places: Array) -> BoostedRows:
    return BoostedRows(rows.X[places], rows.y[places], None if rows.weight is None else rows.weight[places])
