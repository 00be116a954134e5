"""Read and write session files: a scenario and everything that the user did with it, as one small YAML file.

    saved = describe(scenario, tree)            collect the data of the session
    save_session(saved, path)                   write the file atomically
    saved = load_session(path, specs)           read a session; a ConfigError lists all problems
    tree = saved.plant(specs)                   create the branches, each seeking to its tick
    saved.warnings                              warnings about a session that can be opened

A session file has the keys of a scenario and the following keys:

    map_sha256: ...                             hash of the terrain of the map file, to detect later changes
    original: {cells: ..., letters: ...}        cells of tick 0 that differ from the opened map, with its letters
    log: [{id: 4, tick: 50, block: [[3, 4]]}, ...]     commands of the user, see log.py
    branches:
      - {number: 0, name: run, parent: null, at: 0, tick: 120, horizon: 300, log: [1, 2, 4],
         digests: {every: 100, values: [...], last: [120, ...], agents: [[0, ...]]}}
    linked: [[0, 1]]                            groups of branches that get the same commands
    branch: 0                                   the focused branch
    view: {branches: [0, 1], focus: 2, panels: [[0, 2], [0, 1]]}
                                                branches on screen, focused agent, order of the panels

The `log` of a branch lists entry ids. Ids from 1 to the number of the scenario's `edits` refer to these edits, sorted
by tick; the ids of the session's `log` follow. The run itself is not stored but simulated again. If its digests differ
from the stored ones, the timeline reports the first such tick in `diverged`.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentSpec
from sim.commands import AGENT, LAST_TICK, AddAgent, Command
from sim.files.cells import runs_data
from sim.files.disk import read_file
from sim.files.fields import Field, Problems, require
from sim.files.kinds import SESSION, check_kind
from sim.files.log import LogReader, entry_data
from sim.files.map_source import open_places
from sim.files.old_strokes import with_strokes
from sim.files.scenario import FORMAT as SCENARIO_FORMAT
from sim.files.scenario import KEYS as SCENARIO_KEYS
from sim.files.scenario import SUFFIX, Scenario, ScenarioReader, build_world, moved_to, scenario_data, write_document
from sim.files.yaml import MAX_BYTES, Inline, InlineMap, read_yaml, write_yaml
from sim.grid import MAX_SIDE, Grid
from sim.params import ConfigError, Param, did_you_mean, shown, unknown_agent
from sim.time.branches import MAX_BRANCH_NAME, MAX_BRANCHES, ROOT, BranchState, BranchTree
from sim.time.history import DIGEST_EVERY
from sim.time.log import Entry
from sim.world import World

FORMAT = SESSION.format

KEYS = (*SCENARIO_KEYS, "map_sha256", "original", "log", "branches", "linked", "branch")

SHOWN_KEY = "branches"
"""Key in the view (settings of the window): numbers of the branches on screen."""

FOCUS_KEY = "focus"
"""Key in the view: number of the focused agent."""

ORDER_KEY = "panels"
"""Key in the view: panels in their order, each as the numbers of its branch and its agent."""

NUMBER = Param("number", int, 0, "number of the branch", 0, (1 << 31) - 1)
_MAX_NAME = 10_000  # maximum length of a branch name in a file; longer than MAX_BRANCH_NAME, the name is truncated
_TICK = Param("tick", int, 0, "a tick", 0, LAST_TICK)

Letters = tuple[tuple[int, ...], str]
Digest = tuple[int, str]


@dataclass(frozen=True)
class SavedBranch:
    """State of a branch, with digests to check that simulating it again gives the same run."""

    state: BranchState
    digests: tuple[str, ...] = ()  # digests of the world at ticks 0, DIGEST_EVERY, ..., before each tick's commands
    last: Digest | None = None  # (tick that was on screen, digest of the world after the commands of this tick)
    agents: tuple[tuple[int, str], ...] = ()  # (agent number, digest of the agent) at the tick of `last`


@dataclass(frozen=True)
class Saved:
    """Session (scenario, branches, links between branches, view) as plain values."""

    scenario: Scenario
    branches: tuple[SavedBranch, ...]
    linked: tuple[tuple[int, ...], ...] = ()  # groups of branch numbers; all branches of a group get the same commands
    branch: int = ROOT  # number of the focused branch
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def shown(self) -> tuple[int, ...]:
        """Return the numbers of the branches that were on screen, in their order on screen.

        Invalid entries are ignored here, because reading a file does not check its view, which belongs to the window.
        """
        listed = self.scenario.view.get(SHOWN_KEY)
        there = {branch.state.number for branch in self.branches}
        sound = [n for n in listed if type(n) is int and n in there] if isinstance(listed, list) else []
        return tuple(dict.fromkeys(sound))

    @property
    def order(self) -> tuple[tuple[int, int], ...]:
        """Return (branch number, agent number) of each panel, in the order on screen."""
        there = {branch.state.number for branch in self.branches}
        return tuple(pair for pair in panels_in(self.scenario.view) if pair[0] in there)

    @property
    def focus(self) -> int:
        """Return the number of the agent that had the focus; 0 if the view does not name one."""
        agent: Any = self.scenario.view.get(FOCUS_KEY)
        return int(agent) if _is_number(agent) else 0

    def setup(self, specs: Mapping[str, AgentSpec], **world_options: Any) -> Callable[[], World]:
        """Return a function that builds the world of the session at tick 0."""
        return lambda: build_world(self.scenario, specs, **world_options)

    def plant(
        self, specs: Mapping[str, AgentSpec], setup: Callable[[], World] | None = None, **options: Any
    ) -> BranchTree:
        """Create the tree of branches, each seeking to the tick that was shown.

        Args:
            specs: known agents by key.
            setup: function that builds the world of tick 0; None: `self.setup(specs, **options)`.
            options: options of the World.
        """
        states = [saved.state for saved in self.branches]
        tree = BranchTree.restored(setup or self.setup(specs, **options), states)
        for saved in self.branches:
            tree[saved.state.number].timeline.expect(saved.digests, saved.last, dict(saved.agents))
            if self.warnings:  # if the map file has changed, this is not the saved run, even if the digests are equal
                tree[saved.state.number].timeline.report_divergence(0)
        for group in self.linked:
            tree.link(group)
        return tree


def panels_in(view: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """Return (branch number, agent number) of each panel, in the order given by the view of a session."""
    listed = view.get(ORDER_KEY)
    pairs = [pair for pair in listed if isinstance(pair, list)] if isinstance(listed, list) else []
    return tuple(dict.fromkeys((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and all(map(_is_number, pair))))


def _is_number(value: Any) -> bool:
    """Return whether a value is a possible number of an agent."""
    return type(value) is int and 0 <= value <= int(AGENT.high or 0)


def describe(scenario: Scenario, tree: BranchTree, branch: int = ROOT) -> Saved:
    """Return the present session as plain values, to be saved.

    Args:
        scenario: scenario from which the worlds of the tree were built.
        tree: all branches.
        branch: number of the focused branch.
    """
    branches = tuple(_branch_state(tree, number) for number in tree.branches)
    return Saved(scenario, branches, tuple(map(tuple, tree.groups())), branch)


def _branch_state(tree: BranchTree, number: int) -> SavedBranch:
    digests, last, agents = tree[number].timeline.expectations()
    return SavedBranch(tree.state(number), digests, last, tuple(agents.items()))


def redrawn_cells(grid: Grid) -> Letters:
    """Return the cells that differ between the opened map and the map at tick 0, with their letters when opened."""
    terrain, before = grid.terrain.reshape(-1), grid.original.reshape(-1)
    cells = np.flatnonzero(terrain != before)
    return tuple(cells.tolist()), bytes(before[cells].tolist()).decode("ascii")


def with_original(scenario: Scenario, letters: Letters) -> Scenario:
    """Return a copy of a scenario with some cells and letters changed in the map as opened (`Grid.original`)."""
    grid = scenario.grid.copy()
    grid.change_original(list(letters[0]), np.frombuffer(letters[1].encode("ascii"), np.uint8))
    return replace(scenario, grid=grid)


# --- writing --------------------------------------------------------------------------------------


def save_session(saved: Saved, path: str | os.PathLike[str]) -> None:
    """Write a session file atomically."""
    write_document(session_data(_relative_to_folder(saved, Path(path).parent)), path)


def text_for(saved: Saved, folder: Path) -> str:
    """Return the text of a session file in this folder.

    The path of its map is relative to the folder; a map that a file there may not name is written into the text.
    """
    return dump_session(_relative_to_folder(saved, folder))


def _relative_to_folder(saved: Saved, folder: Path) -> Saved:
    return replace(saved, scenario=moved_to(saved.scenario, Path(os.path.realpath(folder))))


def dump_session(saved: Saved) -> str:
    """Return the session as YAML text; reading that text gives an equal session."""
    return write_yaml(session_data(saved))


def session_data(saved: Saved) -> dict[str, Any]:
    """Return the session as plain data: the keys of its scenario, then the keys of a session."""
    grid = saved.scenario.grid
    pool = _EntryPool(saved.scenario)
    lists = [pool.numbers(branch.state.entries) for branch in saved.branches]
    data = scenario_data(saved.scenario) | {"format": FORMAT, "map_sha256": terrain_hash(grid.terrain)}
    cells, letters = redrawn_cells(grid)
    if cells:
        data["original"] = InlineMap(cells=runs_data(cells, grid.width), letters=letters)
    data["log"] = [entry_data(entry, grid.width) for entry in pool.log]
    data["branches"] = [_branch_data(branch, log) for branch, log in zip(saved.branches, lists, strict=True)]
    if saved.linked:
        data["linked"] = Inline(Inline(group) for group in saved.linked)
    data["branch"] = saved.branch
    return data


def _branch_data(saved: SavedBranch, log: list[int]) -> dict[str, Any]:
    state = saved.state
    data: dict[str, Any] = {"number": state.number, "name": state.name, "parent": state.parent, "at": state.at}
    data |= {"tick": state.tick, "horizon": state.horizon, "log": Inline(log)}
    data["digests"] = {"every": DIGEST_EVERY, "values": Inline(saved.digests)}
    if saved.last:
        data["digests"]["last"] = Inline(saved.last)
    if saved.agents:
        data["digests"]["agents"] = Inline(Inline(pair) for pair in saved.agents)
    return data


class _EntryPool:
    """Distinct log entries of all branches, with their ids in the file, which count from 1."""

    def __init__(self, scenario: Scenario) -> None:
        self.scripted = [(edit.tick, edit.command) for edit in sorted(scenario.edits, key=lambda edit: edit.tick)]
        self.log: list[Entry] = []
        self._places: dict[int, int] = {}  # id() of an entry -> id of the entry in the file
        self._stroke_ids: dict[int, int] = {}  # number of a stroke -> id in the file of the stroke's first entry

    def numbers(self, entries: Iterable[Entry]) -> list[int]:
        return [self._number(entry) for entry in entries]

    def _number(self, entry: Entry) -> int:
        if id(entry) not in self._places:
            self._places[id(entry)] = self._place(entry)
        return self._places[id(entry)]

    def _place(self, entry: Entry) -> int:
        """Return the id of an entry in the file; add the entry to the log unless it is an edit of the scenario."""
        index = entry.id - 1  # index of a scripted entry in `scripted`, because a timeline numbers these entries first
        if entry.is_scripted and entry.is_enabled and index < len(self.scripted):
            tick, command = self.scripted[index]
            if entry.tick == tick and _is_same_command(entry.command, command):
                return entry.id
        number = len(self.scripted) + len(self.log) + 1
        stroke = self._stroke_ids.setdefault(entry.stroke, number) if entry.stroke else 0
        self.log.append(replace(entry, id=number, stroke=stroke))
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
) -> Saved:
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


def with_known_agents(saved: Saved, specs: Mapping[str, AgentSpec], name: str) -> Saved:
    """Return a session unchanged; raise a ConfigError if one of its agents is unknown.

    A log may name unknown agents, but leaving them out would silently change the run.
    """
    entries = (entry for branch in saved.branches for entry in branch.state.entries if entry.is_enabled)
    joining = (entry.command.config.kind for entry in entries if isinstance(entry.command, AddAgent))
    unknown = dict.fromkeys(kind for kind in joining if kind not in specs)
    if unknown:
        raise ConfigError([f"{name}: no agent {shown(kind)}{unknown_agent(kind, specs)}" for kind in unknown])
    return saved


def is_session(data: bytes) -> bool:
    """Return whether a file that begins with these bytes declares the format of a session."""
    return any(line.rstrip() == f"format: {FORMAT}".encode() for line in data[:4096].splitlines())


def parse_session(
    data: bytes | str,
    name: str,
    specs: Mapping[str, AgentSpec],
    folder: str | os.PathLike[str] | None = None,
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
) -> Saved:
    """Parse the text of a session file; `folder` is the folder of the file, see load_session() for the rest."""
    problems = Problems(read_yaml(data, name))
    check_kind(problems.document, SESSION)
    root = Field(problems, (), problems.document.data)
    fields = root.keys(KEYS, f"a session, which begins with 'format: {FORMAT}'")
    _check_format(root, fields)
    scenario = _read_scenario(root, fields, specs, open_places(folder, allowed_folders))
    saved = _SessionReader(root, fields, scenario).read()
    problems.raise_any()
    assert saved is not None, root.value
    return with_known_agents(saved, specs, name)


def _check_format(root: Field, fields: Mapping[str, Field]) -> None:
    named = require(fields, "format", root, f"'{FORMAT}'")
    if named and named.value != FORMAT:
        near = did_you_mean(named.value, [FORMAT]) if isinstance(named.value, str) else ""
        named.complain(f"expected '{FORMAT}', got {shown(named.value)}{near}")


def _read_scenario(
    root: Field, fields: Mapping[str, Field], specs: Mapping[str, AgentSpec], places: Any
) -> Scenario | None:
    part = {key: field.value for key, field in fields.items() if key in SCENARIO_KEYS}
    described = Field(root.problems, (), part | {"format": SCENARIO_FORMAT})
    return ScenarioReader(described, specs, places, is_saved=True).read()


class _SessionReader:
    """Reader of the keys that a session adds to its scenario."""

    def __init__(self, root: Field, fields: Mapping[str, Field], scenario: Scenario | None) -> None:
        """Create a reader; if `scenario` is None because it is invalid, checks that depend on it are skipped."""
        self.root, self.fields, self.scenario = root, fields, scenario
        grid = scenario.grid if scenario else None
        self.log_reader = LogReader(grid.width, grid.height) if grid else LogReader(MAX_SIDE, MAX_SIDE)
        self.hash = terrain_hash(grid.terrain) if grid else ""

    def read(self) -> Saved | None:
        entries = self._entries()
        branches = self._read_branches(entries)
        numbers = [branch.state.number for branch in branches]
        for number in sorted({number for number in numbers if numbers.count(number) > 1}):
            self.fields["branches"].complain(f"expected different numbers, got {number} more than once")
        original = self.log_reader.letters(self.fields["original"]) if "original" in self.fields else ((), "")
        linked = self._read_linked(numbers)
        branch = self.fields["branch"].integer(NUMBER) if "branch" in self.fields else None
        if original is None or not branches or self.scenario is None:
            return None
        front = branch if branch in numbers else numbers[0]
        scenario = with_original(self.scenario, original) if original[0] else self.scenario
        return Saved(scenario, tuple(branches), linked, front, self._warnings())

    def _warnings(self) -> tuple[str, ...]:
        part = self.fields.get("map_sha256")
        if part is None or part.value == self.hash:
            return ()
        return (f"{self.root.problems.document.name}: the map has changed since it was saved, so the run will differ",)

    def _entries(self) -> dict[int, Entry]:
        """Return all log entries by id: first the edits of the scenario, then the commands of the user."""
        edits = sorted(self.scenario.edits if self.scenario else (), key=lambda edit: edit.tick)
        entries = {i: Entry(i, edit.tick, edit.command, True) for i, edit in enumerate(edits, start=1)}
        listed = self.fields.get("log")
        for part in listed.items("a list of entries") if listed else ():
            entry = self.log_reader.entry(part)
            if entry is not None and entry.id in entries:
                part.complain(f"expected different ids, got {entry.id} once more")
            elif entry is not None:
                entries[entry.id] = entry
        return entries

    def _read_branches(self, entries: Mapping[int, Entry]) -> list[SavedBranch]:
        entry = require(self.fields, "branches", self.root, "a list of branches")
        parts = entry.items("a list of branches") if entry else []
        if entry and not 1 <= len(parts) <= MAX_BRANCHES:
            entry.complain(f"expected 1 to {MAX_BRANCHES:,} branches, got {len(parts):,}")
            return []
        read = [_read_branch(part, entries if self.scenario else None) for part in parts]
        found = [branch for branch in read if branch is not None]
        logs = with_strokes([branch.state.entries for branch in found], self.log_reader.width)
        return [replace(b, state=replace(b.state, entries=log)) for b, log in zip(found, logs, strict=True)]

    def _read_linked(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        entry = self.fields.get("linked")
        groups = []
        for part in entry.items("lists of branches that are linked") if entry else ():
            members = [member.integer(NUMBER) for member in part.items("numbers of branches")]
            groups.append(tuple(number for number in members if number in numbers and number is not None))
        return tuple(group for group in groups if len(group) > 1)


_BRANCH_KEYS = ("number", "name", "parent", "at", "tick", "horizon", "log", "digests")


def _read_branch(part: Field, entries: Mapping[int, Entry] | None) -> SavedBranch | None:
    fields = part.keys(_BRANCH_KEYS, "a branch such as {number: 0, name: run, at: 0, tick: 120, log: []}")
    before = len(part.problems.found)
    number_field, log_field = require(fields, "number", part, "its number"), require(fields, "log", part, "its log")
    number = number_field.integer(NUMBER) if number_field else None
    log = _read_log(log_field, entries) if log_field and entries is not None else []
    name = read_branch_name(fields, f"branch {number}")
    has_parent = "parent" in fields and fields["parent"].value is not None
    parent = fields["parent"].integer(NUMBER) if has_parent else None
    at, tick, horizon = (fields[key].integer(_TICK) if key in fields else 0 for key in ("at", "tick", "horizon"))
    digests, last, agents = _read_digests(fields["digests"]) if "digests" in fields else ((), None, ())
    if len(part.problems.found) > before or number is None:
        return None
    at, tick, horizon = at or 0, tick or 0, horizon or 0
    state = BranchState(number, name, parent, at, tick, max(tick, horizon), tuple(log))
    return SavedBranch(state, digests, last, agents)


def read_branch_name(fields: Mapping[str, Field], otherwise: str) -> str:
    """Return the name of a branch, or `otherwise` if it has none.

    Longer names are accepted and truncated, because older versions wrote whole histories into names.
    """
    name = fields["name"].text(_MAX_NAME) if "name" in fields else ""
    return name[:MAX_BRANCH_NAME] if name else otherwise


def _read_log(field: Field, entries: Mapping[int, Entry]) -> list[Entry]:
    found: dict[int, Entry] = {}
    for part in field.items("ids of entries of the log"):
        number = part.value
        if type(number) is not int or number not in entries:
            part.expect("the id of an entry of the log")
        elif number in found:
            part.complain(f"expected each entry once, got {number} once more")
        else:
            found[number] = entries[number]
    return sorted(found.values(), key=lambda entry: entry.tick)


def _read_digests(part: Field) -> tuple[tuple[str, ...], Digest | None, tuple[Digest, ...]]:
    fields = part.keys(("every", "values", "last", "agents"), "digests such as {every: 100, values: []}")
    values = [_read_digest(value) for value in fields["values"].items("digests")] if "values" in fields else []
    last = _read_pair(fields["last"], _TICK, "a tick and a digest") if "last" in fields else None
    listed = fields["agents"].items("numbers of agents and their digests") if "agents" in fields else []
    agents = [_read_pair(pair, AGENT, "the number of an agent and its digest") for pair in listed]
    if "every" in fields and fields["every"].value != DIGEST_EVERY:
        values = []  # ignore digests of a version with another DIGEST_EVERY, because they belong to other ticks
    return tuple(values), last, tuple(pair for pair in agents if pair is not None)


def _read_pair(part: Field, number: Param, what: str) -> Digest | None:
    pair = part.items(what)
    if len(pair) == 2:
        return pair[0].integer(number) or 0, _read_digest(pair[1])
    if isinstance(part.value, list):
        part.expect(what)
    return None


def _read_digest(part: Field) -> str:
    if not isinstance(part.value, str) or len(part.value) != 16:
        part.expect("a digest of 16 hexadecimal digits in quotes")
        return ""
    return part.value
