"""Application object of the window: each frame handles events, advances the run and draws, in this order.

Tests call these three phases directly, with events that they create themselves.
"""

import os
import time

# Present frames without the GPU API, because software rendering by llvmpipe takes 7 ms a frame.
os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")

import pygame

from sim.params import ConfigError
from ui import error_recovery
from ui.commands.app_context import AppContext
from ui.commands.command_table import COMMAND_TABLE
from ui.error_recovery import ErrorRecovery
from ui.input.dropped_files import DroppedFileQueue
from ui.input.key_dispatcher import KeyDispatcher
from ui.input.mouse_dispatcher import MouseDispatcher
from ui.kernel_preparation import KernelPreparation, agent_kinds_of_panels
from ui.model.autosave import AutosaveJournal
from ui.model.keyframe_reader import KEYFRAME_READER
from ui.model.layout import MAX_PANELS
from ui.model.player import TICKING_SHARE
from ui.model.session import Session
from ui.model.settings import Settings
from ui.panels import context_menu, highlights, lesson_card, overlay, panels_and_bars, selection_drawing
from ui.panels.minimap_drawer import MinimapDrawer
from ui.panels.note_bubble import NoteBubble

FRAMES_PER_SECOND = 60


class App:
    """Application object: owner of the window, its input handlers, drawing, journal and error recovery.

    The main loop in ui/start.py calls it once per frame.
    """

    def __init__(self, session: Session, settings: Settings, surface: pygame.Surface) -> None:
        self.window = AppContext(session, settings, surface, COMMAND_TABLE)
        self.window.apply_memory_and_folder_settings()
        self.key_dispatcher = KeyDispatcher(self.window)
        self.mouse_dispatcher = MouseDispatcher(self.window)
        self.dropped_file_queue = DroppedFileQueue(self.window)
        self.tooltip_drawer = overlay.TooltipDrawer()
        self.minimap_drawer = MinimapDrawer()
        self.note_bubble = NoteBubble()
        self._saved_dialog_corners = overlay.SavedDialogCorners()
        self.kernel_preparation = KernelPreparation()
        self.error_recovery = ErrorRecovery(self.window, self._is_session_journaled)
        self.autosave_journal: AutosaveJournal | None = None  # autosave journal; None: the session is not saved
        self.last_frame_ms = self.longest_frame_ms = 0.0
        # Whether any event (mouse, keyboard, window system) arrived in the last frame.
        self._had_events_in_last_frame = True
        self._last_hidden_panel_count = 0  # number of panels that did not fit into the window in the last frame
        # Cache key of the last frame: all inputs of its drawing except the state of the run; None: no key.
        # If the next frame has an equal key, it reuses cached regions of the window; otherwise it draws everything.
        self._last_frame_key: object = None
        self._was_full_redraw = True  # whether the last frame drew everything instead of reusing cached regions
        self._last_map_versions: list[int] = []  # version counter of the map of each panel, as of the last frame

    @property
    def session(self) -> Session:
        return self.window.session

    def _is_session_journaled(self) -> bool:
        """Return whether the session is being written to a journal, so that it survives a crash."""
        return self.autosave_journal is not None and self.autosave_journal.is_journal_being_written

    def run_frame(self, seconds: float) -> None:
        """Run one frame: handle events, advance the run, draw the window.

        Args:
            seconds: Time since the previous frame; with 0, as in many tests, the frame is always a full redraw.
        """
        run = self.error_recovery.run_frame_phase
        is_untouched = seconds > 0.0  # set to False by any event that may change the look of bars or panels
        self._had_events_in_last_frame = False
        for event in pygame.event.get():
            self._had_events_in_last_frame = True
            is_untouched = is_untouched and self._is_motion_over_maps(event)
            run(error_recovery.COMMAND_PHASE, self.handle_event, event)
        run(error_recovery.COMMAND_PHASE, self.dropped_file_queue.open_next_file)
        before = time.perf_counter()
        run(error_recovery.TICK_PHASE, self.update_run_and_dialogs, seconds)
        run(error_recovery.DRAW_PHASE, self.draw_window, is_untouched)
        self.error_recovery.report_thread_errors()
        self.last_frame_ms = (time.perf_counter() - before) * 1000.0
        self.longest_frame_ms = max(self.longest_frame_ms, self.last_frame_ms)

    @property
    def is_idle(self) -> bool:
        """Return whether the next frame would look like this one unless an event arrives, except for a blinking caret.

        The few frames of an idle window are enough for a caret to blink.
        """
        window = self.window
        is_changing = (
            self._had_events_in_last_frame
            or window.player.is_run_in_motion
            or window.ui_state.kinds_in_preparation
            or window.ui_state.selected_cells is not None  # the outline of a selection is animated
            or window.recording_controller.is_recording_or_exporting
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
            window.run_command("quit")
        elif event.type == pygame.VIDEORESIZE:
            window.on_window_resized(pygame.display.get_surface() or window.surface)
        elif event.type == pygame.DROPFILE:
            self.dropped_file_queue.add_file(event.file)
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self.key_dispatcher.handle_event(event)
        elif not window.dialogs.handle_event(event):
            self.mouse_dispatcher.handle_event(event)
        elif event.type == pygame.MOUSEBUTTONUP:
            self.mouse_dispatcher.end_press_or_drag()

    def _is_motion_over_maps(self, event: pygame.event.Event) -> bool:
        """Return whether an event is a mouse motion from one map position to another with no button pressed.

        Only maps and the inspector react to such a motion, so bars and panels need no redraw.
        """
        if event.type != pygame.MOUSEMOTION or any(event.buttons):
            return False
        both_pos = event.pos, self.window.canvas.mouse_position
        return all(self.window.map_view.panel_at_position(pos) is not None for pos in both_pos)

    # --- time -------------------------------------------------------------------------------------

    def update_run_and_dialogs(self, seconds: float) -> None:
        """Compute the ticks that are due, then update what depends on them: journal, notifications, open dialog."""
        window = self.window
        self._advance_run(seconds)
        self._update_notes_and_lesson()
        window.recording_controller.update_workers()
        if self.autosave_journal is not None:
            self.autosave_journal.update_journal()
        window.document_opener.reload_changed_agents()
        self._notify_hidden_panels()
        self._show_queued_notifications()
        window.dialogs.update_open_dialog(seconds)

    def _advance_run(self, seconds: float) -> None:
        window, session = self.window, self.session
        window.ui_state.kinds_in_preparation = tuple(
            self.kernel_preparation.agent_kinds_without_kernels(agent_kinds_of_panels(session.run.panels))
        )
        tick = session.tick
        if not window.recording_controller.must_run_wait and not window.ui_state.kinds_in_preparation:
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
        if window.ui_state.tutorial_notes is not None:
            window.ui_state.tutorial_notes.update_shown_note(session)
        if window.ui_state.lesson_player is not None:
            window.ui_state.lesson_player.pause_at_step(session, window.player)
        if message := window.player.pause_if_run_ended():
            window.notify_user(message)

    def _show_queued_notifications(self) -> None:
        """Show the notifications queued by the session since the last frame, and clear the queue."""
        window, messages = self.window, self.session.user_messages
        for text in messages.messages_until_next_edit:
            window.notify_until_next_edit(text)
        messages.messages_until_next_edit.clear()
        for text in messages.persistent_messages:
            window.notify_user(text)
        messages.persistent_messages.clear()
        if messages.alert_messages and window.dialogs.current_dialog is None:
            window.dialogs.show_error(ConfigError(messages.alert_messages), "Replay does not match the saved run")
            messages.alert_messages.clear()

    def _notify_hidden_panels(self) -> None:
        """Notify the user if more panels than in the last frame do not fit into the window."""
        hidden = max(0, len(self.session.run.panels) - MAX_PANELS)
        if hidden > self._last_hidden_panel_count:
            self.window.notify_user(
                f"{hidden} of {MAX_PANELS + hidden} panels {'is' if hidden == 1 else 'are'} hidden. "
                "To see more of them, hide a branch ({key:hide_branch}) or remove an agent ({key:remove_agent})."
            )
        self._last_hidden_panel_count = hidden

    def _draw_lesson(self) -> None:
        """Draw the highlights of the current lesson step; draw its text over the maps if no sidebar shows it."""
        desk = self.window.view_context
        if desk.ui_state.lesson_player is not None:
            highlights.draw_highlights(desk, desk.ui_state.lesson_player.current_step.highlights)
            if desk.ui_state.are_bars_hidden or not desk.map_view.layout.sidebar_box:
                lesson_card.draw_lesson_card_over_maps(desk, desk.map_view.layout, desk.ui_state.lesson_player)

    # --- drawing ----------------------------------------------------------------------------------

    def draw_window(self, is_untouched: bool = False) -> None:
        """Draw the window.

        Args:
            is_untouched: Whether there was no user input since the last frame except mouse motion over maps. Then
                cached regions of the last frame may be reused.
        """
        window = self.window
        desk, canvas, surface = window.view_context, window.canvas, window.surface
        # The key is None until the end of this method, so that the next frame draws everything if drawing fails here.
        before, self._last_frame_key = self._last_frame_key, None
        frame_key = self._frame_cache_key()
        reuses_regions = is_untouched and frame_key is not None and frame_key == before
        canvas.accepts_mouse_input = not window.dialogs.is_modal
        mouse, is_busy = pygame.mouse.get_pos(), self._has_map_changed()
        canvas.begin_frame(
            surface, desk.palette, desk.map_view.px_per_unit, mouse, rests=reuses_regions, is_busy=is_busy
        )
        if reuses_regions:
            self._saved_dialog_corners.restore_pixels(surface)
        else:
            surface.fill(desk.palette.window)
        panels_and_bars.draw_panels(desk, self.mouse_dispatcher.tool_preview)
        selection_drawing.draw_selection(desk, window.map_editor.select_tool)
        self.minimap_drawer.draw_minimaps(desk, window.centre_panel_on)
        if not desk.ui_state.are_bars_hidden:
            panels_and_bars.draw_window_bars(desk, window.recording_controller.draw_recording_indicators)
        canvas.draw_focused_control()
        self._draw_lesson()
        if (
            desk.ui_state.tutorial_notes is not None
            and desk.ui_state.tutorial_notes.shown_note is not None
            and not desk.ui_state.are_bars_hidden
        ):
            self.note_bubble.draw_note(desk, desk.ui_state.tutorial_notes.shown_note)
        overlay.draw_messages(desk, desk.map_view.layout)
        context_menu.draw_context_menu(desk)
        if window.dialogs.is_modal:
            # Only redrawn regions are dimmed, because reused regions were dimmed in earlier frames.
            overlay.dim_window(desk, canvas.dirty_rects if reuses_regions else None)
        dialog = window.dialogs.current_dialog
        self._saved_dialog_corners.save_pixels(
            surface, dialog.card_rects() if dialog is not None else (), canvas.to_px(overlay.SAVED_CORNER_SIDE)
        )
        if dialog is not None:
            dialog.draw_dialog(surface)
        elif not self._draw_tooltip() and reuses_regions:
            frame_key = None  # draw everything next time, because a reused region still shows the previous tooltip
        self.mouse_dispatcher.update_cursor_shape()
        self._was_full_redraw, self._last_frame_key = not reuses_regions or dialog is not None, frame_key

    def _draw_tooltip(self) -> bool:
        """Draw the tooltip of this frame on top of everything else.

        Returns:
            True if nothing of the previous frame's tooltip stays visible: there was none, or both have the same box.
        """
        before = self.tooltip_drawer.visible_box
        self.tooltip_drawer.draw_tooltip(self.window.view_context)
        if self.tooltip_drawer.visible_box is not None:
            self.window.canvas.dirty_rects.append(self.tooltip_drawer.visible_box)
        return before is None or self.tooltip_drawer.visible_box == before

    def _has_map_changed(self) -> bool:
        """Return whether any panel's map has changed since the last frame.

        Such a frame takes twice as long as others, both for the tick and for drawing the maps. The canvas therefore
        postpones the redraw of cached regions by one frame.
        """
        before, self._last_map_versions = (
            self._last_map_versions,
            [panel.world.grid.version for panel in self.session.run.panels],
        )
        return self._last_map_versions != before

    def _frame_cache_key(self) -> object:
        """Return the cache key of this frame: the next frame may reuse cached regions if its key is equal.

        Returns:
            A tuple to compare with the key of another frame; None if an overlay (such as a menu) covers parts of the
            window, so that everything has to be drawn.
        """
        window, session = self.window, self.session
        if overlay.may_overlay_cover_regions(window.view_context):
            return None
        window_state = (
            window.surface,
            window.view_context.palette,
            window.view_context.map_view.layout,
            window.dialogs.current_dialog,
        )
        activity = window.player.playback_state_text(), window.ui_state.kinds_in_preparation
        return window_state, activity, session.picture_generation, session.focused_key, len(session.run.panels)

    def present_frame(self) -> None:
        """Copy the frame to the screen: the whole window after a full redraw, else only the redrawn rectangles."""
        if self._was_full_redraw:
            pygame.display.flip()
        else:
            pygame.display.update(self.window.canvas.dirty_rects)
        KEYFRAME_READER.end_thread_separation()
