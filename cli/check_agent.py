"""Command `check-agent`: check whether a user-defined agent keeps the rules for all agents."""

from collections.abc import Sequence

from agents import agent_contract, own_files
from cli.arguments import CommandParser
from cli.own_agents import ask_permission_to_run

OK, BROKEN = 0, 1


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("check-agent", "Run your own agent on small maps, and check every move against the rules.")
    parser.add_argument("file", metavar="FILE.py", help="the agent, see docs/your-own-agent.md")
    file = parser.parse_args(argv).file
    own_files.agent_key_of_file(own_files.absolute_path(file))
    ask_permission_to_run(file)
    spec = own_files.load_agent_file(file)
    print(f"{spec.name} ({spec.key}): {spec.summary}")
    broken = 0
    for rule, wrong in agent_contract.check_agent_contract(spec):
        broken += bool(wrong)
        print(f"  {'BROKEN' if wrong else 'ok    '}  {rule}", flush=True)
        if wrong:
            print(f"          {wrong}")
    if warning := agent_contract.unstorable_state_warning(spec):
        print("  slow    going back in time takes longer, because the run is computed again")
        print(f"          {warning}")
    print("all rules are kept" if not broken else f"{broken} of {len(agent_contract.CONTRACT_RULES)} rules are broken")
    return BROKEN if broken else OK
