"""Simulation of one scenario as a tree of branches, some of which are shown side by side on screen.

    run = begin_run(scenario)                            a run at tick 0
    run = run_from_tree(scenario, tree, front, shown)    a run over a tree from a file, seeking to its tick
    run = run_from_state(state)                          a run restored from a RunState
    run.advance(7), .seek(40)                            act on all branches on screen together
    run.panels, .trails, .recent_edits_of_branch(key)    data for drawing
    run.state()                                          the whole run as plain values

A picture, a film and the window each show a Run. Focus, editing and undo belong to a Session (session.py). A panel is
identified by its branch and its agent (panel_keys.py) and shows the world of its own branch. This module does not
use pygame.

Glossary:
    seek: move of the world to another tick, by restoring a keyframe and replaying the ticks after it
    branch on screen: branch whose panels are shown; these branches advance and seek together
    front branch: the branch on screen that has the focus; commands of the user apply to it
    changed past: log of commands after an edit at an earlier tick; the recorded ticks after that tick become invalid
    old end: last tick that had been recorded before the past was changed; the ticks up to it are recorded again
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from agents.own_files import with_pinned_version
from agents.registry import AGENT_SPECS_BY_KEY
from files.scenario import Scenario, build_world
from sim.crowd import members_by_group
from sim.params import ConfigError
from sim.plurals import count_with_noun
from sim.time.branches import ROOT_BRANCH, Branch, BranchState, BranchTree
from sim.time.command_log import LogEntry
from sim.time.timeline import Timeline
from sim.true_distances import MAX_EXPANSIONS_PER_TICK
from sim.walker import Walker
from sim.world import World
from sim.world_commands import Command, LimitPlanners, MapEdit
from sim.world_view import WalkerView, WorldSnapshot
from ui.model.crowds import Crowd, CrowdTracker, crowd_totals_as_walker_view
from ui.model.keyframe_reader import KEYFRAME_READER
from ui.model.panel_keys import FIRST_PANEL, PanelKey
from ui.model.trails import Trail

SEEK_WORK = 8000.0
"""Time in microseconds that a seek may spend on replaying ticks in one frame."""


EDIT_SHOWN_TICKS = 200
"""Ticks for which an edited cell stays marked on the map."""

Edits = dict[int, tuple[int, bool]]
"""Recent edits of a map: each edited cell is mapped to the tick of its last edit and to whether it is blocked now."""


@dataclass(frozen=True)
class Panel:
    """Content of one panel: a single agent of a world on screen, or a crowd, identified by its first agent."""

    key: PanelKey
    world: World  # world of the branch `key.branch_name`, which contains the agent
    snapshot: WorldSnapshot  # state of `world` at the tick shown, for drawing
    # State of the agent; for a crowd, the total numbers of all its agents in the form of one agent.
    walker_view: WalkerView
    branch_name: str = ""  # name of the panel's branch if several branches are shown, else ""
    crowd: Crowd | None = None  # the crowd if the panel shows all agents of a group
    drawn_member: WalkerView | None = None  # crowd member whose search, path and trail are drawn

    @property
    def drawn_agent(self) -> WalkerView | None:
        """Return the agent whose search, path and trail are drawn; None for a crowd without a chosen member."""
        return self.walker_view if self.crowd is None else self.drawn_member

    @property
    def displayed_agent(self) -> WalkerView:
        """Return the agent whose start, goal and path are drawn; for a crowd without a chosen member, `walker_view`."""
        return self.drawn_agent or self.walker_view


@dataclass
class UserMessages:
    """Messages to the user, collected by the run; the window shows and clears them."""

    # Notifications that the next edit of the run makes outdated.
    messages_until_next_edit: list[str] = field(default_factory=list)
    # Notifications that stay valid after further edits of the run.
    persistent_messages: list[str] = field(default_factory=list)
    # alerts that the user must not miss, such as a replay that does not match the saved run
    alert_messages: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RunState:
    """State of a run as plain values, from which it can be restored.

    Keyframes are left out, because the undo history would keep their memory allocated.
    """

    scenario: Scenario
    branch_states: tuple[BranchState, ...]
    linked_branch_groups: tuple[tuple[int, ...], ...]
    focused_branch_number: int
    shown_branch_numbers: tuple[int, ...]
    panel_order: tuple[PanelKey, ...]


class Run:
    """Branches of one scenario that advance and seek together while they are on screen.

    `user_messages` collects texts for the user.
    """

    def __init__(
        self,
        scenario: Scenario,
        tree: BranchTree,
        front: int = ROOT_BRANCH,
        shown_branches: Iterable[int] = (),
        user_messages: UserMessages | None = None,
    ) -> None:
        self.scenario = scenario
        self.branch_tree = tree
        self.user_messages = user_messages or UserMessages()
        self.focused_branch_number = front if front in tree.branches else next(iter(tree.branches))
        self.shown_branch_numbers = [number for number in dict.fromkeys(shown_branches) if number in tree.branches] or [
            self.focused_branch_number
        ]
        # keys of the panels of all branches in display order, including panels that exist only at other ticks
        self.panel_order: list[PanelKey] = []
        self.trail_by_panel: dict[PanelKey, Trail] = {}
        self._crowd_trackers: dict[PanelKey, CrowdTracker] = {}  # panel of a crowd -> its tracker
        self._trail_agents: dict[PanelKey, int | None] = {}  # panel of a crowd -> member whose trail is drawn
        # messages that the user has got already: (tick, text) of notes, (branch, digest) of divergences
        self._reported_messages: set[tuple[int, str]] = set()
        self._panels_cache: tuple[Panel, ...] | None = None
        # Branch -> map version, and the recent edits of that map.
        self._recent_edits_cache: dict[int, tuple[int, Edits]] = {}
        self.update_after_change()

    def set_keyframe_memory_and_thread(self, max_bytes: int | None, *, in_background: bool) -> None:
        """Set the memory limit of keyframes, and choose the thread that reads them.

        Args:
            max_bytes: Maximum memory in bytes; None allows as much as the run itself takes.
            in_background: Read keyframes in a background thread; otherwise the calling thread reads them and waits.
        """
        self.branch_tree.keyframe_store.background_executor = KEYFRAME_READER if in_background else None
        self.branch_tree.keyframe_store.budget_bytes = max_bytes

    def run_state(self) -> RunState:
        """Return the whole run as plain values."""
        _ = self.panels  # the property adds the keys of new panels to `panel_order`
        groups, order = tuple(map(tuple, self.branch_tree.link_groups())), tuple(self.panel_order)
        return RunState(
            self.scenario,
            tuple(self.branch_tree.branch_states()),
            groups,
            self.focused_branch_number,
            tuple(self.shown_branch_numbers),
            order,
        )

    # --- branches ---------------------------------------------------------------------------------

    @property
    def shown_branches(self) -> list[Branch]:
        return [self.branch_tree[number] for number in self.shown_branch_numbers]

    @property
    def focused_branch_timeline(self) -> Timeline:
        """Return the timeline of the front branch."""
        return self.branch_tree[self.focused_branch_number].timeline

    @property
    def world(self) -> World:
        return self.focused_branch_timeline.world

    @property
    def picture_cache_key(self) -> tuple[tuple[int, int], ...]:
        """Return a key that changes whenever cached pictures of the run are outdated."""
        return tuple((b.number, b.timeline.past_version) for b in self.branch_tree.branches.values())

    def show_branches(self, numbers: Iterable[int]) -> None:
        """Show these branches at `displayed_tick`; the front branch stays in front if it is among them."""
        tick, before = self.displayed_tick, set(self.shown_branch_numbers)
        self.shown_branch_numbers = [
            number for number in dict.fromkeys(numbers) if number in self.branch_tree.branches
        ] or self.shown_branch_numbers
        for number in set(self.shown_branch_numbers) - before:
            self.branch_tree[number].timeline.begin_seek(tick)
        if self.focused_branch_number not in self.shown_branch_numbers:
            self.focused_branch_number = self.shown_branch_numbers[0]
        self.begin_seek(tick) if set(self.shown_branch_numbers) - before else self.update_after_change()

    def delete_branch(self, number: int) -> None:
        """Delete a branch.

        Raises:
            ConfigError: It is the only branch.
        """
        if len(self.branch_tree.branches) == 1:
            raise ConfigError("The only branch cannot be deleted")
        other_branches = [branch for branch in self.shown_branch_numbers if branch != number]
        self.show_branches(other_branches or [next(other for other in self.branch_tree.branches if other != number)])
        self.branch_tree.delete_branch(number)
        self.update_after_change()

    # --- time -------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """Return the tick that the front branch shows or seeks to."""
        return self.focused_branch_timeline.target_tick

    @property
    def max_shown_tick(self) -> int:
        """Return the highest tick of the branches on screen, some of which may be over and stay at an earlier tick."""
        return max(branch.timeline.target_tick for branch in self.shown_branches)

    @property
    def displayed_tick(self) -> int:
        """Return the tick that the window displays.

        It is the tick of the front branch. If that branch is over, it is the highest tick of the branches that still
        run, or of all branches on screen if none does.
        """
        if len(self.shown_branch_numbers) == 1 or not self.focused_branch_timeline.world.is_over:
            return self.tick
        return max(
            (b.timeline.target_tick for b in self.shown_branches if not b.timeline.world.is_over),
            default=self.max_shown_tick,
        )

    @property
    def is_over(self) -> bool:
        return all(branch.timeline.world.is_over for branch in self.shown_branches)

    @property
    def recorded_end_tick(self) -> int:
        return max(branch.timeline.run_history.recorded_end for branch in self.shown_branches)

    @property
    def last_reached_tick(self) -> int:
        """Return the highest tick that a branch on screen has reached, even if a change of the past made it invalid."""
        return max(branch.timeline.run_history.end for branch in self.shown_branches)

    @property
    def is_seeking(self) -> bool:
        return any(branch.timeline.is_seeking for branch in self.shown_branches)

    def begin_seek(self, tick: int) -> None:
        """Begin to seek to another tick with all branches on screen, which `continue_seek` finishes in later frames."""
        for branch in self.shown_branches:
            branch.timeline.begin_seek(max(0, tick))
        if not self.continue_seek():
            self.update_after_change()

    def continue_seek(self, work_us: float | None = None) -> bool:
        """Continue the seek and return whether all branches on screen have reached its target tick.

        Args:
            work_us: Time for replaying ticks in microseconds, shared by the branches on screen; None means SEEK_WORK.
        """
        if not self.is_seeking:
            return True
        work_us = SEEK_WORK if work_us is None else work_us
        has_arrived_by_branch = [
            branch.timeline.continue_seek(work_us / len(self.shown_branch_numbers)) for branch in self.shown_branches
        ]
        if all(has_arrived_by_branch):
            self.update_after_change()
        return all(has_arrived_by_branch)

    def seek_to_tick(self, tick: int) -> None:
        """Seek to another tick with all branches on screen; return only when they have reached it."""
        self.begin_seek(tick)
        for branch in self.shown_branches:
            branch.timeline.finish_seek()
        self.update_after_change()

    def recover_worlds(self) -> None:
        """Recover from an error in the middle of a tick: rebuild the worlds on screen at their last complete tick."""
        for branch in self.shown_branches:
            branch.timeline.recover_from_error()
        self.update_after_change()

    def advance_by_ticks(self, ticks: int) -> int:
        """Advance up to `ticks` ticks and return how many passed; fewer if the world is over."""
        passed = max(branch.timeline.advance(ticks, is_shown=True) for branch in self.shown_branches)
        self.update_after_change()
        return passed

    @property
    def is_reading_keyframe(self) -> bool:
        """Return whether a background thread is reading a keyframe of a branch on screen."""
        return any(branch.timeline.keyframe_saver.is_saving for branch in self.shown_branches)

    def stop_reader_yielding(self) -> None:
        """Make the thread that reads a keyframe stop yielding to other threads, because a due tick waits for it."""
        self.branch_tree.keyframe_store.stop_yielding()

    @property
    def is_measuring_optimality(self) -> bool:
        """Return whether optimality measures (such as non-optimal moves) of past ticks are not yet computed."""
        return any(branch.timeline.world.optimality_tracker.has_pending_work for branch in self.shown_branches)

    def continue_measuring_optimality(self) -> None:
        """Compute some of the missing optimality measures; called once a frame while no tick passes."""
        has_computed = [branch.timeline.continue_measuring() for branch in self.shown_branches]
        if any(has_computed):
            self.update_after_change()

    @property
    def is_rerecording_ticks(self) -> bool:
        """Return whether a change of the past has made ticks invalid that must still be recorded again."""
        return any(branch.timeline.is_recomputing for branch in self.shown_branches)

    def continue_rerecording_ticks(self, work_us: float = SEEK_WORK) -> bool:
        """Record some of the ticks again that a change of the past made invalid, and return whether any are left.

        The window calls this once a frame while no tick passes.

        Args:
            work_us: Time for computing ticks in microseconds, shared by the branches on screen.
        """
        timelines = [branch.timeline for branch in self.shown_branches if branch.timeline.is_recomputing]
        are_unfinished = [line.continue_recomputation(work_us / len(timelines)) for line in timelines]
        return any(are_unfinished)

    def world_digests(self) -> tuple[str, ...]:
        """Return the digests of the worlds of all branches on screen."""
        return tuple(branch.timeline.world.compute_digest() for branch in self.shown_branches)

    # --- commands ---------------------------------------------------------------------------------

    def apply_command(self, command: Command, stroke: int = 0) -> int:
        """Apply a command now to the front branch and to the branches that are linked with it.

        Args:
            command: Command to apply.
            stroke: Number of the stroke (commands that form one script entry) to extend; 0 begins a new stroke.

        Returns:
            The number of the stroke.
        """
        known, before = set(self.branch_tree.branches), self.focused_branch_timeline.command_log.entries
        first, *_ = self.branch_tree.apply_command(self.focused_branch_number, command, stroke)
        new = set(self.branch_tree.branches) - known
        for number in new:
            self.user_messages.messages_until_next_edit.append(
                f'The previous run is kept as the branch "{self.branch_tree[number].name}"'
            )
        if not new:
            self._report_removed_edits(before)
        self.update_after_change()
        return first.stroke_id

    def _report_removed_edits(self, before: Sequence[LogEntry]) -> None:
        """Tell the user how many later edits a command removed from the front branch, and which branch has them."""
        kept_ids = {entry.id for entry in self.focused_branch_timeline.command_log.entries}
        removed_strokes = {
            e.stroke_id for e in before if e.id not in kept_ids and not isinstance(e.command, LimitPlanners)
        }
        others = [
            other.name for other in self.branch_tree.branches.values() if other.timeline.command_log.entries == before
        ]
        if removed_strokes and others:
            edit_count, branch_name = (
                count_with_noun(len(removed_strokes), "later edit"),
                self.branch_tree[self.focused_branch_number].name,
            )
            self.user_messages.messages_until_next_edit.append(
                f'{edit_count} removed from "{branch_name}" but kept in "{others[0]}"'
            )

    def update_after_change(self) -> None:
        """Invalidate caches after any change of the run, update the trails, and collect new messages to the user."""
        self._panels_cache = None
        self._recent_edits_cache = {}
        self._remove_deleted_panels()
        for branch in self.shown_branches:
            if not branch.timeline.is_seeking:
                self._report_divergence(branch)
                self._report_timeline_notes(branch.timeline)
        self._report_state_failures()
        self._update_trails()

    def _remove_deleted_panels(self) -> None:
        """Drop cached data and `panel_order` keys of deleted branches; undo of the deletion restores the order."""
        branches = self.branch_tree.branches
        for values_by_panel in (self.trail_by_panel, self._crowd_trackers, self._trail_agents):
            for key in [key for key in values_by_panel if key.branch not in branches]:
                del values_by_panel[key]
        if any(key.branch not in branches for key in self.panel_order):
            self.panel_order = [key for key in self.panel_order if key.branch in branches]

    def _report_timeline_notes(self, timeline: Timeline) -> None:
        """Show each note of a timeline (such as a refused edit) to the user once."""
        for note in timeline.run_history.run_messages:
            if (note.tick, note.text) not in self._reported_messages:
                self._reported_messages.add((note.tick, note.text))
                self.user_messages.messages_until_next_edit.append(f"Tick {note.tick}: {note.text}")

    def _report_state_failures(self) -> None:
        """Tell the user, once for each user-defined agent, that its state cannot be stored in keyframes."""
        for text in self.branch_tree.keyframe_store.state_failures.messages.values():
            if (0, text) not in self._reported_messages:
                self._reported_messages.add((0, text))
                self.user_messages.persistent_messages.append(text)

    def _report_divergence(self, branch: Branch) -> None:
        """Tell the user once that the replay of a branch does not match the saved run."""
        divergence = branch.timeline.run_history.divergence
        if (
            divergence is None
            or not divergence.recorded_digest
            or (branch.number, divergence.recorded_digest) in self._reported_messages
        ):
            return
        self._reported_messages.add((branch.number, divergence.recorded_digest))
        agents_text = f" Agents that differ: {', '.join(divergence.agent_labels)}." if divergence.agent_labels else ""
        self.user_messages.alert_messages.append(
            f'The replay of the branch "{branch.name}" does not match the saved run from tick {divergence.tick:,} on: '
            f"its digest was {divergence.recorded_digest} and is {divergence.replayed_digest} now.{agents_text}"
        )

    def _update_trails(self) -> None:
        """Update the trails of all agents on screen.

        This includes branches that are still seeking, because a saved run is drawn before its first seek is complete.
        """
        for branch in self.shown_branches:
            walkers = branch.timeline.world.walkers
            for walker in walkers:
                if not walker.config.group:
                    self._update_trail(branch, PanelKey(branch.number, walker.id), walker)
            for members in members_by_group(walkers).values():
                key = PanelKey(branch.number, members[0].id)
                self._update_crowd_trail(branch, key, self._crowd_tracker(branch, members), members)

    def _update_trail(self, branch: Branch, key: PanelKey, walker: Walker) -> None:
        """Update the trail in a panel to the agent's recorded cells up to the current tick."""
        timeline, trail = branch.timeline, self.trail_by_panel.get(key)
        if timeline.is_seeking and trail is not None:
            return  # while a branch seeks, its old state stays on screen, so the trail stays as well
        if not timeline.run_history.has_record(
            walker.id
        ):  # after a change of the past, its earlier cells may be unknown
            self.trail_by_panel[key] = Trail(walker.position, walker.added_tick, timeline.world.grid)
            return
        record = timeline.run_history.record(walker.id)
        if trail is None or (trail.first_tick, trail.cells[0]) != (record.joined_tick, record.start_cell):
            trail = self.trail_by_panel[key] = Trail(record.start_cell, record.joined_tick, timeline.world.grid)
        trail.update_from_record(record, timeline.tick)

    # --- crowds -----------------------------------------------------------------------------------

    def _crowd_tracker(self, branch: Branch, members: list[Walker]) -> CrowdTracker:
        """Return the tracker of a crowd, updated to the current tick unless the branch is seeking."""
        tracker = self._crowd_trackers.setdefault(PanelKey(branch.number, members[0].id), CrowdTracker())
        if not branch.timeline.is_seeking or tracker.tick < 0:
            tracker.update_to_timeline(branch.timeline, members)
        return tracker

    def _update_crowd_trail(self, branch: Branch, key: PanelKey, tracker: CrowdTracker, members: list[Walker]) -> None:
        """Update the trail in a crowd's panel: the trail of the crowd member whose search is drawn."""
        member = next((walker for walker in members if walker.id == tracker.drawn_agent), None)
        if self._trail_agents.get(key) != tracker.drawn_agent or key not in self.trail_by_panel:
            first = member or members[0]
            self.trail_by_panel[key] = Trail(first.start, first.added_tick, branch.timeline.world.grid)
            self._trail_agents[key] = tracker.drawn_agent
        if member is not None:
            self._update_trail(branch, key, member)

    def follow_crowd_agent(self, key: PanelKey, agent: int | None) -> None:
        """Choose the agent of a crowd that the camera follows and whose search is drawn; None: no agent."""
        if (tracker := self._crowd_trackers.get(key)) is not None:
            tracker.followed_agent, tracker.hovered_agent = agent, None
            self.update_after_change()

    def show_hovered_crowd_agent(self, key: PanelKey | None, agent: int | None) -> None:
        """Draw the search of one agent of a crowd while the mouse hovers over it.

        Args:
            key: Panel under the mouse; None if there is none.
            agent: Agent under the mouse.
        """
        for other, tracker in self._crowd_trackers.items():
            pointed = agent if other == key else None
            if tracker.hovered_agent != pointed:
                tracker.hovered_agent = pointed
                self.update_after_change()

    def crowd_of_panel(self, key: PanelKey) -> Crowd | None:
        """Return the crowd of a panel; None if the panel shows a single agent."""
        return next((panel.crowd for panel in self.panels if panel.key == key), None)

    def labels_of_crowd(self, key: PanelKey) -> tuple[str, ...]:
        """Return the labels of all agents of a crowd, in the order of its agents.

        A crowd may have thousands of agents, so do not call this in every frame.
        """
        timeline, tracker = self.branch_tree[key.branch].timeline, self._crowd_trackers.get(key)
        walkers = {walker.id: walker for walker in timeline.world.walkers}
        return timeline.command_log.labels_of_agents(
            walkers[number] for number in (tracker.agent_ids if tracker else ())
        )

    # --- panels -----------------------------------------------------------------------------------

    def walker_of_panel(self, key: PanelKey) -> Walker | None:
        """Return the agent of a panel; for a crowd, the picked agent, or the first one if none is picked."""
        branch = self.branch_tree.branches.get(key.branch)
        tracker = self._crowd_trackers.get(key)
        followed_agent = tracker.followed_agent if tracker else None
        return (
            branch.timeline.world.walker_with_id(key.agent if followed_agent is None else followed_agent)
            if branch
            else None
        )

    def followed_walker(self, key: PanelKey) -> Walker | None:
        """Return the agent that the camera of a panel follows; None for a crowd without a picked agent."""
        tracker = self._crowd_trackers.get(key)
        return self.walker_of_panel(key) if tracker is None or tracker.followed_agent is not None else None

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Return the panels of the branches on screen, in display order."""
        if self._panels_cache is None:
            panel_by_key = {
                panel.key: panel for branch in self.shown_branches for panel in self._panels_of_branch(branch)
            }
            for key in panel_by_key:
                if key not in self.panel_order:
                    self.panel_order.insert(self._index_for_new_panel(key), key)
            self._panels_cache = tuple(panel_by_key[key] for key in self.panel_order if key in panel_by_key)
        return self._panels_cache

    def _index_for_new_panel(self, key: PanelKey) -> int:
        """Return the index in `panel_order` for a new panel.

        New panels are appended. The key of a crowd's panel names the crowd's first agent, so the key changes when that
        agent leaves, or returns after a seek. The new key is then inserted after the old one of the same crowd.
        """
        members = set(tracker.agent_ids if (tracker := self._crowd_trackers.get(key)) else ())
        for index, other in enumerate(self.panel_order):
            if (
                other.branch == key.branch
                and other in self._crowd_trackers
                and members & {*self._crowd_trackers[other].agent_ids}
            ):
                return index + 1
        return len(self.panel_order)

    def has_single_agent_panel(self, key: PanelKey) -> bool:
        """Return whether the agent of a panel key is a single agent on screen, not a crowd.

        This is faster than a search in `panels`, which inspects every agent.
        """
        walker = self.walker_of_panel(key) if key.branch in self.shown_branch_numbers else None
        return walker is not None and walker.id == key.agent and not walker.config.group

    def _panels_of_branch(self, branch: Branch) -> list[Panel]:
        """Return the panels of a branch in the order of its agents."""
        world = branch.timeline.world
        snapshot = world.create_snapshot({walker.id for walker in world.walkers if not walker.config.group})
        name = branch.name if len(self.shown_branch_numbers) > 1 else ""
        snapshot = replace(snapshot, walkers=_walker_views_with_timeline_labels(branch.timeline, snapshot.walkers))
        single_panels = [Panel(PanelKey(branch.number, v.id), world, snapshot, v, name) for v in snapshot.walkers]
        crowd_panels = [
            self._crowd_panel(branch, members, snapshot, name) for members in members_by_group(world.walkers).values()
        ]
        if not crowd_panels:
            return single_panels
        indices = {walker.id: index for index, walker in enumerate(world.walkers)}
        return sorted([*single_panels, *crowd_panels], key=lambda panel: indices[panel.key.agent])

    def _crowd_panel(self, branch: Branch, members: list[Walker], snapshot: WorldSnapshot, name: str) -> Panel:
        """Return the panel of a crowd, with the view of the member whose search is drawn."""
        world, key = branch.timeline.world, PanelKey(branch.number, members[0].id)
        crowd = self._crowd_tracker(branch, members).current_crowd(world, members)
        # Viewing an agent may write to its memory, which is forbidden while a keyframe is read.
        drawn_agent = None if branch.timeline.keyframe_saver.is_saving else crowd.drawn_agent
        drawn_views = _walker_views_with_timeline_labels(
            branch.timeline, [world.view(walker) for walker in members if walker.id == drawn_agent]
        )
        view = crowd_totals_as_walker_view(world, members[0], crowd)
        return Panel(key, world, snapshot, view, name, crowd, next(iter(drawn_views), None))

    def order_panels(self, order: Sequence[PanelKey]) -> None:
        """Show the panels in this order, followed by all others.

        Keys of panels that do not exist at the current tick are kept after the panel that they followed, because a seek
        may show these panels again.
        """
        existing, old_order, self.panel_order = {panel.key for panel in self.panels}, self.panel_order, list(order)
        for index, key in enumerate(old_order):
            if key not in existing and key not in self.panel_order:
                preceding = [other for other in old_order[:index] if other in self.panel_order]
                self.panel_order.insert(self.panel_order.index(preceding[-1]) + 1 if preceding else 0, key)
        self._panels_cache = None

    def panel_index(self, key: PanelKey) -> int:
        """Return the index of a panel in `panels`; 0 if it is not shown."""
        return next((i for i, panel in enumerate(self.panels) if panel.key == key), 0)

    def compared_panel_indices(self, panel_index: int) -> tuple[int, int]:
        """Return the indices of the panels A and B that a heat map A - B compares; equal if there is only one panel.

        A is the panel at `panel_index`. B is preferably the same agent in the parent branch of A's branch, else in a
        child branch, else in any other branch. If there is no such panel, B is the next panel.
        """
        panels, count = self.panels, len(self.panels)
        index_a = min(panel_index, max(0, count - 1))
        other_indices = [(index_a + i) % count for i in range(1, count)]
        return index_a, min(
            other_indices, key=lambda b: self._comparison_rank(panels[index_a].key, panels[b].key), default=index_a
        )

    def _comparison_rank(self, a: PanelKey, b: PanelKey) -> int:
        """Return how unsuitable panel b is for a comparison with a: 0 (same agent in parent branch) to 3."""
        if b.agent != a.agent or b.branch == a.branch:
            return 3
        if self.branch_tree[a.branch].parent == b.branch:
            return 0
        return 1 if self.branch_tree[b.branch].parent == a.branch else 2

    # --- edits of the map -------------------------------------------------------------------------

    def recent_edits_of_branch(self, panel: PanelKey = FIRST_PANEL) -> Edits:
        """Return the recently edited cells in a panel's branch, including edits by the script."""
        number, timeline = panel.branch, self.branch_tree[panel.branch].timeline
        version, edits = self._recent_edits_cache.get(number, (-1, {}))
        if version != timeline.world.grid.version:  # the map has changed since the caching
            edits = self._recent_edits(timeline)
            self._recent_edits_cache[number] = (timeline.world.grid.version, edits)
        return edits

    def _recent_edits(self, timeline: Timeline) -> Edits:
        """Return the recent edits of the map, except edits of this tick that the world has not applied yet."""
        world, current_tick = timeline.world, timeline.tick
        is_free, last_applied_tick = world.grid.free_mask, current_tick - world.are_due_changes_pending
        edited: Edits = {}
        for entry in timeline.command_log.entries:
            if entry.is_enabled and current_tick - EDIT_SHOWN_TICKS <= entry.tick <= last_applied_tick:
                for cell in self.cells_edited_by_command(entry.command):
                    edited[cell] = (entry.tick, not is_free[cell])
        return edited

    def cells_edited_by_command(self, command: Command) -> Sequence[int]:
        """Return the map cells that a command edits."""
        return command.edited_cells(self.world.switches) if isinstance(command, MapEdit) else ()


