"""The first five minutes in a real window: the notes of a first start, and a lesson from its first step to its last."""

import time
from pathlib import Path

from files.yaml import read_yaml
from ui.model.tutorial_notes import TUTORIAL_NOTES

from .test_real_window import PATIENCE_S, display, pytestmark, window

__all__ = ["display", "pytestmark", "window"]


def test_notes_of_the_first_start_do_not_reappear(window, tmp_path: Path) -> None:
    settings = next((p for p in tmp_path.rglob("settings.yaml")), None)
    assert settings is None, "an empty home"
    w = window()
    w.until(lambda s: s["running"] and s["tick"] > 3)
    deadline = time.monotonic() + PATIENCE_S
    closed: list[str] = []
    while len(closed) < len(TUTORIAL_NOTES) and time.monotonic() < deadline:
        w.keys("Escape")
        time.sleep(0.3)
        found = next((p for p in tmp_path.rglob("settings.yaml")), None)
        closed = read_yaml(found.read_bytes(), "settings").data.get("closed_notes", []) if found else []
    assert closed == [note.key for note in TUTORIAL_NOTES]
    assert w.status["dialog"] is None and w.process.poll() is None


def test_lesson_can_be_followed_by_keyboard(window) -> None:
    w = window("assets/lessons/why-agents-scrub.yaml")
    w.until(lambda s: s["title"] == "Why agents scrub" and s["tick"] == 0 and len(s["panels"]) == 1)
    w.keys("ctrl+Next")
    w.until(lambda s: s["tick"] == 3 and not s["running"])
    w.keys("ctrl+Next", "ctrl+Next")
    w.until(lambda s: "Choose an answer first" in s["messages"])
    assert w.status["tick"] == 3, "the run waits for the answer"
    w.keys("alt+2", "ctrl+Next")
    stepped = w.until(lambda s: s["tick"] == 4 and not s["running"])
    assert stepped["agents"][0]["state"] == "walking back"
    w.keys("ctrl+Next", "ctrl+Next")
    w.until(lambda s: s["tick"] == 160 and not s["running"])
    w.keys("ctrl+Next", "alt+3", "ctrl+Next", "ctrl+Next")
    w.until(lambda s: s["tick"] == 1236 and not s["running"] and len(s["panels"]) == 2)
    w.keys("ctrl+Next")
    last = w.until(lambda s: len(s["panels"]) == 3)
    assert {agent["state"] for agent in last["agents"]} == {"arrived"}
    w.keys(*["ctrl+Prior"] * 4)
    back = w.until(lambda s: s["tick"] == 4 and len(s["panels"]) == 1)
    assert back["digest"] == stepped["digest"]
    w.keys(*["ctrl+Prior"] * 8)
    first = w.until(lambda s: s["tick"] == 0 and len(s["panels"]) == 1)
    assert first["agents"][0]["state"] != "walking back"
    w.keys("ctrl+shift+Next")
    w.until(lambda s: len(s["panels"]) == 3)
