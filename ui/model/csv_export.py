"""Export of a run's measures as CSV files: one row for each agent on screen, or for each tick of each agent."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from files.csv_text import CsvCell, format_csv
from files.disk import write_file_atomically
from sim.kernels import log
from ui.model.comparison_columns import COLUMNS
from ui.model.opened_files import path_with_suffix
from ui.model.run import Panel
from ui.model.session import Session

CSV_SUFFIX = ".csv"
TICK_COLUMNS = ("agent", "kind", "tick", "x", "y", "marks", "expanded", "expanded_total", "cost", "revisits")


def export_agents_csv(session: Session, path: str | os.PathLike[str]) -> Path:
    """Write one row for each agent of the branches on screen, and return the path of the file."""
    header = ["run", "branch", "tick", *(column.key for column in COLUMNS)]
    title, run = session.run.scenario.title, session.run
    rows = ([title, p.branch_name, p.world.tick, *(c.value_of_panel(run, p) for c in COLUMNS)] for p in run.panels)
    return _write_csv(path, header, rows)


def export_ticks_csv(session: Session, path: str | os.PathLike[str]) -> Path:
    """Write one row for each tick of each agent on screen, and return the path of the file."""
    rows = (row for panel in session.run.panels for row in _tick_table_rows(session, panel))
    return _write_csv(path, TICK_COLUMNS, rows)


def _tick_table_rows(session: Session, panel: Panel) -> Iterable[list[CsvCell]]:
    trail, view = session.run.trail_by_panel[panel.key], panel.walker_view
    width = session.run.world.grid.width
    columns = (
        trail.cells % width,
        trail.cells // width,
        trail.marks,
        np.diff(trail.expanded, prepend=0),
        trail.expanded,
        trail.total_costs,
        trail.revisit_counts,
    )
    event_texts = {marks: _event_mark_names_text(marks) for marks in np.unique(trail.marks).tolist()}
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for tick, (x, y, marks, *numbers) in enumerate(rows, trail.first_tick):
        yield [view.label, view.spec.key, tick, x, y, event_texts[marks], *numbers]


def _event_mark_names_text(marks: int) -> str:
    names_and_bits = (
        ("back", log.BACK_MOVE),
        ("restarted", log.RESTARTED),
        ("bounced", log.BOUNCED),
        ("trial", log.TRIAL_BEGAN),
        ("arrived", log.ARRIVED),
    )
    return " ".join(name for name, bit in names_and_bits if marks & bit)


def _write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[CsvCell]]) -> Path:
    target = path_with_suffix(path, CSV_SUFFIX)
    write_file_atomically(target, format_csv(header, rows).encode("utf-8"))
    return target
