"""attack: a search for a small change of the input that changes a network's class."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.neural_network.modules.model_input import (
    checked_rows,
    class_names,
    norm_of,
    one_class_module,
    predicting,
    scores_of,
    two_scores,
)

INWARDS = 1e-6
"""Share of a Euclidean change that is taken back, as its length is rounded."""
NEAREST = 6
"""Orders of magnitude by which random points may be nearer than the radius."""


def attack(
    model: Any,
    X: Data,
    y: Data = None,
    radius: Data = 0.1,
    *,
    norm: Any = "inf",
    steps: int = 40,
    restarts: int = 4,
    random_state: int = 0,
) -> Array:
    """Return changed inputs, each at most ``radius`` away, whose class is another one if the search found such.

    Projected gradient ascent: from the input itself and from random points of its ball, steps go up the gradient of the
    best other score less that of the right class, and back into the ball. The most harmful point seen is returned.
    Finding nothing proves nothing: :func:`certified_radius` does.

    Parameters
    ----------
    model : torch module or fitted network
        Any network that torch can differentiate.
    X : array of shape (n_samples, ...)
        Inputs.
    y : array of shape (n_samples,), default=None
        Classes to lead away from; None takes the predicted ones.
    radius : float or array of shape (n_samples,), default=0.1
        How far the inputs may be changed.
    norm : "inf" or 2, default="inf"
        How changes are measured.
    steps, restarts : int, default=40, 4
        Steps of each search, and how many searches.
    random_state : int, default=0
        Seed of the random starts.

    Examples
    --------
    >>> line = torch.nn.Linear(2, 2, bias=False)
    >>> line.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # the larger of two numbers wins
    >>> attack(line, [[3.0, 1.0]], radius=1.5)
    array([[1.5, 2.5]], dtype=float32)
    """
    check_whole(steps=steps, restarts=restarts)
    module, length = one_class_module(model), norm_of(norm)
    rows = checked_rows(module, X)
    radii = _radii(radius, rows)
    random = torch.Generator().manual_seed(random_state)
    with predicting(module), torch.enable_grad():
        classes = _classes(model, module, rows, y)
        best, harm = rows.clone(), _harm(module, rows, classes).detach()
        for restart in range(restarts):
            start = torch.zeros_like(rows) if restart == 0 else _random_change(rows, radii, length, random)
            for moved, found in _ascent(module, rows, classes, start, radii, length, steps):
                is_worse = found > harm
                best[is_worse], harm[is_worse] = moved[is_worse], found[is_worse]
    return best.cpu().numpy()


def attacked_accuracy(model: Any, X: Data, y: Data, epsilons: Data, **settings: Any) -> Array:
    """Return for each epsilon the share of rows that stay right under :func:`attack` within it.

    The true share lies between ``certified_accuracy`` of :class:`CertifiedRadii` and this one.

    Parameters
    ----------
    model : torch module or fitted network
        Any network that torch can differentiate.
    X, y : array of shape (n_samples, ...), array of shape (n_samples,)
        Inputs and their right classes.
    epsilons : array of shape (m,)
        Radii.
    **settings : norm, steps, restarts, random_state
        How changes are measured, and how long :func:`attack` searches.

    Examples
    --------
    >>> line = torch.nn.Linear(2, 2, bias=False)
    >>> line.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> attacked_accuracy(line, [[3.0, 1.0], [1.0, 2.0]], [0, 1], [0.0, 0.9, 1.1])
    array([1. , 0.5, 0. ])
    """
    module = one_class_module(model)
    right: list[Array] = []
    for epsilon in np.sort(np.atleast_1d(np.asarray(epsilons, dtype=float))):
        changed = checked_rows(module, attack(model, X, y, epsilon, **settings))
        scores = scores_of(module, changed)
        is_right = class_names(model, scores.shape[1])[scores.argmax(1).cpu().numpy()] == np.asarray(y)
        right.append(is_right & right[-1] if right else is_right)  # what a smaller change did, a larger one may do too
    return np.mean(right, axis=1)


def random_points(module: nn.Module, X: Data, radius: Data, norm: float, random_state: int) -> Array:
    """Return three points of each row's ball, ``(3, B, ...)``: on its edge, anywhere in it, and near its center.

    In a large ball a random point is far from the center, and classes may change close to it: so the last is at a
    share of the radius whose order of magnitude is random.
    """
    rows = checked_rows(module, X)
    radii, random = _radii(radius, rows), torch.Generator().manual_seed(random_state)
    edge = _random_change(rows, radii, norm, random)
    edge = edge if norm == 2 else edge.sign() * radii
    inside, near = (_random_change(rows, radii, norm, random) for _ in range(2))
    shares = torch.rand((2, len(rows)), generator=random, dtype=rows.dtype).to(rows.device)
    shares = shares.view(2, -1, *[1] * (rows.dim() - 1))
    inside = inside * shares[0] ** (1.0 / rows[0].numel()) if norm == 2 else inside  # uniform in the ball
    near = near * 10.0 ** (-NEAREST * shares[1])
    return np.stack([_inside(rows, rows + change, radii, norm).cpu().numpy() for change in (edge, inside, near)])


def _ascent(
    module: nn.Module, X: Tensor, classes: Tensor, change: Tensor, radii: Tensor, norm: float, steps: int
) -> Any:
    """Yield the points of one search with their harm."""
    for step in range(steps + 1):
        moved = _inside(X, X + change, radii, norm).requires_grad_()
        harm = _harm(module, moved, classes)
        yield moved.detach(), harm.detach()
        (gradient,) = torch.autograd.grad(harm.sum(), moved)
        size = radii * (1.0 if step == 0 else 2.5 / steps)  # first to the edge, then 2.5 radii in all
        change = moved.detach() - X + size * _steepest(gradient, norm)


def _harm(module: nn.Module, X: Tensor, classes: Tensor) -> Tensor:
    """Return the best other score less that of the class, ``(B,)``: above 0 the class has changed."""
    scores = two_scores(module(X))
    own = scores.gather(1, classes.unsqueeze(1))
    return (scores.scatter(1, classes.unsqueeze(1), -torch.inf).amax(1, keepdim=True) - own).squeeze(1)


def _steepest(gradient: Tensor, norm: float) -> Tensor:
    """Return the step of length 1 that goes up most."""
    if norm == 2:
        return gradient / _lengths(gradient).clamp(min=torch.finfo(gradient.dtype).tiny)
    return gradient.sign()


def _inside(X: Tensor, moved: Tensor, radii: Tensor, norm: float) -> Tensor:
    """Return the nearest points of the balls that are inside as they are rounded."""
    change = moved - X
    if norm == 2:
        shrink = (radii / _lengths(change).clamp(min=torch.finfo(X.dtype).tiny)).clamp(max=1.0)
        moved = X + change * shrink * (1 - INWARDS)
        return torch.where(_lengths(moved.double() - X.double()) > radii.double(), X, moved)
    moved = X + torch.minimum(torch.maximum(change, -radii), radii)
    is_outside = (moved.double() - X.double()).abs() > radii.double()
    return torch.where(is_outside, torch.nextafter(moved, X), moved)


def _lengths(change: Tensor) -> Tensor:
    """Return the Euclidean length of each row's change, ``(B, 1, ...)``."""
    return change.flatten(1).norm(dim=1).view(-1, *[1] * (change.dim() - 1))


