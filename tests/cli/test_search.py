"""``lessons search`` answers from a folder, says why, and says what it could not read."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "texts"
    home.mkdir()
    (home / "cats.txt").write_text("The cat sat on the mat. It purred.")
    (home / "snow.md").write_text("Snow fell on the quiet hills.")
    return home


def test_a_folder_is_indexed_once_and_asked_again(lessons, folder):
    ask = ("search", folder, "Where did snow fall?", "--top", 1)
    code, out, err = lessons(*ask)
    assert code == 0, err
    assert out.startswith("1. snow.md, characters 0 to 29  (words: snow ") and "cosine" in out
    assert "quiet hills" in out and "purred" not in out
    assert "2 passages of 2 files (2 new, 0 changed, 0 removed)" in err
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "latin.txt").write_bytes(b"Stra\xdfe")
    code, again, err = lessons(*ask)
    assert again == out and "(0 new, 0 changed, 0 removed)" in err
    assert "not read: latin.txt: not UTF-8" in err and "not read: 1 other files" in err
    code, out, err = lessons("search", folder, "Straße", "--encoding", "cp1252")
    assert "latin.txt" in out.splitlines()[0] and "(1 new" in err


def test_a_question_without_quotes_is_the_same_question(lessons, folder):
    quoted = lessons("search", folder, "Where did snow fall?", "--top", 1)
    assert lessons("search", folder, "Where", "did", "snow", "fall?", "--top", 1)[1] == quoted[1]


def test_a_question_without_known_words_is_answered_and_it_is_said(lessons, folder):
    code, out, err = lessons("search", folder, "kittens")
    assert code == 0 and "No word of the question" in err and "words: none" in out


def test_what_cannot_be_asked_ends_in_a_clear_line_and_nothing_is_lost(lessons, folder, tmp_path):
    empty, index = tmp_path / "empty", tmp_path / "index"
    empty.mkdir()
    assert lessons("search", folder, "cat", "--index", index)[0] == 0
    card = (index / "model.json").read_bytes()
    for arguments, words in (
            ((empty, "cat"), ["it is empty", ".txt"]),
            ((tmp_path / "no", "cat"), ["does not exist"]),
            (("", "cat"), ["folder='' is empty"]), ((folder, "cat", "--index", ""), ["index=''"]),
            ((folder / "cats.txt", "cat"), ["is a file", "folder"]), ((folder, " "), ["blank"]),
            ((folder, "cat", "--top", 0), ["top=0"]),
            ((folder, "cat", "--encoding", "klingon"), ["klingon", "cp1252"]),
            ((folder, "cat", "--encoder", "lesson-bags"), ["Did you mean 'lesson-bag'"]),
            ((folder, "cat", "--index", index, "--encoder", "mean-course"),
             ["lesson-bag", "mean", "remove", "--index"]),
            ((folder, "cat", "--index", folder), ["model.json is missing", "another --index"])):
        code, out, err = lessons("search", *arguments)
        assert code == 2 and out == "" and not [word for word in words if word not in err], err
    assert (index / "model.json").read_bytes() == card
    (index / "model.json").write_bytes(card[:-20])
    code, _, err = lessons("search", folder, "cat", "--index", index)
    assert code == 2 and f"remove {index}" in err


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems refuse")
def test_what_would_steer_the_terminal_is_written_out(lessons, folder):
    (folder / "new\nline\x1b[2J.txt").write_text("The unicorn\x1b[31m is \u202ederevers.")
    (folder / "pipe\n.txt").symlink_to(folder / "nothing")
    code, out, err = lessons("search", folder, "unicorn", "--top", 1)
    assert code == 0 and "1. new\\nline\\x1b[2J.txt, " in out and "not read: pipe\\n.txt" in err
    assert "\x1b" not in out + err and "\u202e" not in out and len(out.splitlines()) == 2


def test_a_passage_that_nobody_can_read_is_printed_in_part(lessons, folder):
    (folder / "coded.txt").write_text("Unicorn " + "x" * 9000)
    code, out, _ = lessons("search", folder, "unicorn", "--top", 1)
    assert code == 0 and len(out) < 3000 and "… (7,008 more characters)" in " ".join(out.split())


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems refuse")
@pytest.mark.parametrize("name", ["n" * 250, "中" * 80, "new\nline"])
def test_a_folder_of_any_name_has_its_index_in_the_cache(lessons, folder, name):
    folder = folder.rename(folder.with_name(name))
    for new in (2, 0):
        code, _, err = lessons("search", folder, "cat")
        assert code == 0 and f"({new} new" in err


@pytest.mark.parametrize("made", ["texts", "another model", "a file"])
def test_nobody_is_told_to_remove_what_is_no_index(lessons, folder, tmp_path, made):
    from lessons_lib.search import InvertedIndex

    if made == "another model":
        InvertedIndex().fit(["a cat"]).save(tmp_path / "words")
    place = {"texts": folder, "a file": folder / "cats.txt", "another model": tmp_path / "words"}
    code, _, err = lessons("search", folder, "cat", "--index", place[made])
    assert code == 2 and "remove /" not in err and "another --index, a new folder" in err


def test_what_a_killed_first_save_left_is_no_index(lessons, folder, tmp_path):
    index = tmp_path / "index"
    index.mkdir()
    for name in (".tmp-1-ab-x", "tensors-draft-1.safetensors",
                 "tensors-0123456789ab-1.safetensors"):
        (index / name).write_bytes(b"half")
    code, _, err = lessons("search", folder, "cat", "--index", index)
    assert code == 0 and "(2 new" in err
    assert "(0 new" in lessons("search", folder, "cat", "--index", index)[2]


def test_an_index_that_cannot_be_kept_costs_a_line_and_not_the_answer(lessons, folder, tmp_path,
                                                                      monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, out, err = lessons("search", folder, "cat", "--index", tmp_path / "index")
    assert code == 0 and out.startswith("1. cats.txt") and "No space left" in err
    assert "the index was not kept" in err


def test_questions_that_are_no_text_are_refused_before_the_folder_is_read(lessons, folder):
    for question, words in (("", "blank"), (" \n", "blank"), ("a\udcff", "lone surrogate")):
        code, _, err = lessons("search", folder, question)
        assert code == 2 and "question=" in err and words in err and "passages" not in err
    for question in ("!?", "😀", "a\0b", "the of", "x" * 1_000_000, "cat " * 100_000):
        code, _, err = lessons("search", folder, question)
        assert code == 0, err


def test_links_that_lead_nowhere_and_homes_of_nobody_end_in_a_line(lessons, folder):
    (folder / "loop").symlink_to(folder / "loop")
    for place, said in ((folder / "loop", ("leads nowhere", "does not exist")),
                        ("~no-such-user/texts", ("a user that there is not",))):
        code, _, err = lessons("search", place, "cat")
        assert code == 2 and any(words in err for words in said), err
