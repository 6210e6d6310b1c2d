"""A fit measures its own errors: a counter that counts wrongly is found out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import pellucid
from pellucid.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, counting_nb, gaussian_nb
from pellucid.naive_bayes.spot_check import few_columns, spot_moments, spot_remark, spot_sums

rng = np.random.default_rng(0)
X = rng.integers(0, 4, (60, 7))
y = np.arange(60) % 3
weight = rng.random(60)


def test_few_columns_are_the_ends_and_some_between():
    assert few_columns(1).tolist() == [0]
    assert few_columns(3).tolist() == [0, 1, 2]
    assert few_columns(100).tolist() == [0, 33, 66, 99]
    assert spot_remark(3) == ""
    assert spot_remark(100) == "Measured on 4 of 100 columns; verify measures all."


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_sums_are_those_of_the_classes(as_given):
    columns = np.array([1, 5])
    expected = np.array([(weight[y == k, None] * X[y == k][:, columns]).sum(axis=0) for k in range(4)])
    np.testing.assert_allclose(spot_sums(as_given(X), columns, y, weight, 4), expected)


def test_moments_far_from_zero_keep_their_digits_and_empty_classes_have_none():
    counts, mean, variance = spot_moments(X + 1e8, np.array([2]), y, None, 4)
    assert counts.tolist() == [20, 20, 20, 0]
    np.testing.assert_allclose(mean[:3, 0] - 1e8, [X[y == k, 2].mean() for k in range(3)], atol=1e-7)
    np.testing.assert_allclose(variance[:3, 0], [X[y == k, 2].var() for k in range(3)], rtol=1e-12)
    assert mean[3, 0] == variance[3, 0] == 0.0


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), CategoricalNB(), GaussianNB()], ids=repr)
def test_the_certificate_of_a_fit_holds_numbers_that_were_measured(model):
    certificate = model.fit(X, y, weight).certificate_
    assert certificate.holds
    assert "4 of 7 columns" in certificate.reason
    assert {claim.name for claim in certificate.claims} == {
        claim.name for claim in pellucid.verify(model, X, y, sample_weight=weight).claims
    }


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_wrong_sum_is_found_out(monkeypatch, kind, method):
    right = counting_nb.class_sums
    monkeypatch.setattr(counting_nb, "class_sums", lambda *given: right(*given) * (1 + 1e-9))
    options = {"classes": [0, 1, 2]} if method == "partial_fit" else {}
    with pytest.warns(pellucid.UncertifiedWarning, match="counts"):
        getattr(kind(), method)(X, y, **options)


def test_a_wrong_probability_is_found_out(monkeypatch):
    right = counting_nb.log_smoothed
    monkeypatch.setattr(counting_nb, "log_smoothed", lambda *given: right(*given) + 1e-9)
    with pytest.warns(pellucid.UncertifiedWarning, match="conditionals"):
        CategoricalNB().fit(X, y)


@pytest.mark.parametrize("attribute", ["total", "mean", "scatter"])
def test_a_wrong_moment_is_found_out(monkeypatch, attribute):
    right = gaussian_nb.class_moments

    def wrong(*given):
        found = right(*given)
        object.__setattr__(found, attribute, getattr(found, attribute) * (1 + 1e-9))
        return found

    monkeypatch.setattr(gaussian_nb, "class_moments", wrong)
    with pytest.warns(pellucid.UncertifiedWarning):
        GaussianNB().fit(X + 0.5, y)
