"""Write journals: logs of the session, written as it happens, from which the session is restored after a crash.

    journal = Journal(scenario, tree)           create a file in the user's state folder and listen to the tree
    journal.progress([number, ...])             note in every frame how far the branches on screen are
    journal.problem                             a message if the journal cannot be written any more; the run continues
    journal.close()                             end cleanly and delete the file

    for crashed in find_crashed(): ...          journals whose program has ended without closing them
    saved = restore(crashed.path, specs)        the session at the end of the journal, see session.Saved
    discard(crashed.path)

A journal has one JSON object per line. Each line is handed to the operating system at once: a kill loses nothing, and a
crash of the machine loses at most the last seconds. An incomplete last line is ignored.

    {"format": "backmove-journal", "version": 1, "scenario": "...", "original": {...}}
    {"made": 1, "name": "branch 1", "parent": 0, "at": 40, "tick": 40, "horizon": 90}      with the log of its parent
    {"made": 0, ..., "log": [...]}                                        with another log; also for a restored branch
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

from sim.agent_api import AgentSpec
from sim.commands import LAST_TICK
from sim.files import folders
from sim.files.cells import runs_data
from sim.files.disk import open_regular, reason
from sim.files.fields import Field, Problems, require
from sim.files.locks import BINARY, lock
from sim.files.log import LogReader, entry_data
from sim.files.map_source import MAX_PATH, MapFile, rows_of
from sim.files.old_strokes import with_strokes
from sim.files.scenario import Scenario, dump_scenario, parse_scenario
from sim.files.session import (
    FOCUS_KEY,
    NUMBER,
    ORDER_KEY,
    SHOWN_KEY,
    Digest,
    Saved,
    SavedBranch,
    read_branch_name,
    redrawn_cells,
    with_known_agents,
    with_original,
)
from sim.files.yaml import Document
from sim.params import ConfigError, Param
from sim.time.branches import ROOT, Branch, BranchState, BranchTree, Watcher
from sim.time.log import Entry, placed

FORMAT, VERSION = "backmove-journal", 1
SUFFIX, LOCK_SUFFIX = ".journal", ".lock"

PROGRESS_EVERY = 100
"""Ticks between two progress lines of a run without commands."""

_HEADER_KEYS = ("format", "version", "scenario", "map_folder", "original")

MAX_BYTES = 512 * 1024 * 1024
_MAX_ROWS = 1 << 22  # maximum number of cells of a map copied into the journal; a larger map is named by its path
_TICK = Param("tick", int, 0, "a tick", 0, LAST_TICK)


def state_folder() -> Path:
    """Return the folder in which the journals of this user are written."""
    return folders.state_folder() / "journals"


# --- writing --------------------------------------------------------------------------------------


_BEGUN = count(1)
"""Counter of the journals of this process, so that their names sort by the time of creation."""


class Journal(Watcher):
    """Listener that writes all changes of a branch tree to a file.

    Writing errors are not raised: after an error, such as a full disk, the journal ends and the run continues.
    """

    def __init__(
        self,
        scenario: Scenario,
        tree: BranchTree,
        folder: Path | None = None,
    ) -> None:
        self.problem: str | None = None
        self.path: Path | None = None
        self._folder = folder or state_folder()
        self.tree, self._width = tree, scenario.grid.width
        self._file: int | None = None
        self._lock: int | None = None
        self._is_unsynced = False
        self._noted: dict[int, int] = {}  # branch number -> tick of the branch that was written last
        self._written_looks: dict[str, Any] = {}  # data of the last written line about what is on screen
        try:
            self._begin(self._folder)
        except OSError as error:
            self._give_up(error)
        self._write(_header(scenario))
        for branch in tree.branches.values():
            self._write(self._made(branch, with_log=True))
        self.links_changed(tree.groups())
        tree.watcher = self

    def _begin(self, folder: Path) -> None:
        """Create the lock file and the journal file; raise an OSError if that fails."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / f"{os.getpid()}-{next(_BEGUN):06}-{secrets.token_hex(4)}{SUFFIX}"
        # Create the lock before the journal, because a journal without a held lock counts as left by a crash.
        self._lock = _locked(self.path.with_suffix(LOCK_SUFFIX))
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | BINARY, 0o600)

    def _write(self, data: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        line = json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            while line:
                line = line[os.write(self._file, line) :]
            self._is_unsynced = True
        except OSError as error:
            self._give_up(error)

    def take_unsynced(self) -> int | None:
        """Return a descriptor of the journal if lines were written since the last call, to be synced; otherwise None.

        Syncing can take long, so the caller does it in another thread, and closes the descriptor.
        """
        if self._file is None or not self._is_unsynced:
            return None
        self._is_unsynced = False
        return os.dup(self._file)

    def rest(self) -> None:
        """Stop writing but keep the file, because the user switched to another run and may return to this one."""
        if self.tree.watcher is self:
            self.tree.watcher = None

    def _give_up(self, error: OSError) -> None:
        """Stop writing after an error, and set `problem` to a message for the user."""
        self.problem = f"unsaved work will not be restored after a crash: {self._folder}: {reason(error)}"
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def close(self) -> None:
        """End the journal and delete its file, because nothing has to be restored."""
        if self.tree.watcher is self:
            self.tree.watcher = None
        for file in (self._file, self._lock):
            if file is not None:
                os.close(file)
        self._file = self._lock = None
        if self.path is not None:
            discard(self.path)
            self.path = None

    # --- lines of the journal ---

    def progress(self, numbers: Iterable[int], now: bool = False) -> None:
        """Write the ticks of branches that have moved by at least PROGRESS_EVERY ticks since they were last written.

        Args:
            numbers: numbers of the branches.
            now: whether to write the tick of every branch that has moved at all.
        """
        for number in numbers:
            timeline = self.tree[number].timeline
            far = abs(timeline.target - self._noted.get(number, 0))
            if far >= PROGRESS_EVERY or (now and far):
                self._write(self._progress(number))

    def looks(self, shown: Sequence[int], front: int, agent: int = 0, panels: Sequence[tuple[int, int]] = ()) -> None:
        """Write which branches, agents and panels are on screen, if this has changed since the last call.

        Args:
            shown: numbers of the branches on screen.
            front: number of the focused branch.
            agent: number of the focused agent.
            panels: (branch number, agent number) of each panel, in the order on screen.
        """
        looked = {"shown": list(shown), "front": front, "agent": agent, "panels": [list(key) for key in panels]}
        if looked != self._written_looks:
            self._written_looks = looked
            self._write(looked)

    def _progress(self, number: int) -> dict[str, Any]:
        """Return the data of a journal line with the present tick of a branch."""
        timeline = self.tree[number].timeline
        self._noted[number] = timeline.target
        data: dict[str, Any] = {"progress": number, "tick": timeline.target, "horizon": timeline.horizon}
        if not timeline.is_seeking:
            timeline.apply_now()
            data["digest"] = timeline.world.digest()
        return data

    def _made(self, branch: Branch, with_log: bool) -> dict[str, Any]:
        """Return the data of a journal line for a created or restored branch."""
        state = self.tree.state(branch.number)
        self._noted[branch.number] = state.tick
        data: dict[str, Any] = {
            "made": branch.number,
            "name": branch.name,
            "parent": branch.parent,
            "at": branch.made_at,
        }
        data |= {"tick": state.tick, "horizon": state.horizon}
        if with_log:
            data["log"] = [entry_data(entry, self._width) for entry in state.entries]
        return data

    def branch_made(self, branch: Branch) -> None:
        self._write(self._made(branch, with_log=False))

    def branch_put(self, branch: Branch) -> None:
        self._write(self._made(branch, with_log=True))

    def entries_changed(self, branch: Branch, altered: Sequence[Entry], gone: Sequence[int]) -> None:
        self._noted[branch.number] = tick = branch.timeline.target
        data: dict[str, Any] = {"branch": branch.number, "tick": tick}
        data["set"] = [entry_data(entry, self._width) for entry in altered]
        if gone:
            data["gone"] = list(gone)
        self._write(data)

    def branch_renamed(self, branch: Branch) -> None:
        self._write({"renamed": branch.number, "name": branch.name})

    def branch_deleted(self, branch: Branch) -> None:
        self._write({"deleted": branch.number})

    def links_changed(self, groups: Sequence[Sequence[int]]) -> None:
        self._write({"linked": [list(group) for group in groups]})


def _header(scenario: Scenario) -> dict[str, Any]:
    """Return the data of a journal's first line: the scenario, usually with a copy of its map."""
    grid, source = scenario.grid, scenario.map
    if isinstance(source, MapFile) and (grid.cells <= _MAX_ROWS or scenario.is_redrawn or not _can_be_named(source)):
        # Copy the map, because its file may have changed by the time the journal is restored.
        scenario = replace(scenario, map=rows_of(grid, scenario.map_name))
    elif isinstance(source, MapFile):
        scenario = replace(scenario, map=replace(source, file=str(source.path)))
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "scenario": dump_scenario(scenario)}
    if isinstance(scenario.map, MapFile):
        data["map_folder"] = str(scenario.map.path.parent)
    cells, letters = redrawn_cells(grid)
    if cells:
        data["original"] = {"cells": runs_data(cells, grid.width), "letters": letters}
    return data


