"""Move the outputs in benchmarks/predictions into the archive that is committed, over those it has.

    python benchmarks/archive_predictions.py [SYSTEM]

``riseq predict`` writes a file a set; all of them together, packed as one, take a tenth of their space. Those of one
SYSTEM go into an archive of its own: of what changes with the code, the others' bytes then stay as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from results import ROOT
from riseq.systems.saved import Store


def main(arguments: Sequence[str]) -> None:
    archive = Store(ROOT / "benchmarks" / "predictions").archive(*arguments)
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:2])
