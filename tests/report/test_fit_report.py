"""The page is whole, self-contained and safe whatever the names in the table are."""

from html.parser import HTMLParser

import numpy as np
import pytest

from pellucid.core.certificate import Certificate, Claim
from pellucid.report import ColumnRow, FitReport, LeaderRow, render_fit_report
from pellucid.report.page import breakable, coefficient_bars, format_number, whiskers

VOID = {"meta", "br", "wbr", "link", "img", "input", "hr"}


def report(**changes):
    actual = np.linspace(0.0, 10.0, 30)
    values = {
        "table": "houses.csv",
        "target": "price",
        "model_file": "model.safetensors",
        "n_rows": 150,
        "n_training": 120,
        "folds": 5,
        "seed": 0,
        "columns": [ColumnRow("rooms", "number", 0, "1 to 5, mean 3")],
        "leaderboard": [
            LeaderRow("ridge", "shrinks", 1.0, 0.1, 3, is_chosen=True),
            LeaderRow("mean", "predicts the mean", 3.0, 0.2, 0, is_baseline=True),
        ],
        "reason": "Ridge has the smallest mean error, so it was chosen.",
        "error": 1.1,
        "error_low": 0.9,
        "error_high": 1.3,
        "level": 0.95,
        "r_squared": 0.8,
        "actual": actual,
        "predicted": actual + np.sin(actual),
        "method": "ridge",
        "intercept": 4.0,
        "coefficients": [("rooms", 2.0), ("age", -1.0), ("noise", 0.0)],
        "certificate": Certificate("exact", (Claim("normal equations", "residual", 1e-16, 1e-12),)),
        "notes": [],
    }
    return FitReport(**(values | changes))


class Balance(HTMLParser):
    """Checks that every element is closed, and collects what would be fetched from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.scripts, self.ids = [], [], 0, []

    def handle_starttag(self, tag, attributes):
        self.fetched += [v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")]
        self.ids += [v for k, v in attributes if k == "id"]
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    return balance


def test_a_number_reads_as_a_person_writes_it():  # by hand
    assert [format_number(value) for value in (0.0, 3.14159, -2.0, 152.13, 12345.6, 1e9, 1e-7)] == [
        "0.000", "3.142", "\N{MINUS SIGN}2.000", "152.1", "12,346", "1e+09", "1e\N{MINUS SIGN}07",
    ]  # fmt: skip


def test_whiskers_share_one_scale():
    ridge, mean = whiskers(report().leaderboard)
    # from 0.9 to 3.2: the mean of ridge, 1.0, stands at 0.1 / 2.3
    assert (ridge.low, ridge.mean, mean.high) == pytest.approx((0.0, 10 / 2.3, 100.0))


def test_bars_are_sorted_by_size_and_leave_out_zeros():
    bars = coefficient_bars(report().coefficients)
    assert [(bar.name, bar.width) for bar in bars] == [("rooms", 100.0), ("age", 50.0)]


def test_the_page_is_self_contained():
    page = parsed(render_fit_report(report()))
    assert page.fetched == []
    assert page.scripts == 0


def test_the_page_is_small_and_its_ids_are_unique():
    text = render_fit_report(report())
    ids = parsed(text).ids
    assert len(text.encode()) < 2_000_000
    assert len(ids) == len(set(ids))


def test_the_same_report_gives_the_same_page():
    assert render_fit_report(report()) == render_fit_report(report())


def test_names_cannot_break_out_of_the_page():
    hostile = '</title><script>alert("x")</script>&_y'
    page = render_fit_report(
        report(
            target=hostile,
            table=hostile,
            notes=[hostile],
            coefficients=[(hostile, 1.0)],
            columns=[ColumnRow(hostile, "words", 1, hostile)],
        )
    )
    assert parsed(page).scripts == 0
    assert "<script" not in page


def test_long_names_may_break_after_underscores():
    assert breakable("a_<b>") == "a_<wbr>&lt;b&gt;"


def test_a_failed_claim_is_said():
    broken = Certificate("exact", (Claim("normal equations", "residual", 1.0, 1e-12),))
    assert "A claim does not hold." in render_fit_report(report(certificate=broken))


def test_a_perfect_constant_prediction_can_be_drawn():
    render_fit_report(report(actual=np.ones(5), predicted=np.ones(5), coefficients=[("rooms", 0.0)]))
