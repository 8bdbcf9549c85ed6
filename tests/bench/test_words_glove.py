"""The races beside GloVe's own programs: stand-ins write files of their format, so the gates are seen to hold and to fail without a C compiler."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, words, words_glove
from lessons_lib.bench.measure import measure
from lessons_lib.bench.word_texts import text_file
from lessons_lib.bench.words_glove import RECORD, Sizes, cases, programs
from lessons_lib.core import write_text
from lessons_lib.counts import Cooccurrences
from lessons_lib.datasets import load
from lessons_lib.text import Corpus

SMALL = Sizes(window=4, dim=8, epochs=2, threads=(1,), counting=0.0, learning=0.0)

# What the programs do, slowly; shuffle copies, and glove trains nothing: it tells a loss and writes vectors.
STAND_IN = """#!{python}
import math, os, struct, sys
from collections import Counter
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
lines = [line.split() for line in sys.stdin.buffer.read().decode().splitlines()] if "{name}" in ("vocab_count", "cooccur") else []
if "{name}" == "vocab_count":
    for word, n in sorted(Counter(w for line in lines for w in line).items(), key=lambda item: (-item[1], item[0])):
        print(word, n)
elif "{name}" == "cooccur":
    number = {{line.split()[0]: i for i, line in enumerate(open(arguments["-vocab-file"]), 1)}}
    counts = Counter()
    for line in lines:
        ids = [number[w] for w in line]
        for d in range(1, int(arguments["-window-size"]) + 1):
            for a, b in zip(ids, ids[d:]):
                counts[a, b] += 1 / d
                counts[b, a] += 1 / d
    sys.stdout.buffer.write(b"".join(struct.pack("<iid", a, b, x) for (a, b), x in sorted(counts.items())))
elif "{name}" == "shuffle":
    sys.stdout.buffer.write(sys.stdin.buffer.read())
else:
    if "-fail" in os.environ.get("STAND_IN", ""):
        sys.exit("no such option")
    with open(arguments["-save-file"] + ".txt", "w") as file:
        for i, line in enumerate(open(arguments["-vocab-file"])):
            file.write(" ".join([line.split()[0], *(str(math.sin(i * k)) for k in range(1, 1 + int(arguments["-vector-size"])))]) + "\\n")
    for i in (1, 2):
        print(f"x, iter: 00{{i}}, cost: {{float(os.environ['LOSS']) / i:f}}", file=sys.stderr)
"""


def graded_words() -> list[list[str]]:
    """Documents of words that people have graded."""
    rng, pairs = np.random.default_rng(0), [load(name) for name in ("wordsim353", "simlex999")]
    words = [word.lower() for found in pairs for word in (*found.word1[:40], *found.word2[:40])]
    return [rng.choice(words, size=20).tolist() for _ in range(60)]


@pytest.fixture(autouse=True)
def a_little_text(monkeypatch):
    monkeypatch.delenv("LESSONS_GLOVE_C", raising=False)
    monkeypatch.setattr(words_glove, "corpus_of", lambda tokens: Corpus.from_tokens(graded_words()))


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    if os.name != "posix":
        pytest.skip("stand-ins are scripts, which only POSIX systems run")
    (tmp_path / "build").mkdir()
    for name in words_glove.NAMES:
        write_text(tmp_path / "build" / name, STAND_IN.format(python=sys.executable, name=name))
        (tmp_path / "build" / name).chmod(0o755)
    monkeypatch.setenv("LESSONS_GLOVE_C", str(tmp_path))
    monkeypatch.setenv("LOSS", "1000")
    monkeypatch.setattr("lessons_lib.bench.word_scores.LEAST", 200.0)
    return tmp_path / "build"


def test_absent_programs_are_said_with_where_to_get_them(tmp_path, monkeypatch):
    with pytest.raises(PeerMissing, match="LESSONS_GLOVE_C is not set.*stanfordnlp/GloVe"):
        programs(tmp_path / "text.txt")
    monkeypatch.setenv("LESSONS_GLOVE_C", str(tmp_path))
    with pytest.raises(PeerMissing, match="does not hold vocab_count"):
        programs(tmp_path / "text.txt")


def test_rows_without_the_programs_say_why_they_have_no_figure():
    rows = [measure(case, repeats=1) for case in cases(sizes=SMALL)]
    assert len(rows) == 2 and all(row.value is None and "skipped: LESSONS_GLOVE_C is not set" in row.note for row in rows)


def test_both_sides_count_the_same(stand_ins):
    races = cases(sizes=SMALL)
    case = next(races)
    found, expected = case.ours(), case.theirs()
    assert case.equal(found, expected)
    assert case.items == found.n_tokens and "15" not in case.name.split(",")[1]
    records = np.fromfile(expected.file("counts.bin"), dtype=RECORD)
    records["value"][7] *= 1 + 1e-5
    records.tofile(expected.file("counts.bin"))
    assert not case.equal(found, expected)
    records[:-1].tofile(expected.file("counts.bin"))
    assert not case.equal(found, expected)


def test_counts_are_the_same_where_their_words_have_other_numbers(stand_ins):
    corpus = Corpus.from_tokens([["a", "b", "c", "b"], ["c", "a"]])
    with text_file(corpus) as text:
        theirs = programs(text)
        write_text(theirs.file("vocab.txt"), "c 2\na 2\nb 2\n")
        assert words_glove._same_counts(corpus, Cooccurrences.from_corpus(corpus, 3), theirs.counted(3))


def test_learning_is_judged_by_its_loss_and_by_its_vectors(stand_ins, monkeypatch):
    learning = [measure(case, repeats=1) for case in cases(sizes=SMALL) if "AdaGrad" in case.name]
    row = learning[0]
    assert row.quality.startswith("loss 0.") and row.peer_quality.startswith("loss 500.00000, WordSim-353 ")
    monkeypatch.setenv("LOSS", "0.00001")
    with pytest.raises(ValueError, match=r"ours loss 0\.\d+, WordSim.*; theirs loss 0\.0000"):
        for case in cases(sizes=SMALL):
            measure(case, repeats=1)


def test_a_program_that_fails_says_so(stand_ins, monkeypatch):
    monkeypatch.setenv("STAND_IN", "-fail")
    with text_file(Corpus.from_tokens([["a"]])) as text, pytest.raises(RuntimeError, match="glove ended with 1: no such option"):
        programs(text).run("glove")


def test_the_part_is_asked_by_the_group():
    assert "words_glove" in words.PARTS
