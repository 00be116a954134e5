"""The table of measures: every number that the referee counts is in it, once, and so on every page made from it."""

from dataclasses import fields
from inspect import getmembers

from sim.measures import IN_PANEL, MEASURE_BY_KEY, MEASURES
from sim.metrics import Metrics
from ui.model.columns import COLUMNS
from ui.model.wording import hud_fields

from .filming import setup
from .window import make_app

OF_A_TRIAL = {"trial_cost"}  # said as a ratio, by suboptimality


def test_every_number_of_an_agent_is_a_measure() -> None:
    numbers = {field.name for field in fields(Metrics)}
    numbers |= {name for name, _ in getmembers(Metrics, lambda member: isinstance(member, property))}
    assert numbers - OF_A_TRIAL == set(MEASURE_BY_KEY) and len(MEASURE_BY_KEY) == len(MEASURES)


def test_every_measure_is_a_column_of_the_comparison() -> None:
    keys = [column.key for column in COLUMNS]
    assert len(set(keys)) == len(keys) and set(MEASURE_BY_KEY) <= set(keys)
    assert [panel.place for _, panel in IN_PANEL] == list(range(1, len(IN_PANEL) + 1))


def test_what_should_not_be_is_orange_in_panels_and_in_the_table() -> None:
    app = make_app(setup(2, budget=1, script=()))
    app.session.advance(40)
    view = app.session.panels[0].view
    assert view.metrics.back_moves
    assert {field.name for field in hud_fields(view) if field.is_warning} == {"back-moves"}
    assert {column.key for column in COLUMNS if column.is_warning(view)} == {"back_moves"}
