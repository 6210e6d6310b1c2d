import numpy as np
import pytest

from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_positive, check_whole
from pellucid.core.input_rules import check_sample_weight


def test_good_values_pass():
    check_positive(a=1, b=np.float32(0.5))
    check_nonnegative(a=0)
    check_between(0, 1, level=0.5)
    check_whole(n=3, m=np.int64(1))
    check_one_of((None, "a", True), x=None, y="a", z=True)


@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan])
def test_refuses_what_is_not_above_zero(value):
    with pytest.raises(ValueError, match=r"alpha must be above 0, got .*Use OLS."):
        check_positive(hint="Use OLS.", alpha=value)


@pytest.mark.parametrize("value", ["1", None, True, [1.0]])
def test_refuses_what_is_no_number(value):
    with pytest.raises(TypeError, match="alpha must be a number"):
        check_nonnegative(alpha=value)


def test_refuses_wrong_ranges_kinds_and_options():
    with pytest.raises(ValueError, match="level must be between 0 and 1, got 2"):
        check_between(0, 1, level=2)
    with pytest.raises(TypeError, match="n must be a whole number, got 1.5"):
        check_whole(n=1.5)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        check_whole(n=0)
    with pytest.raises(ValueError, match=r"solver must be one of \('a', 'b'\), got 'c'"):
        check_one_of(("a", "b"), solver="c")
    with pytest.raises(ValueError, match="flag must be one of"):
        check_one_of((True, False), flag=1)


def test_weights_are_checked_once():
    X = np.zeros((3, 1))
    assert check_sample_weight(None, X) is None
    np.testing.assert_array_equal(check_sample_weight(2.0, X), [2.0, 2.0, 2.0])
    with pytest.raises(ValueError, match=r"sample_weight must be at least 0, got .*-1"):
        check_sample_weight([1.0, -1.0, 0.0], X)
    with pytest.raises(ValueError, match="at least one non-zero"):
        check_sample_weight([0.0, 0.0, 0.0], X)
