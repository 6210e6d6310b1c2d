"""Every method as an ONNX graph, run by onnxruntime beside the model: ``python -m tests.onnx_export`` prints the table.

The rows are drawn around those of the fit, and among them are the neighbors of every threshold, one step of a double
below and above it, and missing values where the method takes them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import pellucid
from pellucid.export import NotExportableError
from pellucid.export.measuring import difference
from tests.public_estimators import carded, problem_for

N_ROWS = 10_000
MOST = 1e-12
"""Of the largest number in its column."""


def rows_near(X, *, moved=True, seed=1):
    """Return rows drawn from those of a fit, moved at random unless they are counts or codes."""
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(0, len(X), N_ROWS)]
    return rows + rng.standard_normal(rows.shape) * X.std(axis=0) if moved else rows


def thresholds_of(model):
    """Return the columns and thresholds of the nodes of trees, of a model's own and of its members'."""
    packs = [getattr(model, "trees_", None), getattr(model, "tree_", None)]
    found = [(pack.feature, pack.threshold) for pack in packs if pack is not None]
    for member in getattr(model, "estimators_", ()):
        found.extend(thresholds_of(member))
    return found


def with_threshold_neighbors(model, rows):
    """Return rows of which as many as are needed hold a threshold, or its neighbor below or above, in its column."""
    rows = rows.copy()
    pairs = [(j, t) for features, limits in thresholds_of(model) for j, t in zip(features, limits, strict=True)]
    pairs = sorted({(int(j), float(t)) for j, t in pairs if j >= 0 and np.isfinite(t) and j < rows.shape[1]})
    cells = [(j, x) for j, t in pairs for x in (np.nextafter(t, -np.inf), t, np.nextafter(t, np.inf))]
    for i, (j, x) in enumerate(cells[: len(rows)]):
        rows[i, j] = x
    return rows


def asked_rows(estimator, model, X):
    """Return the rows that a model and its graph are asked about."""
    tags = estimator.__sklearn_tags__().input_tags
    rows = with_threshold_neighbors(model, rows_near(X, moved=not tags.positive_only))
    if tags.allow_nan:
        rows[np.random.default_rng(2).random(rows.shape) < 0.02] = np.nan
    return rows


@dataclass(frozen=True)
class Outcome:
    """What became of one method: the outputs of its graph and what was measured, or why there is none."""

    name: str
    outputs: tuple[str, ...] = ()
    n_labels: int = 0
    largest: float = 0.0
    refusal: str = ""


def outcome_of(card, estimator):
    """Fit, export and measure one variant of a method."""
    X, y = problem_for(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator.fit(X, y)
    try:
        proto = pellucid.to_onnx(model)
    except NotExportableError as refusal:
        return Outcome(card.name, refusal=str(refusal))
    found = difference(proto, model, asked_rows(estimator, model, X))
    return Outcome(card.name, tuple(one.name for one in proto.graph.output), found.n_labels, found.largest)


def table():
    """Return the table of all methods in Markdown: the largest difference of all variants."""
    found = {}
    for card, estimator in carded():
        found.setdefault(card.name, []).append(outcome_of(card, estimator))
    lines = ["| method | graph | largest difference |", "|---|---|---|"]
    for name, outcomes in found.items():
        graphs = [one for one in outcomes if not one.refusal]
        if not graphs:
            lines.append(f"| {name} | refused: {outcomes[0].refusal} | |")
            continue
        said = ", ".join(f"`{output}`" for output in graphs[0].outputs)
        lines.append(f"| {name} | {said} | {max(one.largest for one in graphs):.0e} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
