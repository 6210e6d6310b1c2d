import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.linear_model import LogisticRegression

from pellucid.linear_model import LinearRegression
from pellucid.probability import bootstrap, curve_band


def median(x):
    """A statistic without an axis argument."""
    return np.median(x)


# by hand


def test_all_resamples_of_equal_values_agree():
    for method in ("BCa", "percentile"):
        found = bootstrap([2.0, 2.0, 2.0], statistic=np.mean, method=method)
        assert (found.low, found.high, found.standard_error) == (2.0, 2.0, 0.0)
        assert found.note == "All resamples give the same value."


def test_a_statistic_that_hardly_varies_gets_quantiles_and_says_so():
    # leaving out one number never changes this median, so BCa has nothing to estimate its acceleration from
    found = bootstrap([0.0, 0.0, 0.0, 0.0, 1.0], statistic=np.median, random_state=0)
    assert found.method == "percentile"
    assert "BCa is not defined" in found.note
    assert (found.low, found.high) == tuple(np.quantile(found.distribution, [0.025, 0.975]))


def test_two_values_have_four_resamples():
    found = bootstrap([0.0, 1.0], statistic=np.mean, method="percentile", n_resamples=4000, random_state=0)
    shares = [np.mean(found.distribution == value) for value in (0.0, 0.5, 1.0)]
    # six standard errors of a share of 4000
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.25], atol=6 * 0.5 / np.sqrt(4000))
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_curve_that_never_varies_has_a_band_of_no_width():
    X = np.arange(5.0)[:, None]
    band = curve_band(ConstantModel(), X, np.full(5, 3.0), [0.0, 1.0], n_resamples=20, random_state=0)
    assert band.curve.tolist() == [3, 3]
    assert band.simultaneous_low.tolist() == band.simultaneous_high.tolist() == [3, 3]
    assert band.critical_value == 0


