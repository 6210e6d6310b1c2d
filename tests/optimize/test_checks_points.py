import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.optimize import L1, Formula, Problem
from pellucid.optimize.checks.convexity import check_convexity
from pellucid.optimize.checks.stationary_point import classify

BOX = ([-1.0, -1.0], [1.0, 1.0])


def without_hessian(problem):
    return Problem(problem.value, problem.gradient)


def jensen_gap(f, found):
    return f(found.between) - (found.t * f(found.x) + (1 - found.t) * f(found.y))


# by hand


@pytest.mark.parametrize("strip", [lambda problem: problem, without_hessian])
@pytest.mark.parametrize(
    ("text", "point", "kind"),
    [
        ("x**2 + 3*y**2", [0, 0], "minimum"),
        ("-x**2 - 3*y**2", [0, 0], "maximum"),
        ("x**2 - y**2", [0, 0], "saddle"),
        ("x**4 + y**4", [0, 0], "degenerate"),
        ("x**2 + y**3", [0, 0], "degenerate"),
        ("x**2 + y**2", [1, 0], "not stationary"),
        ("(1 - x)**2 + 100*(y - x**2)**2", [1, 1], "minimum"),
        ("1e10*(x - 1)**2 + 1e10*y**2", [1, 0], "minimum"),
        ("1e-10*x**2 + 1e-10*y**2", [1, 0], "not stationary"),
    ],
)
def test_textbook_points_are_classified(strip, text, point, kind):
    assert classify(strip(Formula(text).problem()), point).kind == kind


def test_the_eigenvalues_and_the_way_down_from_a_saddle():
    f = Formula("x**2 - y**2").problem()
    found = classify(f, [0.0, 0.0])
    np.testing.assert_allclose(found.eigenvalues, [-2, 2])
    np.testing.assert_allclose(np.abs(found.direction), [0, 1])
    assert found.decrease == pytest.approx(found.step**2)
    assert f.value(found.step * found.direction) == pytest.approx(-found.decrease)
    assert "saddle" in repr(found)


def test_where_the_second_order_says_nothing_a_step_down_may_still_be_found():
    monkey = Formula("x**3 - 3*x*y**2").problem()
    found = classify(monkey, [0.0, 0.0])
    assert found.kind == "degenerate"
    assert monkey.value(found.step * found.direction) < 0
    assert "the second order says nothing" in repr(found)


def test_a_minimum_of_fourth_order_is_not_refuted_by_a_far_lower_value():
    found = classify(Formula("x**4 - x**6/1000 + y**2").problem(), [0.0, 0.0])
    assert (found.kind, found.step) == ("degenerate", None)


def test_a_hole_in_the_domain_refutes_convexity():
    check = check_convexity(lambda x: np.inf if x @ x < 0.1 else 0.0, box=BOX)
    assert check.counterexample.gap == np.inf
    assert check.counterexample.between @ check.counterexample.between < 0.1


def test_the_search_never_says_convex():
    assert repr(check_convexity(Formula("x**2 + x*y + y**2").problem(), box=BOX)) == (
        "ConvexityCheck(no counterexample in 1000 segments, 100 tangents and 20 Hessians)"
    )


def test_negative_curvature_in_a_small_corner_is_found_by_the_hessian():
    # the second derivative 2 - 400 (x - 0.995) is negative for x > 1 only
    f = Formula("x**2 - (x - 199/200)**3*200/3", ["x"]).problem()
    check = check_convexity(f, box=([0.9], [1.02]), n_pairs=200)
    assert check.counterexample.gap > 0
    assert jensen_gap(f.value, check.counterexample) == pytest.approx(check.counterexample.gap)
    assert "NOT convex" in repr(check)


def test_a_direction_of_negative_curvature_is_followed_inside_the_box_only():
    check = check_convexity(Formula("x**2 - y**4", ["x", "y"]).problem(), box=([0.9, -0.1], [1.1, 0.1]), n_pairs=30)
    found = check.counterexample
    for end in (found.x, found.y):
        assert (np.abs(end - [1.0, 0.0]) <= 0.1 + 1e-12).all()


