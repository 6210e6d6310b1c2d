"""``pellucid detect`` and ``pellucid fit-detector``: what is written, that it agrees, and what is refused."""

import json

import numpy as np
import pytest
from PIL import Image

import pellucid
from pellucid.app.cli.application import run
from pellucid.app.pictures.annotated_folder import near_duplicates, read_annotated_folder
from pellucid.app.pictures.detect_image import draw_boxes, drawn_detections
from pellucid.app.pictures.fit_detector import cautions_of, network_for, split_scenes
from pellucid.linear_model import LinearRegression
from pellucid.vision.detection import Detections

pytest.importorskip("torch", reason="a Detector runs on torch")

N_IMAGES = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Bright squares and bars on dark ground, with a table and COCO's JSON of them."""
    folder = tmp_path_factory.mktemp("detect")
    (folder / "images").mkdir()
    random = np.random.default_rng(0)
    lines, annotations = ["image,x1,y1,x2,y2,label"], []
    for number in range(N_IMAGES):
        image = random.integers(0, 60, (48, 64, 3)).astype(np.uint8)
        left, top = (int(k) for k in random.integers(2, 26, 2))
        width, height, label = ((16, 16, "square"), (8, 20, "bar"))[number % 2]
        image[top : top + height, left : left + width] = 230
        Image.fromarray(image).save(folder / "images" / f"{number:02}.png")
        lines.append(f"{number:02},{left},{top},{left + width},{top + height},{label}")
        right, bottom = left + width, top + height
        outline = [left, top, right, top, right, bottom, left, bottom]
        known = {"bbox": [left, top, width, height], "segmentation": [outline]}
        annotations.append({"id": number, "image_id": number, "category_id": number % 2, **known})
    (folder / "boxes.csv").write_text("\n".join(lines), encoding="utf-8")
    images = [{"id": k, "file_name": f"{k:02}.png", "height": 48, "width": 64} for k in range(N_IMAGES)]
    categories = [{"id": 0, "name": "square"}, {"id": 1, "name": "bar"}]
    document = {"images": images, "categories": categories, "annotations": annotations}
    (folder / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    from pellucid.vision.detection import Detector, Localizer, SmallBody

    scenes = read_annotated_folder(folder / "images", folder / "boxes.csv")
    network = Localizer(SmallBody((8, 16, 24)), width=32)
    fitted = Detector(network, epochs=2, batch_size=4, learning_rate=0.003, random_state=0, device="cpu")
    pellucid.save(fitted.fit(scenes.images, scenes.annotations), folder / "model.safetensors")
    return folder / "model.safetensors"


# detect


def test_a_photo_becomes_picture_json_and_page(folder, model, tmp_path, capsys):
    out, photo = tmp_path / "out", folder / "images" / "00.png"
    assert run(["detect", str(photo), "--model", str(model), "--threshold", "0", "--out", str(out)]) == 0
    assert "Picture" in capsys.readouterr().out
    (expected,) = pellucid.load(model).predict([np.asarray(Image.open(photo))])
    document = json.loads((out / "00_objects.json").read_text(encoding="utf-8"))
    assert len(document["annotations"]) == len(expected) > 0
    scores = [one["score"] for one in document["annotations"]]
    np.testing.assert_allclose(scores, np.sort(expected.scores)[::-1], atol=1e-6)
    names = {one["id"]: one["name"] for one in document["categories"]}
    assert set(names.values()) == {"bar", "square"}
    assert np.asarray(Image.open(out / "00_detected.png")).shape == (48, 64, 3)
    page = (out / "detected.html").read_text(encoding="utf-8")
    assert "nothing here proves that a box is right" in page


def test_a_photo_in_which_nothing_is_found_is_written_too(folder, model, tmp_path, capsys):
    options = ["--model", str(model), "--threshold", "1.0", "--out", str(tmp_path / "out")]
    assert run(["detect", str(folder / "images" / "00.png"), *options]) == 0
    assert "Nothing was found" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "00_objects.json").read_text(encoding="utf-8"))["annotations"] == []


def test_bad_photos_and_models_get_a_sentence_and_no_file(folder, model, tmp_path, capsys):
    out = tmp_path / "out"
    (tmp_path / "broken.png").write_bytes(b"no picture")
    pellucid.save(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "line.safetensors")
    photo = str(folder / "images" / "00.png")
    for image, file, words in (
        (str(tmp_path / "broken.png"), model, "cannot be read"),
        (photo, tmp_path / "none.safetensors", "does not exist"),
        (photo, tmp_path / "line.safetensors", "must be a fitted Detector, got LinearRegression"),
    ):
        assert run(["detect", image, "--model", str(file), "--out", str(out)]) == 2
        assert words in capsys.readouterr().err
    assert not out.exists()


def test_boxes_and_masks_are_drawn_in_the_color_of_their_class():
    masks = np.zeros((1, 30, 40), bool)
    masks[0, 16:20, 6:12] = True
    found = Detections([[5, 15, 20, 25]], [0.9], ["b"], masks)
    picture = drawn_detections(np.zeros((30, 40, 3), np.uint8), found, ["a", "b"])
    color = picture[24, 10]
    assert color.any()
    assert (picture[24, 5:20] == color).all()
    np.testing.assert_allclose(picture[17, 7], 0.45 * color.astype(float), atol=1)
    assert not picture[21, 15].any()
    flat = draw_boxes(np.zeros((9, 9, 3), np.uint8), np.array([[2.0, 2.0, 2.0, 2.0]]), [""], [(9, 9, 9)])
    assert flat[2, 2].tolist() == [9, 9, 9]  # a box without a size is a point


