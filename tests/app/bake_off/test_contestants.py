"""Methods for skewed targets are offered where they suit, and say nothing below 0."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.contestants import MOST_COMPARED_ROWS, contestants_for, is_skewed_amount, is_skewed_count
from pellucid.app.tables.understanding import understand


@pytest.mark.parametrize(
    ("values", "count", "amount"),
    [
        ([0, 0, 1, 2, 9], True, False),
        ([1, 1, 2, 3, 20], False, True),
        ([0, 1, 2, 3, 4], False, False),  # even on both sides
        ([-1, 0, 0, 1, 9], False, False),
    ],
)
def test_counts_and_amounts_are_known_by_their_tail(values, count, amount):
    y = np.array(values, dtype=float)
    assert (is_skewed_count(y), is_skewed_amount(y)) == (count, amount)


def test_counts_are_never_predicted_below_0():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 3.0, 300)
    frame = pd.DataFrame({"x": x, "riders": rng.poisson(np.exp(2.0 * x - 3.0))})
    found = bake_off(frame, "riders", task="regression", seconds=20, folds=2, only=["boosted trees for counts"])
    assert found.chosen.name == "boosted trees for counts"
    assert found.model.predict(frame).min() >= 0
    assert bake_off(frame, "x", seconds=20, folds=2, only=["ridge", "boosted trees for counts"]).chosen.name == "ridge"


KERNEL_METHODS = ["kernel ridge", "kernel ridge, weak penalty", "kernel SVM", "kernel SVM, weak penalty"]


def waves(n=200, unit=1.0, level=0.0, seed=0):
    """Return a table whose target is a curve of one column, far from 0, and in whatever unit."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0.0, 6.0, n), "other": rng.normal(size=n)})
    frame["y"] = unit * (np.sin(frame["x"]) + 0.1 * rng.normal(size=n) + level)
    return frame


@pytest.mark.parametrize("name", KERNEL_METHODS)
def test_kernel_methods_follow_a_curve_in_any_unit_and_at_any_level(name):
    errors = []
    for unit, level in ((1.0, 0.0), (1e6, 0.0), (1e-6, 50.0)):
        frame = waves(unit=unit, level=level)
        found = bake_off(frame, "y", task="regression", seconds=30, folds=2, only=[name])
        errors.append(found.chosen.mean / unit)
    np.testing.assert_allclose(errors, errors[0], rtol=0.05)
    assert errors[0] < 0.25


def test_the_curve_of_a_kernel_method_is_drawn_as_it_bends():
    frame = waves()
    found = bake_off(frame, "y", task="regression", seconds=30, folds=2, only=["kernel ridge"])
    curve = next(one for one in found.effects if one.column == "x")
    assert curve.is_smooth
    middle = np.sin(np.median(frame["x"]))
    np.testing.assert_allclose(curve.change, np.sin(curve.values) - middle, atol=0.25)


def test_kernel_ridge_is_left_out_where_the_products_of_all_rows_are_too_many():
    method = next(one for one in contestants_for(is_classification=False) if one.name == "kernel ridge")
    frame = waves(MOST_COMPARED_ROWS + 1)
    columns = understand(frame, "y")
    assert "more than 10,000" in method.unsuited(columns, frame[["x", "other"]], frame["y"].to_numpy())
    assert method.unsuited(columns, frame[["x", "other"]].head(100), frame["y"].to_numpy()[:100]) == ""


def test_a_kernel_svm_finds_a_ring_that_no_line_does_and_gives_probabilities_that_agree():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    radius = np.hypot(frame["a"], frame["b"])
    frame["where"] = np.where(radius < 0.8, "in", np.where(radius < 1.5, "ring", "out"))
    found = bake_off(frame, "where", seconds=60, folds=2, only=["linear SVM", "kernel SVM"])
    errors = {score.name: score.mean for score in found.scores}
    assert errors["kernel SVM"] < 0.5 * errors["linear SVM"]
    chances = found.model.predict_proba(frame)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.model.classes_[chances.argmax(axis=1)], found.model.predict(frame))


def outlines(n=150, d=25, seed=0):
    """Return a table whose target is the first of two directions that most of the columns share."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2)) * [3.0, 2.0]
    frame = pd.DataFrame(hidden @ rng.normal(size=(2, d)) + 0.5 * rng.normal(size=(n, d)))
    return frame.rename(columns=lambda j: f"c{j}").assign(y=hidden[:, 0] + 0.1 * rng.normal(size=n))


def test_many_columns_are_condensed_within_the_folds(tmp_path):
    frame = outlines()
    names = ["least squares on components", "neighbors on components"]
    found = bake_off(frame, "y", seconds=30, folds=3, only=names)
    assert found.chosen.name == "least squares on components"
    pca = found.model[1][-1]  # what is fitted on the rows of the fold alone stands inside the pipeline
    assert pca.n_components_ < 25
    pellucid.save(found.model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(frame), found.model.predict(frame))


def test_few_columns_are_not_condensed():
    found = bake_off(outlines(d=5), "y", seconds=30, folds=2, only=["ridge", "least squares on components"])
    assert found.chosen.name == "ridge"
