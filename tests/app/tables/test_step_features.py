"""Numbers as steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import estimator_checks_generator

from pellucid.app.tables.step_features import StepFeatures


def test_thresholds_split_the_rows_evenly():
    steps = StepFeatures(n_steps=4).fit(np.arange(8.0)[:, None])
    assert steps.thresholds_[0].tolist() == [1.5, 3.5, 5.5]


def test_a_value_that_many_rows_share_does_not_eat_the_steps_of_the_others():
    column = np.concatenate([np.zeros(90), np.arange(1.0, 11.0)])
    thresholds = StepFeatures(n_steps=10).fit(column[:, None]).thresholds_[0]
    assert len(thresholds) >= 5  # quantiles of the rows alone would give one
    assert thresholds[0] == 0.5


def test_two_values_are_a_step_already():
    X = np.array([[0.0], [1.0], [1.0]])
    np.testing.assert_array_equal(StepFeatures().fit_transform(X), X)


def test_names_say_the_threshold():
    steps = StepFeatures(n_steps=2).fit([[0.0], [1.0], [2.0], [3.0]])
    assert steps.get_feature_names_out(["age"]).tolist() == ["age", "age > 1.5"]
    assert steps.get_feature_names_out().tolist() == ["x0", "x0 > 1.5"]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50), st.integers(1, 12))
def test_thresholds_rise_and_lie_strictly_between_values(values, n_steps):
    edges = StepFeatures(n_steps).fit(np.array(values)[:, None]).thresholds_[0]
    assert len(edges) < n_steps
    assert (np.diff(edges) > 0).all()
    assert all(min(values) < edge < max(values) for edge in edges)


CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(StepFeatures(), legacy=True)
    if "array_api" not in str(check)  # it needs a setting of SciPy from before its import
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="n_steps must be at least 1"):
        StepFeatures(0).fit([[1.0]])
