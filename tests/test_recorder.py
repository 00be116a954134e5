"""Recordings read back: frames, size, rate, colours; names; takes that a kill or a full disk has cut short."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pygame
import pytest

from files.png import png_bytes, png_texts
from sim import world_commands
from sim.params import ConfigError, Value
from tests.conftest import ROOT
from tests.filming import OPTIONS, SMALL, Clip, read, replay, rgb, setup
from tests.window import App, make_app, press
from ui.dialogs.question import QuestionDialog
from ui.draw.theme import DARK, pack_colour
from ui.film import recorder, recording_files, video_encoding, worker_handle
from ui.film.film import FilmCancelled, export_video
from ui.film.film_options import FilmOptions, WindowPart, output_kind_of
from ui.film.record_dialogs import AS_WINDOW, PANEL, PARAMS, ExportDialog, RecordDialog, film_options_of
from ui.film.recorder import Recorder, interrupted_recordings, recover_recording
from ui.film.recording_controller import file_size_text, indicator_text
from ui.film.replay import replay_spec_of_run
from ui.film.worker_handle import WorkerHandle
from ui.film.worker_messages import WorkerReport
from ui.model import branch_actions
from ui.model.value_adjustments import toggle_map_switch

PATIENCE_S = 120.0

COLOURS = np.array(
    [
        pack_colour(getattr(DARK, name))
        for name in ("free", "wall", "closed", "open", "back_move", "path", "agent", "trees")
    ],
    np.uint32,
)

Pixels = npt.NDArray[np.uint32]


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of these tests is found by, or finds, what others do on this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(recording_files.FOLDER_VARIABLE, str(tmp_path / "recordings"))


def board(number: int, cell: int = 8, size: tuple[int, int] = SMALL) -> Pixels:
    """Cells of all colours, some of which change from picture to picture."""
    columns, rows = -(-size[0] // cell), -(-size[1] // cell)
    kinds = np.random.default_rng(7).integers(0, COLOURS.size, (rows, columns))
    kinds[number % rows] = number % COLOURS.size
    whole = np.repeat(np.repeat(COLOURS[kinds], cell, 0), cell, 1)
    return np.ascontiguousarray(whole[: size[1], : size[0]])


def worst_channel_errors(clip: Clip, cell: int = 8, size: tuple[int, int] = SMALL) -> npt.NDArray[np.int64]:
    """Worst channel error at the middle of every cell of every picture of a video of boards."""
    middle = slice(cell // 2, None, cell)
    return np.array(
        [
            np.abs(picture - rgb(board(i, cell, size)))[middle, middle].max(axis=-1)
            for i, picture in enumerate(clip.pictures)
        ]
    )


def record(path: Path, count: int = 30, fps: int = 30, cell: int = 8, size: tuple[int, int] = SMALL, **more) -> Path:
    made = Recorder(path, size, fps, **more)
    for i in range(count):
        assert made.add(board(i, cell, size))
    return made.finish_file()


# --- files read back ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "codec", "fps"),
    [
        ("a.mp4", "h264", 30),
        ("a.mp4", "h264", 7),
        ("a.mkv", "h264", 60),
        ("a.webm", "libvpx-vp9", 25),
        ("a.gif", "gif", 20),
    ],
)
def test_recorded_frames_are_read_back(tmp_path: Path, name: str, codec: str, fps: int) -> None:
    path = record(tmp_path / name, 30, fps)
    assert path == tmp_path / name and not [*tmp_path.glob("*.part.*"), *tmp_path.glob("*finishing*")]
    clip = read(path)
    assert clip.count == 30 and clip.size == SMALL and clip.codec in (codec, "vp9")
    assert clip.rate == fps
    assert clip.seconds == pytest.approx(30 / fps, abs=0.002)
    assert np.diff(clip.times) == pytest.approx(np.full(29, 1 / fps), abs=0.0011)
    if name.endswith(".mp4"):
        assert np.diff(clip.times) == pytest.approx(np.full(29, 1 / fps), abs=1e-9), "exact, not in milliseconds"
    if codec != "gif":
        assert clip.tags == (1, 1, 1), "BT.709, or HD players show other colours"


@pytest.mark.parametrize("name", ["a.mp4", "a.webm", "a.gif"])
def test_exact_colours_are_preserved(tmp_path: Path, name: str) -> None:
    clip = read(record(tmp_path / name, 20, 25, 3, exact_colours=True))
    assert worst_channel_errors(clip, 3).max() <= 3
    assert clip.pixel_format in ("yuv444p", "bgra", "pal8", "bgr8")


@pytest.mark.parametrize(("cell", "mean", "worst"), [(4, 14, 70), (8, 3, 20), (16, 2, 12)])
def test_default_colours_are_within_documented_error(tmp_path: Path, cell: int, mean: float, worst: int) -> None:
    """The bounds are those of docs/recording.md: 4:2:0 halves the colour's sharpness."""
    found = worst_channel_errors(read(record(tmp_path / "a.mp4", 20, 30, cell)), cell)
    assert found.mean() <= mean and found.max() <= worst


