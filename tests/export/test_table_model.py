"""What ``pellucid fit`` saves as a graph: raw columns in, calibrated answers out; and the command that writes it."""

from __future__ import annotations

import numpy as np
import onnx
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.cli.application import run
from pellucid.app.tables.reading import TableError
from pellucid.core.onnx.answers import feeds_of
from pellucid.export import NotExportableError, from_onnx
from pellucid.export.measuring import difference
from pellucid.export.measuring import run as run_graph
from pellucid.linear_model import LinearRegression
from pellucid.svm import SVC
from tests.onnx_export import MOST, rows_near

TARGETS = ("price", "grade", "sold")


def houses(n=240, seed=0):
    """Return a table with numbers, words, dates, yes and no, and gaps among them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.exponential(size=n), "town": rng.choice(["Kyiv", "Oslo", "Bern"], n)})
    frame["garden"] = rng.choice(["yes", "no"], n)
    frame["built"] = pd.Timestamp("1960-01-31") + pd.to_timedelta(rng.integers(0, 22_000, n), unit="D")
    frame["rooms"] = rng.integers(1, 6, n)
    frame["price"] = 10 + 5 * frame["size"] + 3 * (frame["town"] == "Oslo") + rng.normal(size=n)
    frame["grade"] = np.digitize(frame["price"] + rng.normal(size=n), [12, 16])
    frame["grade"] = frame["grade"].map({0: "low", 1: "middle", 2: "high"})
    frame["sold"] = np.where(frame["price"] + 3 * rng.normal(size=n) > 16, "yes", "no")
    for name in ("size", "town", "garden"):
        frame.loc[rng.random(n) < 0.05, name] = None
    return frame


def asked():
    """Return rows of which some have a word that is new, or written otherwise, or no date."""
    frame = houses(300, seed=1).drop(columns=list(TARGETS))
    frame.loc[::7, "town"], frame.loc[::11, "town"] = "Rome", "oslo"
    frame.loc[::13, "built"] = pd.NaT
    frame.loc[::17, "size"] = np.inf
    return frame


def fitted(target, **options):
    others = [name for name in TARGETS if name != target]
    return bake_off(houses().drop(columns=others), target, folds=2, seconds=60.0, **options).model


def fitted_if_suited(target, method):
    """Return a model of one method, or None where the table has too few rows or columns for it."""
    try:
        return fitted(target, only=[method])
    except TableError as unsuited:
        if method not in str(unsuited):
            raise
        return None


def most_of(method):
    """Return what rounding may differ by: kernel ridge adds 10,000 to all its products, and so loses digits."""
    return 1e-9 if method.startswith("kernel ridge") else MOST


@pytest.mark.parametrize(
    ("target", "method"),
    [
        *(("price", one.name) for one in REGRESSORS if not one.is_baseline),
        *(("grade", one.name) for one in CLASSIFIERS if not one.is_baseline),
        ("sold", "logistic regression"),
        ("sold", "linear SVM"),
        ("sold", "boosted trees"),
        ("sold", "naive Bayes"),
    ],
)
def test_every_method_of_the_main_job_answers_there_as_here(target, method):
    model = fitted_if_suited(target, method)
    if model is not None:
        found = difference(pellucid.to_onnx(model), model, asked())
        assert (found.n_labels, found.largest <= most_of(method)) == (0, True)


@pytest.mark.parametrize("target", TARGETS)
def test_the_chosen_model_does_blends_included(target):
    model = fitted(target)
    proto = pellucid.to_onnx(model, asked())
    assert [one.name for one in proto.graph.input] == ["size", "town", "garden", "built", "rooms"]
    found = difference(proto, model, asked())
    assert (found.n_labels, found.largest <= MOST) == (0, True)


def test_costs_decide_there_too():
    costs = pd.DataFrame({"no": [0.0, 9.0], "yes": [1.0, 0.0]}, index=["no", "yes"])
    model = fitted("sold", only=["logistic regression"], metric=costs)
    assert difference(pellucid.to_onnx(model), model, asked()).n_labels == 0


def test_texts_are_refused_and_the_column_is_named():
    rng = np.random.default_rng(0)
    words = np.array(
        ["good", "bad", "fine", "poor", "cheap", "dear", "old", "new", "small", "large", "warm", "cold", "near", "far"]
    )
    frame = pd.DataFrame({"says": [" ".join(rng.choice(words, 12)) for _ in range(120)], "size": rng.normal(size=120)})
    frame["price"] = frame["says"].str.count("good") + frame["size"]
    model = bake_off(frame, "price", folds=2, seconds=60.0, only=["ridge"]).model
    with pytest.raises(NotExportableError, match="column 'says' must not hold texts"):
        pellucid.to_onnx(model)


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("spread", [0.7, 20.0])
def test_probabilities_of_many_classes_are_coupled_in_the_graph(n_classes, spread):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 150)
    X = rng.normal(size=(150, 3)) + spread * np.column_stack([y, y % 2, 0 * y])
    model = SVC(C=10.0, probability=True, random_state=0).fit(X, y)
    rows = rows_near(X)
    found = difference(pellucid.to_onnx(model), model, rows)
    assert found.n_labels == 0
    assert found.largest <= 1e-10  # of nearly sure machines, whose equations are nearly dependent


def test_the_command_writes_a_graph_that_it_can_verify(tmp_path, capsys):
    table = tmp_path / "houses.csv"
    houses().drop(columns=["grade", "sold"]).to_csv(table, index=False)
    model = fitted("price", only=["lasso"])
    pellucid.save(model, tmp_path / "model.safetensors")
    assert run(["export", str(tmp_path / "model.safetensors"), "--onnx", "--table", str(table)]) == 0
    said = capsys.readouterr().out
    assert "from size, town, garden, built, rooms to variable" in said
    assert "labels: 0 of 240 rows; numbers: at most" in said
    graph = tmp_path / "model.onnx"
    facts = {pair.key: pair.value for pair in onnx.load(graph).metadata_props}
    assert facts["fingerprint"] == model[0].data_fingerprint_
    assert run(["verify", str(graph), str(table), "--target", "price"]) == 0
    assert "holds" in capsys.readouterr().out
    assert run(["predict", str(graph), str(table), "--out", str(tmp_path / "answers.csv")]) == 0
    np.testing.assert_allclose(
        pd.read_csv(tmp_path / "answers.csv")["prediction"], from_onnx(graph).predict(pd.read_csv(table)), rtol=1e-9
    )


def test_a_changed_number_in_the_graph_is_found_by_verify(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((50, 2))
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=X @ [1.0, 2.0])
    frame.to_csv(tmp_path / "table.csv", index=False)
    path = tmp_path / "model.onnx"
    proto = pellucid.to_onnx(LinearRegression().fit(frame[["a", "b"]], frame["y"]), path=path)
    values = onnx.numpy_helper.to_array(proto.graph.initializer[0]) + 0.01
    proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(values, proto.graph.initializer[0].name))
    path.write_bytes(proto.SerializeToString())
    assert run(["verify", str(path), str(tmp_path / "table.csv"), "--target", "y"]) != 0
    assert "DOES NOT HOLD" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "a kind of file must be asked for"),
        (["--onnx", "--out", "model.pb"], "out must end in .onnx, got model.pb"),
    ],
)
def test_the_command_refuses_in_a_sentence(options, sentence, tmp_path, capsys):
    model = tmp_path / "model.safetensors"
    pellucid.save(fitted("price", only=["decision tree"]), model)
    assert run(["export", str(model), *options]) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == [model]


def test_a_row_at_a_time_is_answered_as_all_at_once():
    model = fitted("grade", only=["random forest"])
    proto, frame = pellucid.to_onnx(model), asked()[:5]
    every = run_graph(proto, feeds_of(model, frame))["probabilities"]
    lone = [run_graph(proto, feeds_of(model, frame.iloc[[i]]))["probabilities"] for i in range(len(frame))]
    np.testing.assert_allclose(np.vstack(lone), every, rtol=1e-14)
