"""Settings that the window keeps between two starts, in one small file in the user's configuration folder.

Nothing here may prevent the program from starting. A file that cannot be read or is not valid results in defaults and
one message; a folder that cannot be written results in one message. This module does not use pygame.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from files.disk import read_file, write_file_atomically
from files.yaml import InlineList, read_yaml, write_yaml
from sim.params import ConfigError, Param
from sim.prepared_data import DISK_MB, MEMORY_MB
from sim.system.user_folders import config_folder
from ui.model.layer_state import HEAT_COLOUR_NAMES, HEAT_KINDS, HeatSetting
from ui.model.step_clock import AS_FAST_AS_POSSIBLE, SPEEDS
from ui.model.step_clock import nearest_speed as nearest_speed

SETTINGS_FILE_NAME = "settings.yaml"
BACKUP_FILE_NAME = "settings-before.yaml"
MAX_RECENT_FILES = 12
MAX_SETTINGS_BYTES = 1 << 20
SIDEBAR_TABS = ("layers", "edit", "inspect", "compare", "time")

THEMES = ("dark", "light")
THEME = Param("theme", str, "dark", "dark for a screen, light for a projector or for print", choices=THEMES)
UI_SCALE = Param(
    "ui_scale",
    float,
    1.0,
    "size of everything in the window",
    0.75,
    2.0,
    step=0.25,
    label="Text size",
)
SPEED = Param("speed", int, 30, "ticks a second; 0: as fast as possible", AS_FAST_AS_POSSIBLE, max(SPEEDS))
LINKED_CAMERAS = Param("linked_cameras", bool, True, "all panels show the same part of the map", label="Same view")
SIDEBAR_TAB = Param("sidebar_tab", str, "layers", "what the sidebar shows", choices=SIDEBAR_TABS)
SHOWS_MINIMAP = Param("shows_minimap", bool, True, "the whole map, in panels that show a part of it", label="Minimap")
SHOWS_SIDEBAR = Param("shows_sidebar", bool, True, "whether the sidebar is open")
HEAT_KIND = Param("kind", str, "off", "what the heat layer shows", choices=HEAT_KINDS)
HEAT_IS_LOG = Param("is_log", bool, True, "low and high values are equally easy to distinguish; off: linear")
HEAT_COLOURS = Param(
    "colours",
    str,
    HEAT_COLOUR_NAMES[0],
    "cividis suits every kind of colour vision",
    choices=HEAT_COLOUR_NAMES,
)
KEYFRAME_MB = Param(
    *("keyframe_mb", int, 0, "memory for seeking back; 0: as much as the run itself takes", 0, 1_000_000),
    label="Memory for seeking back, MB",
)
PREPARED_MB = Param(
    *("prepared_mb", int, MEMORY_MB, "memory for data that agents compute before their runs", 16, 1_000_000),
    label="Memory for prepared data, MB",
)
PREPARED_DISK_MB = Param(
    *("prepared_disk_mb", int, DISK_MB, "disk space for such data, kept for the next start; 0: none", 0, 1_000_000),
    label="Disk space for prepared data, MB",
)
HEAT_COLOURS_SETTING = replace(HEAT_COLOURS, name="heat_colours", label="Heat colours")
HEAT_IS_LOG_SETTING = replace(HEAT_IS_LOG, name="heat_is_log", label="Logarithmic heat")
WINDOW_SIDE = Param("window_size", int, 900, "one side of the window", 320, 16_384)


@dataclass
class Settings:
    """Settings of one user, with their defaults."""

    theme: str = "dark"
    ui_scale: float = 1.0
    layers: dict[str, bool] = field(default_factory=dict)  # layer -> whether it is on, if that is not the default
    heat: HeatSetting = field(default_factory=HeatSetting)
    linked_cameras: bool = True
    speed: int = 30
    window_size: tuple[int, int] = (1600, 900)
    sidebar_tab: str = "layers"
    shows_sidebar: bool = True
    shows_minimap: bool = True
    keys: dict[str, str] = field(default_factory=dict)  # command id -> keyboard keys assigned by the user
    keyframe_mb: int = 0  # maximum memory for keyframes in MB; 0: as much as the run itself takes, at least 190
    prepared_mb: int = MEMORY_MB
    prepared_disk_mb: int = DISK_MB
    recordings: str = ""  # folder of pictures and videos; "": the default folder
    files_folder: str = ""  # initial folder of file dialogs; "": the folder of the latest file
    recent_files: list[str] = field(default_factory=list)  # paths of the files opened last, the latest first
    # notes on the first example that the user closed, which are never shown again
    closed_notes: list[str] = field(default_factory=list)

    @property
    def heat_colours(self) -> str:
        return self.heat.colour_map

    @heat_colours.setter
    def heat_colours(self, name: str) -> None:
        self.heat = replace(self.heat, colour_map=name)

    @property
    def heat_is_log(self) -> bool:
        return self.heat.is_log

    @heat_is_log.setter
    def heat_is_log(self, is_log: bool) -> None:
        self.heat = replace(self.heat, is_log=is_log)

    def add_recent_file(self, path: str | os.PathLike[str]) -> None:
        """Put a file at the top of the list of recent files."""
        name = os.path.abspath(path)
        self.recent_files = [name, *(other for other in self.recent_files if other != name)][:MAX_RECENT_FILES]

    def remove_recent_file(self, path: str | os.PathLike[str]) -> None:
        name = os.path.abspath(path)
        self.recent_files = [other for other in self.recent_files if other not in (name, str(path))]

    @property
    def initial_folder(self) -> Path:
        """Return the first folder of file dialogs: the one set by the user, or the folder of the latest recent file."""
        if self.files_folder and os.path.isdir(self.files_folder):
            return Path(self.files_folder)
        for name in self.recent_files:
            if os.path.isdir(os.path.dirname(name)):
                return Path(name).parent
        return Path.cwd()


def settings_path() -> Path:
    """Return the path of this user's settings file, whether or not it exists."""
    return config_folder() / SETTINGS_FILE_NAME


