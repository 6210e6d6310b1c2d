"""The driver: it loops, records, stops and certifies, whatever the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.array_api import is_torch_array
from pellucid.core.arrays import as_numpy, length, precision_of
from pellucid.core.checks import check_whole
from pellucid.core.fit import Solution
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.optimize.certifying import certify, residual
from pellucid.optimize.method import CertifiesItself, Method, NoStep
from pellucid.optimize.methods import find_method
from pellucid.optimize.oracle import Oracle, is_finite
from pellucid.optimize.problem import Point, Problem
from pellucid.optimize.stopping import Progress, Stopping
from pellucid.proofs.certificate import Certificate, Claim

RISE = 1e3
"""An objective may rise by so many units in the last place before a descent method has broken its word."""


def minimize(
    problem: Problem,
    x0: Data,
    method: str | Method = "bfgs",
    *,
    stopping: Stopping | None = None,
    batch_size: int | None = None,
    random_state: RandomState = None,
    check_gradient: bool = False,
    callback: Callable[[Array], bool | None] | None = None,
) -> Solution[Array]:
    r"""Minimize a function and say how far from its minimum the answer is.

    Parameters
    ----------
    problem : Problem or Formula
        The function.
    x0 : array or torch tensor of shape (n,)
        The start. Its kind and precision are those of the answer.
    method : str or Method, default="bfgs"
        A method, or the name of one with its default settings: see ``METHODS``.
    stopping : Stopping, default=Stopping()
        When to stop.
    batch_size : int, default=None
        Terms per gradient, for problems that are a finite sum; they are shuffled anew in each epoch, and an
        iteration is then an epoch. Without it, gradients are whole.
    random_state : int, RandomState or None
        Seed of the shuffles: the same seed gives the same bits.
    check_gradient : bool, default=False
        Whether to compare the gradient with differences of values first, and refuse to start if it is wrong.
    callback : callable x -> bool, default=None
        Called after each iteration; True stops.

    Returns
    -------
    Solution
        ``x``, ``n_iter``, ``certificate`` and ``trace``. A certificate that does not hold warns.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.optimize import Problem, minimize
    >>> bowl = Problem(lambda x: float((x - 1) @ (x - 1)), lambda x: 2 * (x - 1), strong_convexity=2.0)
    >>> solution = minimize(bowl, np.zeros(2))
    >>> solution.x
    array([1., 1.])
    >>> solution.certificate.grade
    'optimal'
    """
    solution = descend(
        problem,
        x0,
        method,
        stopping=stopping,
        batch_size=batch_size,
        random_state=random_state,
        check_gradient=check_gradient,
        callback=callback,
    )
    first_failure = solution.certificate.failed[:1]  # a large gradient makes the gap and the distance large, too
    warn_unless_holds(replace(solution.certificate, claims=first_failure), "minimize")
    return solution


def descend(
    problem: Problem,
    x0: Data,
    method: str | Method = "bfgs",
    *,
    stopping: Stopping | None = None,
    batch_size: int | None = None,
    random_state: RandomState = None,
    check_gradient: bool = False,
    callback: Callable[[Array], bool | None] | None = None,
) -> Solution[Array]:
    """Do what :func:`minimize` does, silently: for callers who read the certificate themselves.

    Parameters
    ----------
    problem : Problem or Formula
        The function.
    x0 : array or torch tensor of shape (n,)
        The start; the answer is of its kind and precision.
    method : str or Method, default="bfgs"
        How to step: a method, or its name in ``METHODS``.
    stopping : Stopping, default=Stopping()
        When to stop.
    batch_size : int, default=None
        Terms per gradient of a finite sum, where an iteration is then an epoch; None takes whole gradients.
    random_state : int, RandomState or None
        Seed of the order of the terms.
    check_gradient : bool, default=False
        Whether to refuse a gradient that differences of values refute.
    callback : callable x -> bool, default=None
        Called after each iteration; True stops.
    """
    rule, x, problem = find_method(method), check_start(x0), _as_problem(problem)
    _require_penalty_is_wanted(problem, rule)
    stopping = Stopping() if stopping is None else stopping
    if not isinstance(stopping, Stopping):
        raise TypeError(f"stopping must be a Stopping, got {stopping!r}. Try Stopping(max_iter=...).")
    oracle = Oracle(problem)
    if check_gradient:
        from pellucid.optimize.checks.gradient_check import require_gradient

        require_gradient(problem, x)
    batches = _batches(problem, rule, batch_size, random_state)
    with np.errstate(all="ignore"):  # a step too far may overflow; the driver sees it and says so
        run = _loop(oracle, rule, x, stopping, batches, callback)
        if isinstance(rule, CertifiesItself):
            certificate = rule.certificate(problem, run.state)
        else:
            certificate = certify(problem, run.point.x, tolerance=stopping.tolerance(precision_of(x)))
    return Solution(run.point.x, run.n_iter, _explained(certificate, run, rule), run.trace, run.verdict)


@dataclass(frozen=True)
class _Run:
    point: Point
    state: Any
    n_iter: int
    trace: Trace
    verdict: str


def _loop(
    oracle: Oracle,
    rule: Method,
    x: Array,
    stopping: Stopping,
    batches: Iterator[list[Array]] | None,
    callback: Callable[[Array], bool | None] | None,
) -> _Run:
    precision, begin = precision_of(x), time.perf_counter()
    point = oracle.look(x)
    _require_finite_start(point)
    state = rule.start(oracle, x)
    trace = Trace()
    objective, decrease, moved, iteration = oracle.objective(point), math.inf, 0.0, 0
    while True:
        gradient = residual(oracle.problem, point)
        now = Progress(iteration, objective, decrease, gradient, moved, oracle.evaluations, time.perf_counter() - begin)
        trace.add(
            iteration=iteration, objective=objective, gradient=gradient, step=moved, evaluations=oracle.evaluations
        )
        trace.keep(x=point.x)
        verdict = stopping.verdict(now, precision)
        if not verdict and iteration and callback is not None and callback(point.x):
            verdict = "the callback said so"
        if verdict:
            return _Run(point, state, iteration, trace, verdict)
        before = state
        try:
            state = rule.step(oracle, state) if batches is None else _epoch(oracle, rule, state, batches)
        except NoStep as reason:
            return _Run(point, state, iteration, trace, str(reason))
        new = oracle.look(state.x)
        if not is_finite(new):
            verdict = (
                f"the objective or its gradient became {new.value:g} in iteration {iteration + 1}; "
                "x is the last point before that. A smaller step may help"
            )
            return _Run(point, before, iteration, trace, verdict)
        iteration += 1
        moved = length(new.x - point.x)
        new_objective = oracle.objective(new)
        decrease, objective, point = objective - new_objective, new_objective, new


def _epoch(oracle: Oracle, rule: Method, state: Any, batches: Iterator[list[Array]]) -> Any:
    """Let the method take one step per batch, through all terms once."""
    try:
        for batch in next(batches):
            oracle.batch = batch
            state = rule.step(oracle, state)
    finally:
        oracle.batch = None
    return state


def _batches(
    problem: Problem, rule: Method, batch_size: int | None, random_state: RandomState
) -> Iterator[list[Array]] | None:
    """Yield the batches of each epoch, the terms shuffled anew, or return None for whole gradients."""
    if batch_size is None:
        return None
    check_whole(batch_size=batch_size)
    if problem.terms is None:
        raise ValueError(f"batch_size must be None for a problem without terms, got {batch_size}. Give it a FiniteSum.")
    if not rule.takes_batches:
        raise ValueError(
            f"batch_size must be None for {type(rule).__name__}, got {batch_size}. It compares values of the whole "
            "function; use StochasticGradient, Momentum, Nesterov, AdaGrad, RMSProp or Adam."
        )
    return _shuffled(problem.terms.count, batch_size, check_random_state(random_state))


def _shuffled(count: int, size: int, random: np.random.RandomState) -> Iterator[list[Array]]:
    while True:
        order = random.permutation(count)
        yield [order[first : first + size] for first in range(0, count, size)]


def _as_problem(problem: Any) -> Problem:
    """Return the problem, or that of a formula."""
    if not isinstance(problem, Problem) and callable(getattr(problem, "problem", None)):
        problem = problem.problem()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem or a Formula, got {problem!r}. Wrap a function: Problem(f).")
    return problem


def check_start(x0: Data) -> Array:
    """Return the start as a float vector of its own: a torch tensor stays one, everything else becomes an array."""
    x: Any
    if is_torch_array(x0):
        x = x0.detach().clone()
        x = x if x.is_floating_point() else x.double()
    else:
        x = np.array(x0)
        if x.dtype.kind not in "biuf":
            raise TypeError(f"x0 must hold real numbers, got {x0!r}.")
        x = x if x.dtype.name in ("float32", "float64") else x.astype(np.float64)
    if x.ndim != 1 or x.shape[0] == 0:
        raise ValueError(f"x0 must be a vector, got shape {tuple(x.shape)}. Flatten it, and reshape in your function.")
    if not math.isfinite(float(abs(x).sum())):
        raise ValueError("x0 must be finite, got nan or inf in it. Start somewhere else.")
    return x


def _require_penalty_is_wanted(problem: Problem, rule: Method) -> None:
    if problem.penalty is not None and not rule.takes_penalty:
        raise ValueError(
            f"problem must have no penalty for {type(rule).__name__}, got {problem.penalty!r}. "
            "Use FISTA, ProximalGradient or CoordinateDescent."
        )


def _require_finite_start(point: Point) -> None:
    if not math.isfinite(point.value):
        raise ValueError(f"value must be finite at x0, got {point.value}. Start where the function is defined.")
    finite = np.isfinite(as_numpy(point.gradient))
    if not finite.all():
        worst = int(np.argmin(finite))
        raise ValueError(
            f"gradient must be finite at x0, got {float(point.gradient[worst])} in coordinate {worst}. "
            "Start where the function is smooth, or repair the gradient."
        )


def _explained(certificate: Certificate, run: _Run, rule: Method) -> Certificate:
    """Return the certificate with the reason for stopping and, for methods that promise it, monotone descent."""
    times = "1 iteration" if run.n_iter == 1 else f"{run.n_iter} iterations"
    reason = f"{type(rule).__name__} stopped after {times}: {run.verdict}."
    if rule.descends and len(run.trace) > 1:
        values = run.trace["objective"]
        rise = float(np.max(np.diff(values), initial=0.0))
        allowed = RISE * precision_of(run.point.x) * max(1.0, float(np.abs(values).max()))
        claim = Claim("rise", "largest rise of the objective in one iteration", rise, allowed)
        certificate = certificate.with_claims(claim)
    return replace(certificate, reason=f"{reason} {certificate.reason}".rstrip())
