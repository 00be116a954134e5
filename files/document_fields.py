"""Check the values of a document while reading it, and collect all problems of the document.

A Field is a value with its path. Its methods return the expected value, or None after reporting a problem, so that a
reader continues and finds all problems of a file in one pass.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from files.yaml import ValuePath, YamlDocument, document_path_text
from sim.params import ConfigError, Param, Value, did_you_mean_hint, value_as_in_files
from sim.world_commands import CellXY

MAX_PROBLEMS = 40  # maximum number of problems reported per file; a file with more is probably of another kind


@dataclass
class DocumentProblems:
    """Problems of one document, one line each: `river.yaml:12: agents[0].kind: no agent 'rtb-w'`."""

    document: YamlDocument
    found: list[tuple[int, str]] = field(default_factory=list)  # (line number, message) of each problem

    def add(self, path: ValuePath, text: str) -> None:
        """Add a problem of the value at a path of the document; the message starts with this path."""
        prefix = f"{document_path_text(path)}: " if path else ""
        self.add_problem_line(path, prefix + text)

    def add_problem_line(self, path: ValuePath, text: str) -> None:
        """Add a problem whose text contains its path; raise a ConfigError with all problems at MAX_PROBLEMS."""
        line = self.document.line_of_path(path)
        self.found.append((line, f"{self.document.name}:{line}: {text}"))
        if len(self.found) == MAX_PROBLEMS:
            raise ConfigError(
                [
                    *self.sorted_messages(),
                    f"{self.document.name}: these are the first {MAX_PROBLEMS}; there may be more",
                ]
            )

    def add_messages_by_key(self, texts: Iterable[str], path: ValuePath, keys: Iterable[str]) -> None:
        """Add problems from another module; each belongs to the key that its text names first, else to `path`."""
        known = {f"{document_path_text([*path, key])}:": key for key in keys}
        for text in texts:
            key = next((key for start, key in known.items() if text.startswith(start)), None)
            self.add_problem_line(path if key is None else [*path, key], text)

    def sorted_messages(self) -> list[str]:
        """Return the messages of all problems, sorted by line."""
        return [text for _, text in sorted(self.found, key=lambda problem: problem[0])]

    def raise_if_any_problem(self) -> None:
        """Raise a ConfigError with all problems if there are any."""
        if self.found:
            raise ConfigError(self.sorted_messages())


@dataclass(frozen=True)
class DocumentField:
    """Value in a document, with its path in the document and the list to which its problems are added."""

    problems: DocumentProblems
    path: tuple[str | int, ...]
    value: Any

    def report_problem(self, text: str) -> None:
        """Add a problem of this value to the problems of the document."""
        self.problems.add(self.path, text)

    def report_expected_value(self, what: str) -> None:
        """Report as a problem that another value was expected; `what` describes it, such as "a number"."""
        self.report_problem(f"expected {what}, got {value_as_in_files(self.value)}")

    def read_known_keys(self, known: Iterable[str], what: str) -> "dict[str, DocumentField]":
        """Return the parts of a mapping by key; unknown keys are reported as problems and left out."""
        fields = self.read_mapping(what)
        names = list(known)
        for key in [key for key in fields if key not in names]:
            fields.pop(key).report_problem(f"no such key{did_you_mean_hint(key, names)}")
        return fields

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    def read_mapping(self, what: str) -> "dict[str, DocumentField]":
        """Return the parts of a mapping by key, whatever the keys; {} after reporting that the value is no mapping."""
        if not isinstance(self.value, dict):
            self.report_expected_value(what)
            return {}
        return {key: DocumentField(self.problems, (*self.path, key), value) for key, value in self.value.items()}

    def items(self, what: str) -> "list[DocumentField]":
        """Return the parts of a list; [] after reporting that the value is no list."""
        if not isinstance(self.value, list):
            self.report_expected_value(what)
            return []
        return [DocumentField(self.problems, (*self.path, i), value) for i, value in enumerate(self.value)]

    def read_value(self, param: Param) -> Value | None:
        """Return the value converted to the type of a parameter if it is valid; None after reporting a problem."""
        try:
            return param.parse_value(self.value)
        except ConfigError as error:
            for text in error.problems:
                self.report_problem(text)
            return None

    def read_integer(self, param: Param) -> int | None:
        """Return the value as an integer if it is valid for a parameter; None after reporting a problem."""
        value = self.read_value(param)
        return None if value is None else int(value)

    def read_text(self, longest: int, lines: bool = False) -> str | None:
        """Return the value as printable text; None after reporting a problem.

        Control characters are refused, because the text is shown in terminals and in the window.

        Args:
            longest: maximum number of characters.
            lines: whether line feeds are allowed.
        """
        if not isinstance(self.value, str):
            self.report_expected_value("text (numbers and true or false in quotes)")
            return None
        printable = self.value.replace("\n", "") if lines else self.value
        if not printable.isprintable():
            self.report_expected_value("printable text")
            return None
        if len(self.value) > longest:
            self.report_problem(f"expected at most {longest:,} characters, got {len(self.value):,}")
            return None
        return self.value

    def cell(self, width: int, height: int) -> CellXY | None:
        """Return the value, written [x, y], as a cell of a map of this size; None after reporting a problem."""
        pair = self.value
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(part) is int for part in pair)):
            self.report_expected_value("a cell as [x, y]")
            return None
        x, y = pair
        if not (0 <= x < width and 0 <= y < height):
            self.report_expected_value(f"a cell of the map, which is {width} x {height}")
            return None
        return x, y

    def cells(self, width: int, height: int) -> tuple[CellXY, ...] | None:
        """Return the value as a list of cells; None after reporting every invalid cell."""
        if not isinstance(self.value, list):
            self.report_expected_value("a list of cells [[x, y], ...]")
            return None
        pairs = [part.cell(width, height) for part in self.items("a list of cells")]
        found = tuple(pair for pair in pairs if pair is not None)
        return found if len(found) == len(pairs) else None


def require_field(
    fields: Mapping[str, DocumentField], key: str, owner: DocumentField, what: str
) -> DocumentField | None:
    """Return the field of a required key; None after reporting that the key is missing.

    Args:
        fields: known keys of a mapping.
        key: the key.
        owner: the mapping itself.
        what: description of the expected value, for the message.
    """
    if key not in fields and isinstance(owner.value, dict) and key not in owner.value:
        DocumentField(owner.problems, (*owner.path, key), None).report_problem(f"expected {what}, got nothing")
    return fields.get(key)
