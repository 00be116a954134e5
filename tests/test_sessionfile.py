"""Session files: what is opened is what was saved, and what runs differently is said so."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from files.cell_lists import cell_list_data
from files.document_fields import DocumentField, DocumentProblems
from files.log_entries import LogEntryReader, log_entry_data
from files.map_source import MapFile, MapRecipe, MapRows
from files.movingai import write_map
from files.scenario import Scenario, TimedCommand
from files.session import (
    SavedSession,
    create_saved_session,
    dump_session,
    is_session_data,
    load_session,
    parse_session,
    save_session,
    terrain_hash,
    with_original_letters,
)
from files.yaml import YamlDocument, read_yaml, write_yaml
from sim import world_commands
from sim.grid import Grid
from sim.params import ConfigError
from sim.time.branches import BranchTree
from sim.time.command_log import LogEntry
from sim.world_commands import AddAgent, AgentConfig, EditCells, MoveGoal, RemoveAgent, SetParam

from .runs import assert_as_plain, some_command

ROWS = ("............", "..@@@@@@@@..", "..@......@..", "..@.@@@@.@..", "....@.......", "............")
RIVER = Scenario(
    MapRows(ROWS),
    (0, 0),
    (11, 5),
    (AgentConfig("rtb-wa", "lazy"), AgentConfig("tba", budget=20), AgentConfig("delayed-astar")),
    title="River",
    switches={"bridge": ((4, 2), (5, 2))},
    timed_commands=(
        TimedCommand(4, world_commands.SetSwitch("bridge", True)),
        TimedCommand(8, AddAgent(AgentConfig("tb-gbfs", "late"))),
        TimedCommand(9, SetParam(0, "restart", "eager")),
    ),
)


def make_tree(scenario: Scenario = RIVER) -> BranchTree:
    saved = SavedSession(scenario, ())
    return BranchTree(saved.world_builder(AGENT_SPECS_BY_KEY))


def dump_and_parse(saved: SavedSession) -> SavedSession:
    return parse_session(dump_session(saved), "a.yaml", AGENT_SPECS_BY_KEY)


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_session(text, "a.yaml", AGENT_SPECS_BY_KEY)
    return caught.value.problems


# --- entries --------------------------------------------------------------------------------------


@given(command=some_command(7 * 5), tick=st.integers(0, 10**6), flags=st.tuples(st.booleans(), st.booleans()))
def test_log_entry_survives_writing_and_reading(command, tick, flags):
    entry = LogEntry(3, tick, command, *flags, stroke_id=0 if flags[0] else 2)
    text = write_yaml({"log": [log_entry_data(entry, 7)]})
    field = DocumentField(DocumentProblems(read_yaml(text, "log")), (), read_yaml(text, "log").data["log"][0])
    again = LogEntryReader(7, 5).read_entry(field)
    assert not field.problems.found, field.problems.sorted_messages()
    assert again == entry


@given(st.lists(st.one_of(st.integers(0, 34), st.just(34)), max_size=60))
def test_cell_runs_keep_the_cell_order(cells):
    data = cell_list_data(cells, 7)
    field = DocumentField(DocumentProblems(YamlDocument("a", data, 1)), (), data)
    assert LogEntryReader(7, 5).cells(field) == tuple(cells)


def test_cell_runs_of_a_filled_map_are_short():
    whole = tuple(range(512 * 512))
    assert len(str(cell_list_data(whole, 512))) < 6000


@pytest.mark.parametrize(
    "runs", ["0-7,0", "3-2,0", "0,5", "0-6", "x", "-1,0", "0,0;", "99999-99999,99999", 3, None, [1]]
)
def test_cell_runs_outside_the_map_are_refused(runs):
    field = DocumentField(DocumentProblems(YamlDocument("a", {"runs": runs}, 1)), (), {"runs": runs})
    assert LogEntryReader(7, 5).cells(field) is None
    assert field.problems.found


def test_altered_script_agent_survives_session_file():
    saved = create_saved_session(RIVER, make_tree())
    state = saved.branches[0].branch_state
    late = next(entry for entry in state.entries if isinstance(entry.command, AddAgent))
    other = replace(late, command=replace(late.command, config=AgentConfig("tb-gbfs", "later", budget=3)))
    entries = tuple(other if entry is late else entry for entry in state.entries)
    branch = replace(saved.branches[0], branch_state=replace(state, entries=entries))
    again = dump_and_parse(replace(saved, branches=(branch,))).branches[0].branch_state.entries
    assert [entry.command for entry in again] == [entry.command for entry in entries]


def test_obsolete_map_setting_is_dropped(tmp_path: Path):
    """Older versions took `threshold` of any map from a scenario and wrote it into the session."""
    path = tmp_path / "river.map"
    write_map(RIVER.grid, path)
    scenario = replace(RIVER, map=MapFile("river.map", path))
    save_session(create_saved_session(scenario, make_tree(scenario)), tmp_path / "now.yaml")
    text = (tmp_path / "now.yaml").read_text()
    (tmp_path / "then.yaml").write_text(text.replace("{file: river.map", "{file: river.map, threshold: 80"))
    then = load_session(tmp_path / "then.yaml", AGENT_SPECS_BY_KEY)
    assert then == load_session(tmp_path / "now.yaml", AGENT_SPECS_BY_KEY) and "threshold" not in dump_session(then)


def test_short_run_text_cannot_expand_to_millions_of_cells():
    data = {"runs": "0-511,0 " * 10_000}
    field = DocumentField(DocumentProblems(YamlDocument("a", data, 1)), (), data)
    assert LogEntryReader(512, 1).cells(field) is None
    assert "at most four times" in field.problems.sorted_messages()[0]


# --- whole sessions -------------------------------------------------------------------------------


def make_busy_tree() -> BranchTree:
    """A session with something of everything."""
    tree = make_tree()
    main = tree[0].timeline
    main.advance(6)
    tree.apply_command(0, EditCells((5, 17, 18)))
    main.advance(7)
    tree.apply_command(0, AddAgent(AgentConfig("wastar", "new", {"weight": 2.5}, 7)))
    main.advance(120)
    other = tree.create_branch(0, 5, "the other way")
    other.timeline.apply_command(MoveGoal(10))
    other.timeline.advance(30)
    main.set_command_enabled(1, False)
    main.move_command(5, 3)
    main.finish_seek()
    futures = tree.create_variants(0, 0, [{"restart": "lazy"}, {"weight": 3.0}])
    tree.apply_command(futures[0].number, RemoveAgent(1))
    for branch in tree.branches.values():
        branch.timeline.advance(3)
    return tree


def test_session_file_restores_everything():
    tree = make_busy_tree()
    saved = create_saved_session(replace(RIVER, view={"layers": ["heat"], "zoom": 2}), tree, branch=1)
    again = dump_and_parse(saved)
    assert again.focused_branch == 1
    assert again.scenario == saved.scenario
    assert again.linked_groups == saved.linked_groups != ()
    assert not again.warnings
    planted = again.build_branch_tree(AGENT_SPECS_BY_KEY)
    assert list(planted.branches) == list(tree.branches)
    for number, branch in planted.branches.items():
        mine = tree[number]
        branch.timeline.finish_seek()
        assert (branch.name, branch.parent, branch.first_differing_tick) == (
            mine.name,
            mine.parent,
            mine.first_differing_tick,
        )
        assert branch.timeline.tick == mine.timeline.tick
        assert branch.timeline.world.compute_digest() == mine.timeline.world.compute_digest()
        assert branch.timeline.run_history.furthest_tick == max(
            mine.timeline.run_history.furthest_tick, mine.timeline.tick
        )
        assert branch.timeline.run_history.divergence_tick is None
        assert_as_plain(branch.timeline)
        branch.timeline.seek(branch.timeline.run_history.furthest_tick)
        assert tuple(branch.timeline.run_history.world_digests)[
            : len(tuple(mine.timeline.run_history.world_digests))
        ] == tuple(mine.timeline.run_history.world_digests)


def test_saving_an_opened_session_gives_the_same_file():
    text = dump_session(create_saved_session(RIVER, make_busy_tree()))
    tree = parse_session(text, "a.yaml", AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)
    for branch in tree.branches.values():
        shown = branch.timeline.target_tick
        branch.timeline.seek(branch.timeline.run_history.furthest_tick)
        branch.timeline.seek(shown)
    assert dump_session(create_saved_session(RIVER, tree)) == text


def test_saving_an_unrun_session_keeps_its_digests():
    tree = make_tree()
    tree[0].timeline.insert_command(500, EditCells((40,)))
    tree[0].timeline.advance(450)
    saved = create_saved_session(RIVER, tree)
    assert len(saved.branches[0].digests) == 5
    again = create_saved_session(RIVER, dump_and_parse(saved).build_branch_tree(AGENT_SPECS_BY_KEY)).branches[0]
    assert (again.digests, again.shown_digest) == (saved.branches[0].digests, saved.branches[0].shown_digest)


def test_unchanged_script_is_not_written_to_the_log():
    tree = make_tree()
    tree[0].timeline.advance(50)
    text = dump_session(create_saved_session(RIVER, tree))
    assert "log: []\n" in text
    assert "log: [1, 2, 3]" in text


@settings(max_examples=25)
@given(data=st.data())
def test_random_sessions_survive_session_file(data):
    tree = make_tree()
    for _ in range(data.draw(st.integers(0, 6))):
        number = data.draw(st.sampled_from(list(tree.branches)))
        line = tree[number].timeline
        line.seek(data.draw(st.integers(0, 60)))
        match data.draw(st.sampled_from(["do", "play", "branch", "move"])):
            case "do":
                line.apply_command(data.draw(some_command(12 * 6)))
            case "play":
                line.advance(data.draw(st.integers(0, 60)))
            case "branch" if len(tree.branches) < 4:
                tree.create_branch(number)
            case "move":
                entry = data.draw(st.sampled_from(line.command_log.entries))
                line.move_command(entry.id, data.draw(st.integers(0, 60)))
                line.finish_seek()
    planted = dump_and_parse(create_saved_session(RIVER, tree)).build_branch_tree(AGENT_SPECS_BY_KEY)
    for number, branch in planted.branches.items():
        mine = tree[number].timeline
        mine.apply_due_commands()
        branch.timeline.finish_seek()
        assert branch.timeline.tick == mine.tick
        assert branch.timeline.world.compute_digest() == mine.world.compute_digest()
        assert branch.timeline.run_history.divergence_tick is None


def test_diverging_session_opens_and_reports_divergence():
    tree = make_tree()
    line = tree[0].timeline
    line.insert_command(500, EditCells((40,)))  # which keeps the world alive until then
    line.advance(450)
    text = dump_session(create_saved_session(RIVER, tree))
    digests = tuple(line.run_history.world_digests)
    assert len(digests) == 5
    wrong = text.replace(digests[3], "a" * 16)
    opened = parse_session(wrong, "a.yaml", AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)[0].timeline
    opened.finish_seek()
    assert opened.run_history.divergence_tick == 300
    assert opened.tick == 450
    at_the_end = text.replace(create_saved_session(RIVER, tree).branches[0].shown_digest[1], "f" * 16)
    opened = parse_session(at_the_end, "a.yaml", AGENT_SPECS_BY_KEY).build_branch_tree(AGENT_SPECS_BY_KEY)[0].timeline
    opened.finish_seek()
    assert opened.run_history.divergence_tick == 450


def test_edit_of_the_past_discards_expected_digests():
    tree = make_tree()
    tree[0].timeline.insert_command(500, EditCells((40,)))
    tree[0].timeline.advance(450)
    line = dump_and_parse(create_saved_session(RIVER, tree)).build_branch_tree(AGENT_SPECS_BY_KEY)[0].timeline
    line.seek(150)
    line.apply_command(EditCells((7, 30)))
    line.seek(450)
    assert line.run_history.divergence_tick is None
    assert_as_plain(line)


def test_session_file_keeps_original_map_and_map_of_tick_0():
    edited = RIVER.grid.terrain.copy()
    opened = edited.copy()
    opened[0, 3], opened[3, 3] = ord("T"), ord("S")
    scenario = with_original_letters(RIVER, ((3, 39), "TS"))
    saved = dump_and_parse(create_saved_session(scenario, make_tree(scenario)))
    assert np.array_equal(saved.world_builder(AGENT_SPECS_BY_KEY)().grid.original_terrain, opened)
    assert np.array_equal(saved.world_builder(AGENT_SPECS_BY_KEY)().grid.terrain, edited)


def test_session_file_refers_to_map_file_and_checks_it(tmp_path: Path):
    (tmp_path / "maps").mkdir()
    (tmp_path / "runs").mkdir()
    path = tmp_path / "maps" / "river.map"
    write_map(RIVER.grid, path)
    scenario = replace(RIVER, map=MapFile(str(path), path))
    tree = make_tree(scenario)
    tree[0].timeline.advance(20)
    save_session(create_saved_session(scenario, tree), tmp_path / "runs" / "a.yaml")
    text = (tmp_path / "runs" / "a.yaml").read_text()
    assert "map: {file: ../maps/river.map}" in text
    assert terrain_hash(RIVER.grid.terrain) in text
    assert is_session_data(text.encode())
    assert not load_session(tmp_path / "runs" / "a.yaml", AGENT_SPECS_BY_KEY).warnings
    rows = list(ROWS)
    rows[5] = rows[5][:6] + "@" + rows[5][7:]
    write_map(Grid.from_text_rows(rows), path)
    changed = load_session(tmp_path / "runs" / "a.yaml", AGENT_SPECS_BY_KEY)
    assert "the map has changed since it was saved" in changed.warnings[0]
    assert changed.build_branch_tree(AGENT_SPECS_BY_KEY)[0].timeline.run_history.divergence_tick == 0


def test_failed_session_save_keeps_the_old_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "a.yaml"
    save_session(create_saved_session(RIVER, make_tree()), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    tree = make_busy_tree()
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(ConfigError, match="No space"):
        save_session(create_saved_session(RIVER, tree), path)
    assert path.read_bytes() == before


def test_map_recipe_is_saved_as_recipe():
    scenario = Scenario(
        MapRecipe("rooms", {"width": 33, "height": 33, "seed": 4}), (1, 1), (2, 1), (AgentConfig("tba"),)
    )
    scenario = replace(scenario, goal=(31, 31))
    text = dump_session(create_saved_session(scenario, make_tree(scenario)))
    assert "rows" not in text
    assert "kind: rooms" in text
    assert len(text) < 900


# --- bad files ------------------------------------------------------------------------------------


def test_session_file_reports_all_problems():
    text = dump_session(create_saved_session(RIVER, make_busy_tree()))
    for pattern, wrong in [
        (r"goal: \[11, 5\]", "goal: [12, 5]"),
        (r"horizon: \d+", "horizon: -3"),
        (r"kind: tba", "kind: tbaa"),
        (r"parent: 0", "parent: up"),
        (r"block: \[\[5, 0\]", "block: [[50, 0]"),
    ]:
        text, count = re.subn(pattern, wrong, text, count=1)
        assert count, pattern
    found = problems_of(text)
    assert len(found) >= 3, found
    assert all(re.match(r"a\.yaml:\d+: ", problem) for problem in found)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda t: t.replace("format: backmove-session", "format: backmove-sesion"),
            "did you mean 'backmove-session'",
        ),
        (lambda t: t.replace("branches:\n", "branchez:\n"), "no such key; did you mean 'branches'"),
        (lambda t: re.sub(r"branches:\n(.*\n)*", "branches: []\n", t), "expected 1 to 1,000 branches, got 0"),
        (lambda t: t.replace("log: [1, ", "log: [1, 1, "), "expected each entry once, got 1"),
        (lambda t: t.replace("log: [1, ", "log: [99, "), "expected the id of an entry of the log, got 99"),
        (lambda t: t.replace("every: 100", "every: [1]"), None),
        (lambda t: t.replace("number: 1", "number: 0"), "expected different numbers, got 0 more than once"),
        (lambda t: t.replace("id: 5,", "id: 4,"), "expected different ids, got 4"),
    ],
)
def test_session_file_errors_are_named(change, expected):
    text = dump_session(create_saved_session(RIVER, make_busy_tree()))
    changed = change(text)
    assert changed != text
    if expected is None:
        assert parse_session(changed, "a.yaml", AGENT_SPECS_BY_KEY).branches[0].digests == ()
    else:
        assert any(expected in problem for problem in problems_of(changed))


_SESSION = None


def make_session_bytes() -> bytes:
    global _SESSION
    if _SESSION is None:
        _SESSION = dump_session(create_saved_session(RIVER, make_busy_tree())).encode()
    return _SESSION


@given(st.data())
def test_corrupt_session_bytes_give_a_session_or_config_error(data):
    whole = make_session_bytes()
    edits = data.draw(
        st.lists(st.tuples(st.integers(0, len(whole)), st.integers(0, 12), st.binary(max_size=6)), max_size=4)
    )
    for place, length, put in edits:
        whole = whole[:place] + put + whole[place + length :]
    try:
        saved = parse_session(whole, "a.yaml", AGENT_SPECS_BY_KEY)
    except ConfigError:
        return
    tree = saved.build_branch_tree(AGENT_SPECS_BY_KEY)
    for branch in list(tree.branches.values())[:2]:
        if branch.timeline.target_tick < 2000:
            branch.timeline.finish_seek()


def test_session_refuses_map_outside_its_folder():
    text = dump_session(create_saved_session(RIVER, make_tree()))
    start = text.index("map:\n")
    text = text[:start] + "map: {file: /etc/passwd}\n" + text[text.index("seed:") :]
    assert any("which is outside" in problem for problem in problems_of(text))


def test_terrain_hash_is_sha256_of_rows():
    terrain = RIVER.grid.terrain
    assert terrain_hash(terrain) == hashlib.sha256("".join(ROWS).encode()).hexdigest()
