"""Flags and heat bands of every cell of a panel, updated incrementally from tick to tick. Does not use pygame.

The flags of a cell are one byte: its terrain, and whether it is open or closed in the agent's search. The heat band of
a cell is a number from 0 (no heat) to BANDS. Flags are updated only at the cells that the search has added to its list
of expanded cells (`Search.order`). They are rebuilt from the whole search if that list is not sufficient: after a new
search, a seek, or an overflow of the list.
"""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.grid import Grid
from sim.kernels.search import Search
from sim.world_view import WalkerView, WorldSnapshot
from ui.draw.heat_scale import HeatScale, heat_scale_for_peak
from ui.draw.kernels import cell_flags
from ui.model.crowds import Crowd
from ui.model.layer_state import HeatSetting
from ui.model.trails import Trail

NO_CELLS = np.empty(0, np.int32)
NO_BANDS = np.empty(0, np.uint8)
BANDS = cell_flags.BANDS


class TerrainFlags:
    """Terrain flags of all cells of one map. All panels that show the map share one instance."""

    def __init__(self, grid: Grid) -> None:
        self._grid = weakref.ref(grid)
        self._terrain_letters = grid.terrain.reshape(-1).copy()
        self.cell_flags = np.zeros(grid.cells, np.uint8)
        cell_flags.set_terrain_flags(self._terrain_letters, grid.width, self.cell_flags)
        # bitwise or of all terrain flags that occur or once occurred on the map
        self.flags_of_any_cell = int(np.bitwise_or.reduce(self.cell_flags, initial=0))
        self.grid_version = grid.version
        self.previous_grid_version = -1  # version counter of the map before the last update of the flags
        self.changed_cells = NO_CELLS  # cells whose flags changed in the last update

    def is_for_grid(self, grid: Grid) -> bool:
        return self._grid() is grid

    @property
    def is_grid_deleted(self) -> bool:
        return self._grid() is None

    def update_flags(self, grid: Grid) -> None:
        """Update the terrain flags of all cells that were edited since the last call."""
        if grid.version == self.grid_version:
            return
        letters, edited = grid.terrain.reshape(-1), grid.cells_edited_since(self.grid_version)
        if edited is None:
            edited = np.flatnonzero(letters != self._terrain_letters).astype(np.int32)
        else:
            edited = edited[letters[edited] != self._terrain_letters[edited]]
        self._terrain_letters[edited] = letters[edited]
        changed = np.empty(9 * edited.size, np.int32)
        count = cell_flags.update_terrain_flags(self._terrain_letters, grid.width, edited, self.cell_flags, changed)
        self.changed_cells = changed[:count]
        self.flags_of_any_cell |= int(np.bitwise_or.reduce(self.cell_flags[self.changed_cells], initial=0))
        self.previous_grid_version, self.grid_version = self.grid_version, grid.version


_terrain_flags_cache: list[TerrainFlags] = []


def terrain_flags_of(grid: Grid) -> TerrainFlags:
    """Return the up-to-date terrain flags of a map, created at the first call and cached while the map exists."""
    _terrain_flags_cache[:] = [t for t in _terrain_flags_cache if not t.is_grid_deleted]
    cached = next((t for t in _terrain_flags_cache if t.is_for_grid(grid)), None)
    if cached is None:
        cached = TerrainFlags(grid)
        _terrain_flags_cache.append(cached)
    cached.update_flags(grid)
    return cached


class WalkedMoves:
    """List of the distinct moves of a trail. A repeated move is listed once, so long scrubbing is cheap to draw."""

    def __init__(self) -> None:
        # per cell: bit d is set for a listed move in direction d, bit d + 8 for a listed back-move
        self.listed_directions = np.zeros(0, np.uint16)
        self.cells = np.zeros(256, np.int32)  # cell from which each listed move starts
        self.move_directions = np.zeros(256, np.uint8)  # direction of each listed move (0 to 7), plus 8 for a back-move
        self.move_count = 0  # number of listed moves; the arrays are longer, so that moves can be appended
        self._processed_trail: Trail | None = None
        self._processed_entry_count = 0  # number of trail entries that have been processed

    def add_new_moves(self, trail: Trail, grid: Grid) -> None:
        """Add the new moves of a trail to the list; rebuild the list if the trail was replaced or shortened."""
        if (
            trail is not self._processed_trail
            or len(trail) < self._processed_entry_count
            or self.listed_directions.size != grid.cells
        ):
            self.listed_directions = np.zeros(grid.cells, np.uint16)
            self.move_count, self._processed_trail, self._processed_entry_count = 0, trail, 0
        if len(trail) == self._processed_entry_count:
            return
        self._ensure_capacity(min(self.move_count + len(trail) - self._processed_entry_count, 16 * grid.cells))
        self.move_count = int(
            cell_flags.append_new_moves(
                trail.cells,
                trail.marks,
                self._processed_entry_count,
                grid.width,
                self.listed_directions,
                self.cells,
                self.move_directions,
                self.move_count,
            )
        )
        self._processed_entry_count = len(trail)

    def _ensure_capacity(self, needed: int) -> None:
        """Double the length of the arrays until they have room for `needed` moves."""
        while needed > self.cells.size:
            self.cells = np.concatenate([self.cells, np.zeros_like(self.cells)])
            self.move_directions = np.concatenate([self.move_directions, np.zeros_like(self.move_directions)])


