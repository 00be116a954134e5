"""Who advances together, in crews, and who alone; and what a digest says of all of them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from sim.crew import Crew, Seat, crews_of
from sim.kernels import log
from sim.walker import Walker


class Turns:
    """All walkers of a world: crews of those that are able to be in one, and the others, each alone."""

    def __init__(self, walkers: Sequence[Walker], able: Iterable[Walker]) -> None:
        self._list, self._of, self._walkers = walkers, _signs(walkers), tuple(walkers)  # the list may grow
        self.crews = crews_of(able)
        joined = [walker for crew in self.crews for walker in crew.walkers]
        numbers = {walker.id for walker in joined}
        self.alone = [walker for walker in walkers if walker.id not in numbers]
        self.look_who_is_awake()

    def look_who_is_awake(self) -> None:
        """Of those alone: most of the time most of them may have arrived, and each would be asked in every tick. Due
        after everything that may wake one, and when one is done. Who is the user's own is asked always: it may think
        otherwise, or fail, though nobody has told it anything.
        """
        self.awake = [walker for walker in self.alone if walker.spec.is_own or not walker.is_done]
        self.stuck = [walker for walker in self.alone if not walker.spec.is_own and walker.agent.status == log.NO_PATH]
        self.are_any_awake = bool(self.awake or self.stuck or self.crews)

    @cached_property
    def seats(self) -> dict[int, Seat]:
        """The place in its crew of everyone who is in one, by number."""
        return {number: Seat(crew, place) for crew in self.crews for number, place in crew.places.items()}

    def side_by_side(self, queue: Sequence[Walker]) -> int:
        """How many at the beginning of a queue stand beside one another in one crew; 0: the first is in none."""
        first = self.seats.get(queue[0].id)
        if first is None:
            return 0
        seats = (self.seats.get(walker.id) for walker in queue)
        return next((n for n, seat in enumerate(seats) if seat != (first.crew, first.place + n)), len(queue))

    @cached_property
    def sums(self) -> "Sums":
        return Sums(self._walkers, self.crews)

    def forget_sums(self) -> None:
        """Somebody has other ends."""
        self.__dict__.pop("sums", None)

    def are_of(self, walkers: Sequence[Walker]) -> bool:
        """Whether these are the same walkers, with as many trials as they had."""
        is_same_list = walkers is self._list and len(walkers) == len(self._of)
        return is_same_list or self._of == _signs(walkers)

    def look_again(self) -> bool:
        """See where everybody's memory lies; whether the crews can stay as they are."""
        return all(crew.look_again() for crew in self.crews)


class Sums:
    """What a digest of the world says of its agents, in the order of their numbers.

    Of each its number and its digest, and its start and goal (-1: the world's) where it has ends of its own. Laid out
    once for as long as the same agents have the same ends: of five hundred it would take longer than their tick.
    """

    def __init__(self, walkers: Sequence[Walker], crews: Sequence[Crew] = ()) -> None:
        in_order = sorted(walkers, key=attrgetter("id"))  # panels may be in any order
        numbers = [walker.id for walker in in_order]
        self._columns = np.zeros((len(in_order), 5), np.int64)
        self._columns[:, 0] = numbers
        self._columns[:, 3] = [walker.start for walker in in_order]
        self._columns[:, 4] = [-1 if walker.own_goal is None else walker.own_goal for walker in in_order]
        self._is_said = np.ones(self._columns.shape, np.bool_)
        self._is_said[[not walker.has_own_ends for walker in in_order], 3:] = False
        self._crews = [(crew, np.searchsorted(numbers, crew.ids)) for crew in crews]
        together = {number for crew in crews for number in crew.ids}
        self._alone = [(place, walker) for place, walker in enumerate(in_order) if walker.id not in together]

    def read(self) -> bytes:
        for crew, places in self._crews:
            self._columns[places, 1:3] = crew.sums()
        for place, walker in self._alone:
            self._columns[place, 1:3] = walker.sums
        return self._columns[self._is_said].tobytes()


def _signs(walkers: Iterable[Walker]) -> list[tuple[int, int]]:
    return [(id(walker), walker.most_trials) for walker in walkers]


class Seating:
    """The turns of a world, kept for as long as they are right. Whatever may change them says so here."""

    def __init__(self) -> None:
        self.turns: Turns | None = None  # as they were found last
        self.is_old = False  # somebody may have woken, or may have other memory or rules
        self.is_void = False  # somebody may be able to be in a crew who was not, or the other way round

    def __reduce__(self) -> tuple[type["Seating"], tuple[()]]:
        """A copy of a world finds out anew: its memory lies elsewhere."""
        return Seating, ()

    def tell_of_ends(self) -> None:
        """Somebody has another goal of its own: it may have woken, and a digest says where it wants to go."""
        self.is_old = True
        if self.turns is not None:
            self.turns.forget_sums()

    def now(self, walkers: Sequence[Walker], able: Callable[[], Iterable[Walker]]) -> Turns:
        """The turns, looked at again after whatever may have changed them; `able`: who may be in a crew."""
        kept = self.turns
        if kept is not None and not self.is_old and not self.is_void and kept.are_of(walkers):
            return kept
        if (kept := self.right(walkers)) is not None:
            kept.look_who_is_awake()
        else:
            for walker in walkers:
                walker.leave_crew()
            kept = self.turns = Turns(walkers, able())
        self.is_old = self.is_void = False
        return kept

    def settled(self, walkers: Sequence[Walker]) -> Turns | None:
        """The turns where all of every crew keep there what they do: then only the others have to be gone through."""
        kept = self.turns
        if kept is None or self.is_old or self.is_void or not kept.are_of(walkers):
            return None
        return kept if all(crew.are_seated for crew in kept.crews) else None

    def right(self, walkers: Sequence[Walker]) -> Turns | None:
        """The turns where the crews can stay as they are; sees where their memory lies."""
        kept = self._of(walkers)
        return kept if kept is not None and (not self.is_old or kept.look_again()) else None

    def sums(self, walkers: Sequence[Walker]) -> Sums:
        kept = self._of(walkers)
        return Sums(walkers) if kept is None else kept.sums

    def _of(self, walkers: Sequence[Walker]) -> Turns | None:
        kept = self.turns
        return kept if kept is not None and not self.is_void and kept.are_of(walkers) else None
