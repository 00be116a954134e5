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
from sim.commands import AgentConfig
from sim.files.map_source import map_rows_of_grid
from sim.files.scenario import Scenario
from sim.files.shipped_files import SCENARIOS_FOLDER
from sim.grid import Grid
from sim.params import ConfigError, did_you_mean_hint
from sim.program import ASSETS, ROOT
from ui.app import App
from ui.model import files
from ui.model.adjust import toggle_switch
from ui.model.camera import Camera
from ui.model.layers import HeatSetting
from ui.model.session import Session
from ui.model.settings import Settings

FOLDER = ROOT / "docs" / "shots"
LESSONS, MAPS = ASSETS / "lessons", ASSETS / "maps"


@dataclass(frozen=True)
class Shot:
    """Picture to take: a scenario, a tick, and the state of the window."""

    name: str  # name of the file without extension
    load_scenario: Callable[[], Scenario]  # loads or builds the scenario
    ticks: int = 60  # number of ticks to advance before the picture is taken
    size: tuple[int, int] = (1600, 900)  # size of the window in pixels
    theme: str = "dark"
    scale: float = 1.0  # scale of the user interface
    prepare_window: Callable[[App], None] = lambda app: None  # sets the state of the window after the ticks


def load_example(name: str) -> Callable[[], Scenario]:
    return lambda: files.open_any_file(SCENARIOS_FOLDER / f"{name}.yaml").scenario


def load_lesson(name: str) -> Callable[[], Scenario]:
    """Return a function that loads the scenario of a lesson; `play_lesson` then starts the lesson."""
    return lambda: files.open_any_file(LESSONS / f"{name}.yaml").scenario


def play_lesson(name: str, count: int) -> Callable[[App], None]:
    """Return a function that plays a lesson up to a step and answers the questions before it.

    Args:
        name: The name of the lesson.
        count: The number of the step, from 1.
    """

    def prepare(app: App) -> None:
        app.window.document_opener.open_path(LESSONS / f"{name}.yaml")
        while (playing := app.window.state.lesson) is None:
            app.frame(0.0)  # draw frames until the file has been read in the background
        while playing.place < count - 1:
            playing.choose_answer(0)
            app.window.run("lesson_next")
        app.window.run("lesson_next")  # jump to the step, if the run has not reached it yet
        app.session.run.timeline.finish_seek()

    return prepare


KINDS = ("tba", "tb-wa", "tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs", "delayed-astar", "astar")


def scenario_on_map(name: str, agents: int, budget: int = 16) -> Callable[[], Scenario]:
    """Return a function that makes a scenario of the first `agents` KINDS on a map that ships with the program."""

    def make() -> Scenario:
        configs = tuple(
            AgentConfig(kind, params={"weight": 3.0} if i == 2 else {}) for i, kind in enumerate(KINDS[:agents])
        )
        return replace(files.open_any_file(MAPS / f"{name}.map").scenario, agents=configs, budget=budget)

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
        app.window.map_view.layers.heat = HeatSetting(kind, **more)

    return prepare


def zoom_to_agent(cells_px: float) -> Callable[[App], None]:
    """Return a function that centres the camera of the first panel on its agent.

    Args:
        cells_px: The size of a cell in pixels.
    """

    def prepare(app: App) -> None:
        panel, boxes = app.window.map_view.panels_with_boxes()[0]
        size = (boxes.map[2], boxes.map[3])
        grid = app.session.run.world.grid
        x, y = grid.xy(panel.view.position)
        app.window.cameras.set_camera_of_panel(
            panel.key, Camera(cells_px).centred_on(x, y, *size), size, (grid.width, grid.height)
        )

    return prepare


def draw_strokes(app: App) -> None:
    """Show edit mode, with a rectangle being drawn and some finished strokes."""
    app.window.run("edit_mode")
    grid = app.session.run.world.grid
    x, y = grid.width // 3, grid.height // 3
    app.window.state.set_brush_size(3)
    app.window.editor.handle_press((x, y))
    app.window.editor.move((x + 14, y + 6))
    app.window.editor.handle_release()
    app.window.state.choose_tool("rectangle")
    app.window.editor.handle_press((x + 20, y))
    app.window.editor.move((x + 30, y + 9))
    app.window.state.hover = (x + 30, y + 9)
    app.window.editor.stroke_panel = app.session.focused_key


def create_earlier_branch(app: App) -> None:
    """Create a branch at a tick before the bridge closes, block the other bridge in it, and advance."""
    app.session.seek(28)
    app.window.run("branch")
    toggle_switch(app.session, "north bridge")
    app.session.advance(34)


