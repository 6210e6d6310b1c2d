import math
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from pellucid import Certificate, Claim, UncertifiedWarning
from pellucid.core.user_warnings import warn_unless_holds

HOLDS = Claim("gap", "how far", 1e-9, 1e-6)
FAILS = Claim("gap", "how far", 1e-3, 1e-6, "Raise max_iter.")


def test_a_claim_holds_when_its_value_is_within_its_bound():
    assert HOLDS.holds
    assert not FAILS.holds
    assert Claim("gap", "", 1.0, 1.0).holds
    assert not Claim("gap", "", math.nan, math.inf).holds


def test_a_certificate_holds_when_all_claims_do():
    assert Certificate("optimal", (HOLDS,)).holds
    mixed = Certificate("optimal", (HOLDS, FAILS))
    assert not mixed.holds
    assert mixed.failed == (FAILS,)
    assert Certificate("exact").with_claims(HOLDS)["gap"] is HOLDS


def test_a_failed_claim_warns_with_number_bound_and_remedy():
    with pytest.warns(UncertifiedWarning, match=r"Lasso: gap is 0.001, above its bound 1e-06. Raise max_iter."):
        warn_unless_holds(Certificate("optimal", (FAILS,)), "Lasso")


def test_a_certificate_that_holds_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_holds(Certificate("optimal", (HOLDS,)), "Lasso")


def test_filters_for_the_warning_of_scikit_learn_apply():
    assert issubclass(UncertifiedWarning, ConvergenceWarning)


def test_both_representations_say_whether_it_holds():
    assert repr(Certificate("optimal", (FAILS,))).startswith("Certificate(optimal, DOES NOT HOLD)")
    html = Certificate("exact", (Claim("<a>", "b & c", 0.0, 1.0),))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "b &amp; c" in html


def test_refuses_unknown_grades_and_silence():
    with pytest.raises(ValueError, match="grade must be one of"):
        Certificate("perfect")
    with pytest.raises(ValueError, match="reason must say why"):
        Certificate("none")
    with pytest.raises(KeyError, match="claim must be one of"):
        Certificate("exact")["gap"]


def test_infinity_proves_nothing():
    assert not Claim("gap", "", math.inf, math.inf).holds
    assert not Claim("gap", "", math.nan, 1.0).holds
    assert Claim("gap", "", 1.0, math.inf).holds


def test_nothing_claimed_is_nothing_proved():
    for empty in (Certificate("none", reason="No rows."), Certificate("exact"), Certificate("none", (HOLDS,), "Why.")):
        assert not empty.holds
        assert not empty.failed
        assert "proves nothing" in repr(empty)
        assert "proves nothing" in empty._repr_html_()
