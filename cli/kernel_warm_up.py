"""Compilation of the kernels before anything is timed."""

from collections.abc import Sequence

from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import has_agent_kernels, warm_up_agent, warm_up_batches
from cli.progress import ProgressBar
from sim.world_commands import AgentConfig


def warm_up_agents(configs: Sequence[AgentConfig], progress: ProgressBar) -> None:
    """Let every agent walk over a tiny map once, so that its kernels are compiled before its first real tick."""
    configs = [config for config in configs if has_agent_kernels(config.kind)]
    different = list({(config.kind, *sorted(config.params.items())): config for config in configs}.values())
    for i, config in enumerate(different):
        progress.update_bar(
            f"preparing {AGENT_SPECS_BY_KEY[config.kind].name} (slow only the first time)", i / len(different)
        )
        warm_up_agent(config)
    if any(config.group for config in configs):
        progress.update_bar("preparing crowds (slow only the first time)", 1.0)
        warm_up_batches()
    progress.clear_bar()
