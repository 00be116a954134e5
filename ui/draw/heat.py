"""The heat scale: how numbers become bands, and bands become colours. One scale for all panels. No pygame here."""

from dataclasses import dataclass, field
from itertools import count
from math import ceil, log2

from ui.draw.kernels.cellwords import BANDS
from ui.draw.theme import DIVERGING, Colour, Palette, heat_colours
from ui.model.layers import HeatSetting

_EXACT_UP_TO = 16  # a peak beyond it is rounded up, so that the scale does not move with every visit
_STEPS_AN_OCTAVE = 8

DOTTED_KINDS = ("visits",)
"""Heat in which the lowest band is a dot and not a fill: a cell that was walked on once is no news."""


@dataclass(frozen=True)
class HeatScale:
    """A value's band is the number of rising limits that it exceeds. A - B has four each way."""

    setting: HeatSetting
    limits: tuple[float, ...]
    reach: float  # where the highest band ends: the largest value, or a little more
    peak: float = field(default=0.0, compare=False)  # the largest value shown

    def has_bands_of(self, other: "HeatScale") -> bool:
        """Whether every number has the same band on both. How far they reach only tells their colours and labels."""
        return self.setting.kind == other.setting.kind and self.limits == other.limits

    @property
    def is_difference(self) -> bool:
        return self.setting.kind == "difference"

    @property
    def has_dots(self) -> bool:
        """Whether cells of the lowest band are dotted, not filled."""
        return self.setting.kind in DOTTED_KINDS

    @property
    def used(self) -> int:
        """How many of the limits lie below the largest value: so many bands there are to see, on each side."""
        return max(1, sum(limit < self.reach for limit in self.limits))

    def colours(self, palette: Palette) -> tuple[Colour, ...]:
        """The colours from the lowest band to the highest; for A - B from "B has most" to "A has most"."""
        if self.is_difference:
            return DIVERGING[palette.name]
        return heat_colours(self.setting.colours, palette, self.used)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each colour stands for, in the order of colours()."""
        if self.is_difference:
            steps = [self._label(i, len(self.limits)) for i in range(len(self.limits))]
            return tuple(f"-{s}" for s in reversed(steps)) + tuple(f"+{s}" for s in steps)
        return tuple(self._label(i, self.used) for i in range(self.used))

    def _label(self, i: int, bands: int) -> str:
        """The whole numbers above one limit and up to the next, in the last band up to the largest: "1", "5-8"."""
        low = int(self.limits[i]) + 1
        high = int(self.limits[i + 1]) if i + 1 < bands else max(low, ceil(self.peak))
        return f"{low:,}" if high <= low else f"{low:,}-{high:,}"

    @property
    def lowest(self) -> str:
        """The label at the left end of the colour bar."""
        return self.labels[0]

    @property
    def highest(self) -> str:
        return self.labels[-1]


def scale_for(setting: HeatSetting, peak: float = 0.0) -> HeatScale:
    """The scale that ends at this largest value."""
    bands = 4 if setting.kind == "difference" else BANDS
    reach = _rounded_up(peak)
    limits = _log_limits(reach, bands) if setting.is_log else _even_limits(reach, bands)
    return HeatScale(setting, limits, reach, peak)


def _rounded_up(peak: float) -> float:
    """The next whole number; beyond a few, one of so many to each doubling."""
    whole = max(1, ceil(peak))
    if whole <= _EXACT_UP_TO:
        return float(whole)
    step = 2 ** (int(log2(whole)) - int(log2(_STEPS_AN_OCTAVE)))
    return float(ceil(whole / step) * step)


def _even_limits(reach: float, bands: int) -> tuple[float, ...]:
    top = max(reach, float(bands))
    return tuple(i * top / bands for i in range(bands))


def _log_limits(reach: float, bands: int) -> tuple[float, ...]:
    """0, 1, then each about as many times the one before: the lowest band holds 1, the highest ends at `reach`."""
    limits = [0.0]
    for i in count(0):
        if len(limits) == bands:
            return tuple(limits)
        limits.append(max(limits[-1] + 1.0, float(round(reach ** (i / (bands - 1))))))
    raise AssertionError("count() does not end")
