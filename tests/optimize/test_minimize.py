"""The driver: stopping, certificates, mini-batches, and what happens to bad input."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pellucid
from pellucid import UncertifiedWarning
from pellucid.optimize import (
    BFGS,
    L1,
    LBFGS,
    METHODS,
    Adam,
    AlternatingMinimization,
    FiniteSum,
    GradientDescent,
    Momentum,
    Newton,
    Problem,
    StochasticGradient,
    Stopping,
    Subgradient,
    descend,
    minimize,
    quadratic,
)

BOWL = quadratic(np.diag([1.0, 4.0]), np.array([1.0, 4.0]))
SADDLE = Problem(lambda x: float(x[0] ** 2 - x[1] ** 2), lambda x: np.array([2 * x[0], -2 * x[1]]))


def least_squares(seed, n=30, p=3):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    terms = FiniteSum(n, lambda w, rows: X[rows].T @ (X[rows] @ w - y[rows]) / len(rows))
    problem = Problem(
        lambda w: float(np.mean((X @ w - y) ** 2) / 2),
        lambda w: X.T @ (X @ w - y) / n,
        terms=terms,
        strong_convexity=0.0,
    )
    return problem, np.linalg.lstsq(X, y)[0]


# by hand


def test_newton_needs_one_step_on_a_quadratic():
    solution = minimize(BOWL, [5.0, -3.0], "newton")
    assert solution.n_iter == 1
    np.testing.assert_array_equal(solution.x, [1.0, 1.0])


def test_the_trace_begins_with_the_start_and_counts_evaluations():
    # f(0) = 0, gradient (-1, -4); after the Newton step f = -5/2 and the gradient vanishes
    trace = minimize(BOWL, [0.0, 0.0], "newton").trace
    assert trace.columns == ("iteration", "objective", "gradient", "step", "evaluations")
    np.testing.assert_allclose(trace["objective"], [0.0, -2.5])
    np.testing.assert_allclose(trace["gradient"], [4.0, 0.0])
    np.testing.assert_allclose(trace["step"], [0.0, np.sqrt(2)])
    np.testing.assert_array_equal(trace["evaluations"], [1, 2])


def test_the_gap_of_a_strongly_convex_problem_is_the_squared_gradient_over_twice_its_modulus():
    # at (1, 1.5) the gradient is (0, 2): gap 4 / 2, distance 2 / 1; the truth is 1/2 and 1/2
    certificate = pellucid.optimize.certify(BOWL, np.array([1.0, 1.5]))
    assert certificate["gap"].value == pytest.approx(2.0)
    assert certificate["distance"].value == pytest.approx(2.0)
    assert not certificate.holds


def test_states_are_kept_inside_record_only():
    with pellucid.record():
        inside = minimize(BOWL, [0.0, 0.0], "newton").trace
    assert [list(state["x"]) for state in inside.states] == [[0.0, 0.0], [1.0, 1.0]]
    assert minimize(BOWL, [0.0, 0.0], "newton").trace.states == []


# properties


@pytest.mark.parametrize("seed", range(5))
def test_the_certified_gap_is_never_too_small(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((4, 4))
    problem = quadratic(factor @ factor.T + 0.1 * np.eye(4), rng.standard_normal(4))
    lowest = problem.value(minimize(problem, np.zeros(4), "newton").x)
    for _ in range(20):
        x = rng.standard_normal(4)
        assert pellucid.optimize.certify(problem, x)["gap"].value >= (problem.value(x) - lowest) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_certified_gap_with_a_penalty_is_never_too_small(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((4, 4))
    smooth = quadratic(factor @ factor.T + 0.5 * np.eye(4), 3 * rng.standard_normal(4))
    problem = with_penalty(smooth, L1(0.7))
    lowest = problem.objective(descend(problem, np.zeros(4), "fista", stopping=Stopping(1e-12, max_iter=20000)).x)
    for _ in range(20):
        x = rng.standard_normal(4)
        assert pellucid.optimize.certify(problem, x)["gap"].value >= (problem.objective(x) - lowest) * (1 - 1e-9)


def with_penalty(problem, penalty):
    from dataclasses import replace

    return replace(problem, penalty=penalty)


def test_a_broken_answer_loses_its_certificate():
    solution = minimize(BOWL, [0.0, 0.0])
    assert pellucid.optimize.certify(BOWL, solution.x).holds
    assert not pellucid.optimize.certify(BOWL, solution.x + 1e-3).holds


def test_a_known_lower_bound_proves_optimality():
    problem = Problem(lambda x: float(x @ x) ** 2, lambda x: 4 * float(x @ x) * x, lower_bound=0.0)
    certificate = minimize(problem, [1.0, 2.0]).certificate
    assert certificate.grade == "optimal"
    assert certificate["gap"].holds


def test_a_saddle_point_is_stationary_but_fails_the_second_order_check():
    certificate = descend(SADDLE, [1.0, 0.0], GradientDescent(0.25)).certificate
    assert certificate["gradient"].holds
    assert certificate["curvature"].value == pytest.approx(2.0, rel=1e-3)
    assert not certificate.holds


@pytest.mark.parametrize(
    "method", [StochasticGradient(0.05), Momentum(0.01), Adam(0.05)], ids=lambda m: type(m).__name__
)
def test_a_seed_gives_the_same_bits(method):
    problem, _ = least_squares(0)
    once, again, other = (
        descend(problem, np.zeros(3), method, batch_size=4, random_state=seed, stopping=Stopping(max_iter=5)).x
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_every_epoch_visits_every_term_once_in_a_new_order():
    visited = []

    def gradient(w, rows):
        visited.append(list(rows))
        return 0 * w + 1.0

    problem = Problem(lambda w: float(w.sum()), lambda w: 0 * w + 1.0, terms=FiniteSum(7, gradient))
    descend(problem, [0.0], StochasticGradient(0.1), batch_size=3, random_state=0, stopping=Stopping(max_iter=2))
    assert [len(rows) for rows in visited] == [3, 3, 1, 3, 3, 1]
    first, second = ([row for rows in visited[k : k + 3] for row in rows] for k in (0, 3))
    assert sorted(first) == sorted(second) == list(range(7))
    assert first != second


def test_stochastic_gradients_find_least_squares():
    problem, right = least_squares(3)
    solution = descend(
        problem, np.zeros(3), StochasticGradient(lambda t: 0.2 / (1 + 0.01 * t)), batch_size=1, random_state=0,
        stopping=Stopping(max_iter=300),
    )  # fmt: skip
    np.testing.assert_allclose(solution.x, right, atol=0.02)


def test_the_mean_of_the_batch_gradients_is_the_gradient():
    problem, _ = least_squares(1)
    w = np.array([0.3, -1.0, 2.0])
    each = [problem.terms.gradient(w, np.array([i])) for i in range(30)]
    np.testing.assert_allclose(np.mean(each, axis=0), problem.gradient(w))


# stopping


def test_each_rule_stops_and_says_so():
    start = np.array([-1.2, 1.0])
    slow = GradientDescent(1e-3)
    rules = {
        "max_iter = 3": Stopping(max_iter=3),
        "max_evaluations = 5": Stopping(max_evaluations=5),
        "the step is small": Stopping(step=10.0),
        "the objective is flat": Stopping(objective=10.0),
        "the gradient is small": Stopping(gradient=1e9),
    }
    for words, stopping in rules.items():
        assert words in descend(rosenbrock(), start, slow, stopping=stopping).certificate.reason


def rosenbrock():
    from pellucid.optimize.more_garbow_hillstrom import more_garbow_hillstrom

    return more_garbow_hillstrom()[0].problem


def test_the_time_limit_is_kept():
    def slowly(x):
        time.sleep(0.01)
        return float(x @ x)

    begin = time.perf_counter()
    problem = Problem(slowly, lambda x: 2 * x)
    solution = descend(problem, [1.0], GradientDescent(1e-6), stopping=Stopping(seconds=0.1, max_iter=10**6))
    assert "the time of 0.1 s" in solution.certificate.reason
    assert time.perf_counter() - begin < 2.0


def test_a_zero_budget_certifies_the_start():
    solution = descend(BOWL, [0.0, 0.0], stopping=Stopping(max_iter=0))
    assert solution.n_iter == 0
    np.testing.assert_array_equal(solution.x, [0.0, 0.0])
    assert not solution.certificate.holds
    assert "max_iter = 0" in solution.certificate.reason


def test_a_callback_can_stop():
    seen = []

    def callback(x):
        seen.append(x.copy())
        return len(seen) == 2

    solution = descend(BOWL, [0.0, 0.0], GradientDescent(0.01), callback=callback)
    assert solution.n_iter == len(seen) == 2
    assert "callback" in solution.certificate.reason


def test_minimize_warns_if_the_certificate_does_not_hold():
    with pytest.warns(UncertifiedWarning, match="gradient is .* above its bound .* Raise max_iter"):
        minimize(BOWL, [0.0, 0.0], GradientDescent(0.01), stopping=Stopping(max_iter=2))


def test_the_start_is_not_changed():
    start = np.array([3.0, 4.0])
    for name in METHODS:
        descend(BOWL, start, name, stopping=Stopping(max_iter=3))
    np.testing.assert_array_equal(start, [3.0, 4.0])


def test_functions_may_reuse_the_memory_of_their_gradient():
    buffer = np.empty(2)

    def gradient(x):
        np.multiply([2.0, 20.0], x, out=buffer)
        return buffer

    def value(x):
        return float(x[0] ** 2 + 10 * x[1] ** 2)

    reused = minimize(Problem(value, gradient), [1.0, 1.0])
    fresh = minimize(Problem(value, lambda x: gradient(x).copy()), [1.0, 1.0])
    assert reused.trace == fresh.trace


def test_evaluations_are_the_calls_that_line_search_methods_made():
    for method in (Newton(), BFGS(), LBFGS()):
        calls = []
        known = rosenbrock()

        def counted(x, known=known, calls=calls):
            calls.append(x)
            return known.value_and_gradient(x)

        problem = Problem(known.value, known.gradient, known.hessian, value_and_gradient=counted)
        trace = descend(problem, [-1.2, 1.0], method).trace
        assert trace["evaluations"][-1] == len(calls)


# errors


def test_what_is_not_finite_at_the_start_is_refused():
    with pytest.raises(ValueError, match="value must be finite at x0, got inf. Start where"):
        minimize(Problem(lambda x: np.inf, lambda x: x), [1.0])
    with pytest.raises(ValueError, match="gradient must be finite at x0, got nan in coordinate 1"):
        minimize(Problem(lambda x: 0.0, lambda x: np.array([0.0, np.nan])), [1.0, 1.0])
    with pytest.raises(ValueError, match="x0 must be finite"):
        minimize(BOWL, [np.nan, 1.0])


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("newton", "coordinate descent")])
def test_nan_on_the_way_ends_with_the_last_good_point(name):
    # the function is defined left of 1 only, and falls towards the edge
    problem = Problem(
        lambda x: float(-x[0]) if x[0] < 1 else np.nan, lambda x: np.array([-1.0 if x[0] < 1 else np.nan])
    )
    solution = descend(problem, [0.0], name, stopping=Stopping(max_iter=5000))
    assert np.isfinite(solution.x).all()
    assert solution.x[0] < 1
    assert solution.certificate.grade == "none" or not solution.certificate.holds


def test_a_diverging_step_is_named():
    solution = descend(BOWL, [1.0, 2.0], GradientDescent(100.0))
    assert "A smaller step may help" in solution.certificate.reason
    assert np.isfinite(solution.x).all()


@pytest.mark.parametrize("name", ["newton", "bfgs", "l-bfgs", "conjugate gradient", "gradient descent", "dfp"])
def test_a_function_without_a_minimum_is_noticed(name):
    problem = Problem(lambda x: float(-np.sum(x**3)), lambda x: -3 * x**2, lambda x: np.diag(-6 * x))
    solution = descend(problem, [1.0, 1.0], name)
    assert "no minimum" in solution.certificate.reason or "became" in solution.certificate.reason
    assert not solution.certificate.holds


@pytest.mark.parametrize("name", ["newton", "bfgs", "l-bfgs", "conjugate gradient", "gradient descent", "dfp"])
def test_a_gradient_of_the_wrong_sign_stops_with_a_hint(name):
    problem = Problem(lambda x: float(x @ x), lambda x: -2 * x, lambda x: 2 * np.eye(2))
    solution = descend(problem, [1.0, 1.0], name)
    assert "check_gradient=True finds out" in solution.certificate.reason
    np.testing.assert_array_equal(solution.x, [1.0, 1.0])


def test_the_gradient_can_be_checked_first():
    wrong = Problem(lambda x: float(x @ x), lambda x: 2 * x + np.array([0.0, 0.1, 0.0]))
    with pytest.raises(ValueError, match="coordinate 1"):
        minimize(wrong, [1.0, 1.0, 1.0], check_gradient=True)
    minimize(BOWL, [0.0, 0.0], check_gradient=True)


def test_a_gradient_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"gradient must return an array of shape \(2,\) like x, got shape \(3,\)"):
        minimize(Problem(lambda x: 0.0, lambda x: np.zeros(3)), [0.0, 0.0])
    with pytest.raises(ValueError, match=r"gradient must return an array of shape \(2,\) like x, got 3.0"):
        minimize(Problem(lambda x: 0.0, lambda x: 3.0), [0.0, 0.0])
    with pytest.raises(ValueError, match=r"hessian must return an array of shape \(2, 2\), got \(2,\)"):
        minimize(Problem(lambda x: float(x @ x), lambda x: 2 * x, lambda x: x), [1.0, 0.0], "newton")


def test_lists_are_as_good_as_arrays():
    problem = Problem(lambda x: x[0] ** 2 + x[1] ** 2, lambda x: [2 * x[0], 2 * x[1]], lambda x: [[2, 0], [0, 2]])
    for method in ("newton", "bfgs"):
        np.testing.assert_allclose(minimize(problem, (3, 4), method).x, [0.0, 0.0], atol=1e-6)
    with pytest.raises(TypeError, match="gradient must return an array of numbers, got None"):
        minimize(Problem(lambda x: 0.0, lambda x: None), [1.0])


def test_a_value_that_is_not_one_number_is_refused():
    with pytest.raises(ValueError, match=r"value must return one number, got an array of shape \(2,\). Sum or average"):
        minimize(Problem(lambda x: x, lambda x: x), [1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x0": [[1.0]]}, r"x0 must be a vector, got shape \(1, 1\)"),
        ({"x0": []}, r"x0 must be a vector, got shape \(0,\)"),
        ({"method": "simplex"}, "method must be one of .*'bfgs'.*, got 'simplex'"),
        ({"batch_size": 2}, "batch_size must be None for a problem without terms, got 2. Give it a FiniteSum"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        minimize(BOWL, **({"x0": [0.0, 0.0]} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": lambda x: x @ x}, "problem must be a Problem or a Formula, got .* Wrap a function: Problem"),
        ({"x0": "abc"}, "x0 must hold real numbers, got 'abc'"),
        ({"x0": [1 + 2j]}, "x0 must hold real numbers"),
        ({"stopping": 5}, "stopping must be a Stopping, got 5"),
    ],
)
def test_arguments_of_the_wrong_kind_get_one_sentence(arguments, message):
    with pytest.raises(TypeError, match=message):
        minimize(**({"problem": BOWL, "x0": [0.0, 0.0]} | arguments))


def test_a_formula_is_minimized_as_it_is():
    solution = minimize(pellucid.optimize.Formula("x**2 + (y - 1)**2"), [3, 3], "newton")
    np.testing.assert_allclose(solution.x, [0.0, 1.0], atol=1e-12)


def test_a_class_is_not_a_method():
    with pytest.raises(TypeError, match="method must be a name or an object with start and step"):
        minimize(BOWL, [0.0, 0.0], BFGS)


def test_line_searches_refuse_batches():
    problem, _ = least_squares(0)
    with pytest.raises(ValueError, match="batch_size must be None for BFGS, got 5. .*StochasticGradient"):
        minimize(problem, np.zeros(3), BFGS(), batch_size=5)


def test_methods_without_a_proximal_step_refuse_penalties():
    with pytest.raises(ValueError, match="problem must have no penalty for BFGS, got L1.alpha=1.0.. Use FISTA"):
        minimize(with_penalty(BOWL, L1(1.0)), [0.0, 0.0], "bfgs")


def test_newton_without_a_hessian_names_the_alternative():
    with pytest.raises(ValueError, match="problem must have a hessian for this method, got none. Use BFGS"):
        minimize(Problem(lambda x: float(x @ x), lambda x: 2 * x), [1.0], "newton")


def test_a_problem_needs_functions():
    with pytest.raises(TypeError, match="value must be a function of x, got 3"):
        Problem(3)
    with pytest.raises(TypeError, match="gradient must be a function of x, got 'no'"):
        Problem(lambda x: 0.0, "no")


def test_block_minimizers_must_return_points():
    with pytest.raises(ValueError, match=r"minimizers must return a vector of shape \(2,\) like x, got 1.0"):
        descend(BOWL, [0.0, 0.0], AlternatingMinimization([lambda x: 1.0]))


def test_a_problem_without_gradient_is_differentiated():
    solution = minimize(Problem(lambda x: float((x[0] - 3) ** 2 + (x[1] + 1) ** 4)), [0.0, 0.0])
    np.testing.assert_allclose(solution.x, [3.0, -1.0], atol=1e-2)


def test_the_subgradient_method_states_its_bound():
    problem = Problem(lambda x: float(np.abs(x).sum()), np.sign, strong_convexity=0.0)
    solution = descend(problem, [1.0, -2.0], Subgradient(radius=3.0), stopping=Stopping(max_iter=500))
    gap = solution.certificate["gap"].value
    assert solution.certificate.grade == "bounded"
    assert problem.value(solution.x) <= gap < 1.0
    assert descend(problem, [1.0, -2.0], "subgradient").certificate.grade == "none"


def test_the_bound_of_the_subgradient_method_by_hand():
    # three steps of 3/4 with slopes of size 1: (R^2 + 3 * 9/16) / (2 * 9/4) = (1 + 27/16) / (9/2) = 43/72
    problem = Problem(lambda x: float(np.abs(x).sum()), np.sign, strong_convexity=0.0)
    solution = descend(problem, [1.0], Subgradient(0.75, radius=1.0), stopping=Stopping(max_iter=3))
    assert solution.certificate["gap"].value == pytest.approx(43 / 72)


def test_a_joint_value_and_gradient_spares_differences_after_a_line_search():
    values = []

    def value(x):
        values.append(x)
        return float(x @ x)

    problem = Problem(value, value_and_gradient=lambda x: (float(x @ x), 2 * x))
    solution = descend(problem, np.full(5, 3.0), GradientDescent())
    assert solution.certificate["gradient"].holds
    assert len(values) <= solution.trace["evaluations"][-1] + 1  # differences would take 10 values per point
