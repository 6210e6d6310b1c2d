"""Naive Bayes with a density for every column, by hand: shares of categories, shares of ones, means and variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, exp, pi, sqrt

from pellucid.core.checks import column_values
from pellucid.core.types import Data
from pellucid.naive_bayes.gaussian_nb_workings import (
    mean_line,
    mean_of,
    smoothing_remark,
    variance_line,
    variance_of,
)
from pellucid.naive_bayes.prior_workings import (
    MAX_COLUMNS,
    Factor,
    decided_rows,
    decimal,
    decision_step,
    exact_labels,
    prior_step,
    probability_of,
    rows_of_classes,
    typed_text,
)
from pellucid.probability.density import choose_densities, declared_categories
from pellucid.show.document import Block, Document, Step, formula, sentence, step, table
from pellucid.show.exact_data import (
    MAX_COUNTED_CELLS,
    MAX_ROWS,
    Label,
    check_workable,
    exact_number,
    exact_parameter,
    rounding_remark,
)
from pellucid.show.notation import Math, Script, Words, fenced, math, over, root, typed
from pellucid.show.text_printer import name_columns

if TYPE_CHECKING:
    from pellucid.naive_bayes.mixed_nb import MixedNB

KINDS = ("Bernoulli", "Categorical", "Gaussian")


@dataclass(frozen=True)
class _DensityColumn:
    """One column: its name, its values (fractions, or texts), the kind of its density, and whether it was rounded."""

    name: str
    values: tuple[Any, ...]
    kind: str
    is_rounded: bool

    def of(self, rows: list[int]) -> list[Any]:
        return [self.values[i] for i in rows]

    @property
    def labels(self) -> list[Any]:
        """The values that occur, sorted; of a coin, 0 and 1."""
        return [Rational(0), Rational(1)] if self.kind == "Bernoulli" else sorted(set(self.values))


@dataclass(frozen=True)
class _LearnedDensity:
    """What was learned about a column: the step that shows it, its numbers, and its factor for a class and a value."""

    step: Step
    numbers: Any
    factor: Callable[[int, Any], Factor]


def mixed_nb_workings(estimator: MixedNB, X: Data, y: Data, new: Data = None) -> Document:
    """Show how columns of mixed kinds classify rows; ``new`` holds rows to decide about, by default all of ``X``."""
    columns = _columns(estimator, X)
    labels, classes = exact_labels(y, len(columns[0].values))
    groups = rows_of_classes(labels, classes)
    sizes = [len(rows) for rows in groups]
    pseudo = exact_parameter(estimator, "prior_alpha")
    prior = [(n + pseudo) / (len(labels) + pseudo * len(classes)) for n in sizes]
    learned = [_learn(column, columns, groups, classes, estimator) for column in columns]
    asked = [column.values for column in (columns if new is None else _columns(estimator, new, like=columns))]
    asked = asked if new is not None else [tuple(decided_rows(values)) for values in asked]
    decisions = [
        _decision(i, row, columns, classes, prior, learned, is_new=new is not None)
        for i, row in enumerate(zip(*asked, strict=True))
    ]
    steps = (
        prior_step(classes, sizes, prior, is_share=True, pseudo=pseudo),
        *(found.step for found in learned),
        *(made for made, _ in decisions),
    )
    found = {
        "class_count_": sizes,
        "class_prior_": prior,
        "columns": {column.name: found.numbers for column, found in zip(columns, learned, strict=True)},
        "predicted": [label for _, label in decisions],
    }
    notes = name_columns([str(name) for name in getattr(X, "columns", ())], len(columns))[1]
    return Document("Naive Bayes with a density per column", (*_opening(columns, labels), *notes), steps, found)


def _columns(estimator: MixedNB, X: Data, like: list[_DensityColumn] | None = None) -> list[_DensityColumn]:
    """Return the columns with the kinds of their densities: those of the training rows, if they are given."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else []
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2 or 0 in cells.shape:
        raise ValueError(f"X must have rows and columns, got shape {cells.shape}. Reshape one feature to (-1, 1).")
    check_workable(cells.shape, MAX_ROWS, MAX_COLUMNS, MAX_COUNTED_CELLS)
    kinds = [c.kind for c in like] if like else _kinds(estimator, cells, names or None, declared_categories(X))
    found, shown = [], name_columns(names, cells.shape[1])[0]
    for j, kind in enumerate(kinds):
        is_text = column_values(cells, j).dtype.kind == "U"
        read = [(str(v), False) if is_text else exact_number(v, "X") for v in cells[:, j]]
        found.append(_DensityColumn(shown[j], tuple(value for value, _ in read), kind, any(cut for _, cut in read)))
    return found


def _kinds(estimator: MixedNB, cells: Any, names: list[str] | None, declared: list[bool]) -> list[str]:
    kinds = [kind.__name__ for kind in choose_densities(estimator.densities, cells, names, declared)]
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"densities must be {', '.join(KINDS)} to be worked by hand, got {kind}.")
    return kinds


