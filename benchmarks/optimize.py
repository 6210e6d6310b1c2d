"""Speed of the optimization methods: whole runs to the same gradient, from the same start, on the same function."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize as peer_minimize
from scipy.special import expit

from benchmarks.harness import OURS, Row
from pellucid.optimize import Adam, Problem, Stopping, descend
from pellucid.optimize.problem import FiniteSum

GRADIENT = 1e-6


class Function(NamedTuple):
    """A function with its derivatives and a start."""

    value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]]
    start: np.ndarray
    hessian: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def problem(self) -> Problem:
        """The same for our methods."""
        both = self.value_and_gradient
        return Problem(lambda x: both(x)[0], lambda x: both(x)[1], self.hessian, value_and_gradient=both)


def extended_rosenbrock(n: int) -> Function:
    """Return n/2 Rosenbrock functions side by side, from the start of Moré, Garbow and Hillstrom."""

    def value_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = x[0::2], x[1::2]
        valley, rest = b - a * a, 1 - a
        gradient = np.empty_like(x)
        gradient[0::2] = -400 * a * valley - 2 * rest
        gradient[1::2] = 200 * valley
        return float(100 * valley @ valley + rest @ rest), gradient

    return Function(value_and_gradient, np.tile([-1.2, 1.0], n // 2))


def logistic(n: int, p: int) -> Function:
    """Return the mean logistic loss of random labels with a small ridge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.geomspace(1, 0.1, p)
    y = np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0, 1.0, -1.0)

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (X @ w)
        weight = -y * expit(-margin) / n
        return float(np.logaddexp(0, -margin).mean() + 5e-4 * w @ w), X.T @ weight + 1e-3 * w

    def hessian(w: np.ndarray) -> np.ndarray:
        share = expit(X @ w)
        return (X.T * (share * (1 - share) / n)) @ X + 1e-3 * np.eye(p)

    return Function(value_and_gradient, np.zeros(p), hessian)


def ours(method: str) -> Callable[[Function], np.ndarray]:
    return lambda f: descend(f.problem, f.start, method, stopping=Stopping(GRADIENT, max_iter=5000)).x


def scipy(method: str, **options: Any) -> Callable[[Function], np.ndarray]:
    def run(f: Function) -> np.ndarray:
        hessian = f.hessian if method in ("trust-exact", "Newton-CG") else None
        return peer_minimize(
            f.value_and_gradient, f.start, jac=True, hess=hessian, method=method, options={"maxiter": 5000, **options}
        ).x

    return run


def value(f: Function, x: np.ndarray) -> float:
    return 1.0 + f.value_and_gradient(x)[0]  # 1 + f: a minimum of 0 has no relative error


def adam_rows() -> list[Row]:
    """Return Adam on mini-batches, against torch's own if that is installed."""
    if not find_spec("torch"):
        return []
    import torch

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 100)), rng.standard_normal(2000)
    problem = Problem(
        lambda w: float(np.mean((X @ w - y) ** 2) / 2),
        lambda w: X.T @ (X @ w - y) / len(y),
        terms=FiniteSum(len(y), lambda w, rows: X[rows].T @ (X[rows] @ w - y[rows]) / len(rows)),
    )

    def mine(_: Any) -> np.ndarray:
        stopping = Stopping(gradient=0.0, max_iter=20)
        return descend(problem, np.zeros(100), Adam(0.01), batch_size=50, random_state=0, stopping=stopping).x

    def theirs(_: Any) -> np.ndarray:
        data, target = torch.from_numpy(X), torch.from_numpy(y)
        w = torch.zeros(100, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.Adam([w], lr=0.01)
        random = np.random.RandomState(0)
        for _ in range(20):
            for rows in torch.from_numpy(random.permutation(2000)).split(50):  # our order
                optimizer.zero_grad()
                (((data[rows] @ w - target[rows]) ** 2).mean() / 2).backward()
                optimizer.step()
        return w.detach().numpy()

    contenders = {OURS: mine, "torch": theirs}
    name = "Adam, 20 epochs in batches of 50, 2,000 x 100"
    return [Row(name, lambda: None, contenders, lambda _, w: problem.value(w), rounds=5)]


def rows() -> list[Row]:
    """Return every row of the family."""
    return [
        Row(
            "L-BFGS, extended Rosenbrock, 100,000 variables",
            lambda: extended_rosenbrock(100_000),
            {OURS: ours("l-bfgs"), "SciPy": scipy("L-BFGS-B", gtol=GRADIENT, ftol=0.0, maxfun=10**5)},
            value,
        ),
        Row(
            "conjugate gradients, extended Rosenbrock, 100,000 variables",
            lambda: extended_rosenbrock(100_000),
            {OURS: ours("conjugate gradient"), "SciPy": scipy("CG", gtol=GRADIENT)},
            value,
        ),
        Row(
            "BFGS, logistic loss, 20,000 x 100",
            lambda: logistic(20_000, 100),
            {OURS: ours("bfgs"), "SciPy": scipy("BFGS", gtol=GRADIENT)},
            value,
        ),
        Row(
            "Newton, logistic loss, 20,000 x 100",
            lambda: logistic(20_000, 100),
            {
                OURS: ours("newton"),
                "SciPy trust-exact": scipy("trust-exact", gtol=GRADIENT),
                "SciPy Newton-CG": scipy("Newton-CG", xtol=1e-8),
            },
            value,
        ),
        Row(
            "L-BFGS, logistic loss, 20,000 x 100",
            lambda: logistic(20_000, 100),
            {OURS: ours("l-bfgs"), "SciPy": scipy("L-BFGS-B", gtol=GRADIENT, ftol=0.0)},
            value,
        ),
        *adam_rows(),
    ]
