"""Small faults, and the tests that should notice each: `make mutants`, or `python -m tests.mutants 3 17`.

`--random 100 --seed N` tries random faults instead, see random_mutants.py.

Each is put into a copy of the program, alone, and the tests named beside it are run there until one fails. A fault
that none notices survives, and is printed. Where a kernel is at fault, none is compiled: that would take longer than
all tests. Tests that are slow then, such as test_world.py, are not asked about kernels.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.program_copy import ROOT, copy_program, environment_in, run_tests
from tests.random_mutants import Sample, try_random

TOO_LONG_S = 1800  # a fault that makes the tests endless is noticed, too

K, T, F, M = "sim/kernels/", "sim/time/", "files/", "ui/model/"


@dataclass(frozen=True)
class Mutant:
    """A fault: in this file, `old`, which stands there once, becomes `new`."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_kernel(self) -> bool:
        return self.file.startswith(K)


def _in(file: str, *tests: str) -> "_Maker":
    return _Maker(file, tuple(f"tests/test_{name}.py" for name in tests))


@dataclass(frozen=True)
class _Maker:
    file: str
    tests: tuple[str, ...]

    def __call__(self, old: str, new: str) -> Mutant:
        return Mutant(self.file, old, new, self.tests)


search = _in(K + "search.py", "mutants_killed", "kernels", "golden")
openlist = _in(K + "openlist.py", "kernels", "golden")
referee = _in(K + "referee.py", "mutants_killed", "golden", "measures", "learning")
tba = _in(K + "tba.py", "mutants_killed", "golden", "kernels")
tb_bfs = _in(K + "tb_bfs.py", "mutants_killed", "golden", "kernels")
local_search = _in(K + "local_search.py", "mutants_killed", "learning")
lrta = _in(K + "lrta.py", "learning")
learning = _in("agents/learning_agent.py", "learning")
p_lrta = _in(K + "p_lrta.py", "learning")
dstar = _in(K + "dstar_lite.py", "dstar_lite")
ribs = _in(K + "ribs.py", "ribs")
world = _in("sim/world.py", "mutants_killed", "world", "timeline")
optimal_costs = _in("sim/optimal_costs.py", "world")
changes = _in("sim/changes.py", "mutants_killed", "world")
world_state = _in("sim/world_state.py", "mutants_killed", "world", "timeline")
world_editor = _in("sim/world_editor.py", "mutants_killed", "world", "timeline")
digest_table = _in("sim/digest_table.py", "mutants_killed", "world", "crew")
sequential = _in("sim/sequential_executor.py", "executors", "world", "own_agents")
batched = _in("sim/batching/batched_executor.py", "executors", "crew", "turns")
agent_batch = _in("sim/batching/agent_batch.py", "executors", "crew")
time_sliced = _in("sim/time_sliced_executor.py", "executors", "turns")
timeline = _in(T + "timeline.py", "mutants_killed", "timeline", "branches", "sessionfile")
advancer = _in(T + "world_advancer.py", "mutants_killed", "timeline", "branches", "sessionfile")
command_log = _in(T + "command_log.py", "mutants_killed", "timeline", "branches", "sessionfile")
history = _in(T + "run_history.py", "mutants_killed", "timeline", "branches", "sessionfile")
journal = _in(F + "journal.py", "journal")
session_file = _in(F + "session.py", "sessionfile")
commands = _in(F + "commands.py", "commands", "scenario")
png = _in(F + "png.py", "png")
saving = _in(M + "session_saving.py", "saved_session")
session = _in(M + "session.py", "session")
keeper = _in(M + "autosave.py", "keeper", "history")
selecting = _in(M + "select_tool.py", "selection")
rewriting = _in(T + "timeline.py", "rewriting")
undo = _in(M + "undo_history.py", "history")
branches = _in(T + "branches.py", "history", "branches")
recorded = _in(T + "agent_records.py", "session")
trails = _in(M + "trails.py", "session")
run = _in(M + "run.py", "session", "crowds")
beginning = _in(M + "start_over.py", "beginning", "session")
unsaved = _in(M + "unsaved_work.py", "beginning", "session")
judge = _in("sim/referee.py", "learning")
placing = _in("sim/agent_placing.py", "placing")
joining = _in("sim/agent_checks.py", "cli")
tick_timer = _in("sim/tick_timer.py", "turns")
reach = _in(F + "file_access.py", "mapfile")
interrupts = _in("cli/interrupts.py", "cli")
own = _in("agents/own.py", "guarded")
guarded = _in("agents/guarded_agent.py", "guarded")
watchdog = _in("agents/watchdog.py", "guarded")
keyframes = _in(T + "keyframes.py", "user_state", "keyframes")
sealing = _in(T + "keyframes.py", "guarded")
failures = _in(T + "state_failures.py", "user_state")
selecting = _in(M + "select_tool.py", "selection")
problems = _in("experiments/problems.py", "mutants_killed")

