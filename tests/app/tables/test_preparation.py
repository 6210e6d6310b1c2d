"""From a table that has been read to the matrix of a method."""

import numpy as np
import pandas as pd
from scipy import sparse

from pellucid.app.tables.preparation import coded, is_sparse, readable_names, standardized, stepped, unchanged
from pellucid.app.tables.understanding import Columns

READ = pd.DataFrame({"size": [1.0, np.nan, 5.0, 3.0], "city": ["Bern", np.nan, "Bern", "Basel"]}).astype(
    {"city": object}
)
COLUMNS = Columns({"size": "number", "city": "words"}, {})


def names(transformer, columns=COLUMNS):
    return readable_names(transformer.get_feature_names_out(), columns)


def test_numbers_are_standardized_and_words_become_indicators():
    transformer = standardized(COLUMNS, READ)
    X = transformer.fit_transform(READ)
    assert names(transformer) == ["size", "size is missing", "city: Basel", "city: Bern", "city: missing"]
    np.testing.assert_allclose(X[:, :2].mean(axis=0), 0.0, atol=1e-12)
    assert X[:, 2:].tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_a_word_never_seen_is_no_column():
    transformer = standardized(COLUMNS, READ).fit(READ)
    new = transformer.transform(READ.assign(city="Genf"))
    assert (new[:, 2:] == 0).all()


def test_rare_words_share_a_column():
    words = ["a"] * 500 + ["b"] * 90 + ["c", "d", "e", "f", "g", "h"]
    read = pd.DataFrame({"letter": words}).astype(object)
    columns = Columns({"letter": "words"}, {})
    assert names(standardized(columns, read).fit(read), columns) == ["letter: a", "letter: b", "letter: rare words"]


def test_steps_are_added():
    read = pd.DataFrame({"size": np.arange(100.0)})
    columns = Columns({"size": "number"}, {})
    assert names(stepped(columns, read).fit(read), columns)[:2] == ["size", "size > 19.5"]


def test_methods_that_take_words_get_them():
    X = unchanged(COLUMNS, READ).fit_transform(READ)
    assert X.tolist() == [[1.0, "Bern"], [3.0, "missing"], [5.0, "Bern"], [3.0, "Basel"]]


def test_trees_get_codes_of_words_first_and_gaps_as_gaps():
    transformer = coded(COLUMNS, READ)
    X = transformer.fit_transform(READ)
    np.testing.assert_array_equal(X, [[1, 1.0], [2, np.nan], [1, 5.0], [0, 3.0]])  # Basel 0, Bern 1, missing 2
    assert names(transformer) == ["city", "size"]
    assert np.isnan(transformer.transform(READ.assign(city="Genf"))[:, 0]).all()


def test_trees_get_terms_of_texts_as_plain_columns():
    read = pd.DataFrame({"size": [1.0, 2.0, 4.0], "note": ["late again", "", "paid late"]})
    columns = Columns({"size": "number", "note": "text"}, {})
    X = coded(columns, read).fit_transform(read)
    assert isinstance(X, np.ndarray)
    assert X.shape == (3, 4)


def test_texts_make_a_sparse_matrix_of_terms():
    read = pd.DataFrame({"size": [1.0, 2.0, 4.0], "note": ["late again", "", "paid late"]})
    columns = Columns({"size": "number", "note": "text"}, {})
    transformer = standardized(columns, read)
    assert sparse.issparse(transformer.fit_transform(read))
    assert is_sparse(columns, read)
    assert names(transformer, columns) == ["size", "note has 'again'", "note has 'late'", "note has 'paid'"]


def test_a_column_that_is_empty_in_a_fold_keeps_its_place():
    read = READ.assign(size=np.nan)
    assert standardized(COLUMNS, READ).fit(read).transform(READ).shape == (4, 5)
