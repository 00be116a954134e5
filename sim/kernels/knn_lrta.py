"""kNN LRTA*: LRTA* from subgoal to subgoal of the record that is most similar to its problem.

Paper: section 5 of "Real-Time Heuristic Search for Pathfinding in Video Games". An agent without a target selects. If
hill climbing leads to the goal, the goal is its target. Otherwise it takes the first of the most similar records whose
first cell can be climbed to from the agent, and from whose last cell the goal can be climbed to (climb.py). If no
record fits, the agent heads for the goal for as many moves as a climb may have steps, then selects again. It walks by
LRTA* with one expansion a move and a table of h for every target.

A selection climbs step by step, so that it may be spread over ticks: at most `spread` steps in each, while the agent
continues toward its present target.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels import log
from sim.kernels.climb import next_climb_cell
from sim.kernels.jit import kernel
from sim.kernels.learner import has_no_moves
from sim.kernels.octile import h0_cells
from sim.kernels.records import SimilarRecords, find_similar_records, new_similar_records
from sim.kernels.targets import is_goal_target, must_grow, set_target, step_toward

CONTROL = np.dtype(
    [
        ("direct", "i8"),  # whether a climb to the goal itself is tried before any record
        ("skips_first", "i8"),  # whether the first cell of a record is skipped if the second can be climbed to
        ("cap", "i8"),  # maximum steps of a climb; also the number of moves without a record until the next selection
        ("spread", "i8"),  # maximum number of climbing steps of a selection in one tick; 0: no limit
        ("is_stale", "i8"),  # whether the records were made on another map than the present one
        ("record", "i8"),  # index of the record that is followed, -1: none
        ("targets", "i8"),  # number of target cells in Choice.queue
        ("next", "i8"),  # index of the present target in Choice.queue
        ("quota", "i8"),  # number of moves until the agent selects again, -1: no limit
        ("leg", "i8"),  # number of moves made toward the present target
        ("stage", "i8"),  # stage of the selection: SETTLED, TO_GOAL, TO_FIRST, FROM_LAST or TO_SECOND
        ("from_cell", "i8"),  # cell of the agent when the selection began
        ("candidate", "i8"),  # index of the record that is being tried, in the list of the most similar records
        ("found", "i8"),  # number of similar records found, -1: not searched for yet
        ("climber", "i8"),  # cell that the present climb has reached, -1: the climb has not begun
        ("climbed", "i8"),  # number of steps of the present climb
        ("steps", "i8"),  # number of steps of all climbs so far
        ("most_steps", "i8"),  # largest number of climbing steps in one tick
        ("selections", "i8"),
        ("did", "i8"),  # bits for the events of the last tick, such as LOST and REACHED
    ],
    align=True,
)

# Bits of `did`, the events of a tick. LOST: the record could no longer be followed. REACHED: a target was reached.
# BEGAN: a selection began. ASKED: records were tried. STRAIGHT: the goal can be climbed to. TAKEN: a record was chosen.
# NONE_FITS: none of the similar records can be used.
LOST, REACHED, BEGAN, ASKED, STRAIGHT, TAKEN, NONE_FITS = 1, 2, 4, 8, 16, 32, 64

# Stages of a selection, named after the climb that is tested. SETTLED: no selection is under way.
# TO_GOAL: from the agent to its goal. TO_FIRST, TO_SECOND: from the agent to the first or second cell of a record.
# FROM_LAST: from the last cell of a record to the agent's goal.
SETTLED, TO_GOAL, TO_FIRST, FROM_LAST, TO_SECOND = 0, 1, 2, 3, 4

# Verdicts on a candidate record. UNTRIED: not tested. ACCEPTED: chosen. NO_WAY_TO_IT: no climb from the agent to it.
# NO_WAY_FROM_IT: no climb from it to the goal. DROPPED: excluded, because following it failed earlier.
UNTRIED, ACCEPTED, NO_WAY_TO_IT, NO_WAY_FROM_IT, DROPPED = 0, 1, 2, 3, 4

UNDER_WAY, CLIMBED, GAVE_UP = 0, 1, 2  # states of a climb: not finished; at its last cell; failed


class RecordChoice(NamedTuple):
    """Records considered in a selection, verdicts on them, and the targets chosen.

    Make it only with new_record_choice().
    """

    similar: SimilarRecords
    verdicts: np.ndarray  # int8[similar records] verdict on each similar record, such as ACCEPTED
    queue: np.ndarray  # int32[length of the longest record + 1] target cells, in the order in which to head for them
    dropped: np.ndarray  # uint8[records] 1 for a record that led nowhere on a changed map; it is not taken again


def new_record_choice(similar: int, records: int, longest: int) -> RecordChoice:
    return RecordChoice(
        new_similar_records(similar),
        np.zeros(similar, np.int8),
        np.zeros(longest + 1, np.int32),
        np.zeros(records, np.uint8),
    )


@kernel
def drop_choice(control):
    """Drop the present record and targets, so that the agent selects in its next tick."""
    it = control[0]
    it.record = -1
    it.targets = 0
    it.next = 0
    it.quota = 0
    it.leg = 0
    it.stage = SETTLED


@kernel
def run_ticks(ground, records, choice, targets, state, control, rows):
    """Plan and act for up to len(rows) ticks. Returns the ticks done, fewer if the tables of h must grow first."""
    st, it = state[0], control[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE or must_grow(targets):
            return tick
        used, phase = 0, log.WAITING
        it.did = 0
        if has_no_moves(ground, st):
            st.status = log.NO_PATH
        else:
            choose_target(ground, records, choice, st, it)
            set_target(ground, targets, np.int64(choice.queue[it.next]))
            used, phase = move_agent(ground, choice, targets, st, it)
        log.write_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def move_agent(ground, choice, targets, st, it):
    """Make one move toward the present target. Returns the expansions and the phase of the tick."""
    if step_toward(ground, targets, st):
        it.leg += 1
        if it.quota > 0:
            it.quota -= 1
        return 1, log.FOLLOWING if it.record >= 0 else log.LEARNING
    if is_goal_target(targets):
        st.status = log.NO_PATH
    else:
        drop_record(choice, it)
    return 1, log.WAITING


# --- targets ----------------------------------------------------------------------------------------------


@kernel
def choose_target(ground, records, choice, st, it):
    """Ensure that queue[next] is a target other than the agent's own cell. Writes: st, it, choice."""
    if it.record >= 0 and is_record_lost(ground, choice, it):
        it.did |= LOST
        drop_record(choice, it)
    skip_reached_targets(choice, st, it)
    if it.stage == SETTLED and (it.next >= it.targets or it.quota == 0):
        begin_selection(st, it)
        if it.next >= it.targets:
            make_goal_only_target(choice, st, it)
    if it.stage != SETTLED:
        continue_selection(ground, records, choice, st, it)
        skip_reached_targets(choice, st, it)


