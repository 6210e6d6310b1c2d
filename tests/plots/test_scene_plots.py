"""Objects and label maps over an image."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

pytest.importorskip("torch")

from pellucid.plots import plot_label_map, plot_objects
from pellucid.vision.detection.annotations import Annotations, Detections


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


IMAGE = np.random.default_rng(0).random((20, 30))


def test_boxes_lie_around_their_pixels_and_are_named():
    found = Detections(boxes=[[2, 3, 10, 8], [0, 0, 4, 4]], scores=[0.9, 0.2], labels=[7, 1])
    ax = plot_objects(IMAGE, found, names={7: "seven"}, least=0.5)
    (box,) = ax.patches
    assert (box.get_x(), box.get_y(), box.get_width(), box.get_height()) == (1.5, 2.5, 8, 5)
    assert [text.get_text() for text in ax.texts] == ["seven 0.90"]
    np.testing.assert_array_equal(ax.images[0].get_array(), IMAGE)


def test_masks_are_veils_of_the_color_of_the_box():
    mask = np.zeros((1, 20, 30), dtype=bool)
    mask[0, 3:8, 2:10] = True
    ax = plot_objects(IMAGE, Annotations(boxes=[[2, 3, 10, 8]], labels=["cat"], masks=mask))
    veil = np.asarray(ax.images[1].get_array())
    np.testing.assert_array_equal(veil[..., 3] > 0, mask[0])
    np.testing.assert_allclose(veil[3, 2, :3], ax.patches[0].get_edgecolor()[:3])
    assert ax.texts[0].get_text() == "cat"


def test_a_label_map_has_a_veil_and_a_share_for_each_class():
    labels = np.zeros((20, 30), dtype=int)
    labels[:5] = 2
    labels[5:10, :15] = 1
    ax = plot_label_map(np.stack([IMAGE] * 3), labels, names={1: "road"}, ignore=0)  # a network's order of channels
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["road (12%)", "2 (25%)"]
    np.testing.assert_array_equal(np.asarray(ax.images[2].get_array())[..., 3] > 0, labels == 2)
    assert ax.images[0].get_array().shape == (20, 30, 3)
    with pytest.raises(ValueError, match=r"a class for each of \(20, 30\) pixels, got shape \(3, 3\)"):
        plot_label_map(IMAGE, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="image must be gray or have three channels"):
        plot_objects(np.zeros((4, 5, 7)), Annotations(boxes=np.zeros((0, 4)), labels=[]))
