from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB as PeerGaussianNB

import pellucid
from pellucid.naive_bayes import GaussianNB
from pellucid.naive_bayes.gaussian_nb_kernels import class_moments_pass, gaussian_scores_pass
from pellucid.naive_bayes.gaussian_nb_solvers import class_moments
from tests.naive_bayes.samples import points, repeated, seeds

FITTED = ("class_count_", "class_prior_", "theta_", "var_")


@pytest.mark.by_hand
def test_means_variances_and_prior_of_four_points():  # by hand
    model = GaussianNB(var_smoothing=0).fit([[1.0, 0.0], [3.0, 0.0], [7.0, 2.0]], ["a", "a", "b"])
    np.testing.assert_array_equal(model.theta_, [[2, 0], [7, 2]])
    np.testing.assert_array_equal(model.var_, [[1, 0], [0, 0]])
    np.testing.assert_allclose(model.class_prior_, [2 / 3, 1 / 3])


def test_smoothing_is_a_part_of_the_largest_variance():
    # columns 0, 2, 4 (variance 8/3) and 1, 1, 4 (variance 2)
    model = GaussianNB(var_smoothing=0.75).fit([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]], [0, 0, 1])
    assert model.epsilon_ == pytest.approx(2.0)
    np.testing.assert_allclose(model.var_, [[1 + 2, 2], [2, 2]])


def test_joint_log_probability_is_prior_times_normal_densities():
    X, y = points(0)
    model = GaussianNB().fit(X, y)
    by_hand = [
        np.log(prior) + norm(mean, np.sqrt(variance)).logpdf(X).sum(axis=1)
        for prior, mean, variance in zip(model.class_prior_, model.theta_, model.var_, strict=True)
    ]
    np.testing.assert_allclose(model.predict_joint_log_proba(X), np.transpose(by_hand), rtol=1e-12)


def test_trace_is_the_mean_negative_log_likelihood():
    X, y = points(1)
    model = GaussianNB().fit(X, y)
    mine = model.predict_joint_log_proba(X)[np.arange(len(y)), y]
    assert model.trace_["objective"][0] == pytest.approx(-mine.mean())


def test_one_class_and_one_row_are_certain():
    model = GaussianNB().fit([[3.0, 4.0]], ["only"])
    np.testing.assert_array_equal(model.predict([[0.0, 0.0], [3.0, 4.0]]), ["only", "only"])
    np.testing.assert_array_equal(model.predict_proba([[3.0, 4.0]]), [[1.0]])
    assert pellucid.verify(model, [[3.0, 4.0]], ["only"]).holds


def test_a_constant_column_without_smoothing_decides_for_its_own_value():
    X, y = [[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.5]], [0, 0, 1, 1]
    model = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_array_equal(model.predict([[0.0, 9.0], [5.0, 9.0]]), [0, 1])
    assert np.isfinite(model.predict_proba([[2.0, 1.0]])).all()


@pytest.mark.parametrize("labels", [[-4, 0, 7], ["x", "y", "z"], [1.0, 2.0, 5.0], [0, 10**15, 10**16], [False, True]])
def test_labels_of_every_kind_are_told_apart(labels):
    X, y = points(0, n_classes=len(labels))
    named = GaussianNB().fit(X, np.array(labels)[y])
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.predict(X), np.array(labels)[GaussianNB().fit(X, y).predict(X)])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint64])
def test_labels_may_span_all_numbers_of_their_kind(dtype):
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype=dtype)
    X, y = np.repeat([[0.0], [1.0]], 40_000, axis=0), np.repeat(ends, 40_000)
    model = GaussianNB().fit(X, y)
    np.testing.assert_array_equal(model.classes_, ends)
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), ends)


def test_labels_may_be_larger_than_a_signed_number_can_be():
    labels = np.array([2**63, 2**63 + 2], dtype=np.uint64)
    model = GaussianNB().fit([[0.0], [1.0]], labels)
    np.testing.assert_array_equal(model.classes_, labels)


