from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from sympy import Rational, exp, symbols

import pellucid
from pellucid.optimize import (
    BFGS,
    DFP,
    FISTA,
    LBFGS,
    AcceleratedGradient,
    AdaGrad,
    Adam,
    AlternatingMinimization,
    Backtracking,
    ConjugateGradient,
    CoordinateDescent,
    CosineDecay,
    ExactStep,
    FixedStep,
    Formula,
    GradientDescent,
    InverseTime,
    Momentum,
    Nesterov,
    Newton,
    ProximalGradient,
    RMSProp,
    StochasticGradient,
    Stopping,
    StrongWolfe,
    Subgradient,
    descend,
    workings,
)
from pellucid.optimize.workings import METHOD_WORKINGS, show_steps
from pellucid.optimize.workings.stochastic_gradient_workings import as_terms, mean_problem
from pellucid.show.document import Document, formula
from pellucid.show.notation import root
from pellucid.show.text_layout import width

ROSENBROCK = "(1 - x)**2 + 100*(y - x**2)**2"
SMOOTH = "exp(x) + exp(-2*x) + x*y/2 + y**2"
QUADRATIC = "2*x**2 + x*y + y**2 + w**2 + w*y/3 - x"
POWELL = "(x1 + 10*x2)**2 + 5*(x3 - x4)**2 + (x2 - 2*x3)**4 + 10*(x1 - x4)**4"
TRIALS = Backtracking()

BLOCKS = AlternatingMinimization(
    [lambda v: np.array([-v[2] / 6, (1 - v[2]) / 4, v[2]]), lambda v: np.array([v[0], v[1], -v[0] / 6 - v[1] / 2])]
)
EXAMPLES = [
    (GradientDescent(), ROSENBROCK, [-1.2, 1]),
    (GradientDescent(0.001), POWELL, [3, -1, 0, 1]),
    (GradientDescent(ExactStep()), QUADRATIC, [1, 2, 3]),
    (GradientDescent(StrongWolfe(curvature=0.1)), "sin(8*x) + x**2/10", [-2]),  # a trial beyond a second valley
    (Momentum(CosineDecay(0.01)), SMOOTH, [1, 1]),
    (Nesterov(InverseTime(0.01)), SMOOTH, [1, 1]),
    (AdaGrad(), ROSENBROCK, [-1.2, 1]),
    (RMSProp(), ROSENBROCK, [-1.2, 1]),
    (Adam(0.1), ROSENBROCK, [-1.2, 1]),
    (Newton(TRIALS), ROSENBROCK, [-1.2, 1]),
    (Newton(TRIALS), "x**4 - x**2 + x*y + y**2/3", [0, 1]),
    (Newton(TRIALS, repair="bunch-kaufman"), "x**4 - x**2/100 + 3*x*y + y**2/3 - w*x + w**2/7 - y**2*w", [0, 1, 1]),
    (BFGS(), SMOOTH, [1, 1]),
    (BFGS(TRIALS), POWELL, [3, -1, 0, 1]),
    (DFP(TRIALS), ROSENBROCK, [-1.2, 1]),
    (BFGS(), ROSENBROCK, [-1.2, 1]),
    (LBFGS(), POWELL, [3, -1, 0, 1]),
    (Newton(), ROSENBROCK, [-1.2, 1]),
    (ConjugateGradient(), ROSENBROCK, [-1.2, 1]),
    (LBFGS(2, TRIALS), ROSENBROCK, [-1.2, 1]),
    (ConjugateGradient(line_search=TRIALS), SMOOTH, [1, 1]),
    (FISTA(), ROSENBROCK, [-1.2, 1]),
    (AcceleratedGradient(), ROSENBROCK, [-1.2, 1]),
    (FISTA(0.001), POWELL, [3, -1, 0, 1]),
    (ProximalGradient(), SMOOTH, [1, 1]),
    (ConjugateGradient("hestenes-stiefel", ExactStep()), QUADRATIC, [1, 2, 3]),
    (ConjugateGradient("fletcher-reeves", TRIALS), ROSENBROCK, [-1.2, 1]),
    (CoordinateDescent(), QUADRATIC, [1, 2, 3]),
    (CoordinateDescent("greedy"), QUADRATIC, [1, 2, 3]),
    (BLOCKS, QUADRATIC, [1, 2, 3]),
    (Subgradient(), "abs(x) + 2*abs(y - 1) + Max(x, y)", [2, 0.3]),
]
each_example = pytest.mark.parametrize(("method", "function", "start"), EXAMPLES, ids=lambda v: type(v).__name__)


@each_example
def test_agrees_with_the_program(method, function, start):
    exact = np.array(show_steps(method, function, start, steps=4).answer["reported"], dtype=float)
    with pellucid.record():
        solution = descend(
            Formula(function).problem(), np.array(start, dtype=float), method,
            stopping=Stopping(gradient=0.0, max_iter=len(exact) - 1),
        )  # fmt: skip
    program = np.array([state["x"] for state in solution.trace.states])
    np.testing.assert_allclose(program, exact, rtol=1e-12, atol=1e-12)


@each_example
def test_prints_in_every_format_within_eighty_columns(method, function, start):
    work = show_steps(method, function, start)
    assert max(map(width, work.text().splitlines())) <= 80
    assert "more than rounding" not in work.text()
    for format_ in ("markdown", "latex", "html"):
        assert len(work.printed(format_)) > 1000


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_batches_come_in_the_order_of_the_program(batch_size):
    terms = ["(x - 1)**2", "(x + y - 2)**2", "(2*y - x)**2", "x**4", "(y + 1)**2"]
    method = StochasticGradient(InverseTime(0.1))
    work = show_steps(method, terms, [0.5, 1], steps=2, batch_size=batch_size, random_state=7)
    with pellucid.record():
        solution = descend(
            mean_problem(as_terms(terms)), [0.5, 1.0], method,
            stopping=Stopping(gradient=0.0, max_iter=2), batch_size=batch_size, random_state=7,
        )  # fmt: skip
    program = np.array([state["x"] for state in solution.trace.states])
    np.testing.assert_allclose(program, np.array(work.answer["reported"], dtype=float), rtol=1e-12)
    assert "more than rounding" not in work.text()
    assert len(work.latex()) > 1000
    assert len(work.html()) > 1000


