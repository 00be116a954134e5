"""Lessons: ours are played to their ends and what they claim is checked; wrong files say where; a window gives them."""

import re
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from cli import check_lesson
from files.lesson import parse_lesson
from files.lesson_claims import LessonClaim, find_broken_claims
from sim.params import ConfigError
from sim.system.load_progress import send_progress_to
from tests.window import ROOT, make_app, press_combination, settle
from ui.app import App
from ui.model import opened_files
from ui.model.background_job import JobCancelledError
from ui.model.lesson_player import LessonPlayer
from ui.model.player import Player
from ui.model.session import Session
from ui.model.start_over import user_commands
from ui.panels import pseudocode_card

LESSONS = opened_files.lesson_files()
SMALL = """format: backmove-lesson
version: 1
title: Small
about: A lesson for tests.
run:
  map: {rows: [".....", ".@@@.", "....."]}
  start: [0, 1]
  goal: [4, 1]
  agents: [{kind: tb-wa, label: A}, {kind: tba, label: B, budget: 10}]
steps:
  - text: One.
    show: [A]
  - text: Two.
    question: Well?
    answers: [this, that]
    right: 2
    because: So it is.
  - text: Three.
    to: {agent: A, event: arrival}
    claims: [{agent: A, state: arrived}]
"""


def test_highlighted_cells_are_given_as_pairs_or_runs() -> None:
    text = SMALL.replace("    show: [A]\n", "    highlight: [{agent: A, cells: CELLS}]\n")
    runs, pairs = (text.replace("CELLS", cells) for cells in ("{runs: '1-3,2'}", "[[1, 2], [2, 2], [3, 2]]"))
    assert parse_lesson(runs, "x.yaml", AGENT_SPECS_BY_KEY) == parse_lesson(pairs, "x.yaml", AGENT_SPECS_BY_KEY)
    with pytest.raises(ConfigError, match="which is 5 x 3, got '1-5,2'"):
        parse_lesson(text.replace("CELLS", "{runs: '1-5,2'}"), "x.yaml", AGENT_SPECS_BY_KEY)


