from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import Matrix, Rational, sqrt

from pellucid.show.html_printer import mathml
from pellucid.show.latex_math import latex
from pellucid.show.notation import (
    Words,
    cases,
    column,
    combination,
    factor,
    fenced,
    math,
    matrix,
    over,
    total,
    typed,
)
from pellucid.show.text_layout import inline, layout, width


def test_tokens_are_symbols_indices_exponents_and_accents():
    assert inline(math("ŷ = b + w_1 x_1^2")) == "ŷ = b + w₁ x₁²"
    assert latex(math("ŷ = b + w_1 x_1^2")) == r"\hat{y} = b + w_{1} x_{1}^{2}"


def test_a_fraction_is_stacked_on_its_own_and_slashed_in_a_line():
    assert layout(math("w =", Rational(-3, 4))).lines == ("     3", "w = −─", "     4")
    assert inline(math(Rational(-3, 4))) == "−3/4"
    assert latex(math(Rational(-3, 4))) == r"-\frac{3}{4}"
    assert mathml(math(Rational(3, 4))) == "<mfrac><mn>3</mn><mn>4</mn></mfrac>"


def test_numbers_of_the_data_are_printed_as_they_were_typed():
    assert inline(typed(Fraction(7, 2))) == "3.5"
    assert inline(math(Fraction(7, 2))) == "7/2"
    assert inline(typed(Fraction(1, 3))) == "1/3"


def test_a_fraction_too_long_to_read_is_cut_and_says_so():
    assert inline(math(Fraction(2 * 10**11, 3 * 10**11 + 7))) == "0.666666…"  # cut, not rounded
    assert inline(math(Fraction(-(10**30), 7))) == "−1.42857e+29…"
    assert not math(Fraction(1, 3)).is_cut
    assert math(Fraction(2**40, 3**25)).is_cut


def test_a_long_fraction_that_ends_is_an_exact_decimal():
    assert inline(math(Fraction(1234567, 100000))) == "12.34567"


def test_a_sum_takes_over_the_signs_of_its_terms():
    assert inline(total([1, -2, Rational(-1, 2), math("−", "x")])) == "1 − 2 − 1/2 − x"
    assert inline(total([-1, 2])) == "−1 + 2"


def test_a_combination_leaves_out_zeros_and_ones():
    assert inline(combination([(Rational(1, 2), ""), (0, "x_1"), (-1, "x_2"), (3, Words("age"))])) == "1/2 − x₂ + 3 age"
    assert inline(combination([(0, "x")])) == "0"
    assert inline(combination([(1, "")])) == "1"


def test_negative_factors_stand_in_parentheses():
    assert inline(math(2, "·", factor(-3))) == "2 · (−3)"


def test_a_minus_without_a_left_side_sticks_to_what_follows():
    assert inline(math("a < − b")) == "a < −b"
    assert inline(math("a − b")) == "a − b"


def test_matrices_align_their_columns():
    assert layout(matrix([[1, -2], [Rational(1, 2), 30]], bar=1)).lines == ("⎡  1  │  −2⎤", "⎣1/2  │  30⎦")
    assert latex(column([1, 2])) == r"\left[\begin{array}{r} 1 \\[2pt] 2 \end{array}\right]"
    assert math(Matrix([[1, 2]])) == matrix([[1, 2]])


def test_cases_open_with_a_brace():
    node = cases((math("a"), Words("if so")), (math(0), Words("if not")), (math("b"), Words("else")))
    assert layout(node).lines == ("⎧ a  if so ", "⎨ 0  if not", "⎩ b  else  ")
    assert latex(node).startswith(r"\begin{cases}")


def test_irrational_numbers_are_printed_by_sympy():
    node = math(10 + sqrt(97))
    assert latex(node) == r"\sqrt{97} + 10"
    assert "<msqrt>" in mathml(node)
    assert layout(node).lines == ("√97 + 10",)


def test_delimiters_grow_with_what_they_hold():
    assert layout(fenced(over("a", "b"))).lines == ("⎛a⎞", "⎜─⎟", "⎝b⎠")
    assert inline(fenced("r", "‖‖")) == "‖r‖"


def test_every_line_of_a_layout_has_the_same_width():
    node = math("x̄ =", over(math("1 + 2"), 4), "=", matrix([[Rational(1, 3)], [2]]), "λ")
    assert len({width(line) for line in layout(node).lines}) == 1


def test_refuses_a_token_it_cannot_read():
    with pytest.raises(ValueError, match="token must be a sign, a number or symbol_index"):
        math("(y − x)^2")
