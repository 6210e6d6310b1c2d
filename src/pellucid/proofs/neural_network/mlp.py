"""What can be said of a fitted MLP: recomputed from its layers and the data in float64, by formulas of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import class_columns
from pellucid.proofs.rounding import EPSILON, rounding_unit, sum_error
from pellucid.proofs.sampling import draws
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData, digest

MOST_ROWS = 200
"""Training rows that the stored objective and gradient are about, which are always the same."""

FEW_ROWS = 32
"""Rows on which slopes are compared with differences."""

CHECKED_WEIGHTS = 2
"""Weights of each matrix whose slope is compared with differences."""

SCORE_CHANGE = 1e-6
"""How far, on average, a step of a difference moves the scores: small against 1, large against rounding."""

INPUT_CHANGE = 1e-4
"""How far it moves the inputs of a unit at most: one that is saturated must stay so."""

REFIT = "Fit the model again."

REASON = (
    "The loss of a network has many minima: nothing is said about the best one. That these layers are what the "
    "training led to is not proved either: objective, gradient and checksum are compared with what the model itself "
    "carries, which finds damage, but nobody who changes both."
)


def prove_mlp(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Recompute objective, gradient and the score that early stopping went by."""
    pieces = parameters.pieces if parameters.activation == "maxout" else 1
    coefs = [np.asarray(W, dtype=np.float64) for W in fitted.coefs_]
    intercepts = [np.asarray(b, dtype=np.float64) for b in fitted.intercepts_]
    network = PlainNetwork(coefs, intercepts, parameters.activation, pieces, fitted.out_activation_)
    Y = data.y.reshape(len(data.y), -1).astype(np.float64)
    shape = _shape_claim(fitted, parameters, data, pieces, Y.shape[1])
    if not shape.holds:
        return Certificate("none", (shape,), REASON)
    measured = MeasuredLayers(network, parameters.alpha, *_some(data, Y))
    claims = [shape, _checksum_claim(fitted), *measured.claims(fitted)]
    if getattr(fitted, "validation_rows_", None) is not None:
        claims.append(_best_epoch(fitted, network, data, Y))
    return Certificate("none", tuple(claims), REASON)


def _shape_claim(fitted: Seen, parameters: Seen, data: TrainingData, pieces: int, outputs: int) -> Claim:
    """Return the claim that the layers fit the parameters, the data and each other."""
    sizes = parameters.hidden_layer_sizes
    hidden = [int(size) for size in (sizes if np.iterable(sizes) else [sizes])]
    into = [data.X.shape[1], *hidden]
    out = [*(size * pieces for size in hidden), outputs]
    wanted = [*zip(into, out, strict=True)]
    is_right = (
        [W.shape for W in fitted.coefs_] == wanted
        and [b.shape for b in fitted.intercepts_] == [(width,) for width in out]
        and fitted.n_layers_ == len(hidden) + 2
        and fitted.n_outputs_ == outputs
        and fitted.out_activation_ in _possible_outputs(parameters, data, outputs)
        and np.array_equal(getattr(fitted, "classes_", data.classes), data.classes)
    )
    return Claim("layers", "1 if the layers do not fit the parameters and the data", 1.0 - is_right, 0.0, REFIT)


def _checksum_claim(fitted: Seen) -> Claim:
    is_right = fitted.weights_digest_ == digest((*fitted.coefs_, *fitted.intercepts_))
    statement = "1 if the layers are not those of the checksum that the model carries"
    return Claim("checksum", statement, 1.0 - is_right, 0.0, REFIT)


def _possible_outputs(parameters: Seen, data: TrainingData, outputs: int) -> set[str]:
    if not len(data.classes):
        return {"exp"} if parameters.loss == "poisson" else {"identity"}
    several_labels = np.ndim(data.given[1]) == 2 and np.shape(data.given[1])[1] > 1
    return {"logistic"} if outputs == 1 or several_labels else {"softmax"}


def _some(data: TrainingData, Y: Array) -> tuple[Array, Array, Array]:
    """Return the rows that objective and gradient are about, with their weights."""
    places = np.sort(np.random.default_rng(0).permutation(len(Y))[:MOST_ROWS])  # the same at every fit
    X = data.X.tocsr()[places].toarray() if sparse.issparse(data.X) else data.X[places]
    X = X.read() if hasattr(X, "read") else X  # rows in blocks
    return np.asarray(X, dtype=np.float64), Y[places], data.weights[places]


class Slopes(NamedTuple):
    """Objective and gradient, layer by layer, each with what rounding may have done to it."""

    objective: float
    objective_error: float
    gradient: list[tuple[Array, Array]]
    gradient_error: list[tuple[Array, Array]]


