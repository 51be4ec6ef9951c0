"""What a careless or hostile client sends over a real socket gets its 4xx, and the server goes on."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from server.serving import ALIEN, run_server

LIMIT = 20_000
PATIENCE = 1.0
GOOD = json.dumps(ALIEN).encode()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with run_server(max_body_bytes=LIMIT, body_timeout_s=PATIENCE) as address:
        yield address


@pytest.fixture(autouse=True)
def _still_there(address: str) -> Iterator[None]:
    yield
    with connect(address) as connection:
        connection.sendall(b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert parse(read_all(connection)) == (200, "")
    assert post(address, GOOD) == (200, "")


def connect(address: str) -> socket.socket:
    split = urlsplit(address)
    assert split.hostname is not None
    assert split.port is not None
    return socket.create_connection((split.hostname, split.port), timeout=10)


def read_all(connection: socket.socket) -> bytes:
    chunks = []
    try:
        while chunk := connection.recv(65_536):
            chunks.append(chunk)
    except ConnectionResetError:  # It hangs up on what it has not read.
        pass
    return b"".join(chunks)


def post(address: str, body: bytes, kind: str = "application/json", extra: str = "") -> tuple[int, str]:
    """Send bytes as they are; return the status and the error's code."""
    head = f"POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    with connect(address) as connection:
        connection.sendall(f"{head}{extra}Connection: close\r\n\r\n".encode() + body)
        return parse(read_all(connection))


def parse(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    told = json.loads(body) if body.startswith(b"{") else {}
    return int(head.split(b" ", 2)[1]), told.get("error", {}).get("code", "")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", (422, "invalid")),
        (b"{", (400, "not_json")),
        (GOOD[:-1], (400, "not_json")),
        (GOOD + b"}", (400, "not_json")),
        (b'{"question": "Q?",}', (400, "not_json")),
        (b"{'question': 'Q?'}", (400, "not_json")),
        (b"\x00" * 10, (400, "not_json")),
        (b"[" * LIMIT, (400, "not_json")),
        (b'{"a":' * (LIMIT // 5), (400, "not_json")),
        (b'{"question": "Q?", "strength": NaN}', (422, "invalid")),
        (b'{"question": "Q?", "strength": 1e999}', (422, "invalid")),
        (b'{"question": "Q?", "n_best": ' + b"9" * 5_000 + b"}", (400, "not_json")),
        (b'{"question": "Q?", "question": 3}', (422, "invalid")),
        (b'{"question": "caf\xe9"}', (400, "not_json")),
        (b'{"question": "\xf0\x9f\x98"}', (400, "not_json")),
        (b'{"question": "\xed\xa0\x80"}', (422, "invalid")),
        (b'{"question": "a\nb"}', (400, "not_json")),
        (b"\xef\xbb\xbf" + GOOD, (200, "")),  # a byte order mark is harmless
        (b"question=Q", (400, "not_json")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_malformed_body_is_told_so(address: str, body: bytes, expected: tuple[int, str]) -> None:
    assert post(address, body) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_json_in_another_unicode_encoding_is_read(address: str, encoding: str) -> None:
    assert post(address, json.dumps(ALIEN).encode(encoding)) == (200, "")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""])
def test_a_body_of_another_type_is_a_415(address: str, kind: str) -> None:
    assert post(address, GOOD, kind) == (415, "not_json_type")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/ld+json"])
def test_types_that_are_json_are_taken(address: str, kind: str) -> None:
    assert post(address, GOOD, kind) == (200, "")


def test_a_body_at_the_limit_is_read_and_one_byte_more_is_not(address: str) -> None:
    assert post(address, GOOD.ljust(LIMIT)) == (200, "")
    assert post(address, GOOD.ljust(LIMIT + 1)) == (413, "too_large")


def test_a_huge_body_is_refused_by_its_head_before_it_is_sent(address: str) -> None:
    with connect(address) as connection:
        head = "POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
        connection.sendall(head.format(10**12).encode())
        assert parse(read_all(connection)) == (413, "too_large")


def test_a_huge_body_without_a_length_is_cut_off(address: str) -> None:
    with connect(address) as connection:
        connection.sendall(
            b"POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        try:
            while sent < 100 * LIMIT:
                connection.sendall(b"1000\r\n" + b" " * 0x1000 + b"\r\n")
                sent += 0x1000
                time.sleep(0.001)
        except OSError:
            pass
        assert sent < 100 * LIMIT
        answer = read_all(connection)
        assert not answer or parse(answer) == (413, "too_large")


def test_a_slow_client_is_told_so_and_holds_nobody_up(address: str) -> None:
    with connect(address) as slow:
        slow.sendall(
            b"POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        started = time.perf_counter()
        assert post(address, GOOD) == (200, "")
        assert time.perf_counter() - started < PATIENCE
        assert parse(read_all(slow)) == (408, "slow_body")


def test_a_client_that_drips_bytes_is_not_waited_for(address: str) -> None:
    with connect(address) as slow:
        slow.sendall(
            b"POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        started = time.perf_counter()
        try:
            while time.perf_counter() - started < 15:
                slow.sendall(b" ")
                time.sleep(0.05)
        except OSError:
            pass
        assert PATIENCE * 0.8 < time.perf_counter() - started < 10


def test_a_client_that_goes_away_halfway_leaves_nothing_behind(address: str) -> None:
    for cut in range(0, 200, 20):
        head = "POST /v1/simplify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
        with connect(address) as connection:
            connection.sendall((head.format(len(GOOD)).encode() + GOOD)[: cut + 1])


def test_random_bytes_and_random_damage_never_get_a_5xx(address: str) -> None:
    rng = random.Random(5)
    for _ in range(150):
        body = bytearray(GOOD)
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(body))
            if rng.random() < 0.5:
                body[place] = rng.randrange(256)
            else:
                body[place:place] = rng.choice([b'"', b"{", b"[", b",", b"\\u", b"null", b"\xff", b"1e9", b"\\"])
        status, _ = post(address, bytes(body))
        assert status in (200, 400, 422), bytes(body)


@pytest.mark.parametrize(
    "line", [b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n"]
)
def test_what_is_not_http_gets_no_server_error(address: str, line: bytes) -> None:
    with connect(address) as connection:
        connection.settimeout(1)
        connection.sendall(line)
        try:
            answer = read_all(connection)
        except TimeoutError:
            answer = b""
        assert not answer or answer.startswith(b"HTTP/1.1 4")
