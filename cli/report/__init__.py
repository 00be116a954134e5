"""`report`: what came out of an experiment, as a page, tables and figures."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from agents.registry import BY_KEY
from cli.arguments import Arguments
from cli.progress import Progress
from cli.report.figures import save
from cli.report.page import Report, page, section
from sim.experiments.charts import Chart, chart_of, usual
from sim.experiments.claims import check
from sim.experiments.frame import PROBLEM
from sim.experiments.spec import presentation_of
from sim.experiments.store import Store, open_for_reading
from sim.experiments.summary import comparison_table, cutoff_table, grouping_table, settings_table
from sim.experiments.tables import Table, as_csv, latex
from sim.files.disk import make_folder, write_atomically
from sim.params import ConfigError
from sim.program import ASSETS, NAME, ROOT

NAMES = {key: spec.name for key, spec in BY_KEY.items()}


def main(argv: Sequence[str]) -> int:
    parser = Arguments("report", "Tables, figures and claims of an experiment, as one HTML page and as files.")
    parser.add_argument("folder", metavar="FOLDER", help=f"a folder of `{NAME} experiment`")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to write them (default: FOLDER/report)")
    parser.add_argument("--markdown", action="store_true", help="print a section for docs/experiments.md instead")
    given = parser.parse_args(argv)
    folder = Path(given.folder)
    with open_for_reading(folder) as store:
        report = report_of(store, is_short=given.markdown)
    if given.markdown:
        print(section(report))
        return 0
    target = Path(given.output) if given.output else folder / "report"
    write(report, target, Progress())
    print(target / "index.html")
    return 0


def report_of(store: Store, is_short: bool = False) -> Report:
    """Everything there is to say of the finished runs."""
    frame = store.frame()
    if not len(frame):
        raise ConfigError(f"{store.folder}: expected finished runs, got none")
    spec = presentation_of(store.meta("specification"), f"{store.meta('name')}.yaml")
    done, whole = store.count()
    size = ", in its small size" if store.meta("size") == "small" else ""
    tables = [grouping_table(number, grouping, frame, NAMES) for number, grouping in enumerate(spec.tables, 1)]
    verdicts = [check(claim, frame) for claim in spec.claims]
    charts = [chart_of(figure, frame, NAMES) for figure in spec.figures]
    more: list[Table | None] = []
    if not is_short:
        last = frame.where({"last_trial": 1})
        more = [settings_table(last, NAMES), cutoff_table(last, spec.cutoff, NAMES), comparison_table(last, NAMES)]
        charts += _apart(usual(last, NAMES), {chart.name.casefold() for chart in charts})
    problems = len(frame.group_rows([*PROBLEM]))
    summary = f"{done:,} of {whole:,} runs on {problems:,} problems{size}"
    usual_tables = [table for table in more if table is not None and table.rows]
    words = (_file_of(store), spec.title or spec.name, spec.paper, spec.note, summary)
    return Report(*words, verdicts, tables, usual_tables, charts, store.failures())


def _apart(charts: Sequence[Chart], taken: Collection[str]) -> list[Chart]:
    """With other names than the figures of the specification, whose files they would be."""
    return [replace(chart, name=f"usual-{chart.name}") if chart.name in taken else chart for chart in charts]


def _file_of(store: Store) -> str:
    """Of a specification that ships with the program its place there, of one's own its name."""
    path = Path(store.meta("folder"), f"{store.meta('name')}.yaml")
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ASSETS) else path.name


def write(report: Report, target: Path, progress: Progress) -> None:
    """All files of a report."""
    for folder in (target, target / "tables", target / "figures"):
        make_folder(folder)
    for table in (*report.tables, *report.usual):
        write_atomically(target / "tables" / f"{table.name}.csv", as_csv(table).encode())
        write_atomically(target / "tables" / f"{table.name}.tex", latex(table).encode())
    for number, chart in enumerate(report.charts):
        progress.show(f"figure {chart.name}", number / len(report.charts))
        for _ in save(chart, target / "figures"):
            pass
    write_atomically(target / "index.html", page(report, target / "figures").encode())
    progress.clear()
    for verdict in report.verdicts:
        print(f"{verdict.word}: {verdict.claim.text} ({verdict.measured})", file=sys.stderr)
