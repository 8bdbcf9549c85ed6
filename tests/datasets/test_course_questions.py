"""The course's own questions: each answered where it says, of the kinds it says, none twice."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.datasets import Documents, Questions, RetrievalSet, load
from lessons_lib.search import split_passages

NOTES = (PROJECT / "data" / "README.md").read_text("utf-8")
NUMBER = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven)\b")

pytestmark = pytest.mark.usefixtures("no_data")  # what comes with the project has to be enough


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.fixture(scope="module")
def articles() -> Documents:
    return load("wikipedia-sample")


@pytest.fixture(scope="module")
def questions() -> Questions:
    return load("course-questions", "all")


@pytest.fixture(scope="module")
def judged(articles, questions) -> RetrievalSet:
    return questions.judged(articles, [split_passages(text) for text in articles])


def test_there_are_as_many_as_stated_of_each_kind_split_and_article(articles, questions):
    kinds = Counter(questions.columns["kind"])
    first = Counter(places[0][0] for places in questions.answers)
    assert set(kinds) == {"words", "name", "paraphrase"} and min(kinds.values()) >= 140
    assert set(first) == set(articles.titles) and max(first.values()) <= 12
    parts = {split: load("course-questions", split) for split in ("dev", "test")}
    sizes = {split: len(part) for split, part in parts.items()}
    assert sizes["test"] >= 300 and sum(sizes.values()) == len(questions)
    told = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))
    assert (f"{len(questions)} questions: dev {sizes['dev']}, test {sizes['test']}" in NOTES
            and told in NOTES)
    assert not set.intersection(*({places[0][0] for places in part.answers}
                                  for part in parts.values()))
    part = load("course-questions", kind="name")
    assert part.split == "test" and set(part.columns["kind"]) == {"name"}


def test_every_quote_stands_once_in_the_collection_but_for_those_that_are_all_named(
        articles, questions):
    text = dict(zip(articles.titles, articles.texts, strict=True))
    for question, places in zip(questions.question, questions.answers, strict=True):
        assert len(set(places)) == len(places), question
        for title, quote in places:
            holders = [other for other, whole in text.items() if quote in whole]
            assert text[title].count(quote) == 1, (question, quote)
            assert holders == [t for t in text if (t, quote) in places], (question, holders)
            assert 15 <= len(quote) <= 250 and quote == quote.strip(), quote


def test_the_kinds_share_rare_words_with_what_answers_as_stated(judged):
    passages = [set(words_of(text)) for text in judged.documents]
    frequency = Counter(word for passage in passages for word in passage)
    rare = {word for word, n in frequency.items() if n <= len(passages) // 100}
    cells = zip(judged.question, judged.columns["kind"], judged.relevant, strict=True)
    for question, kind, rows in cells:
        shared = rare.intersection(words_of(question))
        if kind == "words":
            assert any(len(shared & passages[row]) >= 2 for row in rows), question
        elif kind == "paraphrase":
            assert not any(shared & passages[row] for row in rows), question


def test_what_asks_for_a_name_is_answered_by_a_name_or_a_number(questions):
    for question, kind, places in zip(questions.question, questions.columns["kind"],
                                      questions.answers, strict=True):
        asked, quote = set(words_of(question)), places[0][1]
        new = [word for word in re.findall(r"\b(?:[A-Z]\w*|\d+)", quote)
               if word.lower() not in asked]
        assert kind != "name" or new or NUMBER.search(quote), question


def test_questions_are_questions_of_a_readable_length_and_none_is_nearly_another(questions):
    assert len(set(questions.question)) == len(questions)
    for question in questions.question:
        assert question[0].isupper() and question.endswith("?") and question.count("?") == 1
        assert 3 <= len(question.split()) <= 30, question
    bags = [frozenset(words_of(question)) for question in questions.question]
    assert max(len(a & b) / len(a | b) for a, b in combinations(bags, 2)) < 0.5
    begins = Counter(" ".join(question.split()[:3]) for question in questions.question)
    assert begins.most_common(1)[0][1] <= len(questions) // 30  # no template


@pytest.mark.parametrize("size, overlap", [(40, 0), (120, 20), (400, 100)])
def test_every_question_is_answered_whatever_the_passages_are(articles, questions, size, overlap):
    passages = [split_passages(text, size=size, overlap=overlap) for text in articles]
    judged = questions.judged(articles, passages)
    assert len(judged.documents) == sum(map(len, passages)) and judged.question[0]
    assert all(judged.relevant) and judged.columns == questions.columns
    whole = [any(quote in judged.documents[row] for row in rows for _, quote in places)
             for rows, places in zip(judged.relevant, questions.answers, strict=True)]
    assert sum(whole) >= 0.95 * len(whole)  # a passage border can cut a long sentence


def test_a_quote_across_a_border_is_held_by_the_passage_with_most_of_it():
    texts = Documents(["One two. Three four five.", "Six."], titles=["a", "b"])
    asked = Questions(["Who?", "What?"],
                      [(("a", "two. Three four"),), (("b", "Six"), ("a", "One"))])
    parts = [[("One two.", 0, 8), ("Three four five.", 9, 25)], [("Six.", 0, 4)]]
    judged = asked.judged(texts, parts)
    assert judged.relevant == [{1: 1.0}, {2: 1.0, 0: 1.0}]
    assert judged.documents.texts == ["One two.", "Three four five.", "Six."]
    assert judged.documents.titles == ["a", "a", "b"]
    assert judged.select([1]).relevant == [{2: 1.0, 0: 1.0}] and len(judged.select([1])) == 1
    whole = asked.judged(texts, [[(text, 0, len(text))] for text in texts])
    assert whole.relevant == [{0: 1.0}, {1: 1.0, 0: 1.0}]
    twice = [("One two. Three four", 0, 19), (texts[0], 0, 25)]
    overlapping = asked.judged(texts, [twice, parts[1]])
    assert overlapping.relevant[0] == {0: 1.0, 1: 1.0}
