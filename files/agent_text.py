"""Parse agents written as one word, on the command line and in experiments: `tb-wa`, `tb-wa:weight=3,reopen=true`."""

from collections.abc import Mapping

from sim.agent_api import AgentSpec
from sim.params import ConfigError, parse_params, unknown_agent_hint
from sim.world_commands import BUDGET_PARAM, MAX_NAME_LENGTH, AgentConfig


def parse_agent_text(text: str, specs: Mapping[str, AgentSpec], budget: int, where: str = "") -> AgentConfig:
    """Parse an agent written as one word.

    Args:
        text: the agent, such as `tb-wa:weight=3`; besides parameters, the text may set `label` and `budget`.
        specs: known kinds of agents, by key.
        budget: shared budget, for which the agent must be valid if the text sets no budget.
        where: beginning of error messages; "": messages begin with `--agent` and the text.

    Raises:
        ConfigError: The text is not valid; the error lists all problems.
    """
    where = where or f"--agent {text}"
    key, colon, assignments = text.partition(":")
    spec = specs.get(key.strip())
    if spec is None:
        colons = "" if colon or "=" not in key else " Parameters follow a colon, as in tb-wa:weight=3"
        raise ConfigError(f"{where}: no agent '{key.strip()}'{unknown_agent_hint(key.strip(), specs)}{colons}")
    prefix = where.removesuffix(f":{assignments}")
    problems: list[str] = []
    if colon and not assignments.strip():
        problems.append(f"{where}: expected parameter=value after the colon, got nothing")
    values = _parse_param_assignments(assignments, where, prefix, problems) if assignments.strip() else {}
    label = values.pop("label", "")
    if not label.isprintable() or len(label) > MAX_NAME_LENGTH:
        problems.append(f"{prefix}.label: expected printable text of at most {MAX_NAME_LENGTH} characters")
    own_budget = _pop_budget(values, prefix, problems)
    params = parse_params(spec.params, values, prefix, problems)
    if not problems and (complaint := spec.check_budget(own_budget or budget, params)):
        problems.append(f"{where}: {complaint}")
    if problems:
        raise ConfigError(problems)
    return AgentConfig(spec.key, label, {name: params[name] for name in values}, own_budget)


def _parse_param_assignments(text: str, where: str, prefix: str, problems: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not name:
            problems.append(f"{where}: expected parameter=value, got '{part.strip()}'")
        elif name in values:
            problems.append(f"{prefix}.{name}: given twice")
        values[name] = value
    return values if not problems else {}


def _pop_budget(values: dict[str, str], prefix: str, problems: list[str]) -> int | None:
    if "budget" not in values:
        return None
    try:
        return int(BUDGET_PARAM.parse_value(values.pop("budget"), f"{prefix}.budget"))
    except ConfigError as error:
        problems += error.problems
        return None
