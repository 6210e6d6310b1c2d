import copy
import pickle

import numpy as np
import pytest
from scipy.stats import binomtest, linregress
from sklearn.base import clone

import pellucid
from pellucid.data import load_diabetes
from pellucid.linear_model import LinearRegression, Ridge
from tests.proving import quiet_proof


def test_a_line_through_three_points():  # by hand
    # residuals 1/2, -1, 1/2; variance 3/2; Sxx = 2: error of the slope sqrt(3/4), intercept sqrt(3/2 (1/3 + 1/2))
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [2.0, 2.0, 5.0])
    table = model.summary()
    assert list(table.index) == ["intercept", "x0"]
    np.testing.assert_allclose(table["standard error"], np.sqrt([1.25, 0.75]))
    np.testing.assert_allclose(table["t"], table["coefficient"] / table["standard error"])


def test_agrees_with_scipy_for_one_feature():  # peer
    data = load_diabetes()
    line = linregress(data["bmi"], data["progression"])
    table = LinearRegression().fit(data[["bmi"]], data["progression"]).summary()
    assert table.loc["bmi", "standard error"] == pytest.approx(line.stderr)
    assert table.loc["intercept", "standard error"] == pytest.approx(line.intercept_stderr)
    assert table.loc["bmi", "p"] == pytest.approx(line.pvalue)


@pytest.mark.parametrize("alpha", [None, 0.5])
def test_intervals_cover_as_often_as_they_say(alpha):
    rng = np.random.default_rng(0)
    X, at = rng.standard_normal((15, 3)), rng.standard_normal((1, 3))
    w, hits, tries = np.array([1.0, -1.0, 0.5]), 0, 2000
    for _ in range(tries):
        model = (LinearRegression() if alpha is None else Ridge(alpha)).fit(X, X @ w + rng.standard_normal(15))
        low, high = model.prediction_interval(at, level=0.9)
        hits += int(low[0] <= at[0] @ w + rng.standard_normal() <= high[0])
    # a right interval fails this about once in 10,000 seeds; the small ridge bias is far below what it can see
    assert binomtest(hits, tries, 0.9).pvalue > 1e-4


def test_weights_are_repetitions_in_the_statistics_too():
    rng = np.random.default_rng(0)
    X, y, weight = rng.standard_normal((20, 2)), rng.standard_normal(20), rng.integers(1, 4, 20)
    weighted = LinearRegression().fit(X, y, sample_weight=weight).summary()
    repeated = LinearRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).summary()
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_several_targets_have_intervals_each():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), rng.standard_normal((20, 3))
    low, high = LinearRegression().fit(X, Y).prediction_interval(X)
    apart = [LinearRegression().fit(X, y).prediction_interval(X) for y in Y.T]
    np.testing.assert_allclose(low, np.column_stack([one[0] for one in apart]))
    np.testing.assert_allclose(high, np.column_stack([one[1] for one in apart]))


def test_the_mean_is_surer_than_a_new_observation():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.5, 1.5, 3.0]
    model = LinearRegression().fit(X, y)
    (low, high), (inner_low, inner_high) = model.prediction_interval(X), model.confidence_interval(X)
    assert np.all(low < inner_low)
    assert np.all(inner_high < high)


def test_refuses_where_nothing_is_left_to_estimate_noise():  # errors
    model = LinearRegression().fit([[0.0], [1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="must have more rows than features"):
        model.prediction_interval([[0.5]])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0]).prediction_interval([[0.5]], level=95)
    with pytest.raises(ValueError, match="summary must have one target, got 2"):
        LinearRegression().fit(np.eye(4)[:, :2], np.eye(4)[:, :2]).summary()


LATER = ("noise_variance_", "degrees_of_freedom_", "unit_covariance_")


def unasked(kind=LinearRegression, **options):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 4))
    return kind(**options).fit(X, X @ [1.0, 2.0, 0.0, -1.0] + rng.standard_normal(30)), X


def test_a_fit_inverts_nothing_until_somebody_asks(monkeypatch):
    from pellucid.linear_model.least_squares.normal_factor import CholeskyFactor

    inverse = CholeskyFactor.inverse
    monkeypatch.setattr(CholeskyFactor, "inverse", lambda _: pytest.fail("an inverse that nobody asked for"))
    monkeypatch.setattr(CholeskyFactor, "singular_values", lambda _: pytest.fail("singular values nobody asked for"))
    (model, X), (ridge, _) = unasked(), unasked(Ridge)
    model.predict(X)
    assert not set(LATER) & set(vars(model))
    assert not set(LATER) & set(vars(ridge))
    assert "singular_" not in vars(model)
    monkeypatch.setattr(CholeskyFactor, "inverse", inverse)
    np.testing.assert_allclose(model.unit_covariance_, np.linalg.inv(np.cov(X.T, bias=True) * 30), rtol=1e-10)
    assert model.unit_covariance_ is model.unit_covariance_  # computed once


@pytest.mark.parametrize("kind", [LinearRegression, Ridge])
def test_what_is_computed_later_survives_pickle_copies_and_files(kind, tmp_path):
    model, X = unasked(kind)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    pellucid.save(unasked(kind)[0], tmp_path / "model.safetensors")
    copies.append(pellucid.load(tmp_path / "model.safetensors"))
    for name in LATER:
        for other in copies:
            np.testing.assert_allclose(getattr(other, name), getattr(model, name), rtol=1e-14)
    np.testing.assert_array_equal(copies[0].standard_errors(), model.standard_errors())
    assert not hasattr(clone(model), "unit_covariance_")
    assert "_later" not in vars(model) or "singular_" in vars(model)["_later"]  # what all came from is let go
    assert model.fit(X[:3], X[:3, 0]).unit_covariance_ is None  # of the new fit, not the old


def test_an_attribute_that_was_set_is_not_computed_over():
    model, _ = unasked()
    model.noise_variance_ = 7.0
    assert model.noise_variance_ == 7.0
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        model.nothing_  # noqa: B018  (asking is the test)


@pytest.mark.parametrize(
    "model", [LinearRegression(fit_intercept=False), Ridge(alpha=0.1, fit_intercept=False)], ids=repr
)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_a_wrong_covariance_is_found_though_columns_are_nearly_alike(model, offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) + offset
    y = X @ rng.normal(size=4) + rng.normal(size=200)
    model = model.fit(X, y)
    right = model.unit_covariance_
    assert pellucid.verify(model, X, y).holds
    for wrong in (1.001 * right, right[::-1], right.T[::-1].T, right + 1e-3 * np.diag(right.diagonal())):
        model.unit_covariance_ = wrong
        assert [claim.name for claim in quiet_proof(model, X, y).failed] == ["unit covariance"]