# fit-detector


@pytest.mark.parametrize(
    ("boxes", "network"), [("boxes.csv", "faster r-cnn"), ("coco.json", "yolo"), ("coco.json", "mask r-cnn")]
)
def test_a_folder_becomes_a_detector_with_its_page(folder, tmp_path, capsys, boxes, network):
    out = tmp_path / "out"
    options = ["--boxes", str(folder / boxes), "--epochs", "1", "--device", "cpu", "--network", network]
    assert run(["fit-detector", str(folder / "images"), *options, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "AP50" in said
    assert "Beware: There are only 9 images to learn from" in said
    fitted = pellucid.load(out / "detector.safetensors")
    assert fitted.classes_.tolist() == ["bar", "square"]
    page = (out / "detector.html").read_text(encoding="utf-8")
    assert "What to beware of" in page
    assert "judged on 3 others" in page
    document = json.loads((out / "test_objects.json").read_text(encoding="utf-8"))
    assert len(document["images"]) == 3
    learns_masks = network == "mask r-cnn"
    assert ("AP50 of masks" in said) == ("precision of the masks" in page) == learns_masks


def test_all_faults_are_listed_before_training(folder, tmp_path, capsys):
    lines = (folder / "boxes.csv").read_text(encoding="utf-8").splitlines()
    broken = folder / "images" / "broken.png"
    broken.write_bytes(b"no picture")
    lines += ["00,1,1,1,9,bar", "01,1,1,900,9,bar", "02,1,1,9,9,", "nobody,1,1,9,9,bar", "broken,1,1,9,9,bar"]
    (tmp_path / "boxes.csv").write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    try:
        assert (
            run(["fit-detector", str(folder / "images"), "--boxes", str(tmp_path / "boxes.csv"), "--out", str(out)])
            == 2
        )
    finally:
        broken.unlink()
    said = capsys.readouterr().err
    for words in (
        "line 14: the box [1, 1, 1, 9] in 00 is empty",
        "line 15: the box [1, 1, 900, 9] is outside of 01, 64 x 48 pixels",
        "line 16: the box has no label",
        "nobody is in boxes.csv, but not in images",
        "broken.png, which cannot be read",
    ):
        assert words in said
    assert not out.exists()


def test_too_few_images_and_wrong_names_get_a_sentence(folder, tmp_path, capsys):
    (tmp_path / "few.csv").write_text("image,x1,y1,x2,y2,label\n00,1,1,9,9,bar\n", encoding="utf-8")
    (tmp_path / "none.csv").write_text("image,x1,y1,x2,y2,label\n", encoding="utf-8")
    images, good = str(folder / "images"), str(folder / "boxes.csv")
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        ([images, "--boxes", str(tmp_path / "few.csv")], "images must be at least 4"),
        ([images, "--boxes", str(tmp_path / "none.csv")], "must name an object"),
        (
            [images, "--boxes", good, "--network", "resnet"],
            "network must be auto or one of pretrained faster r-cnn, faster r-cnn",
        ),
        ([images, "--boxes", good, "--network", "mask r-cnn"], "boxes must give every object a segmentation"),
        ([str(tmp_path / "empty"), "--boxes", good], "which has none"),
        ([str(tmp_path / "nowhere"), "--boxes", good], "must be a folder"),
    ):
        assert run(["fit-detector", *arguments, "--out", str(tmp_path / "out")]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_frames_of_one_scene_are_found_and_kept_together():
    random = np.random.default_rng(1)
    scenes = [np.kron(random.integers(0, 200, (6, 8)), np.ones((10, 10))).astype(np.uint8) for _ in range(10)]
    frames = [np.clip(scenes[3] + random.integers(0, 4, scenes[3].shape), 0, 255).astype(np.uint8) for _ in range(2)]
    assert near_duplicates([*scenes, *frames]) == [[3, 10, 11]]
    for seed in range(20):
        learned, tested = split_scenes(12, [[3, 10, 11]], seed)
        assert not set(learned) & set(tested)
        assert len(set(tested) & {3, 10, 11}) in (0, 3)
        assert 1 <= len(tested) <= 3
    with pytest.raises(ValueError, match="must show different scenes"):
        split_scenes(8, [list(range(8))], 0)


def test_cautions_say_what_is_known(folder):
    scenes = read_annotated_folder(folder / "images", folder / "boxes.csv")
    learned, tested = scenes.take(np.arange(1, 12, 2)), scenes.take(np.array([0]))  # bars, and a square
    said = " ".join(cautions_of(learned, tested, [["01.png", "02.png"]]))
    for words in (
        "only 6 images to learn from",
        "bar (6)",
        "Nothing is known about bar",
        "square could not be learned",
    ):
        assert words in said
    assert "2 images are nearly the same as another one (01.png, 02.png)" in said


def test_anchors_are_as_large_as_the_objects(folder):
    scenes = read_annotated_folder(folder / "images", folder / "boxes.csv")
    network = network_for("faster r-cnn", scenes)
    assert network.anchor_sizes[0] == 13  # sqrt(8 x 20)
    assert network.short_side is None
    assert len(network_for("yolo", scenes).anchors) == 4
    assert len(network_for("pretrained faster r-cnn", scenes).anchor_sizes) == 5
