"""Certified detection: what is proved survives every change that is tried within it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pellucid.vision.detection import YOLO, Detector, FasterRCNN, FeaturePyramid, Localizer, SmallBody  # noqa: E402
from pellucid.vision.detection.box_certificates import certified_boxes  # noqa: E402

BODY = SmallBody((4,))


def scenes():
    random = np.random.default_rng(0)
    images, truth = [], []
    for k in range(12):
        image = random.uniform(0.0, 0.1, (16, 16)).astype(np.float32)
        left, top = random.integers(1, 6, 2)
        width, height = ((8, 4), (4, 8))[k % 2]
        image[top : top + height, left : left + width] = 0.9
        images.append(image)
        truth.append({"boxes": [[left, top, left + width, top + height]], "labels": [("wide", "high")[k % 2]]})
    return images, truth


@pytest.fixture(scope="module", params=["localizer", "yolo"])
def found(request):
    images, truth = scenes()
    network = {"localizer": Localizer(BODY, width=8, grid=4), "yolo": YOLO(SmallBody((4, 6)), boxes=1, width=6)}
    model = Detector(network[request.param], epochs=40, batch_size=4, learning_rate=0.01, random_state=0, device="cpu")
    model.fit(images, truth)
    return model, images[0], certified_boxes(model, images[0], confidence=0.1)


def test_no_change_within_the_radius_changes_the_class(found):
    model, image, boxes = found
    assert len(boxes.boxes) >= 1
    assert boxes.radii.max() > 0
    best = int(np.argmax(boxes.radii))
    random = np.random.default_rng(1)
    radius = 0.999 * boxes.radii[best]
    for _ in range(20):
        moved = image + radius * random.choice([-1.0, 1.0], image.shape).astype(np.float32)
        assert boxes.labels[best] in classes_found(model, moved)


def classes_found(model, image):
    """Return the classes of the boxes that are there, as the network says them."""
    found = model.predict([image])[0]
    return found.labels.tolist()


def test_an_attack_bounds_it_from_above(found):
    _, _, boxes = found
    proved = boxes.radii > 0
    assert np.all(boxes.broken_at[proved] > boxes.radii[proved])
    assert {certificate.grade for certificate, yes in zip(boxes.certificates, proved, strict=True) if yes} == {
        "bounded"
    }


def test_other_detectors_are_refused():
    images, truth = scenes()
    network = FasterRCNN(FeaturePyramid(BODY, 4, more="none"), (8,), width=4, channels=None, short_side=None)
    model = Detector(network, epochs=1, device="cpu", random_state=0).fit(images[:2], truth[:2])
    with pytest.raises(ValueError, match="model must be a Detector of YOLO or Localizer"):
        certified_boxes(model, images[0])
