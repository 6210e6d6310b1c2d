"""Fitted things as one self-contained HTML page."""

from pellucid.report.fit_report import ColumnRow, FitReport, LeaderRow
from pellucid.report.page import format_number, render_fit_report

__all__ = ["ColumnRow", "FitReport", "LeaderRow", "format_number", "render_fit_report"]
