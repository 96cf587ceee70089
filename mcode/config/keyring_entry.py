"""The key in the system's keyring, where the package `keyring` is installed."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import threading

from mcode.config.no_key import TIME_LIMIT, NoKeyError, fault_of

KEYRING = "the system keyring"
SERVICE, USER = "mcode", "api-key"


async def read_keyring() -> str | None:
    """The entry for mcode; None where there is none or no keyring. Raises NoKeyError where it cannot be read."""
    if importlib.util.find_spec("keyring") is None:
        return None
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def settle(value: str | None, error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(NoKeyError(f"{type(error).__name__}: {error}"[:200]))

    def ask() -> None:
        value: str | None = None
        error: Exception | None = None
        try:
            keyring = importlib.import_module("keyring")  # slow, and not always installed
            value = keyring.get_password(SERVICE, USER)
        except Exception as raised:  # noqa: BLE001 -- its back ends are foreign plug-ins and raise anything
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    # Not a thread of the pool: mcode must be able to end while a keyring waits to be unlocked.
    threading.Thread(target=ask, name="keyring", daemon=True).start()
    try:
        async with asyncio.timeout(TIME_LIMIT):
            value = await answer
    except TimeoutError:
        raise NoKeyError(f"it did not answer within {TIME_LIMIT:g} seconds; is it locked?") from None
    if value is None:
        return None
    value = value.strip()
    fault = fault_of(value)
    if fault:
        raise NoKeyError(f"its entry {fault}")
    return value
