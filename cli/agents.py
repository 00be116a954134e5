"""Command `agents`: list every agent with its parameters, their ranges, and its paper."""

import json
from collections.abc import Sequence

from agents.registry import AGENT_SPECS
from cli.arguments import CommandParser
from sim.agent_api import AgentSpec
from sim.params import Param


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("agents", "List every agent with its parameters, their ranges, and its paper.")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    if parser.parse_args(argv).json:
        print(json.dumps([spec.describe() for spec in AGENT_SPECS], indent=2))
    else:
        print("\n\n".join(_agent_description(spec) for spec in AGENT_SPECS))
    return 0


def _agent_description(spec: AgentSpec) -> str:
    lines = [f"{spec.key:<14} {spec.name} ({spec.paper})", f"{'':<14} {spec.summary}"]
    return "\n".join([*lines, *(_parameter_line(param) for param in spec.params)])


def _parameter_line(param: Param) -> str:
    symbol = f" ({param.symbol})" if param.symbol else ""
    default = str(param.default).lower() if param.kind is bool else param.display_text(param.default)
    return f"{'':<16} {param.name + symbol:<16} {default:<8} {param.help} ({param.describe_legal_values()})"