@pytest.mark.parametrize("preset", ["draft", "normal", "high"])
def test_presets_have_documented_colour_error(tmp_path: Path, preset: str) -> None:
    clip = read(record(tmp_path / "a.mp4", 10, preset=preset))
    assert clip.count == 10
    assert worst_channel_errors(clip).mean() < {"draft": 16, "normal": 3, "high": 2}[preset]


def test_odd_sizes_are_kept_or_refused(tmp_path: Path) -> None:
    """Where the codec can it takes any size; where it cannot it says so, and what to take instead."""
    odd = (121, 67)
    for name, exact in (("a.mp4", True), ("a.webm", False), ("a.gif", False), ("a.mkv", True)):
        path = record(tmp_path / name, 5, 25, size=odd, exact_colours=exact)
        assert read(path).size == odd
    with pytest.raises(ConfigError, match=r"even width and height.*nearest is 120x66"):
        Recorder(tmp_path / "b.mp4", odd)
    with pytest.raises(ConfigError, match="16x16"):
        Recorder(tmp_path / "b.mp4", (1, 1))
    assert not (tmp_path / "b.mp4.part.mkv").exists()


def test_folder_gets_numbered_pngs_and_png_the_last_frame(tmp_path: Path) -> None:
    folder = record(tmp_path / "many", 3)
    assert sorted(os.listdir(folder)) == ["000000.png", "000001.png", "000002.png"]
    for i in range(3):
        loaded = pygame.image.load(folder / f"{i:06}.png")
        assert loaded.get_size() == SMALL
        there = pygame.surfarray.array3d(loaded).transpose(1, 0, 2)
        assert (there == rgb(board(i))).all(), "lossless"
    last = record(tmp_path / "last.png", 3, texts={"Tick": "2"})
    assert png_texts(last.read_bytes())["Tick"] == "2"
    assert (pygame.surfarray.array3d(pygame.image.load(last)).transpose(1, 0, 2) == rgb(board(2))).all()


def test_png_texts_are_written_according_to_the_standard(tmp_path: Path) -> None:
    texts = {"Title": "Lazy and eager", "Author": "Hernández", "Comment": "häufig → 猫\r\nzweite Zeile"}
    data = png_bytes(board(0, size=(40, 30)), texts)
    found = png_texts(data)
    assert found["Comment"] == "häufig → 猫\nzweite Zeile" and found["Author"] == "Hernández"
    assert b"tEXtTitle\0Lazy and eager" in data and b"tEXtAuthor\0Hern\xe1ndez" in data
    assert b"iTXtComment\0\0\0\0\0" in data
    long = {"Scenario": "x: 1\n" * 900, "Caption": "→ 猫 " * 900}
    packed_data = png_bytes(board(0, size=(40, 30)), long)
    assert {key: png_texts(packed_data)[key] for key in long} == long and len(packed_data) < len(data) + 600
    assert b"zTXtScenario\0\0" in packed_data and b"iTXtCaption\0\1\0\0\0" in packed_data
    for end in range(8, len(data)):
        with contextlib.suppress(ValueError):
            png_texts(data[:end])
    for wrong in ("", " a", "a" * 80, "a\n"):
        with pytest.raises(ValueError, match="keyword"):
            png_bytes(board(0, size=(16, 16)), {wrong: "x"})
    with pytest.raises(ValueError, match="checksum"):
        png_texts(data[:60] + b"x" + data[61:])


