"""What the keys do. Editing keys are prompt_toolkit's own; here are those that mean something to mcode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.filters import Filter
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from mcode.ui.line.actions import Actions
    from mcode.ui.line.prompt import Prompt

KEYS = (
    ("Enter", "send the draft; while a turn runs: put it in the queue"),
    ("Ctrl+J, \\ Enter", "new line"),
    ("Esc", "close the list of completions; else interrupt the turn; draft and queue stay"),
    ("Ctrl+C", "interrupt the turn; else clear the draft; twice: quit"),
    ("Ctrl+D", "quit, on an empty draft"),
    ("Shift+Tab", "next permission mode: default, acceptEdits, plan"),
    ("Tab", "complete; on an empty draft: go to what waits for you"),
    ("Up, Down", "take back a queued message, then the history"),
    ("Ctrl+R", "search the history"),
    ("Ctrl+G", "edit the draft in your editor"),
    ("Ctrl+V", "paste the image of the clipboard; a dropped image file becomes a mention"),
    ("Ctrl+X", "move the command that runs to the background"),
    ("Ctrl+L, Ctrl+Z", "draw the screen again; suspend"),
    ("F1", "this list"),
)
"""For the list of keys."""


def key_bindings(prompt: Prompt, actions: Actions) -> KeyBindings:
    """The bindings of both lines."""
    bindings = KeyBindings()
    _bind_draft(bindings, prompt, actions)
    _bind_answer(bindings, prompt, actions)
    _bind_everywhere(bindings, prompt, actions)
    return bindings


def _bind_draft(bindings: KeyBindings, prompt: Prompt, actions: Actions) -> None:
    typing = Condition(lambda: not prompt.asking) & ~is_searching
    empty = Condition(lambda: not prompt.draft.text)

    def bind(key: str, do: Callable[[Prompt, Actions], None], *, only: Filter = typing) -> None:
        @bindings.add(key, filter=only)
        def pressed(event: KeyPressEvent) -> None:
            del event
            do(prompt, actions)

    bind("enter", _enter)
    bind("c-j", lambda prompt, _: prompt.draft.insert_text("\n"))
    bind("up", _up)
    bind("down", lambda prompt, _: prompt.draft.auto_down())
    bind("tab", _tab)
    bind("s-tab", _back_tab)
    bind("c-g", lambda _, actions: actions.edit())
    bind("c-d", lambda _, actions: actions.control_d(), only=typing & empty)

    bind("c-v", lambda _, actions: actions.paste_image())

    @bindings.add(Keys.BracketedPaste, filter=typing)
    def paste(event: KeyPressEvent) -> None:
        from mcode.ui.clipboard_image import mentions_of

        text = _with_plain_line_ends(event.data)
        prompt.draft.insert_text(mentions_of(text) or text)

    @bindings.add("c-o")
    @bindings.add("escape", "#")
    def nothing(event: KeyPressEvent) -> None:
        """Editing keys of others that would take the draft away."""
        del event


def _enter(prompt: Prompt, actions: Actions) -> None:
    draft = prompt.draft
    state = draft.complete_state
    if state is not None and state.current_completion is not None:
        draft.complete_state = None
    elif prompt.enter_is_pasted():
        draft.insert_text("\n")
        actions.pasted_unmarked()
    elif draft.document.char_before_cursor == "\\":
        draft.delete_before_cursor()
        draft.insert_text("\n")
    else:
        actions.draft_entered(draft.text)


def _up(prompt: Prompt, actions: Actions) -> None:
    draft = prompt.draft
    if not draft.text and draft.complete_state is None:
        taken = actions.take_back()
        if taken is not None:
            prompt.use_draft(taken)
            actions.line_changed()
            return
    draft.auto_up()


def _tab(prompt: Prompt, actions: Actions) -> None:
    draft = prompt.draft
    if draft.complete_state is not None:
        draft.complete_next()
    elif not draft.text:
        actions.tab()
    else:
        draft.start_completion(insert_common_part=True)


def _back_tab(prompt: Prompt, actions: Actions) -> None:
    if prompt.draft.complete_state is not None:
        prompt.draft.complete_previous()
    else:
        actions.next_mode()


def _bind_answer(bindings: KeyBindings, prompt: Prompt, actions: Actions) -> None:
    answer = prompt.answer
    answering = Condition(lambda: prompt.asking)

    @bindings.add("enter", filter=answering)
    @bindings.add("c-j", filter=answering)
    def enter(event: KeyPressEvent) -> None:
        del event
        if prompt.enter_is_pasted():
            actions.answer_pasted(answer.text + "\n")
        else:
            actions.answer_entered(answer.text)

    @bindings.add(Keys.BracketedPaste, filter=answering)
    def paste(event: KeyPressEvent) -> None:
        actions.answer_pasted(answer.text + _with_plain_line_ends(event.data))

    @bindings.add("up", filter=answering)
    @bindings.add("down", filter=answering)
    @bindings.add("tab", filter=answering)
    @bindings.add("s-tab", filter=answering)
    @bindings.add("c-g", filter=answering)
    @bindings.add("c-r", filter=answering)
    @bindings.add("c-s", filter=answering)
    def nothing(event: KeyPressEvent) -> None:
        del event

    @bindings.add("c-d", filter=answering & Condition(lambda: not answer.text))
    def end(event: KeyPressEvent) -> None:
        del event
        actions.control_d()


def _bind_everywhere(bindings: KeyBindings, prompt: Prompt, actions: Actions) -> None:
    draft = prompt.draft

    @bindings.add("escape", filter=~is_searching)
    def escape(event: KeyPressEvent) -> None:
        del event
        if draft.complete_state is not None and not prompt.asking:
            draft.cancel_completion()
        else:
            actions.escape()

    @bindings.add("c-c", filter=~is_searching)
    @bindings.add("<sigint>")
    def control_c(event: KeyPressEvent) -> None:
        del event
        draft.complete_state = None
        actions.control_c()

    @bindings.add("f1")
    def keys_help(event: KeyPressEvent) -> None:
        del event
        actions.keys_help()

    @bindings.add("c-l")
    def repaint(event: KeyPressEvent) -> None:
        del event
        actions.repaint()

    @bindings.add("c-x", eager=True)
    def to_background(event: KeyPressEvent) -> None:
        del event
        actions.to_background()

    @bindings.add("c-z")
    def suspend(event: KeyPressEvent) -> None:
        del event
        actions.suspend()


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