def _can_be_named(source: MapFile) -> bool:
    """Return whether the path of a map file can be written to YAML and is accepted when read."""
    path = str(source.path)
    return path.isprintable() and len(path) <= MAX_PATH


# --- finding journals left behind -----------------------------------------------------------------


@dataclass(frozen=True)
class Crashed:
    """Journal that was left behind by a program that ended without closing it."""

    path: Path
    modified_s: float  # time of the last write, in seconds since 1970

    def is_of_same_program(self, other: "Crashed") -> bool:
        """Return whether one process wrote both journals, because the user left one run and opened another."""
        return _process_id(self.path) == _process_id(other.path)


def _process_id(path: Path) -> str:
    return path.name.partition("-")[0]


def find_crashed(folder: Path | None = None) -> list[Crashed]:
    """Return the journals whose program has ended without closing them, latest first.

    Journals with equal times, which is possible within one step of the system clock, are ordered by their names, which
    count up in order of creation.
    """
    found = []
    with suppress(OSError):  # the folder is missing or unreadable: nothing to restore
        for path in (folder or state_folder()).glob(f"*{SUFFIX}"):
            with suppress(OSError):  # ignore a journal that another window deletes at this moment
                if not _is_alive(path):
                    found.append(Crashed(path, path.stat().st_mtime))
    return sorted(found, key=lambda crashed: (crashed.modified_s, crashed.path.name), reverse=True)


