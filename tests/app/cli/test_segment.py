"""``pellucid segment``: what is written, that it agrees, and what is refused."""

import json

import numpy as np
import pytest
from PIL import Image

import pellucid
from pellucid.app.cli.application import run
from pellucid.app.pictures.segment_image import class_colors, with_legend
from pellucid.linear_model import LinearRegression
from pellucid.vision.detection.mask_coding import run_lengths

pytest.importorskip("torch", reason="a Segmenter runs on torch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from pellucid.vision.models import UNet
    from pellucid.vision.segmentation import Segmenter

    folder = tmp_path_factory.mktemp("segment")
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (6, 16, 20, 3)).astype(np.uint8)
    images[:, :8] //= 4
    maps = np.where(np.arange(16)[:, None] < 8, 3, 7) + np.zeros((6, 16, 20), int)
    network = UNet(None, None, "same", width=2, dropout=0.0, batch_normalization=True)
    model = Segmenter(network, epochs=15, batch_size=2, learning_rate=0.02, random_state=0).fit(images, maps)
    pellucid.save(model, folder / "model.safetensors")
    Image.fromarray(images[0]).save(folder / "photo.png")
    Image.fromarray(images[0][:, :, 0]).save(folder / "gray.png")
    (folder / "names.txt").write_text("sky\nsea\n", encoding="utf-8")
    return folder


def test_a_photo_becomes_picture_labels_json_and_page(folder, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--model", str(folder / "model.safetensors"), "--names", str(folder / "names.txt"), "--out", str(out)]
    assert run(["segment", str(folder / "photo.png"), *options]) == 0
    assert "sky" in capsys.readouterr().out
    model = pellucid.load(folder / "model.safetensors")
    expected = model.predict([np.asarray(Image.open(folder / "photo.png"))])[0]
    assert np.array_equal(np.asarray(Image.open(out / "photo_labels.png")), expected)
    document = json.loads((out / "photo_segments.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in document["categories"]] == ["sky", "sea"]
    assert sum(one["area"] for one in document["annotations"]) == expected.size
    largest = document["annotations"][0]
    runs = largest["segmentation"]["counts"]
    flat = np.repeat(np.arange(len(runs)) % 2, runs).astype(bool).reshape(16, 20, order="F")
    assert np.array_equal(flat, expected == model.classes_[largest["category_id"]])
    picture = np.asarray(Image.open(out / "photo_segmented.png"))
    assert picture.shape[0] > 16  # with its legend
    page = (out / "segmented.html").read_text(encoding="utf-8")
    assert "sky" in page
    assert "nothing here proves that a label is right" in page


def test_gray_photos_and_tiles_are_taken(folder, tmp_path):
    options = ["--model", str(folder / "model.safetensors"), "--tile", "32", "--out", str(tmp_path / "out")]
    assert run(["segment", str(folder / "gray.png"), *options]) == 0


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_masks_are_written_as_coco_writes_them():
    mask = pytest.importorskip("pycocotools.mask")
    random = np.random.default_rng(0)
    for _ in range(20):
        chosen = random.random((7, 5)) < random.random()
        packed = mask.frPyObjects({"size": [7, 5], "counts": run_lengths(chosen)}, 7, 5)
        assert np.array_equal(mask.decode(packed), chosen)


def test_colors_differ_and_a_legend_is_as_wide_as_its_words():
    assert len(set(class_colors(40))) == 40
    assert with_legend(np.zeros((4, 8, 3), np.uint8), [("a long name", (255, 0, 0))]).shape[1] > 80


# errors


def refused(capsys, *arguments):
    assert run(["segment", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_bad_input_gets_a_sentence_and_no_file(folder, tmp_path, capsys):
    out, photo, model = tmp_path / "out", folder / "photo.png", folder / "model.safetensors"
    (tmp_path / "broken.png").write_bytes(b"no picture")
    pellucid.save(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "line.safetensors")
    (tmp_path / "names.txt").write_text("sky\n", encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = [
        ((tmp_path / "none.png", "--model", model, "--out", out), "does not exist"),
        ((tmp_path / "broken.png", "--model", model, "--out", out), "cannot be read"),
        ((photo, "--model", tmp_path / "none", "--out", out), "model must be a file"),
        ((photo, "--model", tmp_path / "line.safetensors", "--out", out), "must be a fitted Segmenter, got LinearReg"),
        ((photo, "--model", model, "--names", tmp_path / "names.txt", "--out", out), "each of the 2 classes"),
        ((photo, "--model", model, "--names", tmp_path / "none", "--out", out), "names must be a text file"),
        ((photo, "--model", model, "--out", tmp_path / "file"), "out must be a folder"),
    ]
    for arguments, sentence in said:
        assert sentence in refused(capsys, *arguments)
    assert not out.exists()
