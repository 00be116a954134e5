"""Other versions of numba: no internals are imported, plain numba.jit compiles the kernels, and results are equal."""

import os
import subprocess
from pathlib import Path

import pytest

from sim.jit.decorators import JIT_ON
from sim.jit.numba_version import IS_NUMBA_SUPPORTED

from .conftest import ROOT, run_python

compiles = pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")

OTHER_NUMBA_VARIABLE = "BACKMOVE_OTHER_NUMBA"
"""Environment variable with the Python programs of virtual environments that contain other versions of numba, with a
colon between them. docs/optimisations.md says how to make such environments."""

FAKE_VERSION = """
import numba
numba.__version__ = "0.99.1"
"""

SMALL_RUN = """
import sys
from agents.warm_up import build_tiny_world
from sim.batching.agent_batch import form_batches
from sim.jit.numba_version import IS_NUMBA_SUPPORTED
from sim.time.keyframes import restore_world, take_keyframe
from sim.world_commands import AgentConfig, EditCells

world = build_tiny_world(watched=False, trials=1)
for _ in range(6):
    world.add(AgentConfig("lrta", group="crowd"))
world.advance(3)
world.submit(EditCells(blocked_cells=(19,)))
frame = take_keyframe(world)
world.advance(3)
take_keyframe(world, base=frame)
again = restore_world(frame)
again.advance(20)
INTERNALS = ("cache", "inner", "intrinsics", "table_indexing")
print(
    IS_NUMBA_SUPPORTED,
    len(form_batches(world.walkers, 2)),
    sum(f"sim.jit.{name}" in sys.modules for name in INTERNALS),
    again.compute_digest(),
)
"""
"""Run that uses every module which depends on numba's internals: kernels and their cache, batches, tables in tiles, and
keyframes, which read memory by address and yield the processor."""


@pytest.fixture(scope="module")
def digest_of_supported_numba() -> str:
    supported, batches, internals, digest = run_python(SMALL_RUN).split()
    assert (supported, batches, internals) == ("True", "1", "4")
    return digest


@compiles
@pytest.mark.slow
def test_unknown_numba_version_gives_equal_results_without_internals(
    tmp_path: Path, digest_of_supported_numba: str
) -> None:
    told = run_python(FAKE_VERSION + SMALL_RUN, NUMBA_CACHE_DIR=str(tmp_path)).split()
    assert told == ["False", "0", "0", digest_of_supported_numba]
    assert list(tmp_path.rglob("plain-*/*/*.nbi")), "stored in numba's own cache"


def test_unknown_numba_version_imports_no_internals_without_compiler() -> None:
    told = run_python(FAKE_VERSION + SMALL_RUN, NUMBA_DISABLE_JIT="1").split()
    assert told[:3] == ["False", "0", "0"]


@compiles
@pytest.mark.slow
@pytest.mark.parametrize("python", os.environ.get(OTHER_NUMBA_VARIABLE, "").split(os.pathsep))
def test_installed_other_numba_version_gives_equal_results(
    python: str, tmp_path: Path, digest_of_supported_numba: str
) -> None:
    if not python:
        pytest.skip(f"{OTHER_NUMBA_VARIABLE} names no other version of numba")
    done = subprocess.run(
        [python, "-c", SMALL_RUN],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    supported, batches, internals, digest = done.stdout.split()
    assert (supported, batches, internals) in (("True", "1", "4"), ("False", "0", "0"))
    assert digest == digest_of_supported_numba


LINKED_MODULE = """
define linkonce_odr i64 @called(i64 %x) {
  ret i64 %x
}
declare i64 @elsewhere(i64)
define i64 @kernel(i64 %x) {
  %y = call i64 @called(i64 %x)
  ret i64 %y
}
"""


@pytest.mark.skipif(not IS_NUMBA_SUPPORTED, reason="plain numba.jit compiles the kernels")
def test_functions_linked_into_a_kernel_are_internal() -> None:
    """LLVM inlines them more often; the kernel itself must be found by its name."""
    from llvmlite.binding import parse_assembly

    from sim.jit.inner import _make_linked_functions_internal

    module = parse_assembly(LINKED_MODULE)
    _make_linked_functions_internal(module)
    linkages = {function.name: function.linkage.name for function in module.functions}
    assert linkages == {"called": "internal", "elsewhere": "external", "kernel": "external"}
