"""Write journals: logs of the session, written as it happens, from which the session is restored after a crash.

    journal = Journal(scenario, tree)            create a file in the user's state folder and listen to the tree
    journal.write_branch_ticks([number, ...])    note in every frame how far the branches on screen are
    journal.problem                              a message if the journal cannot be written any more; the run continues
    journal.close()                              end cleanly and delete the file

    for crashed in find_crashed_journals(): ...     journals whose program has ended without closing them
    saved = restore_session(crashed.path, specs)    the session at the end of the journal, see SavedSession
    delete_journal(crashed.path)

A journal has one JSON object per line. Each line is handed to the operating system at once: a kill loses nothing, and a
crash of the machine loses at most the last seconds. An incomplete last line is ignored.

    {"format": "backmove-journal", "version": 1, "scenario": "...", "original": {...}}
    {"made": 1, "name": "branch 1", "parent": 0, "at": 40, "tick": 40, "horizon": 90}        with the log of its parent
    {"made": 0, ..., "log": [...]}                                                        with another log, or restored
    {"branch": 0, "tick": 50, "set": [{"id": 4, "tick": 50, "block": [[3, 4]]}], "gone": [7]}
    {"progress": 0, "tick": 160, "horizon": 160, "digest": "..."}
    {"renamed": 1, "name": "with the bridge"}    {"deleted": 1}    {"linked": [[0, 1]]}
    {"shown": [0, 1], "front": 1, "agent": 0, "panels": [[0, 1], [0, 0]]}
"""

import errno
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from files.cell_lists import cell_list_data
from files.disk import file_error_reason, open_regular_file
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.log_entries import LogEntryReader, log_entry_data
from files.map_source import MAX_PATH, MapFile, map_rows_of_grid
from files.scenario import Scenario, dump_scenario, parse_scenario
from files.session import (
    BRANCH_NUMBER_PARAM,
    FOCUSED_AGENT_KEY,
    PANEL_ORDER_KEY,
    SHOWN_BRANCHES_KEY,
    NumberedDigest,
    SavedBranch,
    SavedSession,
    edited_cells,
    read_branch_name,
    require_known_agents,
    with_original_letters,
)
from files.yaml import YamlDocument
from sim.agent_api import AgentSpec
from sim.params import ConfigError, Param
from sim.system import user_folders
from sim.system.file_locks import BINARY_FLAG, lock_descriptor
from sim.time.branches import ROOT_BRANCH, Branch, BranchListener, BranchState, BranchTree
from sim.time.command_log import LogEntry, log_with_entry
from sim.world_commands import MAX_COMMAND_TICK

FORMAT, VERSION = "backmove-journal", 1
SUFFIX, LOCK_SUFFIX = ".journal", ".lock"

PROGRESS_EVERY = 100
"""Ticks between two progress lines of a run without commands."""

_HEADER_KEYS = ("format", "version", "scenario", "map_folder", "original")

MAX_BYTES = 512 * 1024 * 1024
# Maximum number of cells of a map copied into the journal; a larger map is named by its path.
_MAX_COPIED_CELLS = 1 << 22
_TICK_PARAM = Param("tick", int, 0, "a tick", 0, MAX_COMMAND_TICK)


def journals_folder() -> Path:
    """Return the folder in which the journals of this user are written."""
    return user_folders.state_folder() / "journals"


# --- writing --------------------------------------------------------------------------------------


_JOURNAL_COUNTER = count(1)
"""Counter of the journals of this process, so that their names sort by the time of creation."""


