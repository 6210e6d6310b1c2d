"""A network's file holds its settings and weights: the same bits come back, and whatever else is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, fields

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import nn

import pellucid
from pellucid.core.files import ModelFileError, NotSaveableError, SchemaError
from pellucid.core.files.container import UNSEALED
from pellucid.core.files.saving import model_bytes
from pellucid.core.kinds.pages import WritePage
from pellucid.neural_network import Architecture, DenseNetwork
from pellucid.neural_network.modules.network_weights import module_from, weights_of
from pellucid.neural_network.network_kinds import ARCHITECTURE, ARCHITECTURES, WEIGHTS
from pellucid.vision.models import LeNet5, ResNet
from tests.core.files.fuzz import fuzz, join, split

LENET = LeNet5()


def network(architecture=LENET, seed=0):
    torch.manual_seed(seed)
    return architecture.build().eval()


def again(model, tmp_path):
    pellucid.save(model, tmp_path / "network.safetensors")
    return pellucid.load(tmp_path / "network.safetensors")


def forged(model, change, tmp_path):
    """Save the model, let ``change`` work on the document, seal it again and load it."""
    header, data = split(model_bytes(model))
    document = json.loads(header["__metadata__"]["pellucid"]) | {"sha256": UNSEALED}
    change(document["model"])
    header["__metadata__"]["pellucid"] = json.dumps(document, separators=(",", ":"))
    path = tmp_path / "forged.safetensors"
    path.write_bytes(join(header, data))
    return pellucid.load(path)


def assert_same_bits(one, other):
    assert list(one.state_dict()) == list(other.state_dict())
    for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


@pytest.mark.parametrize("architecture", [LeNet5(), LeNet5(form="published"), LeNet5(7, 2)], ids=str)
def test_a_network_comes_back_with_the_same_bits_in_test_mode(architecture, tmp_path):
    module = network(architecture)
    found = again(module, tmp_path)
    assert_same_bits(module, found)
    assert found.architecture == architecture
    assert not found.training
    images = torch.rand(3, architecture.channels, 28, 28)
    assert torch.equal(module(images), found(images))
    assert all(weight.requires_grad for weight in found.parameters())


def test_batch_statistics_are_part_of_the_file(tmp_path):
    module = network(ResNet(18, classes=2))
    module.train()(torch.rand(2, 3, 32, 32))
    assert_same_bits(module, again(module.eval(), tmp_path))
    assert module.bn1.num_batches_tracked == 1


def test_a_module_that_does_not_know_its_architecture_is_saved_beside_it(tmp_path):
    module = network()
    del module.architecture
    assert again((LeNet5(), module), tmp_path).architecture == LeNet5()


def test_a_dense_network_is_saved_too(tmp_path):
    architecture = DenseNetwork(3, 2, hidden=(4, 5), activation="maxout", dropout=0.5, batch_normalization=True)
    module = network(architecture)
    found = again((architecture, module), tmp_path)
    assert_same_bits(module, found)
    assert_same_bits(module, again(found, tmp_path))


def test_double_precision_stays(tmp_path):
    assert_same_bits(network().double(), again(network().double(), tmp_path))


def test_the_file_is_a_plain_safetensors_file(tmp_path):
    pellucid.save(network(), tmp_path / "network.safetensors")
    arrays = load_file(tmp_path / "network.safetensors")
    assert sum(array.size for array in arrays.values()) == 61_706


def test_resnet_50_is_saved_and_loaded_in_a_second(tmp_path):
    module = ResNet(50).build()
    again(network(), tmp_path)  # imports
    start = time.perf_counter()
    pellucid.save(module, tmp_path / "resnet.safetensors")
    middle = time.perf_counter()
    pellucid.load(tmp_path / "resnet.safetensors")
    assert max(middle - start, time.perf_counter() - middle) < 3.0  # 0.5 s; three times and more for a busy machine


def test_kinds_are_there_without_torch():
    code = "import sys, pellucid.neural_network.network_kinds; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_registered_architecture_says_what_each_setting_may_be(name):
    kind = ARCHITECTURE.find_class(name)
    assert list(kind.settings) == [field.name for field in fields(kind)]


@dataclass(frozen=True)
class Own(Architecture):
    def build(self):
        return nn.Linear(2, 2)


@pytest.mark.parametrize("model", [(Own(), nn.Linear(2, 2)), (LeNet5(), nn.Linear(2, 2))], ids=["unknown", "other"])
def test_what_is_not_a_network_of_the_library_is_not_saved(model, tmp_path):
    with pytest.raises(NotSaveableError, match="must be one of the architectures|must have the weights of LeNet5"):
        pellucid.save(model, tmp_path / "network.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [(), (1, 2), nn.Linear(2, 2), "text"], ids=repr)
def test_what_is_not_a_model_is_not_saved(model, tmp_path):
    with pytest.raises(NotSaveableError, match="must be of a class in the registry"):
        pellucid.save(model, tmp_path / "network.safetensors")


def test_a_subclass_is_not_the_architecture():
    class LeNet5Plus(LeNet5):
        pass

    LeNet5Plus.__name__ = "LeNet5"
    assert not ARCHITECTURE.fits(LeNet5Plus())
    assert ARCHITECTURE.fits(LeNet5())


def test_weights_must_be_numbers():
    assert WEIGHTS.fits(weights_of(network()))
    assert not WEIGHTS.fits({"weight": np.array([np.nan], np.float32)})
    assert not WEIGHTS.fits({"weight": np.array([1 + 1j])})


def settings_of(node):
    return node["parameters"]["architecture"]


@pytest.mark.parametrize(
    "change",
    [
        lambda node: settings_of(node).update(name="os.system"),
        lambda node: settings_of(node).update(name="Own"),
        lambda node: settings_of(node)["record"].update(classes=2**62),
        lambda node: settings_of(node)["record"].update(classes=11),
        lambda node: settings_of(node)["record"].update(classes=None),
        lambda node: settings_of(node)["record"].update(channels=4096),
        lambda node: settings_of(node)["record"].update(channels=-1),
        lambda node: settings_of(node)["record"].update(form="published"),
        lambda node: settings_of(node)["record"].update(form="evil"),
        lambda node: settings_of(node)["record"].update(extra=1),
        lambda node: settings_of(node)["record"].pop("form"),
        lambda node: node["parameters"].update(architecture={"name": "ResNet", "record": {"depth": 50}}),
        lambda node: node["attributes"]["weights"]["dict"].pop(),
        lambda node: node["attributes"]["weights"]["dict"][0].__setitem__(0, "C1.weights"),
        lambda node: node["attributes"]["weights"]["dict"][0].__setitem__(0, "C1.bias"),
        lambda node: node.update(attributes=None),
        lambda node: node.update(output="pandas"),
    ],
)
def test_forged_documents_are_refused(change, tmp_path):
    with pytest.raises(SchemaError):
        forged(network(), change, tmp_path)


def test_a_forged_depth_is_refused_before_anything_is_built(tmp_path):
    with pytest.raises(SchemaError, match="depth must be one of"):
        forged(network(ResNet(18, classes=1)), lambda node: settings_of(node)["record"].update(depth=10**9), tmp_path)


def test_weights_of_two_precisions_are_refused():
    weights = weights_of(network())
    weights["F6.bias"] = weights["F6.bias"].astype(np.float64)
    with pytest.raises(ValueError, match="one precision, got \\['float32', 'float64'\\]"):
        module_from(LeNet5(), weights)


def test_weights_of_the_wrong_kind_are_refused():
    weights = weights_of(network())
    weights["F6.bias"] = weights["F6.bias"].astype(np.int64)
    with pytest.raises(ValueError, match="F6.bias must be of shape \\(84,\\) and torch.float32, got .* int64"):
        module_from(LeNet5(), weights)


def test_mutated_files_are_refused_or_valid():
    counts = fuzz(150, seed=3, originals=[model_bytes(network()), model_bytes(network(LeNet5(2, 1, "published")))])
    assert sum(counts.values()) == 150
    assert {outcome.split(": ")[1] for outcome in counts} >= {"SchemaError", "DamagedFileError", "NotAModelFileError"}


def test_errors_of_files_are_one_family():
    assert issubclass(SchemaError, ModelFileError)
    assert isinstance(ARCHITECTURE.write(LeNet5(), WritePage(), "module"), dict)
