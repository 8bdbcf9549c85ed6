"""Fetches one file: resumed where it was cut, and under its name only when it is whole.

`fetch` brings a file of ours, whose sha256 is known. `fetch_published` brings a file of a
publisher, of which size and time are limited and whose rows are checked afterwards (`conversion`);
addresses that begin with hf:// are left to ``huggingface_hub``, with its cache and its offline
switch. A transfer goes into ``.part-…`` beside the target and stays there when it is cut, so that
the next call goes on from it. Only HTTPS is used (plain HTTP to this machine is allowed, for
tests), redirects included; three tries without a new byte, or 30 seconds, end it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import os
import queue
import re
import shutil
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core import DownloadFailed, atomic_open, locks, sha256, shown
from ..core.first_bytes import looks_like
from .registry import RegisteredFile

__all__ = ["checked_source", "copy", "fetch", "fetch_published", "locked"]

TRIES = 3
PATIENCE_SECONDS = 30.0  # without a new byte
SOCKET_SECONDS = 6.0  # one try: at most twice this to connect, and once more for silence
BLOCK = 1 << 18
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
HUB_FILE = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)@([\w.-]+)/([\w./-]+)")
PACKED = (".gz", ".tgz", ".bz2", ".xz")
FINAL = {400, 401, 403, 404, 405, 410, 451}  # asking again will not help


class _Refused(Exception):
    """This source cannot deliver the file; another one may."""


class _Interrupted(Exception):
    """The network failed, in words and with a status of HTTP or None; another try may help."""


def checked_source(url: str) -> str:
    """Return an address that may be used. Raises ValueError for anything but HTTPS (or HTTP to
    this machine)."""
    if HUB_FILE.fullmatch(url):
        return url
    with contextlib.suppress(ValueError):  # an address that cannot be taken apart
        parts = urllib.parse.urlsplit(url)
        here = parts.scheme == "http" and parts.hostname in LOOPBACK
        if here or (parts.scheme == "https" and parts.hostname):
            return url
    allowed = "an https:// address or a folder on this machine"
    raise ValueError(f"source={shown(url)} is not allowed; expected {allowed}")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, *answer: Any) -> Any:
        url = answer[-1]  # code, reason and headers come before it
        try:
            checked_source(url)
            if req.type == "https" and not url.startswith("https:"):
                raise ValueError("a server elsewhere has no business with this machine")
        except ValueError:
            raise _Refused(f"it redirects to {shown(url)}, which is not HTTPS") from None
        return super().redirect_request(req, fp, *answer)


@contextlib.contextmanager
def _network() -> Iterator[None]:
    """Tells the network's errors from the disk's: they become `_Refused` or `_Interrupted`."""
    try:
        yield
    except ValueError as error:
        raise _Refused(f"its redirect cannot be read: {error}") from None
    except urllib.error.HTTPError as error:
        cause = f"HTTP {error.code} {error.reason}"
        if error.code in FINAL or 300 <= error.code < 400:  # a redirect that was not followed
            raise _Refused(cause) from None
        raise _Interrupted(cause, error.code) from None
    except (OSError, http.client.HTTPException) as error:  # URLError, timeouts, resets, TLS
        reason = getattr(error, "reason", error)
        named = f"{type(reason).__name__}: {reason}"
        raise _Interrupted(reason if isinstance(reason, str) else named, None) from None


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Says of the disk's errors which folder they are about, how full it is, and what moves it."""
    try:
        yield
    except DownloadFailed:
        raise
    except OSError as error:
        near = next(parent for parent in (folder, *folder.parents) if parent.exists())
        raise OSError(
            error.errno,
            f"cannot write to {folder}: {error.strerror}; {shutil.disk_usage(near).free:,} bytes "
            "are free there. LESSONS_CACHE moves the folder",
        ) from error


