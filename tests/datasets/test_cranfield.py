"""The Cranfield collection: its own files, whose numbers and codes are easily read wrongly, become
a retrieval set. The texts here are made up."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataMissing, DownloadFailed
from lessons_lib.datasets import get, list_datasets, load, registered
from lessons_lib.datasets.conversion import _rows
from lessons_lib.datasets.publishers import publishers_of
from lessons_lib.datasets.readers import Files
from lessons_lib.evaluation import evaluate_retrieval, question_set, titled

from .conftest import packed

FILES = {
    "cran.all.1400": ".I 1\n.T\nkites in rain .\n.A\nnobody, n.\n.B\nnowhere 1, 1901 .\n.W\n"
                     "kites in rain .\nwet kites fall .\n.I 2\n.T\n.A\n.B\n.W\n"
                     ".I 3\n.T\nboats .\n.A\n.B\n.W\nboats .\nthey float .\n",
    "cran.qry": ".I 001\n.W\nwhich kites\nfall .\n.I 004\n.W\nwhat floats .\n",
    "cranqrel": "1 1 1 \n1  3 4\n1 2 -1\n2 3 2 \n2 1 5\n",
    "cranqrel.readme": "1 is best"}


def made(tmp_path, **changed: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each of our files, by every way that is written down."""
    files = FILES | {name.replace("_", "."): text for name, text in changed.items()}
    result: dict[str, list[dict[str, str]]] = {}
    for file in registered("cranfield").files:
        for way in publishers_of(file.path):
            if way.archive:
                whole = {f"cran/{name}": text.encode() for name, text in files.items()}
                (tmp_path / "x").write_bytes(packed(whole, "gz"))
                held = Files({}, tmp_path / "x", way.files)
            else:
                for name, text in files.items():
                    (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
                held = Files({name: tmp_path / name for name in way.files})
            rows = list(_rows(way, held))
            assert result.setdefault(file.path, rows) == rows and set(rows[0]) == set(file.columns)
    return result


def test_questions_count_in_order_and_the_best_code_becomes_the_best_grade(tmp_path, fake_data):
    for path, rows in made(tmp_path).items():
        columns = next(file.columns for file in registered("cranfield").files if file.path == path)
        cells = ["\t".join(row[column] for column in columns) for row in rows]
        fake_data(path, "\n".join(["\t".join(columns), *cells]) + "\n")
    kites = question_set("cranfield")
    assert kites.split == "test" and load("cranfield").question == kites.question
    assert kites.question == ["which kites fall .", "what floats ."]
    assert kites.columns == {"id": ["1", "2"]}         # not 1 and 4, as its .I lines say
    assert kites.relevant == [{0: 4.0, 2: 1.0}, {2: 3.0}]
    assert titled(kites) == ["kites in rain . wet kites fall .", "", "boats . they float ."]

    class Words:
        name, dim = "two words", 2

        def encode(self, texts, *, batch_size=256, progress=False):
            return np.array([[text.count("kite"), text.count("float")] for text in texts]) + 1e-3

    assert evaluate_retrieval(Words(), kites, bootstrap=0).ndcg > 0.9


@pytest.mark.parametrize("changed, words", [
    ({"cran_qry": "what floats .\n"}, ["cran.qry, line 1", "belongs to no field", ".I"]),
    ({"cran_qry": ".W\nwhat floats .\n"}, ["cran.qry, line 1", "'.W'", "a number after .I"]),
    ({"cran_qry": ".I 1\n.X\nwhat floats .\n"}, ["cran.qry, line 2", "'.X'", "then .W"]),
    ({"cran_qry": ".I one\n.W\nwhat floats .\n"}, ["cran.qry, line 1", "'.I one'"]),
    ({"cran_qry": ".I 1\n.I 2\n.W\nx\n"}, ["cran.qry, .I 1", "no column 'W'"]),
    ({"cran_all.1400": ".I 1\n.T\nkites\n.W\n"}, None),
    ({"cran_all.1400": ".I 1\n.T\nkites\n.A\n"}, ["cran.all.1400, .I 1", "no column 'W'"]),
    ({"cranqrel": "1 1\n"}, ["cranqrel, row 1", "2 fields", "grade"]),
    ({"cranqrel": "1 1 1\n\n"}, ["cranqrel, row 2", "0 fields"]),
    ({"cranqrel": "1 1 7\n"}, ["grade='7'", "expected 1, 2, 3, 4, 5, -1"])])
def test_damage_is_said_with_its_line(tmp_path, changed, words):
    if words is None:
        assert made(tmp_path, **changed)["search/cranfield_documents.tsv.gz"][0]["text"] == ""
        return
    with pytest.raises(DamagedFile) as caught:
        made(tmp_path, **changed)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_folder_of_its_files_is_taken_only_whole_and_with_the_right_rows(tmp_path, no_data):
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(DataMissing, match="holds not all of cran.all.1400"):
        get("cranfield", source=str(own))
    (own / "cran.tar.gz").write_bytes(packed({n: t.encode() for n, t in FILES.items()}, "gz"))
    with pytest.raises(DownloadFailed, match="3 with checksums .* expected 1,400"):
        get("cranfield", source=str(own))
    for name, text in FILES.items():
        (own / name).write_text(text)
    (own / "cran.tar.gz").unlink()
    with pytest.raises(DownloadFailed, match="3 with checksums .* expected 1,400"):
        get("cranfield", source=str(own))
    assert next(row for row in list_datasets() if row.name == "cranfield").fetchable
