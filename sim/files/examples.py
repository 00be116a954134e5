"""Find scenarios, maps, experiments and lessons that are shipped with the program, by file name without folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from sim.params import ConfigError, did_you_mean
from sim.program import ASSETS


@dataclass(frozen=True)
class Shipped:
    """Kind of files shipped with the program: the folder that contains the files, and their suffix."""

    folder: Path
    suffix: str

    def names(self) -> list[str]:
        """Return the sorted names of all shipped files of this kind, without suffix."""
        return sorted(path.stem for path in self.folder.glob(f"*{self.suffix}"))


EXAMPLES = ASSETS / "scenarios"
SCENARIOS = Shipped(EXAMPLES, ".yaml")
MAPS = Shipped(ASSETS / "maps", ".map")
EXPERIMENTS = Shipped(ASSETS / "experiments", ".yaml")
LESSONS = Shipped(ASSETS / "lessons", ".yaml")

OPENED = (SCENARIOS, LESSONS, MAPS)  # shipped files that the window opens; a name is looked up in this order


def named_file(name: str, kind: Shipped = SCENARIOS) -> str:
    """Return the path of the shipped file with this name, or the name itself if it is an existing file or unknown.

    An existing folder of that name is ignored: `experiment e6` creates a folder e6 for results, and the same command
    must find the shipped file again to continue the experiment.

    Args:
        name: path of a file, or name of a shipped file with or without suffix: `bridges` or `bridges.yaml`.
        kind: kind of shipped file.
    """
    if (os.path.lexists(name) and not os.path.isdir(name)) or os.path.basename(name) != name or not name.strip("."):
        return name
    example = kind.folder / (name if name.endswith(kind.suffix) else f"{name}{kind.suffix}")
    return str(example) if example.is_file() else name


def opened_file(name: str) -> str:
    """Return the path of the shipped file with this name, of any kind that the window opens, or the name itself."""
    return next((file for kind in OPENED if (file := named_file(name, kind)) != name), name)


def asked_file(name: str, kind: Shipped = SCENARIOS) -> str:
    """Return the path for a file name that the user typed; like named_file(), but unknown names raise an error.

    Raises:
        ConfigError: A name without suffix is neither a file nor a shipped file; the message suggests the nearest one.
    """
    file = named_file(name, kind)
    if os.path.basename(name) == name and "." not in name and not os.path.lexists(file):
        raise ConfigError(f"{name}: no such file or example{did_you_mean(name, kind.names())}")
    return file
