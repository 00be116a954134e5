"""Journals: a program that is killed at any moment can be taken up again, and a disk that is full stops nobody."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from files import journal
from files.journal import Journal, delete_journal, find_crashed_journals, journals_folder, restore_session
from files.map_source import MapFile
from files.movingai import write_map
from files.session import SHOWN_BRANCHES_KEY, SavedSession, with_original_letters
from sim import world_commands
from sim.params import ConfigError
from sim.system import user_folders
from sim.time.branches import BranchTree
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetParam

from .conftest import ROOT
from .runs import assert_as_plain, some_command
from .test_sessionfile import RIVER


def make_tree(scenario=RIVER) -> BranchTree:
    return BranchTree(SavedSession(scenario, ()).world_builder(AGENT_SPECS_BY_KEY))


def simulate_crash(writer: Journal) -> Path:
    """What is left when the program is gone: its locks are the operating system's to release."""
    path = writer.path
    assert path is not None
    os.close(writer._journal_descriptor)
    os.close(writer._lock_descriptor)
    writer._journal_descriptor = writer._lock_descriptor = None
    return path


def assert_same_trees(tree: BranchTree, again: BranchTree) -> None:
    assert list(tree.branches) == list(again.branches)
    assert tree.link_groups() == again.link_groups()
    for number, branch in again.branches.items():
        mine = tree[number]
        branch.timeline.finish_seek()
        mine.timeline.apply_due_commands()
        assert (branch.name, branch.parent, branch.first_differing_tick) == (
            mine.name,
            mine.parent,
            mine.first_differing_tick,
        )
        assert branch.timeline.command_log.entries == mine.timeline.command_log.entries
        assert branch.timeline.tick == mine.timeline.tick
        assert branch.timeline.world.compute_digest() == mine.timeline.world.compute_digest()
        assert branch.timeline.run_history.divergence_tick is None
        assert_as_plain(branch.timeline)


# --- what is written is what happened -------------------------------------------------------------


