"""Command `report`: write the results of an experiment as a page, tables and figures."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from agents.registry import AGENT_SPECS_BY_KEY
from cli.arguments import CommandParser
from cli.progress import ProgressBar
from cli.report.page import ExperimentReport, report_markdown_section, report_page
from experiments.claims import check_claim
from experiments.report_charts import ChartData, chart_of_figure, standard_charts
from experiments.report_figures import save_chart
from experiments.report_layout import FigureSpec, file_name_key
from experiments.report_tables import (
    comparison_table,
    create_specified_table,
    disqualified_settings_table,
    settings_table,
)
from experiments.result_frame import PROBLEM_COLUMNS, ResultFrame
from experiments.specification import parse_report_content
from experiments.store import ResultStore, open_store_for_reading
from experiments.table_formats import ReportTable, table_as_csv, table_as_latex
from files.disk import create_folder, write_file_atomically
from sim.params import ConfigError, escape_unprintable
from sim.system.program import ASSETS_FOLDER, PROGRAM_COMMAND, PROGRAM_FOLDER

AGENT_NAMES = {key: spec.name for key, spec in AGENT_SPECS_BY_KEY.items()}
_MAX_LINES = 10  # maximum number of left-out parts that are printed to standard error; the page lists all of them
_S = TypeVar("_S")
_T = TypeVar("_T")


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("report", "Write tables, figures and claims of an experiment as one HTML page and as files.")
    parser.add_argument("folder", metavar="FOLDER", help=f"a folder of `{PROGRAM_COMMAND} experiment`")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to write them (default: FOLDER/report)")
    parser.add_argument("--markdown", action="store_true", help="print a section for docs/experiments.md instead")
    args = parser.parse_args(argv)
    folder = Path(args.folder)
    with open_store_for_reading(folder) as store:
        report = create_report(store, is_short=args.markdown)
    if args.markdown:
        print(report_markdown_section(report))
        _print_left_out_parts(report)
        return 0
    target = Path(args.output) if args.output else folder / "report"
    write_report(report, target, ProgressBar())
    print(target / "index.html")
    return 0


def create_report(store: ResultStore, is_short: bool = False) -> ExperimentReport:
    """Return the report of all finished runs; tables and figures that cannot be computed are listed in `left_out`.

    Args:
        store: The results.
        is_short: Whether the standard tables and figures of every experiment are left out.

    Raises:
        ConfigError: There are no finished runs, or the results are damaged.
    """
    frame = store.load_frame()
    if not len(frame):
        raise ConfigError(f"{store.folder}: expected finished runs, got none")
    spec = parse_report_content(store.metadata_value("specification"), f"{store.metadata_value('name')}.yaml")
    left_out = [*spec.omission_messages]
    with _without_warnings():
        verdicts = _compute_items_without_errors(
            spec.claims, lambda claim: f"claim '{claim.text}'", lambda c: check_claim(c, frame), left_out
        )
        tables = _compute_items_without_errors(
            [*enumerate(spec.tables, 1)],
            lambda item: f"table {item[0]} '{item[1].title}'" if item[1].title else f"table {item[0]}",
            lambda item: create_specified_table(*item, frame, AGENT_NAMES),
            left_out,
        )
        charts = _compute_items_without_errors(
            spec.figures, _figure_name, lambda figure: chart_of_figure(figure, frame, AGENT_NAMES), left_out
        )
        more, drawn = ([], []) if is_short else _standard_tables_and_charts(frame, spec.cutoff, left_out)
        problems = len(frame.rows_by_group([*PROBLEM_COLUMNS]))
    done, total = store.progress_counts()
    size = ", in its small size" if store.metadata_value("size") == "small" else ""
    summary = f"{done:,} of {total:,} runs on {problems:,} problems{size}"
    texts = (_specification_file(store), spec.title or spec.name, spec.paper, spec.note, summary)
    all_charts = charts_with_unique_names([*charts, *drawn])
    return ExperimentReport(*texts, verdicts, tables, more, all_charts, store.failed_runs(), left_out)


def _figure_name(figure: FigureSpec | ChartData) -> str:
    return f"figure '{figure.name}'"


def _standard_tables_and_charts(
    frame: ResultFrame, cutoff: int, left_out: list[str]
) -> tuple[list[ReportTable], list[ChartData]]:
    """Return the standard tables and figures of every experiment."""
    last = frame.filter_rows({"last_trial": 1})
    makers: dict[str, Callable[[], ReportTable | None]] = {
        "table of all settings": lambda: settings_table(last, AGENT_NAMES),
        "table of the cut-off": lambda: disqualified_settings_table(last, cutoff, AGENT_NAMES),
        "table of comparisons": lambda: comparison_table(last, AGENT_NAMES),
    }
    tables = _compute_items_without_errors([*makers], str, lambda name: makers[name](), left_out)
    charts = _compute_items_without_errors(
        ["usual figures"], str, lambda _: standard_charts(last, AGENT_NAMES), left_out
    )
    return [table for table in tables if table is not None and table.rows], [*chain.from_iterable(charts)]


def _compute_items_without_errors(
    items: Sequence[_S], named: Callable[[_S], str], make: Callable[[_S], _T], left_out: list[str]
) -> list[_T]:
    """Return the results of `make` for all items; items for which `make` fails are left out.

    Args:
        items: The arguments of `make`.
        named: Returns the name of an item for messages.
        make: Computes the result of an item.
        left_out: Receives a message for each item that fails.
    """
    computed = []
    for item in items:
        try:
            computed.append(make(item))
        except Exception as error:  # one failing part must not prevent the report of runs that took hours
            reason = " ".join(str(error).split()) or "no reason given"
            left_out.append(f"{named(item)} cannot be computed: {type(error).__name__}: {reason}")
    return computed


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress warnings of libraries about means of no values and missing letters, because the report shows both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def charts_with_unique_names(charts: Sequence[ChartData]) -> list[ChartData]:
    """Return the charts with unique file names; of charts with the same name, only the first keeps that name."""
    used_names: set[str] = set()
    renamed = []
    for chart in charts:
        candidates = chain([chart.name, f"usual-{chart.name}"], (f"usual-{chart.name}-{n}" for n in count(2)))
        name = next(name for name in candidates if file_name_key(name) not in used_names)
        used_names.add(file_name_key(name))
        renamed.append(replace(chart, name=name))
    return renamed


def _specification_file(store: ResultStore) -> str:
    """Return the specification as an argument of commands: its path if the program contains it, else its file name."""
    path = Path(store.metadata_value("folder"), f"{store.metadata_value('name')}.yaml")
    if path.is_relative_to(ASSETS_FOLDER):
        return path.relative_to(PROGRAM_FOLDER).as_posix()
    shipped = ASSETS_FOLDER / "experiments" / path.name  # another checkout of the program may have made the results
    if shipped.is_file() and shipped.read_text(encoding="utf-8") == store.metadata_value("specification"):
        return shipped.relative_to(PROGRAM_FOLDER).as_posix()
    return path.name


def write_report(report: ExperimentReport, target: Path, progress: ProgressBar) -> None:
    """Write all files of a report; print verdicts and left-out parts to standard error."""
    for folder in (target, target / "tables", target / "figures"):
        create_folder(folder)
    for table in (*report.tables, *report.standard_tables):
        write_file_atomically(target / "tables" / f"{table.name}.csv", table_as_csv(table).encode())
        write_file_atomically(target / "tables" / f"{table.name}.tex", table_as_latex(table).encode())
    report = _write_figures(report, target / "figures", progress)
    write_file_atomically(target / "index.html", report_page(report, target / "figures").encode())
    progress.clear_bar()
    for verdict in report.verdicts:
        print(f"{verdict.label}: {verdict.claim.text} ({verdict.measured_text})", file=sys.stderr)
    _print_left_out_parts(report)


def _write_figures(report: ExperimentReport, folder: Path, progress: ProgressBar) -> ExperimentReport:
    """Write the files of all figures; return the report without the figures that could not be drawn."""
    left_out = [*report.left_out_parts]

    def saved(item: tuple[int, ChartData]) -> ChartData:
        number, chart = item
        progress.update_bar(f"figure {chart.name}", number / len(report.charts))
        for _ in save_chart(chart, folder):
            pass
        return chart

    with _without_warnings():
        charts = _compute_items_without_errors(
            [*enumerate(report.charts)], lambda item: _figure_name(item[1]), saved, left_out
        )
    return replace(report, charts=charts, left_out_parts=left_out)


def _print_left_out_parts(report: ExperimentReport) -> None:
    """Print the left-out parts of a report to standard error."""
    for text in report.left_out_parts[:_MAX_LINES]:
        print(escape_unprintable(f"left out: {text}"), file=sys.stderr)
    if len(report.left_out_parts) > _MAX_LINES:
        print(f"and {len(report.left_out_parts) - _MAX_LINES:,} more, which the report lists", file=sys.stderr)