class Journal(BranchListener):
    """Listener that writes all changes of a branch tree to a file.

    Writing errors are not raised: after an error, such as a full disk, the journal ends and the run continues.
    """

    def __init__(
        self,
        scenario: Scenario,
        tree: BranchTree,
        folder: Path | None = None,
    ) -> None:
        self.error_message: str | None = None
        self.path: Path | None = None
        self._folder = folder or journals_folder()
        self.branch_tree, self._map_width = tree, scenario.grid.width
        self._journal_descriptor: int | None = None
        self._lock_descriptor: int | None = None
        self._is_unsynced = False
        self._written_ticks: dict[int, int] = {}  # branch number -> tick of the branch that was written last
        self._written_view_state: dict[str, Any] = {}  # data of the last written line about what is on screen
        try:
            self._create_files(self._folder)
        except OSError as error:
            self._stop_after_error(error)
        self._write_journal_line(_header_data(scenario))
        for branch in tree.branches.values():
            self._write_journal_line(self._branch_data(branch, with_log=True))
        self.on_links_changed(tree.link_groups())
        tree.change_listener = self

    def _create_files(self, folder: Path) -> None:
        """Create the lock file and the journal file; raise an OSError if that fails."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / f"{os.getpid()}-{next(_JOURNAL_COUNTER):06}-{secrets.token_hex(4)}{SUFFIX}"
        # Create the lock before the journal, because a journal without a held lock counts as left by a crash.
        self._lock_descriptor = _open_locked_file(self.path.with_suffix(LOCK_SUFFIX))
        self._journal_descriptor = os.open(
            self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | BINARY_FLAG, 0o600
        )

    def _write_journal_line(self, data: Mapping[str, Any]) -> None:
        if self._journal_descriptor is None:
            return
        line = json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            while line:
                line = line[os.write(self._journal_descriptor, line) :]
            self._is_unsynced = True
        except OSError as error:
            self._stop_after_error(error)

    def unsynced_descriptor(self) -> int | None:
        """Return a descriptor of the journal if lines were written since the last call, to be synced; otherwise None.

        Syncing can take long, so the caller does it in another thread, and closes the descriptor.
        """
        if self._journal_descriptor is None or not self._is_unsynced:
            return None
        self._is_unsynced = False
        return os.dup(self._journal_descriptor)

    def suspend_writing(self) -> None:
        """Stop writing but keep the file, because the user switched to another run and may return to this one."""
        if self.branch_tree.change_listener is self:
            self.branch_tree.change_listener = None

    def _stop_after_error(self, error: OSError) -> None:
        """Stop writing after an error, and set `error_message` to a message for the user."""
        self.error_message = (
            f"unsaved work will not be restored after a crash: {self._folder}: {file_error_reason(error)}"
        )
        if self._journal_descriptor is not None:
            os.close(self._journal_descriptor)
            self._journal_descriptor = None

    def close(self) -> None:
        """End the journal and delete its file, because nothing has to be restored."""
        if self.branch_tree.change_listener is self:
            self.branch_tree.change_listener = None
        for file in (self._journal_descriptor, self._lock_descriptor):
            if file is not None:
                os.close(file)
        self._journal_descriptor = self._lock_descriptor = None
        if self.path is not None:
            delete_journal(self.path)
            self.path = None

    # --- lines of the journal ---

    def write_branch_ticks(self, numbers: Iterable[int], now: bool = False) -> None:
        """Write the ticks of branches that have moved by at least PROGRESS_EVERY ticks since they were last written.

        Args:
            numbers: numbers of the branches.
            now: whether to write the tick of every branch that has moved at all.
        """
        for number in numbers:
            timeline = self.branch_tree[number].timeline
            ticks_moved = abs(timeline.target_tick - self._written_ticks.get(number, 0))
            if ticks_moved >= PROGRESS_EVERY or (now and ticks_moved):
                self._write_journal_line(self._progress_data(number))

    def write_view_state(
        self, shown_branches: Sequence[int], front: int, agent: int = 0, panels: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Write which branches, agents and panels are on screen, if this has changed since the last call.

        Args:
            shown_branches: numbers of the branches on screen.
            front: number of the focused branch.
            agent: number of the focused agent.
            panels: (branch number, agent number) of each panel, in the order on screen.
        """
        view_state = {
            "shown": list(shown_branches),
            "front": front,
            "agent": agent,
            "panels": [list(key) for key in panels],
        }
        if view_state != self._written_view_state:
            self._written_view_state = view_state
            self._write_journal_line(view_state)

    def _progress_data(self, number: int) -> dict[str, Any]:
        """Return the data of a journal line with the present tick of a branch."""
        timeline = self.branch_tree[number].timeline
        self._written_ticks[number] = timeline.target_tick
        data: dict[str, Any] = {
            "progress": number,
            "tick": timeline.target_tick,
            "horizon": timeline.run_history.furthest_tick,
        }
        if not timeline.is_seeking:
            timeline.apply_due_commands()
            data["digest"] = timeline.world.compute_digest()
        return data

    def _branch_data(self, branch: Branch, with_log: bool) -> dict[str, Any]:
        """Return the data of a journal line for a created or restored branch."""
        state = self.branch_tree.branch_state(branch.number)
        self._written_ticks[branch.number] = state.tick
        data: dict[str, Any] = {
            "made": branch.number,
            "name": branch.name,
            "parent": branch.parent,
            "at": branch.split_tick,
        }
        data |= {"tick": state.tick, "horizon": state.furthest_tick}
        if with_log:
            data["log"] = [log_entry_data(entry, self._map_width) for entry in state.entries]
        return data

    def on_branch_created(self, branch: Branch) -> None:
        self._write_journal_line(self._branch_data(branch, with_log=False))

    def on_branch_restored(self, branch: Branch) -> None:
        self._write_journal_line(self._branch_data(branch, with_log=True))

    def on_entries_changed(self, branch: Branch, altered: Sequence[LogEntry], removed_ids: Sequence[int]) -> None:
        self._written_ticks[branch.number] = tick = branch.timeline.target_tick
        data: dict[str, Any] = {"branch": branch.number, "tick": tick}
        data["set"] = [log_entry_data(entry, self._map_width) for entry in altered]
        if removed_ids:
            data["gone"] = list(removed_ids)
        self._write_journal_line(data)

    def on_branch_renamed(self, branch: Branch) -> None:
        self._write_journal_line({"renamed": branch.number, "name": branch.name})

    def on_branch_deleted(self, branch: Branch) -> None:
        self._write_journal_line({"deleted": branch.number})

    def on_links_changed(self, groups: Sequence[Sequence[int]]) -> None:
        self._write_journal_line({"linked": [list(group) for group in groups]})


