"""Compile all kernels, pack their cache into an archive for a wheel, and print its path.

Run by packaging/compile.py, which sets the processor and an empty cache: `python -m tools.compile_kernels FOLDER`.
"""

import sys

from agents.warm_up import all_agent_kernel_sets
from sim.jit.kernel_archive import pack_kernel_cache
from sim.jit.ready import KernelSet, compile_missing_kernel_sets
from ui.warmup import all_kernel_sets


def main(folder: str) -> None:
    compile_missing_kernel_sets([*all_kernel_sets(), *all_agent_kernel_sets(watched=False)], _print_progress)
    print(pack_kernel_cache(folder))


def _print_progress(part: KernelSet, done: int, total: int) -> None:
    print(f"{done + 1} of {total}: {part.title}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
