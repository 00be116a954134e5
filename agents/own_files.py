"""Agents from files of the user's: loaded when a person names one, never because another file does.

    spec = load(path)               run the file, and put its agent into the registry; a ConfigError says what is wrong
    spec = reload(spec.key)         the file was saved again: another version of the same agent
    is_trusted(path), trust(path)   whether a person has said that exactly this may run

The key of an agent is the name of its file without `.py`. Every state of the file that was run is a version of the
agent, by the first digits of its hash: a run that was computed with the old one stays what it was. A copy of each is
kept, so that a session opens with the code that it was saved with, if this user has run it before.
"""

import hashlib
import json
import os
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agents import output
from agents.guarded import VERSION, GuardedAgent, call, described, lines_of
from agents.own import OwnAgent
from agents.registry import BY_KEY, register
from sim.agent_api import Agent, AgentSpec, Problem
from sim.commands import AgentConfig
from sim.files.disk import read_file, write_atomically
from sim.files.folders import make_private, state_folder
from sim.params import ConfigError, Param, Value, in_python
from sim.rules import AgentFailedError

SUFFIX = ".py"
MAX_BYTES = 1_000_000
VARIABLE = "BACKMOVE_OWN_AGENTS"
"""Tells processes that this one starts which files, in which state, a person has named."""

_KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_DIGITS = 8
_IMPORT_PATIENCE_S = 30.0


@dataclass
class OwnFile:
    """A file that a person has named, and all of its versions that have been run."""

    key: str
    path: Path
    versions: dict[str, AgentSpec] = field(default_factory=dict)

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """Its versions, the present one last."""
        for version in self.versions:
            text = _kept(self.key, version)
            if text is None:
                text = read_file(self.path, MAX_BYTES, SUFFIX)
            if digest_of(text).startswith(version):
                yield version, text

    def spec_of(self, version: str) -> AgentSpec:
        """The agent of a version; one that is kept from an earlier start is run now."""
        if version not in self.versions:
            text = _kept(self.key, version)
            self.versions[version] = _made_of(self, text if text is not None else b"", version)
        return self.versions[version]


LOADED: dict[str, OwnFile] = {}


@dataclass(frozen=True)
class Maker:
    """Makes the agents of one version. Plain values: a world goes from process to process."""

    key: str
    version: str

    def __call__(self, problem: Problem, params: Mapping[str, Value]) -> Agent:
        spec = LOADED[self.key].spec_of(self.version)
        return spec.make(problem, {p.name: params.get(p.name, p.default) for p in spec.params})  # those it has itself


@dataclass(frozen=True)
class Versions:
    """By version, what makes its agents."""

    key: str

    def __call__(self, version: str) -> Maker:
        return Maker(self.key, version)


@dataclass(frozen=True)
class MakeGuarded:
    key: str

    def __call__(self, problem: Problem, params: Mapping[str, Value]) -> Agent:
        return GuardedAgent(LOADED[self.key].path, Versions(self.key), problem, params)


@dataclass(frozen=True)
class VersionParam(Param):
    """Which state of the file. One that this user has never run stands for the present one; digests tell."""

    key: str = ""

    def parse(self, value: object, where: str = "") -> Value:
        text = str(value)
        is_known = text in LOADED[self.key].versions or _kept(self.key, text) is not None
        return text if is_known else self.default


# --- loading --------------------------------------------------------------------------------------


def place_of(path: str | os.PathLike[str]) -> Path:
    """Where a file is, whatever the present folder is later."""
    return Path(os.path.abspath(path))


def key_of(path: Path) -> str:
    """What the agent of a file is called."""
    if path.suffix.lower() != SUFFIX or not _KEY.fullmatch(path.stem.lower()):
        raise ConfigError(
            f"{path}: expected a file such as my_agent.py (letters, digits, - and _), which names its agent"
        )
    key = path.stem.lower()
    if key in BY_KEY and not BY_KEY[key].is_own:
        raise ConfigError(f"{path}: '{key}' is an agent of Backmove's own; give the file another name")
    return key


