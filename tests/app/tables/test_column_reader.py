"""Tables as they are in, floats and strings out, or a sentence that says what does not fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pellucid.app.tables import TableError
from pellucid.app.tables.column_reader import ColumnReader

KINDS = {"size": "number", "paid": "yes or no", "city": "words", "note": "text", "when": "date"}
FRAME = pd.DataFrame(
    {
        "note": ["a b", None],
        "size": [1, None],
        "paid": [True, None],
        "city": ["Bern", None],
        "when": ["2024-01-01 10:00", None],
    }
)


@pytest.fixture
def reader():
    return ColumnReader(KINDS).fit(FRAME)


def test_every_kind_is_read_and_gaps_stay_gaps(reader):
    read = reader.transform(FRAME)
    assert list(read) == list(reader.get_feature_names_out())
    assert read.iloc[0].to_dict() == {
        "size": 1.0, "paid": 1.0, "city": "Bern", "note": "a b",
        "when days": 19723.0, "when year": 2024.0, "when month": 1.0, "when weekday": 0.0, "when hour": 10.0,
    }  # fmt: skip
    assert read.iloc[1].drop("note").isna().all()
    assert read["note"].iloc[1] == ""


def test_the_order_of_the_columns_and_strangers_among_them_do_not_matter(reader):
    shuffled = FRAME[["when", "city", "paid", "note", "size"]].assign(stranger=1)
    pd.testing.assert_frame_equal(reader.transform(shuffled), reader.transform(FRAME))


def test_numbers_and_flags_are_read_from_texts_too(reader):
    read = reader.transform(FRAME.astype(object).assign(size=["2.5", "-1"], paid=["no", "TRUE"]))
    assert read["size"].tolist() == [2.5, -1.0]
    assert read["paid"].tolist() == [0.0, 1.0]


def test_a_gap_elsewhere_does_not_change_how_a_word_is_written():
    reader = ColumnReader({"code": "words"})
    with_gap, without = pd.DataFrame({"code": [3.0, None]}), pd.DataFrame({"code": [3, 4]})
    assert reader.fit(with_gap).transform(with_gap)["code"][0] == reader.fit(without).transform(without)["code"][0]


def test_the_fingerprint_tells_tables_apart(reader):
    fitted = ColumnReader(KINDS).fit(FRAME, [0, 1])
    assert fitted.data_fingerprint_ == fitted.fingerprint_of(FRAME.assign(stranger=0), [0, 1])
    assert fitted.data_fingerprint_ != fitted.fingerprint_of(FRAME, [1, 1])
    assert fitted.data_fingerprint_ != fitted.fingerprint_of(FRAME.assign(size=[2.0, 3.0]), [0, 1])


def test_it_can_be_cloned(reader):
    assert clone(reader).kinds == KINDS


def test_a_missing_column_that_is_spelled_otherwise_is_asked_about(reader):
    with pytest.raises(TableError, match=r"but \['size'\] is missing. Did you mean 'Size'\?"):
        reader.transform(FRAME.rename(columns={"size": "Size"}))


def test_blanks_around_a_name_do_not_matter():
    reader = ColumnReader({" size": "number"}).fit(pd.DataFrame({" size": [1.0, 2.0]}))
    assert reader.transform(pd.DataFrame({"size": [3.0]}))[" size"].tolist() == [3.0]


@pytest.mark.parametrize("kind", ["number", "words", "date"])
def test_lists_are_refused_in_one_sentence(kind):
    reader = ColumnReader({"x": kind}).fit(pd.DataFrame({"x": ["2024-01-01"] if kind == "date" else [1.0]}))
    with pytest.raises(TableError, match="column 'x' must hold numbers, texts, dates or gaps, got lists"):
        reader.transform(pd.DataFrame({"x": [[1, 2], [3]]}))


def test_missing_columns_are_named(reader):
    with pytest.raises(TableError, match=r"but \['size', 'when'\] are missing"):
        reader.transform(FRAME.drop(columns=["size", "when"]))


def test_all_columns_of_the_wrong_kind_are_named_with_a_value():
    reader = ColumnReader({"size": "number", "paid": "yes or no", "when": "date"}).fit(FRAME)
    bad = pd.DataFrame({"size": [1, "big"], "paid": ["maybe", True], "when": ["2024-01-01", "soon"]})
    with pytest.raises(TableError) as caught:
        reader.transform(bad)
    assert "column 'size' must be numbers, got 'big'" in str(caught.value)
    assert "column 'paid' must be True or False, got 'maybe'" in str(caught.value)
    assert "column 'when' must be dates like 2024-12-31, got 'soon'" in str(caught.value)


def test_an_infinite_number_is_a_gap():
    found = ColumnReader({"size": "number"}).fit_transform(pd.DataFrame({"size": [1.0, np.inf, -np.inf]}))
    np.testing.assert_array_equal(found["size"], [1.0, np.nan, np.nan])


def test_prices_and_gaps_in_words_are_read_where_numbers_were():
    reader = ColumnReader({"size": "number"}).fit(pd.DataFrame({"size": [1.0, 2.0]}))
    found = reader.transform(pd.DataFrame({"size": ["$7.25", "1,250", " 3 ", "n/a", "inf", "1e3", None]}))
    np.testing.assert_array_equal(found["size"], [7.25, 1250.0, 3.0, np.nan, np.nan, 1000.0, np.nan])


def test_a_word_is_known_whatever_its_blanks_and_case():
    reader = ColumnReader({"sex": "words"}).fit(pd.DataFrame({"sex": ["male", "Female"]}))
    found = reader.transform(pd.DataFrame({"sex": ["MALE", " female ", "male", "other"]}))
    assert found["sex"].tolist() == ["male", "Female", "male", "other"]
    apart = ColumnReader({"code": "words"}).fit(pd.DataFrame({"code": ["a", "A", "b"]}))  # as with --as-is
    assert apart.transform(pd.DataFrame({"code": ["a", "A", "B"]}))["code"].tolist() == ["a", "A", "B"]


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kinds must be some of"):
        ColumnReader({"size": "shape"}).fit(FRAME)


def test_an_array_is_refused(reader):
    with pytest.raises(TypeError, match="X must be a pandas data frame"):
        reader.transform(FRAME.to_numpy())
