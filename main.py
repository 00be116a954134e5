"""Backmove: a desktop laboratory for real-time heuristic search on grid maps.

    main.py [FILE]           open the window with a file, with an example given by name, or with the first example
    main.py COMMAND ...      run one of these commands; only `replay` opens a window:

    agents          list every agent with its parameters
    solve           solve problems
    run             run a scenario
    record          film a scenario: video, GIF, pictures
    experiment      run many agents on many problems, on all processors or on a cluster
    report          write the results of an experiment: tables, figures, claims
    replay          open a row of the results of an experiment in the window, or check rows
    advise          recommend an agent for a map and a number of units
    check-lesson    play a lesson of your own and check its claims
    new-agent       write an example agent to start from
    check-agent     check whether an agent of your own keeps the rules

`main.py COMMAND --help` explains a command; `main.py --version` prints the version.
`--agent-file FILE.py`, with any command or with the window, adds an agent of your own: see
docs/your-own-agent.md.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

if tuple(sys.version_info) < (3, 11):  # before importing modules that an older Python cannot parse
    sys.exit(f"Backmove needs Python 3.11 or later; {sys.executable} is {sys.version.split()[0]}")

from cli.packages import check_pygame
from cli.run_program import run_program
from cli.standard_streams import check_output_is_open
from files.shipped_files import OPENABLE_KINDS, resolve_openable_file
from sim.params import ConfigError, did_you_mean_hint, similar_name_hint
from sim.system.program import PROGRAM_COMMAND, program_version

COMMANDS = ("agents", "solve", "run", "record", "experiment", "report", "replay", "advise", "check-lesson")
OWN = ("new-agent", "check-agent")
HELP = ("-h", "--help")
VERSION = ("-V", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, or open the window, that the arguments name; return the exit code (listed in README.md)."""
    return run_program(_dispatch, sys.argv[1:] if argv is None else argv)


def _dispatch(arguments: list[str], has_output: bool) -> int:
    if arguments and arguments[0] in (*COMMANDS, *OWN, *HELP, *VERSION):
        check_output_is_open(arguments[0], has_output)
    if arguments and arguments[0] in (*COMMANDS, *OWN):
        # Import only the module of this command, because most commands need no modules of the window.
        return int(importlib.import_module(f"cli.{arguments[0].replace('-', '_')}").main(arguments[1:]))
    if any(word in HELP for word in arguments):
        print(__doc__.replace("main.py", PROGRAM_COMMAND))
        return 0
    if arguments and arguments[0] in VERSION:
        print(f"Backmove {program_version()}, Python {sys.version.split()[0]}")
        return 0
    file = resolve_openable_file(arguments[0]) if arguments else ""
    if arguments and not os.path.exists(file):
        raise ConfigError(f"{arguments[0]}: {_what_is_wrong(arguments[0])}")
    if len(arguments) > 1:
        raise ConfigError(
            f"{arguments[1]}: expected only one file or example to open, got another argument after {arguments[0]}"
        )
    check_pygame()
    window = importlib.import_module("ui.start")
    return int(window.run_until_closed(Path(file) if arguments else None))


def _what_is_wrong(name: str) -> str:
    """Return why the first argument is neither a command nor a file, with the most similar name as a suggestion."""
    if name.startswith("-"):
        return f"no such option{did_you_mean_hint(name, ['--help', '--version', '--agent-file'])}"
    folder, file = os.path.split(name)
    if folder or "." in file:
        files = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        return f"no such file{similar_name_hint(file, files)}"
    commands = (*COMMANDS, *OWN, "--help")
    names = (name for kind in OPENABLE_KINDS for name in kind.names())
    return f"no such command or file{similar_name_hint(name, (*commands, *names)) or did_you_mean_hint(name, commands)}"


if __name__ == "__main__":
    sys.exit(main())
