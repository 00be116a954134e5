"""A lesson that is being given: at which step it stands, what was answered, and where the run has to go. No pygame.

playing = Playing(lesson, lesson.ticks)
playing.begin(session, player)          the run is at the first step
playing.go_on(session, player)          on to the next step, running there; while it still runs, at once
playing.go_back(session, player)        to the step before, as it was
playing.answer(place)                   to the question of this step
playing.look(session, player)           once a frame: ends a run that has come to its step
"""

from dataclasses import dataclass, field

from sim.lesson import Lesson, Step
from ui.model.clock import nearest
from ui.model.keys import PanelKey
from ui.model.player import Player
from ui.model.session import Session


@dataclass
class Playing:
    lesson: Lesson
    ticks: tuple[int, ...]
    place: int = 0
    answers: dict[int, int] = field(default_factory=dict)  # given to questions, by step
    is_reason_new: bool = False  # an answer has been given, and why it is right or wrong was not brought into view
    speed_before: int = 0  # the user's own, while a step has its say

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.place]

    @property
    def tick(self) -> int:
        """At which the present step stands."""
        return self.ticks[self.place]

    @property
    def answered(self) -> int | None:
        return self.answers.get(self.place)

    @property
    def waits_for_answer(self) -> bool:
        """A question comes before what it is about is seen."""
        return self.step.question is not None and self.answered is None

    @property
    def open_answers(self) -> int:
        """How many answers there are to choose from now."""
        question = self.step.question
        return len(question.answers) if question is not None and self.answered is None else 0

    @property
    def is_last(self) -> bool:
        return self.place == len(self.lesson.steps) - 1

    def is_on_its_way(self, session: Session) -> bool:
        return session.tick < self.tick and not session.run.is_over

    def begin(self, session: Session, player: Player) -> None:
        self.speed_before = player.speed
        self._stand(session, player)

    def end(self, player: Player) -> None:
        """The user's own speed again."""
        player.pause()
        player.set_speed(self.speed_before)

    def answer(self, place: int) -> None:
        if self.step.question is not None and self.answered is None:
            self.answers[self.place] = place
            self.is_reason_new = True

    def go_on(self, session: Session, player: Player) -> None:
        if self.is_on_its_way(session):
            self._stand(session, player)
        elif not self.waits_for_answer and not self.is_last:
            self.place += 1
            self._walk(session, player)

    def go_back(self, session: Session, player: Player) -> None:
        if self.place:
            self.place -= 1
            self._stand(session, player)

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
        """Let the run go on to this step; one that the user took elsewhere is fetched."""
        if not (self.ticks[self.place - 1] <= session.tick < self.tick):
            self._stand(session, player)
            return
        player.set_speed(nearest(self.lesson.speed_at(self.place)))
        player.reveal = None
        session.run_until(None, self.tick)
        player.play()

    def _stand(self, session: Session, player: Player) -> None:
        session.until = None
        player.seek(self.tick)

    def shows(self, session: Session) -> frozenset[PanelKey] | None:
        """The panels to show, None: all."""
        labels = self.lesson.shown_at(self.place)
        if labels is None:
            return None
        return frozenset(panel.key for panel in session.run.panels if panel.view.label in labels) or None