def test_journal_restores_the_whole_session(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    main = tree[0].timeline
    main.advance(9)
    tree.apply_command(0, EditCells((5, 17, 18)))
    main.advance(30)
    main.seek(12)
    tree.apply_command(0, MoveGoal(70))  # which keeps the old future as a branch
    assert len(tree.branches) == 2
    other = tree.create_branch(0, name="the other way")
    other.timeline.apply_command(world_commands.AddAgent(AgentConfig("wastar", "new", {"weight": 2.5}, 7)))
    tree.rename_branch(other.number, "a better name")
    futures = tree.create_variants(0, 0, [{"restart": "lazy"}, {"weight": 3.0}])
    tree.apply_command(futures[0].number, world_commands.SetSwitch("bridge", False))
    entry = main.command_log.entries[0]
    main.set_command_enabled(entry.id, False)
    main.move_command(entry.id, 3)
    main.delete_command(main.command_log.entries[-1].id)
    main.finish_seek()
    tree.delete_branch(1)
    for branch in tree.branches.values():
        branch.timeline.advance(4)
    writer.write_branch_ticks(tree.branches, now=True)
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert not saved.warnings
    assert_same_trees(tree, saved.build_branch_tree(AGENT_SPECS_BY_KEY))


def test_entry_changed_after_it_was_written_is_restored_once(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    line = tree[0].timeline
    first, last = line.insert_command(5000, EditCells((5,))), line.insert_command(5000, EditCells((17,)))
    for entry in (last, first):
        line.set_command_enabled(entry.id, False)
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert_same_trees(tree, saved.build_branch_tree(AGENT_SPECS_BY_KEY))


def test_children_of_deleted_branch_are_restored_under_its_parent(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    middle = tree.create_branch(0).number
    last = tree.create_branch(middle).number
    tree.delete_branch(middle)
    planted = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)
    assert planted[last].parent == 0
    assert_same_trees(tree, planted)


def test_journal_restores_shown_branches_and_focus(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    assert SHOWN_BRANCHES_KEY not in restore_session(writer.path, AGENT_SPECS_BY_KEY).scenario.view
    numbers = [tree.create_branch(0).number for _ in range(3)]
    for shown, front in (([0, 1], 1), ([1, 3, 2], 3), ([1, 3, 2], 3), ([1, 3, 2], 2)):
        writer.write_view_state(shown, front)
    tree.delete_branch(numbers[2])
    assert writer.path.read_text().count('"shown"') == 3, "only what is new"
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert saved.scenario.view[SHOWN_BRANCHES_KEY] == [1, 2] and saved.focused_branch == 2


def test_edit_in_linked_branches_keeps_the_focused_branch(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    tree[0].timeline.advance(10)
    other = tree.create_branch(0).number
    tree.link_branches([0, other])
    for front in (0, other):
        writer.write_view_state([0, other], front)
        tree.apply_command(front, EditCells((5, 17 + front)))
        assert restore_session(writer.path, AGENT_SPECS_BY_KEY).focused_branch == front
    writer.close()


@settings(max_examples=25)
@given(data=st.data())
def test_journal_restores_random_sessions(data, tmp_path_factory):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path_factory.mktemp("journal"))
    for _ in range(data.draw(st.integers(0, 8))):
        number = data.draw(st.sampled_from(list(tree.branches)))
        line = tree[number].timeline
        line.seek(data.draw(st.integers(0, 60)))
        match data.draw(st.sampled_from(["do", "play", "branch", "move", "delete"])):
            case "do":
                tree.apply_command(number, data.draw(some_command(12 * 6)))
            case "play":
                line.advance(data.draw(st.integers(0, 60)))
            case "branch" if len(tree.branches) < 4:
                tree.create_branch(number)
            case "move" if line.command_log.entries:
                line.move_command(
                    data.draw(st.sampled_from(line.command_log.entries)).id, data.draw(st.integers(0, 60))
                )
                line.finish_seek()
            case "delete" if len(tree.branches) > 1:
                tree.delete_branch(number)
    writer.write_branch_ticks(tree.branches, now=True)
    assert_same_trees(
        tree, restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)
    )


def test_restored_session_can_be_restored_again(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    tree[0].timeline.advance(5)
    tree.apply_command(0, EditCells((5,)))
    again = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)
    writer = Journal(RIVER, again, folder=tmp_path)
    again[0].timeline.advance(5)
    again.apply_command(0, EditCells((6,)))
    third = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)
    assert_same_trees(again, third)
    assert [e.tick for e in third[0].timeline.command_log.entries if not e.is_scripted] == [5, 10]


def test_journal_records_progress_of_long_runs_periodically(tmp_path: Path):
    tree = make_tree()
    tree[0].timeline.insert_command(5000, EditCells((40,)))  # keeps the world alive until then
    writer = Journal(RIVER, tree, folder=tmp_path)
    for _ in range(1000):
        tree[0].timeline.advance(1)
        writer.write_branch_ticks([0])
    lines = writer.path.read_text().count('"progress"')
    assert lines == 1000 // journal.PROGRESS_EVERY
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert saved.branches[0].branch_state.tick == 1000
    assert saved.branches[0].shown_digest is not None


def test_journal_contains_its_map(tmp_path: Path):
    path = tmp_path / "river.map"
    write_map(RIVER.grid, path)
    scenario = with_original_letters(replace(RIVER, map=MapFile("river.map", path)), ((3,), "T"))
    tree = make_tree(scenario)
    opened = RIVER.grid.terrain.copy()
    opened[0, 3] = ord("T")
    writer = Journal(scenario, tree, folder=tmp_path / "state")
    path.unlink()
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert np.array_equal(saved.scenario.grid.terrain, RIVER.grid.terrain)
    assert np.array_equal(saved.world_builder(AGENT_SPECS_BY_KEY)().grid.original_terrain, opened)


def test_journal_refers_to_file_of_a_large_map(tmp_path: Path, monkeypatch):
    path = tmp_path / "river.map"
    write_map(RIVER.grid, path)
    monkeypatch.setattr(journal, "_MAX_COPIED_CELLS", 10)
    scenario = replace(RIVER, map=MapFile("river.map", path, threshold=80))  # as older versions kept it
    writer = Journal(scenario, make_tree(scenario), folder=tmp_path / "state")
    found = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY).scenario.map
    assert found == MapFile(str(path), path) and found.path == path


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
@pytest.mark.parametrize("name", [b"river\xff.map", b"/".join([b"x" * 200] * 6) + b".map"])
def test_journal_embeds_map_with_undecodable_file_name(name: bytes, tmp_path: Path, monkeypatch):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_map(RIVER.grid, tmp_path / "a.map")
    (tmp_path / "a.map").rename(path)
    monkeypatch.setattr(journal, "_MAX_COPIED_CELLS", 10)
    scenario = replace(RIVER, map=MapFile("river.map", path))
    writer = Journal(scenario, make_tree(scenario), folder=tmp_path / "state")
    saved = restore_session(simulate_crash(writer), AGENT_SPECS_BY_KEY)
    assert np.array_equal(saved.scenario.grid.terrain, RIVER.grid.terrain)


