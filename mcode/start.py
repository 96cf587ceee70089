"""Running a front end in an event loop, and ending it well whatever ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from mcode.errors import McodeError, UsageError
from mcode.logs import open_log
from mcode.streams import speak_utf8, write
from mcode.text import Kind, clean
from mcode.wiring.demo import TOUR, make_known, with_demo
from mcode.wiring.opening import Opening, open_session, which_session
from mcode.wiring.workbench import prepare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
    from typing import TextIO

    from mcode.agent.agent import Agent
    from mcode.jsontext import JsonValue
    from mcode.ui.line.look import Look
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

STDIN = 0

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def run_headless(options: Options) -> int:
    """Answer on standard output; returns the exit code."""
    return _run(_headless(options), (*ENDING_SIGNALS, signal.SIGINT))


def run_interactive(options: Options) -> int:
    """Talk in the terminal until the user quits; returns the exit code."""
    return _run(_interactive(options), ENDING_SIGNALS)


def _run(main: Coroutine[None, None, int], signals: tuple[signal.Signals, ...]) -> int:
    """Run to the end; a signal cancels the work, which then cleans up, and gives 128 + its number."""
    received: list[int] = []

    async def supervised() -> int:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(main)

        def end(number: int) -> None:
            received.append(number)
            task.cancel()

        for number in signals:
            loop.add_signal_handler(number, end, number)
        with contextlib.suppress(asyncio.CancelledError):
            return await task
        return 128 + (received[0] if received else signal.SIGTERM)

    return asyncio.run(supervised())


async def _headless(options: Options) -> int:
    from mcode.commands.host import CommandContext
    from mcode.commands.registry import BoundCommands
    from mcode.commands.standard import standard_registry
    from mcode.ui.headless import HeadlessFrontEnd

    if not options.demo:
        _preload(_load_sdk)
    output = _Output(options.output_format)
    options = with_demo(options)
    bench = await prepare(options, interactive=False)
    make_known(bench)
    output.mask = bench.masker.mask
    with open_log(bench.places.logs, bench.masker, detailed=options.debug):
        opening = await which_session(options, bench, None) or Opening("startup")
        source = opening.source
        agent = await bench.open_agent(source, opening.reference)
        registry = standard_registry()
        front_end = HeadlessFrontEnd(
            agent,
            output,
            output_format=options.output_format,
            partial_messages=options.partial_messages,
            credential=bench.endpoint.credential,
            structured=_structured(agent),
            commands=BoundCommands(registry, CommandContext(agent, bench.surroundings(), registry)),
        )
        try:
            await agent.start(source)
            code = await front_end.run(_prompts(options, output))
            return code or int(output.failed)
        except asyncio.CancelledError:
            await agent.close("other")
            front_end.interrupted()
            raise
        except McodeError as error:
            if options.output_format != "text":
                await agent.close("other")
                front_end.failed(str(error))
            raise
        finally:
            await agent.close("other")
            await bench.close()


def _structured(agent: Agent) -> Callable[[], Sequence[JsonValue]] | None:
    """The answers in the shape of `--json-schema`, where that was given."""
    from mcode.builtins.structured_output import NAME, StructuredOutput

    tool = agent.catalog.find(NAME)
    return (lambda: tool.answers) if isinstance(tool, StructuredOutput) else None


async def _interactive(options: Options, typed: str = "") -> int:
    """Open a session and a front end on it. `typed`: what was in the prompt of a screen that this one follows."""
    from mcode.ui.choice import wants_screen
    from mcode.ui.line.choosing import ListChooser
    from mcode.ui.line.look import look_for
    from mcode.ui.line.trusting import FolderAsker

    options = with_demo(options)
    bench = await prepare(options, interactive=True, question=FolderAsker())
    make_known(bench)
    with open_log(bench.places.logs, bench.masker, detailed=options.debug):
        look = look_for(bench.settings.own.ui, bench.environment, decoration=not options.no_decoration)
        chooser = ListChooser()
        opening = await which_session(options, bench, chooser)
        if opening is None:
            return 0
        opening, agent = await open_session(bench, opening, chooser)
        if agent is None:
            return _show_conversation(bench, opening.reference, look)
        screen = wants_screen(
            bench.environment,
            plain=options.plain or options.no_decoration,
            terminal=sys.stdin.isatty() and sys.stdout.isatty(),
        )
        run = (
            _screen(options, bench, agent, opening, look, typed)
            if screen
            else _lines(options, bench, agent, opening, look)
        )
        pruning = asyncio.create_task(bench.prune())
        try:
            return await run()
        finally:
            pruning.cancel()
            await bench.close()


def _lines(
    options: Options, bench: Workbench, agent: Agent, opening: Opening, look: Look
) -> Callable[[], Awaitable[int]]:
    """The line front end, ready to run."""
    from mcode.commands.standard import standard_registry
    from mcode.ui.line import prose
    from mcode.ui.line.app import LineApp

    slow = [prose.preload] if bench.endpoint.guide else [prose.preload, _load_sdk]
    asyncio.get_running_loop().call_later(0.2, _preload, *slow)
    app = LineApp(
        agent,
        around=bench.surroundings(),
        registry=standard_registry(),
        open_agent=bench.open_agent,
        look=look,
        source=opening.source,
        remarks=_remarks(bench),
        first_message=options.prompt,
    )
    return app.run


def _screen(
    options: Options, bench: Workbench, agent: Agent, opening: Opening, look: Look, typed: str
) -> Callable[[], Awaitable[int]]:
    """The full screen, ready to run."""
    from mcode.commands.standard import standard_registry
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.background import default_theme
    from mcode.ui.tui.terminal_query import Background, ask_background, may_ask

    theme, background = bench.settings.own.ui.theme, Background(None)
    if theme is None and may_ask(bench.environment):
        background = ask_background(sys.stdin.fileno(), sys.stdout.fileno())
    app = McodeApp(
        agent,
        around=bench.surroundings(),
        registry=standard_registry(),
        open_agent=bench.open_agent,
        manners=look,
        environment=bench.environment,
        source=opening.source,
        remarks=_remarks(bench),
        first_message=options.prompt,
        theme=theme or default_theme(bench.environment, background.dark),
        typed=typed + background.typed,
        servers=bench.pool,
        drawn=lambda: None if bench.endpoint.guide else _preload(_load_sdk),
    )

    async def run() -> int:
        code = await app.run_to_end()
        if not app.key:
            return code
        os.environ["ANTHROPIC_API_KEY"] = app.key  # for this process alone; no child is given it
        await bench.close()
        return await _interactive(options, app.unsent)

    return run


def _preload(*loaders: Callable[[], None]) -> None:
    """Load slow libraries in a thread while everything else is read, or after the first frame.

    Nobody waits for that thread: a run that a signal ends does not load the rest of a library first.
    """

    def load() -> None:
        for loader in loaders:
            loader()

    threading.Thread(target=load, daemon=True).start()


def _load_sdk() -> None:
    from mcode.model.anthropic import preload

    preload()


def _show_conversation(bench: Workbench, reference: str | None, look: Look) -> int:
    """Print a session that another process has open; returns the exit code."""
    from mcode.agent.transcript import transcript
    from mcode.ui.line.reading import print_conversation

    session = bench.store.open_read_only(reference or "")
    try:
        print_conversation(transcript(session.journal.records), look)
    finally:
        session.journal.close()
    return 0


def _remarks(bench: Workbench) -> tuple[str, ...]:
    if not bench.endpoint.guide:
        return ()
    from mcode.model.guide import WELCOME

    return (WELCOME,)


async def _prompts(options: Options, output: _Output) -> AsyncIterator[str]:
    """The messages of a headless run: the one on the command line with standard input behind it, or JSON lines."""
    from mcode.ui.stream_input import PATIENCE, read_messages, read_text

    if options.tour:
        for line in TOUR:
            yield line
        return
    if options.input_format == "stream-json":
        async for text in read_messages(STDIN):
            yield text
        return
    piped = "" if sys.stdin.isatty() else await read_text(STDIN, patient=options.prompt is None)
    if piped is None:
        output.remark(
            f"mcode: Standard input is open but said nothing for {PATIENCE:g} s; going on without it. "
            "`</dev/null` spares the wait."
        )
    parts = [part for part in (options.prompt, piped) if part]
    if not parts:
        raise UsageError("There is no message: give one behind -p or on standard input. Nothing was sent.")
    yield "\n\n".join(parts)


class _Output:
    """Standard output and error; what reaches a terminal is cleaned first."""

    def __init__(self, output_format: str) -> None:
        self.mask: Callable[[str], str] = str
        """Hides secrets in remarks; set as soon as it is known which there are."""
        self.failed = False
        """True once an answer was lost, other than to a reader that had enough."""
        if output_format != "text":
            speak_utf8(sys.stdout)

    def answer(self, text: str) -> None:
        failure = _show(sys.stdout, text)
        if failure is not None and not isinstance(failure, BrokenPipeError):
            self.failed = True
            self.remark(
                f"mcode: Standard output could not be written: {failure.strerror}. The answer is lost there from "
                "here on; the session keeps it: `mcode --continue` shows it."
            )

    def remark(self, text: str) -> None:
        _show(sys.stderr, f"{self.mask(text)}\n")


def _show(stream: TextIO, text: str) -> OSError | None:
    return write(stream, clean(text, Kind.BLOCK) if stream.isatty() else text)
