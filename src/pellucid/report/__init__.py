"""Fitted things as one self-contained HTML page, and as a model card."""

from pellucid.report.card import render_model_card
from pellucid.report.cluster_page import render_cluster_report
from pellucid.report.describe_page import render_description, values_in_words
from pellucid.report.explain_page import render_explanation
from pellucid.report.map_page import render_map_report
from pellucid.report.meaning import meaning_of, standing_of
from pellucid.report.numbers import format_measure, format_number, format_seconds, format_share, format_spread
from pellucid.report.page import render_fit_report
from pellucid.report.reproduction import Origin
from pellucid.report.so_far_page import render_card_so_far, render_so_far

__all__ = [
    "Origin",
    "format_measure",
    "format_number",
    "format_seconds",
    "format_share",
    "format_spread",
    "meaning_of",
    "render_card_so_far",
    "render_cluster_report",
    "render_description",
    "render_explanation",
    "render_fit_report",
    "render_map_report",
    "render_model_card",
    "render_so_far",
    "standing_of",
    "values_in_words",
]