def _header_data(scenario: Scenario) -> dict[str, Any]:
    """Return the data of a journal's first line: the scenario, usually with a copy of its map."""
    grid, source = scenario.grid, scenario.map
    if isinstance(source, MapFile) and (
        grid.cells <= _MAX_COPIED_CELLS or scenario.is_map_edited or not _is_valid_map_path(source)
    ):
        # Copy the map, because its file may have changed by the time the journal is restored.
        scenario = replace(scenario, map=map_rows_of_grid(grid, scenario.map_name))
    elif isinstance(source, MapFile):
        scenario = replace(scenario, map=replace(source, file=str(source.path)))
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "scenario": dump_scenario(scenario)}
    if isinstance(scenario.map, MapFile):
        data["map_folder"] = str(scenario.map.path.parent)
    cells, letters = edited_cells(grid)
    if cells:
        data["original"] = {"cells": cell_list_data(cells, grid.width), "letters": letters}
    return data


def _is_valid_map_path(source: MapFile) -> bool:
    """Return whether the path of a map file can be written to YAML and is accepted when read."""
    path = str(source.path)
    return path.isprintable() and len(path) <= MAX_PATH


# --- finding journals left behind -----------------------------------------------------------------


@dataclass(frozen=True)
class CrashedJournal:
    """Journal that was left behind by a program that ended without closing it."""

    path: Path
    modified_s: float  # time of the last write, in seconds since 1970

    def is_of_same_program(self, other: "CrashedJournal") -> bool:
        """Return whether one process wrote both journals, because the user left one run and opened another."""
        return _process_id_of_journal(self.path) == _process_id_of_journal(other.path)


def _process_id_of_journal(path: Path) -> str:
    return path.name.partition("-")[0]


