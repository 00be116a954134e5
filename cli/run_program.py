"""Running of a program from the command line: errors become one line of text and an exit code."""

import importlib
import os
import sys
from collections.abc import Callable, Sequence

from cli.interrupts import exit_code_of
from cli.packages import missing_package_message
from cli.standard_streams import discard_output, replace_closed_streams
from sim.params import ConfigError, escape_unprintable


def run_program(run: Callable[[list[str], bool], int], argv: Sequence[str]) -> int:
    """Call `run`, print an error of the user as text, and return the exit code (listed in README.md).

    Args:
        run: The program; it gets the arguments without --agent-file, and whether standard output is open.
        argv: The arguments of the command line.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # standard output is only for results
    arguments = list(argv)
    has_output = replace_closed_streams()
    try:
        if any(word.partition("=")[0] == "--agent-file" for word in arguments):
            arguments = importlib.import_module("cli.own_agents").load_agent_files(arguments)
        code = run(arguments, has_output)
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
