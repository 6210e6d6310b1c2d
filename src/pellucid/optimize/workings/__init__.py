"""Workings of the methods: each file works one kind by hand, in exact arithmetic, and knows no solver."""

from pellucid.optimize.workings.showing_steps import METHOD_WORKINGS, show_steps

__all__ = ["METHOD_WORKINGS", "show_steps"]