@dataclass(frozen=True)
class MeasuredLayers:
    """Objective and gradient on some rows, each with what rounding may have done to it."""

    network: PlainNetwork
    alpha: float
    X: Array
    Y: Array
    weight: Array

    def claims(self, fitted: Seen) -> tuple[Claim, ...]:
        """Return what the stored numbers claim."""
        found = self.measure()
        about = f"difference to the objective that the model carries, of {len(self.X)} training rows"
        size = f"difference to the size of its gradient that the model carries, {fitted.gradient_norm_:.3g}"
        norm, norm_error = _norm(found.gradient), _norm(found.gradient_error)
        few = replace(self, X=self.X[:FEW_ROWS], Y=self.Y[:FEW_ROWS], weight=self.weight[:FEW_ROWS])
        return (
            Claim("objective", about, abs(found.objective - fitted.objective_), found.objective_error, REFIT),
            Claim("gradient", size, abs(norm - fitted.gradient_norm_), norm_error, REFIT),
            few.against_differences(),
        )

    def measure(self) -> Slopes:
        """Return objective and gradient, each with what rounding may have done to it."""
        total, unit = self.weight.sum(), self._unit()
        passed = self.network.up(self.X)
        scores = passed[0][-1]
        answers = self.network.answers(scores)
        delta = (answers - self.Y) * self.weight[:, None]
        score_error = self.network.score_error(passed, unit) + unit
        slack = np.abs(answers - self.Y) + score_error * np.maximum(1.0, np.abs(answers))
        penalty = sum(float(np.square(W).sum()) for W in self.network.coefs) * self.alpha / 2
        objective = (float(self.weight @ self.network.losses(scores, self.Y)) + penalty) / total
        objective_error = float(self.weight @ (score_error * (slack + 1)).sum(axis=1)) / total + unit * abs(objective)
        gradient = self._full(self.network.gradient(passed, delta), self.network.coefs)
        slopes = np.maximum(1.0, np.abs(answers)) if self.network.out_activation == "exp" else 1.0
        error = (score_error * slopes + 2 * unit * np.abs(answers - self.Y) + unit) * self.weight[:, None]
        penalties = [unit * np.abs(W) for W in self.network.coefs]
        rounded = self._full(self.network.gradient(passed, error, sizes=True), penalties)
        return Slopes(objective, objective_error, gradient, rounded)

    def _unit(self) -> float:
        """Return the relative error of a score: that of a sum as long as all layers are wide together."""
        return sum_error(sum(len(W) for W in self.network.coefs)) * len(self.network.coefs)

    def _full(self, gradient: list[tuple[Array, Array]], penalized: list[Any]) -> list[tuple[Array, Array]]:
        """Return the gradient of the objective: mean loss and penalty."""
        pairs, total = zip(gradient, penalized, strict=True), self.weight.sum()
        return [((dW + self.alpha * W) / total, db / total) for (dW, db), W in pairs]

    def against_differences(self) -> Claim:
        """Return the claim that slopes by backpropagation are those of the objective, for a few weights of each layer.

        Curvature changes a slope by a small part of all that is added up; a step that crosses a kink says nothing.
        """
        found, total, worst, random = self.measure(), self.weight.sum(), 0.0, draws()
        passed = self.network.up(self.X)
        sensitivity = self.network.gradient(passed, np.ones_like(self.Y), sizes=True)
        for k, W in enumerate(self.network.coefs):
            for place in random.integers(W.size, size=CHECKED_WEIGHTS):
                at = np.unravel_index(place, W.shape)
                reach = float(sensitivity[k][0][at])  # how far the scores of all rows move with this weight
                largest = float(np.abs(passed[1][k][:, at[0]]).max())
                step = min(SCORE_CHANGE * len(self.X) / max(reach, SCORE_CHANGE), INPUT_CHANGE / max(largest, 1.0))
                difference = self._difference(passed[1][k], k, at, step)
                if difference is None:
                    continue
                error = abs(difference - float(found.gradient[k][0][at]))
                bound = (1e-3 * (reach + self.alpha * step)) / total + 2 * found.objective_error / step
                worst = error / bound if not error / bound < worst else worst  # also where it is not a number
        statement = "error of a sampled weight's slope, seen by differences, in units of what their step explains"
        return Claim("backward pass", statement, worst, 1.0, REFIT)

    def _difference(self, below: Array, layer: int, at: Any, step: float) -> float | None:
        """Return the central difference of the objective in one weight; None if a kink lies in between."""
        values, sides = [], []
        for sign in (1.0, -1.0):
            W = self.network.coefs[layer].copy()
            W[at] += sign * step
            network = replace(self.network, coefs=[*self.network.coefs[:layer], W, *self.network.coefs[layer + 1 :]])
            inputs = network.up(below, layer)[0]
            loss = float(self.weight @ network.losses(inputs[-1], self.Y))
            values.append((loss + self.alpha / 2 * float(W[at]) ** 2) / self.weight.sum())
            sides.append(network.sides(inputs[:-1]))
        if not all(map(np.array_equal, *sides)):
            return None
        return (values[0] - values[1]) / (2 * step)


