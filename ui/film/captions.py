"""What happened in a run, in words, for captions. No pygame here.

Everything is read off the commands of the branches and the marks of their timelines, so it is the same in every
replay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sim import commands
from sim.commands import Command
from sim.time.branches import Branch
from sim.time.recorded import MarkKind
from sim.time.timeline import Timeline

_MOST_NAMES = 3  # more agents than that are counted, not named


@dataclass(frozen=True)
class Happening:
    """Something worth a caption, at the tick at which it is first seen."""

    tick: int
    text: str

    def __str__(self) -> str:
        return f"tick {self.tick:,}: {self.text}"


def happenings_of(branches: Sequence[Branch], after: int, until: int) -> list[Happening]:
    """Edits and restarts in the ticks after `after` up to `until`, sorted by tick, edits first.

    What happens in one of several branches only is told with its name.
    """
    found: dict[tuple[int, str], list[str]] = {}
    for branch in branches:
        for tick, text in _told(branch.timeline, after, until):
            found.setdefault((tick, text), []).append(branch.name)
    told = [
        Happening(tick, text if len(names) == len(branches) else f"{', '.join(names)}: {text}")
        for (tick, text), names in found.items()
    ]
    return sorted(told, key=lambda happening: happening.tick)


def _told(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    yield from _edits(timeline, after, until)
    yield from _restarts(timeline, after, until)


# --- commands -------------------------------------------------------------------------------------


def _edits(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    by_tick: dict[int, list[Command]] = {}
    for entry in timeline.entries():
        if entry.is_enabled and after < entry.tick <= until:
            by_tick.setdefault(entry.tick, []).append(entry.command)
    for tick, together in by_tick.items():
        for text in _texts(timeline, together):
            yield tick, text


def _texts(timeline: Timeline, together: Sequence[Command]) -> list[str]:
    """The commands of one tick in words; the many pieces of a stroke count as one."""
    blocked = {cell for c in together if isinstance(c, commands.EditCells) for cell in c.blocked}
    freed = {cell for c in together if isinstance(c, commands.EditCells) for cell in c.freed}
    put = {cell for c in together if isinstance(c, commands.SetTerrain) for cell in c.cells}
    counts = ((blocked, "blocked"), (freed, "freed"), (put, "changed"))
    texts = [f"{_cells(len(cells))} {word}" for cells, word in counts if cells]
    cell_edits = (commands.EditCells, commands.SetTerrain)
    return texts + [_text(timeline, command) for command in together if not isinstance(command, cell_edits)]


def _text(timeline: Timeline, command: Command) -> str:
    match command:
        case commands.SetSwitch(name, is_blocked):
            return f"{name} {'blocked' if is_blocked else 'open'}"
        case commands.MoveGoal(cell):
            x, y = timeline.world.grid.xy(cell)
            return f"goal moved to ({x}, {y})"
        case commands.SetBudget(budget, None):
            return f"budget {budget:,} a tick"
        case commands.SetBudget(budget, agent):
            return f"{_label(timeline, agent)}: {f'budget {budget:,} a tick' if budget else 'budget as all'}"
        case commands.SetParam(agent, name, value):
            shown = ("on" if value else "off") if isinstance(value, bool) else f"{value}"
            return f"{_label(timeline, agent)}: {name.replace('_', ' ')} {shown}"
        case commands.AddAgent(config):
            return f"{config.label or timeline.world.specs[config.kind].name} joins"
        case commands.RemoveAgent(agent):
            return f"{_label(timeline, agent)} leaves"
        case commands.SetChanges(every, rate):
            return f"random changes: {rate:g} % every {every} ticks" if rate > 0 else "random changes end"
        case commands.SetTrials(count):
            return f"{count:,} trials" if count > 1 else "one trial"
        case _:
            return type(command).__name__


def _label(timeline: Timeline, agent: int) -> str:
    record = timeline.records.get(agent)
    return record.label if record else f"agent {agent}"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


# --- agents ---------------------------------------------------------------------------------------


def _restarts(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Who began a new search, tick by tick."""
    by_tick: dict[int, list[str]] = {}
    for tick, agent, _ in timeline.marks(after + 1, until, (MarkKind.RESTART,)).tolist():
        by_tick.setdefault(tick, []).append(_label(timeline, agent))
    for tick, labels in by_tick.items():
        who = ", ".join(labels) if len(labels) <= _MOST_NAMES else f"{len(labels)} agents"
        yield tick, f"{who} {'restarts' if len(labels) == 1 else 'restart'}"
