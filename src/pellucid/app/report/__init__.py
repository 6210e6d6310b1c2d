"""Fitted things as one self-contained HTML page, and as a model card."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.app.report.card import render_model_card
    from pellucid.app.report.cluster_page import render_cluster_report
    from pellucid.app.report.describe_page import render_description, values_in_words
    from pellucid.app.report.detect_page import render_detection
    from pellucid.app.report.explain_page import render_explanation
    from pellucid.app.report.fit_detector_page import render_fitted_detector
    from pellucid.app.report.map_page import render_map_report
    from pellucid.app.report.numbers import (
        format_measure,
        format_number,
        format_seconds,
        format_share,
        format_spread,
        meaning_of,
        standing_of,
    )
    from pellucid.app.report.page import Origin, render_fit_report
    from pellucid.app.report.restore_page import render_restoration
    from pellucid.app.report.segment_page import render_segmentation
    from pellucid.app.report.so_far_page import render_card_so_far, render_so_far

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
    "render_detection",
    "render_explanation",
    "render_fit_report",
    "render_fitted_detector",
    "render_map_report",
    "render_model_card",
    "render_restoration",
    "render_segmentation",
    "render_so_far",
    "standing_of",
    "values_in_words",
]

__getattr__ = name_finder(__name__)
