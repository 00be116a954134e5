"""YAML as plain data: dicts, lists, text, numbers, true, false and null, each with the line it stands on.

A loaded file is data, never code: no tag, no alias, no merge key has any meaning here. The text is read as a
stream of events without recursion and within limits, so any bytes at all give a document or a ConfigError.
Two departures from YAML 1.1, both to keep text as text: only `true` and `false` are truth values (a label may
be called `on` or `no`), and a date or `1:30` is text. Keys are always text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from sim.params import ConfigError, shown

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 32
MAX_VALUES = 1_500_000  # a value takes some hundred bytes and four microseconds

Path = Sequence[str | int]
"""Where a value stands in a document: keys and places from the top, such as ("agents", 0, "kind")."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = yaml.SafeDumper

_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True)
class Document:
    """The data of one file and where its parts stand."""

    name: str  # how messages call the file
    data: Any
    lines: Any  # shaped as `data`: a line for a scalar, (line, children) for a list or a mapping

    def line_of(self, path: Path) -> int:
        """The line of the value at this path, or of the innermost part on the way that exists."""
        node = self.lines
        for step in path:
            try:
                node = node[1][step]
            except (TypeError, KeyError, IndexError):
                break
        return int(node[0] if isinstance(node, tuple) else node)


def path_text(path: Path) -> str:
    """A path as people write it: agents[0].kind."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{_key_text(step)}"
    return text.removeprefix(".")


def _key_text(key: str) -> str:
    """A key within a message: as it stands, unless that would break the line."""
    return key if key.isprintable() and len(key) <= 60 else shown(key)


def plain_value(text: str) -> bool | int | float | str | None:
    """What an unquoted scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


# --- reading --------------------------------------------------------------------------------------


def read_yaml(source: bytes | str, name: str) -> Document:
    """The document in `source`; a ConfigError that begins with `name` and a line when there is none."""
    if len(source) > MAX_BYTES:
        raise ConfigError(f"{name}: expected at most {MAX_BYTES:,} bytes, got {len(source):,}")
    builder = _Builder(name)
    for event in _events(_as_text(source, name), name):
        builder.take(event)
    if builder.root is None:
        raise ConfigError(f"{name}: expected a YAML document, got an empty file")
    return Document(name, builder.root[0], builder.root[1])


def _as_text(source: bytes | str, name: str) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: expected UTF-8 text, got the byte 0x{source[error.start]:02x}") from None


def _events(text: str, name: str) -> Iterator[Any]:
    """The parser's events; its complaints come out as a ConfigError."""
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(f"{name}:{mark.line + 1 if mark else 1}: not YAML: {what}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{name}:{line}: expected printable text, got the character {error.character!r}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The parser written in Python lets int() and chr() complain about absurd escapes and version numbers.
        raise ConfigError(f"{name}: not YAML: {shown(str(error))}") from None


class _Builder:
    """Puts events together. What is open lies on a list, so depth costs no stack."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: tuple[Any, Any] | None = None  # (data, lines)
        self.open: list[_Part] = []
        self.values = 0
        self.line = 1  # of the event at hand

    def take(self, event: Any) -> None:
        self.line = event.start_mark.line + 1
        match event:
            case yaml.ScalarEvent():
                self._check(event)
                self._scalar(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check(event)
                self._begin(isinstance(event, yaml.MappingStartEvent))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                part = self.open.pop()
                self._put(part.data, (part.line, part.lines))
            case yaml.AliasEvent():
                self._refuse("an alias (*name)")
            case yaml.DocumentStartEvent() if self.root is not None:
                self._refuse("a second document")

    def _check(self, event: Any) -> None:
        if event.anchor is not None:
            self._refuse("an anchor (&name)")
        if event.tag is not None and event.tag != "!":
            self._refuse(f"the tag {shown(event.tag.replace('tag:yaml.org,2002:', '!!'))}")
        self.values += 1
        if self.values > MAX_VALUES:
            self._refuse(f"more than {MAX_VALUES:,} values")

    def _refuse(self, got: str) -> None:
        raise ConfigError(f"{self.name}:{self.line}: expected plain data, got {got}")

    def _scalar(self, event: Any) -> None:
        if self.open and self.open[-1].awaits_key:
            self._key(event.value)
            return
        # A lone "!" before a scalar means "text, whatever it looks like".
        is_plain = event.style is None or event.style == ""
        self._put(plain_value(event.value) if is_plain and event.tag is None else event.value, self.line)

    def _key(self, key: str) -> None:
        part = self.open[-1]
        if key in part.data:
            self._refuse(f"the key {shown(key)} a second time")
        part.key, part.key_line, part.awaits_key = key, self.line, False

    def _begin(self, is_mapping: bool) -> None:
        if self.open and self.open[-1].awaits_key:
            self._refuse("a list or a mapping as a key")
        if len(self.open) >= MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} levels")
        self.open.append(_Part(is_mapping, self.line))

    def _put(self, value: Any, lines: Any) -> None:
        """Store a finished value in the list or mapping that is open, or as the document."""
        if not self.open:
            self.root = (value, lines)
            return
        self.open[-1].put(value, lines)


class _Part:
    """A list or a mapping under construction."""

    def __init__(self, is_mapping: bool, line: int) -> None:
        self.is_mapping, self.line = is_mapping, line
        self.data: Any = {} if is_mapping else []
        self.lines: Any = {} if is_mapping else []
        self.awaits_key = is_mapping
        self.key = ""
        self.key_line = 0

    def put(self, value: Any, lines: Any) -> None:
        if not self.is_mapping:
            self.data.append(value)
            self.lines.append(lines)
            return
        self.data[self.key] = value
        # A value is looked for where its key stands, also when it begins a line further down.
        self.lines[self.key] = (self.key_line, lines[1]) if isinstance(lines, tuple) else self.key_line
        self.awaits_key = True


# --- writing --------------------------------------------------------------------------------------


class Inline(list[Any]):
    """A list that is written on one line."""


class InlineMap(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(_DUMPER):  # type: ignore[misc]
    """Writes what read_yaml reads back equal: text that looks like another value is quoted, nothing is aliased."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # the dashes of a list stand further in than its key


def _text_node(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style_of(text))


def _style_of(text: str) -> str | None:
    """How a text is written so that it is read as the same text."""
    if not text.replace("\n", "").isprintable():
        return '"'  # the only style in which rare characters, such as other line breaks, keep what they are
    if "\n" in text:
        return "|"  # where the text allows it; else the dumper falls back on quotes
    return None if isinstance(plain_value(text), str) else "'"


def _inline(kind: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def represent(dumper: Any, data: Any) -> Any:
        node = kind(dumper, data)
        node.flow_style = True
        return node

    return represent


def _float_node(dumper: Any, number: float) -> Any:
    text = repr(number)
    if "." not in text:
        text = text.replace("e", ".0e")  # without a point PyYAML takes 1e-07 for text, and would add a tag
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_representer(str, _text_node)
_Dumper.add_representer(float, _float_node)
_Dumper.add_representer(Inline, _inline(lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data)))
_Dumper.add_representer(
    InlineMap,
    _inline(lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", list(data.items()))),
)


def write_yaml(data: Any) -> str:
    """The text of plain data; Inline and InlineMap parts keep to one line each."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=118)
    return text
