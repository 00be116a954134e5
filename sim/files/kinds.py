"""Recognise files of a wrong kind, such as a session instead of a scenario, and name the commands that accept them."""

from dataclasses import dataclass
from pathlib import PurePath

from sim.files.yaml import Document
from sim.params import ConfigError
from sim.program import NAME


@dataclass(frozen=True)
class Kind:
    """Kind of file that the program reads, with texts for error messages."""

    format: str  # value of the key `format` in such files; "": a file format of another program
    words: str  # description of the kind, for messages
    taken_by: str  # sentence for messages that names the commands that accept this kind


SCENARIO = Kind("backmove-scenario", "a scenario", f"`{NAME} run`, `{NAME} record` and the window accept it")
SESSION = Kind("backmove-session", "a session", f"`{NAME} record` and the window accept it")
LESSON = Kind("backmove-lesson", "a lesson", f"`{NAME} check-lesson` and the window accept it")
EXPERIMENT = Kind("backmove-experiment", "the specification of an experiment", f"`{NAME} experiment` accepts it")
_MAP_TAKERS = "--map, the window, and scenarios as `map: {file: ...}` accept it"
ROS_MAP = Kind("", "a map of ROS", _MAP_TAKERS)
_KINDS_BY_SUFFIX = {
    ".map": Kind("", "a map", _MAP_TAKERS),
    ".scen": Kind("", "a problem list", f"`{NAME} solve --scen`, `{NAME} record` and the window accept it"),
}
"""Kinds by suffix, for files without a key `format`: the YAML reader accepts such a file as one long text."""

_KINDS = (SCENARIO, SESSION, LESSON, EXPERIMENT)


def check_kind(document: Document, wanted: Kind) -> None:
    """Raise a ConfigError if a document is of another kind than `wanted`.

    The error has no other problems of the document, because they would not help the user.
    """
    found = _kind_of(document)
    if found is not None and found is not wanted:
        raise ConfigError(f"{document.name}: expected {wanted.words}, got {found.words}; {found.taken_by}")


def _kind_of(document: Document) -> Kind | None:
    data = document.data
    if not isinstance(data, dict):
        return _KINDS_BY_SUFFIX.get(PurePath(document.name).suffix.lower())
    if "format" not in data and "image" in data:
        return ROS_MAP
    return next((kind for kind in _KINDS if kind.format == data.get("format")), None)
