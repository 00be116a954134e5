"""Read and write YAML as plain data: dicts, lists, text, numbers, true, false and null, with the line of each value.

A file is only data: tags, aliases and merge keys are not supported, so that no code can run. The text is read as a
stream of events without recursion and within limits, so any bytes give a document or a ConfigError. There are two
deviations from YAML 1.1, so that labels need no quotes: only `true` and `false` are truth values (a label may be `on`
or `no`), and a date or `1:30` is text. Keys are always text.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from sim.params import ConfigError, value_as_in_files
from sim.system.load_progress import report_load_progress

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 32
MAX_VALUES = 1_500_000  # maximum number of values in a document; each takes a few hundred bytes and four microseconds

_EVENTS_PER_REPORT = 20_000  # parser events between two progress reports; they take at most a tenth of a second

ValuePath = Sequence[str | int]
"""Path of a value in a document: keys and indices from the root, such as ("agents", 0, "kind")."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = yaml.SafeDumper

_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?")
_WORD_VALUES = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True)
class YamlDocument:
    """Data of one YAML file, with the line numbers of its values."""

    name: str  # name of the file in messages
    data: Any
    # Line numbers nested as `data`: a number for a value on one line, else (number, lines of its parts).
    line_numbers: Any

    def line_of_path(self, path: ValuePath) -> int:
        """Return the line of the value at a path, or of the innermost existing part along the path."""
        node = self.line_numbers
        for step in path:
            try:
                node = node[1][step]
            except (TypeError, KeyError, IndexError):
                break
        return int(node[0] if isinstance(node, tuple) else node)


