"""State of the user's agents that cannot be stored in a keyframe, or not be loaded from one, costs time and no more."""

import copyreg
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import main
from agents import agent_contract, guarded_agent, own_files
from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from files import journal
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.time import keyframe_saver
from sim.time.keyframes import KeyframeStore, restore_world, take_keyframe, unstorable_part
from sim.time.state_failures import find_failing_part
from sim.time.timeline import Timeline
from sim.time.worst_block import BlockCandidate, WorstBlockSearch
from sim.world import World
from sim.world_commands import AgentConfig, EditCells
from tests.runs import scenario_on
from ui.model import opened_files, session_saving
from ui.model.session import Session

HEAD = """
import ctypes, itertools, multiprocessing, threading, time
import numpy as np
from agents.own import OwnAgent

class Odd(Exception):
    def __init__(self, x, y):
        super().__init__(f"{x} and {y}")
        self.x, self.y = x, y

class Gone:
    def __init__(self): self.some = 1
    def __setstate__(self, state): raise ValueError("gone")

class Secret:
    def __getstate__(self): raise KeyError("mine only")

class Leaves:
    def __reduce__(self): raise SystemExit(3)

class Named:
    def __reduce__(self): return "NAMED"
NAMED = Named()

class Marks(np.ndarray):
    pass

class Mine(OwnAgent):
    def begin(self):
        self.held = HELD
        self.seen, self.ticks = set(), 0

    def step(self):
        self.ticks += 1
        if self.ticks % 8:
            return None
        self.seen.add(self.position)
        found = self.expand(self.position)
        USE
        return min(found, key=lambda arc: (arc[0] in self.seen, self.distance(arc[0], self.goal)))[0]
"""

STORABLE = {
    "np.random.default_rng(3)": "found = [found[i] for i in self.held.permutation(len(found))]",
    "np.random.RandomState(3)": "found = [found[i] for i in self.held.permutation(len(found))]",
    "np.random.default_rng(3).permutation": "found = [found[i] for i in self.held(len(found))]",
    "np.random.default_rng": "assert self.held is np.random.default_rng",
    "...": "assert self.held is ...",
    "NotImplemented": "assert self.held is NotImplemented",
    "NAMED": "assert self.held is NAMED",
    "Odd(1, 2)": "assert (self.held.x, self.held.y, str(self.held)) == (1, 2, '1 and 2') and type(self.held) is Odd",
    "OSError(2, 'no')": "assert self.held.errno == 2 and self.held.args == (2, 'no')",
    "np.array(['2026-01-01', '2026-02-02'], 'M8[D]')": "assert str(self.held[1]) == '2026-02-02'",
    "np.ma.array([1, 2], mask=[False, True])": "assert self.held.sum() == 1",
    "np.arange(6).reshape(2, 3).view(Marks)": "assert type(self.held) is Marks and self.held[1, 2] == 5",
    "np": "assert self.held is np",
    "self.grid.moves": "assert self.held[self.position] == self.grid.moves[self.position]",
}
NOT_STORED = {
    "(i for i in ())": "generator",
    "threading.Lock()": "lock",
    "multiprocessing.Lock()": "RuntimeError",
    "ctypes.pointer(ctypes.c_int(3))": "pointers",
    "Secret()": "KeyError: 'mine only'",
    "Leaves()": "SystemExit: 3",
    "np.zeros(3, [('a', 'i4')])[0]": "AssertionError",
}
NOT_LOADED = {"Gone()": "ValueError: gone"}
FAILING = NOT_STORED | NOT_LOADED


@pytest.fixture(autouse=True)
def isolate_user_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv(own_files.LOADED_FILES_VARIABLE, "[]")
    monkeypatch.setattr(keyframe_saver, "KEYFRAME_SPACING", 2000.0)
    monkeypatch.setattr(keyframe_saver, "MIN_NEAR_SPACING", 400.0)
    keys, specs = dict(AGENT_SPECS_BY_KEY), list(AGENT_SPECS)
    yield
    AGENT_SPECS_BY_KEY.clear()
    AGENT_SPECS_BY_KEY.update(keys)
    AGENT_SPECS[:] = specs
    own_files.LOADED_FILES.clear()