def _norm(gradient: list[tuple[Array, Array]]) -> float:
    return float(np.sqrt(sum(float(np.square(part).sum()) for pair in gradient for part in pair)))


def _best_epoch(fitted: Seen, network: PlainNetwork, data: TrainingData, Y: Array) -> Claim:
    """Return the claim that the stored layers are those of the epoch with the best score on the rows held out."""
    places = data.places(np.asarray(fitted.validation_rows_))
    X = data.X.tocsr()[places].toarray() if sparse.issparse(data.X) else data.X[places]
    X, Y, weight = np.asarray(X, dtype=np.float64), Y[places], data.weights[places]
    passed = network.up(X)
    scores = passed[0][-1]
    doubt = network.score_error(passed, rounding_unit(data.X.dtype) * len(network.coefs)) + EPSILON
    score, slack = (_accuracy if len(data.classes) else _r2)(network, scores, Y, weight, doubt)
    best = max((score for score in fitted.validation_scores_ if np.isfinite(score)), default=-np.inf)
    stored = fitted.best_validation_score_
    difference = abs(score - stored) + (stored != best)
    return Claim(
        "best epoch", "difference of the stored layers' score held out to the best epoch's", difference, slack, REFIT
    )


def _accuracy(network: PlainNetwork, scores: Array, Y: Array, weight: Array, doubt: Array) -> tuple[float, float]:
    """Return the share of rows whose labels are all right, and of those that rounding may have decided."""
    if network.out_activation == "softmax":
        right = scores.argmax(axis=1) == Y.argmax(axis=1)
        top = np.sort(scores, axis=1)[:, -2:]
        open_rows = top[:, 1] - top[:, 0] <= 2 * doubt.max(axis=1)
    else:
        right = ((scores > 0) == (Y > 0)).all(axis=1)
        open_rows = (np.abs(scores) <= doubt).any(axis=1)
    total = weight.sum()
    return float(weight @ right / total), float(weight @ open_rows / total) + 1e-12


def _r2(network: PlainNetwork, scores: Array, Y: Array, weight: Array, doubt: Array) -> tuple[float, float]:
    """Return the mean share of variance explained, and what rounding may have done to it."""
    answers = network.answers(scores)
    share = weight[:, None] / weight.sum()
    residual = (share * (answers - Y) ** 2).sum(axis=0)
    spread = (share * (Y - (share * Y).sum(axis=0)) ** 2).sum(axis=0)
    slope = np.maximum(1.0, np.abs(answers)) if network.out_activation == "exp" else 1.0
    error = (share * 2 * np.abs(answers - Y) * doubt * slope).sum(axis=0)
    varies = spread > 0  # a constant target is explained wholly or not at all
    explained = np.where(varies, 1 - residual / np.where(varies, spread, 1.0), residual == 0)
    return float(explained.mean()), float((error / np.where(varies, spread, np.inf)).mean()) + 1e-9


PROVES = {"MLPClassifier": prove_mlp, "MLPRegressor": prove_mlp}
SEES = {"MLPClassifier": class_columns}


SLOPES = {
    "identity": lambda z: np.ones_like(z),
    "logistic": lambda z: special.expit(z) * special.expit(-z),
    "tanh": lambda z: 1 - np.tanh(z) ** 2,
    "relu": lambda z: (z > 0) * 1.0,
    "leaky_relu": lambda z: np.where(z > 0, 1.0, 0.01),
    "elu": lambda z: np.where(z > 0, 1.0, np.exp(np.minimum(z, 0))),
    "gelu": lambda z: special.ndtr(z) + z * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi),
}
VALUES = {
    "identity": lambda z: z,
    "logistic": special.expit,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "leaky_relu": lambda z: np.maximum(z, 0.01 * z),
    "elu": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
    "gelu": lambda z: z * special.ndtr(z),
}

SATURATING = ("logistic", "sigmoid", "tanh")
"""Activations that are steepest at 0 and flat far away."""

STEEPEST = 1.13
"""No slope of the others is larger."""


