"""Runs a front end in an event loop, and closes it properly whatever ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.errors import McodeError, UsageError
from mcode.streams import speak_utf8, write
from mcode.text import Kind, clean
from mcode.wiring.front_end import LATE, asks_first, find_place, make_front_end
from mcode.wiring.loading import load_behind, load_modules, load_sdk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
    from typing import TextIO

    from mcode.agent.agent import Agent
    from mcode.commands.registry import BoundCommands, CommandResult
    from mcode.jsontext import JsonValue
    from mcode.ui.arrival import Arrival, Unsent
    from mcode.ui.line.trusting import FolderAsker
    from mcode.wiring.front_end import Place
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


class _Commands:
    """The slash commands of a headless run, loaded where a message may be one; most runs need none of them."""

    def __init__(self, agent: Agent, bench: Workbench) -> None:
        self._agent = agent
        self._bench = bench
        self._bound: BoundCommands | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all commands, without aliases."""
        return self._all().names

    def takes(self, line: str) -> bool:
        """Whether a line is for a command, though there may be none of the name, and not a message."""
        return line.startswith("/") and self._all().takes(line)

    async def run(self, line: str) -> CommandResult:
        """Run what the line says, slash included."""
        commands = self._all()
        return await commands.run(line)

    def _all(self) -> BoundCommands:
        if self._bound is None:
            from mcode.commands.host import CommandContext
            from mcode.commands.registry import BoundCommands
            from mcode.commands.standard import standard_registry

            registry = standard_registry()
            context = CommandContext(self._agent, self._bench.surroundings(), registry)
            self._bound = BoundCommands(registry, context)
        return self._bound


async def _headless(options: Options) -> int:
    from mcode.logs import open_log
    from mcode.ui.headless import HeadlessFrontEnd
    from mcode.wiring.demo import make_known, with_demo
    from mcode.wiring.opening import Opening, which_session
    from mcode.wiring.workbench import prepare

    if not options.demo:
        load_behind(load_sdk)
    output = _Output(options.output_format)
    options = with_demo(options)
    piped = await _whole_message(options)
    bench = await prepare(options, interactive=False)
    make_known(bench)
    if options.prompt_tool is not None:
        from mcode.wiring.prompt_tool import check_prompt_tool

        check_prompt_tool(bench)
    output.mask = bench.masker.mask
    with open_log(bench.places.logs, bench.masker, detailed=options.debug):
        opening = await which_session(options, bench, None) or Opening("startup")
        source = opening.source
        agent = await bench.open_agent(source, opening.reference)
        front_end = HeadlessFrontEnd(
            agent,
            output,
            output_format=options.output_format,
            partial_messages=options.partial_messages,
            credential=bench.endpoint.credential,
            structured=_structured(agent),
            commands=_Commands(agent, bench),
        )
        try:
            await agent.start(source)
            code = await front_end.run(_prompts(options, output, agent, piped))
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


async def _interactive(options: Options) -> int:
    """One front end after another until the user quits; what was typed and sent goes from each to the next.

    The first frame comes before everything is prepared, unless something is to be asked in the plain terminal first.
    """
    from mcode.ui.arrival import AnswerNeededError, Unsent
    from mcode.ui.line.trusting import FolderAsker

    place, asker = find_place(), FolderAsker()
    unsent = Unsent(_first_messages(options))
    asks = asks_first(options, place)
    while True:
        async with contextlib.AsyncExitStack() as stack:
            arriving = (
                await _arrive_first(options, place, stack, asker) if asks else _arriving(options, stack)
            )
            if arriving is None:
                return 0
            front = make_front_end(options, place, arriving, unsent)
            try:
                code = await front.run_to_end()
            except AnswerNeededError:
                asks = True
            except McodeError:
                _give_back(front.unsent)
                raise
            else:
                if not front.key and not front.unsent.demo:
                    return code
                if front.key:  # for this process alone; no child is given it
                    os.environ["ANTHROPIC_API_KEY"] = front.key
            unsent = front.unsent
            options = replace(options, demo=options.demo or unsent.demo)


def _first_messages(options: Options) -> tuple[str, ...]:
    """What the command line says for the user."""
    if options.tour and not options.prompt:
        from mcode.wiring.demo import TOUR

        return TOUR[:1]
    return (options.prompt,) if options.prompt else ()


def _give_back(unsent: Unsent) -> None:
    """Nothing could be opened: what was typed meanwhile is left on the terminal, to be copied."""
    texts = [text for text in (*unsent.messages, unsent.draft) if text.strip()]
    if texts:
        write(sys.stdout, "".join(f"not sent: {clean(text, Kind.BLOCK)}\n" for text in texts))


def _arriving(options: Options, stack: contextlib.AsyncExitStack) -> Callable[[], Awaitable[Arrival]]:
    """What opens the session behind the first frame."""

    async def arriving() -> Arrival:
        await load_modules(LATE)
        from mcode.wiring.arriving import arrive

        arrival = await arrive(options, stack)
        if arrival is None:
            raise McodeError("There is nothing to open.")
        if not arrival.offline:
            load_behind(load_sdk)
        return arrival

    return arriving


async def _arrive_first(
    options: Options, place: Place, stack: contextlib.AsyncExitStack, asker: FolderAsker
) -> Callable[[], Awaitable[Arrival]] | None:
    """Open the session before the front end is there, so that the user can be asked in the plain terminal."""
    from mcode.ui.line.choosing import ListChooser
    from mcode.ui.line.reading import print_conversation
    from mcode.wiring.arriving import arrive

    arrival = await arrive(
        options,
        stack,
        question=asker,
        chooser=ListChooser(),
        read=lambda events: print_conversation(events, place.look(options)),
    )
    if arrival is None:
        return None

    async def arriving() -> Arrival:
        if not arrival.offline:
            load_behind(load_sdk)
        return arrival

    return arriving


async def _whole_message(options: Options) -> str | None:
    """What standard input says where it is the whole message; None where the message stands elsewhere, too.

    Read before anything is looked for, so that an empty one is the first thing to be told. Raises UsageError.
    """
    if options.tour or options.input_format == "stream-json" or (options.prompt or "").strip():
        return None
    from mcode.ui.stream_input import read_text

    text = "" if sys.stdin.isatty() else await read_text(STDIN, patient=True)
    if not text:
        raise UsageError("There is no message: give one behind -p or on standard input. Nothing was sent.")
    return text


async def _prompts(options: Options, output: _Output, agent: Agent, whole: str | None) -> AsyncIterator[str]:
    """The messages of a headless run: the one on the command line with standard input behind it, or JSON lines."""
    from mcode.ui.stream_input import PATIENCE, read_messages, read_text

    if options.tour:
        from mcode.wiring.demo import TOUR

        for line in TOUR:
            yield line
        return
    if options.input_format == "stream-json":
        async for text in read_messages(STDIN, agent.pasted.keep):
            yield text
        return
    if whole is not None:
        yield whole
        return
    piped = "" if sys.stdin.isatty() else await read_text(STDIN, patient=False)
    if piped is None:
        output.remark(
            f"mcode: Standard input is open but said nothing for {PATIENCE:g} s; going on without it. "
            "`</dev/null` spares the wait."
        )
    yield "\n\n".join(part for part in (options.prompt, piped) if part)


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
