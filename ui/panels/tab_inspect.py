"""Sidebar tab that inspects one cell: why each agent made its last move, and what the agent knows about the cell."""

import math

import numpy as np

from sim import climb_coverage
from sim.agent_api import AgentView
from sim.kernels import search as kernels
from sim.prepared_data import PreparedData
from ui.draw.layers.records import cells_of_record, records_of_agent
from ui.draw.layers.regions import regions_at_level
from ui.model.cell_values import search_values_of_cell
from ui.model.layout import Box
from ui.model.panel_texts import PENDING_VALUE
from ui.model.run import Panel
from ui.panels import last_move_text, panel_mark
from ui.panels.view_context import ViewContext

TERRAIN_NAMES = {
    ".": "free",
    "G": "grass",
    "S": "swamp",
    "B": "free",
    "W": "water",
    "T": "trees",
    "@": "wall",
    "O": "wall",
}


def draw_inspect_tab(desk: ViewContext, box: Box) -> int:
    """Draw the tab and return the bottom of its content."""
    x, y, width, _ = box
    canvas, palette = desk.canvas, desk.palette
    cell = desk.inspected_cell()
    if cell is None:
        hint = canvas.draw_wrapped_text(
            box,
            desk.text_with_shortcuts(
                "Point at a cell of the map to see what every agent knows about it. {key:pin_cell} or Alt+click pins "
                "the cell; {key:cursor_right} shows and moves the cell cursor."
            ),
            size=13,
            colour=palette.dim,
        )
        y += hint + canvas.to_px(6)
    else:
        y = _draw_inspected_cell(desk, x, y, width, cell)
    level = desk.map_view.layer_state.region_level
    for index, panel in enumerate(desk.session.run.panels):
        facts = (
            []
            if cell is None
            else [*_goal_distance_facts(desk, panel, cell), *agent_facts_about_cell(panel, cell, level)]
        )
        y = _draw_agent_section(desk, (x, y, width), panel, index, facts)
    return y


def _do_agents_have_own_goals(desk: ViewContext) -> bool:
    return any(panel.displayed_agent.goal != panel.world.goal for panel in desk.session.run.panels)


def _goal_distance_facts(desk: ViewContext, panel: Panel, cell: int) -> list[tuple[str, str]]:
    """Return [(name, value)] with the true distance to the agent's goal; [] if all agents have the same goal."""
    if not _do_agents_have_own_goals(desk) or panel.drawn_agent is None:
        return []
    distance = desk.true_distance_to_goal(panel, cell)
    return [("true distance", PENDING_VALUE if distance is None else _cell_number_text(distance))]


def _draw_inspected_cell(desk: ViewContext, x: int, y: int, width: int, cell: int) -> int:
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    grid = desk.session.run.world.grid
    cx, cy = grid.xy(cell)
    canvas.draw_text((x, y), f"({cx}, {cy})", size=18, face="mono")
    state = _cell_source_text(desk)
    canvas.draw_text((x + width, y + px(4)), state, size=12, colour=palette.dim, align="right")
    y += px(28)
    letter = chr(grid.terrain[cy, cx])
    original = chr(grid.original_terrain[cy, cx])
    terrain = TERRAIN_NAMES[letter] + (f", was {TERRAIN_NAMES[original]}" if original != letter else "")
    y = _draw_name_and_value(desk, x, y, width, "terrain", f"{terrain} ({letter})")
    y = _draw_name_and_value(
        desk,
        x,
        y,
        width,
        "legal moves",
        f"{int(grid.moves[cell]).bit_count()} of {8 if grid.movement.has_diagonal_moves else 4}",
    )
    if not _do_agents_have_own_goals(desk):
        distance = desk.session.run.focused_branch_timeline.poll_true_distance(cell) if grid.is_free(cell) else math.inf
        y = _draw_name_and_value(
            desk,
            x,
            y,
            width,
            "true distance to goal",
            PENDING_VALUE if distance is None else _cell_number_text(distance),
        )
    return y + px(6)


def _cell_source_text(desk: ViewContext) -> str:
    if desk.ui_state.pinned_cell is not None:
        return "pinned" if desk.draws_into_picture else desk.text_with_shortcuts("pinned; {key:cancel} unpins")
    return desk.text_with_shortcuts(
        f"{'under the pointer' if desk.ui_state.hovered_cell else 'cell cursor'}; {{key:pin_cell}} pins"
    )


