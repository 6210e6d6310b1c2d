"""Restoration by hand: exact on small signals, and the same as the program."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational

from pellucid.vision.restoration import (
    Identity,
    TotalVariation,
    omp,
    psnr,
    show_omp,
    show_psnr,
    show_soft_threshold,
    show_sure,
    show_total_variation,
    show_wiener,
)

small = st.lists(st.integers(-9, 9), min_size=1, max_size=8)

# by hand


def test_soft_threshold_shrinks_by_the_threshold():
    work = show_soft_threshold([5, -3, 1, -1], 2)
    assert work.answer["x"] == [3, -1, 0, 0]
    # half of 4 + 4 + 1 + 1, and 2 (3 + 1)
    assert work.answer["objective"] == 13


def test_steins_estimate_is_counted_on_the_fingers():
    # kept: 3 and 2, so -3 + 2 x 2 = 1 beside the squares 1 + 1 + 1
    assert show_sure([3, -1, 2], 1, 1).answer["risk"] == 4
    assert show_sure([3, -1, 2], 0, 1).answer["risk"] == 3  # nothing is done: the noise itself


def test_two_halves_move_towards_each_other():
    assert show_total_variation([0, 0, 6, 6], 2).answer["x"] == [1, 1, 5, 5]
    assert show_total_variation([0, 0, 6, 6], 100).answer["x"] == [3, 3, 3, 3]
    assert show_total_variation([5], 1).answer["x"] == [5]


def test_wiener_with_equal_powers_is_a_factor():
    # signal 3 and noise 1 at every frequency: three quarters of everything
    assert show_wiener([4, 0, 8, 0], [3, 3, 3, 3], 1).answer["x"] == [3, 0, 6, 0]


def test_decibels_of_a_small_image():
    answer = show_psnr([[100, 50]], [[103, 54]]).answer
    assert answer["mse"] == Rational(25, 2)
    assert answer["psnr"] == pytest.approx(psnr([[100.0, 50.0]], [[103.0, 54.0]], peak=255))
    assert "infinite" in show_psnr([[1]], [[1]]).text()


def test_pursuit_takes_the_best_atom_and_says_what_is_promised():
    work = show_omp([[1, 0, 1], [0, 1, 1]], [3, 1], 2)
    assert work.answer["atoms"] == [1, 2]
    assert work.answer["residual"] == [0, 0]
    assert "not below 1" in work.text()
    assert "found exactly" in show_omp([[1, 0], [0, 1]], [3, 1], 1).text()


# the same as the program


@settings(max_examples=25)
@given(small, st.integers(1, 6))
def test_the_taut_string_is_the_minimizer(y, weight):
    exact = [float(x) for x in show_total_variation(y, weight).answer["x"]]
    image = np.array([y], dtype=np.float64)
    ours = TotalVariation(weight=float(weight), accuracy=1e-7, max_iter=100_000).solve(image, Identity(), 1.0, 255.0)
    np.testing.assert_allclose(ours.image[0], exact, atol=1e-4)


@given(small, st.integers(0, 6))
def test_the_objective_of_a_taut_string_cannot_be_lowered(y, weight):
    weight = weight + 1
    work = show_total_variation(y, weight)
    x, signal = np.array(work.answer["x"], dtype=float), np.array(y, dtype=float)

    def objective(z):
        return 0.5 * np.sum((z - signal) ** 2) + weight * np.abs(np.diff(z)).sum()

    assert float(work.answer["objective"]) == pytest.approx(objective(x))
    rng = np.random.default_rng(0)
    assert all(objective(x + 0.1 * rng.standard_normal(len(x))) >= objective(x) - 1e-9 for _ in range(20))


def test_the_pursuit_is_that_of_the_program():
    atoms = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=float)
    for y in ([3, 1, 2], [1, 5, 4], [-2, -2, 1]):
        exact = show_omp(atoms.T.astype(int).tolist(), y, 2).answer
        lengths = np.linalg.norm(atoms, axis=1)
        ours = omp(np.array([y], dtype=float), atoms / lengths[:, None], n_nonzero=2)[0] / lengths
        np.testing.assert_allclose(ours, [float(value) for value in exact["code"]], atol=1e-12)


@pytest.mark.parametrize("kernel", [None, [0.5, 0.5]])
def test_wieners_filter_is_the_formula(kernel):
    y, sigma = [3, 1, 4, 1, 5, 9, 2, 6], 2
    power = [16, 4, 2, 1, 1, 1, 2, 4]
    exact = [float(x) for x in show_wiener(y, power, sigma, kernel).answer["x"]]
    a = np.fft.fft(kernel or [1.0], 8)
    gain = a.conj() * power / (np.abs(a) ** 2 * power + sigma**2)
    np.testing.assert_allclose(np.fft.ifft(gain * np.fft.fft(y)).real, exact, atol=1e-12)


def test_every_printer_prints_them():
    for work in (show_soft_threshold([3, -1], 1), show_sure([3, -1], 1), show_omp([[1, 0], [0, 1]], [3, 1])):
        assert all(len(work.printed(way)) > 200 for way in ("text", "markdown", "latex", "html"))
    assert "svg" in show_total_variation([1, 2, 6, 7, 3, 2], 2).html()
    assert "Wiener" in show_wiener([1, 2, 3, 4]).latex()


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: show_soft_threshold(range(13)), "y must have at most 12 numbers to show the work, got 13"),
        (lambda: show_soft_threshold([1], -1), "threshold must be at least 0, got -1"),
        (lambda: show_total_variation(range(11)), "y must have at most 10 samples"),
        (lambda: show_wiener([1]), "y must have 2 to 8 samples"),
        (lambda: show_wiener([1, 2], [1, 2, 3]), "signal must have 2 numbers"),
        (lambda: show_omp([[1, 0], [0, 0]], [1, 2]), "atoms must be 1 to 2, and no atom be 0"),
        (lambda: show_omp([[1, 0]], [1, 2]), "dictionary must have at most 8 atoms"),
        (lambda: show_psnr([[1]], [[1, 2]]), "clean and image must have the same shape"),
    ],
)
def test_too_much_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
