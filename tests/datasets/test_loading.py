"""`load`: every name, from a real folder (marked data), from a fake one, and the words said when something is not there."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.datasets import (Analogies, ContextualStatistics, Documents, LabelledPairs, SentencePairs, SpaceStatistics, StreamedDocuments,
                                  Triplets, WordCounts, WordPairs, WordPieces, load)
from lessons_lib.vectors import WordVectors

PAIRS = "score\tsentence1\tsentence2\tsubset\n4.5\tA cat.\tOne cat.\tx\n0\tA dog.\tRain.\ty\n"
WORDS = "dataset\tword1\tword2\tscore\nWS353\ta\tb\t5\nSimVerb-3500\tgo\twalk\t7\nMEN\tsun\tsky\t40\n"

SIZES = {"stsb": 1379, "stsb-zh": 1379, "sts12": 3108, "sts13": 1500, "sts14": 3750, "sts15": 3000, "sts16": 1186, "zh-pairs": 93442, "nli": 8831,
         "nli-pairs": 30996, "wiki": 21511, "wiki-sentences": 249855, "20newsgroups": 18846, "agnews": 15600, "bbc": 2225, "imdb": 50000,
         "senteval": 62456, "wordsim353": 353, "wordsim353-sim": 203, "wordsim353-rel": 252, "simlex999": 999, "men": 3000, "rg65": 65, "mc30": 30,
         "rareword": 2034, "mturk287": 287, "enwiki-frequencies": 188033, "glove-sample": 11925, "contextual-statistics": 410225,
         "embedding-space": 3, "bert-vocabulary": 30522}
KINDS = {"sts": SentencePairs, "zh": LabelledPairs, "nli": Triplets, "nli-pairs": LabelledPairs, "wiki": StreamedDocuments, "20": Documents,
         "agnews": Documents, "bbc": Documents, "imdb": Documents, "senteval": Documents, "enwiki": WordCounts, "glove": WordVectors,
         "contextual": ContextualStatistics, "embedding": SpaceStatistics, "bert": WordPieces}


# ------------------------------------------------------------------------------------------------ the real folder


@pytest.mark.data
@pytest.mark.parametrize("name, size", SIZES.items())
def test_every_real_dataset_loads_with_its_documented_size(lessons_data, name, size):
    record = load(name)
    longest = max((prefix for prefix in KINDS if name.startswith(prefix)), key=len, default="")
    assert len(record) == size and isinstance(record, KINDS.get(longest, WordPairs)) and record.name == name


@pytest.mark.data
@pytest.mark.parametrize("name, split, size", [("stsb", "train", 5749), ("stsb", "dev", 1500), ("stsb", "all", 8628), ("stsb-zh", "train", 5749),
                                               ("sick", "train", 4500), ("sick", "dev", 500), ("20newsgroups", "train", 11314),
                                               ("imdb", "test", 25000), ("agnews", "test", 7600),
                                               ("nli", "train", 1712), ("nli-pairs", "train", None)])
def test_every_real_split_has_its_documented_size(lessons_data, name, split, size):
    record = load(name, split=split)
    assert record.split == split and (len(record) == size if size else set(record.dataset) == {"snli_cad"})


@pytest.mark.data
def test_filters_choose_one_set_of_a_real_table(lessons_data):
    lcqmc = load("zh-pairs", "test", dataset="LCQMC")
    assert len(lcqmc) == 12500 and set(lcqmc.dataset) == {"LCQMC"} and lcqmc.label.dtype == np.int64
    assert set(load("zh-pairs", dataset="OCNLI").label) == {"contradiction", "entailment", "neutral"}
    reviews = load("senteval", task="MR")
    assert len(reviews) == 10662 and reviews.label_names == ("0", "1") and reviews.labels.mean() == 0.5
    assert len(load("nli", source="cad")) == 2327 and len(load("nli-pairs", dataset="snli_cad")) == 11330
    bert = load("contextual-statistics", model="bert", statistic="self_similarity")
    assert len(bert) == 8159 * 13 and set(bert.layer) == set(range(13))


@pytest.mark.data
def test_sts12_keeps_its_subsets(lessons_data):
    subset = load("sts12").subset
    assert {name: subset.count(name) for name in set(subset)} == {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "OnWN": 750, "SMTnews": 399}


@pytest.mark.data
def test_real_newsgroups_have_lines_and_subjects(lessons_data):
    news = load("20newsgroups", "test")
    first = news[0]
    assert first.startswith("From: ") and first.count("\n") > 10 and "\\n" not in first[:200]
    assert len(news.label_names) == 20 and news.titles[0].startswith("Re:")


@pytest.mark.data
def test_a_real_shard_streams_as_often_as_wanted(lessons_data):
    shard = load("wiki", shards=[0])
    first, again = shard.take(3), shard.take(3)
    assert len(shard) == 4227 and first.texts == again.texts and "\n" in first[0] and "\n\n" not in first[0]
    assert len(load("wiki", shards=[1, 0])) == 4227 + 4358


@pytest.mark.data
def test_real_frequencies_and_vectors_hold_what_their_papers_say(lessons_data):
    counts = load("enwiki-frequencies")
    assert counts.words[0] == "the" and counts.total == 3_484_135_472 and np.all(np.diff(counts.counts) <= 0)
    glove = load("glove-sample")
    assert glove.matrix.shape == (11925, 25) and glove.tokens[:2] == ["the", "of"]
    assert load("embedding-space").values["bert"]["mean cosine similarity across words"].shape == (13,)
    assert load("bert-vocabulary").pieces[101] == "[CLS]"


def _rows(pairs):
    return sorted(zip(map(str.lower, pairs.word1), map(str.lower, pairs.word2), pairs.score.tolist(), strict=True))


@pytest.mark.data
def test_the_wheel_and_the_data_folder_hold_the_same_pairs(lessons_data, monkeypatch):
    for name in ("wordsim353", "simlex999"):
        monkeypatch.setenv("LESSONS_DATA", str(lessons_data))
        real = load(name)
        monkeypatch.delenv("LESSONS_DATA")
        shipped = load(name)
        assert _rows(real) == _rows(shipped)


@pytest.mark.data
def test_F19_the_missing_sick_test_split_names_those_that_are_here(lessons_data):
    if (lessons_data / "sts" / "sick_test.tsv").exists():
        assert len(load("sick", "test")) > 4000
    else:
        with pytest.raises(DataMissing, match=r"sick \(split 'test'\) is not on this machine. Splits that are here: 'train', 'dev'"):
            load("sick", split="test")


# ------------------------------------------------------------------------------------------------ the course's own sets


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_the_course_sets_load_from_the_project(no_data, split):
    pairs, triplets = load("course-sts", split), load("course-nli", split)
    assert len(pairs) >= 100 and pairs.split == split and set(pairs.columns) >= {"kind", "topic"} and pairs.score.max() > 4
    assert len(triplets) >= 100 and set(triplets.columns) >= {"kind", "topic"}


def test_graded_pairs_default_to_their_test_split(no_data):
    assert load("course-sts").split == "test" and len(load("course-sts", "all")) >= 600 and load("course-nli").split == "train"


# ------------------------------------------------------------------------------------------------ a fake folder


def test_files_of_the_known_layout_load_when_they_appear(fake_data):
    fake_data("sts/sick_test.tsv", "score\tsentence1\tsentence2\tentailment\n1\ta\tb\tneutral\n")
    sick = load("sick", split="test")
    assert sick.scale == (1, 5) and sick.columns == {"entailment": ["neutral"]} and sick.subset is None
    fake_data("sts/sts12.tsv", PAIRS)                             # not the registered bytes: the folder is the user's
    assert load("sts12").subset == ["x", "y"] and load("sts12").score.tolist() == [4.5, 0]


def test_further_sets_of_the_word_table_load_by_their_label(fake_data):
    fake_data("words/wordsim.tsv.gz", WORDS)
    verbs = load("word-similarity", dataset="simverb3500")
    assert (verbs.word1, verbs.word2, verbs.score.tolist(), verbs.name) == (["go"], ["walk"], [7.0], "SimVerb-3500")
    assert load("men").scale == (0, 50) and len(load("wordsim353")) == 1          # LESSONS_DATA comes before gensim's wheel
    with pytest.raises(ValueError, match="dataset='simverb' is unknown. Did you mean 'SimVerb-3500'"):
        load("word-similarity", dataset="simverb")
    with pytest.raises(ValueError, match="choose one: 'WS353', 'SimVerb-3500', 'MEN'"):
        load("word-similarity")
    with pytest.raises(DataMissing, match=r"rg65 is not in .*Sets that are there: WS353, SimVerb-3500, MEN"):
        load("rg65")


def test_further_shards_load_when_they_appear(fake_data):
    fake_data("wiki/enwiki_7.txt.bz2", "One.\nTwo.\n\nThree.\n\n\nFour.")
    shard = load("wiki", shards=[7])
    assert list(shard) == ["One.\nTwo.", "Three.", "Four."] and list(shard) == list(shard.texts)
    assert len(shard) == 3 and shard.take(2).texts == ["One.\nTwo.", "Three."] and shard.labels is None


def test_streamed_lines_skip_empty_ones(fake_data):
    fake_data("wiki/wiki_sentences_250k.txt.bz2", "One here.\n\nTwo there.\n")
    assert list(load("wiki-sentences")) == ["One here.", "Two there."] and len(load("wiki-sentences")) == 2


def test_escaped_newsgroup_posts_get_their_lines_back(fake_data):
    fake_data("topics/20newsgroups_bydate.tsv.xz", "split\tlabel\tid\tsubject\ttext_escaped\ntrain\tsci.med\t7\tRe: x\ta\\nb \\\\n c\\\\\\nd \\q\n")
    news = load("20newsgroups", "train")
    assert news[0] == "a\nb \\n c\\\nd \\q" and news.titles == ["Re: x"] and news.columns["id"] == ["7"]


def test_tasks_share_no_labels(fake_data):
    fake_data("classify/senteval_small.tsv.gz", "task\tsplit\tlabel\ttext\nMR\tall\t1\tgood\nCR\tall\t1\tfine\nTREC\ttest\tHUM\twho ?\n")
    assert load("senteval").label_names == ("CR/1", "MR/1", "TREC/HUM")
    assert load("senteval", task="MR").label_names == ("1",) and load("senteval", "test", task="TREC").texts == ["who ?"]
    with pytest.raises(DataMissing, match=r"senteval, task='MR' has no rows with split='test' in .*; splits that are there: 'all'"):
        load("senteval", "test", task="MR")


def test_a_folder_without_the_file_is_passed_over(fake_data):
    fake_data("sts/sts13.tsv", PAIRS)
    assert len(load("wordsim353")) == 353 and load("course-sts").name == "course-sts"


def _npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


GOOD = _npz(words=np.array([b"a", b"b"]), vectors=np.ones((2, 3), dtype=np.float16))


@pytest.mark.parametrize("data, message", [
    (b"", "no whole .npz file"), (b"<html>", "no whole .npz file"), (GOOD[:-40], "no whole .npz file"),
    (_npz(words=np.array([b"a"])), "has no array 'vectors'"),
    (GOOD.replace(b"(2, 3)", b"(9, 3)"), "no whole .npz file|promises"), (_npz(words=np.array([b"\xff"]), vectors=np.ones((1, 2))), "no UTF-8 bytes"),
    (_npz(words=np.array(["a"]), vectors=np.ones((1, 2))), "no UTF-8 bytes"),
    (_npz(words=np.array([b"a", b"a"]), vectors=np.ones((2, 2))), "'a' twice"),
    (_npz(words=np.array([b"a"]), vectors=np.ones((2, 2))), "2, 2.*1 tokens")])
def test_F03_F07_what_is_no_whole_npz_says_so(fake_data, data, message):
    fake_data("words/glove_twitter_25d_12k.npz", "").write_bytes(data)
    with pytest.raises(DamagedFile, match=message):
        load("glove-sample")


def test_F06_an_array_of_objects_is_never_read(fake_data):
    objects = np.empty(1, dtype=object)
    objects[0] = {"a": 1}
    fake_data("words/glove_twitter_25d_12k.npz", "").write_bytes(_npz(words=objects, vectors=np.ones((1, 2))))
    with pytest.raises(DamagedFile, match="bytes of object"):
        load("glove-sample")


def test_F14_a_damaged_table_names_file_and_line(fake_data):
    fake_data("sts/sts12.tsv", PAIRS + "3\tonly two\n")
    with pytest.raises(ValueError, match=r"sts12\.tsv, line 4: 2 fields"):
        load("sts12")


def test_F08_a_grade_outside_the_scale_is_refused(fake_data):
    fake_data("sts/sts12.tsv", PAIRS.replace("4.5", "45"))
    with pytest.raises(ValueError, match="outside the scale of sts12; expected 0 to 5"):
        load("sts12")


def test_F03_json_of_another_form_says_so(fake_data):
    fake_data("anisotropy/embedding_space_stats.json", '{"bert": {"x": {"layer_1": 0.5}}}')
    with pytest.raises(DamagedFile, match="is not model → statistic → layer_0"):
        load("embedding-space")


# ------------------------------------------------------------------------------------------------ arguments, and what is missing


@pytest.mark.parametrize("arguments, error, message", [
    ({"name": "agnews2"}, ValueError, "Did you mean 'agnews'"), ({"name": "stsb", "split": "tests"}, ValueError, "Did you mean 'test'"),
    ({"name": "stsb", "split": 3}, ValueError, "split=3 is unknown"),
    ({"name": "senteval", "tasks": "MR"}, TypeError, "did you mean 'task'"),
    ({"name": "stsb", "task": "MR"}, TypeError, r"load\('stsb'\) has no argument 'task'"),
    ({"name": "senteval", "task": 3}, TypeError, "expected a str"),
    ({"name": "wiki", "shards": 0}, TypeError, "expected a list of shard numbers"), ({"name": "wiki", "shards": []}, TypeError, "shards"),
    ({"name": "wiki", "shards": [-1]}, ValueError, r"shards\[0\]=-1 is out of range"), ({"name": "wiki", "shards": [1.5]}, TypeError, r"shards\[0\]"),
    ({"name": "wiki", "shards": [0, 0]}, ValueError, "names a shard twice"), ({"name": "wiki", "shards": "0"}, TypeError, "shards='0'"),
    ({"name": "course-vectors", "split": "glove"}, ValueError, "split='glove' is not possible.*choose model='skip-gram' or 'glove'"),
    ({"name": "course-vectors", "model": "skipgram"}, ValueError, "model='skipgram' is unknown. Did you mean 'skip-gram'"),
    ({"name": "course-vectors", "model": 3}, TypeError, "model=3 is int")])
def test_P26_P27_wrong_arguments_are_answered_before_any_file_is_opened(no_data, arguments, error, message):
    with pytest.raises(error, match=message):
        load(**arguments)


def test_F19_missing_data_is_answered_at_once_with_the_command(no_data, tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was asked"))
    with pytest.raises(DataMissing) as caught:
        load("agnews")
    message = str(caught.value)
    assert "agnews is not on this machine (1.2 MB)" in message and "nowhere (no such folder)" in message and "data" in message
    assert "lessons data get agnews" in message and "LESSONS_DATA" in message and message.count("\n") <= 2


def test_loading_needs_no_heavy_package():
    code = ("import sys, lessons_lib as ll;"
            "[ll.datasets.load(n) for n in ('course-sts', 'course-nli', 'lee', 'wordsim353', 'simlex999', 'analogies')];"
            "print(sorted({'torch', 'sklearn', 'pandas', 'gensim', 'scipy'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_analogies_load_without_a_data_folder(no_data):
    analogies = load("analogies")
    assert isinstance(analogies, Analogies) and analogies.questions.shape == (19544, 4)
