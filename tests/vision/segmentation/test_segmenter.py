"""Segmenter: learns tiny scenes, keeps to its contract, is saved, verified and attacked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision.models import FCN, DilatedNetwork, EfficientNetLite0, EfficientUNet, ResNetFCN, UNet
from pellucid.vision.scene_augmentation import ColorShift, SceneFlip, SceneScale
from pellucid.vision.segmentation import Segmenter
from pellucid.vision.segmentation.pixel_scores import class_shares, padded, pixel_scores
from pellucid.vision.segmentation.pixel_training import LabeledImages, PixelRows, class_weights_of, pixel_loss

TINY = UNet(None, None, "same", width=4, dropout=0.0, batch_normalization=True)
OPTIONS = {"epochs": 12, "batch_size": 4, "learning_rate": 0.01, "random_state": 0}


def scenes(n=12, seed=0, size=(20, 24), labels=("ground", "ball")):
    """Return bright discs on a dark ground, and what is what."""
    random = np.random.default_rng(seed)
    images, maps = [], []
    for _ in range(n):
        rows, columns = np.ogrid[: size[0], : size[1]]
        y, x, radius = random.uniform(5, size[0] - 5), random.uniform(5, size[1] - 5), random.uniform(3, 6)
        inside = (rows - y) ** 2 + (columns - x) ** 2 < radius**2
        image = np.where(inside, 200, 60) + random.normal(0, 15, size)
        images.append(image.clip(0, 255).astype(np.uint8))
        maps.append(np.where(inside, labels[1], labels[0]))
    return images, maps


@pytest.fixture(scope="module")
def fitted():
    images, maps = scenes()
    return Segmenter(TINY, **OPTIONS).fit(images, maps), images, maps


# by hand


def test_weights_of_classes_by_hand():
    codes = [np.array([[0, 0, 0, 1]]), np.array([[-1, -1, 0, 0]])]
    labeled = LabeledImages([np.zeros((1, 4, 1))] * 2, codes, np.array([3, 7]), None)
    assert class_weights_of(None, labeled).tolist() == [1.0, 1.0]
    assert class_weights_of({7: 4.0}, labeled).tolist() == [1.0, 4.0]
    assert class_weights_of("balanced", labeled).tolist() == [6 / 10, 6 / 2]  # of 6 pixels, 5 and 1
    assert class_weights_of("balanced", replace(labeled, weight=np.array([1.0, 0.0]))).tolist() == [4 / 6, 4 / 2]


def test_the_loss_is_a_mean_over_pixels_that_count():
    class Fixed(nn.Module):
        def forward(self, images):
            return torch.log(torch.tensor([0.25, 0.75]))[None, :, None, None].expand(len(images), 2, 1, 3)

    codes = [np.array([[0, 1, -1]], dtype=np.int16)]
    labeled = LabeledImages([np.zeros((1, 3, 1), np.float32)], codes, np.array([0, 1]), np.array([2.0]))
    rows = PixelRows(labeled, np.array([1.0, 3.0]), torch.zeros(1), (), channels_last=False)
    found = pixel_loss(Fixed(), rows.take(torch.tensor([0])))
    expected = -(np.log(0.25) + 3 * np.log(0.75)) / 4
    assert float(found) == pytest.approx(expected)


def test_images_are_continued_by_their_reflection():
    assert padded(torch.arange(5.0).reshape(1, 1, 1, 5), 4)[0, 0, :, :].shape == (4, 8)
    assert padded(torch.arange(5.0).reshape(1, 1, 1, 5), 8)[0, 0, 0].tolist() == [0, 1, 2, 3, 4, 3, 2, 1]


def test_a_batch_is_as_large_as_its_largest_image():
    images = [np.ones((2, 3, 1), np.float32), np.ones((3, 2, 1), np.float32)]
    labeled = LabeledImages(images, [np.zeros((2, 3), np.int16), np.ones((3, 2), np.int16)], np.arange(2), None)
    batch = PixelRows(labeled, np.ones(2), torch.zeros(1), (), channels_last=False).take(torch.tensor([0, 1]))
    assert batch.inputs.shape == (2, 1, 3, 3)
    assert batch.targets[0].tolist() == [[0, 0, 0], [0, 0, 0], [-1, -1, -1]]
    assert batch.targets[1].tolist() == [[1, 1, -1]] * 3


# what it does


def test_it_learns_to_see_balls(fitted):
    model, _, _ = fitted
    images, maps = scenes(4, seed=9)
    score = model.evaluate(images, maps)
    assert score.mean_iou > 0.8
    assert model.score(images, maps) == score.mean_iou
    predicted = model.predict(images)
    assert pellucid.verify(score, maps, predicted).holds
    assert predicted[0].dtype == maps[0].dtype


def test_probabilities_sum_to_one_and_agree_with_the_labels(fitted):
    model, images, _ = fitted
    shares, labels = model.predict_proba(np.stack(images)), model.predict(np.stack(images))
    assert shares.shape == (12, 20, 24, 2)
    np.testing.assert_allclose(shares.sum(axis=3), 1.0, rtol=1e-5)
    assert (model.classes_[shares.argmax(axis=3)] == labels).all()


def test_a_seed_gives_the_same_bits(fitted):
    model, images, maps = fitted
    again = clone(model).fit(images, maps)
    assert again.weights_digest_ == model.weights_digest_


@pytest.mark.parametrize(
    "network",
    [
        None,
        FCN(8, None, None, width=2, batch_normalization=True),
        DilatedNetwork(None, None, width=2, stride=2, form="basic"),
        lambda: nn.Conv2d(1, 2, 3, padding=1),
    ],
    ids=["default", "fcn", "dilated", "function"],
)
def test_all_networks_train(network):
    images, maps = scenes(3, size=(17, 21))
    model = Segmenter(network, epochs=1, batch_size=3, random_state=0).fit(images, maps)
    assert model.predict(images)[0].shape == (17, 21)
    assert np.isfinite(model.trace_["objective"]).all()
    assert not pellucid.verify(model, images, maps).failed


def test_a_second_head_counts_half_while_it_trains():
    module = ResNetFCN(50, 2, 1).build()
    labeled = LabeledImages(
        [np.zeros((33, 33, 1), np.float32)] * 2, [np.zeros((33, 33), np.int16)] * 2, np.arange(2), None
    )
    batch = PixelRows(labeled, np.ones(2), torch.zeros(1), (), channels_last=False).take(torch.tensor([0, 1]))
    module.eval()
    alone = pixel_loss(module, batch)
    module.training = True  # layers stay in test mode, so that both give the same scores
    first, second = module.both_scores(batch.inputs)
    expected = nn.functional.cross_entropy(first, batch.targets) + 0.5 * nn.functional.cross_entropy(
        second, batch.targets
    )
    torch.testing.assert_close(pixel_loss(module, batch), expected)
    torch.testing.assert_close(alone, nn.functional.cross_entropy(first, batch.targets))


def test_images_of_several_sizes_ignored_pixels_weights_and_changes_go_together():
    images, maps = scenes(4, labels=(0, 5))
    more, others = scenes(4, seed=1, size=(16, 40), labels=(0, 5))
    maps[0][:3] = 255
    model = Segmenter(
        TINY,
        **OPTIONS,
        ignore_label=255,
        class_weight="balanced",
        augmentation=(SceneFlip(), SceneScale(0.8, 1.25), ColorShift()),
        validation_fraction=0.25,
    ).fit(images + more, maps + others, sample_weight=[1, 1, 1, 1, 2, 2, 2, 0])
    assert model.classes_.tolist() == [0, 5]
    assert "validation_score" in model.trace_.frame()
    assert [one.shape for one in model.predict([images[0], more[0]])] == [(20, 24), (16, 40)]
    weight = [1, 1, 1, 1, 2, 2, 2, 0]
    assert not pellucid.verify(model, images + more, maps + others, sample_weight=weight).failed


def test_a_label_map_moves_with_its_image():
    images, maps = scenes(1)
    labeled = LabeledImages([images[0][:, :, None]], [(maps[0] == "ball").astype(np.int16)], np.arange(2), None)
    rows = PixelRows(labeled, np.ones(2), torch.zeros(1), (SceneFlip(1.0), SceneScale(0.7, 1.5)), channels_last=True)
    torch.manual_seed(0)
    for _ in range(5):
        batch = rows.take(torch.tensor([0]))
        bright = batch.inputs[0, 0] > 0.5
        agree = (bright == (batch.targets[0] == 1))[batch.targets[0] >= 0]
        assert agree.float().mean() > 0.93  # but for pixels at the border of the ball


def test_tiles_that_overlap_agree_with_the_whole_where_the_network_sees_little():
    torch.manual_seed(0)
    module = nn.Conv2d(1, 3, 5, padding=2).double().requires_grad_(False)
    image = torch.rand(1, 1, 50, 37, dtype=torch.float64)
    whole, tiled = pixel_scores(module, image).softmax(dim=1), class_shares(module, image, tile=20, overlap=8)
    torch.testing.assert_close(tiled.sum(dim=1), torch.ones(1, 50, 37, dtype=torch.float64))
    assert float((whole - tiled).abs().max()) < 0.1
    point = nn.Conv2d(1, 3, 1).double()  # sees one pixel: tiles do not matter
    torch.testing.assert_close(class_shares(point, image, 20, 8), pixel_scores(point, image).softmax(dim=1))


def test_large_images_are_predicted_in_tiles(fitted):
    model, _, _ = fitted
    images, _ = scenes(1, seed=3, size=(70, 90))
    whole = model.predict(images)[0]
    model.set_params(tile=32, overlap=16)
    try:
        assert (model.predict(images)[0] == whole).mean() > 0.95
    finally:
        model.set_params(tile=None, overlap=32)


# evidence and files


def test_a_file_gives_the_same_predictions_and_proof(fitted, tmp_path):
    model, images, maps = fitted
    pellucid.save(model, tmp_path / "model.safetensors")
    loaded = pellucid.load(tmp_path / "model.safetensors")
    assert (loaded.predict(images)[0] == model.predict(images)[0]).all()
    assert not pellucid.verify(loaded, images, maps).failed
    assert loaded.architecture_ == model.architecture_


def test_the_certificate_is_found_again(fitted):
    model, images, maps = fitted
    found = pellucid.verify(model, images, maps)
    assert not found.failed
    assert found["score"].value == 0.0
    assert {"objective", "gradient", "backward pass"} <= {claim.name for claim in found.claims}
    assert not model.certificate_.failed


@pytest.mark.parametrize(
    "attack", ["weights_", "training_score_", "classes_", "weights_digest_", "channels_", "epochs"]
)
def test_a_changed_model_does_not_verify(fitted, attack):
    model, images, maps = fitted
    other = clone(model)
    for name, value in vars(model).items():
        setattr(other, name, value)
    if attack == "weights_":
        name = next(iter(model.weights_))
        other.weights_ = {**model.weights_, name: model.weights_[name] * 1.001}
    elif attack == "classes_":
        other.classes_ = model.classes_[::-1].copy()
    elif attack == "weights_digest_":
        other.weights_digest_ = "0" * len(model.weights_digest_)
    else:
        setattr(other, attack, getattr(model, attack) + 1)
    with pytest.warns(UncertifiedWarning):
        assert pellucid.verify(other, images, maps).failed


def test_other_images_do_not_verify(fitted):
    model, images, maps = fitted
    with pytest.warns(UncertifiedWarning):
        assert pellucid.verify(model, images[::-1], maps[::-1]).failed
    with pytest.warns(UncertifiedWarning):
        assert pellucid.verify(model, images[:-1], maps[:-1]).failed


def test_training_goes_on_from_weights_in_a_file(fitted, tmp_path):
    model, images, maps = fitted
    pellucid.save(model.module_, tmp_path / "weights.safetensors")
    more = Segmenter(
        TINY, epochs=1, learning_rate=1e-6, random_state=1, initial_weights=tmp_path / "weights.safetensors"
    )
    assert more.fit(images, maps).score(images, maps) > 0.8


def test_a_trunk_starts_with_the_weights_of_the_package(tmp_path):
    trained = EfficientNetLite0(classes=3).build()
    state = {"._".join(("", *name.split("."))).lstrip("."): weight for name, weight in trained.state_dict().items()}
    torch.save(state, tmp_path / "weights.pth")
    model = Segmenter(EfficientUNet(2, width=2), initial_weights=tmp_path / "weights.pth")
    started = model._started(EfficientUNet(2, width=2).build())
    assert torch.equal(started.trunk.blocks[3].bn1.weight, trained.blocks[3].bn1.weight)
    assert torch.equal(started.trunk.conv_stem.weight, trained.conv_stem.weight)


# errors


IMAGES, MAPS = scenes(2)


@pytest.mark.parametrize(
    ("images", "maps", "options", "sentence"),
    [
        ([], [], {}, "images must be a list of arrays, or one array of them, got list without any"),
        (IMAGES, MAPS[:1], {}, "images and label_maps must be equally many, got 2 and 1"),
        (
            IMAGES,
            [MAPS[0][:-1], MAPS[1].T],
            {},
            r"number 0 with \(20, 24\) and \(19, 24\); number 1 with \(20, 24\) and \(24, 20\)",
        ),
        (
            [np.full((4, 4), np.nan)] * 2,
            [np.eye(4, dtype=int)] * 2,
            {},
            "image 0 has pixels that are no numbers; image 1",
        ),
        (IMAGES, [np.full((20, 24), 9)] * 2, {"ignore_label": 9}, "a pixel that counts, got none. Check ignore_label"),
        (IMAGES, [np.zeros((20, 24), int)] * 2, {}, r"at least 2 classes, got \[0\]"),
        (IMAGES, [np.zeros((20, 24))] * 2, {}, "whole numbers or texts, got map 0 of float64; map 1"),
        (IMAGES, MAPS, {"class_weight": {"sea": 1.0}}, "class_weight must give labels numbers"),
        (IMAGES, MAPS, {"network": UNet(None, None, "valid")}, "network must .* but it does not: height and width"),
        (IMAGES, MAPS, {"network": UNet(3, None, "same")}, "network must give 2 scores for every pixel"),
        (IMAGES, MAPS, {"network": nn.Conv2d(3, 2, 1)}, "network must take images of 1 channels"),
        (IMAGES, MAPS, {"network": nn.ReLU()}, "network must have weights to learn, got none"),
        (IMAGES, MAPS, {"initial_weights": "imagenet"}, "Weights of ImageNet are for networks on EfficientNet-Lite0"),
        (IMAGES, MAPS, {"epochs": 0}, "epochs must be at least 1, got 0"),
        (IMAGES, MAPS, {"schedule": "line"}, "schedule must be one of"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(images, maps, options, sentence):
    model = Segmenter(**{"network": TINY, "epochs": 1, **options})
    with pytest.raises(ValueError, match=sentence):
        model.fit(images, maps)
    assert not hasattr(model, "classes_")


def test_bad_weights_are_refused():
    for weight in ([1.0], [-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="sample_weight must be a number of at least 0 for each of 2 images"):
            Segmenter(TINY, epochs=1).fit(IMAGES, MAPS, sample_weight=weight)


def test_new_images_must_have_the_channels_of_the_fit(fitted):
    with pytest.raises(ValueError, match="image 0 has 3 channels where 1 are expected"):
        fitted[0].predict([np.zeros((20, 24, 3), np.uint8)])


def test_labels_that_the_fit_did_not_see_are_refused(fitted):
    model, images, _ = fitted
    with pytest.raises(ValueError, match=r"label_maps must hold \['ball', 'ground'\], got \['sky'\] in map 0"):
        model.score(images[:1], [np.full((20, 24), "sky")])
