"""``pellucid verify``: rerun the proof of a saved model on its training table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import MEMORY_HELP, ClaimError, CommandError, NothingProvedError, parse_memory

if TYPE_CHECKING:
    from pellucid.proofs.certificate import Certificate


def verify(
    model: Annotated[
        Path, typer.Argument(help="Model file written by 'pellucid fit', 'pellucid cluster' or pellucid.save.")
    ],
    table: Annotated[
        str,
        typer.Argument(help="The table it was fitted on: a file, or a folder or pattern of files, as given to 'fit'."),
    ],
    target: Annotated[
        str | None, typer.Option(help="Name of the column that was predicted; clusters have none.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Column of weights, if it was fitted with one.")] = None,
    memory: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
) -> None:
    """Recompute the certificate of a model from its training data, without the solver's code."""
    import warnings

    from pellucid.app.cli.errors import read_source
    from pellucid.app.cli.model_input import (
        features_for,
        fingerprints,
        load_model,
        training_fingerprint,
    )
    from pellucid.core.user_warnings import UncertifiedWarning
    from pellucid.core.verification import verify as recompute

    loaded = load_model(model)
    if getattr(loaded, "rows_learned_", None) is not None:
        _say(_on_files(loaded, table, target, None if memory is None else parse_memory(memory)), loaded[-1], table)
        return
    frame = read_source(table, None)
    rows, y = _rows_and_target(loaded, frame, target)
    X = features_for(loaded, frame.loc[rows] if target is None else frame.loc[rows].drop(columns=target))
    estimator = loaded[-1] if hasattr(loaded, "steps") else loaded
    _check_proves(estimator)
    if training_fingerprint(loaded) not in fingerprints(loaded, X, y):
        raise ClaimError("the table must be the one the model was fitted on, but its fingerprint differs.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)  # it is said below, once
        certificate = recompute(loaded, X, y, sample_weight=_weights_of(frame.loc[rows], weights))
    _say(certificate, estimator, table)


def _on_files(model: Any, source: str, target: str | None, memory: float | None) -> Certificate:
    """Return the certificate of a model of files larger than memory, from one more pass over them."""
    import sys
    import warnings

    from rich.console import Console

    from pellucid.app.bake_off.every_row import prove_on_files
    from pellucid.app.bake_off.memory_room import drawn_bytes
    from pellucid.app.tables.table_files import TableFiles
    from pellucid.core.user_warnings import UncertifiedWarning
    from pellucid.core.watching import terminal_bar

    if target not in (None, model.target_):
        raise CommandError(f"target must be the column that was predicted, {model.target_!r}, got {target!r}.")
    with terminal_bar(Console(stderr=True)) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)  # it is said below, once
        files = TableFiles.of(source, model.target_).settled(lambda *done: show("reading all rows", *done))
        certificate = prove_on_files(model, files, 3.0 * drawn_bytes(memory), lambda _, *done: show("the proof", *done))
    sys.stdout.write("The preparation of the columns, fitted to rows drawn from the files, was taken as it is.\n")
    return certificate


def _say(certificate: Certificate, estimator: Any, table: str) -> None:
    """Print a certificate; end with the exit code that suits it."""
    import sys

    from pellucid.app.tables.reading import name_of

    sys.stdout.write(f"{certificate}\n")
    if certificate.failed:
        failed = ", ".join(claim.name for claim in certificate.failed)
        raise ClaimError(f"the certificate does not hold on {name_of(table)}: {failed}.")
    if not certificate.holds:
        raise NothingProvedError(f"nothing is proved about {type(estimator).__name__}: {certificate.reason}")


def _rows_and_target(model: Any, frame: Any, target: str | None) -> tuple[Any, Any]:
    """Return which rows the model was fitted on, and their target; clusters are fitted on all, without one."""
    import numpy as np

    from pellucid.app.cli.model_input import finds_clusters, training_target

    if finds_clusters(model):
        if target is not None:
            raise CommandError(f"target must be left out for a model of clusters, got {target!r}.")
        return np.ones(len(frame), bool), None
    if target is None:
        raise CommandError("target must name the column that was predicted. Add --target COLUMN.")
    if target in getattr(model, "feature_names_in_", ()):
        raise CommandError(f"target must be the column that was predicted, got {target!r}, a feature of the model.")
    return training_target(model, frame, target)


def _weights_of(rows: Any, name: str | None) -> Any:
    if name is None:
        return None
    if name not in rows.columns:
        raise CommandError(f"weights must name one of the columns {list(rows.columns)}, got {name!r}.")
    from pellucid.app.bake_off.options import weights_in

    return weights_in(rows[name])


def _check_proves(estimator: Any) -> None:
    if not hasattr(estimator, "data_fingerprint_"):
        raise CommandError(
            f"model must end in an estimator of pellucid, got {type(estimator).__name__}, which proves nothing."
        )
