"""Theme of pygame_gui's elements, derived from the window's palette: flat, rounded, one accent colour.

pygame_gui cannot change its text size while running. After a change of scale or theme, create a new manager with
create_gui_manager and let the dialogs rebuild their elements in it.
"""

from typing import Any

import pygame_gui

from ui.draw.fonts import FONT_FOLDER
from ui.draw.theme import Colour, Palette, mix_colours

GUI_TEXT_SIZE = 14  # font size in design units

_SANS_FONT_PATHS = {
    "regular_path": str(FONT_FOLDER / "NotoSans-Regular.ttf"),
    "bold_path": str(FONT_FOLDER / "NotoSans-Bold.ttf"),
    "italic_path": str(FONT_FOLDER / "NotoSans-Regular.ttf"),  # required by pygame_gui, but no text is in italics
    "bold_italic_path": str(FONT_FOLDER / "NotoSans-Bold.ttf"),
}
# The program ships only the regular weight of this font, but pygame_gui requires a path for each style.
_MONO_FONT_PATHS = dict.fromkeys(_SANS_FONT_PATHS, str(FONT_FOLDER / "FiraCode-Regular.ttf"))


def create_gui_manager(size: tuple[int, int], palette: Palette, scale: float) -> pygame_gui.UIManager:
    """Return a manager of pygame_gui for a window of this size, with all fonts of its elements loaded."""
    return pygame_gui.UIManager(
        size, gui_theme_data(palette, scale), enable_live_theme_updates=False, starting_language="en"
    )


def gui_theme_data(palette: Palette, scale: float) -> dict[str, Any]:
    """Return the theme as data for pygame_gui; creating a manager with it loads all fonts of the theme."""

    def px(units: float) -> int:
        return max(1, round(units * scale))

    flat = {
        "shape": "rounded_rectangle",
        "shape_corner_radius": str(px(6)),
        "border_width": "0",
        "shadow_width": "0",
    }
    square = {"shape": "rectangle", "border_width": "0", "shadow_width": "0"}
    text = _gui_font_entry("backmove_sans", px(GUI_TEXT_SIZE), _SANS_FONT_PATHS)
    return {
        "defaults": {"colours": _theme_colours(palette), "font": text},
        "label": {"misc": {"text_horiz_alignment": "left"}, "font": text},
        "text_entry_line": {
            "colours": {
                "selected_bg": colour_code(mix_colours(palette.accent, palette.raised, 0.45)),
                "selected_text": colour_code(palette.text),
            },
            "misc": flat | {"border_width": str(px(1)), "padding": f"{px(8)},{px(2)}"},
            "font": text,
        },
        "#mono_field": {"font": _gui_font_entry("backmove_mono", px(GUI_TEXT_SIZE), _MONO_FONT_PATHS)},
        "scrolling_container": {"misc": square},
    }


def colour_code(colour: Colour, alpha: int = 255) -> str:
    """Return a colour as a hexadecimal string "#RRGGBBAA", as themes of pygame_gui require."""
    return f"#{colour[0]:02X}{colour[1]:02X}{colour[2]:02X}{alpha:02X}"


def _gui_font_entry(name: str, size: int, paths: dict[str, str]) -> dict[str, str]:
    return {"name": name, "size": str(size), "bold": "0", "italic": "0", **paths}


def _theme_colours(palette: Palette) -> dict[str, str]:
    text, dim = colour_code(palette.text), colour_code(palette.dim)
    clear = "#00000000"
    return {
        "normal_bg": colour_code(palette.raised),
        "hovered_bg": colour_code(palette.hover),
        "disabled_bg": colour_code(mix_colours(palette.raised, palette.surface, 0.5)),
        "selected_bg": colour_code(palette.accent),
        "active_bg": colour_code(palette.edge),
        "dark_bg": colour_code(palette.raised),
        "disabled_dark_bg": colour_code(palette.surface),
        "normal_text": text,
        "hovered_text": text,
        "disabled_text": colour_code(mix_colours(palette.dim, palette.surface, 0.4)),
        "selected_text": colour_code(palette.on_accent),
        "active_text": text,
        "normal_text_shadow": clear,
        "hovered_text_shadow": clear,
        "disabled_text_shadow": clear,
        "selected_text_shadow": clear,
        "active_text_shadow": clear,
        "normal_border": colour_code(palette.edge),
        "hovered_border": dim,
        "disabled_border": colour_code(palette.edge),
        "selected_border": colour_code(palette.accent),
        "active_border": colour_code(palette.accent),
        "link_text": colour_code(palette.accent),
        "link_hover": colour_code(palette.accent),
        "link_selected": colour_code(palette.accent),
        "text_shadow": clear,
        "filled_bar": colour_code(palette.accent),
        "unfilled_bar": colour_code(palette.raised),
        "text_cursor": text,
    }
