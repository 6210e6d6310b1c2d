"""Callbacks of fits that make passes: they are told of every step, and one of them can end the fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback.tests._utils import RecordingCallback

from pellucid.cluster import KMeans
from pellucid.decomposition import FactorAnalysis
from pellucid.linear_model import LogisticRegression, RidgeCV
from pellucid.mixture import GaussianMixture
from pellucid.naive_bayes import MixedNB
from pellucid.svm import LinearSVC

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + [4.0, 0.0, 1.0]])
Y = np.repeat([0, 1], 300)
Y[::7] = 1 - Y[::7]
ROWS, LABELS = da.from_array(X, chunks=(100, 3)), da.from_array(Y, chunks=100)

ITERATING = [
    KMeans(3, init=X[:3]),
    FactorAnalysis(1),
    LogisticRegression(),
    LinearSVC(),
    GaussianMixture(2, random_state=0),
]
AT_ONCE = [RidgeCV(), MixedNB()]


def tasks(callback):
    hooks = [record for record in callback.record if "task" in record["name"]]
    return [(h["name"].rpartition("_")[2], h["context"].task_name, h["context"].task_id) for h in hooks]


@pytest.mark.parametrize("estimator", ITERATING + AT_ONCE, ids=lambda e: type(e).__name__)
def test_every_task_begins_and_ends(estimator):
    callback = RecordingCallback()
    model = clone(estimator).set_callbacks(callback)
    model.fit(ROWS, LABELS)
    first, *middle, last = tasks(callback)
    assert (first, last) == (("begin", "fit", 0), ("end", "fit", 0))
    name = getattr(model, "_iteration_name", "iteration")
    n = len(middle) // 2
    assert middle == [(hook, name, i) for i in range(n) for hook in ("begin", "end")]
    assert (n >= 2) == any(estimator is one for one in ITERATING)
    assert not {"_callback_fit_ctx", "_watched_weight"} & set(vars(model))


class EndsAtOnce(RecordingCallback):
    """Stops the fit after its first iteration."""

    def on_fit_task_end(self, estimator, context, **given):
        super().on_fit_task_end(estimator, context, **given)
        return context.task_name != "fit"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", [KMeans(3, init=X[:3]), GaussianMixture(2, random_state=0)], ids=repr)
def test_a_callback_can_end_the_passes(estimator):
    whole = clone(estimator).fit(ROWS)
    ended = clone(estimator).set_callbacks(EndsAtOnce()).fit(ROWS)
    assert ended.n_iter_ == 1 < whole.n_iter_
