"""Compilation of the kernels before anything is timed."""

from collections.abc import Sequence

from agents.registry import BY_KEY
from agents.warm import has_kernels, walk, walk_together
from cli.progress import Progress
from sim.commands import AgentConfig


def warm_up(configs: Sequence[AgentConfig], progress: Progress) -> None:
    """Let every agent walk over a tiny map once, so that its kernels are compiled before its first real tick."""
    configs = [config for config in configs if has_kernels(config.kind)]
    different = list({(config.kind, *sorted(config.params.items())): config for config in configs}.values())
    for i, config in enumerate(different):
        progress.show(f"preparing {BY_KEY[config.kind].name} (slow only the first time)", i / len(different))
        walk(config)
    if any(config.group for config in configs):
        progress.show("preparing crowds (slow only the first time)", 1.0)
        walk_together()
    progress.clear()
