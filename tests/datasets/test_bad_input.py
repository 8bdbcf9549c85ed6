"""Bad input of the whole room: each row is a call, the error, and words that it must hold."""

from __future__ import annotations

import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.datasets import (
    Analogies, Documents, LanguageSettings, Questions, RetrievalSet, SentencePairs, Triplets,
    WordPairs, get, load, registered, synthetic_language, synthetic_plane, verify)
from lessons_lib.datasets.canonical import row_sums
from lessons_lib.datasets.registry import read_manifest, safe_path

NAN, INF = float("nan"), float("inf")
TEXTS = Documents(["One. One."], titles=["a"])
HERE = 'format = 1\n[files."a"]\n'
V, T = ValueError, TypeError

CALLS = [
    # P26, P27: arguments of load, get, verify, answered before any file is opened
    (lambda: load("agnews2"), V, ["name='agnews2'", "Did you mean 'agnews'"]),
    (lambda: load("stsb", "tests"), V, ["split='tests'", "Did you mean 'test'", "'train', 'dev'"]),
    (lambda: load("stsb", 3), V, ["split=3 is unknown"]),
    (lambda: load("senteval", tasks="MR"), T, ["did you mean 'task'"]),
    (lambda: load("stsb", task="MR"), T, ["load('stsb') has no argument 'task'"]),
    (lambda: load("senteval", task=3), T, ["task=3 is int", "expected a str"]),
    (lambda: load("wiki", shards=0), T, ["shards=0", "expected a list of shard numbers"]),
    (lambda: load("wiki", shards=[]), T, ["shards=[]"]),
    (lambda: load("wiki", shards="0"), T, ["shards='0'"]),
    (lambda: load("wiki", shards=[-1]), V, ["shards[0]=-1", "int >= 0"]),
    (lambda: load("wiki", shards=[1.5]), T, ["shards[0]=1.5"]),
    (lambda: load("wiki", shards=[0, 0]), V, ["shards=[0, 0]", "a shard twice"]),
    (lambda: load("course-vectors", "glove"), V, ["split='glove'", "model='skip-gram' or 'glove'"]),
    (lambda: load("course-vectors", model="skipgram"), V, ["model='skipgram'", "'skip-gram'"]),
    (lambda: load("course-vectors", model=3), T, ["model=3 is int"]),
    (lambda: load("lee", download="no"), T, ["download='no' is str", "True or False"]),
    (lambda: verify("stsb"), T, ["names='stsb' is one str", "Pass ['stsb']"]),
    (lambda: verify(5), T, ["names=5 is int", "expected a list"]),
    (lambda: get("lee", source=5), T, ["source=5 is int", "https:// address or a folder"]),
    (lambda: get("lee", source=""), V, ["source='' is empty"]),
    (lambda: get("agnews", source="http://example.org/x"), V, ["source=", "https://"]),
    (lambda: get("agnews", source="ftp://x/y"), V, ["source=", "https://"]),
    (lambda: get("agnews", source="nowhere/at"), FileNotFoundError, ["source=", "is no folder"]),
    *((lambda call=call: call("../agnews"), V, ["name='../agnews' is unknown", "'agnews'"])
      for call in (load, get, registered, lambda name: verify([name]))),
    # F18: a name is never a path, and a path stays inside
    *((lambda name=name: registered(name), V, ["is unknown"])
      for name in ["/etc/passwd", "stsb/../../x", "", None, 5, "st\x00sb"]),
    *((lambda path=path: safe_path(path), V, ["is not allowed; expected plain names"])
      for path in ["../x", "a/../x", "/x", "a//b", "C:/x", "a\\b", "a\x00b", "", ".", "a/.", "con",
                   "a/NUL.txt", "x.", "a /b", "a|b", "a/"]),
    # E03, V24, V01, E06: records
    *((make, V, ["needs columns of one length, got", ": 1"]) for make in [
        lambda: SentencePairs(["a"], ["b", "c"], [1.0]), lambda: Triplets(["a"], ["b"], []),
        lambda: SentencePairs(["a"], ["b"], [1.0, 2.0]), lambda: Documents(["a"], labels=[0, 1]),
        lambda: SentencePairs(["a"], ["b"], [1.0], subset=[]), lambda: WordPairs(["a"], ["b"], []),
        lambda: SentencePairs(["a"], ["b"], [1.0], columns={"k": []}),
        lambda: Documents(["a"], titles=[]), lambda: Analogies([["a", "b", "c", "d"]], [])]),
    *((lambda kind=kind: kind(["a"], ["b"], ["0.5"]), T,
       ["score holds str, first '0.5'", "[float(x) for x in score]"])
      for kind in (SentencePairs, WordPairs)),
    *((lambda bad=bad: SentencePairs(["a", "b"], ["b", "c"], [1.0, bad]), V,
       ["score[1] holds NaN or infinity"]) for bad in (NAN, INF)),
    (lambda: SentencePairs(["a", "b"], ["b", "c"], [1.0, 5.5], name="mine"), V,
     ["score[1]=5.5", "mine", "0 to 5"]),
    (lambda: SentencePairs(["a"], ["b"], [1.0]).select([3]), IndexError, []),
    (lambda: row_sums([{"score": "x", "text": ""}], ["score"]), V, ["could not convert"]),
    (lambda: load("course-questions", kind="names"), V, ["kind='names'", "'name'"]),
    *((lambda quote=quote: Questions(["Who?"], [(quote,)]).judged(TEXTS, [[TEXTS[0], 0, 9]]), V,
       words) for quote, words in [
          (("a", "One"), ["'One' stands 2 times in 'a'", "expected once", "the texts that"]),
          (("b", "One"), ["stands 0 times in 'b'"])]),
    (lambda: Questions(["Who?"], [(("a", "One"),)]).judged(TEXTS, []), V,
     ["passages has 0 texts and documents 1"]),
    (lambda: Questions(["Who?"], [(("a", "One"),)]).judged(Documents(["One."]), [[]]), V,
     ["with 0 different titles"]),
    *((lambda bad=bad: RetrievalSet(["Who?"], [bad], TEXTS), V, ["relevant[0] has", "grades > 0"])
      for bad in ({1: 1.0}, {-1: 1.0}, {0: 0.0})),
    # P10, P11, P15, P24, P26: the synthetic language and planes
    *((lambda seed=seed: synthetic_language(seed), (T, V), ["seed=", "int >= 0"])
      for seed in (-1, 1.5, None, "0")),
    (lambda: synthetic_language(0, n_topic=4), T, ["no argument 'n_topic'", "'n_topics'"]),
    *((lambda name=name, value=value: LanguageSettings(**{name: value}), (T, V), [name])
      for name, values in {
          "n_topics": (1, 2.0), "n_documents": (0,), "n_words": (-5,), "n_scenes": (0,),
          "n_synonym_sets": (0,), "n_polysemous": (-1,), "n_pairs": (-1,), "n_triplets": (True,),
          "topic_concentration": (0.0, NAN), "zipf_exponent": (-0.1, 1.4),
          "coherence": (1.1, "high"),
          "sentences_per_document": (5, (9, 3), (0, 3), (1, 2, 3))}.items()
      for value in values),
    *((lambda wrong=wrong: synthetic_language(0, **wrong), V, words) for wrong, words in [
        ({"n_words": 60}, ["n_words=60", "n_topics=8", "Raise n_words"]),
        ({"n_topics": 60}, ["n_topics=60", "lower n_topics"]),
        ({"n_synonym_sets": 5000}, ["n_synonym_sets=5000", "at most", "n_words=1000"]),
        ({"n_polysemous": 900}, ["n_polysemous=900", "at most 3"]),
        ({"n_words": 70_000}, ["n_words=70000", "Lower n_words"])]),
    *((lambda wrong={name: size}: synthetic_language(0, **wrong), MemoryError,
       [f"{name}=", " need about ", "B are free", f"Lower {name}"]) for name, size in {
           "n_documents": 10**12, "n_words": 10**13, "n_scenes": 10**13, "n_pairs": 10**12,
           "n_topics": 10**13, "sentences_per_document": (10**11, 10**11)}.items()),
    (lambda: synthetic_plane("moon"), V, ["shape='moon'", "Did you mean 'moons'"]),
    (lambda: synthetic_plane("ring", -1), V, ["n=-1"])]


