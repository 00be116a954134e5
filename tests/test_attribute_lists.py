"""Lists of attribute names in the program, such as those that keyframes leave out: every name is an attribute."""

from dataclasses import fields

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from sim import walker as walkers
from sim import world as worlds
from sim.grid import Grid
from sim.world import World
from sim.world_commands import AgentConfig


def test_every_name_in_a_list_of_attributes_is_an_attribute() -> None:
    world = World(
        Grid.from_text_rows(["....", ".@@.", ".@..", "...."]),
        0,
        15,
        AGENT_SPECS_BY_KEY,
        budget=9,
        stopwatch=lambda: 0.0,
    )
    for spec in AGENT_SPECS:
        world.add(AgentConfig(spec.key))
    world.advance(2)
    names = {*vars(world), *vars(World), *vars(world.referee)}
    for walker in world.walkers:
        own = {*vars(walker), *vars(type(walker.agent)), *vars(walker.agent)}
        missing = {*walkers._UNPICKLED_ATTRIBUTES, *getattr(walker.agent, "derived_attributes", ())} - own
        assert not {name for name in missing if not hasattr(walker.agent, name)}, walker.label
        names |= own | {field.name for field in fields(walker)}
        names |= {name for kind in type(walker.agent).__mro__ for name in vars(kind)}
    assert set(worlds._UNPICKLED_ATTRIBUTES) <= names
