"""Branches: alternative futures of one run. Each branch is a timeline; branches share their common past in memory.

    tree = BranchTree(setup)                          the first branch is number 0
    tree.branches                                     branches by number, in order of creation
    tree[number].timeline                             Branch: number, name, parent, timeline
    tree.branch(number, tick, name)                   create another future from a tick on (default: the present one)
    tree.create_variants(number, agent, [{"restart": "lazy"}, {"restart": "eager"}])
    tree.do(number, command, stroke)                  apply a command to a branch and to all branches linked with it
    tree.link_branches(numbers), .unlink_branch(number)  let later commands go to all linked branches
    tree.rename_branch(number, name), .delete(number)
    tree.branch_states(), BranchTree.from_states()    save all branches as plain values and restore them, for files
    tree.restore_branch(state)                        restore a branch to an earlier state, or create it again, for undo

A command at a past tick never destroys a future that no other branch has: that future is kept as a new branch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

from sim.params import ConfigError, Value
from sim.time.command_log import LogEntry, first_differing_tick
from sim.time.keyframes import KeyframeStore
from sim.time.timeline import Timeline
from sim.walker import Walker
from sim.world import World
from sim.world_commands import BUDGET_PARAM, AddAgent, ApplyToGroup, Command, SetBudget, SetParam, name_with_suffix

ROOT_BRANCH = 0

MAX_BRANCHES = 1000
"""Most branches of one run; a file with more is rejected as invalid."""

MAX_BRANCH_NAME_LENGTH = 120
"""Most characters of a branch name; a longer name is truncated."""

_KEPT_FUTURE_SUFFIX = ", before the change at "


@dataclass(eq=False)
class Branch:
    """One of the alternative futures of a run: a timeline with a number, a name and a parent branch."""

    number: int
    name: str
    parent: int | None  # number of the branch from which this branch was split; None: it has no parent
    split_tick: int  # tick at which the branch was split from its parent
    timeline: Timeline
    branch_tree: "BranchTree"

    @property
    def first_differing_tick(self) -> int:
        """Return the first tick at which the command logs of this branch and its parent differ, at most `split_tick`.

        It is earlier than `split_tick` if the past of either branch was edited after the split.
        """
        origin = None if self.parent is None else self.branch_tree.branches.get(self.parent)
        if origin is None:
            return self.split_tick
        before = [
            [e for e in line.command_log.entries if e.tick < self.split_tick]
            for line in (self.timeline, origin.timeline)
        ]
        return min(self.split_tick, first_differing_tick(*before))


@dataclass(frozen=True)
class BranchState:
    """State of a branch as plain values, from which the branch can be created again."""

    number: int
    name: str
    parent: int | None
    split_tick: int  # tick at which the branch was split from its parent (Branch.split_tick)
    tick: int  # tick that was on screen when the state was saved
    furthest_tick: int  # last tick to which the branch had been simulated
    entries: tuple[LogEntry, ...]


class BranchListener:
    """Listener for changes of a branch tree, such as a journal. The tree calls each method after the change.

    on_entries_changed: the log entries `altered` were added or changed; the entries with the ids `gone` were removed.
    on_branch_created: the branch was created as a copy of its parent at the tick `create_branch.split_tick`.
    on_branch_renamed: the branch has a new name.
    on_branch_deleted: the branch was removed from the tree.
    on_branch_restored: an earlier state of the branch was restored, or a deleted branch was created again.
    on_links_changed: the links have changed; `groups` lists the numbers of the branches in each linked group.
    """

    def on_entries_changed(self, branch: Branch, altered: Sequence[LogEntry], removed_ids: Sequence[int]) -> None: ...

    def on_branch_created(self, branch: Branch) -> None: ...

    def on_branch_renamed(self, branch: Branch) -> None: ...

    def on_branch_deleted(self, branch: Branch) -> None: ...

    def on_branch_restored(self, branch: Branch) -> None: ...

    def on_links_changed(self, groups: Sequence[Sequence[int]]) -> None: ...


class BranchTree:
    """Tree of all branches of one run. It notifies `change_listener` of all changes.

    Branches can be linked; linked branches get the same commands.
    """

    def __init__(self, setup: Callable[[], World], budget: int | None = None) -> None:
        """Create a tree with a single branch, whose number is ROOT_BRANCH.

        Args:
            setup: function that builds the world of tick 0.
            budget: bytes for the keyframes of all branches; None: the default of KeyframeStore.
        """
        self.build_world = setup
        self.keyframe_store = KeyframeStore(budget)
        self.branches: dict[int, Branch] = {}
        self.change_listener: BranchListener | None = None
        self._link_groups: list[set[int]] = []  # groups of linked branches; each set holds branch numbers
        self._next_number = ROOT_BRANCH  # number that the next new branch will get
        self._notify_created(
            self._add_branch(Timeline(setup, self.keyframe_store), self._new_branch_number(), "run", None, 0)
        )

    def __getitem__(self, number: int) -> Branch:
        return self.branches[number]

    def _new_branch_number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def _add_branch(self, timeline: Timeline, number: int, name: str, parent: int | None, at: int) -> Branch:
        """Add a branch with this timeline to the tree, and register the callbacks of the timeline."""
        branch = Branch(number, name[:MAX_BRANCH_NAME_LENGTH], parent, at, timeline, self)
        self.branches[branch.number] = branch
        timeline.on_future_lost = lambda lost: self._keep_future_as_branch(branch, lost)
        timeline.command_log.on_changed = partial(self._notify_entries_changed, branch)
        return branch

    def _notify_created(self, branch: Branch) -> Branch:
        """Notify the listener that a branch was created, and return this branch."""
        if self.change_listener:
            self.change_listener.on_branch_created(branch)
        return branch

    def _notify_entries_changed(self, branch: Branch, altered: Sequence[LogEntry], removed_ids: Sequence[int]) -> None:
        """Notify the listener of log entries that were added or changed, and of the ids of removed entries."""
        if self.change_listener:
            self.change_listener.on_entries_changed(branch, altered, removed_ids)

    # --- creating and deleting --------------------------------------------------------------------

    def create_branch(self, number: int, tick: int | None = None, name: str = "") -> Branch:
        """Split a branch: create a copy that stays identical until the copy or the original gets new commands.

        Args:
            number: branch to split.
            tick: tick at which to split it; None: the tick that the branch shows or seeks to.
            name: name of the new branch; "": a free name such as "branch 1".

        Returns:
            The new branch.

        Raises:
            ConfigError: The tree has MAX_BRANCHES branches already.
        """
        self._check_branch_count()
        parent = self[number].timeline
        at = parent.target_tick if tick is None else tick
        return self._notify_created(
            self._add_branch(parent.fork(at), self._new_branch_number(), name or self._unused_branch_name(), number, at)
        )

    def _unused_branch_name(self) -> str:
        used_names = {branch.name for branch in self.branches.values()}
        return next(name for i in range(1, len(used_names) + 2) if (name := f"branch {i}") not in used_names)

    def _keep_future_as_branch(self, branch: Branch, timeline: Timeline) -> None:
        """Keep the future of a timeline as a new branch, because a command is about to overwrite it.

        Do nothing if another branch has the same log, because that branch already keeps this future.
        """
        others = [other.timeline.command_log.entries for other in self.branches.values() if other is not branch]
        if timeline.command_log.entries in others:
            return
        self._check_branch_count()
        name = self._name_for_kept_future(branch, timeline.tick)
        self._notify_created(
            self._add_branch(timeline.fork(), self._new_branch_number(), name, branch.number, timeline.tick)
        )

    def _name_for_kept_future(self, branch: Branch, tick: int) -> str:
        """Return an unused name for a kept future, such as "run, before the change at 40".

        If the branch is itself a kept future, the tick in its name is replaced, so that names do not grow.
        """
        origin, used_names = (
            branch.name.partition(_KEPT_FUTURE_SUFFIX)[0],
            {other.name for other in self.branches.values()},
        )
        names = (
            name_with_suffix(origin, f"{_KEPT_FUTURE_SUFFIX}{tick}{suffix}", MAX_BRANCH_NAME_LENGTH)
            for suffix in _unique_suffixes()
        )
        return next(name for name in names if name not in used_names)

    def _check_branch_count(self) -> None:
        """Raise a ConfigError if the tree is full: a file with more than MAX_BRANCHES branches cannot be loaded."""
        if len(self.branches) >= MAX_BRANCHES:
            raise ConfigError(f"expected at most {MAX_BRANCHES:,} branches, got one more; delete a branch first")

    def rename_branch(self, number: int, name: str) -> None:
        self[number].name = name[:MAX_BRANCH_NAME_LENGTH]
        if self.change_listener:
            self.change_listener.on_branch_renamed(self[number])

    def delete_branch(self, number: int) -> None:
        """Delete a branch; its children become children of its parent.

        Raises:
            ConfigError: The branch is the only one.
        """
        if len(self.branches) == 1:
            raise ConfigError("the only branch cannot be deleted")
        deleted = self.branches.pop(number)
        for branch in self.branches.values():
            if branch.parent == number:
                branch.parent = deleted.parent
        self.unlink_branch(number)
        deleted.timeline.close()
        if self.change_listener:
            self.change_listener.on_branch_deleted(deleted)

    # --- linked branches --------------------------------------------------------------------------

    def link_branches(self, numbers: Iterable[int]) -> None:
        """Link branches, so that every later command to one of them is applied to all of them."""
        new_group = set(numbers)
        self._replace_link_groups([group - new_group for group in self._link_groups] + [new_group])

    def unlink_branch(self, number: int) -> None:
        self._replace_link_groups([group - {number} for group in self._link_groups])

    def replace_branch_links(self, groups: Iterable[Iterable[int]]) -> None:
        """Replace all links: link the branches of each group of branch numbers; ignore numbers of missing branches."""
        self._replace_link_groups([set(group) & set(self.branches) for group in groups])

    def _replace_link_groups(self, groups: list[set[int]]) -> None:
        groups = [group for group in groups if len(group) > 1]
        if groups != self._link_groups:
            self._link_groups = groups
            if self.change_listener:
                self.change_listener.on_links_changed(self.link_groups())

    def linked_branches(self, number: int) -> tuple[int, ...]:
        """Return the number of a branch, followed by the numbers of all branches linked with it."""
        group = next((group for group in self._link_groups if number in group), {number})
        return number, *sorted(group - {number})

    def apply_command(self, number: int, command: Command, stroke: int = 0) -> list[LogEntry]:
        """Apply a command at the present tick of a branch, to that branch and to all branches linked with it.

        In a linked branch that shows another tick, the command is inserted at the present tick of branch `number`. All
        new entries have the same stroke id, because they come from one action of the user.

        Returns:
            The new log entries, starting with the entry of the branch itself.
        """
        linked_numbers = self.linked_branches(number)
        for linked_number in linked_numbers:
            self[linked_number].timeline.finish_seek()  # until a seek is finished, the present tick is unknown
        tick = self[number].timeline.tick
        entries: list[LogEntry] = []
        for linked_number in linked_numbers:
            timeline = self[linked_number].timeline
            stroke = stroke or (entries[0].stroke_id if entries else 0)
            is_now = timeline.tick == tick
            entries.append(
                timeline.apply_command(command, stroke=stroke)
                if is_now
                else timeline.insert_command(tick, command, stroke=stroke)
            )
        return entries

    def create_variants(self, number: int, agent: int, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
        """Create linked branches to compare different settings of one agent, starting at the present tick.

        Args:
            number: branch to split.
            agent: number of the agent.
            variants: one set of settings for each branch. It maps names of parameters to values, and `budget` to a
                budget of the agent's own (None: the shared budget).

        Returns:
            A branch for each variant; for a variant equal to the present settings, the branch itself.

        Raises:
            ConfigError: The agent does not exist, or a value is not valid.
        """
        timeline = self[number].timeline
        timeline.finish_seek()
        walker = timeline.world.walker_with_id(agent)
        if walker is None:
            raise ConfigError(f"agent {agent} does not exist")
        current_settings: dict[str, Value | None] = {**walker.params, "budget": walker.budget}
        legal = [_checked_variant_settings(timeline.world, walker, variant) for variant in variants]
        changes = [
            {name: value for name, value in variant.items() if value != current_settings[name]} for variant in legal
        ]
        futures = [self._create_variant(number, agent, change) if change else self[number] for change in changes]
        self.link_branches(branch.number for branch in futures)
        return futures

    def _create_variant(self, number: int, agent: int, changes: Mapping[str, Value | None]) -> Branch:
        branch = self.create_branch(number, None, ", ".join(f"{name} {value}" for name, value in changes.items()))
        for name, value in changes.items():
            group = walker.config.group if (walker := branch.timeline.world.walker_with_id(agent)) else ""
            branch.timeline.apply_command(_setting_command(agent, group, name, value), keeps_later=True)
        return branch

    # --- states as plain values -------------------------------------------------------------------

    def branch_states(self) -> list[BranchState]:
        return [self.branch_state(number) for number in self.branches]

    def branch_state(self, number: int) -> BranchState:
        """Return the state of a branch as plain values, from which `restore_branch` can restore the branch."""
        branch = self[number]
        line = branch.timeline
        return BranchState(
            number,
            branch.name,
            branch.parent,
            branch.split_tick,
            line.target_tick,
            max(line.run_history.furthest_tick, line.target_tick),
            line.command_log.entries,
        )

    def restore_branch(self, state: BranchState) -> None:
        """Restore name, parent and log of a branch, but not its tick; create the branch again if it was deleted."""
        branch = self.branches.get(state.number)
        before = branch.timeline.command_log.entries if branch else ()
        is_simple = branch is not None and (branch.parent, branch.split_tick) == (state.parent, state.split_tick)
        if branch is None:
            branch = self._recreate_branch(self._timeline_to_fork(state).fork(0), state)
            branch.timeline.begin_seek(state.tick)
            self.branches = dict(sorted(self.branches.items()))
        else:
            branch.parent, branch.split_tick = state.parent, state.split_tick
            branch.timeline.replace_command_log(state.entries)
        branch.timeline.run_history.furthest_tick = max(branch.timeline.run_history.furthest_tick, state.furthest_tick)
        if branch.name != state.name:
            self.rename_branch(state.number, state.name)
        self._notify_restored(branch, before, is_simple)

    def _notify_restored(self, branch: Branch, before: Sequence[LogEntry], is_simple: bool) -> None:
        """Notify the listener of a restored branch; if possible, report only the changed log entries.

        The changed entries suffice if parent and split tick are unchanged (`is_simple`) and the listener can rebuild
        the order of the log from the entries. Then the journal need not write the whole log for each undo.
        """
        after = branch.timeline.command_log.entries
        common_ids = {id(entry) for entry in before} & {id(entry) for entry in after}
        altered = [entry for entry in after if id(entry) not in common_ids]
        removed_ids = [entry.id for entry in before if id(entry) not in common_ids]
        merged = sorted([*(e for e in before if id(e) in common_ids), *altered], key=lambda entry: entry.tick)
        if is_simple and tuple(merged) == after:
            if altered or removed_ids:
                self._notify_entries_changed(branch, altered, removed_ids)
        elif self.change_listener:
            self.change_listener.on_branch_restored(branch)

    def _timeline_to_fork(self, state: BranchState) -> Timeline:
        """Return the timeline to copy when a deleted branch is restored: its parent's, or else the first branch's."""
        origin = self.branches.get(state.parent) if state.parent is not None else None
        return (origin or next(iter(self.branches.values()))).timeline

    def _recreate_branch(self, timeline: Timeline, state: BranchState) -> Branch:
        timeline.replace_command_log(state.entries)
        self._next_number = max(self._next_number, state.number + 1)
        return self._add_branch(timeline, state.number, state.name, state.parent, state.split_tick)

    def link_groups(self) -> list[list[int]]:
        """Return the groups of linked branches, as sorted lists of their numbers."""
        return [sorted(group) for group in self._link_groups]

    @classmethod
    def from_states(
        cls, setup: Callable[[], World], states: Sequence[BranchState], budget: int | None = None
    ) -> "BranchTree":
        """Return a new tree whose branches are restored from these states.

        Each branch is still seeking to its tick; finish the seek with Timeline.continue_seek().
        """
        tree = cls(setup, budget)
        seed = tree.branches.pop(ROOT_BRANCH).timeline
        script = {entry.id: entry for entry in seed.command_log.entries}
        for state in states:
            own = tuple(_equal_script_entry(entry, script) for entry in state.entries)
            timeline = tree._recreate_branch(seed.fork(0), replace(state, entries=own)).timeline
            timeline.run_history.furthest_tick = state.furthest_tick
            timeline.begin_seek(state.tick)
        seed.close()
        return tree


def _unique_suffixes() -> Iterator[str]:
    """Yield suffixes that make a name unique: "", " (2)", " (3)" and so on."""
    return chain([""], (f" ({number})" for number in count(2)))


def _equal_script_entry(entry: LogEntry, script: Mapping[int, LogEntry]) -> LogEntry:
    """Return the entry of the scenario's script that equals `entry`; if there is none, return `entry` itself.

    `script` maps ids to scripted entries. An AddAgent without an agent number equals a scripted AddAgent with a number,
    because the setup assigns the numbers.
    """
    own = script.get(entry.id)
    if own is None:
        return entry
    command = own.command
    if isinstance(command, AddAgent) and isinstance(entry.command, AddAgent) and entry.command.agent is None:
        command = replace(command, agent=None)
    return own if replace(own, command=command) == entry else entry


def _checked_variant_settings(
    world: World, walker: Walker, variant: Mapping[str, Value | None]
) -> dict[str, Value | None]:
    """Return the settings of a variant, parsed and checked for the agent; raise a ConfigError for an invalid value."""
    given: dict[str, Value] = {name: value for name, value in variant.items() if name != "budget" and value is not None}
    own = variant.get("budget", walker.budget)
    budget = None if own is None else int(BUDGET_PARAM.parse_value(own, f"{walker.label}: budget"))
    config = replace(walker.config, label=walker.label, params={**walker.params, **given}, budget=budget)
    _, params, _ = world.check_agent_config(config, walker.label)
    legal: dict[str, Value | None] = {name: params[name] for name in given}
    return legal | ({"budget": budget} if "budget" in variant else {})


def _setting_command(agent: int, group: str, name: str, value: Value | None) -> Command:
    """Return the command that sets a parameter or the budget of an agent, or of the agent's group if it has one."""
    command: SetBudget | SetParam
    if name == "budget" or value is None:
        command = SetBudget(None if value is None else int(value), agent)
    else:
        command = SetParam(agent, name, value)
    return ApplyToGroup(group, replace(command, agent=0)) if group else command
