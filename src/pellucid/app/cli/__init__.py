"""The command ``pellucid``: one file per sub-command, imported only when it is called."""

from __future__ import annotations

from pellucid.app.cli.application import main

__all__ = ["main"]
