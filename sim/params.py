"""Declarations of parameters with their legal values, and the exception for all errors that a user can cause."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

Value = bool | int | float | str


class ConfigError(ValueError):
    """Error in the user's input. Its message says where, what was expected, what was given, and a similar known name.

    An error has one or more problems. Each is one line of text, shown unchanged on the terminal and in the window.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = [escape_unprintable(p) for p in ([problems] if isinstance(problems, str) else problems)]
        super().__init__("\n".join(self.problems))


def escape_unprintable(text: str) -> str:
    """Return a text with unprintable characters escaped, so that a name from a file cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


_INVISIBLE_MARKS = frozenset(
    map(chr, (0x34F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Joiners and variation selectors: `str.isprintable` accepts them, although fonts draw nothing for them."""


def clean_typed_text(text: str) -> str:
    """Return a typed or pasted text in the form for a text field: one line of visible characters.

    Line ends, tabs and special spaces become plain spaces; control, format and unassigned characters are removed.
    """
    spaced = "".join(" " if char.isspace() else char for char in text)
    return "".join(char for char in spaced if char.isprintable() and char not in _INVISIBLE_MARKS)


def similar_name_hint(name: object, known: Iterable[str]) -> str:
    """Return the phrase "; did you mean 'x'?" for the most similar known name, or "" if no name is similar."""
    # Only the first 80 characters are compared, because a file may contain a very long name.
    matches = difflib.get_close_matches(str(name)[:80], list(known), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def did_you_mean_hint(name: object, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the most similar known name; if none is similar, a list of all known names."""
    names = [str(k) for k in known]
    return similar_name_hint(name, names) or (f"; known: {', '.join(names)}" if names else "")


class HasName(Protocol):
    """Interface of an object with a name for display, such as the algorithm `TB-WA*`, which has the key `tb-wa`."""

    @property
    def name(self) -> str: ...


def unknown_agent_hint(name: object, specs: Mapping[str, HasName]) -> str:
    """Return the end of an error message about an unknown agent: a similar key, or how to add an agent from a file."""
    word = str(name)[:40]
    kind = re.split(r"[,=(]", word)[0].strip().lower()  # `tb-wa,weight=3`, with a wrong separator, asks for `tb-wa`
    keys = {spec.name.lower(): key for key, spec in specs.items()}
    hint = f"; for an agent of your own, add its file: --agent-file {word}.py, or drop {word}.py onto the window"
    return similar_name_hint(keys.get(kind, kind), specs) or did_you_mean_hint(word, specs) + hint


def value_as_in_files(value: object) -> str:
    """Return a short text for any value in an error message, in the syntax of the program's files."""
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    return value_as_in_python(value)


def value_as_in_python(value: object) -> str:
    """Return a short text for any value in an error message, in the syntax of Python."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True)
class Param:
    """Declaration of one parameter: name, type, default and legal values, which `parse_value` checks."""

    name: str
    kind: type  # type of the values: bool, int, float or str
    default: Value
    help: str  # description of the parameter, with the unit of a number
    low: float | None = None  # minimum legal value of a number; None: no minimum
    high: float | None = None  # maximum legal value of a number; None: no maximum
    choices: tuple[str, ...] = ()  # legal values of a parameter of type str
    symbol: str = ""  # letter that papers use for the parameter, shown in panel headers; "": no letter
    step: float | None = None  # amount by which a + or - button changes the value; None: not specified
    label: str = ""  # label of the parameter in forms; "": `name` is shown
    zero_word: str = ""  # word that users type and see for the value 0, such as "none" for a limit; "": no such word

    def parse_value(self, value: object, where: str = "") -> Value:
        """Return the legal value that `value` represents.

        Args:
            value: value of the right type, or text from a command line.
            where: text that begins the error message.

        Raises:
            ConfigError: the value is not legal.
        """
        prefix = f"{where}: " if where else ""
        parsed = self._convert_to_type(value)
        if parsed is None:
            raise ConfigError(
                f"{prefix}expected {self.describe_legal_values()}, got {value_as_in_files(value)}"
                f"{self._similar_choice_hint(value)}"
            )
        if isinstance(parsed, (int, float)) and not isinstance(parsed, bool):
            too_low = self.low is not None and parsed < self.low
            too_high = self.high is not None and parsed > self.high
            if too_low or too_high or not math.isfinite(parsed):
                raise ConfigError(f"{prefix}expected {self.describe_legal_values()}, got {value_as_in_files(value)}")
        return parsed

    def _convert_to_type(self, value: object) -> Value | None:
        """Return `value` converted to the type of the parameter, without checking limits; None: it has another type."""
        if self.kind is bool:
            return _parse_bool(value)
        if isinstance(value, bool):
            return None
        if self.kind is str:
            return str(value) if str(value) in self.choices else None
        if not isinstance(value, (int, float, str)):
            return None
        if self.zero_word and value == self.zero_word:
            value = 0
        return _parse_int(value) if self.kind is int else _parse_float(value)

    def _similar_choice_hint(self, value: object) -> str:
        choices = (self.zero_word,) if self.zero_word else self.choices
        matches = difflib.get_close_matches(str(value)[:80], choices, n=1, cutoff=0.6)
        return f"; did you mean '{matches[0]}'?" if matches else ""

    def display_text(self, value: Value) -> str:
        """Return a value as text for display: a word such as "on" if the value has one, else the value itself."""
        if self.zero_word and value == 0:
            return self.zero_word
        return ("on" if value else "off") if self.kind is bool else f"{value}"

    def describe_legal_values(self) -> str:
        """Return a description of the legal values for error messages, such as "a whole number of at least 1"."""
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "one of " + ", ".join(self.choices)
        noun = "a whole number" if self.kind is int else "a number"
        if self.zero_word:
            return f"{self.zero_word} or {replace(self, low=self.step or 1, zero_word='').describe_legal_values()}"
        if self.low is not None and self.high is not None:
            return f"{noun} from {self._bound_text(self.low)} to {self._bound_text(self.high)}"
        if self.low is not None:
            return f"{noun} of at least {self._bound_text(self.low)}"
        return noun

    def _bound_text(self, bound: float) -> str:
        return f"{int(bound):,}" if self.kind is int else f"{bound:,.12g}"

    def declaration_data(self) -> dict[str, Any]:
        """Return the declaration of this parameter as plain data, for the output of `agents --json`."""
        return {
            "name": self.name,
            "type": self.kind.__name__,
            "default": self.default,
            "low": self.low,
            "high": self.high,
            "choices": list(self.choices),
            "symbol": self.symbol,
            "zero": self.zero_word,
            "help": self.help,
        }


def _parse_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    values = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    return values.get(str(value).lower())


def _parse_int(value: int | float | str) -> int | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


def _parse_float(value: int | float | str) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def parse_params(
    params: Iterable[Param], given: Mapping[str, object], where: str, problems: list[str]
) -> dict[str, Value]:
    """Check given values and return legal values for all parameters, with defaults for missing and illegal ones.

    Args:
        params: parameters for which values are returned.
        given: values by name of the parameter; parameters without a value get their defaults.
        where: text that begins each error message.
        problems: list to which error messages are appended. A parameter with an illegal value gets its default.
    """
    params_by_name = {p.name: p for p in params}
    values = {p.name: p.default for p in params_by_name.values()}
    for name, value in given.items():
        if name not in params_by_name:
            problems.append(f"{where}.{name}: no such parameter{did_you_mean_hint(name, params_by_name)}")
            continue
        try:
            values[name] = params_by_name[name].parse_value(value, f"{where}.{name}")
        except ConfigError as error:
            problems += error.problems
    return values
