"""The files of a model, looked at before they are believed: what ``config.json`` says, whether the
weights are those it asks for, whole and finite, and a BERT out of them.

Only safetensors are read: other formats can run code, and are known by their content, whatever
their name says. A missing, surplus or misshapen weight is an error, never a random number. Used by
`folders` and `saved_bert`.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from ..core import DamagedFile, read_json, sha256, shown, write_json
from ..core.files import check_file, file_sums, process_lives, writing
from ..core.first_bytes import check_arrived
from .lesson_bert import BertSize, LessonBert

__all__ = ["CARD", "WEIGHTS", "check_names", "check_sizes", "check_sums",
           "check_weights_are_safe", "plain_names", "read_bert", "read_config", "read_other",
           "read_weights", "replaced", "settle"]

CARD, WEIGHTS = "card.json", "model.safetensors"
_PICKLE = re.compile(rb"\x80[\x02-\x05]|PK\x03\x04")
_CONVERT = ("Convert it where you trust it: "
            "AutoModel.from_pretrained(folder).save_pretrained(folder)")
HEADS = ("cls.", "lm_head.", "classifier.", "qa_outputs.", "vocab_", "mlm.", "generator_",
         "discriminator_")
LARGEST_CONFIG = 5_000_000
DRAFT = re.compile(r"\.draft-(\d{1,10})")          # a folder's name, with the writer's process id
PATIENCE = 5.0                                   # seconds that a writer has to rename its files
BLOCK = re.compile(r"encoder\.layer\.\d{1,6}\.")
# Key of config.json -> a weight that has this size, and along which axis.
SHAPES = {"vocab_size": ("embeddings.word_embeddings.weight", 0),
          "hidden_size": ("embeddings.word_embeddings.weight", 1),
          "max_position_embeddings": ("embeddings.position_embeddings.weight", 0),
          "intermediate_size": ("encoder.layer.0.intermediate.dense.weight", 0)}


def read_config(folder: Path) -> dict[str, Any]:
    """The settings in ``config.json``. Raises DamagedFile (missing, no JSON object, no sizes)."""
    path = folder / "config.json"
    if not path.is_file():
        raise DamagedFile(f"{folder} holds no model: config.json is missing")
    config = read_json(path, max_bytes=LARGEST_CONFIG)
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise DamagedFile(f"{path} is no configuration of a model: it names no model_type")
    for key in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                "intermediate_size", "max_position_embeddings"):
        value = config.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
            raise DamagedFile(f"{path} says {key}={str(value)[:60]}; expected a whole number >= 1")
    if config["model_type"] == "bert" and config.get("hidden_size", 1) % config.get(
            "num_attention_heads", 1):
        raise DamagedFile(f"{path} says hidden_size={config['hidden_size']} and "
                          f"num_attention_heads={config['num_attention_heads']}; the "
                          "first has to be a multiple of the second")
    return config


def check_weights_are_safe(folder: Path) -> None:
    """Raise DamagedFile or ValueError for weights that are missing or no safetensors."""
    index = folder / f"{WEIGHTS}.index.json"
    if (folder / WEIGHTS).is_file():
        check_content(folder / WEIGHTS)
    elif index.is_file():
        _check_index(index)
    elif unsafe := sorted(path.name for suffix in ("bin", "pt", "pth", "ckpt", "h5", "msgpack")
                          for path in folder.glob(f"*.{suffix}")):
        raise ValueError(f"{folder / unsafe[0]} can run code and is not read; expected {WEIGHTS}. "
                         f"{_CONVERT}")
    else:
        raise DamagedFile(f"{folder} holds no weights: {WEIGHTS} is missing")


def _check_index(path: Path) -> None:
    """Raise DamagedFile for weights in several files of which one is missing or no safetensors."""
    index = read_json(path)
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict) or not names or not all(
            isinstance(name, str) for name in names.values()):
        raise DamagedFile(f"{path} does not say in which file each weight is. Get it again")
    for name in sorted(set(names.values())):
        if Path(name).name != name or "\\" in name or not name.endswith(".safetensors"):
            raise DamagedFile(f"{path} names {shown(name)}; expected files of the same folder that "
                              "end in .safetensors")
        if not path.with_name(name).is_file():
            raise DamagedFile(f"{path} names {shown(name)}, which is missing. Get it again")
        check_content(path.with_name(name))


def read_bert(folder: Path, config: dict[str, Any]) -> tuple[LessonBert, bool]:
    """A BERT with the weights of a folder (float32), and whether a pooler is among them. Weights
    may be named as TensorFlow does; heads are left aside. Raises DamagedFile.
    """
    path = folder / WEIGHTS
    weights = plain_names(read_weights(path))
    check_sizes(folder, config, weights)
    model = LessonBert(BertSize.from_config(config))
    wanted = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    has_pooler = "pooler.dense.weight" in weights
    if not has_pooler:
        weights |= {name: torch.zeros(shape) for name, shape in wanted.items()
                    if name.startswith("pooler.")}
    check_names(path, wanted, {name: tuple(weight.shape) for name, weight in weights.items()})
    model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    return model, has_pooler


def plain_names(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Weights by the names of `LessonBert`, those of heads left aside."""
    plain = {}
    for name, weight in weights.items():
        name = name.removeprefix("bert.")
        if not name.startswith(HEADS) and name != "embeddings.position_ids":
            name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
            plain[name.replace("LayerNorm.beta", "LayerNorm.bias")] = weight
    return plain


