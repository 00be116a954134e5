"""World: one map, the agents on it and the order of events. The referee (referee.py) decides which moves are legal.

Agents do not collide: each one solves its problem on its own. One tick consists of the random change of the map, the
commands due, and then for each agent in order: plan, act, be judged. Only random changes and commands can come between
two ticks of an agent, so `advance(1000)` computes the same as 1000 calls of `advance(1)`, in fewer kernel calls.
`advance`, `_apply_due`, `_run` and `_run_those` implement a tick.

Agents of one kind advance together in batches (class `AgentBatch`, crew.py), each with the result it would have alone.
"""

from bisect import insort_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import changes, joining
from sim.agent_api import AgentSpec, Problem, Specs, Status
from sim.changes import NO_EVENT, RandomChanges
from sim.commands import MAX_AGENTS, MAX_SWITCHES, AgentConfig, Command, Note
from sim.crew import AgentBatch, BatchSteps, prefault_pages
from sim.grid import Grid, MapChange, SeenGrid
from sim.kernels import log
from sim.kernels.distance import UNLIMITED
from sim.kernels.referee import new_metrics
from sim.kernels.stale import GenerationTable
from sim.kernels.tiled import Table, new_table, width_of_tiles
from sim.measuring import OptimalityTracker
from sim.metrics import Metrics, read_metrics
from sim.params import ConfigError, Value, did_you_mean
from sim.placing import cheapest_way, cheapest_ways, may_have_changed
from sim.referee import Referee
from sim.rules import wrong_row
from sim.tick_timer import TickTimer
from sim.turns import BatchPlan, BatchPlanCache
from sim.walker import Walker, WalkerView

BULK = 4096  # maximum of ticks in one kernel call
# Attributes that describe the last advance or this machine; keyframes leave them out.
_TRANSIENT = ("_active", "activity_version", "walked", "_timer")
_FEW_REFUSED = 3  # maximum of refused cells that are named one by one in notes
_MAX_ROWS = 1 << 20  # maximum of rows in one kernel call, all agents together


@dataclass(frozen=True)
class Snapshot:
    """Read-only view of the whole world, valid until the next tick."""

    tick: int
    grid: Grid
    start: int
    goal: int
    budget: int
    switches: Mapping[str, bool]
    walkers: tuple[WalkerView, ...]


