"""Notes that explain the first example, shown one after the other.

    notes = TutorialNotes(settings.closed_notes)    closed notes are not shown again
    notes.update_shown_note(session)                once a frame: show the next note when its event happens
    notes.close()                                   close the shown note

A note stays until it is closed, or as long as its subject can be seen. This module does not use pygame.
"""

from collections.abc import Callable
from dataclasses import dataclass

from files.lesson_claims import StepHighlight
from sim.kernels import log
from sim.world_view import WalkerView
from ui.model.panel_texts import END_STATUSES
from ui.model.session import Session


@dataclass(frozen=True)
class TutorialNote:
    """Text that explains the first example, with the event that makes it appear."""

    key: str  # id under which the settings store that the note was closed
    highlight: StepHighlight
    text: str
    is_due: Callable[[WalkerView], bool]
    is_outdated_after_walk: bool = False  # whether the note disappears when the agent has finished walking

    @property
    def position_text(self) -> str:
        """Return the position of the note among all notes as text, such as "1 of 4"."""
        return f"{TUTORIAL_NOTES.index(self) + 1} of {len(TUTORIAL_NOTES)}"

    def is_outdated(self, view: WalkerView) -> bool:
        return self.is_outdated_after_walk and view.status in END_STATUSES


def _has_made_a_move(view: WalkerView) -> bool:
    return view.metrics.moves >= 1


def _is_on_back_move(view: WalkerView) -> bool:
    return bool(view.log_rows.size and int(view.log_rows[-1].marks) & log.BACK_MOVE)


def _has_30_revisits(view: WalkerView) -> bool:
    return view.metrics.revisits >= 30


def _has_made_40_moves(view: WalkerView) -> bool:
    return view.metrics.moves >= 40


TUTORIAL_NOTES = (
    TutorialNote(
        "best-cell",
        StepHighlight("one cell a tick", "best"),
        "The diamond is the cell that looks best so far. This agent may expand one cell per tick, and walks towards "
        "the best cell while it searches.",
        _has_made_a_move,
        is_outdated_after_walk=True,
    ),
    TutorialNote(
        "back-move",
        StepHighlight("one cell a tick", "agent"),
        "The frontier jumped: a cell on another branch looks better now. So the agent walks back along its own path: "
        "a back-move. The orange number counts them.",
        _is_on_back_move,
        is_outdated_after_walk=True,
    ),
    TutorialNote(
        "scrubbing",
        StepHighlight("one cell a tick", "revisits"),
        "Back and forth over the same cells: scrubbing. The heat map shows where, this number how often. "
        "{key:tab_inspect} explains each move.",
        _has_30_revisits,
    ),
    TutorialNote(
        "compare",
        StepHighlight("sixteen", "agent"),
        "The same search with sixteen cells per tick hardly scrubs at all. {key:gallery} shows more examples, "
        "{key:lessons} lessons, {key:help} all keys.",
        _has_made_40_moves,
    ),
)


class TutorialNotes:
    """Notes on the first example that the user has not closed yet, and the one that is shown now."""

    def __init__(self, closed: list[str]) -> None:
        """Select the notes that the user has not closed yet.

        Args:
            closed: Keys of the notes that the user has closed; `close` appends to this list.
        """
        self.closed_keys = closed
        self.unclosed_notes = [note for note in TUTORIAL_NOTES if note.key not in closed]
        self.shown_note: TutorialNote | None = None

    def update_shown_note(self, session: Session) -> None:
        """Show the next note if its event has happened, and hide a note that no longer applies; called once a frame."""
        if session.run.is_seeking:
            return
        views = {panel.walker_view.label: panel.walker_view for panel in session.run.panels}
        candidates = [
            (note, views[note.highlight.agent]) for note in self.unclosed_notes if note.highlight.agent in views
        ]
        candidates = [(note, view) for note, view in candidates if not note.is_outdated(view)]
        if not any(note is self.shown_note for note, _ in candidates):
            self.shown_note = None
        if self.shown_note is None and candidates and candidates[0][0].is_due(candidates[0][1]):
            self.shown_note = candidates[0][0]

    def close(self) -> bool:
        """Close the shown note and return True; return False if there is none."""
        if self.shown_note is None:
            return False
        self.closed_keys.append(self.shown_note.key)
        self.unclosed_notes.remove(self.shown_note)
        self.shown_note = None
        return True
