"""Every method is exported to ONNX and answers there as here, or says in one sentence why not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import pellucid
from pellucid.export import NotExportableError, from_onnx
from tests.onnx_export import MOST, outcome_of
from tests.proving import assert_same_proof
from tests.public_estimators import answer_of, carded, problem_for

every_card = pytest.mark.parametrize(
    ("card", "estimator"), carded(), ids=[f"{card.name}-{k}" for k, (card, _) in enumerate(carded())]
)


@every_card
def test_a_graph_answers_as_its_model_or_there_is_none_and_a_sentence_says_why(card, estimator):
    found = outcome_of(card, clone(estimator))
    if found.refusal:
        assert found.refusal.endswith(".")
        assert found.refusal.startswith(card.name)
        assert "\n" not in found.refusal
        return
    assert found.n_labels == 0
    assert found.largest <= MOST
    if is_classifier(estimator):
        assert found.outputs[0] == "label"
        assert found.outputs[1:] in (("probabilities",), ("scores",), ())
    elif is_regressor(estimator):
        assert found.outputs == ("variable",)
    else:
        assert found.outputs in (("variable",), ("label",), ("label", "probabilities"))


@every_card
def test_what_answers_about_new_rows_has_a_graph_or_its_card_a_sentence(card, estimator):
    answers = any(hasattr(estimator, name) for name in ("predict", "transform"))
    assert bool(card.onnx) == answers
    if card.onnx and ":" not in card.onnx:
        assert card.onnx.startswith(card.name)
        assert card.onnx.endswith(".")


@every_card
def test_a_model_read_back_from_its_graph_is_the_same_and_is_proved(card, estimator, tmp_path):
    X, y = problem_for(estimator)
    model = clone(estimator).fit(X, y)
    path = tmp_path / "model.onnx"
    try:
        proto = pellucid.to_onnx(model, X, path=path)
    except NotExportableError:
        assert not path.exists()
        return
    facts = {pair.key: pair.value for pair in proto.metadata_props}
    assert facts["certificate"] == model.certificate_.verdict
    assert facts["fingerprint"] == model.data_fingerprint_
    assert facts["difference"].startswith("labels: 0 of 40 rows; numbers: at most")
    again = from_onnx(path)
    np.testing.assert_array_equal(answer_of(again, X), answer_of(model, X))
    assert_same_proof(pellucid.verify(again, X, y, random_state=0), pellucid.verify(model, X, y, random_state=0))
