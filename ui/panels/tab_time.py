"""Sidebar tab for time: the branches as a small tree, and the script of edits."""

from functools import partial

from sim.time.branches import Branch
from ui.draw.theme import mix_colours
from ui.model import branch_actions, script_entries
from ui.model.context_menu import ScriptEntryTarget
from ui.model.layout import Box
from ui.model.panel_texts import RunNames
from ui.model.script_entries import ScriptEntry
from ui.model.session import Session
from ui.panels import command_button
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

MAX_SCRIPT_LINES = 200  # maximum number of listed lines of the script; of a longer script, the latest lines are listed
SCRIPT_LINE_HEIGHT = 42  # height of a line of the script with its buttons, in design units
BRANCH_COMMANDS = ("branch", "split_policy", "compare_branch", "rename_branch", "hide_branch", "delete_branch")
"""Commands that have a button below the list of branches."""


def draw_time_tab(desk: ViewContext, box: Box) -> int:
    """Draw the tab and return the bottom of its content."""
    x, y, width, _ = box
    session = desk.session
    y = desk.draw_section_heading(x, y, "Branches")
    for depth, branch in branches_in_tree_order(session):
        y = _draw_branch_row(desk, session, x, y, width, branch, depth)
    y = _draw_branch_buttons(desk, x, y + desk.canvas.to_px(6), width)
    y = _draw_divergence_warning(desk, session, x, y, width)
    y = desk.draw_section_heading(x, y, "Script of edits")
    return _draw_script_section(desk, session, x, y, width)


def branches_in_tree_order(session: Session) -> list[tuple[int, Branch]]:
    """Return (depth, branch) of all branches: parents before their children, siblings in order of creation."""
    branches: list[tuple[int, Branch]] = []

    def visit(parent: int | None, depth: int) -> None:
        for branch in session.run.branch_tree.branches.values():
            if branch.parent == parent:
                branches.append((depth, branch))
                visit(branch.number, depth + 1)

    visit(None, 0)
    listed_numbers = {branch.number for _, branch in branches}
    return branches + [(0, b) for b in session.run.branch_tree.branches.values() if b.number not in listed_numbers]


def _draw_branch_row(
    desk: ViewContext, session: Session, x: int, y: int, width: int, branch: Branch, depth: int
) -> int:
    """Draw the row of a branch: check box, name, and the tick at which the branch left its parent.

    Returns:
        Top of the next row.
    """
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    row = (x, y, width, px(26))
    is_focused = branch.number == session.run.focused_branch_number
    is_shown = branch.number in session.run.shown_branch_numbers
    is_hovered = canvas.add_hit_region(
        HitRegion(
            f"branch:{branch.number}",
            row,
            partial(branch_actions.show_branch, session, branch.number),
            f"Show and focus {branch.name}",
            ("next_branch",),
        )
    )
    if is_focused or is_hovered:
        canvas.fill_box(row, mix_colours(palette.surface, palette.accent, 0.22) if is_focused else palette.hover, 5)
    left = x + px(6) + min(depth, 6) * px(12)
    eye = (left, y + px(3), px(20), px(20))
    toggle = partial(branch_actions.hide_branch if is_shown else branch_actions.show_branch, session)
    canvas.draw_check_box(
        f"show_branch:{branch.number}",
        eye,
        is_shown,
        partial(toggle, branch.number),
        tip="Show or hide this branch",
        command_ids=("hide_branch",),
    )
    at = f"at {branch.first_differing_tick:,}" if branch.parent is not None else ""
    at_width = canvas.text_width(at, 12, "mono") if at else 0
    canvas.draw_text(
        (left + px(26), y + px(13)),
        branch.name,
        size=13,
        middle=True,
        width=x + width - left - px(38) - at_width,
        colour=None if is_shown else palette.dim,
    )
    canvas.draw_text(
        (x + width - px(6), y + px(13)), at, size=12, face="mono", colour=palette.dim, align="right", middle=True
    )
    return y + px(28)


