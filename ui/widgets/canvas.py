"""Drawing and hit-testing of the window's own controls: text, chips, buttons, check boxes, meters, sliders.

Everything is drawn anew, and whatever can be clicked leaves a HotSpot behind. So a control is one line of code,
cannot be out of step with what it shows, and needs no rebuilding when the window, the scale or the theme changes.
Controls with a state of their own (text fields, lists, file dialogs) are pygame_gui's.

Numbers and controls take twice the time of the maps, and nobody reads sixty numbers a second: while the window rests,
because nobody touches it and nothing covers it, each part of it is redrawn in turn (`part`): every third frame, or less
often where there are more than six parts, since at most two are redrawn in a frame. Parts whose numbers are read side
by side form one group, redrawn in the same frame: they show the same tick.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise

import pygame

from ui.draw.fonts import Fonts
from ui.draw.theme import Colour, Palette, mix
from ui.model.layout import Box, contains

_LARGEST_CACHED_BOX = 40_000  # pixels
RENEWED_EVERY = 3  # frames, while the window rests
_PARTS_IN_A_FRAME = 2  # on average: eight panels and the bars are eleven, and 20 numbers a second cannot be read

Action = Callable[[], None]


@dataclass(frozen=True)
class HotSpot:
    """A place that reacts to the mouse. `id` names it for tests and keeps keyboard focus from frame to frame."""

    id: str
    box: Box
    action: Action | None = None
    tip: str = ""
    key: str = ""
    drag: Callable[[tuple[int, int]], None] | None = None  # called with the position while the button is held
    wheel: Callable[[int], None] | None = None
    drop: Action | None = None  # called when the button is let go after a drag


LEAST_SPARE = 13  # what a word needs around it, the gap to the next choice included
MOST_SPARE = 72  # beside the label of a choice, in design units
HANDLE = 7  # radius of a slider's handle, in design units


def slider_share(x: int, width: int, radius: int) -> float:
    """Where the handle of a slider stands, from 0 to 1, when it is taken to a place in its box."""
    return max(0.0, min(1.0, (x - radius) / max(1, width - 2 * radius)))


class Canvas:
    """One frame's drawing surface. `begin` it, draw, then ask it what was hit."""

    def __init__(self, scale: float = 1.0) -> None:
        """`scale`: by which texts are measured before the first `begin`."""
        self.fonts = Fonts()
        self.scale = scale
        self.spots: list[HotSpot] = []
        self.focus_id: str | None = None  # control that has the keyboard focus
        self.held: HotSpot | None = None
        self.mouse: tuple[int, int] = (-1, -1)
        self.takes_mouse = True  # False while a dialog is on top
        self.renewed: list[Box] = []  # what has been drawn in this frame
        self.scrolled: dict[str, Box] = {}  # what the keyboard can reach where something scrolls, seen or not
        self._unseen: list[tuple[int, str]] = []  # of that what is out of sight, and how many hot spots are before it
        self._scrolls = False
        self._rests = self._waits = self._was_busy = False
        self._turn = 0
        self._parts: dict[str, list[HotSpot]] = {}  # as they were drawn last
        self._groups: dict[str, None] = {}  # of parts, in the order in which they take turns

    def begin(
        self,
        surface: pygame.Surface,
        palette: Palette,
        scale: float,
        mouse: tuple[int, int],
        *,
        rests: bool = False,
        is_busy: bool = False,
    ) -> None:
        """`rests`: the surface is as the frame before has left it, and most parts may stay so. `is_busy`: the frame has
        enough to do, so that in a resting window nobody has a turn; where all frames have, each is as good as the next.
        """
        self.surface, self.palette, self.scale, self.mouse = surface, palette, scale, mouse
        self.spots, self.renewed = [], []
        self.scrolled, self._unseen = {}, []
        self._rests = rests
        self._waits = rests and is_busy and not self._was_busy
        self._was_busy = is_busy
        self._turn += not self._waits
        if not rests:
            self._parts.clear()
            self._groups.clear()

    def part(self, name: str, box: Box, draw: Action, group: str = "") -> bool:
        """Draw a part of the window, or while it rests let it stand, in turn with the others. Whether it was drawn.

        Parts of one `group` have the same turn.
        """
        kept, group = self._parts.get(name), group or name
        self._groups.setdefault(group)
        if self._rests and kept is not None and (self._waits or not self._has_turn(group)):
            self.spots += kept
            return False
        first = len(self.spots)
        draw()
        self._parts[name] = self.spots[first:]
        self.renewed.append(box)
        return True

    def _has_turn(self, group: str) -> bool:
        every = max(RENEWED_EVERY, -(-len(self._parts) // _PARTS_IN_A_FRAME))
        return (self._turn + list(self._groups).index(group)) % every == 0

    def px(self, units: float) -> int:
        return round(units * self.scale)

    # --- hot spots --------------------------------------------------------------------------------

    def spot(self, spot: HotSpot) -> bool:
        """Register a hot spot, as far as it can be seen; True while the mouse is over it."""
        seen = pygame.Rect(spot.box).clip(self.surface.get_clip())
        is_seen = bool(seen.width and seen.height)
        if self._scrolls and spot.action:
            self.scrolled[spot.id] = spot.box
            if not is_seen:
                self._unseen.append((len(self.spots), spot.id))
        if not is_seen:
            return False
        box = (seen.x, seen.y, seen.width, seen.height)
        if box != spot.box:
            spot = replace(spot, box=box)
        self.spots.append(spot)
        return self.is_hot(spot.box)

    @contextmanager
    def clipped(self, box: Box, *, scrolls: bool = False) -> Iterator[None]:
        """Draw only inside a box; what lies outside cannot be clicked either. `scrolls`: the keyboard gets there."""
        before, did_scroll = self.surface.get_clip(), self._scrolls
        self.surface.set_clip(pygame.Rect(box).clip(before))
        self._scrolls = scrolls or did_scroll
        yield
        self._scrolls = did_scroll
        self.surface.set_clip(before)

    def is_hot(self, box: Box) -> bool:
        return self.takes_mouse and self.held is None and contains(box, self.mouse)

    def spot_at(self, position: tuple[int, int]) -> HotSpot | None:
        """The topmost hot spot under a position: what was drawn last lies on top."""
        return next((s for s in reversed(self.spots) if contains(s.box, position)), None)

    def wheel_spot_at(self, position: tuple[int, int]) -> HotSpot | None:
        """The topmost hot spot under a position that the wheel does something to."""
        return next((s for s in reversed(self.spots) if s.wheel and contains(s.box, position)), None)

    def spot_named(self, spot_id: str) -> HotSpot | None:
        return next((s for s in self.spots if s.id == spot_id), None)

    def focus_next(self, step: int) -> None:
        """Give the keyboard focus to the next control."""
        usable = self._reachable()
        if not usable:
            return
        if self.focus_id in usable:
            self.focus_id = usable[(usable.index(self.focus_id) + step) % len(usable)]
        else:
            self.focus_id = usable[0 if step > 0 else -1]

    def _reachable(self) -> list[str]:
        """Controls in the order in which they are drawn, with those that are scrolled out of sight."""
        found = [(place, spot.id) for place, spot in enumerate(self.spots) if spot.action]
        return [spot_id for _, spot_id in sorted([*self._unseen, *found], key=lambda each: each[0])]

    def draw_focus(self) -> None:
        spot = self.spot_named(self.focus_id) if self.focus_id else None
        if spot:
            self.ring(self.around(pygame.Rect(spot.box)))

    def around(self, rect: pygame.Rect) -> pygame.Rect:
        """Where the ring around a control stands."""
        gap = self.px(2) + 1
        return rect.inflate(2 * gap, 2 * gap)

    def ring(self, rect: pygame.Rect) -> None:
        """What has the keyboard's focus."""
        pygame.draw.rect(self.surface, self.palette.accent, rect, max(2, self.px(2)), self.px(7))

    # --- text -------------------------------------------------------------------------------------

    def text(
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
        """Draw one line, cut to `width` pixels. Returns the pixels used. `middle`: position is the middle line."""
        if width is not None:
            text = self.cut(text, width, size, face)
        if not text:
            return 0
        image = self.fonts.render(text, face, self.px(size), colour or self.palette.text)
        x, y = position
        if align == "right":
            x -= image.get_width()
        elif align == "centre":
            x -= image.get_width() // 2
        if middle:
            y -= image.get_height() // 2 + (
                self.px(1.5) if face == "bold" else 0
            )  # the bold face sits lower in its line
        self.surface.blit(image, (x, y))
        return image.get_width()

    def text_width(self, text: str, size: float = 13, face: str = "sans") -> int:
        return self.fonts.width(text, face, self.px(size))

    def cut(self, text: str, width: int, size: float = 13, face: str = "sans") -> str:
        """The text, shortened with an ellipsis if it is wider than `width` pixels."""
        return _cut(self.fonts.font(face, self.px(size)), text, width)

    def wrapped(self, box: Box, text: str, *, size: float = 13, colour: Colour | None = None) -> int:
        """Draw a paragraph in a box, as many lines as fit. Returns the height used."""
        x, y, width, height = box
        line_height = self.px(size * 1.45)
        lines = self.wrap_lines(text, width, size)
        shown = max(0, height // line_height)
        for i, line in enumerate(lines[:shown]):
            is_last = i == shown - 1 and len(lines) > shown
            self.text(
                (x, y + i * line_height), line + (" ..." if is_last else ""), size=size, colour=colour, width=width
            )
        return min(len(lines), shown) * line_height

    def wrap_lines(self, text: str, width: int, size: float = 13, face: str = "sans") -> list[str]:
        return list(_wrap(self.fonts.font(face, self.px(size)), text, width))

    # --- shapes -----------------------------------------------------------------------------------

    def fill(self, box: Box, colour: Colour, radius: float = 0) -> None:
        """A filled box. Small rounded ones are blitted from a cache: drawing their corners costs five times that."""
        if radius == 0:
            self.surface.fill(colour, box)
        elif box[2] * box[3] > _LARGEST_CACHED_BOX:
            pygame.draw.rect(self.surface, colour, box, border_radius=self.px(radius))
        elif box[2] > 0 and box[3] > 0:
            self.surface.blit(_rounded(box[2], box[3], colour, self.px(radius)), box[:2])

    def outline(self, box: Box, colour: Colour, radius: float = 0, width: float = 1) -> None:
        pygame.draw.rect(self.surface, colour, box, max(1, self.px(width)), self.px(radius))

    def hline(self, x: int, y: int, width: int) -> None:
        pygame.draw.line(self.surface, self.palette.edge, (x, y), (x + width - 1, y))

    def polygon(self, points: list[tuple[float, float]], colour: Colour) -> None:
        pygame.draw.polygon(self.surface, colour, points)

    # --- controls ---------------------------------------------------------------------------------

    def button(
        self,
        spot_id: str,
        box: Box,
        label: str,
        action: Action | None,
        *,
        tip: str = "",
        key: str = "",
        is_on: bool = False,
        shows_key: bool = False,
        size: float = 13,
        colour: Colour | None = None,
    ) -> None:
        """A labelled button; filled with the accent when it is on; dim when it has no action."""
        palette = self.palette
        hot = self.spot(HotSpot(spot_id, box, action, tip or label, key)) and action is not None
        ground = palette.accent if is_on else palette.hover if hot else palette.raised
        self.fill(box, ground, 6)
        ink = palette.on_accent if is_on else colour or (palette.text if action else palette.dim)
        x, y, width, height = box
        key_width = self.text_width(key, 11, "mono") + self.px(8) if shows_key and key else 0
        if key_width and width < key_width + self.text_width(label, size) + self.px(16):
            key_width = 0
        middle = y + height // 2
        self.text(
            (x + (width - key_width) // 2, middle),
            label,
            size=size,
            colour=ink,
            align="centre",
            middle=True,
            width=width - key_width - self.px(6),
        )
        if key_width:
            dim = mix(ink, ground, 0.35)
            self.text(
                (x + width - self.px(8), middle), key, size=11, face="mono", colour=dim, align="right", middle=True
            )

    def check_box(self, spot_id: str, box: Box, is_on: bool, action: Action, *, tip: str = "", key: str = "") -> None:
        """A box with a tick at the left end of `box`; the whole of `box` reacts."""
        hot = self.spot(HotSpot(spot_id, box, action, tip, key))
        side = self.px(15)
        square = (box[0], box[1] + (box[3] - side) // 2, side, side)
        palette = self.palette
        if is_on:
            self.fill(square, palette.accent, 4)
            x, y, s, _ = square
            points = [(x + s * 0.22, y + s * 0.52), (x + s * 0.43, y + s * 0.74), (x + s * 0.80, y + s * 0.28)]
            pygame.draw.lines(self.surface, palette.on_accent, False, points, max(2, self.px(2)))
        else:
            self.fill(square, palette.hover if hot else palette.raised, 4)
            self.outline(square, palette.edge, 4)

    def segments(
        self, spot_id: str, box: Box, options: list[tuple[str, str, str]], chosen: str, choose: Callable[[str], None]
    ) -> int:
        """Exclusive choices: (value, label, tip), in as many rows as their words need. Returns where the last row ends.

        Each has the width of its label, and the rest of its row is shared.
        """
        x, y, width, height = box
        for row in self._segment_rows(width, options):
            boxes = self.segment_boxes((x, y, width, height), [label for _, label, _ in row])
            for (value, label, tip), segment in zip(row, boxes, strict=True):
                self.button(
                    f"{spot_id}:{value}",
                    segment,
                    label,
                    lambda value=value: choose(value),  # type: ignore[misc]
                    tip=tip,
                    is_on=value == chosen,
                    size=12,
                )
            y += height + self.px(3)
        return y - self.px(3)

    def _segment_rows(self, width: int, options: list[tuple[str, str, str]]) -> list[list[tuple[str, str, str]]]:
        """The options in the fewest rows of equal length in which no word is cut."""
        for long in range(len(options), 0, -1):
            rows = [options[i : i + long] for i in range(0, len(options), long)]
            if len(rows) * (long - 1) < len(options) and all(self._fits(width, row) for row in rows):
                return rows
        return [[option] for option in options]

    def _fits(self, width: int, row: list[tuple[str, str, str]]) -> bool:
        return sum(self.text_width(label, 12) + self.px(LEAST_SPARE) for _, label, _ in row) <= width

    def segment_boxes(self, box: Box, labels: Sequence[str]) -> list[Box]:
        """Each is as wide as its label, and what is left is shared, up to a point: few choices stay buttons."""
        x, y, width, height = box
        gap = self.px(3)
        widths = [self.text_width(label, 12) for label in labels]
        spare = min(self.px(MOST_SPARE), (width + gap - sum(widths)) / max(1, len(labels)))
        ends = [x + round(total) for total in accumulate((own + spare for own in widths), initial=0)]
        return [(left, y, max(1, end - gap - left), height) for left, end in pairwise(ends)]

    def meter(self, box: Box, share: float, colour: Colour) -> None:
        """A bar filled to a share between 0 and 1."""
        self.fill(box, self.palette.raised, 3)
        x, y, width, height = box
        filled = round(width * max(0.0, min(1.0, share)))
        if filled:
            self.fill((x, y, max(filled, self.px(3)), height), colour, 3)

    def slider(
        self,
        spot_id: str,
        box: Box,
        share: float,
        drag_to: Callable[[float], None],
        step: Callable[[int], None],
        tip: str,
        key: str = "",
        *,
        is_enabled: bool = True,
    ) -> None:
        """Draw a horizontal slider; `share` is the position of its handle from 0 to 1, the wheel makes steps."""
        x, y, width, height = box
        radius = self.px(HANDLE)

        def drag(position: tuple[int, int]) -> None:
            drag_to(slider_share(position[0] - x, width, radius))

        spot = (
            HotSpot(spot_id, box, None, tip, key, drag=drag, wheel=step)
            if is_enabled
            else HotSpot(spot_id, box, None, tip)
        )
        hot = self.spot(spot) and is_enabled
        text, accent = (self.palette.text, self.palette.accent) if is_enabled else (self.palette.dim, self.palette.dim)
        middle = y + height // 2
        handle = x + radius + round((width - 2 * radius) * max(0.0, min(1.0, share)))
        track = self.px(4)
        self.fill((x, middle - track // 2, width, track), self.palette.raised, 2)
        self.fill((x, middle - track // 2, handle - x, track), accent, 2)
        pygame.draw.circle(
            self.surface,
            text if hot else mix(text, self.palette.surface, 0.1),
            (handle, middle),
            radius,
        )

    def tooltip(self, spot: HotSpot) -> Box:
        """What a control does and its key, in a small box beside it. Returns the box: nothing shows through it."""
        text, key = spot.tip, spot.key
        pad = self.px(8)
        lines = self.wrap_lines(text, self.px(280), 12)
        key_width = self.text_width(key, 12, "mono") + self.px(12) if key else 0
        width = max(self.text_width(line, 12) for line in lines) + 2 * pad + key_width
        height = len(lines) * self.px(18) + self.px(10)
        screen_width, screen_height = self.surface.get_size()
        x = min(max(self.px(4), spot.box[0]), screen_width - width - self.px(4))
        y = spot.box[1] + spot.box[3] + self.px(6)
        lowest = screen_height - height - self.px(2)
        if y > lowest:  # above the spot, unless it covers hardly anything of that at the edge of the window
            y = lowest if spot.box[1] + spot.box[3] - lowest <= spot.box[3] // 4 else spot.box[1] - height - self.px(6)
        if spot.box[3] > screen_height // 3:  # its lower end may be far from the pointer
            x, y = spot.box[0] - width - self.px(6), min(self.mouse[1], lowest)
        self.fill((x, y, width, height), self.palette.text, 5)
        for i, line in enumerate(lines):
            self.text((x + pad, y + self.px(4) + i * self.px(18)), line, size=12, colour=self.palette.surface)
        if key:
            dim = mix(self.palette.surface, self.palette.text, 0.3)
            self.text((x + width - pad, y + self.px(4)), key, size=12, face="mono", colour=dim, align="right")
        return x, y, width, height


@lru_cache(maxsize=1024)
def _rounded(width: int, height: int, colour: Colour, radius: int) -> pygame.Surface:
    image = pygame.Surface((width, height), pygame.SRCALPHA)
    pygame.draw.rect(image, colour, image.get_rect(), border_radius=radius)
    return image


@lru_cache(maxsize=4096)
def _cut(font: pygame.font.Font, text: str, width: int) -> str:
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
def _wrap(font: pygame.font.Font, text: str, width: int) -> tuple[str, ...]:
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
