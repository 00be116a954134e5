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
    bench           measure speed and memory

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

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # standard output is only for results

from cli.interrupts import exit_code_of
from cli.packages import check_pygame, missing_package_message
from cli.streams import discard_output, replace_closed_streams
from sim.files.shipped_files import OPENABLE_KINDS, resolve_openable_file
from sim.params import ConfigError, did_you_mean_hint, escape_unprintable, similar_name_hint
from sim.program import PROGRAM_COMMAND, program_version

COMMANDS = ("agents", "solve", "run", "record", "experiment", "report", "replay", "advise", "check-lesson", "bench")
OWN = ("new-agent", "check-agent")
HELP = ("-h", "--help")
VERSION = ("-V", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, or open the window, that the arguments name; return the exit code (listed in README.md)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    has_output = replace_closed_streams()
    try:
        if any(word.partition("=")[0] == "--agent-file" for word in arguments):
            arguments = importlib.import_module("cli.own_agents").load_agent_files(arguments)
        code = _dispatch(arguments, has_output)
        sys.stdout.flush()
        return code
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except SystemExit as end:  # raised by argparse after --help
        return int(end.code or 0)
    except ModuleNotFoundError as error:
        print(missing_package_message(error), file=sys.stderr)
        return 2
    except BrokenPipeError:  # the program that reads standard output has closed it
        return discard_output(141)
    except OSError as error:
        print(escape_unprintable(f"{error.filename or 'output'}: {error.strerror or error}"), file=sys.stderr)
        return discard_output(2)
    except KeyboardInterrupt as error:
        return exit_code_of(error)


def _dispatch(arguments: list[str], has_output: bool = True) -> int:
    if not has_output and arguments and arguments[0] in (*COMMANDS, *OWN, *HELP, *VERSION):
        raise ConfigError(
            f"{arguments[0]}: standard output is closed, so results would be lost; use >/dev/null to discard them"
        )
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
