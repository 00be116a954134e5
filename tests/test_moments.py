"""Moments of a run: each found again by going through the ticks one by one, and reached from the window."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pygame
from hypothesis import given
from hypothesis import strategies as st

from sim.kernels import log
from sim.time.agent_records import AgentRecord
from sim.time.run_moments import (
    costliest_restart,
    costliest_tick,
    first_agent_difference,
    first_branch_difference,
    longest_scrub,
)
from sim.time.timeline import Timeline
from sim.world_commands import AgentConfig, EditCells, SetParam
from tests.window import ROOT, make_app, press_combination, settle
from ui.model import branch_actions
from ui.model.notable_moments import first_difference_moment, notable_moments
from ui.model.opened_files import open_any_file
from ui.model.session import Session

from .runs import setups

SCRUBBING = ROOT / "assets" / "scenarios" / "scrubbing.yaml"


def make_record(cells: list[int], expanded: list[int] | None = None, marks: list[int] | None = None) -> AgentRecord:
    """An agent that was put on the first cell at tick 5 and was on the others after each tick from then on."""
    rows = log.new_tick_log(len(cells) - 1)
    rows["cell"] = cells[1:]
    rows["expanded"] = expanded or 0
    rows["marks"] = marks or 0
    record = AgentRecord(0, "a", "tba", 5, cells[0])
    record.append(5, rows)
    return record


def test_scrub_is_consecutive_revisits_not_ended_by_waits() -> None:
    found = longest_scrub(make_record([1, 2, 3, 2, 2, 1, 2, 9, 3, 9]), 99)
    assert found is not None
    assert (found.begin_tick, found.end, found.moves, found.cells) == (7, 11, 3, 2)
    assert longest_scrub(make_record([1, 2, 3, 4]), 99) is None
    assert longest_scrub(make_record([1, 2, 3, 2, 1]), 7) is None, "later ticks do not count"


def test_scrub_does_not_continue_across_trials() -> None:
    assert longest_scrub(make_record([1, 2, 1, 2, 3], marks=[0, log.TRIAL_BEGAN, 0, 0]), 99) is None


@given(st.integers(0, 10_000))
def test_largest_scrub_matches_naive_count(seed: int) -> None:
    chance = random.Random(seed)
    cells = [chance.randrange(8) for _ in range(chance.randrange(2, 40))]
    seen, runs, run = {cells[0]}, [0], 0
    for before, cell in pairwise(cells):
        if cell == before:
            continue
        run = run + 1 if cell in seen else 0
        seen.add(cell)
        runs.append(run)
    found = longest_scrub(make_record(cells), 99)
    assert (found.moves if found else 0) == max(runs)


def test_dearest_tick_and_restart_are_found() -> None:
    record = make_record([1, 2, 3, 4, 5], [3, 1, 4, 4], [0, log.RESTARTED, 0, log.RESTARTED])
    tick, restart = costliest_tick(record, 99), costliest_restart(record, 99)
    assert tick is not None and (tick.tick, tick.expansions) == (8, 4)
    assert restart is not None and (restart.tick, restart.expansions) == (7, 5)
    assert costliest_restart(make_record([1, 2]), 99) is None


@given(setups(), st.integers(1, 60))
def test_first_difference_matches_stepwise_comparison(setup, tick: int) -> None:
    line = Timeline(setup)
    line.advance(60)
    other = line.fork(min(tick, line.tick))
    other.finish_seek()
    cells = [c for c in range(other.world.grid.cells) if other.world.grid.free_mask[c]]
    other.apply_command(EditCells(tuple(cells[1:4])))
    other.advance(40)
    last = min(line.run_history.recorded_end, other.run_history.recorded_end)
    found = first_branch_difference(line, other, last)
    if other.tick <= tick and found is None:
        return
    if last > tick:
        assert found is not None and found.tick == tick and found.log_entry is not None and not found.is_in_first_branch
    for agent in line.run_history.agent_records.keys() & other.run_history.agent_records.keys():
        apart = first_agent_difference(
            line.run_history.agent_records[agent], other.run_history.agent_records[agent], last
        )
        if apart and apart.field_name == "cell":
            a, b = line.run_history.agent_records[agent], other.run_history.agent_records[agent]
            assert a.cell_at_tick(apart.tick) == apart.first_value != apart.second_value == b.cell_at_tick(apart.tick)
            assert all(
                a.cell_at_tick(t) == b.cell_at_tick(t) for t in range(max(a.joined_tick, b.joined_tick), apart.tick)
            )


def test_first_parting_compares_cells_of_two_agents() -> None:
    session = Session(open_any_file(SCRUBBING).scenario)
    session.advance_by_ticks(300)
    found = first_difference_moment(session)
    assert found is not None
    one, other = (session.run.focused_branch_timeline.run_history.agent_records[agent] for agent in (0, 1))
    assert one.cell_at_tick(found.tick) != other.cell_at_tick(found.tick)
    assert all(one.cell_at_tick(t) == other.cell_at_tick(t) for t in range(found.tick))
    assert "one cell a tick goes to" in found.text and "sixteen" in found.text


def test_first_parting_names_the_differing_command() -> None:
    session = Session(open_any_file(SCRUBBING).scenario)
    session.advance_by_ticks(50)
    branch_actions.create_branch_at_current_tick(session)
    session.submit_command(SetParam(0, "weight", 3.0))
    session.advance_by_ticks(30)
    found = first_difference_moment(session)
    assert found is not None and found.tick == 50 and "only in" in found.text and "weight" in found.text


def test_moments_list_seeks_by_click_and_enter() -> None:
    scenario = open_any_file(SCRUBBING).scenario
    app = make_app(replace(scenario, agents=(*scenario.agents, AgentConfig("rtb-wa", params={"restart": "eager"}))))
    app.session.advance_by_ticks(400)
    app.session.submit_command(EditCells((int(np.flatnonzero(app.session.run.world.grid.free_mask)[600]),)))
    app.session.advance_by_ticks(200)
    titles = [moment.title for moment in notable_moments(app.session)]
    assert titles == [
        "Largest scrub",
        "Most expensive tick",
        "Most expensive restart",
        "First difference between A and B",
    ]
    press_combination(app, "Alt+O")
    dialog = app.window.dialogs.current_dialog
    rect = dialog.item_list.element.rect
    where = rect.x + 40, rect.y + dialog.to_px(20)
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        pygame.event.post(pygame.event.Event(kind, button=1, pos=where))
    settle(app)
    assert app.window.dialogs.current_dialog is None and app.session.tick == dialog.moments[0].tick
    press_combination(app, "Alt+O")
    dialog = app.window.dialogs.current_dialog
    press_combination(app, "Down")
    press_combination(app, "Return")
    app.session.run.focused_branch_timeline.finish_seek()
    assert app.session.tick == app.session.run.focused_branch_timeline.tick == dialog.moments[1].tick
    press_combination(app, "Alt+D")
    assert "goes to" in app.window.ui_state.message_queue.queued_message_texts()[-1]
