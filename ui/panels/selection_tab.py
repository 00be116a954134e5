"""Section of the Edit tab with the commands for the selection."""

from ui.panels.desk import ViewContext

LINES = (
    (("copy", "Copy"), ("cut", "Cut"), ("paste", "Paste")),
    (("mirror_left_right", "Mirror <>"), ("mirror_top_bottom", "Mirror ^v"), ("turn_right", "Rotate")),
    (("block_selected", "Block"), ("free_selected", "Free"), ("name_switch", "Switch ...")),
    (("select_all", "All"), ("select_stroke", "Last stroke"), ("save_piece", "Save ...")),
)


def draw(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the buttons if the Select tool is chosen or cells are selected, and return the bottom of the section."""
    canvas, state = desk.canvas, desk.state
    if state.tool != "select" and state.selection is None:
        return y
    px = canvas.px
    said = f"Selected: {state.selection}" if state.selection is not None else "Nothing is selected: drag over the map"
    if state.held is not None:
        said = desk.worded("Click or press {key:put_down} to place the cells")
    canvas.text((x, y), said, size=12, face="bold", colour=desk.palette.dim, width=width)
    y += px(22)
    third, height = (width - px(12)) // 3, px(28)
    for line in LINES:
        for index, (command, label) in enumerate(line):
            box = (x + index * (third + px(6)), y, third, height)
            tip, key = desk.tip_of(command), desk.key_of(command)
            canvas.button(command, box, label, desk.doer_of(command), tip=tip, key=key)
        y += height + px(6)
    return y + px(6)