# --- reading --------------------------------------------------------------------------------------


def load_settings(path: Path | None = None) -> tuple[Settings, str | None]:
    """Return the settings of this user, and a message if the file could not be read completely."""
    file = path or settings_path()
    try:
        data = _read_settings_file(file)
    except (ConfigError, OSError, ValueError) as error:
        return (
            Settings(),
            f"Could not read the settings; using defaults: {_error_text_on_one_line(error)}"
            f"{_back_up_settings_file(file)}",
        )
    reader = _SettingsReader(data)
    settings = reader.read_settings()
    if reader.problems:
        more = f" (and {len(reader.problems) - 1} more)" if len(reader.problems) > 1 else ""
        return settings, f"{file}: {reader.problems[0]}{more}; the default is used{_back_up_settings_file(file)}"
    return settings, None


def _back_up_settings_file(file: Path) -> str:
    """Copy an invalid settings file, because the next change of a setting rewrites the file without invalid parts.

    Returns:
        Text about the copy, to be appended to a message; empty if it could not be written.
    """
    try:
        write_file_atomically(file.with_name(BACKUP_FILE_NAME), read_file(file, MAX_SETTINGS_BYTES, file.suffix))
    except (ConfigError, OSError):
        return ""
    return f"; a copy of the old file is kept as {BACKUP_FILE_NAME}"


def _read_settings_file(file: Path) -> Mapping[str, Any]:
    if not file.exists():
        return {}
    data = read_yaml(read_file(file, MAX_SETTINGS_BYTES, file.suffix), str(file)).data
    if not isinstance(data, dict):
        raise ConfigError(f"{file}: expected settings, got something else")
    return data


