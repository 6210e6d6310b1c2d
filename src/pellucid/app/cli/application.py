"""The entry point: options of the command itself, and what happens to errors."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.app.cli.errors import (
    INTERRUPTED,
    ClaimError,
    CommandError,
    CommandInterrupted,
    NothingProvedError,
    refuse_missing,
)
from pellucid.app.cli.postponed import postpone_packages

DEBUG = "PELLUCID_DEBUG"
FAILED_INSIDE = 3
FEW_COLLECTIONS = 50_000
"""Objects made before the collector looks for cycles: imports make many and leave none, and it took a tenth of them."""

COMMANDS: tuple[str, ...] = (
    "demo",
    "describe",
    "fit",
    "cluster",
    "map",
    "restore",
    "segment",
    "detect",
    "fit-detector",
    "predict",
)
COMMANDS += ("compare", "explain", "monitor", "export", "serve", "play", "verify", "show-work", "exercise", "mark")
COMMANDS += ("again", "catalogue", "warm-up")
"""Each is a function of its file; ``--help`` lists them in this order."""


def _application(given: Sequence[str]) -> typer.Typer:
    """Return what parses these arguments: the command they begin with, or all, to be listed or guessed from."""
    application = typer.Typer(
        name="pellucid",
        help="Machine learning that shows its work and proves its answer.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    application.callback()(options)
    for name in given[:1] if given[0] in COMMANDS else COMMANDS:
        word = name.replace("-", "_")
        functions = vars(import_module(f"pellucid.app.cli.{word}"))
        application.command(name)(_interruptible(functions.get(f"{word}_") or functions[word]))
    return application


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with a sentence for Ctrl-C, before the parser of the options makes an exit code of it.

    A model file that is not there is refused before the command imports what it needs, which takes seconds.
    """

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        try:
            if isinstance(options.get("model"), Path):  # others may be names of models that the package brings
                refuse_missing(options["model"])
            command(*arguments, **options)
        except KeyboardInterrupt as interruption:
            rest = "; ".join(getattr(interruption, "__notes__", ["nothing was written."]))
            raise CommandInterrupted(f"interrupted; {rest[:1].lower()}{rest[1:]}") from None

    return wrapped


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; an error is one sentence on stderr and an exit code, without a traceback."""
    gc.set_threshold(FEW_COLLECTIONS)
    postpone_packages()
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 done, 1 a claim fails or a column has drifted, 2 wrong usage or input, 4 nothing proved.
    """
    try:
        given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
        code = _application(given)(args=given, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted; nothing was written.", INTERRUPTED)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        sentence, code = _sentence_and_code(error)
        return _complain(" ".join([sentence, *getattr(error, "__notes__", [])]), code)
    return code if isinstance(code, int) else 0


def _sentence_and_code(error: Exception) -> tuple[str, int]:
    if hasattr(error, "format_message"):  # wrong usage, found by the parser of the options
        return f"{error.format_message()} See 'pellucid --help'.", 2
    if isinstance(error, (CommandError, CommandInterrupted, ClaimError, NothingProvedError)):
        return str(error), error.exit_code
    if isinstance(error, (ValueError, TypeError, OSError)):  # the library's own sentences, and the file system's
        return str(error), 2
    return f"failed inside ({type(error).__name__}: {error}). Set {DEBUG}=1 to see where.", FAILED_INSIDE


def _complain(sentence: str, code: int) -> int:
    sys.stderr.write(f"pellucid: {' '.join(sentence.split())}\n")
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"pellucid {pellucid.__version__}\n")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Machine learning that shows its work and proves its answer."""
