"""Commands for lessons: choose one, go through its steps, answer its questions."""

from files.lesson import MAX_ANSWERS
from ui.commands.app_context import AppContext
from ui.dialogs.lesson_list import LessonList
from ui.model.ui_command import Action, CommandContext, CommandTopic, DisabledReason

command = CommandTopic("Lessons")

_NO_LESSON = "No lesson is open; {key:lessons} lists the lessons"


def _reason_against_next_step(view: CommandContext) -> str:
    playing = view.ui_state.lesson_player
    if playing is None:
        return _NO_LESSON
    if playing.is_before_current_step(view.session):
        return ""
    return "Choose an answer first" if playing.waits_for_answer else "This is the last step" * playing.is_last_step


def _reason_against_previous_step(view: CommandContext) -> str:
    playing = view.ui_state.lesson_player
    return _NO_LESSON if playing is None else "This is the first step" * (playing.step_index == 0)


def _reason_against_end(view: CommandContext) -> str:
    return _NO_LESSON if view.ui_state.lesson_player is None else ""


def _needs_answer(number: int) -> DisabledReason:
    """Return a function that gives a reason unless the lesson offers an answer with this number."""

    def reason(view: CommandContext) -> str:
        playing = view.ui_state.lesson_player
        if playing is None:
            return _NO_LESSON
        return f"There is no answer {number} to choose here" * (number > playing.available_answer_count)

    return reason


@command("Shift+G", "Choose a lesson", synonyms=("learn", "tutorial", "course"), name="lessons")
def open_lesson_list(window: AppContext) -> None:
    window.open_dialog(LessonList(window.dialogs, window.document_opener.open_path))


@command(
    "Ctrl+PageDown",
    "Go to the next step of the lesson",
    button="Next",
    disabled=_reason_against_next_step,
    name="lesson_next",
)
def go_to_next_lesson_step(window: AppContext) -> None:
    if playing := window.ui_state.lesson_player:
        playing.go_to_next_step(window.session, window.player)
        window.document_opener.apply_lesson_view(playing)


@command(
    "Ctrl+PageUp",
    "Go to the previous step of the lesson",
    button="Back",
    disabled=_reason_against_previous_step,
    name="lesson_back",
)
def go_to_previous_lesson_step(window: AppContext) -> None:
    if playing := window.ui_state.lesson_player:
        playing.go_to_previous_step(window.session, window.player)
        window.document_opener.apply_lesson_view(playing)


@command(
    "Ctrl+Shift+PageDown",
    "End the lesson but keep its run open",
    button="End",
    disabled=_reason_against_end,
    name="lesson_end",
)
def end_lesson(window: AppContext) -> None:
    window.document_opener.end_lesson()


def _create_answer_action(number: int) -> Action:
    """Return the function of the command that gives an answer to a question; `number` counts the answers from 1."""

    def act(window: AppContext) -> None:
        if playing := window.ui_state.lesson_player:
            playing.choose_answer(number - 1)

    return act


for _n in range(1, MAX_ANSWERS + 1):
    command(
        f"Alt+{_n}",
        f"Choose lesson answer {_n}",
        disabled=_needs_answer(_n),
        family=("Choose lesson answer", str(_n)),
        name=f"answer_{_n}",
    )(_create_answer_action(_n))