def check_sizes(folder: Path, config: dict[str, Any], weights: dict[str, torch.Tensor]) -> None:
    """Raise DamagedFile where a size in ``config.json`` is not that of the weights; takes no
    memory.
    """
    needed = dict.fromkeys((name for name, _ in SHAPES.values()), ())
    check_names(folder / WEIGHTS, needed, {name: () for name in needed if name in weights})
    blocks = 1 + max((int(name.split(".")[2]) for name in weights if BLOCK.match(name)), default=-1)
    sizes = {key: weights[name].shape[axis] for key, (name, axis) in SHAPES.items()
             if name in weights and weights[name].ndim > axis}
    for key, size in (sizes | {"num_hidden_layers": blocks}).items():
        if config.get(key) != size:
            raise DamagedFile(f"{folder / 'config.json'} says {key}={config.get(key)}; the weights "
                              f"in {WEIGHTS} have {size}")


def read_other(folder: Path, config: dict[str, Any]) -> tuple[Any, bool]:
    """Another encoder by ``transformers`` (float32), and whether a pooler is among its weights.

    Raises DamagedFile (weights missing, unexpected or misshapen), ValueError (no encoder).
    """
    import transformers

    if config.get("is_encoder_decoder") or config.get("is_decoder"):
        raise ValueError(f"{folder} holds a {config['model_type']} that writes text; expected an "
                         "encoder such as BERT or RoBERTa")
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        model, info = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, use_safetensors=True,
            dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True)
    except Exception as error:                    # the package raises what it likes
        raise DamagedFile(f"{folder} cannot be read by transformers: {type(error).__name__}: "
                          f"{str(error).splitlines()[0][:200]}") from error
    finally:
        transformers.logging.set_verbosity(before)
    missing = [name for name in info["missing_keys"] if "pooler." not in name]
    unexpected = [name for name in info["unexpected_keys"]
                  if not name.startswith(HEADS) and "position_ids" not in name]
    refuse_names(folder / WEIGHTS, {
        "missing": missing, "unexpected": unexpected,
        "of another shape": [entry[0] for entry in info["mismatched_keys"]]})
    check_numbers(folder, model.state_dict())
    return model, not any("pooler." in name for name in info["missing_keys"])


def check_content(path: Path) -> None:
    """Raise DamagedFile for an empty file, a Git LFS pointer or a web page, ValueError for code."""
    with open(path, "rb") as file:
        start = file.read(64)
    check_arrived(path, start, "weights")
    # a header of safetensors begins with its length and a brace
    if _PICKLE.match(start) and start[7:9] != b"\x00{":
        raise ValueError(f"{path} is a pickle or an archive of one, which can run code and is not "
                         f"read; expected safetensors. {_CONVERT}")


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name. Raises as `check_content`, and DamagedFile for a file that was
    cut or changed, or that holds NaN or infinity.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        check_content(path)
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


def check_sums(folder: Path, *, verify: bool = True) -> None:
    """Raise DamagedFile where a file of a model is not the one that its card was written for;
    without verify only a missing one, or one of another size, is noticed.
    """
    path = folder / CARD
    card = read_json(path) if path.is_file() else {}
    if not isinstance(card, dict):
        raise DamagedFile(f"{path} holds {type(card).__name__}; expected what is known of the "
                          "model by name. Remove it, or get it again")
    remedy = f"{CARD} says so. Get it again; if you changed it yourself, remove {CARD}"
    try:
        if not card.get("sums") or card.get("becomes"):
            _check_digests(folder, card, remedy, verify)
            return
        for name, noted in card["sums"].items():
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise ValueError(f"{shown(name)} is no file of the folder")
            if not (folder / name).is_file():
                if name == WEIGHTS:               # who needs them notices; the control does not
                    continue
                raise DamagedFile(f"{folder} is incomplete: {name} is missing; {remedy}")
            check_file(folder / name, noted, remedy=remedy, verify=verify)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DamagedFile):
            raise
        raise DamagedFile(f"{path} does not say what its files are ({error!r:.80}). Remove it, or "
                          "get it again") from error