def document_path_text(path: ValuePath) -> str:
    """Return a path as text, such as agents[0].kind."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{_key_for_message(step)}"
    return text.removeprefix(".")


def _key_for_message(key: str) -> str:
    """Return a key for a message: unchanged, or quoted and shortened if it is long or not printable."""
    return key if key.isprintable() and len(key) <= 60 else value_as_in_files(key)


def parse_scalar(text: str) -> bool | int | float | str | None:
    """Return the value of an unquoted YAML scalar: null, true, false, a number or text."""
    if text in _WORD_VALUES:
        return _WORD_VALUES[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


# --- reading --------------------------------------------------------------------------------------


def read_yaml(source: bytes | str, name: str) -> YamlDocument:
    """Parse a YAML document.

    Args:
        source: the text, or its bytes in UTF-8.
        name: name of the file in messages.

    Raises:
        ConfigError: The source is no valid document; the message begins with the name and, mostly, a line.
    """
    if len(source) > MAX_BYTES:
        raise ConfigError(f"{name}: expected at most {MAX_BYTES:,} bytes, got {len(source):,}")
    text = _decoded_document_text(source, name)
    builder = _DocumentBuilder(name, len(text))
    builder.process_events(_parse_events(text, name))
    if builder.root is None:
        raise ConfigError(f"{name}: expected a YAML document, got an empty file")
    return YamlDocument(name, builder.root[0], builder.root[1])


def _decoded_document_text(source: bytes | str, name: str) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: expected UTF-8 text, got the byte 0x{source[error.start]:02x}") from None


def _parse_events(text: str, name: str) -> Iterator[Any]:
    """Yield the events of the YAML parser; turn the errors of the parser into a ConfigError."""
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        line = mark.line if mark else 0
        what = _tab_indent_message(text, line) or f"not YAML: {what}"
        raise ConfigError(f"{name}:{line + 1}: {what}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{name}:{line}: expected printable text, got the character {error.character!r}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The pure Python parser does not catch errors of int() and chr(), caused by invalid escapes or version numbers.
        raise ConfigError(f"{name}: not YAML: {value_as_in_files(str(error))}") from None


def _tab_indent_message(text: str, line: int) -> str:
    """Return a message if a line is indented by a tab, which is invalid but invisible in an editor; "" if it is not."""
    wrong = text.splitlines()[line : line + 1]
    is_indented = bool(wrong) and "\t" in wrong[0][: len(wrong[0]) - len(wrong[0].lstrip())]
    return "expected spaces before the first word, got a tab" if is_indented else ""


class _DocumentBuilder:
    """Builder of the document from parser events. Open parts are kept in a list, so nesting needs no recursion.

    A large file has two million events, so scalars take a fast path: few calls, and a cache of values by text.
    """

    def __init__(self, name: str, length: int) -> None:
        self.name, self.length = name, length
        self.root: tuple[Any, Any] | None = None  # (data, lines) of the document, see Document; None: no data yet
        self.open_collections: list[_OpenCollection] = []
        self.values = 0
        self.line = 1  # line number, from 1, of the parser event that is being processed

    def process_events(self, events: Iterator[Any]) -> None:
        known: dict[str, Any] = {}
        scalar: Any = yaml.ScalarEvent
        for count, event in enumerate(events):
            if not count % _EVENTS_PER_REPORT and self.length:
                report_load_progress(event.start_mark.index / self.length)
            if type(event) is not scalar:
                self._process_event(event)
                continue
            mark = event.start_mark
            self.line = mark.line + 1
            self.values += 1
            if event.tag is not None or event.anchor is not None or self.values > MAX_VALUES:
                self._check_supported_event(event)
            text, part = event.value, self.open_collections[-1] if self.open_collections else None
            if part is not None and part.awaits_key:
                self._set_mapping_key(part, text)
                continue
            if event.tag is None and not event.style:
                if text in known:
                    value = known[text]
                else:
                    value = known[text] = parse_scalar(text)
            else:  # quoted, or with the tag "!": always text, even if it looks like a number
                value = text
            if part is None:
                self.root = (value, self.line)
            else:
                part.add_value(value, self.line)

    def _process_event(self, event: Any) -> None:
        """Process a parser event that is not a scalar."""
        self.line, kind = event.start_mark.line + 1, type(event)
        if kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
            part = self.open_collections.pop()
            lines = part.line if part.is_on_one_line else (part.line, part.value_lines)
            if self.open_collections:
                self.open_collections[-1].add_value(part.data, lines)
            else:
                self.root = (part.data, lines)
        elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
            self.values += 1
            if event.tag is not None or event.anchor is not None or self.values > MAX_VALUES:
                self._check_supported_event(event)
            self._begin_collection(kind is yaml.MappingStartEvent)
        elif kind is yaml.AliasEvent:
            self._raise_unsupported_error("an alias (*name)")
        elif kind is yaml.DocumentStartEvent and self.root is not None:
            self._raise_unsupported_error("a second document")

    def _check_supported_event(self, event: Any) -> None:
        """Raise a ConfigError if an event has an anchor or a tag, or if the document has too many values."""
        if event.anchor is not None:
            self._raise_unsupported_error("an anchor (&name)")
        if event.tag is not None and event.tag != "!":
            self._raise_unsupported_error(f"the tag {value_as_in_files(event.tag.replace('tag:yaml.org,2002:', '!!'))}")
        if self.values > MAX_VALUES:
            self._raise_unsupported_error(f"more than {MAX_VALUES:,} values")

    def _raise_unsupported_error(self, description: str) -> None:
        """Raise a ConfigError at the present line for an unsupported part of YAML, described by `description`."""
        raise ConfigError(f"{self.name}:{self.line}: expected plain data, got {description}")

    def _set_mapping_key(self, part: "_OpenCollection", key: str) -> None:
        """Set the key of the next value of a mapping; raise a ConfigError if the mapping already has the key."""
        if key in part.data:
            self._raise_unsupported_error(f"the key {value_as_in_files(key)} a second time")
        part.key, part.key_line, part.awaits_key = sys.intern(key), self.line, False

    def _begin_collection(self, is_mapping: bool) -> None:
        """Begin a new list or mapping inside the innermost list or mapping that is still open."""
        if self.open_collections and self.open_collections[-1].awaits_key:
            self._raise_unsupported_error("a list or a mapping as a key")
        if len(self.open_collections) >= MAX_DEPTH:
            self._raise_unsupported_error(f"more than {MAX_DEPTH} levels")
        self.open_collections.append(_OpenCollection(is_mapping, self.line))


class _OpenCollection:
    """List or mapping that is still open, because its end has not been read yet."""

    __slots__ = ("awaits_key", "data", "is_mapping", "is_on_one_line", "key", "key_line", "line", "value_lines")

    def __init__(self, is_mapping: bool, line: int) -> None:
        self.is_mapping, self.line = is_mapping, line
        self.data: Any = {} if is_mapping else []
        self.value_lines: Any = {} if is_mapping else []
        # Whether the list or mapping is on one line, as in most parts of large files. It then has only one line number.
        self.is_on_one_line = True
        self.awaits_key = is_mapping
        self.key = ""
        self.key_line = 0

    def add_value(self, value: Any, lines: Any) -> None:
        if lines != self.line:
            self.is_on_one_line = False
        if not self.is_mapping:
            self.data.append(value)
            self.value_lines.append(lines)
            return
        key, key_line = self.key, self.key_line
        self.data[key] = value
        # The line of a value in a mapping is the line of its key, even if the value begins on a later line.
        if isinstance(lines, tuple):
            self.value_lines[key] = (key_line, lines[1])
        elif isinstance(value, list | dict) and lines != key_line:
            self.value_lines[key] = (
                key_line,
                dict.fromkeys(value if isinstance(value, dict) else range(len(value)), lines),
            )
        else:
            self.value_lines[key] = key_line
        self.is_on_one_line = self.is_on_one_line and key_line == self.line
        self.awaits_key = True


# --- writing --------------------------------------------------------------------------------------


class InlineList(list[Any]):
    """List that write_yaml() writes on one line."""


class InlineMap(dict[str, Any]):
    """Mapping that write_yaml() writes on one line."""


class _YamlDumper(_DUMPER):  # type: ignore[misc]
    """Writer of data that read_yaml reads back equal: text that looks like another value is quoted; no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # indent the dashes of a list more than its key


