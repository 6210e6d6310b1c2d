"""The command as a user meets it: outputs, sentences and exit codes."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import pellucid
from pellucid.app.cli.application import run
from pellucid.app.cli.show_work import methods_with_workings
from pellucid.core.card_index import entries
from pellucid.core.cards import all_cards, find_card
from pellucid.core.input_rules import NO_TARGET
from pellucid.data import load_cars_by_hand
from pellucid.linear_model import Lasso, LinearRegression, Ridge, SGDClassifier


@pytest.fixture
def houses(tmp_path):
    rng = np.random.default_rng(0)
    n = 80
    frame = pd.DataFrame(
        {
            "size": rng.uniform(30, 200, n).round(1),
            "city": rng.choice(["Zürich", "Bern", "x < y & z"], n),
            "garden": rng.choice([True, False], n),
            "label": [f"house {i}" for i in range(n)],
        }
    )
    frame["price"] = (3 * frame["size"] + 40 * (frame["city"] == "Bern") + rng.normal(0, 10, n)).round(2)
    frame.loc[::9, "size"] = np.nan
    frame.loc[3, "city"] = None
    path = tmp_path / "houses.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def cars(tmp_path):
    path = tmp_path / "cars.csv"
    load_cars_by_hand().to_csv(path, index=False)
    return path


@pytest.fixture
def ridge_file(tmp_path, cars):
    frame = pd.read_csv(cars)
    path = tmp_path / "ridge.safetensors"
    pellucid.save(Ridge(alpha=0.5).fit(frame[["age", "distance"]], frame["price"]), path)
    return path


def call(*arguments):
    return run([str(argument) for argument in arguments])


@pytest.mark.promise
def test_fit_then_verify_then_predict(houses, tmp_path, capsys):
    out = tmp_path / "learned"
    few = ("--only", "ridge", "--only", "decision tree", "--folds", 3)
    assert call("fit", houses, "--target", "price", "--out", out, *few) == 0
    said = capsys.readouterr().out
    assert "chosen" in said
    assert str(out / "report.html") in said
    assert sorted(path.name for path in out.iterdir()) == ["model.safetensors", "model_card.md", "report.html"]

    assert call("verify", out / "model.safetensors", houses, "--target", "price") == 0
    assert "holds" in capsys.readouterr().out

    assert call("predict", out / "model.safetensors", houses, "--out", tmp_path / "answers.csv") == 0
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert list(answers) == ["prediction"]
    assert np.corrcoef(answers["prediction"], pd.read_csv(houses)["price"])[0, 1] > 0.8


@pytest.mark.promise
def test_the_report_tells_what_was_left_out(houses, tmp_path):
    call("fit", houses, "--target", "price", "--out", tmp_path, "--only", "ridge", "--folds", 2)
    report = (tmp_path / "report.html").read_text()
    assert "Column label was left out: it looks like an id, with 80 different values" in report


def test_predict_gives_intervals(ridge_file, cars, capsys):
    assert call("predict", ridge_file, cars, "--interval", 0.9) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header == "prediction,low,high"
    middle, low, high = map(float, first.split(","))
    assert low < middle < high


def test_predict_keeps_columns_or_appends_to_the_table(ridge_file, cars, capsys):
    assert call("predict", ridge_file, cars, "--keep", "age") == 0
    assert capsys.readouterr().out.splitlines()[0] == "age,prediction"
    assert call("predict", ridge_file, cars, "--append") == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert list(found.columns) == [*pd.read_csv(cars).columns, "prediction"]
    assert call("predict", ridge_file, cars, "--keep", "wheels") == 2
    assert "keep must name columns of the table" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_predictions_are_the_same_in_every_kind_of_file(ridge_file, cars, tmp_path, capsys, ending):
    read = {"csv": pd.read_csv, "jsonl": lambda path: pd.read_json(path, lines=True), "parquet": pd.read_parquet}[
        ending
    ]
    out = tmp_path / f"said.{ending}"
    assert call("predict", ridge_file, cars, "--out", out, "--keep", "age") == 0
    assert call("predict", ridge_file, cars) == 0
    plain = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(read(out)["prediction"], plain["prediction"], rtol=1e-12)
    assert list(read(out)["age"]) == list(pd.read_csv(cars)["age"])


def test_json_lines_in_give_json_lines_out(ridge_file, cars, tmp_path, capsys):
    table = tmp_path / "cars.jsonl"
    pd.read_csv(cars).to_json(table, orient="records", lines=True)
    assert call("predict", ridge_file, table) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(first) == ["prediction"]


def test_predictions_go_to_no_unknown_kind_of_file_and_over_no_column(ridge_file, cars, tmp_path, capsys):
    assert call("predict", ridge_file, cars, "--out", tmp_path / "said.doc") == 2
    assert "out must end in one of .csv, .jsonl, .ndjson, .parquet, got said.doc." in capsys.readouterr().err
    table = tmp_path / "twice.csv"
    pd.read_csv(cars).assign(prediction=0).to_csv(table, index=False)
    assert call("predict", ridge_file, table, "--append") == 2
    assert "columns kept must not be called ['prediction']" in capsys.readouterr().err
    assert not (tmp_path / "said.doc").exists()


def test_a_method_without_intervals_says_so(cars, tmp_path, capsys):
    frame = pd.read_csv(cars)
    pellucid.save(Lasso(alpha=0.1).fit(frame[["age", "distance"]], frame["price"]), tmp_path / "lasso.safetensors")
    assert call("predict", tmp_path / "lasso.safetensors", cars, "--interval", 0.9) == 2
    assert "or of least squares or ridge, got Lasso, which has none" in capsys.readouterr().err


def test_a_model_of_unnamed_columns_takes_a_table_of_that_width(cars, tmp_path, capsys):
    frame = pd.read_csv(cars)
    pellucid.save(Ridge().fit(frame[["age", "distance"]].to_numpy(), frame["price"]), tmp_path / "m.safetensors")
    assert call("verify", tmp_path / "m.safetensors", cars, "--target", "price") == 0
    assert call("predict", tmp_path / "m.safetensors", cars) == 2
    assert "table must have 2 columns besides the target, got 3" in capsys.readouterr().err


def test_verify_notices_a_changed_model(tmp_path, cars, capsys):
    frame = pd.read_csv(cars)
    model = LinearRegression().fit(frame[["age", "distance"]], frame["price"])
    model.coef_[0] += 0.01
    pellucid.save(model, tmp_path / "nudged.safetensors")
    assert call("verify", tmp_path / "nudged.safetensors", cars, "--target", "price") == 1
    assert "the certificate does not hold on cars.csv" in capsys.readouterr().err


def test_verify_has_a_code_of_its_own_where_nothing_is_claimed(tmp_path, capsys):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "label": ["x", "y", "x", "y"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = SGDClassifier(random_state=0).partial_fit(frame[["a"]], frame["label"], classes=["x", "y"])
    pellucid.save(model, tmp_path / "m.safetensors")
    assert call("verify", tmp_path / "m.safetensors", tmp_path / "t.csv", "--target", "label") == 4
    said = capsys.readouterr()
    assert "proves nothing" in said.out
    assert "nothing is proved about SGDClassifier: Learned by partial_fit" in said.err


def test_verify_notices_another_table(ridge_file, tmp_path, cars, capsys):
    other = pd.read_csv(cars)
    other.loc[0, "age"] += 1
    other.to_csv(tmp_path / "other.csv", index=False)
    assert call("verify", ridge_file, tmp_path / "other.csv", "--target", "price") == 1
    assert "fingerprint differs" in capsys.readouterr().err


def test_show_work_decides_about_rows_typed_on_the_command_line(tmp_path, capsys):
    (tmp_path / "days.csv").write_text("wind,play\nweak,yes\nweak,yes\nstrong,no\n")
    arguments = ("show-work", tmp_path / "days.csv", "--target", "play", "--method", "categorical-nb")
    assert call(*arguments, "--new", "strong", "--new", "weak") == 0
    assert "Of the new rows it says: no, yes." in capsys.readouterr().out
    assert call(*arguments, "--new", "strong,2") == 2
    assert "new must have a value for each of the columns wind, got 'strong,2'" in capsys.readouterr().err


def test_show_work_prints_the_steps(cars, tmp_path, capsys):
    assert call("show-work", cars, "--target", "price", "--method", "ridge", "--alpha", 0.5) == 0
    assert len(capsys.readouterr().out.splitlines()) > 10
    assert call("show-work", cars, "--target", "price", "--format", "html", "--out", tmp_path / "work.html") == 0
    assert "<math" in (tmp_path / "work.html").read_text()


SMALL = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5], "b": [1, 0, 1, 4, 3, 5], "y": [0, 0, 0, 1, 1, 1]})
SHOWN = {entries()[card.name].command_name: card for card in all_cards() if card.workings}


@pytest.mark.parametrize("method", ["least-squares", *sorted(methods_with_workings())])
def test_every_method_with_workings_shows_them(method, tmp_path, capsys):
    card = SHOWN.get(method, find_card("LinearRegression"))
    model, trial = card.estimator(), card.trial
    y = SMALL["y"] if is_classifier(model) else [0.5, 1.5, 1.0, 3.5, 3.0, 6.0]  # whole ones are labels to a search
    small = SMALL[["a", "b"]].iloc[: trial.rows, : trial.columns]
    target = card.rules_for(model).target != NO_TARGET
    (small.assign(y=y[: len(small)]) if target else small).to_csv(tmp_path / "small.csv", index=False)
    settings = [word for name, value in trial.by_hand.items() for word in ("--set", f"{name}={value}")]
    call_ = ("show-work", tmp_path / "small.csv", *(("--target", "y") if target else ()), "--method", method, *settings)
    assert call(*call_) == 0, capsys.readouterr().err
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_every_card_with_workings_is_known_to_the_command():
    assert set(methods_with_workings()) == {entries()[card.name].command_name for card in all_cards() if card.workings}
    assert len(methods_with_workings()) >= 23


def test_a_table_with_texts_is_shown_by_the_method_that_takes_them(tmp_path, capsys):
    trips = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"], "temp": [20, 24, 15, 17], "go": ["y", "y", "n", "n"]})
    trips.to_csv(tmp_path / "trips.csv", index=False)
    assert call("show-work", tmp_path / "trips.csv", "--target", "go", "--method", "mixed-nb") == 0
    assert "P(sky = rain | n)" in capsys.readouterr().out
    assert call("show-work", tmp_path / "trips.csv", "--target", "go", "--method", "gaussian-nb") == 2
    assert "sky" in capsys.readouterr().err


def test_rows_of_one_query_are_compared(tmp_path, capsys):
    SMALL.assign(user=[1, 1, 2, 1, 2, 2]).to_csv(tmp_path / "small.csv", index=False)
    arguments = ("show-work", tmp_path / "small.csv", "--target", "y", "--qid", "user", "--method")
    assert call(*arguments, "ranking-svm") == 0
    assert "of the same query" in " ".join(capsys.readouterr().out.split())
    assert call(*arguments, "lasso") == 2
    assert "qid must be left out for lasso, got user" in capsys.readouterr().err


def test_what_is_set_calls_nothing_but_densities(cars, capsys):
    arguments = ("show-work", cars, "--target", "price", "--method", "bayes-classifier")
    assert call(*arguments, "--set", "densities=__import__('os').getcwd()") == 2
    assert "densities must be" in capsys.readouterr().err
    assert call(*arguments, "--set", "densities={0: Gaussian(0, -1)}") == 2
    assert "variance must be above 0" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["id3-classifier", "id3classifier", "ID3Classifier", "ID3 classifier"])
def test_a_method_is_known_by_any_spelling_of_its_class(name, tmp_path, capsys):
    SMALL.to_csv(tmp_path / "small.csv", index=False)
    assert call("show-work", tmp_path / "small.csv", "--target", "y", "--method", name) == 0
    assert "A decision tree by ID3" in capsys.readouterr().out


def test_decisions_about_new_rows_are_shown(tmp_path, capsys):
    SMALL.to_csv(tmp_path / "small.csv", index=False)
    SMALL.drop(columns="y").iloc[4:].to_csv(tmp_path / "new.csv", index=False)
    words = ("show-work", tmp_path / "small.csv", "--target", "y", "--method", "gaussian-nb", "--new")
    assert call(*words, "4,3", "--new", "0, 1") == 0
    assert len(re.findall(r"^ +\d+ +\d+ +−.*[01]$", capsys.readouterr().out, re.MULTILINE)) == 2
    assert call(*words, tmp_path / "new.csv") == 0
    assert re.search(r"^ +5 +5 +−.* 1$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("[3, 1, 2]", "[3, 2, 1]", "--method", "convolution"), r"y = \[9  9  11  5  2\]"),
        (("(x + y)*z", "--method", "graph", "--set", "x=-2", "--set", "y=5", "--set", "z=-4"), r"z +3 +3"),
        (("x**2 + 3*y**2", "[1, 1/2]", "--method", "newton", "--set", "steps=1"), r"1 +0 +0"),
        (("x**2", "[1]", "--method", "gradient-descent", "--set", "step_size=0.25", "--set", "steps=1"), "1/2"),
        (("x**2 - x*y + y**2", "--method", "stationary-points"), "convex"),
        (("POINTS", "--target", "y", "--method", "maximum-margin"), "The hard margin by its KKT conditions"),
        (("POINTS", "--target", "y", "--method", "svm dual", "--set", "C=1"), "dual"),
    ],
)
def test_topics_and_methods_that_minimize_are_shown(words, expected, tmp_path, capsys):
    pd.DataFrame({"a": [0, 2], "b": [0, 2], "y": [-1, 1]}).to_csv(tmp_path / "points.csv", index=False)
    assert call("show-work", *(tmp_path / "points.csv" if word == "POINTS" else word for word in words)) == 0
    assert re.search(expected, capsys.readouterr().out)


def test_the_cell_that_is_no_number_is_named(tmp_path, capsys):
    for column in ("b", "y"):
        SMALL.astype(object).replace({column: {4: "abc", 0: "abc"}}).to_csv(tmp_path / "small.csv", index=False)
        assert call("show-work", tmp_path / "small.csv", "--target", "y") == 2
        row = (SMALL[column].isin([0, 4])).argmax() + 1
        assert f"column '{column}' must be numbers, got 'abc' in row {row}." in capsys.readouterr().err


def test_a_target_is_given_to_methods_that_have_one_and_to_no_other(cars, capsys):
    assert call("show-work", cars, "--target", "price", "--method", "k-means") == 2
    assert "target must be left out for k-means" in capsys.readouterr().err
    assert call("show-work", cars, "--method", "lasso") == 2
    assert "target must be given for lasso" in capsys.readouterr().err


def test_any_parameter_of_a_method_can_be_set(cars, capsys):
    arguments = ("show-work", cars, "--target", "price", "--method", "ridge")
    assert call(*arguments, "--alpha", 0.5) == 0
    by_alpha = capsys.readouterr().out
    assert call(*arguments, "--set", "alpha=0.5") == 0
    assert capsys.readouterr().out == by_alpha
    assert call(*arguments, "--set", "alpha=0.5", "--set", "fit_intercept=False") == 0
    assert capsys.readouterr().out != by_alpha


def test_catalogue_lists_the_regression_topics(capsys):
    assert call("catalogue") == 0
    assert set(re.findall(r"LIN-\d", capsys.readouterr().out)) == {f"LIN-{n}" for n in range(1, 9)}


def test_without_arguments_the_help_is_shown(capsys):
    assert call() == 0
    said = capsys.readouterr()
    assert "show-work" in said.out
    assert said.err == ""


def test_version(capsys):
    assert call("--version") == 0
    assert capsys.readouterr().out == f"pellucid {pellucid.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fit", "TABLE", "--target", "nothing"), "target must be one of the columns"),
        (("fit", "TABLE", "--target", "city", "--task", "regression"), "target must be numbers for regression"),
        (("fit", "TABLE", "--target", "price", "--time", "soon"), "time must be a duration above 0 such as 90s"),
        (("fit", "TABLE", "--target", "price", "--time", "0s"), "time must be a duration above 0"),
        (("fit", "TABLE", "--target", "price", "--recipe", "luck"), "luck"),
        (("fit", "missing.csv", "--target", "y"), "which does not exist"),
        (("fit", "TABLE.docx", "--target", "y"), "table must be one of .csv, .tsv, .csv.gz"),
        (("fit", "TABLE", "--target", "price", "--folds", "1"), "--folds"),
        (("fit", "TABLE"), "target must be named with --target: one of size (number)"),
        (("fit", "TABLE", "--target", "price", "--out", "CARS"), "out must be a folder"),
        (("predict", "TABLE", "TABLE"), "must be"),
        (("predict", "missing.safetensors", "TABLE"), "model must be a file, got missing.safetensors"),
        (("predict", "RIDGE", "TABLE"), "but ['age', 'distance'] are missing"),
        (("verify", "RIDGE", "TABLE", "--target", "nothing"), "target must be one of the columns"),
        (("verify", "RIDGE", "CARS", "--target", "age"), "a feature of the model"),
        (("show-work", "CARS", "--target", "price", "--alpha", "1"), "got 'alpha=1.0' for linear-regression"),
        (("show-work", "CARS", "--target", "price", "--method", "laso"), "got 'laso'; lasso, lars and "),
        (
            ("show-work", "CARS", "--target", "price", "--method", "ridge", "--new", "3"),
            "new must have a value for each",
        ),
        (("show-work", "x**2", "--method", "newton"), "newton takes a formula, a start"),
        (("show-work", "[1]", "[2]", "--method", "convolution", "--new", "3"), "new must be left out for convolution"),
        (("show-work", "CARS", "CARS", "--target", "price"), "one table must be given"),
        (("show-work", "CARS", "--target", "price", "--set", "C=10"), "set must be NAME=VALUE with a name of copy_X"),
        (("show-work", "CARS", "--target", "price", "--set", "tol"), "set must be NAME=VALUE"),
        (("show-work", "CARS", "--target", "price", "--set", "tol=small"), "tol must be"),
        (("conjure",), "No such command 'conjure'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(arguments, sentence, houses, cars, ridge_file, capsys):
    paths = {"TABLE": str(houses), "CARS": str(cars), "RIDGE": str(ridge_file)}
    assert call(*(paths.get(argument, argument) for argument in arguments)) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("pellucid: ")
    assert sentence in complaint
    assert complaint.count("\n") == 1


def test_too_few_rows_are_refused_and_nothing_is_written(cars, tmp_path, capsys):
    assert call("fit", cars, "--target", "price", "--out", tmp_path / "learned") == 2
    assert "table must have at least 10 rows with a target, got 6" in capsys.readouterr().err
    assert not (tmp_path / "learned").exists()


def test_words_where_numbers_were_are_named(ridge_file, tmp_path, capsys):
    pd.DataFrame({"age": ["1", "old"], "distance": [1, 2]}).to_csv(tmp_path / "bad.csv", index=False)
    assert call("predict", ridge_file, tmp_path / "bad.csv") == 2
    assert "column 'age' must be numbers, got 'old'" in capsys.readouterr().err


def test_a_failure_inside_asks_for_the_debug_switch(cars, monkeypatch, capsys):
    monkeypatch.setattr("pellucid.app.tables.table_room.read_table", lambda path: 1 / 0)
    assert call("fit", cars, "--target", "price") == 3
    assert "Set PELLUCID_DEBUG=1" in capsys.readouterr().err
    monkeypatch.setenv("PELLUCID_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call("fit", cars, "--target", "price")


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from pellucid.app.cli.application import run; run(['--help']);"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'pandas', 'sklearn', 'numba', 'matplotlib')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_module_runs_as_a_command():
    done = subprocess.run([sys.executable, "-m", "pellucid", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pellucid ")


@pytest.fixture
def compiled_by_fitting(monkeypatch):
    """The models that were fitted to have their loops compiled."""
    from pellucid.app.bake_off import compiling_ahead
    from pellucid.app.cli import warm_up

    monkeypatch.setattr(warm_up, "ROWS", 60)
    monkeypatch.setattr(compiling_ahead, "ROWS", 60)
    models, fit = [], compiling_ahead.compile_by_fitting

    def fit_and_note(model, *data, **asked):
        models.append(model)
        fit(model, *data, **asked)

    monkeypatch.setattr(compiling_ahead, "compile_by_fitting", fit_and_note)
    return models


def test_warm_up_fits_every_method_of_a_family(compiled_by_fitting):
    from pellucid.app.cli import warm_up

    warm_up._compile_methods(["Ridge", "MultinomialNB", "TSNE"])
    found = {type(model).__name__ for model in compiled_by_fitting if hasattr(model, "certificate_")}
    assert found == {"Ridge", "MultinomialNB", "TSNE"}


def test_warm_up_fits_what_a_comparison_of_tables_fits(compiled_by_fitting):
    from pellucid.app.cli import warm_up

    for n_classes in warm_up.TASKS:
        warm_up.compile_tables(n_classes)
    kinds = {type(model[-1]).__name__ for model in compiled_by_fitting if hasattr(model[-1], "n_features_in_")}
    assert {"LogisticRegression", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"} <= kinds


def test_warm_up_leaves_out_what_needs_a_missing_extra(monkeypatch):
    from pellucid.app.cli import warm_up

    found = warm_up._families(entries()[name] for name in ("Ridge", "BaggingRegressor", "DecisionTreeRegressor"))
    assert found == {"tree": ["BaggingRegressor", "DecisionTreeRegressor"], "linear_model": ["Ridge"]}
    found = warm_up._families(entries()[name] for name in ("Ridge", "BlendRegressor", "HistGradientBoostingClassifier"))
    assert list(found) == ["boosting", "linear_model"]
    assert entries()["NetworkClassifier"].extra == "deep"


def test_warm_up_counts_the_methods_of_all_families(capsys, monkeypatch):
    from pellucid.core import card_index

    chosen = {name: entries()[name] for name in ("Ridge", "MultinomialNB")}
    monkeypatch.setattr(card_index, "entries", lambda: chosen)
    assert call("warm-up") == 0
    assert capsys.readouterr().out.startswith("2 methods are compiled, after ")


def test_warm_up_says_that_nothing_can_be_kept(capsys, monkeypatch):
    from pellucid.app.bake_off import compiling_ahead
    from pellucid.core import card_index

    monkeypatch.setattr(
        card_index, "entries", lambda: {name: entries()[name] for name in ["HistGradientBoostingRegressor"]}
    )
    monkeypatch.setattr(compiling_ahead, "is_compiled", lambda: False)
    assert call("warm-up") == 2
    assert "loops must be kept in a folder, and none can be written. Set NUMBA_CACHE_DIR" in capsys.readouterr().err


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table of numbers, and the model that ``pellucid fit`` makes of it."""
    folder = tmp_path_factory.mktemp("fitted")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=300), "town": rng.choice(["Kyiv", "Oslo"], size=300)})
    frame["price"] = 3 * frame["size"] + (frame["town"] == "Oslo") + rng.normal(size=300)
    frame.to_csv(folder / "table.csv", index=False)
    few = ("--only", "ridge", "--only", "neighbors on components", "--folds", "2", "--time", "20s")
    assert call("fit", folder / "table.csv", "--target", "price", *few, "--out", folder) == 0
    return folder, frame


