"""Reports of odd specifications and of damaged results: refused before the run, or made without the odd part."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import main
from cli import report as report_command
from cli.report import charts_with_unique_names, create_report
from experiments import report_figures as figures
from experiments.report_charts import ChartData, ChartSeries
from experiments.result_frame import ResultFrame
from experiments.specification import parse_report_content
from experiments.store import DATABASE_FILE, ResultStore, open_store_for_reading
from experiments.table_formats import escape_markdown_lines, text_as_html
from files.yaml import write_yaml
from sim.params import ConfigError

from .experiments import HEAD, TINY, run_all, spec_of

SMALL = (
    HEAD
    + """
problems: {generate: {kind: rooms, width: 24, height: 24, seed: [1, 2]}, random: 3, seed: 5}
agents: ["tb-wa:weight=1", {kind: tb-wa, weight: 3, reopen: [true, false]}, {kind: tba, switch: [longer, any]}, lrta]
budgets: [16, 32]
trials: 2
ticks: 30
"""
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of a small experiment."""
    folder = tmp_path_factory.mktemp("made")
    run_all(SMALL, folder)
    return folder


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the results that a test may damage."""
    folder = tmp_path / "results"
    folder.mkdir()
    with (
        closing(sqlite3.connect(made / DATABASE_FILE)) as source,
        closing(sqlite3.connect(folder / DATABASE_FILE)) as target,
    ):
        source.backup(target)
    return folder


@pytest.fixture(autouse=True)
def svg_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "FORMATS", ("svg",))


def execute(results: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(results / DATABASE_FILE)) as db, db:
        db.execute(statement, values)


# --- specifications -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more, problem",
    [
        ("claims: [{claim: x, value: cost, rises: agent}]", "claims[0].rises: expected an attribute that is a number"),
        ("claims: [{claim: x, value: cost, falls: switch}]", "claims[0].falls: expected an attribute that is a number"),
        ("claims: [{claim: x, value: cost, power: reopen, factor: [0, 1]}]", "claims[0].power: expected an attribute"),
        (
            "claims: [{claim: x, value: cost, crossing: [{budget: 1}, {budget: 16}], along: map, between: [0, 1]}]",
            "claims[0].along: expected an attribute that is a number",
        ),
        ("claims: [{claim: x, value: cost, between: [0, 1], where: {budget: [[1, 2]]}}]", "budget[0]: expected text"),
        ("claims: [{claim: x, value: cost, between: [0, 1], where: {budget: {a: 1}}}]", "where.budget: expected text"),
        ("claims: [{claim: x, value: cost, between: [0, 1], where: {budget: []}}]", "expected at least one value"),
        ("claims: [{claim: x, value: cost, between: [0, 1], where: {budget: '16'}}]", "budget: expected a number"),
        ("claims: [{claim: x, value: cost, between: [0, 1], where: {agent: 3}}]", "where.agent: expected text"),
        ("claims: [{claim: x, value: cost, less: [{budget: [[1]]}, {budget: 16}]}]", "[0].budget[0]: expected text"),
        (f"claims: [{{claim: x, value: cost, between: [0, 1{'0' * 400}]}}]", "between[1]: expected a number"),
        ("claims: [{claim: x, value: cost, between: [0, 1.0e+300]}]", "between[1]: expected a number from -1e+18"),
        ("claims: [{}]", "claims[0]: expected a claim with one of"),
        (f"claims: [{{claim: x, value: cost, printed: {{1: 1{'0' * 400}}}, over: budget}}]", ".1: expected a number"),
        ("claims: [{claim: x, value: cost, falls: budget, slack: -1}]", "slack: expected a number of at least 0"),
        ("tables: [{rows: budget, values: []}]", "tables[0].values: expected at least one measure"),
        ("tables: [{limit: most max_expansions, values: []}]", "tables[0].values: expected at least one measure"),
        ("tables: [{limit: most cost, against: {agent: lrta}, values: cost}]", "has no effect together with limit"),
        ("tables: [{rows: budget, values: cost, printed: {lrta: {1: 1.0e+300}}}]", "expected a number from -1e+18"),
        ("tables: [{rows: budget, values: cost, where: {agent: [[tba]]}}]", "where.agent[0]: expected text"),
        ("figures: [{name: f, x: cost, y: cost, zoom: {x: [0, 1.0e+300]}}]", "x[1]: expected a number from -1e+18"),
        ("figures: [{name: f, kind: lines, x: [budget, rate], y: cost}]", "figures[0].x: expected"),
        ("figures: [{name: f, kind: lines, x: switch, y: cost}]", "x: expected an attribute that is a number"),
        ("figures: [{name: f, x: cost, y: cost, of: [{budget: 1}, {budget: 16}]}]", "of: is allowed only with lines"),
        ("figures: [{name: f, kind: lines, x: budget, y: cost, cutoff: 3}]", "cutoff: is allowed only with scatter"),
        ("figures: [{name: f, x: cost, y: cost, printed: {a: [[0, 1.0e+300]]}}]", "expected a list of points"),
        ("figures: [{name: f, kind: map, generate: {kind: [rooms]}}]", "generate.kind: no generator"),
        ("figures: [{name: É, x: cost, y: cost}, {name: é, x: cost, y: cost}]", "its files would be overwritten"),
    ],
)  # fmt: skip
def test_specification_check_covers_report_content(more: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        spec_of(SMALL + more + "\n")
    assert problem in caught.value.problems[0] and caught.value.problems[0].startswith("x.yaml:")


SCALARS = st.sampled_from(
    [
        *("tb-wa", "tba", "lrta", "longer", "", "budget", "weight", "agent", "map", "cost", "params", "last_trial"),
        *(0, 1, 16, 3.0, -1, 0.5, 10**18, -(10**18), 10**400, True, False, None, "a$_{", "\u202e", "表"),
    ]
)
MEASURES = st.sampled_from(
    [
        *("cost", "suboptimality", "expansions/moves", "most max_expansions", "sd cost", "h_changes", "bound_share"),
        *("planning_ms/moves", "median expansions_per_move", "back_move_share", "no_path_tick/expansions", "optimal"),
        *("build_s", "disqualified", "most a/b", "error no_path_tick", "listed", "entries/states", "seed", "trial"),
    ]
)
ATTRIBUTES = st.sampled_from(
    [
        *("agent", "budget", "weight", "map", "part", "label", "reopen", "switch", "outcome", "trial", "seed", "rate"),
        *("params", "states", "optimal", "digest", "depth", "row", "start_x", "arrived", "last_trial", "nowhere"),
    ]
)
SOME_ATTRIBUTES = st.one_of(ATTRIBUTES, st.lists(ATTRIBUTES, max_size=3))
WHERE = st.dictionaries(ATTRIBUTES, st.one_of(SCALARS, st.lists(SCALARS, max_size=2)), max_size=2)
SIDES = st.lists(WHERE, min_size=2, max_size=2)
NUMBERS = st.sampled_from([0, 1, 16, -3, 0.25, 1e-9, 1e17, 1e18, 1e300, 3.83, float("inf"), float("nan"), 10**400])
RANGE = st.lists(NUMBERS, min_size=2, max_size=2)
PRINTED = st.dictionaries(st.sampled_from(["1", "16", "tba", "TBA*", "cost"]), NUMBERS, max_size=2)
TEXT = st.sampled_from(["x", "a $ b_{", "# *b* | <i> `c` [d](e)", "表 \U0001f600", "", "a" * 200, "_"])
HOSTILE = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2))

KEYS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "claims": {
        **{"claim": TEXT, "value": MEASURES, "over": SOME_ATTRIBUTES, "where": WHERE, "within": NUMBERS},
        **{"slack": NUMBERS, "from": NUMBERS, "exponent": RANGE, "factor": RANGE, "why": TEXT, "expect": st.booleans()},
    },
    "tables": {
        **{"title": TEXT, "where": WHERE, "rows": SOME_ATTRIBUTES, "columns": SOME_ATTRIBUTES, "of": SIDES},
        **{"values": st.one_of(MEASURES, st.lists(MEASURES, max_size=3)), "limit": MEASURES, "against": WHERE},
        **{"printed": st.dictionaries(TEXT, PRINTED, max_size=1), "note": TEXT},
        "printed_rows": st.dictionaries(TEXT, st.dictionaries(MEASURES, NUMBERS, max_size=1), max_size=1),
    },
    "figures": {
        **{
            "name": st.sampled_from(["a", "pareto", "usual-pareto", "growth", "\U0001d49c" * 60, "../a"]),
            "title": TEXT,
        },
        **{"kind": st.sampled_from(["scatter", "lines", "histogram", "map"]), "where": WHERE, "x": MEASURES},
        **{"y": MEASURES, "by": SOME_ATTRIBUTES, "of": SIDES, "levels": WHERE, "cutoff": NUMBERS, "note": TEXT},
        **{"log": st.sampled_from(["x", "y", "xy", "none"]), "zoom": st.dictionaries(st.sampled_from("xy"), RANGE)},
        "printed": st.dictionaries(TEXT, st.lists(RANGE, max_size=3), max_size=2),
        "generate": st.fixed_dictionaries(
            {"kind": st.sampled_from(["corner", "rooms", "nope"])}, optional={"size": st.sampled_from([5, 20, -1])}
        ),
    },
}
KINDS_OF_CLAIMS: dict[str, st.SearchStrategy[Any]] = {
    **{"printed": PRINTED, "less": SIDES, "falls": ATTRIBUTES, "rises": ATTRIBUTES, "power": ATTRIBUTES},
    **{"ratio": SIDES, "crossing": SIDES, "between": RANGE},
}
NEEDED = {"claims": ("claim", "value"), "tables": ("rows", "values"), "figures": ("name", "x", "y")}


@st.composite
def draw_report_part(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a claim, a table or a figure in which most keys and values are plausible."""
    kind = draw(st.sampled_from(sorted(KEYS)))
    keys = KEYS[kind]
    names = [*NEEDED[kind], *draw(st.lists(st.sampled_from(sorted(keys)), max_size=3))]
    found = {name: draw(keys[name]) for name in dict.fromkeys(names)}
    if kind == "claims":
        what = draw(st.sampled_from(sorted(KINDS_OF_CLAIMS)))
        found[what] = draw(KINDS_OF_CLAIMS[what])
        if what in ("ratio", "crossing"):
            found["between"] = draw(RANGE)
        if what == "crossing":
            found["along"] = draw(ATTRIBUTES)
        if what == "power":
            found["exponent"] = draw(RANGE)
    if kind == "figures" and found.get("kind") == "lines":
        found["x"] = draw(ATTRIBUTES)
    if draw(st.integers(0, 5)) == 0:
        found[draw(st.sampled_from(sorted(found)))] = draw(HOSTILE)
    return kind, found


