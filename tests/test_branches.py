"""Branches: futures side by side that share their past, and nothing that is ever lost."""

import pytest

from sim.params import ConfigError
from sim.time.branches import BranchTree
from sim.time.run_history import DIGEST_EVERY
from sim.world import World
from sim.world_commands import AddAgent, AgentConfig, EditCells, MoveGoal, RemoveAgent, SetBudget, SetParam, SetSwitch

from .runs import assert_as_plain
from .test_keyframes import make_world_setup
from .test_sessionfile import RIVER, make_tree


def make_long_tree() -> BranchTree:
    """A run that goes on for a thousand ticks at least."""

    def setup() -> World:
        world = make_world_setup("rtb-wa", "tba", side=32, budget=20)
        world.switches = {"gate": (5, 6, 37)}
        world.submit(EditCells((40,)), 1000)
        return world

    return BranchTree(setup)


def test_unedited_branch_has_the_digests_of_its_parent():
    tree = make_long_tree()
    parent = tree[0].timeline
    parent.advance(150)
    tree.apply_command(0, SetSwitch("gate", True))
    parent.advance(150)
    tree.apply_command(0, MoveGoal(500))
    for tick in (300, 120, 0):
        tree.create_branch(0, tick)
    parent.advance(700)
    assert parent.tick == 1000
    for number in (1, 2, 3):
        child = tree[number].timeline
        assert child.target_tick == tree[number].first_differing_tick
        while child.tick < 1000:
            assert child.advance(77 if child.tick + 77 <= 1000 else 1000 - child.tick)
        assert tuple(child.run_history.world_digests) == tuple(parent.run_history.world_digests)
        assert child.world.compute_digest() == parent.world.compute_digest()


def test_branches_share_keyframes_of_their_past():
    tree = make_long_tree()
    tree[0].timeline.advance(900)
    tree[0].timeline.seek(450)
    held, frames = tree.keyframe_store.used_bytes, tree.keyframe_store.keyframe_count
    tree.create_branch(0)
    assert tree.keyframe_store.used_bytes == held
    assert tree.keyframe_store.keyframe_count == 2 * frames
    tree.delete_branch(1)
    assert tree.keyframe_store.used_bytes == held


def test_edit_affects_only_its_branch():
    tree = make_long_tree()
    tree[0].timeline.advance(200)
    tree.create_branch(0, 100, "blocked")
    tree.apply_command(1, SetSwitch("gate", True))
    tree[1].timeline.advance(100)
    digests = [tuple(tree[number].timeline.run_history.world_digests) for number in (0, 1)]
    assert digests[0][:2] == digests[1][:2] and digests[0][2] != digests[1][2]
    assert tree[0].timeline.command_log.entries[0].command != tree[1].timeline.command_log.entries[0].command
    for branch in tree.branches.values():
        assert_as_plain(branch.timeline)


def test_edit_in_the_past_keeps_old_future_as_branch():
    tree = make_long_tree()
    line = tree[0].timeline
    line.advance(50)
    tree.apply_command(0, EditCells((70,)))
    line.advance(250)
    digests = tuple(line.run_history.world_digests)
    line.seek(20)
    tree.apply_command(0, MoveGoal(300))
    assert [branch.name for branch in tree.branches.values()] == ["run", "run, before the change at 20"]
    kept = tree[1].timeline
    assert tree[1].parent == 0
    assert tree[1].first_differing_tick == 20
    assert kept.run_history.recorded_end == 300
    assert tuple(kept.run_history.world_digests) == digests
    assert kept.seek(300) == 300
    assert kept.world.compute_digest() != line.world.compute_digest()
    assert [e.command for e in kept.command_log.entries][:1] == [EditCells((70,))]
    assert EditCells((70,)) not in [e.command for e in line.command_log.entries], "the new way has not got there"
    line.apply_command(MoveGoal(301))
    assert len(tree.branches) == 2, "a second command at the end of the record overwrites nothing"


def test_future_shared_with_a_branch_is_not_kept_twice():
    tree = make_long_tree()
    tree[0].timeline.advance(300)
    child = tree.create_branch(0, 100)
    child.timeline.apply_command(EditCells((70,)))
    assert len(tree.branches) == 2
    tree[0].timeline.seek(50)
    tree.apply_command(0, EditCells((71,)))
    assert len(tree.branches) == 3, "the child has gone its own way, so nobody has this future now"


def test_keeps_later_preserves_later_commands():
    tree = make_long_tree()
    line = tree[0].timeline
    line.advance(100)
    tree.apply_command(0, EditCells((70,)))
    line.advance(10)
    line.seek(30)
    line.apply_command(SetSwitch("gate", True), keeps_later=True)
    assert [e.tick for e in line.command_log.entries] == [30, 100, 1000]
    assert len(tree.branches) == 1