@pytest.mark.promise
def test_predict_gives_intervals_of_any_method_with_the_coverage_they_had(fitted, capsys):
    folder, frame = fitted
    assert call("predict", folder / "model.safetensors", folder / "table.csv", "--interval", 0.9) == 0
    said = capsys.readouterr()
    found = pd.read_csv(io.StringIO(said.out))
    assert 0.85 <= ((found["low"] <= frame["price"]) & (frame["price"] <= found["high"])).mean() <= 0.97
    assert "Of the rows kept aside at the fit," in said.err


@pytest.mark.promise
def test_predict_notes_what_is_new_and_says_that_there_is_something_to_note(fitted, tmp_path, capsys):
    folder, _ = fitted
    (tmp_path / "new.csv").write_text("size,town\n$0.50,Oslo\n0.1,OSLO\n99,Bern\n0.5,Oslo\n")
    assert call("predict", folder / "model.safetensors", tmp_path / "new.csv", "--notes") == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert found["notes"].iloc[0] == "size: '$0.50' was read as 0.5"
    assert found["notes"].iloc[1] == "town: 'OSLO' was read as 'Oslo'"
    assert "size: 99 is far outside" in found["notes"].iloc[2]
    assert found["notes"].iloc[2].endswith("; town: 'Bern' was never seen")
    assert found["prediction"].iloc[0] == found["prediction"].iloc[3]
    assert call("predict", folder / "model.safetensors", tmp_path / "new.csv") == 0
    said = capsys.readouterr()
    assert "3 rows have values that are new, far off or read otherwise: --notes says which." in said.err
    assert "notes" not in said.out


