r"""Proof of a kernel perceptron: whole mistakes, and no more than the margin of its own weights allows.

With updates of weight :math:`s_t` the weights are :math:`w = \sum_i a_i y_i \varphi(x_i)`, and

.. math:: \|w\|^2 = a'Ka \le R^2\sum s_t^2,\qquad \gamma\sum s_t \le \|w\|,\qquad
   \gamma = \min_i \frac{y_i f(x_i)}{\|w\|},\qquad R^2 = \max_i k(x_i, x_i),

so :math:`(\sum s_t)^2 / \sum s_t^2 \le (R/\gamma)^2`. Because the witness is w itself, this holds as well for kernels
that are no inner products, such as 'sigmoid', as long as :math:`a'Ka > 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.linear_classifier import machine_signs
from pellucid.kernels.choice import gamma_from, kernel_from
from pellucid.kernels.choice import is_given as given_by
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.linear_model.perceptron import repeated_weight
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class KernelMistakes:
    """What the proof may see of a model; ``rows`` are the support vectors, or their columns of given products."""

    dual: Array
    support: Array
    rows: Any
    intercept: Array
    n_mistakes: int
    fit_intercept: bool


def prove_kernel_perceptron(
    fitted: Any, parameters: Any, data: TrainingData, together: Array | None = None
) -> Certificate:
    """Return the certificate; ``together`` is the weight of each row with all rows equal to it, if it is known."""
    if together is None:
        by_content = parameters.shuffle and not is_given(parameters)
        together = repeated_weight(data.X, data.y, data.weights) if by_content else data.weights
    place = data.places(fitted.support_) if fitted.support_.max(initial=-1) < data.n_given else fitted.support_
    model = KernelMistakes(
        dual=fitted.dual_coef_,
        support=place,
        rows=place if is_given(parameters) else fitted.support_vectors_,
        intercept=fitted.intercept_,
        n_mistakes=fitted.n_mistakes_,
        fit_intercept=parameters.fit_intercept,
    )
    kernel = products(parameters, fitted.gamma_, with_constant=parameters.fit_intercept)
    gamma = kernel_factor(parameters, data)
    claims = [
        Claim(
            "gamma",
            "relative distance of gamma_ from what the parameters mean",
            abs(fitted.gamma_ - gamma) / (gamma or 1.0),
            1e-9,
        )
    ]
    signs = machine_signs(data.y, len(data.classes))
    certificate = prove_kernel_mistakes(kernel, data.X, signs, data.weights, together, model)
    if not is_given(parameters) and not certificate.failed:
        stored = np.asarray(_dense(fitted.support_vectors_) != _dense(data.X[place])).any(axis=1)
        claims.append(Claim("support vectors", "rows that differ from the training rows", float(stored.sum()), 0.0))
    return certificate.with_claims(*claims)


def is_given(parameters: Any) -> bool:
    """Return whether ``X`` holds products instead of rows."""
    return given_by(parameters.kernel)


def products(parameters: Any, gamma: float, *, with_constant: bool = False) -> Kernel:
    """Return the kernel of the parameters, with the constant of an intercept if asked."""
    kernel = kernel_from(parameters.kernel, gamma=gamma, degree=parameters.degree, coef0=float(parameters.coef0))
    return kernel + 1 if with_constant else kernel


def kernel_factor(parameters: Any, data: TrainingData) -> float:
    """Return the number that ``gamma`` means for these data."""
    return 1.0 / data.X.shape[1] if is_given(parameters) else gamma_from(parameters.gamma, data.X, data.weights)


def _dense(X: Any) -> Array:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def prove_kernel_mistakes(
    kernel: Kernel, X: Any, signs: Array, weight: Array, shown: Array, model: KernelMistakes
) -> Certificate:
    """Return the certificate; ``kernel`` has the constant of the intercept, ``shown`` is what each row weighed."""
    if model.support.max(initial=-1) >= X.shape[0]:
        claim = Claim("whole mistakes", "the model belongs to other data", np.inf, 0.0)
        return Certificate("none", (claim,), "support_ names rows that are not there.")
    own = signs[:, model.support]
    counts = model.dual * own / shown[model.support]
    claims = (_whole(counts, model, X.shape[0]), _constant(model))
    scores = kernel.times(X, model.rows, model.dual.T).T
    wrong = np.sum((signs * scores <= 0.0) & (weight > 0.0), axis=1)
    if wrong.any():
        many = f" in {int(np.sum(wrong > 0))} of {len(signs)} machines" if len(signs) > 1 else ""
        reason = f"{int(wrong.sum())} rows are still on the wrong side{many}, so no margin bounds the mistakes."
        return Certificate("none", claims, reason)
    radius = float(np.max(kernel.diagonal(X)[weight > 0.0]))
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
    size = np.abs(model.dual).sum(axis=1) + np.finfo(float).tiny
    error = float(np.max(np.abs(wanted - model.intercept) / size))
    statement = "part by which intercept_ differs from the sum of dual_coef_"
    return Claim("intercept", statement, error, sum_error(model.dual.shape[1]))
