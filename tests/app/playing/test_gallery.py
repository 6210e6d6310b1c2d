"""The gallery: its pages stay within their limits, its cards show what the recordings have, its list is true."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pellucid.app.playing import load_set, record_play
from pellucid.app.playing.gallery import EXHIBITS, build_gallery
from pellucid.app.playing.plays import find_play
from pellucid.app.playing.recording import LARGEST
from pellucid.app.playing.thumbnail import HEIGHT, WIDTH, thumbnail
from pellucid.cluster import KMeans

SOME = ["kd_tree", "convolution", "naive_bayes", "computation_graph", "merges"]
PAGE = 200_000
"""Bytes of a page without its recording."""


def test_pages_and_an_index_are_built_within_their_limits(tmp_path):
    build_gallery(tmp_path / "gallery", SOME)
    index = (tmp_path / "gallery" / "index.html").read_text()
    for name in SOME:
        page = (tmp_path / "gallery" / f"{name}.html").read_text()
        recording = re.search(r'id="recording">(.*?)</script>', page, re.DOTALL)[1]
        assert len(recording.encode()) <= LARGEST
        assert len(page.encode()) - len(recording.encode()) <= PAGE
        assert f'href="{name}.html"' in index
    assert index.count("<svg") == len(SOME)
    assert "http-equiv" in index
    assert not re.findall(r'(?:src|href)="https?:', index)


def test_the_list_in_the_documentation_is_that_of_the_gallery():
    rows = re.findall(
        r"^\| `(\w+)` \| `([\w-]+)` \| (.*) \|$",
        (Path(__file__).parents[3] / "docs" / "gallery.md").read_text(),
        re.MULTILINE,
    )
    assert rows == [(name, exhibit.play, exhibit.words) for name, exhibit in EXHIBITS.items()]
    assert len(EXHIBITS) >= 24


@pytest.mark.parametrize("name", EXHIBITS)
def test_exhibits_have_parameters_that_their_plays_take(name):
    exhibit = EXHIBITS[name]
    domains = find_play(exhibit.play).domains
    assert all(domains[key].fits(value) for key, value in exhibit.parameters.items())


def test_a_thumbnail_has_a_dot_for_each_row_and_center_inside_of_its_frame():
    X, _, _ = load_set("blobs", rows=60)
    recording = record_play(KMeans(3, random_state=0), X)
    root = ElementTree.fromstring(thumbnail(recording))
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(dots) == 60 + 3
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in dots)
    (x0, x1), (y0, y1) = recording.axes["x"]["range"], recording.axes["y"]["range"]
    unit = min((WIDTH - 12) / (x1 - x0), (HEIGHT - 12) / (y1 - y0))
    (a, b), (c, d) = dots[0], dots[1]
    assert c - a == pytest.approx(unit * (X[1, 0] - X[0, 0]), abs=0.3)
    assert d - b == pytest.approx(-unit * (X[1, 1] - X[0, 1]), abs=0.3)


def test_a_name_that_is_none_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="page must be a name that is known, got 'merge'; merges"):
        build_gallery(tmp_path, ["merge"])