def test_every_method_with_workings_is_tried_here():
    assert {type(method).__name__ for method, _, _ in EXAMPLES} == set(METHOD_WORKINGS)


def test_show_work_takes_methods_too():
    work = pellucid.show_work(GradientDescent(0.25), "x**2 + 2*y**2", [1, 1])
    assert work.answer["x"][1] == [Rational(1, 2), 0]
    assert pellucid.show_work(GradientDescent(0.25), "x**2", [1], format="html").startswith("<!DOCTYPE html>")


def test_a_program_that_cannot_go_on_says_why():
    text = show_steps(Newton(), "(x**2 + y - 11)**2 + (x + y**2 - 7)**2", [0, 0], steps=8).text()
    assert "In floating point it could not go on." in text
    assert "more than rounding" not in text


def test_a_wrong_program_is_pointed_out():
    class GradientDescent(Momentum):  # takes the workings of its name, does something else
        pass

    text = " ".join(show_steps(GradientDescent(0.25), "x**2 + y**2", [1, 1]).text().split())
    assert "That is more than rounding" in text


def test_fractions_too_long_are_rounded_and_it_says_so():
    short = show_steps(GradientDescent(0.001), ROSENBROCK, [-1.2, 1], steps=2)
    long = show_steps(GradientDescent(0.001), ROSENBROCK, [-1.2, 1], steps=8)
    assert "longer than" not in short.text()
    assert "The arithmetic behind them is exact" in short.text()
    assert "longer than 200 digits" in long.text()
    assert long.answer["x"][:3] == short.answer["x"]


def test_formulas_may_be_expressions_and_keep_their_order():
    u, v = symbols("u v")
    assert show_steps(GradientDescent(1.0), u**2 / 2 + exp(v) - v, [1, 0]).answer["x"] == [[1, 0], [0, 0]]
    swapped = Formula("x**2 + 2*y**2", ["y", "x"])
    assert show_steps(GradientDescent(0.25), swapped, [1, 2], steps=1).answer["x"][1] == [0, 1]


def test_a_variable_called_like_the_point_gets_out_of_its_way():
    assert "We write p for the column" in show_steps(GradientDescent(0.25), "z**2", [1]).text()


def test_a_rounded_start_is_owned_up_to():
    assert "Some numbers have more than 6 decimals" in show_steps(GradientDescent(0.25), "x**2", [3.14159265]).text()


def test_roots_are_drawn_by_every_printer():
    page = Document("Roots", (formula("s =", root("r_1 + ε")),), ())
    assert "s = √(r₁ + ε)" in page.text()
    assert r"\sqrt{r_{1} + \varepsilon}" in page.latex()
    assert "<msqrt><mrow><msub>" in page.html()


@pytest.mark.parametrize("path", sorted(Path(workings.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_workings_know_no_method_but_to_compare_with_it(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    program = tuple(f"pellucid.optimize.{room}" for room in ("methods", "line_searches", "minimize", "oracle"))
    known = {name for name in modules if name and name.startswith(program)}
    assert known == ({"pellucid.optimize.minimize"} if path.stem == "walk" else set())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((GradientDescent(0.1), "x**2", [1], 21), "steps must be at most 20 to be worked by hand, got 21"),
        ((GradientDescent(0.1), "x**2", [1], 0), "steps must be at least 1, got 0"),
        ((GradientDescent(0.1), "a + b + c + d + e", [1] * 5), "at most 4 variables to be worked by hand, got 5"),
        ((GradientDescent(0.1), "x + y", [1]), "start must have one number for each of the variables x, y, got 1"),
        ((GradientDescent(0.1), "x + y", [1, float("nan")]), "start must hold finite numbers, got nan"),
        ((GradientDescent(0.1), "log(x)", [-1]), "function must be real and finite along the way"),
        ((GradientDescent(0.1), "1/x", [0]), "function must be real and finite along the way"),
        ((GradientDescent(0.1), "x +* y", [1, 1]), "expression must be a formula"),
        ((StochasticGradient(), "x**2", [1]), "function must be a list of terms for StochasticGradient"),
        ((Adam(), ["x**2", "x"], [1]), "function must be one formula for Adam, got a list of terms"),
        ((StochasticGradient(), ["x**2"], [1]), "function must have at least 2 terms if it is a list, got 1"),
        ((StochasticGradient(), ["x**2"] * 13, [1]), "at most 12 terms and 24 updates .* got 13 terms"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_with_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        show_steps(*arguments)


def test_refuses_methods_without_workings():
    with pytest.raises(TypeError, match=r"method must be an instance of one of AcceleratedGradient, .*, got object"):
        show_steps(object(), "x**2", [1])
    with pytest.raises(TypeError, match="got the class Adam"):
        show_steps(Adam, "x**2", [1])


def test_refuses_numbers_that_explode():
    with pytest.raises(ValueError, match="function must be real and finite along the way"):
        show_steps(GradientDescent(1.0), "x**4", [10], steps=20)


def test_numbers_that_vanish_become_zero():
    # undamped Newton on sqrt(1 + x²) cubes x with each step
    points = show_steps(Newton(FixedStep(1.0)), "sqrt(1 + x**2)", [0.5], steps=8).answer["x"]
    assert points[-1] == [0]
