"""``pellucid export``: a saved model as a file that other programs run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError

ENDING = ".onnx"


def export(
    model: Annotated[
        Path, typer.Argument(help="Model file written by 'pellucid fit', 'pellucid cluster' or pellucid.save.")
    ],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="As an ONNX graph of double numbers; needs the extra 'onnx'.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="File to write; without it, beside the model.")] = None,
    table: Annotated[
        str | None,
        typer.Option(help="Rows on which onnxruntime is compared with the model; what is found stands in the file."),
    ] = None,
) -> None:
    """Write a model as a graph of standard operators, which onnxruntime runs without Python or this library."""
    import sys

    from pellucid.app.cli.errors import read_source
    from pellucid.app.cli.model_input import features_for, load_model
    from pellucid.export import to_onnx

    if not onnx:
        raise CommandError("a kind of file must be asked for, and none was. Add --onnx.")
    path = model.with_suffix(ENDING) if out is None else out
    if path.suffix.lower() != ENDING:
        raise CommandError(f"out must end in {ENDING}, got {path.name}.")
    loaded = load_model(model)
    rows = None
    if table is not None:
        frame = read_source(table, None)
        target = getattr(loaded, "target_", None)
        rows = features_for(loaded, frame.drop(columns=target) if target in frame.columns else frame)
    proto = to_onnx(loaded, rows, path=path)
    facts = {pair.key: pair.value for pair in proto.metadata_props}
    inputs = ", ".join(one.name for one in proto.graph.input)
    outputs = ", ".join(one.name for one in proto.graph.output)
    sys.stdout.write(f"{path}: from {inputs} to {outputs}. Beside the model: {facts['difference']}.\n")
