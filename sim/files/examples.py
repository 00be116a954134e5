"""The examples that come with the program, which can be named without their folder."""

import os

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
