"""A path that is none, or where nothing can be read or written, is answered in the library's own
words by every public function that has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.figure
import pytest

import lessons_lib as ll
from lessons_lib import cli, core
from lessons_lib.classroom import read_assignment
from lessons_lib.classroom.hub import Hub, read_hub, write_hub

from .saved_models import FOLDER, TEXTS, Lengths, numerals

# A value, the errors it may end in, and words of the message. "{}" is the suffix of the function.
BAD = [(None, TypeError, "expected"), (5, TypeError, "expected"), (b"x", TypeError, "expected"),
       ("a\0b{}", ValueError, "NUL"), ("~nosuch/x{}", ValueError, "home folder"),
       ("x" * 300 + "{}", ValueError, "at most 255"), ("a\ud83d{}", ValueError, "surrogate")]
NAME = re.compile(r"\b(path|folder|name|out|file)=")       # of the argument


def _is_ours(error: BaseException) -> bool:
    return error.__class__.__name__ != "UnicodeEncodeError" and "[Errno" not in str(error)


def _loaded(name: str, read: Callable[..., Any]) -> Callable[..., Any]:
    return lambda path: read(FOLDER / name).save(path)


def _vectors() -> Any:
    return ll.vectors.WordVectors.load(FOLDER / "word_vectors")


# Each is called with a path.
READS: dict[str, Callable[[Any], Any]] = {
    "existing_path": core.existing_path,
    "read_json": core.read_json,
    "sha256": core.sha256,
    "load_files": lambda path: core.load_files(path, "Corpus"),
    "load_model": lambda path: core.load_model(path, "SIF"),
    "SIF.load": ll.sentences.SIF.load,
    "WordVectors.load": ll.vectors.WordVectors.load,
    "Corpus.load": ll.text.Corpus.load,
    "Corpus.from_file": ll.text.Corpus.from_file,
    "Cooccurrences.load": ll.counts.Cooccurrences.load,
    "WordPiece.load": ll.contextual.WordPiece.load,
    "TokenStream.load": ll.contextual.TokenStream.load,
    "load_bert": ll.contextual.load_bert,
    "load_film": ll.contextual.load_film,
    "load_guesser": ll.contextual.load_guesser,
    "SBert.load": ll.contrastive.SBert.load,
    "FolderIndex.load": lambda path: ll.search.FolderIndex.load(path, Lengths()),
    "FolderIndex.update": lambda path: ll.search.FolderIndex(Lengths()).update(path),
    "load_method": ll.words.load_method,
    "load_vectors": ll.words.load_vectors,
    "read_text": ll.vectors.read_text,
    "read_binary": ll.vectors.read_binary,
    "read_compact": ll.vectors.read_compact,
    "read_card": ll.vectors.read_card,
    "read_beir": ll.datasets.read_beir,
    "receipt_of": ll.datasets.receipt_of,
    "read_assignment": read_assignment,
    "read_hub": read_hub,
    "recorded": lambda path: ll.reproduce.recorded("blei2003_table1", folder=path),
    "read": lambda path: ll.bench.read(folder=path),
}
# Writes: into a folder of their own, or a file.
FOLDERS: dict[str, Callable[[Any], Any]] = {
    "SIF.save": _loaded("sif", ll.sentences.SIF.load),
    "WordVectors.save": lambda path: _vectors().save(path),
    "Corpus.save": _loaded("corpus", ll.text.Corpus.load),
    "Corpus.from_texts": lambda path: ll.text.Corpus.from_texts(TEXTS, folder=path),
    "Cooccurrences.save": _loaded("cooccurrences", ll.counts.Cooccurrences.load),
    "Cooccurrences.from_corpus": lambda path: ll.counts.Cooccurrences.from_corpus(
        ll.text.Corpus.from_texts(TEXTS), folder=path),
    "WordPiece.save": _loaded("word_piece", ll.contextual.WordPiece.load),
    "TokenStream.save": _loaded("token_stream", ll.contextual.TokenStream.load),
    "save_bert": lambda path: ll.contextual.save_bert(
        path, *ll.contextual.load_bert(FOLDER / "pretrained"), card={}),
    "SBert.save": _loaded("sbert", ll.contrastive.SBert.load),
    "save_model": lambda path: core.save_model(path, "Toy", settings={}, arrays={}),
    "save_files": lambda path: core.save_files(path, "Toy", {}, {}),
    "atomic_folder": lambda path: core.atomic_folder(path).__enter__(),
}
FILES: dict[str, Callable[[Any], Any]] = {
    "write_text": lambda path: core.write_text(path, "x"),
    "write_json": lambda path: core.write_json(path, 1),
    "vectors.write_text": lambda path: ll.vectors.write_text(_vectors(), path),
    "write_binary": lambda path: ll.vectors.write_binary(_vectors(), path),
    "write_compact": lambda path: ll.vectors.write_compact(_vectors(), path),
    "encode_to": lambda path: ll.contextual.encode_to(Lengths(), path, numerals(3)),
    "plots.save": lambda path: ll.plots.save(
        matplotlib.figure.Figure(), path, alt="An empty figure without axes or finding"),
}

SUFFIXES = {"encode_to": ".npy", "plots.save": ".png", "write_compact": ".safetensors"}
WITHOUT = ("Corpus.from_texts", "Cooccurrences.from_corpus", "recorded")     # None: no folder
ALL = READS | FOLDERS | FILES | {
    "write_hub": lambda path: write_hub(Hub(students=("ada",)), path)}


@pytest.mark.parametrize("name", ALL)
def test_what_is_no_path_is_refused_by_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for value, kind, words in BAD[name in WITHOUT:]:
        given = value.replace("{}", SUFFIXES.get(name, "")) if isinstance(value, str) else value
        with pytest.raises(kind) as caught:
            ALL[name](given)
        said = str(caught.value)
        assert NAME.search(said) and words in said and _is_ours(caught.value), f"{value!r}: {said}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FOLDERS | FILES)
def test_F16_where_nothing_can_be_written_is_said_with_the_place_and_what_to_do(tmp_path, name):
    file, suffix = tmp_path / "file", SUFFIXES.get(name, ".npy")
    file.write_text("mine")
    (folder := tmp_path / f"folder{suffix}").mkdir()
    (folder / "theirs").write_text("")
    places = [file / f"below{suffix}", Path("/proc/nowhere") / f"x{suffix}"]
    for place in [*places, file if name in FOLDERS else folder]:
        with pytest.raises((OSError, ValueError)) as caught:
            (FOLDERS | FILES)[name](place)
        said = str(caught.value)
        assert re.search("hoose|expected the file's name", said), f"{place}: {said}"
        assert str(place.with_suffix(""))[:40] in said
    assert file.read_text() == "mine" and len(list(folder.iterdir())) == 1
    assert {path.name for path in tmp_path.iterdir()} - {f".lock-folder{suffix}"} == {
        "file", folder.name}


@pytest.mark.parametrize("arguments", [
    "encode ~nosuch/x here.txt --out a.npy", "encode lesson-bag here.txt --out ~nosuch/a.npy",
    "encode lesson-bag here.txt --out here.txt/a.npy", "search ~nosuch/x sea", "grade ~nosuch/x",
    "train word2vec here.txt --min-count 1 --out ~nosuch/x", "train compact ~nosuch/x --out m",
    "train word2vec here.txt --min-count 1 --out here.txt", "evaluate ~nosuch/x",
    "hub write ~nosuch/x ada", "hub start ~nosuch/x", "hub write hub ada --data /nope",
    "hub write hub root", "export lesson-bag --to onnx --out here.txt/b",
    "pretrain --tokens-from ~nosuch/x --out m"])
def test_the_command_line_says_in_one_line_which_path_is_none(
        tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("a line of a text\n")
    monkeypatch.setattr("sys.argv", ["lessons", *arguments.split()])
    assert cli.main() != 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and re.search("home folder|cannot write|does not exist|of the sys",
                                               said), said
    assert {path.name for path in tmp_path.iterdir()} <= {"here.txt", ".lock-a.npy"}
