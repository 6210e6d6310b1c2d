"""attack: finds what there is to find, stays in its ball, keeps its hands off the module."""

import numpy as np
import pytest
import torch
from torch import nn

from pellucid.neural_network import attack, attacked_accuracy, certified_radius
from pellucid.plots import plot_certified_accuracy
from tests.neural_network.networks import dense, inputs, predicted


def line():
    module = nn.Linear(2, 2, bias=False)
    module.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    return module


# by hand


@pytest.mark.parametrize(("norm", "exact"), [("inf", 1.0), (2, np.sqrt(2))])
def test_the_larger_of_two_numbers_is_beaten_just_beyond_its_radius(norm, exact):
    X = np.array([[3.0, 1.0]])
    inside, outside = (attack(line(), X, radius=exact * share, norm=norm) for share in (0.999, 1.001))
    assert predicted(line(), inside).tolist() == [0]
    assert predicted(line(), outside).tolist() == [1]


def test_the_most_harmful_point_of_a_line_is_the_corner():
    np.testing.assert_array_equal(attack(line(), [[3.0, 1.0]], radius=0.5), [[2.5, 1.5]])


# properties


@pytest.mark.parametrize("norm", ["inf", 2])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_points_stay_in_their_balls_whatever_the_rounding(norm, scale):
    X, radii = (inputs(50, 4) * scale).numpy(), np.linspace(0, 0.3, 50)
    change = attack(dense(), X, radius=radii, norm=norm, steps=5).astype(float) - X
    assert (np.linalg.norm(change, np.inf if norm == "inf" else 2, axis=1) <= radii).all()


def test_a_larger_ball_is_never_safer():
    X, module = inputs(40, 4), dense()
    own = predicted(module, X)
    found = (attack(module, X, radius=radius, steps=15) for radius in (0.0, 0.3, 1.0, 5.0))
    changed = [np.mean(predicted(module, moved) != own) for moved in found]
    assert changed[0] == 0
    assert changed == sorted(changed)
    assert changed[-1] > 0.5


def test_more_restarts_do_at_least_as_well():
    X, module = inputs(25, 4), dense()
    own = predicted(module, X)
    few, many = (predicted(module, attack(module, X, radius=0.5, restarts=n, steps=10)) != own for n in (1, 8))
    assert (many | ~few).all()


def test_the_same_seed_gives_the_same_bits_and_leaves_the_global_generator_alone():
    X, module = inputs(5, 4), dense()
    state = torch.get_rng_state()
    first, again = (attack(module, X, radius=0.2, random_state=3, steps=5) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert torch.equal(state, torch.get_rng_state())
    assert all(parameter.grad is None for parameter in module.parameters())


def test_a_row_that_is_wrong_already_is_left_as_bad():
    X = np.array([[1.0, 3.0]])
    assert predicted(line(), attack(line(), X, [0], radius=0.1)).tolist() == [1]


# errors


def test_bad_arguments_are_refused():
    X = inputs(3, 4)
    with pytest.raises(ValueError, match="radius must be finite and at least 0, got -1"):
        attack(dense(), X, radius=-1)
    with pytest.raises(ValueError, match="y must be one of the model's classes for each of 3 rows"):
        attack(dense(), X, [0, 1, 7])
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        attack(dense(), X, steps=0)


# accuracy under attack, and its picture


def test_accuracy_under_attack_lies_above_what_is_certified_and_never_rises():
    module, X = dense(), inputs(40, 4)
    y = predicted(module, X)
    y[:4] = (y[:4] + 1) % 3
    epsilons = [0.0, 0.05, 0.1, 0.3, 1.0, 3.0]
    certified = certified_radius(module, X).certified_accuracy(y, epsilons)
    attacked = attacked_accuracy(module, X, y, epsilons, steps=10)
    assert attacked[0] == certified[0] == 0.9
    assert (attacked >= certified).all()
    assert (np.diff(attacked) <= 0).all()
    ax = plot_certified_accuracy(epsilons, certified, attacked)
    assert [line.get_label() for line in ax.get_lines()] == ["proved to stay right", "right under attack"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), certified)
    assert ax.get_xlabel() == "size of the change (norm ∞)"


def test_a_picture_in_which_attacks_beat_the_proof_is_refused():
    with pytest.raises(ValueError, match="attacked must be at least certified, got 0.4 below 0.5 at epsilon 0.1"):
        plot_certified_accuracy([0.0, 0.1], [0.9, 0.5], [0.9, 0.4])
