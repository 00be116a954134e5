"""Compiled kernels are read into the program before anybody waits for them.

A kernel that lies compiled in the cache is read at its first call: 3 to 20 ms, a lost frame when it is the first edit
or the first heat map that calls it. The window reads one after another in the time that its frames leave over.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sim.kernels.jit import KERNELS


class Loader:
    """All versions of all kernels that the cache has, each read in a step of its own."""

    def __init__(self, first: str = "") -> None:
        """`first`: the kernels of the modules that begin so come before the others."""
        in_order = sorted(KERNELS, key=lambda kernel: not kernel.__module__.startswith(first))
        self._steps = _steps(in_order)

    def load_next(self) -> bool:
        """Read one more; False when there is none."""
        return next(self._steps, False)


def _steps(kernels: Iterable[Any]) -> Iterator[bool]:
    for kernel in kernels:
        for signature in kernel._cache.kept(kernel.targetctx):
            if signature not in kernel.overloads:
                kernel.compile(signature)  # which finds it in the cache
                yield True
