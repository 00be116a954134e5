"""The notes of the first example: each comes when what it tells of happens, goes with a key, and never comes again."""

from pathlib import Path

import pygame
import pytest

from files.shipped_files import SCENARIOS_FOLDER
from sim.kernels import log
from tests.window import at_cell, make_app, press_combination, settle
from ui.app import App
from ui.model import opened_files
from ui.model.settings import load_settings, save_settings
from ui.model.start_over import user_commands
from ui.model.tutorial_notes import TUTORIAL_NOTES, TutorialNotes


@pytest.fixture
def app() -> App:
    made = make_app(opened_files.open_any_file(opened_files.example_files()[0]).scenario, (1600, 900))
    made.window.ui_state.tutorial_notes = TutorialNotes(made.window.settings.closed_notes)
    return made


def test_notes_refer_to_agents_of_the_first_example() -> None:
    labels = {config.label for config in opened_files.open_any_file(opened_files.example_files()[0]).scenario.agents}
    assert {note.highlight.agent for note in TUTORIAL_NOTES} <= labels and 3 <= len(TUTORIAL_NOTES) <= 4


def test_each_note_appears_at_its_event_and_closes_on_escape(app: App, tmp_path: Path) -> None:
    settle(app)
    assert app.window.ui_state.tutorial_notes.shown_note is None, "nothing has happened yet"
    app.window.player.play()
    seen = []
    for _ in range(4000):
        app.run_frame(0.02)
        note = app.window.ui_state.tutorial_notes.shown_note
        if note is not None:
            view = app.session.run.panels[0].walker_view
            if note.key == "back-move":
                assert int(view.log_rows[-1].marks) & log.BACK_MOVE
            assert app.window.canvas.hit_region_with_id("note") is not None
            seen.append(note.key)
            was_running = app.window.player.step_clock.is_running
            press_combination(app, "Escape")
            assert app.window.player.step_clock.is_running == was_running
            assert app.window.ui_state.tutorial_notes.shown_note is not note
        if len(seen) == len(TUTORIAL_NOTES):
            break
    assert seen == [note.key for note in TUTORIAL_NOTES]
    path = tmp_path / "settings.yaml"
    save_settings(app.window.settings, path)
    again = TutorialNotes(load_settings(path)[0].closed_notes)
    again.update_shown_note(app.session)
    assert again.shown_note is None and not again.unclosed_notes


def test_note_disappears_when_its_agent_has_arrived(app: App) -> None:
    """Left alone to the end, the note of the best cell pointed at an agent that had arrived, and hid those after it."""
    notes = app.window.ui_state.tutorial_notes
    app.session.advance_by_ticks(5)
    settle(app)
    assert notes.shown_note.key == "best-cell"
    app.session.advance_by_ticks(3000)
    settle(app)
    assert notes.shown_note.key == "scrubbing" and notes.shown_note.position_text == "3 of 4"
    press_combination(app, "Escape")
    settle(app)
    assert notes.shown_note.key == "compare" and app.window.settings.closed_notes == ["scrubbing"]
    press_combination(app, "Escape")
    settle(app)
    assert notes.shown_note is None
    press_combination(app, "R")
    app.session.advance_by_ticks(5)
    settle(app)
    assert notes.shown_note.key == "best-cell", "it was not closed: it comes with the next walk"


def test_scrubbing_note_appears_at_the_thirtieth_revisit(app: App) -> None:
    notes = TutorialNotes([note.key for note in TUTORIAL_NOTES if note.key != "scrubbing"])
    (note,) = notes.unclosed_notes
    revisits = []
    while notes.shown_note is None:
        app.session.advance_by_ticks(1)
        (view,) = [
            panel.walker_view for panel in app.session.run.panels if panel.walker_view.label == note.highlight.agent
        ]
        revisits.append(view.metrics.revisits)
        notes.update_shown_note(app.session)
    assert 29 in revisits and revisits[-1] == 30


