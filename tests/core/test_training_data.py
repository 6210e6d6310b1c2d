"""Training data: checked in one place, rows of weight 0 gone, labels as codes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from pellucid.core.input_rules import ANY_SPARSE, CLASSES, NO_TARGET, NUMBERS, InputRules
from pellucid.core.labels import encode_labels, known_codes, rows_by_class

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
WORDS = np.array(["b", "a", "b", "c"])


def test_rows_of_weight_0_are_gone_and_values_find_their_way_back():
    data = InputRules(CLASSES).check(BaseEstimator(), X, WORDS, [2.0, 0.0, 1.0, 3.0])
    assert data.X.tolist() == X[[0, 2, 3]].tolist()
    assert data.classes.tolist() == ["a", "b", "c"]
    assert data.y.tolist() == [1, 1, 2]
    assert data.weight.tolist() == [2.0, 1.0, 3.0]
    assert data.spread(np.array([10.0, 20.0, 30.0]), fill=-1.0).tolist() == [10.0, -1.0, 20.0, 30.0]
    assert data.places(np.array([0, 1, 3])).tolist() == [0, 2]
    assert data.n_given == 4


def test_without_weights_every_row_counts_once():
    data = InputRules(NUMBERS).check(BaseEstimator(), X, [1, 2, 3, 4])
    assert data.weight is None
    assert data.weights.tolist() == [1.0] * 4
    assert data.spread(np.arange(4)).tolist() == [0, 1, 2, 3]


def test_the_fingerprint_is_of_the_data_as_they_were_given():
    rules = InputRules(CLASSES)
    once, again = (rules.check(BaseEstimator(), X, WORDS, [1.0, 0.0, 1.0, 1.0]) for _ in range(2))
    other = rules.check(BaseEstimator(), X, WORDS, [1.0, 1.0, 1.0, 1.0])
    assert once.fingerprint == again.fingerprint != other.fingerprint


def test_repeated_entries_of_sparse_rows_are_added_up():
    twice = sparse.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    data = InputRules(NUMBERS, sparse=("csr",)).check(BaseEstimator(), twice, [1.0, 2.0])
    assert data.X.has_canonical_format
    assert data.X.toarray().tolist() == [[0.0, 2.0], [1.0, 0.0]]


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows_of_weight_0_are_gone_too(kind):
    data = InputRules(NUMBERS, sparse=ANY_SPARSE).check(BaseEstimator(), kind(X), [1, 2, 3, 4], [1.0, 0.0, 1.0, 1.0])
    assert data.X.toarray().tolist() == X[[0, 2, 3]].tolist()


def test_labels_that_the_model_does_not_know_are_refused():
    assert known_codes(np.array(["c", "a"]), np.array(["a", "c"])).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"y must hold only the labels \['a', 'c'\] of the fit, got \['b'\]"):
        known_codes(np.array(["a", "b"]), np.array(["a", "c"]))
    with pytest.raises(ValueError, match="y must hold labels like"):
        known_codes(np.array([1, 2]), np.array(["a", "c"]))


def test_codes_by_table_are_those_by_sorting():
    for y in (np.array([250, 3, 250], np.uint8), np.array([-128, 127, 0], np.int8), np.array([7, 3, 7])):
        classes, codes = encode_labels(y)
        np.testing.assert_array_equal(classes[codes], y)
        np.testing.assert_array_equal(classes, np.unique(y))
    assert [rows.tolist() for rows in rows_by_class(np.array([1, 0, 1]), 3)] == [[1], [0, 2], []]


@pytest.mark.parametrize(
    ("rules", "arguments", "message"),
    [
        (InputRules(CLASSES), (X, [0.5, 0.1, 0.2, 0.3]), "continuous"),
        (InputRules(NUMBERS), (X, [1.0, np.nan, 2.0, 3.0]), "y contains NaN"),
        (InputRules(NUMBERS), (np.where(X == 3.0, np.inf, X), [1, 2, 3, 4]), "X contains infinity"),
        (InputRules(NUMBERS), (1e154 * X, [1, 2, 3, 4]), "X must have values whose squares are finite"),
        (InputRules(NUMBERS), (X, [1, 2, 3, 4], [1.0, -1.0, 1.0, 1.0]), "sample_weight must be at least 0"),
        (InputRules(NUMBERS, weights=False), (X, [1, 2, 3, 4], np.ones(4)), "sample_weight must be None"),
    ],
)
def test_bad_data_get_one_sentence(rules, arguments, message):
    with pytest.raises(ValueError, match=message):
        rules.check(BaseEstimator(), *arguments)


RULES = [InputRules(NUMBERS), InputRules(CLASSES, dtypes=np.float64, order="C"), InputRules()]


@pytest.mark.parametrize("kind", ["float64", "float32", ">f8", "int64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "rules",
    [
        InputRules(NUMBERS, missing=True),
        InputRules(NUMBERS),
        InputRules(CLASSES, dtypes=np.float64, order="C"),
        InputRules(),
    ],
)
def test_plain_arrays_come_out_as_from_the_whole_check(kind, order, rules, monkeypatch):
    X, y = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], dtype=kind, order=order), np.array([0, 1, 1])
    quick = rules.check(one := BaseEstimator(), X, y)
    monkeypatch.setattr(InputRules, "_needs_no_change", lambda *_: False)
    slow = rules.check(other := BaseEstimator(), X, y)
    assert vars(one) == vars(other) == {"n_features_in_": 2}
    for a, b in ((quick.X, slow.X), (quick.y, slow.y)):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.dtype, a.flags.c_contiguous) == (b.dtype, b.flags.c_contiguous)
            np.testing.assert_array_equal(a, b)
    assert quick.fingerprint == slow.fingerprint


@pytest.mark.parametrize("target", [NUMBERS, NO_TARGET])
def test_infinity_is_refused_also_where_missing_values_are_allowed(target):
    rules, estimator = InputRules(target, missing=True), BaseEstimator()
    holes = np.array([[np.nan, 1.0], [2.0, 3.0]])
    assert rules.check(estimator, holes, np.ones(2)).X is holes
    assert rules.check_rows(estimator, holes) is holes
    for look in (lambda X: rules.check(estimator, X, np.ones(2)), lambda X: rules.check_rows(estimator, X)):
        with pytest.raises(ValueError, match="infinity"):
            look(np.array([[np.inf, 1.0], [2.0, 3.0]]))


def test_new_rows_are_looked_at_whether_or_not_they_are_plain():
    rules, estimator = InputRules(), BaseEstimator()
    rules.check(estimator, np.ones((3, 2)))
    rows = np.array([[1.0, 2.0]])
    assert rules.check_rows(estimator, rows) is rows
    np.testing.assert_array_equal(rules.check_rows(estimator, [[1, 2]]), rows)
    for wrong, sentence in (
        (np.ones((1, 3)), "3 features, but BaseEstimator is expecting 2"),
        (np.ones(2), "Expected 2D array"),
        (np.ones((0, 2)), "minimum of 1 is required"),
        (np.array([[1.0, np.nan]]), "NaN"),
    ):
        with pytest.raises(ValueError, match=sentence):
            rules.check_rows(estimator, wrong)
    estimator.feature_names_in_ = np.array(["a", "b"], dtype=object)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        rules.check_rows(estimator, rows)


def test_an_array_forgets_the_names_of_a_data_frame():
    estimator = BaseEstimator()
    estimator.feature_names_in_ = np.array(["a", "b"], dtype=object)
    InputRules().check(estimator, np.ones((3, 2)))
    assert not hasattr(estimator, "feature_names_in_")