def load(path: str | os.PathLike[str]) -> AgentSpec:
    """Run a file that a person has named, and put its agent into the registry."""
    place = place_of(path)
    key = key_of(place)
    file = OwnFile(key, place)
    before = LOADED.get(key)
    if before is not None and before.path == place:
        file = before
    spec = _take_in(file, read_file(place, MAX_BYTES, SUFFIX))
    LOADED[key] = file
    register(spec)
    _tell_children()
    return spec


def reload(key: str) -> AgentSpec:
    """The same file in its present state. Where that is wrong, a ConfigError, and the version before stays."""
    return load(LOADED[key].path)


def _take_in(file: OwnFile, text: bytes) -> AgentSpec:
    version = digest_of(text)[:_DIGITS]
    spec = file.versions[version] = _made_of(file, text, version)
    _keep(file.key, version, text)
    choices = tuple(file.versions)
    which = VersionParam(VERSION, str, version, "which state of the file", choices=choices, symbol="", key=file.key)
    return replace(spec, make=MakeGuarded(file.key), params=(*spec.params, which))


def _made_of(file: OwnFile, text: bytes, version: str) -> AgentSpec:
    """Run the text of a file; the agent that it declares."""
    module = types.ModuleType(f"backmove_own_{file.key.replace('-', '_')}_{version}")
    module.__file__ = str(file.path)
    sys.modules[module.__name__] = module  # where pickle looks for its classes
    output.keep_for_results()
    try:
        found = call(partial(_declared, module, text, file), file.path, _IMPORT_PATIENCE_S)
    except AgentFailedError as error:
        raise ConfigError(str(error)) from None
    if isinstance(found, ConfigError):
        raise found
    return found


def _declared(module: types.ModuleType, text: bytes, file: OwnFile) -> AgentSpec | ConfigError:
    """Run a file and return the agent that it declares, or what is wrong with that."""
    exec(compile(text, str(file.path), "exec"), module.__dict__)
    try:
        return _checked(_spec_in(module, file), file)
    except ConfigError as error:
        return error


def _spec_in(module: types.ModuleType, file: OwnFile) -> AgentSpec:
    declared = module.__dict__.get("SPEC")
    if isinstance(declared, AgentSpec):
        return replace(declared, key=file.key, is_own=True, runs_in_bulk=False)
    found = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, OwnAgent) and c is not OwnAgent]
    own = [c for c in found if c.__module__ == module.__name__]
    if len(own) != 1:
        names = f", got {', '.join(c.__name__ for c in own)}" if own else ""
        raise ConfigError(f"{file.path.name}: expected one class that inherits from OwnAgent{names}")
    return _spec_of(own[0], file)


def _spec_of(kind: type[OwnAgent], file: OwnFile) -> AgentSpec:
    for param in kind.params:
        if not isinstance(param, Param) or not param.name.isidentifier() or param.name == VERSION:
            raise ConfigError(f"{file.path.name}: {kind.__name__}.params: expected Params with names, got {param!r}")
        if hasattr(OwnAgent, param.name) or param.name in OwnAgent.__annotations__:
            raise ConfigError(f"{file.path.name}: {kind.__name__}.params: '{param.name}' has a meaning already")
    summary = " ".join(str(kind.summary).split()) or "An agent of your own."
    return AgentSpec(
        key=file.key,
        name=kind.name or file.path.stem,
        paper="your own",
        summary=summary if summary.endswith(".") else f"{summary}.",
        make=kind,
        params=tuple(kind.params),
        family="own",
        is_complete=kind.is_complete,
        proves_no_path=kind.proves_no_path,
        runs_in_bulk=False,
        is_own=True,
        shows=frozenset({"groups"}),
    )


def _checked(spec: AgentSpec, file: OwnFile) -> AgentSpec:
    """The agent as it was declared; what cannot be shown or kept in a file is said now, and not in every frame."""
    for word, text in (("name", spec.name), ("summary", spec.summary)):
        if not isinstance(text, str) or not text.isprintable() or not text:
            raise ConfigError(f"{file.path.name}: {word}: expected printable text, got {in_python(text)}")
    for param in spec.params:
        where = f"{file.path.name}: params: {param.name}"
        if not isinstance(param.help, str) or not param.help.isprintable():
            raise ConfigError(f"{where}: expected printable text as its help, got {in_python(param.help)}")
        param.parse(param.default, where)
    return spec


