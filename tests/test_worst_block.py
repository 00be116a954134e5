"""The worst block: what the search says of a block is what a branch with that block shows."""

import threading
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from files.map_source import MapRows
from files.scenario import Scenario
from files.session import SavedSession
from sim.agent_api import Status
from sim.changes import RandomChangeSchedule
from sim.time.branches import BranchTree
from sim.time.worst_block import (
    NEVER_ARRIVED_COST,
    BlockCandidate,
    WorstBlockSearch,
    evenly_spaced_ticks,
    open_result_as_branch,
    path_block_tasks,
    switch_block_tasks,
)
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetSwitch

from .conftest import make_world
from .runs import setups

ROWS = (
    "....................",
    ".....@@@@@@@@@@.....",
    ".....@@@@@@@@@@.....",
    "....................",
    ".....@@@@@@@@@@.....",
    ".....@@@@@@@@@@.....",
    ".....@@@@@@@@@@.....",
    "....................",
)
BRIDGES = Scenario(
    MapRows(ROWS),
    (0, 3),
    (19, 3),
    (AgentConfig("rtb-wa", "lazy"), AgentConfig("tba")),
    budget=12,
    switches={"north": ((9, 0),), "middle": ((9, 3), (10, 3)), "south": ((9, 7),)},
)


def make_branch_tree(scenario: Scenario = BRIDGES) -> BranchTree:
    return BranchTree(SavedSession(scenario, ()).world_builder(AGENT_SPECS_BY_KEY))


def search_all(search: WorstBlockSearch, work: float = 1e9) -> WorstBlockSearch:
    steps = 0
    while not search.simulate_slice(work):
        steps += 1
        assert steps < 100_000
    assert search.done == search.task_count
    return search


def arrival(tree: BranchTree, number: int, agent: int, most_ticks: int) -> tuple[float, int]:
    """Cost and tick of an agent's arrival on a branch, by running it."""
    line = tree[number].timeline
    begin = line.tick
    while line.tick < begin + most_ticks and line.advance(1):
        walker = line.world.walker_with_id(agent)
        if walker is not None and walker.agent.status is Status.AT_GOAL and walker.is_done:
            return float(walker.counts_record[0].cost), line.tick
    walker = line.world.walker_with_id(agent)
    has_arrived = walker is not None and walker.agent.status is Status.AT_GOAL and walker.is_done
    return (
        float(walker.counts_record[0].cost) if walker is not None and has_arrived else NEVER_ARRIVED_COST
    ), line.tick


def test_worst_block_is_the_middle_bridge():
    tree = make_branch_tree()
    line = tree[0].timeline
    line.advance(100)
    search = search_all(WorstBlockSearch(line, 0, switch_block_tasks(line, [0, 4, 8, 12])))
    assert search.task_count == 12
    assert search.outcome_without_block is not None
    assert search.outcome_without_block.cost == 19.0
    results = search.ranked_results()
    assert [result.extra_cost for result in results] == sorted((r.extra_cost for r in results), reverse=True)
    worst = results[0]
    assert worst.block_candidate.name == "middle"
    assert worst.tick > 0, "the further it has come, the longer the way back"
    assert worst.extra_cost > 4.0
    assert all(r.extra_cost == 0.0 for r in results if r.block_candidate.name != "middle")
    later = [r for r in results if r.block_candidate.name == "middle" and r.tick == 12]
    assert not later or later[0].extra_cost == 0.0


def test_opened_result_branch_has_the_predicted_outcome():
    tree = make_branch_tree(replace(BRIDGES, changes=RandomChangeSchedule(6, 5.0), seed=3))
    line = tree[0].timeline
    line.apply_command(SetSwitch("north", True))
    line.advance(9)
    line.apply_command(MoveGoal(19))
    line.advance(200)
    ticks = evenly_spaced_ticks(0, line.run_history.recorded_end, 4)
    for agent in (0, 1):
        search = search_all(
            WorstBlockSearch(
                line, agent, [*switch_block_tasks(line, ticks), *path_block_tasks(line, [agent], ticks)], 400
            )
        )
        assert len(search.ranked_results()) > 10
        for result in search.ranked_results()[::5]:
            branch = open_result_as_branch(tree, 0, result)
            assert branch.timeline.tick == result.tick
            while branch.timeline.tick <= 9 and branch.timeline.advance(1):
                pass  # the goal moves on at tick 9: arriving before that is not the end
            left = 400 - (branch.timeline.tick - result.tick)
            assert arrival(tree, branch.number, agent, left)[0] == result.outcome.cost
            tree.delete_branch(branch.number)


