"""Nothing that a user does, and no fault of ours, ends the window or loses work."""

from pathlib import Path

import pytest

from sim.commands import AgentConfig
from sim.files.png import png_texts
from tests.test_app import setup
from tests.window import App, make_app, press_combination

WINDOW_KEYS = ("F12", "Ctrl+P", "Shift+F12", "Alt+F12")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKMOVE_RECORDINGS", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


# --- pictures while a seek is under way -----------------------------------------------------------------


def one_of_two_branches_seeks() -> App:
    """The first branch is back at a tick at which the second agent was not there yet; the other one is on its way."""
    app = make_app(setup(1))
    session = app.session
    session.advance(8)
    session.add_agent(AgentConfig("lrta"))
    session.advance(4)
    session.branch_here()
    first, second = (branch.timeline for branch in session.shown_branches)
    for line in first, second:
        line.begin_seek(3)
    first.settle()
    assert second.is_seeking and len(session.panels) == 4
    session.focus(session.panels[0].key)
    return app


@pytest.mark.parametrize("key", WINDOW_KEYS)
def test_a_picture_waits_for_branches_that_are_on_their_way(key: str, tmp_path: Path) -> None:
    app = one_of_two_branches_seeks()
    press_combination(app, key)
    assert app.dialog is None, app.dialog.problems
    picture = Path(app.toasts[-1][0].removeprefix("saved "))
    assert picture.is_file()
    if picture.suffix == ".png":
        texts = png_texts(picture.read_bytes())
        assert texts["Tick"] == "3" and texts["Digest"] == app.session.world.digest()
        assert "lrta" not in texts["Agents"], "the agent of tick 8 is not there at tick 3"
