"""Command `new-agent`: write a short working example of a user-defined agent."""

import os
from collections.abc import Sequence
from pathlib import Path

from agents import own_files
from cli.arguments import Arguments
from sim.files.disk import write_atomically
from sim.params import ConfigError
from sim.program import ASSETS, NAME

EXAMPLE = ASSETS / "own-agent" / "example.py"
_NAMED = 'name = "real-time A*"'


def main(argv: Sequence[str]) -> int:
    parser = Arguments("new-agent", "Write an example agent to start from: real-time A* in 40 lines.")
    parser.add_argument("file", metavar="FILE.py", help="the file to write; its name becomes the key of the agent")
    path = Path(parser.parse_args(argv).file)
    key = own_files.key_of(path)
    if os.path.lexists(path):
        raise ConfigError(f"{path}: the file exists already; nothing was written")
    text = EXAMPLE.read_text(encoding="utf-8").replace(_NAMED, f'name = "{key}"')
    write_atomically(path, text.encode())
    own_files.trust(path)
    print(f"wrote {path}; next steps:")
    print(
        f"    {NAME} --agent-file {path}              open the window with it; it restarts whenever you save the file"
    )
    print(f"    {NAME} check-agent {path}               check whether it keeps the rules")
    print(f"    {NAME} --agent-file {path} solve --map rooms-64 --from 0,0 --to 63,63 --agent {key}")
    return 0
