"""Drawing of the open context menu, on top of everything except dialogs."""

from collections.abc import Callable
from functools import partial

from ui.draw.theme import mix_colours
from ui.model.context_menu import Action, Menu, MenuItem
from ui.model.layout import Box
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

# Height of an item, height of the title, and padding of the menu, in design units.
ITEM_HEIGHT, TITLE_HEIGHT, MENU_PADDING = 26, 24, 6
# Width reserved for check marks in a menu that has any, and side of a check mark, in design units.
CHECK_MARK_WIDTH, CHECK_MARK_SIDE = 16, 15


def draw_context_menu(desk: ViewContext) -> None:
    menu = desk.ui_state.context_menu
    if menu is None:
        return
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    check_width = px(CHECK_MARK_WIDTH) if any(item.is_on for item in menu.items) else 0
    widths = [
        canvas.text_width(item.label, 13) + canvas.text_width(item.key, 11, "mono") + check_width + px(48)
        for item in menu.items
    ]
    width = max(*widths, canvas.text_width(menu.title, 12, "bold") + px(28), px(180))
    height = px(TITLE_HEIGHT + ITEM_HEIGHT * len(menu.items) + 2 * MENU_PADDING)
    x, y = _menu_position_in_window(menu.position, (width, height), canvas.surface.get_size())
    canvas.fill_box((x, y, width, height), palette.raised, 8)
    canvas.draw_outline((x, y, width, height), palette.edge, 8)
    canvas.add_hit_region(HitRegion("menu", (x, y, width, height), is_menu_part=True))
    title_pos = (x + px(12), y + px(MENU_PADDING) + px(TITLE_HEIGHT) // 2)
    canvas.draw_text(title_pos, menu.title, size=12, face="bold", colour=palette.dim, middle=True, width=width - px(24))
    for index, item in enumerate(menu.items):
        box = (x + px(4), y + px(MENU_PADDING + TITLE_HEIGHT + ITEM_HEIGHT * index), width - px(8), px(ITEM_HEIGHT))
        action = None if item.disabled_reason else menu_item_callback(desk, menu, item.action)
        region = HitRegion(f"menu:{item.label}", box, action, item.disabled_reason, is_menu_part=True)
        is_hovered = canvas.add_hit_region(region) and action is not None
        if is_hovered or index == menu.selected_index:
            canvas.fill_box(box, mix_colours(palette.raised, palette.accent, 0.3) if is_hovered else palette.hover, 5)
        _draw_menu_item(desk, item, box, check_width)


def _draw_menu_item(desk: ViewContext, item: MenuItem, box: Box, check_width: int) -> None:
    """Draw the check mark, the label and the key of an item; a disabled item is dim."""
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    left, middle, ink = box[0] + px(10), box[1] + box[3] // 2, palette.dim if item.disabled_reason else palette.text
    if item.is_on:
        side = px(CHECK_MARK_SIDE)
        canvas.draw_check_mark((left - px(4), middle - side // 2, side, side), ink)
    canvas.draw_text((left + check_width, middle), item.label, size=13, colour=ink, middle=True)
    right = box[0] + box[2] - px(8)
    canvas.draw_text((right, middle), item.key, size=11, face="mono", colour=palette.dim, align="right", middle=True)


def menu_item_callback(desk: ViewContext, menu: Menu, action: Action) -> Callable[[], None]:
    """Return a callback that first closes the menu and then runs an action, which may open another menu."""
    return partial(_close_menu_and_run_action, desk, menu, action)


def _close_menu_and_run_action(desk: ViewContext, menu: Menu, action: Action) -> None:
    if desk.ui_state.context_menu is menu:
        desk.ui_state.context_menu = None
    action()


def _menu_position_in_window(
    position: tuple[int, int], size: tuple[int, int], window: tuple[int, int]
) -> tuple[int, int]:
    x, y = (
        max(0, min(at, window_side - menu_side))
        for at, menu_side, window_side in zip(position, size, window, strict=True)
    )
    return x, y
