"""Formulas that somebody typed: what is a formula passes, what could run or never end does not."""

from __future__ import annotations

import pytest
import sympy

from pellucid.app.playing.descents import FORMULAS
from pellucid.optimize import Formula
from pellucid.optimize.typed_formula import check_typed_formula


@pytest.mark.parametrize("text", [*(formula for formula, _ in FORMULAS.values()), "Max(0, 1 - x*y) + Abs(w1)", "2**x"])
def test_formulas_pass_as_they_are(text):
    assert check_typed_formula(text) == text
    assert Formula(text).expression == sympy.sympify(text, rational=True)


def test_a_power_may_be_written_with_a_caret():
    assert check_typed_formula(" x^2 +  y^2 ") == "x**2 + y**2"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__",
        "x.subs(x, 1)",
        "exec('1')",
        "[x for x in (1, 2)]",
        "lambda x: x",
        "x if y else 1",
        "x[0]",
        "'text'",
        "f'{x}'",
        "x; y",
        "x = 1",
        "(x := 1)",
        "open('file')",
        "S('x')",
        "N",
        "Symbol",
        "exp(*x)",
        "exp(x, evaluate=x)",
        "True",
        "x and y",
        "x < y",
        "x @ y",
        "x << 3",
        "~x",
        "1j*x",
        "ｅxp(x)",
        "",
        "   ",
        "x +",
        "x\0",
        "2 x",
    ],
)
def test_what_is_more_than_a_formula_is_refused(text):
    with pytest.raises(ValueError, match=r"^formula must "):
        check_typed_formula(text)


@pytest.mark.parametrize("text", ["9**9**9", "x**1000000", "x**(5*5)", "10**30*x", "x + " * 60 + "x"])
def test_what_would_take_forever_is_refused(text):
    with pytest.raises(ValueError, match=r"^formula must "):
        check_typed_formula(text)


@pytest.mark.parametrize("value", [None, 3, ["x"], {"x": 1}])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ValueError, match=r"^formula must be a text"):
        check_typed_formula(value)


@pytest.mark.parametrize("text", ["x*y/0 + 1", "x + 1/(y - y)", "log(0) + x"])
def test_a_formula_that_divides_by_zero_gets_a_sentence(text):
    with pytest.raises(ValueError, match="expression must be finite"):
        Formula(check_typed_formula(text))
