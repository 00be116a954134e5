"""Pictures of examples for the gallery: those that everybody sees are there, and none is of an example that is gone."""

import pygame
import pytest

from ui.draw.theme import PALETTES
from ui.draw.thumb import FOLDER, SIDE, example_picture, name_of
from ui.model import files
from ui.model.files import _EXAMPLE_ORDER_IN_GALLERY


def test_each_picture_belongs_to_an_example_and_the_first_ones_have_theirs() -> None:
    names = {path.stem for path in files.examples()}
    pictures = {path.name for path in FOLDER.iterdir()}
    assert pictures <= {name_of(name, theme) for name in names for theme in PALETTES}
    assert {name_of(name, theme) for name in _EXAMPLE_ORDER_IN_GALLERY for theme in PALETTES} <= pictures


@pytest.mark.parametrize("theme", list(PALETTES))
def test_a_picture_fits_and_is_in_the_colours_of_its_theme(theme: str) -> None:
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    picture = example_picture("scrubbing", (100, 80), PALETTES[theme])
    assert picture is not None and max(picture.get_size()) == 80
    mean = sum(pygame.transform.average_color(picture)[:3]) / 3
    assert (mean > 128) == (theme == "light")
    assert example_picture("no such example", (100, 80), PALETTES[theme]) is None and SIDE <= 256
