"""What is simulated, and what of it is on screen: a tree of branches of one scenario, some of them side by side.

    run = begin(scenario)                   a run at tick 0
    run = planted(scenario, tree, front, shown)     one whose branches are on their way to their ticks, as from a file
    run = again(state)                      one that was left, from its plain values
    run.advance(7), .seek(40)               all branches on screen together
    run.panels, .trails, .shown_edits(key)  what there is to draw
    run.state()                             all of it as plain values

A picture, a film and the window all show a Run. Who looks, who edits and what can be undone is not known here: that
is a Session (session.py). A panel is named by its branch and its agent (keys.py) and shows its own world. No pygame.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from agents.own_files import pinned
from agents.registry import BY_KEY
from sim.commands import Command, MapEdit, Serve
from sim.counted import counted
from sim.crowd import groups_of
from sim.files.scenario import Scenario, build_world
from sim.measuring import A_TICK
from sim.params import ConfigError
from sim.time.branches import ROOT, Branch, BranchState, BranchTree
from sim.time.log import Entry
from sim.time.timeline import Timeline
from sim.walker import Walker, WalkerView
from sim.world import Snapshot, World
from ui.model.crowds import Crowd, Follower, as_one
from ui.model.keys import FIRST, PanelKey
from ui.model.reader import READER
from ui.model.trails import Trail

SEEK_WORK = 8000.0
"""Microseconds of replay in one frame while a seek is under way."""


EDIT_SHOWN_TICKS = 200
"""How long an edited cell stays marked on the map."""

Edits = dict[int, tuple[int, bool]]
"""By cell: the tick of its last edit, and whether it is blocked."""


@dataclass(frozen=True)
class Panel:
    """What one panel shows: an agent of one of the worlds on screen, or a crowd under the number of its first."""

    key: PanelKey
    world: World  # its own: that of the branch which the agent belongs to
    snapshot: Snapshot  # of that world
    view: WalkerView  # of a crowd, all of them as one
    branch: str = ""  # name of the branch, where several are shown
    crowd: Crowd | None = None  # where it shows all agents of a group
    member: WalkerView | None = None  # the one of them whose mind is shown

    @property
    def mind(self) -> WalkerView | None:
        """The agent whose search, path and trail are drawn; None: of a crowd nobody was chosen."""
        return self.view if self.crowd is None else self.member

    @property
    def subject(self) -> WalkerView:
        """Whose ends and lines are drawn: that agent, or of a crowd all as one where nobody was chosen."""
        return self.mind or self.view


@dataclass
class Told:
    """What whoever looks is to know; they show and clear it."""

    messages: list[str] = field(default_factory=list)  # about the run, until something is done to it
    lasting: list[str] = field(default_factory=list)  # true whatever is done to the run
    alarms: list[str] = field(default_factory=list)  # what must not be missed: the run is not the one that was saved


@dataclass(frozen=True)
class RunState:
    """A run as plain values. Keyframes would hold its memory."""

    scenario: Scenario
    branches: tuple[BranchState, ...]
    groups: tuple[tuple[int, ...], ...]
    front: int
    shown: tuple[int, ...]
    order: tuple[PanelKey, ...]


class Run:
    """`told` collects what whoever looks is to know."""

    def __init__(
        self,
        scenario: Scenario,
        tree: BranchTree,
        front: int = ROOT,
        shown: Iterable[int] = (),
        told: Told | None = None,
    ) -> None:
        self.scenario = scenario
        self.tree = tree
        self.told = told or Told()
        self.front = front if front in tree.branches else next(iter(tree.branches))
        self.shown = [number for number in dict.fromkeys(shown) if number in tree.branches] or [self.front]
        self.order: list[PanelKey] = []  # of all panels that there ever were in the branches that there are
        self.trails: dict[PanelKey, Trail] = {}
        self._followers: dict[PanelKey, Follower] = {}  # of crowds
        self._trail_of: dict[PanelKey, int | None] = {}  # of crowds: whose trail their panel has
        self._said: set[tuple[int, str]] = set()  # of notes and divergences, once each
        self._panels: tuple[Panel, ...] | None = None
        self._edits: dict[int, tuple[int, Edits]] = {}  # by branch: the version of its map, and the edits on that
        self.changed()

    def look_after_keyframes(self, most_bytes: int | None, *, beside: bool) -> None:
        """The most memory for going back in time, None: as much as the run itself takes; and who reads it."""
        self.tree.store.beside = READER if beside else None
        self.tree.store.budget = most_bytes

    def state(self) -> RunState:
        """All of it as plain values."""
        _ = self.panels  # those that have come get a place in the order
        groups, order = tuple(map(tuple, self.tree.groups())), tuple(self.order)
        return RunState(self.scenario, tuple(self.tree.states()), groups, self.front, tuple(self.shown), order)

    # --- branches ---------------------------------------------------------------------------------

    @property
    def shown_branches(self) -> list[Branch]:
        return [self.tree[number] for number in self.shown]

    @property
    def timeline(self) -> Timeline:
        """That of the branch in front."""
        return self.tree[self.front].timeline

    @property
    def world(self) -> World:
        return self.timeline.world

    @property
    def generation(self) -> tuple[tuple[int, int], ...]:
        """Another one whenever pictures have to begin anew."""
        return tuple((b.number, b.timeline.generation) for b in self.tree.branches.values())

    def show(self, numbers: Iterable[int]) -> None:
        """Have these branches on screen, at the tick of those that are there; the one in front stays if it can."""
        tick, before = self.clock, set(self.shown)
        self.shown = [number for number in dict.fromkeys(numbers) if number in self.tree.branches] or self.shown
        for number in set(self.shown) - before:
            self.tree[number].timeline.begin_seek(tick)
        if self.front not in self.shown:
            self.front = self.shown[0]
        self.begin_seek(tick) if set(self.shown) - before else self.changed()

    def delete(self, number: int) -> None:
        """End a branch. The last one cannot go."""
        if len(self.tree.branches) == 1:
            raise ConfigError("the only branch cannot be deleted")
        others = [shown for shown in self.shown if shown != number]
        self.show(others or [next(other for other in self.tree.branches if other != number)])
        self.tree.delete(number)
        self.changed()

    # --- time -------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """The tick that is shown in front, or that a seek is under way to."""
        return self.timeline.target

    @property
    def furthest(self) -> int:
        """The tick of the branch that has come furthest; one that is over waits for the others."""
        return max(branch.timeline.target for branch in self.shown_branches)

    @property
    def clock(self) -> int:
        """The tick of the branch in front; where that one is over, of those that still go on, or of the furthest."""
        if len(self.shown) == 1 or not self.timeline.is_over:
            return self.tick
        return max((b.timeline.target for b in self.shown_branches if not b.timeline.is_over), default=self.furthest)

    @property
    def is_over(self) -> bool:
        return all(branch.timeline.is_over for branch in self.shown_branches)

    @property
    def recorded_end(self) -> int:
        return max(branch.timeline.recorded_end for branch in self.shown_branches)

    @property
    def end(self) -> int:
        """The last tick that a branch on screen has reached, on record now or before its past was changed."""
        return max(branch.timeline.end for branch in self.shown_branches)

    @property
    def is_seeking(self) -> bool:
        return any(branch.timeline.is_seeking for branch in self.shown_branches)

    def begin_seek(self, tick: int) -> None:
        """Set out for another tick, all branches on screen together."""
        for branch in self.shown_branches:
            branch.timeline.begin_seek(max(0, tick))
        if not self.continue_seek():
            self.changed()

    def continue_seek(self, work: float | None = None) -> bool:
        """Go on with the seek, for a frame's worth of work if nothing else is said; whether it has arrived."""
        if not self.is_seeking:
            return True
        work = SEEK_WORK if work is None else work
        arrived = [branch.timeline.continue_seek(work / len(self.shown)) for branch in self.shown_branches]
        if all(arrived):
            self.changed()
        return all(arrived)

    def seek(self, tick: int) -> None:
        self.begin_seek(tick)
        for branch in self.shown_branches:
            branch.timeline.settle()
        self.changed()

    def make_whole(self) -> None:
        """After an error in the middle of something: make the worlds on screen anew, at their last whole tick."""
        for branch in self.shown_branches:
            branch.timeline.make_whole()
        self.changed()

    def advance(self, ticks: int) -> int:
        """Let ticks pass; fewer when the world is over."""
        passed = max(branch.timeline.advance(ticks, is_shown=True) for branch in self.shown_branches)
        self.changed()
        return passed

    @property
    def is_being_read(self) -> bool:
        """Whether a keyframe of a branch on screen is read at this moment."""
        return any(branch.timeline.is_being_read for branch in self.shown_branches)

    def hurry(self) -> None:
        """A tick waits for what is read in another thread."""
        self.tree.store.hurry()

    @property
    def is_measuring(self) -> bool:
        """Whether numbers are still to come that no tick is needed for."""
        return any(branch.timeline.is_measuring for branch in self.shown_branches)

    def go_on_measuring(self) -> None:
        """While no tick passes, measure what is still unknown, a little in each frame."""
        went_on = [branch.timeline.go_on_measuring() for branch in self.shown_branches]
        if any(went_on):
            self.changed()

    @property
    def is_recording(self) -> bool:
        """Whether a change of the past has left ticks to compute up to the old end."""
        return any(branch.timeline.is_recording for branch in self.shown_branches)

    def continue_recording(self, work: float = SEEK_WORK) -> bool:
        """While no tick passes, compute on to the old end for a frame's worth of work; whether ticks are left."""
        lines = [branch.timeline for branch in self.shown_branches if branch.timeline.is_recording]
        goes_on = [line.continue_recording(work / len(lines)) for line in lines]
        return any(goes_on)

    def digests(self) -> tuple[str, ...]:
        """Of all branches on screen."""
        return tuple(branch.timeline.world.digest() for branch in self.shown_branches)

    # --- commands ---------------------------------------------------------------------------------

    def do(self, command: Command, stroke: int = 0) -> int:
        """Apply a command now to the branch in front and to those that are linked with it.

        It is part of a stroke, or the first of one; returns the number of that.
        """
        known, before = set(self.tree.branches), self.timeline.entries()
        first, *_ = self.tree.do(self.front, command, stroke)
        new = set(self.tree.branches) - known
        for number in new:
            self.told.messages.append(f'the run as it was is kept as the branch "{self.tree[number].name}"')
        if not new:
            self._tell_removed(before)
        self.changed()
        return first.stroke

    def _tell_removed(self, before: Sequence[Entry]) -> None:
        """Say how many later edits a command has removed from the branch in front, and which branch has them."""
        kept = {entry.id for entry in self.timeline.entries()}
        strokes = {e.stroke for e in before if e.id not in kept and not isinstance(e.command, Serve)}
        others = [other.name for other in self.tree.branches.values() if other.timeline.entries() == before]
        if strokes and others:
            what, own = counted(len(strokes), "later edit"), self.tree[self.front].name
            self.told.messages.append(f'{what} removed from "{own}"; still in "{others[0]}"')

    def changed(self) -> None:
        """Something happened: look again at everything that is remembered here."""
        self._panels = None
        self._edits = {}
        self._forget_gone()
        for branch in self.shown_branches:
            if not branch.timeline.is_seeking:
                self._tell_divergence(branch)
                self._tell_notes(branch.timeline)
        self._tell_state_failures()
        self._follow_trails()

    def _forget_gone(self) -> None:
        """Drop what is kept for panels of deleted branches; undo restores a branch with its place in the order."""
        branches = self.tree.branches
        for kept in (self.trails, self._followers, self._trail_of):
            for key in [key for key in kept if key.branch not in branches]:
                del kept[key]
        if any(key.branch not in branches for key in self.order):
            self.order = [key for key in self.order if key.branch in branches]

    def _tell_notes(self, timeline: Timeline) -> None:
        for note in timeline.notes():
            if (note.tick, note.text) not in self._said:
                self._said.add((note.tick, note.text))
                self.told.messages.append(f"tick {note.tick}: {note.text}")

    def _tell_state_failures(self) -> None:
        """Say once for each agent of the user's that its state cannot be kept, and what follows from that."""
        for text in self.tree.store.failures.messages.values():
            if (0, text) not in self._said:
                self._said.add((0, text))
                self.told.lasting.append(text)

    def _tell_divergence(self, branch: Branch) -> None:
        """Say it once when a branch is found not to be what it was."""
        found = branch.timeline.divergence
        if found is None or not found.was or (branch.number, found.was) in self._said:
            return
        self._said.add((branch.number, found.was))
        who = f" Not as it was: {', '.join(found.agents)}." if found.agents else ""
        self.told.alarms.append(
            f'The branch "{branch.name}" is not the run that was saved, from tick {found.tick:,} on: its digest was '
            f"{found.was} and is {found.now} now.{who}"
        )

    def _follow_trails(self) -> None:
        """Every panel has a trail, also while a seek is under way: a saved run is drawn before it has arrived."""
        for branch in self.shown_branches:
            walkers = branch.timeline.world.walkers
            for walker in walkers:
                if not walker.config.group:
                    self._follow_trail(branch, PanelKey(branch.number, walker.id), walker)
            for members in groups_of(walkers).values():
                key = PanelKey(branch.number, members[0].id)
                self._follow_shown(branch, key, self._follower(branch, members), members)

    def _follow_trail(self, branch: Branch, key: PanelKey, walker: Walker) -> None:
        timeline, trail = branch.timeline, self.trails.get(key)
        if timeline.is_seeking and trail is not None:
            return  # the past may have been changed: the old world stays on screen with its old trail
        if not timeline.history.knows(walker.id):  # so it was, and where this agent came from is not known any more
            self.trails[key] = Trail(walker.position, walker.joined, timeline.world.grid)
            return
        record = timeline.history.record(walker.id)
        if trail is None or (trail.first_tick, trail.cells[0]) != (record.joined, record.start):
            trail = self.trails[key] = Trail(record.start, record.joined, timeline.world.grid)
        trail.follow(record, timeline.tick)

    # --- crowds -----------------------------------------------------------------------------------

    def _follower(self, branch: Branch, members: list[Walker]) -> Follower:
        """What follows a crowd, brought to the present unless that is being sought."""
        follower = self._followers.setdefault(PanelKey(branch.number, members[0].id), Follower())
        if not branch.timeline.is_seeking or follower.tick < 0:
            follower.follow(branch.timeline, members)
        return follower

    def _follow_shown(self, branch: Branch, key: PanelKey, follower: Follower, members: list[Walker]) -> None:
        """The trail in a crowd's panel is that of the agent whose mind is shown."""
        shown = next((walker for walker in members if walker.id == follower.shown), None)
        if self._trail_of.get(key) != follower.shown or key not in self.trails:
            first = shown or members[0]
            self.trails[key] = Trail(first.start, first.joined, branch.timeline.world.grid)
            self._trail_of[key] = follower.shown
        if shown is not None:
            self._follow_trail(branch, key, shown)

    def pick(self, key: PanelKey, agent: int | None) -> None:
        """Show the mind of one agent of a crowd, and follow it; None: of no one."""
        if (follower := self._followers.get(key)) is not None:
            follower.picked, follower.pointed = agent, None
            self.changed()

    def point_at(self, key: PanelKey | None, agent: int | None) -> None:
        """Show the mind of one agent of a crowd as long as the mouse is over it."""
        for other, follower in self._followers.items():
            pointed = agent if other == key else None
            if follower.pointed != pointed:
                follower.pointed = pointed
                self.changed()

    def crowd(self, key: PanelKey) -> Crowd | None:
        """The crowd of a panel."""
        return next((panel.crowd for panel in self.panels if panel.key == key), None)

    def labels_of(self, key: PanelKey) -> tuple[str, ...]:
        """What the agents of a crowd are called, in its order. For lists, not for frames: they may be thousands."""
        timeline, follower = self.tree[key.branch].timeline, self._followers.get(key)
        walkers = {walker.id: walker for walker in timeline.world.walkers}
        return timeline.labels_of(walkers[number] for number in (follower.agents if follower else ()))

    # --- panels -----------------------------------------------------------------------------------

    def walker(self, key: PanelKey) -> Walker | None:
        """The agent of a panel; of a crowd the one that was picked, or else the first."""
        branch = self.tree.branches.get(key.branch)
        follower = self._followers.get(key)
        picked = follower.picked if follower else None
        return branch.timeline.world.walker(key.agent if picked is None else picked) if branch else None

    def followed(self, key: PanelKey) -> Walker | None:
        """The agent that the camera goes with: in a crowd only one that was picked."""
        follower = self._followers.get(key)
        return self.walker(key) if follower is None or follower.picked is not None else None

    @property
    def panels(self) -> tuple[Panel, ...]:
        if self._panels is None:
            found = {panel.key: panel for branch in self.shown_branches for panel in self._panels_of(branch)}
            for key in found:
                if key not in self.order:
                    self.order.insert(self._place_of_new(key), key)
            self._panels = tuple(found[key] for key in self.order if key in found)
        return self._panels

    def _place_of_new(self, key: PanelKey) -> int:
        """The last place; of a crowd whose first agent has left, or is back after a seek, the one that it had."""
        members = set(follower.agents if (follower := self._followers.get(key)) else ())
        for place, other in enumerate(self.order):
            if other.branch == key.branch and other in self._followers and members & {*self._followers[other].agents}:
                return place + 1
        return len(self.order)

    def has_own_panel(self, key: PanelKey) -> bool:
        """Whether an agent has a panel for itself. This can be said without making the panels, which takes a look at
        every agent.
        """
        walker = self.walker(key) if key.branch in self.shown else None
        return walker is not None and walker.id == key.agent and not walker.config.group

    def _panels_of(self, branch: Branch) -> list[Panel]:
        world = branch.timeline.world
        snapshot = world.snapshot({walker.id for walker in world.walkers if not walker.config.group})
        name = branch.name if len(self.shown) > 1 else ""
        snapshot = replace(snapshot, walkers=_as_called(branch.timeline, snapshot.walkers))
        single = [Panel(PanelKey(branch.number, v.id), world, snapshot, v, name) for v in snapshot.walkers]
        crowds = [self._crowd_panel(branch, members, snapshot, name) for members in groups_of(world.walkers).values()]
        place = {walker.id: place for place, walker in enumerate(world.walkers)} if crowds else {}
        return sorted([*single, *crowds], key=lambda panel: place[panel.key.agent]) if crowds else single

    def _crowd_panel(self, branch: Branch, members: list[Walker], snapshot: Snapshot, name: str) -> Panel:
        world, key = branch.timeline.world, PanelKey(branch.number, members[0].id)
        crowd = self._follower(branch, members).crowd(world, members)
        # Looking at an agent may write to its memory, which nobody may do while a keyframe is read.
        chosen = None if branch.timeline.is_being_read else crowd.shown
        shown = _as_called(branch.timeline, [world.view(walker) for walker in members if walker.id == chosen])
        view = as_one(world, members[0], crowd)
        return Panel(key, world, snapshot, view, name, crowd, next(iter(shown), None))

    def arrange(self, order: Sequence[PanelKey]) -> None:
        """The panels in this order, others after them. Those that are not there at this tick keep their place, behind
        the one that they followed: a seek brings them back.
        """
        there, before, self.order = {panel.key for panel in self.panels}, self.order, list(order)
        for place, key in enumerate(before):
            if key not in there and key not in self.order:
                followed = [other for other in before[:place] if other in self.order]
                self.order.insert(self.order.index(followed[-1]) + 1 if followed else 0, key)
        self._panels = None

    def panel_of(self, key: PanelKey) -> int:
        """The place of a panel among the others."""
        return next((i for i, panel in enumerate(self.panels) if panel.key == key), 0)

    def compared(self, place: int) -> tuple[int, int]:
        """The places of the panels A and B that a heat map A - B compares; twice the same where there is only one.

        A is the panel at `place`. B is the same agent in the branch that A's comes from, or else in one that comes from
        A's, or else in any other; without such a panel it is the next one.
        """
        panels, count = self.panels, len(self.panels)
        a = min(place, max(0, count - 1))
        others = [(a + i) % count for i in range(1, count)]
        return a, min(others, key=lambda b: self._distance_of_kin(panels[a].key, panels[b].key), default=a)

    def _distance_of_kin(self, a: PanelKey, b: PanelKey) -> int:
        if b.agent != a.agent or b.branch == a.branch:
            return 3
        if self.tree[a.branch].parent == b.branch:
            return 0
        return 1 if self.tree[b.branch].parent == a.branch else 2

    # --- edits on the map -------------------------------------------------------------------------

    def shown_edits(self, panel: PanelKey = FIRST) -> Edits:
        """The cells that commands have edited lately in a panel's branch, those of the script too."""
        number, timeline = panel.branch, self.tree[panel.branch].timeline
        version, edits = self._edits.get(number, (-1, {}))
        if version != timeline.world.grid.version:  # commands of this tick may have been applied since
            edits = self._edited_lately(timeline)
            self._edits[number] = (timeline.world.grid.version, edits)
        return edits

    def _edited_lately(self, timeline: Timeline) -> Edits:
        """The edits on the map up to now, without those of this tick that are still to be applied."""
        world, now = timeline.world, timeline.tick
        free, last = world.grid.free, now - world.is_before_commands
        edited: Edits = {}
        for entry in timeline.entries():
            if entry.is_enabled and now - EDIT_SHOWN_TICKS <= entry.tick <= last:
                for cell in self.cells_of(entry.command):
                    edited[cell] = (entry.tick, not free[cell])
        return edited

    def cells_of(self, command: Command) -> Sequence[int]:
        """The cells of the map that a command is about."""
        return command.drawn(self.world.switches) if isinstance(command, MapEdit) else ()