def test_branches_can_be_deleted_and_renamed():
    tree = make_long_tree()
    with pytest.raises(ConfigError, match="only branch"):
        tree.delete_branch(0)
    tree.create_branch(0)
    tree.create_branch(1)
    tree.rename_branch(2, "the last")
    tree.link_branches([1, 2])
    tree.delete_branch(1)
    assert tree[2].parent == 0
    assert tree.linked_branches(2) == (2,)
    assert tree.create_branch(0).name == "branch 1"
    assert tree.create_branch(0).number == 4, "numbers are never used twice"
    tree.delete_branch(0)
    assert tree[2].parent is None
    tree[2].timeline.advance(10)
    assert_as_plain(tree[2].timeline)


def test_policy_split_makes_linked_branches_with_shared_later_edits():
    tree = make_tree(RIVER)
    tree[0].timeline.advance(3)
    lazy, eager = tree.create_variants(0, 0, [{"restart": "lazy"}, {"restart": "eager"}])
    assert (lazy.number, eager.number) == (0, 1), "the branch itself is the lazy one"
    assert eager.name == "restart eager"
    tree.apply_command(1, EditCells((30, 31)))
    for branch in (lazy, eager):
        branch.timeline.advance(1)
        assert not branch.timeline.world.grid.is_free(30)
        assert_as_plain(branch.timeline)
    assert lazy.timeline.world.walker_with_id(0).params["restart"] == "lazy"
    assert eager.timeline.world.walker_with_id(0).params["restart"] == "eager"
    lazy.timeline.advance(2)
    tree.apply_command(0, SetSwitch("bridge", True))
    assert any(e.command == SetSwitch("bridge", True) and e.tick == 6 for e in eager.timeline.command_log.entries)


def test_policy_split_sets_budget_and_weight_per_branch():
    tree = make_tree(RIVER)
    futures = tree.create_variants(
        0, 0, [{"weight": 1.0}, {"weight": 3.0, "budget": 7}, {"budget": None, "weight": 2.0}]
    )
    assert [branch.number for branch in futures] == [1, 2, 0]
    walkers = [branch.timeline.world.walker_with_id(0) for branch in futures]
    assert [(w.params["weight"], w.budget) for w in walkers] == [(1.0, None), (3.0, 7), (2.0, None)]
    assert futures[1].name == "weight 3.0, budget 7"
    for variant, message in [({"weight": 0.5}, "from 1 to 100"), ({"wight": 2}, "did you mean 'weight'")]:
        with pytest.raises(ConfigError, match=message):
            tree.create_variants(0, 0, [{"weight": 1.5}, variant])
    with pytest.raises(ConfigError, match="a whole number"):
        tree.create_variants(0, 0, [{"budget": 0}])
    with pytest.raises(ConfigError, match="agent 9 does not exist"):
        tree.create_variants(0, 9, [{"weight": 2.0}])
    assert len(tree.branches) == 3, "nothing is made when anything is wrong"


def test_agent_ids_stay_stable_when_other_agents_change():
    tree = make_tree(RIVER)
    line = tree[0].timeline
    first = line.apply_command(AddAgent(AgentConfig("tba", "first")))
    second = line.apply_command(AddAgent(AgentConfig("rtb-wa", "second")))
    line.apply_command(SetParam(second.command.agent, "weight", 4.0))
    line.advance(20)
    number = second.command.agent
    before = line.run_history.agent_records[number].log_rows["cell"].tolist()
    line.delete_command(first.id)
    line.seek(20)
    assert line.world.walker_with_id(number).label == "second"
    assert line.run_history.agent_records[number].log_rows["cell"].tolist() == before
    assert not line.command_log.rejection_reasons(line.run_history.run_messages)
    line.set_command_enabled(second.id, False)
    line.finish_seek()
    assert f"there is no agent {number}" in line.command_log.rejection_reasons(line.run_history.run_messages).values()
    line.apply_command(RemoveAgent(1))
    assert line.apply_command(SetBudget(3, 1)).id in line.command_log.rejection_reasons(line.run_history.run_messages)


def test_timeline_records_a_digest_every_hundred_ticks():
    tree = make_long_tree()
    tree[0].timeline.advance(250)
    assert len(tuple(tree[0].timeline.run_history.world_digests)) == 3
    again = make_long_tree()
    again[0].timeline.advance(DIGEST_EVERY)
    assert again[0].timeline.world.compute_digest() == tuple(tree[0].timeline.run_history.world_digests)[1]
