"""Move the outputs in benchmarks/predictions into the archive that is committed, over those it has.

    python benchmarks/archive_predictions.py

``riseq predict`` writes a file a set; all of them together, packed as one, take a tenth of their space.
"""

from __future__ import annotations

from results import ROOT
from riseq.systems.saved import Store


def main() -> None:
    archive = Store(ROOT / "benchmarks" / "predictions").archive()
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
