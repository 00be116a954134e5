"""Tables of reports as data, and their conversion to Markdown, CSV, LaTeX and HTML."""

import html
import re
from dataclasses import dataclass

from sim.experiments.statistics import Interval
from sim.files.csv_text import csv_text

UNFINISHED = "\u2020"  # dagger that marks a number if some of the runs behind the number did not finish


@dataclass(frozen=True)
class Measured:
    """Number in a table cell, with the spread of the runs from which it was computed, and how many are unfinished."""

    value: int | float
    tails: tuple[float, float] | None = None  # median and maximum over the runs, if `value` is their mean
    unfinished: int = 0  # number of averaged runs that did not finish


Cell = str | int | float | Interval | Measured | None


@dataclass(frozen=True)
class Table:
    """Table of a report: title, headings, rows of cells, and a note."""

    name: str  # name of the table's files without extension
    title: str  # line of text above the table
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""  # explanation printed below the title

    @property
    def are_texts(self) -> list[bool]:
        """Return for each column whether it contains text, so that it is left-aligned."""
        return [any(isinstance(row[i], str) for row in self.rows) for i in range(len(self.headings))]


def shown(cell: Cell) -> str:
    """Return the displayed text of a table cell, with numbers rounded to about three significant digits."""
    if cell is None:
        return ""
    if isinstance(cell, Interval):
        return f"{number(cell.mean)} ({number(cell.low)} to {number(cell.high)})" if cell.count else ""
    if isinstance(cell, Measured):
        tails = f" ({', '.join(map(number, cell.tails))})" if cell.tails else ""
        return f"{shown(cell.value)}{UNFINISHED if cell.unfinished else ''}{tails}"
    if isinstance(cell, float):
        return number(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def number(value: float) -> str:
    if value != value:
        return ""
    if abs(value) >= 1000 or (value == int(value) and abs(value) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 0.1 else f"{value:.2f}"


_MARKDOWN_SIGNS = re.compile(r"[\\`*_\[\]<>|~$]|&(?=[a-zA-Z#])")
_BLOCK = re.compile(r"^(\s*)(\d*)([-+#=.)])", re.MULTILINE)  # signs that begin a Markdown list, heading or rule


def escaped(text: str) -> str:
    """Return a text with all Markdown characters escaped, for use within a line."""
    return _MARKDOWN_SIGNS.sub(r"\\\g<0>", text)


_CODE = re.compile(r"(`[^`\n]+`)")


def escaped_lines(text: str) -> str:
    """Return paragraphs as Markdown: text between backticks remains code, and all other Markdown signs are escaped.

    Signs at the beginning of a line, which would begin a list or a heading, are escaped, too.
    """
    parts = [part if index % 2 else escaped(part) for index, part in enumerate(_CODE.split(text))]
    return _BLOCK.sub(r"\1\2\\\3", "".join(parts))


def escaped_html(text: str) -> str:
    """Return a text as HTML: text between backticks becomes code, and all HTML signs are escaped."""
    return _CODE.sub(lambda found: f"<code>{found.group()[1:-1]}</code>", html.escape(text))


def markdown(table: Table) -> str:
    marks = ["---" if is_text else "--:" for is_text in table.are_texts]
    texts = [table.headings, *([shown(cell) for cell in row] for row in table.rows)]
    head, *rows = [[escaped(" ".join(cell.split())) for cell in line] for line in texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, marks, *rows))


def as_csv(table: Table) -> str:
    """Return a table as CSV, with numbers in full precision.

    A cell with several numbers (such as a mean with its bounds) is split into several columns.
    """
    rows = [[_parts(cell) for cell in row] for row in table.rows]
    ends = [list(dict.fromkeys(["", *(end for row in rows for end in row[i])])) for i in range(len(table.headings))]
    headings = [f"{name}{end}" for name, own in zip(table.headings, ends, strict=True) for end in own]
    return csv_text(headings, ([p.get(end) for p, own in zip(row, ends, strict=True) for end in own] for row in rows))


def _parts(cell: Cell) -> dict[str, str | int | float | None]:
    """Return the values of a cell by the suffix of their CSV heading: "" for the main value, " low" for a bound."""
    if isinstance(cell, Interval):
        return {"": cell.mean, " low": cell.low, " high": cell.high}
    if isinstance(cell, Measured):
        tails = dict(zip((" median", " maximum"), cell.tails or (), strict=False))
        return {"": cell.value, **tails, **({" unfinished": cell.unfinished} if cell.unfinished else {})}
    return {"": cell}


_LATEX_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"${sign}$" for sign in "<>|"},  # as plain text, LaTeX's default font shows other characters
    UNFINISHED: r"\dag{}",
    "[": "{[}",  # LaTeX would read a "[" at the beginning of a row as the argument of the preceding line break
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(sign, sign) for sign in text)


def latex(table: Table) -> str:
    """Return a table as LaTeX, with the rules of the package booktabs."""
    columns = "".join("l" if is_text else "r" for is_text in table.are_texts)
    head = " & ".join(_latex_text(name) for name in table.headings)
    body = "".join(" & ".join(_latex_text(shown(cell)) for cell in row) + " \\\\\n" for row in table.rows)
    # join the lines of the title, because a LaTeX comment ends with its line
    title = f"% {' '.join(table.title.split())}\n" if table.title else ""
    begin, end = f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n", "\\bottomrule\n\\end{tabular}\n"
    return f"{title}% \\usepackage{{booktabs}}\n{begin}{head} \\\\\n\\midrule\n{body}{end}"


def as_html(table: Table) -> str:
    kinds = [' class="text"' if is_text else "" for is_text in table.are_texts]
    head = "".join(f"<th{kind}>{html.escape(name)}</th>" for kind, name in zip(kinds, table.headings, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{k}>{html.escape(shown(c))}</td>" for k, c in zip(kinds, row, strict=True)) + "</tr>\n"
        for row in table.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
