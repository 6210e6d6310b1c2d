"""Files of boxes: read, with all their faults; written so that COCO's own program reads them."""

import json

import numpy as np
import pytest

from pellucid.vision.detection import Detections, coco_detections, read_annotation_file
from pellucid.vision.detection.mask_coding import mask_of, run_lengths


def table(tmp_path, text, name="boxes.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_annotation_file(path)


def coco(tmp_path, **changed):
    document = {
        "images": [{"id": 7, "file_name": "a.png", "height": 20, "width": 30}, {"id": 8, "file_name": "b.png"}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 5, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 5, "bbox": [1, 2, 10, 5]},
            {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 30, 20], "iscrowd": 1},
        ],
    }
    return table(tmp_path, json.dumps(document | changed), "coco.json")


# by hand


@pytest.mark.parametrize(
    "text",
    [
        "image,x1,y1,x2,y2,label\na.png,1,2,11,7,dog\n",
        "image,object,label,xmin,ymin,xmax,ymax\na.png,1,dog,1,2,11,7\n",
        "\ufeffFileName, Class ,Left,Top,Right,Bottom\r\n a.png , dog ,1,2,11,7\r\n\r\n",
        "image,class_id,class_name,x_center,y_center,width,height\na.png,3,dog,0.2,0.225,0.333333333333,0.25\n",
    ],
)
def test_tables_with_usual_heads_are_read(tmp_path, text):
    file = table(tmp_path, text)
    assert not file.faults
    objects, faults = file.in_image("a.png", 20, 30)
    assert not faults
    np.testing.assert_allclose(objects.boxes, [[1, 2, 11, 7]], atol=1e-9)
    assert objects.labels.tolist() == ["dog"]


def test_coco_json_is_read(tmp_path):
    file = coco(tmp_path)
    assert not file.faults
    assert file.images == {"a.png": (20, 30), "b.png": None}
    objects, faults = file.in_image("a.png", 20, 30)
    assert not faults
    np.testing.assert_array_equal(objects.boxes, [[1, 2, 11, 7], [0, 0, 30, 20]])
    assert objects.labels.tolist() == ["dog", "cat"]
    assert objects.crowd.tolist() == [False, True]
    empty, faults = file.in_image("b.png", 9, 9)
    assert len(empty) == 0
    assert not faults


def test_boxes_a_pixel_outside_are_cut_off(tmp_path):
    file = table(tmp_path, "image,x1,y1,x2,y2,label\na.png,-1,0,31,20,dog\n")
    objects, faults = file.in_image("a.png", 20, 30)
    assert not faults
    np.testing.assert_array_equal(objects.boxes, [[0, 0, 30, 20]])


# faults


def test_all_faults_of_a_table_are_listed(tmp_path):
    file = table(tmp_path, "image,x1,y1,x2,y2,label\na,1,2,3,4,\n,1,2,3,4,dog\na,1,2,x,4,dog\na,1,2,nan,4,dog\na,1,2\n")
    assert file.faults == [
        "line 2: the box has no label",
        "line 3: no image is named",
        "line 4: x1, y1, x2, y2 are not all numbers",
        "line 5: x1, y1, x2, y2 are not all numbers",
        "line 6: the box has no label",
        "line 6: x1, y1, x2, y2 are not all numbers",
    ]


def test_boxes_that_do_not_fit_their_image_are_faults(tmp_path):
    file = table(tmp_path, "image,x1,y1,x2,y2,label\na,5,2,5,4,dog\na,9,2,5,4,dog\na,1,2,40,4,dog\na,1,2,9,4,dog\n")
    objects, faults = file.in_image("a", 20, 30)
    assert len(objects) == 1
    assert faults == [
        "line 2: the box [5, 2, 5, 4] in a is empty",
        "line 3: the box [9, 2, 5, 4] in a is empty",
        "line 4: the box [1, 2, 40, 4] is outside of a, 30 x 20 pixels",
    ]


def test_all_faults_of_coco_json_are_listed(tmp_path):
    wrong = [
        {"id": 1, "image_id": 9, "category_id": 1, "bbox": [1, 2, 3, 4]},
        {"id": 2, "image_id": 7, "category_id": 9, "bbox": [1, 2, 3, 4]},
        {"id": 3, "image_id": 7, "category_id": 1, "bbox": [1, 2, 3]},
        {"image_id": 7, "category_id": 1},
        "nonsense",
    ]
    faults = coco(tmp_path, annotations=wrong).faults
    assert faults[:3] == [
        "annotation 1: the image 9 is not listed",
        "annotation 2: the class 9 is not listed",
        "annotation 3: its bbox is not four numbers",
    ]
    assert any(fault.startswith("annotation 4: ") for fault in faults)


def test_an_image_of_another_size_is_a_fault(tmp_path):
    _, faults = coco(tmp_path).in_image("a.png", 10, 15)
    assert "a.png has 15 x 10 pixels where coco.json says 30 x 20" in faults


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("boxes.csv", "", "columns for image, label and x1, y1, x2, y2, got nothing"),
        ("boxes.csv", "picture,x1,y1,x2,y2,label\n", "columns for image"),
        ("boxes.csv", "image,label,x1,y1,x2\n", "columns for image"),
        ("boxes.json", "{", "must be COCO's JSON"),
        ("boxes.json", "[]", "must be COCO's JSON"),
        ("boxes.json", '{"images": []}', "must be COCO's JSON"),
        ("boxes.txt", "", "a .csv file, or COCO's .json"),
    ],
)
def test_files_that_are_none_get_a_sentence(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        table(tmp_path, text, name)


def test_a_file_that_is_missing_or_no_text_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="which does not exist"):
        read_annotation_file(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match="must be a text file"):
        read_annotation_file(tmp_path / "bytes.csv")


