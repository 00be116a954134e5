"""Immediate-mode drawing and hit testing of the window's own controls: text, chips, buttons, check boxes, sliders.

Every control is redrawn from the current state, and a clickable control registers a HitRegion while it is drawn. A
control is therefore one line of code, always agrees with what it shows, and needs no rebuilding when the window, the
scale or the theme changes. Controls that keep state between frames (text fields, lists) belong to dialogs and are in
ui/widgets/controls.py.

Numbers and controls take twice as long to draw as the maps, and nothing is gained by updating numbers sixty times a
second. While the window rests (no user input, no overlay), `draw_cached_region` therefore redraws the cached regions of
the window (panels, bars, sidebar) in round-robin order: each region every third frame, or less often if there are more
than six regions, because on average at most two regions are redrawn per frame. Regions whose numbers are compared with
each other form one group and are redrawn in the same frame, so that they show the same tick.

Hit regions are the areas that react to the mouse, such as a button. Cached regions are the areas that
`draw_cached_region` redraws; each contains many hit regions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise

import pygame

from ui.draw.fonts import FontCache
from ui.draw.theme import Colour, Palette, mix_colours
from ui.model.context_menu import MenuTarget
from ui.model.layout import Box, box_contains_position

_MAX_CACHED_BOX_AREA_PX = 40_000  # area in square pixels above which a rounded box is drawn directly, not cached
# Minimum number of frames between two redraws of a cached region, while the window rests.
MIN_REDRAW_INTERVAL_FRAMES = 3
# Maximum number of cached regions redrawn per frame, on average.
# With eight panels and three bars, each region is then redrawn every sixth frame, which is 10 times a second.
# That is enough, because numbers that change 20 times a second are unreadable.
_MAX_REDRAWN_REGIONS_PER_FRAME = 2

_PRESSED_SHARE = 0.4  # share of the window's colour in the colour of a pressed button

ClickCallback = Callable[[], None]


@dataclass(frozen=True)
class HitRegion:
    """Rectangle that reacts to the mouse, registered by a control while it is drawn.

    `id` names the rectangle in tests and keeps the keyboard focus on the same control from frame to frame. It has no
    other meaning: what the rectangle shows and does is in the other fields.
    """

    id: str  # unique name of the region in a frame, for example "transport:play"
    box: Box  # rectangle in window pixels
    on_click: ClickCallback | None = None  # callback of a click; None if a click does nothing
    tooltip: str = ""  # tooltip; "": use the one of the first command, if there is any
    # ids of the commands that do the same as the mouse in this region; the tooltip shows their keys
    command_ids: tuple[str, ...] = ()
    menu: MenuTarget | None = None  # object whose context menu opens here
    cursor: int | None = None  # cursor shape in pygame; None: a shape that follows from click and drag
    is_menu_part: bool = False  # whether the region belongs to the open context menu
    # Callback of a drag that began in this region; it gets the mouse position in pixels
    on_drag: Callable[[tuple[int, int]], None] | None = None
    on_wheel: Callable[[int], None] | None = None  # callback of the mouse wheel; it gets 1 for up or -1 for down
    on_drop: ClickCallback | None = None  # callback of the release of the mouse button at the end of a drag


# Minimum extra width of a choice beyond its label, including the gap to its right, in design units.
MIN_SEGMENT_PADDING = 13
MAX_SEGMENT_PADDING = 72  # maximum extra width of a choice beyond its label, so that few choices do not fill a wide row
SLIDER_HANDLE_RADIUS = 7  # radius of a slider's handle, in design units


def slider_share_at(x: int, width: int, radius: int) -> float:
    """Return the position of a slider's handle, from 0 to 1, for a mouse position.

    Args:
        x: Mouse position relative to the left edge of the slider, in pixels.
        width: Width of the slider, in pixels.
        radius: Radius of the handle, in pixels; the handle's centre keeps this distance from both edges.
    """
    return max(0.0, min(1.0, (x - radius) / max(1, width - 2 * radius)))


class Canvas:
    """Surface and hit regions of a frame: `begin_frame`, then draw the controls, then `topmost_region_at`."""

    def __init__(self, scale: float = 1.0) -> None:
        """Create a canvas that can measure texts but not draw, because `begin_frame` has not set its surface yet.

        Args:
            scale: Pixels per design unit, used to measure texts until `begin_frame` sets another scale.
        """
        self.font_cache = FontCache()
        self.scale = scale
        self.hit_regions: list[HitRegion] = []  # hit regions registered in this frame, in drawing order
        self.focused_control_id: str | None = None  # id of the control that has the keyboard focus
        self.pressed_id: str | None = None  # id of the control that the mouse pressed and has not released
        self.dragged_region: HitRegion | None = None  # hit region in which the present drag began; None without a drag
        self.mouse_position: tuple[int, int] = (-1, -1)  # mouse position in pixels
        self.accepts_mouse_input = True  # whether controls react to the pointer; False while a modal dialog is open
        self.dirty_rects: list[Box] = []  # dirty rectangles in pixels: areas drawn in this frame
        # Control id -> rectangle in scrolling areas, also if scrolled out of view.
        self.boxes_in_scroll_areas: dict[str, Box] = {}
        # Controls that are scrolled out of view, each as (number of hit regions registered before it, its id)
        self._controls_scrolled_out_of_view: list[tuple[int, str]] = []
        self._is_in_scroll_area = False  # whether the controls being drawn are inside a scrolling area
        # _may_reuse_pixels: there is no user input and no overlay, so that `draw_cached_region` may keep the pixels of
        # the last frame. _waits: this frame has much other work, so that `draw_cached_region` postpones redraws of
        # cached regions by one frame. _last_frame_was_busy: the argument `is_busy` of `begin_frame` in the last frame.
        self._may_reuse_pixels = self._are_redraws_postponed = self._last_frame_was_busy = False
        # Frame counter that selects the group of regions to redraw, without postponed frames.
        self._redraw_frame_count = 0
        # Name of a cached region -> hit regions of its last redraw.
        self._hit_regions_by_name: dict[str, list[HitRegion]] = {}
        # Names of the groups of cached regions in the order of their redraws (a dict used as an ordered set)
        self._redraw_groups: dict[str, None] = {}

    def begin_frame(
        self,
        surface: pygame.Surface,
        palette: Palette,
        scale: float,
        mouse: tuple[int, int],
        *,
        rests: bool = False,
        is_busy: bool = False,
    ) -> None:
        """Start a frame: clear the hit regions and dirty rectangles of the last frame.

        Args:
            surface: Surface to draw on.
            palette: Colours of the theme.
            scale: Pixels per design unit.
            mouse: Mouse position in pixels.
            rests: Whether `surface` holds the last frame and `draw_cached_region` may leave most regions unchanged.
            is_busy: Whether the other work of this frame takes long. A resting window then postpones its redraws by one
                frame, unless the last frame was busy too, because waiting gains nothing if all frames are busy.
        """
        self.surface, self.palette, self.scale, self.mouse_position = surface, palette, scale, mouse
        self.hit_regions, self.dirty_rects = [], []
        self.boxes_in_scroll_areas, self._controls_scrolled_out_of_view = {}, []
        self._may_reuse_pixels = rests
        self._are_redraws_postponed = rests and is_busy and not self._last_frame_was_busy
        self._last_frame_was_busy = is_busy
        self._redraw_frame_count += not self._are_redraws_postponed
        if not rests:
            self._hit_regions_by_name.clear()
            self._redraw_groups.clear()

    def draw_cached_region(self, name: str, box: Box, draw: ClickCallback, group: str = "") -> bool:
        """Draw a cached region of the window, or keep its pixels while the window rests and the region is not due.

        Args:
            name: Name that identifies the region from frame to frame.
            box: Rectangle of the region, marked as dirty if the region is drawn.
            draw: Callback that draws the region and registers its hit regions.
            group: Name shared by regions that must be redrawn in the same frame; by default each region is alone.

        Returns:
            Whether the region was drawn. If not, the hit regions of its last redraw are registered again.
        """
        cached, group = self._hit_regions_by_name.get(name), group or name
        self._redraw_groups.setdefault(group)
        if (
            self._may_reuse_pixels
            and cached is not None
            and (self._are_redraws_postponed or not self._is_redraw_due(group))
        ):
            self.hit_regions += cached
            return False
        first = len(self.hit_regions)
        draw()
        self._hit_regions_by_name[name] = self.hit_regions[first:]
        self.dirty_rects.append(box)
        return True

    def _is_redraw_due(self, group: str) -> bool:
        every = max(MIN_REDRAW_INTERVAL_FRAMES, -(-len(self._hit_regions_by_name) // _MAX_REDRAWN_REGIONS_PER_FRAME))
        return (self._redraw_frame_count + list(self._redraw_groups).index(group)) % every == 0

    def to_px(self, units: float) -> int:
        """Convert a length in design units to pixels."""
        return round(units * self.scale)

    # --- hit regions -----------------------------------------------------------------------------

    def add_hit_region(self, region: HitRegion) -> bool:
        """Register a hit region, clipped to the visible area, and return whether the mouse is over it."""
        visible = pygame.Rect(region.box).clip(self.surface.get_clip())
        is_seen = bool(visible.width and visible.height)
        if self._is_in_scroll_area and region.on_click:
            self.boxes_in_scroll_areas[region.id] = region.box
            if not is_seen:
                self._controls_scrolled_out_of_view.append((len(self.hit_regions), region.id))
        if not is_seen:
            return False
        box = (visible.x, visible.y, visible.width, visible.height)
        if box != region.box:
            region = replace(region, box=box)
        self.hit_regions.append(region)
        return self.is_hovered(region.box) and self.pressed_id in (None, region.id)

    @contextmanager
    def clip_drawing_to_box(self, box: Box, *, scrolls: bool = False) -> Iterator[None]:
        """Clip drawing and hit regions to a box inside the `with` block.

        Args:
            box: Clip rectangle, intersected with the current clip rectangle.
            scrolls: Whether the box scrolls; the keyboard then also reaches controls that are clipped away.
        """
        before, did_scroll = self.surface.get_clip(), self._is_in_scroll_area
        self.surface.set_clip(pygame.Rect(box).clip(before))
        self._is_in_scroll_area = scrolls or did_scroll
        yield
        self._is_in_scroll_area = did_scroll
        self.surface.set_clip(before)

    def is_hovered(self, box: Box) -> bool:
        """Return whether the mouse is over a box, and neither a dialog nor a drag has captured it."""
        return (
            self.accepts_mouse_input and self.dragged_region is None and box_contains_position(box, self.mouse_position)
        )

    def topmost_region_at(self, position: tuple[int, int]) -> HitRegion | None:
        """Return the topmost hit region at a position in pixels, which is the one registered last."""
        return next((s for s in reversed(self.hit_regions) if box_contains_position(s.box, position)), None)

    def menu_region_at(self, position: tuple[int, int]) -> HitRegion | None:
        """Return the topmost hit region at a position in pixels that has a context menu."""
        return next((s for s in reversed(self.hit_regions) if s.menu and box_contains_position(s.box, position)), None)

    def wheel_region_at(self, position: tuple[int, int]) -> HitRegion | None:
        """Return the topmost hit region at a position in pixels that reacts to the mouse wheel."""
        return next(
            (s for s in reversed(self.hit_regions) if s.on_wheel and box_contains_position(s.box, position)), None
        )

    def hit_region_with_id(self, spot_id: str) -> HitRegion | None:
        """Return the hit region with a given id, or None if no such region is visible in this frame."""
        return next((s for s in self.hit_regions if s.id == spot_id), None)

    def focus_next_control(self, step: int) -> None:
        """Move the keyboard focus by `step` controls in drawing order, with wrap-around."""
        focusable_ids = self._focusable_control_ids()
        if not focusable_ids:
            return
        if self.focused_control_id in focusable_ids:
            self.focused_control_id = focusable_ids[
                (focusable_ids.index(self.focused_control_id) + step) % len(focusable_ids)
            ]
        else:
            self.focused_control_id = focusable_ids[0 if step > 0 else -1]

    def _focusable_control_ids(self) -> list[str]:
        """Return the ids of all clickable controls in drawing order, including those scrolled out of view."""
        visible = [(index, region.id) for index, region in enumerate(self.hit_regions) if region.on_click]
        return [
            spot_id
            for _, spot_id in sorted([*self._controls_scrolled_out_of_view, *visible], key=lambda entry: entry[0])
        ]

    def draw_focused_control(self) -> None:
        region = self.hit_region_with_id(self.focused_control_id) if self.focused_control_id else None
        if region:
            self.draw_focus_ring(self.focus_ring_rect(pygame.Rect(region.box)))

    def focus_ring_rect(self, rect: pygame.Rect) -> pygame.Rect:
        """Return the rectangle of the focus ring around a control with rectangle `rect`."""
        gap = self.to_px(2) + 1
        return rect.inflate(2 * gap, 2 * gap)

    def draw_focus_ring(self, rect: pygame.Rect) -> None:
        """Draw the outline that marks the control with the keyboard focus."""
        pygame.draw.rect(self.surface, self.palette.accent, rect, max(2, self.to_px(2)), self.to_px(7))

    # --- text -------------------------------------------------------------------------------------

    def draw_text(
        self,
        position: tuple[int, int],
        text: str,
        *,
        size: float = 13,
        colour: Colour | None = None,
        face: str = "sans",
        align: str = "left",
        width: int | None = None,
        middle: bool = False,
    ) -> int:
        """Draw one line of text and return its width in pixels.

        Args:
            position: Top left corner in pixels; `align` and `middle` change which point of the text it is.
            text: Text without line breaks.
            size: Font size in design units.
            colour: Colour of the text; None for the palette's text colour.
            face: Name of the font: "sans", "bold" or "mono".
            align: Horizontal meaning of `position`: "left", "right" or "centre" of the text.
            width: Maximum width in pixels; longer text is shortened with an ellipsis. None for no limit.
            middle: Whether `position` is on the vertical middle of the text and not at its top.
        """
        if width is not None:
            text = self.shorten_text(text, width, size, face)
        if not text:
            return 0
        image = self.font_cache.render_text(text, face, self.to_px(size), colour or self.palette.text)
        x, y = position
        if align == "right":
            x -= image.get_width()
        elif align == "centre":
            x -= image.get_width() // 2
        if middle:
            # Move bold text up, because its letters are lower in the line than letters of the other fonts.
            y -= image.get_height() // 2 + (self.to_px(1.5) if face == "bold" else 0)
        self.surface.blit(image, (x, y))
        return image.get_width()

    def text_width(self, text: str, size: float = 13, face: str = "sans") -> int:
        return self.font_cache.width(text, face, self.to_px(size))

    def shorten_text(self, text: str, width: int, size: float = 13, face: str = "sans") -> str:
        """Return the text, shortened with an ellipsis if it is wider than `width` pixels."""
        return _shortened_text(self.font_cache.load_font(face, self.to_px(size)), text, width)

    def draw_wrapped_text(self, box: Box, text: str, *, size: float = 13, colour: Colour | None = None) -> int:
        """Draw as many lines of a paragraph as fit into a box, and return the height of these lines in pixels."""
        x, y, width, height = box
        line_height = self.to_px(size * 1.45)
        lines = self.wrap_text(text, width, size)
        line_count = max(0, height // line_height)
        for i, line in enumerate(lines[:line_count]):
            is_last = i == line_count - 1 and len(lines) > line_count
            self.draw_text(
                (x, y + i * line_height), line + (" ..." if is_last else ""), size=size, colour=colour, width=width
            )
        return min(len(lines), line_count) * line_height

    def wrap_text(self, text: str, width: int, size: float = 13, face: str = "sans") -> list[str]:
        """Return the lines of a text wrapped at `width` pixels; words are not broken, so a line may be wider."""
        return list(_wrapped_lines(self.font_cache.load_font(face, self.to_px(size)), text, width))

    # --- shapes -----------------------------------------------------------------------------------

    def fill_box(self, box: Box, colour: Colour, radius: float = 0) -> None:
        """Draw a filled box.

        Small rounded boxes are blitted from a cache, because drawing their corners takes five times as long as a blit.
        """
        if radius == 0:
            self.surface.fill(colour, box)
        elif box[2] * box[3] > _MAX_CACHED_BOX_AREA_PX:
            pygame.draw.rect(self.surface, colour, box, border_radius=self.to_px(radius))
        elif box[2] > 0 and box[3] > 0:
            self.surface.blit(_rounded_box_image(box[2], box[3], colour, self.to_px(radius)), box[:2])

    def draw_outline(self, box: Box, colour: Colour, radius: float = 0, width: float = 1) -> None:
        pygame.draw.rect(self.surface, colour, box, max(1, self.to_px(width)), self.to_px(radius))

    def draw_horizontal_line(self, x: int, y: int, width: int) -> None:
        pygame.draw.line(self.surface, self.palette.edge, (x, y), (x + width - 1, y))

    def fill_polygon(self, points: list[tuple[float, float]], colour: Colour) -> None:
        pygame.draw.polygon(self.surface, colour, points)

    # --- controls ---------------------------------------------------------------------------------

    def shade_if_pressed(self, ground: Colour, spot_id: str, is_hovered: bool) -> Colour:
        """Return the ground colour of a control, darker while the mouse presses the control.

        Args:
            ground: Ground colour while the control is not pressed.
            spot_id: Id of the hit region of the control.
            is_hovered: Whether the pointer is over the control; a press that has left its control looks released.
        """
        is_pressed = is_hovered and self.pressed_id == spot_id
        return mix_colours(ground, self.palette.window, _PRESSED_SHARE) if is_pressed else ground

    def draw_button(
        self,
        spot_id: str,
        box: Box,
        label: str,
        action: ClickCallback | None,
        *,
        tip: str = "",
        command_ids: tuple[str, ...] = (),
        key: str = "",
        is_on: bool = False,
        size: float = 13,
        colour: Colour | None = None,
    ) -> None:
        """Draw a labelled button: filled with the accent colour if `is_on`, dim if it has no action.

        Args:
            spot_id: Id of the hit region.
            box: Rectangle in pixels.
            label: Text on the button.
            action: Callback of a click; None disables the button.
            tip: Tooltip; if empty, the tooltip is that of the first command, or without commands the label.
            command_ids: Ids of the commands that do the same; the tooltip shows their keys.
            key: Keyboard shortcut to draw on the button if there is room for it.
            is_on: Whether the button is highlighted.
            size: Font size of the label in design units.
            colour: Colour of the label; None for the palette's text colour, or its dim colour without an action.
        """
        palette = self.palette
        region = HitRegion(spot_id, box, action, tip or ("" if command_ids else label), command_ids)
        is_hovered = self.add_hit_region(region) and action is not None
        ground = palette.accent if is_on else palette.hover if is_hovered else palette.raised
        self.fill_box(box, self.shade_if_pressed(ground, spot_id, is_hovered), 6)
        ink = palette.on_accent if is_on else colour or (palette.text if action else palette.dim)
        x, y, width, height = box
        key_width = self.text_width(key, 11, "mono") + self.to_px(8) if key else 0
        if key_width and width < key_width + self.text_width(label, size) + self.to_px(16):
            key_width = 0
        middle = y + height // 2
        self.draw_text(
            (x + (width - key_width) // 2, middle),
            label,
            size=size,
            colour=ink,
            align="centre",
            middle=True,
            width=width - key_width - self.to_px(6),
        )
        if key_width:
            dim = mix_colours(ink, ground, 0.35)
            self.draw_text(
                (x + width - self.to_px(8), middle), key, size=11, face="mono", colour=dim, align="right", middle=True
            )

    def draw_check_box(
        self,
        spot_id: str,
        box: Box,
        is_on: bool,
        action: ClickCallback,
        *,
        tip: str = "",
        command_ids: tuple[str, ...] = (),
    ) -> None:
        """Draw a check box at the left end of `box`; a click anywhere in `box` calls `action`."""
        is_hovered = self.add_hit_region(HitRegion(spot_id, box, action, tip, command_ids))
        side = self.to_px(15)
        square = (box[0], box[1] + (box[3] - side) // 2, side, side)
        palette = self.palette
        if is_on:
            self.fill_box(square, palette.accent, 4)
            self.draw_check_mark(square, palette.on_accent)
        else:
            ground = palette.hover if is_hovered else palette.raised
            self.fill_box(square, self.shade_if_pressed(ground, spot_id, is_hovered), 4)
            self.draw_outline(square, palette.edge, 4)

    def draw_check_mark(self, square: Box, colour: Colour) -> None:
        x, y, s, _ = square
        points = [(x + s * 0.22, y + s * 0.52), (x + s * 0.43, y + s * 0.74), (x + s * 0.80, y + s * 0.28)]
        pygame.draw.lines(self.surface, colour, False, points, max(2, self.to_px(2)))

    def draw_segmented_control(
        self, spot_id: str, box: Box, options: list[tuple[str, str, str]], chosen: str, choose: Callable[[str], None]
    ) -> int:
        """Draw a group of exclusive choices and return the bottom of its last row, in pixels.

        The choices are spread over as many rows as their labels need. Each choice has the width of its label plus an
        equal share of the free width of its row.

        Args:
            spot_id: Prefix of the ids of the hit regions; each id ends with the value of its choice.
            box: Rectangle of the first row, in pixels.
            options: The choices as (value, label, tooltip).
            chosen: Value of the highlighted choice.
            choose: Callback that gets the value of the clicked choice.
        """
        x, y, width, height = box
        for row in self._segment_rows(width, options):
            boxes = self.segment_boxes((x, y, width, height), [label for _, label, _ in row])
            for (value, label, tip), segment in zip(row, boxes, strict=True):
                self.draw_button(
                    f"{spot_id}:{value}",
                    segment,
                    label,
                    lambda value=value: choose(value),  # type: ignore[misc]
                    tip=tip,
                    is_on=value == chosen,
                    size=12,
                )
            y += height + self.to_px(3)
        return y - self.to_px(3)

    def _segment_rows(self, width: int, options: list[tuple[str, str, str]]) -> list[list[tuple[str, str, str]]]:
        """Distribute the options over the fewest rows in which no label is shortened.

        All rows have the same number of options, except that the last row may have fewer.
        """
        for row_length in range(len(options), 0, -1):
            rows = [options[i : i + row_length] for i in range(0, len(options), row_length)]
            if len(rows) * (row_length - 1) < len(options) and all(
                self._do_labels_fit_in_row(width, row) for row in rows
            ):
                return rows
        return [[option] for option in options]

    def _do_labels_fit_in_row(self, width: int, row: list[tuple[str, str, str]]) -> bool:
        return sum(self.text_width(label, 12) + self.to_px(MIN_SEGMENT_PADDING) for _, label, _ in row) <= width

    def segment_boxes(self, box: Box, labels: Sequence[str]) -> list[Box]:
        """Return the rectangle of each choice in a row of exclusive choices.

        Each rectangle is as wide as its label plus an equal share of the free width of the row. The share is at most
        MAX_SEGMENT_PADDING, so that a few choices are not stretched over a wide row.
        """
        x, y, width, height = box
        gap = self.to_px(3)
        widths = [self.text_width(label, 12) for label in labels]
        padding = min(self.to_px(MAX_SEGMENT_PADDING), (width + gap - sum(widths)) / max(1, len(labels)))
        edges = [x + round(total) for total in accumulate((label_width + padding for label_width in widths), initial=0)]
        return [(left, y, max(1, end - gap - left), height) for left, end in pairwise(edges)]

    def draw_meter_bar(self, box: Box, share: float, colour: Colour) -> None:
        """Draw a bar filled to a share between 0 and 1."""
        self.fill_box(box, self.palette.raised, 3)
        x, y, width, height = box
        filled = round(width * max(0.0, min(1.0, share)))
        if filled:
            self.fill_box((x, y, max(filled, self.to_px(3)), height), colour, 3)

    def draw_slider(
        self,
        spot_id: str,
        box: Box,
        share: float,
        drag_to: Callable[[float], None],
        step: Callable[[int], None],
        tip: str,
        command_ids: tuple[str, ...] = (),
        *,
        is_enabled: bool = True,
    ) -> None:
        """Draw a horizontal slider.

        Args:
            spot_id: Id of the hit region.
            box: Rectangle in pixels.
            share: Position of the handle, from 0 to 1.
            drag_to: Callback that gets the new position, from 0 to 1, while the mouse drags.
            step: Callback that gets the number of steps of the mouse wheel.
            tip: Tooltip.
            command_ids: Ids of the commands that change the value; the tooltip shows their keys.
            is_enabled: Whether the slider reacts to the mouse; a disabled one is dim.
        """
        x, y, width, height = box
        radius = self.to_px(SLIDER_HANDLE_RADIUS)

        def drag(position: tuple[int, int]) -> None:
            drag_to(slider_share_at(position[0] - x, width, radius))

        region = (
            HitRegion(spot_id, box, None, tip, command_ids, on_drag=drag, on_wheel=step)
            if is_enabled
            else HitRegion(spot_id, box, None, tip)
        )
        is_hovered = self.add_hit_region(region) and is_enabled
        text, accent = (self.palette.text, self.palette.accent) if is_enabled else (self.palette.dim, self.palette.dim)
        middle = y + height // 2
        handle = x + radius + round((width - 2 * radius) * max(0.0, min(1.0, share)))
        track = self.to_px(4)
        self.fill_box((x, middle - track // 2, width, track), self.palette.raised, 2)
        self.fill_box((x, middle - track // 2, handle - x, track), accent, 2)
        pygame.draw.circle(
            self.surface,
            text if is_hovered else mix_colours(text, self.palette.surface, 0.1),
            (handle, middle),
            radius,
        )

    def draw_tooltip(self, region: HitRegion, text: str, key: str) -> Box:
        """Draw a tooltip and keyboard shortcuts near a control, and return the rectangle of the tooltip in pixels."""
        pad = self.to_px(8)
        lines = self.wrap_text(text, self.to_px(280), 12)
        key_width = self.text_width(key, 12, "mono") + self.to_px(12) if key else 0
        width = max(self.text_width(line, 12) for line in lines) + 2 * pad + key_width
        height = len(lines) * self.to_px(18) + self.to_px(10)
        screen_width, screen_height = self.surface.get_size()
        x = min(max(self.to_px(4), region.box[0]), screen_width - width - self.to_px(4))
        y = region.box[1] + region.box[3] + self.to_px(6)
        max_y = screen_height - height - self.to_px(2)
        # If there is no room below the control, draw the tooltip at the lower edge of the window.
        # If the tooltip would cover more than a quarter of the control there, draw the tooltip above the control.
        if y > max_y:
            y = (
                max_y
                if region.box[1] + region.box[3] - max_y <= region.box[3] // 4
                else region.box[1] - height - self.to_px(6)
            )
        # Draw the tooltip of a tall control to the left of the control, at the height of the pointer.
        # Below the control, the tooltip might be far from the pointer.
        if region.box[3] > screen_height // 3:
            x, y = region.box[0] - width - self.to_px(6), min(self.mouse_position[1], max_y)
        self.fill_box((x, y, width, height), self.palette.text, 5)
        for i, line in enumerate(lines):
            self.draw_text(
                (x + pad, y + self.to_px(4) + i * self.to_px(18)), line, size=12, colour=self.palette.surface
            )
        if key:
            dim = mix_colours(self.palette.surface, self.palette.text, 0.3)
            self.draw_text((x + width - pad, y + self.to_px(4)), key, size=12, face="mono", colour=dim, align="right")
        return x, y, width, height


@lru_cache(maxsize=1024)
def _rounded_box_image(width: int, height: int, colour: Colour, radius: int) -> pygame.Surface:
    image = pygame.Surface((width, height), pygame.SRCALPHA)
    pygame.draw.rect(image, colour, image.get_rect(), border_radius=radius)
    return image


@lru_cache(maxsize=4096)
def _shortened_text(font: pygame.font.Font, text: str, width: int) -> str:
    if font.size(text)[0] <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if font.size(text[:middle].rstrip() + "...")[0] <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "..." if low > 0 else ""


@lru_cache(maxsize=512)
def _wrapped_lines(font: pygame.font.Font, text: str, width: int) -> tuple[str, ...]:
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            trial = f"{line} {word}" if line else word
            if line and font.size(trial)[0] > width:
                lines.append(line)
                line = word
            else:
                line = trial
        lines.append(line)
    return tuple(lines)
