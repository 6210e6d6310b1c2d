"""The server: right answers, one sentence for wrong requests, whole under many at once."""

from __future__ import annotations

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from pellucid.app.bake_off import bake_off
from pellucid.app.serving import serving_application
from pellucid.app.serving.application import MOST_BYTES, fields_of
from pellucid.app.table_model import SeenTable, TableModel
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.dates import DATES
from pellucid.linear_model import Ridge

ROW = {"size": 1.5, "town": "Oslo", "new": True, "sold": "2024-03-01"}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.exponential(size=200),
            "town": rng.choice(["Kyiv", "Oslo"], size=200),
            "new": rng.choice([True, False], size=200),
            "sold": pd.date_range("2024-01-01", periods=200).astype(str),
        }
    )
    frame["price"] = 10 + frame["size"] * 5 + (frame["town"] == "Oslo") * 3 + rng.normal(size=200)
    frame["dear"] = np.where(frame["price"] > 15, "<b>yes</b>", "no")
    return frame


@pytest.fixture(scope="module")
def model(frame):
    return bake_off(frame.drop(columns="dear"), "price", seconds=20, only=["ridge"]).model


@pytest.fixture(scope="module")
def client(model):
    return TestClient(serving_application(model), base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def classes(frame):
    return bake_off(frame.drop(columns="price"), "dear", seconds=20, only=["logistic regression"]).model


def ask(client, body, **headers):
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post("/predict", content=content, headers={"Content-Type": "application/json"} | headers)


def test_numbers_come_with_intervals(client, model, frame):
    rows = json.loads(frame[list(ROW)].head(7).to_json(orient="records"))
    found = ask(client, {"rows": rows, "level": 0.8}).json()["predictions"]
    np.testing.assert_allclose([one["prediction"] for one in found], model.predict(frame.head(7)))
    low, high = model.predict_interval(frame.head(7), 0.8)
    np.testing.assert_allclose([(one["low"], one["high"]) for one in found], np.stack([low, high], axis=1))
    assert {one["level"] for one in found} == {0.8}


def test_classes_come_with_probabilities(classes, frame):
    client = TestClient(serving_application(classes), base_url="http://localhost")
    (found,) = ask(client, {"rows": [ROW]}).json()["predictions"]
    chances = classes.predict_proba(pd.DataFrame([ROW]))[0]
    assert found["probabilities"] == dict(zip(classes.classes_, chances.tolist(), strict=True))
    assert found["prediction"] == max(found["probabilities"], key=found["probabilities"].get)


def test_an_answer_comes_with_notes_on_its_row(client):
    rows = [ROW, ROW | {"town": "OSLO"}, ROW | {"town": "Bern", "size": 1e9}]
    plain, respelled, strange = (one["notes"] for one in ask(client, {"rows": rows}).json()["predictions"])
    assert plain == []
    assert respelled == ["town: 'OSLO' was read as 'Oslo'"]
    assert strange[0].startswith("size: 1e+09 is far outside")
    assert strange[1] == "town: 'Bern' was never seen"


def test_what_is_not_known_is_null(client):
    assert ask(client, {"rows": [ROW | {"size": None, "town": None, "new": None, "sold": None}]}).status_code == 200


def test_the_model_is_described(client):
    about = client.get("/model").json()
    assert about["target"] == "price"
    assert about["certificate"] == "holds"
    assert [column["name"] for column in about["columns"]] == list(ROW)


def test_the_page_has_a_field_for_every_column_and_escapes_all_it_shows(classes):
    hostile = TestClient(serving_application(classes), base_url="http://localhost")
    page = hostile.get("/")
    assert page.text.count("<label>") == len(ROW)
    assert " selected>" in page.text
    assert "<b>yes</b>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_the_page_asks_for_the_target_by_the_kind_of_each_column(client, frame):
    page = client.get("/").text
    assert "<h1>price: predict for these values</h1>" in page
    assert '<input name="size" type="number"' in page
    assert '<input name="sold" type="date"' in page
    assert '<select name="town"><option value="">not known</option><option value="Kyiv"' in page
    low, high = frame["size"].quantile([0.1, 0.9])
    found = re.search(r"usually ([\d.]+) to ([\d.]+)", page)
    assert [float(end) for end in found.groups()] == pytest.approx([low, high], rel=0.1)


def seen_as(kind, column, with_hours=()):
    frame = pd.DataFrame({"it": column})
    reader = ColumnReader({"it": kind}).fit(frame)
    reader.with_hours_ = list(with_hours)
    model = TableModel([("read", reader), ("method", Ridge())])
    model.seen_ = SeenTable.of(reader.transform(frame)) if kind not in (*DATES, "text") else SeenTable()
    return fields_of(model)[0], reader


@pytest.mark.parametrize(
    ("kind", "column", "way"),
    [
        ("number", [1.0, 2.0, 20_500.0], "number"),
        ("number, as written", ["$1,200", "$3", "$4"], "text"),
        ("number, written with a decimal comma", ["1,5", "2,5", "12.000,25"], "text"),
        ("duration", ["1:30:00", "0:10:00", "2:00:05"], "text"),
        ("yes or no", ["yes", "no", "yes"], "select"),
        ("words", ["1", "10", "2"], "select"),
        ("words", [f"word {k}" for k in range(60)], "suggest"),
        ("date", ["2024-01-01"] * 3, "date"),
        ("text", ["a", "b", "c"], "lines"),
    ],
)
def test_every_kind_has_its_way_to_be_asked_and_its_example_can_be_read(kind, column, way):
    field, reader = seen_as(kind, column)
    assert field.way == way
    read = reader.transform(pd.DataFrame({"it": [field.example]}))
    if way in ("number", "text"):
        assert read["it"].iloc[0] == pytest.approx(
            reader.transform(pd.DataFrame({"it": column}))["it"].median(), rel=0.01
        )
        low, high = re.fullmatch(r"usually (\S+) to (\S+)", field.hint).groups()
        ends = reader.transform(pd.DataFrame({"it": [low, high]}))["it"]
        assert ends.iloc[0] <= read["it"].iloc[0] <= ends.iloc[1]


def test_numbers_among_words_are_in_the_order_of_their_size_and_gaps_are_told():
    field, _ = seen_as("words", ["10", "2", "1", None])
    assert field.choices == ("1", "2", "10")
    assert field.hint == "empty in 25 % of the rows"
    assert seen_as("date", ["2024-01-01 10:00"] * 2, ["it"])[0].way == "moment"


def test_a_pasted_table_gets_an_answer_for_every_row(client, model, frame):
    asked = frame.head(5).assign(id=range(5), prediction="mine").drop(columns=["price", "dear"])
    found = client.post("/table", json={"csv": asked.to_csv(index=False), "level": 0.8}).json()
    assert found["columns"] == ["prediction", "low", "high", "notes"]
    np.testing.assert_allclose([row[0] for row in found["rows"]], model.predict(asked))
    assert found["n_rows"] == 5
    whole = pd.read_csv(io.StringIO(found["csv"]))
    assert list(whole.columns) == [*asked.columns, "prediction (new)", "low", "high", "notes"]
    np.testing.assert_allclose(whole["prediction (new)"], model.predict(asked))
    assert whole["prediction"].tolist() == ["mine"] * 5


def test_an_empty_cell_is_a_gap_and_so_is_null(client):
    row = ROW | {"size": None}
    (alone,) = ask(client, {"rows": [row]}).json()["predictions"]
    pasted = "size;town;new;sold\n;Oslo;True;2024-03-01\n0;Oslo;True;2024-03-01\n"
    gap, zero = client.post("/table", json={"csv": pasted}).json()["rows"]
    assert gap[0] == pytest.approx(alone["prediction"])
    assert zero[0] != pytest.approx(gap[0])


def test_a_pasted_table_of_classes_has_their_probabilities_and_notes(classes):
    client = TestClient(serving_application(classes), base_url="http://localhost")
    pasted = "\t".join(ROW) + "\n" + "1.5\tBern\tyes\t2024-03-01"
    found = client.post("/table", json={"csv": pasted}).json()
    assert found["columns"] == ["prediction", "probability <b>yes</b>", "probability no", "notes"]
    assert "'Bern' was never seen" in found["rows"][0][3]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"rows": [ROW]}, "body must be an object like"),
        ({"csv": 3}, "csv must be a text with a line of names"),
        ({"csv": "  \n"}, "csv must be a text with a line of names"),
        ({"csv": "size,town,new,sold"}, "must have rows"),
        ({"csv": "size,town,new,solt\n1,Oslo,yes,2024-03-01"}, "['sold'] is missing. Did you mean"),
        ({"csv": "size,town,new,sold\nlarge,Oslo,yes,2024-03-01"}, "column 'size' must be numbers, got 'large'"),
        ({"csv": "size,town,new,sold\n" + "1,Oslo,yes,2024-03-01\n" * 10_001}, "csv must have at most 10,000 rows"),
    ],
)
def test_a_wrong_table_gets_a_sentence(client, body, sentence):
    answer = client.post("/table", json=body)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "body must be JSON"),
        (b"{", "body must be JSON"),
        (b"\xff\xfe", "body must be JSON"),
        (b"[" * 100_000, "body must be JSON"),
        (b'{"rows": [{"size": NaN}]}', "NaN is no number of JSON"),
        (b'{"rows": [{"size": 1e999}]}', "must have the columns"),
        ([], "body must be an object"),
        ({"rows": [ROW], "code": "import os"}, "body must be an object"),
        ({"rows": ROW}, "rows must be a list of 1 to"),
        ({"rows": []}, "rows must be a list of 1 to"),
        ({"rows": [ROW] * 10_001}, "rows must be a list of 1 to"),
        ({"rows": [1]}, "row 0 must be an object"),
        ({"rows": [ROW, {**ROW, "more": 1}]}, "row 1 must have the columns of the model only, got more"),
        ({"rows": [{"size": 1.0}]}, "row 0 must have the columns town, new, sold"),
        ({"rows": [ROW | {"size": [1]}]}, "size in row 0 must be a finite number"),
        (
            '{"rows": [{"size": 1e999, "town": "x", "new": true, "sold": null}]}',
            "size in row 0 must be a finite number",
        ),
        ({"rows": [ROW | {"size": "large"}]}, "column 'size' must be numbers, got 'large'"),
        ({"rows": [ROW | {"size": 10**400}]}, "size in row 0 must be a finite number"),
        ({"rows": [ROW | {"sold": "soon"}]}, "column 'sold' must be dates"),
        ({"rows": [ROW], "level": 1}, "level must be a number between 0 and 1"),
        ({"rows": [ROW], "level": True}, "level must be a number between 0 and 1"),
        ({"rows": [ROW], "level": 0.9999}, "level must be at most"),
    ],
)
def test_a_wrong_request_gets_a_sentence(client, body, sentence):
    answer = ask(client, body)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_a_large_body_is_refused(client):
    answer = ask(client, b" " * (MOST_BYTES + 1))
    assert answer.status_code == 413
    assert "at most 2,000,000 bytes" in answer.json()["error"]


def test_forms_and_names_of_other_pages_are_refused(client):
    assert ask(client, {"rows": [ROW]}, **{"Content-Type": "text/plain"}).status_code == 415
    assert ask(client, {"rows": [ROW]}, Host="evil.example").status_code == 400
    assert client.get("/predict").status_code == 405
    assert client.get("/etc/passwd").status_code == 404


def test_two_hundred_requests_at_once_get_the_answers_they_would_get_alone(client, model, frame):
    rows = json.loads(frame[list(ROW)].to_json(orient="records"))
    expected = model.predict(frame)

    def one(i):
        broken = i % 10 == 0
        return ask(client, {"rows": [rows[i]]} if not broken else {"rows": [{}]})

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(200)))
    for i, answer in enumerate(answers):
        if i % 10:
            assert answer.json()["predictions"][0]["prediction"] == pytest.approx(expected[i])
        else:
            assert answer.status_code == 400