@settings(max_examples=15)
@given(setup=setups(), data=st.data())
def test_random_results_match_their_branches(setup, data):
    tree = BranchTree(setup)
    line = tree[0].timeline
    line.advance(60)
    assume(line.run_history.agent_records)
    agent = data.draw(st.sampled_from(sorted(line.run_history.agent_records)))
    ticks = evenly_spaced_ticks(0, max(1, line.run_history.recorded_end // 2), 2)
    tasks = [*switch_block_tasks(line, ticks), *path_block_tasks(line, [agent], ticks)]
    last_goal = max([e.tick for e in line.command_log.entries if isinstance(e.command, MoveGoal)], default=0)
    for result in search_all(WorstBlockSearch(line, agent, tasks, 150)).ranked_results()[:4]:
        branch = open_result_as_branch(tree, 0, result)
        branch.timeline.apply_due_commands()
        if result.tick < last_goal:
            branch.timeline.advance(min(150, last_goal - result.tick))
            branch.timeline.apply_due_commands()
        left = 150 - (branch.timeline.tick - result.tick)
        walker = branch.timeline.world.walker_with_id(agent)
        if walker is not None and walker.agent.status is Status.AT_GOAL and walker.is_done:
            assert result.outcome.cost == float(walker.counts_record[0].cost)
        else:
            assert arrival(tree, branch.number, agent, left)[0] == result.outcome.cost
        tree.delete_branch(branch.number)


def test_incremental_search_gives_the_same_results_with_progress():
    line = make_branch_tree()[0].timeline
    line.advance(100)
    tasks = switch_block_tasks(line, [0, 3, 6])
    whole = search_all(WorstBlockSearch(line, 1, tasks))
    pieces = WorstBlockSearch(line, 1, tasks)
    seen = [pieces.done]
    while not pieces.simulate_slice(30.0):
        seen.append(pieces.done)
    assert seen == sorted(seen)
    assert len(set(seen)) > 5
    assert pieces.ranked_results() == whole.ranked_results()


def test_search_in_a_thread_is_independent_of_timeline_changes():
    line = make_branch_tree()[0].timeline
    line.advance(60)
    tasks = switch_block_tasks(line, [0, 2, 4, 6]) + path_block_tasks(line, [0, 1], [0, 5])
    expected = search_all(WorstBlockSearch(line, 0, tasks)).ranked_results()
    search = WorstBlockSearch(line, 0, tasks)
    thread = threading.Thread(target=search_all, args=(search, 50.0))
    thread.start()
    for tick in (3, 20, 9, 30, 1):
        line.seek(tick)
        line.apply_command(EditCells((5 * 20 + tick % 5,)))
    thread.join()
    assert search.ranked_results() == expected
    assert 0 < line.keyframe_saver.keyframe_store.used_bytes <= line.keyframe_saver.keyframe_store.budget_bytes, (
        "the search keeps its own"
    )


def test_blocks_without_effect_are_not_results():
    line = make_branch_tree()[0].timeline
    line.advance(60)
    wall = BlockCandidate("wall", EditCells((25,)))
    start = BlockCandidate("where it stands", EditCells((60,)))
    search = search_all(WorstBlockSearch(line, 0, [(0, wall), (0, start), (900, wall)]))
    assert search.ranked_results() == []


def test_search_may_have_a_single_task():
    line = make_branch_tree()[0].timeline
    line.advance(60)
    all_tasks = switch_block_tasks(line, [0, 4])
    (result,) = search_all(WorstBlockSearch(line, 0, [all_tasks[1]])).ranked_results()
    assert result in search_all(WorstBlockSearch(line, 0, all_tasks)).ranked_results()


def test_permanent_block_is_the_worst_result():
    world = make_world(["..@..", ".....", "..@.."], 5, 9, ("tb-wa", {}), budget=4)
    assert world.goal == 9
    tree = BranchTree(lambda: make_world(["..@..", ".....", "..@.."], 5, 9, ("tb-wa", {}), budget=4))
    line = tree[0].timeline
    line.advance(50)
    results = search_all(WorstBlockSearch(line, 0, path_block_tasks(line, [0], [0, 2]))).ranked_results()
    assert results[0].never_arrives
    assert results[0].extra_cost == NEVER_ARRIVED_COST
    assert {r.block_candidate.name for r in results if r.never_arrives} <= {"(1, 1)", "(2, 1)", "(3, 1)"}


@pytest.mark.parametrize(
    ("span", "count", "expected"), [((0, 10), 3, [0, 5, 10]), ((3, 3), 5, [3]), ((0, 1), 4, [0, 1])]
)
def test_spread_ticks_returns_evenly_spaced_ticks(span, count, expected):
    assert evenly_spaced_ticks(*span, count) == expected