def _yaml_text_node(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_quoting_style(text))


def _quoting_style(text: str) -> str | None:
    """Return the YAML style in which a text is read back as the same text; None: unquoted."""
    if not text.replace("\n", "").isprintable():
        return '"'  # double quotes are the only style that preserves rare characters, such as other line breaks
    if "\n" in text:
        return "|"  # literal style; if the text does not allow this style, the dumper falls back to quotes
    return None if isinstance(parse_scalar(text), str) else "'"


def _inline_representer(kind: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def represent(dumper: Any, data: Any) -> Any:
        node = kind(dumper, data)
        node.flow_style = True
        return node

    return represent


def _yaml_float_node(dumper: Any, number: float) -> Any:
    text = repr(number)
    if "." not in text:
        text = text.replace("e", ".0e")  # PyYAML treats 1e-07, without a point, as text and would add a tag
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_YamlDumper.add_representer(str, _yaml_text_node)
_YamlDumper.add_representer(float, _yaml_float_node)
_YamlDumper.add_representer(
    InlineList, _inline_representer(lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data))
)
_YamlDumper.add_representer(
    InlineMap,
    _inline_representer(lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", list(data.items()))),
)


def count_values(data: Any) -> int:
    """Return the number of values that read_yaml counts in plain data; each key counts as one."""
    if isinstance(data, dict):
        return 1 + len(data) + sum(map(count_values, data.values()))
    return 1 + sum(map(count_values, data)) if isinstance(data, list | tuple) else 1


def write_yaml(data: Any) -> str:
    """Return plain data as YAML text; each Inline and InlineMap part is written on one line."""
    text: str = yaml.dump(data, Dumper=_YamlDumper, sort_keys=False, allow_unicode=True, width=118)
    return text
