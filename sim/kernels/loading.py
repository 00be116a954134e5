"""Prefetching of compiled kernels from the cache.

Without prefetching, a compiled kernel is read from its file at its first call, which takes 3 to 20 ms. The window would
lose a frame when the first edit or the first heat map calls a kernel. So it reads one kernel after another in the idle
time of its frames.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sim.kernels.jit import KERNELS


class KernelLoader:
    """Prefetch of all cached kernels; each call of load_next() loads one overload of one kernel."""

    def __init__(self, first: str = "") -> None:
        """Order the kernels so that modules whose name starts with `first` are loaded before the others."""
        in_order = sorted(KERNELS, key=lambda kernel: not kernel.__module__.startswith(first))
        self._steps = _load_overloads(in_order)

    def load_next(self) -> bool:
        """Load one more overload; return False when all are loaded."""
        return next(self._steps, False)


def _load_overloads(kernels: Iterable[Any]) -> Iterator[bool]:
    """Load the cached overloads of the kernels one by one; yield True after each."""
    for kernel in kernels:
        for signature in kernel._cache.kept(kernel.targetctx):
            if signature not in kernel.overloads:
                kernel.compile(signature)  # loads the machine code from the cache instead of compiling it
                yield True
