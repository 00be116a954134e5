"""The thread that reads keyframes: it and the window stay on processors of their own while it reads."""

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.test_app import setup
from tests.window import make_app
from ui.model.reader import Reader

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="threads choose no processors here"
)


@pytest.fixture
def reader() -> Iterator[Reader]:
    """One whose thread has begun. In the end that has ended, and has let the window go."""
    with Reader() as made:
        made.submit(int).result()
        yield made


class Reading:
    """One that goes on until it is told to end, and then says where its thread might run."""

    def __init__(self, reader: Reader) -> None:
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


def test_window_and_reader_are_apart_while_it_reads(reader: Reader) -> None:
    before, reading = os.sched_getaffinity(0), Reading(reader)
    own = os.sched_getaffinity(0)
    assert len(own) == 1
    assert reading.end() == before - own


def test_at_the_end_of_the_reading_the_window_may_run_anywhere_again(reader: Reader) -> None:
    before, reading = os.sched_getaffinity(0), Reading(reader)
    reading.end()
    assert os.sched_getaffinity(0) == before


def test_when_the_frame_is_over_both_may_run_anywhere(reader: Reader) -> None:
    """On a busy machine the reader has but the processor on which the window rests."""
    before, reading = os.sched_getaffinity(0), Reading(reader)
    assert os.sched_getaffinity(0) != before
    reader.let_go()
    assert os.sched_getaffinity(0) == before
    assert reading.end() == before


def test_a_window_lets_go_when_its_picture_is_shown(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    before, app = os.sched_getaffinity(0), make_app(setup())
    monkeypatch.setattr("ui.app.READER", reader)
    reading = Reading(reader)
    assert os.sched_getaffinity(0) != before
    app.draw()
    app.present()
    assert os.sched_getaffinity(0) == before
    reading.end()


def test_an_earlier_reading_that_lets_go_late_leaves_nobody_on_one_processor(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for a reading may begin the next before the callbacks of the first are done."""
    before, choose = os.sched_getaffinity(0), os.sched_setaffinity

    def late(thread: int, processors: set[int]) -> None:
        monkeypatch.setattr(os, "sched_setaffinity", choose)
        reader.let_go()
        choose(thread, processors)

    monkeypatch.setattr(os, "sched_setaffinity", late)
    reading = Reading(reader)
    reading.end()
    reader.let_go()
    assert os.sched_getaffinity(0) == before


def test_a_reading_that_fails_lets_the_window_go(reader: Reader) -> None:
    before = os.sched_getaffinity(0)
    future = reader.submit(int, "no number")
    assert isinstance(future.exception(), ValueError)
    reader.shutdown()  # which waits for all that its thread has to do
    assert os.sched_getaffinity(0) == before