MUTANTS = (
    # kernels
    search("child.g <= g or (index == CLOSED and not reopens)", "child.g < g or (index == CLOSED and not reopens)"),
    search("(index == CLOSED and not reopens)", "(index == CLOSED and reopens)"),
    search("if f == class_f:", "if f <= class_f:"),
    search("elif child.g <= g or child.place == CLOSED:", "elif child.g < g:"),
    search("search.control[0].expansions += used", "search.control[0].expansions = used"),
    openlist("rank = np.int64(h * UNITS_PER_COST)", "rank = np.int64(g * UNITS_PER_COST)"),
    openlist("(key == above.key) & (tie > above.tie)", "(key == above.key) & (tie < above.tie)"),
    referee("if before == np.inf or before != ground", "if before != ground"),
    referee("if expanded > budget:", "if expanded >= budget:"),
    referee("m.first_move = tick + i", "m.first_move = tick"),
    referee("m.ticks += 1\n    m.waits += 1", "m.ticks += 1"),
    referee("if visits[t] == 0:\n            m.distinct += 1", "if visits[t] == 1:\n            m.distinct += 1"),
    tba("min(limit, steps) if st.is_first else limit)", "limit)"),
    tba("        if steps >= room:\n", "        if steps > room:\n"),
    tba("elif steps == room:", "elif steps == room + 1:"),
    tba("search.nodes[end].g >= st.end_g", "search.nodes[end].g > st.end_g"),
    tba("st.head = st.length  # the path", "st.head = i  # the path"),
    tba("if joint < 0 or traced + steps + st.length - joint > room:", "if joint < 0:"),
    tba("and st.status == log.ACTIVE and st.is_first:", "and st.status == log.ACTIVE:"),
    tb_bfs("if left == np.inf or (st.heeds == REMOVED_ARC_INTO_ROUTE", "if (st.heeds == REMOVED_ARC_INTO_ROUTE"),
    tb_bfs("if not rose[i] and is_known(search, tails[i]):", "if is_known(search, tails[i]):"),
    tb_bfs("if st.shortcut_weight * via < left:", "if via < left:"),
    tb_bfs("if not control.is_stale or is_remaining_walk_legal(", "if is_remaining_walk_legal("),
    tb_bfs("left += h0_between_cells(ground, route.cells[st.length - 1], st.goal)", "left += 0.0"),
    local_search(
        "elif child.g <= g:\n                continue",
        "elif child.g <= g or index == CLOSED:\n                continue",
    ),
    local_search(
        "best = min(best, ground.cost[d] + learned_h_of(learned, t))", "best = min(best, learned_h_of(learned, t))"
    ),
    local_search("(value == min_value and is_first)", "(value == min_value and not is_first)"),
    local_search("space.heap[np.uint64(index)].key > key:", "space.heap[np.uint64(index)].key < key:"),
    lrta("if f < best_f or (f == best_f and total < best_sum):", "if f < best_f:"),
    lrta("fh[t] = max(fh[s], g + h_toward_target(targets, t))", "fh[t] = g + h_toward_target(targets, t)"),
    p_lrta("if urgency[t] >= priority:", "if urgency[t] > priority + 1e9:"),
    p_lrta("if used > updates or st.queued == 0:", "if used >= updates or st.queued == 0:"),
    dstar("return top.k1 < k1 or (top.k1 == k1 and top.k2 < min(g, rhs))", "return top.k1 < k1"),
    dstar("k1 = k2 + h0_between_cells(ground, st.loc, u) + st.km", "k1 = k2 + h0_between_cells(ground, st.loc, u)"),
    dstar("if is_longer or (ground.cost[d] == ground.cost[best]", "if (ground.cost[d] == ground.cost[best]"),
    ribs("st.next_limit = min(st.next_limit, f)", "st.next_limit = f"),
    ribs("elif mark.pruned or ng > node.g:", "elif ng > node.g:"),
    learning(
        "self.learned_heuristic.target[0].changes = changes + 1", "self.learned_heuristic.target[0].changes = changes"
    ),
    learning(
        "int(self.learned_heuristic.target[0].changes), self.learned_cell_count()",
        "self.h_changes, self.learned_cell_count()",
    ),
    # the world
    world("if self.are_due_changes_pending:", "if self.last_random_change_tick < 0 or self.tick:"),
    world_state("from bisect import insort_right", "from bisect import insort_left as insort_right"),
    world_editor("allowed = to_block[self._blockable_mask(to_block)]", "allowed = to_block"),
    world("self.executor.notify_map_change(self, change)", "pass"),
    optimal_costs("self._is_shared_optimum_outdated |= self._shared_goal_tick == tick", "pass"),
    world_state("return waits and self.random_changes.next_change_tick_after(self.tick) is not None", "return False"),
    changes(
        "stays = np.isin(back.blocked_cells, protected)", "stays = np.isin(back.blocked_cells, back.blocked_cells[:0])"
    ),
    world("self.goal, *sorted(own_goals)])", "self.goal])"),
    digest_table('in_order = sorted(walkers, key=attrgetter("id"))', "in_order = list(walkers)"),
    world_editor("[walker for walker in world.walkers if walker.budget is None]", "world.walkers"),
    world("self.next_agent_id = max(self.next_agent_id, number + 1)", "self.next_agent_id = number + 1"),
    # executors
    sequential("walker.count_waits(passed - done)", "walker.count_waits(passed)"),
    sequential("return walker.spec.is_own or not walker.is_done", "return not walker.is_done"),
    batched("if reason is InvalidationReason.GOALS and self._batch_plan is not None:", "if False:"),
    batched("self._needs_plan_refresh = True  # the agent may replace arrays", "pass  # the agent may replace arrays"),
    batched("self._has_new_membership = True\n", "pass\n"),
    batched("or self._stop_count_of_plan != self._referee.stop_count", ""),
    batched("batch.return_rows_to_walkers_that_joined_late()", "pass"),
    agent_batch("own.phase, own.last_budget = self.phase, self.last_budget", "pass"),
    time_sliced("state.next_planner_id = queue[served].id", "pass"),
    # time
    command_log("and entry.tick > after]", "and entry.tick >= after]"),
    history(
        "and (now := world.compute_digest()) != self.world_digests[index]",
        "and not (now := self.world_digests[index])",
    ),
    history("last_kept_tick = tick if keeps_now else tick - 1", "last_kept_tick = tick"),
    history("del self.world_digests[tick // DIGEST_EVERY + 1 :]", "del self.world_digests[tick // DIGEST_EVERY + 2 :]"),
    timeline("cursor.is_stale or cursor.tick > tick or (", "cursor.is_stale or ("),
    advancer("(history.furthest_tick if is_new else history.recorded_end) - begin)", "MAX_TICKS_PER_CALL)"),
    timeline(
        "is_active = record.activity_end_before(tick) == tick", "is_active = record.activity_end_before(tick) > 0"
    ),
    # journals and sessions
    journal('if not line.endswith(b"\\n"):', 'if not line.strip(b"\\0"):'),
    journal("tick, max(line.horizon, tick), None", "tick, tick, None"),
    journal("parent in self.branches else None", "parent in self.branches and not parent else None"),
    journal("deleted.parent if line.parent == number", "None if line.parent == number"),
    selecting("and entry.tick <= self.session.tick", "and entry.tick <= self.session.run.end"),
    rewriting(
        "self.command_log.remove_user_commands(now, self.run_history.end)",
        "self.command_log.remove_user_commands(now, self.run_history.recorded_end)",
    ),
    rewriting("present = max(self.target_tick, self._tick_before_edit)", "present = self.target_tick"),
    session_file("if numbers.count(number) > 1}", "if numbers.count(number) > 2}"),
    session_file("return command.config == scripted.config", "return True"),
    png(
        "    if len(text) > max_bytes:\n        raise _text_too_long_error()\n    return text\n\n\ndef _text_too",
        "    return text\n\n\ndef _text_too",
    ),
    commands('if "agent" in fields and row.agent == "never":', 'if "agent" in fields and row.agent == "none":'),
    saving("session.unsaved_work.mark_unsaved()", "session.unsaved_work.mark_saved()"),
    session("        if was_unsaved:\n", "        if False:\n"),
    keeper("if previous is not None and len(self.suspended_journals) < len(archived_runs):", "if previous is None:"),
    undo("run.branch_tree.replace_branch_links(state_after.linked_branch_groups)", "pass"),
    undo("run.order_panels(state_after.panel_order)", "pass"),
    undo("entry.stroke_number = stroke if entry.is_stroke else 0", "entry.stroke_number = 0"),
    undo("(*kept_parts[0], *new, *kept_parts[1])", "(*kept_parts[0], *kept_parts[1], *new)"),
    branches("branch.parent, branch.split_tick = state.parent, state.split_tick\n", "pass\n"),
    # what is shown, and beginning again
    recorded("        self.truncation_count += 1\n", ""),
    trails("record.rows_before_tick(record.activity_end_before(tick)).size", "record.rows_before_tick(tick).size"),
    advancer("done = 0 if cursor.world.is_over else ", "done = "),
    run(
        "last_applied_tick = world.grid.free_mask, current_tick - world.are_due_changes_pending",
        "last_applied_tick = world.grid.free_mask, current_tick",
    ),
    run("if version != timeline.world.grid.version:", "if version < 0:"),
    run("self.panel_order.index(preceding[-1]) + 1 if preceding else 0", "len(self.panel_order)"),
    run("                return index + 1\n", "                return len(self.order)\n"),
    beginning("entry.tick <= tick or isinstance(command, RenameAgent)", "entry.tick <= tick"),
    beginning("entry.is_enabled and not entry.is_scripted and not", "not entry.is_scripted and not"),
    beginning("and entry.id not in refused:", "and True:"),
    beginning("next_number = max(next_number, number + 1)", "next_number = number"),
    beginning("            if old not in numbers:\n                continue\n", ""),
    beginning("    if list(panel_indices) == sorted(panel_indices):\n", "    if False:\n"),
    unsaved("len(self._run.branch_tree.branches) == 1 and all", "all"),
    unsaved("self.saved_content is None or len", "len"),
    # trials and zones
    judge("del walker.trials[walker.trial_number - 1 :]", "del walker.trials[walker.trial_number :]"),
    placing("[y0 : y1 + 1, x0 : x1 + 1]", "[y0 : y1 + 1, x0:x1]"),
    # the command line and its limits
    joining("(seed * 1_000_003 + number)", "(seed * 1_000_003)"),
    tick_timer("- self._closing_s - now", "- now"),
    reach("suffix in BENCHMARK_SUFFIXES and suffix ==", "suffix =="),
    interrupts("if self._may_interrupt_work or not is_first:", "if self._may_interrupt_work:"),
    interrupts("if not self.exit_code:\n                work()", "if True:\n                work()"),
    # agents of the user's
    own("        self._has_no_path = False\n        self.changed(", "        self.changed("),
    guarded("np.all((found >= 0) & (found < cells))", "np.all(found < cells)"),
    guarded("        self.cell = start\n", ""),
    guarded("slice(MAX_MESSAGE_LENGTH + 1)", "slice(MAX_MESSAGE_LENGTH)"),
    watchdog("            os._exit(0)\n", "            pass\n"),
    keyframes("_failed_loads += 1", "_failed_loads += 0"),
    keyframes("        self.state_failures.clear_failures(codes)\n", ""),
    sealing("_SEALED if memoryview(root).readonly else _LOCKED", "_LOCKED"),
    failures("if error.is_loading or error.is_final:", "if error.is_loading:"),
    failures(
        "            self._keyframes_left_to_skip[code] -= 1\n", "            self._keyframes_left_to_skip[code] = 0\n"
    ),
    # selecting, switches, shrunk maps
    selecting("letters[source_cells] = grid.terrain_when_freed(source_cells)", 'letters[source_cells] = ord(".")'),
    selecting(
        "letters[target.cells(grid)] = piece.letters_for_target(target, grid)", 'letters[target.cells(grid)] = ord("@")'
    ),
    selecting("if len(switches) >= MAX_SWITCHES else None", "if len(switches) > MAX_SWITCHES else None"),
    world_editor("len(switches) < MAX_SWITCHES:", "len(switches) <= MAX_SWITCHES:"),
    problems("np.where(share > 0.5,", "np.where(share >= 0.5,"),
)


