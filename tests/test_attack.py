"""The attack on the proofs finds what a weak proof lets pass."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.core.cards import card_of
from pellucid.linear_model import Lasso
from pellucid.proofs.certificate import Certificate, Claim
from tests import attack as tool
from tests.attack import Tally, attack
from tests.tampering import changes, other_values

NOTHING = Certificate("exact", (Claim("nothing", "is looked at", 0.0, 1.0),))


def tally_with(monkeypatch, proof):
    card = card_of(Lasso)
    object.__setattr__(weak := replace(card), "prove", proof)
    monkeypatch.setattr("pellucid.core.verification.card_of", lambda _: weak)
    tally = Tally()
    attack(weak, Lasso(alpha=0.1), "plain", tally)
    return tally


def test_a_proof_that_looks_at_nothing_is_found_out(monkeypatch):
    tally = tally_with(monkeypatch, lambda *_: NOTHING)
    assert {line.split(": ")[1].split()[0] for line in tally.silent} >= {"coef_", "intercept_"}


def test_a_proof_that_forgets_the_intercept_is_found_out(monkeypatch):
    right = card_of(Lasso).prove

    def forgetful(fitted, parameters, data):
        found = right(fitted, parameters, data)
        return found if "intercept" not in [claim.name for claim in found.failed] else NOTHING

    assert any("intercept_" in line for line in tally_with(monkeypatch, forgetful).silent)


def test_an_alarm_on_an_untouched_model_is_counted(monkeypatch):
    tally = tally_with(monkeypatch, lambda *_: Certificate("exact", (Claim("no", "ever", 1.0, 0.0),)))
    assert len(tally.alarms) == 1
    assert "1 alarms" not in str(tally)
    assert "alarms 1" in str(tally)


def test_every_preparation_leaves_a_problem_of_the_same_shape():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6)
    for prepare in tool.PREPARATIONS.values():
        Z, labels, _ = prepare(X, y)
        assert Z.shape == X.shape
        assert labels is y


@pytest.mark.parametrize(
    "value", [1.5, 2, True, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(["a", "b"]), [1.0], {"a": 1}]
)
def test_every_change_changes_something(value):
    found = [wrong for _, wrong in changes(value)]
    assert found
    assert not any(np.array_equal(np.asarray(wrong), np.asarray(value)) for wrong in found)


def test_other_values_are_allowed_and_other():
    for name, domain in card_of(Lasso).parameters.items():
        value = getattr(Lasso(), name)
        assert all(domain.fits(other) and other != value for other in other_values(domain, value))
