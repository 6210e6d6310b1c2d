"""Every rule by hand, on arrays and tensors, in both precisions, and against the theory of its rate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.optimize import (
    BFGS,
    DFP,
    FISTA,
    L1,
    LBFGS,
    METHODS,
    AcceleratedGradient,
    AdaGrad,
    Adam,
    AlternatingMinimization,
    Box,
    ConjugateGradient,
    CoordinateDescent,
    ExactStep,
    FixedStep,
    GradientDescent,
    Momentum,
    Nesterov,
    Newton,
    Problem,
    ProximalGradient,
    RMSProp,
    SquaredL2,
    StochasticGradient,
    Stopping,
    Subgradient,
    descend,
    quadratic,
)
from pellucid.optimize.methods import find_method
from pellucid.optimize.methods.lbfgs import LBFGSState, empty_rows, inverse_hessian_product, remember
from pellucid.optimize.methods.quasi_newton import bfgs_update, dfp_update
from pellucid.optimize.oracle import Oracle

PARABOLA = Problem(lambda x: float(x[0] ** 2) / 2, lambda x: x + 0)
"""f(x) = x^2 / 2, whose gradient at x is x."""


def iterates(problem, start, method, steps):
    with pellucid.record():
        solution = descend(problem, start, method, stopping=Stopping(gradient=0.0, max_iter=steps))
    return [state["x"] for state in solution.trace.states]


# by hand


def test_gradient_descent_halves_the_distance_with_step_one_half():
    assert [x[0] for x in iterates(PARABOLA, [8.0], GradientDescent(0.5), 3)] == [8.0, 4.0, 2.0, 1.0]


def test_exact_line_search_makes_successive_gradients_orthogonal():
    # f = x^2/2 + 2y^2 at (4, 1): gradient (4, 4), step 32 / (16 + 64) = 2/5, next (12/5, -3/5), gradient (12/5, -12/5)
    x = iterates(quadratic(np.diag([1.0, 4.0])), [4.0, 1.0], GradientDescent(ExactStep()), 1)[1]
    np.testing.assert_allclose(x, [12 / 5, -3 / 5], rtol=1e-15)


def test_momentum_rolls_on():
    # v = -8/2 = -4, x = 4; v = -4/4 - 4/2 = -3, x = 1; v = -3/4 - 1/2 = -5/4, x = -1/4
    assert [x[0] for x in iterates(PARABOLA, [8.0], Momentum(0.5, momentum=0.25), 3)] == [8.0, 4.0, 1.0, -0.25]


def test_nesterov_looks_ahead():
    # v = -4, x = 4; ahead 4 - 2 = 2, v = -2 - 1 = -3, x = 1; ahead 1 - 3/2 = -1/2, v = -3/2 + 1/4, x = -1/4
    assert [x[0] for x in iterates(PARABOLA, [8.0], Nesterov(0.5, momentum=0.5), 3)] == [8.0, 4.0, 1.0, -0.25]


def test_adagrad_divides_by_the_root_of_the_sum():
    # g = 3: r = 9, x = 3 - 3/3 = 2; g = 2: r = 13, x = 2 - 2/sqrt(13)
    xs = iterates(PARABOLA, [3.0], AdaGrad(1.0), 2)
    np.testing.assert_allclose([x[0] for x in xs], [3.0, 2.0, 2 - 2 / np.sqrt(13)], atol=1e-9)


def test_rmsprop_divides_by_the_root_of_the_moving_mean():
    # g = 4: r = (1/4) 16 = 4, x = 4 - 4/2 = 2; g = 2: r = (3/4) 4 + (1/4) 4 = 4, x = 2 - 2/2 = 1
    xs = iterates(PARABOLA, [4.0], RMSProp(1.0, decay=0.75), 2)
    np.testing.assert_allclose([x[0] for x in xs], [4.0, 2.0, 1.0], atol=1e-7)


def test_adam_corrects_its_bias():
    # the first step is eta * sign(g), whatever the decays: m / (1 - d1) = g and r / (1 - d2) = g^2
    xs = iterates(PARABOLA, [4.0], Adam(0.5, decay1=0.5, decay2=0.75), 2)
    assert xs[1][0] == pytest.approx(3.5)
    # m = 2/2 + 3.5/2 = 11/4, corrected by 3/4: 11/3; r = (3/4) 4 + 49/16 = 97/16, corrected by 7/16: 97/7
    assert xs[2][0] == pytest.approx(3.5 - 0.5 * (11 / 3) / np.sqrt(97 / 7))


def test_a_proximal_step_is_a_soft_threshold():
    # x - g = 3 at once, then the threshold takes 1
    problem = replace(quadratic(np.array([[1.0]]), np.array([3.0])), penalty=L1(1.0))
    assert iterates(problem, [0.0], ProximalGradient(1.0), 1)[1][0] == 2.0


def test_fista_looks_ahead_from_the_second_step_on():
    # f = x^2/2, step 1/2, no penalty: x1 = 4; w: 1 -> (1 + sqrt 5)/2, ahead = 4 + 0; x2 = 2, ahead = 2 - 2 (w1 - 1)/w2
    xs = iterates(PARABOLA, [8.0], FISTA(0.5), 3)
    w1 = (1 + np.sqrt(5)) / 2
    w2 = (1 + np.sqrt(1 + 4 * w1**2)) / 2
    np.testing.assert_allclose([x[0] for x in xs], [8, 4, 2, (2 - 2 * (w1 - 1) / w2) / 2])


def test_accelerated_gradient_uses_what_it_knows_of_the_curvature():
    # mu = eta = 1/2: the momentum is (1 - 1/2) / (1 + 1/2) = 1/3; x1 = 4, ahead 4 - 4/3 = 8/3, x2 = 4/3
    problem = replace(PARABOLA, strong_convexity=0.5)
    xs = iterates(problem, [8.0], AcceleratedGradient(0.5), 2)
    np.testing.assert_allclose([x[0] for x in xs], [8, 4, 4 / 3])


def test_an_unknown_smoothness_is_found_by_halving():
    # f = 10 x^2 / 2: 1/16 is the first step at most 1/10, so x1 = 8 (1 - 10/16) = 3
    problem = Problem(lambda x: 5 * float(x[0] ** 2), lambda x: 10 * x)
    assert iterates(problem, [8.0], ProximalGradient(), 1)[1][0] == 3.0


def test_bfgs_and_dfp_updates_by_hand():
    # H = I, s = (1, 0), y = (2, 1): rho = 1/2
    H, s, y = np.eye(2), np.array([1.0, 0.0]), np.array([2.0, 1.0])
    np.testing.assert_allclose(bfgs_update(H, s, y), [[0.75, -0.5], [-0.5, 1.0]])
    np.testing.assert_allclose(dfp_update(H, s, y), [[0.7, -0.4], [-0.4, 0.8]])


@pytest.mark.parametrize("update", [bfgs_update, dfp_update])
@given(st.integers(0, 10**6))
def test_updates_satisfy_the_secant_equation_and_stay_positive_definite(update, seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((4, 4))
    H, s = factor @ factor.T + np.eye(4), rng.standard_normal(4)
    y = s + 0.1 * rng.standard_normal(4)
    if s @ y <= 1e-3:
        return
    new = update(H, s, y)
    np.testing.assert_allclose(new @ y, s, atol=1e-8)
    np.testing.assert_allclose(new, new.T, atol=1e-8)
    assert np.linalg.eigvalsh(new)[0] > 0


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_compact_form_equals_the_updates_one_by_one(seed, memory):
    rng = np.random.default_rng(seed)
    start = LBFGS(memory).start(Oracle(quadratic(np.eye(3))), np.ones(3))
    assert isinstance(start, LBFGSState)
    pairs, kept = start.pairs, []
    for _ in range(9):
        s = rng.standard_normal(3)
        y = s + 0.2 * rng.standard_normal(3)
        if s @ y <= 1e-2:
            continue
        pairs, kept = remember(pairs, s, y, memory), [*kept, (s, y)][-memory:]
    if not kept:
        return
    s, y = kept[-1]
    H = np.eye(3) * (s @ y) / (y @ y)
    for s, y in kept:
        H = bfgs_update(H, s, y)
    g = rng.standard_normal(3)
    np.testing.assert_allclose(inverse_hessian_product(pairs, g), H @ g, rtol=1e-6, atol=1e-8)


def test_old_states_stay_what_they_were():
    problem, method = quadratic(np.diag([1.0, 10.0, 100.0])), LBFGS(memory=2)
    oracle = Oracle(problem)
    states = [method.start(oracle, np.ones(3))]
    for _ in range(4):
        states.append(method.step(oracle, states[-1]))
    again = method.step(oracle, states[2])  # branch off an old state: the newer ones must not notice
    np.testing.assert_allclose(again.x, states[3].x, rtol=1e-12)
    np.testing.assert_allclose(method.step(oracle, states[3]).x, states[4].x, rtol=1e-12)


def test_windows_of_one_buffer_do_not_disturb_each_other():
    base = empty_rows(np.zeros(2), 2).appended(np.array([1.0, 1.0]), 2)
    one, other = base.appended(np.array([2.0, 2.0]), 2), base.appended(np.array([3.0, 3.0]), 2)
    np.testing.assert_array_equal(one.matrix, [[1, 1], [2, 2]])
    np.testing.assert_array_equal(other.matrix, [[1, 1], [3, 3]])


@pytest.mark.parametrize("method", [ConjugateGradient(line_search=ExactStep()), BFGS(ExactStep()), DFP(ExactStep())])
def test_conjugate_directions_end_after_n_steps(method):
    A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
    solution = descend(quadratic(A, np.ones(3)), np.zeros(3), method, stopping=Stopping(1e-10))
    assert solution.n_iter <= 3


@pytest.mark.parametrize("formula", ["fletcher-reeves", "polak-ribiere", "hestenes-stiefel"])
def test_every_formula_of_conjugate_gradients_solves_rosenbrock(formula):
    from pellucid.optimize.more_garbow_hillstrom import more_garbow_hillstrom

    test = more_garbow_hillstrom()[0]
    assert descend(test.problem, test.start, ConjugateGradient(formula)).certificate.holds


def test_coordinate_descent_minimizes_one_coordinate_at_a_time():
    # f = x^2 + xy + y^2 - 3x from (0, 0): x = 3/2, then y = -x/2 = -3/4, then x = (3 - y)/2 = 15/8
    A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.0])
    xs = iterates(quadratic(A, b), [0.0, 0.0], CoordinateDescent(), 2)
    np.testing.assert_allclose(xs[1], [3 / 2, -3 / 4])
    np.testing.assert_allclose(xs[2], [15 / 8, -15 / 16])


def test_greedy_coordinate_descent_takes_the_steepest():
    # the gradient at 0 is (-1, -100): y first and y only, then x
    xs = iterates(quadratic(np.diag([1.0, 100.0]), np.array([1.0, 100.0])), [0.0, 0.0], CoordinateDescent("greedy"), 1)
    np.testing.assert_allclose(xs[1], [1.0, 1.0])


def test_random_coordinate_descent_is_reproducible():
    A = np.eye(4) + 0.3
    once, again, other = (
        iterates(quadratic(A, np.arange(4.0)), np.zeros(4), CoordinateDescent("random", random_state=seed), 1)[1]
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_coordinate_descent_solves_a_lasso():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    problem = replace(quadratic(X.T @ X / 30, X.T @ y / 30), penalty=L1(0.1))
    from pellucid.linear_model import Lasso

    right = Lasso(0.1, fit_intercept=False, tol=1e-10).fit(X, y).coef_
    for method in (CoordinateDescent(), FISTA(), ProximalGradient()):
        np.testing.assert_allclose(descend(problem, np.zeros(5), method).x, right, atol=1e-5)


def test_coordinate_descent_works_without_a_formula():
    problem = Problem(
        lambda x: float(np.exp(x[0]) - x[0] + (x[0] - x[1]) ** 2),
        lambda x: np.array([np.exp(x[0]) - 1 + 2 * (x[0] - x[1]), 2 * (x[1] - x[0])]),
    )
    np.testing.assert_allclose(descend(problem, [1.0, -1.0], CoordinateDescent()).x, [0.0, 0.0], atol=1e-5)


def test_a_box_gives_projected_gradients():
    problem = replace(quadratic(np.eye(2), np.array([3.0, -0.5])), penalty=Box(0.0, 1.0))
    np.testing.assert_allclose(descend(problem, [0.5, 0.5], "proximal gradient").x, [1.0, 0.0])


def test_a_ridge_penalty_shrinks():
    problem = replace(quadratic(np.eye(2), np.array([3.0, -1.0])), penalty=SquaredL2(1.0))
    np.testing.assert_allclose(descend(problem, [0.0, 0.0], "fista").x, [1.5, -0.5], atol=1e-5)


def test_alternating_minimization_halves_the_error():
    # min over x of (x - y)^2 + y^2 is x = y, over y it is y = x/2
    problem = Problem(lambda x: float((x[0] - x[1]) ** 2 + x[1] ** 2))
    blocks = [lambda x: np.array([x[1], x[1]]), lambda x: np.array([x[0], x[0] / 2])]
    xs = iterates(problem, [1.0, 1.0], AlternatingMinimization(blocks), 2)
    np.testing.assert_array_equal(xs, [[1, 1], [1, 0.5], [0.5, 0.25]])


def test_subgradients_keep_the_best_point():
    # |x| from 1 with steps 3/4: 1, 1/4, -1/2, 1/4: the third is worse than the second
    problem = Problem(lambda x: float(np.abs(x).sum()), np.sign)
    assert [x[0] for x in iterates(problem, [1.0], Subgradient(0.75), 3)] == [1.0, 0.25, 0.25, 0.25]


def test_newton_turns_away_from_a_saddle():
    # f = x^2 - y^2 + y^4 from (1, 0.1): the Hessian has the eigenvalue -2 + 12/100 < 0
    problem = Problem(
        lambda x: float(x[0] ** 2 - x[1] ** 2 + x[1] ** 4),
        lambda x: np.array([2 * x[0], -2 * x[1] + 4 * x[1] ** 3]),
        lambda x: np.diag([2.0, -2.0 + 12 * x[1] ** 2]),
    )
    for repair in ("eigenvalues", "bunch-kaufman"):
        solution = descend(problem, [1.0, 0.1], Newton(repair=repair))
        np.testing.assert_allclose(solution.x, [0.0, np.sqrt(0.5)], atol=1e-6)
        assert solution.certificate.holds


def test_undamped_newton_may_diverge_where_the_damped_one_does_not():
    # f = sqrt(1 + x^2): the full step from 2 goes to -8
    problem = Problem(
        lambda x: float(np.sqrt(1 + x[0] ** 2)),
        lambda x: x / np.sqrt(1 + x[0] ** 2),
        lambda x: np.array([[(1 + x[0] ** 2) ** -1.5]]),
    )
    assert iterates(problem, [2.0], Newton(FixedStep(1.0)), 1)[1][0] == pytest.approx(-8.0)
    assert descend(problem, [2.0], Newton()).certificate.holds


# properties: theory


def strongly_convex(seed, mu=1.0, L=100.0, n=20):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = Q @ np.diag(np.geomspace(mu, L, n)) @ Q.T
    A = (A + A.T) / 2
    return replace(quadratic(A), strong_convexity=mu, smoothness=L), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_descent_keeps_its_rate(seed):
    # with eta = 2/(mu + L) the error shrinks by (kappa - 1)/(kappa + 1) in every step
    problem, start = strongly_convex(seed)
    norms = [np.linalg.norm(x) for x in iterates(problem, start, GradientDescent(2 / 101), 500)]
    assert (np.divide(norms[1:], norms[:-1]) <= 99 / 101 * (1 + 1e-9)).all()
    assert (norms[500] / norms[400]) ** (1 / 100) == pytest.approx(99 / 101, rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_exact_line_search_obeys_kantorovich(seed):
    # f falls at least by ((kappa - 1)/(kappa + 1))^2 per step
    problem, start = strongly_convex(seed)
    values = [problem.value(x) for x in iterates(problem, start, GradientDescent(ExactStep()), 50)]
    assert (np.divide(values[1:], values[:-1]) <= (99 / 101) ** 2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(3))
def test_momentum_keeps_its_rate(seed):
    # the optimal heavy ball shrinks the error by (sqrt(kappa) - 1)/(sqrt(kappa) + 1) = 9/11 per step, in the long run
    problem, start = strongly_convex(seed)
    method = Momentum(4 / (10 + 1) ** 2, momentum=(9 / 11) ** 2)
    norms = [np.linalg.norm(x) for x in iterates(problem, start, method, 120)]
    assert (norms[120] / norms[60]) ** (1 / 60) == pytest.approx(9 / 11, rel=0.03)
    # and never leaves the bound C (t + 1) rho^t: the roots of its recursion are double at both ends of the spectrum
    bounds = 4 * norms[0] * (1 + np.arange(121)) * (9 / 11) ** np.arange(121)
    assert (norms <= bounds).all()


@pytest.mark.parametrize("seed", range(3))
def test_accelerated_gradient_keeps_its_rate_if_strongly_convex(seed):
    # f - f* <= (1 - 1/sqrt(kappa))^t (f0 - f* + mu/2 |x0 - x*|^2)
    problem, start = strongly_convex(seed)
    xs = iterates(problem, start, AcceleratedGradient(), 150)
    first = problem.value(start) + np.sum(start**2) / 2
    assert (np.array([problem.value(x) for x in xs]) <= first * 0.9 ** np.arange(151) * (1 + 1e-9)).all()
    plain = iterates(problem, start, GradientDescent(0.01), 150)
    assert problem.value(xs[-1]) < 1e-4 * problem.value(plain[-1])


@pytest.mark.parametrize("seed", range(3))
def test_accelerated_gradient_keeps_its_rate_if_only_convex(seed):
    # f - f* <= 2 L |x0 - x*|^2 / (t + 1)^2
    problem, start = strongly_convex(seed, mu=1e-6, L=1.0)
    problem = replace(problem, strong_convexity=0.0)
    values = np.array([problem.value(x) for x in iterates(problem, start, AcceleratedGradient(), 200)])
    assert (
        values <= 2 * np.sum(start**2) / (np.arange(201) + 1.0) ** 2 + 2 * np.sum(start**2) * (np.arange(201) == 0)
    ).all()


def lasso_problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 120)) @ np.diag(np.geomspace(1, 0.02, 120))
    y = X[:, :10].sum(axis=1) + 0.1 * rng.standard_normal(60)
    return replace(quadratic(X.T @ X / 60, X.T @ y / 60), penalty=L1(1e-4))


@pytest.mark.parametrize("seed", range(2))
def test_fista_beats_ista_by_the_expected_order(seed):
    problem, zero = lasso_problem(seed), np.zeros(120)
    best = descend(problem, zero, FISTA(), stopping=Stopping(1e-9, max_iter=20000)).x
    lowest, distance = problem.objective(best), np.sum(best**2)
    steps = 400
    ista, fista = (
        np.array([problem.objective(x) for x in iterates(problem, zero, method, steps)]) - lowest
        for method in (ProximalGradient(), FISTA())
    )
    t = np.arange(1, steps + 1)
    assert (ista[1:] <= problem.smoothness * distance / (2 * t)).all()  # 1/t
    assert (fista[1:] <= 2 * problem.smoothness * distance / (t + 1) ** 2).all()  # 1/t^2
    # steps to reach what ISTA reaches: at most 4 sqrt(t), the order that the two bounds promise
    assert np.argmax(fista <= ista[-1]) <= 4 * np.sqrt(steps)


# properties: arrays and tensors, both precisions


def settings(name):
    return {
        "stochastic gradient": StochasticGradient(0.1),
        "adagrad": AdaGrad(0.5),
        "rmsprop": RMSProp(lambda t: 0.1 / (1 + t)),
        "adam": Adam(lambda t: 0.3 / (1 + 0.1 * t)),
        "momentum": Momentum(0.05),
        "nesterov": Nesterov(0.05),
        "gradient descent exactly": GradientDescent(ExactStep()),
    }.get(name) or find_method(name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("name", [*METHODS, "gradient descent exactly"])
def test_every_method_takes_arrays_and_tensors_in_both_precisions(name, kind, dtype):
    A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    make = (
        (lambda a: np.asarray(a, dtype=dtype))
        if kind == "numpy"
        else (lambda a: torch.tensor(a, dtype=getattr(torch, dtype)))
    )
    solution = descend(quadratic(make(A), make(b)), make(np.zeros(2)), settings(name), stopping=Stopping(max_iter=3000))
    assert type(solution.x) is type(make(b))
    assert str(solution.x.dtype).removeprefix("torch.") == dtype
    np.testing.assert_allclose(np.asarray(solution.x), [0.2, 0.4], atol=0.05)


@pytest.mark.parametrize("name", METHODS)
def test_tensors_and_arrays_give_the_same_numbers(name):
    A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    ours = descend(quadratic(A, b), np.zeros(2), settings(name), stopping=Stopping(max_iter=5)).x
    theirs = descend(
        quadratic(torch.tensor(A), torch.tensor(b)), torch.zeros(2, dtype=torch.float64), settings(name),
        stopping=Stopping(max_iter=5),
    ).x  # fmt: skip
    np.testing.assert_allclose(np.asarray(theirs), ours, rtol=1e-10, atol=1e-12)


def test_torch_differentiates_what_brings_no_gradient():
    problem = Problem(lambda x: ((x - 1) ** 4).sum() + (x[0] * x[1]) ** 2)
    solution = descend(problem, torch.tensor([2.0, -1.0], dtype=torch.float64))
    assert solution.certificate["gradient"].holds
    assert not solution.x.requires_grad


def test_torch_values_without_a_graph_are_refused():
    with pytest.raises(TypeError, match="value must return a torch number that remembers its graph"):
        descend(Problem(lambda x: 0.0), torch.ones(2))


def test_tensors_agree_with_the_optimizers_of_torch():
    A = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    problem = quadratic(A, torch.ones(2, dtype=torch.float64))
    pairs = [
        (Adam(0.1), lambda p: torch.optim.Adam(p, lr=0.1)),
        (RMSProp(0.1, decay=0.9), lambda p: torch.optim.RMSprop(p, lr=0.1, alpha=0.9)),
        (AdaGrad(0.1), lambda p: torch.optim.Adagrad(p, lr=0.1)),
        (Momentum(0.1, momentum=0.5), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5)),
    ]
    for method, make in pairs:
        x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        optimizer = make([x])
        for _ in range(10):
            optimizer.zero_grad()
            (x @ (A @ x) / 2 - x.sum()).backward()
            optimizer.step()
        ours = descend(
            problem, torch.zeros(2, dtype=torch.float64), method, stopping=Stopping(gradient=0, max_iter=10)
        ).x
        np.testing.assert_allclose(np.asarray(ours), x.detach().numpy(), rtol=1e-8)


# errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(0.0), "step_size must be above 0, got 0.0"),
        (lambda: Momentum(0.1, momentum=1.0), "momentum must be at least 0 and below 1, got 1.0"),
        (lambda: Adam(decay2=1.5), "decay2 must be at least 0 and below 1, got 1.5"),
        (lambda: RMSProp(epsilon=0.0), "epsilon must be above 0, got 0.0"),
        (lambda: LBFGS(memory=0), "memory must be at least 1, got 0"),
        (lambda: ConjugateGradient("dai-yuan"), "formula must be one of .* got 'dai-yuan'"),
        (lambda: CoordinateDescent("zigzag"), "order must be one of .* got 'zigzag'"),
        (lambda: Newton(repair="none"), "repair must be one of .* got 'none'"),
        (lambda: L1(-1.0), "alpha must be at least 0, got -1.0"),
        (lambda: Box(1.0, 0.0), "low must be at most high, got 1.0 and 0.0. Swap them"),
        (lambda: Subgradient(radius=0.0), "radius must be above 0, got 0.0"),
        (lambda: quadratic(np.ones((2, 3))), r"A must be a square matrix, got shape \(2, 3\)"),
        (lambda: quadratic(np.array([[1.0, 2.0], [0.0, 1.0]])), r"A must be symmetric, got a matrix that is not"),
        (lambda: quadratic(np.eye(2), np.ones(3)), r"b must have shape \(2,\), got \(3,\)"),
    ],
)
def test_bad_settings_get_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_exact_steps_need_a_quadratic():
    with pytest.raises(ValueError, match="problem must be quadratic for ExactStep, got one that does not say so"):
        descend(PARABOLA, [1.0], GradientDescent(ExactStep()))


def test_exact_steps_notice_a_direction_without_a_minimum():
    solution = descend(quadratic(np.diag([1.0, -1.0])), [0.0, 1.0], GradientDescent(ExactStep()))
    assert "falls without end along the line" in solution.certificate.reason


def test_fractions_are_the_oracle_of_gradient_descent():
    # f = x^2 + xy + y^2 with step 1/4, five steps in exact arithmetic
    x, y = Fraction(1), Fraction(-2)
    for _ in range(5):
        x, y = x - (2 * x + y) / 4, y - (x + 2 * y) / 4
    last = iterates(quadratic(np.array([[2.0, 1.0], [1.0, 2.0]])), [1.0, -2.0], GradientDescent(0.25), 5)[-1]
    np.testing.assert_allclose(last, [float(x), float(y)], rtol=1e-15)
