"""What holds for every estimator: scikit-learn's checks and our own promises."""

from __future__ import annotations

import os
import pickle
import secrets
import warnings

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
from pellucid.core.estimator import CertifiedEstimator
from pellucid.proofs.certificate import GRADES
from tests.attack import Tally, attack
from tests.kept_fits import assert_same, assert_same_state, kept_fit
from tests.proving import assert_same_proof
from tests.public_estimators import answer_of, carded, instances, problem_for, public_estimators

CARDED = carded()
IDS = [f"{card.name}-{k}" for k, (card, _) in enumerate(CARDED)]
FIRST = [k for k, (card, _) in enumerate(CARDED) if k == 0 or CARDED[k - 1][0] is not card]
"""Of each card the variant with its defaults, of which every promise is kept in the first tier of tests."""


def of_variants(chosen, which=lambda _: True):
    """Return the mark that runs a test on these variants, those of defaults as promises."""
    marks = {k: [pytest.mark.promise] if k in FIRST else [] for k in chosen}
    tried = [pytest.param(*CARDED[k], marks=marks[k], id=IDS[k]) for k in chosen if which(CARDED[k][1])]
    return pytest.mark.parametrize(("card", "estimator"), tried)


def answers_by(method):
    return lambda estimator: hasattr(estimator, method)


def is_iterative(estimator):
    is_scored = hasattr(estimator, "predict") and (is_classifier(estimator) or is_regressor(estimator))
    return is_scored and "max_iter" in estimator.get_params()


def takes_several_targets(estimator):
    several = hasattr(estimator, "predict") and estimator.__sklearn_tags__().target_tags.multi_output
    return several and hasattr(estimator, "precompute")


every_variant = of_variants(range(len(CARDED)))
every_estimator = of_variants(FIRST)
every_predictor = of_variants(FIRST, answers_by("predict"))
every_transformer = of_variants(FIRST, answers_by("transform"))
every_iterative = of_variants(FIRST, is_iterative)
every_one_of_several_targets = of_variants(FIRST, takes_several_targets)

NOT_REPEATED = {"folds", "descent"}  # about fits on parts of the data, or the way to the answer: verify sees neither


@parametrize_with_checks(instances())
def test_passes_the_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        # Some checks stop iterative fits early, or have data that no fit can be certified on, or too few for clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@every_variant
def test_is_certified_pickled_saved_and_loaded_and_all_proofs_agree(card, estimator, tmp_path):
    assert isinstance(estimator, CertifiedEstimator)
    model, X, y = kept_fit(estimator)
    assert model.certificate_.grade in GRADES
    proof = pellucid.verify(model, X, y, random_state=0)
    assert proof.verdict == model.certificate_.verdict
    grades = list(GRADES)  # verify takes its time and may prove more
    assert grades.index(proof.grade) <= grades.index(model.certificate_.grade)
    assert {claim.name for claim in proof.claims} >= {claim.name for claim in model.certificate_.claims} - NOT_REPEATED
    pellucid.save(model, tmp_path / "model.safetensors")
    for again in (pellucid.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert_same_state(model, again)
        assert_same(answer_of(model, X), answer_of(again, X))
        assert_same_proof(pellucid.verify(again, X, y, random_state=0), proof)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@every_estimator
def test_certificates_of_defaults_hold(card, estimator):
    assert not kept_fit(estimator)[0].certificate_.failed


@every_estimator
def test_same_seed_gives_the_same_bits_in_arrays_without_gaps(card, estimator):
    kept, X, y = kept_fit(estimator)  # perhaps by another process
    model = clone(estimator).fit(X, y)
    arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    assert [n for n, a in arrays.items() if not (a.flags.c_contiguous or a.flags.f_contiguous)] == []
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, getattr(kept, name))


@every_estimator
def test_verify_objects_to_a_changed_attribute_parameter_and_data_set(card, estimator):
    seed = int(os.environ.get("PELLUCID_SEED", secrets.randbelow(2**32)))
    tally = Tally()
    attack(card, estimator, "plain", tally, seed=seed)
    assert tally.tried["attributes"] + tally.tried["parameters"] > 0
    assert not [*tally.silent, *tally.undeclared, *tally.alarms], f"repeat this draw with PELLUCID_SEED={seed}"


@every_variant
def test_verify_objects_to_every_change_of_attributes_and_parameters(card, estimator):
    tally = Tally()
    attack(card, estimator, "plain", tally)
    assert tally.tried["attributes"] + tally.tried["parameters"] > 0
    assert not [*tally.silent, *tally.undeclared, *tally.alarms]


@every_variant
def test_what_is_not_proved_is_an_attribute_with_a_reason(card, estimator):
    assert set(card.unproved) <= set(card.attributes)
    assert all(card.unproved.values())


@every_variant
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
def test_trace_has_the_common_schema(card, estimator):
    model, _, _ = kept_fit(estimator)
    assert model.trace_.columns[0] == "iteration"
    assert "objective" not in model.trace_.columns[2:]
    assert list(model.trace_.frame().columns) == list(model.trace_.columns)


@every_estimator
def test_record_keeps_a_state_per_iteration_or_none(card, estimator):
    X, y = problem_for(estimator)
    with pellucid.record():
        recorded = clone(estimator).fit(X, y)
    assert len(recorded.trace_.states) in (0, len(recorded.trace_))
    assert kept_fit(estimator)[0].trace_.states == []


@every_estimator
def test_a_failed_fit_leaves_nothing_fitted(card, estimator):
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
def test_html_repr_shows_the_certificate(card, estimator):
    model, _, _ = kept_fit(estimator)
    assert f"Certificate: {model.certificate_.grade}" in model._repr_html_()
    assert "Certificate" not in clone(estimator)._repr_html_()


@every_predictor
def test_does_not_change_its_data_and_takes_read_only_memory(card, estimator, tmp_path):
    X, y = problem_for(estimator)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    from_file, from_memory = clone(estimator).fit(mapped, y), kept_fit(estimator)[0]
    np.testing.assert_array_equal(from_file.predict(mapped), from_memory.predict(X))
    for name, value in vars(from_memory).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(from_file, name), value)


@every_iterative
def test_callbacks_see_every_iteration(card, estimator):
    X, y = problem_for(estimator)
    monitor = ScoringMonitor(scoring={"own": lambda model, X, y: model.score(X, y)})  # a ranking's is one of pairs
    model = clone(estimator).set_callbacks(monitor, ProgressBar()).fit(X, y)
    log = monitor.get_logs().data
    assert len(log) >= 1
    assert log[-1]["own"] == pytest.approx(model.score(X, y), abs=0.2)


@every_one_of_several_targets
def test_callbacks_see_several_targets(card, estimator):
    X, y = problem_for(estimator)
    Y = np.column_stack([y, -2.0 * y + X[:, 0]])
    monitor = ScoringMonitor(scoring="r2")
    model = clone(estimator).set_callbacks(monitor, ProgressBar()).fit(X, Y)
    scores = [row["r2"] for row in monitor.get_logs().data]
    assert max(scores) == pytest.approx(model.score(X, Y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@every_transformer
def test_transformers_give_the_frames_asked_for(card, estimator, frame):
    model, X, y = kept_fit(estimator)
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
