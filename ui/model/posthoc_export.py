"""Export of an agent's run as a search trace for Posthoc, a viewer of searches; the run is repeated in the background.

This module does not use pygame.
"""

from collections.abc import Callable
from pathlib import Path

from files.posthoc import MANY_EVENTS, open_posthoc_trace
from sim.params import ConfigError
from sim.time.timeline import Timeline
from sim.walker import Walker
from sim.world import World


def posthoc_trace_writer(timeline: Timeline, agent: int, path: Path) -> Callable[[Callable[[float], None]], str]:
    """Return a function that writes the trace up to the current tick and returns a message about it.

    The commands of the timeline are copied at once, so that the function can run in the background.

    Args:
        timeline: Timeline to export.
        agent: Number of the agent whose search is exported.
        path: File to write.
    """
    build_world, until = timeline.build_world, timeline.tick
    commands = [
        (entry.tick, entry.command)
        for entry in timeline.command_log.entries
        if entry.is_enabled and entry.tick <= until
    ]

    def write(report_progress: Callable[[float], None]) -> str:
        world = build_world()
        world.instrument_agent(agent)
        world.replace_queued_commands(commands)
        walker = _advance_until_agent_joins(world, agent, until)
        with open_posthoc_trace(path, world, walker) as trace:
            trace.write_tick()
            while world.tick < until and world.advance(1):
                trace.write_tick()
                report_progress(world.tick / until)
        slow = ". Posthoc takes long to open so many." if trace.event_count > MANY_EVENTS else ""
        return f"Saved {trace.event_count:,} events in {path.name}{slow}"

    return write


def _advance_until_agent_joins(world: World, agent: int, until: int) -> Walker:
    """Advance the world until the agent has joined the run, at most to tick `until`, and return the agent."""
    while world.walker_with_id(agent) is None and world.tick < until and world.advance(1):
        pass
    world.apply_due_changes()
    walker = world.walker_with_id(agent)
    if walker is None:
        raise ConfigError("This agent has not done anything yet")
    return walker
