"""Button of a command: its label, tooltip, key, state and action all come from the description of the command."""

from ui.model.layout import MAX_PANELS, Box
from ui.panels.view_context import ViewContext


def draw_command_button(
    desk: ViewContext,
    command_id: str,
    box: Box,
    *,
    area: str = "",
    label: str = "",
    is_on: bool | None = None,
    shows_key: bool = False,
    size: float = 13,
) -> None:
    """Draw a button that runs a command: highlighted if the command is on, dim if it is disabled.

    Args:
        desk: View context.
        command_id: Id of the command.
        box: Rectangle in pixels.
        area: Part of the window, which distinguishes several buttons of one command.
        label: Label with a state in place of the command's own label, such as "Undo 3".
        is_on: Whether to highlight the button; None: if the command is on.
        shows_key: Whether to draw the key on the button if there is room for it.
        size: Font size of the label in design units.
    """
    desk.canvas.draw_button(
        f"{area}:{command_id}" if area else command_id,
        box,
        label or desk.command_table[command_id].button_label,
        desk.button_callback_of_command(command_id),
        command_ids=(command_id,),
        key=desk.shortcut_of_command(command_id) if shows_key else "",
        is_on=desk.is_command_on(command_id) if is_on is None else is_on,
        size=size,
    )


def focus_command_ids(panel_index: int) -> tuple[str, ...]:
    """Return the id of the command that focuses a panel."""
    return (f"focus_{panel_index + 1}",) if panel_index < MAX_PANELS else ()