def _opening(columns: list[_DensityColumn], labels: list[Label]) -> tuple[Block, ...]:
    rows = [[math(i + 1), *(_shown(column.values[i]) for column in columns), str(c)] for i, c in enumerate(labels)]
    kinds = ", ".join(f"{column.name} {column.kind}" for column in columns)
    return (
        sentence(
            "Which class does a row belong to? Naive Bayes takes the columns of a class to be independent, and each "
            f"column gets the density that suits it: {kinds}."
        ),
        table([math("i"), *(column.name for column in columns), "class"], rows, caption="The data"),
        *([rounding_remark()] if any(column.is_rounded for column in columns) else []),
    )


def _shown(value: Any) -> Any:
    return value if isinstance(value, str) else typed(value)


def _learn(
    column: _DensityColumn,
    columns: list[_DensityColumn],
    groups: list[list[int]],
    classes: list[Label],
    estimator: MixedNB,
) -> _LearnedDensity:
    if column.kind == "Gaussian":
        return _learn_normal(column, columns, groups, classes, exact_parameter(estimator, "var_smoothing"))
    return _learn_shares(column, groups, classes, exact_parameter(estimator, "alpha"))


def _learn_shares(
    column: _DensityColumn, groups: list[list[int]], classes: list[Label], alpha: Rational
) -> _LearnedDensity:
    labels, m = column.labels, len(column.labels)
    counts = [[column.of(rows).count(label) for label in labels] for rows in groups]
    shares = [[(n + alpha) / (len(rows) + alpha * m) for n in of] for rows, of in zip(groups, counts, strict=True)]
    lines = [
        formula(
            probability_of(f"{column.name} = {_told(label)}", c), "=",
            over(math(counts[k][t], "+", alpha), math(len(groups[k]), "+", alpha, "·", m)), "=", shares[k][t],
        )
        for k, c in enumerate(classes)
        for t, label in enumerate(labels)
    ]  # fmt: skip

    def factor(k: int, value: Any) -> Factor:
        share = shares[k][labels.index(value)] if value in labels else Rational(0)
        return math(share), share

    words = sentence("Count each value in each class and add ", math("α =", alpha), f" to each of the {m} counts:")
    return _LearnedDensity(step(f"Shares of the values: {column.name}", words, *lines), shares, factor)


def _learn_normal(
    column: _DensityColumn,
    columns: list[_DensityColumn],
    groups: list[list[int]],
    classes: list[Label],
    smoothing: Rational,
) -> _LearnedDensity:
    normal = [other for other in columns if other.kind == "Gaussian"]
    epsilon = smoothing * max(variance_of(other.values) for other in normal)
    means = [mean_of(column.of(rows)) for rows in groups]
    variances = [variance_of(column.of(rows)) + epsilon for rows in groups]
    if 0 in variances:
        raise ValueError(
            "X must vary within every class to be worked by hand with var_smoothing=0, got a variance of 0."
        )
    named = [(fenced(Words(str(c))), column.of(rows)) for c, rows in zip(classes, groups, strict=True)]
    blocks = [mean_line(math("μ", name), values) for name, values in named]
    blocks += [variance_line(math("σ^2", name), values) for name, values in named]
    density = math(over(1, root("2 π σ^2")), Script(math("e"), above=_exponent()))

    def factor(k: int, value: Any) -> Factor:
        exact = exp(-((value - means[k]) ** 2) / (2 * variances[k])) / sqrt(2 * pi * variances[k])
        height = exact.evalf()  # SymPy's floats do not underflow
        return decimal(height), height

    made = step(
        f"A normal density: {column.name}",
        sentence("Mean and variance within each class, the variance divided by the number of rows:"),
        *blocks,
        *([smoothing_remark(smoothing)] if smoothing else []),
        sentence("They give the density of a value x,"),
        formula("f", fenced("x"), "=", density),
    )
    return _LearnedDensity(made, {"mean": means, "variance": variances}, factor)


def _exponent() -> Math:
    return math("−", over(Script(fenced("x − μ"), above=math(2)), math("2 σ^2")))


def _decision(
    i: int,
    row: tuple[Any, ...],
    columns: list[_DensityColumn],
    classes: list[Label],
    prior: list[Rational],
    learned: list[_LearnedDensity],
    *,
    is_new: bool,
) -> tuple[Step, Any]:
    told = ", ".join(f"{column.name} = {_told(value)}" for column, value in zip(columns, row, strict=True))
    factors: list[list[Factor]] = [[] for _ in classes]
    left_out = []
    for column, found, value in zip(columns, learned, row, strict=True):
        of_classes = [found.factor(k, value) for k in range(len(classes))]
        if not any(height for _, height in of_classes):
            left_out.append(column.name)
            continue
        for k, factor in enumerate(of_classes):
            factors[k].append(factor)
    silent = f" No class can produce {' and '.join(left_out)}: left out." if left_out else ""
    words = f"Here {told}.{silent} Prior times the share or density of each value:"
    return decision_step(f"Classify {'new row' if is_new else 'row'} {i + 1}", words, classes, prior, factors)


def _told(value: Any) -> str:
    return value if isinstance(value, str) else typed_text(value)
