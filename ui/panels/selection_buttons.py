"""Section of the Edit tab with the commands for the selection."""

from ui.panels import command_button
from ui.panels.view_context import ViewContext

SELECTION_BUTTON_ROWS = (
    ("copy", "cut", "paste"),
    ("mirror_left_right", "mirror_top_bottom", "turn_right"),
    ("block_selected", "free_selected", "name_switch"),
    ("select_all", "select_stroke", "save_piece"),
)
"""Commands that have a button, by rows."""


def draw_selection_buttons(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the buttons if the Select tool is chosen or cells are selected, and return the bottom of the section."""
    canvas, state = desk.canvas, desk.ui_state
    if state.selected_tool != "select" and state.selected_cells is None:
        return y
    px = canvas.to_px
    text = (
        f"Selected: {state.selected_cells}"
        if state.selected_cells is not None
        else "Nothing is selected: drag over the map"
    )
    if state.pasted_piece is not None:
        text = desk.text_with_shortcuts("Click or press {key:put_down} to place the cells")
    canvas.draw_text((x, y), text, size=12, face="bold", colour=desk.palette.dim, width=width)
    y += px(22)
    third, height = (width - px(12)) // 3, px(28)
    for line in SELECTION_BUTTON_ROWS:
        for index, command in enumerate(line):
            box = (x + index * (third + px(6)), y, third, height)
            command_button.draw_command_button(desk, command, box)
        y += height + px(6)
    return y + px(6)