def test_click_on_a_note_closes_it_without_painting(app: App) -> None:
    press_combination(app, ".")
    settle(app)
    spot = app.window.canvas.hit_region_with_id("note")
    assert spot is not None
    where = spot.box[0] + 20, spot.box[1] + 20
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        pygame.event.post(pygame.event.Event(kind, button=1, pos=where))
    settle(app)
    assert app.window.settings.closed_notes == ["best-cell"] and not user_commands(
        app.session.run.focused_branch_timeline
    )


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (1600, 900)])
def test_note_covers_little_of_the_map(size: tuple[int, int]) -> None:
    made = make_app(opened_files.open_any_file(opened_files.example_files()[0]).scenario, size)
    made.window.ui_state.tutorial_notes = TutorialNotes([])
    made.window.player.play()
    for _ in TUTORIAL_NOTES:
        while made.window.ui_state.tutorial_notes.shown_note is None:
            made.run_frame(0.05)
        settle(made)
        note = made.window.ui_state.tutorial_notes.shown_note
        spot = made.window.canvas.hit_region_with_id("note")
        boxes = next(
            b
            for panel, b in made.window.map_view.panels_with_boxes()
            if panel.walker_view.label == note.highlight.agent
        )
        covered = pygame.Rect(spot.box).clip(pygame.Rect(boxes.map_box))
        assert covered.height <= boxes.map_box[3] * 0.4 or not covered.width
        assert made.window.surface.get_rect().contains(pygame.Rect(spot.box))
        press_combination(made, "Escape")


def test_note_keeps_its_position_while_the_agent_moves(app: App) -> None:
    canvas, places, heights = app.window.canvas, set(), set()
    while app.window.ui_state.tutorial_notes.shown_note is None:
        app.session.advance_by_ticks(1)
        settle(app)
    for _ in range(20):
        app.session.advance_by_ticks(60)
        settle(app)
        places.add(canvas.hit_region_with_id("note").box)
        best = app.session.run.panels[0].walker_view.agent.best
        heights.add(app.session.run.world.grid.xy(best)[1] < app.session.run.world.grid.height // 2)
    assert heights == {True, False}, "what it points at was in both halves of the map"
    assert len(places) == 1


def test_note_does_not_cover_its_target() -> None:
    """The goal is at the foot of the map: at the end of the run the note of the best cell lay over the agent."""
    made = make_app(opened_files.open_any_file(opened_files.example_files()[0]).scenario, (1280, 720))
    made.window.ui_state.tutorial_notes = TutorialNotes([])
    heights = set()
    for _ in range(20):
        made.session.advance_by_ticks(60)
        settle(made)
        note = pygame.Rect(made.window.canvas.hit_region_with_id("note").box)
        panel = made.session.run.panels[0]
        assert not note.collidepoint(at_cell(made, *made.session.run.world.grid.xy(panel.walker_view.agent.best)))
        heights.add(note.y)
    assert len(heights) == 2, "or nothing had to make way"


@pytest.mark.parametrize("size", [(800, 600), (1280, 720)])
def test_note_lies_outside_panels_when_maps_are_too_small(size: tuple[int, int]) -> None:
    made = make_app(opened_files.open_any_file(opened_files.example_files()[0]).scenario, size)
    made.window.ui_state.tutorial_notes = TutorialNotes([])
    made.session.advance_by_ticks(3)
    settle(made)
    note = pygame.Rect(made.window.canvas.hit_region_with_id("note").box)
    assert sum(bool(note.colliderect(boxes.panel_box)) for _, boxes in made.window.map_view.panels_with_boxes()) == (
        size[0] > 800
    )


def test_pointer_line_of_a_note_ends_before_its_target(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[tuple[tuple[int, int], tuple[int, int]]] = []
    app.session.advance_by_ticks(2)
    settle(app)
    x, y, width, height = app.window.canvas.hit_region_with_id("note").box
    best = at_cell(app, *app.session.run.world.grid.xy(app.session.run.panels[0].walker_view.agent.best))
    monkeypatch.setattr(pygame.draw, "line", lambda surface, colour, start, end, *thick: lines.append((start, end)))
    app.draw_window()
    ends = [end for start, end in lines if start[1] in (y, y + height) and x <= start[0] <= x + width]
    assert len(ends) == 2 and all(pygame.Vector2(end).distance_to(best) > 12 for end in ends)


def test_other_examples_have_no_notes(app: App) -> None:
    app.window.document_opener.open_path(opened_files.example_files()[1])
    settle(app)
    assert app.window.ui_state.tutorial_notes is None


def test_gallery_example_speed_does_not_replace_the_user_speed(app: App) -> None:
    app.window.player.set_speed(60)
    press_combination(app, "G")
    settle(app)
    press_combination(app, "Right")
    press_combination(app, "Right")
    press_combination(app, "Return")
    settle(app)
    own = app.session.run.scenario.view["speed"]
    assert app.window.player.step_clock.is_running and app.window.player.speed == own != 60
    app.window.copy_window_state_to_settings()
    assert app.window.settings.speed == 60
    app.window.document_opener.open_path(SCENARIOS_FOLDER / "no-path.yaml")
    settle(app)
    assert not app.window.player.step_clock.is_running
