"""The committed records: they are of today's entries, at laptop scale, whole, and a claim that fails has its reason."""

from __future__ import annotations

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.reproduce import entries, headline, recorded
from lessons_lib.reproduce.recorded import read_record

FILES = sorted((PROJECT / "figures").glob("*.json"))


def test_every_entry_is_recorded():
    assert {file.stem for file in FILES} == set(entries())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_record_is_of_an_entry_of_today_at_laptop_scale_with_its_picture(file):
    record = read_record(file)
    assert record.id == file.stem and record.id in entries()
    assert record.misfit(entries()[record.id], scale="laptop", seed=0) == ""
    assert record.picture is not None
    assert sum(file.with_suffix(ending).is_file() for ending in (".svg", ".png")) == 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_claims_that_fail_have_a_reason_and_claims_that_hold_have_none(file):
    entry = entries()[file.stem]
    assert bool(recorded(entry.id).failed) == bool(entry.why), f"{entry.id}: {recorded(entry.id).failed or 'all claims hold'}, why={entry.why!r}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_verdict_is_that_of_todays_claims_on_the_recorded_numbers(file):
    entry, record = entries()[file.stem], recorded(file.stem)
    assert {claim.text: bool(claim.holds(record.measured)) for claim in entry.claims} == record.claims


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_record_can_be_told_in_a_line(file):
    printed, measured = headline(entries()[file.stem], recorded(file.stem))
    assert 5 < len(measured) < 160 and len(printed) < 160
