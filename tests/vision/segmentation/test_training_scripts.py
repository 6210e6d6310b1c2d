"""The scripts that train on CamVid and on made scenes, on little and with a tiny network."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import pellucid
from pellucid.vision.models import UNet
from pellucid.vision.segmentation import train_camvid, train_digit_maps


@pytest.fixture
def frames(tmp_path):
    random = np.random.default_rng(0)
    names = ["sky", "building", "pole", "road", "pavement", "tree", "sign", "fence", "car", "pedestrian", "bicyclist"]
    (tmp_path / "classes.txt").write_text("\n".join([*names, "unlabelled"]), encoding="utf-8")
    for split in ("train", "val", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / f"{split}_labels").mkdir()
        for number in range(22):
            labels = np.where(np.arange(16)[:, None] < 8, 0, 3) + np.zeros((16, 20), int)
            labels[12:, 5:9], labels[0] = 8, 11
            image = 20 * labels[..., None] + random.integers(0, 15, (16, 20, 3))
            Image.fromarray(labels.astype(np.uint8)).save(tmp_path / f"{split}_labels" / f"{number:03}.png")
            Image.fromarray(image.astype(np.uint8)).save(tmp_path / split / f"{number:03}.jpg", quality=95)
    return tmp_path


def test_it_trains_scores_and_writes(frames, monkeypatch, capsys):
    network = UNet(None, None, "same", width=2, dropout=0.0, batch_normalization=True)
    monkeypatch.setitem(train_camvid.NETWORKS, "unet", (network, 0.01))
    out = frames / "model.safetensors"
    train_camvid.main(["--images", str(frames), "--minutes", "0.03", "--out", str(out), "--device", "cpu"])
    assert "unet test mIoU" in capsys.readouterr().out
    found = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    low, high = found["test"]["interval of 95 %, scenes drawn"]
    assert 0.0 <= low <= found["test"]["mean IoU"] <= high <= 1.0
    assert set(found["test"]["IoU"]) == {"sky", "road", "car"}
    model = pellucid.load(out)
    images, maps = train_camvid.read_split(frames, "test")
    assert model.score(images, maps) == pytest.approx(found["test"]["mean IoU"])


def test_rare_classes_count_more_but_pixels_one_on_average():
    maps = [np.array([[0] * 9 + [3] + [11] * 5], dtype=np.uint8)]
    weights = train_camvid.root_balance(maps)
    assert weights[3] / weights[0] == pytest.approx(3.0)  # the root of 9
    assert 9 * weights[0] + weights[3] == pytest.approx(10.0)


def test_a_folder_without_frames_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a folder with train/\*.jpg"):
        train_camvid.read_split(tmp_path, "train")


def test_made_scenes_are_learned_and_scored(tmp_path):
    out = tmp_path / "digits.safetensors"
    words = ["--size", "32", "--scenes", "6", "--tested", "4", "--epochs", "1", "--width", "2", "--device", "cpu"]
    train_digit_maps.main([*words, "--out", str(out)])
    found = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert 0.0 <= found["mean IoU"] <= 1.0
    assert found["epochs"] == 1
    assert pellucid.load(out).classes_.max() == 10
