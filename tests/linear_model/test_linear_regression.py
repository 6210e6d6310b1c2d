import re
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import lstsq
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression as PeerRegression

import pellucid
from pellucid.linear_model import Lasso, LinearRegression, Ridge
from pellucid.proofs.linear_model.least_squares import coefficient_error, nonnegative_gradient, size_of_fit
from tests.proving import quiet_proof

PENALTY = {Lasso: {"alpha": 0.01}}
seeds = pytest.mark.parametrize("seed", range(3))


def problem(seed, n=60, p=5, t=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    targets = X @ rng.standard_normal((p, t or 1)) + 4.0 + 0.1 * rng.standard_normal((n, t or 1))
    return X, targets if t else targets[:, 0]


# by hand


@pytest.mark.by_hand
def test_a_line_through_three_points():
    # means 1 and 3, Sxx = 2, Sxy = 3: slope 3/2, intercept 3/2; residuals 1/2, -1, 1/2
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [2.0, 2.0, 5.0])
    assert model.coef_ == pytest.approx([1.5])
    assert model.intercept_ == pytest.approx(1.5)
    assert model.noise_variance_ == pytest.approx(1.5)  # RSS 3/2 over 3 - 2


def test_without_intercept_the_line_passes_through_the_origin():
    # w = (1*2 + 2*5) / (1 + 4)
    model = LinearRegression(fit_intercept=False).fit([[0.0], [1.0], [2.0]], [2.0, 2.0, 5.0])
    assert model.coef_ == pytest.approx([12 / 5])
    assert model.intercept_ == 0.0


def test_of_all_minimizers_the_least_norm_is_taken():
    # both columns are equal: y = 2 x is shared out evenly
    model = LinearRegression().fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 2.0, 4.0])
    assert model.coef_ == pytest.approx([1.0, 1.0])
    assert model.rank_ == 1


def test_the_certificate_measures_a_wrong_slope():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    model = LinearRegression().fit(X, y)
    model.coef_ = np.array([0.5])
    # |A(w* - w)| = 0.5 sqrt 2, size of the fit = sqrt 2 + sqrt 2 * 0.5
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, X, y)["fitted values"].value == pytest.approx(1 / 3)


def test_the_estimate_of_lost_digits_grows_with_the_square_of_the_condition():
    eps = np.finfo(float).eps
    assert coefficient_error(10.0, np.array([0.0]), np.array([1.0])) == pytest.approx(10 * eps)
    assert coefficient_error(10.0, np.array([0.5]), np.array([1.0])) == pytest.approx(60 * eps)
    assert size_of_fit(np.array([3.0, 4.0]), np.array([[1.0], [-1.0]]), np.array([2.0])) == pytest.approx([9.0])


def test_what_a_nonnegative_fit_may_still_gain():
    # at 0 only an upward pull counts; below 0 nothing excuses
    gradient, w = np.array([[-1.0], [1.0], [0.5], [2.0]]), np.array([[0.0], [0.0], [1.0], [-1.0]])
    np.testing.assert_array_equal(nonnegative_gradient(gradient, w), [[0.0], [1.0], [0.5], [np.inf]])


# properties


@pytest.mark.property
@settings(max_examples=30, deadline=None)
@given(st.integers(2, 30), st.integers(1, 8), st.integers(0, 10_000))
def test_weights_are_repetitions(n, p, seed):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.standard_normal((n, p)), rng.standard_normal(n), rng.integers(0, 4, n)
    weight[0] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)  # a random design may be nearly singular
        weighted = LinearRegression().fit(X, y, sample_weight=weight)
        repeated = LinearRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    scale = 1 + np.abs(repeated.coef_).max()
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6 * scale)
    assert weighted.degrees_of_freedom_ == repeated.degrees_of_freedom_


@seeds
def test_order_of_rows_and_columns_does_not_matter(seed):
    X, y = problem(seed)
    rows, columns = np.random.default_rng(seed).permutation(60), [4, 2, 0, 1, 3]
    plain, shuffled = LinearRegression().fit(X, y), LinearRegression().fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(shuffled.coef_, plain.coef_[columns], rtol=1e-12)


@seeds
def test_units_of_the_features_do_not_matter(seed):
    X, y = problem(seed)
    units = np.array([1e-150, 1e150, 1e-8, 1.0, 1e8])
    plain, scaled = LinearRegression().fit(X, y), LinearRegression().fit(X * units, y)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-11)


@seeds
def test_several_targets_are_several_fits(seed):
    X, Y = problem(seed, t=3)
    together = LinearRegression().fit(X, Y)
    apart = [LinearRegression().fit(X, y) for y in Y.T]
    np.testing.assert_allclose(together.coef_, [m.coef_ for m in apart], rtol=1e-11)
    np.testing.assert_allclose(together.intercept_, [m.intercept_ for m in apart], rtol=1e-11)
    np.testing.assert_allclose(together.noise_variance_, [m.noise_variance_ for m in apart], rtol=1e-9)


