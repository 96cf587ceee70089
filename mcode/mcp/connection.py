"""The life cycle of one server's connection: connect, list, call, lose, restart."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mcode.mcp import library
from mcode.mcp.collector import resting_collector
from mcode.mcp.limits import LIST, CallClock, Limits, within
from mcode.mcp.listing import Offer, list_extras, list_tools
from mcode.mcp.restarts import Restarts
from mcode.mcp.screen import Screen, Traffic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.catalog.servers import ServerState
    from mcode.jsontext import JsonObject
    from mcode.mcp.elicitation import Asker

logger = logging.getLogger(__name__)

REFRESH_APART = 1.0
"""Seconds between two refreshes of a list at least."""

MODERN = "2026-07-28"
"""From this protocol on, changes are told only to who listens."""

LOSS_TIME = 0.5
"""Seconds that a failed call waits to be told why the connection is gone."""

SOON = 3.0
"""Seconds that a call waits for a restart which is due."""


class UnavailableError(Exception):
    """A server cannot be used now; the message says why, as the rest of a sentence."""


class Dial(Protocol):
    """Makes the transport of one attempt: an async context manager that gives the library's pair of streams."""

    def __call__(self, screen: Screen, on_end: Callable[[], None]) -> Any: ...


@dataclass(frozen=True, slots=True)
class ActiveCall:
    """A call that runs on the connection: who can be asked, and the time that stands still meanwhile."""

    clock: CallClock
    asker: Asker


