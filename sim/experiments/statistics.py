"""What a report says beyond a mean: how sure it is, what differs on the same problems, what nothing else beats."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_DRAWS = 2000
_MOST_BINS = 12
_AT_ONCE = 2_000_000  # numbers drawn at a time, so that a large table does not fill the memory
_MANY = 20_000  # from so many values on, the mean is normal for every practical purpose


@dataclass(frozen=True)
class Interval:
    """A mean and the interval in which it lies with 95 % confidence."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


def bootstrap(values: Numbers, seed: int = 0, draws: int = _DRAWS) -> Interval:
    """The mean with its 95 % percentile interval over resamples; the same numbers give the same interval."""
    values = values[~np.isnan(values)]
    if not values.size:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    mean = float(values.mean())
    if values.size == 1 or values.min() == values.max():
        return Interval(mean, mean, mean, values.size)
    if values.size >= _MANY:
        half = 1.959963984540054 * float(values.std(ddof=1)) / sqrt(values.size)
        return Interval(mean, mean - half, mean + half, values.size)
    key = blake2b(values.tobytes(), digest_size=16).digest() + f"{seed} {draws}".encode()
    if key not in _BOUNDS:  # tables and curves of a report ask for the same runs again
        low, high = np.percentile(_resampled_means(values, seed, draws), [2.5, 97.5])
        _BOUNDS[key] = float(low), float(high)
    return Interval(mean, *_BOUNDS[key], values.size)


_BOUNDS: dict[bytes, tuple[float, float]] = {}
"""The intervals of values that were resampled before."""


def _resampled_means(values: Numbers, seed: int, draws: int) -> Numbers:
    chance = np.random.Generator(np.random.PCG64(seed))
    step = max(1, _AT_ONCE // values.size)
    means = [
        values[chance.integers(0, values.size, (min(step, draws - begin), values.size), np.int32)].mean(axis=1)
        for begin in range(0, draws, step)
    ]
    return np.concatenate(means)


@dataclass(frozen=True)
class Comparison:
    """Two settings on the same problems."""

    count: int
    difference: Interval  # of the first minus the second
    wins: int  # problems on which the first is smaller
    losses: int
    p_value: float  # Wilcoxon's signed ranks, two-sided, normal approximation


def compare(a: Numbers, b: Numbers) -> Comparison:
    """Paired values; pairs with a gap are left out."""
    both = ~(np.isnan(a) | np.isnan(b))
    difference = a[both] - b[both]
    return Comparison(
        int(both.sum()),
        bootstrap(difference),
        int((difference < 0).sum()),
        int((difference > 0).sum()),
        wilcoxon(difference),
    )


def wilcoxon(difference: Numbers) -> float:
    """The two-sided p-value of the signed-rank test: zeros left out, ties averaged, corrected for ties."""
    moved = difference[difference != 0]
    n = moved.size
    if n == 0:
        return 1.0
    ranks, tie_term = _ranks(np.abs(moved))
    statistic = float(ranks[moved > 0].sum())
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - tie_term / 48
    return 1.0 if variance <= 0 else erfc(abs(statistic - mean) / sqrt(2 * variance))


def _ranks(values: Numbers) -> tuple[Numbers, float]:
    """Ranks from 1 with ties averaged, and the sum of t**3 - t over groups of t equal values."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    average = last - (counts - 1) / 2
    return average[group].astype(np.float64), float((counts.astype(np.float64) ** 3 - counts).sum())


@dataclass(frozen=True)
class Result:
    """What is weighed of a setting; nan for what nobody knows."""

    work: float
    cost: float
    arrived: float  # share of its runs


def unbeaten(results: Sequence[Result]) -> list[int]:
    """The places of settings that no other beats in cost and work.

    Only those that arrive as often as any: who gives up on hard problems is cheap on the rest.
    """
    known = [i for i, result in enumerate(results) if result.work == result.work and result.cost == result.cost]
    most = max((results[i].arrived for i in known), default=0.0)
    kept = [i for i in known if results[i].arrived == most]
    return [kept[place] for place in pareto([(results[i].work, results[i].cost) for i in kept])]


def pareto(points: Sequence[tuple[float, float]]) -> list[int]:
    """The places of points that no other beats: as good in both coordinates, better in one. Smaller is better."""
    order = sorted(range(len(points)), key=lambda i: points[i])
    front: list[int] = []
    best = float("inf")
    for place in order:
        y = points[place][1]
        if y < best or (front and points[place] == points[front[-1]]):
            front.append(place)
            best = y
    return sorted(front)


@dataclass(frozen=True)
class Power:
    """y = factor * x ** exponent."""

    factor: float
    exponent: float


def power_law(x: Numbers, y: Numbers) -> Power:
    """By least squares of the logarithms."""
    exponent, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return Power(float(np.exp(intercept)), float(exponent))


def bins(values: Numbers) -> Numbers:
    """Edges of at most _MOST_BINS equally filled bins."""
    values = values[~np.isnan(values)]
    if not values.size:
        return np.zeros(0)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _MOST_BINS + 1)))
    return edges if edges.size > 1 else np.array([edges[0], edges[0] + 1])
