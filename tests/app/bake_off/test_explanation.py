"""Explanations of a saved model: each method in its own way, sums that are what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.explanation import explain_rows, typical_row


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.exponential(size=300),
            "noise": rng.normal(size=300),
            "town": rng.choice(["Kyiv", "Oslo", "Rome"], size=300),
            "sold": pd.date_range("2024-01-01", periods=300).astype(str),
        }
    )
    frame["price"] = 10 + frame["size"] * 5 + (frame["town"] == "Oslo") * 3 + rng.normal(size=300) / 4
    frame["dear"] = np.where(frame["price"] > 15, "yes", "no")
    return frame


def fitted(frame, target, method, tmp_path):
    other = {"price": "dear", "dear": "price"}[target]
    model = bake_off(frame.drop(columns=other), target, seconds=20, only=[method]).model
    pellucid.save(model, tmp_path / "model.safetensors")
    return pellucid.load(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("target", "method"),
    [
        ("price", "ridge"),
        ("price", "boosted trees"),
        ("price", "nearest neighbors"),
        ("price", "kernel ridge"),
        ("price", "kernel SVM"),
        ("dear", "logistic regression"),
        ("dear", "naive Bayes"),
        ("dear", "kernel SVM"),
        ("dear", "random forest"),
    ],
)
def test_the_column_that_matters_comes_first(frame, tmp_path, target, method):
    model = fitted(frame, target, method, tmp_path)
    rows = frame.sort_values("size").iloc[[0, 1, -1]]
    story = explain_rows(model, rows)
    assert [one.prediction for one in story.examples] == [
        str(said) if target == "dear" else f"{said:.4g}" for said in model.predict(rows)
    ]
    first = story.examples[2].reasons[0]
    assert first.column == "size"
    assert float(first.value) == pytest.approx(rows["size"].iloc[2], rel=1e-3)


def test_a_tree_tells_its_path(frame, tmp_path):
    model = fitted(frame, "dear", "decision tree", tmp_path)
    (one,) = explain_rows(model, frame.head(1)).examples
    assert "because" in one.sentence
    assert one.prediction in one.sentence


def test_changes_are_differences_of_predictions(frame, tmp_path):
    model = fitted(frame, "price", "nearest neighbors", tmp_path)
    row = frame.iloc[[int(frame["size"].argmax())]]
    (one,) = explain_rows(model, row).examples
    median = float(np.median(frame["size"]))
    without = float(model.predict(row)[0] - model.predict(row.assign(size=median))[0])
    assert {reason.column: reason.added for reason in one.reasons}["size"] == pytest.approx(without, rel=0.05)


def test_a_typical_row_has_medians_and_the_most_frequent_words(frame, tmp_path):
    model = fitted(frame, "price", "ridge", tmp_path)
    row = typical_row(model.seen_, model[0].transform(frame.head(3)))
    assert len(row) == 1
    assert row["size"].iloc[0] == pytest.approx(frame["size"].median(), rel=0.02)
    assert str(row["town"].iloc[0]) == frame["town"].mode()[0]