def load(folder: Path, held: str, use: str = "pass") -> Path:
    path = folder / "mine.py"
    path.write_text(HEAD.replace("HELD", held).replace("USE", use))
    own_files.load_agent_file(path)
    return path


def rooms() -> Grid:
    return generate_map("rooms", {"width": 48, "height": 48, "seed": 2}).grid


def world() -> World:
    grid = rooms()
    free = np.flatnonzero(grid.free_mask)
    made = World(grid, int(free[0]), int(free[-1]), AGENT_SPECS_BY_KEY, budget=4, watched=True)
    made.add(AgentConfig("mine"))
    made.add(AgentConfig("lrta"))
    return made


def session() -> Session:
    grid = rooms()
    free = np.flatnonzero(grid.free_mask)
    agents = [AgentConfig("mine"), AgentConfig("lrta", budget=1)]
    return Session(scenario_on(grid, int(free[0]), int(free[-1]), agents, budget=4))


def seek_and_check_digests(line: Timeline) -> None:
    """Past tick 400, a step back, far back, a branch; the digests are always those of the first time."""
    digests = {}
    for tick in (7, 100, 420, 640):
        line.advance(tick - line.tick)
        digests[line.tick] = line.world.compute_digest()
    end = line.tick
    for tick in (end - 1, end - 2, 7, 420, 100, end):
        line.seek(tick)
        assert line.tick == tick and line.world.compute_digest() == digests.get(tick, line.world.compute_digest())
    assert line.run_history.divergence_tick is None and line.world.walkers[0].violation is None
    fork = line.fork(100)
    fork.apply_command(EditCells(blocked_cells=(60,)))
    fork.advance(5)
    fork.seek(99)
    assert fork.tick == 99 and fork.world.walkers[0].violation is None


# --- a run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("held, use", STORABLE.items())
def test_user_agent_may_hold_picklable_state(held: str, use: str, tmp_path: Path) -> None:
    load(tmp_path, held, use)
    line = Timeline(world)
    seek_and_check_digests(line)
    assert (
        not line.keyframe_saver.keyframe_store.state_failures.messages
        and line.keyframe_saver.keyframe_store.keyframe_count
    )


def rebuild_error(args: tuple[object, ...]) -> OSError:
    return OSError(*args)


