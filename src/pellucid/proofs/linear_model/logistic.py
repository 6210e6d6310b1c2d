r"""Proof of a logistic regression: its duality gap, recomputed from the data in float64.

Any probabilities :math:`P` whose sums over the rows equal the weights of the classes (they must only where there is an
intercept) bound the least objective from below by :math:`\sum_i s_i H(p_i) - \Omega^*(X'S(P - Y))`, with the entropy
:math:`H` and :math:`\Omega^*(G) = \sum (|g| - l_1)_+^2 / (2 l_2)`, or 0 for :math:`|g| \le l_1` if :math:`l_2 = 0`.
The proof takes those of the model, moves the intercept until the sums are right, and scales the differences
:math:`P - Y` of each class for what is left: with rates :math:`F_{ck} = \sum_{i \in c} s_ip_{ik}` these scales are the
stationary distribution of a Markov chain, which elimination without differences gives to all digits. Throughout it
works with :math:`P - Y`: where classes can be separated it is tiny, and so are loss and dual value.

Coefficients in float32 are rounded so much that, with columns of large numbers, their probabilities make a poor bound
though the objective is near its minimum. Then those of a point nearby are taken, a few steps of Newton's method away.

Without a penalty there is no such bound; the gradient is measured, and whether the classes can be separated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, sparse
from scipy.special import entr, expit, log_expit

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.classes import class_weights
from pellucid.proofs.rounding import EPSILON, ROUNDING, TINY
from pellucid.proofs.rows import centered_times, in_float64, transposed_centered_times
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""

ROUGH_TOL = 1e-4
"""A larger ``tol`` than this, the default, asks for no more than scikit-learn's: a small slope, not a small gap."""

REPRODUCED = 1e-9
"""How closely the reported gap must be found again, as a part of the objective."""

MOST_MOVES, LONGEST_MOVE, BALANCED = 60, 4.0, 1e-13
"""Steps of the intercept, the longest of them, and what may be left in a class, as a part of all residuals."""

MOST_UNKNOWNS, MOST_STEPS = 500, 4
"""Weights that are not 0 for which steps of Newton's method are made, and how many."""

LARGEST_PROGRAM = 1 << 21
"""Entries of the linear program that decides whether classes can be separated; beyond, only the model's own margins."""


@dataclass(frozen=True)
class LogisticTask:
    """What is to be minimized: the rows in float64, their labels and weights, and the penalty."""

    X: SparseOrDense
    labels: Array
    n_classes: int
    weight: Array
    """C times the weights of the rows and of their classes; without C where there is no penalty."""
    l1: float
    l2: float
    fit_intercept: bool
    constant: float
    """As in LIBLINEAR: the value of a last column that stands for the intercept, penalized as the others; or 0."""
    is_single: bool
    """Whether the rows came in float32, and so did the coefficients."""
    rough: float
    """Where above 0, the slope of the mean objective at which a fit may stop, however large the gap is."""

    def penalty(self, W: Array) -> float:
        """Return the penalty of these weights."""
        return self.l1 * float(np.abs(W).sum()) + 0.5 * self.l2 * float(np.sum(W**2))

    def steepest(self, gradient: Array, W: Array) -> float:
        """Return the largest slope of the mean objective along a weight; the least one of a weight of 0."""
        at_0 = np.maximum(np.abs(gradient) - self.l1, 0.0)
        slopes = np.where(W == 0.0, at_0, np.abs(gradient + self.l2 * W + self.l1 * np.sign(W)))
        return float(slopes.max(initial=0.0)) / float(self.weight.sum())


def _task_of(parameters: Seen, data: TrainingData) -> LogisticTask:
    """Return what the parameters and the data ask for."""
    l1, l2 = 0.0, 0.0
    if parameters.penalty is not None and not math.isinf(parameters.C):
        l1 = {"l1": 1.0, "l2": 0.0}.get(parameters.penalty, float(parameters.l1_ratio or 0.0))
        l2 = 1.0 - l1
    present = data.without_absent_classes()  # balance means nothing for labels that no row has
    weight = class_weights(parameters.class_weight, present)[present.y] * data.weights
    is_augmented = parameters.solver == "liblinear" and parameters.fit_intercept
    constant = float(parameters.intercept_scaling) if is_augmented else 0.0
    X = in_float64(data.X)
    if constant:
        column = np.full((X.shape[0], 1), constant)
        X = sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])
    weight = weight * parameters.C if l1 + l2 > 0.0 else weight
    is_free, is_single = bool(parameters.fit_intercept) and not constant, data.dtype == np.float32
    rough = float(parameters.tol) if parameters.tol > ROUGH_TOL else 0.0
    return LogisticTask(X, data.y, len(data.classes), weight, l1, l2, is_free, constant, is_single, rough)


