"""Networks of dense layers on a device: the fit in memory with a trainer that works there, and the answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pellucid.core.arrays import on_host
from pellucid.core.cards import card_of
from pellucid.core.device.class_answers import labels_of
from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.neural_network.mlp.activations import activation_named
from pellucid.neural_network.mlp.dense_trainer import TrainingRows
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData


class RowsToLookAt:
    """Rows on a device, of which the host reads the few that evidence and proof are about."""

    def __init__(self, X: Any, dtype: np.dtype) -> None:
        self.X, self.dtype, self.shape, self.ndim = X, dtype, tuple(X.shape), 2

    def __getitem__(self, places: Array) -> Array:
        import torch

        return on_host(self.X[torch.as_tensor(places, device=self.X.device)]).astype(self.dtype, copy=False)


def fit_on_device(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the fit; its attributes are on the host, as small as they are."""
    from pellucid.neural_network.training.dense_device_trainer import DeviceTrainer

    _refuse_what_has_no_form(estimator)
    seen = _data_to_look_at(estimator, data)
    X = data.X if data.X.is_floating_point() else data.X.double()
    Y = np.ascontiguousarray(seen.y.reshape(len(seen.y), -1), dtype=seen.X.dtype)
    rows = TrainingRows(X, Y, seen.weight)
    out_activation = estimator._out_activation(seen)

    def watched(course: Any) -> Any:
        return watch(estimator._watched(seen, out_activation, course))

    found, _ = estimator._trained(seen, rows, watched, partial(DeviceTrainer, there=X.device))
    proof = card_of(type(estimator)).prove(Seen(**found.attributes), estimator, seen)
    return replace(found, certificate=proof)


fit_on_device.way = "batches and steps there, a look from the host once an epoch"  # type: ignore[attr-defined]


def _refuse_what_has_no_form(estimator: Any) -> None:
    for wrong, said in (
        (not isinstance(estimator.solver, str), f"solver must be 'adam', 'sgd' or 'lbfgs', got {estimator.solver!r}"),
        (estimator.warm_start, "warm_start must be False, got True"),
    ):
        if wrong:
            name = type(estimator).__name__
            raise ValueError(f"{said}: {name} has no other form for arrays on a device. Copy the data to the host.")


def _data_to_look_at(estimator: Any, data: Any) -> TrainingData:
    """Return the training data as in memory, with columns of 0 and 1 for labels, whose rows stay where they are."""
    X, y, weight, kept = data.X, *(None if part is None else on_host(part) for part in (data.y, data.weight, data.kept))
    given = (data.given[0], *(None if part is None else on_host(part) for part in data.given[1:]))
    seen = TrainingData(RowsToLookAt(X, np.dtype(data.rows.stored_in)), y, weight, kept=kept, given=given)  # type: ignore[arg-type]
    if is_classifier(estimator):
        return card_of(type(estimator)).rules_for(estimator).completed(estimator, seen)  # type: ignore[attr-defined,no-any-return]
    if not np.isfinite(seen.y).all():
        raise ValueError("y must be finite, got NaN or infinity. Leave these rows out.")
    estimator._refuse_negative_counts(seen)
    return seen


def _scores(model: Any, X: Any) -> Any:
    from pellucid.neural_network.training.dense_device_trainer import scores_there

    return scores_there(model.coefs_, model.intercepts_, activation_named(model.activation, model.pieces), X)


def _answers(model: Any, X: Any) -> Any:
    """Return probabilities, or numbers, of shape (rows, outputs)."""
    scores = _scores(model, X)
    kinds = {"softmax": lambda: scores.softmax(1), "logistic": scores.sigmoid, "exp": scores.exp}
    return kinds.get(model.out_activation_, lambda: scores)()


def predict(model: Any, X: Any) -> Any:
    """Return the most probable label of each row, labels more probable than not, or numbers."""
    if not is_classifier(model):
        answers = _answers(model, X)
        return answers[:, 0] if model.n_outputs_ == 1 else answers
    scores = _scores(model, X)
    if model.has_several_labels:
        return (scores > 0).long()
    if len(model.classes_) == 1:
        return labels_of(scores * 0.0, model.classes_)
    return labels_of(scores[:, 0] if model.n_outputs_ == 1 else scores, model.classes_)


def predict_proba(model: Any, X: Any) -> Any:
    """Return the probability of each class."""
    import torch

    answers = _answers(model, X)
    return torch.cat([1 - answers, answers], dim=1) if model.n_outputs_ == 1 else answers


def predict_log_proba(model: Any, X: Any) -> Any:
    """Return the logarithms of the probabilities."""
    return predict_proba(model, X).log()