def _check_room(folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise OSError(errno.ENOSPC, f"{needed:,} bytes are needed")


@contextlib.contextmanager
def locked(target: Path, *, seconds: float = locks.LOCK_SECONDS) -> Iterator[None]:
    """Hold the right to write a file; see `core.locks.locked`."""
    with contextlib.ExitStack() as held:
        with _writing(target.parent):
            held.enter_context(locks.locked(target, seconds=seconds))
        yield


def _sent(path: Path, what: str = "") -> str:
    """How many bytes came, ``what`` else is known of them, and what they seem to be."""
    with open(path, "rb") as stream:
        page = looks_like(stream.read(512))
    return f"{path.stat().st_size:,} bytes{what}{', ' if page else ''}{page}"


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of ``work``, or TimeoutError after so many ``seconds``; its own errors pass. For
    what knows no time limit of ours, such as the system's search for a host's address."""
    answers: queue.SimpleQueue = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:.0f} s") from None
    if error is not None:
        raise error
    return value


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _transfer(url: str, part: Path, most: int, on_bytes: Callable[[int], None], *,
              state: Path | None = None) -> None:
    """One request: append to ``part`` what is still missing, or write it anew where the server
    gives no ranges. Without ``state``, ``most`` is the size of the file. That file keeps what the
    server calls this version: only the same version is gone on with."""
    have, headers = _size(part), {"Accept-Encoding": "identity"}
    if state is not None:
        version = state.read_text(encoding="utf-8") if state.exists() else ""
        have = have if version else 0
        headers |= {"If-Range": version} if have else {}
    headers |= {"Range": f"bytes={have}-"} if have else {}
    opener = urllib.request.build_opener(_SafeRedirects)
    request = urllib.request.Request(url, headers=headers)
    with _network():
        answer = within(2 * SOCKET_SECONDS, lambda: opener.open(request, timeout=SOCKET_SECONDS))
    with answer:
        begins = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        resumes = answer.status == 206 and begins and have > 0
        if answer.status == 206 and not resumes:
            raise _Refused("it sent another part of the file than it was asked for")
        packed = answer.headers.get("Content-Encoding", "identity")
        path = urllib.parse.urlsplit(url).path  # of x.gz, it is said of the file itself
        if packed != "identity" and not path.endswith(PACKED):
            raise _Refused(f"it sent the file packed ({shown(packed)}), though it was asked not to")
        written = have if resumes else 0
        promised = None if answer.length is None else written + answer.length
        if state is not None:
            if promised is not None and promised > most:
                sizes = f"{promised - written:,} bytes; at most {most - written:,} are taken"
                raise _Refused(f"it would send {sizes} from there")
            version = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
            state.write_text("" if version.startswith("W/") else version, encoding="utf-8")
        with open(part, "ab" if resumes else "wb") as stream:
            try:
                while written <= most:  # one byte too many is enough to know
                    with _network():
                        block = answer.read1(min(BLOCK, most + 1 - written))
                    if not block:
                        break
                    stream.write(block)
                    written += len(block)
                    on_bytes(written)
            finally:
                stream.flush()
                os.fsync(stream.fileno())
    if written < most and promised not in (None, written):
        missing = f"{written:,} of {promised:,} bytes"
        raise _Interrupted(f"ConnectionError: cut after {missing}", None)


def _try_source(part: Path, complete: Callable[[], None]) -> str:
    """Up to three tries of ``complete`` without progress; "" when the part is whole, else why this
    source failed."""
    tries, best, since = 0, 0, time.monotonic()
    while True:
        try:
            complete()
            return ""
        except _Refused as error:
            return str(error)
        except _Interrupted as error:
            cause, status = error.args
        if status == 416:  # the part is longer than what the server has
            part.unlink(missing_ok=True)
        if _size(part) > best:
            tries, best, since = 0, _size(part), time.monotonic()
        tries += 1
        pause = 0.5 * tries
        left = PATIENCE_SECONDS - 3 * SOCKET_SECONDS - (time.monotonic() - since)
        if tries >= TRIES or pause > left:
            return f"{cause} ({tries} {'try' if tries == 1 else 'tries'} without a new byte)"
        time.sleep(pause)


def fetch(file: RegisteredFile, target: Path, sources: Sequence[str], *,
          on_bytes: Callable[[int], None] | None = None) -> Path:
    """Fetch a registered file, with size and checksum, from the first of the ``sources`` (HTTPS
    addresses of exactly this file) that delivers it; ``on_bytes`` is told the bytes so far. Two
    processes that want the same file take turns, and the second finds it done. Returns ``target``.
    Raises ValueError (no checksum, an address that is not HTTPS), DownloadFailed (host and cause
    per source; what came is kept for the next call when it was cut, and removed when it was wrong),
    OSError (no room)."""
    if not file.sha256:
        way = "put it into the folder LESSONS_DATA names"
        raise ValueError(
            f"file={file.path!r} has no checksum in the manifest, so it cannot be fetched; {way}")
    addresses = [checked_source(url) for url in sources]
    part = target.parent / f".part-{target.name}-{file.sha256[:12]}"

    def complete(url: str) -> None:
        resumed = _size(part) > 0
        if not part.exists() or _size(part) != file.bytes:
            _transfer(url, part, file.bytes, on_bytes or (lambda n: None))
        if (digest := sha256(part)) != file.sha256:
            sent = _sent(part, f" with checksum {digest[:12]}…")
            part.unlink()
            if resumed:  # the file changed since the first half came, or that half was wrong
                return complete(url)
            known = f"{file.bytes:,} bytes with checksum {file.sha256[:12]}…"
            raise _Refused(f"it sent {sent}; expected {known}")

    causes = []
    with locked(target), _writing(target.parent):
        if target.is_file() and sha256(target) == file.sha256:
            return target
        _check_room(target.parent, file.bytes - _size(part))
        for url in addresses:
            if not (cause := _try_source(part, lambda url=url: complete(url))):
                os.replace(part, target)
                return target
            causes.append(f"{urllib.parse.urlsplit(url).hostname}: {cause}")
    raise DownloadFailed(
        f"{file.path} could not be fetched from {'; '.join(causes)}.\nOther ways: lessons data get "
        "--from URL_OR_FOLDER, or set LESSONS_DATA to a folder that holds it")


def fetch_published(url: str, target: Path, *, limit: int, seconds: float,
                    parts: Path | None = None,
                    on_bytes: Callable[[int], None] | None = None) -> Path:
    """Fetch a publisher's file, whose size and checksum nobody has promised. ``url`` is an HTTPS
    address, or a file of the Hugging Face hub, which lies in the hub's own cache then:
    hf://datasets/OWNER/NAME@REVISION/PATH. At most ``limit`` bytes and ``seconds`` are taken.
    ``parts`` is the folder for what was cut, from which the next call goes on (None: the target's).
    Returns where the file is. Raises ValueError (an address that is not HTTPS), DownloadFailed
    (host and cause; what was cut is kept), OSError (no room, or no right to write)."""
    checked_source(url)
    if hub := HUB_FILE.fullmatch(url):
        return _from_hub(*hub.groups(), limit)
    end = time.monotonic() + seconds
    place = (parts or target.parent) / target.name
    part = place.with_name(f".part-{target.name}")
    state = place.with_name(f".part-{target.name}.version")

    def timed(n: int) -> None:
        if time.monotonic() > end:
            took = f"{n:,} bytes came in {seconds / 60:.3g} minutes"
            given = "which is all the time it is given; the next call goes on from there"
            raise _Refused(f"{took}, {given}")
        if on_bytes is not None:
            on_bytes(n)

    def complete() -> None:
        _transfer(url, part, limit, timed, state=state)
        with open(part, "rb") as stream:
            wrong = not (start := stream.read(512)) or looks_like(start)
        if wrong or _size(part) > limit:
            sent = _sent(part) if wrong else f"more than {limit:,} bytes"
            part.unlink()
            raise _Refused(f"it sent {sent}")

    with locked(place), _writing(place.parent):
        if target.is_file():  # fetched before, for another file of ours
            return target
        if cause := _try_source(part, complete):
            raise DownloadFailed(f"{urllib.parse.urlsplit(url).hostname}: {cause}")
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, target)
        state.unlink(missing_ok=True)
    return target


def _from_hub(name: str, revision: str, path: str, limit: int) -> Path:
    """A file of a dataset of the hub, in the cache of ``huggingface_hub``. Raises DownloadFailed
    with the cause."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import LocalEntryNotFoundError
    where = f"huggingface.co: {name}/{path}"
    what = {"repo_id": name, "filename": path, "repo_type": "dataset", "revision": revision}
    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(**what, local_files_only=True))
    if constants.is_offline_mode():
        raise DownloadFailed(f"{where}: HF_HUB_OFFLINE is set, and its cache has no such file")
    try:
        size = get_hf_file_metadata(hf_hub_url(**what), timeout=SOCKET_SECONDS).size or 0
        if size <= limit:
            return Path(hf_hub_download(**what))
    except Exception as error:  # the library's network errors change class with its versions
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            cache = constants.HF_HUB_CACHE
            text = f"cannot write to {cache}: {error.strerror}. HF_HUB_CACHE moves the folder"
            raise OSError(number, text) from error
        line = (str(error).strip().splitlines() or [""])[0][:120]
        raise DownloadFailed(f"{where}: {type(error).__name__}: {line}") from error
    raise DownloadFailed(f"{where} would send {size:,} bytes; at most {limit:,} are taken")


def copy(file: RegisteredFile, origin: Path, target: Path) -> Path:
    """Copy a registered file from a folder on this machine, atomically, checking its checksum where
    the manifest knows one. Raises DownloadFailed with both checksums when the bytes differ; nothing
    is kept then."""
    with locked(target), open(origin, "rb") as source, atomic_open(target, "wb") as stream:
        _check_room(target.parent, origin.stat().st_size)
        digest = hashlib.sha256()
        while block := source.read(BLOCK):
            digest.update(block)
            stream.write(block)
        here = digest.hexdigest()
        if file.sha256 and here != file.sha256:
            sent = _sent(origin, f" with checksum {here[:12]}…")
            known = f"{file.bytes:,} with {file.sha256[:12]}…"
            raise DownloadFailed(f"{origin} was not copied: {sent}; expected {known}")
    return target