class ScrubCounts:
    """Number of scrubbing moves onto each cell: back-moves, and moves onto a cell visited before in the run."""

    def __init__(self) -> None:
        self.scrub_counts = np.zeros(0, np.uint32)
        self._is_visited = np.zeros(0, np.bool_)  # per cell: whether the agent has been on it
        self._processed_trail: Trail | None = None
        self._processed_entry_count = 0  # number of trail entries whose moves are counted

    def update_counts(self, trail: Trail, cells: int) -> npt.NDArray[np.uint32]:
        """Return the number of scrubbing moves onto each cell, after counting the new moves of the trail.

        Args:
            trail: Trail of the agent.
            cells: Number of cells of the map.

        Returns:
            The counts by cell: always the same array, updated in place, unless the trail was replaced or shortened.
        """
        if (
            trail is not self._processed_trail
            or len(trail) < self._processed_entry_count
            or self.scrub_counts.size != cells
        ):
            self.scrub_counts, self._is_visited = np.zeros(cells, np.uint32), np.zeros(cells, np.bool_)
            self._processed_trail, self._processed_entry_count = trail, 0
        cell_flags.count_scrubbing_moves(
            trail.cells, trail.marks, self._processed_entry_count, self._is_visited, self.scrub_counts
        )
        self._processed_entry_count = len(trail)
        return self.scrub_counts


