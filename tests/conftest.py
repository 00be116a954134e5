"""Settings of hypothesis, kernels compiled once, and the small helpers that several test files share."""

import gc
import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from agents.agent_contract import parameter_sets, random_map_rows, smallest_accepted_budget
from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import all_agent_kernel_sets
from sim.batching.batched_executor import BatchedExecutor
from sim.grid import Grid
from sim.jit.ready import compile_missing_kernel_sets
from sim.movement import CUT_ONE_CORNER, DEFAULT_MOVEMENT, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import Value
from sim.prepared_data import DATA_CACHE
from sim.system.user_folders import cache_folder, config_folder, state_folder
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig
from ui.film.recording_files import FOLDER_VARIABLE, recordings_folder
from ui.warmup import all_kernel_sets

from .naive import Board

__all__ = ["parameter_sets", "random_map_rows", "smallest_accepted_budget"]
ROOT = Path(__file__).resolve().parent.parent
SHARED_MAPS = Path(os.environ.get("BACKMOVE_MAPS", ROOT.parent / "shared" / "maps"))
UNLIMITED = 10**9  # a budget that no small map can use up

settings.register_profile(
    "local", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.register_profile(  # the same examples each time, and no minutes of shrinking the one that fails
    "ci", settings.get_profile("local"), derandomize=True, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("ci" if os.environ.get("CI") else "local")


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell tells what it runs in the background to ignore Ctrl+C;
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs that the tests start would ignore it as well

DATA_CACHE.files_folder = None  # data computed before a run: no test reads or writes the user's own files


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_ready() -> None:
    """Compile every kernel before the first test, so that none of them seems slow; two workers share the work.

    The compiler leaves millions of objects that stay. Whoever collects garbage afterwards passes them by: a single
    `gc.collect` took two thirds of a second.
    """
    compile_missing_kernel_sets([*all_kernel_sets(), *all_agent_kernel_sets(watched=False)])
    gc.collect()
    gc.freeze()


# --- the user's own folders -----------------------------------------------------------------------------

FOLDER_VARIABLES = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", FOLDER_VARIABLE)
_USERS_OWN = tuple(str(f) for f in (config_folder(), state_folder(), recordings_folder(), cache_folder() / "prepared"))
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "sqlite3.connect")
_touched: list[str] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    """Called by Python before it does anything outside of itself: nobody may write into the user's own folders."""
    if _CHANGES is None:  # Python is ending, and has emptied this module
        return
    if event == "open":
        path, mode, flags = arguments
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR)) if isinstance(flags, int) else "r" not in str(mode)
        paths: tuple[object, ...] = (path,) if writes else ()
    else:
        paths = arguments[:2] if event in _CHANGES else ()
    for path in paths:
        if isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(_USERS_OWN):
            _touched.append(f"{event} {path}")


sys.addaudithook(_watch)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new name for each home. pytest would look through all of them to find one."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder for each test, also for the programs that it starts; fails a test that writes into the real one."""
    own = next(_homes)
    own.mkdir()
    for name in FOLDER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(own))
    _touched.clear()
    yield own
    assert not _touched, f"a test touched the user's own folders: {_touched}"


# --- small maps ---------------------------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn, side: int = 12, water: bool = True, low: int = 1) -> tuple[list[str], int, int]:
    """A random small map with its start and goal cells, which are free; a path need not exist.

    Cells come from a seed: maps built bit by bit by hypothesis are nearly empty and their ways two moves long.
    """
    width, height = (max(draw(st.integers(low, side)), draw(st.integers(low, side))) for _ in range(2))
    chance = random.Random(draw(st.integers(0, 2**32)))
    density, wet = chance.choice([0.0, 0.15, 0.25, 0.35, 0.45]), chance.choice([0.0, 0.04]) if water else 0.0
    letters = [
        "@" if chance.random() < density else "W" if chance.random() < wet else "." for _ in range(width * height)
    ]
    start, *goals = (chance.randrange(width * height) for _ in range(4))
    goal = max(goals, key=lambda cell: abs(cell % width - start % width) + abs(cell // width - start // width))
    letters[start] = letters[goal] = "."
    text = "".join(letters)
    return [text[i : i + width] for i in range(0, width * height, width)], start, goal


def board_of(grid: Grid) -> Board:
    return Board(grid.text_rows(), grid.diagonal_cost, grid.movement.rule)


MOVEMENTS = (
    *3 * (DEFAULT_MOVEMENT,),
    *(Movement(diagonal=cost) for cost in (1.0, 1.4, 1.5, 2.0)),
    *2 * (Movement(FOUR_NEIGHBOURS), Movement(CUT_ONE_CORNER), Movement(SQUEEZE_BETWEEN_CORNERS)),
    *(Movement(rule, 1.5) for rule in (CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS)),
)
movements = st.sampled_from(MOVEMENTS)
"""Every movement rule, the usual one and others."""


# --- worlds -------------------------------------------------------------------------------------------


def make_world(
    rows: list[str],
    start: int,
    goal: int,
    *agents: tuple[str, Mapping[str, Value]],
    budget: int = 1,
    movement: Movement = DEFAULT_MOVEMENT,
    **options: object,
) -> World:
    """A world with these agents, given as (kind, parameters)."""
    grid = Grid.from_text_rows(rows, movement=movement)
    world = World(grid, start, goal, AGENT_SPECS_BY_KEY, budget=budget, **{"executor": BatchedExecutor, **options})
    for kind, params in agents:
        world.add(AgentConfig(kind, params=params))
    return world


def solo(
    rows: list[str],
    start: int,
    goal: int,
    kind: str,
    budget: int = 1,
    movement: Movement = DEFAULT_MOVEMENT,
    **params: Value,
) -> tuple[World, Walker]:
    world = make_world(rows, start, goal, (kind, params), budget=budget, movement=movement)
    return world, world.walkers[0]


def ticks_of(world: World, limit: int) -> Iterator[None]:
    """Advance one tick at a time until the world is over."""
    for _ in range(limit):
        if not world.advance(1):
            return
        yield
    raise AssertionError(f"not over after {limit} ticks")


def find_cell(rows: list[str], letter: str) -> int:
    text = "".join(rows)
    assert text.count(letter) == 1, letter
    return text.index(letter)


def drawn(picture: str) -> tuple[list[str], int, int]:
    """Rows, start and goal from a picture with S, G, '.' and '#'."""
    rows = picture.split()
    start, goal = find_cell(rows, "S"), find_cell(rows, "G")
    return ["".join({"S": ".", "G": ".", "#": "@"}.get(c, c) for c in row) for row in rows], start, goal


# --- settings of agents -------------------------------------------------------------------------------


def every_setting() -> list[object]:
    return [
        pytest.param(spec, params, id=f"{spec.key}-{'-'.join(f'{k}={v}' for k, v in params.items()) or 'default'}")
        for spec in AGENT_SPECS_BY_KEY.values()
        for params in parameter_sets(spec)
    ]


# --- files --------------------------------------------------------------------------------------------


def yaml_of(text: str) -> Any:
    """What YAML says, ten times as fast as `yaml.safe_load` where PyYAML has libyaml."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


# --- other processes ----------------------------------------------------------------------------------


def run_python(code: str, **environment: str) -> str:
    """Standard output of a fresh interpreter in which any warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def in_both(code: str, first: Callable[[], str], **environment: str) -> tuple[str, str]:
    return first(), run_python(code, **environment)
