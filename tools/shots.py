"""Reference pictures of the window, rendered without a screen: `make shots` writes them to docs/shots/.

The pictures are for people to look at; tests do not compare them, because fonts differ between machines.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from cli.arguments import CommandParser, run_module
from files.map_source import map_rows_of_grid
from files.scenario import Scenario
from files.shipped_files import SCENARIOS_FOLDER
from sim.grid import Grid
from sim.params import ConfigError, did_you_mean_hint
from sim.system.program import ASSETS_FOLDER, PROGRAM_FOLDER
from sim.world_commands import AgentConfig
from ui.app import App
from ui.model import opened_files
from ui.model.camera import Camera
from ui.model.layer_state import HeatSetting
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.value_adjustments import toggle_map_switch

FOLDER = PROGRAM_FOLDER / "docs" / "shots"
LESSONS, MAPS = ASSETS_FOLDER / "lessons", ASSETS_FOLDER / "maps"


@dataclass(frozen=True)
class Screenshot:
    """Picture to take: a scenario, a tick, and the state of the window."""

    name: str  # name of the file without extension
    load_scenario: Callable[[], Scenario]  # loads or builds the scenario
    ticks_to_advance: int = 60  # number of ticks to advance before the picture is taken
    size: tuple[int, int] = (1600, 900)  # size of the window in pixels
    theme: str = "dark"
    scale: float = 1.0  # scale of the user interface
    prepare_window: Callable[[App], None] = lambda app: None  # sets the state of the window after the ticks


def load_example(name: str) -> Callable[[], Scenario]:
    return lambda: opened_files.open_any_file(SCENARIOS_FOLDER / f"{name}.yaml").scenario


def load_lesson(name: str) -> Callable[[], Scenario]:
    """Return a function that loads the scenario of a lesson; `play_lesson` then starts the lesson."""
    return lambda: opened_files.open_any_file(LESSONS / f"{name}.yaml").scenario


def play_lesson(name: str, count: int) -> Callable[[App], None]:
    """Return a function that plays a lesson up to a step and answers the questions before it.

    Args:
        name: The name of the lesson.
        count: The number of the step, from 1.
    """

    def prepare(app: App) -> None:
        app.window.document_opener.open_path(LESSONS / f"{name}.yaml")
        while (playing := app.window.ui_state.lesson_player) is None:
            app.run_frame(0.0)  # draw frames until the file has been read in the background
        while playing.step_index < count - 1:
            playing.choose_answer(0)
            app.window.run_command("lesson_next")
        app.window.run_command("lesson_next")  # jump to the step, if the run has not reached it yet
        app.session.run.focused_branch_timeline.finish_seek()

    return prepare


KINDS = ("tba", "tb-wa", "tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs", "delayed-astar", "astar")


def scenario_on_map(name: str, agents: int, budget: int = 16) -> Callable[[], Scenario]:
    """Return a function that makes a scenario of the first `agents` KINDS on a map that ships with the program."""

    def make() -> Scenario:
        configs = tuple(
            AgentConfig(kind, params={"weight": 3.0} if i == 2 else {}) for i, kind in enumerate(KINDS[:agents])
        )
        return replace(opened_files.open_any_file(MAPS / f"{name}.map").scenario, agents=configs, budget=budget)

    return make


def terrain_scenario() -> Scenario:
    """Return a scenario with all kinds of terrain in the upper rows of the map."""
    rows = [
        "." * 26,
        *(f"....{'T' * 4}..{'S' * 5}..{'W' * 5}...." for _ in range(5)),
        *["." * 12 + "@@@" + "." * 11] * 9,
    ]
    grid = Grid.from_text_rows([*rows, "." * 26], "wild")
    agents = (AgentConfig("tba"), AgentConfig("lss-lrta"))
    return Scenario(map_rows_of_grid(grid), (1, 11), (24, 11), agents, grid=grid, budget=4, title="Wild ground")


def show_tab(name: str) -> Callable[[App], None]:
    def prepare(app: App) -> None:
        app.window.settings.sidebar_tab = name

    return prepare


def show_heat(kind: str, **more: Any) -> Callable[[App], None]:
    def prepare(app: App) -> None:
        app.window.map_view.layer_state.heat_setting = HeatSetting(kind, **more)

    return prepare


def zoom_to_agent(cells_px: float) -> Callable[[App], None]:
    """Return a function that centres the camera of the first panel on its agent.

    Args:
        cells_px: The size of a cell in pixels.
    """

    def prepare(app: App) -> None:
        panel, boxes = app.window.map_view.panels_with_boxes()[0]
        size = (boxes.map_box[2], boxes.map_box[3])
        grid = app.session.run.world.grid
        x, y = grid.xy(panel.walker_view.position)
        app.window.cameras.store_camera_of_panel(
            panel.key, Camera(cells_px).centred_on_point(x, y, *size), size, (grid.width, grid.height)
        )

    return prepare


def draw_strokes(app: App) -> None:
    """Show edit mode, with a rectangle being drawn and some finished strokes."""
    app.window.run_command("edit_mode")
    grid = app.session.run.world.grid
    x, y = grid.width // 3, grid.height // 3
    app.window.ui_state.set_brush_size(3)
    app.window.map_editor.handle_press((x, y))
    app.window.map_editor.handle_move((x + 14, y + 6))
    app.window.map_editor.handle_release()
    app.window.ui_state.choose_tool("rectangle")
    app.window.map_editor.handle_press((x + 20, y))
    app.window.map_editor.handle_move((x + 30, y + 9))
    app.window.ui_state.hovered_cell = (x + 30, y + 9)
    app.window.map_editor.stroke_panel = app.session.focused_key


def create_earlier_branch(app: App) -> None:
    """Create a branch at a tick before the bridge closes, block the other bridge in it, and advance."""
    app.session.seek_to_tick(28)
    app.window.run_command("branch")
    toggle_map_switch(app.session, "north bridge")
    app.session.advance_by_ticks(34)


def create_branch_now(app: App) -> None:
    app.window.run_command("branch")
    toggle_map_switch(app.session, "south bridge")
    app.session.advance_by_ticks(20)


def follow_agent(index: int) -> Callable[[App], None]:
    """Return a function that follows one agent of the crowd in the first panel."""

    def prepare(app: App) -> None:
        panel = app.session.run.panels[0]
        assert panel.crowd is not None
        app.session.run.follow_crowd_agent(panel.key, panel.crowd.agent_ids[index])

    return prepare


def combined_function(*prepares: Callable[[App], None]) -> Callable[[App], None]:
    """Return a function that calls several functions in turn."""

    def prepare(app: App) -> None:
        for each in prepares:
            each(app)

    return prepare


def run_command(command: str) -> Callable[[App], None]:
    return lambda app: app.window.run_command(command)


def inspect_cell(app: App) -> None:
    app.window.settings.sidebar_tab = "inspect"
    app.window.ui_state.pinned_cell = app.session.run.world.grid.xy(app.session.run.world.walkers[0].position)
    zoom_to_agent(24)(app)


SHOTS = (
    Screenshot("four-dark", scenario_on_map("caves-512", 4), 700, (1600, 660)),
    Screenshot("four-light", scenario_on_map("caves-512", 4), 700, (1600, 660), "light"),
    Screenshot("small-window", load_example("weights"), 90, (1280, 720)),
    Screenshot(
        "small-window-light", load_example("bridges"), 60, (1280, 720), "light", prepare_window=show_tab("edit")
    ),
    Screenshot("4k-at-200", load_example("weights"), 90, (3840, 2160), scale=2.0),
    Screenshot(
        "4k-at-200-light", scenario_on_map("caves-512", 8), 900, (3840, 2160), "light", 2.0, show_tab("compare")
    ),
    Screenshot("one-panel", scenario_on_map("rooms-64", 1, 2), 70),
    Screenshot("two-panels", load_example("bridges"), 70, prepare_window=show_tab("edit")),
    Screenshot("eight-panels", scenario_on_map("rooms-64", 8, 4), 60, prepare_window=show_tab("compare")),
    Screenshot("eight-panels-small", scenario_on_map("rooms-64", 8, 4), 60, (1280, 720)),
    Screenshot("single-cells", load_example("scrubbing"), 80, prepare_window=zoom_to_agent(56)),
    Screenshot("cells-light", load_example("scrubbing"), 80, theme="light", prepare_window=zoom_to_agent(20)),
    Screenshot("heat-scrub", load_example("scrubbing"), 1100, (1700, 780), prepare_window=show_heat("scrub")),
    Screenshot(
        "heat-scrub-light", load_example("scrubbing"), 1236, (1700, 780), "light", prepare_window=show_heat("scrub")
    ),
    Screenshot("heat-visits", load_example("scrubbing"), 300, prepare_window=show_heat("visits")),
    Screenshot("heat-visits-light", load_example("scrubbing"), 300, theme="light", prepare_window=show_heat("visits")),
    Screenshot("heat-expansions", load_example("reopening"), 200, prepare_window=show_heat("expansions")),
    Screenshot(
        "heat-linear-magma",
        load_example("scrubbing"),
        300,
        prepare_window=show_heat("visits", is_log=False, colours="magma"),
    ),
    Screenshot("heat-difference", load_example("weights"), 200, prepare_window=show_heat("difference")),
    Screenshot("edit-mode", scenario_on_map("rooms-64", 2, 4), 40, prepare_window=draw_strokes),
    Screenshot("edit-mode-light", scenario_on_map("rooms-64", 2, 4), 40, theme="light", prepare_window=draw_strokes),
    Screenshot("help", load_example("scrubbing"), 40, prepare_window=run_command("help")),
    Screenshot("help-small", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("help")),
    Screenshot("gallery", load_example("scrubbing"), 40, prepare_window=run_command("gallery")),
    Screenshot(
        "gallery-light", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("gallery")
    ),
    Screenshot("generator", load_example("scrubbing"), 40, prepare_window=run_command("generate")),
    Screenshot("agent-editor", load_example("weights"), 40, prepare_window=run_command("edit_agent")),
    Screenshot("commands", load_example("weights"), 40, prepare_window=run_command("find_command")),
    Screenshot("inspector", load_example("scrubbing"), 80, prepare_window=inspect_cell),
    Screenshot("comparison-table", load_example("weights"), 200, prepare_window=run_command("compare_table")),
    Screenshot("branches", load_example("bridges"), 90, prepare_window=create_earlier_branch),
    Screenshot(
        "branches-light", load_example("bridges"), 90, (1280, 720), "light", prepare_window=create_earlier_branch
    ),
    Screenshot("split", load_example("bridges"), 40, prepare_window=run_command("split_policy")),
    Screenshot("no-path", load_example("no-path"), 60),
    Screenshot("random-changes", load_example("random-changes"), 80, prepare_window=show_tab("compare")),
    Screenshot(
        "trials",
        load_example("learning"),
        2000,
        prepare_window=combined_function(show_tab("compare"), show_heat("learned")),
    ),
    Screenshot("corner", load_example("corner"), 1200, theme="light", prepare_window=show_heat("learned")),
    Screenshot("heat-g", load_example("corner"), 600, prepare_window=show_heat("g", is_log=False, colours="viridis")),
    Screenshot("local-space", load_example("lookahead"), 60, prepare_window=zoom_to_agent(24)),
    Screenshot(
        "ribs",
        load_example("corner"),
        400,
        prepare_window=combined_function(zoom_to_agent(24), run_command("next_panel"), run_command("maximise")),
    ),
    Screenshot("dstar-lite", load_example("dstar-lite"), 84, prepare_window=show_tab("edit")),
    Screenshot(
        "script-of-edits",
        load_example("dstar-lite"),
        84,
        (1280, 720),
        "light",
        prepare_window=combined_function(show_tab("time"), create_branch_now),
    ),
    Screenshot("crowd", load_example("crowd-bridge"), 74),
    Screenshot(
        "crowd-heat",
        load_example("crowd-bridge"),
        62,
        prepare_window=combined_function(show_heat("visits"), follow_agent(97)),
    ),
    Screenshot(
        "crowd-list-light", load_example("crowd-budget"), 260, (1280, 720), "light", prepare_window=run_command("crowd")
    ),
    Screenshot("record", load_example("bridges"), 40, prepare_window=run_command("record")),
    Screenshot(
        "export-light", load_example("bridges"), 60, (1280, 720), "light", prepare_window=run_command("export_video")
    ),
    Screenshot("worst-block", load_example("bridges"), 60, prepare_window=run_command("worst_block")),
    Screenshot("two-corridors", load_example("two-corridors"), 120),
    Screenshot("lesson", load_lesson("why-agents-scrub"), 0, prepare_window=play_lesson("why-agents-scrub", 3)),
    Screenshot(
        "lesson-light",
        load_lesson("lazy-or-eager"),
        0,
        (1280, 720),
        "light",
        prepare_window=play_lesson("lazy-or-eager", 2),
    ),
    Screenshot(
        "pseudocode",
        load_example("scrubbing"),
        141,
        prepare_window=combined_function(show_tab("inspect"), run_command("slow_motion")),
    ),
    Screenshot(
        "settings-light", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("settings")
    ),
    Screenshot("settings-small", load_example("scrubbing"), 40, (800, 600), prepare_window=run_command("settings")),
    Screenshot("smallest-window", load_example("bridges"), 60, (800, 600), "light"),
    Screenshot("terrain", terrain_scenario, 12),
    Screenshot("terrain-light", terrain_scenario, 12, theme="light"),
    Screenshot("moments", load_example("scrubbing"), 600, theme="light", prepare_window=run_command("moments")),
    Screenshot("lessons", load_example("scrubbing"), 40, prepare_window=run_command("lessons")),
    Screenshot("rooms", load_example("rooms"), 90, theme="light", prepare_window=show_tab("compare")),
)


def open_app_for_screenshot(shot: Screenshot) -> App:
    """Return the app in the state that a picture shows."""
    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(shot.size)
    settings = Settings(theme=shot.theme, ui_scale=shot.scale, window_size=shot.size)
    app = App(Session(shot.load_scenario()), settings, window)
    app.session.advance_by_ticks(shot.ticks_to_advance)
    app.run_frame(0.0)
    shot.prepare_window(app)
    app.window.ui_state.message_queue.queued_messages.clear()
    for _ in range(30):  # the gallery reads one map per frame
        app.run_frame(0.0)
    return app


def take_screenshot(shot: Screenshot, folder: Path) -> Path:
    app = open_app_for_screenshot(shot)
    app.draw_window()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{shot.name}.png"
    pygame.image.save(app.window.surface, str(path))
    return path


def main(argv: Sequence[str]) -> int:
    """Take all pictures, or only the pictures that are named."""
    names = [shot.name for shot in SHOTS]
    parser = CommandParser(
        "shots", f"Take pictures of the window into {FOLDER.relative_to(PROGRAM_FOLDER)}.", module="tools.shots"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of {', '.join(names)}")
    args = parser.parse_args(argv)
    if unknown := [name for name in args.names if name not in names]:
        raise ConfigError([f"shots: no picture '{name}'{did_you_mean_hint(name, names)}" for name in unknown])
    for shot in [shot for shot in SHOTS if not args.names or shot.name in args.names]:
        print(take_screenshot(shot, FOLDER).relative_to(PROGRAM_FOLDER))
    return 0


if __name__ == "__main__":
    run_module(main)
