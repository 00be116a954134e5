"""Commands for lessons: choose one, go through its steps, answer its questions."""

from files.lesson import MAX_ANSWERS
from ui.commands.app_context import AppContext
from ui.dialogs.lesson_list import LessonList
from ui.model.ui_command import Action, CommandTopic

command = CommandTopic("Lessons")


@command("Shift+G", "Choose a lesson", name="lessons")
def open_lesson_list(window: AppContext) -> None:
    window.open_dialog(LessonList(window.dialogs, window.document_opener.open_path))


@command("Ctrl+PageDown", "Go to the next step of the lesson", name="lesson_next")
def go_to_next_lesson_step(window: AppContext) -> None:
    if playing := window.ui_state.lesson_player:
        if playing.waits_for_answer and not playing.is_before_current_step(window.session):
            window.notify_user("Choose an answer first")
        playing.go_to_next_step(window.session, window.player)
        window.document_opener.apply_lesson_view(playing)
    else:
        _notify_no_lesson_open(window)


@command("Ctrl+PageUp", "Go to the previous step of the lesson", name="lesson_back")
def go_to_previous_lesson_step(window: AppContext) -> None:
    if playing := window.ui_state.lesson_player:
        playing.go_to_previous_step(window.session, window.player)
        window.document_opener.apply_lesson_view(playing)
    else:
        _notify_no_lesson_open(window)


@command("Ctrl+Shift+PageDown", "End the lesson but keep its run open", name="lesson_end")
def end_lesson(window: AppContext) -> None:
    if window.ui_state.lesson_player is not None:
        window.document_opener.end_lesson()
    else:
        _notify_no_lesson_open(window)


def _create_answer_action(number: int) -> Action:
    """Return the function of the command that gives an answer to a question; `number` counts the answers from 1."""

    def act(window: AppContext) -> None:
        playing = window.ui_state.lesson_player
        if playing is None:
            _notify_no_lesson_open(window)
        elif number > playing.available_answer_count:
            window.notify_user(f"There is no answer {number} to choose here")
        else:
            playing.choose_answer(number - 1)

    return act


for _n in range(1, MAX_ANSWERS + 1):
    command(f"Alt+{_n}", f"Choose lesson answer {_n}", name=f"answer_{_n}")(_create_answer_action(_n))


def _notify_no_lesson_open(window: AppContext) -> None:
    """Notify the user that no lesson is open."""
    window.notify_user("No lesson is open. {key:lessons} lists the lessons.")
