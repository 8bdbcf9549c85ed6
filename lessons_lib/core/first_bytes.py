"""What the first bytes of a file from elsewhere tell: that it is a web page, a pointer, or nothing.

Used by all that reads weights, vectors and published sets, whatever the name of a file says.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from .errors import DamagedFile

__all__ = ["check_arrived", "looks_like"]


def looks_like(start: bytes) -> str:
    """What the first bytes of a file seem to be in place of data, or nothing."""
    start = start.removeprefix(codecs.BOM_UTF8)[:512].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "an HTML page (of a login or an error?)"
    return "a Git LFS pointer" if start.startswith(b"version https://git-lfs") else ""


def check_arrived(file: Path, start: bytes, expected: str) -> None:
    """Raise DamagedFile for a file, known by its first bytes, that is empty, a Git LFS pointer or a
    web page; what is expected has to be of a kind that no XML is.
    """
    if not start:
        raise DamagedFile(f"{file} is empty (0 bytes); expected {expected}. Get it again")
    xml = start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<?xml")
    if seems := looks_like(start) or "an XML page" * xml:
        raise DamagedFile(f"{file} is {seems}, not {expected}. Get it again (a pointer with: git "
                          "lfs pull)")
