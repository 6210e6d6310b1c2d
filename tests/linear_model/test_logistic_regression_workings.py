"""The workings of logistic regression: by hand, against the programs, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression as Peer

from pellucid.linear_model import LogisticRegression
from pellucid.show import show_work

X, Y = [[0], [1], [2], [3]], ["no", "no", "yes", "no"]


def test_the_first_step_by_hand():
    # p = 1/2 everywhere: g = (1, 1), H = (14/4 + 1, 6/4; 6/4, 4/4), so d = (2/9, -4/3)
    text = show_work(LogisticRegression(), X, Y).text()
    assert "4.5  1.5" in text
    assert "0.2222" in text
    assert "−1.3333" in text
    assert "falls from 2.7726 to" in text  # 4 log 2


def test_two_steps_are_written_out_and_the_odds_are_read():
    text = show_work(LogisticRegression(), X, Y).text()
    assert "Newton's step 2" in text
    assert "Newton's step 3" not in text
    assert "multiplies the odds of yes by e^w" in text
    assert "more than rounding" not in text


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 10.0]), st.integers(2, 3), st.booleans())
def test_agrees_with_both_programs(seed, C, k, fit_intercept):
    rng = np.random.default_rng(seed)
    features, labels = rng.integers(-4, 5, (8, 2)) / 2, np.arange(8) % k
    answer = show_work(LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-12), features, labels).answer
    for kind in (LogisticRegression, Peer):
        model = kind(C=C, fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000).fit(features, labels)
        np.testing.assert_allclose(model.coef_, np.array(answer["coef_"], float), atol=1e-5)
        np.testing.assert_allclose(model.intercept_, np.array(answer["intercept_"], float), atol=1e-5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l1_ratio": 1.0, "solver": "saga"}, "l1_ratio must be 0 to show the work"),
        ({"C": np.inf}, "C must be finite to show the work"),
        ({"solver": "liblinear"}, "solver must not be 'liblinear'"),
        ({"class_weight": "balanced"}, "class_weight must be None"),
    ],
)
def test_refuses_what_is_not_written_down(params, message):
    with pytest.raises(ValueError, match=message):
        show_work(LogisticRegression(**params), X, Y)