def open_with_specification(results: Path, text: str) -> ResultStore:
    """Return an open store whose specification says something else of its report."""
    execute(results, "UPDATE meta SET value = ? WHERE name = 'specification'", text)
    return open_store_for_reading(results)


@pytest.fixture(scope="module")
def scratch(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scratch")
    with (
        closing(sqlite3.connect(made / DATABASE_FILE)) as source,
        closing(sqlite3.connect(folder / DATABASE_FILE)) as target,
    ):
        source.backup(target)
    return folder


def specification_text(kind: str, part: Any) -> str:
    return SMALL + write_yaml({kind: [part]})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw_report_part())
@example(("claims", {"claim": "x", "value": "cost", "rises": "agent"}))
@example(("figures", {"name": "f", "x": "cost", "y": "cost", "zoom": {"x": [0, 1e300]}}))
def test_specification_is_refused_or_fully_reported(scratch: Path, part: tuple[str, dict[str, Any]]) -> None:
    text = specification_text(*part)
    try:
        spec_of(text)
    except ConfigError:
        return
    with open_with_specification(scratch, text) as store:
        report = create_report(store, is_short=True)
    assert not report.left_out_parts
    report_command.write_report(report, scratch / "report", report_command.ProgressBar())
    assert "Left out" not in (scratch / "report" / "index.html").read_text()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(KEYS)), HOSTILE | draw_report_part().map(lambda part: part[1]))
