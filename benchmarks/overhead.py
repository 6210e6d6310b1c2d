"""Prints what a driver costs per iteration beyond the user's function: ``python -m benchmarks.overhead``.

Rosenbrock's function in 100,000 variables, 60 iterations, alternating rounds; without the time inside the function.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize as peer_minimize

from pellucid.optimize import Problem, Stopping, descend

VARIABLES, ITERATIONS, ROUNDS = 100_000, 60, 9


class Rosenbrock:
    """The function, with a clock inside."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient."""
        begin = time.perf_counter()
        valley, rest = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        gradient = np.zeros_like(x)
        gradient[:-1] = -400 * x[:-1] * valley - 2 * rest
        gradient[1:] += 200 * valley
        value = float(100 * valley @ valley + rest @ rest)
        self.seconds += time.perf_counter() - begin
        return value, gradient


def overhead(run: Callable[[Rosenbrock], int]) -> float:
    """Return milliseconds per iteration outside the function."""
    function = Rosenbrock()
    begin = time.perf_counter()
    iterations = run(function)
    return 1e3 * (time.perf_counter() - begin - function.seconds) / iterations


def ours(method: str) -> Callable[[Rosenbrock], int]:
    def run(function: Rosenbrock) -> int:
        problem = Problem(lambda x: function(x)[0], lambda x: function(x)[1], value_and_gradient=function)
        return descend(problem, start(), method, stopping=Stopping(gradient=0.0, max_iter=ITERATIONS)).n_iter

    return run


def scipy(method: str, **options: float) -> Callable[[Rosenbrock], int]:
    def run(function: Rosenbrock) -> int:
        settings = {"maxiter": ITERATIONS, "gtol": 0.0, **options}
        return peer_minimize(function, start(), jac=True, method=method, options=settings).nit

    return run


def start() -> np.ndarray:
    return np.tile([-1.2, 1.0], VARIABLES // 2)


def main() -> None:
    """Measure and print."""
    pairs = {
        "L-BFGS": (ours("l-bfgs"), scipy("L-BFGS-B", ftol=0.0)),
        "conjugate gradients": (ours("conjugate gradient"), scipy("CG")),
    }
    for name, contenders in pairs.items():
        times: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for contender, measured in zip(contenders, times, strict=True):
                measured.append(overhead(contender))
        mine, theirs = map(statistics.median, times)
        print(f"{name}: ours {mine:.2f} ms, SciPy {theirs:.2f} ms per iteration; SciPy / ours {theirs / mine:.2f}")


if __name__ == "__main__":
    main()
