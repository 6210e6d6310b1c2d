"""Detector: learns, is scored, saved, proved; and refuses what it cannot take, all faults at once."""

import numpy as np
import pytest

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning

torch = pytest.importorskip("torch")

from sklearn.base import clone  # noqa: E402

from pellucid.vision.detection import RCNN, YOLO, Annotations, Detector, Localizer, SmallBody  # noqa: E402
from pellucid.vision.scene_augmentation import ColorShift, SceneScale  # noqa: E402
from pellucid.vision.scenes import digit_scenes  # noqa: E402

BODY = SmallBody((8, 16, 24))


@pytest.fixture(scope="module")
def squares():
    """Bright squares and bars on dark ground: easy enough for a small network and a minute."""
    random = np.random.default_rng(0)
    images, truth = [], []
    for _ in range(48):
        image = random.normal(0.1, 0.02, (48, 48)).clip(0, 1)
        left, top = random.integers(2, 26, 2)
        width, height = (16, 16) if random.random() < 0.5 else (8, 20)
        image[top : top + height, left : left + width] = 0.9
        images.append((255 * image).astype(np.uint8))
        label = "square" if width == 16 else "bar"
        truth.append({"boxes": [[left, top, left + width, top + height]], "labels": [label]})
    return np.stack(images), truth


@pytest.fixture(scope="module")
def fitted(squares):
    model = Detector(
        Localizer(BODY, width=32), epochs=25, batch_size=8, learning_rate=0.003, random_state=0, device="cpu"
    )
    return model.fit(*squares)


def test_it_learns_what_is_easy(fitted, squares):
    images, truth = squares
    assert fitted.score(images, truth) > 0.5
    assert fitted.evaluate(images, truth).ap50 > 0.9
    found = fitted.predict(images[:2])
    assert set(found[0].labels) <= {"bar", "square"}


def test_the_trace_has_every_loss(fitted):
    assert {"objective", "class_loss", "box_loss"} <= set(fitted.trace_.columns)
    sums = fitted.trace_["class_loss"] + fitted.trace_["box_loss"]
    np.testing.assert_allclose(sums, fitted.trace_["objective"], rtol=1e-4)


def test_the_same_seed_gives_the_same_bits(squares):
    images, truth = squares
    changes = (SceneScale(), ColorShift())
    model = Detector(YOLO(BODY, width=8), epochs=2, augmentation=changes, random_state=3, device="cpu")
    one, other = clone(model).fit(images, truth), clone(model).fit(images, truth)
    assert one.weights_digest_ == other.weights_digest_


def test_a_file_holds_all_of_it(fitted, squares, tmp_path):
    images, truth = squares
    pellucid.save(fitted, tmp_path / "detector.safetensors")
    again = pellucid.load(tmp_path / "detector.safetensors")
    for one, other in zip(fitted.predict(images[:4]), again.predict(images[:4]), strict=True):
        assert np.array_equal(one.boxes, other.boxes)
        assert np.array_equal(one.labels, other.labels)
    assert not pellucid.verify(again, images, truth).failed


def changed(model, name, value):
    copy = clone(model)
    vars(copy).update(vars(model))
    setattr(copy, name, value)
    return copy


def test_a_proof_finds_what_was_changed(fitted, squares):
    images, truth = squares
    moved = {name: weight.copy() for name, weight in fitted.weights_.items()}
    moved["box_head.bias"] = moved["box_head.bias"] + 0.1
    broken = {**fitted.weights_, "box_head.bias": np.full_like(fitted.weights_["box_head.bias"], np.nan)}
    for name, value in {
        "weights_": moved,
        "classes_": fitted.classes_[::-1].copy(),
        "training_score_": fitted.training_score_ + 0.01,
        "weights_digest_": "0" * 32,
        "epochs": 26,
        "channels_": 3,
    }.items():
        with pytest.warns(UncertifiedWarning):
            assert pellucid.verify(changed(fitted, name, value), images, truth).failed
    for weights in (broken, {**moved, "box_head.bias": np.full(4, 1e200)}):
        with pytest.warns(UncertifiedWarning):
            assert pellucid.verify(changed(fitted, "weights_", weights), images, truth).failed


def test_a_forger_who_mends_the_checksum_is_found_by_the_score(fitted, squares):
    images, truth = squares
    forged = changed(fitted, "weights_", {name: weight.copy() for name, weight in fitted.weights_.items()})
    forged.weights_["class_head.weight"] *= -1.0
    forged.weights_digest_ = forged._digest()
    with pytest.warns(UncertifiedWarning, match="score"):
        assert pellucid.verify(forged, images, truth).failed


