"""Estimators of the user among the methods."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from pellucid.app.bake_off import bake_off
from pellucid.app.report import Origin, render_fit_report
from pellucid.app.tables import TableError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.exponential(size=120), "town": rng.choice(["Kyiv", "Oslo"], size=120)})
    frame["price"] = 10 + frame["size"] * 5 + (frame["town"] == "Oslo") * 3 + rng.normal(size=120)
    return frame


def test_an_estimator_of_scikit_learn_is_compared_chosen_and_judged(frame):
    result = bake_off(frame, "price", seconds=20, only=["mine"], also={"mine": Ridge(alpha=2.0)})
    assert result.chosen.name == "mine"
    assert isinstance(result.model[-1], Ridge)
    assert result.model[-1].alpha == 2.0
    assert result.judgement.scores["R²"] > 0.9
    assert result.certificate.verdict == "proves nothing"
    assert "is no estimator of pellucid" in render_fit_report(result, Origin("t.csv", "m", "bake_off(...)"))


def test_it_stands_among_the_others(frame):
    result = bake_off(frame, "price", seconds=20, only=["ridge", "mine"], also={"mine": GaussianProcessRegressor()})
    assert {"ridge", "mine"} <= {score.name for score in result.scores}


@pytest.mark.parametrize(
    ("also", "sentence"),
    [
        ({"mine": Ridge}, "also must hold estimators such as"),
        ({"mine": "ridge"}, "also must hold estimators such as"),
        ({"mine": LogisticRegression()}, "also must hold regressors for this target, got LogisticRegression"),
        ({"ridge": Ridge()}, "also must name methods anew, got 'ridge'"),
    ],
)
def test_what_is_no_such_method_is_refused(frame, also, sentence):
    with pytest.raises(TableError, match=sentence):
        bake_off(frame, "price", seconds=20, also=also)
