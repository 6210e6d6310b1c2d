import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.optimize import FiniteSum, Formula, Problem, minimize, quadratic
from pellucid.optimize.checks.gradient_check import check_gradient, estimate_derivative, require_gradient
from pellucid.optimize.checks.hessian_check import check_hessian
from pellucid.optimize.checks.in_double import rounding_noise

WEIGHTS = np.array([1.0, -2.0, 0.5])
SHAPES = {
    "sine": (np.sin, np.cos),
    "exponential": (np.exp, np.exp),
    "square": (lambda u: (u - 1) ** 2, lambda u: 2 * (u - 1)),
    "fourth power": (lambda u: (u - 1) ** 4, lambda u: 4 * (u - 1) ** 3),
    "softplus": (lambda u: np.logaddexp(0, u), lambda u: 1 / (1 + np.exp(-u))),
}


def scaled(shape, width=1.0, height=1.0, offset=0.0, wrong=None):
    """f(x) = height * sum_j w_j shape(x_j / width) + offset, its gradient off by 1e-4 in coordinate ``wrong``."""
    value, slope = SHAPES[shape]

    def gradient(x):
        answer = height / width * WEIGHTS * slope(x / width)
        if wrong is not None:
            answer[wrong] *= 1 + 1e-4
        return answer

    return Problem(lambda x: float(height * (WEIGHTS @ value(x / width)) + offset), gradient)


def rosenbrock(n, wrong=None):
    def gradient(x):
        answer, d = np.zeros_like(x), x[1:] - x[:-1] ** 2
        answer[1:] += 200 * d
        answer[:-1] += -400 * d * x[:-1] - 2 * (1 - x[:-1])
        if wrong is not None:
            answer[wrong] *= 1 + 1e-4
        return answer

    value = lambda x: float(100 * np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum((1 - x[:-1]) ** 2))  # noqa: E731  (a formula)
    return Problem(value, gradient), np.random.default_rng(0).standard_normal(n)


# by hand


def test_the_wrong_coordinate_is_named_with_both_values():
    slip = Problem(lambda x: float(x[0] ** 2 + x[1] ** 3), lambda x: np.array([2 * x[0], 3 * x[1]]))
    check = check_gradient(slip, [1.0, 2.0])
    assert (check.ok, check.worst, check.given) == (False, 1, 6.0)
    assert check.estimated == pytest.approx(12.0, rel=1e-9)
    assert check.relative_error == pytest.approx(0.5, rel=1e-6)
    assert "coordinate 1 is 6, differences say 12" in repr(check)


def test_a_right_gradient_reads_as_right():
    check = check_gradient(quadratic(np.diag([1.0, 3.0])), [1.0, 2.0])
    assert check.ok
    assert repr(check) == "GradientCheck(right: all coordinates agree with differences to 1e-05)"


def test_the_derivative_of_the_sine_at_0_is_1_within_its_doubt():
    slope, doubt = estimate_derivative(lambda x: np.sin(x[0]), np.zeros(1), np.ones(1), np.array([1e-16]))
    assert abs(slope[0] - 1) <= doubt[0] <= 1e-8


def test_noise_is_that_of_the_precision_the_function_computes_in():
    x = np.array([0.3, -1.7])
    double = rounding_noise(lambda x: np.exp(x).sum(), x)[0]
    single = rounding_noise(lambda x: np.exp(x.astype(np.float32)).sum(), x)[0]
    assert 1e-17 < double < 1e-14
    assert 1e-8 < single < 1e-5


def test_cancellation_counts_as_noise():
    # two terms of 1e10 cancel: what is left is known to 1e-6 only
    noise = rounding_noise(lambda x: (1e10 * x[0] + x[1]) - 1e10 * x[0], np.array([1.1, 0.3]))[0]
    assert 1e-8 < noise < 1e-4


def test_a_gradient_of_a_function_that_does_not_depend_on_x_must_be_0():
    check = check_gradient(Problem(lambda x: 25.0 + x[0], lambda x: np.array([1.0, 1e-3])), [1.0, 2.0])
    assert (check.ok, check.worst, check.estimated) == (False, 1, 0.0)


