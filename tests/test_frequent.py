"""Kernels that are called every tick become machine code after a while: the same walks, whatever comes between."""

import random
from unittest.mock import patch

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.jit import decorators as jit
from sim.jit import inner
from sim.jit.decorators import JIT_ON, kernel, without_type_checks
from sim.world import World
from sim.world_commands import AgentConfig, MoveGoal, SetParam

from .conftest import parameter_sets, random_map_rows, smallest_accepted_budget

SIDE = 12


def walk_digest_and_rows(key: str, few: int, watched: bool) -> tuple[str, list[object]]:
    """The digest and all rows of an agent whose goal, parameters and map change."""
    chance = random.Random(key)
    grid = Grid.from_text_rows(random_map_rows(3, SIDE, SIDE, 0.2))
    free = grid.free_mask.nonzero()[0].tolist()
    changes = RandomChangeSchedule(9, 5.0)
    with patch.object(jit, "_CALLS_BEFORE_RESOLVING", few):
        world = World(grid, free[0], free[-1], AGENT_SPECS_BY_KEY, watched=watched, random_changes=changes, trials=2)
        spec = AGENT_SPECS_BY_KEY[key]
        walker = world.add(AgentConfig(key, budget=smallest_accepted_budget(spec, {}, 9)))
        log: list[object] = []
        for tick in range(160):
            if tick % 20 == 10:
                world.submit(MoveGoal(chance.choice(free)))
            if tick % 20 == 19:
                for name, value in chance.choice(parameter_sets(spec)).items():
                    world.submit(SetParam(walker.id, name, value))
            world.advance(1)
            log += walker.log_rows.tolist()
    return world.compute_digest(), log


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("key", sorted(key for key, spec in AGENT_SPECS_BY_KEY.items() if not spec.is_own))
def test_walk_does_not_depend_on_skipped_type_checks(key: str, watched: bool) -> None:
    assert walk_digest_and_rows(key, 1, watched) == walk_digest_and_rows(key, 0, watched)


@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
def test_machine_code_is_called_after_several_calls() -> None:
    @kernel
    def total(numbers, more):
        found = more
        for number in numbers:
            found += number
        return found

    frequent, numbers = without_type_checks(total), np.arange(5)
    assert [frequent(numbers, more) for more in range(40)] == list(range(10, 50))
    assert frequent._machine_code_or_kernel is not total and frequent.kernel is total
    assert frequent(np.arange(3), 1) == 4, "other arguments of the same types"


@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
def test_argument_types_are_resolved_once_per_agent_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a millisecond each, in the same frame: eight agents would be a long one."""
    walk_digest_and_rows("tba", 1, watched=True)
    asked: list[object] = []
    typeof = inner.Kernel.typeof_pyval
    monkeypatch.setattr(inner.Kernel, "typeof_pyval", lambda self, value: (asked.append(value), typeof(self, value))[1])
    walk_digest_and_rows("tba", 1, watched=True)
    assert not asked
    monkeypatch.setattr(jit, "_MACHINE_CODE", {})
    walk_digest_and_rows("tba", 1, watched=True)
    assert asked