@dataclass(slots=True)
class Connection:
    """One server. Everything happens on the loop's thread; the library's client lives in one task."""

    name: str
    dial: Dial
    limits: Limits
    on_state: Callable[[], None]
    """Told after each change of `state`."""
    on_offer: Callable[[Offer], Awaitable[None]]
    """Given what the server offers, after connecting and after each refresh, before calls may run."""
    roots: Callable[[], list[tuple[str, str]]] | None = None
    """URI and name of each directory the server is told of; None where it is told of none."""
    describe_fault: Callable[[], str] = lambda: ""
    """What the transport knows of why a connection ended."""
    on_log: Callable[[str], None] = lambda _: None
    state: ServerState = "off"
    error: str = ""
    protocol: str = ""
    traffic: Traffic = field(default_factory=Traffic)
    restarts: Restarts = field(default_factory=Restarts)
    restart_at: float | None = None
    """When it will be started again, by the monotonic clock."""
    _client: Any = None
    _task: asyncio.Task[None] | None = None
    _timer: asyncio.TimerHandle | None = None
    _orders: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])
    _changed: set[str] = field(default_factory=set[str])
    """Lists that have changed and were not asked for since."""
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it is neither connecting nor about to."""
    _extras: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once prompts and resources were asked for, or can no longer be."""
    _active: list[ActiveCall] = field(default_factory=list[ActiveCall])
    _closing: bool = False

    def start(self) -> None:
        """Begin to connect, unless that is under way or done."""
        if self._closing or (self._task is not None and not self._task.done()):
            return
        self._cancel_timer()
        self._settled.clear()
        self._extras.clear()
        self._become("connecting")
        self._orders = asyncio.Queue()
        self._task = asyncio.create_task(self._live(), name=f"mcp {self.name}")

    async def settled(self) -> None:
        """Wait until it is connected or has failed; returns at once where nothing is under way."""
        if self._task is not None and not self._task.done():
            await self._settled.wait()

    async def stop(self) -> None:
        """End the connection and its process."""
        self._cancel_timer()
        task = self._task
        if task is not None and not task.done():
            self._orders.put_nowait("stop")
            if self.state == "connecting":
                task.cancel()
            await asyncio.wait({task})
        self._become("off")

    async def close(self) -> None:
        """End it for good."""
        self._closing = True
        await self.stop()

    async def ready(self) -> Any:
        """The library's client, connecting where need be; raises UnavailableError."""
        for _ in range(2):
            await self.settled()
            if self._client is not None:
                return self._client
            if self.is_down:
                break
            if self.restart_at is not None:
                await asyncio.sleep(max(self.restart_at - time.monotonic(), 0) + 0.05)
            self.start()
        await self.settled()
        if self._client is None:
            raise UnavailableError(self.why_failed)
        return self._client

    async def ask_for_extras(self) -> None:
        """Connect where need be, and wait until its prompts and resources were asked for; raises UnavailableError."""
        await self.ready()
        await self._extras.wait()

    async def call(self, tool: str, arguments: JsonObject, asker: Asker) -> JsonObject:
        """Call a tool by the server's own name of it and return the result as the protocol has it.

        Raises TimeoutError, or UnavailableError where the server refuses or is lost; cancelling tells the server.
        """
        clock = CallClock(self.limits)
        active = ActiveCall(clock, asker)

        async def progressed(done: float, total: float | None, message: str | None) -> None:
            clock.heard()
            asker.progress(done, total, message)

        async def work(client: Any) -> Any:
            # The time is kept by `within`: the library's own limit begins only when the request is written.
            return await client.call_tool(tool, arguments, progress_callback=progressed)

        self._active.append(active)
        try:
            result = await self._request(work, clock)
        finally:
            self._active.remove(active)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def request(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """Have the library's client do something, such as read a resource; raises as `call` does."""
        return await self._request(work, CallClock(self.limits))

    async def _request(self, work: Callable[[Any], Awaitable[Any]], clock: CallClock) -> Any:
        client = await self.ready()

        async def run() -> Any:
            return await work(client)

        try:
            return await within(clock, run())
        except TimeoutError:
            raise
        except library.failures() as error:
            if library.is_closed(error):
                await self._lose(client)
                raise UnavailableError(
                    f"the connection was lost: {self.describe_fault() or 'it closed it'}"
                ) from None
            raise UnavailableError(library.explain(error)) from None

    async def _lose(self, client: Any) -> None:
        """A call has found the connection gone: no other one uses it, and its task soon sees why."""
        if self._client is client:
            self._client = None
            self._settled.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOSS_TIME):
                await self.settled()

    async def _live(self) -> None:
        """From connecting to the end, in one task, which enters the library's client and leaves it again."""
        why = "it was ended by a fault of mcode's own"
        lasting = False
        try:
            await library.loaded()
            await self._connect_and_serve()
            why = ""
        except asyncio.CancelledError:
            why = ""
        except library.failures() as error:
            why = self.describe_fault() or library.explain(error)
            lasting = isinstance(library.innermost(error), (FileNotFoundError, PermissionError))
            logger.info("server %s failed", self.name, exc_info=error)
        finally:
            self._client = None
            self._fail(why, for_good=lasting) if why and not self._closing else self._become("off")
            self._settled.set()
            self._extras.set()

    async def _connect_and_serve(self) -> None:
        orders, self._changed = self._orders, set()
        screen = Screen(
            serves=frozenset({"elicitation/create", *(["roots/list"] if self.roots else [])}),
            on_change=self._order_refresh,
            on_log=self.on_log,
        )
        self.traffic = screen.traffic
        transport = self.dial(screen, lambda: orders.put_nowait("end"))
        async with contextlib.AsyncExitStack() as stack:
            client = self._make_client(transport)
            async with asyncio.timeout(self.limits.start):
                await stack.enter_async_context(client)
            self.protocol = str(client.protocol_version)
            screen.modern = self.protocol >= MODERN
            async with asyncio.timeout(LIST):
                await self._take_tools(client, screen)
            self._client = client
            self.error = ""
            self._become("connected")
            self._settled.set()
            began = time.monotonic()
            try:
                await self._serve(client, screen)
            finally:
                self.restarts.lasted(time.monotonic() - began)
            self._client = None

    def _order_refresh(self, kind: str) -> None:
        """The server says that a list has changed; how often it says so makes no difference."""
        if kind not in self._changed:
            self._changed.add(kind)
            self._orders.put_nowait(kind)

    async def _take_tools(self, client: Any, screen: Screen) -> None:
        with resting_collector(lambda: len(screen.listed)):
            await self.on_offer(await list_tools(client, screen))

    async def _serve(self, client: Any, screen: Screen) -> None:
        """Carry out orders until the one that ends it; refresh lists, each kind at most once a second."""
        listening = asyncio.create_task(_listen(client)) if self.protocol >= MODERN else None
        kinds = {"extras"}
        try:
            while True:
                orders = {await self._orders.get()} if not kinds else set[str]()
                await asyncio.sleep(REFRESH_APART if orders - {"end", "stop"} else 0)
                while not self._orders.empty():
                    orders.add(self._orders.get_nowait())
                self._changed -= orders
                if "stop" in orders:
                    return
                if "end" in orders:
                    raise EOFError(self.describe_fault() or "it closed the connection")
                await self._refresh(client, screen, orders | kinds)
                self._extras.set()
                kinds = set[str]()
        finally:
            if listening is not None:
                listening.cancel()
                await asyncio.wait({listening}, timeout=1)

    async def _refresh(self, client: Any, screen: Screen, kinds: set[str]) -> None:
        """Ask for lists anew; one that cannot be had stays as it was."""
        work: list[Callable[[], Awaitable[None]]] = []
        if "tools" in kinds:
            work.append(lambda: self._take_tools(client, screen))
        if kinds - {"tools"}:
            work.append(lambda: self._take_extras(client))
        for each in work:
            try:
                async with asyncio.timeout(LIST):
                    await each()
            except library.failures() as error:
                self.on_log(f"a list could not be had: {library.explain(error)}")

    async def _take_extras(self, client: Any) -> None:
        await self.on_offer(await list_extras(client))

    def _make_client(self, transport: Any) -> Any:
        from mcp import Client
        from mcp_types import ElicitResult, ErrorData, Implementation, ListRootsResult, Root

        from mcode import __version__

        async def elicit(context: Any, params: Any) -> ElicitResult | ErrorData:
            del context
            if not self._active:
                return ElicitResult(action="cancel")
            with contextlib.ExitStack() as stack:
                for active in self._active:  # the protocol does not say which of them it is that asks
                    stack.enter_context(active.clock.standing_still())
                asked: JsonObject = params.model_dump(by_alias=True, mode="json", exclude_none=True)
                answer = await self._active[-1].asker.elicit(asked)
            return ElicitResult.model_validate(answer)

        async def list_roots(context: Any) -> ListRootsResult | ErrorData:
            del context
            given = self.roots() if self.roots else []
            return ListRootsResult(
                roots=[Root.model_validate({"uri": uri, "name": name}) for uri, name in given]
            )

        return Client(
            transport,
            client_info=Implementation(name="mcode", version=__version__),
            elicitation_callback=elicit,
            list_roots_callback=list_roots if self.roots else None,
            cache=None,
        )

    def _fail(self, why: str, *, for_good: bool) -> None:
        self.error = why
        now = time.monotonic()
        delay = None if for_good else self.restarts.delay(now)
        if delay is not None:
            self.restart_at = now + delay
            self._timer = asyncio.get_running_loop().call_later(delay, self._restart)
        self._become("failed")

    def _restart(self) -> None:
        self.restarts.count(time.monotonic())
        self.start()

    def _cancel_timer(self) -> None:
        self.restart_at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def closed(self) -> bool:
        """Ended for good."""
        return self._closing

    @property
    def is_down(self) -> bool:
        """Failed, and no restart is due so soon that a call would wait for it."""
        due = self.restart_at
        return self.state == "failed" and (due is None or due - time.monotonic() > SOON)

    @property
    def why_failed(self) -> str:
        """Why it cannot be used, and when it is started again."""
        if self.restart_at is None:
            return self.error or "it is off"
        return f"{self.error}; it is started again in {max(self.restart_at - time.monotonic(), 0):.0f} s"

    def _become(self, state: ServerState) -> None:
        if self.state != state:
            self.state = state
            self.on_state()


async def _listen(client: Any) -> None:
    """Ask to be told of changes; what is told is seen by the screen."""
    with contextlib.suppress(*library.failures()):
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as changes:
            async for _ in changes:
                pass