def _draw_branch_buttons(desk: ViewContext, x: int, y: int, width: int) -> int:
    canvas = desk.canvas
    px = canvas.to_px
    third = (width - px(12)) // 3
    for i, command in enumerate(BRANCH_COMMANDS):
        button_box = (x + i % 3 * (third + px(6)), y + i // 3 * px(32), third, px(27))
        command_button.draw_command_button(desk, command, button_box, area="time", size=12.5)
    y += 2 * px(32)
    box = (x, y, width, px(27))
    command_button.draw_command_button(desk, "worst_block", box, area="time", shows_key=True, size=12.5)
    return y + px(38)


def _draw_divergence_warning(desk: ViewContext, session: Session, x: int, y: int, width: int) -> int:
    """Draw a warning if the run differs from the saved run (other digests), and return the top of the next section."""
    tick = session.run.focused_branch_timeline.run_history.divergence_tick
    if tick is None:
        return y
    canvas = desk.canvas
    box = (x, y, width, canvas.to_px(28))
    canvas.fill_box(box, mix_colours(desk.palette.surface, desk.palette.warning, 0.2), 6)
    canvas.draw_text(
        (x + canvas.to_px(8), y + canvas.to_px(14)),
        f"DIVERGED at tick {tick:,}",
        size=13,
        face="bold",
        colour=desk.palette.warning,
        middle=True,
    )
    canvas.add_hit_region(
        HitRegion(
            "diverged",
            box,
            partial(desk.player.pause_and_seek, tick),
            "The replay does not match the saved run from this tick on; click to go there",
        )
    )
    return y + canvas.to_px(38)


# --- the script -----------------------------------------------------------------------------------


def _draw_script_section(desk: ViewContext, session: Session, x: int, y: int, width: int) -> int:
    canvas = desk.canvas
    entries = script_entries.script_entries(session.run)
    timeline = session.run.focused_branch_timeline
    rejections = timeline.command_log.rejection_reasons(timeline.run_history.run_messages)
    if not entries:
        hint = "No edits yet. Every edit of the run is listed here. You can switch it off, move it to another tick, "
        hint += "repeat or delete it; the run is then recomputed."
        return y + canvas.draw_wrapped_text((x, y, width, canvas.to_px(200)), hint, size=12, colour=desk.palette.dim)
    for entry in entries[-MAX_SCRIPT_LINES:]:
        rejection = next((rejections[number] for number in entry.log_entry_ids if number in rejections), "")
        y = _draw_script_line(desk, session, x, y, width, entry, rejection)
    return y


def _draw_script_line(
    desk: ViewContext, session: Session, x: int, y: int, width: int, entry: ScriptEntry, rejection: str
) -> int:
    """Draw a line of the script: an edit with its tick, and buttons to move, repeat or delete the edit.

    Returns:
        Top of the next line.
    """
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    ink = palette.warning if rejection else None if entry.is_enabled else palette.dim
    line_box, target = (x, y, width, px(SCRIPT_LINE_HEIGHT)), ScriptEntryTarget(entry.first_log_entry_id)
    canvas.add_hit_region(HitRegion(f"deed_line:{entry.first_log_entry_id}", line_box, menu=target))
    canvas.draw_check_box(
        f"deed:{entry.first_log_entry_id}",
        (x, y, px(20), px(20)),
        entry.is_enabled,
        partial(script_entries.toggle_script_entry, session, entry),
        tip="Switch this edit on or off",
    )
    text = entry.representative_command.describe_change(RunNames(session.run.focused_branch_timeline))
    canvas.add_hit_region(
        HitRegion(
            f"deed_text:{entry.first_log_entry_id}",
            (x + px(24), y, width - px(24), px(20)),
            partial(desk.player.pause_and_seek, entry.tick),
            rejection or f"{text} at tick {entry.tick:,}: click to go there",
        )
    )
    tick = f"{entry.tick:,}" if entry.last_tick == entry.tick else f"{entry.tick:,}-{entry.last_tick:,}"
    tick_width = canvas.text_width(tick, 12, "mono")
    canvas.draw_text(
        (x + px(24), y + px(10)), text, size=13, colour=ink, middle=True, width=width - px(34) - tick_width
    )
    canvas.draw_text(
        (x + width, y + px(10)), tick, size=12, face="mono", colour=palette.dim, align="right", middle=True
    )
    return _draw_script_line_buttons(desk, session, x + px(24), y + px(22), entry) + px(8)


def _draw_script_line_buttons(desk: ViewContext, session: Session, x: int, y: int, entry: ScriptEntry) -> int:
    canvas = desk.canvas
    px = canvas.to_px
    actions = (
        ("-10", partial(script_entries.move_script_entry, session, entry, -10), "Ten ticks earlier"),
        ("-1", partial(script_entries.move_script_entry, session, entry, -1), "One tick earlier"),
        ("+1", partial(script_entries.move_script_entry, session, entry, 1), "One tick later"),
        ("+10", partial(script_entries.move_script_entry, session, entry, 10), "Ten ticks later"),
        ("repeat", partial(script_entries.duplicate_script_entry, session, entry), "Repeat this edit ten ticks later"),
        ("delete", partial(script_entries.delete_script_entry, session, entry), "Delete this edit from the script"),
    )
    for label, action, tip in actions:
        width = canvas.text_width(label, 12) + px(12)
        canvas.draw_button(
            f"deed:{entry.first_log_entry_id}:{label}", (x, y, width, px(20)), label, action, tip=tip, size=12
        )
        x += width + px(4)
    return y + px(20)