def test_repeat_holds_the_last_frame(tmp_path: Path) -> None:
    made = Recorder(tmp_path / "a.mkv", SMALL, 30, exact_colours=True)
    made.add(board(0))
    made.add(board(3))
    made.repeat_frame(5)
    clip = read(made.finish_file())
    assert clip.count == 7
    assert all((picture == clip.pictures[1]).all() for picture in clip.pictures[2:])
    assert made.status.frame_count == made.status.encoded_count == 7 and made.status.queued_frames == 0


def test_recorder_waits_for_a_slow_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def add_slowly(self: video_encoding.VideoEncoder, pixels: Pixels) -> None:
        time.sleep(0.01)
        taken.append(int(pixels[0, 0]))
        add(self, pixels)

    add = video_encoding.VideoEncoder.add
    monkeypatch.setattr(video_encoding.VideoEncoder, "add", add_slowly)
    made = Recorder(tmp_path / "a.mkv", SMALL, 30)
    most_waiting = 0
    for i in range(30):
        made.add(np.full((SMALL[1], SMALL[0]), i, np.uint32))
        most_waiting = max(most_waiting, made.status.queued_frames)
    made.finish_file()
    assert taken == list(range(30)), "none left out, none altered while it waited"
    assert most_waiting <= recorder.QUEUE_LENGTH + 2


# --- names --------------------------------------------------------------------------------------------


def test_recordings_never_overwrite_files(tmp_path: Path) -> None:
    first = record(tmp_path / "talk.mp4", 3)
    before = first.read_bytes()
    assert record(tmp_path / "talk.mp4", 4).name == "talk-2.mp4"
    assert record(tmp_path / "talk.mp4", 5).name == "talk-3.mp4"
    assert first.read_bytes() == before
    together = [Recorder(tmp_path / "talk.mp4", SMALL) for _ in range(2)]
    for made in together:
        made.add(board(0))
    assert sorted(made.finish_file().name for made in together) == ["talk-4.mp4", "talk-5.mp4"]
    assert [record(tmp_path / "many", 1).name for _ in range(2)] == ["many", "many-2"]
    made = Recorder(f"{tmp_path}/pictures.d/", SMALL)
    made.add(board(0))
    assert made.finish_file() == tmp_path / "pictures.d"


def test_name_taken_during_recording_is_not_overwritten(tmp_path: Path) -> None:
    made = Recorder(tmp_path / "talk.mp4", SMALL)
    made.add(board(0))
    (tmp_path / "talk.mp4").write_text("mine")
    assert made.finish_file().name == "talk-2.mp4"
    assert (tmp_path / "talk.mp4").read_text() == "mine"


def test_default_names_contain_agents_and_tick() -> None:
    assert recording_files.recording_file_name(["lazy", "eager"], 66) == "lazy-vs-eager-tick-66.mp4"
    assert recording_files.recording_file_name(["TB-WA*", "w = 1.4"], 0, ".gif") == "TB-WA-vs-w-1.4-tick-0.gif"
    assert recording_files.recording_file_name([], 3, ".png") == "run-tick-3.png"
    assert recording_files.recording_file_name(["../../etc"], 1, ".png") == "etc-tick-1.png"
    assert output_kind_of(recording_files.recording_file_name(["w = 1.4"], 7, "")) == "folder"
    assert recording_files.recording_file_name(["a"], 10, ".gif", 30) == "a-ticks-10-30.gif"
    assert len(recording_files.recording_file_name(["x" * 300], 1)) < 120
    assert recording_files.recording_file_name(["\u65e5" * 90], 1) == "\u65e5" * 26 + "-tick-1.mp4", (
        "255 bytes are the most on a disk"
    )
    assert (
        recording_files.recording_file_name(["x" * 40, "y" * 34, "z"], 1) == f"{'x' * 40}-vs-{'y' * 34}-tick-1.mp4"
    ), "no -vs- of nobody"


def test_target_kind_follows_the_file_extension(tmp_path: Path) -> None:
    assert (
        output_kind_of("a.MP4") == ".mp4"
        and output_kind_of(tmp_path) == "folder"
        and output_kind_of("frames") == "folder"
    )
    with pytest.raises(ConfigError, match=r"ends in one of \.mp4.*or a folder, got 'a\.mpg'"):
        output_kind_of("a.mpg")


# --- bad targets, full disks --------------------------------------------------------------------------


