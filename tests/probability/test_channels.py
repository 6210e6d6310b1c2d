import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid import UncertifiedWarning, record
from pellucid.probability import channel_capacity, entropy, mutual_information, rate_distortion
from pellucid.proofs.probability.channel import certify_capacity, certify_rate

HAMMING = [[0, 1], [1, 0]]


def binary_entropy(p):
    return entropy([p, 1 - p])


def random_channel(seed, shape=(4, 3)):
    return np.random.default_rng(seed).dirichlet(np.ones(shape[1]), shape[0])


# by hand


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_binary_symmetric_channel(noise):
    found = channel_capacity([[1 - noise, noise], [noise, 1 - noise]])
    assert found.capacity == pytest.approx(1 - binary_entropy(noise), abs=1e-9)
    np.testing.assert_allclose(found.input_distribution, [0.5, 0.5])


@pytest.mark.parametrize("lost", [0.0, 0.25, 1.0])
def test_binary_erasure_channel(lost):
    found = channel_capacity([[1 - lost, lost, 0], [0, lost, 1 - lost]])
    assert found.capacity == pytest.approx(1 - lost, abs=1e-9)


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
def test_z_channel(s):
    found = channel_capacity([[1, 0], [s, 1 - s]])
    assert found.capacity == pytest.approx(math.log2(1 + (1 - s) * s ** (s / (1 - s))), abs=1e-9)
    assert found.certificate.holds


def test_channels_that_carry_nothing():
    assert channel_capacity([[0.2, 0.8]]).capacity == 0.0
    assert channel_capacity([[0.2, 0.8]] * 3).capacity == pytest.approx(0, abs=1e-15)
    assert channel_capacity([[1.0], [1.0]]).capacity == 0.0


def test_useless_inputs_and_outputs_change_nothing():
    plain = channel_capacity([[0.9, 0.1], [0.1, 0.9]])
    with_more = channel_capacity([[0.9, 0.1, 0], [0.1, 0.9, 0], [0.5, 0.5, 0]])
    assert with_more.capacity == pytest.approx(plain.capacity, abs=1e-9)
    assert with_more.input_distribution[2] < 1e-6


def test_units_are_those_of_the_base():
    nats = channel_capacity([[0.9, 0.1], [0.1, 0.9]], base=math.e).capacity
    assert nats == pytest.approx((1 - binary_entropy(0.1)) * math.log(2), abs=1e-9)


@pytest.mark.parametrize("target", [0.01, 0.1, 0.3])
def test_rate_of_a_binary_source(target):
    found = rate_distortion([0.4, 0.6], HAMMING, target=target)
    assert found.rate == pytest.approx(binary_entropy(0.4) - binary_entropy(target), abs=1e-9)
    assert found.distortion == pytest.approx(target, abs=1e-12)
    # R'(D) = -log2((1 - D) / D); a gap of 1e-9 leaves about its root in the slope
    assert found.slope == pytest.approx(math.log2((1 - target) / target), abs=1e-3)


def test_ends_of_the_rate_distortion_curve():
    lossless, silent = (rate_distortion([0.4, 0.6], HAMMING, target=target) for target in (0.0, 0.5))
    assert lossless.rate == pytest.approx(binary_entropy(0.4), abs=1e-12)
    assert lossless.distortion == 0
    assert silent.rate == 0
    assert silent.distortion == pytest.approx(0.4)
    assert rate_distortion([0.4, 0.6], HAMMING, slope=0.0).rate == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("target", [0.2, 0.29])
def test_a_straight_piece_of_the_curve_is_reached_by_mixing(target):
    # a third output that costs 0.3 for both letters: below, the line from it that touches 1 - H(D)
    found = rate_distortion([0.5, 0.5], [[0, 1, 0.3], [1, 0, 0.3]], target=target)
    assert found.certificate.holds
    touching = min((1 - binary_entropy(d)) / (0.3 - d) for d in np.linspace(0.001, 0.25, 20_000))
    assert found.rate == pytest.approx(touching * (0.3 - target), abs=1e-6)


def test_letters_that_are_never_sent_do_not_matter():
    found = rate_distortion([0.4, 0.6, 0.0], [[0, 1], [1, 0], [5, 7]], target=0.1)
    assert found.rate == pytest.approx(binary_entropy(0.4) - binary_entropy(0.1), abs=1e-9)
    np.testing.assert_allclose(found.test_channel.sum(axis=1), 1)
    # without loss the third output is never used, but its letter still has a row in the channel
    lossless = rate_distortion([0.4, 0.6, 0.0], 1 - np.eye(3), target=0.0)
    assert lossless.rate == pytest.approx(binary_entropy(0.4), abs=1e-12)
    np.testing.assert_allclose(lossless.test_channel, np.eye(3))


