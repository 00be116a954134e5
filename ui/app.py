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
from ui.commands.window import AppContext
from ui.input.drops import DropQueue
from ui.input.keyboard import KeyDispatcher
from ui.input.pointer import MouseDispatcher
from ui.model.autosave import AutosaveJournal
from ui.model.keyframe_reader import KEYFRAME_READER
from ui.model.layout import MAX_PANELS
from ui.model.player import TICKING_SHARE
from ui.model.session import Session
from ui.model.settings import Settings
from ui.panels import context_menu, highlights, lesson_card, overlay, panels_and_bars, selection_drawing
from ui.panels.minimap import MinimapDrawer
from ui.panels.note_bubble import NoteBubble
from ui.preparation import KernelPreparation, agent_kinds_of_panels
from ui.safety import ErrorRecovery

FRAMES_PER_SECOND = 60


class App:
    """Application object: owner of the window, its input handlers, drawing, journal and error recovery.

    The main loop in ui/start.py calls it once per frame.
    """

    def __init__(self, session: Session, settings: Settings, surface: pygame.Surface) -> None:
        self.window = AppContext(session, settings, surface, COMMANDS)
        self.window.apply_memory_and_folder_settings()
        self.keyboard = KeyDispatcher(self.window)
        self.pointer = MouseDispatcher(self.window)
        self.drops = DropQueue(self.window)
        self.tooltip = overlay.Tooltip()
        self.minimap = MinimapDrawer()
        self.note_bubble = NoteBubble()
        self._corners = overlay.SavedCorners()
        self.kernel_preparation = KernelPreparation()
        self.recovery = ErrorRecovery(self.window, self._is_journaled)
        self.autosave_journal: AutosaveJournal | None = None  # autosave journal; None: the session is not saved
        self.frame_ms = self.longest_frame_ms = 0.0
        self._had_events = True  # whether any event (mouse, keyboard, window system) arrived in the last frame
        self._hidden_panel_count = 0  # number of panels that did not fit into the window in the last frame
        # Cache key of the last frame: all inputs of its drawing except the state of the run; None: no key.
        # If the next frame has an equal key, it reuses cached regions of the window; otherwise it draws everything.
        self._frame_key: object = None
        self._full_redraw = True  # whether the last frame drew everything instead of reusing cached regions
        self._map_versions: list[int] = []  # version counter of the map of each panel, as of the last frame

    @property
    def session(self) -> Session:
        return self.window.session

    def _is_journaled(self) -> bool:
        """Return whether the session is being written to a journal, so that it survives a crash."""
        return self.autosave_journal is not None and self.autosave_journal.is_journal_being_written

    def frame(self, seconds: float) -> None:
        """Run one frame: handle events, advance the run, draw the window.

        Args:
            seconds: Time since the previous frame; with 0, as in many tests, the frame is always a full redraw.
        """
        run = self.recovery.run
        is_untouched = seconds > 0.0  # set to False by any event that may change the look of bars or panels
        self._had_events = False
        for event in pygame.event.get():
            self._had_events = True
            is_untouched = is_untouched and self._is_motion_over_maps(event)
            run(safety.COMMAND, self.handle_event, event)
        run(safety.COMMAND, self.drops.open_next_file)
        before = time.perf_counter()
        run(safety.TICK, self.update_state, seconds)
        run(safety.DRAW, self.draw, is_untouched)
        self.recovery.report_thread_errors()
        self.frame_ms = (time.perf_counter() - before) * 1000.0
        self.longest_frame_ms = max(self.longest_frame_ms, self.frame_ms)

    @property
    def is_idle(self) -> bool:
        """Return whether the next frame would look exactly like this one unless an event arrives."""
        window = self.window
        is_changing = (
            self._had_events
            or window.player.is_run_in_motion
            or window.state.preparing
            or window.state.selection is not None  # the outline of a selection is animated
            or window.recording.is_recording_or_exporting
            or self.session.run.is_measuring_optimality
            or self.session.run.is_rerecording_ticks
        )
        return not is_changing and window.dialogs.is_unchanging

    # --- events -----------------------------------------------------------------------------------

    def handle_event(self, event: pygame.event.Event) -> None:
        window = self.window
        if event.type == pygame.QUIT and getattr(event, "is_forced", False):
            window.terminate()
        elif event.type == pygame.QUIT:
            window.run("quit")
        elif event.type == pygame.VIDEORESIZE:
            window.on_window_resized(pygame.display.get_surface() or window.surface)
        elif event.type == pygame.DROPFILE:
            self.drops.add_file(event.file)
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self.keyboard.handle_event(event)
        elif not window.dialogs.handle_event(event):
            self.pointer.handle_event(event)
        elif event.type == pygame.MOUSEBUTTONUP:
            self.pointer.end_press_or_drag()

    def _is_motion_over_maps(self, event: pygame.event.Event) -> bool:
        """Return whether an event is a mouse motion from one map position to another with no button pressed.

        Only maps and the inspector react to such a motion, so bars and panels need no redraw.
        """
        if event.type != pygame.MOUSEMOTION or any(event.buttons):
            return False
        both_pos = event.pos, self.window.canvas.mouse
        return all(self.window.map_view.panel_at(pos) is not None for pos in both_pos)

    # --- time -------------------------------------------------------------------------------------

    def update_state(self, seconds: float) -> None:
        """Compute the ticks that are due, then update what depends on them: journal, notifications, open dialog."""
        window = self.window
        self._advance_run(seconds)
        self._update_notes_and_lesson()
        window.recording.update_workers()
        if self.autosave_journal is not None:
            self.autosave_journal.update_journal()
        window.document_opener.reload_changed_agents()
        self._notify_hidden_panels()
        self._flush_notifications()
        window.dialogs.update_open_dialog(seconds)

    def _advance_run(self, seconds: float) -> None:
        window, session = self.window, self.session
        window.state.preparing = tuple(self.kernel_preparation.missing_kinds(agent_kinds_of_panels(session.run.panels)))
        tick = session.tick
        if not window.recording.must_run_wait and not window.state.preparing:
            # The run waits while a video recording is behind, so that no frame of the video is dropped.
            # It also waits until the kernels of all agents are compiled, so that no agent starts before the others.
            window.player.update_frame(seconds, TICKING_SHARE / FRAMES_PER_SECOND)
            if not session.run.is_seeking and session.tick == tick:
                session.run.continue_rerecording_ticks()
        # Ticks also compute optimality numbers (cost / optimal cost). In a frame without a tick, compute them here.
        if not session.run.is_seeking and session.tick == tick:
            session.run.continue_measuring_optimality()

    def _update_notes_and_lesson(self) -> None:
        """Update the explanatory notes and the lesson to the state of the run, then pause the run if it is over.

        The pause comes last, because a note or a lesson may wait for the end of the run.
        """
        window, session = self.window, self.session
        if window.state.notes is not None:
            window.state.notes.update_shown_note(session)
        if window.state.lesson is not None:
            window.state.lesson.pause_at_step(session, window.player)
        if message := window.player.pause_if_run_ended():
            window.notify_user(message)

    def _flush_notifications(self) -> None:
        """Show the notifications queued by the session since the last frame, and clear the queue."""
        window, messages = self.window, self.session.user_messages
        for text in messages.until_next_edit:
            window.notify_until_next_edit(text)
        messages.until_next_edit.clear()
        for text in messages.persistent:
            window.notify_user(text)
        messages.persistent.clear()
        if messages.alerts and window.dialogs.open_one is None:
            window.dialogs.show_error(ConfigError(messages.alerts), "Replay does not match the saved run")
            messages.alerts.clear()

    def _notify_hidden_panels(self) -> None:
        """Notify the user if more panels than in the last frame do not fit into the window."""
        hidden = max(0, len(self.session.run.panels) - MAX_PANELS)
        if hidden > self._hidden_panel_count:
            self.window.notify_user(
                f"{hidden} of {MAX_PANELS + hidden} panels {'is' if hidden == 1 else 'are'} hidden. "
                "To see more of them, hide a branch ({key:hide_branch}) or remove an agent ({key:remove_agent})."
            )
        self._hidden_panel_count = hidden

    def _draw_lesson(self) -> None:
        """Draw the highlights of the current lesson step; draw its text over the maps if no sidebar shows it."""
        desk = self.window.desk
        if desk.state.lesson is not None:
            highlights.draw_highlights(desk, desk.state.lesson.current_step.highlights)
            if desk.state.is_bare or not desk.map_view.layout.sidebar:
                lesson_card.draw_lesson_card_over_maps(desk, desk.map_view.layout, desk.state.lesson)

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
        frame_key = self._frame_cache_key()
        reuses_regions = is_untouched and frame_key is not None and frame_key == before
        canvas.accepts_mouse = not window.dialogs.is_modal
        mouse, is_busy = pygame.mouse.get_pos(), self._has_map_changed()
        canvas.begin_frame(surface, desk.palette, desk.map_view.scale, mouse, rests=reuses_regions, is_busy=is_busy)
        if reuses_regions:
            self._corners.restore_pixels(surface)
        else:
            surface.fill(desk.palette.window)
        panels_and_bars.draw_panels(desk, self.pointer.tool_preview)
        selection_drawing.draw_selection(desk, window.editor.selecting)
        self.minimap.draw(desk, window.centre_panel_on)
        if not desk.state.is_bare:
            panels_and_bars.draw_window_bars(desk, window.recording.draw)
        canvas.draw_focused_control()
        self._draw_lesson()
        if desk.state.notes is not None and desk.state.notes.shown_note is not None and not desk.state.is_bare:
            self.note_bubble.draw(desk, desk.state.notes.shown_note)
        overlay.draw_messages(desk, desk.map_view.layout)
        context_menu.draw_context_menu(desk)
        if window.dialogs.is_modal:
            # Only redrawn regions are dimmed, because reused regions were dimmed in earlier frames.
            overlay.dim_window(desk, canvas.dirty_rects if reuses_regions else None)
        dialog = window.dialogs.open_one
        self._corners.save_pixels(
            surface, dialog.card_rects() if dialog is not None else (), canvas.to_px(overlay.SAVED_CORNER_SIDE)
        )
        if dialog is not None:
            window.dialogs.gui.draw_ui(surface)
        elif not self._draw_tooltip() and reuses_regions:
            frame_key = None  # draw everything next time, because a reused region still shows the previous tooltip
        self.pointer.update_cursor_shape()
        self._full_redraw, self._frame_key = not reuses_regions or dialog is not None, frame_key

    def _draw_tooltip(self) -> bool:
        """Draw the tooltip of this frame on top of everything else.

        Returns:
            True if nothing of the previous frame's tooltip stays visible: there was none, or both have the same box.
        """
        before = self.tooltip.box
        self.tooltip.draw(self.window.canvas)
        if self.tooltip.box is not None:
            self.window.canvas.dirty_rects.append(self.tooltip.box)
        return before is None or self.tooltip.box == before

    def _has_map_changed(self) -> bool:
        """Return whether any panel's map has changed since the last frame.

        Such a frame takes twice as long as others, both for the tick and for drawing the maps. The canvas therefore
        postpones the redraw of cached regions by one frame.
        """
        before, self._map_versions = self._map_versions, [panel.world.grid.version for panel in self.session.run.panels]
        return self._map_versions != before

    def _frame_cache_key(self) -> object:
        """Return the cache key of this frame: the next frame may reuse cached regions if its key is equal.

        Returns:
            A tuple to compare with the key of another frame; None if an overlay (such as a menu) covers parts of the
            window, so that everything has to be drawn.
        """
        window, session = self.window, self.session
        if overlay.has_overlay(window.desk):
            return None
        window_state = window.surface, window.desk.palette, window.desk.map_view.layout, window.dialogs.open_one
        activity = window.player.playback_state_text(), window.state.preparing
        return window_state, activity, session.picture_generation, session.focused_key, len(session.run.panels)

    def present_frame(self) -> None:
        """Copy the frame to the screen: the whole window after a full redraw, else only the redrawn rectangles."""
        if self._full_redraw:
            pygame.display.flip()
        else:
            pygame.display.update(self.window.canvas.dirty_rects)
        KEYFRAME_READER.end_thread_separation()
