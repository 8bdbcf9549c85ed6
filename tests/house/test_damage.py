"""A saved thing whose files have valid headers, the right lengths and another meaning is refused:
every kind that the library writes, every damage.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lessons_lib as ll
from lessons_lib.contextual.folders import save_encoder
from lessons_lib.core import DamagedFile, read_json, save_model
from lessons_lib.core.files import check_file, file_sums
from lessons_lib.core.store import load_model

from .saved_models import DOCUMENTS, FOLDER, MODELS, TEXTS, Lengths, encode_rest, numerals

TWINS = {"F16": "BF16", "F32": "I32", "F64": "I64", "I32": "F32", "I64": "F64", "U8": "I8",
         "I8": "U8", "U16": "F16", "BOOL": "U8"}


def _anew(name: str) -> Callable[[Path], Callable[..., Any]]:
    """What was saved by the first edition, saved by this one."""
    def save(place: Path) -> Callable[..., Any]:
        model = MODELS[name].load(FOLDER / name)
        model.save(place)
        if name == "word_piece":
            return lambda verify=True: type(model).load(place)
        return lambda verify=True: type(model).load(place, verify=verify)

    return save


def _compact(place: Path) -> Callable[..., Any]:
    vectors = ll.vectors.WordVectors.load(FOLDER / "word_vectors")
    ll.vectors.write_compact(vectors, place / "v.safetensors", {})
    return lambda verify=True: ll.words.load_vectors(place / "v.safetensors", verify=verify)


def _exported(place: Path) -> Callable[..., Any]:
    save_encoder(place, ll.contextual.load_encoder(FOLDER / "encoder", device="cpu"), card={})
    return lambda verify=True: ll.contextual.load_encoder(place, device="cpu", verify=verify)


def _pretrained(place: Path) -> Callable[..., Any]:
    film = {"frames": np.ones((1, 2, 3), np.float16), "pieces": np.array([1, 2], np.int32),
            "counts": np.array([3, 4]), "all_counts": np.arange(len(_bert()[1]))}
    moment = dict.fromkeys(("tokens", "norm_frequency", "mean_cosine", "mean_norm",
                            "held_out_accuracy", "held_out_loss"), 0.5) | {"shares": [1.0]}
    ll.contextual.save_bert(place, *_bert(), card={"moments": [moment]}, film=film)

    def load(verify: bool = True) -> Any:
        return [ll.contextual.load_film(place, verify=verify),
                ll.contextual.load_guesser(place, verify=verify)]

    return load


def _bert() -> Any:
    return ll.contextual.load_bert(FOLDER / "pretrained")


def _checkpoint(place: Path) -> Callable[..., Any]:
    """Of a pre-training: one of the two of its run."""
    there = next((FOLDER / "pretrained_cut").glob("*/model.json")).parent
    settings, arrays, extra = load_model(there, "Pretraining")
    save_model(place, "Pretraining", settings=settings, arrays=arrays, extra=extra)
    return lambda verify=True: load_model(place, "Pretraining", verify=verify)


def _index(place: Path) -> Callable[..., Any]:
    (place.parent / "texts").mkdir()
    for i, text in enumerate(DOCUMENTS[:4]):
        (place.parent / "texts" / f"{i}.txt").write_text(text, "utf-8")
    index = ll.search.FolderIndex(Lengths())
    index.update(place.parent / "texts")
    index.save(place)
    return lambda verify=True: ll.search.FolderIndex.load(place, Lengths(), verify=verify)


def _vectors_of_texts(place: Path) -> Callable[..., Any]:
    encode_rest(None, place)
    return lambda verify=True: ll.contextual.encode_to(Lengths(), place / "vectors.npy",
                                                       numerals(5000))


KINDS = {name: _anew(name) for name in (
    "one_hot", "tfidf", "bm25", "lsa", "cooccurrences", "corpus", "word_vectors", "word2vec",
    "word2vec_cbow_tree_cut", "glove_cut", "fasttext_cut", "mean_tfidf", "sif", "usif",
    "doc2vec_dbow_cut", "plsa", "gibbs", "online_lda", "whitening_zca", "flow_cut", "word_piece",
    "token_stream", "sbert_cut", "simcse_cut", "auto_encoding_cut")} | {
    "compact vectors": _compact, "exported folder": _exported, "pretrained": _pretrained,
    "checkpoint of a pre-training": _checkpoint, "search index": _index,
    "vectors of texts": _vectors_of_texts}


def _damages(file: Path) -> Iterator[tuple[str, bytes]]:
    """Contents of the same length with another meaning: two arrays swapped, a dtype of the same
    width, numbers of another run, one flipped byte."""
    whole = file.read_bytes()
    yield "one byte", whole[:-1] + bytes([whole[-1] ^ 4])
    middle = len(whole) // 2
    yield "one byte", whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]
    if file.suffix != ".safetensors":
        return
    n = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:n])
    arrays = {name: entry for name, entry in header.items() if name != "__metadata__"}
    for first, one in arrays.items():
        begin, end = (n + at for at in one["data_offsets"])
        for second, other in arrays.items():
            a, b = (whole[n + e["data_offsets"][0]: n + e["data_offsets"][1]] for e in (one, other))
            if first < second and (one["shape"], one["dtype"]) == (other["shape"], other["dtype"]) \
                    and a != b:
                names = header | {first: other, second: one}
                text = json.dumps(names, separators=(",", ":")).encode()
                if len(text) <= n - 8:
                    yield f"{first} and {second}", whole[:8] + text.ljust(n - 8) + whole[n:]
        text = whole[8:n].replace(b'"%s"' % one["dtype"].encode(),
                                  b'"%s"' % TWINS[one["dtype"]].encode()).strip()
        if len(text) <= n - 8:
            yield f"dtype of {first}", whole[:8] + text.ljust(n - 8) + whole[n:]
        if end > begin:
            numbers = np.frombuffer(whole[begin:end], np.uint8)
            yield f"other {first}", whole[:begin] + (numbers ^ 1).tobytes() + whole[end:]


@pytest.mark.parametrize("kind", KINDS)
def test_F02_what_has_another_meaning_does_not_load(tmp_path, kind):
    load = KINDS[kind](tmp_path / "m")
    load()
    tried = 0
    for file in sorted((tmp_path / "m").rglob("*")):
        if not file.is_file() or file.suffix == ".json" or not file.stat().st_size:
            continue
        whole, damages = file.read_bytes(), list(_damages(file))
        for what, content in damages[:2] + damages[2::max(1, len(damages) // 12)]:
            file.write_bytes(content)
            with pytest.raises(DamagedFile):
                load()
                pytest.fail(f"{file.name} was read with another meaning: {what}")
            tried += 1
        file.write_bytes(whole)
    assert tried >= 2
    load()


@pytest.mark.parametrize(("change", "words"), [
    (lambda a: {"in": a["out"], "out": a["in"], "n": a["n"]}, "'in' has the numbers of 'out'"),
    (lambda a: a | {"in": a["in"] + 1}, "'in' has other numbers"),
    (lambda a: a | {"n": a["n"].view("u8")}, r"'n' is U64 \[3\], was I64 \[3\]"),
    (lambda a: {"in": a["in"], "ou": a["out"], "n": a["n"]}, "'ou' was not saved|'out' is missing"),
    (lambda a: a | {"in": a["in"].reshape(3, 2)}, r"'in' is F32 \[3, 2\], was F32 \[2, 3\]")])
def test_the_array_that_is_another_is_named_even_where_the_card_knows_the_file(
        tmp_path, change, words):
    """Of a file that another program wrote again, with its sha256 in a card put right by hand."""
    from safetensors.numpy import save

    arrays = {"in": np.ones((2, 3), np.float32), "out": np.zeros((2, 3), np.float32),
              "n": np.arange(3)}
    file = tmp_path / "x.safetensors"
    file.write_bytes(save(arrays))
    noted = file_sums(file)
    check_file(file, noted, remedy="Save it again")
    file.write_bytes(save({name: np.ascontiguousarray(x) for name, x in change(arrays).items()}))
    right = noted | {"bytes": file.stat().st_size, "sha256": file_sums(file)["sha256"]}
    with pytest.raises(DamagedFile, match=words):
        check_file(file, right, remedy="Save it again")
    check_file(file, right, remedy="Save it again", verify=False)


def test_who_knows_better_loads_what_was_changed_by_hand(tmp_path):
    """With verify=False sizes alone are looked at; a model of before is checked by its sha256."""
    folder = shutil.copytree(FOLDER / "sif", tmp_path / "m")
    file = next(folder.glob("*.safetensors"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(DamagedFile, match="checksum"):
        ll.sentences.SIF.load(folder)
    assert ll.sentences.SIF.load(folder, verify=False).encode(TEXTS[:2]).shape[0] == 2
    card = read_json(folder / "model.json")
    (folder / "model.json").write_text(json.dumps(card | {"note": "by hand"}))
    ll.sentences.SIF.load(folder, verify=False)
    file.write_bytes(whole[:-1])
    with pytest.raises(DamagedFile, match="cut or extended"):
        ll.sentences.SIF.load(folder, verify=False)
