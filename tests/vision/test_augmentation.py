"""Augmentation changes images, whole batches at once, and keeps what they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import beta

import pellucid
from pellucid.core.kinds.pages import ReadPage, WritePage
from pellucid.neural_network import NetworkClassifier
from pellucid.neural_network.network_kinds import AUGMENTATION, AUGMENTATIONS
from pellucid.vision.augmentation import Crop, CutOut, Flip, MixUp, Shift, augment
from pellucid.vision.augmentation.augmentations import draw_beta, draw_shares, draw_wholes
from pellucid.vision.models import LeNet5

STEPS = [Flip(), Crop(2), Crop(0, size=4), Shift(2), CutOut(3), MixUp(0.4, classes=5)]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def batch(n=200, channels=2, height=6, width=7):
    images = torch.rand(n, channels, height, width, generator=seeded(9)) + 1.0  # no pixel is 0
    return images, torch.arange(n) % 5


# by hand


def test_a_flip_twice_is_the_identity():
    images, codes = batch()
    once, _ = Flip(1.0)(images, codes, seeded())
    twice, _ = Flip(1.0)(once, codes, seeded())
    assert torch.equal(once[:, :, :, 0], images[:, :, :, -1])
    assert torch.equal(twice, images)


def test_about_half_of_the_images_are_flipped_each_as_a_whole():
    images, codes = batch()
    changed, _ = Flip()(images, codes, seeded())
    flipped = (changed == images.flip(-1)).flatten(1).all(dim=1)
    kept = (changed == images).flatten(1).all(dim=1)
    assert torch.equal(flipped, ~kept)
    assert 70 <= flipped.sum() <= 130


def test_a_crop_is_the_image_moved_with_zeros_behind_it():
    images, codes = batch(n=300, height=3, width=3)
    changed, labels = Crop(padding=1)(images, codes, seeded())
    assert torch.equal(labels, codes)
    places = set()
    for image, window in zip(images, changed, strict=True):
        bordered = torch.nn.functional.pad(image, (1, 1, 1, 1))
        found = [(r, c) for r in range(3) for c in range(3) if torch.equal(bordered[:, r : r + 3, c : c + 3], window)]
        assert len(found) == 1
        places.update(found)
    assert len(places) == 9  # every place occurs


def test_a_crop_of_another_size_lies_inside_the_image():
    changed, _ = Crop(padding=0, size=4)(*batch(), seeded())
    assert changed.shape == (200, 2, 4, 4)
    assert (changed >= 1.0).all()


def test_a_shift_repeats_the_edge():
    images, codes = batch()
    changed, _ = Shift(most=1)(images, codes, seeded())
    assert (changed >= 1.0).all()
    assert torch.equal(Shift(most=0)(images, codes, seeded())[0], images)
    up = [i for i in range(200) if torch.equal(changed[i, :, 1:, 1:-1], images[i, :, :-1, 1:-1])]
    assert up
    assert all(torch.equal(changed[i, :, 0], changed[i, :, 1]) for i in up)


def test_cut_out_covers_one_square_in_all_channels():
    images, codes = batch()
    changed, labels = CutOut(3)(images, codes, seeded())
    assert torch.equal(labels, codes)
    covered = changed == 0
    assert torch.equal(covered[:, 0], covered[:, 1])
    rows, columns = covered[:, 0].any(dim=2).sum(dim=1), covered[:, 0].any(dim=1).sum(dim=1)
    assert torch.equal(covered[:, 0].sum(dim=(1, 2)), rows * columns)
    assert rows.max() == columns.max() == 3  # whole
    assert rows.min() == 2  # half outside
    assert torch.equal(changed[~covered], images[~covered])


def test_mixed_targets_sum_to_1_and_tell_how_images_were_mixed():
    codes = torch.arange(5).repeat(20)
    images = torch.nn.functional.one_hot(codes, 5).float()[:, :, None, None]  # an image shows its class
    mixed, shares = MixUp(1.0, classes=5)(images, codes, seeded())
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(100))
    torch.testing.assert_close(mixed[:, :, 0, 0], shares)
    assert shares.dtype == torch.float32
    assert (shares.gather(1, codes[:, None]) > 0).all()
    assert ((shares > 0).sum(dim=1) == 2).any()


def test_shares_of_classes_are_mixed_too():
    images, codes = batch()
    shares = torch.nn.functional.one_hot(codes, 5).float()
    for one, other in zip(MixUp()(images, shares, seeded()), MixUp(classes=5)(images, codes, seeded()), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0])
def test_shares_follow_the_beta_law(alpha):
    drawn = draw_beta(alpha, torch.empty(20_000, 1), seeded()).numpy()
    points = np.linspace(0.01, 0.99, 21)  # nearer to 0 and 1 a float32 has no room
    shares = (drawn[:, None] <= points).mean(axis=0)
    np.testing.assert_allclose(shares, beta(alpha, alpha).cdf(points), atol=5 * 0.5 / np.sqrt(20_000))


def test_draws_go_to_the_device_of_the_images_wherever_the_generator_is():
    images = torch.empty(3, 1, 2, 2, device="meta")
    assert draw_shares(images, seeded()).device.type == "meta"
    assert draw_wholes(images, 5, seeded()).device.type == "meta"


def test_a_small_alpha_changes_little_and_a_large_one_mixes_half_and_half():
    images, codes = batch()
    _, shares = MixUp(0.001, classes=5)(images, codes, seeded())
    assert ((shares > 0.01) & (shares < 0.99)).float().mean() < 0.02
    _, shares = MixUp(1e4, classes=5)(images, codes, seeded())
    assert ((shares - 0.5).abs() < 0.02).any(dim=1).float().mean() > 0.7


# properties


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_the_generator_alone_decides_and_what_was_given_stays(step):
    images, codes = batch()
    kept = images.clone()
    torch.manual_seed(1)
    one = step(images, codes, seeded())
    torch.manual_seed(2)
    other = step(images, codes, seeded())
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert not torch.equal(one[0], step(images, codes, seeded(1))[0])
    assert torch.equal(images, kept)
    assert one[0].dtype == images.dtype


@pytest.mark.parametrize("step", STEPS[:-1], ids=str)
def test_bytes_stay_bytes(step):
    images = torch.randint(1, 255, (4, 1, 8, 8), dtype=torch.uint8)
    assert step(images, torch.zeros(4), seeded())[0].dtype == torch.uint8


def test_steps_are_done_one_after_the_other():
    images, codes = batch()
    steps = (Flip(), Crop(1), CutOut(2), MixUp(classes=5))
    together = augment(steps, images, codes, seeded())
    generator = seeded()
    for step in steps:
        images, codes = step(images, codes, generator)
    assert torch.equal(together[0], images)
    assert torch.equal(together[1], codes)
    assert augment((), images, codes, generator)[0] is images


def test_steps_are_values_that_files_can_hold():
    assert Crop(4) == Crop(padding=4)
    assert {type(step).__name__ for step in STEPS} == set(AUGMENTATIONS)
    assert not any(AUGMENTATION.fits(other) for other in (Flip, print, LeNet5()))
    for step in STEPS:
        assert AUGMENTATION.fits(step)
        node = AUGMENTATION.write(step, WritePage(), "augmentation")
        assert AUGMENTATION.read(node, ReadPage(container=None), "augmentation") == step


def test_an_estimator_with_augmentation_is_saved(tmp_path):
    images, codes = batch(n=20, channels=1)
    model = NetworkClassifier(LeNet5(classes=None), epochs=1, augmentation=(Shift(1), CutOut(2)), random_state=0)
    pellucid.save(model.fit(images.numpy(), codes.numpy()), tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.augmentation == (Shift(1), CutOut(2))
    assert again.architecture_ == LeNet5(classes=5)
    assert (again.predict(images.numpy()) == model.predict(images.numpy())).all()
    assert [step.softens for step in STEPS] == [False] * 5 + [True]


# errors


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Flip(1.5), "probability must be between 0 and 1, got 1.5"),
        (lambda: Crop(-1), "padding must be at least 0, got -1"),
        (lambda: CutOut(0), "size must be at least 1, got 0"),
        (lambda: MixUp(0.0), "alpha must be above 0, got 0.0"),
        (lambda: Crop(0, size=9)(*batch(), seeded()), "must fit into the image and its border, 6 x 7, got 9 x 9"),
        (lambda: MixUp()(*batch(), seeded()), "classes must be a number to mix codes"),
        (lambda: MixUp(classes=3)(*batch(), seeded()), "targets must be codes from 0 to 2, got 0 to 4. Raise classes"),
        (lambda: MixUp(classes=5)(batch()[0], batch()[1] - 1, seeded()), "codes from 0 to 4, got -1 to 3"),
        (lambda: Flip()(torch.ones(4, 8, 8), torch.ones(4), seeded()), r"shape \(B, C, H, W\), got \(4, 8, 8\)"),
        (lambda: Crop()(torch.ones(4, 8), torch.ones(4), seeded()), r"shape \(B, C, H, W\), got \(4, 8\)"),
        (lambda: CutOut()(batch()[0], torch.ones(3), seeded()), "one for each of 200 images, got 3"),
    ],
)
def test_impossible_steps_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_what_is_no_step_no_tensor_or_no_float_is_refused():
    images, codes = batch()
    with pytest.raises(TypeError, match=r"steps must be several in a row, got Flip.*Write \(Flip"):
        augment(Flip(), images, codes, seeded())
    with pytest.raises(TypeError, match="must be tensors, got ndarray and Tensor"):
        augment((Flip(),), images.numpy(), codes, seeded())
    with pytest.raises(TypeError, match=r"must be floats to be mixed, got torch.uint8"):
        MixUp(classes=5)(images.byte(), codes, seeded())


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_no_images_stay_no_images(step):
    images, codes = batch()
    assert len(step(images[:0], codes[:0], seeded())[0]) == 0
