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

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, dense
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
from pellucid.proofs.training_data import TrainingData

SPARSE_INTERCEPT_RATE = 0.01
"""On sparse rows the intercept, which every row moves, learns more slowly than the weights, as in scikit-learn."""

WITNESS_WORK, MOST_STEPS = 1 << 21, 300
"""Entries of the rows that the search for a better witness may read, if 10 steps need no more, and its most steps."""

CLOSE_ENOUGH = 0.99
"""Part of the widest margin at which the search for a better witness ends."""


@dataclass(frozen=True)
class Mistakes:
    """What the proof may see of a perceptron: one row per machine, ``dual`` the updates summed by row."""

    coef: Array
    intercept: Array
    dual: Any
    n_mistakes: int
    most_mistakes: int
    """As many as the epochs allow: rounding of so many updates may have added up."""
    eta0: float
    intercept_rate: float
    dtype: Any


def prove_perceptron(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate; with a penalty, or a start elsewhere than at 0, it is a descent like any other."""
    if parameters.penalty is not None or not hasattr(fitted, "dual_coef_"):
        return prove_sgd(fitted, parameters, data)
    signs, cost = signs_and_costs(parameters, data)
    together = repeated_weight(data.X, data.y, data.weights) if parameters.shuffle else data.weights
    rate = SPARSE_INTERCEPT_RATE if sparse.issparse(data.X) else 1.0
    model = Mistakes(
        coef=dense(fitted.coef_).astype(np.float64),
        intercept=np.asarray(fitted.intercept_, dtype=np.float64),
        dual=kept_dual(fitted, data),
        n_mistakes=fitted.n_mistakes_,
        most_mistakes=parameters.max_iter * data.X.shape[0],
        eta0=parameters.eta0,
        intercept_rate=rate if parameters.fit_intercept else 0.0,
        dtype=data.X.dtype,
    )
    return prove_mistakes(in_float64(data.X), signs, cost, cost / data.weights * together, model)


def prove_mistakes(X: Any, signs: Array, cost: Array, shown_cost: Array, model: Mistakes) -> Certificate:
    """Return the certificate; ``cost`` is that of each row, ``shown_cost`` that of all rows shown as one with it."""
    if model.dual.shape != signs.shape:
        return Certificate("none", (_sums(np.inf, model, 1),), "dual_coef_ belongs to other data.")
    dual = model.dual.toarray()
    used = cost > 0.0
    counts = np.where(used, dual * signs, 0.0) / np.where(used, cost * model.eta0, 1.0)
    claims = (
        _sums(_sum_error(X, dual, model), model, X.shape[0]),
        Claim(
            "whole mistakes",
            "part by which the updates differ from n_mistakes_ times the costs of the rows",
            _fraction(counts, cost, shown_cost, model.n_mistakes),
            sum_error(X.shape[0]) + EPSILON * model.most_mistakes,  # the same number added many times rounds one way
        ),
    )
    wrong = _wrong_rows(X, signs, used, model)
    if wrong.any():
        many = len(signs) > 1
        machines = f" in {int(np.sum(wrong > 0))} of {len(signs)} machines" if many else ""
        reason = (
            f"{int(wrong.sum())} {'rows are' if wrong.sum() > 1 else 'row is'} still on the wrong side{machines}: "
            "there is no margin that would bound the mistakes."
        )
        return Certificate("none", claims, reason)
    pairs = [_count_and_bound(X, signs[k], cost[k], shown_cost[k], counts[k], model, k) for k in range(len(signs))]
    return Certificate("bounded", (_tightest(pairs), *claims))


def repeated_weight(X: Any, codes: Array, weight: Array) -> Array:
    """Return of every row the weight of all rows equal to it, in features and label."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), codes, strict=True)
        names: Any = [(columns.tobytes(), values.tobytes(), code) for columns, values, code in parts]
    else:
        rows = np.ascontiguousarray(np.column_stack([X, codes]) + 0.0)  # -0 is 0
        names = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel().tolist()
    places: dict[Any, int] = {}
    same = np.array([places.setdefault(name, len(places)) for name in names])
    return np.bincount(same, weights=weight)[same]


def _sums(error: float, model: Mistakes, n: int) -> Claim:
    rounding = max(float(np.finfo(model.dtype).eps), sum_error(n)) * 16.0 + EPSILON * model.most_mistakes
    return Claim("sum of mistakes", "part by which the line differs from the rows times dual_coef_", error, rounding)


def _sum_error(X: Any, dual: Array, model: Mistakes) -> float:
    w = np.abs(dual @ X - model.coef) / size_of_sums(X, dual)
    b = np.abs(model.intercept_rate * dual.sum(axis=1) - model.intercept)
    size = model.intercept_rate * np.abs(dual).sum(axis=1) + TINY
    return float(np.maximum(np.max(w), np.max(b / size)))


def _fraction(counts: Array, cost: Array, shown_cost: Array, n_mistakes: int) -> float:
    """Return how far the mistakes of the rows are from whole numbers of at least 0 that add up to ``n_mistakes``."""
    off = np.abs(counts - np.rint(counts)) / np.maximum(1.0, counts)
    share = np.divide(cost, shown_cost, out=np.zeros_like(cost), where=shown_cost > 0.0)
    total = float(np.sum(np.rint(counts) * share))
    if np.any(np.rint(counts) < 0):
        return np.inf
    return float(np.maximum(np.max(off), abs(total - n_mistakes) / max(1, n_mistakes)))


def _wrong_rows(X: Any, signs: Array, used: Array, model: Mistakes) -> Array:
    scores = np.asarray(X @ model.coef.T) + model.intercept
    return np.sum((signs * scores.T <= 0.0) & used, axis=1)


def _count_and_bound(
    X: Any, y: Array, cost: Array, shown_cost: Array, counts: Array, model: Mistakes, k: int
) -> tuple[float, float]:
    """Return both sides of the theorem for machine ``k``."""
    used = cost > 0.0
    rows, y = (X, y) if used.all() else (X[used], y[used])
    squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", rows, rows)
    norms = np.asarray(squares).ravel()
    root = np.sqrt(model.intercept_rate)
    total = float(np.sum(counts * cost))
    if total <= 0.0:
        return np.nan, np.nan
    scale = model.eta0 * total
    offset = model.intercept[k] / (root * scale) if root > 0.0 else 0.0
    margin = witnessed_margin(rows, y, root, norms + root**2, np.append(model.coef[k] / scale, offset))
    radius = float(np.max(norms)) + root**2
    return total**2 / float(np.sum(counts * cost * shown_cost)), radius / margin**2


def witnessed_margin(X: Any, y: Array, root: float, sq_norms: Array, u: Array) -> float:
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


def _tightest(pairs: list[tuple[float, float]]) -> Claim:
    """Return the claim of the machine that comes closest to its bound."""
    mistakes, bound = max(pairs, key=lambda pair: pair[0] / pair[1])
    return Claim(
        "mistakes",
        "at most (R / margin)^2, with the margin of a line that separates the rows",
        mistakes,
        bound * (1.0 + 1e-12),
    )


@dataclass(frozen=True)
class KernelMistakes:
    """What the proof may see of a model; ``rows`` are the support vectors, or their columns of given products."""

    dual: Array
    support: Array
    rows: Any
    intercept: Array
    n_mistakes: int
    fit_intercept: bool


def prove_kernel_perceptron(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate."""
    is_given = has_given_products(parameters.kernel)
    by_content = parameters.shuffle and not is_given
    together = repeated_weight(data.X, data.y, data.weights) if by_content else data.weights
    gamma = 1.0 / data.X.shape[1] if is_given else gamma_value(parameters.gamma, data.X, data.weights)
    place = data.places(fitted.support_) if fitted.support_.max(initial=-1) < data.n_given else fitted.support_
    model = KernelMistakes(
        dual=fitted.dual_coef_,
        support=place,
        rows=place if is_given else fitted.support_vectors_,
        intercept=fitted.intercept_,
        n_mistakes=fitted.n_mistakes_,
        fit_intercept=parameters.fit_intercept,
    )
    kernel = resolved_kernel(
        parameters.kernel, gamma=fitted.gamma_, degree=parameters.degree, coef0=float(parameters.coef0)
    )
    if parameters.fit_intercept:
        kernel = ProofKernel("sum", parts=(kernel, ProofKernel("constant", value=1.0)))
    claims = [
        Claim(
            "gamma",
            "relative distance of gamma_ from what the parameters mean",
            abs(fitted.gamma_ - gamma) / (gamma or 1.0),
            1e-9,
        )
    ]
    signs = machine_signs(data.y, len(data.classes))
    X = data.X[:, data.kept] if is_given and data.kept is not None else data.X  # columns of rows of weight 0 are there
    certificate = prove_kernel_mistakes(kernel, X, signs, data.weights, together, model)
    if not is_given and not certificate.failed:
        stored = np.asarray(dense(fitted.support_vectors_) != dense(data.X[place])).any(axis=1)
        claims.append(Claim("support vectors", "rows that differ from the training rows", float(stored.sum()), 0.0))
    return certificate.with_claims(*claims)


def prove_kernel_mistakes(
    kernel: ProofKernel, X: Any, signs: Array, weight: Array, shown: Array, model: KernelMistakes
) -> Certificate:
    """Return the certificate; ``kernel`` has the constant of the intercept, ``shown`` is what each row weighed."""
    if model.support.max(initial=-1) >= X.shape[0]:
        claim = Claim("whole mistakes", "the model belongs to other data", np.inf, 0.0)
        return Certificate("none", (claim,), "support_ names rows that are not there.")
    own = signs[:, model.support]
    counts = model.dual * own / shown[model.support]
    claims = (_whole(counts, model, X.shape[0]), _constant(model))
    scores = kernel_times(kernel, X, model.rows, model.dual.T).T
    wrong = np.sum((signs * scores <= 0.0) & (weight > 0.0), axis=1)
    if wrong.any():
        many = f" in {int(np.sum(wrong > 0))} of {len(signs)} machines" if len(signs) > 1 else ""
        reason = f"{int(wrong.sum())} rows are still on the wrong side{many}, so no margin bounds the mistakes."
        return Certificate("none", claims, reason)
    radius = float(np.max(kernel_diagonal(kernel, X)[weight > 0.0]))
    pairs = []
    for k in range(len(signs)):
        length = float(model.dual[k] @ scores[k, model.support])
        if length <= 0.0:
            return Certificate("none", claims, "The kernel is no inner product: the weights have no length.")
        sizes = np.abs(model.dual[k])
        unit = 2.0 ** int(np.frexp(0.5 * sizes.max())[1])  # squares of huge weights overflow; rounds nothing
        left = float(np.sum(sizes / unit)) ** 2 / float(np.sum(sizes / unit * (shown[model.support] / unit)))
        pairs.append((left, radius * length / float(np.min((signs[k] * scores[k])[weight > 0.0])) ** 2))
    left, right = max(pairs, key=lambda pair: pair[0] / pair[1])
    statement = "at most (R / margin)^2, in the space of the kernel"
    return Certificate("bounded", (Claim("mistakes", statement, left, right * (1.0 + 1e-9)), *claims))


def _whole(counts: Array, model: KernelMistakes, n: int) -> Claim:
    off = np.abs(counts - np.rint(counts)) / np.maximum(1.0, np.abs(counts))
    missing = abs(float(np.rint(counts).sum()) - model.n_mistakes) / max(1, model.n_mistakes)
    error = np.inf if np.any(np.rint(counts) < 0) else float(np.maximum(np.max(off, initial=0.0), missing))
    return Claim(
        "whole mistakes",
        "part by which dual_coef_ differs from n_mistakes_ times the weights of the rows",
        error,
        sum_error(n),
    )


def _constant(model: KernelMistakes) -> Claim:
    wanted = model.dual.sum(axis=1) if model.fit_intercept else np.zeros(len(model.dual))
    size = np.abs(model.dual).sum(axis=1) + TINY
    error = float(np.max(np.abs(wanted - model.intercept) / size))
    statement = "part by which intercept_ differs from the sum of dual_coef_"
    return Claim("intercept", statement, error, sum_error(model.dual.shape[1]))


PROVES = {"Perceptron": prove_perceptron, "KernelPerceptron": prove_kernel_perceptron}