def pinned(config: AgentConfig) -> AgentConfig:
    """The same with the version of today, which it keeps when the file is saved again."""
    spec = BY_KEY.get(config.kind)
    which = spec.param(VERSION) if spec is not None and spec.is_own else None
    if which is None or VERSION in config.params:
        return config
    return replace(config, params={**config.params, VERSION: which.default})


# --- what a person has agreed to ------------------------------------------------------------------


def digest_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _folder() -> Path:
    return state_folder() / "own-agents"


def _trusted() -> list[list[str]]:
    with suppress(OSError, ValueError, ConfigError):
        found = json.loads((_folder() / "trusted.json").read_text(encoding="utf-8"))
        if isinstance(found, list):
            return [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
    return []


def is_trusted(path: str | os.PathLike[str]) -> bool:
    """Whether a person has agreed to run this file as it is."""
    place = os.path.abspath(path)
    return [place, digest_of(read_file(place, MAX_BYTES, SUFFIX))] in _trusted()


def trust(path: str | os.PathLike[str]) -> None:
    """Remember that a person has agreed. Where nothing can be kept, they are asked again."""
    place = os.path.abspath(path)
    agreed = _trusted()
    pair = [place, digest_of(read_file(place, MAX_BYTES, SUFFIX))]
    if pair not in agreed and make_private(_folder()):
        with suppress(ConfigError, OSError):
            write_atomically(_folder() / "trusted.json", json.dumps([*agreed, pair], indent=0).encode())


def _copy_of(key: str, version: str) -> Path:
    return _folder() / f"{key}-{version}{SUFFIX}"


def _keep(key: str, version: str, text: bytes) -> None:
    if make_private(_folder()):
        with suppress(ConfigError, OSError):
            write_atomically(_copy_of(key, version), text)


def _kept(key: str, version: str) -> bytes | None:
    """The text of a version that this user has run before."""
    if not re.fullmatch(r"[0-9a-f]{8}", version):
        return None
    with suppress(OSError, ConfigError):
        text = read_file(_copy_of(key, version), MAX_BYTES, SUFFIX)
        return text if digest_of(text).startswith(version) else None
    return None


def described_if_own(error: BaseException) -> str | None:
    """Return an error in one line where code of the user's has led to it, such as in a thread that it started."""
    paths = [file.path for file in LOADED.values()]
    return next((described(error, path) for path in paths if lines_of(error, path)), None)


# --- other processes ------------------------------------------------------------------------------


def _tell_children() -> None:
    named = [[str(file.path), BY_KEY[file.key].param(VERSION).default] for file in LOADED.values()]  # type: ignore[union-attr]
    os.environ[VARIABLE] = json.dumps(named)


@dataclass(frozen=True)
class Sent:
    """A file as it travels to a worker of a cluster, who may not have it."""

    path: Path
    version: str
    text: bytes


def sent() -> tuple[Sent, ...]:
    """All files that were named here, each in the state in which it runs."""
    return tuple(Sent(file.path, version, text) for file in LOADED.values() for version, text in file.texts())


def receive(files: Iterable[Sent]) -> None:
    """In a worker: the files that a person has named where the work comes from."""
    for one in files:
        key = key_of(one.path)
        file = LOADED.setdefault(key, OwnFile(key, one.path))
        if one.version not in file.versions:
            register(_take_in(file, one.text))


def named_so_far() -> str:
    """The files that a person has named, and their states, for a process that was started before."""
    return os.environ.get(VARIABLE, "[]")


def load_named_before(named: str | None = None) -> None:
    """In a process that another one of ours started: the files that a person named there, in the same state.

    Each is taken from the copy that was kept of it: meanwhile the file itself may be half way to its next state.
    """
    for path, version in json.loads(named_so_far() if named is None else named):
        place = place_of(path)
        file = OwnFile(key_of(place), place)
        text = _kept(file.key, version)
        spec = _take_in(file, read_file(place, MAX_BYTES, SUFFIX) if text is None else text)
        LOADED[file.key] = file
        register(spec)
