"""The networks of the lecture: weights by number and name, losses by hand, everything found in the image's pixels."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pellucid.vision.detection import (  # noqa: E402
    RCNN,
    SSD,
    YOLO,
    EfficientNetBody,
    FasterRCNN,
    FastRCNN,
    FeaturePyramid,
    Localizer,
    MaskRCNN,
    ResNetBody,
    RetinaNet,
    SmallBody,
    focal_loss,
)
from pellucid.vision.detection.networks.backbones import FrozenNormalization  # noqa: E402
from pellucid.vision.detection.networks.detection_losses import hard_negatives, sample_evenly  # noqa: E402
from pellucid.vision.detection.networks.detection_network import Objects, paste_masks  # noqa: E402
from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS  # noqa: E402

PUBLISHED = {
    "fasterrcnn_resnet50_fpn": (FasterRCNN(classes=90), 41_755_286),
    "maskrcnn_resnet50_fpn": (MaskRCNN(classes=90), 44_401_393),
    "retinanet_resnet50_fpn": (RetinaNet(classes=91), 34_014_999),
    "ssd300_vgg16": (SSD(classes=90), 35_641_826),
}
TINY = SmallBody((8, 12, 16))
PYRAMID = FeaturePyramid(TINY, maps=8, more="none")
TINY_DETECTORS = {
    "yolo v1": YOLO(TINY, width=8),
    "yolo": YOLO(TINY, anchors=((10.0, 10.0), (20.0, 20.0)), width=8),
    "ssd": SSD(TINY, ratios=((2.0,),) * 3, scales=(0.1, 0.2, 0.4, 0.8), steps=None, side=None, channels=None),
    "retinanet": RetinaNet(PYRAMID, (8, 16, 32), layers=1, channels=None, short_side=None),
    "r-cnn": RCNN(TINY, crop=16, regions=16),
    "fast r-cnn": FastRCNN(TINY, stride=16, width=8, regions=16),
    "faster r-cnn": FasterRCNN(PYRAMID, (8, 16, 32), width=8, channels=None, short_side=None, regions=16),
    "mask r-cnn": MaskRCNN(PYRAMID, (8, 16, 32), width=8, channels=None, short_side=None, regions=16, mask_width=8),
    "localizer": Localizer(TINY, objects=2, width=16),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_are_as_many_as_published(name):
    architecture, count = PUBLISHED[name]
    with torch.device("meta"):
        module = architecture.build()
    assert sum(weight.numel() for weight in module.parameters()) == count


@pytest.mark.parametrize("name", PUBLISHED)
def test_names_and_shapes_are_torchvisions(name):
    models = pytest.importorskip("torchvision.models.detection", exc_type=(ImportError, RuntimeError))
    architecture, _ = PUBLISHED[name]
    if name != "ssd300_vgg16":  # without pretrained weights, torchvision's normalizations learn
        from dataclasses import replace

        pyramid = replace(architecture.backbone, body=ResNetBody(50, "batch"))
        architecture = replace(architecture, backbone=pyramid)
    theirs = getattr(models, name)(weights=None, weights_backbone=None)
    with torch.device("meta"):
        ours = architecture.build()
    shapes = {key: tuple(value.shape) for key, value in ours.state_dict().items()}
    assert shapes == {key: tuple(value.shape) for key, value in theirs.state_dict().items()}


@pytest.mark.parametrize("name", SMALL_DETECTORS)
def test_small_ones_weigh_at_most_five_megabytes(name):
    with torch.device("meta"):
        module = SMALL_DETECTORS[name].for_data((1, 320, 320), 10).build()
    assert sum(4 * weight.numel() for weight in module.state_dict().values()) <= 5_000_000


def scene(proposals=False):
    boxes = torch.tensor([[5.0, 6.0, 25.0, 30.0], [30.0, 10.0, 44.0, 40.0]])
    masks = torch.zeros(2, 48, 64, dtype=torch.bool)
    masks[0, 6:30, 5:25] = True
    masks[1, 10:40, 30:44] = True
    guesses = torch.cat((boxes + 1.0, torch.tensor([[0.0, 0.0, 60.0, 40.0], [2.0, 2.0, 9.0, 9.0]])))
    return Objects(boxes, torch.tensor([1, 2]), masks, guesses if proposals else None)


@pytest.mark.parametrize("name", TINY_DETECTORS)
def test_losses_are_finite_and_reach_every_weight(name):
    architecture = TINY_DETECTORS[name].for_data((1, 48, 64), 3)
    torch.manual_seed(0)
    module = architecture.build().train()
    images = [torch.rand(1, 48, 64), torch.rand(1, 48, 64)]
    objects = [scene(architecture.needs_proposals)] * 2
    losses = module.training_losses(images, objects)
    total = sum(losses.values())
    assert all(bool(torch.isfinite(loss)) for loss in losses.values())
    total.backward()
    without = [key for key, weight in module.named_parameters() if weight.grad is None]
    assert not without


@pytest.mark.parametrize("name", sorted(set(TINY_DETECTORS) - {"localizer"}))
def test_an_image_without_objects_has_losses(name):
    architecture = TINY_DETECTORS[name].for_data((1, 48, 64), 3)
    module = architecture.build().train()
    guesses = torch.tensor([[2.0, 2.0, 20.0, 20.0]]) if architecture.needs_proposals else None
    nothing = Objects(torch.zeros(0, 4), torch.zeros(0, dtype=torch.int64), torch.zeros(0, 48, 64), guesses)
    losses = module.training_losses([torch.rand(1, 48, 64)] * 2, [nothing, nothing])
    assert all(bool(torch.isfinite(loss)) for loss in losses.values())


@pytest.mark.parametrize("name", TINY_DETECTORS)
def test_findings_lie_in_the_image(name):
    architecture = TINY_DETECTORS[name].for_data((1, 48, 64), 3)
    torch.manual_seed(1)
    module = architecture.build().eval()
    guesses = [torch.tensor([[2.0, 2.0, 20.0, 20.0]])] if architecture.needs_proposals else None
    with torch.inference_mode():
        (found,) = module([torch.rand(1, 45, 61)], guesses)
    assert len(found.boxes) == len(found.labels) == len(found.scores)
    if len(found.boxes):
        assert found.boxes.min() >= 0
        assert found.boxes[:, 2].max() <= 61
        assert found.boxes[:, 3].max() <= 45
        assert torch.equal(found.scores, found.scores.sort(descending=True).values)
        assert found.labels.max() < 3
    if found.masks is not None:
        assert found.masks.shape[1:] == (45, 61)


def test_images_are_resized_by_their_short_side_and_boxes_come_back():
    module = FasterRCNN(PYRAMID, (8, 16, 32), width=8, classes=2, short_side=32, long_side=40).build()
    batch = module.transform([torch.rand(3, 16, 16), torch.rand(3, 8, 32)])
    assert batch.sizes == [(32, 32), (10, 40)]
    assert batch.images.shape[-2:] == (32, 64)


def test_masks_are_pasted_into_their_boxes():
    pasted = paste_masks(torch.ones(1, 1, 28, 28), torch.tensor([[2.0, 3.0, 6.0, 9.0]]), (12, 10))
    assert bool((pasted[0, 4:8, 3:5] > 0.99).all())
    assert float(pasted[0, :2].sum() + pasted[0, :, 8:].sum()) == 0.0


def test_frozen_statistics_are_those_of_batch_normalization():
    torch.manual_seed(0)
    usual, frozen = torch.nn.BatchNorm2d(4).eval(), FrozenNormalization(4)
    for name in ("weight", "bias", "running_mean", "running_var"):
        values = torch.rand(4) + 0.5
        getattr(usual, name).data.copy_(values)
        getattr(frozen, name).copy_(values)
    maps = torch.randn(2, 4, 3, 3)
    torch.testing.assert_close(frozen(maps), usual(maps))
    assert not list(frozen.parameters())


def test_a_pyramid_has_the_strides_it_says():
    for pyramid in (FeaturePyramid(EfficientNetBody(), 8), FeaturePyramid(TINY, 8, first=1, more="convolutions")):
        with torch.inference_mode():
            levels = pyramid.build(3).eval()(torch.rand(1, 3, 128, 128))
        assert tuple(128 // level.shape[-1] for level in levels) == pyramid.strides
        assert tuple(level.shape[1] for level in levels) == pyramid.levels


def test_focal_loss_by_hand():
    # p = 1/2: (1/4) (1/2)^2 log 2 for an object, (3/4) (1/2)^2 log 2 for background
    found = focal_loss(torch.zeros(2), torch.tensor([1.0, 0.0]))
    np.testing.assert_allclose(found.numpy(), np.log(2) / 16 * np.array([1.0, 3.0]), rtol=1e-6)


def test_hard_negatives_are_the_worst_three_for_each_object():
    entropy = torch.tensor([[5.0, 1.0, 4.0, 3.0, 2.0, 0.5]])
    is_object = torch.tensor([[True, False, False, False, False, False]])
    assert hard_negatives(entropy, is_object, 3.0).tolist() == [[False, False, True, True, True, False]]


def test_a_sample_has_at_most_its_share_of_objects():
    is_object = torch.arange(100) < 40
    chosen = sample_evenly(is_object, ~is_object, 20, 0.25)
    assert len(chosen) == 20
    assert int((chosen < 40).sum()) == 5
    assert len(sample_evenly(is_object[:3], ~is_object[:3], 20, 0.5)) == 3


def test_the_cell_of_the_center_is_to_find_an_object():
    module = YOLO(TINY, classes=3, channels=1).build()
    objects = scene()
    batch = module.transform([torch.rand(1, 48, 64)])
    grid = module._grid(batch)
    place, center, size = module._assigned(0, grid, batch, objects)
    _, columns = grid.cells
    cell = torch.div(place, module.each, rounding_mode="floor")
    # centers (15, 18) and (37, 25) with a stride of 16
    assert cell.tolist() == [1 * columns + 0, 1 * columns + 2]
    torch.testing.assert_close(center, torch.tensor([[15 / 16, 2 / 16], [5 / 16, 9 / 16]]))
    torch.testing.assert_close(size[0], torch.tensor([20 / 64, 24 / 64]).sqrt())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: FasterRCNN(PYRAMID, (8, 16), width=8, classes=2).build(), "anchor_sizes must be one for each of 3"),
        (lambda: RetinaNet(PYRAMID, (8,), classes=2).build(), "anchor_sizes must be one for each of 3"),
        (lambda: SSD(TINY, ratios=((2.0,),), classes=2).build(), "ratios must be one for each of 3 maps"),
        (lambda: FastRCNN(TINY, stride=6, classes=2, channels=1).build(), "stride must be one of the body's"),
        (lambda: YOLO(TINY, anchors=((1.0,),)), "anchors must be pairs"),
        (lambda: YOLO(TINY).build(), "channels and classes must be numbers"),
        (lambda: ResNetBody(51), "depth must be"),
    ],
)
def test_settings_that_do_not_fit_get_a_sentence(make, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()
