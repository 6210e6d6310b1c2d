"""Callbacks of scikit-learn: begin and end around every iteration, of every estimator."""

from __future__ import annotations

import time

import numpy as np
import pytest
import sklearn.linear_model as peer
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.callback.tests._utils import RecordingAutoPropagatedCallback, RecordingCallback
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

import pellucid.cluster
from pellucid.linear_model import Lasso, LinearRegression, LogisticRegression, Perceptron
from tests.public_estimators import instances, problem_for

ROOT = "fit"


def told(callback):
    """Return what a callback was told, in order: (begin or end, name of the task, its number)."""
    hooks = [record for record in callback.record if "task" in record["name"]]
    return [(h["name"].rpartition("_")[2], h["context"].task_name, h["context"].task_id) for h in hooks]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", instances(), ids=lambda e: type(e).__name__)
def test_every_task_begins_and_ends_and_iterations_follow_one_another(estimator):
    callback = RecordingCallback()
    model = clone(estimator).set_callbacks(callback)
    model.fit(*problem_for(estimator))
    assert callback.count_hooks("setup") == callback.count_hooks("teardown") == 1
    first, *middle, last = told(callback)
    assert (first, last) == (("begin", ROOT, 0), ("end", ROOT, 0))
    n = len(middle) // 2
    name = getattr(model, "_iteration_name", "iteration")
    assert middle == [(hook, name, i) for i in range(n) for hook in ("begin", "end")]
    assert n == 0 or n >= 2  # an iteration at least, and the one that was begun and never run
    assert not {"_callback_fit_ctx", "_watched_weight"} & set(vars(model))


@pytest.mark.parametrize("max_iter", [0, 2, 1000])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_logistic_regression_tells_as_many_iterations_as_scikit_learns_test_wants(max_iter):
    X, y = make_classification(n_features=4, random_state=0)
    for kind in (LogisticRegression, peer.LogisticRegression):
        callback = RecordingCallback()
        model = kind(max_iter=max_iter).set_callbacks(callback).fit(X, y)
        wanted = 1 + max(int(model.n_iter_[0]), 1) + 1  # the fit, its iterations, an empty task
        assert callback.count_hooks("on_fit_task_begin") == callback.count_hooks("on_fit_task_end") == wanted


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_model_of_an_iteration_is_that_of_a_fit_that_stops_there(n_classes):
    X, y = make_classification(n_features=4, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0)
    callback = RecordingCallback()
    n_iter = LogisticRegression().set_callbacks(callback).fit(X, y).n_iter_[0]
    of_tasks = [r for r in callback.record if "task" in r["name"] and r["context"].task_name == "lbfgs-iter"]
    begins, ends = ([r for r in of_tasks if r["name"].endswith(hook)] for hook in ("begin", "end"))
    for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        for done, record in ((i, begin), (i + 1, end)):
            seen = record["kwargs"]["fitted_estimator"]
            if 0 < done <= n_iter:
                np.testing.assert_allclose(seen.coef_, LogisticRegression(max_iter=done).fit(X, y).coef_, atol=1e-10)
    assert ends[-1]["kwargs"]["fitted_estimator"] is None


class Clock(RecordingCallback):
    """Remembers when it was told."""

    def __init__(self):
        super().__init__()
        self.times = []

    def on_fit_task_begin(self, estimator, context):
        self.times.append(("begin", context.task_name, time.perf_counter()))

    def on_fit_task_end(self, estimator, context):
        self.times.append(("end", context.task_name, time.perf_counter()))


def test_the_work_of_an_iteration_lies_between_its_begin_and_its_end():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30_000, 20)), rng.integers(0, 2, 30_000)
    clock = Clock()
    Perceptron(max_iter=4, tol=None).set_callbacks(clock).fit(X, y)
    times = np.array([when for _, name, when in clock.times if name == "iteration"])
    inside, between = times[1:-2:2] - times[:-2:2], times[2::2] - times[1:-1:2]  # without the empty task at the end
    assert np.median(inside) > 3 * np.median(between)


def test_weights_reach_the_callbacks():
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((40, 3)), rng.integers(1, 4, 40).astype(float)
    y = X[:, 0] + rng.standard_normal(40)
    for model in (Lasso(0.1), LinearRegression()):
        callback, monitor = RecordingCallback(), ScoringMonitor(scoring="r2")
        fitted = model.set_callbacks(callback, monitor).fit(X, y, sample_weight=weight)
        seen = [r["kwargs"]["metadata"] for r in callback.record if r["name"] == "on_fit_task_begin"]
        assert all(metadata["sample_weight"] is weight for metadata in seen)
        scores = [row["r2"] for row in monitor.get_logs().data]
        assert scores[-1] == pytest.approx(fitted.score(X, y, sample_weight=weight))


def test_a_callback_can_stop_a_fit():
    class Stop(RecordingCallback):
        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            return context.task_id >= 1

    X, y = make_classification(300, random_state=0)
    callback = Stop()
    model = Perceptron(tol=None, max_iter=50).set_callbacks(callback).fit(X, y)
    assert model.n_iter_ == 2
    assert told(callback)[-1] == ("end", ROOT, 0)


def test_a_fit_that_fails_tears_its_callbacks_down():
    callback = RecordingCallback()
    model = pellucid.cluster.KMeans(n_clusters=9).set_callbacks(callback)
    with pytest.raises(ValueError, match="n_samples must be at least n_clusters"):
        model.fit(np.ones((3, 2)))
    assert callback.count_hooks("setup") == callback.count_hooks("teardown")
    assert "_watched_weight" not in vars(model)


@pytest.mark.parametrize("model", [Lasso(0.1), LinearRegression()], ids=lambda m: type(m).__name__)
def test_callbacks_of_a_search_hear_of_the_fits_within(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    callback = RecordingAutoPropagatedCallback()
    search = GridSearchCV(model, {"fit_intercept": [True, False]}, cv=2).set_callbacks(callback)
    search.fit(X, X[:, 0] + rng.standard_normal(40))
    tasks = [told_of["context"] for told_of in callback.record if told_of["name"] == "on_fit_task_begin"]
    assert callback.count_hooks("on_fit_task_end") == len(tasks)
    assert sum(task.estimator_name == type(model).__name__ and task.task_name == ROOT for task in tasks) == 5
