"""Statistics for reports: confidence intervals, paired comparisons, Pareto fronts, power laws and histogram bins."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_RESAMPLE_COUNT = 2000  # default number of resamples of the bootstrap
_MAX_BINS = 12  # maximum number of equally filled bins for values on an x axis
# Maximum number of values that the bootstrap draws in one step; limits its memory to 16 MB.
_MAX_VALUES_PER_STEP = 2_000_000
_MIN_NORMAL_SIZE = 20_000  # sample size from which the mean counts as normally distributed, so no bootstrap is needed


@dataclass(frozen=True)
class ConfidenceInterval:
    """Mean of a sample with its 95 % confidence interval."""

    mean: float
    low: float  # lower bound of the confidence interval
    high: float  # upper bound of the confidence interval
    count: int  # number of values in the sample

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


def bootstrap_mean(values: Numbers, seed: int = 0, draws: int = _RESAMPLE_COUNT) -> ConfidenceInterval:
    """Return the mean of a sample with its 95 % confidence interval, by the percentile bootstrap.

    The resampling has a fixed seed, so equal samples have equal intervals. Samples of at least _MIN_NORMAL_SIZE values
    are not resampled: their interval is computed from the normal distribution.

    Args:
        values: The sample; values that are nan are left out.
        seed: The seed of the resampling.
        draws: The number of resamples.
    """
    values = values[~np.isnan(values)]
    if not values.size:
        return ConfidenceInterval(float("nan"), float("nan"), float("nan"), 0)
    mean = float(values.mean())
    if values.size == 1 or values.min() == values.max():
        return ConfidenceInterval(mean, mean, mean, values.size)
    if values.size >= _MIN_NORMAL_SIZE:
        half = 1.959963984540054 * float(values.std(ddof=1)) / sqrt(values.size)
        return ConfidenceInterval(mean, mean - half, mean + half, values.size)
    key = blake2b(values.tobytes(), digest_size=16).digest() + f"{seed} {draws}".encode()
    if key not in _BOUNDS_CACHE:  # cached, because a report needs the interval of the same runs several times
        low, high = np.percentile(_resampled_means(values, seed, draws), [2.5, 97.5])
        _BOUNDS_CACHE[key] = float(low), float(high)
    return ConfidenceInterval(mean, *_BOUNDS_CACHE[key], values.size)


_BOUNDS_CACHE: dict[bytes, tuple[float, float]] = {}
"""Cache of (low, high) of intervals; the key is a digest of the values, followed by seed and number of resamples."""


def _resampled_means(values: Numbers, seed: int, draws: int) -> Numbers:
    chance = np.random.Generator(np.random.PCG64(seed))
    step = max(1, _MAX_VALUES_PER_STEP // values.size)
    means = [
        values[chance.integers(0, values.size, (min(step, draws - begin), values.size), np.int32)].mean(axis=1)
        for begin in range(0, draws, step)
    ]
    return np.concatenate(means)


@dataclass(frozen=True)
class PairedComparison:
    """Result of a paired comparison: two settings on the same problems."""

    count: int  # number of problems for which both settings have a value
    mean_difference: ConfidenceInterval  # mean of (first value - second value) over these problems
    smaller_count: int  # number of problems on which the first value is smaller
    larger_count: int  # number of problems on which the first value is larger
    p_value: float  # two-sided p-value of Wilcoxon's signed-rank test, by normal approximation


def compare_paired_values(a: Numbers, b: Numbers) -> PairedComparison:
    """Compare two settings by their values, such as costs, on the same problems; problems with a nan are left out.

    Args:
        a: The values of the first setting, one for each problem.
        b: The values of the second setting, in the same order of problems.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    difference = a[both] - b[both]
    return PairedComparison(
        int(both.sum()),
        bootstrap_mean(difference),
        int((difference < 0).sum()),
        int((difference > 0).sum()),
        wilcoxon_p_value(difference),
    )


def wilcoxon_p_value(difference: Numbers) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, by normal approximation.

    Differences of zero are left out, tied ranks are averaged, and the variance is corrected for ties.
    """
    moved = difference[difference != 0]
    n = moved.size
    if n == 0:
        return 1.0
    ranks, tie_term = _averaged_ranks(np.abs(moved))
    statistic = float(ranks[moved > 0].sum())
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - tie_term / 48
    return 1.0 if variance <= 0 else erfc(abs(statistic - mean) / sqrt(2 * variance))


def _averaged_ranks(values: Numbers) -> tuple[Numbers, float]:
    """Return the rank of each value from 1, and the tie term of Wilcoxon's test.

    Equal values have the mean of their ranks. The tie term is the sum of t**3 - t over all groups of t equal values.
    """
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    average = last - (counts - 1) / 2
    return average[group].astype(np.float64), float((counts.astype(np.float64) ** 3 - counts).sum())


@dataclass(frozen=True)
class SettingScore:
    """Numbers by which settings are ranked: work, path cost and arrival rate of one setting; nan if unknown."""

    work: float  # expansions per move
    cost: float  # mean of (cost of the walk / cost of the cheapest path)
    arrival_rate: float  # share of the runs that reached the goal, from 0 to 1


def pareto_settings(results: Sequence[SettingScore]) -> list[int]:
    """Return the indices of the settings that are Pareto-optimal in cost and work.

    Only settings with the largest share of arrivals are considered, because a setting that gives up on hard problems
    has a low mean cost on the problems that it solves.
    """
    known = [i for i, result in enumerate(results) if result.work == result.work and result.cost == result.cost]
    max_rate = max((results[i].arrival_rate for i in known), default=0.0)
    candidates = [i for i in known if results[i].arrival_rate == max_rate]
    return [candidates[index] for index in pareto_indices([(results[i].work, results[i].cost) for i in candidates])]


def pareto_indices(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the Pareto-optimal points, in ascending order; smaller coordinates are better.

    A point is left out if another point is at least as good in both coordinates and better in one.
    """
    order = sorted(range(len(points)), key=lambda i: points[i])
    front: list[int] = []
    best = float("inf")
    for index in order:
        y = points[index][1]
        if y < best or (front and points[index] == points[front[-1]]):
            front.append(index)
            best = y
    return sorted(front)


@dataclass(frozen=True)
class PowerLaw:
    """Power law y = factor * x ** exponent."""

    factor: float
    exponent: float


def fit_power_law(x: Numbers, y: Numbers) -> PowerLaw:
    """Fit a power law to positive values by least squares of their logarithms."""
    exponent, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return PowerLaw(float(np.exp(intercept)), float(exponent))


def equally_filled_bin_edges(values: Numbers) -> Numbers:
    """Return the edges of at most _MAX_BINS equally filled bins for some values, or no edges if all values are nan."""
    values = values[~np.isnan(values)]
    if not values.size:
        return np.zeros(0)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _MAX_BINS + 1)))
    return edges if edges.size > 1 else np.array([edges[0], edges[0] + 1])
