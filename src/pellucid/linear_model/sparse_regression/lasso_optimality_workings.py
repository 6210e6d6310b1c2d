"""Lasso and elastic net by hand: how far a sweep is from the minimum, and why the last answer is the minimum."""

from __future__ import annotations

from sympy import Matrix, Rational, eye, sign

from pellucid.linear_model.least_squares.fit_quality_workings import matrix_or_number
from pellucid.linear_model.sparse_regression.elastic_net_exact_workings import ElasticNetProblem
from pellucid.workings.document import Block, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import ExactData
from pellucid.workings.notation import Math, Mathlike, Script, Words, column, fenced, math, over


def gap_step(problem: ElasticNetProblem, w: Matrix, heading: str) -> Step:
    """Return the step that bounds the distance to the minimum by the duality gap."""
    scale = problem.dual_scale(w)
    primal, dual = problem.objective(w), problem.dual_objective(w)
    residual = "y − X w"
    theta = math(residual) if scale == 1 else math(scale, fenced(residual))
    squares: list[Mathlike] = [over(1, "2 n"), Script(fenced(math("θ"), "‖‖"), above=math(2))]
    ridge: list[Mathlike] = ["−", problem.l2 * scale**2 / 2, Script(fenced("w", "‖‖"), above=math(2))]
    return step(
        heading,
        sentence(
            "The dual problem bounds the minimum from below. Its point is made from the residuals, scaled so that no "
            "pull is stronger than the penalty allows: ",
            math("θ =", theta),
            ".",
        ),
        formula("P =", primal, Words("(the objective)")),
        formula("D =", over(1, "n"), "y^T θ −", *squares, *(ridge if problem.l2 else []), "=", dual),
        sentence(
            "The minimum lies between ",
            math("D"),
            " and ",
            math("P"),
            ". So the objective is above its minimum by at most",
        ),
        result("P − D =", primal - dual),
    )


def minimum_step(problem: ElasticNetProblem, data: ExactData, w: Matrix, *, settled: bool) -> Step:
    """Return the step that finds the minimum from its signs, unless the sweeps reached it, and checks it."""
    blocks: list[Block] = [] if settled else _system_blocks(problem, data, w)
    pulls = problem.gradient(w)
    rows = [[data.symbol("w", j), w[j], pulls[j], _verdict(problem, w[j], pulls[j])] for j in range(data.n_features)]
    blocks += [
        sentence(
            "Check: the pull left over equals the threshold, with its sign, where a coefficient is in use, and is no "
            "stronger where it is zero."
        ),
        table(["coefficient", "value", "pull", "condition"], rows),
        sentence(
            "Objective and dual objective agree: ",
            math("P = D =", problem.objective(w)),
            ", the gap is exactly ",
            math(problem.gap(w)),
            ", so this is the minimum.",
        ),
    ]
    if not problem.is_unique(w):
        blocks.append(remark("The columns in use are linearly dependent: other coefficients reach the same minimum."))
    return step("Check the minimum" if settled else "Solve for the exact minimum", *blocks)


def _system_blocks(problem: ElasticNetProblem, data: ExactData, w: Matrix) -> list[Block]:
    used = [j for j, value in enumerate(w) if value]
    columns, n = problem.X[:, used], problem.X.rows
    gram = columns.T * columns / n + problem.l2 * eye(len(used))
    pull, signs = columns.T * problem.y / n, Matrix([sign(w[j]) for j in used])
    return [
        sentence(
            "With the signs known the kinks are gone, and the coefficients in use solve linear equations: curvature "
            "times coefficients equals pull less threshold times sign."
        ),
        formula(
            *(matrix_or_number(gram), _unknowns(data, used), "=", matrix_or_number(pull)),
            *("−", problem.l1, "·", matrix_or_number(signs)),
        ),
        sentence("The solution is in the table below."),
    ]


def _unknowns(data: ExactData, used: list[int]) -> Math:
    symbols = [data.symbol("w", j) for j in used]
    return symbols[0] if len(symbols) == 1 else column(symbols)


def _verdict(problem: ElasticNetProblem, value: Rational, pull: Rational) -> Math:
    if value:
        return math("=", problem.l1 if value > 0 else -problem.l1)
    return math("≤", problem.l1) if problem.positive else math(fenced(pull, "||"), "≤", problem.l1)