def test_four_lessons_ship_with_known_titles() -> None:
    titles = [opened_files.read_lesson(path).title for path in LESSONS]
    assert titles == ["Why agents scrub", "Weight tames it", "Lazy or eager", "What learning costs"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_shipped_lesson_claims_hold_in_the_run(path) -> None:
    assert find_broken_claims(opened_files.read_lesson(path), AGENT_SPECS_BY_KEY) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lessons_ask_before_the_answer_and_make_claims_in_most_steps(path) -> None:
    lesson = opened_files.read_lesson(path)
    asked = [place for place, step in enumerate(lesson.steps) if step.question is not None]
    assert asked and all(step.text for step in lesson.steps)
    for place in asked:
        after = lesson.steps[place + 1 :]
        assert any(step.begin_condition is not None or step.shown_agents is not None for step in after), (
            "nothing is shown after it"
        )
    assert sum(bool(step.claims) for step in lesson.steps) * 2 > len(lesson.steps)


def test_numbers_in_lesson_texts_are_covered_by_claims() -> None:
    """Numbers of the form 577 or 10.9 in texts of steps with claims: each is within a limit of one of them."""
    for path in LESSONS:
        for step in opened_files.read_lesson(path).steps:
            limits = [limit for claim in step.claims for limit in (claim.least, claim.most) if limit is not None]
            for number in re.findall(r"(?<![\w.])\d{2,}(?:\.\d+)?(?![\w.]*\d)", step.text):
                if step.claims and float(number) not in (16, 66, 100):
                    near = any(abs(float(number) - limit) <= 0.1 + 0.01 * abs(limit) for limit in limits)
                    assert near, f"{path.stem}: {number} in {step.text!r}"


def test_wrong_claim_is_reported_with_step_and_line() -> None:
    lesson = parse_lesson(SMALL.replace("state: arrived", "state: waiting"), "x.yaml", AGENT_SPECS_BY_KEY)
    assert find_broken_claims(lesson, AGENT_SPECS_BY_KEY) == ["20: step 3: A is claimed to be waiting, but is arrived"]
    claims = (
        LessonClaim("A", "moves", least=1000),
        LessonClaim("A", "moves", more_than="A"),
        LessonClaim("A", "moves", most=0),
    )
    wrong = replace(lesson, steps=(replace(lesson.steps[2], claims=claims),))
    assert len(find_broken_claims(wrong, AGENT_SPECS_BY_KEY)) == 3


CHECKED = SMALL.replace(
    "answers: [this, that]",
    "answers: [{text: this, claims: [{agent: A, measure: moves, most: 3}]}, "
    "{text: that, claims: [{agent: A, measure: moves, least: 4}, {agent: A, state: arrived}]}]",
)


def test_answers_marked_against_their_claims_are_refused() -> None:
    assert find_broken_claims(parse_lesson(CHECKED, "x.yaml", AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY) == []
    wrong = parse_lesson(CHECKED.replace("right: 2", "right: 1"), "x.yaml", AGENT_SPECS_BY_KEY)
    assert [problem.split(", but has")[0] for problem in find_broken_claims(wrong, AGENT_SPECS_BY_KEY)] == [
        "16: step 2: answer 1 is marked as right, but in step 3 A is claimed to have moves at most 3",
        "16: step 2: answer 2 is marked as wrong, but its claim is true in step 3",
    ]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_shipped_questions_detect_any_wrong_answer_mark(path) -> None:
    lesson = opened_files.read_lesson(path)
    asked = [place for place, step in enumerate(lesson.steps) if step.question is not None]
    for place in asked:
        question = lesson.steps[place].question
        for other in range(len(question.answers)):
            if other != question.right_answer_index:
                step = replace(lesson.steps[place], question=replace(question, right_answer_index=other))
                steps = (*lesson.steps[:place], step, *lesson.steps[place + 1 :])
                assert len(find_broken_claims(replace(lesson, steps=steps), AGENT_SPECS_BY_KEY)) == 2, question.answers[
                    other
                ]


def test_check_lesson_refuses_wrong_mark_and_counts_unchecked_questions(tmp_path, capsys) -> None:
    place = tmp_path / "small.yaml"
    place.write_text(CHECKED.replace("right: 2", "right: 1"), encoding="utf-8")
    assert check_lesson.main([str(place)]) == 2
    assert f"{place}:16: step 2: answer 1 is marked as right, but" in capsys.readouterr().err
    place.write_text(SMALL, encoding="utf-8")
    assert check_lesson.main([str(place)]) == 0
    assert (
        "3 steps, 1 claim, 1 question, 1 of them not checked, because no answer has claims" in capsys.readouterr().out
    )


def test_waiting_for_a_past_event_reports_its_tick() -> None:
    text = SMALL + "  - text: Again.\n    to: {agent: A, event: back_move}\n"
    lesson = parse_lesson(SMALL, "x.yaml", AGENT_SPECS_BY_KEY)
    arrived = lesson.ticks[-1]
    with pytest.raises(ConfigError, match=rf"never happens; A was already done \(arrived\) in tick {arrived}; the run"):
        parse_lesson(text, "x.yaml", AGENT_SPECS_BY_KEY)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1", "version: 2", "x.yaml:2: version: expected 1, got 2"),
        ("title: Small\n", "", "title: expected text, got nothing"),
        (
            "[this, that]",
            "[{text: this, claim: []}, that]",
            "steps[1].answers[0].claim: no such key; did you mean 'claims'?",
        ),
        (
            "[this, that]",
            "[{claims: []}, that]",
            "steps[1].answers[0].text: expected what the answer says, got nothing",
        ),
        ("    show: [A]", "    seen_after: 2", "steps[0].seen_after: is allowed only with a question"),
        (
            "answers: [this, that]",
            "seen_after: 2\n    answers: [{text: this, claims: [{agent: A, state: arrived}]}, that]",
            "steps[1]: expected a step 4, where the run shows the right answer",
        ),
        ("show: [A]", "show: [C]", "x.yaml:12: steps[0].show[0]: unknown name 'C'"),
        (
            "right: 2",
            "right: 3",
            "x.yaml:16: steps[1].right: expected the number of an answer",
        ),
        (
            "event: arrival",
            "event: arival",
            "x.yaml:19: steps[2].to.event: unknown name 'arival'; did you",
        ),
        ("text: One.", "txt: One.", "x.yaml:11: steps[0].txt: no such key; did you mean 'text'?"),
        ("label: B", "label: A", "expected a different label for each agent, got 'A' more than once"),
        ("goal: [4, 1]", "goal: [2, 1]", "x.yaml:8: run.goal: expected a free cell"),
        (
            "to: {agent: A, event: arrival}",
            "to: {agent: A, event: restart}",
            "x.yaml:19: step 3: what the step waits for never happens; the run is over at tick",
        ),
        ("    show: [A]", "    right: 1", "x.yaml:12: steps[0].right: is allowed only with a question"),
        ("    because: So it is.\n", "", "x.yaml:13: steps[1].because: expected text, got nothing"),
        ("    show: [A]", "    to: 9000", "x.yaml:12: step 1: the run is over at tick"),
        (
            "    show: [A]",
            "    to: 2\n  - text: Back.\n    to: 1",
            "x.yaml:14: step 2: tick 1 is before tick 2, the tick of the previous step",
        ),
        (
            "state: arrived",
            "state: arived",
            "x.yaml:20: steps[2].claims[0].state: unknown name 'arived'; did",
        ),
        ("state: arrived", "state: arrived, least: 3", "claims[0].least: is not allowed with a state"),
        ("event: arrival", "event: arrival, reaches: 3", "steps[2].to.reaches: is allowed only with a measure"),
        ("event: arrival", "measure: moves, reaches: 3, count: 2", "steps[2].to.count: is allowed only with an event"),
        (
            "    show: [A]",
            "    highlight: [{agent: A, what: longest_stay}]",
            "x.yaml:12: steps[0].highlight[0].what: unknown name 'longest_stay'",
        ),
        ("run:\n", "run:\n  format: backmove-scenario\n", "run.format: is not allowed in the run of a lesson"),
    ],
)
def test_wrong_lesson_file_reports_errors_with_lines(old: str, new: str, said: str) -> None:
    assert old in SMALL
    with pytest.raises(ConfigError) as error:
        parse_lesson(SMALL.replace(old, new), "x.yaml", AGENT_SPECS_BY_KEY)
    assert any(said in problem for problem in error.value.problems), error.value.problems


