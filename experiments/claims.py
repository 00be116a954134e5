"""Check claims of a paper against our results: whether they hold for our runs, and by how much.

    {claim: early is cheaper, less: [{agent: tba}, {agent: delayed-astar}], value: suboptimality, over: budget}
    {claim: table 1, printed: {10: 3.83, 25: 2.10}, value: suboptimality, over: budget, where: {agent: tba}, within: 10}
    {claim: cost falls with w, falls: weight, value: suboptimality, over: budget}
    {claim: about ten times, ratio: [{agent: a}, {agent: b}], value: moves, between: [8, 12]}
    {claim: linear, power: states, value: expansions, from: 500, exponent: [0.95, 1.06]}
    {claim: they cross, crossing: [{agent: a}, {agent: b}], along: states, value: expansions, between: [1000, 2500]}
    {claim: real-time, between: [0, 1000], value: most max_expansions, over: agent}

`group_attributes` names attributes of runs: the claim must hold for every combination of their values. A claim that is
known not to hold for our runs has the keys `expect: false` and `why`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.report_layout import (
    check_number,
    read_attributes,
    read_compared_sides,
    read_elements,
    read_measure,
    read_optional_text,
    read_run_filter,
)
from experiments.result_frame import ResultFrame, ResultMeasure, RunFilter
from experiments.statistics import fit_power_law
from files.document_fields import DocumentField, require_field
from sim.params import Param

CLAIM_KINDS = ("printed", "less", "falls", "rises", "ratio", "power", "crossing", "between")
CLAIM_KEYS = (
    "claim",
    *CLAIM_KINDS,
    "value",
    "over",
    "where",
    "within",
    "slack",
    "along",
    "from",
    "exponent",
    "factor",
    "expect",
    "why",
)
_CLAIM_EXAMPLE = "a claim such as {claim: early is cheaper, less: [{agent: tba}, {agent: delayed-astar}], value: cost}"
_EXPECT_PARAM = Param("expect", bool, True, "whether it is known to hold here")
_KINDS_OF_KEY = {
    "between": ("between", "ratio", "crossing"),
    "within": ("printed",),
    "slack": ("less", "falls", "rises"),
    "along": ("crossing",),
    "from": ("power",),
    "exponent": ("power",),
    "factor": ("power",),
}
_REQUIRED_KEYS = {"ratio": ("between",), "crossing": ("between",), "power": ("exponent", "factor")}
_UNBOUNDED_RANGE = (-float("inf"), float("inf"))

Range = tuple[float, float]


@dataclass(frozen=True)
class PaperClaim:
    """Claim of a paper that is checked against the results."""

    text: str  # the claim as an English sentence
    kind: str  # kind of check, one of KINDS
    value: ResultMeasure  # measure of the runs that the claim is about, such as their mean cost
    group_attributes: tuple[
        str, ...
    ] = ()  # attributes of runs; the claim must hold for each combination of their values
    run_filter: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    compared_filters: tuple[
        RunFilter, ...
    ] = ()  # two selections of runs to compare, for claims of the kinds less, ratio and crossing
    x_attribute: str = ""  # attribute on the x axis, for claims of the kinds falls, rises, power and crossing
    # values of the `group_attributes` attributes joined by blanks -> number printed in the paper
    printed_numbers: Mapping[str, float] = field(default_factory=dict)
    max_deviation_percent: float = 10.0  # maximum deviation from a printed number, in percent
    slack: float = 0.0  # tolerance for claims of the kinds less, falls and rises, in percent
    # (low, high) of the allowed values, for the kinds ratio, crossing and between.
    value_range: Range = _UNBOUNDED_RANGE
    min_x: float = 0.0  # minimum x of the points to which a power law is fitted
    exponent_range: Range = _UNBOUNDED_RANGE  # (low, high) of the allowed exponent of a fitted power law
    factor_range: Range = _UNBOUNDED_RANGE  # (low, high) of the allowed factor of a fitted power law
    is_expected_to_hold: bool = True  # False if the claim is known not to hold for our runs
    failure_reason: str = ""  # reason why the claim does not hold, if `expect` is False


@dataclass(frozen=True)
class ClaimVerdict:
    """Result of checking a claim: whether the claim holds, and the measured numbers."""

    claim: PaperClaim
    holds: bool | None  # None if the claim cannot be decided, for example because there are no runs
    measured_text: str  # measured numbers as text

    @property
    def label(self) -> str:
        return {True: "holds", False: "does not hold", None: "not measured"}[self.holds]


# --- reading --------------------------------------------------------------------------------------


def read_claims(entry: DocumentField) -> tuple[PaperClaim, ...]:
    return read_elements(entry, "a list of claims", _read_claim)


def _read_claim(part: DocumentField) -> PaperClaim | None:
    fields = part.read_known_keys(CLAIM_KEYS, _CLAIM_EXAMPLE)
    kind = _claim_kind(part, fields)
    text = require_field(fields, "claim", part, "the claim in words")
    value = require_field(fields, "value", part, "a measure such as suboptimality")
    chosen = read_measure(value) if value else None
    if text is None or chosen is None or not kind:
        return None
    return PaperClaim(
        text.read_text(500) or "",
        kind,
        chosen,
        read_attributes(fields["over"]) if "over" in fields else (),
        read_run_filter(fields),
        read_compared_sides(fields[kind]) if kind in ("less", "ratio", "crossing") else (),
        _read_x_attribute(fields, kind, part),
        _read_printed_numbers(fields["printed"]) if kind == "printed" else {},
        _read_number(fields, "within", 10.0),
        _read_number(fields, "slack", 0.0),
        _read_range(fields, "between"),
        _read_number(fields, "from", 0.0),
        _read_range(fields, "exponent"),
        _read_range(fields, "factor"),
        fields["expect"].read_value(_EXPECT_PARAM) is not False if "expect" in fields else True,
        read_optional_text(fields, "why"),
    )


def _claim_kind(part: DocumentField, fields: Mapping[str, DocumentField]) -> str:
    """Return the kind of a claim (one of KINDS), or an empty text if its keys name no kind.

    Two mistakes are reported: keys that the kind does not use, and missing keys without which any result would fulfil
    the claim.
    """
    kinds = [kind for kind in CLAIM_KINDS if kind in fields]
    if len(kinds) > 1 and kinds[-1] == "between":  # `value_range` is then not the kind, but the range of another kind
        kinds.pop()
    if len(kinds) != 1:
        if part.is_mapping:
            part.report_problem(
                f"expected a claim with one of {', '.join(CLAIM_KINDS)}, got {' and '.join(kinds) or 'none of them'}"
            )
        return kinds[0] if kinds else ""
    for key, allowed in _KINDS_OF_KEY.items():
        if key in fields and kinds[0] not in allowed:
            fields[key].report_problem(f"is allowed only with {' or '.join(allowed)}")
    needed = _REQUIRED_KEYS.get(kinds[0], ())
    if needed and not any(key in fields for key in needed):
        part.report_problem(
            f"expected {' or '.join(needed)} with {kinds[0]}, got nothing; without it, the claim would always hold"
        )
    return kinds[0]


def _read_x_attribute(fields: Mapping[str, DocumentField], kind: str, part: DocumentField) -> str:
    if kind == "crossing":
        entry = require_field(fields, "along", part, "the attribute on the x axis of the crossing curves")
    else:
        entry = fields[kind] if kind in ("falls", "rises", "power") else None
    return (entry.read_text(60) or "") if entry else ""


def _read_printed_numbers(entry: DocumentField) -> dict[str, float]:
    parts = entry.read_mapping("printed numbers such as {10: 3.83, 25: 2.1}")
    found = {key: float(part.value) for key, part in parts.items() if check_number(part)}
    for key in [key for key, number in found.items() if not number]:
        parts[key].report_expected_value("a number other than 0, because deviations are in percent of it")
        del found[key]
    return found


def _read_number(fields: Mapping[str, DocumentField], key: str, default: float) -> float:
    if key not in fields or not check_number(fields[key]):
        return default
    if fields[key].value < 0:
        fields[key].report_expected_value("a number of at least 0")
    return float(fields[key].value)


def _read_range(fields: Mapping[str, DocumentField], key: str) -> Range:
    if key not in fields:
        return _UNBOUNDED_RANGE
    parts = fields[key].items("two numbers such as [0.9, 1.1]")
    limits = [float(part.value) for part in parts if check_number(part)]
    if len(parts) != 2 or len(limits) != 2 or limits[0] > limits[1]:
        fields[key].report_expected_value("two numbers such as [0.9, 1.1], the smaller first")
        return _UNBOUNDED_RANGE
    return limits[0], limits[1]


# --- checking -------------------------------------------------------------------------------------


def check_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    """Return whether a claim holds for the runs in a frame, with the measured numbers as text."""
    chosen = frame.filter_rows(claim.run_filter)
    if not len(chosen):
        return ClaimVerdict(claim, None, "no runs")
    verdict = _CHECK_FUNCTIONS[claim.kind](claim, chosen)
    return replace(verdict, measured_text=verdict.measured_text + _unfinished_runs_text(claim, chosen))


def _unfinished_runs_text(claim: PaperClaim, frame: ResultFrame) -> str:
    """Return how many runs of a claim did not finish, as text to append to its measured numbers; empty if all did.

    A claim can hold although runs did not finish, because these runs have no cost ratio.
    """
    parts = [frame.filter_rows(side) for side in claim.compared_filters] or [frame]
    unfinished = sum(part.unfinished_run_count for part in parts)
    return f"; {unfinished:,} of {sum(map(len, parts)):,} runs did not finish" if unfinished else ""


def _combined_verdict(claim: PaperClaim, findings: Sequence[tuple[bool | None, str]], good: str) -> ClaimVerdict:
    """Return the verdict on a claim from the findings for its groups of runs.

    The claim does not hold if a finding is False; otherwise it is undecided if a finding is None.

    Args:
        claim: The claim.
        findings: For each group, whether the claim holds (None if unknown), and the measured numbers as text.
        good: The text of the verdict if the claim holds for all groups; other verdicts list the decisive findings.
    """
    if not findings:
        return ClaimVerdict(claim, None, "no runs")
    for holds in (False, None):
        decisive = [text for is_fine, text in findings if is_fine is holds]
        if decisive:
            more = f"; and {len(decisive) - 6} more" if len(decisive) > 6 else ""
            return ClaimVerdict(claim, holds, "; ".join(decisive[:6]) + more)
    return ClaimVerdict(claim, True, good)


def _check_printed_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    findings: list[tuple[bool | None, str]] = []
    worst = 0.0
    for key, part in frame.iter_groups(claim.group_attributes):
        printed = claim.printed_numbers.get(_printed_number_key(key))
        if printed is None:
            continue
        found = claim.value.compute_value(part)
        if np.isnan(found):
            findings.append((None, f"{_group_prefix(claim, key)}no runs to compare with {printed:g}"))
            continue
        off = 100.0 * (found / printed - 1.0)
        worst = max(worst, abs(off))
        findings.append(
            (
                abs(off) <= claim.max_deviation_percent,
                f"{_group_prefix(claim, key)}{_measured_value_text(claim.value, part)} instead of {printed:g} ("
                f"{off:+.1f} %)",
            )
        )
    good = (
        f"{len(findings)} numbers, the largest deviation is {worst:.1f} %{_median_and_maximum_text(claim.value, frame)}"
    )
    return _combined_verdict(claim, findings, good)


@dataclass(frozen=True)
class _ComparedValues:
    """Measured values of the two compared sides of a claim, such as two agents, in one group of runs."""

    group_prefix: str  # description of the group of runs, printed before the values
    first_value: float  # measure of the runs of the first side
    second_value: float  # measure of the runs of the second side
    text: str  # the values of both sides as text


def _compared_values(claim: PaperClaim, frame: ResultFrame) -> list[_ComparedValues]:
    """Return the values of the two compared sides, for every group of runs in which both values are known."""
    found = []
    for key, part in frame.iter_groups(claim.group_attributes):
        runs = [part.filter_rows(side) for side in claim.compared_filters]
        a, b = map(claim.value.compute_value, runs)
        if not (np.isnan(a) or np.isnan(b)):
            text = " and ".join(_measured_value_text(claim.value, own) for own in runs)
            found.append(_ComparedValues(_group_prefix(claim, key), a, b, text))
    return found


def _text_of_both_sides(claim: PaperClaim, frame: ResultFrame) -> str:
    """Return the values of the two compared sides over all runs, as text to append to a verdict.

    The text is empty if the measure is not a mean of cost ratios: only such a mean can mislead without its tails.
    """
    if not claim.value.median_and_maximum:
        return ""
    texts = [_measured_value_text(claim.value, frame.filter_rows(side)) for side in claim.compared_filters]
    return f": {'of all runs ' if claim.group_attributes else ''}{' and '.join(texts)}"


def _check_less_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    pairs = _compared_values(claim, frame)
    findings = [
        (
            p.first_value <= p.second_value * (1 + claim.slack / 100)
            if claim.slack
            else p.first_value < p.second_value,
            f"{p.group_prefix}{p.text}",
        )
        for p in pairs
    ]
    ratios = [pair.second_value / pair.first_value for pair in pairs if pair.first_value]
    span = f"by a factor of {_range_text(ratios)}" if ratios else "always"
    return _combined_verdict(claim, findings, span + _text_of_both_sides(claim, frame) if pairs else "")


def _check_ratio_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    low, high = claim.value_range
    pairs = _compared_values(claim, frame)
    ratios = [(pair, pair.first_value / pair.second_value) for pair in pairs if pair.second_value]
    findings: list[tuple[bool | None, str]] = []
    has_tails = bool(claim.value.median_and_maximum)
    for pair, ratio in ratios:
        text = f"{pair.group_prefix}{_number_text(ratio)}" + (f": {pair.text}" if has_tails else "")
        findings.append((low <= ratio <= high, text))
    findings += [
        (None, f"{pair.group_prefix}{pair.first_value:.4g} cannot be divided by 0")
        for pair in pairs
        if not pair.second_value
    ]
    good = _range_text([ratio for _, ratio in ratios]) + _text_of_both_sides(claim, frame) if ratios else ""
    return _combined_verdict(claim, findings, good)


def _check_value_range_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    low, high = claim.value_range
    known = [
        (key, part)
        for key, part in frame.iter_groups(claim.group_attributes)
        if not np.isnan(claim.value.compute_value(part))
    ]
    values = [claim.value.compute_value(part) for _, part in known]
    texts = [f"{_group_prefix(claim, key)}{_measured_value_text(claim.value, part)}" for key, part in known]
    findings = [(low <= value <= high, text) for value, text in zip(values, texts, strict=True)]
    return _combined_verdict(
        claim, findings, _range_text(values) + _median_and_maximum_text(claim.value, frame) if values else ""
    )


def curve_points(value: ResultMeasure, frame: ResultFrame, along: str) -> list[tuple[float, float]]:
    """Return the sorted points (value of `along`, measured value) of a curve, without points that are nan."""
    points = [(key[0], value.compute_value(part)) for key, part in frame.iter_groups([along]) if key[0] is not None]
    return sorted((float(x), y) for x, y in points if not np.isnan(y))


def _check_monotone_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    sign = 1.0 if claim.kind == "falls" else -1.0
    findings, spans = [], []
    for key, part in frame.iter_groups(claim.group_attributes):
        points = curve_points(claim.value, part, claim.x_attribute)
        value_texts = {
            x_key[0]: _measured_value_text(claim.value, runs) for x_key, runs in part.iter_groups([claim.x_attribute])
        }
        for (x, before), (z, after) in pairwise(points):
            allowed = abs(before) * claim.slack / 100.0
            text = (
                f"{_group_prefix(claim, key)}{value_texts[x]} at {claim.x_attribute}={x:g}, {value_texts[z]} at {z:g}"
            )
            findings.append((sign * (after - before) <= allowed, text))
        if len(points) > 1 and points[0][1]:
            spans.append(points[-1][1] / points[0][1])
    tails = _median_and_maximum_text(claim.value, frame)
    return _combined_verdict(
        claim, findings, f"by a factor of {_range_text(spans)} from first to last{tails}" if spans else ""
    )


def _check_power_law_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    findings: list[tuple[bool | None, str]] = []
    fits = []
    for key, part in frame.iter_groups(claim.group_attributes):
        points = [p for p in curve_points(claim.value, part, claim.x_attribute) if p[0] >= claim.min_x]
        if len(points) < 2:
            continue
        if without_logarithm := [point for point in points if min(point) <= 0]:
            x_value, value = without_logarithm[0]
            where = f"{claim.x_attribute}={x_value:g}"
            text = f"a power law needs positive numbers, {claim.value.text} is {value:.4g} at {where}"
            findings.append((None, f"{_group_prefix(claim, key)}{text}"))
            continue
        x, y = np.array(points).T
        fit = fit_power_law(x, y)
        is_fine = (
            claim.exponent_range[0] <= fit.exponent <= claim.exponent_range[1]
            and claim.factor_range[0] <= fit.factor <= claim.factor_range[1]
        )
        text = f"{_group_prefix(claim, key)}{fit.factor:.3g} {claim.x_attribute}^{fit.exponent:.3f}"
        findings.append((is_fine, text))
        fits.append(text)
    return _combined_verdict(claim, findings, ", ".join(fits))


def crossing_x(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> float:
    """Return the smallest x from which curve `a` stays below curve `b`, or nan if there is no such x.

    The curves are compared only at values of x that both curves have.
    """
    other = dict(b)
    points = [(x, y < other[x]) for x, y in a if x in other]
    found = float("nan")
    for x, is_less in reversed(points):
        if not is_less:
            break
        found = x
    return found


def _check_crossing_claim(claim: PaperClaim, frame: ResultFrame) -> ClaimVerdict:
    findings, texts = [], []
    for key, part in frame.iter_groups(claim.group_attributes):
        curves = [
            curve_points(claim.value, part.filter_rows(side), claim.x_attribute) for side in claim.compared_filters
        ]
        if not dict(curves[0]).keys() & dict(curves[1]).keys():
            continue
        crossing = crossing_x(*curves)
        text = "never stays below" if np.isnan(crossing) else f"from {crossing:g} on"
        findings.append(
            (claim.value_range[0] <= crossing <= claim.value_range[1], f"{_group_prefix(claim, key)}{text}")
        )
        texts.append(f"{_group_prefix(claim, key)}{text}")
    return _combined_verdict(claim, findings, "; ".join(texts))


def _measured_value_text(value: ResultMeasure, runs: ResultFrame) -> str:
    """Return the value of a measure as text, followed by median and maximum if it is a mean of cost ratios."""
    text = _number_text(value.compute_value(runs))
    tails = [f"{tail.kind_name} {_number_text(tail.compute_value(runs))}" for tail in value.median_and_maximum]
    return f"{text} ({', '.join(tails)})" if tails else text


def _median_and_maximum_text(value: ResultMeasure, runs: ResultFrame) -> str:
    """Return the median and the maximum of a measure over all runs, as text to append to a verdict.

    The text is empty if the measure is not a mean of cost ratios.
    """
    tails = [f"{tail.kind_name} {_number_text(tail.compute_value(runs))}" for tail in value.median_and_maximum]
    return f"; of all runs {', '.join(tails)}" if tails else ""


def _number_text(value: float) -> str:
    """Return a number with four significant digits, or with all digits before the point if there are more."""
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"


def _group_prefix(claim: PaperClaim, key: tuple[Any, ...]) -> str:
    """Return the attributes of a group of runs as a prefix for messages, such as "budget=16: "."""
    assignments = [
        f"{name}={value}" for name, value in zip(claim.group_attributes, key, strict=True) if value not in (None, "")
    ]
    return f"{', '.join(assignments)}: " if assignments else ""


def _printed_number_key(key: tuple[Any, ...]) -> str:
    """Return the attribute values of a group of runs, joined by blanks as in the keys of `printed_numbers`."""
    return " ".join(str(value) for value in key)


def _range_text(values: Sequence[float]) -> str:
    """Return the range of several values as text, such as "1.2 to 3.4"."""
    low, high = min(values), max(values)
    texts = [_number_text(low), _number_text(high)]
    return texts[0] if len(values) == 1 or low == high else " to ".join(texts)


_CHECK_FUNCTIONS: dict[str, Callable[[PaperClaim, ResultFrame], ClaimVerdict]] = {
    "printed": _check_printed_claim,
    "less": _check_less_claim,
    "ratio": _check_ratio_claim,
    "between": _check_value_range_claim,
    "falls": _check_monotone_claim,
    "rises": _check_monotone_claim,
    "power": _check_power_law_claim,
    "crossing": _check_crossing_claim,
}
