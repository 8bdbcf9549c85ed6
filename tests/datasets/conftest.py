"""Small fake data folders and a web server on this machine that can misbehave in the ways real ones do."""

from __future__ import annotations

import bz2
import gzip
import http.server
import lzma
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

WRITERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@pytest.fixture
def fake_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a file of a LESSONS_DATA folder (compressed by its ending) and points the variable there."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("LESSONS_DATA", str(folder))

    def write(path: str, text: str) -> Path:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with WRITERS.get(file.suffix, open)(file, "wb") as stream:
            stream.write(text.encode())
        return file

    return write


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """No LESSONS_DATA and no mirror."""
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    monkeypatch.delenv("LESSONS_MIRROR", raising=False)


class Site:
    """What the server holds (``files``), how it misbehaves, and the requests it saw as (path, Range header)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.cut_at: list[int] = []                          # each request is cut after so many bytes, until the list is used up
        self.status: list[int] = []                          # statuses to answer with before anything else
        self.redirect: str | None = None
        self.headers: dict[str, str] = {}                    # more of them, or others, in each answer
        self.etag: str | None = None                         # the version of all files; If-Range compares it
        self.heads = 0
        self.requests: list[tuple[str, str | None]] = []
        self.url = ""


def _handler(site: Site) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            site.requests.append((self.path, wanted))
            if site.status:
                return self.send_error(site.status.pop(0))
            if site.redirect:
                self.send_response(302)
                self.send_header("Location", site.redirect)
                return self.end_headers()
            if self.path not in site.files:
                return self.send_error(404)
            body = site.files[self.path]
            same = self.headers.get("If-Range") in (None, site.etag)
            start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted and site.ranges and same else 0
            if start >= len(body) > 0:
                return self.send_error(416)
            self.send_response(206 if start else 200)
            part = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
            length = {"Content-Length": str(len(body) - start)}
            for name, value in (part | length | site.headers).items():
                self.send_header(name, value)
            if site.etag:
                self.send_header("ETag", site.etag)
            self.end_headers()
            rest = body[start:]
            self.wfile.write(rest[: site.cut_at.pop(0)] if site.cut_at else rest)

        def do_HEAD(self) -> None:                           # as the Hugging Face hub answers, before it sends a file
            site.heads += 1
            if self.path not in site.files:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                return self.end_headers()
            self.send_response(200)
            self.send_header("ETag", '"0123456789abcdef"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("Content-Length", str(len(site.files[self.path])))
            self.end_headers()

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    """A server on 127.0.0.1."""
    state = Site()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