@pytest.mark.property
@seeds
def test_a_weight_is_a_number_of_repetitions(seed):  # properties
    X, y = points(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[:3] = 1
    weighted, copied = GaussianNB().fit(X, y, sample_weight=weight), GaussianNB().fit(*repeated(X, y, weight))
    for name in FITTED:
        np.testing.assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=1e-12)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@seeds
@pytest.mark.parametrize("mean", [0.0, 1e8])
def test_parts_give_the_same_model_as_the_whole(seed, mean):
    X, y = points(seed, mean=mean)
    parts = GaussianNB()
    for rows in np.array_split(np.arange(len(y)), 5):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    whole = GaussianNB().fit(X, y)
    for name in FITTED:
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-7 if mean else 1e-12)
    assert len(parts.trace_) == 5
    assert "5 parts" in parts.certificate_.reason
    assert pellucid.verify(parts, X, y).holds


@seeds
def test_a_mean_of_a_hundred_million_loses_no_digits_of_the_variance(seed):
    X, y = points(seed)
    X = np.round(X * 1024) / 1024  # so that adding 1e8 is exact
    near, far = GaussianNB().fit(X, y), GaussianNB().fit(X + 1e8, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-12)
    assert pellucid.verify(far, X + 1e8, y).holds


@seeds
def test_rows_far_from_the_first_of_their_class_cost_no_digits(seed):
    X, y = points(seed, n=200)
    first = np.array([1e9, -1e9, 1e9])[:, None] * np.ones((1, X.shape[1]))
    weight = np.concatenate([[0, 0, 0], np.ones(len(y))])  # the pivot counts nothing, but it is subtracted
    with_outlier = GaussianNB().fit(np.vstack([first, X]), np.concatenate([[0, 1, 2], y]), sample_weight=weight)
    np.testing.assert_allclose(with_outlier.var_, GaussianNB().fit(X, y).var_, rtol=1e-12)


@given(scale=st.sampled_from([1e-100, 1e-3, 1.0, 1e100]), seed=st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_units_do_not_matter(scale, seed):
    X, y = points(seed, n=30)
    plain, scaled = GaussianNB().fit(X, y), GaussianNB().fit(scale * X, y)
    np.testing.assert_allclose(scaled.predict_proba(scale * X), plain.predict_proba(X), rtol=1e-9, atol=1e-300)
    assert pellucid.verify(scaled, scale * X, y).holds


@pytest.mark.bad_input
def test_a_refused_part_leaves_the_model_as_it_was():
    X, y = points(0)
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    before = copy.deepcopy(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match=r"y must hold only the labels \[0, 1, 2\] of the fit, got \[3\]"):
        model.partial_fit(X, y + 1)
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), before[name])
    assert len(model.trace_) == 1


def test_the_fitted_prior_is_a_copy_of_the_given_one():
    priors = np.array([0.25, 0.75])
    model = GaussianNB(priors=priors).fit([[0.0], [1.0]], [0, 1])
    priors[:] = [0.75, 0.25]
    assert model.class_prior_.tolist() == [0.25, 0.75]


def test_a_class_that_has_not_come_yet_is_never_predicted():
    model = GaussianNB().partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b"])
    np.testing.assert_array_equal(model.predict_proba([[0.5]]), [[1.0, 0.0]])


@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_do_as_their_python_says(weighted):
    X, y = points(2, n=70, p=3)
    weight = np.random.default_rng(0).random(70) if weighted else np.ones(70)
    found = [[np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))] for _ in range(2)]
    for kernel, sums in zip((class_moments_pass, class_moments_pass.py_func), found, strict=True):
        kernel(X, y, weight, X[:3].copy(), *sums)
    for fast, slow in zip(*found, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-13)
    scores = np.zeros((2, 70, 3))
    for kernel, out in zip((gaussian_scores_pass, gaussian_scores_pass.py_func), scores, strict=True):
        kernel(X, X[:3].copy(), np.ones((3, 3)), np.arange(3.0), out)
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-13)


