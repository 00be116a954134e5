"""Write search traces for Posthoc, a visualiser of search in the browser: the run of one agent as a list of events.

    with open_posthoc_trace("run.trace.yaml", world, walker) as trace:
        while world.advance(1):
            trace.write_tick()

The world must be created with `is_watched`, because otherwise the order of expansions is not recorded. A trace has all
expansions in their order, generated cells, discarded searches, moves (back-moves in another colour), blocked and freed
cells, and the walls, so that it needs no separate map. The format is version 1.4.0; comments explain its requirements.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from files.disk import file_error_reason, open_file_atomically
from sim.agent_api import AgentView
from sim.grid import Grid
from sim.kernels import log
from sim.kernels.octile import DX, DY, NO_DIRECTION, h0
from sim.kernels.search import Search
from sim.params import ConfigError
from sim.walker import Walker
from sim.world import World

TRACE_SUFFIXES = (".trace.yaml", ".trace.yml", ".trace.json")
MANY_EVENTS = 100_000
"""Number of events above which Posthoc is slow, because it reads all events before it shows the first."""

# Maximum number of boxes that show the walls in a trace; limited, because Posthoc plays each box as one step.
# If a map needs more boxes, the trace has no walls, and the user opens the map in Posthoc as a separate layer.
_MAX_WALLS = 3_000

_Event = dict[str, Any]


def _event_type_condition(*kinds: str) -> str:
    return "${{ " + " || ".join(f"$.type === '{kind}'" for kind in kinds) + " }}"


# The key `clear` of a shape names the type of the events that remove the shape with the same id.
# `clear` must be part of the shape itself.
_CELL_SHAPE = {"$": "rect", "x": "${{ $.x }}", "y": "${{ $.y }}", "width": 1, "height": 1}
_LINE_SHAPE = {"$": "path", "points": "${{ $.points }}"}
POSTHOC_VIEWS = {
    "main": [
        {
            **_CELL_SHAPE,
            "width": "${{ $.width }}",
            "height": "${{ $.height }}",
            "fill": "#3A3F47",
            "$if": _event_type_condition("wall"),
        },
        {**_CELL_SHAPE, "fill": "#BCD3EE", "$if": _event_type_condition("generating"), "clear": "forget"},
        {**_CELL_SHAPE, "fill": "#6F9FD8", "$if": _event_type_condition("expanding"), "clear": "forget"},
        {**_CELL_SHAPE, "fill": "#E69F00", "$if": _event_type_condition("block"), "clear": "unblock"},
        {**_CELL_SHAPE, "fill": "#FFFFFF", "$if": _event_type_condition("unblock"), "clear": "block"},
        {**_LINE_SHAPE, "line-width": 0.2, "fill": "#111111", "$if": _event_type_condition("trace"), "clear": True},
        {**_LINE_SHAPE, "line-width": 0.3, "fill": "#009E73", "$if": _event_type_condition("move")},
        {**_LINE_SHAPE, "line-width": 0.3, "fill": "#D55E00", "$if": _event_type_condition("back")},
        {"$": "circle", "x": "${{ $.x + 0.5 }}", "y": "${{ $.y + 0.5 }}", "radius": 0.4, "fill": "#CC3311"}
        | {"$if": _event_type_condition("source", "destination")},
    ]
}
_PIVOT_POINT = {"x": "${{ $.x + 0.5 }}", "y": "${{ $.y + 0.5 }}", "scale": 1}


def check_trace_name(path: str | os.PathLike[str]) -> None:
    """Raise a ConfigError if a file name does not end as Posthoc requires."""
    if not os.fspath(path).lower().endswith(TRACE_SUFFIXES):
        raise ConfigError(f"{path}: expected a name that ends in one of {', '.join(TRACE_SUFFIXES)}")


def numbered_trace_name(path: str, number: int) -> str:
    """Return the name of the trace file with a number, counted from 1: run.trace.yaml, run-2.trace.yaml, ..."""
    suffix = next(suffix for suffix in TRACE_SUFFIXES if path.lower().endswith(suffix))
    return path if number == 1 else f"{path[: -len(suffix)]}-{number}{path[-len(suffix) :]}"


@contextmanager
def open_posthoc_trace(path: str | os.PathLike[str], world: World, walker: Walker) -> "Iterator[PosthocWriter]":
    """Open a trace file for writing; after an error the file is not kept, because a trace needs its end."""
    check_trace_name(path)
    with open_file_atomically(path) as file:
        trace = PosthocWriter(file, path, world, walker)
        trace.write_trace_head()
        yield trace
        trace.end()


class PosthocWriter:
    """Writer of the search events of one agent to a Posthoc trace, tick by tick."""

    def __init__(self, file: BinaryIO, path: str | os.PathLike[str], world: World, walker: Walker) -> None:
        assert world.is_watched, "the world does not record which cells were expanded"
        self.path, self.world, self.walker = path, world, walker
        self.event_count = 0
        self.outcome = ""  # outcome written in the last event; "": the final state of the agent
        self._file = file
        self._is_json = os.fspath(path).lower().endswith(".json")
        self._position = walker.position
        self._goal_cell = world.goal_of_walker(walker)
        self._free_cells = world.grid.free_mask.copy()
        self._shown_search = -1  # number of the search whose cells Posthoc shows now
        self._shown_cells: set[int] = set()  # cells that Posthoc shows now as expanded or generated
        self._shown_path_end_and_length = (-1, 0)  # last cell and length of the path that Posthoc shows now

    def write_trace_head(self) -> None:
        self._write_text(self._trace_head_text())
        self._write_events(self._initial_events())

    def write_tick(self) -> None:
        """Write the events of the last tick: edits of the map, expansions and the move."""
        if self.walker.log_rows.size:
            row = self.walker.log_rows[-1]
            self._write_events([*self._map_edit_events(), *self._search_events(row), *self._agent_move_events(row)])
        else:
            self._write_events(self._map_edit_events())

    def end(self) -> None:
        outcome = self.outcome or self.walker.state_word
        self._write_events([self._create_event("end", f"end {self.world.tick}", self._position, outcome=outcome)])
        self._write_text("\n]}\n" if self._is_json else "\n")

    # --- events ---

    def _create_event(self, kind: str, name: str, cell: int, parent: str | None = None, **more: Any) -> _Event:
        """Return a trace event at a cell as plain data.

        Ids are text, because Posthoc treats an id of 0 as missing. An event must not be its own parent, because Posthoc
        follows parents and would never stop.
        """
        x, y = self.world.grid.xy(int(cell))
        assert name != parent
        return {"type": kind, "id": name, "pId": parent, "x": x, "y": y, "tick": self.world.tick, **more}

    def _initial_events(self) -> Iterator[_Event]:
        walls = _wall_boxes(self.world.grid)
        for x, y, width, height in walls if len(walls) <= _MAX_WALLS else ():
            box = {"x": x, "y": y, "width": width, "height": height}
            yield {"type": "wall", "id": f"w{x},{y}", "pId": None, **box}
        yield self._create_event("source", "source", self._position)
        yield self._create_event("destination", "destination", self._goal_cell)

    def _map_edit_events(self) -> Iterator[_Event]:
        """Yield events for cells that were blocked or freed since the last call, and for a moved goal."""
        free = self.world.grid.free_mask
        for cell in np.flatnonzero(free != self._free_cells).tolist():
            yield self._create_event("unblock" if free[cell] else "block", f"e{cell}", cell)
        self._free_cells = free.copy()
        if (goal := self.world.goal_of_walker(self.walker)) != self._goal_cell:
            self._goal_cell = goal
            yield self._create_event("destination", f"destination {self.world.tick}", self._goal_cell)

    def _search_events(self, row: Any) -> Iterator[_Event]:
        """Yield the events of the searches in the last tick, whose log row is `row`, and of the path found."""
        view = self.walker.agent.view()
        if view.search is not None:
            yield from self._expansion_events(view.search, row)
        elif row.expanded and "local space" in view.groups:  # a new plan; its order of expansions is not recorded
            yield from self._clearing_events()
            for cell in view.groups["local space"].tolist():
                yield self._event_at_cell("expanding", cell, None, h=self._heuristic_of_cell(cell))
        yield from self._path_events(view)

    def _expansion_events(self, search: Search, row: Any) -> Iterator[_Event]:
        control = search.control[0]
        if int(control.search) != self._shown_search or row.marks & log.RESTARTED:
            self._shown_search = int(control.search)
            yield from self._clearing_events()
        noted = int(control.noted)
        for cell in search.order[max(0, noted - int(row.expanded)) : noted].tolist():
            # g and parent are unknown if an earlier search of this tick, or a search of a region, expanded the cell.
            if int(search.nodes[cell].search) != self._shown_search:
                yield self._event_at_cell("expanding", cell, None, h=self._heuristic_of_cell(cell))
                continue
            yield self._node_event("expanding", search, cell)
            for other in self._neighbour_cells(cell):
                is_known = int(search.nodes[other].search) == self._shown_search
                if is_known and other not in self._shown_cells and self._parent_cell(search, other) == cell:
                    yield self._node_event("generating", search, other)

    def _node_event(self, kind: str, search: Search, cell: int) -> _Event:
        """Return a trace event for a cell of a search, with g, h and f, and with its parent if the parent is shown."""
        node, control = search.nodes[cell], search.control[0]
        g, h = float(node.g), self._heuristic_of_cell(cell)
        f = float(control.wg) * g + float(control.wh) * h
        parent = self._parent_cell(search, cell)
        parent = parent if parent in self._shown_cells else None
        return self._event_at_cell(kind, cell, parent, g=_rounded_number(g), h=h, f=_rounded_number(f))

    def _parent_cell(self, search: Search, cell: int) -> int | None:
        came = int(search.nodes[cell].came)
        return None if came == NO_DIRECTION else cell - int(DX[came]) - int(DY[came]) * self.world.grid.width

    def _event_at_cell(self, kind: str, cell: int, parent: int | None, **more: Any) -> _Event:
        self._shown_cells.add(cell)
        return self._create_event(
            kind, self._cell_id(cell), cell, None if parent is None else self._cell_id(parent), **more
        )

    def _cell_id(self, cell: int) -> str:
        """Return the id that all trace events of a cell have, such as c3,4."""
        x, y = self.world.grid.xy(int(cell))
        return f"c{x},{y}"

    def _heuristic_of_cell(self, cell: int) -> float:
        grid = self.world.grid
        return _rounded_number(float(h0(*grid.xy(cell), *grid.xy(self._goal_cell), grid.diagonal_cost)))

    def _neighbour_cells(self, cell: int) -> Iterator[int]:
        grid = self.world.grid
        x, y = grid.xy(cell)
        for dx, dy in zip(DX.tolist(), DY.tolist(), strict=True):
            if grid.contains_point(x + dx, y + dy):
                yield int(grid.cell(x + dx, y + dy))

    def _clearing_events(self) -> Iterator[_Event]:
        """Yield an event for each shown cell that clears it, because Posthoc has no event that clears all cells."""
        for cell in sorted(self._shown_cells):
            yield self._create_event("forget", self._cell_id(cell), cell)
        self._shown_cells.clear()

    def _path_events(self, view: AgentView) -> Iterator[_Event]:
        path = view.path
        end = (int(path[-1]), path.size) if path.size else (-1, 0)
        if end != self._shown_path_end_and_length and path.size > 1:
            yield self._create_event(
                "trace", f"t{self.world.tick}", int(path[-1]), points=self._line_points(path.tolist())
            )
        self._shown_path_end_and_length = end

    def _agent_move_events(self, row: Any) -> Iterator[_Event]:
        """Yield the event of the move in the last tick, if the agent moved to another cell."""
        before, self._position = self._position, int(row.cell)
        if row.marks & log.TRIAL_BEGAN or self._position == before:
            return
        kind = "back" if row.marks & log.BACK_MOVE else "move"
        yield self._create_event(
            kind, f"m{self.world.tick}", self._position, points=self._line_points([before, self._position])
        )

    def _line_points(self, cells: Sequence[int]) -> list[dict[str, float]]:
        """Return the centres of cells, as the points of a line in a trace."""
        pairs = (self.world.grid.xy(cell) for cell in cells)
        return [{"x": x + 0.5, "y": y + 0.5} for x, y in pairs]

    # --- the file ---

    def _trace_head_text(self) -> str:
        """Return the text of a trace file before its first event.

        In a YAML file the events are a YAML list with one event per line. Posthoc reads it faster than JSON, although
        JSON would be valid YAML.
        """
        parts: dict[str, Any] = {"version": "1.4.0", "views": POSTHOC_VIEWS, "pivot": _PIVOT_POINT}
        if self._is_json:
            return json.dumps(parts)[:-1] + ', "events": ['
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in parts.items()) + "events:"

    def _write_events(self, events: Iterable[_Event]) -> None:
        """Write events to the trace file and count them."""
        for event in events:
            comma = "," if self._is_json and self.event_count else ""
            self._write_text(f"{comma}\n{'' if self._is_json else '- '}{json.dumps(event)}")
            self.event_count += 1

    def _write_text(self, text: str) -> None:
        try:
            self._file.write(text.encode())
        except OSError as error:  # name this file here, because the context of another trace would name its own
            raise ConfigError(f"{self.path}: cannot be written: {file_error_reason(error)}") from None


def _rounded_number(number: float) -> float:
    return round(number, 4)


def _wall_boxes(grid: Grid) -> list[tuple[int, int, int, int]]:
    """Return x, y, width and height of boxes that cover the blocked cells.

    A box is a run of blocked cells along a row, joined with equal runs in the rows below.
    """
    solid = np.zeros((grid.height, grid.width + 2), np.int8)
    solid[:, 1:-1] = ~grid.free_mask_2d
    edges = np.diff(solid, axis=1)
    begin, end = np.argwhere(edges == 1).tolist(), np.argwhere(edges == -1)[:, 1].tolist()
    heights: dict[tuple[int, int, int], int] = {}  # (x, y of the top, width) of a box -> height of the box
    open_boxes: dict[tuple[int, int], tuple[int, int, int]] = {}  # (x, width) -> key in `heights` of the lowest box
    for (y, x), last in zip(begin, end, strict=True):
        box = open_boxes.get((x, last - x))
        if box is None or box[1] + heights[box] != y:
            box = open_boxes[x, last - x] = (x, y, last - x)
        heights[box] = y - box[1] + 1
    return [(x, y, width, height) for (x, y, width), height in heights.items()]
