"""What the workings of linear and quadratic discriminant analysis share: classes, their means and priors, decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Expr, Matrix, Rational, zeros

from pellucid.core.types import Data
from pellucid.show.decisions import heading, point
from pellucid.show.document import Block, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import (
    MAX_CELLS,
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_number,
    read_labels,
    sorted_classes,
)
from pellucid.show.notation import Math, Words, math, matrix
from pellucid.show.text_layout import fits

LONGEST = 48
"""Characters of a sum of logarithms that still stands in a discriminant."""


@dataclass(frozen=True)
class ClassRows:
    """The rows, their labels, the classes in order, and the prior of each."""

    data: ExactData
    labels: list[Label]
    classes: list[Label]
    priors: list[Rational]

    @cached_property
    def groups(self) -> list[Matrix]:
        """The rows of each class."""
        X = self.data.X
        return [
            X.extract([i for i, label in enumerate(self.labels) if label == k], list(range(X.cols)))
            for k in self.classes
        ]

    @cached_property
    def means(self) -> list[Matrix]:
        """The mean of each class, a column."""
        return [
            Matrix([sum(group.col(j), Rational(0)) / group.rows for j in range(group.cols)]) for group in self.groups
        ]

    @cached_property
    def centered(self) -> list[Matrix]:
        """The rows of each class less its mean."""
        pairs = zip(self.groups, self.means, strict=True)
        return [group - Matrix([list(mean)] * group.rows) for group, mean in pairs]

    def opening(self, words: str) -> tuple[Block, ...]:
        """Return the question and the data."""
        return sentence(words), *self.data.opening(class_column(self.labels))

    def means_step(self) -> Step:
        """Return the step that averages the rows of each class."""
        rows = [
            [str(k), math(group.rows), prior, matrix([list(mean)])]
            for k, group, mean, prior in zip(self.classes, self.groups, self.means, self.priors, strict=True)
        ]
        return step(
            "Means and priors of the classes",
            sentence("Average the rows of each class. The prior of a class is its share, unless it is given."),
            table(["class", "rows", math("π_k"), math("μ_k")], rows),
        )

    def decision_step(self, scores: Sequence[Sequence[Expr]]) -> Step:
        """Return the decisions by the scores of each row."""
        rows, wrong = [], 0
        for i, (label, exact) in enumerate(zip(self.labels, scores, strict=True)):
            values = [float(score) for score in exact]
            decided = self.classes[max(range(len(values)), key=lambda k, values=values: (values[k], -k))]  # type: ignore[misc]
            wrong += decided != label
            rows.append([math(i + 1), str(label), *(f"{value:.4f}" for value in values), str(decided)])
        head = [math("i"), "class", *(math(f"δ_{k + 1}") for k in range(len(self.classes))), "decision"]
        return step(
            "Decide",
            sentence("The largest discriminant decides; as decimals:"),
            table(head, rows),
            sentence(f"{len(rows) - wrong} of {len(rows)} rows are on the right side."),
        )

    def new_steps(
        self, rows: Sequence[Sequence[Rational]], scores: Sequence[Sequence[Expr]]
    ) -> tuple[list[Step], list[Label]]:
        """Return the decisions about new rows by their scores, and the classes."""
        steps, decided = [], []
        for i, (row, exact) in enumerate(zip(rows, scores, strict=True)):
            values = [float(score) for score in exact]
            decided.append(self.classes[values.index(max(values))])
            lines = [formula(f"δ_{k + 1} =", with_decimal(score)) for k, score in enumerate(exact)]
            put = sentence("Put ", math("x =", point(row)), " into the discriminants:")
            steps.append(step(heading(i), put, *lines, result("class =", Words(str(decided[-1])))))
        return steps, decided


def read_class_rows(estimator: Any, X: Data, y: Data) -> ClassRows:
    """Return the rows in fractions, or refuse what is too much to work by hand."""
    features, names, rounded = exact_features(X, max_cells=MAX_CELLS)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    priors = _priors(estimator, [labels.count(k) for k in classes])
    return ClassRows(ExactData(features, zeros(features.rows, 1), names, rounded), labels, classes, priors)


def with_decimal(value: Expr) -> Math:
    """Return a number, and its decimals if it has logarithms in it; of one that is too long, the decimals alone."""
    if value.is_Rational:
        return math(value)
    exact = math(value)
    return math(*([exact] if fits(exact, LONGEST) else []), "≈", f"{float(value):.4f}".replace("-", "− "))


def _priors(estimator: Any, counts: list[int]) -> list[Rational]:
    if estimator.priors is None:
        return [Rational(count, sum(counts)) for count in counts]
    given = [exact_number(value, "priors")[0] for value in estimator.priors]
    if len(given) != len(counts) or sum(given) != 1:
        raise ValueError(f"priors must be {len(counts)} numbers that add up to 1, got {list(estimator.priors)}.")
    return given
