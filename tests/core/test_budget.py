"""Work is cut short by the clock and by Ctrl-C, and by nothing else."""

import contextlib
import os
import signal
import threading
import time

import pytest

from pellucid.core import budget as budget_module
from pellucid.core.budget import Budget, CutShort


def work_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.005)
    return "done"


def interrupt_after(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_work_that_ends_in_time_gives_its_result():
    with Budget(5.0) as budget:
        assert budget.attempt(lambda: work_for(0.01), 20.0) == ("done", "")


def test_work_is_cut_short_when_its_time_is_up():
    with Budget(5.0) as budget:
        start = time.monotonic()
        assert budget.attempt(lambda: work_for(30.0), 0.1) == (None, "time")
        assert time.monotonic() - start < 20.0  # far from 0.1, for machines that are busy


def test_work_without_time_is_not_begun():
    with Budget(5.0) as budget:
        assert budget.attempt(lambda: pytest.fail("begun"), 0.0) == (None, "time")


def test_work_that_swallows_errors_is_cut_short_too():
    def stubborn():
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    with Budget(5.0) as budget:
        assert budget.attempt(stubborn, 0.05) == (None, "time")


def test_an_alarm_that_is_lost_rings_again():
    def deaf():
        try:
            work_for(30.0)
        except CutShort:
            work_for(30.0)

    with Budget(5.0) as budget:
        start = time.monotonic()
        assert budget.attempt(deaf, 0.05) == (None, "time")
        assert time.monotonic() - start < 20.0


def test_the_first_interruption_ends_the_work_and_what_could_follow():
    with Budget(5.0) as budget:
        interrupt_after(0.05)
        assert budget.attempt(lambda: work_for(30.0), 25.0) == (None, "interruption")
        assert budget.interrupted
        assert budget.attempt(lambda: pytest.fail("begun"), 4.0) == (None, "interruption")


def test_outside_of_an_attempt_the_first_interruption_is_only_noted():
    with Budget(5.0) as budget:
        os.kill(os.getpid(), signal.SIGINT)
        assert work_for(0.01) == "done"
        assert budget.interrupted


def test_the_second_interruption_ends_everything():
    with Budget(5.0):
        os.kill(os.getpid(), signal.SIGINT)
        interrupt_after(0.02)
        with pytest.raises(KeyboardInterrupt):
            work_for(5.0)


def test_handlers_are_given_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    with Budget(1.0) as budget:
        budget.attempt(lambda: None, 0.5)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_in_another_thread_work_runs_to_its_end():
    found = []

    def elsewhere():
        with Budget(5.0) as budget:
            found.append(budget.attempt(lambda: work_for(0.02), 0.001))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [("done", "")]


def test_the_seconds_count_from_the_start_given():
    start = time.monotonic() - 4.0
    budget = Budget(10.0, start)
    assert budget.deadline == start + 10.0
    assert budget.seconds_left() <= 6.0


@pytest.mark.parametrize("cut_by", ["time", "interruption"])
def test_a_compiler_is_not_left_in_pieces(cut_by):
    compiler = {"__name__": "numba.core.something", "work_for": work_for}
    exec("def compile_all():\n    work_for(0.4)\n    done.append(1)", compiler)
    done = compiler["done"] = []

    def work():
        compiler["compile_all"]()
        work_for(30.0)

    with Budget(5.0) as budget:
        if cut_by == "interruption":
            interrupt_after(0.1)
        start = time.monotonic()
        assert budget.attempt(work, 0.1 if cut_by == "time" else 20.0) == (None, cut_by)
        assert time.monotonic() - start < 20.0
    assert done == [1]


def test_a_busy_machine_is_noticed_by_the_computing_that_gets_less_than_its_time(monkeypatch):
    budget = Budget(60.0)
    computed = iter([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.01])
    passed = iter([0.0, 1.2, 0.0, 0.9, 0.0, 7.0, 0.0])
    clock = type("Clock", (), {"monotonic": lambda _: next(passed), "thread_time": lambda _: next(computed)})()
    monkeypatch.setattr(budget_module, "time", clock)
    found = []
    for _ in range(3):
        with budget.gauged():
            pass
        found.append(budget.slowdown)
    assert found == [1.2, 1.0, budget_module.LARGEST_SLOWDOWN]
    with budget.gauged():  # too short to mean something
        pass
    assert budget.slowdown == budget_module.LARGEST_SLOWDOWN
