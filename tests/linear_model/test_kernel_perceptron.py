"""KernelPerceptron: by hand, properties, against the Perceptron, workings, refusals."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import pellucid
from pellucid.kernels import RBF
from pellucid.linear_model import KernelPerceptron, Perceptron
from pellucid.linear_model.sgd import kernel_perceptron
from pellucid.show import show_work

SQUARE = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
FEW = settings(max_examples=15, deadline=None)


def rings(seed=0, n=60, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    angle = rng.uniform(0.0, 2 * np.pi, n)
    radius = 1.0 + y + rng.uniform(-0.2, 0.2, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@pytest.mark.by_hand
def test_two_points_by_hand():
    # the same ten mistakes as the perceptron's, seven of the first row and three of the second
    model = KernelPerceptron("linear", shuffle=False).fit([[1.0], [3.0]], ["a", "b"])
    assert model.dual_coef_.tolist() == [[-7.0, 3.0]]
    assert (model.intercept_[0], model.n_mistakes_, model.support_.tolist()) == (-4.0, 10, [0, 1])
    # the line 2 x - 4: margins 2, length 20, R^2 = 10: 10 * 20 / 4
    claim = model.certificate_["mistakes"]
    assert (claim.value, claim.bound) == (10.0, pytest.approx(50.0))


def test_a_square_by_its_diagonals_is_learned_in_25_mistakes():
    model = KernelPerceptron("poly", gamma=1.0, degree=2, coef0=1.0, shuffle=False).fit(*SQUARE)
    assert model.dual_coef_.tolist() == [[-8.0, 6.0, 6.0, -5.0]]
    assert model.certificate_["mistakes"].bound == pytest.approx(580.0)


@FEW
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_a_linear_kernel_makes_the_mistakes_of_the_perceptron(seed, fit_intercept, as_sparse):
    X, y = rings(seed, n=30, classes=3)
    X = np.round(8 * X) / 8  # products without rounding: scores of 0 are mistakes
    X = sparse.csr_matrix(X) if as_sparse else X
    how = {"shuffle": False, "fit_intercept": fit_intercept, "max_iter": 4}
    kernel = KernelPerceptron("linear", **how).fit(X, y)
    line = Perceptron(tol=None, **how).fit(X.toarray() if as_sparse else X, y)
    assert kernel.n_mistakes_ == line.n_mistakes_
    np.testing.assert_allclose(kernel.decision_function(X), line.decision_function(X), atol=1e-10)


def test_given_products_of_rows_of_weight_0_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y, weight = (X[:, 0] * X[:, 1] > 0.0).astype(int), np.where(np.isin(np.arange(30), (2, 7, 8)), 0.0, 1.0)
    K, kept = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2)), weight > 0.0
    whole = KernelPerceptron("precomputed").fit(K, y, sample_weight=weight)
    part = KernelPerceptron("precomputed").fit(K[np.ix_(kept, kept)], y[kept])
    np.testing.assert_allclose(whole.decision_function(K)[kept], part.decision_function(K[np.ix_(kept, kept)]))
    assert pellucid.verify(whole, K, y, sample_weight=weight).holds


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions_and_order_does_not_matter(seed):
    X, y = rings(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y))
    again = rng.permutation(np.repeat(np.arange(len(y)), weight))
    once, repeated = KernelPerceptron().fit(X, y, sample_weight=weight), KernelPerceptron().fit(X[again], y[again])
    assert once.gamma_ == repeated.gamma_
    assert once.n_mistakes_ == repeated.n_mistakes_
    np.testing.assert_allclose(once.decision_function(X), repeated.decision_function(X), atol=1e-12)
    assert not pellucid.verify(once, X, y, sample_weight=weight).failed
    assert not pellucid.verify(repeated, X[again], y[again]).failed


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_given_products_and_a_function_give_the_same_answer(kernel, form):
    X, y = rings()
    how = {"gamma": 0.5, "coef0": 0.5, "max_iter": 5, "shuffle": False}
    model = KernelPerceptron(kernel, **how).fit(form(X), y)
    options = {"gamma": 0.5, "coef0": 0.5, "degree": 3, "filter_params": True}
    K = pairwise_kernels(X, metric=kernel, **options)
    given_products = KernelPerceptron("precomputed", **how).fit(K, y)
    np.testing.assert_allclose(given_products.decision_function(K), model.decision_function(form(X)), atol=1e-9)
    assert given_products.n_mistakes_ == model.n_mistakes_
    assert not pellucid.verify(given_products, K, y).failed
    assert not pellucid.verify(model, form(X), y).failed


def test_a_function_of_two_rows_is_a_kernel():
    X, y = rings(n=20)
    own = KernelPerceptron(lambda a, b: float(np.exp(-((a - b) @ (a - b)))), shuffle=False).fit(X, y)
    named = KernelPerceptron("rbf", gamma=1.0, shuffle=False).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-12)
    assert not pellucid.verify(own, X, y).failed


def test_a_kernel_object_has_its_own_parameters():
    X, y = rings(n=20)
    own = KernelPerceptron(2 * RBF(1.0), gamma=7.0, shuffle=False).fit(X, y)
    named = KernelPerceptron(lambda a, b: 2 * float(np.exp(-((a - b) @ (a - b)))), shuffle=False).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-12)
    own.set_params(kernel=2 * RBF(1.5))
    with pytest.warns(pellucid.UncertifiedWarning, match="parameters"):
        assert pellucid.verify(own, X, y).failed


def test_products_computed_on_demand_give_the_same_mistakes(monkeypatch):
    X, y = rings()
    wanted = KernelPerceptron().fit(X, y)
    monkeypatch.setattr(kernel_perceptron, "WHOLE", 0)
    monkeypatch.setattr(kernel_perceptron, "MOST_KEPT", 5 * 8 * len(y))
    few = KernelPerceptron().fit(X, y)
    np.testing.assert_array_equal(few.dual_coef_, wanted.dual_coef_)
    K = rbf_kernel(X, gamma=wanted.gamma_)
    np.testing.assert_allclose(
        KernelPerceptron("precomputed", shuffle=False).fit(K, y).dual_coef_,
        KernelPerceptron(gamma=wanted.gamma_, shuffle=False).fit(X, y).dual_coef_,
    )


def test_products_in_blocks_are_products(monkeypatch):
    X, _ = rings()
    function = RBF(0.5) + 1.0
    coef = np.random.default_rng(0).standard_normal((len(X), 2))
    wanted = (rbf_kernel(X, gamma=0.5) + 1.0) @ coef
    monkeypatch.setattr("pellucid.kernels.product_blocks.HEIGHT", 7)
    monkeypatch.setattr("pellucid.kernels.product_blocks.WIDTH", 11)
    np.testing.assert_allclose(function.times(X, X, coef), wanted)
    np.testing.assert_allclose(function.diagonal(X), np.full(len(X), 2.0))


def test_rbf_separates_rings_and_says_so():
    X, y = rings(classes=3)
    model = KernelPerceptron().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.grade == "bounded"
    assert model.trace_["updates"][-1] == model.n_mistakes_


def test_says_how_many_rows_are_still_wrong():
    X, y = rings()
    model = KernelPerceptron("linear", max_iter=3).fit(X, y)
    wrong = np.sum(np.where(y == 1, 1, -1) * model.decision_function(X) <= 0)
    assert model.certificate_.reason.startswith(f"{wrong} rows are still on the wrong side,")


@pytest.mark.parametrize("attribute", ["dual_coef_", "intercept_", "n_mistakes_", "support_"])
def test_verify_objects_to_a_broken_model(attribute):
    X, y = rings()
    broken = copy.deepcopy(KernelPerceptron().fit(X, y))
    if attribute == "n_mistakes_":
        broken.n_mistakes_ += 1
    elif attribute == "support_":
        broken.support_ = broken.support_ + len(y)
    else:
        getattr(broken, attribute).flat[-1] *= 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        pellucid.verify(broken, X, y)


@pytest.mark.peer
def test_gamma_scale_is_that_of_scikit_learn():
    X, y = rings()
    assert KernelPerceptron().fit(X, y).gamma_ == pytest.approx(SVC().fit(X, y)._gamma)
    assert KernelPerceptron().fit(sparse.csr_matrix(X), y).gamma_ == pytest.approx(SVC().fit(X, y)._gamma)
    assert KernelPerceptron(gamma="auto").fit(X, y).gamma_ == 0.5


def test_given_products_are_cut_by_rows_and_columns_in_cross_validation():
    X, y = rings(n=90)
    scores = cross_val_score(KernelPerceptron("precomputed"), rbf_kernel(X), y, cv=3)
    assert scores.mean() > 0.9


def test_the_work_agrees_with_the_program():
    rng = np.random.default_rng(0)
    for degree in (1, 2):
        X, y = rng.integers(-2, 3, (6, 2)) / 2, [0, 1, 0, 1, 1, 0]
        model = KernelPerceptron("poly", gamma=0.5, degree=degree, coef0=1.0, shuffle=False, max_iter=6)
        work = show_work(model, X, y)
        assert "more than rounding" not in work.text()
        assert work.answer["n_mistakes_"] == model.fit(X, y).n_mistakes_
    assert (
        "25 ≤ ── = 580"
        in show_work(KernelPerceptron("poly", gamma=1.0, degree=2, coef0=1.0, shuffle=False), *SQUARE).text()
    )
    for model in (KernelPerceptron(shuffle=False), KernelPerceptron("poly", shuffle=False)):
        assert "more than rounding" not in show_work(model, *SQUARE).text()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"kernel": "cosine"}, ValueError, "kernel must be one of .* or a function of two rows"),
        ({"gamma": -1.0}, ValueError, "gamma must be at least 0, got -1.0"),
        ({"gamma": "large"}, ValueError, "gamma must be one of"),
        ({"degree": -1}, ValueError, "degree must be above 0, got -1"),
        ({"coef0": "1"}, TypeError, "coef0 must be a number, got '1'"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"kernel": "precomputed"}, ValueError, r"X must be square .* got shape \(4, 2\)"),
    ],
)
def test_refuses_with_a_sentence(how, error, words):
    with pytest.raises(error, match=words):
        KernelPerceptron(**how).fit(*SQUARE)


@pytest.mark.parametrize(
    ("options", "weight", "words"),
    [
        ({"kernel": "poly", "gamma": 1e300}, 1.0, "kernel must return finite products, got"),
        ({}, 1e200, "sample_weight smaller weights: got scores that overflow"),
    ],
)
def test_what_overflows_is_refused(options, weight, words):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    model = KernelPerceptron(**options)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, sample_weight=np.full(20, weight))
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("scale", [1e-100, 1e-160, 1e-200])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_tiny_rows_raise_no_alarm(scale, kernel):
    X, y = scale * np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    assert not pellucid.verify(KernelPerceptron(kernel).fit(X, y), X, y).failed


def test_huge_weights_are_proved_as_small_ones_are():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    certificates = [
        KernelPerceptron("linear").fit(X, y, sample_weight=np.full(4, weight)).certificate_
        for weight in (1.0, 2.0**460)
    ]
    assert all(certificate.holds for certificate in certificates)
    assert certificates[0].claims[0].value == pytest.approx(certificates[1].claims[0].value)