def create_branch_now(app: App) -> None:
    app.window.run("branch")
    toggle_switch(app.session, "south bridge")
    app.session.advance(20)


def follow_agent(index: int) -> Callable[[App], None]:
    """Return a function that follows one agent of the crowd in the first panel."""

    def prepare(app: App) -> None:
        panel = app.session.run.panels[0]
        assert panel.crowd is not None
        app.session.run.follow_crowd_agent(panel.key, panel.crowd.agents[index])

    return prepare


def run_functions_in_turn(*prepares: Callable[[App], None]) -> Callable[[App], None]:
    """Return a function that calls several functions in turn."""

    def prepare(app: App) -> None:
        for each in prepares:
            each(app)

    return prepare


def run_command(command: str) -> Callable[[App], None]:
    return lambda app: app.window.run(command)


def inspect_cell(app: App) -> None:
    app.window.settings.sidebar_tab = "inspect"
    app.window.state.pinned = app.session.run.world.grid.xy(app.session.run.world.walkers[0].position)
    zoom_to_agent(24)(app)


SHOTS = (
    Shot("four-dark", scenario_on_map("caves-512", 4), 700, (1600, 660)),
    Shot("four-light", scenario_on_map("caves-512", 4), 700, (1600, 660), "light"),
    Shot("small-window", load_example("weights"), 90, (1280, 720)),
    Shot("small-window-light", load_example("bridges"), 60, (1280, 720), "light", prepare_window=show_tab("edit")),
    Shot("4k-at-200", load_example("weights"), 90, (3840, 2160), scale=2.0),
    Shot("4k-at-200-light", scenario_on_map("caves-512", 8), 900, (3840, 2160), "light", 2.0, show_tab("compare")),
    Shot("one-panel", scenario_on_map("rooms-64", 1, 2), 70),
    Shot("two-panels", load_example("bridges"), 70, prepare_window=show_tab("edit")),
    Shot("eight-panels", scenario_on_map("rooms-64", 8, 4), 60, prepare_window=show_tab("compare")),
    Shot("eight-panels-small", scenario_on_map("rooms-64", 8, 4), 60, (1280, 720)),
    Shot("single-cells", load_example("scrubbing"), 80, prepare_window=zoom_to_agent(56)),
    Shot("cells-light", load_example("scrubbing"), 80, theme="light", prepare_window=zoom_to_agent(20)),
    Shot("heat-scrub", load_example("scrubbing"), 1100, (1700, 780), prepare_window=show_heat("scrub")),
    Shot("heat-scrub-light", load_example("scrubbing"), 1236, (1700, 780), "light", prepare_window=show_heat("scrub")),
    Shot("heat-visits", load_example("scrubbing"), 300, prepare_window=show_heat("visits")),
    Shot("heat-visits-light", load_example("scrubbing"), 300, theme="light", prepare_window=show_heat("visits")),
    Shot("heat-expansions", load_example("reopening"), 200, prepare_window=show_heat("expansions")),
    Shot(
        "heat-linear-magma",
        load_example("scrubbing"),
        300,
        prepare_window=show_heat("visits", is_log=False, colours="magma"),
    ),
    Shot("heat-difference", load_example("weights"), 200, prepare_window=show_heat("difference")),
    Shot("edit-mode", scenario_on_map("rooms-64", 2, 4), 40, prepare_window=draw_strokes),
    Shot("edit-mode-light", scenario_on_map("rooms-64", 2, 4), 40, theme="light", prepare_window=draw_strokes),
    Shot("help", load_example("scrubbing"), 40, prepare_window=run_command("help")),
    Shot("help-small", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("help")),
    Shot("gallery", load_example("scrubbing"), 40, prepare_window=run_command("gallery")),
    Shot("gallery-light", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("gallery")),
    Shot("generator", load_example("scrubbing"), 40, prepare_window=run_command("generate")),
    Shot("agent-editor", load_example("weights"), 40, prepare_window=run_command("edit_agent")),
    Shot("commands", load_example("weights"), 40, prepare_window=run_command("find_command")),
    Shot("inspector", load_example("scrubbing"), 80, prepare_window=inspect_cell),
    Shot("comparison-table", load_example("weights"), 200, prepare_window=run_command("compare_table")),
    Shot("branches", load_example("bridges"), 90, prepare_window=create_earlier_branch),
    Shot("branches-light", load_example("bridges"), 90, (1280, 720), "light", prepare_window=create_earlier_branch),
    Shot("split", load_example("bridges"), 40, prepare_window=run_command("split_policy")),
    Shot("no-path", load_example("no-path"), 60),
    Shot("random-changes", load_example("random-changes"), 80, prepare_window=show_tab("compare")),
    Shot(
        "trials",
        load_example("learning"),
        2000,
        prepare_window=run_functions_in_turn(show_tab("compare"), show_heat("learned")),
    ),
    Shot("corner", load_example("corner"), 1200, theme="light", prepare_window=show_heat("learned")),
    Shot("heat-g", load_example("corner"), 600, prepare_window=show_heat("g", is_log=False, colours="viridis")),
    Shot("local-space", load_example("lookahead"), 60, prepare_window=zoom_to_agent(24)),
    Shot(
        "ribs",
        load_example("corner"),
        400,
        prepare_window=run_functions_in_turn(zoom_to_agent(24), run_command("next_panel"), run_command("maximise")),
    ),
    Shot("dstar-lite", load_example("dstar-lite"), 84, prepare_window=show_tab("edit")),
    Shot(
        "script-of-edits",
        load_example("dstar-lite"),
        84,
        (1280, 720),
        "light",
        prepare_window=run_functions_in_turn(show_tab("time"), create_branch_now),
    ),
    Shot("crowd", load_example("crowd-bridge"), 74),
    Shot(
        "crowd-heat",
        load_example("crowd-bridge"),
        62,
        prepare_window=run_functions_in_turn(show_heat("visits"), follow_agent(97)),
    ),
    Shot(
        "crowd-list-light", load_example("crowd-budget"), 260, (1280, 720), "light", prepare_window=run_command("crowd")
    ),
    Shot("record", load_example("bridges"), 40, prepare_window=run_command("record")),
    Shot("export-light", load_example("bridges"), 60, (1280, 720), "light", prepare_window=run_command("export_video")),
    Shot("worst-block", load_example("bridges"), 60, prepare_window=run_command("worst_block")),
    Shot("two-corridors", load_example("two-corridors"), 120),
    Shot("lesson", load_lesson("why-agents-scrub"), 0, prepare_window=play_lesson("why-agents-scrub", 3)),
    Shot(
        "lesson-light",
        load_lesson("lazy-or-eager"),
        0,
        (1280, 720),
        "light",
        prepare_window=play_lesson("lazy-or-eager", 2),
    ),
    Shot(
        "pseudocode",
        load_example("scrubbing"),
        141,
        prepare_window=run_functions_in_turn(show_tab("inspect"), run_command("slow_motion")),
    ),
    Shot("settings-light", load_example("scrubbing"), 40, (1280, 720), "light", prepare_window=run_command("settings")),
    Shot("settings-small", load_example("scrubbing"), 40, (800, 600), prepare_window=run_command("settings")),
    Shot("smallest-window", load_example("bridges"), 60, (800, 600), "light"),
    Shot("terrain", terrain_scenario, 12),
    Shot("terrain-light", terrain_scenario, 12, theme="light"),
    Shot("moments", load_example("scrubbing"), 600, theme="light", prepare_window=run_command("moments")),
    Shot("lessons", load_example("scrubbing"), 40, prepare_window=run_command("lessons")),
    Shot("rooms", load_example("rooms"), 90, theme="light", prepare_window=show_tab("compare")),
)


