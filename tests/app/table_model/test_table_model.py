"""The model of a table: saved and loaded whole, its intervals and probabilities, damaged files refused."""

from __future__ import annotations

import copy
import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.table_model.calibration import ISOTONIC, KINDS, PLATT, Calibration, calibrated
from pellucid.app.table_model.class_scores import costs_of_threshold
from pellucid.app.table_model.error_quantiles import ErrorQuantiles
from pellucid.app.table_model.seen_table import SeenTable
from pellucid.core.files import NotSaveableError, SchemaError
from pellucid.core.kinds.records import Record


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.exponential(size=400), "town": rng.choice(["Kyiv", "Oslo"], size=400)})
    frame["price"] = 10 + frame["size"] * 5 + (frame["town"] == "Oslo") * 3 + rng.normal(size=400)
    frame["dear"] = np.where(frame["price"] > 15, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def numbers(frame):
    return bake_off(frame.drop(columns="dear"), "price", seconds=20).model


@pytest.fixture(scope="module")
def classes(frame):
    noisy = frame.drop(columns="price").assign(dear=frame["dear"].sample(frac=0.2, random_state=0))
    return bake_off(noisy.assign(dear=noisy["dear"].fillna(frame["dear"])), "dear", seconds=20).model


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_it_is_saved_and_loaded_whole(kind, request, tmp_path, frame):
    model = request.getfixturevalue(kind)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    assert again.target_ == model.target_
    assert again.seen_.words == model.seen_.words
    assert str(again.calibration_) == str(model.calibration_)
    assert again.limits_ == model.limits_
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    if kind == "numbers":
        np.testing.assert_array_equal(again.predict_interval(frame, 0.8), model.predict_interval(frame, 0.8))
        assert again.coverage(0.8) == model.coverage(0.8)
    else:
        np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_intervals_hold_the_truth_as_often_as_they_say(numbers, frame):
    low, high = numbers.predict_interval(frame, 0.9)
    assert 0.85 <= np.mean((low <= frame["price"]) & (frame["price"] <= high)) <= 0.99
    assert 0.75 <= numbers.coverage(0.9) <= 1.0


def test_probabilities_agree_with_the_prediction(classes, frame):
    chances = classes.predict_proba(frame)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(classes.classes_[chances.argmax(axis=1)], classes.predict(frame))
    np.testing.assert_array_equal(np.log(chances), classes.predict_log_proba(frame))


def test_too_sure_a_method_is_made_more_cautious():
    rng = np.random.default_rng(0)
    first = rng.normal(size=600)
    X = pd.DataFrame({name: first + rng.normal(size=600) / 10 for name in "abcdefgh"})  # the same evidence eight times
    X["y"] = np.where(first + 2 * rng.normal(size=600) > 0, "up", "down")
    model, new = bake_off(X.iloc[:300], "y", seconds=20, only=["naive Bayes"]).model, X.iloc[300:]
    assert model.calibration_.inverse_temperature < 0.5
    calibrated = log_loss(new["y"], model.predict_proba(new))
    model.calibration_ = Calibration()
    assert calibrated < 0.8 * log_loss(new["y"], model.predict_proba(new))


def test_it_remembers_columns_and_predictions(numbers):
    assert set(numbers.seen_.gaps) == {"size", "town", "prediction of price"}


def test_a_model_of_classes_has_no_intervals(classes, frame):
    with pytest.raises(ValueError, match="intervals must be asked of a model of numbers"):
        classes.predict_interval(frame)
    assert classes.coverage(0.9) is None


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("errors_", ErrorQuantiles(np.array([1.0, 0.0]), np.zeros(2))),
        ("errors_", ErrorQuantiles(np.zeros(2), np.zeros(3))),
        ("errors_", ErrorQuantiles(np.zeros(0), np.zeros(0))),
        ("seen_", SeenTable({"x": np.array([1.0, 0.0])}, {}, {"x": 0.0}, {"x": 2})),
        ("seen_", SeenTable({}, {"x": {"a": 0.7, "b": 0.7}}, {"x": 0.0}, {"x": 2})),
        ("seen_", SeenTable({}, {"x": {"a": 0.7}}, {"y": 0.0}, {"x": 2})),
    ],
)
def test_what_a_file_says_is_checked(numbers, tmp_path, monkeypatch, name, broken):
    monkeypatch.setattr(numbers, name, broken)
    with pytest.raises(NotSaveableError, match=f"{name} of TableModel must be .*to be saved"):
        pellucid.save(numbers, tmp_path / "model.safetensors")
    monkeypatch.setattr(Record, "fits", lambda _kind, value: dataclasses.is_dataclass(value))
    pellucid.save(numbers, tmp_path / "model.safetensors")
    with pytest.raises(SchemaError, match=f"{name} must be a"):
        pellucid.load(tmp_path / "model.safetensors")