def test_moments_do_not_depend_on_layout_or_precision():
    X, y = points(3, n=9000)
    X = X.astype(np.float32)
    moments = [class_moments(data, y, None, 3) for data in (X, np.asfortranarray(X), X.astype(np.float64))]
    for other in moments[1:]:
        np.testing.assert_array_equal(other.mean, moments[0].mean)
        np.testing.assert_array_equal(other.scatter, moments[0].scatter)


@pytest.mark.parametrize("attribute", ["theta_", "var_", "scatter_", "class_count_", "class_prior_", "epsilon_"])
def test_verify_objects_to_every_broken_attribute_of_a_fit_in_parts(attribute):
    X, y = points(0, mean=100.0)
    model = GaussianNB().partial_fit(X[:40], y[:40], classes=[0, 1, 2]).partial_fit(X[40:], y[40:])
    setattr(model, attribute, getattr(model, attribute) * (1 + 1e-6))
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        assert not pellucid.verify(model, X, y).holds


def test_a_constant_column_leaves_nothing_unproved():
    # where a variance is 0 no rounding of means can be seen in it
    X, y = points(0, mean=3.0)
    X[:, 1] = 1e8 / 3
    model = GaussianNB(var_smoothing=0).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds
    for attribute in ("var_", "scatter_"):
        for column, error in ((1, 1e-9), (2, 1e-9)):
            broken = copy.deepcopy(model)
            getattr(broken, attribute)[0, column] += error
            with pytest.warns(pellucid.UncertifiedWarning, match="variances"):
                assert not pellucid.verify(broken, X, y).holds


def test_the_proof_does_not_look_at_the_trace_or_at_the_size_of_the_model():
    X, y = points(0, mean=1e6)
    model = GaussianNB().partial_fit(X[:40], y[:40], classes=[0, 1, 2]).partial_fit(X[40:], y[40:])
    proof = pellucid.verify(model, X, y)
    model.trace_ = model.certificate_ = None
    assert pellucid.verify(model, X, y) == proof
    model.theta_ = model.theta_ * 1e30
    with pytest.warns(pellucid.UncertifiedWarning):
        assert [claim.bound for claim in pellucid.verify(model, X, y).claims] == [c.bound for c in proof.claims]


def test_nan_in_a_row_of_weight_0_is_refused():
    X, y = points(0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        GaussianNB().fit(X, y, sample_weight=np.arange(len(y)) > 0)


def test_verify_objects_to_one_part_of_the_data():
    X, y = points(0)
    model = GaussianNB().partial_fit(X[:40], y[:40], classes=[0, 1, 2]).partial_fit(X[40:], y[40:])
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X[40:], y[40:]).holds


@pytest.mark.peer
@seeds
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_same_answer_as_scikit_learn(seed, priors):  # peer
    X, y = points(seed)
    ours, peer = (kind(priors=priors).fit(X, y) for kind in (GaussianNB, PeerGaussianNB))
    for name in (*FITTED, "epsilon_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"var_smoothing": -1}, "var_smoothing must be at least 0, got -1"),
        ({"priors": [0.5, 0.5]}, "priors must have 3 entries, got shape"),
        ({"priors": [0.5, 0.5, 0.5]}, "priors must add up to 1, got 1.5"),
        ({"priors": [1.5, 0.0, -0.5]}, "priors must be at least 0, got .*-0.5"),
    ],
)
def test_refuses_bad_parameters(parameters, message):  # errors
    with pytest.raises(ValueError, match=message):
        GaussianNB(**parameters).fit(*points(0))


def test_refuses_bad_data():
    X, y = points(0)
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        GaussianNB().partial_fit(X, y)
    with pytest.raises(ValueError, match="classes must stay"):
        GaussianNB().fit(X, y).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="at least one non-zero"):
        GaussianNB().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="values whose squares are finite"):
        GaussianNB().fit(X * 1e200, y)
    with pytest.raises(ValueError, match="contains NaN"):
        GaussianNB().fit(X, y).predict(np.full_like(X, np.nan))
    with pytest.raises(ValueError, match="Unknown label type"):
        GaussianNB().fit(X, X[:, 0])
