"""The bibliography: what the course cites can be read, and a broken entry is named."""

from __future__ import annotations

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.lesson import Course
from lessons_lib.publish import Entry, read_bibliography


def test_entries_are_read_with_nested_braces_and_shown_in_two_lengths(course):
    papers = read_bibliography(course.notebooks / "references.bib")
    harris = papers["harris1954distributional"]
    assert harris.fields["title"] == "Distributional Structure" and harris.short == "Harris 1954"
    assert harris.markdown == ("Harris (1954). [*Distributional "
                               "Structure*](https://doi.org/10.1080/00437956.1954.11659520). Word "
                               "10, 146–162.")
    assert papers["zipf1949human"].markdown == "Zipf (1949). *Human Behavior*. Addison-Wesley."


def test_authors_who_are_left_out_are_no_name():
    entry = Entry("wu2016", "misc", {"author": "Wu, Yonghui and Le, Quoc and others",
                                     "title": "NMT", "year": "2016"})
    assert entry.markdown == "Wu, Le, et al. (2016). *NMT*." and entry.short == "Wu et al. 2016"


def test_the_courses_own_bibliography_is_sound_and_has_what_the_first_lessons_cite():
    papers = read_bibliography(Course().notebooks / "references.bib")
    assert papers["church1990word"].short == "Church and Hanks 1990" and papers[
        "salton1975vector"].short == "Salton et al. 1975"
    wanted = {"sparckjones1972statistical", "robertson2009probabilistic", "deerwester1990indexing",
              "heaps1978information", "levy2014neural", "cer2017semeval", "agirre2012semeval",
              "shannon1948mathematical", "luhn1957statistical"}
    assert wanted <= set(papers)
    for entry in papers.values():
        assert entry.fields["year"] in entry.key and entry.markdown.endswith(
            ".") and not entry.markdown.endswith(". ."), entry.key
    assert papers["su2022cosent"].markdown.endswith("(https://kexue.fm/archives/8847). Scientific "
                                                    "Spaces.")
    assert papers["mesnil2014ensemble"].markdown.endswith("(https://arxiv.org/abs/1412.5335).")


@pytest.mark.parametrize(("text", "message"), [
    ("@article{a1b,\n author = {A}, title = {T}\n}", "line 1: entry 'a1b' lacks year"),
    ("@book{k,\n author = {A}, title = {T}, year = {1}}\n" * 2, "line 3: entry 'k' stands twice"),
    ("@book{k,\n author = {A", "never closed"),
    ("@book{k,\n author = A, title = {T}, year = {1}}", "expected a field in braces")])
def test_a_broken_entry_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "references.bib"
    path.write_text(text, "utf-8")
    with pytest.raises(DamagedFile, match=message):
        read_bibliography(path)
    assert read_bibliography(tmp_path / "none.bib") == {}
