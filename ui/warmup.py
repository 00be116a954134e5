"""What of the kernels the window needs, in the order in which it is compiled. `python -m ui.warmup` compiles it all."""

from agents.warm import all_agent_parts, world_part
from sim.kernels.ready import Part, Tell, make_ready
from ui.draw.warm_pictures import warm_pictures

DRAWING = Part("drawing", "the drawing", warm_pictures)


def compile_all(tell: Tell = lambda *_: None) -> None:
    make_ready([world_part(), *all_agent_parts(watched=True), DRAWING], tell)


if __name__ == "__main__":
    compile_all()
