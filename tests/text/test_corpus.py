"""A corpus: one pass, ids and offsets, the same in memory, on disk, for any number of threads."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile, DataWarning, load_files, save_files
from lessons_lib.text import Corpus, Tokenizer, Vocabulary, tokenize

TEXTS = ["The cat sat on the mat.", "Größe und Café: THE dog!",
         "cat? Cat! 我爱 שלום 👩\u200d👧 the"]
some_tokens = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
token_lists = st.lists(st.lists(some_tokens, min_size=1, max_size=8), min_size=1, max_size=6)


def documents_of(corpus: Corpus) -> list[list[str]]:
    return [corpus.tokens(i) for i in range(len(corpus))]


def same(a: Corpus, b: Corpus) -> bool:
    return (a.vocabulary == b.vocabulary and np.array_equal(a.token_ids, b.token_ids)
            and np.array_equal(a.offsets, b.offsets))


def test_a_corpus_holds_the_tokens_of_the_texts_in_order():
    corpus = Corpus.from_texts(TEXTS)
    assert documents_of(corpus) == [tokenize(text) for text in TEXTS]
    assert corpus.token_ids.dtype == np.int32 and corpus.offsets.dtype == np.int64
    assert corpus.vocabulary.tokens[:2] == ["the", "cat"]
    assert [ids.tolist() for ids in corpus] == [corpus[i].tolist() for i in range(3)]
    assert corpus[-1].tolist() == corpus[2].tolist()


@given(token_lists, st.integers(1, 3), st.one_of(st.none(), st.integers(1, 4)))
def test_T12_any_token_is_counted_and_rare_ones_are_dropped(lists, min_count, max_size):
    counts = Counter(token for tokens in lists for token in tokens)
    frequent = (token for token in counts if counts[token] >= min_count)
    order = sorted(frequent, key=lambda token: (-counts[token], token))[:max_size]
    if not order:
        with pytest.raises(ValueError, match="leaves no token"):
            Corpus.from_tokens(lists, min_count=min_count, max_size=max_size)
        return
    corpus = Corpus.from_tokens(lists, min_count=min_count, max_size=max_size)
    assert corpus.vocabulary.tokens == order
    assert corpus.vocabulary.counts.tolist() == [counts[token] for token in order]
    kept = set(order)
    assert documents_of(corpus) == [[t for t in tokens if t in kept] for tokens in lists]


@pytest.mark.parametrize("tokenizer", [
    None, Tokenizer(r"[^\W\d_]+"), Tokenizer(language="zh"), str.split])
def test_any_tokenizer_may_cut_the_texts(tokenizer):
    corpus = Corpus.from_texts(TEXTS, tokenizer=tokenizer)
    assert documents_of(corpus) == [(tokenizer or tokenize)(text) for text in TEXTS]


@pytest.mark.parametrize("min_count", [1, 2])
def test_a_corpus_on_disk_is_the_one_in_memory(tmp_path, min_count, monkeypatch):
    monkeypatch.setattr("lessons_lib.text.token_corpus._AT_ONCE", 7)          # many parts
    texts = TEXTS * 9
    memory = Corpus.from_texts(texts, min_count=min_count)
    disk = Corpus.from_texts(iter(texts), min_count=min_count, folder=tmp_path / "corpus")
    assert same(memory, disk)
    assert isinstance(disk.token_ids, np.memmap) and not disk.token_ids.flags.writeable
    memory.save(tmp_path / "saved")
    assert same(Corpus.load(tmp_path / "saved"), disk)
    assert not list(tmp_path.rglob(".tmp-*"))


def test_a_corpus_takes_lists_as_arrays():
    corpus = Corpus(Vocabulary(["a"], [3]), [0, 0, 0], [0, 2, 3])
    assert [ids.tolist() for ids in corpus] == [[0, 0], [0]]


def test_min_count_in_many_parts_keeps_the_document_borders(monkeypatch):
    monkeypatch.setattr("lessons_lib.text.token_corpus._AT_ONCE", 5)
    lists = [["a"], ["b", "a"], ["c", "d", "e"], ["a", "a", "f", "b"]] * 3
    corpus = Corpus.from_tokens(lists, min_count=4)
    assert documents_of(corpus) == [[t for t in tokens if t in "ab"] for tokens in lists]


def test_T13_a_generator_with_a_wrong_length_gives_the_same_corpus():
    class Documents:
        def __len__(self):
            return 1

        def __iter__(self):
            yield from TEXTS

    assert same(Corpus.from_texts(Documents()), Corpus.from_texts(TEXTS))
    assert same(Corpus.from_texts(text for text in TEXTS), Corpus.from_texts(TEXTS))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(threads, monkeypatch):
    monkeypatch.setattr("lessons_lib.text.scanner._CUT", 1)
    texts = [f"{text} {i}" for i, text in enumerate(TEXTS * 40)]
    expected = Corpus.from_texts(texts, threads=1)
    monkeypatch.setattr("lessons_lib.text.scanner.scanned_blocks.__kwdefaults__", {"size": 100})
    assert same(Corpus.from_texts(texts, threads=threads), expected)


# ------------------------------------------------------------------------------------ files of text


def test_a_file_gives_one_document_per_line(tmp_path):
    path = tmp_path / "täxt mit leer.txt"
    path.write_bytes("\ufeffThe cat\r\nder Bär\nlast".encode())
    assert documents_of(Corpus.from_file(path)) == [["the", "cat"], ["der", "bär"], ["last"]]


def test_another_encoding_is_read_when_named(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Bär\nGröße\n".encode("latin-1"))
    assert documents_of(Corpus.from_file(path, encoding="latin-1")) == [["bär"], ["größe"]]
    wide = tmp_path / "wide.txt"
    wide.write_bytes("Bär\nGröße\n".encode("utf-16"))
    assert documents_of(Corpus.from_file(wide, encoding="utf-16")) == [["bär"], ["größe"]]


# ---------------------------------------------------------------------------------------- odd input


def test_T04_one_empty_document_stays_with_a_warning():
    with pytest.warns(DataWarning, match=r"2 of 4 documents have no token \(first: documents\[1\]"):
        corpus = Corpus.from_texts(["a", "", "b", " "])
    assert documents_of(corpus) == [["a"], [], ["b"], []]


def test_T12_T15_strange_tokens_survive_saving(tmp_path):
    tokens = ["new york", "a\nb", "tab\t", "\0", "👩\u200d👧", "שלום", "我", "e\u0301",
              "nan", "null", '"', "#", "\u2003"]
    corpus = Corpus.from_tokens([tokens])
    corpus.save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").tokens(0) == tokens


def test_T17_a_document_of_a_million_tokens_is_counted_whole():
    corpus = Corpus.from_texts(["a b " * 500_000])
    assert corpus.vocabulary.counts.tolist() == [500_000, 500_000]


def test_T18_a_token_of_a_million_characters_is_kept_with_a_warning():
    texts = ["a", "é" * 1_000_000, "x" * 90_000]
    for make, documents in ((Corpus.from_texts, texts), (Corpus.from_tokens, [[t] for t in texts])):
        with pytest.warns(DataWarning, match=r"1 token\(s\) .* first in documents\[1\]"):
            assert len(make(documents).vocabulary) == 3


def test_T21_a_series_is_read_by_position():
    pandas = pytest.importorskip("pandas")
    assert same(Corpus.from_texts(pandas.Series(TEXTS, index=[7, 7, 1])), Corpus.from_texts(TEXTS))


def test_P08_min_count_that_leaves_no_word_is_explained(tmp_path):
    with pytest.raises(ValueError, match="min_count=3 leaves no token"):
        Corpus.from_texts(["a a b"], min_count=3, folder=tmp_path / "c")
    assert not list(tmp_path.rglob("*.*"))


def test_an_iterator_that_fails_half_way_comes_out_as_it_is(tmp_path):
    def failing():
        yield from TEXTS
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        Corpus.from_texts(failing(), folder=tmp_path / "c")
    assert not list(tmp_path.rglob("*.*"))


# ------------------------------------------------------------------------------------ damaged files


@pytest.fixture
def saved(tmp_path):
    Corpus.from_texts(TEXTS).save(tmp_path / "c")
    return tmp_path / "c"


def test_F01_a_file_cut_at_any_place_is_noticed(saved):
    for file in sorted(saved.iterdir()):
        whole = file.read_bytes()
        # the card's last line end says nothing
        for size in {0, 1, len(whole) // 2, len(whole.rstrip(b"\n")) - 1}:
            file.write_bytes(whole[:size])
            with pytest.raises(DamagedFile):
                Corpus.load(saved)
        file.write_bytes(whole)
    assert len(Corpus.load(saved)) == 3


def test_F02_one_flipped_bit_is_noticed_in_every_file(saved):
    for file in sorted(saved.iterdir()):
        whole = file.read_bytes()
        for place in {0, len(whole) // 2, len(whole) - 1}:
            changed = bytearray(whole)
            changed[place] ^= 4
            file.write_bytes(changed)
            with pytest.raises(DamagedFile):
                Corpus.load(saved)
        file.write_bytes(whole)


def test_F04_a_folder_of_another_kind_is_refused(saved):
    from lessons_lib.counts import BagOfWords

    with pytest.raises(DamagedFile, match="holds a Corpus, not a BagOfWords"):
        BagOfWords.load(saved)


def test_F01_a_missing_file_is_noticed(saved):
    next(file for file in saved.iterdir() if file.name.startswith("counts")).unlink()
    with pytest.raises(DamagedFile, match="counts.* is missing"):
        Corpus.load(saved)


@pytest.mark.parametrize("name, content", [
    ("offsets.i64", np.array([0, 9, 3], "<i8")), ("token_ids.i32", np.array([0, 77, 0], "<i4")),
    ("token_ids.i32", np.array([0, -1, 0], "<i4")), ("counts.i64", np.array([5], "<i8")),
    ("token_offsets.i64", np.array([0, 10**9, 2], "<i8")),
    ("tokens.utf8", np.array([255, 254], "u1"))])
def test_a_forged_corpus_is_a_damaged_file(name, content, tmp_path):
    Corpus.from_tokens([["a", "b"], ["a"]]).save(tmp_path / "c")
    _, files = load_files(tmp_path / "c", "Corpus")
    data = {key: path.read_bytes() for key, path in files.items()} | {name: content.tobytes()}
    writers = {key: lambda file, b=b: file.write(b) for key, b in data.items()}
    save_files(tmp_path / "c", "Corpus", writers, {"oov": "drop"})
    with pytest.raises(DamagedFile, match="holds no corpus that can be read"):
        Corpus.load(tmp_path / "c")


def test_saving_over_an_older_corpus_leaves_only_the_new_one(saved):
    Corpus.from_texts(["quite another text"]).save(saved)
    assert documents_of(Corpus.load(saved)) == [["quite", "another", "text"]]
    card = json.loads((saved / "model.json").read_text(encoding="utf-8"))
    assert len(list(saved.iterdir())) == 1 + len(card["files"])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_lines_end_alike_in_every_encoding(encoding, tmp_path):
    (tmp_path / "t").write_bytes("a b\r\nc\rd\ne".encode(encoding))
    assert documents_of(Corpus.from_file(tmp_path / "t", encoding=encoding)) == [
        ["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.data
def test_a_wikipedia_file_is_read_as_python_reads_it(lessons_data, tmp_path):
    import bz2

    path = tmp_path / "sentences.txt"
    source = lessons_data / "wiki" / "wiki_sentences_250k.txt.bz2"
    with bz2.open(source, "rt", encoding="utf-8") as file:
        lines = [next(file).rstrip("\n") for _ in range(5000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    corpus = Corpus.from_file(path, folder=tmp_path / "corpus")
    assert documents_of(corpus) == [tokenize(line) for line in lines]