def test_unwritable_targets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("nowhere/a.mp4", "file/a.mp4", "nowhere/a.png", "file/folder"):
        with pytest.raises(ConfigError, match="cannot be written") as caught:
            Recorder(tmp_path / place, SMALL)
        assert len(caught.value.problems) == 1
    with pytest.raises(ConfigError, match="no folder"):
        recording_files.check_path_is_writable(tmp_path / "nowhere" / "a.mp4")
    for options in ({"fps": 0}, {"fps": 500}):
        with pytest.raises(ConfigError, match="fps"):
            Recorder(tmp_path / "a.mp4", SMALL, **options)


def start_python(code: str, *arguments: object, **options: object) -> "subprocess.Popen[str]":
    """Another process that can use the helpers of this file."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


FULL_DISK = """
import resource, signal, sys
from tests.test_recorder import board, SMALL, Recorder, ConfigError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))
made = Recorder(sys.argv[1], SMALL, 30)
count = 0
while made.add(board(count)) and count < 2000:
    count += 1
print(count, "went on after the recording stopped")
try:
    made.finish_file()
except ConfigError as error:
    print(error)
"""


def test_full_disk_stops_recording_and_keeps_its_frames(tmp_path: Path) -> None:
    process = start_python(FULL_DISK, tmp_path / "talk.mp4")
    out, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, error
    went_on, message = out.splitlines()
    assert 10 < int(went_on.split()[0]) < 2000
    part = tmp_path / "talk.mp4.part.mkv"
    assert (
        message == f"{tmp_path / 'talk.mp4'}: the recording stopped: File too large; the recording so far is in {part}"
    )
    found = interrupted_recordings([tmp_path])
    assert [leftover.part_path for leftover in found] == [part] and found[0].duration_s > 0.3
    clip = read(recover_recording(part))
    assert clip.count / 30 == pytest.approx(found[0].duration_s)
    assert worst_channel_errors(clip).mean() < 3
    assert not part.exists() and not interrupted_recordings([tmp_path])


# --- kills --------------------------------------------------------------------------------------------

ENDLESS = """
import sys
from tests.test_recorder import board, SMALL, Recorder
made = Recorder(sys.argv[1], SMALL, int(sys.argv[2]))
for i in range(100_000):
    made.add(board(i))
    print(i + 1, flush=True)
