"""Everything that a user did, in order, and the one way to take it back: whatever was done is a Done.

    with history.doing("agents swapped"): ...       what is done inside is one thing
    history.begin("stroke"), .end(), .cancel()      the same over many frames
    history.set("range begins", put, before, after) a value of the window that belongs to the work
    history.undo(), .redo(), .go_to(place)

What was done to a run is kept as the difference of two states of that run, as plain values: logs of commands, names and
parents of branches, groups, the order of the panels. Taking it back puts the logs as they were, so the run is computed
anew without it: nothing is left of it, on the map or in the script. A run that was left by beginning again is kept
whole. No pygame here.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from sim import commands
from sim.commands import Command, together
from sim.time.branches import BranchState
from sim.time.log import Entry
from ui.model.keys import PanelKey
from ui.model.present import as_set
from ui.model.run import Run, RunState
from ui.model.wording import RunNames

TURN_TICKS = 30
"""Most ticks between two turns of one knob that are one thing done."""

T = TypeVar("T")


class Change(Protocol):
    """What it takes to undo something, and to do it again."""

    def turn(self, forwards: bool) -> None: ...


@dataclass(frozen=True)
class Done:
    """One thing that was done: what, where, and how to take it back."""

    words: str
    change: Change
    tick: int
    branch: str = ""  # the name of the branch it was done in, where there were several

    def __str__(self) -> str:
        where = f", {self.branch}" if self.branch else ""
        return f"{self.words} (tick {self.tick:,}{where})"


class Holder(Protocol):
    """Who has a run, and looks at one of its panels."""

    @property
    def run(self) -> Run: ...

    @property
    def focused_key(self) -> PanelKey: ...

    def focus(self, key: PanelKey) -> None: ...

    def changed(self) -> None:
        """Something happened to the run."""


@dataclass(eq=False)
class _Doing:
    """Something that is being done: how it was before, and the commands so far."""

    before: RunState
    focused: PanelKey
    tick: int
    words: str
    is_stroke: bool  # whether its commands are one stroke
    knob: object = None  # what is turned by it
    was_set: Command | None = None  # the command that would turn that knob back
    stroke: int = 0
    told: list[Command] = field(default_factory=list)
    settings: list["Setting[Any]"] = field(default_factory=list)  # values of the window that go with it
    noted: Done | None = None


class History:
    """What was done, and what of it was taken back and can be done again."""

    def __init__(self, holder: Holder) -> None:
        self.done: list[Done] = []
        self.undone: list[Done] = []  # the next to be done again is the last
        self.deeds = 0  # begun, taken back or done again so far
        self._holder = holder
        self._doing: _Doing | None = None
        self._turned: _Doing | None = None  # the last thing done, if it was the turn of a knob

    # --- doing ------------------------------------------------------------------------------------

    @contextmanager
    def doing(self, words: str = "", *, is_stroke: bool = False) -> Iterator[None]:
        """What is done inside is one thing; part of the one around it, where there is one."""
        if self._doing is not None:
            yield
            return
        self.begin(words, is_stroke=is_stroke)
        try:
            yield
        finally:
            self.end()

    def begin(self, words: str = "", *, is_stroke: bool = False, knob: object = None) -> None:
        """Something begins, until `end`. Without words it is called after its commands."""
        self.end()
        self.deeds += 1
        run, focused = self._holder.run, self._holder.focused_key
        self._doing = _Doing(run.state(), focused, run.tick, words, is_stroke, knob)

    def submit(self, command: Command) -> None:
        """Submit a command to the branch in front, as part of the open entry or as an entry of its own. A setting that
        is set already is not recorded: it would be an edit without effect, and in the past cost what was done later.
        """
        was_set = self._as_set(command)
        if was_set == command:
            return
        if self._doing is None:
            knob = _knob(self._holder.run.front, command)
            if knob is None or not self._turn_on(knob):
                self.begin(is_stroke=knob is not None, knob=knob)
                self._begun().was_set = was_set
            self._give(command)
            self._end_turn(command)
        else:
            self._give(command)

    def _give(self, command: Command) -> None:
        doing = self._begun()
        stroke = self._holder.run.do(command, doing.stroke)
        doing.stroke = stroke if doing.is_stroke else 0
        doing.told.append(command)

    def _as_set(self, command: Command) -> Command | None:
        """Return the command that sets what is set in the branch in front and in all that are linked with it; None
        where they differ or show other ticks.
        """
        run = self._holder.run
        timelines = [run.tree[number].timeline for number in run.tree.mates(run.front)]
        for timeline in timelines:
            timeline.settle()
        found = [as_set(timeline.world, command) for timeline in timelines if timeline.tick == run.tick]
        return found[0] if found and len(found) == len(timelines) and found.count(found[0]) == len(found) else None

    def _begun(self) -> _Doing:
        assert self._doing is not None
        return self._doing

    def _end_turn(self, command: Command) -> None:
        """End the entry of a knob; where it was turned back within one tick, nothing was done at all."""
        doing = self._begun()
        if doing.knob is not None and command == doing.was_set and self._holder.run.tick == doing.tick:
            self._turned = None
            self.cancel()
        else:
            self.end()

    def _turn_on(self, knob: object) -> bool:
        """Whether this knob was the last thing that was turned: then turning it further is one thing with that."""
        turned = self._turned
        is_last = turned is not None and bool(self.done) and self.done[-1] is turned.noted and not self.undone
        if not is_last or turned is None or turned.knob != knob or self._holder.run.tick - turned.tick > TURN_TICKS:
            return False
        self.done.pop()
        self.deeds += 1
        self._doing = turned
        return True

    def end(self) -> None:
        """What was being done is done; nothing is noted where nothing came of it."""
        doing, self._doing = self._doing, None
        if doing is None:
            return
        self._turned = None
        change = self._change_since(doing)
        if not change.change.is_none:
            told = doing.told if doing.knob is None else doing.told[-1:]
            whole = Together((change, *doing.settings)) if doing.settings else change
            doing.noted = Done(doing.words or self._words_of(told), whole, doing.tick, self._branch_name())
            self.note(doing.noted)
            self._turned = doing if doing.knob is not None else None

    def cancel(self) -> None:
        """What was being done is taken back, and was never done."""
        doing, self._doing = self._doing, None
        if doing is not None:
            Together((self._change_since(doing), *doing.settings)).turn(forwards=False)
            self._show()

    def _change_since(self, doing: _Doing) -> "InRun":
        holder = self._holder
        change = RunChange.between(doing.before, holder.run.state())
        return InRun(holder, change, doing.focused, holder.focused_key)

    def _words_of(self, told: Sequence[Command]) -> str:
        names = RunNames(self._holder.run.timeline)
        return ", ".join(command.say(names) for command in together(told))

    def _branch_name(self) -> str:
        tree = self._holder.run.tree
        return tree[self._holder.run.front].name if len(tree.branches) > 1 else ""

    def set(self, words: str, put: Callable[[T], None], before: T, after: T) -> None:
        """Set a value, which can be taken back: with what is being done, or by itself."""
        put(after)
        if self._doing is not None:
            self._doing.settings.append(Setting(put, before, after))
        elif before != after:
            self.note(Done(words, Setting(put, before, after), self._holder.run.tick))

    def note(self, done: Done) -> None:
        self.done.append(done)
        self.undone.clear()

    # --- and taking it back -----------------------------------------------------------------------

    def undo(self) -> Done | None:
        """Take back the last thing; None when there is none."""
        self.end()
        done = self._turn(self.done, self.undone, forwards=False)
        self._show()
        return done

    def redo(self) -> Done | None:
        self.end()
        done = self._turn(self.undone, self.done, forwards=True)
        self._show()
        return done

    def _show(self) -> None:
        """The run is on its way through what is left of the log; as far as it gets at once, it is shown."""
        self._holder.run.continue_seek()
        self._holder.changed()

    def _turn(self, source: list[Done], target: list[Done], forwards: bool) -> Done | None:
        if not source:
            return None
        self.deeds += 1
        source[-1].change.turn(forwards)
        target.append(source.pop())
        return target[-1]

    def go_to(self, place: int) -> None:
        """Back, or on again, to where so many things are done."""
        self.end()
        while len(self.done) > place and self._turn(self.done, self.undone, forwards=False):
            pass
        while len(self.done) < place and self._turn(self.undone, self.done, forwards=True):
            pass
        self._show()


def _knob(branch: int, command: Command) -> object:
    """What a command turns, as a wheel does: turns that follow each other are one thing done. None: no knob."""
    match command:
        case commands.SetParam(agent, name, value) if not isinstance(value, bool | str):
            return branch, agent, name
        case commands.SetBudget(_, agent):
            return branch, agent, "budget"
        case commands.ToGroup(group, told):
            knob = _knob(branch, told)
            return None if knob is None else (group, knob)
        case commands.SetTrials() | commands.SetChanges() | commands.SetTickMs():
            return branch, type(command)
    return None


@dataclass(frozen=True)
class Setting(Generic[T]):
    """A value that was set."""

    put: Callable[[T], None]
    before: T
    after: T

    def turn(self, forwards: bool) -> None:
        self.put(self.after if forwards else self.before)


@dataclass(frozen=True)
class Together:
    """Several changes that are one thing done."""

    changes: tuple[Change, ...]

    def turn(self, forwards: bool) -> None:
        for change in self.changes if forwards else reversed(self.changes):
            change.turn(forwards)


# --- what was done to a run -----------------------------------------------------------------------


@dataclass(frozen=True)
class BranchChange:
    """A branch before and after, without their logs, None where it was not there; and where the logs differ."""

    before: BranchState | None
    after: BranchState | None
    place: int
    taken: tuple[Entry, ...]
    put: tuple[Entry, ...]

    @classmethod
    def between(cls, before: BranchState | None, after: BranchState | None) -> "BranchChange":
        old, new = before.entries if before else (), after.entries if after else ()
        return cls(_without_log(before), _without_log(after), *_difference(old, new))

    @property
    def is_none(self) -> bool:
        before, after = self.before, self.after
        if before is None or after is None:
            return before is after
        is_same = (before.name, before.parent, before.at) == (after.name, after.parent, after.at)
        return is_same and not self.taken and not self.put

    @property
    def number(self) -> int:
        state = self.before or self.after
        assert state is not None
        return state.number

    def wanted(self, forwards: bool) -> BranchState | None:
        return self.after if forwards else self.before

    def log(self, now: Sequence[Entry], forwards: bool) -> tuple[Entry, ...]:
        """The log as it is to be, from the one that is there now. What a clock has noted since stays, but for ticks
        that the other run went through, too: those of this one go with it.
        """
        old, new = (self.taken, self.put) if forwards else (self.put, self.taken)
        gone, noted = {entry.id for entry in old}, {entry.tick for entry in new if _is_of_clock(entry)}
        done, going = ([entry for entry in part if not _is_of_clock(entry)] for part in (now, old))
        is_known = done[self.place : self.place + len(going)] == going
        assert is_known, "a log was changed by somebody who did not say so"
        at = now.index(done[self.place - 1]) + 1 if self.place else 0
        kept = [
            [entry for entry in part if entry.id not in gone and not (_is_of_clock(entry) and entry.tick in noted)]
            for part in (now[:at], now[at:])
        ]
        return tuple(sorted((*kept[0], *new, *kept[1]), key=attrgetter("tick")))

    def after_turn(self, now: Sequence[Entry], made: Sequence[Entry], forwards: bool) -> "BranchChange":
        """The same, to be turned the other way: with what went because a clock had noted it since."""
        before, after = (now, made) if forwards else (made, now)
        place, taken, put = _difference(before, after)
        return replace(self, place=place, taken=taken, put=put)


def _is_of_clock(entry: Entry) -> bool:
    """Whether nobody did it: a clock said how many had their turn."""
    return isinstance(entry.command, commands.Serve) and not entry.is_scripted


def _difference(old: Sequence[Entry], new: Sequence[Entry]) -> tuple[int, tuple[Entry, ...], tuple[Entry, ...]]:
    """Where two logs differ, and what of each stands there. The place is counted without what a clock noted: between
    the others, more of that comes by itself.
    """
    head = _alike(old, new)
    tail = _alike(old[: head - 1 if head else None : -1], new[: head - 1 if head else None : -1])
    place = sum(not _is_of_clock(entry) for entry in old[:head])
    return place, tuple(old[head : len(old) - tail]), tuple(new[head : len(new) - tail])


def _alike(one: Sequence[Entry], other: Sequence[Entry]) -> int:
    """How many entries are the same from the beginning."""
    least = min(len(one), len(other))
    if one[:least] == other[:least]:
        return least  # as mostly, and found much sooner
    return next((i for i in range(least) if one[i] is not other[i] and one[i] != other[i]), least)


def _without_log(state: BranchState | None) -> BranchState | None:
    return None if state is None else replace(state, entries=())


@dataclass(frozen=True)
class RunChange:
    """The difference of two states of one run."""

    before: RunState  # both without their branches, which are listed apart where they differ
    after: RunState
    branches: tuple[BranchChange, ...]

    @classmethod
    def between(cls, before: RunState, after: RunState) -> "RunChange":
        old, new = ({state.number: state for state in run.branches} for run in (before, after))
        found = [BranchChange.between(old.get(number), new.get(number)) for number in sorted({*old, *new})]
        differing = tuple(change for change in found if not change.is_none)
        return cls(replace(before, branches=()), replace(after, branches=()), differing)

    @property
    def is_none(self) -> bool:
        """Whether nothing was done. What is on screen is only looked at; panels may have come or gone by themselves."""
        return not self.branches and self.before.groups == self.after.groups and not self._is_reordered

    @property
    def _is_reordered(self) -> bool:
        both = set(self.before.order) & set(self.after.order)
        one, other = ([key for key in state.order if key in both] for state in (self.before, self.after))
        return one != other

    def apply(self, run: Run, forwards: bool) -> "RunChange":
        """Bring a run from one of the two states to the other, its ticks as they are. Returns what turns it back."""
        leaving, wanted = (self.before, self.after) if forwards else (self.after, self.before)
        was_shown = tuple(run.shown)
        turned = []
        for change in self.branches:
            state, there = change.wanted(forwards), run.tree.branches.get(change.number)
            now = there.timeline.entries() if there else ()
            made = change.log(now, forwards) if state is not None else ()
            if state is not None:
                run.tree.put(replace(state, entries=made, tick=run.tick))
            turned.append(change.after_turn(now, made, forwards))
        gone = {change.number for change in self.branches if change.wanted(forwards) is None}
        kept = [n for n in (wanted.shown if was_shown == leaving.shown else was_shown) if n not in gone]
        back = [n for n in wanted.shown if n not in leaving.shown and n not in kept]
        shown = [*kept, *back] or wanted.shown
        if tuple(shown) != tuple(run.shown):
            run.show(shown)
        for number in gone:
            run.delete(number)
        run.tree.relink(wanted.groups)
        run.arrange(wanted.order)
        return replace(self, branches=tuple(turned))


@dataclass
class InRun:
    """What was done to the open run, and where the user was before and after."""

    holder: Holder
    change: RunChange
    focus_before: PanelKey
    focus_after: PanelKey

    def turn(self, forwards: bool) -> None:
        run = self.holder.run
        self.change = self.change.apply(run, forwards)
        focused = self.focus_after if forwards else self.focus_before
        if focused.branch in run.tree.branches and focused.branch not in run.shown:
            run.show([*run.shown, focused.branch])
        self.holder.focus(focused)
