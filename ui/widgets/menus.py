"""Drawing of context menus, and a context menu on top of a dialog."""

from collections.abc import Callable

import pygame

from ui.draw.theme import Palette, mix_colours
from ui.model.context_menu import Action, Menu, MenuItem
from ui.model.layout import Box
from ui.widgets.canvas import Canvas, ClickCallback, HitRegion

# Height of an item, height of the title, and padding of the menu, in design units.
ITEM_HEIGHT, TITLE_HEIGHT, MENU_PADDING = 26, 24, 6
# Width reserved for check marks in a menu that has any, and side of a check mark, in design units.
CHECK_MARK_WIDTH, CHECK_MARK_SIDE = 16, 15

_CHOOSING_KEYS = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)


def draw_menu(canvas: Canvas, menu: Menu, callback_of: Callable[[Action], ClickCallback]) -> None:
    """Draw a menu near its position, inside the window, and register its hit regions.

    Args:
        canvas: Canvas of the window.
        menu: Menu to draw.
        callback_of: Function that returns the callback of a click on an item, given the action of the item.
    """
    palette, px = canvas.palette, canvas.to_px
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
        action = None if item.disabled_reason else callback_of(item.action)
        region = HitRegion(f"menu:{item.label}", box, action, item.disabled_reason, is_menu_part=True)
        is_hovered = canvas.add_hit_region(region) and action is not None
        if is_hovered or index == menu.selected_index:
            ground = mix_colours(palette.raised, palette.accent, 0.3) if is_hovered else palette.hover
            canvas.fill_box(box, canvas.shade_if_pressed(ground, region.id, is_hovered), 5)
        _draw_menu_item(canvas, item, box, check_width)


def _draw_menu_item(canvas: Canvas, item: MenuItem, box: Box, check_width: int) -> None:
    """Draw the check mark, the label and the key of an item; a disabled item is dim."""
    palette, px = canvas.palette, canvas.to_px
    left, middle, ink = box[0] + px(10), box[1] + box[3] // 2, palette.dim if item.disabled_reason else palette.text
    if item.is_on:
        side = px(CHECK_MARK_SIDE)
        canvas.draw_check_mark((left - px(4), middle - side // 2, side, side), ink)
    canvas.draw_text((left + check_width, middle), item.label, size=13, colour=ink, middle=True)
    right = box[0] + box[2] - px(8)
    canvas.draw_text((right, middle), item.key, size=11, face="mono", colour=palette.dim, align="right", middle=True)


def _menu_position_in_window(
    position: tuple[int, int], size: tuple[int, int], window: tuple[int, int]
) -> tuple[int, int]:
    x, y = (
        max(0, min(at, window_side - menu_side))
        for at, menu_side, window_side in zip(position, size, window, strict=True)
    )
    return x, y


class DialogMenu:
    """Open context menu on top of a dialog; it handles all keys and mouse events until it is closed."""

    def __init__(self, menu: Menu, close: Callable[[], None]) -> None:
        """Create the menu.

        Args:
            menu: Menu to show.
            close: Callback that closes the menu.
        """
        self.menu, self.close_callback = menu, close
        self.canvas = Canvas()

    def draw_menu_over_dialog(
        self, window: pygame.Surface, palette: Palette, scale: float, mouse: tuple[int, int]
    ) -> None:
        """Draw the menu on the window.

        Args:
            window: Surface of the window.
            palette: Colours of the theme.
            scale: Pixels per design unit.
            mouse: Mouse position in pixels.
        """
        self.canvas.begin_frame(window, palette, scale, mouse)
        draw_menu(self.canvas, self.menu, self._callback_of_item)

    def _callback_of_item(self, action: Action) -> ClickCallback:
        def choose_item() -> None:
            self.close_callback()
            action()

        return choose_item

    def handle_key(self, event: pygame.event.Event) -> None:
        """Move the selection by arrow keys, choose the item by Enter or Space, and close the menu by other keys."""
        step = {pygame.K_UP: -1, pygame.K_DOWN: 1}.get(event.key)
        if step is not None:
            self.menu.move_selection(step)
        elif event.key in _CHOOSING_KEYS:
            item = self.menu.items[self.menu.selected_index]
            if not item.disabled_reason:
                self._callback_of_item(item.action)()
        else:
            self.close_callback()

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> None:
        """Choose an item by a click, and close the menu by a press outside it."""
        region = self.canvas.topmost_region_at(position)
        if event.type == pygame.MOUSEBUTTONDOWN and region is None:
            self.close_callback()
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and region is not None:
            self.canvas.pressed_id = region.id
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            pressed_id, self.canvas.pressed_id = self.canvas.pressed_id, None
            if region is not None and region.id == pressed_id and region.on_click is not None:
                region.on_click()
