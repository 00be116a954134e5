"""Arguments of the subcommands: errors come out as ConfigErrors, one line each, like any other bad input."""

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

from sim.params import ConfigError, Param, did_you_mean
from sim.program import NAME


class Arguments(argparse.ArgumentParser):
    """An argument parser that raises instead of printing its usage and leaving."""

    def __init__(self, command: str, description: str, **options: Any) -> None:
        super().__init__(prog=f"{NAME} {command}", description=description, allow_abbrev=False, **options)
        self._command = command

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"unrecognized arguments: (-\S*)", message)
        if unknown:
            message += did_you_mean(unknown.group(1), [o for a in self._actions for o in a.option_strings])
        raise ConfigError(f"{self._command}: {message}")


def checked(param: Param) -> Callable[[str], Any]:
    """A converter for argparse that lets a Param decide."""

    def convert(text: str) -> Any:
        try:
            return param.parse(text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def cell(text: str) -> tuple[int, int]:
    """A cell written X,Y."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a cell as X,Y, got {text!r}")
    return int(match[1]), int(match[2])