# peer


@pytest.mark.peer
@pytest.mark.parametrize("shape", [(60, 5), (8, 8), (5, 20), (2, 3)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
def test_same_answer_as_scikit_learn(shape, fit_intercept, weighted, kind):
    X, Y = problem(0, *shape, t=2)
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(kind(X), Y, sample_weight=weight)
    peer = PeerRegression(fit_intercept=fit_intercept).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(kind(X)), peer.predict(X), atol=1e-8)
    assert pellucid.verify(ours, kind(X), Y, sample_weight=weight).holds
    if not sparse.issparse(kind(X)):
        assert ours.rank_ == peer.rank_
        np.testing.assert_allclose(ours.singular_, peer.singular_, atol=1e-6)


@seeds
def test_nonnegative_fit_as_scikit_learn(seed):
    X, Y = problem(seed, t=2)
    ours, peer = LinearRegression(positive=True).fit(X, Y), PeerRegression(positive=True).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-10)
    assert pellucid.verify(ours, X, Y).holds
    ours.coef_[np.unravel_index(np.argmin(ours.coef_), ours.coef_.shape)] = -1e-3
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(ours, X, Y).holds


def test_a_cutoff_drops_small_singular_values_as_in_scikit_learn():
    X, y = problem(0)
    X[:, 4] = X[:, 3] + 1e-4 * X[:, 4]
    ours, peer = LinearRegression(tol=1e-2).fit(X, y), PeerRegression(tol=1e-2).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9)
    assert ours.rank_ == peer.rank_ == 4
    assert pellucid.verify(ours, X, y).holds


def test_large_sparse_data_go_to_conjugate_gradients():
    X = sparse.random_array((2300, 2100), density=0.002, rng=np.random.default_rng(0), format="csr")
    y = X @ np.ones(2100) + 1.0
    model = LinearRegression(tol=1e-10).fit(X, y)
    assert model.certificate_.grade == "stationary"
    assert pellucid.verify(model, X, y).holds
    np.testing.assert_allclose(model.predict(X), y, atol=1e-4)


# accuracy: against the answer in 60 digits


def exactly(X, y, weight=None):
    """Return the least-squares coefficients in exact enough arithmetic."""
    n, p = X.shape
    with mpmath.workdps(80):
        s = [mpmath.mpf(v) for v in (np.ones(n) if weight is None else weight)]
        rows = [[mpmath.mpf(v) for v in row] for row in X]
        target = [mpmath.mpf(v) for v in y]
        total = mpmath.fsum(s)
        mean = [mpmath.fsum(si * row[j] for si, row in zip(s, rows, strict=True)) / total for j in range(p)]
        y_mean = mpmath.fsum(si * v for si, v in zip(s, target, strict=True)) / total
        A = [[v - m for v, m in zip(row, mean, strict=True)] for row in rows]
        G, c = mpmath.matrix(p, p), mpmath.matrix(p, 1)
        for j in range(p):
            c[j] = mpmath.fsum(si * a[j] * (v - y_mean) for si, a, v in zip(s, A, target, strict=True))
            for k in range(p):
                G[j, k] = mpmath.fsum(si * a[j] * a[k] for si, a in zip(s, A, strict=True))
        return np.array([float(v) for v in mpmath.lu_solve(G, c)])


def hard_problems():
    rng = np.random.default_rng(7)
    n = 40
    X = rng.standard_normal((n, 5))
    y = X @ np.arange(1.0, 6.0) + rng.standard_normal(n)
    for gap in (1e-3, 1e-6, 1e-9, 1e-11):
        close = X.copy()
        close[:, 4] = close[:, 3] + gap * rng.standard_normal(n)
        yield f"collinear {gap:g}", close, y, None
        yield f"collinear {gap:g}, weights over 12 orders", close, y, 10.0 ** rng.uniform(-6, 6, n)
    for low, high in ((0.0, 1.0), (1.0, 3.0)):
        t = np.linspace(low, high, n)
        powers = np.vander(t, 11)[:, :-1]
        yield f"degree 10 on [{low:g}, {high:g}]", powers, np.sin(5 * t) + 0.1 * rng.standard_normal(n), None
    for condition in (1e4, 1e8, 1e12):
        U, _ = np.linalg.qr(rng.standard_normal((n, 6)))
        V, _ = np.linalg.qr(rng.standard_normal((6, 6)))
        bad = (U * np.logspace(0, -np.log10(condition), 6)) @ V.T
        yield f"condition {condition:g}", bad, bad @ np.ones(6) + 1e-3 * rng.standard_normal(n), None
    yield "means of 1e8", X + 1e8, y, None
    yield "weights over 12 orders", X, y, 10.0 ** rng.uniform(-6, 6, n)