def test_errors_of_run_and_steps_are_reported_together() -> None:
    text = SMALL.replace("kind: tba,", "kind: tbz,").replace("right: 2", "right: 3").replace("to: {", "too: {")
    with pytest.raises(ConfigError) as error:
        parse_lesson(text, "x.yaml", AGENT_SPECS_BY_KEY)
    assert [problem.split(":")[1] for problem in error.value.problems] == ["9", "16", "19"]


def test_claim_on_an_undefined_measure_fails() -> None:
    text = SMALL.replace("show: [A]", "claims: [{agent: A, measure: twentieth_move, most: 9}]")
    lesson = parse_lesson(text, "x.yaml", AGENT_SPECS_BY_KEY)
    assert find_broken_claims(lesson, AGENT_SPECS_BY_KEY) == ["12: step 1: A has no twentieth_move yet"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_steps_are_the_same_forwards_and_backwards(path) -> None:
    lesson = opened_files.read_lesson(path)
    session = Session(lesson.scenario)
    player = Player(session, 30)
    playing = LessonPlayer(lesson, lesson.ticks)
    playing.begin_lesson(session, player)
    digests = []
    for place in range(len(lesson.steps)):
        assert playing.step_index == place
        while playing.is_before_current_step(session):
            player.update_frame(1.0, 10.0)
            player.pause_if_run_ended()
            playing.pause_at_step(session, player)
        assert session.tick == playing.tick and not player.step_clock.is_running
        digests.append(session.run.world.compute_digest())
        if playing.current_step.question is not None:
            playing.go_to_next_step(session, player)
            assert playing.step_index == place, "the answer comes first"
            playing.choose_answer(0)
        playing.go_to_next_step(session, player)
    assert playing.is_last_step
    for place in reversed(range(len(lesson.steps) - 1)):
        playing.go_to_previous_step(session, player)
        session.run.focused_branch_timeline.finish_seek()
        assert (playing.step_index, session.tick, session.run.world.compute_digest()) == (
            place,
            playing.tick,
            digests[place],
        )


# --- lessons of strangers -------------------------------------------------------------------------

ENDLESS = (
    SMALL.replace("{kind: tb-wa, label: A}", "{kind: lrta, label: A}")
    .replace('".@@@."', '".@.@."')
    .replace("goal: [4, 1]", "goal: [2, 1]")
)


def test_step_beyond_the_tick_limit_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"steps\[2\]\.to: expected a whole number from 0 to 200,000"):
        parse_lesson(ENDLESS.replace("{agent: A, event: arrival}", "1000000000"), "x.yaml", AGENT_SPECS_BY_KEY)


