"""The page that plays a recording: one file, nothing from outside, drawn by a real browser without a complaint."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pellucid.app.playing import export, record_play
from pellucid.app.playing.export import export_page, joined_script, page_with
from pellucid.cluster import KMeans
from pellucid.plots.drawing.style import MORE_COLORS
from tests.app.playing import made_recordings
from tests.app.playing.conftest import wait_for

PAGE = Path(export.__file__).parent / "page"
MODULES = sorted(PAGE.glob("*.js"))
MADE = ("clusters", "descent", "curves", "panels", "every_kind")
KINDS = ("points", "segments", "polyline", "band", "regions", "heat", "ellipses", "arrows", "tree", "bars", "matrix")
KINDS += ("text", "image")
LARGEST_PAGE, LARGEST_RECORDING = 200_000, 1_000_000
SLOW = 80.0
"""Milliseconds for a frame: a screen wants 16, a busy machine without a graphics card is given more."""


def recording_in(page):
    text = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.DOTALL)
    return json.loads(text[1])


class WithJson:
    def __init__(self, value):
        self.value = value

    def to_json(self):
        return self.value


# The file


def test_page_without_its_recording_is_small():
    made = made_recordings.descent()
    assert len(page_with(made).encode()) - len(json.dumps(made)) < LARGEST_PAGE


def test_the_largest_recording_fits_its_limit():
    made = made_recordings.large()
    assert (len(made["frames"]), len(made["frames"][0]["layers"][0]["x"])) == (200, 2000)
    assert len(json.dumps(made, separators=(",", ":"))) < LARGEST_RECORDING


@pytest.mark.parametrize("name", MADE)
def test_page_names_no_address_outside(name):
    page = page_with(getattr(made_recordings, name)())
    page = page.replace('xmlns="http://www.w3.org/2000/svg"', "")  # a name, which nothing fetches
    assert not re.findall(r"https?://|(?:src|href)=(?!\"data:|\"\$\{image)|url\((?!#)|@import [\"'(]|\bimport\(", page)
    assert "default-src 'none'" in page


def test_recording_stands_in_the_page_as_it_was_given():
    made = made_recordings.every_kind()
    assert "</script>" in made["title"]
    assert recording_in(page_with(made)) == made
    assert f"<title>{html.escape(made['title'])}</title>" in page_with(made)


def test_what_knows_itself_as_json_is_taken_as_text_or_as_numbers():
    made = made_recordings.descent()
    assert page_with(WithJson(made)) == page_with(WithJson(json.dumps(made, separators=(",", ":")))) == page_with(made)


def test_refuses_what_is_no_number_and_leaves_the_file_that_is_there(tmp_path):
    path = tmp_path / "play.html"
    path.write_text("before")
    made = made_recordings.descent()
    made["trace"]["columns"]["objective"][3] = float("nan")
    with pytest.raises(ValueError, match="must hold finite numbers, got NaN or infinity. Write None"):
        export_page(made, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# The modules


def reached_from(entry):
    return set(re.findall(r"^const module_(\w+) = ", joined_script(entry), re.M))


def test_every_module_is_reached_from_the_page_on_disk_or_from_that_of_a_server():
    on_disk, live = reached_from(export.ENTRY), reached_from(export.LIVE_ENTRY)
    assert on_disk | live == {path.stem for path in MODULES}
    assert "server" in live
    assert not on_disk & {"server", "chooser", "exercises"}  # what needs a server does not travel in a file


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_import_only_what_is_exported(path):
    for names, other in export.IMPORT.findall(path.read_text()):
        assert set(names.split(", ")) <= set(export.EXPORT.findall((PAGE / other).read_text()))
    assert not re.findall(r"^(?:import|export) ", export.EXPORT.sub("", export.IMPORT.sub("", path.read_text())), re.M)


def test_colors_are_those_of_the_plots():
    assert " ".join(MORE_COLORS) in (PAGE / "colors.js").read_text()


def test_types_are_right():
    checker = shutil.which("tsc")
    if checker is None:
        pytest.skip("no TypeScript is installed, which checks the types in the comments")
    done = subprocess.run([checker, "--project", PAGE / "jsconfig.json"], capture_output=True, text=True, check=False)
    assert done.stdout == ""


# In a browser


@pytest.fixture
def browse(open_page, tmp_path):
    """Return a function that opens a file and returns the document or, if asked for, a screenshot.

    It waits for the result of a script of the test, if there is one, or until something is true.
    """

    def run(page, *, place="", size=(1280, 800), dark=False, picture=False, until="true", quiet=False):
        path, image = tmp_path / "page.html", tmp_path / "picture.png"
        path.write_text(page, encoding="utf-8")
        if "dataset.result" in page:
            until = "document.documentElement.dataset.result !== undefined"
        with open_page(f"{path.as_uri()}{place}", size=size, dark=dark, quiet=quiet) as opened:
            wait_for(opened, until)
            if not picture:
                return opened.content()
            opened.screenshot(path=image)
            return np.asarray(Image.open(image).convert("RGB")).astype(int)

    return run


def attribute(document, name):
    found = re.search(rf'<html[^>]*\bdata-{name}="([^"]*)"', document)
    return found and html.unescape(found[1])


def with_script(page, script):
    """Return the page with a script of the test, which its own policy would not let run."""
    page = re.sub(r"<meta http-equiv[^\n]*\n", "", page)
    return page.replace("</body>", f"<script>{script}</script></body>")


@pytest.mark.parametrize("name", MADE)
def test_page_opens_on_the_frame_of_its_address_without_a_complaint(browse, name):
    made = getattr(made_recordings, name)()
    document = browse(page_with(made), place="#frame=2")
    assert attribute(document, "drawn") == "1"
    assert html.escape(made["frames"][1]["label"]) in document
    assert document.count('class="bar"') == len(made["certificate"]["claims"])
    assert re.search(r'id="problem"[^>]* hidden', document)


def test_a_fit_is_recorded_and_played(browse, tmp_path):
    X = np.array([[1, 1], [2, 1], [1, 2], [6, 5], [7, 6], [6, 7], [1, 7]], dtype=float)
    made = record_play(KMeans(2, init=X[:2], n_init=1), X, name="seven rows")
    export_page(made, tmp_path / "fit.html")
    document = browse((tmp_path / "fit.html").read_text(encoding="utf-8"), place="#frame=2")
    assert attribute(document, "drawn") == "1"
    assert html.escape(made.frames[1].label) in document
    assert len(re.findall(r'aria-current="step"', document)) == 1


def test_a_column_without_numbers_and_a_trace_of_one_row_have_no_chart(browse):
    made = made_recordings.curves()
    made["trace"]["columns"]["gap"] = [None] * 12
    assert browse(page_with(made)).count("<figure>") == 1
    made["trace"]["columns"] = {"error": [0.5], "gap": [0.1]}
    made["frames"] = [{**frame, "row": 0} for frame in made["frames"]]
    document = browse(page_with(made))
    assert document.count("<figure>") == 0
    assert re.search(r'id="trace"[^>]* hidden', document)


def test_workings_mark_the_step_of_the_frame(browse):
    document = browse(page_with(made_recordings.clusters()), place="#frame=3")
    marked = re.findall(r'aria-current="step".*?Step (\d)', document, re.DOTALL)
    assert marked == ["3"]


def test_one_step_is_marked_when_the_player_moves_on(browse):
    script = """document.getElementById("step").click();
    setTimeout(() => {
      const marked = document.querySelectorAll("#workings [aria-current]");
      document.documentElement.dataset.result = JSON.stringify([...marked].map((step) => step.innerText.slice(0, 7)));
    }, 100);"""
    document = browse(with_script(page_with(made_recordings.clusters()), script))
    assert json.loads(attribute(document, "result")) == ["Step 2."]


def test_a_claim_that_fails_stands_first_and_ends_behind_the_line(browse):
    document = browse(page_with(made_recordings.clusters()))
    bars = [
        (float(a), float(b))
        for a, b in re.findall(r'<i style="width: ([\d.]+)%;?"></i><s style="left: ([\d.]+)%', document)
    ]
    assert [end < bound for end, bound in bars] == [False, True, True]
    assert bars[1][0] == 0  # a value of 0 has no bar
    # decades: -3.5 and +1.3; the scale goes from -4.52 to 1.3 + 0.12 (1.3 + 4.52)
    assert bars[2][0] == pytest.approx(100 * 1 / (1.301 + 4.523 + 0.12 * 5.824), abs=0.1)


def test_every_kind_of_layer_leaves_ink(browse):
    made = made_recordings.every_kind()
    layers = {layer["kind"]: layer for layer in made["frames"][0]["layers"]}
    assert set(layers) == set(KINDS)
    script = """
    const made = JSON.parse(document.getElementById("recording").textContent);
    const { drawPicture, panelsOf } = module_panels;
    const ink = {};
    for (const layer of [null, ...made.frames[0].layers]) {
      const layers = [layer ?? { kind: "text", x: 0, y: 0, text: "" }];
      const one = { ...made, frames: [{ ...made.frames[0], layers }] };
      const context = document.createElement("canvas").getContext("2d");
      drawPicture(context, { width: 300, height: 150 }, module_colors.currentLook(), one, panelsOf(one), 0);
      const pixels = context.getImageData(0, 0, 300, 150).data;
      ink[layer ? layer.kind : "axes"] = pixels.filter((value, i) => i % 4 === 3 && value > 0).length;
    }
    document.documentElement.dataset.result = JSON.stringify(ink);
    """
    ink = json.loads(attribute(browse(with_script(page_with(made), script)), "result"))
    for kind in KINDS:
        nothing = 0 if kind in ("tree", "bars", "matrix", "image") else ink["axes"]
        assert ink[kind] > nothing + 20, kind


def test_points_that_stay_lie_above_regions_that_change(browse):
    dot = made_recordings.points(np.zeros((1, 2)), 0, size=9)
    frames = [made_recordings.frame("one", made_recordings.nearest_regions(np.array([[9.0, 9.0], [0.0, 0.0]])))]
    script = """
    const { context, width, height } = module_canvas.fitCanvas(document.getElementById("picture"));
    const pixels = context.getImageData(0, 0, width, height).data;
    let blue = 0; // 0072b2, the first of the palette
    for (let i = 0; i < pixels.length; i += 4) {
      blue += pixels[i] === 0 && pixels[i + 1] === 0x72 && pixels[i + 2] === 0xb2;
    }
    document.documentElement.dataset.result = blue;
    """
    document = browse(with_script(page_with(made_recordings.recording(frames, [dot])), script))
    assert int(attribute(document, "result")) > 1000


def test_keys_and_buttons_move_the_player(browse):
    script = """
    const keys = ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "PageUp"];
    const seen = [];
    const shown = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    (async () => {
      for (const key of keys) {
        press(document.body, key);
        await shown();
        seen.push(Number(document.documentElement.dataset.drawn));
      }
      press(document.getElementById("speed"), "ArrowRight");
      document.getElementById("step").click();
      await shown();
      seen.push(Number(document.documentElement.dataset.drawn), document.getElementById("slider").value);
      document.documentElement.dataset.result = JSON.stringify(seen);
    })();
    """
    document = browse(with_script(page_with(made_recordings.descent()), script))
    assert json.loads(attribute(document, "result")) == [1, 2, 1, 59, 59, 0, 6, 7, "7"]


def test_play_goes_to_the_end_and_stops(browse):
    made = made_recordings.curves()
    script = """document.getElementById("speed").value = "4";
    document.getElementById("speed").dispatchEvent(new Event("change"));
    document.getElementById("play").click();"""
    last = str(len(made["frames"]) - 1)
    until = f"document.documentElement.dataset.drawn === '{last}'"
    document = browse(with_script(page_with(made), script), until=until)
    assert attribute(document, "drawn") == last
    assert 'aria-label="Play"' in document


def test_numbers_ticks_and_contours_by_hand(browse):
    script = """
    const { writeNumber, roundTicks, logScale } = module_scales;
    const { contourLines } = module_contours;
    document.documentElement.dataset.result = JSON.stringify([
      [-0.5, 1.25e-7, -1e9, null, 123.456].map((value) => writeNumber(value)),
      roundTicks(4.1029, 4.10305, 3).map(module_scales.writeTick),
      roundTicks(-4, 4, 5), logScale([1e-3, 10], 0, 1).ticks, logScale([1e-3, 10], 0, 4).pixel(1),
      module_layers.spread([1, 5, 5], 2), contourLines([0, 1, 0, 1], 2, 2, 0.5),
      ...[0.25, 0.75].map((level) => contourLines([1, 0, 0, 1], 2, 2, level)),
    ]);
    """
    page = f"<!doctype html><html><body><script>{joined_script('panels.js')}</script></body></html>"
    numbers, close, ticks, log_ticks, pixel, apart, straight, low, high = json.loads(
        attribute(browse(with_script(page, script)), "result")
    )
    assert numbers == ["−0.5", "1.25 · 10⁻⁷", "−10⁹", "not a number", "123.5"]
    assert close == ["4.1029", "4.10295", "4.103", "4.10305"]
    assert ticks == [-4, -2, 0, 2, 4]
    assert log_ticks == pytest.approx([1e-3, 1e-2, 0.1, 1, 10])
    assert pixel == pytest.approx(3)
    assert apart == [1, 4, 6]
    assert straight == [0.5, 0, 0.5, 1]
    # A saddle: at 1/4 the middle (1/2) hangs together with the two high corners, at 3/4 with the two low ones.
    assert low == [0.75, 0, 1, 0.25, 0.25, 1, 0, 0.75]
    assert high == [1, 0.75, 0.75, 1, 0, 0.25, 0.25, 0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, "recordings of version 1, got 2"),
        ({"frames": []}, "at least one frame, got none"),
        ({"frames": [made_recordings.frame("f", {"same_as": 4, "layer": 0})]}, "repeats layer 0 of frame 4"),
    ],
)
def test_a_recording_that_cannot_be_shown_gets_a_sentence(browse, change, sentence):
    page = page_with({**made_recordings.descent(), **change})
    document = browse(page, quiet=True)
    assert sentence in re.search(r'<p id="problem"[^>]*>([^<]*)', document)[1]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(360, 740), (1280, 800), (3840, 2160)], ids=lambda size: str(size[0]))
def test_picture_is_drawn_at_every_size_and_in_both_themes(browse, size, dark):
    picture = browse(page_with(made_recordings.clusters()), size=size, dark=dark, picture=True)
    assert picture.shape == (size[1], size[0], 3)
    paper, corner = (0x14, 0x18, 0x1F) if dark else (255, 255, 255), picture[-1, 0]
    assert tuple(corner) == paper
    far = np.abs(picture - np.array(paper)).sum(axis=2) > 60
    assert 0.02 < far.mean() < 0.6


def test_nothing_is_wider_than_a_telephone(browse):
    # A window has a least width, a frame in it has none.
    script = """document.querySelector("iframe").addEventListener("load", (event) => {
      const inner = event.target.contentDocument.documentElement;
      document.documentElement.dataset.result = JSON.stringify([inner.clientWidth, inner.scrollWidth]);
    });"""
    for name in ("clusters", "panels"):
        page = html.escape(page_with(getattr(made_recordings, name)()))
        inside = f'<iframe style="border: 0" width="360" height="740" srcdoc="{page}"></iframe>'
        document = browse(f"<!doctype html><html><body>{inside}<script>{script}</script></body></html>")
        width, needed = json.loads(attribute(document, "result"))
        assert needed <= width <= 360, name


def test_two_hundred_frames_of_two_thousand_points_scrub_smoothly(browse):
    document = browse(page_with(made_recordings.large()), place="#measure")
    assert attribute(document, "drawn") == "199"
    assert float(attribute(document, "median-ms")) < SLOW
