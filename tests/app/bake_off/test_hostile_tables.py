"""Tables as they come from the wild: a model comes back, or one sentence."""

import gzip

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.tables import TableError, read_table

N = 60
RNG = np.random.default_rng(0)
SIZE = np.round(RNG.uniform(1.0, 9.0, N), 2)
PRICE = 100.0 * SIZE + RNG.normal(0.0, 20.0, N)
YES = np.where(np.median(PRICE) < PRICE, "yes", "no")


def written(tmp_path, frame, name="table.csv", **options):
    path = tmp_path / name
    frame.to_csv(path, index=False, **options)
    return path


def learned(frame, target="y", methods=("ridge", "logistic regression"), **options):
    only = [methods[0]] if options.get("task") == "regression" else [methods[1]]
    return bake_off(frame, target, seconds=30, folds=2, only=only, **options)


def base(**columns):
    return pd.DataFrame({"size": SIZE, **columns})


NUMBERS = {
    "prices": [f"${1000 * value:,.2f}" for value in SIZE],
    "euros": [f"{1000 * value:,.2f} €" for value in SIZE],
    "percents": [f"{value:.1f} %" for value in SIZE],
    "gaps in words": [("unknown", "n/a", "?")[i % 3] if i % 7 == 0 else f"{value}" for i, value in enumerate(SIZE)],
    "durations": [f"{int(value)}:{int(60 * (value % 1)):02d}:00" for value in SIZE],
    "booleans": [("TRUE", "false", "True", "False")[i % 4] for i in range(N)],
    "days": [f"{1 + i % 28} Dec 2020" for i in range(N)],
    "digits": [20200101 + i % 28 for i in range(N)],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_what_people_write_is_read_told_saved_and_read_again(kind, tmp_path):
    frame = base(x=NUMBERS[kind], y=PRICE)
    found = learned(frame, task="regression")
    assert any("x" in note for note in found.done_to_data)
    pellucid.save(found.model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(frame), found.model.predict(frame))
    plain = learned(frame, task="regression", coerce=False)
    assert all("numbers" not in note for note in plain.done_to_data)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("table.csv", {"sep": ";", "decimal": ","}),
        ("table.csv", {"sep": "|"}),
        ("table.tsv", {"sep": "\t"}),
        ("table.csv", {"encoding": "utf-16"}),
        ("table.csv", {"encoding": "latin-1"}),
        ("table.csv.gz", {}),
        ("table.zip", {}),
    ],
)
def test_files_are_read_however_they_are_written(name, options, tmp_path):
    frame = base(city=RNG.choice(["Zürich", "Genève"], N), y=YES)
    table = read_table(written(tmp_path, frame, name, **options))
    assert table["size"].tolist() == pytest.approx(SIZE.tolist())
    assert set(table["city"]) == {"Zürich", "Genève"}


def test_a_price_is_a_target_of_numbers():
    found = bake_off(base(y=[f"${value:,.2f}" for value in PRICE]), "y", seconds=30, folds=2, only=["ridge"])
    assert found.target.task == "regression"


def test_classes_and_words_that_differ_by_blanks_or_case_are_joined_and_verified(tmp_path):
    spelled = np.where(np.arange(N) % 5 == 0, np.char.add(np.char.upper(YES), " "), YES)
    frame = base(city=np.where(np.arange(N) % 2, "Bern", " bern"), y=spelled, z=RNG.choice(["a", "B", "b"], N))
    found = learned(frame)
    assert list(found.model.classes_) == ["no", "yes"]
    assert sum("joined" in note for note in found.done_to_data) == 2


def test_many_frequent_words_are_told_apart():
    words = np.array([f"brand {i % 120}" for i in range(2400)])
    effect = RNG.standard_normal(120)[np.arange(2400) % 120]
    frame = pd.DataFrame({"brand": words, "y": effect + RNG.normal(0.0, 0.1, 2400)})
    found = bake_off(frame, "y", seconds=30, folds=2, only=["boosted trees, few rows"])
    assert found.judgement.scores["R²"] > 0.8  # fifty words alone would explain half


def test_long_numbers_are_ids_and_duplicate_names_are_told(tmp_path):
    frame = base(code=[f"{10**24 + i}" for i in range(N)], y=YES)
    assert "code" in learned(frame).columns.left_out
    path = tmp_path / "twice.csv"
    path.write_text("a,a,y\n" + "".join(f"{SIZE[i]},{PRICE[i]},{YES[i]}\n" for i in range(N)))
    assert any("more than once" in note for note in learned(read_table(path)).done_to_data)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pd.DataFrame({"y": YES}), "must have a column beside 'y'"),
        (base(y=1.0), "must have two classes or more"),
        (base(y=[None] * N), "which is empty"),
        (base(y=[f"name {i}" for i in range(N)]), "must have two classes or more"),
        (base(y=YES).head(5), "must have two classes or more|at least"),
    ],
)
def test_what_cannot_be_learned_is_one_sentence(frame, sentence):
    with pytest.raises(TableError, match=sentence) as caught:
        bake_off(frame, "y", seconds=30)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        [None] * (N - 1) + [1.0],
        ["", " "] * (N // 2),
        [[1, 2]] * N,
        [1 + 2j] * N,
        pd.Categorical([1, 2] * (N // 2)),
        pd.Series([True, None] * (N // 2), dtype="boolean"),
        pd.to_timedelta(np.arange(N), unit="h"),
        pd.date_range("2020-01-01", periods=N, tz="Europe/Zurich"),
        [1e100, -1e100] * (N // 2),
        ["a" * 10_000, "b"] * (N // 2),
    ],
)
def test_strange_columns_do_not_stop_the_others(column):
    found = learned(base(x=column, y=YES))
    assert found.judgement.scores["balanced accuracy"] > 0.5


def test_an_empty_or_broken_file_is_one_sentence(tmp_path):
    for name, content in {
        "empty.csv": b"",
        "half.csv.gz": gzip.compress(b"a,b\n1,2\n")[:-4],
        "x.parquet": b"no",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError) as caught:
            read_table(tmp_path / name)
        assert "\n" not in str(caught.value)
