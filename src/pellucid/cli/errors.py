"""What the command says when it cannot go on: one sentence and an exit code."""

from __future__ import annotations

from pathlib import Path

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class CommandError(Exception):
    """The input or the options are wrong: exit code 2."""

    exit_code = 2


class CommandInterrupted(Exception):  # noqa: N818  (an interruption is no error)
    """The user pressed Ctrl-C, and nothing was written: exit code 130."""

    exit_code = INTERRUPTED


class ClaimError(Exception):
    """A claim about a model does not hold: exit code 1."""

    exit_code = 1


class NothingProvedError(Exception):
    """A model about which nothing is claimed was to be verified: exit code 4."""

    exit_code = 4


def refuse_missing(model: Path) -> None:
    """Refuse a model file that is not there, before anything is imported that takes long."""
    if not model.is_file():
        raise CommandError(f"model must be a file, got {model}, which does not exist.")
