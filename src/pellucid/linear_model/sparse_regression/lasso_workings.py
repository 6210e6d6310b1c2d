"""Lasso and elastic net by hand: coordinate descent with its soft threshold, and the duality gap that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, zeros

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import Centered, center, intercept_step
from pellucid.linear_model.least_squares.linear_regression_workings import minus_products
from pellucid.linear_model.sparse_regression.elastic_net_exact_workings import (
    CoordinateUpdate,
    ElasticNetProblem,
    gap_step,
    minimum_step,
)
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_parameter
from pellucid.show.notation import (
    Math,
    Mathlike,
    Quotient,
    Script,
    Words,
    cases,
    factor,
    fenced,
    math,
    over,
    total,
)
from pellucid.show.text_layout import fits

if TYPE_CHECKING:
    from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet, Lasso

SHOWN_SWEEPS = 6


def lasso_workings(estimator: ElasticNet | Lasso, X: Data, y: Data) -> Document:
    """Show how coordinate descent finds the lasso."""
    return _workings(estimator, X, y, Rational(1), "The lasso by coordinate descent")


def elastic_net_workings(estimator: ElasticNet | Lasso, X: Data, y: Data) -> Document:
    """Show how coordinate descent finds the elastic net."""
    ratio = exact_parameter(estimator, "l1_ratio")
    return _workings(estimator, X, y, ratio, "The elastic net by coordinate descent")


def _workings(estimator: ElasticNet | Lasso, X: Data, y: Data, ratio: Rational, title: str) -> Document:
    alpha = exact_parameter(estimator, "alpha")
    if alpha * ratio == 0:
        raise ValueError(
            f"alpha and l1_ratio must be above 0 to show a soft threshold, got alpha={alpha} and l1_ratio={ratio}. "
            "Use LinearRegression for no penalty and Ridge for squares only."
        )
    data = exact_data(X, y)
    centered = center(data, fit_intercept=bool(estimator.fit_intercept))
    problem = ElasticNetProblem(centered.X, centered.y, alpha * ratio, alpha * (1 - ratio), bool(estimator.positive))
    iterates, updates = _descend(problem)
    w = problem.minimum(iterates[-1])
    steps = [
        *centered.steps,
        _update_step(problem, data),
        _first_sweep_step(problem, data, updates),
        gap_step(problem, iterates[1], "How far can the first sweep be from the minimum?"),
        _later_sweeps_step(problem, data, iterates),
        minimum_step(problem, data, w, settled=iterates[-1] == w),
        intercept_step(data, centered, w),
    ]
    return Document(
        title, _opening(data, centered, alpha, ratio), tuple(steps), _answer(problem, centered, iterates, w)
    )


def _descend(problem: ElasticNetProblem) -> tuple[list[Matrix], list[CoordinateUpdate]]:
    """Return the coefficients before and after each shown sweep, and the updates of the first."""
    iterates: list[Matrix] = [zeros(problem.X.cols, 1)]
    first: list[CoordinateUpdate] = []
    while len(iterates) <= SHOWN_SWEEPS and (len(iterates) < 2 or iterates[-1] != iterates[-2]):
        w, updates = problem.sweep(iterates[-1])
        first = first or updates
        iterates.append(w)
    return iterates, first


def _answer(problem: ElasticNetProblem, centered: Centered, iterates: list[Matrix], w: Matrix) -> dict[str, Any]:
    found = {"first_sweep": list(iterates[1]), "gap_after_first_sweep": problem.gap(iterates[1]), "gap": problem.gap(w)}
    if problem.is_unique(w):
        return {"coef_": list(w), "intercept_": centered.intercept(w), **found}
    return {"a_minimizer": list(w), "objective": problem.objective(w), **found}


def _opening(data: ExactData, centered: Centered, alpha: Rational, ratio: Rational) -> tuple[Block, ...]:
    p = data.n_features
    inside = math("y", "− b" if centered.steps else "", *minus_products(data))
    l1 = _sum([fenced(data.symbol("w", j), "||") for j in range(p)])
    l2 = _sum([_squared(data, j) for j in range(p)])
    penalty: list[Mathlike] = ["+ α", l1]
    where: list[str | Mathlike] = ["with ", math("n =", data.n_samples), " rows and ", math("α =", alpha)]
    if ratio != 1:
        penalty = ["+ α λ", l1, "+", over(math("α", fenced("1 − λ")), 2), l2]
        where += [", where ", math("λ =", ratio), " is l1_ratio, the share of the absolute values"]
    return (
        sentence("Find the coefficients that make this as small as possible,"),
        formula("min", over(1, "2 n"), "∑", Script(fenced(inside), above=math(2)), *penalty),
        sentence(*where, "."),
        *data.opening(),
    )


def _sum(terms: Sequence[Math]) -> Math:
    return terms[0] if len(terms) == 1 else fenced(total(terms))


def _squared(data: ExactData, j: int) -> Math:
    return math("w^2" if data.n_features == 1 else f"w_{j + 1}^2")


def _update_step(problem: ElasticNetProblem, data: ExactData) -> Step:
    squares = [problem.X.col(j).dot(problem.X.col(j)) for j in range(data.n_features)]
    rows = [[data.symbol("x", j), square, square / problem.X.rows] for j, square in enumerate(squares)]
    blocks: list[Block] = [
        sentence(
            f"{_held(data)} the objective is a parabola with a kink at zero. Two numbers decide: "
            "how curved the parabola is, and how strongly the residuals without this feature pull:"
        ),
        formula("a_j =", over(1, "n"), "∑ x_j^2"),
        formula("ρ_j =", over(1, "n"), "∑ x_j", _rest(data)),
        sentence(
            "The best value is the soft threshold: move ",
            math("ρ_j"),
            " towards zero by ",
            math("t =", problem.l1),
            " and divide.",
        ),
        formula("w_j =", _soft_cases(problem)),
        table([math("j") if data.n_features > 1 else "feature", math("∑ x_j^2"), math("a_j")], rows),
    ]
    if problem.positive:
        blocks.append(sentence("The coefficients must not be negative, so a negative pull gives zero as well."))
    return step("Know the update of one coefficient", *blocks, *_remarks())


def _held(data: ExactData) -> str:
    return "In w" if data.n_features == 1 else "Hold all coefficients but one. In that one"


def _rest(data: ExactData) -> Math:
    return math("y") if data.n_features == 1 else fenced(math("y −", Words("fit of the other features")))


def _soft_cases(problem: ElasticNetProblem) -> Math:
    below = math("a_j" if not problem.l2 else math("a_j +", problem.l2))
    high = (Quotient(math("ρ_j − t"), below), math(Words("if"), "ρ_j > t"))
    if problem.positive:
        return cases(high, (math(0), math(Words("if"), "ρ_j ≤ t")))
    return cases(
        high,
        (math(0), math(Words("if"), fenced("ρ_j", "||"), "≤ t")),
        (Quotient(math("ρ_j + t"), below), math(Words("if"), "ρ_j <", "− t")),
    )


def _remarks() -> list[Block]:
    return [
        remark(
            "Some lecture notes write the update without 1/n, with a factor 2 in ",
            math("a_j = 2 ∑ x_j^2"),
            " but none in ",
            math("ρ_j"),
            ". It must stand in both or in neither: else, even without a penalty, coefficients come out half of "
            "least squares.",
        ),
        remark(
            "Some say that an orthonormal design shrinks w to ",
            over("w", "1 + λ"),
            ". That is ridge. The lasso subtracts: ",
            math("sign", fenced("w"), "max", fenced(math(fenced("w", "||"), "− λ , 0"))),
            "; this is why it sets coefficients to exactly zero and ridge never does.",
        ),
    ]


def _first_sweep_step(problem: ElasticNetProblem, data: ExactData, updates: list[CoordinateUpdate]) -> Step:
    blocks: list[Block] = [
        sentence("Start with all coefficients at zero, so the residuals are ", math("y"), " itself.")
    ]
    for update in updates:
        blocks += _update_blocks(problem, data, update)
    return step("Do one sweep", *blocks)


def _update_blocks(problem: ElasticNetProblem, data: ExactData, update: CoordinateUpdate) -> list[Block]:
    rho, w, x = data.symbol("ρ", update.j), data.symbol("w", update.j), problem.X.col(update.j)
    if update.curvature == 0:
        return [sentence("The column of ", w, " is zero, so it stays at zero.")]
    products = total([math(factor(a), "·", factor(r)) for a, r in zip(x, update.partial_residual, strict=True) if a])
    blocks: list[Block] = [
        sentence(f"Feature {update.j + 1}:" if data.n_features > 1 else "The pull of the residuals is"),
        *_pull_formulas(rho, problem.X.rows, products, update.rho),
    ]
    t = problem.l1
    if update.new == 0:
        inside = math(update.rho, "≤", t) if problem.positive else math(fenced(update.rho, "||"), "≤", t)
        case = "second" if problem.positive else "middle"
        return [
            *blocks,
            sentence("Now ", inside, f": the {case} case. The pull is too weak, and ", math(w, "= 0"), "."),
        ]
    mark, case = ("−", "first") if update.rho > 0 else ("+", "last")
    test = math(update.rho, ">", t) if update.rho > 0 else math(update.rho, "<", -t)
    return [
        *blocks,
        sentence("Now ", test, f": the {case} case."),
        formula(w, "=", over(math(update.rho, mark, t), update.curvature), "=", update.new),
    ]


def _pull_formulas(symbol: Math, n: int, products: Math, value: Rational) -> list[Block]:
    at_once = math(symbol, "=", Rational(1, n), fenced(products), "=", value)
    if fits(at_once):
        return [formula(at_once)]
    return [formula("n", symbol, "=", products, "=", n * value), formula(symbol, "=", value)]


def _later_sweeps_step(problem: ElasticNetProblem, data: ExactData, iterates: list[Matrix]) -> Step:
    head = ["sweep", *(data.symbol("w", j) for j in range(data.n_features)), "objective", "gap"]
    rows = [[math(k), *w, problem.objective(w), problem.gap(w)] for k, w in enumerate(iterates)]
    settled = iterates[-1] == iterates[-2]
    closing = (
        "The last sweep changed nothing: this is the minimum."
        if settled
        else "The sweeps come closer and closer. The signs show which coefficients are in use: enough to finish."
    )
    return step("Sweep on", table(head, rows), sentence(closing))
