"""`main.py record`: what it writes and says; bad input gives one clear line and exit code 2."""

import json
from pathlib import Path
from typing import Any

import pygame
import pytest

import main
from cli.record import GIF_FPS
from files.png import png_texts
from sim import world_commands
from tests.conftest import ROOT
from tests.filming import read, replay, shown, stage_of
from ui.draw.layers import LAYER_BY_KEY
from ui.film import recording_files
from ui.film.film_options import WindowPart
from ui.film.replay import ReplaySpec, replay_spec_of_run
from ui.model import branch_actions, opened_files, session_saving
from ui.model.appearance import appearance_from_view
from ui.model.session import Session

SCENARIO = """
format: backmove-scenario
version: 1
title: Box
map: {rows: [
  "............",
  "....@@@.....",
  "......@.....",
  "....@@@.....",
  "............"]}
budget: 2
start: [5, 2]
goal: [10, 2]
agents:
  - {kind: tb-wa, label: one, weight: 1}
  - {kind: tb-wa, label: two, weight: 3}
switches: {gate: [[2, 2], [3, 2]]}
edits:
  - {tick: 5, block: gate}
view:
  theme: light
  layers: {tree: true}
  camera: {x: 6, y: 2, cells: 6}
"""
SIZE = ("--size", "320x200")


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(recording_files.FOLDER_VARIABLE, str(tmp_path / "recordings"))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "box.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main.main(["record", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def line(text: str) -> dict[str, Any]:
    (only,) = text.splitlines()
    return json.loads(only)


@pytest.mark.parametrize(
    ("name", "more", "frames", "fps"),
    [
        ("a.mp4", ("--ticks", "0:12", "--fps", 24), 12, 24),
        ("a.webm", ("--ticks", "3:12", "--ticks-per-frame", 2), 5, 30),
        ("a.gif", ("--ticks", ":6", "--ticks-per-frame", "1/2"), 12, GIF_FPS),
        ("a.mkv", ("--ticks", ":8", "--exact-colours", "--preset", "draft"), 8, 30),
    ],
)
def test_record_writes_videos_of_the_requested_size_and_rate(
    run: Any, scenario: Path, tmp_path: Path, name: str, more: tuple, frames: int, fps: int
) -> None:
    code, out, err = run(scenario, "-o", tmp_path / name, *SIZE, *more)
    assert (code, err) == (0, "")
    said, clip = line(out), read(tmp_path / name)
    assert said["file"] == str(tmp_path / name) and said["frames"] == clip.count == frames
    assert said["fps"] == clip.rate == fps and tuple(said["size"]) == clip.size == (320, 200)
    assert said["bytes"] == (tmp_path / name).stat().st_size
    assert said["seconds"] == pytest.approx(frames / fps, abs=0.001)


def test_record_reports_the_last_tick_and_digest(run: Any, scenario: Path, tmp_path: Path) -> None:
    _, out, _ = run(scenario, "-o", tmp_path / "a.mkv", *SIZE, "--ticks-per-frame", 4)
    session = ReplaySpec(opened_files.open_any_file(scenario).scenario).start_rerun()
    last = session.seek_to_tick(10_000)
    said = line(out)
    assert said["ticks"] == [0, last] and said["digest"] == session.run.world.compute_digest()
    assert said["frames"] == last // 4 + 1 + (last % 4 > 0)


def test_record_uses_the_view_of_the_scenario(run: Any, scenario: Path, tmp_path: Path) -> None:
    _, out, _ = run(scenario, "-o", tmp_path / "a.png", *SIZE, "--ticks", ":8", "--part", "panel:2", "--no-legend")
    assert line(out)["ticks"] == [0, 7] and line(out)["frames"] == 1
    opened = opened_files.open_any_file(scenario)
    session = ReplaySpec(opened.scenario).start_rerun()
    session.seek_to_tick(7)
    look = appearance_from_view(opened.scenario.view, LAYER_BY_KEY)
    stage = stage_of(session, (320, 200), look, part=WindowPart("panel", 2), has_legend=False)
    there = pygame.surfarray.array3d(pygame.image.load(tmp_path / "a.png"))
    expected = shown(stage)
    packed = there[..., 0].astype("u4") << 16 | there[..., 1].astype("u4") << 8 | there[..., 2]
    assert (expected == packed.T).all()
    texts = png_texts((tmp_path / "a.png").read_bytes())
    assert (texts["Title"], texts["Tick"], texts["Digest"]) == ("Box", "7", session.run.world.compute_digest())


