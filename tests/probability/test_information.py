import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import mutual_info_score

from pellucid.probability import (
    conditional_entropy,
    entropy,
    joint_counts,
    joint_entropy,
    kl_divergence,
    multi_information,
    mutual_information,
)

counts = st.integers(0, 20).map(float)


def tables(shape):
    return arrays(float, shape, elements=counts).filter(lambda table: table.sum() > 0)


# by hand


def test_entropies_of_a_small_table():
    table = [[2, 0], [1, 1]]  # joint 1/2, 0, 1/4, 1/4
    assert joint_entropy(table) == pytest.approx(1.5)
    assert conditional_entropy(table, given=0) == pytest.approx(0.5)
    assert conditional_entropy(table, given=1) == pytest.approx(1.5 - (2 - 0.75 * math.log2(3)))
    assert mutual_information(table) == pytest.approx(1.5 - 0.75 * math.log2(3))


def test_units_are_those_of_the_base():
    assert entropy([1] * 8) == pytest.approx(3)
    assert entropy([1] * 8, base=math.e) == pytest.approx(3 * math.log(2))
    assert entropy([1] * 1000, base=10) == pytest.approx(3)


def test_zeros_are_exact():
    assert entropy([0, 5, 0]) == 0.0
    assert kl_divergence([0, 1], [0, 4]) == 0.0
    assert kl_divergence([0, 1], [0.5, 0.5]) == pytest.approx(1)
    assert kl_divergence([0.5, 0.5], [0, 1]) == math.inf
    assert conditional_entropy([[0, 0], [1, 0]]) == 0.0


def test_two_coins_and_their_parity_share_one_bit():
    parity = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    assert multi_information(parity) == pytest.approx(1)
    assert mutual_information(parity.sum(axis=2)) == 0.0
    assert mutual_information(parity, axis=(0, 1)) == pytest.approx(1)
    assert conditional_entropy(parity, given=(0, 1)) == 0.0


def test_samples_become_tables():
    table = joint_counts(["b", "a", "a"], [1, 0, 1], sample_weight=[2, 1, 0])
    assert table.tolist() == [[1, 0], [0, 2]]
    assert mutual_information(table) == pytest.approx(entropy([1, 2]))


def test_a_tiny_divergence_keeps_its_digits():
    # (1/2 + d, 1/2 - d) against a fair coin: 2 d^2 nats to leading order, far below rounding of either entropy
    assert kl_divergence([0.5 + 1e-7, 0.5 - 1e-7], [1, 1], base=math.e) == pytest.approx(2e-14, rel=1e-6)


def test_huge_counts_do_not_overflow():
    assert entropy([1e308, 1e308, 1e308, 1e308]) == pytest.approx(2)


# properties


@given(tables((3, 4)))
def test_mutual_information_is_symmetric_and_the_chain_rule_holds(table):
    shared = mutual_information(table)
    assert shared >= 0
    assert shared == pytest.approx(mutual_information(table.T), abs=1e-12)
    of_x, of_y = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    assert shared == pytest.approx(of_x + of_y - joint_entropy(table), abs=1e-12)
    assert joint_entropy(table) == pytest.approx(of_x + conditional_entropy(table, given=0), abs=1e-12)


@given(tables((2, 3, 2)))
def test_multi_information_is_the_sum_of_entropies_less_the_joint_one(table):
    singles = [entropy(table.sum(axis=tuple({0, 1, 2} - {j}))) for j in range(3)]
    assert multi_information(table) == pytest.approx(sum(singles) - joint_entropy(table), abs=1e-12)


@given(tables(5), tables(5))
def test_divergence_is_not_negative_and_0_only_for_equals(p, q):
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, 3 * p) == pytest.approx(0, abs=1e-15)
    if not np.allclose(p / p.sum(), q / q.sum()):
        assert kl_divergence(p, q) > 0


@given(tables(6))
def test_entropy_is_between_0_and_the_log_of_the_number_of_values(p):
    assert 0 <= entropy(p) <= math.log2(6) + 1e-12


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=20))
def test_weights_of_samples_are_repetitions(rows):
    x, y, weight = np.array(rows).T
    assert np.array_equal(
        joint_counts(x, y, sample_weight=weight), joint_counts(np.repeat(x, weight), np.repeat(y, weight))
    )


# peer


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scipy_and_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.random(7), rng.random(7)
    assert entropy(p) == pytest.approx(stats.entropy(p, base=2))
    assert kl_divergence(p, q) == pytest.approx(stats.entropy(p, q, base=2))
    x, y = rng.integers(0, 4, (2, 100))
    assert mutual_information(joint_counts(x, y), base=math.e) == pytest.approx(mutual_info_score(x, y))


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entropy([]), "table must hold finite numbers of at least 0, got an empty array"),
        (lambda: entropy([1, -1]), "table must hold finite numbers of at least 0, got -1.0"),
        (lambda: entropy([1, np.nan]), "table must hold finite numbers of at least 0, got nan"),
        (lambda: entropy([0, 0]), "table must hold a number above 0, got only zeros"),
        (lambda: entropy([1, 1], base=1), "base must be a number above 1, got 1"),
        (lambda: joint_entropy([1, 1]), "table must have an axis for each of two variables"),
        (lambda: kl_divergence([1, 1], [1, 1, 1]), r"q must have the shape of p, \(2,\), got \(3,\)"),
        (lambda: mutual_information([[1, 1]], axis=(0, 1)), "axis must name some axes of the table but not all 2"),
        (lambda: conditional_entropy([[1, 1]], given=2), "given must name axes of a table of 2 axes, got 2"),
        (lambda: joint_counts(), "columns must be given"),
        (lambda: joint_counts([1, 2], [1]), "columns must have one dimension and equal lengths"),
        (lambda: joint_counts([]), "columns must have at least one row"),
        (lambda: joint_counts(*[np.arange(60)] * 4), "columns must have at most 10000000 combinations"),
    ],
)
def test_refuses_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
