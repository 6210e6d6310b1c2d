from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational

from pellucid.show.eigenpairs import eliminate


def test_two_equations_by_hand():
    # 2x + y = 3, x + y = 2  =>  x = y = 1
    done = eliminate(Matrix([[2, 1], [1, 1]]), Matrix([3, 2]))
    assert done.solution == Matrix([1, 1])
    assert not done.is_singular


def test_rows_are_swapped_when_a_pivot_is_zero():
    done = eliminate(Matrix([[0, 1], [1, 0]]), Matrix([3, 2]))
    assert done.solution == Matrix([2, 3])
    assert "↔" in str(done.blocks)


def test_a_singular_system_gets_its_shortest_solution():
    # x + 2y = 3/2: the shortest point of that line is a multiple of (1, 2)
    done = eliminate(Matrix([[2, 4], [4, 8]]), Matrix([3, 6]))
    assert done.is_singular
    assert done.solution == Matrix([Rational(3, 10), Rational(3, 5)])


def test_the_zero_system_gets_zero():
    assert eliminate(Matrix([[0]]), Matrix([0])).solution == Matrix([0])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=12, max_size=12), st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_normal_equations_are_always_solved(entries, target):
    X, y = Matrix(4, 3, entries), Matrix(target)
    done = eliminate(X.T * X, X.T * y)
    assert X.T * X * done.solution == X.T * y
    assert done.is_singular == (X.rank() < 3)
