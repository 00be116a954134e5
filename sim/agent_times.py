"""Computing times of agents, measured for display and for tables of results. They never affect a run."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

Clock = Callable[[], float]


@dataclass
class AgentTimes:
    """Clocks of a world, and the seconds that its agents took.

    The two clocks serve different purposes: `stopwatch` measures every single agent, so that agents cannot act together
    in one kernel call; `clock` measures what acts together as a whole.
    """

    stopwatch: Clock | None = None  # clock in seconds that measures every agent; None: agents are not measured singly
    clock: Clock | None = None  # clock in seconds for times on display and for the time limit of ticks; None: no times
    # Agent id -> seconds of planning, and of reacting to map changes, since tick 0; empty without a stopwatch.
    planning_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    map_change_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    # Agent id -> seconds of an agent that acted alone in the last advance; empty without a `clock`.
    last_advance_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