class ConstantModel(PeerLinearRegression):
    """Predicts the mean."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


# properties


@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_intervals_cover_at_their_level(method):
    rng, hits = np.random.default_rng(0), 0
    for _ in range(100):
        found = bootstrap(
            rng.exponential(1.0, 60), statistic=np.mean, n_resamples=500, level=0.9, method=method, random_state=rng
        )
        hits += found.low < 1 < found.high
    # the true coverage is about 0.87; 100 draws fall below 65 with probability under 1e-7
    assert hits >= 65


def test_same_seed_same_bits_with_and_without_a_bar(capsys):
    x = np.random.default_rng(0).normal(size=30)
    plain, shown = (bootstrap(x, statistic=median, n_resamples=2500, random_state=1, progress=p) for p in (False, True))
    assert np.array_equal(plain.distribution, shown.distribution)
    assert (plain.low, plain.high) == (shown.low, shown.high)
    assert len(plain.distribution) == 2500
    assert "bootstrap" in capsys.readouterr().out


def test_rows_of_a_table_stay_together():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    table = np.c_[x, 2 * x]
    slope = bootstrap(
        table, statistic=lambda t: t[:, 0] @ t[:, 1] / (t[:, 0] @ t[:, 0]), n_resamples=200, random_state=0
    )
    assert (slope.low, slope.high) == pytest.approx((2.0, 2.0))
    paired = bootstrap(x, 2 * x, statistic=lambda a, b: a @ b / (a @ a), paired=True, n_resamples=200, random_state=0)
    assert (paired.low, paired.high) == pytest.approx((2.0, 2.0))


def test_a_vector_statistic_has_a_vector_of_intervals():
    table = np.random.default_rng(0).normal(size=(50, 3)) + [0, 5, 10]
    found = bootstrap(table, statistic=lambda t: t.mean(axis=0), n_resamples=400, random_state=0)
    assert found.low.shape == found.high.shape == (3,)
    assert np.all((found.low < found.estimate) & (found.estimate < found.high))


def test_two_samples_are_resampled_apart():
    rng = np.random.default_rng(0)
    found = bootstrap(
        rng.normal(3, 1, 50),
        rng.normal(1, 1, 70),
        statistic=lambda a, b: a.mean() - b.mean(),
        n_resamples=500,
        random_state=0,
    )
    assert found.standard_error == pytest.approx(np.sqrt(1 / 50 + 1 / 70), rel=0.35)


def test_the_simultaneous_band_contains_whole_curves_at_its_level():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    band = curve_band(
        LinearRegression(),
        x[:, None],
        x + rng.normal(0, 0.3, 80),
        np.linspace(0, 1, 20),
        n_resamples=399,
        random_state=0,
    )
    inside = (band.resampled_curves >= band.simultaneous_low) & (band.resampled_curves <= band.simultaneous_high)
    assert abs(inside.all(axis=1).mean() - 0.95) < 0.005
    assert np.all(inside.mean(axis=0) >= 0.945)
    assert np.all(band.low >= band.simultaneous_low)
    assert np.all(band.high <= band.simultaneous_high)
    assert band.critical_value > 1.96


def test_bands_are_repeatable_and_take_data_frames():
    rng = np.random.default_rng(1)
    X, y = pd.DataFrame({"a": rng.random(30), "b": rng.random(30)}), pd.Series(rng.random(30))
    first, again = (curve_band(PeerLinearRegression(), X, y, X[:5], n_resamples=20, random_state=3) for _ in range(2))
    assert np.array_equal(first.resampled_curves, again.resampled_curves)


# peer


@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_agrees_with_scipy(method):
    x = np.random.default_rng(5).exponential(2.0, 40)
    ours = bootstrap(x, statistic=np.mean, method=method, n_resamples=9999, random_state=0)
    peer = stats.bootstrap((x,), np.mean, method=method, n_resamples=9999, rng=np.random.default_rng(1))
    # quantiles of 9999 resamples have a standard error of about 0.025 standard errors of the mean; ten of them
    allowed = 0.25 * ours.standard_error
    assert (ours.low, ours.high) == pytest.approx(tuple(peer.confidence_interval), abs=allowed)
    assert ours.method == method


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap(statistic=np.mean), "data must be given"),
        (lambda: bootstrap([1.0], statistic=np.mean), "at least two rows"),
        (lambda: bootstrap([1.0, np.nan], statistic=np.mean), "data must be finite"),
        (lambda: bootstrap([1, 2], statistic=np.mean, method="basic"), "method must be one of"),
        (lambda: bootstrap([1, 2], statistic=np.mean, level=95), "level must be above 0 and below 1, got 95"),
        (lambda: bootstrap([1, 2], statistic=np.mean, level=1), "level must be above 0 and below 1, got 1"),
        (lambda: bootstrap([1, 2], statistic=lambda x: np.nan), "statistic must be finite on the data"),
        (
            lambda: bootstrap([1, 2, 3], statistic=lambda x: 1.0 if np.ptp(x) else np.inf, n_resamples=99),
            "statistic must be finite on resamples, got nan or infinity on [0-9]+ of 99",
        ),
        (lambda: bootstrap([1, 2], statistic=np.mean, n_resamples=0), "n_resamples must be at least 1"),
        (lambda: bootstrap([1, 2], [1, 2, 3], statistic=np.dot, paired=True), "paired data must have equal lengths"),
        (
            lambda: curve_band(LogisticRegression(), [[0], [1], [2]], list("aab"), [0.0], n_resamples=2),
            "estimator must predict one number per row",
        ),
        (lambda: curve_band(LinearRegression(), [[0], [1]], [0, 1, 2], [0.0]), "inconsistent numbers of samples"),
    ],
)
def test_refuses_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_refuses_a_statistic_that_is_no_function():
    with pytest.raises(TypeError, match="statistic must be a function of the samples, got 'mean'"):
        bootstrap([1, 2], statistic="mean")
