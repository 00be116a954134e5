"""Estimate of the number of records a map needs, from the share of pairs of cells that hill climbing connects.

A record is the stored solution of an earlier problem. It fits a new problem if hill climbing leads from the start of
the problem to the start of the record, and from the end of the record to the goal of the problem. If hill climbing
connects a share p of all pairs of cells, about N p^2 of N records fit a random problem. The size of a map is a poor
estimate of the number of records that it needs: open maps need few, mazes many.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels.climb import count_climbable_pairs
from sim.params import Value
from sim.prepared_data import BuildProgress, BuiltData, DataBuild, DataRecipe
from sim.problem_records import random_problem_pairs

SAMPLED_PAIR_COUNT = 10_000
"""Number of random pairs to try. If the share is 5 %, its 95 % confidence interval is then from 4.6 % to 5.4 %."""

WANTED_FITTING_RECORDS = 30
"""Expected number of fitting records per random problem at which nearly every problem has a fitting record.

Measured as (expected fits, problems without a fitting record, maximum of cost / optimal cost): on AR0205SR, with
p = 12.6 % and 41 problems, (1.0, 20, 407), (4.8, 10, 5.3), (29, 1, 1.7) and (80, 0, 1.4). In a review, on a map with
p = 5.4 %, (2.9, 11, 624) and (29, 0, 2.2). Long problems need more: in experiment E5, with 30 expected, 3.4 records fit
a long problem of battleground on average, and 12 of 30 problems have none among the ten most similar.
"""

_SAMPLING_SEED = 0


class ClimbCoverage(NamedTuple):
    """Prepared data of this module: the result of hill climbing between random pairs of cells on one map."""

    share: npt.NDArray[np.float64]  # [1] share of pairs that hill climbing connects, from 0 to 1


def climb_coverage_recipe(cap: int) -> DataRecipe:
    """Return the recipe for the share of pairs of cells that hill climbing connects within `cap` steps."""
    params: tuple[tuple[str, Value], ...] = (("cap", cap), ("pairs", SAMPLED_PAIR_COUNT))
    return DataRecipe("climbable pairs", params, lambda grid: _build_climb_coverage(grid, cap), ClimbCoverage)


def _build_climb_coverage(grid: Grid, cap: int) -> DataBuild:
    pairs = np.array(random_problem_pairs(grid, SAMPLED_PAIR_COUNT, _SAMPLING_SEED), np.int32).reshape(-1, 2)
    climbed = int(count_climbable_pairs(grid.map_arrays, pairs, cap)) if len(pairs) else 0
    yield BuildProgress("climbing between random cells", 1.0)
    return BuiltData(ClimbCoverage(np.array([climbed / max(1, len(pairs))])), 0)


def expected_fitting_records(records: int, share: float) -> float:
    """Return how many of `records` records are expected to fit a random problem.

    `share`: fraction of pairs of cells that hill climbing connects.
    """
    return records * share**2


def needed_record_count(fits: int, share: float, limit: int) -> int:
    """Return how many records are needed to expect `fits` fitting records per problem, but at most `limit`."""
    return math.ceil(min(limit, fits / share**2)) if share > 0.0 else limit


def recommended_record_count(share: float) -> int | None:
    """Return about how many records the map needs, rounded up to two digits, or None if the share is 0."""
    if share <= 0.0:
        return None
    count = WANTED_FITTING_RECORDS / share**2
    unit = 10.0 ** max(0, math.floor(math.log10(count)) - 1)
    return int(math.ceil(count / unit) * unit)


def describe_recommended_records(share: float) -> str:
    """Return a phrase such as "this map needs about 500 records", for the end of a message."""
    count = recommended_record_count(share)
    return "no number of records is enough for this map" if count is None else f"this map needs about {count:,} records"


def describe_expected_fits(records: int, share: float) -> str:
    """Return a sentence about how many of `records` records fit a random problem, and how many the map needs."""
    fits = expected_fitting_records(records, share)
    return (
        f"{share:.1%} of pairs can be climbed: about {fits:,.1f} of {records:,} records fit a random problem; "
        f"{describe_recommended_records(share)}"
    )


def summarize_expected_fits(records: int, share: float) -> str:
    """Return the numbers of describe_expected_fits() in a few words, for a line of progress."""
    needed = recommended_record_count(share)
    fits = expected_fitting_records(records, share)
    wish = "no number is enough" if needed is None else f"about {needed:,} needed"
    return f"p = {share:.1%}, about {fits:,.1f} of {records:,} records fit, {wish}"