class CellFlags:
    """Flags and heat bands of all cells of a panel: one byte each per cell; no bands while heat is off."""

    def __init__(self) -> None:
        self.flags = np.zeros(0, np.uint8)
        self.heat_bands = NO_BANDS
        self.moves = WalkedMoves()
        self.scrub_counts = ScrubCounts()
        self.peak_heat = 0.0  # largest heat value (such as the number of visits) of any cell
        self.rebuild_count = 0  # number of full rebuilds of the flags, for tests and benchmarks
        self._shared_terrain_flags: TerrainFlags | None = None
        self._terrain_version = -1
        # state of the search that the flags show: node array, search number, number of expansions, size of open
        self._search_state: tuple[object, int, int, int] | None = None
        self._new_expansions = NO_CELLS  # cells that the search expanded between the last two updates
        # whether only flags of newly expanded cells and their neighbours changed in the last update
        self._only_expansions_changed = False
        self._map_width = 0
        self._detour_cells = NO_CELLS  # cells with the flag DETOUR, which are closed in TBA*'s shortcut search
        self._detour_state: tuple[object, int, int] | None = None
        self._heat_inputs: _HeatUpdateInputs | None = None
        self._bands_buffer = np.zeros(0, np.uint8)

    # --- flags ------------------------------------------------------------------------------------

    def update_flags(self, snapshot: WorldSnapshot, walker: WalkerView | None, trail: Trail | None) -> None:
        """Update the flags of all cells and the list of walked moves to a snapshot; heat is updated separately.

        Args:
            snapshot: World to show.
            walker: Agent whose search is shown; None: terrain only.
            trail: Trail of that agent.
        """
        grid = snapshot.grid
        search = walker.agent.search if walker else None
        self._new_expansions, self._only_expansions_changed, self._map_width = NO_CELLS, False, grid.width
        changed = self._update_terrain_flags(grid)
        if search is None:
            if self._search_state is not None or changed is None:
                np.copyto(self.flags, self._terrain_flags)
                self._search_state = self._detour_state = None
            elif changed.size:
                self.flags[changed] = self._terrain_flags[changed]
        else:
            self._update_search_flags(grid, search, changed)
        self._update_detour_flags(walker.agent if walker else None)
        if trail is not None:
            self.moves.add_new_moves(trail, grid)

    @property
    def _terrain_flags(self) -> npt.NDArray[np.uint8]:
        assert self._shared_terrain_flags is not None
        return self._shared_terrain_flags.cell_flags

    def _update_terrain_flags(self, grid: Grid) -> npt.NDArray[np.int32] | None:
        """Return the cells whose terrain changed since the last update; None if all flags have to be rebuilt."""
        terrain = terrain_flags_of(grid)
        before, self._terrain_version = self._terrain_version, terrain.grid_version
        if terrain is not self._shared_terrain_flags:
            self._shared_terrain_flags = terrain
            self.flags = terrain.cell_flags.copy()
            self._search_state = self._detour_state = self._heat_inputs = None
            self._detour_cells = NO_CELLS
            return None
        if before == terrain.grid_version:
            return NO_CELLS
        return terrain.changed_cells if before == terrain.previous_grid_version else None

    def _update_search_flags(self, grid: Grid, search: Search, changed: npt.NDArray[np.int32] | None) -> None:
        """Update the flags of all cells to the state of a search.

        Args:
            grid: Map of the search.
            search: Search to show.
            changed: Cells whose terrain changed since the last update; None: unknown.
        """
        control = search.control[0]
        number, expansions, open_size = int(control.search), int(control.expansions), int(control.open_size)
        before, self._search_state = self._search_state, (search.nodes, number, expansions, open_size)
        new_cells = _cells_expanded_since(search, before)
        if (
            before is None
            or before[0] is not search.nodes
            or before[1] != number
            or changed is None
            or new_cells is None
        ):
            self._rebuild_flags(grid, search)
            return
        if changed.size:
            cell_flags.recompute_flags_of_cells(self.flags, self._terrain_flags, search.nodes, number, changed)
            # D* Lite opens and closes the neighbours of an edited cell without expanding any cell.
            cell_flags.update_flags_around_cells(self.flags, search.nodes, number, grid.width, changed)
            self._detour_state = None
        self._new_expansions, self._only_expansions_changed = new_cells, not changed.size
        if new_cells.size:
            cell_flags.update_flags_around_cells(self.flags, search.nodes, number, grid.width, new_cells)

    def _rebuild_flags(self, grid: Grid, search: Search) -> None:
        """Rebuild the flags of all cells from the search.

        Most searches are small: if the list of expanded cells is complete and short, only these cells and their
        neighbours are looked up in the search. Otherwise every cell of the map is looked up.
        """
        self.rebuild_count += 1
        self._detour_cells, self._detour_state = NO_CELLS, None
        control = search.control[0]
        number, listed_count, root = int(control.search), int(control.noted), int(control.root)
        is_noted = (
            listed_count == int(control.expansions) and search.order.size > 0 and listed_count < search.order.size
        )
        if is_noted and root >= 0 and listed_count * 16 < self.flags.size:
            np.copyto(self.flags, self._terrain_flags)
            self._new_expansions = search.order[:listed_count]
            cell_flags.update_search_flags(self.flags, search.nodes, number, root)
            cell_flags.update_flags_around_cells(self.flags, search.nodes, number, grid.width, self._new_expansions)
        else:
            cell_flags.compute_flags_of_all_cells(self.flags, self._terrain_flags, search.nodes, number)

    def _update_detour_flags(self, view: AgentView | None) -> None:
        """Update the flag DETOUR of all cells to the shortcut search of TBA*; clear it for agents without one."""
        detour = view.detour if view else None
        if detour is None or detour.nodes.size != self.flags.size:
            self._clear_detour_flags()
            return
        control = detour.control[0]
        state = (detour.nodes, int(control.search), int(control.expansions))
        if self._detour_state is not None and _is_same_search_state(state, self._detour_state):
            return
        self._clear_detour_flags()
        self._detour_state = state
        if detour.order.size and int(control.noted) == int(control.expansions):
            self._detour_cells = detour.order[: int(control.noted)].copy()
            cell_flags.set_detour_flags(self.flags, detour.nodes, state[1], self._detour_cells)
        else:
            detour_cells = np.empty(self.flags.size, np.int32)
            count = cell_flags.find_detour_cells(self.flags, detour.nodes, state[1], detour_cells)
            self._detour_cells = detour_cells[:count].copy()

    def _clear_detour_flags(self) -> None:
        if self._detour_cells.size:
            cell_flags.clear_detour_flags(self.flags, self._detour_cells)
            self._detour_cells = NO_CELLS
        self._detour_state = None

    # --- slow motion ------------------------------------------------------------------------------

    @staticmethod
    def expansions_of_last_tick(walker: WalkerView) -> npt.NDArray[np.int32]:
        """Return the cells that the agent's search expanded in the last tick, in the order of expansion.

        The list is incomplete if the search did not record all of its expansions.
        """
        search = walker.agent.search
        if search is None or not walker.log_rows.size:
            return NO_CELLS
        listed_count = int(search.control[0].noted)
        tick_count = int(walker.log_rows[-1].expanded)
        return search.order[max(0, listed_count - tick_count) : listed_count]

    def hide_late_expansions(self, grid: Grid, walker: WalkerView, shown_count: int) -> npt.NDArray[np.int32]:
        """Hide all expansions of the last tick except the first `shown_count`, for slow motion.

        Args:
            grid: Map of the agent.
            walker: Agent whose search is shown.
            shown_count: Number of expansions that stay visible.

        Returns:
            The cells of the hidden expansions, which the caller shows again after drawing.
        """
        hidden_cells = self.expansions_of_last_tick(walker)[shown_count:]
        search = walker.agent.search
        if hidden_cells.size and search is not None:
            root = int(search.control[0].root)
            cell_flags.undo_flags_of_expansions(self.flags, grid.moves, grid.map_arrays.step, hidden_cells, root)
        return hidden_cells

    def show_late_expansions(self, grid: Grid, walker: WalkerView, hidden_cells: npt.NDArray[np.int32]) -> None:
        """Show the expansions of the cells `hidden_cells` again, which were hidden for slow motion."""
        search = walker.agent.search
        if hidden_cells.size and search is not None:
            cell_flags.update_flags_around_cells(
                self.flags, search.nodes, int(search.control[0].search), grid.width, hidden_cells
            )

    # --- heat -------------------------------------------------------------------------------------

    def update_heat_bands(
        self, walker: WalkerView | None, trail: Trail | None, scale: HeatScale, crowd: Crowd | None = None
    ) -> None:
        """Update the heat bands of all cells. Call this after the flags are updated to the same snapshot.

        Args:
            walker: Agent whose heat is shown.
            trail: Trail of that agent.
            scale: Kind of heat, and limits of the heat bands.
            crowd: Crowd of the panel, if any; the heat "visits" then counts the visits by all its agents.
        """
        kind = scale.heat_setting.kind
        if crowd is not None and kind == "visits":
            self._update_crowd_bands(crowd, scale)
            return
        if walker is None or kind in ("off", "difference"):
            self.heat_bands, self._heat_inputs, self.peak_heat = NO_BANDS, None, 0.0
            return
        if self._bands_buffer.size != self.flags.size:
            self._bands_buffer = np.zeros(self.flags.size, np.uint8)
            self._heat_inputs = None
        view = walker.agent
        if kind == "learned":
            self._update_learned_bands(view, scale)
            return
        if kind == "g":
            self._update_g_bands(view, scale)
            return
        counts = self._counts_for_heat(kind, walker, trail)
        if counts is None or counts.size != self.flags.size:
            self.heat_bands, self._heat_inputs, self.peak_heat = NO_BANDS, None, 0.0
            return
        self._update_count_bands(counts, walker, trail, scale)

    def _update_crowd_bands(self, crowd: Crowd, scale: HeatScale) -> None:
        """Recompute the heat bands of all cells from the visits by a crowd, which change at many cells in each tick."""
        state = _HeatUpdateInputs(crowd.visit_counts, scale, None, crowd.change_counter, 0, self.peak_heat)
        before, self._heat_inputs = self._heat_inputs, state
        is_same = (
            before is not None
            and before.heat_counts is state.heat_counts
            and before.input_version == state.input_version
        )
        if (
            before is not None
            and is_same
            and before.heat_scale.has_same_bands(scale)
            and self.heat_bands is self._bands_buffer
        ):
            return
        if self._bands_buffer.size != self.flags.size:
            self._bands_buffer = np.zeros(self.flags.size, np.uint8)
        self.heat_bands = self._bands_buffer
        cell_flags.compute_count_bands(crowd.visit_counts, np.array(scale.band_limits, np.uint32), self.heat_bands)
        self.peak_heat = float(cell_flags.largest_count(crowd.visit_counts))

    def _counts_for_heat(self, kind: str, walker: WalkerView, trail: Trail | None) -> npt.NDArray[np.uint32] | None:
        """Return the heat values of all cells for a kind of heat that counts something; None if there are none."""
        if kind == "scrub":
            return self.scrub_counts.update_counts(trail, self.flags.size) if trail is not None else None
        if kind == "depth":
            return walker.agent.depths
        return _visit_or_expansion_counts(walker, kind)

    def _update_count_bands(
        self, counts: npt.NDArray[np.uint32], walker: WalkerView, trail: Trail | None, scale: HeatScale
    ) -> None:
        state = _HeatUpdateInputs(
            counts, scale, trail, len(trail) if trail else 0, walker.metrics.expansions, self.peak_heat
        )
        before, self._heat_inputs = self._heat_inputs, state
        self.heat_bands = self._bands_buffer
        limits = np.array(scale.band_limits, np.uint32)
        cells = self._cells_with_changed_heat(state, before)
        if cells is None:
            cell_flags.compute_count_bands(counts, limits, self.heat_bands)
            self.peak_heat = float(cell_flags.largest_count(counts))
        elif cells.size:
            self.peak_heat = max(
                self.peak_heat, float(cell_flags.update_count_bands(counts, limits, self.heat_bands, cells))
            )

    def _cells_with_changed_heat(
        self, now: "_HeatUpdateInputs", before: "_HeatUpdateInputs | None"
    ) -> npt.NDArray[np.int32] | None:
        """Return the cells whose heat may have changed between two states; None if it may be any cell."""
        if (
            before is None
            or before.heat_counts is not now.heat_counts
            or not before.heat_scale.has_same_bands(now.heat_scale)
        ):
            return None
        if now.heat_scale.heat_setting.kind in ("visits", "scrub"):
            is_same = now.trail is not None and now.trail is before.trail and now.input_version >= before.input_version
            return now.trail.cells[before.input_version :] if is_same and now.trail else None
        if now.heat_scale.heat_setting.kind == "depth":  # the depth belongs to the cell that the agent moves away from
            is_same = (
                now.trail is not None and now.trail is before.trail and now.input_version >= before.input_version > 0
            )
            return now.trail.cells[before.input_version - 1 :] if is_same and now.trail else None
        if now.expansions - before.expansions != self._new_expansions.size:
            return None
        return self._new_expansions

    def _update_learned_bands(self, view: AgentView, scale: HeatScale) -> None:
        learned = view.learned
        if learned is None:
            self.heat_bands, self._heat_inputs, self.peak_heat = NO_BANDS, None, 0.0
            return
        changes = int(learned.target[0].changes)
        before, self._heat_inputs = (
            self._heat_inputs,
            _HeatUpdateInputs(learned.h, scale, None, changes, 0, self.peak_heat),
        )
        self.heat_bands = self._bands_buffer
        limits = np.array(scale.band_limits, np.float64)
        is_same = before is not None and before.heat_counts is learned.h and before.heat_scale.has_same_bands(scale)
        if is_same and before is not None and 0 <= changes - before.input_version <= learned.changed.size:
            highest = float(cell_flags.update_learned_bands(learned, limits, self.heat_bands, before.input_version))
            self.peak_heat = max(self.peak_heat, highest)
        else:
            self.peak_heat = float(cell_flags.compute_learned_bands(learned, limits, self.heat_bands))

    def _update_g_bands(self, view: AgentView, scale: HeatScale) -> None:
        search = view.search
        if search is None or search.nodes.size != self.flags.size:
            self.heat_bands, self._heat_inputs, self.peak_heat = NO_BANDS, None, 0.0
            return
        before, self._heat_inputs = (
            self._heat_inputs,
            _HeatUpdateInputs(search.nodes, scale, None, 0, 0, self.peak_heat),
        )
        self.heat_bands = self._bands_buffer
        limits = np.array(scale.band_limits, np.float64)
        is_same = before is not None and before.heat_counts is search.nodes and before.heat_scale.has_same_bands(scale)
        if is_same and self._only_expansions_changed:
            highest = cell_flags.update_g_bands(
                search.nodes, self.flags, self._map_width, limits, self.heat_bands, self._new_expansions
            )
            self.peak_heat = max(self.peak_heat, float(highest))
        else:
            self.peak_heat = float(cell_flags.compute_g_bands(search.nodes, self.flags, limits, self.heat_bands))