@kernel
def skip_reached_targets(choice, st, it):
    """Advance in the queue past targets that the agent has reached. Afterwards the queue may have no targets left."""
    while it.next < it.targets and choice.queue[it.next] == st.loc:
        it.next += 1
        it.leg = 0
        it.did |= REACHED


@kernel
def is_record_lost(ground, choice, it):
    """Return whether the present record can no longer be followed, which can only happen after a map change."""
    target = choice.queue[min(it.next, it.targets - 1)]
    return it.is_stale and (ground.moves[target] == 0 or it.leg > it.cap)


@kernel
def drop_record(choice, it):
    """Stop following the present record, and exclude it from later selections."""
    choice.dropped[it.record] = 1
    it.record = -1
    it.targets = 0
    it.next = 0
    it.quota = 0


@kernel
def make_goal_only_target(choice, st, it):
    """Stop following a record, and make the goal the only target."""
    choice.queue[0] = st.goal
    it.targets = 1
    it.next = 0
    it.leg = 0
    it.record = -1


# --- selection --------------------------------------------------------------------------------------------


@kernel
def begin_selection(st, it):
    """Begin a selection at the agent's cell. The climb to the goal comes first if it is enabled, otherwise records."""
    it.stage = TO_GOAL if it.direct else TO_FIRST
    it.from_cell = st.loc
    it.candidate = 0
    it.found = -1  # similar records are not searched for yet
    it.climber = -1
    it.selections += 1
    it.did |= BEGAN


