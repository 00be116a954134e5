"""Commands for branches (alternative futures of a run): create, split, show, compare, rename and delete them."""

from functools import partial

from sim.params import ConfigError
from ui.commands.window import Window
from ui.dialogs.split import SplitPolicy
from ui.dialogs.text_prompt import TextPrompt
from ui.dialogs.worst_block import WorstBlock
from ui.model import branching
from ui.model.command import RUN, Topic

command = Topic("Branches")


@command("B", "Create a branch at the current tick", mode=RUN, name="branch")
def branch(window: Window) -> None:
    made = branching.branch_here(window.session)
    window.settings.sidebar_tab = "time"
    window.tell(f'The branch "{made.name}" begins at tick {made.at:,}. Edits apply to the focused branch.')


@command("Ctrl+B", "Create a branch at the current tick (also in edit mode)", name="branch_always")
def branch_always(window: Window) -> None:
    branch(window)


@command("Shift+B", "Split the run into branches with different agent settings", mode=RUN, name="split_policy")
def split_policy(window: Window) -> None:
    if window.session.focused is not None:
        window.show(SplitPolicy(window.dialogs))


@command("N", "Focus the next branch", mode=RUN, name="next_branch")
def next_branch(window: Window) -> None:
    numbers = list(window.session.run.tree.branches)
    index = numbers.index(window.session.run.front)
    branching.show(window.session, numbers[(index + 1) % len(numbers)])


@command("Alt+P", "Compare the focused branch with its parent (heat map A - B)")
def compare_branch(window: Window) -> None:
    if branching.compare_with_parent(window.session):
        window.scene.layers.show_heat("difference")
    else:
        window.say("The first branch has no parent")


@command("Alt+H", "Hide the focused branch")
def hide_branch(window: Window) -> None:
    branching.hide(window.session, window.session.run.front)


@command("Alt+N", "Rename the focused branch")
def rename_branch(window: Window) -> None:
    session, chosen = window.session, window.session.run.tree[window.session.run.front]
    window.show(
        TextPrompt(
            window.dialogs,
            "Rename the focused branch",
            chosen.name,
            partial(branching.rename, session, chosen.number),
        )
    )


@command("Alt+Delete", "Delete the focused branch")
def delete_branch(window: Window) -> None:
    try:
        branching.delete(window.session, window.session.run.front)
    except ConfigError as error:
        window.say(error.problems[0])


@command("Alt+W", "Find the worst block: the cell or switch, and the tick, that cost most", name="worst_block")
def worst_block(window: Window) -> None:
    window.show(WorstBlock(window.dialogs))
