"""Prediction with dropout left on: many random masks, the mean of what they say and how far they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.neural_network.modules.model_input import (
    checked_rows,
    module_of,
    one_class_module,
    predicting,
    two_scores,
)

BATCH = 8192
"""Rows, times masks, that go through the module together."""


@dataclass(frozen=True, repr=False)
class DropoutPrediction:
    """What a network with random masks says of each row, and how much the masks disagree."""

    mean: Array
    """(n, outputs): mean of the outputs over the masks; of a classifier the probabilities of its classes."""
    spread: Array
    """(n, outputs): their standard deviation over the masks."""
    samples: int
    """Number of masks."""
    entropy: Array | None = None
    """(n,): entropy of the mean in nats, all the doubt there is; None where outputs are no probabilities."""
    mutual_information: Array | None = None
    """(n,): the part of the entropy on which masks disagree, and which more data could settle; None as well."""

    def __repr__(self) -> str:
        typical = float(np.median(self.spread)) if self.spread.size else np.nan
        return f"DropoutPrediction({len(self.mean)} rows, {self.samples} masks, median spread {typical:.3g})"


def predict_with_dropout(
    model: Any,
    X: Data,
    *,
    samples: int = 100,
    probabilities: bool | None = None,
    random_state: int = 0,
) -> DropoutPrediction:
    """Predict with many random dropout masks; return the mean and how much the masks disagree.

    All other layers work as when predicting. The modes of the layers and torch's generator are left as they were.

    Parameters
    ----------
    model : torch module or fitted network
        With at least one dropout layer.
    X : array of shape (n_samples, ...)
        Inputs.
    samples : int, default=100
        Number of masks.
    probabilities : bool, default=None
        Whether outputs are scores of classes, to be made probabilities; None asks whether the model has ``classes_``.
    random_state : int, default=0
        Seed of the masks.

    Examples
    --------
    >>> half = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Dropout(0.5))
    >>> half[0].weight.data.fill_(1.0)
    tensor([[1.]])
    >>> found = predict_with_dropout(half, [[1.0]], samples=4000)  # 0 or 2, each half the time
    >>> round(float(found.mean[0, 0]), 1), round(float(found.spread[0, 0]), 1)
    (1.0, 1.0)
    """
    check_whole(samples=samples)
    check_whole(0, random_state=random_state)
    is_classifier = hasattr(model, "classes_") if probabilities is None else probabilities
    module = one_class_module(model) if is_classifier else module_of(model)
    rows = checked_rows(module, X)
    if len(rows) == 0:
        raise ValueError("X must have at least one row, got none.")
    with _random_masks(module, random_state):
        parts = [_sampled(module, part, samples, is_classifier) for part in rows.split(max(1, BATCH // samples))]
    outputs = torch.cat(parts, 1)  # (samples, rows, outputs)
    spread = outputs.std(0, correction=min(1, samples - 1))
    found = DropoutPrediction(outputs.mean(0).numpy(), spread.numpy(), samples)
    return _with_doubt(found, outputs) if is_classifier else found


@contextmanager
def _random_masks(module: nn.Module, seed: int) -> Iterator[None]:
    """Switch the dropout layers on and all others off, with a generator of our own in the place of torch's."""
    layers = [layer for layer in module.modules() if isinstance(layer, _DropoutNd) and layer.p > 0]
    if not layers:
        raise ValueError("model must have a dropout layer whose share is above 0, got none. Set dropout and fit.")
    devices = sorted({p.device.index for p in module.parameters() if p.device.type == "cuda"})
    with predicting(module), torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        for layer in layers:
            layer.train()
        yield


def _sampled(module: nn.Module, X: Tensor, samples: int, is_classifier: bool) -> Tensor:
    """Return outputs in float64, ``(samples, rows, outputs)``: all masks of these rows in one pass, if they fit."""
    passes = []
    for n_masks in _shares(samples, max(1, BATCH // max(1, len(X)))):
        outputs = _outputs(module, X.repeat(n_masks, *[1] * (X.dim() - 1)))  # (n_masks * rows, outputs)
        outputs = two_scores(outputs).softmax(1) if is_classifier else outputs
        passes.append(outputs.view(n_masks, len(X), *outputs.shape[1:]))
    return torch.cat(passes)


def _outputs(module: nn.Module, X: Tensor) -> Tensor:
    try:
        return module(X).double().cpu()
    except RuntimeError as error:
        raise ValueError(f"X must have rows that the module takes, got shape {tuple(X.shape[1:])}: {error}") from error


def _shares(total: int, most: int) -> Iterator[int]:
    """Yield numbers that add up to the total, none above ``most``."""
    while total > 0:
        yield min(total, most)
        total -= most


def _with_doubt(found: DropoutPrediction, probabilities: Tensor) -> DropoutPrediction:
    entropy = torch.special.entr(probabilities.mean(0)).sum(-1)
    shared = torch.special.entr(probabilities).sum(-1).mean(0)
    disagreement = (entropy - shared).clamp(min=0)  # below 0 by rounding only
    return DropoutPrediction(found.mean, found.spread, found.samples, entropy.numpy(), disagreement.numpy())