# --- whose journal it is --------------------------------------------------------------------------


def test_closing_a_journal_removes_its_files(tmp_path: Path):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert find_crashed_journals(tmp_path) == [], "its program is alive"
    writer.close()
    assert list(tmp_path.iterdir()) == []
    tree.apply_command(0, EditCells((5,)))


def test_find_crashed_returns_journals_of_dead_processes(tmp_path: Path):
    assert find_crashed_journals(tmp_path / "no such folder") == []
    paths = [simulate_crash(Journal(RIVER, make_tree(), folder=tmp_path)) for _ in range(3)]
    alive = Journal(RIVER, make_tree(), folder=tmp_path)
    for age, path in enumerate(paths):
        os.utime(path, (1000 - age, 1000 - age))
    assert [crashed.path for crashed in find_crashed_journals(tmp_path)] == paths
    paths[0].with_suffix(".lock").unlink()
    assert [crashed.path for crashed in find_crashed_journals(tmp_path)] == paths
    delete_journal(paths[0])
    assert [crashed.path for crashed in find_crashed_journals(tmp_path)] == paths[1:]
    alive.close()


def test_find_crashed_skips_a_journal_deleted_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    paths = [simulate_crash(Journal(RIVER, make_tree(), folder=tmp_path)) for _ in range(3)]
    is_alive = journal._is_journal_in_use

    def discard_during_check(path: Path) -> bool:
        told = is_alive(path)
        if path == paths[1]:
            delete_journal(path)
        return told

    monkeypatch.setattr(journal, "_is_journal_in_use", discard_during_check)
    assert {crashed.path for crashed in find_crashed_journals(tmp_path)} == {paths[0], paths[2]}


def test_journals_are_stored_in_the_state_folder(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert journals_folder() == tmp_path / "backmove" / "journals"
    assert journals_folder() == user_folders.state_folder() / "journals"


# --- what can go wrong ----------------------------------------------------------------------------


def test_unwritable_journal_folder_is_one_message(tmp_path: Path):
    (tmp_path / "file").write_text("")
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path / "file" / "below")
    assert (
        writer.error_message
        == f"unsaved work will not be restored after a crash: {tmp_path / 'file' / 'below'}: Not a directory"
    )
    tree.apply_command(0, EditCells((5,)))
    tree[0].timeline.advance(300)
    writer.write_branch_ticks([0])
    writer.close()


def test_full_disk_is_one_journal_message_and_run_continues(tmp_path: Path, monkeypatch):
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    tree.apply_command(0, EditCells((5,)))
    assert writer.error_message is None
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]) if len(data) > 7 else full())

    def full():
        raise OSError(28, "No space left on device")

    tree[0].timeline.advance(3)
    tree.apply_command(0, EditCells((6,)))
    assert "No space left on device" in writer.error_message
    monkeypatch.setattr(os, "write", real)
    tree.apply_command(0, EditCells((7,)))
    tree[0].timeline.advance(3)
    assert_as_plain(tree[0].timeline)
    saved = restore_session(writer.path, AGENT_SPECS_BY_KEY)
    assert [e.command for e in saved.branches[0].branch_state.entries if not e.is_scripted] == [EditCells((5,))]
    writer.close()
    assert list(tmp_path.iterdir()) == []