"""


@pytest.mark.parametrize(("name", "fps"), [("talk.mp4", 30), ("talk.gif", 10)])
def test_killed_recording_loses_less_than_a_second(tmp_path: Path, name: str, fps: int) -> None:
    target = tmp_path / "anywhere" / name
    target.parent.mkdir()
    process = start_python(ENDLESS, target, fps)
    assert process.stdout is not None
    given = 0
    for line in process.stdout:
        given = int(line)
        if given >= 5 * fps:
            break
    assert not interrupted_recordings(), "it is still being written"
    process.kill()
    given = max([given, *map(int, process.stdout.read().split())])
    process.communicate()
    found = interrupted_recordings()  # the folder is not named: the journal knows it
    assert [leftover.target_path for leftover in found] == [target]
    path = recover_recording(found[0].part_path)
    clip = read(path)
    assert path == target and clip.rate == fps
    assert given - fps <= clip.count <= given
    assert worst_channel_errors(clip).mean() < 6
    assert not interrupted_recordings()


def test_unusable_leftovers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mp4.part.mkv").write_bytes(b"not a video")
    (tmp_path / "b.mp4.part.mkv").write_bytes(b"")
    assert not interrupted_recordings([tmp_path, tmp_path / "nowhere"])
    for name, text in (
        ("a.mp4.part.mkv", "no picture"),
        ("c.mp4.part.mkv", "no such file"),
        ("a.mp4", "expected an unfinished recording"),
    ):
        with pytest.raises(ConfigError, match=text):
            recover_recording(tmp_path / name)
    made = Recorder(tmp_path / "d.mp4", SMALL)
    made.add(board(0))
    with pytest.raises(ConfigError, match="still being recorded"):
        recover_recording(tmp_path / "d.mp4.part.mkv")
    made.stop_and_delete()
    assert not (tmp_path / "d.mp4.part.mkv").exists()
    with pytest.raises(ConfigError, match="no picture"):
        Recorder(tmp_path / "e.mp4", SMALL).finish_file()
    assert not (tmp_path / "e.mp4.part.mkv").exists() and not (tmp_path / "e.mp4").exists()


def test_exception_while_filming_keeps_recorded_frames(tmp_path: Path) -> None:
    def told(film: object) -> None:
        if film.frame_count == 12:  # type: ignore[attr-defined]
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        export_video(replay(), tmp_path / "a.mp4", (0, 20), OPTIONS, told=told)
    assert read(recover_recording(interrupted_recordings([tmp_path])[0].part_path)).count == 12


def test_cancelled_export_leaves_no_files(tmp_path: Path) -> None:
    for name in ("a.mp4", "pictures"):
        with pytest.raises(FilmCancelled):
            export_video(replay(), tmp_path / name, (0, 20), OPTIONS, is_cancelled=lambda: True)
    assert [name for name in os.listdir(tmp_path) if name != "config"] == []


# --- the window and its studio ------------------------------------------------------------------------


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def play_window_until(app: App, studio: WorkerHandle, until_tick: int) -> None:
    """Frames of uneven length, as a busy machine has them."""
    app.window.player.play()
    paces = [0.001, 0.016, 0.05, 0.2, 0.016]
    for i in range(400):
        app.run_frame(paces[i % len(paces)])
        studio.send_window_changes(app.session, app.window.view_overrides.current_appearance())
        if app.session.tick >= until_tick:
            break
    app.window.player.pause()


def read_frame_files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def test_window_recording_equals_headless_recording(tmp_path: Path) -> None:
    app = make_app(setup(), (700, 500))
    options = FilmOptions(SMALL, 25, Fraction(1, 2), WindowPart("window"), has_captions=True, hold_s=0.08)
    app.session.advance_by_ticks(3)
    made = WorkerHandle.start_recording(
        tmp_path / "window/", app.session, options, app.window.view_overrides.current_appearance()
    )
    play_window_until(app, made, 8)
    tick = app.session.tick
    toggle_map_switch(app.session, "door")
    play_window_until(app, made, tick + 5)
    made.stop_recording()
    report = made.wait_until_done(PATIENCE_S)
    assert report.is_done and not report.problem, report
    last = app.session.tick
    done = export_video(
        replay_spec_of_run(app.session.run),
        tmp_path / "headless/",
        (3, last + 1),
        options,
        app.window.view_overrides.current_appearance(),
    )
    own, other = read_frame_files(tmp_path / "window"), read_frame_files(tmp_path / "headless")
    assert len(own) == len(other) == report.frames == done.frame_count > 2 * (last - 3)
    assert own == other


def test_recording_continues_after_seeks_branches_and_resets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Winding back, other looks, branches and a new start are cuts in one video; the run waits for a slow studio."""
    monkeypatch.setattr(worker_handle, "MAX_FRAMES_BEHIND", 5)
    app = make_app(setup())
    made = WorkerHandle.start_recording(
        tmp_path / "a.mkv",
        app.session,
        replace(OPTIONS, exact_colours=True),
        app.window.view_overrides.current_appearance(),
    )
    play_window_until(app, made, 12)
    assert made.must_simulation_wait or made.last_report.tick >= 6
    wait_until(lambda: not made.must_simulation_wait)
    app.session.seek_to_tick(4)
    made.send_window_changes(app.session, app.window.view_overrides.current_appearance())
    app.session.submit_command(world_commands.SetBudget(9))
    app.window.set_theme("light")
    play_window_until(app, made, 7)
    branch_actions.create_branch_at_current_tick(app.session)
    play_window_until(app, made, 10)
    app.session.start_over(keeps_map=True)
    made.send_window_changes(app.session, app.window.view_overrides.current_appearance())
    play_window_until(app, made, 3)
    made.stop_recording()
    report = made.wait_until_done(PATIENCE_S)
    assert report.is_done and not report.problem, report
    clip = read(Path(report.path))
    assert clip.count == report.frames and clip.count >= 12 + 3 + 3 + 4
    assert clip.pictures[0].mean() < 60 < 120 < clip.pictures[-1].mean(), "from dark to light"


PARENT = """
import sys, time
from tests.filming import setup, OPTIONS
from tests.window import make_app
from ui.film.worker_handle import WorkerHandle
app = make_app(setup(script=()))
studio = WorkerHandle.start_recording(sys.argv[1], app.session, OPTIONS, app.window.view_overrides.current_appearance())
app.session.advance_by_ticks(12)
studio.send_window_changes(app.session, app.window.view_overrides.current_appearance())
while studio.last_report.tick < 11:
    time.sleep(0.02)
print("filmed", flush=True)
time.sleep(100)
"""