def open_shot(shot: Shot) -> App:
    """Return the app in the state that a picture shows."""
    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(shot.size)
    settings = Settings(theme=shot.theme, ui_scale=shot.scale, window_size=shot.size)
    app = App(Session(shot.load_scenario()), settings, window)
    app.session.advance(shot.ticks)
    app.frame(0.0)
    shot.prepare_window(app)
    app.window.state.messages.waiting.clear()
    for _ in range(30):  # the gallery reads one map per frame
        app.frame(0.0)
    return app


def take_shot(shot: Shot, folder: Path) -> Path:
    app = open_shot(shot)
    app.draw()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{shot.name}.png"
    pygame.image.save(app.window.surface, str(path))
    return path


def main(argv: Sequence[str]) -> int:
    """Take all pictures, or only the pictures that are named."""
    names = [shot.name for shot in SHOTS]
    parser = CommandParser(
        "shots", f"Take pictures of the window into {FOLDER.relative_to(ROOT)}.", module="tools.shots"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of {', '.join(names)}")
    args = parser.parse_args(argv)
    if unknown := [name for name in args.names if name not in names]:
        raise ConfigError([f"shots: no picture '{name}'{did_you_mean_hint(name, names)}" for name in unknown])
    for shot in [shot for shot in SHOTS if not args.names or shot.name in args.names]:
        print(take_shot(shot, FOLDER).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    run_module(main)
