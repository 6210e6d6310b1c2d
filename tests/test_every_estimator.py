"""What holds for every estimator: scikit-learn's checks and our own promises."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import pellucid
import pellucid.core.cards
from pellucid.proofs.certificate import GRADES
from tests.attack import Tally, attack
from tests.proving import assert_same_proof
from tests.public_estimators import answer_of, carded, certified, instances, problem_for, public_estimators

every_card = pytest.mark.parametrize(
    ("card", "estimator"),
    carded(),
    ids=[f"{card.name}-{k}" for k, (card, _) in enumerate(carded())],
)
ESTIMATORS = instances()
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
PREDICTORS = [e for e in ESTIMATORS if hasattr(e, "predict")]
TRANSFORMERS = [e for e in ESTIMATORS if hasattr(e, "transform")]
SCORED = [e for e in PREDICTORS if is_classifier(e) or is_regressor(e)]
ITERATIVE = [e for e in SCORED if "max_iter" in e.get_params()]
SEVERAL_TARGETS = [e for e in PREDICTORS if e.__sklearn_tags__().target_tags.multi_output and hasattr(e, "precompute")]

NOT_REPEATED = {"folds", "descent"}  # about fits on parts of the data, or the way to the answer: verify sees neither


@cache
def fitted(estimator):
    """Return a fitted model with its data; tests share it, so that none may change it."""
    X, y = problem_for(estimator)
    return clone(estimator).fit(X, y), X, y


@parametrize_with_checks(instances())
def test_passes_the_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        # Some checks stop iterative fits early, or have data that no fit can be certified on, or too few for clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@every_estimator
def test_is_certified_and_the_proof_agrees(estimator):
    assert certified(estimator)
    model, X, y = fitted(estimator)
    assert model.certificate_.grade in GRADES
    assert not model.certificate_.failed
    proof = pellucid.verify(model, X, y)
    assert proof.verdict == model.certificate_.verdict
    grades = list(GRADES)  # verify takes its time and may prove more
    assert grades.index(proof.grade) <= grades.index(model.certificate_.grade)
    assert {claim.name for claim in proof.claims} >= {claim.name for claim in model.certificate_.claims} - NOT_REPEATED


@every_card
def test_verify_objects_to_every_change_of_attributes_and_parameters(card, estimator):
    tally = Tally()
    attack(card, estimator, "plain", tally)
    assert tally.tried["attributes"] + tally.tried["parameters"] > 0
    assert not [*tally.silent, *tally.undeclared, *tally.alarms]


@every_card
def test_what_is_not_proved_is_an_attribute_with_a_reason(card, estimator):
    assert set(card.unproved) <= set(card.attributes)
    assert all(card.unproved.values())


@every_card
def test_variants_are_certified_saved_and_loaded(card, estimator, tmp_path):
    model, X, y = fitted(estimator)
    assert model.certificate_.grade in GRADES
    proof = pellucid.verify(model, X, y, random_state=0)
    assert proof.holds == model.certificate_.holds
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(answer_of(again, X), answer_of(model, X))
    assert_same_proof(pellucid.verify(again, X, y, random_state=0), proof)


@every_card
def test_card_describes_its_estimator(card, estimator):
    assert set(card.parameters) == set(estimator.get_params())
    assert card.topics
    assert pellucid.core.cards.find_card(card.name) is card
    for name, domain in card.parameters.items():
        wrong = object()
        assert not domain.fits(wrong)
        with pytest.raises((TypeError, ValueError), match=f"^{name} must be .*, got <object"):
            raise domain.complaint(name, wrong)


@every_estimator
def test_trace_has_the_common_schema(estimator):
    model, _, _ = fitted(estimator)
    assert model.trace_.columns[0] == "iteration"
    assert "objective" not in model.trace_.columns[2:]
    assert list(model.trace_.frame().columns) == list(model.trace_.columns)


@every_estimator
def test_fitted_arrays_have_no_gaps(estimator):
    model, _, _ = fitted(estimator)
    gaps = [
        name
        for name, value in vars(model).items()
        if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous)
    ]
    assert gaps == []


@every_estimator
def test_record_keeps_a_state_per_iteration_or_none(estimator):
    X, y = problem_for(estimator)
    with pellucid.record():
        recorded = clone(estimator).fit(X, y)
    assert len(recorded.trace_.states) in (0, len(recorded.trace_))
    assert fitted(estimator)[0].trace_.states == []


@every_estimator
def test_same_seed_gives_the_same_bits(estimator):
    first, X, y = fitted(estimator)
    second = clone(estimator).fit(X, y)
    for name, value in vars(first).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(second, name))


@pytest.mark.parametrize("estimator", PREDICTORS, ids=lambda e: type(e).__name__)
def test_pickles_and_clones(estimator):
    model, X, _ = fitted(estimator)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.trace_ == model.trace_
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@every_estimator
def test_save_and_load_give_the_same_model(estimator, tmp_path):
    model, X, y = fitted(estimator)
    path = tmp_path / "model.safetensors"
    pellucid.save(model, path)
    again = pellucid.load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(answer_of(again, X), answer_of(model, X))
    assert again.certificate_ == model.certificate_
    assert again.trace_ == model.trace_
    assert pellucid.verify(again, X, y).verdict == model.certificate_.verdict


@every_estimator
def test_a_failed_fit_leaves_nothing_fitted(estimator):
    X, y = problem_for(estimator)
    model = clone(estimator).fit(X, y)
    tags = estimator.__sklearn_tags__()
    takes_nan = tags.input_tags.allow_nan and tags.target_tags.required  # a target, or all of X, is never missing
    bad = (X, np.full(len(X), np.nan)) if takes_nan else (np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match=r"NaN|contains"):
        model.fit(*bad)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@every_estimator
def test_html_repr_shows_the_certificate(estimator):
    model, _, _ = fitted(estimator)
    assert f"Certificate: {model.certificate_.grade}" in model._repr_html_()
    assert "Certificate" not in clone(estimator)._repr_html_()


@pytest.mark.parametrize("estimator", PREDICTORS, ids=lambda e: type(e).__name__)
def test_does_not_change_its_data_and_takes_read_only_memory(estimator, tmp_path):
    X, y = problem_for(estimator)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    from_file, from_memory = clone(estimator).fit(mapped, y), fitted(estimator)[0]
    np.testing.assert_array_equal(from_file.predict(mapped), from_memory.predict(X))
    for name, value in vars(from_memory).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(from_file, name), value)


@pytest.mark.parametrize("estimator", ITERATIVE, ids=lambda e: type(e).__name__)
def test_callbacks_see_every_iteration(estimator):
    X, y = problem_for(estimator)
    monitor = ScoringMonitor(scoring={"own": lambda model, X, y: model.score(X, y)})  # a ranking's is one of pairs
    model = clone(estimator).set_callbacks(monitor, ProgressBar()).fit(X, y)
    log = monitor.get_logs().data
    assert len(log) >= 1
    assert log[-1]["own"] == pytest.approx(model.score(X, y), abs=0.2)


@pytest.mark.parametrize("estimator", SEVERAL_TARGETS, ids=lambda e: type(e).__name__)
def test_callbacks_see_several_targets(estimator):
    X, y = problem_for(estimator)
    Y = np.column_stack([y, -2.0 * y + X[:, 0]])
    monitor = ScoringMonitor(scoring="r2")
    model = clone(estimator).set_callbacks(monitor, ProgressBar()).fit(X, Y)
    scores = [row["r2"] for row in monitor.get_logs().data]
    assert max(scores) == pytest.approx(model.score(X, Y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_transformers_give_the_frames_asked_for(estimator, frame):
    model, X, y = fitted(estimator)
    columns = [f"c{j}" for j in range(X.shape[1])]
    data = frame({name: X[:, j] for j, name in enumerate(columns)})
    result = clone(estimator).set_output(transform=frame.__module__.split(".")[0]).fit_transform(data, y)
    result = result[0] if isinstance(result, tuple) else result  # scores of the target come with those of the rows
    assert isinstance(result, frame)
    np.testing.assert_allclose(np.asarray(result), model.transform(X))


def test_every_estimator_is_found():
    assert {"LinearRegression", "Ridge", "Lasso", "Lars", "BridgeRegression", "BasisExpansion"} <= set(
        public_estimators()
    )
