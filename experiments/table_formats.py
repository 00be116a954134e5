"""Tables of reports as data, and their conversion to Markdown, CSV, LaTeX and HTML."""

import html
import re
from dataclasses import dataclass

from experiments.statistics import ConfidenceInterval
from files.csv_text import format_csv

UNFINISHED_MARK = "\u2020"  # dagger that marks a number if some of the runs behind the number did not finish


@dataclass(frozen=True)
class MeasuredCell:
    """Number in a table cell, with the spread of the runs from which it was computed, and how many are unfinished."""

    value: int | float
    median_and_maximum: tuple[float, float] | None = None  # median and maximum over the runs, if `value` is their mean
    unfinished_count: int = 0  # number of averaged runs that did not finish


TableCell = str | int | float | ConfidenceInterval | MeasuredCell | None


@dataclass(frozen=True)
class ReportTable:
    """Table of a report: title, headings, rows of cells, and a note."""

    name: str  # name of the table's files without extension
    title: str  # line of text above the table
    headings: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""  # explanation printed below the title

    @property
    def has_text_by_column(self) -> list[bool]:
        """Return for each column whether it contains text, so that it is left-aligned."""
        return [any(isinstance(row[i], str) for row in self.rows) for i in range(len(self.headings))]


def cell_text(cell: TableCell) -> str:
    """Return the displayed text of a table cell, with numbers rounded to about three significant digits."""
    if cell is None:
        return ""
    if isinstance(cell, ConfidenceInterval):
        return f"{number_text(cell.mean)} ({number_text(cell.low)} to {number_text(cell.high)})" if cell.count else ""
    if isinstance(cell, MeasuredCell):
        tails = f" ({', '.join(map(number_text, cell.median_and_maximum))})" if cell.median_and_maximum else ""
        return f"{cell_text(cell.value)}{UNFINISHED_MARK if cell.unfinished_count else ''}{tails}"
    if isinstance(cell, float):
        return number_text(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def number_text(value: float) -> str:
    if value != value:
        return ""
    if abs(value) >= 1000 or (value == int(value) and abs(value) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 0.1 else f"{value:.2f}"


_MARKDOWN_SIGNS = re.compile(r"[\\`*_\[\]<>|~$]|&(?=[a-zA-Z#])")
_MARKDOWN_BLOCK_SIGNS = re.compile(
    r"^(\s*)(\d*)([-+#=.)])", re.MULTILINE
)  # signs that begin a Markdown list, heading or rule


def escape_markdown(text: str) -> str:
    """Return a text with all Markdown characters escaped, for use within a line."""
    return _MARKDOWN_SIGNS.sub(r"\\\g<0>", text)


_CODE = re.compile(r"(`[^`\n]+`)")


def escape_markdown_lines(text: str) -> str:
    """Return paragraphs as Markdown: text between backticks remains code, and all other Markdown signs are escaped.

    Signs at the beginning of a line, which would begin a list or a heading, are escaped, too.
    """
    parts = [part if index % 2 else escape_markdown(part) for index, part in enumerate(_CODE.split(text))]
    return _MARKDOWN_BLOCK_SIGNS.sub(r"\1\2\\\3", "".join(parts))


def text_as_html(text: str) -> str:
    """Return a text as HTML: text between backticks becomes code, and all HTML signs are escaped."""
    return _CODE.sub(lambda found: f"<code>{found.group()[1:-1]}</code>", html.escape(text))


def table_as_markdown(table: ReportTable) -> str:
    marks = ["---" if is_text else "--:" for is_text in table.has_text_by_column]
    texts = [table.headings, *([cell_text(cell) for cell in row] for row in table.rows)]
    head, *rows = [[escape_markdown(" ".join(cell.split())) for cell in line] for line in texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, marks, *rows))


def table_as_csv(table: ReportTable) -> str:
    """Return a table as CSV, with numbers in full precision.

    A cell with several numbers (such as a mean with its bounds) is split into several columns.
    """
    rows = [[_csv_values_by_heading_suffix(cell) for cell in row] for row in table.rows]
    columns = range(len(table.headings))
    suffixes = [list(dict.fromkeys(["", *(suffix for row in rows for suffix in row[i])])) for i in columns]
    headings = [f"{name}{suffix}" for name, own in zip(table.headings, suffixes, strict=True) for suffix in own]
    return format_csv(
        headings,
        ([p.get(suffix) for p, own in zip(row, suffixes, strict=True) for suffix in own] for row in rows),
    )


def _csv_values_by_heading_suffix(cell: TableCell) -> dict[str, str | int | float | None]:
    """Return the values of a cell by the suffix of their CSV heading: "" for the main value, " low" for a bound."""
    if isinstance(cell, ConfidenceInterval):
        return {"": cell.mean, " low": cell.low, " high": cell.high}
    if isinstance(cell, MeasuredCell):
        tails = dict(zip((" median", " maximum"), cell.median_and_maximum or (), strict=False))
        return {"": cell.value, **tails, **({" unfinished": cell.unfinished_count} if cell.unfinished_count else {})}
    return {"": cell}


_LATEX_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"${sign}$" for sign in "<>|"},  # as plain text, LaTeX's default font shows other characters
    UNFINISHED_MARK: r"\dag{}",
    "[": "{[}",  # LaTeX would read a "[" at the beginning of a row as the argument of the preceding line break
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(sign, sign) for sign in text)


def table_as_latex(table: ReportTable) -> str:
    """Return a table as LaTeX, with the rules of the package booktabs."""
    columns = "".join("l" if is_text else "r" for is_text in table.has_text_by_column)
    head = " & ".join(_latex_text(name) for name in table.headings)
    body = "".join(" & ".join(_latex_text(cell_text(cell)) for cell in row) + " \\\\\n" for row in table.rows)
    # join the lines of the title, because a LaTeX comment ends with its line
    title = f"% {' '.join(table.title.split())}\n" if table.title else ""
    begin, end = f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n", "\\bottomrule\n\\end{tabular}\n"
    return f"{title}% \\usepackage{{booktabs}}\n{begin}{head} \\\\\n\\midrule\n{body}{end}"


def table_as_html(table: ReportTable) -> str:
    attributes = [' class="text"' if is_text else "" for is_text in table.has_text_by_column]
    head = "".join(
        f"<th{attribute}>{html.escape(name)}</th>" for attribute, name in zip(attributes, table.headings, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{k}>{html.escape(cell_text(c))}</td>" for k, c in zip(attributes, row, strict=True))
        + "</tr>\n"
        for row in table.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
