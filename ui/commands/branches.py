"""Branches: second futures from a tick on, and what can be asked about them."""

from typing import TYPE_CHECKING

from sim.params import ConfigError
from ui.dialogs.split import SplitPolicy
from ui.dialogs.text_prompt import TextPrompt
from ui.dialogs.worst_block import WorstBlock
from ui.model.command import RUN, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Branches")


@command("B", "Branch: a second future from this tick on, beside this one", mode=RUN)
def branch(app: "App") -> None:
    made = app.session.branch_here()
    app.settings.sidebar_tab = "time"
    app.say(f'"{made.name}" begins at tick {made.at:,}; edits go to the focused branch')


@command("Ctrl+B", "The same, in edit mode too")
def branch_always(app: "App") -> None:
    branch(app)


@command("Shift+B", "Split: lazy and eager, several weights or budgets, from here", mode=RUN)
def split_policy(app: "App") -> None:
    if app.session.focused is not None:
        app.show(SplitPolicy(app))


@command("N", "Focus the next branch", mode=RUN)
def next_branch(app: "App") -> None:
    numbers = list(app.session.tree.branches)
    here = numbers.index(app.session.branch)
    app.session.show_branch(numbers[(here + 1) % len(numbers)])


@command("Alt+P", "The branch beside its parent, heat A - B")
def compare_branch(app: "App") -> None:
    if app.session.compare_with_parent():
        app.set_heat_kind("difference")
    else:
        app.say("the first branch has no parent")


@command("Alt+H", "Take the focused branch off the screen")
def hide_branch(app: "App") -> None:
    app.session.hide_branch(app.session.branch)


@command("Alt+N", "Rename the focused branch")
def rename_branch(app: "App") -> None:
    chosen = app.session.tree[app.session.branch]
    app.show(
        TextPrompt(app, "Rename the branch", chosen.name, lambda name: app.session.rename_branch(chosen.number, name))
    )


@command("Alt+Delete", "Delete the focused branch")
def delete_branch(app: "App") -> None:
    try:
        app.session.delete_branch(app.session.branch)
    except ConfigError as error:
        app.say(error.problems[0])


@command("Alt+W", "Find the worst block: which switch or cell, and when, costs most")
def worst_block(app: "App") -> None:
    app.show(WorstBlock(app))