@dataclass(frozen=True)
class _HeatUpdateInputs:
    """Inputs of the last update of the heat bands. They determine which cells the next update must recompute."""

    heat_counts: npt.NDArray[Any]
    heat_scale: HeatScale
    trail: Trail | None
    input_version: int  # number of trail entries, number of changes of learned h, or version counter of the crowd
    expansions: int  # number of expansions by the agent in the whole run
    previous_peak: float  # largest heat value of any cell before the update


def _is_same_search_state(a: tuple[object, int, int], b: tuple[object, int, int]) -> bool:
    return a[0] is b[0] and a[1:] == b[1:]


def _cells_expanded_since(search: Search, before: tuple[object, int, int, int] | None) -> npt.NDArray[np.int32] | None:
    """Return the cells that a search has expanded since its earlier state `before`; None if unknown.

    The search's list of expanded cells is not cleared, because several panels may show the same agent.
    """
    control = search.control[0]
    expansions, listed_count = int(control.expansions), int(control.noted)
    seen_count = before[2] if before else 0
    if expansions == seen_count and before and before[3] == int(control.open_size):
        return NO_CELLS
    first = expansions - listed_count  # number of expansions before the first listed expansion
    if listed_count >= search.order.size or not first <= seen_count < expansions:
        return None
    return search.order[seen_count - first : listed_count]