@pytest.mark.promise
def test_explain_says_what_is_predicted_how_sure_that_is_and_why(fitted, capsys):
    folder, _ = fitted
    assert call("explain", folder / "model.safetensors", folder / "table.csv", "--rows", 2) == 0
    said = capsys.readouterr().out
    assert said.count("\nRow ") == 2
    assert "90 % interval" in said
    assert "size = " in said


@pytest.mark.promise
def test_explain_writes_a_page_and_prints_as_before(fitted, tmp_path, capsys):
    folder, _ = fitted
    asked = ["explain", folder / "model.safetensors", folder / "table.csv", "--rows", 2]
    assert call(*asked) == 0
    before = capsys.readouterr().out
    page = tmp_path / "pages" / "why.html"
    assert call(*asked, "--out", page, "--row", 3) == 0
    said = capsys.readouterr()
    assert said.out == f"{before}\nPage: {page}\n"
    assert said.err == ""
    text = page.read_text()
    assert "Row 3, step by step" in text
    assert "The model learned from these very rows" in text
    assert "How much the typical error rises" in text
    assert call("again", page) == 0
    assert page.read_text().split("<footer>")[0] == text.split("<footer>")[0]


@pytest.mark.promise
def test_explain_does_without_a_target_and_says_so(fitted, tmp_path):
    folder, frame = fitted
    target = pellucid.load(folder / "model.safetensors").target_
    frame.drop(columns=target).to_csv(tmp_path / "new.csv", index=False)
    page = tmp_path / "why.html"
    assert call("explain", folder / "model.safetensors", tmp_path / "new.csv", "--out", page) == 0
    assert "so nobody knows which answers are right" in page.read_text()


