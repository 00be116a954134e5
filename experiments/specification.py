"""Read specifications of experiments: YAML files that list agents, problems and the conditions of the runs.

    format: backmove-experiment
    version: 1
    problems: {scen: [maps/*.scen], sample: 120, seed: 1, optimal: [60, 400]}
    agents: ["tb-wa:weight=1", {kind: tb-wa, weight: [1.4, 3]}, lrta]
    budgets: [1, 16]

A file is checked as a whole: maps are opened and problems drawn, and a single ConfigError lists all mistakes, one per
line. An experiment of several parts lists under `parts` the keys whose values differ between the parts. Every
experiment has two sizes, full and small: `small_size_fields` lists the keys whose values differ in the small size.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.claims import PaperClaim, read_claims
from experiments.columns import DERIVED_COLUMNS, MEASURED_COLUMNS, NUMERIC_COLUMNS, PLANNED_COLUMNS, TEXT_COLUMNS
from experiments.problems import PROBLEM_KEYS as PROBLEM_KEYS
from experiments.problems import SEED_PARAM, ProblemFiles, ProblemInstance, read_problems
from experiments.reference_check import check_specification_references
from experiments.report_layout import CUTOFF_PARAM, FigureSpec, TableSpec, read_figures, read_tables
from files.agent_text import parse_agent_text
from files.disk import read_file
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.file_kinds import EXPERIMENT, check_file_kind
from files.scenario import MAX_TITLE
from files.yaml import read_yaml
from sim.agent_api import AgentSpec
from sim.changes import CHANGE_INTERVAL_PARAM, CHANGE_RATE_PARAM, RandomChangeSchedule
from sim.params import (
    ConfigError,
    Param,
    Value,
    did_you_mean_hint,
    escape_unprintable,
    parse_params,
    unknown_agent_hint,
    value_as_in_files,
)
from sim.world_commands import BUDGET_PARAM, MAX_NAME_LENGTH, TRIALS_PARAM

FORMAT, VERSION = EXPERIMENT.format, 1
MAX_BYTES = 1 << 20
MAX_RUNS = 10_000_000
SIZES = ("full", "small")

SLICE_PARAM = Param("slice", int, 100, "maximum number of problems per task", 1, 100_000)
MOVES_PARAM = Param("moves", int, 10_000_000, "maximum number of moves of an agent", 1, 1_000_000_000_000)
TICKS_PARAM = Param("ticks", int, 100_000_000, "maximum number of ticks of a world", 1, 1_000_000_000)
# default of `ticks` for randomly changing maps: lower than usual, because an enclosed agent waits until then
DEFAULT_TICKS_WITH_CHANGES = 100_000
FLAG_PARAM = Param("flag", bool, True, "yes or no")

PART_KEYS = (
    "problems",
    "agents",
    "budgets",
    "changes",
    "trials",
    "seeds",
    "moves",
    "ticks",
    "measures",
    "together",
)
SPECIFICATION_KEYS = (
    "format",
    "version",
    "title",
    "paper",
    "note",
    *PART_KEYS,
    "slice",
    "cutoff",
    "parts",
    "small",
    "claims",
    "tables",
    "figures",
)
_PARTS_EXAMPLE = "parts by name, such as {rooms: {problems: ...}, games: {problems: ...}}"
_AGENTS_EXAMPLE = "a list of agents such as ['tb-wa:weight=1', {kind: tb-wa, weight: [1.4, 3]}, lrta]"


@dataclass(frozen=True)
class AgentSetting:
    """Agent with values for all of its parameters, and its budget in expansions per tick."""

    kind: str  # key of the agent, such as tb-wa
    params: Mapping[str, Value]  # value of every parameter of the agent, by name
    budget: int  # expansions per tick
    label: str = ""  # displayed name from the specification; empty: the name of the agent is displayed


@dataclass(frozen=True)
class ExperimentPart:
    """Part of an experiment: its problems, the settings that run on each of them, and the conditions of the runs."""

    name: str  # name from `parts`; empty if the specification has no `parts`
    cases: tuple[ProblemInstance, ...]  # problems that every setting solves
    settings: tuple[AgentSetting, ...]  # agents with their parameters and budgets
    changes: tuple[RandomChangeSchedule | None, ...] = (
        None,
    )  # random changes of the map to run with; None: no changes
    seeds: tuple[int, ...] = (0,)  # seeds of random changes and of randomised agents; every setting runs with each seed
    max_trials: int = 1  # maximum number of walks from start to goal per run
    moves: int = int(MOVES_PARAM.default)  # maximum number of moves of an agent per run
    ticks: int = int(TICKS_PARAM.default)  # maximum number of ticks of a world
    # Whether non-optimal moves are counted, which takes a search for true distances in each run.
    counts_nonoptimal_moves: bool = True
    is_one_world: bool = False  # whether all settings run in one world per problem, and so see the same random changes

    @property
    def run_count(self) -> int:
        """Return the number of runs of this part: problems x settings x random changes x seeds."""
        return len(self.cases) * len(self.settings) * len(self.changes) * len(self.seeds)


@dataclass(frozen=True)
class ExperimentSpecification:
    """Experiment as its file describes it, in one of its two sizes."""

    name: str  # name of the specification file without folder and extension
    text: str  # content of the specification file
    parts: tuple[ExperimentPart, ...]
    title: str = ""
    paper: str = ""  # reference to the paper that the experiment repeats
    note: str = ""  # introduction of the report
    size: str = "full"  # one of SIZES
    max_task_problems: int = int(SLICE_PARAM.default)  # maximum number of problems per task
    cutoff: int = 0  # expansions per tick above which a run is disqualified; 0: no cut-off
    claims: tuple[PaperClaim, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    # messages about problems that cannot be run, or about parts of the report that this version cannot show
    omission_messages: tuple[str, ...] = ()
    folder: str = ""  # folder in which map files are searched first

    @property
    def run_count(self) -> int:
        """Return the number of runs of all parts."""
        return sum(part.run_count for part in self.parts)


def load_experiment(
    path: str | os.PathLike[str], specs: Mapping[str, AgentSpec], size: str = "full", maps: Iterable[Path] = ()
) -> ExperimentSpecification:
    """Read a specification from a file.

    Args:
        path: The specification file.
        specs: All agents by their keys.
        size: One of SIZES.
        maps: Folders in which map files are searched, after the folder of the specification.

    Raises:
        ConfigError: The file cannot be read or has mistakes; lists all of them.
    """
    data = read_file(path, MAX_BYTES, ".yaml")
    return parse_experiment(data, str(path), specs, size, (Path(path).parent, *maps))


def parse_experiment(
    data: bytes | str, name: str, specs: Mapping[str, AgentSpec], size: str = "full", folders: Sequence[Path] = ()
) -> ExperimentSpecification:
    """Parse the text of a specification. Both sizes are checked, and the requested one is returned.

    Args:
        data: The text of the specification.
        name: The name of the specification file, for messages.
        specs: All agents by their keys.
        size: One of SIZES.
        folders: The folders in which map files are searched, in this order.

    Raises:
        ConfigError: The text has mistakes; lists all of them.
    """
    document = read_yaml(data, name)
    check_file_kind(document, EXPERIMENT)
    problem_files = ProblemFiles(tuple(folders))
    read: dict[str, ExperimentSpecification] = {}
    mistakes: list[tuple[int, str]] = []
    for size_name in SIZES:
        problems = DocumentProblems(document)
        read[size_name] = _SpecificationReader(
            DocumentField(problems, (), document.data), specs, problem_files, size_name
        ).read_specification(_decoded_text(data))
        mistakes += problems.found
    if mistakes:  # most mistakes occur in both the full and the small size, so duplicates are removed
        raise ConfigError(text for _, text in sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake[0]))
    found = read[size]
    if found.run_count > MAX_RUNS:
        raise ConfigError(f"{name}: expected at most {MAX_RUNS:,} runs, got {found.run_count:,}")
    return found


def parse_report_content(text: str, name: str) -> ExperimentSpecification:
    """Parse only the content of the report from a specification: titles, claims, tables and figures.

    Parts are not read, so the files of maps need not exist. Claims, tables and figures that this version of the program
    does not accept are dropped; `omission_messages` of the result lists the reasons.
    """
    problems = DocumentProblems(read_yaml(text, name))
    root = DocumentField(problems, (), problems.document.data)
    found = _SpecificationReader(root, {}, ProblemFiles(()), "full").read_specification(text, has_parts=False)
    return replace(found, omission_messages=tuple(problems.sorted_messages()))


def _decoded_text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8-sig", "replace")


class _SpecificationReader:
    """Reader of a specification in one size; after a mistake, the reader continues, to report all mistakes at once."""

    def __init__(
        self, root: DocumentField, specs: Mapping[str, AgentSpec], problem_files: ProblemFiles, size: str
    ) -> None:
        self.root, self.specs, self.problem_files, self.size = root, specs, problem_files, size
        self.name = escape_unprintable(Path(root.problems.document.name).stem)
        self.fields = root.read_known_keys(SPECIFICATION_KEYS, f"an experiment, which begins with 'format: {FORMAT}'")
        self.omission_messages: list[str] = []
        self._check_format()
        self.small_size_fields = self._read_small_fields()
        # path of a `problems` mapping of the small size in the document -> its keys that no part has used so far
        self._unused_small_keys: dict[tuple[str | int, ...], dict[str, DocumentField]] = {}

    def read_specification(self, text: str, has_parts: bool = True) -> ExperimentSpecification:
        """Return the specification that the document describes.

        Args:
            text: The text of the document, stored in the result.
            has_parts: Whether the parts of the experiment are read; a report does not need them.
        """
        parts = tuple(self._read_experiment_parts()) if has_parts else ()
        if has_parts and self.size == "small":
            self._check_small_size()
        if self.size == "full" and parts:
            self._check_names_in_report(parts)
        return ExperimentSpecification(
            self.name,
            text,
            parts,
            self._read_text("title", MAX_TITLE),
            self._read_text("paper", 300),
            self._read_text("note", 10_000),
            self.size,
            self._read_integer("slice", SLICE_PARAM),
            self._read_integer("cutoff", CUTOFF_PARAM),
            read_claims(self.fields["claims"]) if "claims" in self.fields else (),
            read_tables(self.fields["tables"]) if "tables" in self.fields else (),
            read_figures(self.fields["figures"]) if "figures" in self.fields else (),
            tuple(dict.fromkeys(self.omission_messages)),
            escape_unprintable(str(self.problem_files.search_folders[0].resolve()))
            if self.problem_files.search_folders
            else "",
        )

    def _check_names_in_report(self, parts: Sequence[ExperimentPart]) -> None:
        """Report attributes, agents, labels and parts that claims, tables or figures name but no run has.

        Nothing is checked if the parts have mistakes, because their runs are then unknown.
        """
        settings = [setting for part in parts for setting in part.settings]
        if self.root.problems.found or not settings:
            return
        params = dict.fromkeys(name for setting in settings for name in setting.params)
        numbers = NUMERIC_COLUMNS | {
            name for name in params if name not in TEXT_COLUMNS and _is_param_numeric(name, settings)
        }
        attributes = dict.fromkeys(
            [*(column.name for column in (*PLANNED_COLUMNS, *MEASURED_COLUMNS)), *DERIVED_COLUMNS, *params]
        )
        values = {
            "agent": {setting.kind for setting in settings},
            "label": {setting.label for setting in settings},
            "part": {part.name for part in parts},
        }
        for key in ("claims", "tables", "figures"):
            if key in self.fields:
                check_specification_references(self.fields[key], attributes, values, numbers)

    def _check_format(self) -> None:
        named = require_field(self.fields, "format", self.root, f"'{FORMAT}'")
        if named and named.value != FORMAT:
            hint = did_you_mean_hint(named.value, [FORMAT]) if isinstance(named.value, str) else ""
            named.report_problem(f"expected '{FORMAT}', got {value_as_in_files(named.value)}{hint}")
        version = require_field(self.fields, "version", self.root, str(VERSION))
        if version and (version.value != VERSION or isinstance(version.value, bool)):
            version.report_expected_value(f"{VERSION}, the only version so far")

    def _read_text(self, key: str, longest: int) -> str:
        return (self.fields[key].read_text(longest, lines=True) or "").strip() if key in self.fields else ""

    def _read_integer(self, key: str, param: Param) -> int:
        return _read_integer_field(self.fields, key, param)

    # --- parts and sizes ---

    def _read_small_fields(self) -> dict[str, DocumentField]:
        entry = self.fields.get("small")
        return (
            entry.read_known_keys((*PART_KEYS, "parts"), "keys whose values differ in the small size") if entry else {}
        )

    def _read_experiment_parts(self) -> Iterator[ExperimentPart]:
        shared = {key: part for key, part in self.fields.items() if key in PART_KEYS}
        entry = self.fields.get("parts")
        if entry is None:
            yield self._read_part("", self.root, shared)
            return
        named = entry.read_mapping(_PARTS_EXAMPLE)
        if entry.value == {}:
            entry.report_expected_value(_PARTS_EXAMPLE)
        for name, part in named.items():
            DocumentField(part.problems, part.path, name).read_text(MAX_NAME_LENGTH)
            own = part.read_known_keys(PART_KEYS, "the keys of this part")
            yield self._read_part(name, part, shared | own)

    def _read_part(self, name: str, owner: DocumentField, fields: dict[str, DocumentField]) -> ExperimentPart:
        if self.size == "small":
            fields = self._with_small_size_values(name, fields)
        budgets = self._read_integers(fields, "budgets", BUDGET_PARAM)
        problems = _required_field(fields, "problems", owner, "problems such as {scen: [maps/*.scen]}")
        agents = _required_field(fields, "agents", owner, _AGENTS_EXAMPLE)
        changes = _read_random_changes(fields["changes"]) if "changes" in fields else (None,)
        ticks = TICKS_PARAM if changes == (None,) else _param_with_default(TICKS_PARAM, DEFAULT_TICKS_WITH_CHANGES)
        return ExperimentPart(
            name,
            tuple(read_problems(problems, self.problem_files, self.omission_messages)) if problems else (),
            tuple(self._read_settings(agents, budgets)) if agents else (),
            changes,
            tuple(self._read_integers(fields, "seeds", SEED_PARAM)),
            _read_integer_field(fields, "trials", TRIALS_PARAM),
            _read_integer_field(fields, "moves", MOVES_PARAM),
            _read_integer_field(fields, "ticks", ticks),
            _read_boolean(fields, "measures", True),
            _read_boolean(fields, "together", False),
        )

    def _with_small_size_values(self, name: str, fields: dict[str, DocumentField]) -> dict[str, DocumentField]:
        """Return the fields of a part in the small size, with values from `small_size_fields` where it has them.

        Within `problems`, only keys that the full size also has are replaced.
        """
        smaller = {key: part for key, part in self.small_size_fields.items() if key in PART_KEYS}
        if "parts" in self.small_size_fields:
            parts = self.small_size_fields["parts"].read_mapping("parts by name")
            if name in parts:
                smaller |= parts[name].read_known_keys(PART_KEYS, "keys whose values differ in this part")
        found = {**fields, **smaller}
        if "problems" in smaller and "problems" in fields:
            found["problems"] = _overlaid_mapping(fields["problems"], smaller["problems"])
            self._mark_used_small_keys(fields["problems"], smaller["problems"])
        return found

    def _mark_used_small_keys(self, entry: DocumentField, other: DocumentField) -> None:
        """Mark the keys of the small `problems` that replace a key of the full size as used, so none is reported."""
        keys = (
            other.read_known_keys(PROBLEM_KEYS, "keys of the problems whose values differ")
            if other.path not in self._unused_small_keys
            else {}
        )
        spare = self._unused_small_keys.setdefault(other.path, keys)
        for key in [key for key in spare if entry.is_mapping and key in entry.value]:
            del spare[key]

    def _check_small_size(self) -> None:
        """Report parts of `small_size_fields` and keys of its `problems` that the full size does not have."""
        parts = self.fields["parts"].value if "parts" in self.fields else {}
        below = self.small_size_fields["parts"].value if "parts" in self.small_size_fields else {}
        if isinstance(parts, dict) and isinstance(below, dict):
            for name in below.keys() - parts.keys():
                owner = self.small_size_fields["parts"]
                field = DocumentField(owner.problems, (*owner.path, name), name)
                field.report_problem(f"no such part{did_you_mean_hint(str(name), list(parts))}")
        for spare in self._unused_small_keys.values():
            for entry in spare.values():
                entry.report_problem("replaces nothing, because the problems of the full size have no such key")

    def _read_integers(self, fields: Mapping[str, DocumentField], key: str, param: Param) -> list[int]:
        """Return the whole numbers that a key lists, or a list with only the default of `param`."""
        if key not in fields:
            return [int(param.default)]
        return [int(value) for value in _read_valid_values(fields[key], param)] or [int(param.default)]

    # --- agents ---

    def _read_settings(self, entry: DocumentField, budgets: Sequence[int]) -> Iterator[AgentSetting]:
        for part in entry.items(_AGENTS_EXAMPLE):
            if isinstance(part.value, str):
                yield from self._settings_from_text(part, budgets)
            else:
                yield from self._settings_from_mapping(part, budgets)
        if entry.value == []:
            entry.report_expected_value("at least one agent")

    def _settings_from_text(self, part: DocumentField, budgets: Sequence[int]) -> Iterator[AgentSetting]:
        for budget in budgets:
            try:
                config = parse_agent_text(part.value, self.specs, budget, part.value)
            except ConfigError as error:
                for text in error.problems:
                    part.report_problem(text.removeprefix(f"{part.value}: "))
                return
            params = parse_params(self.specs[config.kind].params, config.params, "", [])
            yield AgentSetting(config.kind, params, config.budget or budget, config.label)
            if config.budget:
                return

    def _settings_from_mapping(self, part: DocumentField, shared: Sequence[int]) -> Iterator[AgentSetting]:
        fields = part.read_mapping("an agent such as {kind: tb-wa, weight: [1.4, 3]}")
        kind = require_field(fields, "kind", part, "the key of an agent") if fields else None
        spec = self.specs.get(kind.value) if kind and isinstance(kind.value, str) else None
        if kind and spec is None:
            kind.report_problem(f"no agent {value_as_in_files(kind.value)}{unknown_agent_hint(kind.value, self.specs)}")
        if spec is None:
            return
        budgets = self._read_integers(fields, "budgets", BUDGET_PARAM) if "budgets" in fields else list(shared)
        label = (fields["label"].read_text(MAX_NAME_LENGTH) or "") if "label" in fields else ""
        for values in self._param_combinations(spec, fields):
            params = parse_params(spec.params, values, "", [])
            for budget in budgets:
                if complaint := spec.check_budget(budget, params):
                    part.report_problem(complaint)
                    return
                yield AgentSetting(spec.key, params, budget, label)

    def _param_combinations(self, spec: AgentSpec, fields: Mapping[str, DocumentField]) -> list[dict[str, Value]]:
        """Return all combinations of the parameter values that an entry of `agents` lists."""
        axes: dict[str, list[Value]] = {}
        for key, entry in fields.items():
            if key in ("kind", "label", "budgets"):
                continue
            param = spec.param(key)
            if param is None:
                names = ["kind", "label", "budgets", *(p.name for p in spec.params)]
                entry.report_problem(f"{spec.key} has no such parameter{did_you_mean_hint(key, names)}")
            else:
                axes[key] = _read_valid_values(entry, param)
        return [dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*axes.values())]


# --- small helpers --------------------------------------------------------------------------------


def _is_param_numeric(name: str, settings: Iterable[AgentSetting]) -> bool:
    """Return whether a parameter is a number in all settings that have it."""
    values = [setting.params[name] for setting in settings if name in setting.params]
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _read_valid_values(entry: DocumentField, param: Param) -> list[Value]:
    """Return the valid values of a field without duplicates, and report invalid values as mistakes.

    The field contains one value or a list of values.
    """
    parts = entry.items("") if isinstance(entry.value, list) else [entry]
    if not parts:
        entry.report_expected_value("at least one value")
    values = [value for part in parts if (value := part.read_value(param)) is not None]
    return list(dict.fromkeys(values))


def _required_field(
    fields: Mapping[str, DocumentField], key: str, owner: DocumentField, what: str
) -> DocumentField | None:
    """Return the field of a required key; if the key is missing, report a mistake and return None."""
    if key not in fields:
        DocumentField(owner.problems, (*owner.path, key), None).report_problem(f"expected {what}, got nothing")
    return fields.get(key)


def _read_integer_field(fields: Mapping[str, DocumentField], key: str, param: Param) -> int:
    value = fields[key].read_integer(param) if key in fields else None
    return int(param.default) if value is None else value


def _read_boolean(fields: Mapping[str, DocumentField], key: str, default: bool) -> bool:
    """Return the truth value of a key; the default if the key is missing or invalid."""
    value = fields[key].read_value(FLAG_PARAM) if key in fields else None
    return default if value is None else bool(value)


def _param_with_default(param: Param, value: int) -> Param:
    """Return a copy of a parameter description with another default value."""
    return Param(param.name, param.kind, value, param.help, param.low, param.high)


def _read_random_changes(entry: DocumentField) -> tuple[RandomChangeSchedule | None, ...]:
    """Return all combinations of rate and interval of random changes, such as {every: 10, rate: [1, 5, 10]}."""
    parts = entry.read_known_keys(("every", "rate", "repeat"), "random changes such as {every: 10, rate: [1, 5]}")
    every = require_field(parts, "every", entry, "the ticks between changes") if parts else None
    rate = require_field(parts, "rate", entry, "the percentage of cells that change") if parts else None
    if every is None or rate is None:
        return (None,)
    pairs = itertools.product(
        _read_valid_values(rate, CHANGE_RATE_PARAM), _read_valid_values(every, CHANGE_INTERVAL_PARAM)
    )
    repeats = _read_boolean(parts, "repeat", True)
    return tuple(RandomChangeSchedule(int(ticks), float(percent), repeats) for percent, ticks in pairs)


def _overlaid_mapping(entry: DocumentField, other: DocumentField) -> DocumentField:
    """Return the mapping `entry`, with the values of the mapping `other` for all keys that both have.

    The result has the position of `entry`, so that messages name the line numbers of `entry`.
    """
    if not isinstance(entry.value, dict) or not isinstance(other.value, dict):
        return entry
    overriding: dict[str, Any] = {key: value for key, value in other.value.items() if key in entry.value}
    return DocumentField(entry.problems, entry.path, {**entry.value, **overriding})