# written, and read by the peer


def test_detections_are_written_as_coco_reads_them(tmp_path):
    mask = np.zeros((1, 20, 30), bool)
    mask[0, 3:9, 4:12] = True
    found = [Detections([[4, 3, 12, 9]], [0.75], ["dog"], mask), Detections(np.zeros((0, 4)), [], np.zeros(0, str))]
    document = coco_detections(found, ["a.png", "b.png"], [(20, 30), (5, 5)], ["cat", "dog"])
    assert [one["file_name"] for one in document["images"]] == ["a.png", "b.png"]
    (one,) = document["annotations"]
    assert one["bbox"] == [4.0, 3.0, 8.0, 6.0]
    assert one["area"] == 48
    again = table(tmp_path, json.dumps(document), "found.json")
    assert not again.faults
    objects, _ = again.in_image("a.png", 20, 30)
    np.testing.assert_array_equal(objects.boxes, [[4, 3, 12, 9]])
    peer = pytest.importorskip("pycocotools.mask")
    packed = peer.frPyObjects(one["segmentation"], 20, 30)
    assert peer.area(packed) == 48
    assert run_lengths(np.ones((2, 2), bool)) == [0, 4]


# masks


def test_masks_of_coco_json_are_drawn_if_asked_for(tmp_path):
    runs = {"size": [20, 30], "counts": [0, 600]}
    listed = [
        {"id": 1, "image_id": 7, "category_id": 5, "bbox": [1, 2, 10, 5], "segmentation": [[1, 2, 11, 2, 11, 7, 1, 7]]},
        {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 30, 20], "iscrowd": 1, "segmentation": runs},
    ]
    file = coco(tmp_path, annotations=listed)
    assert file.has_masks
    assert file.in_image("a.png", 20, 30)[0].masks is None
    objects, faults = file.in_image("a.png", 20, 30, masks=True)
    assert not faults
    rectangle = np.zeros((20, 30), bool)
    rectangle[2:7, 1:11] = True
    np.testing.assert_array_equal(objects.masks, [rectangle, np.ones((20, 30), bool)])
    assert objects.area.tolist() == [50, 600]
    assert file.in_image("b.png", 9, 8, masks=True)[0].masks.shape == (0, 9, 8)
    assert not coco(tmp_path, annotations=[listed[0], {**listed[1], "segmentation": []}]).has_masks


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ([[1, 2, 3, 4]], "three corners or more"),
        ([[1, 2, 3, 4, 5, 6, 7]], "three corners or more"),
        ([[1, 2, 3, 4, 5, float("nan")]], "three corners or more"),
        (["1,2,3"], "three corners or more"),
        ("polygon", "neither a list of polygons nor lengths of runs"),
        ({"size": [20, 31], "counts": [620]}, "where the image has [20, 30]"),
        ({"size": [20, 30], "counts": [5]}, "do not add up to 20 x 30 pixels"),
        ({"size": [20, 30], "counts": [-5, 605]}, "do not add up to 20 x 30 pixels"),
        ({"size": [20, 30], "counts": "\u20ac"}, "signs that are not COCO's"),
    ],
)
def test_masks_that_are_none_are_faults(tmp_path, written, fault):
    listed = [{"id": 3, "image_id": 7, "category_id": 5, "bbox": [1, 2, 10, 5], "segmentation": written}]
    _, (found,) = coco(tmp_path, annotations=listed).in_image("a.png", 20, 30, masks=True)
    assert found.startswith("annotation 3: ")
    assert fault in found


def test_runs_are_read_as_the_peer_packs_them():
    peer = pytest.importorskip("pycocotools.mask")
    rng = np.random.default_rng(0)
    for share in (0.0, 0.02, 0.5, 1.0):
        mask = rng.random((37, 53)) < share
        packed = peer.encode(np.asfortranarray(mask, dtype=np.uint8))
        text = {"size": packed["size"], "counts": packed["counts"].decode()}
        np.testing.assert_array_equal(mask_of(text, 37, 53), mask)
        np.testing.assert_array_equal(mask_of({"size": [37, 53], "counts": run_lengths(mask)}, 37, 53), mask)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the peer
def test_polygons_differ_from_the_peers_along_their_outline_only():
    peer = pytest.importorskip("pycocotools.mask")
    from scipy.ndimage import binary_dilation, binary_erosion

    rng = np.random.default_rng(1)
    for _ in range(50):
        angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
        radius = rng.uniform(8, 25, 7)
        corners = np.column_stack([30 + radius * np.cos(angles), 22 + radius * np.sin(angles)])
        polygon = corners.ravel().tolist()
        theirs = peer.decode(peer.merge(peer.frPyObjects([polygon], 40, 60))).astype(bool)
        ours = mask_of([polygon], 40, 60)
        around = np.ones((3, 3), bool)
        assert not (binary_erosion(theirs, around) & ~ours).any()
        assert not (ours & ~binary_dilation(theirs, around)).any()
        assert abs(int(ours.sum()) - int(theirs.sum())) <= 0.12 * theirs.sum() + 8


def test_a_mask_is_the_union_of_its_polygons_and_is_cut_at_the_border():
    left, right = [-5, -5, 2, -5, 2, 50, -5, 50], [1, 0, 4, 0, 4, 2, 1, 2]
    expected = np.zeros((3, 6), bool)
    expected[:, :2] = True
    expected[:2, 1:4] = True
    np.testing.assert_array_equal(mask_of([left, right], 3, 6), expected)
