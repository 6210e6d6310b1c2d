"""The page of a server in a real browser: choose, run, scrub, break, race, ask, export, and exercises."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from pellucid.exercises import exercise

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from pellucid.app.playing import export
from pellucid.app.playing.server.page_files import STYLES, live_page, page_file
from pellucid.app.playing.server.workers import JobLimits
from tests.app.playing.conftest import wait_for
from tests.app.playing.server.live import served
from tests.app.playing.test_page import LARGEST_PAGE, reached_from

WAIT = 60_000  # milliseconds: a machine may be busy, and a first fit may have to be compiled
KINDS = {
    "LinearRegression": {"set": "line"},
    "KNeighborsRegressor": {"set": "wave", "rows": 40},
    "LogisticRegression": {"set": "moons", "rows": 60},
    "SVC": {"set": "circles", "rows": 40},
    "DecisionTreeClassifier": {"set": "moons", "rows": 60},
    "GaussianNB": {"set": "iris", "columns": ["petal_length", "petal_width"]},
    "GaussianMixture": {"set": "blobs", "rows": 60},
    "AgglomerativeClustering": {"set": "blobs", "rows": 20},
    "PCA": {"set": "iris"},
    "ClassicalMDS": {"set": "swiss_roll", "rows": 60},
    "newton": {"formula": "x**2 + 10*y**2", "start": [3.0, 1.0]},
    "computation-graph": {"formula": "(x + y)*z", "start": [-2, 5, -4]},
    "bias-and-variance": {"formula": "x**2"},
    "convolution": {"image": "letter"},
}
"""One method of each kind, and its data."""
BLOBS = {"play": "KMeans", "parameters": {"n_clusters": 3}, "data": {"set": "blobs", "rows": 60}}


@pytest.fixture(scope="module")
def address(browser):
    """Return the address of a server for all tests of this module."""
    with served(JobLimits(at_once=1)) as (port, _):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def play(open_page, address):
    """Return a context manager that opens the live page on what a link says, when it is drawn."""

    class Opened:
        def __init__(self, run=BLOBS, against=None, frame=None, **options):
            parts = {"run": run, "against": against}
            told = [f"{name}={quote(json.dumps(value))}" for name, value in parts.items() if value]
            told += [] if frame is None else [f"frame={frame}"]
            self.opened = open_page(f"{address}#{'&'.join(told)}", **options)

        def __enter__(self):
            page = self.opened.__enter__()
            page.set_default_timeout(WAIT)
            done(page)
            return page

        def __exit__(self, *error):
            return self.opened.__exit__(*error)

    return Opened


def done(page, runs=1):
    """Wait until so many runs have ended."""
    wait_for(page, f"Number(document.documentElement.dataset.ended ?? 0) >= {runs}")


def drawn(page, place):
    wait_for(page, f"document.documentElement.dataset.drawn === '{place}'")


def state(page):
    """Return what the address says, once it has been written."""
    page.wait_for_timeout(500)
    parts = page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
    return {name: json.loads(text) for name, text in parts.items()}


def pixel_of(page, x, y):
    """Return where a place of the data is on the screen, from the ticks of the axes, which SVG tells."""
    svg = saved(page, "Picture (SVG)").read_text()
    box = page.locator("#picture").bounding_box()
    ticks = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="(middle|end)"[^>]*>([−\d.]+)</text>', svg)
    across = {float(text.replace("−", "-")): float(left) for left, _, anchor, text in ticks if anchor == "middle"}
    down = {float(text.replace("−", "-")): float(top) for _, top, anchor, text in ticks if anchor == "end"}
    rem = page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    left = np.polyval(np.polyfit(list(across), list(across.values()), 1), x)
    top = (
        np.polyval(np.polyfit(list(down), list(down.values()), 1), y) - 0.35 * 0.8 * rem
    )  # text stands lower than its tick
    return box["x"] + left, box["y"] + top


def saved(page, entry):
    """Return the file that an entry of the menu saves."""
    page.click("#save > summary")
    with page.expect_download() as download:
        page.locator("#save div > *", has_text=entry).click()
    page.evaluate("document.getElementById('save').open = false")
    return download.value.path()


# Choose and run


def test_page_begins_with_something_to_see(open_page, address):
    with open_page(address) as page:
        page.set_default_timeout(WAIT)
        done(page)
        assert page.inner_text("#title") == "KMeans on blobs"
        assert page.locator(".claims li").count() >= 3
        assert page.locator(".methods optgroup").count() >= 10  # of two lists
        assert state(page)["run"]["play"] == "KMeans"


def test_each_kind_of_method_runs_and_is_scrubbed_by_keyboard(play):
    with play() as page:
        for runs, (name, data) in enumerate(KINDS.items(), 2):
            run = json.dumps({"play": name, "parameters": {}, "data": data})
            page.evaluate("(run) => (location.hash = '#run=' + encodeURIComponent(run))", run)
            done(page, runs)
            assert page.is_hidden("#problem"), page.inner_text("#problem")
            assert page.evaluate("document.querySelector('.methods').value") == name
            assert state(page)["run"]["data"].items() >= data.items()
            assert page.locator(".verdict").count() == 1
            last = int(page.get_attribute("#slider", "max"))
            for key, place in (("End", last), ("Home", 0), ("ArrowRight", min(1, last)), ("End", last)):
                page.keyboard.press(key)
                drawn(page, place)


def test_a_method_is_searched_chosen_and_run_by_keyboard_alone(play):
    with play() as page:
        page.focus("input[type=search]")
        page.keyboard.type("gaussian mix")
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('#title').textContent === 'GaussianMixture on blobs'")
        assert state(page)["run"]["data"] == {"set": "blobs", "rows": 60, "seed": 0}


def test_a_changed_parameter_runs_again_and_stands_in_the_link(play):
    with play() as page:
        assert page.input_value(".parameters input >> nth=0") == "3"
        page.fill(".parameters input >> nth=0", "5")
        page.keyboard.press("Tab")
        wait_for(page, "document.querySelector('#method').textContent.includes('n_clusters=5')")
        assert state(page)["run"]["parameters"] == {"n_clusters": 5}


def test_without_the_switch_nothing_runs_until_enter(play):
    with play() as page:
        page.uncheck("#auto")
        page.fill(".parameters input >> nth=0", "4")
        page.keyboard.press("Tab")
        page.wait_for_timeout(600)
        assert "n_clusters=3" in page.inner_text("#method")
        page.focus(".parameters input >> nth=0")
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('#method').textContent.includes('n_clusters=4')")


def test_a_wrong_parameter_gets_the_sentence_of_the_library(play):
    with play({**BLOBS, "parameters": {"n_clusters": 0}}) as page:
        assert "n_clusters must be" in page.inner_text("#problem")
        page.fill(".parameters input >> nth=0", "2")
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('#problem').hidden")
        wait_for(page, "document.querySelector('#method').textContent.includes('n_clusters=2')")


def test_a_run_that_never_ends_is_stopped(play):
    with play() as page:
        page.evaluate(f"location.hash = '#run=' + encodeURIComponent({json.dumps(json.dumps(ENDLESS))})")
        wait_for(page, "!document.querySelector('#stop').disabled")
        wait_for(page, "document.querySelector('#said').textContent.includes('s')")
        page.click("#stop")
        assert page.inner_text("#said") == "Stopped."
        assert page.inner_text("#title") == "KMeans on blobs"  # what was seen stays


ENDLESS = {
    "play": "MLPClassifier",
    "parameters": {"max_iter": 10**9, "tol": 0, "n_iter_no_change": 10**8},
    "data": {"set": "moons", "rows": 400},
}


def test_kinds_of_values_are_chosen_typed_and_ticked(play):
    with play(
        {"play": "SVC", "parameters": {"gamma": 0.5, "kernel": "rbf"}, "data": {"set": "moons", "rows": 40}}
    ) as page:
        gamma = page.locator(".field", has=page.locator("label", has_text=re.compile("^gamma$")))
        if not gamma.is_visible():
            page.click(".parameters summary")
        assert gamma.locator("input:visible").input_value() == "0.5"
        gamma.locator("select").select_option(label="scale")
        wait_for(page, "document.querySelector('#method').textContent.includes(\"gamma='scale'\")")
        assert "gamma" not in state(page)["run"]["parameters"]  # that is its default


def test_rows_drawn_by_hand_are_fitted(play):
    points = {"points": [[-2, -2], [-1, -2], [2, 2], [2, 1]], "target": ["0", "0", "1", "1"]}
    with play({"play": "LogisticRegression", "parameters": {}, "data": points}) as page:
        assert "4 rows" in page.inner_text("#data")
        page.locator(".pad canvas").scroll_into_view_if_needed()
        box = page.locator(".pad canvas").bounding_box()
        page.select_option("select[aria-label='Class of new rows']", label="class 1")
        page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.1 * box["height"])
        wait_for(page, "document.querySelector('#data').textContent.includes('5 rows')")
        drawn_points = state(page)["run"]["data"]
        assert drawn_points["target"][-1] == "1"
        assert drawn_points["points"][-1] == pytest.approx([4.0, 4.0], abs=0.1)  # the pad goes from -5 to 5
        page.click("text=Rows as text")
        page.fill(".pad textarea", "0, 0, 0\n1, 1, 1\n0, 1, 0\n2, 2, 1\n3, 3, 1\n-1, 0, 0")
        page.keyboard.press("Tab")
        wait_for(page, "document.querySelector('#data').textContent.includes('6 rows')")


def test_a_file_of_ones_own_is_read_and_fitted(play, tmp_path):
    rows = "\n".join(f"{x},{2 * x + 1},{'low' if x < 5 else 'high'}" for x in range(10))
    (tmp_path / "mine.csv").write_text(f"size,weight,kind\n{rows}\n")
    with play({"play": "DecisionTreeClassifier", "parameters": {}, "data": {"set": "moons", "rows": 30}}) as page:
        page.set_input_files("#data-file", tmp_path / "mine.csv")
        wait_for(page, "document.querySelector('#data').textContent.includes('10 rows')")
        assert page.input_value("#data-target") == "kind"
        assert page.locator("#data-source option:checked").inner_text() == "the file mine.csv"


def test_a_click_on_the_contours_is_where_the_way_begins(play):
    run = {"play": "gradient-descent", "parameters": {}, "data": {"formula": "x**2 + 10*y**2", "start": [3.0, 1.0]}}
    with play(run) as page:
        page.mouse.click(*pixel_of(page, 2.0, 0.5))
        done(page, 2)
        assert state(page)["run"]["data"]["start"] == pytest.approx([2.0, 0.5], abs=0.05)


def test_a_link_shows_the_same_again_and_a_cut_one_says_so(play, open_page, address):
    run = {"play": "SVC", "parameters": {"C": 0.5}, "data": {"set": "moons", "rows": 30, "seed": 3}}
    with play(run, frame=2) as page:
        assert state(page) == {"run": run, "frame": 2}
    with open_page(f"{address}#run=%7B%22play") as page:
        page.wait_for_selector("#problem:not([hidden])", timeout=WAIT)
        assert "cut or changed" in page.inner_text("#problem")


# Break it, race, ask


def test_a_center_that_is_dragged_is_objected_to_and_put_back(play):
    with play() as page:
        centers = [float(field.input_value()) for field in page.locator("#breaking td input").all()[:2]]
        assert page.inner_text(".verdict") == "stationary: holds"
        here, there = pixel_of(page, *centers), pixel_of(page, centers[0] + 1.0, centers[1])
        page.mouse.move(*here)
        page.mouse.down()
        page.mouse.move(*there, steps=4)
        page.mouse.up()
        wait_for(page, "document.querySelector('.verdict').textContent.endsWith('does not hold')")
        wait_for(page, "document.querySelector('#breaking [role=status]').textContent.includes('object')")
        moved = float(page.locator("#breaking td input").first.input_value())
        assert moved == pytest.approx(centers[0] + 1.0, abs=0.15)
        assert page.locator(".bar u").count() >= 1  # the bar of the value as it was
        page.click("text=Put it back")
        assert page.inner_text(".verdict") == "stationary: holds"
        assert float(page.locator("#breaking td input").first.input_value()) == centers[0]


def test_a_number_that_is_typed_is_objected_to(play):
    with play({"play": "LinearRegression", "parameters": {}, "data": {"set": "line", "rows": 30}}) as page:
        page.click("#breaking summary")
        page.fill("#breaking td input >> nth=0", "0.9")
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('.verdict').textContent.endsWith('does not hold')")
        assert "times its bound" in page.inner_text(".claims li.fails >> nth=0")


def test_two_methods_race_on_one_slider_and_two_clocks(play):
    with play(BLOBS, against={**BLOBS, "parameters": {"n_clusters": 6}}) as page:
        assert page.locator(".picture canvas[role=img]").count() == 2
        assert page.locator(".verdict").count() == 2
        assert page.locator(".side").all_inner_texts() == ["A  KMeans, n_clusters=3", "B  KMeans, n_clusters=6"]
        last = int(page.get_attribute("#slider", "max"))
        drawn(page, last)
        assert re.search(r"A: the answer\s+B: the answer", page.inner_text("#place"))
        page.keyboard.press("Home")
        drawn(page, 0)
        assert "B: the answer" not in page.inner_text("#place")
        page.select_option("#clock", "seconds")
        page.focus("#slider")
        page.keyboard.press("End")
        wait_for(page, "document.querySelector('#place').textContent.includes(' ms ')")
        assert set(state(page)) == {"run", "against", "frame"}
        page.click("#race")
        wait_for(page, "document.querySelectorAll('.verdict').length === 1")


def test_a_row_is_asked_about_by_a_click_and_by_its_number(play):
    run = {"play": "LogisticRegression", "parameters": {}, "data": {"set": "moons", "rows": 30}}
    with play(run) as page:
        page.click("#asking summary")
        page.click("text=Ask about row")
        page.wait_for_selector(".answer")
        first = page.inner_text("#asking")
        assert "predict" in first
        from pellucid.app.playing import load_set

        X, _, _ = load_set("moons", rows=30)
        page.mouse.click(*pixel_of(page, *X[7]))
        wait_for(page, "document.querySelector('#asking input').value === '7'")
        page.wait_for_selector(".answer")
        page.click("text=Which rows moved it most?")
        page.wait_for_selector(".answer table")


# Save


def test_the_exported_page_plays_from_disk_without_a_network(play, open_page, tmp_path):
    with play() as page:
        path = tmp_path / "exported.html"
        path.write_bytes(saved(page, "Page (HTML)").read_bytes())
    with open_page(path.as_uri(), offline=True) as page:
        drawn(page, 0)
        page.keyboard.press("End")
        drawn(page, int(page.get_attribute("#slider", "max")))
        assert page.locator("#chooser").count() == 0
        assert saved(page, "Picture (PNG)").read_bytes().startswith(b"\x89PNG")
        assert "KMeans(n_clusters=3" in saved(page, "Python").read_text()


def test_svg_looks_as_the_canvas_does(play, open_page, tmp_path):
    for run in (BLOBS, {"play": "DecisionTreeClassifier", "parameters": {}, "data": {"set": "moons", "rows": 30}}):
        with play(run) as page:
            picture = saved(page, "Picture (PNG)")
            canvas = Image.open(picture)
            path = tmp_path / "picture.svg"
            path.write_bytes(saved(page, "Picture (SVG)").read_bytes())
            size = page.locator("#picture").bounding_box()
        with open_page(path.as_uri(), size=(int(size["width"]), int(size["height"]))) as page:
            page.screenshot(path=tmp_path / "svg.png")
        with Image.open(tmp_path / "svg.png") as shown:
            size = (shown.width // 3, shown.height // 3)  # a line may fall half a pixel beside
            seen = [np.asarray(one.convert("L").resize(size), dtype=float) for one in (canvas, shown)]
        assert np.abs(seen[0] - seen[1]).mean() < 3  # of 255
        assert np.corrcoef(seen[0].ravel(), seen[1].ravel())[0, 1] > 0.95


def test_latex_of_the_workings_is_saved_where_there_are_some(play):
    points = {"points": [[0, 0], [1, 0], [5, 5], [6, 5]]}
    with play({"play": "KMeans", "parameters": {"n_clusters": 2}, "data": points}) as page:
        assert page.locator("#workings section").count() >= 1
        assert "\\begin{document}" in saved(page, "Workings (LaTeX)").read_text()
    with play() as page:
        page.click("#save > summary")
        assert page.locator("#save button", has_text="LaTeX").is_disabled()


# Exercises


def test_answers_are_marked_and_the_first_wrong_step_is_shown(play):
    made = exercise("linear-regression", 1, 1)
    right = [", ".join(str(Fraction(value)) for value in answer.values) for answer in made.answers]
    with play() as page:
        page.click("#room-exercises")
        page.wait_for_selector("#exercises form")
        page.select_option("#exercise-name", "linear-regression")
        page.fill("#exercise-seed", "1")
        page.keyboard.press("Tab")
        page.wait_for_selector("[data-exercise='linear-regression/1/1']")
        for number, answer in enumerate(right, 1):
            page.fill(f"#answer-{number}", answer)
        page.fill("#answer-1", "12345")
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer-field.fails")
        assert page.locator(".answer-field.fails").count() == 1
        assert f"{len(right) - 1} of {len(right)} are right" in page.inner_text("#exercises .verdict")
        heading = made.solution.steps[made.answers[0].step - 1].heading
        assert heading in page.inner_text("#exercises section h3 >> nth=0")
        page.fill("#answer-1", right[0])
        page.keyboard.press("Enter")
        wait_for(page, "document.querySelector('#exercises .verdict').textContent === 'All answers are right.'")
        page.click("text=Hint (step 1")
        page.wait_for_selector("text=Hint (step 2")
        page.click("#room-play")
        assert page.is_visible("#picture")


# For everyone


@pytest.mark.parametrize("size", [(360, 740), (1280, 800)], ids=lambda size: str(size[0]))
def test_nothing_is_wider_than_the_screen(play, size):
    with play(size=size) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) if (one.id !== 'save') one.open = true")
        width, needed = page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
        assert needed <= width


def test_everything_that_takes_the_focus_has_a_name(play):
    with play(BLOBS, against=BLOBS) as page:
        nameless = page.evaluate("""() => {
          for (const one of document.querySelectorAll("details")) one.open = true;
          const named = (one) => one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") ||
            one.labels?.length || one.textContent.trim() || one.title;
          const wanted = "input, select, textarea, button, a, summary, [tabindex], canvas[role=img]";
          return [...document.querySelectorAll(wanted)].filter((one) => !named(one)).map((one) => one.outerHTML);
        }""")
        assert nameless == []


def test_the_page_of_a_server_is_small():
    modules = reached_from(export.LIVE_ENTRY)
    names = [*STYLES, *(f"{module}.js" for module in modules)]
    files = [page_file(name) for name in names]
    assert len(modules) > 20
    assert len(live_page().encode()) + sum(len(text.encode()) for _, text in files) < LARGEST_PAGE
