"""Making all the data that some agents will want on a map, in pieces, before they are made."""

from collections.abc import Iterable, Iterator, Mapping

from sim.agent_api import AgentSpec, Problem
from sim.commands import AgentConfig
from sim.grid import Grid
from sim.params import parse_params
from sim.prepared import Step, Stopwatch


def preparing(
    configs: Iterable[AgentConfig],
    specs: Mapping[str, AgentSpec],
    grid: Grid,
    ends: tuple[int, int],
    stopwatch: Stopwatch | None = None,
) -> Iterator[Step]:
    """What each agent needs, one after the other. Whoever stops asking keeps what is finished."""
    for config in configs:
        spec = specs[config.kind]
        params = parse_params(spec.params, config.params, spec.key, [])
        goal = ends[1] if config.goal is None else grid.cell(*config.goal)
        for step in spec.prepare(Problem(grid, ends[0], goal), params, stopwatch):
            yield Step(f"{config.label or spec.name}: {step.text}", step.share)


def is_anything_needed(configs: Iterable[AgentConfig], specs: Mapping[str, AgentSpec]) -> bool:
    """Whether any of these agents computes data before its run."""
    return any(specs[config.kind].has_data for config in configs if config.kind in specs)
