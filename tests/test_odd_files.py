"""Files with odd names and odd contents: opened, drawn and saved like any other, or refused in words."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.params import ConfigError
from tests.window import make_app
from ui.dialogs.file_browser import OpenFile
from ui.film.replay import replay_of_saved
from ui.model import files, saving
from ui.model.session import Session

from .test_files import begun, map_file


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_a_file_name_that_is_no_text_is_opened_drawn_saved_and_opened_again(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.map"))
    map_file(tmp_path, ["....", ".@..", "...."]).rename(path)
    app = make_app(files.open_any(path).scenario)
    app.draw()
    assert app.session.run.scenario.title == "\\udcff\\udcfe"
    app.window.settings.remember(tmp_path / "any.map")
    app.window.show(OpenFile(app.window.dialogs))
    app.draw()
    saved = saving.save(app.session, tmp_path / "session.yaml")
    again = files.open_any(saved)
    assert np.array_equal(again.scenario.grid.terrain, app.session.run.world.grid.terrain)
    with pytest.raises(ConfigError, match=r"\\udcff"):
        files.open_any(path.with_suffix(".mapp"))


@pytest.mark.parametrize("shown", [None, 7, "all", [[0]], [{}], ["0"], [True], [99], [0, 0], {"0": 1}])
@pytest.mark.parametrize("focus", [None, -1, 10**30, "9" * 5000, [0], True, 1.5])
def test_any_view_of_a_session_opens(tmp_path: Path, shown: object, focus: object) -> None:
    session = Session(begun())
    view = {"branches": shown, "focus": focus, "panels": [shown, [0, focus], [99, 0], [0]] if focus else focus}
    path = saving.save(session, tmp_path / "session.yaml", view)
    text = path.read_text()
    assert "view:" in text
    saved = files.open_any(path).saved
    assert saved is not None
    saved = replace(saved, scenario=replace(saved.scenario, view=view))
    assert saved.shown in ((), (0,)) and saved.focus == 0
    saving.restore(session, saved, path)
    assert session.run.shown == [0]
    assert replay_of_saved(saved, path).branches
