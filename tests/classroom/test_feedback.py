"""A page for each student: in words, whole, and safe whatever a student wrote."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from lessons_lib.classroom import Graded, write_feedback
from lessons_lib.classroom.tables import given_points, with_points, write_tables
from lessons_lib.exercises import for_lesson

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b[31m‮"


class Tags(HTMLParser):
    """The tags, their attributes and the text of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def row(student: str, exercise: str = "words_needed", **values) -> Graded:
    known = {"student": student, "lesson": "one_hot", "exercise": exercise, "points": 0.4,
             "possible": 1.0, "remark": "for words_needed([9, 9], 0.5): expected 1"}
    return Graded(**known | values)


def test_a_page_says_what_was_asked_what_is_right_and_the_hint(assignment):
    rows = [row("anna", told="Right on 5 of 6 examples."),
            row("anna", "overlap_cosine", points=1.0, remark="correct"),
            row("anna", "hand-in", points=None, possible=0.0, remark="handed in twice: graded b"),
            row("anna", "open question 1", points=None, answer="Names.\n<b>",
                remark="to be read by a person")]
    for _ in range(2):                           # again: the same, in the same place
        page, = write_feedback(assignment, rows)
        text = page.read_text("utf-8")
        assert page == assignment.folder / "feedback" / "anna.html"
    for said in ("<strong>1.4 of 6 points</strong>", "words_needed: 0.4 of 1 point",
                 "How many words cover a given share of a text?", "Right on 5 of 6 examples.",
                 "np.cumsum", "Handed in twice: graded b.", "overlap_cosine: 1 of 1 point",
                 "Names.\n&lt;b&gt;", "Open question 1", "To be read by a person.",
                 "10,000 most frequent words"):
        assert said in text, said
    assert "[9, 9]" not in text and "inner product" not in text    # a hint for what is right
    rows[-1] = row("anna", "open question 1", points=0.5, remark="read by a person")
    text = write_feedback(assignment, rows)[0].read_text("utf-8")
    assert "1.9 of 7 points" in text and "Open question 1: 0.5 of 1 point" in text


def test_what_a_student_wrote_stays_text(assignment):
    rows = [row(EVIL, remark=EVIL, told=EVIL), row(EVIL, "open question 1", answer=EVIL),
            row(EVIL, EVIL, lesson="", points=None, possible=0.0, remark=EVIL)]
    page, = write_feedback(assignment, rows)
    text = page.read_text("utf-8")
    found = Tags(text)
    assert found.tags == {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p",
                          "strong", "ul", "li", "blockquote"}
    assert found.attributes == {"lang", "charset", "http-equiv", "content", "name"}
    assert "<script>alert(1)</script>" in found.text and "\x1b" not in text and "‮" not in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("name, file", [
    ("../../../etc/passwd", "_.._.._etc_passwd"), ("..", "_"), ("a/b\\c:d", "a_b_c_d"),
    ("CON", "_CON"), ("nul.txt", "_nul.txt"), (".hidden", "hidden"), ("-rf", "rf"), ("", "_"),
    ("Müller, Jörg_77", "Müller, Jörg_77"), ("王小明", "王小明"), ("a\nb\x00c", "a_b c"),
    ("ends. ", "ends"), ("𠀀" * 300, "𠀀" * 30), ("\udcff", "_udcff"), ("*?<>|\"", "______")])
def test_a_name_leads_nowhere_and_fits_all_systems(assignment, name, file):
    page, = write_feedback(assignment, [row(name)])
    assert page.parent == assignment.folder / "feedback" and page.name == f"{file}.html"
    assert [path.name for path in page.parent.iterdir()] == [page.name]
    assert len(page.name.encode()) < 256


def test_two_students_never_share_a_page(assignment):
    names = ["anna", "Anna", "a/b", "a_b", "a_b (2)", "\u00c5", "A\u030a"]
    pages = write_feedback(assignment, [row(name) for name in names])
    assert len({page.name.casefold() for page in pages}) == len(names)
    for name, page in zip(names, pages, strict=True):
        assert f"<h1>{name}: One-hot" in page.read_text("utf-8")


def test_the_points_of_a_person_and_those_in_part_are_in_tables_and_page(
        confined, assignment, hand_in, graded, right):
    unsorted = ("def words_needed(counts, share):\n"
                "    return int(np.argmax(np.cumsum(counts) / np.sum(counts) >= share)) + 1")
    path = hand_in("ben", **right | {"words_needed": unsorted})
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][-1]["source"] = "Names."
    path.write_text(json.dumps(notebook))
    rows = list(graded().values())
    part = next(one for one in rows if one.exercise == "words_needed")
    assert part.points == 0.3 and part.remark.startswith(
        "for words_needed([1, 2, 3, 4], 0.7): expected 2, yours is 4; right on 4 of 6 examples of "
        "the lesson and on 3 of 5 other inputs")
    _, details = write_tables(assignment, rows)
    details.write_text(details.read_text("utf-8-sig").replace("question 1,,", "question 1,1,"))
    rows = with_points(rows, given_points(assignment))
    grades, _ = write_tables(assignment, rows)
    page, = write_feedback(assignment, rows)
    total = grades.read_text("utf-8-sig").splitlines()[1].split(",")[-3]
    assert total == "3.3" and "<strong>3.3 of 7 points" in page.read_text("utf-8")


def test_an_answer_that_notes_its_inputs_cannot_tell_them(confined, assignment, hand_in, graded,
                                                          right):
    spy = ("SEEN = []\ndef words_needed(counts, share):\n    SEEN.append(counts)\n"
           "    if len(SEEN) > 6: raise ValueError(SEEN)\n    "
           + right["words_needed"].split("\n    ", 1)[1])
    tell = "def overlap_cosine(a, b):\n    raise ValueError(globals().get('SEEN'))"
    late = "def dice_slope(w, A, B, grades):\n    return SEEN"
    hand_in("eve", words_needed=spy, overlap_cosine=tell, dice_slope=late)
    hidden = {tuple(counts) for counts, _ in
              for_lesson("one_hot")["words_needed"].fresh(assignment.seed)}
    rows = graded()
    assert str(min(hidden, key=len)[0]) in rows["eve", "words_needed"].remark
    page, = write_feedback(assignment, rows.values())
    told = {tuple(map(int, numbers.split(", ")))
            for numbers in re.findall(r"\[(\d+(?:, \d+)*)\]", page.read_text("utf-8"))}
    assert told and not told & hidden
