"""What the command says when it cannot go on: one sentence and an exit code."""

from __future__ import annotations


class CommandError(Exception):
    """The input or the options are wrong: exit code 2."""

    exit_code = 2


class ClaimError(Exception):
    """A claim about a model does not hold: exit code 1."""

    exit_code = 1
