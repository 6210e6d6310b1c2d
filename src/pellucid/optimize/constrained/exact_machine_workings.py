"""One support vector machine in exact numbers, and the steps that every document about one shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from sympy import Matrix, Rational, eye, sqrt

from pellucid.optimize.checks.real_algebra import shown
from pellucid.optimize.constrained.active_set_workings import BoxedDual, Multipliers, solve_dual
from pellucid.show.document import (
    Block,
    Figure,
    Series,
    Step,
    Table,
    formula,
    remark,
    result,
    sentence,
    step,
    table,
)
from pellucid.show.exact_data import ExactData
from pellucid.show.notation import Math, Script, Words, column, combination, fenced, math, matrix, over, typed

NORM = fenced("w", "‖‖")
SQUARED_NORM = Script(NORM, above=math(2))
HALF = over(1, 2)
MARGIN = math("t_i", fenced("w^T x_i + b"))
MOST_SHOWN = 4
"""Multipliers that fit beside each other."""


@dataclass(frozen=True)
class Terms:
    """What is minimized: the price of slack (None: a hard margin), whether slack is squared, and the intercept.

    ``constant`` is the value of the feature whose weight is the intercept: 0 for none, None for a free intercept.
    """

    C: Rational | None
    squared: bool
    constant: Rational | None

    @property
    def is_free(self) -> bool:
        """Whether the intercept costs nothing."""
        return self.constant is None


@dataclass(frozen=True)
class ExactMachine:
    """The solution for points whose ``y`` are signs."""

    data: ExactData
    terms: Terms
    found: Multipliers

    @cached_property
    def t(self) -> list[Rational]:
        """The signs."""
        return list(self.data.y)

    @cached_property
    def alpha(self) -> list[Rational]:
        """The multipliers."""
        return list(self.found.alpha)

    @cached_property
    def w(self) -> Matrix:
        """The normal of the plane."""
        return self.data.X.T * Matrix([a * sign for a, sign in zip(self.alpha, self.t, strict=True)])

    @cached_property
    def b(self) -> Rational:
        """The intercept."""
        if self.terms.constant is None:
            return self.found.intercept()
        return self.terms.constant**2 * sum(a * sign for a, sign in zip(self.alpha, self.t, strict=True))

    product: ClassVar[str] = "x_i^T x_j"
    """How a product of two points is written, and below a score without intercept."""
    score: ClassVar[str] = "w^T x_i"

    @cached_property
    def scores(self) -> list[Rational]:
        """The score of each point, without the intercept."""
        return list(self.data.X * self.w)

    @cached_property
    def margins(self) -> list[Rational]:
        """The sign of each point times its score."""
        return [sign * (score + self.b) for sign, score in zip(self.t, self.scores, strict=True)]

    @cached_property
    def slack(self) -> list[Rational]:
        """What each point lacks to the margin 1."""
        return [max(Rational(0), 1 - margin) for margin in self.margins]

    @cached_property
    def norm(self) -> Rational:
        """What is paid for, times two: the squared length of the normal, with the intercept if it is penalized."""
        constant = self.terms.constant
        return self.square + ((self.b / constant) ** 2 if constant else 0)

    @property
    def square(self) -> Rational:
        """The squared length of the normal."""
        return (self.w.T * self.w)[0]

    @property
    def loss(self) -> Rational:
        """The sum of the slack, squared if it is."""
        return sum((xi**2 if self.terms.squared else xi for xi in self.slack), Rational(0))

    @property
    def primal_value(self) -> Rational:
        """The objective of the weights."""
        return self.norm / 2 + (self.terms.C or Rational(0)) * self.loss

    @property
    def dual_value(self) -> Rational:
        """The objective of the multipliers."""
        return sum(self.alpha) - (Matrix(self.alpha).T * self.found.dual.Q * Matrix(self.alpha))[0] / 2


def products(data: ExactData, terms: Terms) -> Matrix:
    """Return the matrix of the dual problem."""
    signed = Matrix.diag(*data.y) * data.X
    Q = signed * signed.T
    if terms.constant:
        Q += terms.constant**2 * data.y * data.y.T
    if terms.squared and terms.C is not None:
        Q += eye(Q.rows) / (2 * terms.C)
    return Q


def solve_machine(data: ExactData, terms: Terms) -> ExactMachine:
    """Return the exact solution, or refuse a hard margin between classes that overlap."""
    most = None if terms.squared else terms.C
    found = solve_dual(BoxedDual(products(data, terms), list(data.y), most, terms.is_free))
    if found is None:
        raise ValueError("X must be separable by a plane for a hard margin, got classes that overlap. Pass C.")
    return ExactMachine(data, terms, found)


def lagrangian_step(terms: Terms) -> Step:
    """Return how the conditions of the multipliers, and the problem they solve, come from the Lagrangian."""
    cost, price = intercept_cost(terms), slack_price(terms)
    short = fenced(math("1 −", MARGIN) if terms.C is None else math("1 − ξ_i −", MARGIN))
    signs: list[Any] = [] if terms.C is None or terms.squared else ["− ∑ μ_i ξ_i"]
    balance: list[Any] = [", ∑ α_i t_i = 0"] if terms.is_free else [", b = s^2 ∑ α_i t_i"] if terms.constant else []
    slack: list[Block] = []
    if terms.squared:
        slack = [sentence("and that by each slack gives the multiplier itself:"), formula("α_i = 2 C ξ_i ≥ 0")]
    elif terms.C is not None:
        slack = [sentence("and that by each slack bounds the multipliers:"), formula("α_i = C − μ_i ,", "0 ≤ α_i ≤ C")]
    products = "t_i t_j x_i^T x_j" if terms.is_free else "Q_ij"
    return step(
        "Multipliers",
        sentence("Give each constraint a multiplier of at least 0:"),
        formula("L =", HALF, SQUARED_NORM, *cost, *price, "+ ∑ α_i", short, *signs),
        sentence("At the minimum the derivatives vanish. Those by the weights make the plane a sum of points"),
        formula("w = ∑ α_i t_i x_i", *balance),
        *slack,
        sentence("Put back, they leave a problem of the multipliers alone:"),
        formula("max ∑ α_i −", HALF, "∑ ∑ α_i α_j", products),
    )


def intercept_cost(terms: Terms) -> list[Any]:
    """Return what the objective has of a penalized intercept."""
    return ["+", HALF, Script(fenced(over("b", "s")), above=math(2))] if terms.constant else []


def slack_price(terms: Terms) -> list[Any]:
    """Return what the objective has of the slack."""
    return [] if terms.C is None else ["+ C ∑", "ξ_i^2" if terms.squared else "ξ_i"]


def machine_steps(machine: ExactMachine) -> list[Step]:
    """Return the steps from the multipliers to the proof that nothing is better."""
    return [
        search_step(machine),
        plane_step(machine),
        conditions_step(machine),
        width_step(machine),
        gap_step(machine),
    ]


def search_step(machine: ExactMachine) -> Step:
    """Return the rounds in which the points on the margin were found, and the multipliers."""
    Q, terms = machine.found.dual.Q, machine.terms
    definition = ["Q_ij = t_i t_j", fenced(f"{machine.product} + s^2") if terms.constant else machine.product]
    extra = [", with ", over(1, "2 C"), " added on the diagonal:"] if terms.squared else [":"]
    full = "" if terms.squared or terms.C is None else " or C"
    equation: list[Any] = ["∑ Q_ij α_j", *(["+ t_i b"] if terms.is_free else []), "= 1"]
    return step(
        "Find the points that hold the margin",
        sentence("The dual sees the points only through the products ", math(*definition), *extra),
        formula("Q =", matrix(Q)),
        sentence(
            "Begin with all multipliers at 0. In each round let the point that violates its margin most come in "
            + ("(where none is in, the two most at odds) " if terms.is_free else "")
            + "and solve the equations ",
            math(*equation),
            " of the points that are inside their bounds; a multiplier that would leave them stops there, at 0"
            + full
            + ".",
        ),
        _rounds_table(machine),
        sentence("Now no point is wrong, and the multipliers are"),
        result("α =", column(machine.alpha)),
    )


def _rounds_table(machine: ExactMachine) -> Table:
    """Return the rounds with all multipliers or, where these are too many for a page, the dual value they reach."""
    Q, n = machine.found.dual.Q, len(machine.alpha)
    shown = [math(f"α_{i + 1}") for i in range(n)] if n <= MOST_SHOWN else [math("∑ α_i −", HALF, "α^T Q α")]
    rows: list[list[Any]] = []
    for k, found in enumerate(machine.found.rounds):
        alpha = Matrix(found.alpha)
        values = list(found.alpha) if n <= MOST_SHOWN else [sum(found.alpha) - (alpha.T * Q * alpha)[0] / 2]
        rows.append([math(k + 1), _listed(found.entered), _listed(found.on_margin), *values])
    return table(["round", "comes in", "inside", *shown], rows)


def _listed(points: Sequence[int]) -> str:
    return ", ".join(str(i + 1) for i in points) or "none"


def plane_step(machine: ExactMachine) -> Step:
    """Return the plane that the multipliers give."""
    data, t = machine.data, machine.t
    support = [(a * t[i], column(data.X[i, :])) for i, a in enumerate(machine.alpha) if a != 0]
    blocks: list[Block] = [
        sentence("The support vectors, the points with a multiplier above 0, add up to the plane:"),
        formula("w = ∑ α_i t_i x_i =", combination(support), "=", column(machine.w)),
        *intercept_blocks(machine),
    ]
    return step("The plane", *blocks, result("b =", machine.b))


def intercept_blocks(machine: ExactMachine) -> list[Block]:
    """Return how the intercept follows from the multipliers."""
    return _free_intercept(machine) if machine.terms.is_free else _penalized_intercept(machine)


def _free_intercept(machine: ExactMachine) -> list[Block]:
    on_margin = machine.found.free
    if not on_margin:
        low, high = machine.found.intercept_range()
        if low == high:
            return [sentence("No multiplier is inside its bounds, but those at the bounds leave one b only.")]
        return [
            sentence("No multiplier is inside its bounds, so b may vary; we take the middle of what fits:"),
            formula(low, "≤ b ≤", high),
        ]
    scores = machine.scores
    return [
        sentence("A point on its margin has the score ", math("t_i"), ", which tells b:"),
        table(
            ["point", math(machine.score), math("b = t_i −", machine.score)],
            [[math(i + 1), scores[i], machine.t[i] - scores[i]] for i in on_margin],
        ),
        *(
            []
            if machine.terms.C is None
            else [remark("Average b over the points on the margin only: one inside it gives another number.")]
        ),
    ]


def _penalized_intercept(machine: ExactMachine) -> list[Block]:
    if not machine.terms.constant:
        return [sentence("There is no intercept.")]
    return [sentence("The intercept is the weight of the constant feature, times s: ", math("b = s^2 ∑ α_i t_i"), ".")]


def conditions_step(machine: ExactMachine) -> Step:
    """Return the KKT conditions, checked point by point."""
    hard, squared = machine.terms.C is None, machine.terms.squared
    beyond = fenced("m_i − 1" if hard else "m_i − 1 + ξ_i")
    head: list[Any] = ["point", math("α_i"), math("m_i"), *([] if hard else [math("ξ_i")])]
    head.append(math("α_i", beyond))
    if not hard:
        head.append(math("2 C ξ_i") if squared else math(fenced("C − α_i"), "ξ_i"))
    rows = []
    for i, (a, m, xi) in enumerate(zip(machine.alpha, machine.margins, machine.slack, strict=True)):
        row = [math(i + 1), a, m, *([] if hard else [xi]), a * (m - 1 + xi)]
        if machine.terms.C is not None:
            row.append(2 * machine.terms.C * xi if squared else (machine.terms.C - a) * xi)
        rows.append(row)
    bounds = math("α_i ≥ 0") if hard or squared else math("0 ≤ α_i ≤ C")
    price = [] if hard else [", ", math("α_i = 2 C ξ_i") if squared else math(fenced("C − α_i"), "ξ_i = 0")]
    blocks: list[Block] = [
        sentence(
            "With the margins ",
            math("m_i = t_i", fenced(math(machine.score, "+ b"))),
            " a solution must satisfy, and as the problem is convex these conditions are enough:",
        ),
        formula("m_i ≥ 1" if hard else "m_i ≥ 1 − ξ_i ,", *([] if hard else ["ξ_i ≥ 0"])),
        sentence(bounds, ", ", math("α_i", beyond, "= 0"), *price, "."),
        table(head, rows),
    ]
    if machine.terms.is_free:
        blocks.append(
            sentence(
                "The multipliers balance: ",
                math(
                    "∑ α_i t_i =",
                    combination([(s, a) for a, s in zip(machine.alpha, machine.t, strict=True) if a]),
                    "=",
                    sum(a * s for a, s in zip(machine.alpha, machine.t, strict=True)),
                ),
                ".",
            )
        )
    return step("Check every condition", *blocks)


def width_step(machine: ExactMachine) -> Step:
    """Return the support vectors and the width of the margin; of two features, with a picture."""
    support = [i for i, a in enumerate(machine.alpha) if a > 0]
    rest = "" if len(support) == len(machine.alpha) else " The others could be taken away without changing the plane."
    who = sentence(f"Support vectors: the points {_listed(support)}.{rest}")
    if not machine.square:
        return step("The margin", who, sentence("There is no plane, as w = 0: at this price none is worth its slack."))
    return step(
        "The margin",
        who,
        sentence("The planes with the scores −1 and 1 are apart by"),
        result(over(2, NORM), "=", shown(2 / sqrt(machine.square))),
        *([_picture(machine)] if machine.data.n_features == 2 else []),
    )


def _picture(machine: ExactMachine) -> Figure:
    points = [_dots(machine, -1), _dots(machine, 1)]
    lines = [_line(machine, score) for score in (-1, 0, 1)]
    names = machine.data.names or ("x₁", "x₂")
    return Figure((*points, *lines), names[0], names[1], "The points of both classes, the plane and its margins")


def _dots(machine: ExactMachine, sign: int) -> Series:
    rows = [machine.data.X.row(i) for i, t in enumerate(machine.t) if t == sign]
    label = "t = +1" if sign > 0 else "t = −1"
    return Series(tuple(float(row[0]) for row in rows), tuple(float(row[1]) for row in rows), label=label)


def _line(machine: ExactMachine, score: int) -> Series:
    """Return the points of this score within the box of the data."""
    w, level = [float(value) for value in machine.w], score - float(machine.b)
    ends = [[float(edge(machine.data.X.col(j))) for edge in (min, max)] for j in range(2)]
    across = 0 if abs(w[1]) >= abs(w[0]) else 1  # the coordinate that runs along the line
    along = ends[across]
    other = [(level - w[across] * value) / w[1 - across] for value in along]
    xs, ys = (along, other) if across == 0 else (other, along)
    label = {-1: "margin −1", 0: "plane", 1: "margin +1"}[score]
    return Series(tuple(xs), tuple(ys), joined=True, label=label)


def gap_step(machine: ExactMachine) -> Step:
    """Return both objectives, which are equal."""
    C = machine.terms.C
    price: list[Any] = [] if C is None else ["+", typed(C), "·", machine.loss]
    square: Math = over(machine.norm, 2)
    spent = sum(machine.alpha) - machine.dual_value
    return step(
        "Primal and dual meet",
        formula(Words("primal"), "=", square, *price, "=", machine.primal_value),
        formula(Words("dual"), "= ∑ α_i −", HALF, "α^T Q α =", sum(machine.alpha), "−", spent, "=", machine.dual_value),
        result("gap =", machine.primal_value - machine.dual_value),
        sentence("No gap is left: no other plane does better."),
    )
