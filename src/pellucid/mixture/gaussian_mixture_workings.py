"""EM by hand: one round of a mixture of a few Gaussians of one or two columns, then the rounds that follow.

Squared distances, weights and sums are exact; exponentials and logarithms are numbers of ``DIGITS`` digits, of which
the first are written.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]
from sympy import Matrix, Rational, eye

from pellucid.core.cards import find_card
from pellucid.core.types import Data
from pellucid.show.decisions import heading, point, read_new
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features
from pellucid.show.notation import Math, Script, Words, column, fenced, math, matrix, minus, over, root, typed

if TYPE_CHECKING:
    from pellucid.mixture.gaussian_mixture import GaussianMixture

DIGITS = 40
TINY = 1e-200
"""A narrow Gaussian gives far rows 1e-500000, and fractions of that length take minutes."""
MOST_COMPONENTS = 3
MOST_ROWS = 10
MOST_COLUMNS = 2
SIMPLE = 1000
"""Denominators up to which a number of the start is read as a fraction."""

COUNTED = {1: "one Gaussian", 2: "two Gaussians", 3: "three Gaussians"}


@dataclass(frozen=True)
class ShownComponents:
    """Weights, means and covariance matrices."""

    weights: list[Any]
    means: list[Matrix]
    covariances: list[Matrix]

    @property
    def k(self) -> int:
        """How many there are."""
        return len(self.weights)


@dataclass(frozen=True)
class EmRound:
    """Components, the parts of the density of each row, its responsibilities, and the mean log likelihood."""

    now: ShownComponents
    parts: list[list[Any]]
    shares: list[list[Any]]
    log_likelihood: Any


def gaussian_mixture_workings(estimator: GaussianMixture, X: Data, _y: Data = None, new: Data = None) -> Document:
    """Show the first round of EM in full and the others in a table, every row counted once."""
    features, names, rounded = exact_features(X, max_rows=MOST_ROWS, max_features=MOST_COLUMNS)
    if not 1 <= estimator.n_components <= MOST_COMPONENTS:
        raise ValueError(
            f"n_components must be 1 to {MOST_COMPONENTS} to be worked by hand, got {estimator.n_components}."
        )
    data = ExactData(features, Matrix.zeros(features.rows, 1), names, rounded)
    x = [features.row(i).T for i in range(features.rows)]
    with mp.workdps(DIGITS):
        rounds, last = _rounds(x, _start(estimator, X), estimator)
        decided = _new_steps(last, [] if new is None else read_new(new, data.n_features))
    found: dict[str, Any] = {
        "weights_": last.weights,
        "means_": [list(mean) for mean in last.means],
        "covariances_": _shaped(last.covariances, estimator.covariance_type),
        "lower_bound_": rounds[-1].log_likelihood,
        "n_iter_": len(rounds),
    }
    steps = [_responsibility_step(data, rounds[0]), _likelihood_step(rounds[0])]
    steps += [_component_step(x, rounds[0], k, estimator) for k in range(last.k)]
    if estimator.covariance_type == "tied":
        steps.append(_tied_step(x, rounds[0], estimator))
    steps.append(_end(rounds, last))
    if decided:
        steps += [made for made, _ in decided]
        found["predicted"] = [label for _, label in decided]
    title = f"A mixture of {COUNTED[last.k]}" if last.k > 1 else "One Gaussian by EM"
    return Document(title, _opening(data, rounds[0]), tuple(steps), found)


def _start(estimator: GaussianMixture, X: Data) -> ShownComponents:
    """Return weights, means and covariances to start from: those given, or found by our estimator with this seed."""
    card = find_card("GaussianMixture")
    assert card is not None
    settings = {**estimator.get_params(deep=False), "max_iter": 0, "warm_start": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged, and is not asked to
        model = card.estimator(**settings).fit(X)
    k, d = model.means_.shape
    full = {
        "full": lambda v: v,
        "tied": lambda v: np.broadcast_to(v, (k, d, d)),
        "diag": lambda v: [np.diag(row) for row in v],
        "spherical": lambda v: [np.eye(d) * value for value in v],
    }[estimator.covariance_type](model.covariances_)
    return ShownComponents(
        [_read(value) for value in model.weights_],
        [Matrix([_read(value) for value in mean]) for mean in model.means_],
        [Matrix(d, d, lambda i, j, v=v: _read(v[i][j])) for v in full],
    )


def _read(value: float) -> Rational:
    """Return a simple fraction where that is what the number is, else all its digits."""
    simple = Fraction(float(value)).limit_denominator(SIMPLE)
    near = abs(float(simple) - float(value)) <= 4 * np.spacing(abs(float(value)))
    return Rational(simple.numerator, simple.denominator) if near else Rational(Fraction(float(value)))


def _rounds(
    x: list[Matrix], start: ShownComponents, estimator: GaussianMixture
) -> tuple[list[EmRound], ShownComponents]:
    """Return the rounds, with the rule of the program that ends them, and the components after the last."""
    rounds: list[EmRound] = []
    now, moved_before = start, mpf("inf")
    for _ in range(max(estimator.max_iter, 1)):
        rounds.append(_round(x, now))
        new = _next(x, rounds[-1], estimator)
        moved = _movement(new, now)
        now = new
        gain = abs(_float(rounds[-1].log_likelihood - rounds[-2].log_likelihood)) if len(rounds) > 1 else mpf("inf")
        if gain < estimator.tol and moved <= moved_before:
            break
        moved_before = moved
    return rounds, now


def _round(x: list[Matrix], now: ShownComponents) -> EmRound:
    parts, shares, logs = [], [], mpf(0)
    for row in x:
        joint = _joint(row, now)
        total = mp.fsum(joint)
        parts.append([_kept(part) for part in joint])
        shares.append([_kept(part / total) for part in joint])
        logs += mp.log(total)
    return EmRound(now, parts, shares, _kept(logs / len(x)))


def _joint(row: Matrix, now: ShownComponents) -> list[Any]:
    """Return the parts of the components in the density of a row."""
    parts = []
    for weight, mean, covariance in zip(now.weights, now.means, now.covariances, strict=True):
        size = mp.sqrt((2 * mp.pi) ** covariance.rows * _float(covariance.det()))
        parts.append(_float(weight) * mp.exp(-_float(_distance(row, mean, covariance) / 2)) / size)
    return parts


def _distance(row: Matrix, mean: Matrix, covariance: Matrix) -> Rational:
    """Return the squared distance of a row from a mean, in units of the spread."""
    away = row - mean
    return (away.T * covariance.inv() * away)[0]


def _next(x: list[Matrix], now: EmRound, estimator: GaussianMixture) -> ShownComponents:
    n, k, d = len(x), now.now.k, x[0].rows
    totals = [sum((share[j] for share in now.shares), Rational(0)) for j in range(k)]
    means = [_weighted(x, now, j) / totals[j] for j in range(k)]
    scatters = [_scatter(x, now, j, means[j]) for j in range(k)]
    floor, kind = _floor(estimator) * eye(d), estimator.covariance_type
    if kind == "tied":
        shared = sum(scatters, Matrix.zeros(d, d)) / n + floor
        covariances = [shared] * k
    else:
        covariances = [_restricted(scatters[j] / totals[j], kind) + floor for j in range(k)]
    return ShownComponents(
        [_short(t / n) for t in totals],
        [m.applyfunc(_short) for m in means],
        [v.applyfunc(_short) for v in covariances],
    )


def _restricted(covariance: Matrix, kind: str) -> Matrix:
    """Return the covariance as its type allows: whole, its diagonal, or the mean of that."""
    d = covariance.rows
    if kind == "spherical":
        return covariance.trace() / d * eye(d)
    return Matrix(d, d, lambda i, j: covariance[i, j] if i == j or kind == "full" else Rational(0))


def _weighted(x: list[Matrix], now: EmRound, j: int) -> Matrix:
    return sum((share[j] * row for share, row in zip(now.shares, x, strict=True)), Matrix.zeros(x[0].rows, 1))


def _scatter(x: list[Matrix], now: EmRound, j: int, mean: Matrix) -> Matrix:
    d = x[0].rows
    squares = (share[j] * (row - mean) * (row - mean).T for share, row in zip(now.shares, x, strict=True))
    return sum(squares, Matrix.zeros(d, d))


def _movement(new: ShownComponents, old: ShownComponents) -> Any:
    total = mpf(0)
    for p, m, v, q, c, w in zip(
        new.weights, new.means, new.covariances, old.weights, old.means, old.covariances, strict=True
    ):
        inverse, ratio = w.inv(), _float(v.det() / w.det())
        spread = _float((inverse * v).trace()) - v.rows - mp.log(ratio)
        total += _float(p) * (mp.log(_float(p / q)) + (spread + _float(((m - c).T * inverse * (m - c))[0])) / 2)
    return total


def _floor(estimator: GaussianMixture) -> Rational:
    return Rational(Fraction(str(float(estimator.reg_covar))))


def _float(value: Any) -> Any:
    return mpf(value.p) / mpf(value.q)


def _kept(value: Any) -> Rational:
    """Return the digits that are kept; a part so small that it changes none of any sum is 0."""
    return Rational(Fraction(mp.nstr(value, DIGITS))) if abs(value) > TINY else Rational(0)


def _short(value: Rational) -> Rational:
    """Return a fraction of few digits as it is, a longer one to the digits that are kept."""
    return value if value.q < SIMPLE**2 else _kept(_float(value))


def _shaped(covariances: list[Matrix], kind: str) -> list[Any]:
    if kind == "tied":
        return list(covariances[0].tolist())
    if kind == "full":
        return [covariance.tolist() for covariance in covariances]
    return [covariance[0, 0] if kind == "spherical" else list(covariance.diagonal()) for covariance in covariances]


def _spread(covariance: Matrix) -> Any:
    """Return what stands for the spread of a component: a number in one column, a matrix in two."""
    return covariance[0] if covariance.rows == 1 else matrix(covariance)


def _place(mean: Matrix) -> Any:
    return mean[0] if mean.rows == 1 else column(list(mean))


def _opening(data: ExactData, first: EmRound) -> tuple[Block, ...]:
    now, is_line = first.now, data.n_features == 1
    letter = "v" if is_line else "Σ"
    sums = [math(f"π_{k + 1} N", fenced(f"x ; μ_{k + 1} , {letter}_{k + 1}")) for k in range(now.k)]
    parts: list[Any] = []
    for part in sums:
        parts += ["+", part] if parts else [part]
    start = [
        formula(f"π_{k + 1} =", p, f", μ_{k + 1} =", _place(m), f", {letter}_{k + 1} =", _spread(v))
        for k, (p, m, v) in enumerate(_listed(now))
    ]
    return (
        sentence(f"The rows come from {COUNTED[now.k]}, and nobody says which from which:"),
        formula("f", fenced("x"), "=", *parts),
        data.feature_table(),
        *data.notes(),
        sentence(
            "A round first asks how probable each Gaussian is for each row (the responsibilities), and then takes "
            "weights, means and variances of the rows so shared out. The likelihood rises in every round, but for what "
            "reg_covar adds. The start:"
        ),
        *start,
        remark(f"Exponentials and logarithms are computed to {DIGITS} digits, of which the first are written."),
    )


def _listed(now: ShownComponents) -> list[tuple[Any, Any, Any]]:
    return list(zip(now.weights, now.means, now.covariances, strict=True))


def _responsibility_step(data: ExactData, first: EmRound) -> Step:
    k, is_line = first.now.k, data.n_features == 1
    if is_line:
        power = math("−", over(_square("x − μ_k"), "2 v_k"))
        density = math(over("π_k", root("2 π v_k")), "exp", fenced(power))
    else:
        power = math("−", over(1, 2), Script(fenced("x − μ_k"), above=math("T")), "Σ_k^−1", fenced("x − μ_k"))
        density = math(over("π_k", math("2 π", root(fenced("Σ_k", "||")))), "exp", fenced(power))
    symbols = [data.symbol("x", j) for j in range(data.n_features)]
    parts, shares = ([math(f"{letter}_{j + 1}") for j in range(k)] for letter in "pr")
    rows = [[math(i + 1), *map(typed, data.X.row(i))] for i in range(data.n_samples)]
    totals = [sum((share[j] for share in first.shares), Rational(0)) for j in range(k)]
    if k * data.n_features <= 2:  # all stands in one table
        lines = [[*row, *p, *r] for row, p, r in zip(rows, first.parts, first.shares, strict=True)]
        blank = [""] * (len(symbols) + k)
        tables = [table([math("i"), *symbols, *parts, *shares], lines, summary=[["sum", *blank, *totals]])]
    else:
        lines = [[*row, *map(_digits, p)] for row, p in zip(rows, first.parts, strict=True)]
        shared = [[row[0], *map(_digits, r)] for row, r in zip(rows, first.shares, strict=True)]
        tables = [
            table([math("i"), *symbols, *parts], lines),
            table([math("i"), *shares], shared, summary=[["sum", *map(_digits, totals)]]),
        ]
    exponents = [_distance(data.X.row(0).T, m, v) / 2 for _, m, v in _listed(first.now)]
    named = [part for value in exponents for part in (", ", math("−", value))][1:]
    return step(
        "Share out the rows",
        sentence("The part of each Gaussian in the density of a row, and its share of their sum:"),
        formula("p_k =", density, ", r_k =", over("p_k", "∑_j p_j")),
        sentence("For the first row the exponents are ", *named, "."),
        *tables,
        remark("The shares of a row add up to 1, so all of them add up to the number of rows."),
    )


def _square(inside: str) -> Math:
    return Script(fenced(inside), above=math(2))


def _likelihood_step(now: EmRound) -> Step:
    return step(
        "Measure the likelihood",
        sentence("The mean logarithm of the densities says how well the components suit the rows:"),
        result("L =", over(math("∑_i log", fenced("∑_k p_k")), "n"), "=", now.log_likelihood),
    )


def _component_step(x: list[Matrix], now: EmRound, k: int, estimator: GaussianMixture) -> Step:
    n, name, is_line = len(x), k + 1, x[0].rows == 1
    total = sum((share[k] for share in now.shares), Rational(0))
    first = _weighted(x, now, k)
    mean = first / total
    scatter = _scatter(x, now, k, mean) / total
    blocks: list[Block] = [
        result(f"π_{name} =", over(f"∑ r_{name}", "n"), "=", over(total, n), "=", total / n),
        result(
            f"μ_{name} =", over(f"∑ r_{name} x_i", f"∑ r_{name}"), "=", over(1, total), _place(first), "=", _place(mean)
        ),
    ]
    if estimator.covariance_type != "tied":
        floor = _floor(estimator)
        kept = _restricted(scatter, estimator.covariance_type)
        outer = _square("x_i − μ") if is_line else math(fenced("x_i − μ"), Script(fenced("x_i − μ"), above=math("T")))
        letter = "v" if is_line else "Σ"
        added = ["+", typed(floor), *([] if is_line else ["I"])] if floor else []
        spread = over(math(f"∑ r_{name}", outer), f"∑ r_{name}")
        blocks.append(formula(f"{letter}_{name} =", spread, *added, "=", _spread(scatter), *added))
        if kept != scatter:
            words = "Only the diagonal is kept" if estimator.covariance_type == "diag" else "The diagonal is averaged"
            blocks.append(sentence(f"{words} (covariance_type='{estimator.covariance_type}')."))
        blocks.append(result(f"{letter}_{name} =", _spread(kept + floor * eye(kept.rows))))
        if floor:
            blocks.append(sentence("What is added, ", math(typed(floor)), ", is reg_covar: no variance becomes 0."))
    return step(f"The rows of Gaussian {name}", *blocks)


def _tied_step(x: list[Matrix], now: EmRound, estimator: GaussianMixture) -> Step:
    return step(
        "One spread for all",
        sentence("The squares of all Gaussians together, divided by the number of rows:"),
        result("v =" if x[0].rows == 1 else "Σ =", _spread(_next(x, now, estimator).covariances[0])),
    )


def _end(rounds: list[EmRound], last: ShownComponents) -> Step:
    k, is_line = last.k, last.means[0].rows == 1
    marks = range(1, k + 1)
    weights = [math(f"π_{j}") for j in (marks[:-1] if is_line else marks)]
    head = ["round", math("L"), *weights, *([math(f"μ_{j}") for j in marks] if is_line else [])]
    head += [math(f"v_{j}") for j in marks] if is_line and k < MOST_COMPONENTS else []
    many = len(rounds) > 12
    shown = [*rounds[:6], *rounds[-5:]] if many else rounds
    numbers = [*range(1, 7), *range(len(rounds) - 4, len(rounds) + 1)] if many else range(1, len(rounds) + 1)
    rows = [
        [math(number), _digits(one.log_likelihood), *_listed_numbers(one.now, len(head) - 2)]
        for number, one in zip(numbers, shown, strict=True)
    ]
    ends = [["after", "", *_listed_numbers(last, len(head) - 2)]]
    found = []
    for j, (_, m, v) in enumerate([] if is_line else _listed(last)):
        spread = matrix([map(_digits, v.row(i)) for i in range(v.rows)])
        found.append(formula(f"μ_{j + 1} =", column(map(_digits, m)), f", Σ_{j + 1} =", spread))
    return step(
        "The rounds that follow",
        sentence("Each line has what a round starts from, and its likelihood; the last line is the answer."),
        table(head, rows, summary=ends),
        *found,
        *([remark(f"Of {len(rounds)} rounds the first 6 and the last 5 are listed.")] if many else []),
        remark("That is a local maximum, up to tol; another start may end in another."),
    )


def _listed_numbers(now: ShownComponents, most: int) -> list[Math]:
    """Return the numbers of all components that a line of the table has room for."""
    is_line = now.means[0].rows == 1
    numbers = (
        [*now.weights[:-1], *(m[0] for m in now.means), *(v[0] for v in now.covariances)] if is_line else now.weights
    )
    return [_digits(value) for value in numbers[:most]]


def _new_steps(last: ShownComponents, rows: Sequence[list[Rational]]) -> list[tuple[Step, int]]:
    """Return a step for each new row, which the components share out among them, and the label of the largest share."""
    made = []
    for i, row in enumerate(rows):
        joint = [_kept(part) for part in _joint(Matrix(row), last)]
        total = sum(joint, Rational(0))
        lines = [[math(k + 1), _digits(p), _digits(p / total)] for k, p in enumerate(joint)]
        label = joint.index(max(joint))
        made.append(
            (
                step(
                    heading(i, "Assign"),
                    sentence("The parts of the final components in the density at ", math("x =", point(row)), ":"),
                    table(["component", math("p_k"), math("r_k")], lines),
                    sentence(f"The largest share is that of component {label + 1}, whose label is {label}."),
                    result("k =", label + 1),
                ),
                label,
            )
        )
    return made


def _digits(value: Rational) -> Math:
    """Return a number to six digits, for a table of many."""
    return Words(minus(f"{float(value):.6g}"))
