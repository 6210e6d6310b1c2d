"""The proof's bounds, checked in exact fractions at points of the ball: rounding included, never too high."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
import torch

from pellucid.neural_network.robustness.linear_bounds import MarginSearch
from pellucid.neural_network.robustness.reading import read_network
from pellucid.proofs.neural_network.network_steps import (
    DenseStep,
    MaximumStep,
    Network,
    NetworkStep,
    RearrangementStep,
    RectifierStep,
    ScalingStep,
    SumStep,
)
from pellucid.proofs.neural_network.proved_bounds import RowProof, matrices_of
from pellucid.proofs.neural_network.robustness import least_margins
from pellucid.proofs.rounding import EPSILON
from tests.neural_network.networks import convolutional, dense, inputs, residual

seeds = pytest.mark.parametrize("seed", range(4))
each_norm = pytest.mark.parametrize("norm", [2.0, inf])


def numbers(seed, *shape, spread):
    """Numbers of very different sizes, so that sums of them round."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * 10 ** rng.uniform(-spread, spread, shape)


def every_step(seed, spread=4.0):
    """A network with a step of each kind but convolutions, which are matrices like others."""

    def weight(number, *shape):
        return numbers(10 * seed + number, *shape, spread=spread)

    shift = weight(4, 5)
    steps = (
        NetworkStep((), (4,)),
        DenseStep((0,), (6,), weight(1, 6, 4), weight(2, 6)),
        RectifierStep((1,), (6,), 0.1),
        DenseStep((2,), (5,), weight(3, 5, 6), weight(4, 5)),
        ScalingStep((3,), (5,), weight(5, 5), shift, abs(shift)),
        RearrangementStep((2,), (5,), np.array([4, -1, 0, 2, 5])),
        SumStep((4, 5), (5,)),
        RectifierStep((6,), (5,), 0.0),
        MaximumStep((7,), (4,), np.array([[0, 1], [1, 2], [2, 3], [4, -1]])),
        DenseStep((8,), (3,), weight(6, 3, 4), weight(7, 3)),
    )
    return Network(steps, np.float64)


def exact_values(network, x):
    """Return the values of all steps in fractions."""
    found = [x]
    for step in network.steps[1:]:
        z = found[step.sources[0]]
        if isinstance(step, DenseStep):
            rows = zip(step.weight, step.shift, strict=True)
            found.append([product(row, z) + Fraction(shift) for row, shift in rows])
        elif isinstance(step, ScalingStep):
            rows = zip(step.weight, z, step.shift, strict=True)
            found.append([Fraction(a) * value + Fraction(shift) for a, value, shift in rows])
        elif isinstance(step, RectifierStep):
            found.append([max(value, Fraction(step.slope) * value) for value in z])
        elif isinstance(step, RearrangementStep):
            found.append([z[place] if place >= 0 else Fraction(0) for place in step.places])
        elif isinstance(step, SumStep):
            found.append([a + b for a, b in zip(z, found[step.sources[1]], strict=True)])
        else:
            found.append([max(z[place] for place in window if place >= 0) for window in step.windows])
    return found


def product(A, z):
    return sum((Fraction(a) * value for a, value in zip(A.tolist(), z, strict=True)), Fraction(0))


def points(x, radius, norm, seed, count=12):
    """Points of the ball as fractions: corners of the cube, and those of the axes for the Euclidean norm."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        signs = (
            rng.choice([-1, 1], len(x)) if norm == inf else np.eye(len(x))[rng.integers(len(x))] * rng.choice([-1, 1])
        )
        yield [Fraction(a) + Fraction(radius) * int(sign) for a, sign in zip(x.tolist(), signs, strict=True)]


def too_high(proof, network, seed):
    """Yield how far each bound is above the truth, for all steps at some points of the ball."""
    for z in points(proof.x, proof.radius, proof.norm, seed):
        values = exact_values(network, z)
        for index, step in enumerate(network.steps[1:], 1):
            A = numbers(seed + index, step.n_values, 6, spread=2.0)
            value, slope = proof.bounds(index, A)
            for column, bound, fall in zip(A.T, value.tolist(), slope.tolist(), strict=True):
                yield Fraction(bound) - Fraction(proof.radius) * Fraction(fall) - product(column, values[index])
            for low, truth, high in zip(proof.lower[index], values[index], proof.upper[index], strict=True):
                yield max(Fraction(float(low)) - truth, truth - Fraction(float(high)))


@each_norm
@seeds
def test_no_bound_of_any_step_is_above_the_truth(seed, norm):
    network, x = every_step(seed), numbers(seed, 4, spread=1.0)
    for radius in (1e-9, 0.3):
        proof = RowProof(network, x, radius, norm).walk(intervals_only=False)
        assert max(too_high(proof, network, seed)) <= 0


def test_without_the_allowance_for_rounding_some_bounds_would_be_above_the_truth():
    network, x = every_step(0), numbers(0, 4, spread=1.0)
    proof = RowProof(network, x, 1e-9, inf, unit=0.0).walk(intervals_only=False)
    assert max(too_high(proof, network, 0)) > 0


@pytest.mark.parametrize(("build", "shape"), [(convolutional, (2, 9, 8)), (residual, (2, 6, 6))])
def test_the_matrix_of_a_convolution_is_what_torch_computes(build, shape):
    module, x = build().double(), inputs(1, *shape).double()
    network = read_network(module, shape)
    values = [x.numpy().reshape(-1)]
    for index, step in enumerate(network.steps[1:], 1):
        before = [values[source] for source in step.sources]
        if isinstance(step, RectifierStep):
            values.append(np.maximum(before[0], step.slope * before[0]))
        elif isinstance(step, MaximumStep):
            values.append(np.append(before[0], -inf)[step.windows].max(1))
        else:
            affine = matrices_of(network)[index]
            parts = zip(affine.parts, before, strict=True)
            values.append(sum(part.matrix @ z for part, z in parts) + affine.shift)
    np.testing.assert_allclose(values[-1], module(x).detach().numpy()[0], rtol=1e-12)


@each_norm
@pytest.mark.parametrize(
    ("build", "shape"), [(lambda: dense(1, hidden=(7, 6, 5)), (4,)), (convolutional, (2, 9, 8)), (residual, (2, 6, 6))]
)
def test_search_and_proof_find_the_same_bounds_by_different_code(build, shape, norm):
    module, X = build().double(), inputs(4, *shape).double()
    network, classes = read_network(module, shape), module(X).argmax(1)
    rows = X.flatten(1)
    radii = torch.tensor([0.01, 0.05, 0.1, 0.3], dtype=torch.float64)
    search = MarginSearch(network, rows.T.contiguous(), classes, norm=norm)
    found = search.provable(torch.arange(4), radii)
    _, proved = least_margins(network, rows.numpy(), classes.numpy(), radii.numpy(), norm=norm, unit=EPSILON)
    np.testing.assert_allclose(np.minimum(found.numpy(), radii.numpy()).clip(0), proved, rtol=1e-9)


def test_a_maximum_is_known_only_if_one_entry_is_above_all_others():
    network = Network((NetworkStep((), (2,)), MaximumStep((0,), (1,), np.array([[0, 1]]))), np.float64)
    for radius, is_known in ((0.49, True), (0.51, False)):
        proof = RowProof(network, np.array([1.0, 0.0]), radius, inf).walk(intervals_only=False)
        assert bool(proof.lines[1][1][0]) == is_known
