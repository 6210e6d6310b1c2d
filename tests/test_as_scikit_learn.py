"""What a namesake takes and gives as scikit-learn's does: kinds of numbers, wide indices, no iterations at all."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression

import pellucid
from pellucid.core.cards import find_card
from tests.public_estimators import answer_of, instances, problem_for


def namesake(estimator):
    """Return scikit-learn's estimator of that name with its defaults and what the problem needs, or None."""
    family = f"sklearn.{type(estimator).__module__.split('.')[1]}"
    kind = getattr(import_module(family), type(estimator).__name__, None) if find_spec(family) else None
    if kind is None:
        return None
    asked_for = [name for name, given in signature(kind).parameters.items() if given.default is given.empty]
    return kind(**dict.fromkeys(asked_for, LinearRegression()), **find_card(kind.__name__).trial.settings)


def by_name(estimator):
    return type(estimator).__name__


ESTIMATORS = instances()
SPARSE = [estimator for estimator in ESTIMATORS if estimator.__sklearn_tags__().input_tags.sparse]
NAMESAKES = [estimator for estimator in ESTIMATORS if namesake(estimator) is not None]


def sparse_rows(X, form, kind, index):
    rows = kind(np.where(np.abs(X) < 0.5, 0.0, np.abs(X))).asformat(form)
    if form == "coo":
        rows.coords = tuple(axis.astype(index) for axis in rows.coords)
    else:
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    return rows


@cache
def answer_to_narrow_indices(estimator, form):
    """Return what the estimator says of an array with 32-bit indices, and whether that is proved."""
    X, y = problem_for(estimator)
    narrow = sparse_rows(X, form, sparse.csr_array, np.int32)
    model = clone(estimator).fit(narrow, y)
    return answer_of(model, narrow), pellucid.verify(model, narrow, y).holds


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("estimator", SPARSE, ids=by_name)
def test_sparse_rows_may_have_wide_indices(estimator, form, kind):
    expected, holds = answer_to_narrow_indices(estimator, form)
    X, y = problem_for(estimator)
    wide = sparse_rows(X, form, kind, np.int64)
    model = clone(estimator).fit(wide, y)
    np.testing.assert_array_equal(answer_of(model, wide), expected)
    assert pellucid.verify(model, wide, y).holds == holds
    assert wide.format != "csr" or wide.indices.dtype == np.int64  # the user's own is left alone


@pytest.mark.parametrize("name", ["KNeighborsClassifier", "KNeighborsRegressor"])
def test_every_metric_takes_wide_indices(name):
    estimator = next(e for e in ESTIMATORS if by_name(e) == name).set_params(p=1)
    X, y = problem_for(estimator)
    wide = sparse_rows(X, "csr", sparse.csr_array, np.int64)
    assert len(clone(estimator).fit(wide, y).predict(wide)) == len(y)


ANSWERS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform")


def kinds_of(model, X, y):
    """Return the dtypes of fitted arrays and of answers."""
    model.fit(X, y)
    found = {n: v for n, v in vars(model).items() if n.endswith("_") and isinstance(v, np.ndarray | np.generic)}
    found |= {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}
    return {name: value.dtype for name, value in found.items() if value.dtype.kind == "f"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")  # of scikit-learn's trees
@pytest.mark.filterwarnings("ignore:The default value of `init` will change:FutureWarning")  # of scikit-learn's MDS
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("estimator", NAMESAKES, ids=by_name)
def test_kinds_of_numbers_are_those_of_scikit_learn(estimator, dtype):
    X, y = problem_for(estimator)
    X = (4 * X).astype(dtype)
    y = y if is_classifier(estimator) else y.astype("float32" if dtype == "float32" else "float64")
    ours, theirs = kinds_of(clone(estimator), X, y), kinds_of(namesake(estimator), X, y)
    free = find_card(by_name(estimator)).trial.own_floats if dtype == "float32" else {}
    differ = {n: (ours[n], theirs[n]) for n in ours.keys() & theirs.keys() if ours[n] != theirs[n] and n not in free}
    assert not differ


def complaint(model, X, y):
    """Return the sentence that refuses a fit, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except ValueError as refused:
            return str(refused)
    return ""


@pytest.mark.parametrize("estimator", [e for e in NAMESAKES if "max_iter" in e.get_params()], ids=by_name)
def test_no_iterations_at_all_are_taken_or_refused_as_in_scikit_learn(estimator):
    X, y = problem_for(estimator)
    ours, theirs = (complaint(model.set_params(max_iter=0), X, y) for model in (clone(estimator), namesake(estimator)))
    assert ("max_iter" in ours) == ("max_iter" in theirs)


def test_no_iterations_leave_the_weights_at_their_start_and_say_so():
    from pellucid.linear_model import LogisticRegression
    from pellucid.svm import LinearSVC

    for kind in (LogisticRegression, LinearSVC):
        X, y = problem_for(kind())
        with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
            model = kind(max_iter=0).fit(X, y)
        assert not model.coef_.any()
        assert np.all(model.n_iter_ == 0)
