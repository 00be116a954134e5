"""Lesson in progress: its current step, the answers given, and the tick that the run has to reach.

    playing = LessonPlayer(lesson, lesson.ticks)
    playing.begin(session, player)          seek to the first step
    playing.go_on(session, player)          run to the next step, or seek there if the run is on its way already
    playing.go_back(session, player)        seek to the previous step
    playing.answer(place)                   answer the question of this step
    playing.look(session, player)           once a frame: pause a run that has reached its step

This module does not use pygame.
"""

from dataclasses import dataclass, field

from sim.lesson import Lesson, Step
from ui.model.clock import nearest
from ui.model.keys import PanelKey
from ui.model.player import Player
from ui.model.session import Session


@dataclass
class LessonPlayer:
    """Lesson in progress: its current step and the answers given so far."""

    lesson: Lesson
    ticks: tuple[int, ...]  # tick at which each step of the lesson is shown
    place: int = 0  # index of the current step
    answers: dict[int, int] = field(default_factory=dict)  # index of a step -> index of the chosen answer
    is_reason_new: bool = False  # whether the explanation of an answer must still be scrolled into view
    speed_before: int = 0  # speed that the user had set before the lesson, in ticks a second

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.place]

    @property
    def tick(self) -> int:
        """Return the tick of the current step."""
        return self.ticks[self.place]

    @property
    def answered(self) -> int | None:
        return self.answers.get(self.place)

    @property
    def waits_for_answer(self) -> bool:
        """Return whether the step has an unanswered question; the run goes on only after the answer."""
        return self.step.question is not None and self.answered is None

    @property
    def open_answers(self) -> int:
        """Return the number of answers that the user can choose from; 0 if the step has no unanswered question."""
        question = self.step.question
        return len(question.answers) if question is not None and self.answered is None else 0

    @property
    def is_last(self) -> bool:
        return self.place == len(self.lesson.steps) - 1

    def is_on_its_way(self, session: Session) -> bool:
        return session.tick < self.tick and not session.run.is_over

    def begin(self, session: Session, player: Player) -> None:
        self.speed_before = player.speed
        self._seek_to_step(session, player)

    def end(self, player: Player) -> None:
        """Pause the run, and restore the speed that the user had set before the lesson."""
        player.pause()
        player.set_speed(self.speed_before)

    def answer(self, place: int) -> None:
        if self.step.question is not None and self.answered is None:
            self.answers[self.place] = place
            self.is_reason_new = True

    def go_on(self, session: Session, player: Player) -> None:
        if self.is_on_its_way(session):
            self._seek_to_step(session, player)
        elif not self.waits_for_answer and not self.is_last:
            self.place += 1
            self._walk(session, player)

    def go_back(self, session: Session, player: Player) -> None:
        if self.place:
            self.place -= 1
            self._seek_to_step(session, player)

    def look(self, session: Session, player: Player) -> None:
        if (
            player.clock.is_running
            and not player.is_backwards
            and session.tick == self.tick
            and not session.run.is_seeking
        ):
            session.until = None
            player.pause()

    def _walk(self, session: Session, player: Player) -> None:
        """Run to the tick of the current step, or seek there unless the run is between the last step and this one."""
        if not (self.ticks[self.place - 1] <= session.tick < self.tick):
            self._seek_to_step(session, player)
            return
        player.set_speed(nearest(self.lesson.speed_at(self.place)))
        player.reveal = None
        session.run_until(None, self.tick)
        player.play()

    def _seek_to_step(self, session: Session, player: Player) -> None:
        session.until = None
        player.seek(self.tick)

    def shows(self, session: Session) -> frozenset[PanelKey] | None:
        """Return the keys of the panels that the current step shows; None if it shows all panels."""
        labels = self.lesson.shown_at(self.place)
        if labels is None:
            return None
        return frozenset(panel.key for panel in session.run.panels if panel.view.label in labels) or None
