"""The thread that reads keyframes: it and the window stay on processors of their own while it reads."""

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.test_app import setup
from tests.window import make_app
from ui.model.keyframe_reader import KeyframeReader

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="threads choose no processors here"
)


@pytest.fixture
def reader() -> Iterator[KeyframeReader]:
    """One whose thread has begun. In the end that has ended, and has let the window go."""
    with KeyframeReader() as made:
        made.submit(int).result()
        yield made


class PendingRead:
    """One that goes on until it is told to end, and then says where its thread might run."""

    def __init__(self, reader: KeyframeReader) -> None:
        self._goes_on, self.is_over = threading.Event(), threading.Event()
        self._future = reader.submit(self._read)
        self._future.add_done_callback(lambda _: self.is_over.set())  # the reader's own comes before it

    def _read(self) -> set[int]:
        assert self._goes_on.wait(10)
        return os.sched_getaffinity(0)

    def end(self) -> set[int]:
        self._goes_on.set()
        assert self.is_over.wait(10)
        return self._future.result()


def test_window_and_reader_use_different_cpus_while_reading(reader: KeyframeReader) -> None:
    before, reading = os.sched_getaffinity(0), PendingRead(reader)
    own = os.sched_getaffinity(0)
    assert len(own) == 1
    assert reading.end() == before - own


def test_window_affinity_is_restored_after_reading(reader: KeyframeReader) -> None:
    before, reading = os.sched_getaffinity(0), PendingRead(reader)
    reading.end()
    assert os.sched_getaffinity(0) == before


def test_let_go_restores_affinity_of_window_and_reader(reader: KeyframeReader) -> None:
    """On a busy machine the reader has but the processor on which the window rests."""
    before, reading = os.sched_getaffinity(0), PendingRead(reader)
    assert os.sched_getaffinity(0) != before
    reader.end_thread_separation()
    assert os.sched_getaffinity(0) == before
    assert reading.end() == before


def test_present_restores_cpu_affinity(reader: KeyframeReader, monkeypatch: pytest.MonkeyPatch) -> None:
    before, app = os.sched_getaffinity(0), make_app(setup())
    monkeypatch.setattr("ui.app.KEYFRAME_READER", reader)
    reading = PendingRead(reader)
    assert os.sched_getaffinity(0) != before
    app.draw_window()
    app.present_frame()
    assert os.sched_getaffinity(0) == before
    reading.end()


def test_late_release_of_earlier_read_restores_affinity(
    reader: KeyframeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for a reading may begin the next before the callbacks of the first are done."""
    before, choose = os.sched_getaffinity(0), os.sched_setaffinity

    def delayed_setaffinity(thread: int, processors: set[int]) -> None:
        monkeypatch.setattr(os, "sched_setaffinity", choose)
        reader.end_thread_separation()
        choose(thread, processors)

    monkeypatch.setattr(os, "sched_setaffinity", delayed_setaffinity)
    reading = PendingRead(reader)
    reading.end()
    reader.end_thread_separation()
    assert os.sched_getaffinity(0) == before


def test_failed_read_restores_window_affinity(reader: KeyframeReader) -> None:
    before = os.sched_getaffinity(0)
    future = reader.submit(int, "no number")
    assert isinstance(future.exception(), ValueError)
    reader.shutdown()  # which waits for all that its thread has to do
    assert os.sched_getaffinity(0) == before
