"""SelectTop: by hand, properties, against SciPy and scikit-learn, intervals, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn.feature_selection import f_regression
from sklearn.metrics import mutual_info_score

import pellucid
from pellucid.feature_selection import SelectTop
from pellucid.feature_selection.filters.column_codes import coded_column
from pellucid.show import show_work
from tests.tampering import changes, objects

FEW = settings(max_examples=15, deadline=None)
SCORES = ("mutual_information", "correlation")


def problem(seed=0, n=80, p=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2.0
    return X, 2.0 * X[:, 1] - X[:, 3] + rng.standard_normal(n)


@pytest.mark.by_hand
def test_bits_by_hand():
    # the first column is the label; the second is right in 3 of 4 rows with p = 1/2: H = 1, H(x, y) of 1/4, 1/4, 1/2
    X = [[0, 0], [0, 0], [1, 0], [1, 1]]
    model = SelectTop(1).fit(X, ["a", "a", "b", "b"])
    half = 2.0 - 0.75 * np.log2(3.0)  # H of (3/4, 1/4)
    assert model.scores_ == pytest.approx([1.0, half + 1.0 - 1.5])
    assert model.ranking_.tolist() == [0, 1]


def test_correlation_by_hand():
    # x = -1, 0, 1, 2 less 1/2; y = x^2: sums 6, squares 5 and 9, so r = 2 / sqrt 5
    model = SelectTop(1, measure="correlation").fit([[-1.0], [0.0], [1.0], [2.0]], [1.0, 0.0, 1.0, 4.0])
    assert model.scores_ == pytest.approx([5.0 / np.sqrt(5.0 * 9.0)])


def test_bins_by_hand():
    assert coded_column(np.array([3.0, 1.0, 2.0, 4.0]), None, 2).of_rows.tolist() == [1, 0, 0, 1]
    assert coded_column(np.array([5.0, 5.0, 7.0]), None, 4).of_rows.tolist() == [0, 0, 1]  # few values stay apart
    # weights 1, 8, 1: the middles of their weight are at 0.5, 5 and 9.5 of 10; one on an edge is in the upper bin
    assert coded_column(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 1.0]), 2).of_rows.tolist() == [0, 1, 1]
    # weights 8, 1, 1: at 4, 8.5 and 9.5
    assert coded_column(np.array([1.0, 2.0, 3.0]), np.array([8.0, 1.0, 1.0]), 2).of_rows.tolist() == [0, 1, 1]


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from(SCORES), st.booleans())
def test_weights_are_repetitions(seed, score, labels):
    X, y = problem(seed, n=50)
    y = np.where(y > np.median(y), "high", "low") if labels else y
    weight = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    times = weight.astype(int)
    weighted = SelectTop(2, measure=score, n_bins=4).fit(X, y, sample_weight=weight)
    repeated = SelectTop(2, measure=score, n_bins=4).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    for name in ("scores_", "intervals_", "pvalues_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-9)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@FEW
@given(st.integers(0, 1000), st.sampled_from(SCORES))
def test_units_and_the_order_of_rows_do_not_matter(seed, score):
    X, y = problem(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    one = SelectTop(2, measure=score).fit(X, y)
    other = SelectTop(2, measure=score).fit((1000.0 * X + 5.0)[order], -3.0 * y[order])
    np.testing.assert_allclose(one.scores_, other.scores_, atol=1e-9)


@pytest.mark.peer
def test_correlations_intervals_and_p_values_are_those_of_scipy():
    X, y = problem()
    model = SelectTop(2, measure="correlation", level=0.9).fit(X, y)
    for j in range(X.shape[1]):
        found = pearsonr(X[:, j], y)
        low, high = found.confidence_interval(0.9)
        low, high = (low, high) if found.statistic > 0 else (-high, -low)
        assert model.scores_[j] == pytest.approx(abs(found.statistic))
        assert model.pvalues_[j] == pytest.approx(found.pvalue, abs=1e-12)
        assert model.intervals_[j] == pytest.approx([max(low, 0.0), high])
    np.testing.assert_allclose(model.pvalues_, f_regression(X, y)[1], atol=1e-10)


def test_information_is_that_of_scikit_learn():
    X, y = problem()
    codes = [coded_column(X[:, j], None, 5).of_rows for j in range(X.shape[1])]
    labels = np.digitize(y, [0.0, 2.0])
    wanted = [mutual_info_score(column, labels) / np.log(2.0) for column in codes]
    np.testing.assert_allclose(SelectTop(2, n_bins=5).fit(X, labels).scores_, wanted, atol=1e-12)


@pytest.mark.parametrize("n", [60, 2000])
def test_intervals_of_information_hold_the_truth_about_as_often_as_they_say(n):
    table = np.array([[0.3, 0.1, 0.05], [0.05, 0.2, 0.3]])
    truth = float(np.sum(table * np.log2(table / np.outer(table.sum(1), table.sum(0)))))
    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        cells = rng.choice(6, n, p=table.ravel())
        low, high = SelectTop(level=0.9).fit((cells // 3)[:, None], cells % 3).intervals_[0]
        held += low <= truth <= high
    assert 0.84 <= held / 300 <= 0.96


def test_noise_has_an_interval_down_to_zero_and_a_relation_has_not():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.integers(0, 3, 300), y + (rng.uniform(size=300) < 0.2)])
    model = SelectTop(1).fit(X, y)
    assert model.intervals_[0, 0] == 0.0
    assert model.intervals_[1, 0] > 0.1
    assert model.pvalues_[0] > 0.01 > 1e-10 > model.pvalues_[1]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("labels", [False, True])
def test_verify_objects_to_every_change(score, labels):
    X, y = problem()
    y = (y > np.median(y)).astype(int) if labels else y
    model = SelectTop(2, measure=score, n_bins=4).fit(X, y)
    assert pellucid.verify(model, X, y).holds
    for name in ("scores_", "intervals_", "pvalues_", "ranking_", "support_"):
        for word, wrong in changes(getattr(model, name)):
            broken = copy.copy(model)
            setattr(broken, name, wrong)
            assert objects(broken, X, y) or word == "in half precision", (name, word)


@pytest.mark.parametrize("score", SCORES)
def test_constant_and_equal_columns_and_huge_numbers(score):
    X, y = problem()
    X[:, 0], X[:, 4] = 7.0, X[:, 1]
    for scale in (1e-150, 1.0, 1e140):
        model = SelectTop(1, measure=score).fit(X * scale, y)
        assert model.scores_[0] == 0.0
        assert model.pvalues_[0] == 1.0
        assert model.get_support(indices=True).tolist() == [1]  # the first of equal ones
        assert pellucid.verify(model, X * scale, y).holds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_the_target_up_to_rounding_are_no_alarm(seed, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((100, 3)), (np.arange(100) % 33 == 0).astype(int)  # a rare class
    X[:, 0] = 0.1 * y + 0.3
    X[:, 1] = y + 1e-7 * rng.standard_normal(100)
    weight = rng.uniform(0.01, 3.0, 100) if weighted else None
    model = SelectTop(2, measure="correlation").fit(X, y, sample_weight=weight)
    assert pellucid.verify(model, X, y, sample_weight=weight).holds
    model.intervals_[1] -= 1e-9  # of a column whose correlation is not 1
    assert objects(model, X, y, **({"sample_weight": weight} if weighted else {}))


def test_few_rows_and_one_label():
    for n in (1, 2, 3, 4):
        for score in SCORES:
            X, y = problem(n=n)
            model = SelectTop(1, measure=score).fit(X, y)
            assert np.isfinite(model.intervals_).all()
            assert pellucid.verify(model, X, y).holds
    model = SelectTop(1).fit(problem()[0], np.zeros(80, dtype=int))
    assert not model.scores_.any()


@pytest.mark.parametrize("score", SCORES)
def test_workings_agree_with_the_program(score):
    X = np.array([[1, 2, 0], [2, 1, 1], [1, -1, 1], [2, 2, 0], [1, 0, 2], [2, 1, 1]])
    for y in (np.array(list("aababb")), np.array([0.5, 1.0, 2.5, 3.0, 0.5, 1.5])):
        work = show_work(SelectTop(1, measure=score), X, y)
        assert "more than rounding" not in work.text()
        assert max(map(len, work.text().splitlines())) <= 80
    assert show_work(SelectTop(1), X, list("aababb")).answer["ranking_"] == [1, 2, 0]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings_", "change", "message"),
    [
        ({"k": 0}, lambda X, y: (X, y), "k must be at least 1"),
        ({"k": "many"}, lambda X, y: (X, y), "k must be"),
        ({"level": 1.0}, lambda X, y: (X, y), "level must be above 0 and below 1"),
        ({"n_bins": 1}, lambda X, y: (X, y), "n_bins must be at least 2"),
        ({"measure": "charm"}, lambda X, y: (X, y), "measure must be one of"),
        ({"measure": "correlation"}, lambda X, y: (X, np.arange(len(y)) % 3), "y must be floats or two labels"),
        ({}, lambda X, y: (X * np.nan, y), "NaN"),
        ({}, lambda X, y: (X, y * np.nan), "NaN"),
        ({}, lambda X, y: (X, np.column_stack([y, y])), "1d array"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(settings_, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SelectTop(**settings_).fit(*change(*problem()))