@given(cut=st.integers(0, 4000))
def test_truncated_journal_restores_complete_lines(cut, tmp_path_factory):
    whole = make_journal_bytes(tmp_path_factory)
    path = tmp_path_factory.mktemp("torn") / "a.journal"
    path.write_bytes(whole[:cut] if cut < len(whole) else whole)
    lines = path.read_bytes().count(b"\n")
    if not lines:
        with pytest.raises(ConfigError, match="expected a journal, got an empty file"):
            restore_session(path, AGENT_SPECS_BY_KEY)
        return
    saved = restore_session(path, AGENT_SPECS_BY_KEY)
    assert not saved.warnings
    done = [e for e in saved.branches[0].branch_state.entries if not e.is_scripted]
    assert len(done) == max(0, min(20, lines - 3))


@settings(max_examples=100)
@given(data=st.data())
def test_corrupt_journal_bytes_give_a_session_or_config_error(data, tmp_path_factory):
    whole = make_journal_bytes(tmp_path_factory)
    path = tmp_path_factory.mktemp("bad") / "a.journal"
    for _ in range(data.draw(st.integers(1, 4))):
        place, length = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, 12))
        whole = whole[:place] + data.draw(st.binary(max_size=6)) + whole[place + length :]
    path.write_bytes(whole)
    try:
        saved = restore_session(path, AGENT_SPECS_BY_KEY)
    except ConfigError:
        return
    tree = saved.build_branch_tree(AGENT_SPECS_BY_KEY)
    if tree[0].timeline.target_tick < 2000:
        tree[0].timeline.finish_seek()


@pytest.mark.parametrize("line", ["[" * 100_000, "{}", "null", "[1]", '{"branch": 9}', '{"made": 1}', '{"set": 1e999}'])
def test_damaged_journal_line_ends_restore_with_warning(line, tmp_path_factory, tmp_path: Path):
    lines = make_journal_bytes(tmp_path_factory).decode().splitlines()
    path = tmp_path / "a.journal"
    path.write_text("\n".join([*lines[:6], line, *lines[6:], ""]))
    saved = restore_session(path, AGENT_SPECS_BY_KEY)
    assert saved.warnings[0].startswith(f"{path}:7: ")
    assert "everything after it is lost" in saved.warnings[0]
    assert len([e for e in saved.branches[0].branch_state.entries if not e.is_scripted]) == 3


_BYTES = b""


def make_journal_bytes(tmp_path_factory) -> bytes:
    """A journal of twenty edits: a head, a branch, the links, and a line for each."""
    global _BYTES
    if not _BYTES:
        tree = make_tree()
        writer = Journal(RIVER, tree, folder=tmp_path_factory.mktemp("whole"))
        for i in range(20):
            tree[0].timeline.advance(1)
            tree.apply_command(0, SetParam(0, "weight", 1.0 + i) if i % 2 else EditCells((i,)))
        _BYTES = writer.path.read_bytes()
        writer.close()
    return _BYTES


# --- the real thing -------------------------------------------------------------------------------

