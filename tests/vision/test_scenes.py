"""Made scenes, images as users hold them, and changes in which everything moves together."""

import numpy as np
import pytest

from pellucid.vision.scene_images import checked_images
from pellucid.vision.scenes import NOT_A_DIGIT, digit_scenes, label_map


def test_boxes_are_tight_around_masks():
    _, truth = digit_scenes(4, size=96, most=6)
    for one in truth:
        for box, mask in zip(one.boxes, one.masks, strict=True):
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            assert box.tolist() == [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]


def test_the_same_seed_makes_the_same_scenes():
    one, other = (digit_scenes(2, size=48, random_state=7) for _ in range(2))
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[0], digit_scenes(2, size=48, random_state=8)[0])


def test_a_label_map_has_every_digit():
    _, truth = digit_scenes(1, size=96, fewest=4, most=4)
    assert set(np.unique(label_map(truth[0]))) == {*truth[0].labels.tolist(), NOT_A_DIGIT}


def test_images_of_all_kinds_get_white_at_one():
    byte, word = np.full((2, 3), 255, np.uint8), np.full((2, 3, 3), 65535, np.uint16)
    assert checked_images([byte])[0].dtype == np.uint8
    assert checked_images([word])[0].max() == 1.0
    assert checked_images([np.ones((2, 3), bool)])[0].max() == 1.0


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((4, 4)), "Write \\[image\\]"),
        ([np.zeros((4, 4)), np.zeros((4, 4, 3))], "image 1 has 3 channels where 1"),
        ([np.zeros((4,))], "image 0 has the shape"),
        ([np.zeros((4, 0))], "no pixel"),
        ([np.zeros((4, 4), np.int64)], "convert it to uint8"),
        ("photo.jpg", "list of arrays"),
    ],
)
def test_wrong_images_get_a_sentence(images, sentence):
    with pytest.raises(ValueError, match=sentence):
        checked_images(images)


def test_everything_moves_together():
    torch = pytest.importorskip("torch")
    from pellucid.vision.scene_augmentation import ColorShift, Scene, SceneFlip, SceneScale, change_scene

    torch.manual_seed(0)
    image = torch.zeros(1, 40, 60)
    image[0, 10:20, 15:35] = 1.0
    masks = image.bool()
    scene = Scene(image, torch.tensor([[15.0, 10.0, 35.0, 20.0]]), torch.tensor([4]), masks, masks[0].long())
    for _ in range(20):
        seen = change_scene((SceneFlip(), SceneScale(0.6, 1.5)), scene)
        if not len(seen.boxes):
            continue
        left, top, right, bottom = seen.boxes[0].round().int().tolist()
        inside = seen.image[0, top:bottom, left:right]
        assert float(inside.mean()) > 0.75
        assert float(seen.masks[0, top:bottom, left:right].float().mean()) > 0.75
        assert int((seen.label_map == 1).sum()) == int(seen.masks[0].sum())
    dark = ColorShift()(Scene(torch.rand(3, 8, 8))).image
    assert 0.0 <= float(dark.min()) <= float(dark.max()) <= 1.0
