"""The coefficients of lasso and ridge against the weight of their penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import BarsLayer, Layer, PointsLayer, PolylineLayer, SegmentsLayer, TextLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import Report, shown_not_warned
from pellucid.app.playing.telling import told_columns, worst_claims
from pellucid.app.playing.views.scene import axes_around
from pellucid.core.kinds.plain import Whole
from pellucid.core.types import Array

FOLDS = 5
ROOM_FOR_NAMES = 0.3
"""To the right of the last coefficients, as a share of the path."""
ROUNDING = 1e-9
EXTENT = 1e-3
"""The smallest weight of the lasso, as a share of that at which all coefficients are 0."""


def lasso_weights(X: Array, y: Array, count: int) -> Array:
    """Return weights from that at which the last coefficient leaves 0, falling evenly on a log scale."""
    most = float(np.abs(X.T @ (y - y.mean())).max()) / len(y)
    most *= 1.0 + ROUNDING
    return np.geomspace(most, EXTENT * most, count)


def ridge_weights(X: Array, _y: Array, count: int) -> Array:
    """Return weights from ten times the largest squared singular value to a hundredth of the smallest."""
    values = np.linalg.svd(X, compute_uv=False) ** 2
    smallest = max(float(values.min()), 1e-9 * float(values.max()))
    return np.geomspace(10.0 * float(values.max()), 0.01 * smallest, count)


def perform_lasso_path(data: GivenData, report: Report | None = None, *, n_alphas: int = 60) -> Performance:
    """Fit a lasso for each of several weights of the penalty.

    Parameters
    ----------
    n_alphas : int, default=60
        Number of weights, from that at which all coefficients are 0 to a thousandth of it.
    """
    from pellucid.linear_model import Lasso

    return _perform(data, report, Lasso, lasso_weights, n_alphas)


def perform_ridge_path(data: GivenData, report: Report | None = None, *, n_alphas: int = 60) -> Performance:
    """Fit a ridge regression for each of several weights of the penalty.

    Parameters
    ----------
    n_alphas : int, default=60
        Number of weights, from ten times the largest squared singular value down.
    """
    from pellucid.linear_model import Ridge

    return _perform(data, report, Ridge, ridge_weights, n_alphas)


def _perform(data: GivenData, report: Report | None, kind: Any, weights: Any, count: int) -> Performance:
    X = StandardScaler().fit_transform(np.asarray(data.X, dtype=float))
    y = np.asarray(data.y, dtype=float)
    alphas = weights(X, y, count)
    models = []
    with shown_not_warned():
        for k, alpha in enumerate(alphas):
            models.append(kind(alpha=float(alpha)).fit(X, y))
            if report is not None:
                report(k + 1, f"alpha = {alpha:.3g}", 0.0)
        folds = _fold_errors(kind, alphas, X, y)
    coefs = np.array([model.coef_ for model in models])
    x, names = -np.log10(alphas), list(data.names)
    errors = [float(np.mean((y - model.predict(X)) ** 2)) for model in models]
    nonzero = (coefs != 0).sum(axis=1)
    best = int(np.argmin(folds))
    trace = told_columns(
        {
            "iteration": np.arange(1, count + 1),
            "alpha": alphas,
            "training error": errors,
            "error of folds": folds,
            "not zero": nonzero,
        }
    )
    frames = tuple(
        Frame(f"alpha = {alpha:.3g}, {n} of {len(names)} columns", _layers(x[k], coefs[k], names, coefs), k)
        for k, (alpha, n) in enumerate(zip(alphas, nonzero, strict=True))
    )
    rest = Recording(
        title=f"{kind.__name__} path on {data.name}",
        method=kind.__name__,
        parameters={"alpha": f"{alphas[-1]:.3g} to {alphas[0]:.3g}"},
        python=_python(kind, data, alphas),
        data={"name": data.name, "columns": names, "rows": len(y), "classes": None},
        axes=axes_around(
            np.array([[x[0], coefs.min()], [x[-1] + ROOM_FOR_NAMES * (x[-1] - x[0]), 1.08 * coefs.max()]]),
            ["minus log10 of alpha: less penalty to the right", "coefficient of a standardized column"],
        ),
        layers=(
            *(PolylineLayer(x, coefs[:, j], j, label=names[j]) for j in range(len(names))),
            SegmentsLayer([x[best]], [coefs.min()], [x[best]], [coefs.max()], dash=True),
            TextLayer(float(x[best]), float(1.08 * coefs.max()), "least error of folds"),
        ),
        frames=frames,
        trace=trace,
        certificate=worst_claims([model.certificate_ for model in models]),
    )
    return Performance(rest)


def _layers(place: float, coefs: Array, names: list[str], every: Array) -> tuple[Layer, ...]:
    order = np.arange(len(coefs))
    line = SegmentsLayer([place], [every.min()], [place], [every.max()])
    marks = PointsLayer(np.full(len(order), place), coefs, order)
    return line, marks, BarsLayer(names, coefs, order, title="coefficients")


def _fold_errors(kind: Any, alphas: Array, X: Array, y: Array) -> Array:
    """Return the mean squared error of rows that were left out, for each weight."""
    squares = np.zeros((len(alphas), len(y)))
    for learn, left in KFold(min(FOLDS, len(y)), shuffle=True, random_state=0).split(X):
        for k, alpha in enumerate(alphas):
            squares[k, left] = (y[left] - kind(alpha=float(alpha)).fit(X[learn], y[learn]).predict(X[left])) ** 2
    return np.asarray(squares.mean(axis=1))


def _python(kind: Any, data: GivenData, alphas: Array) -> str:
    first, last = float(alphas[0]), float(alphas[-1])
    return (
        "import numpy as np\nfrom sklearn.preprocessing import StandardScaler\n\n"
        f"from pellucid.app.playing import read_data\nfrom pellucid.linear_model import {kind.__name__}\n\n"
        f"{data.loading}\nX = StandardScaler().fit_transform(data.X)\n"
        f"for alpha in np.geomspace({first!r}, {last!r}, {len(alphas)}):\n"
        f"    model = {kind.__name__}(alpha=alpha).fit(X, data.y)\n    print(alpha, model.coef_)\n"
        "print(model.certificate_)\n"
    )


COUNT = {"n_alphas": Whole(low=2, high=200)}
FIRST = {"set": "diabetes"}
LASSO_PATH = idea(
    "lasso-path", "Lasso path", perform_lasso_path, COUNT, first=FIRST, wants="numbers", group="Regression"
)
RIDGE_PATH = idea(
    "ridge-path", "Ridge path", perform_ridge_path, COUNT, first=FIRST, wants="numbers", group="Regression"
)
