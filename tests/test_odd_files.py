"""Files with odd names and odd contents: opened, drawn and saved like any other, or refused in words."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.params import ConfigError
from tests.window import make_app
from ui.dialogs.file_dialogs import OpenFileDialog
from ui.film.replay import replay_spec_of_session
from ui.model import opened_files, session_saving
from ui.model.session import Session

from .test_files import make_scenario, write_map_file


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_undecodable_file_name_survives_open_draw_and_save(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.map"))
    write_map_file(tmp_path, ["....", ".@..", "...."]).rename(path)
    app = make_app(opened_files.open_any_file(path).scenario)
    app.draw_window()
    assert app.session.run.scenario.title == "\\udcff\\udcfe"
    app.window.settings.add_recent_file(tmp_path / "any.map")
    app.window.open_dialog(OpenFileDialog(app.window.dialogs))
    app.draw_window()
    saved = session_saving.save_session(app.session, tmp_path / "session.yaml")
    again = opened_files.open_any_file(saved)
    assert np.array_equal(again.scenario.grid.terrain, app.session.run.world.grid.terrain)
    with pytest.raises(ConfigError, match=r"\\udcff"):
        opened_files.open_any_file(path.with_suffix(".mapp"))


@pytest.mark.parametrize("shown", [None, 7, "all", [[0]], [{}], ["0"], [True], [99], [0, 0], {"0": 1}])
@pytest.mark.parametrize("focus", [None, -1, 10**30, "9" * 5000, [0], True, 1.5])
def test_session_with_any_view_data_opens(tmp_path: Path, shown: object, focus: object) -> None:
    session = Session(make_scenario())
    view = {"branches": shown, "focus": focus, "panels": [shown, [0, focus], [99, 0], [0]] if focus else focus}
    path = session_saving.save_session(session, tmp_path / "session.yaml", view)
    text = path.read_text()
    assert "view:" in text
    saved = opened_files.open_any_file(path).saved_session
    assert saved is not None
    saved = replace(saved, scenario=replace(saved.scenario, view=view))
    assert saved.shown_branches in ((), (0,)) and saved.focused_agent == 0
    session_saving.restore_session(session, saved, path)
    assert session.run.shown_branch_numbers == [0]
    assert replay_spec_of_session(saved, path).branch_states
