"""Anything at all: random keys, clicks, drags and turns of the wheel must leave the window alive and its run sound."""

import random
from pathlib import Path

import pygame
import pytest

from tests.test_app import setup
from tests.window import App, drag, make_app, open_app_files, press, press_combination, settle
from ui.commands.table import COMMANDS as TABLE

LEFT_OUT = {"quit", "full_screen", "record", "export_video"}  # they end the test, or begin another process
COMMANDS = [command for command in TABLE if command.id not in LEFT_OUT]
DIALOG_KEYS = (
    pygame.K_TAB,
    pygame.K_DOWN,
    pygame.K_RIGHT,
    pygame.K_RETURN,
    pygame.K_SPACE,
    pygame.K_9,
    pygame.K_DELETE,
)


@pytest.mark.parametrize("seed", range(10))
def test_anything(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "BACKMOVE_RECORDINGS"):
        monkeypatch.setenv(name, str(tmp_path))
    chance = random.Random(seed)
    size = chance.choice([(1280, 720), (1600, 900), (800, 500)])
    app = make_app(setup(), size)
    app.window.documents.open_path(chance.choice(open_app_files()))
    for _ in range(70):
        do_something(app, chance, size)
    app.window.dialogs.close_dialog()
    settle(app)
    while app.session.is_seeking:
        app.frame(0.0)
    for branch in app.session.shown_branches:
        line = branch.timeline
        line.apply_now()
        tick, digest = line.tick, line.world.digest()
        line.seek(0)
        line.seek(tick)
        assert (line.tick, line.world.digest(), line.diverged) == (tick, digest, None)


def do_something(app: App, chance: random.Random, size: tuple[int, int]) -> None:
    def somewhere() -> tuple[int, int]:
        return chance.randrange(size[0]), chance.randrange(size[1])

    match chance.choice(["key", "key", "key", "drag", "click", "wheel", "dialog", "time"]):
        case "key":
            press_combination(app, chance.choice(chance.choice(COMMANDS).keys))
        case "drag":
            drag(app, somewhere(), somewhere(), button=chance.choice([1, 1, 2, 3]))
        case "click" if app.window.dialogs.dialog is None:
            spots = [spot for spot in app.window.canvas.spots if spot.action and "record" not in spot.id]
            x, y, width, height = chance.choice(spots).box
            drag(app, (x + width // 2, y + height // 2), (x + width // 2, y + height // 2), steps=1)
        case "wheel":
            place = somewhere()
            pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=place, rel=(0, 0), buttons=(0, 0, 0)))
            pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, y=chance.choice([-2, 1]), x=0, pos=place))
            settle(app)
        case "dialog" if app.window.dialogs.dialog is not None:
            for _ in range(chance.randrange(4)):
                press(app, chance.choice(DIALOG_KEYS), 0, "9")
            press(app, pygame.K_ESCAPE)
        case _:
            for _ in range(chance.randrange(1, 6)):
                app.frame(0.05)