class World:
    """One map with its agents, its queue of commands and its time, counted in ticks."""

    is_live = True
    """Flag: ticks are computed for the first time, so `clock` may limit them. Replays obey Serve commands instead."""

    clock: Callable[[], float] | None = None
    """Clock in seconds for time limits and for display: it measures each batch as a whole and each unbatched agent.
    With a `stopwatch`, which measures every agent, there are no batches.
    """

    walked: Sequence[Walker] = ()
    """Unbatched walkers that produced rows in the last `advance()`. A batch holds the rows of its own walkers."""

    activity_version = 0
    """Version counter, incremented whenever the state of any agent may have changed: it acted, waited for a path, or
    commands or a random change were applied.
    """

    _active = 0  # index of a walker that was active at the last check

    _timer: TickTimer | None = None  # created in the first tick that a clock limits

    def __init__(
        self,
        grid: Grid,
        start: int,
        goal: int,
        specs: Mapping[str, AgentSpec],
        *,
        budget: int = 1,
        seed: int = 0,
        switches: Mapping[str, tuple[int, ...]] | None = None,
        random_changes: RandomChanges | None = None,
        watched: bool = False,
        measures: bool = True,
        stopwatch: Callable[[], float] | None = None,
        trials: int = 1,
        tick_ms: float = 0.0,
    ) -> None:
        """Create a world without agents, at tick 0.

        Args:
            grid: map, which the world edits.
            start: start cell of agents that have no start of their own.
            goal: goal cell of agents that have no goal of their own.
            specs: known algorithms by key.
            budget: maximum of expansions per agent and tick; agents may have a budget of their own.
            seed: seed of random changes; the seeds of agents are derived from it.
            switches: cells of each named switch.
            random_changes: random changes of the map; None: none.
            watched: whether ungrouped agents count expansions per cell, for drawing.
            measures: whether to count non-optimal moves.
            stopwatch: clock that measures the planning of each agent; it never influences the simulation.
            trials: maximum of walks from start to goal of agents that learn h; they stop earlier when converged.
            tick_ms: milliseconds per tick for all agents together, if there is a `clock`; 0: no limit.

        Raises:
            ConfigError: start or goal is not a free cell of the map.
        """
        joining.check_ends(grid, start, goal)
        self.grid, self.start, self.goal = grid, start, goal
        self.specs = specs if isinstance(specs, Specs) else dict(specs)
        self.budget, self.seed = budget, seed
        self.switches = dict(switches or {})
        self.random_changes = random_changes or RandomChanges(1, 0.0)
        self.watched, self.measures, self.stopwatch = watched, measures, stopwatch
        self.trials = trials
        self.tick_ms = tick_ms
        self.served: list[tuple[int, int]] = []  # (tick, agents served) of ticks that ended before all were served
        self._served_now: int | None = None  # agents to serve in the coming tick, set by a Serve command
        self._next_turn = 0  # id of the agent to serve first in the next tick with a time limit
        self.tick = 0
        self.walkers: list[Walker] = []
        self._singled_out: set[int] = set()  # ids of group members with per-cell instrumentation
        self.notes: list[Note] = []
        self.changing_s: dict[int, float] = {}  # seconds spent in `on_change` by agent id, measured by `stopwatch`
        # Seconds that unbatched agents took in the last advance by agent id, measured by `clock`.
        self.alone_s: dict[int, float] = {}
        self._seating = BatchPlanCache()
        self._queue: list[tuple[int, Command]] = []
        self._next_id = 0
        self._event = NO_EVENT
        self._event_tick = -1  # last tick whose random change was handled, which happens once and before its commands
        self._applying: Command | None = None
        self._changed_map = b""  # rolling digest of all map changes
        self.measuring = OptimalityTracker(grid, goal, start, measures, is_watched=watched)
        self.referee = Referee(grid, self.measuring, self._seating, self.notes, stopwatch)
        self.optimal, self.optimal_moves = self.measuring.cheapest_way(start)
        self._goal_tick = 0  # last tick in which the shared goal was set
        self._is_optimal_old = False  # whether `optimal` may belong to an earlier map, see _note_old_optima
        self._last_goal_tick = 0  # last tick in which any agent got a goal
        self._redrawn: list[npt.NDArray[np.int32]] = []  # cells that changed in `_last_goal_tick`
        self._old_own: set[int] = set()  # ids of agents whose `own_optimal` may belong to an earlier map

    # --- adding agents and commands ---------------------------------------------------------------

    def add(self, config: AgentConfig, agent_id: int | None = None) -> Walker:
        """Put an agent on its start cell.

        Args:
            config: algorithm, parameters and start and goal of the agent.
            agent_id: id of the agent, by default the next one. An id counts as used even if `config` is invalid.

        Returns:
            The new walker.

        Raises:
            ConfigError: `config` is invalid, the id is taken, or the world is full. It lists all problems found.
        """
        self.check_room()
        number = self._next_id if agent_id is None else agent_id
        if self.walker(number) is not None:
            raise ConfigError(f"agent: there is an agent {number} already")
        self._next_id = max(self._next_id, number + 1)
        spec, params, budget = self.check_agent(config)
        own_start, own_goal = joining.own_ends(self.grid, config)
        start = self.start if own_start is None else own_start
        goal = self.goal if own_goal is None else own_goal
        has_own = (own_start, own_goal) != (None, None)
        problem = self._problem(config, number, (start, goal), budget)
        visits: Table = new_table("visits", self.grid.cells, np.uint32, problem.tile_width)
        walker = Walker(
            id=number,
            config=config,
            spec=spec,
            params=params,
            agent=spec.make(problem, params),
            metrics=new_metrics(start, visits),
            visit_table=visits,
            budget=config.budget,
            joined=self.tick,
            start=start,
            own_goal=own_goal,
            own_optimal=cheapest_way(self.grid, start, goal) if has_own else None,
            goal_tick=self.tick,
            most_trials=self.trials if spec.keeps_h else 1,
        )
        walker.trial_began = walker.trial_counts(1)
        if walker.has_arrived:
            self.referee.end_trial(walker)
        self.walkers.append(walker)
        self._last_goal_tick = self.tick
        return walker

    def check_room(self) -> None:
        """Raise a ConfigError if the world has MAX_AGENTS agents, the maximum that files may list."""
        if len(self.walkers) >= MAX_AGENTS:
            raise ConfigError(f"agents: expected at most {MAX_AGENTS:,} agents, got one more")

    def _problem(self, config: AgentConfig, number: int, ends: tuple[int, int], budget: int) -> Problem:
        """Return the problem that an agent has to solve.

        Members of a group get tables in tiles and no per-cell instrumentation: with 500 agents it would exhaust memory.
        """
        is_one_of_many = bool(config.group) and number not in self._singled_out
        width = width_of_tiles(self.grid.width) if is_one_of_many else 0
        grid = SeenGrid(self.grid) if self.specs[config.kind].is_own else self.grid
        seed = joining.seed_of(self.seed, number)
        return Problem(grid, *ends, seed, budget, self.watched and not is_one_of_many, width)

    def instrument(self, agent: int) -> None:
        """Instrument a member of a group like an ungrouped agent.

        The agent may join later. If it is present already it is rebuilt, so it must not have acted yet.
        """
        self._singled_out.add(agent)
        walker = self.walker(agent)
        if walker is not None and walker.config.group:
            assert walker.joined == self.tick and not walker.metrics[0].ticks
            ends, budget = (walker.start, self.goal_of(walker)), walker.budget or self.budget
            walker.agent = walker.spec.make(self._problem(walker.config, agent, ends, budget), walker.params)
            self._seating.is_old = True

    def check_agent(self, config: AgentConfig, where: str = "agent") -> tuple[AgentSpec, dict[str, Value], int]:
        """Return the spec, all parameters and the effective budget of a configuration.

        Raises:
            ConfigError: the configuration is invalid. It lists all problems; `where` begins each message.
        """
        return joining.check_agent(self.specs, config, self.budget, where)

    def submit(self, command: Command, tick: int | None = None) -> None:
        """Queue a command for a tick, by default for the present one, whose agents have not acted yet."""
        due = self.tick if tick is None else tick
        assert due >= self.tick, (due, self.tick)
        insort_right(self._queue, (due, command), key=itemgetter(0))

    def submit_all(self, timed: Iterable[tuple[int, Command]]) -> None:
        """Queue commands with their ticks."""
        for tick, command in timed:
            self.submit(command, tick)

    def replace_queue(self, timed: Iterable[tuple[int, Command]]) -> list[tuple[int, Command]]:
        """Replace the queued commands by `timed`, and return the commands that were queued."""
        waiting, self._queue = self._queue, []
        self.submit_all(timed)
        return waiting

    @property
    def next_agent_id(self) -> int:
        """Return the id of the next agent."""
        return self._next_id

    def walker(self, agent_id: int) -> Walker | None:
        """Return the walker of an agent, or None if there is no such agent."""
        return next((w for w in self.walkers if w.id == agent_id), None)

    # --- time -------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Return whether nothing can happen any more: every agent is done and no command is queued.

        A world is not over while random changes are due that may open a path for an agent without one.
        """
        if self._queue or self._is_anyone_active():
            return False
        waits = any(w.agent.status is Status.NO_PATH for w in self.walkers)
        return not (waits and self.random_changes.next_after(self.tick) is not None)

    def _is_anyone_active(self) -> bool:
        """Return whether any walker can still act.

        The walker found active by the last call is checked first: checking all walkers of a crowd in every tick would
        be slow once most of them have arrived.
        """
        if self._active < len(self.walkers) and not self.walkers[self._active].is_done:
            return True
        found = next((place for place, walker in enumerate(self.walkers) if not walker.is_done), None)
        self._active = found or 0
        return found is not None

    def prepare(self) -> None:
        """Form the batches and touch the memory of the first ticks in advance.

        For hundreds of agents this takes as long as several ticks, which would otherwise delay the first tick.
        """
        self._turns()
        if self.random_changes.next_after(self.tick) is not None:
            _ = self.grid.original_cells  # fills a cache; takes some ms for a million cells
        for walker in self.walkers:
            if getattr(walker.agent, "batch_kernel", None) is not None:
                prefault_pages(self.grid, walker, self.goal)

    @property
    def _longest_run(self) -> int:
        """Return the maximum of ticks in one kernel call, such that the rows of a batch fit into memory."""
        return BULK if len(self.walkers) <= _MAX_ROWS // BULK else max(1, _MAX_ROWS // len(self.walkers))

    def apply_now(self) -> None:
        """Apply everything due at this tick without advancing time, so that its effect shows in a paused window."""
        self._apply_due()

    @property
    def is_before_commands(self) -> bool:
        """Return whether nothing that is due at this tick has been applied yet."""
        return self._event_tick != self.tick

    def ticks_to_next_event(self) -> int:
        """Return the number of ticks until the next command or random change; BULK if none will come."""
        event = self.random_changes.next_after(self.tick)
        due = self.tick + BULK if event is None else event
        return (min(due, self._queue[0][0]) if self._queue else due) - self.tick

    # --- a tick: commands first, then agents ------------------------------------------------------

    def advance(self, ticks: int) -> int:
        """Advance by up to `ticks` ticks and return how many have passed.

        The call ends early when the world is over, and after a tick in which agents had to wait for their turn: the
        rows of one advance must belong to consecutive ticks, and a waiting agent writes no row.
        """
        settled = self._begin_advance()
        passed, has_ended = 0, self.is_over
        while passed < ticks and not has_ended:
            has_applied = self._apply_due()
            while self.refresh_optima(int(UNLIMITED)):
                pass
            if has_applied and self.is_over:
                break
            if self._is_limited or self._served_now is not None:
                before = self.tick
                has_ended = not self._run_in_turn() or self.is_over
                passed += self.tick - before
            else:
                passed += self._run(min(ticks - passed, self._longest_run, self.ticks_to_next_event()))
                has_ended = self.is_over
        self._end_advance(settled)
        return passed

    def _apply_due(self) -> bool:
        """Apply the random change and the commands due at this tick; return whether there were any."""
        has_applied = False
        if self._event_tick != self.tick:
            self._event_tick = self.tick
            if self.random_changes.is_due(self.tick):
                self._redraw_map()
                has_applied = True
        while self._queue and self._queue[0][0] <= self.tick:
            self._applying = self._queue.pop(0)[1]
            self._applying.apply(self)
            has_applied = True
        self._applying = None
        self.activity_version += has_applied
        return has_applied

    def _run(self, ticks: int) -> int:
        """Let every agent plan and act for up to `ticks` ticks without a command in between; return ticks passed."""
        turns = self._turns()
        passed = self._run_those(turns, ticks) if turns.are_any_awake else ticks
        self.tick += passed
        self.measuring.spend(passed)
        return passed

    def _run_those(self, turns: BatchPlan, ticks: int) -> int:
        """Let all batches, and the unbatched walkers in `turns.awake`, plan and act; return ticks passed.

        Fewer than `ticks` ticks pass only if the world is over before.
        """
        stints = [self._run_crew(crew, ticks) for crew in turns.crews]
        done = [self._run_timed(walker, ticks) for walker in turns.awake]
        # A tick in which an agent was stopped has passed, although that agent has no row for it.
        longest = max([0, self.referee.last_stop + 1 - self.tick, *done, *(int(stint.done.max()) for stint in stints)])
        passed = longest if longest < ticks and self.is_over else ticks
        self._count_waits(turns, stints, done, passed)
        if min(done, default=passed) < passed:
            turns.refresh_runnable()
        self.activity_version += 1
        return passed

    def _begin_advance(self) -> BatchPlan | None:
        """Discard the rows of the last advance. Return `BatchPlanCache.settled()` as it is before this advance."""
        settled = self._seating.settled(self.walkers)
        for walker in self.walkers if settled is None else settled.alone:
            if walker.seat is None:
                walker.begin_advance()
        for crew in self.crews:
            crew.forget_rows()
        self.alone_s.clear()
        return settled

    def _end_advance(self, settled: BatchPlan | None) -> None:
        """Set `walked`, and join the rows of its walkers.

        Args:
            settled: return value of `_begin_advance`. If it is still valid, walkers of batches are skipped.
        """
        among = settled.alone if settled is not None and settled is self._seating.turns else self.walkers
        self.walked = [walker for walker in among if walker.new_rows]
        for walker in self.walked:
            walker.put_rows_together()

    def _count_waits(self, turns: BatchPlan, stints: list[BatchSteps], done: list[int], passed: int) -> None:
        """Count the ticks in which agents waited because there was no path.

        Args:
            turns: batches and unbatched walkers that have advanced.
            stints: rows of each batch.
            done: number of ticks in which each walker of `turns.awake` acted.
            passed: number of ticks that have passed.
        """
        for walker in turns.stuck:
            walker.wait(passed)
        for walker, own in zip(turns.awake, done, strict=True):
            if own < passed and walker.agent.status is Status.NO_PATH:
                walker.wait(passed - own)
        for crew, stint in zip(turns.crews, stints, strict=True):
            for i in np.flatnonzero((stint.done < passed) & (crew.results["status"] == Status.NO_PATH)).tolist():
                crew.walkers[i].wait(passed - int(stint.done[i]))

    @property
    def crews(self) -> Sequence[AgentBatch]:
        """Return the present batches; there are none before the first advance."""
        return self._seating.turns.crews if self._seating.turns is not None else ()

    @property
    def _is_limited(self) -> bool:
        """Return whether a clock limits how many agents plan in a tick."""
        return self.tick_ms > 0.0 and self.is_live and self.clock is not None

    def _run_in_turn(self) -> bool:
        """Run a tick in which agents plan in round-robin order until its time is spent; the others wait for a turn.

        If agents were left waiting, `served` gets the number of agents served: a Serve command with that number
        repeats the tick on any machine.

        Returns:
            Whether all agents were served.
        """
        most, self._served_now = self._served_now, None
        timer = self._timer_of_tick() if most is None else None
        turns = self._turns()
        queue, idle = self._in_turn()
        for crew in turns.crews:
            crew.begin(self.budget, 1)
        served, limit = 0, len(queue) if most is None else min(most, len(queue))
        while served < limit and (batch := timer.next_batch(served) if timer else limit):
            served += self._serve(queue[served : min(served + batch, limit)], turns)
        for crew in turns.crews:
            self._take_in(crew, crew.end(self.tick))
        for walker in (*idle, *queue[served:]):
            walker.wait(1)
        if served < len(queue):
            self._next_turn = queue[served].id
            if most is None:
                self.served.append((self.tick, served))
        self.activity_version += 1
        self.tick += 1
        self.measuring.spend(1)
        if timer:
            timer.end()
        return served == len(queue)

    def _timer_of_tick(self) -> TickTimer | None:
        """Start the timer of this tick and return it; None without a clock."""
        if self.clock is None:
            return None
        self._timer = self._timer or TickTimer()
        self._timer.begin(self.clock, self.tick_ms / 1000.0)
        return self._timer

    def _in_turn(self) -> tuple[list[Walker], list[Walker]]:
        """Return the agents that can act, in round-robin order from `_next_turn` on, and those without a path."""
        active, without_path = [], []
        for walker in self.walkers:
            if not walker.is_done:
                active.append(walker)
            elif walker.agent.status is Status.NO_PATH:
                without_path.append(walker)
        first = next((i for i, walker in enumerate(active) if walker.id >= self._next_turn), 0)
        return active[first:] + active[:first], without_path

    def _serve(self, queue: list[Walker], turns: BatchPlan) -> int:
        """Let the first agent of `queue` plan and act, with the agents after it that follow it in its batch.

        Returns:
            The number of agents served.
        """
        count = turns.contiguous_prefix_length(queue)
        if not count:
            self._run_timed(queue[0], 1)
            return 1
        crew, first = turns.seats[queue[0].id]
        crew.serve(self.grid, self.tick, slice(first, first + count), self.clock)
        return count

    def _run_crew(self, crew: AgentBatch, ticks: int) -> BatchSteps:
        """Let a batch plan and act for `ticks` ticks; return its rows, checked by the referee."""
        return self._take_in(crew, crew.run(self.grid, self.tick, self.budget, ticks, self.clock))

    def _take_in(self, crew: AgentBatch, stint: BatchSteps) -> BatchSteps:
        """Apply the results of a batch: stop agents that broke a rule, and end the trials of agents that arrived.

        Returns:
            `stint`, with `done` reduced to the legal rows.
        """
        for i in np.flatnonzero(crew.results["legal"] < stint.done).tolist():
            walker, row = crew.walkers[i], int(crew.results["legal"][i])
            stint.done[i] = row
            self.referee.stop(walker, wrong_row(self.grid, walker.position, stint.rows[i], row), self.tick + row)
        for i in np.flatnonzero((crew.results["status"] == Status.AT_GOAL) & (stint.done > 0)).tolist():
            stint.rows["marks"][i, stint.done[i] - 1] |= log.ARRIVED
            self.referee.verify_status(crew.walkers[i], self.tick + int(stint.done[i]) - 1)
            self.referee.end_trial(crew.walkers[i])
        return stint

    def _turns(self) -> BatchPlan:
        """Return the batches and the unbatched walkers, brought up to date."""
        return self._seating.now(self.walkers, self._able)

    def _able(self) -> list[Walker]:
        """Return the walkers that may be in a batch.

        In a batch, neither the planning time nor the non-optimal moves of a single agent are measured.
        """
        if self.stopwatch is not None:
            return []
        return [walker for walker in self.walkers if walker.own_goal is not None or not self.measuring.is_on]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _TRANSIENT}

    def _run_timed(self, walker: Walker, ticks: int) -> int:
        before = self.clock() if self.clock else 0.0
        done = self.referee.run_walker(walker, self.tick, ticks, walker.budget or self.budget)
        if self.clock:
            self.alone_s[walker.id] = self.alone_s.get(walker.id, 0.0) + self.clock() - before
        return done

    # --- interface for commands, see commands.Changeable ------------------------------------------

    def edit_cells(self, blocked: Sequence[int], freed: Sequence[int]) -> None:
        """Block some cells and free others. Cells that agents occupy stay free, with a note."""
        self._edit(np.asarray(blocked, np.int32), np.asarray(freed, np.int32))

    def _edit(self, blocked: npt.NDArray[np.int32], freed: npt.NDArray[np.int32]) -> None:
        self.measuring.prepare_change()
        self._announce(self.grid.edit(blocked[self._may_block(blocked)], freed))

    def set_switch(self, name: str, is_blocked: bool) -> None:
        """Block or free all cells of a switch. An unknown name is noted."""
        if name not in self.switches:
            self.note(f"no switch '{name}'{did_you_mean(name, self.switches)}")
            return
        group, none = np.asarray(self.switches[name], np.int32), np.empty(0, np.int32)
        self._edit(*((group, none) if is_blocked else (none, group)))

    def name_switch(self, name: str, cells: Sequence[int]) -> None:
        """Define or redefine a switch; without cells, delete it. Too many switches are refused with a note."""
        if not cells:
            self.switches.pop(name, None)
        elif name in self.switches or len(self.switches) < MAX_SWITCHES:
            self.switches[name] = tuple(int(cell) for cell in cells)
        else:
            self.note(f"'{name}' is no switch: there are {MAX_SWITCHES} already")

    def put_terrain(self, cells: Sequence[int], letters: str) -> None:
        """Give cells exact characters. Cells that agents occupy are not blocked, with a note."""
        places, characters = np.asarray(cells, np.int32), np.frombuffer(letters.encode("ascii"), np.uint8)
        allowed = self.grid.is_passable_letter(characters)
        allowed[~allowed] = self._may_block(places[~allowed])
        self.measuring.prepare_change()
        self._announce(self.grid.put_terrain(places[allowed], characters[allowed]))

    def _may_block(self, cells: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return which of `cells` may be blocked: all but those occupied by agents. Refused cells are noted."""
        refused = np.isin(cells, self._positions())
        if refused.sum() > _FEW_REFUSED:
            self.note(f"{refused.sum():,} of {cells.size:,} cells stay free: agents stand on them")
        for cell in cells[refused].tolist() if refused.sum() <= _FEW_REFUSED else ():
            label = [w.label for w in self.walkers if w.position == cell][-1]
            x, y = self.grid.xy(cell)
            self.note(f"({x}, {y}) stays free: {label} stands on it")
        if self.goal in cells:
            self.note("the goal is blocked: agents wait until it is free again")
        return ~refused

    def _positions(self) -> list[int]:
        """Return the cells that agents occupy. For each batch, one kernel call reads all of them."""
        settled = self._seating.settled(self.walkers)
        if settled is None:
            return [walker.position for walker in self.walkers]
        cells = [cell for crew in settled.crews for cell in crew.positions().tolist()]
        return [*cells, *(walker.position for walker in settled.alone)]

    def _redraw_map(self) -> None:
        """Undo the last random change and draw the next as one edit, so that agents see only the difference."""
        own_goals = {w.own_goal for w in self.walkers if w.own_goal is not None}
        protected = np.array([*self._positions(), self.goal, *sorted(own_goals)])
        event = changes.draw(self.grid, self.random_changes, self.seed, self.tick, protected)
        self._event, edit = changes.put_in_place_of(self._event, event, self.grid, protected)
        self.measuring.prepare_change()
        self._announce(self.grid.edit(edit.blocked, edit.freed))

    def _announce(self, change: MapChange) -> None:
        """Notify every agent of a map change, and invalidate distances and optima."""
        if not change.cells.size:
            return
        self._distances_changed()
        self._note_old_optima(change)
        self._changed_map = blake2b(self._changed_map + change.cells.tobytes(), digest_size=8).digest()
        told = self._notify_batches(change)
        for walker in self.walkers:
            if walker.id in told:
                continue
            self._seating.is_old = True  # the agent may replace its memory
            before = self.stopwatch() if self.stopwatch else 0.0
            walker.agent.on_change(change)
            if self.stopwatch:
                self.changing_s[walker.id] = self.changing_s.get(walker.id, 0.0) + self.stopwatch() - before

    def _notify_batches(self, change: MapChange) -> Container[int]:
        """Notify the batches that are still valid of a map change; return the ids of the agents notified."""
        kept = self._seating.right(self.walkers)
        if kept is None:
            return ()
        return {number for crew in kept.crews if crew.tell(self.grid, change) for number in crew.ids}

    def move_goal(self, cell: int, agent: int | None = None) -> None:
        """Move the shared goal, or the goal of one agent, which has a goal of its own from then on.

        Args:
            cell: new goal. If it is blocked, a note is added and the goal does not move.
            agent: id of the agent; None: all agents without a goal of their own.
        """
        if not self._can_be_goal(cell):
            return
        if agent is not None:
            if (walker := self.walker(agent)) is None:
                self._note_missing(agent)
            else:
                self._move_own_goal(cell, walker, cheapest_way(self.grid, walker.start, cell))
            return
        self.measuring.prepare_change()
        self.goal, self._seating.is_old = cell, True
        self._distances_changed()
        self._goal_tick = self._last_goal_tick = self.tick
        self._find_optimum()  # on the present map: this goal may be blocked on the map of tick 0
        sharing = [walker for walker in self.walkers if walker.own_goal is None]
        from_own_start = [walker for walker in sharing if walker.own_optimal is not None]
        ways = cheapest_ways(self.grid, [walker.start for walker in from_own_start], cell)
        for walker, way in zip(from_own_start, ways, strict=True):
            walker.own_optimal = way
        for walker in sharing:
            walker.goal_tick = self.tick
            walker.agent.set_goal(cell)

    def move_goals(self, cell: int, agents: Sequence[int]) -> None:
        """Give many agents the same goal as goal of their own; one search finds the cheapest paths of all."""
        if not self._can_be_goal(cell):
            return
        chosen = set(agents)
        walkers = [walker for walker in self.walkers if walker.id in chosen]
        ways = cheapest_ways(self.grid, [walker.start for walker in walkers], cell)
        for walker, way in zip(walkers, ways, strict=True):
            self._move_own_goal(cell, walker, way)

    def _can_be_goal(self, cell: int) -> bool:
        if not self.grid.is_free(cell):
            self.note(f"the goal cannot be at {self.grid.xy(cell)}: that cell is blocked")
            return False
        return True

    def _move_own_goal(self, cell: int, walker: Walker, way: tuple[float, int | None]) -> None:
        """Move the own goal of a walker. `way`: cost and moves of the cheapest path there from its start."""
        if walker.own_goal is None:
            self.measuring.finish()  # last chance to judge its moves: agents with their own goal are not measured
            self._seating.is_void = True  # with its own goal it may join a batch
        walker.own_goal, walker.own_optimal, walker.goal_tick = cell, way, self.tick
        self._last_goal_tick = self.tick
        walker.config = replace(walker.config, goal=self.grid.xy(cell))
        walker.agent.set_goal(cell)
        self._seating.goals_changed()

    # The optimum of a goal is computed on the map on which an agent plans for it first. Edits in the tick in which the
    # goal was set belong to that map, such as walls drawn before the first tick.

    def _note_old_optima(self, change: MapChange) -> None:
        """Mark the optima of goals set in this tick as stale, because `change` belongs to their map."""
        if change.has_arcs:
            self._is_optimal_old |= self._goal_tick == self.tick
            if self._last_goal_tick == self.tick:
                self._redrawn.append(change.cells)

    @property
    def has_old_optima(self) -> bool:
        """Return whether any optimum may belong to an earlier map."""
        return self._is_optimal_old or bool(self._redrawn or self._old_own)

    def refresh_optima(self, expansions: int) -> bool:
        """Continue to recompute stale optima; call it until it returns False.

        Args:
            expansions: maximum of expansions for the shared optimum. For optima between own starts and goals, one
                call makes one complete search, for all agents with the same goal.

        Returns:
            Whether any optimum was stale when the call began.
        """
        if not self.has_old_optima:
            return False
        if self._is_optimal_old:
            if self.measuring.distance_within(self.start, expansions) is not None:
                self._find_optimum()
            return True
        self._old_own |= self._whose_ways_may_be_others()
        self._renew_those_of_one_goal([walker for walker in self.walkers if walker.id in self._old_own])
        return True

    def _whose_ways_may_be_others(self) -> set[int]:
        """Return the ids of agents that got a goal in this tick and whose cheapest path may have changed since."""
        if not self._redrawn:
            return set()
        changed, self._redrawn = np.concatenate(self._redrawn), []
        own = [(w, self.goal_of(w), w.own_optimal) for w in self.walkers if w.goal_tick == self.tick and w.own_optimal]
        starts, goals, costs = [w.start for w, _, _ in own], [goal for _, goal, _ in own], [way[0] for _, _, way in own]
        found = np.flatnonzero(may_have_changed(self.grid, starts, goals, costs, changed)).tolist()
        return {own[place][0].id for place in found}

    def _renew_those_of_one_goal(self, walkers: Sequence[Walker]) -> None:
        """Recompute the optima of the walkers that share the goal of the first one, in one search for all.

        The ids of the other walkers remain in `_old_own`.
        """
        goal = self.goal_of(walkers[0]) if walkers else -1
        same = [walker for walker in walkers if self.goal_of(walker) == goal]
        ways = cheapest_ways(self.grid, [walker.start for walker in same], goal)
        for walker, way in zip(same, ways, strict=True):
            walker.own_optimal = way
        self._old_own = {walker.id for walker in walkers} - {walker.id for walker in same}

    def _find_optimum(self) -> None:
        self.optimal, self.optimal_moves = self.measuring.cheapest_way(self.start)
        self._is_optimal_old = False

    def set_budget(self, budget: int | None, agent: int | None) -> None:
        """Set the shared budget, or the budget of one agent.

        A budget that the algorithm of an affected agent does not accept is refused with a note.

        Args:
            budget: expansions per tick; None: the agent uses the shared budget again.
            agent: id of the agent; None: set the shared budget.
        """
        chosen = [w for w in self.walkers if (w.id == agent if agent is not None else w.budget is None)]
        if agent is not None and not chosen:
            self._note_missing(agent)
        for walker in chosen:
            complaint = walker.spec.check_budget(budget or self.budget, walker.params)
            if complaint:
                self.note(f"{walker.label}: {complaint}")
                return
        self._seating.is_old = True
        if agent is None:
            self.budget = budget or self.budget
        else:
            for walker in chosen:
                walker.budget = budget

    def name_agent(self, agent: int, label: str) -> None:
        """Rename an agent; "" is the name of its algorithm."""
        walker = self.walker(agent)
        if walker is None:
            self._note_missing(agent)
        else:
            walker.config = replace(walker.config, label=label)

    def set_param(self, agent: int, name: str, value: Value) -> None:
        """Change a parameter of an agent. Illegal values and unknown names are refused with a note."""
        walker = self.walker(agent)
        param = walker.spec.param(name) if walker else None
        if walker is None:
            self._note_missing(agent)
            return
        if param is None:
            names = [p.name for p in walker.spec.params]
            self.note(f"{walker.label} has no parameter '{name}'{did_you_mean(name, names)}")
            return
        try:
            params = {**walker.params, name: param.parse(value, f"{walker.label}: {name}")}
        except ConfigError as error:
            self.note(str(error))
            return
        if complaint := walker.spec.check_budget(walker.budget or self.budget, params):
            self.note(f"{walker.label}: {complaint}")
            return
        walker.params, self._seating.is_old = params, True
        walker.agent.set_param(name, params[name])

    def set_random_changes(self, changes: RandomChanges) -> None:
        self.random_changes = changes

    def set_tick_ms(self, milliseconds: float) -> None:
        """Limit the time of a tick, in milliseconds for all agents together; 0: no limit."""
        self.tick_ms = milliseconds

    def serve(self, agents: int) -> None:
        """Let only the next `agents` agents in round-robin order plan in the coming tick."""
        self._served_now = agents

    def set_trials(self, count: int) -> None:
        """Set the maximum of trials of agents that learn."""
        self.trials, self._seating.is_void = count, True
        for walker in self.walkers:
            walker.most_trials = count if walker.spec.keeps_h else 1

    def remove_agent(self, agent: int) -> None:
        if self.walker(agent) is None:
            self._note_missing(agent)
        self.walkers = [w for w in self.walkers if w.id != agent]

    def agents_of(self, group: str) -> Sequence[int]:
        """Return the ids of the members of a group. An unknown group is noted."""
        found = [walker.id for walker in self.walkers if walker.config.group == group]
        if not found:
            self.note(f"no group '{group}'{did_you_mean(group, {w.config.group for w in self.walkers} - {''})}")
        return found

    def _note_missing(self, agent: int) -> None:
        self.note(f"agent {agent} is not there")

    def add_agent(self, config: AgentConfig, agent: int | None) -> None:
        """Add an agent as `add` does, but turn errors into notes."""
        try:
            self.add(config, agent)
        except ConfigError as error:
            for problem in error.problems:
                self.note(problem)

    def note(self, text: str) -> None:
        """Add a message for the user; it refers to the present tick and to the command that is being applied."""
        self.notes.append(Note(self.tick, text, self._applying))

    # --- reading the state ------------------------------------------------------------------------

    def true_distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the shared goal on the present map; infinity: none."""
        return self.measuring.distance(cell)

    def _distances_changed(self) -> None:
        self.measuring.changed(self.goal, self.walkers[0].position if self.walkers else self.start)

    def metrics(self, walker: Walker) -> Metrics:
        """Return the measures of an agent, counted since it joined."""
        optimal = walker.own_optimal or (self.optimal, self.optimal_moves)
        own = walker.agent.own_counts()
        is_measured = self.referee.has_judged(walker)
        is_coming = not is_measured and walker.own_goal is None and self.measuring.will_know(walker.id)
        return read_metrics(walker.metrics[0], optimal, is_measured, walker.trial_began, own, is_coming)

    def goal_of(self, walker: Walker) -> int:
        return self.referee.goal_of(walker)

    def switch_states(self) -> dict[str, bool]:
        """Return for every switch whether it is blocked. A switch is blocked if all of its cells are."""
        return {name: not self.grid.are_free(np.asarray(cells)).any() for name, cells in self.switches.items()}

    def snapshot(self, only: Container[int] | None = None) -> Snapshot:
        """Return a view of the world with all agents, or only with those whose ids are in `only`."""
        return Snapshot(
            self.tick,
            self.grid,
            self.start,
            self.goal,
            self.budget,
            self.switch_states(),
            tuple(self.view(w) for w in self.walkers if only is None or w.id in only),
        )

    def stamped(self) -> Iterator[GenerationTable]:
        """Yield the tables that contain records of finished searches, which keyframes need not store.

        Tables of group members are left out, because they are many and small.
        """
        yield self.measuring.stamped()
        for walker in self.walkers:
            if not walker.config.group and (stamped := getattr(walker.agent, "stamped", None)):
                yield from stamped()

    def materialize_views(self) -> None:
        """Let agents compute now the parts of their views that they compute on demand, such as the path ahead.

        From then until the next tick, reading their views writes no memory.
        """
        for walker in self.walkers:
            getattr(walker.agent, "materialize_view", walker.agent.view)()

    def view(self, walker: Walker) -> WalkerView:
        """Return a view of one agent."""
        return WalkerView(
            id=walker.id,
            label=walker.label,
            spec=walker.spec,
            params=walker.params,
            budget=walker.budget or self.budget,
            position=walker.position,
            status=walker.agent.status,
            state_word=walker.state_word,
            metrics=self.metrics(walker),
            visits=walker.visits,
            rows=walker.rows,
            rows_tick=walker.rows_tick,
            agent=walker.agent.view(),
            most_trials=walker.most_trials,
            trials=tuple(walker.trials),
            is_converged=walker.is_converged,
            last_budget=walker.last_budget,
            start=walker.start,
            goal=self.goal_of(walker),
            group=walker.config.group,
            offence=walker.offence,
            has_own_ends=walker.has_own_ends,
        )

    def digest(self) -> str:
        """Return 16 hex digits that depend on everything that has happened: map, moves, expansions, restarts."""
        head = np.array([self.tick, self.start, self.goal], np.int64).tobytes()
        sums = self._seating.sums(self.walkers).read()
        return blake2b(self._changed_map + head + sums, digest_size=8).hexdigest()

    def walker_digest(self, walker: Walker) -> str:
        """Return 16 hex digits that depend on everything that an agent has done."""
        a, b = walker.sums
        return f"{a:08x}{b:08x}"