@pytest.mark.promise
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--out", "page.txt"], "out must be an HTML file such as page.html, got page.txt."),
        (["--out", "page.html", "--row", 100_000], "row must be one of the"),
    ],
)
def test_explain_refuses_a_page_that_cannot_be(fitted, tmp_path, monkeypatch, capsys, options, sentence):
    monkeypatch.chdir(tmp_path)
    folder, _ = fitted
    assert call("explain", folder / "model.safetensors", folder / "table.csv", *options) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.promise
def test_monitor_finds_nothing_in_the_training_table(fitted, capsys):
    folder, _ = fitted
    assert call("monitor", folder / "model.safetensors", folder / "table.csv") == 0
    assert "No column has drifted" in capsys.readouterr().out


@pytest.mark.promise
def test_monitor_names_what_has_drifted_and_exits_with_1(fitted, tmp_path, capsys):
    folder, frame = fitted
    frame.assign(size=frame["size"] + 2, town="Bergen").to_csv(tmp_path / "new.csv", index=False)
    assert call("monitor", folder / "model.safetensors", tmp_path / "new.csv", "--out", tmp_path / "drift.csv") == 1
    sentence = capsys.readouterr().err
    assert "have drifted: 3 of 3 columns." in sentence
    figures = pd.read_csv(tmp_path / "drift.csv").set_index("column")
    assert figures.loc["town", "unseen"] == 1.0
    assert figures["is_drifted"].all()