def find_crashed_journals(folder: Path | None = None) -> list[CrashedJournal]:
    """Return the journals whose program has ended without closing them, latest first.

    Journals with equal times, which is possible within one step of the system clock, are ordered by their names, which
    count up in order of creation.
    """
    found = []
    with suppress(OSError):  # the folder is missing or unreadable: nothing to restore
        for path in (folder or journals_folder()).glob(f"*{SUFFIX}"):
            with suppress(OSError):  # ignore a journal that another window deletes at this moment
                if not _is_journal_in_use(path):
                    found.append(CrashedJournal(path, path.stat().st_mtime))
    return sorted(found, key=lambda crashed: (crashed.modified_s, crashed.path.name), reverse=True)


def delete_journal(path: Path) -> None:
    """Delete a journal and its lock file."""
    for file in (path, path.with_suffix(LOCK_SUFFIX)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _is_journal_in_use(path: Path) -> bool:
    """Return whether the program that writes this journal is running: it holds the lock until it ends or crashes."""
    try:
        lock = _open_locked_file(path.with_suffix(LOCK_SUFFIX), os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    os.close(lock)
    return False


def _open_locked_file(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file and lock it until it is closed; raise an OSError if another process has locked it."""
    file = os.open(path, flags | BINARY_FLAG, 0o600)
    try:
        if not lock_descriptor(file):
            raise BlockingIOError(errno.EWOULDBLOCK, "another process has locked it", str(path))
    except OSError:
        os.close(file)
        raise
    return file


# --- reading --------------------------------------------------------------------------------------


def restore_session(path: Path, specs: Mapping[str, AgentSpec]) -> SavedSession:
    """Read a journal and return its session, up to the first line that cannot be read.

    Raises:
        ConfigError: The header of the journal is invalid, or the session has unknown agents.
    """
    lines = _iter_journal_lines(path)
    header = next(lines, None)
    if header is None:
        raise ConfigError(f"{path}: expected a journal, got an empty file")
    reader = _JournalReader(header, specs)
    for part in lines:
        with suppress(ConfigError):  # a line with too many problems raises an error; the problems are in `found`, too
            reader.apply_journal_line(part)
        if part.problems.found:
            problem = part.problems.sorted_messages()[0]
            return require_known_agents(reader.result((f"{problem}: everything after it is lost",)), specs, str(path))
    return require_known_agents(reader.result(), specs, str(path))


def _iter_journal_lines(path: Path) -> Iterator[DocumentField]:
    """Yield the data of each complete line of a journal; None as the data of a line that is not JSON."""
    with open_regular_file(path, SUFFIX) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            raise ConfigError(f"{path}: expected at most {MAX_BYTES:,} bytes, got {size:,}")
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return  # the line is incomplete, because the program was killed while writing it
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                data = None  # the reader of the line then reports that the line is not a mapping
            yield DocumentField(DocumentProblems(YamlDocument(str(path), data, number)), (), data)


@dataclass
class _RestoredBranch:
    """State of a branch up to the journal lines that have been read; see BranchState for the fields."""

    name: str
    parent: int | None
    split_tick: int
    tick: int
    horizon: int
    entries: list[LogEntry] = field(default_factory=list)
    # (tick that was on screen, digest of the world after the commands of this tick).
    shown_digest: NumberedDigest | None = None

    def __post_init__(self) -> None:
        self.entry_ids = {entry.id for entry in self.entries}

    def put_log_entry(self, entry: LogEntry) -> None:
        """Add an entry, or replace the entry with the same id.

        The usual case, a new entry at the end of the log, is fast, because a journal may have thousands of entries.
        """
        if entry.id in self.entry_ids or (self.entries and entry.tick < self.entries[-1].tick):
            self.entries = log_with_entry(self.entries, entry)
        else:
            self.entries.append(entry)
        self.entry_ids.add(entry.id)


class _JournalReader:
    """Reader that applies the lines of a journal one by one to the state of the branches.

    The problems of a line are added to the field of that line.
    """

    def __init__(self, header: DocumentField, specs: Mapping[str, AgentSpec]) -> None:
        fields = header.read_known_keys(_HEADER_KEYS, f"the head of a {FORMAT}")
        self.scenario = _read_header_scenario(header, fields, specs)
        grid = self.scenario.grid
        self.log_entry_reader = LogEntryReader(grid.width, grid.height)
        original = self.log_entry_reader.read_terrain_letters(fields["original"]) if "original" in fields else ((), "")
        header.problems.raise_if_any_problem()
        if original and original[0]:
            self.scenario = with_original_letters(self.scenario, original)
        self.branches: dict[int, _RestoredBranch] = {}
        self.linked_groups: tuple[tuple[int, ...], ...] = ()
        self.focused_branch = ROOT_BRANCH
        self.shown_branches: list[int] = []  # numbers of the branches on screen
        self.agent = 0  # number of the focused agent
        # [branch number, agent number] of each panel, in the order on screen.
        self.panel_order: list[list[int | None]] = []

    def apply_journal_line(self, part: DocumentField) -> None:
        fields = part.read_mapping("a line of a journal")
        for key, read in (
            ("made", self._apply_new_branch),
            ("branch", self._apply_log_entries),
            ("progress", self._apply_branch_tick),
            ("renamed", self._apply_branch_renaming),
            ("deleted", self._apply_branch_deletion),
        ):
            if key in fields:
                number = fields[key].read_integer(BRANCH_NUMBER_PARAM)
                if number is not None and (key == "made" or self._is_known_branch(fields[key], number)):
                    read(part, fields, number)
                return
        if "linked" in fields:
            self._apply_branch_links(fields["linked"])
        elif "shown" in fields:
            self._apply_view_state(fields)
        elif not part.problems.found:
            part.report_expected_value("a line of a journal")

    def _is_known_branch(self, part: DocumentField, number: int) -> bool:
        if number not in self.branches:
            part.report_problem(f"expected the number of a branch, got {number}")
        return number in self.branches

    def _read_tick(self, fields: Mapping[str, DocumentField], part: DocumentField, key: str = "tick") -> int:
        entry = require_field(fields, key, part, "a tick")
        return (entry.read_integer(_TICK_PARAM) if entry else None) or 0

    def _apply_new_branch(self, part: DocumentField, fields: Mapping[str, DocumentField], number: int) -> None:
        """Apply a journal line about a created or restored branch."""
        parent = fields["parent"].value if "parent" in fields else None
        parent = parent if type(parent) is int and parent in self.branches else None
        at, tick, horizon = (self._read_tick(fields, part, key) for key in ("at", "tick", "horizon"))
        entries: list[LogEntry] = []
        if "log" in fields:
            read = [self.log_entry_reader.read_entry(entry) for entry in fields["log"].items("entries")]
            entries = sorted((entry for entry in read if entry is not None), key=lambda entry: entry.tick)
        elif parent is not None:
            entries = list(self.branches[parent].entries)
        if not part.problems.found:
            self.branches[number] = _RestoredBranch(
                read_branch_name(fields, "branch"), parent, at, tick, horizon, entries
            )

    def _apply_log_entries(self, part: DocumentField, fields: Mapping[str, DocumentField], number: int) -> None:
        """Apply a journal line with altered and removed log entries of a branch."""
        tick = self._read_tick(fields, part)
        read = (
            [self.log_entry_reader.read_entry(entry) for entry in fields["set"].items("entries")]
            if "set" in fields
            else []
        )
        removed_ids = (
            {entry.read_integer(BRANCH_NUMBER_PARAM) for entry in fields["gone"].items("ids")}
            if "gone" in fields
            else set()
        )
        if part.problems.found:
            return
        line = self.branches[number]
        if removed_ids:
            line.entries = [entry for entry in line.entries if entry.id not in removed_ids]
        for entry in read:
            if entry is not None:
                line.put_log_entry(entry)
        line.tick, line.horizon, line.shown_digest = tick, max(line.horizon, tick), None

    def _apply_branch_tick(self, part: DocumentField, fields: Mapping[str, DocumentField], number: int) -> None:
        """Apply a journal line with the present tick of a branch."""
        line = self.branches[number]
        line.tick, line.horizon = self._read_tick(fields, part), self._read_tick(fields, part, "horizon")
        digest = fields["digest"].read_text(16) if "digest" in fields else None
        line.shown_digest = (line.tick, digest) if digest else None

    def _apply_branch_renaming(self, part: DocumentField, fields: Mapping[str, DocumentField], number: int) -> None:
        self.branches[number].name = read_branch_name(fields, "branch")

    def _apply_branch_deletion(self, part: DocumentField, fields: Mapping[str, DocumentField], number: int) -> None:
        deleted = self.branches.pop(number)
        for line in self.branches.values():
            line.parent = deleted.parent if line.parent == number else line.parent

    def _apply_branch_links(self, part: DocumentField) -> None:
        groups = []
        for group in part.items("lists of branches"):
            members = [member.read_integer(BRANCH_NUMBER_PARAM) for member in group.items("numbers of branches")]
            groups.append(tuple(number for number in members if number is not None and number in self.branches))
        self.linked_groups = tuple(group for group in groups if len(group) > 1)

    def _apply_view_state(self, fields: Mapping[str, DocumentField]) -> None:
        """Apply a journal line that says which branches, agents and panels were on screen."""
        numbers = [part.read_integer(BRANCH_NUMBER_PARAM) for part in fields["shown"].items("numbers of branches")]
        self.shown_branches = [number for number in numbers if number in self.branches]
        self.agent = (fields["agent"].read_integer(BRANCH_NUMBER_PARAM) if "agent" in fields else None) or 0
        pairs = fields["panels"].items("branches and agents") if "panels" in fields else []
        self.panel_order = [
            [part.read_integer(BRANCH_NUMBER_PARAM) for part in pair.items("a branch and an agent")] for pair in pairs
        ]
        front = fields["front"].read_integer(BRANCH_NUMBER_PARAM) if "front" in fields else None
        self.focused_branch = front if front in self.branches and front is not None else self.focused_branch

    def result(self, warnings: tuple[str, ...] = ()) -> SavedSession:
        branches = tuple(
            SavedBranch(
                BranchState(
                    number, line.name, line.parent, line.split_tick, line.tick, line.horizon, tuple(line.entries)
                ),
                (),
                line.shown_digest,
            )
            for number, line in sorted(self.branches.items())
        )
        if not branches:
            branches = (SavedBranch(BranchState(ROOT_BRANCH, "run", None, 0, 0, 0, ())),)
        front = self.focused_branch if self.focused_branch in self.branches else branches[0].branch_state.number
        shown_branches = [number for number in self.shown_branches if number in self.branches]
        view = (
            {SHOWN_BRANCHES_KEY: shown_branches, FOCUSED_AGENT_KEY: self.agent, PANEL_ORDER_KEY: self.panel_order}
            if shown_branches
            else {}
        )
        scenario = replace(self.scenario, view={**self.scenario.view, **view})
        return SavedSession(scenario, branches, self.linked_groups, front, warnings)


def _read_header_scenario(
    header: DocumentField, fields: Mapping[str, DocumentField], specs: Mapping[str, AgentSpec]
) -> Scenario:
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        part = require_field(fields, key, header, f"{expected!r}")
        if part and part.value != expected:
            part.report_expected_value(f"{expected!r}")
    text = require_field(fields, "scenario", header, "a scenario")
    if text and not isinstance(text.value, str):
        text.report_expected_value("a scenario")
    header.problems.raise_if_any_problem()
    assert text is not None
    folder = fields["map_folder"].value if "map_folder" in fields else None
    allowed = [folder] if isinstance(folder, str) and "\0" not in folder else []
    return parse_scenario(text.value, header.problems.document.name, specs, None, allowed, is_saved=True)
