"""The simulated cluster of ``benchmarks.cluster``, against passes that can be timed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.cluster import COLUMNS, Cluster, Pass, Simulation, _timed, _works

from pellucid.core.scale.row_blocks import RowBlock

FREE = {"latency": 0.0, "per_task": 0.0}


def run(work, cluster):
    return Simulation(work, cluster).run()


@pytest.mark.parametrize(("workers", "seconds"), [(1, 8.0), (2, 4.0), (3, 3.0), (8, 1.0), (100, 1.0)])
def test_blocks_are_shared_by_the_workers(workers, seconds):
    work = Pass(8, seconds=1.0, size=0, join=0.0)
    assert run(work, Cluster(workers, **FREE)).seconds == pytest.approx(seconds)


def test_a_scheduler_hands_out_one_task_after_the_other():
    # nine tasks, eight blocks and their join; the last block is handed out at 0.8
    found = run(Pass(8, seconds=1.0, size=0, join=0.0), Cluster(8, latency=0.0, per_task=0.1))
    assert found.seconds == pytest.approx(0.8 + 1.0 + 0.1)


def test_statistics_travel_once_for_each_part_that_is_elsewhere():
    found = run(Pass(8, seconds=1.0, size=100, join=0.0), Cluster(8, latency=0.5, bandwidth=1000.0, per_task=0.0))
    assert found.moved == 700  # one of the eight is where the join is done
    assert found.seconds == pytest.approx(1.0 + 0.5 + 0.7)


def test_what_a_lost_worker_held_is_done_again():
    # two workers, four blocks each; one dies after 2.5 s with two blocks done and one begun
    found = run(Pass(8, seconds=1.0, size=0, join=0.0), Cluster(2, lost=(2.5,), **FREE))
    assert found.again == 3
    assert found.seconds == pytest.approx(8.0)  # the other one has done two by then and one is half done: six to go


@pytest.mark.parametrize("blocks", [1, 7, 64, 65, 1000])
@pytest.mark.parametrize("when", [0.5, 3.5, 9.9])
def test_a_pass_ends_whoever_dies(blocks, when):
    found = run(Pass(blocks, seconds=1.0, size=10, joined=4), Cluster(6, lost=(when,) * 5))
    assert found.seconds < 2.0 * blocks + 10.0


def test_every_pass_that_the_costs_are_made_of_runs_and_leaves_less_than_its_block():
    block = RowBlock(
        0, np.random.default_rng(0).standard_normal((3000, COLUMNS), dtype=np.float32), np.arange(3000) % 2
    )
    for passes in _works(block).values():
        for work, given in passes:
            seconds, size = _timed(lambda work=work, given=given: work(block, *given))
            assert seconds > 0.0
            assert 0 < size < block.X.nbytes / 10
