"""Faults that no other test noticed, see mutants.py. Each test says what would go wrong."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from experiments.problems import shrink_map
from sim.executor import StepBlock
from sim.grid import Grid
from sim.kernels import log, tba
from sim.time.run_history import DIGEST_EVERY, RunHistory
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import MAX_SWITCHES, AgentConfig, EditCells
from sim.world_editor import WorldEditor

from .conftest import make_world, solo, ticks_of

CORRIDOR = ["." * 60] * 3


# --- TBA* -----------------------------------------------------------------------------------------


def test_first_slice_after_a_change_reserves_time_to_trace() -> None:
    """With r = 0.9 and c = 1, ten expansions buy nine and one trace step: one expansion then, and nine later."""
    world, walker = solo(CORRIDOR, 60, 119, "tba", budget=10, share=0.9, trace_rate=1.0)
    expanded = []
    world.submit(EditCells(blocked_cells=(30,)), 4)
    for _ in ticks_of(world, 6):
        expanded.append(int(walker.log_rows[-1].expanded))
        if world.tick == 6:
            break
    assert expanded == [1, 9, 9, 9, 1, 9]
    assert world.metrics_of_walker(walker).restarts == 1


def test_junction_search_respects_trace_step_limit() -> None:
    """Looking for the place where the way back joins the path costs trace steps, which the tick has only so many of."""
    world, walker = solo(["." * 40], 0, 39, "tba", budget=20)
    world.advance(2)
    agent: Any = walker.agent
    state = agent.state_record[0]
    assert state.length > 3 and agent.followed_route.cells[:3].tolist() == [0, 1, 2]
    state.length, state.loc = 3, 12
    ground = world.grid.map_arrays
    assert tba.find_junction(ground, agent.search, agent.followed_route, state, 11) == (2, 10)
    assert tba.find_junction(ground, agent.search, agent.followed_route, state, 10) == (2, 10)
    assert tba.find_junction(ground, agent.search, agent.followed_route, state, 9) == (-1, 9)


def test_shortcut_search_is_skipped_if_its_roots_exceed_the_time_limit() -> None:
    """Ten parents lead to the path, and the one root there is costs an eleventh trace step."""
    world, walker = solo(["." * 40], 0, 39, "tba", budget=20, shortcut=True)
    world.advance(2)
    agent: Any = walker.agent
    state = agent.state_record[0]
    state.length, state.loc, state.shortcut_budget = 3, 12, 20
    memory = world.grid.map_arrays, agent.search, agent.detour_search, agent.followed_route, state
    assert tba.seek_shortcut(*memory, 20, 0, 10) == (0, 10)
    assert tba.seek_shortcut(*memory, 20, 1, 11) == (0, 10)
    used, steps = tba.seek_shortcut(*memory, 20, 0, 11)
    assert used > 0 and steps == 11


def test_tick_that_searches_for_a_shortcut_says_so() -> None:
    rows = ["." * 9, ".@@@@@@..", "......@..", "......@..", "......@..", ".@@@@@@..", "." * 9]
    world, walker = solo(rows, 27, 35, "tba", budget=12, shortcut=True)
    agent: Any = walker.agent
    begun = [int(agent.detour_search.control[0].search)]
    said = []
    for _ in ticks_of(world, 40):
        begun.append(int(agent.detour_search.control[0].search))
        said.append("shortcut" in agent.view().notes)
    assert said == [before != now for before, now in pairwise(begun)] and any(said)


def test_path_of_equal_length_is_accepted() -> None:
    """The agent sets out north, into a dead end; a path south of the same length is found, and it turns at once."""
    rows = [
        ".@@",
        "..@",
        ".@.",
        "...",
    ]
    world, walker = solo(rows, 6, 8, "tba", budget=7, share=0.3, trace_rate=1.0, switch="longer")
    walked = []
    for _ in ticks_of(world, 20):
        walked.append(walker.position)
        if walker.position == 8:
            break
    assert walked == [3, 6, 9, 10, 11, 8]


# --- Delayed A* -----------------------------------------------------------------------------------


def test_delayed_astar_takes_another_neighbour_if_the_first_is_blocked_at_once() -> None:
    """The agent drew one of two neighbours to walk to and fro, which is blocked before it has planned at all."""
    drawn_first = set()
    for seed in range(8):
        world = make_world([".....", ".@@@.", "....."], 1, 14, ("delayed-astar", {}), budget=4, seed=seed)
        walker = world.walkers[0]
        agent: Any = walker.agent
        chosen = int(agent.state_record[0].aside)
        drawn_first.add(chosen)
        world.submit(EditCells(blocked_cells=(chosen,)))
        world.advance(1)
        assert walker.violation is None and walker.position == 2 - chosen
    assert drawn_first == {0, 2}


# --- timelines ------------------------------------------------------------------------------------


def make_corridor_world() -> World:
    return make_world(CORRIDOR, 60, 119, ("tb-wa", {}), ("rtb-wa", {}), budget=1)


def test_edit_at_the_tick_of_an_older_one_keeps_both() -> None:
    line = Timeline(make_corridor_world)
    line.advance(10)
    first = line.apply_command(EditCells(blocked_cells=(20,)))
    line.advance(10)
    later = line.apply_command(EditCells(blocked_cells=(25,)))
    line.advance(5)
    line.seek(10)
    line.apply_due_commands()
    second = line.apply_command(EditCells(blocked_cells=(140,)))
    assert [entry.id for entry in line.command_log.entries] == [first.id, second.id]
    assert later.id not in [entry.id for entry in line.command_log.entries], "what came later was overwritten"
    line.seek(0)
    line.seek(12)
    assert not line.world.grid.is_free(20) and not line.world.grid.is_free(140) and line.world.grid.is_free(25)


def test_diverging_replay_is_reported() -> None:
    line = Timeline(lambda: make_world(["." * 400], 0, 399, ("lrta", {}), budget=1))
    line.advance(3 * DIGEST_EVERY)
    assert line.tick == 3 * DIGEST_EVERY and line.run_history.divergence_tick is None
    line.seek(0)
    line.seek(3 * DIGEST_EVERY)
    assert line.run_history.divergence_tick is None
    line.run_history.world_digests[2] = "0" * 16
    line.seek(DIGEST_EVERY + 10)
    line.seek(3 * DIGEST_EVERY)
    assert line.run_history.divergence_tick == 2 * DIGEST_EVERY


def test_agent_that_no_longer_acts_stays_on_its_last_cell() -> None:
    """Of two agents of a batch, the second acts in the first two ticks only."""
    history, index_by_id = RunHistory(), {4: 0, 6: 1}
    for first, cells, done in ((10, [[11, 12], [31, 32]], [2, 2]), (12, [[13, 14], [0, 0]], [2, 0])):
        rows = np.zeros((2, 2), log.ROW)
        rows["cell"] = cells
        history._pending_steps.append(StepBlock(first, index_by_id, rows, np.array(done)))
    at_first = np.array([10, 30], np.int32)
    assert history.cells((4, 6), 10, 14, at_first).tolist() == [[10, 11, 12, 13, 14], [30, 31, 32, 32, 32]]


@pytest.mark.parametrize("number", [7, 3])
def test_requested_agent_id_is_never_reused(number: int) -> None:
    world = make_corridor_world()
    world.add(AgentConfig("gbfs"), 7)
    if number == 3:
        world.add(AgentConfig("gbfs"), 3)
    assert world.next_agent_id == 8
    assert world.add(AgentConfig("gbfs")).id == 8
    assert AGENT_SPECS_BY_KEY["gbfs"].name == world.walkers[-1].label


# --- what is counted ------------------------------------------------------------------------------


def test_new_trial_counts_no_cell_twice() -> None:
    world = make_world(["......", ".@@@@.", "...@..", ".@@@@.", "......"], 14, 17, ("lrta", {}), trials=9)
    world.advance(2000)
    walker = world.walkers[0]
    assert walker.trial_number > 1 and walker.counts_record[0].distinct == (walker.visit_counts > 0).sum()


def test_optimal_moves_follow_the_goal() -> None:
    world = make_world(["." * 9], 0, 8, ("lrta", {}))
    assert world.optimality_tracker.optimal_costs.shared_optimum[1] == 8
    WorldEditor(world).move_goal(3)
    assert world.optimality_tracker.optimal_costs.shared_optimum == (3.0, 3)


# --- switches ---------------------------------------------------------------------------------------


def test_switch_limit_is_enforced() -> None:
    world = make_corridor_world()
    for number in range(MAX_SWITCHES):
        WorldEditor(world).define_switch(f"gate {number}", [number % 50])
    assert len(world.switches) == MAX_SWITCHES and not world.messages
    WorldEditor(world).define_switch("one more", [1])
    assert "one more" not in world.switches
    assert [note.text for note in world.messages] == [
        f"switch 'one more' was not added: there are already {MAX_SWITCHES} switches, the maximum"
    ]
    WorldEditor(world).define_switch("gate 0", [7])
    assert world.switches["gate 0"] == (7,), "one that is there can have other cells"


# --- experiments ------------------------------------------------------------------------------------


def test_half_free_square_becomes_a_wall_in_shrunk_map() -> None:
    """Of the four cells of the three squares two are free, two, and three."""
    assert shrink_map(Grid.from_text_rows([".@..@.", "@.@@.."], "halves"), 2).text_rows() == ["@@."]
