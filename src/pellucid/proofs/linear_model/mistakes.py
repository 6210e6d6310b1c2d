r"""Proofs of perceptrons: their weights are the sum of their mistakes, which are as few as the margin says.

With updates of size :math:`\eta s_t`, made where :math:`y_t w'z_t \le 0` from :math:`w = 0`, every unit vector u with
:math:`y_i u'z_i \ge \gamma > 0` has

.. math:: \gamma\,\eta\sum s_t \le u'w \le \|w\| \le \eta R\sqrt{\textstyle\sum s_t^2},\qquad\text{so}\qquad
   \frac{(\sum s_t)^2}{\sum s_t^2} \le \Bigl(\frac{R}{\gamma}\Bigr)^2,\qquad R = \max_i\|z_i\| .

The left side is the number of mistakes if all rows weigh the same. Here :math:`z = (x, \sqrt r)`, where r is the rate
of the intercept. The theorem needs: no penalty, a start at 0, one step size.

The witness :math:`u` is the fitted line if it separates the rows, moved a few steps towards the point of the convex
hull of the :math:`y_i z_i` that is nearest to 0, whose margin is the widest. In the space of a kernel it is w itself,

.. math:: \|w\|^2 = a'Ka,\qquad \gamma = \min_i \frac{y_i f(x_i)}{\|w\|},\qquad R^2 = \max_i k(x_i, x_i),

so there the theorem holds as well for kernels that are no inner products, such as 'sigmoid', as long as
:math:`a'Ka > 0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import machine_signs
from pellucid.proofs.kernels.matrices import (
    ProofKernel,
    gamma_value,
    has_given_products,
    kernel_diagonal,
    kernel_times,
    resolved_kernel,
)
from pellucid.proofs.linear_model.descent import kept_dual, prove_sgd, signs_and_costs, size_of_sums
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.rows import in_float64
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

SPARSE_INTERCEPT_RATE = 0.01
"""On sparse rows the intercept, which every row moves, learns more slowly than the weights, as in scikit-learn."""

WITNESS_WORK, MOST_STEPS = 1 << 21, 300
"""Entries of the rows that the search for a better witness may read, if 10 steps need no more, and its most steps."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples differ in all their bits."""

CLOSE_ENOUGH = 0.99
"""Part of the widest margin at which the search for a better witness ends."""