@pytest.mark.parametrize("name", [name for name, *_ in hard_problems()])
def test_no_less_accurate_than_lapack_on_hard_problems(name):
    X, y, weight = next(rest for known, *rest in hard_problems() if known == name)
    true = exactly(X, y, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        ours = LinearRegression().fit(X, y, sample_weight=weight)
    root = np.sqrt(np.ones(len(y)) if weight is None else weight)
    mean, y_mean = np.average(X, axis=0, weights=weight), np.average(y, weights=weight)
    gelsd = lstsq(root[:, None] * (X - mean), root * (y - y_mean), cond=1e-16)[0]
    error, peer_error = (np.linalg.norm(w - true) / np.linalg.norm(true) for w in (ours.coef_, gelsd))
    assert error <= max(peer_error, 4e-15)
    # and the certificate says what the data allow: never less than the error there is
    assert ours.certificate_["coefficients"].value >= 0.01 * error


def test_the_certificate_exposes_lost_digits():
    X, y = problem(0)
    X[:, 4] = X[:, 3] + 3e-13 * np.random.default_rng(1).standard_normal(60)
    with pytest.warns(pellucid.UncertifiedWarning) as caught:
        model = LinearRegression().fit(X, y)
    assert any("Fewer than three digits" in str(warning.message) for warning in caught)
    assert not model.certificate_["coefficients"].holds


# bad input


def test_constant_duplicate_and_zero_columns_have_an_answer():
    X, y = problem(0)
    wide = np.column_stack([X, np.full(60, 0.1), X[:, 0], np.zeros(60)])
    model = LinearRegression().fit(wide, y)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(wide), plain.predict(X), rtol=1e-12)
    assert model.coef_[5] == 0.0
    assert model.coef_[0] == pytest.approx(plain.coef_[0] / 2)
    assert pellucid.verify(model, wide, y).holds


def test_one_sample_predicts_itself():
    model = LinearRegression().fit([[3.0, 4.0]], [5.0])
    assert model.intercept_ == 5.0
    assert not model.coef_.any()


def test_a_target_of_zeros_gives_zeros():
    X, _ = problem(0)
    model = LinearRegression().fit(X, np.zeros(60))
    assert not model.coef_.any()
    assert model.certificate_.holds


@pytest.mark.bad_input
def test_huge_values_that_cannot_be_squared_get_one_sentence():
    X, y = problem(0)
    with pytest.raises(ValueError, match="X must have values whose squares are finite"):
        LinearRegression().fit(X * 1e200, y)


def test_tiny_values_whose_squares_vanish_get_one_sentence():
    X, y = problem(0)
    with pytest.raises(ValueError, match="vary by at least 1e-150, got .* in column 2"):
        LinearRegression().fit(X * [1.0, 1.0, 1e-170, 1.0, 1.0], y)


@pytest.mark.parametrize("kind", [LinearRegression, Ridge, Lasso])
def test_large_read_only_memory_is_read_as_it_is(kind, tmp_path):
    X, y = problem(0, n=5000, p=6)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped, target = (np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "y.npy"))
    model = kind(**PENALTY.get(kind, {}))
    expected = model.fit(X, y).coef_.copy()
    np.testing.assert_array_equal(model.fit(mapped, target).coef_, expected)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan], [1.0]], [1.0, 2.0], "Input X contains NaN"),
        ([[np.inf], [1.0]], [1.0, 2.0], "Input X contains infinity"),
        ([[1.0], [2.0]], [1.0, np.nan], "Input y contains NaN"),
        (np.empty((0, 2)), [], "0 sample"),
        (np.empty((2, 0)), [1.0, 2.0], "0 feature"),
        ([1.0, 2.0], [1.0, 2.0], "Expected 2D array"),
        ([[1.0], [2.0]], [1.0], "inconsistent numbers of samples"),
        ([["a"], ["b"]], [1.0, 2.0], "could not convert string"),
    ],
)
def test_bad_data_get_one_sentence(X, y, message):
    with pytest.raises(ValueError, match=message):
        LinearRegression().fit(X, y)


def test_integers_and_objects_are_numbers_too():
    expected = LinearRegression().fit([[0.0], [1.0], [2.0]], [2.0, 2.0, 5.0]).coef_
    for kind in (int, object, np.int8):
        X, y = np.array([[0], [1], [2]], dtype=kind), np.array([2, 2, 5], dtype=kind)
        np.testing.assert_array_equal(LinearRegression().fit(X, y).coef_, expected)


def test_float32_stays_float32():
    X, y = problem(0)
    model = LinearRegression().fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_.dtype == model.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-5)
    assert pellucid.verify(model, X.astype(np.float32), y.astype(np.float32)).holds


