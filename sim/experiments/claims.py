"""Check claims of a paper against our results: whether they hold for our runs, and by how much.

    {claim: early is cheaper, less: [{agent: tba}, {agent: delayed-astar}], value: suboptimality, over: budget}
    {claim: table 1, printed: {10: 3.83, 25: 2.10}, value: suboptimality, over: budget, where: {agent: tba}, within: 10}
    {claim: cost falls with w, falls: weight, value: suboptimality, over: budget}
    {claim: about ten times, ratio: [{agent: a}, {agent: b}], value: moves, between: [8, 12]}
    {claim: linear, power: states, value: expansions, from: 500, exponent: [0.95, 1.06]}
    {claim: they cross, crossing: [{agent: a}, {agent: b}], along: states, value: expansions, between: [1000, 2500]}
    {claim: real-time, between: [0, 1000], value: most max_expansions, over: agent}

`over` names attributes of runs: the claim must hold for every combination of their values. A claim that is known not to
hold for our runs has the keys `expect: false` and `why`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from sim.experiments.frame import Frame, Measure, Where
from sim.experiments.layout import attributes, is_number, measure, read_each, sides, text_of, where_of
from sim.experiments.statistics import power_law
from sim.files.fields import Field, require
from sim.params import Param

KINDS = ("printed", "less", "falls", "rises", "ratio", "power", "crossing", "between")
CLAIM_KEYS = (
    "claim",
    *KINDS,
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
_ONLY_WITH = {
    "between": ("between", "ratio", "crossing"),
    "within": ("printed",),
    "slack": ("less", "falls", "rises"),
    "along": ("crossing",),
    "from": ("power",),
    "exponent": ("power",),
    "factor": ("power",),
}
_NEEDED = {"ratio": ("between",), "crossing": ("between",), "power": ("exponent", "factor")}
_UNBOUNDED = (-float("inf"), float("inf"))

Range = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """Claim of a paper that is checked against the results."""

    text: str  # the claim as an English sentence
    kind: str  # kind of check, one of KINDS
    value: Measure  # measure of the runs that the claim is about, such as their mean cost
    over: tuple[str, ...] = ()  # attributes of runs; the claim must hold for each combination of their values
    where: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    sides: tuple[Where, ...] = ()  # two selections of runs to compare, for claims of the kinds less, ratio and crossing
    along: str = ""  # attribute on the x axis, for claims of the kinds falls, rises, power and crossing
    # values of the `over` attributes joined by blanks -> number printed in the paper
    printed: Mapping[str, float] = field(default_factory=dict)
    within: float = 10.0  # maximum deviation from a printed number, in percent
    slack: float = 0.0  # tolerance for claims of the kinds less, falls and rises, in percent
    between: Range = _UNBOUNDED  # (low, high) of the allowed values, for the kinds ratio, crossing and between
    least: float = 0.0  # minimum x of the points to which a power law is fitted
    exponent: Range = _UNBOUNDED  # (low, high) of the allowed exponent of a fitted power law
    factor: Range = _UNBOUNDED  # (low, high) of the allowed factor of a fitted power law
    expect: bool = True  # False if the claim is known not to hold for our runs
    why: str = ""  # reason why the claim does not hold, if `expect` is False


@dataclass(frozen=True)
class Verdict:
    """Result of checking a claim: whether the claim holds, and the measured numbers."""

    claim: Claim
    holds: bool | None  # None if the claim cannot be decided, for example because there are no runs
    measured: str  # measured numbers as text

    @property
    def word(self) -> str:
        return {True: "holds", False: "does not hold", None: "not measured"}[self.holds]


# --- reading --------------------------------------------------------------------------------------


def read_claims(entry: Field) -> tuple[Claim, ...]:
    return read_each(entry, "a list of claims", _read_claim)


def _read_claim(part: Field) -> Claim | None:
    fields = part.keys(CLAIM_KEYS, _CLAIM_EXAMPLE)
    kind = _kind_of(part, fields)
    text = require(fields, "claim", part, "the claim in words")
    value = require(fields, "value", part, "a measure such as suboptimality")
    chosen = measure(value) if value else None
    if text is None or chosen is None or not kind:
        return None
    return Claim(
        text.text(500) or "",
        kind,
        chosen,
        attributes(fields["over"]) if "over" in fields else (),
        where_of(fields),
        sides(fields[kind]) if kind in ("less", "ratio", "crossing") else (),
        _along(fields, kind, part),
        _numbers(fields["printed"]) if kind == "printed" else {},
        _number(fields, "within", 10.0),
        _number(fields, "slack", 0.0),
        _range(fields, "between"),
        _number(fields, "from", 0.0),
        _range(fields, "exponent"),
        _range(fields, "factor"),
        fields["expect"].parse(_EXPECT_PARAM) is not False if "expect" in fields else True,
        text_of(fields, "why"),
    )


def _kind_of(part: Field, fields: Mapping[str, Field]) -> str:
    """Return the kind of a claim (one of KINDS), or an empty text if its keys name no kind.

    Two mistakes are reported: keys that the kind does not use, and missing keys without which any result would fulfil
    the claim.
    """
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) > 1 and kinds[-1] == "between":  # `between` is then not the kind, but the range of another kind
        kinds.pop()
    if len(kinds) != 1:
        if part.is_mapping:
            part.complain(
                f"expected a claim with one of {', '.join(KINDS)}, got {' and '.join(kinds) or 'none of them'}"
            )
        return kinds[0] if kinds else ""
    for key, allowed in _ONLY_WITH.items():
        if key in fields and kinds[0] not in allowed:
            fields[key].complain(f"is allowed only with {' or '.join(allowed)}")
    needed = _NEEDED.get(kinds[0], ())
    if needed and not any(key in fields for key in needed):
        part.complain(
            f"expected {' or '.join(needed)} with {kinds[0]}, got nothing; without it, the claim would always hold"
        )
    return kinds[0]


def _along(fields: Mapping[str, Field], kind: str, part: Field) -> str:
    if kind == "crossing":
        entry = require(fields, "along", part, "the attribute on the x axis of the crossing curves")
    else:
        entry = fields[kind] if kind in ("falls", "rises", "power") else None
    return (entry.text(60) or "") if entry else ""


def _numbers(entry: Field) -> dict[str, float]:
    parts = entry.any_keys("printed numbers such as {10: 3.83, 25: 2.1}")
    found = {key: float(part.value) for key, part in parts.items() if is_number(part)}
    for key in [key for key, number in found.items() if not number]:
        parts[key].expect("a number other than 0, because deviations are in percent of it")
        del found[key]
    return found


def _number(fields: Mapping[str, Field], key: str, default: float) -> float:
    if key not in fields or not is_number(fields[key]):
        return default
    if fields[key].value < 0:
        fields[key].expect("a number of at least 0")
    return float(fields[key].value)


def _range(fields: Mapping[str, Field], key: str) -> Range:
    if key not in fields:
        return _UNBOUNDED
    parts = fields[key].items("two numbers such as [0.9, 1.1]")
    ends = [float(part.value) for part in parts if is_number(part)]
    if len(parts) != 2 or len(ends) != 2 or ends[0] > ends[1]:
        fields[key].expect("two numbers such as [0.9, 1.1], the smaller first")
        return _UNBOUNDED
    return ends[0], ends[1]


# --- checking -------------------------------------------------------------------------------------


def check(claim: Claim, frame: Frame) -> Verdict:
    """Return whether a claim holds for the runs in a frame, with the measured numbers as text."""
    chosen = frame.where(claim.where)
    if not len(chosen):
        return Verdict(claim, None, "no runs")
    return _CHECKS[claim.kind](claim, chosen)


def _combined_verdict(claim: Claim, findings: Sequence[tuple[bool | None, str]], good: str) -> Verdict:
    """Return the verdict on a claim from the findings for its groups of runs.

    The claim does not hold if a finding is False; otherwise it is undecided if a finding is None.

    Args:
        claim: The claim.
        findings: For each group, whether the claim holds (None if unknown), and the measured numbers as text.
        good: The text of the verdict if the claim holds for all groups; other verdicts list the decisive findings.
    """
    if not findings:
        return Verdict(claim, None, "no runs")
    for holds in (False, None):
        decisive = [text for is_fine, text in findings if is_fine is holds]
        if decisive:
            more = f"; and {len(decisive) - 6} more" if len(decisive) > 6 else ""
            return Verdict(claim, holds, "; ".join(decisive[:6]) + more)
    return Verdict(claim, True, good)


def _check_printed(claim: Claim, frame: Frame) -> Verdict:
    findings: list[tuple[bool | None, str]] = []
    worst = 0.0
    for key, part in frame.groups(claim.over):
        printed = claim.printed.get(_text(key))
        if printed is None:
            continue
        found = claim.value.of(part)
        if np.isnan(found):
            findings.append((None, f"{_place(claim, key)}no runs to compare with {printed:g}"))
            continue
        off = 100.0 * (found / printed - 1.0)
        worst = max(worst, abs(off))
        findings.append(
            (
                abs(off) <= claim.within,
                f"{_place(claim, key)}{_said(claim.value, part)} instead of {printed:g} ({off:+.1f} %)",
            )
        )
    good = f"{len(findings)} numbers, the largest deviation is {worst:.1f} %{_tails_text(claim.value, frame)}"
    return _combined_verdict(claim, findings, good)


@dataclass(frozen=True)
class _SidePair:
    """Measured values of the two compared sides of a claim, such as two agents, in one group of runs."""

    place: str  # description of the group of runs, printed before the values
    a: float  # measure of the runs of the first side
    b: float  # measure of the runs of the second side
    text: str  # the values of both sides as text


def _pairs(claim: Claim, frame: Frame) -> list[_SidePair]:
    """Return the values of the two compared sides, for every group of runs in which both values are known."""
    found = []
    for key, part in frame.groups(claim.over):
        runs = [part.where(side) for side in claim.sides]
        a, b = map(claim.value.of, runs)
        if not (np.isnan(a) or np.isnan(b)):
            text = " and ".join(_said(claim.value, own) for own in runs)
            found.append(_SidePair(_place(claim, key), a, b, text))
    return found


def _check_less(claim: Claim, frame: Frame) -> Verdict:
    pairs = _pairs(claim, frame)
    findings = [
        (p.a <= p.b * (1 + claim.slack / 100) if claim.slack else p.a < p.b, f"{p.place}{p.text}") for p in pairs
    ]
    ratios = [pair.b / pair.a for pair in pairs if pair.a]
    span = f"by a factor of {_span(ratios)}" if ratios else "always"
    return _combined_verdict(claim, findings, span)


def _check_ratio(claim: Claim, frame: Frame) -> Verdict:
    low, high = claim.between
    pairs = _pairs(claim, frame)
    ratios = [(pair, pair.a / pair.b) for pair in pairs if pair.b]
    findings: list[tuple[bool | None, str]] = []
    findings += [(low <= ratio <= high, f"{pair.place}{ratio:.4g}") for pair, ratio in ratios]
    findings += [(None, f"{pair.place}{pair.a:.4g} cannot be divided by 0") for pair in pairs if not pair.b]
    return _combined_verdict(claim, findings, _span([ratio for _, ratio in ratios]) if ratios else "")


def _check_between(claim: Claim, frame: Frame) -> Verdict:
    low, high = claim.between
    known = [(key, part) for key, part in frame.groups(claim.over) if not np.isnan(claim.value.of(part))]
    values = [claim.value.of(part) for _, part in known]
    texts = [f"{_place(claim, key)}{_said(claim.value, part)}" for key, part in known]
    findings = [(low <= value <= high, text) for value, text in zip(values, texts, strict=True)]
    return _combined_verdict(claim, findings, _span(values) + _tails_text(claim.value, frame) if values else "")


def curve(value: Measure, frame: Frame, along: str) -> list[tuple[float, float]]:
    """Return the sorted points (value of the attribute `along`, measure) of a curve, without points that are nan."""
    points = [(key[0], value.of(part)) for key, part in frame.groups([along]) if key[0] is not None]
    return sorted((float(x), y) for x, y in points if not np.isnan(y))


def _check_monotone(claim: Claim, frame: Frame) -> Verdict:
    sign = 1.0 if claim.kind == "falls" else -1.0
    findings, spans = [], []
    for key, part in frame.groups(claim.over):
        points = curve(claim.value, part, claim.along)
        said = {at[0]: _said(claim.value, runs) for at, runs in part.groups([claim.along])}
        for (x, before), (z, after) in pairwise(points):
            allowed = abs(before) * claim.slack / 100.0
            text = f"{_place(claim, key)}{said[x]} at {claim.along}={x:g}, {said[z]} at {z:g}"
            findings.append((sign * (after - before) <= allowed, text))
        if len(points) > 1 and points[0][1]:
            spans.append(points[-1][1] / points[0][1])
    return _combined_verdict(claim, findings, f"by a factor of {_span(spans)} from first to last" if spans else "")


def _check_power(claim: Claim, frame: Frame) -> Verdict:
    findings: list[tuple[bool | None, str]] = []
    fits = []
    for key, part in frame.groups(claim.over):
        points = [p for p in curve(claim.value, part, claim.along) if p[0] >= claim.least]
        if len(points) < 2:
            continue
        if without_logarithm := [point for point in points if min(point) <= 0]:
            at, value = without_logarithm[0]
            text = f"a power law needs positive numbers, {claim.value.text} is {value:.4g} at {claim.along}={at:g}"
            findings.append((None, f"{_place(claim, key)}{text}"))
            continue
        x, y = np.array(points).T
        fit = power_law(x, y)
        is_fine = (
            claim.exponent[0] <= fit.exponent <= claim.exponent[1] and claim.factor[0] <= fit.factor <= claim.factor[1]
        )
        text = f"{_place(claim, key)}{fit.factor:.3g} {claim.along}^{fit.exponent:.3f}"
        findings.append((is_fine, text))
        fits.append(text)
    return _combined_verdict(claim, findings, ", ".join(fits))


def crossing(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> float:
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


def _check_crossing(claim: Claim, frame: Frame) -> Verdict:
    findings, places = [], []
    for key, part in frame.groups(claim.over):
        curves = [curve(claim.value, part.where(side), claim.along) for side in claim.sides]
        if not dict(curves[0]).keys() & dict(curves[1]).keys():
            continue
        at = crossing(*curves)
        words = "never stays below" if np.isnan(at) else f"from {at:g} on"
        findings.append((claim.between[0] <= at <= claim.between[1], f"{_place(claim, key)}{words}"))
        places.append(f"{_place(claim, key)}{words}")
    return _combined_verdict(claim, findings, "; ".join(places))


def _said(value: Measure, runs: Frame) -> str:
    """Return the value of a measure as text, followed by median and maximum if it is a mean of cost ratios."""
    text = f"{value.of(runs):.4g}"
    tails = [f"{tail.kind_word} {tail.of(runs):.4g}" for tail in value.tails]
    return f"{text} ({', '.join(tails)})" if tails else text


def _tails_text(value: Measure, runs: Frame) -> str:
    """Return the median and the maximum of a measure over all runs, as text to append to a verdict.

    The text is empty if the measure is not a mean of cost ratios.
    """
    tails = [f"{tail.kind_word} {tail.of(runs):.4g}" for tail in value.tails]
    return f"; of all runs {', '.join(tails)}" if tails else ""


def _place(claim: Claim, key: tuple[Any, ...]) -> str:
    """Return the attributes of a group of runs as a prefix for messages, such as "budget=16: "."""
    words = [f"{name}={value}" for name, value in zip(claim.over, key, strict=True) if value not in (None, "")]
    return f"{', '.join(words)}: " if words else ""


def _text(key: tuple[Any, ...]) -> str:
    """Return the attribute values of a group of runs, joined by blanks as in the keys of `printed`."""
    return " ".join(str(value) for value in key)


def _span(values: Sequence[float]) -> str:
    """Return the range of several values as text, such as "1.2 to 3.4"."""
    low, high = min(values), max(values)
    return f"{low:.4g}" if len(values) == 1 or low == high else f"{low:.4g} to {high:.4g}"


_CHECKS: dict[str, Callable[[Claim, Frame], Verdict]] = {
    "printed": _check_printed,
    "less": _check_less,
    "ratio": _check_ratio,
    "between": _check_between,
    "falls": _check_monotone,
    "rises": _check_monotone,
    "power": _check_power,
    "crossing": _check_crossing,
}
