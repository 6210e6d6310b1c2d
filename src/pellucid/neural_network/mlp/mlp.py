"""What MLPClassifier and MLPRegressor share: how they are trained, and their scores."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.fit import Fit
from pellucid.core.partial_fit import TRAINING_STATE
from pellucid.core.random_state import some_rows
from pellucid.core.scale.table_in_blocks import read_rows
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.neural_network.training.recipe import Patience
from pellucid.proofs.training_data import TrainingData, digest

if TYPE_CHECKING:
    from pellucid.core.watching import Watch
    from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, TrainingRows
    from pellucid.neural_network.mlp.mlp_solvers import Course, EpochPlan
    from pellucid.neural_network.mlp.updates import Update

NOT_CONVERGED = (
    "Stochastic Optimizer: Maximum iterations ({}) reached and the optimization hasn't converged yet. "
    "Raise max_iter, or tol."
)

MOST_ROWS = 200
"""Training rows that the stored objective and gradient are about, which are always the same."""


class MultilayerPerceptron(CertifiedEstimator):
    """Base of networks of dense layers; see its two children for the parameters."""

    coefs_: list[Array]
    intercepts_: list[Array]
    n_outputs_: int
    out_activation_: str

    def _out_activation(self, data: TrainingData) -> str:
        raise NotImplementedError

    def _score_of(self, scores: Array, Y: Array, weight: Array | None, out_activation: str) -> float:
        """Return the score of raw scores, for early stopping."""
        raise NotImplementedError

    def _learn(self, data: TrainingData, *, is_part: bool = False) -> Self:
        """Train on rows: to the end, or, where they are a part of the data, one epoch."""
        from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, as_rows

        rows = as_rows(data.X, data.y.reshape(len(data.y), -1), data.weight, data.X.dtype)
        watched = partial(self._watched, data, self._out_activation(data))
        watch = self._watch(*data.given[:2], attributes=watched, max_iter=self.max_iter)
        found, course = self._trained(data, rows, watch, DenseTrainer, is_part=is_part)
        self._adopt(found, data)
        setattr(self, TRAINING_STATE, course)
        return self

    def _trained(
        self,
        data: TrainingData,
        rows: TrainingRows,
        watch: Watch,
        trainer: Callable[..., DenseTrainer],
        *,
        is_part: bool = False,
    ) -> tuple[Fit, Course]:
        """Return the fit of a network, by a trainer that takes such rows, and where its training ended."""
        from pellucid.neural_network.mlp.mlp_solvers import printing

        random = check_random_state(self.random_state)
        out_activation = self._out_activation(data)
        course = self._course_for(rows, out_activation, random, trainer, goes_on=is_part or self.warm_start)
        seen = len(course.loss_curve)
        learned = replace(rows, Y=course.target.of_network(rows.Y))
        watch = printing(watch) if self.verbose else watch
        stopped, held_out = self._train(course, learned, random, watch, out_activation, is_part=is_part)
        if stopped.startswith("loss must"):
            warn_user(stopped, ConvergenceWarning)
        elif stopped == "max_iter" and not is_part:
            warn_user(NOT_CONVERGED.format(self.max_iter), ConvergenceWarning)
        coefs, intercepts = course.layers()
        attributes = {
            "coefs_": coefs,
            "intercepts_": intercepts,
            "loss_": course.loss_curve[-1],
            "n_iter_": len(course.loss_curve) - seen,
            **self._counts(course, data, out_activation, held_out),
            **self._evidence(coefs, intercepts, out_activation, data),
        }
        return Fit(attributes, course.trace, stopped), course

    def _train(
        self,
        course: Course,
        rows: TrainingRows,
        random: np.random.RandomState,
        watch: Watch,
        out_activation: str,
        *,
        is_part: bool,
    ) -> tuple[str, Array | None]:
        """Move the weights by the solver; return why it stopped, and the places of the rows held out, if any."""
        from pellucid.neural_network.mlp.mlp_solvers import learn_by_lbfgs, learn_in_epochs

        if self.solver == "lbfgs":
            limits = {"tol": self.tol, "most": self.max_iter, "most_values": self.max_fun}
            return learn_by_lbfgs(course, rows, **limits, watch=watch), None
        trained, held_out = self._split(rows, random) if self.early_stopping else (rows, None)
        if course.update is None or not is_part:
            course.update = self._update_for(course.trainer)
        score = None
        if held_out is not None:
            score = partial(self._held_out_score, course, rows.take(held_out), out_activation)
        return learn_in_epochs(course, trained, self._epochs(len(trained), random, score, is_part), watch), held_out

    def _course_for(
        self,
        rows: TrainingRows,
        out_activation: str,
        random: np.random.RandomState,
        trainer: Callable[..., DenseTrainer],
        *,
        goes_on: bool,
    ) -> Course:
        """Return where the training begins: anew, or where the last one ended."""
        from pellucid.neural_network.mlp.activations import OUTPUTS, activation_named
        from pellucid.neural_network.mlp.dense_layers import DenseShape, first_weights
        from pellucid.neural_network.mlp.mlp_solvers import Course, TargetUnits

        known = vars(self).get(TRAINING_STATE)
        if goes_on and known is not None:
            course: Course = copy.deepcopy(known)
            if not self.early_stopping:  # then the last epoch counts, whatever was best before
                course.patience.kept = None
            return course
        activation = activation_named(self.activation, self.pieces)
        shape = DenseShape(
            rows.X.shape[1], hidden_sizes(self), rows.Y.shape[1], activation.pieces, self.batch_normalization
        )
        weights = first_weights(shape, self.initialization, self.activation, random, rows.Y.dtype)
        target = TargetUnits.of(rows.Y) if getattr(self, "standardize_target", False) else TargetUnits()
        if goes_on and hasattr(self, "coefs_"):  # read from a file, normalization built in
            layers = shape.views(weights)
            stored_layers = target.taken_out(self.coefs_, self.intercepts_)
            for own, stored in zip((*layers.coefs, *layers.intercepts), chain(*stored_layers), strict=True):
                own[:] = stored
        begun = trainer(
            shape,
            weights,
            activation,
            OUTPUTS[out_activation],
            alpha=self.alpha,
            dropout=self.dropout,
            seed=int(random.randint(2**31)) if self.dropout else 0,
        )
        return Course(begun, None, Patience(self.tol, self.n_iter_no_change), target=target)

    def _update_for(self, trainer: DenseTrainer) -> Update:
        """Return the method that moves the weights."""
        from pellucid.neural_network.mlp.updates import AdamUpdate, MethodUpdate, MomentumUpdate

        if self.solver == "adam":
            return AdamUpdate(trainer.weights, self.learning_rate_init, self.beta_1, self.beta_2, self.epsilon)
        if self.solver == "sgd":
            return MomentumUpdate(
                trainer.weights,
                self.learning_rate_init,
                self.momentum,
                looks_ahead=self.nesterovs_momentum,
                schedule=self.learning_rate,
                power=self.power_t,
            )
        return MethodUpdate(trainer.weights, self.solver, trainer.last_batch_gradient)

    def _split(self, rows: TrainingRows, random: np.random.RandomState) -> tuple[TrainingRows, Array]:
        """Return the rows to learn from, and the places of those held out, drawn as scikit-learn draws them."""
        from sklearn.model_selection import train_test_split

        stratify = rows.Y > 0 if is_classifier(self) and rows.Y.shape[1] == 1 else None
        kept, held_out = train_test_split(
            np.arange(len(rows)), random_state=random, test_size=self.validation_fraction, stratify=stratify
        )
        if len(held_out) < 2:
            raise ValueError(
                f"validation_fraction must leave at least 2 rows to score on, got {self.validation_fraction} of "
                f"{len(rows)} rows. The validation set is too small: raise it, or bring more rows."
            )
        return rows.take(kept), held_out

    def _held_out_score(self, course: Course, held_out: TrainingRows, out_activation: str) -> float:
        scores = course.trainer.scores(held_out.X)
        if not np.isfinite(scores).all():  # it has diverged: the next batch says so
            return np.nan
        return self._score_of(scores, held_out.Y, held_out.weight, out_activation)

    def _epochs(
        self, n_rows: int, random: np.random.RandomState, score: Callable[[], float] | None, is_part: bool
    ) -> EpochPlan:
        from pellucid.neural_network.mlp.mlp_solvers import MOST_BATCH, EpochPlan

        wanted = MOST_BATCH if self.batch_size == "auto" else self.batch_size
        if self.batch_size != "auto" and wanted > n_rows:
            warn_user(
                f"batch_size must be at most the {n_rows} rows there are, got {wanted}. It is going to be clipped.",
                UserWarning,
            )
        return EpochPlan(1 if is_part else self.max_iter, min(wanted, n_rows), self.shuffle, random, score)

    def _counts(
        self, course: Course, data: TrainingData, out_activation: str, held_out: Array | None
    ) -> dict[str, Any]:
        """Return the attributes that scikit-learn has beside the layers."""
        shape, patience = course.trainer.shape, course.patience
        found: dict[str, Any] = {
            "n_layers_": len(shape.hidden) + 2,
            "n_outputs_": shape.outputs,
            "out_activation_": out_activation,
            "t_": course.rows_seen,
        }
        if is_classifier(self):
            found["classes_"] = data.classes
        if self.solver == "lbfgs":
            return found
        scored = held_out is not None
        found["loss_curve_"] = list(course.loss_curve)
        found["best_loss_"] = None if scored else -patience.best
        found["best_validation_score_"] = patience.best if scored else None
        found["validation_scores_"] = list(course.validation_scores) if scored else None
        if held_out is not None:
            found["validation_rows_"] = data.given_rows(held_out)
        return found

    def _evidence(
        self, coefs: list[Array], intercepts: list[Array], out_activation: str, data: TrainingData
    ) -> dict[str, Any]:
        """Return objective and size of the gradient of the stored network, in float64, on some rows at most."""
        from pellucid.neural_network.mlp.activations import OUTPUTS, activation_named
        from pellucid.neural_network.mlp.dense_layers import DenseShape
        from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, as_rows

        places = some_rows(len(data.y), MOST_ROWS)
        weight = None if data.weight is None else data.weight[places]
        some = as_rows(read_rows(data.X[places]), data.y[places].reshape(len(places), -1), weight, np.dtype(np.float64))
        activation = activation_named(self.activation, self.pieces)
        shape = DenseShape(data.X.shape[1], hidden_sizes(self), some.Y.shape[1], activation.pieces)
        weights = np.concatenate([array.ravel().astype(np.float64) for array in (*coefs, *intercepts)])
        trainer = DenseTrainer(shape, weights, activation, OUTPUTS[out_activation], alpha=self.alpha)
        objective, gradient = trainer.objective_and_gradient(weights, some)
        return {
            "objective_": objective,
            "gradient_norm_": float(np.linalg.norm(gradient)),
            "weights_digest_": digest((*coefs, *intercepts)),
        }

    def _watched(self, data: TrainingData, out_activation: str, course: Course) -> dict[str, Any]:
        """Return fitted attributes of the network as it is now, for callbacks."""
        coefs, intercepts = course.target.built_into(*course.trainer.layers())
        layers = {"coefs_": coefs, "intercepts_": intercepts, "n_iter_": len(course.loss_curve)}
        return {**self._counts(course, data, out_activation, None), **layers}

    def _scores(self, X: Data) -> Array:
        """Return the raw scores of rows, of shape (rows, outputs)."""
        from pellucid.neural_network.mlp.activations import activation_named
        from pellucid.neural_network.mlp.dense_trainer import scores_of

        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        return scores_of(self.coefs_, self.intercepts_, activation_named(self.activation, self.pieces), X)

    def _answers(self, X: Data) -> Array:
        """Return probabilities, or numbers, of shape (rows, outputs)."""
        from pellucid.neural_network.mlp.activations import OUTPUTS

        scores = self._scores(X)
        return OUTPUTS[self.out_activation_].answer(scores)

    @property
    def module_(self) -> Any:
        """The network as a module of torch, for evaluation."""
        from pellucid.neural_network.mlp.as_module import as_module

        check_is_fitted(self)
        return as_module(self.coefs_, self.intercepts_, self.activation, self.pieces, self.dropout)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = False
        return tags


def hidden_sizes(estimator: Any) -> tuple[int, ...]:
    """Return the units of each hidden layer."""
    sizes = estimator.hidden_layer_sizes
    sizes = tuple(int(size) for size in (sizes if np.iterable(sizes) else [sizes]))
    if any(size < 1 for size in sizes):
        raise ValueError(f"hidden_layer_sizes must be > 0, got {list(sizes)}. Leave a layer out instead.")
    return sizes


def learns_in_parts(estimator: Any) -> bool:
    """Return whether the solver takes batches; else say so."""
    if estimator.solver == "lbfgs":
        raise AttributeError(
            "partial_fit is only available for stochastic optimizers. lbfgs is not stochastic. Use solver='adam'."
        )
    return True
