"""The parts of README.md that come from the code. `python -m cli.readme` writes them again; a test compares."""

from collections.abc import Sequence
from pathlib import Path

from agents.registry import SPECS
from cli.arguments import Arguments, run_module
from sim.agent_api import AgentSpec
from sim.generate import GENERATORS
from sim.measures import MEASURES

README = Path(__file__).resolve().parent.parent / "README.md"


def algorithm_table() -> str:
    """One row for each agent in the order of the registry."""
    rows = ["| key | name | what it does | file | paper |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *(_row(spec) for spec in SPECS)])


def _row(spec: AgentSpec) -> str:
    file = file_of(spec)
    name = spec.name.replace("*", "\\*")
    paper = spec.paper.replace("*", "\\*")
    return f"| `{spec.key}` | {name} | {spec.summary} | [`{file}`]({file}) | {paper} |"


def file_of(spec: AgentSpec) -> str:
    """Where an agent is declared: every key has a file of its own name."""
    return f"agents/{spec.key.replace('-', '_')}.py"


def generator_table() -> str:
    """One row for each kind of generated map."""
    rows = ["| kind | what it makes | parameters |", "|---|---|---|"]
    for spec in GENERATORS:
        params = ", ".join(f"`{param.name}` {param.default}" for param in spec.params)
        rows.append(f"| `{spec.kind}` | {spec.help} | {params} |")
    return "\n".join(rows)


def measure_table() -> str:
    """One row for each measure."""
    rows = ["| measure | meaning |", "|---|---|"]
    rows += [f"| `{measure.key}` | {measure.words.replace('*', chr(92) + '*')} |" for measure in MEASURES]
    return "\n".join(rows)


def key_table() -> str:
    """All commands of the window by group, from the table that the window itself uses."""
    from ui.commands.table import COMMANDS  # only here: making the other tables needs no pygame
    from ui.model.command import EDIT

    rows = ["| keys | what they do |", "|---|---|"]
    for group in COMMANDS.groups:
        rows.append(f"| | **{group}** |")
        for command in COMMANDS.of_group(group):
            shown = " ".join(f"`{key}`" for key in command.keys).replace("|", "\\|")
            rows.append(f"| {shown} | {command.help}{' (edit mode)' if command.mode == EDIT else ''} |")
    return "\n".join(rows)


SECTIONS = {"algorithms": algorithm_table, "generators": generator_table, "measures": measure_table, "keys": key_table}


def with_sections(text: str) -> str:
    """The text with everything between `<!-- name -->` and `<!-- /name -->` made anew."""
    for name, make in SECTIONS.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        assert begin and end, f"README.md: expected the marks <!-- {name} --> and <!-- /{name} -->"
        text = f"{before}{begin}\n{make()}\n\n{end}{after}"
    return text


def main(argv: Sequence[str]) -> int:
    Arguments("readme", "Write the tables of README.md that come from the code.", is_module=True).parse_args(argv)
    README.write_text(with_sections(README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_module(main)
