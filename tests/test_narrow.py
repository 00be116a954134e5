"""What there is little room for: names, numbers and buttons of narrow panels, and columns of the sidebar."""

from dataclasses import replace
from itertools import pairwise

import pygame
import pytest

from sim.world_commands import AgentConfig
from tests.test_app import setup
from tests.window import make_app, press_combination
from ui.app import App
from ui.model.layout import HEADER_HEIGHT, HEADER_ROW_HEIGHT, lay_out_window
from ui.panels import panel_header, sidebar, switch_names, tab_compare

Drawn = tuple[str, pygame.Rect]


def record_drawn_texts(app: App) -> list[Drawn]:
    """Every text of a frame, and its place."""
    canvas, found = app.window.canvas, []
    write = canvas.draw_text

    def text(position, words, **look):
        used = write(position, words, **look)
        left = position[0] - {"right": used, "centre": used // 2}.get(look.get("align"), 0)
        found.append((words, pygame.Rect(left, position[1], used, 12)))
        return used

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canvas, "draw_text", text)
        app.draw_window()
    return found


def test_value_is_next_to_its_name_after_arrival():
    app = make_app(setup(2, budget=16), (1366, 500))
    app.session.advance_by_ticks(400)
    assert all(walker.has_arrived for walker in app.session.run.world.walkers)
    texts = record_drawn_texts(app)
    for (name, box), (_, value) in pairwise(texts):
        if name == "cost / optimal" and value.y - box.y == 1:
            assert value.x - box.right <= app.window.canvas.to_px(6)
            break
    else:
        pytest.fail("the numbers do not stand beside their names")


def make_app_with_comparison() -> App:
    agents = (AgentConfig("tb-wa", "waits for it"), AgentConfig("tb-wa", "re-opening"))
    app = make_app(replace(setup(), agents=agents), (1366, 715))
    app.window.settings.sidebar_tab = "compare"
    return app


def test_comparison_columns_leave_room_for_full_names():
    app = make_app_with_comparison()
    names = [box for words, box in record_drawn_texts(app) if words == "waits for it"]
    whole = app.window.canvas.text_width("waits for it", 13)
    assert names and names[-1].width == whole and names[-1].x > app.window.map_view.layout.sidebar_box[0]


def test_comparison_numbers_never_touch(monkeypatch):
    app = make_app_with_comparison()
    large = {"suboptimality": "17.79", "back_moves": "102,691", "revisits": "116,011", "expansions": "1,157,160"}
    monkeypatch.setattr(tab_compare, "_measure_value_text", lambda measure, view: large[measure.key])
    row = sorted(
        (box for words, box in record_drawn_texts(app) if words in large.values()), key=lambda box: (box.y, box.x)
    )
    assert len(row) == 8
    for left, right in pairwise(row):
        assert left.y != right.y or right.x - left.right >= tab_compare.COLUMN_GAP


@pytest.mark.parametrize(("size", "count"), [((640, 428), 8), ((640, 480), 7), ((800, 600), 4), ((800, 600), 8)])
@pytest.mark.parametrize("map_size", [(64, 64), (64, 48), (128, 64)])
def test_small_windows_have_no_sliver_panels(size, count, map_size):
    """Eight panels in one row of a window of 640 pixels were 71 wide: 'a...' and 'arriv...'."""
    assert lay_out_window(size, 1.0, count, map_size=map_size).panel_boxes[0].panel_box[2] >= 110