def _walker_views_with_timeline_labels(timeline: Timeline, views: Sequence[WalkerView]) -> tuple[WalkerView, ...]:
    """Return the views with the labels that the timeline gives to the agents."""
    labels = timeline.command_log.labels_of_agents(views)
    return tuple(v if v.label == label else replace(v, label=label) for v, label in zip(views, labels, strict=True))


# --- creating a run -------------------------------------------------------------------------------


def begin_run(scenario: Scenario, *, max_bytes: int | None = None, user_messages: UserMessages | None = None) -> Run:
    """Return a run at tick 0.

    Args:
        scenario: Scenario to simulate; agents that are not valid in it are left out and reported in `user_messages`.
        max_bytes: Maximum memory for keyframes; None allows as much as the run itself takes.
        user_messages: Messages to the user, to which the run appends.
    """
    scenario, problems = scenario_with_pinned_versions(scenario), list[str]()
    tree = BranchTree(world_builder(scenario, problems), max_bytes)
    run = Run(scenario, tree, user_messages=user_messages)
    # Without duplicates: the world of tick 0 may be built several times.
    run.user_messages.messages_until_next_edit += dict.fromkeys(problems)
    return run


def scenario_with_pinned_versions(scenario: Scenario) -> Scenario:
    """Return the scenario with user-defined agents pinned to the current version of their files."""
    agents = tuple(with_pinned_version(config) for config in scenario.agents)
    return scenario if agents == scenario.agents else replace(scenario, agents=agents)


