"""KernelRidgeCV: by hand, against real refits, weights, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import pellucid
from pellucid.kernel_ridge import KernelRidge, KernelRidgeCV, kernel_ridge_path
from pellucid.kernels import RBF
from tests.kernel_ridge.test_kernel_ridge import problem

ALPHAS = [1e-3, 0.1, 10.0]
FEW = settings(max_examples=10, deadline=None)


@pytest.mark.by_hand
def test_two_rows_by_hand():
    # left out, [1] is predicted from [2]: a = 3 / (4 + alpha), f = 2 a; and [2] from [1]: a = 2 / (1 + alpha), f = 2 a
    path = kernel_ridge_path([[1.0], [2.0]], [2.0, 3.0], [1.0])
    assert path.left_out_errors == pytest.approx(np.array([[2 - 6 / 5, 3 - 2]]))
    assert path.scores == pytest.approx([((4 / 5) ** 2 + 1) / 2])
    assert path.dual_coef == pytest.approx(np.array([[2 / 3, 1 / 3]]))


@pytest.mark.peer
@FEW
@given(st.integers(0, 1000), st.sampled_from(["linear", "rbf", "poly"]), st.booleans())
def test_left_out_errors_are_those_of_real_refits(seed, kernel, several):
    X, y = problem(seed, n=10, targets=2 if several else None)
    path = kernel_ridge_path(X, y, ALPHAS, kernel=kernel)
    for alpha, errors, dual in zip(ALPHAS, path.left_out_errors, path.dual_coef, strict=True):
        model = KernelRidge(alpha, kernel=kernel)
        refitted = cross_val_predict(model, X, y, cv=LeaveOneOut())
        np.testing.assert_allclose(errors, y - refitted, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(KernelRidge(alpha, kernel=kernel).fit(X, y).dual_coef_, dual, rtol=1e-5, atol=1e-7)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X, y = problem(seed, n=20)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[0] = 1
    again = np.repeat(np.arange(len(X)), weight)
    model = KernelRidgeCV(ALPHAS, kernel="rbf", store_cv_results=True)
    once, repeated = clone(model).fit(X, y, sample_weight=weight), clone(model).fit(X[again], y[again])
    assert once.alpha_ == repeated.alpha_
    np.testing.assert_allclose(once.cv_results_[again], repeated.cv_results_, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(once.predict(X), repeated.predict(X), rtol=1e-7, atol=1e-8)
    assert pellucid.verify(once, X, y, sample_weight=weight).holds


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("targets", [None, 2])
def test_the_best_penalty_is_chosen_and_proved(form, targets):
    X, y = problem(targets=targets)
    model = KernelRidgeCV(ALPHAS, kernel=2 * RBF(0.1), store_cv_results=True).fit(form(X), y)
    assert model.alpha_ == ALPHAS[int(np.argmin(model.trace_["objective"]))]
    assert model.best_score_ == pytest.approx(-model.cv_results_[..., ALPHAS.index(model.alpha_)].mean())
    np.testing.assert_allclose(
        model.predict(form(X)),
        KernelRidge(model.alpha_, kernel=2 * RBF(0.1)).fit(form(X), y).predict(form(X)),
        rtol=1e-8,
    )
    proof = pellucid.verify(model, form(X), y)
    assert proof.holds
    assert {claim.name for claim in proof.claims} >= {"equations", "penalty", "score", "stored errors"}


def test_given_products_and_weights_of_zero():
    X, y = problem()
    weight = np.r_[0.0, 0.0, np.ones(len(y) - 2)]
    model = KernelRidgeCV(ALPHAS, kernel="precomputed").fit(RBF(0.3)(X), y, sample_weight=weight)
    again = KernelRidgeCV(ALPHAS, kernel=RBF(0.3)).fit(X[2:], y[2:])
    np.testing.assert_allclose(model.dual_coef_[2:], again.dual_coef_, rtol=1e-8)
    assert pellucid.verify(model, RBF(0.3)(X), y, sample_weight=weight).holds


def test_verify_objects_to_another_penalty_and_other_scores():
    X, y = problem()
    model = KernelRidgeCV(ALPHAS, kernel="rbf", store_cv_results=True).fit(X, y)
    other = next(alpha for alpha in ALPHAS if alpha != model.alpha_)
    wrong = copy.deepcopy(model)
    wrong.alpha_ = other
    wrong.dual_coef_ = KernelRidge(other, kernel="rbf").fit(X, y).dual_coef_
    nudged, lost = copy.deepcopy(model), copy.deepcopy(model)
    nudged.cv_results_[3, 1] *= 1.01
    del lost.cv_results_
    for broken, name in ((wrong, "penalty"), (nudged, "stored errors"), (lost, "stored errors")):
        with pytest.warns(pellucid.UncertifiedWarning):
            assert name in {claim.name for claim in pellucid.verify(broken, X, y).failed}


def test_one_row_and_equal_penalties():
    assert KernelRidgeCV().fit([[1.0]], [2.0]).alpha_ == 0.1
    X, y = problem()
    assert KernelRidgeCV([1.0, 1.0]).fit(X, np.zeros(len(y))).alpha_ == 1.0


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"alphas": []}, "alphas must hold at least one value"),
        ({"alphas": [1.0, 0.0]}, r"alphas\[1\] must be above 0, got 0"),
        ({"alphas": "many"}, "alphas must be"),
        ({"kernel": "additive_chi2", "alphas": [1e-3]}, "alphas must be above .* which is no inner product, got 0.001"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    X, y = problem()
    with pytest.raises((TypeError, ValueError), match=words):
        KernelRidgeCV(**how).fit(np.abs(X), y)


def test_says_when_an_offset_has_eaten_the_penalty():
    X, y = problem()
    with pytest.raises(ValueError, match=r"alphas must be above .* for rows of this size.* Bring X nearer to 0"):
        KernelRidgeCV(alphas=[1e-9]).fit(X + 1e8, y)


def test_penalties_may_be_as_large_as_numbers_are():
    X, y = problem()
    assert pellucid.verify(KernelRidgeCV(alphas=[1e300]).fit(X, y), X, y).holds