def test_costs_decide_and_are_saved(classes, frame, tmp_path, monkeypatch):
    chances = classes.predict_proba(frame)
    monkeypatch.setattr(classes, "costs_", costs_of_threshold(0.2))
    np.testing.assert_array_equal(classes.predict(frame), np.where(chances[:, 1] > 0.2, "yes", "no"))
    monkeypatch.setattr(classes, "costs_", np.array([[0.0, 1.0], [9.0, 0.0]]))  # a yes that is missed costs 9
    decided = np.where(chances @ [0.0, 9.0] < chances @ [1.0, 0.0], "no", "yes")
    np.testing.assert_array_equal(classes.predict(frame), decided)
    pellucid.save(classes, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(pellucid.load(tmp_path / "model.safetensors").predict(frame), decided)
    monkeypatch.setattr(classes, "costs_", np.zeros((3, 3)))
    pellucid.save(classes, tmp_path / "model.safetensors")
    with pytest.raises(SchemaError, match="costs_ of TableModel must be a number for each pair of 2 classes"):
        pellucid.load(tmp_path / "model.safetensors")


def failed_claims(model, frame, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [claim.name for claim in pellucid.verify(model, frame.drop(columns=target), frame[target]).failed]


@pytest.fixture(scope="module")
def noisy(frame):
    dear = frame["dear"].where(frame["size"].rank() % 5 > 0, "no").to_numpy(dtype="U3")
    table = frame[["size", "town"]].assign(dear=dear, note=[f"seen {k % 7} times in {k % 11} days" for k in range(400)])
    return table, bake_off(table, "dear", seconds=20, only=["random forest"]).model


def test_all_that_answers_is_verified_from_the_table_on(noisy, numbers, frame):
    table, model = noisy
    found = pellucid.verify(model, table.drop(columns="dear"), table["dear"].to_numpy(dtype="U3"))
    assert found.holds, str(found)
    assert "rows held out" in found.reason
    assert {"steps", "calibration", "columns seen"} <= {claim.name for claim in found.claims}
    assert not failed_claims(numbers, frame.drop(columns="dear"), "price")


def test_a_changed_calibration_is_found(noisy):
    table, model = noisy
    changed = copy.copy(model)
    for kind in KINDS[1:]:
        way = calibrated(kind, model.held_out_.scores, model.held_out_.codes)
        changed.calibration_ = way
        assert failed_claims(changed, table, "dear") == []
        moved = {
            "inverse_temperature": 1.01 * way.inverse_temperature if kind != ISOTONIC else way.inverse_temperature,
            "offsets": way.offsets + [0.01, -0.01] if kind == PLATT else way.offsets,
            "chances": np.sqrt(way.chances),
        }
        changed.calibration_ = dataclasses.replace(way, **moved)
        assert failed_claims(changed, table, "dear") == ["calibration"], kind


def test_limits_keep_predictions_and_are_proved(numbers, frame):
    assert numbers.limits_ == [0.0, None]
    far = frame.head(2).assign(size=-1e6)
    assert (numbers.predict(far) >= 0.0).all()
    assert (np.array(numbers.predict_interval(far, 0.8)) >= 0.0).all()
    for limits in ([1.0, None], [0.0, 20.0], [None, None]):
        changed = copy.copy(numbers)
        changed.limits_ = limits
        assert "limits" in failed_claims(changed, frame.drop(columns="dear"), "price")


def test_changed_words_columns_seen_and_costs_are_found(noisy):
    table, model = noisy
    changed = copy.deepcopy(model)
    encoder = changed[1].named_transformers_["words"]
    encoder.words_ = [words[::-1] for words in encoder.words_]
    assert "steps" in failed_claims(changed, table, "dear")
    changed = copy.deepcopy(model)
    changed.seen_.numbers["size"][0] -= 1.0
    assert failed_claims(changed, table, "dear") == ["columns seen"]
    changed = copy.copy(model)
    changed.costs_ = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert failed_claims(changed, table, "dear") == ["costs"]


def test_narrower_intervals_are_found(numbers, frame):
    changed = copy.copy(numbers)
    changed.errors_ = ErrorQuantiles(numbers.errors_.predicted, 0.99 * numbers.errors_.errors)
    assert failed_claims(changed, frame.drop(columns="dear"), "price") == ["intervals"]


def test_rows_say_what_is_new_far_off_or_read_otherwise(numbers, frame):
    new = frame.head(4).astype(object)
    new.loc[new.index[0], ["size", "town"]] = ["$2.50", new["town"].iloc[0].upper()]
    new.loc[new.index[1], ["size", "town"]] = [1e6, "Atlantis"]
    new.loc[new.index[2], "size"] = np.inf
    respelled, strange, infinite, usual = numbers.notes(new)
    assert respelled[0] == "size: '$2.50' was read as 2.5"
    assert respelled[1].startswith(f"town: {new['town'].iloc[0]!r} was read as")
    assert strange[0].startswith("size: 1e+06 is far outside of what was learned from (")
    assert strange[1] == "town: 'Atlantis' was never seen"
    assert infinite == ["size: inf was taken for a gap"]
    assert usual == []
    known = frame.head(1).assign(size=2.5)
    assert numbers.predict(new)[0] == numbers.predict(known)[0]


def test_the_table_learned_from_has_nothing_to_say(numbers, frame):
    assert not any(numbers.notes(frame))
