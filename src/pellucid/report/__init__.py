"""Fitted things as one self-contained HTML page."""

from pellucid.report.numbers import format_number, format_share
from pellucid.report.page import render_fit_report

__all__ = ["format_number", "format_share", "render_fit_report"]
