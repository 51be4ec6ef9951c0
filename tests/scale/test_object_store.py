"""A run from and to an object store: a server on this machine that speaks S3."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, simplify_file, simplify_folder
from riseq.scale import Spread
from riseq.scale.run import MANIFEST
from riseq.scale.storage import find_folder, find_sources
from riseq.systems.registry import SystemChoice
from riseq.types import InputError
from tiny_model import make_examples

pytestmark = pytest.mark.xdist_group("ray")  # one cluster, in one of the processes that test

pa = pytest.importorskip("pyarrow")
fs = pytest.importorskip("pyarrow.fs")
pq = pytest.importorskip("pyarrow.parquet")
moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install '.[dev]'")
ROWS = 30


@pytest.fixture(scope="module")
def url_options() -> Iterator[str]:
    """The options of the store's URLs; it has an empty bucket ``store``."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    found = f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
    system, _ = fs.FileSystem.from_uri(f"s3://me:secret@store{found}&allow_bucket_creation=true")
    system.create_dir("store")
    yield found
    server.stop()


def test_a_run_from_and_to_a_bucket_is_that_of_a_disk(
    cluster: str, url_options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in make_examples(ROWS)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    system, _ = fs.FileSystem.from_uri(f"s3://me:secret@store{url_options}")
    for name in ("part-1.jsonl", "part-2.jsonl"):
        with system.open_output_stream(f"store/in/{name}") as file:
            file.write(content)
    spread = Spread(address=cluster, workers=2, block_rows=20)
    source, out = f"s3://me:secret@store/in/part-?.jsonl{url_options}", f"s3://me:secret@store/out{url_options}"
    assert simplify_folder(source, out, SystemChoice("origin"), Handling(), spread) == 0
    folder = find_folder(out)
    written = {name: folder.read(name) for name in folder.list() if name != MANIFEST}
    assert len(written) == 4
    (tmp_path / "in.jsonl").write_bytes(content)
    simplify_file(str(tmp_path / "in.jsonl"), tmp_path / "alone.parquet", SystemChoice("origin"), Handling())
    alone = pq.read_table(tmp_path / "alone.parquet")
    assert pa.concat_tables(pq.read_table(io.BytesIO(written[name])) for name in sorted(written)).equals(
        pa.concat_tables([alone, alone])
    )
    # What is missing, and that alone, is done again.
    gone = min(written)
    system.delete_file(f"store/out/{gone}")
    capsys.readouterr()
    assert simplify_folder(source, out, SystemChoice("origin"), Handling(), spread, resume=True) == 0
    told = capsys.readouterr().err
    assert "continuing after 40 finished rows" in told
    assert "secret" not in told
    assert b"secret" not in folder.read(MANIFEST)
    assert folder.read(gone) == written[gone]


def test_a_bucket_that_is_not_there_is_told(url_options: str) -> None:
    with pytest.raises(InputError, match=r"s3://nothing/x\.jsonl: no such file or folder"):
        find_sources(f"s3://me:secret@nothing/x.jsonl{url_options}")
