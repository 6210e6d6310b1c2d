"""Predictions over HTTP: JSON for programs, a page for people. Needs the extra ``serve``."""

from pellucid.serving.application import serving_application

__all__ = ["serving_application"]
