"""Fetches one file: resumed where it was cut, and under its name only when it is whole.

`fetch` brings a file of ours, whose sha256 is known. `fetch_published` brings a file of a publisher, of which size and
time are limited and whose rows are checked afterwards (`conversion`); addresses that begin with hf:// are left to
``huggingface_hub``, with its cache and its offline switch. A transfer goes into ``.part-…`` beside the target and stays
there when it is cut, so that the next call goes on from it. Only HTTPS is used (plain HTTP to this machine is allowed,
for tests), redirects included; three tries without a new byte, or 30 seconds, end it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import http.client
import os
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..core import DownloadFailed, atomic_open, sha256, shown
from .patience import within
from .registry import RegisteredFile

if TYPE_CHECKING:
    import filelock

__all__ = ["checked_source", "copy", "fetch", "fetch_published", "locked"]

TRIES = 3
PATIENCE_SECONDS = 30.0                                      # without a new byte
SOCKET_SECONDS = 6.0                                         # one try: at most twice this to connect, and once more for silence
LOCK_SECONDS = 60.0
BLOCK = 1 << 18
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
HUB_FILE = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)@([\w.-]+)/([\w./-]+)")
PACKED = (".gz", ".tgz", ".bz2", ".xz")
FINAL = {400, 401, 403, 404, 405, 410, 451}                  # asking again will not help


class _Refused(Exception):
    """This source cannot deliver the file; another one may."""


def checked_source(url: str) -> str:
    """Return an address that may be used. Raises ValueError for anything but HTTPS (or HTTP to this machine)."""
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urllib.parse.SplitResult("", "", "", "", ""), None
    if HUB_FILE.fullmatch(url):
        return url
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)):
        raise ValueError(f"source={shown(url)} is not allowed; expected an https:// address or a folder on this machine")
    return url


class _DiskTrouble(OSError):
    """Our own files cannot be written: trying the network again will not help."""


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, (_DiskTrouble, DownloadFailed)):
            raise
        near = next(parent for parent in (folder, *folder.parents) if parent.exists())
        raise _DiskTrouble(error.errno, f"cannot write to {folder}: {error.strerror}; {shutil.disk_usage(near).free:,} bytes are free there. "
                           "LESSONS_CACHE moves the folder") from error


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, *answer: Any) -> Any:
        try:
            checked_source(answer[-1])                       # the new address; code, reason and headers come before it
            if req.type == "https" and not answer[-1].startswith("https:"):
                raise ValueError("a server elsewhere has no business with this machine")
        except ValueError:
            raise _Refused(f"it redirects to {shown(answer[-1])}, which is not HTTPS") from None
        return super().redirect_request(req, fp, *answer)


def _acquire(lock: filelock.FileLock, target: Path, holder: Path, seconds: float) -> None:
    import filelock

    try:
        lock.acquire(timeout=seconds)
    except filelock.Timeout:
        who = holder.read_text(encoding="utf-8") if holder.exists() else "another process"
        raise DownloadFailed(f"{target} is being written by {who} for more than {seconds:.0f} s. Wait for it, or end it") from None


@contextlib.contextmanager
def locked(target: Path, *, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the right to write a file; another process waits, at most ``seconds``, and is then told who holds it.

    The system gives the lock of a dead process back. Raises DownloadFailed when waiting did not help.
    """
    import filelock

    holder = target.parent / f".lock-{target.name}.holder"
    lock = filelock.FileLock(target.parent / f".lock-{target.name}")
    try:
        with _writing(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
            _acquire(lock, target, holder, seconds)
            holder.write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        if lock.is_locked:
            holder.unlink(missing_ok=True)
            lock.release()


def _looks_like(path: Path) -> str:
    """What the wrong bytes seem to be, for the message."""
    with open(path, "rb") as stream:
        start = stream.read(512).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return ", an HTML page (of a login or an error?)"
    return ", a Git LFS pointer" if start.startswith(b"version https://git-lfs") else ""


def _wrong_bytes(path: Path, file: RegisteredFile, digest: str) -> _Refused:
    return _Refused(f"it sent {path.stat().st_size:,} bytes with checksum {digest[:12]}…{_looks_like(path)}; expected {file.bytes:,} bytes with "
                    f"checksum {file.sha256[:12]}…")


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _DiskTrouble(errno.ENOSPC, f"cannot write to {folder}: {needed:,} bytes are needed and {free:,} are free. "
                           "LESSONS_CACHE moves the folder")


@contextlib.contextmanager
def _opened(part: Path, mode: str) -> Iterator[IO[bytes]]:
    """The part, flushed and synced at the end; its own trouble is told apart from the network's."""
    with _writing(part.parent):
        stream = open(part, mode)  # noqa: SIM115 - closed below, in its own guard
    try:
        yield stream
    finally:
        with _writing(part.parent):
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()


def _transfer(url: str, part: Path, size: int, on_bytes: Callable[[int], None], *, state: Path | None = None) -> None:
    """One request: append to ``part`` what is still missing, or write it anew where the server gives no ranges.

    With ``state``, ``size`` is the most that may come, and that file keeps what the server calls this version: only the
    same version is gone on with.
    """
    have = part.stat().st_size if part.exists() else 0
    version = state.read_text(encoding="utf-8") if state is not None and state.exists() else ""
    if state is not None and not version:
        have = 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    headers |= {"If-Range": version} if have and version else {}
    opener = urllib.request.build_opener(_SafeRedirects)
    request = urllib.request.Request(url, headers=headers)
    with within(2 * SOCKET_SECONDS, lambda: _open(opener, request)) as answer:
        resumes = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if answer.status == 206 and not (resumes and have):
            raise _Refused("it sent another part of the file than it was asked for")
        packed = answer.headers.get("Content-Encoding", "identity")
        path = urllib.parse.urlsplit(url).path               # of x.gz, it is said of the file itself
        if packed != "identity" and not path.endswith(PACKED):
            raise _Refused(f"it sent the file packed ({shown(packed)}), though it was asked not to")
        written = have if resumes else 0
        promised = answer.length                             # None where the header is missing or no number
        if state is not None:
            _begin(answer, state, size - written)
        with _opened(part, "ab" if resumes else "wb") as stream:
            while written <= size and (block := answer.read1(min(BLOCK, size + 1 - written))):      # one byte too many is enough to know
                with _writing(part.parent):
                    stream.write(block)
                written += len(block)
                on_bytes(written)
    if written < size and promised is not None and promised != written - (have if resumes else 0):
        raise ConnectionError(f"cut after {written:,} of {size:,} bytes")


def _open(opener: urllib.request.OpenerDirector, request: urllib.request.Request) -> Any:
    """The answer to a request.

    Raises as ``urllib`` does, and _Refused for a redirect to what is no address.
    """
    try:
        return opener.open(request, timeout=SOCKET_SECONDS)
    except ValueError as error:
        raise _Refused(f"its redirect cannot be read: {error}") from None


def _begin(answer: Any, state: Path, room: int) -> None:
    """Keep the version of what comes; refuse what is promised to be too large."""
    promised = answer.headers.get("Content-Length")
    if promised is not None and promised.isdigit() and int(promised) > room:
        raise _Refused(f"it would send {int(promised):,} bytes; at most {room:,} are taken from there")
    version = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
    with _writing(state.parent):
        state.write_text("" if version.startswith("W/") else version, encoding="utf-8")


def _complete(url: str, part: Path, file: RegisteredFile, on_bytes: Callable[[int], None]) -> None:
    """Bring ``part`` to the whole file, or raise; a part that cannot become it is removed."""
    resumed = part.exists() and part.stat().st_size > 0
    if not (part.exists() and part.stat().st_size == file.bytes):
        _transfer(url, part, file.bytes, on_bytes)
    digest = sha256(part)
    if digest == file.sha256:
        return
    problem = _wrong_bytes(part, file, digest)
    part.unlink()
    if resumed:                                              # the file changed since the first half came, or the first half was wrong
        return _complete(url, part, file, on_bytes)
    raise problem


def _cause(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    reason = getattr(error, "reason", error)
    return f"{type(reason).__name__}: {reason}" if not isinstance(reason, str) else reason


def _try_source(part: Path, complete: Callable[[], None]) -> str | None:
    """Up to three tries of ``complete`` without progress.

    Returns None when the part is whole, else why this source failed.
    """
    tries, best, since = 0, 0, time.monotonic()
    while True:
        try:
            complete()
            return None
        except _Refused as error:
            return str(error)
        except _DiskTrouble:
            raise
        except (OSError, http.client.HTTPException) as error:          # URLError, timeouts, resets and TLS trouble are all OSErrors
            code = getattr(error, "code", None)
            if code in FINAL or (code is not None and 300 <= code < 400):          # a redirect that was not followed
                return _cause(error)
            if code == 416:                                  # the part is longer than what the server has
                part.unlink(missing_ok=True)
            cause = _cause(error)
        size = part.stat().st_size if part.exists() else 0
        if size > best:
            tries, best, since = 0, size, time.monotonic()
        tries += 1
        pause = 0.5 * tries
        if tries >= TRIES or time.monotonic() + pause - since > PATIENCE_SECONDS - 3 * SOCKET_SECONDS:
            return f"{cause} ({tries} {'try' if tries == 1 else 'tries'} without a new byte)"
        time.sleep(pause)


def fetch(file: RegisteredFile, target: Path, sources: Sequence[str], *, on_bytes: Callable[[int], None] | None = None) -> Path:
    """Fetch a registered file to ``target`` from the first source that delivers it.

    Parameters: file, with size and checksum; target; sources, HTTPS addresses of exactly this file; on_bytes, called with the bytes there
    so far. Two processes that want the same file take turns, and the second finds it done. Returns ``target``.
    Raises ValueError (no checksum, an address that is not HTTPS), DownloadFailed (host and cause per source; what came is kept for the
    next call when it was cut, and removed when it was wrong), OSError (no room).
    """
    if not file.sha256:
        raise ValueError(f"file={file.path!r} has no checksum in the manifest, so it cannot be fetched; put it into the folder LESSONS_DATA names")
    addresses = [checked_source(url) for url in sources]
    with locked(target):
        if target.is_file() and sha256(target) == file.sha256:
            return target
        part = target.parent / f".part-{target.name}-{file.sha256[:12]}"
        _check_room(target.parent, file.bytes - (part.stat().st_size if part.exists() else 0))
        causes = []
        for url in addresses:
            cause = _try_source(part, functools.partial(_complete, url, part, file, on_bytes or (lambda n: None)))
            if cause is None:
                os.replace(part, target)
                return target
            causes.append(f"{urllib.parse.urlsplit(url).hostname}: {cause}")
    raise DownloadFailed(f"{file.path} could not be fetched from {'; '.join(causes)}.\nOther ways: lessons data get --from URL_OR_FOLDER, or "
                         "set LESSONS_DATA to a folder that holds it")


def fetch_published(url: str, target: Path, *, limit: int, seconds: float, parts: Path | None = None,
                    on_bytes: Callable[[int], None] | None = None) -> Path:
    """Fetch a publisher's file, whose size and checksum nobody has promised.

    Parameters
    ----------
    url : an HTTPS address, or a file of the Hugging Face hub: hf://datasets/OWNER/NAME@REVISION/PATH
    target : where it comes to lie; a file of the hub lies in the hub's own cache instead
    limit : the most bytes that are taken
    seconds : the most time that is taken
    parts : the folder for what was cut, from which the next call goes on; None: the target's
    on_bytes : called with the bytes there so far

    Returns
    -------
    Path : where the file is

    Raises
    ------
    ValueError : an address that is not HTTPS
    DownloadFailed : host and cause; what was cut is kept and gone on with at the next call
    OSError : no room, or no right to write
    """
    checked_source(url)
    if hub := HUB_FILE.fullmatch(url):
        return _from_hub(*hub.groups(), limit)
    end = time.monotonic() + seconds
    place = (parts or target.parent) / target.name
    part, state = place.with_name(f".part-{target.name}"), place.with_name(f".part-{target.name}.version")

    def timed(n: int) -> None:
        if time.monotonic() > end:
            raise _Refused(f"{n:,} bytes came in {seconds / 60:.3g} minutes, which is all the time it is given; "
                           "the next call goes on from there")
        if on_bytes is not None:
            on_bytes(n)

    def complete() -> None:
        _transfer(url, part, limit, timed, state=state)
        wrong = _looks_like(part) or ("" if part.stat().st_size else ", nothing at all")
        if part.stat().st_size > limit or wrong:
            size = part.stat().st_size
            part.unlink()
            raise _Refused(f"it sent {size:,} bytes{wrong}" if wrong else f"it sent more than {limit:,} bytes")

    with locked(place):
        if target.is_file():                                 # fetched before, for another file of ours
            return target
        cause = _try_source(part, complete)
        if cause is not None:
            raise DownloadFailed(f"{urllib.parse.urlsplit(url).hostname}: {cause}")
        with _writing(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
        state.unlink(missing_ok=True)
    return target


def _from_hub(name: str, revision: str, path: str, limit: int) -> Path:
    """A file of a dataset of the hub, in the cache of ``huggingface_hub``. Raises DownloadFailed with the cause."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import LocalEntryNotFoundError

    what = {"repo_id": name, "filename": path, "repo_type": "dataset", "revision": revision}
    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(**what, local_files_only=True))
    if constants.is_offline_mode():
        raise DownloadFailed(f"huggingface.co: {name}/{path}: HF_HUB_OFFLINE is set, and its cache has no such file")
    try:
        size = get_hf_file_metadata(hf_hub_url(**what), timeout=SOCKET_SECONDS).size or 0
        if size > limit:
            raise DownloadFailed(f"huggingface.co: {name}/{path} would send {size:,} bytes; at most {limit:,} are taken")
        return Path(hf_hub_download(**what))
    except DownloadFailed:
        raise
    except Exception as error:                               # the library's network errors change class with its versions
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise _DiskTrouble(number, f"cannot write to {constants.HF_HUB_CACHE}: {error.strerror}. "
                               "HF_HUB_CACHE moves the folder") from error
        cause = str(error).strip().splitlines() or [""]
        raise DownloadFailed(f"huggingface.co: {name}/{path}: {type(error).__name__}: {cause[0][:120]}") from error


def copy(file: RegisteredFile, origin: Path, target: Path) -> Path:
    """Copy a registered file from a folder on this machine, atomically, checking its checksum where the manifest knows one.

    Raises DownloadFailed with both checksums when the bytes differ; nothing is kept then.
    """
    digest = hashlib.sha256()
    with locked(target), open(origin, "rb") as source, atomic_open(target, "wb") as stream:
        _check_room(target.parent, origin.stat().st_size)
        while block := source.read(BLOCK):
            digest.update(block)
            stream.write(block)
        if file.sha256 and digest.hexdigest() != file.sha256:
            raise DownloadFailed(f"{origin} was not copied: {origin.stat().st_size:,} bytes with checksum {digest.hexdigest()[:12]}…"
                                 f"{_looks_like(origin)}; expected {file.bytes:,} with {file.sha256[:12]}…")
    return target