def test_words_that_two_letters_share_lower_the_lossless_rate():
    # the second output serves the last two letters equally well
    found = rate_distortion([0.5, 0.25, 0.25], [[0, 1], [1, 0], [1, 0]], target=0.0)
    assert found.rate == pytest.approx(1.0, abs=1e-9)


# properties


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_gap_bounds_what_any_input_distribution_could_carry(seed):
    W, rng = random_channel(seed), np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4))
    capacity = channel_capacity(W, tol=1e-7).capacity
    carried = mutual_information(p[:, None] * W)
    gap = certify_capacity(W, p, tol=1.0)["capacity gap"].value
    assert carried <= capacity + 1e-7
    assert capacity <= carried + gap + 1e-12


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.1, 5))
def test_the_rate_gap_bounds_what_any_test_channel_could_save(seed, multiplier):
    rng = np.random.default_rng(seed)
    p, d, Q = rng.dirichlet(np.ones(3)), rng.random((3, 4)), rng.dirichlet(np.ones(4), 3)
    reached = float((p[:, None] * Q * d).sum())
    best = rate_distortion(p, d, target=reached, tol=1e-6)
    rate = mutual_information(p[:, None] * Q)
    gap = certify_rate(p, d, Q, multiplier, rng.dirichlet(np.ones(4)), tol=1.0)["rate gap"].value
    assert best.rate <= rate + 1e-6
    assert rate - gap <= best.rate + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_information_never_falls_and_the_gap_closes(seed):
    with record():
        found = channel_capacity(random_channel(seed, (6, 5)), tol=1e-8)
    assert np.all(np.diff(found.trace["objective"]) >= -1e-14)
    assert found.trace["gap"][-1] <= 1e-8
    assert len(found.trace.states) == found.n_iter
    assert found.certificate.grade == "optimal"
    assert found.certificate.holds


def test_the_curve_falls_and_is_convex():
    rng = np.random.default_rng(0)
    p, d = rng.dirichlet(np.ones(4)), rng.random((4, 4))
    low, high = p @ d.min(axis=1), (p @ d).min()
    rates = [rate_distortion(p, d, target=t, tol=1e-7).rate for t in np.linspace(low, high, 9)[1:]]
    assert np.all(np.diff(rates) <= 1e-6)
    assert np.all(np.diff(rates, 2) >= -1e-6)


def test_permuted_inputs_have_the_same_capacity():
    W = random_channel(3)
    assert channel_capacity(W[::-1]).capacity == pytest.approx(channel_capacity(W).capacity, abs=2e-9)


# errors


def test_a_wrong_distribution_is_not_certified():
    W = random_channel(0)
    best = channel_capacity(W).input_distribution
    assert not certify_capacity(W, np.roll(best, 1), tol=1e-9).holds
    assert not certify_capacity(W, best * 1.001, tol=1.0).holds
    found = rate_distortion([0.5, 0.5], HAMMING, target=0.1)
    proof, nats = (found.slope * math.log(2), found.output_distribution), {"tol": 1e-9}
    assert certify_rate([0.5, 0.5], HAMMING, found.test_channel, *proof, **nats).holds
    assert not certify_rate([0.5, 0.5], HAMMING, [[0.8, 0.2], [0.1, 0.9]], *proof, **nats).holds


def test_warns_when_it_stops_early():
    with pytest.warns(UncertifiedWarning, match="channel_capacity: capacity gap is .* Raise max_iter or tol"):
        channel_capacity(random_channel(1), max_iter=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: channel_capacity([[0.5, 0.6]]), "rows of transition must add up to 1, got 1.1 in row 0"),
        (lambda: channel_capacity([[1.5, -0.5]]), "transition must be at least 0, got -0.5"),
        (lambda: channel_capacity([1.0]), "transition must have 2 dimensions"),
        (lambda: channel_capacity([[1.0]], tol=0), "tol must be above 0"),
        (lambda: rate_distortion([1.0], [[0.0]]), "slope or target must be given, one of them"),
        (lambda: rate_distortion([0.5, 0.5], [[1, 2], [2, 1]], target=0.5), "target must be at least 1.0"),
        (lambda: rate_distortion([0.5, 0.5], [[0, -1], [1, 0]], slope=1.0), "distortion must be at least 0, got -1"),
        (lambda: rate_distortion([0.5, 0.5], [[0, 1]], slope=1.0), "distortion must have 2 rows"),
        (lambda: rate_distortion([0.5, 0.4], HAMMING, slope=1.0), "source must add up to 1"),
        (lambda: rate_distortion([0.5, 0.5], HAMMING, slope=-1.0), "slope must be at least 0, got -1"),
    ],
)
def test_refuses_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
