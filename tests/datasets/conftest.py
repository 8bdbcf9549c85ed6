"""Small fake data folders, publishers, archives, and a web server on this machine that can
misbehave in the ways real ones do."""

from __future__ import annotations

import bz2
import gzip
import http.server
import io
import json
import lzma
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lessons_lib.core import cache_folder
from lessons_lib.datasets import download, publishers, registry
from lessons_lib.datasets.canonical import row_sums

WRITERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COLUMNS = ["score", "sentence1", "sentence2"]
ROWS = [{"score": "4.4", "sentence1": "A plane takes off .", "sentence2": "An air plane ascends ."},
        {"score": "0", "sentence1": "Two dogs run .", "sentence2": "Rain falls ."}]
MANIFEST = """format = 1
[datasets.small]
kind = "{kind}"
description = "two pairs"
language = "en"
licence = "research only"
origin = "nobody"
scale = [0, 5]
files = ["{path}"]
{about}
[files."{path}"]
"""


@pytest.fixture
def fake_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a file of a LESSONS_DATA folder, compressed by its ending; the variable names it."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("LESSONS_DATA", str(folder))

    def write(path: str, text: str | bytes) -> Path:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with WRITERS.get(file.suffix, open)(file, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
        return file
    return write


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """No LESSONS_DATA and no mirror."""
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    monkeypatch.delenv("LESSONS_MIRROR", raising=False)


def packed(members: dict[str, bytes] | list, kind: str = "zip", **info: object) -> bytes:
    """An archive: kind "zip" or how tarfile compresses; ``mode`` or ``type`` of its members."""
    stream = io.BytesIO()
    members = members.items() if isinstance(members, dict) else members  # else pairs
    if kind == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                entry = zipfile.ZipInfo(name)
                entry.filename = name  # as it is: ZipInfo would turn backslashes into /
                entry.external_attr = int(info.get("mode", 0o100644)) << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode=f"w:{kind}") as archive:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            entry.size, entry.type = len(data), info.get("type", tarfile.REGTYPE)
            entry.linkname = "/etc/passwd" if "type" in info else ""
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


class Site:
    """What a server holds (``files``), how it misbehaves, and what it was asked: (path, Range)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.cut_at: list[int] = []  # requests are cut after so many bytes, until it is used up
        self.status: list[int] = []  # statuses to answer with before anything else
        self.redirect: str | None = None
        self.headers: dict[str, str] = {}  # more of them, or others, in each answer
        self.etag: str | None = None  # the version of all files; If-Range compares it
        self.heads = 0
        self.requests: list[tuple[str, str | None]] = []
        self.url = ""

    @property
    def ranges_asked(self) -> list[str | None]:
        """The Range header of each request."""
        return [wanted for _, wanted in self.requests]


def _handler(site: Site) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def answer(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            site.requests.append((self.path, wanted))
            if site.status:
                return self.send_error(site.status.pop(0))
            if site.redirect:
                return self.answer(302, {"Location": site.redirect})
            if self.path not in site.files:
                return self.send_error(404)
            body, start = site.files[self.path], 0
            if wanted and site.ranges and self.headers.get("If-Range") in (None, site.etag):
                start = int(wanted.removeprefix("bytes=").split("-")[0])
            if start >= len(body) > 0:
                return self.send_error(416)
            part = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
            version = {"ETag": site.etag} if site.etag else {}
            length = {"Content-Length": str(len(body) - start)}
            self.answer(206 if start else 200, part | length | version | site.headers)
            rest = body[start:]
            self.wfile.write(rest[: site.cut_at.pop(0)] if site.cut_at else rest)

        def do_HEAD(self) -> None:  # as the Hugging Face hub answers, before it sends a file
            site.heads += 1
            if self.path not in site.files:
                return self.answer(404, {"X-Error-Code": "EntryNotFound"})
            length = str(len(site.files[self.path]))
            known = {"ETag": '"0123456789abcdef"', "X-Repo-Commit": "0" * 40}
            self.answer(200, known | {"Content-Length": length})

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    """A server on 127.0.0.1."""
    state = Site()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    serve = {"target": server.serve_forever, "kwargs": {"poll_interval": 0.01}, "daemon": True}
    thread = threading.Thread(**serve)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hub(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The Hugging Face hub, at the site's address, with a cache of its own."""
    from huggingface_hub import constants
    template = site.url + "/{repo_id}/resolve/{revision}/{filename}"
    changed = {"ENDPOINT": site.url, "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": False,
               "HF_HUB_DISABLE_XET": True, "HUGGINGFACE_CO_URL_TEMPLATE": template}
    for name, value in changed.items():
        monkeypatch.setattr(constants, name, value)
    return constants


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture
def publish(site: Site, no_data: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts ways to the file of a dataset ``small`` into the table of publishers; SITE in them is
    the server. It is a table of the rows ``of``, proved by them if nothing else is said."""
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(registry, "MANIFEST", tmp_path / "manifest.toml")
    monkeypatch.setattr(publishers, "TABLE", tmp_path / "publishers.toml")

    def put(*ways: dict, path: str = "sts/small.tsv", kind: str = "sentence pairs",
            about: str = "", of: list[dict] = ROWS, **file: object) -> None:
        file = {"columns": COLUMNS, "extra": ["subset"]} | file
        sums = vars(row_sums(of, file["columns"]))
        known = {key: value for key, value in (sums | file).items() if value is not None}
        text = MANIFEST.format(kind=kind, path=path, about=about)
        text += "\n".join(f"{key} = {_toml(value)}" for key, value in known.items())
        (tmp_path / "manifest.toml").write_text(text, encoding="utf-8")
        text = 'format = 1\nlooked_up = "2026-11-23"\n'
        for number, way in enumerate(ways):
            way = {"file": path, "from": f"publisher {number}", "seen": "mention"} | way
            text += "[[publisher]]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in way.items())
        (tmp_path / "publishers.toml").write_text(text.replace("SITE", site.url), encoding="utf-8")
        registry._manifest.cache_clear()
        publishers._table.cache_clear()

    yield put
    registry._manifest.cache_clear()
    publishers._table.cache_clear()


@pytest.fixture
def left() -> Callable[[], list[str]]:
    """What lies in the cache, locks and the note on licences aside."""
    def names() -> list[str]:
        files = (path for path in cache_folder().rglob("*") if path.is_file())
        paths = (path.relative_to(cache_folder()).as_posix() for path in files)
        return sorted(p for p in paths if ".lock-" not in p and p != "licences_shown.json")
    return names