def prove_logistic(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate: the gap, or without a penalty the gradient, of the attributes as they are stored."""
    task = _task_of(parameters, data)
    W, b = dense(fitted.coef_).T.astype(np.float64), fitted.intercept_.astype(np.float64)
    if task.constant:
        W, b = np.vstack([W, b / task.constant]), np.zeros_like(b)
    n_columns = 1 if task.n_classes == 2 else task.n_classes
    if W.shape != (task.X.shape[1], n_columns) or b.shape != (n_columns,):
        raise ValueError(f"coef_ and intercept_ must suit {task.n_classes} classes, got {fitted.coef_.shape}.")
    mean = np.asarray(task.weight @ task.X).ravel() / task.weight.sum() if task.fit_intercept else np.zeros(len(W))
    size, goal = float(np.abs(b).max()), min(parameters.tol, LARGEST_GAP)
    b = b + mean @ W if parameters.fit_intercept else np.zeros_like(b)  # one that should not be has its own claim
    if n_columns > 1:
        b = b - b.mean()  # the same for all classes changes nothing, but where means are large it costs digits
    if task.l1 + task.l2 > 0.0:
        certificate = _prove_gap(task, mean, W, b, fitted.dual_gap_, goal)
    else:
        certificate = _prove_gradient(task, mean, centered_times(task.X, mean, W) + b, goal)
    if parameters.fit_intercept:
        return certificate
    return certificate.with_claims(Claim("intercept", "size of intercept_: there is none", size, 0.0))


def _prove_gap(task: LogisticTask, mean: Array, W: Array, b: Array, reported: float, goal: float) -> Certificate:
    """Return the gap of the weights and the intercept of the centered rows, and whether ``reported`` is that gap."""
    X, weight, labels = task.X, task.weight, task.labels
    Z = centered_times(X, mean, W)
    objective = loss_of(Z + b, labels, weight) + task.penalty(W)
    R, G = _dual_point(task, mean, Z, b)
    dual, is_moved = _dual_value(task, R, G), False
    near, b_near, at_near = W, b, Z
    for _ in range(MOST_STEPS if task.is_single and np.count_nonzero(W) <= MOST_UNKNOWNS else 0):
        if not is_moved and objective - dual <= goal * objective:
            break
        near, b_near = _nearer(task, mean, near, b_near, residuals_of(at_near + b_near, labels))
        at_near = centered_times(X, mean, near)
        R_near, G_near = _dual_point(task, mean, at_near, b_near)
        if not (better := _dual_value(task, R_near, G_near)) > dual:
            break
        R, G, dual, is_moved = R_near, G_near, better, True
    gap = objective - dual
    worse = G + np.sign(G) * _rounding_of_sums(X, mean, R, weight)
    rounding = abs(dual - _dual_value(task, R, worse))  # what columns of large numbers add to a gap
    sums = min(8 * EPSILON * float(weight.sum()), goal * abs(objective))  # what the solver's sums lose near its labels
    how = "is less by this than" if is_moved else "differs by this from"
    off = max(gap - reported, 0.0) if is_moved else abs(gap - reported)  # moved, the dual point is nearly the best one
    allowed = REPRODUCED * abs(objective) + 0.01 * abs(gap) + rounding + sums
    reproduced = Claim("reported gap", f"dual_gap_ {how} the gap of coef_ and intercept_", off, allowed)
    certificate = gap_certificate(gap, objective, goal)
    if task.rough and not certificate.holds:
        certificate = _slope_certificate(task.steepest(G, W), gap / objective, task.rough)
    return certificate.with_claims(reproduced)


def _dual_point(task: LogisticTask, mean: Array, Z: Array, b: Array) -> tuple[Array, Array]:
    """Return residuals of logits near ``Z`` that the dual problem allows, and their products with the columns."""
    weight, labels = task.weight, task.labels
    R = _balanced(Z, b, labels, weight, task.n_classes) if task.fit_intercept else residuals_of(Z, labels)
    return R, transposed_centered_times(task.X, mean, R * weight[:, None])


def _nearer(task: LogisticTask, mean: Array, W: Array, b: Array, R: Array) -> tuple[Array, Array]:
    """Return one step of Newton's method, which moves the intercepts and the weights that are not 0."""
    columns, classes = np.nonzero(W)
    A = dense(task.X[:, columns]) - mean[columns]
    if task.fit_intercept:
        A = np.hstack([A, np.ones((len(A), W.shape[1]))])
        classes = np.concatenate([classes, np.arange(W.shape[1])])
    P = R.copy()
    if W.shape[1] == 1:
        P[:, 0] += task.labels
    else:
        P[np.arange(len(P)), task.labels] += 1.0
    own, root = P[:, classes], np.sqrt(task.weight)[:, None]
    H = (A * own * root).T @ (A * root) * (classes[:, None] == classes) - (A * own * root).T @ (A * own * root)
    slopes = np.sum(A * (R * task.weight[:, None])[:, classes], axis=0)
    n = len(columns)
    slopes[:n] += task.l1 * np.sign(W[W != 0.0]) + task.l2 * W[W != 0.0]
    H[np.arange(n), np.arange(n)] += task.l2
    scale = np.sqrt(np.maximum(np.diag(H), TINY))  # columns of all sizes become alike
    step = np.linalg.lstsq(H / np.outer(scale, scale), -slopes / scale, rcond=1e-13)[0] / scale
    near = W.copy()
    near[W != 0.0] += step[:n]
    return near, b + step[n:] if task.fit_intercept else b


def _rounding_of_sums(X: SparseOrDense, mean: Array, residual: Array, weight: Array) -> Array:
    """Return by how much rounding changes the sums ``A' diag(weight) residual``: columns of large numbers feel it."""
    size = np.sqrt(np.sum(weight[:, None] * residual**2, axis=0))
    return 8 * EPSILON * np.outer(np.sqrt(_sq_lengths(X, mean, weight)), size)


def _dual_value(task: LogisticTask, R: Array, G: Array) -> float:
    l1, l2, values = task.l1, task.l2, []
    if l2 > 0.0:
        excess = np.maximum(np.abs(G) - l1, 0.0)
        entropy = float(task.weight @ entropies_of(R, task.labels))
        values.append(entropy - float(np.sum(excess**2)) / (2.0 * l2))
    if l1 > 0.0:
        steepest = float(np.abs(G).max(initial=0.0))
        t = 1.0 if steepest <= l1 else l1 / steepest
        values.append(float(task.weight @ entropies_of(t * R, task.labels)))
    return float(np.max(values))


def gap_certificate(gap: float, objective: float, goal: float) -> Certificate:
    """Return the certificate of a model with a penalty; the gap to reach is a part of the objective, the goal.

    A gap below 0, by as much as it may be above, is an error of the lower bound.
    """
    bound, said = (goal + ROUNDING) * abs(objective), "the objective is at most this far above its minimum"
    remedy = "Raise max_iter, standardize X, or lower C; for no penalty use C=np.inf."
    claim = gap_claim("duality gap", said, objective, objective - gap, bound, rounding=bound, remedy=remedy)
    return Certificate("optimal", (claim,))


def _slope_certificate(steepest: float, relative_gap: float, tol: float) -> Certificate:
    """Return the certificate of a model that a large ``tol`` let stop where the objective hardly falls."""
    said = "largest slope of the mean objective along a weight, at most tol"
    claim = Claim("slope", said, steepest, tol * (1.0 + ROUNDING), "Raise max_iter, or standardize X.")
    reason = f"tol={tol:g} asks for no more: the objective is at most {100 * relative_gap:.3g} % above its minimum."
    return Certificate("stationary", (claim,), reason)


def entropies_of(R: Array, labels: Array) -> Array:
    """Return the entropy of each row's probabilities from ``P - Y``: one near 1 is known by what it lacks."""
    if R.shape[1] == 1:
        lacking, others = np.abs(R[:, 0]), np.abs(R)
    else:
        rows = np.arange(len(R))
        lacking, others = -R[rows, labels], R.copy()
        others[rows, labels] = 0.0
    lacking = np.clip(lacking, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(lacking < 1.0, -(1.0 - lacking) * np.log1p(-lacking), 0.0)
    return np.asarray(own + entr(np.clip(others, 0.0, 1.0)).sum(axis=1))


def _balanced(Z: Array, b: Array, labels: Array, weight: Array, n_classes: int) -> Array:
    """Return residuals ``P - Y`` for logits ``Z`` that sum to 0 over the rows, in every class."""
    R = residuals_of(Z + b, labels)
    for _ in range(MOST_MOVES):
        wrong, mass = weight @ R, float(weight @ np.abs(R).sum(axis=1))
        if np.abs(wrong).max() <= BALANCED * mass:
            break
        step = np.linalg.lstsq(curvature_of(R, labels, weight), -wrong, rcond=1e-14)[0]
        step = step * min(1.0, LONGEST_MOVE / max(float(np.abs(step).max()), TINY))
        for part in 0.25 ** np.arange(10):
            moved = residuals_of(Z + b + part * step, labels)
            if np.abs(weight @ moved).max() < np.abs(wrong).max():
                break
        else:  # all that is left is rounding
            break
        b, R = b + part * step, moved
    weights = np.bincount(labels, weights=weight, minlength=n_classes)
    flows = np.zeros((n_classes, n_classes))
    if R.shape[1] == 1:
        flows[0, 1] = weight @ np.where(labels == 0, R[:, 0], 0.0)
        flows[1, 0] = weight @ np.where(labels == 1, -R[:, 0], 0.0)
    else:
        R[:, weights == 0.0] = 0.0  # nobody may go where nobody comes from
        R[np.arange(len(R)), labels] = 0.0
        np.add.at(flows, labels, weight[:, None] * R)
        R[np.arange(len(R)), labels] = -R.sum(axis=1)
    present = np.flatnonzero(weights > 0.0)
    scales = np.ones(n_classes)
    scales[present] = stationary(flows[np.ix_(present, present)])
    return R * scales[labels][:, None]


def stationary(rates: Array) -> Array:
    """Return the stationary distribution of a Markov chain, its largest entry 1, without a single subtraction.

    States are left out one by one, the last first, and their flows are passed on (Grassmann, Taksar and Heyman).
    """
    rates, n = rates.copy(), len(rates)
    for k in range(n - 1, 0, -1):
        rates[:k, k] /= max(float(rates[k, :k].sum()), TINY)
        rates[:k, :k] += np.outer(rates[:k, k], rates[k, :k])
    found = np.ones(n)
    for k in range(1, n):
        found[k] = found[:k] @ rates[:k, k]
    return found / found.max(initial=TINY)


def curvature_of(R: Array, labels: Array, weight: Array) -> Array:
    """Return the second derivative of the loss by the intercept: rows of what is small, summed to 0."""
    if R.shape[1] == 1:
        return np.array([[weight @ (np.abs(R[:, 0]) * (1.0 - np.abs(R[:, 0])))]])
    P = R.copy()
    P[np.arange(len(P)), labels] += 1.0
    M = -(P * weight[:, None]).T @ P
    np.fill_diagonal(M, 0.0)
    np.fill_diagonal(M, -M.sum(axis=1))
    return M


def _prove_gradient(task: LogisticTask, mean: Array, logits: Array, goal: float) -> Certificate:
    X, residual, weight = task.X, residuals_of(logits, task.labels), task.weight
    size = float(np.sqrt(np.sum(weight[:, None] * residual**2)))
    weighted = weight[:, None] * residual
    slopes = np.abs(transposed_centered_times(X, mean, weighted))
    lengths = np.sqrt(_sq_lengths(X, mean, weight))
    largest = np.max(slopes / np.where(lengths > 0.0, lengths, np.inf)[:, None], initial=0.0)
    if task.fit_intercept:
        largest = np.maximum(largest, np.abs(weighted.sum(axis=0)).max() / np.sqrt(weight.sum()))
    gradient = float(largest) / max(size, TINY)
    is_separable = separable(X, task.labels, weight, logits, task.fit_intercept)
    return gradient_certificate(gradient, is_separable, goal)


def gradient_certificate(gradient: float, is_separable: bool, goal: float) -> Certificate:
    """Return the certificate of a model without a penalty."""
    bound, said = np.inf if is_separable else goal + ROUNDING, "largest correlation of a column with the residual"
    grows = "1 if a hyperplane separates classes, so that the coefficients would grow for ever"
    remedy = "The classes can be separated: no finite coefficients are best. Use a penalty (a finite C)."
    claims = (
        Claim("gradient", said, gradient, bound, "Raise max_iter, or standardize X."),
        Claim("separation", grows, float(is_separable), 0.0, remedy),
    )
    return Certificate("stationary", claims)


def separable(X: SparseOrDense, labels: Array, weight: Array, logits: Array, fit_intercept: bool) -> bool:
    r"""Return whether some :math:`D` raises no margin below 0 and one above: then the loss has no minimum.

    A linear program decides, :math:`\max \sum m` over margins :math:`0 \le m_{ik} = (x_i'D)_{y_i} - (x_i'D)_k \le 1`.
    """
    used = weight > 0.0
    rows, labels = sparse.csr_array(X)[np.flatnonzero(used)], labels[used]
    if fit_intercept:
        rows = sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    margins = _margin_rows(rows, labels, logits.shape[1])
    if margins.nnz > LARGEST_PROGRAM:
        full = np.column_stack([np.zeros(len(logits)), logits]) if logits.shape[1] == 1 else logits
        return bool(np.all(least_margins(full[used], labels) > 0.0))
    m = margins.shape[0]
    scale = np.abs(margins).max(axis=1).toarray().ravel()
    margins = sparse.diags_array(1.0 / np.where(scale > 0.0, scale, 1.0)) @ margins
    both = sparse.vstack([margins, -margins])
    limits = np.concatenate([np.ones(m), np.zeros(m)])
    answer = optimize.linprog(
        -np.asarray(margins.sum(axis=0)).ravel(), both, limits, bounds=(None, None), method="highs"
    )
    return bool(answer.status == 3 or (answer.status == 0 and -answer.fun > 1e-6))


def _margin_rows(rows: SparseOrDense, labels: Array, n_columns: int) -> Any:
    """Return the matrix that maps the coefficients of all classes, one after the other, to the margins."""
    if n_columns == 1:
        return sparse.diags_array(np.where(labels == 1, 1.0, -1.0)) @ rows
    blocks = []
    for own in range(n_columns):
        mine = rows[np.flatnonzero(labels == own)]
        for other in (k for k in range(n_columns) if k != own and mine.shape[0]):
            pattern = np.zeros((1, n_columns))
            pattern[0, own], pattern[0, other] = 1.0, -1.0
            blocks.append(sparse.kron(pattern, mine, format="csr"))
    return sparse.vstack(blocks, format="csr")


def least_margins(logits: Array, labels: Array) -> Array:
    """Return by how much the logit of each row's own class exceeds the largest other."""
    rows, others = np.arange(len(logits)), logits.copy()
    others[rows, labels] = -np.inf
    return logits[rows, labels] - others.max(axis=1)


def loss_of(logits: Array, labels: Array, weight: Array) -> float:
    """Return the weighted sum of the losses; small ones keep all their digits."""
    if logits.shape[1] == 1:
        return -float(weight @ log_expit(np.where(labels == 1, logits[:, 0], -logits[:, 0])))
    ahead = _ahead(logits, labels)
    most = np.maximum(ahead.max(axis=1), 0.0)
    others = np.exp(ahead - most[:, None]).sum(axis=1)
    return float(weight @ np.where(most > 0.0, most + np.log(np.exp(-most) + others), np.log1p(others)))


def residuals_of(logits: Array, labels: Array) -> Array:
    """Return probabilities less labels; small ones keep all their digits."""
    if logits.shape[1] == 1:
        z = logits[:, 0]
        return np.where(labels == 1, -expit(-z), expit(z))[:, None]
    ahead = _ahead(logits, labels)
    most = np.maximum(ahead.max(axis=1), 0.0)[:, None]
    R = np.exp(ahead - most)
    R /= np.exp(-most) + R.sum(axis=1, keepdims=True)
    R[np.arange(len(R)), labels] = -R.sum(axis=1)
    return R


def _ahead(logits: Array, labels: Array) -> Array:
    """Return how far the logits of the other classes are ahead of a row's own; of that itself, minus infinity."""
    rows = np.arange(len(logits))
    ahead = logits - logits[rows, labels][:, None]
    ahead[rows, labels] = -np.inf
    return ahead


def _sq_lengths(X: SparseOrDense, mean: Array, weight: Array) -> Array:
    if sparse.issparse(X):
        return np.maximum(X.multiply(X).T @ weight - weight.sum() * mean**2, 0.0)
    return weight @ (X - mean) ** 2


PROVES = {"LogisticRegression": prove_logistic}
