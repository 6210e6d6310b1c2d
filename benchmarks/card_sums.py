"""Lines of ``benchmarks card`` whose fits are sums over rows: linear models, discriminants, components, factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn import decomposition, discriminant_analysis, linear_model, naive_bayes

from benchmarks.card import CardRow, numbers
from pellucid.decomposition import PCA, FactorAnalysis
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.linear_model import LinearRegression, LogisticRegression, Ridge
from pellucid.naive_bayes import GaussianNB

COLUMNS = 100


def card_rows(scale: float) -> list[CardRow]:
    """Return the lines."""
    n = max(1000, int(1e7 * scale))
    gram, read = 2.0 * n * COLUMNS**2, 4.0 * n * COLUMNS
    table, labels = _table(n, classes=False), _table(n, classes=True)
    shared: dict[str, Any] = {"flops": gram, "bytes": read, "part": 0.2, "from_host": True}

    def line(ours: Any, peer: Any) -> tuple[Any, Any]:
        return (lambda data: ours.fit(data["X"], data["y"])), (lambda data: peer.fit(data["X"], data["y"]))

    return [
        CardRow(
            "LinearRegression", table, *line(LinearRegression(), linear_model.LinearRegression()), _squares, **shared
        ),
        CardRow("Ridge", table, *line(Ridge(), linear_model.Ridge()), _squares, **shared),
        CardRow(
            "PCA, 10 components", table, lambda data: PCA(10).fit(data["X"]),
            lambda data: decomposition.PCA(10).fit(data["X"]), _variance, **shared,
        ),
        CardRow(
            "LinearDiscriminantAnalysis", labels,
            *line(LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis()), _mistakes,
            **shared,
        ),
        CardRow("GaussianNB", labels, *line(GaussianNB(), naive_bayes.GaussianNB()), _mistakes, **shared),
        CardRow(
            "LogisticRegression", labels,
            *line(LogisticRegression(tol=1e-6), linear_model.LogisticRegression(tol=1e-6)), _logistic_loss, **shared,
        ),
        CardRow(
            "FactorAnalysis, 10 factors", table, lambda data: FactorAnalysis(10).fit(data["X"]),
            lambda data: decomposition.FactorAnalysis(10).fit(data["X"]), _likelihood,
            flops=gram, bytes=read, part=0.02,
        ),
    ]  # fmt: skip


def _table(n: int, *, classes: bool) -> Callable[[Any], Mapping[str, Any]]:
    """Return what makes rows on a device, with numbers or two labels beside them."""

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        X = torch.randn((n, COLUMNS), generator=random, device=there)
        X += torch.arange(COLUMNS, device=there) * 0.01
        X[:, 0] += X[:, 1]
        y = X @ torch.randn(COLUMNS, generator=random, device=there) / 10
        y += torch.randn(n, generator=random, device=there)
        return {"X": X, "y": (y > y.mean()).to(torch.int64) if classes else y}

    return make


def _squares(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    X, y = numbers(data["X"]), numbers(data["y"])
    mine, theirs = (
        float(np.sum((X @ numbers(model.coef_) + float(model.intercept_) - y) ** 2)) for model in (ours, other)
    )
    return mine / theirs - 1.0


def _variance(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    return 1.0 - float(numbers(ours.explained_variance_).sum() / other.explained_variance_.sum())


def _mistakes(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    X, y = data["X"], numbers(data["y"])
    return float(np.mean(numbers(ours.predict(X)) != y) - np.mean(other.predict(X.cpu().numpy()) != y))


def _logistic_loss(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    X, sign = numbers(data["X"]), 2.0 * numbers(data["y"]) - 1.0
    losses = []
    for model in (ours, other):
        w, b = numbers(model.coef_)[0], float(model.intercept_[0])
        losses.append(float(np.sum(np.logaddexp(0.0, -sign * (X @ w + b)))) + 0.5 * float(w @ w))
    return losses[0] / losses[1] - 1.0


def _likelihood(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    theirs = float(np.mean(other.score_samples(data["X"].cpu().numpy())))
    return (theirs - float(numbers(ours.score_samples(data["X"])).mean())) / abs(theirs)
