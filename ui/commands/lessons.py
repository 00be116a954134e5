"""Commands for lessons: choose one, go through its steps, answer its questions."""

from sim.files.lesson import MAX_ANSWERS
from ui.commands.window import Window
from ui.dialogs.lessons import Lessons
from ui.model.command import Action, Topic

command = Topic("Lessons")


@command("Shift+G", "Choose a lesson", name="lessons")
def lessons(window: Window) -> None:
    window.show(Lessons(window.dialogs, window.documents.open_path))


@command("Ctrl+PageDown", "Go to the next step of the lesson", name="lesson_next")
def lesson_next(window: Window) -> None:
    if playing := window.state.lesson:
        if playing.waits_for_answer and not playing.is_on_its_way(window.session):
            window.say("Choose an answer first")
        playing.go_on(window.session, window.player)
        window.documents.look_as_in_lesson(playing)
    else:
        _say_no_lesson(window)


@command("Ctrl+PageUp", "Go to the previous step of the lesson", name="lesson_back")
def lesson_back(window: Window) -> None:
    if playing := window.state.lesson:
        playing.go_back(window.session, window.player)
        window.documents.look_as_in_lesson(playing)
    else:
        _say_no_lesson(window)


@command("Ctrl+Shift+PageDown", "End the lesson but keep its run open", name="lesson_end")
def lesson_end(window: Window) -> None:
    if window.state.lesson is not None:
        window.documents.end_lesson()
    else:
        _say_no_lesson(window)


def _answer(number: int) -> Action:
    """Return the function of the command that gives an answer to a question; `number` counts the answers from 1."""

    def act(window: Window) -> None:
        playing = window.state.lesson
        if playing is None:
            _say_no_lesson(window)
        elif number > playing.open_answers:
            window.say(f"There is no answer {number} to choose here")
        else:
            playing.answer(number - 1)

    return act


for _n in range(1, MAX_ANSWERS + 1):
    command(f"Alt+{_n}", f"Choose lesson answer {_n}", name=f"answer_{_n}")(_answer(_n))


def _say_no_lesson(window: Window) -> None:
    """Notify the user that no lesson is open."""
    window.say("No lesson is open. {key:lessons} lists the lessons.")
