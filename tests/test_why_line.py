"""The inspector says why each agent moved, with the mouse nowhere and after going back in time."""

from tests.window import ROOT, make_app, press_combination, settle
from ui.model.files import open_any
from ui.panels.why_line import sentence

SCRUBBING = ROOT / "assets" / "scenarios" / "scrubbing.yaml"


def test_each_agent_has_a_sentence_and_a_seek_back_gives_the_same_one() -> None:
    app = make_app(open_any(SCRUBBING).scenario)
    press_combination(app, "F4")
    said = []
    for _ in range(40):
        press_combination(app, ".")
        said.append([sentence(app.window.desk, panel) for panel in app.session.run.panels])
    assert any("walks back to the fork" in texts[0] for texts in said)
    assert all("waits until its search is done" in texts[2] for texts in said)
    app.session.seek(20)
    settle(app)
    assert [sentence(app.window.desk, panel) for panel in app.session.run.panels] == said[19]


def test_the_sentence_is_made_once_for_a_tick() -> None:
    app = make_app(open_any(SCRUBBING).scenario)
    press_combination(app, "F4")
    press_combination(app, ".")
    kept = dict(app.window.state.whys)
    settle(app)
    assert kept and all(app.window.state.whys[key] is kept[key] for key in kept)
