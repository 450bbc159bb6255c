"""Stop code that does not end on its own: `with time_limit(5): ...` raises OutOfTime inside the block.

The seconds are processor time of the thread that runs the block: on a busy machine, or beside other threads, code that would
end in time still does. Code that uses none, because it sleeps or waits, has PATIENCE times as long by the clock; time in
which it could have run but another program did is not counted (where the system reports it: Linux).

An exception can only be raised between two instructions of Python. A single call that loops inside C, such as
`sum(iter(int, 1))`, cannot be stopped by any code in the same process. Where the system has a timer that interrupts (not on
Windows), a message says so while it happens: which line it is, and what to do.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .blame import place_in
from .replies import say

PATIENCE = 12
STUCK = 2.0  # seconds of processor time beyond the limit before a call is said to be unstoppable


class OutOfTime(BaseException):
    """The time is up. Not an Exception, so that an `except Exception` inside a loop does not swallow it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Run the block for at most `seconds` of its thread. The interruption is repeated until the block is left.

    A POSIX main thread uses an alarm, which also ends a sleep. Elsewhere the exception is set on the thread
    from a watcher, which takes effect between two Python instructions. In a browser, which has neither alarms nor threads,
    each call and each iteration of a loop looks at the clock.
    """
    if sys.platform == "emscripten":
        limit = _monitored
    elif hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        limit = _alarm
    else:
        limit = _watcher
    with limit(seconds):
        yield


def _clock(seconds: float) -> Callable[[], float]:
    """A function that returns the seconds until the calling thread's time can be over at the earliest; 0.0 when it is over."""
    used, delayed = _processor_time(), _delay()
    started = used()
    waits: tuple[float, float, float] | None = None

    def left() -> float:
        nonlocal waits
        # asked for the first time when the limit has passed by the clock. Waiting counts from then on: asking the system before
        # each block how long this thread has waited would take longer than most blocks
        now = time.monotonic(), used(), delayed()
        waits = waits or now
        idle, worked, kept_waiting = (after - before for after, before in zip(now, waits, strict=True))
        idle -= worked + kept_waiting
        return max(min(seconds - (now[1] - started), (PATIENCE - 1) * seconds - idle), 0.0)

    return left


def _processor_time() -> Callable[[], float]:
    """The processor time that this thread has used, in seconds, callable from any thread. On Windows, that of the process."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(clock)


def _delay() -> Callable[[], float]:
    """The seconds for which this thread could have run but another one did. 0.0 where the system does not report it."""
    statistics = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")

    def seconds() -> float:
        try:
            return int(statistics.read_text(encoding="ascii").split()[1]) * 1e-9
        except (OSError, ValueError, IndexError):
            return 0.0

    return seconds


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    over, left = False, _clock(seconds)

    def ring(signum: int, frame: FrameType | None) -> None:
        if not over and not _inside_of_a_call(frame):
            if (more := left()) > 0:
                signal.setitimer(signal.ITIMER_REAL, max(more, 0.001), 0.5)
            else:
                raise OutOfTime

    with _says_when_stuck(seconds + STUCK):
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
        try:
            try:
                yield
            finally:
                over = True  # from here on, there is nothing for an alarm to stop
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@contextmanager
def _monitored(seconds: float) -> Iterator[None]:
    monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID
    end = time.monotonic() + seconds

    def look(*where: object) -> None:
        nonlocal end
        if (now := time.monotonic()) > end:
            end = now + 0.5  # again only in code that continues, not in code that ends the block
            raise OutOfTime

    monitoring.use_tool_id(tool, "time_limit")
    watched = (monitoring.events.PY_START, monitoring.events.JUMP)
    try:
        for event in watched:
            monitoring.register_callback(tool, event, look)
        monitoring.set_events(tool, sum(watched))
        yield
    finally:
        monitoring.set_events(tool, 0)
        for event in watched:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


@contextmanager
def _says_when_stuck(seconds: float) -> Iterator[None]:
    """After this many seconds of processor time, say that the running call cannot be stopped.

    Python's own handlers wait for the next instruction, which never comes. This one is called by the system, inside the call
    that loops. It prints its sentence, and lets the threads that send it to the page run.
    """

    install, handler = _system_handler()
    before = install(signal.SIGVTALRM, handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        install(signal.SIGVTALRM, before)


@functools.cache
def _system_handler() -> tuple[Callable, ctypes.c_void_p]:
    """The system's own `signal`, and the handler to give it. Made only once, since this takes longer than most answers."""

    def said_inside(signum: int) -> None:
        line = place_in(sys._getframe(1)).rstrip(": ")
        sys.stderr.write("\n" + say("stuck in C", line=line or "One call") + "\n")
        sys.stderr.flush()
        time.sleep(0.3)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(said_inside)
    install = ctypes.CDLL(None).signal
    install.restype, install.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    return install, ctypes.cast(handler, ctypes.c_void_p)


def _inside_of_a_call(frame: FrameType | None) -> bool:
    """Whether this runs in the handler of `_says_when_stuck`: an exception there would only stop its sentence."""
    while frame is not None:
        if frame.f_code.co_name == "said_inside" and frame.f_code.co_filename == __file__:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _watcher(seconds: float) -> Iterator[None]:
    done, left = threading.Event(), _clock(seconds)
    lock = threading.Lock()
    thread, target = threading.current_thread(), ctypes.c_ulong(threading.get_ident())
    interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def lives() -> bool:
        """Whether the thread still runs. Its number may have been reused, and not every thread reports its end."""
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
        # A thread may end before an interruption strikes. CPython 3.11 would wait for it forever (see below); striking here
        # ends the wait.
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
        # An interruption that was set and has not struck yet strikes here, where it does no harm. Cancelling it with None
        # instead would leave CPython 3.11 waiting for it: the next traced function would never start.
        try:
            with lock:
                done.set()
            for _ in range(100):
                pass
        except OutOfTime:
            done.set()