def test_recording_is_finished_when_the_window_is_killed(tmp_path: Path) -> None:
    process = start_python(PARENT, tmp_path / "talk.mp4", env={**os.environ, "SDL_VIDEODRIVER": "dummy"})
    assert process.stdout is not None and process.stdout.readline().strip() == "filmed", process.stderr.read()
    process.kill()
    process.communicate()
    wait_until(lambda: (tmp_path / "talk.mp4").exists() and not (tmp_path / "talk.mp4.part.mkv").exists())
    clip = read(tmp_path / "talk.mp4")
    assert clip.count == 13 and clip.size == SMALL


def test_studio_reports_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(setup())
    bad = WorkerHandle.start_recording(
        tmp_path / "nowhere" / "a.mp4", app.session, OPTIONS, app.window.view_overrides.current_appearance()
    )
    dead = WorkerHandle.start_recording(
        tmp_path / "b.mp4", app.session, OPTIONS, app.window.view_overrides.current_appearance()
    )
    dead._worker_process.kill()
    report = bad.wait_until_done(PATIENCE_S)
    assert report.is_done and "cannot be written" in report.problem
    report = dead.wait_until_done(PATIENCE_S)
    assert report.is_done and "ended unexpectedly" in report.problem
    assert not dead.must_simulation_wait and not bad.must_simulation_wait


def test_export_reports_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    app = make_app(setup())
    app.session.advance_by_ticks(8)
    branch_actions.create_branch_at_current_tick(app.session)
    run = replay_spec_of_run(app.session.run)
    made = WorkerHandle.start_export(
        tmp_path / "a.gif", run, (0, 20), OPTIONS, app.window.view_overrides.current_appearance()
    )
    endless = WorkerHandle.start_export(
        tmp_path / "b.mp4",
        run,
        (0, 100_000),
        replace(OPTIONS, hold_s=60.0, fps=240),
        app.window.view_overrides.current_appearance(),
    )
    report = made.wait_until_done(PATIENCE_S)
    assert report.frames == 20 and report.share == 1.0 and Path(report.path).name == "a.gif", report
    assert report.bytes == (tmp_path / "a.gif").stat().st_size, "of the .gif, not of what it was made from"
    assert read(tmp_path / "a.gif").count == 20
    endless.cancel()
    report = endless.wait_until_done(PATIENCE_S)
    assert report.is_done and (report.is_cancelled or report.path)


def test_f9_records_and_reports_the_result(tmp_path: Path) -> None:
    app = make_app(setup(script=()))
    press(app, pygame.K_F9)
    assert isinstance(app.window.dialogs.current_dialog, RecordDialog)
    app.window.dialogs.current_dialog.values |= {"size": "640 x 360", "captions": True}
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is None and app.window.recording_controller.is_recording
    app.session.advance_by_ticks(3)
    toggle_map_switch(app.session, "door")
    app.session.advance_by_ticks(6)
    app.run_frame(0.0)
    press(app, pygame.K_F9)
    assert not app.window.recording_controller.is_recording
    done: list[str] = []

    def is_message_shown() -> bool:
        app.run_frame(0.0)
        done[:] = [
            text for text in app.window.ui_state.message_queue.queued_message_texts() if text.startswith("Recorded ")
        ]
        return bool(done)

    wait_until(is_message_shown)
    path = tmp_path / "recordings" / "a0-vs-a1-tick-0.mp4"
    assert str(path) in done[0]
    assert read(path).count == 10 and read(path).size == (640, 360)
    assert not recording_files.interrupted_recordings()


def test_f9_at_the_end_of_a_run_offers_export() -> None:
    """It recorded one still picture there, for nothing moves any more."""
    app = make_app(setup(script=()))
    press(app, pygame.K_F9)
    assert type(app.window.dialogs.current_dialog) is RecordDialog
    press(app, pygame.K_ESCAPE)
    app.session.advance_by_ticks(10_000)
    assert app.session.run.is_over
    press(app, pygame.K_F9)
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, ExportDialog)
    assert (dialog.values["from_tick"], dialog.values["to_tick"]) == (0, app.session.tick)
    press(app, pygame.K_ESCAPE)
    press(app, pygame.K_LEFT)
    wait_until(lambda: (app.run_frame(0.0), not app.session.run.is_over)[1])
    press(app, pygame.K_F9)
    assert type(app.window.dialogs.current_dialog) is RecordDialog, "from there on there is something to record"


