"""Reference pictures of the window, rendered without a screen: `make shots` writes them to docs/shots/.

The pictures are for people to look at; tests do not compare them, because fonts differ between machines.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from cli.arguments import Arguments, run_module
from sim.commands import AgentConfig
from sim.files.examples import EXAMPLES
from sim.files.map_source import rows_of
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.params import ConfigError, did_you_mean
from sim.program import ASSETS, ROOT
from ui.app import App
from ui.model import files
from ui.model.camera import Camera
from ui.model.layers import HeatSetting
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.turning import flip_switch

FOLDER = ROOT / "docs" / "shots"
LESSONS, MAPS = ASSETS / "lessons", ASSETS / "maps"


@dataclass(frozen=True)
class Shot:
    """Picture to take: a scenario, a tick, and the state of the window."""

    name: str  # name of the file without extension
    scenario: Callable[[], Scenario]  # loads or builds the scenario
    ticks: int = 60  # number of ticks to advance before the picture is taken
    size: tuple[int, int] = (1600, 900)  # size of the window in pixels
    theme: str = "dark"
    scale: float = 1.0  # scale of the user interface
    prepare: Callable[[App], None] = lambda app: None  # sets the state of the window after the ticks


def scenario(name: str) -> Callable[[], Scenario]:
    return lambda: files.open_any(EXAMPLES / f"{name}.yaml").scenario


def lesson(name: str) -> Callable[[], Scenario]:
    """Return a function that loads the scenario of a lesson; `steps` then starts the lesson."""
    return lambda: files.open_any(LESSONS / f"{name}.yaml").scenario


def steps(name: str, count: int) -> Callable[[App], None]:
    """Return a function that plays a lesson up to a step and answers the questions before it.

    Args:
        name: The name of the lesson.
        count: The number of the step, from 1.
    """

    def prepare(app: App) -> None:
        app.window.documents.open_path(LESSONS / f"{name}.yaml")
        while (playing := app.window.state.lesson) is None:
            app.frame(0.0)  # draw frames until the file has been read in the background
        while playing.place < count - 1:
            playing.answer(0)
            app.window.run("lesson_next")
        app.window.run("lesson_next")  # jump to the step, if the run has not reached it yet
        app.session.run.timeline.settle()

    return prepare


KINDS = ("tba", "tb-wa", "tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs", "delayed-astar", "astar")


def on_map(name: str, agents: int, budget: int = 16) -> Callable[[], Scenario]:
    """Return a function that makes a scenario of the first `agents` KINDS on a map that ships with the program."""

    def make() -> Scenario:
        configs = tuple(
            AgentConfig(kind, params={"weight": 3.0} if i == 2 else {}) for i, kind in enumerate(KINDS[:agents])
        )
        return replace(files.open_any(MAPS / f"{name}.map").scenario, agents=configs, budget=budget)

    return make


def wild() -> Scenario:
    """Return a scenario with all kinds of terrain in the upper rows of the map."""
    rows = [
        "." * 26,
        *(f"....{'T' * 4}..{'S' * 5}..{'W' * 5}...." for _ in range(5)),
        *["." * 12 + "@@@" + "." * 11] * 9,
    ]
    grid = Grid.from_rows([*rows, "." * 26], "wild")
    agents = (AgentConfig("tba"), AgentConfig("lss-lrta"))
    return Scenario(rows_of(grid), (1, 11), (24, 11), agents, grid=grid, budget=4, title="Wild ground")


def tab(name: str) -> Callable[[App], None]:
    def prepare(app: App) -> None:
        app.window.settings.sidebar_tab = name

    return prepare


def heat(kind: str, **more: object) -> Callable[[App], None]:
    def prepare(app: App) -> None:
        app.window.scene.layers.heat = HeatSetting(kind, **more)  # type: ignore[arg-type]

    return prepare


def zoomed(cells_px: float) -> Callable[[App], None]:
    """Return a function that centres the camera of the first panel on its agent.

    Args:
        cells_px: The size of a cell in pixels.
    """

    def prepare(app: App) -> None:
        panel, boxes = app.window.scene.panels()[0]
        size = (boxes.map[2], boxes.map[3])
        grid = app.session.run.world.grid
        x, y = grid.xy(panel.view.position)
        app.window.cameras.put(panel.key, Camera(cells_px).centred_on(x, y, *size), size, (grid.width, grid.height))

    return prepare


def stroke(app: App) -> None:
    """Show edit mode, with a rectangle being drawn and some finished strokes."""
    app.window.run("edit_mode")
    grid = app.session.run.world.grid
    x, y = grid.width // 3, grid.height // 3
    app.window.state.set_brush(3)
    app.window.editor.press((x, y))
    app.window.editor.move((x + 14, y + 6))
    app.window.editor.release()
    app.window.state.choose_tool("rectangle")
    app.window.editor.press((x + 20, y))
    app.window.editor.move((x + 30, y + 9))
    app.window.state.hover = (x + 30, y + 9)
    app.window.editor.panel = app.session.focused_key


def branched(app: App) -> None:
    """Create a branch at a tick before the bridge closes, block the other bridge in it, and advance."""
    app.session.seek(28)
    app.window.run("branch")
    flip_switch(app.session, "north bridge")
    app.session.advance(34)


def branched_here(app: App) -> None:
    app.window.run("branch")
    flip_switch(app.session, "south bridge")
    app.session.advance(20)


def picked(place: int) -> Callable[[App], None]:
    """Return a function that follows one agent of the crowd in the first panel."""

    def prepare(app: App) -> None:
        panel = app.session.run.panels[0]
        assert panel.crowd is not None
        app.session.run.pick(panel.key, panel.crowd.agents[place])

    return prepare


def both(*prepares: Callable[[App], None]) -> Callable[[App], None]:
    """Return a function that calls several functions in turn."""

    def prepare(app: App) -> None:
        for each in prepares:
            each(app)

    return prepare


def opened(command: str) -> Callable[[App], None]:
    return lambda app: app.window.run(command)


def inspect(app: App) -> None:
    app.window.settings.sidebar_tab = "inspect"
    app.window.state.pinned = app.session.run.world.grid.xy(app.session.run.world.walkers[0].position)
    zoomed(24)(app)


SHOTS = (
    Shot("four-dark", on_map("caves-512", 4), 700, (1600, 660)),
    Shot("four-light", on_map("caves-512", 4), 700, (1600, 660), "light"),
    Shot("small-window", scenario("weights"), 90, (1280, 720)),
    Shot("small-window-light", scenario("bridges"), 60, (1280, 720), "light", prepare=tab("edit")),
    Shot("4k-at-200", scenario("weights"), 90, (3840, 2160), scale=2.0),
    Shot("4k-at-200-light", on_map("caves-512", 8), 900, (3840, 2160), "light", 2.0, tab("compare")),
    Shot("one-panel", on_map("rooms-64", 1, 2), 70),
    Shot("two-panels", scenario("bridges"), 70, prepare=tab("edit")),
    Shot("eight-panels", on_map("rooms-64", 8, 4), 60, prepare=tab("compare")),
    Shot("eight-panels-small", on_map("rooms-64", 8, 4), 60, (1280, 720)),
    Shot("single-cells", scenario("scrubbing"), 80, prepare=zoomed(56)),
    Shot("cells-light", scenario("scrubbing"), 80, theme="light", prepare=zoomed(20)),
    Shot("heat-scrub", scenario("scrubbing"), 1100, (1700, 780), prepare=heat("scrub")),
    Shot("heat-scrub-light", scenario("scrubbing"), 1236, (1700, 780), "light", prepare=heat("scrub")),
    Shot("heat-visits", scenario("scrubbing"), 300, prepare=heat("visits")),
    Shot("heat-visits-light", scenario("scrubbing"), 300, theme="light", prepare=heat("visits")),
    Shot("heat-expansions", scenario("reopening"), 200, prepare=heat("expansions")),
    Shot("heat-linear-magma", scenario("scrubbing"), 300, prepare=heat("visits", is_log=False, colours="magma")),
    Shot("heat-difference", scenario("weights"), 200, prepare=heat("difference")),
    Shot("edit-mode", on_map("rooms-64", 2, 4), 40, prepare=stroke),
    Shot("edit-mode-light", on_map("rooms-64", 2, 4), 40, theme="light", prepare=stroke),
    Shot("help", scenario("scrubbing"), 40, prepare=opened("help")),
    Shot("help-small", scenario("scrubbing"), 40, (1280, 720), "light", prepare=opened("help")),
    Shot("gallery", scenario("scrubbing"), 40, prepare=opened("gallery")),
    Shot("gallery-light", scenario("scrubbing"), 40, (1280, 720), "light", prepare=opened("gallery")),
    Shot("generator", scenario("scrubbing"), 40, prepare=opened("generate")),
    Shot("agent-editor", scenario("weights"), 40, prepare=opened("edit_agent")),
    Shot("commands", scenario("weights"), 40, prepare=opened("find_command")),
    Shot("inspector", scenario("scrubbing"), 80, prepare=inspect),
    Shot("comparison-table", scenario("weights"), 200, prepare=opened("compare_table")),
    Shot("branches", scenario("bridges"), 90, prepare=branched),
    Shot("branches-light", scenario("bridges"), 90, (1280, 720), "light", prepare=branched),
    Shot("split", scenario("bridges"), 40, prepare=opened("split_policy")),
    Shot("no-path", scenario("no-path"), 60),
    Shot("random-changes", scenario("random-changes"), 80, prepare=tab("compare")),
    Shot("trials", scenario("learning"), 2000, prepare=both(tab("compare"), heat("learned"))),
    Shot("corner", scenario("corner"), 1200, theme="light", prepare=heat("learned")),
    Shot("heat-g", scenario("corner"), 600, prepare=heat("g", is_log=False, colours="viridis")),
    Shot("local-space", scenario("lookahead"), 60, prepare=zoomed(24)),
    Shot("ribs", scenario("corner"), 400, prepare=both(zoomed(24), opened("next_panel"), opened("maximise"))),
    Shot("dstar-lite", scenario("dstar-lite"), 84, prepare=tab("edit")),
    Shot("script-of-edits", scenario("dstar-lite"), 84, (1280, 720), "light", prepare=both(tab("time"), branched_here)),
    Shot("crowd", scenario("crowd-bridge"), 74),
    Shot("crowd-heat", scenario("crowd-bridge"), 62, prepare=both(heat("visits"), picked(97))),
    Shot("crowd-list-light", scenario("crowd-budget"), 260, (1280, 720), "light", prepare=opened("crowd")),
    Shot("record", scenario("bridges"), 40, prepare=opened("record")),
    Shot("export-light", scenario("bridges"), 60, (1280, 720), "light", prepare=opened("export_video")),
    Shot("worst-block", scenario("bridges"), 60, prepare=opened("worst_block")),
    Shot("two-corridors", scenario("two-corridors"), 120),
    Shot("lesson", lesson("why-agents-scrub"), 0, prepare=steps("why-agents-scrub", 3)),
    Shot("lesson-light", lesson("lazy-or-eager"), 0, (1280, 720), "light", prepare=steps("lazy-or-eager", 2)),
    Shot("pseudocode", scenario("scrubbing"), 141, prepare=both(tab("inspect"), opened("slow_motion"))),
    Shot("settings-light", scenario("scrubbing"), 40, (1280, 720), "light", prepare=opened("settings")),
    Shot("settings-small", scenario("scrubbing"), 40, (800, 600), prepare=opened("settings")),
    Shot("smallest-window", scenario("bridges"), 60, (800, 600), "light"),
    Shot("terrain", wild, 12),
    Shot("terrain-light", wild, 12, theme="light"),
    Shot("moments", scenario("scrubbing"), 600, theme="light", prepare=opened("moments")),
    Shot("lessons", scenario("scrubbing"), 40, prepare=opened("lessons")),
    Shot("rooms", scenario("rooms"), 90, theme="light", prepare=tab("compare")),
)


def open_shot(shot: Shot) -> App:
    """Return the app in the state that a picture shows."""
    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(shot.size)
    settings = Settings(theme=shot.theme, ui_scale=shot.scale, window_size=shot.size)
    app = App(Session(shot.scenario()), settings, window)
    app.session.advance(shot.ticks)
    app.frame(0.0)
    shot.prepare(app)
    app.window.state.messages.waiting.clear()
    for _ in range(30):  # the gallery reads one map per frame
        app.frame(0.0)
    return app


def take(shot: Shot, folder: Path) -> Path:
    app = open_shot(shot)
    app.draw()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{shot.name}.png"
    pygame.image.save(app.window.surface, str(path))
    return path


def main(argv: Sequence[str]) -> int:
    """Take all pictures, or only the pictures that are named."""
    names = [shot.name for shot in SHOTS]
    parser = Arguments("shots", f"Take pictures of the window into {FOLDER.relative_to(ROOT)}.", is_module=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of {', '.join(names)}")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.names if name not in names]:
        raise ConfigError([f"shots: no picture '{name}'{did_you_mean(name, names)}" for name in unknown])
    for shot in [shot for shot in SHOTS if not given.names or shot.name in given.names]:
        print(take(shot, FOLDER).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    run_module(main)
