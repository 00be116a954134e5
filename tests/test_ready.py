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

from agents.registry import AGENT_SPECS
from agents.warm_up import build_tiny_world, warm_up_agent, warm_up_batches
from sim.agent_api import Status
from sim.batching.agent_batch import AgentBatch
from sim.jit import cache, ready, sources
from sim.jit import decorators as jit
from sim.jit.decorators import JIT_ON
from sim.jit.numba_version import IS_NUMBA_SUPPORTED
from sim.jit.ready import KernelSet, compile_missing_kernel_sets, is_kernel_set_compiled
from sim.kernels import batch
from sim.world_commands import AgentConfig

from .conftest import ROOT, run_python

compiles = pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ready, "CACHE_FOLDER", tmp_path)
    return tmp_path


def make_parts(done: list[str], *keys: str) -> list[KernelSet]:
    return [KernelSet(key, key.upper(), lambda key=key: done.append(key)) for key in keys]  # type: ignore[misc]


def test_each_part_is_compiled_once(cache_folder: Path) -> None:
    done: list[str] = []
    told: list[tuple[str, int, int]] = []
    compile_missing_kernel_sets(make_parts(done, "a", "b"), lambda part, i, n: told.append((part.title, i, n)))
    compile_missing_kernel_sets(make_parts(done, "b", "c"))
    assert done == ["a", "b", "c"] and told == [("A", 0, 2), ("B", 1, 2)]
    assert is_kernel_set_compiled("a") and not is_kernel_set_compiled("d")


@compiles
def test_loader_preloads_compiled_kernels() -> None:
    """In a program of its own: after the loader nothing is left to be read, nor compiled."""
    walked = "from agents.warm_up import AgentConfig, warm_up_agent; warm_up_agent(AgentConfig('tba'), watched=True)"
    told = run_python(
        "import agents.registry; from sim.jit.loading import KernelLoader; from sim.jit.decorators import KERNELS\n"
        "loader = KernelLoader('sim.kernels.tba')\n"
        "first = loader.load_next_overload() and [k.__module__ for k in KERNELS if k.overloads]\n"
        "while loader.load_next_overload(): pass\n"
        "def count(): return sum(len(k.overloads) for k in KERNELS)\n"
        f"before = count(); {walked}; print(first, before > 10, count() - before)"
    )
    assert told.split() == ["['sim.kernels.tba']", "True", "0"]


READS_A_KERNEL = """
import sys
{first}
import agents.astar
from sim.grid import Grid
Grid.from_text_rows(["..", ".."])
print("numba.np.arraymath" in sys.modules)
"""


@compiles
def test_loading_cached_kernels_skips_compiler_tables() -> None:
    """They take longer than all that a small command does."""
    assert run_python(READS_A_KERNEL.format(first="")).split()[-1] == "False"


@compiles
def test_kernel_cache_works_if_numba_was_imported_before(tmp_path: Path) -> None:
    """A worker of a cluster, a notebook: numba has read its settings then, without our folder among them."""
    folders = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path)}
    assert run_python(READS_A_KERNEL.format(first="import numba"), **folders).split()[-1] == "True"
    assert list(tmp_path.rglob("sim.kernels.terrain-*/*.nbc"))


def test_failed_part_is_not_ready(cache_folder: Path) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_missing_kernel_sets([KernelSet("a", "A", fail)])
    assert not is_kernel_set_compiled("a")
    done: list[str] = []
    compile_missing_kernel_sets(make_parts(done, "a"))
    assert done == ["a"] and is_kernel_set_compiled("a")


