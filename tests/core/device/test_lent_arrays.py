"""Arrays of a library that is neither NumPy nor torch: methods work on tensors of their memory and answer in kind."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pellucid
from pellucid.cluster import KMeans
from pellucid.core.arrays import as_tensor, is_foreign, on_host
from pellucid.core.cards import all_cards
from pellucid.core.device.places import Place
from pellucid.core.input_rules import NO_TARGET
from pellucid.linear_model import LinearRegression, LogisticRegression, Ridge
from pellucid.neighbors import KNeighborsClassifier
from pellucid.tree import DecisionTreeClassifier
from tests.core.device.conftest import DEVICE, torch
from tests.core.device.test_device_fits import rows_for, table, target_of
from tests.core.device.test_drop_in_on_device import seeded

xp = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.skipif(DEVICE != "cpu", reason="arrays of array-api-strict are those of the processor")

CARDS = {card.name: card for card in all_cards() if card.device}
STRICT = xp.__name__


def is_theirs(value: Any) -> bool:
    return is_foreign(value) and Place.of(value).library == STRICT


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::pellucid.UncertifiedWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CARDS)
def test_the_fit_is_that_of_tensors_with_arrays_of_the_library(name: str, dtype: str) -> None:
    card = CARDS[name]
    X, y, labels = (part[:150] for part in table(dtype))
    given = np.abs(rows_for(name, X)), *target_of(card, y, labels)
    model, same = (seeded(card).fit(*map(kind, given)) for kind in (xp.asarray, torch.as_tensor))
    for attribute in card.attributes:
        ours, theirs = getattr(model, attribute, None), getattr(same, attribute, None)
        if is_foreign(theirs):
            assert is_theirs(ours), attribute
            assert on_host(ours).dtype == on_host(theirs).dtype, attribute
            np.testing.assert_array_equal(on_host(ours), on_host(theirs), err_msg=attribute)
    assert "torch on cpu" in model.backend_
    assert STRICT in model.backend_
    assert not [key for key, value in vars(model).items() if isinstance(value, torch.Tensor)]
    for question in ("predict", "transform", "predict_proba", "score_samples"):
        if hasattr(model, question) and (name, question) != ("MDS", "transform"):
            said = getattr(model, question)(xp.asarray(given[0]))
            assert is_theirs(said), question
            np.testing.assert_array_equal(on_host(said), on_host(getattr(same, question)(torch.as_tensor(given[0]))))
    proofs = [pellucid.verify(one, *map(kind, given)) for one, kind in ((model, xp.asarray), (same, torch.as_tensor))]
    assert proofs[0].holds == proofs[1].holds
    if card.rules_for(model).target != NO_TARGET:
        assert model.score(*map(xp.asarray, given)) == same.score(*map(torch.as_tensor, given))


def test_each_asks_the_model_of_the_other() -> None:
    X, _, labels = table()
    model, other = (KNeighborsClassifier().fit(kind(X), kind(labels)) for kind in (xp.asarray, torch.as_tensor))
    assert is_theirs(other.predict(xp.asarray(X)))
    assert isinstance(model.predict(torch.as_tensor(X)), torch.Tensor)
    assert isinstance(model.predict(X), np.ndarray)
    assert all(map(is_theirs, model.kneighbors(xp.asarray(X))))
    assert (
        model.score(X, labels) == model.score(xp.asarray(X), xp.asarray(labels)) == model.score(xp.asarray(X), labels)
    )


def test_words_weights_and_targets_of_other_libraries() -> None:
    X, y, labels = table()
    weight = np.arange(len(X)) % 3 + 1.0
    words = np.array(["few", "many", "most"])[labels]
    model = LogisticRegression().fit(xp.asarray(X), words, sample_weight=xp.asarray(weight))
    host = LogisticRegression().fit(X, words, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(xp.asarray(X)), host.predict(X))
    assert pellucid.verify(model, xp.asarray(X), words, sample_weight=xp.asarray(weight)).holds
    mixed = Ridge().fit(torch.as_tensor(X), xp.asarray(y), sample_weight=xp.asarray(weight))
    assert isinstance(mixed.coef_, torch.Tensor)
    np.testing.assert_allclose(on_host(mixed.coef_), Ridge().fit(X, y, sample_weight=weight).coef_, rtol=1e-9)


def test_files_pickle_and_the_host(tmp_path: Path) -> None:
    X, y, _ = table("float32")
    model = LinearRegression().fit(xp.asarray(X), xp.asarray(y))
    pellucid.save(model, tmp_path / "model.safetensors")
    for again in (pellucid.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(pellucid.to_host(model)))):
        np.testing.assert_array_equal(again.coef_, on_host(model.coef_))
        assert pellucid.verify(again, X, y).holds
    assert is_theirs(model.singular_)  # computed when somebody asks
    assert isinstance(pellucid.to_host(model).singular_, np.ndarray)
    with pellucid.on_device("cpu"):
        sent = LinearRegression().fit(xp.asarray(X), xp.asarray(y))
    assert is_theirs(sent.coef_)
    assert "rows sent there" in sent.backend_


def test_other_questions_come_back_in_the_library() -> None:
    X, y, _ = table()
    model, host = LinearRegression().fit(xp.asarray(X), xp.asarray(y)), LinearRegression().fit(X, y)
    for ours, theirs in zip(model.confidence_interval(X), host.confidence_interval(X), strict=True):
        assert is_theirs(ours)
        np.testing.assert_allclose(on_host(ours), theirs)


def test_memory_that_is_only_read_is_copied() -> None:
    fixed = np.arange(6.0).reshape(3, 2)
    fixed.setflags(write=False)
    rows = xp.asarray(fixed, copy=False)
    np.testing.assert_array_equal(as_tensor(rows).numpy(), fixed)
    LinearRegression().fit(rows, xp.asarray([0.0, 1.0, 2.0]))


def lend_nothing(*_: Any, **__: Any) -> None:
    raise BufferError("of another machine")


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, labels = table()
    away = xp.asarray(X, device=xp.Device("device1"))
    with monkeypatch.context() as patch:
        patch.setattr(type(away), "__dlpack__", lend_nothing)
        with pytest.raises(
            ValueError, match=r"must be tensors, or lend their memory to torch by DLPack, got one of array_api"
        ):
            KMeans(3).fit(away)
    with pytest.raises(ValueError, match="must be a NumPy array for DecisionTreeClassifier, got an array on a device"):
        DecisionTreeClassifier().fit(xp.asarray(X), xp.asarray(labels))
    holding = Place.holding
    monkeypatch.setattr(Place, "holding", lambda self, values: holding(self, values.astype(np.float32)))
    model = KMeans(3)
    with pytest.raises(
        ValueError, match="library that holds double precision, got one of array_api_strict, which cuts"
    ):
        model.fit(xp.asarray(X))
    assert not hasattr(model, "cluster_centers_")
