"""Says where a file of the cache came from that was made here out of a publisher's, and what was
proved of it.

"exact": the very rows that the course was measured on. "folded": the same rows in another order,
casing or spacing, with which scores can differ slightly. "sample": another sample of the same
kind, or a set that was never here, which no checksum can prove. A receipt lies beside its file
and names its sha256: it speaks of no other file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..core import DamagedFile, checked_path, read_json, sha256, write_json

__all__ = ["Receipt", "notice", "place_of_receipt", "receipt_of", "write_receipt"]

MEANING = {
    "exact": "",
    "folded": "the same rows as the course measured on, in another order, casing or spacing: "
    "scores can differ slightly from the committed ones",
    "sample": "not the rows that the course measured on: scores will differ from the committed "
    "ones",
}


@dataclass(frozen=True)
class Receipt:
    """What is known of a file that was made here.

    Parameters
    ----------
    source, address : str, the publisher, and where its files came from
    sha256 : str, of the file
    proof : {"exact", "folded", "sample"}
    rows : int
    missing : tuple of str, columns of the course's copy that this publisher does not give
    """

    source: str
    address: str
    sha256: str
    proof: str
    rows: int
    missing: tuple[str, ...] = ()


def place_of_receipt(path: Path) -> Path:
    """Where the receipt of a file lies. One that is there while `receipt_of` has nothing speaks of
    a file that was changed since."""
    return path.with_name(path.name + ".origin.json")


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write the receipt of a file; before the file, which then never lies there without one."""
    write_json(place_of_receipt(path), asdict(receipt))


def receipt_of(path: Path) -> Receipt | None:
    """The receipt of a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Receipt, or None: it was not made here, or is another by now
    """
    path = checked_path(path)
    try:
        raw = read_json(place_of_receipt(path))
        receipt = Receipt(**(raw | {"missing": tuple(map(str, raw["missing"]))}))
        MEANING[receipt.proof]
    except (FileNotFoundError, DamagedFile, TypeError, KeyError):
        return None
    return receipt if path.is_file() and sha256(path) == receipt.sha256 else None


def notice(path: str, receipt: Receipt) -> str:
    """What somebody who measures with a file should know.

    Parameters
    ----------
    path : str, the name of the file
    receipt : Receipt

    Returns
    -------
    str, empty for the very rows
    """
    lacks = f"without {', '.join(receipt.missing)}" if receipt.missing else ""
    text = "; ".join(filter(None, (MEANING[receipt.proof], lacks)))
    return f"{path} from {receipt.source}: {text}" if text else ""