@pytest.mark.parametrize("command", ["explain", "monitor", "serve"])
def test_a_model_that_knows_no_table_cannot_be_watched_or_served(command, ridge_file, cars, capsys):
    assert call(command, ridge_file, *([] if command == "serve" else [cars])) == 2
    assert "model must be written by 'pellucid fit'" in capsys.readouterr().err


@pytest.mark.promise
def test_monitor_refuses_an_empty_table(fitted, tmp_path, capsys):
    folder, frame = fitted
    frame.head(0).to_csv(tmp_path / "none.csv", index=False)
    assert call("monitor", folder / "model.safetensors", tmp_path / "none.csv") == 2
    assert "must have" in capsys.readouterr().err


def test_the_demo_says_its_command_and_runs_it(tmp_path, capsys):
    assert call("demo", "--target", "progression", "--time", "10s", "--out", tmp_path / "out") == 0
    assert "diabetes.csv --target progression --time 10s" in capsys.readouterr().out
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.promise
def test_a_missing_server_says_how_to_install_it(fitted, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert call("serve", fitted[0] / "model.safetensors") == 2
    assert "pip install 'pellucid[serve]'" in capsys.readouterr().err


def test_new_rows_of_words_and_numbers_keep_their_kinds(tmp_path, capsys):
    trips = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"], "temp": [20, 24, 15, 17], "go": ["y", "y", "n", "n"]})
    trips.to_csv(tmp_path / "trips.csv", index=False)
    words = ("show-work", tmp_path / "trips.csv", "--target", "go", "--method", "mixed-nb", "--new", "sun,16.5")
    assert call(*words) == 0, capsys.readouterr().err
    assert "Of the new row it says: n." in capsys.readouterr().out
