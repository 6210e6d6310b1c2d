"""The catalogue tells the truth: what it lists can be imported, and the tests it names exist."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pellucid
from pellucid.catalogue import read_catalogue
from pellucid.core import card_index
from pellucid.core.card_index import entries
from pellucid.core.cards import all_cards
from tests.public_estimators import public_estimators

TOPICS = read_catalogue()
CHECKOUT = Path(__file__).parents[1]


def order(topic):
    family, number = topic.id.split("-")
    return family, int(number)


def test_ids_are_unique_and_sorted():
    assert [order(topic) for topic in TOPICS] == sorted({order(topic) for topic in TOPICS})


@pytest.mark.parametrize(
    ("family", "last"), [("BAY", 3), ("CLS", 8), ("EVA", 5), ("FND", 4), ("LIN", 6), ("NBR", 2), ("OPT", 11)]
)
def test_finished_families_are_complete(family, last):
    states = {topic.id: topic.status for topic in TOPICS}
    assert {states[f"{family}-{number}"] for number in range(1, last + 1)} == {"done"}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.id)
def test_what_is_there_can_be_imported_is_proved_and_tested(topic):
    assert re.fullmatch(r"[A-Z]{3}-\d+", topic.id)
    assert topic.wanted
    for module, name in (path.split(":") for path in topic.found if ":" in path):
        assert callable(getattr(import_module(module), name))
    for module in (*topic.proofs, *topic.workings):
        import_module(module)
    assert bool(topic.tests) == (topic.status != "planned")
    assert not [name for name in topic.tests if not (CHECKOUT / name).is_file()]


def test_a_topic_whose_extra_is_missing_says_which(monkeypatch):
    monkeypatch.setattr("pellucid.catalogue.is_installed", lambda extra: extra != "deep")
    states = {topic.id: topic.status for topic in read_catalogue()}
    assert [name for name, state in states.items() if state == "needs pellucid[deep]"] == [
        "DET-3", "DET-4", "DET-5", "DNN-3", "DNN-5", "DNN-6", "DNN-7", "SEG-1",
    ]  # fmt: skip


def test_the_index_says_what_the_cards_say():
    found = [
        (one.name, one.home, one.topics, one.prove, one.workings, one.extra, one.tests) for one in entries().values()
    ]
    assert found == [
        (
            one.name,
            one.estimator.__module__,
            one.topics,
            one.prove.__module__,
            one.workings,
            one.extra,
            one.tests,
        )
        for one in all_cards()
    ]


def test_a_card_that_hides_what_the_index_needs_is_refused(monkeypatch):
    card = "from pellucid.somewhere import A\nCARDS = (MethodCard(A, topics=tuple(TOPICS)),)"
    monkeypatch.setattr(card_index, "source_of", lambda module: card)
    with pytest.raises(LookupError, match=r"hidden_card must write topics, .* down as they are, got tuple\(TOPICS\)"):
        list(card_index._entries_in("pellucid.hidden_card"))


def test_every_public_estimator_has_a_card_that_names_its_topic():
    assert set(public_estimators()) == {card.name for card in all_cards()}


def test_without_an_extra_its_topics_say_what_they_need_and_none_is_planned(monkeypatch):
    monkeypatch.setattr("pellucid.catalogue.is_installed", lambda extra: extra != "deep")
    states = {topic.id: topic.status for topic in read_catalogue()}
    assert states["DNN-7"] == "needs pellucid[deep]"
    assert set(states.values()) == {"done", "needs pellucid[deep]"}


def test_everything_of_a_package_is_imported_without_torch(tmp_path):
    # folders with links to all that is installed but PyTorch stand for a machine that has none
    for place in map(Path, [*sys.path, Path(pellucid.__file__).parents[1]]):
        for path in place.glob("*") if place.name in ("site-packages", "src") else ():
            if not path.name.startswith(("torch", "__editable__")) and not (tmp_path / path.name).exists():
                (tmp_path / path.name).symlink_to(path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from pellucid.neural_network import *; print(convolve)"
    done = subprocess.run([sys.executable, "-S", "-P", "-c", code], capture_output=True, text=True, check=False)
    assert "function convolve" in done.stdout, done.stderr
