"""Read and write session files: a scenario and everything that the user did with it, as one small YAML file.

    saved = create_saved_session(scenario, tree)    collect the data of the session
    save_session(saved, path)                       write the file atomically
    saved = load_session(path, specs)               read a session; a ConfigError lists all problems
    tree = saved.build_branch_tree(specs)           create the branches, each seeking to its tick
    saved.warnings                                  warnings about a session that can be opened

A session file has the keys of a scenario and the following keys:

    map_sha256: ...                                   hash of the terrain of the map file, to detect later changes
    original: {cells: ..., letters: ...}              cells of tick 0 that differ from the opened map, with its letters
    log: [{id: 4, tick: 50, block: [[3, 4]]}, ...]    commands of the user, see log_entries.py
    branches:
      - {number: 0, name: run, parent: null, at: 0, tick: 120, horizon: 300, log: [1, 2, 4],
         digests: {every: 100, values: [...], last: [120, ...], agents: [[0, ...]]}}
    linked: [[0, 1]]                                  groups of branches that get the same commands
    branch: 0                                         the focused branch
    view: {branches: [0, 1], focus: 2, panels: [[0, 2], [0, 1]]}
                                                      branches on screen, focused agent, order of the panels

The `pooled_entries` of a branch lists entry ids. Ids from 1 to the number of the scenario's `timed_commands` refer to
these edits, sorted by tick; the ids of the session's `pooled_entries` follow. The run itself is not stored but
simulated again. If its digests differ from the stored ones, the timeline reports the first such tick in `diverged`.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from files.cell_lists import cell_list_data
from files.disk import read_file
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.file_kinds import SESSION, check_file_kind
from files.log_entries import LogEntryReader, log_entry_data
from files.map_source import open_map_folders
from files.scenario import FORMAT as SCENARIO_FORMAT
from files.scenario import SCENARIO_KEYS as SCENARIO_KEYS
from files.scenario import (
    SUFFIX,
    Scenario,
    ScenarioReader,
    build_world,
    relocate_scenario,
    scenario_data,
    write_document,
)
from files.yaml import MAX_BYTES, InlineList, InlineMap, read_yaml, write_yaml
from sim.agent_api import AgentSpec
from sim.grid import MAX_MAP_SIDE, Grid
from sim.params import ConfigError, Param, did_you_mean_hint, unknown_agent_hint, value_as_in_files
from sim.time.branches import MAX_BRANCH_NAME_LENGTH, MAX_BRANCHES, ROOT_BRANCH, BranchState, BranchTree
from sim.time.command_log import LogEntry
from sim.time.run_history import DIGEST_EVERY, Divergence
from sim.world import World
from sim.world_commands import AGENT_PARAM, MAX_COMMAND_TICK, AddAgent, Command

FORMAT = SESSION.format

SESSION_KEYS = (*SCENARIO_KEYS, "map_sha256", "original", "log", "branches", "linked", "branch")

SHOWN_BRANCHES_KEY = "branches"
"""Key in the view (settings of the window): numbers of the branches on screen."""

FOCUSED_AGENT_KEY = "focus"
"""Key in the view: number of the focused agent."""

PANEL_ORDER_KEY = "panels"
"""Key in the view: panels in their order, each as the numbers of its branch and its agent."""

BRANCH_NUMBER_PARAM = Param("number", int, 0, "number of the branch", 0, (1 << 31) - 1)
# Maximum length of a branch name in a file; longer than MAX_BRANCH_NAME_LENGTH, the name is truncated.
_MAX_NAME = 10_000
_TICK_PARAM = Param("tick", int, 0, "a tick", 0, MAX_COMMAND_TICK)

TerrainLetters = tuple[tuple[int, ...], str]
NumberedDigest = tuple[int, str]


@dataclass(frozen=True)
class SavedBranch:
    """State of a branch, with digests to check that simulating it again gives the same run."""

    branch_state: BranchState
    digests: tuple[str, ...] = ()  # digests of the world at ticks 0, DIGEST_EVERY, ..., before each tick's commands
    # (tick that was on screen, digest of the world after the commands of this tick).
    shown_digest: NumberedDigest | None = None
    agent_digests: tuple[tuple[int, str], ...] = ()  # (agent number, digest of the agent) at the tick of `shown_digest`


@dataclass(frozen=True)
class SavedSession:
    """Session (scenario, branches, links between branches, view) as plain values."""

    scenario: Scenario
    branches: tuple[SavedBranch, ...]
    linked_groups: tuple[
        tuple[int, ...], ...
    ] = ()  # groups of branch numbers; all branches of a group get the same commands
    focused_branch: int = ROOT_BRANCH  # number of the focused branch
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def shown_branches(self) -> tuple[int, ...]:
        """Return the numbers of the branches that were on screen, in their order on screen.

        Invalid entries are ignored here, because reading a file does not check its view, which belongs to the window.
        """
        listed = self.scenario.view.get(SHOWN_BRANCHES_KEY)
        branch_numbers = {branch.branch_state.number for branch in self.branches}
        sound = [n for n in listed if type(n) is int and n in branch_numbers] if isinstance(listed, list) else []
        return tuple(dict.fromkeys(sound))

    @property
    def panel_order(self) -> tuple[tuple[int, int], ...]:
        """Return (branch number, agent number) of each panel, in the order on screen."""
        branch_numbers = {branch.branch_state.number for branch in self.branches}
        return tuple(pair for pair in panels_of_view(self.scenario.view) if pair[0] in branch_numbers)

    @property
    def focused_agent(self) -> int:
        """Return the number of the agent that had the focus; 0 if the view does not name one."""
        agent: Any = self.scenario.view.get(FOCUSED_AGENT_KEY)
        return int(agent) if _is_agent_number(agent) else 0

    def world_builder(self, specs: Mapping[str, AgentSpec], **world_options: Any) -> Callable[[], World]:
        """Return a function that builds the world of the session at tick 0."""
        return lambda: build_world(self.scenario, specs, **world_options)

    def build_branch_tree(
        self, specs: Mapping[str, AgentSpec], setup: Callable[[], World] | None = None, **options: Any
    ) -> BranchTree:
        """Create the tree of branches, each seeking to the tick that was shown.

        Args:
            specs: known agents by key.
            setup: function that builds the world of tick 0; None: `self.world_builder(specs, **options)`.
            options: options of the World.
        """
        states = [saved.branch_state for saved in self.branches]
        tree = BranchTree.from_states(setup or self.world_builder(specs, **options), states)
        for saved in self.branches:
            tree[saved.branch_state.number].timeline.run_history.set_expected_digests(
                saved.digests, saved.shown_digest, dict(saved.agent_digests)
            )
            if self.warnings:  # if the map file has changed, this is not the saved run, even if the digests are equal
                tree[saved.branch_state.number].timeline.run_history.report_divergence(Divergence(0))
        for group in self.linked_groups:
            tree.link_branches(group)
        return tree


def panels_of_view(view: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """Return (branch number, agent number) of each panel, in the order given by the view of a session."""
    listed = view.get(PANEL_ORDER_KEY)
    pairs = [pair for pair in listed if isinstance(pair, list)] if isinstance(listed, list) else []
    return tuple(
        dict.fromkeys((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and all(map(_is_agent_number, pair)))
    )


def _is_agent_number(value: Any) -> bool:
    """Return whether a value is a possible number of an agent."""
    return type(value) is int and 0 <= value <= int(AGENT_PARAM.high or 0)


def create_saved_session(scenario: Scenario, tree: BranchTree, branch: int = ROOT_BRANCH) -> SavedSession:
    """Return the present session as plain values, to be saved.

    Args:
        scenario: scenario from which the worlds of the tree were built.
        tree: all branches.
        branch: number of the focused branch.
    """
    branches = tuple(_create_saved_branch(tree, number) for number in tree.branches)
    return SavedSession(scenario, branches, tuple(map(tuple, tree.link_groups())), branch)


def _create_saved_branch(tree: BranchTree, number: int) -> SavedBranch:
    digests, last, agents = tree[number].timeline.expected_digests()
    return SavedBranch(tree.branch_state(number), digests, last, tuple(agents.items()))


def edited_cells(grid: Grid) -> TerrainLetters:
    """Return the cells that differ between the opened map and the map at tick 0, with their letters when opened."""
    terrain, before = grid.terrain.reshape(-1), grid.original_terrain.reshape(-1)
    cells = np.flatnonzero(terrain != before)
    return tuple(cells.tolist()), bytes(before[cells].tolist()).decode("ascii")


def with_original_letters(scenario: Scenario, letters: TerrainLetters) -> Scenario:
    """Return a copy of a scenario with some letters changed in the map as opened (`Grid.original_terrain`)."""
    grid = scenario.grid.copy()
    grid.set_original_terrain(list(letters[0]), np.frombuffer(letters[1].encode("ascii"), np.uint8))
    return replace(scenario, grid=grid)


# --- writing --------------------------------------------------------------------------------------


def save_session(saved: SavedSession, path: str | os.PathLike[str]) -> None:
    """Write a session file atomically."""
    write_document(session_data(_session_relative_to_folder(saved, Path(path).parent)), path)


def session_text(saved: SavedSession, folder: Path) -> str:
    """Return the text of a session file in this folder.

    The path of its map is relative to the folder; a map that a file there may not name is written into the text.
    """
    return dump_session(_session_relative_to_folder(saved, folder))


def _session_relative_to_folder(saved: SavedSession, folder: Path) -> SavedSession:
    return replace(saved, scenario=relocate_scenario(saved.scenario, Path(os.path.realpath(folder))))


def dump_session(saved: SavedSession) -> str:
    """Return the session as YAML text; reading that text gives an equal session."""
    return write_yaml(session_data(saved))


def session_data(saved: SavedSession) -> dict[str, Any]:
    """Return the session as plain data: the keys of its scenario, then the keys of a session."""
    grid = saved.scenario.grid
    pool = _LogEntryPool(saved.scenario)
    lists = [pool.entry_ids(branch.branch_state.entries) for branch in saved.branches]
    data = scenario_data(saved.scenario) | {"format": FORMAT, "map_sha256": terrain_hash(grid.terrain)}
    cells, letters = edited_cells(grid)
    if cells:
        data["original"] = InlineMap(cells=cell_list_data(cells, grid.width), letters=letters)
    data["log"] = [log_entry_data(entry, grid.width) for entry in pool.pooled_entries]
    data["branches"] = [_saved_branch_data(branch, log) for branch, log in zip(saved.branches, lists, strict=True)]
    if saved.linked_groups:
        data["linked"] = InlineList(InlineList(group) for group in saved.linked_groups)
    data["branch"] = saved.focused_branch
    return data


def _saved_branch_data(saved: SavedBranch, log: list[int]) -> dict[str, Any]:
    state = saved.branch_state
    data: dict[str, Any] = {"number": state.number, "name": state.name, "parent": state.parent, "at": state.split_tick}
    data |= {"tick": state.tick, "horizon": state.furthest_tick, "log": InlineList(log)}
    data["digests"] = {"every": DIGEST_EVERY, "values": InlineList(saved.digests)}
    if saved.shown_digest:
        data["digests"]["last"] = InlineList(saved.shown_digest)
    if saved.agent_digests:
        data["digests"]["agents"] = InlineList(InlineList(pair) for pair in saved.agent_digests)
    return data


class _LogEntryPool:
    """Distinct log entries of all branches, with their ids in the file, which count from 1."""

    def __init__(self, scenario: Scenario) -> None:
        self.scripted_commands = [
            (edit.tick, edit.command) for edit in sorted(scenario.timed_commands, key=lambda edit: edit.tick)
        ]
        self.pooled_entries: list[LogEntry] = []
        self._entry_ids: dict[int, int] = {}  # id() of an entry -> id of the entry in the file
        self._stroke_ids: dict[int, int] = {}  # number of a stroke -> id in the file of the stroke's first entry

    def entry_ids(self, entries: Iterable[LogEntry]) -> list[int]:
        return [self._file_id_of_entry(entry) for entry in entries]

    def _file_id_of_entry(self, entry: LogEntry) -> int:
        if id(entry) not in self._entry_ids:
            self._entry_ids[id(entry)] = self._assign_entry_id(entry)
        return self._entry_ids[id(entry)]

    def _assign_entry_id(self, entry: LogEntry) -> int:
        """Return the id of an entry in the file; add the entry to the log unless it is an edit of the scenario."""
        # Index of a scripted entry in `scripted_commands`, because a timeline numbers these entries first.
        index = entry.id - 1
        if entry.is_scripted and entry.is_enabled and index < len(self.scripted_commands):
            tick, command = self.scripted_commands[index]
            if entry.tick == tick and _is_same_command(entry.command, command):
                return entry.id
        number = len(self.scripted_commands) + len(self.pooled_entries) + 1
        stroke = self._stroke_ids.setdefault(entry.stroke_id, number) if entry.stroke_id else 0
        self.pooled_entries.append(replace(entry, id=number, stroke_id=stroke))
        return number


def _is_same_command(command: Command, scripted: Command) -> bool:
    """Return whether a command equals a scripted one, ignoring an agent number that a timeline has assigned."""
    if isinstance(command, AddAgent) and isinstance(scripted, AddAgent) and scripted.agent is None:
        return command.config == scripted.config
    return command == scripted


def terrain_hash(terrain: npt.NDArray[np.uint8]) -> str:
    return hashlib.sha256(np.ascontiguousarray(terrain).tobytes()).hexdigest()


# --- reading --------------------------------------------------------------------------------------


def load_session(
    path: str | os.PathLike[str],
    specs: Mapping[str, AgentSpec],
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
) -> SavedSession:
    """Read a session file.

    Args:
        path: the file.
        specs: known agents by key.
        allowed_folders: further folders from which its map may come, see load_scenario().

    Returns:
        The session.

    Raises:
        ConfigError: The file is not a valid session; the error lists all problems.
    """
    data = read_file(path, MAX_BYTES, SUFFIX)
    return parse_session(data, str(path), specs, Path(path).parent, allowed_folders)


def require_known_agents(saved: SavedSession, specs: Mapping[str, AgentSpec], name: str) -> SavedSession:
    """Return a session unchanged; raise a ConfigError if one of its agents is unknown.

    A log may name unknown agents, but leaving them out would silently change the run.
    """
    entries = (entry for branch in saved.branches for entry in branch.branch_state.entries if entry.is_enabled)
    joining = (entry.command.config.kind for entry in entries if isinstance(entry.command, AddAgent))
    unknown = dict.fromkeys(kind for kind in joining if kind not in specs)
    if unknown:
        raise ConfigError(
            [f"{name}: no agent {value_as_in_files(kind)}{unknown_agent_hint(kind, specs)}" for kind in unknown]
        )
    return saved


def is_session_data(data: bytes) -> bool:
    """Return whether a file that begins with these bytes declares the format of a session."""
    return any(line.rstrip() == f"format: {FORMAT}".encode() for line in data[:4096].splitlines())


def parse_session(
    data: bytes | str,
    name: str,
    specs: Mapping[str, AgentSpec],
    folder: str | os.PathLike[str] | None = None,
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
) -> SavedSession:
    """Parse the text of a session file; `folder` is the folder of the file, see load_session() for the rest."""
    problems = DocumentProblems(read_yaml(data, name))
    check_file_kind(problems.document, SESSION)
    root = DocumentField(problems, (), problems.document.data)
    fields = root.read_known_keys(SESSION_KEYS, f"a session, which begins with 'format: {FORMAT}'")
    _check_format(root, fields)
    scenario = _read_scenario(root, fields, specs, open_map_folders(folder, allowed_folders))
    saved = _SessionReader(root, fields, scenario).read_session()
    problems.raise_if_any_problem()
    assert saved is not None, root.value
    return require_known_agents(saved, specs, name)


def _check_format(root: DocumentField, fields: Mapping[str, DocumentField]) -> None:
    named = require_field(fields, "format", root, f"'{FORMAT}'")
    if named and named.value != FORMAT:
        hint = did_you_mean_hint(named.value, [FORMAT]) if isinstance(named.value, str) else ""
        named.report_problem(f"expected '{FORMAT}', got {value_as_in_files(named.value)}{hint}")


def _read_scenario(
    root: DocumentField, fields: Mapping[str, DocumentField], specs: Mapping[str, AgentSpec], folders: Any
) -> Scenario | None:
    part = {key: field.value for key, field in fields.items() if key in SCENARIO_KEYS}
    described = DocumentField(root.problems, (), part | {"format": SCENARIO_FORMAT})
    return ScenarioReader(described, specs, folders, is_saved=True).read_scenario()


class _SessionReader:
    """Reader of the keys that a session adds to its scenario."""

    def __init__(self, root: DocumentField, fields: Mapping[str, DocumentField], scenario: Scenario | None) -> None:
        """Create a reader; if `scenario` is None because it is invalid, checks that depend on it are skipped."""
        self.root, self.fields, self.scenario = root, fields, scenario
        grid = scenario.grid if scenario else None
        self.log_entry_reader = (
            LogEntryReader(grid.width, grid.height) if grid else LogEntryReader(MAX_MAP_SIDE, MAX_MAP_SIDE)
        )
        self.terrain_hash = terrain_hash(grid.terrain) if grid else ""

    def read_session(self) -> SavedSession | None:
        entries = self._read_log_entries()
        branches = self._read_branches(entries)
        numbers = [branch.branch_state.number for branch in branches]
        for number in sorted({number for number in numbers if numbers.count(number) > 1}):
            self.fields["branches"].report_problem(f"expected different numbers, got {number} more than once")
        original = (
            self.log_entry_reader.read_terrain_letters(self.fields["original"])
            if "original" in self.fields
            else ((), "")
        )
        linked = self._read_linked_branches(numbers)
        branch = self.fields["branch"].read_integer(BRANCH_NUMBER_PARAM) if "branch" in self.fields else None
        if original is None or not branches or self.scenario is None:
            return None
        front = branch if branch in numbers else numbers[0]
        scenario = with_original_letters(self.scenario, original) if original[0] else self.scenario
        return SavedSession(scenario, tuple(branches), linked, front, self._changed_map_warnings())

    def _changed_map_warnings(self) -> tuple[str, ...]:
        part = self.fields.get("map_sha256")
        if part is None or part.value == self.terrain_hash:
            return ()
        return (f"{self.root.problems.document.name}: the map has changed since it was saved, so the run will differ",)

    def _read_log_entries(self) -> dict[int, LogEntry]:
        """Return all log entries by id: first the edits of the scenario, then the commands of the user."""
        edits = sorted(self.scenario.timed_commands if self.scenario else (), key=lambda edit: edit.tick)
        entries = {i: LogEntry(i, edit.tick, edit.command, True) for i, edit in enumerate(edits, start=1)}
        listed = self.fields.get("log")
        for part in listed.items("a list of entries") if listed else ():
            entry = self.log_entry_reader.read_entry(part)
            if entry is not None and entry.id in entries:
                part.report_problem(f"expected different ids, got {entry.id} once more")
            elif entry is not None:
                entries[entry.id] = entry
        return entries

    def _read_branches(self, entries: Mapping[int, LogEntry]) -> list[SavedBranch]:
        entry = require_field(self.fields, "branches", self.root, "a list of branches")
        parts = entry.items("a list of branches") if entry else []
        if entry and not 1 <= len(parts) <= MAX_BRANCHES:
            entry.report_problem(f"expected 1 to {MAX_BRANCHES:,} branches, got {len(parts):,}")
            return []
        read = [_read_saved_branch(part, entries if self.scenario else None) for part in parts]
        return [branch for branch in read if branch is not None]

    def _read_linked_branches(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        entry = self.fields.get("linked")
        groups = []
        for part in entry.items("lists of branches that are linked") if entry else ():
            members = [member.read_integer(BRANCH_NUMBER_PARAM) for member in part.items("numbers of branches")]
            groups.append(tuple(number for number in members if number in numbers and number is not None))
        return tuple(group for group in groups if len(group) > 1)


_BRANCH_KEYS = ("number", "name", "parent", "at", "tick", "horizon", "log", "digests")


def _read_saved_branch(part: DocumentField, entries: Mapping[int, LogEntry] | None) -> SavedBranch | None:
    fields = part.read_known_keys(_BRANCH_KEYS, "a branch such as {number: 0, name: run, at: 0, tick: 120, log: []}")
    before = len(part.problems.found)
    number_field, log_field = (
        require_field(fields, "number", part, "its number"),
        require_field(fields, "log", part, "its log"),
    )
    number = number_field.read_integer(BRANCH_NUMBER_PARAM) if number_field else None
    log = _read_command_log(log_field, entries) if log_field and entries is not None else []
    name = read_branch_name(fields, f"branch {number}")
    has_parent = "parent" in fields and fields["parent"].value is not None
    parent = fields["parent"].read_integer(BRANCH_NUMBER_PARAM) if has_parent else None
    at, tick, horizon = (
        fields[key].read_integer(_TICK_PARAM) if key in fields else 0 for key in ("at", "tick", "horizon")
    )
    digests, last, agents = _read_digests(fields["digests"]) if "digests" in fields else ((), None, ())
    if len(part.problems.found) > before or number is None:
        return None
    at, tick, horizon = at or 0, tick or 0, horizon or 0
    state = BranchState(number, name, parent, at, tick, max(tick, horizon), tuple(log))
    return SavedBranch(state, digests, last, agents)


def read_branch_name(fields: Mapping[str, DocumentField], otherwise: str) -> str:
    """Return the name of a branch, or `otherwise` if it has none.

    Longer names are accepted and truncated, because older versions wrote whole histories into names.
    """
    name = fields["name"].read_text(_MAX_NAME) if "name" in fields else ""
    return name[:MAX_BRANCH_NAME_LENGTH] if name else otherwise


def _read_command_log(field: DocumentField, entries: Mapping[int, LogEntry]) -> list[LogEntry]:
    found: dict[int, LogEntry] = {}
    for part in field.items("ids of entries of the log"):
        number = part.value
        if type(number) is not int or number not in entries:
            part.report_expected_value("the id of an entry of the log")
        elif number in found:
            part.report_problem(f"expected each entry once, got {number} once more")
        else:
            found[number] = entries[number]
    return sorted(found.values(), key=lambda entry: entry.tick)


def _read_digests(part: DocumentField) -> tuple[tuple[str, ...], NumberedDigest | None, tuple[NumberedDigest, ...]]:
    fields = part.read_known_keys(("every", "values", "last", "agents"), "digests such as {every: 100, values: []}")
    values = [_read_digest(value) for value in fields["values"].items("digests")] if "values" in fields else []
    last = _read_numbered_digest(fields["last"], _TICK_PARAM, "a tick and a digest") if "last" in fields else None
    listed = fields["agents"].items("numbers of agents and their digests") if "agents" in fields else []
    agents = [_read_numbered_digest(pair, AGENT_PARAM, "the number of an agent and its digest") for pair in listed]
    if "every" in fields and fields["every"].value != DIGEST_EVERY:
        values = []  # ignore digests of a version with another DIGEST_EVERY, because they belong to other ticks
    return tuple(values), last, tuple(pair for pair in agents if pair is not None)


def _read_numbered_digest(part: DocumentField, number: Param, what: str) -> NumberedDigest | None:
    pair = part.items(what)
    if len(pair) == 2:
        return pair[0].read_integer(number) or 0, _read_digest(pair[1])
    if isinstance(part.value, list):
        part.report_expected_value(what)
    return None


def _read_digest(part: DocumentField) -> str:
    if not isinstance(part.value, str) or len(part.value) != 16:
        part.report_expected_value("a digest of 16 hexadecimal digits in quotes")
        return ""
    return part.value
