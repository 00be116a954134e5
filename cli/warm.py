"""Compiling the kernels before anything is timed."""

from collections.abc import Sequence

from agents.registry import BY_KEY
from agents.warm import walk
from cli.progress import Progress
from sim.commands import AgentConfig


def warm_up(configs: Sequence[AgentConfig], progress: Progress) -> None:
    """Let every agent walk over a tiny map once, so that its first real tick is no slower than the others."""
    for i, config in enumerate(configs):
        progress.show(f"preparing {BY_KEY[config.kind].name} (takes long the first time only)", i / len(configs))
        walk(config)
    progress.clear()