def _error_text_on_one_line(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return str(error).splitlines()[0]


class _SettingsReader:
    """Reader of settings: keeps valid values, replaces invalid ones by defaults and collects problems.

    Unknown keys are ignored.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.settings_data = data
        self.problems: list[str] = []

    def read_settings(self) -> Settings:
        base = Settings()
        speed = self._read_param_value(self.settings_data, SPEED, base.speed)
        return replace(
            base,
            theme=self._read_param_value(self.settings_data, THEME, base.theme),
            ui_scale=self._read_param_value(self.settings_data, UI_SCALE, base.ui_scale),
            layers=self._read_layer_visibility(),
            heat=self._read_heat_setting(),
            linked_cameras=self._read_param_value(self.settings_data, LINKED_CAMERAS, base.linked_cameras),
            speed=nearest_speed(speed),
            window_size=self._read_window_size(base.window_size),
            sidebar_tab=self._read_param_value(self.settings_data, SIDEBAR_TAB, base.sidebar_tab),
            shows_sidebar=self._read_param_value(self.settings_data, SHOWS_SIDEBAR, base.shows_sidebar),
            shows_minimap=self._read_param_value(self.settings_data, SHOWS_MINIMAP, base.shows_minimap),
            keyframe_mb=self._read_param_value(self.settings_data, KEYFRAME_MB, base.keyframe_mb),
            prepared_mb=self._read_param_value(self.settings_data, PREPARED_MB, base.prepared_mb),
            prepared_disk_mb=self._read_param_value(self.settings_data, PREPARED_DISK_MB, base.prepared_disk_mb),
            recordings=self._read_folder("recordings"),
            files_folder=self._read_folder("files_folder"),
            keys=self._read_assigned_keys(),
            recent_files=self._read_recent_files(),
            closed_notes=[name for name in self._read_collection("closed_notes", list) if isinstance(name, str)],
        )

    def _read_param_value(self, data: Mapping[str, Any], param: Param, default: Any) -> Any:
        """Return the value of a setting if it is valid; otherwise add a problem and return the default."""
        if param.name not in data:
            return default
        return self._parsed_or_default(lambda: param.parse_value(data[param.name], param.name), default)

    def _parsed_or_default(self, parse: Callable[[], Any], default: Any) -> Any:
        try:
            return parse()
        except ConfigError as error:
            self.problems += error.problems
            return default

    def _read_collection(self, key: str, kind: type) -> Any:
        """Return the mapping or list stored under a key; if it has another type, add a problem and return it empty."""
        part = self.settings_data.get(key, kind())
        if isinstance(part, kind):
            return part
        self.problems.append(f"{key}: expected a {'mapping' if kind is dict else 'list'}")
        return kind()

    def _read_layer_visibility(self) -> dict[str, bool]:
        """Return which layers are on (layer -> bool); values that are not Boolean are left out.

        Layers that no longer exist are kept; drawing ignores them.
        """
        visible: dict[str, bool] = {}
        for key, value in self._read_collection("layers", dict).items():
            try:
                visible[str(key)] = bool(Param(f"layers.{key}", bool, True, "").parse_value(value, f"layers.{key}"))
            except ConfigError as error:
                self.problems += error.problems
        return visible

    def _read_heat_setting(self) -> HeatSetting:
        """Return the heat setting, with invalid parts replaced by defaults."""
        part, base = self._read_collection("heat", dict), HeatSetting()
        return HeatSetting(
            self._read_param_value(part, HEAT_KIND, base.kind),
            self._read_param_value(part, HEAT_IS_LOG, base.is_log),
            self._read_param_value(part, HEAT_COLOURS, base.colour_map),
        )

    def _read_assigned_keys(self) -> dict[str, str]:
        """Return the keyboard keys assigned by the user: command id -> keys; unknown commands do no harm."""
        return {
            str(c): k for c, k in self._read_collection("keys", dict).items() if isinstance(k, str) and k.isprintable()
        }

    def _read_folder(self, key: str) -> str:
        name = self.settings_data.get(key, "")
        if isinstance(name, str) and name.isprintable():
            return name
        self.problems.append(f"{key}: expected the name of a folder")
        return ""

    def _read_window_size(self, default: tuple[int, int]) -> tuple[int, int]:
        part = self._read_collection("window_size", list) or list(default)
        if len(part) != 2:
            self.problems.append("window_size: expected two numbers")
            return default
        width, height = self._parsed_or_default(
            lambda: [WINDOW_SIDE.parse_value(side, "window_size") for side in part], default
        )
        return int(width), int(height)

    def _read_recent_files(self) -> list[str]:
        names = self._read_collection("recent_files", list)
        sound = [name for name in names if isinstance(name, str) and name and name.isprintable()]
        return list(dict.fromkeys(sound))[:MAX_RECENT_FILES]


# --- writing --------------------------------------------------------------------------------------


def save_settings(settings: Settings, path: Path | None = None) -> str | None:
    """Write the settings for the next start; return a message if they could not be written, else None."""
    file = path or settings_path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file_atomically(file, settings_text(settings).encode("utf-8"))
    except (ConfigError, OSError) as error:
        return f"Could not save the settings: {_error_text_on_one_line(error)}"
    return None


def settings_text(settings: Settings) -> str:
    heat = settings.heat
    return write_yaml(
        {
            "theme": settings.theme,
            "ui_scale": float(settings.ui_scale),
            "layers": {key: bool(is_on) for key, is_on in sorted(settings.layers.items())},
            "heat": {"kind": heat.kind, "is_log": heat.is_log, "colours": heat.colour_map},
            "linked_cameras": settings.linked_cameras,
            "speed": settings.speed,
            "window_size": InlineList(settings.window_size),
            "sidebar_tab": settings.sidebar_tab,
            "shows_sidebar": settings.shows_sidebar,
            "shows_minimap": settings.shows_minimap,
            "keyframe_mb": settings.keyframe_mb,
            "prepared_mb": settings.prepared_mb,
            "prepared_disk_mb": settings.prepared_disk_mb,
            "recordings": settings.recordings if settings.recordings.isprintable() else "",
            "files_folder": settings.files_folder if settings.files_folder.isprintable() else "",
            "keys": dict(sorted(settings.keys.items())),
            "closed_notes": [name for name in settings.closed_notes if name.isprintable()],
            "recent_files": [name for name in settings.recent_files if name.isprintable()],
        }
    )