def named(row: tuple) -> str:
    return f"{getattr(row[1], '__name__', 'error')}: {' '.join(row[2])}"


@pytest.mark.parametrize("call, error, words", CALLS, ids=map(named, CALLS))
def test_bad_input_is_answered_with_its_name_and_a_remedy(no_data, call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
    assert str(caught.value).count("\n") <= 2


PAIRS = "score\tsentence1\tsentence2\tsubset\n4.5\tA cat.\tOne cat.\tx\n0\tA dog.\tRain.\ty\n"
WORDS = "dataset\tword1\tword2\tscore\nWS353\ta\tb\t5\nSimVerb-3500\tgo\twalk\t7\n"
TASKS = "task\tsplit\tlabel\ttext\nMR\tall\t1\tgood\n"
FILES = {"sts12": "sts/sts12.tsv", "word-similarity": "words/wordsim.tsv.gz",
         "rg65": "words/wordsim.tsv.gz", "senteval": "classify/senteval_small.tsv.gz",
         "embedding-space": "anisotropy/embedding_space_stats.json"}


@pytest.mark.parametrize("name, text, selection, error, words", [
    ("sts12", PAIRS + "3\tonly two\n", {}, V, ["sts12.tsv, line 4: 2 fields"]),  # F14
    ("sts12", PAIRS.replace("sentence2", "x"), {}, V, ["line 1: column 'sentence2' is missing"]),
    ("sts12", PAIRS.replace("4.5", "45"), {}, V, ["outside the scale of sts12", "0 to 5"]),  # F08
    ("sts12", PAIRS.replace("4.5", "x"), {}, V, ["sts12.tsv, line 2: score='x'"]),
    ("word-similarity", WORDS, {"dataset": "simverb"}, V, ["Did you mean 'SimVerb-3500'"]),
    ("word-similarity", WORDS, {}, V, ["dataset=None", "choose one: 'WS353', 'SimVerb-3500'"]),
    ("rg65", WORDS, {}, DataMissing, ["rg65 is not in", "there: WS353, SimVerb-3500"]),
    ("senteval", TASKS, {"split": "test", "task": "MR"}, DataMissing,
     ["senteval, task='MR' has no rows with split='test'", "that are there: 'all'"]),
    ("embedding-space", '{"bert": {"x": {"layer_1": 0.5}}}', {}, DamagedFile,  # F03
     ["is not model → statistic → layer_0"])])
def test_F03_F08_F14_a_table_that_does_not_fit_says_where(
        fake_data, name, text, selection, error, words):
    fake_data(FILES[name], text)
    with pytest.raises(error) as caught:
        load(name, **selection)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("text, error, words", [
    *((text, DamagedFile, ["m.toml is no dataset manifest", "Restore it"]) for text in [
        "", "not toml [", "format = 1", "format = 1\n[datasets.x]\n[files]",
        "format = 1\ndatasets = 3\nfiles = 4", HERE + "size = 3\n[datasets]",
        'format = 1\n[files]\n[datasets.x]\nfiles = ["missing"]']),
    ("format = 2\n[files]\n[datasets]", V, ["has format 2", "reads up to 1; upgrade"]),
    ('format = 1\n[files."../x"]\n[datasets]', V, ["path='../x' is not allowed"])])
def test_F03_F05_F18_a_manifest_that_cannot_be_used_says_so(tmp_path, text, error, words):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(error) as caught:
        read_manifest(tmp_path / "m.toml")
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_folder_that_leads_nowhere_is_named(no_data, tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileNotFoundError, match="loop"):
        get("agnews", source=str(tmp_path / "loop"))
    monkeypatch.setenv("LESSONS_DATA", "~nobody-of-this-name/x")
    with pytest.raises(ValueError, match="LESSONS_DATA='~nobody.* leads nowhere"):
        verify(["agnews"])
