"""The thread that reads keyframes: it and the window stay on processors of their own while it reads."""

import os
import sys
import threading

import pytest

from tests.test_app import setup
from tests.window import make_app
from ui.model.reader import Reader

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="threads choose no processors here"
)


@pytest.fixture
def reader() -> Reader:
    """One whose thread has begun."""
    made = Reader()
    made.submit(int).result()
    return made


def test_window_and_reader_are_apart_while_it_reads(reader: Reader) -> None:
    before, goes_on = os.sched_getaffinity(0), threading.Event()

    def read() -> set[int]:
        goes_on.wait(10)
        return os.sched_getaffinity(0)

    future = reader.submit(read)
    own = os.sched_getaffinity(0)
    assert len(own) == 1
    goes_on.set()
    assert future.result() == before - own


def test_at_the_end_of_the_reading_the_window_may_run_anywhere_again(reader: Reader) -> None:
    before = os.sched_getaffinity(0)
    told = threading.Event()
    reader.submit(int).add_done_callback(lambda _: told.set())
    assert told.wait(10)
    assert os.sched_getaffinity(0) == before


def test_when_the_frame_is_over_both_may_run_anywhere(reader: Reader) -> None:
    """On a busy machine the reader has but the processor on which the window rests."""
    before, goes_on = os.sched_getaffinity(0), threading.Event()

    def read() -> set[int]:
        goes_on.wait(10)
        return os.sched_getaffinity(0)

    future = reader.submit(read)
    assert os.sched_getaffinity(0) != before
    reader.let_go()
    assert os.sched_getaffinity(0) == before
    goes_on.set()
    assert future.result() == before


def test_a_window_lets_go_when_its_picture_is_shown(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    before, goes_on, app = os.sched_getaffinity(0), threading.Event(), make_app(setup())
    monkeypatch.setattr("ui.app.READER", reader)
    reader.submit(goes_on.wait, 10)
    assert os.sched_getaffinity(0) != before
    app.draw()
    app.present()
    assert os.sched_getaffinity(0) == before
    goes_on.set()


def test_a_reading_that_fails_lets_the_window_go(reader: Reader) -> None:
    before = os.sched_getaffinity(0)
    told = threading.Event()
    future = reader.submit(int, "no number")
    future.add_done_callback(lambda _: told.set())
    assert told.wait(10)
    assert isinstance(future.exception(), ValueError)
    assert os.sched_getaffinity(0) == before
