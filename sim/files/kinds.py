"""The kinds of YAML files that there are, by their `format`: what each is called, and who takes it."""

from dataclasses import dataclass

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
ROS_MAP = Kind("", "a map of ROS", "--map, the window, and scenarios as `map: {file: ...}` take it")
_KINDS = (SCENARIO, SESSION, LESSON, EXPERIMENT)


def check_kind(document: Document, wanted: Kind) -> None:
    """A ConfigError where this is a file of another kind: its other mistakes help nobody."""
    found = _kind_of(document.data)
    if found is not None and found is not wanted:
        raise ConfigError(f"{document.name}: expected {wanted.words}, got {found.words}; {found.taken_by}")


def _kind_of(data: object) -> Kind | None:
    if not isinstance(data, dict):
        return None
    if "format" not in data and "image" in data:
        return ROS_MAP
    return next((kind for kind in _KINDS if kind.format == data.get("format")), None)
