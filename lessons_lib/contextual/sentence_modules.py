"""What a folder of sentence-transformers says about itself in ``modules.json``: pooling,
normalising, and the length at which texts are cut.

A plain folder of a model has no such file; then the mean over tokens of the last layer is meant.
Used by `loading`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import DamagedFile, read_json, shown, write_json
from .pooling import LAST_K, POOLINGS

__all__ = ["FolderSettings", "folder_settings", "pooling_of", "write_settings"]

MODES = {"pooling_mode_mean_tokens": "last", "pooling_mode_cls_token": "cls",
         "pooling_mode_max_tokens": "max"}
BY_NAME = {"mean": "last", "cls": "cls", "max": "max"}
OURS = "pooling of lessons_lib"    # key of a pooling for which sentence-transformers has no word
TYPES = "sentence_transformers.models"
WIDTHS = ("word_embedding_dimension", "embedding_dimension")


@dataclass(frozen=True)
class FolderSettings:
    """How texts are read: ``pooling``; ``normalize``; ``longest`` text in tokens and ``width`` of
    what is pooled, None where nothing is said; ``file`` that said so.
    """

    pooling: str = "last"
    normalize: bool = False
    longest: int | None = None
    width: int | None = None
    width_key: str = ""
    file: Path | None = None

    def check_width(self, folder: Path, dim: int) -> None:
        """Raise DamagedFile where the pooling was made for another width."""
        if self.width is not None and self.width != dim:
            raise DamagedFile(f"{self.file} says {self.width_key}={self.width}; "
                              f"{folder / 'config.json'} says hidden_size={dim}")

    def cut(self, positions: int) -> int | None:
        """The length at which texts are cut; None: where the model ends."""
        return None if self.longest is None or self.longest >= positions else self.longest


def folder_settings(folder: Path) -> FolderSettings:
    """The settings of a folder.

    Raises DamagedFile for files that are not of this kind, ValueError for a module that is not
    understood.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return FolderSettings()
    modules = read_json(path, max_bytes=1_000_000)
    try:
        kinds = [(str(module["type"]).rsplit(".", 1)[-1], str(module["path"]))
                 for module in modules]
    except (TypeError, KeyError) as error:
        raise DamagedFile(f"{path} is no list of modules with type and path: {error!r}") from error
    names = [kind for kind, _ in kinds]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise ValueError(f"{path} lists {', '.join(names) or 'nothing'}; only Transformer, Pooling "
                         "and Normalize, in this order, are understood")
    if kinds[0][1] not in ("", "."):
        raise ValueError(f"{path} keeps the model in {shown(kinds[0][1])}; pass that folder: "
                         f"load_encoder({str(folder / kinds[0][1])!r})")
    pooling = folder / kinds[1][1] / "config.json"
    if ".." in Path(kinds[1][1]).parts or Path(kinds[1][1]).is_absolute():
        raise DamagedFile(f"{path} points out of its folder: {shown(kinds[1][1])}")
    config = _object(pooling)
    key = next((key for key in WIDTHS if key in config), "")
    return FolderSettings(pooling_of(config, pooling), "Normalize" in names, _longest(folder),
                          config.get(key), key, pooling)


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise DamagedFile(f"{path} is missing")
    found = read_json(path, max_bytes=1_000_000)
    if not isinstance(found, dict):
        raise DamagedFile(f"{path} holds {type(found).__name__}; expected settings by name")
    return found


def pooling_of(config: dict[str, Any], where: object) -> str:
    """The name of a pooling that sentence-transformers describes.

    Raises ValueError for one that has no name here, or for several at once.
    """
    ours = config.get(OURS)
    if ours is not None:
        if isinstance(ours, str) and (ours in POOLINGS or LAST_K.fullmatch(ours)):
            return ours
        raise ValueError(f"{where} asks for {shown(ours)}; expected one of {', '.join(POOLINGS)}")
    said = config.get("pooling_mode")
    if isinstance(said, (list, tuple)):
        chosen = list(said)
    elif isinstance(said, str):
        chosen = [said]
    else:
        chosen = [key for key, on in config.items()
                  if key.startswith("pooling_mode_") and on is True]
    found = [(BY_NAME | MODES).get(mode) for mode in chosen]
    if len(found) != 1 or found[0] is None:
        raise ValueError(f"{where} asks for {', '.join(map(str, chosen)) or 'no pooling'}; "
                         "expected one of mean, cls and max")
    return found[0]


def _longest(folder: Path) -> int | None:
    path = folder / "sentence_bert_config.json"
    value = _object(path).get("max_seq_length") if path.is_file() else None
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise DamagedFile(f"{path} says max_seq_length={shown(value)}; expected a whole number >= "
                          "1")
    return value


def write_settings(folder: Path, pooling: str, *, dim: int, longest: int, normalize: bool) -> None:
    """Write how an encoder reads texts into the folder of its model.

    Parameters: folder; pooling, one that sentence-transformers has no word for is written under a
    name of ours, which only `folder_settings` understands; dim; longest text; normalize.
    """
    modes = {mode: name in (pooling, "last" if pooling == "mean" else "")
             for mode, name in MODES.items()}
    ours = {} if any(modes.values()) else {OURS: pooling}
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    kinds += [("2_Normalize", "Normalize")] if normalize else []
    write_json(folder / "1_Pooling" / "config.json",
               {"word_embedding_dimension": dim} | modes | ours)
    write_json(folder / "sentence_bert_config.json",
               {"max_seq_length": longest, "do_lower_case": False})
    write_json(folder / "modules.json",
               [{"idx": i, "name": str(i), "path": path, "type": f"{TYPES}.{kind}"}
                for i, (path, kind) in enumerate(kinds)])
