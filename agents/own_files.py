"""Agents from user files. A file is run only if the user names it, never because another file mentions it.

    spec = load_agent_file(path)           run the file and register its agent; raises a ConfigError
    spec = reload_agent_file(spec.key)     load the saved file again as a new version of the agent
    is_file_trusted(path), store_file_trust(path)    read or store the user's consent to run exactly this content

The key of an agent is the name of its file without `.py`. Every content of the file that was run is a version of the
agent, named by the first digits of its hash, so a run computed with an old version stays reproducible. A copy of each
version is kept: a session opens with the code with which it was saved, if this user has run that code before.
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

from agents import stdout_guard
from agents.guarded_agent import (
    VERSION_PARAM_NAME,
    GuardedAgent,
    call_user_code_guarded,
    describe_user_code_error,
    user_file_traceback_lines,
)
from agents.own import OwnAgent
from agents.registry import AGENT_SPECS_BY_KEY, register_agent
from files.disk import read_file, write_file_atomically
from sim.agent_api import Agent, AgentSpec, Problem
from sim.params import ConfigError, Param, Value, value_as_in_python
from sim.referee_rules import AgentFailedError
from sim.system.user_folders import create_private_folder, state_folder
from sim.world_commands import AgentConfig

AGENT_FILE_SUFFIX = ".py"
MAX_FILE_BYTES = 1_000_000  # maximum size of an agent's Python file, in bytes
LOADED_FILES_VARIABLE = "BACKMOVE_OWN_AGENTS"
"""Environment variable that passes the loaded files and their versions to child processes."""

_KEY_PATTERN = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_VERSION_DIGITS = 8  # number of hexadecimal digits, of the hash of a file's content, that name a version of the file
_IMPORT_TIME_LIMIT_S = 30.0  # time limit in seconds for running an agent's file once, including its imports


@dataclass
class OwnFile:
    """Python file of a user's agent, with all its versions (contents) that have been run."""

    key: str
    path: Path
    spec_by_version: dict[str, AgentSpec] = field(default_factory=dict)

    def version_texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the source text of each version, the current version last."""
        for version in self.spec_by_version:
            text = _stored_version_text(self.key, version)
            if text is None:
                text = read_file(self.path, MAX_FILE_BYTES, AGENT_FILE_SUFFIX)
            if content_digest(text).startswith(version):
                yield version, text

    def spec_of_version(self, version: str) -> AgentSpec:
        """Return the spec of a version. A version that was stored by an earlier start of the program is run first."""
        if version not in self.spec_by_version:
            text = _stored_version_text(self.key, version)
            self.spec_by_version[version] = _spec_of_source_text(self, text if text is not None else b"", version)
        return self.spec_by_version[version]


LOADED_FILES: dict[str, OwnFile] = {}  # key of a user's agent -> its file; contains all files that have been loaded


@dataclass(frozen=True)
class VersionFactory:
    """Factory of agents of one version of a user file; it is picklable, because worlds are sent between processes."""

    key: str
    version: str

    def __call__(self, problem: Problem, params: Mapping[str, Value]) -> Agent:
        spec = LOADED_FILES[self.key].spec_of_version(self.version)
        # Pass only parameters that this version declares, because `params` may have those of the current version.
        return spec.make(problem, {p.name: params.get(p.name, p.default) for p in spec.params})


@dataclass(frozen=True)
class VersionFactories:
    """Callable that takes the version of a user file and returns the factory of its agents."""

    key: str

    def __call__(self, version: str) -> VersionFactory:
        return VersionFactory(self.key, version)


@dataclass(frozen=True)
class GuardedFactory:
    """Factory of the guarded agents of one user file; it is picklable, because worlds are sent between processes."""

    key: str

    def __call__(self, problem: Problem, params: Mapping[str, Value]) -> Agent:
        return GuardedAgent(LOADED_FILES[self.key].path, VersionFactories(self.key), problem, params)


@dataclass(frozen=True)
class VersionParam(Param):
    """Parameter that selects the version of the user's file that an agent runs.

    A version that this user has never run is replaced by the current one; the digests of the run then differ.
    """

    key: str = ""

    def parse_value(self, value: object, where: str = "") -> Value:
        text = str(value)
        is_known = text in LOADED_FILES[self.key].spec_by_version or _stored_version_text(self.key, text) is not None
        return text if is_known else self.default


# --- loading --------------------------------------------------------------------------------------


def absolute_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a user file, so that it stays valid if the working directory changes."""
    return Path(os.path.abspath(path))


def agent_key_of_file(path: Path) -> str:
    """Return the key of the agent in a user file: the file name in lower case, without `.py`.

    Raises:
        ConfigError: The name of the file is no valid key, or an agent of Backmove has it.
    """
    if path.suffix.lower() != AGENT_FILE_SUFFIX or not _KEY_PATTERN.fullmatch(path.stem.lower()):
        raise ConfigError(
            f"{path}: expected a file such as my_agent.py (letters, digits, - and _), which names its agent"
        )
    key = path.stem.lower()
    if key in AGENT_SPECS_BY_KEY and not AGENT_SPECS_BY_KEY[key].is_own:
        raise ConfigError(f"{path}: '{key}' is the name of a built-in agent; rename the file")
    return key


