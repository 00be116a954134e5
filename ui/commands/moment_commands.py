"""Commands that list the notable moments of the recorded run, such as the largest scrub, and seek to them."""

from ui.commands.app_context import AppContext
from ui.dialogs.moment_list import MomentList
from ui.model.notable_moments import Moment, first_difference_moment
from ui.model.ui_command import CommandTopic

command = CommandTopic("Moments")


@command("Alt+O", "List the notable moments of the run", synonyms=("events", "highlights"), name="moments")
def open_moment_list(window: AppContext) -> None:
    def go_to(moment: Moment) -> None:
        _seek_to_moment(window, moment)

    window.open_dialog(MomentList(window.dialogs, go_to))


@command(
    "Alt+D",
    "Go to the first difference between panels A and B",
    synonyms=("compare", "diverge"),
    name="first_difference",
)
def seek_to_first_difference(window: AppContext) -> None:
    moment = first_difference_moment(window.session)
    if moment is None:
        window.notify_user("The compared panels do not differ in any recorded tick")
    else:
        _seek_to_moment(window, moment)


def _seek_to_moment(window: AppContext, moment: Moment) -> None:
    """Focus the panel of the moment and seek to its tick."""
    window.session.focus_panel(moment.panel_key)
    window.player.pause_and_seek(moment.tick)
    window.notify_user(f"Tick {moment.tick:,}: {moment.text}")