def _as_called(timeline: Timeline, views: Sequence[WalkerView]) -> tuple[WalkerView, ...]:
    """The same with the names that the agents go by."""
    labels = timeline.labels_of(views)
    return tuple(v if v.label == label else replace(v, label=label) for v, label in zip(views, labels, strict=True))


# --- making one -----------------------------------------------------------------------------------


def begin(scenario: Scenario, *, most_bytes: int | None = None, told: Told | None = None) -> Run:
    """A run at tick 0."""
    scenario, problems = with_versions(scenario), list[str]()
    tree = BranchTree(world_maker(scenario, problems), most_bytes)
    run = Run(scenario, tree, told=told)
    run.told.messages += dict.fromkeys(problems)  # once, however often the world of tick 0 was made
    return run


def with_versions(scenario: Scenario) -> Scenario:
    """Agents of the user's own stay what their files are now, whatever is saved later."""
    agents = tuple(pinned(config) for config in scenario.agents)
    return scenario if agents == scenario.agents else replace(scenario, agents=agents)


def planted(scenario: Scenario, tree: BranchTree, front: int, shown: Iterable[int], told: Told | None = None) -> Run:
    """A run whose branches are on their way to their ticks; those on screen come to the one of the front together."""
    run = Run(scenario, tree, front, shown, told)
    run.begin_seek(run.tick)
    return run


def again(state: RunState, *, most_bytes: int | None = None, told: Told | None = None) -> Run:
    """A run that was left, on its way to the tick at which it was."""
    tree = BranchTree.restored(world_maker(state.scenario), state.branches, most_bytes)
    tree.relink(state.groups)
    run = planted(state.scenario, tree, state.front, state.shown, told)
    run.arrange(state.order)
    return run


def world_maker(
    scenario: Scenario, problems: list[str] | None = None, *, measures_at_once: bool = False
) -> Callable[[], World]:
    """What makes the world of tick 0 to be watched; agents that are not legal are left out, and `problems` told.

    Its true distances are measured in pieces where somebody waits for frames.
    """

    def complain(error: ConfigError) -> None:
        if problems is not None:
            problems.extend(error.problems)

    def make() -> World:
        world = build_world(scenario, BY_KEY, complain=complain, watched=True)
        if not measures_at_once:  # else it is for pictures, which are to be the same each time
            world.clock = time.perf_counter
            world.measuring.allowance = A_TICK
        return world

    return make
