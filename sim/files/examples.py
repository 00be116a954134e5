"""What comes with the program and can be named without its folder: scenarios, maps, experiments, lessons."""

import os
from dataclasses import dataclass
from pathlib import Path

from sim.params import ConfigError, did_you_mean
from sim.program import ASSETS


@dataclass(frozen=True)
class Shipped:
    """Files of one kind that come with the program."""

    folder: Path
    suffix: str

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob(f"*{self.suffix}"))


EXAMPLES = ASSETS / "scenarios"
SCENARIOS = Shipped(EXAMPLES, ".yaml")
MAPS = Shipped(ASSETS / "maps", ".map")
EXPERIMENTS = Shipped(ASSETS / "experiments", ".yaml")
LESSONS = Shipped(ASSETS / "lessons", ".yaml")

OPENED = (SCENARIOS, LESSONS, MAPS)  # by the window; what has one name in two of them is of the first


def named_file(name: str, kind: Shipped = SCENARIOS) -> str:
    """A file, or the example of that name where there is no such file: `bridges` or `bridges.yaml`.

    A folder of that name does not count: `experiment e6` writes one, and the same command goes on with it.
    """
    if (os.path.lexists(name) and not os.path.isdir(name)) or os.path.basename(name) != name or not name.strip("."):
        return name
    example = kind.folder / (name if name.endswith(kind.suffix) else f"{name}{kind.suffix}")
    return str(example) if example.is_file() else name


def opened_file(name: str) -> str:
    """The same for the window, which opens examples of several kinds."""
    return next((file for kind in OPENED if (file := named_file(name, kind)) != name), name)


def asked_file(name: str, kind: Shipped = SCENARIOS) -> str:
    """The same; a ConfigError with the nearest example where a name without ending is neither."""
    file = named_file(name, kind)
    if os.path.basename(name) == name and "." not in name and not os.path.lexists(file):
        raise ConfigError(f"{name}: no such file or example{did_you_mean(name, kind.names())}")
    return file
