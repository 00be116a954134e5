"""Failures to store the state of a user's agent in a keyframe, or to load it, and what follows from them."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sim.params import in_python

Part = tuple[str, object]
"""A part of an object: how Python code gets from the object to it, such as `.table` or `[3]`, and the part itself."""

Fails = Callable[[list[object], list[object]], bool]
"""Whether values cannot be stored or loaded again, leaving out the objects in the second list wherever they occur."""

_MAX_SKIPS = 63  # keyframes left out at most before storing is tried again
_MAX_DEPTH = 12  # parts of parts that are looked into


class StateError(Exception):
    """The state of an agent of the user's cannot be stored, or not be loaded. The text says why."""

    def __init__(self, code: str, why: str, *, is_loading: bool, is_final: bool = False) -> None:
        super().__init__(why)
        self.code = code  # UserAgent.code
        self.is_loading = is_loading
        self.is_final = is_final  # it took too long, and must not be tried again


@dataclass
class StateFailures:
    """The user's code whose state could not be stored or loaded: one message for each, and when to try again.

    A failure to store may be of a moment, such as a generator that is in use; trying costs time, so it is tried after
    1, 3, 7, ... keyframes that were left out. A failure to load means that keyframes are of no use to that code.
    """

    messages: dict[str, str] = field(default_factory=dict)  # by code, what to say to the user
    _counts: dict[str, int] = field(default_factory=dict)  # by code, failures to store since the last success
    _skips: dict[str, int] = field(default_factory=dict)  # by code, keyframes to leave out from now on
    _given_up: set[str] = field(default_factory=set)

    def may_store(self, codes: Collection[str]) -> bool:
        """Return whether to try a keyframe of a world with this code, and count one that is left out."""
        waiting = [code for code in codes if self._skips.get(code)]
        for code in waiting:
            self._skips[code] -= 1
        return not waiting and self._given_up.isdisjoint(codes)

    def note_stored(self, codes: Iterable[str]) -> None:
        for code in codes:
            self._counts.pop(code, None)

    def note(self, error: StateError, find_part: Callable[[], str]) -> None:
        """Keep a failure. `find_part` names the attribute that cannot be stored; it is only called for a message."""
        code = error.code
        count = self._counts[code] = self._counts.get(code, 0) + 1
        self._skips[code] = min(2**count - 1, _MAX_SKIPS)
        if error.is_loading or error.is_final:
            self._given_up.add(code)
        if code not in self.messages:
            self.messages[code] = _message(error, find_part())


def _message(error: StateError, part: str) -> str:
    name = error.code.split()[0]
    which = f"{part} of {name}" if part else f"The state of {name}"
    what = "loaded again" if error.is_loading else "stored"
    return f"{which} cannot be {what}: {error}. Going back in time works, but takes longer: it computes the run again."


# --- which part it is -----------------------------------------------------------------------------


def find_part(root: object, fails: Fails) -> str:
    """Return the innermost part of an agent that cannot be stored or loaded, such as `self.table['a'].lock`.

    Args:
        root: the agent, which is called `self` in the result.
        fails: tries it.

    Returns:
        The part; `self` where it is the agent as a whole, nothing where all of it can be stored and loaded.
    """
    if not fails([root], []):
        return ""
    name, value, outer = "self", root, list[object]()
    for _ in range(_MAX_DEPTH):
        outer.append(value)
        found = _failing_part(_parts_of(value), fails, outer)
        if found is None:
            break
        name, value = name + found[0], found[1]
    return name


def _failing_part(parts: list[Part], fails: Fails, outer: list[object]) -> Part | None:
    """Return one part that fails, by halves: a table may have a million entries."""

    def fail(some: list[Part]) -> bool:
        return fails([value for _, value in some], outer)

    while len(parts) > 1:
        half = len(parts) // 2
        parts = parts[:half] if fail(parts[:half]) else parts[half:]
    return parts[0] if parts and fail(parts) else None


def _parts_of(value: object) -> list[Part]:
    if isinstance(value, Mapping):
        return [(f"[{in_python(key)}]", entry) for key, entry in value.items()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        return [(f"[{place}]", entry) for place, entry in enumerate(value)]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    named = {name: getattr(value, name) for name in slots if isinstance(name, str) and hasattr(value, name)}
    return [(f".{name}", entry) for name, entry in (named | getattr(value, "__dict__", {})).items()]
