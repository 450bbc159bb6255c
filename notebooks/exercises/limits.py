"""Stops code that does not end by itself: `with time_limit(5): ...` raises OutOfTime inside the block.

The seconds are the processor's, so that code which ends in time does so on a machine that is busy with other things, too.
Code that uses none, because it sleeps or waits, has PATIENCE times as many by the clock.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 12


class OutOfTime(BaseException):
    """The time is over. Not an Exception, so that an `except Exception` inside a loop does not swallow it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Run the block for at most `seconds` of this process. The interruption is repeated until the block is left.

    A POSIX main thread uses an alarm, which also ends a sleep. Elsewhere the exception is set on the thread
    from a watcher, which takes effect between two Python instructions.
    """
    posix = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    with _alarm(seconds) if posix else _watcher(seconds):
        yield


def _clock(seconds: float) -> Callable[[], float]:
    """A function that tells how long to wait until it can be over; 0.0 when it is."""
    used, waited = time.process_time() + seconds, time.monotonic() + PATIENCE * seconds
    return lambda: max(used - time.process_time(), 0.0) if time.monotonic() < waited else 0.0


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    over, left = False, _clock(seconds)

    def ring(signum: int, frame: object) -> None:
        if not over:
            if (more := left()) > 0:
                signal.setitimer(signal.ITIMER_REAL, max(more, 0.001), 0.5)
            else:
                raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        try:
            yield
        finally:
            over = True  # a ring from here on is for nobody
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _watcher(seconds: float) -> Iterator[None]:
    done, left = threading.Event(), _clock(seconds)
    lock = threading.Lock()
    thread, target = threading.current_thread(), ctypes.c_ulong(threading.get_ident())
    interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def lives() -> bool:
        """A thread that has ended may have left its number to another; one that Python did not start does not tell its end."""
        return thread.is_alive() and target.value in sys._current_frames()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait) and lives():
            if (more := left()) > 0:
                wait = max(more, 0.001)
                continue
            with lock:
                if not done.is_set():
                    interrupt(target, ctypes.py_object(OutOfTime))
            wait = 0.5
        # A thread may end before an interruption strikes. CPython 3.11 would wait for it for ever (see below); one that
        # strikes here ends that.
        try:
            interrupt(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(OutOfTime))
            for _ in range(100):
                pass
        except OutOfTime:
            pass

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        # An interruption that was set and has not struck yet strikes here, where it does no harm. To take it back
        # with None instead would leave CPython 3.11 waiting for it: the next traced function would never start.
        try:
            with lock:
                done.set()
            for _ in range(100):
                pass
        except OutOfTime:
            done.set()
