"""What the open map is: a dialog that shows which files one more dialog takes."""

from ui.dialogs.base import Dialog, take_top
from ui.widgets.controls import Text


class MapFacts(Dialog):
    title = "Map"
    size = (420, 180)
    command = "map_facts"

    def build(self) -> None:
        grid = self.host.session.world.grid
        words = f"{grid.name}: {grid.width} x {grid.height}, {int(grid.free.sum()):,} free cells"
        self.add(Text(self, take_top(self.area, self.px(20)), words))
        self.add_footer(("Close", self.cancel, "main"))

    def confirm(self) -> None:
        self.cancel()
