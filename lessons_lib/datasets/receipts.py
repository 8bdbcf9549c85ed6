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

from ..core import DamagedFile, read_json, sha256, write_json

__all__ = ["Receipt", "forget_receipt", "has_receipt", "notice", "receipt_of", "write_receipt"]

ENDING = ".origin.json"
MEANING = {
    "exact": "",
    "folded": "the same rows as the course measured on, in another order, casing or spacing: "
    "scores can differ slightly from the committed ones",
    "sample": "not the rows that the course measured on: scores will differ from the committed ones",
}


@dataclass(frozen=True)
class Receipt:
    """What is known of a file that was made here: of the publisher ``source``, at ``address``;
    ``proof`` as above.

    ``missing`` are the columns of our copy that this publisher does not give.
    """

    source: str
    address: str
    sha256: str
    proof: str
    rows: int
    missing: tuple[str, ...] = ()


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write the receipt of a file; before the file, which then never lies there without one."""
    write_json(path.with_name(path.name + ENDING), asdict(receipt))


def has_receipt(path: Path) -> bool:
    """Whether a file was made here. Where `receipt_of` has nothing, it was changed since."""
    return path.with_name(path.name + ENDING).is_file()


def forget_receipt(path: Path) -> None:
    """Remove the receipt of the file that lay there before."""
    path.with_name(path.name + ENDING).unlink(missing_ok=True)


def receipt_of(path: Path) -> Receipt | None:
    """The receipt of a file, or None: it was not made here, or is another by now."""
    try:
        raw = read_json(path.with_name(path.name + ENDING))
        receipt = Receipt(**(raw | {"missing": tuple(map(str, raw["missing"]))}))
        MEANING[receipt.proof]
    except (FileNotFoundError, DamagedFile, TypeError, KeyError):
        return None
    return receipt if path.is_file() and sha256(path) == receipt.sha256 else None


def notice(path: str, receipt: Receipt) -> str:
    """What somebody who measures with the file should know; empty for the very rows."""
    lacks = f"without {', '.join(receipt.missing)}" if receipt.missing else ""
    text = "; ".join(filter(None, (MEANING[receipt.proof], lacks)))
    return f"{path} from {receipt.source}: {text}" if text else ""