def load_agent_file(path: str | os.PathLike[str]) -> AgentSpec:
    """Run a file named by the user and register its agent.

    Args:
        path: Python file.

    Returns:
        The spec of the agent.

    Raises:
        ConfigError: The file cannot be read, its code fails, or it declares no valid agent.
    """
    absolute = absolute_path(path)
    key = agent_key_of_file(absolute)
    file = OwnFile(key, absolute)
    before = LOADED_FILES.get(key)
    if before is not None and before.path == absolute:
        file = before
    spec = _add_file_version(file, read_file(absolute, MAX_FILE_BYTES, AGENT_FILE_SUFFIX))
    LOADED_FILES[key] = file
    register_agent(spec)
    _update_environment_variable()
    return spec


def reload_agent_file(key: str) -> AgentSpec:
    """Load the current content of an agent's file as a new version.

    Raises:
        ConfigError: The content is invalid; the previous version stays registered.
    """
    return load_agent_file(LOADED_FILES[key].path)


def _add_file_version(file: OwnFile, text: bytes) -> AgentSpec:
    version = content_digest(text)[:_VERSION_DIGITS]
    spec = file.spec_by_version[version] = _spec_of_source_text(file, text, version)
    _store_version(file.key, version, text)
    choices = tuple(file.spec_by_version)
    which = VersionParam(
        VERSION_PARAM_NAME, str, version, "version of the file", choices=choices, symbol="", key=file.key
    )
    return replace(spec, make=GuardedFactory(file.key), params=(*spec.params, which))


def _spec_of_source_text(file: OwnFile, text: bytes, version: str) -> AgentSpec:
    """Run the text of a file and return the spec of the agent that it declares; raise a ConfigError if it fails."""
    module = types.ModuleType(f"backmove_own_{file.key.replace('-', '_')}_{version}")
    module.__file__ = str(file.path)
    sys.modules[module.__name__] = module  # registered, because pickle looks up the classes of the file here
    stdout_guard.reserve_stdout_for_results()
    try:
        found = call_user_code_guarded(partial(_run_user_file, module, text, file), file.path, _IMPORT_TIME_LIMIT_S)
    except AgentFailedError as error:
        raise ConfigError(str(error)) from None
    if isinstance(found, ConfigError):
        raise found
    return found


def _run_user_file(module: types.ModuleType, text: bytes, file: OwnFile) -> AgentSpec | ConfigError:
    """Run a user file; return the spec of the agent that it declares, or the ConfigError that describes its mistake."""
    exec(compile(text, str(file.path), "exec"), module.__dict__)
    try:
        return _checked_spec(_spec_in_module(module, file), file)
    except ConfigError as error:
        return error


def _spec_in_module(module: types.ModuleType, file: OwnFile) -> AgentSpec:
    declared = module.__dict__.get("SPEC")
    if isinstance(declared, AgentSpec):
        return replace(declared, key=file.key, is_own=True, runs_in_bulk=False)
    found = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, OwnAgent) and c is not OwnAgent]
    own = [c for c in found if c.__module__ == module.__name__]
    if len(own) != 1:
        names = f", got {', '.join(c.__name__ for c in own)}" if own else ""
        raise ConfigError(f"{file.path.name}: expected one class that inherits from OwnAgent{names}")
    return _spec_of_agent_class(own[0], file)


def _spec_of_agent_class(kind: type[OwnAgent], file: OwnFile) -> AgentSpec:
    for param in kind.params:
        if not isinstance(param, Param) or not param.name.isidentifier() or param.name == VERSION_PARAM_NAME:
            raise ConfigError(f"{file.path.name}: {kind.__name__}.params: expected Params with names, got {param!r}")
        if hasattr(OwnAgent, param.name) or param.name in OwnAgent.__annotations__:
            raise ConfigError(
                f"{file.path.name}: {kind.__name__}.params: '{param.name}' is reserved; choose another name"
            )
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


def _checked_spec(spec: AgentSpec, file: OwnFile) -> AgentSpec:
    """Check the texts and defaults of a spec that a user file declares, and return the spec.

    They are checked once here, because they are shown in every frame and written to files.

    Raises:
        ConfigError: A text is not printable, or a default is not a legal value.
    """
    for word, text in (("name", spec.name), ("summary", spec.summary)):
        if not isinstance(text, str) or not text.isprintable() or not text:
            raise ConfigError(f"{file.path.name}: {word}: expected printable text, got {value_as_in_python(text)}")
    for param in spec.params:
        where = f"{file.path.name}: params: {param.name}"
        if not isinstance(param.help, str) or not param.help.isprintable():
            raise ConfigError(f"{where}: expected printable text as its help, got {value_as_in_python(param.help)}")
        param.parse_value(param.default, where)
    return spec


