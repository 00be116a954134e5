"""Report the progress of functions that read large files, without passing a callback through them.

    with telling(job.told):
        open_any(path)          calls job.told(0.1), job.told(0.2), ... while it reads

Readers call `tell`, which calls the listener of the current thread, if any. A listener cancels the reading by raising
an exception.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    """Send the progress reports of this thread to `listener` while the context is active.

    Args:
        listener: function called with the share of the work that is done, from 0 to 1.
    """
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def tell(share: float) -> None:
    """Report the share of the work that is done, from 0 to 1, to the listener of this thread, if it has one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(min(1.0, share))
