"""Tool for the experiments of papers in assets/experiments: runs them, and writes docs/experiments.md.

python -m tools.papers --size small -o results e1 e4     run some of them, each into its own folder in results
python -m tools.papers -o results --page                 write the page, with sections from the existing folders
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import yaml

from cli import experiment
from cli.arguments import CommandParser, run_module
from cli.report import create_report
from cli.report.page import markdown_heading, report_markdown_section
from experiments.specification import SIZES, parse_report_content
from experiments.store import open_store_for_reading
from files.disk import write_file_atomically
from sim.system.program import ASSETS_FOLDER, PROGRAM_FOLDER

FOLDER, PAGE = ASSETS_FOLDER / "experiments", PROGRAM_FOLDER / "docs" / "experiments.md"
RUNS_FILE = PAGE.with_name("experiment-runs.json")
PAGE_HEAD = """# Experiments of the papers, repeated

Each section shows a specification from `assets/experiments/` and the output of `python main.py report --markdown` for
its results; `python -m tools.papers --page` writes this page. "Printed" is the number in the paper; a claim that does
not hold here says why. Times are processor times of planning on one machine, so only their ratios are meaningful.

The bands of claims are set before the runs, from the numbers in the papers: a commit that records new results may not
change them, and a test enforces this. Some claims of E3, E5 and E9 were added or narrowed after their runs, where a
comparison with the paper was missing or too weak; no band became wider. [experiment-runs.json](experiment-runs.json)
has the digest of the results of every section; `python main.py experiment` gives the same `results.csv` on every
machine.

To run one experiment: `python main.py experiment e6`, with `--size small` in about a minute; then
`python main.py report e6` draws its tables and figures, with the paper's numbers next to ours. After an interruption,
the same command continues; `--dry-run` estimates how long it takes. To write your own, see
[own-experiments.md](own-experiments.md).

E1 to E5, E7 and E9 need maps that we may not distribute: those of the
[MovingAI benchmarks](https://movingai.com/benchmarks/grids.html), with the `.scen` files next to the maps, in folders
`bg512`, `wc3maps512`, `sc1` and `rooms`. `--maps DIR` names the folder that contains them.
"""


def experiment_names() -> list[str]:
    """Return the names of the experiments in numerical order, such as e2 before e10."""
    return sorted((path.stem for path in FOLDER.glob("*.yaml")), key=lambda name: (len(name), name))


def page_sections(results: Path, page: str) -> Iterator[str]:
    """Yield the section of every experiment, made from its results or, without results, copied from the page.

    Args:
        results: The folder that contains a folder of results for each experiment.
        page: The current text of the page.
    """
    sections = {section_title(text): text for text in re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]}
    for name in experiment_names():
        folder = results / name
        if folder.is_dir():
            with open_store_for_reading(folder) as store:
                yield report_markdown_section(create_report(store, is_short=True))
        else:
            spec = parse_report_content((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")
            yield from (
                text.rstrip("\n") + "\n" for named, text in sections.items() if named == markdown_heading(spec.title)
            )


def claims_without_late_keys(specification: str) -> list[Mapping[str, object]]:
    """Return the claims of a specification without the keys that may be added after the results are known.

    The keys `expect` and `why` state that a claim does not hold here; all other keys are fixed before the runs.
    """
    claims = yaml.safe_load(specification)["claims"]
    return [{key: value for key, value in claim.items() if key not in ("expect", "why")} for claim in claims]


def write_result_digests(results: Path) -> None:
    """Write the digests of all available results to docs/experiment-runs.json."""
    runs = json.loads(RUNS_FILE.read_text(encoding="utf-8")) if RUNS_FILE.exists() else {}
    for name in experiment_names():
        if (results / name).is_dir():
            with open_store_for_reading(results / name) as store:
                size, program = store.metadata_value("size"), store.program_version
            table = (results / name / "results.csv").read_bytes()
            rows = len(table.splitlines()) - 1
            digest = sha256(table).hexdigest()
            runs[name] = {"size": size, "rows": rows, "results": digest, "program": program}
    ordered = {name: runs[name] for name in experiment_names() if name in runs}
    write_file_atomically(RUNS_FILE, (json.dumps(ordered, indent=1) + "\n").encode())


def section_title(section: str) -> str:
    """Return the title of a section with Markdown escapes, even if the section itself has no escapes."""
    plain = re.sub(r"\\(.)", r"\1", section.partition("\n")[0].removeprefix("## "))
    return markdown_heading(plain)


def run_or_document_experiments(argv: Sequence[str]) -> int:
    parser = CommandParser(
        "papers",
        "Run the experiments of the papers, or write docs/experiments.md from their results.",
        module="tools.papers",
    )
    parser.add_argument(
        "names", nargs="*", choices=[*experiment_names(), []], metavar="NAME", help=", ".join(experiment_names())
    )
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument(
        "-o",
        "--output",
        default="results",
        metavar="FOLDER",
        help="folder that gets a results folder for each experiment",
    )
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(PROGRAM_FOLDER)}")
    args = parser.parse_args(argv)
    results = Path(args.output)
    for name in args.names or ([] if args.page else experiment_names()):
        spec = str(FOLDER / f"{name}.yaml")
        if code := experiment.main([spec, "-o", str(results / name), "--size", args.size]):
            return code
    if args.page:
        text = "\n".join([PAGE_HEAD, *page_sections(results, PAGE.read_text(encoding="utf-8"))])
        write_file_atomically(PAGE, text.encode())
        write_result_digests(results)
    return 0


if __name__ == "__main__":
    run_module(run_or_document_experiments)
