"""The test set of Moré, Garbow and Hillstrom: right formulas, all minima found, no more evaluations than SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.optimize import minimize as peer_minimize

from pellucid.optimize import Stopping, descend
from pellucid.optimize.more_garbow_hillstrom import more_garbow_hillstrom

PROBLEMS = more_garbow_hillstrom()
TOLERANCE = 1e-7
PEERS = {"newton": "trust-exact", "bfgs": "BFGS", "l-bfgs": "L-BFGS-B"}

each_problem = pytest.mark.parametrize("test", PROBLEMS, ids=lambda test: test.name)


def is_solved(test, value):
    return any(
        abs(value - known) <= max(1e-6 * known if known else 1e-6, 1e-13 if known else 0) for known in test.minima
    )


def evaluations(test, method):
    solution = descend(test.problem, test.start, method, stopping=Stopping(TOLERANCE, max_iter=2000))
    return int(solution.trace["evaluations"][-1]), test.problem.value(solution.x)


def peer_evaluations(test, method):
    options = {"maxiter": 2000, "gtol": TOLERANCE} | ({"ftol": 0.0, "maxfun": 10000} if method == "L-BFGS-B" else {})
    hessian = test.problem.hessian if method == "trust-exact" else None
    with np.errstate(all="ignore"):
        found = peer_minimize(
            test.problem.value_and_gradient, test.start, jac=True, hess=hessian, method=method, options=options
        )
    return found.nfev, found.fun


@each_problem
def test_value_gradient_and_hessian_agree(test):
    x = np.array(test.start) + 0.01
    problem = test.problem
    value, gradient = problem.value_and_gradient(x)
    assert problem.value(x) == pytest.approx(value, rel=1e-12)
    steps = 1e-6 * np.maximum(1e-3, np.abs(x))
    size = np.abs(gradient).max() + 1e-6 * abs(value)
    np.testing.assert_allclose(approx_fprime(x, problem.value, steps), gradient, rtol=1e-2, atol=1e-3 * size)
    hessian = problem.hessian(x)
    columns = [
        (problem.gradient(x + h * e) - problem.gradient(x - h * e)) / (2 * h)
        for h, e in zip(steps, np.eye(len(x)), strict=True)
    ]
    np.testing.assert_allclose(columns, hessian, rtol=1e-3, atol=1e-4 * np.abs(hessian).max())


@pytest.mark.parametrize("method", PEERS)
@each_problem
def test_the_known_minima_are_found(test, method):
    assert is_solved(test, evaluations(test, method)[1])


@pytest.mark.filterwarnings("ignore")  # SciPy complains about problems that it does not solve
@pytest.mark.parametrize(("method", "peer"), PEERS.items())
def test_evaluations_are_no_more_than_a_fifth_above_those_of_scipy(method, peer):
    ratios = []
    for test in PROBLEMS:
        (ours, value), (theirs, peer_value) = evaluations(test, method), peer_evaluations(test, peer)
        if is_solved(test, value) and is_solved(test, peer_value):
            ratios.append(ours / theirs)
    assert len(ratios) >= 18
    assert np.median(ratios) <= 1.2


def test_the_paper_has_35_problems_with_distinct_names():
    assert len({test.name for test in PROBLEMS}) == 35


# values at the start that follow from the formulas by hand
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rosenbrock", 24.2),  # 10 (1 - 1.44) = -4.4 and 2.2
        ("freudenstein_roth", 400.5),
        ("brown_badly_scaled", 999998000003.0),  # (1 - 1e6)^2 + (1 - 2e-6)^2 + 1
        ("beale", 14.203125),  # 1.5^2 + 2.25^2 + 2.625^2
        ("helical_valley", 2500.0),  # half a turn: 10 * -10 / 2
        ("powell_singular", 215.0),  # 49 + 5 + 1 + 160
        ("wood", 19192.0),
        ("linear_full_rank", 50.0),
    ],
)
def test_values_at_the_start(name, value):
    test = next(test for test in PROBLEMS if test.name == name)
    assert test.problem.value(np.array(test.start)) == pytest.approx(value, rel=1e-9)
