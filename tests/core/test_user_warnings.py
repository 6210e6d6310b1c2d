from __future__ import annotations

import warnings

import numpy as np
import pytest

from pellucid.core.user_warnings import warn_user
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.linear_model import LogisticRegression, SGDClassifier
from pellucid.naive_bayes import MultinomialNB
from pellucid.neighbors import KNeighborsClassifier

X, Y = np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]), np.repeat([0, 1], 3)


def test_a_direct_call_points_at_the_line_of_the_call():  # by hand
    with pytest.warns(FutureWarning, match="look here") as caught:
        warn_user("look here", FutureWarning)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(p=0.5),
        LinearDiscriminantAnalysis(priors=[1.0, 1.0]),
        LogisticRegression(penalty="l2"),
        MultinomialNB(alpha=0, force_alpha=False),
        SGDClassifier(power_t=-1),
        SGDClassifier(max_iter=1),
    ],
    ids=str,
)
def test_a_warning_of_a_fit_points_at_the_line_that_called_it(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_warning_of_a_part_points_at_the_line_that_called_it():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SGDClassifier(power_t=-1).partial_fit(X, Y, classes=[0, 1])
    assert [warning.filename for warning in caught] == [__file__]