def test_part_locked_by_another_process_is_compiled_last(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one dies in the middle of `a`, so it is compiled here after all."""
    done: list[str] = []
    asked: list[bool] = []

    def lock(note: int, *, waits: bool = False) -> bool:
        asked.append(waits)
        return waits or len(asked) > 1

    monkeypatch.setattr(ready, "lock_descriptor", lock)
    compile_missing_kernel_sets(make_parts(done, "a", "b"))
    assert done == ["b", "a"] and asked == [False, False, True]


def test_all_parts_are_compiled_without_writable_cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "CACHE_FOLDER", cache_folder / "no such folder")
    done: list[str] = []
    compile_missing_kernel_sets(make_parts(done, "a", "b"))
    assert done == ["a", "b"] and not is_kernel_set_compiled("a")


# --- the files --------------------------------------------------------------------------------------------

TINY = """
import sys
sys.path.insert(0, {folder!r})
import sim.jit
import tiny
print(tiny.double(21), sum(tiny.double.stats.cache_hits.values()), sim.jit.CACHE_FOLDER)
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A module with one small kernel, and a cache of its own."""
    (tmp_path / "tiny.py").write_text(
        "from sim.jit.decorators import kernel\n@kernel\ndef double(x):\n    return 2 * x\n"
    )
    return tmp_path


def start(tiny: Path, **environment: str) -> tuple[int, Path]:
    """Run the small kernel in a process of its own: how often it came from the cache, and where that is."""
    named = {"NUMBA_CACHE_DIR": str(tiny / "cache"), **environment}
    answer, hits, folder = run_python(TINY.format(folder=str(tiny)), **named).split()
    assert answer == "42"
    return int(hits), Path(folder)


@pytest.fixture
def load_tiny_module(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
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
def test_empty_cache_is_filled_and_reused(tiny: Path) -> None:
    hits, folder = start(tiny)
    assert hits == 0 and folder.parent == tiny / "cache" and folder.stat().st_mode & 0o077 == 0
    assert start(tiny) == (1, folder)


@compiles
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["empty", "torn", "zeros", "changed"])
def test_damaged_cache_file_is_recompiled(
    tiny: Path, load_tiny_module: Callable[[], Any], suffix: str, damage: str
) -> None:
    assert hits(load_tiny_module()) == 0
    (file,) = tiny.rglob(f"*{suffix}")
    data = file.read_bytes()
    middle = len(data) // 2
    changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    file.write_bytes({"empty": b"", "torn": data[:middle], "zeros": bytes(len(data)), "changed": changed}[damage])
    assert hits(load_tiny_module()) == 0
    assert hits(load_tiny_module()) == 1


@compiles
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be written here")
def test_read_only_cache_falls_back_to_another_folder(tiny: Path, home: Path) -> None:
    (tiny / "cache").mkdir(mode=0o500)
    assert start(tiny)[1].is_relative_to(home)


@compiles
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folders of users apart by itself")
def test_world_writable_cache_is_not_used(tiny: Path, home: Path) -> None:
    _, folder = start(tiny)
    folder.chmod(0o777)
    hits, other = start(tiny)
    assert hits == 0 and other.is_relative_to(home)
    folder.chmod(0o700)
    assert start(tiny) == (1, folder)


@compiles
def test_full_disk_is_ignored_when_saving_kernels(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    saved = types.SimpleNamespace(save_overload=refuse)
    monkeypatch.setattr(cache.FunctionCache, "save_overload", saved.save_overload)
    cache.ChecksummedCache.save_overload(object.__new__(cache.ChecksummedCache), None, None)


@compiles
@pytest.mark.skipif(not IS_NUMBA_SUPPORTED, reason="another version of numba, of which every kernel is compiled")
def test_called_kernel_is_compiled_into_its_caller_and_callable_itself(
    tiny: Path, load_tiny_module: Callable[[], Any]
) -> None:
    """And only what Python calls lies in the cache."""
    with open(tiny / "tiny.py", "a", encoding="utf-8") as file:
        file.write("@kernel\ndef quadruple(x):\n    return double(double(x))\n")

    def called(calls_double: bool) -> tuple[int, int]:
        """How many versions there are of the one that is called, and of the other inside of it."""
        module = load_tiny_module()
        assert module.quadruple(21) == 84 and (not calls_double or module.double(4) == 8)
        return len(module.quadruple.overloads), len(module.double.linkable_form().overloads)

    assert called(calls_double=True) == (1, 1)
    assert called(calls_double=True) == (1, 0)
    assert len(list(tiny.rglob("*.nbc"))) == 2
    (index,) = tiny.rglob("tiny.double*.nbi")
    index.unlink()
    assert called(calls_double=False) == (1, 0)
    assert not list(tiny.rglob("tiny.double*.nbi"))


@compiles
def test_edited_source_is_recompiled_once(tiny: Path, load_tiny_module: Callable[[], Any]) -> None:
    hits(load_tiny_module())
    source = tiny / "tiny.py"
    source.write_text(source.read_text() + "# a comment\n")
    assert hits(load_tiny_module()) == 0
    assert hits(load_tiny_module()) == 1


@pytest.fixture
def three_kernel_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three files of kernels, of which a imports b in one of four ways, and b imports c."""
    folder = tmp_path / "sim" / "kernels"
    folder.mkdir(parents=True)
    (folder / "c.py").write_text("LIMIT = 1\n")
    (folder / "b.py").write_text("from sim.kernels import (\n    a,\n    c,\n)\n")
    (folder / "other.py").write_text("import numpy as np\n")
    monkeypatch.setattr(sources, "PROGRAM_FOLDER", tmp_path)
    yield folder
    forget_stamps()


def forget_stamps() -> None:
    sources.source_stamp.cache_clear()
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
def test_source_stamp_covers_all_imported_files(three_kernel_files: Path, line: str) -> None:
    (three_kernel_files / "a.py").write_text(f"{line}\n")
    stamps = []
    for name in ("a.py", "b.py", "c.py", "other.py"):
        forget_stamps()
        stamps.append(sources.source_stamp(three_kernel_files / "a.py"))
        (three_kernel_files / name).write_text((three_kernel_files / name).read_text() + "# edited\n")
    forget_stamps()
    assert len({*stamps, sources.source_stamp(three_kernel_files / "a.py")}) == 4, (
        "only what it never comes by changes nothing"
    )


def test_imported_files_match_syntax_tree() -> None:
    """The stamps read imports from the text; the syntax tree must say the same."""
    for room in sources._KERNEL_PACKAGES:
        for path in sources._folder_of_package(room).glob("*.py"):
            names = set()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                elif isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
            assert set(sources._imported_files(path)) == {
                file for name in names if (file := sources._file_of_module(name))
            }, path


# --- everything is compiled -------------------------------------------------------------------------------

ALL_PARTS = """
from agents.warm_up import all_agent_kernel_sets, world_kernel_set
from sim.jit.ready import compile_missing_kernel_sets
compile_missing_kernel_sets([world_kernel_set(), *all_agent_kernel_sets(watched=False)][:3])
"""


@compiles
@pytest.mark.slow
def test_two_concurrent_starts_share_the_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-W", "error", "-c", ALL_PARTS], cwd=ROOT, env=environment) for _ in "ab"]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    assert len(list(tmp_path.rglob("*.ready"))) == 3
    assert all(cache._strip_checksum(file.read_bytes()) is not None for file in tmp_path.rglob("*.nb[ci]"))


EVERY_EXAMPLE = """
import json
from sim.jit.decorators import KERNELS
from sim.jit.ready import compile_missing_kernel_sets
from ui.warmup import all_kernel_sets
compile_missing_kernel_sets(all_kernel_sets())
def compiled():
    return {f"{k.__module__}.{k.__name__}": sum(k.stats.cache_misses.values()) for k in KERNELS}
before = compiled()
from tests.window import make_app
from ui.model import opened_files
for path in opened_files.example_files():
    app = make_app(opened_files.open_any_file(path).scenario)
    app.window.run_command("generate")
    app.window.run_command("cancel")
    for tick in (1, 2, 40, 3, 60):
        app.window.player.pause_and_seek(tick)
        for _ in range(4):
            app.run_frame(0.05)
print(json.dumps([name for name, count in compiled().items() if count != before.get(name, 0)]))
"""


@compiles
@pytest.mark.slow
def test_open_window_compiles_nothing_after_preparation(tmp_path: Path) -> None:
    """After all that it prepares beside itself, on a machine that never saw the program, in every example."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "SDL_VIDEODRIVER": "dummy"}
    done = subprocess.run(
        [sys.executable, "-c", EVERY_EXAMPLE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("watched", [False, True])
def test_every_agent_kind_completes_the_warm_up_walk(watched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What belongs to the end of a walk would else be compiled while somebody waits for it."""
    for spec in AGENT_SPECS:
        world = build_tiny_world(watched=watched)
        monkeypatch.setattr("agents.warm_up.build_tiny_world", lambda world=world, **_: world)
        warm_up_agent(AgentConfig(spec.key), watched=watched)
        (walker,) = world.walkers
        assert walker.is_done and walker.agent.status is Status.AT_GOAL, spec.key


@compiles
def test_batch_warm_up_calls_every_batch_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves out would be compiled while somebody waits for the first tick of a crowd."""
    called: set[object] = set()

    def recording(serve: Any, kernel_of: Any) -> Any:
        return lambda self, *given: (called.add(kernel_of(self)), serve(self, *given))[1]

    monkeypatch.setattr(
        AgentBatch, "run_agents_in_slots", recording(AgentBatch.run_agents_in_slots, lambda it: it.batch_kernel)
    )
    monkeypatch.setattr(
        AgentBatch, "notify_map_change", recording(AgentBatch.notify_map_change, lambda it: it._map_change_kernel)
    )
    warm_up_batches()
    missed = [name for name, it in vars(batch).items() if name.startswith(("run_", "change_")) and it not in called]
    assert not missed
    for kernel in (batch.collect_agent_digests, batch.collect_agent_positions):
        assert kernel.overloads