def test_record_is_reproducible(run: Any, scenario: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(scenario, "-o", tmp_path / name, *SIZE, "--ticks", "2:9", "--captions", "--hold", 0.1, "--part", "window")
    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert len(one) == len(two) == 7 + 3
    assert [a.read_bytes() for a in one] == [b.read_bytes() for b in two]


def test_record_does_not_overwrite_files(run: Any, scenario: Path, tmp_path: Path) -> None:
    names = [Path(line(run(scenario, "-o", tmp_path / "a.png", *SIZE, "--ticks", ":3")[1])["file"]).name for _ in "ab"]
    assert names == ["a.png", "a-2.png"]


def test_record_replaces_gif_rates_unsupported_by_browsers(run: Any, scenario: Path, tmp_path: Path) -> None:
    code, out, err = run(scenario, "-o", tmp_path / "a.gif", *SIZE, "--ticks", ":4", "--fps", 30)
    assert code == 0 and line(out)["fps"] == 25
    assert err.splitlines() == ["record: browsers play GIFs at 50, 25, 20, 10 frames a second; using 25"]


def test_record_shows_branches_of_a_session_file(run: Any, scenario: Path, tmp_path: Path) -> None:
    session = Session(opened_files.open_any_file(scenario).scenario)
    session.advance_by_ticks(3)
    session.submit_command(world_commands.SetBudget(7))
    branch_actions.create_branch_at_current_tick(session)
    session.submit_command(world_commands.SetSwitch("gate", True))
    session.advance_by_ticks(3)
    path = session_saving.save_session(session, tmp_path / "session.yaml")
    _, out, _ = run(path, "-o", tmp_path / "both.png", *SIZE, "--ticks", ":7")
    _, other, _ = run(path, "-o", tmp_path / "branch.png", *SIZE, "--ticks", ":7", "--branch", "branch 1")
    again = replay_spec_of_run(session.run).start_rerun()
    again.seek_to_tick(6)
    assert [line(text)["digest"] for text in (out, other)] == list(again.run.world_digests())
    assert "run " in png_texts((tmp_path / "both.png").read_bytes())["Branches"]
    code, _, err = run(path, "-o", tmp_path / "c.png", *SIZE, "--branch", "brunch 1")
    assert code == 2 and "did you mean 'branch 1'" in err


@pytest.mark.parametrize("target", ["a.mp4", "a.png"])
def test_record_warns_when_a_session_does_not_match_its_digest(
    run: Any, scenario: Path, tmp_path: Path, target: str
) -> None:
    session = Session(opened_files.open_any_file(scenario).scenario)
    session.advance_by_ticks(6)
    path = session_saving.save_session(session, tmp_path / "session.yaml")
    again = (path, "-o", tmp_path / target, *SIZE, "--ticks", ":9")
    assert run(*again)[2] == ""
    digest = session.run.world.compute_digest()
    path.write_text(path.read_text().replace(digest, "f" * 16))
    code, out, err = run(*again)
    assert code == 0 and line(out)["ticks"] == [0, 8]
    assert (
        err.startswith('record: The replay of the branch "run" does not match the saved run from tick 6 on')
        and digest in err
    )
    path.write_text(path.read_text().replace("......@.....", "....@.@....."))
    code, out, err = run(*again)
    assert code == 0 and line(out)
    assert err.splitlines()[0] == f"{path}: the map has changed since it was saved, so the run will differ"


@pytest.mark.parametrize("limit", ["tick_ms: 2\n", "edits: [{tick: 3, tick_ms: 2}]\n"])
def test_record_warns_about_time_limited_scenarios(run: Any, scenario: Path, tmp_path: Path, limit: str) -> None:
    begin, *_, view = SCENARIO.partition("edits:\n  - {tick: 5, block: gate}\n")
    scenario.write_text(begin + limit + view)
    code, out, err = run(scenario, "-o", tmp_path / "a.png", *SIZE, "--ticks", ":5")
    assert code == 0 and line(out)
    assert err.startswith(f"record: {scenario}: limits the milliseconds of a tick") and f"run {scenario} --keep" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("limit", "last", "told"),
    [
        ("tick_ms: 1000\n", 6, None),
        ("tick_ms: 1000\n", 7, 6),
        ("edits: [{tick: 2, tick_ms: 1000}, {tick: 4, tick_ms: 0}]\n", 9, None),
        ("edits: [{tick: 8, tick_ms: 1000}]\n", 8, None),
        ("edits: [{tick: 8, tick_ms: 1000}]\n", 9, 8),
    ],
)
@pytest.mark.parametrize("target", ["a.mp4", "a.png"])
def test_record_warns_beyond_the_end_of_a_time_limited_session(
    run: Any, scenario: Path, tmp_path: Path, target: str, limit: str, last: int, told: int | None
) -> None:
    begin, *_, view = SCENARIO.partition("edits:\n  - {tick: 5, block: gate}\n")
    scenario.write_text(begin + limit + view)
    session = Session(opened_files.open_any_file(scenario).scenario)
    session.advance_by_ticks(6)
    path = session_saving.save_session(session, tmp_path / "session.yaml")
    code, out, err = run(path, "-o", tmp_path / target, *SIZE, "--ticks", f":{last + 1}")
    assert code == 0 and line(out)["ticks"][1] == last
    assert err.count("\n") == (told is not None)
    assert err.startswith(f"record: from tick {told} on, ticks have no time limit" if told is not None else "")


