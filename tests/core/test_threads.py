import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pellucid.core import threads
from pellucid.core.threads import (
    one_thread,
    own_threads,
    run_blocks,
    shared_blas,
    shares,
    single_threaded_blas,
    split_evenly,
    thread_count,
)


def test_results_come_in_order():
    assert run_blocks(lambda i: i * i, list(range(20))) == [i * i for i in range(20)]
    assert run_blocks(lambda i: i, []) == []


def test_an_error_in_a_block_reaches_the_caller():
    def work(i):
        raise ValueError(f"block {i}")

    with pytest.raises(ValueError, match="block 0"):
        run_blocks(work, [0, 1])


def test_a_limit_by_threadpoolctl_is_honored():
    with threadpool_limits(1):
        assert thread_count() == 1
        assert run_blocks(lambda _: threading.current_thread(), [1, 2]) == [threading.main_thread()] * 2


def test_the_environment_variable_is_honored(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count() == 1


def test_blocks_inside_blocks_do_not_wait_for_each_other():
    def outer(i):
        return sum(run_blocks(lambda j: i * j, [1, 2, 3]))

    assert run_blocks(outer, [1, 2, 3, 4]) == [6, 12, 18, 24]


def test_a_task_beside_others_keeps_to_its_thread():
    with own_threads():
        before = thread_count()
        with one_thread():
            assert thread_count() == 1
            assert run_blocks(lambda _: threading.current_thread(), [1, 2]) == [threading.main_thread()] * 2
        assert thread_count() == before


def test_blas_gets_its_threads_back():
    before = thread_count()
    with single_threaded_blas():
        assert thread_count() == 1
    assert thread_count() == before


@pytest.mark.parametrize(("n", "parts"), [(10, 3), (2, 5), (1, 1), (7, 7)])
def test_slices_cover_everything_once(n, parts):
    covered = np.concatenate([np.arange(n)[part] for part in split_evenly(n, parts)])
    np.testing.assert_array_equal(covered, np.arange(n))


def test_fits_in_several_threads_give_blas_its_threads_back():
    before = thread_count()
    first_in, second_in = threading.Event(), threading.Event()

    def first():
        with own_threads():
            first_in.set()
            second_in.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    first_in.wait(10)
    with own_threads():  # comes while the first holds BLAS, leaves after it
        second_in.set()
        thread.join(10)
    assert thread_count() == before


def test_little_work_stays_in_one_piece(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    assert shares(9, threads.WORTH_SHARING - 1) == [slice(0, 9)]
    assert shares(9, threads.WORTH_SHARING) == [slice(0, 3), slice(3, 6), slice(6, 9)]


def test_blas_gets_threads_for_large_factorizations_only():
    def blas_threads():
        return {library.num_threads for library in threads._blas().lib_controllers}

    with own_threads():
        with shared_blas(threads.WORTH_SHARING_BLAS / 2):
            assert blas_threads() == {1}
        budget = thread_count()
        with shared_blas(threads.WORTH_SHARING_BLAS):
            assert blas_threads() == {budget}
