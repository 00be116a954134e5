"""Records of solved problems, made before the run. During the run, an agent searches for those similar to its problem.

A record is the cheapest path of a random problem. It is compressed to a few of its cells, chosen so that hill climbing
(climb.py) leads from each cell to the next. The dissimilarity of two problems is the octile distance between their
starts or the octile distance between their goals, whichever is larger. A balanced search tree (k-d tree) of all records
speeds up the search for the most similar ones.

Paper: kNN LRTA*, section 5 of "Real-Time Heuristic Search for Pathfinding in Video Games".
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import offline
from sim.kernels.climb import NO_STEP_LIMIT, climb_length
from sim.kernels.flood import NO_TARGET_LABEL, flood_fill
from sim.kernels.octile import FIRST_DIAGONAL, h0

LEAF_SIZE = 8  # maximum number of records in a leaf of the search tree
AXIS_COUNT = 4  # axes of the search tree: x and y of a record's first cell, x and y of its last cell
STACK_SIZE = 64  # stack size for traversing the search tree; a tree of a million records has 20 levels


class ProblemRecords(NamedTuple):
    """All records of a map. Record r consists of the cells in cells[offsets[r] : offsets[r + 1]]."""

    offsets: np.ndarray  # int32[records + 1] index in `cells` at which each record begins; last: len(cells)
    cells: np.ndarray  # int32[total length of all records] cells of the records, one record after the other
    ends: np.ndarray  # int32[records, AXIS_COUNT] x and y of the first cell, x and y of the last cell of each record
    # int32[records] search tree: record indices in the order of kd_tree_order() in sim/problem_records.py.
    order: np.ndarray


class SimilarRecords(NamedTuple):
    """Result of a search for the records most similar to a problem, and the buffers that the search needs."""

    records: np.ndarray  # int32[asked] indices of the most similar records, in order of increasing dissimilarity
    distances: np.ndarray  # float64[asked] dissimilarity of each record in `records` to the problem
    # int32[STACK_SIZE, 3] subtrees still to be searched: first and end index in `order`, split axis.
    pending_subtrees: np.ndarray
    # float64[STACK_SIZE] lower bound of the dissimilarities in each subtree of `pending_subtrees`.
    subtree_lower_bounds: np.ndarray


def new_similar_records(max_count: int) -> SimilarRecords:
    return SimilarRecords(
        np.zeros(max_count, np.int32),
        np.zeros(max_count),
        np.zeros((STACK_SIZE, 3), np.int32),
        np.zeros(STACK_SIZE, np.float64),
    )


# --- making -----------------------------------------------------------------------------------------------


@kernel
def solve_problem_and_compress_path(ground, search, start, goal, path, record):
    """Find the cheapest path from `start` to `goal`, and write its compressed form to `record`.

    Returns the number of cells in the record (0 if there is no path) and the number of expansions.
    """
    length, expansions = offline.find_cheapest_path(ground, search, start, goal, path)
    return compress_path(ground, path, length, record) if length else 0, expansions


@kernel
def compress_path(ground, path, length, record):
    """Write a few cells of a path to `record`, chosen so that hill climbing leads from each cell to the next.

    The record begins with the first cell of the path. Each next cell of the record is the farthest cell of the path
    that hill climbing reaches from the cell before. A path of one cell has a record of two equal cells, so `record`
    needs room for one cell more than the map has. Returns the number of cells in the record. Writes: record.
    """
    last = length - 1
    record[0] = path[0]
    count, i = 1, 0
    while climb_length(ground, path[i], path[last], NO_STEP_LIMIT) < 0:
        j = last - 1
        # This loop terminates, because hill climbing between neighbours always succeeds.
        while climb_length(ground, path[i], path[j], NO_STEP_LIMIT) < 0:
            j -= 1
        record[count] = path[j]
        count += 1
        i = j
    record[count] = path[last]
    return count + 1


@kernel
def list_largest_component_cells(ground, labels, cells):
    """Write the cells of the map's largest connected component to `cells`, and return their number.

    If two components have the same size, the one with the smallest cell is taken. `labels` must contain only zeros
    before the call. Writes: labels, cells.
    """
    best, best_size, label = 0, 0, 0
    for s in range(ground.moves.size):
        if ground.moves[s] and not labels[s]:
            label += 1
            size = flood_fill(ground, labels, cells, s, label, NO_TARGET_LABEL)
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
    """Find the records that are most similar to the problem from s to goal. In a tie, prefer the smaller record index.

    Each subtree of the search tree is split at its middle record along one axis. The problem is on one side of the
    split. All records on the other side have a dissimilarity of at least |problem - middle record| along the axis,
    because the octile distance is never less than a difference of coordinates. So that side is skipped if enough
    records with smaller dissimilarities have been found.

    Returns the number of records found. Writes: similar.
    """
    width, diagonal = ground.width, ground.cost[FIRST_DIAGONAL]
    point = (s % width, s // width, goal % width, goal // width)
    spans, bounds = similar.pending_subtrees, similar.subtree_lower_bounds
    spans[0, 0], spans[0, 1], spans[0, 2] = 0, records.order.size, 0
    bounds[0] = 0.0
    depth, count, max_count = 1, 0, similar.records.size
    while depth:
        depth -= 1
        low, high, axis = spans[depth, 0], spans[depth, 1], spans[depth, 2]
        if count == max_count and bounds[depth] > similar.distances[max_count - 1]:
            continue
        if high - low <= LEAF_SIZE:
            for i in range(low, high):
                count = insert_record_if_similar(records, records.order[i], point, diagonal, similar, count)
            continue
        middle = (low + high) // 2
        r = records.order[middle]
        count = insert_record_if_similar(records, r, point, diagonal, similar, count)
        beyond = point[axis] - records.ends[r, axis]
        after = (axis + 1) % AXIS_COUNT
        for is_near in range(2):  # push the nearer subtree last, so that it is searched first
            is_low = (beyond < 0) == (is_near == 1)
            spans[depth, 0] = low if is_low else middle + 1
            spans[depth, 1] = middle if is_low else high
            spans[depth, 2] = after
            bounds[depth] = 0.0 if is_near else abs(beyond)
            depth += 1
    return count


@kernel
def insert_record_if_similar(records, r, point, diagonal, similar, count):
    """Insert record r into the sorted list `similar` of length `count`. Return the new length of the list.

    If the list is full and all its records are more similar, it does not change. Writes: similar.
    """
    other = records.ends[r]
    distance = max(
        h0(point[0], point[1], other[0], other[1], diagonal), h0(other[2], other[3], point[2], point[3], diagonal)
    )
    index = count
    while index and is_record_more_similar(distance, r, similar, index - 1):
        index -= 1
    max_count = similar.records.size
    if index == max_count:
        return count
    for i in range(min(count, max_count - 1), index, -1):
        similar.records[i] = similar.records[i - 1]
        similar.distances[i] = similar.distances[i - 1]
    similar.records[index] = r
    similar.distances[index] = distance
    return min(count + 1, max_count)


@kernel
def is_record_more_similar(distance, r, similar, index):
    """Return whether record r, with dissimilarity `distance`, comes before the record at index `index` of `similar`."""
    other = similar.distances[index]
    return distance < other or (distance == other and r < similar.records[index])