@pytest.mark.parametrize("size", [(640, 428), (800, 600)])
def test_header_buttons_appear_on_hover_if_the_name_fills_its_row(size, monkeypatch):
    agents = tuple(AgentConfig("tb-wa", f"a name that fills its row {n}") for n in range(8))
    app = make_app(replace(setup(), agents=agents), size)
    app.draw_window()
    x, y, width, _ = app.window.map_view.panels_with_boxes()[4][1].header_box
    key = app.window.map_view.panels_with_boxes()[4][0].key
    assert app.window.canvas.hit_region_with_id(f"edit:{key}") is None
    state = app.window.canvas.hit_region_with_id(f"state:{key}").box
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: (x + width // 2, y + 4))
    app.draw_window()
    button = app.window.canvas.hit_region_with_id(f"edit:{key}")
    assert button is not None and not pygame.Rect(button.box).colliderect(state)
    assert app.window.canvas.hit_region_with_id(f"state:{key}").box == state
    name = app.window.canvas.hit_region_with_id(f"name:{key}")
    assert name is None or not pygame.Rect(button.box).colliderect(name.box)


def test_name_is_not_truncated_for_chips_equal_among_namesakes():
    """The same two agents on two branches: 'eag...' stood beside 'eager'."""
    agents = tuple(AgentConfig("rtb-wa", f"{kind}, as ever", params={"restart": kind}) for kind in ("lazy", "eager"))
    app = make_app(replace(setup(), agents=agents), (800, 720))
    app.session.advance_by_ticks(3)
    app.window.run_command("branch")
    app.draw_window()
    names = [app.window.canvas.hit_region_with_id(f"name:{panel.key}") for panel in app.session.run.panels]
    whole = app.window.canvas.text_width("eager, as ever", 15, "bold")
    assert len(names) == 4 and all(names[i].box[2] >= whole for i in (1, 3))


def test_undoing_a_switch_removes_its_message():
    app = make_app(setup(1))
    app.window.ui_state.is_editing = True
    press_combination(app, "Ctrl+A")
    press_combination(app, "Ctrl+G")
    press_combination(app, "Return")
    assert any(
        "gate" not in text and " switches " in text for text in app.window.ui_state.message_queue.queued_message_texts()
    )
    press_combination(app, "Ctrl+Z")
    app.draw_window()
    assert app.session.run.world.switches.keys() == {"door", "gate"}
    assert not any(
        "gate" not in text and " switches " in text for text in app.window.ui_state.message_queue.queued_message_texts()
    )


def test_state_text_is_shortened_before_distinguishing_chips():
    """Of two panels of the same width one said "walking back", the other "eager" and "back"."""
    agents = tuple(AgentConfig("rtb-wa", kind, params={"restart": kind}) for kind in ("lazy", "eager"))
    app = make_app(replace(setup(), agents=agents))
    panel, canvas = app.session.run.panels[0], app.window.canvas
    for width in range(130, 260):
        canvas.hit_regions.clear()
        panel_header.draw_panel_header(
            app.window.view_context, (0, 0, width, HEADER_HEIGHT + HEADER_ROW_HEIGHT), panel, 0
        )
        assert canvas.hit_region_with_id(f"chip:{panel.key}:restart") is not None, width


@pytest.mark.parametrize("tab", ["layers", "edit", "compare"])
def test_keyboard_focus_scrolls_hidden_sidebar_controls_into_view(tab):
    """F6 went from the last control that was seen to the line of time, and never to what lay below."""
    app = make_app(setup(2), (1280, 500))
    app.window.settings.sidebar_tab = tab
    app.draw_window()
    wanted, hidden = set(app.window.canvas.boxes_in_scroll_areas), app.window.ui_state.sidebar_hidden_height
    assert hidden > 0 and wanted
    seen = set()
    for step in [1] * 150 + [-1] * 5:
        app.window.canvas.focus_next_control(step)
        app.draw_window()  # scrolls
        app.draw_window()
        focus, box = app.window.canvas.focused_control_id, app.window.map_view.layout.sidebar_box
        if (place := app.window.canvas.boxes_in_scroll_areas.get(focus)) is not None:
            seen.add(focus)
            assert box[1] < place[1] and place[1] + place[3] < box[1] + box[3], focus
    assert wanted <= seen


def test_wheel_scrolls_away_from_the_focused_control():
    app = make_app(setup(2), (1280, 500))
    app.window.settings.sidebar_tab = "layers"
    app.draw_window()
    last = list(app.window.canvas.boxes_in_scroll_areas)[-1]
    app.window.canvas.focused_control_id = last
    app.draw_window()
    app.draw_window()
    assert app.window.ui_state.sidebar_scroll_by_tab["layers"] > 0
    sidebar.scroll_tab(app.window.view_context, "layers", 100)
    app.draw_window()
    assert app.window.ui_state.sidebar_scroll_by_tab["layers"] == 0


def test_inspector_numbers_agents_of_equal_name():
    app = make_app(setup(2))
    app.session.advance_by_ticks(3)
    app.window.run_command("branch")
    app.window.settings.sidebar_tab = "inspect"
    left = app.window.map_view.layout.sidebar_box[0]
    marks = [words for words, box in record_drawn_texts(app) if box.x > left and words in "1234"]
    assert marks == ["1", "2", "3", "4"]


def test_switch_names_do_not_touch():
    """Of two doors side by side one name stood corner to corner with the other."""
    app = make_app(setup(1))
    desk, area, place = app.window.view_context, (0, 0, 400, 400), (100, 100, 10, 10)
    first = pygame.Rect(switch_names._switch_name_box(desk, area, "north door", place, []))
    below = first.move(0, first.height)
    second = pygame.Rect(switch_names._switch_name_box(desk, area, "north door", place, [tuple(below)]))
    assert not below.inflate(2, 2).colliderect(second) and second != first


def test_switch_name_at_map_edge_avoids_another_name():
    """At the right edge there was one side alone, where another name stood already: they lay on each other."""
    app = make_app(setup(1))
    desk, area, place = app.window.view_context, (0, 0, 400, 400), (386, 100, 10, 10)
    usual = switch_names._switch_name_box(desk, area, "north door", place, [])
    other = pygame.Rect(switch_names._switch_name_box(desk, area, "north door", place, [usual]))
    assert pygame.Rect(area).contains(other) and not other.colliderect(pygame.Rect(usual))


def test_short_name_is_shown_next_to_header_buttons():
    """ "A*" is narrower than the least of a long name that says anything: it was left out beside two buttons."""
    kinds = ("lrta", "tba", "tb-wa", "tb-gbfs", "rtaa", "dstar-lite", "astar", "ribs")
    app = make_app(replace(setup(), agents=tuple(AgentConfig(kind) for kind in kinds)), (800, 600))
    for width in range(760, 1000, 12):
        app.window.on_window_resized(pygame.display.set_mode((width, 600)))
        assert "A*" in [words for words, _ in record_drawn_texts(app)], width
