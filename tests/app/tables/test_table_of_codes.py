"""The matrix of trees becomes a table again: names, words, gaps."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables.preparation import TableOfCodes

CODES = np.array([[0.0, 1.0, 2.5], [2.0, np.nan, np.nan], [0.0, 0.0, -1.0]])


def test_codes_become_words_and_gaps_stay_gaps():
    table = TableOfCodes(["city", "maker"], ["size"]).fit_transform(CODES)
    assert list(table.columns) == ["city", "maker", "size"]
    assert table["city"].astype(object).tolist() == ["0", "2", "0"]
    assert table["maker"].isna().tolist() == [False, True, False]
    np.testing.assert_array_equal(table["size"], CODES[:, 2])


def test_columns_without_words_or_without_numbers():
    assert TableOfCodes((), ["a", "b", "c"]).fit_transform(CODES).shape == (3, 3)
    assert isinstance(TableOfCodes(["a"]).fit_transform(CODES[:, :1])["a"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c", "d"]])
def test_every_column_has_a_name(names):
    with pytest.raises(ValueError, match="words and numbers must name all 3 columns"):
        TableOfCodes(names).fit(CODES)
