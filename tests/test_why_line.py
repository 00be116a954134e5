"""The inspector says why each agent moved, with the mouse nowhere and after going back in time."""

from tests.window import ROOT, make_app, press_combination, settle
from ui.model.opened_files import open_any_file
from ui.panels.last_move_text import last_move_sentence

SCRUBBING = ROOT / "assets" / "scenarios" / "scrubbing.yaml"


def test_each_agent_has_a_why_sentence_that_seeking_reproduces() -> None:
    app = make_app(open_any_file(SCRUBBING).scenario)
    press_combination(app, "F4")
    said = []
    for _ in range(40):
        press_combination(app, ".")
        said.append([last_move_sentence(app.window.view_context, panel) for panel in app.session.run.panels])
    assert any("walks back to the fork" in texts[0] for texts in said)
    assert all("waits until its search is done" in texts[2] for texts in said)
    app.session.seek_to_tick(20)
    settle(app)
    assert [last_move_sentence(app.window.view_context, panel) for panel in app.session.run.panels] == said[19]


def test_why_sentence_is_cached_per_tick() -> None:
    app = make_app(open_any_file(SCRUBBING).scenario)
    press_combination(app, "F4")
    press_combination(app, ".")
    kept = dict(app.window.ui_state.move_explanations)
    settle(app)
    assert kept and all(app.window.ui_state.move_explanations[key] is kept[key] for key in kept)
