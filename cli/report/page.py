"""Conversion of a report to a self-contained HTML page, and to a Markdown section for docs/experiments.md."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.claims import ClaimVerdict
from experiments.report_charts import ChartData
from experiments.report_tables import claims_table
from experiments.table_formats import (
    ReportTable,
    escape_markdown,
    escape_markdown_lines,
    table_as_html,
    table_as_markdown,
    text_as_html,
)

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
class ExperimentReport:
    """Report of an experiment."""

    spec_argument: str  # specification as an argument of the command `experiment`
    title: str
    paper: str  # reference to the paper that the experiment repeats
    note: str  # introductory text
    summary: str  # number of runs and problems as text
    verdicts: Sequence[ClaimVerdict]  # each claim of the specification, and whether it holds
    tables: Sequence[ReportTable]  # tables that the specification asks for
    standard_tables: Sequence[ReportTable]  # standard tables of every experiment
    charts: Sequence[ChartData]
    failures: Sequence[tuple[int, str]]  # row and reason of each failed run
    left_out_parts: Sequence[str] = ()  # messages about parts that could not be computed or drawn


def report_page(report: ExperimentReport, figures: Path) -> str:
    """Return a report as an HTML page.

    Args:
        report: The report.
        figures: The folder with the SVG files of its charts, which are embedded in the page.
    """
    parts = [f"<h1>{html.escape(report.title)}</h1>", f'<p class="quiet">{html.escape(report.summary)}</p>']
    if report.paper:
        parts.append(f'<p class="quiet">{html.escape(report.paper)}</p>')
    parts += [f"<p>{text_as_html(text)}</p>" for text in report.note.split("\n\n") if text]
    if report.verdicts:
        parts += ["<h2>Claims</h2>", _claims_html(report.verdicts)]
    parts += [_table_html(table) for table in report.tables]
    parts += [_figure_html(chart, figures) for chart in report.charts]
    parts += [_table_html(table) for table in report.standard_tables]
    if report.left_out_parts:
        parts += ["<h2>Left out</h2>", _list_html([*map(html.escape, report.left_out_parts)])]
    if report.failures:
        parts += ["<h2>Runs that failed</h2>", _failures_html(report.failures)]
    head = f"<title>{html.escape(report.title)}</title><style>{_STYLE}</style>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{head}</head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _claims_html(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return the HTML table of claims; the CSS class of a row shows whether the claim holds."""
    text = table_as_html(claims_table(verdicts))
    head, *rows = text.split("<tr><td")
    css_classes = {True: "holds", False: "fails", None: ""}
    marked = [f'<tr class="{css_classes[v.holds]}"><td{row}' for v, row in zip(verdicts, rows, strict=True)]
    return head + "".join(marked)


def _table_html(table: ReportTable) -> str:
    note = f'<p class="quiet">{html.escape(table.note)}</p>' if table.note else ""
    return f'<h2>{html.escape(table.title)}</h2>\n{note}<div class="wide">{table_as_html(table)}</div>'


def _figure_html(chart: ChartData, folder: Path) -> str:
    data = base64.b64encode((folder / f"{chart.name}.svg").read_bytes()).decode()
    caption = ". ".join(text for text in (chart.title, chart.note) if text)
    image = f'<img alt="{html.escape(caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _failures_html(failures: Sequence[tuple[int, str]]) -> str:
    items = [f"row {row:,}: {html.escape(text)}" for row, text in failures[:100]]
    return _list_html(items + ([f"and {len(failures) - 100:,} more"] if len(failures) > 100 else []))


def _list_html(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def markdown_heading(title: str) -> str:
    """Return a title as one line of escaped Markdown."""
    return escape_markdown_lines(" ".join(title.split()))


def report_markdown_section(report: ExperimentReport) -> str:
    """Return the section of docs/experiments.md about an experiment: its claims and the tables of its specification."""
    texts = (
        f"## {markdown_heading(report.title)}",
        escape_markdown_lines(report.paper),
        escape_markdown_lines(report.note),
    )
    parts = [f"{text}\n" if text else "" for text in texts]
    parts += [f"`python main.py experiment {report.spec_argument}`: {report.summary}.\n"]
    if report.verdicts:
        parts.append(table_as_markdown(claims_table(report.verdicts)))
    for table in report.tables:
        note = f" {escape_markdown(table.note)}" if table.note else ""
        parts += [f"**{markdown_heading(table.title)}.**{note}\n", table_as_markdown(table)]
    if report.left_out_parts:
        parts += ["**Left out.**\n", "".join(f"- {markdown_heading(text)}\n" for text in report.left_out_parts)]
    return "\n".join(part for part in parts if part)
