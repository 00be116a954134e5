"""Lesson in progress: its current step, the answers given, and the tick that the run has to reach.

    playing = LessonPlayer(lesson, lesson.ticks)
    playing.begin_lesson(session, player)           seek to the first step
    playing.go_to_next_step(session, player)        run to the next step; if it is already running there, seek
    playing.go_to_previous_step(session, player)    seek to the previous step
    playing.choose_answer(place)                    answer the question of this step
    playing.pause_at_step(session, player)          once a frame: pause a run that has reached its step

This module does not use pygame.
"""

from dataclasses import dataclass, field

from files.lesson_claims import Lesson, LessonStep
from ui.model.panel_keys import PanelKey
from ui.model.player import Player
from ui.model.session import Session
from ui.model.step_clock import nearest_speed


@dataclass
class LessonPlayer:
    """Lesson in progress: its current step and the answers given so far."""

    lesson: Lesson
    step_ticks: tuple[int, ...]  # tick at which each step of the lesson is shown
    step_index: int = 0  # index of the current step
    chosen_answer_by_step: dict[int, int] = field(default_factory=dict)  # index of a step -> index of the chosen answer
    must_show_explanation: bool = False  # whether the explanation of an answer must still be scrolled into view
    speed_before_lesson: int = 0  # speed that the user had set before the lesson, in ticks a second

    @property
    def current_step(self) -> LessonStep:
        return self.lesson.steps[self.step_index]

    @property
    def tick(self) -> int:
        """Return the tick of the current step."""
        return self.step_ticks[self.step_index]

    @property
    def chosen_answer(self) -> int | None:
        return self.chosen_answer_by_step.get(self.step_index)

    @property
    def waits_for_answer(self) -> bool:
        """Return whether the step has an unanswered question; the run goes on only after the answer."""
        return self.current_step.question is not None and self.chosen_answer is None

    @property
    def available_answer_count(self) -> int:
        """Return the number of answers that the user can choose from; 0 if the step has no unanswered question."""
        question = self.current_step.question
        return len(question.answers) if question is not None and self.chosen_answer is None else 0

    @property
    def is_last_step(self) -> bool:
        return self.step_index == len(self.lesson.steps) - 1

    def is_before_current_step(self, session: Session) -> bool:
        return session.tick < self.tick and not session.run.is_over

    def begin_lesson(self, session: Session, player: Player) -> None:
        self.speed_before_lesson = player.speed
        self._seek_to_step(session, player)

    def end_lesson(self, player: Player) -> None:
        """Pause the run, and restore the speed that the user had set before the lesson."""
        player.pause()
        player.set_speed(self.speed_before_lesson)

    def choose_answer(self, index: int) -> None:
        if self.current_step.question is not None and self.chosen_answer is None:
            self.chosen_answer_by_step[self.step_index] = index
            self.must_show_explanation = True

    def go_to_next_step(self, session: Session, player: Player) -> None:
        if self.is_before_current_step(session):
            self._seek_to_step(session, player)
        elif not self.waits_for_answer and not self.is_last_step:
            self.step_index += 1
            self._run_to_step(session, player)

    def go_to_previous_step(self, session: Session, player: Player) -> None:
        if self.step_index:
            self.step_index -= 1
            self._seek_to_step(session, player)

    def pause_at_step(self, session: Session, player: Player) -> None:
        if (
            player.step_clock.is_running
            and not player.is_backwards
            and session.tick == self.tick
            and not session.run.is_seeking
        ):
            session.stop_condition = None
            player.pause()

    def _run_to_step(self, session: Session, player: Player) -> None:
        """Run to the tick of the current step, or seek there unless the run is between the last step and this one."""
        if not (self.step_ticks[self.step_index - 1] <= session.tick < self.tick):
            self._seek_to_step(session, player)
            return
        player.set_speed(nearest_speed(self.lesson.speed_at_step(self.step_index)))
        player.slow_motion_expansions = None
        session.set_stop_condition(None, self.tick)
        player.play()

    def _seek_to_step(self, session: Session, player: Player) -> None:
        session.stop_condition = None
        player.pause_and_seek(self.tick)

    def shown_panel_keys(self, session: Session) -> frozenset[PanelKey] | None:
        """Return the keys of the panels that the current step shows; None if it shows all panels."""
        labels = self.lesson.agents_shown_at_step(self.step_index)
        if labels is None:
            return None
        return frozenset(panel.key for panel in session.run.panels if panel.walker_view.label in labels) or None
