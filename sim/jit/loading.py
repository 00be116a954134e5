"""Prefetching of compiled kernels from the cache on disk.

A kernel that is not prefetched is loaded at its first call, which takes 3 to 20 ms: the window would drop a frame at
the first edit or the first heat map. So the window loads the kernels one by one while it is idle between frames.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sim.jit.decorators import KERNELS


class KernelLoader:
    """Prefetcher of all cached kernels.

    Each call of load_next_overload() loads one kernel, for one set of argument types.
    """

    def __init__(self, first: str = "") -> None:
        """Prepare to load all kernels, first those in modules whose name starts with `first`."""
        in_order = sorted(KERNELS, key=lambda kernel: not kernel.__module__.startswith(first))
        self._remaining_loads = _iter_kernel_loads(in_order)

    def load_next_overload(self) -> bool:
        """Load one more kernel, for one set of argument types; return False if all are loaded already."""
        return next(self._remaining_loads, False)


def _iter_kernel_loads(kernels: Iterable[Any]) -> Iterator[bool]:
    """Load the kernels from the cache, for all cached argument types. Yield True after each loading."""
    for kernel in kernels:
        for signature in kernel._cache.cached_signatures(kernel.targetctx):
            if signature not in kernel.overloads:
                kernel.compile(signature)  # only loads machine code, because the cache has it
                yield True
