"""Command `new-agent`: write a short working example of a user-defined agent."""

import os
from collections.abc import Sequence
from pathlib import Path

from agents import own_files
from cli.arguments import CommandParser
from files.disk import write_file_atomically
from sim.params import ConfigError
from sim.system.program import ASSETS_FOLDER, PROGRAM_COMMAND

EXAMPLE_AGENT_FILE = ASSETS_FOLDER / "own-agent" / "example.py"
_NAME_LINE = 'name = "real-time A*"'


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("new-agent", "Write an example agent to start from: real-time A* in 40 lines.")
    parser.add_argument("file", metavar="FILE.py", help="the file to write; its name becomes the key of the agent")
    path = Path(parser.parse_args(argv).file)
    key = own_files.agent_key_of_file(path)
    if os.path.lexists(path):
        raise ConfigError(f"{path}: the file exists already; nothing was written")
    text = EXAMPLE_AGENT_FILE.read_text(encoding="utf-8").replace(_NAME_LINE, f'name = "{key}"')
    write_file_atomically(path, text.encode())
    own_files.store_file_trust(path)
    print(f"wrote {path}; next steps:")
    print(
        f"    {PROGRAM_COMMAND} --agent-file {path}              open the window with it; it restarts whenever you "
        "save the file"
    )
    print(f"    {PROGRAM_COMMAND} check-agent {path}               check whether it keeps the rules")
    print(f"    {PROGRAM_COMMAND} --agent-file {path} solve --map rooms-64 --from 0,0 --to 63,63 --agent {key}")
    return 0
