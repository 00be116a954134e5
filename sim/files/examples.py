"""The examples that come with the program, which can be named without their folder."""

import os

from sim.params import ConfigError, did_you_mean
from sim.program import ASSETS

EXAMPLES = ASSETS / "scenarios"
SUFFIX = ".yaml"


def example_names() -> list[str]:
    return sorted(path.stem for path in EXAMPLES.glob(f"*{SUFFIX}"))


def named_file(name: str) -> str:
    """A file, or the example of that name where there is no such file: `bridges` or `bridges.yaml`."""
    if os.path.lexists(name) or os.path.basename(name) != name or not name.strip("."):
        return name
    example = EXAMPLES / (name if name.endswith(SUFFIX) else f"{name}{SUFFIX}")
    return str(example) if example.is_file() else name


def asked_file(name: str) -> str:
    """The same; a ConfigError with the nearest example where a name without ending is neither."""
    file = named_file(name)
    if os.path.basename(name) == name and "." not in name and not os.path.lexists(file):
        raise ConfigError(f"{name}: no such file or example{did_you_mean(name, example_names())}")
    return file
