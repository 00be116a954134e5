"""Command `run`: run a scenario without a window."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.registry import AGENT_SPECS_BY_KEY
from cli.adaptive_stride import AdaptiveStride
from cli.arguments import CommandParser, help_with_default, param_converter
from cli.data_preparation import prepare_agent_data
from cli.interrupts import InterruptFlag
from cli.kernel_warm_up import warm_up_agents
from cli.outputs import check_output_paths
from cli.posthoc import PosthocFiles, add_posthoc_option
from cli.progress import ProgressBar
from cli.result_lines import print_result
from files.disk import collect_read_paths
from files.scenario import SEED_PARAM, Scenario, build_world, load_scenario, save_scenario
from files.shipped_files import require_shipped_file
from files.trace import TraceWriter
from sim.params import Param
from sim.result_lines import (
    INTERRUPTED,
    REMOVED,
    STUCK,
    NoPathProofs,
    TickDurations,
    agent_result_line,
    group_result_lines,
    outcome_of_walker,
)
from sim.run_until import run_until
from sim.walker import Walker
from sim.world import World
from sim.world_commands import MAX_COMMAND_TICK, TICK_MS_PARAM, AddAgent, LimitPlanners, SetTickTimeLimit, TimedCommand

TICKS = Param("ticks", int, 1_000_000, "maximum number of ticks", 1, MAX_COMMAND_TICK)


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("run", "Run a scenario without a window; one JSON line per agent on standard output.")
    parser.add_argument("scenario", help="a scenario file, or the name of an example")
    parser.add_argument(
        "--ticks",
        type=param_converter(TICKS),
        metavar="N",
        help=help_with_default(TICKS.help, f"`until` in the scenario, or {TICKS.default:,}"),
    )
    parser.add_argument("--summary", action="store_true", help="print a line for each group of agents, with tick times")
    parser.add_argument(
        "--tick-ms",
        type=param_converter(TICK_MS_PARAM),
        metavar="MS",
        help=help_with_default(TICK_MS_PARAM.help, "the value of the scenario"),
    )
    parser.add_argument(
        "--seed",
        type=param_converter(SEED_PARAM),
        metavar="N",
        help=help_with_default(SEED_PARAM.help, "the value of the scenario"),
    )
    parser.add_argument(
        "--keep",
        metavar="FILE",
        help="write a scenario that repeats this run exactly, even if it has a time limit (--tick-ms)",
    )
    parser.add_argument("--trace", metavar="FILE", help="write one JSON line per tick and agent to FILE")
    add_posthoc_option(parser)
    args = parser.parse_args(argv)
    with collect_read_paths() as inputs:
        scenario = load_scenario(require_shipped_file(args.scenario), AGENT_SPECS_BY_KEY)
    check_output_paths({"--keep": args.keep, "--trace": args.trace, "--posthoc": args.posthoc}, inputs)
    if args.tick_ms is not None:
        scenario = replace(scenario, tick_ms=args.tick_ms)
    if args.seed is not None:
        scenario = replace(scenario, seed=args.seed)
    last = scenario.stop_tick.tick if scenario.stop_tick else int(TICKS.default)
    return run_scenario(scenario, args.ticks or last, args.trace, args.posthoc, args.summary, args.keep)


def run_scenario(
    scenario: Scenario,
    ticks: int = int(TICKS.default),
    trace_path: str | None = None,
    posthoc_path: str | None = None,
    is_summed_up: bool = False,
    keep_path: str | None = None,
) -> int:
    """Run a scenario to its end or for a number of ticks, and print the results.

    Args:
        scenario: The scenario.
        ticks: The maximum number of ticks.
        trace_path: The file for a line per tick and agent, if one is requested.
        posthoc_path: The file for search traces, if they are requested.
        is_summed_up: Whether a line for each group of agents is printed, instead of a line for each agent.
        keep_path: The file for a scenario that repeats this run exactly, if one is requested.

    Returns:
        The exit code; the codes are listed in README.md.
    """
    with InterruptFlag() as interrupts:
        progress = ProgressBar()
        if not interrupts.run_interruptibly(lambda: _prepare_agents(scenario, progress)):
            return interrupts.exit_code
        run = ScenarioRun(
            scenario, _build_world(scenario, posthoc_path, is_summed_up), progress, interrupts, is_summed_up
        )
        has_run = False
        try:
            with TraceWriter(trace_path) as trace, PosthocFiles(posthoc_path, progress) as run.posthoc_files:
                run.posthoc_files.open_files_for_world(run.world)
                run.advance_to(ticks, trace)
                has_run = True
            if keep_path is not None:
                save_scenario(run.repeat_scenario(), keep_path)
                run.warn_of_lost_time_limit(keep_path)
        finally:
            if has_run:  # print results even if one of the files could not be written
                run.print_results()
    return interrupts.exit_code or int(run.has_violation)


def _prepare_agents(scenario: Scenario, progress: ProgressBar) -> None:
    added = [edit.command.config for edit in scenario.timed_commands if isinstance(edit.command, AddAgent)]
    warm_up_agents([*scenario.agents, *added], progress)
    prepare_agent_data(
        scenario.agents, AGENT_SPECS_BY_KEY, scenario.grid, (scenario.start_cell, scenario.goal_cell), progress
    )


def _build_world(scenario: Scenario, posthoc_path: str | None, is_summed_up: bool) -> World:
    options: dict[str, Any] = {"watched": posthoc_path is not None}
    is_timed = is_summed_up or scenario.depends_on_clock
    if not is_timed:  # reading the stopwatch twice per agent and tick would slow down timed ticks noticeably
        options["stopwatch"] = time.perf_counter
    world = build_world(scenario, AGENT_SPECS_BY_KEY, **options)
    world.agent_times.clock = time.perf_counter if is_timed else None
    return world


@dataclass
class ScenarioRun:
    """Run of a scenario: its world, and the results collected so far."""

    scenario: Scenario
    world: World
    progress: ProgressBar
    interrupts: InterruptFlag
    prints_group_summary: bool = False  # whether results are printed for each group of agents, not for each agent
    # Times of ticks, measured only if `prints_group_summary`.
    tick_times: TickDurations = field(default_factory=TickDurations)
    walkers: dict[int, Walker] = field(default_factory=dict)  # id -> walker, including removed walkers
    no_path_proofs: NoPathProofs = field(default_factory=NoPathProofs)
    printed_message_count: int = 0  # number of messages in `World.messages` already printed
    posthoc_files: PosthocFiles | None = None
    outcome_if_active: str = STUCK  # outcome of agents that are still active when the run ends
    _adaptive_stride: AdaptiveStride = field(default_factory=AdaptiveStride)

    def advance_to(self, ticks: int, trace: TraceWriter) -> None:
        """Advance until the run is over, `ticks` is reached, or a signal arrives."""
        world = self.world

        def next_step() -> int:
            """Apply due changes and return the length of a step, which ends at the next change at the latest.

            Agents are therefore notified of map changes only between two steps.
            """
            world.apply_due_changes()
            longest = min(self._adaptive_stride(), world.ticks_to_next_event(), trace.max_ticks_between_writes(world))
            if self.posthoc_files:
                self.posthoc_files.open_and_close_agent_files()
                longest = min(longest, self.posthoc_files.max_ticks_per_step)
            return 1 if self.prints_group_summary else longest

        advance = self._advance_timed if self.prints_group_summary else None
        for _ in run_until(world, max_ticks=ticks, next_step=next_step, advance=advance):
            self._collect_walkers_and_print_messages()
            trace.write_ticks(world)
            if self.posthoc_files:
                self.posthoc_files.write_tick()
            self.progress.update_bar(f"tick {world.tick:,}")
            if self.interrupts.exit_code:
                self.outcome_if_active = INTERRUPTED
                return

    @property
    def has_violation(self) -> bool:
        """Return whether any agent failed or broke a rule."""
        return any(walker.violation is not None for walker in self.walkers.values())

    def repeat_scenario(self) -> Scenario:
        """Return a scenario that repeats this run without a clock.

        In the scenario, Serve commands determine how many agents plan in each tick, instead of the limit
        `tick_time_limit_ms`.
        """
        served = (TimedCommand(tick, LimitPlanners(agents)) for tick, agents in self.world.planner_limited_ticks)
        others = (edit for edit in self.scenario.timed_commands if not isinstance(edit.command, SetTickTimeLimit))
        edits = sorted([*others, *served], key=lambda edit: edit.tick)
        return replace(self.scenario, timed_commands=tuple(edits), tick_ms=0.0)

    def warn_of_lost_time_limit(self, path: str) -> None:
        """Print a warning if the scenario written by --keep lacks the time limit after the last tick of this run."""
        now, edits = self.world.tick, self.scenario.timed_commands
        later = any(isinstance(e.command, SetTickTimeLimit) and e.command.limit_ms and e.tick >= now for e in edits)
        if not self.world.is_over and (self.world.tick_time_limit_ms or later):
            self.progress.print_line(
                f"--keep {path}: from tick {now:,} on, where this run ends, ticks have no time limit"
            )

    def _advance_timed(self, ticks: int) -> int:
        before = time.perf_counter()
        passed = self.world.advance(ticks)
        if passed:
            self.tick_times.add_tick_times(self.world, (time.perf_counter() - before) * 1000.0)
        return passed

    def _collect_walkers_and_print_messages(self) -> None:
        for walker in self.world.walkers:
            self.walkers[walker.id] = walker
        self.no_path_proofs.record_proofs(self.world.walkers)
        for note in self.world.messages[self.printed_message_count :]:
            self.printed_message_count += 1
            self.progress.print_line(f"tick {note.tick}: {note.text}")

    def print_results(self) -> None:
        """Print a line for every agent, including removed ones, or for every group."""
        self._collect_walkers_and_print_messages()
        outcomes = [(walker, self._outcome_of_walker(walker)) for walker in self.walkers.values()]
        if self.prints_group_summary:
            for line in group_result_lines(self.world, outcomes, self.tick_times):
                print_result(line, self.progress)
            return
        for walker, outcome in outcomes:
            tick = self.no_path_proofs.last_proof_tick(walker)
            more: dict[str, Any] = {"seed": self.world.seed, "world_digest": self.world.compute_digest()}
            if walker.max_trials > 1:
                last = self.world.metrics_of_walker(walker)
                more |= {"trial": walker.trial_number, "converged": walker.is_converged}
                more |= {"trial_cost": last.trial_cost, "trial_suboptimality": last.suboptimality}
            line = agent_result_line(self.world, walker, outcome, self.scenario.map_name, tick, **more)
            print_result(line, self.progress)
        if not self.walkers:
            self.progress.print_line("the scenario has no agents")

    def _outcome_of_walker(self, walker: Walker) -> str:
        is_on_map = self.world.walker_with_id(walker.id) is not None
        return outcome_of_walker(self.world, walker, self.outcome_if_active if is_on_map else REMOVED)