@pytest.mark.parametrize("when", ["150000", "{agent: A, event: arrival}"])
def test_search_for_a_step_can_be_cancelled(when: str) -> None:
    def cancel_on_progress(share: float) -> None:
        raise JobCancelledError

    with send_progress_to(cancel_on_progress), pytest.raises(JobCancelledError):
        parse_lesson(ENDLESS.replace("{agent: A, event: arrival}", when), "x.yaml", AGENT_SPECS_BY_KEY)


def test_step_naming_a_removed_agent_is_refused() -> None:
    removed = SMALL.replace("steps:", "  edits: [{tick: 1, remove: A}]\nsteps:")
    with pytest.raises(ConfigError, match=r"x\.yaml:20: step 3: A no longer exists in tick 2"):
        parse_lesson(removed, "x.yaml", AGENT_SPECS_BY_KEY)
    spoken_of = removed.replace("to: {agent: A, event: arrival}", "to: 3")
    assert find_broken_claims(parse_lesson(spoken_of, "x.yaml", AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY) == [
        "21: step 3: A no longer exists in tick 3: it was removed during the run"
    ]


# --- in the window --------------------------------------------------------------------------------


def click(app: App, spot_id: str) -> None:
    spot = app.window.canvas.hit_region_with_id(spot_id)
    assert spot is not None, spot_id
    where = spot.box[0] + spot.box[2] // 2, spot.box[1] + spot.box[3] // 2
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        pygame.event.post(pygame.event.Event(kind, button=1, pos=where))
    settle(app)
    settle(app)


@pytest.fixture
def app() -> App:
    made = make_app(opened_files.open_any_file(ROOT / "assets" / "scenarios" / "rooms.yaml").scenario, (1280, 720))
    press_combination(made, "Shift+G")
    settle(made)
    press_combination(made, "Return")
    settle(made)
    settle(made)
    return made


def test_lesson_starts_from_list_and_plays_both_ways(app: App) -> None:
    playing = app.window.ui_state.lesson_player
    assert playing is not None and playing.lesson.title == "Why agents scrub"
    assert [panel.walker_view.label for panel, _ in app.window.map_view.panels_with_boxes()] == ["one cell a tick"]
    click(app, "lesson:lesson_next")
    press_combination(app, "Ctrl+PageDown")  # at once
    settle(app)
    assert app.session.tick == 3
    press_combination(app, "Ctrl+PageDown")
    assert playing.step_index == 2 and playing.waits_for_answer
    press_combination(app, "Ctrl+PageDown")
    assert playing.step_index == 2
    click(app, "lesson:answer:1")
    assert playing.chosen_answer == 1
    click(app, "lesson:lesson_next")
    for _ in range(400):
        app.run_frame(0.05)
    assert app.session.tick == playing.tick and not app.window.player.step_clock.is_running
    assert int(app.session.run.panels[0].walker_view.log_rows[-1].marks) & 1
    click(app, "lesson:lesson_back")
    click(app, "lesson:lesson_back")
    assert playing.step_index == 1 and app.session.tick == 3
    click(app, "lesson:lesson_end")
    assert app.window.ui_state.lesson_player is None and len(app.window.map_view.panels_with_boxes()) == 3
    assert app.window.player.speed == 30


def test_opening_another_run_ends_the_lesson(app: App) -> None:
    app.window.document_opener.open_path(ROOT / "assets" / "scenarios" / "weights.yaml")
    settle(app)
    assert app.window.ui_state.lesson_player is None and len(app.window.map_view.panels_with_boxes()) == 4


def test_lesson_card_overlays_maps_without_sidebar(app: App) -> None:
    app.window.settings.shows_sidebar = False
    settle(app)
    assert app.window.canvas.hit_region_with_id("lesson:lesson_next") is not None
    click(app, "lesson:card")
    click(app, "lesson:lesson_back")
    assert not user_commands(app.session.run.focused_branch_timeline), (
        "a click on the card paints nothing on the map below"
    )
    press_combination(app, "Ctrl+Shift+PageDown")
    assert app.window.ui_state.lesson_player is None


def test_lesson_card_is_beside_maps_and_explains_wrong_answer_on_projector() -> None:
    """1024 x 768 with texts at 150 %: over the maps it hid what it speaks of."""
    app = make_app(
        opened_files.open_any_file(ROOT / "assets" / "scenarios" / "rooms.yaml").scenario, (1024, 768), scale=1.5
    )
    app.window.document_opener.open_path(ROOT / "assets" / "lessons" / "why-agents-scrub.yaml")
    settle(app)
    box = app.window.map_view.layout.sidebar_box
    assert box is not None and box[0] >= app.window.map_view.layout.panel_boxes[0].panel_box[0] + 480
    for _ in range(2):
        press_combination(app, "Ctrl+PageDown")
        press_combination(app, "Ctrl+PageDown")
    playing, scroll = app.window.ui_state.lesson_player, app.window.ui_state.sidebar_scroll_by_tab
    assert playing is not None and playing.waits_for_answer and not scroll.get(f"lesson {playing.step_index}")
    press_combination(app, "Alt+1")
    settle(app)
    assert 0 < scroll[f"lesson {playing.step_index}"] == app.window.ui_state.sidebar_hidden_height
    press_combination(app, "Ctrl+PageDown")
    assert not scroll.get(f"lesson {playing.step_index}"), "the next step is read from its beginning"


def test_slow_motion_shows_the_algorithm_on_projector() -> None:
    app = make_app(
        opened_files.open_any_file(ROOT / "assets" / "scenarios" / "rooms.yaml").scenario, (1024, 768), scale=1.5
    )
    assert app.window.map_view.layout.sidebar_box is None
    press_combination(app, "S")
    settle(app)
    assert (
        app.window.map_view.layout.sidebar_box is not None
        and pseudocode_card.focused_panel_and_pseudocode(app.window.view_context) is not None
    )
    press_combination(app, "S")
    settle(app)
    assert app.window.map_view.layout.sidebar_box is None


def test_lesson_step_sets_the_camera_in_both_directions(app: App) -> None:
    """Three moves of an agent on a map of 64 x 64 are seen only from near."""

    def cells() -> float:
        panel, boxes = app.window.map_view.panels_with_boxes()[0]
        return min(boxes.map_box[2:]) / app.window.map_view.camera_of_panel(panel.key, boxes).zoom

    playing = app.window.ui_state.lesson_player
    assert playing is not None and cells() >= 64
    for _ in range(2):
        press_combination(app, "Ctrl+PageDown")
    settle(app)
    assert playing.step_index == 1 and 12 <= cells() <= 16
    press_combination(app, "Ctrl+PageDown")
    assert 12 <= cells() <= 16, "as in the step before"
    for _ in range(2):
        press_combination(app, "Ctrl+PageUp")
    assert playing.step_index == 0 and cells() >= 64


def test_run_to_a_step_has_the_speed_of_the_step_until_the_lesson_ends() -> None:
    lesson = parse_lesson(
        SMALL.replace("  - text: Three.\n", "  - text: Three.\n    speed: 240\n"), "x.yaml", AGENT_SPECS_BY_KEY
    )
    session = Session(lesson.scenario)
    player = Player(session, 60)
    playing = LessonPlayer(lesson, lesson.ticks)
    playing.begin_lesson(session, player)
    playing.go_to_next_step(session, player)
    playing.choose_answer(1)
    assert (playing.step_index, player.speed) == (1, 60)
    playing.go_to_next_step(session, player)
    assert (playing.step_index, player.speed, player.step_clock.is_running) == (2, 240, True)
    playing.end_lesson(player)
    assert player.speed == 60


def test_lesson_step_without_heat_key_keeps_the_heat_map() -> None:
    text = SMALL.replace("  - text: Two.\n", "  - text: Two.\n    heat: visits\n")
    lesson = parse_lesson(text, "x.yaml", AGENT_SPECS_BY_KEY, heats=("off", "visits"))
    assert [lesson.heat_map_kind_at_step(place) for place in range(3)] == ["off", "visits", "visits"]


def test_lesson_without_camera_key_keeps_the_camera() -> None:
    lesson = parse_lesson(SMALL, "x.yaml", AGENT_SPECS_BY_KEY)
    assert {lesson.camera_at_step(place) for place in range(3)} == {None}
    near = parse_lesson(SMALL.replace("show: [A]", "camera: {x: 1, y: 1, cells: 3}"), "x.yaml", AGENT_SPECS_BY_KEY)
    assert near.camera_at_step(2) == (1.0, 1.0, 3.0)
    with pytest.raises(ConfigError) as error:
        parse_lesson(SMALL.replace("show: [A]", "camera: {x: 1, cells: big, z: 3}"), "x.yaml", AGENT_SPECS_BY_KEY)
    said = " ".join(error.value.problems)
    assert all(part in said for part in ("camera.z: no such key", "camera.y: expected a number", "camera.cells"))


@pytest.mark.parametrize("size", [(800, 600), (1280, 720)])
def test_next_button_is_visible_for_long_steps(size: tuple[int, int]) -> None:
    made = make_app(opened_files.open_any_file(ROOT / "assets" / "scenarios" / "rooms.yaml").scenario, size)
    made.window.document_opener.open_path(LESSONS[3])
    settle(made)
    playing = made.window.ui_state.lesson_player
    for place in range(len(playing.lesson.steps)):
        playing.step_index = place
        playing.choose_answer(0)
        settle(made)
        settle(made)
        spot = made.window.canvas.hit_region_with_id("lesson:lesson_next")
        assert spot is not None and pygame.Rect(made.window.map_view.layout.sidebar_box).contains(pygame.Rect(spot.box))


def test_check_lesson_checks_every_file_and_names_other_file_kinds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, right = tmp_path / "wrong.yaml", tmp_path / "right.yaml"
    wrong.write_text("format: backmove-scenario\nversion: 1\nagents: []\n")
    right.write_text(SMALL)
    assert check_lesson.main([str(wrong), str(right)]) == 2
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        f"{wrong}: expected a lesson, got a scenario; `python main.py run`, `python main.py record`"
        " and the window accept it"
    ]
    assert f"{right}: 3 steps, 1 claim" in told.out
