"""Controls come from cards and docstrings: every parameter of every method has its kinds, default and meaning."""

from __future__ import annotations

import json

import pytest

from pellucid.app.playing import controls_of
from pellucid.app.playing.controls import parameter_meanings
from pellucid.core.cards import all_cards, find_card


def control(method, name):
    return next(one for one in controls_of(find_card(method)) if one["name"] == name)


def test_kinds_carry_their_domains():
    assert control("KMeans", "n_clusters")["kinds"] == [{"kind": "whole", "low": 1}]
    assert control("Lasso", "fit_intercept")["kinds"] == [{"kind": "flag"}]
    assert "rbf" in next(k for k in control("SVC", "kernel")["kinds"] if k["kind"] == "choice")["options"]


def test_meanings_are_first_sentences_of_names_alone_and_together():
    text = "Do it.\n\nParameters\n----------\na, b : int\n    First. Second.\nc : str, default=None\n    Of ``x``\n"
    text += "    and more.\n\nAttributes\n----------\nd : int\n    No parameter.\n"
    assert parameter_meanings(text) == {"a": "First.", "b": "First.", "c": "Of x and more."}


@pytest.mark.parametrize("card", list(all_cards()), ids=lambda card: card.name)
def test_every_parameter_is_described_and_its_default_can_be_written(card):
    controls = controls_of(card)
    assert {one["name"] for one in controls} == set(card.parameters)
    json.dumps(controls, allow_nan=False)
    assert not [one["name"] for one in controls if not one["meaning"]]
