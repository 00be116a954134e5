"""State of the user's agents that cannot be stored in a keyframe, or not be loaded from one, costs time and no more."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import main
from agents import contract, guarded, own_files
from agents.registry import BY_KEY, SPECS
from sim.commands import AgentConfig, EditCells
from sim.files import journal
from sim.generate import generate
from sim.grid import Grid
from sim.time import timeline
from sim.time.failures import find_part
from sim.time.keyframes import KeyframeStore, part_not_stored, restore, take
from sim.time.timeline import Timeline
from sim.time.worst_block import Block, WorstBlock
from sim.world import World
from tests.runs import scenario_on
from ui.model import files, saving
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
def nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv(own_files.VARIABLE, "[]")
    monkeypatch.setattr(timeline, "SPACING", 2000.0)
    monkeypatch.setattr(timeline, "NEAR_SPACING", 400.0)
    keys, specs = dict(BY_KEY), list(SPECS)
    yield
    BY_KEY.clear()
    BY_KEY.update(keys)
    SPECS[:] = specs
    own_files.LOADED.clear()


def load(folder: Path, held: str, use: str = "pass") -> Path:
    path = folder / "mine.py"
    path.write_text(HEAD.replace("HELD", held).replace("USE", use))
    own_files.load(path)
    return path


def rooms() -> Grid:
    return generate("rooms", {"width": 48, "height": 48, "seed": 2}).grid


def world() -> World:
    grid = rooms()
    free = np.flatnonzero(grid.free)
    made = World(grid, int(free[0]), int(free[-1]), BY_KEY, budget=4, watched=True)
    made.add(AgentConfig("mine"))
    made.add(AgentConfig("lrta"))
    return made


def session() -> Session:
    grid = rooms()
    free = np.flatnonzero(grid.free)
    agents = [AgentConfig("mine"), AgentConfig("lrta", budget=1)]
    return Session(scenario_on(grid, int(free[0]), int(free[-1]), agents, budget=4))


def walk_around(line: Timeline) -> None:
    """Past tick 400, a step back, far back, a branch; the digests are always those of the first time."""
    digests = {}
    for tick in (7, 100, 420, 640):
        line.advance(tick - line.tick)
        digests[line.tick] = line.world.digest()
    end = line.tick
    for tick in (end - 1, end - 2, 7, 420, 100, end):
        line.seek(tick)
        assert line.tick == tick and line.world.digest() == digests.get(tick, line.world.digest())
    assert line.diverged is None and line.world.walkers[0].offence is None
    fork = line.fork(100)
    fork.do(EditCells(blocked=(60,)))
    fork.advance(5)
    fork.seek(99)
    assert fork.tick == 99 and fork.world.walkers[0].offence is None


# --- a run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("held, use", STORABLE.items())
def test_an_agent_may_keep_what_pickle_can_store(held: str, use: str, tmp_path: Path) -> None:
    load(tmp_path, held, use)
    line = Timeline(world)
    walk_around(line)
    assert not line.store.failures.messages and line.store.count


@pytest.mark.parametrize("held", FAILING)
def test_a_run_goes_on_where_state_cannot_be_stored_or_loaded(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    line = Timeline(world)
    walk_around(line)
    (message,) = line.store.failures.messages.values()
    assert FAILING[held] in message and "Going back in time works" in message
    assert (" of mine cannot be stored" in message and "self.held" in message) == (held in NOT_STORED)
    assert ("state of mine cannot be loaded again: mine.py:13: " in message) == (held in NOT_LOADED)


@pytest.mark.parametrize("held", FAILING)
def test_a_session_steps_back_branches_undoes_and_says_once_that_it_is_slow(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    run = session()
    run.advance(450)
    end, digest = run.tick, run.run.world.digest()
    for _ in range(3):
        run.seek(run.tick - 1)
    run.do(EditCells(blocked=(60,)))
    run.advance(9)
    assert run.tick == end - 3 + 9
    while run.history.done:
        run.history.undo()
        run.run.timeline.settle()
    run.seek(end)
    assert run.run.world.digest() == digest and run.run.timeline.diverged is None
    texts = [text for text in run.told.lasting if "Going back" in text]
    assert len(texts) == 1 and FAILING[held] in texts[0]


@pytest.mark.parametrize("held", FAILING)
def test_a_crash_is_taken_up_at_its_tick(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    run = session()
    writer = journal.Journal(saving.looking_at(run.run), run.run.tree, folder=tmp_path)
    run.advance(450)
    writer.progress([0], now=True)
    saved = journal.restore(writer.path, BY_KEY)
    other = Session(saved.scenario)
    saving.restore(other, saved)
    other.run.timeline.settle()
    assert other.tick == run.tick and other.run.world.digest() == run.run.world.digest()
    other.seek(other.tick - 1)
    assert other.tick == run.tick - 1 and other.run.timeline.diverged is None


@pytest.mark.parametrize("held", FAILING)
def test_the_worst_block_is_found(held: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    line = Timeline(world)
    line.advance(60)
    cells = [int(line.records[1].cell_at(tick)) for tick in (30, 45)]
    tasks = [(20, Block(str(cell), EditCells((cell,)))) for cell in cells if cell not in (line.world.goal,)]
    search = WorstBlock(line, 1, tasks, most_ticks=2000)
    while not search.step():
        pass
    assert search.done == search.total and search.results() and line.diverged is None


# --- trying again, and giving up ------------------------------------------------------------------


def test_storing_that_fails_is_tried_ever_less_often(tmp_path: Path) -> None:
    load(tmp_path, "[threading.Lock()]", "self.held.append(0)")
    store, made = KeyframeStore(), world()
    tried = []
    for number in range(40):
        agent = made.walkers[0].agent
        before = store.failures._counts.copy()
        assert store.begin(made, 0.0) is None
        tried += [number] if store.failures._counts != before else []
    assert tried == [0, 2, 6, 14, 30]
    agent.agent.held = []
    while (taking := store.begin(made, 0.0)) is None:
        pass
    assert store.read(taking) is not None and not store.failures._counts


def test_an_earlier_keyframe_serves_where_a_later_one_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tmp_path, "None", "self.held = Gone() if len(self.seen) == 30 else self.held")
    line = Timeline(world)
    for _ in range(60):
        line.advance(10)
        line._take_keyframe(line._present())
    loaded = []
    load_state = KeyframeStore.load
    monkeypatch.setattr(KeyframeStore, "load", lambda store, it: loaded.append(it.frame.tick) or load_state(store, it))
    line.seek(line.tick - 1)
    assert line.tick == 599 and loaded == [590, 580, 560, 520, 440, 280]
    assert line.diverged is None and line.world.walkers[0].offence is None


def test_few_keyframes_are_tried_where_none_can_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(tmp_path, "Gone()")
    line = Timeline(world)
    for _ in range(60):
        line.advance(2)
        line._take_keyframe(line._present())
    tried = []
    load_state = KeyframeStore.load
    monkeypatch.setattr(KeyframeStore, "load", lambda store, it: tried.append(it.frame.tick) or load_state(store, it))
    line.seek(line.tick - 1)
    assert 2 <= len(tried) <= 7
    for _ in range(2):
        assert line._track.at_or_before(line.tick) is None, "nothing is stored any more that cannot be loaded"
        line.seek(line.tick - 1)


def test_state_that_takes_for_ever_is_stopped_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "STATE_PATIENCE_S", 0.25)
    path = load(tmp_path, "Secret()")
    path.write_text(path.read_text().replace('raise KeyError("mine only")', "\n        while True: pass"))
    own_files.load(path)
    line = Timeline(world)
    walk_around(line)
    (message,) = line.store.failures.messages.values()
    assert "mine.py:17: did not return within 0.25 s" in message
    assert list(line.store.failures._counts.values()) == [1]


def test_loading_that_takes_for_ever_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "STATE_PATIENCE_S", 0.25)
    path = load(tmp_path, "Gone()")
    path.write_text(path.read_text().replace('raise ValueError("gone")', "\n        while True: pass"))
    own_files.load(path)
    line = Timeline(world)
    walk_around(line)
    (message,) = line.store.failures.messages.values()
    assert "loaded again: mine.py:14: did not return within 0.25 s" in message


def test_agents_of_one_file_still_share_what_they_shared(tmp_path: Path) -> None:
    load(tmp_path, "NAMED")
    made = world()
    made.add(AgentConfig("mine"))
    first, _, other = (walker.agent.agent if walker.spec.is_own else None for walker in made.walkers)
    first.held = other.held = {"both": 1}
    copy = restore(take(made))
    first, _, other = (walker.agent.agent if walker.spec.is_own else None for walker in copy.walkers)
    assert first.held is other.held and first.grid._grid is copy.grid is copy.walkers[1].agent.problem.grid


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
def test_the_part_that_cannot_be_stored_is_named(held: str, part: str, tmp_path: Path) -> None:
    load(tmp_path, held)
    assert part_not_stored(world().walkers[0].agent) == part


def test_a_whole_that_fails_without_any_of_its_parts_is_named_itself() -> None:
    assert find_part([1, 2], lambda values, left_out: [1, 2] in values) == "self"


@pytest.mark.parametrize("held", [*FAILING, "np.random.default_rng(3)"])
def test_check_agent_says_what_cannot_be_stored_and_that_it_costs_time_only(
    held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "RULES", contract.RULES[-1:])
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


def test_check_agent_finds_a_walk_that_is_another_one_after_going_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "RULES", contract.RULES[-1:])
    path = load(tmp_path, "Gone()", "found = found if hasattr(self.held, 'some') else found[:1]")
    path.write_text(path.read_text().replace('raise ValueError("gone")', "pass"))
    assert main.main(["check-agent", str(path)]) == 1
    assert "walks differently when it is saved" in capsys.readouterr().out


def test_a_session_file_comes_to_its_digests(tmp_path: Path) -> None:
    load(tmp_path, "threading.Lock()")
    run = session()
    run.advance(450)
    saved = saving.save(run, tmp_path / "session")
    opened = files.open_any(saved)
    other = Session(opened.scenario)
    saving.restore(other, opened.saved)
    other.run.timeline.settle()
    assert other.run.world.digest() == run.run.world.digest() and other.run.timeline.diverged is None