def test_exceptions_are_stored_if_a_library_has_registered_reducers_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As tblib does for all exceptions once Dask is imported. OSError(2) is a FileNotFoundError."""
    monkeypatch.setitem(copyreg.dispatch_table, FileNotFoundError, lambda error: (rebuild_error, (error.args,)))
    held = "OSError(2, 'no')"
    test_user_agent_may_hold_picklable_state(held, STORABLE[held], tmp_path)


@pytest.mark.parametrize("held", FAILING)
def test_run_continues_if_state_cannot_be_stored_or_loaded(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    line = Timeline(world)
    seek_and_check_digests(line)
    (message,) = line.keyframe_saver.keyframe_store.state_failures.messages.values()
    assert FAILING[held] in message and "Going back in time works" in message
    assert (" of mine cannot be stored" in message and "self.held" in message) == (held in NOT_STORED)
    assert ("state of mine cannot be loaded again: mine.py:13: " in message) == (held in NOT_LOADED)


@pytest.mark.parametrize("held", FAILING)
def test_session_without_keyframes_seeks_and_warns_once(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    run = session()
    run.advance_by_ticks(450)
    end, digest = run.tick, run.run.world.compute_digest()
    for _ in range(3):
        run.seek_to_tick(run.tick - 1)
    run.submit_command(EditCells(blocked_cells=(60,)))
    run.advance_by_ticks(9)
    assert run.tick == end - 3 + 9
    while run.undo_history.done:
        run.undo_history.undo_last_entry()
        run.run.focused_branch_timeline.finish_seek()
    run.seek_to_tick(end)
    assert (
        run.run.world.compute_digest() == digest and run.run.focused_branch_timeline.run_history.divergence_tick is None
    )
    texts = [text for text in run.user_messages.persistent_messages if "Going back" in text]
    assert len(texts) == 1 and FAILING[held] in texts[0]


@pytest.mark.parametrize("held", FAILING)
def test_crashed_session_is_restored_at_its_tick(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    run = session()
    writer = journal.Journal(session_saving.scenario_with_view(run.run), run.run.branch_tree, folder=tmp_path)
    run.advance_by_ticks(450)
    writer.write_branch_ticks([0], now=True)
    saved = journal.restore_session(writer.path, AGENT_SPECS_BY_KEY)
    other = Session(saved.scenario)
    session_saving.restore_session(other, saved)
    other.run.focused_branch_timeline.finish_seek()
    assert other.tick == run.tick and other.run.world.compute_digest() == run.run.world.compute_digest()
    other.seek_to_tick(other.tick - 1)
    assert other.tick == run.tick - 1 and other.run.focused_branch_timeline.run_history.divergence_tick is None


@pytest.mark.parametrize("held", FAILING)
def test_worst_block_search_works_without_keyframes(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    line = Timeline(world)
    line.advance(60)
    cells = [int(line.run_history.agent_records[1].cell_at_tick(tick)) for tick in (30, 45)]
    tasks = [(20, BlockCandidate(str(cell), EditCells((cell,)))) for cell in cells if cell not in (line.world.goal,)]
    search = WorstBlockSearch(line, 1, tasks, max_ticks=2000)
    while not search.simulate_slice():
        pass
    assert search.done == search.task_count and search.ranked_results() and line.run_history.divergence_tick is None


# --- trying again, and giving up ------------------------------------------------------------------


def test_failing_keyframes_are_retried_with_backoff(tmp_path: Path) -> None:
    load(tmp_path, "[threading.Lock()]", "self.held.append(0)")
    store, made = KeyframeStore(), world()
    tried = []
    for number in range(40):
        agent = made.walkers[0].agent
        before = store.state_failures._failure_counts.copy()
        assert store.begin_keyframe(made, 0.0) is None
        tried += [number] if store.state_failures._failure_counts != before else []
    assert tried == [0, 2, 6, 14, 30]
    agent.agent.held = []
    while (taking := store.begin_keyframe(made, 0.0)) is None:
        pass
    assert store.finish_keyframe(taking) is not None and not store.state_failures._failure_counts


def test_earlier_keyframe_is_used_if_a_later_one_fails_to_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(tmp_path, "None", "self.held = Gone() if len(self.seen) == 30 else self.held")
    line = Timeline(world)
    for _ in range(60):
        line.advance(10)
        line.keyframe_saver.save(line._present_cursor())
    loaded = []
    load_state = KeyframeStore.load_world
    monkeypatch.setattr(
        KeyframeStore, "load_world", lambda store, it: loaded.append(it.keyframe.tick) or load_state(store, it)
    )
    line.seek(line.tick - 1)
    assert line.tick == 599 and loaded == [590, 580, 560, 520, 440, 280]
    assert line.run_history.divergence_tick is None and line.world.walkers[0].violation is None


def test_few_keyframes_are_tried_if_none_can_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(tmp_path, "Gone()")
    line = Timeline(world)
    for _ in range(60):
        line.advance(2)
        line.keyframe_saver.save(line._present_cursor())
    tried = []
    load_state = KeyframeStore.load_world
    monkeypatch.setattr(
        KeyframeStore, "load_world", lambda store, it: tried.append(it.keyframe.tick) or load_state(store, it)
    )
    line.seek(line.tick - 1)
    assert 2 <= len(tried) <= 7
    for _ in range(2):
        assert line.keyframe_saver.keyframe_track.keyframe_at_or_before(line.tick) is None, (
            "nothing is stored any more that cannot be loaded"
        )
        line.seek(line.tick - 1)


def test_endless_state_storing_is_stopped_and_not_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_agent, "STATE_CALL_TIME_LIMIT_S", 0.25)
    path = load(tmp_path, "Secret()")
    path.write_text(path.read_text().replace('raise KeyError("mine only")', "\n        while True: pass"))
    own_files.load_agent_file(path)
    line = Timeline(world)
    seek_and_check_digests(line)
    (message,) = line.keyframe_saver.keyframe_store.state_failures.messages.values()
    assert "mine.py:17: did not return within 0.25 s" in message
    assert list(line.keyframe_saver.keyframe_store.state_failures._failure_counts.values()) == [1]


def test_endless_state_loading_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_agent, "STATE_CALL_TIME_LIMIT_S", 0.25)
    path = load(tmp_path, "Gone()")
    path.write_text(path.read_text().replace('raise ValueError("gone")', "\n        while True: pass"))
    own_files.load_agent_file(path)
    line = Timeline(world)
    seek_and_check_digests(line)
    (message,) = line.keyframe_saver.keyframe_store.state_failures.messages.values()
    assert "loaded again: mine.py:14: did not return within 0.25 s" in message


def test_restored_agents_of_one_file_share_objects(tmp_path: Path) -> None:
    load(tmp_path, "NAMED")
    made = world()
    made.add(AgentConfig("mine"))
    first, _, other = (walker.agent.agent if walker.spec.is_own else None for walker in made.walkers)
    first.held = other.held = {"both": 1}
    copy = restore_world(take_keyframe(made))
    first, _, other = (walker.agent.agent if walker.spec.is_own else None for walker in copy.walkers)
    assert first.held is other.held and first.grid._source_grid is copy.grid is copy.walkers[1].agent.problem.grid


# --- which part it is -----------------------------------------------------------------------------

PLACES = {
    "threading.Lock()": "self.held",
    "[1, [2, threading.Lock()], 3]": "self.held[1][1]",
    "{'a': 1, ('b', 2): {'deep': (0, threading.Lock())}}": "self.held[('b', 2)]['deep'][1]",
    "Odd(1, threading.Lock())": "self.held.y",
    "{i: i for i in range(100_000)} | {'last': Gone()}": "self.held['last']",
    "[self, (self, [self, threading.Lock()])]": "self.held[1][1][1]",
    "np.random.default_rng(3)": "",
}


@pytest.mark.parametrize("held, part", PLACES.items())
def test_unstorable_part_of_state_is_named(held: str, part: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    assert unstorable_part(world().walkers[0].agent) == part


def test_find_part_names_self_if_no_part_fails_alone() -> None:
    assert find_failing_part([1, 2], lambda values, left_out: [1, 2] in values) == "self"


@pytest.mark.parametrize("held", [*FAILING, "np.random.default_rng(3)"])
def test_check_agent_reports_unstorable_state_as_warning(
    held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_contract, "CONTRACT_RULES", agent_contract.CONTRACT_RULES[-1:])
    path = load(tmp_path, held)
    assert main.main(["check-agent", str(path)]) == 0
    told = capsys.readouterr().out
    assert "all rules are kept" in told
    if held in FAILING:
        verb = "stored" if held in NOT_STORED else "loaded again"
        assert "going back in time takes longer" in told and f"{verb} in tick 0: " in told and "  self.held" in told
        assert FAILING[held] in told
    else:
        assert "slow" not in told


def test_check_agent_detects_walk_that_differs_after_restore(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_contract, "CONTRACT_RULES", agent_contract.CONTRACT_RULES[-1:])
    path = load(tmp_path, "Gone()", "found = found if hasattr(self.held, 'some') else found[:1]")
    path.write_text(path.read_text().replace('raise ValueError("gone")', "pass"))
    assert main.main(["check-agent", str(path)]) == 1
    assert "walks differently when it is saved" in capsys.readouterr().out


def test_session_file_reproduces_its_digests(tmp_path: Path) -> None:
    load(tmp_path, "threading.Lock()")
    run = session()
    run.advance_by_ticks(450)
    saved = session_saving.save_session(run, tmp_path / "session")
    opened = opened_files.open_any_file(saved)
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session)
    other.run.focused_branch_timeline.finish_seek()
    assert (
        other.run.world.compute_digest() == run.run.world.compute_digest()
        and other.run.focused_branch_timeline.run_history.divergence_tick is None
    )
