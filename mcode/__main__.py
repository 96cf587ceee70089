"""Start mcode. Whatever can be answered at once is answered before anything else is imported."""

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from mcode import __version__

        sys.stdout.write(f"mcode {__version__}\n")
        return 0
    from mcode.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
