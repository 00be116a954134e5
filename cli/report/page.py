"""Conversion of a report to a self-contained HTML page, and to a Markdown section for docs/experiments.md."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.experiments.charts import Chart
from sim.experiments.claims import Verdict
from sim.experiments.summary import claims_table
from sim.experiments.tables import Table, as_html, escaped, escaped_html, escaped_lines, markdown

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 1100px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; }
.quiet, figcaption { color: #555; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: .5em 0 1.5em; }
th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #e2e2e2; vertical-align: top; }
th { border-bottom: 1px solid #888; font-weight: 600; } .text { text-align: left; }
tr.holds td:nth-child(2) { color: #00664b; } tr.fails td:nth-child(2) { color: #a33c00; font-weight: 600; }
figure { margin: 1em 0 2em; } figure img { max-width: 100%; border: 1px solid #eee; }
.wide { overflow-x: auto; }
@media print { body { max-width: none; } figure, table { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Report:
    """Report of an experiment."""

    file: str  # specification as an argument of the command `experiment`
    title: str
    paper: str  # reference to the paper that the experiment repeats
    note: str  # introductory text
    summary: str  # number of runs and problems as text
    verdicts: Sequence[Verdict]  # each claim of the specification, and whether it holds
    tables: Sequence[Table]  # tables that the specification asks for
    usual: Sequence[Table]  # standard tables of every experiment
    charts: Sequence[Chart]
    failures: Sequence[tuple[int, str]]  # row and reason of each failed run
    left_out: Sequence[str] = ()  # messages about parts that could not be computed or drawn


def page(report: Report, figures: Path) -> str:
    """Return a report as an HTML page.

    Args:
        report: The report.
        figures: The folder with the SVG files of its charts, which are embedded in the page.
    """
    parts = [f"<h1>{html.escape(report.title)}</h1>", f'<p class="quiet">{html.escape(report.summary)}</p>']
    if report.paper:
        parts.append(f'<p class="quiet">{html.escape(report.paper)}</p>')
    parts += [f"<p>{escaped_html(text)}</p>" for text in report.note.split("\n\n") if text]
    if report.verdicts:
        parts += ["<h2>Claims</h2>", _claims_html(report.verdicts)]
    parts += [_table(table) for table in report.tables]
    parts += [_figure_html(chart, figures) for chart in report.charts]
    parts += [_table(table) for table in report.usual]
    if report.left_out:
        parts += ["<h2>Left out</h2>", _list([*map(html.escape, report.left_out)])]
    if report.failures:
        parts += ["<h2>Runs that failed</h2>", _failures(report.failures)]
    head = f"<title>{html.escape(report.title)}</title><style>{_STYLE}</style>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{head}</head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _claims_html(verdicts: Sequence[Verdict]) -> str:
    """Return the HTML table of claims; the CSS class of a row shows whether the claim holds."""
    text = as_html(claims_table(verdicts))
    head, *rows = text.split("<tr><td")
    kinds = {True: "holds", False: "fails", None: ""}
    marked = [f'<tr class="{kinds[v.holds]}"><td{row}' for v, row in zip(verdicts, rows, strict=True)]
    return head + "".join(marked)


def _table(table: Table) -> str:
    note = f'<p class="quiet">{html.escape(table.note)}</p>' if table.note else ""
    return f'<h2>{html.escape(table.title)}</h2>\n{note}<div class="wide">{as_html(table)}</div>'


def _figure_html(chart: Chart, folder: Path) -> str:
    data = base64.b64encode((folder / f"{chart.name}.svg").read_bytes()).decode()
    words = ". ".join(text for text in (chart.title, chart.note) if text)
    image = f'<img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{html.escape(words)}</figcaption></figure>"


def _failures(failures: Sequence[tuple[int, str]]) -> str:
    items = [f"row {row:,}: {html.escape(text)}" for row, text in failures[:100]]
    return _list(items + ([f"and {len(failures) - 100:,} more"] if len(failures) > 100 else []))


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def heading(title: str) -> str:
    """Return a title as one line of escaped Markdown."""
    return escaped_lines(" ".join(title.split()))


def section(report: Report) -> str:
    """Return the section of docs/experiments.md about an experiment: its claims and the tables of its specification."""
    texts = f"## {heading(report.title)}", escaped_lines(report.paper), escaped_lines(report.note)
    parts = [f"{text}\n" if text else "" for text in texts]
    parts += [f"`python main.py experiment {report.file}`: {report.summary}.\n"]
    if report.verdicts:
        parts.append(markdown(claims_table(report.verdicts)))
    for table in report.tables:
        note = f" {escaped(table.note)}" if table.note else ""
        parts += [f"**{heading(table.title)}.**{note}\n", markdown(table)]
    if report.left_out:
        parts += ["**Left out.**\n", "".join(f"- {heading(text)}\n" for text in report.left_out)]
    return "\n".join(part for part in parts if part)
