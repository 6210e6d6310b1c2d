"""Fitted things as one self-contained HTML page."""

from pellucid.report.describing import describe_fit
from pellucid.report.fit_report import ColumnRow, FitReport, LeaderRow
from pellucid.report.numbers import format_number, format_share
from pellucid.report.page import render_fit_report

__all__ = [
    "ColumnRow",
    "FitReport",
    "LeaderRow",
    "describe_fit",
    "format_number",
    "format_share",
    "render_fit_report",
]
