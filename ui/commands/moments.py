"""Commands that list the notable moments of the recorded run, such as the largest scrub, and seek to them."""

from ui.commands.window import Window
from ui.dialogs.moments import Moments
from ui.model.command import Topic
from ui.model.moments import Moment, first_parting

command = Topic("Moments")


@command("Alt+O", "List the notable moments of the run", name="moments")
def moments(window: Window) -> None:
    def go_to(moment: Moment) -> None:
        _go_to(window, moment)

    window.show(Moments(window.dialogs, go_to))


@command("Alt+D", "Go to the first difference between panels A and B", name="first_difference")
def first_difference(window: Window) -> None:
    found = first_parting(window.session)
    if found is None:
        window.say("The compared panels do not differ in any recorded tick")
    else:
        _go_to(window, found)


def _go_to(window: Window, moment: Moment) -> None:
    """Focus the panel of the moment and seek to its tick."""
    window.session.focus(moment.panel)
    window.player.seek(moment.tick)
    window.say(f"Tick {moment.tick:,}: {moment.text}")
