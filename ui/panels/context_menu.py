"""The open context menu of the window, on top of everything except dialogs."""

from functools import partial

from ui.model.context_menu import Action, Menu
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import ClickCallback
from ui.widgets.menus import draw_menu


def draw_context_menu(desk: ViewContext) -> None:
    menu = desk.ui_state.context_menu
    if menu is not None:
        draw_menu(desk.canvas, menu, partial(menu_item_callback, desk, menu))


def menu_item_callback(desk: ViewContext, menu: Menu, action: Action) -> ClickCallback:
    """Return a callback that first closes the menu and then runs an action, which may open another menu."""
    return partial(_close_menu_and_run_action, desk, menu, action)


def _close_menu_and_run_action(desk: ViewContext, menu: Menu, action: Action) -> None:
    if desk.ui_state.context_menu is menu:
        desk.ui_state.context_menu = None
    action()
