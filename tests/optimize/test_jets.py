"""Jets carry exact derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from pellucid.optimize.more_garbow_hillstrom import Jet

EXPRESSIONS = {
    "x*y - 3/x": lambda x, y: x * y - 3 / x,
    "exp(x*y)/(1 + y**2)": lambda x, y: np.exp(x * y) / (1 + y**2),
    "sqrt(x + y) - cos(x)*sin(y)": lambda x, y: np.sqrt(x + y) - np.cos(x) * np.sin(y),
    "atan(y/x) + log(x)": lambda x, y: np.arctan(y / x) + np.log(x),
    "(x + 2)**y": lambda x, y: (x + 2) ** y,
    "2 - x**3/y": lambda x, y: 2 - x**3 / y,
    "x**1 + y**2 + y**(-1)": lambda x, y: x**1 + y**2 + y**-1,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_derivatives_are_those_of_the_algebra(text):
    x, y = sympy.symbols("x y", positive=True)
    exact = sympy.sympify(text, locals={"x": x, "y": y})
    at = {x: sympy.Rational(3, 4), y: sympy.Rational(5, 4)}
    jet = EXPRESSIONS[text](*Jet.variables(np.array([0.75, 1.25])))
    assert float(jet.value) == pytest.approx(float(exact.subs(at)))
    np.testing.assert_allclose(jet.first, [float(exact.diff(v).subs(at)) for v in (x, y)])
    np.testing.assert_allclose(jet.second, [[float(exact.diff(v, w).subs(at)) for w in (x, y)] for v in (x, y)])


def test_arrays_of_functions_come_out_at_once():
    x, y = Jet.variables(np.array([2.0, 3.0]))
    t = np.array([1.0, 2.0])
    jets = t * x - np.abs(-y) + t / x
    np.testing.assert_allclose(jets.value, [2 - 3 + 0.5, 4 - 3 + 1])
    np.testing.assert_allclose(jets.first, [[1 - 0.25, -1], [2 - 0.5, -1]])
    np.testing.assert_allclose(jets.second[:, 0, 0], [0.25, 0.5])


def test_second_derivatives_can_be_left_out():
    (x,) = Jet.variables(np.array([2.0]), second=False)
    assert (np.exp(x * x) / x).second is None
