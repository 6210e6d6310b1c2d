"""``pellucid serve``: answer requests for predictions on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError


def serve(
    model: Annotated[Path, typer.Argument(help="Model file written by 'pellucid fit'.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
) -> None:
    """Answer predictions as JSON over HTTP on localhost, with a page to try a row by hand or a pasted table."""
    try:
        import uvicorn

        from pellucid.app.serving import serving_application
    except ImportError as error:
        raise CommandError(
            f"serve needs the packages of the extra 'serve' ({error.name} is missing): pip install 'pellucid[serve]'."
        ) from None
    import sys

    from pellucid.app.cli.model_input import load_table_model

    loaded = load_table_model(model)
    sys.stderr.write(f"Try {model.name} at http://127.0.0.1:{port}/ (Ctrl-C ends it).\n")
    uvicorn.run(serving_application(loaded), host="127.0.0.1", port=port, log_level="warning")
