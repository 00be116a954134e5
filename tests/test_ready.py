"""Compiled kernels: kept, shared by processes, compiled anew where a file is damaged."""

import ast
import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.registry import SPECS
from agents.warm import walk, walk_together
from sim.commands import AgentConfig
from sim.crew import AgentBatch
from sim.kernels import cache, crew, jit, ready, sources
from sim.kernels.jit import JIT_ON
from sim.kernels.known import IS_KNOWN
from sim.kernels.ready import Part, is_ready, make_ready

from .conftest import ROOT, run_python

compiles = pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ready, "CACHE_FOLDER", tmp_path)
    return tmp_path


def parts_of(done: list[str], *keys: str) -> list[Part]:
    return [Part(key, key.upper(), lambda key=key: done.append(key)) for key in keys]  # type: ignore[misc]


def test_each_part_is_compiled_once(notes: Path) -> None:
    done: list[str] = []
    told: list[tuple[str, int, int]] = []
    make_ready(parts_of(done, "a", "b"), lambda part, i, n: told.append((part.title, i, n)))
    make_ready(parts_of(done, "b", "c"))
    assert done == ["a", "b", "c"] and told == [("A", 0, 2), ("B", 1, 2)]
    assert is_ready("a") and not is_ready("d")


@compiles
def test_kernels_that_lie_compiled_are_read_beforehand() -> None:
    """In a program of its own: after the loader nothing is left to be read, nor compiled."""
    walked = "from agents.warm import AgentConfig, walk; walk(AgentConfig('tba'), watched=True)"
    told = run_python(
        "import agents.registry; from sim.kernels.loading import Loader; from sim.kernels.jit import KERNELS\n"
        "loader = Loader('sim.kernels.tba')\n"
        "first = loader.load_next() and [k.__module__ for k in KERNELS if k.overloads]\n"
        "while loader.load_next(): pass\n"
        "def count(): return sum(len(k.overloads) for k in KERNELS)\n"
        f"before = count(); {walked}; print(first, before > 10, count() - before)"
    )
    assert told.split() == ["['sim.kernels.tba']", "True", "0"]


READS_A_KERNEL = """
import sys
{first}
import agents.astar
from sim.grid import Grid
Grid.from_rows(["..", ".."])
print("numba.np.arraymath" in sys.modules)
"""


@compiles
def test_who_only_reads_kernels_does_without_the_compilers_tables() -> None:
    """They take longer than all that a small command does."""
    assert run_python(READS_A_KERNEL.format(first="")).split()[-1] == "False"


@compiles
def test_somebody_may_have_imported_numba_before_us(tmp_path: Path) -> None:
    """A worker of a cluster, a notebook: numba has read its settings then, without our folder among them."""
    folders = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path)}
    assert run_python(READS_A_KERNEL.format(first="import numba"), **folders).split()[-1] == "True"
    assert list(tmp_path.rglob("sim.kernels.terrain-*/*.nbc"))


def test_a_part_that_failed_is_not_ready(notes: Path) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_ready([Part("a", "A", fail)])
    assert not is_ready("a")
    done: list[str] = []
    make_ready(parts_of(done, "a"))
    assert done == ["a"] and is_ready("a")


def test_a_part_that_another_process_is_at_comes_last(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one dies in the middle of `a`, so it is compiled here after all."""
    done: list[str] = []
    asked: list[bool] = []

    def lock(note: int, *, waits: bool = False) -> bool:
        asked.append(waits)
        return waits or len(asked) > 1

    monkeypatch.setattr(ready, "lock", lock)
    make_ready(parts_of(done, "a", "b"))
    assert done == ["b", "a"] and asked == [False, False, True]


def test_where_nothing_can_be_noted_all_is_compiled(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "CACHE_FOLDER", notes / "no such folder")
    done: list[str] = []
    make_ready(parts_of(done, "a", "b"))
    assert done == ["a", "b"] and not is_ready("a")


# --- the files --------------------------------------------------------------------------------------------

TINY = """
import sys
sys.path.insert(0, {folder!r})
import sim.kernels
import tiny
print(tiny.double(21), sum(tiny.double.stats.cache_hits.values()), sim.kernels.CACHE_FOLDER)
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A module with one small kernel, and a cache of its own."""
    (tmp_path / "tiny.py").write_text("from sim.kernels.jit import kernel\n@kernel\ndef double(x):\n    return 2 * x\n")
    return tmp_path


def start(tiny: Path, **environment: str) -> tuple[int, Path]:
    """Run the small kernel in a process of its own: how often it came from the cache, and where that is."""
    named = {"NUMBA_CACHE_DIR": str(tiny / "cache"), **environment}
    answer, hits, folder = run_python(TINY.format(folder=str(tiny)), **named).split()
    assert answer == "42"
    return int(hits), Path(folder)


@pytest.fixture
def begun(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Read the module as a start of the program does: its kernels know nothing but what lies in its cache."""
    monkeypatch.setattr(cache, "CACHE_FOLDER", tiny / "cache")
    monkeypatch.setattr(jit, "KERNELS", [])

    def begin() -> Any:
        forget_stamps()
        named = importlib.util.spec_from_file_location("tiny", tiny / "tiny.py")
        module = importlib.util.module_from_spec(named)
        monkeypatch.setitem(sys.modules, "tiny", module)
        named.loader.exec_module(module)
        return module

    yield begin
    forget_stamps()


def hits(module: Any) -> int:
    """How often the small kernel comes from the cache when it is called."""
    assert module.double(21) == 42
    return sum(module.double.stats.cache_hits.values())


@compiles
def test_an_empty_cache_and_a_full_one(tiny: Path) -> None:
    hits, folder = start(tiny)
    assert hits == 0 and folder.parent == tiny / "cache" and folder.stat().st_mode & 0o077 == 0
    assert start(tiny) == (1, folder)


@compiles
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["empty", "torn", "zeros", "changed"])
def test_a_damaged_file_is_compiled_anew(tiny: Path, begun: Callable[[], Any], suffix: str, damage: str) -> None:
    assert hits(begun()) == 0
    (file,) = tiny.rglob(f"*{suffix}")
    data = file.read_bytes()
    middle = len(data) // 2
    changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    file.write_bytes({"empty": b"", "torn": data[:middle], "zeros": bytes(len(data)), "changed": changed}[damage])
    assert hits(begun()) == 0
    assert hits(begun()) == 1


