"""Branches: the futures of one run, side by side. Each is a timeline of its own; what they have in common is shared.

    tree = BranchTree(setup)                the first branch is number 0
    tree.branches                           by number, in the order in which they were made
    tree[number].timeline                   Branch: number, name, parent, at, timeline
    tree.branch(number, tick, name)         another future from a tick on (the present one by default)
    tree.split_policy(number, agent, [{"restart": "lazy"}, {"restart": "eager"}])
    tree.do(number, command, stroke)        to a branch and to all that are linked with it
    tree.link(numbers), .unlink(number)     later commands go to all of them
    tree.rename(number, name), .delete(number)
    tree.states(), BranchTree.restored()    everything about them as plain values, for files
    tree.put(state)                         a branch as it was: made again if it is gone; for undo

Work done at a past tick never overwrites a future that no other branch has: it is kept as a branch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from sim.commands import BUDGET, AddAgent, Command, SetBudget, SetParam, ToGroup, with_end
from sim.params import ConfigError, Value
from sim.time.keyframes import KeyframeStore
from sim.time.log import Entry, first_tick_apart
from sim.time.timeline import Timeline
from sim.walker import Walker
from sim.world import World

ROOT = 0

MAX_BRANCHES = 1000
"""Of one run: what a file has more of is no run that somebody made."""

MAX_BRANCH_NAME = 120
"""Characters; a longer name is cut."""

_KEPT = ", before the change at "


@dataclass(eq=False)
class Branch:
    number: int
    name: str
    parent: int | None
    made_at: int  # tick from which it was to go its own way
    timeline: Timeline
    tree: "BranchTree"

    @property
    def at(self) -> int:
        """The tick from which it goes its own way: earlier than `made_at` where the past of one of both was changed."""
        origin = None if self.parent is None else self.tree.branches.get(self.parent)
        if origin is None:
            return self.made_at
        before = [[e for e in line.entries() if e.tick < self.made_at] for line in (self.timeline, origin.timeline)]
        return min(self.made_at, first_tick_apart(*before))


@dataclass(frozen=True)
class BranchState:
    """A branch as plain values: what it takes to make it again."""

    number: int
    name: str
    parent: int | None
    at: int  # `made_at` of the branch
    tick: int  # the one that was shown
    horizon: int  # how far it was run
    entries: tuple[Entry, ...]


class Watcher:
    """Somebody who wants to know what happens to a tree, such as a journal."""

    def entries_changed(self, branch: Branch, altered: Sequence[Entry], gone: Sequence[int]) -> None: ...

    def branch_made(self, branch: Branch) -> None: ...

    def branch_renamed(self, branch: Branch) -> None: ...

    def branch_deleted(self, branch: Branch) -> None: ...

    def branch_put(self, branch: Branch) -> None: ...

    def links_changed(self, groups: Sequence[Sequence[int]]) -> None: ...


class BranchTree:
    def __init__(self, setup: Callable[[], World], budget: int | None = None) -> None:
        self.setup = setup
        self.store = KeyframeStore(budget)
        self.branches: dict[int, Branch] = {}
        self.watcher: Watcher | None = None
        self._groups: list[set[int]] = []
        self._next = ROOT
        self._made(self._grow(Timeline(setup, self.store), self._new_number(), "run", None, 0))

    def __getitem__(self, number: int) -> Branch:
        return self.branches[number]

    def _new_number(self) -> int:
        self._next += 1
        return self._next - 1

    def _grow(self, timeline: Timeline, number: int, name: str, parent: int | None, at: int) -> Branch:
        branch = Branch(number, name[:MAX_BRANCH_NAME], parent, at, timeline, self)
        self.branches[branch.number] = branch
        timeline.on_lost_future = lambda lost: self._keep_future(branch, lost)
        timeline.on_entries = lambda _, altered, gone: self._tell(branch, altered, gone)
        return branch

    def _made(self, branch: Branch) -> Branch:
        if self.watcher:
            self.watcher.branch_made(branch)
        return branch

    def _tell(self, branch: Branch, altered: Sequence[Entry], gone: Sequence[int]) -> None:
        if self.watcher:
            self.watcher.entries_changed(branch, altered, gone)

    # --- making and ending ------------------------------------------------------------------------

    def branch(self, number: int, tick: int | None = None, name: str = "") -> Branch:
        """Another future of a branch. Without commands of its own it stays the same for ever."""
        self._check_room()
        parent = self[number].timeline
        at = parent.target if tick is None else tick
        return self._made(self._grow(parent.fork(at), self._new_number(), name or self._free_name(), number, at))

    def _free_name(self) -> str:
        taken = {branch.name for branch in self.branches.values()}
        return next(name for i in range(1, len(taken) + 2) if (name := f"branch {i}") not in taken)

    def _keep_future(self, branch: Branch, timeline: Timeline) -> None:
        """Called before a command overwrites the future of a timeline."""
        others = [other.timeline.entries() for other in self.branches.values() if other is not branch]
        if timeline.entries() in others:
            return
        self._check_room()
        name = self._name_of_kept(branch, timeline.tick)
        self._made(self._grow(timeline.fork(), self._new_number(), name, branch.number, timeline.tick))

    def _name_of_kept(self, branch: Branch, tick: int) -> str:
        """After the branch that it was, said once: a future may be kept of one that was kept itself."""
        origin, taken = branch.name.partition(_KEPT)[0], {other.name for other in self.branches.values()}
        names = (with_end(origin, f"{_KEPT}{tick}{again}", MAX_BRANCH_NAME) for again in _agains())
        return next(name for name in names if name not in taken)

    def _check_room(self) -> None:
        """Before anything is changed: what has no room in a file would be lost by saving."""
        if len(self.branches) >= MAX_BRANCHES:
            raise ConfigError(f"expected at most {MAX_BRANCHES:,} branches, got one more; delete one first")

    def rename(self, number: int, name: str) -> None:
        self[number].name = name[:MAX_BRANCH_NAME]
        if self.watcher:
            self.watcher.branch_renamed(self[number])

    def delete(self, number: int) -> None:
        """End a branch; those that came from it belong to its parent then. The last one cannot go."""
        if len(self.branches) == 1:
            raise ConfigError("the only branch cannot be deleted")
        gone = self.branches.pop(number)
        for branch in self.branches.values():
            if branch.parent == number:
                branch.parent = gone.parent
        self.unlink(number)
        gone.timeline.close()
        if self.watcher:
            self.watcher.branch_deleted(gone)

    # --- several at once --------------------------------------------------------------------------

    def link(self, numbers: Iterable[int]) -> None:
        """From now on a command to one of these goes to all of them."""
        wanted = set(numbers)
        self._regroup([group - wanted for group in self._groups] + [wanted])

    def unlink(self, number: int) -> None:
        self._regroup([group - {number} for group in self._groups])

    def relink(self, groups: Iterable[Iterable[int]]) -> None:
        """These groups and no others."""
        self._regroup([set(group) & set(self.branches) for group in groups])

    def _regroup(self, groups: list[set[int]]) -> None:
        groups = [group for group in groups if len(group) > 1]
        if groups != self._groups:
            self._groups = groups
            if self.watcher:
                self.watcher.links_changed(self.groups())

    def mates(self, number: int) -> tuple[int, ...]:
        """The branches that get the commands given to this one: itself first."""
        group = next((group for group in self._groups if number in group), {number})
        return number, *sorted(group - {number})

    def do(self, number: int, command: Command, stroke: int = 0) -> list[Entry]:
        """Apply a command now to a branch and its mates. A mate at another tick gets it at this one all the same.

        It is one thing that was done, in all of them: their entries are of one stroke.
        """
        mates = self.mates(number)
        for mate in mates:
            self[mate].timeline.settle()  # "now" is where it is on its way to
        tick = self[number].timeline.tick
        entries: list[Entry] = []
        for mate in mates:
            timeline = self[mate].timeline
            stroke = stroke or (entries[0].stroke if entries else 0)
            is_now = timeline.tick == tick
            entries.append(
                timeline.do(command, stroke=stroke) if is_now else timeline.insert(tick, command, stroke=stroke)
            )
        return entries

    def split_policy(self, number: int, agent: int, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
        """One future for each setting of an agent from now on; later commands go to all of them.

        A variant holds parameters by name, and `budget` for a budget of its own (None: the shared one). The branch
        itself stands for a variant that is what the agent already does.
        """
        timeline = self[number].timeline
        timeline.settle()
        walker = timeline.world.walker(agent)
        if walker is None:
            raise ConfigError(f"agent {agent} is not there")
        now: dict[str, Value | None] = {**walker.params, "budget": walker.budget}
        legal = [_legal_variant(timeline.world, walker, variant) for variant in variants]
        changes = [{name: value for name, value in variant.items() if value != now[name]} for variant in legal]
        futures = [self._future(number, agent, change) if change else self[number] for change in changes]
        self.link(branch.number for branch in futures)
        return futures

    def _future(self, number: int, agent: int, changes: Mapping[str, Value | None]) -> Branch:
        branch = self.branch(number, None, ", ".join(f"{name} {value}" for name, value in changes.items()))
        for name, value in changes.items():
            group = walker.config.group if (walker := branch.timeline.world.walker(agent)) else ""
            branch.timeline.do(_setting(agent, group, name, value), keeps_later=True)
        return branch

    # --- as plain values --------------------------------------------------------------------------

    def states(self) -> list[BranchState]:
        return [self.state(number) for number in self.branches]

    def state(self, number: int) -> BranchState:
        branch = self[number]
        line = branch.timeline
        return BranchState(
            number,
            branch.name,
            branch.parent,
            branch.made_at,
            line.target,
            max(line.horizon, line.target),
            line.entries(),
        )

    def put(self, state: BranchState) -> None:
        """A branch as it was: its name, parent and log. It stays at its tick; one that is gone is made again."""
        branch = self.branches.get(state.number)
        before = branch.timeline.entries() if branch else ()
        is_simple = branch is not None and (branch.parent, branch.made_at) == (state.parent, state.at)
        if branch is None:
            branch = self._grow_again(self._nearest(state).fork(0), state)
            branch.timeline.begin_seek(state.tick)
            self.branches = dict(sorted(self.branches.items()))
        else:
            branch.parent, branch.made_at = state.parent, state.at
            branch.timeline.replace_log(state.entries)
        branch.timeline.horizon = max(branch.timeline.horizon, state.horizon)
        if branch.name != state.name:
            self.rename(state.number, state.name)
        self._tell_put(branch, before, is_simple)

    def _tell_put(self, branch: Branch, before: Sequence[Entry], is_simple: bool) -> None:
        """Tell of what is new and what is gone where that says it all, so that undo need not write the whole log."""
        after = branch.timeline.entries()
        kept = {id(entry) for entry in before} & {id(entry) for entry in after}
        altered = [entry for entry in after if id(entry) not in kept]
        gone = [entry.id for entry in before if id(entry) not in kept]
        told = sorted([*(e for e in before if id(e) in kept), *altered], key=lambda entry: entry.tick)
        if is_simple and tuple(told) == after:
            if altered or gone:
                self._tell(branch, altered, gone)
        elif self.watcher:
            self.watcher.branch_put(branch)

    def _nearest(self, state: BranchState) -> Timeline:
        """That of the branch it comes from, which has most in common with it, or else any."""
        origin = self.branches.get(state.parent) if state.parent is not None else None
        return (origin or next(iter(self.branches.values()))).timeline

    def _grow_again(self, timeline: Timeline, state: BranchState) -> Branch:
        timeline.replace_log(state.entries)
        self._next = max(self._next, state.number + 1)
        return self._grow(timeline, state.number, state.name, state.parent, state.at)

    def groups(self) -> list[list[int]]:
        """The linked branches."""
        return [sorted(group) for group in self._groups]

    @classmethod
    def restored(
        cls, setup: Callable[[], World], states: Sequence[BranchState], budget: int | None = None
    ) -> "BranchTree":
        """The tree that had these states. Each branch is on its way to its tick: see Timeline.continue_seek."""
        tree = cls(setup, budget)
        seed = tree.branches.pop(ROOT).timeline
        script = {entry.id: entry for entry in seed.entries()}
        for state in states:
            own = tuple(_as_in_setup(entry, script) for entry in state.entries)
            timeline = tree._grow_again(seed.fork(0), replace(state, entries=own)).timeline
            timeline.horizon = state.horizon
            timeline.begin_seek(state.tick)
        seed.close()
        return tree


def _agains() -> Iterator[str]:
    """What stands behind a name that is the first of its kind, the second, and so on."""
    return chain([""], (f" ({number})" for number in count(2)))


def _as_in_setup(entry: Entry, script: Mapping[int, Entry]) -> Entry:
    """The setup's own entry where this one is equal, but for the number that the setup gives to a new agent."""
    own = script.get(entry.id)
    if own is None:
        return entry
    command = own.command
    if isinstance(command, AddAgent) and isinstance(entry.command, AddAgent) and entry.command.agent is None:
        command = replace(command, agent=None)
    return own if replace(own, command=command) == entry else entry


def _legal_variant(world: World, walker: Walker, variant: Mapping[str, Value | None]) -> dict[str, Value | None]:
    """The variant with its values as the agent takes them, or a ConfigError."""
    given: dict[str, Value] = {name: value for name, value in variant.items() if name != "budget" and value is not None}
    own = variant.get("budget", walker.budget)
    budget = None if own is None else int(BUDGET.parse(own, f"{walker.label}: budget"))
    config = replace(walker.config, label=walker.label, params={**walker.params, **given}, budget=budget)
    _, params, _ = world.check_agent(config, walker.label)
    legal: dict[str, Value | None] = {name: params[name] for name in given}
    return legal | ({"budget": budget} if "budget" in variant else {})


def _setting(agent: int, group: str, name: str, value: Value | None) -> Command:
    """Of one agent, or of all that belong to its group."""
    command: SetBudget | SetParam
    if name == "budget" or value is None:
        command = SetBudget(None if value is None else int(value), agent)
    else:
        command = SetParam(agent, name, value)
    return ToGroup(group, replace(command, agent=0)) if group else command
