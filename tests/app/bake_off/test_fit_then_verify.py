"""What a fit has certified verify accepts, from the files: for every method, every kind of column, every option."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off, tuning
from pellucid.app.bake_off.contestants import contestants_for
from pellucid.app.cli.errors import ClaimError, NothingProvedError
from pellucid.app.cli.verify import verify
from pellucid.app.tables import read_table
from pellucid.core.files.saving import model_bytes
from pellucid.core.user_warnings import UncertifiedWarning

KINDS = ("numbers", "words", "texts", "dates", "gaps", "as people write")
METHODS = [
    pytest.param(target, one.name, id=f"{target}: {one.name}")
    for target in ("class", "number")
    for one in contestants_for(is_classification=target == "class")
    if not one.is_baseline
]
OF_EACH_FAMILY = {
    "class": ("logistic regression", "boosted trees"),
    "three": ("random forest", "naive Bayes"),
    "number": ("ridge", "boosted trees, slow"),
}
OPTIONS = {
    "weights": {"weights": "weight"},
    "a group": {"group": "group"},
    "a time": {"time_column": "when"},
    "columns dropped": {"drop": ["x", "color"]},
    "texts as they are": {"coerce": False},
}


def make_table(*kinds, n=60, seed=0):
    """Return columns of some kinds, and targets that they tell about."""
    rng = np.random.default_rng(seed)
    x, color = rng.normal(size=n), rng.choice(["red", "green", "blue"], n)
    score = x + (color == "red") + rng.normal(0, 0.3, n)
    said = [f"{' '.join(rng.choice(['good', 'late', 'very', 'paid'], 5))}{' bad' if one > 0 else ''}" for one in score]
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta((score * 100 + 400).astype(int), unit="D")
    minute = day + pd.to_timedelta(rng.integers(0, 1440, n), unit="min")
    columns = {
        "numbers": {"x": x.round(3), "whole": rng.integers(0, 9, n)},
        "words": {"color": color, "letter": rng.choice(list("abcdefgh"), n)},
        "texts": {"said": said},
        "dates": {"day": day.strftime("%d.%m.%Y"), "minute": minute.strftime("%Y-%m-%d %H:%M")},
        "gaps": {
            "some x": np.where(rng.random(n) < 0.3, np.nan, x),
            "some color": np.where(rng.random(n) < 0.3, None, color),
        },
        "as people write": {
            "price": [f"${1000 * one + 3000:,.2f}" for one in x],
            "yes": np.where(score > 0, "Yes", "no"),
            "case": [one.upper() if k % 3 else one for k, one in enumerate(color)],
        },
        "many words": {"place": [f"place {k % 60}" for k in range(n)]},
        "wide": {f"w{k}": (x + rng.normal(size=n)).round(4) for k in range(22)},
    }
    frame = pd.DataFrame({name: values for kind in kinds for name, values in columns[kind].items()})
    targets = {
        "number": (10 * score).round(2),
        "amount": np.exp(2 * score).round(2) + 1.0,
        "count": np.floor(np.exp(1.5 * score)),
        "class": np.where(score > 0.3, "up", "down"),
        "three": np.where(score > 0.8, "a", np.where(score > -0.3, "b", "c")),
    }
    rows = {"weight": rng.integers(1, 4, n), "group": rng.integers(0, 12, n), "when": np.arange(n)}
    return frame, targets, rows


@pytest.fixture
def fit_then_verify(tmp_path):
    """Fit a table as the command does, write the model, and verify it with the file of the table."""

    def run(frame, target, **options):
        table, model = tmp_path / "table.csv", tmp_path / "model.safetensors"
        frame.to_csv(table, index=False)
        result = bake_off(read_table(table), target, recipe="split", seconds=120.0, **options)
        model.write_bytes(model_bytes(result.model))
        assert not result.certificate.failed
        if result.certificate.holds:
            verify(model, table, target, options.get("weights"))
        else:  # a network
            with pytest.raises(NothingProvedError):
                verify(model, table, target, options.get("weights"))
        return result

    return run


@pytest.fixture(autouse=True)
def only_what_is_certified(monkeypatch):
    """Leave out what the report tells beside, and most rounds of boosting: they take most of the time."""
    room, findings = (sys.modules[f"pellucid.app.bake_off.{name}"] for name in ("procedure", "findings"))
    for home, names in ((findings, ("importances", "effects", "_tell")), (room, ("learning_curve", "prove"))):
        for name in names:
            monkeypatch.setattr(home, name, lambda *_args, **_options: "There was no time left for it.")

    def of_few_rounds(**task):
        return tuple(replace(one.with_rounds(20), rounds=20) if one.rounds else one for one in contestants_for(**task))

    monkeypatch.setattr(room, "contestants_for", of_few_rounds)
    monkeypatch.setattr(tuning, "MOST_TRIES", 2)


def suited(target, method):
    """Return kinds of columns that a method takes, rows enough for it, and a target that suits it."""
    kinds = ["numbers", "words", "dates", "gaps", "as people write"]
    if method.endswith("on components"):
        return ("wide",), 60, target
    if method.endswith("on means of words"):
        return ("numbers", "many words"), 150, target
    if method == "boosted trees, tuned":
        return tuple(kinds), 260, target
    if method == "neural network":
        return tuple(kinds[:2]), 380, target
    if method.endswith("with products") or method == "linear discriminant":
        return ("numbers", "gaps"), 60, target
    wanted = {"boosted trees for counts": "count", "boosted trees for amounts": "amount"}.get(method, target)
    is_sparse = any(one in method for one in ("trees", "forest", "logistic", "ridge", "lasso", "linear SVM", "naive"))
    takes_texts = is_sparse and "kernel" not in method
    return (*kinds, *(["texts"] if takes_texts else [])), 60, wanted


@pytest.mark.parametrize(("target", "method"), METHODS)
def test_every_method_is_verified_on_every_kind_of_column_it_takes(target, method, fit_then_verify):
    kinds, n, wanted = suited(target, method)
    frame, targets, _ = make_table(*kinds, n=n)
    result = fit_then_verify(frame.assign(y=targets[wanted]), "y", only=[method])
    assert result.chosen.name == method


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", OF_EACH_FAMILY)
def test_every_kind_of_column_is_verified_alone(kind, target, fit_then_verify):
    frame, targets, _ = make_table(kind)
    method = OF_EACH_FAMILY[target][KINDS.index(kind) % 2]
    fit_then_verify(frame.assign(y=targets[target]), "y", only=[method])


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("target", OF_EACH_FAMILY)
def test_every_option_is_verified(option, target, fit_then_verify):
    frame, targets, rows = make_table("numbers", "words", "gaps", "as people write")
    options = OPTIONS[option]
    named = {name: rows[name] for name in options.values() if isinstance(name, str)}
    method = OF_EACH_FAMILY[target][list(OPTIONS).index(option) % 2]
    fit_then_verify(frame.assign(**named, y=targets[target]), "y", only=[method], **options)


def test_rows_without_a_target_rare_classes_and_a_table_for_the_vault_are_verified(fit_then_verify):
    frame, targets, _ = make_table("numbers", "words", n=80)
    frame = frame.assign(y=targets["three"])
    frame.loc[:3, "y"], frame.loc[4, "y"], frame.loc[5:9, "y"] = None, "rare", " A"
    fit_then_verify(frame, "y", only=["decision tree"])
    fit_then_verify(frame.iloc[20:], "y", only=["decision tree"], test=frame.iloc[:20])


@pytest.mark.parametrize(("target", "method"), [("class", "boosted trees"), ("number", "ridge")])
def test_a_model_that_had_time_for_some_rows_only_is_verified_on_those(target, method, fit_then_verify, monkeypatch):
    room = sys.modules["pellucid.app.bake_off.procedure"]
    plan = room.plan_final_fit
    monkeypatch.setattr(room, "plan_final_fit", lambda *given: replace(plan(*given), n_rows=40, on_all_rows=False))
    frame, targets, rows = make_table("numbers", "words", "texts")
    frame = frame.assign(y=targets[target], weight=rows["weight"])
    result = fit_then_verify(frame, "y", only=[method], weights="weight")
    model, X = result.model, frame.drop(columns="y")
    assert model.learned_rows_.sum() == 40
    again = partial(pellucid.verify, model, X, targets[target], sample_weight=rows["weight"])
    assert "20 of the 60 rows, which it did not learn from" in again().reason
    model.learned_rows_ = np.roll(model.learned_rows_, 1)
    with pytest.warns(UncertifiedWarning):
        assert again().failed
    model.learned_rows_ = np.zeros(60, bool)
    with pytest.warns(UncertifiedWarning):
        assert "learned_rows_" in str(again()["steps"])


def test_another_table_is_not_accepted(fit_then_verify, tmp_path):
    frame, targets, _ = make_table("numbers", "words")
    fit_then_verify(frame.assign(y=targets["class"]), "y", only=["decision tree"])
    changed = frame.assign(y=targets["class"], whole=frame["whole"] + 1)
    changed.to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(ClaimError, match="fingerprint differs"):
        verify(tmp_path / "model.safetensors", tmp_path / "other.csv", "y", None)
