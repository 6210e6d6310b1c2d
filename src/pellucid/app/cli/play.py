"""``pellucid play``: a page in the browser that shows what a fit did, live or as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError, read_source
from pellucid.app.cli.show_work import read_settings

if TYPE_CHECKING:
    from pellucid.app.playing.given.play_table import PlayTable


def play(
    table: Annotated[
        str | None, typer.Argument(help="A table of your own to play on: CSV, TSV, Parquet, Feather or XLSX.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Name of the column of the table to predict.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8001,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    method: Annotated[
        str | None, typer.Option(help="What to play first, such as KMeans, gradient-descent or bias-and-variance.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeat as needed."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="What to play it on: a set such as moons or iris, a formula, an image, a table.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the page as one HTML file, and start no server.", metavar="PAGE.html")
    ] = None,
) -> None:
    """See a method move: pick data, method and parameters, and scrub through what the fit did, on localhost."""
    if method is None and (export is not None or data is not None or parameters):
        raise CommandError("method must be given with --export, --data or --set. Try --method KMeans.")
    if table is not None and data is not None:
        raise CommandError(f"data must be left out with a table, got {data!r} and {table!r}.")
    if data is not None and Path(data).is_file():
        table, data = data, None
    if target is not None and table is None:
        raise CommandError(f"target must be left out without a table, got {target!r}.")
    own = None if table is None else _read(table, target)
    asked = None if method is None else _asked(method, read_settings(parameters or []), data, own)
    if export is None:
        _serve(own, asked, port, browser)
    else:
        _export(export, asked or {}, own)


def _read(table: str, target: str | None) -> PlayTable:
    from pellucid.app.playing.given.play_table import PlayTable

    return PlayTable.of(read_source(table, None), Path(table).name, target)


def _asked(method: str, parameters: dict[str, Any], data: str | None, own: PlayTable | None) -> dict[str, Any]:
    """Return the request for a run, as the page sends it."""
    from pellucid.app.playing.descents import FORMULAS
    from pellucid.app.playing.given.play_table import GIVEN
    from pellucid.app.playing.plays import find_play

    play = find_play(method)
    if own is not None:
        told: dict[str, Any] = {"table": GIVEN, "target": own.target}
    elif data is None:
        told = dict(play.first)
    elif "formula" in play.data:
        formula, start = FORMULAS.get(data, (data, (1.0, 1.0)))
        told = {"formula": formula, "start": list(start)}
    else:
        told = {"image" if "image" in play.data else "set": data}
    return {"play": play.name, "parameters": parameters, "data": told}


def _export(path: Path, asked: dict[str, Any], own: PlayTable | None) -> None:
    import sys

    from pellucid.app.playing import export_page
    from pellucid.app.playing.performing import perform_request

    recording = perform_request(asked, own).recording
    export_page(recording, path)
    sys.stdout.write(f"{path} shows {recording.title}, in {len(recording.frames)} frames.\n")


def _serve(own: PlayTable | None, asked: dict[str, Any] | None, port: int, browser: bool) -> None:
    try:
        import uvicorn

        from pellucid.app.playing.server import playing_application
    except ImportError as error:
        raise CommandError(
            f"play needs the packages of the extra 'serve' ({error.name} is missing): pip install 'pellucid[serve]'. "
            "With --export it writes a page without them."
        ) from None
    import asyncio
    import json
    import socket
    import sys
    import webbrowser
    from contextlib import suppress
    from urllib.parse import quote

    state = "" if asked is None else f"#run={quote(json.dumps(asked))}"
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            raise CommandError(f"port must be free, got {port}, which another program uses. Choose another.") from None
        listener.listen()  # the browser may ask from now on, and waits until the server answers
        address = f"http://127.0.0.1:{port}/{state}"
        sys.stderr.write(f"Play at {address} (Ctrl-C ends it).\n")
        if browser:
            webbrowser.open(address)
        application = playing_application(own)
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=2))
        with suppress(KeyboardInterrupt):
            asyncio.run(_until_interrupted(server, application, listener))


async def _until_interrupted(server: Any, application: Any, listener: Any) -> None:
    """Serve until Ctrl-C; then stop all runs, whose pages would wait for their end."""
    import asyncio

    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not (server.should_exit or serving.done()):
        await asyncio.sleep(0.1)
    if server.started:
        application.state.rooms.runs.close()
    await serving
