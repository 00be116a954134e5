"""Estimates of computing time (work): they decide when a timeline saves keyframes, and how much it does per slice.

The unit of work is about a microsecond of the machine on which the constants were tuned. Work is computed from numbers
of ticks, expansions and map changes and never timed, so that it is deterministic.
"""

from sim.time.keyframes import Keyframe
from sim.world import World

COMMAND_WORK = 100.0
"""Estimated work to apply one command."""

_ADVANCE_WORK = 1.0  # estimated work of one call of World.advance, not counting its agents
# Estimated work per tick of an agent that runs many ticks in one call, not counting its expansions.
_BULK_TICK_WORK = 0.5
# Estimated work per tick of an agent that is called in every tick, not counting its expansions.
_SLOW_TICK_WORK = 20.0
_EXPANSION_WORK = 0.1  # estimated work to expand one search node
_MAP_CELL_WORK = 0.012  # estimated work per map cell of one random change of the map
_CHEAP_BUFFER_COUNT = 500  # a keyframe with at most this number of array buffers is saved in negligible time
# Work to add to the interval between keyframes for each array buffer above _CHEAP_BUFFER_COUNT.
# Saving one buffer takes about 20 microseconds, so saving takes at most 5 % of the computing time.
_SPACING_PER_BUFFER = 20 * 20.0
_BYTES_PER_WORK = 5000  # estimated number of bytes that restoring a keyframe copies per microsecond


def estimated_work_of_ticks(world: World, ticks: int, expansions: int) -> float:
    """Return the estimated computing time of the last `ticks` ticks of a world, in microseconds.

    Args:
        world: the world after these ticks, which were run without a command in between.
        ticks: number of ticks.
        expansions: number of expansions in these ticks.
    """
    tick = sum([_BULK_TICK_WORK if walker.spec.runs_in_bulk else _SLOW_TICK_WORK for walker in world.walkers])
    event = _MAP_CELL_WORK * world.grid.cells if world.random_changes.is_change_due(world.tick - ticks) else 0.0
    return _ADVANCE_WORK + ticks * tick + expansions * _EXPANSION_WORK + event


def estimated_work_of_idle_ticks() -> float:
    """Return the estimated computing time of a call of World.advance in which no agent did anything."""
    return _ADVANCE_WORK


def total_expansions(world: World) -> int:
    """Return the number of expansions so far, by the agents on the map and by measurements of true distances."""
    return sum([walker.expansions for walker in world.walkers]) + world.optimality_tracker.true_distances.expansions


def estimated_restore_us(frame: Keyframe) -> float:
    """Return the estimated time to restore a keyframe, in microseconds."""
    return frame.array_contents.restored_bytes / _BYTES_PER_WORK


def restored_bytes_of_work(work: float) -> int:
    """Return how many bytes of a keyframe can be restored in about `work` microseconds."""
    return int(min(work * _BYTES_PER_WORK, 1 << 62))


def extra_keyframe_spacing(frame: Keyframe) -> float:
    """Return by how many microseconds a large number of array buffers increases the keyframe spacing."""
    return _SPACING_PER_BUFFER * max(0, len(frame.array_contents.buffer_sizes) - _CHEAP_BUFFER_COUNT)
