"""How far the reading of a large file is, told to whoever waits for it; who does not wait any more raises in there.

    with telling(job.told):
        open_any(path)          calls job.told(0.1), job.told(0.2), ... on its way

Readers call `tell`; where nobody listens it does nothing. What listens belongs to a thread, not to the program.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def tell(share: float) -> None:
    """So much is done, 1.0 being all."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(min(1.0, share))
