"""Settings come back as they were; nothing about their file keeps the program from starting."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.system.user_folders import config_folder
from ui.model.appearance import appearance_from_view
from ui.model.layer_state import HeatSetting
from ui.model.settings import MAX_RECENT_FILES, Settings, load_settings, save_settings, settings_path

OTHER = Settings(
    theme="light",
    ui_scale=1.5,
    layers={"tree": True, "closed": False},
    heat=HeatSetting("visits", False, "magma"),
    linked_cameras=False,
    speed=0,
    window_size=(1280, 720),
    sidebar_tab="compare",
    shows_sidebar=False,
    keyframe_mb=500,
    prepared_mb=64,
    prepared_disk_mb=0,
    recordings="/a folder/of: mine",
    files_folder="/maps",
    recent_files=["/a/b.map", "/c: d/'e.yaml"],
)


@pytest.mark.parametrize("settings", [Settings(), OTHER])
def test_settings_round_trip_through_the_file(tmp_path: Path, settings: Settings) -> None:
    place = tmp_path / "new" / "folder" / "settings.yaml"
    assert save_settings(settings, place) is None
    assert load_settings(place) == (settings, None)
    assert os.listdir(place.parent) == [place.name]


def test_missing_file_gives_defaults_without_a_message(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.yaml") == (Settings(), None)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"[1, 2", b"- a\n- b", b"just text", b"!!python/object:os.system x", b"a: &x 1\nb: *x", b""],
)
def test_broken_file_gives_defaults_and_one_message(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "settings.yaml"
    place.write_bytes(content)
    settings, message = load_settings(place)
    assert settings == Settings()
    assert message and "\n" not in message and str(place) in message


@given(st.binary(max_size=300))
def test_random_bytes_load_as_settings(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    place = tmp_path_factory.getbasetemp() / "any.yaml"
    place.write_bytes(content)
    settings, _ = load_settings(place)
    assert isinstance(settings, Settings)


def test_invalid_values_keep_defaults_and_valid_values_are_read(tmp_path: Path) -> None:
    place = tmp_path / "settings.yaml"
    place.write_text(
        "theme: drak\nui_scale: 9\nspeed: 31\nwindow_size: [wide, 2]\nheat: {kind: visits, colours: pink}\n"
        "layers: {closed: perhaps, trail: false, unknown: true}\nsidebar_tab: 3\n"
        "recent_files: [a, 7, a]\nlater: {x: 1}\n"
    )
    settings, message = load_settings(place)
    base = Settings()
    assert settings == replace(
        base,
        layers={"trail": False, "unknown": True},  # a layer that a later version may know
        heat=HeatSetting("visits"),
        recent_files=["a"],
    )
    assert message and "theme: expected one of dark, light, got 'drak'; did you mean 'dark'?" in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ["layers: 3", "heat: [1]", "recent_files: {a: 1}", "window_size: 7"])
def test_values_of_the_wrong_type_give_defaults_and_a_message(tmp_path: Path, text: str) -> None:
    place = tmp_path / "settings.yaml"
    place.write_text(text)
    settings, message = load_settings(place)
    assert settings == Settings() and message


@pytest.mark.parametrize("content", ["[1, 2", "keys: {undo: Alt+U}\ntheme: drak\n"])
def test_unreadable_settings_are_backed_up_before_saving(tmp_path: Path, content: str) -> None:
    place = tmp_path / "settings.yaml"
    place.write_text(content)
    settings, message = load_settings(place)
    assert save_settings(settings, place) is None and load_settings(place) == (settings, None)
    aside = tmp_path / "settings-before.yaml"
    assert aside.read_text() == content and message and aside.name in message


def test_message_omits_the_backup_if_it_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "settings.yaml"
    place.write_text("theme: drak")
    (tmp_path / "settings-before.yaml").mkdir()
    settings, message = load_settings(place)
    assert settings == Settings() and message and "settings-before" not in message


def test_folder_instead_of_the_file_gives_messages(tmp_path: Path) -> None:
    settings, message = load_settings(tmp_path)
    assert settings == Settings() and message
    assert save_settings(settings, tmp_path)


def test_unwritable_path_gives_a_message(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    message = save_settings(Settings(), file / "settings.yaml")
    assert message and message.startswith("Could not save the settings: ") and "\n" not in message


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "settings.yaml"
    save_settings(OTHER, place)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    message = save_settings(Settings(), place)
    assert message and "No space left on device" in message
    assert load_settings(place) == (OTHER, None)
    assert os.listdir(tmp_path) == [place.name]


def test_settings_path_is_in_the_configuration_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    assert settings_path() == config_folder() / "settings.yaml"


def test_recent_files_are_limited_and_unique() -> None:
    settings = Settings()
    for number in range(20):
        settings.add_recent_file(f"/maps/{number}.map")
    settings.add_recent_file("/maps/15.map")
    assert len(settings.recent_files) == MAX_RECENT_FILES
    assert settings.recent_files[:3] == ["/maps/15.map", "/maps/19.map", "/maps/18.map"]
    settings.remove_recent_file("/maps/19.map")
    assert "/maps/19.map" not in settings.recent_files


def test_last_folder_is_that_of_the_last_existing_file(tmp_path: Path) -> None:
    settings = Settings()
    assert settings.initial_folder == Path.cwd()
    settings.add_recent_file(tmp_path / "a.map")
    settings.add_recent_file("/no such folder/b.map")
    assert settings.initial_folder == tmp_path


def test_unencodable_file_name_is_not_saved(tmp_path: Path) -> None:
    settings = Settings(recent_files=["/good.map", "/bad\udcff.map"])
    place = tmp_path / "settings.yaml"
    assert save_settings(settings, place) is None
    assert load_settings(place)[0].recent_files == ["/good.map"]


def test_every_sidebar_tab_can_be_saved(tmp_path: Path) -> None:
    from ui.panels.sidebar import SIDEBAR_TAB_DRAWERS

    for key, _ in SIDEBAR_TAB_DRAWERS:
        settings = replace(Settings(), sidebar_tab=key)
        assert save_settings(settings, tmp_path / "settings.yaml") is None
        assert load_settings(tmp_path / "settings.yaml") == (settings, None)
        assert appearance_from_view({"sidebar": key}, ()).sidebar_tab == key