def stale(root: Path = ROOT) -> Iterator[str]:
    """Faults that cannot be put in any more, because the program has changed."""
    for number, mutant in enumerate(MUTANTS, start=1):
        count = (root / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if count != 1:
            yield f"{number}: {mutant.file} has {mutant.old!r} {count} times, expected once"
        for test in mutant.tests:
            if not (root / test).is_file():
                yield f"{number}: there is no {test}"


def is_noticed(root: Path, tests: Sequence[str], environment: dict[str, str]) -> bool:
    """Whether some test fails, or does not end."""
    done = run_tests(root, ["-x", *tests], environment, TOO_LONG_S)
    return done is None or done.returncode != 0


def main(arguments: Sequence[str]) -> int:
    """Tries all mutants, or those whose numbers are given. 0: none survived."""
    parser = argparse.ArgumentParser("mutants", description="Put faults into the program and see whether tests fail.")
    parser.add_argument("numbers", nargs="*", type=int, help="faults of the list in tests/mutants.py; none: all")
    parser.add_argument("--random", type=int, metavar="COUNT", help="random faults instead of those of the list")
    parser.add_argument("--seed", type=int, default=1, help="which random faults")
    parser.add_argument("--only", type=int, nargs="+", default=(), metavar="NUMBER", help="some of the random faults")
    parser.add_argument("--within", default="", metavar="PATH", help="random faults in files whose paths begin so")
    parser.add_argument("--tests", nargs="+", default=(), metavar="FILE", help="only these tests, such as test_grid.py")
    parser.add_argument("--workers", type=int, default=2, choices=(1, 2), help="processes for random faults")
    chosen = parser.parse_args(arguments)
    if chosen.random:
        sample = Sample(chosen.random, chosen.seed, chosen.only, chosen.within, chosen.tests)
        return try_random(sample, chosen.workers)
    if problems := list(stale()):
        print("\n".join(problems))
        return 2
    with tempfile.TemporaryDirectory(prefix="backmove-mutants-") as folder:
        return _try(Path(folder), chosen.numbers or range(1, len(MUTANTS) + 1))


def _try(folder: Path, chosen: Sequence[int]) -> int:
    root = copy_program(folder)
    survivors = []
    for is_kernel in {MUTANTS[number - 1].is_kernel for number in chosen}:
        wanted = [MUTANTS[number - 1] for number in chosen if MUTANTS[number - 1].is_kernel is is_kernel]
        tests = dict.fromkeys(test for mutant in wanted for test in mutant.tests)
        if is_noticed(root, list(tests), environment_in(folder, compiles=not is_kernel)):
            print("the tests fail without any fault; see which: python -m pytest -x " + " ".join(tests))
            return 2
    for number in chosen:
        mutant = MUTANTS[number - 1]
        place, begun = root / mutant.file, time.monotonic()
        text = place.read_text(encoding="utf-8")
        place.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        noticed = is_noticed(root, mutant.tests, environment_in(folder, compiles=not mutant.is_kernel))
        place.write_text(text, encoding="utf-8")
        seconds = time.monotonic() - begun
        print(
            f"{number:3} {'noticed ' if noticed else 'SURVIVED'} {seconds:5.0f} s  {mutant.file}: {mutant.new.strip()}"
        )
        sys.stdout.flush()
        if not noticed:
            survivors.append(number)
    print(
        f"{len(chosen) - len(survivors)} of {len(chosen)} noticed" + (f"; survivors: {survivors}" if survivors else "")
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
