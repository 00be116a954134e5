"""Find scenarios, maps, experiments and lessons that are shipped with the program, by file name without folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from sim.params import ConfigError, did_you_mean_hint
from sim.system.program import ASSETS_FOLDER


@dataclass(frozen=True)
class ShippedKind:
    """Kind of files shipped with the program: the folder that contains the files, and their suffix."""

    folder: Path
    suffix: str

    def names(self) -> list[str]:
        """Return the sorted names of all shipped files of this kind, without suffix."""
        return sorted(path.stem for path in self.folder.glob(f"*{self.suffix}"))


SCENARIOS_FOLDER = ASSETS_FOLDER / "scenarios"
SCENARIOS = ShippedKind(SCENARIOS_FOLDER, ".yaml")
MAPS = ShippedKind(ASSETS_FOLDER / "maps", ".map")
EXPERIMENTS = ShippedKind(ASSETS_FOLDER / "experiments", ".yaml")
LESSONS = ShippedKind(ASSETS_FOLDER / "lessons", ".yaml")

OPENABLE_KINDS = (SCENARIOS, LESSONS, MAPS)  # shipped files that the window opens; a name is looked up in this order


def resolve_shipped_file(name: str, kind: ShippedKind = SCENARIOS) -> str:
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


def resolve_openable_file(name: str) -> str:
    """Return the path of the shipped file with this name, of any kind that the window opens, or the name itself."""
    return next((file for kind in OPENABLE_KINDS if (file := resolve_shipped_file(name, kind)) != name), name)


def require_shipped_file(name: str, kind: ShippedKind = SCENARIOS) -> str:
    """Return the path for a file name typed by the user; like resolve_shipped_file(), but unknown names raise an error.

    Raises:
        ConfigError: A name without suffix is neither a file nor a shipped file; the message suggests the nearest one.
    """
    file = resolve_shipped_file(name, kind)
    if os.path.basename(name) == name and "." not in name and not os.path.lexists(file):
        raise ConfigError(f"{name}: no such file or example{did_you_mean_hint(name, kind.names())}")
    return file
