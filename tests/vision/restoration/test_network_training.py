"""The scripts that made the weights: a few steps on made images, and the same bits after an interruption."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image

import pellucid
from pellucid.vision.restoration import Downscale, bicubic_resize
from pellucid.vision.restoration.networks import train_deconvolution, train_dncnn, train_srcnn
from pellucid.vision.restoration.networks.dncnn_network import DnCNNNetwork
from pellucid.vision.restoration.networks.training_patches import patches_of, read_images
from pellucid.vision.restoration.networks.training_run import Schedule, resume, start, train, write_run

CPU = torch.device("cpu")
QUICK = ["--steps", "2", "--batch", "2", "--patch", "16", "--device", "cpu"]
SCRIPTS = {
    "dncnn": (train_dncnn, ["--depth", "3", "--width", "4"]),
    "bias free": (train_dncnn, ["--depth", "3", "--width", "4", "--bias-free", "--most-noise", "10"]),
    "srcnn": (train_srcnn, ["--scale", "3"]),
    "deconvolution": (train_deconvolution, []),
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("train", "bsd68", "set12", "set5", "set14"):
        (tmp_path / name).mkdir()
        for k in range(2):
            image = rng.integers(0, 256, (48, 48), dtype=np.uint8)
            Image.fromarray(image).save(tmp_path / name / f"{k}.png")
    return tmp_path


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_writes_weights_that_load_and_the_table_they_reach(script, folder):
    module, options = SCRIPTS[script]
    out = folder / "network.safetensors"
    module.main(["--images", str(folder / "train"), "--test", str(folder), "--out", str(out), *QUICK, *options])
    network = pellucid.load(out)
    record = json.loads(out.with_suffix(".json").read_text())
    assert record["steps"] == 2
    assert record["images"] == "train"
    assert all(np.isfinite(value) for value in record["table"].values())
    assert all(torch.isfinite(weight).all() for weight in network.parameters())


def problem(schedule):
    torch.manual_seed(0)
    run = start(DnCNNNetwork(3, 4, normalized=True).build(), schedule, CPU)
    images = [
        np.kron(np.random.default_rng(k).integers(0, 256, (4, 4)), np.ones((10, 10))).astype(np.uint8) for k in (0, 1)
    ]
    patches = patches_of(images, CPU, 0, step=1)

    def draw(step, generator):
        clean, _ = patches.draw(step, 2, 16, generator)
        return clean + 0.1 * torch.randn(clean.shape, generator=generator), clean

    return run, draw


def test_a_run_that_was_interrupted_ends_with_the_same_bits(tmp_path):
    schedule = Schedule(steps=6)
    whole, draw = problem(schedule)
    train(whole, draw, schedule)
    first, draw = problem(schedule)
    train(first, draw, schedule, stop_after=3)
    write_run(tmp_path / "run.safetensors", first, schedule)
    second, draw = problem(schedule)
    resume(tmp_path / "run.safetensors", second, schedule)
    assert second.step == 3
    train(second, draw, schedule)
    for name, weight in whole.module.state_dict().items():
        assert torch.equal(weight, second.module.state_dict()[name]), name


def test_training_lowers_the_loss():
    schedule = Schedule(steps=60, rate=3e-3)
    run, draw = problem(schedule)
    given, clean = draw(0, torch.Generator().manual_seed(9))
    before = torch.mean((run.module.eval()(given) - clean) ** 2).item()
    run.module.train()
    train(run, draw, schedule)
    assert torch.mean((run.module.eval()(given) - clean) ** 2).item() < 0.8 * before


def test_the_rate_rises_along_a_line_and_falls_along_a_cosine_to_nothing():
    schedule = Schedule(minutes=1.0, rate=2.0)
    assert schedule.rate_at(0.005) == pytest.approx(1.0, rel=1e-3)  # halfway up
    assert schedule.rate_at(0.5) == pytest.approx(1.0)
    assert schedule.rate_at(1.0) == pytest.approx(0.0)
    assert schedule.share(7, 30.0) == 0.5


def test_patches_are_cut_alike_from_what_is_given_and_what_is_wanted():
    image = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    patches = patches_of([image], CPU, 3, step=1)
    generator = torch.Generator().manual_seed(0)
    for step in range(8):
        given, wanted = patches.draw(step, 4, 12, generator)
        assert given.shape == (4, 1, 18, 18)
        assert torch.equal(given[:, :, 3:-3, 3:-3], wanted)


def test_patches_come_in_all_eight_positions():
    image = np.add.outer(np.arange(40), 3 * np.arange(40)).astype(np.uint8)
    patches = patches_of([image], CPU, 0, step=1)
    _, wanted = patches.draw(0, 200, 12, torch.Generator().manual_seed(0))
    corners = wanted[:, 0, [0, 0, -1, -1], [0, -1, 0, -1]]
    assert len({tuple(order.tolist()) for order in corners.argsort(dim=1)}) == 8


def test_a_reduced_and_enlarged_image_stays_aligned_when_it_is_mirrored():
    image = np.random.default_rng(0).uniform(0, 1, (36, 36))
    made = bicubic_resize(Downscale(3).apply(image), 3)
    turned = bicubic_resize(Downscale(3).apply(image[::-1].T), 3)
    np.testing.assert_allclose(turned, made[::-1].T, atol=1e-12)


# errors


def test_a_folder_without_images_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="images must be a folder with images"):
        read_images(tmp_path)


def test_images_of_several_sizes_get_a_sentence():
    with pytest.raises(ValueError, match="images must be of one size, got 2 sizes"):
        patches_of([np.zeros((4, 4), np.uint8), np.zeros((5, 4), np.uint8)], CPU, 0, step=1)


def test_a_checkpoint_of_another_run_gets_a_sentence(tmp_path):
    run, _ = problem(Schedule(steps=2))
    path = tmp_path / "run.safetensors"
    write_run(path, run, Schedule(steps=2))
    with pytest.raises(ValueError, match="checkpoint must be of a run with the same schedule"):
        resume(path, run, Schedule(steps=3))
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="checkpoint must be a file that a run has written"):
        resume(path, run, Schedule(steps=2))
