"""What all agents share whose memory is arrays and whose ticks are the work of a kernel."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from sim.agent_api import STATUSES, AgentView, Status
from sim.kernels.jit import Frequent, bare
from sim.kernels.search import Search, most_known, stamped_nodes
from sim.kernels.stale import Stamped
from sim.metrics import OwnCounts


class KernelAgent:
    """Subclasses say what their kernel takes."""

    takes_bare_rows = True

    made_again: ClassVar[tuple[str, ...]] = ("_bared", "_called", "_status")
    """What is made again from the rest, and no part of a copy. A subclass adds what it makes."""

    _bared: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None  # what arguments() made last, and of what
    _called: Frequent | None = None  # the kernel that was called with these last

    def __init__(self, state: np.dtype) -> None:
        """`state` is the record of the kernel; it has a field `status`."""
        self.state = np.zeros(1, state).view(np.recarray)
        self._look_at_state()

    def _look_at_state(self) -> None:
        """Keep views of what is looked at or written in every tick: by the name of its field that takes long."""
        self._status = self.state["status"]

    @property
    def status(self) -> Status:
        number: int = self._status.item()
        return STATUSES[number]

    @property
    def crew_kernel(self) -> Any:
        """The kernel that runs many of these at once (sim/crew.py), None where there is none."""
        return None

    @property
    def crew_change(self) -> Any:
        """The kernel that tells many of them at once of a change of the map; None: each is told by itself."""
        return None

    def crew_rule(self) -> tuple[int, int, float]:
        """How this one meets a change, see sim.kernels.crew.RULE."""
        return 0, 0, 0.0

    def crew_memory(self) -> tuple[Any, ...]:
        """What that takes of each."""
        return self.arguments()[1:]

    def searches(self) -> tuple[Search, ...]:
        """What it searches with: their open and closed lists are its memory."""
        return ()

    def stamped(self) -> Iterator[Stamped]:
        """Its tables of which only a part counts: for keyframes."""
        return map(stamped_nodes, self.searches())

    def learned_cells(self) -> int:
        """Cells of which it has learned something."""
        return 0

    def own_counts(self) -> OwnCounts:
        return OwnCounts(memory=sum(map(most_known, self.searches())) + self.learned_cells())

    def settle_view(self) -> None:
        """Make now what is made when somebody looks, so that looking writes nothing until the next tick."""
        self.view()

    def view(self) -> AgentView:
        raise NotImplementedError

    def parts(self) -> tuple[Any, ...]:
        """Ground, memory and state, in the order in which the kernel of this agent takes them."""
        raise NotImplementedError

    def arguments(self) -> tuple[Any, ...]:
        """The same bare (see jit.bare): the same object as long as no part was replaced by another."""
        parts = self.parts()
        if self._bared is None or not _are_same(parts, self._bared[0]):
            self._bared, self._called = (parts, bare(parts)), None
        return self._bared[1]

    def call(self, kernel: Any, *rest: Any) -> Any:
        """Let a kernel work: on arguments(), and on the rest, whose types are always the same for one kernel."""
        arguments = self.arguments()
        if self._called is None or self._called.kernel is not kernel:
            self._called = Frequent(kernel)
        return self._called(*arguments, *rest)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made again from the rest: copies of views would not be the same memory any more."""
        return {name: value for name, value in self.__dict__.items() if name not in self.made_again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look_at_state()


def _are_same(parts: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Whether these are the same objects."""
    if len(parts) != len(others):
        return False
    for part, other in zip(parts, others, strict=True):  # noqa: SIM110, as `all` takes twice the time
        if part is not other:
            return False
    return True
