"""The script ``riseq`` and ``python -m riseq``: Ctrl-C is one line from the first import on."""

import sys


def run() -> int:
    """Run the command line and return its exit code."""
    try:
        from riseq.cli import main

        return main()
    except KeyboardInterrupt:
        print("riseq: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