@pytest.mark.parametrize("is_running", [True, False])
def test_recording_while_paused_hints_how_to_run(is_running: bool) -> None:
    app = make_app(setup(script=()))
    if is_running:
        app.window.player.play()
    press(app, pygame.K_F9)
    press(app, pygame.K_RETURN)
    assert ("Space starts the run" in told(app, "Recording to")) == (not is_running)


def told(app: App, beginning: str) -> str:
    """What the window says once it says something that begins like this; it says it once."""
    found: list[str] = []

    def is_message_shown() -> bool:
        app.run_frame(0.0)
        found[:] = [
            text for text in app.window.ui_state.message_queue.queued_message_texts() if text.startswith(beginning)
        ]
        return bool(found)

    wait_until(is_message_shown)
    assert len(found) == 1, found
    return found[0]


def usual(**more: str | int) -> dict[str, Value]:
    return {param.name: param.default for param in PARAMS} | {"size": "640 x 360"} | more


def test_deleted_folder_stops_recording_with_one_message(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    for kind, lost in (
        ("mp4", ".part.mkv was deleted, so the recording is lost"),
        ("png", "was deleted, so the pictures are lost"),
    ):
        app = make_app(setup(script=()))
        app.window.recording_controller.start_recording(usual(format=kind))
        filming = app.window.recording_controller.active_recording
        assert filming is not None
        app.session.advance_by_ticks(3)
        app.run_frame(0.0)
        wait_until(lambda filming=filming: filming.last_report.tick >= 2)  # type: ignore[misc]
        shutil.rmtree(folder)
        app.session.advance_by_ticks(2)
        app.run_frame(0.0)
        said = told(app, str(folder))
        assert "the recording stopped: No such file or directory" in said and lost in said
        assert not app.window.recording_controller.is_recording, "it is told at once, not when F9 stops it"


def test_export_to_taken_name_reports_the_numbered_name(tmp_path: Path) -> None:
    app = make_app(setup(script=()))
    app.session.advance_by_ticks(4)
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "a0-vs-a1-ticks-1-2.mp4").write_text("mine")
    for _ in range(2):
        app.window.recording_controller.start_export(usual(from_tick=1, to_tick=2))
    names = [f"a0-vs-a1-ticks-1-2-{number}.mp4" for number in (2, 3)]
    assert [
        text.removeprefix("Exporting ticks 1 to 2 to ")
        for text in app.window.ui_state.message_queue.queued_message_texts()
    ] == names
    for name in names:
        assert told(app, f"Recorded {folder / name}").endswith("kB")
    assert (folder / "a0-vs-a1-ticks-1-2.mp4").read_text() == "mine"


def test_one_tick_range_exports_one_frame(tmp_path: Path) -> None:
    app = make_app(setup(script=()))
    app.session.advance_by_ticks(4)
    app.window.recording_controller.start_export(usual(from_tick=2, to_tick=2, format="gif", frames_per_second="25"))
    path = tmp_path / "recordings" / "a0-vs-a1-ticks-2-2.gif"
    assert told(app, "Exporting") == f"Exporting tick 2 to {path.name}"
    size = told(app, "Recorded").removeprefix(f"Recorded {path}: 1 frame, ")
    assert size == file_size_text(path.stat().st_size) and read(path).count == 1


def test_recording_stopped_at_first_tick_has_one_frame(tmp_path: Path) -> None:
    app = make_app(setup(script=()))
    app.window.recording_controller.start_recording(usual())
    app.window.recording_controller.stop_recording()
    assert ": 1 frame, " in told(app, "Recorded")


@pytest.mark.parametrize("key", [pygame.K_F9, pygame.K_e])
def test_unwritable_recording_folder_is_reported_in_the_form(tmp_path: Path, key: int) -> None:
    (tmp_path / "recordings").write_text("in the way")
    app = make_app(setup(script=()))
    press(app, key, 0 if key == pygame.K_F9 else pygame.KMOD_LALT)
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, RecordDialog)
    dialog.values |= {"size": "640 x 360"}
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog and dialog.values["size"] == "640 x 360"
    assert dialog.problem == f"{tmp_path / 'recordings'}: expected a folder, got a file"
    assert (
        not app.window.recording_controller.is_recording
        and not app.window.recording_controller.active_exports
        and not app.window.ui_state.message_queue.queued_messages
    )
    (tmp_path / "recordings").unlink()
    (tmp_path / "recordings").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog and "cannot be written" in dialog.problem


