"""The trainer: any module, rows and loss; what later rooms stand on."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

from pellucid.neural_network.training.checkpoints import Checkpoint  # noqa: E402  (after torch is known to be there)
from pellucid.neural_network.training.device_rows import DeviceRows  # noqa: E402
from pellucid.neural_network.training.recipe import Patience, TrainingRecipe  # noqa: E402
from pellucid.neural_network.training.trainer import EPOCH_SEED, train  # noqa: E402
from pellucid.optimize import CosineDecay  # noqa: E402
from pellucid.vision.augmentation import Crop, Flip  # noqa: E402

entropy = nn.functional.cross_entropy


class Pair(NamedTuple):
    """A batch of a kind that the trainer does not know."""

    inputs: torch.Tensor
    targets: torch.Tensor
    places: list


class Pairs:
    """Rows of our own, which write down what is taken."""

    weight = None

    def __init__(self, n=10):
        self.X, self.taken = torch.arange(float(n))[:, None], []

    def __len__(self):
        return len(self.X)

    def take(self, places):
        self.taken.append(places.tolist())
        return Pair(self.X[places], self.X[places], places.tolist())


def distance(module, batch):
    assert batch.inputs.flatten().tolist() == [float(place) for place in batch.places]
    return (module(batch.inputs) - batch.targets).square().mean()


def line(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(1, 1)


def steps(rates=0.0, **settings):
    """A recipe whose optimizer does nothing, or plain descent at a rate."""
    return TrainingRecipe(method="sgd", learning_rate=rates or 1e-30, batch_size=4, **settings)


def test_every_epoch_takes_every_row_once_in_an_order_of_its_own():
    rows = Pairs()
    train(line(), rows, distance, steps(epochs=3))
    epochs = [[*chain(*rows.taken[k : k + 3])] for k in (0, 3, 6)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert [len(batch) for batch in rows.taken[:3]] == [4, 4, 2]


def test_it_is_the_loop_that_one_would_write_by_hand():
    torch.manual_seed(0)
    X, y = torch.randn(21, 3, 8, 8, dtype=torch.float64), torch.randint(0, 4, (21,))
    changes, epochs, seed = (Flip(), Crop(padding=2)), 3, 12345

    def network():
        torch.manual_seed(7)
        layers = nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.Flatten(), nn.Linear(5 * 36, 4)
        return nn.Sequential(*layers).double()

    trained, by_hand = network(), network()
    options = {"method": "sgd", "learning_rate": CosineDecay(0.1, length=epochs), "weight_decay": 0.01, "batch_size": 8}
    recipe = TrainingRecipe(epochs=epochs, augmentation=changes, seed=seed, **options)
    train(trained, DeviceRows(X, y), lambda net, batch: entropy(net(batch.inputs), batch.targets), recipe)
    optimizer = torch.optim.SGD(by_hand.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * 3)
    by_hand.train()
    for epoch in range(epochs):
        draws = torch.Generator().manual_seed(seed * EPOCH_SEED + epoch)
        torch.manual_seed(seed * EPOCH_SEED + epoch)
        for places in torch.randperm(21).split(8):
            images, labels = X[places], y[places]
            for change in changes:
                images, labels = change(images, labels, draws)
            optimizer.zero_grad()
            entropy(by_hand(images), labels).backward()
            optimizer.step()
            schedule.step()
    for own, other in zip(trained.state_dict().values(), by_hand.state_dict().values(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-11, atol=1e-13)


def test_the_order_depends_on_the_seed_alone():
    orders = []
    for seed in (1, 1, 2):
        torch.manual_seed(len(orders))
        rows = Pairs()
        train(line(), rows, distance, steps(epochs=2, seed=seed))
        orders.append(rows.taken)
    assert orders[0] == orders[1] != orders[2]


def test_a_schedule_sees_the_time_within_an_epoch():
    seen = []

    def rate(time):
        seen.append(time)
        return 1e-30

    train(line(), Pairs(8), distance, steps(rate, epochs=2))
    assert sorted(set(seen)) == [0.0, 0.5, 1.0, 1.5]


def test_a_schedule_may_warm_up_from_0():
    module, before = line(), line().weight.item()
    moved = []
    train(
        module,
        Pairs(),
        distance,
        steps(lambda time: 0.001 * int(time), epochs=2),
        watch=lambda run: moved.append(module.weight.item() != before),
    )
    assert moved == [False, True]


def test_layers_learn_in_training_mode_and_are_scored_in_test_mode():
    modes = []

    def loss(module, batch):
        modes.append(module.training)
        return distance(module, batch)

    def score(module):
        modes.append(module.training)
        return 0.0

    train(line().eval(), Pairs(4), loss, steps(epochs=2), score=score)
    assert modes == [True, False, True, False]


def test_changes_of_a_batch_keep_what_else_is_in_it():
    def shift(inputs, targets, draws):
        assert isinstance(draws, torch.Generator)
        return inputs + 1.0, targets

    def loss(module, batch):
        assert batch.inputs.flatten().tolist() == [place + 1.0 for place in batch.places]
        return module(batch.inputs).sum()

    train(line(), Pairs(), loss, steps(epochs=1, augmentation=(shift,)))


def test_of_equal_scores_the_first_is_kept():
    module, scores, weights = line(), iter([0.5, 0.9, 0.9, 0.1]), []

    def score(module):
        weights.append(module.weight.item())
        return next(scores)

    run = train(module, Pairs(), distance, steps(1e-3, epochs=4), score=score)
    assert run.patience.best_epoch == 2
    assert module.weight.item() == weights[1]
    assert len(set(weights)) == 4


def test_a_watch_stops_the_run_and_another_goes_on_from_its_end():
    whole, part = line(), line()
    recipe = steps(1e-3, epochs=5)
    train(whole, Pairs(), distance, recipe)
    run = train(part, Pairs(), distance, recipe, watch=lambda run: run.epochs == 2)
    assert (run.epochs, run.stopped) == (2, "a callback")
    start = Checkpoint(run.epochs, run.snapshot(), run.mover, run.trace, run.patience)
    again = line(seed=7)
    later = train(again, Pairs(), distance, recipe, start=start)
    assert torch.equal(again.weight, whole.weight)
    assert later.trace["iteration"].tolist() == [1, 2, 3, 4, 5]
    assert len(run.trace) == 2  # the old run is as it was


def test_patience_counts_epochs_that_do_not_rise_by_tol():
    patience = Patience(tol=0.5, most=1)
    waited = []
    for epoch, value in enumerate([1.0, 1.4, 2.0, 2.1, 2.2], start=1):
        patience.see(value, epoch, keep=lambda epoch=epoch: epoch)
        waited.append(patience.waited)
    assert waited == [0, 1, 0, 1, 2]
    assert patience.is_out
    assert (patience.best, patience.best_epoch, patience.kept) == (2.2, 5, 5)


def test_the_loss_of_an_epoch_is_the_mean_of_its_batches():
    X = torch.tensor([[1.0], [3.0]])
    module = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(module.weight)
    run = train(module, DeviceRows(X, X), lambda net, batch: distance(net, Pair(*batch[:2], batch[0])), steps(epochs=1))
    assert run.trace["objective"].tolist() == [5.0]  # (1 + 9) / 2


def test_a_run_that_goes_on_from_its_file_for_longer_remembers_the_best_epoch_and_how_long_ago_it_was(tmp_path):
    weights, scores = [], iter([0.9, 0.1, 0.2, 0.3])

    def score(module):
        weights.append(module.weight.item())
        return next(scores)

    file = tmp_path / "run.safetensors"
    for seed, epochs in ((0, 2), (5, 9)):
        module, patience = line(seed), Patience(0.0, most=2)
        recipe = steps(1e-3, epochs=epochs, checkpoint=file)
        run = train(module, Pairs(), distance, recipe, score=score, patience=patience)
    assert (run.epochs, run.stopped) == (4, "patience")
    assert (run.patience.best, run.patience.best_epoch) == (0.9, 1)
    assert module.weight.item() == weights[0]
    assert run.trace["validation_score"].tolist() == [0.9, 0.1, 0.2, 0.3]
    whole = line()
    train(whole, Pairs(), distance, steps(1e-3, epochs=4))
    assert whole.weight.item() == weights[3]
