"""What a proof looks at: drawn anew by verify, the same at each fit."""

import math

import numpy as np
import pytest

from pellucid.proofs.certificate import gap_claim
from pellucid.proofs.sampling import drawing, drawn, draws


def test_verify_draws_anew_each_time():
    found = set()
    for _ in range(3):
        with drawing():
            found.add(tuple(drawn(1000, 5)))
    assert len(found) == 3


def test_a_seed_draws_the_same_again():
    with drawing(7):
        once = drawn(1000, 5)
    with drawing(7):
        np.testing.assert_array_equal(once, drawn(1000, 5))


def test_outside_of_verify_every_call_draws_the_same():
    np.testing.assert_array_equal(drawn(1000, 5), drawn(1000, 5))
    assert draws().integers(1 << 30) == draws().integers(1 << 30)


def test_what_must_be_looked_at_always_is():
    with drawing():
        assert {0, 999} <= set(drawn(1000, 5, always=[0, 999]))


def test_all_are_looked_at_where_they_are_few():
    with drawing():
        np.testing.assert_array_equal(drawn(4, 5), np.arange(4))


@pytest.mark.parametrize(
    ("below", "holds"), [(0.5, True), (1.0, True), (1.0 + 1e-13, True), (1.1, False), (-math.inf, False)]
)
def test_a_lower_bound_above_the_objective_is_an_error_and_no_gap_of_zero(below, holds):
    claim = gap_claim("gap", "distance to the optimum", 1.0, below, 0.6, rounding=1e-12)
    assert claim.holds is holds
    assert ("one of them is wrong" in claim.statement) is (below == 1.1)


def test_a_lower_bound_that_is_no_number_proves_nothing():
    assert not gap_claim("gap", "distance to the optimum", 1.0, math.nan, 1e9, rounding=1.0).holds