def prove_perceptron(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; with a penalty, or a start elsewhere than at 0, it is a descent like any other."""
    if parameters.penalty is not None or not hasattr(fitted, "dual_coef_"):
        return prove_sgd(fitted, parameters, data)
    X, n, (signs, cost) = in_float64(data.X), data.X.shape[0], signs_and_costs(parameters, data)
    together = repeated_weight(data.X, data.y, data.weights) if parameters.shuffle else data.weights
    shown_cost = cost / data.weights * together  # of all rows shown as one with each
    rate = (SPARSE_INTERCEPT_RATE if sparse.issparse(X) else 1.0) if parameters.fit_intercept else 0.0
    coef, intercept = dense(fitted.coef_).astype(np.float64), np.asarray(fitted.intercept_, dtype=np.float64)
    # the same number added many times rounds one way, and there were at most so many
    added_up = EPSILON * parameters.max_iter * n
    rounding = max(float(np.finfo(data.dtype).eps), sum_error(n)) * 16.0 + added_up
    stored, error = kept_dual(fitted, data), np.inf
    said = "part by which the line differs from the rows times dual_coef_"
    if stored.shape != signs.shape:
        claim = Claim("sum of mistakes", said, error, rounding)
        return Certificate("none", (claim,), "dual_coef_ belongs to other data.")
    dual, used = stored.toarray(), cost > 0.0
    off = np.abs(rate * dual.sum(axis=1) - intercept) / (rate * np.abs(dual).sum(axis=1) + TINY)
    error = float(np.maximum(np.max(np.abs(dual @ X - coef) / size_of_sums(X, dual)), np.max(off)))
    counts = np.where(used, dual * signs, 0.0) / np.where(used, cost * parameters.eta0, 1.0)
    share = np.divide(cost, shown_cost, out=np.zeros_like(cost), where=shown_cost > 0.0)
    part = _fraction(counts, float(np.sum(np.rint(counts) * share)), fitted.n_mistakes_)
    whole = "part by which the updates differ from n_mistakes_ times the costs of the rows"
    claims = (
        Claim("sum of mistakes", said, error, rounding),
        Claim("whole mistakes", whole, part, sum_error(n) + added_up),
    )
    wrong = np.sum((signs * (np.asarray(X @ coef.T) + intercept).T <= 0.0) & used, axis=1)
    if wrong.any():
        return Certificate("none", claims, _wrong_side(wrong))
    machines = zip(signs, cost, shown_cost, counts, coef, intercept, strict=True)
    pairs = [_count_and_bound(X, *machine, rate=rate, eta0=parameters.eta0) for machine in machines]
    said = "at most (R / margin)^2, with the margin of a line that separates the rows"
    return Certificate("bounded", (_tightest(pairs, said, 1e-12), *claims))


def _count_and_bound(
    X: SparseOrDense,
    y: Array,
    cost: Array,
    shown_cost: Array,
    counts: Array,
    w: Array,
    b: float,
    *,
    rate: float,
    eta0: float,
) -> tuple[float, float]:
    """Return both sides of the theorem for one machine."""
    used, total, root = cost > 0.0, float(np.sum(counts * cost)), np.sqrt(rate)
    if total <= 0.0:
        return np.nan, np.nan
    rows, y = (X, y) if used.all() else (X[used], y[used])
    squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", rows, rows)
    lengths, scale = np.asarray(squares).ravel() + rate, eta0 * total
    margin = witnessed_margin(rows, y, root, lengths, np.append(w / scale, b / (root * scale) if root > 0.0 else 0.0))
    return total**2 / float(np.sum(counts * cost * shown_cost)), float(lengths.max()) / margin**2


def _wrong_side(wrong: Array) -> str:
    """Return why nothing bounds the mistakes of machines that get so many rows wrong."""
    machines = f" in {int(np.sum(wrong > 0))} of {len(wrong)} machines" if len(wrong) > 1 else ""
    rows = "rows are" if wrong.sum() > 1 else "row is"
    return f"{int(wrong.sum())} {rows} still on the wrong side{machines}, so no margin bounds the mistakes."


def _tightest(pairs: list[tuple[float, float]], statement: str, rounding: float) -> Claim:
    """Return the claim of the machine that comes closest to its bound."""
    mistakes, bound = max(pairs, key=lambda pair: pair[0] / pair[1])
    return Claim("mistakes", statement, mistakes, bound * (1.0 + rounding))


def _fraction(counts: Array, total: float, n_mistakes: int) -> float:
    """Return how far mistakes are from whole numbers of at least 0, and their total from ``n_mistakes``."""
    off = np.max(np.abs(counts - np.rint(counts)) / np.maximum(1.0, np.abs(counts)), initial=0.0)
    missing = abs(total - n_mistakes) / max(1, n_mistakes)
    return np.inf if np.any(np.rint(counts) < 0) else float(np.maximum(off, missing))


def repeated_weight(X: SparseOrDense, codes: Array, weight: Array) -> Array:
    """Return of every row the weight of all rows equal to it, in features and label."""
    found, which = np.array(weight, dtype=np.float64), np.arange(len(codes))
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), codes, strict=True)
        names: Any = [(columns.tobytes(), values.tobytes(), code) for columns, values, code in parts]
    else:  # only rows whose bits have the same sum, each column times an odd number, can be equal
        rows = np.ascontiguousarray(np.add(X, 0.0, dtype=np.float64))  # -0 is 0
        sums = rows.view(np.uint64) @ (GOLDEN * np.arange(1, 2 * rows.shape[1], 2, dtype=np.uint64))
        order = np.sort(sums)
        which = np.flatnonzero(np.isin(sums, order[1:][order[1:] == order[:-1]]))
        names = [(row.tobytes(), code) for row, code in zip(rows[which], codes[which], strict=True)]
    places: dict[Any, int] = {}
    same = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    found[which] = np.bincount(same, weights=weight[which])[same]
    return found


def witnessed_margin(X: SparseOrDense, y: Array, root: float, sq_norms: Array, u: Array) -> float:
    """Return the margin of a unit vector, found from ``u`` in the hull, which separates the rows."""
    work = WITNESS_WORK // (X.shape[0] * X.shape[1])
    n_steps = 10 if is_fitting() else max(10, min(MOST_STEPS, work))  # a better witness would cost more than the fit
    if sparse.issparse(X) and n_steps > 10:
        X = X.toarray()  # small: many steps on an array cost less than on sparse rows
    scores = y * (np.asarray(X @ u[:-1]) + root * u[-1])
    best = float(scores.min()) / float(np.linalg.norm(u))
    for _ in range(n_steps):
        worst = int(np.argmin(scores))
        row = np.append(dense(X[[worst]])[0], root) * y[worst]
        length = float(u @ u)
        if scores[worst] >= CLOSE_ENOUGH * length:
            break
        step = (length - scores[worst]) / (length - 2.0 * scores[worst] + sq_norms[worst])
        step = min(1.0, step)
        u = (1.0 - step) * u + step * row
        scores = (1.0 - step) * scores + step * y * (np.asarray(X @ row[:-1]) + root * row[-1])
        best = max(best, float(scores.min()) / float(np.linalg.norm(u)))
    return best


def prove_kernel_perceptron(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate."""
    is_given = has_given_products(parameters.kernel)
    gamma = 1.0 / data.X.shape[1] if is_given else gamma_value(parameters.gamma, data.X, data.weights)
    off = abs(fitted.gamma_ - gamma) / (gamma or 1.0)
    gamma_claim = Claim("gamma", "relative distance of gamma_ from what the parameters mean", off, 1e-9)
    support = data.places(fitted.support_) if fitted.support_.max(initial=-1) < data.n_given else fitted.support_
    if support.max(initial=-1) >= data.X.shape[0]:
        claim = Claim("whole mistakes", "the model belongs to other data", np.inf, 0.0)
        return Certificate("none", (claim, gamma_claim), "support_ names rows that are not there.")
    certificate = _prove_kernel_mistakes(fitted, parameters, data, support, is_given=is_given)
    if is_given or certificate.failed:
        return certificate.with_claims(gamma_claim)
    other = np.asarray(dense(fitted.support_vectors_) != dense(data.X[support])).any(axis=1)
    rows = Claim("support vectors", "rows that differ from the training rows", float(other.sum()), 0.0)
    return certificate.with_claims(gamma_claim, rows)


def _prove_kernel_mistakes(
    fitted: Seen, parameters: Seen, data: TrainingData, support: Array, *, is_given: bool
) -> Certificate:
    """Return the certificate of the updates; ``shown`` is what each row weighed, with all that are equal to it."""
    kernel = resolved_kernel(
        parameters.kernel, gamma=fitted.gamma_, degree=parameters.degree, coef0=float(parameters.coef0)
    )
    if parameters.fit_intercept:
        kernel = ProofKernel("sum", parts=(kernel, ProofKernel("constant", value=1.0)))
    X = data.X[:, data.kept] if is_given and data.kept is not None else data.X  # columns of rows of weight 0 are there
    signs, weight, dual = machine_signs(data.y, len(data.classes)), data.weights, fitted.dual_coef_
    shown = repeated_weight(data.X, data.y, weight) if parameters.shuffle and not is_given else weight
    counts = dual * signs[:, support] / shown[support]
    part = _fraction(counts, float(np.rint(counts).sum()), fitted.n_mistakes_)
    wanted = dual.sum(axis=1) if parameters.fit_intercept else np.zeros(len(dual))
    off = float(np.max(np.abs(wanted - fitted.intercept_) / (np.abs(dual).sum(axis=1) + TINY)))
    said = "part by which dual_coef_ differs from n_mistakes_ times the weights of the rows"
    claims = (
        Claim("whole mistakes", said, part, sum_error(X.shape[0])),
        Claim("intercept", "part by which intercept_ differs from the sum of dual_coef_", off, sum_error(len(support))),
    )
    scores = kernel_times(kernel, X, support if is_given else fitted.support_vectors_, dual.T).T
    wrong = np.sum((signs * scores <= 0.0) & (weight > 0.0), axis=1)
    if wrong.any():
        return Certificate("none", claims, _wrong_side(wrong))
    radius, pairs = float(np.max(kernel_diagonal(kernel, X)[weight > 0.0])), []
    for k in range(len(signs)):
        length = float(dual[k] @ scores[k, support])
        if length <= 0.0:
            return Certificate("none", claims, "The kernel is no inner product: the weights have no length.")
        sizes = np.abs(dual[k])
        unit = 2.0 ** int(np.frexp(0.5 * sizes.max())[1])  # squares of huge weights overflow; rounds nothing
        left = float(np.sum(sizes / unit)) ** 2 / float(np.sum(sizes / unit * (shown[support] / unit)))
        pairs.append((left, radius * length / float(np.min((signs[k] * scores[k])[weight > 0.0])) ** 2))
    return Certificate(
        "bounded", (_tightest(pairs, "at most (R / margin)^2, in the space of the kernel", 1e-9), *claims)
    )


PROVES = {"Perceptron": prove_perceptron, "KernelPerceptron": prove_kernel_perceptron}
