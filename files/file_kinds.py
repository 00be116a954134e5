"""Recognise files of a wrong kind, such as a session instead of a scenario, and name the commands that accept them."""

from dataclasses import dataclass
from pathlib import PurePath

from files.yaml import YamlDocument
from sim.params import ConfigError
from sim.system.program import PROGRAM_COMMAND


@dataclass(frozen=True)
class FileKind:
    """Kind of file that the program reads, with texts for error messages."""

    format: str  # value of the key `format` in such files; "": a file format of another program
    description: str  # description of the kind, for messages
    acceptance_text: str  # sentence for messages that names the commands that accept this kind


SCENARIO = FileKind(
    "backmove-scenario", "a scenario", f"`{PROGRAM_COMMAND} run`, `{PROGRAM_COMMAND} record` and the window accept it"
)
SESSION = FileKind("backmove-session", "a session", f"`{PROGRAM_COMMAND} record` and the window accept it")
LESSON = FileKind("backmove-lesson", "a lesson", f"`{PROGRAM_COMMAND} check-lesson` and the window accept it")
EXPERIMENT = FileKind(
    "backmove-experiment", "the specification of an experiment", f"`{PROGRAM_COMMAND} experiment` accepts it"
)
_MAP_ACCEPTANCE_TEXT = "--map, the window, and scenarios as `map: {file: ...}` accept it"
ROS_MAP = FileKind("", "a map of ROS", _MAP_ACCEPTANCE_TEXT)
_KINDS_BY_SUFFIX = {
    ".map": FileKind("", "a map", _MAP_ACCEPTANCE_TEXT),
    ".scen": FileKind(
        "", "a problem list", f"`{PROGRAM_COMMAND} solve --scen`, `{PROGRAM_COMMAND} record` and the window accept it"
    ),
}
"""Kinds by suffix, for files without a key `format`: the YAML reader accepts such a file as one long text."""

_KINDS = (SCENARIO, SESSION, LESSON, EXPERIMENT)


def check_file_kind(document: YamlDocument, expected: FileKind) -> None:
    """Raise a ConfigError if a document is of another kind than `expected`.

    The error has no other problems of the document, because they would not help the user.
    """
    found = _kind_of_document(document)
    if found is not None and found is not expected:
        raise ConfigError(
            f"{document.name}: expected {expected.description}, got {found.description}; {found.acceptance_text}"
        )


def _kind_of_document(document: YamlDocument) -> FileKind | None:
    data = document.data
    if not isinstance(data, dict):
        return _KINDS_BY_SUFFIX.get(PurePath(document.name).suffix.lower())
    if "format" not in data and "image" in data:
        return ROS_MAP
    return next((kind for kind in _KINDS if kind.format == data.get("format")), None)
