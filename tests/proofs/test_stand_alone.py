"""The command that proves a saved model without the library that fitted it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.cluster import KMeans
from pellucid.core.cards import all_cards
from pellucid.linear_model import LogisticRegression, Ridge, RidgeClassifier
from pellucid.proofs.__main__ import CANNOT_TELL, DOES_NOT_HOLD, HOLDS, main, trusted_lines
from pellucid.proofs.index import find_proof
from pellucid.proofs.model_file import read_model

README = Path(__file__).parents[2] / "README.md"


def table(n=60):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.standard_normal((n, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] + 0.5 * random.standard_normal(n) > 0, "yes", "no")
    frame["z"] = frame["a"] - 2 * frame["b"] + 0.1 * random.standard_normal(n)
    return frame


@pytest.fixture
def files(tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "table.csv", index=False)
    return frame, tmp_path / "model.safetensors", tmp_path / "table.csv"


def test_a_saved_classifier_is_proved_from_the_text_of_its_table(files, capsys):
    frame, model_file, csv = files
    pellucid.save(LogisticRegression().fit(frame[["a", "b", "c"]], frame["y"]), model_file)
    assert main([str(model_file), str(csv), "--target", "y"]) == HOLDS  # z is no column of the fit
    said = capsys.readouterr().out
    assert "LogisticRegression, 60 rows: Certificate(optimal, holds)" in said
    assert "have not the fingerprint" not in said


def test_the_verdict_is_that_of_verify(files, capsys):
    frame, model_file, csv = files
    model = Ridge(alpha=0.5).fit(frame[["a", "b", "c"]], frame["z"], sample_weight=1 + np.arange(60) % 3)
    pellucid.save(model, model_file)
    frame.assign(times=1 + np.arange(60) % 3).to_csv(csv, index=False)
    words = [str(model_file), str(csv), "--target", "z", "--weights", "times"]
    assert main(words) == HOLDS
    certificate = pellucid.verify(model, frame[["a", "b", "c"]], frame["z"], sample_weight=1 + np.arange(60) % 3)
    said = capsys.readouterr().out
    assert all(f"{claim.name}: " in said for claim in certificate.claims)
    assert main(words[:4]) == DOES_NOT_HOLD  # other weights, another problem
    assert "have not the fingerprint of the fit" in capsys.readouterr().out


def test_a_changed_model_is_noticed(files, capsys):
    frame, model_file, csv = files
    model = KMeans(2, random_state=0).fit(frame[["a", "b", "c"]])
    assert model.certificate_.holds
    model.cluster_centers_ = model.cluster_centers_ + 0.01
    pellucid.save(model, model_file)
    frame[["a", "b", "c"]].to_csv(csv, index=False)
    assert main([str(model_file), str(csv)]) == DOES_NOT_HOLD
    assert "DOES NOT HOLD" in capsys.readouterr().out


def test_parts_that_do_not_fit_together_are_refused(files, capsys):
    frame, model_file, csv = files
    model = LogisticRegression().fit(frame[["a", "b", "c"]], frame["y"])
    model.coef_ = model.coef_[:, :2]
    model.n_features_in_, model.feature_names_in_ = 2, model.feature_names_in_[:2]
    pellucid.save(model, model_file)
    read = read_model(model_file)
    assert read.name == "LogisticRegression"
    assert read.attributes.coef_.shape == (1, 2)
    assert main([str(model_file), str(csv), "--target", "y"]) == DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{model}", "{table}", "--target", "w"], "column must be one of ['a', 'b', 'c', 'y', 'z'], got 'w'"),
        (["{table}", "{table}", "--target", "y"], "must be a file of pellucid.save"),
        (["{model}", "{model}", "--target", "y"], ""),
        (["nothing.safetensors", "{table}"], "nothing.safetensors"),
        (["{model}"], "Name a model and a table"),
        (["{model}", "{table}", "--target", "a"], "target must have the labels ['no', 'yes'] only"),
    ],
)
def test_what_cannot_be_told_is_said_in_a_sentence(files, capsys, words, sentence):
    frame, model_file, csv = files
    pellucid.save(LogisticRegression().fit(frame[["a", "b", "c"]], frame["y"]), model_file)
    given = [word.format(model=model_file, table=csv) for word in words]
    assert main(given) == CANNOT_TELL
    assert sentence in capsys.readouterr().out


@pytest.mark.parametrize("card", [card for card in all_cards() if not card.extra], ids=lambda card: card.name)
def test_every_method_names_its_proof(card):
    assert find_proof(card.name) is card.prove


def test_the_lines_to_trust_are_counted():
    total = trusted_lines().splitlines()[-1]
    assert "have to be trusted" in total
    lines, computing = total.split()[:2]
    assert f"{lines} lines, of which {computing} compute something" in README.read_text(encoding="utf-8")


def test_a_name_that_no_file_of_proofs_has_is_refused():
    with pytest.raises(LookupError, match="got NoSuchMethod"):
        find_proof("NoSuchMethod")


def test_a_table_without_targets_is_seen_as_it_is_read(files, capsys):
    frame, model_file, csv = files
    pellucid.save(RidgeClassifier().fit(frame[["a", "b", "c"]], frame["y"]), model_file)
    assert main([str(model_file), str(csv), "--target", "y"]) == HOLDS  # a column of 0 and 1 for the second class
    assert main([str(model_file), str(csv)]) != HOLDS
    assert "RidgeClassifier" in capsys.readouterr().out