@dataclass
class PanelContent:
    """Content of one panel: a snapshot of the world, the shown agent or crowd, and the flags and heat of all cells."""

    cells: CellFlags
    snapshot: WorldSnapshot
    walker_view: WalkerView | None
    trail: Trail | None
    crowd: Crowd | None = None


def update_flags_and_heat_of_panels(
    panels: Sequence[PanelContent],
    heat: HeatSetting,
    compared: tuple[int, int] = (0, 1),
) -> HeatScale:
    """Update the flags and the heat of all cells in all panels. Call this once per frame before drawing.

    Args:
        panels: Contents of all panels.
        heat: Kind of heat to show.
        compared: Indices of the panels A and B for the kind "difference", which shows the visits of A minus the visits
            of B in these two panels only.

    Returns:
        The heat scale, shared by all panels. Its highest band ends at the largest value in any panel, rounded up.
    """
    for panel in panels:
        panel.cells.update_flags(panel.snapshot, panel.walker_view, panel.trail)
    if heat.kind == "difference":
        return _update_difference_bands(panels, heat, compared)
    peak = max((p.cells.peak_heat for p in panels), default=0.0)
    while True:
        scale = heat_scale_for_peak(heat, peak)
        for panel in panels:
            panel.cells.update_heat_bands(panel.walker_view, panel.trail, scale, panel.crowd)
        peak = max((p.cells.peak_heat for p in panels), default=0.0)
        if (after := heat_scale_for_peak(heat, peak)) == scale:
            return after


