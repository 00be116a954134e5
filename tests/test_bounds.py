"""The kernel tests' core once more in interpreters that see more, or do without the compiler."""

import pytest

from .conftest import run_python

CORE = "from tests.test_kernels import check_core; check_core(); print('done')"
WORLD = "from tests.test_world import run_everything; [run_everything(watched) for watched in (False, True)]"


@pytest.mark.slow
def test_compiled_kernels_pass_bounds_checks() -> None:
    """With bounds checks on: an index out of range may else go unseen, or crash.

    Two thirds of a minute of compiling. Without the compiler the same kernels do the same work in the quick tests below
    and in test_world.py, and numpy tells of the same indices.
    """
    assert run_python(f"{WORLD}\n{CORE}", NUMBA_BOUNDSCHECK="1").strip() == "done"


def test_uncompiled_kernels_do_not_overflow() -> None:
    """Without the JIT numpy tells of overflows, and warnings are errors. (The agents: test_world.py.)"""
    assert run_python(CORE, NUMBA_DISABLE_JIT="1").strip() == "done"
