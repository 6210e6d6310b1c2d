"""FloatingSelector: by hand, properties, moments against fits, proofs, workings, nested use, bad input."""

from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.feature_selection import FloatingSelector
from pellucid.feature_selection.search.fold_scores import FoldScores, LeastSquaresSets
from pellucid.feature_selection.search.search_rules import best_of, chosen_set
from pellucid.linear_model import LinearRegression, LogisticRegression
from pellucid.show import show_work

FEW = settings(max_examples=10, deadline=None)
DIRECTIONS = ("forward", "backward", "add-remove", "floating", "floating-backward")


def problem(seed=0, n=60, p=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    return X, X @ np.array([3.0, 0.0, 2.0, 0.0, 1.0, 0.0][:p]) + rng.standard_normal(n)


def trap(n=200):
    """Return columns of which the first is the best one alone, and the other two together are far better."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, n))
    y = a + b + 0.01 * rng.standard_normal(n)
    return np.column_stack([y + 0.6 * rng.standard_normal(n), a, b, rng.standard_normal(n)]), y


@pytest.mark.by_hand
def test_floating_leaves_a_trap_that_forward_search_is_caught_in():
    X, y = trap()
    forward = FloatingSelector(direction="forward", n_features_to_select=2).fit(X, y)
    floating = FloatingSelector(direction="floating", n_features_to_select="best").fit(X, y)
    assert forward.get_support(indices=True).tolist() != [1, 2]
    assert floating.get_support(indices=True).tolist() == [1, 2]
    table = floating.search_table()
    assert table["move"].tolist()[:4] == ["add", "add", "add", "remove"]
    assert table["feature"].tolist()[3] == 0  # the column that was best alone goes


def test_one_standard_error_by_hand():
    # means 1, 3, 3.5 for sizes 1, 2, 3; the folds of the last differ by 2, so its standard error is sqrt(2)/sqrt(2) = 1
    visited = np.array([[True, False, False], [True, True, False], [True, True, True]])
    scores = np.array([[1.0, 1.0], [3.0, 3.0], [2.5, 4.5]])
    assert chosen_set(visited, scores, "best") == 2
    assert chosen_set(visited, scores, "one-standard-error") == 1
    assert chosen_set(visited, scores, 1) == 0


@pytest.mark.property
def test_equal_scores_take_the_first_column():
    assert best_of(np.array([0.5, 0.7, 0.7 + 1e-13])) == 1
    X, y = problem()
    X = np.column_stack([X[:, 0], X])  # twice the same column
    model = FloatingSelector(direction="forward", n_features_to_select=1).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rounds_and_sizes_are_as_asked(direction):
    X, y = problem()
    model = FloatingSelector(direction=direction, n_features_to_select=3).fit(X, y)
    assert model.n_features_to_select_ == model.support_.sum() == 3
    assert model.get_support(indices=True).tolist() == [0, 2, 4]
    sizes = model.visited_[model.path_].sum(axis=1).tolist()
    wanted = {"forward": [1, 2, 3], "backward": [5, 4, 3], "add-remove": [1, 2, 1, 2, 3, 2]}
    assert sizes == wanted.get(direction, sizes)
    assert len({mask.tobytes() for mask in model.visited_}) == len(model.visited_)
    assert pellucid.verify(model, X, y).holds


@FEW
@given(st.integers(0, 1000), st.sampled_from(DIRECTIONS), st.sampled_from(["r2", "neg_mean_squared_error"]))
def test_the_same_search_by_moments_and_by_fits(seed, direction, scoring):
    X, y = problem(seed, n=40)
    by_moments = FloatingSelector(LinearRegression(), direction=direction, scoring=scoring).fit(X, y)

    class Line(PeerLinearRegression):  # another class, so that it is fitted
        pass

    by_fits = FloatingSelector(Line(), direction=direction, scoring=scoring).fit(X, y)
    np.testing.assert_array_equal(by_moments.visited_, by_fits.visited_)
    np.testing.assert_array_equal(by_moments.path_, by_fits.path_)
    np.testing.assert_allclose(by_moments.fold_scores_, by_fits.fold_scores_, atol=1e-9, rtol=1e-9)


@pytest.mark.peer
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "cv",
    [
        5,
        KFold(4, shuffle=True, random_state=1),
        ShuffleSplit(3, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
)
def test_moments_of_any_folds_give_the_scores_of_fits(cv, intercept):
    X, y = problem(p=6)
    X = X.astype(np.float32) + 100.0
    selector = FloatingSelector(cv=cv)
    plain = FoldScores(PeerLinearRegression(fit_intercept=intercept), X, y, selector)
    fast = LeastSquaresSets.of(plain)
    for size in (1, 2, 5, 6, 3):
        for chosen in list(combinations(range(6), size))[:4]:
            mask = np.zeros(6, dtype=bool)
            mask[list(chosen)] = True
            np.testing.assert_allclose(fast.of_set(mask), plain.of_set(mask), atol=1e-5)
            features = np.flatnonzero(mask)
            if size > 1:
                np.testing.assert_allclose(fast.of_moves(mask, features), plain.of_moves(mask, features), atol=1e-5)


@pytest.mark.parametrize("spoil", ["constant", "twice", "few rows", "sum"])
def test_collinear_columns_are_fitted_not_swept(spoil):
    X, y = problem()
    if spoil == "constant":
        X[:, 1] = 3.0
    elif spoil == "twice":
        X[:, 1] = X[:, 0]
    elif spoil == "sum":
        X[:, 1] = X[:, 0] + X[:, 2]
    else:
        X, y = X[:8], y[:8]
    model = FloatingSelector(direction="backward", n_features_to_select=1, cv=3).fit(X, y)
    plain = FoldScores(PeerLinearRegression(), X, y, model)
    for mask, scores in zip(model.visited_, model.fold_scores_, strict=True):
        np.testing.assert_allclose(scores, plain.of_set(mask), atol=1e-6, rtol=1e-6)
    assert pellucid.verify(model, X, y).holds


def test_any_estimator_labels_sparse_rows_and_no_target():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    model = FloatingSelector(KNeighborsClassifier(3), n_features_to_select="best", cv=3).fit(X, labels)
    assert pellucid.verify(model, X, labels).holds
    assert model.transform(X).shape[1] == model.n_features_to_select_
    by_default = FloatingSelector(n_features_to_select=2, direction="forward", cv=3).fit(X, labels)
    by_name = FloatingSelector(LogisticRegression(), n_features_to_select=2, direction="forward", cv=3).fit(X, labels)
    np.testing.assert_array_equal(by_default.fold_scores_, by_name.fold_scores_)
    rows = FloatingSelector(n_features_to_select=2, cv=3).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(rows.support_, FloatingSelector(n_features_to_select=2, cv=3).fit(X, y).support_)


def test_names_of_columns_are_kept():
    import pandas as pd

    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = FloatingSelector(n_features_to_select=3).fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["a", "c", "e"]
    assert set(model.search_table()["feature"]) <= set("abcdef")


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_verify_objects_to_another_choice_path_or_score(direction):
    X, y = problem()
    model = FloatingSelector(direction=direction, n_features_to_select=3, cv=3).fit(X, y)
    other = model.support_.copy()
    other[[0, 1]] = other[[1, 0]]
    worse = model.fold_scores_.copy()
    worse[model.path_[-1]] -= 0.01
    spoiled = [
        ("support_", other),
        ("path_", model.path_[:-1]),
        ("path_", model.path_[::-1].copy()),
        ("fold_scores_", worse),
    ]
    for name, wrong in spoiled:
        broken = copy.copy(model)
        setattr(broken, name, wrong)
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(broken, X, y).holds
    with pytest.warns(pellucid.UncertifiedWarning, match="scores"):
        assert not pellucid.verify(model, X, y[::-1].copy()).holds


def test_what_is_random_is_not_claimed():
    X, y = problem(n=30, p=3)
    forest = RandomForestRegressor(n_estimators=2, max_depth=2)
    random_model = FloatingSelector(forest, n_features_to_select=1, cv=2).fit(X, y)
    assert "at random without a seed" in pellucid.verify(random_model, X, y).reason
    random_folds = FloatingSelector(cv=KFold(3, shuffle=True), n_features_to_select=1).fit(X, y)
    proof = pellucid.verify(random_folds, X, y)
    assert "folds are drawn anew" in proof.reason
    assert proof["steps"].holds


def test_selection_inside_the_folds_scores_chance_on_noise():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 200)), rng.standard_normal(60)
    select = FloatingSelector(direction="forward", n_features_to_select=5)
    leaked = cross_val_score(LinearRegression(), select.fit_transform(X, y), y, cv=5).mean()
    nested = cross_val_score(make_pipeline(select, LinearRegression()), X, y, cv=5).mean()
    assert leaked > 0.2  # the test rows have helped to choose the columns
    assert nested < 0.0


def test_workings_show_the_search_in_fractions():
    X = np.array([[1, 2, 0], [2, 1, 1], [3, -1, 1], [4, 2, 0], [5, 0, 2], [6, 1, 1]])
    y = np.array([1.5, 3, 2, 5, 4, 6])
    for direction in DIRECTIONS:
        for rule in ("best", "one-standard-error", 2):
            estimator = FloatingSelector(direction=direction, n_features_to_select=rule, cv=2)
            work = show_work(estimator, X, y)
            assert "more than rounding" not in work.text()
            assert max(map(len, work.text().splitlines())) <= 80
            for form in ("markdown", "latex", "html"):
                assert len(work.printed(form)) > 1000
    assert "estimator must be None or a LinearRegression" in _refused(
        FloatingSelector(KNeighborsClassifier(), cv=2), X, y
    )
    assert "cv must be at most 4 folds" in _refused(FloatingSelector(cv=5), X, y)
    assert "got labels" in _refused(FloatingSelector(cv=2), X, [0, 1, 0, 1, 0, 1])


def _refused(estimator, X, y):
    with pytest.raises(ValueError) as refused:
        show_work(estimator, X, y)
    return str(refused.value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 7}, "n_features_to_select must be at most 6"),
        ({"n_features_to_select": 0}, "n_features_to_select must be"),
        ({"n_features_to_select": "most"}, "n_features_to_select must be"),
        ({"max_features": 9}, "max_features must be at most 6"),
        ({"direction": "sideways"}, "direction must be one of"),
        ({"direction": "add-remove", "add": 1, "remove": 1}, "add must differ from remove"),
        ({"scoring": "charm"}, "scoring must be"),
        ({"estimator": 3}, "estimator must be"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        FloatingSelector(**parameters).fit(*problem())


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_huge_and_tiny_numbers_float32_and_memory_maps(scale, tmp_path):
    X, y = problem()
    wanted = FloatingSelector(n_features_to_select=3).fit(X, y)
    scaled = FloatingSelector(n_features_to_select=3).fit(X * scale, y)
    np.testing.assert_array_equal(scaled.support_, wanted.support_)
    np.testing.assert_allclose(scaled.fold_scores_, wanted.fold_scores_, atol=1e-9)
    np.save(tmp_path / "X.npy", X)
    for rows in (X.astype(np.float32), np.load(tmp_path / "X.npy", mmap_mode="r")):
        np.testing.assert_array_equal(FloatingSelector(n_features_to_select=3).fit(rows, y).support_, wanted.support_)


def test_refuses_nan_one_column_and_no_rows():
    X, y = problem()
    for rows, message in ((np.where(X > 2, np.nan, X), "NaN"), (X[:, :1], "minimum of 2"), (X[:0], "minimum of 1")):
        with pytest.raises(ValueError, match=message):
            FloatingSelector().fit(rows, y[: len(rows)])
