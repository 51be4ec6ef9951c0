"""``python -m riseq``: the command line, where the script ``riseq`` is not on the path."""

import sys

from riseq.cli import main

if __name__ == "__main__":
    sys.exit(main())
