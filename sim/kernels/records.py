"""Records of solved problems: made from random problems before the run, then searched for the most similar problem.

A record is a cheapest path, compressed to a chain of cells, each of which hill climbing reaches from the previous one.
The dissimilarity of two problems is the octile distance between their starts or between their goals, whichever is
larger.

Paper: kNN LRTA*, section 5 of "Real-Time Heuristic Search for Pathfinding in Video Games".
"""

from typing import NamedTuple

import numpy as np

from sim.kernels import offline
from sim.kernels.climb import NO_CAP, climb_length
from sim.kernels.flood import NEVER_MET, flood_fill
from sim.kernels.jit import kernel
from sim.kernels.octile import FIRST_DIAGONAL, h0

LEAF_SIZE = 8  # maximum number of records in a leaf of the tree
AXIS_COUNT = 4  # axes of the tree: x and y of the first cell, x and y of the last
STACK_SIZE = 64  # size of the stack for walking through the tree; a tree of a million records is 20 deep


class ProblemRecords(NamedTuple):
    """All records of a map. Record r is cells[offsets[r] : offsets[r + 1]]."""

    offsets: np.ndarray  # int32[records + 1] index in `cells` of the first cell of each record, and the number of cells
    cells: np.ndarray  # int32[sum of their lengths] cells of all records
    ends: np.ndarray  # int32[records, AXES] first and last cell of each record, as coordinates
    order: np.ndarray  # int32[records] records in the order of a balanced tree: see tree_order() in sim/records.py


class SimilarRecords(NamedTuple):
    """Result of a query for similar records, most similar first, and the buffers of the query."""

    records: np.ndarray  # int32[asked] indices of the similar records, the most similar first
    distances: np.ndarray  # float64[asked] dissimilarity of each record in `records`
    spans: np.ndarray  # int32[STACK, 3] subtrees still to be examined: first index in `order`, end index, split axis
    bounds: np.ndarray  # float64[STACK] lower bound of the dissimilarity of the records in each subtree of `spans`


def new_similar_records(asked: int) -> SimilarRecords:
    return SimilarRecords(
        np.zeros(asked, np.int32),
        np.zeros(asked),
        np.zeros((STACK_SIZE, 3), np.int32),
        np.zeros(STACK_SIZE, np.float64),
    )


# --- making -----------------------------------------------------------------------------------------------


@kernel
def solve_and_compress(ground, search, start, goal, way, record):
    """Solve a problem and compress its path into `record`.

    Returns the length of the record, 0 if there is no path, and the expansions.
    """
    length, expansions = offline.find_cheapest_path(ground, search, start, goal, way)
    return compress_path(ground, way, length, record) if length else 0, expansions


@kernel
def compress_path(ground, way, length, record):
    """Compress a path: after each kept cell, keep the farthest cell of the path that hill climbing reaches from it.

    Returns the number of cells kept. Writes: record.
    """
    last = length - 1
    record[0] = way[0]
    count, i = 1, 0
    while climb_length(ground, way[i], way[last], NO_CAP) < 0:
        j = last - 1
        while (
            climb_length(ground, way[i], way[j], NO_CAP) < 0
        ):  # ends, because climbing between neighbours always succeeds
            j -= 1
        record[count] = way[j]
        count += 1
        i = j
    record[count] = way[last]
    return count + 1


@kernel
def largest_component(ground, labels, cells):
    """List the cells of the largest set that is connected by moves; of equal sets, the set with the smallest cell.

    Returns the number of cells. Writes: labels (zeros before), cells.
    """
    best, best_size, label = 0, 0, 0
    for s in range(ground.moves.size):
        if ground.moves[s] and not labels[s]:
            label += 1
            size = flood_fill(ground, labels, cells, s, label, NEVER_MET)
            if size > best_size:
                best, best_size = label, size
    count = 0
    for s in range(ground.moves.size):
        if best and labels[s] == best:
            cells[count] = s
            count += 1
    return count


# --- finding ----------------------------------------------------------------------------------------------


@kernel
def find_similar_records(ground, records, s, goal, similar):
    """Find the records most similar to the problem from s to goal; in a tie the record with the smaller index.

    Each part of the tree is split at its middle record along one axis. The difference between the problem and that
    record along the axis is a lower bound for the dissimilarity of all records on the other side, because octile
    distance is at least each difference of coordinates.

    Returns the number of records found. Writes: similar.
    """
    width, diagonal = ground.width, ground.cost[FIRST_DIAGONAL]
    at = (s % width, s // width, goal % width, goal // width)
    spans, bounds = similar.spans, similar.bounds
    spans[0, 0], spans[0, 1], spans[0, 2] = 0, records.order.size, 0
    bounds[0] = 0.0
    depth, count, asked = 1, 0, similar.records.size
    while depth:
        depth -= 1
        low, high, axis = spans[depth, 0], spans[depth, 1], spans[depth, 2]
        if count == asked and bounds[depth] > similar.distances[asked - 1]:
            continue
        if high - low <= LEAF_SIZE:
            for i in range(low, high):
                count = insert_if_similar(records, records.order[i], at, diagonal, similar, count)
            continue
        middle = (low + high) // 2
        r = records.order[middle]
        count = insert_if_similar(records, r, at, diagonal, similar, count)
        beyond = at[axis] - records.ends[r, axis]
        after = (axis + 1) % AXIS_COUNT
        for is_near in range(2):  # the nearer subtree is pushed last, so it is examined first
            is_low = (beyond < 0) == (is_near == 1)
            spans[depth, 0] = low if is_low else middle + 1
            spans[depth, 1] = middle if is_low else high
            spans[depth, 2] = after
            bounds[depth] = 0.0 if is_near else abs(beyond)
            depth += 1
    return count


@kernel
def insert_if_similar(records, r, at, diagonal, similar, count):
    """Insert record r into the list of the most similar records if it is similar enough. Returns the list's length."""
    ends = records.ends[r]
    distance = max(h0(at[0], at[1], ends[0], ends[1], diagonal), h0(ends[2], ends[3], at[2], at[3], diagonal))
    place = count
    while place and is_more_similar(distance, r, similar, place - 1):
        place -= 1
    asked = similar.records.size
    if place == asked:
        return count
    for i in range(min(count, asked - 1), place, -1):
        similar.records[i] = similar.records[i - 1]
        similar.distances[i] = similar.distances[i - 1]
    similar.records[place] = r
    similar.distances[place] = distance
    return min(count + 1, asked)


@kernel
def is_more_similar(distance, r, similar, place):
    """Return whether record r at this distance comes before the similar record at index `place`."""
    other = similar.distances[place]
    return distance < other or (distance == other and r < similar.records[place])
