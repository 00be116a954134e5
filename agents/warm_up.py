"""Warm-up runs, in which each kind of agent walks over a tiny map and calls all its kernels, so that they are compiled.

A part is the group of kernels that one feature needs, with a key and a title (sim/jit/ready.py).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from sim.agent_placing import cheapest_costs_and_moves, possibly_changed_path_mask
from sim.batching.agent_batch import MIN_BATCH_SIZE
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.executor import ExecutorFactory
from sim.grid import Grid
from sim.jit.ready import KernelSet
from sim.map_generators import component_labels, largest_component_mask
from sim.movement import SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import Value
from sim.sequential_executor import SequentialExecutor
from sim.time.keyframes import restore_world, take_keyframe
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal

_TINY_MAP_ROWS = ("........", "..@@@@..", "..@..@..", "........")
_TOGGLED_CELL = 19

_EXTRA_PARAMS_BY_KIND: dict[str, tuple[dict[str, Value], ...]] = {
    "tba": ({"open_list": "buckets", "shortcut": True, "switch": "longer"},),
    "lrta": ({"on_unblock": "reset"},),
    "d-lrta": ({"goal_control": "global"}, {"cap": 0}),
    "p-lrta": ({"on_unblock": "reset"},),
}
"""Parameters, by kind, with which agents call kernels that the default parameters never call."""

CROWD_KIND = "crowd"
"""Pseudo-kind for the kernels that groups of agents need."""

_BATCH_KINDS: tuple[tuple[str, dict[str, Value]], ...] = (
    ("tba", {}),
    ("dstar-lite", {}),
    ("tb-wa", {"weight": 1.0}),
    ("tb-wa", {"weight": 2.0}),
    ("lrta", {}),
)
"""Kinds with a kernel for a batch of agents, with each set of parameters for which that kernel is compiled apart."""


def world_kernel_set() -> KernelSet:
    """Return the part with the kernels that every world needs, whatever its agents."""
    return KernelSet("world", "the map", _call_world_kernels)


def _call_world_kernels() -> None:
    frame = take_keyframe(build_tiny_world(watched=True))
    world = restore_world(frame)
    # The result is discarded at once, so the kernel that releases memory in the pool runs too.
    take_keyframe(world, base=frame)
    assert frame.array_contents.part_pool.used_bytes
    component_labels(Grid.from_text_rows(list(_TINY_MAP_ROWS), movement=Movement(SQUEEZE_BETWEEN_CORNERS)))
    largest_component_mask(world.grid.free_mask_2d)
    cheapest_costs_and_moves(world.grid, [0, 1], world.goal)
    possibly_changed_path_mask(world.grid, [0], [world.goal], [1.0], np.zeros(1, np.int32))


def agent_creation_kernel_set() -> KernelSet:
    """Return the part with the kernels that are called when agents of any kind are added to a world."""
    return KernelSet("beginnings", "the agents", _create_all_agents)


def _create_all_agents() -> None:
    world = build_tiny_world(watched=True)
    for spec in AGENT_SPECS:
        if not spec.is_own:
            world.add(AgentConfig(spec.key))
    world.create_snapshot()


def agent_kernel_sets(kinds: Iterable[str], *, watched: bool) -> list[KernelSet]:
    """Return one part for each of these kinds of agents, with all kernels that agents of the kind may call.

    Args:
        kinds: Keys of agents, or `CROWD_KIND`.
        watched: Whether the window displays the agents, which takes further kernels.
    """
    return [_agent_kernel_set(kind, watched=watched) for kind in dict.fromkeys(kinds) if has_agent_kernels(kind)]


def has_agent_kernels(kind: str) -> bool:
    """Return whether a kind of agents has kernels; user-defined agents are plain Python."""
    return kind not in AGENT_SPECS_BY_KEY or not AGENT_SPECS_BY_KEY[kind].is_own


def all_agent_kernel_sets(*, watched: bool) -> list[KernelSet]:
    return agent_kernel_sets((*(spec.key for spec in AGENT_SPECS), CROWD_KIND), watched=watched)


def kernel_set_key(kind: str, *, watched: bool) -> str:
    return f"{kind}-watched" if watched else kind


def _agent_kernel_set(kind: str, *, watched: bool) -> KernelSet:
    """Return the part with all kernels of one kind of agents, or of crowds."""
    if kind == CROWD_KIND:
        return KernelSet(kernel_set_key(kind, watched=watched), "crowds", warm_up_batches)

    def compile_all() -> None:
        for params in ({}, *_EXTRA_PARAMS_BY_KIND.get(kind, ())):
            warm_up_agent(AgentConfig(kind, params=params), watched=watched)

    return KernelSet(kernel_set_key(kind, watched=watched), AGENT_SPECS_BY_KEY[kind].name, compile_all)


def warm_up_batches() -> None:
    """Advance batches of all kinds of agents that have batch kernels, and change the map in between."""
    # One trial, because agents with several trials cannot be in a batch.
    world = build_tiny_world(watched=False, trials=1, executor=BatchedExecutor)
    goals = [world.grid.xy(cell) for cell in world.grid.free_mask.nonzero()[0].tolist()]
    for kind, params in _BATCH_KINDS:
        for goal in goals[1 : 1 + MIN_BATCH_SIZE]:
            world.add(AgentConfig(kind, params=params, goal=goal, group=f"{kind} {params}"))
        world.add(AgentConfig(kind, params=params, group=kind))  # a group of one agent, which is too small for a batch
    for command in (EditCells(blocked_cells=(_TOGGLED_CELL,)), EditCells(freed_cells=(_TOGGLED_CELL,))):
        world.advance(2)
        world.submit(command)
    world.advance(2)
    world.create_snapshot()
    world.compute_digest()


def build_tiny_world(*, watched: bool, trials: int = 2, executor: ExecutorFactory = SequentialExecutor) -> World:
    """Return a world on a map of 8 x 4 cells with random changes, in which warm-up runs take place."""
    grid = Grid.from_text_rows(list(_TINY_MAP_ROWS))
    changes = RandomChangeSchedule(5, 5.0)
    return World(
        grid,
        0,
        grid.cells - 1,
        AGENT_SPECS_BY_KEY,
        budget=100,
        random_changes=changes,
        watched=watched,
        trials=trials,
        executor=executor,
    )


def warm_up_agent(config: AgentConfig, *, watched: bool = False) -> None:
    """Advance an agent on the tiny map, while cells are blocked and freed and the goal is moved, to run its kernels."""
    world = build_tiny_world(watched=watched)
    world.add(replace(config, start=None, goal=None))
    world.advance(2)
    for command in (EditCells(blocked_cells=(_TOGGLED_CELL,)), EditCells(freed_cells=(_TOGGLED_CELL,)), MoveGoal(7)):
        world.submit(command)
        world.advance(2)
    world.advance(30)
    world.create_snapshot()
