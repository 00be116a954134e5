"""Statistics, claims, tables and figures of a report."""

import base64
import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import main
from cli.report import _specification_file, create_report
from cli.report.page import report_markdown_section
from experiments import report_figures as figures
from experiments.claims import check_claim, read_claims
from experiments.columns import MEASURED_COLUMNS, NUMERIC_COLUMNS, PLANNED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.report_charts import (
    ChartData,
    ChartSeries,
    chart_of_figure,
    clip_chart,
    expansions_growth_chart,
    measure_label,
    pareto_chart,
)
from experiments.report_layout import read_figures, read_tables
from experiments.report_tables import claims_table, comparison_table, create_specified_table, settings_table
from experiments.result_frame import (
    MAX_CELL,
    SUMMARY_FUNCTIONS,
    DamagedResultsError,
    ResultFrame,
    ResultMeasure,
    create_result_frame,
    parse_measure,
    setting_names,
)
from experiments.statistics import (
    SettingScore,
    bootstrap_mean,
    compare_paired_values,
    equally_filled_bin_edges,
    fit_power_law,
    pareto_indices,
    pareto_settings,
    wilcoxon_p_value,
)
from experiments.store import open_store_for_reading, open_store_for_writing
from experiments.table_formats import (
    MeasuredCell,
    ReportTable,
    TableCell,
    table_as_csv,
    table_as_html,
    table_as_latex,
    table_as_markdown,
)
from files.document_fields import DocumentField, DocumentProblems
from files.yaml import read_yaml
from sim.system.program import ASSETS_FOLDER

from .experiments import HEAD, TINY, run_all

finite = st.floats(-1e6, 1e6)


# --- statistics -----------------------------------------------------------------------------------


def test_bootstrap_agrees_with_scipy() -> None:
    chance = np.random.default_rng(1)
    for values in (chance.normal(5, 2, 80), chance.exponential(3, 200), chance.lognormal(0, 1, 40)):
        ours = bootstrap_mean(values)
        theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=9999, random_state=2)
        low, high = theirs.confidence_interval
        width = high - low
        assert ours.mean == values.mean()
        assert abs(ours.low - low) < 0.12 * width and abs(ours.high - high) < 0.12 * width
    assert bootstrap_mean(values) == bootstrap_mean(values)


def test_bootstrap_of_many_values_is_the_normal_interval() -> None:
    values = np.random.default_rng(3).exponential(2, 30_000)
    ours = bootstrap_mean(values)
    low, high = stats.norm.interval(0.95, values.mean(), stats.sem(values))
    assert (ours.low, ours.high) == pytest.approx((low, high))


def test_bootstrap_interval_has_95_percent_coverage() -> None:
    chance = np.random.default_rng(4)
    found = [bootstrap_mean(chance.normal(10, 3, 60), seed=i, draws=600) for i in range(300)]
    assert 0.89 < np.mean([a.low <= 10 <= a.high for a in found]) < 0.98


@pytest.mark.parametrize("values", [[], [np.nan], [3.0], [2.0, 2.0], [np.nan, 4.0]])
def test_bootstrap_interval_of_one_value_has_no_width(values: list[float]) -> None:
    found = bootstrap_mean(np.array(values))
    kept = [v for v in values if v == v]
    assert found.count == len(kept)
    if kept:
        assert found.low == found.mean == found.high == kept[0]


@given(st.lists(st.integers(-20, 20), min_size=10, max_size=60).filter(lambda v: len({abs(x) for x in v} - {0}) > 3))
def test_wilcoxon_agrees_with_scipy(values: list[int]) -> None:
    difference = np.array(values, float)
    theirs = stats.wilcoxon(difference, zero_method="wilcox", correction=False, method="approx")
    assert wilcoxon_p_value(difference) == pytest.approx(float(theirs.pvalue), abs=1e-12)


