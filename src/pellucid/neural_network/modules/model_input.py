"""What a model and its inputs are for those who change the inputs: a torch module, class names, checked rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.core.types import Array, Data

NORMS = {"inf": float("inf"), float("inf"): float("inf"), 2: 2.0, "2": 2.0}

ROWS = 1024
"""Inputs whose scores are computed together."""


def norm_of(norm: Any) -> float:
    """Return the norm as a number: inf or 2."""
    if isinstance(norm, bool) or norm not in NORMS:
        raise ValueError(f"norm must be 'inf' or 2, got {norm!r}.")
    return NORMS[norm]


def module_of(model: Any) -> nn.Module:
    """Return a model's torch module: itself, or the ``module_`` of a fitted estimator."""
    module = model if isinstance(model, nn.Module) else getattr(model, "module_", None)
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"model must be a torch module or a fitted network with module_, got {type(model).__name__}. Fit it first."
        )
    return module


def one_class_module(model: Any) -> nn.Module:
    """Return the module of a model that tells one class from the others; several labels have other answers."""
    if getattr(model, "has_several_labels", False):
        raise ValueError(
            f"model must give one class per row, got a {type(model).__name__} with several labels. "
            "Fit a model for each label."
        )
    return module_of(model)


def class_names(model: Any, n_classes: int) -> Array:
    """Return the names of the classes: ``classes_`` of an estimator, else 0, 1, ..."""
    return np.asarray(getattr(model, "classes_", np.arange(n_classes)))


def checked_rows(module: nn.Module, X: Data) -> Tensor:
    """Return inputs as the module takes them, in its dtype on its device; NaN and infinity are refused."""
    example = next(module.parameters(), torch.zeros(1))
    X = X.detach().cpu().numpy() if isinstance(X, Tensor) else np.asarray(X)
    if X.ndim < 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be numbers of shape (n_samples, ...), got shape {X.shape} of {X.dtype}.")
    rows = torch.as_tensor(np.array(X), dtype=example.dtype, device=example.device)
    if not torch.isfinite(rows).all():
        raise ValueError("X must be finite, got NaN or infinity (in the module's precision). Fill or scale them.")
    return rows


@torch.no_grad()
def scores_of(module: nn.Module, X: Tensor) -> Tensor:
    """Return the module's scores, one column per class, as it predicts; its modes are left as they were."""
    try:
        with predicting(module):
            return torch.cat([two_scores(module(rows)) for rows in X.split(ROWS)])
    except RuntimeError as error:
        raise ValueError(f"X must have the shape that the module takes, got {tuple(X.shape)}: {error}") from error


def two_scores(outputs: Tensor) -> Tensor:
    """Return outputs with one column per class: a single one decides by its sign, and becomes 0 and itself."""
    scores = outputs.unsqueeze(1) if outputs.dim() == 1 else outputs
    if scores.dim() != 2:
        raise ValueError(f"module must give one score per class, got an output of shape {tuple(scores.shape)}.")
    return torch.cat([torch.zeros_like(scores), scores], 1) if scores.shape[1] == 1 else scores


@contextmanager
def predicting(module: nn.Module) -> Iterator[None]:
    """Put a module into the mode in which it predicts; afterwards each of its layers is as it was."""
    modes = [(layer, layer.training) for layer in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for layer, mode in modes:
            layer.training = mode
