"""Conditions that several commands need, each with the reason that the user reads while it is not met."""

from ui.model.ui_command import requires

NEEDS_AGENT = requires(lambda view: view.session.focused_walker, "There is no agent")
NEEDS_CROWD = requires(
    lambda view: view.session.run.crowd_of_panel(view.session.focused_key) is not None,
    "The focused panel shows a single agent, not a crowd",
)
NEEDS_PANEL = requires(lambda view: view.session.run.panels, "There is no panel; {key:add_agent} adds an agent")