def _draw_name_and_value(desk: ViewContext, x: int, y: int, width: int, name: str, value: str) -> int:
    desk.canvas.draw_text((x, y), name, size=13, colour=desk.palette.dim)
    desk.canvas.draw_text((x + width, y), value, size=13, face="mono", align="right", width=width * 2 // 3)
    return y + desk.canvas.to_px(20)


def _cell_number_text(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.4f}".rstrip("0").rstrip(".")


def agent_facts_about_cell(panel: Panel, cell: int, level: int = 0) -> list[tuple[str, str]]:
    """Return everything that an agent knows about a cell, as (name, value) texts.

    Args:
        panel: Panel of the agent.
        cell: Index of the cell.
        level: Level of the map abstraction whose region is returned; 0 for the level on which the agent works.
    """
    view, grid = panel.walker_view, panel.snapshot.grid
    facts = [("visits", f"{int(view.visit_counts[cell]):,}")]
    facts += [("marked", name) for name, cells in view.agent.groups.items() if cell in cells]
    facts += _database_facts_of_cell(view.agent, cell, level)
    if view.agent.learned is not None and view.agent.learned.h[cell] > 0.0:
        facts.append(("learned h", _cell_number_text(float(view.agent.learned.h[cell]))))
    search = view.agent.search
    if search is None:
        return facts
    if search.heat.size:
        facts.append(("expanded", f"{int(search.heat[cell]):,} x"))
    if not kernels.is_known(search, cell):
        return [("list", "unknown"), *facts]
    g, h, f = search_values_of_cell(panel.snapshot, view, cell)
    parent = int(kernels.parent_of(grid.map_arrays, search, cell))
    came_from = "root" if parent < 0 else "({}, {})".format(*grid.xy(parent))
    state = "closed" if kernels.is_closed(search, cell) else "open, best" if view.agent.best == cell else "open"
    return [
        ("list", state),
        ("parent", came_from),
        ("g", _cell_number_text(g)),
        ("h", _cell_number_text(h)),
        ("f", _cell_number_text(f)),
        *facts,
    ]


def _database_facts_of_cell(agent: AgentView, cell: int, level: int) -> list[tuple[str, str]]:
    """Return what an agent's prepared data contains about a cell, as (name, value) texts."""
    facts = [("subgoal", f"number {i + 1}") for i in np.flatnonzero(agent.waypoints == cell).tolist()]
    if agent.depths is not None and agent.depths[cell]:
        facts.append(("depth", str(int(agent.depths[cell]))))
    if agent.contours is not None and agent.contours[cell]:
        facts.append(("contour", f"f <= {agent.contours[cell]:.2f}"))
    regions = regions_at_level(agent, level)
    if regions is not None and regions.region_by_cell[cell] >= 0:
        facts.append((f"region, level {regions.level}", str(int(regions.region_by_cell[cell]))))
    records = records_of_agent(agent)
    if records is not None:
        record_count = int(np.count_nonzero(records.tables.cells == cell))
        facts += [("records", str(record_count))] if record_count else []
        candidate_cells = [(c, cells_of_record(records, c.record)) for c in agent.candidates]
        facts += [(f"record {c.record}", c.verdict) for c, chain in candidate_cells if cell in (chain[0], chain[-1])]
    return facts


def prepared_data_sentences(agent: AgentView) -> list[str]:
    """Return sentences about an agent's prepared data: its size, the cost of building it, and its expected coverage."""
    lines = [_prepared_data_sentence(data) for data in agent.prepared if data.build_expansions]
    return [*lines, *_coverage_sentences(agent)]


def _coverage_sentences(agent: AgentView) -> list[str]:
    """Return [sentence] that says how many records of an agent's database are expected to fit a random problem.

    Return [] for an agent without such a database.
    """
    percent = agent.numbers.get("pairs climbed, %")
    if percent is None:
        return []
    return [climb_coverage.describe_expected_fits(int(agent.numbers["records"]), percent / 100.0)]


def _prepared_data_sentence(data: PreparedData) -> str:
    time_text = "" if data.build_ms is None else f", {data.build_ms:,.0f} ms"
    disk_text = f"; {_memory_size_text(data.disk_bytes)} on disk" if data.disk_bytes else ""
    return (
        f"{data.kind}: {_memory_size_text(data.size_in_bytes)}, built with {data.build_expansions:,} expansions"
        f"{time_text}{disk_text}"
    )


def _memory_size_text(count: int) -> str:
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


def _draw_agent_section(
    desk: ViewContext, row: tuple[int, int, int], panel: Panel, index: int, facts: list[tuple[str, str]]
) -> int:
    """Draw the section of one agent and return the bottom of the section.

    Args:
        desk: View context.
        row: Left, top and width in pixels.
        panel: Panel of the agent.
        index: Index of the panel, shown in its mark.
        facts: What the agent knows about the inspected cell, as (name, value).
    """
    canvas, palette, (x, y, width) = desk.canvas, desk.palette, row
    px = canvas.to_px
    canvas.draw_horizontal_line(x, y, width)
    y += px(6)
    left = panel_mark.draw_panel_mark(canvas, x, y + px(9), index) + px(6)
    canvas.draw_text(
        (left, y + px(9)), panel.walker_view.label, size=13, face="bold", width=x + width - left, middle=True
    )
    y = last_move_text.draw_last_move_text(desk, x, y + px(21), width, panel)
    for line in prepared_data_sentences(panel.walker_view.agent):
        box = (x, y, width, canvas.surface.get_height())
        y += canvas.draw_wrapped_text(box, line, size=12, colour=palette.dim) + px(2)
    half = width // 2
    for i, (name, value) in enumerate(facts):
        left = x + (i % 2) * (half + px(6))
        canvas.draw_text((left, y), name, size=12, colour=palette.dim)
        canvas.draw_text(
            (left + half - px(6), y),
            value,
            size=12,
            face="mono",
            align="right",
            width=half - px(10) - canvas.text_width(name, 12),
        )
        if i % 2 or i == len(facts) - 1:
            y += px(19)
    return y + px(4)