def _update_difference_bands(panels: Sequence[PanelContent], heat: HeatSetting, compared: tuple[int, int]) -> HeatScale:
    """Update the heat A - B of the two compared panels, which share one array; other panels show no heat."""
    for panel in panels:
        panel.cells.heat_bands = NO_BANDS
    pair = [panels[index] for index in dict.fromkeys(compared) if index < len(panels)]
    counts = [panel_counts for panel in pair if (panel_counts := _visit_counts_of_panel(panel)) is not None]
    if len(counts) < 2 or counts[0].size != counts[1].size:
        return heat_scale_for_peak(heat)
    target = pair[0].cells
    if target._bands_buffer.size != counts[0].size:
        target._bands_buffer = np.zeros(counts[0].size, np.uint8)
    target._heat_inputs = None
    while True:
        scale = heat_scale_for_peak(heat, target.peak_heat)
        limits = np.array(scale.band_limits, np.int64)
        target.peak_heat = float(
            cell_flags.compute_difference_bands(counts[0], counts[1], limits, target._bands_buffer)
        )
        if (after := heat_scale_for_peak(heat, target.peak_heat)) == scale:
            break
    for panel in pair:
        panel.cells.heat_bands = target._bands_buffer
    return after


def _visit_counts_of_panel(panel: PanelContent) -> npt.NDArray[np.uint32] | None:
    """Return how often each cell was visited by the agent of a panel, or by all agents of its crowd."""
    return _visit_or_expansion_counts(panel.walker_view, "visits") if panel.crowd is None else panel.crowd.visit_counts


def _visit_or_expansion_counts(walker: WalkerView | None, kind: str) -> npt.NDArray[np.uint32] | None:
    """Return the number of visits (kind "visits") or of expansions (any other kind) of each cell by an agent."""
    if walker is None:
        return None
    if kind == "visits":
        return walker.visit_counts
    return walker.agent.search.heat if walker.agent.search else None
