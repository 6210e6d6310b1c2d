"""Perceptron: by hand, properties, against scikit-learn, refusals."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.linear_model import Perceptron
from pellucid.proofs.linear_model.mistakes import witnessed_margin
from tests.proving import quiet_proof

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
FEW = settings(max_examples=15, deadline=None)


def separable(seed=0, n=80, p=3, margin=0.3, classes=2):
    """Return rows that every machine can separate: classes as far corners, or two sides of a plane."""
    rng = np.random.default_rng(seed)
    if classes > 2:
        y = rng.integers(0, classes, n)
        return 6.0 * np.eye(classes)[y] + rng.uniform(-1.0, 1.0, (n, classes)), y
    X = rng.standard_normal((4 * n, p))
    score = X @ [1.0, -2.0, 0.5] + 0.2
    keep = np.flatnonzero(np.abs(score) > margin)[:n]
    return X[keep], (score[keep] > 0).astype(int)


def mixed(seed=0, n=60, p=3, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(n), np.linspace(-0.5, 0.5, classes - 1))


def quiet_fit(model, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **more)


@pytest.mark.by_hand
def test_two_points_by_hand():
    # (w, b) from (0, 0), rows -1: 1 and +1: 3, each mistake by its row: (-1, -1), (2, 0), (1, -1), (0, -2), (3, -1),
    # (2, -2), (1, -3), (4, -2), (3, -3), (2, -4), and 2 - 4 < 0 < 6 - 4: ten mistakes
    model = Perceptron(shuffle=False).fit([[1.0], [3.0]], ["a", "b"])
    assert (model.coef_[0, 0], model.intercept_[0], model.n_mistakes_) == (2.0, -4.0, 10)
    assert model.dual_coef_.toarray().tolist() == [[-7.0, 3.0]]
    # the widest margin of (1, 1) and (3, 1) is that of (1, -2) / sqrt(5): 1 / sqrt(5); R^2 = 10
    claim = model.certificate_["mistakes"]
    assert (claim.value, claim.bound) == (10.0, pytest.approx(50.0))


def test_a_margin_by_hand():
    # the hull of (1, 1) and (3, -1) comes nearest to 0 at (1, 1): margin sqrt(2); from their middle it takes one step
    X, y = np.array([[1.0, 1.0], [3.0, -1.0]]), np.ones(2)
    assert witnessed_margin(X, y, 0.0, np.array([2.0, 10.0]), np.array([2.0, 0.0, 0.0])) == pytest.approx(
        2**0.5, rel=0.02
    )


def test_weights_count_in_the_bound():
    # one row of weight 3, one of 1: updates of 3 and of 1
    model = Perceptron(shuffle=False, fit_intercept=False).fit([[1.0], [-2.0]], [1, 0], sample_weight=[3.0, 1.0])
    # w = 3, then -2 is right: one update; (sum s)^2 / sum s^2 = 1 and R^2 / margin^2 = 4 / 1
    assert (model.coef_[0, 0], model.n_mistakes_) == (3.0, 1)
    assert (model.certificate_["mistakes"].value, model.certificate_["mistakes"].bound) == (1.0, pytest.approx(4.0))


def test_equal_rows_are_one_mistake_in_the_bound():
    # two kinds of rows, twice each: the first shown separates them, in one update of weight 2; R^2 / margin^2 = 1
    X, y = [[1.0], [1.0], [-1.0], [-1.0]], [1, 1, 0, 0]
    model = Perceptron(fit_intercept=False).fit(X, y)
    assert (abs(model.coef_[0, 0]), model.n_mistakes_) == (2.0, 1)
    assert pellucid.verify(model, X, y)["mistakes"].value == pytest.approx(1.0)


@FORMS
@FEW
@given(st.integers(0, 1000))
def test_mistakes_stay_within_their_bound(form, seed):
    X, y = separable(seed)
    for how in ({}, {"fit_intercept": False}, {"class_weight": {0: 3.0}}, {"shuffle": False, "eta0": 0.1}):
        model = quiet_fit(Perceptron(tol=None, max_iter=300, **how), form(X), y)
        if model.certificate_.grade == "bounded":
            assert model.certificate_["mistakes"].value <= model.n_mistakes_ + 1e-9
        assert model.certificate_.holds
        assert model.score(form(X), y) == 1.0 or model.certificate_.grade == "none"


def test_several_machines_are_bounded_together():
    X, y = separable(classes=4)
    model = Perceptron().fit(X, y)
    assert model.certificate_.grade == "bounded"
    assert model.score(X, y) == 1.0


def test_says_how_many_rows_are_still_wrong():
    X, y = mixed()
    model = Perceptron(max_iter=8, tol=None).fit(X, y)
    signs = np.where(y == np.arange(3)[:, None], 1.0, -1.0)
    wrong = np.sum(signs.T * model.decision_function(X) <= 0.0, axis=0)
    assert model.certificate_.reason.startswith(f"{wrong.sum()} rows are still on the wrong side in 3 of 3 machines")


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions_and_order_does_not_matter(seed):
    X, y = mixed(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y))
    again = rng.permutation(np.repeat(np.arange(len(y)), weight))
    once, repeated = quiet_fit(Perceptron(), X, y, sample_weight=weight), quiet_fit(Perceptron(), X[again], y[again])
    np.testing.assert_array_equal(once.coef_, repeated.coef_)
    assert once.n_mistakes_ == repeated.n_mistakes_
    assert once.n_iter_ == repeated.n_iter_
    assert not pellucid.verify(repeated, X[again], y[again]).failed
    assert not pellucid.verify(once, X, y, sample_weight=weight).failed


@FORMS
def test_very_many_mistakes_of_odd_weights_still_add_up(form):
    X, y = mixed(n=20)
    model = Perceptron(tol=None, max_iter=5000, eta0=0.1, class_weight={0: 0.7, 1: 0.3}).fit(form(X), y)
    assert model.n_mistakes_ > 10_000
    assert not pellucid.verify(model, form(X), y).failed


def test_the_step_size_scales_the_line():
    X, y = mixed()
    one, tenth = (Perceptron(eta0=eta0, tol=None, max_iter=5).fit(X, y) for eta0 in (1.0, 0.25))
    np.testing.assert_allclose(one.coef_, 4.0 * tenth.coef_)
    assert one.n_mistakes_ == tenth.n_mistakes_


def test_the_trace_counts_the_mistakes():
    X, y = mixed()
    model = Perceptron(tol=None, max_iter=5).fit(X, y)
    updates = model.trace_["updates"]
    assert updates[-1] == model.n_mistakes_
    assert np.all(np.diff(updates) >= 0)
    assert model.dual_coef_.shape == (3, len(y))


def test_parts_add_up_their_mistakes():
    X, y = mixed(classes=2)
    whole = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    parts = Perceptron(shuffle=False).partial_fit(X[:30], y[:30], classes=[0, 1]).partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    assert parts.n_mistakes_ == whole.n_mistakes_
    assert parts.certificate_.grade == "none"


@FORMS
@pytest.mark.parametrize("attribute", ["coef_", "intercept_", "n_mistakes_", "dual_coef_"])
def test_verify_objects_to_a_broken_model(form, attribute):
    X, y = separable()
    model = Perceptron().fit(form(X), y)
    assert pellucid.verify(model, form(X), y).grade == "bounded"
    broken = copy.deepcopy(model)
    if attribute == "n_mistakes_":
        broken.n_mistakes_ += 1
    elif attribute == "dual_coef_":
        broken.dual_coef_.data[0] *= 1.001
    else:
        getattr(broken, attribute).flat[0] += 0.001  # an intercept may well be 0
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        pellucid.verify(broken, form(X), y)


def test_verify_objects_to_other_data():
    X, y = separable()
    model = Perceptron().fit(X, y)
    with pytest.warns(pellucid.UncertifiedWarning, match="sum of mistakes is inf"):
        pellucid.verify(model, X[:-1], y[:-1])


@pytest.mark.peer
@FORMS
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
def test_same_updates_as_scikit_learn(form, classes, penalty):
    X, y = mixed(classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    how = {"shuffle": False, "max_iter": 9, "tol": None, "class_weight": "balanced" if classes == 2 else None}
    how |= {"penalty": penalty, "alpha": 0.01, "eta0": 0.5}
    ours, theirs = (kind(**how).fit(form(X), y) for kind in (Perceptron, peer.Perceptron))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
    if classes == 3:
        ours, theirs = (kind(**how).fit(form(X), y, sample_weight=weight) for kind in (Perceptron, peer.Perceptron))
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)


def test_stops_where_scikit_learn_stops():
    X, y = mixed(n=100)
    for how in ({}, {"early_stopping": True}, {"n_iter_no_change": 3}):
        ours, theirs = (kind(shuffle=False, **how).fit(X, y) for kind in (Perceptron, peer.Perceptron))
        assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100])
def test_units_do_not_matter(scale):
    X, y = separable()
    ours = Perceptron(fit_intercept=False, tol=None, max_iter=50).fit(scale * X, y)
    wanted = Perceptron(fit_intercept=False, tol=None, max_iter=50, shuffle=False).fit(X, y)
    assert ours.certificate_.holds
    assert ours.score(scale * X, y) == pytest.approx(wanted.score(X, y), abs=0.1)


@pytest.mark.bad_input
def test_takes_no_parameters_of_sgd():
    with pytest.raises(TypeError, match="loss"):
        Perceptron(loss="hinge")
    with pytest.raises(ValueError, match="eta0 must be above 0, got 0"):
        Perceptron(eta0=0).fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(Perceptron(), "predict_proba")


def test_a_claim_of_very_many_mistakes_does_not_widen_the_bounds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + 0.1 * rng.standard_normal(60) > 0).astype(int)
    model = Perceptron(random_state=0).fit(X, y)
    bounds = [claim.bound for claim in pellucid.verify(model, X, y).claims if "mistakes" in claim.name]
    model.n_mistakes_ = 10**17
    proof = quiet_proof(model, X, y)
    assert not proof["whole mistakes"].holds
    assert [claim.bound for claim in proof.claims if "mistakes" in claim.name] == bounds
