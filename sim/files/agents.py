"""Agents and random changes as the plain data of scenario files: {kind: rtb-wa, label: lazy, weight: 2}."""

from collections.abc import Mapping

from sim.agent_api import AgentSpec
from sim.changes import EVERY, RATE, RandomChanges
from sim.commands import BUDGET, MAX_NAME, AgentConfig
from sim.files.fields import Field, require
from sim.files.yaml import InlineMap
from sim.params import Value, did_you_mean, parse_params, shown

AGENT_KEYS = ("kind", "label", "budget")


def read_agent(entry: Field, specs: Mapping[str, AgentSpec], shared_budget: int) -> AgentConfig | None:
    """The agent that a mapping of the file describes, or None after noting all of its problems."""
    fields = entry.any_keys("an agent such as {kind: tb-wa, weight: 2}")
    before = len(entry.problems.found)
    kind = require(fields, "kind", entry, "the key of an agent")
    label = fields["label"].text(MAX_NAME) if "label" in fields else ""
    budget = fields["budget"].integer(BUDGET) if "budget" in fields else None
    if kind is None:
        return None
    spec = specs.get(kind.value) if isinstance(kind.value, str) else None
    if spec is None:
        kind.complain(f"no agent {shown(kind.value)}{did_you_mean(kind.value, specs)}")
        return None
    params = _agent_params(entry, spec, {key: part for key, part in fields.items() if key not in AGENT_KEYS})
    config = AgentConfig(spec.key, label or "", params, budget)
    if len(entry.problems.found) > before:
        return None
    full = parse_params(spec.params, params, "", [])
    if complaint := spec.check_budget(budget or shared_budget, full):
        entry.complain(complaint)
        return None
    return config


def _agent_params(entry: Field, spec: AgentSpec, fields: dict[str, Field]) -> dict[str, Value]:
    """The parameters that are given, each legal."""
    params: dict[str, Value] = {}
    for key, part in fields.items():
        param = spec.param(key)
        if param is None:
            names = [*AGENT_KEYS, *(p.name for p in spec.params)]
            part.complain(f"{spec.key} has no such parameter{did_you_mean(key, names)}")
        elif (value := part.parse(param)) is not None:
            params[key] = value
    return params


def agent_data(config: AgentConfig) -> InlineMap:
    data = InlineMap(kind=config.kind)
    if config.label:
        data["label"] = config.label
    if config.budget is not None:
        data["budget"] = config.budget
    data.update(config.params)
    return data


def read_changes(entry: Field) -> RandomChanges | None:
    """The random dynamics, written {every: 10, rate: 5}."""
    parts = entry.keys(("every", "rate"), "random changes such as {every: 10, rate: 5}")
    every = require(parts, "every", entry, "the ticks between changes") if parts else None
    rate = require(parts, "rate", entry, "the percentage of cells that change") if parts else None
    if every is None or rate is None:
        return None
    ticks, percent = every.integer(EVERY), rate.parse(RATE)
    return None if ticks is None or percent is None else RandomChanges(ticks, float(percent))


def changes_data(changes: RandomChanges) -> InlineMap:
    return InlineMap(every=changes.every, rate=changes.rate)
