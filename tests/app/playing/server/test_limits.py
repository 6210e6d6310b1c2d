"""What a fit may take: time, memory, and the patience of whoever asked. Nothing hangs, and nothing is left running."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from pellucid.app.playing.server.worker_process import GIGABYTE
from pellucid.app.playing.server.workers import MOST_WAITING, JobLimits
from tests.app.playing.server.live import ENDLESS, KMEANS, client_of, events, opened, outcome, served, start, wait_until


@pytest.fixture(scope="module")
def short():
    with client_of(limits=JobLimits(seconds=3.0, memory=GIGABYTE // 4, at_once=1)) as client:
        yield client


def test_a_fit_that_never_ends_is_ended_with_a_sentence_and_the_next_one_works(short):
    found = events(short, start(short, ENDLESS))
    assert [name for name, _ in found[:-1]] == ["progress"] * (len(found) - 1)
    assert found[-1] == (
        "problem",
        {"problem": "The job took more than 3 seconds and was ended. Take fewer rows or iterations."},
    )
    assert outcome(short)[0] == "recording"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit on what a process may take")
def test_a_fit_that_wants_too_much_memory_is_ended_with_a_sentence_and_the_next_one_works(short):
    name, told = outcome(short, {"play": "KernelPCA", "data": {"set": "moons", "rows": 20_000}})
    assert name == "problem"
    assert "memory" in told["problem"]
    assert outcome(short)[0] == "recording"


def test_progress_comes_at_most_ten_times_a_second(short):
    seconds = [told["seconds"] for name, told in events(short, start(short, ENDLESS)) if name == "progress"]
    assert len(seconds) > 3
    assert min(b - a for a, b in pairwise(seconds)) >= 0.099


def test_a_run_that_is_stopped_says_so_and_its_process_is_gone(short):
    run = start(short, ENDLESS)
    pool = short.app.state.rooms.pool
    wait_until(lambda: pool._busy)
    (worker,) = pool._busy
    assert short.delete(f"/api/runs/{run}").status_code == 204
    assert events(short, run) == [("stopped", {})] or events(short, run)[-1] == ("stopped", {})
    assert not worker.is_alive
    assert outcome(short)[0] == "recording"


def test_more_runs_than_can_wait_are_refused(short):
    pool = short.app.state.rooms.pool
    first = start(short, ENDLESS)
    wait_until(lambda: pool._busy)
    runs = [first, *(start(short, ENDLESS) for _ in range(MOST_WAITING))]
    wait_until(lambda: pool._waiting == MOST_WAITING)
    refused = short.post("/api/runs", json=KMEANS)
    assert refused.status_code == 429
    assert "jobs are waiting already" in refused.json()["problem"]
    for run in runs:
        short.delete(f"/api/runs/{run}")
    assert outcome(short)[0] == "recording"


def test_a_page_that_is_closed_in_the_middle_stops_its_run():
    with served(JobLimits(seconds=60.0, at_once=1)) as (port, application):
        from httpx2 import post

        run = post(f"http://127.0.0.1:{port}/api/runs", json=ENDLESS).json()["run"]
        connection = opened(port, f"/api/runs/{run}/events")
        rooms = application.state.rooms
        wait_until(lambda: rooms.runs.find(run).progress is not None)
        connection.close()
        wait_until(lambda: rooms.runs.find(run).end is not None, seconds=8.0)
        assert rooms.runs.find(run).end[0] == "stopped"
        wait_until(lambda: not rooms.pool._busy)
