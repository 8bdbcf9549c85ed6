"""`load`: every name, from a real folder (marked data), from a fake one, from gensim's wheel; the
records it gives; and the words said when something is not there."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.datasets import (
    Analogies, ContextualStatistics, Documents, LabelledPairs, SentencePairs, SpaceStatistics,
    StreamedDocuments, Triplets, WordCounts, WordPairs, WordPieces, dataset_names, load, registered,
    resolve)
from lessons_lib.datasets.loading import LOADERS, _model_folder, _Request
from lessons_lib.datasets.registry import safe_path
from lessons_lib.vectors import WordVectors

PAIRS = "score\tsentence1\tsentence2\tsubset\n4.5\tA cat.\tOne cat.\tx\n0\tA dog.\tRain.\ty\n"
WORDS = ("dataset\tword1\tword2\tscore\nWS353\ta\tb\t5\n"
         "SimVerb-3500\tgo\twalk\t7\nMEN\tsun\tsky\t40\n")
REAL = {
    SentencePairs: {"stsb": 1379, "stsb-zh": 1379, "sts12": 3108, "sts13": 1500, "sts14": 3750,
                    "sts15": 3000, "sts16": 1186},
    LabelledPairs: {"zh-pairs": 93442, "nli-pairs": 30996}, Triplets: {"nli": 8831},
    StreamedDocuments: {"wiki": 21511, "wiki-sentences": 249855},
    Documents: {"20newsgroups": 18846, "agnews": 15600, "bbc": 2225, "imdb": 50000,
                "senteval": 62456},
    WordPairs: {"wordsim353": 353, "wordsim353-sim": 203, "wordsim353-rel": 252, "simlex999": 999,
                "men": 3000, "rg65": 65, "mc30": 30, "rareword": 2034, "mturk287": 287},
    WordCounts: {"enwiki-frequencies": 188033}, WordVectors: {"glove-sample": 11925},
    ContextualStatistics: {"contextual-statistics": 410225},
    SpaceStatistics: {"embedding-space": 3}, WordPieces: {"bert-vocabulary": 30522}}
PROMISED = {"sick", "course-sts", "course-nli", "course-questions", "wikipedia-sample", "lee",
            "analogies", "course-vectors", "course-frequencies",
            *(name for kind in REAL for name in REAL[kind])}


def test_every_promised_name_is_registered_with_a_loader_and_a_licence():
    assert set(dataset_names()) >= PROMISED
    for name in dataset_names():
        d = registered(name)
        assert d.kind in LOADERS and d.licence and d.origin and len(d.description) > 20, name
        assert d.default in (*d.splits, "all") and (d.files or d.bundled or d.packaged), name
        every = (*d.files, *d.packaged)
        sums = [(len(file.sha256), bool(file.bytes)) for file in every]
        assert set(sums) <= {(0, False), (64, True)}, name
        assert all(safe_path(file.path) == file.path for file in every), name


@pytest.mark.data
@pytest.mark.parametrize("name, split, size, kind", [
    *((name, None, size, kind) for kind, sizes in REAL.items() for name, size in sizes.items()),
    *((name, split, size, object) for name, split, size in [
        ("stsb", "train", 5749), ("stsb", "dev", 1500), ("stsb", "all", 8628),
        ("stsb-zh", "train", 5749), ("sick", "train", 4500), ("sick", "dev", 500),
        ("20newsgroups", "train", 11314), ("imdb", "test", 25000), ("agnews", "test", 7600),
        ("nli", "train", 1712)])])
def test_every_real_dataset_and_split_has_its_documented_size(
        lessons_data, name, split, size, kind):
    record = load(name, split=split)
    assert len(record) == size and isinstance(record, kind) and record.name == name
    assert split is None or record.split == split


@pytest.mark.data
def test_filters_choose_one_set_of_a_real_table(lessons_data):
    lcqmc = load("zh-pairs", "test", dataset="LCQMC")
    assert len(lcqmc) == 12500 and set(lcqmc.dataset) == {"LCQMC"} and lcqmc.label.dtype == np.int64
    ocnli = load("zh-pairs", dataset="OCNLI")
    assert set(ocnli.label) == {"contradiction", "entailment", "neutral"}
    reviews = load("senteval", task="MR")
    assert len(reviews) == 10662 and reviews.labels.mean() == 0.5
    assert reviews.label_names == ("0", "1")
    assert len(load("nli", source="cad")) == 2327
    assert len(load("nli-pairs", dataset="snli_cad")) == 11330
    assert set(load("nli-pairs", split="train").dataset) == {"snli_cad"}
    bert = load("contextual-statistics", model="bert", statistic="self_similarity")
    assert len(bert) == 8159 * 13 and set(bert.layer) == set(range(13))


@pytest.mark.data
def test_real_sets_hold_what_their_papers_say(lessons_data):
    subset = load("sts12").subset
    sizes = {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "OnWN": 750, "SMTnews": 399}
    assert {name: subset.count(name) for name in set(subset)} == sizes
    news = load("20newsgroups", "test")
    assert news[0].startswith("From: ") and news[0].count("\n") > 10 and "\\n" not in news[0][:200]
    assert len(news.label_names) == 20 and news.titles[0].startswith("Re:")
    counts = load("enwiki-frequencies")
    assert counts.words[0] == "the" and counts.total == 3_484_135_472
    assert np.all(np.diff(counts.counts) <= 0)
    glove = load("glove-sample")
    assert glove.matrix.shape == (11925, 25) and glove.tokens[:2] == ["the", "of"]
    space = load("embedding-space").values["bert"]
    assert space["mean cosine similarity across words"].shape == (13,)
    assert load("bert-vocabulary").pieces[101] == "[CLS]"


@pytest.mark.data
def test_a_real_shard_streams_as_often_as_wanted(lessons_data):
    shard = load("wiki", shards=[0])
    first, again = shard.take(3), shard.take(3)
    assert len(shard) == 4227 and first.texts == again.texts
    assert "\n" in first[0] and "\n\n" not in first[0]
    assert len(load("wiki", shards=[1, 0])) == 4227 + 4358


@pytest.mark.data
@pytest.mark.parametrize("name", ["wordsim353", "simlex999"])
def test_the_wheel_and_the_data_folder_hold_the_same_pairs(lessons_data, monkeypatch, name):
    def rows() -> list[tuple]:
        pairs = load(name)
        words = (map(str.lower, pairs.word1), map(str.lower, pairs.word2))
        return sorted(zip(*words, pairs.score.tolist(), strict=True))

    real = rows()
    monkeypatch.delenv("LESSONS_DATA")
    assert rows() == real


@pytest.mark.data
def test_F19_the_missing_sick_test_split_names_those_that_are_here(lessons_data):
    if (lessons_data / "sts" / "sick_test.tsv").exists():
        assert len(load("sick", "test")) > 4000
    else:
        why = r"sick \(split 'test'\) is not on this machine. Splits that are here: 'train', 'dev'"
        with pytest.raises(DataMissing, match=why):
            load("sick", split="test")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_the_course_sets_load_from_the_project(no_data, split):
    pairs, triplets = load("course-sts", split), load("course-nli", split)
    assert len(pairs) >= 100 and pairs.split == split and pairs.score.max() > 4
    assert len(triplets) >= 100
    assert set(pairs.columns) & set(triplets.columns) >= {"kind", "topic"}
    assert (load("course-sts").split, load("course-nli").split) == ("test", "train")


def test_lee_has_300_background_and_50_compared_documents(no_data):
    background, compared = load("lee"), load("lee", "test")
    assert (len(background), len(compared), len(load("lee", "all"))) == (300, 50, 350)
    assert background[0].startswith("Hundreds of people have been forced to vacate their homes in")
    assert any("£3,000" in text for text in compared)  # this file is Latin-1


def test_word_pairs_and_analogies_have_their_published_sizes(no_data):
    words, lex, analogies = load("wordsim353"), load("simlex999"), load("analogies")
    assert (len(words), words.word1[1], words.word2[1]) == (353, "tiger", "cat")
    assert (len(lex), lex.word1[0], lex.word2[0]) == (999, "old", "new")
    assert (words.score[1], lex.score[0]) == (7.35, 1.58)
    assert isinstance(analogies, Analogies) and analogies.questions.shape == (19544, 4)
    assert len(set(analogies.section)) == 14
    assert analogies.questions[0].tolist() == ["Athens", "Greece", "Baghdad", "Iraq"]


@pytest.mark.parametrize("name, why", [
    ("lee", r"lee is not on this machine.(.|\n)*It comes with gensim"),
    ("wordsim353", "lessons data get wordsim353")])
def test_F19_without_gensim_the_error_says_where_it_comes_from(no_data, monkeypatch, name, why):
    monkeypatch.setattr(resolve, "_gensim_folder", lambda: None)
    with pytest.raises(DataMissing, match=why):
        load(name)


def test_files_of_the_known_layout_load_when_they_appear(fake_data):
    fake_data("sts/sick_test.tsv", "score\tsentence1\tsentence2\tentailment\n1\ta\tb\tneutral\n")
    sick = load("sick", split="test")
    assert sick.scale == (1, 5) and sick.columns == {"entailment": ["neutral"]}
    assert sick.subset is None
    fake_data("sts/sts12.tsv", PAIRS)  # not the registered bytes: the folder is the user's
    assert load("sts12").subset == ["x", "y"] and load("sts12").score.tolist() == [4.5, 0]
    assert load("course-sts").name == "course-sts"  # a folder without the file is passed over


def test_further_sets_of_the_word_table_load_by_their_label(fake_data):
    assert len(load("wordsim353")) == 353
    fake_data("words/wordsim.tsv.gz", WORDS)
    verbs = load("word-similarity", dataset="simverb3500")
    assert (verbs.word1, verbs.word2, verbs.score.tolist()) == (["go"], ["walk"], [7.0])
    assert verbs.name == "SimVerb-3500" and load("men").scale == (0, 50)
    assert len(load("wordsim353")) == 1  # LESSONS_DATA comes before gensim's wheel


def test_further_shards_load_when_they_appear_and_streams_skip_empty_lines(fake_data):
    fake_data("wiki/enwiki_7.txt.bz2", "One.\nTwo.\n\nThree.\n\n\nFour.")
    shard = load("wiki", shards=[7])
    assert list(shard) == ["One.\nTwo.", "Three.", "Four."] == list(shard.texts)
    assert len(shard) == 3 and shard.labels is None
    assert shard.take(2).texts == ["One.\nTwo.", "Three."]
    fake_data("wiki/wiki_sentences_250k.txt.bz2", "One here.\n\nTwo there.\n")
    lines = load("wiki-sentences")
    assert list(lines) == ["One here.", "Two there."] and len(lines) == 2


def test_escaped_newsgroup_posts_get_their_lines_back(fake_data):
    row = "train\tsci.med\t7\tRe: x\ta\\nb \\\\n c\\\\\\nd \\q\n"
    header = "split\tlabel\tid\tsubject\ttext_escaped\n"
    fake_data("topics/20newsgroups_bydate.tsv.xz", header + row)
    news = load("20newsgroups", "train")
    assert news[0] == "a\nb \\n c\\\nd \\q" and news.titles == ["Re: x"]
    assert news.columns["id"] == ["7"]


def test_tasks_share_no_labels(fake_data):
    rows = "MR\tall\t1\tgood\nCR\tall\t1\tfine\nTREC\ttest\tHUM\twho ?\n"
    fake_data("classify/senteval_small.tsv.gz", "task\tsplit\tlabel\ttext\n" + rows)
    assert load("senteval").label_names == ("CR/1", "MR/1", "TREC/HUM")
    assert load("senteval", task="MR").label_names == ("1",)
    assert load("senteval", "test", task="TREC").texts == ["who ?"]


def test_a_model_whose_files_lie_in_two_places_is_not_read(tmp_path):
    paths = tmp_path / "a" / "config.json", tmp_path / "b" / "model.safetensors"
    with pytest.raises(DataMissing, match="lesson-bert lie in 2 folders"):
        _model_folder(_Request(registered("lesson-bert"), paths, "all", {}))


def _npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


GOOD = _npz(words=np.array([b"a", b"b"]), vectors=np.ones((2, 3), dtype=np.float16))
OBJECTS = np.array([{"a": 1}], dtype=object)


@pytest.mark.parametrize("data, message", [
    (b"", "no whole .npz file"), (b"<html>", "no whole .npz"), (GOOD[:-40], "no whole .npz file"),
    (GOOD.replace(b"(2, 3)", b"(9, 3)"), "no whole .npz file|promises"),
    (_npz(words=np.array([b"a"])), "has no array 'vectors'"),
    (_npz(words=np.array([b"\xff"]), vectors=np.ones((1, 2))), "no UTF-8 bytes"),
    (_npz(words=np.array(["a"]), vectors=np.ones((1, 2))), "no UTF-8 bytes"),
    (_npz(words=np.array([b"a", b"a"]), vectors=np.ones((2, 2))), "'a' twice"),
    (_npz(words=np.array([b"a"]), vectors=np.ones((2, 2))), "2, 2.*1 tokens"),
    (_npz(words=OBJECTS, vectors=np.ones((1, 2))), "bytes of object")])  # F06: never read
def test_F03_F06_F07_what_is_no_whole_npz_says_so(fake_data, data, message):
    fake_data("words/glove_twitter_25d_12k.npz", data)
    with pytest.raises(DamagedFile, match=message):
        load("glove-sample")


def test_F19_missing_data_is_answered_at_once_with_the_command(no_data, tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was asked"))
    with pytest.raises(DataMissing) as caught:
        load("agnews")
    words = ["agnews is not on this machine (1.2 MB)", "nowhere (no such folder)", "data",
             "lessons data get agnews", "LESSONS_DATA"]
    assert all(word in str(caught.value) for word in words)
    assert str(caught.value).count("\n") <= 2


def test_loading_needs_no_heavy_package():
    names = ("course-sts", "course-nli", "lee", "wordsim353", "simlex999", "analogies")
    code = (f"import sys, lessons_lib as ll; [ll.datasets.load(n) for n in {names}];"
            "heavy = {'torch', 'sklearn', 'pandas', 'gensim', 'scipy'};"
            "print(sorted(heavy & set(sys.modules)))")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


THREE = SentencePairs(["a", "b", "c"], ["d", "e", "f"], [0, 2.5, 5], subset=["x", "x", "y"],
                      columns={"kind": ["1", "2", "3"]})


@pytest.mark.parametrize("rows, kept", [
    ([2, 0], [2, 0]), (np.array([2, 0]), [2, 0]), (slice(2, None, -2), [2, 0]), ([], []),
    (np.array([True, False, True]), [0, 2])])
def test_select_keeps_the_chosen_rows_of_every_column(rows, kept):
    part = THREE.select(rows)
    assert part.sentence1 == [THREE.sentence1[i] for i in kept] and len(part) == len(kept)
    assert part.subset == [THREE.subset[i] for i in kept]
    assert part.columns == {"kind": [THREE.columns["kind"][i] for i in kept]}
    assert part.score.tolist() == [THREE.score[i] for i in kept] and part.score.dtype == np.float64


def test_records_do_not_change_and_documents_are_a_sequence_of_str():
    with pytest.raises(dataclasses.FrozenInstanceError):
        THREE.name = "other"
    mine = np.array([1.0])
    assert not WordPairs(["a"], ["b"], mine).score.flags.writeable
    mine[0] = 2.0  # the caller's own array stays the caller's
    documents = Documents(["x", "y", "z"], labels=[0, 1, 0], label_names=("no", "yes"))
    assert list(documents) == ["x", "y", "z"] and len(documents) == 3
    assert documents[1] == "y" and documents[1:] == ["y", "z"]
    part = documents.select([1])
    assert part.labels.tolist() == [1] and part.label_names == ("no", "yes")
    counts = WordCounts(["a", "b"], [3, 1])
    assert counts.total == 4 and counts.probability.tolist() == [0.75, 0.25]
