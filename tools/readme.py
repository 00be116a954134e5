"""Generated tables of README.md and docs/. `make readme` writes them; a test checks that they are current."""

from collections.abc import Callable, Sequence
from pathlib import Path

from agents.registry import AGENT_SPECS
from cli.arguments import CommandParser, run_module
from experiments.columns import DERIVED_COLUMNS, MEASURED_COLUMNS, PLANNED_COLUMNS, PROCESSOR_TIME_COLUMNS
from sim.agent_api import AgentSpec
from sim.map_generators import GENERATOR_SPECS
from sim.measures import MEASURE_BY_KEY, MEASURES

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def algorithm_table() -> str:
    """Return the table of agents, in the order of the registry."""
    rows = ["| key | name | what it does | file | paper |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *(_agent_row(spec) for spec in AGENT_SPECS)])


def _agent_row(spec: AgentSpec) -> str:
    file = agent_source_path(spec)
    name = spec.name.replace("*", "\\*")
    paper = spec.paper.replace("*", "\\*")
    return f"| `{spec.key}` | {name} | {spec.summary} | [`{file}`]({file}) | {paper} |"


def agent_source_path(spec: AgentSpec) -> str:
    """Return the path of the file that declares an agent; it is named after the agent's key."""
    return f"agents/{spec.key.replace('-', '_')}.py"


def generator_table() -> str:
    """Return the table of the kinds of generated maps."""
    rows = ["| kind | what it makes | parameters |", "|---|---|---|"]
    for spec in GENERATOR_SPECS:
        params = ", ".join(f"`{param.name}` {param.default}" for param in spec.params)
        rows.append(f"| `{spec.kind}` | {spec.description} | {params} |")
    return "\n".join(rows)


def measure_table() -> str:
    """Return the table of measures."""
    rows = ["| measure | meaning |", "|---|---|"]
    rows += [f"| `{measure.key}` | {measure.description.replace('*', chr(92) + '*')} |" for measure in MEASURES]
    return "\n".join(rows)


def column_table() -> str:
    """Return the table of the columns of experiments that are not measures, including columns computed by reports."""
    rows = ["| column | meaning |", "|---|---|"]
    for column in (*PLANNED_COLUMNS, *MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS):
        if column.name not in MEASURE_BY_KEY and column.help:
            rows.append(f"| `{column.name}` | {column.help} |")
    rows += [
        f"| `{name}` | of reports: {description} |"
        for name, description in DERIVED_COLUMNS.items()
        if name not in MEASURE_BY_KEY
    ]
    return "\n".join(rows)


def shortcut_table() -> str:
    """Return the table of keyboard shortcuts by group of commands, with the lines of the list of keys in the window."""
    from ui.commands.command_table import COMMAND_TABLE  # imported here, because the other tables do not need pygame
    from ui.model.ui_command import command_lines

    rows = ["| keys | what they do |", "|---|---|"]
    for group in COMMAND_TABLE.group_names:
        rows.append(f"| | **{group}** |")
        for line in command_lines(COMMAND_TABLE.commands_of_group(group)):
            keys_text = " ".join(f"`{key}`" for key in line.keys).replace("|", "\\|")
            rows.append(f"| {keys_text} | {line.title} |")
    return "\n".join(rows)


TableBuilder = Callable[[], str]

PAGES: dict[Path, dict[str, TableBuilder]] = {
    README: {"algorithms": algorithm_table, "generators": generator_table, "keys": shortcut_table},
    ROOT / "docs" / "results.md": {"measures": measure_table, "columns": column_table},
}


def page_with_updated_tables(page: Path) -> str:
    """Return the text of a page with new tables between the comments `<!-- name -->` and `<!-- /name -->`."""
    text = page.read_text(encoding="utf-8")
    for name, make in PAGES[page].items():
        before, begin, after_marker = text.partition(f"<!-- {name} -->\n")
        _, end, after = after_marker.partition(f"<!-- /{name} -->")
        assert begin and end, f"{page.name}: expected the marks <!-- {name} --> and <!-- /{name} -->"
        text = f"{before}{begin}\n{make()}\n\n{end}{after}"
    return text


def main(argv: Sequence[str]) -> int:
    CommandParser(
        "readme", "Update the tables of README.md and docs/ that are generated from the code.", module="tools.readme"
    ).parse_args(argv)
    for page in PAGES:
        page.write_text(page_with_updated_tables(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_module(main)
