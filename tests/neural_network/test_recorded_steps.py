"""Steps that a card gets as recordings: the same loop, wherever all parts of a step are known."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

from pellucid.neural_network import NetworkClassifier  # noqa: E402  (after torch is known to be there)
from pellucid.neural_network.training import recorded_steps, trainer  # noqa: E402
from pellucid.neural_network.training.device_rows import DeviceRows  # noqa: E402
from pellucid.neural_network.training.movers import mover_for  # noqa: E402
from pellucid.neural_network.training.recipe import TrainingRecipe  # noqa: E402
from pellucid.neural_network.training.recorded_steps import RecordedSteps, can_be_recorded  # noqa: E402
from pellucid.neural_network.training.trainer import cross_entropy  # noqa: E402
from pellucid.optimize import Adam, CosineDecay  # noqa: E402
from pellucid.vision.augmentation import Shift  # noqa: E402
from pellucid.vision.models import LeNet5  # noqa: E402


@pytest.fixture
def as_on_a_card(monkeypatch):
    """Let steps on the processor be made as those on a card are; return how many of full batches were made so."""
    made = []

    class Counted(RecordedSteps):
        def __call__(self, places):
            made.append(len(places))
            return super().__call__(places)

    monkeypatch.setattr(recorded_steps, "records_on", lambda _: True)
    monkeypatch.setattr(trainer, "RecordedSteps", Counted)
    return made


def digits(n=70):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.random((n, 1, 28, 28)).astype(np.float32) * 0.2
    for k, label in enumerate(y):
        X[k, 0, 8 * label : 8 * label + 8] += 1.0
    return X, y


def fitted(X, y, **settings):
    options = {"epochs": 3, "batch_size": 16, "learning_rate": CosineDecay(0.01, length=3), "method": "adamw"}
    changes = {"augmentation": (Shift(2),), "random_state": 5, "device": "cpu", **settings}
    return NetworkClassifier(LeNet5(classes=3), **options | changes).fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"method": "sgd", "weight_decay": 0.01}, {"precision": "bfloat16"}])
def test_a_recorded_run_is_the_plain_one(settings, request):
    X, y = digits()
    plain = fitted(X, y, **settings)
    made = request.getfixturevalue("as_on_a_card")
    recorded = fitted(X, y, **settings)
    assert made == [16] * 12  # four of each epoch; the last six rows are learned as ever
    for name, weight in plain.weights_.items():  # rates are rounded to float32, as a card reads them
        np.testing.assert_allclose(recorded.weights_[name], weight, rtol=1e-3, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(recorded.trace_["objective"], plain.trace_["objective"], rtol=1e-4)


def test_a_recorded_run_goes_on_from_its_file_to_the_same_bits(as_on_a_card, tmp_path):
    X, y = digits()
    file = tmp_path / "run.safetensors"
    fitted(X, y, epochs=2, checkpoint=file)
    whole, resumed = fitted(X, y), fitted(X, y, checkpoint=file)
    assert len(resumed.trace_["objective"]) == 3
    assert whole.weights_digest_ == resumed.weights_digest_
    assert len(as_on_a_card) == 4 * (2 + 3 + 1)


def test_the_same_seed_gives_the_same_bits(as_on_a_card):
    X, y = digits()
    assert fitted(X, y).weights_digest_ == fitted(X, y).weights_digest_
    assert fitted(X, y).weights_digest_ != fitted(X, y, random_state=6).weights_digest_


class Noisy(nn.Module):
    """A layer that draws from NumPy, as a recording cannot."""

    def forward(self, rows):
        return rows * np.random.default_rng().random()


def our_loss(network, batch):
    return cross_entropy(network(batch.inputs), batch.targets, batch.weight)


our_loss.__module__ = "pellucid.losses"  # stands for one of ours


@pytest.mark.parametrize(
    ("known", "change"),
    [
        (True, {}),
        (True, {"precision": "bfloat16", "clip_norm": 1.0}),
        (False, {"method": Adam(0.1)}),
        (False, {"method": lambda groups: torch.optim.SGD(groups, lr=0.1)}),
        (False, {"augmentation": (lambda images, targets, draws: (images, targets),)}),
        (False, {"module": nn.Sequential(nn.Linear(2, 2), Noisy())}),
        (False, {"hooked": True}),
        (False, {"loss": lambda network, batch: network(batch.inputs).sum()}),
        (False, {"rows": object()}),
    ],
)
def test_only_what_is_known_is_recorded(known, change, monkeypatch):
    rows = DeviceRows(torch.zeros(4, 2), torch.zeros(4, dtype=torch.int64))
    module = change.pop("module", nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 2)))
    if change.pop("hooked", False):
        module[0].register_forward_hook(lambda *_: None)
    given = change.pop("rows", rows), change.pop("loss", our_loss)
    recipe = TrainingRecipe(batch_size=2, **change)
    mover = mover_for(module, recipe)
    assert not can_be_recorded(module, *given, mover, recipe)  # the processor has no launches to record
    monkeypatch.setattr(recorded_steps, "records_on", lambda _: True)
    assert can_be_recorded(module, *given, mover, recipe) is known


def test_a_step_that_waits_is_never_recorded():
    asked = []
    steps = RecordedSteps(lambda places: asked.append(1) or places.sum(), 2, torch.device("cpu"), ())
    steps._waits = True
    assert float(steps(torch.tensor([3, 4]))) == 7.0
    assert not steps.places.any()