# properties


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_a_counterexample_holds_when_evaluated_again_and_lies_in_the_box(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 3))
    f = lambda x: float(x @ (A + A.T) @ x)  # noqa: E731  (a formula)
    check = check_convexity(f, box=(-np.ones(3), np.ones(3)), n_pairs=300, random_state=seed)
    smallest = np.linalg.eigvalsh(A + A.T)[0]
    assert check.is_refuted == (smallest < 0)
    if check.is_refuted:
        found = check.counterexample
        assert found.gap > 0
        assert jensen_gap(f, found) == pytest.approx(found.gap)
        assert max(np.abs(found.x).max(), np.abs(found.y).max()) <= 1


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(-8, 8), st.integers(-5, 10), st.sampled_from(["affine", "square", "norm", "max"])
)
def test_rounding_makes_no_counterexample(seed, width, offset, kind):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((4, 2))
    convex = {
        "affine": lambda x: float(A[0] @ x + 10.0**offset),
        "square": lambda x: float(np.sum((A @ x) ** 2) + 10.0**offset),
        "norm": lambda x: float(np.linalg.norm(A @ x) - 10.0**offset),
        "max": lambda x: float(np.max(A @ x) * 10.0**offset),
    }[kind]
    s = 10.0**width * np.ones(2)
    assert not check_convexity(convex, box=(-s, s), n_pairs=100).is_refuted
    assert not check_convexity(lambda x: float(np.float32(convex(x))), box=(-s, s), n_pairs=100).is_refuted


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(-6, 6))
def test_a_point_found_by_newton_is_a_minimum_at_any_scale(seed, height):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((3, 3)), rng.standard_normal(3)
    Q, h = A @ A.T + np.eye(3), 10.0**height
    problem = Problem(lambda x: h * float(x @ Q @ x / 2 - b @ x), lambda x: h * (Q @ x - b), lambda x: h * Q)
    assert classify(problem, np.linalg.solve(Q, b)).kind == "minimum"
    assert classify(problem, np.linalg.solve(Q, b) + 1e-2).kind == "not stationary"


def test_points_and_torch_regions_work():
    points = np.random.default_rng(0).standard_normal((20, 2))
    assert check_convexity(Formula("x*y").problem(), points=points).is_refuted
    box = (torch.tensor([-1.0]), torch.tensor([1.0]))
    assert check_convexity(lambda x: -(x**2).sum(), box=box).is_refuted
    assert classify(Problem(lambda x: (x**2).sum(), lambda x: 2 * x), torch.zeros(2)).kind == "minimum"


# errors


def test_bad_input_is_refused_in_a_sentence():
    bowl = Formula("x**2 + y**2").problem()
    with pytest.raises(ValueError, match="region must be given by box or by points, got both or neither"):
        check_convexity(bowl)
    with pytest.raises(ValueError, match=r"box must be \(low, high\) with low < high"):
        check_convexity(bowl, box=([1, 1], [0, 2]))
    with pytest.raises(ValueError, match="points must have shape"):
        check_convexity(bowl, points=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="value must be a number in the whole region, got nan at"):
        check_convexity(lambda x: float(np.log(x[0])), box=([-1.0], [1.0]))
    with pytest.raises(ValueError, match="n_pairs must be at least 1, got 0"):
        check_convexity(bowl, box=BOX, n_pairs=0)
    with pytest.raises(ValueError, match="problem must have no penalty"):
        classify(Problem(bowl.value, bowl.gradient, penalty=L1(1.0)), [0.0, 0.0])
    with pytest.raises(ValueError, match="x must have at most 500 variables, got 501"):
        classify(bowl, np.zeros(501))
    with pytest.raises(ValueError, match="problem must have a gradient, got none"):
        classify(Problem(bowl.value), [0.0, 0.0])
    with pytest.raises(ValueError, match="value must be finite at x, got nan"):
        classify(Problem(lambda x: np.nan, lambda x: x), [0.0])
