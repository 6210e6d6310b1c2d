"""One step of nonnegative factorization by hand: every entry of one factor, then of the other, in fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, ones

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step
from pellucid.show.exact_data import exact_features, exact_number, rounding_remark
from pellucid.show.notation import Math, Words, fenced, math, matrix, over

if TYPE_CHECKING:
    from pellucid.decomposition.nmf.nmf import NMF

MAX_ROWS, MAX_FEATURES, MAX_COMPONENTS = 5, 4, 3


def nmf_workings(estimator: NMF, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show one step from a start of ones and twos, by coordinate descent or multiplication, for the squared error."""
    rows, _, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_FEATURES)
    if min(rows) < 0:
        raise ValueError(f"X must have entries of at least 0 to show the work, got {min(rows)}. Shift or clip them.")
    if estimator.beta_loss not in (2, "frobenius"):
        raise ValueError(
            f"beta_loss must be 'frobenius' to be worked in fractions, got {estimator.beta_loss!r}: other divergences "
            "have logarithms or powers."
        )
    l1, l2 = _penalties(estimator, rows)
    W, H = start(rows, _components(estimator))
    step_of = _swept if estimator.solver == "cd" else _multiplied
    new_W = step_of(W, H * H.T, rows * H.T, l1[0], l2[0])
    new_H = step_of(H.T, new_W.T * new_W, rows.T * new_W, l1[1], l2[1]).T
    before, after = _objective(rows, W, H, l1, l2), _objective(rows, new_W, new_H, l1, l2)
    steps = (
        _half_step("W", estimator.solver, (H * H.T, rows * H.T), new_W, l1[0], l2[0]),
        _half_step("H", estimator.solver, (new_W.T * new_W, new_W.T * rows), new_H, l1[1], l2[1]),
        _gain_step(rows, new_W * new_H, before, after),
    )
    answer = {"W": new_W.tolist(), "H": new_H.tolist(), "objective": [before, after]}
    return Document("Nonnegative factors, one step", _opening(rows, W, H, rounded), steps, answer)


def start(rows: Matrix, q: int) -> tuple[Matrix, Matrix]:
    """Return factors of ones, with a two where the number of a row, or column, and of a component agree, modulo q."""
    W = Matrix(rows.rows, q, lambda i, k: 1 + (i % q == k))
    return W, Matrix(q, rows.cols, lambda k, j: 1 + (j % q == k))


def _components(estimator: NMF) -> int:
    q = estimator.n_components
    if q in (None, "auto"):
        return 2
    if q > MAX_COMPONENTS:
        raise ValueError(f"n_components must be at most {MAX_COMPONENTS} to be worked by hand, got {q}.")
    return int(q)


def _penalties(estimator: NMF, rows: Matrix) -> tuple[tuple[Rational, Rational], tuple[Rational, Rational]]:
    """Return the l1 and the l2 penalties, each of W and of H."""
    alpha_W, _ = exact_number(estimator.alpha_W, "alpha_W")
    alpha_H = alpha_W if estimator.alpha_H == "same" else exact_number(estimator.alpha_H, "alpha_H")[0]
    mix, _ = exact_number(estimator.l1_ratio, "l1_ratio")
    sizes = rows.cols * alpha_W, rows.rows * alpha_H
    return (sizes[0] * mix, sizes[1] * mix), (sizes[0] * (1 - mix), sizes[1] * (1 - mix))


def _swept(factor: Matrix, gram: Matrix, products: Matrix, l1: Rational, l2: Rational) -> Matrix:
    """Return a factor, one row for each row of the data, whose columns were each set to their best, one by one."""
    found = factor.copy()
    for k in range(found.cols):
        curvature = gram[k, k] + l2
        for i in range(found.rows):
            rest = sum((found[i, r] * gram[r, k] for r in range(found.cols) if r != k), Rational(0))
            best = (products[i, k] - rest - l1) / curvature if curvature else Rational(0)
            found[i, k] = max(best, Rational(0))
    return found


def _multiplied(factor: Matrix, gram: Matrix, products: Matrix, l1: Rational, l2: Rational) -> Matrix:
    """Return a factor multiplied by the quotients of what pulls its entries up and what pulls them down."""
    down = factor * gram + l2 * factor + l1 * ones(*factor.shape)
    return Matrix(*factor.shape, lambda i, k: factor[i, k] * products[i, k] / down[i, k])


def _objective(rows: Matrix, W: Matrix, H: Matrix, l1: Any, l2: Any) -> Rational:
    squares = [sum((entry**2 for entry in part), Rational(0)) for part in (rows - W * H, W, H)]
    sums = [sum(part, Rational(0)) for part in (W, H)]
    penalties = sum((l1[k] * sums[k] + l2[k] * squares[k + 1] / 2 for k in range(2)), Rational(0))
    return squares[0] / 2 + penalties


def _opening(rows: Matrix, W: Matrix, H: Matrix, rounded: bool) -> tuple[Block, ...]:
    return (
        sentence(
            "Find factors W and H without negative entries whose product is near X. The data, and a start of ones with "
            "twos in turn, so that no two components are the same:"
        ),
        formula("X =", matrix(rows)),
        formula("W =", matrix(W), ", H =", matrix(H)),
        *([rounding_remark()] if rounded else []),
    )


def _half_step(
    name: str, solver: str, products: tuple[Matrix, Matrix], new: Matrix, l1: Rational, l2: Rational
) -> Step:
    gram, crossed = products
    of_W = name == "W"
    blocks: list[Block] = [
        formula("A = H H^T =" if of_W else "A = W^T W =", matrix(gram)),
        formula("B = X H^T =" if of_W else "B = W^T X =", matrix(crossed)),
        *([formula("λ_1 =", l1, ", λ_2 =", l2)] if l1 or l2 else []),
        sentence(_rule(solver)),
        formula(*_update(name, solver, bool(l1), bool(l2))),
        result(f"{name} =", matrix(new)),
    ]
    return step(f"Improve {name}", *blocks)


def _rule(solver: str) -> str:
    if solver == "cd":
        return (
            "One component after the other: each entry goes where the derivative is 0 given all others, those that "
            "were just changed included, or to 0 where that would be negative."
        )
    return "Each entry is multiplied by what pulls it up over what pulls it down; a quotient of 1 leaves it alone:"


def _update(name: str, solver: str, has_l1: bool, has_l2: bool) -> tuple[str | Math, ...]:
    inside, entry = ("w_ik", "w_ir A_rk") if name == "W" else ("h_kj", "A_kr h_rj")
    products = "B_ik" if name == "W" else "B_kj"
    one, two = (" − λ_1" if has_l1 else ""), (" + λ_2" if has_l2 else "")
    if solver == "cd":
        above = math(f"{products} − ∑ {entry}{one}")
        return (f"{inside} =", Words("max"), fenced(math("0 ,", over(above, math(f"A_kk{two}")))), ", r ≠ k")
    below = math(f"∑ {entry}{' + λ_1' if has_l1 else ''}{f' + λ_2 {inside}' if has_l2 else ''}")
    return (f"{inside} = {inside}", over(math(products), below))


def _gain_step(rows: Matrix, product: Matrix, before: Rational, after: Rational) -> Step:
    return step(
        "What was gained",
        formula("W H =", matrix(product)),
        formula("X − W H =", matrix(rows - product)),
        sentence("Half the sum of squares of what is left, and the penalties, before and after:"),
        result(before, "≥", after),
        remark("No step raises it. More steps of this kind follow, until they gain next to nothing."),
    )
