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

from sim.lesson import Lesson, LessonStep
from ui.model.clock import nearest_speed
from ui.model.panel_keys import PanelKey
from ui.model.player import Player
from ui.model.session import Session


@dataclass
class LessonPlayer:
    """Lesson in progress: its current step and the answers given so far."""

    lesson: Lesson
    ticks: tuple[int, ...]  # tick at which each step of the lesson is shown
    place: int = 0  # index of the current step
    answers: dict[int, int] = field(default_factory=dict)  # index of a step -> index of the chosen answer
    has_new_reason: bool = False  # whether the explanation of an answer must still be scrolled into view
    speed_before: int = 0  # speed that the user had set before the lesson, in ticks a second

    @property
    def current_step(self) -> LessonStep:
        return self.lesson.steps[self.place]

    @property
    def tick(self) -> int:
        """Return the tick of the current step."""
        return self.ticks[self.place]

    @property
    def chosen_answer(self) -> int | None:
        return self.answers.get(self.place)

    @property
    def waits_for_answer(self) -> bool:
        """Return whether the step has an unanswered question; the run goes on only after the answer."""
        return self.current_step.question is not None and self.chosen_answer is None

    @property
    def open_answer_count(self) -> int:
        """Return the number of answers that the user can choose from; 0 if the step has no unanswered question."""
        question = self.current_step.question
        return len(question.answers) if question is not None and self.chosen_answer is None else 0

    @property
    def is_last_step(self) -> bool:
        return self.place == len(self.lesson.steps) - 1

    def is_before_step(self, session: Session) -> bool:
        return session.tick < self.tick and not session.run.is_over

    def begin_lesson(self, session: Session, player: Player) -> None:
        self.speed_before = player.speed
        self._seek_to_step(session, player)

    def end_lesson(self, player: Player) -> None:
        """Pause the run, and restore the speed that the user had set before the lesson."""
        player.pause()
        player.set_speed(self.speed_before)

    def choose_answer(self, index: int) -> None:
        if self.current_step.question is not None and self.chosen_answer is None:
            self.answers[self.place] = index
            self.has_new_reason = True

    def go_to_next_step(self, session: Session, player: Player) -> None:
        if self.is_before_step(session):
            self._seek_to_step(session, player)
        elif not self.waits_for_answer and not self.is_last_step:
            self.place += 1
            self._run_to_step(session, player)

    def go_to_previous_step(self, session: Session, player: Player) -> None:
        if self.place:
            self.place -= 1
            self._seek_to_step(session, player)

    def pause_at_step(self, session: Session, player: Player) -> None:
        if (
            player.clock.is_running
            and not player.is_backwards
            and session.tick == self.tick
            and not session.run.is_seeking
        ):
            session.until = None
            player.pause()

    def _run_to_step(self, session: Session, player: Player) -> None:
        """Run to the tick of the current step, or seek there unless the run is between the last step and this one."""
        if not (self.ticks[self.place - 1] <= session.tick < self.tick):
            self._seek_to_step(session, player)
            return
        player.set_speed(nearest_speed(self.lesson.speed_at_step(self.place)))
        player.slow_motion_expansions = None
        session.set_stop_condition(None, self.tick)
        player.play()

    def _seek_to_step(self, session: Session, player: Player) -> None:
        session.until = None
        player.seek(self.tick)

    def shown_panel_keys(self, session: Session) -> frozenset[PanelKey] | None:
        """Return the keys of the panels that the current step shows; None if it shows all panels."""
        labels = self.lesson.agents_shown_at_step(self.place)
        if labels is None:
            return None
        return frozenset(panel.key for panel in session.run.panels if panel.view.label in labels) or None