def discard(path: Path) -> None:
    """Delete a journal and its lock file."""
    for file in (path, path.with_suffix(LOCK_SUFFIX)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _is_alive(path: Path) -> bool:
    """Return whether the program that writes this journal is running: it holds the lock until it ends or crashes."""
    try:
        lock = _locked(path.with_suffix(LOCK_SUFFIX), os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    os.close(lock)
    return False


def _locked(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file and lock it until it is closed; raise an OSError if another process has locked it."""
    file = os.open(path, flags | BINARY, 0o600)
    try:
        if not lock(file):
            raise BlockingIOError(errno.EWOULDBLOCK, "another process has locked it", str(path))
    except OSError:
        os.close(file)
        raise
    return file


# --- reading --------------------------------------------------------------------------------------


def restore(path: Path, specs: Mapping[str, AgentSpec]) -> Saved:
    """Read a journal and return its session, up to the first line that cannot be read.

    Raises:
        ConfigError: The header of the journal is invalid, or the session has unknown agents.
    """
    lines = _lines(path)
    header = next(lines, None)
    if header is None:
        raise ConfigError(f"{path}: expected a journal, got an empty file")
    reader = _JournalReader(header, specs)
    for part in lines:
        with suppress(ConfigError):  # a line with too many problems raises an error; the problems are in `found`, too
            reader.take(part)
        if part.problems.found:
            problem = part.problems.texts()[0]
            return with_known_agents(reader.result((f"{problem}: everything after it is lost",)), specs, str(path))
    return with_known_agents(reader.result(), specs, str(path))


def _lines(path: Path) -> Iterator[Field]:
    """Yield the data of each complete line of a journal; None as the data of a line that is not JSON."""
    with open_regular(path, SUFFIX) as file:
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
            yield Field(Problems(Document(str(path), data, number)), (), data)


@dataclass
class _BranchLine:
    """State of a branch up to the journal lines that have been read; see BranchState for the fields."""

    name: str
    parent: int | None
    at: int
    tick: int
    horizon: int
    entries: list[Entry] = field(default_factory=list)
    last: Digest | None = None  # (tick that was on screen, digest of the world after the commands of this tick)

    def __post_init__(self) -> None:
        self.ids = {entry.id for entry in self.entries}

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the entry with the same id.

        The usual case, a new entry at the end of the log, is fast, because a journal may have thousands of entries.
        """
        if entry.id in self.ids or (self.entries and entry.tick < self.entries[-1].tick):
            self.entries = placed(self.entries, entry)
        else:
            self.entries.append(entry)
        self.ids.add(entry.id)


class _JournalReader:
    """Reader that applies the lines of a journal one by one to the state of the branches.

    The problems of a line are added to the field of that line.
    """

    def __init__(self, header: Field, specs: Mapping[str, AgentSpec]) -> None:
        fields = header.keys(_HEADER_KEYS, f"the head of a {FORMAT}")
        self.scenario = _scenario_of(header, fields, specs)
        grid = self.scenario.grid
        self.log_reader = LogReader(grid.width, grid.height)
        original = self.log_reader.letters(fields["original"]) if "original" in fields else ((), "")
        header.problems.raise_any()
        if original and original[0]:
            self.scenario = with_original(self.scenario, original)
        self.lines: dict[int, _BranchLine] = {}
        self.linked: tuple[tuple[int, ...], ...] = ()
        self.front = ROOT
        self.shown: list[int] = []  # numbers of the branches on screen
        self.agent = 0  # number of the focused agent
        self.panels: list[list[int | None]] = []  # [branch number, agent number] of each panel, in the order on screen

    def take(self, part: Field) -> None:
        fields = part.any_keys("a line of a journal")
        for key, read in (
            ("made", self._made),
            ("branch", self._changed),
            ("progress", self._progress),
            ("renamed", self._apply_renamed),
            ("deleted", self._apply_deleted),
        ):
            if key in fields:
                number = fields[key].integer(NUMBER)
                if number is not None and (key == "made" or self._is_known_branch(fields[key], number)):
                    read(part, fields, number)
                return
        if "linked" in fields:
            self._apply_link(fields["linked"])
        elif "shown" in fields:
            self._look(fields)
        elif not part.problems.found:
            part.expect("a line of a journal")

    def _is_known_branch(self, part: Field, number: int) -> bool:
        if number not in self.lines:
            part.complain(f"expected the number of a branch, got {number}")
        return number in self.lines

    def _tick(self, fields: Mapping[str, Field], part: Field, key: str = "tick") -> int:
        entry = require(fields, key, part, "a tick")
        return (entry.integer(_TICK) if entry else None) or 0

    def _made(self, part: Field, fields: Mapping[str, Field], number: int) -> None:
        """Apply a journal line about a created or restored branch."""
        parent = fields["parent"].value if "parent" in fields else None
        parent = parent if type(parent) is int and parent in self.lines else None
        at, tick, horizon = (self._tick(fields, part, key) for key in ("at", "tick", "horizon"))
        entries: list[Entry] = []
        if "log" in fields:
            read = [self.log_reader.entry(entry) for entry in fields["log"].items("entries")]
            entries = sorted((entry for entry in read if entry is not None), key=lambda entry: entry.tick)
        elif parent is not None:
            entries = list(self.lines[parent].entries)
        if not part.problems.found:
            self.lines[number] = _BranchLine(read_branch_name(fields, "branch"), parent, at, tick, horizon, entries)

    def _changed(self, part: Field, fields: Mapping[str, Field], number: int) -> None:
        """Apply a journal line with altered and removed log entries of a branch."""
        tick = self._tick(fields, part)
        read = [self.log_reader.entry(entry) for entry in fields["set"].items("entries")] if "set" in fields else []
        gone = {entry.integer(NUMBER) for entry in fields["gone"].items("ids")} if "gone" in fields else set()
        if part.problems.found:
            return
        line = self.lines[number]
        if gone:
            line.entries = [entry for entry in line.entries if entry.id not in gone]
        for entry in read:
            if entry is not None:
                line.put(entry)
        line.tick, line.horizon, line.last = tick, max(line.horizon, tick), None

    def _progress(self, part: Field, fields: Mapping[str, Field], number: int) -> None:
        """Apply a journal line with the present tick of a branch."""
        line = self.lines[number]
        line.tick, line.horizon = self._tick(fields, part), self._tick(fields, part, "horizon")
        digest = fields["digest"].text(16) if "digest" in fields else None
        line.last = (line.tick, digest) if digest else None

    def _apply_renamed(self, part: Field, fields: Mapping[str, Field], number: int) -> None:
        self.lines[number].name = read_branch_name(fields, "branch")

    def _apply_deleted(self, part: Field, fields: Mapping[str, Field], number: int) -> None:
        gone = self.lines.pop(number)
        for line in self.lines.values():
            line.parent = gone.parent if line.parent == number else line.parent

    def _apply_link(self, part: Field) -> None:
        groups = []
        for group in part.items("lists of branches"):
            members = [member.integer(NUMBER) for member in group.items("numbers of branches")]
            groups.append(tuple(number for number in members if number is not None and number in self.lines))
        self.linked = tuple(group for group in groups if len(group) > 1)

    def _look(self, fields: Mapping[str, Field]) -> None:
        """Apply a journal line that says which branches, agents and panels were on screen."""
        numbers = [part.integer(NUMBER) for part in fields["shown"].items("numbers of branches")]
        self.shown = [number for number in numbers if number in self.lines]
        self.agent = (fields["agent"].integer(NUMBER) if "agent" in fields else None) or 0
        pairs = fields["panels"].items("branches and agents") if "panels" in fields else []
        self.panels = [[part.integer(NUMBER) for part in pair.items("a branch and an agent")] for pair in pairs]
        front = fields["front"].integer(NUMBER) if "front" in fields else None
        self.front = front if front in self.lines and front is not None else self.front

    def result(self, warnings: tuple[str, ...] = ()) -> Saved:
        numbers = sorted(self.lines)
        logs = with_strokes([self.lines[number].entries for number in numbers], self.scenario.grid.width)
        branches = tuple(
            SavedBranch(
                BranchState(number, line.name, line.parent, line.at, line.tick, line.horizon, log), (), line.last
            )
            for number, line, log in zip(numbers, map(self.lines.__getitem__, numbers), logs, strict=True)
        )
        if not branches:
            branches = (SavedBranch(BranchState(ROOT, "run", None, 0, 0, 0, ())),)
        front = self.front if self.front in self.lines else branches[0].state.number
        shown = [number for number in self.shown if number in self.lines]
        seen = {SHOWN_KEY: shown, FOCUS_KEY: self.agent, ORDER_KEY: self.panels} if shown else {}
        scenario = replace(self.scenario, view={**self.scenario.view, **seen})
        return Saved(scenario, branches, self.linked, front, warnings)


def _scenario_of(header: Field, fields: Mapping[str, Field], specs: Mapping[str, AgentSpec]) -> Scenario:
    for key, wanted in (("format", FORMAT), ("version", VERSION)):
        part = require(fields, key, header, f"{wanted!r}")
        if part and part.value != wanted:
            part.expect(f"{wanted!r}")
    text = require(fields, "scenario", header, "a scenario")
    if text and not isinstance(text.value, str):
        text.expect("a scenario")
    header.problems.raise_any()
    assert text is not None
    folder = fields["map_folder"].value if "map_folder" in fields else None
    allowed = [folder] if isinstance(folder, str) and "\0" not in folder else []
    return parse_scenario(text.value, header.problems.document.name, specs, None, allowed, is_saved=True)
