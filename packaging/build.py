"""Build hooks for hatchling: requirements come from requirements*.txt, and a wheel may include compiled kernels.

With BACKMOVE_KERNELS=FILE, the wheel includes the archive written by `python packaging/compile.py FILE`, and its tag
names this Python and this system. Without it, the wheel is pure Python: the first start compiles the kernels.
"""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "BACKMOVE_KERNELS"


class Requirements(MetadataHookInterface):
    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["dependencies"] = self._lines("requirements.txt")
        metadata["optional-dependencies"] = {"cluster": self._lines("requirements-cluster.txt")}

    def _lines(self, name: str) -> list[str]:
        """Return the requirements of a file, without comments and references to other files."""
        lines = (Path(self.root) / name).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.strip() and not line.startswith(("#", "-"))]


class Kernels(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        archive = os.environ.get(VARIABLE)
        if self.target_name != "wheel" or version == "editable" or not archive:
            return
        build_data["force_include"][archive] = f"backmove/_app/{Path(archive).name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"{_python()}-{_python()}-{_platform()}"


def _python() -> str:
    return f"cp{sys.version_info.major}{sys.version_info.minor}"


def _platform() -> str:
    """Return the platform tag: manylinux on Linux, because package indexes reject plain linux tags.

    Any manylinux version is correct, because the archive needs no system library.
    """
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return name.replace("linux_", "manylinux_2_28_") if name.startswith("linux_") else name
