"""Commands that list the notable moments of the recorded run, such as the largest scrub, and seek to them."""

from ui.commands.window import Window
from ui.dialogs.moments import Moments
from ui.model.command import Topic
from ui.model.moments import Moment, first_parting

command = Topic("Moments")


@command("Alt+O", "Moments: what is worth seeing in the run so far")
def moments(window: Window) -> None:
    def go_to(moment: Moment) -> None:
        _go_to(window, moment)

    window.show(Moments(window.dialogs, go_to))


@command("Alt+D", "First difference: where panel A and panel B, or their branches, first part, and in what")
def first_difference(window: Window) -> None:
    found = first_parting(window.session)
    if found is None:
        window.say("as far as they were run, there are no two panels here that differ: they never part")
    else:
        _go_to(window, found)


def _go_to(window: Window, moment: Moment) -> None:
    """Focus the panel of the moment and seek to its tick."""
    window.session.focus(moment.panel)
    window.player.seek(moment.tick)
    window.say(f"tick {moment.tick:,}: {moment.text}")