@pytest.mark.parametrize("condition", [1e6, 1e9, 1e12])
def test_training_errors_of_many_spreads_are_refused_whatever_the_condition(condition):
    rng = np.random.default_rng(0)
    left = np.linalg.qr(rng.standard_normal((300, 100)))[0]
    right = np.linalg.qr(rng.standard_normal((100, 100)))[0]
    X, y = left * np.geomspace(1.0, 1.0 / condition, 100) @ right.T, rng.standard_normal(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)  # at 1e12, of few certain digits
        model = LinearRegression(fit_intercept=False).fit(X, y)
    assert quiet_proof(model, X, y)["training error"].value < 1e-3
    # coefficients this large make the size of the fit, which rounding is relative to, 1e14 spreads
    model.coef_ = model.coef_ + 50.0 * np.linalg.norm(y) * condition * right[:, -1]
    broken = quiet_proof(model, X, y)
    assert broken["training error"].value > 10.0
    assert not broken["training error"].holds


def test_coefficients_of_half_precision_are_not_exact():
    X, y = problem(0)
    model = LinearRegression().fit(X, y)
    model.coef_ = model.coef_.astype(np.float16).astype(np.float64)
    assert not quiet_proof(model, X, y)["normal equations"].holds


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_constant_columns_beside_dependent_ones_leave_the_least_norm(offset):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] + offset, y[:400].astype(float)
    model = LinearRegression().fit(X, y)
    centered = X - X.mean(axis=0)
    best = np.linalg.pinv(centered, rcond=1e-8) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, best, atol=1e-7)
    assert pellucid.verify(model, X, y).holds


def test_a_fit_that_takes_a_direction_for_rounding_says_what_it_would_change():
    # powers up to 15 of 27 numbers between 0 and 1: one direction is 1e-14 of the largest, next to what rounding makes
    random = np.random.RandomState(0)
    x = np.sort(random.rand(30))
    y = (np.cos(1.5 * np.pi * x) + 0.1 * random.randn(30))[3:]
    X = x[3:, None] ** np.arange(1, 16)
    with pytest.warns(pellucid.UncertifiedWarning):
        model = LinearRegression().fit(X, y)
    assert model.rank_ == 14
    assert model.certificate_.reason.startswith("1 of 15 directions of the columns are taken for rounding")
    with pytest.warns(pellucid.UncertifiedWarning):
        certificate = pellucid.verify(model, X, y)
    moved = float(re.search(r"coef_ would move by (\S+) times its size", certificate.reason).group(1))
    assert 5 < moved < 1000
    # by hand: the answer in exact fractions is another one, and not farther than was said
    exact = np.array(exact_least_squares(X, y), dtype=float)
    assert np.linalg.norm(exact - model.coef_) <= 2 * moved * np.linalg.norm(model.coef_)
    assert np.linalg.norm(exact - model.coef_) > np.linalg.norm(model.coef_)


def exact_least_squares(X, y):
    """Return the coefficients of centered columns by Gauss's elimination in fractions."""
    rows = [[Fraction(value) for value in row] for row in np.column_stack([X, y]).tolist()]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    rows = [[value - mean for value, mean in zip(row, means, strict=True)] for row in rows]
    p = X.shape[1]
    system = [[sum(row[i] * row[j] for row in rows) for j in range(p + 1)] for i in range(p)]
    for k in range(p):
        for i in range(k + 1, p):
            factor = system[i][k] / system[k][k]
            system[i] = [a - factor * b for a, b in zip(system[i], system[k], strict=True)]
    found = [Fraction(0)] * p
    for k in reversed(range(p)):
        found[k] = (system[k][p] - sum(system[k][j] * found[j] for j in range(k + 1, p))) / system[k][k]
    return found


def test_a_column_given_twice_is_dependent_and_nothing_is_said_to_be_in_doubt():
    X = np.random.default_rng(0).standard_normal((20, 2))[:, [0, 1, 0]]
    model = LinearRegression().fit(X, X[:, 1])
    assert pellucid.verify(model, X, X[:, 1]).reason == ""


@pytest.mark.parametrize("n", [500, 5_000, 50_000])
@pytest.mark.parametrize("seed", range(2))
def test_indicators_of_all_groups_have_one_rank_less_and_are_proved(n, seed):
    # equal rows round the same way again and again: means and factors of many rows must not add that up
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, n)
    X = np.column_stack([np.eye(4)[group], np.full(n, 2024.0), rng.normal(size=(n, 2)) * [1.0, 50.0] + [0.0, 5.0]])
    y = X[:, 5] + group + rng.normal(size=n)
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 5
    assert pellucid.verify(model, X, y).holds
    np.testing.assert_allclose(model.coef_[:4].sum(), 0.0, atol=1e-9)  # least norm
