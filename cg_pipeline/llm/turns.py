"""Whose turn it is: jobs for a few threads, none of which sleeps while there is something to do.

A job that is to be tried again after a while makes room for the next one, and comes before jobs
that were never tried once its time is up. Behind a server that fails everybody only so many jobs
wait at a time, so that it is not asked every question there is before the first is given up on.
"""

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

J = TypeVar("J")


class Turns(Generic[J]):
    """Hands out jobs; whoever takes one says later that it has ended, or when it wants another turn."""

    def __init__(
        self, jobs: Iterable[J], *, most_waiting: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fresh = deque(jobs)
        self._waiting: list[tuple[float, int, J]] = []
        self._most_waiting, self._clock = most_waiting, clock
        self._count = itertools.count()
        self._n_taken = 0
        self._not_before = clock()
        self._stopped = False
        self._changed = threading.Condition()

    def take(self) -> J | None:
        """The next job, as soon as there is one; None once all have ended, or after `stop`."""
        with self._changed:
            while not self._stopped and (self._fresh or self._waiting or self._n_taken):
                left_s = self._left_s()
                if left_s is not None and left_s <= 0:
                    self._n_taken += 1
                    return self._next()
                self._changed.wait(left_s)
        return None

    def end(self) -> None:
        """A job that was taken has ended."""
        with self._changed:
            self._n_taken -= 1
            self._changed.notify_all()

    def again(self, job: J, wait_s: float, *, all_wait: bool = False) -> None:
        """A job that was taken wants another turn after so long; with `all_wait`, no other begins before."""
        with self._changed:
            due = self._clock() + wait_s
            heapq.heappush(self._waiting, (due, next(self._count), job))
            self._n_taken -= 1
            if all_wait:
                self._not_before = max(self._not_before, due)
            self._changed.notify_all()

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _left_s(self) -> float | None:
        """Seconds until a job may be taken; None while that depends on those that are taken."""
        now = self._clock()
        if self._fresh and len(self._waiting) < self._most_waiting:
            return self._not_before - now
        return max(self._waiting[0][0], self._not_before) - now if self._waiting else None

    def _next(self) -> J:
        if self._waiting and self._waiting[0][0] <= self._clock():
            return heapq.heappop(self._waiting)[2]
        return self._fresh.popleft()