def _check_digests(folder: Path, card: Mapping[str, Any], remedy: str, verify: bool) -> None:
    """The same for a card of before, which has the sha256 of files; one of a folder that is just
    written over also says what they become."""
    files, becomes = ({} if not isinstance(card.get(key), dict) else card[key]
                       for key in ("files", "becomes"))
    known = files | ({WEIGHTS: card["sha256"]} if isinstance(card.get("sha256"), str) else {})
    there = {name: sha256(folder / name) for name in (known | becomes if verify else ())
             if Path(name).name == name and (folder / name).is_file()}
    for name, digest in there.items():
        if digest not in (known.get(name, digest), becomes.get(name)):
            raise DamagedFile(f"{folder / name} was changed or damaged: checksum {digest[:12]}…, "
                              f"expected {str(known[name])[:12]}…; {remedy}")
    if "draft" in card and not any(all(digest == one.get(name, digest) for name, digest
                                       in there.items()) for one in (known, becomes)):
        raise DamagedFile(f"{folder} holds files of two models: a save into it was cut off, and it "
                          "cannot be finished without the right to write there. Save it again")


@contextmanager
def replaced(target: Path, card: dict[str, Any]) -> Iterator[Path]:
    """A draft to fill inside of the folder of a model, whose files then take the places of those
    there. ``card``, to which the block may add, gets the checksums of all files, and comes last.

    A process that is killed leaves the old model whole; from the moment on at which the card names
    the draft, the new one, since `settle` finishes what was begun.
    """
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
    settle(target)
    for former in target.glob(".draft-*"):
        if (name := DRAFT.fullmatch(former.name)) and not _at_work(int(name[1])):
            shutil.rmtree(former, ignore_errors=True)
    draft, announced = target / f".draft-{os.getpid()}", False
    with writing(target):
        draft.mkdir()
    try:
        yield draft
        names = sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*")
                       if path.is_file())
        sums = {name: file_sums(draft / name) for name in names}
        for name in names:
            with open(draft / name, "rb+") as file:
                os.fsync(file.fileno())
        weights = sums.get(WEIGHTS, {})
        plain = {name: noted["sha256"] for name, noted in sums.items() if "/" not in name}
        own = {name: value for name, value in card.items() if name not in ("becomes", "draft")}
        write_json(draft / CARD, own | {
            "bytes": weights.get("bytes", 0), "sha256": weights.get("sha256"), "files": plain,
            "sums": sums})
        try:
            before = read_json(target / CARD)
        except (OSError, DamagedFile):
            before = {}
        write_json(target / CARD, (before if isinstance(before, dict) else {})
                   | {"becomes": plain, "draft": draft.name})
        announced = True
        _move(draft, target)
    finally:
        if not announced:
            shutil.rmtree(draft, ignore_errors=True)


def settle(folder: Path) -> None:
    """Finish a save into a folder whose process died while its files took their places; wait for
    one that is at work.
    """
    until = time.monotonic() + PATIENCE
    while draft := _announced(folder):
        if not _at_work(int(DRAFT.fullmatch(draft.name)[1])) or time.monotonic() > until:
            with suppress(OSError):               # nobody may write there: `check_sums` decides
                _move(draft, folder)
            return
        time.sleep(0.02)


def _announced(folder: Path) -> Path | None:
    """The draft whose files are about to take the places of those in the folder."""
    with suppress(OSError, DamagedFile, AttributeError, TypeError):
        name = read_json(folder / CARD).get("draft", "")
        if DRAFT.fullmatch(name) and (folder / name / CARD).is_file():
            return folder / name
    return None


def _at_work(pid: int) -> bool:
    return pid != os.getpid() and process_lives(pid)


def _move(draft: Path, target: Path) -> None:
    """Let files take their places, the card last; those that did already are no longer there."""
    files = [path for path in draft.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (path == draft / CARD, path)):
        place = target / path.relative_to(draft)
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            os.replace(path, place)
    shutil.rmtree(draft, ignore_errors=True)


def check_names(path: Path, wanted: dict[str, tuple[int, ...]],
                found: dict[str, tuple[int, ...]]) -> None:
    """Raise DamagedFile where names or shapes of weights are not those wanted: at most five of
    them.
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
