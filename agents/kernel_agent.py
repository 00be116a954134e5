"""Base class of agents whose memory is arrays and whose ticks are computed by a kernel (a compiled function).

Words used for all agents: the ground is the tuple of the map's arrays that kernels read; a row is the record of one
tick that an agent writes (position, expansions and so on); an agent is watched if the window draws its search.
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from sim.agent_api import STATUSES, AgentView, Batchable, Status
from sim.jit.decorators import as_plain_arrays, without_type_checks
from sim.kernels.search import Search, max_known_cells, stamped_table_of_nodes
from sim.kernels.stale import StampedTable
from sim.metrics import OwnCounts


class KernelAgent:
    """Base class of agents whose ticks a kernel computes, with the arguments that `kernel_arguments` returns."""

    takes_plain_rows = True

    derived_attributes: ClassVar[tuple[str, ...]] = ("_plain_arguments", "_unchecked_kernel", "_status_view")
    """Names of derived attributes, which are excluded from copies and recomputed; subclasses add their own."""

    # Cache of arguments(): the result of parts(), and the same arrays as plain arrays.
    _plain_arguments: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None
    # The kernel that was called last, and the same kernel without type checks. Valid only for the cached arguments.
    _unchecked_kernel: tuple[Any, Callable[..., Any]] | None = None

    def __init__(self, state: np.dtype) -> None:
        """Create the agent's state record, in which kernels store its variables.

        Args:
            state: Data type of the kernel's state record, which has a field `status`.
        """
        self.state_record = np.zeros(1, state).view(np.recarray)
        self._cache_state_views()

    def _cache_state_views(self) -> None:
        """Store views of the state's fields that are read in every tick, because access by field name is slow."""
        self._status_view = self.state_record["status"]

    @property
    def status(self) -> Status:
        number: int = self._status_view.item()
        return STATUSES[number]

    def as_batchable(self) -> Batchable | None:
        """Return the agent itself if there is a kernel for its batches."""
        return self if self.batch_kernel is not None else None

    @property
    def batch_kernel(self) -> Any:
        """Return the kernel that advances a batch of agents of this kind in one call; None if there is none."""
        return None

    @property
    def batch_map_change_kernel(self) -> Any:
        """Return the kernel that applies a map change to a batch of agents; None: call each agent's `on_change`."""
        return None

    def batch_arguments(self) -> tuple[Any, ...]:
        """Return this agent's arguments of the batch kernel: all arguments except the ground, which is shared."""
        return self.plain_kernel_arguments()[1:]

    def searches_of_agent(self) -> tuple[Search, ...]:
        """Return the searches of the agent. The cells on their open and closed lists count as the agent's memory."""
        return ()

    def generation_tables(self) -> Iterator[StampedTable]:
        """Return the agent's tables in which an entry is valid only if it has the stamp of the present search.

        Keyframes store only the valid entries of such a table.
        """
        return map(stamped_table_of_nodes, self.searches_of_agent())

    def learned_cell_count(self) -> int:
        """Return the number of cells with a learned h value, which counts as the agent's memory."""
        return 0

    def own_counts(self) -> OwnCounts:
        return OwnCounts(memory=sum(map(max_known_cells, self.searches_of_agent())) + self.learned_cell_count())

    def materialize_view(self) -> None:
        """Compute everything that `view` computes lazily, so that calls of `view` write nothing until the next tick."""
        self.view()

    def view(self) -> AgentView:
        raise NotImplementedError

    def kernel_arguments(self) -> tuple[Any, ...]:
        """Return the kernel's first arguments: the arrays of the map, then the agent's own arrays and state record."""
        raise NotImplementedError

    def plain_kernel_arguments(self) -> tuple[Any, ...]:
        """Return `kernel_arguments()` as plain arrays, which calls unpack fastest; cached until a part is replaced."""
        parts = self.kernel_arguments()
        if self._plain_arguments is None or not _contain_identical_objects(parts, self._plain_arguments[0]):
            self._plain_arguments, self._unchecked_kernel = (parts, as_plain_arrays(parts)), None
        return self._plain_arguments[1]

    def call_kernel(self, kernel: Any, *extra_arguments: Any) -> Any:
        """Call a kernel with the agent's `plain_kernel_arguments()` followed by further arguments.

        Args:
            kernel: Kernel to call.
            extra_arguments: Further arguments; their types must be the same in all calls of a kernel, because they are
                not checked in every call.

        Returns:
            The result of the kernel.
        """
        arguments = self.plain_kernel_arguments()
        if self._unchecked_kernel is None or self._unchecked_kernel[0] is not kernel:
            self._unchecked_kernel = kernel, without_type_checks(kernel)
        return self._unchecked_kernel[1](*arguments, *extra_arguments)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the derived ones in `derived_attributes`.

        A copied view of an array would no longer share the memory of that array.
        """
        return {name: value for name, value in self.__dict__.items() if name not in self.derived_attributes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._cache_state_views()


def _contain_identical_objects(parts: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Return whether two tuples contain the same objects, compared by identity."""
    if len(parts) != len(others):
        return False
    for part, other in zip(parts, others, strict=True):  # noqa: SIM110, as `all` takes twice the time
        if part is not other:
            return False
    return True