def test_range_after_end_of_run_is_reported_in_the_form() -> None:
    app = make_app(setup(script=()))
    app.session.advance_by_ticks(10_000)
    end = app.session.tick
    app.window.recording_controller.open_export_dialog(0, end)
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, ExportDialog)
    dialog.values |= {"from_tick": end + 5, "to_tick": end + 9}
    dialog.rebuild_widgets()
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog
    assert dialog.problem == f"from tick: expected at most {end:,}, the last tick of the run, got {end + 5:,}"


def test_forward_seek_is_a_cut_in_the_recording(tmp_path: Path) -> None:
    app = make_app(setup(script=()))
    app.session.advance_by_ticks(12)
    app.window.player.pause_and_seek(2)
    app.run_frame(0.0)
    app.window.recording_controller.start_recording(
        {param.name: param.default for param in PARAMS} | {"size": "640 x 360"}
    )
    app.session.advance_by_ticks(2)
    app.run_frame(0.0)
    press(app, pygame.K_END)
    assert app.session.tick == 12
    filming = app.window.recording_controller.active_recording
    assert filming is not None
    app.window.recording_controller.stop_recording()
    report = filming.wait_until_done(PATIENCE_S)
    assert report.frames == 3, "ticks 2, 3 and 12: a tick is filmed when time has passed it"
    assert read(Path(report.path)).count == 3


def test_leftover_recording_is_offered_at_start(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    made = Recorder(folder / "lost.mp4", SMALL, 30)
    for i in range(30):
        made.add(board(i))
    made.stop_without_finishing()
    app = make_app(setup())
    app.window.recording_controller.offer_interrupted_recordings(is_busy=False)
    assert (
        isinstance(app.window.dialogs.current_dialog, QuestionDialog)
        and "lost.mp4: 1.0 s of video" in app.window.dialogs.current_dialog.text
    )
    app.run_frame(0.0)
    press(app, pygame.K_RETURN)
    assert read(folder / "lost.mp4").count == 30
    app.window.recording_controller.offer_interrupted_recordings(is_busy=False)
    assert app.window.dialogs.current_dialog is None


def test_form_values_give_film_options() -> None:
    values = {param.name: param.default for param in PARAMS}
    usual = film_options_of(values, (801, 601), 2)
    assert usual == FilmOptions((1280, 720), 30, Fraction(1), WindowPart("panels"))
    values |= {"size": AS_WINDOW, "part": PANEL, "ticks_per_frame": "1/4", "frames_per_second": "50", "hold": 1.5}
    assert film_options_of(values, (801, 601), 2) == FilmOptions(
        (800, 600), 50, Fraction(1, 4), WindowPart("panel", 3), hold_s=1.5
    )


def test_recording_indicator_shows_phase_time_and_size() -> None:
    assert indicator_text(WorkerReport()) == "starting"
    assert indicator_text(WorkerReport(phase="filming", seconds=72.9, bytes=3_456_789)) == "1:12 3.5 MB"
    assert indicator_text(WorkerReport(phase="finishing", share=0.5)) == "finishing 50%"
    assert indicator_text(WorkerReport(phase="filming", share=0.25), is_export=True) == "export 25%"


_PEAK = """
import resource, sys
from pathlib import Path
import numpy as np
from ui.film import video_encoding
from ui.film.film_options import GIF, Encoding
folder, frames = Path(sys.argv[1]), int(sys.argv[2])
with open(folder / "a.mkv", "wb", buffering=0) as file:
    encoder = video_encoding.VideoEncoder(file, (640, 480), Encoding(GIF, 20), threads=1)
    for i in range(frames):
        encoder.add(np.full((480, 640), i, np.uint32))
    encoder.close()
video_encoding.convert_part_file(folder / "a.mkv", folder / "a.gif")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kilobytes there")
def test_long_gif_uses_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    def peak_memory(frames: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, str(tmp_path), str(frames)], cwd=ROOT, capture_output=True, check=True
        )
        return int(done.stdout)

    assert peak_memory(160) - peak_memory(10) < 40_000, "a picture has 1,200 KB, and there are 150 more"