def test_report_of_any_specification_raises_no_traceback(scratch: Path, kind: str, part: Any) -> None:
    """A specification that an older version accepted, and this one refuses."""
    try:
        with open_with_specification(scratch, specification_text(kind, part)) as store:
            report = create_report(store, is_short=True)
    except ConfigError:  # text that is no YAML
        return
    shown = len(report.verdicts) + len(report.tables) + len(report.charts)
    assert shown or report.left_out_parts


def test_report_names_omitted_parts_in_html_and_stderr(
    results: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: ResultFrame, name: str) -> Any:
        if name == "revisits":
            raise ZeroDivisionError("nobody\nthought of it")
        return original(self, name)

    original = ResultFrame.numeric_column
    monkeypatch.setattr(ResultFrame, "numeric_column", broken)
    more = """claims:
  - {claim: a <text> attribute, value: cost, rises: agent}
  - {claim: broken, value: revisits, falls: budget}
  - {claim: sound, value: cost, between: [0, 1000000]}
tables: [{rows: budget, values: revisits, title: odd}, {rows: budget, values: cost, title: sound}]
figures: [{name: odd, x: revisits, y: cost}, {name: sound, x: moves, y: cost}]
"""
    with open_with_specification(results, SMALL + more):
        pass
    assert main.main(["report", str(results)]) == 0
    err = capfd.readouterr().err
    page = (results / "report" / "index.html").read_text()
    left_out = [line for line in err.splitlines() if line.startswith("left out: ")]
    assert len(left_out) == 4 and err.count("Traceback") == 0
    for words in ("claim 'broken' cannot be computed: ZeroDivisionError: nobody thought of it", "table 1 'odd'"):
        assert any(words in line for line in left_out) and words.replace("'", "&#x27;") in page
    assert any("figure 'odd'" in line for line in left_out) and "<h2>Left out</h2>" in page
    assert "holds: sound" in err and (results / "report" / "figures" / "sound.svg").is_file()
    assert main.main(["report", str(results), "--markdown"]) == 0
    out, err = capfd.readouterr()
    assert "Left out" in out and "claim 'broken' cannot be computed" in err