BAD = [
    (("-o", "a.mp4", "--size", "641x361"), "--size: expected an even width and height"),
    (("-o", "a.mp4", "--size", "1x1"), "--size: expected from 16x16"),
    (("-o", "a.gif", "--size", "1x1"), "--size: expected from 16x16"),
    (("-o", "a.mp4", "--size", "99999x99999"), "--size: expected from 16x16"),
    (("-o", "a.mp4", "--size", "big"), "--size: expected a size as WxH"),
    (("-o", "nowhere/a.mp4"), "cannot be written: there is no folder"),
    (("-o", "box.yaml/a.mp4"), "cannot be written"),
    (("-o", "a.avi"), "expected a file that ends in one of .mp4, .webm, .mkv, .gif, .png, or a folder"),
    (("-o", "a.mp4", "--fps", "0"), "--fps: expected a whole number from 1 to 240"),
    (("-o", "a.mp4", "--fps", "fast"), "--fps: expected a whole number"),
    (("-o", "a.mp4", "--ticks", "10:10"), "--ticks: expected a range with at least one tick"),
    (("-o", "a.mp4", "--ticks", "10:3"), "--ticks: expected a range with at least one tick"),
    (("-o", "a.mp4", "--ticks", "10"), "--ticks: expected a range of ticks as A:B"),
    (("-o", "a.mp4", "--ticks", "9000:9010"), "ticks: expected at most "),
    (("-o", "a.png", "--ticks", "9000:"), "ticks: expected at most "),
    (("-o", "a.mp4", "--part", "panel:3"), "part: expected a panel of the run, which has 2 panels"),
    (("-o", "a.mp4", "--part", "panel:0"), "--part: expected window, panels or panel:N"),
    (("-o", "a.mp4", "--ticks-per-frame", "0"), "--ticks-per-frame: expected a whole number of ticks"),
    (("-o", "a.mp4", "--preset", "norml"), "did you mean 'normal'"),
    (("-o", "a.mp4", "--hold", "-1"), "--hold: expected a number from 0 to 60"),
    (("-o", "a.mp4", "--branch", "run"), "expected a session file"),
    ((), "expected -o with"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_record_refuses_bad_arguments_in_one_line(
    run: Any, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(scenario, *arguments)
    assert code == 2 and out == ""
    (only,) = err.splitlines()
    assert message in only
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "config") == ["box.yaml"], "nothing is left"


def test_record_refuses_bad_files(run: Any, scenario: Path, tmp_path: Path) -> None:
    assert run("nope.yaml", "-o", tmp_path / "a.mp4")[0] == 2
    assert run("-o", tmp_path / "a.mp4")[2] == "record: expected a scenario file\n"
    scenario.write_text(SCENARIO.replace("theme: light", "theme: lihgt"))
    code, _, err = run(scenario, "-o", tmp_path / "a.mp4", *SIZE)
    assert code == 2 and "view.theme: expected one of dark, light" in err and "did you mean 'light'" in err


def test_recover_finishes_a_partial_video(run: Any, tmp_path: Path) -> None:
    from tests.filming import OPTIONS
    from ui.film.film import export_video

    def told(film: Any) -> None:
        if film.frame_count == 6:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        export_video(replay(), tmp_path / "talk.mp4", (0, 20), OPTIONS, told=told)
    code, out, _ = run("--recover", tmp_path / "talk.mp4.part.mkv")
    assert code == 0 and line(out)["file"] == str(tmp_path / "talk.mp4")
    assert read(tmp_path / "talk.mp4").count == 6
    assert run("--recover", tmp_path / "talk.mp4")[0] == 2


def test_shipped_examples_can_be_recorded(run: Any, tmp_path: Path) -> None:
    for name in ("bridges", "random-changes", "no-path"):
        path = ROOT / "assets" / "scenarios" / f"{name}.yaml"
        code, out, err = run(path, "-o", tmp_path / f"{name}.png", *SIZE, "--ticks", ":50")
        assert code == 0 and line(out)["ticks"][1] > 0, err
