"""Progress reports of functions that read large files.

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
    """Call `listener` with the share done (0 to 1) while the context is active in this thread."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def tell(share: float) -> None:
    """Report that a share of the work is done; 1.0 is all of it."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(min(1.0, share))
