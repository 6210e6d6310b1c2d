"""The nearest centroid by hand: a mean, or median, of each class, its shrinking, and the distances that decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Abs, Expr, Max, Rational, log, sign, sqrt, zeros

from pellucid.core.types import Data
from pellucid.show.decisions import heading, point, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    MAX_CELLS,
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_number,
    exact_parameter,
    read_labels,
    sorted_classes,
)
from pellucid.show.notation import Script, Words, fenced, math, matrix, over, root

if TYPE_CHECKING:
    from pellucid.neighbors.nearest_centroid import NearestCentroid

Numbers = list[Any]


@dataclass(frozen=True)
class LabeledRows:
    """The rows, the label of each, the classes in order, and the prior of each."""

    data: ExactData
    labels: list[Label]
    classes: list[Label]
    priors: list[Rational]

    def columns(self, label: Label) -> list[Numbers]:
        """Return the values of each column in the rows of a class."""
        rows = [i for i, own in enumerate(self.labels) if own == label]
        return [[self.data.X[i, j] for i in rows] for j in range(self.data.n_features)]


def nearest_centroid_workings(estimator: NearestCentroid, X: Data, y: Data, new: Data = None) -> Document:
    """Show the centroids, how they shrink if they do, and the decision about every row."""
    rows, is_mean = _read(estimator, X, y), estimator.metric == "euclidean"
    middle = _mean if is_mean else _median
    centers = [[middle(values) for values in rows.columns(label)] for label in rows.classes]
    squares = _squares(rows, centers)
    variances = [square / max(rows.data.n_samples - len(rows.classes), 1) for square in squares]
    spreads = [sqrt(value) for value in variances]
    steps = [_centers_step(rows, centers, is_mean), _spread_step(rows, squares, variances)]
    deviations = _deviations(rows, centers, spreads)
    if estimator.shrink_threshold is not None:
        threshold = exact_parameter(estimator, "shrink_threshold")
        centers, deviations, shrunken = _shrunken(rows, deviations, spreads, threshold)
        steps.append(shrunken)
    steps.append(_decision_step(rows, centers, variances, is_mean))
    answer = {"centroids_": centers, "within_class_std_dev_": spreads, "class_prior_": rows.priors}
    if deviations is not None:
        answer["deviations_"] = deviations
    if new is not None:
        decided = [
            _new_step(i, row, rows, centers, variances, is_mean)
            for i, row in enumerate(read_new(new, rows.data.n_features))
        ]
        steps += [made for made, _ in decided]
        answer["predicted"] = [label for _, label in decided]
    return Document("The nearest centroid", _opening(rows, is_mean), tuple(steps), answer)


def _read(estimator: NearestCentroid, X: Data, y: Data) -> LabeledRows:
    features, names, rounded = exact_features(X, max_cells=MAX_CELLS)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    n, n_classes = len(labels), len(classes)
    priors = [Rational(labels.count(label), n) for label in classes]
    if isinstance(estimator.priors, str):
        priors = [Rational(1, n_classes)] * n_classes if estimator.priors == "uniform" else priors
    else:
        given = [exact_number(value, "priors")[0] for value in estimator.priors]
        priors = [value / sum(given) for value in given]
    return LabeledRows(ExactData(features, zeros(n, 1), names, rounded), labels, classes, priors)


def _mean(values: Numbers) -> Any:
    return sum(values, Rational(0)) / len(values)


def _median(values: Numbers) -> Any:
    ordered = sorted(values, key=float)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _squares(rows: LabeledRows, centers: list[Numbers]) -> Numbers:
    """Return for each column the sum of squared distances from the centroid of the own class."""
    sums = [Rational(0)] * rows.data.n_features
    for label, center in zip(rows.classes, centers, strict=True):
        for j, values in enumerate(rows.columns(label)):
            sums[j] += sum(((value - center[j]) ** 2 for value in values), Rational(0))
    return sums


def _deviations(rows: LabeledRows, centers: list[Numbers], spreads: Numbers) -> list[Numbers] | None:
    """Return the distances of the centroids from the mean of all rows, in their units; None if there is none."""
    units, mean = _units(rows, spreads), _overall(rows)
    if any(unit == 0 for of_class in units for unit in of_class):
        return None
    return [
        [(value - mean[j]) / unit[j] for j, value in enumerate(center)]
        for center, unit in zip(centers, units, strict=True)
    ]


def _units(rows: LabeledRows, spreads: Numbers) -> list[Numbers]:
    n, middle = len(rows.labels), _median(spreads)
    return [
        [sqrt(Rational(1, rows.labels.count(label)) - Rational(1, n)) * (spread + middle) for spread in spreads]
        for label in rows.classes
    ]


def _overall(rows: LabeledRows) -> Numbers:
    return [_mean(list(rows.data.X.col(j))) for j in range(rows.data.n_features)]


def _opening(rows: LabeledRows, is_mean: bool) -> tuple[Block, ...]:
    what = "mean" if is_mean else "median"
    words = f"Each class is represented by its centroid, the {what} of its rows. A row goes to the nearest one."
    return sentence(words), *rows.data.opening(class_column(rows.labels))


def _centers_step(rows: LabeledRows, centers: list[Numbers], is_mean: bool) -> Step:
    lines = [
        [str(label), math(rows.labels.count(label)), prior, matrix([center])]
        for label, center, prior in zip(rows.classes, centers, rows.priors, strict=True)
    ]
    how = "Average the rows of each class." if is_mean else "Take the middle value of each column in each class."
    return step("Centroids", sentence(how), table(["class", "rows", math("π_k"), math("μ_k")], lines))


def _spread_step(rows: LabeledRows, squares: Numbers, variances: Numbers) -> Step:
    data, freedom = rows.data, max(rows.data.n_samples - len(rows.classes), 1)
    lines = [
        [data.symbol("x", j), squares[j], variances[j], _decimal(sqrt(variances[j]))] for j in range(data.n_features)
    ]
    return step(
        "Spread within the classes",
        sentence(
            "Sum the squared distances of the values from the centroid of their class, and divide by the rows less the "
            "classes, ",
            math(freedom),
            ":",
        ),
        table(["column", "sum", math(Script(math("s"), above=math(2))), math("s")], lines),
    )


def _shrunken(
    rows: LabeledRows, deviations: list[Numbers] | None, spreads: Numbers, threshold: Rational
) -> tuple[list[Numbers], list[Numbers], Step]:
    """Return the shrunken centroids and deviations, and the step that finds them."""
    if deviations is None:
        raise ValueError("X must differ within classes to show how centroids shrink, got a spread of 0. Change a row.")
    units, mean = _units(rows, spreads), _overall(rows)
    small = [[sign(d) * Max(Abs(d) - threshold, 0) for d in of_class] for of_class in deviations]
    centers = [
        [mean[j] + units[k][j] * d for j, d in enumerate(of_class)] for k, of_class in enumerate(small)
    ]  # fmt: skip
    lines = [
        [str(label), rows.data.symbol("x", j), *(_decimal(part[k][j]) for part in (units, deviations, small, centers))]
        for k, label in enumerate(rows.classes)
        for j in range(rows.data.n_features)
    ]
    head = ["class", "column", "unit", math("d"), "shrunken", math("μ_k")]
    return (
        centers,
        small,
        step(
            "Shrink towards the mean of all rows",
            sentence("The mean of all rows is ", math(matrix([mean])), ". In units of what chance would give a mean,"),
            formula(fenced("s_j + median s"), root(math(over("1", "n_k"), "−", over("1", "n")))),
            sentence(
                "a centroid is ",
                math("d"),
                " away from it. Each ",
                math("d"),
                " comes nearer to 0 by ",
                math(threshold),
                ":",
            ),
            table(head, lines),
            remark("Decimals are rounded here; the answer is exact."),
        ),
    )


def _decision_step(rows: LabeledRows, centers: list[Numbers], variances: Numbers, is_mean: bool) -> Step:
    """Return the decisions: by distance, or where priors differ by a score that has them in it."""
    is_equal = len(set(rows.priors)) == 1
    lines, right = [], 0
    for i, label in enumerate(rows.labels):
        values, decided = _decided(list(rows.data.X.row(i)), rows, centers, variances, is_mean)
        right += decided == label
        lines.append([math(i + 1), str(label), *map(_short, values), str(decided)])
    words = "The smallest distance decides; roots are left out, as they change no order:"
    if not is_equal:
        words = "The largest score decides: twice the logarithm of the prior, less the squared distance in units of s:"
    elif not is_mean:
        words = "The smallest sum of absolute differences decides:"
    name = "d" if is_equal else "δ"
    head = [math("i"), "class", *(math(f"{name}_{k + 1}") for k in range(len(centers))), "decision"]
    ending = sentence(f"{right} of {len(lines)} rows are with the centroid of their class.")
    return step("Decide", sentence(words), table(head, lines), ending)


def _decided(
    row: Numbers, rows: LabeledRows, centers: list[Numbers], variances: Numbers, is_mean: bool
) -> tuple[Numbers, Label]:
    """Return the distances of a row, or its scores where priors differ, and the class."""
    is_equal = len(set(rows.priors)) == 1
    away = [[x - value for x, value in zip(row, center, strict=True)] for center in centers]
    values = [_distance(d, None if is_equal else variances, is_mean) for d in away]
    if not is_equal:
        values = [2 * log(prior) - value for value, prior in zip(values, rows.priors, strict=True)]
    floats = [(1 if is_equal else -1) * float(value) for value in values]
    return values, rows.classes[floats.index(min(floats))]


def _new_step(
    i: int, row: Numbers, rows: LabeledRows, centers: list[Numbers], variances: Numbers, is_mean: bool
) -> tuple[Step, Label]:
    values, decided = _decided(row, rows, centers, variances, is_mean)
    name = "distance" if len(set(rows.priors)) == 1 else "score"
    lines = [[str(c), _short(value)] for c, value in zip(rows.classes, values, strict=True)]
    put = sentence("The same for ", math("x =", point(row)), ":")
    return step(heading(i), put, table(["class", name], lines), result("class =", Words(str(decided)))), decided


def _distance(away: Numbers, variances: Numbers | None, is_mean: bool) -> Any:
    units = [sqrt(v) if v else Rational(1) for v in variances] if variances else [Rational(1)] * len(away)
    parts = [d / unit for d, unit in zip(away, units, strict=True)]
    if is_mean:
        return sum((part**2 for part in parts), Rational(0))
    total = sum((Abs(part) for part in parts), Rational(0))
    return total**2 if variances else total


def _short(value: Expr) -> Any:
    return math(value) if value.is_Rational else _decimal(value)


def _decimal(value: Expr) -> Any:
    return math(value) if value.is_Rational else f"{float(value):.4f}".replace("-", "−")
