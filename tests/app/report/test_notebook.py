"""What a notebook shows of the results: short, escaped, with what matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone

from pellucid.app.bake_off import bake_off
from pellucid.app.clusters import group_table
from pellucid.app.describing import describe_table
from pellucid.app.explaining import explain_model
from pellucid.app.maps import map_table
from pellucid.app.table_model.comparing import compare_models
from pellucid.core.short_html import MOST_ROWS, MOST_SENTENCES, short_html
from pellucid.proofs.certificate import Certificate, Claim

HOSTILE = "<script>alert(1)</script>"
LONGEST = 40_000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame({HOSTILE: rng.normal(size=n), "b": rng.normal(size=n), "word": rng.choice(["x", "y"], size=n)})
    frame.loc[:9, "b"] = np.nan
    return frame.assign(**{"<i>y</i>": 3 * frame[HOSTILE] + rng.normal(size=n)})


@pytest.fixture(scope="module")
def result(frame):
    return bake_off(frame, "<i>y</i>", seconds=20, only=["ridge", "least squares"])


@pytest.fixture(scope="module")
def shown(frame, result):
    model = result.model
    y = frame["<i>y</i>"].to_numpy()
    return {
        "result": result._repr_html_(),
        "model": model._repr_html_(),
        "groups": group_table(frame, 2)._repr_html_(),
        "map": map_table(frame)._repr_html_(),
        "description": describe_table(frame)._repr_html_(),
        "explanation": explain_model(model, frame)._repr_html_(),
        "comparison": compare_models((model, frame), (model, frame), y, is_class=False)._repr_html_(),
    }


NAMES = ("result", "model", "groups", "map", "description", "explanation", "comparison")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_escaped_and_no_page(shown, name):
    page = shown[name]
    assert HOSTILE not in page
    assert "<i>y</i>" not in page
    assert "<html" not in page
    assert len(page) < LONGEST or name == "model"  # scikit-learn's own picture of the steps is longer
    assert page.startswith("<div class='pellucid-result'>")


def test_a_bake_off_has_headline_leaderboard_and_certificate(shown, result):
    page = shown["result"]
    assert f"&lt;i&gt;y&lt;/i&gt;: {result.chosen.name}" in page
    headline = result.judgement.headline
    assert f"{headline.score:.4g} (95 % interval {headline.low:.4g} to {headline.high:.4g})" in page
    assert page.count("<tr class='chosen'>") == 1
    assert f"<tr class='chosen'><td>{result.chosen.name}</td>" in page
    assert f"Certificate: {result.certificate.grade}, holds" in page


def test_what_must_be_said_first_is_said(result):
    learned = replace(result.learned, state="nothing")
    assert result.alarm == ""
    alarmed = replace(result, learned=learned)
    assert alarmed.alarm == learned.sentence
    assert "class='alarm'" in alarmed._repr_html_()


def test_a_model_says_what_it_predicts_and_shows_its_steps_as_scikit_learn_does(shown, result):
    page = shown["model"]
    assert "Predicts &lt;i&gt;y&lt;/i&gt; from 3 columns" in page
    assert "b (number)" in page
    assert "sk-container" in page
    assert page.index("Predicts") < page.index("sk-container")
    bundle = result.model._repr_mimebundle_()
    assert "Predicts" in bundle["text/html"]
    assert "TableModel" in bundle["text/plain"]
    with config_context(display="text"):
        assert not hasattr(result.model, "_repr_html_")


def test_a_model_that_is_not_fitted_is_shown_as_every_pipeline(result):
    page = clone(result.model)._repr_html_()
    assert "Predicts" not in page
    assert "sk-container" in page


def test_groups_map_description_explanation_and_comparison_show_what_they_found(shown):
    assert "2 clusters of 150 rows by " in shown["groups"]
    assert shown["map"].count("<circle") == 150
    assert "Trustworthiness" in shown["map"]
    assert "<td>b</td><td>number</td><td>6.7 %</td>" in shown["description"]
    assert "Change of the answer" in shown["explanation"]
    assert "Columns that act together" in shown["explanation"]
    assert "<td>absolute error</td>" in shown["comparison"]
    assert "chance may have done it" in shown["comparison"]


def test_long_lists_and_tables_are_cut_and_counted():
    page = short_html("t", [str(k) for k in range(9)], head=["n"], rows=[[str(k)] for k in range(40)])
    assert page.count("<tr>") == MOST_ROWS + 1
    assert f"and {40 - MOST_ROWS} more" in page
    assert f"and {9 - MOST_SENTENCES} more" in page


def test_a_certificate_is_folded_and_keeps_its_verdict():
    page = short_html("t", certificate=Certificate("exact", (Claim("gap", "x", 2.0, 1.0),)))
    assert "<details><summary>Certificate: exact, does not hold</summary>" in page
    assert "<summary>" not in short_html("t", folded={"empty": []})