@dataclass(frozen=True)
class PlainNetwork:
    """Dense layers as a page of the lecture has them."""

    coefs: list[Array]
    intercepts: list[Array]
    activation: str
    pieces: int
    out_activation: str

    def up(self, X: Array, first: int = 0) -> tuple[list[Array], list[Array]]:
        """Return the inputs of each layer's activation, and what each layer gets from below, ``X`` the first one."""
        inputs, below = [], [X]
        for k in range(first, len(self.coefs)):
            inputs.append(below[-1] @ self.coefs[k] + self.intercepts[k])
            if k < len(self.coefs) - 1:
                below.append(self._value(inputs[-1]))
        return inputs, below

    def score_error(self, passed: tuple[list[Array], list[Array]], unit: float) -> Array:
        """Return what rounding may have done to each score, if it does ``unit`` to each number that is added up."""
        error = np.zeros_like(passed[1][0])
        for k, (Z, H, W, b) in enumerate(zip(*passed, self.coefs, self.intercepts, strict=True)):
            error = error @ np.abs(W) + unit * (np.abs(H) @ np.abs(W) + np.abs(b))
            if k < len(self.coefs) - 1:
                error = self._error_through(Z, error)
        return error

    def answers(self, scores: Array) -> Array:
        """Return probabilities, or numbers."""
        if self.out_activation == "softmax":
            return np.asarray(special.softmax(scores, axis=1))
        kinds = {"logistic": special.expit, "identity": lambda z: z, "exp": np.exp}
        return np.asarray(kinds[self.out_activation](scores))

    def losses(self, scores: Array, Y: Array) -> Array:
        """Return the loss of each row."""
        if self.out_activation == "softmax":
            return np.asarray(special.logsumexp(scores, axis=1) - (Y * scores).sum(axis=1))
        if self.out_activation == "logistic":
            return np.asarray(-(Y * special.log_expit(scores) + (1 - Y) * special.log_expit(-scores)).sum(axis=1))
        if self.out_activation == "identity":
            return np.asarray(((scores - Y) ** 2).sum(axis=1) / 2)
        return np.asarray((np.exp(scores) - Y - special.xlogy(Y, np.exp(scores)) + special.xlogy(Y, Y)).sum(axis=1))

    def gradient(
        self, passed: tuple[list[Array], list[Array]], delta: Array, *, sizes: bool = False
    ) -> list[tuple[Array, Array]]:
        """Return the gradient of each layer, given what ``up`` returned and the gradient of the scores.

        With ``sizes``, return instead sums of the sizes of what is added up.
        """
        inputs, below = passed
        absolute = np.abs if sizes else lambda numbers: numbers
        found = []
        for k in range(len(self.coefs) - 1, -1, -1):
            found.append((absolute(below[k]).T @ delta, delta.sum(axis=0)))
            if k:
                delta = self._through(inputs[k - 1], delta @ absolute(self.coefs[k]).T, absolute)
        return found[::-1]

    def sides(self, inputs: list[Array]) -> list[Array]:
        """Return on which side of its kink each hidden unit is; smooth ones have no sides."""
        if self.activation == "maxout":
            return [Z.reshape(len(Z), -1, self.pieces).argmax(axis=2) for Z in inputs]
        return [Z > 0 for Z in inputs] if self.activation in ("relu", "leaky_relu") else []

    def _value(self, Z: Array) -> Array:
        if self.activation == "maxout":
            return np.asarray(Z.reshape(len(Z), -1, self.pieces).max(axis=2))
        return np.asarray(VALUES[_known(self.activation)](Z))

    def _error_through(self, Z: Array, error: Array) -> Array:
        """Return the error of the values, given that of their inputs: a saturated unit hides most of it."""
        if self.activation == "maxout":
            return np.asarray(error.reshape(len(Z), -1, self.pieces).max(axis=2))
        slope = SLOPES[_known(self.activation)] if self.activation in SATURATING else lambda _: STEEPEST
        return np.asarray(error * slope(np.maximum(np.abs(Z) - error, 0)))

    def _through(self, Z: Array, delta: Array, absolute: Any) -> Array:
        if self.activation != "maxout":
            return np.asarray(delta * absolute(SLOPES[_known(self.activation)](Z)))
        pieces = Z.reshape(len(Z), -1, self.pieces)
        is_first_largest = np.arange(self.pieces) == pieces.argmax(axis=2)[:, :, None]
        return np.asarray((delta[:, :, None] * is_first_largest).reshape(Z.shape))


def _known(name: str) -> str:
    return "logistic" if name == "sigmoid" else name