@kernel
def continue_selection(ground, records, choice, st, it):
    """Continue the selection, with at most `spread` steps of climbing in this tick."""
    left = it.spread if it.spread else np.int64(1) << 62
    before = it.steps
    while it.stage != SETTLED:
        if it.stage == TO_FIRST and not has_candidate_left(ground, records, choice, st, it):
            make_goal_only_target(choice, st, it)
            it.quota = it.cap
            it.stage = SETTLED
            it.did |= ASKED | NONE_FITS
            break
        room = left - (it.steps - before)
        if room <= 0:
            break
        if it.stage != TO_GOAL:
            it.did |= ASKED
        result = continue_climb(ground, st, it, *climb_ends(records, choice, st, it), room)
        if result == UNDER_WAY:
            break
        it.climber = -1
        if it.stage == TO_GOAL:
            handle_goal_climb(choice, st, it, result == CLIMBED)
        elif it.stage == TO_SECOND:
            choose_record(records, choice, st, it, result == CLIMBED)
        else:
            handle_record_climb(records, choice, st, it, result == CLIMBED)
    it.most_steps = max(it.most_steps, it.steps - before)


@kernel
def has_candidate_left(ground, records, choice, st, it):
    """Return whether a similar record remains to be tried. Finds the similar records first if this is not done yet.

    Writes: choice, it.
    """
    if it.found < 0:
        it.found = find_similar_records(ground, records, it.from_cell, st.goal, choice.similar)
        choice.verdicts[:] = UNTRIED
    while it.candidate < it.found and choice.dropped[choice.similar.records[it.candidate]]:
        choice.verdicts[it.candidate] = DROPPED
        it.candidate += 1
    return it.candidate < it.found


@kernel
def climb_ends(records, choice, st, it):
    """Return the first and the last cell of the climb that the present stage of the selection tests."""
    if it.stage == TO_GOAL:
        return np.int64(it.from_cell), np.int64(st.goal)
    r = choice.similar.records[it.candidate]
    first, after = records.offsets[r], records.offsets[r + 1]
    if it.stage == TO_FIRST:
        return np.int64(it.from_cell), np.int64(records.cells[first])
    if it.stage == TO_SECOND:
        return np.int64(it.from_cell), np.int64(records.cells[first + 1])
    return np.int64(records.cells[after - 1]), np.int64(st.goal)


@kernel
def continue_climb(ground, st, it, a, b, room):
    """Continue the climb from a to b for up to `room` steps. Returns UNDER_WAY, CLIMBED or GAVE_UP.

    The climb gives up after `cap` steps.
    """
    if it.climber < 0:
        it.climber, it.climbed = a, 0
    while it.climber != b:
        if it.climbed == it.cap:
            st.marks |= log.CAP_HIT
            return GAVE_UP
        if room == 0:
            return UNDER_WAY
        t = next_climb_cell(ground, it.climber, b)
        if t < 0 or h0_cells(ground, t, b) >= h0_cells(ground, it.climber, b):
            return GAVE_UP
        it.climber = t
        it.climbed += 1
        it.steps += 1
        room -= 1
    return CLIMBED


@kernel
def handle_goal_climb(choice, st, it, is_climbed):
    """Handle the result of the climb to the goal: make the goal the target, or continue with trying records."""
    if is_climbed:
        make_goal_only_target(choice, st, it)
        it.quota = -1
        it.stage = SETTLED
        it.did |= STRAIGHT
    else:
        it.stage = TO_FIRST


@kernel
def handle_record_climb(records, choice, st, it, is_climbed):
    """Handle the result of a candidate record's climb: begin its next test, try the next candidate, or choose it."""
    if not is_climbed:
        choice.verdicts[it.candidate] = NO_WAY_TO_IT if it.stage == TO_FIRST else NO_WAY_FROM_IT
        it.candidate += 1
        it.stage = TO_FIRST
    elif it.stage == TO_FIRST:
        it.stage = FROM_LAST
    elif it.skips_first:
        it.stage = TO_SECOND
    else:
        choose_record(records, choice, st, it, False)


@kernel
def choose_record(records, choice, st, it, skips_first):
    """Choose the candidate record: its cells, followed by the goal, become the agent's targets."""
    r = choice.similar.records[it.candidate]
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
    it.stage = SETTLED
    it.did |= TAKEN
