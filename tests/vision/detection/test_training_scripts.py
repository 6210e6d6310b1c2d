"""The scripts that train: one runs to its end on few scenes, the other reads photographs as they are published."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from PIL import Image

import pellucid
from pellucid.vision.detection import train_digits
from pellucid.vision.detection.train_photos import read_coco128, read_pennfudan


def test_a_localizer_is_trained_scored_and_written(tmp_path, capsys):
    out = tmp_path / "two.safetensors"
    words = ["--network", "two digits", "--scenes", "24", "--tested", "8", "--epochs", "1", "--device", "cpu"]
    train_digits.main([*words, "--out", str(out)])
    figures = json.loads(out.with_suffix(".json").read_text())
    assert {"AP50", "accuracy", "mean overlap", "weights", "losses"} <= set(figures)
    assert 0.0 <= figures["accuracy"] <= 1.0
    assert pellucid.load(out).architecture_.objects == 2
    assert "two digits" in capsys.readouterr().out


def test_accuracy_pairs_objects_from_left_to_right():
    from pellucid.vision.detection import Annotations, Detections

    truth = [Annotations([[0, 0, 4, 4], [10, 0, 14, 4]], [3, 7])]
    found = [Detections([[10, 0, 14, 2], [0, 0, 4, 4]], [0.9, 0.8], [7, 5])]
    assert train_digits.accuracy_and_overlap(found, truth) == {"accuracy": 0.5, "mean overlap": 0.75}


def test_pedestrians_are_read_from_their_masks(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "masks").mkdir()
    Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(tmp_path / "images" / "A1.jpg")
    numbers = np.zeros((20, 30), np.uint8)
    numbers[2:9, 3:7], numbers[5:15, 20:28] = 1, 2
    Image.fromarray(numbers).save(tmp_path / "masks" / "A1_mask.png")
    (image,), (truth,) = read_pennfudan(tmp_path, None)
    assert image.shape == (20, 30, 3)
    assert truth.boxes.tolist() == [[3, 2, 7, 9], [20, 5, 28, 15]]
    assert truth.masks.sum(axis=(1, 2)).tolist() == [28, 80]


def test_boxes_of_coco_are_in_parts_of_their_image(tmp_path):
    (tmp_path / "train2017").mkdir()
    for name in ("000000000009", "000000000025"):
        Image.fromarray(np.zeros((40, 80, 3), np.uint8)).save(tmp_path / "train2017" / f"{name}.jpg")
    lines = ("image,class_id,class_name,x_center,y_center,width,height", "000000000009,45,bowl,0.5,0.5,0.5,0.25")
    (tmp_path / "boxes_train2017.csv").write_text("\n".join(lines), encoding="utf-8")
    images, truth = read_coco128(tmp_path, None)
    assert len(images) == 2
    assert truth[0].boxes.tolist() == [[20, 15, 60, 25]]
    assert truth[0].labels.tolist() == [45]
    assert len(truth[1]) == 0
