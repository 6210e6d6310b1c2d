"""Words have places: frequent ones their own, rare ones one together."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pellucid.app.tables.word_encoder import WordEncoder

CITIES = pd.DataFrame({"city": ["Bern", None, "Bern", "Basel", "Genf", "Basel", "Bern"]})


def test_codes_follow_the_alphabet_and_rare_words_are_last():
    encoder = WordEncoder(min_frequency=2).fit(CITIES)
    assert encoder.labels() == [["Basel", "Bern", "rare words"]]
    assert encoder.transform(CITIES).ravel().tolist() == [1, 2, 1, 0, 2, 0, 1]


def test_only_the_most_frequent_words_have_places():
    assert WordEncoder(2).fit(CITIES).labels() == [["Bern", "rare words"]]
    assert WordEncoder(3).fit(CITIES).labels() == [["Basel", "Bern", "rare words"]]
    assert WordEncoder(4).fit(CITIES).labels() == [["Basel", "Bern", "Genf", "missing"]]


def test_a_strange_word_is_rare_or_nothing():
    strange = CITIES.assign(city="Chur")
    assert (WordEncoder(3).fit(CITIES).transform(strange) == 2).all()
    assert np.isnan(WordEncoder().fit(CITIES).transform(strange)).all()
    assert WordEncoder(indicators=True).fit(CITIES).transform(strange).sum() == 0


def test_indicators_are_the_codes_one_column_each_dense_or_sparse():
    codes = WordEncoder(3).fit_transform(CITIES).astype(int).ravel()
    dense = WordEncoder(3, indicators=True).fit_transform(CITIES)
    np.testing.assert_array_equal(dense, np.eye(3)[codes])
    thin = WordEncoder(3, indicators=True, sparse_output=True).fit_transform(CITIES)
    assert sparse.issparse(thin)
    np.testing.assert_array_equal(thin.toarray(), dense)


def test_categories_are_read_like_texts_whatever_their_order():
    shuffled = CITIES["city"].astype(pd.CategoricalDtype(["Genf", "unused", "Bern", "Basel"])).to_frame()
    np.testing.assert_array_equal(
        WordEncoder(3).fit(CITIES).transform(shuffled), WordEncoder(3).fit(shuffled).transform(CITIES)
    )


def test_the_word_missing_and_a_gap_are_the_same():
    frame = pd.DataFrame({"word": ["missing", None, "a"]})
    assert WordEncoder().fit_transform(frame).ravel().tolist() == [1, 1, 0]


def test_few_places_are_refused():
    with pytest.raises(ValueError, match="max_words must be at least 2, got 1"):
        WordEncoder(1).fit(CITIES)
