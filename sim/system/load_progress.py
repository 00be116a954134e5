"""Report the progress of functions that read large files, without passing a callback through them.

    with send_progress_to(listener):
        open_any_file(path)     calls listener(0.1), listener(0.2), ... while it reads

Readers call `report_load_progress`, which calls the listener of the current thread, if any. A listener cancels the
reading by raising an exception.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ProgressListener = Callable[[float], None]

_LISTENER: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


@contextmanager
def send_progress_to(listener: ProgressListener) -> Iterator[None]:
    """Send the progress reports of this thread to `listener` while the context is active.

    Args:
        listener: function called with the share of the work that is done, from 0 to 1.
    """
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def report_load_progress(share: float) -> None:
    """Report the share of the work that is done, from 0 to 1, to the listener of this thread, if it has one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(min(1.0, share))
