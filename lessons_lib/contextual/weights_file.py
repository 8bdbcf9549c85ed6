"""A file of weights is looked at before it is believed: what it is, whether it is whole, and
whether its numbers are numbers.

Only safetensors are read; what can run code is known by its content, whatever its name says. Used
by `bert_files`, `saved_bert` and `loading`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import torch

from ..core import DamagedFile, read_json, sha256, shown, write_json

__all__ = ["CARD", "WEIGHTS", "announce", "check_index", "check_kind", "check_names",
           "check_numbers", "check_sums", "read_weights", "refuse_names"]

CARD, WEIGHTS = "card.json", "model.safetensors"
_PICKLE = re.compile(rb"\x80[\x02-\x05]|PK\x03\x04")
_PAGE = (b"<!doctype html", b"<html", b"<?xml")
_CONVERT = ("Convert it where you trust it: "
            "AutoModel.from_pretrained(folder).save_pretrained(folder)")


def check_kind(path: Path) -> None:
    """Raise DamagedFile for a file that is empty, a Git LFS pointer or a web page, ValueError for
    one that can run code.
    """
    with open(path, "rb") as file:
        start = file.read(64)
    if not start:
        raise DamagedFile(f"{path} is empty (0 bytes); expected weights. Get it again")
    if start.startswith(b"version https://git-lfs"):
        raise DamagedFile(f"{path} is a Git LFS pointer, not the file itself; get it with: git lfs "
                          "pull")
    if start.lstrip()[:15].lower().startswith(_PAGE):
        raise DamagedFile(f"{path} is a web page, not weights (a login page?); get the file again")
    # a header of safetensors begins with its length and a brace
    if _PICKLE.match(start) and start[7:9] != b"\x00{":
        raise ValueError(f"{path} is a pickle or an archive of one, which can run code and is not "
                         f"read; expected safetensors. {_CONVERT}")


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name.

    Raises as `check_kind`, and DamagedFile for a file that was cut or changed, or that holds NaN or
    infinity.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        check_kind(path)
        weights = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DamagedFile(f"{path} was cut or changed: {error}") from error
    check_numbers(path, weights)
    return weights


def check_numbers(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Raise DamagedFile where a weight is not finite."""
    bad = sorted(name for name, weight in weights.items() if weight.is_floating_point()
                 and not bool(torch.isfinite(weight.sum(dtype=torch.float64))))
    if bad:
        raise DamagedFile(f"{path} holds NaN or infinity in {len(bad)} of {len(weights)} weights "
                          f"({', '.join(bad[:5])}); get it again, or train anew")


def check_sums(folder: Path) -> None:
    """Raise DamagedFile where a file of a model is not the one that its card was written for;
    without a card, or a checksum in it, nothing is said.

    A card names what its files are and, while a newer model is being written over it, what they
    become: a run that is killed then leaves a model that can be read.
    """
    path = folder / CARD
    card = read_json(path) if path.is_file() else {}
    if not isinstance(card, dict):
        raise DamagedFile(f"{path} holds {type(card).__name__}; expected what is known of the "
                          "model by name. Remove it, or get it again")
    files, becomes = ({} if not isinstance(card.get(key), dict) else card[key]
                       for key in ("files", "becomes"))
    known = files | ({WEIGHTS: card["sha256"]} if isinstance(card.get("sha256"), str) else {})
    for name, expected in known.items():
        if Path(name).name != name or not (folder / name).is_file():
            continue
        found = sha256(folder / name)
        if found not in (expected, becomes.get(name)):
            raise DamagedFile(f"{folder / name} was changed or damaged: checksum {found[:12]}…, "
                              f"{CARD} says {str(expected)[:12]}…. Get it again; if "
                              f"you changed it yourself, remove {CARD}")


def announce(folder: Path, sums: dict[str, str]) -> None:
    """Say in the card of a model that is about to be written over what its files become (name ->
    sha256), so that it stays readable meanwhile.
    """
    try:
        former = read_json(folder / CARD)
    except (OSError, DamagedFile):
        return
    if isinstance(former, dict):
        write_json(folder / CARD, former | {"becomes": sums})


def check_index(folder: Path) -> None:
    """Raise DamagedFile for weights in several files of which one is missing, lies elsewhere, or is
    no safetensors.
    """
    path = folder / f"{WEIGHTS}.index.json"
    if not path.is_file():
        return
    index = read_json(path)
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict) or not names or not all(
            isinstance(name, str) for name in names.values()):
        raise DamagedFile(f"{path} does not say in which file each weight is. Get it again")
    for name in sorted(set(names.values())):
        if Path(name).name != name or "\\" in name or not name.endswith(".safetensors"):
            raise DamagedFile(f"{path} names {shown(name)}; expected files of the same folder that "
                              "end in .safetensors")
        if not (folder / name).is_file():
            raise DamagedFile(f"{path} names {shown(name)}, which is missing. Get it again")
        check_kind(folder / name)


def check_names(path: Path, wanted: dict[str, tuple[int, ...]],
                found: dict[str, tuple[int, ...]]) -> None:
    """Raise DamagedFile where names or shapes of weights are not those wanted: how many, and at
    most five of them.
    """
    other = [name for name in wanted.keys() & found.keys() if wanted[name] != found[name]]
    refuse_names(path, {"missing": wanted.keys() - found.keys(),
                        "unexpected": found.keys() - wanted.keys(), "of another shape": other})


def refuse_names(path: Path, wrong: Mapping[str, Collection[str]]) -> None:
    """Raise DamagedFile where there are wrong names of some kind."""
    said = [f"{len(names)} {kind} ({', '.join(sorted(names)[:5])})"
            for kind, names in wrong.items() if names]
    if said:
        raise DamagedFile(f"{path} does not hold the weights that config.json asks for: "
                          f"{'; '.join(said)}")
