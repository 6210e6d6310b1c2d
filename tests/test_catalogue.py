"""The catalogue tells the truth: what it lists can be imported, and the tests it names exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from pellucid.catalogue import STATES, read_catalogue

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
    assert {f"{family}-{number}" for number in range(1, last + 1)} <= {topic.id for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.id)
def test_every_entry_can_be_imported(topic):
    assert topic.status in STATES
    assert re.fullmatch(r"[A-Z]{3}-\d+", topic.id)
    assert topic.objects
    assert all(callable(found) for found in topic.load())
    for module in filter(None, (topic.proof, topic.workings)):
        import_module(module)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.id)
def test_every_named_test_exists(topic):
    missing = [name for name in topic.tests if not (CHECKOUT / name).is_file()]
    assert topic.tests
    assert not missing
