"""Lists of names that somebody typed: one a line, in UTF-8 with or without a byte order mark.

Used by grading and by the hub.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["names_in"]


def names_in(path: Path) -> list[str]:
    """The lines of a text file that hold something, without the space around it.

    Raises ValueError for a file that is not UTF-8: path, line, byte.
    """
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, wrong = content.count(b"\n", 0,
                                    error.start) + 1, content[error.start:error.end].hex(" ")
        raise ValueError(f"{path}, line {line}, byte {error.start}: {wrong} is not UTF-8 "
                         f"({error.reason}); save the file as UTF-8") from None
    return [line.strip() for line in text.splitlines() if line.strip()]
