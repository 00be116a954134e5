"""The kinds of YAML files that there are, by their `format`: what each is called, and who takes it."""

from dataclasses import dataclass
from pathlib import PurePath

from sim.files.yaml import Document
from sim.params import ConfigError
from sim.program import NAME


@dataclass(frozen=True)
class Kind:
    format: str  # "" for one that is not ours
    words: str
    taken_by: str


SCENARIO = Kind("backmove-scenario", "a scenario", f"`{NAME} run`, `{NAME} record` and the window take it")
SESSION = Kind("backmove-session", "a session", f"`{NAME} record` and the window take it")
LESSON = Kind("backmove-lesson", "a lesson", f"`{NAME} check-lesson` and the window take it")
EXPERIMENT = Kind("backmove-experiment", "the specification of an experiment", f"`{NAME} experiment` takes it")
_MAP_TAKERS = "--map, the window, and scenarios as `map: {file: ...}` take it"
ROS_MAP = Kind("", "a map of ROS", _MAP_TAKERS)
_BY_NAME = {
    ".map": Kind("", "a map", _MAP_TAKERS),
    ".scen": Kind("", "a problem list", f"`{NAME} solve --scen`, `{NAME} record` and the window take it"),
}
"""Those that are no YAML, but read as one long word."""

_KINDS = (SCENARIO, SESSION, LESSON, EXPERIMENT)


def check_kind(document: Document, wanted: Kind) -> None:
    """A ConfigError where this is a file of another kind: its other mistakes help nobody."""
    found = _kind_of(document)
    if found is not None and found is not wanted:
        raise ConfigError(f"{document.name}: expected {wanted.words}, got {found.words}; {found.taken_by}")


def _kind_of(document: Document) -> Kind | None:
    data = document.data
    if not isinstance(data, dict):
        return _BY_NAME.get(PurePath(document.name).suffix.lower())
    if "format" not in data and "image" in data:
        return ROS_MAP
    return next((kind for kind in _KINDS if kind.format == data.get("format")), None)
