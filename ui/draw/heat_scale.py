"""Heat scale of all panels: maps values of cells (such as visits) to heat bands, and heat bands to colours.

Does not use pygame.
"""

from dataclasses import dataclass, field
from itertools import count
from math import ceil, log2

from ui.draw.kernels.cell_flags import BANDS
from ui.draw.theme import DIVERGING, Colour, Palette, heat_colours
from ui.model.layer_state import HeatSetting

# Up to this peak (largest value of any cell), a heat scale ends exactly at the peak; larger peaks are rounded up.
_MAX_EXACT_PEAK = 16
_STEPS_PER_OCTAVE = 8  # larger peaks are rounded up to one of 8 values per power of two, so that scales rarely change

DOTTED_KINDS = ("visits",)
"""Kinds of heat whose lowest band is drawn as dots instead of fills, because a cell visited once needs no emphasis."""


@dataclass(frozen=True)
class HeatScale:
    """Limits of the heat bands, in ascending order. The band of a value is the number of limits below that value.

    The kind of heat "difference" (A - B) has four bands for each sign; all other kinds have eight bands.
    """

    heat_setting: HeatSetting
    band_limits: tuple[float, ...]
    upper_end: float  # upper end of the highest heat band: the peak, rounded up
    peak_value: float = field(default=0.0, compare=False)  # largest heat value of any cell in any panel

    def has_same_bands(self, other: "HeatScale") -> bool:
        """Return whether both scales map every value to the same band (their colours and labels may differ)."""
        return self.heat_setting.kind == other.heat_setting.kind and self.band_limits == other.band_limits

    @property
    def is_difference_scale(self) -> bool:
        return self.heat_setting.kind == "difference"

    @property
    def has_dots_in_lowest_band(self) -> bool:
        """Return whether cells of the lowest band get a dot instead of a fill."""
        return self.heat_setting.kind in DOTTED_KINDS

    @property
    def band_count(self) -> int:
        """Return the number of heat bands that contain values; for A - B, the number of bands per sign."""
        return max(1, sum(limit < self.upper_end for limit in self.band_limits))

    def band_colours(self, palette: Palette) -> tuple[Colour, ...]:
        """Return the colours of all heat bands in ascending order; for A - B, from "B has most" to "A has most"."""
        if self.is_difference_scale:
            return DIVERGING[palette.name]
        return heat_colours(self.heat_setting.colour_map, palette, self.band_count)

    @property
    def band_labels(self) -> tuple[str, ...]:
        """Return the range of values of each heat band as text, in the order of its colours."""
        if self.is_difference_scale:
            steps = [self._band_label(i, len(self.band_limits)) for i in range(len(self.band_limits))]
            return tuple(f"-{s}" for s in reversed(steps)) + tuple(f"+{s}" for s in steps)
        return tuple(self._band_label(i, self.band_count) for i in range(self.band_count))

    def _band_label(self, i: int, bands: int) -> str:
        """Return the range of integers in heat band `i` of `bands`, such as "1" or "5-8"; the last ends at the peak."""
        low = int(self.band_limits[i]) + 1
        high = int(self.band_limits[i + 1]) if i + 1 < bands else max(low, ceil(self.peak_value))
        return f"{low:,}" if high <= low else f"{low:,}-{high:,}"

    @property
    def lowest_label(self) -> str:
        """Return the label at the left end of the colour bar."""
        return self.band_labels[0]

    @property
    def highest_label(self) -> str:
        return self.band_labels[-1]


def heat_scale_for_peak(setting: HeatSetting, peak: float = 0.0) -> HeatScale:
    """Return the heat scale for values up to `peak`: its highest band ends at `peak`, rounded up."""
    bands = 4 if setting.kind == "difference" else BANDS
    max_value = _rounded_up_peak(peak)
    limits = _log_band_limits(max_value, bands) if setting.is_log else _linear_band_limits(max_value, bands)
    return HeatScale(setting, limits, max_value, peak)


def _rounded_up_peak(peak: float) -> float:
    """Return the largest value of a heat map, rounded up, so that the heat scale changes rarely.

    Peaks up to 16 are rounded up to integers, larger peaks to one of eight values per power of two.
    """
    rounded = max(1, ceil(peak))
    if rounded <= _MAX_EXACT_PEAK:
        return float(rounded)
    step = 2 ** (int(log2(rounded)) - int(log2(_STEPS_PER_OCTAVE)))
    return float(ceil(rounded / step) * step)


def _linear_band_limits(max_value: float, bands: int) -> tuple[float, ...]:
    top = max(max_value, float(bands))
    return tuple(i * top / bands for i in range(bands))


def _log_band_limits(max_value: float, bands: int) -> tuple[float, ...]:
    """Return the limits of `bands` heat bands: 0, 1, then growing geometrically towards `max_value` by at least 1."""
    limits = [0.0]
    for i in count(0):
        if len(limits) == bands:
            return tuple(limits)
        limits.append(max(limits[-1] + 1.0, float(round(max_value ** (i / (bands - 1))))))
    raise AssertionError("count() does not end")
