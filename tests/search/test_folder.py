"""A folder that is asked: right passages with their reasons, kept up to date file by file, saved
whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.search import FolderIndex

from .conftest import Letters, write


def made(folder, letters, **settings) -> FolderIndex:
    index = FolderIndex(letters, **settings)
    index.update(folder)
    return index


def same(a: FolderIndex, b: FolderIndex) -> None:
    """Two indexes give the same answers."""
    assert a.files == b.files and len(a) == len(b)
    for question in ("the cat", "quiet dogs", "xyz", "snow on the mat"):
        for x, y in zip(a.search(question), b.search(question), strict=True):
            assert (x.file, x.text, x.words) == (y.file, y.text, y.words)
            assert x.cosine == pytest.approx(y.cosine, abs=1e-6)


def test_the_answer_names_the_passage_and_why(folder, letters):
    index = made(folder, letters, size=6, overlap=0)
    best = index.search("Where sat the cat?")[0]
    assert best.file == "cats.txt" and best.text == "The cat sat on the mat."
    assert set(best.words) == {"sat", "the", "cat"} and best.words["sat"] > best.words["the"]
    whole = (folder / "cats.txt").read_text()
    assert whole[best.start : best.end] == best.text
    question, text = letters.encode(["Where sat the cat?", best.text])
    cosine = question @ text / np.linalg.norm(question) / np.linalg.norm(text)
    assert best.cosine == pytest.approx(cosine, abs=1e-6)


def test_a_question_without_known_words_is_answered_by_its_vector_alone(folder, letters):
    index = made(folder, letters)
    answers = index.search("wons")
    assert answers[0].file == "deep/er/snow.txt" and answers[0].words == {}
    assert index.search("123 ?") == []            # no word and no letter


# ------------------------------------------------------------------------------ up to date


def test_words_that_no_space_parts_are_found_by_their_characters(tmp_path, letters):
    for name, text in (("beijing", "北京是中国的首都。"), ("cat", "猫在沙发上睡觉。")):
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    index = FolderIndex(letters)
    index.update(tmp_path)
    first = index.search("中国 首都", k=1)[0]
    assert first.file == "beijing.txt" and set(first.words) == set("中国首都")


def test_of_two_passages_at_exchanged_places_the_one_with_the_nearer_vector_comes_first(tmp_path):
    class Nearest:
        """An encoder to which a text with "coffee" or "drink" says the same."""

        name, dim = "nearest", 2

        def encode(self, texts, **options):
            says = [any(word in text for word in ("coffee", "drink")) for text in texts]
            return np.array([[1.0, 0.0] if x else [0.0, 1.0] for x in says], np.float32)

    (tmp_path / "bridge.txt").write_text("from from from", "utf-8")
    (tmp_path / "coffee.txt").write_text("coffee and other things of a longer text from", "utf-8")
    index = FolderIndex(Nearest())
    index.update(tmp_path)
    assert index.search("a drink from", k=1)[0].file == "coffee.txt"


def test_only_what_is_new_or_changed_is_encoded_and_the_result_is_as_if_made_anew(folder, letters):
    index = made(folder, letters)
    letters.asked.clear()
    assert not index.update(folder).any and letters.asked == []
    write(folder / "dogs.md", "A dog sleeps.", 1_100_000_000)
    write(folder / "ants.txt", "Ants walk in a row.", 1_100_000_000)
    (folder / "cats.txt").unlink()
    done = index.update(folder)
    assert (done.added, done.changed, done.removed, done.unchanged) == (
        ["ants.txt"], ["dogs.md"], ["cats.txt"], 1)
    assert letters.asked == ["Ants walk in a row.", "A dog sleeps."]
    same(index, made(folder, Letters()))
    (folder / "ants.txt").unlink()                # a removal alone
    assert index.update(folder).removed == ["ants.txt"]
    same(index, made(folder, Letters()))


def test_a_file_that_was_only_touched_is_not_encoded_again(folder, letters):
    index = made(folder, letters)
    letters.asked.clear()
    os.utime(folder / "cats.txt", (1_200_000_000, 1_200_000_000))
    assert not index.update(folder).any and letters.asked == []


def test_a_change_within_the_same_second_that_keeps_size_and_time_is_seen(folder, letters):
    new = folder / "new.txt"
    new.write_text("An owl calls.")
    stat = new.stat()
    index = made(folder, letters)
    new.write_text("An elk calls.")
    os.utime(new, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert index.update(folder).changed == ["new.txt"]


def test_an_update_that_fails_leaves_the_index_as_it_was(folder, letters, monkeypatch):
    index = made(folder, letters)
    before = index.search("the cat")
    write(folder / "ants.txt", "Ants walk.", 1_100_000_000)

    def broken(texts, **options):
        raise OSError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(letters, "encode", broken)
        with pytest.raises(OSError, match="no memory"):
            index.update(folder)
    assert index.search("the cat") == before and "ants.txt" not in index.files
    assert index.update(folder).added == ["ants.txt"]


def test_an_index_belongs_to_one_folder_until_that_is_gone(folder, letters, tmp_path):
    index = made(folder, letters)
    shutil.copytree(folder, tmp_path / "other")
    with pytest.raises(ValueError, match=r"folder=.*other.*another index"):
        index.update(tmp_path / "other")
    shutil.rmtree(folder)
    assert index.update(tmp_path / "other").unchanged == 3


# ------------------------------------------------------------------------------ what is read


def test_links_in_circles_end_and_each_file_counts_once(folder, letters):
    (folder / "deep" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "deep" / "out").symlink_to(folder.parent, target_is_directory=True)
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "twin.txt").symlink_to(folder / "cats.txt")
    (folder / "gone.txt").symlink_to(folder / "nothing")
    index = FolderIndex(letters)
    done = index.update(folder)
    assert index.files == ["cats.txt", "deep/er/snow.txt", "dogs.md"]
    assert {name for name, _ in done.skipped} >= {"self.txt", "gone.txt"}


def test_what_cannot_be_read_is_named_with_its_reason_and_the_rest_is_read(folder, letters,
                                                                           monkeypatch):
    write(folder / "picture.png", b"\x89PNG", 1e9)
    write(folder / "binary.txt", b"ab\0cd", 1e9)
    write(folder / "latin.txt", "Straße".encode("cp1252"), 1e9)
    write(folder / "paper.pdf", b"no pdf", 1e9)
    write(folder / ".hidden.txt", "hidden", 1e9)
    write(folder / "blank.txt", " \n", 1e9)
    with open(folder / "big.txt", "wb") as file:
        file.truncate(2_000_000_000)              # a hole: no byte of it is on the disk
    index = FolderIndex(letters)
    skipped = dict(index.update(folder).skipped)
    for name, words in {"1 other files": ".png: 1", "binary.txt": "NUL", "paper.pdf": "pypdf",
                        "latin.txt": "--encoding cp1252", "big.txt": "2,000,000,000"}.items():
        assert words in skipped[name]
    assert len(skipped) == 5 and len(index) == 3
    assert not index.update(folder).any


def test_texts_in_other_encodings_are_read_when_they_say_so_or_the_caller_does(tmp_path, letters):
    for name, text, encoding in (("a.txt", "Straße", "utf-16"), ("b.txt", "Brücke", "utf-8-sig"),
                                 ("c.txt", "Größe", "cp1252"), ("d.txt", "Öl", "utf-8")):
        write(tmp_path / name, text.encode(encoding), 1e9)
    index = made(tmp_path, letters, encoding="cp1252")
    words = ["Straße", "Brücke", "Größe", "Öl"]
    assert [index.search(word)[0].text for word in words] == words


def test_unicode_files_are_told_by_their_mark_or_by_the_caller_and_never_read_as_noise(tmp_path,
                                                                                      letters):
    for name in ("utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le"):
        write(tmp_path / f"{name}.txt", f"Straße of {name}".encode(name), 1e9)
    write(tmp_path / "picture.txt", b"\x89PNG\0\0\0\rIHDR\0\0\xd8\xd8", 1e9)
    index = FolderIndex(letters)
    skipped = dict(index.update(tmp_path).skipped)
    assert index.files == ["utf-16.txt", "utf-32.txt"]
    assert "--encoding utf-16-le" in skipped["utf-16-le.txt"]
    index = FolderIndex(letters, encoding="utf-16-le")
    skipped = dict(index.update(tmp_path).skipped)
    assert index.files == ["utf-16-le.txt", "utf-16.txt", "utf-32.txt"]
    assert {answer.text for answer in index.search("Straße")} == {
        f"Straße of {name}" for name in ("utf-16", "utf-16-le", "utf-32")}
    assert set(skipped) == {"picture.txt", "utf-16-be.txt", "utf-32-le.txt"}


def test_a_file_that_was_read_in_another_encoding_is_read_again(tmp_path, letters):
    write(tmp_path / "zh.txt", "独角兽在哪里".encode("gb18030"), 1e9)
    write(tmp_path / "en.txt", "A unicorn, é.", 1e9)
    index = made(tmp_path, letters, encoding="cp1252")
    index.save(tmp_path / "index")
    index = FolderIndex.load(tmp_path / "index", letters)
    index.encoding = "gb18030"
    done = index.update(tmp_path)
    assert (done.changed, done.unchanged) == (["zh.txt"], 1)
    same(index, made(tmp_path, letters, encoding="gb18030"))
    assert not index.update(tmp_path).any
    index.encoding = "utf-8"
    assert index.update(tmp_path).removed == ["zh.txt"]


def test_what_an_encoding_makes_of_bytes_can_be_saved(tmp_path, letters):
    write(tmp_path / "a.txt", b"The cat \\ud83d \xff", 1e9)
    index = made(tmp_path, letters, encoding="unicode_escape")
    assert index.search("cat")[0].text == "The cat ? ÿ"
    index.save(tmp_path / "index")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipes_and_sockets_are_named_and_never_opened(folder, letters):
    os.mkfifo(folder / "pipe.txt")
    (folder / "zero.txt").symlink_to("/dev/zero")
    (folder / "gone.txt").symlink_to(folder / "nothing")
    skipped = dict(FolderIndex(letters).update(folder).skipped)
    assert "named pipe" in skipped["pipe.txt"] and "device" in skipped["zero.txt"]
    assert skipped["gone.txt"] == "a link to what is not there"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("become", ["gone", "pipe", "large", "forbidden"])
def test_a_file_that_changes_while_the_folder_is_read_stops_nothing(folder, letters, monkeypatch,
                                                                    become):
    """Between the look at the folder and the reading."""
    from lessons_lib.search import documents
    from lessons_lib.search import folder as module

    def changed(place):
        result = documents.files_of(place)
        file = folder / "cats.txt"
        if become == "large":
            monkeypatch.setattr(documents, "LARGEST", 40)
            file.write_text("cats " * 20)
        elif become != "forbidden":
            file.unlink()
        if become == "pipe":
            os.mkfifo(file)
        return result

    def refused(path, *args):
        if path.name == "cats.txt":
            raise PermissionError(13, "Permission denied")
        return os_open(path, *args)

    os_open = os.open
    if become == "forbidden":                     # who runs the tests may be allowed everything
        monkeypatch.setattr("lessons_lib.search.documents.os.open", refused)
    monkeypatch.setattr(module, "files_of", changed)
    index = FolderIndex(letters)
    (name, reason), = index.update(folder).skipped
    assert name == "cats.txt" and index.files == ["deep/er/snow.txt", "dogs.md"]
    assert {"gone": "No such file", "pipe": "named pipe", "large": "grown beyond 40",
            "forbidden": "denied"}[become] in reason


def test_a_text_without_an_end_has_passages_of_bounded_length(folder, letters):
    write(folder / "base64.txt", "x" * 1_000_000, 1e9)
    index = made(folder, letters)
    found = [answer for answer in index.search("xxx", k=9) if answer.file == "base64.txt"]
    assert found and max(len(answer.text) for answer in found) <= 24_000


def test_an_encoder_gets_a_bounded_part_of_a_large_folder_at_a_time(folder, monkeypatch):
    given = []

    class Counting(Letters):
        """Keeps how much it was given at a time."""

        def encode(self, texts, **options):
            given.append(sum(map(len, texts)))
            return super().encode(texts, **options)

    write(folder / "long.txt", "An owl calls. " * 200, 1e9)
    whole = made(folder, Letters(), size=12, overlap=2)
    monkeypatch.setattr("lessons_lib.search.folder.AT_ONCE", 500)
    same(whole, made(folder, Counting(), size=12, overlap=2))
    assert len(given) > 5 and max(given) < 500 + 12 * 20


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems refuse")
def test_names_of_any_letters_are_kept_and_others_are_named(folder, letters, tmp_path):
    names = ["new\nline.txt", "\x1b[31mred.txt", "é" * 125 + ".txt", "中文.txt", "a\\b.txt"]
    for name in names:
        write(folder / name, "An owl.", 1e9)
    with open(os.fsencode(folder) + b"/\xff.txt", "w") as file:
        file.write("An owl.")
    index = FolderIndex(letters)
    assert index.update(folder).skipped == [("\\udcff.txt", "its name is not UTF-8; rename it")]
    index.save(tmp_path / "index")
    assert set(names) < set(FolderIndex.load(tmp_path / "index", letters).files)
    shutil.copytree(folder, os.fsdecode(os.fsencode(tmp_path) + b"/\xfe"))
    with pytest.raises(ValueError, match=r"folder=.*is not UTF-8.*rename"):
        FolderIndex(letters).update(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe"))


def test_of_two_names_of_one_file_the_same_counts_each_time(tmp_path, letters):
    write(tmp_path / "b.txt", "An owl.", 1e9)
    index = made(tmp_path, letters)
    for name in ("c.txt", "a.txt"):
        os.link(tmp_path / "b.txt", tmp_path / name)
    assert index.update(tmp_path).added == ["a.txt"] and index.files == ["a.txt"]
    same(index, made(tmp_path, Letters()))


def test_the_home_folder_may_be_written_in_short(folder, letters, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(folder.parent))
    index = made("~/texts", letters)
    assert not index.update(folder).any
    (tmp_path / "other").mkdir()
    write(tmp_path / "other" / "a.txt", "An owl.", 1e9)
    with pytest.raises(ValueError, match="another index"):
        index.update("~/other")


def test_a_pdf_is_read_where_a_reader_is_installed(folder, letters, monkeypatch):
    write(folder / "paper.pdf", b"%PDF", 1e9)
    monkeypatch.setattr("lessons_lib.search.documents._pdf_text", lambda path: "An ibis wades.")
    assert "paper.pdf" in made(folder, letters).files


# ------------------------------------------------------------------------------ files


def test_a_saved_index_answers_alike_and_goes_on(folder, letters, tmp_path):
    index = made(folder, letters)
    index.save(tmp_path / "index")
    again = FolderIndex.load(tmp_path / "index", Letters())
    same(index, again)
    assert not again.update(folder).any
    write(folder / "ants.txt", "Ants walk.", 1_100_000_000)
    assert again.update(folder).added == ["ants.txt"]
    same(again, made(folder, Letters()))


def test_an_index_made_with_another_encoder_is_refused(folder, letters, tmp_path):
    made(folder, letters).save(tmp_path / "index")
    with pytest.raises(ValueError, match=r"encoder 'letters', not 'ciphers'.*another index"):
        FolderIndex.load(tmp_path / "index", Letters("ciphers"))
    with pytest.raises(ValueError, match="other weights"):
        FolderIndex.load(tmp_path / "index", Letters(power=3.0))


def test_an_encoder_that_knows_no_probe_is_known_again(folder, tmp_path):
    class Deaf(Letters):
        """Knows one word alone."""

        def encode(self, texts, **options):
            known = super().encode(texts)
            return known * np.array([["cat" in text] for text in texts])

    made(folder, Deaf()).save(tmp_path / "index")
    assert len(FolderIndex.load(tmp_path / "index", Deaf())) == 3
    with pytest.raises(ValueError, match="other weights"):
        FolderIndex.load(tmp_path / "index", Letters())


def test_an_index_of_the_first_version_is_read(folder, letters, tmp_path):
    from lessons_lib.core import load_model, save_model

    index = made(folder, letters)
    index.save(tmp_path / "index")
    settings, arrays, extra = load_model(tmp_path / "index", "FolderIndex")
    former = [{key: entry[key] for key in entry if key != "encoding"} for entry in index._files]
    save_model(tmp_path / "index", "FolderIndex", settings=settings, extra=extra | {
        "files": former}, arrays={name: array for name, array in arrays.items() if not
                                  name.startswith(("file_", "about_", "sha256", "encoding"))
                                  or name == "file_of"})
    again = FolderIndex.load(tmp_path / "index", letters)
    same(index, again)
    assert not again.update(folder).any


def test_an_index_that_was_cut_short_is_refused_and_stays_where_it_is(folder, letters, tmp_path):
    made(folder, letters).save(tmp_path / "index")
    for file in sorted((tmp_path / "index").iterdir()):
        whole = file.read_bytes()
        for damage in (whole[: len(whole) // 2], whole[:-3], b"", whole[:-9] + b"#" + whole[-8:]):
            file.write_bytes(damage)
            with pytest.raises(DamagedFile):
                FolderIndex.load(tmp_path / "index", Letters())
        file.write_bytes(whole)
    FolderIndex.load(tmp_path / "index", Letters())


def test_a_save_that_fails_leaves_the_older_index_whole(folder, letters, tmp_path, monkeypatch):
    index = made(folder, letters)
    index.save(tmp_path / "index")
    write(folder / "ants.txt", "Ants walk.", 1_100_000_000)
    newer = made(folder, letters)

    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            newer.save(tmp_path / "index")
    same(FolderIndex.load(tmp_path / "index", Letters()), index)
