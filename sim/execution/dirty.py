"""Reasons why the caches of an executor may be out of date."""

from enum import Enum, auto


class InvalidationReason(Enum):
    """Kind of change in a world, the reason that `World.invalidate` gets."""

    AGENTS = auto()  # agents may act again, or use other arrays, parameters or budgets
    GOALS = auto()  # the same, and an agent has got a goal of its own
    MEMBERSHIP = auto()  # agents were added, removed or stopped, or may have to join or leave a batch
