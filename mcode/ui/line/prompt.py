"""The input line at the bottom: the draft, the prompt of a question, completion, keys, and the rows around them."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from mcode.text import Kind, clean, shorten
from mcode.ui.line.keys import key_bindings
from mcode.ui.live import LiveRow
from mcode.ui.paste import TypingPace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prompt_toolkit.completion import Completer
    from prompt_toolkit.key_binding.key_processor import KeyProcessor
    from prompt_toolkit.output import Output

    from mcode.ui.line.actions import Actions, Rows
    from mcode.ui.line.terminal import TerminalInput
    from mcode.ui.look import Look

_PROMPT_ROWS = 10
_COMPLETION_ROWS = 6


class Prompt:
    """Holds the two lines that can be typed into, and the application that reads the keys."""

    def __init__(
        self,
        actions: Actions,
        rows: Rows,
        look: Look,
        *,
        completer: Completer,
        input: TerminalInput,  # noqa: A002 -- prompt_toolkit's word
        output: Output,
    ) -> None:
        self.look = look
        self.pace = TypingPace()
        self.label = ""
        """What stands before a question's line; empty while the draft has the keys."""
        self._actions = actions
        self._rows = rows
        self._input = input
        self._output = output
        self._moving = False
        self.draft = Buffer(
            completer=completer,
            complete_while_typing=Condition(self._completes_by_itself),
            multiline=True,
            on_text_changed=self._draft_changed,
            on_text_insert=self._inserted,
            name="draft",
        )
        self.answer = Buffer(
            multiline=False,
            on_text_changed=self._answer_changed,
            on_text_insert=self._inserted,
            name="answer",
        )
        self.search = SearchToolbar()
        self._draft_control = BufferControl(
            self.draft,
            search_buffer_control=self.search.control if look.decorated else None,
            preview_search=True,
        )
        self._answer_control = BufferControl(self.answer)
        self.app: Application[int] = Application(
            layout=Layout(self._container(), focused_element=self._draft_control),
            style=_style(look),
            include_default_pygments_style=False,
            key_bindings=key_bindings(self, actions),
            color_depth=ColorDepth.DEPTH_4_BIT if look.color else ColorDepth.DEPTH_1_BIT,
            terminal_size_polling_interval=None,
            before_render=self._shrink,
            erase_when_done=True,
            input=input,
            output=output,
        )
        self.app.ttimeoutlen = 0.1
        self.app.timeoutlen = 0.1
        self.app.key_processor.before_key_press.add_handler(self._key_pressed)

    @property
    def asking(self) -> bool:
        """True while a question's line has the keys."""
        return bool(self.label)

    @property
    def searching(self) -> bool:
        """True while the history is searched."""
        return self.app.layout.is_searching

    @property
    def buffer(self) -> Buffer:
        """The line that has the keys."""
        return self.answer if self.asking else self.draft

    @property
    def prefix(self) -> str:
        """What stands before the line that has the keys."""
        return f"{self.label} {self.look.mark}" if self.asking else self.look.mark

    def use_history(self, texts: Sequence[str]) -> None:
        """What Up brings back from now on, oldest first; the draft stays as it is."""
        self.draft.history = InMemoryHistory(list(texts))
        self._moving = True
        try:
            self.draft.reset(self.draft.document)
        finally:
            self._moving = False

    def once_drawn(self, act: Callable[[], None]) -> None:
        """Do something as soon as the first frame is out."""

        def drawn(_: Application[int]) -> None:
            self.app.after_render.remove_handler(drawn)
            act()

        self.app.after_render.add_handler(drawn)

    def ask(self, label: str) -> None:
        """Show a question's own, empty line under `label`; the draft must be empty."""
        self.label = label
        self._set(self.answer, "")
        self.pace.forget()
        self.app.layout.focus(self._answer_control)

    def use_draft(self, text: str | None = None) -> None:
        """Give the keys to the draft; `text` replaces it."""
        self.label = ""
        self._set(self.answer, "")
        if text is not None:
            self._set(self.draft, text)
        self.app.layout.focus(self._draft_control)

    def sent(self) -> None:
        """The draft has gone out: remember it for this session's Up key and empty the line."""
        self.draft.append_to_history()
        self._set(self.draft, "")

    def enter_is_pasted(self) -> bool:
        """True where the Enter that is being handled is a line end in an unmarked paste."""
        waiting = bool(self.app.key_processor.input_queue) or self._input_waits()
        return self.pace.enter_is_pasted(self._input.read_at, more_follows=waiting)

    def _input_waits(self) -> bool:
        try:
            return bool(select.select([self._input.fileno()], [], [], 0)[0])
        except OSError:
            return False

    def _key_pressed(self, _: KeyProcessor) -> None:
        self._actions.key_pressed()

    def _set(self, buffer: Buffer, text: str) -> None:
        """Replace a line's text without taking that for typing."""
        self._moving = True
        try:
            buffer.reset(Document(text, len(text)))
        finally:
            self._moving = False

    def _draft_changed(self, _: Buffer) -> None:
        if self._moving:
            return
        self._actions.line_changed()
        if not self.draft.text:
            self._actions.draft_cleared()

    def _answer_changed(self, _: Buffer) -> None:
        if not self._moving and self.asking:
            self._actions.line_changed()
            self._actions.answer_typed(self.answer.text)

    def _inserted(self, _: Buffer) -> None:
        self.pace.typed(self._input.read_at)

    def _completes_by_itself(self) -> bool:
        """While typing, only where the user has begun to name a command or a file."""
        if not self.look.decorated:
            return False
        word = self.draft.document.get_word_before_cursor(WORD=True)
        return word.startswith("@") or self.draft.text.startswith("/")

    def _container(self) -> HSplit:
        draft = Window(
            self._draft_control,
            height=_flexible(_PROMPT_ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=self._line_prefix,
        )
        answer = Window(
            self._answer_control,
            height=_flexible(_PROMPT_ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=self._line_prefix,
        )
        return HSplit(
            [
                self._window(self._above),
                ConditionalContainer(draft, Condition(lambda: not self.asking)),
                ConditionalContainer(answer, Condition(lambda: self.asking)),
                self.search,
                ConditionalContainer(self._window(self._completions), has_focus(self.draft) & ~is_searching),
                self._window(lambda width: [self._rows.below(width)]),
            ]
        )

    def _line_prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        if line == 0 and wrapped == 0:
            return to_formatted_text(self.prefix, "class:prompt")
        return [("", "  ")]

    def _above(self, width: int) -> Sequence[LiveRow]:
        return self._rows.above(width)

    def _completions(self, width: int) -> Sequence[LiveRow]:
        state = self.draft.complete_state
        if state is None or not state.completions:
            return []
        chosen = state.complete_index
        first = max(0, (chosen or 0) - _COMPLETION_ROWS + 1)
        rows: list[LiveRow] = []
        for at, completion in enumerate(state.completions[first : first + _COMPLETION_ROWS], first):
            mark = ">" if at == chosen else " "
            text = f"  {mark} {completion.display_text}  {completion.display_meta_text}".rstrip()
            style = "class:chosen" if at == chosen else "class:offered"
            rows.append(LiveRow(shorten(clean(text, Kind.LINE), width, self.look.cut), style))
        left = len(state.completions) - first - len(rows)
        if left > 0:
            rows.append(LiveRow(f"    {left} more", "class:offered"))
        return rows

    def _window(self, rows: Callable[[int], Sequence[LiveRow]]) -> Window:
        """A window as high as its rows; it gives way when the terminal is too low for everything."""

        def fragments() -> StyleAndTextTuples:
            result: StyleAndTextTuples = []
            for at, row in enumerate(rows(self._output.get_size().columns)):
                if at:
                    result.append(("", "\n"))
                result.append((row.style, row.text))
            return result

        control = FormattedTextControl(fragments)
        return Window(control, height=lambda: _height(fragments()), dont_extend_height=True)

    def _shrink(self, _: Application[int]) -> None:
        """Begin a new frame where the rows have become fewer: the renderer alone would keep the old height."""
        last = self.app.renderer.last_rendered_screen
        if last is None:
            return
        size = self._output.get_size()
        wanted = self.app.layout.container.preferred_height(size.columns, size.rows).preferred
        if wanted < last.height:
            self.app.renderer.erase()


def _flexible(most: int) -> Dimension:
    return Dimension(min=1, max=most)


def _height(fragments: StyleAndTextTuples) -> Dimension:
    count = sum(1 for fragment in fragments if fragment[1] == "\n") + 1 if fragments else 0
    return Dimension(min=0, preferred=count, max=count)


def _style(look: Look) -> Style:
    if not look.color:
        return Style([])
    return Style.from_dict(
        {
            "prompt": "ansicyan",
            "activity": "ansicyan",
            "running": "",
            "queue": "ansibrightblack",
            "waiting": "bold ansiyellow",
            "status": "ansibrightblack",
            "chosen": "bold",
            "offered": "",
            "hint": "ansiyellow",
        }
    )
