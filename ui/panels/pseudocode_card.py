"""Pseudocode of the focused agent in slow motion, with the line that is being executed highlighted."""

from ui.draw.theme import mix_colours
from ui.model import panel_texts
from ui.model.executed_pseudocode import ExecutedPseudocode, executed_pseudocode
from ui.model.layout import Box
from ui.model.pseudocode_lines import PseudocodeLine
from ui.model.run import Panel
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas

# Line height, height of the heading, padding of the card, and indentation per nesting level, all in design units
LINE_HEIGHT, HEADING_HEIGHT, CARD_PADDING, CODE_INDENT = 17, 26, 8, 12
# Font size of the pseudocode, and margin at the right of its lines, both in design units.
CODE_FONT_SIZE, CARD_MARGIN = 11.5, 4


def focused_panel_and_pseudocode(desk: ViewContext) -> tuple[Panel, ExecutedPseudocode] | None:
    """Return the focused agent's panel and its pseudocode with the executed lines marked.

    Return None outside slow motion, and if the agent has no pseudocode.
    """
    session = desk.session
    panel = next((p for p in session.run.panels if p.key == session.focused_key), None)
    if panel is None or panel.drawn_agent is None or not desk.player.is_slow_motion or session.run.is_seeking:
        return None
    record = session.run.branch_tree[panel.key.branch].timeline.run_history.agent_records.get(panel.drawn_agent.id)
    before = record.cell_at_tick(panel.snapshot.tick - 1) if record else panel.drawn_agent.position
    reading = executed_pseudocode(panel.drawn_agent, before, desk.player.visible_expansions, panel.snapshot.tick)
    return (panel, reading) if reading is not None else None


def pseudocode_card_height(desk: ViewContext, reading: ExecutedPseudocode) -> int:
    return desk.canvas.to_px(HEADING_HEIGHT + len(reading.lines) * LINE_HEIGHT + 2 * CARD_PADDING)


def line_indentation(canvas: Canvas, line: PseudocodeLine) -> int:
    """Return the indentation of a line of pseudocode in pixels, with room for the dot that marks executed lines."""
    return canvas.to_px(14) + line.indent_level * canvas.to_px(CODE_INDENT)


def first_visible_line_index(reading: ExecutedPseudocode, line_count: int) -> int:
    """Return the index of the first line to draw if `line_count` lines fit, so that the current line is visible."""
    last = max(reading.current_line_index, min(line_count, len(reading.lines)) - 1)
    return max(0, last + 1 - line_count)


def draw_pseudocode_card(desk: ViewContext, box: Box, panel: Panel, reading: ExecutedPseudocode) -> None:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    x, y, width, height = box
    line_count = (height - px(HEADING_HEIGHT + CARD_PADDING)) // px(LINE_HEIGHT)
    first = first_visible_line_index(reading, line_count)
    canvas.draw_horizontal_line(x, y, width)
    canvas.draw_text(
        (x + px(CARD_PADDING), y + px(CARD_PADDING)),
        panel_texts.label_with_algorithm(panel.walker_view),
        size=13,
        face="bold",
        width=width - px(16),
    )
    y += px(HEADING_HEIGHT + 2)
    for index, line in list(enumerate(reading.lines))[first : first + line_count]:
        row = (x + px(3), y, width - px(6), px(LINE_HEIGHT))
        if index == reading.current_line_index:
            canvas.fill_box(row, mix_colours(palette.surface, palette.accent, 0.35), 4)
        is_done = index in reading.done
        ink = palette.text if is_done or index == reading.current_line_index else palette.dim
        if is_done:
            canvas.fill_box((x + px(6), y + px(6), px(4), px(4)), palette.accent, 2)
        left = line_indentation(canvas, line)
        middle, line_count = (x + left, y + px(LINE_HEIGHT) // 2), width - left - px(CARD_MARGIN)
        canvas.draw_text(middle, line.text, size=CODE_FONT_SIZE, colour=ink, middle=True, width=line_count)
        y += px(LINE_HEIGHT)