EDITOR = """
import random, sys
from pathlib import Path
from agents.registry import AGENT_SPECS_BY_KEY
from sim.time.branches import BranchTree
from sim.world_commands import EditCells, MoveGoal, SetParam, SetSwitch
from files.journal import Journal
from files.session import SavedSession
from tests.test_sessionfile import RIVER

random = random.Random(int(sys.argv[2]))
tree = BranchTree(SavedSession(RIVER, ()).world_builder(AGENT_SPECS_BY_KEY))
tree[0].timeline.insert_command(10**6, EditCells((40,)))
writer = Journal(RIVER, tree, folder=Path(sys.argv[1]))
number = 0
while True:
    line = tree[number].timeline
    for _ in range(random.randrange(4)):
        cell = random.randrange(72)
        tree.apply_command(number, random.choice([
            EditCells((cell,)), EditCells((), (cell,)), MoveGoal(cell),
            SetSwitch("bridge", random.random() < 0.5), SetParam(0, "weight", 1.0 + random.randrange(5)),
        ]))
    done = [(e.id, e.tick) for e in line.command_log.entries if not e.is_scripted]
    line.advance(random.randrange(1, 40))
    writer.write_branch_ticks([number])
    line.apply_due_commands()
    # By now the ticks are complete: whatever came before must be in the journal.
    print(repr((number, line.tick, line.world.compute_digest(), done)), flush=True)
    if random.random() < 0.05 and len(tree.branches) < 6:
        number = tree.create_branch(number, max(0, line.tick - random.randrange(60))).number
    elif random.random() < 0.05:
        line.seek(max(0, line.tick - random.randrange(60)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_process_loses_no_edit(tmp_path: Path):
    chance = random.Random(5)  # what is done; when it ends, the system has a say in
    running = []
    for i in range(3):
        folder = tmp_path / str(i)
        command = [sys.executable, "-c", EDITOR, str(folder), str(chance.randrange(1 << 30))]
        running.append((folder, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)))
    for folder, process in running:
        assert process.stdout is not None
        told = [process.stdout.readline()]
        assert find_crashed_journals(folder) == [], "it is alive"
        time.sleep(chance.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().splitlines(keepends=True)
        process.stdout.close()
        process.wait()
        check_restored(folder, [line for line in told if line.endswith("\n")])


def check_restored(folder: Path, told: list[str]) -> None:
    assert len(told) > 3
    number, tick, digest, done = eval(told[-1])
    (crashed,) = find_crashed_journals(folder)
    saved = restore_session(crashed.path, AGENT_SPECS_BY_KEY)
    assert not saved.warnings
    tree = saved.build_branch_tree(AGENT_SPECS_BY_KEY)
    # The program may have wound back since and done something there: then that run is kept as another branch.
    lines = [tree[number].timeline, *(branch.timeline for branch in tree.branches.values())]
    logs = [[(e.id, e.tick) for e in line.command_log.entries if not e.is_scripted] for line in lines]
    place = next((i for i, restored in enumerate(logs) if set(done) <= set(restored)), None)
    assert place is not None, "every command applied before the last completed tick"
    line, restored = lines[place], logs[place]
    assert restored[: len(done)] == done or len(restored) > len(done)
    line.finish_seek()
    assert line.run_history.divergence_tick is None, "the journal's own digests are met"
    # The program may have gone on to some more commands; up to the tick that it told, both are the same.
    assert abs(line.tick - tick) <= journal.PROGRESS_EVERY or line.tick > tick
    later = [e.id for e in line.command_log.entries if not e.is_scripted and (e.id, e.tick) not in done]
    same = line.fork(tick)
    for entry_id in later:
        same.delete_command(entry_id)
    assert same.seek(tick) == tick
    assert same.world.compute_digest() == digest
    assert_as_plain(line)


def test_line_with_many_problems_loses_only_later_lines(tmp_path: Path):
    """More problems than a file may have end the reading of the line, not of the journal."""
    tree = make_tree()
    writer = Journal(RIVER, tree, folder=tmp_path)
    tree[0].timeline.advance(5)
    tree.apply_command(0, EditCells((5,)))
    path = simulate_crash(writer)
    good = restore_session(path, AGENT_SPECS_BY_KEY)
    wrong = ", ".join('{"id": 0, "tick": -1, "block": [[99999, 0]]}' for _ in range(60))
    with path.open("a") as file:
        file.write(f'{{"branch": 0, "tick": 6, "set": [{wrong}]}}\n')
        file.write('{"renamed": 0, "name": "after it"}\n')
    saved = restore_session(path, AGENT_SPECS_BY_KEY)
    assert saved.branches == good.branches
    assert len(saved.warnings) == 1 and "everything after it is lost" in saved.warnings[0]


def test_embedded_map_keeps_its_name(tmp_path: Path):
    named = replace(RIVER, map=MapFile("river.map", tmp_path / "river.map"))
    restored = restore_session(simulate_crash(Journal(named, make_tree(), folder=tmp_path)), AGENT_SPECS_BY_KEY)
    assert restored.scenario.map_name == "river.map" == restored.scenario.grid.name
