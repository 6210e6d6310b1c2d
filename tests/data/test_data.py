"""Tables that come with the library hold the published numbers, and say where they come from."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer as load_peer_tumors
from sklearn.datasets import load_diabetes as load_peer
from sklearn.datasets import load_digits as load_peer_digits
from sklearn.datasets import load_iris as load_peer_iris

from pellucid import data
from pellucid.tree import ID3Classifier

FOLDER = Path(data.__file__).parent
LOADERS = [getattr(data, name) for name in data.__all__ if name.startswith("load_")]


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
def test_every_table_says_where_it_comes_from(load):
    assert "\n    From: " in inspect.getdoc(load).replace("\n", "\n    ")
    assert f"`{load.__name__}(" in (FOLDER / "README.md").read_text()


def test_every_file_has_a_loader_and_the_folder_is_small():
    read = inspect.getsource(data.bundled_tables)
    tables = list(FOLDER.glob("*.csv"))
    assert all(f'_read("{table.name}"' in read for table in tables)
    assert sum(table.stat().st_size for table in tables) < 1_000_000


def test_every_table_has_a_name_for_the_command():
    assert {f"load_{name}": load for name, load in data.bundled_tables.BUNDLED.items()} == {
        load.__name__: load for load in LOADERS
    }


def test_the_toy_table_is_small_whole_numbers():
    cars = data.load_cars_by_hand()
    assert len(cars) <= 8
    assert all(dtype == np.int64 for dtype in cars.dtypes)


def test_diabetes_holds_the_published_numbers():
    np.testing.assert_array_equal(data.load_diabetes(), load_peer(scaled=False, as_frame=True).frame)


def test_diabetes_ends_with_the_target():
    assert data.load_diabetes().columns[-1] == "progression"


def test_breast_cancer_holds_the_published_numbers_and_words_for_the_target():
    ours, peer = data.load_breast_cancer(), load_peer_tumors()
    np.testing.assert_array_equal(ours.drop(columns="diagnosis"), peer.data)
    np.testing.assert_array_equal(ours["diagnosis"], peer.target_names[peer.target])


def test_iris_and_digits_are_those_of_scikit_learn():
    iris, digits = data.load_iris(), data.load_digits()
    np.testing.assert_array_equal(iris.iloc[:, :4], load_peer_iris().data)
    assert list(iris.columns) == ["sepal_length", "sepal_width", "petal_length", "petal_width", "species"]
    assert iris["species"].unique().tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(digits, np.column_stack(load_peer_digits(return_X_y=True)))
    assert digits.columns[-1] == "digit"


def test_play_tennis_has_the_counts_of_the_book():
    # Mitchell, table 3.2: S = [9+, 5-], weak wind [6+, 2-], strong wind [3+, 3-]; overcast is always yes
    days = data.load_play_tennis()
    assert list(days.index) == [f"D{day}" for day in range(1, 15)]
    counts = days.groupby(["wind", "play"]).size().to_dict()
    assert counts == {("strong", "no"): 3, ("strong", "yes"): 3, ("weak", "no"): 2, ("weak", "yes"): 6}
    assert set(days.loc[days["outlook"] == "overcast", "play"]) == {"yes"}


def test_watermelons_are_parted_as_in_the_book():
    # 8 of 17 are good; a leaf "good" is right for 3 of the 7 melons to validate on: 42.9 %
    every, learn, validate = (data.load_watermelons(part) for part in (None, "learn", "validate"))
    assert (every["good"] == "yes").sum() == 8
    assert list(learn.index) == [1, 2, 3, 6, 7, 10, 14, 15, 16, 17]
    assert sorted([*learn.index, *validate.index]) == list(range(1, 18))
    assert round(100 * (validate["good"] == "yes").mean(), 1) == 42.9
    assert "density" not in every
    assert data.load_watermelons(numbers=True).loc[1, ["density", "sugar"]].tolist() == [0.697, 0.46]
    with pytest.raises(ValueError, match='part must be "learn", "validate" or None, got \'test\''):
        data.load_watermelons("test")


def test_the_melons_of_a_part_are_pruned_as_in_the_book():
    # grown, 3 of 7 are right (42.9 %); cut down to the navel alone, 5 of 7 (71.4 %)
    learn, validate = (data.load_watermelons(part) for part in ("learn", "validate"))
    grown = ID3Classifier().fit(learn.iloc[:, :6], learn["good"])
    assert grown.score(validate.iloc[:, :6], validate["good"]) == pytest.approx(3 / 7)
    both = pd.concat([learn, validate])
    for pruning in ("pre", "post"):
        model = ID3Classifier(pruning=pruning, validation=list(range(10, 17))).fit(both.iloc[:, :6], both["good"])
        assert model.score(validate.iloc[:, :6], validate["good"]) == pytest.approx(5 / 7)


def test_documents_have_the_words_of_the_book():
    documents = data.load_documents()
    about_china = " ".join(documents.loc[documents["class"] == "c", "words"]).split()
    assert (about_china.count("Chinese"), len(about_china)) == (5, 8)
    assert len(set(" ".join(documents["words"]).split())) == 6
    assert documents["class"].isna().tolist() == [False] * 4 + [True]


def test_distances_by_hand_are_distances():
    distances = data.load_distances_by_hand()
    np.testing.assert_array_equal(distances, distances.T)
    assert not np.diag(distances).any()
    assert distances.loc["a"].tolist() == [0, 17, 21, 31, 23]


def test_energy_spans_what_was_published():
    energy = data.load_energy()
    assert energy.agg({"heating_load": ["min", "max"]})["heating_load"].tolist() == [6.01, 43.1]
    assert energy["relative_compactness"].nunique() == 12


def test_adult_is_an_even_sample_with_gaps():
    adult = data.load_adult_sample()
    assert adult.shape == (1000, 15)
    assert 0.24 < (adult["income"] == ">50K").mean() < 0.26  # 24.1 % of the whole table
    assert adult["workclass"].isna().any()
    assert not (adult == "?").any().any()
