"""Small random runs, and what it means that two worlds are the same. Shared by the tests of time travel."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from files.map_source import map_rows_of_grid
from files.scenario import Scenario
from sim import world_commands
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.executor import ExecutorFactory
from sim.grid import Grid
from sim.kernels import stale
from sim.kernels.buckets import Buckets
from sim.time.command_log import LogEntry
from sim.time.keyframes import generation_tables_of_world
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, Command, TimedCommand

from .conftest import parameter_sets, problems, smallest_accepted_budget


def batches_of(fewest: int) -> ExecutorFactory:
    """An executor that forms batches of at least so many agents; with 1,000,000 there are none."""
    return partial(BatchedExecutor, min_batch_size=fewest)


def scenario_on(
    grid: Grid,
    start: int,
    goal: int,
    agents: Iterable[AgentConfig] = (),
    budget: int = 16,
    seed: int = 0,
    switches: Mapping[str, Iterable[int]] | None = None,
    script: Iterable[tuple[int, Command]] = (),
    **more: Any,
) -> Scenario:
    """A scenario on a grid that comes from nowhere, with its places as cells."""
    named = {name: tuple(grid.xy(cell) for cell in cells) for name, cells in (switches or {}).items()}
    more = {"title": "Untitled", **more}
    more |= {"seed": seed, "budget": budget, "switches": named, "timed_commands": timed(script)}
    return Scenario(map_rows_of_grid(grid), grid.xy(start), grid.xy(goal), tuple(agents), grid=grid, **more)


def timed(script: Iterable[tuple[int, Command]]) -> tuple[TimedCommand, ...]:
    return tuple(TimedCommand(tick, command) for tick, command in script)


def changed(scenario: Scenario, script: Iterable[tuple[int, Command]] | None = None, **more: Any) -> Scenario:
    """The scenario with other values, a script among them."""
    edits = scenario.timed_commands if script is None else timed(script)
    return replace(scenario, timed_commands=edits, **more)


@st.composite
def agent_configs(draw: st.DrawFn) -> AgentConfig:
    spec = draw(st.sampled_from(AGENT_SPECS))
    params = draw(st.sampled_from(parameter_sets(spec)))
    budget = smallest_accepted_budget(spec, params, draw(st.sampled_from([1, 2, 5, 40])))
    return AgentConfig(spec.key, draw(st.sampled_from(["", "a", "two"])), params, budget)


@st.composite
def setups(draw: st.DrawFn, most_agents: int = 4) -> Callable[[], World]:
    """A function that builds a small world with agents, switches, perhaps a script and random changes."""
    rows, start, goal = draw(problems(side=9))
    grid = Grid.from_text_rows(rows)
    cells = st.integers(0, grid.cells - 1)
    configs = draw(st.lists(agent_configs(), min_size=1, max_size=most_agents))
    switches = {"a": tuple(draw(st.lists(cells, min_size=1, max_size=4))), "b": (draw(cells),)}
    changes = draw(st.sampled_from([None, None, RandomChangeSchedule(7, 30.0), RandomChangeSchedule(3, 60.0)]))
    script = draw(st.lists(st.tuples(st.integers(0, 40), some_command(grid.cells)), max_size=3))
    seed = draw(st.integers(0, 3))

    def setup() -> World:
        world = World(
            Grid.from_text_rows(rows),
            start,
            goal,
            AGENT_SPECS_BY_KEY,
            seed=seed,
            switches=switches,
            random_changes=changes,
            watched=True,
            executor=BatchedExecutor,
        )
        for config in configs:
            world.add(config)
        world.queue_commands(sorted(script, key=lambda timed: timed[0]))
        return world

    return setup


def some_command(cells: int) -> st.SearchStrategy[Command]:
    """Any command on a map of so many cells, legal or not."""
    cell = st.integers(0, cells - 1)
    few = st.lists(cell, max_size=6).map(tuple)
    agent = st.integers(0, 5)
    param = st.sampled_from(
        [
            (p.name, v)
            for s in AGENT_SPECS
            for chosen in parameter_sets(s)
            for p in s.params
            for v in [chosen.get(p.name, p.default)]
        ]
    )
    return st.one_of(
        st.builds(world_commands.EditCells, few, few),
        st.builds(world_commands.EditCells, few),
        st.lists(st.tuples(cell, st.sampled_from(".@TSGW")), max_size=5).map(_terrain),
        st.builds(world_commands.SetSwitch, st.sampled_from(["a", "b", "none"]), st.booleans()),
        st.builds(world_commands.DefineSwitch, st.sampled_from(["a", "c: d"]), few),
        st.builds(world_commands.MoveGoal, cell),
        st.builds(world_commands.SetBudget, st.sampled_from([1, 3, 50])),
        st.builds(world_commands.SetBudget, st.sampled_from([None, 2, 60]), agent),
        st.builds(lambda agent, param: world_commands.SetParam(agent, *param), agent, param),
        st.builds(world_commands.RenameAgent, agent, st.sampled_from(["", "other", "c: d"])),
        st.builds(world_commands.AddAgent, agent_configs()),
        st.builds(world_commands.RemoveAgent, agent),
        st.builds(world_commands.SetMaxTrials, st.sampled_from([1, 2, 7])),
        st.builds(world_commands.SetRandomChanges, st.integers(1, 9), st.sampled_from([0.0, 20.0, 50.0])),
    )  # fmt: skip


def _terrain(pairs: list[tuple[int, str]]) -> Command:
    return world_commands.SetTerrain(tuple(c for c, _ in pairs), "".join(letter for _, letter in pairs))


def plain_run(setup: Callable[[], World], entries: Iterable[LogEntry], tick: int) -> World:
    """The world at a tick with its commands applied, run from the beginning in one go."""
    world = setup()
    world.replace_queued_commands([(e.tick, e.command) for e in entries if e.is_enabled])
    world.advance(tick)
    world.apply_due_changes()
    return world


def assert_as_plain(timeline: Timeline) -> None:
    """The world of a timeline is, agent by agent and byte by byte, that of a plain run with the same commands."""
    timeline.apply_due_commands()
    plain = plain_run(timeline.build_world, timeline.command_log.entries, timeline.tick)
    assert timeline.world.tick == plain.tick
    assert_equal(timeline.world, plain)
    assert timeline.world.compute_digest() == plain.compute_digest()


def assert_equal(one: Any, other: Any) -> None:
    """Equal through and through: every array, every attribute, whatever way led there.

    What searches that are over have left counts for nothing: a keyframe has written zeros over it, or there was none.
    """
    for world in (one, other):
        stale.clear_stale_records(generation_tables_of_world(world) if isinstance(world, World) else ())
    _compare(one, other, "world", {})


def _held(buckets: Buckets) -> dict[int, list[int]]:
    """What each bucket holds, in its order. Memory that no bucket uses holds leftovers of other searches."""
    held = {}
    for slot in range(buckets.heads.size):
        if not int(buckets.nonempty_bucket_bits[slot >> 5]) >> (slot & 31) & 1:
            continue
        head, entries = int(buckets.heads[slot]), []
        while head:
            chunk, left = head >> 3, head & 7
            head, *ties = buckets.chunks[8 * chunk : 8 * chunk + 8].tolist()
            entries += ties[: 7 - left]
        held[slot] = entries
    return held


def _compare(a: Any, b: Any, where: str, seen: dict[int, int]) -> None:
    if id(a) in seen:
        assert seen[id(a)] == id(b), f"{where}: shared with something else"
        return
    assert type(a) is type(b), f"{where}: {a!r} {b!r}"
    if isinstance(a, Buckets):
        assert _held(a) == _held(b), where
    elif isinstance(a, np.ndarray):
        seen[id(a)] = id(b)
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), where
    elif isinstance(a, dict):
        assert set(a) == set(b), f"{where}: {set(a) ^ set(b)}"
        for key in a:
            _compare(a[key], b[key], f"{where}[{key!r}]", seen)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _compare(x, y, f"{where}[{i}]", seen)
    elif hasattr(a, "__dict__") and not isinstance(a, type) and not callable(a):
        seen[id(a)] = id(b)
        _compare(_state(a), _state(b), where, seen)
    else:
        assert a == b, f"{where}: {a!r} {b!r}"


def _state(thing: object) -> dict[str, object]:
    """What belongs to the state of an object, as its class declares: fields that are compared, or what it pickles."""
    if hasattr(thing, "getstate"):  # random.Random
        return {"state": thing.getstate()}
    if is_dataclass(thing):
        return {each.name: getattr(thing, each.name) for each in fields(thing) if each.compare}
    state = thing.__getstate__()
    assert isinstance(state, dict), f"{type(thing)}: {state!r}"
    return state
