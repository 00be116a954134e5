"""Application object of the window: each frame handles events, advances the run and draws, in this order.

Tests call these three phases directly, with events that they create themselves.
"""

import os
import time

# Present frames without the GPU API, because software rendering by llvmpipe takes 7 ms a frame.
os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")

import pygame

from sim.params import ConfigError
from ui import safety
from ui.commands.table import COMMANDS
from ui.commands.window import Window
from ui.input.drops import Drops
from ui.input.keyboard import Keyboard
from ui.input.pointer import Pointer
from ui.model.keeper import AutosaveJournal
from ui.model.layout import MAX_PANELS
from ui.model.player import TICKING_SHARE
from ui.model.reader import READER
from ui.model.session import Session
from ui.model.settings import Settings
from ui.panels import lesson_card, maps, menu, overlay, pointing, selected
from ui.panels.minimap import Minimap
from ui.panels.note_bubble import NoteBubble
from ui.preparation import Preparation, needed_by
from ui.safety import Safety

FRAMES_PER_SECOND = 60


class App:
    """Application object: owner of the window, its input handlers, drawing, journal and error recovery.

    The main loop in ui/start.py calls it once per frame.
    """

    def __init__(self, session: Session, settings: Settings, surface: pygame.Surface) -> None:
        self.window = Window(session, settings, surface, COMMANDS)
        self.window.apply_limits()
        self.keyboard = Keyboard(self.window)
        self.pointer = Pointer(self.window)
        self.drops = Drops(self.window)
        self.tooltip = overlay.Tooltip()
        self.minimap = Minimap()
        self.note = NoteBubble()
        self._corners = overlay.Corners()
        self.preparation = Preparation()
        self.safety = Safety(self.window, self._is_kept)
        self.keeper: AutosaveJournal | None = None  # autosave journal; None: the session is not saved
        self.frame_ms = self.longest_frame_ms = 0.0
        self._had_events = True  # whether any event (mouse, keyboard, window system) arrived in the last frame
        self._hidden = 0  # number of panels that did not fit into the window in the last frame
        # Cache key of the last frame: all inputs of its drawing except the state of the run; None: no key.
        # If the next frame has an equal key, it reuses cached regions of the window; otherwise it draws everything.
        self._frame_key: object = None
        self._full_redraw = True  # whether the last frame drew everything instead of reusing cached regions
        self._map_versions: list[int] = []  # version counter of the map of each panel, as of the last frame

    @property
    def session(self) -> Session:
        return self.window.session

    def _is_kept(self) -> bool:
        """Return whether the session is being written to a journal, so that it survives a crash."""
        return self.keeper is not None and self.keeper.is_writing

    def frame(self, seconds: float) -> None:
        """Run one frame: handle events, advance the run, draw the window.

        Args:
            seconds: Time since the previous frame; with 0, as in many tests, the frame is always a full redraw.
        """
        run = self.safety.run
        is_untouched = seconds > 0.0  # set to False by any event that may change the look of bars or panels
        self._had_events = False
        for event in pygame.event.get():
            self._had_events = True
            is_untouched = is_untouched and self._is_motion_over_maps(event)
            run(safety.COMMAND, self.handle, event)
        run(safety.COMMAND, self.drops.open)
        before = time.perf_counter()
        run(safety.TICK, self.pass_time, seconds)
        run(safety.DRAW, self.draw, is_untouched)
        self.safety.end_frame()
        self.frame_ms = (time.perf_counter() - before) * 1000.0
        self.longest_frame_ms = max(self.longest_frame_ms, self.frame_ms)

    @property
    def is_idle(self) -> bool:
        """Return whether the next frame would look exactly like this one unless an event arrives."""
        window = self.window
        is_changing = (
            self._had_events
            or window.player.is_going
            or window.state.preparing
            or window.state.selection is not None  # the outline of a selection is animated
            or window.recording.is_busy
            or self.session.run.is_measuring
            or self.session.run.is_recording
        )
        return not is_changing and window.dialogs.is_still

    # --- events -----------------------------------------------------------------------------------

    def handle(self, event: pygame.event.Event) -> None:
        window = self.window
        if event.type == pygame.QUIT and getattr(event, "is_forced", False):
            window.terminate()
        elif event.type == pygame.QUIT:
            window.run("quit")
        elif event.type == pygame.VIDEORESIZE:
            window.resized(pygame.display.get_surface() or window.surface)
        elif event.type == pygame.DROPFILE:
            self.drops.take(event.file)
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self.keyboard.handle(event)
        elif not window.dialogs.handle(event):
            self.pointer.handle(event)
        elif event.type == pygame.MOUSEBUTTONUP:
            self.pointer.let_go()

    def _is_motion_over_maps(self, event: pygame.event.Event) -> bool:
        """Return whether an event is a mouse motion from one map position to another with no button pressed.

        Only maps and the inspector react to such a motion, so bars and panels need no redraw.
        """
        if event.type != pygame.MOUSEMOTION or any(event.buttons):
            return False
        both_pos = event.pos, self.window.canvas.mouse
        return all(self.window.scene.panel_at(pos) is not None for pos in both_pos)

    # --- time -------------------------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        """Compute the ticks that are due, then update what depends on them: journal, notifications, open dialog."""
        window = self.window
        self._advance_time(seconds)
        self._update_notes_and_lesson()
        window.recording.keep()
        if self.keeper is not None:
            self.keeper.keep()
        window.documents.look_at_agents()
        self._notify_hidden_panels()
        self._flush_notifications()
        window.dialogs.update(seconds)

    def _advance_time(self, seconds: float) -> None:
        window, session = self.window, self.session
        window.state.preparing = tuple(self.preparation.missing(needed_by(session.run.panels)))
        tick = session.tick
        if not window.recording.must_wait and not window.state.preparing:
            # The run waits while a video recording is behind, so that no frame of the video is dropped.
            # It also waits until the kernels of all agents are compiled, so that no agent starts before the others.
            window.player.pass_time(seconds, TICKING_SHARE / FRAMES_PER_SECOND)
            if not session.run.is_seeking and session.tick == tick:
                session.run.continue_recording()
        # Ticks also compute optimality numbers (cost / optimal cost). In a frame without a tick, compute them here.
        if not session.run.is_seeking and session.tick == tick:
            session.run.go_on_measuring()

    def _update_notes_and_lesson(self) -> None:
        """Update the explanatory notes and the lesson to the state of the run, then pause the run if it is over.

        The pause comes last, because a note or a lesson may wait for the end of the run.
        """
        window, session = self.window, self.session
        if window.state.notes is not None:
            window.state.notes.look(session)
        if window.state.lesson is not None:
            window.state.lesson.look(session, window.player)
        if message := window.player.look_for_the_end():
            window.say(message)

    def _flush_notifications(self) -> None:
        """Show the notifications queued by the session since the last frame, and clear the queue."""
        window, told = self.window, self.session.told
        for text in told.messages:
            window.tell(text)
        told.messages.clear()
        for text in told.lasting:
            window.say(text)
        told.lasting.clear()
        if told.alarms and window.dialogs.dialog is None:
            window.dialogs.complain(ConfigError(told.alarms), "Replay does not match the saved run")
            told.alarms.clear()

    def _notify_hidden_panels(self) -> None:
        """Notify the user if more panels than in the last frame do not fit into the window."""
        hidden = max(0, len(self.session.run.panels) - MAX_PANELS)
        if hidden > self._hidden:
            self.window.say(
                f"{hidden} of {MAX_PANELS + hidden} panels {'is' if hidden == 1 else 'are'} hidden. "
                "To see more of them, hide a branch ({key:hide_branch}) or remove an agent ({key:remove_agent})."
            )
        self._hidden = hidden

    def _draw_lesson(self) -> None:
        """Draw the highlights of the current lesson step; draw its text over the maps if no sidebar shows it."""
        desk = self.window.desk
        if desk.state.lesson is not None:
            pointing.draw(desk, desk.state.lesson.step.highlights)
            if desk.state.is_bare or not desk.scene.layout.sidebar:
                lesson_card.draw_over_maps(desk, desk.scene.layout, desk.state.lesson)

    # --- drawing ----------------------------------------------------------------------------------

    def draw(self, is_untouched: bool = False) -> None:
        """Draw the window.

        Args:
            is_untouched: Whether there was no user input since the last frame except mouse motion over maps. Then
                cached regions of the last frame may be reused.
        """
        window = self.window
        desk, canvas, surface = window.desk, window.canvas, window.surface
        # The key is None until the end of this method, so that the next frame draws everything if drawing fails here.
        before, self._frame_key = self._frame_key, None
        frame_key = self._current_frame_key()
        reuses_regions = is_untouched and frame_key is not None and frame_key == before
        canvas.takes_mouse = not window.dialogs.takes_all
        mouse, is_busy = pygame.mouse.get_pos(), self._has_map_changed()
        canvas.begin(surface, desk.palette, desk.scene.scale, mouse, rests=reuses_regions, is_busy=is_busy)
        if reuses_regions:
            self._corners.put_back(surface)
        else:
            surface.fill(desk.palette.window)
        maps.draw_panels(desk, self.pointer.hand)
        selected.draw(desk, window.editor.selecting)
        self.minimap.draw(desk, window.centre_on)
        if not desk.state.is_bare:
            maps.draw_bars(desk, window.recording.draw)
        canvas.draw_focus()
        self._draw_lesson()
        if desk.state.notes is not None and desk.state.notes.shown is not None and not desk.state.is_bare:
            self.note.draw(desk, desk.state.notes.shown)
        overlay.draw_messages(desk, desk.scene.layout)
        menu.draw(desk)
        if window.dialogs.takes_all:
            # Only redrawn regions are dimmed, because reused regions were dimmed in earlier frames.
            overlay.dim(desk, canvas.renewed if reuses_regions else None)
        dialog = window.dialogs.dialog
        self._corners.keep(surface, dialog.places() if dialog is not None else (), canvas.px(overlay.CORNER))
        if dialog is not None:
            window.dialogs.gui.draw_ui(surface)
        elif not self._draw_tooltip() and reuses_regions:
            frame_key = None  # draw everything next time, because a reused region still shows the previous tooltip
        self.pointer.show_cursor()
        self._full_redraw, self._frame_key = not reuses_regions or dialog is not None, frame_key

    def _draw_tooltip(self) -> bool:
        """Draw the tooltip of this frame on top of everything else.

        Returns:
            True if nothing of the previous frame's tooltip stays visible: there was none, or both have the same box.
        """
        before = self.tooltip.box
        self.tooltip.draw(self.window.canvas)
        if self.tooltip.box is not None:
            self.window.canvas.renewed.append(self.tooltip.box)
        return before is None or self.tooltip.box == before

    def _has_map_changed(self) -> bool:
        """Return whether any panel's map has changed since the last frame.

        Such a frame takes twice as long as others, both for the tick and for drawing the maps. The canvas therefore
        postpones the redraw of cached regions by one frame.
        """
        before, self._map_versions = self._map_versions, [panel.world.grid.version for panel in self.session.run.panels]
        return self._map_versions != before

    def _current_frame_key(self) -> object:
        """Return the cache key of this frame: the next frame may reuse cached regions if its key is equal.

        Returns:
            A tuple to compare with the key of another frame; None if an overlay (such as a menu) covers parts of the
            window, so that everything has to be drawn.
        """
        window, session = self.window, self.session
        if overlay.has_overlay(window.desk):
            return None
        look = window.surface, window.desk.palette, window.desk.scene.layout, window.dialogs.dialog
        activity = window.player.doing(), window.state.preparing
        return look, activity, session.generation, session.focused_key, len(session.run.panels)

    def present(self) -> None:
        """Copy the frame to the screen: the whole window after a full redraw, else only the redrawn rectangles."""
        if self._full_redraw:
            pygame.display.flip()
        else:
            pygame.display.update(self.window.canvas.renewed)
        READER.let_go()
