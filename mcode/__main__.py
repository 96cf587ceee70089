"""Start mcode. Whatever can be answered at once is answered before anything else is imported."""

import sys

from mcode.streams import finish_streams, open_streams


def main() -> int:
    """Run the command line; returns the exit code."""
    open_streams()
    code = finish_streams(_answer(sys.argv[1:]))
    _leave_if_a_thread_is_busy(code)
    return code


def _answer(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from mcode import __version__

        sys.stdout.write(f"mcode {__version__}\n")
        return 0
    from mcode.cli import run

    return run(arguments)


def _leave_if_a_thread_is_busy(code: int) -> None:
    """Leave at once where a thread is still loading a library: it must neither be waited for, nor run on in a dying
    interpreter. Work that has to be done before the end has been waited for: the loop is closed."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        import os

        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