@compiles
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be written here")
def test_a_read_only_cache_is_another_folder(tiny: Path, home: Path) -> None:
    (tiny / "cache").mkdir(mode=0o500)
    assert start(tiny)[1].is_relative_to(home)


@compiles
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folders of users apart by itself")
def test_a_cache_that_others_can_write_is_not_used(tiny: Path, home: Path) -> None:
    _, folder = start(tiny)
    folder.chmod(0o777)
    hits, other = start(tiny)
    assert hits == 0 and other.is_relative_to(home)
    folder.chmod(0o700)
    assert start(tiny) == (1, folder)


@compiles
def test_a_full_disk_ends_nothing(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    saved = types.SimpleNamespace(save_overload=refuse)
    monkeypatch.setattr(cache.FunctionCache, "save_overload", saved.save_overload)
    cache.SoundCache.save_overload(object.__new__(cache.SoundCache), None, None)


@compiles
@pytest.mark.skipif(not IS_KNOWN, reason="another version of numba, of which every kernel is compiled")
def test_a_kernel_that_another_calls_is_part_of_it_and_can_be_called_itself(
    tiny: Path, begun: Callable[[], Any]
) -> None:
    """And only what Python calls lies in the cache."""
    with open(tiny / "tiny.py", "a", encoding="utf-8") as file:
        file.write("@kernel\ndef quadruple(x):\n    return double(double(x))\n")

    def called(calls_double: bool) -> tuple[int, int]:
        """How many versions there are of the one that is called, and of the other inside of it."""
        module = begun()
        assert module.quadruple(21) == 84 and (not calls_double or module.double(4) == 8)
        return len(module.quadruple.overloads), len(module.double.inner().overloads)

    assert called(calls_double=True) == (1, 1)
    assert called(calls_double=True) == (1, 0)
    assert len(list(tiny.rglob("*.nbc"))) == 2
    (index,) = tiny.rglob("tiny.double*.nbi")
    index.unlink()
    assert called(calls_double=False) == (1, 0)
    assert not list(tiny.rglob("tiny.double*.nbi"))


@compiles
def test_an_edit_compiles_what_depends_on_it_and_nothing_else(tiny: Path, begun: Callable[[], Any]) -> None:
    hits(begun())
    source = tiny / "tiny.py"
    source.write_text(source.read_text() + "# a comment\n")
    assert hits(begun()) == 0
    assert hits(begun()) == 1


@pytest.fixture
def three_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three files of kernels, of which a imports b in one of four ways, and b imports c."""
    folder = tmp_path / "sim" / "kernels"
    folder.mkdir(parents=True)
    (folder / "c.py").write_text("LIMIT = 1\n")
    (folder / "b.py").write_text("from sim.kernels import (\n    a,\n    c,\n)\n")
    (folder / "other.py").write_text("import numpy as np\n")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    yield folder
    forget_stamps()


def forget_stamps() -> None:
    sources.stamp_of.cache_clear()
    sources._imported_files.cache_clear()


@pytest.mark.parametrize(
    "line",
    [
        "from sim.kernels import b",
        "from sim.kernels.b import (\n    x,\n)",
        "import sim.kernels.b as d",
        "if True:\n    from sim.kernels.b import x",
    ],
)
def test_a_stamp_is_of_all_that_is_imported(three_files: Path, line: str) -> None:
    (three_files / "a.py").write_text(f"{line}\n")
    stamps = []
    for name in ("a.py", "b.py", "c.py", "other.py"):
        forget_stamps()
        stamps.append(sources.stamp_of(three_files / "a.py"))
        (three_files / name).write_text((three_files / name).read_text() + "# edited\n")
    forget_stamps()
    assert len({*stamps, sources.stamp_of(three_files / "a.py")}) == 4, "only what it never comes by changes nothing"


def test_every_import_of_a_kernel_file_is_seen() -> None:
    """The stamps read imports from the text; the syntax tree must say the same."""
    for room in sources._KERNEL_PACKAGES:
        for path in sources._folder(room).glob("*.py"):
            names = set()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                elif isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
            assert set(sources._imported_files(path)) == {file for name in names if (file := sources._file(name))}, path


# --- everything is compiled -------------------------------------------------------------------------------

ALL_PARTS = """
from agents.warm import all_agent_parts, world_part
from sim.kernels.ready import make_ready
make_ready([world_part(), *all_agent_parts(watched=False)][:3])
"""


@compiles
@pytest.mark.slow
def test_two_starts_at_the_same_time(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-W", "error", "-c", ALL_PARTS], cwd=ROOT, env=environment) for _ in "ab"]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    assert len(list(tmp_path.rglob("*.ready"))) == 3
    assert all(cache._without_checksum(file.read_bytes()) is not None for file in tmp_path.rglob("*.nb[ci]"))


EVERY_EXAMPLE = """
import json
from sim.kernels.jit import KERNELS
from sim.kernels.ready import make_ready
from ui.warmup import all_parts
make_ready(all_parts())
def compiled():
    return {f"{k.__module__}.{k.__name__}": sum(k.stats.cache_misses.values()) for k in KERNELS}
before = compiled()
from tests.window import make_app
from ui.model import files
for path in files.examples():
    app = make_app(files.open_any(path).scenario)
    app.window.run("generate")
    app.window.run("cancel")
    for tick in (1, 2, 40, 3, 60):
        app.window.player.seek(tick)
        for _ in range(4):
            app.frame(0.05)
print(json.dumps([name for name, count in compiled().items() if count != before.get(name, 0)]))
"""


@compiles
@pytest.mark.slow
def test_nothing_is_compiled_while_a_window_is_open(tmp_path: Path) -> None:
    """After all that it prepares beside itself, on a machine that never saw the program, in every example."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "SDL_VIDEODRIVER": "dummy"}
    done = subprocess.run(
        [sys.executable, "-c", EVERY_EXAMPLE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("watched", [False, True])
def test_every_agent_can_take_the_short_walk(watched: bool) -> None:
    for spec in SPECS:
        walk(AgentConfig(spec.key), watched=watched)


@compiles
def test_the_short_walk_together_takes_every_kernel_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves out would be compiled while somebody waits for the first tick of a crowd."""
    called: set[object] = set()

    def noted(serve: Any, kernel_of: Any) -> Any:
        return lambda self, *given: (called.add(kernel_of(self)), serve(self, *given))[1]

    monkeypatch.setattr(AgentBatch, "serve", noted(AgentBatch.serve, lambda it: it.kernel))
    monkeypatch.setattr(AgentBatch, "tell", noted(AgentBatch.tell, lambda it: it._change))
    walk_together()
    missed = [name for name, it in vars(crew).items() if name.startswith(("run_", "change_")) and it not in called]
    assert not missed
    for kernel in (crew.read_sums, crew.read_positions):
        assert kernel.overloads


ANOTHER_NUMBA = """
import numba
numba.__version__ = "0.99.1"
import llvmlite.binding.newpassmanagers
del llvmlite.binding.newpassmanagers.create_new_module_pass_manager
"""
SMALL_RUN = """
from agents.registry import BY_KEY
from sim.commands import AgentConfig
from sim.grid import Grid
from sim.kernels import jit, known
from sim.world import World
world = World(Grid.from_rows(["....", ".@@.", ".@..", "...."]), 0, 15, BY_KEY, budget=2)
world.add(AgentConfig("lrta"))
world.advance(30)
print(known.IS_KNOWN, hasattr(jit, "Kernel"), world.digest())
"""


@compiles
@pytest.mark.slow
def test_another_numba_compiles_by_itself_and_comes_to_the_same(tmp_path: Path) -> None:
    """Parts of numba that only our compiler uses are gone in it, as they may be in any later version."""
    with_ours, without = (
        run_python(begin + SMALL_RUN, NUMBA_CACHE_DIR=folder).split()
        for begin, folder in (("", os.environ.get("NUMBA_CACHE_DIR", "")), (ANOTHER_NUMBA, str(tmp_path)))
    )
    assert with_ours[:2] == ["True", "True"] and without[:2] == ["False", "False"]
    assert without[2] == with_ours[2]


def test_another_numba_is_noticed_before_its_inside_is_imported() -> None:
    told = run_python(ANOTHER_NUMBA + SMALL_RUN, NUMBA_DISABLE_JIT="1")
    assert told.split()[:2] == ["False", "False"]