def run_from_tree(
    scenario: Scenario,
    tree: BranchTree,
    front: int,
    shown_branches: Iterable[int],
    user_messages: UserMessages | None = None,
) -> Run:
    """Return a run with an existing tree of branches; those on screen begin to seek to the tick of the front branch."""
    run = Run(scenario, tree, front, shown_branches, user_messages)
    run.begin_seek(run.tick)
    return run


def run_from_state(state: RunState, *, max_bytes: int | None = None, user_messages: UserMessages | None = None) -> Run:
    """Return a run restored from a state, with a seek in progress to the tick of that state."""
    tree = BranchTree.from_states(world_builder(state.scenario), state.branch_states, max_bytes)
    tree.replace_branch_links(state.linked_branch_groups)
    run = run_from_tree(state.scenario, tree, state.focused_branch_number, state.shown_branch_numbers, user_messages)
    run.order_panels(state.panel_order)
    return run


def world_builder(
    scenario: Scenario, problems: list[str] | None = None, *, measures_at_once: bool = False
) -> Callable[[], World]:
    """Return a function that builds the world of tick 0, with the instrumentation that panels need.

    Args:
        scenario: Scenario to build.
        problems: List to which errors of invalid agents are appended; these agents are left out.
        measures_at_once: Compute true distances without a limit. By default their search has MAX_EXPANSIONS_PER_TICK
            expansions in a tick, so that it delays no frame.
    """

    def complain(error: ConfigError) -> None:
        if problems is not None:
            problems.extend(error.problems)

    def make() -> World:
        world = build_world(scenario, AGENT_SPECS_BY_KEY, complain=complain, watched=True)
        if not measures_at_once:  # pictures must be reproducible, so they measure without a limit
            world.agent_times.clock = time.perf_counter
            world.optimality_tracker.expansion_limit = MAX_EXPANSIONS_PER_TICK
        return world

    return make
