"""kNN LRTA*: an agent that reuses the path of a similar solved problem, called a record, as a list of subgoals.

Paper: section 5 of "Real-Time Heuristic Search for Pathfinding in Video Games". A record is a list of cells, made
before the run (records.py). An agent without a target selects its targets by three rules; "climb" means hill climbing
(climb.py):
1. If the agent can climb to the goal, the goal is its only target.
2. Otherwise it tries the most similar records one by one. A record fits if the agent can climb to its first cell, and
   if a climb leads from its last cell to the goal. The cells of the first record that fits become the targets.
3. If no record fits, the goal is the target for `cap` moves; then the agent selects again.
The agent walks to each target by LRTA* with one expansion per move. It has a separate table of h for each target.

A selection may need many climbing steps, so it can be spread over ticks: at most `spread` steps in each tick.
Meanwhile the agent walks on toward its present target.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.climb import next_climb_cell
from sim.kernels.learner import has_obviously_no_path
from sim.kernels.octile import h0_between_cells
from sim.kernels.records import SimilarRecords, find_similar_records, new_similar_records
from sim.kernels.targets import is_present_target_the_goal, must_hash_table_grow, set_present_target, step_toward_target

CONTROL = np.dtype(
    [
        ("direct", "i8"),  # whether a selection first tests a climb to the goal, before it tries records
        ("skips_first", "i8"),  # whether to skip a record's first cell if the agent can climb to the second
        ("cap", "i8"),  # maximum number of steps of a climb, and number of moves without a record until a new selection
        ("spread", "i8"),  # maximum number of climbing steps in one tick; 0: no limit
        ("is_stale", "i8"),  # whether the present map differs from the map for which the records were made
        ("record", "i8"),  # index of the record whose cells are the targets; -1: none
        ("targets", "i8"),  # number of targets in RecordChoice.queue
        ("next", "i8"),  # index of the present target in RecordChoice.queue
        ("quota", "i8"),  # number of moves until the agent must select targets again; -1: no limit
        ("leg", "i8"),  # number of moves made toward the present target
        (
            "stage",
            "i8",
        ),  # climb that the selection tests now: CLIMB_TO_GOAL, CLIMB_TO_FIRST_CELL, ...; SETTLED: no selection
        ("from_cell", "i8"),  # cell on which the agent was when the selection began
        ("candidate", "i8"),  # index of the record tried now, in the list of the most similar records
        ("found", "i8"),  # number of similar records found; -1: the selection has not searched for them yet
        ("climber", "i8"),  # cell that the present climb has reached; -1: the climb has not begun
        ("climbed", "i8"),  # number of steps that the present climb has made
        ("steps", "i8"),  # number of climbing steps since the start of the run
        ("most_steps", "i8"),  # largest number of climbing steps made in one tick so far
        ("selections", "i8"),
        ("did", "i8"),  # bits for the events of the latest tick, such as LOST and REACHED
    ],
    align=True,
)

# Bits of `did`, the events of a tick. LOST: the agent had to give up its record. REACHED: it has reached a target.
# BEGAN: a selection began. ASKED: the selection tried records. STRAIGHT: the agent can climb to the goal. TAKEN: the
# selection chose a record. NO_RECORD_FITS: the selection ended without a record, because no similar record fits.
RECORD_LOST, TARGET_REACHED, SELECTION_BEGAN, RECORDS_TRIED, GOAL_CLIMBABLE, RECORD_CHOSEN, NO_RECORD_FITS = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
)

# Stages of a selection of targets, named after the climb that is tested. SETTLED: no selection is in progress.
# CLIMB_TO_GOAL: from the agent to its goal. CLIMB_TO_FIRST_CELL, CLIMB_TO_SECOND_CELL: from the agent to the first or
# second cell of a record. CLIMB_FROM_LAST_CELL: from the last cell of a record to the agent's goal.
NO_SELECTION, CLIMB_TO_GOAL, CLIMB_TO_FIRST_CELL, CLIMB_FROM_LAST_CELL, CLIMB_TO_SECOND_CELL = 0, 1, 2, 3, 4

# Results of testing a record. UNTRIED: not tested. ACCEPTED: chosen. NO_WAY_TO_IT: the agent cannot climb to it.
# NO_WAY_FROM_IT: no climb leads from the record to the goal. DROPPED: not tested, because the record failed earlier.
UNTRIED, ACCEPTED, NO_WAY_TO_IT, NO_WAY_FROM_IT, DROPPED = 0, 1, 2, 3, 4

CLIMB_UNFINISHED, CLIMB_SUCCEEDED, CLIMB_GIVEN_UP = 0, 1, 2  # state of a climb: not finished, successful, failed


class RecordChoice(NamedTuple):
    """Records tried in a selection, the results of the tests, and the targets selected.

    Make it only with new_record_choice().
    """

    similar_records: SimilarRecords
    verdicts: np.ndarray  # int8[similar records] result of testing each similar record, such as ACCEPTED
    queue: np.ndarray  # int32[length of the longest record + 1] target cells, in the order of the walk
    dropped: np.ndarray  # uint8[records] 1 for each record given up; not chosen again until the map changes


def new_record_choice(similar: int, records: int, longest: int) -> RecordChoice:
    return RecordChoice(
        new_similar_records(similar),
        np.zeros(similar, np.int8),
        np.zeros(longest + 1, np.int32),
        np.zeros(records, np.uint8),
    )


@kernel
def drop_chosen_record(control):
    """Delete all targets, so that the agent selects new targets in its next tick."""
    it = control[0]
    it.record = -1
    it.targets = 0
    it.next = 0
    it.quota = 0
    it.leg = 0
    it.stage = NO_SELECTION


@kernel
def run_ticks(ground, records, choice, targets, state, control, rows):
    """Plan and act for up to len(rows) ticks. Returns the number of ticks done.

    Stops early if the agent has finished, or if the caller must enlarge the tables of h
    (targets.must_hash_table_grow()).
    """
    st, it = state[0], control[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE or must_hash_table_grow(targets):
            return tick
        used, phase = 0, log.WAITING
        it.did = 0
        if has_obviously_no_path(ground, st):
            st.status = log.NO_PATH
        else:
            choose_target(ground, records, choice, st, it)
            set_present_target(ground, targets, np.int64(choice.queue[it.next]))
            used, phase = move_agent(ground, choice, targets, st, it)
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def move_agent(ground, choice, targets, st, it):
    """Make one move toward the present target. Returns the number of expansions and the phase of the tick."""
    if step_toward_target(ground, targets, st):
        it.leg += 1
        if it.quota > 0:
            it.quota -= 1
        return 1, log.FOLLOWING if it.record >= 0 else log.LEARNING
    if is_present_target_the_goal(targets):
        st.status = log.NO_PATH
    else:
        drop_record(choice, it)
    return 1, log.WAITING


# --- targets ----------------------------------------------------------------------------------------------


@kernel
def choose_target(ground, records, choice, st, it):
    """Ensure that the agent has a target: a cell queue[next] that it has not reached yet. Writes: st, it, choice."""
    if it.record >= 0 and is_record_lost(ground, choice, it):
        it.did |= RECORD_LOST
        drop_record(choice, it)
    skip_reached_targets(choice, st, it)
    if it.stage == NO_SELECTION and (it.next >= it.targets or it.quota == 0):
        begin_record_selection(st, it)
        if it.next >= it.targets:
            make_goal_only_target(choice, st, it)
    if it.stage != NO_SELECTION:
        continue_record_selection(ground, records, choice, st, it)
        skip_reached_targets(choice, st, it)


@kernel
def skip_reached_targets(choice, st, it):
    """Advance to the next target if the agent has reached its target. Afterwards the queue may be used up."""
    while it.next < it.targets and choice.queue[it.next] == st.loc:
        it.next += 1
        it.leg = 0
        it.did |= TARGET_REACHED


@kernel
def is_record_lost(ground, choice, it):
    """Return True if the agent must give up its record: its target is blocked, or not reached within `cap` moves.

    This is only possible if the present map differs from the map for which the records were made.
    """
    target = choice.queue[min(it.next, it.targets - 1)]
    return it.is_stale and (ground.moves[target] == 0 or it.leg > it.cap)


@kernel
def drop_record(choice, it):
    """Give up the present record: delete its targets, and do not choose it again until the map changes."""
    choice.dropped[it.record] = 1
    it.record = -1
    it.targets = 0
    it.next = 0
    it.quota = 0


@kernel
def make_goal_only_target(choice, st, it):
    """Replace all targets by the goal; the agent then follows no record."""
    choice.queue[0] = st.goal
    it.targets = 1
    it.next = 0
    it.leg = 0
    it.record = -1


# --- selection --------------------------------------------------------------------------------------------


@kernel
def begin_record_selection(st, it):
    """Begin a selection of targets. Its first test is a climb to the goal if `direct` is set, otherwise a record."""
    it.stage = CLIMB_TO_GOAL if it.direct else CLIMB_TO_FIRST_CELL
    it.from_cell = st.loc
    it.candidate = 0
    it.found = -1  # the search for similar records is still to be done
    it.climber = -1
    it.selections += 1
    it.did |= SELECTION_BEGAN


@kernel
def continue_record_selection(ground, records, choice, st, it):
    """Continue the selection of targets, with at most `spread` climbing steps in this tick (0: no limit)."""
    left = it.spread if it.spread else np.int64(1) << 62
    before = it.steps
    while it.stage != NO_SELECTION:
        if it.stage == CLIMB_TO_FIRST_CELL and not has_candidate_record_left(ground, records, choice, st, it):
            make_goal_only_target(choice, st, it)
            it.quota = it.cap
            it.stage = NO_SELECTION
            it.did |= RECORDS_TRIED | NO_RECORD_FITS
            break
        room = left - (it.steps - before)
        if room <= 0:
            break
        if it.stage != CLIMB_TO_GOAL:
            it.did |= RECORDS_TRIED
        result = continue_climb(ground, st, it, *first_and_last_climb_cell(records, choice, st, it), room)
        if result == CLIMB_UNFINISHED:
            break
        it.climber = -1
        if it.stage == CLIMB_TO_GOAL:
            handle_goal_climb_result(choice, st, it, result == CLIMB_SUCCEEDED)
        elif it.stage == CLIMB_TO_SECOND_CELL:
            choose_record(records, choice, st, it, result == CLIMB_SUCCEEDED)
        else:
            handle_record_climb_result(records, choice, st, it, result == CLIMB_SUCCEEDED)
    it.most_steps = max(it.most_steps, it.steps - before)


@kernel
def has_candidate_record_left(ground, records, choice, st, it):
    """Advance `candidate` to the next similar record to try, and return False if there is none.

    The first call of a selection finds the similar records. Records that were given up earlier are skipped.
    Writes: choice, it.
    """
    if it.found < 0:
        it.found = find_similar_records(ground, records, it.from_cell, st.goal, choice.similar_records)
        choice.verdicts[:] = UNTRIED
    while it.candidate < it.found and choice.dropped[choice.similar_records.records[it.candidate]]:
        choice.verdicts[it.candidate] = DROPPED
        it.candidate += 1
    return it.candidate < it.found


@kernel
def first_and_last_climb_cell(records, choice, st, it):
    """Return the first and the last cell of the climb that the selection tests in its present stage."""
    if it.stage == CLIMB_TO_GOAL:
        return np.int64(it.from_cell), np.int64(st.goal)
    r = choice.similar_records.records[it.candidate]
    first, after = records.offsets[r], records.offsets[r + 1]
    if it.stage == CLIMB_TO_FIRST_CELL:
        return np.int64(it.from_cell), np.int64(records.cells[first])
    if it.stage == CLIMB_TO_SECOND_CELL:
        return np.int64(it.from_cell), np.int64(records.cells[first + 1])
    return np.int64(records.cells[after - 1]), np.int64(st.goal)


@kernel
def continue_climb(ground, st, it, a, b, room):
    """Continue the climb from a to b by at most `room` steps. Returns CLIMB_UNFINISHED, CLIMBED or CLIMB_GIVEN_UP.

    The climb fails (CLIMB_GIVEN_UP) if it needs more than `cap` steps, or if the next cell is not nearer to b.
    """
    if it.climber < 0:
        it.climber, it.climbed = a, 0
    while it.climber != b:
        if it.climbed == it.cap:
            st.marks |= log.CAP_HIT
            return CLIMB_GIVEN_UP
        if room == 0:
            return CLIMB_UNFINISHED
        t = next_climb_cell(ground, it.climber, b)
        if t < 0 or h0_between_cells(ground, t, b) >= h0_between_cells(ground, it.climber, b):
            return CLIMB_GIVEN_UP
        it.climber = t
        it.climbed += 1
        it.steps += 1
        room -= 1
    return CLIMB_SUCCEEDED


@kernel
def handle_goal_climb_result(choice, st, it, is_climbed):
    """Use the result of the climb to the goal: on success make the goal the only target, otherwise try records next."""
    if is_climbed:
        make_goal_only_target(choice, st, it)
        it.quota = -1
        it.stage = NO_SELECTION
        it.did |= GOAL_CLIMBABLE
    else:
        it.stage = CLIMB_TO_FIRST_CELL


@kernel
def handle_record_climb_result(records, choice, st, it, is_climbed):
    """Use the result of a climb that tests a record. If the climb failed, continue with the next record.

    If it succeeded, continue with the next test of the same record, or choose the record after the last test.
    """
    if not is_climbed:
        choice.verdicts[it.candidate] = NO_WAY_TO_IT if it.stage == CLIMB_TO_FIRST_CELL else NO_WAY_FROM_IT
        it.candidate += 1
        it.stage = CLIMB_TO_FIRST_CELL
    elif it.stage == CLIMB_TO_FIRST_CELL:
        it.stage = CLIMB_FROM_LAST_CELL
    elif it.skips_first:
        it.stage = CLIMB_TO_SECOND_CELL
    else:
        choose_record(records, choice, st, it, False)


@kernel
def choose_record(records, choice, st, it, skips_first):
    """Choose the record that was tried: its cells, followed by the goal, become the agent's targets.

    The first cell of the record is left out if `skips_first`.
    """
    r = choice.similar_records.records[it.candidate]
    choice.verdicts[it.candidate] = ACCEPTED
    first, after = records.offsets[r], records.offsets[r + 1]
    count = 0
    for i in range(first + (1 if skips_first else 0), after):
        choice.queue[count] = records.cells[i]
        count += 1
    if choice.queue[count - 1] != st.goal:
        choice.queue[count] = st.goal
        count += 1
    it.record = r
    it.targets = count
    it.next = 0
    it.leg = 0
    it.quota = -1
    it.stage = NO_SELECTION
    it.did |= RECORD_CHOSEN