def test_comparisons_are_paired() -> None:
    a, b = np.array([1.0, 2.0, np.nan, 4.0, 5.0]), np.array([2.0, 2.0, 3.0, 3.0, 9.0])
    found = compare_paired_values(a, b)
    assert (found.count, found.smaller_count, found.larger_count) == (4, 2, 1)
    assert found.mean_difference.mean == pytest.approx((-1 + 0 + 1 - 4) / 4)
    assert wilcoxon_p_value(np.zeros(5)) == 1.0


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25))
def test_pareto_front_holds_the_undominated_points(points: list[tuple[int, int]]) -> None:
    chosen = pareto_indices([(float(x), float(y)) for x, y in points])
    beaten = {p for p in points if any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert chosen == [i for i, point in enumerate(points) if point not in beaten], "of equal ones all"


def test_unbeaten_ignores_agents_that_gave_up() -> None:
    nan = float("nan")
    results = [
        SettingScore(9.0, 1.0, 0.1),
        SettingScore(5.0, 2.0, 0.9),
        SettingScore(5.0, 2.0, 0.9),
        SettingScore(1.0, nan, 1.0),
    ]
    assert pareto_settings(results) == [1, 2]
    assert pareto_settings([SettingScore(1.0, nan, 0.0)]) == [] == pareto_settings([])


def test_power_law_fit_recovers_factor_and_exponent() -> None:
    x = np.array([10.0, 100.0, 1000.0])
    fit = fit_power_law(x, 0.14 * x**1.5)
    assert (fit.factor, fit.exponent) == (pytest.approx(0.14), pytest.approx(1.5))


@given(st.lists(finite, min_size=1, max_size=60))
def test_histogram_bins_cover_all_values(values: list[float]) -> None:
    edges = equally_filled_bin_edges(np.array(values))
    assert edges[0] <= min(values) and edges[-1] >= max(values) and (np.diff(edges) > 0).all()


# --- frames ---------------------------------------------------------------------------------------


def make_frame(rows: Sequence[dict[str, Any]]) -> ResultFrame:
    """A frame from rows that say only what matters."""
    columns = ["row", *(c.name for c in (*PLANNED_COLUMNS, *MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS))]
    usual_cells: dict[str, Any] = {
        "part": "", "map": "m", "agent": "tba", "params": "{}", "label": "", "budget": 1, "outcome": "reached",
        "start_x": 0, "start_y": 0, "goal_x": 1, "goal_y": 1, "seed": 0, "trial": 1, "optimal": 10.0,
        "moves": 10, "max_expansions": 1, "expansions": 10, "back_moves": 0, "planning_ms": 0.0, "changes_ms": 0.0,
    }  # fmt: skip
    lines = [[{**usual_cells, "row": n, **row}.get(name) for name in columns] for n, row in enumerate(rows)]
    frame = create_result_frame(columns, lines)
    frame.columns["disqualified"] = np.zeros(len(rows))
    return frame


def test_largest_magnitude_of_a_float_cell_is_accepted() -> None:
    for cost in (MAX_CELL, -MAX_CELL):
        assert make_frame([{"cost": cost}]).numeric_column("cost").tolist() == [cost]
        with pytest.raises(DamagedResultsError, match="row 0: cost: expected a number"):
            make_frame([{"cost": np.nextafter(cost, 2 * cost).item()}])


def test_wrong_cell_of_results_without_row_numbers_is_reported_by_its_place() -> None:
    with pytest.raises(DamagedResultsError, match="row 2: moves: expected a whole number, got 'x'"):
        create_result_frame(["moves"], [[1], [2], ["x"]])


def test_measures_are_means_ratios_maxima_and_medians() -> None:
    frame = make_frame([{"cost": 10.0, "expansions": 5, "moves": 10}, {"cost": 30.0, "expansions": 95, "moves": 40}])
    values = [
        m.compute_value(frame)
        for text in ("cost", "expansions/moves", "most cost", "median cost")
        if (m := measured(text))
    ]
    assert values == [20.0, 2.0, 30.0, 20.0]
    assert np.isnan(measured("h_changes").compute_value(frame)) and np.isnan(
        measured("cost").compute_value(frame.filter_rows({"agent": "x"}))
    )
    assert parse_measure("cost/foo") == "foo" and parse_measure("agent") == "agent"


def test_ratio_of_sums_uses_runs_with_both_values() -> None:
    frame = make_frame([{"no_path_tick": 10, "expansions": 20}, {"expansions": 1000}])
    assert measured("no_path_tick/expansions").compute_value(frame) == 0.5


def measured(text: str) -> ResultMeasure:
    found = parse_measure(text)
    assert isinstance(found, ResultMeasure)
    return found


def test_statistic_words_before_a_column_are_applied() -> None:
    values = [3.0, 1.0, 7.0, 5.0, 9.0]
    frame = make_frame([{"cost": value, "optimal": 1.0} for value in values])
    found = [measured(f"{word} cost").compute_value(frame) for word in ("least", "most", "median", "sd", "error")]
    assert found == pytest.approx([1.0, 9.0, 5.0, np.std(values, ddof=1), stats.sem(values)])
    assert measured("sd cost").compute_value(make_frame([{"cost": 3.0}])) == 0.0
    assert parse_measure("worst cost") == "worst cost"


def test_derived_columns_are_computed() -> None:
    row = {"moves": 4, "planning_ms": 0.3, "changes_ms": 0.1, "suboptimality": 1.25, "memory": 512, "entries": 256}
    weighted = {"params": '{"weight": 2.0}', "expansions": 101, "budget": 10, "cost": 30.0, "build_ms": 1500.0}
    frame = make_frame([row, weighted])
    assert [
        measured(text).compute_value(frame.select_rows(np.array([True, False])))
        for text in ("us_per_move", "suboptimality_percent")
    ] == [100.0, 25.0]
    assert [frame.numeric_column(name).tolist()[0] for name in ("memory_kb", "database_kb", "cumulative_kb")] == [
        2.0,
        1.0,
        3.0,
    ]
    assert frame.numeric_column("build_s").tolist()[1] == 1.5
    assert frame.numeric_column("bound_share").tolist()[1] == pytest.approx(30.0 / (10 * 2**0.5 + 2 * 2.0 * 10.0))
    assert np.isnan(frame.numeric_column("bound_share")[0])


def test_settings_with_the_same_label_get_distinct_names() -> None:
    rows = [{"params": f'{{"weight": {w}}}', "label": label} for w in (1.0, 2.0) for label in ("a", "b")]
    rows.append({"params": '{"weight": 3.0}', "label": "c"})
    assert list(setting_names(make_frame(rows), {}).values()) == [
        "a weight=1",
        "b weight=1",
        "a weight=2",
        "b weight=2",
        "c",
    ]


def test_frame_groups_by_columns_and_parameters() -> None:
    rows = [{"params": f'{{"weight": {w}}}', "budget": k, "cost": w * k} for w in (3.0, 1.0) for k in (1, 16)]
    frame = make_frame([*rows, {"agent": "lrta", "cost": 5.0}])
    assert [(key, len(part)) for key, part in frame.iter_groups(["weight"])] == [((3,), 2), ((1,), 2), ((None,), 1)]
    assert [key for key, _ in frame.iter_groups(["agent", "budget"])] == [("tba", 1), ("tba", 16), ("lrta", 1)]
    assert (
        len(frame.filter_rows({"weight": [1.0, 3]})) == 4 and len(frame.filter_rows({"weight": 3.0, "budget": 16})) == 1
    )
    names = list(setting_names(frame, {"tba": "TBA*"}).values())
    assert names == ["TBA* weight=3 k=1", "TBA* weight=3 k=16", "TBA* weight=1 k=1", "TBA* weight=1 k=16", "lrta k=1"]


# --- claims ---------------------------------------------------------------------------------------


def verdict_of(text: str, frame: ResultFrame) -> tuple[bool | None, str]:
    problems = DocumentProblems(read_yaml(text, "x.yaml"))
    (claim,) = read_claims(DocumentField(problems, (), problems.document.data))
    problems.raise_if_any_problem()
    found = check_claim(claim, frame)
    return found.holds, found.measured_text


COSTS = {("tba", 1): 40.0, ("tba", 4): 20.0, ("tba", 16): 10.0, ("lrta", 1): 80.0, ("lrta", 4): 60.0, ("lrta", 16): 9.0}


@pytest.mark.parametrize(
    "text, holds, words",
    [
        ("less: [{agent: tba}, {agent: lrta}], over: budget", False, "budget=16: 10 and 9"),
        ("less: [{agent: tba}, {agent: lrta}], over: budget, where: {budget: [1, 4]}", True, "by a factor of 2 to 3"),
        ("less: [{agent: tba}, {agent: lrta}]", True, "by a factor of 2.129"),
        ("falls: budget, over: agent", True, "by a factor of 0.1125 to 0.25"),
        ("rises: budget, where: {agent: tba}", False, "40 at budget=1, 20 at 4"),
        (
            "ratio: [{agent: lrta}, {agent: tba}], between: [2, 3], where: {budget: [1, 4]}, over: budget",
            True,
            "2 to 3",
        ),
        ("ratio: [{agent: lrta}, {agent: tba}], between: [2, 3], over: budget", False, "budget=16: 0.9"),
        ("between: [9, 80], over: [agent, budget]", True, "9 to 80"),
        ("between: [9, 79], over: [agent, budget]", False, "agent=lrta, budget=1: 80"),
        ("printed: {1: 41, 4: 19, 8: 3}, over: budget, where: {agent: tba}, within: 6", True, "2 numbers"),
        ("printed: {1: 41, 4: 10}, over: budget, where: {agent: tba}, within: 6", False, "20 instead of 10 (+100.0 %)"),
        ("power: budget, where: {agent: tba}, exponent: [-0.51, -0.49], factor: [39, 41]", True, "40 budget^-0.500"),
        ("power: budget, where: {agent: tba}, exponent: [0.9, 1.1]", False, "budget^-0.500"),
        ("crossing: [{agent: lrta}, {agent: tba}], along: budget, between: [10, 20]", True, "from 16 on"),
        ("crossing: [{agent: tba}, {agent: lrta}], along: budget, between: [10, 20]", False, "never stays below"),
        ("less: [{agent: tba}, {agent: rtaa}], over: budget", None, "no runs"),
        ("between: [0, 1], where: {agent: rtaa}", None, "no runs"),
    ],
)
def test_claim_verdict_and_wording(text: str, holds: bool | None, words: str) -> None:
    frame = make_frame([{"agent": agent, "budget": k, "cost": cost} for (agent, k), cost in COSTS.items()])
    found, told = verdict_of(f"[{{claim: x, value: cost, {text}}}]", frame)
    assert found is holds and words in told, told


@pytest.mark.parametrize("exponent, factor", [("[0, 1]", "[0, 1]"), ("[-1, 0]", "[1, 2]")])
def test_power_law_at_the_limits_of_its_claim_holds(exponent: str, factor: str) -> None:
    frame = make_frame([{"budget": budget, "cost": 1.0} for budget in (1, 4, 16)])
    text = f"[{{claim: x, value: cost, power: budget, exponent: {exponent}, factor: {factor}}}]"
    assert verdict_of(text, frame) == (True, "1 budget^0.000")


# --- tables ---------------------------------------------------------------------------------------


TABLE = ReportTable("t", "A title", ("name", "50 % of x_1"), (("a*b & <c>", 1.5), ("d", None)))


def test_tables_are_escaped_in_every_format() -> None:
    assert table_as_markdown(TABLE) == "| name | 50 % of x\\_1 |\n| --- | --: |\n| a\\*b & \\<c\\> | 1.50 |\n| d |  |\n"
    assert list(csv.reader(io.StringIO(table_as_csv(TABLE))))[1] == ["a*b & <c>", "1.5"]
    assert r"a*b \& $<$c$>$ & 1.50 \\" in table_as_latex(TABLE) and r"50 \% of x\_1" in table_as_latex(TABLE)
    assert '<td class="text">a*b &amp; &lt;c&gt;</td><td>1.50</td>' in table_as_html(TABLE)
    assert "\\\n{[}1, 8] & " in table_as_latex(ReportTable("t", "", ("x", "y"), (("a", 1), ("[1, 8]", 2))))
    interval = ReportTable("t", "", ("x",), ((bootstrap_mean(np.array([1.0, 2.0, 3.0])),),))
    header, row = csv.reader(io.StringIO(table_as_csv(interval)))
    assert header == ["x", "x low", "x high"] and float(row[0]) == 2.0 and float(row[1]) < 2 < float(row[2])


@given(st.text(st.sampled_from("ab_*|`<>[]()#-+1.&;~$\\\n "), max_size=20))
def test_markdown_cells_escape_every_markup_character(text: str) -> None:
    """In a cell no sign is left bare that begins something, and without the backslashes the text is what it was."""
    row = table_as_markdown(ReportTable("t", "", ("x",), ((text,),))).splitlines()[-1]
    cell = row[2:-2]
    assert re.sub(r"\\(.)", r"\1", cell) == " ".join(text.split())
    bare = re.sub(r"\\.", " ", cell)
    assert not set(bare) & set("*_`<>[]|~$\\") and not re.search(r"&[a-z#]", bare)


def test_titles_notes_and_labels_are_escaped_except_code(tmp_path: Path) -> None:
    text = (
        TINY.replace(", lrta]", ', {kind: lrta, label: "a|b <i>*_`"}]')
        + """title: "# *one* | <two>"
note: "- a `list` [of](x)\\n\\n1. & more &amp; $x$"
tables: [{title: "T *_", rows: label, values: cost, note: "_n_ | <b>"}]
claims: [{claim: "x | *y*", value: cost, between: [0, 1], why: "`because`"}]
"""
    )
    run_all(text, tmp_path)
    with open_store_for_reading(tmp_path) as store:
        said = report_markdown_section(create_report(store, is_short=True))
    for words in (
        r"## \# \*one\* \| \<two\>",
        r"\- a `list` \[of\](x)",
        r"1\. & more \&amp; \$x\$",
        r"**T \*\_.** \_n\_ \| \<b\>",
        r"| a\|b \<i\>\*\_\` |",
        r"| x \| \*y\* |",
        r"\`because\`",
    ):
        assert words in said, words


def test_printed_values_are_shown_next_to_measured_values() -> None:
    frame = make_frame([{"agent": a, "budget": k, "cost": c} for (a, k), c in COSTS.items()])
    text = "[{rows: budget, columns: agent, values: cost, printed: {tba: {1: 50, 16: 10}}}]"
    table = table_of(text, frame)
    assert table.headings == ("budget", "TBA*", "printed", "deviation", "lrta")
    assert table.rows[0] == (1, 40.0, "50", "-20.0 %", 80.0)
    assert table_of(text.replace("1: 50", "1: 0"), frame).rows[0][2:4] == ("0", "")
    assert table.rows[1] == (4, 20.0, "", "", 60.0)


def table_of(text: str, frame: ResultFrame) -> ReportTable:
    problems = DocumentProblems(read_yaml(text, "x.yaml"))
    (grouping,) = read_tables(DocumentField(problems, (), problems.document.data))
    problems.raise_if_any_problem()
    return create_specified_table(1, grouping, frame, {"tba": "TBA*"})


def plain(cell: TableCell) -> TableCell:
    """Return the number of a cell without what goes with it."""
    return cell.value if isinstance(cell, MeasuredCell) else cell


def test_measure_names_are_unique() -> None:
    columns = sorted(NUMERIC_COLUMNS)
    texts = [*columns, *(f"{kind} {name}" for kind in SUMMARY_FUNCTIONS for name in columns)]
    texts += [f"{a}/{b}" for a in columns for b in columns]
    assert len({measure_label(text) for text in texts}) == len(texts)
    assert measure_label("expansions/moves") == "expansions / move, pooled"
    assert measure_label("expansions_per_move") == "expansions / move, mean of runs"


def test_mean_cost_ratios_are_shown_with_median_and_maximum() -> None:
    ratios = {"tba": [1.0, 1.0, 100.0], "lrta": [1.5, 2.0, 2.5]}
    rows = [{"agent": a, "start_x": i, "suboptimality": r} for a, own in ratios.items() for i, r in enumerate(own)]
    frame = make_frame(rows)
    table = table_of("[{rows: agent, values: suboptimality, printed: {suboptimality: {tba: 34}}}]", frame)
    assert table.rows[0] == ("TBA*", MeasuredCell(34.0, (1.0, 100.0)), "34", "+0.0 %")
    assert table.note == "In brackets: median and maximum of the runs."
    assert (
        "34.00 (1.00, 100)" in table_as_markdown(table)
        and "34.00 (1.00, 100)" in table_as_latex(table)
        and "(1.00, 100)" in table_as_html(table)
    )
    header, row, _ = csv.reader(io.StringIO(table_as_csv(table)))
    name = "cost / optimal, mean of runs"
    assert header == ["agent", name, f"{name} median", f"{name} maximum", "printed", "deviation"]
    assert row == ["TBA*", "34.0", "1.0", "100.0", "34", "'+0.0 %"]
    columns = table_of("[{rows: start_x, columns: agent, values: suboptimality}]", frame)
    assert columns.rows[2] == (2, MeasuredCell(100.0, (100.0, 100.0)), MeasuredCell(2.5, (2.5, 2.5)))
    of = table_of("[{rows: map, values: suboptimality_percent, of: [{agent: tba}, {agent: lrta}]}]", frame).rows[0][1]
    assert of == MeasuredCell(pytest.approx(33.0), (0.0, 66.0))
    own = table_of("[{rows: agent, values: [suboptimality, median suboptimality, most suboptimality]}]", frame)
    assert own.rows[0] == ("TBA*", 34.0, 1.0, 100.0) and own.note == ""
    line = dict(zip(settings_table(frame, {}).headings, settings_table(frame, {}).rows[0], strict=True))
    assert line["median cost / optimal of a run"] == 1.0 and line["maximum cost / optimal of a run"] == 100.0
    claims = {
        "between: [0, 1], over: agent": "agent=tba: 34 (median 1, maximum 100)",
        "between: [0, 99], over: agent": "2 to 34; of all runs median 1.75, maximum 100",
        "less: [{agent: tba}, {agent: lrta}]": "34 (median 1, maximum 100) and 2 (median 2, maximum 2.5)",
        "printed: {tba: 30}, over: agent": "34 (median 1, maximum 100) instead of 30",
        "falls: start_x, where: {agent: lrta}": "1.5 (median 1.5, maximum 1.5) at start_x=0",
        "rises: start_x, where: {agent: lrta}": "from first to last; of all runs median 2, maximum 2.5",
        "less: [{agent: lrta}, {agent: tba}]": "by a factor of 17: 2 (median 2, maximum 2.5) and 34 (median 1, maximum",
        "ratio: [{agent: tba}, {agent: lrta}], between: [10, 20]": "17: 34 (median 1, maximum 100) and 2 (median 2,",
        "ratio: [{agent: tba}, {agent: lrta}], between: [1, 2]": "17: 34 (median 1, maximum 100) and 2 (median 2,",
        "ratio: [{agent: tba}, {agent: lrta}], between: [0, 90], over: start_x": (
            "0.5 to 40: of all runs 34 (median 1, maximum 100) and 2"
        ),
    }
    for text, words in claims.items():
        assert words in verdict_of(f"[{{claim: x, value: suboptimality, {text}}}]", frame)[1]


def test_large_numbers_of_claims_have_all_digits() -> None:
    frame = make_frame([{"max_expansions": 25_183, "agent": "tba"}, {"max_expansions": 1_000, "agent": "lrta"}])
    assert verdict_of("[{claim: x, value: most max_expansions, between: [0, 9]}]", frame)[1] == "25,183"
    between = "between: [0, 100000], over: agent"
    assert verdict_of(f"[{{claim: x, value: most max_expansions, {between}}}]", frame)[1] == "1,000 to 25,183"


def test_claims_report_the_number_of_unfinished_runs() -> None:
    outcomes = [("tba", "reached"), ("tba", "move_limit"), ("lrta", "reached"), ("ida", "stuck"), ("ida", "no_path")]
    frame = make_frame([{"agent": agent, "suboptimality": 1.5, "outcome": outcome} for agent, outcome in outcomes])
    claims = {
        "between: [1, 2]": (True, "; 2 of 5 runs did not finish"),
        "between: [1, 2], over: agent": (True, "; 2 of 5 runs did not finish"),
        "less: [{agent: tba}, {agent: lrta}]": (False, "; 1 of 3 runs did not finish"),
    }
    for text, (holds, words) in claims.items():
        found = verdict_of(f"[{{claim: x, value: suboptimality, {text}}}]", frame)
        assert found[0] is holds and found[1].endswith(words)
    finished = verdict_of("[{claim: x, value: suboptimality, between: [1, 2], where: {agent: lrta}}]", frame)
    assert "did not finish" not in finished[1]


def test_reason_for_a_failed_claim_is_shown_only_if_it_fails() -> None:
    frame = make_frame([{"cost": 10.0}])
    texts = []
    for limit in (5, 20):
        text = f"[{{claim: x, value: cost, between: [0, {limit}], expect: false, why: A reason.}}]"
        problems = DocumentProblems(read_yaml(text, "x.yaml"))
        verdicts = [check_claim(c, frame) for c in read_claims(DocumentField(problems, (), problems.document.data))]
        texts += [row[2] for row in claims_table(verdicts).rows]
    assert texts == ["10. A reason.", "10"]


def test_settings_with_unfinished_runs_are_marked() -> None:
    outcomes = {"tba": "reached", "lrta": "stuck", "ida": "no_path", "rtaa": "move_limit"}
    rows = [
        {"agent": a, "budget": k, "cost": 10.0, "suboptimality": 1.5, "outcome": o if k == 4 else "reached"}
        for a, o in outcomes.items()
        for k in (1, 4)
    ]
    frame = make_frame(rows)
    table = table_of("[{rows: agent, columns: budget, values: cost}]", frame)
    marked = MeasuredCell(10.0, unfinished_count=1)
    assert [row[1:] for row in table.rows] == [(10.0, 10.0), (10.0, marked), (10.0, 10.0), (10.0, marked)]
    assert "some of these runs did not finish" in table.note.lower()
    assert "| lrta | 10.00 | 10.00\u2020 |" in table_as_markdown(table) and r"10.00\dag{}" in table_as_latex(table)
    assert next(csv.reader(io.StringIO(table_as_csv(table))))[-1].endswith("budget=4 unfinished")
    settings = {row[0]: row[2] for row in settings_table(frame, {}).rows}
    assert (
        settings["lrta k=4"] == MeasuredCell(0, unfinished_count=1) and settings["lrta k=1"] == settings["tba k=4"] == 1
    )
    lines = chart_from("[{name: f, kind: lines, x: budget, y: cost}]", frame)
    scatter = chart_from("[{name: f, x: expansions, y: cost}]", frame)
    assert [s.is_unfinished for s in lines.series] == [(False, False), (False, True), (False, False), (False, True)]
    assert [sum(s.is_unfinished) for s in scatter.series] == [0, 1, 0, 1]
    svg = figures.figure_bytes(figures.draw_chart(lines), "svg").decode()
    assert svg.count('id="unfinished-') == 2 and 'id="unfinished-1"' in svg
    legend = figures.draw_chart(lines).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()].count("crossed: some runs unfinished") == 1
    assert not any(sum(s.is_unfinished) for s in clip_chart(lines, {"x": (0.0, 2.0)}).series)
    assert [sum(s.is_unfinished) for s in expansions_growth_chart(frame, {}).series] == [0, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize("zero", [0.0, -1.0])
def test_power_law_claim_over_zeros_has_no_verdict(zero: float) -> None:
    frame = make_frame([{"budget": k, "cost": cost} for k, cost in ((1, 4.0), (4, zero), (16, 1.0))])
    holds, told = verdict_of("[{claim: x, value: cost, power: budget, exponent: [-1, 0]}]", frame)
    assert holds is None and told == f"a power law needs positive numbers, cost is {zero:.4g} at budget=4"


def test_printed_values_of_other_settings_get_their_own_rows() -> None:
    frame = make_frame([{"agent": "tba", "budget": k, "cost": 10.0 * k, "moves": k} for k in (1, 2)])
    text = """[{rows: [agent, budget], values: [moves, cost, most cost], printed: {cost: {tba 2: 25}},
        printed_rows: {TBA* 7: {cost: 3.5, moves: 4}}}]"""
    table = table_of(text, frame)
    assert table.headings == ("agent", "budget", "moves", "cost", "printed", "deviation", "maximum cost")
    assert table.rows[1] == ("TBA*", 2, 2.0, 20.0, "25", "-20.0 %", 20)
    assert table.rows[2] == ("TBA* 7 (printed)", "", 4.0, 3.5, None, None, None)


def test_table_can_show_the_ratio_of_two_selections() -> None:
    frame = make_frame([{"agent": a, "budget": k, "cost": c} for (a, k), c in COSTS.items()])
    table = table_of("[{rows: budget, values: [cost, most cost], of: [{agent: tba}, {agent: lrta}]}]", frame)
    assert table.rows[0] == (1, 0.5, 0.5) and table.rows[2] == (16, pytest.approx(10 / 9), pytest.approx(10 / 9))


def test_limit_table_shows_the_best_setting_under_each_limit() -> None:
    """Table 4 of the paper on dynamic control: only those that are better than all that keep to a lower limit."""
    settings = {1: (1, 1.5), 2: (9, 1.2), 3: (9, 1.3), 4: (20, 1.4), 5: (400, 1.1), 6: (500, 1.0)}
    rows = [
        {"budget": k, "max_expansions": most - i, "suboptimality": cost}
        for k, (most, cost) in settings.items()
        for i in (0, 1)
    ]
    rows[-1]["outcome"] = "stuck"
    table = table_of("[{limit: most max_expansions, values: suboptimality}]", make_frame(rows))
    found = [(row[0], row[1]) for row in table.rows]
    assert found == [
        ("below 1", "none"),
        ("1 to 8", "TBA* k=1"),
        ("9 to 399", "TBA* k=2"),
        ("400 and more", "TBA* k=5"),
    ]
    assert [plain(row[2]) for row in table.rows] == [None, 1.5, 1.2, 1.1]


def test_limit_table_without_finished_runs_has_no_best_setting() -> None:
    frame = make_frame([{"suboptimality": 1.5, "outcome": "stuck"}])
    assert table_of("[{limit: most max_expansions, values: suboptimality}]", frame).rows == (("any", "none", None),)


def test_break_even_table_gives_the_moves_that_repay_preparation() -> None:
    """Table 6: a million us of making, 2 us gained with each move, so half a million moves of 1 us."""
    rows = [
        {"agent": "a", "budget": 1, "suboptimality": 1.1, "planning_ms": 0.01, "moves": 10, "build_ms": 1000.0},
        {"agent": "a", "budget": 2, "suboptimality": 1.5, "planning_ms": 0.05, "moves": 10, "build_ms": 1000.0},
        {"agent": "b", "budget": 1, "suboptimality": 1.15, "planning_ms": 0.03, "moves": 10},
        {"agent": "b", "budget": 2, "suboptimality": 1.6, "planning_ms": 0.04, "moves": 10},
    ]
    table = table_of("[{where: {agent: a}, against: {agent: b}, values: suboptimality}]", make_frame(rows))
    assert tuple(map(plain, table.rows[0])) == (
        "a k=1",
        1.1,
        1.0,
        "b k=1",
        1.15,
        3.0,
        1.0,
        pytest.approx(500_000),
        pytest.approx(0.5),
    )
    assert tuple(map(plain, table.rows[1][3:])) == ("b k=2", 1.6, 4.0, 1.0, "never", "never")


def test_settings_are_compared_on_the_same_problems() -> None:
    extra = {"tba": 0, "lrta": 5}
    rows = [
        {"agent": a, "start_x": i, "cost": i + e, "suboptimality": 1.0} for a, e in extra.items() for i in range(30)
    ]
    table = comparison_table(make_frame(rows), {})
    ((name, best, count, difference, wins, losses, p),) = table.rows
    assert (name, best, count, wins, losses, p) == ("lrta", "tba", 30, 0, 30, "< 0.001")
    assert difference.mean == difference.low == difference.high == 5.0  # type: ignore[union-attr]


def test_comparison_baseline_is_the_cheapest_most_successful_setting() -> None:
    """Under the same changes of the map; who was broken off, or gave up in its last trial, is not on that problem."""
    ways = [(4.0, "reached"), (7.0, "reached"), (5.0, "reached"), (1.0, "stuck")]
    rows = [
        {"agent": agent, "start_x": i, "rate": rate, "every": 5, "cost": cost * rate, "outcome": outcome}
        for rate in (1.0, 2.0)
        for i, way in enumerate(ways)
        for agent, (cost, outcome) in (("tba", (6.0, "reached")), ("lrta", way))
    ]
    rows += [{**rows[5], "trial": 2, "outcome": "move_limit"}]
    found = [tuple(map(plain, (*row[:3], *row[4:6]))) for row in comparison_table(make_frame(rows), {}).rows]
    assert found == [("lrta rate=1", "tba rate=1", 2, 1, 1), ("lrta rate=2", "tba rate=2", 3, 2, 1)]


def test_comparison_table_includes_every_other_setting() -> None:
    rows = [{"agent": "tba", "budget": k, "start_x": i, "cost": float(k)} for k in range(60) for i in range(2)]
    assert len(comparison_table(make_frame(rows), {}).rows) == 59


def test_unfinished_runs_have_no_cost_ratio(tmp_path: Path) -> None:
    """A* that never sets out would be cheaper than the cheapest way."""
    text = (
        HEAD
        + """
problems: {generate: {kind: rooms, width: 24, height: 24, seed: 2}, random: 6}
agents: [astar, tb-gbfs]
budgets: [2]
ticks: 30
"""
    )
    run_all(text, tmp_path)
    with open_store_for_reading(tmp_path) as store:
        frame = store.load_frame()
        kept = list(store.iter_rows(("agent", "outcome", "suboptimality", "game_time")))
    assert {outcome for agent, outcome, *_ in kept if agent == "astar"} == {"reached", "stuck"}
    assert any(ratio < 1 for _, outcome, ratio, _ in kept if outcome == "stuck")
    for place, name in ((2, "suboptimality"), (3, "game_time")):
        of_arrived = [row[place] for row in kept if row[0] == "astar" and row[1] == "reached"]
        assert measured(name).compute_value(frame.filter_rows({"agent": "astar"})) == pytest.approx(np.mean(of_arrived))
    lines = {row[0]: row for row in settings_table(frame, {}).rows}
    assert [lines[name][2] for name in ("astar", "tb-gbfs")] == [MeasuredCell(3, unfinished_count=3), 6]
    assert [lines[name][-1] for name in ("astar", "tb-gbfs")] == ["", "*"]
    assert pareto_chart(frame, {}).series[-1].points == tuple(
        (measured("expansions/moves").compute_value(runs), measured("suboptimality").compute_value(runs))
        for runs in [frame.filter_rows({"agent": "tb-gbfs"})]
    )


TRIALS = (
    HEAD
    + """
problems: {generate: {kind: corner, size: [8, 9, 10]}}
agents: [k-lrta, {kind: lrta, depth: 2}]
budgets: [12]
trials: 8
seeds: [0, 1]
tables: [{rows: agent, values: [trial, converged], where: {last_trial: 1}}]
"""
)


def test_runs_with_several_trials_are_reported_by_the_last_trial(tmp_path: Path) -> None:
    run_all(TRIALS, tmp_path)
    columns = ("row", "agent", "trial", "suboptimality", "h_changes", "moves", "planning_ms")
    with open_store_for_reading(tmp_path) as store:
        frame, report = store.load_frame(), create_report(store)
        kept = [dict(zip(columns, values, strict=True)) for values in store.iter_rows(columns)]
    last = {line["row"]: line for line in kept}
    assert len(kept) > 2 * len(last) and len({line["trial"] for line in last.values()}) > 1
    table = report.standard_tables[0]
    lines = {str(row[0]): dict(zip(table.headings, row, strict=True)) for row in table.rows}
    for name, key in (("K LRTA*", "k-lrta"), ("LRTA*", "lrta")):
        runs = [line for line in last.values() if line["agent"] == key]
        line = lines[name]
        assert line["runs"] == line["arrived"] == 6
        assert line["trials"] == pytest.approx(np.mean([run["trial"] for run in runs]))
        assert line["converged"] == pytest.approx(np.mean([run["h_changes"] == 0 for run in runs]))
        assert line["cost / optimal, mean of runs (95 %)"].mean == pytest.approx(
            np.mean([run["suboptimality"] for run in runs])
        )
        spent = sum(line["planning_ms"] for line in last.values() if line["agent"] == key)
        moves = sum(line["moves"] for line in kept if line["agent"] == key)
        assert measured("planning_ms/moves").compute_value(frame.filter_rows({"agent": key})) == pytest.approx(
            spent / moves
        )
    assert [row[1:] for row in report.tables[0].rows] == [(x["trials"], x["converged"]) for x in lines.values()]
    assert (
        "from the last trial of each run" in table.note
        and "2 of 2 settings have the same runs with every seed" in table.note
    )


def test_seed_note_appears_only_for_identical_digests() -> None:
    rows = [{"seed": seed, "start_x": i, "digest": f"{seed} {i}"} for seed in (1, 2) for i in range(3)]
    assert settings_table(make_frame(rows), {}).note == ""
    assert settings_table(make_frame([{**row, "digest": "0"} for row in rows]), {}).note
    assert settings_table(make_frame([{**row, "seed": 1} for row in rows]), {}).note == ""


# --- figures --------------------------------------------------------------------------------------


def points_in_svg(figure: Any, svg: bytes) -> dict[int, list[tuple[float, float]]]:
    """The points of each series, from where its markers stand in the SVG and what the axes span."""
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    (axes,) = figure.axes
    box = next(g for g in root.iter(f"{space}g") if g.get("id") == "axes")
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", box.find(f"{space}path").get("d"))]  # type: ignore[union-attr, arg-type]
    left, right, top, bottom = min(numbers[::2]), max(numbers[::2]), min(numbers[1::2]), max(numbers[1::2])
    found = {}
    for group in root.iter(f"{space}g"):
        if (name := group.get("id") or "").startswith("series-"):
            places = [(float(use.get("x")), float(use.get("y"))) for use in group.iter(f"{space}use")]  # type: ignore[arg-type]
            found[int(name[7:])] = [
                (value_on_axis(axes.get_xlim(), axes.get_xscale(), (x - left) / (right - left)),
                 value_on_axis(axes.get_ylim(), axes.get_yscale(), (bottom - y) / (bottom - top)))
                for x, y in places
            ]  # fmt: skip
    return found


def value_on_axis(limits: tuple[float, float], scale: str, share: float) -> float:
    low, high = np.log(limits) if scale == "log" else limits
    value = low + share * (high - low)
    return float(np.exp(value) if scale == "log" else value)


def assert_svg_shows_points(chart: ChartData) -> None:
    figure = figures.draw_chart(chart)
    found = points_in_svg(figure, figures.figure_bytes(figure, "svg"))
    wanted = {number: series.points for number, series in enumerate(chart.series) if series.points}
    assert found.keys() == wanted.keys()
    for number, points in wanted.items():
        assert np.array(found[number]) == pytest.approx(np.array(points), rel=2e-3, abs=1e-6), chart.series[number].name


@pytest.mark.parametrize("log", ["none", "x", "y", "xy"])
def test_svg_figure_decodes_to_its_points(log: str) -> None:
    series = (
        ChartSeries("a", ((1.0, 10.0), (40.0, 300.0), (900.0, 2.0))),
        ChartSeries("b", ((5.0, 5.0),), has_lines=False),
    )
    assert_svg_shows_points(ChartData("x", "title", "x", "y", series, log))


def chart_from(text: str, frame: ResultFrame) -> ChartData:
    problems = DocumentProblems(read_yaml(text, "x.yaml"))
    (figure,) = read_figures(DocumentField(problems, (), problems.document.data))
    problems.raise_if_any_problem()
    chart = chart_of_figure(figure, frame, {"tba": "TBA*", "lrta": "LRTA*"})
    assert_svg_shows_points(chart)
    return chart


def test_ratio_figure_divides_the_two_selections() -> None:
    frame = make_frame([{"agent": a, "budget": k, "cost": c} for (a, k), c in COSTS.items()])
    text = "[{name: f, kind: lines, x: budget, y: cost, by: part, of: [{agent: tba}, {agent: lrta}]}]"
    chart = chart_from(text, frame)
    assert chart.series[0].points == ((1.0, 0.5), (4.0, pytest.approx(1 / 3)), (16.0, pytest.approx(10 / 9)))
    assert chart.y == "cost: TBA* / LRTA*" and not chart.series[0].intervals


def test_mean_cost_ratio_figures_show_medians_and_note_the_maximum() -> None:
    rows = [{"budget": k, "suboptimality": ratio} for k in (1, 4) for ratio in (1.0, 1.0 + k, 10.0 * k)]
    for kind, x in (("lines", "budget"), ("scatter", "expansions/moves")):
        chart = chart_from(f"[{{name: f, kind: {kind}, x: {x}, y: suboptimality, by: part}}]", make_frame(rows))
        assert (
            sorted(chart.series[0].medians_and_maxima) == [(2.0, 10.0), (5.0, 40.0)]
            and chart.note == "Maximum of a run: all 40."
        )
        assert "medians-0" in figures.figure_bytes(figures.draw_chart(chart), "svg").decode()
        assert figures.draw_chart(chart).axes[0].get_legend() is not None
    plain = chart_from("[{name: f, kind: lines, x: budget, y: cost, by: part}]", make_frame(rows))
    assert not plain.series[0].medians_and_maxima and plain.note == ""


def test_level_runs_are_horizontal_lines_in_the_curve_colour() -> None:
    weighted = [{"params": f'{{"weight": {w}}}', "budget": k, "cost": w * k} for w in (1.0, 3.0) for k in (1, 16)]
    frame = make_frame([*weighted, *({"agent": "lrta", "budget": k, "cost": 5.0 + k} for k in (1, 16, 64))])
    text = "[{name: f, kind: lines, x: weight, y: cost, by: budget, where: {agent: tba}, levels: {agent: lrta}}]"
    level = chart_from(text, frame).series[2:]
    assert [(s.name, s.points, s.style_index) for s in level] == [
        ("budget=1, LRTA*", ((1.0, 6.0), (3.0, 6.0)), 0),
        ("budget=16, LRTA*", ((1.0, 21.0), (3.0, 21.0)), 1),
    ]


def test_figure_respects_cutoff_and_zoom() -> None:
    rows = [{"budget": k, "suboptimality": 20.0 / k, "max_expansions": k, "expansions": 10 * k} for k in (1, 5, 10, 50)]
    whole = "[{name: f, x: expansions/moves, y: suboptimality, by: part, cutoff: 20}]"
    assert [x for x, _ in chart_from(whole, make_frame(rows)).series[0].points] == [1.0, 5.0, 10.0]
    assert chart_from(whole.replace("20", "10"), make_frame(rows)) == chart_from(whole, make_frame(rows))
    chart = chart_from(whole.replace("cutoff: 20", "zoom: {x: [0, 20], y: [1, 6]}"), make_frame(rows))
    assert chart.series[0].points == ((5.0, 4.0), (10.0, 2.0)) and len(chart.series[0].point_names) == 2
    assert chart.note == "Maximum of a run: all 20. 2 points are outside the limits."
    assert figures.draw_chart(chart).axes[0].get_xlim() == (0.0, 20.0)


def test_map_figure_shows_start_and_goal() -> None:
    chart = chart_from("[{name: f, kind: map, generate: {kind: corner, size: 10}}]", make_frame([{}]))
    assert [series.name for series in chart.series] == ["start", "goal"] and len(chart.map_rows) == 10
    problems = DocumentProblems(
        read_yaml("[{name: f, kind: map, generate: {kind: cornr}}, {name: g, kind: map}]", "x.yaml")
    )
    read_figures(DocumentField(problems, (), problems.document.data))
    assert len(problems.found) == 2


def test_report_figures_show_the_means_of_the_runs(tmp_path: Path) -> None:
    text = TINY + "figures: [{name: mine, kind: lines, x: budget, y: suboptimality, by: [agent, weight], log: xy},"
    text += "{name: Pareto, kind: lines, x: weight, y: cost}]\n"
    run_all(text, tmp_path)
    with open_store_for_reading(tmp_path) as store:
        report, frame = create_report(store), store.load_frame()
    assert len(report.charts) >= 6
    names = [chart.name.casefold() for chart in report.charts]
    assert names[:2] == ["mine", "pareto"] and "usual-pareto" in names and len(set(names)) == len(names)
    for chart in report.charts:
        assert_svg_shows_points(chart)
    mine = report.charts[0]
    settings = [("tb-wa", 1), ("tb-wa", 1.4), ("tb-wa", 3), ("lrta", None)]
    for series, (agent, weight) in zip(mine.series, settings, strict=True):
        for k, y in series.points:
            runs = frame.filter_rows({"agent": agent, "weight": weight, "budget": int(k)})
            assert y == runs.numeric_column("suboptimality").mean()


def test_figure_files_are_reproducible() -> None:
    chart = ChartData("x", "title", "x", "y", (ChartSeries("a", ((1.0, 2.0), (3.0, 4.0)), ((1.0, 3.0), (3.5, 5.0))),))
    for kind in figures.FORMATS:
        assert figures.figure_bytes(figures.draw_chart(chart), kind) == figures.figure_bytes(
            figures.draw_chart(chart), kind
        )


def test_disqualified_settings_are_not_plotted() -> None:
    frame = make_frame([{"budget": k, "suboptimality": 2.0, "max_expansions": k, "expansions": k} for k in (1, 50)])
    frame.columns["disqualified"] = (frame.numeric_column("max_expansions") > 10).astype(float)
    assert [series.points for series in pareto_chart(frame, {}).series] == [((0.1, 2.0),), ((0.1, 2.0),)]
    assert settings_table(frame, {}).rows[1][-2] == "1 runs"


# --- the command ----------------------------------------------------------------------------------


def test_report_command_writes_one_self_contained_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    claim = "{claim: cost falls, falls: budget, value: cost, over: agent}"
    more = f"title: A tiny <one>\nclaims: [{claim}]\ntables: [{{rows: budget, values: [cost, moves]}}]\n"
    run_all(TINY + more, tmp_path)
    assert main.main(["report", str(tmp_path)]) == 0
    target = tmp_path / "report"
    page = (target / "index.html").read_text()
    assert "A tiny &lt;one&gt;" in page and "cost falls" in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page) and "@import" not in page
    svgs = [base64.b64decode(text) for text in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
    assert len(svgs) >= 5 and all(b"<svg" in svg for svg in svgs)
    names = {path.name for path in (target / "figures").iterdir()}
    assert {"pareto.svg", "pareto.pdf", "pareto.png", "growth.svg"} <= names
    assert {"table-1.csv", "table-1.tex", "settings.csv"} <= {path.name for path in (target / "tables").iterdir()}
    assert "holds: cost falls" in capfd.readouterr().err
    assert main.main(["report", str(tmp_path), "--markdown"]) == 0
    section = capfd.readouterr().out
    assert "| claim | our runs | measured |" in section and "`python main.py experiment x.yaml`: 96 of 96" in section
    with open_store_for_writing(tmp_path) as store:
        store.set_metadata("folder", str(ASSETS_FOLDER / "experiments"))
    assert main.main(["report", str(tmp_path), "--markdown"]) == 0
    assert "`python main.py experiment assets/experiments/x.yaml`: 96 of 96" in capfd.readouterr().out
    assert main.main(["report", str(tmp_path / "no")]) == 2


def test_report_names_a_shipped_specification_by_its_path_if_another_checkout_made_the_results(tmp_path: Path) -> None:
    shipped = (ASSETS_FOLDER / "experiments" / "e6.yaml").read_text(encoding="utf-8")
    run_all(TINY, tmp_path)
    for text, expected in ((shipped, "assets/experiments/e6.yaml"), (shipped + "# mine\n", "e6.yaml")):
        with open_store_for_writing(tmp_path) as store:
            store.set_metadata("folder", "/elsewhere/assets/experiments")
            store.set_metadata("name", "e6")
            store.set_metadata("specification", text)
            assert _specification_file(store) == expected


def test_figure_labels_and_titles_are_not_parsed_as_formulas() -> None:
    series = (ChartSeries("_b", ((1.0, 2.0),)), ChartSeries("a$_{", ((1.0, 3.0),)), ChartSeries("nowhere", ()))
    figure = figures.draw_chart(ChartData("n", "t $x_", "x$_{", "y$\\frac", series))
    figures.figure_bytes(figure, "png")
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [" _b", "a\\$_{"]
    assert figures.draw_chart(ChartData("n", "t", "x", "y", (ChartSeries("nowhere", ()),))).axes[0].get_legend() is None
    assert table_as_latex(ReportTable("t", "one\n\\input{x}", ("a",), (("b",),))).startswith("% one \\input{x}\n%")
