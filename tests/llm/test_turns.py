"""Whose turn it is, by a clock that the test turns."""

import threading

from cg_pipeline.llm.turns import Turns


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def turns(jobs: str, most_waiting: int = 9) -> tuple[Turns[str], Clock]:
    clock = Clock()
    return Turns(jobs, most_waiting=most_waiting, clock=clock), clock


def taking(queue: Turns[str]) -> tuple[threading.Thread, list[str | None]]:
    """A thread that takes a job, and what it was given so far."""
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(queue.take()), daemon=True)
    thread.start()
    return thread, found


def nothing_now(queue: Turns[str]) -> bool:
    """Whether whoever takes now has to wait."""
    thread, found = taking(queue)
    thread.join(0.1)
    waits = not found
    queue.stop()
    thread.join()
    return waits


def test_jobs_come_in_order_and_end():
    queue, _ = turns("ab")
    assert [queue.take(), queue.take()] == ["a", "b"]
    queue.end()
    queue.end()
    assert queue.take() is None


def test_one_that_waits_makes_room_and_comes_first_once_its_time_is_up():
    queue, clock = turns("abcd")
    assert queue.take() == "a"
    queue.again("a", 5.0)
    assert queue.take() == "b"
    queue.end()
    clock.now = 5.0
    assert [queue.take(), queue.take()] == ["a", "c"]


def test_the_one_that_is_due_first_comes_first():
    queue, clock = turns("ab")
    for wait_s in (7.0, 3.0):
        queue.again(queue.take(), wait_s)
    clock.now = 9.0
    assert [queue.take(), queue.take()] == ["b", "a"]


def test_when_all_wait_none_begins():
    queue, clock = turns("ab")
    queue.again(queue.take(), 5.0, all_wait=True)
    clock.now = 4.9
    assert nothing_now(queue)


def test_when_the_pause_is_over_whoever_asked_for_it_comes_first():
    queue, clock = turns("ab")
    queue.again(queue.take(), 5.0, all_wait=True)
    clock.now = 5.0
    assert [queue.take(), queue.take()] == ["a", "b"]


def test_only_so_many_wait_at_a_time():
    queue, _ = turns("abcd", most_waiting=2)
    for _ in range(2):
        queue.again(queue.take(), 5.0)
    assert nothing_now(queue)


def test_nobody_leaves_while_a_job_may_come_back():
    queue, _ = turns("a")
    assert queue.take() == "a"
    thread, found = taking(queue)
    queue.again("a", 0.0)
    thread.join(5.0)
    assert found == ["a"]


def test_after_a_stop_nothing_is_handed_out():
    queue, _ = turns("ab")
    assert queue.take() == "a"
    queue.stop()
    assert queue.take() is None
