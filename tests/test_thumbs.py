"""Pictures of examples for the gallery: those that everybody sees are there, and none is of an example that is gone."""

import pygame
import pytest

from ui.draw.theme import PALETTES
from ui.draw.thumbnails import THUMBNAIL_FOLDER, THUMBNAIL_SIDE, load_example_picture, picture_file_name
from ui.model import opened_files
from ui.model.opened_files import _EXAMPLE_ORDER_IN_GALLERY


def test_thumbnails_belong_to_examples_and_gallery_examples_have_one() -> None:
    names = {path.stem for path in opened_files.example_files()}
    pictures = {path.name for path in THUMBNAIL_FOLDER.iterdir()}
    assert pictures <= {picture_file_name(name, theme) for name in names for theme in PALETTES}
    assert {picture_file_name(name, theme) for name in _EXAMPLE_ORDER_IN_GALLERY for theme in PALETTES} <= pictures


@pytest.mark.parametrize("theme", list(PALETTES))
def test_thumbnail_fits_and_matches_the_theme(theme: str) -> None:
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    picture = load_example_picture("scrubbing", (100, 80), PALETTES[theme])
    assert picture is not None and max(picture.get_size()) == 80
    mean = sum(pygame.transform.average_color(picture)[:3]) / 3
    assert (mean > 128) == (theme == "light")
    assert load_example_picture("no such example", (100, 80), PALETTES[theme]) is None and THUMBNAIL_SIDE <= 256