def test_other_data_are_noticed(fitted, squares):
    images, truth = squares
    with pytest.warns(UncertifiedWarning):
        found = pellucid.verify(fitted, images[::-1].copy(), truth)
    assert "data" in {claim.name for claim in found.failed}


def test_proposals_come_from_a_function(squares):
    images, truth = squares

    def propose(image):
        return np.array([[0.0, 0.0, 24.0, 24.0], [10.0, 10.0, 40.0, 40.0]])

    model = Detector(RCNN(BODY, crop=16, regions=16), epochs=1, proposals=propose, device="cpu", random_state=0)
    found = model.fit(images[:8], truth[:8]).predict(images[:2])
    assert len(found) == 2


def test_selective_search_proposes_by_default(squares):
    images, truth = squares
    model = Detector(RCNN(BODY, crop=16, regions=16), epochs=1, device="cpu", random_state=0)
    assert len(model.fit(images[:4], truth[:4]).predict(images[:2])) == 2


def test_images_of_different_sizes(squares):
    images, _ = squares
    some = [images[0], images[1][:40], images[2][:, :45]]
    truth = [{"boxes": [], "labels": []}, *({"boxes": [[1, 1, 9, 9]], "labels": ["bar"]} for _ in range(2))]
    model = Detector(YOLO(BODY, width=8), epochs=1, batch_size=3, device="cpu", random_state=0)
    assert len(model.fit(some, truth).predict(some)) == 3


def test_all_faults_are_told_at_once_and_nothing_looks_fitted(squares):
    images, truth = squares
    wrong = [dict(one) for one in truth[:4]]
    wrong[0] = {"boxes": [[4, 4, 4, 9]], "labels": ["bar"]}
    wrong[2] = {"boxes": [[4, 4, 60, 9]], "labels": ["bar"]}
    wrong[3] = {"boxes": [[4, 4, 9, 9]]}
    model = Detector(YOLO(BODY, width=8), epochs=1, device="cpu")
    with pytest.raises(
        ValueError, match="image 0: box 0 .* is empty; image 2: box 0 .* outside .*; image 3: .* labels"
    ):
        model.fit(images[:4], wrong)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("images", "annotations", "sentence"),
    [
        ([], [], "images must be a list of arrays"),
        (np.zeros((2, 8, 8)), [{"boxes": [], "labels": []}], "one for each of 2 images"),
        (np.zeros((1, 8, 8)), [{"boxes": [], "labels": []}], "must name an object"),
        (np.full((1, 8, 8), np.nan), [{"boxes": [[0, 0, 4, 4]], "labels": [1]}], "no numbers"),
        (np.full((1, 8, 8), 200.0), [{"boxes": [[0, 0, 4, 4]], "labels": [1]}], "divide it by 255"),
        (np.zeros((1, 8, 8)), "boxes", "one for each of 1 images"),
    ],
)
def test_bad_input_gets_a_sentence(images, annotations, sentence):
    with pytest.raises(ValueError, match=sentence):
        Detector(YOLO(BODY), device="cpu").fit(images, annotations)


def test_a_network_that_is_no_detector_is_refused(squares):
    from pellucid.vision.models import LeNet5

    with pytest.raises(TypeError, match="architecture must be a detector"):
        Detector(LeNet5(), device="cpu").fit(*squares)


def test_a_loss_that_is_no_number_names_its_part(squares):
    images, truth = squares
    model = Detector(
        YOLO(BODY, width=8), epochs=1, learning_rate=1e30, clip_norm=None, schedule="constant", device="cpu"
    )
    with pytest.raises(ValueError, match="loss must stay finite, got (nan|inf) at batch .* It is the loss of"):
        model.set_params(random_state=0).fit(images, truth)


def test_mask_r_cnn_finds_outlines():
    from pellucid.vision.detection import FeaturePyramid, MaskRCNN

    scenes, truth = digit_scenes(3, size=64, most=2)
    pyramid = FeaturePyramid(BODY, maps=8, more="none")
    network = MaskRCNN(pyramid, (8, 16, 32), width=16, channels=None, short_side=None, regions=16, mask_width=8)
    model = Detector(network, epochs=1, device="cpu", random_state=0).fit(scenes, truth)
    found = model.predict(scenes)[0]
    assert found.masks.dtype == bool
    assert found.masks.shape[1:] == (64, 64)
    boxes_only = [Annotations(one.boxes, one.labels) for one in truth]
    with pytest.raises(ValueError, match="annotations must have masks"):
        clone(model).fit(scenes, boxes_only)
