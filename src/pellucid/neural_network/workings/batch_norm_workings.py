"""Batch normalization by hand: the batch's own mean and variance in training, the running ones at test time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import check_between, check_positive
from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.optimize.workings.pencil import Pencil
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Script, fenced, math, over, root, typed

MOST_ROWS, MOST_UNITS = 8, 3
VARIANCE = Script(math("σ"), above=math(2))
DEVIATION = root(math(VARIANCE, "+ ε"))


@dataclass(frozen=True)
class _NormalizedRows:
    """A batch and what normalizes it; rows of numbers have one entry for each unit."""

    X: Matrix
    gamma: Matrix
    beta: Matrix
    epsilon: Rational
    momentum: Rational
    pencil: Pencil

    @property
    def means(self) -> list[Rational]:
        return [sum(self.X.col(j)) / Rational(self.X.rows) for j in range(self.X.cols)]

    @property
    def variances(self) -> list[Rational]:
        squares = [[(x - mean) ** 2 for x in self.X.col(j)] for j, mean in enumerate(self.means)]
        return [sum(column) / Rational(self.X.rows) for column in squares]

    def normalized(self, X: Matrix, means: list[Rational], variances: list[Rational]) -> Matrix:
        """Return each entry less its mean over its standard deviation."""
        roots = [self.pencil.root(variance + self.epsilon) for variance in variances]
        return self.pencil.kept(Matrix(X.rows, X.cols, lambda i, j: (X[i, j] - means[j]) / roots[j]))

    def scaled(self, Z: Matrix) -> Matrix:
        """Return the normalized entries times gamma plus beta."""
        return self.pencil.kept(Matrix(Z.rows, Z.cols, lambda i, j: self.gamma[j] * Z[i, j] + self.beta[j]))

    def running(self) -> tuple[list[Rational], list[Rational]]:
        """Return the running mean and variance after this batch, from 0 and 1; the variance divides by one row less."""
        n, share = Rational(self.X.rows), self.momentum
        means = [share * mean for mean in self.means]
        return means, [(1 - share) + share * variance * n / (n - 1) for variance in self.variances]


def show_batch_norm(
    X: Data, gamma: Data = None, beta: Data = None, *, epsilon: float = 1e-5, momentum: float = 0.1, new: Data = None
) -> Document:
    """Return batch normalization of a small batch, in training mode and then in test mode.

    Parameters
    ----------
    X : array-like of shape (rows, units)
        The batch, from 2 to 8 rows of at most 3 units.
    gamma, beta : array-like of shape (units,), default=None
        Scale and shift; None for ones and zeros.
    epsilon : float, default=1e-5
        Added to the variance.
    momentum : float, default=0.1
        Share of the batch in the running mean and variance, which start at 0 and 1.
    new : array-like of shape (units,), default=None
        A row for test mode; None takes the first of the batch.

    Returns
    -------
    Document
        ``answer`` has ``output``, ``running_mean``, ``running_variance`` and ``test_output``.

    Examples
    --------
    >>> work = show_batch_norm([[1], [3]], epsilon=3)
    >>> work.answer["output"], work.answer["running_mean"], work.answer["running_variance"]
    ([[-1/2], [1/2]], [1/5], [11/10])
    """
    check_positive(epsilon=epsilon)
    check_between(0, 1, momentum=momentum)
    rows = _small_batch(X)
    units, shares = rows.cols, (exactly(epsilon, "epsilon"), exactly(momentum, "momentum"))
    batch = _NormalizedRows(rows, _row(gamma, "gamma", units, 1), _row(beta, "beta", units, 0), *shares, Pencil())
    row = rows.row(0) if new is None else _row(new, "new", units, 0)
    Z = batch.normalized(batch.X, batch.means, batch.variances)
    output, (means, variances) = batch.scaled(Z), batch.running()
    test = batch.scaled(batch.normalized(row, means, variances))
    steps = (
        _moments_step(batch),
        _normalize_step(batch, Z),
        _scale_step(batch, Z, output),
        _running_step(batch, means, variances),
        _test_step(batch, row, means, variances, test),
    )
    answer = {
        "output": output.tolist(),
        "running_mean": means,
        "running_variance": variances,
        "test_output": list(test),
    }
    return Document("Batch normalization by hand", _opening(batch), steps, answer)


def _small_batch(X: Data) -> Matrix:
    rows = exact_matrix(X, "X")
    if not (2 <= rows.rows <= MOST_ROWS and rows.cols <= MOST_UNITS):
        raise ValueError(
            f"X must have from 2 to {MOST_ROWS} rows of at most {MOST_UNITS} units to show the work, got {rows.shape}."
        )
    return rows


def _opening(batch: _NormalizedRows) -> tuple[Block, ...]:
    return (
        sentence("Each unit is normalized by itself, with the mean and variance of the batch:"),
        formula("z_i =", over("x_i − μ", DEVIATION), ",", "y_i = γ z_i + β"),
        _shown(batch.X, "x", "The batch"),
        *batch.pencil.remark(),
    )


def _row(values: Data, name: str, units: int, otherwise: int) -> Matrix:
    found = Matrix([[otherwise] * units]) if values is None else exact_matrix(values, name).T
    if found.shape != (1, units):
        raise ValueError(f"{name} must have {units} numbers, one for each unit, got {len(found)}.")
    return found


def _shown(rows: Matrix, letter: str, caption: str = "") -> Any:
    head = [math("i"), *(math(f"{letter}_{j + 1}") for j in range(rows.cols))]
    return table(head, [[math(i + 1), *rows.row(i)] for i in range(rows.rows)], caption=caption)


def _moments_step(batch: _NormalizedRows) -> Step:
    rows = [
        [math(j + 1), mean, variance]
        for j, (mean, variance) in enumerate(zip(batch.means, batch.variances, strict=True))
    ]
    return step(
        "Training: mean and variance of the batch",
        formula(
            "μ =",
            over(1, "n"),
            "∑ x_i ,",
            VARIANCE,
            "=",
            over(1, "n"),
            "∑",
            Script(fenced("x_i − μ"), above=math(2)),
        ),
        table(["unit", math("μ"), "variance"], rows),
    )


def _normalize_step(batch: _NormalizedRows, Z: Matrix) -> Step:
    return step(
        "Training: normalize",
        sentence("with ", math("ε =", typed(batch.epsilon)), ", which keeps a constant unit from a division by 0:"),
        _shown(Z, "z"),
    )


def _scale_step(batch: _NormalizedRows, Z: Matrix, output: Matrix) -> Step:
    rows = [[math(j + 1), batch.gamma[j], batch.beta[j]] for j in range(Z.cols)]
    return step(
        "Training: scale and shift",
        sentence("Both are learned; they let the layer undo the normalization if that is better:"),
        table(["unit", math("γ"), math("β")], rows),
        _shown(output, "y"),
    )


def _running_step(batch: _NormalizedRows, means: list[Rational], variances: list[Rational]) -> Step:
    share = typed(batch.momentum)
    rows = [[math(j + 1), mean, variance] for j, (mean, variance) in enumerate(zip(means, variances, strict=True))]
    return step(
        "Training: remember for later",
        sentence(
            "Running values start at 0 and 1 and take a share of ",
            share,
            " of each batch; the variance is that of a sample, divided by one row less:",
        ),
        table(["unit", "running mean", "running variance"], rows),
    )


def _test_step(
    batch: _NormalizedRows, row: Matrix, means: list[Rational], variances: list[Rational], test: Matrix
) -> Step:
    slopes = [
        batch.pencil.kept(g / batch.pencil.root(v + batch.epsilon)) for g, v in zip(batch.gamma, variances, strict=True)
    ]
    shifts = [batch.pencil.kept(b - m * a) for b, m, a in zip(batch.beta, means, slopes, strict=True)]
    rows = [[math(j + 1), row[j], slopes[j], shifts[j], test[j]] for j in range(row.cols)]
    return step(
        "Test: the running values, one row at a time",
        sentence(
            "Now a row does not depend on the others. Mean, variance, scale and shift are one straight line, ",
            math("y = a x + c"),
            ", with",
        ),
        formula("a =", over("γ", DEVIATION), ", c = β − a μ"),
        table(["unit", math("x"), math("a"), math("c"), math("y")], rows),
        remark(
            "A convolution or dense layer before it can take this line into its weights: fewer steps, the same answer."
        ),
    )
