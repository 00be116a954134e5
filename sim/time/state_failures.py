"""Error messages and retries for user-defined agents whose state cannot be stored in a keyframe or loaded."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sim.params import value_as_in_python

StatePart = tuple[str, object]
"""A part of an object: the Python expression that leads from the object to it, such as `.table` or `[3]`, and its
value."""

FailureTest = Callable[[list[object], list[object]], bool]
"""Function that returns whether some value of the first list cannot be stored and loaded again. Objects of the second
list are not tested where they occur inside these values."""

_MAX_SKIPPED_KEYFRAMES = 63  # maximum number of keyframes skipped before a retry
_MAX_PART_DEPTH = 12  # deepest level at which find_failing_part() looks for the failing part; `self.a.b.c` has 3 levels


class StateError(Exception):
    """Failure to store or load the state of a user-defined agent; the text gives the reason."""

    def __init__(self, code: str, why: str, *, is_loading: bool, is_final: bool = False) -> None:
        super().__init__(why)
        self.user_code_name = code  # name of the user's agent code (UserAgent.user_code_label)
        self.is_loading = is_loading  # True: loading failed; False: storing failed
        self.is_final = is_final  # whether the attempt took too long, so that it must not be repeated


@dataclass
class StateFailures:
    """Messages and times of retries for user-defined agents whose state could not be stored or loaded.

    A failure to store may be temporary (for example a generator in use), but each attempt takes time. So storing is
    retried after skipping 1, 3, 7, ... keyframes. After a failure to load, no keyframes are taken of worlds with that
    code any more, because they would be useless.
    """

    messages: dict[str, str] = field(default_factory=dict)  # name of the agent code -> message for the user
    _failure_counts: dict[str, int] = field(default_factory=dict)  # name of the agent code -> failures in a row
    # Agent code -> keyframes to skip before a retry.
    _keyframes_left_to_skip: dict[str, int] = field(default_factory=dict)
    _abandoned_codes: set[str] = field(default_factory=set)  # names of agent code whose state is not stored any more

    def may_store_keyframe(self, codes: Collection[str]) -> bool:
        """Return whether to try to save a keyframe of a world with this user code; if not, count a skipped keyframe."""
        waiting = [code for code in codes if self._keyframes_left_to_skip.get(code)]
        for code in waiting:
            self._keyframes_left_to_skip[code] -= 1
        return not waiting and self._abandoned_codes.isdisjoint(codes)

    def clear_failures(self, codes: Iterable[str]) -> None:
        for code in codes:
            self._failure_counts.pop(code, None)

    def record_failure(self, error: StateError, find_part: Callable[[], str]) -> None:
        """Record a failure to store or load an agent's state, and choose how many keyframes to skip.

        Args:
            error: the failure.
            find_part: function that returns the part of the state that cannot be stored, such as `self.lock`. It takes
                long, so it is called only for the first failure of each code.
        """
        code = error.user_code_name
        count = self._failure_counts[code] = self._failure_counts.get(code, 0) + 1
        self._keyframes_left_to_skip[code] = min(2**count - 1, _MAX_SKIPPED_KEYFRAMES)
        if error.is_loading or error.is_final:
            self._abandoned_codes.add(code)
        if code not in self.messages:
            self.messages[code] = _failure_message(error, find_part())


def _failure_message(error: StateError, part: str) -> str:
    name = error.user_code_name.split()[0]
    which = f"{part} of {name}" if part else f"The state of {name}"
    what = "loaded again" if error.is_loading else "stored"
    slow = "Going back in time works, but takes longer, because the run is computed again."
    return f"{which} cannot be {what}: {error}. {slow}"


# --- finding the part that fails ------------------------------------------------------------------


def find_failing_part(root: object, fails: FailureTest) -> str:
    """Return the innermost part of an agent's state that cannot be stored or loaded, such as `self.table['a'].lock`.

    Args:
        root: the agent, which is called `self` in the result.
        fails: test for values that cannot be stored and loaded.

    Returns:
        The part; `self` if no single part fails, "" if the whole state can be stored and loaded.
    """
    if not fails([root], []):
        return ""
    name, value, outer = "self", root, list[object]()
    for _ in range(_MAX_PART_DEPTH):
        outer.append(value)
        found = _bisect_failing_part(_child_state_parts(value), fails, outer)
        if found is None:
            break
        name, value = name + found[0], found[1]
    return name


def _bisect_failing_part(parts: list[StatePart], fails: FailureTest, outer: list[object]) -> StatePart | None:
    """Return one part that cannot be stored or loaded, or None; use bisection, because a table may have many parts."""

    def fail(some: list[StatePart]) -> bool:
        return fails([value for _, value in some], outer)

    while len(parts) > 1:
        half = len(parts) // 2
        parts = parts[:half] if fail(parts[:half]) else parts[half:]
    return parts[0] if parts and fail(parts) else None


def _child_state_parts(value: object) -> list[StatePart]:
    if isinstance(value, Mapping):
        return [(f"[{value_as_in_python(key)}]", entry) for key, entry in value.items()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        return [(f"[{index}]", entry) for index, entry in enumerate(value)]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    named = {name: getattr(value, name) for name in slots if isinstance(name, str) and hasattr(value, name)}
    return [(f".{name}", entry) for name, entry in (named | getattr(value, "__dict__", {})).items()]
