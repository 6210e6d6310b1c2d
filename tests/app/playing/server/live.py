"""A live server for tests, and the few things that they all do with it."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient

from pellucid.app.playing.server import playing_application

KMEANS = {"play": "KMeans", "parameters": {"n_clusters": 2}, "data": {"set": "moons", "rows": 40}}
ENDLESS = {
    "play": "MLPClassifier",
    "parameters": {"max_iter": 10**9, "tol": 0, "n_iter_no_change": 10**8},
    "data": {"set": "moons", "rows": 400},
}


@contextmanager
def client_of(table=None, limits=None):
    """Yield a client of an application in this process; its workers are processes as ever."""
    with TestClient(playing_application(table, limits), base_url="http://127.0.0.1") as client:
        yield client


def start(client, asked=KMEANS, **headers):
    """Ask for a run and return its id."""
    answer = client.post("/api/runs", json=asked, headers=headers)
    assert answer.status_code == 202, answer.text
    return answer.json()["run"]


def events(client, run):
    """Return the events of a run, names and contents, when it has ended."""
    return parsed(client.get(f"/api/runs/{run}/events").text)


def parsed(text):
    """Return names and contents of server-sent events, without the signs of life."""
    parts = [part for part in text.split("\n\n") if part.startswith("event: ")]
    lines = [part.split("\n") for part in parts]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]


def outcome(client, asked=KMEANS):
    """Run what is asked and return its last event."""
    return events(client, start(client, asked))[-1]


@contextmanager
def served(limits=None):
    """Yield the port of a server that listens on it, and its application."""
    application = playing_application(limits=limits)
    server = uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1], application
    finally:
        server.should_exit = True
        thread.join()


def wait_until(holds, seconds=60.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.02)


def opened(port, path):
    """Return a connection that has asked for an address and not read the answer."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection
