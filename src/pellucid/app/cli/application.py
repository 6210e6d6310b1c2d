"""The entry point: options of the command itself, and what happens to errors."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

import pellucid
from pellucid.app.cli.again import again
from pellucid.app.cli.catalogue import catalogue
from pellucid.app.cli.cluster import cluster
from pellucid.app.cli.compare import compare
from pellucid.app.cli.demo import demo
from pellucid.app.cli.describe import describe
from pellucid.app.cli.detect import detect
from pellucid.app.cli.errors import (
    INTERRUPTED,
    ClaimError,
    CommandError,
    CommandInterrupted,
    NothingProvedError,
    refuse_missing,
)
from pellucid.app.cli.exercise import exercise
from pellucid.app.cli.explain import explain
from pellucid.app.cli.export import export
from pellucid.app.cli.fit import fit
from pellucid.app.cli.fit_detector import fit_detector
from pellucid.app.cli.map import map_
from pellucid.app.cli.mark import mark
from pellucid.app.cli.monitor import monitor
from pellucid.app.cli.play import play
from pellucid.app.cli.predict import predict
from pellucid.app.cli.restore import restore
from pellucid.app.cli.segment import segment
from pellucid.app.cli.serve import serve
from pellucid.app.cli.show_work import show_work
from pellucid.app.cli.verify import verify
from pellucid.app.cli.warm_up import warm_up

DEBUG = "PELLUCID_DEBUG"
FAILED_INSIDE = 3
FEW_COLLECTIONS = 50_000
"""Objects made before the collector looks for cycles: imports make many and leave none, and it took a tenth of them."""

application = typer.Typer(
    name="pellucid",
    help="Machine learning that shows its work and proves its answer.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


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


for command in (
    demo,
    describe,
    fit,
    cluster,
    map_,
    restore,
    segment,
    detect,
    fit_detector,
    predict,
    compare,
    explain,
    monitor,
    export,
    serve,
    play,
    verify,
    show_work,
    exercise,
    mark,
    again,
    catalogue,
    warm_up,
):
    application.command(command.__name__.strip("_").replace("_", "-"))(_interruptible(command))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; an error is one sentence on stderr and an exit code, without a traceback."""
    gc.set_threshold(FEW_COLLECTIONS)
    _import_when_used("scipy.stats")
    sys.exit(run(arguments))


def _import_when_used(name: str) -> None:
    """Put a module in the place of one that imports it when something in it is asked for.

    Scikit-learn imports all of SciPy's statistics, which take longer than all else, for one function that is hardly
    ever called. The process is the command's own: nobody else wonders about the module that is there.
    """

    def find(asked: str) -> Any:
        if asked.startswith("__") and asked != "__path__":  # those who look through all modules want nothing of it
            raise AttributeError(f"module {name!r} has no attribute {asked!r}")
        if sys.modules.get(name) is postponed:
            del sys.modules[name]
        return getattr(import_module(name), asked)

    postponed = ModuleType(name)
    vars(postponed)["__getattr__"] = find
    sys.modules.setdefault(name, postponed)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 done, 1 a claim fails or a column has drifted, 2 wrong usage or input, 4 nothing proved.
    """
    try:
        given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
        code = application(args=given, standalone_mode=False)
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


@application.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Machine learning that shows its work and proves its answer."""
