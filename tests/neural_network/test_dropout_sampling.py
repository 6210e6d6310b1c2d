"""predict_with_dropout: means and spreads that can be worked out, by seed, without traces."""

import numpy as np
import pytest
import torch
from torch import nn

from pellucid.neural_network import predict_with_dropout
from pellucid.neural_network.uncertainty import dropout_sampling
from tests.neural_network.networks import dense, inputs


def dropped_sum(share):
    """The sum of four inputs, each left out with a probability, the others made larger."""
    module = nn.Sequential(nn.Dropout(share), nn.Linear(4, 1, bias=False))
    module[1].weight.data.fill_(1.0)
    return module


# by hand


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_mean_and_spread_of_a_sum_with_missing_terms(share):
    # each x / (1 - p) is kept with probability 1 - p: mean x, variance x^2 p / (1 - p)
    X = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 5.0]])
    samples = 20000
    found = predict_with_dropout(dropped_sum(share), X, samples=samples)
    spread = np.sqrt((X**2).sum(1) * share / (1 - share))
    np.testing.assert_allclose(found.mean[:, 0], X.sum(1), atol=5 * spread.max() / np.sqrt(samples))
    np.testing.assert_allclose(found.spread[:, 0], spread, rtol=0.05)
    assert found.entropy is None
    assert found.mutual_information is None


def test_the_spread_of_two_masks_is_that_of_a_sample():
    # 0 and 2: mean 1, squared deviations 1 + 1, over 2 - 1
    found = predict_with_dropout(dropped_sum(0.5), np.tile([1.0, 0.0, 0.0, 0.0], (40, 1)), samples=2)
    differ = found.mean[:, 0] == 1.0
    assert 0 < differ.sum() < 40
    np.testing.assert_allclose(found.spread[differ], np.sqrt(2.0))
    np.testing.assert_array_equal(found.spread[~differ], 0.0)


def test_two_equally_likely_and_certain_verdicts_are_all_disagreement():
    # scores 0 and -1000 or 1000 (x kept twice or -1000 alone): each mask is sure, and half of them say each class
    module = nn.Sequential(nn.Dropout(0.5), nn.Linear(1, 1))
    module[1].weight.data.fill_(1.0)
    module[1].bias.data.fill_(-500.0)
    found = predict_with_dropout(module, [[500.0]], samples=4000, probabilities=True)
    np.testing.assert_allclose(found.mean, [[0.5, 0.5]], atol=0.03)
    np.testing.assert_allclose(found.entropy, [np.log(2)], rtol=0.01)
    np.testing.assert_allclose(found.mutual_information, found.entropy, rtol=1e-6)


def test_masks_that_do_not_matter_leave_no_disagreement():
    module = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 2)))
    module[1][1].weight.data.zero_()
    found = predict_with_dropout(module, [[1.0, 2.0]], probabilities=True)
    assert found.spread.max() < 1e-7
    assert found.mutual_information.max() < 1e-7
    assert found.entropy.max() > 0.1


# properties


def test_probabilities_add_up_to_one_and_disagreement_is_part_of_the_doubt():
    found = predict_with_dropout(dense(dropout=0.4), inputs(20, 4), samples=50, probabilities=True)
    np.testing.assert_allclose(found.mean.sum(1), 1.0)
    assert (found.mutual_information >= 0).all()
    assert (found.mutual_information <= found.entropy).all()
    assert found.spread.shape == found.mean.shape == (20, 3)


def test_an_estimator_with_classes_gives_probabilities():
    class Fitted:
        module_ = dense(dropout=0.4)
        classes_ = np.arange(3)

    np.testing.assert_allclose(predict_with_dropout(Fitted(), inputs(3, 4)).mean.sum(1), 1.0)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    module, X = dense(dropout=0.4), inputs(5, 4)
    first, again, other = (predict_with_dropout(module, X, random_state=seed).mean for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_every_row_and_every_mask_draws_its_own(monkeypatch):
    module = dropped_sum(0.5)
    same = np.ones((4, 4))
    found = predict_with_dropout(module, same, samples=9)
    assert len(np.unique(found.mean)) > 1
    monkeypatch.setattr(dropout_sampling, "BATCH", 5)  # several passes for one row
    few = predict_with_dropout(module, same, samples=9)
    assert few.mean.shape == found.mean.shape
    assert (few.spread > 0).all()


def test_the_module_its_modes_and_torchs_generator_are_left_as_they_were():
    module = dense(dropout=0.4, batch_normalization=True)
    module[0].train()
    modes = [layer.training for layer in module.modules()]
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state = torch.get_rng_state()
    predict_with_dropout(module, inputs(5, 4))
    assert [layer.training for layer in module.modules()] == modes
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


def test_one_mask_has_no_spread():
    assert (predict_with_dropout(dropped_sum(0.5), inputs(2, 4), samples=1).spread == 0).all()


# errors


def test_a_module_without_dropout_is_refused():
    with pytest.raises(ValueError, match="model must have a dropout layer whose share is above 0, got none"):
        predict_with_dropout(dense(), inputs(2, 4))
    with pytest.raises(ValueError, match="samples must be at least 1, got 0"):
        predict_with_dropout(dropped_sum(0.5), inputs(2, 4), samples=0)
    with pytest.raises(ValueError, match="X must be finite"):
        predict_with_dropout(dropped_sum(0.5), [[np.nan] * 4])


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.empty((0, 4)), "X must have at least one row, got none"),
        (np.ones((2, 3)), r"X must have rows that the module takes, got shape \(3,\)"),
        (np.ones(4), r"X must be numbers of shape \(n_samples, ...\), got shape \(4,\)"),
        ([["a"] * 4], "X must be numbers"),
        ([[np.inf] * 4], "X must be finite"),
    ],
)
def test_rows_that_the_module_cannot_take_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        predict_with_dropout(dropped_sum(0.5), X)


def test_a_seed_is_a_whole_number():
    with pytest.raises(TypeError, match="random_state must be a whole number, got None"):
        predict_with_dropout(dropped_sum(0.5), inputs(2, 4), random_state=None)
