"""Current step of a lesson: in the sidebar, or at the bottom of the maps if there is no sidebar."""

from functools import partial

from ui.draw.theme import mix_colours
from ui.model.layout import Box, Layout
from ui.model.lesson_player import LessonPlayer
from ui.panels import command_button
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

LESSON_BUTTON_HEIGHT = 32  # height of a button in design units
# Space at both sides of an answer's text, for its number and for "right" or "yours", in design units.
ANSWER_SIDE_SPACE = 66
CARD_WIDTH, CARD_MARGIN = 560, 12  # width and margin in design units of the card that is drawn if there is no sidebar


def _ignore_click() -> None:
    """Do nothing. As callback of a hit region, it catches clicks that must not reach the map below."""


def draw_lesson_step(desk: ViewContext, box: Box, playing: LessonPlayer) -> int:
    """Draw heading, text and question of the current step in a box, and return the bottom of what was drawn."""
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    x, y, width, height = box
    count = len(playing.lesson.steps)
    used = canvas.draw_text(
        (x + width, y + px(3)), f"{playing.step_index + 1} of {count}", size=12, colour=palette.dim, align="right"
    )
    canvas.draw_text((x, y), playing.lesson.title, size=15, face="bold", width=width - used - px(8))
    y += px(26)
    canvas.draw_meter_bar((x, y, width, px(4)), (playing.step_index + 1) / count, palette.accent)
    y += px(14)
    y += canvas.draw_wrapped_text((x, y, width, height), playing.current_step.text, size=14) + px(10)
    if playing.current_step.question is not None:
        y = _draw_lesson_question(desk, x, y, width, playing)
    if playing.is_before_current_step(desk.session):
        y += canvas.draw_wrapped_text(
            (x, y, width, height), f"Running to tick {playing.tick:,} ...", size=12, colour=palette.dim
        )
    return y + px(4)


def lesson_buttons_height(desk: ViewContext) -> int:
    """Return the height in pixels of the row of buttons below a lesson's step."""
    return desk.canvas.to_px(LESSON_BUTTON_HEIGHT + 6)


def _draw_lesson_question(desk: ViewContext, x: int, y: int, width: int, playing: LessonPlayer) -> int:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    question = playing.current_step.question
    assert question is not None
    for line in canvas.wrap_text(question.text, width, 14, "bold"):
        canvas.draw_text((x, y), line, size=14, face="bold")
        y += px(20)
    y += px(6)
    for index, answer in enumerate(question.answers):
        y = _draw_answer_button(desk, x, y, width, playing, index, answer) + px(6)
    if playing.chosen_answer is not None:
        verdict = "Yes. " if playing.chosen_answer == question.right_answer_index else "No. "
        y += canvas.draw_wrapped_text(
            (x, y, width, px(400)), verdict + question.explanation, size=14, colour=palette.text
        ) + px(10)
    return y


def _draw_answer_button(
    desk: ViewContext, x: int, y: int, width: int, playing: LessonPlayer, index: int, answer: str
) -> int:
    """Draw an answer to a lesson's question as a button that is as high as its text.

    After the user has answered, mark the right answer and the user's answer.
    """
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    question = playing.current_step.question
    assert question is not None
    lines = canvas.wrap_text(answer, width - px(ANSWER_SIDE_SPACE), 13)
    box = (x, y, width, len(lines) * px(19) + px(10))
    is_open = playing.chosen_answer is None
    region = HitRegion(
        f"lesson:answer:{index}",
        box,
        partial(playing.choose_answer, index),
        command_ids=(f"answer_{index + 1}",),
    )
    is_hovered = is_open and canvas.add_hit_region(region)
    is_right = not is_open and index == question.right_answer_index
    is_given = index == playing.chosen_answer
    tone = palette.arrived if is_right else palette.warning if is_given else None
    ground = canvas.shade_if_pressed(palette.hover if is_hovered else palette.raised, region.id, is_hovered)
    canvas.fill_box(box, mix_colours(palette.surface, tone, 0.25) if tone else ground, 6)
    sign = "right" if is_right else "yours" if is_given else ""
    canvas.draw_text((x + px(10), y + px(5)), f"{index + 1}", size=12, face="mono", colour=palette.dim)
    for line in lines:
        canvas.draw_text((x + px(28), y + px(5)), line, size=13)
        y += px(19)
    if sign:
        canvas.draw_text((x + width - px(8), box[1] + px(5)), sign, size=11, colour=palette.dim, align="right")
    return box[1] + box[3]


def draw_lesson_buttons(desk: ViewContext, x: int, y: int, width: int, playing: LessonPlayer) -> None:
    px = desk.canvas.to_px
    third = (width - px(12)) // 3
    can_go_on = not desk.disabled_reason_of_command("lesson_next")
    skip_label = "Skip" if playing.is_before_current_step(desk.session) else ""
    for index, (command, label, is_main) in enumerate(
        (("lesson_back", "", False), ("lesson_next", skip_label, can_go_on), ("lesson_end", "", playing.is_last_step))
    ):
        box = (x + index * (third + px(6)), y, third, px(LESSON_BUTTON_HEIGHT))
        command_button.draw_command_button(desk, command, box, area="lesson", label=label, is_on=is_main)


def draw_lesson_card_over_maps(desk: ViewContext, plan: Layout, playing: LessonPlayer) -> None:
    """Draw the lesson's step as a card at the bottom of the maps, for windows without a sidebar."""
    canvas, px = desk.canvas, desk.canvas.to_px
    if not plan.panel_boxes:
        return
    width = min(px(CARD_WIDTH), plan.size[0] - 2 * px(CARD_MARGIN))
    inner = width - 2 * px(CARD_MARGIN)
    height = min(_lesson_card_height(desk, inner, playing), plan.size[1] - 2 * px(CARD_MARGIN))
    max_bottom = plan.transport_bar[1] or plan.size[1]
    box = ((plan.size[0] - width) // 2, max(px(CARD_MARGIN), max_bottom - height - px(CARD_MARGIN)), width, height)
    canvas.fill_box(box, desk.palette.surface, 8)
    canvas.draw_outline(box, desk.palette.accent, 8)
    canvas.add_hit_region(HitRegion("lesson:card", box, _ignore_click))
    left = box[0] + px(CARD_MARGIN)
    bottom = draw_lesson_step(desk, (left, box[1] + px(CARD_MARGIN), inner, height), playing)
    draw_lesson_buttons(desk, left, bottom, inner, playing)


def _lesson_card_height(desk: ViewContext, width: int, playing: LessonPlayer) -> int:
    canvas, px = desk.canvas, desk.canvas.to_px
    lines = len(canvas.wrap_text(playing.current_step.text, width, 14)) * px(14 * 1.45)
    question = playing.current_step.question
    if question is not None:
        lines += len(canvas.wrap_text(question.text, width, 14, "bold")) * px(20) + px(6)
        for answer in question.answers:
            lines += len(canvas.wrap_text(answer, width - px(ANSWER_SIDE_SPACE), 13)) * px(19) + px(16)
        if playing.chosen_answer is not None:
            lines += len(canvas.wrap_text("Yes. " + question.explanation, width, 14)) * px(14 * 1.45) + px(10)
    running = px(20) if playing.is_before_current_step(desk.session) else 0
    return lines + running + px(26 + 14 + 10 + 4 + LESSON_BUTTON_HEIGHT + 6) + 2 * px(CARD_MARGIN)