def test_a_wrong_hessian_entry_is_named():
    gradient = lambda x: np.array([2 * x[0] * x[1], x[0] ** 2])  # noqa: E731  (a formula)
    slip = Problem(lambda x: x[0] ** 2 * x[1], gradient, lambda x: np.array([[2 * x[1], 2 * x[0]], [x[0], 0.0]]))
    check = check_hessian(slip, [1.0, 3.0])
    assert (check.ok, check.worst, check.given) == (False, (1, 0), 1.0)
    assert check.estimated == pytest.approx(2.0)
    assert check.asymmetry == pytest.approx(1 / 6)  # 1 and 2, with a largest entry of 6


def test_a_hessian_product_must_agree_with_the_hessian():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    both = Problem(lambda x: x @ A @ x / 2, lambda x: A @ x, lambda x: A, lambda x, v: 1.01 * A @ v)
    check = check_hessian(both, [1.0, 1.0])
    assert not check.ok
    assert check.product_error == pytest.approx(0.01)
    assert "hessian_product is off" in repr(check)
    alone = check_hessian(Problem(both.value, both.gradient, hessian_product=lambda x, v: A @ v), [1.0, 1.0])
    assert alone.ok


# properties


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(-8, 8),
    st.integers(-5, 10),
    st.sampled_from([0.0, 1.0, -1e5, 1e10]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_right_gradients_are_never_accused_at_any_scale(shape, width, height, offset, seed, single):
    problem = scaled(shape, 10.0**width, 10.0**height, offset)
    if single and abs(width) <= 3:
        exact = problem.value
        problem = Problem(lambda x: float(np.float32(exact(x))), problem.gradient)
    x = 10.0**width * np.random.default_rng(seed).standard_normal(3)
    assert check_gradient(problem, x).ok


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(-8, 8),
    st.integers(-5, 10),
    st.integers(0, 10**6),
    st.integers(0, 2),
)
def test_one_coordinate_off_by_1e_4_is_found_and_named_at_any_scale(shape, width, height, seed, wrong):
    x = 10.0**width * np.random.default_rng(seed).uniform(0.3, 0.8, 3)
    check = check_gradient(scaled(shape, 10.0**width, 10.0**height, wrong=wrong), x)
    assert not check.ok
    assert check.worst == wrong
    assert check.relative_error == pytest.approx(1e-4, rel=0.1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(-6, 6), st.integers(-6, 6))
def test_right_hessians_are_never_accused(seed, width, height):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 3))
    s, h = 10.0**width, 10.0**height
    problem = Problem(
        lambda x: h * float(np.exp(A @ x / s).sum()),
        lambda x: h / s * A.T @ np.exp(A @ x / s),
        lambda x: h / s**2 * (A.T * np.exp(A @ x / s)) @ A,
    )
    assert check_hessian(problem, s * rng.standard_normal(3)).ok


def test_with_many_variables_directions_find_what_the_sample_misses():
    right, x = rosenbrock(5000)
    check = check_gradient(right, x)
    assert check.ok
    assert (check.coordinates.size, check.n_directions) == (50, 8)
    assert "50 of 5000 coordinates and 8 random directions" in repr(check)
    wrong, _ = rosenbrock(5000, wrong=3210)
    assert 3210 not in check.coordinates
    assert check_gradient(wrong, x).worst == 3210


def test_a_ripple_below_the_large_steps_is_seen():
    value = lambda x: float(x[0] ** 2 + 1e-9 * np.sin(x[0] / 1e-5))  # noqa: E731  (a formula)
    assert check_gradient(Problem(value, lambda x: 2 * x + 1e-4 * np.cos(x / 1e-5)), [1.0]).ok
    assert not check_gradient(Problem(value, lambda x: 2 * x), [1.0]).ok


def test_a_bend_that_looks_like_a_kink_from_afar_is_not_trusted():
    # the rounding errors of 1e10 hide the bend at the scale 1e-6; larger steps see its ends, and their mean slope 10
    value = lambda x: 1e10 + 2e-5 * float(np.logaddexp(0, (x[0] - 1) / 1e-6))  # noqa: E731  (a formula)
    assert check_gradient(Problem(value, lambda x: 20 / (1 + np.exp((1 - x) / 1e-6))), [1 + 5e-7]).ok