def test_report_omits_figure_that_cannot_be_drawn(
    results: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(chart: ChartData) -> Any:
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr(figures, "draw_chart", odd)
    assert main.main(["report", str(results)]) == 0
    err = capfd.readouterr().err
    assert "left out: figure 'pareto' cannot be computed: OverflowError: cannot convert" in err
    assert "All settings" in (results / "report" / "index.html").read_text()


# --- names of files -------------------------------------------------------------------------------


def test_built_in_figure_names_do_not_clash_with_user_figures() -> None:
    names = ["Pareto", "usual-pareto", "growth", "pareto", "growth", "usual-pareto-2"]
    charts = charts_with_unique_names(
        [ChartData(name, "", "x", "y", (ChartSeries("a", ((1.0, 2.0),)),)) for name in names]
    )
    found = [chart.name for chart in charts]
    assert found[:3] == names[:3] and len({name.casefold() for name in found}) == len(found)


def test_user_figure_named_usual_pareto_keeps_its_files(results: Path) -> None:
    figure = "figures: [{name: pareto, x: moves, y: cost}, {name: usual-pareto, title: mine, x: moves, y: cost}]\n"
    with open_with_specification(results, SMALL + figure) as store:
        report = create_report(store)
    names = [chart.name for chart in report.charts]
    assert len(set(names)) == len(names) and names[:2] == ["pareto", "usual-pareto"]
    assert next(chart for chart in report.charts if chart.name == "usual-pareto").title == "mine"


# --- damaged results ------------------------------------------------------------------------------

DAMAGE = [
    ("UPDATE plan SET budget = NULL WHERE row = 3", "row 3: budget: expected a whole number, got nothing"),
    ("UPDATE plan SET budget = 'many' WHERE row = 3", "row 3: budget: expected a whole number, got 'many'"),
    ("UPDATE plan SET params = '[1]' WHERE row = 3", "params: expected parameters in JSON, got '[1]'"),
    ("UPDATE plan SET params = '{\"weight\": [1]}'", "params: expected parameters in JSON"),
    ("UPDATE plan SET agent = NULL", "row 0: agent: expected text, got nothing"),
    ("UPDATE plan SET map = x'ff00'", "row 0: map: expected text, got b'\\xff"),
    ("UPDATE results SET cost = 9e999", "cost: expected a number, got inf"),
    ("UPDATE results SET cost = -1e300", "cost: expected a number, got -1e+300"),
    ("UPDATE results SET moves = x''", "moves: expected a whole number, got b''"),
    ("UPDATE results SET expansions = NULL", "expansions: expected a whole number, got nothing"),
    ("UPDATE results SET outcome = 7.5e0 || x'80'", "cannot be read"),
    ("UPDATE meta SET value = '[[[' WHERE name = 'cutoff'", "cutoff: expected a whole number, got"),
]


@pytest.mark.parametrize("statement, problem", DAMAGE)
def test_damaged_rows_are_reported_in_one_line(
    statement: str, problem: str, results: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    execute(results, statement)
    assert main.main(["report", str(results)]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and problem in err and err.startswith(str(results / DATABASE_FILE)), err


def test_experiment_reports_damaged_parameters_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "small.yaml"
    spec.write_text(SMALL)
    words = ["experiment", str(spec), "-o", str(tmp_path / "out"), "--jobs", "1"]
    assert main.main(words) == 0
    execute(tmp_path / "out", "UPDATE plan SET params = 'no json'")
    capfd.readouterr()
    assert main.main(words) == 2
    assert (
        capfd.readouterr().err.splitlines()[-1].startswith("results.db: damaged or edited manually: params: expected")
    )


def test_partly_read_rows_can_be_closed_after_the_store(made: Path) -> None:
    with open_store_for_reading(made) as store:
        rows = store.iter_rows(["row"])
        next(rows)
    rows.close()  # raised "Cannot operate on a closed database"


CELLS = st.sampled_from([None, "", "x", -1, 0, 0.5, 1e17, 1e18, 1e300, -1e300, float("inf"), 2**62, b"", b"\xff", "[]"])


@pytest.fixture(scope="module")
def columns(made: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(made / DATABASE_FILE)) as db:
        tables = ("plan", "results", "meta")
        return {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in tables}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_report_of_damaged_cells_is_written_or_refused(
    made: Path, columns: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    with (
        closing(sqlite3.connect(made / DATABASE_FILE)) as source,
        closing(sqlite3.connect(folder / DATABASE_FILE)) as target,
    ):
        source.backup(target)
        for _ in range(data.draw(st.integers(1, 2))):
            table = data.draw(st.sampled_from(sorted(columns)))
            name = data.draw(st.sampled_from(columns[table]))
            rows = data.draw(st.sampled_from(["", "WHERE rowid % 7 = 0"] if table == "plan" else [""]))
            try:
                target.execute(f"UPDATE OR IGNORE {table} SET {name} = ? {rows}", [data.draw(CELLS)])
            except (sqlite3.Error, OverflowError):
                continue
            target.commit()
    try:
        with open_store_for_reading(folder) as store:
            report = create_report(store)
            assert report.left_out_parts == [] or report.tables == []
    except ConfigError as error:
        assert len(error.problems) < 45


def test_presentation_names_omitted_claims() -> None:
    text = TINY + "claims: [{claim: x, value: cots, falls: budget}, {claim: y, value: cost, falls: budget}]\n"
    spec = parse_report_content(text, "x.yaml")
    assert [claim.text for claim in spec.claims] == ["y"]
    assert spec.omission_messages == ("x.yaml:8: claims[0].value: no measure 'cots'; did you mean 'cost'?",)


def test_escaping_keeps_code_spans_and_escapes_other_text() -> None:
    text = "# run `a_b <c>` and *d* <e> `f"
    assert escape_markdown_lines(text) == r"\# run `a_b <c>` and \*d\* \<e\> \`f"
    assert text_as_html(text) == "# run <code>a_b &lt;c&gt;</code> and *d* &lt;e&gt; `f"
