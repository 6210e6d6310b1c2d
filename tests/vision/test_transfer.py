"""Transfer: weights come in by name, the head is new, and only the stages that should learn do."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import pellucid
from pellucid.linear_model import Ridge
from pellucid.neural_network import NetworkClassifier
from pellucid.vision.models import FCN, CifarResNet, LeNet5, ResNet, UNet, stages
from pellucid.vision.transfer import fine_tune, load_weights, recommend_transfer, replace_head


def small(seed=0, classes=10):
    torch.manual_seed(seed)
    return CifarResNet(8, classes=classes).build()


def assert_same(one, other, but=()):
    for name, weight in one.state_dict().items():
        if not name.startswith(but):
            assert torch.equal(weight, other.state_dict()[name]), name


# loading


def test_weights_come_from_a_state_dict_a_plain_file_or_a_file_of_ours(tmp_path):
    source = small(1)
    save_file(source.state_dict(), tmp_path / "plain.safetensors")
    pellucid.save(source, tmp_path / "ours.safetensors")
    arrays = {name: weight.numpy() for name, weight in source.state_dict().items()}
    files = (tmp_path / "plain.safetensors", str(tmp_path / "ours.safetensors"))
    for weights in (source, source.state_dict(), arrays, *files):
        module = small(2)
        assert load_weights(module, weights) is module
        assert_same(module, source)


def test_a_head_of_another_size_is_left_out():
    source, module = small(1), small(2, classes=3)
    head = module.fc.weight.clone()
    load_weights(module, source.state_dict(), without=("fc.",))
    assert_same(module, source, but=("fc.",))
    assert torch.equal(module.fc.weight, head)


def test_older_state_dicts_do_not_count_batches():
    source = {name: w for name, w in small(1).state_dict().items() if not name.endswith("num_batches_tracked")}
    assert torch.equal(load_weights(small(2), source).conv1.weight, source["conv1.weight"])


def test_other_names_and_shapes_are_refused_and_nothing_is_loaded():
    module = small(2)
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    source = small(1).state_dict()
    with pytest.raises(ValueError, match="weight 'conv1.weight' must be there, but it is missing"):
        load_weights(module, {name: w for name, w in source.items() if name != "conv1.weight"})
    with pytest.raises(ValueError, match="weight 'extra' must be absent"):
        load_weights(module, {**source, "extra": torch.zeros(1)})
    with pytest.raises(ValueError, match=r"fc.bias must have shape \(10,\), got \(3,\). Leave it out"):
        load_weights(module, {**source, "fc.bias": torch.zeros(3)})
    with pytest.raises(ValueError, match="fc.bias must be numbers such as torch.float32, got torch.int64"):
        load_weights(module, {**source, "fc.bias": torch.zeros(10, dtype=torch.int64)})
    assert all(torch.equal(weight, before[name]) for name, weight in module.state_dict().items())


def test_weights_come_from_the_file_of_a_fitted_network_and_of_no_other_model(tmp_path):
    images, codes = torch.rand(12, 3, 8, 8).numpy(), torch.arange(12).numpy() % 3
    model = NetworkClassifier(CifarResNet(8, classes=None), epochs=1, random_state=0).fit(images, codes)
    pellucid.save(model, tmp_path / "fitted.safetensors")
    assert_same(load_weights(small(classes=3), tmp_path / "fitted.safetensors"), model.module_)
    pellucid.save(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "ridge.safetensors")
    with pytest.raises(TypeError, match="must be a torch module or a fitted network .*, got Ridge"):
        load_weights(small(), tmp_path / "ridge.safetensors")


def test_a_file_that_is_not_safetensors_is_refused(tmp_path):
    torch.save(small().state_dict(), tmp_path / "weights.pt")
    with pytest.raises(ValueError, match=r"must be a safetensors file, got .*weights.pt.*weights_only=True"):
        load_weights(small(), tmp_path / "weights.pt")
    with pytest.raises(FileNotFoundError):
        load_weights(small(), tmp_path / "missing.safetensors")


def test_beginnings_may_be_one_text_or_several():
    source = small(1).state_dict()
    for without in ("fc.", ["fc."], ("fc.",)):
        assert load_weights(small(2, classes=3), source, without=without).fc.weight.shape == (3, 64)


# a new head


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (small(), "fc"),
        (LeNet5().build(), "output"),
        (UNet(width=2).build(), "scores"),
        (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double(), "2"),
        (nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 2), nn.Sigmoid())), "1.0"),
    ],
    ids=["residual", "LeNet", "UNet", "sequence", "nested"],
)
def test_a_new_head_has_other_classes_and_the_rest_is_the_same(module, name):
    changed = replace_head(module, 7)
    weight = changed.get_submodule(name).weight
    assert len(weight) == 7
    assert weight.dtype == module.get_submodule(name).weight.dtype
    assert_same(changed, module, but=(f"{name}.",))
    assert len(module.get_submodule(name).weight) != 7


def test_a_network_with_a_new_head_is_saved(tmp_path):
    changed = replace_head(small(), 3)
    assert changed.architecture == CifarResNet(8, classes=3)
    pellucid.save(changed, tmp_path / "network.safetensors")
    assert_same(pellucid.load(tmp_path / "network.safetensors"), changed)


def test_heads_that_are_more_than_a_layer_are_refused():
    with torch.device("meta"):
        networks = [FCN(8).build(), LeNet5(form="published").build()]
    for module, head in zip(networks, ("ModuleDict", "NearestCode"), strict=True):
        with pytest.raises(ValueError, match=f"must be linear, or a convolution of 1 x 1, .* got {head}"):
            replace_head(module, 3)
    with pytest.raises(ValueError, match="must have layers with weights inside to get a new head, got ReLU"):
        replace_head(nn.ReLU(), 3)
    with pytest.raises(ValueError, match="classes must be at least 1, got 0"):
        replace_head(small(), 0)
    with pytest.raises(TypeError, match="classes must be a whole number, got 3.0"):
        replace_head(nn.Sequential(nn.Linear(2, 2)), 3.0)


# fine-tuning


def test_the_last_stages_learn_at_their_own_rates():
    module = small()
    groups = fine_tune(module, (0.01, 0.1))
    assert [stage[0].training for stage in stages(module).values()] == [False, False, False, True, True]
    assert [group["lr"] for group in groups] == [0.01, 0.1]
    assert [id(w) for w in groups[0]["params"]] == [id(w) for w in module.layer3.parameters()]
    assert [id(w) for w in groups[1]["params"]] == [id(w) for w in module.fc.parameters()]


def test_a_step_changes_what_learns_and_nothing_else():
    module = small()
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    optimizer = torch.optim.SGD(fine_tune(module, {"layer2": 0.1, "head": 0.1}))
    module.train()
    module(torch.rand(4, 3, 8, 8)).square().sum().backward()
    optimizer.step()
    changed = {
        name.split(".")[0] for name, weight in module.state_dict().items() if not torch.equal(weight, before[name])
    }
    assert changed == {"layer2", "fc"}  # batch statistics of the frozen stages are kept, too


def test_all_can_be_frozen_and_freed_again():
    module = small()
    assert fine_tune(module, ()) == []
    assert not any(weight.requires_grad for weight in module.parameters())
    fine_tune(module, (0.1,) * len(stages(module)))
    assert all(weight.requires_grad for weight in module.parameters())
    assert all(stage.training for layers in stages(module).values() for stage in layers)


def test_a_test_network_stays_in_test_mode():
    module = small().eval()
    fine_tune(module, (0.1,))
    assert not module.training


@pytest.mark.parametrize(
    ("rates", "sentence"),
    [
        ({"layer9": 0.1}, "a stage must be one of .*'stem'.*, got 'layer9'"),
        ((0.1,) * 6, "at most 5 learning rates, one per stage, got 6"),
        ((0.0,), "learning rate of head must be above 0, got 0.0"),
        ((float("nan"),), "learning rate of head must be above 0, got nan"),
        ((float("inf"),), "learning rate of head must be above 0, got inf"),
        (("fast",), "learning rate of head must be a number above 0, got 'fast'"),
        (0.1, r"rates must be several, the head's last, or a dict by stage, got 0.1. Write \(rate,\)"),
    ],
)
def test_impossible_rates_are_refused_and_nothing_is_frozen(rates, sentence):
    module = small()
    with pytest.raises((ValueError, TypeError), match=sentence):
        fine_tune(module, rates)
    assert all(weight.requires_grad for weight in module.parameters())


# which way


@pytest.mark.parametrize(
    ("rows", "similarity", "way"),
    [
        (10, "same", "head"),
        (50, "related", "last stages"),
        (250, "related", "all stages"),
        (4000, "related", "all stages"),
        (50, "different", "from scratch"),
        (1000, "different", "all stages"),
    ],
)
def test_the_recommendation_is_what_the_experiment_found(rows, similarity, way):
    plan = recommend_transfer(rows, similarity)
    assert plan.way == way
    assert str(plan).startswith(f"{way}: ")


def test_a_recommendation_needs_rows_and_a_known_similarity():
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        recommend_transfer(0, "same")
    with pytest.raises(ValueError, match="similarity must be one of .*, got 'alike'"):
        recommend_transfer(10, "alike")


def test_stages_of_a_residual_network_have_names():
    with torch.device("meta"):
        assert list(stages(ResNet(50).build())) == ["stem", "layer1", "layer2", "layer3", "layer4", "head"]
