"""Retrieval sets in the form of BEIR: read from a folder, and as the set that `load` knows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from lessons_lib.core import DamagedFile, DownloadFailed
from lessons_lib.datasets import RetrievalSet, get, list_datasets, load, read_beir, registered
from lessons_lib.datasets.conversion import _rows
from lessons_lib.datasets.publishers import publishers_of
from lessons_lib.datasets.readers import Files
from lessons_lib.evaluation import retrieval_scores

from .conftest import packed

CORPUS = [{"_id": "d7", "title": "Cats", "text": "Cats sleep.", "metadata": {}},
          {"_id": "d2", "title": "", "text": "Dogs bark."},
          {"_id": "d9", "title": "Dogs\tand cats", "text": "They\nfight."}]
QUERIES = [{"_id": "5", "text": "Who barks?"}, {"_id": "1", "text": "Who sleeps?"},
           {"_id": "3", "text": "Who flies?"}]
GRADES = "query-id\tcorpus-id\tscore\n1\td7\t2\n1\td9\t1\n5\td2\t1\n5\td7\t0\n3\td2\t0\n"


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES = {"corpus.jsonl": lines(CORPUS), "queries.jsonl": lines(QUERIES), "qrels/test.tsv": GRADES,
         "qrels/train.tsv": "query-id\tcorpus-id\tscore\n3\td9\t1\n"}


@pytest.fixture
def put(tmp_path: Path):
    """Writes the folder, with some files changed; None leaves a file out."""
    def write(ending: str = "", **changed: str | None) -> Path:
        folder = tmp_path / "tiny"
        (folder / "qrels").mkdir(parents=True)
        names = {Path(name).stem: name for name in FILES}
        for name, text in (FILES | {names[key]: text for key, text in changed.items()}).items():
            if text is not None:
                data = text.encode()
                (folder / (name + ending)).write_bytes(gzip.compress(data) if ending else data)
        return folder
    return write


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_folder_becomes_questions_texts_and_grades(put, ending):
    folder = put(ending)
    tiny = read_beir(folder)
    assert isinstance(tiny, RetrievalSet) and (tiny.name, tiny.split, len(tiny)) == ("tiny",
                                                                                    "test", 2)
    assert tiny.question == ["Who barks?", "Who sleeps?"]       # nothing answers the third
    assert tiny.columns == {"id": ["5", "1"]}
    assert tiny.relevant == [{1: 1.0}, {0: 2.0, 2: 1.0}]        # a grade of 0 says no
    assert tiny.documents.texts == ["Cats Cats sleep.", "Dogs bark.", "Dogs\tand cats They\nfight."]
    assert tiny.documents.titles[0] == "Cats" and tiny.documents.columns["id"] == ["d7", "d2", "d9"]
    assert read_beir(str(folder), "train").question == ["Who flies?"]
    assert retrieval_scores([[1], [2, 0]], tiny.relevant, bootstrap=0).recall == 1


@pytest.mark.parametrize("changed, error, words", [
    ({"corpus": None}, FileNotFoundError, ["corpus.jsonl"]),
    ({"queries": None}, FileNotFoundError, ["queries.jsonl"]),
    ({"test": None}, ValueError, ["split='test'", "'train'"]),
    ({"test": None, "train": None}, FileNotFoundError, ["qrels", "holds no .tsv file"]),
    ({"corpus": FILES["corpus.jsonl"] + "{"}, DamagedFile, ["corpus.jsonl, line 4 is no JSON"]),
    ({"corpus": lines([{"_id": "d1", "text": "x"}])}, DamagedFile, ["no column 'title'"]),
    ({"corpus": lines([*CORPUS, CORPUS[0]])}, DamagedFile, ["document 4 has the id 'd7'"]),
    ({"queries": lines([*QUERIES, QUERIES[0]])}, DamagedFile, ["question 4 has the id '5'"]),
    ({"queries": "[1]\n"}, DamagedFile, ["queries.jsonl, line 1 holds list"]),
    ({"test": GRADES + "8\td2\t1\n"}, DamagedFile, ["row 6: no question has the id '8'"]),
    ({"test": GRADES + "1\td8\t1\n"}, DamagedFile, ["row 6: no document has the id 'd8'"]),
    ({"test": GRADES + "1\td2\thigh\n"}, DamagedFile, ["row 6: grade 'high'"]),
    ({"test": GRADES + "1\td2\tnan\n"}, DamagedFile, ["row 6: grade 'nan'"]),
    ({"test": "a\tb\n1\t2\n"}, DamagedFile, ["no column 'query-id'"])])
def test_a_folder_that_does_not_fit_says_where(put, changed, error, words):
    with pytest.raises(error) as caught:
        read_beir(put(**changed))
    assert all(word in str(caught.value) for word in words), caught.value


def test_no_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_beir(tmp_path / "nowhere")


def test_a_known_set_is_made_of_its_publishers_files_and_loads(tmp_path, fake_data):
    """Each way that is written down makes the same rows, and these what `read_beir` reads."""
    for file in registered("scifact").files:
        made = []
        for way in publishers_of(file.path):
            if way.archive:
                whole = {f"scifact/{name}": text.encode() for name, text in FILES.items()}
                (tmp_path / "x").write_bytes(packed(whole, "zip"))
                held = Files({}, tmp_path / "x", way.files)
            else:
                for name, text in FILES.items():
                    (tmp_path / Path(name).name).write_text(text)
                    (tmp_path / f"{Path(name).name}.gz").write_bytes(gzip.compress(text.encode()))
                held = Files({name: tmp_path / name for name in way.files})
            made.append(list(_rows(way, held)))
        assert made[0] == made[1] and way.sample and set(made[0][0]) == set(file.columns)
        cells = ["\t".join(row[column] for column in file.columns) for row in made[0]]
        fake_data(file.path, "\n".join(["\t".join(file.columns), *cells]) + "\n")
    science = load("scifact")
    assert science.question == ["Who barks?", "Who sleeps?"] and science.split == "test"
    assert science.relevant == [{1: 1.0}, {0: 2.0, 2: 1.0}]
    assert science.documents[2] == "Dogs and cats They fight."  # a cell of a table is one line
    assert load("scifact", "train").question == ["Who flies?"] and len(load("scifact", "all")) == 3


def test_a_known_set_with_another_number_of_rows_is_refused(tmp_path, no_data):
    own = tmp_path / "own"
    own.mkdir()
    (own / "scifact.zip").write_bytes(
        packed({f"scifact/{name}": text.encode() for name, text in FILES.items()}, "zip"))
    with pytest.raises(DownloadFailed, match="3 rows came; expected 5,183"):
        get("scifact", source=str(own))
    assert next(row for row in list_datasets() if row.name == "scifact").fetchable
