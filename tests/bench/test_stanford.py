"""The races beside GloVe's own programs: stand-ins write files of their format, so the gates are
seen to hold and to fail without a C compiler."""

from __future__ import annotations

import os
import sys
from itertools import chain

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, words
from lessons_lib.bench.measure import measure
from lessons_lib.bench.peers.stanford import NAMES, RECORD, programs, same_counts
from lessons_lib.bench.texts import text_file
from lessons_lib.core import write_text
from lessons_lib.counts import Cooccurrences
from lessons_lib.datasets import load
from lessons_lib.text import Corpus

# What the programs do, slowly; shuffle copies, and glove trains nothing: it tells a loss and writes
# vectors.
STAND_IN = """#!{python}
import math, os, struct, sys
from collections import Counter
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "{name}" == "shuffle":
    sys.stdout.buffer.write(sys.stdin.buffer.read())
elif "{name}" == "glove":
    if "-fail" in os.environ.get("STAND_IN", ""):
        sys.exit("no such option")
    with open(given["-save-file"] + ".txt", "w") as file:
        for i, line in enumerate(open(given["-vocab-file"])):
            numbers = (str(math.sin(i * k)) for k in range(1, 1 + int(given["-vector-size"])))
            file.write(" ".join([line.split()[0], *numbers]) + "\\n")
    for i in (1, 2):
        print(f"iter: 00{{i}}, cost: {{float(os.environ['LOSS']) / i:f}}", file=sys.stderr)
else:
    lines = [line.split() for line in sys.stdin.buffer.read().decode().splitlines()]
    counts = Counter()
    if "{name}" == "vocab_count":
        counts.update(w for line in lines for w in line)
        for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            print(word, n)
        sys.exit()
    number = {{line.split()[0]: i for i, line in enumerate(open(given["-vocab-file"]), 1)}}
    for line in lines:
        ids = [number[w] for w in line]
        for d in range(1, int(given["-window-size"]) + 1):
            for a, b in zip(ids, ids[d:]):
                counts[a, b] += 1 / d
                counts[b, a] += 1 / d
    records = (struct.pack("<iid", a, b, x) for (a, b), x in sorted(counts.items()))
    sys.stdout.buffer.write(b"".join(records))
"""


def cases():
    small = {"tokens": 0, "window": 4, "threads": (1,), "goal": 0.0}
    return chain(words.counting_cases(**small), words.glove_cases(**small, dim=8, epochs=2))


@pytest.fixture(autouse=True)
def a_little_text_of_words_that_people_have_graded(monkeypatch):
    rng, pairs = np.random.default_rng(0), [load(name) for name in ("wordsim353", "simlex999")]
    graded = [word.lower() for both in pairs for word in (*both.word1[:40], *both.word2[:40])]
    documents = [rng.choice(graded, size=20).tolist() for _ in range(60)]
    monkeypatch.delenv("LESSONS_GLOVE_C", raising=False)
    monkeypatch.setattr(words, "corpus_of", lambda tokens: Corpus.from_tokens(documents))


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    if os.name != "posix":
        pytest.skip("stand-ins are scripts, which only POSIX systems run")
    (tmp_path / "build").mkdir()
    for name in NAMES:
        path = tmp_path / "build" / name
        write_text(path, STAND_IN.format(python=sys.executable, name=name))
        path.chmod(0o755)
    monkeypatch.setenv("LESSONS_GLOVE_C", str(tmp_path))
    monkeypatch.setenv("LOSS", "1000")
    monkeypatch.setattr("lessons_lib.bench.gates.LEAST", 200.0)


def test_absent_programs_are_said_with_where_to_get_them(tmp_path, monkeypatch):
    with pytest.raises(PeerMissing, match="LESSONS_GLOVE_C is not set.*stanfordnlp/GloVe"):
        programs(tmp_path / "text.txt")
    rows = [measure(case, repeats=1) for case in cases()]
    assert [row.value for row in rows] == [None, None]
    assert all("skipped: LESSONS_GLOVE_C is not set" in row.note for row in rows)
    monkeypatch.setenv("LESSONS_GLOVE_C", str(tmp_path))
    with pytest.raises(PeerMissing, match="does not hold vocab_count"):
        programs(tmp_path / "text.txt")


def test_both_sides_count_the_same_and_the_gate_sees_another_count_or_one_less(stand_ins):
    races = cases()                             # holds the file
    case = next(races)
    ours, theirs = case.ours(), case.theirs()
    assert case.equal(ours, theirs) and case.items == ours.n_tokens and "window 4" in case.name
    path = theirs.file("counts.bin")
    records = np.fromfile(path, dtype=RECORD)
    records["value"][7] *= 1 + 1e-5
    for wrong in (records, records[:-1]):
        wrong.tofile(path)
        assert not case.equal(ours, theirs)


def test_counts_are_the_same_where_words_have_other_numbers_and_a_failing_program_says_so(
        stand_ins, monkeypatch):
    corpus = Corpus.from_tokens([["a", "b", "c", "b"], ["c", "a"]])
    with text_file(corpus) as text:
        theirs = programs(text)
        write_text(theirs.file("vocab.txt"), "c 2\na 2\nb 2\n")
        assert same_counts(corpus, Cooccurrences.from_corpus(corpus, 3), theirs.counted(3))
        monkeypatch.setenv("STAND_IN", "-fail")
        with pytest.raises(RuntimeError, match="glove ended with 1: no such option"):
            theirs.run("glove")


def test_learning_is_judged_by_its_loss_and_by_its_vectors(stand_ins, monkeypatch):
    _, row = (measure(case, repeats=1) for case in cases())
    assert row.quality.startswith("loss 0.")
    assert row.peer_quality.startswith("loss 500.00000, WordSim-353 ")
    monkeypatch.setenv("LOSS", "0.00001")
    _, row = (measure(case, repeats=1) for case in cases())
    assert row.met is False and row.value is None and row.peer_quality.startswith("loss 0.0000")