def with_pinned_version(config: AgentConfig) -> AgentConfig:
    """Return the config of a user's agent with the file's current version added, so that the agent keeps this version.

    Other agents, and configs that have a version, are returned unchanged.
    """
    spec = AGENT_SPECS_BY_KEY.get(config.kind)
    which = spec.param(VERSION_PARAM_NAME) if spec is not None and spec.is_own else None
    if which is None or VERSION_PARAM_NAME in config.params:
        return config
    return replace(config, params={**config.params, VERSION_PARAM_NAME: which.default})


# --- the user's consent ---------------------------------------------------------------------------


def content_digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _versions_folder() -> Path:
    return state_folder() / "own-agents"


def _trusted_files() -> list[list[str]]:
    """Return the files that the user has consented to run, each as [absolute path, digest of the content]."""
    with suppress(OSError, ValueError, ConfigError):
        found = json.loads((_versions_folder() / "trusted.json").read_text(encoding="utf-8"))
        if isinstance(found, list):
            return [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
    return []


def is_file_trusted(path: str | os.PathLike[str]) -> bool:
    """Return whether the user has consented to running this file with its current content."""
    absolute = os.path.abspath(path)
    return [absolute, content_digest(read_file(absolute, MAX_FILE_BYTES, AGENT_FILE_SUFFIX))] in _trusted_files()


def store_file_trust(path: str | os.PathLike[str]) -> None:
    """Store the user's consent to run this file's current content. If storing fails, the user is asked again."""
    absolute = os.path.abspath(path)
    agreed = _trusted_files()
    pair = [absolute, content_digest(read_file(absolute, MAX_FILE_BYTES, AGENT_FILE_SUFFIX))]
    if pair not in agreed and create_private_folder(_versions_folder()):
        with suppress(ConfigError, OSError):
            write_file_atomically(_versions_folder() / "trusted.json", json.dumps([*agreed, pair], indent=0).encode())


def _version_file_path(key: str, version: str) -> Path:
    return _versions_folder() / f"{key}-{version}{AGENT_FILE_SUFFIX}"


def _store_version(key: str, version: str, text: bytes) -> None:
    """Store a copy of a version of a user file. If it cannot be written, nothing happens."""
    if create_private_folder(_versions_folder()):
        with suppress(ConfigError, OSError):
            write_file_atomically(_version_file_path(key, version), text)


def _stored_version_text(key: str, version: str) -> bytes | None:
    """Return the stored source text of a version that this user has run before; None if no copy is stored."""
    if not re.fullmatch(r"[0-9a-f]{8}", version):
        return None
    with suppress(OSError, ConfigError):
        text = read_file(_version_file_path(key, version), MAX_FILE_BYTES, AGENT_FILE_SUFFIX)
        return text if content_digest(text).startswith(version) else None
    return None


def describe_user_error(error: BaseException) -> str | None:
    """Return one line that describes an error if the traceback has a line of a user file, else None."""
    paths = [file.path for file in LOADED_FILES.values()]
    return next(
        (describe_user_code_error(error, path) for path in paths if user_file_traceback_lines(error, path)), None
    )


# --- other processes ------------------------------------------------------------------------------


def _update_environment_variable() -> None:
    """Store the loaded user files and their versions in an environment variable, for child processes started later."""
    named = []
    for file in LOADED_FILES.values():
        version = AGENT_SPECS_BY_KEY[file.key].param(VERSION_PARAM_NAME)
        assert version is not None, file.key
        named.append([str(file.path), version.default])
    os.environ[LOADED_FILES_VARIABLE] = json.dumps(named)


@dataclass(frozen=True)
class SentVersion:
    """Version of a user file, as it is sent to a cluster worker, which may not have the file."""

    path: Path
    version: str
    text: bytes


def versions_to_send() -> tuple[SentVersion, ...]:
    """Return all versions of all loaded user files, to be sent to cluster workers."""
    return tuple(
        SentVersion(file.path, version, text)
        for file in LOADED_FILES.values()
        for version, text in file.version_texts()
    )


def register_received_agents(files: Iterable[SentVersion]) -> None:
    """Register the agents of files sent by the process that distributes the work; called in a cluster worker."""
    for received in files:
        key = agent_key_of_file(received.path)
        file = LOADED_FILES.setdefault(key, OwnFile(key, received.path))
        if received.version not in file.spec_by_version:
            register_agent(_add_file_version(file, received.text))


def loaded_files_json() -> str:
    """Return the loaded user files and their versions as JSON, for child processes that are running already."""
    return os.environ.get(LOADED_FILES_VARIABLE, "[]")


def load_files_of_parent(named: str | None = None) -> None:
    """Load the files that the parent process has loaded, in the same versions; called in a child process.

    The stored copy of each version is used, because the file itself may have been changed or be half written.

    Args:
        named: JSON from `loaded_files_json`; None: the environment variable of this process.
    """
    for path, version in json.loads(loaded_files_json() if named is None else named):
        absolute = absolute_path(path)
        file = OwnFile(agent_key_of_file(absolute), absolute)
        text = _stored_version_text(file.key, version)
        spec = _add_file_version(file, read_file(absolute, MAX_FILE_BYTES, AGENT_FILE_SUFFIX) if text is None else text)
        LOADED_FILES[file.key] = file
        register_agent(spec)