def _random_change(X: Tensor, radii: Tensor, norm: float, random: torch.Generator) -> Tensor:
    if norm == 2:
        direction = torch.randn(X.shape, generator=random, dtype=X.dtype).to(X.device)
        return direction / _lengths(direction) * radii
    return (2 * torch.rand(X.shape, generator=random, dtype=X.dtype).to(X.device) - 1) * radii


def _radii(radius: Data, X: Tensor) -> Tensor:
    """Return one radius per row, ``(B, 1, ...)``."""
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(X),))
    if not (np.isfinite(radii) & (radii >= 0)).all():
        raise ValueError(f"radius must be finite and at least 0, got {radius!r}.")
    wanted = torch.as_tensor(radii.copy())
    rounded = wanted.to(X.dtype)
    rounded = torch.where(rounded.double() > wanted, torch.nextafter(rounded, torch.zeros_like(rounded)), rounded)
    return rounded.to(X.device).view(-1, *[1] * (X.dim() - 1))


def _classes(model: Any, module: nn.Module, X: Tensor, y: Data) -> Tensor:
    """Return the columns of the classes to lead away from."""
    with torch.no_grad():
        scores = two_scores(module(X))
    if y is None:
        return scores.argmax(1)
    names = class_names(model, scores.shape[1])
    y = np.asarray(y)
    if y.shape != (len(X),) or not np.isin(y, names).all():
        raise ValueError(f"y must be one of the model's classes for each of {len(X)} rows, got {y!r}.")
    return torch.as_tensor((y[:, None] == names).argmax(1), device=X.device)
