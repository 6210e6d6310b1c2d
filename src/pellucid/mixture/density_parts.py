"""What the densities of a mixture are densities of: whole rows, or one column each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.types import Array
from pellucid.probability.column_densities import AUTO, choose_densities
from pellucid.probability.density import DENSITIES, Density, find_density

OF_ROWS = ("multivariate_gaussian", "multinomial")
"""Densities of ours that take whole rows; the others take a number, or a label."""


@dataclass(frozen=True, eq=False)
class Parts:
    """For each component the classes of its densities, one for all columns together or one for each."""

    kinds: list[list[type[Density]]]
    by_column: bool

    def values(self, X: Array) -> list[Array]:
        """Return what the densities of a component are asked about."""
        if self.by_column:
            return [column_values(X, j) for j in range(X.shape[1])]
        return [X if X.dtype.kind in "biuf" else X.astype(np.float64)]


def density_parts(wanted: Any, n_components: int, X: Array, names: list[str] | None, declared: list[bool]) -> Parts:
    """Return the classes of the densities that are asked for, or guessed for columns."""
    if isinstance(wanted, (list, tuple)):
        return Parts([[type(density)] for density in wanted], by_column=False)
    if isinstance(wanted, Mapping) or wanted == AUTO or takes_numbers(wanted):
        return Parts([choose_densities(wanted, X, names, declared)] * n_components, by_column=True)
    return Parts([[find_density(wanted)]] * n_components, by_column=False)


def takes_numbers(wanted: Any) -> bool:
    """Return whether a density is one of ours that takes a number or a label: several columns then get one each."""
    kind = find_density(wanted)
    ours = {find_density(name) for name in DENSITIES if name not in OF_ROWS}
    return kind in ours


def log_joint(weights: Array, densities: Sequence[Sequence[Any]], values: Sequence[Array]) -> Array:
    """Return the log joint density of each row and component, of shape (n, K)."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(weights, dtype=np.float64))
    out = np.tile(logs, (len(values[0]), 1))
    for k, parts in enumerate(densities):
        for density, column in zip(parts, values, strict=True):
            out[:, k] += np.asarray(density.log_prob(column), dtype=np.float64)
    return out


def responsibilities(joint: Array, weights: Array) -> tuple[Array, Array]:
    """Return the log density of each row, and its responsibilities; the weights for a row that nobody can produce."""
    top = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(top[:, 0])
    parts = np.exp(joint - np.where(possible[:, None], top, 0.0))
    total = np.where(possible, parts.sum(axis=1), 1.0)[:, None]
    with np.errstate(divide="ignore"):
        logs = np.where(possible, (np.where(possible[:, None], top, 0.0) + np.log(total))[:, 0], top[:, 0])
    return logs, np.where(possible[:, None], parts / total, weights)