def test_the_domain_may_end_nearby():
    log = Problem(lambda x: -float(np.log(x).sum()), lambda x: -1 / x)
    assert check_gradient(log, [1e-6, 2.0]).ok
    assert not check_gradient(Problem(log.value, lambda x: -1.001 / x), [1e-6, 2.0]).ok


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_either_precision_are_checked(dtype):
    A = np.array([[2.0, 1.0], [1.0, 3.0]], dtype=dtype)
    problem = lambda factor: Problem(lambda x: x @ A @ x / 2, lambda x: factor * A @ x, lambda x: A)  # noqa: E731  (a formula)
    x = np.array([0.3, 0.7], dtype=dtype)
    assert check_gradient(problem(1), x).ok
    assert not check_gradient(problem(1.0001), x).ok
    assert check_hessian(problem(1), x).ok


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("holds_tensors", [True, False])
def test_torch_functions_are_checked(dtype, holds_tensors):
    w = torch.tensor([1.0, -2.0], dtype=dtype) if holds_tensors else 1.0
    problem = lambda factor: Problem(lambda x: (w * x**2).sum(), lambda x: factor * 2 * w * x)  # noqa: E731  (a formula)
    x = torch.tensor([0.3, 0.7], dtype=dtype)
    assert check_gradient(problem(1), x).ok
    assert not check_gradient(problem(1.001), x).ok


# errors


def test_minimize_refuses_a_wrong_gradient_and_names_the_coordinate():
    slip = Problem(lambda x: float(x[0] ** 2 + x[1] ** 4), lambda x: np.array([2 * x[0], 3 * x[1] ** 3]))
    with pytest.raises(ValueError, match="got 24 in coordinate 1, where differences say 32. Correct that partial"):
        minimize(slip, [1.0, 2.0], check_gradient=True)
    require_gradient(Problem(slip.value), [1.0, 2.0])


def test_every_function_that_gives_a_gradient_is_checked():
    f = lambda x: float(x @ x)  # noqa: E731  (a formula)
    slip = Problem(f, lambda x: 2 * x, value_and_gradient=lambda x: (f(x), 3 * x))
    assert not check_gradient(slip, [1.0, 2.0]).ok
    sums = Problem(f, lambda x: 2 * x, terms=FiniteSum(4, lambda x, rows: 2 * x * len(rows)))  # a sum, not a mean
    assert check_gradient(sums, [1.0, 2.0]).relative_error == pytest.approx(0.75)
    means = Problem(f, lambda x: 2 * x, terms=FiniteSum(4, lambda x, rows: 2 * x * np.mean(rows >= 0)))
    assert check_gradient(means, [1.0, 2.0]).ok


def test_a_gradient_that_is_nan_is_wrong():
    check = check_gradient(Problem(lambda x: float(x @ x), lambda x: np.array([2 * x[0], np.nan])), [1.0, 2.0])
    assert (check.ok, check.worst) == (False, 1)


def test_bad_input_is_refused_in_a_sentence():
    bowl = Formula("x**2 + y**2").problem()
    with pytest.raises(ValueError, match="x must be a vector, got shape"):
        check_gradient(bowl, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="x must be finite"):
        check_gradient(bowl, [1.0, np.nan])
    with pytest.raises(ValueError, match="value must be finite at x, got inf"):
        check_gradient(Problem(lambda x: np.inf, lambda x: x), [1.0])
    with pytest.raises(ValueError, match=r"gradient must return an array of shape \(2,\), got \(3,\)"):
        check_gradient(Problem(lambda x: 0.0, lambda x: np.zeros(3)), [1.0, 2.0])
    with pytest.raises(ValueError, match="problem must have a gradient to check, got none"):
        check_gradient(Problem(bowl.value), [1.0, 2.0])
    with pytest.raises(ValueError, match="problem must have a hessian to check, got none"):
        check_hessian(Problem(bowl.value, bowl.gradient), [1.0, 2.0])
    with pytest.raises(ValueError, match="tol must be above 0, got 0"):
        check_gradient(bowl, [1.0, 2.0], tol=0)
