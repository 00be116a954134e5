"""Commands for branches (alternative futures of a run): create, split, show, compare, rename and delete them."""

from functools import partial

from sim.params import ConfigError
from ui.commands.app_context import AppContext
from ui.dialogs.split_dialog import SplitDialog
from ui.dialogs.text_prompt import TextPrompt
from ui.dialogs.worst_block_dialog import WorstBlockDialog
from ui.model import branch_actions
from ui.model.ui_command import RUN_MODE, CommandTopic, ContextMenu, requires

command = CommandTopic("Branches")

_NEEDS_SECOND_BRANCH = requires(
    lambda view: len(view.session.run.branch_tree.branches) > 1,
    "There is only one branch; {key:branch} creates another",
)


@command(
    "B",
    "Create a branch at the current tick",
    button="Branch",
    mode=RUN_MODE,
    menus={ContextMenu.TIME_LINE: 10},
    synonyms=("fork", "what if", "alternative"),
    name="branch",
)
def create_branch(window: AppContext) -> None:
    branch = branch_actions.create_branch_at_current_tick(window.session)
    window.settings.sidebar_tab = "time"
    window.notify_until_next_edit(
        f'The branch "{branch.name}" begins at tick {branch.first_differing_tick:,}. Edits apply to the focused branch.'
    )


@command(
    "Ctrl+B",
    "Create a branch at the current tick (also in edit mode)",
    synonyms=("fork", "what if", "alternative"),
    name="branch_always",
)
def create_branch_in_any_mode(window: AppContext) -> None:
    create_branch(window)


@command(
    "Shift+B",
    "Split the run into branches with different agent settings",
    button="Split",
    mode=RUN_MODE,
    disabled=requires(lambda view: view.session.focused_walker, "There is no agent whose settings can differ"),
    menus={ContextMenu.AGENT: 40},
    name="split_policy",
)
def open_branch_split_dialog(window: AppContext) -> None:
    window.open_dialog(SplitDialog(window.dialogs))


@command("N", "Focus the next branch", mode=RUN_MODE, disabled=_NEEDS_SECOND_BRANCH, name="next_branch")
def focus_next_branch(window: AppContext) -> None:
    numbers = list(window.session.run.branch_tree.branches)
    index = numbers.index(window.session.run.focused_branch_number)
    branch_actions.show_branch(window.session, numbers[(index + 1) % len(numbers)])


@command(
    "Alt+P",
    "Compare the focused branch with its parent (heat map A - B)",
    button="Compare",
    disabled=requires(
        lambda view: (
            view.session.run.branch_tree[view.session.run.focused_branch_number].parent
            in view.session.run.branch_tree.branches
        ),
        "The focused branch has no parent to compare it with",
    ),
    synonyms=("difference",),
)
def compare_branch(window: AppContext) -> None:
    branch_actions.show_beside_parent_branch(window.session)
    window.map_view.layer_state.set_heat_kind("difference")


@command(
    "Alt+H",
    "Hide the focused branch",
    button="Hide",
    disabled=requires(
        lambda view: len(view.session.run.shown_branch_numbers) > 1, "The only branch on screen cannot be hidden"
    ),
)
def hide_branch(window: AppContext) -> None:
    branch_actions.hide_branch(window.session, window.session.run.focused_branch_number)


@command("Alt+N", "Rename the focused branch", button="Rename")
def rename_branch(window: AppContext) -> None:
    session, chosen = window.session, window.session.run.branch_tree[window.session.run.focused_branch_number]
    window.open_dialog(
        TextPrompt(
            window.dialogs,
            "Rename the focused branch",
            chosen.name,
            partial(branch_actions.rename_branch, session, chosen.number),
        )
    )


@command(
    "Alt+Delete", "Delete the focused branch", button="Delete", disabled=_NEEDS_SECOND_BRANCH, synonyms=("remove",)
)
def delete_branch(window: AppContext) -> None:
    try:
        branch_actions.delete_branch(window.session, window.session.run.focused_branch_number)
    except ConfigError as error:
        window.notify_user(error.problems[0])


@command(
    "Alt+W",
    "Find the worst block: the cell or switch, and the tick, that cost most",
    button="Find the worst block ...",
    synonyms=("adversary",),
    name="worst_block",
)
def open_worst_block_search(window: AppContext) -> None:
    window.open_dialog(WorstBlockDialog(window.dialogs))
